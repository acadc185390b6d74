/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster/theta_swap: swaps rows between classes until each has the variance it needs (Khan et al.
 * 2020, Algorithm 1, read as in docs/reading-the-papers.md R18). A class below theta gives a row of
 * its most frequent value for a row whose value it lacks. If there is none, it may give any row
 * whose value it has twice, also for another row of its most frequent value. The donor stays at
 * theta or, if it was below, does not get further from it. Neither class may break another
 * requirement that it satisfies. So classes that pass continue to pass and the variances of the
 * others only rise: the process ends. The possible swap that widens both classes least is made.
 *
 * Donors are searched among the nearest classes, then with an index from values to rows, each time
 * a little further on. The cost of a swap does not depend on the size of the table.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/thread.h"
#include "cluster/theta.h"

enum {
  MAX_OUTS = 8,       /* rows that a class offers at a time */
  NEAR_CLASSES = 12,  /* visited on each side */
  ENOUGH_CLASSES = 6, /* visited on each side if there is an offer */
  FAR_VALUES = 8,     /* looked up in the index */
  FAR_ROWS = 4,       /* per value looked up */
  LARGE_CLASS = 64,   /* rows above which fewer classes are visited */
  MAX_OFFERS = 512,   /* kept if offers must be judged further */
  MAX_TRIES = 1,      /* rounds without a swap after which a class is skipped */
  MAX_ROUNDS = 24,
  OFTEN = 8 /* counts below this share the verdict on a donor's swap */
};

typedef struct shoal_theta_offer {
  int64_t widening;
  uint32_t out, in; /* slots */
} offer;

/* A class that needs a swap. */
typedef struct need {
  shoal_theta *t;
  shoal_theta_target *target;
  size_t a; /* index of the target */
  uint32_t c;
  bool any; /* any swap that raises the variance, not only the paper's */
  uint32_t outs[MAX_OUTS], values[MAX_OUTS]; /* slots and their values */
  unsigned n_outs;
  shoal_variance variance;
  int64_t loss;              /* of all its rows */
  shoal_theta_cached *donor; /* the class that is being visited */
} need;

/* ------------------------------------------------------------ the loss of a swap */

/* The box of a class without a row; it is smaller only where the row is at an end. */
static void box_without(const shoal_theta *t, uint32_t c, uint32_t slot, shoal_span *box) {
  const shoal_span *whole = shoal_theta_box(t, c);
  const uint32_t *positions = shoal_axes_row(t->axes, t->rows[slot]);
  for (size_t q = 0; q < t->axes->n; q++) {
    box[q] = whole[q];
    if (positions[q] != whole[q].lo && positions[q] != whole[q].hi) continue;
    box[q] = (shoal_span){UINT32_MAX, 0};
    for (uint32_t s = t->first[c]; s < t->first[c + 1]; s++) {
      uint32_t position = shoal_axes_row(t->axes, t->rows[s])[q];
      if (s == slot) continue;
      if (position < box[q].lo) box[q].lo = position;
      if (position > box[q].hi) box[q].hi = position;
    }
  }
  if (!shoal_axes_have_sets(t->axes)) return;
  memset(box + t->axes->n, 0, (t->axes->n_spans - t->axes->n) * sizeof *box);
  for (uint32_t s = t->first[c]; s < t->first[c + 1]; s++)
    if (s != slot) shoal_box_add_sets(t->axes, box, shoal_axes_row(t->axes, t->rows[s]));
}

static int64_t loss_of(const shoal_theta *t, uint32_t c) {
  return (int64_t)shoal_theta_size(t, c) * shoal_box_loss(t->axes, shoal_theta_box(t, c));
}

/* Loss of a class after a row has joined the rest of it; the rest may be empty. */
static int64_t loss_with(const shoal_theta *t, uint32_t c, const shoal_span *left, uint32_t slot) {
  const uint32_t *positions = shoal_axes_row(t->axes, t->rows[slot]);
  return (int64_t)shoal_theta_size(t, c) * shoal_box_loss_with(t->axes, left, positions);
}

/* ------------------------------------------------------------ offers */

