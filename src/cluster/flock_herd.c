/* SPDX-License-Identifier: Apache-2.0 */
/* cluster/flock_herd: the clusters of a block and their figures; see flock.h. */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/sort.h"
#include "cluster/flock.h"

enum { WORST = 16 };

/* ------------------------------------------------------------ building */

void shoal_herd_reset(shoal_herd *h) {
  for (size_t d = 0; d < h->n_counts; d++) {
    if (h->group) free(h->group[d]);
    if (h->seen) free(h->seen[d]);
  }
  void *const owned[] = {
      h->row,          h->tuple,        h->places,        h->group,    h->cluster_of, h->next,
      h->prev,         h->head,         h->size,          h->loss,     h->extent,     h->axis_loss,
      h->variety,      h->has_ends,     h->free_slots,    h->at,       h->position,   h->worst,
      h->changed,      h->tried,        h->mixed,         h->moved,    h->moved_from, h->saved,
      h->saved_extent, h->saved_losses, h->saved_variety, h->saved_at, h->seen,       h->ends,
      h->span,         h->list,         h->set,           h->keys,     h->n_groups};
  for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) free(owned[i]);
  if (h->judging.fit) shoal_judging_reset(&h->judging);
  memset(h, 0, sizeof *h);
}

static bool allocate_rows(shoal_herd *h) {
  h->row = shoal_alloc(h->n, sizeof *h->row);
  h->tuple = shoal_alloc(h->n, sizeof *h->tuple);
  h->cluster_of = shoal_alloc(h->n, sizeof *h->cluster_of);
  h->next = shoal_alloc(h->n, sizeof *h->next);
  h->prev = shoal_alloc(h->n, sizeof *h->prev);
  h->list = shoal_alloc(h->n, sizeof *h->list);
  h->set = shoal_alloc(h->n, sizeof *h->set);
  h->keys = shoal_alloc(h->n, sizeof *h->keys);
  h->group = shoal_alloc_zero(h->n_counts, sizeof *h->group);
  h->seen = shoal_alloc_zero(h->n_counts, sizeof *h->seen);
  h->n_groups = shoal_alloc_zero(h->n_counts, sizeof *h->n_groups);
  h->span = shoal_alloc(h->n_axes, sizeof *h->span);
  h->worst = shoal_alloc(WORST, sizeof *h->worst);
  if (!h->row || !h->tuple || !h->cluster_of || !h->next || !h->prev || !h->list || !h->set ||
      !h->keys || !h->group || !h->seen || !h->n_groups || !h->span || !h->worst)
    return false;
  for (size_t d = 0; d < h->n_counts; d++) {
    h->group[d] = shoal_alloc(h->n, sizeof **h->group);
    if (!h->group[d]) return false;
  }
  return true;
}

/* Few groups keep their numbers. */
static bool keep_groups(shoal_herd *h, size_t d) {
  for (uint32_t i = 0; i < h->n; i++)
    h->group[d][i] = shoal_count_group(&h->fit->counts[d], h->row[i]);
  h->n_groups[d] = h->fit->counts[d].n_groups;
  h->seen[d] = shoal_alloc_zero(h->n_groups[d], sizeof **h->seen);
  return h->seen[d] != NULL;
}

/* Else they are numbered anew, as they appear: a block may have few of very many. */
static bool fill_groups(shoal_herd *h, size_t d) {
  if (h->fit->counts[d].n_groups <= 64) return keep_groups(h, d);
  shoal_ids ids;
  if (!shoal_ids_init(&ids, 64)) return false;
  bool ok = true;
  for (uint32_t i = 0; ok && i < h->n; i++) {
    uint32_t group = shoal_count_group(&h->fit->counts[d], h->row[i]);
    h->group[d][i] = group == SHOAL_NO_GROUP ? group : shoal_ids_insert(&ids, group);
    ok = group == SHOAL_NO_GROUP || h->group[d][i] != SHOAL_NO_ID;
  }
  h->n_groups[d] = ids.n_ids;
  shoal_ids_reset(&ids);
  if (ok) h->seen[d] = shoal_alloc_zero(h->n_groups[d], sizeof **h->seen);
  return ok && h->seen[d];
}

