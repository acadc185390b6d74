/* SPDX-License-Identifier: Apache-2.0 */
/* job/verify_trace: what the verifier compares with the original, row by row. Private to job/. */
#pragma once

#include "job/release.h"
#include "verify/verify.h"

/*
 * Codes and dictionaries of the table as it was read, labels of the decision, and what the policy
 * says about labels; all borrowed. `plan`: the rows and columns that are written. `styled`: see
 * job/verify_request.h. NULL: no memory.
 */
const shoal_verify_trace *shoal_verify_trace_make(shoal_arena *arena, const shoal_release *release,
                                                  const shoal_csv_plan *plan, bool styled);
