/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decide/models_report: outcomes of models, class sizes and nodes, as results have them. Examples
 * of violating classes show a cell only if it cannot be a raw value.
 */
#include "decide/models_report.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "decide/risks.h"
#include "hierarchy/date.h"
#include "measure/measure.h"
#include "model/theta.h"

void shoal_result_years(const shoal_attribute *attribute, unsigned *first, unsigned *last) {
  const shoal_hierarchy_spec *spec = &attribute->hierarchy;
  bool days = attribute->coding.dates;
  bool periods = attribute->has_hierarchy && spec->kind == SHOAL_HIERARCHY_DATE;
  const char *format = days ? attribute->date_format : spec->date_format;
  *first = *last = 0;
  if ((!days && !periods) || !shoal_date_format_is_short(format)) return;
  *last = shoal_date_pivot(days ? attribute->pivot : spec->pivot, 0);
  *first = *last - 99;
}

/* Several columns of one role are one key, which can tell rows apart where people were meant. */
static shoal_status tell_key(shoal_result *result, const shoal_context *p, shoal_role role,
                             const char *who, shoal_error *error) {
  const shoal_attribute *last = NULL;
  size_t n = 0;
  shoal_text names;
  shoal_text_init(&names);
  for (size_t a = 0; a < p->policy->n_attributes; a++) {
    if (!shoal_attribute_is_key(&p->policy->attributes[a], role)) continue;
    if (last) shoal_text_print(&names, "%s'%s'", n > 1 ? ", " : "", last->name);
    last = &p->policy->attributes[a];
    n++;
  }
  shoal_status status = names.failed ? shoal_fail_memory(error) : SHOAL_OK;
  if (n > 1 && status == SHOAL_OK)
    status = shoal_result_warn(result, error,
                               "a %s is a combination of %s and '%s': rows that differ in one of "
                               "them count as different",
                               who, names.bytes, last->name);
  shoal_text_reset(&names);
  return status;
}

shoal_status shoal_result_input(shoal_result *result, const shoal_context *p, shoal_error *error) {
  SHOAL_TRY(shoal_result_copy(result, p->table->name, &result->source, error));
  result->input_rows = p->table->n_records;
  result->input_people = p->people.n;
  result->has_people = p->people.asked;
  result->k = p->requirements.k;
  result->input_columns = p->table->n_columns;
  result->two_passes = shoal_table_is_counted(p->table);
  result->n_quasi = p->n_quasi;
  result->quasi = shoal_arena_alloc(&result->arena, p->n_quasi, sizeof *result->quasi);
  uint32_t *heights = shoal_arena_alloc(&result->arena, p->n_quasi, sizeof *heights);
  if (!result->quasi || !heights) return shoal_fail_memory(error);
  for (size_t q = 0; q < p->n_quasi; q++) {
    SHOAL_TRY(shoal_result_copy(result, p->quasi[q]->name, &result->quasi[q], error));
    heights[q] = p->hierarchies[q] ? shoal_hierarchy_height(p->hierarchies[q]) : 0;
  }
  result->heights = heights;
  SHOAL_TRY(tell_key(result, p, SHOAL_ROLE_PERSON, "person", error));
  SHOAL_TRY(tell_key(result, p, SHOAL_ROLE_HOUSEHOLD, "household", error));
  /* Without a pivot, the same policy reads the same date in another way from some year on. */
  for (size_t c = 0; c < p->table->n_columns; c++) {
    const shoal_attribute *attribute = shoal_policy_attribute(p->policy, p->table->columns[c].name);
    unsigned first = 0, last = 0;
    if (attribute) shoal_result_years(attribute, &first, &last);
    if (!last || attribute->hierarchy.pivot || attribute->pivot) continue;
    SHOAL_TRY(shoal_result_warn(result, error,
                                "years of two digits of '%s' were read as %u to %u, up to the "
                                "current year; add 'pivot: %u' beside its format, so that the "
                                "policy means the same next year",
                                p->table->columns[c].name, first, last, last));
  }
  /* k counts rows: the class of a person with several rows has fewer than k people. */
  if (p->people.asked || shoal_risks_has_row_per_person(p)) return SHOAL_OK;
  for (size_t c = 0; c < p->table->n_columns; c++) {
    const shoal_column *column = &p->table->columns[c];
    if (p->roles[c] == SHOAL_ROLE_IDENTIFIER && shoal_table_is_counted(p->table))
      SHOAL_TRY(
          shoal_result_warn(result, error,
                            "repeated values of identifier '%s' were not counted, because the "
                            "rows do not fit into the memory allowed. k counts rows; with "
                            "'role: person' it counts people",
                            column->name));
    if (p->roles[c] != SHOAL_ROLE_IDENTIFIER || !column->n_repeated) continue;
    SHOAL_TRY(shoal_result_warn(result, error,
                                "values of identifier '%s' repeat: %llu rows share theirs with "
                                "another row. k counts rows: if it numbers people, give it 'role: "
                                "person', and k counts people",
                                column->name, (unsigned long long)column->n_repeated));
  }
  return SHOAL_OK;
}

