/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decide/decision_report: what a result says about a decision, the same for every method: measures,
 * quasi-identifiers, classes, models, causes of suppression. Warnings name columns, levels and
 * counts, never a value.
 */
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "decide/decision.h"
#include "decide/risks.h"
#include "measure/label_syntax.h"

/* ------------------------------------------------------------ measures */

/* What a quasi-identifier loses, summed over the released rows: a suppressed cell loses 1. */
static double attribute_loss(const shoal_decision *d, const shoal_context *p,
                             const shoal_released *released, size_t q) {
  const shoal_column_labels *column = &d->columns[q];
  if (d->loss) return d->loss[q];
  if (!column->suppressed) return shoal_level_loss(p->frequency, q, d->levels[q], released);
  const shoal_hierarchy *hierarchy = p->hierarchies[q];
  const uint32_t *node_height = hierarchy->levels[d->levels[q]].node_height;
  double loss = 0, height = hierarchy->tree_height ? hierarchy->tree_height : 1;
  for (uint32_t g = 0; g < d->n_groups; g++) {
    double n = (double)d->rows_of_group[g];
    loss +=
        column->suppressed[g] ? n : n * node_height[shoal_column_label_index(column, g)] / height;
  }
  return loss;
}

/* Measures over the released rows; `loss` receives the mean of each quasi-identifier, 0 .. 1. */
static shoal_release_loss measure_loss(const shoal_decision *d, const shoal_context *p,
                                       double *loss) {
  shoal_released released = {&d->classes, d->violates, d->noise_rows};
  for (size_t q = 0; q < d->n_quasi; q++) loss[q] = attribute_loss(d, p, &released, q);
  shoal_release_loss u = shoal_release_loss_measure(&released, p->table->n_records,
                                                    p->requirements.k, d->n_quasi, loss);
  if (!d->levels) return u;
  double height = 0, top = 0;
  u.accuracy = u.height_accuracy = 1;
  for (size_t q = 0; q < d->n_quasi; q++) {
    double max_level = shoal_hierarchy_height(p->hierarchies[q]);
    u.accuracy -= d->levels[q] / max_level / (double)d->n_quasi;
    height += d->levels[q];
    top += max_level;
  }
  if (top > 0) u.height_accuracy -= height / top;
  return u;
}

/* ------------------------------------------------------------ widths of intervals */

/* The column's least and greatest number. False: it has none. */
static bool find_range(const shoal_column *column, double *low, double *high) {
  bool found = false;
  for (uint32_t v = 0; v < column->n_values; v++) {
    size_t size;
    const char *bytes = shoal_column_value(column, v, &size);
    shoal_decimal number;
    if (shoal_column_missing(column, v) ||
        shoal_coding_parse(&column->coding, bytes, size, &number) != SHOAL_NUMBER_OK)
      continue;
    double x = shoal_decimal_double(number);
    *low = !found || x < *low ? x : *low;
    *high = !found || x > *high ? x : *high;
    found = true;
  }
  return found;
}

/* The width of a label of a number, as far as it is bounded; below 0: no number. */
static double label_width(bool days, shoal_label label, double low, double high) {
  shoal_spelling s = shoal_label_parse_as(days, label.bytes, label.size_bytes);
  if (s.form == SHOAL_FORM_EVERYTHING) return high - low;
  if (s.form == SHOAL_FORM_NUMBER) return 0;
  if (s.form != SHOAL_FORM_INTERVAL) return -1;
  double from = s.range.has_low ? shoal_decimal_double(s.range.low) : low;
  double to = s.range.has_high ? shoal_decimal_double(s.range.high) : high;
  return to > from ? to - from : 0;
}

/*
 * The mean width of a number's released labels, over the released rows that have a number. NAN: not
 * a number, or some of its labels are words. `widths` has room for n_labels + 1.
 */
