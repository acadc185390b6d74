/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model/models: the table of privacy models, the judgement of classes, and what several models
 * share. A class that violates any requirement is suppressed, not only a class below k: this makes
 * suppression monotone (docs/reading-the-papers.md R1).
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "model/types.h"

const shoal_model_type *const shoal_model_types[] = {
    &shoal_model_k_anonymity,
    &shoal_model_p_sensitive,
    &shoal_model_extended_p_sensitive,
    &shoal_model_p_plus_sensitive,
    &shoal_model_p_alpha_sensitive,
    &shoal_model_balanced_p_plus,
    &shoal_model_balanced_p_alpha,
    &shoal_model_theta_sensitive,
    &shoal_model_l_diversity,
    &shoal_model_t_closeness,
    &shoal_model_alpha_k,
    &shoal_model_personalized,
    NULL,
};

const shoal_model_type *shoal_model_find(const char *name) {
  for (size_t i = 0; shoal_model_types[i]; i++)
    if (strcmp(shoal_model_types[i]->name, name) == 0) return shoal_model_types[i];
  return NULL;
}

/* ------------------------------------------------------------ one class, one requirement */

shoal_value_view shoal_classes_values(const shoal_frequency_set *frequency,
                                      const shoal_classes *classes, uint32_t c, size_t s) {
  shoal_value_view view = {.is_missing = frequency->tracked[s]->is_missing};
  const shoal_histogram *histogram = &classes->histograms[s];
  if (histogram->start) {
    view.values = histogram->value + histogram->start[c];
    view.n_rows = histogram->n_rows + histogram->start[c];
    view.n = histogram->start[c + 1] - histogram->start[c];
  } else { /* a column that a requirement needs is tracked as one or the other */
    view.is_set = true;
    view.set = classes->sets[s][c];
    view.n = 64;
  }
  return view;
}

/* The values of a class, of which each person counts once. */
static shoal_value_view view_pairs(const shoal_requirement *requirement,
                                   const shoal_frequency_set *frequency,
                                   const shoal_classes *classes, uint32_t c) {
  shoal_value_view view = shoal_classes_values(frequency, classes, c, requirement->pair_column);
  view.value_of = requirement->pairs->value_of;
  view.is_missing = frequency->tracked[requirement->sensitive]->is_missing;
  return view;
}

static shoal_class_view view_of(const shoal_requirement *requirement,
                                const shoal_frequency_set *frequency, const shoal_classes *classes,
                                uint32_t c) {
  shoal_class_view view = {.n_rows = classes->n_rows[c]};
  view.n_people = !requirement->counts_people
                      ? view.n_rows
                      : shoal_classes_distinct(frequency, classes, c, requirement->people);
  if (requirement->sensitive != SHOAL_NO_ATTRIBUTE) {
    view.n_distinct = shoal_classes_distinct(frequency, classes, c, requirement->sensitive);
    view.values = requirement->pairs
                      ? view_pairs(requirement, frequency, classes, c)
                      : shoal_classes_values(frequency, classes, c, requirement->sensitive);
  }
  if (requirement->pairs)
    view.n_rows = requirement->type->of_people ? view.n_people : view.values.n;
  if (requirement->guard != SHOAL_NO_ATTRIBUTE)
    view.guards = shoal_classes_values(frequency, classes, c, requirement->guard);
  return view;
}

bool shoal_requirement_holds(const shoal_requirement *requirement,
                             const shoal_frequency_set *frequency, const shoal_classes *classes,
                             uint32_t c, double *reached) {
  shoal_class_view view = view_of(requirement, frequency, classes, c);
  if (reached) *reached = requirement->type->reached(requirement, &view);
  return requirement->type->holds(requirement, &view);
}

/* ------------------------------------------------------------ all classes, all requirements */

enum { MAX_QUICK = 8 };

/* A requirement that the number of values in a class's set, or of people in its list, decides. */
typedef struct quick_requirement {
  const uint64_t *sets; /* by class; NULL: a list */
  const size_t *start;  /* of the lists, by class */
  uint64_t min_distinct;
} quick_requirement;

/* Sizes and numbers of distinct values are checked without a view of the class. */
typedef struct judgement {
  const shoal_requirements *requirements;
  size_t set; /* requirements that cover it, or SHOAL_EVERY_SET */
  const shoal_frequency_set *frequency;
  const shoal_classes *classes;
  uint64_t min_rows;
  quick_requirement quick[MAX_QUICK];
  size_t n_quick;
  bool has_others; /* requirements that need a view */
  bool not_rows;   /* leave out numbers of rows */
} judgement;

