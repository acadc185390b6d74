/* SPDX-License-Identifier: Apache-2.0 */
/*
 * measure/queries: see queries.h. All queries are drawn first, from one seed; threads then answer
 * every n-th of them. A dimension of n places is asked for a stretch of
 * max(1, round(n x selectivity^(1/dimensions))) of them, from a random first one: if values were
 * evenly spread, `selectivity` of the rows.
 */
#include "measure/queries.h"

#include <math.h>
#include <stdlib.h>

#include "base/random.h"

enum { MOST_THREADS = 64 };

typedef struct condition {
  uint32_t quasi, lo, hi;
} condition;

typedef struct asking {
  const shoal_pair *pair;
  uint32_t dimensions;
  uint64_t n_queries;
  condition *conditions; /* dimensions of each query */
  uint32_t **places;     /* by quasi-identifier: each original tuple's */
  double *error;         /* by query; below 0: nothing to be compared with */
  double *selected;      /* by query: rows of the original */
  double **share;        /* by thread: share of each label that is asked for, all labels */
  size_t *first_label;   /* by quasi-identifier: where its labels begin there */
  unsigned n_threads;
} asking;

static void asking_reset(asking *a) {
  for (size_t q = 0; a->places && q < a->pair->n_quasi; q++) free(a->places[q]);
  for (unsigned i = 0; a->share && i < a->n_threads; i++) free(a->share[i]);
  free(a->conditions);
  free(a->places);
  free(a->error);
  free(a->selected);
  free(a->share);
  free(a->first_label);
}

static bool allocate(asking *a) {
  const shoal_pair *pair = a->pair;
  size_t n_conditions, n_labels = 0;
  if (__builtin_mul_overflow((size_t)a->n_queries, (size_t)a->dimensions, &n_conditions))
    return false;
  a->conditions = shoal_alloc(n_conditions, sizeof *a->conditions);
  a->places = shoal_alloc_zero(pair->n_quasi, sizeof *a->places);
  a->error = shoal_alloc((size_t)a->n_queries, sizeof *a->error);
  a->selected = shoal_alloc((size_t)a->n_queries, sizeof *a->selected);
  a->share = shoal_alloc_zero(a->n_threads, sizeof *a->share);
  a->first_label = shoal_alloc(pair->n_quasi, sizeof *a->first_label);
  if (!a->conditions || !a->places || !a->error || !a->selected || !a->share || !a->first_label)
    return false;
  for (size_t q = 0; q < pair->n_quasi; q++) {
    a->first_label[q] = n_labels;
    n_labels += pair->attributes[q].released->n_values;
    a->places[q] = shoal_alloc(pair->original->n_tuples, sizeof **a->places);
    if (!a->places[q]) return false;
    for (uint32_t t = 0; t < pair->original->n_tuples; t++)
      a->places[q][t] = shoal_domain_place(&pair->attributes[q].domain, 0,
                                           shoal_code_at(pair->original->codes[q], t));
  }
  for (unsigned i = 0; i < a->n_threads; i++) {
    a->share[i] = shoal_alloc(n_labels, sizeof **a->share);
    if (!a->share[i]) return false;
  }
  return true;
}

/* Different quasi-identifiers, in the order drawn, and a stretch of each. */
static void draw(asking *a, double selectivity, shoal_random *random, uint32_t *order) {
  uint32_t n_quasi = (uint32_t)a->pair->n_quasi;
  double side = pow(selectivity, 1.0 / a->dimensions);
  for (uint32_t q = 0; q < n_quasi; q++) order[q] = q;
  for (uint64_t i = 0; i < a->n_queries; i++)
    for (uint32_t d = 0; d < a->dimensions; d++) {
      uint32_t other = d + (uint32_t)shoal_random_below(random, n_quasi - d);
      uint32_t quasi = order[other];
      order[other] = order[d];
      order[d] = quasi;
      uint32_t n = a->pair->attributes[quasi].domain.n_places;
      uint32_t length = (uint32_t)floor(n * side + 0.5);
      if (length < 1) length = 1;
      if (length > n) length = n;
      uint32_t lo = (uint32_t)shoal_random_below(random, (uint64_t)n - length + 1);
      a->conditions[i * a->dimensions + d] = (condition){quasi, lo, lo + length - 1};
    }
}

