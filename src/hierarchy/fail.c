/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hierarchy/fail: refusals and their places. A hierarchy can be wrong in its own file (row), in
 * the policy (line), or against the data (data row): labels and values themselves are never shown.
 */
#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "hierarchy/builder.h"

enum { DETAIL_BYTES = 512 };

shoal_status shoal_builder_fail(const shoal_builder *builder, shoal_error *error,
                                const char *format, ...) {
  char detail[DETAIL_BYTES];
  va_list args;
  va_start(args, format);
  (void)vsnprintf(detail, sizeof detail, format, args);
  va_end(args);
  const shoal_place place = {.file = builder->options->policy,
                             .line = builder->spec->line,
                             .at = builder->spec->at,
                             .column = builder->attribute[0] ? builder->attribute : NULL};
  return shoal_fail_at(error, SHOAL_BAD_INPUT, &place, "%s", detail);
}

shoal_status shoal_path_fail(const shoal_builder *builder, uint64_t row, shoal_error *error,
                             const char *format, ...) {
  char detail[DETAIL_BYTES];
  va_list args;
  va_start(args, format);
  (void)vsnprintf(detail, sizeof detail, format, args);
  va_end(args);
  if (builder->spec->kind != SHOAL_HIERARCHY_FILE)
    return shoal_builder_fail(builder, error, "leaf %llu of the tree: %s", (unsigned long long)row,
                              detail);
  const shoal_place place = {.file = builder->spec->file, .row = row};
  return shoal_fail_at(error, SHOAL_BAD_INPUT, &place, "%s", detail);
}

shoal_status shoal_value_fail(const shoal_table *table, const shoal_column *column, uint32_t value,
                              shoal_error *error, const char *format, ...) {
  char detail[DETAIL_BYTES];
  va_list args;
  va_start(args, format);
  (void)vsnprintf(detail, sizeof detail, format, args);
  va_end(args);
  const shoal_place place = {.file = table ? table->name : NULL,
                             .row = shoal_value_row(column, value),
                             .column = column->name};
  return shoal_fail_at(error, SHOAL_BAD_INPUT, &place, "%s", detail);
}

/* ------------------------------------------------------------ a label with two parents */

/* How a row sees level `level` of the padded tree: "label of level 2", or "value". */
static void name_level(const shoal_builder *builder, const shoal_path *path, uint32_t level,
                       char *out, size_t capacity) {
  uint32_t padding = builder->height - path->n_labels;
  if (level <= padding) (void)snprintf(out, capacity, "value");
  else (void)snprintf(out, capacity, "label of level %u", level - padding);
}

/*
 * Two paths share a label of level `level` and not its parent. The pair is found again in the
 * file's order, so that the message does not depend on the data's.
 */
static shoal_status path_conflict(const shoal_builder *builder, const shoal_hierarchy *hierarchy,
                                  uint32_t level, shoal_error *error) {
  const shoal_path *paths = builder->paths.paths;
  const uint32_t *labels = hierarchy->levels[level].of_leaf;
  const uint32_t *parents = hierarchy->levels[level + 1].of_leaf;
  const shoal_path **firsts = shoal_alloc_zero(hierarchy->levels[level].n_labels, sizeof *firsts);
  if (!firsts) return shoal_fail_memory(error);
  const shoal_path *first = NULL, *second = NULL;
  for (size_t p = 0; p < builder->paths.n_paths && !second; p++) {
    first = firsts[labels[paths[p].leaf]];
    if (!first) firsts[labels[paths[p].leaf]] = &paths[p];
    else if (parents[first->leaf] != parents[paths[p].leaf]) second = &paths[p];
  }
  free(firsts);
  assert(second);
  char name[48];
  name_level(builder, second, level, name, sizeof name);
  return shoal_path_fail(builder, second->row, error,
                         "its %s has two parents: the level above differs from that of %s %llu; "
                         "every label has one parent: correct one, or rename the label",
                         name, builder->spec->kind == SHOAL_HIERARCHY_FILE ? "row" : "leaf",
                         (unsigned long long)first->row);
}

/* A missing value keeps its spelling, which is a label of `level` for another leaf too. */
static shoal_status missing_conflict(const shoal_builder *builder, uint32_t level, uint32_t leaf,
                                     shoal_error *error) {
  const char *advice = "a missing value is spelled like a label of level";
  if (builder->paths.of_leaf)
    return shoal_path_fail(builder, builder->paths.paths[builder->paths.of_leaf[leaf]].row, error,
                           "%s %u, which has another parent: rename the label, or give the "
                           "missing value a place of its own here",
                           advice, level);
  return shoal_builder_fail(builder, error,
                            "%s %u, which has another parent: take it out of data.missing, or "
                            "choose another hierarchy",
                            advice, level);
}

shoal_status shoal_conflict_fail(const shoal_builder *builder, const shoal_hierarchy *hierarchy,
                                 uint32_t level, uint32_t leaf, shoal_error *error) {
  const uint32_t *labels = hierarchy->levels[level].of_leaf;
  uint32_t first = 0;
  while (labels[first] != labels[leaf]) first++;
  if (shoal_leaf_is_bare(builder, first)) return missing_conflict(builder, level, leaf, error);
  if (shoal_leaf_is_bare(builder, leaf)) return missing_conflict(builder, level, first, error);
  if (builder->paths.of_leaf) return path_conflict(builder, hierarchy, level, error);
  return shoal_builder_fail(builder, error,
                            "a label of level %u has two parents on level %u (values of data rows "
                            "%llu and %llu): make each level a coarser form of the one before",
                            level, level + 1,
                            (unsigned long long)shoal_value_row(builder->column, first),
                            (unsigned long long)shoal_value_row(builder->column, leaf));
}
