/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench/bound: prints a lower bound of nil over all k-anonymous partitions of a table (bound.h).
 *
 *     bound DATA POLICY [K [MILLIONS]]
 *
 * K overrides the policy's k. No other model is looked at: they only raise the loss. MILLIONS
 * limits the work (default: 10000 million tuples looked at, about a minute). Nothing is suppressed,
 * and weights do not count. The bound is valid wherever the work ends, and the same on every
 * machine.
 *
 * The ascent raises all y by a share and repairs them in one sweep over all boxes, again and again;
 * the share is made smaller whenever the sum gains little. It starts low, where sweeps are short.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bound.h"
#include "context/context.h"
#include "shoal/shoal.h"

static const double first_raise = 0.1, last_raise = 0.0005, slower = 0.95, little_gain = 0.2;
static const double first_y = 0.02; /* an axis */
static const double floor_share =
    0.02; /* of the mean: what y is raised by at least, times the raise */

typedef struct job {
  shoal_run run;
  shoal_policy *policy;
  shoal_table *table;
  shoal_context context;
  shoal_axes axes;
  bound bound;
  double *best;
  double highest; /* mean of best over the rows */
  const char *method;
  unsigned n_sweeps;
  bool complete; /* the ascent ended by itself */
  shoal_error error;
} job;