static double count_original(const asking *a, const condition *conditions) {
  const uint64_t *n_rows = a->pair->original->base.n_rows;
  const uint32_t *first = a->places[conditions[0].quasi];
  uint32_t lo = conditions[0].lo, length = conditions[0].hi - lo;
  uint64_t rows = 0;
  for (uint32_t t = 0; t < a->pair->original->n_tuples; t++) {
    if (first[t] - lo > length) continue;
    bool inside = true;
    for (uint32_t d = 1; inside && d < a->dimensions; d++) {
      uint32_t place = a->places[conditions[d].quasi][t];
      inside = place >= conditions[d].lo && place <= conditions[d].hi;
    }
    if (inside) rows += n_rows[t];
  }
  return (double)rows;
}

/* Of the values that a label can stand for, the share within lo .. hi. */
static double asked_share(const shoal_domain *domain, const shoal_cover *cover, uint32_t lo,
                          uint32_t hi) {
  if (!cover->n_places) return 0;
  uint32_t from = cover->lo > lo ? cover->lo : lo, to = cover->hi < hi ? cover->hi : hi, n = 0;
  if (from > to) return 0;
  if (!cover->loose) n = to - from + 1;
  for (uint32_t place = from; cover->loose && place <= to; place++)
    n += shoal_domain_holds(domain, cover, place);
  return (double)n / cover->n_places;
}

static double count_released(const asking *a, const condition *conditions, double *share) {
  const shoal_frequency *f = a->pair->released;
  for (uint32_t d = 0; d < a->dimensions; d++) {
    const condition *c = &conditions[d];
    const shoal_pair_attribute *attribute = &a->pair->attributes[c->quasi];
    for (uint32_t code = 0; code < attribute->released->n_values; code++)
      share[a->first_label[c->quasi] + code] =
          asked_share(&attribute->domain, shoal_pair_cover(attribute, code), c->lo, c->hi);
  }
  double rows = 0;
  for (uint32_t class = 0; class < f->n_tuples; class ++) {
    double part = (double)f->base.n_rows[class];
    for (uint32_t d = 0; part > 0 && d < a->dimensions; d++) {
      uint32_t quasi = conditions[d].quasi;
      part *= share[a->first_label[quasi] + shoal_code_at(f->codes[quasi], class)];
    }
    rows += part;
  }
  return rows;
}

static void answer(void *user, unsigned thread) {
  const asking *a = user;
  for (uint64_t i = thread; i < a->n_queries; i += a->n_threads) {
    const condition *conditions = &a->conditions[i * a->dimensions];
    double truth = count_original(a, conditions);
    a->selected[i] = truth;
    a->error[i] =
        truth > 0 ? fabs(count_released(a, conditions, a->share[thread]) - truth) / truth : -1;
  }
}

static int ascending(const void *a, const void *b) {
  const double *x = a, *y = b;
  return (*x > *y) - (*x < *y);
}

static void sum_up(const asking *a, shoal_query_error *out) {
  double sum = 0, selected = 0;
  size_t n = 0;
  for (uint64_t i = 0; i < a->n_queries; i++) {
    selected += a->selected[i];
    if (a->error[i] < 0) continue;
    sum += a->error[i];
    a->error[n++] = a->error[i];
  }
  if (n > 1) qsort(a->error, n, sizeof *a->error, ascending);
  out->n_skipped = a->n_queries - n;
  double rows = (double)a->pair->original->n_records;
  out->mean_selected = rows > 0 ? selected / (double)a->n_queries / rows : NAN;
  out->mean = n ? sum / (double)n : NAN;
  out->worst = n ? a->error[n - 1] : NAN;
  out->median = n ? (a->error[(n - 1) / 2] + a->error[n / 2]) / 2 : NAN;
}

shoal_status shoal_queries_measure(const shoal_pair *pair, const shoal_run *run,
                                   shoal_query_error *out, shoal_error *error) {
  out->mean = out->median = out->worst = out->mean_selected = NAN;
  if (pair->original->n_records == 0 || out->n_queries == 0) return SHOAL_OK;
  asking a = {.pair = pair, .dimensions = out->dimensions, .n_queries = out->n_queries};
  a.n_threads = shoal_run_threads(run);
  if (a.n_threads > MOST_THREADS) a.n_threads = MOST_THREADS;
  uint32_t *order = shoal_alloc(pair->n_quasi, sizeof *order);
  bool ok = order && allocate(&a);
  if (ok) {
    shoal_random random;
    shoal_random_seed(&random, out->seed);
    draw(&a, out->selectivity, &random, order);
    shoal_parallel(a.n_threads, answer, &a);
    sum_up(&a, out);
  }
  free(order);
  asking_reset(&a);
  return ok ? SHOAL_OK : shoal_fail_memory(error);
}
