/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job/explore: single nodes of the lattice. The rows are grouped once; a node costs a pass over the
 * distinct tuples. The contracts are those of shoal_explorer in shoal.h.
 */
#pragma once

#include "context/context.h"

struct shoal_explorer {
  shoal_context context;
  shoal_search search;
};

shoal_status shoal_explore_begin(shoal_explorer *explorer, const shoal_table *table,
                                 const shoal_policy *policy, const shoal_run *run,
                                 shoal_error *error) SHOAL_MUST_CHECK;
void shoal_explore_end(shoal_explorer *explorer);
shoal_status shoal_explore_node(shoal_explorer *explorer, const unsigned *levels,
                                shoal_explored_node *figures, shoal_error *error) SHOAL_MUST_CHECK;
shoal_status shoal_explore_classes(shoal_explorer *explorer, const unsigned *levels,
                                   shoal_visit_class *visit, void *context,
                                   shoal_error *error) SHOAL_MUST_CHECK;
