/* SPDX-License-Identifier: Apache-2.0 */
/*
 * explain/costs: examines the neighbourhood of the explained node. Cost of each quasi-identifier:
 * the rows to suppress if it were one level lower, and what the others would need if it were
 * suppressed. Outliers: classes that violate a requirement, shown by labels of level 1 and above
 * only.
 */
#include <stdlib.h>
#include <string.h>

#include "explain/explain.h"
#include "measure/release_loss.h"

enum { MAX_OUTLIERS = 10 };

/* ------------------------------------------------------------ quasi-identifiers */

static shoal_status measure_loss(shoal_explain_state *state, const uint32_t *levels,
                                 shoal_error *error) {
  const shoal_context *p = state->context;
  shoal_explanation *e = state->explanation;
  shoal_classes classes;
  uint8_t *violates;
  uint32_t *class_of_tuple;
  SHOAL_TRY(shoal_search_classes(&state->search, state->base.number, &classes, &violates,
                                 &class_of_tuple, error));
  double *loss = shoal_alloc(p->n_quasi, sizeof *loss);
  if (loss) {
    shoal_released released = {.classes = &classes, .violates = violates};
    for (size_t q = 0; q < p->n_quasi; q++)
      loss[q] = shoal_level_loss(p->frequency, q, levels[q], &released);
    e->loss = shoal_release_loss_measure(&released, p->table->n_records, p->requirements.k,
                                         p->n_quasi, loss)
                  .nil;
    for (size_t q = 0; q < p->n_quasi; q++) e->costs[q].loss = loss[q];
  }
  shoal_status status = loss ? SHOAL_OK : shoal_fail_memory(error);
  free(loss);
  free(violates);
  free(class_of_tuple);
  shoal_classes_reset(&classes);
  return status;
}

static void note_without(shoal_quasi_cost *cost, uint32_t height, uint64_t suppressed) {
  if (cost->met_without &&
      (height > cost->height_without ||
       (height == cost->height_without && suppressed >= cost->suppressed_without)))
    return;
  cost->met_without = true;
  cost->height_without = height;
  cost->suppressed_without = suppressed;
}

/* The same if the lattice is too large to evaluate every node: groups the table without it. */
static shoal_status try_without(shoal_explain_state *state, size_t q, shoal_error *error) {
  const shoal_context *p = state->context;
  size_t n = p->n_quasi - 1;
  shoal_context other = *p;
  other.n_quasi = n;
  other.frequency = NULL;
  other.quasi = shoal_alloc(n, sizeof *other.quasi);
  other.hierarchies = shoal_alloc(n, sizeof *other.hierarchies);
  shoal_status status = other.quasi && other.hierarchies ? SHOAL_OK : shoal_fail_memory(error);
  for (size_t i = 0; status == SHOAL_OK && i < n; i++) {
    other.quasi[i] = p->quasi[i < q ? i : i + 1];
    other.hierarchies[i] = p->hierarchies[i < q ? i : i + 1];
  }
  if (status == SHOAL_OK)
    status = shoal_frequency_set_build(p->table, other.quasi,
                                       (const shoal_hierarchy *const *)other.hierarchies, n,
                                       p->tracked.columns, p->tracked.track, p->tracked.n_columns,
                                       p->run, &other.frequency, error);
  shoal_node node;
  bool found = false;
  if (status == SHOAL_OK) status = shoal_explain_state_try(state, &other, &node, &found, error);
  if (status == SHOAL_OK) {
    state->explanation->costs[q].tried = true;
    if (found) note_without(&state->explanation->costs[q], node.height, node.suppressed);
  }
  shoal_frequency_set_free(other.frequency);
  free(other.quasi);
  free(other.hierarchies);
  return status;
}

