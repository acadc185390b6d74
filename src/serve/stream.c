/* SPDX-License-Identifier: Apache-2.0 */
/*
 * serve/stream: sends what a job says, line by line. Without news the connection is suspended;
 * libmicrohttpd would ask again and again otherwise. A suspended connection is not watched: every
 * HEARTBEAT_SECONDS an empty line is sent, which fails if the client has gone.
 */
#include <stdlib.h>
#include <string.h>

#include "serve/reply.h"
#include "serve/server.h"

static const double HEARTBEAT_SECONDS = 1;

enum { BLOCK_BYTES = 64 << 10 };

/* The next bytes for the client; libmicrohttpd calls it on the main thread. */
static ssize_t read_news(void *user, uint64_t position, char *out, size_t size) {
  serve_stream *stream = user;
  serve_job *job = stream->job;
  (void)position;
  (void)pthread_mutex_lock(&job->lock);
  size_t left = job->news.size - job->sent;
  bool done = job->done;
  if (left > size) left = size;
  if (left) memcpy(out, job->news.bytes + job->sent, left);
  job->sent += left;
  if (job->sent == job->news.size) { /* what was sent is not needed again */
    job->news.size = job->sent = 0;
    if (done) serve_text_reset(&job->news);
  }
  (void)pthread_mutex_unlock(&job->lock);
  if (left || stream->heartbeat) stream->last_sent = serve_now();
  if (left) return (ssize_t)left;
  if (done) return MHD_CONTENT_READER_END_OF_STREAM;
  if (stream->heartbeat) {
    stream->heartbeat = false;
    out[0] = '\n';
    return 1;
  }
  stream->suspended = true;
  MHD_suspend_connection(stream->connection);
  return 0;
}

enum MHD_Result serve_stream_begin(serve_server *server, struct MHD_Connection *connection,
                                   serve_job *job, serve_stream **out) {
  serve_stream *stream = calloc(1, sizeof *stream);
  struct MHD_Response *response =
      stream ? MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK_BYTES, read_news, stream,
                                                 NULL)
             : NULL;
  if (!response) {
    free(stream);
    serve_job_cancel(job);
    serve_job_drop(job);
    return MHD_NO;
  }
  *stream = (serve_stream){.connection = connection, .job = job, .last_sent = serve_now()};
  stream->next = server->streams;
  stream->link = &server->streams;
  if (stream->next) stream->next->link = &stream->next;
  server->streams = stream;
  *out = stream;
  serve_set_deadline(connection, 0);
  serve_reply_headers(response, "application/x-ndjson");
  enum MHD_Result sent = MHD_queue_response(connection, 200, response);
  MHD_destroy_response(response);
  return sent;
}

static bool has_news(serve_job *job) {
  (void)pthread_mutex_lock(&job->lock);
  bool has = job->done || job->news.size > job->sent;
  (void)pthread_mutex_unlock(&job->lock);
  return has;
}

void serve_streams_resume(serve_server *server, bool all) {
  double now = serve_now();
  for (serve_stream *stream = server->streams; stream; stream = stream->next) {
    if (!stream->suspended) continue;
    bool beat = now - stream->last_sent >= HEARTBEAT_SECONDS;
    if (!all && !beat && !has_news(stream->job)) continue;
    stream->heartbeat = beat;
    stream->suspended = false;
    MHD_resume_connection(stream->connection);
  }
}

void serve_stream_end(serve_stream *stream) {
  *stream->link = stream->next;
  if (stream->next) stream->next->link = stream->link;
  (void)pthread_mutex_lock(&stream->job->lock);
  bool done = stream->job->done;
  (void)pthread_mutex_unlock(&stream->job->lock);
  if (!done) serve_job_cancel(stream->job);
  serve_job_drop(stream->job);
  free(stream);
}
