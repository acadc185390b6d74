/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decide/check_inputs: what `anonymize` would refuse before it looks for a release, asked of a
 * table that may be a release already. Cells are raw values or labels: of the policy's hierarchies,
 * stars, and intervals with two ends for numbers (measure/domain.h reads them without an original).
 */
#include <stdlib.h>

#include "base/intern.h"
#include "decide/gates.h"
#include "decide/method.h"
#include "measure/domain.h"
#include "profile/profile.h"

/* ------------------------------------------------------------ the policy */

static shoal_status check_method(const shoal_context *p, const shoal_method *method,
                                 shoal_error *error) {
  SHOAL_TRY(shoal_method_check_people(method, p->policy, &p->tracked, error));
  if (method->local) {
    shoal_cluster_requirements required;
    SHOAL_TRY(shoal_cluster_requirements_init(&required, &p->requirements, &p->tracked, p->table,
                                              SHOAL_WEIGHTS_GIVEN, error));
    shoal_status status = shoal_method_check_support(method, p->policy, &required, error);
    shoal_cluster_requirements_reset(&required);
    return status;
  }
  shoal_preference *preferences;
  size_t n_preferences;
  SHOAL_TRY(shoal_preferences_bind(p->policy, p->frequency, p->weighted ? p->weights : NULL,
                                   &preferences, &n_preferences, error));
  free(preferences);
  return SHOAL_OK;
}

static shoal_status compile(const shoal_context *p, const shoal_attribute *attribute,
                            const shoal_column *column, bool ragged, shoal_error *error) {
  shoal_hierarchy_options options = {.policy = p->policy->file,
                                     .attribute = attribute->name,
                                     .number = attribute->type == SHOAL_TYPE_NUMBER,
                                     .ragged = ragged};
  shoal_hierarchy *hierarchy;
  SHOAL_TRY(shoal_hierarchy_compile(&attribute->hierarchy, column ? p->table : NULL, column,
                                    &options, &hierarchy, error));
  shoal_hierarchy_free(hierarchy);
  return SHOAL_OK;
}

/*
 * A file or tree has its faults whatever the data; other kinds are built from values. A release
 * made elsewhere can be checked without hierarchies: then any cell is a value.
 */
static shoal_status check_hierarchy(const shoal_context *p, const shoal_attribute *attribute,
                                    bool local, shoal_result *result, shoal_error *error) {
  if (!attribute->has_hierarchy && !(local && attribute->type == SHOAL_TYPE_NUMBER))
    return shoal_result_warn(result, error,
                             "quasi-identifier '%s' has no hierarchy: 'anonymize' needs one",
                             attribute->name);
  return shoal_attribute_has_tree(attribute) ? compile(p, attribute, NULL, local, error) : SHOAL_OK;
}

/* ------------------------------------------------------------ cells */

/* A spelling that is no label of the hierarchy: a number as in raw data, or an interval. */
static bool is_allowed(const shoal_domain *domain, const char *bytes, size_t size_bytes) {
  const shoal_coding *coding = &domain->attribute->coding;
  shoal_spelling spelling = shoal_label_parse_as(coding->dates, bytes, size_bytes);
  shoal_decimal number;
  if (!domain->is_number) return false;
  if (spelling.form == SHOAL_FORM_NUMBER && !shoal_attribute_has_tree(domain->attribute))
    return coding->dates || shoal_decimal_parse(bytes, size_bytes, &number) == SHOAL_NUMBER_OK;
  return spelling.form == SHOAL_FORM_INTERVAL && (spelling.range.has_low || coding->has_bottom) &&
         (spelling.range.has_high || coding->has_top);
}

static shoal_status check_labels(const shoal_context *p, const shoal_column *column,
                                 const shoal_domain *domain, shoal_error *error) {
  if (!domain->hierarchy && !domain->is_number) return SHOAL_OK;
  uint8_t *bad = shoal_alloc_zero(column->n_values, sizeof *bad);
  if (!bad) return shoal_fail_memory(error);
  bool ok = true;
  for (uint32_t code = 0; code < column->n_values; code++) {
    const shoal_label_span *span = shoal_domain_span(domain, 0, code);
    size_t size_bytes;
    const char *bytes = shoal_column_value(column, code, &size_bytes);
    bad[code] = !span->everything && !shoal_column_missing(column, code) &&
                span->level == SHOAL_NONE && !is_allowed(domain, bytes, size_bytes);
    ok = ok && !bad[code];
  }
  shoal_status status =
      ok ? SHOAL_OK : shoal_bad_cells_fail(p->table, column, bad, &shoal_no_label, error);
  free(bad);
  return status;
}

