/* SPDX-License-Identifier: Apache-2.0 */
/* What the fixtures of clustering share: tables made cell by cell, and runs that are watched. */
#ifndef SHOAL_TESTS_CLUSTER_TABLE_H
#define SHOAL_TESTS_CLUSTER_TABLE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"
#include "base/text.h"
#include "cluster/cluster.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define UNUSED __attribute__((unused))

/* Writes one cell; columns are made one after the other. */
typedef void (*write_cell)(shoal_text *text, const void *user, size_t column, size_t row,
                           shoal_random *random);

static inline shoal_table *make_table(const char *const *names, size_t n_columns, size_t n_rows,
                                      const shoal_policy *policy, write_cell write,
                                      const void *user, shoal_random *random) {
  shoal_table *table;
  shoal_error error;
  shoal_text *texts = calloc(n_columns, sizeof *texts);
  uint64_t **offsets = calloc(n_columns, sizeof *offsets);
  shoal_text_view *views = calloc(n_columns, sizeof *views);
  assert_true(texts && offsets && views);
  for (size_t c = 0; c < n_columns; c++) {
    offsets[c] = calloc(n_rows + 1, sizeof **offsets);
    assert_non_null(offsets[c]);
    for (size_t r = 0; r < n_rows; r++) {
      write(&texts[c], user, c, r, random);
      offsets[c][r + 1] = texts[c].size_bytes;
    }
    views[c] = (shoal_text_view){texts[c].bytes, offsets[c]};
  }
  assert_int_equal(shoal_table_new(names, n_columns, &table, &error), SHOAL_OK);
  assert_int_equal(shoal_table_append(table, views, n_columns, n_rows, NULL, &error), SHOAL_OK);
  assert_int_equal(shoal_table_finish(table, policy, SHOAL_FOR_RELEASE, &error), SHOAL_OK);
  for (size_t c = 0; c < n_columns; c++) {
    shoal_text_reset(&texts[c]);
    free(offsets[c]);
  }
  free(texts);
  free(offsets);
  free(views);
  return table;
}

/* ---------------------------------------------------------------- progress */

typedef struct watch {
  unsigned n_reports, stop_at;
  uint64_t last;
} watch;

static inline bool look(void *user, const shoal_progress *progress) {
  watch *w = user;
  assert_string_equal(progress->stage, "cluster");
  assert_true(progress->done >= w->last && progress->done <= progress->total);
  w->last = progress->done;
  return ++w->n_reports == w->stop_at;
}

#endif
