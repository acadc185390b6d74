/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the fuzz targets share: the entry that libFuzzer and replay.c call, a check that ends the
 * process (a fuzzer notices nothing else), a file in memory with a path, and reference.h.
 */
#ifndef SHOAL_TESTS_FUZZ_H
#define SHOAL_TESTS_FUZZ_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* libfyaml 0.7.12 leaks a page where a quote is not closed; where we leak, frames are ours too. */
const char *__lsan_default_suppressions(void);
__attribute__((weak)) const char *__lsan_default_suppressions(void) { return "leak:libfyaml"; }

#define MUST(condition)                                                                            \
  do {                                                                                             \
    if (!(condition)) {                                                                            \
      (void)fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #condition);         \
      abort();                                                                                     \
    }                                                                                              \
  } while (0)

/* A file that is in memory only: path to open it by. */
typedef struct memory_file {
  int fd;
  char path[40];
} memory_file;

static inline memory_file memory_file_new(const void *bytes, size_t size) {
  memory_file file = {.fd = memfd_create("fuzz", MFD_CLOEXEC)};
  MUST(file.fd >= 0 && (!size || write(file.fd, bytes, size) == (ssize_t)size));
  (void)snprintf(file.path, sizeof file.path, "/proc/self/fd/%d", file.fd);
  return file;
}

/* Takes the input apart; behind its end there are zeros. */
typedef struct pieces {
  const uint8_t *bytes;
  size_t size;
} pieces;

static inline unsigned take_byte(pieces *from) {
  if (!from->size) return 0;
  from->size--;
  return *from->bytes++;
}

static inline unsigned take_below(pieces *from, unsigned limit) { return take_byte(from) % limit; }

/* A copy in memory of its own size: one byte read too far is found. Slack is zeroed. */
static inline char *copy_exactly(const void *bytes, size_t size, size_t slack) {
  char *copy = calloc(1, size + slack ? size + slack : 1);
  MUST(copy);
  if (size) memcpy(copy, bytes, size);
  return copy;
}

#endif
