/* SPDX-License-Identifier: Apache-2.0 */
/* cluster/flock_swarm: rows, columns and moves; see flock_swarm.h. */
#include "cluster/flock_swarm.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"

void shoal_swarm_reset(shoal_swarm *s) {
  void *const owned[] = {s->column,  s->next,  s->prev,     s->head,   s->size,       s->loss,
                         s->box,     s->seen,  s->distinct, s->tried,  s->changed,    s->lo,
                         s->hi,      s->cost,  s->own_loss, s->moved,  s->moved_from, s->weight,
                         s->touched, s->stamp, s->index,    s->groups, s->twice,      s->cover};
  for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) free(owned[i]);
  for (size_t q = 0; q < SHOAL_GROUND_AXES; q++) free(s->lines[q]);
  memset(s, 0, sizeof *s);
}

static bool allocate_rows(shoal_swarm *s, uint32_t n) {
  s->column = shoal_alloc(n, sizeof *s->column);
  s->next = shoal_alloc(n, sizeof *s->next);
  s->prev = shoal_alloc(n, sizeof *s->prev);
  s->index = shoal_alloc_zero(s->ground->n_tuples, sizeof *s->index);
  if (!s->column || !s->next || !s->prev || !s->index) return false;
  memset(s->column, 0xff, (size_t)n * sizeof *s->column); /* SHOAL_NIL */
  return true;
}

static bool allocate_columns(shoal_swarm *s) {
  const shoal_ground *g = s->ground;
  size_t room = s->room;
  s->head = shoal_alloc(room, sizeof *s->head);
  s->size = shoal_alloc_zero(room, sizeof *s->size);
  s->loss = shoal_alloc_zero(room, sizeof *s->loss);
  s->box = shoal_alloc_zero(room, sizeof *s->box);
  s->cover = shoal_alloc_zero(room * g->n_lanes, sizeof *s->cover);
  s->seen = shoal_alloc_zero(room * g->n_counts * SHOAL_GROUND_GROUPS, sizeof *s->seen);
  s->distinct = shoal_alloc_zero(room * g->n_counts, sizeof *s->distinct);
  s->groups = shoal_alloc_zero(room * g->n_counts, sizeof *s->groups);
  s->twice = shoal_alloc_zero(room * g->n_counts, sizeof *s->twice);
  s->changed = shoal_alloc_zero(room, sizeof *s->changed);
  s->tried = shoal_alloc_zero(room, sizeof *s->tried);
  s->stamp = shoal_alloc_zero(room, sizeof *s->stamp);
  s->touched = shoal_alloc(room, sizeof *s->touched);
  s->lo = shoal_alloc_zero(room * g->n_numbers, sizeof *s->lo);
  s->hi = shoal_alloc_zero(room * g->n_numbers, sizeof *s->hi);
  s->own_loss = shoal_alloc(room, sizeof *s->own_loss);
  s->weight = shoal_alloc(room, sizeof *s->weight);
  s->cost = shoal_alloc(room, sizeof *s->cost);
  return s->head && s->size && s->loss && s->box && s->seen && s->distinct && s->groups &&
         s->twice && s->changed && s->tried && s->stamp && s->touched && s->lo && s->hi &&
         s->own_loss && s->weight && s->cost && s->cover;
}

bool shoal_swarm_init(shoal_swarm *s, const shoal_ground *g, uint32_t n_clusters, uint64_t seed) {
  *s = (shoal_swarm){.ground = g,
                     .room = (n_clusters / SHOAL_SWARM_STRIDE + 1) * SHOAL_SWARM_STRIDE,
                     .random = seed};
  bool ok = allocate_rows(s, g->n) && allocate_columns(s);
  for (size_t q = g->n_numbers; ok && q < g->n_axes; q++) {
    s->lines[q] = shoal_alloc_zero((size_t)g->trees[q].n_leaves * s->room, sizeof *s->lines[q]);
    ok = s->lines[q] != NULL;
  }
  if (!ok) {
    shoal_swarm_reset(s);
    return false;
  }
  for (uint32_t c = 0; c < s->room; c++) {
    s->head[c] = SHOAL_NIL;
    shoal_swarm_weigh(s, c, true);
  }
  return true;
}