static bool must_judge(const shoal_theta *t) { return t->n_targets > 1 || t->has_rest; }

static bool is_cheaper(const offer *a, const offer *b) {
  if (a->widening != b->widening) return a->widening < b->widening;
  return a->in != b->in ? a->in < b->in : a->out < b->out;
}

static int by_widening(const void *a, const void *b) {
  return is_cheaper(a, b) ? -1 : is_cheaper(b, a);
}

static void add_offer(shoal_theta *t, offer found) {
  if (must_judge(t)) {
    if (t->n_offers < MAX_OFFERS) t->offers[t->n_offers++] = found;
  } else if (!t->n_offers || is_cheaper(&found, t->offers)) {
    t->offers[0] = found;
    t->n_offers = 1;
  }
}

/* May the class, whose histogram this is, exchange a row of `out` for one of `in`? */
static bool stays_allowed(const shoal_theta_target *target, shoal_value_histogram *histogram,
                          const shoal_theta_cached *cached, uint32_t out, uint32_t in) {
  if (out == in) return true;
  shoal_variance after = shoal_value_histogram_swapped(histogram, out, in);
  return shoal_theta_reached(target->requirement, after) ||
         (!cached->passes && shoal_variance_compare(after, cached->variance) >= 0);
}

/* The same for the donor, cached: it depends only on the donor's counts of the two values. */
static bool donor_allows(need *n, uint32_t out, uint32_t in) {
  shoal_value_histogram *there = &n->target->there;
  uint32_t gives = there->count[out], gets = there->count[in];
  if (gives >= OFTEN || gets >= OFTEN) return stays_allowed(n->target, there, n->donor, out, in);
  uint64_t bit = UINT64_C(1) << (gives * OFTEN + gets);
  if (!(n->donor->judged & bit) && stays_allowed(n->target, there, n->donor, out, in))
    n->donor->allowed |= bit;
  n->donor->judged |= bit;
  return n->donor->allowed & bit;
}

static bool raises(need *n, uint32_t out, uint32_t in) {
  return shoal_variance_compare(shoal_value_histogram_swapped(&n->target->here, out, in),
                                n->variance) > 0;
}

static bool is_wanted(const need *n, uint32_t value) {
  if (value == SHOAL_NONE) return false;
  uint32_t count = n->target->here.count[value];
  return count == 0 || (n->any && count == n->target->here.top);
}

/* Makes offers of a donor's row for each row in n->outs. */
static void offer_row(need *n, uint32_t donor, uint32_t slot, uint32_t value) {
  shoal_theta *t = n->t;
  shoal_span *left = t->spans + (size_t)MAX_OUTS * t->axes->n_spans;
  bool cached = false, allowed = false;
  int64_t before = 0;
  for (unsigned i = 0; i < n->n_outs; i++) {
    if (i == 0 || n->values[i] != n->values[i - 1]) {
      allowed = n->values[i] != value && donor_allows(n, value, n->values[i]) &&
                raises(n, n->values[i], value);
    }
    if (!allowed) continue;
    if (!cached) {
      box_without(t, donor, slot, left);
      before = n->loss + loss_of(t, donor);
      cached = true;
    }
    int64_t after = loss_with(t, n->c, t->spans + (size_t)i * t->axes->n_spans, slot) +
                    loss_with(t, donor, left, n->outs[i]);
    add_offer(t, (offer){after - before, n->outs[i], slot});
  }
}

static void consider(need *n, uint32_t donor) {
  shoal_theta *t = n->t;
  if (donor == n->c || t->closed[donor] || t->seen[donor] == t->now) return;
  t->seen[donor] = t->now;
  n->donor = &n->target->cached[donor];
  shoal_value_histogram_fill(&n->target->there, t, n->target, donor);
  for (uint32_t slot = t->first[donor]; slot < t->first[donor + 1]; slot++) {
    uint32_t value = n->target->value_of[slot];
    if (is_wanted(n, value)) offer_row(n, donor, slot, value);
  }
  shoal_value_histogram_clear(&n->target->there);
}

/* ------------------------------------------------------------ where donors are */

