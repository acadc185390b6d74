/* SPDX-License-Identifier: Apache-2.0 */
/* lattice/search: what every search does with a few nodes; see lattice.h. */
#include <stdlib.h>
#include <string.h>

#include "lattice/lattice.h"
#include "lattice/matrix.h"
#include "lattice/several.h"
#include "lattice/snapshots.h"

shoal_status shoal_search_init(shoal_search *search, const shoal_frequency *frequency,
                               const shoal_demands *demands, uint64_t max_suppressed,
                               uint64_t most_classes, bool needs_rows, const shoal_run *run,
                               shoal_error *error) {
  memset(search, 0, sizeof *search);
  search->frequency = frequency;
  search->demands = demands;
  search->run = run;
  search->max_suppressed = max_suppressed;
  search->most_classes = most_classes;
  search->needs_rows = needs_rows;
  shoal_grouper_init(&search->grouper);
  SHOAL_TRY(shoal_space_init(&search->space, frequency, error));
  bool vast = search->space.n_nodes > SHOAL_MAX_NODES, tags = demands->monotone && !vast;
  if (search->space.n_nodes == UINT64_MAX) {
    shoal_search_reset(search);
    return shoal_fail(error, SHOAL_BAD_INPUT,
                      "the lattice has more nodes than can be counted: use hierarchies with fewer "
                      "levels, fewer quasi-identifiers, or a local algorithm such as flock");
  }
  search->levels = shoal_alloc(search->space.n, sizeof *search->levels);
  search->snapshots = shoal_alloc_zero(1, sizeof *search->snapshots);
  if (tags) search->tags = shoal_alloc_zero((size_t)search->space.n_nodes, 1);
  if (!vast) search->looked = shoal_alloc_zero((size_t)search->space.n_nodes / 8 + 1, 1);
  if (!search->levels || !search->snapshots || (!vast && !search->looked) ||
      (tags && !search->tags)) {
    shoal_search_reset(search);
    return shoal_fail_memory(error);
  }
  search->snapshots->n_levels = search->space.n;
  shoal_status status = shoal_several_init(search, error);
  if (status != SHOAL_OK) shoal_search_reset(search);
  return status;
}

void shoal_search_reset(shoal_search *search) {
  shoal_search_free_guide(search);
  shoal_snapshots_free(search->snapshots);
  shoal_several_free(search);
  shoal_grouper_reset(&search->grouper);
  shoal_space_reset(&search->space);
  free(search->levels);
  free(search->tags);
  free(search->looked);
  free(search->path);
  free(search->stack);
  memset(search, 0, sizeof *search);
}

shoal_status shoal_search_refuse_vast(const shoal_search *search, shoal_error *error) {
  if (search->space.n_nodes <= SHOAL_MAX_NODES) return SHOAL_OK;
  return shoal_fail(error, SHOAL_BAD_INPUT,
                    "the lattice has more than %llu million nodes: use hierarchies with fewer "
                    "levels or fewer quasi-identifiers, or algorithm 'optimal' with --time-limit",
                    (unsigned long long)(SHOAL_MAX_NODES / 1000000));
}

void shoal_search_note(shoal_search *search, uint64_t node, uint32_t n_source) {
  search->n_touched += n_source;
  if (!search->looked) {
    search->n_checked++;
    return;
  }
  uint8_t bit = (uint8_t)(1u << node % 8);
  search->n_checked += !(search->looked[node / 8] & bit);
  search->looked[node / 8] |= bit;
}

static bool satisfies(const shoal_search *search, uint64_t suppressed) {
  if (suppressed > search->max_suppressed) return false;
  return !search->needs_rows || suppressed < search->frequency->n_records;
}

/* ------------------------------------------------------------ figures */

shoal_node shoal_search_figures(const shoal_search *search, uint64_t node,
                                const shoal_verdict *verdict) {
  return (shoal_node){.number = node,
                      .height = shoal_space_height(&search->space, node),
                      .suppressed = verdict->suppressed,
                      .n_classes = verdict->n_classes,
                      .smallest_class = verdict->smallest_class,
                      .satisfies = satisfies(search, verdict->suppressed)};
}

typedef struct measuring {
  const shoal_search *search;
  shoal_node *figures;
} measuring;

static shoal_status measure(void *user, size_t i, shoal_look *look) {
  const measuring *m = user;
  SHOAL_TRY(shoal_look_roll_up(m->search, look, false));
  shoal_verdict verdict =
      shoal_judge(m->search->demands, m->search->frequency, &look->classes, UINT64_MAX, NULL);
  m->figures[i] = shoal_search_figures(m->search, look->node, &verdict);
  return SHOAL_OK;
}

shoal_status shoal_search_measure_several(shoal_search *search, const uint64_t *nodes, size_t n,
                                          shoal_node *figures, shoal_error *error) {
  measuring m = {.search = search, .figures = figures};
  return shoal_several_look(search, nodes, n, false, measure, &m, error);
}

/* ------------------------------------------------------------ yes or no */

/*
 * The second necessary condition (Truta & Vinay 2006), on classes left after suppression
 * (docs/reading-the-papers.md R3): of the classes with k rows, suppression can take away only as
 * many as fit into what is left of the limit; more than most_classes can never all satisfy.
 */
