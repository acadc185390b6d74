/* SPDX-License-Identifier: Apache-2.0 */
/*
 * read/stat_file: SPSS (.sav), Stata (.dta) and SAS (.sas7bdat) files -> columns of text, by
 * libreadstat. Numbers are spelled as short as they can be read back, dates as YYYY-MM-DD (with a
 * time: YYYY-MM-DD HH:MM:SS). System-missing, tagged and user-missing values are missing.
 *
 * libreadstat delivers the labels of .dta files after the values, so a file is read twice:
 * variables and labels, then values. It does not validate UTF-8: that is done here.
 */
#pragma once

#include "base/thread.h"

typedef enum shoal_stat_kind {
  SHOAL_STAT_NONE,
  SHOAL_STAT_SAV,
  SHOAL_STAT_DTA,
  SHOAL_STAT_SAS
} shoal_stat_kind;

/* The kind of a regular file by its first bytes; NONE also if it cannot be read. */
shoal_stat_kind shoal_stat_kind_of(const char *path);

/* The kind that is written to a file of that name: SAV, DTA or NONE. */
shoal_stat_kind shoal_stat_kind_by_name(const char *path);

typedef struct shoal_stat_options {
  const char *encoding; /* NULL: as the file says */
  bool labels;          /* cells are value labels where there are some */
  const char *missing;  /* the cell of a missing value */
} shoal_stat_options;

/* Receives a file: the names once, then rows in chunks. */
typedef struct shoal_stat_target {
  void *user;
  shoal_status (*names)(void *user, const char *const *names, size_t n, shoal_error *error);
  shoal_status (*rows)(void *user, const shoal_text_view *columns, size_t n_columns, size_t n_rows,
                       shoal_error *error);
} shoal_stat_target;

/*
 * Reads the file. *assumed: the encoding that an old .dta file does not name, else NULL.
 * SHOAL_BAD_INPUT: a damaged file, text that is not UTF-8 after decoding, no rows; shoal was built
 * without libreadstat.
 */
shoal_status shoal_stat_read(const char *path, const char *file, shoal_stat_kind kind,
                             const shoal_stat_options *options, const shoal_stat_target *target,
                             const shoal_run *run, const char **assumed,
                             shoal_error *error) SHOAL_MUST_CHECK;