/* Adds the requirement to the quick checks; false if it is not one. */
static bool add_quick(judgement *j, const shoal_requirement *requirement) {
  shoal_distinct distinct;
  if (requirement->type->is_size) {
    if (requirement->count[0] > j->min_rows) j->min_rows = requirement->count[0];
    if (!requirement->counts_people) return true;
  }
  if (requirement->counts_people && !requirement->type->on_attribute) {
    const shoal_histogram *people = &j->classes->histograms[requirement->people];
    if (j->n_quick == MAX_QUICK) return false;
    j->quick[j->n_quick++] =
        (quick_requirement){.start = people->start, .min_distinct = requirement->count[0]};
    return true;
  }
  if (j->n_quick == MAX_QUICK || !requirement->type->distinct || /* so it is on an attribute */
      !j->classes->sets[requirement->sensitive] ||
      !requirement->type->distinct(requirement, &distinct) || distinct.group_of)
    return false;
  j->quick[j->n_quick++] = (quick_requirement){.sets = j->classes->sets[requirement->sensitive],
                                               .min_distinct = distinct.min};
  return true;
}

/* Is requirement i one of those that are judged? */
static bool is_judged(const judgement *j, size_t i) {
  const shoal_requirement *requirement = &j->requirements->items[i];
  if (j->not_rows && requirement->type->is_size && !requirement->counts_people) return false;
  return j->set == SHOAL_EVERY_SET || requirement->covers[j->set];
}

static judgement plan(const shoal_requirements *requirements, size_t set,
                      const shoal_frequency_set *frequency, const shoal_classes *classes,
                      bool not_rows) {
  judgement j = {.requirements = requirements,
                 .set = set,
                 .frequency = frequency,
                 .classes = classes,
                 .not_rows = not_rows};
  for (size_t i = 0; i < requirements->n_items; i++)
    if (is_judged(&j, i) && !add_quick(&j, &requirements->items[i])) j.has_others = true;
  return j;
}

static uint64_t count_quick(const quick_requirement *quick, uint32_t c) {
  return quick->sets ? (uint64_t)__builtin_popcountll(quick->sets[c])
                     : quick->start[c + 1] - quick->start[c];
}

static bool violates_any(const judgement *j, uint32_t c) {
  if (j->classes->n_rows[c] < j->min_rows) return true;
  for (size_t i = 0; i < j->n_quick; i++)
    if (count_quick(&j->quick[i], c) < j->quick[i].min_distinct) return true;
  for (size_t i = 0; j->has_others && i < j->requirements->n_items; i++)
    if (is_judged(j, i) &&
        !shoal_requirement_holds(&j->requirements->items[i], j->frequency, j->classes, c, NULL))
      return true;
  return false;
}

static uint64_t judge_over(const judgement *j, uint8_t *violates) {
  uint64_t rows = 0;
  for (uint32_t c = 0; c < j->classes->n_classes; c++) {
    bool violated = violates_any(j, c);
    if (violates) violates[c] = violated;
    if (violated) rows += j->classes->n_rows[c];
  }
  return rows;
}

uint64_t shoal_judge_over(const shoal_requirements *requirements, size_t set,
                          const shoal_frequency_set *frequency, const shoal_classes *over,
                          uint8_t *violates) {
  judgement j = plan(requirements, set, frequency, over, false);
  return judge_over(&j, violates);
}

void shoal_judge_parts_over(const shoal_requirements *requirements, size_t set,
                            const shoal_frequency_set *frequency, const shoal_classes *parts,
                            uint8_t *violates) {
  judgement j = plan(requirements, set, frequency, parts, true);
  (void)judge_over(&j, violates);
}

void shoal_spare_over(const shoal_requirements *requirements, size_t set,
                      const shoal_frequency_set *frequency, const shoal_classes *over,
                      const uint8_t *violates, uint32_t *spare) {
  judgement j = plan(requirements, set, frequency, over, false);
  for (uint32_t c = 0; c < over->n_classes; c++) {
    spare[c] = 0;
    if (violates[c] || j.has_others) continue;
    uint64_t least = over->n_rows[c] - j.min_rows;
    for (size_t i = 0; i < j.n_quick; i++) {
      uint64_t rest = count_quick(&j.quick[i], c) - j.quick[i].min_distinct;
      if (rest < least) least = rest;
    }
    spare[c] = least < UINT32_MAX ? (uint32_t)least : UINT32_MAX;
  }
}

/* Classes over all quasi-identifiers are the only ones, or the same as all others. */
static bool is_simple(const shoal_requirements *requirements, const shoal_classes *classes) {
  return requirements->n_sets <= 1 || classes->n_classes <= 1;
}

