/* SPDX-License-Identifier: Apache-2.0 */
/* cluster/flock_clusters: rows, clusters, moves and requirements; see flock_clusters.h. */
#include "cluster/flock_clusters.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/memory.h"

enum {
  MAX_LINE_VALUES = 1024,   /* of an axis with lines */
  MAX_LINE_CELLS = 1 << 22, /* of one axis */
};

/* ------------------------------------------------------------ memory */

void shoal_clusters_reset(shoal_clusters *b) {
  void *const owned[] = {b->cluster_of, b->next,   b->prev,      b->head,        b->size,
                         b->loss,       b->groups, b->changed,   b->tried,       b->lo,
                         b->hi,         b->own,    b->is_noted,  b->n_active,    b->weight,
                         b->offset,     b->joint,  b->join_cost, b->moved,       b->moved_from,
                         b->origin,     b->stamp,  b->touched,   b->tuple_index, b->group_stamp,
                         b->rows};
  for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) free(owned[i]);
  for (size_t q = 0; b->p && q < b->p->n_axes; q++) {
    if (b->lines) free(b->lines[q]);
    if (b->active) free(b->active[q]);
  }
  free(b->lines);
  free(b->active);
  shoal_boxes_reset(&b->boxes);
  shoal_boxes_reset(&b->noted);
  shoal_boxes_reset(&b->scratch);
  if (b->judging.fit) shoal_judging_reset(&b->judging);
  memset(b, 0, sizeof *b);
}

static bool allocate_rows(shoal_clusters *b) {
  const shoal_packed_rows *p = b->p;
  b->cluster_of = shoal_alloc(p->n, sizeof *b->cluster_of);
  b->next = shoal_alloc(p->n, sizeof *b->next);
  b->prev = shoal_alloc(p->n, sizeof *b->prev);
  b->rows = shoal_alloc(p->n, sizeof *b->rows);
  b->tuple_index = shoal_alloc_zero(p->n_tuples, sizeof *b->tuple_index);
  b->group_stamp = shoal_alloc_zero(p->n, sizeof *b->group_stamp);
  return b->cluster_of && b->next && b->prev && b->rows && b->tuple_index && b->group_stamp &&
         shoal_boxes_init(&b->scratch, p, shoal_clusters_scratch_boxes());
}

static bool allocate_clusters(shoal_clusters *b) {
  const shoal_packed_rows *p = b->p;
  size_t room = b->room;
  b->head = shoal_alloc(room, sizeof *b->head);
  b->size = shoal_alloc(room, sizeof *b->size);
  b->loss = shoal_alloc(room, sizeof *b->loss);
  b->groups = shoal_alloc_zero(room * p->n_counts, sizeof *b->groups);
  b->origin = shoal_alloc(room, sizeof *b->origin);
  b->changed = shoal_alloc_zero(room, sizeof *b->changed);
  b->tried = shoal_alloc_zero(room, sizeof *b->tried);
  b->stamp = shoal_alloc_zero(room, sizeof *b->stamp);
  b->touched = shoal_alloc(room, sizeof *b->touched);
  return b->head && b->size && b->loss && b->groups && b->origin && b->changed && b->tried &&
         b->stamp && b->touched && shoal_boxes_init(&b->boxes, p, room);
}

