/* SPDX-License-Identifier: Apache-2.0 */
/* hierarchy/spec: a hierarchy as the policy specifies it, independent of any data. */
#pragma once

#include "base/decimal.h"
#include "base/error.h"
#include "table/coding.h"

typedef enum shoal_hierarchy_kind {
  SHOAL_HIERARCHY_TOP,  /* only "*" */
  SHOAL_HIERARCHY_SETS, /* the same in full-domain recoding; sets of values in local recoding */
  SHOAL_HIERARCHY_FILE,
  SHOAL_HIERARCHY_TREE,
  SHOAL_HIERARCHY_LEVELS,
  SHOAL_HIERARCHY_INTERVALS,
  SHOAL_HIERARCHY_CUTS,
  SHOAL_HIERARCHY_MASK,
  SHOAL_HIERARCHY_DATE,
  SHOAL_HIERARCHY_ROUND
} shoal_hierarchy_kind;

/* A node of an inline tree: an inner node has children, a leaf is a value of the data. */
typedef struct shoal_tree_node {
  const char *label;
  const struct shoal_tree_node *children;
  size_t n_children; /* 0: a leaf */
} shoal_tree_node;

/* A row of inline levels: a value and its labels up to the top. */
typedef struct shoal_level_row {
  const char *const *labels; /* the value first */
  size_t n_labels;
} shoal_level_row;

typedef enum shoal_date_unit {
  SHOAL_DATE_DAY,
  SHOAL_DATE_MONTH,
  SHOAL_DATE_YEAR,
  SHOAL_DATE_5_YEARS,
  SHOAL_DATE_DECADE
} shoal_date_unit;

typedef struct shoal_cut_level {
  const shoal_decimal *bounds; /* ascending */
  size_t n_bounds;
} shoal_cut_level;

typedef struct shoal_hierarchy_spec {
  shoal_hierarchy_kind kind;
  uint32_t line, at;           /* its position in the policy */
  const char *file;            /* FILE: resolved path */
  shoal_tree_node tree;        /* TREE: its root, labelled "*" */
  const shoal_level_row *rows; /* LEVELS */
  size_t n_rows;
  const shoal_decimal *widths; /* INTERVALS, ROUND: ascending, each a multiple of the one before */
  size_t n_widths;
  bool auto_widths; /* INTERVALS: chosen by the data */
  shoal_decimal origin;
  const shoal_cut_level
      *cuts; /* CUTS: bounds of each level, a subset of those of the level before */
  size_t n_cuts;
  bool mask_left;               /* MASK: from the left */
  bool mask_code;               /* MASK: what follows the first dot at once, then from the right */
  char mask_char;               /* default '*' */
  const shoal_date_unit *units; /* DATE: ascending, may start with DAY */
  size_t n_units;
  const char *date_format; /* DATE: YYYY or YY, MM, DD and other bytes; default "YYYY-MM-DD" */
  shoal_coding coding;     /* codes that stand beside the kind; the attribute has them too */
  unsigned pivot;          /* DATE: the last year that YY can mean; 0: the current year */
} shoal_hierarchy_spec;