static double cpu_seconds(void) {
  struct timespec now;
  (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* ------------------------------------------------------------ the table */

/* Trees before numbers; trees with most places first, numbers with fewest. */
static bool comes_before(const shoal_axis *a, const shoal_axis *c) {
  bool tree = a->kind != SHOAL_AXIS_NUMBER, other = c->kind != SHOAL_AXIS_NUMBER;
  if (tree != other) return tree;
  return tree ? a->n_positions > c->n_positions : a->n_positions < c->n_positions;
}

static bool fill_tree(bound_axis *to, const shoal_axis *from, double full) {
  const shoal_hierarchy *hierarchy = from->hierarchy;
  to->n_levels = hierarchy->n_levels;
  to->label = shoal_alloc_zero(to->n_levels, sizeof *to->label);
  to->loss = shoal_alloc_zero(to->n_levels, sizeof *to->loss);
  for (uint32_t l = 0; to->label && to->loss && l < to->n_levels; l++) {
    const shoal_level *level = &hierarchy->levels[l];
    to->label[l] = shoal_alloc(to->n_positions, sizeof **to->label);
    to->loss[l] = shoal_alloc(level->n_labels, sizeof **to->loss);
    if (!to->label[l] || !to->loss[l]) return false;
    for (uint32_t p = 0; p < to->n_positions; p++)
      to->label[l][p] = level->of_leaf[from->code_at[p]];
    for (uint32_t t = 0; t < level->n_labels; t++) to->loss[l][t] = from->loss_at[l][t] / full;
  }
  return to->label && to->loss;
}

/* A set as a tree of one level: several values lose at least what two of them lose. */
static bool fill_set(bound_axis *to, const shoal_axis *from, double full) {
  to->n_levels = 2;
  to->label = shoal_alloc_zero(to->n_levels, sizeof *to->label);
  to->loss = shoal_alloc_zero(to->n_levels, sizeof *to->loss);
  for (uint32_t l = 0; to->label && to->loss && l < to->n_levels; l++) {
    to->label[l] = shoal_alloc_zero(to->n_positions, sizeof **to->label);
    to->loss[l] = shoal_alloc_zero(to->n_positions, sizeof **to->loss);
    if (!to->label[l] || !to->loss[l]) return false;
    for (uint32_t p = 0; l == 0 && p < to->n_positions; p++) to->label[l][p] = p;
    if (l) to->loss[l][0] = to->n_positions > 1 ? from->set_loss[2] / full : 0;
  }
  return to->label && to->loss;
}

static bool fill_axis(bound *b, size_t d, const shoal_axes *axes, size_t q) {
  bound_axis *to = &b->axes[d];
  const shoal_axis *from = &axes->items[q];
  double full = from->full ? from->full : 1;
  *to = (bound_axis){.number = from->kind == SHOAL_AXIS_NUMBER,
                     .n_positions = from->n_positions,
                     .n_numbers = from->n_numbers};
  to->place = shoal_alloc(b->n_tuples, sizeof *to->place);
  b->sets[d] = shoal_alloc(b->n_tuples, sizeof *b->sets[d]);
  if (!to->place || !b->sets[d]) return false;
  for (uint32_t t = 0; t < b->n_tuples; t++) to->place[t] = shoal_axes_tuple(axes, t)[q];
  if (!to->number)
    return from->kind == SHOAL_AXIS_SET ? fill_set(to, from, full) : fill_tree(to, from, full);
  to->position = shoal_alloc(to->n_numbers, sizeof *to->position);
  for (uint32_t p = 0; to->position && p < to->n_numbers; p++)
    to->position[p] = from->low_end[p] / full;
  return to->position != NULL;
}

static bool fill_axes(bound *b, const shoal_axes *axes) {
  size_t order[BOUND_MOST_AXES], n = 0;
  uint32_t max_positions = 0;
  for (size_t q = 0; q < axes->n; q++) {
    size_t at = n++;
    for (; at && comes_before(&axes->items[q], &axes->items[order[at - 1]]); at--)
      order[at] = order[at - 1];
    order[at] = q;
    if (axes->items[q].n_positions > max_positions) max_positions = axes->items[q].n_positions;
  }
  for (size_t d = 0; d < n; d++)
    if (!fill_axis(b, d, axes, order[d])) return false;
  b->counts = shoal_alloc((size_t)max_positions + 1, sizeof *b->counts);
  return b->counts != NULL;
}

static shoal_status fill(job *j, uint32_t k) {
  bound *b = &j->bound;
  const shoal_axes *axes = &j->axes;
  if (axes->n >= BOUND_MOST_AXES)
    return shoal_fail(&j->error, SHOAL_BAD_INPUT, "more than %d quasi-identifiers",
                      BOUND_MOST_AXES - 1);
  b->n_axes = axes->n;
  b->n_tuples = axes->n_tuples;
  b->k = k;
  b->rows_of = shoal_alloc(b->n_tuples, sizeof *b->rows_of);
  b->y = shoal_alloc(b->n_tuples, sizeof *b->y);
  j->best = shoal_alloc_zero(b->n_tuples, sizeof *j->best);
  b->sets[axes->n] = shoal_alloc(b->n_tuples, sizeof *b->sets[axes->n]);
  bool ok = b->rows_of && b->y && j->best && b->sets[axes->n] && fill_axes(b, axes);
  for (size_t d = 0; ok && d <= axes->n; d++) {
    b->tops[d].entries = shoal_alloc((size_t)k + 1, sizeof *b->tops[d].entries);
    ok = b->tops[d].entries != NULL;
  }
  if (!ok) return shoal_fail_memory(&j->error);
  for (uint32_t t = 0; t < b->n_tuples; t++) {
    b->rows_of[t] = (uint32_t)j->context.frequency->base.n_rows[t];
    b->n_rows += b->rows_of[t];
  }
  return SHOAL_OK;
}

static shoal_status load(job *j, const char *data, const char *policy) {
  SHOAL_TRY(shoal_policy_read(policy, &j->policy, &j->error));
  SHOAL_TRY(
      shoal_table_read(data, j->policy, SHOAL_FOR_RELEASE, NULL, &j->run, &j->table, &j->error));
  SHOAL_TRY(shoal_context_init(&j->context, j->table, j->policy, SHOAL_CONTEXT_LOCAL, &j->run,
                               &j->error));
  return shoal_axes_init(&j->axes, j->context.frequency, j->context.quasi_attributes, NULL,
                         SHOAL_LOSS_HEIGHT, &j->error);
}

static void reset(job *j) {
  bound *b = &j->bound;
  for (size_t d = 0; d < BOUND_MOST_AXES; d++) {
    bound_axis *axis = &b->axes[d];
    for (uint32_t l = 0; axis->label && axis->loss && l < axis->n_levels; l++) {
      free(axis->label[l]);
      free(axis->loss[l]);
    }
    free(axis->label);
    free(axis->loss);
    free(axis->position);
    free(axis->place);
    free(b->sets[d]);
    free(b->tops[d].entries);
  }
  free(b->counts);
  free(b->rows_of);
  free(b->y);
  free(j->best);
  shoal_axes_reset(&j->axes);
  shoal_context_reset(&j->context);
  shoal_table_free(j->table);
  shoal_policy_free(j->policy);
}

/* ------------------------------------------------------------ the bound */

static double mean(const bound *b) {
  double sum = 0;
  for (uint32_t t = 0; t < b->n_tuples; t++) sum += b->y[t] * b->rows_of[t];
  return sum / (double)b->n_rows;
}

static void keep_best(job *j, const char *method) {
  double now = mean(&j->bound);
  if (now <= j->highest) return;
  j->highest = now;
  j->method = method;
  memcpy(j->best, j->bound.y, j->bound.n_tuples * sizeof *j->best);
}

static void ascend(job *j) {
  bound *b = &j->bound;
  double raise = first_raise, before = 0;
  j->complete = b->k == 1; /* nothing is lost */
  if (j->complete) return;
  for (uint32_t t = 0; t < b->n_tuples; t++) b->y[t] = first_y * (double)b->n_axes;
  for (; raise > last_raise; j->n_sweeps++) {
    bound_sweep(b);
    if (b->ended) return;
    keep_best(j, "boxes");
    double now = mean(b);
    if (now <= 0) break; /* every row has k - 1 others like it */
    if (now < before * (1 + little_gain * raise)) raise *= slower;
    before = now;
    /* what is 0 stays so if its tuple has k rows: the next sweep sees to it */
    for (uint32_t t = 0; t < b->n_tuples; t++) b->y[t] += raise * (b->y[t] + floor_share * now);
  }
  j->complete = true;
}

/* Losses are whole numbers of a unit, and where these are rounded, so is a bound made of them. */
static double certain(const job *j) {
  double nil = j->highest / (double)j->bound.n_axes * (1 - 1e-9);
  for (size_t q = 0; !j->axes.exact && q < j->axes.n; q++)
    if (j->axes.items[q].full) nil -= 2 / (double)j->axes.items[q].full / (double)j->axes.n;
  return nil > 0 ? nil : 0;
}

static shoal_status write_y(job *j, const char *path) {
  FILE *file = fopen(path, "w");
  for (uint64_t row = 0; file && row < j->axes.n_rows; row++)
    fprintf(file, "%.17g\n", j->best[j->axes.tuple_of_row[row]] * (1 - 1e-9));
  if (!file || fclose(file) != 0)
    return shoal_fail(&j->error, SHOAL_FAILED, "%s: cannot be written", path);
  return SHOAL_OK;
}

static shoal_status run(job *j, uint32_t k, uint64_t max_work) {
  double start = cpu_seconds();
  if (k == 0) k = (uint32_t)j->context.requirements.k;
  if (k > j->axes.n_rows)
    return shoal_fail(&j->error, SHOAL_BAD_INPUT, "k is %u, but there are only %llu rows", k,
                      (unsigned long long)j->axes.n_rows);
  SHOAL_TRY(fill(j, k));
  j->method = "none";
  j->bound.max_work = max_work;
  ascend(j);
  if (j->bound.ended && j->n_sweeps == 0) {
    j->bound.work = 0;
    if (bound_pairs(&j->bound)) keep_best(j, "pairs");
  }
  printf("{\"rows\": %llu, \"tuples\": %u, \"k\": %u, \"nil\": %.17g, \"method\": \"%s\", "
         "\"complete\": %s, \"sweeps\": %u, \"seconds\": %.3f}\n",
         (unsigned long long)j->bound.n_rows, j->bound.n_tuples, k, certain(j), j->method,
         j->complete ? "true" : "false", j->n_sweeps, cpu_seconds() - start);
  return SHOAL_OK;
}

int main(int argc, char **argv) {
  if (argc < 3 || argc > 6) {
    fprintf(stderr, "usage: bound DATA POLICY [K [MILLIONS [FILE]]]\n");
    return 2;
  }
  job *j = shoal_alloc_zero(1, sizeof *j);
  if (!j) return 3;
  j->run.n_threads = 1;
  uint64_t millions = argc > 4 ? strtoull(argv[4], NULL, 10) : 10000;
  shoal_status status = load(j, argv[1], argv[2]);
  if (status == SHOAL_OK)
    status = run(j, argc > 3 ? (uint32_t)strtoul(argv[3], NULL, 10) : 0, millions * 1000000);
  if (status == SHOAL_OK && argc > 5) status = write_y(j, argv[5]);
  if (status != SHOAL_OK) fprintf(stderr, "bound: %s\n", j->error.message);
  reset(j);
  free(j);
  return status == SHOAL_OK ? 0 : 1;
}
