/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job/warn: see warn.h. Warnings name columns, levels and counts, never a value.
 */
#include "job/warn.h"

#include <stdlib.h>
#include <string.h>

#include "base/formula.h"
#include "base/text.h"

/* ------------------------------------------------------------ labels */

/* Labels that people wrote; built kinds make a label of every value, alone or not. */
static bool is_written(const shoal_attribute *attribute) {
  return attribute->has_hierarchy && (attribute->hierarchy.kind == SHOAL_HIERARCHY_FILE ||
                                      attribute->hierarchy.kind == SHOAL_HIERARCHY_TREE);
}

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

shoal_status shoal_release_warn_of_labels(shoal_release *release, shoal_error *error) {
  const shoal_prepared *p = &release->prepared;
  for (size_t q = 0; q < p->n_quasi; q++) {
    const shoal_hierarchy *hierarchy = p->hierarchies[q];
    uint32_t level = release->levels[q], n_single;
    bool between = level > 0 && level < shoal_hierarchy_height(hierarchy);
    if (!between || !is_written(p->quasi_attributes[q])) continue;
    if (!count_single(p->quasi[q], &hierarchy->levels[level], &n_single))
      return shoal_fail_memory(error);
    if (!n_single) continue;
    SHOAL_TRY(shoal_result_warn(release->result, error,
                                "'%s' is released at level %u of its hierarchy, where %u label%s "
                                "for one value of the data only and so hide%s nothing",
                                p->quasi[q]->name, level, n_single,
                                n_single == 1 ? " stands" : "s stand", n_single == 1 ? "s" : ""));
  }
  return SHOAL_OK;
}

/* ------------------------------------------------------------ formulas */

enum { MOST_NAMED = 8 }; /* columns that a warning names */

shoal_status shoal_release_warn_of_formulas(shoal_release *release, const shoal_csv_out *out,
                                            const uint8_t *marks, shoal_error *error) {
  shoal_text list;
  shoal_text_init(&list);
  size_t n = 0;
  for (size_t c = 0; c < out->n_columns; c++) {
    const char *name = out->columns[c].column->name;
    if (!marks[c] && !shoal_is_formula(name, strlen(name))) continue;
    if (n++ < MOST_NAMED) shoal_text_print(&list, "%s'%.40s'", n > 1 ? ", " : "", name);
  }
  if (n > MOST_NAMED) shoal_text_print(&list, " and %zu more", n - MOST_NAMED);
  shoal_status status = list.failed ? shoal_fail_memory(error) : SHOAL_OK;
  if (n && status == SHOAL_OK)
    status = shoal_result_warn(release->result, error,
                               "column%s %s %s cells that a spreadsheet would run as formulas; "
                               "'--formulas quote' puts an apostrophe before them",
                               n == 1 ? "" : "s", list.bytes, n == 1 ? "has" : "have");
  shoal_text_reset(&list);
  return status;
}

shoal_status shoal_release_check_names(const shoal_release *release, const shoal_csv_out *out,
                                       shoal_error *error) {
  for (size_t c = 0; out->quote_formulas && c < out->n_columns; c++) {
    const char *name = out->columns[c].column->name;
    shoal_place place = {.file = release->prepared.table->name};
    if (shoal_is_formula(name, strlen(name)))
      return shoal_fail_at(error, SHOAL_BAD_INPUT, &place,
                           "the name of column '%.100s' is itself one that a spreadsheet would "
                           "run: rename it, drop it, or use 'formulas: keep'",
                           name);
  }
  return SHOAL_OK;
}
