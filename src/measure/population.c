/* SPDX-License-Identifier: Apache-2.0 */
/*
 * measure/population: counts the people of a population that match each class of a release.
 *
 * People are kept as distinct tuples. Quasi-identifiers whose labels do not overlap (full-domain
 * recoding) form a key: only tuples and classes with equal keys can match. Within a key, tuples are
 * sorted by position of one other quasi-identifier, and a class scans only the range that its label
 * covers. Classes with a star where others have labels scan all tuples.
 */
#include <math.h>
#include <stdlib.h>

#include "base/hash.h"
#include "measure/parts.h"

/* A quasi-identifier that the population has. */
typedef struct known {
  size_t quasi; /* of the pair */
  shoal_domain domain;
  uint32_t *code_at;  /* by position: the only label that covers it; NULL: labels overlap */
  uint32_t *position; /* by tuple of the population */
} known;

typedef struct population_match {
  const shoal_release_pair *pair;
  known *items;
  size_t n;
  shoal_frequency_set *people;
  const known *sorted_by; /* NULL: not sorted */
  shoal_ids keys;
  uint32_t *key_of_class; /* SHOAL_NONE: it scans all tuples */
  uint32_t *tuples;       /* of the population, sorted by key and position */
  size_t *start;          /* of each key, in `tuples`; n_keys + 1 */
  uint64_t *fitting;      /* by class: people */
  unsigned n_threads;
  shoal_arena arena; /* of the arrays */
} population_match;

static void crowd_reset(population_match *c) {
  for (size_t i = 0; i < c->n; i++) shoal_domain_reset(&c->items[i].domain);
  shoal_frequency_set_free(c->people);
  shoal_ids_reset(&c->keys);
  shoal_arena_reset(&c->arena);
}

/* ------------------------------------------------------------ quasi-identifiers of the population
 */

static shoal_status know(population_match *c, const shoal_policy *policy,
                         const shoal_table *population, size_t quasi, const shoal_column *column,
                         shoal_error *error) {
  const shoal_release_pair_attribute *a = &c->pair->attributes[quasi];
  known *item = &c->items[c->n];
  shoal_source_column labels = {c->pair->released->table, a->released};
  shoal_source_column raw[] = {{c->pair->original->table, a->original}, {population, column}};
  shoal_domain_request request = {.policy = policy,
                                  .attribute = a->attribute,
                                  .released = &labels,
                                  .n_released = 1,
                                  .raw = raw,
                                  .n_raw = 2,
                                  .complete = true};
  SHOAL_TRY(shoal_domain_init(&item->domain, &request, error));
  item->quasi = quasi;
  c->n++;
  return SHOAL_OK;
}

static shoal_status know_all(population_match *c, const shoal_policy *policy,
                             const shoal_table *population, const shoal_run *run,
                             shoal_error *error) {
  size_t n_quasi = c->pair->n_quasi;
  const shoal_column **columns;
  const shoal_hierarchy **none;
  if (!SHOAL_ARENA_ARRAY(&c->arena, columns, n_quasi) ||
      !SHOAL_ARENA_ZEROED(&c->arena, none, n_quasi) ||
      !SHOAL_ARENA_ZEROED(&c->arena, c->items, n_quasi))
    return shoal_fail_memory(error);
  for (size_t q = 0; q < n_quasi; q++) {
    const char *name = c->pair->attributes[q].attribute->name;
    const shoal_column *column = shoal_table_column(population, name);
    if (!column) continue;
    columns[c->n] = column;
    SHOAL_TRY(know(c, policy, population, q, column, error));
  }
  SHOAL_TRY(shoal_frequency_set_build(population, columns, none, c->n, NULL, NULL, 0, run,
                                      &c->people, error));
  c->people->hierarchies = NULL;
  return SHOAL_OK;
}

static bool position_tuples(population_match *c) {
  for (size_t i = 0; i < c->n; i++) {
    known *item = &c->items[i];
    if (!SHOAL_ARENA_ARRAY(&c->arena, item->position, c->people->n_tuples)) return false;
    for (uint32_t t = 0; t < c->people->n_tuples; t++)
      item->position[t] =
          shoal_domain_position(&item->domain, 1, shoal_code_at(c->people->codes[i], t));
  }
  return true;
}

/* ------------------------------------------------------------ keys */

