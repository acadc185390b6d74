/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster/flock_swarm_found: new columns where values are scarce. There single steps alone leave
 * too few clusters: each that could become two lacks some values for the second. So a box is tried
 * that covers a part of a column: below one child of a label, or one half of a number. All rows in
 * it that lose more where they are now, and that can be spared there, come to it; what values it
 * then lacks is borrowed, rarest choice first, from columns that lose less, as long as the rows
 * that came gain more than the borrowed ones lose.
 */
#include <string.h>

#include "cluster/flock_swarm.h"

enum {
  MOST_NEAR = 512, /* columns that rows may come from, */
  MOST_ROWS = 1024 /* and rows that are looked at */
};

typedef struct founding {
  shoal_swarm *swarm;
  const shoal_box *box;
  int64_t loss;                           /* of each row in it */
  uint32_t near[MOST_NEAR], n_near;       /* columns that may have rows to spare */
  uint32_t rows[MOST_ROWS], n, n_gaining; /* first those that gain */
  int64_t gain;                           /* of those that come */
  uint32_t to;                            /* the new column */
} founding;

/* What the row gains if it comes. */
static int64_t gain_of(const founding *f, uint32_t row) {
  const shoal_swarm *s = f->swarm;
  return (int64_t)s->loss[s->column[row]] - f->loss;
}

/* The groups that these rows lack; `any`: they lack rows. True: they lack something. */
static bool find_wanted(const founding *f, uint32_t n, shoal_wanted *wanted) {
  const shoal_ground *g = f->swarm->ground;
  uint64_t set = 0;
  wanted->any = n < g->fit->k;
  bool lacks = wanted->any;
  for (uint32_t i = 0; i < n; i++) set |= g->groups[f->rows[i]];
  for (size_t d = 0; d < g->n_counts; d++) {
    uint64_t has = set >> g->shift[d] & g->all_groups[d];
    wanted->groups[d] = shoal_n_groups(has) < g->fit->counts[d].least ? ~has : 0;
    lacks |= wanted->groups[d] != 0;
  }
  return lacks;
}

/* ------------------------------------------------------------ candidates */

/* Columns that may give rows; false: all of them together lack groups. */
static bool find_near(founding *f) {
  const shoal_swarm *s = f->swarm;
  const shoal_ground *g = s->ground;
  const shoal_wanted all = {.any = true};
  uint64_t found[SHOAL_SWARM_KNOWN] = {0};
  f->n_near = 0;
  for (uint32_t c = 0; c < s->n_columns && f->n_near < MOST_NEAR; c++) {
    if (s->size[c] == g->fit->k || !shoal_swarm_may_lend(s, c, f->box, &all)) continue;
    f->near[f->n_near++] = c;
    for (size_t d = 0; d < g->n_counts; d++) found[d] |= shoal_swarm_spare_groups(s, c, d);
  }
  for (size_t d = 0; d < g->n_counts; d++)
    if (shoal_n_groups(found[d]) < g->fit->counts[d].least) return false;
  return true;
}

/* Lists rows of columns that lose more than the box does, or of those that do not. */
static void list(founding *f, const shoal_wanted *wanted, bool gaining) {
  const shoal_swarm *s = f->swarm;
  for (uint32_t i = 0; i < f->n_near; i++) {
    int64_t gain = (int64_t)s->loss[f->near[i]] - f->loss;
    if (gaining ? gain > 0 : gain <= 0 && -gain < f->gain)
      f->n +=
          shoal_swarm_list_spare(s, f->near[i], f->box, wanted, f->rows + f->n, MOST_ROWS - f->n);
  }
}

/* False: all rows that may come do not fit. */
static bool list_all(founding *f) {
  shoal_wanted wanted = {.any = true};
  f->n = 0;
  f->gain = 0;
  list(f, &wanted, true);
  f->n_gaining = f->n;
  for (uint32_t i = 0; i < f->n; i++) f->gain += gain_of(f, f->rows[i]);
  if (!f->gain) return false;
  if (!find_wanted(f, f->n, &wanted)) return true;
  list(f, &wanted, false);
  return !find_wanted(f, f->n, &wanted);
}

/* ------------------------------------------------------------ moving */

/* Groups that the new column has no row of; `needed`: of counts that it still lacks groups of. */
static uint64_t find_new(const founding *f, bool needed) {
  const shoal_swarm *s = f->swarm;
  const shoal_ground *g = s->ground;
  uint64_t groups[SHOAL_SWARM_KNOWN];
  for (size_t d = 0; d < g->n_counts; d++) {
    size_t i = f->to * g->n_counts + d;
    bool enough = s->distinct[i] >= g->fit->counts[d].least;
    groups[d] = needed && enough ? 0 : ~s->groups[i];
  }
  return shoal_ground_pack(g, groups);
}