uint64_t shoal_swarm_total(const shoal_swarm *s) {
  uint64_t total = 0;
  for (uint32_t c = 0; c < s->n_columns; c++) total += shoal_swarm_cost(s, c);
  return total;
}

uint32_t shoal_swarm_random(shoal_swarm *s, uint32_t below) {
  s->random += UINT64_C(0x9e3779b97f4a7c15);
  return (uint32_t)((shoal_mix(s->random) >> 32) * below >> 32);
}

uint32_t shoal_swarm_take(shoal_swarm *s) {
  uint32_t c = 0;
  while (c < s->room && s->size[c]) c++;
  if (c == s->room) return SHOAL_NIL;
  if (c >= s->n_columns) s->n_columns = c + 1;
  return c;
}

/* ------------------------------------------------------------ rows in and out */

static uint16_t *seen_by(const shoal_swarm *s, uint32_t column, size_t count) {
  return s->seen + (column * s->ground->n_counts + count) * SHOAL_GROUND_GROUPS;
}

void shoal_swarm_put(shoal_swarm *s, uint32_t row, uint32_t column) {
  const shoal_ground *g = s->ground;
  s->column[row] = column;
  s->prev[row] = SHOAL_NIL;
  s->next[row] = s->head[column];
  if (s->head[column] != SHOAL_NIL) s->prev[s->head[column]] = row;
  s->head[column] = row;
  s->size[column]++;
  for (size_t d = 0; d < g->n_counts; d++) {
    uint8_t group = g->group[row * g->n_counts + d];
    if (group == SHOAL_GROUND_NO_GROUP) continue;
    size_t i = column * g->n_counts + d;
    uint16_t seen = seen_by(s, column, d)[group]++;
    s->distinct[i] = (uint8_t)(s->distinct[i] + (seen == 0));
    s->twice[i] |= (uint64_t)(seen != 0) << group;
    s->groups[i] |= UINT64_C(1) << group;
  }
}

static void take_out(shoal_swarm *s, uint32_t row) {
  const shoal_ground *g = s->ground;
  uint32_t column = s->column[row], before = s->prev[row], behind = s->next[row];
  if (before == SHOAL_NIL) s->head[column] = behind;
  else s->next[before] = behind;
  if (behind != SHOAL_NIL) s->prev[behind] = before;
  s->size[column]--;
  for (size_t d = 0; d < g->n_counts; d++) {
    uint8_t group = g->group[row * g->n_counts + d];
    if (group == SHOAL_GROUND_NO_GROUP) continue;
    size_t i = column * g->n_counts + d;
    uint16_t seen = --seen_by(s, column, d)[group];
    s->distinct[i] = (uint8_t)(s->distinct[i] - (seen == 0));
    s->twice[i] &= ~((uint64_t)(seen == 1) << group);
    s->groups[i] &= ~((uint64_t)(seen == 0) << group);
  }
}

void shoal_swarm_settle(shoal_swarm *s, uint32_t column) {
  const shoal_ground *g = s->ground;
  uint32_t r = s->head[column], last = SHOAL_NIL;
  s->changed[column] = ++s->clock;
  s->loss[column] = 0;
  if (r == SHOAL_NIL) {
    shoal_swarm_weigh(s, column, true);
    return;
  }
  shoal_lanes reach;
  shoal_lanes_start(g, &reach, shoal_lanes_of_tuple(g, g->tuple[r]));
  for (; r != SHOAL_NIL; r = s->next[r]) {
    if (g->tuple[r] != last) shoal_lanes_add(g, &reach, shoal_lanes_of_tuple(g, g->tuple[r]));
    last = g->tuple[r];
  }
  shoal_lanes_box(g, &reach, &s->box[column]);
  s->loss[column] = shoal_lanes_loss(g, &reach);
  shoal_swarm_note(s, column);
}

