/* SPDX-License-Identifier: Apache-2.0 */
/*
 * measure/queries: draws all queries first, from one seed; each of n threads then answers every
 * n-th. A query selects max(1, round(n x selectivity^(1/dimensions))) adjacent positions of a
 * dimension with n positions, from a random first one. If values were evenly distributed, it would
 * select the share `selectivity` of the rows.
 */
#include "measure/parts.h"

#include <math.h>
#include <stdlib.h>

#include "base/random.h"

enum { MAX_THREADS = 64 };

typedef struct condition {
  uint32_t quasi, lo, hi;
} condition;

typedef struct query_run {
  const shoal_release_pair *pair;
  uint32_t dimensions;
  uint64_t n_queries;
  condition *conditions; /* dimensions of each query */
  uint32_t **positions;  /* by quasi-identifier: position of each original tuple */
  double *spread_error;  /* by query; below 0: the original has no such row */
  double *overlap_error; /* the same */
  double *selected;      /* by query: rows of the original */
  double **share;        /* by thread: selected share of each label, all labels */
  size_t *first_label;   /* by quasi-identifier: its first label there */
  unsigned n_threads;
  shoal_arena arena; /* of all arrays */
} query_run;

static bool allocate(query_run *a) {
  const shoal_release_pair *pair = a->pair;
  size_t n_conditions, n_labels = 0;
  if (__builtin_mul_overflow((size_t)a->n_queries, (size_t)a->dimensions, &n_conditions))
    return false;
  shoal_arena *arena = &a->arena;
  if (!SHOAL_ARENA_ARRAY(arena, a->conditions, n_conditions) ||
      !SHOAL_ARENA_ARRAY(arena, a->positions, pair->n_quasi) ||
      !SHOAL_ARENA_ARRAY(arena, a->spread_error, (size_t)a->n_queries) ||
      !SHOAL_ARENA_ARRAY(arena, a->overlap_error, (size_t)a->n_queries) ||
      !SHOAL_ARENA_ARRAY(arena, a->selected, (size_t)a->n_queries) ||
      !SHOAL_ARENA_ARRAY(arena, a->share, a->n_threads) ||
      !SHOAL_ARENA_ARRAY(arena, a->first_label, pair->n_quasi))
    return false;
  for (size_t q = 0; q < pair->n_quasi; q++) {
    a->first_label[q] = n_labels;
    n_labels += pair->attributes[q].released->n_values;
    if (!SHOAL_ARENA_ARRAY(arena, a->positions[q], pair->original->n_tuples)) return false;
    for (uint32_t t = 0; t < pair->original->n_tuples; t++)
      a->positions[q][t] = shoal_domain_position(&pair->attributes[q].domain, 0,
                                                 shoal_code_at(pair->original->codes[q], t));
  }
  for (unsigned i = 0; i < a->n_threads; i++)
    if (!SHOAL_ARENA_ARRAY(arena, a->share[i], n_labels)) return false;
  return true;
}

/* Draws distinct quasi-identifiers and a range of each. */
static void draw(query_run *a, double selectivity, shoal_random *random, uint32_t *order) {
  uint32_t n_quasi = (uint32_t)a->pair->n_quasi;
  double side = pow(selectivity, 1.0 / a->dimensions);
  for (uint32_t q = 0; q < n_quasi; q++) order[q] = q;
  for (uint64_t i = 0; i < a->n_queries; i++)
    for (uint32_t d = 0; d < a->dimensions; d++) {
      uint32_t other = d + (uint32_t)shoal_random_below(random, n_quasi - d);
      uint32_t quasi = order[other];
      order[other] = order[d];
      order[d] = quasi;
      uint32_t n = a->pair->attributes[quasi].domain.n_positions;
      uint32_t length = (uint32_t)floor(n * side + 0.5);
      if (length < 1) length = 1;
      if (length > n) length = n;
      uint32_t lo = (uint32_t)shoal_random_below(random, (uint64_t)n - length + 1);
      a->conditions[i * a->dimensions + d] = (condition){quasi, lo, lo + length - 1};
    }
}

static double count_original(const query_run *a, const condition *conditions) {
  const uint64_t *n_rows = a->pair->original->base.n_rows;
  const uint32_t *first = a->positions[conditions[0].quasi];
  uint32_t lo = conditions[0].lo, length = conditions[0].hi - lo;
  uint64_t rows = 0;
  for (uint32_t t = 0; t < a->pair->original->n_tuples; t++) {
    if (first[t] - lo > length) continue;
    bool inside = true;
    for (uint32_t d = 1; inside && d < a->dimensions; d++) {
      uint32_t position = a->positions[conditions[d].quasi][t];
      inside = position >= conditions[d].lo && position <= conditions[d].hi;
    }
    if (inside) rows += n_rows[t];
  }
  return (double)rows;
}