static double mean_width(const shoal_decision *d, const shoal_context *p, size_t q,
                         double *widths) {
  const shoal_column_labels *column = &d->columns[q];
  double low = 0, high = 0, sum = 0, rows = 0;
  bool words = false;
  if (p->quasi_attributes[q]->type != SHOAL_TYPE_NUMBER || !find_range(p->quasi[q], &low, &high))
    return NAN;
  for (uint32_t t = 0; t <= column->n_labels; t++)
    widths[t] =
        label_width(p->quasi_attributes[q]->coding.dates, shoal_column_label(column, t), low, high);
  for (uint32_t c = 0; c < d->classes.n_classes; c++) {
    if (d->violates[c]) continue;
    uint32_t group = d->class_of_group ? d->classes.tuple[c] : c;
    double width = widths[shoal_column_written_index(column, group)];
    double n = (double)d->classes.n_rows[c];
    words = words || width < 0;
    if (width >= 0) sum += n * width;
    if (width >= 0) rows += n;
  }
  return rows <= 0 || (words && shoal_attribute_has_tree(p->quasi_attributes[q])) ? NAN
                                                                                  : sum / rows;
}

/* ------------------------------------------------------------ quasi-identifiers */

/* Distinct labels of the classes that do not violate; `seen` has room for n_labels + 1. */
static uint32_t count_labels(const shoal_decision *d, size_t q, uint8_t *seen) {
  uint32_t n = 0;
  memset(seen, 0, (size_t)d->columns[q].n_labels + 1);
  for (uint32_t c = 0; c < d->classes.n_classes; c++) {
    if (d->violates[c]) continue;
    uint32_t group = d->class_of_group ? d->classes.tuple[c] : c;
    uint32_t label = shoal_column_written_index(&d->columns[q], group);
    n += !seen[label];
    seen[label] = 1;
  }
  return n;
}

static shoal_status report_measures(const shoal_decision *d, const shoal_context *p,
                                    shoal_result *result, shoal_error *error) {
  double *loss = shoal_alloc(d->n_quasi, sizeof *loss);
  if (!loss) return shoal_fail_memory(error);
  result->release.loss = measure_loss(d, p, loss);
  shoal_release_report *released = &result->release;
  uint32_t max_labels = 0;
  for (size_t q = 0; q < d->n_quasi; q++)
    if (d->columns[q].n_labels > max_labels) max_labels = d->columns[q].n_labels;
  uint8_t *seen = shoal_alloc((size_t)max_labels + 1, 1);
  double *widths = shoal_alloc((size_t)max_labels + 1, sizeof *widths);
  released->attributes =
      shoal_arena_alloc(&result->arena, d->n_quasi, sizeof *released->attributes);
  bool ok = seen && widths && released->attributes;
  for (size_t q = 0; ok && q < d->n_quasi; q++) {
    shoal_attribute_outcome *outcome = &released->attributes[q];
    *outcome = (shoal_attribute_outcome){.name = result->quasi[q],
                                         .level = d->levels ? d->levels[q] : 0,
                                         .height = result->heights[q],
                                         .n_before = p->quasi[q]->n_values,
                                         .n_after = count_labels(d, q, seen),
                                         .loss = loss[q]};
    outcome->days = p->quasi_attributes[q]->coding.dates;
    outcome->mean_width = mean_width(d, p, q, widths);
    shoal_result_years(p->quasi_attributes[q], &outcome->first_year, &outcome->last_year);
  }
  free(seen);
  free(widths);
  shoal_status status = ok ? SHOAL_OK : shoal_fail_memory(error);
  free(loss);
  return status;
}

/* ------------------------------------------------------------ rows and classes */

/* Which models the suppressed classes violated before anything was suppressed. */
static shoal_status find_causes(const shoal_decision *d, const shoal_context *p, uint8_t *broken,
                                shoal_result *result, shoal_error *error) {
  const shoal_classes *classes = &d->classes;
  const shoal_labelling labelling = shoal_decision_labelling(d);
  shoal_release_report *released = &result->release;
  released->n_causes = p->requirements.n_items;
  released->causes =
      shoal_arena_alloc(&result->arena, released->n_causes, sizeof *released->causes);
  if (!released->causes) return shoal_fail_memory(error);
  for (size_t i = 0; i < released->n_causes; i++) {
    const shoal_requirement *requirement = &p->requirements.items[i];
    shoal_cause *cause = &released->causes[i];
    *cause = (shoal_cause){.model = requirement->type->name};
    if (requirement->sensitive != SHOAL_NO_ATTRIBUTE) {
      const char *name = p->sensitive[requirement->sensitive].column->name;
      cause->attribute = shoal_result_string(result, name, strlen(name));
      if (!cause->attribute) return shoal_fail_memory(error);
    }
    SHOAL_TRY(shoal_result_over(result, p, requirement, &cause->over, error));
    SHOAL_TRY(shoal_requirement_violating(&p->requirements, requirement, p->frequency, classes,
                                          &labelling, NULL, broken, error));
    for (uint32_t c = 0; c < classes->n_classes; c++) {
      if (!d->violates[c] || !broken[c]) continue;
      cause->rows += classes->n_rows[c];
      cause->classes++;
    }
  }
  return SHOAL_OK;
}

