/* SPDX-License-Identifier: Apache-2.0 */
/*
 * measure/associations: Cramer's V (Cramer 1946, chapter 21) of a quasi-identifier and a sensitive
 * attribute, before and after, from counted pairs of values:
 *
 *     chi2 / n = sum of o_ij^2 / (r_i c_j) - 1,   V = sqrt(chi2 / n / (min(rows, columns) - 1))
 */
#include <math.h>
#include <stdlib.h>

#include "base/hash.h"
#include "measure/marginals.h"

/* Counted pairs: of which values, and how many rows. */
typedef struct pairs {
  shoal_ids ids; /* value of the one x 2^32 + value of the other */
  uint64_t *rows;
  size_t capacity;
} pairs;

static bool count_pairs(pairs *p, const shoal_frequency *f, size_t q, size_t s) {
  const shoal_histogram *histogram = &f->base.histograms[s];
  for (uint32_t c = 0; c < f->n_tuples; c++)
    for (size_t e = histogram->start[c]; e < histogram->start[c + 1]; e++) {
      uint32_t known = p->ids.n_ids;
      uint32_t id = shoal_ids_insert(&p->ids, (uint64_t)shoal_code_at(f->codes[q], c) << 32 |
                                                  histogram->value[e]);
      if (id == SHOAL_NO_ID || !shoal_grow(&p->rows, &p->capacity, (size_t)id + 1, sizeof *p->rows))
        return false;
      if (id == known) p->rows[id] = 0;
      p->rows[id] += histogram->n_rows[e];
    }
  return true;
}

/* Rows of each value, from the pairs; `shift` chooses the side. Returns how many have any. */
static uint32_t side_rows(const pairs *p, unsigned shift, uint64_t *rows) {
  uint32_t n = 0;
  for (uint32_t id = 0; id < p->ids.n_ids; id++) {
    uint64_t *of = &rows[(uint32_t)(p->ids.of_id[id] >> shift)];
    n += *of == 0;
    *of += p->rows[id];
  }
  return n;
}

static double v_of(const pairs *p, uint64_t *left, uint64_t *right) {
  uint32_t n_left = side_rows(p, 32, left), n_right = side_rows(p, 0, right);
  uint32_t least = n_left < n_right ? n_left : n_right;
  if (least < 2) return NAN;
  double sum = 0;
  for (uint32_t id = 0; id < p->ids.n_ids; id++) {
    double rows = (double)p->rows[id];
    sum += rows / (double)left[(uint32_t)(p->ids.of_id[id] >> 32)] * rows /
           (double)right[(uint32_t)p->ids.of_id[id]];
  }
  double v = sum > 1 ? sqrt((sum - 1) / (least - 1)) : 0;
  return v > 1 ? 1 : v;
}

/* False without memory. */
static bool cramers_v(const shoal_frequency *f, size_t q, size_t s, double *v) {
  pairs p = {.rows = NULL};
  uint64_t *left = shoal_alloc_zero(f->quasi[q]->n_values, sizeof *left);
  uint64_t *right = shoal_alloc_zero(f->sensitive[s]->n_values, sizeof *right);
  bool ok = left && right && shoal_ids_init(&p.ids, 1024);
  if (ok) {
    ok = count_pairs(&p, f, q, s);
    if (ok) *v = v_of(&p, left, right);
    shoal_ids_reset(&p.ids);
  }
  free(p.rows);
  free(left);
  free(right);
  return ok;
}

bool shoal_associations_measure(const shoal_pair *pair, shoal_arena *arena,
                                shoal_measures *measures) {
  size_t n = pair->n_quasi * pair->n_sensitive;
  measures->associations = shoal_arena_alloc(arena, n, sizeof *measures->associations);
  if (!measures->associations) return false;
  for (size_t q = 0; q < pair->n_quasi; q++)
    for (size_t s = 0; s < pair->n_sensitive; s++) {
      shoal_association *out = &measures->associations[measures->n_associations];
      *out = (shoal_association){measures->attributes[q].name,
                                 measures->attributes[pair->n_quasi + s].name, 0, 0};
      if (!cramers_v(pair->original, q, s, &out->before) ||
          !cramers_v(pair->released, q, s, &out->after))
        return false;
      measures->n_associations++;
    }
  return true;
}
