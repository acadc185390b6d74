/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz target: bytes as an SPSS, Stata or SAS file. The first byte chooses codes or value labels.
 * Whatever is handed over has the same number of cells in each column, and is UTF-8.
 */
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/text.h"
#include "fuzz.h"
#include "read/stat_file.h"

static size_t n_names;

static shoal_status take_names(void *user, const char *const *names, size_t n, shoal_error *error) {
  (void)user;
  (void)error;
  n_names = n;
  for (size_t i = 0; i < n; i++) MUST(names[i]);
  return SHOAL_OK;
}

static shoal_status take_rows(void *user, const shoal_text_view *columns, size_t n_columns,
                              size_t n_rows, shoal_error *error) {
  (void)user;
  (void)error;
  MUST(n_columns == n_names && n_rows > 0);
  for (size_t c = 0; c < n_columns; c++)
    for (size_t row = 0; row < n_rows; row++) {
      MUST(columns[c].offsets[row] <= columns[c].offsets[row + 1]);
      for (uint64_t at = columns[c].offsets[row]; at < columns[c].offsets[row + 1];) {
        size_t size =
            shoal_utf8_size(columns[c].bytes + at, (size_t)(columns[c].offsets[row + 1] - at));
        MUST(size > 0);
        at += size;
      }
    }
  return SHOAL_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 2 || size > 1 << 16) return 0;
  int fd = memfd_create("stat", MFD_CLOEXEC);
  char path[40];
  MUST(fd >= 0 && write(fd, data + 1, size - 1) == (ssize_t)(size - 1));
  (void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  shoal_stat_kind kind = shoal_stat_kind_of(path);
  shoal_stat_options options = {.labels = data[0] & 1, .missing = "?"};
  shoal_stat_target target = {NULL, take_names, take_rows};
  const char *assumed;
  shoal_error error;
  if (kind != SHOAL_STAT_NONE) {
    shoal_status status =
        shoal_stat_read(path, "fuzzed", kind, &options, &target, NULL, &assumed, &error);
    MUST(status == SHOAL_OK || status == SHOAL_BAD_INPUT || status == SHOAL_FAILED);
  }
  (void)close(fd);
  return 0;
}
