/* SPDX-License-Identifier: Apache-2.0 */
/* lattice/objective: see objective.h. */
#include "lattice/objective.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

/* ------------------------------------------------------------ costs of levels */

void shoal_level_costs_reset(shoal_level_costs *costs) {
  for (size_t q = 0; q < costs->n; q++) {
    if (costs->rows) free(costs->rows[q]);
    if (costs->il) free(costs->il[q]);
    if (costs->loss) free(costs->loss[q]);
    if (costs->entropy) free(costs->entropy[q]);
  }
  free(costs->rows);
  free(costs->il);
  free(costs->loss);
  free(costs->entropy);
  free(costs->entropy_lost);
  memset(costs, 0, sizeof *costs);
}

/* Every second tuple is counted apart: adding to a sum must wait for the sum before. */
static void count_values(const shoal_frequency *frequency, size_t q, uint32_t from, uint32_t end,
                         uint64_t *rows) {
  shoal_codes codes = frequency->codes[q];
  const uint64_t *n_rows = frequency->base.n_rows;
  uint64_t *apart = rows + frequency->quasi[q]->n_values;
  uint32_t t = from;
  for (; t + 1 < end; t += 2) {
    rows[shoal_code_at(codes, t)] += n_rows[t];
    apart[shoal_code_at(codes, t + 1)] += n_rows[t + 1];
  }
  if (t < end) rows[shoal_code_at(codes, t)] += n_rows[t];
}

/* Rows of each value, by quasi-identifier: some tuples at a time, so that they are read once. */
static bool rows_of_values(const shoal_frequency *frequency, uint64_t **rows) {
  enum { BLOCK = 4096 };
  uint32_t n = frequency->n_tuples;
  for (size_t q = 0; q < frequency->n_quasi; q++) {
    rows[q] = shoal_alloc_zero(2 * (size_t)frequency->quasi[q]->n_values, sizeof **rows);
    if (!rows[q]) return false;
  }
  for (uint32_t from = 0, end; from < n; from = end) {
    end = n - from < BLOCK ? n : from + BLOCK;
    for (size_t q = 0; q < frequency->n_quasi; q++) count_values(frequency, q, from, end, rows[q]);
  }
  for (size_t q = 0; q < frequency->n_quasi; q++) {
    uint32_t n_values = frequency->quasi[q]->n_values;
    for (uint32_t v = 0; v < n_values; v++) rows[q][v] += rows[q][n_values + v];
  }
  return true;
}

/* The share of the domain that a label stands for, 0 for a value, 1 for everything. */
static double domain_share(const shoal_hierarchy *hierarchy, const shoal_level *level,
                           uint32_t label) {
  double leaves = hierarchy->n_leaves;
  if (leaves < 2) return 0;
  return (level->n_leaves[label] / leaves - 1 / leaves) / (1 - 1 / leaves);
}

static bool cost_level(shoal_level_costs *costs, const shoal_frequency *frequency, size_t q,
                       uint32_t l, const uint64_t *rows) {
  const shoal_hierarchy *hierarchy = frequency->hierarchies[q];
  const shoal_level *level = &hierarchy->levels[l];
  double *label_rows = shoal_alloc_zero(level->n_labels, sizeof *label_rows);
  if (!label_rows) return false;
  uint32_t n_values = frequency->quasi[q]->n_values;
  for (uint32_t v = 0; v < n_values; v++) label_rows[level->of_leaf[v]] += (double)rows[v];
  double il = 0, loss = 0, entropy = 0;
  for (uint32_t v = 0; v < n_values; v++) {
    uint32_t label = level->of_leaf[v];
    double n = (double)rows[v];
    if (hierarchy->tree_height) il += n * level->node_height[label] / hierarchy->tree_height;
    loss += n * domain_share(hierarchy, level, label);
    entropy -= n * log2(n / label_rows[label]);
  }
  costs->il[q][l] = il;
  costs->loss[q][l] = loss / (double)frequency->n_records;
  costs->entropy[q][l] = entropy;
  free(label_rows);
  return true;
}

