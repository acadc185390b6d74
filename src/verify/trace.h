/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verify/trace: are the rows of the release those of the original, with true labels? Two steps:
 *
 *   1. For each row of the original that is released, every label that the engine says it gets
 *      covers its value (meaning.h). Labels and values are read once each; pairs of kinds that
 *      are no ranges are remembered, up to a limit.
 *   2. The release has exactly these rows, cell for cell, in any order. Both sides add up a hash of
 *      each row; the sums must be equal:
 *
 *          cells --hash of column and bytes--> sum of a row's cells --hash--> sum over all rows
 *
 * Together: there is a row of the original for each row of the release whose values its labels
 * cover and whose other cells it has. Noise rows have no original; they are counted.
 *
 * The hash is keyed with a secret of the process (base/hash.h), so two different releases have
 * equal sums with a probability of about 2^-60. Nothing is written to a file for it, and one row
 * costs a few additions.
 */
#pragma once

#include "base/hash.h"
#include "verify/verify.h"

/* The hash of a cell, as it is in the release. */
uint64_t shoal_verify_cell_hash(size_t column, const char *bytes, size_t size_bytes);

/* The hash of a row, from the sum of the hashes of its cells. */
static inline uint64_t shoal_verify_row_hash(uint64_t sum) { return shoal_hash_word(sum); }

/*
 * Step 1, and the sum of step 2 that the release must have. SHOAL_FAILED: a label does not cover
 * its value. The message names the column only.
 */
shoal_status shoal_verify_trace_rows(const shoal_verify_request *request, const shoal_run *run,
                                     uint64_t *fingerprint, shoal_error *error) SHOAL_MUST_CHECK;
