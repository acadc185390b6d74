/* SPDX-License-Identifier: Apache-2.0 */
/* api/explorer: the public functions of shoal_explorer. */
#include <stdlib.h>

#include "api/arguments.h"
#include "job/explore.h"

shoal_status shoal_explorer_new(const shoal_table *table, const shoal_policy *policy,
                                const shoal_run *run, shoal_explorer **explorer,
                                shoal_error *error) {
  SHOAL_BEGIN(error);
  if (explorer) *explorer = NULL;
  SHOAL_NEED(table && policy && explorer, error);
  SHOAL_NEED_SIZE(run, error);
  shoal_explorer *made = shoal_alloc(1, sizeof *made);
  if (!made) return shoal_answer(shoal_fail_memory(error), error);
  shoal_status status = shoal_explore_begin(made, table, policy, run, error);
  if (status == SHOAL_OK) *explorer = made;
  else free(made);
  return shoal_answer(status, error);
}

size_t shoal_explorer_quasi(const shoal_explorer *explorer) {
  return explorer ? explorer->context.n_quasi : 0;
}

const char *shoal_explorer_name(const shoal_explorer *explorer, size_t quasi) {
  return quasi < shoal_explorer_quasi(explorer) ? explorer->context.quasi[quasi]->name : NULL;
}

unsigned shoal_explorer_top(const shoal_explorer *explorer, size_t quasi) {
  return quasi < shoal_explorer_quasi(explorer) ? explorer->search.space.top[quasi] : 0;
}

shoal_status shoal_explorer_node(shoal_explorer *explorer, const unsigned *levels,
                                 shoal_explored_node *figures, shoal_error *error) {
  SHOAL_BEGIN(error);
  SHOAL_NEED(explorer && levels && figures, error);
  return shoal_answer(shoal_explore_node(explorer, levels, figures, error), error);
}

shoal_status shoal_explorer_classes(shoal_explorer *explorer, const unsigned *levels,
                                    shoal_visit_class *visit, void *context, shoal_error *error) {
  SHOAL_BEGIN(error);
  SHOAL_NEED(explorer && levels && visit, error);
  return shoal_answer(shoal_explore_classes(explorer, levels, visit, context, error), error);
}

void shoal_explorer_free(shoal_explorer *explorer) {
  if (!explorer) return;
  shoal_explore_end(explorer);
  free(explorer);
}
