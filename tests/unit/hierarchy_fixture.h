/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Columns made by hand, hierarchies compiled for them, and ways to look at the result: what the
 * unit tests of src/hierarchy share.
 */
#ifndef SHOAL_TESTS_HIERARCHY_FIXTURE_H
#define SHOAL_TESTS_HIERARCHY_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "hierarchy/hierarchy.h"

/* ------------------------------------------------------------ tables by hand */

typedef struct fixture {
  shoal_table table;
  shoal_column column;
  shoal_hierarchy_options options;
  shoal_hierarchy *hierarchy;
  shoal_error error;
  char path[256]; /* of the hierarchy file, once written */
} fixture;

static inline void add_value(shoal_column *column, const char *value, bool missing) {
  uint32_t v = column->n_values++;
  size_t begin = v ? (size_t)column->offsets[v] : 0, size = strlen(value);
  column->offsets = realloc(column->offsets, (v + 2) * sizeof *column->offsets);
  column->bytes = realloc(column->bytes, begin + size + 1);
  column->is_missing = realloc(column->is_missing, v + 1);
  column->first_row = realloc(column->first_row, (v + 1) * sizeof *column->first_row);
  memcpy(column->bytes + begin, value, size);
  column->offsets[v] = begin;
  column->offsets[v + 1] = begin + size;
  column->is_missing[v] = missing;
  column->first_row[v] = 10 + (uint64_t)v; /* data row 11 for the first value */
}

/* A column 'col' of data.csv with the values up to NULL; values "?" are missing. */
static inline void setup(fixture *f, const char *const *values) {
  memset(f, 0, sizeof *f);
  static char name[] = "data.csv";
  f->table.name = name;
  f->column.name = "col";
  f->options = (shoal_hierarchy_options){.policy = "policy.yaml", .attribute = "col"};
  for (size_t i = 0; values[i]; i++) add_value(&f->column, values[i], strcmp(values[i], "?") == 0);
}

static inline void teardown(fixture *f) {
  shoal_hierarchy_free(f->hierarchy);
  free(f->column.offsets);
  free(f->column.bytes);
  free(f->column.is_missing);
  free(f->column.first_row);
  if (f->path[0]) (void)unlink(f->path);
}

#define VALUES(...) ((const char *const[]){__VA_ARGS__, NULL})

static inline shoal_status compile(fixture *f, const shoal_hierarchy_spec *spec) {
  shoal_hierarchy_free(f->hierarchy);
  f->hierarchy = NULL;
  memset(&f->error, 0, sizeof f->error);
  return shoal_hierarchy_compile(spec, &f->table, &f->column, &f->options, &f->hierarchy,
                                 &f->error);
}

static inline void compile_ok(fixture *f, const shoal_hierarchy_spec *spec) {
  shoal_status status = compile(f, spec);
  if (status != SHOAL_OK) fail_msg("%s", f->error.message);
}

/* Must be refused as bad input, and the message must hold each of the phrases. */
static inline void refuse(fixture *f, const shoal_hierarchy_spec *spec,
                          const char *const *phrases) {
  assert_int_equal(compile(f, spec), SHOAL_BAD_INPUT);
  assert_null(f->hierarchy);
  for (size_t i = 0; phrases[i]; i++)
    if (!strstr(f->error.message, phrases[i]))
      fail_msg("no \"%s\" in \"%s\"", phrases[i], f->error.message);
}

/* Writes the hierarchy file and returns a spec of kind FILE for it. */
static inline shoal_hierarchy_spec file_spec(fixture *f, const char *bytes, size_t size_bytes) {
  if (!f->path[0]) {
    const char *directory = getenv("TMPDIR");
    (void)snprintf(f->path, sizeof f->path, "%s/shoal-hierarchy-XXXXXX",
                   directory ? directory : "/tmp");
    int fd = mkstemp(f->path);
    assert_true(fd >= 0);
    (void)close(fd);
  }
  FILE *file = fopen(f->path, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(bytes, 1, size_bytes, file), size_bytes);
  assert_int_equal(fclose(file), 0);
  return (shoal_hierarchy_spec){.kind = SHOAL_HIERARCHY_FILE, .file = f->path};
}

static inline void compile_file(fixture *f, const char *text) {
  shoal_hierarchy_spec spec = file_spec(f, text, strlen(text));
  compile_ok(f, &spec);
}

