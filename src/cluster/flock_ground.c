/* SPDX-License-Identifier: Apache-2.0 */
/* cluster/flock_ground: see flock_ground.h. */
#include "cluster/flock_lanes.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* ------------------------------------------------------------ trees */

/* The nodes of a tree, while they are found. */
typedef struct nodes {
  shoal_span span[SHOAL_GROUND_LABELS];
  uint32_t n;
} nodes;

static bool is_known(const nodes *found, uint32_t n_leaves, shoal_span span) {
  for (uint32_t i = n_leaves; i < found->n; i++)
    if (found->span[i].lo == span.lo && found->span[i].hi == span.hi) return true;
  return span.lo == span.hi;
}

/* Leaves, then what lies above them, lowest level first. */
static void find_nodes(const shoal_axis *axis, nodes *found) {
  found->n = axis->n_places;
  for (uint32_t p = 0; p < axis->n_places; p++) found->span[p] = (shoal_span){p, p};
  for (uint32_t l = 0; l < axis->hierarchy->n_levels; l++) {
    const uint32_t *label = axis->hierarchy->levels[l].of_leaf;
    for (uint32_t lo = 0, end; lo < axis->n_places; lo = end) {
      uint32_t own = label[axis->code_at[lo]];
      for (end = lo + 1; end < axis->n_places && label[axis->code_at[end]] == own;) end++;
      shoal_span span = {lo, end - 1};
      if (is_known(found, axis->n_places, span)) continue; /* a label and its only child */
      found->span[found->n++] = span; /* it has two children or more: there are few of them */
    }
  }
}

static bool lies_in(shoal_span inner, shoal_span outer) {
  return inner.lo >= outer.lo && inner.hi <= outer.hi;
}

static void fill_joins(shoal_ground_tree *tree, const nodes *found, const uint16_t *loss) {
  uint32_t n = found->n;
  for (uint32_t a = 0; a < n; a++) {
    uint32_t up = a + 1;
    while (up < n && (up < tree->n_leaves || !lies_in(found->span[a], found->span[up]))) up++;
    tree->parent[a] = (uint8_t)(up < n ? up : a);
  }
  for (uint32_t a = 0; a < n; a++)
    for (uint32_t b = 0; b < n; b++) {
      uint32_t up = a;
      while (!lies_in(found->span[b], found->span[up])) up = tree->parent[up];
      tree->join[a * n + b] = (uint8_t)up;
      tree->loss[a * n + b] = loss[up];
    }
}

static bool init_tree(shoal_ground_tree *tree, const shoal_axis *axis, double scale) {
  nodes found;
  uint16_t loss[SHOAL_GROUND_LABELS];
  find_nodes(axis, &found);
  tree->n_leaves = axis->n_places;
  tree->n_labels = found.n;
  tree->parent = shoal_alloc(found.n, sizeof *tree->parent);
  tree->first = shoal_alloc(found.n, sizeof *tree->first);
  tree->last = shoal_alloc(found.n, sizeof *tree->last);
  tree->join = shoal_alloc((size_t)found.n * found.n, sizeof *tree->join);
  tree->loss = shoal_alloc((size_t)found.n * found.n, sizeof *tree->loss);
  if (!tree->parent || !tree->first || !tree->last || !tree->join || !tree->loss) return false;
  for (uint32_t a = 0; a < found.n; a++) {
    loss[a] = (uint16_t)(shoal_axis_loss(axis, found.span[a].lo, found.span[a].hi) * scale);
    tree->first[a] = (uint8_t)found.span[a].lo; /* there are SHOAL_GROUND_LEAVES at most */
    tree->last[a] = (uint8_t)found.span[a].hi;
  }
  fill_joins(tree, &found, loss);
  return true;
}

/* ------------------------------------------------------------ building */

