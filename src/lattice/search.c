/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lattice/search: the state of a search, and the evaluation of nodes for every algorithm.
 *
 * A node's classes are rolled up from the classes of a node below it. Classes of evaluated nodes
 * are kept as snapshots, and each node starts from the smallest snapshot at or below it:
 *
 *      node       classes
 *      (2,1)      12        to evaluate: reads 25 classes instead of 900
 *        ^
 *      (2,0)      25  <---  the smallest snapshot at or below (2,1)
 *      (1,1)      40        snapshot, larger
 *      (0,2)      18        snapshot, smaller, but not below (2,1)
 *      (0,0)     900        the tuples; always there
 *
 * The store has at most 256 snapshots and 256 MiB; the least recently used is dropped first.
 */
#include "lattice/search.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "lattice/distance_matrix.h"
#include "lattice/set_bounds.h"

enum {
  MAX_SNAPSHOTS = 256,
  CLASSES_PER_THREAD = 1 << 14, /* a thread costs more than scanning fewer classes */
  MIN_BATCH_TUPLES = 4000       /* smaller tables: one node at a time */
};
static const size_t MAX_SNAPSHOT_BYTES = (size_t)256 << 20;
static const size_t MAX_BATCH_BYTES = (size_t)128 << 20; /* classes of a batch of more than 2 */

/* ------------------------------------------------------------ snapshots */

typedef struct snapshot {
  uint32_t *levels;
  shoal_classes classes;
  size_t bytes;
  uint64_t used; /* the store's clock at the last use */
} snapshot;

struct shoal_snapshots {
  size_t n_levels;
  snapshot items[MAX_SNAPSHOTS];
  size_t n_items;
  size_t bytes;
  uint64_t clock;
};

static bool is_at_or_below(const uint32_t *a, const uint32_t *b, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (a[i] > b[i]) return false;
  return true;
}

/* The smallest classes at or below `levels`; `base` if there is no such snapshot. */
static const shoal_classes *best_source(struct shoal_snapshots *store, const uint32_t *levels,
                                        bool sizes_only, const shoal_classes *base) {
  snapshot *best = NULL;
  for (size_t i = 0; i < store->n_items; i++) {
    snapshot *item = &store->items[i];
    if (item->classes.sizes_only && !sizes_only) continue;
    if ((!best || item->classes.n_classes < best->classes.n_classes) &&
        is_at_or_below(item->levels, levels, store->n_levels))
      best = item;
  }
  if (!best) return base;
  best->used = ++store->clock;
  return &best->classes;
}

static void drop_snapshot(struct shoal_snapshots *store, size_t i) {
  snapshot *item = &store->items[i];
  store->bytes -= item->bytes;
  free(item->levels);
  shoal_classes_reset(&item->classes);
  *item = store->items[--store->n_items];
}

/* Takes the classes: stores them, or frees them if they are not worth storing. */
static void take_snapshot(struct shoal_snapshots *store, const uint32_t *levels,
                          shoal_classes *classes, uint32_t n_source) {
  size_t bytes = shoal_classes_bytes(classes);
  uint32_t *copy = NULL;
  /* A snapshot that is hardly smaller than its source saves nothing later. */
  if (classes->n_classes < n_source - n_source / 8 && bytes <= MAX_SNAPSHOT_BYTES / 4)
    copy = shoal_alloc(store->n_levels, sizeof *copy);
  if (!copy) {
    shoal_classes_reset(classes);
    return;
  }
  while (store->n_items &&
         (store->n_items == MAX_SNAPSHOTS || store->bytes + bytes > MAX_SNAPSHOT_BYTES)) {
    size_t oldest = 0;
    for (size_t i = 1; i < store->n_items; i++)
      if (store->items[i].used < store->items[oldest].used) oldest = i;
    drop_snapshot(store, oldest);
  }
  memcpy(copy, levels, store->n_levels * sizeof *copy);
  store->items[store->n_items++] = (snapshot){copy, *classes, bytes, ++store->clock};
  store->bytes += bytes;
  memset(classes, 0, sizeof *classes);
}

/* ------------------------------------------------------------ state */

