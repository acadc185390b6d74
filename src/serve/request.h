/* SPDX-License-Identifier: Apache-2.0 */
/* serve/request: one request from its headers to its answer. */
#pragma once

#include "serve/routes.h"
#include "serve/server.h"

typedef struct serve_request {
  serve_server *server;
  struct MHD_Connection *connection;
  const serve_route *route;                      /* NULL: a file of the page */
  char parts[SERVE_MAX_PARTS][SERVE_PART_BYTES]; /* of the path, where the route has '*' */
  serve_session *session;                        /* of parts[0], if the route has one */
  serve_text body;
  json_t *json;         /* the body of SERVE_BODY_JSON; NULL if it is empty */
  serve_blob *upload;   /* the body of SERVE_BODY_UPLOAD */
  uint64_t upload_size; /* in bytes */
  unsigned refusal;     /* a status that waits for the end of the body; 0: none */
  const char *why;
  serve_stream *stream;
} serve_request;

/* Callbacks of libmicrohttpd; `user` is the server. */
enum MHD_Result serve_request_handle(void *user, struct MHD_Connection *connection, const char *url,
                                     const char *method, const char *version, const char *bytes,
                                     size_t *size, void **state);
void serve_request_completed(void *user, struct MHD_Connection *connection, void **state,
                             enum MHD_RequestTerminationCode code);
