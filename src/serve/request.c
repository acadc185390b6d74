/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/request.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "serve/reply.h"

static const uint64_t MAX_JSON = UINT64_C(1) << 20, MAX_TEXT = UINT64_C(4) << 20,
                      MAX_UPLOAD = UINT64_C(16) << 30;
static const double UPLOAD_SECONDS = 1800;

static enum MHD_Result add_header(void *user, enum MHD_ValueKind kind, const char *name,
                                  const char *value) {
  (void)kind;
  serve_headers_add(user, name, value ? value : "");
  return MHD_YES;
}

static serve_request *new_request(serve_server *server, struct MHD_Connection *connection) {
  serve_request *request = calloc(1, sizeof *request);
  if (!request) return NULL;
  request->server = server;
  request->connection = connection;
  return request;
}

/* Finds the session of the path; true if there is one or the path has none. */
static bool find_session(serve_request *request) {
  if (!strchr(request->route->path, '*')) return true;
  request->session = serve_find_session(request->server, request->parts[0]);
  if (request->session) request->session->last_used = request->server->last_request;
  return request->session != NULL;
}

static enum MHD_Result reply_no_session(serve_request *request) {
  return serve_reply_error(request->connection, 404, "the session has ended; reload the page");
}

/* The headers are complete: may the request proceed? Answers it if not. */
static enum MHD_Result begin(serve_request *request, const char *url, const char *method) {
  serve_server *server = request->server;
  serve_headers headers = {0};
  bool known_path = false, api = !strncmp(url, "/api/", 5);
  bool reads = !strcmp(method, "GET") || !strcmp(method, "HEAD");
  serve_set_deadline(request->connection, server->deadline_seconds);
  (void)MHD_get_connection_values(request->connection, MHD_HEADER_KIND, add_header, &headers);
  serve_refusal refusal = serve_guard(&headers, server->port, server->token, api, !reads);
  if (refusal.status)
    return serve_reply_error(request->connection, refusal.status, refusal.message);
  server->last_request = serve_now();
  if (!api) return MHD_YES;
  request->route = serve_route_find(method, url, request->parts, &known_path);
  if (!request->route)
    return known_path ? serve_reply_error(request->connection, 405, "no such method here")
                      : serve_reply_error(request->connection, 404, "no such path in the API");
  if (!find_session(request)) return reply_no_session(request);
  if (request->route->body == SERVE_BODY_UPLOAD) {
    const char *name =
        MHD_lookup_connection_value(request->connection, MHD_HEADER_KIND, "Shoal-Name");
    request->upload = serve_blob_new(&server->private_files, name && *name ? name : "upload.csv");
    if (!request->upload)
      return serve_reply_error(request->connection, 500, "no room for the upload");
    serve_set_deadline(request->connection, UPLOAD_SECONDS);
  }
  return MHD_YES;
}

static void refuse(serve_request *request, unsigned status, const char *why) {
  request->refusal = status;
  request->why = why;
}

static bool write_all(int fd, const char *bytes, size_t size) {
  while (size) {
    ssize_t written = write(fd, bytes, size);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes += written;
    size -= (size_t)written;
  }
  return true;
}

/* A part of the body. What is too long is read to its end and dropped, so that the client gets the
 * answer. */
static void add_body(serve_request *request, const char *bytes, size_t size) {
  serve_body kind = request->route ? request->route->body : SERVE_BODY_NONE;
  uint64_t limit = kind == SERVE_BODY_JSON     ? MAX_JSON
                   : kind == SERVE_BODY_TEXT   ? MAX_TEXT
                   : kind == SERVE_BODY_UPLOAD ? MAX_UPLOAD
                                               : 0;
  if (request->refusal) return;
  uint64_t have = kind == SERVE_BODY_UPLOAD ? request->upload_size : request->body.size;
  if (size > limit - have) {
    refuse(request, 413, "the body is too large");
    return;
  }
  if (kind != SERVE_BODY_UPLOAD) {
    if (!serve_text_add(&request->body, bytes, size)) refuse(request, 500, "out of memory");
    return;
  }
  request->upload_size += size;
  if (!write_all(request->upload->fd, bytes, size))
    refuse(request, 507, "the upload does not fit on the disk");
}

/* The body is complete. */
static enum MHD_Result finish(serve_request *request, const char *url) {
  json_error_t where;
  struct MHD_Connection *connection = request->connection;
  if (request->server->stopping) return serve_reply_error(connection, 503, "the server ends");
  if (request->refusal) return serve_reply_error(connection, request->refusal, request->why);
  if (!request->route) return serve_reply_asset(connection, url);
  /* Again: another request may have ended the session while this one sent its body. */
  if (!find_session(request)) return reply_no_session(request);
  if (request->route->body == SERVE_BODY_JSON && request->body.size) {
    request->json =
        json_loadb(request->body.bytes, request->body.size, JSON_REJECT_DUPLICATES, &where);
    if (!json_is_object(request->json))
      return serve_reply_error(connection, 400, "the body is not a JSON object");
  }
  serve_set_deadline(connection, UPLOAD_SECONDS); /* for the answer */
  return request->route->handle(request);
}

enum MHD_Result serve_request_handle(void *user, struct MHD_Connection *connection, const char *url,
                                     const char *method, const char *version, const char *bytes,
                                     size_t *size, void **state) {
  serve_request *request = *state;
  (void)version;
  if (!request) {
    request = new_request(user, connection);
    *state = request;
    return request ? begin(request, url, method) : MHD_NO;
  }
  if (*size) {
    add_body(request, bytes, *size);
    *size = 0;
    return MHD_YES;
  }
  return finish(request, url);
}

void serve_request_completed(void *user, struct MHD_Connection *connection, void **state,
                             enum MHD_RequestTerminationCode code) {
  serve_server *server = user;
  serve_request *request = *state;
  (void)code;
  /* Twice: a client may be silent for as long, and then needs time for its headers. */
  serve_set_deadline(connection, 2 * server->deadline_seconds);
  if (!request) return;
  if (request->stream) serve_stream_end(request->stream);
  serve_blob_drop(request->upload);
  serve_text_reset(&request->body);
  json_decref(request->json);
  free(request);
  *state = NULL;
}
