/* SPDX-License-Identifier: Apache-2.0 */
/* describe/page: collects the data of the HTML report (report/page.h). */
#pragma once

#include "decide/release.h"
#include "report/redact.h"

/* Columns, settings and the policy's hash: for every command with a policy. */
shoal_status shoal_html_report_begin(shoal_result *result, const shoal_context *context,
                                     shoal_error *error) SHOAL_MUST_CHECK;

/*
 * What `options` request, for a release whose bytes are in `fd` and whose name is `path`
 * (NULL: it is only in memory). Cost for
 * SHOAL_DETAIL_HTML: a pass over the rows for each released column; the release is read again,
 * attacked and measured; every node of a small lattice is judged.
 */
shoal_status shoal_html_report_fill(shoal_release *release, int fd, const char *path,
                                    const shoal_write_options *options, const shoal_run *run,
                                    shoal_error *error) SHOAL_MUST_CHECK;

/*
 * Reads the release from `fd` as any recipient reads it: nothing of the engine's own classes is
 * used. The caller deletes *masked.
 */
shoal_status shoal_release_read_back(const shoal_release *release, int fd, const shoal_run *run,
                                     shoal_table **masked, shoal_error *error) SHOAL_MUST_CHECK;

/* ---- page_bins.c */

/*
 * A quasi-identifier of a local release, counted by bins of values, before and after. The caller
 * frees the bins; their labels are in the result's arena.
 */
shoal_status shoal_html_report_bins(const shoal_release *release, size_t q,
                                    shoal_label_count **bins, size_t *n_bins,
                                    shoal_error *error) SHOAL_MUST_CHECK;

/* ---- page_columns.c */

/* Distributions of the released columns. */
shoal_status shoal_html_report_attributes(shoal_release *release, shoal_html_report *page,
                                          shoal_error *error) SHOAL_MUST_CHECK;
/* Sample rows of the release, sorted by their cells. */
shoal_status shoal_html_report_sample(shoal_release *release, shoal_html_report *page,
                                      shoal_error *error) SHOAL_MUST_CHECK;
