/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lattice/distance_matrix: distance vectors between outliers and tuples (Samarati 2001, section 5,
 * Figure 11 and Example 5.1, whose least upper bound is wrong: docs/reading-the-papers.md R5).
 *
 * Two tuples have the same labels at a node if and only if their distance vector is at or below it.
 * The class of a tuple therefore consists of the columns whose vector is. Only outliers, tuples of
 * fewer than k rows, can be suppressed, so only their rows of the matrix are stored. Vectors of two
 * outliers are stored twice: rows are read from end to end.
 */
#include "lattice/distance_matrix.h"

#include <stdlib.h>
#include <string.h>

void shoal_distance_matrix_reset(shoal_distance_matrix *matrix) {
  free(matrix->outliers);
  free(matrix->distances);
  memset(matrix, 0, sizeof *matrix);
}

/* ------------------------------------------------------------ building */

static shoal_status find_outliers(shoal_distance_matrix *matrix, shoal_error *error) {
  const shoal_frequency_set *f = matrix->frequency;
  matrix->outliers = shoal_alloc(f->n_tuples, sizeof *matrix->outliers);
  if (!matrix->outliers) return shoal_fail_memory(error);
  for (uint32_t t = 0; t < f->n_tuples; t++)
    if (f->base.n_rows[t] < matrix->k) matrix->outliers[matrix->n_outliers++] = t;
  if ((uint64_t)matrix->n_outliers * f->n_tuples <= SHOAL_DISTANCE_MATRIX_MAX) return SHOAL_OK;
  return shoal_fail(error, SHOAL_BAD_INPUT,
                    "the matrix of distance vectors would have %llu outliers x %llu tuples, more "
                    "than %llu million: use samarati, or fewer quasi-identifiers",
                    (unsigned long long)matrix->n_outliers, (unsigned long long)f->n_tuples,
                    (unsigned long long)(SHOAL_DISTANCE_MATRIX_MAX / 1000000));
}

/* The lowest level with one label for both; there is one, since the top has a single label. */
static uint16_t distance(const shoal_hierarchy *hierarchy, uint32_t a, uint32_t b) {
  if (a == b) return 0;
  uint32_t level = 0;
  while (level + 1 < hierarchy->n_levels &&
         hierarchy->levels[level].of_leaf[a] != hierarchy->levels[level].of_leaf[b])
    level++;
  return (uint16_t)level;
}

static shoal_status build(shoal_distance_matrix *matrix, const shoal_run *run, shoal_error *error) {
  const shoal_frequency_set *f = matrix->frequency;
  for (size_t q = 0; q < f->n_quasi; q++)
    if (shoal_hierarchy_height(f->hierarchies[q]) > UINT16_MAX)
      return shoal_fail(error, SHOAL_BAD_INPUT,
                        "the hierarchy of '%.60s' has more than %u levels: too many for a matrix "
                        "of distance vectors",
                        f->quasi[q]->name, (unsigned)UINT16_MAX);
  SHOAL_TRY(find_outliers(matrix, error));
  size_t n_vectors = (size_t)matrix->n_outliers * f->n_tuples, n_cells;
  if (__builtin_mul_overflow(n_vectors, f->n_quasi, &n_cells)) return shoal_fail_memory(error);
  matrix->distances = shoal_alloc(n_cells, sizeof *matrix->distances);
  if (!matrix->distances) return shoal_fail_memory(error);
  for (uint32_t x = 0; x < matrix->n_outliers; x++) {
    SHOAL_TRY(shoal_run_report(run, "matrix", x, matrix->n_outliers, "outliers", error));
    uint32_t outlier = matrix->outliers[x];
    uint16_t *at = matrix->distances + (size_t)x * f->n_tuples * f->n_quasi;
    for (uint32_t y = 0; y < f->n_tuples; y++)
      for (size_t q = 0; q < f->n_quasi; q++)
        *at++ = distance(f->hierarchies[q], shoal_code_at(f->codes[q], outlier),
                         shoal_code_at(f->codes[q], y));
  }
  return SHOAL_OK;
}

shoal_status shoal_distance_matrix_build(shoal_distance_matrix *matrix,
                                         const shoal_frequency_set *frequency, uint64_t k,
                                         const shoal_run *run, shoal_error *error) {
  *matrix = (shoal_distance_matrix){.frequency = frequency, .k = k};
  shoal_status status = build(matrix, run, error);
  if (status != SHOAL_OK) shoal_distance_matrix_reset(matrix);
  return status;
}

/* ------------------------------------------------------------ rows to suppress */

static bool is_within(const uint16_t *vector, const uint32_t *levels, size_t n) {
  for (size_t q = 0; q < n; q++)
    if (vector[q] > levels[q]) return false;
  return true;
}

