/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hierarchy: value x level -> label (Samarati 2001, section 3.1).
 *
 * A hierarchy is compiled for one column. Its leaves are the column's values, by code, followed by
 * values that only the hierarchy has. Level 0 is the values themselves; the top level has one
 * label. Every label has exactly one parent. A label that repeats on the next level (padding) is
 * the same node of the tree: `node_height` counts real steps only. Ragged trees (option `ragged`)
 * are padded at the bottom: the leaf repeats.
 */
#pragma once

#include "hierarchy/spec.h"
#include "table/equality.h"
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
  const char *attribute;         /* borrowed from the policy or column; "" if none */
  uint32_t n_values;             /* leaves that are values of the column: codes 0 .. n_values-1 */
  uint32_t n_leaves;             /* with values that only the hierarchy has */
  uint32_t n_levels;             /* height + 1 */
  uint32_t tree_height;          /* node_height of the top */
  uint32_t min_level, max_level; /* labels of these levels only may be released */
  bool ragged;                   /* its values have unequal numbers of labels */
  bool leaves_public;            /* its leaves come from its file or the policy and may be drawn */
  shoal_level *levels;
} shoal_hierarchy;

typedef struct shoal_hierarchy_options {
  const char *policy;      /* the policy's file name, for messages; NULL: none */
  const char *attribute;   /* for messages */
  bool number;             /* the attribute is of type number */
  shoal_equality equality; /* which spellings are one value, of the column too */
  unsigned current_year;   /* for dates without a pivot; 0: by the clock */
  uint32_t min_level;      /* default 0 */
  bool has_max_level;
  uint32_t max_level;
  uint32_t n_measured; /* intervals: auto: by the first values of the column; 0: by all */
  bool ragged;         /* unequal heights are allowed */
} shoal_hierarchy_options;

/*
 * Compiles `spec` for `column` of `table`. Both may be NULL for FILE and TREE: all leaves are then
 * the hierarchy's own. SHOAL_BAD_INPUT, with file and row, for a label with two parents, a value of
 * the data without labels, unequal heights, or more than one top. The caller frees *hierarchy.
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
 * The values of a number column as exact integers of one scale: numbers[v] x 10^-scale; missing
 * values are 0. SHOAL_BAD_INPUT, with the data row, for a value that is not a number. The caller
 * frees *numbers.
 */
shoal_status shoal_column_numbers(const shoal_table *table, const shoal_column *column,
                                  int64_t **numbers, unsigned *scale,
                                  shoal_error *error) SHOAL_MUST_CHECK;

/*
 * The label of the numbers low .. high (x 10^-scale), widened to multiples of `width` > 0, as the
 * kind "intervals" writes it. Returns its size; `out` has room for SHOAL_INTERVAL_BYTES.
 */
#define SHOAL_INTERVAL_BYTES 128
size_t shoal_snapped_label(int64_t low, int64_t high, unsigned scale, shoal_decimal width,
                           const shoal_coding *coding, char *out);
/*
 * The ends of the label of one number, moved into the range least .. most, as distances from
 * `least`. Their unit is the same for all numbers of the range, and small enough to be exact unless
 * the range has more than 64 bits.
 */
void shoal_snapped_ends(int64_t number, int64_t least, int64_t most, unsigned scale,
                        shoal_decimal width, uint64_t *low, uint64_t *high);

/* The kinds for help texts, ended by an entry without a name. */
extern const shoal_entry shoal_hierarchy_kind_entries[];

/* Sets marks[level][label] to 1 for every label of that name; *found: there is one. False: no
 * memory. */
bool shoal_hierarchy_mark(const shoal_hierarchy *hierarchy, shoal_equality equality,
                          const char *name, uint8_t *const *marks, bool *found) SHOAL_MUST_CHECK;

/*
 * The tree as text of at most max_lines lines; no values of the data. `is_protected`, if not NULL,
 * has 1 for each protected node by level and label: protected and strong values are marked (Campan
 * & Truta 2006, Definition 3). The caller frees *text.
 */
shoal_status shoal_hierarchy_draw(const shoal_hierarchy *hierarchy, uint8_t *const *is_protected,
                                  size_t max_lines, char **text,
                                  shoal_error *error) SHOAL_MUST_CHECK;

/* The rows value;level1;...;top of all leaves, as CSV. The caller frees *csv. */
shoal_status shoal_hierarchy_csv(const shoal_hierarchy *hierarchy, char **csv,
                                 shoal_error *error) SHOAL_MUST_CHECK;