/* ------------------------------------------------------------ models */

/* "[20-29]", "[2.5-5)" */
static bool is_interval(const char *cell, size_t size) {
  return size > 2 && cell[0] == '[' && (cell[size - 1] == ']' || cell[size - 1] == ')');
}

/* "1990" or "1990-09"; no date has this form, since its format has a day. */
static bool is_period(const char *cell, size_t size) {
  for (size_t i = 0; i < size; i++)
    if (i == 4 ? cell[i] != '-' : !isdigit((unsigned char)cell[i])) return false;
  return size == 4 || size == 7;
}

static bool has_label(const shoal_level *level, const char *cell, size_t size, bool inner) {
  for (uint32_t t = 0; t < level->n_labels; t++) {
    size_t label_size;
    const char *label = shoal_level_label(level, t, &label_size);
    if (label_size == size && memcmp(label, cell, size) == 0)
      return !inner || level->node_height[t] > 0;
  }
  return false;
}

/* A label of a file or tree that covers several values and is no value itself. */
static bool is_upper_label(const shoal_hierarchy *tree, const char *cell, size_t size) {
  if (!tree || has_label(&tree->levels[0], cell, size, false)) return false;
  for (uint32_t l = 1; l < tree->n_levels; l++)
    if (has_label(&tree->levels[l], cell, size, true)) return true;
  return false;
}

/* Its outermost character is the mask character, one that values rarely have. */
static bool is_masked(const shoal_hierarchy_spec *spec, const char *cell, size_t size) {
  return ispunct((unsigned char)spec->mask_char) &&
         cell[spec->mask_left ? 0 : size - 1] == spec->mask_char;
}

/* May this cell be shown? Only "*", or a label of the kind that the attribute's hierarchy makes. */
static bool is_label(const shoal_attribute *attribute, const shoal_hierarchy *tree,
                     const char *cell, size_t size) {
  if (size == 1 && *cell == '*') return true;
  if (attribute->type == SHOAL_TYPE_NUMBER && is_interval(cell, size)) return true;
  bool codes = attribute->coding.has_top || attribute->coding.has_bottom;
  if (codes && size && (*cell == '<' || *cell == '>')) return true;
  if (shoal_coding_find(&attribute->coding, cell, size)) return true;
  if (!attribute->has_hierarchy || size == 0) return false;
  const shoal_hierarchy_spec *spec = &attribute->hierarchy;
  switch (spec->kind) {
  case SHOAL_HIERARCHY_ROUND:
  case SHOAL_HIERARCHY_INTERVALS: return is_interval(cell, size);
  case SHOAL_HIERARCHY_CUTS: return is_interval(cell, size) || *cell == '<' || *cell == '>';
  case SHOAL_HIERARCHY_MASK: return is_masked(spec, cell, size);
  case SHOAL_HIERARCHY_DATE: return is_interval(cell, size) || is_period(cell, size);
  case SHOAL_HIERARCHY_FILE:
  case SHOAL_HIERARCHY_LEVELS:
  case SHOAL_HIERARCHY_TREE: return is_upper_label(tree, cell, size);
  case SHOAL_HIERARCHY_SETS:
  case SHOAL_HIERARCHY_TOP: return false;
  }
  return false;
}

