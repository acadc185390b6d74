/* SPDX-License-Identifier: Apache-2.0 */
/* job/release: a release that is decided on and not yet written. Private to this folder. */
#ifndef SHOAL_JOB_RELEASE_H
#define SHOAL_JOB_RELEASE_H

#include "cluster/recode.h"
#include "job/algorithm.h"
#include "job/prepare.h"
#include "lattice/mu_argus.h"
#include "measure/utility.h"

struct shoal_release {
  shoal_prepared prepared;
  shoal_result *result;
  const uint32_t *group_of_row; /* rows that are treated alike: tuples, or classes */
  uint8_t *fate_of_group;       /* shoal_fate of each group's rows */
  /* full-domain */
  uint32_t *levels;     /* the chosen node */
  shoal_mu_argus argus; /* of mu-argus; zero otherwise */
  uint8_t **hidden;     /* by quasi-identifier: tuples whose cell is "*"; NULL: none */
  /* local */
  shoal_table *expanded;  /* of a table with counts: one row a record; NULL: not needed */
  uint32_t *class_of_row; /* NULL: full-domain; invented rows come behind the table's */
  shoal_table *written;   /* the table with invented rows; NULL: there are none */
  shoal_labels labels;    /* by class */
  char sha256[SHOAL_SHA256_TEXT]; /* of the file that was written, where the report tells it */
  double started;
};

/* A node of the lattice; fills the release, or refuses. */
shoal_status shoal_release_by_node(shoal_release *release, const shoal_method *method,
                                   shoal_error *error) SHOAL_MUST_CHECK;
/* The same by mu-Argus. */
shoal_status shoal_release_by_argus(shoal_release *release, shoal_error *error) SHOAL_MUST_CHECK;
/* The same by clusters, each generalized by itself. */
shoal_status shoal_release_by_clusters(shoal_release *release, const shoal_method *method,
                                       shoal_error *error) SHOAL_MUST_CHECK;

/*
 * What becomes of suppressed rows, and what the report says of it. `stars`: classes whose labels
 * are all "*" anyway. *fate receives the shoal_fate of rows in breaking classes.
 */
shoal_status shoal_release_suppress(shoal_release *release, const shoal_classes *classes,
                                    const uint8_t *breaks, const uint8_t *stars, uint8_t *fate,
                                    shoal_error *error) SHOAL_MUST_CHECK;

/* Makes `written`, if any rows were invented; their classes stand in class_of_row. */
shoal_status shoal_release_add_noise(shoal_release *release, const shoal_noise *noise,
                                     shoal_error *error) SHOAL_MUST_CHECK;
void shoal_release_reset_written(shoal_release *release);
/* The rows of `written`, each invented one behind the last row of its class. NULL: no memory. */
uint32_t *shoal_release_kept_order(const shoal_release *release);

void shoal_release_measures(shoal_result *result, const shoal_utility *utility);

#endif
