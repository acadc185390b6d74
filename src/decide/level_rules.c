/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decide/level_rules: min-level and max-level, judged on the cells of a table. A quasi-identifier
 * with min-level 2 may show no label of levels 0 and 1; with max-level, none above that level but
 * "*", which suppressed rows have. A label that can be of several levels counts as
 * allowed: a release does not say which values were in the original.
 */
#include <stdlib.h>

#include "decide/models_report.h"
#include "hierarchy/set_label.h"
#include "measure/domain.h"
#include "table/fold.h"

/* The levels that a label can have. */
typedef struct level_range {
  uint32_t lo, hi;
} level_range;

static const level_range ANY_LEVEL = {0, UINT32_MAX};

/* As many characters are masked as the level says, unless the value has fewer. */
static level_range levels_of_mask(const shoal_hierarchy_spec *spec, shoal_label label) {
  char mask = spec->mask_char;
  bool left = spec->mask_left;
  uint32_t n = 0;
  while (n < label.size_bytes && label.bytes[left ? n : label.size_bytes - 1 - n] == mask) n++;
  if (n == label.size_bytes) return ANY_LEVEL;
  if (!spec->mask_code || n == 0) return (level_range){n, n};
  if (n == 1 && label.size_bytes > 1 && label.bytes[label.size_bytes - 2] == '.')
    return (level_range){1, 1};
  return (level_range){n, n + 1}; /* codes with a dot have one level more */
}

/* The levels of the hierarchy at which a value below the label has this label. */
static level_range levels_of_label(const shoal_domain *domain, const shoal_label_span *span,
                                   shoal_label label) {
  const shoal_hierarchy *h = domain->hierarchy;
  shoal_decimal number;
  if (span->everything || span->missing) return ANY_LEVEL;
  if (h && span->level != SHOAL_NONE && span->lo <= span->hi) {
    level_range found = {UINT32_MAX, 0};
    for (uint32_t l = 0; l < h->n_levels; l++) {
      shoal_label other;
      uint32_t leaf = domain->leaf_at[span->lo];
      other.bytes = shoal_level_label(&h->levels[l], h->levels[l].of_leaf[leaf], &other.size_bytes);
      if (l != span->level && !shoal_label_equal(label, other)) continue;
      if (l < found.lo) found.lo = l;
      found.hi = l;
    }
    /* the level "day" exists only if the original has times or several spellings of a day */
    const shoal_hierarchy_spec *spec = &domain->attribute->hierarchy;
    bool day = spec->kind == SHOAL_HIERARCHY_DATE && spec->n_units &&
               spec->units[0] == SHOAL_DATE_DAY && h->n_levels == spec->n_units + 1;
    found.hi += day;
    return found;
  }
  bool plain = domain->is_number &&
               shoal_coding_parse(&domain->values.coding, label.bytes, label.size_bytes, &number) ==
                   SHOAL_NUMBER_OK;
  return plain ? (level_range){0, 0} : ANY_LEVEL;
}

/* The levels of each value of the column. */
static shoal_status read_levels(const shoal_context *p, size_t q, level_range *levels,
                                shoal_error *error) {
  const shoal_attribute *attribute = p->quasi_attributes[q];
  const shoal_column *column = p->quasi[q];
  shoal_hierarchy_kind kind = attribute->hierarchy.kind;
  bool own =
      kind == SHOAL_HIERARCHY_MASK || kind == SHOAL_HIERARCHY_TOP || kind == SHOAL_HIERARCHY_SETS;
  shoal_source_column released = {p->table, column};
  shoal_domain_request request = {
      .policy = p->policy, .attribute = attribute, .released = &released, .n_released = 1};
  shoal_domain domain;
  if (!own) SHOAL_TRY(shoal_domain_init(&domain, &request, error));
  for (uint32_t v = 0; v < column->n_values; v++) {
    shoal_label label;
    label.bytes = shoal_column_value(column, v, &label.size_bytes);
    bool star = label.size_bytes == 1 && label.bytes[0] == '*';
    if (star || shoal_column_missing(column, v)) levels[v] = ANY_LEVEL;
    else if (kind == SHOAL_HIERARCHY_MASK) levels[v] = levels_of_mask(&attribute->hierarchy, label);
    else if (own) levels[v] = shoal_is_set_label(label) ? ANY_LEVEL : (level_range){0, 0};
    else levels[v] = levels_of_label(&domain, shoal_domain_span(&domain, 0, v), label);
  }
  if (!own) shoal_domain_reset(&domain);
  return SHOAL_OK;
}

static shoal_status add_level_rule(shoal_result *result, const shoal_attribute *attribute,
                                   bool least, uint64_t breaking_rows, shoal_model_outcomes *models,
                                   shoal_error *error) {
  shoal_model_outcome *outcome = &models->items[models->n_items++];
  double level = least ? attribute->min_level : attribute->max_level;
  *outcome = (shoal_model_outcome){.model = least ? "min-level" : "max-level",
                                   .summary = least ? "no label below this level"
                                                    : "no label above this level",
                                   .required = level,
                                   .reached = level,
                                   .is_rule = true,
                                   .at_most = !least,
                                   .breaking_rows = breaking_rows,
                                   .holds = breaking_rows == 0};
  result->holds = result->holds && outcome->holds;
  return shoal_result_copy(result, attribute->name, &outcome->attribute, error);
}

/* Rows with a label of quasi-identifier q below and above the limits. */
static shoal_status count_outside(const shoal_context *p, size_t q, uint64_t *below,
                                  uint64_t *above, shoal_error *error) {
  const shoal_attribute *attribute = p->quasi_attributes[q];
  const shoal_column *column = p->quasi[q];
  uint64_t *rows = shoal_column_rows(p->table, column);
  level_range *levels = shoal_alloc(column->n_values, sizeof *levels);
  shoal_status status =
      rows && levels ? read_levels(p, q, levels, error) : shoal_fail_memory(error);
  for (uint32_t v = 0; status == SHOAL_OK && v < column->n_values; v++) {
    if (levels[v].hi < attribute->min_level) *below += rows[v];
    if (attribute->has_max_level && levels[v].lo > attribute->max_level) *above += rows[v];
  }
  free(rows);
  free(levels);
  return status;
}

shoal_status shoal_result_levels(shoal_result *result, const shoal_context *p, bool masked,
                                 shoal_model_outcomes *models, shoal_error *error) {
  for (size_t q = 0; q < p->n_quasi; q++) {
    const shoal_attribute *attribute = p->quasi_attributes[q];
    uint64_t below = 0, above = 0;
    if (!attribute->has_hierarchy || (!attribute->min_level && !attribute->has_max_level)) continue;
    if (masked) SHOAL_TRY(count_outside(p, q, &below, &above, error));
    if (attribute->min_level)
      SHOAL_TRY(add_level_rule(result, attribute, true, below, models, error));
    if (attribute->has_max_level)
      SHOAL_TRY(add_level_rule(result, attribute, false, above, models, error));
  }
  return SHOAL_OK;
}