static shoal_status explain_without(shoal_explain_state *state, uint32_t *levels,
                                    shoal_error *error) {
  size_t n = state->search.space.n;
  if (state->nodes.n_items) {
    /*
     * At the top level an attribute is suppressed: the nodes with it at the top show what the
     * others need.
     */
    const shoal_space *space = &state->search.space;
    shoal_quasi_cost *costs = state->explanation->costs;
    for (size_t q = 0; q < space->n; q++) costs[q].tried = true;
    for (size_t i = 0; i < state->nodes.n_items; i++) {
      const shoal_node *node = &state->nodes.items[i];
      if (!node->n_classes || node->suppressed > state->limit) continue;
      shoal_space_levels(space, node->number, levels);
      for (size_t q = 0; q < space->n; q++)
        if (levels[q] == space->full[q])
          note_without(&costs[q], node->height - space->top[q], node->suppressed);
    }
    return SHOAL_OK;
  }
  if (state->context->requirements.n_sets > 1) return SHOAL_OK; /* they may name it */
  for (size_t q = 0; n > 1 && shoal_explain_state_affords_trials(state) && q < n; q++)
    SHOAL_TRY(try_without(state, q, error));
  return SHOAL_OK;
}

/* The number of labels of a level that the data has. */
static shoal_status labels_in_use(const shoal_hierarchy *hierarchy, uint32_t level, uint32_t *n,
                                  shoal_error *error) {
  const shoal_level *labels = &hierarchy->levels[level];
  uint8_t *seen = shoal_alloc_zero(labels->n_labels, 1);
  if (!seen) return shoal_fail_memory(error);
  *n = 0;
  for (uint32_t v = 0; v < hierarchy->n_values; v++) {
    *n += !seen[labels->of_leaf[v]];
    seen[labels->of_leaf[v]] = 1;
  }
  free(seen);
  return SHOAL_OK;
}

static shoal_status start_cost(shoal_explain_state *state, size_t q, uint32_t level,
                               shoal_error *error) {
  const shoal_hierarchy *hierarchy = state->context->hierarchies[q];
  shoal_quasi_cost *cost = &state->explanation->costs[q];
  *cost = (shoal_quasi_cost){.name = state->result->quasi[q],
                             .level = level,
                             .height = shoal_hierarchy_height(hierarchy),
                             .height_now = state->base.height - level};
  SHOAL_TRY(labels_in_use(hierarchy, level, &cost->labels, error));
  if (level == 0) return SHOAL_OK;
  SHOAL_TRY(labels_in_use(hierarchy, level - 1, &cost->labels_below, error));
  shoal_node below;
  SHOAL_TRY(shoal_explain_state_node(state, state->base.number - state->search.space.stride[q],
                                     &below, error));
  cost->suppressed_below = below.suppressed;
  return SHOAL_OK;
}

shoal_status shoal_explain_costs(shoal_explain_state *state, shoal_error *error) {
  shoal_explanation *e = state->explanation;
  size_t n = state->search.space.n;
  e->costs = shoal_arena_alloc(&state->result->arena, n, sizeof *e->costs);
  uint32_t *levels = shoal_alloc(n, sizeof *levels);
  shoal_status status = e->costs && levels ? SHOAL_OK : shoal_fail_memory(error);
  for (size_t q = 0; status == SHOAL_OK && q < n; q++)
    status = start_cost(state, q, e->node.levels[q], error);
  if (status == SHOAL_OK) status = measure_loss(state, e->node.levels, error);
  if (status == SHOAL_OK) status = explain_without(state, levels, error);
  free(levels);
  return status;
}

/* ------------------------------------------------------------ outliers */

/* The node with fewer rows to suppress; ties: the first. */
static void keep_better(shoal_node *best, bool *found, const shoal_node *node) {
  if (*found && node->suppressed >= best->suppressed) return;
  *best = *node;
  *found = true;
}

/* One step lower: the node of that height with the fewest rows to suppress, or a neighbour. */
static shoal_status node_below(shoal_explain_state *state, shoal_node *below, bool *found,
                               shoal_error *error) {
  *found = false;
  for (size_t i = 0; i < state->nodes.n_items; i++)
    if (state->nodes.items[i].height + 1 == state->explanation->min_height)
      keep_better(below, found, &state->nodes.items[i]);
  if (state->nodes.n_items) return SHOAL_OK;
  for (size_t q = 0; q < state->search.space.n; q++) {
    shoal_node node;
    if (state->explanation->node.levels[q] == state->search.space.bottom[q]) continue;
    SHOAL_TRY(shoal_explain_state_node(state, state->base.number - state->search.space.stride[q],
                                       &node, error));
    keep_better(below, found, &node);
  }
  return SHOAL_OK;
}

