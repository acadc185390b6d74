/* SPDX-License-Identifier: Apache-2.0 */
/*
 * write/stat_file: the rows of a release, written as CSV, become an SPSS (.sav) or Stata (.dta)
 * file. A column of which every cell is a number as libreadstat's readers spell it, or missing, is
 * a numeric variable; others are text. So the file reads back as the same cells. It has no value
 * labels, and a fixed date of creation: the same release gives the same bytes.
 */
#pragma once

#include "read/stat_file.h"

typedef struct shoal_stat_plan {
  shoal_stat_kind kind; /* SAV or DTA */
  const char *file;     /* its name in messages */
  char delimiter;       /* of the CSV file */
  size_t n_columns;
  uint64_t n_rows;
  const char *missing; /* the cell that becomes a missing number */
} shoal_stat_plan;

/*
 * Reads the CSV file `csv_fd` (header and rows) twice and writes to `fd`. SHOAL_BAD_INPUT: a name,
 * or a cell, that such files cannot have.
 */
shoal_status shoal_stat_write(const shoal_stat_plan *plan, int csv_fd, int fd,
                              shoal_error *error) SHOAL_MUST_CHECK;
