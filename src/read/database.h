/* SPDX-License-Identifier: Apache-2.0 */
/*
 * read/database: tables of databases as CSV text, a header and rows, so that all that reads files
 * reads them too. An address is the database, and after the last '#' the table or query:
 *
 *     postgresql://localhost/clinic#public.patients
 *     sqlite:clinic.db#query=SELECT * FROM patients WHERE ward = 3
 *     \---------------/ \----------------------------------------/
 *         database                  table or query
 *
 * Each kind of database is a row of the table in database.c and a file of its own. Messages name
 * the table, never a password, a query or a value.
 */
#pragma once

#include "base/error.h"

struct shoal_database_kind;

typedef struct shoal_address {
  const struct shoal_database_kind *kind;
  char *database; /* without the part after '#' */
  char *table;    /* NULL: there is a query, or neither */
  char *query;
  char *name; /* for messages and reports */
} shoal_address;

/* Is it the address of a database, not a path? */
bool shoal_is_database(const char *path);

/* What messages call a path: an address without passwords and queries. NULL: no memory. */
char *shoal_display_path(const char *path);

/* Does the address of a database name a table or query? */
bool shoal_address_has_table(const char *path);

/* The file behind a path: that of an SQLite address, written into `buffer`, or else the path
 * itself. */
const char *shoal_file_of_path(const char *path, char *buffer, size_t size);

/* Parses an address; it may lack a table. Reset it also after an error. */
shoal_status shoal_address_parse(const char *path, shoal_address *address,
                                 shoal_error *error) SHOAL_MUST_CHECK;
void shoal_address_reset(shoal_address *address);

/* Asked several times a second while a server works; true: stop (source.h). */
typedef struct shoal_patience {
  bool (*stop)(void *user);
  void *user;
} shoal_patience;

/* How rows become text. */
typedef struct shoal_reading {
  char delimiter;
  const char *null_cell; /* the cell of NULL */
  shoal_patience patience;
} shoal_reading;

/* A column of a table of a database. */
typedef struct shoal_database_column {
  char *name;
  char *type;     /* as CREATE TABLE takes it; "": none */
  bool is_number; /* its cells are numbers, not spellings */
} shoal_database_column;

typedef struct shoal_database_columns {
  const struct shoal_database_kind *kind;
  shoal_database_column *items;
  size_t n, capacity;
  char *identity; /* lines: one for each table that is read, also by a query or view */
} shoal_database_columns;

void shoal_database_columns_reset(shoal_database_columns *columns);
/* Is a table among those that are read? `identity` may be NULL: none. */
bool shoal_database_reads(const char *identity, const char *table);
/* Appends a column; the strings are copied. */
shoal_status shoal_database_columns_add(shoal_database_columns *columns, const char *name,
                                        const char *type, bool is_number,
                                        shoal_error *error) SHOAL_MUST_CHECK;

/* A kind of database. `reader` is the kind's own. */
typedef struct shoal_database_kind {
  const char *name;
  const char *prefixes[2]; /* of addresses */
  /* The name of a database without passwords; NULL: no memory. */
  char *(*display)(const char *database);
  /* Connects, and starts to read in a transaction of its own. */
  shoal_status (*open)(const shoal_address *address, const shoal_reading *reading, void **reader,
                       shoal_database_columns *columns, shoal_error *error);
  /* The next bytes; 0: the end. *n_rows: rows so far. */
  shoal_status (*read)(void *reader, char *bytes, size_t capacity, size_t *size_bytes,
                       uint64_t *n_rows, shoal_error *error);
  /* Rows that the table is thought to have; 0: unknown. */
  uint64_t (*estimate)(const void *reader);
  void (*close)(void *reader);
} shoal_database_kind;

extern const shoal_database_kind shoal_postgresql_kind, shoal_sqlite_kind;

/* SHOAL_BAD_INPUT: shoal was built without this library. */
shoal_status shoal_database_absent(const char *library, shoal_error *error) SHOAL_MUST_CHECK;