/* Any text is a value below a mask or the top alone: a label cannot be told from one. */
static bool takes_any_text(const shoal_attribute *attribute) {
  return attribute->has_hierarchy && (attribute->hierarchy.kind == SHOAL_HIERARCHY_MASK ||
                                      attribute->hierarchy.kind == SHOAL_HIERARCHY_SETS ||
                                      attribute->hierarchy.kind == SHOAL_HIERARCHY_TOP);
}

/* Reads the cells of a column as labels. */
static shoal_status check_column(const shoal_context *p, const shoal_attribute *attribute,
                                 const shoal_column *column, shoal_error *error) {
  shoal_source_column released = {p->table, column};
  shoal_domain_request request = {
      .policy = p->policy, .attribute = attribute, .released = &released, .n_released = 1};
  shoal_domain domain;
  SHOAL_TRY(shoal_domain_init(&domain, &request, error));
  shoal_status status = check_labels(p, column, &domain, error);
  shoal_domain_reset(&domain);
  return status;
}

static bool is_plain_number(const shoal_column *column, uint32_t value) {
  size_t size_bytes;
  const char *bytes = shoal_column_value(column, value, &size_bytes);
  shoal_decimal number;
  return shoal_coding_parse(&column->coding, bytes, size_bytes, &number) == SHOAL_NUMBER_OK &&
         !shoal_coding_find(&column->coding, bytes, size_bytes);
}

/* The values that are no plain numbers, and one that is: columns of numbers have many. */
static shoal_status collect_labels(const shoal_column *column, shoal_column *labels,
                                   shoal_error *error) {
  shoal_strings strings;
  if (!shoal_strings_init(&strings)) return shoal_fail_memory(error);
  bool ok = true, has_number = false;
  for (uint32_t v = 0; ok && v < column->n_values; v++) {
    bool number = is_plain_number(column, v);
    if (shoal_column_missing(column, v) || (number && has_number)) continue;
    has_number = has_number || number;
    shoal_label label;
    label.bytes = shoal_column_value(column, v, &label.size_bytes);
    ok = shoal_strings_intern(&strings, label) != SHOAL_NONE;
  }
  *labels = (shoal_column){.name = column->name, .coding = column->coding};
  if (ok) shoal_strings_take(&strings, &labels->bytes, &labels->offsets, &labels->n_values);
  shoal_strings_reset(&strings);
  return ok ? SHOAL_OK : shoal_fail_memory(error);
}

static shoal_status check_numbers(const shoal_context *p, const shoal_column *column,
                                  shoal_error *error) {
  int64_t *numbers;
  unsigned scale;
  SHOAL_TRY(shoal_column_numbers(p->table, column, &numbers, &scale, error));
  free(numbers);
  return SHOAL_OK;
}

static shoal_status check_quasi(const shoal_context *p, size_t q, shoal_error *error) {
  const shoal_attribute *attribute = p->quasi_attributes[q];
  if (takes_any_text(attribute)) return compile(p, attribute, p->quasi[q], true, error);
  if (attribute->type == SHOAL_TYPE_NUMBER && !shoal_attribute_has_tree(attribute)) {
    /* Raw data has numbers only. Otherwise labels are checked first; an error is found again with
     * rows. */
    const shoal_column *column = p->quasi[q];
    shoal_column labels;
    SHOAL_TRY(collect_labels(column, &labels, error));
    bool raw = labels.n_values == 0 || (labels.n_values == 1 && is_plain_number(&labels, 0));
    shoal_status status = check_column(p, attribute, &labels, error);
    free(labels.bytes);
    free(labels.offsets);
    if (status == SHOAL_BAD_INPUT) return check_column(p, attribute, column, error);
    return status == SHOAL_OK && raw ? check_numbers(p, column, error) : status;
  }
  return check_column(p, attribute, p->quasi[q], error);
}

/* Sensitive values are released unchanged: numbers stay numbers. */
static shoal_status check_sensitive(const shoal_context *p, const shoal_sensitive *sensitive,
                                    shoal_error *error) {
  if (sensitive->attribute->type != SHOAL_TYPE_NUMBER) return SHOAL_OK;
  return check_numbers(p, sensitive->column, error);
}

