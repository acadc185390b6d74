/* SPDX-License-Identifier: Apache-2.0 */
/* cluster/flock_clusters: memory of a block, its lists of rows, recorded moves, requirements. */
#include "cluster/flock_clusters.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/simd.h"

enum {
  MAX_LINE_VALUES = 1024,   /* of an axis with lines */
  MAX_LINE_CELLS = 1 << 22, /* of one axis */
};

/* ------------------------------------------------------------ memory */

void shoal_clusters_reset(shoal_clusters *b) {
  free(b->moves);
  if (b->checker.required) shoal_requirement_checker_reset(&b->checker);
  shoal_arena_reset(&b->arena);
  memset(b, 0, sizeof *b);
}

static bool allocate_rows(shoal_clusters *b) {
  size_t n = b->p->n;
  shoal_arena *arena = &b->arena;
  return SHOAL_ARENA_ARRAY(arena, b->cluster_of, n) && SHOAL_ARENA_ARRAY(arena, b->next, n) &&
         SHOAL_ARENA_ARRAY(arena, b->prev, n) && SHOAL_ARENA_ARRAY(arena, b->rows, n) &&
         SHOAL_ARENA_ZEROED(arena, b->tuple_index, b->p->n_tuples) &&
         SHOAL_ARENA_ZEROED(arena, b->group_stamp, n) &&
         shoal_packed_boxes_init(&b->scratch, b->p, shoal_clusters_scratch_boxes(), arena);
}

static bool allocate_clusters(shoal_clusters *b) {
  size_t room = b->room;
  shoal_arena *arena = &b->arena;
  return SHOAL_ARENA_ARRAY(arena, b->head, room) && SHOAL_ARENA_ARRAY(arena, b->size, room) &&
         SHOAL_ARENA_ARRAY(arena, b->loss, room) &&
         SHOAL_ARENA_ZEROED(arena, b->groups, room * b->p->n_counts) &&
         SHOAL_ARENA_ZEROED(arena, b->changed, room) && SHOAL_ARENA_ZEROED(arena, b->tried, room) &&
         SHOAL_ARENA_ZEROED(arena, b->stamp, room) && SHOAL_ARENA_ARRAY(arena, b->touched, room) &&
         SHOAL_ARENA_ARRAY(arena, b->donors, room) &&
         shoal_packed_boxes_init(&b->boxes, b->p, room, arena);
}

static bool allocate_table(shoal_clusters *b) {
  const shoal_packed_rows *p = b->p;
  size_t room = b->room;
  shoal_arena *arena = &b->arena;
  if (!SHOAL_ARENA_ZEROED(arena, b->lo, room * p->n_numbers) ||
      !SHOAL_ARENA_ZEROED(arena, b->hi, room * p->n_numbers) ||
      !SHOAL_ARENA_ZEROED(arena, b->own, room * (p->n_axes - p->n_spans)) ||
      !SHOAL_ARENA_ZEROED(arena, b->is_noted, room) ||
      !SHOAL_ARENA_ZEROED(arena, b->lines, p->n_axes) ||
      !SHOAL_ARENA_ZEROED(arena, b->active, p->n_axes) ||
      !SHOAL_ARENA_ZEROED(arena, b->n_active, p->n_axes) ||
      !SHOAL_ARENA_ZEROED(arena, b->weight, room) || !SHOAL_ARENA_ZEROED(arena, b->offset, room) ||
      !SHOAL_ARENA_ZEROED(arena, b->joint, room) ||
      !SHOAL_ARENA_ZEROED(arena, b->join_cost, room) ||
      !shoal_packed_boxes_init(&b->noted, p, room + 1, arena)) /* the last: scratch */
    return false;
  for (size_t q = p->n_numbers; q < p->n_axes; q++) {
    uint32_t n = p->axes[q].n_values;
    if (n > MAX_LINE_VALUES || n > MAX_LINE_CELLS / room) continue;
    if (!SHOAL_ARENA_ZEROED(arena, b->lines[q], (size_t)n * room) ||
        !SHOAL_ARENA_ARRAY(arena, b->active[q], n))
      return false;
    for (uint32_t v = 0; v < n; v++) b->active[q][v] = (uint16_t)v;
    b->n_active[q] = n;
  }
  return true;
}

