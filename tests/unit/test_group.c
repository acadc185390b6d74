/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unit tests of src/group: tuples and classes at every node of random lattices, compared with rows
 * grouped naively by strings of labels; sets and histograms of sensitive values; keys of more than
 * 64 bits; several threads; joining.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/random.h"
#include "base/text.h"
#include "group/classes.h"
#include "table/load.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define UNUSED __attribute__((unused))

enum { MAX_COLUMNS = 14, MAX_SENSITIVE = 2 };

static char hierarchy_file[64];
static shoal_error error;

static void succeeds(shoal_status status) {
  if (status != SHOAL_OK) fail_msg("%s", error.message);
}

/* ---------------------------------------------------------------- tables of numbers */

typedef enum column_kind { MASKED, FILED, TOPPED, SENSITIVE } column_kind;

/* A table, and what its cells were made of. */
typedef struct sample {
  size_t n_rows, n_quasi, n_sensitive;
  column_kind kinds[MAX_COLUMNS]; /* quasi-identifiers, then sensitive attributes */
  uint32_t *values[MAX_COLUMNS];
  uint64_t *counts; /* NULL: none */
  shoal_table *table;
  shoal_hierarchy *hierarchies[MAX_COLUMNS];
  const shoal_column *columns[MAX_COLUMNS];
  shoal_frequency_set *frequency;
} sample;

/* Sensitive value 0 is missing. */
static size_t render(column_kind kind, uint32_t value, char *out) {
  if (kind == SENSITIVE) return (size_t)(value ? sprintf(out, "s%u", value) : sprintf(out, "?"));
  return (size_t)sprintf(out, kind == MASKED ? "%02u" : "v%u", value);
}

/* The label of a value, as a number: what the hierarchies below say, without them. */
static uint32_t naive_label(column_kind kind, uint32_t value, uint32_t level) {
  if (kind == TOPPED && level) return 0;
  for (; level; level--) value /= kind == MASKED ? 10 : 3;
  return value;
}

/* v0 .. v26 in threes, nines, and all. */
static int write_hierarchy(void **state UNUSED) {
  (void)snprintf(hierarchy_file, sizeof hierarchy_file, "/tmp/shoal-group-XXXXXX");
  int fd = mkstemp(hierarchy_file);
  FILE *file = fd < 0 ? NULL : fdopen(fd, "w");
  if (!file) return 1;
  for (int v = 0; v < 27; v++) (void)fprintf(file, "v%d;g%d;h%d;*\n", v, v / 3, v / 9);
  return fclose(file);
}

static int remove_hierarchy(void **state UNUSED) { return unlink(hierarchy_file); }

static void make_table(sample *s) {
  static const char *const names[MAX_COLUMNS] = {"a", "b", "c", "d", "e", "f", "g",
                                                 "h", "i", "j", "k", "l", "m", "n"};
  static const char *const missing[] = {"?"};
  size_t n_columns = s->n_quasi + s->n_sensitive;
  shoal_text texts[MAX_COLUMNS] = {{0}};
  uint64_t *offsets = calloc((s->n_rows + 1) * n_columns, sizeof *offsets);
  shoal_text_view views[MAX_COLUMNS];
  assert_non_null(offsets);
  for (size_t c = 0; c < n_columns; c++) {
    uint64_t *ends = offsets + c * (s->n_rows + 1);
    for (size_t r = 0; r < s->n_rows; r++) {
      char cell[32];
      shoal_text_add_bytes(&texts[c], cell, render(s->kinds[c], s->values[c][r], cell));
      ends[r + 1] = texts[c].size_bytes;
    }
    views[c] = (shoal_text_view){texts[c].bytes, ends};
  }
  succeeds(shoal_table_new(names, n_columns, &s->table, &error));
  succeeds(shoal_table_append(s->table, views, n_columns, s->n_rows, s->counts, &error));
  succeeds(shoal_table_finalize(s->table, &(shoal_load_options){.missing = missing, .n_missing = 1},
                                &error));
  for (size_t c = 0; c < n_columns; c++) {
    s->columns[c] = &s->table->columns[c];
    shoal_text_reset(&texts[c]);
  }
  free(offsets);
}