static bool cost_attribute(shoal_level_costs *costs, const shoal_frequency *frequency, size_t q) {
  uint32_t n_levels = frequency->hierarchies[q]->n_levels;
  costs->il[q] = shoal_alloc(n_levels, sizeof **costs->il);
  costs->loss[q] = shoal_alloc(n_levels, sizeof **costs->loss);
  costs->entropy[q] = shoal_alloc(n_levels, sizeof **costs->entropy);
  const uint64_t *rows = costs->rows[q];
  bool ok = costs->il[q] && costs->loss[q] && costs->entropy[q];
  for (uint32_t l = 0; ok && l < n_levels; l++) ok = cost_level(costs, frequency, q, l, rows);
  double lost = 0, n = (double)frequency->n_records;
  for (uint32_t v = 0; ok && v < frequency->quasi[q]->n_values; v++)
    lost -= (double)rows[v] * log2((double)rows[v] / n);
  costs->entropy_lost[q] = lost;
  return ok;
}

shoal_status shoal_level_costs_init(shoal_level_costs *costs, const shoal_frequency *frequency,
                                    shoal_error *error) {
  memset(costs, 0, sizeof *costs);
  costs->n = frequency->n_quasi;
  costs->rows = shoal_alloc_zero(costs->n, sizeof *costs->rows);
  costs->il = shoal_alloc_zero(costs->n, sizeof *costs->il);
  costs->loss = shoal_alloc_zero(costs->n, sizeof *costs->loss);
  costs->entropy = shoal_alloc_zero(costs->n, sizeof *costs->entropy);
  costs->entropy_lost = shoal_alloc_zero(costs->n, sizeof *costs->entropy_lost);
  bool ok = costs->rows && costs->il && costs->loss && costs->entropy && costs->entropy_lost &&
            rows_of_values(frequency, costs->rows);
  for (size_t q = 0; ok && q < costs->n; q++) ok = cost_attribute(costs, frequency, q);
  if (ok) return SHOAL_OK;
  shoal_level_costs_reset(costs);
  return shoal_fail_memory(error);
}

/* ------------------------------------------------------------ by attribute and level */

static double height_of_level(const shoal_search *search, const shoal_level_costs *costs, size_t q,
                              uint32_t l) {
  (void)search, (void)costs, (void)q;
  return l;
}

static double precision_of_level(const shoal_search *search, const shoal_level_costs *costs,
                                 size_t q, uint32_t l) {
  (void)costs;
  return (double)l / search->space.top[q];
}

static double il_of_level(const shoal_search *search, const shoal_level_costs *costs, size_t q,
                          uint32_t l) {
  (void)search;
  return costs->il[q][l];
}

static double loss_of_level(const shoal_search *search, const shoal_level_costs *costs, size_t q,
                            uint32_t l) {
  (void)search;
  return costs->loss[q][l];
}

static double entropy_of_level(const shoal_search *search, const shoal_level_costs *costs, size_t q,
                               uint32_t l) {
  (void)search;
  return costs->entropy[q][l];
}

/* ------------------------------------------------------------ what a suppressed row adds */

static double nothing_lost(const shoal_frequency *frequency, size_t q, uint32_t l, uint32_t label,
                           uint64_t label_rows) {
  (void)frequency, (void)q, (void)l, (void)label, (void)label_rows;
  return 0;
}

static double il_lost(const shoal_frequency *frequency, size_t q, uint32_t l, uint32_t label,
                      uint64_t label_rows) {
  (void)label_rows;
  const shoal_hierarchy *hierarchy = frequency->hierarchies[q];
  if (!hierarchy->tree_height) return 1;
  return 1 - (double)hierarchy->levels[l].node_height[label] / hierarchy->tree_height;
}

static double loss_lost(const shoal_frequency *frequency, size_t q, uint32_t l, uint32_t label,
                        uint64_t label_rows) {
  (void)label_rows;
  const shoal_hierarchy *hierarchy = frequency->hierarchies[q];
  double share = domain_share(hierarchy, &hierarchy->levels[l], label);
  return (1 - share) / (double)frequency->n_records;
}

static double entropy_lost(const shoal_frequency *frequency, size_t q, uint32_t l, uint32_t label,
                           uint64_t label_rows) {
  (void)q, (void)l, (void)label;
  return log2((double)frequency->n_records / (double)label_rows);
}

/* ------------------------------------------------------------ by levels */

double shoal_objective_weight(const shoal_search *search, size_t q) {
  return search->weights ? shoal_decimal_double(search->weights[q]) : 1;
}

static double sum_of_weights(const shoal_search *search) {
  double sum = 0;
  for (size_t q = 0; q < search->space.n; q++) sum += shoal_objective_weight(search, q);
  return sum;
}

