/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report/page: data of the HTML report beyond the figures of the result, in the result's arena.
 * Labels and values are those of the release. No number of people from 1 to k - 1 is in it or
 * follows by subtraction (report/redact.h).
 */
#pragma once

#include "base/sha256.h"
#include "report/result.h"

enum { SHOAL_HTML_REPORT_ROWS = 10, SHOAL_HTML_REPORT_LABELS = 20 };

/* A column of the original table, and how it was handled, in words. */
typedef struct shoal_html_report_column {
  const char *name, *type, *role, *done;
  bool released;
} shoal_html_report_column;

/* Records with a released label or value, before and after. */
typedef struct shoal_html_report_label {
  const char *label;
  uint64_t before, after;
} shoal_html_report_label;

/* A released column. */
typedef struct shoal_html_report_attribute {
  const char *name, *role, *done;
  const shoal_attribute_outcome *outcome; /* a quasi-identifier's; NULL: it is none */
  const char *widths;                     /* of its intervals, in words; NULL: it has none */
  bool binned;                            /* labels are bins of values: what is released overlaps */
  shoal_html_report_label *labels;        /* the most frequent, or numbers ascending */
  size_t n_labels;
  uint64_t n_others, others_before, others_after; /* all other labels together */
  bool before_hidden; /* 1 to k - 1 rows were suppressed: no numbers before are shown */
} shoal_html_report_attribute;

/* A file that the run read or wrote, with its hash. */
typedef struct shoal_html_report_file {
  const char *use, *name;
  char sha256[SHOAL_SHA256_TEXT];
} shoal_html_report_file;

typedef struct shoal_html_report_setting {
  const char *name, *value;
  bool secret; /* shown in the JSON only; the page says that it was given */
} shoal_html_report_setting;

typedef struct shoal_html_report {
  uint64_t k; /* numbers of people from 1 to k - 1 are withheld */
  shoal_html_report_column *columns;
  size_t n_columns;
  const char **sample; /* rows of the release, n_sample x n_sample_columns cells */
  const char **sample_names;
  size_t n_sample, n_sample_columns;
  shoal_html_report_attribute *attributes;
  size_t n_attributes;
  shoal_html_report_file *files;
  size_t n_files;
  shoal_html_report_setting *settings;
  size_t n_settings;
  const shoal_lattice_report *lattice; /* every node, to draw; NULL: too many, or no lattice */
} shoal_html_report;