static bool has_avx2(void) {
#if SHOAL_HAS_AVX2
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
            shoal_requirement_checker_init(&b->checker, p->required, NULL) == SHOAL_OK;
  if (!ok) {
    shoal_clusters_reset(b);
    return false;
  }
  memset(b->cluster_of, 0xff, (size_t)p->n * sizeof *b->cluster_of); /* SHOAL_NONE */
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

/* Rows keep their old cluster_of: the caller puts them into new clusters. */
void shoal_clusters_clear(shoal_clusters *b) {
  uint32_t n = b->n;
  b->n = b->n_live = 0;
  b->total = 0;
  b->n_moved = 0;
  for (uint32_t c = 0; c < n; c++) {
    b->head[c] = SHOAL_NONE;
    b->size[c] = b->loss[c] = 0;
    b->is_noted[c] = false;
    shoal_clusters_note(b, c);
  }
}

uint32_t shoal_clusters_open(shoal_clusters *b) {
  uint32_t c = b->n_live < b->n ? 0 : b->n;
  while (c < b->n && b->size[c]) c++;
  if (c == b->room) return SHOAL_NONE;
  if (c >= b->n) b->n = c + 1;
  return c;
}

/* ------------------------------------------------------------ groups */

/* Are there at least n_rows rows of a group from `row` on? */
static bool list_has(const shoal_clusters *b, uint32_t row, size_t d, uint32_t group,
                     uint32_t n_rows) {
  for (; row != SHOAL_NONE && n_rows; row = b->next[row]) n_rows -= b->p->group[d][row] == group;
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
    if (group == SHOAL_NONE) continue;
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
    for (uint32_t r = b->head[c]; r != SHOAL_NONE; r = b->next[r]) {
      uint32_t group = p->group[d][r];
      if (group == SHOAL_NONE) continue;
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
  b->prev[row] = SHOAL_NONE;
  b->next[row] = b->head[c];
  if (b->head[c] != SHOAL_NONE) b->prev[b->head[c]] = row;
  b->head[c] = row;
  b->total -= shoal_clusters_cost(b, c);
  b->n_live += !b->size[c]++;
  b->total += shoal_clusters_cost(b, c);
}

static void take_out(shoal_clusters *b, uint32_t row) {
  uint32_t c = b->cluster_of[row], before = b->prev[row], after = b->next[row];
  if (before == SHOAL_NONE) b->head[c] = after;
  else b->next[before] = after;
  if (after != SHOAL_NONE) b->prev[after] = before;
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
  uint32_t r = b->head[c], last = SHOAL_NONE;
  shoal_packed_box box = shoal_clusters_box(b, c);
  count_groups(b, c);
  if (r == SHOAL_NONE) {
    set_loss(b, c, 0);
    return;
  }
  shoal_packed_box_start(p, box, shoal_packed_values(p, p->tuple[r]));
  for (; r != SHOAL_NONE; r = b->next[r]) {
    if (p->tuple[r] != last) shoal_packed_box_add(p, box, shoal_packed_values(p, p->tuple[r]));
    last = p->tuple[r];
  }
  set_loss(b, c, shoal_packed_box_loss(p, box));
}

void shoal_clusters_merge(shoal_clusters *b, uint32_t from, uint32_t into) {
  uint32_t last = SHOAL_NONE;
  for (uint32_t r = b->head[from]; r != SHOAL_NONE; r = b->next[r]) {
    b->cluster_of[r] = into;
    last = r;
  }
  b->next[last] = b->head[into];
  if (b->head[into] != SHOAL_NONE) b->prev[b->head[into]] = last;
  b->head[into] = b->head[from];
  b->head[from] = SHOAL_NONE;
  b->total -= shoal_clusters_cost(b, from) + shoal_clusters_cost(b, into);
  b->size[into] += b->size[from];
  b->size[from] = b->loss[from] = 0;
  b->n_live--;
  b->total += shoal_clusters_cost(b, into);
  shoal_packed_box_join(b->p, shoal_clusters_box(b, into), shoal_clusters_box(b, from));
  count_groups(b, into);
  shoal_clusters_note(b, from);
  set_loss(b, into, shoal_packed_box_loss(b->p, shoal_clusters_box(b, into)));
}

void shoal_clusters_move(shoal_clusters *b, uint32_t row, uint32_t to) {
  const int16_t *values = shoal_packed_values(b->p, b->p->tuple[row]);
  shoal_packed_box box = shoal_clusters_box(b, to);
  if (!shoal_grow(&b->moves, &b->move_capacity, b->n_moved + 1, sizeof *b->moves)) {
    atomic_store(&b->stop->failed, true);
    return;
  }
  b->moves[b->n_moved++] = (shoal_move){row, b->cluster_of[row]};
  if (!b->size[to])
    for (size_t d = 0; d < b->p->n_counts; d++)
      *shoal_clusters_groups(b, to, d) = (shoal_group_set){0, 0, 0};
  take_out(b, row);
  add_groups(b, to, row);
  bool first = !b->size[to];
  shoal_clusters_put(b, row, to);
  if (first) shoal_packed_box_start(b->p, box, values);
  else shoal_packed_box_add(b->p, box, values);
  set_loss(b, to, shoal_packed_box_loss(b->p, box));
}

/* Lists each cluster that moves from number `since` on touch, once. */
static uint32_t list_touched(shoal_clusters *b, size_t since) {
  uint32_t n = 0;
  b->stamps++;
  for (size_t i = since; i < b->n_moved; i++) {
    const uint32_t ends[] = {b->moves[i].from, b->cluster_of[b->moves[i].row]};
    for (size_t e = 0; e < 2; e++) {
      if (b->stamp[ends[e]] == b->stamps) continue;
      b->stamp[ends[e]] = b->stamps;
      b->touched[n++] = ends[e];
    }
  }
  return n;
}

void shoal_clusters_recompute(shoal_clusters *b, size_t since) {
  uint32_t n = list_touched(b, since);
  for (uint32_t i = 0; i < n; i++) shoal_clusters_refresh(b, b->touched[i]);
}

void shoal_clusters_rollback(shoal_clusters *b, size_t n_kept) {
  uint32_t n = list_touched(b, n_kept);
  while (b->n_moved > n_kept) {
    shoal_move undone = b->moves[--b->n_moved];
    take_out(b, undone.row);
    shoal_clusters_put(b, undone.row, undone.from);
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
         shoal_clusters_groups(b, c, d)->distinct >= b->p->required->counts[d].min_distinct)
    d++;
  return d;
}

bool shoal_clusters_has_counts(const shoal_clusters *b, uint32_t c) {
  return b->size[c] >= b->p->required->k && shoal_clusters_lacking(b, c) == b->p->n_counts;
}

bool shoal_clusters_satisfies(shoal_clusters *b, uint32_t c) {
  uint32_t n = 0;
  if (!shoal_clusters_has_counts(b, c)) return false;
  if (!b->p->required->n_others) return true;
  for (uint32_t r = b->head[c]; r != SHOAL_NONE; r = b->next[r]) b->rows[n++] = b->p->row[r];
  bool holds = shoal_requirement_checker_others(&b->checker, b->rows, n);
  if (b->checker.failed) atomic_store(&b->stop->failed, true);
  return holds;
}

bool shoal_clusters_moves_satisfy(shoal_clusters *b, size_t since) {
  if (!b->p->required->n_others) return true;
  uint32_t n = list_touched(b, since);
  for (uint32_t i = 0; i < n; i++)
    if (b->size[b->touched[i]] && !shoal_clusters_satisfies(b, b->touched[i])) return false;
  return true;
}

bool shoal_clusters_may_leave(const shoal_clusters *b, uint32_t row) {
  uint32_t c = b->cluster_of[row];
  if (b->size[c] <= b->p->required->k) return false;
  for (size_t d = 0; d < b->p->n_counts; d++) {
    if (b->p->group[d][row] == SHOAL_NONE) continue;
    if (shoal_clusters_groups(b, c, d)->distinct > b->p->required->counts[d].min_distinct) continue;
    if (!shoal_clusters_has_group(b, c, d, row, 2)) return false;
  }
  return true;
}
