/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster/theta_repair: noise rows and merges, for classes that swaps could not repair
 * (docs/reading-the-papers.md R19).
 *
 * Noise rows (Khan et al. 2020, section 6.4): each has a value that its class lacks, the most
 * frequent one of the table, then values of the column that no row has (input/listed_values.c),
 * until the class passes or no such value is left. Otherwise it copies a random row of the class.
 * If not every class can have the noise rows it needs, those that need the fewest come first. k is
 * counted on real rows: a class has k of them before any noise is added.
 *
 * Merges: a class is joined to a near one, preferably one with which it satisfies every
 * requirement, otherwise the nearest, or is given up to be suppressed, whichever loses less. Near
 * classes are near in the order of the classes, and among these the ones whose rows lose least by
 * the merge.
 */
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "base/sort.h"
#include "base/thread.h"
#include "cluster/theta.h"

enum {
  NEAR = 32,    /* classes on each side that are considered for a merge */
  MAX_TRIED = 8 /* of these, the nearest are judged */
};

/* ------------------------------------------------------------ noise rows */

/* Noise rows that would repair classes. */
typedef struct planning {
  shoal_theta *t;
  shoal_random random;
  shoal_noise planned; /* class by class */
  uint32_t *values;    /* of a row that is being planned */
  uint64_t *plans;     /* by class: number of rows << 32 | index of the first */
  size_t n_plans, plan_capacity;
} planning;

static bool reaches_all(const shoal_theta *t) {
  for (size_t a = 0; a < t->n_targets; a++)
    if (!shoal_theta_reached(t->targets[a].requirement,
                             shoal_value_histogram_variance(&t->targets[a].here)))
      return false;
  return true;
}

static uint32_t absent_value(const shoal_theta_target *target) {
  for (uint32_t i = 0; i < target->n_values; i++)
    if (!target->here.count[target->by_frequency[i]]) return target->by_frequency[i];
  return SHOAL_NONE;
}

/* Plans one more row and counts it in the histograms; false: no value is left, or no memory. */
static bool plan_row(planning *p, uint32_t c) {
  shoal_theta *t = p->t;
  const shoal_tracked *tracked = t->task->required->tracked;
  uint32_t row = shoal_theta_rows(t, c)[shoal_random_below(&p->random, shoal_theta_size(t, c))];
  uint32_t *values = p->values;
  for (size_t s = 0; s < tracked->n_columns; s++)
    values[s] = shoal_column_code(tracked->columns[s], row);
  for (size_t a = 0; a < t->n_targets; a++) {
    shoal_theta_target *target = &t->targets[a];
    if (shoal_theta_reached(target->requirement, shoal_value_histogram_variance(&target->here)))
      continue;
    values[target->tracked] = absent_value(target);
    if (values[target->tracked] == SHOAL_NONE) return false;
  }
  if (!shoal_noise_add(&p->planned, c, row, values)) {
    t->failed = true;
    return false;
  }
  for (size_t a = 0; a < t->n_targets; a++) {
    uint32_t code = values[t->targets[a].tracked];
    if (!shoal_column_missing(t->targets[a].column, code))
      shoal_value_histogram_add(&t->targets[a].here, code);
  }
  return true;
}

/* Plans the rows that repair a class; none if that is impossible. */
static void plan_class(planning *p, uint32_t c, uint64_t most) {
  shoal_theta *t = p->t;
  shoal_noise *planned = &p->planned;
  uint32_t n = 0, first = planned->n;
  for (size_t a = 0; a < t->n_targets; a++)
    shoal_value_histogram_fill(&t->targets[a].here, t, &t->targets[a], c);
  bool reached = reaches_all(t);
  while (!reached && n < most && plan_row(p, c)) {
    n++;
    reached = reaches_all(t);
  }
  t->noise_short = t->noise_short || (!reached && n == most);
  for (size_t a = 0; a < t->n_targets; a++) shoal_value_histogram_clear(&t->targets[a].here);
  size_t width = planned->n_columns;
  bool repaired = false;
  if (reached && n) {
    shoal_added added = {.values = planned->values + first * width, .n = n, .n_columns = width};
    repaired = shoal_requirement_checker_satisfies_with(&t->all, shoal_theta_rows(t, c),
                                                        shoal_theta_size(t, c), added);
  }
  if (repaired && shoal_grow(&p->plans, &p->plan_capacity, p->n_plans + 1, sizeof *p->plans))
    p->plans[p->n_plans++] = (uint64_t)n << 32 | first;
  else if (repaired) t->failed = true;
  else planned->n = first;
}