void shoal_swarm_adopt(shoal_swarm *s, const shoal_swarm *from, uint32_t column) {
  uint32_t to = shoal_swarm_take(s);
  for (uint32_t r = from->head[column]; r != SHOAL_NIL; r = from->next[r])
    shoal_swarm_put(s, r, to);
  shoal_swarm_settle(s, to);
}

void shoal_swarm_move(shoal_swarm *s, uint32_t row, uint32_t to) {
  const shoal_ground *g = s->ground;
  if (!shoal_grow(&s->moved, &s->moved_capacity, s->n_moved + 1, sizeof *s->moved) ||
      !shoal_grow(&s->moved_from, &s->from_capacity, s->n_moved + 1, sizeof *s->moved_from)) {
    s->failed = true;
    return;
  }
  s->moved[s->n_moved] = row;
  s->moved_from[s->n_moved++] = s->column[row];
  take_out(s, row);
  shoal_swarm_put(s, row, to);
  s->changed[to] = ++s->clock;
  const uint16_t *values = shoal_ground_values(g, row);
  const int16_t *reach = shoal_lanes_of_tuple(g, g->tuple[row]);
  if (s->size[to] > 1 && shoal_lanes_below(g, s->cover + to * g->n_lanes, reach)) {
    shoal_swarm_weigh(s, to, false);
    return;
  }
  if (s->size[to] == 1) shoal_box_start(g, &s->box[to], values);
  else shoal_box_add(g, &s->box[to], values);
  s->loss[to] = shoal_box_loss(g, &s->box[to]);
  shoal_swarm_note(s, to);
}

void shoal_swarm_undo(shoal_swarm *s, size_t n_kept) {
  uint32_t n = 0;
  s->stamps++;
  while (s->n_moved > n_kept) {
    uint32_t row = s->moved[--s->n_moved];
    const uint32_t ends[] = {s->column[row], s->moved_from[s->n_moved]};
    for (size_t i = 0; i < 2; i++) {
      if (s->stamp[ends[i]] == s->stamps) continue;
      s->stamp[ends[i]] = s->stamps;
      s->touched[n++] = ends[i];
    }
    take_out(s, row);
    shoal_swarm_put(s, row, ends[1]);
  }
  for (uint32_t i = 0; i < n; i++) {
    uint32_t changed = s->changed[s->touched[i]];
    shoal_swarm_settle(s, s->touched[i]);
    s->changed[s->touched[i]] = changed;
  }
}

/* ------------------------------------------------------------ demands */

size_t shoal_swarm_lacking(const shoal_swarm *s, uint32_t column) {
  const shoal_ground *g = s->ground;
  size_t d = 0;
  while (d < g->n_counts && s->distinct[column * g->n_counts + d] >= g->fit->counts[d].least) d++;
  return d;
}

bool shoal_swarm_fits(const shoal_swarm *s, uint32_t column) {
  return s->size[column] >= s->ground->fit->k &&
         shoal_swarm_lacking(s, column) == s->ground->n_counts;
}

bool shoal_swarm_has(const shoal_swarm *s, uint32_t column, size_t count, uint32_t row) {
  uint8_t group = s->ground->group[row * s->ground->n_counts + count];
  return group == SHOAL_GROUND_NO_GROUP || seen_by(s, column, count)[group];
}

bool shoal_swarm_spares(const shoal_swarm *s, uint32_t row) {
  const shoal_ground *g = s->ground;
  uint32_t c = s->column[row];
  if (s->size[c] <= g->fit->k) return false;
  for (size_t d = 0; d < g->n_counts; d++) {
    uint8_t group = g->group[row * g->n_counts + d];
    if (s->distinct[c * g->n_counts + d] > g->fit->counts[d].least) continue;
    if (group != SHOAL_GROUND_NO_GROUP && seen_by(s, c, d)[group] == 1) return false;
  }
  return true;
}