static void come(founding *f, uint32_t row) {
  f->gain += gain_of(f, row);
  shoal_swarm_move(f->swarm, row, f->to);
}

/* Those that gain: first rows of new groups, which may not be there to spare later. */
static void take_gaining(founding *f) {
  shoal_swarm *s = f->swarm;
  uint64_t new_groups = find_new(f, false), *groups = s->ground->groups;
  f->gain = 0;
  for (int round = 0; round < 2; round++)
    for (uint32_t i = 0; i < f->n_gaining && !s->failed; i++) {
      uint32_t row = f->rows[i];
      if (s->column[row] == f->to || (!round && !(groups[row] & new_groups))) continue;
      if (!shoal_swarm_spares(s, row)) continue;
      come(f, row);
      new_groups = find_new(f, false);
    }
}

/* Rows that add most groups, of equals what costs least, until it fits or costs too much. */
static void borrow(founding *f) {
  shoal_swarm *s = f->swarm;
  uint64_t k = s->ground->fit->k;
  while (f->gain > 0 && !s->failed && !shoal_swarm_fits(s, f->to)) {
    uint64_t new_groups = find_new(f, true);
    uint32_t best = SHOAL_NIL, most = 0, size = s->size[f->to] < k;
    int64_t least = 0;
    for (uint32_t i = f->n_gaining; i < f->n; i++) {
      uint32_t row = f->rows[i];
      if (!size && !(s->ground->groups[row] & new_groups)) continue;
      if (s->column[row] == f->to) continue;
      uint32_t own = 2 * shoal_n_groups(s->ground->groups[row] & new_groups) + size;
      int64_t gain = gain_of(f, row);
      if (best != SHOAL_NIL && (own < most || (own == most && gain <= least))) continue;
      if (!shoal_swarm_spares(s, row)) continue;
      best = row;
      most = own;
      least = gain;
    }
    if (best == SHOAL_NIL) return;
    come(f, best);
  }
}

static bool found_box(shoal_swarm *s, const shoal_box *box) {
  founding f; /* large: not to be cleared */
  f.swarm = s;
  f.box = box;
  f.loss = shoal_box_loss(s->ground, box);
  if (!find_near(&f) || !list_all(&f)) return false;
  f.to = shoal_swarm_take(s);
  if (f.to == SHOAL_NIL) return false;
  size_t before = s->n_moved;
  take_gaining(&f);
  borrow(&f);
  if (s->failed) return false;
  if (f.gain <= 0 || !shoal_swarm_fits(s, f.to)) {
    shoal_swarm_undo(s, before);
    return false;
  }
  for (size_t i = before; i < s->n_moved; i++) shoal_swarm_settle(s, s->moved_from[i]);
  return true;
}

/* ------------------------------------------------------------ parts of a column */

/* The box of its rows from lo to hi, or below the label lo; false: there are none. */
static bool part_of(const shoal_swarm *s, uint32_t column, size_t q, uint32_t lo, uint32_t hi,
                    shoal_box *box) {
  const shoal_ground *g = s->ground;
  const shoal_ground_tree *tree = &g->trees[q];
  bool any = false;
  if (q >= g->n_numbers) {
    hi = tree->last[lo];
    lo = tree->first[lo];
  }
  for (uint32_t r = s->head[column]; r != SHOAL_NIL; r = s->next[r]) {
    const uint16_t *values = shoal_ground_values(g, r);
    if (values[q] < lo || values[q] > hi) continue;
    if (!any) shoal_box_start(g, box, values);
    else shoal_box_add(g, box, values);
    any = true;
  }
  return any;
}

/* One half of a number's range, or the other. */
static bool found_half(shoal_swarm *s, uint32_t column, size_t q) {
  uint32_t lo = (uint32_t)s->box[column].lo[q], hi = (uint32_t)s->box[column].hi[q];
  uint32_t middle = lo + (hi - lo) / 2;
  shoal_box box;
  if (part_of(s, column, q, lo, middle, &box) && found_box(s, &box)) return true;
  return part_of(s, column, q, middle, hi, &box) && found_box(s, &box);
}

bool shoal_swarm_found(shoal_swarm *s, uint32_t column) {
  const shoal_ground *g = s->ground;
  shoal_box box;
  for (size_t q = g->n_numbers; q < g->n_axes; q++) {
    const shoal_ground_tree *tree = &g->trees[q];
    uint32_t top = (uint32_t)s->box[column].lo[q];
    for (uint32_t label = 0; label < tree->n_labels && !s->failed; label++)
      if (label != top && tree->parent[label] == top && part_of(s, column, q, label, label, &box) &&
          found_box(s, &box))
        return true;
  }
  for (size_t q = 0; q < g->n_numbers && !s->failed; q++)
    if (s->box[column].lo[q] < s->box[column].hi[q] && found_half(s, column, q)) return true;
  return false;
}
