/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hierarchy/builder: the interface between compile.c and the kinds of hierarchies. A kind's `start`
 * checks the specification against the column and sets the height and a function that returns the
 * label of a leaf on a level below the top. compile.c calls it level by level, so only one level's
 * strings are in memory at a time.
 *
 * FILE and TREE give paths: a value and its labels up to the top. The other kinds are built from
 * the column's values; their top is "*".
 */
#pragma once

#include "base/intern.h"
#include "base/memory.h"
#include "hierarchy/hierarchy.h"

enum {
  SHOAL_MAX_LEVELS = 255,    /* above the values: a level fits into a byte */
  SHOAL_LABEL_SCRATCH = 512, /* bytes that a label function may write */
  SHOAL_MAX_MASKED = 64      /* characters of a value with a mask */
};

/* The n_labels labels of a value from level 1 to the top: labels[begin ..]. */
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
  uint32_t *of_leaf; /* path of each leaf; SHOAL_NONE: a missing value without one */
  size_t of_leaf_capacity;
  uint32_t n_leaves; /* entries of of_leaf */
} shoal_paths;

typedef struct shoal_builder shoal_builder;

/* The label of a leaf on a level from 1 to height - 1; may point into `scratch`. */
typedef shoal_label (*shoal_label_fn)(const shoal_builder *builder, uint32_t leaf, uint32_t level,
                                      char *scratch);

struct shoal_builder {
  const shoal_hierarchy_spec *spec;
  const shoal_table *table;   /* may be NULL */
  const shoal_column *column; /* NULL: only for FILE and TREE */
  const shoal_hierarchy_options *options;
  const char *attribute; /* "" if none */
  shoal_strings leaves;  /* the column's values by code; then those of FILE and TREE */
  shoal_values names;    /* the same by their keys, then labels; unused if bytes decide */
  uint32_t height;
  shoal_label top; /* its label; "*" except for FILE */
  shoal_label_fn label;
  shoal_paths paths; /* FILE and TREE */
  shoal_arena arena; /* memory of the kind */
  void *state;       /* the kind's own, in the arena */
  void *owned;       /* freed with the builder */
};

/* A row of the table of kinds (kinds.c). */
typedef struct shoal_kind {
  shoal_hierarchy_kind kind;
  bool from_paths; /* it has its own values and needs no column */
  shoal_status (*start)(shoal_builder *builder, shoal_error *error);
} shoal_kind;

const shoal_kind *shoal_kind_find(shoal_hierarchy_kind kind);

shoal_status shoal_top_start(shoal_builder *builder, shoal_error *error) SHOAL_MUST_CHECK;
shoal_status shoal_file_start(shoal_builder *builder, shoal_error *error) SHOAL_MUST_CHECK;
shoal_status shoal_levels_start(shoal_builder *builder, shoal_error *error) SHOAL_MUST_CHECK;
shoal_status shoal_tree_start(shoal_builder *builder, shoal_error *error) SHOAL_MUST_CHECK;
shoal_status shoal_intervals_start(shoal_builder *builder, shoal_error *error) SHOAL_MUST_CHECK;
shoal_status shoal_round_start(shoal_builder *builder, shoal_error *error) SHOAL_MUST_CHECK;
shoal_status shoal_cuts_start(shoal_builder *builder, shoal_error *error) SHOAL_MUST_CHECK;
shoal_status shoal_mask_start(shoal_builder *builder, shoal_error *error) SHOAL_MUST_CHECK;
shoal_status shoal_date_start(shoal_builder *builder, shoal_error *error) SHOAL_MUST_CHECK;

/* The spelling of a value or label that all its equal ones have. False: no memory. */
bool shoal_builder_respell(shoal_builder *builder, shoal_label *label);

/* What a path is in messages: a "row" of a file or of levels, or a "leaf" of a tree. */
const char *shoal_path_word(const shoal_builder *builder);

/* Fails at such a row or leaf. */
shoal_status shoal_path_fail(const shoal_builder *builder, uint64_t row, shoal_error *error,
                             const char *format, ...) SHOAL_PRINTF(4, 5);

/* Fails at the hierarchy's line of the policy. */
shoal_status shoal_builder_fail(const shoal_builder *builder, shoal_error *error,
                                const char *format, ...) SHOAL_PRINTF(3, 4);