/* The attribute's file or tree without data; NULL: it has none, or it cannot be read. */
static shoal_hierarchy *compile_tree(const shoal_policy *policy, const shoal_attribute *attribute) {
  shoal_hierarchy *tree = NULL;
  shoal_hierarchy_options options = {.attribute = attribute->name,
                                     .equality = shoal_policy_equality(policy, attribute),
                                     .ragged = true};
  if (!shoal_attribute_has_tree(attribute) ||
      shoal_hierarchy_compile(&attribute->hierarchy, NULL, NULL, &options, &tree, NULL) != SHOAL_OK)
    return NULL;
  return tree;
}

enum { MAX_WORST = 16 };

/* One of the classes furthest from a requirement. */
typedef struct worst_class {
  uint32_t c;
  double reached;
} worst_class;

/* Keeps the `max_worst` classes furthest from the requirement; ties: the smaller, then first. */
static void note_worst(worst_class *worst, size_t *n, size_t max_worst,
                       const shoal_classes *classes, uint32_t c, double reached, bool at_most) {
  size_t at = *n;
  while (at > 0 && ((at_most ? reached > worst[at - 1].reached : reached < worst[at - 1].reached) ||
                    (reached == worst[at - 1].reached &&
                     classes->n_rows[c] < classes->n_rows[worst[at - 1].c])))
    at--;
  if (at == max_worst) return;
  size_t last = *n < max_worst ? *n : max_worst - 1;
  memmove(worst + at + 1, worst + at, (last - at) * sizeof *worst);
  worst[at] = (worst_class){c, reached};
  if (*n < max_worst) (*n)++;
}

/* The row of the data, from 1, in which the tuple occurs first. */
static uint64_t first_row_of(const shoal_frequency_set *frequency, uint32_t tuple) {
  uint64_t row = 0;
  while (frequency->tuple_of_row[row] != tuple) row++;
  return shoal_table_file_row(frequency->table, row) + 1;
}

static const char AS_IT_IS[] = "(as it is)";

/* Labels of the set; NULL for other quasi-identifiers. */
static shoal_status show_labels(shoal_result *result, const shoal_context *p, uint32_t tuple,
                                const shoal_quasi_set *set, shoal_hierarchy *const *trees,
                                shoal_class_example *example, shoal_error *error) {
  example->labels = shoal_arena_alloc_zero(&result->arena, p->n_quasi, sizeof *example->labels);
  if (!example->labels) return shoal_fail_memory(error);
  for (size_t i = 0; i < set->n; i++) {
    size_t size, q = set->quasi[i];
    const char *cell =
        shoal_column_value(p->quasi[q], shoal_code_at(p->frequency->codes[q], tuple), &size);
    bool shown = is_label(p->quasi_attributes[q], trees[q], cell, size);
    example->labels[q] = shown ? shoal_result_string(result, cell, size) : AS_IT_IS;
    example->n_shown += shown;
    if (!example->labels[q]) return shoal_fail_memory(error);
  }
  return SHOAL_OK;
}

static shoal_status show_classes(shoal_result *result, const shoal_context *p,
                                 const shoal_classes *classes, const shoal_quasi_set *set,
                                 const worst_class *worst, size_t n, shoal_hierarchy *const *trees,
                                 shoal_model_outcome *outcome, shoal_error *error) {
  outcome->worst = shoal_arena_alloc(&result->arena, n, sizeof *outcome->worst);
  if (!outcome->worst) return shoal_fail_memory(error);
  for (size_t i = 0; i < n; i++) {
    shoal_class_example *example = &outcome->worst[i];
    uint32_t tuple = classes->tuple[worst[i].c];
    *example = (shoal_class_example){.n_rows = classes->n_rows[worst[i].c],
                                     .reached = worst[i].reached,
                                     .first_row = first_row_of(p->frequency, tuple)};
    SHOAL_TRY(show_labels(result, p, tuple, set, trees, example, error));
    outcome->n_worst = i + 1;
  }
  return SHOAL_OK;
}

