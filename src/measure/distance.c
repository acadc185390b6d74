/* SPDX-License-Identifier: Apache-2.0 */
/*
 * measure/distance: distances of sparse distributions to one dense reference. The reference is
 * prepared once. A comparison costs only the values that the sparse distribution has, so many small
 * classes can be compared with a large domain:
 *
 * - ordered: between two of its values the cumulative share c of the distribution is constant, and
 *   those of the reference, F, ascend. The sum of |c - F| follows from prefix sums of F and the
 *   position where F exceeds c.
 * - trees: labels with nothing of the distribution below them only receive. Only labels above its
 *   values are visited, level by level.
 */
#include "measure/distance.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A label, and the share below it in the distribution minus that in the reference. */
struct shoal_moved {
  uint32_t label;
  double more;
};

const char *shoal_ground_distance_name(shoal_ground_distance ground) {
  static const char *const names[] = {"equal", "ordered", "hierarchical"};
  return names[ground];
}

void shoal_reference_reset(shoal_reference *r) {
  free(r->share);
  free(r->up_to);
  free(r->sum_up_to);
  for (uint32_t l = 0; r->at_level && l < r->domain->hierarchy->n_levels; l++) free(r->at_level[l]);
  free(r->at_level);
  free(r->moved);
  memset(r, 0, sizeof *r);
}

/* ------------------------------------------------------------ the reference */

static bool fill_shares(shoal_reference *r, const uint64_t *rows) {
  uint32_t n = r->domain->n_positions;
  double sum = 0;
  r->share = shoal_alloc_zero(n, sizeof *r->share);
  r->up_to = shoal_alloc_zero((size_t)n + 1, sizeof *r->up_to);
  r->sum_up_to = shoal_alloc_zero((size_t)n + 1, sizeof *r->sum_up_to);
  if (!r->share || !r->up_to || !r->sum_up_to) return false;
  for (uint32_t position = 0; position < n; position++) sum += (double)rows[position];
  for (uint32_t position = 0; position < n; position++) {
    r->share[position] = sum > 0 ? (double)rows[position] / sum : 0;
    r->up_to[position + 1] = r->up_to[position] + r->share[position];
    r->sum_up_to[position + 1] = r->sum_up_to[position] + r->up_to[position + 1];
  }
  return true;
}

static bool fill_levels(shoal_reference *r) {
  const shoal_hierarchy *tree = r->domain->hierarchy;
  r->at_level = shoal_alloc_zero(tree->n_levels, sizeof *r->at_level);
  r->moved = shoal_alloc(tree->n_leaves, sizeof *r->moved);
  if (!r->at_level || !r->moved) return false;
  for (uint32_t l = 0; l < tree->n_levels; l++) {
    r->at_level[l] = shoal_alloc_zero(tree->levels[l].n_labels, sizeof **r->at_level);
    if (!r->at_level[l]) return false;
    for (uint32_t leaf = 0; leaf < tree->n_leaves; leaf++)
      r->at_level[l][tree->levels[l].of_leaf[leaf]] += r->share[r->domain->position_of[leaf]];
  }
  return true;
}

bool shoal_reference_init(shoal_reference *r, const shoal_domain *domain, const uint64_t *rows) {
  *r = (shoal_reference){.domain = domain};
  r->ground = domain->is_number && domain->ascending ? SHOAL_GROUND_ORDERED
              : domain->hierarchy                    ? SHOAL_GROUND_HIERARCHICAL
                                                     : SHOAL_GROUND_EQUAL;
  bool ok = fill_shares(r, rows);
  if (ok && r->ground == SHOAL_GROUND_HIERARCHICAL) ok = fill_levels(r);
  if (!ok) shoal_reference_reset(r);
  return ok;
}

static bool is_there(const shoal_reference *r) {
  return r->domain->n_positions && r->up_to[r->domain->n_positions] > 0;
}

/* ------------------------------------------------------------ distances */

double shoal_total_variation(const shoal_reference *r, const shoal_share_at *shares, size_t n) {
  double more = 0;
  if (!is_there(r)) return 0;
  for (size_t i = 0; i < n; i++) {
    double difference = shares[i].share - r->share[shares[i].position];
    if (difference > 0) more += difference;
  }
  return more > 1 ? 1 : more;
}

/* Sum of |c - up_to[position + 1]| over positions lo .. end - 1. */
static double gap(const shoal_reference *r, double c, uint32_t lo, uint32_t end) {
  uint32_t low = lo, high = end; /* the first position whose sum is above c */
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (r->up_to[middle + 1] > c) high = middle;
    else low = middle + 1;
  }
  double below = c * (low - lo) - (r->sum_up_to[low] - r->sum_up_to[lo]);
  double above = (r->sum_up_to[end] - r->sum_up_to[low]) - c * (end - low);
  return (below > 0 ? below : 0) + (above > 0 ? above : 0);
}

static double ordered(const shoal_reference *r, const shoal_share_at *shares, size_t n) {
  uint32_t positions = r->domain->n_positions, at = 0;
  double sum = 0, distance = 0;
  if (positions < 2) return 0;
  for (size_t i = 0; i < n; i++) {
    distance += gap(r, sum, at, shares[i].position);
    sum += shares[i].share;
    at = shares[i].position;
  }
  distance += gap(r, sum, at, positions);
  return distance / (positions - 1);
}

/*
 * Goes from labels of level l to their parents, which are adjacent because positions follow the
 * tree. Adds the share moved within each parent, times its height. Returns the number of parents.
 */
static size_t move_up(shoal_reference *r, uint32_t l, size_t n, double *cost) {
  const shoal_hierarchy *tree = r->domain->hierarchy;
  const uint32_t *parent_of = tree->levels[l].parent;
  size_t n_parents = 0;
  for (size_t i = 0; i < n;) {
    uint32_t parent = parent_of[r->moved[i].label];
    double plus = 0, minus = 0, known = 0, sum = 0;
    for (; i < n && parent_of[r->moved[i].label] == parent; i++) {
      double more = r->moved[i].more;
      known += r->at_level[l][r->moved[i].label];
      sum += more;
      if (more > 0) plus += more;
      else minus -= more;
    }
    double rest = r->at_level[l + 1][parent] - known; /* children that only receive */
    minus += rest;
    double height = tree->levels[l + 1].node_height[parent];
    *cost += (plus < minus ? plus : minus) * height / tree->tree_height;
    r->moved[n_parents++] = (struct shoal_moved){parent, sum - rest};
  }
  return n_parents;
}

static double hierarchical(shoal_reference *r, const shoal_share_at *shares, size_t n) {
  const shoal_hierarchy *tree = r->domain->hierarchy;
  double cost = 0;
  if (tree->tree_height == 0) return 0;
  for (size_t i = 0; i < n; i++)
    r->moved[i] = (struct shoal_moved){r->domain->leaf_at[shares[i].position],
                                       shares[i].share - r->share[shares[i].position]};
  for (uint32_t l = 0; l + 1 < tree->n_levels; l++) n = move_up(r, l, n, &cost);
  return cost > 0 ? cost : 0;
}

double shoal_earth_mover(shoal_reference *r, const shoal_share_at *shares, size_t n) {
  for (size_t i = 1; i < n; i++) assert(shares[i - 1].position < shares[i].position);
  if (!is_there(r) || n == 0) return 0;
  switch (r->ground) {
  case SHOAL_GROUND_ORDERED: return ordered(r, shares, n);
  case SHOAL_GROUND_HIERARCHICAL: return hierarchical(r, shares, n);
  case SHOAL_GROUND_EQUAL: break;
  }
  return shoal_total_variation(r, shares, n);
}
