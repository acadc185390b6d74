/* SPDX-License-Identifier: Apache-2.0 */
/* decide/release: a decision with its context and result, not yet written. */
#ifndef SHOAL_DECIDE_RELEASE_H
#define SHOAL_DECIDE_RELEASE_H

#include "decide/decision.h"

struct shoal_release {
  shoal_context context;
  shoal_decision decision;
  shoal_result *result;
  shoal_table *expanded;          /* of a table with counts: one row a record; NULL: not needed */
  shoal_arena listed;             /* a table with values that only categories list; or empty */
  char sha256[SHOAL_SHA256_TEXT]; /* of the file that was written, if the report has it */
  double started;
};

#endif
