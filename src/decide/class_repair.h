/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decide/class_repair: from clusters to labelled, judged classes. Clusters with equal labels are
 * one class, and such a class can violate the policy although its clusters do not.
 *
 *   the algorithm's clusters --cluster_of--> clusters, after merges --class_of--> classes
 */
#pragma once

#include "decide/decision.h"

typedef struct shoal_labelled_clusters_inputs {
  const shoal_context *context;
  const shoal_axes *axes;
} shoal_labelled_clusters_inputs;

typedef struct shoal_labelled_clusters {
  uint32_t *cluster_of;    /* by cluster of the algorithm */
  uint32_t n_given;        /* clusters of the algorithm */
  shoal_classes clusters;  /* sizes and sensitive values */
  shoal_span *boxes;       /* by cluster: axes->n_spans */
  uint32_t *class_of;      /* by cluster */
  shoal_span *class_boxes; /* by class: axes->n_spans */
  bool leaves_out;         /* the last cluster is suppressed: the last class, whatever its labels */
  shoal_decision decision; /* labels, classes, noise rows and verdict; the rest is not set */
} shoal_labelled_clusters;

/*
 * Labels and judges the clusters of a partition. While classes violate the policy, each is merged
 * with the class that costs least (after eight rounds with two others, then four, and so on), until
 * none violates or one class is left. Of all rounds the one with the fewest violating rows is kept
 * (docs/reading-the-papers.md R23). Rows that the partition abandons may stay in violating classes.
 * A partition that suppresses single rows is labelled and judged as it is.
 *
 * Noise rows of violating classes, and of classes with more than one of the partition's clusters,
 * are removed from the partition. The caller frees *labelled; it is NULL after an error.
 */
shoal_status shoal_labelled_clusters_make(const shoal_labelled_clusters_inputs *inputs,
                                          shoal_partition *partition,
                                          shoal_labelled_clusters **labelled,
                                          shoal_error *error) SHOAL_MUST_CHECK;
void shoal_labelled_clusters_free(shoal_labelled_clusters *labelled);
