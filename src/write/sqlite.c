/* SPDX-License-Identifier: Apache-2.0 */
/*
 * write/sqlite: a release as a table of an SQLite file, in one transaction. Cells are bound as
 * text: the affinity of a column makes numbers of them where the source had them. A file that was
 * made for the release is removed if there is none.
 */
#include <string.h>

#include "read/sqlite.h"
#include "write/database.h"
#include "write/sink.h"

#if SHOAL_SQLITE

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/memory.h"
#include "read/blocks.h"

typedef struct sink {
  shoal_sqlite db;
  const shoal_address *address;
  char *name;  /* of the table */
  bool is_new; /* the file is of this release */
  bool exists; /* a table to be replaced */
  bool committed;
} sink;

static void add_name(const void *user, shoal_text *sql, const char *name) {
  (void)user;
  shoal_sqlite_add_name(sql, name);
}

static void add_table(const sink *s, shoal_text *sql) {
  shoal_text_add(sql, "main.");
  shoal_sqlite_add_name(sql, s->name);
}

/* The number that a query of one cell returns; `parameter` may be NULL. */
static shoal_status query_number(sink *s, shoal_text *sql, const char *parameter, uint64_t *number,
                                 shoal_error *error) {
  sqlite3_stmt *statement;
  SHOAL_TRY(shoal_sqlite_prepare(&s->db, sql, &statement, error));
  shoal_status status = SHOAL_OK;
  if (parameter) (void)sqlite3_bind_text(statement, 1, parameter, -1, SQLITE_STATIC);
  if (sqlite3_step(statement) == SQLITE_ROW) *number = (uint64_t)sqlite3_column_int64(statement, 0);
  else status = shoal_sqlite_fail(&s->db, error);
  (void)sqlite3_finalize(statement);
  return status;
}

/* Is it a table that was read? `identity` is that of the source. */
static shoal_status is_source(const sink *s, const char *identity, bool *same, shoal_error *error) {
  char *table = shoal_sqlite_identity(s->address, s->name);
  if (!table) return shoal_fail_memory(error);
  *same = shoal_database_reads(identity, table);
  free(table);
  return SHOAL_OK;
}

static shoal_status open_sink(const shoal_address *address, bool replace, const char *identity,
                              shoal_patience patience, void **out, shoal_error *error) {
  sink *s = shoal_alloc_zero(1, sizeof *s);
  if (!s) return shoal_fail_memory(error);
  *out = s;
  s->address = address;
  s->name = shoal_sqlite_table(address->table);
  if (!s->name) return shoal_fail_memory(error);
  int fd = open(shoal_sqlite_path(address), O_CREAT | O_EXCL | O_CLOEXEC | O_RDWR, 0666);
  s->is_new = fd >= 0;
  if (s->is_new) (void)close(fd);
  SHOAL_TRY(shoal_sqlite_open(&s->db, address, true, patience, error));
  SHOAL_TRY(shoal_sqlite_run(&s->db, "BEGIN IMMEDIATE", error));
  shoal_text sql;
  uint64_t n = 0;
  shoal_text_init(&sql);
  shoal_text_add(&sql, "SELECT count(*) FROM main.sqlite_master WHERE name = ? COLLATE NOCASE");
  SHOAL_TRY(query_number(s, &sql, s->name, &n, error));
  s->exists = n > 0;
  bool same = false;
  if (s->exists) SHOAL_TRY(is_source(s, identity, &same, error));
  return s->exists && (!replace || same) ? shoal_sink_exists(address, same, error) : SHOAL_OK;
}

/* ------------------------------------------------------------ rows */

static shoal_status create(sink *s, const shoal_sink_plan *plan, shoal_error *error) {
  shoal_text sql;
  shoal_text_init(&sql);
  if (s->exists) { /* others see the old one until the commit */
    shoal_text_add(&sql, "DROP TABLE ");
    add_table(s, &sql);
    shoal_text_add(&sql, "; ");
  }
  shoal_text_add(&sql, "CREATE TABLE ");
  add_table(s, &sql);
  shoal_text_add(&sql, " (");
  for (size_t c = 0; c < plan->n_columns; c++) {
    const char *type = plan->kind == &shoal_sqlite_kind ? plan->columns[c].type : NULL;
    if (c) shoal_text_add(&sql, ", ");
    shoal_sqlite_add_name(&sql, plan->columns[c].name);
    if (type && !*type) continue; /* no affinity */
    shoal_text_add(&sql, " ");
    shoal_sqlite_add_name(&sql, type ? type : "text");
  }
  shoal_text_add(&sql, ")");
  return shoal_sqlite_run_text(&s->db, &sql, error);
}

static shoal_status insert_block(sink *s, const shoal_sink_plan *plan, sqlite3_stmt *insert,
                                 const shoal_block *block, bool *is_header, shoal_error *error) {
  size_t n = plan->n_columns, null_size = strlen(plan->null_cell);
  for (size_t row = 0; row < block->cells.n_rows; row++) {
    if (*is_header) {
      *is_header = false;
      continue;
    }
    for (size_t c = 0; c < n; c++) {
      uint32_t begin = block->cells.begin[row * n + c], end = block->cells.end[row * n + c];
      const char *bytes = block->bytes + begin;
      bool missing = end - begin == null_size && memcmp(bytes, plan->null_cell, null_size) == 0;
      int i = (int)c + 1;
      if (missing) (void)sqlite3_bind_null(insert, i);
      else (void)sqlite3_bind_text(insert, i, bytes, (int)(end - begin), SQLITE_STATIC);
    }
    if (sqlite3_step(insert) != SQLITE_DONE) return shoal_sqlite_fail(&s->db, error);
    (void)sqlite3_reset(insert);
  }
  return SHOAL_OK;
}