bool shoal_ground_carries(const shoal_cluster_task *task) {
  const shoal_axes *axes = task->axes;
  const shoal_fit *fit = task->fit;
  if (task->aim != SHOAL_AIM_IL || fit->n_others || axes->n_rows > SHOAL_GROUND_ROWS) return false;
  if (!axes->n || axes->n > SHOAL_GROUND_AXES) return false;
  for (size_t d = 0; d < fit->n_counts; d++)
    if (fit->counts[d].n_groups > SHOAL_GROUND_GROUPS) return false;
  for (size_t q = 0; q < axes->n; q++) {
    const shoal_axis *axis = &axes->items[q];
    bool missing = !axis->hierarchy && axis->n_places > axis->n_numbers;
    if (missing || (axis->hierarchy && axis->n_places > SHOAL_GROUND_LEAVES)) return false;
  }
  return true;
}

void shoal_ground_reset(shoal_ground *g) {
  for (size_t q = 0; q < g->n_axes; q++) {
    free(g->trees[q].parent);
    free(g->trees[q].first);
    free(g->trees[q].last);
    free(g->trees[q].join);
    free(g->trees[q].loss);
  }
  free(g->tuple);
  free(g->first);
  free(g->values);
  free(g->lanes);
  free(g->group);
  free(g->groups);
  memset(g, 0, sizeof *g);
}

static void order_axes(shoal_ground *g, const shoal_axes *axes) {
  for (size_t q = 0; q < axes->n; q++)
    if (!axes->items[q].hierarchy) g->axis[g->n_axes++] = q;
  g->n_numbers = g->n_axes;
  for (size_t q = 0; q < axes->n; q++)
    if (axes->items[q].hierarchy) g->axis[g->n_axes++] = q;
}

static bool fill_rows(shoal_ground *g, const shoal_axes *axes) {
  g->tuple = shoal_alloc(g->n, sizeof *g->tuple);
  g->first = shoal_alloc((size_t)g->n + 1, sizeof *g->first);
  g->group = shoal_alloc((size_t)g->n * g->n_counts, sizeof *g->group);
  if (!g->tuple || !g->first || !g->group) return false;
  for (uint32_t i = 0; i < g->n; i++) {
    if (i == 0 || axes->tuple_of_row[g->row[i]] != axes->tuple_of_row[g->row[i - 1]])
      g->first[g->n_tuples++] = i;
    g->tuple[i] = g->n_tuples - 1;
    for (size_t d = 0; d < g->n_counts; d++) {
      uint32_t group = shoal_count_group(&g->fit->counts[d], g->row[i]);
      g->group[i * g->n_counts + d] =
          group == SHOAL_NO_GROUP ? SHOAL_GROUND_NO_GROUP : (uint8_t)group;
    }
  }
  g->first[g->n_tuples] = g->n;
  return true;
}

/* Do the groups of all counts together make one set? */
static bool find_shifts(shoal_ground *g) {
  uint32_t sum = 0;
  if (g->n_counts > SHOAL_GROUND_COUNTS) return false;
  for (size_t d = 0; d < g->n_counts; d++) {
    uint32_t n = g->fit->counts[d].n_groups;
    g->shift[d] = sum;
    g->all_groups[d] = n ? ~UINT64_C(0) >> (SHOAL_GROUND_GROUPS - n) : 0;
    sum += n;
  }
  return sum < SHOAL_GROUND_GROUPS;
}

static bool fill_groups(shoal_ground *g) {
  if (!find_shifts(g)) return true;
  g->groups = shoal_alloc_zero(g->n, sizeof *g->groups);
  for (uint32_t i = 0; g->groups && i < g->n; i++)
    for (size_t d = 0; d < g->n_counts; d++) {
      uint8_t group = g->group[i * g->n_counts + d];
      if (group != SHOAL_GROUND_NO_GROUP) g->groups[i] |= UINT64_C(1) << (g->shift[d] + group);
    }
  return g->groups != NULL;
}

