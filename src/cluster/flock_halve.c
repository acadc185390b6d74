/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster/flock_halve: a given number of clusters, from the top down. The rows, in the flock's
 * order, are cut in two where the two parts lose least, each part with its share of the clusters,
 * and so on until a part is one cluster.
 *
 * m clusters can each have p distinct groups of an attribute if, and for one attribute only if, the
 * sum over groups of min(rows of the group, m) is at least p x m: a group serves each cluster once
 * (the second necessary condition of Truta, Campan & Meyer 2007 says the same). Both parts of a cut
 * must have that, for every count, and k rows for each cluster: rows that one part can do without
 * change sides, those next to the cut first.
 */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "cluster/flock.h"

/* One side of a cut. */
typedef struct side {
  uint32_t clusters; /* that it must become */
  uint64_t rows;
  uint64_t *sum;     /* by count: sum of min(rows of the group, clusters) */
  uint32_t **groups; /* by count, by group: rows */
} side;

/* A stretch of the rows, and how many clusters it is to become. */
typedef struct part {
  uint32_t first, n, clusters;
} part;

/* Parts of up to so many rows are also tried with the paper's algorithm, which counts first. */
enum { LARGE = 32768 };

typedef struct halving {
  shoal_herd *herd;
  uint32_t *rows;    /* the herd's rows, part by part */
  uint32_t *scratch; /* as many */
  uint8_t *right;    /* by place in `rows`: on the right side of the cut at hand */
  uint64_t *cost;    /* by place: of all rows of the part up to it */
  uint32_t *label;   /* by row of the herd: its cluster so far */
  uint32_t n_labels;
  side sides[2];
} halving;

/* ------------------------------------------------------------ sides */

static uint64_t lack(const halving *v, const side *s) {
  const shoal_herd *h = v->herd;
  uint64_t lacking = 0;
  for (size_t d = 0; d < h->n_counts; d++) {
    uint64_t needed = (uint64_t)h->fit->counts[d].least * s->clusters;
    if (s->sum[d] < needed) lacking += needed - s->sum[d];
  }
  return lacking;
}

static void put(const halving *v, side *s, uint32_t row, bool in) {
  const shoal_herd *h = v->herd;
  if (in) s->rows++;
  else s->rows--;
  for (size_t d = 0; d < h->n_counts; d++) {
    uint32_t group = h->group[d][row];
    if (group == SHOAL_NO_GROUP) continue;
    if (in) s->sum[d] += s->groups[d][group]++ < s->clusters;
    else s->sum[d] -= --s->groups[d][group] < s->clusters;
  }
}

static void clear_side(const halving *v, side *s, uint32_t clusters) {
  const shoal_herd *h = v->herd;
  s->clusters = clusters;
  s->rows = 0;
  for (size_t d = 0; d < h->n_counts; d++) s->sum[d] = 0;
}

/* Takes the rows out of both sides again; work is by rows, however many groups there are. */
static void empty_sides(halving *v, const part *p) {
  const shoal_herd *h = v->herd;
  for (size_t d = 0; d < h->n_counts; d++)
    for (uint32_t i = 0; i < p->n; i++) {
      uint32_t group = h->group[d][v->rows[p->first + i]];
      if (group != SHOAL_NO_GROUP) v->sides[0].groups[d][group] = v->sides[1].groups[d][group] = 0;
    }
}

/* Would the side's lack fall, or that of both together, if the row came over? */
static bool helps(halving *v, side *to, side *from, uint32_t row, uint64_t *lacking) {
  put(v, from, row, false);
  put(v, to, row, true);
  uint64_t now = lack(v, to) + lack(v, from);
  if (now < *lacking) {
    *lacking = now;
    return true;
  }
  put(v, to, row, false);
  put(v, from, row, true);
  return false;
}

/* Does neither side lack more if the row goes over? */
static bool can_go(halving *v, side *to, side *from, uint32_t row, uint64_t *lacking) {
  put(v, from, row, false);
  put(v, to, row, true);
  uint64_t now = lack(v, to) + lack(v, from);
  if (now <= *lacking) {
    *lacking = now;
    return true;
  }
  put(v, to, row, false);
  put(v, from, row, true);
  return false;
}

/* Rows of one side, those next to the cut first, go over where that helps against a lack. */
static void pull(halving *v, const part *p, uint32_t cut, int to, uint64_t *lacking) {
  const uint32_t *rows = v->rows + p->first;
  uint8_t *right = v->right + p->first;
  for (uint32_t step = 1; step <= p->n && *lacking; step++) {
    uint32_t i = to == 0 ? cut + step - 1 : cut - step;
    if (to == 0 ? i >= p->n : step > cut) return;
    if (right[i] == to) continue;
    if (helps(v, &v->sides[to], &v->sides[1 - to], rows[i], lacking)) right[i] = (uint8_t)to;
  }
}

