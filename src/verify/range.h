/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verify/range: labels that stand for numbers, by the verifier's own reading:
 *
 *     20         that number              [20-29]    both ends belong to it
 *     >=90  <=5  from, and up to          [2.5-5)    the upper end does not
 *     <10        below                    [-5 to -2] ends below zero
 *                                         [1200±50]  1150 to below 1250
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* A number times 10^18: 19 digits before the point and 18 after it. */
__extension__ typedef __int128 shoal_verify_number;

/* An end of the numbers that a label stands for; `in`: it is one of them. */
typedef struct shoal_verify_end {
  shoal_verify_number at;
  bool given, in;
} shoal_verify_end;

typedef struct shoal_verify_range {
  shoal_verify_end low, high;
} shoal_verify_range;

/* Reads [+-]digits[e[+-]digits] with a point anywhere among the digits. False: it is no number, or
 * has too many digits. */
bool shoal_verify_number_read(const char *bytes, size_t size_bytes, shoal_verify_number *number);

/* False: the label is no number and no range, or its ends are in the wrong order. */
bool shoal_verify_range_read(const char *bytes, size_t size_bytes, shoal_verify_range *range);

/* Are all numbers of `inner` in `outer`? */
bool shoal_verify_range_covers(const shoal_verify_range *outer, const shoal_verify_range *inner);
