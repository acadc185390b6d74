/* SPDX-License-Identifier: Apache-2.0 */
/* write/database: the table of kinds of databases that a release can be written to. */
#include "write/database.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static const shoal_sink_kind *const kinds[] = {&shoal_postgresql_sink, &shoal_sqlite_sink};

shoal_status shoal_table_sink_open(shoal_table_sink *sink, const char *path, bool replace,
                                   const char *identity, shoal_patience patience,
                                   shoal_error *error) {
  *sink = (shoal_table_sink){0};
  SHOAL_TRY(shoal_address_parse(path, &sink->address, error));
  if (!sink->address.table)
    return shoal_fail_at(error, SHOAL_BAD_INPUT, &(shoal_location){.file = sink->address.name},
                         "names no table to write: add --output-table NAME");
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    if (kinds[i]->database == sink->address.kind) sink->kind = kinds[i];
  return sink->kind->open(&sink->address, replace, identity, patience, &sink->state, error);
}

shoal_status shoal_table_sink_fill(shoal_table_sink *sink, const shoal_sink_plan *plan, int csv_fd,
                                   int read_fd, shoal_error *error) {
  uint64_t n_violating = 0;
  SHOAL_TRY(sink->kind->fill(sink->state, plan, csv_fd, error));
  SHOAL_TRY(sink->kind->check(sink->state, plan, &n_violating, error));
  if (n_violating) return shoal_sink_rejected(&sink->address, n_violating, error);
  return sink->kind->read(sink->state, plan, read_fd, error);
}

shoal_status shoal_table_sink_commit(shoal_table_sink *sink, shoal_error *error) {
  return sink->kind->commit(sink->state, error);
}

void shoal_table_sink_close(shoal_table_sink *sink) {
  if (sink->state) sink->kind->close(sink->state);
  shoal_address_reset(&sink->address);
  *sink = (shoal_table_sink){0};
}

/* ------------------------------------------------------------ for the kinds */

shoal_status shoal_sink_exists(const shoal_address *address, bool is_source, shoal_error *error) {
  return shoal_fail_at(error, SHOAL_BAD_INPUT, &(shoal_location){.file = address->name}, "%s",
                       is_source ? "is the table that is read: choose another output table"
                                 : "exists: choose another output table, or add --replace");
}

shoal_status shoal_sink_rejected(const shoal_address *address, uint64_t n_violating,
                                 shoal_error *error) {
  (void)shoal_fail_at(error, SHOAL_FAILED, &(shoal_location){.file = address->name},
                      "the database counts %llu classes with too few rows or values: nothing "
                      "was written; this is a bug in shoal, please report it",
                      (unsigned long long)n_violating);
  return shoal_fail_as(error, SHOAL_FAILED, SHOAL_NOT_VERIFIED);
}

/* Writes SQL of a plan. */
typedef struct checking {
  shoal_text *sql;
  const shoal_sink_plan *plan;
  void (*add_name)(const void *user, shoal_text *sql, const char *name);
  const void *user;
} checking;

static void add_quasi(const checking *c, const char *before) {
  for (size_t i = 0; i < c->plan->n_columns; i++) {
    if (!c->plan->columns[i].is_quasi) continue;
    shoal_text_add(c->sql, before);
    c->add_name(c->user, c->sql, c->plan->columns[i].name);
    before = ", ";
  }
}

/* Classes with fewer than k rows. */
static void add_rows_check(const checking *c, const char *table) {
  shoal_text_print(c->sql, "(SELECT count(*) FROM (SELECT 1 FROM %s", table);
  add_quasi(c, " GROUP BY ");
  shoal_text_print(c->sql, " HAVING count(*) < %llu) AS shoal_classes)",
                   (unsigned long long)c->plan->k);
}

/* Classes with fewer than k rows, or than min_distinct values. Values are counted by counting
 * groups: count(DISTINCT ..) would sort all rows. */
static void add_values_check(const checking *c, const char *table, const char *name,
                             uint64_t min_distinct) {
  shoal_text_add(c->sql, "(SELECT count(*) FROM (SELECT 1 FROM (SELECT count(*) AS shoal_rows, ");
  c->add_name(c->user, c->sql, name);
  shoal_text_add(c->sql, " AS shoal_value");
  add_quasi(c, ", ");
  shoal_text_print(c->sql, " FROM %s", table);
  add_quasi(c, " GROUP BY ");
  shoal_text_add(c->sql, ", ");
  c->add_name(c->user, c->sql, name);
  shoal_text_add(c->sql, ") AS shoal_values");
  add_quasi(c, " GROUP BY ");
  shoal_text_print(c->sql,
                   " HAVING count(shoal_value) < %llu OR sum(shoal_rows) < %llu) AS shoal_classes)",
                   (unsigned long long)min_distinct, (unsigned long long)c->plan->k);
}

void shoal_sink_add_check(shoal_text *sql, const shoal_sink_plan *plan, const char *table,
                          void (*add_name)(const void *user, shoal_text *sql, const char *name),
                          const void *user) {
  const checking c = {sql, plan, add_name, user};
  const char *before = "SELECT ";
  for (size_t i = 0; i < plan->n_columns; i++) {
    if (!plan->columns[i].min_distinct) continue;
    shoal_text_add(sql, before);
    before = " + ";
    add_values_check(&c, table, plan->columns[i].name, plan->columns[i].min_distinct);
  }
  if (*before == ' ') return;
  shoal_text_add(sql, before);
  add_rows_check(&c, table);
}

shoal_status shoal_sink_read_file(int fd, uint64_t *offset, char *bytes, size_t capacity,
                                  size_t *size_bytes, shoal_error *error) {
  ssize_t n;
  do n = pread(fd, bytes, capacity, (off_t)*offset);
  while (n < 0 && errno == EINTR);
  if (n < 0)
    return shoal_fail(error, SHOAL_FAILED, "cannot read the release back: %s", strerror(errno));
  *offset += (uint64_t)n;
  *size_bytes = (size_t)n;
  return SHOAL_OK;
}
