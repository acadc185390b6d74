/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hierarchy/paths: the kinds "file", "levels" and "tree". They give paths: a value and its labels
 * up to the top. Leaves are numbered by interning. The column's values come first, by code; a
 * path's value either is one of them or becomes a new leaf.
 *
 * Unequal heights, a second top and a value with two parents are reported in the order of the file;
 * compile.c finds labels with two parents.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "hierarchy/builder.h"
#include "read/csv.h"
#include "read/source.h"
#include "table/bad_cells.h"

/* Are paths given as rows, which begin with the value? */
static bool has_rows(const shoal_builder *builder) {
  return builder->spec->kind != SHOAL_HIERARCHY_TREE;
}

const char *shoal_path_word(const shoal_builder *builder) {
  return has_rows(builder) ? "row" : "leaf";
}

static const shoal_label *labels_of(const shoal_paths *paths, const shoal_path *path) {
  return paths->labels + path->begin;
}

/* The path must have the top of the first one and, unless ragged, its length. */
static shoal_status check_against_first(const shoal_builder *builder, const shoal_label *labels,
                                        uint32_t n_labels, uint64_t row, shoal_error *error) {
  const shoal_paths *paths = &builder->paths;
  if (paths->n_paths == 0) return SHOAL_OK;
  const shoal_path *first = &paths->paths[0];
  bool rows = has_rows(builder);
  if (!builder->options->ragged && n_labels != first->n_labels)
    return shoal_path_fail(builder, row, error,
                           "has %u %s%s, %s %llu has %u; every %s needs as many levels: repeat a "
                           "label",
                           n_labels + rows, rows ? "cell" : "label",
                           n_labels + rows == 1 ? "" : "s", shoal_path_word(builder),
                           (unsigned long long)first->row, first->n_labels + rows,
                           shoal_path_word(builder));
  if (!shoal_label_equal(labels[n_labels - 1], labels_of(paths, first)[first->n_labels - 1]))
    return shoal_path_fail(
        builder, row, error,
        "its last %s differs from that of %s %llu; the top must be the same label "
        "in all %ss, for example '*', and a header row is not allowed",
        rows ? "column" : "label", shoal_path_word(builder), (unsigned long long)first->row,
        rows ? "row" : "path");
  return SHOAL_OK;
}

/* The leaf of a value, a new one without a path if needed. SHOAL_NONE: no memory. */
static uint32_t leaf_of(shoal_builder *builder, shoal_label value) {
  shoal_paths *paths = &builder->paths;
  uint32_t leaf = shoal_strings_intern(&builder->leaves, value);
  uint32_t n_leaves = builder->leaves.n_strings;
  if (leaf == SHOAL_NONE ||
      !shoal_grow(&paths->of_leaf, &paths->of_leaf_capacity, n_leaves, sizeof *paths->of_leaf))
    return SHOAL_NONE;
  while (paths->n_leaves < n_leaves) paths->of_leaf[paths->n_leaves++] = SHOAL_NONE;
  return leaf;
}

/*
 * Adds a path; borrows the bytes of `value` and `labels`, and respells them. Fails on unequal
 * heights (unless ragged), a second top, and a value with other labels already.
 */