static shoal_status report_causes(const shoal_decision *d, const shoal_context *p,
                                  shoal_result *result, shoal_error *error) {
  uint8_t *broken = shoal_alloc(d->classes.n_classes, 1);
  if (!broken) return shoal_fail_memory(error);
  shoal_status status = find_causes(d, p, broken, result, error);
  free(broken);
  return status;
}

static shoal_status report_rows(const shoal_decision *d, const shoal_context *p,
                                shoal_result *result, shoal_error *error) {
  shoal_release_report *released = &result->release;
  uint64_t n_noise = d->rows->n_records - p->table->n_records;
  released->suppressed = d->judged.suppressed;
  released->blanked = d->blanked ? d->judged.suppressed : 0;
  released->output_rows =
      p->table->n_records - (released->suppressed - released->blanked) + n_noise;
  released->max_suppression = d->max_suppressed;
  released->classes = d->judged.n_classes;
  released->smallest_class = d->judged.smallest_class;
  for (uint32_t c = 0; c < d->united.n_classes; c++)
    if (c == 0 || d->united.n_rows[c] < released->smallest_class)
      released->smallest_class = d->united.n_rows[c];
  if (d->blanked) released->classes = d->united.n_classes;
  if (!p->policy->blank_suppressed || !released->suppressed || d->blanked) return SHOAL_OK;
  return shoal_result_warn(result, error,
                           "the %llu suppressed rows were removed, not blanked: as one class "
                           "of blanks they would violate the policy",
                           (unsigned long long)released->suppressed);
}

/* ------------------------------------------------------------ labels of one value */

/* Labels of a level with exactly one value of the data below; false: no memory. */
static bool count_single(const shoal_column *column, const shoal_level *level, uint32_t *n_single) {
  uint32_t *below = shoal_alloc_zero(level->n_labels, sizeof *below);
  if (!below) return false;
  for (uint32_t v = 0; v < column->n_values; v++)
    if (!shoal_column_missing(column, v)) below[level->of_leaf[v]]++;
  *n_single = 0;
  for (uint32_t t = 0; t < level->n_labels; t++) *n_single += below[t] == 1;
  free(below);
  return true;
}

/* ------------------------------------------------------------ forms of labels */

/* What the form of labels depends on, of all values or of those of released rows. */
typedef struct label_form {
  bool decimals, dot;
  bool has_number;
  shoal_decimal least, most;
} label_form;

static void add_to_form(const shoal_column *column, uint32_t value, label_form *form) {
  size_t size_bytes;
  const char *bytes = shoal_column_value(column, value, &size_bytes);
  shoal_decimal number;
  if (shoal_column_missing(column, value)) return;
  form->dot = form->dot || (size_bytes && memchr(bytes, '.', size_bytes));
  if (shoal_decimal_parse(bytes, size_bytes, &number) != SHOAL_NUMBER_OK) return;
  form->decimals = form->decimals || number.scale > 0;
  if (!form->has_number || shoal_decimal_compare(number, form->least) < 0) form->least = number;
  if (!form->has_number || shoal_decimal_compare(number, form->most) > 0) form->most = number;
  form->has_number = true;
}

/* What a recipient learns of suppressed rows from the form of labels; NULL: nothing. */
static const char *find_form(const shoal_hierarchy_spec *spec, const label_form *all,
                             const label_form *shown) {
  bool ranges = spec->kind == SHOAL_HIERARCHY_INTERVALS || spec->kind == SHOAL_HIERARCHY_CUTS;
  if (ranges && all->decimals && !shown->decimals)
    return "intervals such as [20-30) show that a suppressed row has decimals: round the numbers";
  if (spec->kind == SHOAL_HIERARCHY_MASK && spec->mask_code && all->dot && !shown->dot)
    return "labels such as E11.* show that a suppressed code has a dot: unify the codes";
  if (spec->auto_widths && shown->has_number &&
      (shoal_decimal_compare(all->least, shown->least) != 0 ||
       shoal_decimal_compare(all->most, shown->most) != 0))
    return "'intervals: auto' chose widths by the numbers of suppressed rows too: give widths";
  return NULL;
}