static void compile_hierarchies(sample *s) {
  static const shoal_hierarchy_kind kinds[] = {SHOAL_HIERARCHY_MASK, SHOAL_HIERARCHY_FILE,
                                               SHOAL_HIERARCHY_TOP};
  for (size_t q = 0; q < s->n_quasi; q++) {
    shoal_hierarchy_spec spec = {kinds[s->kinds[q]], .file = hierarchy_file, .mask_char = '*'};
    succeeds(shoal_hierarchy_compile(&spec, s->table, s->columns[q], &(shoal_hierarchy_options){0},
                                     &s->hierarchies[q], &error));
  }
}

static void build(sample *s, const shoal_track *track, unsigned n_threads) {
  succeeds(shoal_frequency_set_build(s->table, s->columns,
                                     (const shoal_hierarchy *const *)s->hierarchies, s->n_quasi,
                                     s->columns + s->n_quasi, track, s->n_sensitive,
                                     &(shoal_run){.n_threads = n_threads}, &s->frequency, &error));
}

static void release(sample *s) {
  shoal_frequency_set_free(s->frequency);
  for (size_t q = 0; q < s->n_quasi; q++) shoal_hierarchy_free(s->hierarchies[q]);
  for (size_t c = 0; c < s->n_quasi + s->n_sensitive; c++) free(s->values[c]);
  free(s->counts);
  shoal_table_free(s->table);
}

static void allocate_values(sample *s) {
  for (size_t c = 0; c < s->n_quasi + s->n_sensitive; c++) {
    s->values[c] = calloc(s->n_rows, sizeof **s->values);
    assert_non_null(s->values[c]);
  }
}

static uint64_t count_of(const sample *s, size_t row) { return s->counts ? s->counts[row] : 1; }

/* ---------------------------------------------------------------- grouping by strings */

enum { MAX_ROWS = 120 };

/* Rows with equal strings of labels are one class; classes are numbered by first appearance. */
typedef struct naive_classes {
  char keys[MAX_ROWS][MAX_COLUMNS * 6];
  uint32_t class_of_row[MAX_ROWS], first_row[MAX_ROWS], n_classes;
} naive_classes;

static void group_naively(const sample *s, const uint32_t *levels, naive_classes *naive) {
  naive->n_classes = 0;
  for (uint32_t r = 0; r < s->n_rows; r++) {
    char *key = naive->keys[r];
    *key = '\0';
    for (size_t q = 0; q < s->n_quasi; q++)
      key += sprintf(key, "%u|", naive_label(s->kinds[q], s->values[q][r], levels[q]));
    uint32_t c = 0;
    while (c < naive->n_classes && strcmp(naive->keys[naive->first_row[c]], naive->keys[r])) c++;
    naive->class_of_row[r] = c;
    if (c == naive->n_classes) naive->first_row[naive->n_classes++] = r;
  }
}

/* Rows of that class with that value of a sensitive attribute. */
static uint64_t naive_rows(const sample *s, const naive_classes *naive, uint32_t c,
                           const uint32_t *values, uint32_t value) {
  uint64_t n_rows = 0;
  for (size_t r = 0; r < s->n_rows; r++)
    if (naive->class_of_row[r] == c && values[r] == value) n_rows += count_of(s, r);
  return n_rows;
}

