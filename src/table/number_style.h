/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table/number_style: how a file spells its numbers: the decimal mark, and what separates groups of
 * three digits. 1.234,50 is a number of the style {',', "."}; the engine has it as 1234.50.
 */
#pragma once

#include "base/text.h"
#include "table/table.h"

typedef struct shoal_number_style {
  char decimal;          /* '.' or ',' */
  const char *thousands; /* "," "." "'" or " " (also non-breaking spaces); NULL: none */
} shoal_number_style;

/* Is it the style of the engine? */
static inline bool shoal_number_style_plain(shoal_number_style style) {
  return style.decimal == '.' && !style.thousands;
}

/*
 * Writes a number of that style as the engine has it; the digits stay, also zeros at the end.
 * False: the cell is no such number (or out->failed: no memory).
 */
bool shoal_number_restyle(shoal_number_style style, const char *bytes, size_t size_bytes,
                          shoal_text *out);

/* Are all values of the column, apart from missing ones, numbers of the style? */
bool shoal_number_style_fits(shoal_number_style style, const shoal_column *column);

/* An empty cell, one byte that is no digit, or a word that often means a missing value. */
bool shoal_number_looks_missing(const char *bytes, size_t size_bytes);

/*
 * Detects the style of a table: in at least one column all values, missing ones excepted, are
 * numbers of another style than the engine's and some are none of the engine's, and no column
 * contradicts it. Columns with codes only. Cost: a pass over the distinct values. Returns the plain
 * style if there is no evidence.
 */
shoal_number_style shoal_number_style_detect(const shoal_table *table);
