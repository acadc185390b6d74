/* SPDX-License-Identifier: Apache-2.0 */
/* read/postgresql: connections, statements, and a table or query as CSV text by COPY. */
#include "read/postgresql.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"

#if SHOAL_POSTGRESQL

enum { WAIT_MILLISECONDS = 100 };

static shoal_location location_of(const shoal_pg *pg) { return (shoal_location){.file = pg->name}; }

static void cancel(const shoal_pg *pg) {
  char reason[256];
  PGcancel *request = PQgetCancel(pg->connection);
  if (request) (void)PQcancel(request, reason, sizeof reason);
  PQfreeCancel(request);
}

static bool must_stop(const shoal_pg *pg) {
  return pg->patience.stop && pg->patience.stop(pg->patience.user);
}

/* Waits until the socket can be read. */
static shoal_status await(const shoal_pg *pg, shoal_error *error) {
  struct pollfd ready = {.fd = PQsocket(pg->connection), .events = POLLIN};
  while (poll(&ready, 1, WAIT_MILLISECONDS) <= 0) {
    if (!must_stop(pg)) continue;
    cancel(pg);
    return shoal_fail(error, SHOAL_CANCELLED, "stopped while the database worked");
  }
  return SHOAL_OK;
}

/* ------------------------------------------------------------ connections */

static void ignore_notice(void *user, const char *message) {
  (void)user;
  (void)message; /* may contain values */
}

/* Text of cells does not depend on the server's settings. */
static const char SETTINGS[] =
    "SET client_min_messages = error; SET DateStyle = 'ISO, YMD'; SET IntervalStyle = iso_8601; "
    "SET TimeZone = 'UTC'; SET extra_float_digits = 1; SET bytea_output = hex; "
    "SET standard_conforming_strings = on; SET synchronize_seqscans = off; SET work_mem = '64MB'";

/*
 * Host, port and name of the database that an address has; false: it cannot be read without doubt.
 * With special characters that are not written as %XX, a part of a password may be taken for the
 * host, port or name: then neither a message nor the server may get it.
 */
static bool parse_address(const char *database, shoal_text *name) {
  static const char *const keys[] = {"host", "port", "dbname"};
  static const char *const before[] = {"", ":", "/"};
  PQconninfoOption *options = PQconninfoParse(database, NULL);
  bool clear = options != NULL;
  for (size_t k = 0; k < sizeof keys / sizeof *keys; k++)
    for (PQconninfoOption *o = options; o && o->keyword; o++) {
      if (strcmp(o->keyword, keys[k]) != 0 || !o->val) continue;
      if (strchr(o->val, '@') || (k == 1 && o->val[strspn(o->val, "0123456789,")])) clear = false;
      if (k || o->val[0] != '/') shoal_text_print(name, "%s%s", before[k], o->val);
    }
  PQconninfoFree(options);
  return clear;
}

shoal_status shoal_pg_open(shoal_pg *pg, const shoal_address *address, shoal_patience patience,
                           shoal_error *error) {
  const char *const keys[] = {"dbname", "fallback_application_name", "client_encoding", NULL};
  const char *const values[] = {address->database, "shoal", "UTF8", NULL};
  *pg = (shoal_pg){.name = address->name, .patience = patience};
  shoal_location location = location_of(pg);
  shoal_text parts;
  shoal_text_init(&parts);
  bool clear = parse_address(address->database, &parts);
  shoal_text_reset(&parts);
  if (!clear) /* libpq's message may quote a password */
    return shoal_fail_at(error, SHOAL_BAD_INPUT, &location,
                         "is not an address of PostgreSQL: write "
                         "postgresql://USER@HOST:PORT/DATABASE, and special characters as %%XX");
  pg->connection = PQconnectdbParams(keys, values, 1);
  if (!pg->connection) return shoal_fail_memory(error);
  (void)PQsetNoticeProcessor(pg->connection, ignore_notice, NULL);
  if (PQstatus(pg->connection) != CONNECTION_OK) {
    char *message = strdup(PQerrorMessage(pg->connection));
    if (!message) return shoal_fail_memory(error);
    for (size_t size = strlen(message); size && message[size - 1] == '\n';) message[--size] = 0;
    for (char *c = message; *c; c++) /* libpq writes a line for each host, and indents advice */
      if (*c == '\n' || *c == '\t') *c = ' ';
    shoal_status status =
        shoal_fail_at(error, SHOAL_FAILED, &location, "cannot connect: %.1000s", message);
    free(message);
    return status;
  }
  if (PQserverVersion(pg->connection) < 120000)
    return shoal_fail_at(error, SHOAL_BAD_INPUT, &location,
                         "the server is older than PostgreSQL 12; export the table as CSV");
  return shoal_pg_run(pg, SETTINGS, error);
}