/* The sensitive values of class c, by the codes of the table, against those of its rows. */
static void check_sensitive(const sample *s, const shoal_classes *classes,
                            const naive_classes *naive, uint32_t c, size_t sensitive) {
  const shoal_column *column = s->columns[s->n_quasi + sensitive];
  const uint32_t *values = s->values[s->n_quasi + sensitive];
  const shoal_histogram *histogram = &classes->histograms[sensitive];
  const uint64_t *sets = classes->sets[sensitive];
  size_t at = histogram->start ? histogram->start[c] : 0;
  uint32_t distinct = 0;
  uint64_t set = 0;
  for (uint32_t code = 0; code < column->n_values; code++) {
    uint32_t value = values[column->first_row[code]];
    uint64_t n_rows = naive_rows(s, naive, c, values, value);
    if (!n_rows) continue;
    distinct += value != 0;
    if (sets && value) set |= UINT64_C(1) << code;
    if (!histogram->start) continue;
    assert_true(at < histogram->start[c + 1] && histogram->value[at] == code);
    assert_int_equal(histogram->n_rows[at++], n_rows);
  }
  if (sets) assert_true(sets[c] == set);
  if (histogram->start) assert_int_equal(at, histogram->start[c + 1]);
  if (sets || histogram->start)
    assert_int_equal(shoal_classes_distinct(s->frequency, classes, c, sensitive), distinct);
}

static void check_classes(const sample *s, const shoal_classes *classes,
                          const uint32_t *class_of_tuple, const naive_classes *naive) {
  const uint32_t *tuple_of_row = s->frequency->tuple_of_row;
  assert_int_equal(classes->n_classes, naive->n_classes);
  for (size_t r = 0; r < s->n_rows; r++)
    assert_int_equal(class_of_tuple[tuple_of_row[r]], naive->class_of_row[r]);
  for (uint32_t c = 0; c < classes->n_classes; c++) {
    uint64_t n_rows = 0;
    for (size_t r = 0; r < s->n_rows; r++)
      n_rows += naive->class_of_row[r] == c ? count_of(s, r) : 0;
    assert_int_equal(classes->n_rows[c], n_rows);
    assert_int_equal(classes->tuple[c], tuple_of_row[naive->first_row[c]]);
    for (size_t a = 0; a < s->n_sensitive; a++) check_sensitive(s, classes, naive, c, a);
  }
}

static void check_equal(const shoal_classes *a, const shoal_classes *b) {
  uint32_t n = a->n_classes;
  assert_int_equal(b->n_classes, n);
  assert_memory_equal(a->tuple, b->tuple, n * sizeof *a->tuple);
  assert_memory_equal(a->n_rows, b->n_rows, n * sizeof *a->n_rows);
  assert_int_equal(shoal_classes_bytes(a), shoal_classes_bytes(b));
  for (size_t s = 0; s < a->n_tracked; s++) {
    const shoal_histogram *x = &a->histograms[s], *y = &b->histograms[s];
    assert_true(!a->sets[s] == !b->sets[s] && !x->start == !y->start);
    if (a->sets[s]) assert_memory_equal(a->sets[s], b->sets[s], n * sizeof **a->sets);
    if (!x->start) continue;
    assert_memory_equal(x->start, y->start, (n + 1) * sizeof *x->start);
    assert_memory_equal(x->value, y->value, x->start[n] * sizeof *x->value);
    assert_memory_equal(x->n_rows, y->n_rows, x->start[n] * sizeof *x->n_rows);
  }
}

/* ---------------------------------------------------------------- random tables */

static void draw(sample *s, shoal_random *random, size_t n_rows, uint32_t n_values) {
  memset(s, 0, sizeof *s);
  s->n_rows = n_rows;
  s->n_quasi = 1 + shoal_random_below(random, 4);
  s->n_sensitive = shoal_random_below(random, MAX_SENSITIVE + 1);
  allocate_values(s);
  for (size_t c = 0; c < s->n_quasi + s->n_sensitive; c++) {
    bool masked = shoal_random_below(random, 2), few = shoal_random_below(random, 2);
    s->kinds[c] = c >= s->n_quasi ? SENSITIVE : masked ? MASKED : FILED;
    uint32_t most = few ? (shoal_random_below(random, 3) ? 5 : 1) : masked ? 100 : 27;
    uint32_t bound = c >= s->n_quasi ? n_values : most;
    for (uint32_t r = 0; r < n_rows; r++)
      s->values[c][r] = (uint32_t)shoal_random_below(random, bound);
    for (uint32_t r = 0; c >= s->n_quasi && r < n_rows && r < bound; r++) s->values[c][r] = r;
  }
  s->counts = shoal_random_below(random, 3) ? NULL : calloc(n_rows, sizeof *s->counts);
  for (size_t r = 0; s->counts && r < n_rows; r++) s->counts[r] = 1 + r % 5;
}

