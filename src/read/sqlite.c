/* SPDX-License-Identifier: Apache-2.0 */
/*
 * read/sqlite: a table or query of an SQLite file as CSV text. It is read in one transaction, so
 * other programs may write meanwhile, with a write-ahead log (WAL) or without. A cell has the type
 * that it was stored with: whole numbers in digits, others with the fewest digits that read back.
 */
#include "read/sqlite.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "read/arrow.h"

static const char PREFIX[] = "sqlite:";

static char *display(const char *database) { return strdup(database); }

#if SHOAL_SQLITE

enum { BUSY_MILLISECONDS = 10 * 1000, STEPS = 10 * 1000 };

/* ------------------------------------------------------------ connections */

const char *shoal_sqlite_path(const shoal_address *address) {
  return address->database + sizeof PREFIX - 1;
}

/* SQLite's texts about statements name objects; those of functions that fail may quote cells. */
static shoal_status fail(const shoal_sqlite *db, bool runs, shoal_error *error) {
  int code = sqlite3_errcode(db->connection) & 0xff;
  shoal_location location = {.file = db->name};
  if (code == SQLITE_INTERRUPT)
    return shoal_fail(error, SHOAL_CANCELLED, "stopped while the database worked");
  if (code == SQLITE_NOMEM) return shoal_fail_memory(error);
  if (code == SQLITE_CANTOPEN)
    return shoal_fail_at(error, SHOAL_BAD_INPUT, &location, "cannot be opened; check the name");
  bool wrong = code == SQLITE_ERROR || code == SQLITE_NOTADB || code == SQLITE_MISMATCH ||
               code == SQLITE_CONSTRAINT || code == SQLITE_AUTH || code == SQLITE_TOOBIG;
  const char *text = code == SQLITE_BUSY            ? "another program has locked the file"
                     : runs && code == SQLITE_ERROR ? "a function of the query failed"
                                                    : sqlite3_errmsg(db->connection);
  return shoal_fail_at(error, wrong ? SHOAL_BAD_INPUT : SHOAL_FAILED, &location,
                       "SQLite says: %.1000s", text);
}

shoal_status shoal_sqlite_fail(const shoal_sqlite *db, shoal_error *error) {
  return fail(db, true, error);
}

static int ask(void *user) {
  const shoal_sqlite *db = user;
  return db->patience.stop && db->patience.stop(db->patience.user);
}

shoal_status shoal_sqlite_open(shoal_sqlite *db, const shoal_address *address, bool writing,
                               shoal_patience patience, shoal_error *error) {
  *db = (shoal_sqlite){.name = address->name, .patience = patience};
  int flags = writing ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY;
  shoal_text path; /* a file, also if it is called ":memory:" or "file:.." */
  shoal_text_init(&path);
  const char *given = shoal_sqlite_path(address);
  shoal_text_print(&path, "%s%s", *given == '/' ? "" : "./", given);
  if (path.failed) return shoal_fail_memory(error);
  int code = sqlite3_open_v2(path.bytes, &db->connection, flags, NULL);
  shoal_text_reset(&path);
  if (!db->connection) return shoal_fail_memory(error);
  if (code != SQLITE_OK) return shoal_sqlite_fail(db, error);
  (void)sqlite3_busy_timeout(db->connection, BUSY_MILLISECONDS);
  sqlite3_progress_handler(db->connection, STEPS, ask, db);
  return SHOAL_OK;
}

void shoal_sqlite_close(shoal_sqlite *db) {
  (void)sqlite3_close(db->connection);
  memset(db, 0, sizeof *db);
}

shoal_status shoal_sqlite_run(shoal_sqlite *db, const char *sql, shoal_error *error) {
  return sqlite3_exec(db->connection, sql, NULL, NULL, NULL) == SQLITE_OK ? SHOAL_OK
                                                                          : fail(db, false, error);
}

shoal_status shoal_sqlite_run_text(shoal_sqlite *db, shoal_text *sql, shoal_error *error) {
  shoal_status status =
      sql->failed ? shoal_fail_memory(error) : shoal_sqlite_run(db, sql->bytes, error);
  shoal_text_reset(sql);
  return status;
}

shoal_status shoal_sqlite_prepare(shoal_sqlite *db, shoal_text *sql, sqlite3_stmt **statement,
                                  shoal_error *error) {
  const char *rest = "";
  *statement = NULL;
  shoal_status status = sql->failed ? shoal_fail_memory(error) : SHOAL_OK;
  if (status == SHOAL_OK &&
      sqlite3_prepare_v2(db->connection, sql->bytes, -1, statement, &rest) != SQLITE_OK)
    status = fail(db, false, error);
  if (status == SHOAL_OK && (!*statement || rest[strspn(rest, "; \t\r\n")])) {
    shoal_location location = {.file = db->name};
    status = shoal_fail_at(error, SHOAL_BAD_INPUT, &location, "the query must be one SELECT");
  }
  shoal_text_reset(sql);
  if (status == SHOAL_OK) return SHOAL_OK;
  (void)sqlite3_finalize(*statement);
  *statement = NULL;
  return status;
}

