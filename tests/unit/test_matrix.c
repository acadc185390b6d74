/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unit tests of src/lattice/distance_matrix.c: Samarati 2001's Figure 11 and Example 5.1 (with the
 * least upper bound as the figure has it), and random tables, on which the matrix must know of
 * every node what its classes say.
 */
#include "lattice_fixture.h"

#include "base/random.h"
#include "lattice/distance_matrix.h"

/* ---------------------------------------------------------------- the paper's table */

enum { PAPER_ROWS = 11, PAPER_QUASI = 5 };

static const char *const paper_names[PAPER_QUASI] = {"Race", "DOB", "Sex", "ZIP", "MaritalStatus"};
static const char *const paper_hierarchies[PAPER_QUASI] = {
    "{tree: [asian, black, white]}",
    "{date: [month, year, 5-years, decade], format: MM/DD/YY, pivot: 2001}",
    "{tree: [male, female]}", "{tree: {'9413*': ['94138', '94139'], '9414*': ['94141', '94142']}}",
    "{tree: {been married: [divorced, married, widow], never married: [single]}}"};
static const char *const paper_cells[PAPER_ROWS * PAPER_QUASI] = {
    "asian", "09/27/64", "female", "94139", "divorced", /* t1 */
    "asian", "09/30/64", "female", "94139", "divorced", /* t2 */
    "asian", "04/18/64", "male",   "94139", "married",  /* t3 */
    "asian", "04/15/64", "male",   "94139", "married",  /* t4 */
    "black", "03/13/63", "male",   "94138", "married",  /* t5 */
    "black", "03/18/63", "male",   "94138", "married",  /* t6 */
    "black", "09/13/64", "female", "94141", "married",  /* t7 */
    "black", "09/07/64", "female", "94141", "married",  /* t8 */
    "white", "05/14/61", "male",   "94138", "single",   /* t9 */
    "white", "05/08/61", "male",   "94138", "single",   /* t10 */
    "white", "09/15/61", "female", "94142", "widow",    /* t11 */
};

/* Figure 11, row by row, each vector as a number of five digits. */
static const unsigned figure_11[PAPER_ROWS][PAPER_ROWS] = {
    {0, 1000, 2101, 2101, 13111, 13111, 11021, 11021, 13112, 13112, 13021},
    {1000, 0, 2101, 2101, 13111, 13111, 11021, 11021, 13112, 13112, 13021},
    {2101, 2101, 0, 1000, 13010, 13010, 12120, 12120, 13012, 13012, 13121},
    {2101, 2101, 1000, 0, 13010, 13010, 12120, 12120, 13012, 13012, 13121},
    {13111, 13111, 13010, 13010, 0, 1000, 3120, 3120, 13002, 13002, 13121},
    {13111, 13111, 13010, 13010, 1000, 0, 3120, 3120, 13002, 13002, 13121},
    {11021, 11021, 12120, 12120, 3120, 3120, 0, 1000, 13122, 13122, 13011},
    {11021, 11021, 12120, 12120, 3120, 3120, 1000, 0, 13122, 13122, 13011},
    {13112, 13112, 13012, 13012, 13002, 13002, 13122, 13122, 0, 1000, 2122},
    {13112, 13112, 13012, 13012, 13002, 13002, 13122, 13122, 1000, 0, 2122},
    {13021, 13021, 13121, 13121, 13121, 13121, 13011, 13011, 2122, 2122, 0},
};

static void setup_paper(fixture *f, shoal_distance_matrix *matrix, uint64_t k) {
  setup(f, paper_names, paper_hierarchies, PAPER_QUASI, paper_cells, PAPER_ROWS, NULL);
  succeeds(f, shoal_distance_matrix_build(matrix, f->frequency, k, NULL, &f->error));
}

static void figure_11_comes_out(void **state UNUSED) {
  fixture f;
  shoal_distance_matrix matrix;
  setup_paper(&f, &matrix, 2);
  assert_int_equal(matrix.n_outliers, PAPER_ROWS);
  for (uint32_t x = 0; x < PAPER_ROWS; x++) {
    for (uint32_t y = 0; y < PAPER_ROWS; y++) {
      const uint16_t *vector = shoal_distance_matrix_vector(&matrix, x, y);
      unsigned number = 0;
      for (size_t q = 0; q < PAPER_QUASI; q++) number = number * 10 + vector[q];
      if (number != figure_11[x][y])
        fail_msg("t%u, t%u: %05u, not %05u", x + 1, y + 1, number, figure_11[x][y]);
    }
  }
  shoal_distance_matrix_reset(&matrix);
  teardown(&f);
}

