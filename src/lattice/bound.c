/* SPDX-License-Identifier: Apache-2.0 */
/* lattice/bound: see bound.h. */
#include "lattice/bound.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void shoal_bound_reset(shoal_bound *bound) {
  for (size_t q = 0; bound->levels && q < bound->n; q++) {
    for (uint32_t l = 0; bound->levels[q] && l <= bound->search->space.top[q]; l++) {
      free(bound->levels[q][l].rows);
      free(bound->levels[q][l].more);
    }
    free(bound->levels[q]);
  }
  free(bound->levels);
  free(bound->weight);
  memset(bound, 0, sizeof *bound);
}

/* Rows of a label, and what each of them loses more by being suppressed. */
typedef struct label_step {
  double more;
  uint64_t rows;
} label_step;

static int by_more(const void *a, const void *b) {
  const label_step *x = a, *y = b;
  return (x->more > y->more) - (x->more < y->more);
}

static bool fill_steps(shoal_level_bound *out, label_step *steps, uint32_t n) {
  if (n > 1) qsort(steps, n, sizeof *steps, by_more);
  out->n_steps = n;
  out->rows = shoal_alloc((size_t)n + 1, sizeof *out->rows);
  out->more = shoal_alloc((size_t)n + 1, sizeof *out->more);
  if (!out->rows || !out->more) return false;
  out->rows[0] = 0;
  out->more[0] = 0;
  for (uint32_t i = 0; i < n; i++) {
    out->rows[i + 1] = out->rows[i] + steps[i].rows;
    out->more[i + 1] = out->more[i] + (double)steps[i].rows * steps[i].more;
  }
  return true;
}

static double joined(const shoal_bound *bound, size_t q, double cost) {
  return bound->weight[q] * (bound->objective->multiplies ? log1p(cost) : cost);
}

static bool fill_level(shoal_bound *bound, const shoal_level_costs *costs, size_t q, uint32_t l,
                       const uint64_t *rows) {
  const shoal_frequency *frequency = bound->search->frequency;
  const shoal_level *level = &frequency->hierarchies[q]->levels[l];
  shoal_level_bound *out = &bound->levels[q][l];
  out->cost = bound->objective->level_cost(bound->search, costs, q, l);
  out->joined = joined(bound, q, out->cost);
  uint64_t *label_rows = shoal_alloc_zero(level->n_labels, sizeof *label_rows);
  label_step *steps = shoal_alloc(level->n_labels, sizeof *steps);
  bool ok = label_rows && steps;
  uint32_t n = 0;
  for (uint32_t v = 0; ok && v < frequency->quasi[q]->n_values; v++)
    label_rows[level->of_leaf[v]] += rows[v];
  for (uint32_t label = 0; ok && label < level->n_labels; label++) {
    if (!label_rows[label]) continue;
    double more = bound->objective->row_lost(frequency, q, l, label, label_rows[label]);
    steps[n++] = (label_step){more > 0 ? more : 0, label_rows[label]};
  }
  ok = ok && fill_steps(out, steps, n);
  free(label_rows);
  free(steps);
  return ok;
}

/* Hidden by a step: bits a row, of the attribute by itself. */
static void fill_ratios(shoal_bound *bound, const shoal_level_costs *costs, size_t q) {
  double n = (double)bound->search->frequency->n_records;
  for (uint32_t l = 0; l < bound->search->space.top[q]; l++) {
    double hidden = (costs->entropy[q][l + 1] - costs->entropy[q][l]) / n;
    double cost = bound->levels[q][l + 1].joined - bound->levels[q][l].joined;
    bound->levels[q][l].ratio = (cost + 1e-12) / (hidden + 1e-9);
  }
}

static bool fill_attribute(shoal_bound *bound, const shoal_level_costs *costs, size_t q) {
  uint32_t n_levels = bound->search->space.top[q] + 1;
  bound->levels[q] = shoal_alloc_zero(n_levels, sizeof **bound->levels);
  bool ok = bound->levels[q] != NULL;
  for (uint32_t l = 0; ok && l < n_levels; l++) ok = fill_level(bound, costs, q, l, costs->rows[q]);
  if (ok) fill_ratios(bound, costs, q);
  return ok;
}

shoal_status shoal_bound_init(shoal_bound *bound, const shoal_search *search,
                              const shoal_objective *objective, const shoal_level_costs *costs,
                              shoal_error *error) {
  *bound = (shoal_bound){.search = search, .objective = objective, .n = search->space.n};
  bound->weight = shoal_alloc(bound->n, sizeof *bound->weight);
  bound->levels = shoal_alloc_zero(bound->n, sizeof *bound->levels);
  bool ok = bound->weight && bound->levels;
  double sum = 0;
  for (size_t q = 0; q < bound->n; q++) sum += shoal_objective_weight(search, q);
  for (size_t q = 0; ok && q < bound->n; q++)
    bound->weight[q] = shoal_objective_weight(search, q) / (objective->is_mean ? sum : 1);
  for (size_t q = 0; ok && q < bound->n; q++) ok = fill_attribute(bound, costs, q);
  if (ok) return SHOAL_OK;
  shoal_bound_reset(bound);
  return shoal_fail_memory(error);
}

/* What so many rows lose more at the least: whole labels, and a part of one. */
static double least_more(const shoal_level_bound *level, uint64_t suppressed) {
  uint32_t low = 0, high = level->n_steps;
  while (low < high) { /* labels that are suppressed wholly */
    uint32_t middle = low + (high - low + 1) / 2;
    if (level->rows[middle] <= suppressed) low = middle;
    else high = middle - 1;
  }
  if (low == level->n_steps) return level->more[low];
  double part =
      (double)(suppressed - level->rows[low]) / (double)(level->rows[low + 1] - level->rows[low]);
  return level->more[low] + part * (level->more[low + 1] - level->more[low]);
}

double shoal_bound_at(const shoal_bound *bound, const uint32_t *levels, uint64_t suppressed) {
  double sum = 0;
  for (size_t q = 0; q < bound->n; q++) {
    const shoal_level_bound *level = &bound->levels[q][levels[q]];
    sum +=
        suppressed ? joined(bound, q, level->cost + least_more(level, suppressed)) : level->joined;
  }
  return bound->objective->multiplies ? expm1(sum) : sum;
}

size_t shoal_bound_path(const shoal_bound *bound, uint64_t node, uint32_t *levels, uint64_t *path) {
  const shoal_space *space = &bound->search->space;
  size_t length = 0;
  for (;;) {
    path[length++] = node;
    size_t best = space->n;
    for (size_t q = 0; q < space->n; q++)
      if (levels[q] < space->top[q] &&
          (best == space->n ||
           bound->levels[q][levels[q]].ratio < bound->levels[best][levels[best]].ratio))
        best = q;
    if (best == space->n) return length;
    levels[best]++;
    node += space->stride[best];
  }
}
