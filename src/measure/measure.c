/* SPDX-License-Identifier: Apache-2.0 */
/*
 * measure: utility and risk of a release made by any tool. The policy assigns the roles of columns;
 * released labels are interpreted by the values that they can cover. Whether the release satisfies
 * the policy is not tested here.
 */
#include "measure/measure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "measure/parts.h"

enum { QUERIES = 1000, DIMENSIONS = 2, MAX_QUERIES = 1000 * 1000 };
static const double SELECTIVITY = 0.05;

/* ------------------------------------------------------------ settings */

static shoal_status choose_queries(const shoal_context *p, const shoal_measure_options *options,
                                   shoal_query_error *queries, shoal_error *error) {
  *queries = (shoal_query_error){.n_queries = QUERIES,
                                 .dimensions = DIMENSIONS,
                                 .selectivity = SELECTIVITY,
                                 .seed = p->policy->has_seed ? p->policy->seed : 1};
  if (p->n_quasi < DIMENSIONS) queries->dimensions = (uint32_t)p->n_quasi;
  if (!options) return SHOAL_OK;
  if (options->has_queries) queries->n_queries = options->n_queries;
  if (options->dimensions) queries->dimensions = options->dimensions;
  if (options->selectivity != 0) queries->selectivity = options->selectivity;
  if (queries->n_queries > MAX_QUERIES)
    return shoal_fail(error, SHOAL_BAD_INPUT, "at most %d queries are possible", MAX_QUERIES);
  if (queries->dimensions > p->n_quasi)
    return shoal_fail(error, SHOAL_BAD_INPUT,
                      "queries of %u dimensions need %u quasi-identifiers, but the policy has %zu: "
                      "use fewer dimensions",
                      queries->dimensions, queries->dimensions, p->n_quasi);
  if (!(queries->selectivity > 0 && queries->selectivity <= 1))
    return shoal_fail(error, SHOAL_BAD_INPUT, "the selectivity must be above 0 and at most 1");
  return SHOAL_OK;
}

/* ------------------------------------------------------------ all figures */

static shoal_status pair_up(shoal_release_pair *pair, const shoal_context *p,
                            const shoal_table *masked, const shoal_release_origin *origin,
                            shoal_error *error) {
  const shoal_attribute **sensitive = shoal_alloc(p->n_sensitive, sizeof *sensitive);
  if (!sensitive) return shoal_fail_memory(error);
  for (size_t s = 0; s < p->n_sensitive; s++) sensitive[s] = p->sensitive[s].attribute;
  shoal_status status =
      shoal_release_pair_init(pair, p->policy, p->quasi_attributes, p->n_quasi, sensitive,
                              p->n_sensitive, p->table, masked, origin, p->run, error);
  free(sensitive);
  if (status != SHOAL_OK) return status;
  pair->k = p->requirements.k;
  pair->p = p->requirements.p;
  return SHOAL_OK;
}

static shoal_status measure_utility(const shoal_release_pair *pair, const shoal_run *run,
                                    const shoal_query_error *queries, shoal_arena *arena,
                                    shoal_measures *m, shoal_error *error) {
  size_t n = pair->n_quasi + pair->n_sensitive;
  m->attributes = shoal_arena_alloc(arena, n, sizeof *m->attributes);
  if (!m->attributes) return shoal_fail_memory(error);
  memset(m->attributes, 0, n * sizeof *m->attributes);
  m->n_attributes = n;
  if (!shoal_losses_measure(pair, m) || !shoal_marginals_measure(pair, arena, m) ||
      !shoal_associations_measure(pair, arena, m))
    return shoal_fail_memory(error);
  m->has_queries = queries->n_queries > 0;
  m->queries = *queries;
  return shoal_queries_measure(pair, run, &m->queries, error);
}

static shoal_status measure_risk(const shoal_release_pair *pair, const shoal_context *p,
                                 const shoal_table *population, const shoal_measures *m,
                                 shoal_arena *arena, shoal_risk *risk, shoal_error *error) {
  shoal_identity_measure(pair->original, &risk->before);
  shoal_identity_measure(pair->released, &risk->after);
  shoal_small_labels_count(pair, risk);
  risk->attributes = shoal_arena_alloc(arena, pair->n_sensitive, sizeof *risk->attributes);
  if (!risk->attributes) return shoal_fail_memory(error);
  memset(risk->attributes, 0, pair->n_sensitive * sizeof *risk->attributes);
  risk->n_attributes = pair->n_sensitive;
  for (size_t s = 0; s < pair->n_sensitive; s++)
    risk->attributes[s].name = m->attributes[pair->n_quasi + s].name;
  if (!shoal_disclosure_measure(pair, risk->attributes)) return shoal_fail_memory(error);
  if (!population) return SHOAL_OK;
  risk->has_population = true;
  return shoal_population_measure(pair, p->policy, population, p->run, &risk->population, error);
}

shoal_status shoal_measure_release(const shoal_context *p, const shoal_table *masked,
                                   const shoal_release_origin *origin,
                                   const shoal_measure_options *options, shoal_arena *arena,
                                   shoal_measured *out, shoal_error *error) {
  shoal_query_error queries;
  SHOAL_TRY(choose_queries(p, options, &queries, error));
  /* The release must have the policy's quasi-identifiers and sensitive attributes. */
  for (size_t i = 0; i < p->n_quasi + p->n_sensitive; i++) {
    const shoal_attribute *attribute =
        i < p->n_quasi ? p->quasi_attributes[i] : p->sensitive[i - p->n_quasi].attribute;
    if (shoal_table_column(masked, attribute->name)) continue;
    return shoal_fail_at(error, SHOAL_BAD_INPUT, &(shoal_location){.file = masked->name},
                         "has no column '%s', which the policy names: is this the release?",
                         attribute->name);
  }
  shoal_measures *measures = shoal_arena_alloc(arena, 1, sizeof *measures);
  shoal_risk *risk = shoal_arena_alloc(arena, 1, sizeof *risk);
  if (!measures || !risk) return shoal_fail_memory(error);
  memset(measures, 0, sizeof *measures);
  memset(risk, 0, sizeof *risk);
  shoal_release_pair pair;
  SHOAL_TRY(pair_up(&pair, p, masked, origin, error));
  const shoal_table *population = options ? options->population : NULL;
  shoal_status status = measure_utility(&pair, p->run, &queries, arena, measures, error);
  if (status == SHOAL_OK) status = measure_risk(&pair, p, population, measures, arena, risk, error);
  shoal_release_pair_reset(&pair);
  if (status != SHOAL_OK) return status;
  *out = (shoal_measured){.utility = measures, .risk = risk};
  return SHOAL_OK;
}
