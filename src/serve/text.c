/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/text.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

shoal_status serve_fail(shoal_error *error, shoal_status status, const char *format, ...) {
  va_list arguments;
  memset(error, 0, sizeof *error);
  error->status = status;
  va_start(arguments, format);
  (void)vsnprintf(error->message, sizeof error->message, format, arguments);
  va_end(arguments);
  return status;
}

bool serve_text_add(serve_text *text, const char *bytes, size_t size) {
  if (size >= text->capacity - text->size || !text->bytes) {
    size_t capacity = text->capacity ? text->capacity : 256;
    while (capacity - text->size <= size) {
      if (capacity > SIZE_MAX / 2) return false;
      capacity *= 2;
    }
    char *grown = realloc(text->bytes, capacity);
    if (!grown) return false;
    text->bytes = grown;
    text->capacity = capacity;
  }
  if (size) memcpy(text->bytes + text->size, bytes, size);
  text->size += size;
  text->bytes[text->size] = '\0';
  return true;
}

void serve_text_reset(serve_text *text) {
  free(text->bytes);
  *text = (serve_text){0};
}

bool serve_join(char *out, size_t size, const char *directory, const char *name) {
  const char *slash = *directory && *name ? "/" : "";
  int length = snprintf(out, size, "%s%s%s", directory, slash, name);
  return length >= 0 && (size_t)length < size;
}

bool serve_random_name(char out[33]) {
  unsigned char bits[16];
  if (getrandom(bits, sizeof bits, 0) != (ssize_t)sizeof bits) return false;
  for (size_t i = 0; i < sizeof bits; i++) (void)snprintf(out + 2 * i, 3, "%02x", bits[i]);
  return true;
}

bool serve_random_seed(char out[SERVE_SEED_BYTES]) {
  uint64_t seed;
  if (getrandom(&seed, sizeof seed, 0) != (ssize_t)sizeof seed) return false;
  (void)snprintf(out, SERVE_SEED_BYTES, "%" PRIu64, seed >> 1); /* JSON has signed numbers */
  return true;
}

double serve_now(void) {
  struct timespec now;
  (void)clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}
