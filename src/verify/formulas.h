/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verify/formulas: which cells of a release would a spreadsheet run instead of show? Part of the
 * verifier: it reads cells in its own way, and asks nobody how they were written.
 */
#ifndef SHOAL_VERIFY_FORMULAS_H
#define SHOAL_VERIFY_FORMULAS_H

#include "verify/reader.h"

/* Does it begin with =, +, -, @, a tab or a carriage return, without being a number? */
bool shoal_verify_is_formula(const shoal_verify_cell *cell);

/* Marks the columns of a row that have such a cell. */
void shoal_verify_note_formulas(const shoal_verify_cell *cells, size_t n_cells, uint8_t *marks);

#endif