/* The share of a label's values within lo .. hi. */
static double asked_share(const shoal_domain *domain, const shoal_label_span *span, uint32_t lo,
                          uint32_t hi) {
  if (!span->n_positions) return 0;
  uint32_t from = span->lo > lo ? span->lo : lo, to = span->hi < hi ? span->hi : hi, n = 0;
  if (from > to) return 0;
  if (!span->loose) n = to - from + 1;
  for (uint32_t position = from; span->loose && position <= to; position++)
    n += shoal_domain_holds(domain, span, position);
  return (double)n / span->n_positions;
}

/* Two answers from the release. `share` is scratch. */
static void count_released(const query_run *a, const condition *conditions, double *share,
                           double *spread, double *overlap) {
  const shoal_frequency_set *f = a->pair->released;
  for (uint32_t d = 0; d < a->dimensions; d++) {
    const condition *c = &conditions[d];
    const shoal_release_pair_attribute *attribute = &a->pair->attributes[c->quasi];
    for (uint32_t code = 0; code < attribute->released->n_values; code++)
      share[a->first_label[c->quasi] + code] =
          asked_share(&attribute->domain, shoal_release_pair_span(attribute, code), c->lo, c->hi);
  }
  *spread = *overlap = 0;
  for (uint32_t class = 0; class < f->n_tuples; class ++) {
    double part = (double)f->base.n_rows[class];
    for (uint32_t d = 0; part > 0 && d < a->dimensions; d++) {
      uint32_t quasi = conditions[d].quasi;
      part *= share[a->first_label[quasi] + shoal_code_at(f->codes[quasi], class)];
    }
    *spread += part;
    if (part > 0) *overlap += (double)f->base.n_rows[class];
  }
}

static void answer(void *user, unsigned thread) {
  const query_run *a = user;
  for (uint64_t i = thread; i < a->n_queries; i += a->n_threads) {
    const condition *conditions = &a->conditions[i * a->dimensions];
    double truth = count_original(a, conditions);
    a->selected[i] = truth;
    a->spread_error[i] = a->overlap_error[i] = -1;
    if (truth <= 0) continue;
    double spread, overlap;
    count_released(a, conditions, a->share[thread], &spread, &overlap);
    a->spread_error[i] = fabs(spread - truth) / truth;
    a->overlap_error[i] = fabs(overlap - truth) / truth;
  }
}

static int ascending(const void *a, const void *b) {
  const double *x = a, *y = b;
  return (*x > *y) - (*x < *y);
}

/* Sorts the errors that are not below 0; returns how many there are. */
static size_t sum_up(double *errors, uint64_t n_queries, shoal_error_figures *out) {
  double sum = 0;
  size_t n = 0;
  for (uint64_t i = 0; i < n_queries; i++) {
    if (errors[i] < 0) continue;
    sum += errors[i];
    errors[n++] = errors[i];
  }
  if (!n) return 0;
  qsort(errors, n, sizeof *errors, ascending);
  *out = (shoal_error_figures){.mean = sum / (double)n,
                               .median = (errors[(n - 1) / 2] + errors[n / 2]) / 2,
                               .worst = errors[n - 1]};
  return n;
}

shoal_status shoal_queries_measure(const shoal_release_pair *pair, const shoal_run *run,
                                   shoal_query_error *out, shoal_error *error) {
  out->spread = out->overlap = (shoal_error_figures){NAN, NAN, NAN};
  out->mean_selected = NAN;
  if (pair->original->n_records == 0 || out->n_queries == 0) return SHOAL_OK;
  query_run a = {.pair = pair, .dimensions = out->dimensions, .n_queries = out->n_queries};
  a.n_threads = shoal_run_threads(run);
  if (a.n_threads > MAX_THREADS) a.n_threads = MAX_THREADS;
  uint32_t *order;
  bool ok = SHOAL_ARENA_ARRAY(&a.arena, order, pair->n_quasi) && allocate(&a);
  if (ok) {
    shoal_random random;
    shoal_random_seed(&random, out->seed);
    draw(&a, out->selectivity, &random, order);
    shoal_parallel(a.n_threads, answer, &a);
    double selected = 0;
    for (uint64_t i = 0; i < a.n_queries; i++) selected += a.selected[i];
    out->mean_selected = selected / (double)a.n_queries / (double)pair->original->n_records;
    out->n_skipped = a.n_queries - sum_up(a.spread_error, a.n_queries, &out->spread);
    (void)sum_up(a.overlap_error, a.n_queries, &out->overlap);
  }
  shoal_arena_reset(&a.arena);
  return ok ? SHOAL_OK : shoal_fail_memory(error);
}