static shoal_status allocate(shoal_search *search, shoal_error *error) {
  const shoal_space *space = &search->space;
  bool vast = space->n_nodes > SHOAL_MAX_NODES, tags = search->monotone && !vast;
  search->levels = shoal_alloc(space->n, sizeof *search->levels);
  search->snapshots = shoal_alloc_zero(1, sizeof *search->snapshots);
  if (tags) search->tags = shoal_alloc_zero((size_t)space->n_nodes, 1);
  if (!vast) search->evaluated = shoal_alloc_zero((size_t)space->n_nodes / 8 + 1, 1);
  if (!search->levels || !search->snapshots || (!vast && !search->evaluated) ||
      (tags && !search->tags))
    return shoal_fail_memory(error);
  search->snapshots->n_levels = space->n;
  struct shoal_node_batch *batch = shoal_alloc_zero(1, sizeof *batch);
  search->batch = batch;
  if (!batch) return shoal_fail_memory(error);
  for (size_t i = 0; i + 1 < SHOAL_BATCH_NODES; i++) shoal_grouper_init(&batch->groupers[i]);
  batch->levels = shoal_alloc(space->n, SHOAL_BATCH_NODES * sizeof *batch->levels);
  if (!batch->levels) return shoal_fail_memory(error);
  for (size_t i = 0; i < SHOAL_BATCH_NODES; i++)
    batch->evaluations[i].levels = batch->levels + i * space->n;
  return SHOAL_OK;
}

static shoal_status bound_sets(shoal_search *search, shoal_error *error) {
  search->set_bounds = shoal_alloc_zero(1, sizeof *search->set_bounds);
  if (!search->set_bounds) return shoal_fail_memory(error);
  SHOAL_TRY(shoal_set_bounds_init(search->set_bounds, search->frequency, search->requirements,
                                  &search->space, search->run, error));
  return shoal_set_rounds_new(search->frequency, search->requirements, &search->space,
                              search->max_suppressed, search->run, &search->set_rounds, error);
}

shoal_status shoal_search_init(shoal_search *search, const shoal_frequency_set *frequency,
                               const shoal_requirements *requirements, uint64_t max_suppressed,
                               uint64_t max_classes, bool needs_rows, const shoal_run *run,
                               shoal_error *error) {
  memset(search, 0, sizeof *search);
  search->frequency = frequency;
  search->requirements = requirements;
  search->run = run;
  search->max_suppressed = max_suppressed;
  search->max_classes = max_classes;
  search->needs_rows = needs_rows;
  search->monotone = requirements->monotone || (requirements->merges && max_suppressed == 0);
  shoal_grouper_init(&search->grouper);
  SHOAL_TRY(shoal_space_init(&search->space, frequency, error));
  shoal_status status = allocate(search, error);
  if (status == SHOAL_OK && requirements->n_sets > 1) status = bound_sets(search, error);
  if (status != SHOAL_OK) shoal_search_reset(search);
  return status;
}

void shoal_search_reset(shoal_search *search) {
  shoal_search_free_path_order(search);
  while (search->snapshots && search->snapshots->n_items)
    drop_snapshot(search->snapshots, search->snapshots->n_items - 1);
  free(search->snapshots);
  if (search->batch) {
    for (size_t i = 0; i + 1 < SHOAL_BATCH_NODES; i++)
      shoal_grouper_reset(&search->batch->groupers[i]);
    free(search->batch->levels);
    free(search->batch);
  }
  if (search->set_bounds) shoal_set_bounds_reset(search->set_bounds);
  free(search->set_bounds);
  shoal_set_rounds_free(search->set_rounds);
  shoal_grouper_reset(&search->grouper);
  shoal_space_reset(&search->space);
  free(search->levels);
  free(search->tags);
  free(search->evaluated);
  free(search->path);
  free(search->stack);
  memset(search, 0, sizeof *search);
}

shoal_status shoal_search_check_countable(const shoal_search *search, shoal_error *error) {
  if (search->space.n_nodes != UINT64_MAX) return SHOAL_OK;
  return shoal_fail(error, SHOAL_BAD_INPUT,
                    "the lattice has more nodes than can be counted: use hierarchies with fewer "
                    "levels, fewer quasi-identifiers, algorithm 'optimal', or a local algorithm "
                    "such as flock");
}

shoal_status shoal_search_check_size(const shoal_search *search, shoal_error *error) {
  SHOAL_TRY(shoal_search_check_countable(search, error));
  if (search->space.n_nodes <= SHOAL_MAX_NODES) return SHOAL_OK;
  return shoal_fail(error, SHOAL_BAD_INPUT,
                    "the lattice has more than %llu million nodes: use hierarchies with fewer "
                    "levels or fewer quasi-identifiers, or algorithm 'optimal'",
                    (unsigned long long)(SHOAL_MAX_NODES / 1000000));
}

