/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verify/stat_reader: the cells of an SPSS or Stata file that shoal wrote, as CSV, so that the
 * verifier proves the file itself. Its own code on libreadstat: text, and numbers without a format.
 */
#pragma once

#include "base/error.h"

typedef struct shoal_verify_stat {
  bool is_sav;         /* else .dta */
  char delimiter;      /* of the CSV */
  const char *missing; /* the cell of a missing number */
} shoal_verify_stat;

/* Reads the file `fd` and writes its header and rows to `csv_fd`. SHOAL_FAILED: it cannot. */
shoal_status shoal_verify_unpack(int fd, const shoal_verify_stat *stat, int csv_fd,
                                 shoal_error *error) SHOAL_MUST_CHECK;