/* Every node from the tuples, and each from a node below it as well. */
static void check_all_nodes(const sample *s, shoal_random *random, shoal_grouper *grouper) {
  static naive_classes naive;
  const shoal_frequency_set *f = s->frequency;
  uint32_t levels[MAX_COLUMNS] = {0}, lower[MAX_COLUMNS];
  uint32_t class_of[MAX_ROWS];
  for (size_t q = 0; q < s->n_quasi; q++)
    for (size_t r = 0; r < s->n_rows; r++)
      assert_int_equal(shoal_code_at(f->codes[q], f->tuple_of_row[r]),
                       shoal_column_code(s->columns[q], r));
  for (size_t q = 0, n = 0; q < s->n_quasi; n++) {
    shoal_classes classes, middle, again, of_rows;
    group_naively(s, levels, &naive);
    succeeds(shoal_classes_roll_up(f, &f->base, levels, grouper, &classes, class_of, &error));
    check_classes(s, &classes, class_of, &naive);
    if (n == 0) check_equal(&classes, &f->base); /* level 0 of everything */
    succeeds(shoal_classes_of_rows(f, naive.class_of_row, naive.n_classes, &of_rows, &error));
    check_equal(&classes, &of_rows); /* straight from the rows */
    shoal_classes_reset(&of_rows);
    for (size_t i = 0; i < s->n_quasi; i++)
      lower[i] = (uint32_t)shoal_random_below(random, levels[i] + 1);
    succeeds(shoal_classes_roll_up(f, &f->base, lower, grouper, &middle, NULL, &error));
    succeeds(shoal_classes_roll_up(f, &middle, levels, grouper, &again, NULL, &error));
    check_equal(&classes, &again);
    shoal_classes_reset(&classes);
    shoal_classes_reset(&middle);
    shoal_classes_reset(&again); /* then the next vector of levels */
    for (q = 0; q < s->n_quasi && ++levels[q] == s->hierarchies[q]->n_levels;) levels[q++] = 0;
  }
}

static void random_tables_are_grouped_as_by_strings(void **state UNUSED) {
  static const uint32_t n_values[] = {65, 2, 6, 64};
  shoal_random random;
  shoal_random_seed(&random, 41);
  shoal_grouper grouper = {0};
  unsigned n_sets = 0, n_histograms = 0;
  for (unsigned i = 0; i < 120; i++) {
    sample s;
    size_t n_rows = i % 8 == 0 || i % 8 == 3 ? MAX_ROWS : 1 + shoal_random_below(&random, 40);
    draw(&s, &random, n_rows, n_values[i % COUNT(n_values)]);
    shoal_track track[MAX_SENSITIVE] = {(shoal_track)shoal_random_below(&random, 3),
                                        (shoal_track)shoal_random_below(&random, 3)};
    make_table(&s);
    compile_hierarchies(&s);
    build(&s, track, 1);
    for (size_t a = 0; a < s.n_sensitive; a++) {
      bool many = s.columns[s.n_quasi + a]->n_values > 64;
      bool set = track[a] == SHOAL_TRACK_SET && !many;
      assert_int_equal(s.frequency->base.sets[a] != NULL, set);
      assert_int_equal(s.frequency->base.histograms[a].start != NULL,
                       track[a] != SHOAL_TRACK_NONE && !set);
      n_sets += set;
      n_histograms += many && track[a] == SHOAL_TRACK_SET;
    }
    check_all_nodes(&s, &random, &grouper);
    release(&s);
  }
  assert_true(n_sets > 10 && n_histograms > 0);
  shoal_grouper_reset(&grouper);
}