/* Is there an offer that needs no further judging? */
static bool is_served(const shoal_theta *t) { return t->n_offers && !must_judge(t); }

static void consider_near(need *n) {
  uint32_t size = shoal_theta_size(n->t, n->c), max_steps = NEAR_CLASSES;
  if (size > LARGE_CLASS) max_steps = max_steps * LARGE_CLASS / size + 1;
  for (uint32_t step = 1; step <= max_steps && (step <= ENOUGH_CLASSES || !is_served(n->t));
       step++) {
    if (n->c >= step) consider(n, n->c - step);
    if (step < n->t->n_classes - n->c) consider(n, n->c + step);
  }
}

/* Visits the classes of FAR_ROWS rows of each of FAR_VALUES wanted values, then of the next. */
static void consider_far(need *n) {
  shoal_theta_target *target = n->target;
  unsigned values = 0;
  assert(target->n_known > 0); /* a row that may leave the class has a value */
  for (uint32_t i = 0; i < target->n_known && values < FAR_VALUES; i++) {
    uint32_t value = target->by_frequency[(target->turn + i) % target->n_known];
    if (!is_wanted(n, value)) continue;
    uint32_t first = target->first[value], n_rows = target->first[value + 1] - first;
    for (uint32_t j = 0; j < FAR_ROWS && j < n_rows && !is_served(n->t); j++)
      consider(n, n->t->class_of[target->slots[first + target->cursor[value]++ % n_rows]]);
    values++;
  }
  target->turn = (target->turn + values) % target->n_known;
}

/* Indexes the slots by value. Swaps make it outdated until the next round. */
static void make_index(shoal_theta *t) {
  for (size_t a = 0; a < t->n_targets; a++) {
    shoal_theta_target *target = &t->targets[a];
    for (uint32_t s = 0; s < t->n_rows; s++)
      t->trial[s] = shoal_column_code(target->column, t->rows[s]);
    shoal_sort_by_group(NULL, t->n_rows, t->trial, target->column->n_values, target->first,
                        target->slots);
  }
}

/* ------------------------------------------------------------ one swap */

static void swap_rows(shoal_theta *t, offer o) {
  uint32_t row = t->rows[o.out];
  t->rows[o.out] = t->rows[o.in];
  t->rows[o.in] = row;
}

static bool rest_fits(shoal_theta *t, uint32_t c) {
  return shoal_requirement_checker_satisfies(&t->checker, shoal_theta_rows(t, c),
                                             shoal_theta_size(t, c));
}

/* Do both classes keep every requirement that they satisfy? */
static bool is_allowed(need *n, offer o) {
  shoal_theta *t = n->t;
  uint32_t donor = t->class_of[o.in];
  bool ok = true;
  for (size_t a = 0; ok && a < t->n_targets; a++) {
    shoal_theta_target *target = &t->targets[a];
    uint32_t u = target->value_of[o.out], v = target->value_of[o.in];
    shoal_value_histogram_fill(&target->there, t, target, donor);
    ok = (a == n->a || stays_allowed(target, &target->here, &target->cached[n->c], u, v)) &&
         stays_allowed(target, &target->there, &target->cached[donor], v, u);
    shoal_value_histogram_clear(&target->there);
  }
  if (!ok || !t->has_rest) return ok;
  swap_rows(t, o);
  ok = (!t->rests[n->c] || rest_fits(t, n->c)) && (!t->rests[donor] || rest_fits(t, donor));
  swap_rows(t, o);
  return ok;
}

/* The cheapest allowed offer; false: there is none. */
static bool choose(need *n, offer *chosen) {
  shoal_theta *t = n->t;
  if (must_judge(t)) qsort(t->offers, t->n_offers, sizeof *t->offers, by_widening);
  for (size_t i = 0; i < t->n_offers; i++) {
    *chosen = t->offers[i];
    if (!must_judge(t) || is_allowed(n, *chosen)) return true;
  }
  return false;
}

