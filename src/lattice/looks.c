/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lattice/looks: looking at nodes for the best one, several together (several.h): on threads they
 * are rolled up, judged and costed; what they tell is learned after, in order.
 */
#include <math.h>
#include <stdlib.h>

#include "lattice/optimum.h"

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

/* Looks at work, and what they tell. */
typedef struct looking {
  const shoal_optimum *optimum;
  bool whole; /* all demands and the cost; else the monotone demands only */
  shoal_finding findings[SHOAL_LOOKS];
} looking;

static shoal_status roll_up(const looking *l, shoal_look *look, bool *fails) {
  const shoal_optimum *o = l->optimum;
  *fails = false;
  bool sizes_only = !l->whole && o->sizes_tell;
  if (sizes_only || shoal_search_sizes_first(o->search)) {
    SHOAL_TRY(shoal_look_roll_up(o->search, look, true));
    *fails = rows_below_k(&look->classes, o->search->demands->k) > o->limit;
    if (*fails || sizes_only) return SHOAL_OK;
    shoal_classes_reset(&look->classes);
  }
  return shoal_look_roll_up(o->search, look, false);
}

static shoal_status map_tuples(const shoal_optimum *o, shoal_look *look, uint32_t **class_of) {
  const shoal_frequency *frequency = o->search->frequency;
  *class_of = shoal_alloc(frequency->n_tuples, sizeof **class_of);
  if (!*class_of) return shoal_fail_memory(&look->error);
  shoal_classes same;
  SHOAL_TRY(shoal_classes_roll_up(frequency, &frequency->base, look->levels, look->grouper, &same,
                                  *class_of, &look->error));
  shoal_classes_reset(&same);
  return SHOAL_OK;
}

static shoal_status cost(const shoal_optimum *o, shoal_look *look, shoal_finding *finding) {
  uint8_t *breaks = NULL;
  uint32_t *class_of_tuple = NULL;
  shoal_status status = SHOAL_OK;
  if (finding->suppressed) {
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
                          .node = &finding->figures,
                          .class_of_tuple = class_of_tuple};
  if (status == SHOAL_OK) finding->cost = o->objective->cost(&view);
  finding->costed = status == SHOAL_OK;
  free(breaks);
  free(class_of_tuple);
  return status;
}

static shoal_status look_at(void *user, size_t i, shoal_look *look) {
  looking *l = user;
  const shoal_optimum *o = l->optimum;
  const shoal_search *search = o->search;
  shoal_finding *finding = &l->findings[i];
  bool fails;
  SHOAL_TRY(roll_up(l, look, &fails));
  finding->suppressed = UINT64_MAX;
  if (fails) return SHOAL_OK;
  finding->refused = o->all_monotone && shoal_search_bounded_out(search, &look->classes);
  if (finding->refused) return SHOAL_OK;
  const shoal_demands *demands = l->whole ? search->demands : &o->monotone;
  shoal_verdict verdict = shoal_judge(demands, search->frequency, &look->classes, o->limit, NULL);
  if (verdict.suppressed > o->limit) return SHOAL_OK;
  finding->suppressed = verdict.suppressed;
  if (!l->whole) return SHOAL_OK;
  double level_bound = shoal_bound_at(&o->bound, look->levels, 0);
  double bound = shoal_bound_at(&o->bound, look->levels, verdict.suppressed);
  if (shoal_optimum_hopeless(o, bound, level_bound, look->node)) return SHOAL_OK;
  finding->figures = shoal_search_figures(search, look->node, &verdict);
  return cost(o, look, finding);
}

/* ------------------------------------------------------------ several, and what they tell */

static void take_best(shoal_optimum *o, const shoal_look *look, const shoal_finding *finding) {
  double bound = shoal_bound_at(&o->bound, look->levels, 0);
  if (shoal_optimum_hopeless(o, finding->cost, bound, look->node)) return;
  o->found = true;
  o->cost = finding->cost;
  o->best_bound = bound;
  o->best = finding->figures;
}

static bool learn(shoal_optimum *o, const shoal_look *look, bool whole,
                  const shoal_finding *finding) {
  bool ok = true;
  o->search->n_bounded += finding->refused;
  if (o->all_monotone || !whole) {
    ok = shoal_known_add(&o->least, look->levels, finding->suppressed);
    if (finding->suppressed != UINT64_MAX)
      ok = ok && shoal_known_add(&o->most, look->levels, finding->suppressed);
  }
  if (whole) ok = ok && shoal_ids_insert(&o->whole, look->node) != SHOAL_NO_ID;
  if (finding->costed) take_best(o, look, finding);
  return ok;
}

shoal_status shoal_optimum_look(shoal_optimum *o, const uint64_t *nodes, size_t n, bool whole,
                                shoal_error *error) {
  looking l = {.optimum = o, .whole = whole};
  SHOAL_TRY(shoal_several_look(o->search, nodes, n, !whole && o->sizes_tell, look_at, &l, error));
  const shoal_look *looks = o->search->several->looks;
  bool ok = true;
  for (size_t i = 0; i < n; i++) ok = ok && learn(o, &looks[i], whole, &l.findings[i]);
  return ok ? SHOAL_OK : shoal_fail_memory(error);
}
