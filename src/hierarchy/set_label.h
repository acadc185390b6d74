/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hierarchy/set_label: the labels of the kind "sets" in local recoding.
 *
 *     label     value | set | "*"          "*": any value
 *     set       "{" element *( "|" element ) "}"
 *     element   value, or quoted: a double quote, the value with every double quote doubled, a
 *               double quote
 *
 * An element is quoted if it is empty, contains | { } or ", or consists of stars and spaces. A
 * value alone is written as it is, unless it starts with { or consists of stars and spaces: then it
 * is a set of one element. No two sets of values have the same label, and no set has the label of a
 * value.
 */
#pragma once

#include "base/intern.h"
#include "base/text.h"

/* The largest set that is written; a class with more values has the label "*". */
#define SHOAL_MAX_SET 16 /* verify/sets.c has its own constant; docs/limits.md */

/* Appends the label of n values, at least one, which it sorts by bytes; "*" if they are too many.
 */
void shoal_set_label_add(shoal_text *out, shoal_label *values, size_t n);

/*
 * Is it a set, of any number of elements? Elements need not be in order, but each must be quoted if
 * and only if the rule above says so.
 */
bool shoal_is_set_label(shoal_label label);

/*
 * The next element of a set label; false after the last. *at is 0 before the first call. A quoted
 * value with a double quote is copied into `scratch`, which the next call overwrites; it needs as
 * many bytes as the label has.
 */
bool shoal_set_label_next(shoal_label label, size_t *at, char *scratch, shoal_label *value);
