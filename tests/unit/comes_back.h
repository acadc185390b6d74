/* SPDX-License-Identifier: Apache-2.0 */
/* What was written to a file, read again and decompressed. Included after cmocka.h. */
#ifndef SHOAL_TESTS_COMES_BACK_H
#define SHOAL_TESTS_COMES_BACK_H

#include "read/source.h"

static inline void comes_back(int fd, const char *bytes, size_t size) {
  static char block[65536];
  char name[64];
  shoal_source *source;
  shoal_error error = {0};
  (void)snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
  assert_int_equal(shoal_source_open(name, &source, &error), SHOAL_OK);
  size_t got = 1, at = 0;
  for (; got > 0; at += got) {
    assert_int_equal(shoal_source_read(source, block, sizeof block, &got, &error), SHOAL_OK);
    assert_true(got <= size - at);
    assert_memory_equal(block, bytes + at, got);
  }
  assert_int_equal(at, size);
  shoal_source_close(source);
}

#endif
