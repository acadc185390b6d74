/* SPDX-License-Identifier: Apache-2.0 */
/* decide/release: a decision with its context and result, not yet written. */
#pragma once

#include "base/random.h"
#include "decide/decision.h"

/* The order in which rows were released. */
typedef struct shoal_release_order {
  bool known; /* the release was written */
  bool kept;  /* that of the table; else shuffled by a copy of `random` */
  shoal_random random;
} shoal_release_order;

struct shoal_release {
  shoal_context context;
  shoal_decision decision;
  shoal_result *result;
  shoal_table *expanded;          /* of a table with counts: one row a record; NULL: not needed */
  shoal_arena listed;             /* a table with values that only categories list; or empty */
  char sha256[SHOAL_SHA256_TEXT]; /* of the file that was written, if the report has it */
  double started;
  const shoal_table *given; /* the caller's, whose rows may be `expanded` */
  shoal_table *own;         /* the same, if it is the release's; or NULL */
  shoal_release_order order;
  uint64_t *row_numbers; /* of the released rows, in that order; NULL: not computed */
  uint64_t n_row_numbers;
};