shoal_judgement shoal_judge(const shoal_requirements *requirements,
                            const shoal_frequency_set *frequency, const shoal_classes *classes,
                            uint64_t limit, uint8_t *violates) {
  assert(is_simple(requirements, classes));
  judgement j = plan(requirements, SHOAL_EVERY_SET, frequency, classes, false);
  shoal_judgement judged = {0, 0, 0};
  for (uint32_t c = 0; c < classes->n_classes; c++) {
    bool violated = violates_any(&j, c);
    if (violates) violates[c] = violated;
    if (violated) {
      judged.suppressed += classes->n_rows[c];
      if (!violates && judged.suppressed > limit) return judged;
      continue;
    }
    judged.n_classes++;
    if (judged.smallest_class == 0 || classes->n_rows[c] < judged.smallest_class)
      judged.smallest_class = classes->n_rows[c];
  }
  return judged;
}

/* Rows of class c that can be released at nodes at or below, at most. */
static uint64_t max_released(const judgement *j, uint32_t c) {
  uint64_t rows = j->classes->n_rows[c];
  if (rows < j->min_rows) return 0;
  for (size_t i = 0; i < j->requirements->n_items; i++) {
    const shoal_requirement *requirement = &j->requirements->items[i];
    bool monotone = shoal_requirement_is_monotone(requirement);
    if (requirement->type->is_size && !requirement->counts_people) continue;
    if (!shoal_requirement_bounds_parts(requirement)) continue;
    shoal_class_view view = view_of(requirement, j->frequency, j->classes, c);
    if (requirement->type->holds(requirement, &view)) continue;
    uint64_t part = monotone ? 0 : requirement->type->max_part(requirement, &view);
    if (part < rows) rows = part;
  }
  return rows < j->min_rows ? 0 : rows;
}

uint64_t shoal_min_suppressed(const shoal_requirements *requirements,
                              const shoal_frequency_set *frequency, const shoal_classes *classes,
                              const uint8_t *violates) {
  bool simple = is_simple(requirements, classes);
  judgement j = plan(requirements, SHOAL_EVERY_SET, frequency, classes, false);
  uint64_t suppressed = 0;
  for (uint32_t c = 0; !simple && requirements->monotone && c < classes->n_classes; c++)
    if (violates[c]) suppressed += classes->n_rows[c];
  if (!simple) return suppressed; /* a bound for parts of classes over sets is not known */
  for (uint32_t c = 0; c < classes->n_classes; c++)
    if (violates[c]) suppressed += classes->n_rows[c] - max_released(&j, c);
  return suppressed;
}

/* ------------------------------------------------------------ parts of models */

bool shoal_requirement_is_size(const shoal_requirement *requirement) {
  return requirement->type->is_size || requirement->type == &shoal_model_households;
}

bool shoal_requirement_is_monotone(const shoal_requirement *requirement) {
  return !requirement->pairs && requirement->type->monotone(requirement);
}

bool shoal_requirement_bounds_parts(const shoal_requirement *requirement) {
  return shoal_requirement_is_monotone(requirement) ||
         (!requirement->pairs && requirement->type->max_part);
}

bool shoal_is_monotone(const shoal_requirement *requirement) {
  (void)requirement;
  return true;
}

bool shoal_is_not_monotone(const shoal_requirement *requirement) {
  (void)requirement;
  return false;
}

const shoal_parameter shoal_parameter_p[] = {
    {.name = "p", .kind = SHOAL_PARAMETER_COUNT, .default_key = "p"},
    {.name = NULL},
};

double shoal_required_count(const shoal_requirement *requirement) {
  return (double)requirement->count[0];
}

double shoal_required_number(const shoal_requirement *requirement) {
  return shoal_decimal_double(requirement->number[0]);
}

uint64_t shoal_min_distinct_count(const shoal_requirement *requirement) {
  return requirement->count[0];
}

static int descending(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x < y) - (x > y);
}

static void sort_descending(uint64_t *items, size_t n) {
  if (n > 1) qsort(items, n, sizeof *items, descending);
}

void shoal_frequencies_init(shoal_frequencies *f, const shoal_value_view *view) {
  f->rows =
      view->n <= sizeof f->few / sizeof *f->few ? f->few : shoal_alloc(view->n, sizeof *f->rows);
  f->n = 0;
  f->sum = 0;
  f->failed = !f->rows;
  size_t at = 0;
  uint32_t value;
  uint64_t n_rows;
  while (!f->failed && shoal_view_next(view, &at, &value, &n_rows)) {
    f->rows[f->n++] = n_rows;
    f->sum += n_rows;
  }
  if (!f->failed) sort_descending(f->rows, f->n);
}

