/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decide/rules_report: mandatory rules of a policy, judged on the cells of a table. A column with
 * top-code 90 may show no number from 90 on, and no interval that ends or begins above it.
 */
#include <stdlib.h>

#include "decide/models_report.h"
#include "measure/label_syntax.h"
#include "table/fold.h"

size_t shoal_count_rules(const shoal_context *p) {
  size_t n = 0;
  for (size_t c = 0; c < p->table->n_columns; c++)
    if (p->table->columns[c].code_size)
      n += p->table->columns[c].coding.has_top + p->table->columns[c].coding.has_bottom;
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

shoal_status shoal_result_rules(shoal_result *result, const shoal_context *p,
                                shoal_model_outcomes *models, shoal_error *error) {
  for (size_t c = 0; c < p->table->n_columns; c++) {
    const shoal_column *column = &p->table->columns[c];
    if (!column->code_size) continue;
    if (column->coding.has_top)
      SHOAL_TRY(judge_code(result, p->table, column, true, models, error));
    if (column->coding.has_bottom)
      SHOAL_TRY(judge_code(result, p->table, column, false, models, error));
  }
  return SHOAL_OK;
}
