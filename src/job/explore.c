/* SPDX-License-Identifier: Apache-2.0 */
#include "job/explore.h"

#include <stdlib.h>

#include "input/input.h"
#include "measure/release_loss.h"

shoal_status shoal_explore_begin(shoal_explorer *explorer, const shoal_table *table,
                                 const shoal_policy *policy, const shoal_run *run,
                                 shoal_error *error) {
  SHOAL_TRY(shoal_input_check(table, policy, SHOAL_FOR_REVIEW, error));
  SHOAL_TRY(
      shoal_context_init(&explorer->context, table, policy, SHOAL_CONTEXT_LATTICE, run, error));
  shoal_status status = shoal_context_search(&explorer->context, false, &explorer->search, error);
  if (status != SHOAL_OK) {
    shoal_context_reset(&explorer->context);
    return status;
  }
  explorer->search.run = NULL; /* later calls have no run */
  explorer->context.run = NULL;
  return SHOAL_OK;
}

void shoal_explore_end(shoal_explorer *explorer) {
  shoal_search_reset(&explorer->search);
  shoal_context_reset(&explorer->context);
}

static shoal_status read_levels(const shoal_search *search, const unsigned *levels, uint64_t *node,
                                shoal_error *error) {
  const shoal_space *space = &search->space;
  for (size_t q = 0; q < space->n; q++) {
    uint32_t bottom = shoal_space_bottom(space, q);
    if (levels[q] < bottom || levels[q] > space->top[q])
      return shoal_fail(error, SHOAL_BAD_INPUT,
                        "quasi-identifier %zu has levels %u to %u, but level %u is asked for",
                        q + 1, bottom, space->top[q], levels[q]);
    search->levels[q] = levels[q];
  }
  *node = shoal_space_node(space, search->levels);
  return SHOAL_OK;
}

/* The mean loss of a released cell, as `nil` of a release. */
static double mean_loss(const shoal_search *search, const unsigned *levels,
                        const shoal_released *released, uint64_t n_released) {
  double sum = 0;
  for (size_t q = 0; q < search->space.n; q++)
    sum += shoal_level_loss(search->frequency, q, levels[q], released);
  return n_released ? sum / ((double)n_released * (double)search->space.n) : 0;
}

/* The classes at a node, and which of them violate the policy. The caller ends it, also after an
 * error. */
typedef struct at_node {
  uint64_t node;
  shoal_classes classes;
  uint8_t *violates; /* by class */
  uint32_t *class_of_tuple;
} at_node;

static shoal_status at_node_begin(at_node *at, shoal_search *search, const unsigned *levels,
                                  shoal_error *error) {
  *at = (at_node){0};
  SHOAL_TRY(read_levels(search, levels, &at->node, error));
  return shoal_search_classes(search, at->node, &at->classes, &at->violates, &at->class_of_tuple,
                              error);
}

static void at_node_end(at_node *at) {
  free(at->violates);
  free(at->class_of_tuple);
  shoal_classes_reset(&at->classes);
}

shoal_status shoal_explore_node(shoal_explorer *explorer, const unsigned *levels,
                                shoal_explored_node *figures, shoal_error *error) {
  shoal_search *search = &explorer->search;
  at_node at;
  shoal_status status = at_node_begin(&at, search, levels, error);
  if (status != SHOAL_OK) {
    at_node_end(&at);
    return status;
  }
  uint64_t released = 0, smallest = 0, n_classes = 0;
  for (uint32_t c = 0; c < at.classes.n_classes; c++) {
    if (at.violates[c]) continue;
    released += at.classes.n_rows[c];
    n_classes++;
    if (!smallest || at.classes.n_rows[c] < smallest) smallest = at.classes.n_rows[c];
  }
  shoal_released kept = {.classes = &at.classes, .violates = at.violates};
  uint64_t suppressed = search->frequency->n_records - released;
  *figures = (shoal_explored_node){
      .height = shoal_space_height(&search->space, at.node),
      .rows = released,
      .suppressed = suppressed,
      .classes = n_classes,
      .smallest_class = smallest,
      .highest_risk = smallest ? 1 / (double)smallest : 0,
      .average_risk = released ? (double)n_classes / (double)released : 0,
      .loss = mean_loss(search, levels, &kept, released),
      .satisfies = suppressed <= search->max_suppressed && released > 0,
  };
  at_node_end(&at);
  return shoal_requirements_status(&explorer->context.requirements, error);
}

/* The label of a tuple's value in a quasi-identifier. */
static const char *tuple_label(const shoal_frequency_set *frequency, uint32_t tuple, size_t q,
                               unsigned level, size_t *size_bytes) {
  uint32_t code = shoal_code_at(frequency->codes[q], tuple);
  const shoal_hierarchy *hierarchy = frequency->hierarchies[q];
  if (!hierarchy) return shoal_column_value(frequency->quasi[q], code, size_bytes);
  const shoal_level *at = &hierarchy->levels[level];
  return shoal_level_label(at, at->of_leaf[code], size_bytes);
}

/* The least number of distinct values of a sensitive column in a class; UINT32_MAX: none is
 * tracked. */
static uint32_t fewest_values(const shoal_explorer *explorer, const shoal_classes *classes,
                              uint32_t c) {
  const shoal_tracked *tracked = &explorer->context.tracked;
  uint32_t fewest = UINT32_MAX;
  for (size_t s = 0; s < tracked->n_sensitive && s < classes->n_tracked; s++) {
    if (tracked->track[s] == SHOAL_TRACK_NONE) continue;
    uint32_t n = shoal_classes_distinct(explorer->search.frequency, classes, c, s);
    if (n < fewest) fewest = n;
  }
  return fewest;
}

shoal_status shoal_explore_classes(shoal_explorer *explorer, const unsigned *levels,
                                   shoal_visit_class *visit, void *context, shoal_error *error) {
  size_t n_quasi = explorer->search.space.n;
  const char **labels = shoal_alloc(n_quasi, sizeof *labels);
  size_t *sizes = shoal_alloc(n_quasi, sizeof *sizes);
  at_node at = {0};
  shoal_status status = labels && sizes ? at_node_begin(&at, &explorer->search, levels, error)
                                        : shoal_fail_memory(error);
  for (uint32_t c = 0; status == SHOAL_OK && c < at.classes.n_classes; c++) {
    for (size_t q = 0; q < n_quasi; q++)
      labels[q] =
          tuple_label(explorer->search.frequency, at.classes.tuple[c], q, levels[q], &sizes[q]);
    visit(context, &(shoal_explored_class){.rows = at.classes.n_rows[c],
                                           .violates = at.violates[c],
                                           .fewest_values = fewest_values(explorer, &at.classes, c),
                                           .labels = labels,
                                           .label_bytes = sizes});
  }
  at_node_end(&at);
  free(sizes);
  free(labels);
  return status == SHOAL_OK ? shoal_requirements_status(&explorer->context.requirements, error)
                            : status;
}
