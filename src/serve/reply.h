/* SPDX-License-Identifier: Apache-2.0 */
/* serve/reply: responses. Each carries the headers that keep other sites out of the page. */
#pragma once

#include <jansson.h>
#include <microhttpd.h>

/* Adds the headers that every response has. */
void serve_reply_headers(struct MHD_Response *response, const char *type);

/* Answers with JSON; takes `value` (NULL: no memory, 500). */
enum MHD_Result serve_reply_json(struct MHD_Connection *connection, unsigned status, json_t *value);
/* {"error": {"message": ..}} */
enum MHD_Result serve_reply_error(struct MHD_Connection *connection, unsigned status,
                                  const char *message);
/* The whole file; the descriptor stays open. */
enum MHD_Result serve_reply_file(struct MHD_Connection *connection, const char *type, int fd);
/* A file of the page; 404 if there is none. */
enum MHD_Result serve_reply_asset(struct MHD_Connection *connection, const char *path);
