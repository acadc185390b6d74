/* SPDX-License-Identifier: Apache-2.0 */
/* job/release_columns: what is written in each column of a release. Private to job/. */
#pragma once

#include "job/release.h"
#include "write/csv.h"

/*
 * Fills the plan's columns: all but identifiers and what the policy drops. `styled`: numbers have
 * the decimal mark of the table; SPSS and Stata files have numbers, no spellings of them. `kept`:
 * with columns that the policy keeps. Makes pseudonyms of identifiers (job/pseudonyms.h). Reset the
 * columns also after an error.
 */
shoal_status shoal_release_columns_make(const shoal_release *release, bool styled, bool kept,
                                        shoal_csv_plan *out, shoal_error *error) SHOAL_MUST_CHECK;
void shoal_release_columns_reset(shoal_csv_plan *out);

/* Writes all columns of a table as CSV, a line for each row. */
shoal_status shoal_table_write_csv(const shoal_table *table, char delimiter, int fd,
                                   const shoal_run *run, uint64_t *n_rows,
                                   shoal_error *error) SHOAL_MUST_CHECK;

/* A cell for each value of cells->column; `commas`: with decimal commas. False: no memory. */
bool shoal_release_fill_values(shoal_csv_column *cells, const shoal_csv_plan *out, bool commas);
