/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job/verify_request: what a release must satisfy, for the verifier: strings of the policy, the
 * hierarchies and the data, no codes or verdicts of the engine.
 */
#include "job/verify_request.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "input/cells.h"
#include "table/fold.h"
#include "table/whole.h"

static const char *copy(shoal_owned_verify_request *c, const char *bytes, size_t size) {
  return shoal_arena_copy(&c->arena, bytes, size);
}

/* A value or label as the release spells it. */
static const char *spell(shoal_owned_verify_request *c, const char *bytes, size_t size) {
  char *copied = shoal_arena_copy(&c->arena, bytes, size);
  if (copied && c->commas) shoal_swap_marks(copied, size);
  if (!copied || !c->request.formulas_quoted || !shoal_is_formula(bytes, size)) return copied;
  char *quoted = shoal_arena_alloc(&c->arena, size + 2, 1);
  if (!quoted) return NULL;
  quoted[0] = '\'';
  memcpy(quoted + 1, copied, size + 1);
  return quoted;
}

/* ------------------------------------------------------------ models */

/* The value of a parameter in one spelling; NULL: not given, or no memory. */
static const char *parameter_text(shoal_owned_verify_request *c,
                                  const shoal_requirement *requirement, size_t i) {
  const shoal_parameter *parameter = &requirement->type->parameters[i];
  char text[32];
  switch (parameter->kind) {
  case SHOAL_PARAMETER_NUMBER:
    shoal_decimal_print(requirement->number[i].mantissa, requirement->number[i].scale, text);
    break;
  case SHOAL_PARAMETER_COUNT:
    (void)snprintf(text, sizeof text, "%llu", (unsigned long long)requirement->count[i]);
    break;
  case SHOAL_PARAMETER_WORD: return parameter->words[requirement->word[i]];
  default: return requirement->text[i];
  }
  return copy(c, text, strlen(text));
}

static bool request_parameters(shoal_owned_verify_request *c, const shoal_requirement *requirement,
                               shoal_verify_model *model) {
  shoal_verify_parameter *parameters =
      shoal_arena_alloc(&c->arena, SHOAL_MODEL_PARAMETERS, sizeof *parameters);
  if (!parameters) return false;
  size_t n = 0;
  for (size_t i = 0; requirement->type->parameters[i].name; i++) {
    const shoal_parameter *parameter = &requirement->type->parameters[i];
    if (parameter->optional && !requirement->given[i] && !parameter->words) continue;
    parameters[n].name = parameter->name;
    parameters[n].value = parameter_text(c, requirement, i);
    if (!parameters[n++].value) return false;
  }
  model->parameters = parameters;
  model->n_parameters = n;
  return true;
}

/* The sets of quasi-identifiers that models are about, except all of them. */
static bool request_over(shoal_owned_verify_request *c, const shoal_context *p) {
  const shoal_requirements *requirements = &p->requirements;
  size_t n = requirements->n_sets - 1;
  shoal_verify_set *sets = shoal_arena_alloc(&c->arena, n, sizeof *sets);
  if (!sets) return false;
  for (size_t s = 0; s < n; s++) {
    const shoal_quasi_set *set = &requirements->sets[s + 1];
    const char **quasi = shoal_arena_alloc(&c->arena, set->n, sizeof *quasi);
    if (!quasi) return false;
    for (size_t i = 0; i < set->n; i++) quasi[i] = p->quasi[set->quasi[i]]->name;
    sets[s] = (shoal_verify_set){quasi, set->n};
  }
  c->request.over = sets;
  c->request.n_over = n;
  return true;
}

static bool request_model_over(shoal_owned_verify_request *c, const shoal_requirements *all,
                               const shoal_requirement *requirement, shoal_verify_model *model) {
  if (shoal_requirement_is_whole(requirement)) return true;
  size_t *over = shoal_arena_alloc(&c->arena, all->n_sets, sizeof *over);
  if (!over) return false;
  for (size_t s = 1; s < all->n_sets; s++)
    if (requirement->covers[s]) over[model->n_over++] = s - 1;
  model->over = over;
  return true;
}

