/* SPDX-License-Identifier: Apache-2.0 */
/* cluster/flock_units: units that come together; see flock_units.h. */
#include "cluster/flock_units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"

enum { STRIDE = SHOAL_UNITS_STRIDE };
static const float LITTLE = 0.05F; /* of progress, where there is none */
static const float HASTE = 0.45F;  /* how much less each k rows above k count, where two then fit */

/* ------------------------------------------------------------ building */

void shoal_units_reset(shoal_units *u) {
  void *const owned[] = {u->next,    u->of_tuple, u->head,    u->tail,  u->box,
                         u->groups,  u->twice,    u->lacks,   u->fits,  u->offer,
                         u->chance,  u->partner,  u->asked,   u->lo,    u->hi,
                         u->size,    u->loss,     u->own,     u->bar,   u->bound,
                         u->lacking, u->hears,    u->version, u->place, u->reach};
  for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) free(owned[i]);
  for (size_t q = 0; q < SHOAL_GROUND_AXES; q++) free(u->lines[q]);
  memset(u, 0, sizeof *u);
}

static bool allocate(shoal_units *u) {
  const shoal_ground *g = u->ground;
  size_t room = u->room;
  u->next = shoal_alloc(g->n, sizeof *u->next);
  u->of_tuple = shoal_alloc_zero(g->n_tuples, sizeof *u->of_tuple);
  u->head = shoal_alloc(room, sizeof *u->head);
  u->tail = shoal_alloc(room, sizeof *u->tail);
  u->box = shoal_alloc_zero(room, sizeof *u->box);
  u->groups = shoal_alloc(room * g->n_counts, sizeof *u->groups);
  u->twice = shoal_alloc(room * g->n_counts, sizeof *u->twice);
  u->lacks = shoal_alloc(room, sizeof *u->lacks);
  u->lacking = shoal_alloc(room * g->n_counts, sizeof *u->lacking);
  u->fits = shoal_alloc(room, sizeof *u->fits);
  u->offer = shoal_alloc(room, sizeof *u->offer);
  u->partner = shoal_alloc(room, sizeof *u->partner);
  u->asked = shoal_alloc(room, sizeof *u->asked);
  u->hears = shoal_alloc(room, sizeof *u->hears);
  u->version = shoal_alloc_zero(room, sizeof *u->version);
  u->lo = shoal_alloc_zero(room * g->n_numbers, sizeof *u->lo);
  u->hi = shoal_alloc_zero(room * g->n_numbers, sizeof *u->hi);
  u->size = shoal_alloc_zero(room, sizeof *u->size);
  u->loss = shoal_alloc_zero(room, sizeof *u->loss);
  u->own = shoal_alloc_zero(room, sizeof *u->own);
  u->bar = shoal_alloc_zero(room, sizeof *u->bar);
  u->chance = shoal_alloc_zero(room, sizeof *u->chance);
  u->bound = shoal_alloc(room, sizeof *u->bound);
  u->place = shoal_alloc(room, sizeof *u->place);
  u->reach = shoal_alloc(room, sizeof *u->reach);
  return u->next && u->of_tuple && u->head && u->tail && u->box && u->groups && u->twice &&
         u->lacks && u->lacking && u->fits && u->offer && u->partner && u->asked && u->hears &&
         u->version && u->lo && u->hi && u->size && u->loss && u->own && u->bar && u->chance &&
         u->bound && u->place && u->reach;
}

bool shoal_units_init(shoal_units *u, const shoal_ground *g, uint32_t n_tuples) {
  memset(u, 0, sizeof *u);
  u->ground = g;
  u->room = (n_tuples / STRIDE + 1) * STRIDE;
  bool ok = allocate(u);
  for (size_t q = g->n_numbers; ok && q < g->n_axes; q++) {
    u->lines[q] = shoal_alloc((size_t)g->trees[q].n_labels * u->room, sizeof *u->lines[q]);
    ok = u->lines[q] != NULL;
  }
  if (!ok) shoal_units_reset(u);
  return ok;
}

/* ------------------------------------------------------------ counts */

