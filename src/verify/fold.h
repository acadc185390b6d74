/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verify/fold: which cells are one value. The request says it for each column: numbers by their
 * value; text without regard to case, to outer and repeated spaces, or to its Unicode form. A cell
 * has a key, and cells with equal keys are one value. The engine has its own code for the same.
 */
#pragma once

#include "base/text.h"
#include "verify/counter.h"

/* Does it change no cell? */
static inline bool shoal_verify_fold_none(const shoal_verify_fold *fold) {
  return !fold || !(fold->numbers || fold->letter_case || fold->space || fold->unicode);
}

/* Sets `key` to the cell's key. False: no memory. */
bool shoal_verify_fold_key(const shoal_verify_fold *fold, const char *bytes, size_t size_bytes,
                           shoal_text *key);

/*
 * After all rows are counted. SHOAL_FAILED if the release, or the request, spells one value of a
 * folded column in two ways. Finds the values that are missing in another spelling.
 */
shoal_status shoal_verify_check_spellings(shoal_verify_counter *count,
                                          shoal_error *error) SHOAL_MUST_CHECK;