/* Rows of one tuple are neighbours in `rows`: a new tuple starts where the tuple changes. */
static bool fill_rows(shoal_herd *h, const uint32_t *rows) {
  const shoal_axes *axes = h->axes;
  for (uint32_t i = 0; i < h->n; i++) {
    bool first = i == 0 || axes->tuple_of_row[rows[i]] != axes->tuple_of_row[rows[i - 1]];
    h->row[i] = rows[i];
    h->n_tuples += first;
    h->tuple[i] = h->n_tuples - 1;
  }
  for (size_t d = 0; d < h->n_counts; d++)
    if (!fill_groups(h, d)) return false;
  h->places = shoal_alloc((size_t)h->n_tuples * h->n_axes, sizeof *h->places);
  if (!h->places) return false;
  for (uint32_t i = 0; i < h->n; i++)
    if (i == 0 || h->tuple[i] != h->tuple[i - 1])
      memcpy(h->places + (size_t)h->tuple[i] * h->n_axes, shoal_axes_row(axes, rows[i]),
             h->n_axes * sizeof *h->places);
  return true;
}

void shoal_herd_clear(shoal_herd *h) {
  for (uint32_t c = 0; c < h->n_slots; c++) {
    h->head[c] = SHOAL_NIL;
    h->position[c] = SHOAL_NIL;
    h->size[c] = 0;
    h->loss[c] = 0;
    h->free_slots[c] = h->n_slots - 1 - c;
  }
  h->n_free = h->n_slots;
}

static bool allocate_slots(shoal_herd *h) {
  uint64_t wanted = (uint64_t)h->n_tuples + h->n / h->fit->k + 16;
  if (wanted >= SHOAL_NIL) return false;
  uint32_t slots = (uint32_t)wanted;
  h->n_slots = slots;
  h->head = shoal_alloc(slots, sizeof *h->head);
  h->size = shoal_alloc_zero(slots, sizeof *h->size);
  h->loss = shoal_alloc_zero(slots, sizeof *h->loss);
  h->extent = shoal_alloc((size_t)slots * h->n_axes, sizeof *h->extent);
  h->axis_loss = shoal_alloc_zero((size_t)slots * h->n_axes, sizeof *h->axis_loss);
  h->variety = shoal_alloc_zero((size_t)slots * h->n_counts, sizeof *h->variety);
  h->ends = shoal_alloc((size_t)slots * h->n_axes, sizeof *h->ends);
  h->has_ends = shoal_alloc_zero(slots, 1);
  h->free_slots = shoal_alloc(slots, sizeof *h->free_slots);
  h->at = shoal_alloc(slots, sizeof *h->at);
  h->position = shoal_alloc(slots, sizeof *h->position);
  h->changed = shoal_alloc_zero(slots, sizeof *h->changed);
  h->tried = shoal_alloc_zero(slots, sizeof *h->tried);
  h->mixed = shoal_alloc_zero(slots, sizeof *h->mixed);
  h->saved_at = shoal_alloc_zero(slots, sizeof *h->saved_at);
  if (!h->head || !h->size || !h->loss || !h->extent || !h->axis_loss || !h->variety || !h->ends ||
      !h->has_ends || !h->free_slots || !h->at || !h->position || !h->changed || !h->tried ||
      !h->mixed || !h->saved_at)
    return false;
  h->clock = 1;
  shoal_herd_clear(h);
  return true;
}

shoal_status shoal_herd_init(shoal_herd *h, const shoal_cluster_task *task, const uint32_t *rows,
                             uint32_t n, shoal_error *error) {
  *h = (shoal_herd){.axes = task->axes,
                    .fit = task->fit,
                    .aim = task->aim,
                    .n_axes = task->axes->n,
                    .n_counts = task->fit->n_counts,
                    .n = n,
                    .reach = SHOAL_REACH,
                    .limit = UINT64_MAX};
  h->judging.fit = task->fit; /* for the demands that are no count: it needs nothing more */
  if (allocate_rows(h) && fill_rows(h, rows) && allocate_slots(h)) return SHOAL_OK;
  shoal_herd_reset(h);
  return shoal_fail_memory(error);
}

