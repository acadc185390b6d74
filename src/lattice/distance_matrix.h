/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lattice/distance_matrix: distance vectors between tuples (Samarati 2001, section 5). They give
 * the rows that a node must suppress for k-anonymity without computing its classes, and bounds for
 * solutions. For small tables and k-anonymity only.
 */
#pragma once

#include "lattice/lattice.h"

/* The maximum number of vectors: at 9 quasi-identifiers they take 72 MB. */
#define SHOAL_DISTANCE_MATRIX_MAX UINT64_C(4000000)

/*
 * Row x is the x-th outlier, a distinct tuple of fewer than k rows. Column y is tuple y.
 *
 *                 tuple 0            tuple 1            tuple 2
 *      outlier 0  [q0 q1 ...]        [q0 q1 ...]        [q0 q1 ...]     16 bits per level,
 *      outlier 1  [q0 q1 ...]        ...                                row after row
 */
typedef struct shoal_distance_matrix {
  const shoal_frequency_set *frequency; /* borrowed */
  uint64_t k;
  uint32_t n_outliers;
  uint32_t *outliers;  /* tuples, ascending */
  uint16_t *distances; /* n_outliers x n_tuples vectors of n_quasi levels */
} shoal_distance_matrix;

/* Time and memory: n_outliers x n_tuples. SHOAL_BAD_INPUT: more than the maximum. */
shoal_status shoal_distance_matrix_build(shoal_distance_matrix *matrix,
                                         const shoal_frequency_set *frequency, uint64_t k,
                                         const shoal_run *run, shoal_error *error) SHOAL_MUST_CHECK;
void shoal_distance_matrix_reset(shoal_distance_matrix *matrix);

/* VT[x, y]: by quasi-identifier, the lowest level at which x and y have the same label. */
static inline const uint16_t *shoal_distance_matrix_vector(const shoal_distance_matrix *matrix,
                                                           uint32_t x, uint32_t y) {
  size_t entry = (size_t)x * matrix->frequency->n_tuples + y;
  return matrix->distances + entry * matrix->frequency->n_quasi;
}

/* The rows that must be suppressed at these levels so that the rest is k-anonymous. */
uint64_t shoal_distance_matrix_required(const shoal_distance_matrix *matrix,
                                        const uint32_t *levels);

/* Vectors of levels, ascending. */
typedef struct shoal_distance_matrix_bounds {
  uint32_t *vectors; /* n_vectors x n_quasi levels */
  size_t n_vectors;
  uint32_t min_height; /* of these; 0 if there are none */
} shoal_distance_matrix_bounds;

/*
 * The minimal vectors of row x that are not null. Every node that does not suppress outlier x is
 * at or above one of them. None if the table has no other tuple. The caller resets the bounds.
 */
shoal_status shoal_distance_matrix_lower(const shoal_distance_matrix *matrix, uint32_t x,
                                         shoal_distance_matrix_bounds *bounds,
                                         shoal_error *error) SHOAL_MUST_CHECK;
void shoal_distance_matrix_bounds_reset(shoal_distance_matrix_bounds *bounds);

/* The least upper bound of all vectors; returns its height. No node strictly above is minimal. */
uint32_t shoal_distance_matrix_upper(const shoal_distance_matrix *matrix, uint32_t *levels);