static bool request_models(shoal_owned_verify_request *c, const shoal_context *p) {
  size_t n = p->requirements.n_items;
  shoal_verify_model *models = shoal_arena_alloc(&c->arena, n, sizeof *models);
  if (!models) return false;
  for (size_t i = 0; i < n; i++) {
    const shoal_requirement *requirement = &p->requirements.items[i];
    models[i] = (shoal_verify_model){.name = requirement->type->name};
    if (requirement->sensitive != SHOAL_NO_ATTRIBUTE)
      models[i].attribute = p->sensitive[requirement->sensitive].column->name;
    if (!request_parameters(c, requirement, &models[i]) ||
        !request_model_over(c, &p->requirements, requirement, &models[i]))
      return false;
  }
  c->request.models = models;
  c->request.n_models = n;
  return true;
}

/* ------------------------------------------------------------ sensitive values */

/* The text of a value of the context's table, as it is released. */
static const char *released_text(const shoal_owned_verify_request *c, const shoal_context *p,
                                 const shoal_column *column, uint32_t value, size_t *size) {
  size_t index = (size_t)(column - p->table->columns);
  const uint32_t *code_of = p->ordered ? p->ordered->code_of[index] : NULL;
  return shoal_column_value(&c->rows->columns[index], code_of ? code_of[value] : value, size);
}

/* Labels above the value, the nearest first. A leaf that repeats is spelled as it is released. */
static const char *const *path_of(shoal_owned_verify_request *c, const shoal_hierarchy *tree,
                                  uint32_t value, const char *released) {
  size_t leaf_size;
  const char *leaf = shoal_level_label(&tree->levels[0], value, &leaf_size);
  const char **path = shoal_arena_alloc(&c->arena, tree->n_levels, sizeof *path);
  if (!path) return NULL;
  for (uint32_t l = 1; l < tree->n_levels; l++) {
    size_t size;
    const shoal_level *level = &tree->levels[l];
    const char *label = shoal_level_label(level, level->of_leaf[value], &size);
    bool repeats = size == leaf_size && memcmp(label, leaf, size) == 0;
    path[l - 1] = repeats ? released : spell(c, label, size);
    if (!path[l - 1]) return NULL;
  }
  path[tree->n_levels - 1] = NULL;
  return path;
}

/* The spellings of missing values, compared like values of the attribute. False: no memory. */
static bool missing_spellings(const shoal_policy *policy, const shoal_attribute *attribute,
                              shoal_values *missing) {
  bool ok = shoal_values_init(missing, shoal_policy_equality(policy, attribute));
  for (size_t i = 0; ok && i < policy->n_missing; i++) {
    shoal_label text = {policy->missing[i], strlen(policy->missing[i])};
    ok = shoal_values_intern(missing, text) != SHOAL_NONE;
  }
  return ok;
}

static bool add_value(shoal_owned_verify_request *c, const shoal_context *p,
                      const shoal_sensitive *sensitive, uint32_t leaf, int64_t category,
                      uint64_t rows, shoal_verify_value *value) {
  const shoal_hierarchy *tree = sensitive->hierarchy;
  size_t size;
  const char *bytes = leaf < sensitive->column->n_values
                          ? released_text(c, p, sensitive->column, leaf, &size)
                          : shoal_level_label(&tree->levels[0], leaf, &size);
  *value = (shoal_verify_value){
      .value = spell(c, bytes, size), .category = category, .n_original = rows};
  if (tree && value->value) value->path = path_of(c, tree, leaf, value->value);
  return value->value && (!tree || value->path);
}

/* Is this leaf of the tree, or value of the column, a missing value? */
static bool is_missing_leaf(const shoal_sensitive *sensitive, shoal_values *missing, uint32_t leaf,
                            bool *failed) {
  const shoal_column *column = sensitive->column;
  if (leaf < column->n_values) return shoal_column_missing(column, leaf);
  shoal_label label;
  label.bytes = shoal_level_label(&sensitive->hierarchy->levels[0], leaf, &label.size_bytes);
  return shoal_values_find(missing, label, failed) != SHOAL_NONE;
}