shoal_status shoal_check_inputs(const shoal_context *p, shoal_result *result, shoal_error *error) {
  shoal_methods methods;
  SHOAL_TRY(shoal_methods_bind(p->policy, &methods, error));
  bool local = shoal_methods_have(&methods, SHOAL_METHOD_CLUSTERS);
  SHOAL_TRY(shoal_requirements_check_p(&p->requirements, p->policy, error));
  for (size_t q = 0; q < p->n_quasi; q++)
    SHOAL_TRY(check_hierarchy(p, p->quasi_attributes[q], local, result, error));
  for (size_t i = 0; i < methods.n; i++) SHOAL_TRY(check_method(p, &methods.items[i], error));
  for (size_t q = 0; q < p->n_quasi; q++) SHOAL_TRY(check_quasi(p, q, error));
  for (size_t s = 0; s < p->n_sensitive; s++)
    SHOAL_TRY(check_sensitive(p, &p->sensitive[s], error));
  return SHOAL_OK;
}

shoal_status shoal_warn_of_spellings(const shoal_context *p, shoal_result *result,
                                     shoal_error *error) {
  for (size_t c = 0; c < p->table->n_columns; c++) {
    const shoal_column *column = &p->table->columns[c];
    const shoal_attribute *attribute = shoal_policy_attribute(p->policy, column->name);
    bool compared = p->roles[c] == SHOAL_ROLE_QUASI || p->roles[c] == SHOAL_ROLE_SENSITIVE;
    if (!compared || !column->code_size || attribute->type != SHOAL_TYPE_TEXT) continue;
    SHOAL_TRY(
        shoal_warn_of_variants(result, p->table, column, column->name, p->policy->fold, error));
  }
  return SHOAL_OK;
}

/* ------------------------------------------------------------ policies */

enum { MIN_K = 3 }; /* in a class of two, each of the two people knows the other's row */

/* A class with p different values has p rows, too. */
static shoal_status warn_of_k(const shoal_context *p, shoal_result *result, shoal_error *error) {
  if (p->requirements.k >= MIN_K || p->policy->p >= MIN_K) return SHOAL_OK;
  return shoal_result_warn(result, error,
                           "k is below %d: whoever knows their own row of a class of two knows the "
                           "other; use 'k: %d' or more",
                           MIN_K, MIN_K);
}

/* A label for one value is another name of it. */
static shoal_status warn_of_rare(const shoal_column *column, shoal_result *result,
                                 shoal_error *error) {
  if (!column->n_rare_values) return SHOAL_OK;
  unsigned long long n = (unsigned long long)column->coding.rare;
  if (column->n_rare_values == 1)
    return shoal_result_warn(result, error,
                             "only one value of '%s' has fewer than %llu rows: whoever knows the "
                             "values knows which one '%s' means; raise 'rare'",
                             column->name, n, SHOAL_RARE_LABEL);
  if (column->n_rare_rows >= column->coding.rare) return SHOAL_OK;
  return shoal_result_warn(result, error,
                           "the values of '%s' with fewer than %llu rows have fewer than %llu rows "
                           "together: '%s' points to few people; raise 'rare'",
                           column->name, n, n, SHOAL_RARE_LABEL);
}

/* Sets of numbers, such as {15|17|74}, are rarely meant. Few whole numbers may be codes. */
static shoal_status warn_of_type(const shoal_context *p, size_t c, shoal_result *result,
                                 shoal_error *error) {
  const shoal_column *column = &p->table->columns[c];
  shoal_column_stats stats;
  shoal_suggestion suggestion;
  if (!p->attributes[c].default_sets || !column->code_size) return SHOAL_OK;
  if (!shoal_profile_column(p->table, column, &stats)) return shoal_fail_memory(error);
  shoal_suggest(column->name, &stats, &(shoal_table_traits){0}, &suggestion);
  if (!suggestion.may_be_number || stats.bad_cells) return SHOAL_OK;
  return shoal_result_warn(result, error,
                           "all cells of '%s' are numbers: add 'type: number', or 'hierarchy: "
                           "{sets: true}' if they are codes",
                           column->name);
}

shoal_status shoal_warn_of_policy(const shoal_context *p, shoal_result *result,
                                  shoal_error *error) {
  SHOAL_TRY(warn_of_k(p, result, error));
  for (size_t c = 0; c < p->table->n_columns; c++) {
    SHOAL_TRY(warn_of_rare(&shoal_context_original(p)->columns[c], result, error));
    if (p->roles[c] == SHOAL_ROLE_QUASI) SHOAL_TRY(warn_of_type(p, c, result, error));
  }
  return SHOAL_OK;
}
