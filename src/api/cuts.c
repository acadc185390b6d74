/* SPDX-License-Identifier: Apache-2.0 */
/* api/cuts: the public functions of shoal_cuts. */
#include "job/cuts.h"

#include <stdlib.h>

#include "api/arguments.h"

enum { MAX_PARTS = 1 << 20 };

shoal_status shoal_table_cuts(const shoal_table *table, const shoal_policy *policy, size_t n_parts,
                              const shoal_run *run, shoal_cuts **cuts, shoal_error *error) {
  SHOAL_BEGIN(error);
  if (cuts) *cuts = NULL;
  SHOAL_NEED(table && policy && cuts, error);
  SHOAL_NEED_VALUE(n_parts > 0 && n_parts <= MAX_PARTS, error);
  SHOAL_NEED_SIZE(run, error);
  shoal_cuts *made = shoal_alloc_zero(1, sizeof *made);
  if (!made) return shoal_answer(shoal_fail_memory(error), error);
  shoal_status status = shoal_cuts_make(made, table, policy, n_parts, run, error);
  if (status == SHOAL_OK) *cuts = made;
  else shoal_cuts_free(made);
  return shoal_answer(status, error);
}

size_t shoal_cuts_parts(const shoal_cuts *cuts) { return cuts ? cuts->n_parts : 0; }

size_t shoal_cuts_nodes(const shoal_cuts *cuts) { return cuts ? cuts->n_nodes : 0; }

bool shoal_cuts_node(const shoal_cuts *cuts, size_t number, shoal_cut *cut) {
  if (!cut || number >= shoal_cuts_nodes(cuts)) return false;
  const shoal_cut_node *node = &cuts->nodes[number];
  *cut = (shoal_cut){.is_part = node->is_part,
                     .part = node->part,
                     .n_rows = node->n_rows,
                     .column = node->column,
                     .is_number = node->is_number,
                     .bound = node->bound.bytes,
                     .bound_bytes = node->bound.size_bytes,
                     .lower = node->lower,
                     .upper = node->upper};
  return true;
}

const char *shoal_cuts_value(const shoal_cuts *cuts, size_t number, size_t value,
                             size_t *size_bytes) {
  if (!size_bytes || number >= shoal_cuts_nodes(cuts) || value >= cuts->nodes[number].n_values)
    return NULL;
  const shoal_label *found = &cuts->nodes[number].values[value];
  *size_bytes = found->size_bytes;
  return found->bytes;
}

const uint32_t *shoal_cuts_part_of_rows(const shoal_cuts *cuts, uint64_t *n_rows) {
  if (n_rows) *n_rows = cuts ? cuts->n_rows : 0;
  return cuts && n_rows ? cuts->part_of_row : NULL;
}

void shoal_cuts_free(shoal_cuts *cuts) {
  if (cuts) shoal_cuts_reset(cuts);
  free(cuts);
}
