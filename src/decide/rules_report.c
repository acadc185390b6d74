/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decide/rules_report: mandatory rules of a policy, judged on the cells of a table. A column with
 * top-code 90 may show no number from 90 on, and no interval that ends or begins above it. A column
 * with rare 20 may show no value that fewer than 20 rows of the original can have had: those whose
 * labels cover it, and those that the policy allows to be suppressed.
 */
#include <stdlib.h>

#include "decide/models_report.h"
#include "measure/domain.h"
#include "measure/label_syntax.h"
#include "table/fold.h"

size_t shoal_count_rules(const shoal_context *p) {
  size_t n = 0;
  for (size_t c = 0; c < p->table->n_columns; c++) {
    const shoal_coding *coding = &p->table->columns[c].coding;
    if (p->table->columns[c].code_size)
      n += (size_t)coding->has_top + coding->has_bottom + (coding->rare > 0);
  }
  for (size_t q = 0; q < p->n_quasi; q++)
    n += (size_t)(p->quasi_attributes[q]->min_level > 0) + p->quasi_attributes[q]->has_max_level;
  return n;
}

/* Does the end tell apart two numbers that are under the code? */
static bool tells(bool has, shoal_decimal end, bool open, shoal_decimal code, bool top) {
  int order = shoal_decimal_compare(end, code);
  if (!has) return false;
  return top ? order > 0 || (order == 0 && open) : order < 0 || (order == 0 && open);
}

/* Does it end among the numbers under the code? */
static bool ends_under(bool has, shoal_decimal end, bool open, shoal_decimal code, bool top) {
  int order = shoal_decimal_compare(end, code);
  if (!has) return false;
  return top ? order > 0 || (order == 0 && !open) : order < 0 || (order == 0 && !open);
}

/* Does the cell show more of the numbers under the code than that they are under it? */
static bool shows_more(const shoal_column *column, uint32_t value, bool top) {
  size_t size_bytes;
  const char *bytes = shoal_column_value(column, value, &size_bytes);
  if (shoal_column_missing(column, value)) return false;
  shoal_spelling spelling = shoal_label_parse(bytes, size_bytes);
  if (spelling.form != SHOAL_FORM_NUMBER && spelling.form != SHOAL_FORM_INTERVAL) return false;
  const shoal_range *r = &spelling.range;
  if (top)
    return ends_under(r->has_high, r->high, r->high_open, column->coding.top, true) ||
           tells(r->has_low, r->low, r->low_open, column->coding.top, true);
  return ends_under(r->has_low, r->low, r->low_open, column->coding.bottom, false) ||
         tells(r->has_high, r->high, r->high_open, column->coding.bottom, false);
}

static shoal_status judge_code(shoal_result *result, const shoal_table *table,
                               const shoal_column *column, bool top, shoal_model_outcomes *models,
                               shoal_error *error) {
  uint64_t *rows = shoal_column_rows(table, column);
  if (!rows) return shoal_fail_memory(error);
  shoal_model_outcome *outcome = &models->items[models->n_items++];
  *outcome = (shoal_model_outcome){
      .model = top ? "top-code" : "bottom-code",
      .summary =
          top ? "no cell shows a number from this one on" : "no cell shows a number up to this one",
      .required = shoal_decimal_double(top ? column->coding.top : column->coding.bottom),
      .is_rule = true,
      .at_most = top,
      .breaking_rows = top ? column->n_top_coded : column->n_bottom_coded};
  outcome->reached = outcome->required;
  for (uint32_t v = 0; v < column->n_values; v++)
    if (shows_more(column, v, top)) outcome->breaking_rows += rows[v];
  free(rows);
  outcome->holds = outcome->breaking_rows == 0;
  result->holds = result->holds && outcome->holds;
  return shoal_result_copy(result, column->name, &outcome->attribute, error);
}

/* ------------------------------------------------------------ rare values */

/* The most rows that can be missing from a release of n rows: s <= share x (n + s). */
static uint64_t most_suppressed(shoal_amount amount, uint64_t n) {
  unsigned __int128 part = (unsigned __int128)amount.number.mantissa,
                    whole = (unsigned __int128)100 * shoal_power_of_ten(amount.number.scale);
  if (!amount.percent) return (uint64_t)amount.number.mantissa;
  if (part >= whole) return UINT64_MAX;
  unsigned __int128 most = part * n / (whole - part);
  return most < UINT64_MAX ? (uint64_t)most : UINT64_MAX;
}