static void classes_are_regrouped(void **state UNUSED) {
  shoal_random random;
  shoal_random_seed(&random, 42);
  for (unsigned i = 0; i < 200; i++) {
    sample s;
    draw(&s, &random, 1 + shoal_random_below(&random, 60), i % 2 ? 90 : 9);
    make_table(&s);
    build(&s, (shoal_track[]){SHOAL_TRACK_SET, SHOAL_TRACK_HISTOGRAM}, 1);
    static naive_classes naive; /* of two classes, the first may be empty */
    uint32_t ids[MAX_ROWS];
    uint64_t n_rows = 0;
    for (size_t t = 0; t < MAX_ROWS; t++) ids[t] = i < 10 || shoal_random_below(&random, 2);
    for (size_t r = 0; r < s.n_rows; r++) {
      naive.class_of_row[r] = ids[s.frequency->tuple_of_row[r]];
      if (!naive.class_of_row[r]) n_rows += count_of(&s, r);
    }
    shoal_classes joined;
    succeeds(shoal_classes_regroup(&s.frequency->base, ids, 2, &joined, &error));
    assert_true(joined.n_classes == 2 && joined.n_rows[0] == n_rows);
    for (size_t a = 0; a < s.n_sensitive; a++) check_sensitive(&s, &joined, &naive, 0, a);
    shoal_classes_reset(&joined);
    release(&s);
  }
}

/* ---------------------------------------------------------------- long keys, many rows */

enum { WIDE = 12, N_VECTORS = 2000, WIDE_ROWS = 5000 };

/* 12 x 10 bits, of which 64 bits would lose the first columns; the later ones differ in one. */
static void draw_vectors(uint32_t vectors[N_VECTORS][WIDE]) {
  for (uint32_t v = 0; v < N_VECTORS; v++)
    for (uint32_t q = 0; q < WIDE; q++)
      vectors[v][q] = (v % 1024 * (2 * q + 1) + (v >= 1024 && v % WIDE == q)) % 1024;
}

static bool same_labels(const uint32_t *a, const uint32_t *b, const uint32_t *levels) {
  size_t q = 0;
  while (q < WIDE && (levels[q] || a[q] == b[q])) q++;
  return q == WIDE;
}

/* The class of each vector, numbered by first appearance in the order given. */
static uint32_t group_vectors(uint32_t vectors[N_VECTORS][WIDE], const uint32_t *order, size_t n,
                              const uint32_t *levels, uint32_t *class_of) {
  static uint32_t first[N_VECTORS];
  uint32_t n_classes = 0;
  for (size_t i = 0; i < n; i++) {
    uint32_t c = 0;
    while (c < n_classes && !same_labels(vectors[first[c]], vectors[order[i]], levels)) c++;
    if (c == n_classes) first[n_classes++] = order[i];
    class_of[i] = c;
  }
  return n_classes;
}

static void keys_of_more_than_64_bits_are_grouped(void **state UNUSED) {
  static uint32_t vectors[N_VECTORS][WIDE], order[N_VECTORS], expected[N_VECTORS], ids[N_VECTORS];
  static uint32_t tuple_of[N_VECTORS], vector_of_row[WIDE_ROWS];
  shoal_random random;
  shoal_random_seed(&random, 43);
  draw_vectors(vectors);
  sample s = {.n_rows = WIDE_ROWS, .n_quasi = WIDE};
  allocate_values(&s);
  for (size_t q = 0; q < WIDE; q++) s.kinds[q] = TOPPED;
  uint32_t n_seen = 0; /* vectors by first appearance: these are the tuples */
  for (size_t r = 0; r < WIDE_ROWS; r++) {
    uint32_t v = vector_of_row[r] = (uint32_t)(r * 7 % N_VECTORS); /* all, then again */
    for (size_t q = 0; q < WIDE; q++) s.values[q][r] = vectors[v][q];
    if (r < N_VECTORS) order[tuple_of[v] = n_seen++] = v;
  }
  make_table(&s);
  compile_hierarchies(&s);
  build(&s, NULL, 2);
  for (size_t q = 0; q < WIDE; q++) assert_int_equal(s.columns[q]->n_values, 1024);
  assert_int_equal(s.frequency->n_tuples, n_seen);
  for (size_t r = 0; r < WIDE_ROWS; r++)
    assert_int_equal(s.frequency->tuple_of_row[r], tuple_of[vector_of_row[r]]);
  shoal_grouper grouper = {0};
  for (unsigned i = 0; i < 20; i++) { /* from all columns to one */
    uint32_t levels[WIDE];
    for (size_t q = 0; q < WIDE; q++) levels[q] = i && shoal_random_below(&random, 20) < i;
    if (i >= 18) levels[i % WIDE] = 0;
    shoal_classes classes;
    uint32_t n = group_vectors(vectors, order, n_seen, levels, expected);
    succeeds(shoal_classes_roll_up(s.frequency, &s.frequency->base, levels, &grouper, &classes, ids,
                                   &error));
    assert_int_equal(classes.n_classes, n);
    assert_memory_equal(ids, expected, n_seen * sizeof *ids);
    shoal_classes_reset(&classes);
  }
  shoal_grouper_reset(&grouper);
  release(&s);
}