/* The label of each position, if no two labels except stars overlap. False: no memory. */
static bool find_partition(population_match *c, known *item) {
  const shoal_release_pair_attribute *a = &c->pair->attributes[item->quasi];
  uint32_t n = item->domain.n_positions, *code_at;
  if (!SHOAL_ARENA_ARRAY(&c->arena, code_at, n)) return false;
  for (uint32_t position = 0; position < n; position++) code_at[position] = SHOAL_NONE;
  bool apart = true;
  for (uint32_t code = 0; apart && code < a->released->n_values; code++) {
    const shoal_label_span *span = shoal_domain_span(&item->domain, 0, code);
    if (span->everything || !span->n_positions) continue;
    apart = !span->loose;
    for (uint32_t position = span->lo; apart && position <= span->hi; position++) {
      apart = code_at[position] == SHOAL_NONE;
      code_at[position] = code;
    }
  }
  if (apart) item->code_at = code_at;
  return true;
}

/* The key of a class; SHOAL_NONE: it has a star where others have labels. */
static bool class_key(population_match *c, uint32_t class, uint32_t *key) {
  *key = 0;
  for (size_t i = 0; i < c->n; i++) {
    const known *item = &c->items[i];
    if (!item->code_at) continue;
    uint32_t code = shoal_code_at(c->pair->released->codes[item->quasi], class);
    if (shoal_domain_span(&item->domain, 0, code)->everything) {
      *key = SHOAL_NONE;
      return true;
    }
    *key = shoal_ids_insert(&c->keys, (uint64_t)*key << 32 | code);
    if (*key == SHOAL_NONE) return false;
    ++*key; /* the first key is 0 */
  }
  return true;
}

/* The key of a tuple; SHOAL_NONE: no class has it. */
static uint32_t tuple_key(const population_match *c, uint32_t tuple) {
  uint32_t key = 0;
  for (size_t i = 0; i < c->n; i++) {
    const known *item = &c->items[i];
    if (!item->code_at) continue;
    uint32_t position = item->position[tuple];
    uint32_t code = position == SHOAL_NONE ? SHOAL_NONE : item->code_at[position];
    if (code == SHOAL_NONE) return SHOAL_NONE;
    key = shoal_ids_find(&c->keys, (uint64_t)key << 32 | code);
    if (key == SHOAL_NONE) return SHOAL_NONE;
    key++;
  }
  return key;
}

typedef struct placed {
  uint32_t key, position, tuple;
} placed;

static int by_key_and_position(const void *a, const void *b) {
  const placed *x = a, *y = b;
  if (x->key != y->key) return x->key < y->key ? -1 : 1;
  if (x->position != y->position) return x->position < y->position ? -1 : 1;
  return x->tuple < y->tuple ? -1 : 1;
}

static bool sort_tuples(population_match *c) {
  uint32_t n_tuples = c->people->n_tuples;
  placed *order;
  if (!SHOAL_ARENA_ARRAY(&c->arena, order, n_tuples) ||
      !SHOAL_ARENA_ARRAY(&c->arena, c->tuples, n_tuples) ||
      !SHOAL_ARENA_ZEROED(&c->arena, c->start, (size_t)c->keys.n_ids + 2))
    return false;
  size_t n = 0;
  for (uint32_t t = 0; t < n_tuples; t++) {
    uint32_t key = tuple_key(c, t);
    if (key == SHOAL_NONE) continue;
    order[n++] = (placed){key, c->sorted_by ? c->sorted_by->position[t] : 0, t};
    c->start[key + 1]++;
  }
  if (n > 1) qsort(order, n, sizeof *order, by_key_and_position);
  for (size_t i = 0; i < n; i++) c->tuples[i] = order[i].tuple;
  for (uint32_t key = 0; key <= c->keys.n_ids; key++) c->start[key + 1] += c->start[key];
  return true;
}

/* ------------------------------------------------------------ who fits */

static bool fits(const population_match *c, uint32_t class, uint32_t tuple, bool all) {
  for (size_t i = 0; i < c->n; i++) {
    const known *item = &c->items[i];
    if (item->code_at && !all) continue; /* the key has decided */
    uint32_t code = shoal_code_at(c->pair->released->codes[item->quasi], class);
    if (!shoal_domain_holds(&item->domain, shoal_domain_span(&item->domain, 0, code),
                            item->position[tuple]))
      return false;
  }
  return true;
}

