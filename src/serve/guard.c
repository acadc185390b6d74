/* SPDX-License-Identifier: Apache-2.0 */
/*
 * serve/guard: libmicrohttpd 0.9.75 accepts two Host headers, two Content-Length headers, and
 * Content-Length beside Transfer-Encoding. Each is refused here: two programs that read such a
 * request differently can be played against each other.
 */
#include "serve/guard.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

void serve_headers_add(serve_headers *h, const char *name, const char *value) {
  const struct {
    const char *name, **value;
    unsigned *n;
  } known[] = {
      {"Host", &h->host, &h->n_host},
      {"Origin", &h->origin, &h->n_origin},
      {"Sec-Fetch-Site", &h->fetch_site, &h->n_fetch_site},
      {"Sec-Fetch-Mode", &h->fetch_mode, &h->n_fetch_mode},
      {"Sec-Fetch-Dest", &h->fetch_dest, &h->n_fetch_dest},
      {"Shoal-Token", &h->token, &h->n_token},
      {"Content-Length", &h->length, &h->n_length},
      {"Transfer-Encoding", &h->coding, &h->n_coding},
  };
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (!strcasecmp(name, known[i].name)) {
      *known[i].value = value;
      ++*known[i].n;
    }
}

/* Is `text` the prefix, one of the three names of this machine, and the exact port? */
static bool names_this_server(const char *text, const char *prefix, unsigned port) {
  static const char *const names[] = {"127.0.0.1", "localhost", "[::1]"};
  char expected[64];
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    (void)snprintf(expected, sizeof expected, "%s%s:%u", prefix, names[i], port);
    if (!strcasecmp(text, expected)) return true;
    (void)snprintf(expected, sizeof expected, "%s%s", prefix, names[i]);
    if (port == 80 && !strcasecmp(text, expected)) return true; /* browsers leave 80 out */
  }
  return false;
}

bool serve_same_secret(const char *given, const char *secret) {
  size_t size = strlen(secret);
  volatile unsigned char differ = strlen(given) != size;
  if (differ) given = secret; /* the length is no secret */
  for (size_t i = 0; i < size; i++)
    differ = (unsigned char)(differ | (unsigned char)(given[i] ^ secret[i]));
  return !differ;
}

/* What no honest client sends. */
static const char *malformed(const serve_headers *h) {
  if (h->n_host != 1) return "the request needs exactly one Host header";
  if (h->n_length > 1) return "the request has more than one Content-Length";
  if (h->n_coding > 1) return "the request has more than one Transfer-Encoding";
  if (h->n_length && h->n_coding)
    return "the request has both Content-Length and Transfer-Encoding";
  if (h->n_coding && strcasecmp(h->coding, "chunked") != 0)
    return "only the transfer coding 'chunked' is understood";
  if (h->n_origin > 1 || h->n_fetch_site > 1 || h->n_fetch_mode > 1 || h->n_fetch_dest > 1 ||
      h->n_token > 1)
    return "the request repeats a header";
  return NULL;
}

/*
 * Did another site cause the request? Opening the page itself may come from anywhere: from the
 * private file that redirects to it, or from a link. It carries nothing secret, and it refuses to
 * be framed.
 */
static bool from_elsewhere(const serve_headers *h, bool api) {
  if (!h->fetch_site || !strcmp(h->fetch_site, "same-origin")) return false;
  if (api) return true;
  if (!strcmp(h->fetch_site, "none")) return false;
  bool opens = h->fetch_mode && !strcmp(h->fetch_mode, "navigate");
  return !opens || !h->fetch_dest || strcmp(h->fetch_dest, "document") != 0;
}

serve_refusal serve_guard(const serve_headers *h, unsigned port, const char *token, bool api,
                          bool changes) {
  const char *wrong = malformed(h);
  if (wrong) return (serve_refusal){400, wrong};
  if (!names_this_server(h->host, "", port))
    return (serve_refusal){403, "the Host header does not name this server"};
  if (h->origin && !names_this_server(h->origin, "http://", port))
    return (serve_refusal){403, "the request comes from another site"};
  if (from_elsewhere(h, api)) return (serve_refusal){403, "the request comes from another site"};
  if (!api)
    return changes ? (serve_refusal){405, "the page can only be read"} : (serve_refusal){0, NULL};
  if (changes && !h->origin) return (serve_refusal){403, "the request has no Origin header"};
  if (!h->token || !serve_same_secret(h->token, token))
    return (serve_refusal){401, "the token is missing or wrong; open the address that 'shoal "
                                "serve' printed"};
  return (serve_refusal){0, NULL};
}
