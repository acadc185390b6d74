/* SPDX-License-Identifier: Apache-2.0 */
/* job/release: a release that is decided on and not yet written. Private to this folder. */
#ifndef SHOAL_JOB_RELEASE_H
#define SHOAL_JOB_RELEASE_H

#include "job/prepare.h"

struct shoal_release {
  shoal_prepared prepared;
  shoal_result *result;
  uint32_t *levels;       /* the chosen node */
  uint8_t *fate_of_tuple; /* shoal_fate of each distinct tuple's rows */
  double started;
};

#endif