bool shoal_search_is_over(const shoal_search *search, const shoal_search_limits *limits) {
  return search->n_scanned >= limits->max_scanned ||
         (limits->deadline > 0 && shoal_seconds() >= limits->deadline);
}

/* ------------------------------------------------------------ batches */

size_t shoal_node_batch_size(const shoal_search *search) {
  if (search->frequency->n_tuples < MIN_BATCH_TUPLES) return 1;
  /* No node has more classes than there are tuples. */
  size_t fit = MAX_BATCH_BYTES / shoal_classes_bytes(&search->frequency->base);
  return fit < 2 ? 2 : fit < SHOAL_BATCH_NODES ? fit : SHOAL_BATCH_NODES;
}

shoal_status shoal_node_evaluation_roll_up(const shoal_search *search,
                                           shoal_node_evaluation *evaluation, bool sizes_only) {
  if (sizes_only)
    return shoal_classes_roll_up_sizes(search->frequency, evaluation->source, evaluation->levels,
                                       evaluation->grouper, &evaluation->classes,
                                       &evaluation->error);
  return shoal_classes_roll_up(search->frequency, evaluation->source, evaluation->levels,
                               evaluation->grouper, &evaluation->classes, NULL, &evaluation->error);
}

/*
 * The node counts once in n_evaluated; every class read counts in n_scanned. If rows may be
 * suppressed, classes are read once for each set of quasi-identifiers.
 */
static void count_evaluation(shoal_search *search, uint64_t node, uint32_t n_source) {
  size_t n_sets = search->max_suppressed ? search->requirements->n_sets : 1;
  search->n_scanned += (uint64_t)n_source * (n_sets ? n_sets : 1);
  if (!search->evaluated) {
    search->n_evaluated++;
    return;
  }
  uint8_t bit = (uint8_t)(1u << node % 8);
  search->n_evaluated += !(search->evaluated[node / 8] & bit);
  search->evaluated[node / 8] |= bit;
}

typedef struct team {
  shoal_search *search;
  size_t n_evaluations;
  atomic_size_t next; /* the first that no thread has taken */
  shoal_node_work *work;
  void *user;
} team;

static void evaluate_on_thread(void *user, unsigned thread) {
  team *t = user;
  struct shoal_node_batch *batch = t->search->batch;
  for (size_t i; (i = atomic_fetch_add(&t->next, 1)) < t->n_evaluations;) {
    shoal_node_evaluation *evaluation = &batch->evaluations[i];
    evaluation->grouper = thread ? &batch->groupers[thread - 1] : &t->search->grouper;
    evaluation->status = t->work(t->user, i, evaluation);
  }
}

shoal_status shoal_node_batch_evaluate(shoal_search *search, const uint64_t *nodes, size_t n,
                                       bool sizes_only, shoal_node_work *work, void *user,
                                       shoal_error *error) {
  assert(n <= SHOAL_BATCH_NODES);
  shoal_node_evaluation *evaluations = search->batch->evaluations;
  uint64_t n_classes = 0;
  for (size_t i = 0; i < n; i++) {
    shoal_node_evaluation *evaluation = &evaluations[i];
    assert(nodes[i] < search->space.n_nodes);
    evaluation->node = nodes[i];
    shoal_space_levels(&search->space, nodes[i], evaluation->levels);
    memset(&evaluation->classes, 0, sizeof evaluation->classes);
    evaluation->source =
        best_source(search->snapshots, evaluation->levels, sizes_only, &search->frequency->base);
    evaluation->n_source = evaluation->source->n_classes;
    n_classes += evaluation->n_source;
    count_evaluation(search, nodes[i], evaluation->n_source);
  }
  SHOAL_TRY(shoal_run_report(search->run, "search", search->n_evaluated, search->space.n_nodes,
                             "nodes", error));
  uint64_t n_useful = n_classes / CLASSES_PER_THREAD + 1;
  unsigned n_threads = shoal_run_threads(search->run);
  if (n_threads > n) n_threads = (unsigned)n;
  if (n_threads > n_useful) n_threads = (unsigned)n_useful;
  team t = {.search = search, .n_evaluations = n, .work = work, .user = user};
  shoal_parallel(n_threads, evaluate_on_thread, &t);
  shoal_status status = SHOAL_OK;
  for (size_t i = 0; i < n && status == SHOAL_OK; i++) {
    status = evaluations[i].status;
    if (status != SHOAL_OK && error) *error = evaluations[i].error;
  }
  for (size_t i = 0; i < n; i++) {
    if (status == SHOAL_OK && evaluations[i].classes.n_classes)
      take_snapshot(search->snapshots, evaluations[i].levels, &evaluations[i].classes,
                    evaluations[i].n_source);
    else shoal_classes_reset(&evaluations[i].classes);
  }
  return status;
}