/* Rows go over to a side that has too few for its clusters, where that does no harm. */
static void even_out(halving *v, const part *p, uint32_t cut, int to, uint64_t *lacking) {
  uint64_t k = v->herd->fit->k;
  side *s = &v->sides[to];
  const uint32_t *rows = v->rows + p->first;
  uint8_t *right = v->right + p->first;
  for (uint32_t step = 1; step <= p->n && s->rows < s->clusters * k; step++) {
    uint32_t i = to == 0 ? cut + step - 1 : cut - step;
    if (to == 0 ? i >= p->n : step > cut) break;
    if (right[i] == to) continue;
    if (can_go(v, s, &v->sides[1 - to], rows[i], lacking)) right[i] = (uint8_t)to;
  }
  for (uint32_t i = 0; i < p->n && s->rows < s->clusters * k; i++) /* last: who came before */
    if (right[i] != to && can_go(v, s, &v->sides[1 - to], rows[i], lacking)) right[i] = (uint8_t)to;
}

/* ------------------------------------------------------------ where to cut */

/* The cut after which the parts lose least; *left receives the clusters of the left part. */
static uint32_t choose_cut(halving *v, const part *p, uint32_t *left) {
  shoal_herd *h = v->herd;
  const uint32_t *rows = v->rows + p->first;
  uint64_t *cost = v->cost + p->first, best = UINT64_MAX;
  uint64_t k = h->fit->k;
  uint32_t at = 0;
  shoal_extent_start(h->axes, h->span, shoal_herd_places(h, rows[0]));
  for (uint32_t i = 0; i < p->n; i++) {
    shoal_extent_add(h->axes, h->span, shoal_herd_places(h, rows[i]));
    cost[i] = (uint64_t)(i + 1) * shoal_extent_loss(h->axes, h->span);
  }
  uint32_t low = p->clusters < 4 ? 1 : p->clusters / 4;
  shoal_extent_start(h->axes, h->span, shoal_herd_places(h, rows[p->n - 1]));
  for (uint32_t i = p->n - 1; i > 0; i--) { /* rows before i are on the left */
    shoal_extent_add(h->axes, h->span, shoal_herd_places(h, rows[i]));
    uint64_t mine = (uint64_t)p->clusters * i / p->n;
    for (uint64_t m = mine; m <= mine + 1; m++) {
      if (m < low || m > p->clusters - low || i < m * k || p->n - i < (p->clusters - m) * k)
        continue;
      if (h->aim == SHOAL_AIM_DM && i != m * p->n / p->clusters) continue;
      uint64_t sum = cost[i - 1] + (uint64_t)(p->n - i) * shoal_extent_loss(h->axes, h->span);
      if (sum >= best) continue;
      best = sum;
      at = i;
      *left = (uint32_t)m;
    }
  }
  if (at) return at;
  *left = p->clusters / 2; /* no cut leaves k rows for each: the nearest to the middle does */
  return (uint32_t)((uint64_t)p->n * *left / p->clusters);
}

/* Cuts a part in two; the rows of the left one come first. */
static void divide(halving *v, part p, part *left, part *right) {
  uint32_t clusters = 0, cut = choose_cut(v, &p, &clusters);
  uint32_t *rows = v->rows + p.first;
  uint8_t *is_right = v->right + p.first;
  clear_side(v, &v->sides[0], clusters);
  clear_side(v, &v->sides[1], p.clusters - clusters);
  for (uint32_t i = 0; i < p.n; i++) {
    is_right[i] = i >= cut;
    put(v, &v->sides[is_right[i]], rows[i], true);
  }
  uint64_t lacking = lack(v, &v->sides[0]) + lack(v, &v->sides[1]), before = UINT64_MAX;
  while (lacking && lacking < before) {
    before = lacking;
    pull(v, &p, cut, 0, &lacking);
    pull(v, &p, cut, 1, &lacking);
  }
  even_out(v, &p, cut, 0, &lacking);
  even_out(v, &p, cut, 1, &lacking);
  empty_sides(v, &p);
  uint32_t n = 0, others = 0;
  for (uint32_t i = 0; i < p.n; i++) {
    if (is_right[i]) v->scratch[others++] = rows[i];
    else rows[n++] = rows[i];
  }
  memcpy(rows + n, v->scratch, others * sizeof *rows);
  *left = (part){p.first, n, clusters};
  *right = (part){p.first + n, others, p.clusters - clusters};
}

