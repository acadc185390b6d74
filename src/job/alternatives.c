/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job/alternatives: variants of a release of `auto`, each made as `anonymize` would make it under
 * the changed policy: local recoding; uniform labels; uniform labels with more suppressed rows; a
 * smaller and a larger k by the release's method. The report shows them beside the release, with
 * the lines of the policy that select each.
 */
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "job/release.h"
#include "table/subset.h"

/* Searches of variants may read three times the classes that the release's search read, or these.
 */
enum { WORK_FACTOR = 3, MIN_WORK = 5000000 };

enum { MAX_VARIANTS = 6, MAX_NAME = 48, MAX_LINES = 120 };

typedef struct variant {
  char name[MAX_NAME], lines[MAX_LINES];
  shoal_policy policy;      /* shares everything with the release's policy except what differs */
  const shoal_tried *known; /* it was made with the release; NULL: it was not */
  bool searches;            /* a lattice */
  bool chosen;
} variant;

typedef struct maker {
  shoal_release *release;
  const shoal_table *table; /* the release's, or a sample of it */
  shoal_run run;
  const shoal_tried *local, *uniform; /* what the release tried; NULL: it did not */
  uint64_t work_left;                 /* classes */
  variant variants[MAX_VARIANTS];
  size_t n_variants;
  shoal_alternatives *out;
} maker;

/* ------------------------------------------------------------ which variants */

static variant *add_variant(maker *m, const char *name) {
  variant *v = &m->variants[m->n_variants++];
  v->policy = *m->release->context.policy;
  (void)snprintf(v->name, sizeof v->name, "%s", name);
  return v;
}

/* Makes the policy ask for uniform labels, or for local recoding; `line` is what it then has. */
static void set_method(const maker *m, variant *v, bool uniform, char *line, size_t size) {
  if (uniform) v->policy.uniform_labels = true;
  else v->policy.algorithm.text = m->local->algorithm;
  (void)snprintf(line, size, "method: {%s%s}",
                 uniform ? "labels: uniform" : "algorithm: ", uniform ? "" : m->local->algorithm);
}

static uint64_t allowed_rows(const maker *m, shoal_amount amount) {
  return shoal_amount_rows(amount, m->release->context.table->n_records);
}

/* Uniform labels with `percent` more suppressed rows. None if no more rows may be suppressed. */
static void add_suppression(maker *m, unsigned percent) {
  uint64_t n_rows = m->release->context.table->n_records;
  shoal_amount amount = m->release->context.policy->max_suppression;
  uint64_t before = allowed_rows(m, amount), more = percent;
  enum { MAX_SCALE = 12 }; /* the sum cannot overflow */
  if (amount.percent && amount.number.scale > MAX_SCALE) return;
  if (amount.percent) more *= shoal_power_of_ten(amount.number.scale);
  else more = n_rows / 100 * percent + n_rows % 100 * percent / 100;
  if (!amount.percent) amount.number = (shoal_decimal){(int64_t)before, 0};
  amount.number.mantissa += (int64_t)more;
  uint64_t after = allowed_rows(m, amount);
  if (after == before || after >= n_rows) return;
  char name[MAX_NAME], number[64];
  (void)snprintf(name, sizeof name, "uniform, %u%% more suppressed", percent);
  variant *v = add_variant(m, name);
  v->searches = v->policy.uniform_labels = true;
  v->policy.max_suppression = amount;
  shoal_decimal_print(amount.number.mantissa, amount.number.scale, number);
  (void)snprintf(v->lines, sizeof v->lines, "method: {labels: uniform, max-suppression: %.40s%s}",
                 number, amount.percent ? "%" : "");
}

/* The release's method with another k. It is named only if the policy allows another one. */
static void add_k(maker *m, uint64_t k) {
  char name[MAX_NAME], method[MAX_LINES / 2] = "";
  (void)snprintf(name, sizeof name, "k = %llu", (unsigned long long)k);
  variant *v = add_variant(m, name);
  v->policy.k = k;
  v->searches = m->uniform && m->uniform->chosen;
  if (m->local && m->uniform) set_method(m, v, v->searches, method, sizeof method);
  (void)snprintf(v->lines, sizeof v->lines, "privacy: {k: %llu}%s%s", (unsigned long long)k,
                 *method ? ", " : "", method);
}