/* False: no memory. */
static bool find_released_values(const shoal_decision *d, const shoal_context *p,
                                 const shoal_column *column, label_form *shown) {
  uint8_t *seen = shoal_alloc_zero(column->n_values, 1);
  for (uint64_t row = 0; seen && row < p->table->n_rows; row++) {
    uint32_t group = d->group_of_row[p->ordered ? p->ordered->row_of[row] : row];
    if (d->action_of_group[group] == SHOAL_ROW_KEEP) seen[shoal_column_code(column, row)] = 1;
  }
  for (uint32_t v = 0; seen && v < column->n_values; v++)
    if (seen[v]) add_to_form(column, v, shown);
  bool ok = seen != NULL;
  free(seen);
  return ok;
}

/* The form of labels is made for all rows: docs/security.md, "Form of labels". */
static shoal_status warn_of_forms(const shoal_decision *d, const shoal_context *p,
                                  shoal_result *result, shoal_error *error) {
  for (size_t q = 0; result->release.suppressed && q < d->n_quasi; q++) {
    const shoal_attribute *attribute = p->quasi_attributes[q];
    const shoal_hierarchy_spec *spec = &attribute->hierarchy;
    bool concerned = attribute->has_hierarchy &&
                     (spec->kind == SHOAL_HIERARCHY_INTERVALS ||
                      spec->kind == SHOAL_HIERARCHY_CUTS || spec->kind == SHOAL_HIERARCHY_MASK);
    label_form all = {0}, shown = {0};
    if (!concerned) continue;
    for (uint32_t v = 0; v < p->quasi[q]->n_values; v++) add_to_form(p->quasi[q], v, &all);
    if (!find_released_values(d, p, p->quasi[q], &shown)) return shoal_fail_memory(error);
    const char *what = find_form(spec, &all, &shown);
    if (what) SHOAL_TRY(shoal_result_warn(result, error, "'%s': %s", p->quasi[q]->name, what));
  }
  return SHOAL_OK;
}

/* ------------------------------------------------------------ risks */

static shoal_status list_risks(const shoal_decision *d, const shoal_context *p,
                               const shoal_classes *classes, const uint8_t *left_out,
                               shoal_result *result, shoal_error *error) {
  uint32_t *united = NULL;
  shoal_risk_classes released = {.classes = classes,
                                 .left_out = left_out,
                                 .group_of_row = d->group_of_row,
                                 .class_of_group = d->class_of_group};
  if (d->blanked) {
    united = shoal_alloc(d->n_groups, sizeof *united);
    if (!united) return shoal_fail_memory(error);
    for (uint32_t g = 0; g < d->n_groups; g++)
      united[g] = d->united_of_class[d->class_of_group ? d->class_of_group[g] : g];
    released.class_of_group = united;
  }
  shoal_status status = shoal_risks_of_classes(result, p, &released, error);
  free(united);
  return status == SHOAL_OK ? shoal_risks_of_repeats(result, p, error) : status;
}

/* ------------------------------------------------------------ people */

/* The released class of each row of the context's table, or of `classes`. NULL: no memory. */
static uint32_t *find_classes(const shoal_decision *d, const shoal_context *p) {
  uint32_t *class_of_row = shoal_alloc((size_t)p->table->n_rows, sizeof *class_of_row);
  for (uint64_t row = 0; class_of_row && row < p->table->n_rows; row++) {
    uint32_t group = d->group_of_row[p->ordered ? p->ordered->row_of[row] : row];
    uint32_t c = d->class_of_group ? d->class_of_group[group] : group;
    class_of_row[row] = d->blanked ? d->united_of_class[c] : c;
  }
  return class_of_row;
}

/* People who have a released row. */
static shoal_status count_released(const shoal_context *p, const uint32_t *class_of_row,
                                   const uint8_t *left_out, uint64_t *n, shoal_error *error) {
  uint8_t *seen = shoal_alloc_zero(p->people.column->n_values, 1);
  if (!seen) return shoal_fail_memory(error);
  *n = 0;
  for (uint64_t row = 0; row < p->table->n_rows; row++) {
    uint32_t person = shoal_column_code(p->people.column, row);
    if (seen[person] || (left_out && left_out[class_of_row[row]])) continue;
    seen[person] = 1;
    (*n)++;
  }
  free(seen);
  return SHOAL_OK;
}