static shoal_status add_path(shoal_builder *builder, shoal_label value, shoal_label *labels,
                             uint32_t n_labels, uint64_t row, shoal_error *error) {
  shoal_paths *paths = &builder->paths;
  bool spelled = shoal_builder_respell(builder, &value);
  for (uint32_t l = 0; spelled && l < n_labels; l++)
    spelled = shoal_builder_respell(builder, &labels[l]);
  if (!spelled) return shoal_fail_memory(error);
  SHOAL_TRY(check_against_first(builder, labels, n_labels, row, error));
  uint32_t leaf = leaf_of(builder, value);
  if (leaf == SHOAL_NONE) return shoal_fail_memory(error);
  if (paths->of_leaf[leaf] != SHOAL_NONE) {
    /* A value that has a path already may only repeat its labels. */
    const shoal_path *before = &paths->paths[paths->of_leaf[leaf]];
    const shoal_label *known = labels_of(&builder->paths, before);
    bool same = n_labels == before->n_labels;
    for (uint32_t l = 0; same && l < n_labels; l++) same = shoal_label_equal(labels[l], known[l]);
    if (same) return SHOAL_OK;
    return shoal_path_fail(
        builder, row, error,
        "its value has two parents: %s %llu has other labels; delete one of the two",
        shoal_path_word(builder), (unsigned long long)before->row);
  }
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

/* `bad` marks the values that the hierarchy lacks. */
static shoal_status fail_lacking(const shoal_builder *builder, uint32_t n_lacking,
                                 const uint8_t *bad, shoal_error *error) {
  bool file = builder->spec->kind == SHOAL_HIERARCHY_FILE;
  const char *which = builder->attribute;
  shoal_bad_cells found;
  shoal_bad_cells_find(&found, builder->table, builder->column, bad);
  char where[400] = "";
  if (found.n > 1 && found.first_row)
    (void)snprintf(where, sizeof where, " (first: data row %llu; %llu cells: %s)",
                   (unsigned long long)found.first_row, (unsigned long long)found.n, found.rows);
  else if (found.first_row)
    (void)snprintf(where, sizeof where, " (first: data row %llu)",
                   (unsigned long long)found.first_row);
  const char *each = n_lacking == 1 ? "it" : "each";
  const char *plural = n_lacking == 1 ? "" : "s";
  shoal_status status;
  if (file)
    status = shoal_fail(
        error, SHOAL_BAD_INPUT,
        "hierarchy %s has no row for %u value%s of column '%s'%s; add a row for %s, or list it "
        "under data.missing only if it means unknown",
        builder->spec->file, n_lacking, plural, which, where, each);
  else
    status = shoal_builder_fail(builder, error,
                                "the hierarchy's %s lacks %u value%s of the column%s; add %s, or "
                                "list it under data.missing only if it means unknown",
                                has_rows(builder) ? "list of levels" : "tree", n_lacking, plural,
                                where, each);
  if (error) {
    error->row = found.first_row;
    (void)snprintf(error->column, sizeof error->column, "%s", which);
  }
  return status;
}

static shoal_status check_covers(const shoal_builder *builder, shoal_error *error) {
  const shoal_column *column = builder->column;
  if (!column) return SHOAL_OK;
  uint8_t *bad = shoal_alloc_zero(column->n_values, sizeof *bad);
  if (!bad) return shoal_fail_memory(error);
  uint32_t n_lacking = 0;
  for (uint32_t v = 0; v < column->n_values; v++) {
    bad[v] = builder->paths.of_leaf[v] == SHOAL_NONE && !shoal_column_is_bare(column, v);
    n_lacking += bad[v];
  }
  shoal_status status = n_lacking ? fail_lacking(builder, n_lacking, bad, error) : SHOAL_OK;
  free(bad);
  return status;
}

/* Ragged trees are padded at the bottom: the leaf repeats. */
static shoal_label path_label(const shoal_builder *builder, uint32_t leaf, uint32_t level,
                              char *scratch) {
  (void)scratch;
  const shoal_path *path = &builder->paths.paths[builder->paths.of_leaf[leaf]];
  uint32_t padding = builder->height - path->n_labels;
  if (level <= padding) return shoal_strings_get(&builder->leaves, leaf);
  return labels_of(&builder->paths, path)[level - padding - 1];
}

/* After the last path: fails if a value of the column has none; sets top and label. */
static shoal_status finish_paths(shoal_builder *builder, shoal_error *error) {
  const shoal_path *first = &builder->paths.paths[0];
  SHOAL_TRY(check_covers(builder, error));
  builder->top = labels_of(&builder->paths, first)[first->n_labels - 1];
  builder->label = path_label;
  return SHOAL_OK;
}

/* ------------------------------------------------------------ kind "file" */

/*
 * Rows value;level1;...;top of a CSV file without header. Empty cells at the end of a row are
 * dropped (spreadsheets write them behind shorter rows), and so are rows of empty cells.
 */

/* shoal_cells has 32-bit offsets. */
static const size_t max_bytes = UINT32_MAX - 128;

/* The cells of a row, value first, without empty ones at its end. */
static shoal_status take_row(const shoal_cells *cells, size_t row, shoal_label **labels,
                             size_t *capacity, size_t *n_labels, shoal_error *error) {
  size_t begin = row ? cells->row_end[row - 1] : 0;
  size_t end = cells->row_end[row];
  while (end > begin && cells->begin[end - 1] == cells->end[end - 1]) end--;
  *n_labels = end - begin;
  if (!shoal_grow(labels, capacity, *n_labels, sizeof **labels)) return shoal_fail_memory(error);
  for (size_t i = 0; i < *n_labels; i++) {
    uint32_t from = cells->begin[begin + i];
    (*labels)[i] = (shoal_label){cells->bytes + from, cells->end[begin + i] - from};
  }
  return SHOAL_OK;
}

/* Adds the path of a row of n labels, the value first. */
static shoal_status add_row(shoal_builder *builder, shoal_label *labels, size_t n, uint64_t row,
                            shoal_error *error) {
  if (n == 1)
    return shoal_path_fail(builder, row, error, "has one column and no top: each row is %s",
                           builder->spec->kind == SHOAL_HIERARCHY_FILE
                               ? "value;level1;...;top, separated by ; or , or tab"
                               : "[value, level1, ..., top]");
  if (n - 1 > SHOAL_MAX_LEVELS)
    return shoal_path_fail(builder, row, error, "has %zu levels; at most %d are allowed", n - 1,
                           SHOAL_MAX_LEVELS);
  return add_path(builder, labels[0], labels + 1, (uint32_t)(n - 1), row, error);
}

static shoal_status add_rows(shoal_builder *builder, const shoal_cells *cells, shoal_error *error) {
  shoal_label *labels = NULL;
  size_t capacity = 0;
  shoal_status status = SHOAL_OK;
  for (size_t row = 0; row < cells->n_rows && status == SHOAL_OK; row++) {
    size_t n;
    status = take_row(cells, row, &labels, &capacity, &n, error);
    if (status == SHOAL_OK && n) status = add_row(builder, labels, n, row + 1, error);
  }
  free(labels);
  return status;
}

static shoal_status read_rows(shoal_builder *builder, char *bytes, size_t size_bytes,
                              shoal_error *error) {
  shoal_cells cells;
  shoal_cells_init(&cells);
  char delimiter = shoal_csv_side_delimiter(bytes, size_bytes);
  shoal_csv_problem problem = shoal_csv_split(bytes, size_bytes, delimiter, 0, &cells);
  shoal_status status;
  if (problem.fault == SHOAL_CSV_MEMORY) {
    status = shoal_fail_memory(error);
  } else if (problem.fault != SHOAL_CSV_OK) {
    char detail[256];
    shoal_csv_explain(problem, 0, detail, sizeof detail);
    status = shoal_path_fail(builder, problem.row + 1, error, "%s", detail);
  } else {
    status = add_rows(builder, &cells, error);
  }
  shoal_cells_reset(&cells);
  return status;
}

shoal_status shoal_file_start(shoal_builder *builder, shoal_error *error) {
  char *bytes;
  size_t size_bytes;
  SHOAL_TRY(shoal_source_slurp_text(builder->spec->file, max_bytes, &bytes, &size_bytes, error));
  builder->owned = bytes; /* labels point into it */
  if (size_bytes >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0) {
    bytes += 3;
    size_bytes -= 3;
  }
  SHOAL_TRY(read_rows(builder, bytes, size_bytes, error));
  if (builder->paths.n_paths == 0)
    return shoal_path_fail(builder, 0, error, "is empty: give it rows value;level1;...;top");
  return finish_paths(builder, error);
}

/* ------------------------------------------------------------ kind "levels" */

shoal_status shoal_levels_start(shoal_builder *builder, shoal_error *error) {
  const shoal_hierarchy_spec *spec = builder->spec;
  shoal_label labels[SHOAL_MAX_LEVELS + 1];
  for (size_t r = 0; r < spec->n_rows; r++) {
    const shoal_level_row *row = &spec->rows[r];
    for (size_t i = 0; i < row->n_labels && i <= SHOAL_MAX_LEVELS; i++)
      labels[i] = (shoal_label){row->labels[i], strlen(row->labels[i])};
    SHOAL_TRY(add_row(builder, labels, row->n_labels, r + 1, error));
  }
  return finish_paths(builder, error);
}

/* ------------------------------------------------------------ kind "tree" */

/* The labels from the root to the current node, and the leaves so far. */
typedef struct tree_walk {
  shoal_builder *builder;
  shoal_label down[SHOAL_MAX_LEVELS];
  uint64_t n_leaves;
} tree_walk;

static shoal_status add_nodes(tree_walk *walk, const shoal_tree_node *node, uint32_t depth,
                              shoal_error *error) {
  if (node->n_children == 0) {
    shoal_label up[SHOAL_MAX_LEVELS];
    for (uint32_t i = 0; i < depth; i++) up[i] = walk->down[depth - 1 - i];
    shoal_label value = {node->label, strlen(node->label)};
    return add_path(walk->builder, value, up, depth, ++walk->n_leaves, error);
  }
  if (depth == SHOAL_MAX_LEVELS)
    return shoal_builder_fail(walk->builder, error, "the tree has more than %d levels",
                              SHOAL_MAX_LEVELS);
  walk->down[depth] = (shoal_label){node->label, strlen(node->label)};
  for (size_t i = 0; i < node->n_children; i++)
    SHOAL_TRY(add_nodes(walk, &node->children[i], depth + 1, error));
  return SHOAL_OK;
}

shoal_status shoal_tree_start(shoal_builder *builder, shoal_error *error) {
  if (builder->spec->tree.n_children == 0)
    return shoal_builder_fail(builder, error, "the tree is empty: give it labels and values");
  tree_walk walk;
  walk.builder = builder;
  walk.n_leaves = 0;
  SHOAL_TRY(add_nodes(&walk, &builder->spec->tree, 0, error));
  return finish_paths(builder, error);
}