static void list_variants(maker *m) {
  if (m->local) {
    variant *v = add_variant(m, "local");
    v->known = m->local;
    v->chosen = m->local->chosen;
    set_method(m, v, false, v->lines, sizeof v->lines);
  }
  if (m->uniform && m->uniform->searched) {
    variant *v = add_variant(m, "uniform");
    v->known = m->uniform;
    v->chosen = m->uniform->chosen;
    v->searches = true;
    set_method(m, v, true, v->lines, sizeof v->lines);
    add_suppression(m, 1);
    add_suppression(m, 5);
  }
  /* The steps of k are 2, 3, 5, 10, 20, 50, 100, and so on. */
  const shoal_policy *policy = m->release->context.policy;
  uint64_t lower = 0, step = 2;
  if (!policy->has_k || policy->k < 2) return;
  for (unsigned i = 0; step <= policy->k; i++) {
    if (step < policy->k) lower = step;
    if (i == 0) step = 3;
    else if (i == 1) step = 5;
    else step = i % 3 == 1 ? step / 2 * 5 : step * 2; /* 10, 20, 50 */
  }
  if (lower) add_k(m, lower);
  if (step <= m->table->n_records) add_k(m, step);
}

/* ------------------------------------------------------------ making them */

static shoal_status add_outcome(maker *m, const variant *v, const shoal_tried *made,
                                shoal_error *error) {
  shoal_result *result = m->release->result;
  shoal_alternative *a = &m->out->items[m->out->n_items];
  *a = (shoal_alternative){.found = !isnan(made->release_loss),
                           .chosen = v->chosen,
                           .release_loss = made->release_loss,
                           .suppressed = made->suppressed,
                           .smallest_class = made->smallest_class};
  SHOAL_TRY(shoal_result_copy(result, v->name, &a->name, error));
  SHOAL_TRY(shoal_result_copy(result, v->lines, &a->policy, error));
  m->out->n_items++;
  return SHOAL_OK;
}

/* What the variant's methods found: the best, and the work of all. False: the limit stopped them.
 */
static bool summarize(maker *m, const shoal_release_report *r, uint64_t limit, shoal_tried *made) {
  bool complete = true;
  for (size_t i = 0; i < r->n_tried; i++) {
    uint64_t work = r->tried[i].work;
    if (r->tried[i].chosen) *made = r->tried[i];
    m->work_left -= work < m->work_left ? work : m->work_left;
    complete = complete && !(r->tried[i].unproven && limit < SHOAL_AUTO_CLASSES);
  }
  if (!r->n_tried)
    *made =
        (shoal_tried){.release_loss = r->loss.release_loss,
                      .suppressed = r->suppressed,
                      .smallest_class = r->fewest_people ? r->fewest_people : r->smallest_class};
  return complete;
}

/*
 * A smaller k that does not lose less? The release satisfies it too, so such a variant would only
 * mislead: the search found it, but it is not the best under its policy.
 */
static bool is_pointless(const maker *m, const variant *v, double release_loss) {
  if (v->policy.k >= m->release->context.policy->k) return false;
  for (size_t i = 0; i < m->out->n_items; i++)
    if (m->out->items[i].chosen) return !(release_loss < m->out->items[i].release_loss);
  return false;
}

