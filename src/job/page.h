/* SPDX-License-Identifier: Apache-2.0 */
/* job/page: fills what a page tells (report/page.h). Private to this folder. */
#ifndef SHOAL_JOB_PAGE_H
#define SHOAL_JOB_PAGE_H

#include "job/release.h"
#include "report/measures.h"
#include "report/page.h"

/* The columns, the settings and the policy's hash: what every job on a policy can tell. */
shoal_status shoal_page_begin(shoal_result *result, const shoal_prepared *prepared,
                              shoal_error *error) SHOAL_MUST_CHECK;

/*
 * All that `options` ask for, of a release whose bytes are in `fd` and shall be named `path`. Cost:
 * the file is hashed; for SHOAL_DETAIL_PAGE a pass over the rows for each released column, the file
 * read again, attacked and measured, and every node of the lattice judged where there are not too
 * many.
 */
shoal_status shoal_page_fill(shoal_release *release, int fd, const char *path,
                             const shoal_write_options *options, const shoal_run *run,
                             shoal_error *error) SHOAL_MUST_CHECK;

/* Sizes of classes as measures of risk have them. */
void shoal_page_sizes(const shoal_identity_risk *risk, shoal_sizes *sizes);

/* ---- its parts */

/* Is it released, and are its values at hand? Of a counted table they are only where they decide
 * about classes. */
bool shoal_page_shows(const shoal_release *release, const shoal_page *page, size_t column);

/* Distributions of the released columns. */
shoal_status shoal_page_attributes(shoal_release *release, shoal_page *page,
                                   shoal_error *error) SHOAL_MUST_CHECK;
/* Rows of the release, drawn by the seed and shown in no order of the data's. */
shoal_status shoal_page_sample(shoal_release *release, shoal_page *page,
                               shoal_error *error) SHOAL_MUST_CHECK;
/* Every node, to be drawn; nothing where there are too many. */
shoal_status shoal_page_lattice(shoal_release *release, shoal_page *page,
                                shoal_error *error) SHOAL_MUST_CHECK;

/* What was written, read again: attacks played on it, and its utility and risk. */
shoal_status shoal_page_study(shoal_release *release, int fd, const shoal_run *run,
                              shoal_error *error) SHOAL_MUST_CHECK;

/* Records with one label or value. */
typedef struct shoal_tally {
  shoal_label label;
  uint64_t before, after;
} shoal_tally;

/*
 * What may be told of tallies, at most SHOAL_PAGE_LABELS of them one by one; see report/page.h.
 * `numeric` orders by number, else by frequency.
 */
shoal_status shoal_page_choose(shoal_result *result, const shoal_tally *tallies, size_t n,
                               uint64_t k, bool numeric, shoal_page_attribute *attribute,
                               shoal_error *error) SHOAL_MUST_CHECK;

/* A label or value as it is shown: long ones are cut between letters. NULL: no memory. */
const char *shoal_page_string(shoal_result *result, shoal_label label);

/* The ends of "[20-29]", "[2.5-5)" or a single number; false: the label is neither. */
bool shoal_page_interval(shoal_label label, double *low, double *high);

#endif