/*
 * The table's values, then those that only the tree has, then the tree's missing values. The
 * verifier needs the last two to compute heights.
 */
static bool fill_values(shoal_owned_verify_request *c, const shoal_context *p,
                        shoal_values *missing, const shoal_sensitive *sensitive,
                        const uint64_t *rows, const uint32_t *category_of,
                        shoal_verify_knowledge *known) {
  const shoal_hierarchy *tree = sensitive->hierarchy;
  uint32_t n_values = sensitive->column->n_values, n_leaves = tree ? tree->n_leaves : n_values;
  shoal_verify_value *values = shoal_arena_alloc(&c->arena, n_leaves, sizeof *values);
  if (!values) return false;
  bool failed = false;
  known->values = values;
  for (uint32_t leaf = 0; leaf < n_leaves; leaf++) {
    if (is_missing_leaf(sensitive, missing, leaf, &failed)) continue;
    uint32_t category = category_of && leaf < n_values ? category_of[leaf] : 0;
    if (!add_value(c, p, sensitive, leaf, category_of ? (int64_t)category : -1,
                   leaf < n_values ? rows[leaf] : 0, &values[known->n_values++]))
      return false;
  }
  for (uint32_t leaf = 0; tree && leaf < n_leaves; leaf++)
    if (is_missing_leaf(sensitive, missing, leaf, &failed) &&
        !add_value(c, p, sensitive, leaf, -1, 0, &values[known->n_values + known->n_missing++]))
      return false;
  return !failed;
}

/* Rows of each value in the table, or people if a model is a proportion of people. */
static uint64_t *count_original(const shoal_context *p, const shoal_sensitive *sensitive) {
  size_t s = (size_t)(sensitive - p->sensitive);
  if (shoal_whole_has(p->table, sensitive->column))
    return shoal_whole_rows(p->table, sensitive->column);
  for (size_t i = 0; i < p->requirements.n_items; i++) {
    const shoal_requirement *requirement = &p->requirements.items[i];
    if (requirement->sensitive == s && requirement->pairs)
      return shoal_requirement_count_values(requirement, p->table, sensitive->column);
  }
  return shoal_count_values(p->table, sensitive->column);
}

static shoal_status know_attribute(shoal_owned_verify_request *c, const shoal_context *p,
                                   const shoal_sensitive *sensitive, shoal_verify_knowledge *known,
                                   shoal_error *error) {
  const shoal_attribute *attribute = sensitive->attribute;
  c->commas = c->styled && shoal_cells_have_commas(p->policy, attribute);
  uint32_t *category_of = NULL, n_categories = 0;
  if (attribute->categories.file || attribute->categories.n_lists)
    SHOAL_TRY(
        shoal_value_categories(p->policy, p->table, sensitive, &category_of, &n_categories, error));
  uint64_t *rows = count_original(p, sensitive);
  const char **protect = shoal_arena_alloc(&c->arena, attribute->n_protect, sizeof *protect);
  *known = (shoal_verify_knowledge){.n_categories = n_categories,
                                    .invented = p->policy->noise_allowed && !sensitive->hierarchy};
  shoal_values missing = {0};
  bool ok = rows && protect && missing_spellings(p->policy, attribute, &missing) &&
            fill_values(c, p, &missing, sensitive, rows, category_of, known);
  shoal_values_reset(&missing);
  for (size_t i = 0; ok && i < attribute->n_protect; i++) {
    protect[i] = spell(c, attribute->protect[i].text, strlen(attribute->protect[i].text));
    ok = protect[i] != NULL;
  }
  known->protect = protect;
  known->n_protect = attribute->n_protect;
  free(rows);
  free(category_of);
  return ok ? SHOAL_OK : shoal_fail_memory(error);
}

