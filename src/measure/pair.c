/* SPDX-License-Identifier: Apache-2.0 */
/*
 * measure/pair: makes the domain of each attribute, merges spellings of one label, groups both
 * tables and counts rows by value and by label.
 */
#include "measure/pair.h"

#include <stdlib.h>
#include <string.h>

static void reset_attributes(shoal_release_pair *pair) {
  for (size_t i = 0; pair->attributes && i < pair->n_quasi + pair->n_sensitive; i++) {
    shoal_release_pair_attribute *a = &pair->attributes[i];
    shoal_domain_reset(&a->domain);
    free(a->merged.codes);
    free(a->value_rows);
    free(a->label_rows);
    free(a->mass);
    memset(a, 0, sizeof *a);
  }
}

void shoal_release_pair_reset(shoal_release_pair *pair) {
  reset_attributes(pair);
  free(pair->attributes);
  shoal_frequency_set_free(pair->original);
  shoal_frequency_set_free(pair->released);
  memset(pair, 0, sizeof *pair);
}

void shoal_span_distribute(const shoal_domain *domain, const shoal_label_span *span, double amount,
                           double *to) {
  for (uint32_t position = span->lo; span->n_positions && position <= span->hi; position++)
    if (shoal_domain_holds(domain, span, position)) to[position] += amount;
}

/* If labels have several spellings, copies the column with the code of the first spelling. */
static shoal_status merge_spellings(shoal_release_pair_attribute *a, const shoal_table *released,
                                    shoal_error *error) {
  bool differ = false;
  for (uint32_t code = 0; code < a->released->n_values; code++)
    differ = differ || shoal_release_pair_span(a, code)->same_as != code;
  if (!differ) return SHOAL_OK;
  uint32_t *codes = shoal_alloc((size_t)released->n_rows, sizeof *codes);
  if (!codes) return shoal_fail_memory(error);
  for (uint64_t row = 0; row < released->n_rows; row++)
    codes[row] = shoal_release_pair_span(a, shoal_column_code(a->released, row))->same_as;
  a->merged = *a->released;
  a->merged.codes = codes;
  a->merged.code_size = sizeof *codes;
  a->released = &a->merged;
  return SHOAL_OK;
}

/* May noise rows have values that no row of the original has? */
static bool may_be_noise(const shoal_policy *policy, const shoal_attribute *attribute) {
  return policy->noise_allowed && attribute->role == SHOAL_ROLE_SENSITIVE &&
         (attribute->categories.file || attribute->categories.n_lists);
}

static shoal_status init_attribute(shoal_release_pair_attribute *a, const shoal_policy *policy,
                                   const shoal_attribute *attribute, const shoal_table *original,
                                   const shoal_table *released, bool local, shoal_error *error) {
  a->attribute = attribute;
  a->original = shoal_table_column(original, attribute->name);
  a->released = shoal_table_column(released, attribute->name);
  shoal_source_column raw = {original, a->original}, labels = {released, a->released};
  shoal_domain_request request = {.policy = policy,
                                  .attribute = attribute,
                                  .released = &labels,
                                  .n_released = 1,
                                  .raw = &raw,
                                  .n_raw = 1,
                                  .complete = !may_be_noise(policy, attribute),
                                  .local = local};
  SHOAL_TRY(shoal_domain_init(&a->domain, &request, error));
  SHOAL_TRY(merge_spellings(a, released, error));
  a->value_rows = shoal_alloc_zero(a->domain.n_positions, sizeof *a->value_rows);
  a->label_rows = shoal_alloc_zero(a->released->n_values, sizeof *a->label_rows);
  a->mass = shoal_alloc_zero((size_t)a->domain.n_positions + 1, sizeof *a->mass);
  return a->value_rows && a->label_rows && a->mass ? SHOAL_OK : shoal_fail_memory(error);
}

/* Groups rows by all quasi-identifiers, with a histogram of each sensitive attribute. */
static shoal_status group(const shoal_release_pair *pair, bool released, const shoal_table *table,
                          const shoal_run *run, shoal_frequency_set **frequency,
                          shoal_error *error) {
  size_t n = pair->n_quasi + pair->n_sensitive;
  const shoal_column **columns = shoal_alloc(n, sizeof *columns);
  const shoal_hierarchy **none = shoal_alloc_zero(n, sizeof *none);
  shoal_track *track = shoal_alloc(n, sizeof *track);
  shoal_status status = SHOAL_OK;
  if (!columns || !none || !track) status = shoal_fail_memory(error);
  for (size_t i = 0; status == SHOAL_OK && i < n; i++) {
    columns[i] = released ? pair->attributes[i].released : pair->attributes[i].original;
    track[i] = SHOAL_TRACK_HISTOGRAM;
  }
  if (status == SHOAL_OK)
    status = shoal_frequency_set_build(table, columns, none, pair->n_quasi, columns + pair->n_quasi,
                                       track, pair->n_sensitive, run, frequency, error);
  if (status == SHOAL_OK) (*frequency)->hierarchies = NULL; /* borrowed */
  free(columns);
  free(none);
  free(track);
  return status;
}

/* Counts the rows of each code, from the tuples. */
static void count_codes(const shoal_frequency_set *f, size_t q, uint64_t *rows) {
  for (uint32_t t = 0; t < f->n_tuples; t++)
    rows[shoal_code_at(f->codes[q], t)] += f->base.n_rows[t];
}

