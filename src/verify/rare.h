/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verify/rare: does a cell show a value that too few rows of the original table have? The request
 * lists the values of such a column with their rows. Where labels are values and sets of them, each
 * value must be in the list and have enough rows. Labels of other kinds may be any words, but none
 * of the values with too few rows.
 */
#pragma once

#include "verify/counter.h"

/* The listed values of all such columns. */
typedef struct shoal_verify_rare shoal_verify_rare;

/* *rare is NULL if no column has rare values. */
shoal_status shoal_verify_rare_new(const shoal_verify_request *request, shoal_verify_rare **rare,
                                   shoal_error *error) SHOAL_MUST_CHECK;
void shoal_verify_rare_free(shoal_verify_rare *rare); /* NULL: nothing */

/* SHOAL_FAILED, with the column's name, if a cell of the current row shows such a value. */
shoal_status shoal_verify_check_rare(shoal_verify_rare *rare, const shoal_verify_cell *cells,
                                     shoal_error *error) SHOAL_MUST_CHECK;