static void example_5_1_comes_out(void **state UNUSED) {
  fixture f;
  shoal_distance_matrix matrix;
  setup_paper(&f, &matrix, 2);
  shoal_distance_matrix_bounds bounds;
  static const uint32_t expected[] = {0, 2, 1, 2, 2, /* and */ 1, 3, 0, 1, 1};
  succeeds(&f, shoal_distance_matrix_lower(&matrix, 10, &bounds, &f.error));
  assert_int_equal(bounds.n_vectors, 2);
  assert_memory_equal(bounds.vectors, expected, sizeof expected);
  assert_int_equal(bounds.min_height, 6);
  shoal_distance_matrix_bounds_reset(&bounds);
  /* t1: beside t2 at [0,1,0,0,0] */
  succeeds(&f, shoal_distance_matrix_lower(&matrix, 0, &bounds, &f.error));
  assert_int_equal(bounds.n_vectors, 1);
  assert_int_equal(bounds.min_height, 1);
  shoal_distance_matrix_bounds_reset(&bounds);
  static const uint32_t upper[] = {1, 3, 1, 2, 2};
  uint32_t levels[PAPER_QUASI];
  assert_int_equal(shoal_distance_matrix_upper(&matrix, levels), 9);
  assert_memory_equal(levels, upper, sizeof upper);
  shoal_distance_matrix_reset(&matrix);
  teardown(&f);
}

/* Figures 6 and 7: both minimal generalizations, and t11 alone in the way of [0,1,0,0,0]. */
static void figures_6_and_7_need_what_they_suppress(void **state UNUSED) {
  static const struct {
    uint32_t levels[PAPER_QUASI];
    uint64_t suppressed;
  } nodes[] = {{{0, 0, 0, 0, 0}, 11}, {{0, 1, 0, 0, 0}, 1}, {{0, 2, 1, 2, 2}, 0},
               {{1, 3, 0, 1, 1}, 0},  {{1, 3, 0, 1, 0}, 1}, {{1, 3, 1, 1, 0}, 1}};
  fixture f;
  shoal_distance_matrix matrix;
  setup_paper(&f, &matrix, 2);
  for (size_t i = 0; i < COUNT(nodes); i++) {
    uint64_t suppressed;
    suppressed = shoal_distance_matrix_required(&matrix, nodes[i].levels);
    assert_int_equal(suppressed, nodes[i].suppressed);
  }
  shoal_distance_matrix_reset(&matrix);
  teardown(&f);
}

static void without_outliers_it_is_empty(void **state UNUSED) {
  fixture f;
  shoal_distance_matrix matrix;
  setup_paper(&f, &matrix, 1);
  uint32_t levels[PAPER_QUASI];
  uint64_t suppressed;
  assert_int_equal(matrix.n_outliers, 0);
  assert_int_equal(shoal_distance_matrix_upper(&matrix, levels), 0);
  suppressed = shoal_distance_matrix_required(&matrix, levels);
  assert_int_equal(suppressed, 0);
  shoal_distance_matrix_reset(&matrix);
  teardown(&f);
}

static void a_lone_tuple_has_no_bounds(void **state UNUSED) {
  fixture f;
  shoal_distance_matrix matrix;
  shoal_distance_matrix_bounds bounds;
  setup(&f, (const char *[]){"a"}, (const char *[]){"{top: true}"}, 1, (const char *[]){"x", "x"},
        2, NULL);
  succeeds(&f, shoal_distance_matrix_build(&matrix, f.frequency, 3, NULL, &f.error));
  succeeds(&f, shoal_distance_matrix_lower(&matrix, 0, &bounds, &f.error));
  assert_int_equal(bounds.n_vectors, 0);
  uint64_t suppressed;
  suppressed = shoal_distance_matrix_required(&matrix, (uint32_t[]){1});
  assert_int_equal(suppressed, 2);
  shoal_distance_matrix_bounds_reset(&bounds);
  shoal_distance_matrix_reset(&matrix);
  teardown(&f);
}

/* ---------------------------------------------------------------- random tables */

enum { MAX_ROWS = 30 };

/* Numbers of two digits under masks or trees of ten, and few letters under a top. */
static void draw(fixture *f, shoal_random *random) {
  static const char *const names[] = {"a", "b", "c", "d"};
  static const char *const kinds[] = {
      "{mask: right}", "{mask: left}", "{top: true}",
      "{tree: {A: {A1: ['00', '01'], A2: ['02', '10']}, B: {B1: ['11', '12', '20'], B2: ['21', "
      "'22']}}}"};
  char texts[MAX_ROWS * 4][4];
  const char *hierarchies[4], *cells[MAX_ROWS * 4];
  uint64_t counts[MAX_ROWS];
  size_t n = 1 + shoal_random_below(random, 4), n_rows = 1 + shoal_random_below(random, MAX_ROWS);
  for (size_t q = 0; q < n; q++) hierarchies[q] = kinds[shoal_random_below(random, COUNT(kinds))];
  for (size_t i = 0; i < n * n_rows; i++) {
    uint64_t value = shoal_random_below(random, 9);
    (void)snprintf(texts[i], sizeof texts[i], "%c%c", (char)('0' + value / 3),
                   (char)('0' + value % 3));
    cells[i] = texts[i];
  }
  bool counted = shoal_random_below(random, 2);
  for (size_t r = 0; r < n_rows; r++) counts[r] = 1 + shoal_random_below(random, 3);
  setup(f, names, hierarchies, n, cells, n_rows, counted ? counts : NULL);
}

