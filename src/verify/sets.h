/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verify/sets: labels that are sets of values. The verifier has its own reading of them:
 *
 *     *                any value
 *     {a|b|"c|d"}      2 to 16 values, ascending by their bytes; a value that is empty, has | { }
 *                      or a double quote, or has only stars and spaces, is in double quotes, with
 *                      every double quote in it doubled
 *     {"*"}            one value that starts with { or has only stars and spaces
 *     a                any other value
 */
#pragma once

#include "base/text.h"
#include "verify/verify.h"

/*
 * Reads the value at *at of a set, up to a bar or the last brace, into `value`; *at is then behind
 * that. False: it is malformed, or ->failed: no memory.
 */
bool shoal_verify_set_next(const char *label, size_t size_bytes, size_t *at, shoal_text *value);

/*
 * Is the label well-formed, and is the value in it? `key_of_value` is the value's key under `fold`
 * (verify/fold.h), `scratch` and `key` are overwritten; ->failed: no memory.
 */
bool shoal_verify_set_covers(const char *label, size_t size_bytes, const shoal_verify_fold *fold,
                             const shoal_text *key_of_value, shoal_text *scratch, shoal_text *key);
