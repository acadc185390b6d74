/* SPDX-License-Identifier: Apache-2.0 */
/* job/release_table: a verified release on its way into a database. Private to job/. */
#pragma once

#include "job/writing.h"
#include "write/database.h"

/* Asks the run's progress function whether to stop; `user` is a const shoal_run. */
bool shoal_run_must_stop(void *user);
shoal_patience shoal_run_patience(const shoal_run *run);

/* A column of the table; borrows the release. */
shoal_sink_column shoal_sink_column_of(const shoal_release *release, const char *name);

/* Columns, types and comments of the table. The plan borrows the release and the arena. */
shoal_status shoal_sink_plan_make(shoal_sink_plan *plan, const shoal_release *release,
                                  const shoal_csv_plan *columns, shoal_arena *arena,
                                  shoal_error *error) SHOAL_MUST_CHECK;

/*
 * Fills the table of an open sink with the verified CSV file `fd`, lets the database count its
 * classes, and compares what the database returns with the file.
 */
shoal_status shoal_release_fill_table(shoal_table_sink *sink, const shoal_writing *writing, int fd,
                                      shoal_error *error) SHOAL_MUST_CHECK;
