/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job/inside: a release inside of PostgreSQL. Identifiers and kept columns stay on the server:
 *
 *     server                                 shoal
 *     GROUP BY  ----- counted tuples ----->  table (inside.c)
 *     aggregates ---- figures of others -->  gates, risks
 *                                            search, as for any table
 *     map tables <--- value -> label ------  decision (inside_write.c)
 *     CREATE TABLE AS SELECT .. JOIN
 *     GROUP BY  ----- counted labels ----->  compared with what the verifier proved
 *     COMMIT
 *
 * All of it is one transaction on one snapshot. Map tables are temporary, and filled by COPY:
 * parameters and literals could get into the server's log. Private to job/.
 */
#pragma once

#include "base/intern.h"
#include "job/release_table.h"
#include "write/postgresql.h"

#if SHOAL_POSTGRESQL

/* A column of the tuples. */
typedef struct shoal_inside_column {
  size_t source; /* its index in the columns of the table */
  shoal_role role;
  bool is_ranked;       /* a key of people: numbers instead of cells */
  shoal_strings values; /* distinct cells as the server has them */
  uint32_t *codes;      /* of each tuple */
  size_t capacity;
} shoal_inside_column;

typedef struct shoal_inside {
  shoal_pg_sink sink; /* the connection, and the output table */
  shoal_address source, output;
  shoal_pg_relation relation;
  shoal_database_columns columns; /* of the source */
  const shoal_policy *policy;
  const shoal_run *run;
  const char *null_cell;
  bool keep_order;
  shoal_inside_column *tuple;
  size_t n_tuple;
  uint64_t n_tuples, n_single; /* tuples, and those of one row */
  uint64_t bytes_received, bytes_sent;
} shoal_inside;

/* Reads counted tuples and figures into a new table. The caller resets `inside`, also after an
 * error. */
shoal_status shoal_inside_read(shoal_inside *inside, bool replace, shoal_table **table,
                               shoal_error *error) SHOAL_MUST_CHECK;
void shoal_inside_reset(shoal_inside *inside);

/* Writes a release of that table as job/release_write.c does: verified first, then on the server.
 */
shoal_status shoal_inside_write(shoal_release *release, shoal_inside *inside,
                                const shoal_write_options *options, const shoal_run *run,
                                shoal_error *error) SHOAL_MUST_CHECK;

/* Builds the table on the server and compares it with the verified CSV file `fd`. */
shoal_status shoal_inside_fill(shoal_inside *inside, const shoal_writing *writing, int fd,
                               shoal_error *error) SHOAL_MUST_CHECK;

#endif