static shoal_status insert_rows(sink *s, const shoal_sink_plan *plan, int csv_fd,
                                sqlite3_stmt *insert, shoal_error *error) {
  char path[40];
  shoal_blocks blocks;
  shoal_block block;
  bool is_header = true;
  (void)snprintf(path, sizeof path, "/proc/self/fd/%d", csv_fd);
  SHOAL_TRY(shoal_blocks_open(&blocks, path, "the release", "utf-8", false, error));
  blocks.delimiter = plan->delimiter;
  blocks.n_columns = plan->n_columns;
  shoal_block_init(&block);
  shoal_status status = SHOAL_OK;
  while (status == SHOAL_OK && shoal_blocks_next(&blocks, &block)) {
    shoal_csv_problem problem = shoal_csv_split(block.bytes, block.size_bytes, plan->delimiter,
                                                plan->n_columns, &block.cells);
    status = problem.fault == SHOAL_CSV_OK
                 ? insert_block(s, plan, insert, &block, &is_header, error)
                 : shoal_fail(error, SHOAL_FAILED, "cannot read the release back");
  }
  if (status == SHOAL_OK && (status = blocks.status) != SHOAL_OK && error) *error = blocks.error;
  shoal_block_reset(&block);
  shoal_blocks_close(&blocks);
  return status;
}

static shoal_status fill(void *state, const shoal_sink_plan *plan, int csv_fd, shoal_error *error) {
  sink *s = state;
  sqlite3_stmt *insert;
  shoal_text sql;
  SHOAL_TRY(create(s, plan, error));
  shoal_text_init(&sql);
  shoal_text_add(&sql, "INSERT INTO ");
  add_table(s, &sql);
  shoal_text_add(&sql, " VALUES (");
  for (size_t c = 0; c < plan->n_columns; c++) shoal_text_add(&sql, c ? ", ?" : "?");
  shoal_text_add(&sql, ")");
  SHOAL_TRY(shoal_sqlite_prepare(&s->db, &sql, &insert, error));
  shoal_status status = insert_rows(s, plan, csv_fd, insert, error);
  (void)sqlite3_finalize(insert);
  return status;
}

static shoal_status check(void *state, const shoal_sink_plan *plan, uint64_t *n_violating,
                          shoal_error *error) {
  shoal_text sql, table;
  shoal_text_init(&sql);
  shoal_text_init(&table);
  add_table(state, &table);
  if (!table.failed) shoal_sink_add_check(&sql, plan, table.bytes, add_name, NULL);
  sql.failed |= table.failed;
  shoal_text_reset(&table);
  return query_number(state, &sql, NULL, n_violating, error);
}

static shoal_status read_rows(sink *s, const shoal_sink_plan *plan, sqlite3_stmt *rows, int csv_fd,
                              shoal_text *text, shoal_error *error) {
  enum { PIECE_BYTES = 1 << 18 };
  const shoal_reading reading = {plan->delimiter, plan->null_cell, {0}};
  const char separator[] = {plan->delimiter, 0};
  for (int code = SQLITE_ROW; code == SQLITE_ROW;) {
    code = sqlite3_step(rows);
    if (code != SQLITE_ROW && code != SQLITE_DONE) return shoal_sqlite_fail(&s->db, error);
    for (int c = 0; code == SQLITE_ROW && c < (int)plan->n_columns; c++) {
      if (c) shoal_text_add(text, separator);
      text->failed |= !shoal_sqlite_add_cell(rows, c, &reading, text);
    }
    if (code == SQLITE_ROW) shoal_text_add(text, "\n");
    if (text->failed) return shoal_fail_memory(error);
    if (code == SQLITE_ROW && text->size_bytes < PIECE_BYTES) continue;
    SHOAL_TRY(shoal_write_all(csv_fd, "a temporary file", text->bytes, text->size_bytes, error));
    shoal_text_cut(text, 0);
  }
  return SHOAL_OK;
}

static shoal_status read_back(void *state, const shoal_sink_plan *plan, int csv_fd,
                              shoal_error *error) {
  sink *s = state;
  sqlite3_stmt *rows;
  shoal_text sql, text;
  shoal_text_init(&sql);
  shoal_text_add(&sql, "SELECT * FROM ");
  add_table(s, &sql);
  SHOAL_TRY(shoal_sqlite_prepare(&s->db, &sql, &rows, error));
  shoal_text_init(&text);
  shoal_status status = read_rows(s, plan, rows, csv_fd, &text, error);
  shoal_wipe_free(text.bytes, text.capacity);
  (void)sqlite3_finalize(rows);
  return status;
}

/* ------------------------------------------------------------ the end */

static shoal_status commit(void *state, shoal_error *error) {
  sink *s = state;
  SHOAL_TRY(shoal_sqlite_run(&s->db, "COMMIT", error));
  s->committed = true;
  return SHOAL_OK;
}

static void close_sink(void *state) {
  sink *s = state;
  shoal_sqlite_close(&s->db);
  if (s->is_new && !s->committed) (void)unlink(shoal_sqlite_path(s->address));
  free(s->name);
  free(s);
}

const shoal_sink_kind shoal_sqlite_sink = {.database = &shoal_sqlite_kind,
                                           .open = open_sink,
                                           .fill = fill,
                                           .check = check,
                                           .read = read_back,
                                           .commit = commit,
                                           .close = close_sink};

#else

static shoal_status open_sink(const shoal_address *address, bool replace, const char *identity,
                              shoal_patience patience, void **out, shoal_error *error) {
  (void)address, (void)replace, (void)identity, (void)patience, (void)out;
  return shoal_database_absent("libsqlite3", error);
}

const shoal_sink_kind shoal_sqlite_sink = {.database = &shoal_sqlite_kind, .open = open_sink};

#endif
