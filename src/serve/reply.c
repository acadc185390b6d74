/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/reply.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "serve/assets.h"

void serve_reply_headers(struct MHD_Response *response, const char *type) {
  static const char *const headers[][2] = {
      {"Cache-Control", "no-store"},
      {"Content-Security-Policy",
       "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
       "object-src 'none'"},
      {"Cross-Origin-Opener-Policy", "same-origin"},
      {"Cross-Origin-Resource-Policy", "same-origin"},
      {"Referrer-Policy", "no-referrer"},
      {"X-Content-Type-Options", "nosniff"},
      {"X-Frame-Options", "DENY"},
  };
  (void)MHD_add_response_header(response, "Content-Type", type);
  for (size_t i = 0; i < sizeof headers / sizeof *headers; i++)
    (void)MHD_add_response_header(response, headers[i][0], headers[i][1]);
}

static enum MHD_Result queue(struct MHD_Connection *connection, unsigned status,
                             struct MHD_Response *response) {
  enum MHD_Result sent = MHD_queue_response(connection, status, response);
  MHD_destroy_response(response);
  return sent;
}

enum MHD_Result serve_reply_json(struct MHD_Connection *connection, unsigned status,
                                 json_t *value) {
  char *text = value ? json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY) : NULL;
  json_decref(value);
  static char no_memory[] = "{\"error\":{\"message\":\"out of memory\"}}";
  if (!text) status = 500;
  struct MHD_Response *response =
      MHD_create_response_from_buffer(strlen(text ? text : no_memory), text ? text : no_memory,
                                      text ? MHD_RESPMEM_MUST_FREE : MHD_RESPMEM_PERSISTENT);
  if (!response) {
    free(text);
    return MHD_NO;
  }
  serve_reply_headers(response, "application/json");
  if (status == 405) (void)MHD_add_response_header(response, "Allow", "GET");
  return queue(connection, status, response);
}

enum MHD_Result serve_reply_error(struct MHD_Connection *connection, unsigned status,
                                  const char *message) {
  return serve_reply_json(connection, status, json_pack("{s:{s:s}}", "error", "message", message));
}

enum MHD_Result serve_reply_file(struct MHD_Connection *connection, const char *type, int fd) {
  struct stat status;
  int own = fcntl(fd, F_DUPFD_CLOEXEC, 3);
  if (own < 0 || fstat(own, &status)) {
    if (own >= 0) (void)close(own);
    return serve_reply_error(connection, 500, "the file cannot be read");
  }
  struct MHD_Response *response =
      MHD_create_response_from_fd_at_offset64((uint64_t)status.st_size, own, 0);
  if (!response) {
    (void)close(own);
    return MHD_NO;
  }
  serve_reply_headers(response, type);
  return queue(connection, 200, response);
}

enum MHD_Result serve_reply_asset(struct MHD_Connection *connection, const char *path) {
  if (!strcmp(path, "/")) path = "/index.html";
  for (const serve_asset *asset = serve_assets; asset->path; asset++) {
    if (!asset->type || strcmp(asset->path, path) != 0) continue;
    struct MHD_Response *response = MHD_create_response_from_buffer(
        asset->size, (void *)(uintptr_t)asset->bytes, MHD_RESPMEM_PERSISTENT);
    if (!response) return MHD_NO;
    serve_reply_headers(response, asset->type);
    (void)MHD_add_response_header(response, "Content-Encoding", "gzip");
    return queue(connection, 200, response);
  }
  return serve_reply_error(connection, 404, "there is no such page");
}
