/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table/equality: which spellings are one value. 50000, 5e4 and 50000.0 are one number; with
 * `data.fold`, "Flu" and "flu " can be one word. Each spelling has a key; spellings with equal keys
 * are one value.
 *
 *     numbers   the number without exponent, leading and trailing zeros; other text is its own key
 *     unicode   NFC, without zero-width and other ignorable characters
 *     case      full case folding of Unicode
 *     space     no outer spaces, one space for each run of spaces
 *
 * Bytes that are not UTF-8 are folded as ASCII.
 */
#pragma once

#include "base/intern.h"
#include "base/text.h"

/* Bits; 0: spellings with equal bytes only. NUMBERS is not combined with the others. */
typedef enum shoal_equality {
  SHOAL_EQUAL_BYTES = 0,
  SHOAL_EQUAL_NUMBERS = 1,
  SHOAL_EQUAL_CASE = 2,
  SHOAL_EQUAL_SPACE = 4,
  SHOAL_EQUAL_UNICODE = 8,
  SHOAL_EQUAL_FOLDED = SHOAL_EQUAL_CASE | SHOAL_EQUAL_SPACE | SHOAL_EQUAL_UNICODE
} shoal_equality;

/*
 * The key of a spelling. It points to the spelling itself, or into `scratch`, which the next call
 * overwrites; scratch->failed: no memory.
 */
shoal_label shoal_equality_key(shoal_equality equality, shoal_label spelling, shoal_text *scratch);

/*
 * Spellings to numbers 0, 1, 2, ... in order of first appearance. Equal spellings have one number;
 * the first of them is kept.
 */
typedef struct shoal_values {
  shoal_equality equality;
  shoal_strings spellings; /* the first of each value */
  shoal_strings keys;      /* by the same numbers; unused if bytes decide */
  shoal_text scratch;
} shoal_values;

/* False without memory; then nothing needs a reset. A zeroed set may be reset. */
bool shoal_values_init(shoal_values *values, shoal_equality equality);
void shoal_values_reset(shoal_values *values);

/* The number of the value, a new one if it has none. SHOAL_NONE: no memory. */
uint32_t shoal_values_intern(shoal_values *values, shoal_label spelling);
/* The number of the value; SHOAL_NONE: it has none. *failed is set without memory. */
uint32_t shoal_values_find(shoal_values *values, shoal_label spelling, bool *failed);
