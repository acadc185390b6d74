/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unit tests of src/lattice/mu_argus.c: Samarati 2001's Figure 12 cell by cell, and what it
 * misses; both readings of the sensitivities; random tables against the same done row by row.
 */
#include "lattice_fixture.h"

#include "base/random.h"
#include "lattice/mu_argus.h"

/* ---------------------------------------------------------------- Figure 12 */

enum { PAPER_ROWS = 12, SSN = 0, RACE, DOB, SEX, ZIP };

static const char *const names[] = {"SSN", "Race", "DOB", "Sex", "ZIP"};
static const char *const hierarchies[] = {
    "{top: true}", "{tree: [black, white]}", "{date: year, format: MM/DD/YY, pivot: 2001}",
    "{tree: [male, female]}", "{tree: {'9413*': ['94138', '94139'], '9414*': ['94141']}}"};
static const char *const figure_12[PAPER_ROWS][5] = {
    {"819181496", "black", "09/20/65", "male", "94141"},
    {"195925972", "black", "02/14/65", "male", "94141"},
    {"902750852", "black", "10/23/65", "female", "94138"},
    {"985820581", "black", "08/24/65", "female", "94138"},
    {"209559459", "black", "11/07/64", "female", "94138"},
    {"679392975", "black", "12/01/64", "female", "94138"},
    {"819491049", "white", "10/23/64", "male", "94138"},   /* stays unique */
    {"749201844", "white", "03/15/65", "female", "94139"}, /* loses Race and DOB */
    {"985302952", "white", "08/13/64", "male", "94139"},
    {"874593560", "white", "05/05/64", "male", "94139"},
    {"703872052", "white", "02/13/67", "male", "94138"},
    {"963963603", "white", "03/21/67", "male", "94138"},
};

/* The columns from `first` on: 0 with SSN, 1 without. */
static void setup_figure_12(fixture *f, size_t first) {
  const char *cells[PAPER_ROWS * 5];
  size_t n = 5 - first;
  for (size_t r = 0; r < PAPER_ROWS; r++)
    for (size_t q = 0; q < n; q++) cells[r * n + q] = figure_12[r][first + q];
  setup(f, names + first, hierarchies + first, n, cells, PAPER_ROWS, NULL);
}

static bool suppressed(const fixture *f, const shoal_mu_argus *result, size_t q, size_t row) {
  return result->suppressed[q][f->frequency->tuple_of_row[row]];
}

static uint64_t class_rows(const fixture *f, const shoal_mu_argus *result, size_t row) {
  return result->class_rows[result->class_of_tuple[f->frequency->tuple_of_row[row]]];
}

static void check_missed(const shoal_mu_argus *result, size_t i, const size_t *attributes, size_t n,
                         uint64_t n_rows) {
  assert_true(i < result->n_missed);
  assert_int_equal(result->missed[i].n_attributes, n);
  assert_memory_equal(result->missed[i].attributes, attributes, n * sizeof *attributes);
  assert_int_equal(result->missed[i].n_rows, n_rows);
  assert_false(result->missed[i].evaluated);
}

static void figure_12_comes_out(void **state UNUSED) {
  static const uint8_t sensitivity[] = {1, 2, 2, 2};
  fixture f;
  shoal_mu_argus result;
  setup_figure_12(&f, RACE);
  shoal_mu_argus_options options = {
      .k = 2, .sensitivity = sensitivity, .levels = (uint32_t[]){0, 1, 0, 0}};
  succeeds(&f, shoal_mu_argus_run(f.frequency, &options, NULL, &result, &f.error));
  for (size_t r = 0; r < PAPER_ROWS; r++)
    for (size_t q = 0; q < 4; q++)
      assert_int_equal(suppressed(&f, &result, q, r), r == 7 && (q + 1 == RACE || q + 1 == DOB));
  assert_int_equal(result.n_combinations, 4 + 3); /* Race with each of the others */
  assert_int_equal(result.n_cells, 2);
  assert_int_equal(result.n_rows, 1);
  assert_int_equal(class_rows(&f, &result, 6), 1); /* white, 1964, male, 94138 */
  assert_int_equal(class_rows(&f, &result, 7), 1); /* female, 94139 */
  assert_int_equal(class_rows(&f, &result, 8), 2);
  assert_int_equal(result.n_classes, 7);
  assert_int_equal(result.n_unsafe_classes, 2);
  assert_int_equal(result.n_unsafe_rows, 2);
  assert_int_equal(result.n_missed, 4);
  assert_true(result.missed_all);
  check_missed(&result, 0, (size_t[]){2, 3}, 2, 1);       /* female in 94139 */
  check_missed(&result, 1, (size_t[]){0, 1, 3}, 3, 1);    /* white, 1964, 94138 */
  check_missed(&result, 2, (size_t[]){1, 2, 3}, 3, 1);    /* 1964, male, 94138 */
  check_missed(&result, 3, (size_t[]){0, 1, 2, 3}, 4, 1); /* all four */
  shoal_mu_argus_reset(&result);
  teardown(&f);
}