static bool is_below(const uint32_t *a, const uint32_t *b, size_t n) {
  for (size_t q = 0; q < n; q++)
    if (a[q] > b[q]) return false;
  return true;
}

/* A node that releases outlier x is at or above one of its lower bounds; and these are no more. */
static void check_lower(fixture *f, const shoal_distance_matrix *matrix, uint32_t x) {
  shoal_distance_matrix_bounds bounds;
  size_t n = f->n_quasi;
  uint32_t levels[MAX_QUASI], least = UINT32_MAX;
  succeeds(f, shoal_distance_matrix_lower(matrix, x, &bounds, &f->error));
  for (uint64_t node = 0; node < f->search.space.n_nodes; node++) {
    shoal_space_levels(&f->search.space, node, levels);
    bool joined = false, bounded = false; /* with another tuple; by a lower bound */
    for (uint32_t y = 0; y < f->frequency->n_tuples; y++) {
      bool same = y != matrix->outliers[x];
      for (size_t q = 0; q < n; q++) {
        const uint32_t *label = f->hierarchies[q]->levels[levels[q]].of_leaf;
        shoal_codes codes = f->frequency->codes[q];
        same = same &&
               label[shoal_code_at(codes, matrix->outliers[x])] == label[shoal_code_at(codes, y)];
      }
      joined = joined || same;
    }
    for (size_t i = 0; i < bounds.n_vectors; i++)
      bounded = bounded || is_below(bounds.vectors + i * n, levels, n);
    assert_int_equal(joined, bounded);
    uint32_t height = shoal_space_height(&f->search.space, node);
    if (joined && height < least) least = height;
  }
  if (bounds.n_vectors) assert_int_equal(bounds.min_height, least);
  for (size_t i = 0; i < bounds.n_vectors; i++)
    for (size_t j = 0; j < bounds.n_vectors; j++)
      assert_true(i == j || !is_below(bounds.vectors + i * n, bounds.vectors + j * n, n));
  shoal_distance_matrix_bounds_reset(&bounds);
}

static void random_tables_need_what_their_classes_need(void **state UNUSED) {
  shoal_random random;
  shoal_random_seed(&random, 71);
  uint64_t n_needy = 0;
  for (unsigned i = 0; i < 300; i++) {
    fixture f;
    shoal_distance_matrix matrix;
    draw(&f, &random);
    uint64_t k = 1 + shoal_random_below(&random, 6);
    start_search(&f, k, 0);
    succeeds(&f, shoal_distance_matrix_build(&matrix, f.frequency, k, NULL, &f.error));
    uint32_t levels[MAX_QUASI], upper[MAX_QUASI];
    (void)shoal_distance_matrix_upper(&matrix, upper);
    uint64_t at_upper, suppressed;
    at_upper = shoal_distance_matrix_required(&matrix, upper);
    for (uint64_t node = 0; node < f.search.space.n_nodes; node++) {
      shoal_node figures;
      succeeds(&f, shoal_search_evaluate(&f.search, node, &figures, &f.error));
      shoal_space_levels(&f.search.space, node, levels);
      suppressed = shoal_distance_matrix_required(&matrix, levels);
      assert_int_equal(suppressed, figures.suppressed);
      if (is_below(upper, levels, f.n_quasi)) assert_int_equal(suppressed, at_upper);
      n_needy += suppressed > 0;
    }
    for (uint32_t x = 0; x < matrix.n_outliers; x++) check_lower(&f, &matrix, x);
    shoal_distance_matrix_reset(&matrix);
    teardown(&f);
  }
  assert_true(n_needy > 1000);
}

/* ---------------------------------------------------------------- size */

static void large_tables_are_refused(void **state UNUSED) {
  enum { TUPLES = 2001 };
  static char texts[TUPLES][8];
  static const char *cells[TUPLES];
  for (size_t r = 0; r < TUPLES; r++) {
    (void)snprintf(texts[r], sizeof texts[r], "%zu", r);
    cells[r] = texts[r];
  }
  for (size_t n_rows = TUPLES - 1; n_rows <= TUPLES; n_rows++) { /* 4 million, and more */
    fixture f;
    shoal_distance_matrix matrix;
    setup(&f, (const char *[]){"a"}, (const char *[]){"{top: true}"}, 1, cells, n_rows, NULL);
    shoal_status status = shoal_distance_matrix_build(&matrix, f.frequency, 2, NULL, &f.error);
    assert_int_equal(status, n_rows < TUPLES ? SHOAL_OK : SHOAL_BAD_INPUT);
    if (status != SHOAL_OK) assert_non_null(strstr(f.error.message, "use samarati"));
    shoal_distance_matrix_reset(&matrix);
    teardown(&f);
  }
}

#define TEST(name) cmocka_unit_test(name)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(figure_11_comes_out),
      TEST(example_5_1_comes_out),
      TEST(figures_6_and_7_need_what_they_suppress),
      TEST(without_outliers_it_is_empty),
      TEST(a_lone_tuple_has_no_bounds),
      TEST(random_tables_need_what_their_classes_need),
      TEST(large_tables_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