/* The people of the class that has fewest. */
static uint64_t fewest_people(const shoal_context *p, const shoal_requirement *requirement,
                              const shoal_classes *classes, const uint8_t *left_out) {
  uint64_t fewest = 0;
  for (uint32_t c = 0; c < classes->n_classes; c++) {
    if (left_out && left_out[c]) continue;
    uint64_t n = shoal_classes_distinct(p->frequency, classes, c, requirement->people);
    if (!fewest || n < fewest) fewest = n;
  }
  return fewest;
}

/* Exact numbers of people: judging needs no more than k of each class. */
static shoal_status report_people(const shoal_decision *d, const shoal_context *p,
                                  shoal_classes *classes, const uint8_t *left_out,
                                  uint32_t **class_of_row, shoal_result *result,
                                  shoal_error *error) {
  shoal_release_report *released = &result->release;
  released->output_people = released->output_rows;
  if (!p->people.repeat && !p->households.repeat) return SHOAL_OK;
  *class_of_row = find_classes(d, p);
  if (!*class_of_row) return shoal_fail_memory(error);
  SHOAL_TRY(shoal_classes_count_distinct(p->frequency, *class_of_row, classes, error));
  if (p->people.repeat)
    SHOAL_TRY(count_released(p, *class_of_row, left_out, &released->output_people, error));
  for (size_t i = 0; i < p->requirements.n_items; i++)
    if (p->requirements.items[i].type->is_size && p->requirements.items[i].counts_people)
      released->fewest_people = fewest_people(p, &p->requirements.items[i], classes, left_out);
  return SHOAL_OK;
}

/* Numbers of people, then the models: both need the class of each row. */
static shoal_status report_models(const shoal_decision *d, const shoal_context *p,
                                  shoal_classes *classes, const uint8_t *left_out,
                                  shoal_result *result, shoal_error *error) {
  const shoal_labelling labelling = shoal_decision_labelling(d);
  uint32_t *class_of_row = NULL;
  shoal_status status = report_people(d, p, classes, left_out, &class_of_row, result, error);
  if (status == SHOAL_OK)
    status = shoal_result_models(result, p, classes, &labelling, left_out, class_of_row, 0,
                                 &result->release.models, error);
  free(class_of_row);
  return status;
}

shoal_status shoal_decision_report(shoal_decision *d, const shoal_context *p, shoal_result *result,
                                   shoal_error *error) {
  assert(d->violates && d->action_of_group);
  shoal_classes *classes = d->blanked ? &d->united : &d->classes;
  const uint8_t *left_out = d->blanked ? NULL : d->violates;
  shoal_release_report *released = &result->release;
  SHOAL_TRY(report_measures(d, p, result, error));
  SHOAL_TRY(report_rows(d, p, result, error));
  if (released->suppressed) SHOAL_TRY(report_causes(d, p, result, error));
  shoal_result_sizes(&released->sizes.before, &p->frequency->base, NULL);
  shoal_result_sizes(&released->sizes.after, classes, left_out);
  SHOAL_TRY(shoal_result_conditions(result, p, &released->conditions, error));
  SHOAL_TRY(report_models(d, p, classes, left_out, result, error));
  SHOAL_TRY(shoal_result_levels(result, p, false, &released->models, error));
  SHOAL_TRY(list_risks(d, p, classes, left_out, result, error));
  SHOAL_TRY(warn_of_forms(d, p, result, error));
  /* A label that covers one value of the data hides nothing. */
  for (size_t q = 0; d->levels && q < d->n_quasi; q++) {
    const shoal_hierarchy *hierarchy = p->hierarchies[q];
    uint32_t level = d->levels[q], n_single;
    bool between = level > 0 && level < shoal_hierarchy_height(hierarchy);
    if (!between || !shoal_attribute_has_tree(p->quasi_attributes[q])) continue;
    if (!count_single(p->quasi[q], &hierarchy->levels[level], &n_single))
      return shoal_fail_memory(error);
    if (!n_single) continue;
    SHOAL_TRY(shoal_result_warn(result, error,
                                "'%s' is released at level %u of its hierarchy, where %u label%s "
                                "only one value of the data and hide%s nothing",
                                p->quasi[q]->name, level, n_single,
                                n_single == 1 ? " covers" : "s cover", n_single == 1 ? "s" : ""));
  }
  return SHOAL_OK;
}
