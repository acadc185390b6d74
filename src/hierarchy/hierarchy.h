/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hierarchy: value x level -> label (Samarati 2001, section 3.1).
 *
 * A hierarchy is compiled for one column: its leaves are the column's values, by their codes, and
 * behind them the values that only the hierarchy knows. Level 0 is the values themselves; the top
 * level has one label. Every label has exactly one parent. A label that repeats on the next level
 * (padding) is the same node of the tree: `node_height` counts real steps only. Ragged trees,
 * allowed where `ragged` is, are padded at the bottom: the leaf repeats.
 */
#ifndef SHOAL_HIERARCHY_HIERARCHY_H
#define SHOAL_HIERARCHY_HIERARCHY_H

#include "hierarchy/spec.h"
#include "table/table.h"

typedef struct shoal_level {
  uint32_t n_labels;
  uint64_t *offsets; /* label t is bytes[offsets[t] .. offsets[t + 1]) */
  char *bytes;
  uint32_t *of_leaf;     /* n_leaves: label of each leaf at this level */
  uint32_t *parent;      /* label -> label of the next level; NULL at the top */
  uint32_t *node_height; /* label -> height of the subtree below it, in real steps */
  uint32_t *n_leaves;    /* label -> leaves below it */
} shoal_level;

typedef struct shoal_hierarchy {
  const char *attribute; /* borrowed from the policy or column; "" if none */
  uint32_t n_values;     /* leaves that are values of the column: codes 0 .. n_values-1 */
  uint32_t n_leaves;     /* n_values and the hierarchy's other values */
  uint32_t n_levels;     /* height + 1 */
  uint32_t tree_height;  /* of the tree in real steps: node_height of the top's label */
  bool leaves_public;    /* its leaves stand in its own file or policy: they may be drawn */
  shoal_level *levels;
} shoal_hierarchy;

typedef struct shoal_hierarchy_options {
  const char *policy;    /* the policy's file name, for messages; NULL: none */
  const char *attribute; /* for messages */
  bool number;           /* the attribute is of type number */
  bool ragged;           /* unequal heights are allowed */
} shoal_hierarchy_options;

/*
 * Compiles `spec` for `column` (of `table`, named in messages; both may be NULL for a FILE or TREE
 * by itself: then every leaf is the hierarchy's own). SHOAL_BAD_INPUT where it breaks the
 * definition: a value with two parents, a value of the data that it lacks, unequal heights, a top
 * that is not single; with the hierarchy's file and row, and the data row of a value it lacks.
 */
shoal_status shoal_hierarchy_compile(const shoal_hierarchy_spec *spec, const shoal_table *table,
                                     const shoal_column *column,
                                     const shoal_hierarchy_options *options,
                                     shoal_hierarchy **hierarchy,
                                     shoal_error *error) SHOAL_MUST_CHECK;

void shoal_hierarchy_free(shoal_hierarchy *hierarchy);

static inline const char *shoal_level_label(const shoal_level *level, uint32_t label,
                                            size_t *size_bytes) {
  *size_bytes = (size_t)(level->offsets[label + 1] - level->offsets[label]);
  return level->bytes + level->offsets[label];
}

static inline uint32_t shoal_hierarchy_height(const shoal_hierarchy *hierarchy) {
  return hierarchy->n_levels - 1;
}

/*
 * A number column's values as exact integers at one common scale: numbers[v] x 10^-scale. Missing
 * values are left 0. SHOAL_BAD_INPUT with the data row of a value that is no number. The caller
 * frees *numbers.
 */
shoal_status shoal_column_numbers(const shoal_table *table, const shoal_column *column,
                                  int64_t **numbers, unsigned *scale,
                                  shoal_error *error) SHOAL_MUST_CHECK;

/*
 * The label of the numbers low .. high (x 10^-scale) widened to multiples of `width`, which is
 * above 0: as the kind "intervals" writes it. Returns its bytes; `out` has room for
 * SHOAL_INTERVAL_BYTES.
 */
#define SHOAL_INTERVAL_BYTES 128
size_t shoal_snapped_label(int64_t low, int64_t high, unsigned scale, shoal_decimal width,
                           char *out);

/* Draws the tree for people (values of the hierarchy's file only, at most `most` lines). */
shoal_status shoal_hierarchy_draw(const shoal_hierarchy *hierarchy, size_t most, char **text,
                                  shoal_error *error) SHOAL_MUST_CHECK;

/* As hierarchy CSV: value;level1;...;top, one row a leaf, quoted where needed. */
shoal_status shoal_hierarchy_csv(const shoal_hierarchy *hierarchy, char **csv,
                                 shoal_error *error) SHOAL_MUST_CHECK;

#endif