void shoal_sqlite_add_name(shoal_text *sql, const char *name) {
  char *quoted = sqlite3_mprintf("\"%w\"", name);
  if (quoted) shoal_text_add(sql, quoted);
  else sql->failed = true;
  sqlite3_free(quoted);
}

char *shoal_sqlite_table(const char *table) {
  if (strncmp(table, "main.", 5) == 0) table += 5;
  size_t size = strlen(table);
  bool quoted = size >= 2 && table[0] == '"' && table[size - 1] == '"';
  char *name = quoted ? strndup(table + 1, size - 2) : strdup(table);
  for (char *from = name, *to = name; quoted && name; from++) {
    *to++ = *from;
    if (!*from) break;
    if (from[0] == '"' && from[1] == '"') from++;
  }
  return name;
}

char *shoal_sqlite_identity(const shoal_address *address, const char *table) {
  char *path = realpath(shoal_sqlite_path(address), NULL);
  shoal_text text;
  shoal_text_init(&text);
  if (path) shoal_text_print(&text, "%s#%s", path, table);
  text.failed |= !path;
  for (char *c = text.failed ? NULL : text.bytes + strlen(path); c && *c; c++)
    if (*c >= 'A' && *c <= 'Z') *c = (char)(*c + 'a' - 'A');
  free(path);
  return shoal_text_take(&text);
}

/* ------------------------------------------------------------ cells */

static void add_text(shoal_text *to, const shoal_reading *reading, const char *bytes, size_t size) {
  const char special[] = {reading->delimiter, '"', '\n', '\r', 0};
  bool plain = size && !memchr(bytes, 0, size) && strcspn(bytes, special) == size;
  if (plain) shoal_text_add_bytes(to, bytes, size);
  else shoal_text_add_quoted(to, bytes, size);
}

bool shoal_sqlite_add_cell(sqlite3_stmt *statement, int c, const shoal_reading *reading,
                           shoal_text *to) {
  static const shoal_arrow_type real = {.kind = SHOAL_ARROW_FLOAT, .width = 8};
  char printed[SHOAL_ARROW_PRINTED];
  double number;
  uint64_t word;
  switch (sqlite3_column_type(statement, c)) {
  case SQLITE_NULL:
    if (*reading->null_cell) add_text(to, reading, reading->null_cell, strlen(reading->null_cell));
    return true;
  case SQLITE_BLOB: return false;
  case SQLITE_FLOAT:
    number = sqlite3_column_double(statement, c);
    memcpy(&word, &number, sizeof word);
    shoal_text_add_bytes(to, printed, shoal_arrow_print_word(&real, word, printed));
    return true;
  default: break;
  }
  const char *bytes = (const char *)sqlite3_column_text(statement, c);
  if (!bytes) to->failed = true;
  else add_text(to, reading, bytes, (size_t)sqlite3_column_bytes(statement, c));
  return true;
}

/* ------------------------------------------------------------ a table as text */

typedef struct reader {
  shoal_sqlite db;
  const shoal_address *address; /* while it is opened, */
  shoal_text tables;            /* and a line for each table that is read */
  sqlite3_stmt *rows;
  shoal_reading reading;
  shoal_text text; /* the header, or rows, that are being handed out */
  size_t used;
  uint64_t n_rows;
  bool ended;
} reader;

static shoal_status take_columns(reader *r, shoal_database_columns *columns, shoal_error *error) {
  const char separator[] = {r->reading.delimiter, 0};
  for (int c = 0; c < sqlite3_column_count(r->rows); c++) {
    const char *name = sqlite3_column_name(r->rows, c);
    const char *type = sqlite3_column_decltype(r->rows, c);
    if (!name) return shoal_fail_memory(error);
    SHOAL_TRY(shoal_database_columns_add(columns, name, type ? type : "", false, error));
    if (c) shoal_text_add(&r->text, separator);
    add_text(&r->text, &r->reading, name, strlen(name));
  }
  shoal_text_add(&r->text, "\n");
  return r->text.failed ? shoal_fail_memory(error) : SHOAL_OK;
}

/* An authorizer that notes each table of the file that a statement reads, below views too. */
static int note_table(void *user, int action, const char *table, const char *column,
                      const char *database, const char *view) {
  reader *r = user;
  (void)column, (void)view;
  if (action != SQLITE_READ || !table || !database || strcmp(database, "main") != 0)
    return SQLITE_OK;
  char *line = shoal_sqlite_identity(r->address, table);
  if (!line) r->tables.failed = true;
  else if (!r->tables.size_bytes || !shoal_database_reads(r->tables.bytes, line))
    shoal_text_print(&r->tables, "%s\n", line);
  free(line);
  return SQLITE_OK;
}

