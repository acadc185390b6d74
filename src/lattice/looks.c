/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lattice/looks: looking at nodes for the best one. Sources are chosen before and results are
 * taken after, in order; what is between, rolling up, judging and costing, shares nothing and runs
 * on threads. What is found does not depend on how many there are.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lattice/optimum.h"
#include "lattice/snapshots.h"

/* Far above what rounding adds to a sum of costs, far below any difference that matters. */
static const double ROUNDING = 1e-12;

bool shoal_optimum_hopeless(const shoal_optimum *o, double bound, double level_bound,
                            uint64_t node) {
  if (!o->found) return false;
  double slack = fabs(o->cost) * ROUNDING;
  if (bound > o->cost + slack) return true;
  if (bound < o->cost - slack) return false;
  if (level_bound != o->best_bound) return level_bound > o->best_bound;
  return node >= o->best.number;
}

/* ------------------------------------------------------------ one node, on any thread */

static uint64_t rows_below_k(const shoal_classes *classes, uint64_t k) {
  uint64_t rows = 0;
  for (uint32_t c = 0; c < classes->n_classes; c++)
    if (classes->n_rows[c] < k) rows += classes->n_rows[c];
  return rows;
}

/* Histograms are dear to merge: sizes alone often tell that a node fails. */
static bool has_histograms(const shoal_frequency *frequency) {
  for (size_t s = 0; s < frequency->n_sensitive; s++)
    if (frequency->track[s] == SHOAL_TRACK_HISTOGRAM) return true;
  return false;
}

static shoal_status roll_up(const shoal_optimum *o, shoal_look *look, bool *fails) {
  const shoal_frequency *frequency = o->search->frequency;
  *fails = false;
  bool sizes_only = !look->whole && o->sizes_tell;
  if (sizes_only || has_histograms(frequency)) {
    SHOAL_TRY(shoal_classes_roll_up_sizes(frequency, look->from, look->levels, &look->grouper,
                                          &look->classes, &look->error));
    *fails = rows_below_k(&look->classes, o->search->demands->k) > o->limit;
    if (*fails || sizes_only) return SHOAL_OK;
    shoal_classes_reset(&look->classes);
  }
  return shoal_classes_roll_up(frequency, look->from, look->levels, &look->grouper, &look->classes,
                               NULL, &look->error);
}

static shoal_status map_tuples(const shoal_optimum *o, shoal_look *look, uint32_t **class_of) {
  const shoal_frequency *frequency = o->search->frequency;
  *class_of = shoal_alloc(frequency->n_tuples, sizeof **class_of);
  if (!*class_of) return shoal_fail_memory(&look->error);
  shoal_classes same;
  SHOAL_TRY(shoal_classes_roll_up(frequency, &frequency->base, look->levels, &look->grouper, &same,
                                  *class_of, &look->error));
  shoal_classes_reset(&same);
  return SHOAL_OK;
}

static shoal_status cost(const shoal_optimum *o, shoal_look *look) {
  uint8_t *breaks = NULL;
  uint32_t *class_of_tuple = NULL;
  shoal_status status = SHOAL_OK;
  if (look->suppressed) {
    breaks = shoal_alloc(look->classes.n_classes, 1);
    if (!breaks) return shoal_fail_memory(&look->error);
    (void)shoal_judge(o->search->demands, o->search->frequency, &look->classes, UINT64_MAX, breaks);
    if (o->objective->needs_tuples) status = map_tuples(o, look, &class_of_tuple);
  }
  shoal_cost_view view = {.search = o->search,
                          .levels_cost = &o->costs,
                          .levels = look->levels,
                          .classes = &look->classes,
                          .breaks = breaks,
                          .node = &look->figures,
                          .class_of_tuple = class_of_tuple};
  if (status == SHOAL_OK) look->cost = o->objective->cost(&view);
  look->costed = status == SHOAL_OK;
  free(breaks);
  free(class_of_tuple);
  return status;
}