static uint32_t n_bits(uint64_t set) {
  set -= set >> 1 & UINT64_C(0x5555555555555555);
  set = (set & UINT64_C(0x3333333333333333)) + (set >> 2 & UINT64_C(0x3333333333333333));
  set = (set + (set >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
  return (uint32_t)(set * UINT64_C(0x0101010101010101) >> 56);
}

static uint32_t lacks_of(const shoal_units *u, size_t d, uint64_t groups) {
  uint32_t n = n_bits(groups), least = u->ground->fit->counts[d].least;
  return n < least ? least - n : 0;
}

/* Whether it fits, once its rows have changed. */
static void judge(shoal_units *u, uint32_t a) {
  const shoal_ground *g = u->ground;
  u->lacks[a] = 0;
  for (size_t d = 0; d < g->n_counts; d++) {
    uint32_t lacks = lacks_of(u, d, u->groups[a * g->n_counts + d]);
    u->lacking[a * g->n_counts + d] = (uint8_t)lacks; /* fewer than there are groups */
    u->lacks[a] += lacks;
  }
  u->fits[a] = !u->lacks[a] && u->size[a] >= (float)g->fit->k;
  u->own[a] = u->fits[a] ? 0 : (int16_t)u->loss[a];
  if (!u->fits[a]) return;
  u->offer[a] = INFINITY;
  u->hears[a] = INT16_MIN;
}

/* How many rows b, which fits, can lend a so that a fits; 0: it cannot. */
static uint32_t loan_of(const shoal_units *u, uint32_t a, uint32_t b) {
  const shoal_ground *g = u->ground;
  uint32_t k = (uint32_t)g->fit->k, size = (uint32_t)u->size[a], loan = size < k ? k - size : 0;
  if (!u->fits[b]) return 0;
  for (size_t d = 0; d < g->n_counts; d++) {
    uint32_t lacks = u->lacking[a * g->n_counts + d];
    if (!lacks) continue;
    uint64_t has = u->groups[a * g->n_counts + d], other = u->groups[b * g->n_counts + d];
    bool rich = n_bits(other) > g->fit->counts[d].least;
    if (n_bits((rich ? other : u->twice[b * g->n_counts + d]) & ~has) < lacks) return 0;
    if (lacks > loan) loan = lacks;
  }
  return (uint32_t)u->size[b] >= k + loan ? loan : 0;
}

/* The part of the groups that a and b lack which they do not lack together. */
static float progress(const shoal_units *u, uint32_t a, uint32_t b) {
  size_t n = u->ground->n_counts;
  uint32_t before = u->lacks[a] + u->lacks[b], after = 0;
  for (size_t d = 0; d < n; d++)
    if (u->lacking[a * n + d] && u->lacking[b * n + d])
      after += lacks_of(u, d, u->groups[a * n + d] | u->groups[b * n + d]);
  return before > after ? (float)(before - after) / (float)before : LITTLE;
}

/*
 * What is lost for each row settled if a, which does not fit, joins b, or borrows of b, which fits,
 * the rows that it lacks. `joint`: what a row loses in both together. A score of `most` or more
 * need not be exact.
 */
static float score_of(const shoal_units *u, uint32_t a, uint32_t b, int joint, float most) {
  float size = u->size[a], chance = u->chance[a] + u->chance[b];
  if (u->fits[b]) {
    uint32_t loan = loan_of(u, a, b);
    float rows = loan ? (float)loan : u->size[b];
    float sum = (size + rows) * (float)joint - size * u->loss[a] - rows * u->loss[b];
    return sum / size * chance;
  }
  float all = size + u->size[b];
  float sum = all * (float)joint - size * u->loss[a] - u->size[b] * u->loss[b];
  float score = sum / all * chance, k = (float)u->ground->fit->k;
  if (all > k && !(u->lacks[a] && u->lacks[b]))
    score *= all < 2 * k ? 1 - HASTE * (all - k) / k : 1 - HASTE;
  if (score >= most || !u->lacks[a] || !u->lacks[b]) return score;
  return score / progress(u, a, b);
}

/* ------------------------------------------------------------ offers */

static void make_offer(shoal_units *u, uint32_t to, uint32_t partner, float score) {
  u->offer[to] = score;
  u->hears[to] = shoal_units_round(score);
  u->partner[to] = partner;
  u->asked[to] = partner == SHOAL_NIL ? 0 : u->version[partner];
}

/* The score with b, whose bound is known. */
static float score_around(const shoal_units *u, uint32_t a, uint32_t b, float most) {
  int less = u->own[a] > u->own[b] ? u->own[a] : u->own[b];
  return score_of(u, a, b, u->bound[b] + less, most);
}

/* What a unit that looks around has found. */
typedef struct finding {
  uint32_t best;
  float least;
} finding;

/* The lowest bit of a set, which is taken out of it. */
static uint32_t take_bit(uint64_t *set) {
  uint32_t at = (uint32_t)__builtin_ctzll(*set);
  *set &= *set - 1;
  return at;
}

/* Looks at one other closely; `tells`: it hears of that. */
static void look_at(shoal_units *u, uint32_t a, uint32_t b, bool tells, finding *found) {
  bool hears = tells && !u->fits[b];
  float most = hears && u->offer[b] > found->least ? u->offer[b] : found->least;
  if ((float)u->bound[b] >= most) return; /* something better has been found since */
  float score = score_around(u, a, b, most);
  if (score < found->least) *found = (finding){b, score};
  if (hears && score < u->offer[b]) make_offer(u, b, a, score);
}

/* A unit that does not fit looks at all others; `tells`: and they at it. */
static void look_around(shoal_units *u, uint32_t a, bool tells) {
  finding found = {shoal_units_bound(u, a), INFINITY}; /* most often it stays that */
  if (found.best != SHOAL_NIL) found.least = score_around(u, a, found.best, INFINITY);
  for (uint32_t from = 0; from < u->n; from += STRIDE) {
    int16_t most = shoal_units_round(found.least);
    for (uint64_t set = shoal_units_below(u, from, most, tells); set;)
      look_at(u, a, from + take_bit(&set), tells, &found);
  }
  make_offer(u, a, found.best, found.least);
}

/* A unit that fits tells all that do not. */
static void tell(shoal_units *u, uint32_t a) {
  (void)shoal_units_bound(u, a);
  for (uint32_t from = 0; from < u->n; from += STRIDE)
    for (uint64_t set = shoal_units_below(u, from, INT16_MIN, true); set;) {
      uint32_t b = from + take_bit(&set);
      float score = score_of(u, b, a, u->bound[b] + u->own[b], u->offer[b]);
      if (score < u->offer[b]) make_offer(u, b, a, score);
    }
}

/* ------------------------------------------------------------ rows */

static void add_row(shoal_units *u, uint32_t a, uint32_t row) {
  const shoal_ground *g = u->ground;
  u->next[row] = SHOAL_NIL;
  if (u->head[a] == SHOAL_NIL) u->head[a] = row;
  else u->next[u->tail[a]] = row;
  u->tail[a] = row;
  u->size[a]++;
  for (size_t d = 0; d < g->n_counts; d++) {
    uint8_t group = g->group[row * g->n_counts + d];
    if (group == SHOAL_GROUND_NO_GROUP) continue;
    uint64_t bit = UINT64_C(1) << group, *groups = &u->groups[a * g->n_counts + d];
    u->twice[a * g->n_counts + d] |= *groups & bit;
    *groups |= bit;
  }
}

static void empty(shoal_units *u, uint32_t a) {
  const shoal_ground *g = u->ground;
  u->head[a] = SHOAL_NIL;
  u->size[a] = 0;
  for (size_t d = 0; d < g->n_counts; d++)
    u->groups[a * g->n_counts + d] = u->twice[a * g->n_counts + d] = 0;
}

/* All figures of a unit but what follows from them, from its rows. */
static void refresh(shoal_units *u, uint32_t a) {
  const shoal_ground *g = u->ground;
  uint32_t r = u->head[a];
  empty(u, a);
  shoal_box_start(g, &u->box[a], shoal_ground_values(g, r));
  for (uint32_t next; r != SHOAL_NIL; r = next) {
    next = u->next[r];
    add_row(u, a, r);
    shoal_box_add(g, &u->box[a], shoal_ground_values(g, r));
  }
  u->loss[a] = (float)shoal_box_loss(g, &u->box[a]);
}

static bool spares(const shoal_units *u, uint32_t b, uint32_t row) {
  const shoal_ground *g = u->ground;
  for (size_t d = 0; d < g->n_counts; d++) {
    uint8_t group = g->group[row * g->n_counts + d];
    if (group == SHOAL_GROUND_NO_GROUP || u->twice[b * g->n_counts + d] >> group & 1) continue;
    if (n_bits(u->groups[b * g->n_counts + d]) <= g->fit->counts[d].least) return false;
  }
  return true;
}

/* How many groups that a lacks a row has. */
static uint32_t adds_groups(const shoal_units *u, uint32_t a, uint32_t row) {
  const shoal_ground *g = u->ground;
  uint32_t adds = 0;
  for (size_t d = 0; d < g->n_counts; d++) {
    uint8_t group = g->group[row * g->n_counts + d];
    if (group == SHOAL_GROUND_NO_GROUP || !u->lacking[a * g->n_counts + d]) continue;
    adds += !(u->groups[a * g->n_counts + d] >> group & 1);
  }
  return adds;
}

/*
 * The row of b that a needs most, of equals the one that costs it least, and the one before it in
 * the list; SHOAL_NIL: none.
 */
static uint32_t choose_row(const shoal_units *u, uint32_t a, uint32_t b, uint32_t *before) {
  const shoal_ground *g = u->ground;
  uint32_t best = SHOAL_NIL, most = u->size[a] < (float)g->fit->k ? 0 : 1, least = UINT32_MAX;
  for (uint32_t r = u->head[b], last = SHOAL_NIL; r != SHOAL_NIL; last = r, r = u->next[r]) {
    uint32_t adds = adds_groups(u, a, r);
    if (adds < most || !spares(u, b, r)) continue;
    uint32_t loss = shoal_box_loss_with(g, &u->box[a], shoal_ground_values(g, r));
    if (adds == most && loss >= least) continue;
    most = adds;
    least = loss;
    best = r;
    *before = last;
  }
  return best;
}

/* a takes rows of b until it fits; returns whether it does then. */
static bool borrow(shoal_units *u, uint32_t a, uint32_t b) {
  while (!u->fits[a] && u->size[b] > (float)u->ground->fit->k) {
    uint32_t before = SHOAL_NIL, row = choose_row(u, a, b, &before);
    if (row == SHOAL_NIL) break;
    if (before == SHOAL_NIL) u->head[b] = u->next[row];
    else u->next[before] = u->next[row];
    add_row(u, a, row);
    shoal_box_add(u->ground, &u->box[a], shoal_ground_values(u->ground, row));
    refresh(u, b);
    judge(u, a);
  }
  u->loss[a] = (float)shoal_box_loss(u->ground, &u->box[a]);
  judge(u, a);
  judge(u, b);
  shoal_units_note(u, a);
  shoal_units_note(u, b);
  u->version[a]++;
  u->version[b]++;
  return u->fits[a];
}

static void join(shoal_units *u, uint32_t a, uint32_t into) {
  const shoal_ground *g = u->ground;
  u->next[u->tail[into]] = u->head[a];
  u->tail[into] = u->tail[a];
  u->head[a] = SHOAL_NIL;
  u->bar[a] = INT16_MAX;
  u->offer[a] = INFINITY;
  u->hears[a] = INT16_MIN;
  u->n_gone++;
  u->version[into]++;
  u->size[into] += u->size[a];
  shoal_box_join(g, &u->box[into], &u->box[a]);
  u->loss[into] = (float)shoal_box_loss(g, &u->box[into]);
  for (size_t d = 0; d < g->n_counts; d++) {
    size_t x = into * g->n_counts + d, y = a * g->n_counts + d;
    u->twice[x] |= u->twice[y] | (u->groups[x] & u->groups[y]);
    u->groups[x] |= u->groups[y];
  }
  judge(u, into);
  shoal_units_note(u, into);
}

/* ------------------------------------------------------------ gathering */

static void start_unit(shoal_units *u, uint32_t a, uint32_t row) {
  empty(u, a);
  shoal_box_start(u->ground, &u->box[a], shoal_ground_values(u->ground, row));
  u->loss[a] = 0;
  u->bar[a] = 0;
  u->offer[a] = INFINITY;
  u->partner[a] = SHOAL_NIL;
  u->hears[a] = INT16_MAX;
}

/* Behind the last unit: looked at, never found. */
static void bar_rest(shoal_units *u) {
  for (uint32_t a = u->n; a < u->room && a < u->n + STRIDE; a++) {
    u->offer[a] = INFINITY;
    u->bar[a] = INT16_MAX;
    u->hears[a] = INT16_MIN;
  }
}

static void shift(shoal_units *u, uint32_t from, uint32_t to) {
  size_t n = u->ground->n_counts;
  u->head[to] = u->head[from];
  u->tail[to] = u->tail[from];
  u->box[to] = u->box[from];
  for (size_t d = 0; d < n; d++) {
    u->groups[to * n + d] = u->groups[from * n + d];
    u->twice[to * n + d] = u->twice[from * n + d];
    u->lacking[to * n + d] = u->lacking[from * n + d];
  }
  u->lacks[to] = u->lacks[from];
  u->fits[to] = u->fits[from];
  u->offer[to] = u->offer[from];
  u->partner[to] = u->partner[from];
  u->asked[to] = u->asked[from];
  u->version[to] = u->version[from];
  u->size[to] = u->size[from];
  u->loss[to] = u->loss[from];
  u->chance[to] = u->chance[from];
  shoal_units_shift(u, from, to);
}

/* Units that have gone leave their places to those behind them. Who had an offer of one of them
 * has it of a unit that has changed, so that it looks around again. */
static void tidy(shoal_units *u) {
  uint32_t n = 0;
  for (uint32_t a = 0; a < u->n; a++) u->place[a] = u->head[a] == SHOAL_NIL ? SHOAL_NIL : n++;
  for (uint32_t a = 0; a < u->n; a++)
    if (u->place[a] < a) shift(u, a, u->place[a]);
  for (uint32_t a = 0; a < n; a++) {
    if (u->partner[a] == SHOAL_NIL || u->fits[a]) continue;
    uint32_t place = u->place[u->partner[a]];
    u->partner[a] = place == SHOAL_NIL ? 0 : place;
    if (place == SHOAL_NIL) u->asked[a] = u->version[0] - 1;
  }
  u->n = n;
  u->n_gone = 0;
  bar_rest(u);
}

/* Units of one tuple each. */
static void start_tuples(shoal_units *u, const uint32_t *rows, uint32_t n) {
  const uint32_t *tuple_of = u->ground->tuple;
  for (uint32_t i = 0; i < n; i++) {
    uint32_t tuple = tuple_of[rows[i]], a = u->of_tuple[tuple];
    if (a >= u->n || tuple_of[u->head[a]] != tuple) {
      a = u->of_tuple[tuple] = u->n++;
      start_unit(u, a, rows[i]);
    }
    add_row(u, a, rows[i]);
  }
}

/* Units of several. */
static void start_parts(shoal_units *u, const uint32_t *rows, uint32_t n, const uint32_t *part) {
  const shoal_ground *g = u->ground;
  for (uint32_t i = 0; i < n; i++) {
    uint32_t a = part[i], tuple = g->tuple[rows[i]];
    if (a == u->n) {
      u->n++;
      start_unit(u, a, rows[i]);
      shoal_lanes_start(g, &u->reach[a], shoal_lanes_of_tuple(g, tuple));
    } else if (tuple != g->tuple[u->tail[a]]) {
      shoal_lanes_add(g, &u->reach[a], shoal_lanes_of_tuple(g, tuple));
    }
    add_row(u, a, rows[i]);
  }
  for (uint32_t a = 0; a < u->n; a++) {
    shoal_lanes_box(g, &u->reach[a], &u->box[a]);
    u->loss[a] = (float)shoal_lanes_loss(g, &u->reach[a]);
  }
}

static void start(shoal_units *u, float chances, uint64_t *random) {
  shoal_units_clear_lines(u);
  bar_rest(u);
  for (uint32_t a = 0; a < u->n; a++) {
    *random += UINT64_C(0x9e3779b97f4a7c15);
    u->chance[a] = 0.5F + chances * (float)(shoal_mix(*random) >> 40) * 0x1p-24F;
    judge(u, a);
    shoal_units_note(u, a);
  }
  for (uint32_t a = 0; a < u->n; a++)
    if (!u->fits[a]) look_around(u, a, false);
}

bool shoal_units_gather(shoal_units *u, const uint32_t *rows, uint32_t n_rows, const uint32_t *part,
                        float chances, uint64_t *random) {
  u->n = u->n_gone = 0;
  if (part) start_parts(u, rows, n_rows, part);
  else start_tuples(u, rows, n_rows);
  start(u, chances, random);
  for (uint32_t a; (a = shoal_units_least_offer(u)) != SHOAL_NIL;) {
    uint32_t b = u->partner[a];
    if (u->head[b] == SHOAL_NIL ||
        u->asked[a] != u->version[b]) { /* it has changed, for the worse */
      look_around(u, a, false);
    } else if (loan_of(u, a, b) && borrow(u, a, b)) {
      tell(u, b);
      tell(u, a);
    } else {
      join(u, a, b);
      if (u->fits[b]) tell(u, b);
      else look_around(u, b, true);
      if (2 * u->n_gone > u->n && u->n > STRIDE) tidy(u);
    }
  }
  for (uint32_t a = 0; a < u->n; a++)
    if (u->head[a] != SHOAL_NIL && !u->fits[a]) return false;
  return true;
}
