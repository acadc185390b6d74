/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report/explain: why a policy cannot be met or costs much, as plain data.
 * Labels are those of level 1 and above: raw values never get here.
 */
#pragma once

#include "report/result.h"

/* One requirement of the policy, judged on all rows as one class: the best any node can reach. */
typedef struct shoal_explained_requirement {
  const char *model;
  const char *attribute; /* NULL: none */
  shoal_over over;
  double required, reached;
  bool at_most; /* `reached` must not be above `required`; else not below */
  bool holds;
  bool bounded; /* the necessary conditions allow at most max_groups classes */
  uint64_t max_groups;
  const char *why; /* why not even one class can satisfy it; NULL: one can */
  /* the policy without this requirement */
  bool tried, met_without;
  uint32_t height_without; /* least height */
} shoal_explained_requirement;

/* A sensitive attribute with a required p, for one model. */
typedef struct shoal_hardness {
  const char *model, *attribute;
  const char *noun, *nouns; /* what p counts: "distinct value", "distinct values" */
  uint64_t p, distinct, max_groups;
} shoal_hardness;

/* What a quasi-identifier costs at the node explained. */
typedef struct shoal_quasi_cost {
  const char *name;
  uint32_t level, height;
  uint32_t labels, labels_below; /* of the data at that level, and one level lower */
  double loss;                   /* 0 nothing lost .. 1 everything */
  uint64_t suppressed_below;     /* rows to suppress with it one level lower; level above 0 only */
  /* if it were fully suppressed: the least height of the others, and the rows to suppress there */
  bool tried, met_without;
  uint32_t height_now, height_without; /* sum of the other levels */
  uint64_t suppressed_without;
  double others_now, others_without; /* without a lattice: what the others lose over all rows */
} shoal_quasi_cost;

/* Classes that violate the same requirements and have equal labels where these are shown. */
typedef struct shoal_outlier {
  const char **labels; /* by quasi-identifier; NULL: a raw value, not shown */
  uint64_t n_rows, n_classes;
  const size_t *requirements; /* that they violate: indices into the requirements */
  size_t n_requirements;
} shoal_outlier;

typedef enum shoal_outliers_at {
  SHOAL_OUTLIERS_NONE,
  SHOAL_OUTLIERS_CHOSEN, /* suppressed at the chosen node */
  SHOAL_OUTLIERS_BELOW,  /* violations at a node one step lower */
  SHOAL_OUTLIERS_BEST    /* no node satisfies: at the one with the fewest rows to suppress */
} shoal_outliers_at;

/* One change of the policy, and the node that it makes possible. */
typedef struct shoal_explained_change {
  const char *setting; /* "k", "p", "max-suppression" */
  uint64_t from, to;
  const char *algorithm;  /* of local recoding; NULL: full-domain, and */
  const uint32_t *levels; /* the node it makes possible */
  uint32_t height;
  uint64_t suppressed;
  double release_loss; /* of local recoding */
  bool exact;          /* no smaller change of this setting is enough; else one might be */
} shoal_explained_change;

typedef struct shoal_explanation {
  bool monotone;                       /* suppression never rises going up the lattice */
  bool every_node;                     /* every node was evaluated */
  bool whole_holds;                    /* all rows as one class satisfy every requirement */
  uint32_t lattice_height, min_height; /* of a node that satisfies */
  bool has_node;
  shoal_node_outcome node; /* chosen; where none satisfies: the one with fewest rows to suppress */
  double loss;             /* at that node: 0 nothing .. 1 everything */
  shoal_explained_requirement *requirements;
  size_t n_requirements;
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
  bool node_met;             /* a node satisfies the policy */
  const char *local;         /* no node does: the local algorithm tried; NULL: none */
  bool local_met;            /* it found a release, */
  uint64_t local_suppressed; /* with these rows suppressed, */
  double local_loss;         /* and this release loss */
  const char *no_lattice;    /* the quasi-identifier without levels; NULL: there is a lattice */
  uint64_t sample_rows;      /* without a lattice: rows of the sample; 0: all rows */
  bool has_k, has_p, changes_tried; /* k and p are required; other values of them were tried */
} shoal_explanation;