static shoal_status choose_outliers(shoal_explain_state *state, shoal_node *node,
                                    shoal_error *error) {
  shoal_explanation *e = state->explanation;
  *node = state->base;
  e->outliers_at = state->met ? SHOAL_OUTLIERS_CHOSEN : SHOAL_OUTLIERS_BEST;
  if (state->base.suppressed) return SHOAL_OK;
  bool found;
  SHOAL_TRY(node_below(state, node, &found, error));
  e->outliers_at = found ? SHOAL_OUTLIERS_BELOW : SHOAL_OUTLIERS_NONE;
  return SHOAL_OK;
}

/* Groups of violating classes that are equal when values of level 0 are not shown. */
typedef struct outlier_groups {
  const shoal_classes *classes;
  const uint8_t *violates;
  const uint32_t *levels;
  uint32_t *group_of;   /* by class */
  shoal_classes groups; /* of all classes; each has a tuple as representative */
  uint64_t *n_rows;     /* by group: of violating classes only */
  uint64_t *n_classes;
  size_t listed[MAX_OUTLIERS]; /* groups, most rows first */
  size_t n_listed;
} outlier_groups;

static void reset_groups(outlier_groups *g) {
  free(g->group_of);
  free(g->n_rows);
  free(g->n_classes);
  shoal_classes_reset(&g->groups);
}

static shoal_status group_outliers(shoal_explain_state *state, outlier_groups *g,
                                   shoal_error *error) {
  const shoal_space *space = &state->search.space;
  uint32_t *shown = shoal_alloc(space->n, sizeof *shown);
  g->group_of = shoal_alloc(g->classes->n_classes, sizeof *g->group_of);
  shoal_status status = shown && g->group_of ? SHOAL_OK : shoal_fail_memory(error);
  for (size_t q = 0; status == SHOAL_OK && q < space->n; q++)
    shown[q] = g->levels[q] ? g->levels[q] : space->top[q];
  if (status == SHOAL_OK)
    status = shoal_classes_roll_up(state->search.frequency, g->classes, shown,
                                   &state->search.grouper, &g->groups, g->group_of, error);
  free(shown);
  SHOAL_TRY(status);
  g->n_rows = shoal_alloc_zero(g->groups.n_classes, sizeof *g->n_rows);
  g->n_classes = shoal_alloc_zero(g->groups.n_classes, sizeof *g->n_classes);
  if (!g->n_rows || !g->n_classes) return shoal_fail_memory(error);
  for (uint32_t c = 0; c < g->classes->n_classes; c++) {
    if (!g->violates[c]) continue;
    g->n_rows[g->group_of[c]] += g->classes->n_rows[c];
    g->n_classes[g->group_of[c]]++;
  }
  return SHOAL_OK;
}

/* A label that equals the value (padding, or level 0) is not shown. */
static shoal_status show_labels(shoal_explain_state *state, const uint32_t *levels, uint32_t tuple,
                                shoal_outlier *outlier, shoal_error *error) {
  const shoal_context *p = state->context;
  outlier->labels = shoal_arena_alloc(&state->result->arena, p->n_quasi, sizeof *outlier->labels);
  if (!outlier->labels) return shoal_fail_memory(error);
  for (size_t q = 0; q < p->n_quasi; q++) {
    const shoal_level *level = &p->hierarchies[q]->levels[levels[q]];
    uint32_t label = level->of_leaf[shoal_code_at(p->frequency->codes[q], tuple)];
    size_t size;
    const char *text = shoal_level_label(level, label, &size);
    outlier->labels[q] = NULL;
    if (!levels[q] || !level->node_height[label]) continue;
    outlier->labels[q] = shoal_result_string(state->result, text, size);
    if (!outlier->labels[q]) return shoal_fail_memory(error);
  }
  return SHOAL_OK;
}