static bool carry_out(planning *p, uint64_t plan) {
  shoal_theta *t = p->t;
  const shoal_noise *rows = &p->planned;
  uint32_t first = (uint32_t)plan, n = (uint32_t)(plan >> 32), c = rows->cluster[first];
  for (uint32_t i = first; i < first + n; i++)
    if (!shoal_noise_add(&t->noise, c, rows->like[i], rows->values + i * rows->n_columns))
      return false;
  t->closed[c] = 1;
  t->fails[c] = 0;
  return true;
}

shoal_status shoal_theta_add_noise(shoal_theta *t, shoal_error *error) {
  planning p = {.t = t, .planned.n_columns = t->noise.n_columns};
  const shoal_noise *noise = &t->noise;
  uint64_t most = t->task->max_noise < UINT32_MAX ? t->task->max_noise : UINT32_MAX - 1;
  p.values = shoal_alloc(noise->n_columns, sizeof *p.values);
  if (!p.values) return shoal_fail_memory(error);
  shoal_random_seed(&p.random, t->task->seed + noise->n);
  for (uint32_t c = 0; c < t->n_classes && !t->failed; c++)
    if (t->fails[c]) plan_class(&p, c, most - noise->n);
  shoal_sort_u64(p.plans, p.n_plans);
  size_t done = 0;
  for (; done < p.n_plans && !t->failed && p.plans[done] >> 32 <= most - noise->n; done++)
    t->failed = !carry_out(&p, p.plans[done]);
  t->noise_short = t->noise_short || done < p.n_plans;
  free(p.values);
  free(p.plans);
  shoal_noise_reset(&p.planned);
  return t->failed || t->all.failed ? shoal_fail_memory(error) : SHOAL_OK;
}

/* ------------------------------------------------------------ merges */

typedef struct partner {
  uint64_t cost;
  uint32_t class;
} partner;

/* The increase in loss over all rows of two classes if they become one. */
static uint64_t merge_cost(const shoal_theta *t, uint32_t a, uint32_t b) {
  const shoal_span *of_a = shoal_theta_box(t, a), *of_b = shoal_theta_box(t, b);
  uint64_t joined = shoal_box_loss_joined(t->axes, of_a, of_b);
  return shoal_theta_size(t, a) * (joined - shoal_box_loss(t->axes, of_a)) +
         shoal_theta_size(t, b) * (joined - shoal_box_loss(t->axes, of_b));
}

/* A suppressed row loses all that it has not lost yet. */
static uint64_t giving_up_cost(const shoal_theta *t, uint32_t c) {
  uint64_t full = 0;
  for (size_t q = 0; q < t->axes->n; q++) full += t->axes->items[q].full;
  return shoal_theta_size(t, c) * (full - shoal_box_loss(t->axes, shoal_theta_box(t, c)));
}

/* Keeps the MAX_TRIED nearest partners in `near`, the nearest first. */
static void note_partner(const shoal_theta *t, uint32_t c, uint32_t other, partner *near,
                         unsigned *n) {
  if (t->closed[other]) return;
  partner found = {merge_cost(t, c, other), other};
  unsigned at = *n;
  while (at > 0 && found.cost < near[at - 1].cost) at--;
  if (at == MAX_TRIED) return;
  unsigned last = *n < MAX_TRIED ? (*n)++ : MAX_TRIED - 1;
  memmove(near + at + 1, near + at, (last - at) * sizeof *near);
  near[at] = found;
}

