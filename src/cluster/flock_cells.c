/* SPDX-License-Identifier: Apache-2.0 */
/* cluster/flock_cells: see flock_cells.h. */
#include "cluster/flock_cells.h"

#include "base/hash.h"
#include "base/sort.h"
#include "cluster/flock_lanes.h"

/* What all rows lose together. */
static uint32_t loss_of_all(const shoal_ground *g) {
  shoal_lanes reach;
  shoal_lanes_start(g, &reach, shoal_lanes_of_tuple(g, 0));
  for (uint32_t t = 1; t < g->n_tuples; t++) shoal_lanes_add(g, &reach, shoal_lanes_of_tuple(g, t));
  return shoal_lanes_loss(g, &reach);
}

/* Tuples of one cell, that agree on all trees, become neighbours, by ascending first number. */
static void sort_tuples(const shoal_ground *g, uint32_t first, uint32_t n, uint64_t *keys) {
  for (uint32_t i = 0; i < n; i++) {
    const uint16_t *values = g->values + (size_t)(first + i) * g->n_axes;
    uint64_t cell = 0, number = g->n_numbers ? values[0] : 0;
    for (size_t q = g->n_numbers; q < g->n_axes; q++) cell = shoal_mix(cell + values[q] + 1);
    keys[i] = cell >> 40 << 40 | number << 24 | i; /* there are SHOAL_GROUND_ROWS at most */
  }
  shoal_sort_keys(keys, n);
}

void shoal_cells_part(const shoal_ground *g, uint32_t from, uint32_t to, uint64_t *keys,
                      uint32_t *rows, uint32_t *part) {
  uint32_t first = g->tuple[from], n_tuples = g->tuple[to - 1] - first + 1, n = 0, n_parts = 0;
  uint32_t most = loss_of_all(g) / SHOAL_CELLS_LITTLE, size = 0;
  shoal_lanes reach, both;
  sort_tuples(g, first, n_tuples, keys);
  for (uint32_t i = 0; i < n_tuples; i++) {
    uint32_t tuple = first + (uint32_t)(keys[i] & 0xffffff);
    uint32_t n_rows = g->first[tuple + 1] - g->first[tuple];
    shoal_lanes_start(g, &both, shoal_lanes_of_tuple(g, tuple));
    if (i) shoal_lanes_add(g, &both, reach.lane);
    size += n_rows;
    if (!i || SHOAL_CELLS_FEW * (uint64_t)size > g->fit->k || shoal_lanes_loss(g, &both) > most) {
      shoal_lanes_start(g, &both, shoal_lanes_of_tuple(g, tuple));
      size = n_rows;
      n_parts++;
    }
    shoal_lanes_start(g, &reach, both.lane);
    for (uint32_t r = g->first[tuple]; r < g->first[tuple + 1]; r++) {
      rows[n] = r;
      part[n++] = n_parts - 1;
    }
  }
}
