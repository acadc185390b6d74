/* SPDX-License-Identifier: Apache-2.0 */
/* job/release_columns: the cells of a release's columns, by value or by label. */
#include "job/release_columns.h"

#include <stdlib.h>

#include "base/text.h"
#include "input/cells.h"
#include "job/pseudonyms.h"
#include "write/sink.h"

static bool reserve(shoal_csv_column *cells, uint32_t n_cells) {
  cells->offsets = shoal_alloc((size_t)n_cells + 1, sizeof *cells->offsets);
  return cells->offsets != NULL;
}

/* Adds a cell; `commas`: numbers of the release have decimal commas. */
static bool add_cell(shoal_csv_column *cells, const shoal_csv_plan *out, bool commas,
                     shoal_label label) {
  if (!commas) return shoal_csv_column_add(cells, out, label.bytes, label.size_bytes);
  shoal_text text;
  shoal_text_init(&text);
  shoal_text_add(&text, "");
  shoal_text_add_bytes(&text, label.bytes, label.size_bytes);
  if (!text.failed) shoal_swap_marks(text.bytes, text.size_bytes);
  bool ok = !text.failed && shoal_csv_column_add(cells, out, text.bytes, text.size_bytes);
  shoal_wipe_free(text.bytes, text.capacity);
  return ok;
}

bool shoal_release_fill_values(shoal_csv_column *cells, const shoal_csv_plan *out, bool commas) {
  if (!reserve(cells, cells->column->n_values)) return false;
  for (uint32_t v = 0; v < cells->column->n_values; v++) {
    shoal_label value;
    value.bytes = shoal_column_value(cells->column, v, &value.size_bytes);
    if (!add_cell(cells, out, commas, value)) return false;
  }
  return true;
}

/* Cells of a quasi-identifier: one for each value, or one for each label if the group chooses. */
static bool fill_generalized(const shoal_column_labels *labels, shoal_csv_column *cells,
                             const shoal_csv_plan *out, bool commas) {
  bool by_group = labels->label_of_group != NULL;
  uint32_t n = by_group ? labels->n_labels : cells->column->n_values;
  cells->cell_of_group = labels->label_of_group;
  cells->code_of_group = labels->code_of_group;
  cells->suppressed_cells = labels->suppressed;
  if (!reserve(cells, n)) return false;
  for (uint32_t i = 0; i < n; i++) {
    shoal_label label = shoal_column_label(labels, by_group ? i : labels->label_of_code[i]);
    if (!add_cell(cells, out, commas, label)) return false;
  }
  return true;
}

/* `q`: its number among the quasi-identifiers, if it is one. */
static shoal_status fill_column(const shoal_release *release, size_t q, bool styled,
                                shoal_csv_column *cells, const shoal_csv_plan *out,
                                shoal_error *error) {
  const shoal_context *p = &release->context;
  size_t c = (size_t)(cells->column - out->table->columns);
  bool commas = styled && shoal_cells_have_commas(p->policy, &p->attributes[c]);
  if (p->roles[c] == SHOAL_ROLE_PSEUDONYM) {
    /* Cells of an identifier: its pseudonyms, which the verifier gets too. */
    const shoal_policy *policy = p->policy;
    const shoal_attribute *attribute = &p->attributes[c];
    shoal_strings *made = &cells->replaced;
    SHOAL_TRY(shoal_pseudonyms_make(policy, attribute, cells->column, made, error));
    bool ok = reserve(cells, made->n_strings);
    for (uint32_t v = 0; ok && v < made->n_strings; v++)
      ok = add_cell(cells, out, false, shoal_strings_get(made, v));
    return ok ? SHOAL_OK : shoal_fail_memory(error);
  }
  bool ok = cells->generalized ? fill_generalized(&release->decision.columns[q], cells, out, commas)
            : !cells->column->code_size ? reserve(cells, 0) /* it comes from the file itself */
                                        : shoal_release_fill_values(cells, out, commas);
  return ok ? SHOAL_OK : shoal_fail_memory(error);
}

/* The caller kept the cells to itself (shoal_table_from_arrow). */
static shoal_status fail_outside(const shoal_table *table, size_t c, shoal_error *error) {
  return shoal_fail_at(error, SHOAL_BAD_INPUT,
                       &(shoal_location){.file = table->name, .column = table->columns[c].name},
                       "is kept and was not copied from the Arrow stream: take its cells by the "
                       "row numbers of the release");
}

shoal_status shoal_release_columns_make(const shoal_release *release, bool styled, bool kept,
                                        shoal_csv_plan *out, shoal_error *error) {
  const shoal_context *p = &release->context;
  const shoal_table *table = out->table;
  out->columns = shoal_alloc_zero(table->n_columns, sizeof *out->columns);
  if (!out->columns) return shoal_fail_memory(error);
  for (size_t c = 0; c < table->n_columns; c++) {
    if (shoal_role_is_removed(p->roles[c])) continue;
    if (!kept && p->roles[c] == SHOAL_ROLE_KEEP) continue;
    if (table->columns[c].is_outside) return fail_outside(table, c, error);
    shoal_csv_column *cells = &out->columns[out->n_columns++];
    cells->column = &table->columns[c];
    cells->generalized = p->roles[c] == SHOAL_ROLE_QUASI;
  }
  size_t q = 0;
  for (size_t i = 0; i < out->n_columns; i++) {
    SHOAL_TRY(fill_column(release, q, styled, &out->columns[i], out, error));
    q += out->columns[i].generalized;
  }
  return SHOAL_OK;
}

void shoal_release_columns_reset(shoal_csv_plan *out) {
  for (size_t c = 0; out->columns && c < out->n_columns; c++)
    shoal_csv_column_reset(&out->columns[c]);
  free(out->columns);
}

shoal_status shoal_table_write_csv(const shoal_table *table, char delimiter, int fd,
                                   const shoal_run *run, uint64_t *n_rows, shoal_error *error) {
  static const uint8_t keep[] = {SHOAL_ROW_KEEP};
  uint32_t *group_of_row = shoal_alloc_zero((size_t)table->n_rows, sizeof *group_of_row);
  shoal_csv_plan plan = {.table = table,
                         .delimiter = delimiter,
                         .columns = shoal_alloc_zero(table->n_columns, sizeof *plan.columns),
                         .n_columns = table->n_columns,
                         .group_of_row = group_of_row,
                         .action = keep};
  shoal_sink *sink = NULL;
  bool ok = group_of_row && plan.columns;
  for (size_t c = 0; ok && c < table->n_columns; c++) {
    plan.columns[c].column = &table->columns[c];
    ok = shoal_release_fill_values(&plan.columns[c], &plan, false);
  }
  shoal_status status = ok ? SHOAL_OK : shoal_fail_memory(error);
  if (status == SHOAL_OK) status = shoal_sink_open(fd, "the release", &sink, error);
  if (status == SHOAL_OK) status = shoal_csv_write(&plan, sink, NULL, run, n_rows, error);
  if (sink) shoal_sink_free(sink);
  if (!plan.columns) plan.n_columns = 0;
  shoal_release_columns_reset(&plan);
  free(group_of_row);
  return status;
}
