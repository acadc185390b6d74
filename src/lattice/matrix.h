/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lattice/matrix: the distance vectors between tuples (Samarati 2001, section 5): how many rows
 * k-anonymity makes a node suppress, without computing its classes, and bounds for solutions.
 * For tables that are small enough, and for k-anonymity alone.
 */
#ifndef SHOAL_LATTICE_MATRIX_H
#define SHOAL_LATTICE_MATRIX_H

#include "lattice/lattice.h"

/* More vectors are refused: at 9 quasi-identifiers they take 72 MB. */
#define SHOAL_MATRIX_MOST UINT64_C(4000000)

/* Row x: the x-th outlier, a distinct tuple of fewer than k rows. Column y: distinct tuple y. */
typedef struct shoal_matrix {
  const shoal_frequency *frequency; /* borrowed */
  uint64_t k;
  uint32_t n_outliers;
  uint32_t *outliers;  /* tuples, ascending */
  uint16_t *distances; /* n_outliers x n_tuples vectors of n_quasi levels */
} shoal_matrix;

/* SHOAL_BAD_INPUT where it would have more than SHOAL_MATRIX_MOST vectors. */
shoal_status shoal_matrix_build(shoal_matrix *matrix, const shoal_frequency *frequency, uint64_t k,
                                const shoal_run *run, shoal_error *error) SHOAL_MUST_CHECK;
void shoal_matrix_reset(shoal_matrix *matrix);

/*
 * VT[x, y]: by quasi-identifier, the least level at which outlier x and tuple y have one label.
 */
static inline const uint16_t *shoal_matrix_vector(const shoal_matrix *matrix, uint32_t x,
                                                  uint32_t y) {
  size_t entry = (size_t)x * matrix->frequency->n_tuples + y;
  return matrix->distances + entry * matrix->frequency->n_quasi;
}

/* The rows that must be suppressed at these levels so that the rest is k-anonymous. */
void shoal_matrix_required(const shoal_matrix *matrix, const uint32_t *levels,
                           uint64_t *suppressed);

/* Vectors of levels, ascending, one behind the other. */
typedef struct shoal_matrix_bounds {
  uint32_t *vectors; /* n_vectors x n_quasi levels */
  size_t n_vectors;
  uint32_t least_height; /* of these; 0 where there are none */
} shoal_matrix_bounds;

/*
 * The minimal ones of the vectors of row x that are not null: every node that does not suppress
 * outlier x is above or at one of them. There are none where the table has no other tuple.
 */
shoal_status shoal_matrix_lower(const shoal_matrix *matrix, uint32_t x, shoal_matrix_bounds *bounds,
                                shoal_error *error) SHOAL_MUST_CHECK;
void shoal_matrix_bounds_reset(shoal_matrix_bounds *bounds);

/*
 * The least upper bound of all vectors, into `levels`; returns its height. Nodes strictly above
 * are not minimal.
 */
uint32_t shoal_matrix_upper(const shoal_matrix *matrix, uint32_t *levels);

#endif