bool shoal_search_bounded_out(const shoal_search *search, const shoal_classes *classes) {
  uint64_t k = search->demands->k, small_rows = 0, large = 0;
  for (uint32_t c = 0; c < classes->n_classes; c++) {
    if (classes->n_rows[c] < k) small_rows += classes->n_rows[c];
    else large++;
  }
  if (small_rows > search->max_suppressed) return true;
  uint64_t removable = (search->max_suppressed - small_rows) / k;
  return large > removable && large - removable > search->most_classes;
}

bool shoal_search_sizes_first(const shoal_search *search) {
  for (size_t s = 0; s < search->frequency->n_sensitive; s++)
    if (search->frequency->track[s] == SHOAL_TRACK_HISTOGRAM) return true;
  return false;
}

typedef struct deciding {
  const shoal_search *search;
  bool refused[SHOAL_LOOKS]; /* by the second necessary condition */
  bool satisfies[SHOAL_LOOKS];
} deciding;

static shoal_status decide_by_size(void *user, size_t i, shoal_look *look) {
  deciding *d = user;
  SHOAL_TRY(shoal_look_roll_up(d->search, look, true));
  d->refused[i] = shoal_search_bounded_out(d->search, &look->classes);
  if (!d->refused[i]) shoal_classes_reset(&look->classes); /* to be computed with values */
  return SHOAL_OK;
}

static shoal_status decide(void *user, size_t i, shoal_look *look) {
  deciding *d = user;
  const shoal_search *search = d->search;
  SHOAL_TRY(shoal_look_roll_up(search, look, false));
  d->refused[i] = shoal_search_bounded_out(search, &look->classes);
  if (d->refused[i]) return SHOAL_OK;
  shoal_verdict verdict =
      shoal_judge(search->demands, search->frequency, &look->classes, search->max_suppressed, NULL);
  d->satisfies[i] = satisfies(search, verdict.suppressed);
  return SHOAL_OK;
}

static void decide_by_matrix(shoal_search *search, const uint64_t *nodes, size_t n, bool *results) {
  for (size_t i = 0; i < n; i++) {
    uint64_t suppressed;
    shoal_space_levels(&search->space, nodes[i], search->levels);
    shoal_search_note(search, nodes[i], search->matrix->n_outliers);
    shoal_matrix_required(search->matrix, search->levels, &suppressed);
    results[i] = satisfies(search, suppressed);
  }
}

/* Those of the nodes that sizes do not refuse; which they are goes into `which`. */
static shoal_status left_by_size(shoal_search *search, const uint64_t *nodes, size_t *n,
                                 uint64_t *left, size_t *which, shoal_error *error) {
  deciding d = {.search = search};
  if (shoal_search_sizes_first(search))
    SHOAL_TRY(shoal_several_look(search, nodes, *n, true, decide_by_size, &d, error));
  size_t n_left = 0;
  for (size_t i = 0; i < *n; i++) {
    search->n_bounded += d.refused[i];
    if (d.refused[i]) continue;
    which[n_left] = i;
    left[n_left++] = nodes[i];
  }
  *n = n_left;
  return SHOAL_OK;
}

shoal_status shoal_search_decide_several(shoal_search *search, const uint64_t *nodes, size_t n,
                                         bool *results, shoal_error *error) {
  uint64_t left[SHOAL_LOOKS];
  size_t which[SHOAL_LOOKS], n_left = n;
  if (search->matrix) {
    decide_by_matrix(search, nodes, n, results);
    return SHOAL_OK;
  }
  SHOAL_TRY(left_by_size(search, nodes, &n_left, left, which, error));
  deciding d = {.search = search};
  if (n_left) SHOAL_TRY(shoal_several_look(search, left, n_left, false, decide, &d, error));
  memset(results, 0, n * sizeof *results);
  for (size_t i = 0; i < n_left; i++) {
    search->n_bounded += d.refused[i];
    results[which[i]] = d.satisfies[i];
  }
  return SHOAL_OK;
}

/* ------------------------------------------------------------ classes */

shoal_status shoal_search_classes(shoal_search *search, uint64_t node, shoal_classes *classes,
                                  uint8_t **breaks, uint32_t **class_of_tuple, shoal_error *error) {
  const shoal_frequency *frequency = search->frequency;
  shoal_space_levels(&search->space, node, search->levels);
  *breaks = NULL;
  *class_of_tuple = shoal_alloc(frequency->n_tuples, sizeof **class_of_tuple);
  if (!*class_of_tuple) return shoal_fail_memory(error);
  shoal_status status = shoal_classes_roll_up(frequency, &frequency->base, search->levels,
                                              &search->grouper, classes, *class_of_tuple, error);
  if (status == SHOAL_OK) {
    *breaks = shoal_alloc(classes->n_classes, 1);
    if (*breaks) {
      (void)shoal_judge(search->demands, frequency, classes, UINT64_MAX, *breaks);
      return SHOAL_OK;
    }
    status = shoal_fail_memory(error);
    shoal_classes_reset(classes);
  }
  free(*class_of_tuple);
  *class_of_tuple = NULL;
  return status;
}