void shoal_pg_close(shoal_pg *pg) {
  if (pg->connection && PQtransactionStatus(pg->connection) == PQTRANS_ACTIVE) cancel(pg);
  PQfinish(pg->connection);
  memset(pg, 0, sizeof *pg);
}

/* ------------------------------------------------------------ statements */

/* The last result of what was sent; a COPY stays open. */
static shoal_status take_result(shoal_pg *pg, PGresult **result, shoal_error *error) {
  PGresult *last = NULL;
  for (;;) {
    while (PQisBusy(pg->connection)) {
      shoal_status status = await(pg, error);
      if (status != SHOAL_OK) {
        PQclear(last);
        return status;
      }
      if (!PQconsumeInput(pg->connection)) break;
    }
    PGresult *next = PQgetResult(pg->connection);
    if (!next) break;
    bool failed = last && PQresultStatus(last) == PGRES_FATAL_ERROR; /* the first says why */
    PQclear(failed ? next : last);
    if (!failed) last = next;
    ExecStatusType kind = PQresultStatus(last);
    if (kind == PGRES_COPY_IN || kind == PGRES_COPY_OUT) break;
    if (kind == PGRES_FATAL_ERROR && PQstatus(pg->connection) != CONNECTION_OK) break;
  }
  ExecStatusType kind = PQresultStatus(last); /* of NULL: a fatal error */
  if (kind == PGRES_FATAL_ERROR || kind == PGRES_BAD_RESPONSE)
    return shoal_pg_fail(pg, last, error);
  *result = last;
  return SHOAL_OK;
}

shoal_status shoal_pg_query(shoal_pg *pg, const char *sql, const char *const *parameters, int n,
                            PGresult **out, shoal_error *error) {
  PGresult *result = NULL;
  if (out) *out = NULL;
  int sent = n ? PQsendQueryParams(pg->connection, sql, n, NULL, parameters, NULL, NULL, 0)
               : PQsendQuery(pg->connection, sql);
  if (!sent) return shoal_pg_fail(pg, NULL, error);
  SHOAL_TRY(take_result(pg, &result, error));
  if (out) *out = result;
  else PQclear(result);
  return SHOAL_OK;
}

shoal_status shoal_pg_run_text(shoal_pg *pg, shoal_text *sql, shoal_error *error) {
  shoal_status status =
      sql->failed ? shoal_fail_memory(error) : shoal_pg_run(pg, sql->bytes, error);
  shoal_text_reset(sql);
  return status;
}

static void add_quoted(shoal_text *sql, char *quoted) {
  if (quoted) shoal_text_add(sql, quoted);
  else sql->failed = true;
  PQfreemem(quoted);
}

void shoal_pg_add_name(const shoal_pg *pg, shoal_text *sql, const char *name) {
  add_quoted(sql, PQescapeIdentifier(pg->connection, name, strlen(name)));
}

void shoal_pg_add_string(const shoal_pg *pg, shoal_text *sql, const char *string) {
  add_quoted(sql, PQescapeLiteral(pg->connection, string, strlen(string)));
}

/* ------------------------------------------------------------ COPY */

shoal_status shoal_pg_copy_out(shoal_pg *pg, shoal_text *sql, shoal_error *error) {
  return shoal_pg_run_text(pg, sql, error);
}

shoal_status shoal_pg_copy_in(shoal_pg *pg, shoal_text *sql, shoal_error *error) {
  return shoal_pg_run_text(pg, sql, error);
}