/* Lists the rows that the class offers: of its most frequent values, or of any it has twice. */
static void list_outs(need *n) {
  shoal_theta *t = n->t;
  shoal_value_histogram *here = &n->target->here;
  uint32_t least = n->any ? 2 : here->top;
  n->n_outs = 0;
  for (uint32_t i = 0; i < here->n_values && n->n_outs < MAX_OUTS; i++) {
    uint32_t value = here->values[i];
    if (here->count[value] < least) continue;
    unsigned taken = 0, most = n->any ? 2 : MAX_OUTS;
    for (uint32_t s = t->first[n->c]; s < t->first[n->c + 1]; s++) {
      if (n->target->value_of[s] != value) continue;
      if (taken++ == most || n->n_outs == MAX_OUTS) break;
      box_without(t, n->c, s, t->spans + (size_t)n->n_outs * t->axes->n_spans);
      n->outs[n->n_outs] = s;
      n->values[n->n_outs++] = value;
    }
  }
}

/* Finds a swap for one attribute of a class; `here` is filled for all attributes. */
static bool find_swap(shoal_theta *t, uint32_t c, size_t a, bool any, offer *chosen) {
  need n = {.t = t, .target = &t->targets[a], .a = a, .c = c, .any = any, .loss = loss_of(t, c)};
  n.variance = n.target->cached[c].variance;
  list_outs(&n);
  if (!n.n_outs) return false;
  t->n_offers = 0;
  t->now++;
  consider_near(&n);
  if (choose(&n, chosen)) return true;
  t->n_offers = 0;
  consider_far(&n);
  return choose(&n, chosen);
}

static void exchange(shoal_theta *t, uint32_t c, offer o) {
  swap_rows(t, o);
  for (size_t a = 0; a < t->n_targets; a++) {
    uint32_t *values = t->targets[a].value_of, value = values[o.out];
    values[o.out] = values[o.in];
    values[o.in] = value;
  }
  shoal_theta_refresh(t, c);
  shoal_theta_refresh(t, t->class_of[o.in]);
  t->n_swaps++;
}

/* Makes one swap for a failing class; false: none was found. */
static bool swap_for(shoal_theta *t, uint32_t c) {
  offer chosen = {0};
  bool found = false;
  for (size_t a = 0; a < t->n_targets; a++)
    shoal_value_histogram_fill(&t->targets[a].here, t, &t->targets[a], c);
  for (int any = 0; !found && any < 2; any++)
    for (size_t a = 0; !found && a < t->n_targets; a++)
      if (!t->targets[a].cached[c].passes) found = find_swap(t, c, a, any, &chosen);
  for (size_t a = 0; a < t->n_targets; a++) shoal_value_histogram_clear(&t->targets[a].here);
  if (found) exchange(t, c, chosen);
  return found;
}

static shoal_status swap_round(shoal_theta *t, shoal_error *error) {
  make_index(t);
  for (uint32_t c = 0; c < t->n_classes; c++) {
    if ((c & 0xff) == 0)
      SHOAL_TRY(shoal_run_report(t->task->run, "swap", c, t->n_classes, "classes", error));
    if (!t->fails[c] || t->tried[c] == MAX_TRIES) continue;
    bool helped = swap_for(t, c);
    t->tried[c] = helped ? 0 : t->tried[c] + 1;
    while (helped && t->fails[c]) helped = swap_for(t, c);
    if (t->failed || t->checker.failed) return shoal_fail_memory(error);
  }
  return SHOAL_OK;
}

shoal_status shoal_theta_swap(shoal_theta *t, shoal_error *error) {
  if (!t->offers && (!SHOAL_ARENA_ARRAY(&t->arena, t->spans, (MAX_OUTS + 1) * t->axes->n_spans) ||
                     !SHOAL_ARENA_ARRAY(&t->arena, t->offers, MAX_OFFERS)))
    return shoal_fail_memory(error);
  for (int round = 0; round < MAX_ROUNDS; round++) {
    uint64_t n_open = 0;
    for (uint32_t c = 0; c < t->n_classes; c++) n_open += t->fails[c] && t->tried[c] < MAX_TRIES;
    if (!n_open) break;
    SHOAL_TRY(swap_round(t, error));
  }
  return SHOAL_OK;
}
