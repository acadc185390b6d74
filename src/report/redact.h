/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report/redact: which counts a report may show. No count of people from 1 to k - 1 is shown or
 * follows by subtraction from others that are.
 */
#pragma once

#include "base/intern.h"
#include "report/page.h"

/* ---- class sizes */

/* Records in classes of `low` to `high` records (0: no upper end), before and after. */
typedef struct shoal_size_row {
  uint64_t low, high;
  uint64_t before, after;
} shoal_size_row;

/*
 * Bins of class sizes, joined with their neighbours until none has 1 to k - 1 records before or
 * after. Returns the number of rows.
 */
size_t shoal_class_sizes_rows(const shoal_class_sizes *before, const shoal_class_sizes *after,
                              uint64_t k, shoal_size_row rows[SHOAL_SIZE_BINS]);

/* Records in classes below `size`, summed over rows; false: `size` is within a joined row. */
bool shoal_class_sizes_below(const shoal_size_row *rows, size_t n, uint64_t size, uint64_t *before,
                             uint64_t *after);

/* ---- distributions */

/* Records with one label or value. */
typedef struct shoal_label_count {
  shoal_label label;
  uint64_t before, after;
} shoal_label_count;

/*
 * Fills the labels of `attribute`: at most SHOAL_HTML_REPORT_LABELS of them one by one, the rest as
 * "others". `numeric` orders by number, else by frequency. The strings are in the result's arena.
 */
shoal_status shoal_distribution_redact(shoal_result *result, const shoal_label_count *counts,
                                       size_t n, uint64_t k, bool numeric,
                                       shoal_html_report_attribute *attribute,
                                       shoal_error *error) SHOAL_MUST_CHECK;

/* A label or value as shown: cut after 160 bytes, between letters. NULL: no memory. */
const char *shoal_html_report_string(shoal_result *result, shoal_label label);

/* The ends of "[20-29]", "[2.5-5)" or a single number; false: the label is neither. */
bool shoal_html_report_interval(shoal_label label, double *low, double *high);
