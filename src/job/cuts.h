/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job/cuts: cuts a table into parts of similar rows (a kd-tree over the axes of local recoding).
 * The tuples are halved again and again, near the middle of one axis. The axis is taken on which
 * the halves together lose least of the whole span's loss.
 */
#pragma once

#include "base/intern.h"
#include "base/memory.h"
#include "shoal/shoal.h"

typedef struct shoal_cut_node {
  bool is_part;
  uint32_t part;
  uint64_t n_rows;
  const char *column;
  bool is_number;
  shoal_label bound;
  shoal_label *values; /* below `lower` */
  size_t n_values;
  uint32_t lower, upper;
} shoal_cut_node;

struct shoal_cuts {
  shoal_arena arena;
  shoal_cut_node *nodes;
  size_t n_nodes, capacity;
  uint32_t n_parts;
  uint32_t *part_of_row;
  uint64_t n_rows;
};

/* Fills zeroed cuts. The caller resets them, also after an error. */
shoal_status shoal_cuts_make(shoal_cuts *cuts, const shoal_table *table, const shoal_policy *policy,
                             size_t n_parts, const shoal_run *run,
                             shoal_error *error) SHOAL_MUST_CHECK;
void shoal_cuts_reset(shoal_cuts *cuts);
