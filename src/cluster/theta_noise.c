/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster/theta_noise: invented rows for classes that no swap could mend (Khan et al. 2020, section
 * 6.4; docs/reading-the-papers.md R19). Each has a value that its class lacks, the most frequent of
 * the table's, until the class passes or there is no such value left; in all else it copies a
 * random row of the class. Where not all can have what they need, those that need the fewest rows
 * come first. k is counted on true rows: a class has these before any is invented.
 */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/random.h"
#include "cluster/theta.h"

/* What one class would need. */
typedef struct plan {
  uint32_t c, n;
  size_t first; /* of its rows among all that are planned */
} plan;

typedef struct planning {
  shoal_theta *t;
  shoal_random random;
  plan *plans;
  size_t n_plans, plan_capacity;
  uint32_t *like;   /* by planned row */
  uint32_t *values; /* n_columns a row */
  size_t n_rows, like_capacity, value_capacity;
} planning;

static bool reaches_all(const shoal_theta *t) {
  for (size_t a = 0; a < t->n_aims; a++)
    if (!shoal_aim_reached(&t->aims[a], shoal_tally_variance(&t->aims[a].here))) return false;
  return true;
}

static uint32_t absent_value(const shoal_theta_aim *aim) {
  for (uint32_t i = 0; i < aim->n_known; i++)
    if (!aim->here.count[aim->by_frequency[i]]) return aim->by_frequency[i];
  return SHOAL_NO_VALUE;
}

static void count_value(shoal_theta_aim *aim, uint32_t code) {
  uint32_t value = shoal_column_missing(aim->column, code) ? SHOAL_NO_VALUE : code;
  if (value != SHOAL_NO_VALUE && !aim->here.count[value])
    aim->here.values[aim->here.n_values++] = value;
  shoal_tally_put(&aim->here, value);
}

/* One more planned row, already counted in the tallies; false: no value is left, or no memory. */
static bool plan_row(planning *p, uint32_t c) {
  shoal_theta *t = p->t;
  const shoal_tracked *tracked = t->task->fit->tracked;
  size_t width = tracked->n_columns;
  if (!shoal_grow(&p->like, &p->like_capacity, p->n_rows + 1, sizeof *p->like) ||
      !shoal_grow(&p->values, &p->value_capacity, (p->n_rows + 1) * width, sizeof *p->values)) {
    t->failed = true;
    return false;
  }
  uint32_t row = shoal_theta_rows(t, c)[shoal_random_below(&p->random, shoal_theta_size(t, c))];
  uint32_t *values = p->values + p->n_rows * width;
  for (size_t s = 0; s < width; s++) values[s] = shoal_column_code(tracked->columns[s], row);
  for (size_t a = 0; a < t->n_aims; a++) {
    shoal_theta_aim *aim = &t->aims[a];
    if (shoal_aim_reached(aim, shoal_tally_variance(&aim->here))) continue;
    uint32_t value = absent_value(aim);
    if (value == SHOAL_NO_VALUE) return false;
    values[aim->tracked] = value;
  }
  for (size_t a = 0; a < t->n_aims; a++) count_value(&t->aims[a], values[t->aims[a].tracked]);
  p->like[p->n_rows++] = row;
  return true;
}

/* The rows that would mend a class; none where nothing does. */
static void plan_class(planning *p, uint32_t c, uint64_t most) {
  shoal_theta *t = p->t;
  const uint32_t *rows = shoal_theta_rows(t, c);
  uint32_t size = shoal_theta_size(t, c), n = 0;
  size_t first = p->n_rows, width = t->noise.n_columns;
  for (size_t a = 0; a < t->n_aims; a++)
    shoal_tally_fill(&t->aims[a].here, shoal_theta_values(t, &t->aims[a], c), size);
  bool reached = reaches_all(t);
  while (!reached && n < most && plan_row(p, c)) {
    n++;
    reached = reaches_all(t);
  }
  t->noise_short = t->noise_short || (!reached && n == most);
  for (size_t a = 0; a < t->n_aims; a++) shoal_tally_clear(&t->aims[a].here);
  shoal_added added = {.values = p->values + first * width, .n = n, .n_columns = width};
  bool mended = reached && n && shoal_judging_fits_with(&t->all, rows, size, added);
  if (mended && shoal_grow(&p->plans, &p->plan_capacity, p->n_plans + 1, sizeof *p->plans))
    p->plans[p->n_plans++] = (plan){c, n, first};
  else if (mended) t->failed = true;
  else p->n_rows = first;
}

static int fewest_first(const void *a, const void *b) {
  const plan *x = a, *y = b;
  if (x->n != y->n) return x->n < y->n ? -1 : 1;
  return (x->c > y->c) - (x->c < y->c);
}

static bool carry_out(planning *p, const plan *planned) {
  shoal_theta *t = p->t;
  shoal_noise *noise = &t->noise;
  size_t n = (size_t)noise->n + planned->n, width = noise->n_columns;
  if (!shoal_grow(&noise->cluster, &t->cluster_capacity, n, sizeof *noise->cluster) ||
      !shoal_grow(&noise->like, &t->like_capacity, n, sizeof *noise->like) ||
      !shoal_grow(&noise->values, &t->value_capacity, n * width, sizeof *noise->values))
    return false;
  memcpy(noise->like + noise->n, p->like + planned->first, planned->n * sizeof *noise->like);
  memcpy(noise->values + noise->n * width, p->values + planned->first * width,
         planned->n * width * sizeof *noise->values);
  for (uint32_t i = 0; i < planned->n; i++) noise->cluster[noise->n++] = planned->c;
  t->closed[planned->c] = 1;
  t->fails[planned->c] = 0;
  return true;
}

shoal_status shoal_theta_add_noise(shoal_theta *t, shoal_error *error) {
  planning p = {.t = t};
  uint64_t most = t->task->most_noise < UINT32_MAX ? t->task->most_noise : UINT32_MAX - 1;
  shoal_random_seed(&p.random, t->task->seed + t->noise.n);
  for (uint32_t c = 0; c < t->n_classes && !t->failed; c++)
    if (t->fails[c]) plan_class(&p, c, most - t->noise.n);
  if (p.n_plans) qsort(p.plans, p.n_plans, sizeof *p.plans, fewest_first);
  size_t done = 0;
  for (; done < p.n_plans && !t->failed && p.plans[done].n <= most - t->noise.n; done++)
    t->failed = !carry_out(&p, &p.plans[done]);
  t->noise_short = t->noise_short || done < p.n_plans;
  free(p.plans);
  free(p.like);
  free(p.values);
  return t->failed || t->all.failed ? shoal_fail_memory(error) : SHOAL_OK;
}