/* What COPY ended with. */
static shoal_status end_copy(shoal_pg *pg, shoal_error *error) {
  PGresult *result = NULL;
  SHOAL_TRY(take_result(pg, &result, error));
  PQclear(result);
  return SHOAL_OK;
}

/* The server's reason for the end of a COPY, if it has one. */
static shoal_status fail_copy(shoal_pg *pg, shoal_error *error) {
  shoal_status status = end_copy(pg, error);
  return status == SHOAL_OK ? shoal_pg_fail(pg, NULL, error) : status;
}

shoal_status shoal_pg_copy_row(shoal_pg *pg, char **row, size_t *size_bytes, shoal_error *error) {
  *row = NULL;
  *size_bytes = 0;
  for (;;) {
    int size = PQgetCopyData(pg->connection, row, 1);
    if (size > 0) {
      *size_bytes = (size_t)size;
      return SHOAL_OK;
    }
    if (size < 0) return end_copy(pg, error);
    SHOAL_TRY(await(pg, error));
    if (!PQconsumeInput(pg->connection)) return fail_copy(pg, error);
  }
}

/* Writes all bytes to a file. */
static shoal_status put_file(int fd, const char *bytes, size_t size, shoal_error *error) {
  while (size) {
    ssize_t n = write(fd, bytes, size);
    if (n < 0 && errno != EINTR)
      return shoal_fail(error, SHOAL_FAILED, "a temporary file: cannot write: %s", strerror(errno));
    if (n > 0) bytes += n, size -= (size_t)n;
  }
  return SHOAL_OK;
}

shoal_status shoal_pg_copy_file(shoal_pg *pg, shoal_text *sql, int fd, uint64_t *n_bytes,
                                shoal_error *error) {
  enum { PIECE_BYTES = 1 << 18 };
  SHOAL_TRY(shoal_pg_copy_out(pg, sql, error));
  shoal_text text;
  shoal_text_init(&text);
  shoal_status status = SHOAL_OK;
  for (bool ended = false; !ended && status == SHOAL_OK;) {
    char *row;
    size_t size;
    status = shoal_pg_copy_row(pg, &row, &size, error);
    if (status != SHOAL_OK) break;
    ended = !row;
    if (row) shoal_text_add_bytes(&text, row, size);
    PQfreemem(row);
    if (n_bytes) *n_bytes += size;
    if (text.failed) status = shoal_fail_memory(error);
    else if (ended || text.size_bytes >= PIECE_BYTES) {
      status = put_file(fd, text.bytes, text.size_bytes, error);
      shoal_text_cut(&text, 0);
    }
  }
  shoal_wipe_free(text.bytes, text.capacity);
  return status;
}

shoal_status shoal_pg_copy_put(shoal_pg *pg, const char *bytes, size_t size_bytes,
                               shoal_error *error) {
  if (must_stop(pg)) {
    cancel(pg);
    return shoal_fail(error, SHOAL_CANCELLED, "stopped while the database worked");
  }
  if (PQputCopyData(pg->connection, bytes, (int)size_bytes) == 1) return SHOAL_OK;
  return fail_copy(pg, error);
}

shoal_status shoal_pg_copy_end(shoal_pg *pg, shoal_error *error) {
  if (PQputCopyEnd(pg->connection, NULL) != 1) return shoal_pg_fail(pg, NULL, error);
  return end_copy(pg, error);
}

void shoal_pg_add_format(const shoal_pg *pg, shoal_text *sql, char delimiter, const char *null_cell,
                         const char *more) {
  const char text[] = {delimiter, 0};
  shoal_text_add(sql, " (FORMAT csv, DELIMITER ");
  shoal_pg_add_string(pg, sql, text);
  shoal_text_add(sql, ", NULL ");
  shoal_pg_add_string(pg, sql, null_cell);
  shoal_text_print(sql, "%s)", more);
}

/* ------------------------------------------------------------ columns */

/* Object identifiers of built-in types: the same in every server. */
enum {
  OID_INT8 = 20,
  OID_INT2 = 21,
  OID_INT4 = 23,
  OID_OID = 26,
  OID_FLOAT4 = 700,
  OID_FLOAT8 = 701,
  OID_NUMERIC = 1700
};

