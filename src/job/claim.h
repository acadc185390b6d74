/* SPDX-License-Identifier: Apache-2.0 */
/* job/claim: what the verifier is told: names, models and values as strings. Private here. */
#ifndef SHOAL_JOB_CLAIM_H
#define SHOAL_JOB_CLAIM_H

#include "job/prepare.h"
#include "verify/verify.h"

typedef struct shoal_claim {
  shoal_arena arena;
  shoal_verify_claim claim;
} shoal_claim;

/* `columns` are the names of the release's columns, in order. */
shoal_status shoal_claim_make(shoal_claim *claim, const shoal_prepared *prepared, char delimiter,
                              const char *const *columns, size_t n_columns, uint64_t n_rows,
                              shoal_error *error) SHOAL_MUST_CHECK;
void shoal_claim_reset(shoal_claim *claim);

#endif
