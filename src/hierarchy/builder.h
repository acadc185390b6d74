/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hierarchy/builder: what a kind of hierarchy is to the compiler. A kind's `start` looks at what
 * is asked for and at the column, refuses what it cannot build, and leaves the height and a
 * function that tells any leaf's label on any level below the top. Labels are asked for level by
 * level, so that only one level's strings need room at a time.
 *
 * FILE and TREE come as paths: a value and its labels up to the top. The other kinds are built
 * from the column's values and end in "*".
 */
#ifndef SHOAL_HIERARCHY_BUILDER_H
#define SHOAL_HIERARCHY_BUILDER_H

#include "base/memory.h"
#include "hierarchy/hierarchy.h"
#include "hierarchy/strings.h"

enum {
  SHOAL_MOST_LEVELS = 255,   /* above the values: a level fits into a byte */
  SHOAL_LABEL_SCRATCH = 512, /* bytes that a label function may write */
  SHOAL_MOST_MASKED = 64     /* characters that a mask takes */
};

#define SHOAL_NO_PATH UINT32_MAX

/* A value's way up: n_labels labels from level 1 to the top, from `begin` of all labels. */
typedef struct shoal_path {
  size_t begin;
  uint32_t n_labels;
  uint32_t leaf;
  uint64_t row; /* row of the file, or which leaf of the tree; from 1 */
} shoal_path;

typedef struct shoal_paths {
  shoal_path *paths; /* in the file's order */
  size_t n_paths, paths_capacity;
  shoal_label *labels;
  size_t n_labels, labels_capacity;
  uint32_t *of_leaf; /* path of each leaf, or SHOAL_NO_PATH: a missing value without a row */
  size_t of_leaf_capacity;
  uint32_t n_leaves; /* filled of `of_leaf` */
} shoal_paths;

typedef struct shoal_builder shoal_builder;

/* Label of a leaf on a level from 1 to height - 1; it may lie in `scratch`. */
typedef shoal_label (*shoal_label_fn)(const shoal_builder *builder, uint32_t leaf, uint32_t level,
                                      char *scratch);

struct shoal_builder {
  const shoal_hierarchy_spec *spec;
  const shoal_table *table;   /* may be NULL */
  const shoal_column *column; /* NULL: only for FILE and TREE */
  const shoal_hierarchy_options *options;
  const char *attribute; /* "" if none */
  shoal_strings leaves;  /* the column's values by their codes; FILE and TREE add theirs */
  uint32_t height;
  shoal_label top; /* its label; "*" unless a file says otherwise */
  shoal_label_fn label;
  shoal_paths paths; /* FILE and TREE */
  shoal_arena arena; /* what the kind keeps while labels are asked for */
  void *state;       /* the kind's own, in the arena */
  void *owned;       /* freed with the builder */
};

/* One row of the table of kinds: a kind is a file of its own and a row there. */
typedef struct shoal_kind {
  shoal_hierarchy_kind kind;
  bool from_paths; /* it brings its own values and needs no column */
  shoal_status (*start)(shoal_builder *builder, shoal_error *error);
} shoal_kind;

const shoal_kind *shoal_kind_find(shoal_hierarchy_kind kind);

shoal_status shoal_top_start(shoal_builder *builder, shoal_error *error) SHOAL_MUST_CHECK;
shoal_status shoal_file_start(shoal_builder *builder, shoal_error *error) SHOAL_MUST_CHECK;
shoal_status shoal_tree_start(shoal_builder *builder, shoal_error *error) SHOAL_MUST_CHECK;
shoal_status shoal_intervals_start(shoal_builder *builder, shoal_error *error) SHOAL_MUST_CHECK;
shoal_status shoal_cuts_start(shoal_builder *builder, shoal_error *error) SHOAL_MUST_CHECK;
shoal_status shoal_mask_start(shoal_builder *builder, shoal_error *error) SHOAL_MUST_CHECK;
shoal_status shoal_date_start(shoal_builder *builder, shoal_error *error) SHOAL_MUST_CHECK;

/*
 * Adds a path; `value` and `labels` point to memory that outlives the builder's use. Refuses
 * unequal heights (unless ragged), a second top, and a value that has other labels already.
 */
shoal_status shoal_paths_add(shoal_builder *builder, shoal_label value, const shoal_label *labels,
                             uint32_t n_labels, uint64_t row, shoal_error *error) SHOAL_MUST_CHECK;

/* After the last path: refuses values of the column that have none; sets top and label. */
shoal_status shoal_paths_finish(shoal_builder *builder, shoal_error *error) SHOAL_MUST_CHECK;

/* Fails at a row of the file, or at a leaf of the policy's tree. */
shoal_status shoal_path_fail(const shoal_builder *builder, uint64_t row, shoal_error *error,
                             const char *format, ...) SHOAL_PRINTF(4, 5);

/* Fails where the policy asks for the hierarchy. */
shoal_status shoal_builder_fail(const shoal_builder *builder, shoal_error *error,
                                const char *format, ...) SHOAL_PRINTF(3, 4);

/* Fails at the data row where the column's value `value` first stands. */
shoal_status shoal_value_fail(const shoal_table *table, const shoal_column *column, uint32_t value,
                              shoal_error *error, const char *format, ...) SHOAL_PRINTF(5, 6);

/* Data row of a value's first appearance, from 1; 0: not known. */
static inline uint64_t shoal_value_row(const shoal_column *column, uint32_t value) {
  return column->first_row ? column->first_row[value] + 1 : 0;
}

/* A missing value without a path of its own: it keeps its spelling below the top. */
static inline bool shoal_leaf_is_bare(const shoal_builder *builder, uint32_t leaf) {
  if (builder->paths.of_leaf) return builder->paths.of_leaf[leaf] == SHOAL_NO_PATH;
  return builder->column && shoal_column_missing(builder->column, leaf);
}

/* Says which label of level `level` has two parents, and where; always fails. */
shoal_status shoal_conflict_fail(const shoal_builder *builder, const shoal_hierarchy *hierarchy,
                                 uint32_t level, uint32_t leaf, shoal_error *error);

#endif
