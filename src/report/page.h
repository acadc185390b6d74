/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report/page: what a page for a data protection officer tells beyond a result's figures, as plain
 * data in the result's arena. Nothing in it is raw: labels and values are those of the release, and
 * a number of people that is above 0 and below k stands nowhere, nor follows by subtraction.
 */
#ifndef SHOAL_REPORT_PAGE_H
#define SHOAL_REPORT_PAGE_H

#include "base/sha256.h"
#include "report/result.h"

enum { SHOAL_PAGE_ROWS = 10, SHOAL_PAGE_LABELS = 20 };

/* A column before, and what became of it, in plain words. */
typedef struct shoal_page_column {
  const char *name, *type, *role, *done;
  bool released;
} shoal_page_column;

/* Records with a released label or value, before and after. */
typedef struct shoal_page_label {
  const char *label;
  uint64_t before, after;
} shoal_page_label;

/* A released column. */
typedef struct shoal_page_attribute {
  const char *name, *role, *done;
  const shoal_attribute_outcome *outcome; /* a quasi-identifier's; NULL: it is none */
  const char *widths;                     /* of its intervals, in words; NULL: it has none */
  shoal_page_label *labels;               /* the most frequent, or numbers ascending */
  size_t n_labels;
  uint64_t n_others, others_before, others_after; /* all other labels together */
  bool before_hidden; /* 1 to k - 1 rows were left out: nothing before is told label by label */
} shoal_page_attribute;

/* A file by which the run can be repeated or the release be known again. */
typedef struct shoal_page_file {
  const char *use, *name;
  char sha256[SHOAL_SHA256_TEXT];
} shoal_page_file;

typedef struct shoal_page_setting {
  const char *name, *value;
  bool secret; /* in JSON only: a page says that it was given */
} shoal_page_setting;

typedef struct shoal_page {
  uint64_t k; /* numbers of people below it are not told */
  shoal_page_column *columns;
  size_t n_columns;
  const char **sample; /* rows of the release, n_sample x n_sample_columns cells */
  const char **sample_names;
  size_t n_sample, n_sample_columns;
  shoal_page_attribute *attributes;
  size_t n_attributes;
  shoal_page_file *files;
  size_t n_files;
  shoal_page_setting *settings;
  size_t n_settings;
  const shoal_result *lattice; /* every node, to be drawn; NULL: too many, or there is none */
} shoal_page;

#endif
