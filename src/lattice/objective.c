/* SPDX-License-Identifier: Apache-2.0 */
/* lattice/objective: costs of levels, and the table of objectives. */
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
  memset(costs, 0, sizeof *costs);
}

/* Two counters per value, used in turn: consecutive additions to one would wait for each other. */
static void count_values(const shoal_frequency_set *frequency, size_t q, uint32_t from,
                         uint32_t end, uint64_t *rows) {
  shoal_codes codes = frequency->codes[q];
  const uint64_t *n_rows = frequency->base.n_rows;
  uint64_t *second = rows + frequency->quasi[q]->n_values;
  uint32_t t = from;
  for (; t + 1 < end; t += 2) {
    rows[shoal_code_at(codes, t)] += n_rows[t];
    second[shoal_code_at(codes, t + 1)] += n_rows[t + 1];
  }
  if (t < end) rows[shoal_code_at(codes, t)] += n_rows[t];
}

/* Rows of each value, by quasi-identifier, in blocks of tuples that stay in the cache. */
static bool rows_of_values(const shoal_frequency_set *frequency, uint64_t **rows) {
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

/* The share of the domain that a label covers: 0 for one value, 1 for all. */
static double domain_share(const shoal_hierarchy *hierarchy, const shoal_level *level,
                           uint32_t label) {
  double leaves = hierarchy->n_leaves;
  if (leaves < 2) return 0;
  return (level->n_leaves[label] / leaves - 1 / leaves) / (1 - 1 / leaves);
}

static bool cost_level(shoal_level_costs *costs, const shoal_frequency_set *frequency, size_t q,
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

static bool cost_attribute(shoal_level_costs *costs, const shoal_frequency_set *frequency,
                           size_t q) {
  uint32_t n_levels = frequency->hierarchies[q]->n_levels;
  costs->il[q] = shoal_alloc(n_levels, sizeof **costs->il);
  costs->loss[q] = shoal_alloc(n_levels, sizeof **costs->loss);
  costs->entropy[q] = shoal_alloc(n_levels, sizeof **costs->entropy);
  bool ok = costs->il[q] && costs->loss[q] && costs->entropy[q];
  for (uint32_t l = 0; ok && l < n_levels; l++)
    ok = cost_level(costs, frequency, q, l, costs->rows[q]);
  return ok;
}

shoal_status shoal_level_costs_init(shoal_level_costs *costs, const shoal_frequency_set *frequency,
                                    shoal_error *error) {
  memset(costs, 0, sizeof *costs);
  costs->n = frequency->n_quasi;
  costs->rows = shoal_alloc_zero(costs->n, sizeof *costs->rows);
  costs->il = shoal_alloc_zero(costs->n, sizeof *costs->il);
  costs->loss = shoal_alloc_zero(costs->n, sizeof *costs->loss);
  costs->entropy = shoal_alloc_zero(costs->n, sizeof *costs->entropy);
  bool ok = costs->rows && costs->il && costs->loss && costs->entropy &&
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
  return (double)l / search->space.full[q];
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

/* ------------------------------------------------------------ cost of suppressing a row */

static double nothing_lost(const shoal_frequency_set *frequency, size_t q, uint32_t l,
                           uint32_t label, uint64_t label_rows) {
  (void)frequency, (void)q, (void)l, (void)label, (void)label_rows;
  return 0;
}

static double il_lost(const shoal_frequency_set *frequency, size_t q, uint32_t l, uint32_t label,
                      uint64_t label_rows) {
  (void)label_rows;
  const shoal_hierarchy *hierarchy = frequency->hierarchies[q];
  if (!hierarchy->tree_height) return 1;
  return 1 - (double)hierarchy->levels[l].node_height[label] / hierarchy->tree_height;
}

static double loss_lost(const shoal_frequency_set *frequency, size_t q, uint32_t l, uint32_t label,
                        uint64_t label_rows) {
  (void)label_rows;
  const shoal_hierarchy *hierarchy = frequency->hierarchies[q];
  double share = domain_share(hierarchy, &hierarchy->levels[l], label);
  return (1 - share) / (double)frequency->n_records;
}

static double entropy_lost(const shoal_frequency_set *frequency, size_t q, uint32_t l,
                           uint32_t label, uint64_t label_rows) {
  (void)q, (void)l, (void)label;
  return log2((double)frequency->n_records / (double)label_rows);
}

/* ------------------------------------------------------------ weights */

double shoal_objective_weight(const shoal_search *search, size_t q) {
  return search->weights ? shoal_decimal_double(search->weights[q]) : 1;
}

static double sum_of_weights(const shoal_search *search) {
  double sum = 0;
  for (size_t q = 0; q < search->space.n; q++) sum += shoal_objective_weight(search, q);
  return sum;
}

/* The divisor of a mean over attributes; if all weights are 0, so is the mean. */
static double mean_divisor(const shoal_search *search) {
  double sum = sum_of_weights(search);
  return sum > 0 ? sum : 1;
}

/* ------------------------------------------------------------ costs of nodes */

/* The cost of the levels, nothing suppressed. */
static double weighted_sum(const shoal_cost_view *view,
                           double (*level_cost)(const shoal_search *, const shoal_level_costs *,
                                                size_t, uint32_t)) {
  double sum = 0;
  for (size_t q = 0; q < view->search->space.n; q++)
    sum += shoal_objective_weight(view->search, q) *
           level_cost(view->search, view->levels_cost, q, view->levels[q]);
  return sum;
}

static double height_cost(const shoal_cost_view *view) {
  return weighted_sum(view, height_of_level);
}

static double precision_cost(const shoal_cost_view *view) {
  const shoal_search *search = view->search;
  double steps = 0;
  for (size_t q = 0; q < search->space.n; q++)
    steps += shoal_objective_weight(search, q) * view->levels[q] / search->space.full[q];
  return steps / mean_divisor(search);
}

static uint32_t label_of(const shoal_cost_view *view, size_t q, uint32_t c) {
  const shoal_frequency_set *frequency = view->search->frequency;
  const shoal_level *level = &frequency->hierarchies[q]->levels[view->levels[q]];
  return level->of_leaf[shoal_code_at(frequency->codes[q], view->classes->tuple[c])];
}

static double il_cost(const shoal_cost_view *view) {
  const shoal_frequency_set *frequency = view->search->frequency;
  if (view->node->suppressed == 0) return weighted_sum(view, il_of_level);
  double cost = (double)view->node->suppressed * sum_of_weights(view->search);
  for (size_t q = 0; q < frequency->n_quasi; q++) {
    const shoal_hierarchy *hierarchy = frequency->hierarchies[q];
    const uint32_t *height = hierarchy->levels[view->levels[q]].node_height;
    double steps = 0;
    for (uint32_t c = 0; c < view->classes->n_classes; c++)
      if (!view->violates[c])
        steps += (double)view->classes->n_rows[c] * height[label_of(view, q, c)];
    if (hierarchy->tree_height)
      cost += shoal_objective_weight(view->search, q) * steps / hierarchy->tree_height;
  }
  return cost;
}

/* Mean over the rows of the share of the domain that a label of the attribute covers. */
static double attribute_loss(const shoal_cost_view *view, size_t q) {
  const shoal_frequency_set *frequency = view->search->frequency;
  const shoal_hierarchy *hierarchy = frequency->hierarchies[q];
  const shoal_level *level = &hierarchy->levels[view->levels[q]];
  if (view->node->suppressed == 0) return view->levels_cost->loss[q][view->levels[q]];
  double lost = (double)view->node->suppressed;
  for (uint32_t c = 0; c < view->classes->n_classes; c++)
    if (!view->violates[c])
      lost +=
          (double)view->classes->n_rows[c] * domain_share(hierarchy, level, label_of(view, q, c));
  return lost / (double)frequency->n_records;
}

static double loss_cost(const shoal_cost_view *view) {
  double logs = 0;
  for (size_t q = 0; q < view->search->space.n; q++)
    logs += shoal_objective_weight(view->search, q) * log1p(attribute_loss(view, q));
  return expm1(logs / mean_divisor(view->search));
}

static double granularity_cost(const shoal_cost_view *view) {
  double sum = 0;
  for (size_t q = 0; q < view->search->space.n; q++)
    sum += shoal_objective_weight(view->search, q) * attribute_loss(view, q);
  return sum / mean_divisor(view->search);
}

/*
 * Suppression is known by class, loss of a cell by value: only tuples have both. A suppressed row
 * loses all information.
 */
static double entropy_cost(const shoal_cost_view *view) {
  const shoal_frequency_set *frequency = view->search->frequency;
  if (view->node->suppressed == 0) return weighted_sum(view, entropy_of_level);
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
      bool lost = view->violates[view->class_of_tuple[t]];
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
    if (!view->violates[c])
      cost += (double)view->classes->n_rows[c] * (double)view->classes->n_rows[c];
  return cost;
}

/* Classes only grow going up, and no class costs more per row than a suppressed row. */
static double dm_by_classes(const shoal_cost_view *view) {
  double cost = 0;
  for (uint32_t c = 0; c < view->classes->n_classes; c++)
    cost += (double)view->classes->n_rows[c] * (double)view->classes->n_rows[c];
  return cost;
}

static double avg_cost(const shoal_cost_view *view) {
  double released = (double)(view->search->frequency->n_records - view->node->suppressed);
  return released / ((double)view->node->n_classes * (double)view->search->requirements->k);
}

/* No node above has more classes, or releases fewer rows than the limit allows. */
static double avg_by_classes(const shoal_cost_view *view) {
  uint64_t n = view->search->frequency->n_records, limit = view->search->max_suppressed;
  double min_released = limit < n ? (double)(n - limit) : 0;
  return min_released / ((double)view->classes->n_classes * (double)view->search->requirements->k);
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
    {.name = "granularity",
     .summary = "like loss, but the mean over columns is arithmetic",
     .cost = granularity_cost,
     .level_cost = loss_of_level,
     .row_lost = loss_lost,
     .is_mean = true},
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
