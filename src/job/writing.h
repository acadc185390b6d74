/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job/writing: a release on its way to a file or to Arrow arrays: its rows in their order, and the
 * proof of what was written. Private to job/.
 */
#pragma once

#include <stdatomic.h>

#include "decide/release.h"
#include "verify/verify.h"
#include "write/atomic_file.h"
#include "write/csv.h"

/* All that writing and verifying need. */
typedef struct shoal_writing {
  shoal_release *release;
  const char *path; /* the file, or what messages call it */
  bool styled;      /* numbers are spelled as in the table: a file with numbers has no spellings */
  bool keep_order;
  bool in_memory; /* it goes to no file: nothing is quoted for spreadsheets */
  const shoal_run *run;
  shoal_csv_plan plan;
  uint32_t *order_of_rows;      /* plan.order, if it is not that of the table */
  shoal_random order;           /* of rows, unless keep_order */
  uint64_t n_rows;              /* written */
  shoal_atomic_file guards;     /* fd -1: no requirement has guards */
  shoal_atomic_file people;     /* fd -1: rows are counted */
  size_t n_person, n_household; /* columns of people */
} shoal_writing;

/*
 * Plans the rows and columns of a release. `kept`: with the columns that the policy keeps. The
 * caller resets it, also after an error.
 */
shoal_status shoal_writing_init(shoal_writing *writing, shoal_release *release, const char *path,
                                bool keep_order, bool kept, const shoal_run *run,
                                shoal_error *error) SHOAL_MUST_CHECK;
void shoal_writing_reset(shoal_writing *writing);

/* Rows that are about nobody; they are added only if nobody has several rows. */
static inline bool shoal_writing_has_noise(const shoal_writing *writing) {
  return writing->plan.table->n_rows > writing->release->context.table->n_rows;
}

/* Writes rows of the table, or reads the table's file again if the table lacks cells. */
shoal_status shoal_writing_rows(const shoal_writing *writing, const shoal_csv_plan *plan, int fd,
                                const char *name, uint64_t *n_rows,
                                shoal_error *error) SHOAL_MUST_CHECK;

/* Writes the cells that the verifier needs row by row, beside those of the release. */
shoal_status shoal_writing_spill(shoal_writing *writing, shoal_error *error) SHOAL_MUST_CHECK;

/*
 * Finds the released rows in their order: *rows, which the caller frees, are rows of the decision's
 * table; the release keeps their numbers in the caller's table. `rows` may be NULL.
 */
shoal_status shoal_release_number_rows(shoal_release *release, const shoal_writing *writing,
                                       uint64_t **rows, uint64_t *n,
                                       shoal_error *error) SHOAL_MUST_CHECK;

/* Proves the CSV file `fd`; `fd` holds the cells of the release, whatever it becomes. */
shoal_status shoal_writing_verify(const shoal_writing *writing, int fd,
                                  shoal_error *error) SHOAL_MUST_CHECK;