static shoal_status show_worst(shoal_result *result, const shoal_context *p,
                               const shoal_classes *classes, const shoal_quasi_set *set,
                               const worst_class *worst, size_t n, shoal_model_outcome *outcome,
                               shoal_error *error) {
  if (n == 0) return SHOAL_OK;
  shoal_hierarchy **trees = shoal_alloc_zero(p->n_quasi, sizeof *trees);
  if (!trees) return shoal_fail_memory(error);
  for (size_t q = 0; q < p->n_quasi; q++)
    trees[q] = compile_tree(p->policy, p->quasi_attributes[q]);
  shoal_status status = show_classes(result, p, classes, set, worst, n, trees, outcome, error);
  for (size_t q = 0; q < p->n_quasi; q++) shoal_hierarchy_free(trees[q]);
  free(trees);
  return status;
}

/* ------------------------------------------------------------ sets of quasi-identifiers */

/* "age, zip" */
static shoal_status name_set(shoal_result *result, const shoal_context *p,
                             const shoal_quasi_set *set, shoal_over *over, shoal_error *error) {
  const char **names = shoal_arena_alloc(&result->arena, set->n, sizeof *names);
  if (!names) return shoal_fail_memory(error);
  shoal_text text;
  shoal_text_init(&text);
  shoal_status status = SHOAL_OK;
  for (size_t i = 0; status == SHOAL_OK && i < set->n; i++) {
    status = shoal_result_copy(result, p->quasi[set->quasi[i]]->name, &names[i], error);
    if (status == SHOAL_OK) shoal_text_print(&text, "%s%s", i ? ", " : "", names[i]);
  }
  *over = (shoal_over){.names = names, .n_names = set->n};
  if (status == SHOAL_OK && text.failed) status = shoal_fail_memory(error);
  if (status == SHOAL_OK) status = shoal_result_copy(result, text.bytes, &over->text, error);
  shoal_text_reset(&text);
  return status;
}

shoal_status shoal_result_over(shoal_result *result, const shoal_context *p,
                               const shoal_requirement *requirement, shoal_over *over,
                               shoal_error *error) {
  size_t set = 0;
  *over = (shoal_over){0};
  if (shoal_requirement_is_whole(requirement)) return SHOAL_OK;
  while (!requirement->covers[set]) set++;
  if (!requirement->known) return name_set(result, p, &p->requirements.sets[set], over, error);
  char text[80];
  (void)snprintf(text, sizeof text, "any %llu of %zu quasi-identifiers",
                 (unsigned long long)requirement->known, p->n_quasi);
  over->known = requirement->known;
  return shoal_result_copy(result, text, &over->text, error);
}

/* ------------------------------------------------------------ one requirement */

/* What is judged, and what was found in the classes over one set. */
typedef struct judgement {
  const shoal_context *context;
  const shoal_requirement *requirement;
  const uint32_t *class_of_row; /* NULL: people are counted up to what is required */
  size_t max_worst;
  bool first; /* no class was judged yet */
  worst_class worst[MAX_WORST];
  size_t n_worst;
  uint64_t breaking_rows, breaking_classes;
} judgement;

/* broken, if not NULL, receives 1 for each class that violates, else 0. */
static void judge_classes(judgement *j, const shoal_classes *classes, const uint8_t *left_out,
                          uint8_t *broken, shoal_model_outcome *outcome) {
  const shoal_requirement *requirement = j->requirement;
  const shoal_frequency_set *frequency = j->context->frequency;
  bool at_most = requirement->type->at_most;
  j->n_worst = 0;
  j->breaking_rows = j->breaking_classes = 0;
  for (uint32_t c = 0; c < classes->n_classes; c++) {
    if (left_out && left_out[c]) continue;
    double reached;
    bool holds = shoal_requirement_holds(requirement, frequency, classes, c, &reached);
    if (broken) broken[c] = !holds;
    bool further = at_most ? reached > outcome->reached : reached < outcome->reached;
    if (j->first || further) outcome->reached = reached;
    if (requirement->sensitive != SHOAL_NO_ATTRIBUTE) {
      uint64_t distinct = shoal_classes_distinct(frequency, classes, c, requirement->sensitive);
      if (j->first || distinct < outcome->min_distinct) outcome->min_distinct = distinct;
    }
    j->first = false;
    if (holds) continue;
    j->breaking_classes++;
    j->breaking_rows += classes->n_rows[c];
    if (j->max_worst) note_worst(j->worst, &j->n_worst, j->max_worst, classes, c, reached, at_most);
  }
}