/* What a mean over attributes is divided by; where no attribute counts, the mean is 0. */
static double weights_of_mean(const shoal_search *search) {
  double sum = sum_of_weights(search);
  return sum > 0 ? sum : 1;
}

static double height_by_level(const shoal_search *search, const shoal_level_costs *costs,
                              const uint32_t *levels) {
  (void)costs;
  double height = 0;
  for (size_t q = 0; q < search->space.n; q++)
    height += shoal_objective_weight(search, q) * levels[q];
  return height;
}

static double precision_by_level(const shoal_search *search, const shoal_level_costs *costs,
                                 const uint32_t *levels) {
  (void)costs;
  double steps = 0;
  for (size_t q = 0; q < search->space.n; q++)
    steps += shoal_objective_weight(search, q) * levels[q] / search->space.top[q];
  return steps / weights_of_mean(search);
}

static double il_by_level(const shoal_search *search, const shoal_level_costs *costs,
                          const uint32_t *levels) {
  double il = 0;
  for (size_t q = 0; q < search->space.n; q++)
    il += shoal_objective_weight(search, q) * costs->il[q][levels[q]];
  return il;
}

static double entropy_by_level(const shoal_search *search, const shoal_level_costs *costs,
                               const uint32_t *levels) {
  double entropy = 0;
  for (size_t q = 0; q < search->space.n; q++)
    entropy += shoal_objective_weight(search, q) * costs->entropy[q][levels[q]];
  return entropy;
}

static double loss_by_level(const shoal_search *search, const shoal_level_costs *costs,
                            const uint32_t *levels) {
  double logs = 0;
  for (size_t q = 0; q < search->space.n; q++)
    logs += shoal_objective_weight(search, q) * log1p(costs->loss[q][levels[q]]);
  return expm1(logs / weights_of_mean(search));
}

/* ------------------------------------------------------------ costs */

static double height_cost(const shoal_cost_view *view) {
  return height_by_level(view->search, view->levels_cost, view->levels);
}

static double precision_cost(const shoal_cost_view *view) {
  return precision_by_level(view->search, view->levels_cost, view->levels);
}

static uint32_t label_of(const shoal_cost_view *view, size_t q, uint32_t c) {
  const shoal_frequency *frequency = view->search->frequency;
  const shoal_level *level = &frequency->hierarchies[q]->levels[view->levels[q]];
  return level->of_leaf[shoal_code_at(frequency->codes[q], view->classes->tuple[c])];
}

static double il_cost(const shoal_cost_view *view) {
  const shoal_frequency *frequency = view->search->frequency;
  if (view->node->suppressed == 0)
    return il_by_level(view->search, view->levels_cost, view->levels);
  double cost = (double)view->node->suppressed * sum_of_weights(view->search);
  for (size_t q = 0; q < frequency->n_quasi; q++) {
    const shoal_hierarchy *hierarchy = frequency->hierarchies[q];
    const uint32_t *height = hierarchy->levels[view->levels[q]].node_height;
    double steps = 0;
    for (uint32_t c = 0; c < view->classes->n_classes; c++)
      if (!view->breaks[c])
        steps += (double)view->classes->n_rows[c] * height[label_of(view, q, c)];
    if (hierarchy->tree_height)
      cost += shoal_objective_weight(view->search, q) * steps / hierarchy->tree_height;
  }
  return cost;
}

static double loss_cost(const shoal_cost_view *view) {
  const shoal_frequency *frequency = view->search->frequency;
  if (view->node->suppressed == 0)
    return loss_by_level(view->search, view->levels_cost, view->levels);
  double logs = 0, n = (double)frequency->n_records;
  for (size_t q = 0; q < frequency->n_quasi; q++) {
    const shoal_hierarchy *hierarchy = frequency->hierarchies[q];
    const shoal_level *level = &hierarchy->levels[view->levels[q]];
    double lost = (double)view->node->suppressed;
    for (uint32_t c = 0; c < view->classes->n_classes; c++)
      if (!view->breaks[c])
        lost +=
            (double)view->classes->n_rows[c] * domain_share(hierarchy, level, label_of(view, q, c));
    logs += shoal_objective_weight(view->search, q) * log1p(lost / n);
  }
  return expm1(logs / weights_of_mean(view->search));
}