/* ------------------------------------------------------------ clusters */

uint32_t shoal_herd_take(shoal_herd *h) {
  return h->n_free ? h->free_slots[--h->n_free] : SHOAL_NIL;
}

void shoal_herd_release(shoal_herd *h, uint32_t cluster) { h->free_slots[h->n_free++] = cluster; }

void shoal_herd_link(shoal_herd *h, uint32_t row, uint32_t cluster) {
  uint32_t first = h->head[cluster];
  h->cluster_of[row] = cluster;
  h->prev[row] = SHOAL_NIL;
  h->next[row] = first;
  if (first != SHOAL_NIL) h->prev[first] = row;
  h->head[cluster] = row;
  h->has_ends[cluster] = 0;
}

void shoal_herd_unlink(shoal_herd *h, uint32_t row) {
  uint32_t before = h->prev[row], behind = h->next[row];
  if (before == SHOAL_NIL) h->head[h->cluster_of[row]] = behind;
  else h->next[before] = behind;
  if (behind != SHOAL_NIL) h->prev[behind] = before;
  h->has_ends[h->cluster_of[row]] = 0;
}

static void refresh_loss(shoal_herd *h, uint32_t c) {
  const shoal_span *extent = h->extent + (size_t)c * h->n_axes;
  uint32_t *losses = h->axis_loss + (size_t)c * h->n_axes, loss = 0;
  for (size_t q = 0; q < h->n_axes; q++)
    loss += losses[q] = shoal_axis_loss(&h->axes->items[q], extent[q].lo, extent[q].hi);
  h->loss[c] = loss;
}

static void note_group(shoal_variety *v, uint32_t group, bool first) {
  uint64_t bit = UINT64_C(1) << group % 64;
  if (first) v->distinct++;
  if (v->groups & bit) v->twice |= bit;
  v->groups |= bit;
}

static void refresh_counts(shoal_herd *h, uint32_t c) {
  for (size_t d = 0; d < h->n_counts; d++) {
    const uint32_t *group = h->group[d];
    uint32_t *seen = h->seen[d];
    shoal_variety *v = shoal_herd_variety(h, c, d);
    *v = (shoal_variety){0, 0, 0};
    for (uint32_t r = h->head[c]; r != SHOAL_NIL; r = h->next[r])
      if (group[r] != SHOAL_NO_GROUP) note_group(v, group[r], seen[group[r]]++ == 0);
    for (uint32_t r = h->head[c]; r != SHOAL_NIL; r = h->next[r])
      if (group[r] != SHOAL_NO_GROUP) seen[group[r]] = 0;
  }
}

void shoal_herd_refresh(shoal_herd *h, uint32_t c) {
  h->changed[c] = ++h->clock;
  h->size[c] = 0;
  h->loss[c] = 0;
  uint32_t r = h->head[c], last = SHOAL_NIL;
  if (r == SHOAL_NIL) {
    refresh_counts(h, c);
    return;
  }
  shoal_span *extent = h->extent + (size_t)c * h->n_axes;
  shoal_extent_start(h->axes, extent, shoal_herd_places(h, r));
  for (; r != SHOAL_NIL; r = h->next[r]) {
    if (h->tuple[r] != last) shoal_extent_add(h->axes, extent, shoal_herd_places(h, r));
    last = h->tuple[r];
    h->size[c]++;
  }
  refresh_loss(h, c);
  refresh_counts(h, c);
  h->work += h->size[c] / 8;
}

void shoal_herd_make_tuples(shoal_herd *h) {
  for (uint32_t t = 0; t < h->n_tuples; t++) (void)shoal_herd_take(h);
  for (uint32_t r = h->n; r-- > 0;) shoal_herd_link(h, r, h->tuple[r]);
  for (uint32_t t = 0; t < h->n_tuples; t++) shoal_herd_refresh(h, t);
}