static bool is_number(Oid type) {
  return type == OID_INT2 || type == OID_INT4 || type == OID_INT8 || type == OID_OID ||
         type == OID_FLOAT4 || type == OID_FLOAT8 || type == OID_NUMERIC;
}

void shoal_pg_add_cell(const shoal_pg *pg, shoal_text *sql, const char *from,
                       const shoal_database_column *column) {
  const char *type = column->type;
  bool has_nan = strcmp(type, "real") == 0 || strcmp(type, "double precision") == 0 ||
                 strncmp(type, "numeric", 7) == 0;
  if (has_nan) shoal_text_add(sql, "nullif("); /* NaN is missing, as in other sources */
  shoal_text_add(sql, from);
  shoal_pg_add_name(pg, sql, column->name);
  shoal_text_add(sql, has_nan ? ", 'NaN')" : "");
  shoal_text_add(sql, "::text COLLATE \"C\""); /* cells with other bytes are other cells */
}

/* An array of numbers as text, of each column of a description. */
static char *list_of(const PGresult *described, bool modifiers) {
  shoal_text list;
  shoal_text_init(&list);
  for (int c = 0; c < PQnfields(described); c++)
    shoal_text_print(&list, "%s%lld", c ? "," : "{",
                     modifiers ? (long long)PQfmod(described, c)
                               : (long long)PQftype(described, c));
  shoal_text_add(&list, "}");
  return shoal_text_take(&list);
}

/* Columns and their types from the description of a statement. */
static shoal_status take_columns(shoal_pg *pg, const PGresult *described,
                                 shoal_database_columns *columns, shoal_error *error) {
  char *types = list_of(described, false), *modifiers = list_of(described, true);
  const char *const parameters[] = {types, modifiers};
  PGresult *names = NULL;
  shoal_status status = !types || !modifiers
                            ? shoal_fail_memory(error)
                            : shoal_pg_query(pg,
                                             "SELECT pg_catalog.format_type(o, m) FROM "
                                             "ROWS FROM (pg_catalog.unnest($1::oid[]), "
                                             "pg_catalog.unnest($2::int4[])) "
                                             "WITH ORDINALITY AS t (o, m, n) ORDER BY n",
                                             parameters, 2, &names, error);
  for (int c = 0; status == SHOAL_OK && c < PQnfields(described); c++)
    status = shoal_database_columns_add(columns, PQfname(described, c), PQgetvalue(names, c, 0),
                                        is_number(PQftype(described, c)), error);
  PQclear(names);
  free(types);
  free(modifiers);
  return status;
}

/* A query may return a name twice. */
static shoal_status check_twice(const shoal_pg *pg, const shoal_database_columns *columns,
                                shoal_error *error) {
  shoal_location location = location_of(pg);
  for (size_t c = 1; c < columns->n; c++)
    for (size_t b = 0; b < c; b++)
      if (strcmp(columns->items[b].name, columns->items[c].name) == 0)
        return shoal_fail_at(error, SHOAL_BAD_INPUT, &location,
                             "columns %zu and %zu of the query have the same name; rename one",
                             b + 1, c + 1);
  return SHOAL_OK;
}

/* The tables that a prepared statement reads: the transaction has locked them, below views too. */
static shoal_status take_identity(shoal_pg *pg, shoal_database_columns *columns,
                                  shoal_error *error) {
  PGresult *found = NULL;
  SHOAL_TRY(shoal_pg_query(
      pg,
      "SELECT pg_catalog.string_agg(pg_catalog.concat_ws('/', d.oid, d.datname, l.relation), "
      "E'\\n') FROM pg_catalog.pg_locks l JOIN pg_catalog.pg_database d ON d.oid = l.database "
      "WHERE l.locktype = 'relation' AND l.pid = pg_catalog.pg_backend_pid()",
      NULL, 0, &found, error));
  columns->identity = strdup(PQgetvalue(found, 0, 0));
  PQclear(found);
  return columns->identity ? SHOAL_OK : shoal_fail_memory(error);
}