/*
 * Which rows are suppressed is known by class, what a cell loses by value: of the released rows
 * the tuples are gone over, for the others nothing is told.
 */
static double entropy_cost(const shoal_cost_view *view) {
  const shoal_frequency *frequency = view->search->frequency;
  double released = entropy_by_level(view->search, view->levels_cost, view->levels);
  if (view->node->suppressed == 0) return released;
  double cost = 0, n = (double)frequency->n_records;
  for (size_t q = 0; q < frequency->n_quasi; q++) {
    const shoal_level *level = &frequency->hierarchies[q]->levels[view->levels[q]];
    const uint64_t *rows = view->levels_cost->rows[q];
    double *label_rows = shoal_alloc_zero(level->n_labels, sizeof *label_rows);
    if (!label_rows) return INFINITY; /* no memory: not chosen */
    for (uint32_t v = 0; v < frequency->quasi[q]->n_values; v++)
      label_rows[level->of_leaf[v]] += (double)rows[v];
    for (uint32_t t = 0; t < frequency->n_tuples; t++) {
      uint32_t value = shoal_code_at(frequency->codes[q], t);
      bool lost = view->breaks[view->class_of_tuple[t]];
      double whole = lost ? n : label_rows[level->of_leaf[value]];
      cost -= shoal_objective_weight(view->search, q) * (double)frequency->base.n_rows[t] *
              log2((double)rows[value] / whole);
    }
    free(label_rows);
  }
  return cost;
}

static double dm_cost(const shoal_cost_view *view) {
  double cost = (double)view->node->suppressed * (double)view->search->frequency->n_records;
  for (uint32_t c = 0; c < view->classes->n_classes; c++)
    if (!view->breaks[c])
      cost += (double)view->classes->n_rows[c] * (double)view->classes->n_rows[c];
  return cost;
}

/* Classes only grow going up, and a suppressed row costs more than any class could. */
static double dm_by_classes(const shoal_cost_view *view) {
  double cost = 0;
  for (uint32_t c = 0; c < view->classes->n_classes; c++)
    cost += (double)view->classes->n_rows[c] * (double)view->classes->n_rows[c];
  return cost;
}

static double avg_cost(const shoal_cost_view *view) {
  double released = (double)(view->search->frequency->n_records - view->node->suppressed);
  return released / ((double)view->node->n_classes * (double)view->search->demands->k);
}

/* No node above has more classes, nor releases less than the limit allows. */
static double avg_by_classes(const shoal_cost_view *view) {
  uint64_t n = view->search->frequency->n_records, limit = view->search->max_suppressed;
  double least = limit < n ? (double)(n - limit) : 0;
  return least / ((double)view->classes->n_classes * (double)view->search->demands->k);
}

static double classes_cost(const shoal_cost_view *view) { return -(double)view->node->n_classes; }

static double classes_by_classes(const shoal_cost_view *view) {
  return -(double)view->classes->n_classes;
}

const shoal_objective shoal_objective_types[] = {
    {.name = "height",
     .summary = "fewest generalization steps",
     .cost = height_cost,
     .level_cost = height_of_level,
     .row_lost = nothing_lost},
    {.name = "precision",
     .summary = "least mean of level / height (Sweeney)",
     .cost = precision_cost,
     .level_cost = precision_of_level,
     .row_lost = nothing_lost,
     .is_mean = true},
    {.name = "il",
     .summary = "least information loss (Truta, Campan & Meyer 2007)",
     .cost = il_cost,
     .level_cost = il_of_level,
     .row_lost = il_lost},
    {.name = "loss",
     .summary = "least share of the domains that labels stand for (ARX's loss)",
     .cost = loss_cost,
     .level_cost = loss_of_level,
     .row_lost = loss_lost,
     .is_mean = true,
     .multiplies = true},
    {.name = "entropy",
     .summary = "least non-uniform entropy loss",
     .cost = entropy_cost,
     .level_cost = entropy_of_level,
     .row_lost = entropy_lost,
     .needs_tuples = true},
    {.name = "dm", .summary = "least discernibility", .cost = dm_cost, .by_classes = dm_by_classes},
    {.name = "avg",
     .summary = "smallest average class",
     .cost = avg_cost,
     .by_classes = avg_by_classes},
    {.name = "classes",
     .summary = "most classes released",
     .cost = classes_cost,
     .by_classes = classes_by_classes},
    {.name = NULL},
};
