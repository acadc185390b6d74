/* SPDX-License-Identifier: Apache-2.0 */
/* serve/match: a path and the patterns of the routes. */
#include <string.h>

#include "serve/routes.h"

static bool is_part(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
}

static bool matches(const char *pattern, const char *path,
                    char parts[SERVE_MAX_PARTS][SERVE_PART_BYTES]) {
  for (size_t n = 0; *pattern; pattern++) {
    if (*pattern != '*') {
      if (*path++ != *pattern) return false;
      continue;
    }
    size_t size = 0;
    while (is_part(path[size])) size++;
    if (!size || size >= SERVE_PART_BYTES || n == SERVE_MAX_PARTS) return false;
    memcpy(parts[n], path, size);
    parts[n++][size] = '\0';
    path += size;
  }
  return !*path;
}

const serve_route *serve_route_find(const char *method, const char *path,
                                    char parts[SERVE_MAX_PARTS][SERVE_PART_BYTES],
                                    bool *known_path) {
  *known_path = false;
  for (const serve_route *route = serve_routes; route->method; route++) {
    if (!matches(route->path, path, parts)) continue;
    *known_path = true;
    if (!strcmp(route->method, method)) return route;
  }
  return NULL;
}