/* ------------------------------------------------------------ sets of quasi-identifiers */

shoal_status shoal_search_min_over_sets(const shoal_search *search, const uint32_t *levels,
                                        uint64_t limit, shoal_grouper *grouper, uint64_t *rows,
                                        bool *complete, shoal_error *error) {
  *rows = 0;
  *complete = false;
  if (!search->set_bounds) return SHOAL_OK;
  return shoal_set_bounds_at(search->set_bounds, levels, limit, grouper, NULL, rows, complete,
                             error);
}

/* The tuples that must be suppressed decide about the classes. *done: false if it is not known. */
static shoal_status suppress_by_tuples(const shoal_search *search, const uint32_t *levels,
                                       const shoal_classes *classes, uint64_t limit,
                                       uint8_t *suppressed, bool *done) {
  uint64_t rows;
  *done = false;
  if (!search->set_rounds) return SHOAL_OK;
  uint8_t *tuples = shoal_alloc(search->frequency->n_tuples, 1);
  if (!tuples) return SHOAL_FAILED;
  shoal_status status =
      shoal_set_rounds_run(search->set_rounds, levels, limit, tuples, &rows, done, NULL);
  for (uint32_t c = 0; status == SHOAL_OK && *done && c < classes->n_classes; c++)
    suppressed[c] = tuples[classes->tuple[c]];
  free(tuples);
  return status;
}

/*
 * suppressed[c] receives 1 for classes that must be suppressed. Above the limit it stops early, and
 * `judged` has a lower bound.
 */
static shoal_status judge_over_sets(const shoal_search *search, const uint32_t *levels,
                                    shoal_grouper *grouper, const shoal_classes *classes,
                                    uint64_t limit, uint8_t *suppressed, shoal_judgement *judged) {
  const shoal_requirements *requirements = search->requirements;
  const shoal_labelling labelling = {.levels = levels};
  uint8_t *clean = shoal_alloc(requirements->n_sets, 1);
  uint64_t rows;
  bool complete;
  memset(suppressed, 0, classes->n_classes);
  shoal_status status = clean ? shoal_set_bounds_at(search->set_bounds, levels, limit, grouper,
                                                    clean, &rows, &complete, NULL)
                              : SHOAL_FAILED;
  if (status == SHOAL_OK && rows > limit) {
    *judged = (shoal_judgement){.suppressed = rows};
  } else if (status == SHOAL_OK) {
    bool done = !rows && complete;
    if (!done) status = suppress_by_tuples(search, levels, classes, limit, suppressed, &done);
    if (!done && status == SHOAL_OK)
      shoal_suppress_over_sets(requirements, search->frequency, classes, &labelling, clean, limit,
                               suppressed);
    *judged = shoal_judgement_of(classes, suppressed);
  }
  free(clean);
  return status;
}

shoal_judgement shoal_search_judge(const shoal_search *search, const uint32_t *levels,
                                   shoal_grouper *grouper, const shoal_classes *classes,
                                   uint64_t limit, uint8_t *violates) {
  const shoal_requirements *requirements = search->requirements;
  if (!search->set_bounds)
    return shoal_judge(requirements, search->frequency, classes, limit, violates);
  uint8_t *own = violates ? NULL : shoal_alloc(classes->n_classes, 1);
  uint8_t *suppressed = violates ? violates : own;
  shoal_judgement judged = {.suppressed = search->frequency->n_records};
  shoal_status status = suppressed
                            ? judge_over_sets(search, levels, grouper, classes,
                                              violates ? UINT64_MAX : limit, suppressed, &judged)
                            : SHOAL_FAILED;
  if (status != SHOAL_OK) atomic_store(requirements->no_memory, true);
  free(own);
  return judged;
}

/* ------------------------------------------------------------ exact figures */

static bool is_within_limit(const shoal_search *search, uint64_t suppressed) {
  if (suppressed > search->max_suppressed) return false;
  return !search->needs_rows || suppressed < search->frequency->n_records;
}

