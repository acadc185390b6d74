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

shoal_status shoal_explore_node(shoal_explorer *explorer, const unsigned *levels,
                                shoal_explored_node *figures, shoal_error *error) {
  shoal_search *search = &explorer->search;
  shoal_classes classes;
  uint8_t *violates = NULL;
  uint32_t *class_of_tuple = NULL;
  uint64_t node = 0;
  SHOAL_TRY(read_levels(search, levels, &node, error));
  SHOAL_TRY(shoal_search_classes(search, node, &classes, &violates, &class_of_tuple, error));
  uint64_t released = 0, smallest = 0, n_classes = 0;
  for (uint32_t c = 0; c < classes.n_classes; c++) {
    if (violates[c]) continue;
    released += classes.n_rows[c];
    n_classes++;
    if (!smallest || classes.n_rows[c] < smallest) smallest = classes.n_rows[c];
  }
  shoal_released kept = {.classes = &classes, .violates = violates};
  uint64_t suppressed = search->frequency->n_records - released;
  *figures = (shoal_explored_node){
      .height = shoal_space_height(&search->space, node),
      .rows = released,
      .suppressed = suppressed,
      .classes = n_classes,
      .smallest_class = smallest,
      .highest_risk = smallest ? 1 / (double)smallest : 0,
      .average_risk = released ? (double)n_classes / (double)released : 0,
      .loss = mean_loss(search, levels, &kept, released),
      .satisfies = suppressed <= search->max_suppressed && released > 0,
  };
  free(violates);
  free(class_of_tuple);
  shoal_classes_reset(&classes);
  return shoal_requirements_status(&explorer->context.requirements, error);
}