static bool request_missing(shoal_owned_verify_request *c, const shoal_policy *policy) {
  const char **missing = shoal_arena_alloc(&c->arena, policy->n_missing, sizeof *missing);
  if (!missing) return false;
  for (size_t i = 0; i < policy->n_missing; i++) {
    missing[i] = spell(c, policy->missing[i], strlen(policy->missing[i]));
    if (!missing[i]) return false;
  }
  c->request.missing = missing;
  c->request.n_missing = policy->n_missing;
  return true;
}

/*
 * How the cells of each released column are compared. The labels of a mask are cut from spellings:
 * what looks like a number there is none.
 */
static bool request_folds(shoal_owned_verify_request *c, const shoal_context *p) {
  shoal_verify_fold *folds = shoal_arena_alloc_zero(&c->arena, c->request.n_columns, sizeof *folds);
  if (!folds) return false;
  c->request.folds = folds;
  for (size_t i = 0; i < c->request.n_columns; i++) {
    const shoal_attribute *attribute = shoal_policy_attribute(p->policy, c->request.columns[i]);
    if (!attribute) continue;
    bool number = attribute->type == SHOAL_TYPE_NUMBER && !attribute->coding.dates;
    bool masked = attribute->has_hierarchy && attribute->hierarchy.kind == SHOAL_HIERARCHY_MASK;
    shoal_equality fold =
        attribute->type == SHOAL_TYPE_NUMBER ? SHOAL_EQUAL_BYTES : p->policy->fold;
    folds[i] = (shoal_verify_fold){.numbers = number && !masked,
                                   .decimal = c->styled ? p->policy->decimal : '.',
                                   .letter_case = fold & SHOAL_EQUAL_CASE,
                                   .space = fold & SHOAL_EQUAL_SPACE,
                                   .unicode = fold & SHOAL_EQUAL_UNICODE};
  }
  return true;
}

/* Labels of these kinds need not be numbers. */
static bool has_words(const shoal_attribute *attribute) {
  shoal_hierarchy_kind kind = attribute->hierarchy.kind;
  return attribute->has_hierarchy && (shoal_attribute_has_tree(attribute) ||
                                      kind == SHOAL_HIERARCHY_MASK || kind == SHOAL_HIERARCHY_DATE);
}

/* A number as text; NULL: not given, or no memory. */
static const char *code_text(shoal_owned_verify_request *c, bool given, shoal_decimal code) {
  char text[32];
  if (!given) return NULL;
  shoal_decimal_print(code.mantissa, code.scale, text);
  return copy(c, text, strlen(text));
}

/* The column's values and their rows, counted again. */
static bool request_rare(shoal_owned_verify_request *c, const shoal_context *p,
                         const shoal_attribute *attribute, const char *name,
                         shoal_verify_code *code) {
  const shoal_column *column = shoal_table_column(p->table, name);
  uint64_t *rows = shoal_column_rows(p->table, column);
  shoal_verify_value *values = shoal_arena_alloc_zero(&c->arena, column->n_values, sizeof *values);
  bool ok = rows && values;
  for (uint32_t v = 0; ok && v < column->n_values; v++) {
    size_t size;
    const char *bytes = shoal_column_value(column, v, &size);
    if (shoal_column_missing(column, v)) continue;
    shoal_verify_value *value = &values[code->n_values++];
    *value = (shoal_verify_value){.value = spell(c, bytes, size), .n_original = rows[v]};
    ok = value->value != NULL;
  }
  free(rows);
  code->rare = attribute->coding.rare;
  code->values = values;
  code->labels = attribute->role == SHOAL_ROLE_QUASI;
  code->sets = code->labels && shoal_attribute_has_sets(attribute);
  return ok;
}

