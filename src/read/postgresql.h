/* SPDX-License-Identifier: Apache-2.0 */
/*
 * read/postgresql: a connection to PostgreSQL by libpq, for reading, writing and working inside of
 * it. While the server works, the caller's `stop` is asked; then the statement is cancelled on the
 * server. A connection that is closed within a transaction leaves nothing behind.
 *
 * Messages of the server are passed on only if they cannot contain values: those about syntax,
 * names, rights, connections and resources, and only until the columns are described. Statements
 * that run on cells afterwards may look up a cell as a name, and the message quotes it.
 */
#pragma once

#include "base/text.h"
#include "read/database.h"

#if SHOAL_POSTGRESQL
#include <libpq-fe.h>

typedef struct shoal_pg {
  PGconn *connection;
  const char *name; /* for messages; borrowed */
  shoal_patience patience;
  bool has_cells; /* statements run on cells of the source: no text of the server is passed on */
  char state[6];  /* SQLSTATE of the last error; "": the connection was lost, or none */
} shoal_pg;

/* Connects to the address, which stays the caller's. Close it also after an error. */
shoal_status shoal_pg_open(shoal_pg *pg, const shoal_address *address, shoal_patience patience,
                           shoal_error *error) SHOAL_MUST_CHECK;
/* Cancels what runs, and disconnects; an open transaction is rolled back. */
void shoal_pg_close(shoal_pg *pg);

/* The error of a result, or of the connection if there is none. Clears the result. */
shoal_status shoal_pg_fail(shoal_pg *pg, PGresult *result, shoal_error *error);

/* Runs a statement. `parameters` are text, sent beside it. *result (may be NULL) is cleared by the
 * caller; it is NULL after an error. */
shoal_status shoal_pg_query(shoal_pg *pg, const char *sql, const char *const *parameters, int n,
                            PGresult **result, shoal_error *error) SHOAL_MUST_CHECK;
static inline shoal_status shoal_pg_run(shoal_pg *pg, const char *sql, shoal_error *error) {
  return shoal_pg_query(pg, sql, NULL, 0, NULL, error);
}
/* Runs the statement in `sql`, and resets it. */
shoal_status shoal_pg_run_text(shoal_pg *pg, shoal_text *sql, shoal_error *error) SHOAL_MUST_CHECK;

/* Appends an identifier or a string, quoted by libpq. Strings are settings, never cells. */
void shoal_pg_add_name(const shoal_pg *pg, shoal_text *sql, const char *name);
void shoal_pg_add_string(const shoal_pg *pg, shoal_text *sql, const char *string);

/* Starts COPY .. TO STDOUT; resets `sql`. */
shoal_status shoal_pg_copy_out(shoal_pg *pg, shoal_text *sql, shoal_error *error) SHOAL_MUST_CHECK;
/* The next row, freed with PQfreemem; *size_bytes 0: the end, and *row is NULL. */
shoal_status shoal_pg_copy_row(shoal_pg *pg, char **row, size_t *size_bytes,
                               shoal_error *error) SHOAL_MUST_CHECK;
/* The whole of it into a file, from its offset on. *n_bytes (may be NULL) is added to. */
shoal_status shoal_pg_copy_file(shoal_pg *pg, shoal_text *sql, int fd, uint64_t *n_bytes,
                                shoal_error *error) SHOAL_MUST_CHECK;
/* Starts COPY .. FROM STDIN; resets `sql`. Then put bytes, and end it. */
shoal_status shoal_pg_copy_in(shoal_pg *pg, shoal_text *sql, shoal_error *error) SHOAL_MUST_CHECK;
shoal_status shoal_pg_copy_put(shoal_pg *pg, const char *bytes, size_t size_bytes,
                               shoal_error *error) SHOAL_MUST_CHECK;
shoal_status shoal_pg_copy_end(shoal_pg *pg, shoal_error *error) SHOAL_MUST_CHECK;

/* What is read. */
typedef struct shoal_pg_relation {
  char *sql;   /* after FROM: a quoted name, or a query in parentheses and a name */
  double rows; /* as the server estimates; 0: unknown */
  bool is_query;
} shoal_pg_relation;

/* Finds the table of an address, or takes its query, and describes its columns. */
shoal_status shoal_pg_describe(shoal_pg *pg, const shoal_address *address,
                               shoal_pg_relation *relation, shoal_database_columns *columns,
                               shoal_error *error) SHOAL_MUST_CHECK;

/* Appends the expression that gives the text of a column's cells, as it is read; NULL stays NULL.
 * `from` comes before the name, such as "s."; or "". */
void shoal_pg_add_cell(const shoal_pg *pg, shoal_text *sql, const char *from,
                       const shoal_database_column *column);
/* Appends "(FORMAT csv, ..)". */
void shoal_pg_add_format(const shoal_pg *pg, shoal_text *sql, char delimiter, const char *null_cell,
                         const char *more);

#endif