/* C_x < k: fewer than k rows have the labels of outlier x. */
static bool stays_outlier(const shoal_distance_matrix *matrix, uint32_t x, const uint32_t *levels) {
  const shoal_frequency_set *f = matrix->frequency;
  uint64_t n_rows = 0;
  for (uint32_t y = 0; y < f->n_tuples; y++) {
    if (!is_within(shoal_distance_matrix_vector(matrix, x, y), levels, f->n_quasi)) continue;
    n_rows += f->base.n_rows[y];
    if (n_rows >= matrix->k) return false;
  }
  return true;
}

uint64_t shoal_distance_matrix_required(const shoal_distance_matrix *matrix,
                                        const uint32_t *levels) {
  uint64_t suppressed = 0;
  for (uint32_t x = 0; x < matrix->n_outliers; x++)
    if (stays_outlier(matrix, x, levels))
      suppressed += matrix->frequency->base.n_rows[matrix->outliers[x]];
  return suppressed;
}

/* ------------------------------------------------------------ bounds */

static bool is_null(const uint16_t *vector, size_t n) {
  for (size_t q = 0; q < n; q++)
    if (vector[q]) return false;
  return true;
}

static bool is_over(const uint16_t *vector, const uint32_t *levels, size_t n) {
  for (size_t q = 0; q < n; q++)
    if (vector[q] < levels[q]) return false;
  return true;
}

/*
 * Adds a vector unless one at or below it is stored, and removes those above it. So the stored
 * vectors are the minimal ones of those seen so far.
 */
static bool keep_minimal(shoal_distance_matrix_bounds *bounds, size_t *capacity,
                         const uint16_t *vector, size_t n) {
  size_t kept = 0;
  for (size_t i = 0; i < bounds->n_vectors; i++) {
    uint32_t *stored = bounds->vectors + i * n;
    if (is_over(vector, stored, n)) return true; /* then none was above it */
    if (is_within(vector, stored, n)) continue;
    memmove(bounds->vectors + kept++ * n, stored, n * sizeof *stored);
  }
  if (!shoal_grow(&bounds->vectors, capacity, (kept + 1) * n, sizeof *bounds->vectors))
    return false;
  for (size_t q = 0; q < n; q++) bounds->vectors[kept * n + q] = vector[q];
  bounds->n_vectors = kept + 1;
  return true;
}

static int compare_vectors(const void *a, const void *b, void *n_quasi) {
  const uint32_t *x = a, *y = b;
  for (size_t q = 0; q < *(const size_t *)n_quasi; q++)
    if (x[q] != y[q]) return x[q] < y[q] ? -1 : 1;
  return 0;
}

static uint32_t height_of(const uint32_t *levels, size_t n) {
  uint32_t height = 0;
  for (size_t q = 0; q < n; q++) height += levels[q];
  return height;
}

shoal_status shoal_distance_matrix_lower(const shoal_distance_matrix *matrix, uint32_t x,
                                         shoal_distance_matrix_bounds *bounds, shoal_error *error) {
  size_t n = matrix->frequency->n_quasi, capacity = 0;
  memset(bounds, 0, sizeof *bounds);
  for (uint32_t y = 0; y < matrix->frequency->n_tuples; y++) {
    const uint16_t *vector = shoal_distance_matrix_vector(matrix, x, y);
    if (is_null(vector, n) || keep_minimal(bounds, &capacity, vector, n)) continue;
    shoal_distance_matrix_bounds_reset(bounds);
    return shoal_fail_memory(error);
  }
  if (bounds->n_vectors == 0) return SHOAL_OK;
  qsort_r(bounds->vectors, bounds->n_vectors, n * sizeof *bounds->vectors, compare_vectors, &n);
  bounds->min_height = UINT32_MAX;
  for (size_t i = 0; i < bounds->n_vectors; i++) {
    uint32_t height = height_of(bounds->vectors + i * n, n);
    if (height < bounds->min_height) bounds->min_height = height;
  }
  return SHOAL_OK;
}

void shoal_distance_matrix_bounds_reset(shoal_distance_matrix_bounds *bounds) {
  free(bounds->vectors);
  memset(bounds, 0, sizeof *bounds);
}

uint32_t shoal_distance_matrix_upper(const shoal_distance_matrix *matrix, uint32_t *levels) {
  size_t n = matrix->frequency->n_quasi;
  memset(levels, 0, n * sizeof *levels);
  for (uint32_t x = 0; x < matrix->n_outliers; x++) {
    for (uint32_t y = 0; y < matrix->frequency->n_tuples; y++) {
      const uint16_t *vector = shoal_distance_matrix_vector(matrix, x, y);
      for (size_t q = 0; q < n; q++)
        if (vector[q] > levels[q]) levels[q] = vector[q];
    }
  }
  return height_of(levels, n);
}