static shoal_status prepare(reader *r, const shoal_address *address,
                            shoal_database_columns *columns, shoal_error *error) {
  shoal_location location = {.file = address->name};
  shoal_text sql;
  shoal_text_init(&sql);
  if (!address->query && !address->table)
    return shoal_fail_at(error, SHOAL_BAD_INPUT, &location,
                         "names no table: add --table NAME, or --query");
  if (address->query) {
    shoal_text_add(&sql, address->query);
  } else {
    char *table = shoal_sqlite_table(address->table);
    shoal_text_add(&sql, "SELECT * FROM main.");
    if (table) shoal_sqlite_add_name(&sql, table);
    else sql.failed = true;
    free(table);
  }
  (void)sqlite3_set_authorizer(r->db.connection, note_table, r);
  shoal_status status = shoal_sqlite_prepare(&r->db, &sql, &r->rows, error);
  (void)sqlite3_set_authorizer(r->db.connection, NULL, NULL);
  columns->identity = shoal_text_take(&r->tables);
  SHOAL_TRY(status);
  if (!columns->identity) return shoal_fail_memory(error);
  if (!sqlite3_stmt_readonly(r->rows) || !sqlite3_column_count(r->rows))
    return shoal_fail_at(error, SHOAL_BAD_INPUT, &location,
                         "the query returns no columns: give a SELECT");
  return take_columns(r, columns, error);
}

static shoal_status open_reader(const shoal_address *address, const shoal_reading *reading,
                                void **out, shoal_database_columns *columns, shoal_error *error) {
  reader *r = shoal_alloc_zero(1, sizeof *r);
  if (!r) return shoal_fail_memory(error);
  *out = r;
  r->reading = *reading;
  r->address = address;
  shoal_text_init(&r->text);
  shoal_text_init(&r->tables);
  SHOAL_TRY(shoal_sqlite_open(&r->db, address, false, reading->patience, error));
  SHOAL_TRY(shoal_sqlite_run(&r->db, "BEGIN", error));
  return prepare(r, address, columns, error);
}

/* The next row as text. */
static shoal_status add_row(reader *r, shoal_error *error) {
  const char separator[] = {r->reading.delimiter, 0};
  int code = sqlite3_step(r->rows);
  r->ended = code == SQLITE_DONE;
  if (r->ended) return SHOAL_OK;
  if (code != SQLITE_ROW) return shoal_sqlite_fail(&r->db, error);
  r->n_rows++;
  for (int c = 0; c < sqlite3_column_count(r->rows); c++) {
    if (c) shoal_text_add(&r->text, separator);
    if (shoal_sqlite_add_cell(r->rows, c, &r->reading, &r->text)) continue;
    shoal_location location = {
        .file = r->db.name, .row = r->n_rows, .column = sqlite3_column_name(r->rows, c)};
    return shoal_fail_at(error, SHOAL_BAD_INPUT, &location,
                         "the cell is binary (BLOB); leave the column out with --query, or convert "
                         "it with hex()");
  }
  shoal_text_add(&r->text, "\n");
  return r->text.failed ? shoal_fail_memory(error) : SHOAL_OK;
}

static shoal_status read_bytes(void *state, char *bytes, size_t capacity, size_t *size_bytes,
                               uint64_t *n_rows, shoal_error *error) {
  reader *r = state;
  *size_bytes = 0;
  while (*size_bytes < capacity) {
    size_t n = r->text.size_bytes - r->used, room = capacity - *size_bytes;
    if (n > room) n = room;
    if (n) memcpy(bytes + *size_bytes, r->text.bytes + r->used, n);
    *size_bytes += n;
    r->used += n;
    if (r->used < r->text.size_bytes || r->ended) break;
    shoal_text_cut(&r->text, 0);
    r->used = 0;
    SHOAL_TRY(add_row(r, error));
  }
  *n_rows = r->n_rows;
  return SHOAL_OK;
}

static uint64_t estimate(const void *state) {
  (void)state;
  return 0;
}

static void close_reader(void *state) {
  reader *r = state;
  (void)sqlite3_finalize(r->rows);
  shoal_sqlite_close(&r->db);
  if (r->text.bytes) shoal_wipe_free(r->text.bytes, r->text.capacity);
  free(r);
}

const shoal_database_kind shoal_sqlite_kind = {.name = "SQLite",
                                               .prefixes = {PREFIX, NULL},
                                               .display = display,
                                               .open = open_reader,
                                               .read = read_bytes,
                                               .estimate = estimate,
                                               .close = close_reader};

#else

static shoal_status open_reader(const shoal_address *address, const shoal_reading *reading,
                                void **reader, shoal_database_columns *columns,
                                shoal_error *error) {
  (void)address, (void)reading, (void)reader, (void)columns;
  return shoal_database_absent("libsqlite3", error);
}

const shoal_database_kind shoal_sqlite_kind = {
    .name = "SQLite", .prefixes = {PREFIX, NULL}, .display = display, .open = open_reader};

#endif