/* Does the label name the value at `position`? */
static bool names(const shoal_domain *domain, const shoal_label_span *span, uint32_t position) {
  if (span->everything || span->missing || domain->position_missing[position]) return false;
  if (span->set) return true;
  return !shoal_domain_is_general(domain, span);
}

/* By position: the rows whose labels cover it. NULL: no memory. */
static uint64_t *cover_rows(const shoal_domain *domain, const uint64_t *rows, uint32_t n_values) {
  uint64_t *covered = shoal_alloc_zero(domain->n_positions, sizeof *covered);
  for (uint32_t v = 0; covered && v < n_values; v++) {
    const shoal_label_span *span = shoal_domain_span(domain, 0, v);
    for (uint32_t at = span->lo; span->lo <= span->hi && at <= span->hi; at++)
      if (shoal_domain_holds(domain, span, at)) covered[at] += rows[v];
  }
  return covered;
}

/* Is "(rare)" at this position? */
static bool is_collected(const shoal_domain *domain, uint32_t position) {
  uint32_t leaf = domain->leaf_at[position];
  return leaf < domain->values.n_values && shoal_column_is_bare(&domain->values, leaf);
}

/* Rows whose labels name a value that fewer rows than `least` can have. */
static uint64_t count_rare(const shoal_domain *domain, const uint64_t *rows,
                           const uint64_t *covered, uint32_t n_values, uint64_t least) {
  uint64_t n = 0;
  for (uint32_t v = 0; v < n_values; v++) {
    const shoal_label_span *span = shoal_domain_span(domain, 0, v);
    bool rare = false;
    for (uint32_t at = span->lo; !rare && span->lo <= span->hi && at <= span->hi; at++)
      rare = covered[at] < least && shoal_domain_holds(domain, span, at) &&
             names(domain, span, at) && !is_collected(domain, at);
    if (rare) n += rows[v];
  }
  return n;
}

static shoal_status judge_rare(shoal_result *result, const shoal_context *p,
                               const shoal_column *column, shoal_model_outcomes *models,
                               shoal_error *error) {
  shoal_source_column released = {p->table, column};
  shoal_domain_request request = {.policy = p->policy,
                                  .attribute = shoal_policy_attribute(p->policy, column->name),
                                  .released = &released,
                                  .n_released = 1};
  uint64_t allowed = most_suppressed(p->policy->max_suppression, p->table->n_records);
  uint64_t least = column->coding.rare > allowed ? column->coding.rare - allowed : 0;
  shoal_domain domain;
  SHOAL_TRY(shoal_domain_init(&domain, &request, error));
  shoal_model_outcome *outcome = &models->items[models->n_items++];
  *outcome = (shoal_model_outcome){.model = "rare",
                                   .summary = "no value is shown that fewer rows can have had",
                                   .required = (double)column->coding.rare,
                                   .reached = (double)column->coding.rare,
                                   .is_rule = true};
  uint64_t *rows = shoal_column_rows(p->table, column);
  uint64_t *covered = rows ? cover_rows(&domain, rows, column->n_values) : NULL;
  if (covered) outcome->breaking_rows = count_rare(&domain, rows, covered, column->n_values, least);
  shoal_status status = covered ? SHOAL_OK : shoal_fail_memory(error);
  free(covered);
  free(rows);
  shoal_domain_reset(&domain);
  SHOAL_TRY(status);
  outcome->holds = outcome->breaking_rows == 0;
  result->holds = result->holds && outcome->holds;
  return shoal_result_copy(result, column->name, &outcome->attribute, error);
}

shoal_status shoal_result_rules(shoal_result *result, const shoal_context *p,
                                shoal_model_outcomes *models, shoal_error *error) {
  for (size_t c = 0; c < p->table->n_columns; c++) {
    const shoal_column *column = &p->table->columns[c];
    if (!column->code_size) continue;
    if (column->coding.has_top)
      SHOAL_TRY(judge_code(result, p->table, column, true, models, error));
    if (column->coding.has_bottom)
      SHOAL_TRY(judge_code(result, p->table, column, false, models, error));
    if (column->coding.rare) SHOAL_TRY(judge_rare(result, p, column, models, error));
  }
  return SHOAL_OK;
}
