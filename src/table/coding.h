/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table/coding: values under one label. With top-code 90 every number from 90 on is the value
 * ">=90", with bottom-code 5 every number up to 5 is the value "<=5"; with rare 20 every text that
 * fewer than 20 rows have is the value "(rare)". This is done when a table is read, before anything
 * counts or generalizes its values: nothing that is computed later has seen the value behind such a
 * label. As a number the label of a code stands for its code; below a hierarchy "(rare)" is a value
 * of its own, as a missing one is.
 *
 * A column of dates is one of numbers too: its values are spelled YYYY-MM-DD, and each stands for
 * its day (base/day.h).
 */
#pragma once

#include "base/decimal.h"

typedef struct shoal_coding {
  bool has_top, has_bottom;
  shoal_decimal top, bottom; /* bottom < top */
  uint64_t rare;             /* text: values of fewer rows are rare; 0: none */
  bool dates;                /* values are days; then there are no codes */
} shoal_coding;

typedef enum shoal_coded {
  SHOAL_CODED_NOT,
  SHOAL_CODED_TOP,
  SHOAL_CODED_BOTTOM,
  SHOAL_CODED_RARE
} shoal_coded;

#define SHOAL_RARE_LABEL "(rare)"

static inline bool shoal_coding_given(const shoal_coding *coding) {
  return coding->has_top || coding->has_bottom || coding->rare;
}

bool shoal_coding_equal(const shoal_coding *a, const shoal_coding *b);

/* ">=90", "<=5" or "(rare)"; `out` has room for SHOAL_CODE_BYTES. Returns its size. */
#define SHOAL_CODE_BYTES 36
size_t shoal_coding_label(const shoal_coding *coding, shoal_coded coded, char *out);

/* Is it the label of a code? */
shoal_coded shoal_coding_find(const shoal_coding *coding, const char *bytes, size_t size_bytes);

/* Reads a number or a day, or the label of a code as that code. */
shoal_number shoal_coding_parse(const shoal_coding *coding, const char *bytes, size_t size_bytes,
                                shoal_decimal *number);