/* The first of tuples begin .. end that is not below `position`. */
static size_t first_at(const population_match *c, size_t begin, size_t end, uint32_t position) {
  while (begin < end) {
    size_t middle = begin + (end - begin) / 2;
    if (c->sorted_by->position[c->tuples[middle]] < position) begin = middle + 1;
    else end = middle;
  }
  return begin;
}

static uint64_t count_fitting(const population_match *c, uint32_t class) {
  uint32_t key = c->key_of_class[class];
  const uint64_t *n_rows = c->people->base.n_rows;
  uint64_t sum = 0;
  if (key == SHOAL_NONE) {
    for (uint32_t t = 0; t < c->people->n_tuples; t++)
      if (fits(c, class, t, true)) sum += n_rows[t];
    return sum;
  }
  size_t begin = c->start[key], end = c->start[key + 1];
  if (c->sorted_by) {
    uint32_t code = shoal_code_at(c->pair->released->codes[c->sorted_by->quasi], class);
    const shoal_label_span *span = shoal_domain_span(&c->sorted_by->domain, 0, code);
    if (!span->everything) {
      begin = first_at(c, begin, end, span->lo);
      end = first_at(c, begin, end, span->hi + 1);
    }
  }
  for (size_t i = begin; i < end; i++)
    if (fits(c, class, c->tuples[i], false)) sum += n_rows[c->tuples[i]];
  return sum;
}

static void count_part(void *user, unsigned thread) {
  const population_match *c = user;
  for (uint32_t class = thread; class < c->pair->released->n_tuples; class += c->n_threads)
    c->fitting[class] = count_fitting(c, class);
}

static bool count_people(population_match *c) {
  uint32_t n_classes = c->pair->released->n_tuples;
  if (!SHOAL_ARENA_ARRAY(&c->arena, c->key_of_class, n_classes) ||
      !SHOAL_ARENA_ZEROED(&c->arena, c->fitting, n_classes) || !position_tuples(c))
    return false;
  for (size_t i = 0; i < c->n; i++)
    if (!find_partition(c, &c->items[i])) return false;
  /* The overlapping quasi-identifier with the most values. */
  for (size_t i = 0; i < c->n; i++) {
    const known *item = &c->items[i];
    if (item->code_at) continue;
    if (!c->sorted_by || item->domain.n_positions > c->sorted_by->domain.n_positions)
      c->sorted_by = item;
  }
  for (uint32_t class = 0; class < n_classes; class ++)
    if (!class_key(c, class, &c->key_of_class[class])) return false;
  if (!sort_tuples(c)) return false;
  shoal_parallel(c->n_threads, count_part, c);
  return true;
}

static void sum_up(const population_match *c, shoal_population_risk *out) {
  const shoal_threshold *thresholds = shoal_thresholds();
  double sum = 0, matched = 0;
  uint64_t least = 0;
  out->population_rows = c->people->n_records;
  for (uint32_t class = 0; class < c->pair->released->n_tuples; class ++) {
    uint64_t rows = c->pair->released->base.n_rows[class], people = c->fitting[class];
    if (people == 0) {
      out->unmatched_rows += rows;
      continue;
    }
    if (least == 0 || people < least) least = people;
    if (people == 1) out->population_unique_rows += rows;
    sum += (double)rows / (double)people;
    matched += (double)rows;
    for (size_t t = 0; t < SHOAL_N_THRESHOLDS; t++)
      if (people < thresholds[t].class_size) out->at_risk.n_rows[t] += rows;
  }
  double released = (double)c->pair->released->n_records;
  out->highest = least ? 1 / (double)least : NAN;
  out->average = matched > 0 ? sum / matched : NAN;
  out->marketer = released > 0 ? sum / released : NAN;
}

shoal_status shoal_population_measure(const shoal_release_pair *pair, const shoal_policy *policy,
                                      const shoal_table *population, const shoal_run *run,
                                      shoal_population_risk *out, shoal_error *error) {
  population_match c = {.pair = pair, .n_threads = shoal_run_threads(run)};
  if (!shoal_ids_init(&c.keys, 1024)) return shoal_fail_memory(error);
  shoal_status status = know_all(&c, policy, population, run, error);
  if (status == SHOAL_OK && !count_people(&c)) status = shoal_fail_memory(error);
  if (status == SHOAL_OK) sum_up(&c, out);
  crowd_reset(&c);
  return status;
}