/* Scratch for the classes over sets. */
typedef struct set_scratch {
  shoal_grouper grouper;
  uint32_t *ids;   /* by class: that over the set */
  uint8_t *broken; /* by class over the set */
  uint8_t *any;    /* by class: it violates over some set */
} set_scratch;

/* Counts the people of classes over a set. ids[c]: the class over the set; the last: left out. */
static shoal_status count_people(const judgement *j, const uint32_t *ids, shoal_classes *over,
                                 shoal_error *error) {
  const shoal_frequency_set *frequency = j->context->frequency;
  uint64_t n_rows = frequency->table->n_rows;
  if (!j->class_of_row || !j->requirement->counts_people) return SHOAL_OK;
  uint32_t *over_of_row = shoal_alloc((size_t)n_rows, sizeof *over_of_row);
  if (!over_of_row) return shoal_fail_memory(error);
  for (uint64_t row = 0; row < n_rows; row++) over_of_row[row] = ids[j->class_of_row[row]];
  over->n_classes++;
  shoal_status status = shoal_classes_count_distinct(frequency, over_of_row, over, error);
  over->n_classes--;
  free(over_of_row);
  return status;
}

static shoal_status judge_set(judgement *j, const shoal_quasi_set *set,
                              const shoal_classes *classes, const shoal_labelling *labelling,
                              const uint8_t *left_out, set_scratch *s, shoal_classes *over,
                              shoal_model_outcome *outcome, shoal_error *error) {
  SHOAL_TRY(shoal_classes_project(j->context->frequency, classes, labelling, set, left_out,
                                  &s->grouper, over, s->ids, error));
  shoal_status status = count_people(j, s->ids, over, error);
  if (status != SHOAL_OK) {
    shoal_classes_reset(over);
    return status;
  }
  s->broken[over->n_classes] = 0; /* those that are left out */
  judge_classes(j, over, NULL, s->broken, outcome);
  for (uint32_t c = 0; c < classes->n_classes; c++) s->any[c] |= s->broken[s->ids[c]];
  return SHOAL_OK;
}

/* Judges the classes over every set, and shows the worst classes of the set that fails most. */
static shoal_status judge_sets(shoal_result *result, judgement *j, const shoal_classes *classes,
                               const shoal_labelling *labelling, const uint8_t *left_out,
                               set_scratch *s, shoal_model_outcome *outcome, shoal_error *error) {
  const shoal_requirements *requirements = &j->context->requirements;
  const shoal_quasi_set *worst = NULL;
  uint64_t most = 0;
  shoal_classes over;
  for (size_t i = 0; i < requirements->n_sets; i++) {
    if (!j->requirement->covers[i]) continue;
    SHOAL_TRY(judge_set(j, &requirements->sets[i], classes, labelling, left_out, s, &over, outcome,
                        error));
    shoal_classes_reset(&over);
    outcome->n_sets++;
    outcome->n_failing += j->breaking_classes > 0;
    outcome->breaking_classes += j->breaking_classes;
    if (j->breaking_rows <= most) continue;
    most = j->breaking_rows;
    worst = &requirements->sets[i];
  }
  for (uint32_t c = 0; c < classes->n_classes; c++)
    if (s->any[c]) outcome->breaking_rows += classes->n_rows[c];
  if (!j->requirement->known) outcome->n_sets = outcome->n_failing = 0;
  if (!worst) return SHOAL_OK;
  if (outcome->n_sets) SHOAL_TRY(name_set(result, j->context, worst, &outcome->worst_set, error));
  if (!j->max_worst) return SHOAL_OK;
  SHOAL_TRY(judge_set(j, worst, classes, labelling, left_out, s, &over, outcome, error));
  shoal_status status =
      show_worst(result, j->context, &over, worst, j->worst, j->n_worst, outcome, error);
  shoal_classes_reset(&over);
  return status;
}