static shoal_status look_at(const shoal_optimum *o, shoal_look *look) {
  const shoal_search *search = o->search;
  bool fails;
  SHOAL_TRY(roll_up(o, look, &fails));
  look->suppressed = UINT64_MAX;
  if (fails) return SHOAL_OK;
  look->refused = o->all_monotone && shoal_search_bounded_out(search, &look->classes);
  if (look->refused) return SHOAL_OK;
  const shoal_demands *demands = look->whole ? search->demands : &o->monotone;
  shoal_verdict verdict = shoal_judge(demands, search->frequency, &look->classes, o->limit, NULL);
  if (verdict.suppressed > o->limit) return SHOAL_OK;
  look->suppressed = verdict.suppressed;
  if (!look->whole) return SHOAL_OK;
  double level_bound = shoal_bound_at(&o->bound, look->levels, 0);
  double bound = shoal_bound_at(&o->bound, look->levels, verdict.suppressed);
  if (shoal_optimum_hopeless(o, bound, level_bound, look->node)) return SHOAL_OK;
  look->figures = (shoal_node){.number = look->node,
                               .height = shoal_space_height(&search->space, look->node),
                               .suppressed = verdict.suppressed,
                               .n_classes = verdict.n_classes,
                               .smallest_class = verdict.smallest_class,
                               .satisfies = true};
  return cost(o, look);
}

/* ------------------------------------------------------------ several, and what they tell */

typedef struct team {
  shoal_optimum *optimum;
  unsigned n_threads;
} team;

static void look_at_share(void *user, unsigned thread) {
  team *t = user;
  for (size_t i = thread; i < t->optimum->n_looks; i += t->n_threads) {
    shoal_look *look = &t->optimum->looks[i];
    look->status = look_at(t->optimum, look);
  }
}

static void begin(shoal_optimum *o, shoal_look *look, uint64_t node, bool whole) {
  shoal_search *search = o->search;
  shoal_space_levels(&search->space, node, look->levels);
  look->node = node;
  look->whole = whole;
  look->costed = look->refused = false;
  memset(&look->classes, 0, sizeof look->classes);
  bool sizes_only = !whole && o->sizes_tell;
  look->from =
      shoal_snapshots_best(search->snapshots, look->levels, sizes_only, &search->frequency->base);
  look->n_source = look->from->n_classes;
  shoal_search_note(search, node, look->n_source);
}

static void take_best(shoal_optimum *o, const shoal_look *look) {
  double bound = shoal_bound_at(&o->bound, look->levels, 0);
  if (shoal_optimum_hopeless(o, look->cost, bound, look->node)) return;
  o->found = true;
  o->cost = look->cost;
  o->best_bound = bound;
  o->best = look->figures;
}

static shoal_status learn(shoal_optimum *o, shoal_look *look, shoal_error *error) {
  bool ok = true;
  o->search->n_bounded += look->refused;
  if (o->all_monotone || !look->whole) {
    ok = shoal_known_add(&o->least, look->levels, look->suppressed);
    if (look->suppressed != UINT64_MAX)
      ok = ok && shoal_known_add(&o->most, look->levels, look->suppressed);
  }
  if (look->whole) ok = ok && shoal_ids_insert(&o->whole, look->node) != SHOAL_NO_ID;
  if (look->costed) take_best(o, look);
  shoal_snapshots_take(o->search->snapshots, look->levels, &look->classes, look->n_source);
  return ok ? SHOAL_OK : shoal_fail_memory(error);
}

/* Threads for the looks at hand: few classes are gone over sooner than a thread starts. */
static unsigned threads_for(const shoal_optimum *o) {
  enum { CLASSES_A_THREAD = 1 << 14 };
  uint64_t n_classes = 0;
  for (size_t i = 0; i < o->n_looks; i++) n_classes += o->looks[i].n_source;
  uint64_t most = n_classes / CLASSES_A_THREAD + 1;
  unsigned threads = shoal_run_threads(o->search->run);
  if (threads > o->n_looks) threads = (unsigned)o->n_looks;
  return threads < most ? threads : (unsigned)most;
}

shoal_status shoal_optimum_look(shoal_optimum *o, const uint64_t *nodes, size_t n, bool whole,
                                shoal_error *error) {
  SHOAL_TRY(shoal_run_report(o->search->run, "search", o->search->n_checked,
                             o->search->space.n_nodes, "nodes", error));
  for (size_t i = 0; i < n; i++) begin(o, &o->looks[i], nodes[i], whole);
  o->n_looks = n;
  team t = {.optimum = o, .n_threads = threads_for(o)};
  shoal_parallel(t.n_threads, look_at_share, &t);
  shoal_status status = SHOAL_OK;
  for (size_t i = 0; i < n; i++) {
    shoal_look *look = &o->looks[i];
    if (status == SHOAL_OK && look->status != SHOAL_OK) {
      status = look->status;
      if (error) *error = look->error;
    }
    if (status == SHOAL_OK) status = learn(o, look, error);
    else shoal_classes_reset(&look->classes);
  }
  return status;
}