static bool is_one(const halving *v, part p) {
  const shoal_herd *h = v->herd;
  const uint32_t *rows = v->rows + p.first;
  if (p.n < h->fit->k) return false;
  for (size_t d = 0; d < h->n_counts; d++) {
    uint32_t distinct = 0, *seen = h->seen[d];
    for (uint32_t i = 0; i < p.n; i++)
      if (h->group[d][rows[i]] != SHOAL_NO_GROUP) distinct += seen[h->group[d][rows[i]]]++ == 0;
    for (uint32_t i = 0; i < p.n; i++)
      if (h->group[d][rows[i]] != SHOAL_NO_GROUP) seen[h->group[d][rows[i]]] = 0;
    if (distinct < h->fit->counts[d].least) return false;
  }
  return true;
}

/* The part as the paper's algorithm divides it, if that makes more clusters than `found`. */
static uint32_t by_counts(halving *v, part p, uint32_t found) {
  shoal_herd *h = v->herd;
  uint32_t n_clusters = 0;
  if (!h->n_counts || p.n > LARGE) return found;
  if (!shoal_flock_by_counts(h, v->rows + p.first, p.n, v->scratch, &n_clusters)) {
    h->failed = true;
    return found;
  }
  if (n_clusters <= found) return found;
  for (uint32_t i = 0; i < p.n; i++) v->label[v->rows[p.first + i]] = v->n_labels + v->scratch[i];
  v->n_labels += n_clusters;
  return n_clusters;
}

/* Divides a part into clusters; returns how many of them satisfy size and counts. */
static uint32_t solve(halving *v, part p) {
  if (!p.n || v->herd->failed) return 0;
  if (p.clusters < 2) {
    for (uint32_t i = 0; i < p.n; i++) v->label[v->rows[p.first + i]] = v->n_labels;
    v->n_labels++;
    return is_one(v, p);
  }
  part left, right;
  divide(v, p, &left, &right);
  uint32_t found = solve(v, left);
  found += solve(v, right);
  return found < p.clusters ? by_counts(v, p, found) : found;
}

/* ------------------------------------------------------------ all together */

/* The labels become clusters; labels that were replaced have no rows. */
static bool settle(halving *v) {
  shoal_herd *h = v->herd;
  uint32_t *slot_of = shoal_alloc(v->n_labels, sizeof *slot_of);
  if (!slot_of) return false;
  for (uint32_t l = 0; l < v->n_labels; l++) slot_of[l] = SHOAL_NIL;
  bool ok = true;
  for (uint32_t r = h->n; ok && r-- > 0;) {
    uint32_t *slot = &slot_of[v->label[r]];
    if (*slot == SHOAL_NIL) *slot = shoal_herd_take(h);
    ok = *slot != SHOAL_NIL;
    if (ok) shoal_herd_link(h, r, *slot);
  }
  for (uint32_t l = 0; ok && l < v->n_labels; l++)
    if (slot_of[l] != SHOAL_NIL) shoal_herd_refresh(h, slot_of[l]);
  free(slot_of);
  return ok;
}

static bool start(halving *v) {
  const shoal_herd *h = v->herd;
  v->rows = shoal_alloc(h->n, sizeof *v->rows);
  v->scratch = shoal_alloc(h->n, sizeof *v->scratch);
  v->right = shoal_alloc(h->n, sizeof *v->right);
  v->cost = shoal_alloc(h->n, sizeof *v->cost);
  v->label = shoal_alloc(h->n, sizeof *v->label);
  bool ok = v->rows && v->scratch && v->right && v->cost && v->label;
  for (int s = 0; ok && s < 2; s++) {
    v->sides[s].sum = shoal_alloc_zero(h->n_counts, sizeof *v->sides[s].sum);
    v->sides[s].groups = shoal_alloc_zero(h->n_counts, sizeof *v->sides[s].groups);
    ok = v->sides[s].sum && v->sides[s].groups;
    for (size_t d = 0; ok && d < h->n_counts; d++) {
      v->sides[s].groups[d] = shoal_alloc_zero(h->n_groups[d], sizeof **v->sides[s].groups);
      ok = v->sides[s].groups[d] != NULL;
    }
  }
  for (uint32_t i = 0; ok && i < h->n; i++) v->rows[i] = i;
  return ok;
}

static void finish(halving *v) {
  for (int s = 0; s < 2; s++) {
    for (size_t d = 0; v->sides[s].groups && d < v->herd->n_counts; d++)
      free(v->sides[s].groups[d]);
    free(v->sides[s].groups);
    free(v->sides[s].sum);
  }
  free(v->rows);
  free(v->scratch);
  free(v->right);
  free(v->cost);
  free(v->label);
}

bool shoal_flock_halve(shoal_herd *herd, uint32_t target) {
  halving v = {.herd = herd};
  bool ok = start(&v);
  if (ok) (void)solve(&v, (part){0, herd->n, target ? target : 1});
  ok = ok && !herd->failed && settle(&v);
  finish(&v);
  herd->failed = herd->failed || !ok;
  return ok;
}