/* The first tuple has labels other than 0, as the first of a subset can have. */
static void folded_keys_of_any_size_give_the_same_ids(void **state UNUSED) {
  enum { N = 300, N_LABELS = 1000 };
  static uint32_t labels[WIDE][N], ids[N], scratch[N];
  shoal_random random;
  shoal_random_seed(&random, 44);
  for (size_t q = 0; q < WIDE; q++)
    for (size_t i = 0; i < N; i++) /* the last third repeats the first */
      labels[q][i] = i < 2 * N / 3 ? 1 + (uint32_t)shoal_random_below(&random, q < 2 ? 2 : 999)
                                   : labels[q][i - 2 * N / 3];
  shoal_grouper grouper;
  shoal_grouper_init(&grouper);
  assert_true(shoal_grouper_start(&grouper, N));
  for (size_t q = 0; q < WIDE; q++)
    assert_true(shoal_grouper_fold(&grouper, N, NULL, labels[q], N_LABELS, scratch));
  assert_int_equal(shoal_grouper_ids(&grouper, N, ids), 2 * N / 3);
  for (uint32_t i = 0; i < N; i++) assert_int_equal(ids[i], i % (2 * N / 3));
  shoal_grouper_reset(&grouper);
}

enum { LARGE_ROWS = 250000 };

static void tuples_do_not_depend_on_threads(void **state UNUSED) {
  static uint32_t tuple_of[60 * 40 * 30];
  static uint64_t n_rows[60 * 40 * 30];
  shoal_random random;
  shoal_random_seed(&random, 44);
  sample s = {.n_rows = LARGE_ROWS, .n_quasi = 3}; /* masked */
  allocate_values(&s);
  static const uint32_t bounds[] = {60, 40, 30};
  for (size_t r = 0; r < LARGE_ROWS; r++) /* new tuples appear until the end */
    for (size_t c = 0; c < 3; c++)
      s.values[c][r] = (uint32_t)shoal_random_below(&random, 1 + bounds[c] * r / LARGE_ROWS);
  make_table(&s);
  for (unsigned n_threads = 1; n_threads <= 3; n_threads++) {
    build(&s, NULL, n_threads);
    const shoal_frequency_set *f = s.frequency;
    uint32_t n_tuples = 0;
    memset(tuple_of, 0xff, sizeof tuple_of);
    memset(n_rows, 0, sizeof n_rows);
    for (size_t r = 0; r < LARGE_ROWS; r++) {
      uint32_t *tuple = &tuple_of[(s.values[0][r] * 40 + s.values[1][r]) * 30 + s.values[2][r]];
      if (*tuple == UINT32_MAX) *tuple = n_tuples++;
      if (f->tuple_of_row[r] != *tuple) fail_msg("row %zu with %u threads", r, n_threads);
      for (size_t q = 0; q < 3; q++)
        assert_int_equal(shoal_code_at(f->codes[q], *tuple), shoal_column_code(s.columns[q], r));
      n_rows[*tuple]++;
    }
    assert_true(f->n_tuples == n_tuples);
    assert_memory_equal(f->base.n_rows, n_rows, n_tuples * sizeof *n_rows);
    shoal_frequency_set_free(s.frequency);
    s.frequency = NULL;
  }
  release(&s);
}

