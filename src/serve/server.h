/* SPDX-License-Identifier: Apache-2.0 */
/* serve/server: what the main thread works on. */
#pragma once

#include <microhttpd.h>

#include "serve/guard.h"
#include "serve/jobs.h"
#include "serve/private.h"
#include "serve/serve.h"
#include "serve/session.h"
#include "serve/text.h"

enum { SERVE_MAX_SESSIONS = 32 };

/*
 * A connection, for its deadline. libmicrohttpd closes connections that are silent, but not those
 * that send a byte now and then.
 */
typedef struct serve_connection {
  struct serve_connection *next, **link;
  int fd;
  double deadline; /* 0: none */
} serve_connection;

/* The progress of a job on its way to the client. */
typedef struct serve_stream {
  struct serve_stream *next, **link;
  struct MHD_Connection *connection;
  serve_job *job;
  bool suspended;
  double last_sent;
  bool heartbeat; /* send an empty line, to find out whether the client is there */
} serve_stream;

typedef struct serve_server {
  const serve_options *options;
  struct MHD_Daemon *daemon;
  int listeners[2]; /* 127.0.0.1, and ::1 if the system has it */
  size_t n_listeners;
  unsigned port;
  char token[SERVE_TOKEN_LENGTH + 1];
  char address[96];
  int directory;   /* where the server was started */
  int policy_root; /* directory of the policy on the command line; -1: none, or below `directory` */
  char directory_path[4096];
  serve_private private_files;
  int wake_fd; /* jobs write to it */
  serve_job_pool pool;
  serve_session *sessions[SERVE_MAX_SESSIONS];
  serve_connection *connections;
  size_t n_connections;
  serve_stream *streams;
  bool stopping; /* no session and no job begins any more */
  double last_request;
  double deadline_seconds; /* for headers, bodies and answers */
} serve_server;

/* Gives a connection this long from now; 0: no deadline. */
void serve_set_deadline(struct MHD_Connection *connection, double seconds);

/* The session, or NULL. */
serve_session *serve_find_session(serve_server *server, const char *id);
/* A new one; the session that was not used for the longest time makes room. NULL: no memory. */
serve_session *serve_add_session(serve_server *server);
void serve_remove_session(serve_server *server, serve_session *session);

/* Answers with the stream of a job; takes the job. */
enum MHD_Result serve_stream_begin(serve_server *server, struct MHD_Connection *connection,
                                   serve_job *job, serve_stream **stream);
/* Resumes streams that have something to send. `all`: every stream, before the end. */
void serve_streams_resume(serve_server *server, bool all);
/* The request of the stream ended: a job that still runs is cancelled. */
void serve_stream_end(serve_stream *stream);
