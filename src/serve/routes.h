/* SPDX-License-Identifier: Apache-2.0 */
/* serve/routes: the table of the API. docs/api.md lists the same routes; a test compares them. */
#pragma once

#include <microhttpd.h>
#include <stdbool.h>
#include <stddef.h>

enum { SERVE_MAX_PARTS = 2, SERVE_PART_BYTES = 64 };

typedef enum serve_body {
  SERVE_BODY_NONE,
  SERVE_BODY_JSON,  /* up to 1 MiB */
  SERVE_BODY_TEXT,  /* up to 4 MiB */
  SERVE_BODY_UPLOAD /* up to 16 GiB, to an unlinked file */
} serve_body;

struct serve_request;

typedef struct serve_route {
  const char *method;
  const char *path; /* '*' is one part: letters, digits and dashes */
  serve_body body;
  enum MHD_Result (*handle)(struct serve_request *request);
  const char *summary;
} serve_route;

/* The method of the last entry is NULL. */
extern const serve_route serve_routes[];

/*
 * The route of a request; `parts` receives what '*' stands for. NULL: none; *known_path then says
 * whether another method has one.
 */
const serve_route *serve_route_find(const char *method, const char *path,
                                    char parts[SERVE_MAX_PARTS][SERVE_PART_BYTES],
                                    bool *known_path);
