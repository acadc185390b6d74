/* SPDX-License-Identifier: Apache-2.0 */
/* job/release: a release that is decided on and not yet written. Private to this folder. */
#ifndef SHOAL_JOB_RELEASE_H
#define SHOAL_JOB_RELEASE_H

#include "job/prepare.h"
#include "lattice/mu_argus.h"

struct shoal_release {
  shoal_prepared prepared;
  shoal_result *result;
  uint32_t *levels;       /* the chosen node */
  uint8_t *fate_of_tuple; /* shoal_fate of each distinct tuple's rows */
  shoal_mu_argus argus;   /* of mu-argus; zero otherwise */
  uint8_t **hidden;       /* by quasi-identifier: tuples whose cell is "*"; NULL: none */
  double started;
};

/* mu-Argus: fills the release, or refuses. */
shoal_status shoal_release_by_argus(shoal_release *release, shoal_error *error) SHOAL_MUST_CHECK;

#endif
