/* SPDX-License-Identifier: Apache-2.0 */
/* job/lattice: every node of the lattice, and which ones each preference would choose. */
#include <stdlib.h>
#include <string.h>

#include "describe/page.h"
#include "input/input.h"
#include "job/job.h"
#include "lattice/distance_matrix.h"

/* More nodes would fill the screen and the memory of whoever reads the list. */
static const uint64_t MAX_LISTED = 2000000;

/* More tuples would make a matrix that nobody reads. */
enum { MAX_MATRIX_TUPLES = 2000 };

/* Minimal nodes that no other minimal node is better than. */
static shoal_status best_nodes(shoal_result *result, const shoal_search *search,
                               const shoal_preference *preference, const shoal_node_list *nodes,
                               const size_t *minimal, size_t n_minimal, shoal_preferred *out,
                               shoal_error *error) {
  size_t *best = shoal_arena_alloc(&result->arena, n_minimal, sizeof *best);
  if (!best) return shoal_fail_memory(error);
  size_t n = 0;
  for (size_t i = 0; i < n_minimal; i++) {
    const shoal_node *node = &nodes->items[minimal[i]];
    int order = n ? preference->compare(preference, search, node, &nodes->items[best[0]]) : 0;
    if (order > 0) continue;
    if (order < 0) n = 0;
    best[n++] = minimal[i];
  }
  *out = (shoal_preferred){.policy = preference->name, .nodes = best, .n_nodes = n};
  return SHOAL_OK;
}

static shoal_status add_preferred(shoal_result *result, const shoal_context *p,
                                  const shoal_search *search, const shoal_node_list *nodes,
                                  shoal_error *error) {
  size_t n_minimal = 0, n_types = 0;
  while (shoal_preference_types[n_types].name) n_types++;
  size_t *minimal = shoal_alloc(nodes->n_items, sizeof *minimal);
  result->lattice.preferred = /* and one for the policy's own */
      shoal_arena_alloc(&result->arena, n_types + 1, sizeof *result->lattice.preferred);
  shoal_status status = minimal && result->lattice.preferred ? SHOAL_OK : shoal_fail_memory(error);
  for (size_t i = 0; status == SHOAL_OK && i < nodes->n_items; i++)
    if (nodes->items[i].minimal) minimal[n_minimal++] = i;
  for (size_t i = 0; status == SHOAL_OK && i < n_types; i++) {
    shoal_preference preference = shoal_preference_types[i];
    if (p->weighted) preference.weights = p->weights;
    status = best_nodes(result, search, &preference, nodes, minimal, n_minimal,
                        &result->lattice.preferred[i], error);
    result->lattice.n_preferred = i + 1;
  }
  free(minimal);
  return status;
}

/*
 * Samarati 2001, section 5: a strategy is a path from the bottom to the top, and its locally
 * minimal node is the first one that satisfies. A node is that of some strategy if it satisfies
 * and a path of nodes that do not leads to it. Minimal nodes are locally minimal; others may be.
 */
static shoal_status mark_locally_minimal(shoal_result *result, const shoal_space *space,
                                         shoal_error *error) {
  uint8_t *open = shoal_alloc(result->lattice.n_nodes, 1); /* such a path leads through the node */
  if (!open) return shoal_fail_memory(error);
  for (uint64_t node = 0; node < result->lattice.n_nodes; node++) {
    bool reached = node == 0;
    for (size_t q = 0; q < space->n; q++)
      reached = reached || (shoal_space_level(space, node, q) > shoal_space_bottom(space, q) &&
                            open[node - space->stride[q]]);
    open[node] = reached && !result->lattice.nodes[node].satisfies;
    result->lattice.nodes[node].locally_minimal = reached && !open[node];
  }
  free(open);
  return SHOAL_OK;
}

static shoal_status fill(shoal_result *result, const shoal_context *p, shoal_search *search,
                         shoal_node_list *nodes, shoal_error *error) {
  if (search->space.n_nodes > MAX_LISTED)
    return shoal_fail(error, SHOAL_BAD_INPUT,
                      "the lattice has %llu nodes, too many to list: use hierarchies with fewer "
                      "levels",
                      (unsigned long long)search->space.n_nodes);
  SHOAL_TRY(shoal_result_input(result, p, error));
  SHOAL_TRY(shoal_search_all(search, nodes, error));
  result->lattice.max_suppression = search->max_suppressed;
  result->lattice.lattice_nodes = search->space.n_nodes;
  result->lattice.nodes_checked = search->n_evaluated;
  result->lattice.nodes =
      shoal_arena_alloc(&result->arena, nodes->n_items, sizeof *result->lattice.nodes);
  if (!result->lattice.nodes) return shoal_fail_memory(error);
  for (size_t i = 0; i < nodes->n_items; i++) {
    SHOAL_TRY(shoal_result_add_node(result, &search->space, &nodes->items[i],
                                    &result->lattice.nodes[i], error));
    result->lattice.n_nodes = i + 1;
    result->holds = result->holds || nodes->items[i].satisfies;
  }
  SHOAL_TRY(mark_locally_minimal(result, &search->space, error));
  SHOAL_TRY(shoal_html_report_begin(result, p, error));
  return add_preferred(result, p, search, nodes, error);
}

/*
 * Minimal among the nodes that release rows: what anonymize chooses from. An empty release may
 * satisfy (docs/reading-the-papers.md R6), but is no solution there.
 */
