/* SPDX-License-Identifier: Apache-2.0 */
/*
 * serve/guard: who may ask? Pages of other sites can send requests to loopback addresses, and other
 * users of the machine can connect to them. So a request must name this server as its Host, come
 * from this page if it has an Origin or Sec-Fetch-Site, and below /api/ carry the token, which only
 * the user who started the server knows.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum { SERVE_TOKEN_LENGTH = 32 }; /* 128 bits as hexadecimal digits */

/* The headers that decide. n_*: how often each occurs; the value of the last one, or NULL. */
typedef struct serve_headers {
  const char *host, *origin, *fetch_site, *fetch_mode, *fetch_dest, *token, *length, *coding;
  unsigned n_host, n_origin, n_fetch_site, n_fetch_mode, n_fetch_dest, n_token, n_length, n_coding;
} serve_headers;

/* Counts one header. */
void serve_headers_add(serve_headers *headers, const char *name, const char *value);

typedef struct serve_refusal {
  unsigned status; /* 0: the request may proceed */
  const char *message;
} serve_refusal;

/*
 * Judges a request by its headers. `api`: the path is below /api/; `changes`: the method is neither
 * GET nor HEAD.
 */
serve_refusal serve_guard(const serve_headers *headers, unsigned port, const char *token, bool api,
                          bool changes);

/* Are both texts equal? Takes the same time wherever they differ. */
bool serve_same_secret(const char *given, const char *secret);