static shoal_status judge_over_sets(shoal_result *result, judgement *j,
                                    const shoal_classes *classes, const shoal_labelling *labelling,
                                    const uint8_t *left_out, shoal_model_outcome *outcome,
                                    shoal_error *error) {
  size_t n = classes->n_classes;
  set_scratch s = {.ids = shoal_alloc(n, sizeof *s.ids),
                   .broken = shoal_alloc(n + 1, 1),
                   .any = shoal_alloc_zero(n, 1)};
  shoal_grouper_init(&s.grouper);
  shoal_status status = s.ids && s.broken && s.any ? judge_sets(result, j, classes, labelling,
                                                                left_out, &s, outcome, error)
                                                   : shoal_fail_memory(error);
  shoal_grouper_reset(&s.grouper);
  free(s.ids);
  free(s.broken);
  free(s.any);
  return status;
}

static int by_reached(const void *a, const void *b) {
  const shoal_reached *x = a, *y = b;
  return (x->reached > y->reached) - (x->reached < y->reached);
}

/* The variances of all classes (Khan et al. 2020, Table 5), equal ones counted together. */
static shoal_status list_values(shoal_result *result, const judgement *j,
                                const shoal_classes *classes, shoal_model_outcome *outcome,
                                shoal_error *error) {
  shoal_reached *values = shoal_alloc(classes->n_classes, sizeof *values);
  if (!values) return shoal_fail_memory(error);
  for (uint32_t c = 0; c < classes->n_classes; c++) {
    double reached;
    (void)shoal_requirement_holds(j->requirement, j->context->frequency, classes, c, &reached);
    values[c] = (shoal_reached){reached, 1, classes->n_rows[c]};
  }
  qsort(values, classes->n_classes, sizeof *values, by_reached);
  size_t n = 0;
  for (uint32_t c = 0; c < classes->n_classes; c++) {
    if (n && values[n - 1].reached >= values[c].reached) {
      values[n - 1].classes++;
      values[n - 1].rows += values[c].rows;
    } else {
      values[n++] = values[c];
    }
  }
  outcome->values = shoal_arena_alloc(&result->arena, n, sizeof *values);
  if (outcome->values && n) memcpy(outcome->values, values, n * sizeof *values);
  outcome->n_values = n;
  free(values);
  return outcome->values ? SHOAL_OK : shoal_fail_memory(error);
}

static shoal_status judge_requirement(shoal_result *result, const shoal_context *p,
                                      const shoal_requirement *requirement,
                                      const shoal_classes *classes,
                                      const shoal_labelling *labelling, const uint8_t *left_out,
                                      const uint32_t *class_of_row, size_t max_worst,
                                      shoal_model_outcome *outcome, shoal_error *error) {
  judgement j = {.context = p,
                 .requirement = requirement,
                 .class_of_row = class_of_row,
                 .max_worst = max_worst,
                 .first = true};
  memset(outcome, 0, sizeof *outcome);
  outcome->model = requirement->type->name;
  outcome->summary = requirement->type->summary;
  outcome->required = requirement->type->required(requirement);
  outcome->at_most = requirement->type->at_most;
  outcome->is_size = shoal_requirement_is_size(requirement);
  if (outcome->is_size && requirement->counts_people)
    outcome->units = requirement->type->is_size ? "people" : "households";
  outcome->by_people = requirement->counts_people || requirement->pairs;
  outcome->unjudged = requirement->unjudged;
  outcome->tells_distinct = requirement->type->on_attribute && !requirement->type->is_p;
  if (requirement->sensitive != SHOAL_NO_ATTRIBUTE)
    SHOAL_TRY(shoal_result_copy(result, p->sensitive[requirement->sensitive].column->name,
                                &outcome->attribute, error));
  SHOAL_TRY(shoal_result_over(result, p, requirement, &outcome->over, error));
  if (!shoal_requirement_is_whole(requirement)) {
    SHOAL_TRY(judge_over_sets(result, &j, classes, labelling, left_out, outcome, error));
  } else {
    judge_classes(&j, classes, left_out, NULL, outcome);
    outcome->breaking_classes = j.breaking_classes;
    outcome->breaking_rows = j.breaking_rows;
    SHOAL_TRY(show_worst(result, p, classes, &p->requirements.sets[0], j.worst, j.n_worst, outcome,
                         error));
    if (max_worst && shoal_requirement_is_theta(requirement))
      SHOAL_TRY(list_values(result, &j, classes, outcome, error));
  }
  outcome->holds = outcome->breaking_classes == 0 && !outcome->unjudged;
  return SHOAL_OK;
}