void shoal_frequencies_reset(shoal_frequencies *f) {
  if (f->rows != f->few) free(f->rows);
}

uint64_t shoal_view_valued(const shoal_value_view *view) {
  size_t at = 0;
  uint32_t value;
  uint64_t n_rows, sum = 0;
  while (shoal_view_next(view, &at, &value, &n_rows)) sum += n_rows;
  return sum;
}

shoal_status shoal_lacks(const shoal_requirement *requirement, const shoal_model_context *context,
                         const char *what, shoal_error *error) {
  return shoal_policy_fail(context->policy, requirement->mark, error, "%s on '%s' needs %s",
                           requirement->type->name, context->sensitive->column->name, what);
}

/* ------------------------------------------------------------ frequencies of values */

/* Codes of one byte. Four counters per value: consecutive additions to one would wait. */
static void count_bytes(const uint8_t *codes, uint64_t n_rows, uint32_t n_values, uint64_t *rows) {
  uint64_t counts[4][UINT8_MAX + 1] = {{0}};
  for (uint64_t row = 0; row + 4 <= n_rows; row += 4)
    for (unsigned i = 0; i < 4; i++) counts[i][codes[row + i]]++;
  for (uint64_t row = n_rows / 4 * 4; row < n_rows; row++) counts[0][codes[row]]++;
  for (uint32_t v = 0; v < n_values; v++)
    rows[v] = counts[0][v] + counts[1][v] + counts[2][v] + counts[3][v];
}

uint64_t *shoal_count_values(const shoal_table *table, const shoal_column *column) {
  uint64_t *rows = shoal_alloc_zero(column->n_values, sizeof *rows);
  if (rows && column->code_size == 1 && !table->counts) {
    count_bytes(column->codes, table->n_rows, column->n_values, rows);
    return rows;
  }
  for (uint64_t row = 0; rows && row < table->n_rows; row++)
    rows[shoal_column_code(column, row)] += shoal_table_count(table, row);
  return rows;
}

void shoal_value_frequencies_sort(shoal_value_frequencies *f, size_t n_groups) {
  uint64_t *rows = f->descending;
  for (size_t g = 0; g < n_groups; g++) {
    if (!rows[g]) continue;
    f->n_valued += rows[g];
    rows[f->n_distinct++] = rows[g];
  }
  sort_descending(rows, f->n_distinct);
}

shoal_status shoal_value_frequencies_count(const shoal_table *table, const shoal_column *column,
                                           shoal_value_frequencies *f, shoal_error *error) {
  memset(f, 0, sizeof *f);
  f->n_rows = table->n_records;
  uint64_t *rows = shoal_count_values(table, column);
  if (!rows) return shoal_fail_memory(error);
  for (uint32_t v = 0; v < column->n_values; v++)
    if (shoal_column_missing(column, v)) rows[v] = 0;
  f->descending = rows;
  shoal_value_frequencies_sort(f, column->n_values);
  return SHOAL_OK;
}

shoal_status shoal_value_frequencies_groups(const shoal_table *table, const shoal_column *column,
                                            const uint32_t *group_of, uint32_t n_groups,
                                            shoal_value_frequencies *f, shoal_error *error) {
  memset(f, 0, sizeof *f);
  f->n_rows = table->n_records;
  uint64_t *rows = shoal_count_values(table, column);
  uint64_t *group_rows = shoal_alloc_zero(n_groups, sizeof *group_rows);
  if (!rows || !group_rows) {
    free(rows);
    free(group_rows);
    return shoal_fail_memory(error);
  }
  for (uint32_t v = 0; v < column->n_values; v++)
    if (!shoal_column_missing(column, v)) group_rows[group_of[v]] += rows[v];
  free(rows);
  f->descending = group_rows;
  shoal_value_frequencies_sort(f, n_groups);
  return SHOAL_OK;
}

/*
 * For every i, each class needs at least i rows that are not of the p - i most frequent values. The
 * table has n - cf(p - i) such rows. For i = p, with cf(0) = 0: each class needs p rows.
 */
uint64_t shoal_value_frequencies_max_groups(const shoal_value_frequencies *f, uint64_t p) {
  if (p == 0) return f->n_rows;
  if (p > f->n_distinct) return 0;
  uint64_t max_groups = UINT64_MAX, frequent = 0;
  for (uint64_t i = p; i >= 1; i--) { /* `frequent` is cf(p - i) */
    uint64_t groups = (f->n_valued - frequent) / i;
    if (groups < max_groups) max_groups = groups;
    frequent += f->descending[p - i];
  }
  return max_groups;
}