/* ---------------------------------------------------------------- rows that are invented */

enum { ADDED = 40, ADDED_VALUES = 6 };

/* Rows that a cluster is given beyond the table's own count like them, as sets and histograms. */
static void added_rows_count_like_rows_of_the_table(void **state UNUSED) {
  shoal_random random;
  shoal_random_seed(&random, 45);
  sample s = {
      .n_rows = 60, .n_quasi = 1, .n_sensitive = 2, .kinds = {TOPPED, SENSITIVE, SENSITIVE}};
  allocate_values(&s);
  for (size_t r = 0; r < s.n_rows; r++) {
    s.values[0][r] = (uint32_t)r % 4; /* tuples by first appearance: row r is of class r % 4 */
    for (size_t c = 1; c < 3; c++)
      s.values[c][r] = r < 4 * ADDED_VALUES ? (uint32_t)r / 4
                                            : (uint32_t)shoal_random_below(&random, ADDED_VALUES);
  }
  make_table(&s);
  build(&s, (shoal_track[]){SHOAL_TRACK_SET, SHOAL_TRACK_HISTOGRAM}, 1);
  uint64_t expected[4][ADDED_VALUES] = {{0}}, n_rows[4] = {0};
  for (size_t r = 0; r < s.n_rows; r++) { /* value v has the code v: so they appear first */
    expected[r % 4][s.values[2][r]]++;
    n_rows[r % 4]++;
  }
  uint32_t class_of[ADDED], values[2 * ADDED];
  for (size_t i = 0; i < ADDED; i++) {
    class_of[i] = (uint32_t)shoal_random_below(&random, 3); /* none to the last class */
    values[2 * i] = (uint32_t)shoal_random_below(&random, ADDED_VALUES);
    values[2 * i + 1] = (uint32_t)shoal_random_below(&random, ADDED_VALUES);
    expected[class_of[i]][values[2 * i + 1]]++;
    n_rows[class_of[i]]++;
  }
  shoal_classes *base = &s.frequency->base;
  uint64_t *set = base->sets[0];
  memset(set, 0, 4 * sizeof *set); /* so that only what is added can be found */
  succeeds(shoal_classes_add_rows(s.frequency, 0, NULL, NULL, base, &error));
  succeeds(shoal_classes_add_rows(s.frequency, ADDED, class_of, values, base, &error));
  assert_memory_equal(base->n_rows, n_rows, sizeof n_rows);
  uint64_t sets[4] = {0};
  for (size_t i = 0; i < ADDED; i++) /* value 0 is missing */
    if (values[2 * i]) sets[class_of[i]] |= UINT64_C(1) << values[2 * i];
  assert_memory_equal(set, sets, sizeof sets);
  const shoal_histogram *histogram = &base->histograms[1];
  for (uint32_t c = 0; c < 4; c++) {
    uint64_t found[ADDED_VALUES] = {0};
    for (size_t e = histogram->start[c]; e < histogram->start[c + 1]; e++)
      found[histogram->value[e]] = histogram->n_rows[e];
    assert_memory_equal(found, expected[c], sizeof found);
  }
  release(&s);
}

#define TEST(name) cmocka_unit_test(name)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(random_tables_are_grouped_as_by_strings),
      TEST(classes_are_regrouped),
      TEST(keys_of_more_than_64_bits_are_grouped),
      TEST(folded_keys_of_any_size_give_the_same_ids),
      TEST(tuples_do_not_depend_on_threads),
      TEST(added_rows_count_like_rows_of_the_table),
  };
  return cmocka_run_group_tests(tests, write_hierarchy, remove_hierarchy);
}
