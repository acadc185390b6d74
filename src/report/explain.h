/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report/explain: why a policy cannot be met or costs much, as plain data, and its renderings.
 * Labels are those of level 1 and above: raw values never get here.
 */
#ifndef SHOAL_REPORT_EXPLAIN_H
#define SHOAL_REPORT_EXPLAIN_H

#include "report/result.h"

/* One demand of the policy, held against all rows in one class: the most any node can give. */
typedef struct shoal_explained_demand {
  const char *model;
  const char *attribute; /* NULL: none */
  double required, reached;
  bool at_most; /* `reached` must not be above `required`; else not below */
  bool holds;
  bool bounded; /* the necessary conditions allow at most max_groups classes */
  uint64_t max_groups;
  const char *why; /* why not even one class can satisfy it; NULL: one can */
  /* the policy without this demand, all others as they are */
  bool tried, met_without;
  uint32_t height_without; /* least height */
} shoal_explained_demand;

/* A sensitive attribute among those that p is asked of, hardest first. */
typedef struct shoal_hardness {
  const char *attribute;
  uint64_t p, distinct, max_groups;
} shoal_hardness;

/* What a quasi-identifier costs at the node explained. */
typedef struct shoal_quasi_cost {
  const char *name;
  uint32_t level, height;
  uint32_t labels, labels_below; /* of the data at that level, and one level lower */
  double loss;                   /* 0 nothing lost .. 1 everything */
  uint64_t suppressed_below;     /* rows to suppress with it one level lower; level above 0 only */
  /* were it hidden altogether: the others' least height, and the rows to suppress there */
  bool tried, met_without;
  uint32_t height_now, height_without; /* sum of the other levels */
  uint64_t suppressed_without;
} shoal_quasi_cost;

/* Classes that break a demand and look alike once values of level 0 are hidden. */
typedef struct shoal_outlier {
  const char **labels; /* by quasi-identifier; NULL: as it is, not to be shown */
  uint64_t n_rows, n_classes;
  const size_t *demands; /* what they break: indices into the demands */
  size_t n_demands;
} shoal_outlier;

typedef enum shoal_outliers_at {
  SHOAL_OUTLIERS_NONE,
  SHOAL_OUTLIERS_CHOSEN, /* left out of the release at the chosen node */
  SHOAL_OUTLIERS_BELOW,  /* why a node one step lower is not enough */
  SHOAL_OUTLIERS_BEST    /* no node is enough: at the one with the fewest rows to suppress */
} shoal_outliers_at;

/* One change of the policy, by itself, and what it would bring. */
typedef struct shoal_explained_change {
  const char *setting; /* "k", "p", "max-suppression" */
  uint64_t from, to;
  const uint32_t *levels; /* the node it makes possible */
  uint32_t height;
  uint64_t suppressed;
  bool exact; /* no smaller change of this setting does it; else one might */
} shoal_explained_change;

typedef struct shoal_explanation {
  bool monotone;                         /* rows to suppress can only fall going up the lattice */
  bool every_node;                       /* the rows to suppress are known of every node */
  bool whole_holds;                      /* all rows in one class satisfy every demand */
  uint32_t lattice_height, least_height; /* of a node that satisfies */
  bool has_node;
  shoal_node_outcome node; /* chosen; where none satisfies: the one with fewest rows to suppress */
  double loss;             /* at that node: 0 nothing .. 1 everything */
  shoal_explained_demand *demands;
  size_t n_demands;
  shoal_hardness *hardest;
  size_t n_hardest;
  shoal_quasi_cost *costs; /* by quasi-identifier; NULL without a node */
  shoal_outliers_at outliers_at;
  shoal_node_outcome outliers_node;
  uint64_t outlier_classes;
  shoal_outlier *outliers; /* most rows first */
  size_t n_outliers, n_outliers_unlisted;
  shoal_explained_change *changes;
  size_t n_changes;
  bool has_k, has_p, changes_tried; /* k and p are asked for; other values of them were tried */
} shoal_explanation;

/* Rows as hundredths of a percent, rounded up: written into a policy, it is enough. */
static inline uint64_t shoal_share_of_rows(uint64_t n, uint64_t n_rows) {
  return n_rows ? (n * 10000 + n_rows - 1) / n_rows : 0;
}

struct json_t; /* jansson's */
void shoal_render_explain_text(const shoal_result *result, shoal_text *text);
struct json_t *shoal_render_explain_json(const shoal_result *result);

#endif