/* A policy that is an error, such as a k below p, is no variant. */
static shoal_status make_variant(maker *m, variant *v, shoal_error *error) {
  shoal_release other = {0};
  shoal_make_options options = {.is_variant = true, .max_work = m->work_left};
  shoal_tried made = {.release_loss = NAN};
  assert(!v->searches || m->uniform);
  uint64_t needed = v->searches ? m->uniform->unproven ? SHOAL_AUTO_CLASSES : 1 : 0;
  if (m->work_left < needed) { /* it would end at the limit */
    m->out->n_left_out++;
    return SHOAL_OK;
  }
  /* A limit in rows is for the whole table. */
  shoal_policy *policy = &v->policy;
  uint64_t n = m->table->n_records, whole = m->release->context.table->n_records;
  if (n != whole && !policy->max_suppression.percent) {
    double rows = (double)allowed_rows(m, policy->max_suppression) * (double)n / (double)whole;
    policy->max_suppression.number = (shoal_decimal){(int64_t)rows, 0};
  }
  shoal_status status = shoal_release_make(&other, m->table, &v->policy, &options, &m->run, error);
  bool complete = true;
  if (status == SHOAL_OK) complete = summarize(m, &other.result->release, options.max_work, &made);
  shoal_release_reset(&other);
  if (status == SHOAL_BAD_INPUT) return SHOAL_OK;
  if (status != SHOAL_OK && status != SHOAL_REFUSED) return status;
  if (is_pointless(m, v, made.release_loss)) return SHOAL_OK;
  if (complete) return add_outcome(m, v, &made, error);
  m->out->n_left_out++;
  return SHOAL_OK;
}

static shoal_status make_all(maker *m, shoal_error *error) {
  bool sampled = m->table != m->release->context.table;
  shoal_result *result = m->release->result;
  list_variants(m);
  m->out->items = shoal_arena_alloc(&result->arena, m->n_variants, sizeof *m->out->items);
  if (!m->out->items) return shoal_fail_memory(error);
  if (sampled) m->out->sample_rows = m->table->n_records;
  m->work_left = MIN_WORK;
  if (m->uniform && m->uniform->work > m->work_left) m->work_left = m->uniform->work;
  m->work_left *= WORK_FACTOR;
  for (size_t i = 0; i < m->n_variants; i++) {
    variant *v = &m->variants[i];
    SHOAL_TRY(v->known && !sampled ? add_outcome(m, v, v->known, error)
                                   : make_variant(m, v, error));
  }
  return SHOAL_OK;
}

shoal_status shoal_release_sample(const shoal_context *p, shoal_table **table, shoal_error *error) {
  const shoal_column *first = p->table->columns, *end = first + p->table->n_columns;
  size_t n = p->n_quasi;
  const shoal_column **columns = shoal_alloc(n + p->tracked.n_columns, sizeof *columns);
  if (!columns) return shoal_fail_memory(error);
  memcpy(columns, p->quasi, p->n_quasi * sizeof *columns);
  for (size_t s = 0; s < p->tracked.n_columns;
       s++) { /* without pairs and keys of several columns */
    const shoal_column *column = p->tracked.columns[s];
    if (column >= first && column < end) columns[n++] = column;
  }
  shoal_status status =
      shoal_table_subset(p->table, columns, n, SHOAL_ALTERNATIVES_ROWS, table, error);
  free(columns);
  return status;
}

shoal_status shoal_release_alternatives(shoal_release *release, const shoal_run *run,
                                        shoal_error *error) {
  const shoal_context *p = &release->context;
  const shoal_release_report *r = &release->result->release;
  if (!r->n_tried || p->table->counts) return SHOAL_OK; /* a named algorithm, or counted rows */
  maker m = {.release = release, .table = p->table, .out = &release->result->release.alternatives};
  if (run) m.run = *run;
  m.run.time_limit_seconds = 0; /* each variant would take so long */
  for (size_t i = 0; i < r->n_tried; i++)
    *(strcmp(r->tried[i].labels, "local") == 0 ? &m.local : &m.uniform) = &r->tried[i];
  shoal_table *subset = NULL;
  if (p->table->n_records > SHOAL_ALTERNATIVES_ROWS)
    SHOAL_TRY(shoal_release_sample(p, &subset, error));
  if (subset) m.table = subset;
  shoal_status status = make_all(&m, error);
  shoal_table_subset_free(subset);
  return status;
}
