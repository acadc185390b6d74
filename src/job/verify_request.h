/* SPDX-License-Identifier: Apache-2.0 */
/* job/verify_request: names, models and values for the verifier, as strings. Private to job/. */
#pragma once

#include "context/context.h"
#include "verify/verify.h"

typedef struct shoal_owned_verify_request {
  shoal_arena arena;
  shoal_verify_request request;
  const shoal_table *rows; /* that are released: values have the released spelling */
  bool styled;
  bool commas; /* while it is made: numbers of the attribute have decimal commas */
} shoal_owned_verify_request;

/* `rows`: the table that is written. `styled`: numbers have the decimal mark of the policy, not a
 * point. `quoted`: formulas have an apostrophe. `columns`: names of the release's columns, in
 * order, borrowed. The rest is in the arena.
 */
shoal_status shoal_owned_verify_request_make(shoal_owned_verify_request *request,
                                             const shoal_context *context, const shoal_table *rows,
                                             char delimiter, bool styled, bool quoted,
                                             const char *const *columns, size_t n_columns,
                                             uint64_t n_rows, shoal_error *error) SHOAL_MUST_CHECK;
void shoal_owned_verify_request_reset(shoal_owned_verify_request *request);