static bool satisfies_with(shoal_theta *t, uint32_t a, uint32_t b) {
  uint32_t size_a = shoal_theta_size(t, a), size_b = shoal_theta_size(t, b);
  memcpy(t->trial, shoal_theta_rows(t, a), size_a * sizeof *t->trial);
  memcpy(t->trial + size_a, shoal_theta_rows(t, b), size_b * sizeof *t->trial);
  return shoal_requirement_checker_satisfies(&t->all, t->trial, (size_t)size_a + size_b);
}

/* The nearest class with which it would pass, otherwise the nearest; false: there is none. */
static bool find_partner(shoal_theta *t, uint32_t c, partner *found) {
  partner near[MAX_TRIED];
  unsigned n = 0;
  for (uint32_t step = 1; step <= t->n_classes && (step <= NEAR || n == 0); step++) {
    if (c >= step) note_partner(t, c, c - step, near, &n);
    if (step < t->n_classes - c) note_partner(t, c, c + step, near, &n);
  }
  for (unsigned i = 0; i < n; i++) {
    *found = near[i];
    if (satisfies_with(t, c, near[i].class)) return true;
  }
  if (n) *found = near[0];
  return n;
}

static void give_up(shoal_theta *t, uint32_t c) {
  t->closed[c] = 1;
  t->fails[c] = 0;
  t->n_abandoned += shoal_theta_size(t, c);
}

static shoal_status pair_failing(shoal_theta *t, uint32_t *root, uint8_t *joined, bool *any,
                                 shoal_error *error) {
  for (uint32_t c = 0; c < t->n_classes; c++) {
    if (!t->fails[c] || joined[c]) continue;
    SHOAL_TRY(shoal_run_report(t->task->run, "repair", c, t->n_classes, "classes", error));
    partner near;
    bool found = find_partner(t, c, &near);
    bool may_give_up = shoal_theta_size(t, c) <= t->task->max_suppressed - t->n_abandoned;
    if (may_give_up && (!found || giving_up_cost(t, c) < near.cost)) {
      give_up(t, c);
      *any = true;
    } else if (found) {
      root[shoal_find_root(root, c)] = shoal_find_root(root, near.class);
      joined[c] = joined[near.class] = 1;
      *any = true;
    }
  }
  return t->all.failed ? shoal_fail_memory(error) : SHOAL_OK;
}

/* `arena` has the scratch memory. */
static shoal_status merge(shoal_theta *t, shoal_arena *arena, bool *any, shoal_error *error) {
  uint32_t *root, *group, n = 0;
  uint8_t *joined;
  if (!SHOAL_ARENA_ARRAY(arena, root, t->n_classes) ||
      !SHOAL_ARENA_ARRAY(arena, group, t->n_classes) ||
      !SHOAL_ARENA_ARRAY(arena, joined, t->n_classes))
    return shoal_fail_memory(error);
  memset(joined, 0, t->n_classes);
  memset(group, 0xff, t->n_classes * sizeof *group); /* SHOAL_NONE */
  for (uint32_t c = 0; c < t->n_classes; c++) root[c] = c;
  SHOAL_TRY(pair_failing(t, root, joined, any, error));
  if (!*any) return SHOAL_OK;
  for (uint32_t c = 0; c < t->n_classes; c++) { /* in the order of their first class */
    uint32_t r = shoal_find_root(root, c);
    if (group[r] == SHOAL_NONE) group[r] = n++;
  }
  for (uint32_t c = 0; c < t->n_classes; c++) group[c] = group[shoal_find_root(root, c)];
  t->n_merged += t->n_classes - n;
  return shoal_theta_regroup(t, group, n, error);
}

shoal_status shoal_theta_merge(shoal_theta *t, bool *any, shoal_error *error) {
  shoal_arena arena = {0};
  *any = false;
  shoal_status status = merge(t, &arena, any, error);
  shoal_arena_reset(&arena);
  return status;
}