static bool fill_values(shoal_ground *g, const shoal_axes *axes, double scale) {
  g->values = shoal_alloc((size_t)g->n_tuples * g->n_axes, sizeof *g->values);
  if (!g->values) return false;
  for (uint32_t t = 0; t < g->n_tuples; t++) {
    const uint32_t *places = shoal_axes_row(axes, g->row[g->first[t]]);
    uint16_t *values = g->values + (size_t)t * g->n_axes;
    for (size_t q = 0; q < g->n_axes; q++) {
      uint32_t place = places[g->axis[q]];
      values[q] = q < g->n_numbers ? (uint16_t)(axes->items[g->axis[q]].from_least[place] * scale)
                                   : (uint16_t)place;
    }
  }
  return true;
}

static bool fill_lanes(shoal_ground *g) {
  g->n_lanes = (g->n_axes + SHOAL_LANES_AXES - 1) / SHOAL_LANES_AXES * SHOAL_LANES_BLOCK;
  g->lanes = shoal_alloc_zero((size_t)g->n_tuples * g->n_lanes, sizeof *g->lanes);
  if (!g->lanes) return false;
  for (uint32_t t = 0; t < g->n_tuples; t++)
    for (size_t q = 0; q < g->n_axes; q++) {
      int16_t value = (int16_t)g->values[(size_t)t * g->n_axes + q];
      g->lanes[t * g->n_lanes + shoal_lanes_from(q)] = value;
      g->lanes[t * g->n_lanes + shoal_lanes_to(q)] = (int16_t)-value;
    }
  return true;
}

static bool has_avx2(void) {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx2");
#else
  return false;
#endif
}

bool shoal_ground_init(shoal_ground *g, const shoal_cluster_task *task, const uint32_t *rows) {
  const shoal_axes *axes = task->axes;
  uint64_t full = 0;
  for (size_t q = 0; q < axes->n; q++) full += axes->items[q].full;
  double scale = full > SHOAL_GROUND_LOSS ? (double)SHOAL_GROUND_LOSS / (double)full : 1;
  *g = (shoal_ground){.fit = task->fit,
                      .n = (uint32_t)axes->n_rows,
                      .n_counts = task->fit->n_counts,
                      .row = rows,
                      .avx2 = has_avx2()};
  order_axes(g, axes);
  bool ok = fill_rows(g, axes) && fill_groups(g) && fill_values(g, axes, scale) && fill_lanes(g);
  for (size_t q = g->n_numbers; ok && q < g->n_axes; q++)
    ok = init_tree(&g->trees[q], &axes->items[g->axis[q]], scale);
  if (!ok) shoal_ground_reset(g);
  return ok;
}

/* ------------------------------------------------------------ boxes */

void shoal_box_join(const shoal_ground *g, shoal_box *box, const shoal_box *other) {
  size_t q = 0;
  for (; q < g->n_numbers; q++) {
    if (other->lo[q] < box->lo[q]) box->lo[q] = other->lo[q];
    if (other->hi[q] > box->hi[q]) box->hi[q] = other->hi[q];
  }
  for (; q < g->n_axes; q++) {
    const shoal_ground_tree *tree = &g->trees[q];
    box->lo[q] = tree->join[(uint32_t)box->lo[q] * tree->n_labels + (uint32_t)other->lo[q]];
  }
}

uint32_t shoal_box_loss_joined(const shoal_ground *g, const shoal_box *a, const shoal_box *b) {
  uint32_t loss = 0;
  size_t q = 0;
  for (; q < g->n_numbers; q++) {
    int hi = a->hi[q] > b->hi[q] ? a->hi[q] : b->hi[q],
        lo = a->lo[q] < b->lo[q] ? a->lo[q] : b->lo[q];
    loss += (uint32_t)(hi - lo);
  }
  for (; q < g->n_axes; q++) {
    const shoal_ground_tree *tree = &g->trees[q];
    loss += tree->loss[(uint32_t)a->lo[q] * tree->n_labels + (uint32_t)b->lo[q]];
  }
  return loss;
}

uint32_t shoal_box_loss(const shoal_ground *g, const shoal_box *box) {
  return shoal_box_loss_joined(g, box, box);
}