shoal_node shoal_search_node(const shoal_search *search, uint64_t node,
                             const shoal_judgement *judged) {
  return (shoal_node){.number = node,
                      .height = shoal_space_height(&search->space, node),
                      .suppressed = judged->suppressed,
                      .n_classes = judged->n_classes,
                      .smallest_class = judged->smallest_class,
                      .satisfies = is_within_limit(search, judged->suppressed)};
}

typedef struct exact_work {
  const shoal_search *search;
  shoal_node *evaluated;
} exact_work;

static shoal_status evaluate_exactly(void *user, size_t i, shoal_node_evaluation *evaluation) {
  const exact_work *w = user;
  SHOAL_TRY(shoal_node_evaluation_roll_up(w->search, evaluation, false));
  shoal_judgement judged = shoal_search_judge(w->search, evaluation->levels, evaluation->grouper,
                                              &evaluation->classes, UINT64_MAX, NULL);
  w->evaluated[i] = shoal_search_node(w->search, evaluation->node, &judged);
  return SHOAL_OK;
}

shoal_status shoal_search_evaluate_batch(shoal_search *search, const uint64_t *nodes, size_t n,
                                         shoal_node *evaluated, shoal_error *error) {
  exact_work w = {.search = search, .evaluated = evaluated};
  return shoal_node_batch_evaluate(search, nodes, n, false, evaluate_exactly, &w, error);
}

/* ------------------------------------------------------------ yes or no */

/*
 * The second necessary condition (Truta & Vinay 2006), on classes left after suppression
 * (docs/reading-the-papers.md R3). Suppression can remove only as many classes of k rows as fit
 * into the rest of the limit, and more than max_classes classes cannot all satisfy.
 */
bool shoal_search_fails_by_size(const shoal_search *search, const shoal_classes *classes) {
  uint64_t k = search->requirements->whole_k, small_rows = 0, n_large = 0;
  for (uint32_t c = 0; c < classes->n_classes; c++) {
    if (classes->n_rows[c] < k) small_rows += classes->n_rows[c];
    else n_large++;
  }
  if (small_rows > search->max_suppressed) return true;
  uint64_t n_removable = (search->max_suppressed - small_rows) / k;
  return n_large > n_removable && n_large - n_removable > search->max_classes;
}

bool shoal_search_sizes_first(const shoal_search *search) {
  for (size_t s = 0; s < search->frequency->n_tracked; s++)
    if (search->frequency->track[s] == SHOAL_TRACK_HISTOGRAM) return true;
  return false;
}

typedef struct decide_work {
  const shoal_search *search;
  bool fails_by_size[SHOAL_BATCH_NODES];
  bool satisfies[SHOAL_BATCH_NODES];
} decide_work;

static shoal_status decide_by_size(void *user, size_t i, shoal_node_evaluation *evaluation) {
  decide_work *w = user;
  SHOAL_TRY(shoal_node_evaluation_roll_up(w->search, evaluation, true));
  w->fails_by_size[i] = shoal_search_fails_by_size(w->search, &evaluation->classes);
  /* If the node does not fail, its classes are computed again, with sensitive values. */
  if (!w->fails_by_size[i]) shoal_classes_reset(&evaluation->classes);
  return SHOAL_OK;
}

static shoal_status decide(void *user, size_t i, shoal_node_evaluation *evaluation) {
  decide_work *w = user;
  const shoal_search *search = w->search;
  SHOAL_TRY(shoal_node_evaluation_roll_up(search, evaluation, false));
  w->fails_by_size[i] = shoal_search_fails_by_size(search, &evaluation->classes);
  if (w->fails_by_size[i]) return SHOAL_OK;
  shoal_judgement judged = shoal_search_judge(search, evaluation->levels, evaluation->grouper,
                                              &evaluation->classes, search->max_suppressed, NULL);
  w->satisfies[i] = is_within_limit(search, judged.suppressed);
  return SHOAL_OK;
}

/* The rows that must be suppressed at search->levels, or more than the limit, if *known. */
static shoal_status decide_by_tuples(const shoal_search *search, uint64_t *rows, bool *known,
                                     shoal_error *error) {
  if (!search->set_rounds) return SHOAL_OK;
  uint8_t *tuples = shoal_alloc(search->frequency->n_tuples, 1);
  if (!tuples) return shoal_fail_memory(error);
  shoal_status status = shoal_set_rounds_run(search->set_rounds, search->levels,
                                             search->max_suppressed, tuples, rows, known, error);
  free(tuples);
  return status;
}