static bool request_codes(shoal_owned_verify_request *c, const shoal_context *p) {
  shoal_verify_code *codes = shoal_arena_alloc_zero(&c->arena, c->request.n_columns, sizeof *codes);
  if (!codes) return false;
  c->request.codes = codes;
  for (size_t i = 0; i < c->request.n_columns; i++) {
    const shoal_attribute *attribute = shoal_policy_attribute(p->policy, c->request.columns[i]);
    if (!attribute || !shoal_coding_given(&attribute->coding)) continue;
    const shoal_coding *coding = &attribute->coding;
    codes[i] = (shoal_verify_code){.top = code_text(c, coding->has_top, coding->top),
                                   .bottom = code_text(c, coding->has_bottom, coding->bottom),
                                   .words = has_words(attribute)};
    if ((coding->has_top && !codes[i].top) || (coding->has_bottom && !codes[i].bottom))
      return false;
    if (coding->rare && !request_rare(c, p, attribute, c->request.columns[i], &codes[i]))
      return false;
  }
  return true;
}

static bool request_pseudonyms(shoal_owned_verify_request *c, const shoal_context *p) {
  size_t n = c->request.n_columns;
  const char **pseudonyms = shoal_arena_alloc(&c->arena, n, sizeof *pseudonyms);
  c->request.pseudonym_links = shoal_arena_alloc_zero(&c->arena, n, 1);
  if (!pseudonyms || !c->request.pseudonym_links) return false;
  c->request.pseudonyms = pseudonyms;
  for (size_t i = 0; i < n; i++) {
    const shoal_attribute *attribute = shoal_policy_attribute(p->policy, c->request.columns[i]);
    if (attribute && attribute->role == SHOAL_ROLE_PSEUDONYM)
      pseudonyms[c->request.n_pseudonyms++] = c->request.columns[i];
  }
  return true;
}

static shoal_status make(shoal_owned_verify_request *c, const shoal_context *p,
                         shoal_error *error) {
  const char **quasi = shoal_arena_alloc(&c->arena, p->n_quasi, sizeof *quasi);
  const char **sensitive = shoal_arena_alloc(&c->arena, p->n_sensitive, sizeof *sensitive);
  shoal_verify_knowledge *known = shoal_arena_alloc(&c->arena, p->n_sensitive, sizeof *known);
  if (!quasi || !sensitive || !known || !request_folds(c, p) || !request_missing(c, p->policy) ||
      !request_over(c, p) || !request_models(c, p) || !request_codes(c, p) ||
      !request_pseudonyms(c, p))
    return shoal_fail_memory(error);
  for (size_t q = 0; q < p->n_quasi; q++) quasi[q] = p->quasi[q]->name;
  for (size_t s = 0; s < p->n_sensitive; s++) {
    sensitive[s] = p->sensitive[s].column->name;
    SHOAL_TRY(know_attribute(c, p, &p->sensitive[s], &known[s], error));
  }
  c->request.quasi = quasi;
  c->request.n_quasi = p->n_quasi;
  c->request.sensitive = sensitive;
  c->request.n_sensitive = p->n_sensitive;
  c->request.attributes = known;
  return SHOAL_OK;
}

shoal_status shoal_owned_verify_request_make(shoal_owned_verify_request *c, const shoal_context *p,
                                             const shoal_table *rows, char delimiter, bool styled,
                                             bool quoted, const char *const *columns,
                                             size_t n_columns, uint64_t n_rows,
                                             shoal_error *error) {
  memset(c, 0, sizeof *c);
  shoal_arena_init(&c->arena);
  c->styled = styled;
  c->rows = rows;
  c->request = (shoal_verify_request){.delimiter = delimiter,
                                      .columns = columns,
                                      .n_columns = n_columns,
                                      .formulas_quoted = quoted,
                                      .k = p->requirements.k,
                                      .guards_fd = -1,
                                      .people_fd = -1,
                                      .n_rows = n_rows,
                                      .values_known = true};
  shoal_status status = make(c, p, error);
  if (status != SHOAL_OK) shoal_owned_verify_request_reset(c);
  return status;
}

void shoal_owned_verify_request_reset(shoal_owned_verify_request *c) {
  shoal_arena_reset(&c->arena);
}
