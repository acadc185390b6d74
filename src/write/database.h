/* SPDX-License-Identifier: Apache-2.0 */
/*
 * write/database: a release becomes a table of a database, in one transaction:
 *
 *     open    connects, refuses a table that exists (unless it is to be replaced)
 *     fill    creates the table and copies the rows of a CSV file into it
 *     check   counts, in SQL, the classes of what was written that have too few rows or values
 *     read    what was written, as CSV: the caller compares it with what was verified
 *     commit  the table appears
 *     close   without a commit: nothing is left
 *
 * Each kind of database is a row of the table in database.c and a file of its own.
 */
#pragma once

#include "base/text.h"
#include "read/database.h"

/* A column of the table to be written. */
typedef struct shoal_sink_column {
  const char *name;
  const char *type;    /* that it has in the source; NULL: text */
  const char *comment; /* NULL: none */
  bool is_quasi;
  uint64_t min_distinct; /* values that each class must have; 0: any */
} shoal_sink_column;

typedef struct shoal_sink_plan {
  const shoal_sink_column *columns;
  size_t n_columns;
  const char *comment; /* on the table */
  uint64_t k;          /* rows that each class must have */
  char delimiter;      /* of the CSV file */
  const char *null_cell;
  const shoal_database_kind *kind; /* whose types the columns have */
} shoal_sink_plan;

typedef struct shoal_sink_kind {
  const shoal_database_kind *database;
  shoal_status (*open)(const shoal_address *address, bool replace, const char *identity,
                       shoal_patience patience, void **sink, shoal_error *error);
  shoal_status (*fill)(void *sink, const shoal_sink_plan *plan, int csv_fd, shoal_error *error);
  shoal_status (*check)(void *sink, const shoal_sink_plan *plan, uint64_t *n_violating,
                        shoal_error *error);
  shoal_status (*read)(void *sink, const shoal_sink_plan *plan, int csv_fd, shoal_error *error);
  shoal_status (*commit)(void *sink, shoal_error *error);
  void (*close)(void *sink);
} shoal_sink_kind;

extern const shoal_sink_kind shoal_postgresql_sink, shoal_sqlite_sink;

/* A table on its way. */
typedef struct shoal_table_sink {
  shoal_address address;
  const shoal_sink_kind *kind;
  void *state;
} shoal_table_sink;

/* Opens the address of a table. `replace`: it may exist, but not be the source, whose identity is
 * given if it is known. Close it also after an error. */
shoal_status shoal_table_sink_open(shoal_table_sink *sink, const char *path, bool replace,
                                   const char *identity, shoal_patience patience,
                                   shoal_error *error) SHOAL_MUST_CHECK;
/* Fills the table with the rows of a CSV file, checks it, and reads it back to `read_fd`. */
shoal_status shoal_table_sink_fill(shoal_table_sink *sink, const shoal_sink_plan *plan, int csv_fd,
                                   int read_fd, shoal_error *error) SHOAL_MUST_CHECK;
shoal_status shoal_table_sink_commit(shoal_table_sink *sink, shoal_error *error) SHOAL_MUST_CHECK;
void shoal_table_sink_close(shoal_table_sink *sink);

/* For the kinds: SHOAL_BAD_INPUT, the table exists, or is the source. */
shoal_status shoal_sink_exists(const shoal_address *address, bool is_source, shoal_error *error);
/* The error of a table whose classes do not satisfy the plan. */
shoal_status shoal_sink_rejected(const shoal_address *address, uint64_t n_violating,
                                 shoal_error *error);
/* Appends the query that counts classes with too few rows or values. `add_name` quotes. */
void shoal_sink_add_check(shoal_text *sql, const shoal_sink_plan *plan, const char *table,
                          void (*add_name)(const void *user, shoal_text *sql, const char *name),
                          const void *user);
/* Reads the next bytes of a file from *offset on; 0 bytes: its end. */
shoal_status shoal_sink_read_file(int fd, uint64_t *offset, char *bytes, size_t capacity,
                                  size_t *size_bytes, shoal_error *error) SHOAL_MUST_CHECK;