/* Prepares the statement: it must be one query that returns rows. What runs later has cells. */
static shoal_status describe(shoal_pg *pg, const char *query, shoal_database_columns *columns,
                             shoal_error *error) {
  shoal_location location = location_of(pg);
  PGresult *result = NULL;
  if (!PQsendPrepare(pg->connection, "", query, 0, NULL)) return shoal_pg_fail(pg, NULL, error);
  SHOAL_TRY(take_result(pg, &result, error));
  PQclear(result);
  if (!PQsendDescribePrepared(pg->connection, "")) return shoal_pg_fail(pg, NULL, error);
  SHOAL_TRY(take_result(pg, &result, error));
  shoal_status status = PQnfields(result)
                            ? take_columns(pg, result, columns, error)
                            : shoal_fail_at(error, SHOAL_BAD_INPUT, &location,
                                            "the query returns no columns: give a SELECT");
  PQclear(result);
  if (status == SHOAL_OK) status = check_twice(pg, columns, error);
  if (status == SHOAL_OK) status = take_identity(pg, columns, error);
  pg->has_cells = true;
  return status;
}

static shoal_status find_table(shoal_pg *pg, const char *table, shoal_pg_relation *relation,
                               shoal_error *error) {
  PGresult *found = NULL;
  shoal_location location = location_of(pg);
  SHOAL_TRY(shoal_pg_query(
      pg,
      "SELECT pg_catalog.quote_ident(n.nspname) || '.' || pg_catalog.quote_ident(c.relname), "
      "greatest(c.reltuples, 0) "
      "FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace "
      "WHERE c.oid = pg_catalog.to_regclass($1)::oid AND c.relkind IN ('r', 'p', 'v', 'm', 'f')",
      &table, 1, &found, error));
  shoal_status status = SHOAL_OK;
  if (PQntuples(found) != 1) {
    status = shoal_fail_at(error, SHOAL_BAD_INPUT, &location,
                           "there is no such table; write SCHEMA.NAME, and names with capitals, "
                           "dots or blanks in double quotes");
  } else {
    relation->sql = strdup(PQgetvalue(found, 0, 0));
    relation->rows = strtod(PQgetvalue(found, 0, 1), NULL);
    if (!relation->sql) status = shoal_fail_memory(error);
  }
  PQclear(found);
  return status;
}

/* The query in parentheses, without semicolons at its end; a newline ends a comment. */
static char *wrap(const char *query) {
  size_t size = strlen(query);
  while (size && strchr("; \t\r\n", query[size - 1])) size--;
  shoal_text sql;
  shoal_text_init(&sql);
  shoal_text_add(&sql, "(");
  shoal_text_add_bytes(&sql, query, size);
  shoal_text_add(&sql, "\n) AS shoal_query");
  return shoal_text_take(&sql);
}

shoal_status shoal_pg_describe(shoal_pg *pg, const shoal_address *address,
                               shoal_pg_relation *relation, shoal_database_columns *columns,
                               shoal_error *error) {
  shoal_location location = location_of(pg);
  if (address->query) {
    relation->is_query = true;
    if (!(relation->sql = wrap(address->query))) return shoal_fail_memory(error);
    return describe(pg, address->query, columns, error);
  }
  if (!address->table)
    return shoal_fail_at(error, SHOAL_BAD_INPUT, &location,
                         "names no table: add --table SCHEMA.NAME, or --query");
  SHOAL_TRY(find_table(pg, address->table, relation, error));
  shoal_text sql;
  shoal_text_init(&sql);
  shoal_text_print(&sql, "SELECT * FROM %s", relation->sql);
  shoal_status status =
      sql.failed ? shoal_fail_memory(error) : describe(pg, sql.bytes, columns, error);
  shoal_text_reset(&sql);
  return status;
}

/* ------------------------------------------------------------ a table as text */

typedef struct reader {
  shoal_pg pg;
  double estimate;
  uint64_t n_rows;
  char *row; /* that is being handed out */
  size_t size, used;
  bool ended;
} reader;