static void count_sensitive(const shoal_histogram *histogram, uint32_t n_classes, uint64_t *rows) {
  for (size_t e = 0; e < histogram->start[n_classes]; e++)
    rows[histogram->value[e]] += histogram->n_rows[e];
}

static shoal_status count_rows(shoal_release_pair *pair, size_t i, shoal_error *error) {
  shoal_release_pair_attribute *a = &pair->attributes[i];
  uint64_t *by_code = shoal_alloc_zero(a->original->n_values, sizeof *by_code);
  if (!by_code) return shoal_fail_memory(error);
  if (i < pair->n_quasi) {
    count_codes(pair->original, i, by_code);
    count_codes(pair->released, i, a->label_rows);
  } else {
    size_t s = i - pair->n_quasi;
    count_sensitive(&pair->original->base.histograms[s], pair->original->n_tuples, by_code);
    count_sensitive(&pair->released->base.histograms[s], pair->released->n_tuples, a->label_rows);
  }
  for (uint32_t v = 0; v < a->original->n_values; v++)
    a->value_rows[shoal_domain_position(&a->domain, 0, v)] += by_code[v];
  free(by_code);
  return SHOAL_OK;
}

void shoal_labels_spread(const shoal_domain *domain, const uint64_t *rows, double *mass) {
  uint32_t n_labels = domain->released[0].column->n_values;
  for (uint32_t code = 0; code < n_labels; code++) {
    const shoal_label_span *span = shoal_domain_span(domain, 0, code);
    if (span->loose || !span->n_positions) continue;
    double share = (double)rows[code] / span->n_positions;
    mass[span->lo] += share;
    mass[span->hi + 1] -= share;
  }
  for (uint32_t position = 1; position < domain->n_positions; position++)
    mass[position] += mass[position - 1];
  for (uint32_t code = 0; code < n_labels; code++) {
    const shoal_label_span *span = shoal_domain_span(domain, 0, code);
    if (span->loose)
      shoal_span_distribute(domain, span, (double)rows[code] / span->n_positions, mass);
  }
}

static shoal_status fill(shoal_release_pair *pair, const shoal_table *original,
                         const shoal_table *released, const shoal_run *run, shoal_error *error) {
  SHOAL_TRY(group(pair, false, original, run, &pair->original, error));
  SHOAL_TRY(group(pair, true, released, run, &pair->released, error));
  for (size_t i = 0; i < pair->n_quasi + pair->n_sensitive; i++) {
    SHOAL_TRY(count_rows(pair, i, error));
    const shoal_release_pair_attribute *a = &pair->attributes[i];
    shoal_labels_spread(&a->domain, a->label_rows, a->mass);
  }
  return SHOAL_OK;
}

static shoal_status init_attributes(shoal_release_pair *pair, const shoal_policy *policy,
                                    const shoal_attribute *const *quasi,
                                    const shoal_attribute *const *sensitive,
                                    const shoal_table *original, const shoal_table *released,
                                    shoal_error *error) {
  size_t n_quasi = pair->n_quasi;
  for (size_t i = 0; i < n_quasi + pair->n_sensitive; i++)
    SHOAL_TRY(init_attribute(&pair->attributes[i], policy,
                             i < n_quasi ? quasi[i] : sensitive[i - n_quasi], original, released,
                             pair->origin.local, error));
  return SHOAL_OK;
}

bool shoal_release_pair_hides_sets(const shoal_release_pair_attribute *a) {
  bool hides = shoal_attribute_has_sets(a->attribute);
  for (uint32_t code = 0; hides && code < a->released->n_values; code++)
    hides = shoal_release_pair_span(a, code)->everything;
  return hides;
}

/* Has each quasi-identifier labels of one level? */
static bool is_node(const shoal_release_pair *pair) {
  for (size_t q = 0; q < pair->n_quasi; q++) {
    const shoal_release_pair_attribute *a = &pair->attributes[q];
    if (a->domain.released[0].level == SHOAL_NONE && !shoal_release_pair_hides_sets(a))
      return false;
  }
  return true;
}

shoal_status shoal_release_pair_init(shoal_release_pair *pair, const shoal_policy *policy,
                                     const shoal_attribute *const *quasi, size_t n_quasi,
                                     const shoal_attribute *const *sensitive, size_t n_sensitive,
                                     const shoal_table *original, const shoal_table *released,
                                     const shoal_release_origin *origin, const shoal_run *run,
                                     shoal_error *error) {
  memset(pair, 0, sizeof *pair);
  pair->origin = *origin;
  pair->k = pair->p = 1;
  pair->attributes = shoal_alloc_zero(n_quasi + n_sensitive, sizeof *pair->attributes);
  if (!pair->attributes) return shoal_fail_memory(error);
  pair->n_quasi = n_quasi;
  pair->n_sensitive = n_sensitive;
  shoal_status status = init_attributes(pair, policy, quasi, sensitive, original, released, error);
  if (status == SHOAL_OK && origin->without_node && !is_node(pair)) {
    reset_attributes(pair);
    pair->origin = *origin->without_node;
    status = init_attributes(pair, policy, quasi, sensitive, original, released, error);
  }
  if (status == SHOAL_OK) status = fill(pair, original, released, run, error);
  if (status != SHOAL_OK) shoal_release_pair_reset(pair);
  return status;
}
