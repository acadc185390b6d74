/* SPDX-License-Identifier: Apache-2.0 */
/* job/release: makes, compares and writes a release (decide/release.h). */
#pragma once

#include "decide/release.h"
#include "shoal/program.h"

/* Decides by the method's algorithm, and fills the result. The context and the result's input are
 * set. SHOAL_REFUSED if the method finds no release that satisfies the policy. */
shoal_status shoal_release_decide(shoal_release *release, const shoal_method *method,
                                  shoal_error *error) SHOAL_MUST_CHECK;

/* How a release is made. */
typedef struct shoal_make_options {
  bool is_variant;   /* to compare only: gates are not judged */
  bool is_uniform;   /* `auto` means uniform labels; other local recoding is SHOAL_BAD_INPUT */
  uint64_t max_work; /* of the full-domain search of `auto`: classes to read; 0: its own limit */
} shoal_make_options;

/*
 * Fills an empty release: context, decision and result, by the methods of the policy. The caller
 * resets it, also after an error. Borrows table, policy and run.
 */
shoal_status shoal_release_make(shoal_release *release, const shoal_table *table,
                                const shoal_policy *policy, const shoal_make_options *options,
                                const shoal_run *run, shoal_error *error) SHOAL_MUST_CHECK;
void shoal_release_reset(shoal_release *release);

/*
 * Makes variants of a release of `auto` and adds them to its result; nothing for a named algorithm.
 * Tables of more than SHOAL_ALTERNATIVES_ROWS rows are represented by a sample of that size, which
 * depends neither on the run nor on the order of rows. Cost: at most about three times that of the
 * release.
 */
enum { SHOAL_ALTERNATIVES_ROWS = 20000 };
shoal_status shoal_release_alternatives(shoal_release *release, const shoal_run *run,
                                        shoal_error *error) SHOAL_MUST_CHECK;

/* Such a sample: the columns that a method uses. Freed with shoal_table_subset_free. */
shoal_status shoal_release_sample(const shoal_context *context, shoal_table **table,
                                  shoal_error *error) SHOAL_MUST_CHECK;

/*
 * Does the local algorithm find a release? *release receives it, to be deleted, or NULL: it finds
 * none. Nothing is gated or reported. The table may be one for review.
 */
shoal_status shoal_release_try(const shoal_table *table, const shoal_policy *policy,
                               const shoal_method *method, const shoal_run *run,
                               shoal_release **release, shoal_error *error) SHOAL_MUST_CHECK;

/* The steps of `anonymize` and what api/release.c calls; contracts: shoal.h. */
shoal_status shoal_job_anonymize(const shoal_table *table, const shoal_policy *policy,
                                 const shoal_make_options *options, const shoal_run *run,
                                 shoal_release **release, shoal_error *error) SHOAL_MUST_CHECK;
shoal_status shoal_job_write(shoal_release *release, const char *path, const shoal_avoided *avoided,
                             const shoal_write_options *options, const shoal_run *run,
                             shoal_error *error) SHOAL_MUST_CHECK;
/* The whole of it inside of a database; *release, which has its own table, is for the result. */
shoal_status shoal_job_anonymize_inside(const char *source, const char *output,
                                        const shoal_policy *policy,
                                        const shoal_write_options *options, const shoal_run *run,
                                        shoal_release **release,
                                        shoal_error *error) SHOAL_MUST_CHECK;
shoal_status shoal_job_write_to(shoal_release *release, shoal_write_fn write, void *user,
                                const shoal_write_options *options, const shoal_run *run,
                                shoal_error *error) SHOAL_MUST_CHECK;
shoal_status shoal_job_to_arrow(shoal_release *release, const shoal_arrow_options *options,
                                const shoal_run *run, struct ArrowArrayStream *out,
                                shoal_error *error) SHOAL_MUST_CHECK;
shoal_status shoal_job_row_numbers(shoal_release *release, const uint64_t **rows, uint64_t *n,
                                   shoal_error *error) SHOAL_MUST_CHECK;
shoal_status shoal_job_compare(shoal_release *release, const shoal_table *masked,
                               const shoal_table *const *previous, size_t n_previous,
                               const shoal_run *run, shoal_error *error) SHOAL_MUST_CHECK;
void shoal_release_delete(shoal_release *release);