/*
 * Decides what rows that violate over single sets decide: without suppression, everything that is
 * not about all quasi-identifiers. is_open[i] receives whether node i is left.
 */
static shoal_status decide_by_sets(shoal_search *search, const uint64_t *nodes, size_t n,
                                   bool *is_open, bool *satisfies, shoal_error *error) {
  for (size_t i = 0; i < n; i++) {
    uint64_t rows = 0;
    bool complete = false;
    satisfies[i] = false;
    is_open[i] = true;
    if (!search->set_bounds) continue;
    shoal_space_levels(&search->space, nodes[i], search->levels);
    SHOAL_TRY(shoal_search_min_over_sets(search, search->levels, search->max_suppressed,
                                         &search->grouper, &rows, &complete, error));
    bool known = (complete && rows == 0) || rows > search->max_suppressed;
    if (!known) SHOAL_TRY(decide_by_tuples(search, &rows, &known, error));
    satisfies[i] = known && is_within_limit(search, rows);
    is_open[i] = !known;
    if (!is_open[i]) count_evaluation(search, nodes[i], 0);
  }
  return SHOAL_OK;
}

shoal_status shoal_search_decide_batch(shoal_search *search, const uint64_t *nodes, size_t n,
                                       bool *satisfies, shoal_error *error) {
  assert(n <= SHOAL_BATCH_NODES);
  if (search->matrix) {
    for (size_t i = 0; i < n; i++) {
      shoal_space_levels(&search->space, nodes[i], search->levels);
      count_evaluation(search, nodes[i], search->matrix->n_outliers);
      satisfies[i] =
          is_within_limit(search, shoal_distance_matrix_required(search->matrix, search->levels));
    }
    return SHOAL_OK;
  }
  decide_work by_size = {.search = search}, by_all = {.search = search};
  uint64_t open[SHOAL_BATCH_NODES]; /* nodes that are not decided yet */
  size_t index[SHOAL_BATCH_NODES], n_open = 0;
  bool is_open[SHOAL_BATCH_NODES];
  SHOAL_TRY(decide_by_sets(search, nodes, n, is_open, satisfies, error));
  for (size_t i = 0; i < n; i++) {
    if (!is_open[i]) continue;
    index[n_open] = i;
    open[n_open++] = nodes[i];
  }
  if (n_open && shoal_search_sizes_first(search)) {
    SHOAL_TRY(
        shoal_node_batch_evaluate(search, open, n_open, true, decide_by_size, &by_size, error));
    size_t n_sized = n_open;
    n_open = 0;
    for (size_t i = 0; i < n_sized; i++) {
      search->n_bounded += by_size.fails_by_size[i];
      if (by_size.fails_by_size[i]) continue;
      index[n_open] = index[i];
      open[n_open++] = open[i];
    }
  }
  if (!n_open) return SHOAL_OK;
  SHOAL_TRY(shoal_node_batch_evaluate(search, open, n_open, false, decide, &by_all, error));
  for (size_t i = 0; i < n_open; i++) {
    search->n_bounded += by_all.fails_by_size[i];
    satisfies[index[i]] = by_all.satisfies[i];
  }
  return SHOAL_OK;
}

/* ------------------------------------------------------------ classes */

shoal_status shoal_search_classes(shoal_search *search, uint64_t node, shoal_classes *classes,
                                  uint8_t **violates, uint32_t **class_of_tuple,
                                  shoal_error *error) {
  const shoal_frequency_set *frequency = search->frequency;
  shoal_space_levels(&search->space, node, search->levels);
  *violates = NULL;
  *class_of_tuple = shoal_alloc(frequency->n_tuples, sizeof **class_of_tuple);
  if (!*class_of_tuple) return shoal_fail_memory(error);
  shoal_status status = shoal_classes_roll_up(frequency, &frequency->base, search->levels,
                                              &search->grouper, classes, *class_of_tuple, error);
  if (status == SHOAL_OK) {
    *violates = shoal_alloc(classes->n_classes, 1);
    if (*violates) {
      (void)shoal_search_judge(search, search->levels, &search->grouper, classes, UINT64_MAX,
                               *violates);
      return SHOAL_OK;
    }
    status = shoal_fail_memory(error);
    shoal_classes_reset(classes);
  }
  free(*class_of_tuple);
  *class_of_tuple = NULL;
  return status;
}