/* The requirements that classes of a group violate. */
static shoal_status show_requirements(shoal_explain_state *state, const outlier_groups *g,
                                      size_t group, shoal_outlier *outlier, shoal_error *error) {
  const shoal_context *p = state->context;
  size_t *requirements =
      shoal_arena_alloc(&state->result->arena, p->requirements.n_items, sizeof *requirements);
  if (!requirements) return shoal_fail_memory(error);
  uint8_t *broken = shoal_alloc(g->classes->n_classes, 1);
  shoal_status status = broken ? SHOAL_OK : shoal_fail_memory(error);
  const shoal_labelling labelling = {.levels = g->levels};
  for (size_t i = 0; status == SHOAL_OK && i < p->requirements.n_items; i++) {
    bool holds = true;
    status = shoal_requirement_violating(&p->requirements, &p->requirements.items[i], p->frequency,
                                         g->classes, &labelling, NULL, broken, error);
    for (uint32_t c = 0; status == SHOAL_OK && holds && c < g->classes->n_classes; c++)
      if (g->violates[c] && g->group_of[c] == group) holds = !broken[c];
    if (!holds) requirements[outlier->n_requirements++] = i;
  }
  free(broken);
  outlier->requirements = requirements;
  return status;
}

static shoal_status fill_outliers(shoal_explain_state *state, outlier_groups *g,
                                  shoal_error *error) {
  shoal_explanation *e = state->explanation;
  SHOAL_TRY(group_outliers(state, g, error));
  /* Lists the groups with the most rows; returns the number of groups with violating classes. */
  size_t n = 0;
  for (uint32_t group = 0; group < g->groups.n_classes; group++) {
    if (!g->n_classes[group]) continue;
    n++;
    size_t at = g->n_listed;
    while (at > 0 && g->n_rows[group] > g->n_rows[g->listed[at - 1]]) at--;
    if (at == MAX_OUTLIERS) continue;
    size_t last = g->n_listed < MAX_OUTLIERS ? g->n_listed++ : MAX_OUTLIERS - 1;
    memmove(g->listed + at + 1, g->listed + at, (last - at) * sizeof *g->listed);
    g->listed[at] = group;
  }
  e->outliers = shoal_arena_alloc(&state->result->arena, g->n_listed, sizeof *e->outliers);
  if (!e->outliers) return shoal_fail_memory(error);
  for (size_t i = 0; i < g->n_listed; i++) {
    size_t group = g->listed[i];
    e->outliers[i] = (shoal_outlier){.n_rows = g->n_rows[group], .n_classes = g->n_classes[group]};
    SHOAL_TRY(show_labels(state, g->levels, g->groups.tuple[group], &e->outliers[i], error));
    SHOAL_TRY(show_requirements(state, g, group, &e->outliers[i], error));
    e->n_outliers = i + 1;
  }
  e->n_outliers_unlisted = n - g->n_listed;
  for (uint32_t c = 0; c < g->classes->n_classes; c++) e->outlier_classes += g->violates[c];
  return SHOAL_OK;
}

shoal_status shoal_explain_outliers(shoal_explain_state *state, shoal_error *error) {
  shoal_explanation *e = state->explanation;
  shoal_node node;
  SHOAL_TRY(choose_outliers(state, &node, error));
  if (e->outliers_at == SHOAL_OUTLIERS_NONE) return SHOAL_OK;
  SHOAL_TRY(
      shoal_result_add_node(state->result, &state->search.space, &node, &e->outliers_node, error));
  shoal_classes classes;
  uint8_t *violates;
  uint32_t *class_of_tuple;
  SHOAL_TRY(shoal_search_classes(&state->search, node.number, &classes, &violates, &class_of_tuple,
                                 error));
  outlier_groups groups = {
      .classes = &classes, .violates = violates, .levels = e->outliers_node.levels};
  shoal_status status = fill_outliers(state, &groups, error);
  reset_groups(&groups);
  shoal_classes_reset(&classes);
  free(violates);
  free(class_of_tuple);
  return status;
}
