/* SPDX-License-Identifier: Apache-2.0 */
/* serve/text: texts that grow, errors, random names and the clock. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "shoal/shoal.h"

/* Fills the error and returns `status`. */
shoal_status serve_fail(shoal_error *error, shoal_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Bytes that grow. Zero-initialize; always ends in a zero byte that `size` does not count. */
typedef struct serve_text {
  char *bytes;
  size_t size, capacity;
} serve_text;

/* False: no memory; the text is unchanged. */
bool serve_text_add(serve_text *text, const char *bytes, size_t size);
void serve_text_reset(serve_text *text);

/* "DIRECTORY/NAME"; the one that is empty is left out with the slash. False: it does not fit. */
bool serve_join(char *out, size_t size, const char *directory, const char *name);

/* 128 random bits as 32 hexadecimal digits and a zero byte; false if the system has none. */
bool serve_random_name(char out[33]);

/* A random seed of 63 bits, as digits: whoever could try all seeds could restore the order of the
 * rows. False: no entropy. */
enum { SERVE_SEED_BYTES = 32 };
bool serve_random_seed(char out[SERVE_SEED_BYTES]);

/* Seconds of the monotonic clock. */
double serve_now(void);
