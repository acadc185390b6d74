/* SPDX-License-Identifier: Apache-2.0 */
/*
 * input: a file and a policy -> a finished table.
 *
 *     input.c          a header and a policy -> which columns are read, and as what
 *     stat_input.c     the same of SPSS, Stata and SAS files
 *     cells.c          numbers and dates get the spelling of the engine
 *     listed_values.c  values of noise rows that only categories list
 */
#pragma once

#include "policy/policy.h"
#include "read/stat_file.h"
#include "table/table.h"

/* Reads a CSV file, or by its name one of the kinds below. The policy says which columns matter:
 * columns without a use are not kept. */
shoal_status shoal_input_read(const char *path, const shoal_policy *policy, shoal_purpose purpose,
                              const char *delimiter, const shoal_run *run, shoal_table **table,
                              shoal_error *error) SHOAL_MUST_CHECK;
/* The same of an SPSS, Stata or SAS file. */
shoal_status shoal_input_read_stat(const char *path, shoal_stat_kind kind,
                                   const shoal_policy *policy, shoal_purpose purpose,
                                   const shoal_run *run, shoal_table **table,
                                   shoal_error *error) SHOAL_MUST_CHECK;
/* The records of each row. */
typedef struct shoal_counts {
  const uint64_t *items;
  size_t n;
} shoal_counts;

/* The same of an Arrow stream, which the caller releases. `counts` NULL: each row is a record. */
shoal_status shoal_input_read_arrow(struct ArrowArrayStream *stream, const shoal_counts *counts,
                                    const shoal_policy *policy, shoal_purpose purpose,
                                    const shoal_run *run, shoal_table **table,
                                    shoal_error *error) SHOAL_MUST_CHECK;
/* For it: makes the rows of a loaded table counted tuples. Their columns must have codes. */
shoal_status shoal_input_set_counts(shoal_table *table, const shoal_counts *counts,
                                    shoal_error *error) SHOAL_MUST_CHECK;
/* May a column of this role be absent from counted tuples? */
bool shoal_role_may_be_outside(shoal_role role);
/* See shoal_table_outside. */
shoal_status shoal_input_outside(shoal_table *table, const char *name,
                                 const shoal_column_figures *figures,
                                 shoal_error *error) SHOAL_MUST_CHECK;
/* See shoal_table_whole. */
shoal_status shoal_input_whole(shoal_table *table, const shoal_policy *policy, const char *name,
                               const shoal_text_view *values, const uint64_t *counts, size_t n,
                               shoal_error *error) SHOAL_MUST_CHECK;
/* The cell of a missing value, where the source has no spelling of it. */
const char *shoal_input_missing(const shoal_policy *policy);
/* Prepares a table that was filled from memory as reading it would have done. */
shoal_status shoal_input_finish(shoal_table *table, const shoal_policy *policy,
                                shoal_purpose purpose, shoal_error *error) SHOAL_MUST_CHECK;

/*
 * Can a job with `policy` that needs a table of `purpose` use this one, which may have been read
 * with another policy or for another purpose? SHOAL_BAD_INPUT if it is not finished, lacks cells
 * that the job needs, or is not what reading it with `policy` would give. Cost: a pass over the
 * dictionaries of the quasi-identifiers and sensitive columns.
 */
shoal_status shoal_input_check(const shoal_table *table, const shoal_policy *policy,
                               shoal_purpose purpose, shoal_error *error) SHOAL_MUST_CHECK;

/*
 * Lets noise rows use values that only categories list: *table becomes a table with them in
 * `arena`, which borrows from the old one. Nothing if no noise rows are allowed.
 */
shoal_status shoal_input_list_values(const shoal_table **table, const shoal_policy *policy,
                                     shoal_arena *arena, shoal_error *error) SHOAL_MUST_CHECK;