static shoal_status minimal_with_rows(const shoal_space *space, const shoal_node_list *nodes,
                                      shoal_node_list *minimal, shoal_error *error) {
  uint8_t *reaches = shoal_alloc(nodes->n_items, 1); /* the node or one below it does */
  if (!reaches) return shoal_fail_memory(error);
  bool ok = true;
  for (uint64_t node = 0; ok && node < nodes->n_items; node++) {
    const shoal_node *item = &nodes->items[node];
    bool below = false;
    for (size_t q = 0; q < space->n; q++) {
      bool raised = shoal_space_level(space, node, q) > shoal_space_bottom(space, q);
      below = below || (raised && reaches[node - space->stride[q]]);
    }
    bool here = item->satisfies && item->n_classes > 0;
    reaches[node] = below || here;
    if (here && !below) ok = shoal_node_list_add(minimal, item);
  }
  free(reaches);
  return ok ? SHOAL_OK : shoal_fail_memory(error);
}

/* What the policy's own list of preferences selects. */
static shoal_status add_chosen(shoal_result *result, size_t node, shoal_error *error) {
  size_t *nodes = shoal_arena_alloc(&result->arena, 1, sizeof *nodes);
  if (!nodes) return shoal_fail_memory(error);
  *nodes = node;
  result->lattice.preferred[result->lattice.n_preferred++] =
      (shoal_preferred){.policy = "policy", .nodes = nodes, .n_nodes = 1};
  return SHOAL_OK;
}

/* The node that anonymize would take by height or preference: ringed in the drawings. */
static shoal_status mark_chosen(shoal_result *result, const shoal_context *p,
                                const shoal_search *search, const shoal_node_list *nodes,
                                shoal_error *error) {
  shoal_preference *preferences;
  size_t n_preferences;
  SHOAL_TRY(shoal_preferences_bind(p->policy, p->frequency, p->weighted ? p->weights : NULL,
                                   &preferences, &n_preferences, error));
  shoal_node_list minimal = {0};
  shoal_status status = minimal_with_rows(&search->space, nodes, &minimal, error);
  if (status == SHOAL_OK && minimal.n_items) {
    const shoal_preference by_height = shoal_preference_types[0];
    const shoal_node *chosen = n_preferences
                                   ? shoal_prefer(search, preferences, n_preferences, &minimal)
                                   : shoal_prefer(search, &by_height, 1, &minimal);
    result->lattice.nodes[chosen->number].chosen = true;
    if (n_preferences) status = add_chosen(result, (size_t)chosen->number, error);
  }
  shoal_node_list_reset(&minimal);
  free(preferences);
  return status;
}

shoal_status shoal_job_lattice(shoal_result *result, const shoal_table *table,
                               const shoal_policy *policy, const shoal_run *run,
                               shoal_error *error) {
  shoal_context context;
  shoal_search search;
  SHOAL_TRY(shoal_input_check(table, policy, SHOAL_FOR_REVIEW, error));
  SHOAL_TRY(shoal_context_init(&context, table, policy, SHOAL_CONTEXT_LATTICE, run, error));
  shoal_node_list nodes = {0};
  shoal_status status = shoal_context_search(&context, false, &search, error);
  if (status == SHOAL_OK) {
    status = fill(result, &context, &search, &nodes, error);
    if (status == SHOAL_OK) status = mark_chosen(result, &context, &search, &nodes, error);
    shoal_search_reset(&search);
  }
  if (status == SHOAL_OK) status = shoal_requirements_status(&context.requirements, error);
  shoal_node_list_reset(&nodes);
  shoal_context_reset(&context);
  return status;
}

static shoal_status fill_distances(shoal_result *result, const shoal_context *p,
                                   shoal_error *error) {
  const shoal_frequency_set *f = p->frequency;
  if (f->n_tuples > MAX_MATRIX_TUPLES)
    return shoal_fail(error, SHOAL_BAD_INPUT,
                      "the table has %u distinct tuples; a matrix is printed of at most %u: use a "
                      "sample or fewer quasi-identifiers",
                      f->n_tuples, (unsigned)MAX_MATRIX_TUPLES);
  SHOAL_TRY(shoal_result_input(result, p, error));
  shoal_distance_matrix matrix;
  SHOAL_TRY(shoal_distance_matrix_build(&matrix, f, UINT64_MAX, p->run, error)); /* every tuple */
  size_t n_levels = (size_t)f->n_tuples * f->n_tuples * f->n_quasi;
  uint16_t *distances = shoal_arena_alloc(&result->arena, n_levels, sizeof *distances);
  uint64_t *n_rows = shoal_arena_alloc(&result->arena, f->n_tuples, sizeof *n_rows);
  if (distances && n_rows && f->n_tuples) {
    memcpy(distances, matrix.distances, n_levels * sizeof *distances);
    memcpy(n_rows, f->base.n_rows, f->n_tuples * sizeof *n_rows);
  }
  shoal_distance_matrix_reset(&matrix);
  if (!distances || !n_rows) return shoal_fail_memory(error);
  result->distances = (shoal_distances_report){f->n_tuples, n_rows, distances};
  result->holds = true;
  return SHOAL_OK;
}

shoal_status shoal_job_distances(shoal_result *result, const shoal_table *table,
                                 const shoal_policy *policy, const shoal_run *run,
                                 shoal_error *error) {
  shoal_context context;
  SHOAL_TRY(shoal_input_check(table, policy, SHOAL_FOR_REVIEW, error));
  SHOAL_TRY(shoal_context_init(&context, table, policy, SHOAL_CONTEXT_LATTICE, run, error));
  shoal_status status = fill_distances(result, &context, error);
  shoal_context_reset(&context);
  return status;
}
