/* SPDX-License-Identifier: Apache-2.0 */
/* lattice/search: what every search does with a single node; see lattice.h. */
#include <stdlib.h>
#include <string.h>

#include "lattice/lattice.h"
#include "lattice/matrix.h"
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
  return SHOAL_OK;
}

void shoal_search_reset(shoal_search *search) {
  shoal_search_free_guide(search);
  shoal_snapshots_free(search->snapshots);
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

/* The node at search->levels is looked at. */
static void note_look(shoal_search *search, uint32_t n_source) {
  shoal_search_note(search, shoal_space_node(&search->space, search->levels), n_source);
}

/* Classes at search->levels, from the best source there is. */
static shoal_status compute_classes(shoal_search *search, bool sizes_only, shoal_classes *classes,
                                    uint32_t *n_source, shoal_error *error) {
  const shoal_classes *from =
      shoal_snapshots_best(search->snapshots, search->levels, sizes_only, &search->frequency->base);
  *n_source = from->n_classes;
  note_look(search, *n_source);
  SHOAL_TRY(shoal_run_report(search->run, "search", search->n_checked, search->space.n_nodes,
                             "nodes", error));
  if (sizes_only)
    return shoal_classes_roll_up_sizes(search->frequency, from, search->levels, &search->grouper,
                                       classes, error);
  return shoal_classes_roll_up(search->frequency, from, search->levels, &search->grouper, classes,
                               NULL, error);
}

static shoal_status compute(shoal_search *search, shoal_classes *classes, uint32_t *n_source,
                            shoal_error *error) {
  return compute_classes(search, false, classes, n_source, error);
}

static bool satisfies(const shoal_search *search, uint64_t suppressed) {
  if (suppressed > search->max_suppressed) return false;
  return !search->needs_rows || suppressed < search->frequency->n_records;
}

shoal_status shoal_search_measure(shoal_search *search, uint64_t node, shoal_node *figures,
                                  shoal_error *error) {
  shoal_classes classes;
  uint32_t n_source;
  shoal_space_levels(&search->space, node, search->levels);
  SHOAL_TRY(compute(search, &classes, &n_source, error));
  shoal_verdict verdict =
      shoal_judge(search->demands, search->frequency, &classes, UINT64_MAX, NULL);
  *figures = (shoal_node){.number = node,
                          .height = shoal_space_height(&search->space, node),
                          .suppressed = verdict.suppressed,
                          .n_classes = verdict.n_classes,
                          .smallest_class = verdict.smallest_class,
                          .satisfies = satisfies(search, verdict.suppressed)};
  shoal_snapshots_take(search->snapshots, search->levels, &classes, n_source);
  return SHOAL_OK;
}

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

/* Histograms are dear to merge: sizes alone often tell that a node fails. */
static shoal_status fails_by_size(shoal_search *search, bool *fails, shoal_error *error) {
  *fails = false;
  bool dear = false;
  for (size_t s = 0; s < search->frequency->n_sensitive; s++)
    dear = dear || search->frequency->track[s] == SHOAL_TRACK_HISTOGRAM;
  if (!dear) return SHOAL_OK;
  shoal_classes classes;
  uint32_t n_source;
  SHOAL_TRY(compute_classes(search, true, &classes, &n_source, error));
  *fails = shoal_search_bounded_out(search, &classes);
  if (*fails) shoal_snapshots_take(search->snapshots, search->levels, &classes, n_source);
  else shoal_classes_reset(&classes);
  return SHOAL_OK;
}

shoal_status shoal_search_decide(shoal_search *search, uint64_t node, bool *result,
                                 shoal_error *error) {
  shoal_classes classes;
  uint32_t n_source;
  shoal_space_levels(&search->space, node, search->levels);
  *result = false;
  if (search->matrix) {
    uint64_t suppressed;
    note_look(search, search->matrix->n_outliers);
    shoal_matrix_required(search->matrix, search->levels, &suppressed);
    *result = satisfies(search, suppressed);
    return SHOAL_OK;
  }
  bool fails;
  SHOAL_TRY(fails_by_size(search, &fails, error));
  search->n_bounded += fails;
  if (fails) return SHOAL_OK;
  SHOAL_TRY(compute(search, &classes, &n_source, error));
  if (shoal_search_bounded_out(search, &classes)) {
    search->n_bounded++;
  } else {
    shoal_verdict verdict =
        shoal_judge(search->demands, search->frequency, &classes, search->max_suppressed, NULL);
    *result = satisfies(search, verdict.suppressed);
  }
  shoal_snapshots_take(search->snapshots, search->levels, &classes, n_source);
  return SHOAL_OK;
}

shoal_status shoal_search_inspect(shoal_search *search, uint64_t node, shoal_node *figures,
                                  shoal_classes *classes, uint8_t **breaks, shoal_error *error) {
  uint32_t n_source;
  shoal_space_levels(&search->space, node, search->levels);
  SHOAL_TRY(compute(search, classes, &n_source, error));
  *breaks = shoal_alloc(classes->n_classes, 1);
  shoal_status status = *breaks ? SHOAL_OK : shoal_fail_memory(error);
  if (status == SHOAL_OK) {
    shoal_verdict verdict =
        shoal_judge(search->demands, search->frequency, classes, UINT64_MAX, *breaks);
    *figures = (shoal_node){.number = node,
                            .height = shoal_space_height(&search->space, node),
                            .suppressed = verdict.suppressed,
                            .n_classes = verdict.n_classes,
                            .smallest_class = verdict.smallest_class,
                            .satisfies = satisfies(search, verdict.suppressed)};
  }
  if (status != SHOAL_OK) {
    free(*breaks);
    shoal_classes_reset(classes);
  }
  return status;
}

void shoal_search_keep(shoal_search *search, uint64_t node, shoal_classes *classes) {
  shoal_space_levels(&search->space, node, search->levels);
  shoal_snapshots_take(search->snapshots, search->levels, classes, UINT32_MAX);
}

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
