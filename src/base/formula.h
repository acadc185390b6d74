/* SPDX-License-Identifier: Apache-2.0 */
/*
 * base/formula: cells that a spreadsheet would run instead of show (CSV injection; OWASP names
 * the characters). A released cell can be written by whoever filled in the form, and is opened by
 * someone else.
 */
#ifndef SHOAL_BASE_FORMULA_H
#define SHOAL_BASE_FORMULA_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Is this cell to have an apostrophe put before it? It begins with =, +, -, @, a tab or a carriage
 * return and is no number; or it is such a cell, or such a number, behind apostrophes already: so
 * that two cells that differ still differ once they are quoted.
 */
bool shoal_is_formula(const char *bytes, size_t size_bytes);

/* Is this such a cell with its apostrophe? Without its first byte it is as it was. */
bool shoal_is_quoted_formula(const char *bytes, size_t size_bytes);

#endif
