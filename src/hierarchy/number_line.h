/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hierarchy/number_line: exact numbers of one common scale, and labels of their ranges.
 *
 * All arithmetic is exact. Numbers, widths, bounds and codes are integers of one scale, at most
 * 9.3e18 x 1e18, which 128 bits hold with room for a few sums.
 */
#pragma once

#include "base/intern.h"
#include "base/wide.h"
#include "table/coding.h"

typedef struct shoal_number_line {
  unsigned scale;      /* a number is an integer x 10^-scale; 0: all are whole numbers */
  shoal_int128 factor; /* from the column's scale to this one */
  bool has_top, has_bottom;
  shoal_int128 top, bottom; /* codes (table/coding.h) */
} shoal_number_line;

/* Makes the scale fine enough for the number. */
void shoal_line_widen(unsigned *scale, shoal_decimal number);

/* A line of at least `scale` for a column of `column_scale` and its codes. */
shoal_number_line shoal_line_make(unsigned scale, unsigned column_scale,
                                  const shoal_coding *coding);

/* The number at the line's scale, which is fine enough for it. */
shoal_int128 shoal_line_at(const shoal_number_line *line, shoal_decimal number);

/* The multiple of `width` at or below the number. */
shoal_int128 shoal_line_floor(shoal_int128 number, shoal_int128 width);

/* Writes the number without trailing zeros, at most 41 bytes; returns its end. */
char *shoal_line_print(const shoal_number_line *line, char *out, shoal_int128 number);

/*
 * The label of the numbers from `low` to below `end`: "[20-29]" of whole numbers, "[20-30)" of
 * others, "[-5 to -2]" below zero, "20" if only that whole number is meant. Where it has numbers
 * that are under a code, it does not say how far it goes: ">=80", "<10", "*" (both).
 */
shoal_label shoal_line_label(const shoal_number_line *line, shoal_int128 low, shoal_int128 end,
                             char *out);
/* The same of all numbers below `end`, and of all from `low` on. */
shoal_label shoal_line_below(const shoal_number_line *line, shoal_int128 end, char *out);
shoal_label shoal_line_from(const shoal_number_line *line, shoal_int128 low, char *out);