void shoal_herd_join(shoal_herd *h, uint32_t row, uint32_t to) {
  shoal_span *extent = h->extent + (size_t)to * h->n_axes;
  for (size_t d = 0; d < h->n_counts; d++) {
    uint32_t group = h->group[d][row];
    if (group == SHOAL_NO_GROUP) continue;
    note_group(shoal_herd_variety(h, to, d), group, !shoal_herd_has(h, to, d, group, 1));
  }
  if (h->size[to]++ == 0) shoal_extent_start(h->axes, extent, shoal_herd_places(h, row));
  else shoal_extent_add(h->axes, extent, shoal_herd_places(h, row));
  refresh_loss(h, to);
  shoal_herd_link(h, row, to);
}

/* What both have of the groups: by their sets where these are exact, else by the rows. */
static void absorb_counts(shoal_herd *h, uint32_t c, uint32_t into) {
  bool exact = true;
  for (size_t d = 0; d < h->n_counts; d++) {
    const shoal_variety *from = shoal_herd_variety(h, c, d);
    shoal_variety *to = shoal_herd_variety(h, into, d);
    exact = exact && h->n_groups[d] <= 64;
    to->twice |= from->twice | (to->groups & from->groups);
    to->groups |= from->groups;
    to->distinct = (uint32_t)__builtin_popcountll(to->groups);
  }
  if (!exact) refresh_counts(h, into);
}

void shoal_herd_absorb(shoal_herd *h, uint32_t c, uint32_t into) {
  uint32_t last = SHOAL_NIL;
  for (uint32_t r = h->head[c]; r != SHOAL_NIL; r = h->next[r]) {
    h->cluster_of[r] = into;
    last = r;
  }
  if (last != SHOAL_NIL) { /* its list goes in front of the other one */
    h->next[last] = h->head[into];
    if (h->head[into] != SHOAL_NIL) h->prev[h->head[into]] = last;
    h->head[into] = h->head[c];
  }
  h->head[c] = SHOAL_NIL;
  h->has_ends[into] = 0;
  shoal_extent_join(h->axes, h->extent + (size_t)into * h->n_axes,
                    h->extent + (size_t)c * h->n_axes);
  h->size[into] += h->size[c];
  refresh_loss(h, into);
  absorb_counts(h, c, into);
  h->changed[into] = ++h->clock;
  h->size[c] = 0;
  h->loss[c] = 0;
  shoal_herd_release(h, c);
}

uint64_t shoal_herd_total(const shoal_herd *h) {
  uint64_t total = 0;
  for (uint32_t c = 0; c < h->n_slots; c++) total += shoal_herd_cost(h, c);
  return total;
}

bool shoal_herd_has(const shoal_herd *h, uint32_t c, size_t count, uint32_t group,
                    uint32_t n_rows) {
  const shoal_variety *v = shoal_herd_variety(h, c, count);
  if (h->n_groups[count] <= 64) return (n_rows == 1 ? v->groups : v->twice) >> group & 1;
  for (uint32_t r = h->head[c]; n_rows && r != SHOAL_NIL; r = h->next[r])
    n_rows -= h->group[count][r] == group;
  return n_rows == 0;
}

static bool counts_hold(const shoal_herd *h, uint32_t c) {
  for (size_t d = 0; d < h->n_counts; d++)
    if (shoal_herd_variety(h, c, d)->distinct < h->fit->counts[d].least) return false;
  return h->size[c] >= h->fit->k;
}

bool shoal_herd_fits(shoal_herd *h, uint32_t c) {
  if (!counts_hold(h, c)) return false;
  if (!h->fit->n_others) return true;
  uint32_t n = 0;
  for (uint32_t r = h->head[c]; r != SHOAL_NIL; r = h->next[r]) h->list[n++] = h->row[r];
  bool fits = shoal_judging_others(&h->judging, h->list, n);
  h->failed = h->failed || h->judging.failed;
  return fits;
}

bool shoal_herd_spares(const shoal_herd *h, uint32_t row) {
  uint32_t c = h->cluster_of[row];
  if (h->size[c] <= h->fit->k) return false;
  for (size_t d = 0; d < h->n_counts; d++) {
    uint32_t group = h->group[d][row];
    if (shoal_herd_variety(h, c, d)->distinct > h->fit->counts[d].least) continue;
    if (group != SHOAL_NO_GROUP && !shoal_herd_has(h, c, d, group, 2)) return false;
  }
  return true;
}