static bool allocate_table(shoal_clusters *b) {
  const shoal_packed_rows *p = b->p;
  size_t room = b->room;
  b->lo = shoal_alloc_zero(room * p->n_numbers, sizeof *b->lo);
  b->hi = shoal_alloc_zero(room * p->n_numbers, sizeof *b->hi);
  b->own = shoal_alloc_zero(room * (p->n_axes - p->n_spans), sizeof *b->own);
  b->is_noted = shoal_alloc_zero(room, sizeof *b->is_noted);
  b->lines = shoal_alloc_zero(p->n_axes, sizeof *b->lines);
  b->active = shoal_alloc_zero(p->n_axes, sizeof *b->active);
  b->n_active = shoal_alloc_zero(p->n_axes, sizeof *b->n_active);
  b->weight = shoal_alloc_zero(room, sizeof *b->weight);
  b->offset = shoal_alloc_zero(room, sizeof *b->offset);
  b->joint = shoal_alloc_zero(room, sizeof *b->joint);
  b->join_cost = shoal_alloc_zero(room, sizeof *b->join_cost);
  if (!b->lo || !b->hi || !b->own || !b->is_noted || !b->lines || !b->active || !b->n_active ||
      !b->weight || !b->offset || !b->joint || !b->join_cost ||
      !shoal_boxes_init(&b->noted, p, room + 1)) /* the last: scratch */
    return false;
  for (size_t q = p->n_numbers; q < p->n_axes; q++) {
    uint32_t n = p->axes[q].n_values;
    if (n > MAX_LINE_VALUES || n > MAX_LINE_CELLS / room) continue;
    b->lines[q] = shoal_alloc_zero((size_t)n * room, sizeof **b->lines);
    b->active[q] = shoal_alloc(n, sizeof **b->active);
    if (!b->lines[q] || !b->active[q]) return false;
    for (uint32_t v = 0; v < n; v++) b->active[q][v] = (uint16_t)v;
    b->n_active[q] = n;
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

bool shoal_clusters_init(shoal_clusters *b, const shoal_packed_rows *p, uint32_t n_clusters,
                         shoal_flock_stop *stop) {
  *b = (shoal_clusters){.p = p,
                        .room = (n_clusters / SHOAL_STRIDE + 1) * SHOAL_STRIDE,
                        .stop = stop,
                        .avx2 = has_avx2()};
  bool ok = allocate_rows(b) && allocate_clusters(b) && allocate_table(b) &&
            shoal_judging_init(&b->judging, p->fit, NULL) == SHOAL_OK;
  if (!ok) {
    shoal_clusters_reset(b);
    return false;
  }
  memset(b->cluster_of, 0xff, (size_t)p->n * sizeof *b->cluster_of); /* SHOAL_NIL */
  b->n = b->room;
  shoal_clusters_clear(b);
  return true;
}

bool shoal_clusters_init_like(shoal_clusters *b, const shoal_clusters *other, uint32_t n_clusters) {
  if (!shoal_clusters_init(b, other->p, n_clusters, other->stop)) return false;
  b->cost = other->cost;
  b->polls = other->polls;
  return true;
}

/* Rows keep their old cluster_of: whoever clears a block puts rows into it again. */
void shoal_clusters_clear(shoal_clusters *b) {
  uint32_t n = b->n;
  b->n = b->n_live = 0;
  b->total = 0;
  b->n_moved = 0;
  for (uint32_t c = 0; c < n; c++) {
    b->head[c] = b->origin[c] = SHOAL_NIL;
    b->size[c] = b->loss[c] = 0;
    b->is_noted[c] = false;
    shoal_clusters_note(b, c);
  }
}

uint32_t shoal_clusters_random(shoal_clusters *b, uint32_t below) {
  b->random += UINT64_C(0x9e3779b97f4a7c15);
  return (uint32_t)((shoal_mix(b->random) >> 32) * below >> 32);
}

uint32_t shoal_clusters_take(shoal_clusters *b) {
  uint32_t c = b->n_live < b->n ? 0 : b->n;
  while (c < b->n && b->size[c]) c++;
  if (c == b->room) return SHOAL_NIL;
  if (c >= b->n) b->n = c + 1;
  return c;
}

/* ------------------------------------------------------------ groups */

/* Does the list hold at least n_rows rows of a group? */
static bool list_has(const shoal_clusters *b, uint32_t row, size_t d, uint32_t group,
                     uint32_t n_rows) {
  for (; row != SHOAL_NIL && n_rows; row = b->next[row]) n_rows -= b->p->group[d][row] == group;
  return !n_rows;
}

bool shoal_clusters_has_group(const shoal_clusters *b, uint32_t c, size_t d, uint32_t row,
                              uint32_t n_rows) {
  uint32_t group = b->p->group[d][row];
  const shoal_group_set *set = shoal_clusters_groups(b, c, d);
  uint64_t bit = UINT64_C(1) << (group % 64), known = n_rows > 1 ? set->twice : set->once;
  if (!(known & bit) || b->p->exact[d]) return known & bit;
  return list_has(b, b->head[c], d, group, n_rows);
}

/* Counts a row that is about to join the cluster. */
static void add_groups(shoal_clusters *b, uint32_t c, uint32_t row) {
  for (size_t d = 0; d < b->p->n_counts; d++) {
    uint32_t group = b->p->group[d][row];
    if (group == SHOAL_NO_GROUP) continue;
    shoal_group_set *set = shoal_clusters_groups(b, c, d);
    uint64_t bit = UINT64_C(1) << (group % 64);
    if (!shoal_clusters_has_group(b, c, d, row, 1)) set->distinct++;
    set->twice |= set->once & bit;
    set->once |= bit;
  }
}

static void count_groups(shoal_clusters *b, uint32_t c) {
  const shoal_packed_rows *p = b->p;
  for (size_t d = 0; d < p->n_counts; d++) {
    shoal_group_set set = {0, 0, 0};
    uint32_t now = ++b->group_stamps;
    for (uint32_t r = b->head[c]; r != SHOAL_NIL; r = b->next[r]) {
      uint32_t group = p->group[d][r];
      if (group == SHOAL_NO_GROUP) continue;
      uint64_t bit = UINT64_C(1) << (group % 64);
      set.distinct += b->group_stamp[group] != now;
      b->group_stamp[group] = now;
      set.twice |= set.once & bit;
      set.once |= bit;
    }
    *shoal_clusters_groups(b, c, d) = set;
  }
}

/* ------------------------------------------------------------ rows in and out */

void shoal_clusters_put(shoal_clusters *b, uint32_t row, uint32_t c) {
  b->cluster_of[row] = c;
  b->prev[row] = SHOAL_NIL;
  b->next[row] = b->head[c];
  if (b->head[c] != SHOAL_NIL) b->prev[b->head[c]] = row;
  b->head[c] = row;
  b->total -= shoal_clusters_cost(b, c);
  b->n_live += !b->size[c]++;
  b->total += shoal_clusters_cost(b, c);
}

static void take_out(shoal_clusters *b, uint32_t row) {
  uint32_t c = b->cluster_of[row], before = b->prev[row], after = b->next[row];
  if (before == SHOAL_NIL) b->head[c] = after;
  else b->next[before] = after;
  if (after != SHOAL_NIL) b->prev[after] = before;
  b->total -= shoal_clusters_cost(b, c);
  b->n_live -= !--b->size[c];
  b->total += shoal_clusters_cost(b, c);
}

static void set_loss(shoal_clusters *b, uint32_t c, uint32_t loss) {
  b->total -= shoal_clusters_cost(b, c);
  b->loss[c] = loss;
  b->total += shoal_clusters_cost(b, c);
  b->changed[c] = ++b->clock;
  shoal_clusters_note(b, c);
}

void shoal_clusters_refresh(shoal_clusters *b, uint32_t c) {
  const shoal_packed_rows *p = b->p;
  uint32_t r = b->head[c], last = SHOAL_NIL;
  shoal_box box = shoal_clusters_box(b, c);
  count_groups(b, c);
  if (r == SHOAL_NIL) {
    set_loss(b, c, 0);
    return;
  }
  shoal_box_start(p, box, shoal_packed_values(p, p->tuple[r]));
  for (; r != SHOAL_NIL; r = b->next[r]) {
    if (p->tuple[r] != last) shoal_box_add(p, box, shoal_packed_values(p, p->tuple[r]));
    last = p->tuple[r];
  }
  set_loss(b, c, shoal_box_loss(p, box));
}

void shoal_clusters_merge(shoal_clusters *b, uint32_t from, uint32_t into) {
  uint32_t last = SHOAL_NIL;
  for (uint32_t r = b->head[from]; r != SHOAL_NIL; r = b->next[r]) {
    b->cluster_of[r] = into;
    last = r;
  }
  b->next[last] = b->head[into];
  if (b->head[into] != SHOAL_NIL) b->prev[b->head[into]] = last;
  b->head[into] = b->head[from];
  b->head[from] = SHOAL_NIL;
  b->total -= shoal_clusters_cost(b, from) + shoal_clusters_cost(b, into);
  b->size[into] += b->size[from];
  b->size[from] = b->loss[from] = 0;
  b->n_live--;
  b->total += shoal_clusters_cost(b, into);
  shoal_box_join(b->p, shoal_clusters_box(b, into), shoal_clusters_box(b, from));
  count_groups(b, into);
  shoal_clusters_note(b, from);
  set_loss(b, into, shoal_box_loss(b->p, shoal_clusters_box(b, into)));
}

void shoal_clusters_move(shoal_clusters *b, uint32_t row, uint32_t to) {
  const int16_t *values = shoal_packed_values(b->p, b->p->tuple[row]);
  shoal_box box = shoal_clusters_box(b, to);
  if (!shoal_grow(&b->moved, &b->moved_capacity, b->n_moved + 1, sizeof *b->moved) ||
      !shoal_grow(&b->moved_from, &b->from_capacity, b->n_moved + 1, sizeof *b->moved_from)) {
    atomic_store(&b->stop->failed, true);
    return;
  }
  b->origin[to] = b->origin[b->cluster_of[row]] = SHOAL_NIL;
  b->moved[b->n_moved] = row;
  b->moved_from[b->n_moved++] = b->cluster_of[row];
  if (!b->size[to])
    for (size_t d = 0; d < b->p->n_counts; d++)
      *shoal_clusters_groups(b, to, d) = (shoal_group_set){0, 0, 0};
  take_out(b, row);
  add_groups(b, to, row);
  bool first = !b->size[to];
  shoal_clusters_put(b, row, to);
  if (first) shoal_box_start(b->p, box, values);
  else shoal_box_add(b->p, box, values);
  set_loss(b, to, shoal_box_loss(b->p, box));
}

/* Lists each cluster that moves from number `since` on touch, once. */
static uint32_t list_touched(shoal_clusters *b, size_t since) {
  uint32_t n = 0;
  b->stamps++;
  for (size_t i = since; i < b->n_moved; i++) {
    const uint32_t ends[] = {b->moved_from[i], b->cluster_of[b->moved[i]]};
    for (size_t e = 0; e < 2; e++) {
      if (b->stamp[ends[e]] == b->stamps) continue;
      b->stamp[ends[e]] = b->stamps;
      b->touched[n++] = ends[e];
    }
  }
  return n;
}

void shoal_clusters_settle(shoal_clusters *b, size_t since) {
  uint32_t n = list_touched(b, since);
  for (uint32_t i = 0; i < n; i++) shoal_clusters_refresh(b, b->touched[i]);
}

void shoal_clusters_rollback(shoal_clusters *b, size_t n_kept) {
  uint32_t n = list_touched(b, n_kept);
  while (b->n_moved > n_kept) {
    uint32_t row = b->moved[--b->n_moved];
    take_out(b, row);
    shoal_clusters_put(b, row, b->moved_from[b->n_moved]);
  }
  for (uint32_t i = 0; i < n; i++) {
    uint64_t changed = b->changed[b->touched[i]];
    shoal_clusters_refresh(b, b->touched[i]);
    b->changed[b->touched[i]] = changed;
  }
}

/* ------------------------------------------------------------ requirements */

size_t shoal_clusters_lacking(const shoal_clusters *b, uint32_t c) {
  size_t d = 0;
  while (d < b->p->n_counts &&
         shoal_clusters_groups(b, c, d)->distinct >= b->p->fit->counts[d].least)
    d++;
  return d;
}

bool shoal_clusters_has_counts(const shoal_clusters *b, uint32_t c) {
  return b->size[c] >= b->p->fit->k && shoal_clusters_lacking(b, c) == b->p->n_counts;
}

bool shoal_clusters_satisfies(shoal_clusters *b, uint32_t c) {
  uint32_t n = 0;
  if (!shoal_clusters_has_counts(b, c)) return false;
  if (!b->p->fit->n_others) return true;
  for (uint32_t r = b->head[c]; r != SHOAL_NIL; r = b->next[r]) b->rows[n++] = b->p->row[r];
  bool holds = shoal_judging_others(&b->judging, b->rows, n);
  if (b->judging.failed) atomic_store(&b->stop->failed, true);
  return holds;
}

bool shoal_clusters_can_spare(const shoal_clusters *b, uint32_t row) {
  uint32_t c = b->cluster_of[row];
  if (b->size[c] <= b->p->fit->k) return false;
  for (size_t d = 0; d < b->p->n_counts; d++) {
    if (b->p->group[d][row] == SHOAL_NO_GROUP) continue;
    if (shoal_clusters_groups(b, c, d)->distinct > b->p->fit->counts[d].least) continue;
    if (!shoal_clusters_has_group(b, c, d, row, 2)) return false;
  }
  return true;
}