/* Most cells are text by themselves; booleans would be t and f. */
static shoal_status start_copy(reader *r, const shoal_pg_relation *relation,
                               const shoal_reading *reading, const shoal_database_columns *columns,
                               shoal_error *error) {
  shoal_text sql;
  shoal_text_init(&sql);
  for (size_t c = 0; c < columns->n; c++) {
    shoal_text_add(&sql, c ? ", " : "COPY (SELECT ");
    shoal_pg_add_cell(&r->pg, &sql, "", &columns->items[c]);
    shoal_text_add(&sql, " AS ");
    shoal_pg_add_name(&r->pg, &sql, columns->items[c].name);
  }
  shoal_text_print(&sql, " FROM %s) TO STDOUT", relation->sql);
  shoal_pg_add_format(&r->pg, &sql, reading->delimiter, reading->null_cell, ", HEADER");
  return shoal_pg_copy_out(&r->pg, &sql, error);
}

static shoal_status open_reader(const shoal_address *address, const shoal_reading *reading,
                                void **out, shoal_database_columns *columns, shoal_error *error) {
  reader *r = shoal_alloc_zero(1, sizeof *r);
  if (!r) return shoal_fail_memory(error);
  *out = r;
  shoal_pg_relation relation = {0};
  SHOAL_TRY(shoal_pg_open(&r->pg, address, reading->patience, error));
  SHOAL_TRY(shoal_pg_run(&r->pg, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", error));
  shoal_status status = shoal_pg_describe(&r->pg, address, &relation, columns, error);
  if (status == SHOAL_OK) status = start_copy(r, &relation, reading, columns, error);
  r->estimate = relation.rows;
  free(relation.sql);
  return status;
}

static shoal_status read_bytes(void *state, char *bytes, size_t capacity, size_t *size_bytes,
                               uint64_t *n_rows, shoal_error *error) {
  reader *r = state;
  *size_bytes = 0;
  while (!r->ended && *size_bytes < capacity) {
    if (!r->row) {
      r->used = 0;
      shoal_status status = shoal_pg_copy_row(&r->pg, &r->row, &r->size, error);
      if (status != SHOAL_OK) return status;
      r->ended = !r->row;
      if (r->ended) break;
      r->n_rows++;
    }
    size_t n = r->size - r->used, room = capacity - *size_bytes;
    if (n > room) n = room;
    memcpy(bytes + *size_bytes, r->row + r->used, n);
    *size_bytes += n;
    r->used += n;
    if (r->used < r->size) break;
    PQfreemem(r->row);
    r->row = NULL;
  }
  *n_rows = r->n_rows ? r->n_rows - 1 : 0; /* without the header */
  return SHOAL_OK;
}

static uint64_t estimate(const void *state) {
  const reader *r = state;
  return r->estimate > 0 && r->estimate < 1e18 ? (uint64_t)r->estimate : 0;
}

static void close_reader(void *state) {
  reader *r = state;
  PQfreemem(r->row);
  shoal_pg_close(&r->pg);
  free(r);
}

static char *display(const char *database) {
  shoal_text name;
  shoal_text_init(&name);
  shoal_text_add(&name, "postgresql://");
  if (!parse_address(database, &name)) shoal_text_cut(&name, strlen("postgresql:"));
  return shoal_text_take(&name);
}

const shoal_database_kind shoal_postgresql_kind = {.name = "PostgreSQL",
                                                   .prefixes = {"postgresql:", "postgres:"},
                                                   .display = display,
                                                   .open = open_reader,
                                                   .read = read_bytes,
                                                   .estimate = estimate,
                                                   .close = close_reader};

#else

static char *display(const char *database) {
  (void)database;
  return strdup("postgresql:");
}

static shoal_status open_reader(const shoal_address *address, const shoal_reading *reading,
                                void **reader, shoal_database_columns *columns,
                                shoal_error *error) {
  (void)address, (void)reading, (void)reader, (void)columns;
  return shoal_database_absent("libpq", error);
}

const shoal_database_kind shoal_postgresql_kind = {.name = "PostgreSQL",
                                                   .prefixes = {"postgresql:", "postgres:"},
                                                   .display = display,
                                                   .open = open_reader};

#endif