/* ------------------------------------------------------------ ends */

static void note_place(shoal_ends *e, uint32_t place) {
  if (place < e->lo) {
    e->next_lo = e->lo;
    e->lo = place;
    e->n_lo = 1;
  } else if (place == e->lo) e->n_lo++;
  else if (place < e->next_lo) e->next_lo = place;
  if (!e->n_hi || place > e->hi) {
    e->next_hi = e->n_hi ? e->hi : 0;
    e->hi = place;
    e->n_hi = 1;
  } else if (place == e->hi) e->n_hi++;
  else if (place > e->next_hi) e->next_hi = place;
}

const shoal_ends *shoal_herd_ends(shoal_herd *h, uint32_t c) {
  shoal_ends *ends = h->ends + (size_t)c * h->n_axes;
  if (h->has_ends[c]) return ends;
  h->has_ends[c] = 1;
  for (size_t q = 0; q < h->n_axes; q++) ends[q] = (shoal_ends){SHOAL_NIL, SHOAL_NIL, 0, 0, 0, 0};
  for (uint32_t r = h->head[c]; r != SHOAL_NIL; r = h->next[r]) {
    const uint32_t *places = shoal_herd_places(h, r);
    for (size_t q = 0; q < h->n_axes; q++) note_place(&ends[q], places[q]);
  }
  return ends;
}

uint32_t shoal_herd_loss_without(const shoal_herd *h, const shoal_ends *ends,
                                 const uint32_t *places) {
  uint32_t loss = 0;
  for (size_t q = 0; q < h->n_axes; q++) {
    const shoal_ends *e = &ends[q];
    if (e->lo == e->hi) continue;
    uint32_t lo = places[q] == e->lo && e->n_lo == 1 ? e->next_lo : e->lo;
    uint32_t hi = places[q] == e->hi && e->n_hi == 1 ? e->next_hi : e->hi;
    if (lo < hi) loss += shoal_axis_loss(&h->axes->items[q], lo, hi);
  }
  return loss;
}

uint32_t shoal_herd_least_loss_without(const shoal_herd *h, const shoal_ends *ends) {
  uint32_t loss = 0;
  for (size_t q = 0; q < h->n_axes; q++) {
    const shoal_ends *e = &ends[q];
    uint32_t lo = e->n_lo == 1 ? e->next_lo : e->lo, hi = e->n_hi == 1 ? e->next_hi : e->hi;
    if (e->lo < e->hi && lo < hi) loss += shoal_axis_loss(&h->axes->items[q], lo, hi);
  }
  return loss;
}

/* ------------------------------------------------------------ neighbours */

/* Keeps the clusters of largest loss, largest first. */
static void note_worst(shoal_herd *h, uint32_t c) {
  if (!h->loss[c]) return;
  if (h->n_worst == WORST && h->loss[c] <= h->loss[h->worst[WORST - 1]]) return;
  uint32_t at = h->n_worst < WORST ? h->n_worst++ : WORST - 1;
  for (; at > 0 && h->loss[h->worst[at - 1]] < h->loss[c]; at--) h->worst[at] = h->worst[at - 1];
  h->worst[at] = c;
}

void shoal_herd_arrange(shoal_herd *h) {
  h->n_at = 0;
  h->n_worst = 0;
  for (uint32_t c = 0; c < h->n_slots; c++) {
    h->position[c] = SHOAL_NIL;
    if (!h->size[c]) continue;
    uint64_t sum = 0;
    for (uint32_t r = h->head[c]; r != SHOAL_NIL; r = h->next[r]) sum += r;
    h->keys[h->n_at++] = sum / h->size[c] << 32 | c;
  }
  shoal_sort_keys(h->keys, h->n_at);
  for (uint32_t i = 0; i < h->n_at; i++) {
    uint32_t c = (uint32_t)h->keys[i];
    h->at[i] = c;
    h->position[c] = i;
    note_worst(h, c);
  }
}
