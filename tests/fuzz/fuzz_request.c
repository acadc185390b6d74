/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz target: a request to `shoal serve`, as far as it is judged before anything runs: headers,
 * route, paths, and the YAML of a policy. The first line is the method and the path, header lines
 * follow, then an empty line and the body.
 *
 * What is let through must be what was meant: exactly one Host that names this server, a path that
 * stays below its directory, a route whose parts spell the path again.
 */
#include "fuzz.h"
#include "serve/directory.h"
#include "serve/guard.h"
#include "serve/routes.h"
#include "serve/yaml.h"

#include <strings.h>

static const char TOKEN[] = "0123456789abcdef0123456789abcdef";
enum { PORT = 8899 };

static bool is_own_host(const char *host) {
  return !strcasecmp(host, "127.0.0.1:8899") || !strcasecmp(host, "localhost:8899") ||
         !strcasecmp(host, "[::1]:8899");
}

static void check_guard(const serve_headers *h, bool api, bool changes) {
  serve_refusal refusal = serve_guard(h, PORT, TOKEN, api, changes);
  if (refusal.status) {
    MUST(refusal.status >= 400 && refusal.status < 500 && refusal.message);
    return;
  }
  MUST(h->n_host == 1 && is_own_host(h->host));
  MUST(h->n_length + h->n_coding <= 1);
  MUST(!h->origin || (!strncmp(h->origin, "http://", 7) && is_own_host(h->origin + 7)));
  if (api) {
    MUST(h->n_token == 1 && !strcmp(h->token, TOKEN));
    MUST(!changes || h->origin);
    MUST(!h->fetch_site || !strcmp(h->fetch_site, "same-origin"));
  }
}

static void check_route(const char *method, const char *path) {
  char parts[SERVE_MAX_PARTS][SERVE_PART_BYTES], spelled[2048] = "";
  bool known = false;
  const serve_route *route = serve_route_find(method, path, parts, &known);
  if (!route) return;
  MUST(known && !strcmp(route->method, method));
  size_t n = 0, size = 0;
  for (const char *c = route->path; *c; c++) {
    const char *text = *c == '*' ? parts[n++] : (const char[]){*c, '\0'};
    MUST(size + strlen(text) < sizeof spelled);
    memcpy(spelled + size, text, strlen(text) + 1);
    size += strlen(text);
  }
  MUST(!strcmp(spelled, path));
}

static void check_path(const char *base, const char *path) {
  char out[64];
  if (!serve_path_below(base, path, out, sizeof out)) return;
  MUST(out[0] != '/' && !strstr(out, "//"));
  for (const char *name = out; *name;) {
    size_t length = strcspn(name, "/");
    MUST(length && !(length == 1 && name[0] == '.') && !(length == 2 && !memcmp(name, "..", 2)));
    name += length + (name[length] == '/');
  }
}

/* The next line, ended by a zero byte; NULL after the last. */
static char *next_line(char **rest) {
  if (!*rest) return NULL;
  char *line = *rest, *end = strchr(line, '\n');
  if (end) *end = '\0';
  *rest = end ? end + 1 : NULL;
  return line;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char *text = malloc(size + 1), *rest = text;
  MUST(text);
  memcpy(text, data, size);
  text[size] = '\0';
  char *line = next_line(&rest), *path = strchr(line, ' ');
  if (path) *path++ = '\0';
  serve_headers headers = {0};
  for (char *header; (header = next_line(&rest)) && *header;) {
    char *value = strstr(header, ": ");
    if (value) *value = '\0';
    serve_headers_add(&headers, header, value ? value + 2 : "");
  }
  bool changes = strcmp(line, "GET") != 0;
  check_guard(&headers, true, changes);
  check_guard(&headers, false, changes);
  if (path) {
    check_route(line, path);
    check_path("", path);
    check_path("sub/directory", path);
  }
  if (rest) json_decref(serve_yaml_to_json(rest, strlen(rest)));
  free(text);
  return 0;
}