/* The paper's own run has SSN in it, most identifying: its cells all go. */
static void figure_12_comes_out_with_ssn(void **state UNUSED) {
  static const uint8_t sensitivity[] = {3, 1, 2, 2, 2};
  fixture f;
  shoal_mu_argus result;
  setup_figure_12(&f, SSN);
  shoal_mu_argus_options options = {
      .k = 2, .sensitivity = sensitivity, .levels = (uint32_t[]){0, 0, 1, 0, 0}};
  succeeds(&f, shoal_mu_argus_run(f.frequency, &options, NULL, &result, &f.error));
  for (size_t r = 0; r < PAPER_ROWS; r++)
    for (size_t q = 0; q < 5; q++)
      assert_int_equal(suppressed(&f, &result, q, r),
                       q == SSN || (r == 7 && (q == RACE || q == DOB)));
  assert_int_equal(result.n_combinations, 5 + 7 + 3);
  assert_int_equal(result.n_cells, 14);
  assert_int_equal(result.n_rows, 12);
  assert_int_equal(result.n_unsafe_rows, 2);
  shoal_mu_argus_reset(&result);
  teardown(&f);
}

/* DOB by itself needs the year; the others have labels of two rows and more as they are. */
static void attributes_are_generalized_where_asked(void **state UNUSED) {
  static const uint8_t sensitivity[] = {0, 1, 2, 2, 2};
  fixture f;
  shoal_mu_argus result;
  setup_figure_12(&f, SSN);
  shoal_mu_argus_options options = {.k = 2, .sensitivity = sensitivity, .generalize = true};
  succeeds(&f, shoal_mu_argus_run(f.frequency, &options, NULL, &result, &f.error));
  assert_memory_equal(result.levels, ((uint32_t[]){0, 0, 1, 0, 0}), 5 * sizeof(uint32_t));
  assert_int_equal(result.n_cells, 2);
  assert_int_equal(result.n_unsafe_rows, 12); /* SSN is left alone, and tells everything */
  check_missed(&result, 0, (size_t[]){SSN}, 1, 12);
  shoal_mu_argus_reset(&result);
  options.k = 13; /* more than there are: every top, and then every cell */
  succeeds(&f, shoal_mu_argus_run(f.frequency, &options, NULL, &result, &f.error));
  assert_memory_equal(result.levels, ((uint32_t[]){0, 1, 2, 1, 2}), 5 * sizeof(uint32_t));
  assert_int_equal(result.n_cells, 48);
  shoal_mu_argus_reset(&result);
  teardown(&f);
}

/* All pairs and triples with a 2 in them: (white, 1964, 94138) is found, and is not enough. */
static void the_wide_reading_looks_at_more(void **state UNUSED) {
  static const uint8_t sensitivity[] = {1, 2, 2, 2};
  fixture f;
  shoal_mu_argus result;
  setup_figure_12(&f, RACE);
  shoal_mu_argus_options options = {.k = 2,
                                    .sensitivity = sensitivity,
                                    .levels = (uint32_t[]){0, 1, 0, 0},
                                    .reading = SHOAL_MU_ARGUS_WIDE};
  succeeds(&f, shoal_mu_argus_run(f.frequency, &options, NULL, &result, &f.error));
  assert_int_equal(result.n_combinations, 4 + 6 + 4);
  for (size_t r = 0; r < PAPER_ROWS; r++) /* the most identifying cells: DOB, Sex; DOB */
    for (size_t q = 0; q < 4; q++)
      assert_int_equal(suppressed(&f, &result, q, r),
                       (r == 7 && (q + 1 == DOB || q + 1 == SEX)) || (r == 6 && q + 1 == DOB));
  assert_int_equal(class_rows(&f, &result, 6), 1); /* white, suppressed, male, 94138 */
  assert_int_equal(result.n_unsafe_rows, 2);
  assert_int_equal(result.n_missed, 0); /* no combination of values is rare: only the gaps are */
  assert_true(result.missed_all);
  shoal_mu_argus_reset(&result);
  teardown(&f);
}

static void wrong_options_are_refused(void **state UNUSED) {
  fixture f;
  shoal_mu_argus result;
  setup_figure_12(&f, RACE);
  shoal_mu_argus_options bad_sensitivity = {.k = 2, .sensitivity = (uint8_t[]){1, 2, 4, 0}};
  assert_int_equal(shoal_mu_argus_run(f.frequency, &bad_sensitivity, NULL, &result, &f.error),
                   SHOAL_BAD_INPUT);
  assert_non_null(strstr(f.error.message, "'Sex' must be 0, 1, 2 or 3"));
  shoal_mu_argus_options bad_level = {.k = 2, .levels = (uint32_t[]){0, 3, 0, 0}};
  assert_int_equal(shoal_mu_argus_run(f.frequency, &bad_level, NULL, &result, &f.error),
                   SHOAL_BAD_INPUT);
  assert_non_null(strstr(f.error.message, "'DOB' is above its top, level 2"));
  teardown(&f);
}

