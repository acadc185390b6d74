/* SPDX-License-Identifier: Apache-2.0 */
/* read/sqlite: a connection to an SQLite file, for reading and writing. */
#pragma once

#include "base/text.h"
#include "read/database.h"

#if SHOAL_SQLITE
#include <sqlite3.h>

typedef struct shoal_sqlite {
  sqlite3 *connection;
  const char *name; /* for messages; borrowed */
  shoal_patience patience;
} shoal_sqlite;

/* Opens the file of the address; `writing` creates it. Close it also after an error. */
shoal_status shoal_sqlite_open(shoal_sqlite *db, const shoal_address *address, bool writing,
                               shoal_patience patience, shoal_error *error) SHOAL_MUST_CHECK;
/* An open transaction is rolled back. */
void shoal_sqlite_close(shoal_sqlite *db);
/* The path of the file. */
const char *shoal_sqlite_path(const shoal_address *address);

/* The error of a statement that was running; texts that may quote cells are left out. */
shoal_status shoal_sqlite_fail(const shoal_sqlite *db, shoal_error *error);
shoal_status shoal_sqlite_run(shoal_sqlite *db, const char *sql,
                              shoal_error *error) SHOAL_MUST_CHECK;
/* Runs the statement in `sql`, and resets it. */
shoal_status shoal_sqlite_run_text(shoal_sqlite *db, shoal_text *sql,
                                   shoal_error *error) SHOAL_MUST_CHECK;
/* Prepares the one statement in `sql`, and resets it. The caller finalizes it. */
shoal_status shoal_sqlite_prepare(shoal_sqlite *db, shoal_text *sql, sqlite3_stmt **statement,
                                  shoal_error *error) SHOAL_MUST_CHECK;
/* Appends a quoted identifier. */
void shoal_sqlite_add_name(shoal_text *sql, const char *name);
/* The name of a table without its quotes and the schema "main"; NULL: no memory. */
char *shoal_sqlite_table(const char *table);

/* The file and a table of it, whose name ignores case; NULL: no memory. The caller frees it. */
char *shoal_sqlite_identity(const shoal_address *address, const char *table);

/* Appends the text of a cell of the current row, as CSV; false: it is binary. */
bool shoal_sqlite_add_cell(sqlite3_stmt *statement, int c, const shoal_reading *reading,
                           shoal_text *to);

#endif