shoal_status shoal_result_models(shoal_result *result, const shoal_context *p,
                                 const shoal_classes *classes, const shoal_labelling *labelling,
                                 const uint8_t *left_out, const uint32_t *class_of_row,
                                 size_t worst, shoal_model_outcomes *models, shoal_error *error) {
  size_t n = p->requirements.n_items;
  models->n_items = 0;
  models->items =
      shoal_arena_alloc(&result->arena, n + shoal_count_rules(p), sizeof *models->items);
  if (!models->items) return shoal_fail_memory(error);
  result->holds = true;
  for (size_t i = 0; i < n; i++) {
    SHOAL_TRY(judge_requirement(result, p, &p->requirements.items[i], classes, labelling, left_out,
                                class_of_row, worst > MAX_WORST ? MAX_WORST : worst,
                                &models->items[i], error));
    models->n_items = i + 1;
    result->holds = result->holds && models->items[i].holds;
  }
  return shoal_result_rules(result, p, models, error);
}

/* ------------------------------------------------------------ classes */

void shoal_result_sizes(shoal_class_sizes *sizes, const shoal_classes *classes,
                        const uint8_t *left_out) {
  *sizes = (shoal_class_sizes){.n_records = 0};
  for (uint32_t c = 0; c < classes->n_classes; c++)
    if (!left_out || !left_out[c]) shoal_class_sizes_add(sizes, classes->n_rows[c]);
}

/* ------------------------------------------------------------ nodes */

shoal_status shoal_result_add_node(shoal_result *result, const shoal_space *space,
                                   const shoal_node *node, shoal_node_outcome *outcome,
                                   shoal_error *error) {
  uint32_t *levels = shoal_arena_alloc(&result->arena, space->n, sizeof *levels);
  if (!levels) return shoal_fail_memory(error);
  shoal_space_levels(space, node->number, levels);
  *outcome = (shoal_node_outcome){.levels = levels,
                                  .height = node->height,
                                  .suppressed = node->suppressed,
                                  .classes = node->n_classes,
                                  .satisfies = node->satisfies,
                                  .minimal = node->minimal};
  return SHOAL_OK;
}

/* ------------------------------------------------------------ measures */

shoal_status shoal_result_measure(shoal_result *result, const shoal_context *p,
                                  const shoal_table *masked, const shoal_release_origin *origin,
                                  const shoal_measure_options *options, shoal_measured *measured,
                                  shoal_error *error) {
  SHOAL_TRY(shoal_measure_release(p, masked, origin, options, &result->arena, measured, error));
  for (size_t c = 0; c < masked->n_columns; c++) {
    const shoal_attribute *attribute = shoal_policy_attribute(p->policy, masked->columns[c].name);
    if (!attribute || !shoal_role_is_removed(attribute->role)) continue;
    SHOAL_TRY(shoal_result_warn(result, error,
                                "the release has the identifier '%s', which re-identifies people "
                                "directly: no figure here counts it",
                                masked->columns[c].name));
  }
  return SHOAL_OK;
}
