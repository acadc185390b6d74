/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job/draft: a release of local recoding before it is decided on: clusters, the labels they lead
 * to, the classes that equal labels make of them, and the verdict on these. Private here.
 */
#ifndef SHOAL_JOB_DRAFT_H
#define SHOAL_JOB_DRAFT_H

#include "cluster/cluster.h"
#include "cluster/recode.h"
#include "job/prepare.h"

/* What a draft is made from. */
typedef struct shoal_draft_ground {
  const shoal_prepared *prepared;
  const shoal_axes *axes;         /* what joining clusters costs */
  const shoal_recoding *recoding; /* what their labels are */
} shoal_draft_ground;

typedef struct shoal_draft {
  uint32_t *cluster_of;   /* the algorithm's cluster -> the cluster it is part of */
  uint32_t n_given;       /* the algorithm's clusters */
  shoal_classes clusters; /* sizes and sensitive values */
  shoal_span *costs;      /* by cluster, on the axes */
  shoal_span *spans;      /* by cluster, on the recoding's */
  shoal_labels labels;    /* by class */
  uint32_t *class_of;     /* by cluster */
  shoal_classes classes;
  shoal_span *class_costs; /* by class, on the axes */
  uint8_t *breaks;         /* by class */
  uint64_t *noise;         /* by class: invented rows among n_rows; NULL: there are none */
  shoal_verdict verdict;   /* `suppressed` counts no invented rows */
} shoal_draft;

/*
 * The draft of a partition. Where classes of it break the policy (equal labels made one class of
 * clusters, or the algorithm found none that satisfy), each is merged with the class that this
 * costs least, again and again (if need be with two others, with four, and so on), until all hold
 * or one class is left; the draft with the fewest rows in breaking classes is kept
 * (docs/reading-the-papers.md R23). Rows that the partition gives up may stay in breaking classes.
 * Invented rows of breaking classes, and of classes that are more than one of the partition's
 * clusters, are taken out of the partition.
 */
shoal_status shoal_draft_make(const shoal_draft_ground *ground, shoal_partition *partition,
                              shoal_draft **draft, shoal_error *error) SHOAL_MUST_CHECK;
void shoal_draft_free(shoal_draft *draft);

#endif
