/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model/judge: classes against demands. Every class that breaks any demand is suppressed, not only
 * those below k: only so can the rows to suppress fall going up (docs/reading-the-papers.md R1).
 */
#include "model/model.h"

static shoal_value_view values_of(const shoal_frequency *frequency, const shoal_classes *classes,
                                  uint32_t c, size_t s) {
  shoal_value_view view = {.is_missing = frequency->sensitive[s]->is_missing};
  const shoal_histogram *histogram = &classes->histograms[s];
  if (histogram->start) {
    view.values = histogram->value + histogram->start[c];
    view.n_rows = histogram->n_rows + histogram->start[c];
    view.n = histogram->start[c + 1] - histogram->start[c];
  } else { /* what a demand looks at is tracked as the one or the other */
    view.is_set = true;
    view.set = classes->sets[s][c];
    view.n = 64;
  }
  return view;
}

static shoal_class_view view_of(const shoal_demand *demand, const shoal_frequency *frequency,
                                const shoal_classes *classes, uint32_t c) {
  shoal_class_view view = {.n_rows = classes->n_rows[c]};
  if (demand->sensitive != SHOAL_NO_ATTRIBUTE) {
    view.n_distinct = shoal_classes_distinct(frequency, classes, c, demand->sensitive);
    view.values = values_of(frequency, classes, c, demand->sensitive);
  }
  if (demand->guard != SHOAL_NO_ATTRIBUTE)
    view.guards = values_of(frequency, classes, c, demand->guard);
  return view;
}

bool shoal_demand_holds(const shoal_demand *demand, const shoal_frequency *frequency,
                        const shoal_classes *classes, uint32_t c, double *reached) {
  shoal_class_view view = view_of(demand, frequency, classes, c);
  if (reached) *reached = demand->type->reached(demand, &view);
  return demand->type->holds(demand, &view);
}

/* ------------------------------------------------------------ all classes, all demands */

enum { MOST_QUICK = 8 };

/* A demand that a class's set of values decides by its number. */
typedef struct quick_demand {
  const uint64_t *sets; /* by class */
  uint64_t least;
} quick_demand;

/* What there is to judge: sizes and plain numbers of values at once, the rest one by one. */
typedef struct judging {
  const shoal_demands *demands;
  const shoal_frequency *frequency;
  const shoal_classes *classes;
  uint64_t least_rows;
  quick_demand quick[MOST_QUICK];
  size_t n_quick;
  bool slow; /* there are demands beside these */
} judging;

static bool is_quick(judging *j, const shoal_demand *demand) {
  shoal_distinct distinct;
  if (demand->type->is_size) {
    if (demand->count[0] > j->least_rows) j->least_rows = demand->count[0];
    return true;
  }
  if (j->n_quick == MOST_QUICK || !demand->type->distinct || /* else it is on an attribute */
      !j->classes->sets[demand->sensitive] || !demand->type->distinct(demand, &distinct) ||
      distinct.group_of)
    return false;
  j->quick[j->n_quick++] = (quick_demand){j->classes->sets[demand->sensitive], distinct.least};
  return true;
}

static judging plan(const shoal_demands *demands, const shoal_frequency *frequency,
                    const shoal_classes *classes) {
  judging j = {.demands = demands, .frequency = frequency, .classes = classes};
  for (size_t i = 0; i < demands->n_items; i++)
    if (!is_quick(&j, &demands->items[i])) j.slow = true;
  return j;
}

static bool breaks_any(const judging *j, uint32_t c) {
  if (j->classes->n_rows[c] < j->least_rows) return true;
  for (size_t i = 0; i < j->n_quick; i++)
    if ((uint64_t)__builtin_popcountll(j->quick[i].sets[c]) < j->quick[i].least) return true;
  for (size_t i = 0; j->slow && i < j->demands->n_items; i++)
    if (!shoal_demand_holds(&j->demands->items[i], j->frequency, j->classes, c, NULL)) return true;
  return false;
}

shoal_verdict shoal_judge(const shoal_demands *demands, const shoal_frequency *frequency,
                          const shoal_classes *classes, uint64_t limit, uint8_t *breaks) {
  judging j = plan(demands, frequency, classes);
  shoal_verdict verdict = {0, 0, 0};
  for (uint32_t c = 0; c < classes->n_classes; c++) {
    bool broken = breaks_any(&j, c);
    if (breaks) breaks[c] = broken;
    if (broken) {
      verdict.suppressed += classes->n_rows[c];
      if (!breaks && verdict.suppressed > limit) return verdict;
      continue;
    }
    verdict.n_classes++;
    if (verdict.smallest_class == 0 || classes->n_rows[c] < verdict.smallest_class)
      verdict.smallest_class = classes->n_rows[c];
  }
  return verdict;
}