/* ---------------------------------------------------------------- row by row */

enum { MAX_ROWS = 30, MAX_COLUMNS = 6, GONE = 1000 };

typedef struct rows {
  size_t n_rows, n_columns;
  unsigned labels[MAX_ROWS][MAX_COLUMNS]; /* GONE: suppressed */
  unsigned used[MAX_COLUMNS];
} rows;

/* Rows that share row r's values in the attributes of `set`; 0 where one is suppressed. */
static unsigned sharing(const rows *t, size_t r, unsigned set, bool gone_is_a_value) {
  unsigned n = 0;
  for (size_t s = 0; s < t->n_rows; s++) {
    bool same = true;
    for (size_t c = 0; c < t->n_columns; c++)
      if (set >> c & 1)
        same = same && t->labels[r][c] == t->labels[s][c] &&
               (gone_is_a_value || t->labels[r][c] != GONE);
    n += same;
  }
  return n;
}

static bool asked(const shoal_mu_argus_options *options, unsigned set) {
  unsigned size = 0, high = 0, seen = 0;
  bool repeated = false;
  for (size_t c = 0; c < MAX_COLUMNS; c++) {
    if (!(set >> c & 1)) continue;
    unsigned sensitivity = options->sensitivity[c];
    if (sensitivity == 0) return false;
    size++;
    high += sensitivity >= 2;
    repeated = repeated || (seen >> sensitivity & 1);
    seen |= 1U << sensitivity;
  }
  if (size > 3) return false;
  if (size == 1) return true;
  return options->reading == SHOAL_MU_ARGUS_WIDE ? high > 0 : !repeated;
}

static void suppress_naively(rows *t, const shoal_mu_argus_options *options, unsigned set) {
  bool unsafe[MAX_ROWS];
  size_t goes = MAX_COLUMNS;
  for (size_t r = 0; r < t->n_rows; r++) {
    unsigned n = sharing(t, r, set, false);
    unsafe[r] = n > 0 && n < options->k;
  }
  for (size_t c = 0; c < t->n_columns; c++) {
    if (!(set >> c & 1)) continue;
    if (goes == MAX_COLUMNS) {
      goes = c;
      continue;
    }
    int rank = options->reading == SHOAL_MU_ARGUS_WIDE
                   ? options->sensitivity[c] - options->sensitivity[goes]
                   : 0;
    if (rank > 0 || (rank == 0 && t->used[c] > t->used[goes])) goes = c;
  }
  for (size_t r = 0; r < t->n_rows; r++)
    if (unsafe[r]) t->labels[r][goes] = GONE;
}

/* Sets of attributes by size, then ascending as lists: column 0 weighs most. */
static size_t ordered_sets(size_t n_columns, unsigned *sets) {
  size_t n = 0;
  for (unsigned size = 1; size <= n_columns; size++)
    for (unsigned mirrored = (1U << n_columns); mirrored-- > 1;) {
      unsigned set = 0;
      for (size_t c = 0; c < n_columns; c++) set |= (mirrored >> (n_columns - 1 - c) & 1) << c;
      if ((unsigned)__builtin_popcount(set) == size) sets[n++] = set;
    }
  return n;
}

static void check_result(const fixture *f, const shoal_mu_argus *result, const rows *t,
                         const shoal_mu_argus_options *options) {
  unsigned sets[1U << MAX_COLUMNS], all = (1U << t->n_columns) - 1;
  size_t n_sets = ordered_sets(t->n_columns, sets), n_missed = 0;
  uint64_t n_cells = 0, n_rows = 0, n_unsafe = 0;
  for (size_t r = 0; r < t->n_rows; r++) {
    uint64_t gone = 0;
    for (size_t c = 0; c < t->n_columns; c++) {
      assert_int_equal(suppressed(f, result, c, r), t->labels[r][c] == GONE);
      gone += t->labels[r][c] == GONE;
    }
    n_cells += gone;
    n_rows += gone > 0;
    unsigned n = sharing(t, r, all, true);
    assert_int_equal(class_rows(f, result, r), n);
    n_unsafe += n < options->k;
  }
  assert_int_equal(result->n_cells, n_cells);
  assert_int_equal(result->n_rows, n_rows);
  assert_int_equal(result->n_unsafe_rows, n_unsafe);
  for (size_t i = 0; i < n_sets; i++) {
    uint64_t unsafe = 0;
    for (size_t r = 0; r < t->n_rows; r++) {
      unsigned n = sharing(t, r, sets[i], false);
      unsafe += n > 0 && n < options->k;
    }
    if (!unsafe || n_missed++ >= SHOAL_MU_ARGUS_MAX_MISSED) continue;
    const shoal_mu_argus_missed *missed = &result->missed[n_missed - 1];
    unsigned set = 0;
    assert_true(n_missed <= result->n_missed);
    for (size_t a = 0; a < missed->n_attributes; a++) set |= 1U << missed->attributes[a];
    assert_int_equal(set, sets[i]);
    assert_int_equal(missed->n_rows, unsafe);
    assert_int_equal(missed->evaluated, asked(options, set));
  }
  bool cut = n_missed > SHOAL_MU_ARGUS_MAX_MISSED;
  assert_int_equal(result->n_missed, cut ? SHOAL_MU_ARGUS_MAX_MISSED : n_missed);
  if (cut) assert_false(result->missed_all);
  if (n_missed < SHOAL_MU_ARGUS_MAX_MISSED) assert_true(result->missed_all);
}