static inline void refuse_file(fixture *f, const char *text, const char *const *phrases) {
  shoal_hierarchy_spec spec = file_spec(f, text, strlen(text));
  refuse(f, &spec, phrases);
  assert_non_null(strstr(f->error.message, f->path));
}

/* ------------------------------------------------------------ looking at the result */

/* All labels of a leaf, "value|level1|...|top". */
static inline const char *leaf_path(const fixture *f, uint32_t leaf) {
  static char out[4096];
  size_t at = 0;
  for (uint32_t l = 0; l < f->hierarchy->n_levels; l++) {
    const shoal_level *level = &f->hierarchy->levels[l];
    size_t size;
    const char *label = shoal_level_label(level, level->of_leaf[leaf], &size);
    at += (size_t)snprintf(out + at, sizeof out - at, "%s%.*s", l ? "|" : "", (int)size, label);
  }
  return out;
}

static inline void assert_csv(const fixture *f, const char *expected) {
  char *csv;
  assert_int_equal(shoal_hierarchy_csv(f->hierarchy, &csv, NULL), SHOAL_OK);
  assert_string_equal(csv, expected);
  free(csv);
}

static inline void assert_drawn(const fixture *f, size_t most, const char *expected) {
  char *text;
  assert_int_equal(shoal_hierarchy_draw(f->hierarchy, NULL, most, &text, NULL), SHOAL_OK);
  assert_string_equal(text, expected);
  free(text);
}

/* Every number of the struct follows from the labels: recount them from the leaves. */
static inline void assert_consistent(const fixture *f) {
  const shoal_hierarchy *h = f->hierarchy;
  assert_int_equal(h->levels[0].n_labels, h->n_leaves);
  assert_int_equal(h->levels[h->n_levels - 1].n_labels, 1);
  assert_null(h->levels[h->n_levels - 1].parent);
  for (uint32_t l = 0; l < h->n_levels; l++) {
    const shoal_level *level = &h->levels[l];
    uint32_t seen = 0;
    uint32_t *n_leaves = calloc(level->n_labels, sizeof *n_leaves);
    for (uint32_t leaf = 0; leaf < h->n_leaves; leaf++) {
      uint32_t label = level->of_leaf[leaf];
      assert_true(label <= seen); /* in order of first appearance */
      if (label == seen) seen++;
      n_leaves[label]++;
      if (level->parent) assert_int_equal(level->parent[label], h->levels[l + 1].of_leaf[leaf]);
    }
    assert_int_equal(seen, level->n_labels);
    assert_memory_equal(n_leaves, level->n_leaves, level->n_labels * sizeof *n_leaves);
    free(n_leaves);
  }
}

/* ------------------------------------------------------------ what is asked for */

static inline shoal_hierarchy_spec intervals(const shoal_decimal *widths, size_t n_widths,
                                             shoal_decimal origin) {
  return (shoal_hierarchy_spec){.kind = SHOAL_HIERARCHY_INTERVALS,
                                .line = 5,
                                .at = 9,
                                .widths = widths,
                                .n_widths = n_widths,
                                .origin = origin};
}

static inline shoal_hierarchy_spec cuts(const shoal_cut_level *levels, size_t n_levels) {
  return (shoal_hierarchy_spec){
      .kind = SHOAL_HIERARCHY_CUTS, .line = 6, .at = 2, .cuts = levels, .n_cuts = n_levels};
}

static inline shoal_hierarchy_spec mask(bool left, char character) {
  return (shoal_hierarchy_spec){
      .kind = SHOAL_HIERARCHY_MASK, .line = 8, .at = 1, .mask_left = left, .mask_char = character};
}

static const shoal_date_unit all_units[] = {SHOAL_DATE_DAY, SHOAL_DATE_MONTH, SHOAL_DATE_YEAR,
                                            SHOAL_DATE_5_YEARS, SHOAL_DATE_DECADE};

static inline shoal_hierarchy_spec dates(size_t first, size_t n, const char *format) {
  return (shoal_hierarchy_spec){.kind = SHOAL_HIERARCHY_DATE,
                                .line = 9,
                                .at = 3,
                                .units = all_units + first,
                                .n_units = n,
                                .date_format = format};
}

#endif
