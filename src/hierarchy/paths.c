/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hierarchy/paths: values with their labels up to the top, as FILE and TREE give them, matched
 * with the column's values. Leaves are numbered by interning: the column's values come first, by
 * their codes, so that a path's value either finds its code or becomes a leaf behind them.
 *
 * Unequal heights, a second top and a value with two parents are refused in the order of the file;
 * two parents of a label further up are found by the compiler.
 */
#include <stdio.h>

#include "base/hash.h"
#include "hierarchy/builder.h"

static const char *row_word(const shoal_builder *builder) {
  return builder->spec->kind == SHOAL_HIERARCHY_FILE ? "row" : "leaf";
}

static const shoal_label *labels_of(const shoal_paths *paths, const shoal_path *path) {
  return paths->labels + path->begin;
}

/* The path must end in the first one's top and, unless ragged, be as long as that one. */
static shoal_status check_against_first(const shoal_builder *builder, const shoal_label *labels,
                                        uint32_t n_labels, uint64_t row, shoal_error *error) {
  const shoal_paths *paths = &builder->paths;
  if (paths->n_paths == 0) return SHOAL_OK;
  const shoal_path *first = &paths->paths[0];
  if (!builder->options->ragged && n_labels != first->n_labels)
    return shoal_path_fail(builder, row, error,
                           "has %u level%s above its value where %s %llu has %u: all need equal "
                           "heights here; repeat a label to fill a level",
                           n_labels, n_labels == 1 ? "" : "s", row_word(builder),
                           (unsigned long long)first->row, first->n_labels);
  if (!shoal_label_equal(labels[n_labels - 1], labels_of(paths, first)[first->n_labels - 1]))
    return shoal_path_fail(builder, row, error,
                           "its top (level %u) is not that of %s %llu: the last level has a single "
                           "label for all values; correct it, and give no header row",
                           n_labels, row_word(builder), (unsigned long long)first->row);
  return SHOAL_OK;
}

/* The leaf of a value; new leaves start without a path. SHOAL_NO_ID: no memory. */
static uint32_t leaf_of(shoal_builder *builder, shoal_label value) {
  shoal_paths *paths = &builder->paths;
  uint32_t leaf = shoal_strings_intern(&builder->leaves, value);
  uint32_t n_leaves = builder->leaves.n_strings;
  if (leaf == SHOAL_NO_ID ||
      !shoal_grow(&paths->of_leaf, &paths->of_leaf_capacity, n_leaves, sizeof *paths->of_leaf))
    return SHOAL_NO_ID;
  while (paths->n_leaves < n_leaves) paths->of_leaf[paths->n_leaves++] = SHOAL_NO_PATH;
  return leaf;
}

/* A value that has a path already: the same labels again are fine. */
static shoal_status check_repeated(const shoal_builder *builder, const shoal_path *before,
                                   const shoal_label *labels, uint32_t n_labels, uint64_t row,
                                   shoal_error *error) {
  const shoal_label *known = labels_of(&builder->paths, before);
  bool same = n_labels == before->n_labels;
  for (uint32_t l = 0; same && l < n_labels; l++) same = shoal_label_equal(labels[l], known[l]);
  if (same) return SHOAL_OK;
  return shoal_path_fail(builder, row, error,
                         "its value has two parents: it stands in %s %llu too, with other labels; "
                         "take one of them out",
                         row_word(builder), (unsigned long long)before->row);
}

shoal_status shoal_paths_add(shoal_builder *builder, shoal_label value, const shoal_label *labels,
                             uint32_t n_labels, uint64_t row, shoal_error *error) {
  shoal_paths *paths = &builder->paths;
  SHOAL_TRY(check_against_first(builder, labels, n_labels, row, error));
  uint32_t leaf = leaf_of(builder, value);
  if (leaf == SHOAL_NO_ID) return shoal_fail_memory(error);
  if (paths->of_leaf[leaf] != SHOAL_NO_PATH)
    return check_repeated(builder, &paths->paths[paths->of_leaf[leaf]], labels, n_labels, row,
                          error);
  if (!shoal_grow(&paths->paths, &paths->paths_capacity, paths->n_paths + 1,
                  sizeof *paths->paths) ||
      !shoal_grow(&paths->labels, &paths->labels_capacity, paths->n_labels + n_labels,
                  sizeof *paths->labels))
    return shoal_fail_memory(error);
  paths->of_leaf[leaf] = (uint32_t)paths->n_paths;
  paths->paths[paths->n_paths++] =
      (shoal_path){.begin = paths->n_labels, .n_labels = n_labels, .leaf = leaf, .row = row};
  for (uint32_t l = 0; l < n_labels; l++) paths->labels[paths->n_labels++] = labels[l];
  if (n_labels > builder->height) builder->height = n_labels;
  return SHOAL_OK;
}

static shoal_status fail_lacking(const shoal_builder *builder, uint32_t n_lacking, uint32_t first,
                                 shoal_error *error) {
  bool file = builder->spec->kind == SHOAL_HIERARCHY_FILE;
  const char *which = builder->attribute;
  uint64_t row = shoal_value_row(builder->column, first);
  char where[64] = "";
  if (row)
    (void)snprintf(where, sizeof where, ", the first in data row %llu", (unsigned long long)row);
  const char *each = n_lacking == 1 ? "it" : "each";
  const char *plural = n_lacking == 1 ? "" : "s";
  shoal_status status;
  if (file)
    status = shoal_fail(
        error, SHOAL_BAD_INPUT,
        "hierarchy %s lacks %u value%s of column '%s'%s: add a row for %s, or list it under "
        "data.missing",
        builder->spec->file, n_lacking, plural, which, where, each);
  else
    status = shoal_builder_fail(builder, error,
                                "the hierarchy's tree lacks %u value%s%s: add %s, or list it under "
                                "data.missing",
                                n_lacking, plural, where, each);
  if (error) {
    error->row = row;
    (void)snprintf(error->column, sizeof error->column, "%s", which);
  }
  return status;
}

static shoal_status check_covers(const shoal_builder *builder, shoal_error *error) {
  const shoal_column *column = builder->column;
  uint32_t n_lacking = 0, first = 0;
  for (uint32_t v = 0; column && v < column->n_values; v++) {
    if (builder->paths.of_leaf[v] != SHOAL_NO_PATH || shoal_column_missing(column, v)) continue;
    if (n_lacking++ == 0) first = v;
  }
  return n_lacking ? fail_lacking(builder, n_lacking, first, error) : SHOAL_OK;
}

/* Ragged trees are padded at the bottom: there the leaf repeats. */
static shoal_label path_label(const shoal_builder *builder, uint32_t leaf, uint32_t level,
                              char *scratch) {
  (void)scratch;
  const shoal_path *path = &builder->paths.paths[builder->paths.of_leaf[leaf]];
  uint32_t padding = builder->height - path->n_labels;
  if (level <= padding) return shoal_strings_get(&builder->leaves, leaf);
  return labels_of(&builder->paths, path)[level - padding - 1];
}

shoal_status shoal_paths_finish(shoal_builder *builder, shoal_error *error) {
  const shoal_path *first = &builder->paths.paths[0];
  SHOAL_TRY(check_covers(builder, error));
  builder->top = labels_of(&builder->paths, first)[first->n_labels - 1];
  builder->label = path_label;
  return SHOAL_OK;
}