/* Numbers of two digits masked from the right; some tables at random levels. */
static void draw(fixture *f, rows *t, shoal_random *random, uint32_t *levels) {
  static const char *const columns[] = {"a", "b", "c", "d", "e", "f"};
  static const char *const masks[] = {"{mask: right}", "{mask: right}", "{mask: right}",
                                      "{mask: right}", "{mask: right}", "{mask: right}"};
  char texts[MAX_ROWS * MAX_COLUMNS][8];
  const char *cells[MAX_ROWS * MAX_COLUMNS];
  unsigned bounds[MAX_COLUMNS];
  memset(t, 0, sizeof *t);
  t->n_rows = 1 + shoal_random_below(random, MAX_ROWS);
  t->n_columns = 1 + shoal_random_below(random, MAX_COLUMNS);
  for (size_t c = 0; c < t->n_columns; c++) {
    bounds[c] = shoal_random_below(random, 2) ? 2 : 30;
    levels[c] = (uint32_t)shoal_random_below(random, 3);
  }
  for (size_t r = 0; r < t->n_rows; r++)
    for (size_t c = 0; c < t->n_columns; c++) {
      unsigned value = (unsigned)shoal_random_below(random, bounds[c]), label = value;
      for (uint32_t l = 0; l < levels[c]; l++) label /= 10;
      (void)snprintf(texts[r * t->n_columns + c], sizeof *texts, "%02u", value % 100);
      cells[r * t->n_columns + c] = texts[r * t->n_columns + c];
      bool is_new = true;
      for (size_t s = 0; s < r; s++) is_new = is_new && t->labels[s][c] != label;
      t->labels[r][c] = label;
      t->used[c] += is_new;
    }
  setup(f, columns, masks, t->n_columns, cells, t->n_rows, NULL);
}

static void random_tables_are_as_row_by_row(void **state UNUSED) {
  shoal_random random;
  shoal_random_seed(&random, 73);
  unsigned n_undone = 0, n_cut = 0;
  for (unsigned i = 0; i < 400; i++) {
    fixture f;
    rows t;
    uint32_t levels[MAX_COLUMNS];
    uint8_t sensitivity[MAX_COLUMNS];
    unsigned sets[1U << MAX_COLUMNS];
    draw(&f, &t, &random, levels);
    for (size_t c = 0; c < MAX_COLUMNS; c++)
      sensitivity[c] = (uint8_t)shoal_random_below(&random, 4);
    shoal_mu_argus_options options = {.k = 1 + shoal_random_below(&random, 4),
                                      .sensitivity = sensitivity,
                                      .levels = levels,
                                      .reading =
                                          i % 2 ? SHOAL_MU_ARGUS_WIDE : SHOAL_MU_ARGUS_RANKS};
    size_t n_sets = ordered_sets(t.n_columns, sets);
    for (size_t s = 0; s < n_sets; s++)
      if (asked(&options, sets[s])) suppress_naively(&t, &options, sets[s]);
    shoal_mu_argus result;
    succeeds(&f, shoal_mu_argus_run(f.frequency, &options, NULL, &result, &f.error));
    check_result(&f, &result, &t, &options);
    for (size_t m = 0; m < result.n_missed; m++) n_undone += result.missed[m].evaluated;
    n_cut += !result.missed_all;
    shoal_mu_argus_reset(&result);
    teardown(&f);
  }
  assert_true(n_undone > 0 && n_cut > 0);
}

#define TEST(name) cmocka_unit_test(name)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(figure_12_comes_out),
      TEST(figure_12_comes_out_with_ssn),
      TEST(attributes_are_generalized_where_asked),
      TEST(the_wide_reading_looks_at_more),
      TEST(wrong_options_are_refused),
      TEST(random_tables_are_as_row_by_row),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
