/* SPDX-License-Identifier: Apache-2.0 */
/*
 * measure/label_syntax: the meaning of a released label by its spelling alone, as any tool may
 * write it: stars, intervals, comparisons, prefixes. Pure functions of bytes: no table, no policy,
 * no memory.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/decimal.h"

typedef enum shoal_form {
  SHOAL_FORM_WORD,       /* none of the following: a value, or a word of a hierarchy */
  SHOAL_FORM_EVERYTHING, /* "*", "**", "****" */
  SHOAL_FORM_NUMBER,     /* "40": low and high are equal */
  SHOAL_FORM_INTERVAL,   /* "[20-30]", "20-30", "[20,30)", ">= 40", "=< 40", "<40", "40+",
                            "[1200±50]" (1150 to below 1250) */
  SHOAL_FORM_PREFIX      /* "4310*", "4310**": bytes before the stars */
} shoal_form;

/* Numbers from low to high; without an end, unbounded. */
typedef struct shoal_range {
  shoal_decimal low, high;
  bool has_low, has_high;
  bool low_open, high_open; /* the end does not belong to it */
} shoal_range;

typedef struct shoal_spelling {
  shoal_form form;
  shoal_range range;   /* NUMBER and INTERVAL */
  size_t prefix_bytes; /* PREFIX */
} shoal_spelling;

/*
 * Parses a label. Never fails: any other label is a WORD, also an interval whose low end is above
 * its high end or that has no number. Spaces around signs and ends are ignored. "-", en and em
 * dash, "..", " to " and, in brackets, "," and ";" separate two ends ("-5-10" is -5 to 10).
 */
shoal_spelling shoal_label_parse(const char *bytes, size_t size_bytes);

/*
 * The same for an attribute whose values are days (`days`): "1950-03-01" is a NUMBER and
 * "[1950-03-01 to 1950-07-12]" an INTERVAL of day numbers (base/day.h), and of other labels only
 * stars are no WORD.
 */
shoal_spelling shoal_label_parse_as(bool days, const char *bytes, size_t size_bytes);

bool shoal_range_holds(const shoal_range *range, shoal_decimal number);
/* A total order of ranges; 0: the same numbers. */
int shoal_range_compare(const shoal_range *a, const shoal_range *b);
bool shoal_range_overlaps(const shoal_range *a, const shoal_range *b);
