/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job/inside_write: a decision goes to the server as map tables, and the server makes the release.
 *
 *     shoal_map_I    raw, number, label    of tuple column I: the cell as the server has it, and
 *                                          what it becomes
 *     shoal_tuples   number_I .., label_I ..   tuples of quasi-identifiers whose labels are others:
 *                    is_removed                suppressed ones, and those with single stars
 *     shoal_key      key                   of the order of rows
 *
 * A sensitive column has a map only if a value gets another spelling.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "describe/facts.h"
#include "job/inside.h"
#include "verify/same.h"

#if SHOAL_POSTGRESQL

/* What is sent. */
typedef struct mapping {
  shoal_inside *in;
  const shoal_writing *writing;
  shoal_facts facts;
  size_t *quasi;     /* tuple columns of the quasi-identifiers, in the order of the facts */
  size_t *sensitive; /* and of the sensitive columns */
  uint32_t **row_of; /* by tuple column, by raw value: a tuple that tells what it usually becomes */
  bool *respelled;   /* by sensitive column */
  bool has_exceptions;
} mapping;

/* ------------------------------------------------------------ COPY */

/* Rows on their way to a table of the server. */
typedef struct copying {
  shoal_pg *pg;
  shoal_text text;
  uint64_t sent;
  bool starts; /* the next cell begins a row */
} copying;

static shoal_status begin_copy(shoal_inside *in, const char *table, const char *force,
                               copying *copy, shoal_error *error) {
  shoal_text sql;
  shoal_text_init(&sql);
  shoal_text_print(&sql, "COPY pg_temp.%s FROM STDIN", table);
  shoal_pg_add_format(&in->sink.pg, &sql, ',', in->null_cell, force);
  *copy = (copying){.pg = &in->sink.pg, .starts = true};
  shoal_text_init(&copy->text);
  return shoal_pg_copy_in(&in->sink.pg, &sql, error);
}

static void put_cell(copying *copy, shoal_label cell) {
  if (!copy->starts) shoal_text_add(&copy->text, ",");
  copy->starts = false;
  shoal_text_add_quoted(&copy->text, cell.bytes, cell.size_bytes);
}

static void put_number(copying *copy, uint64_t number) {
  shoal_text_print(&copy->text, "%s%llu", copy->starts ? "" : ",", (unsigned long long)number);
  copy->starts = false;
}

static shoal_status send(copying *copy, bool all, shoal_error *error) {
  enum { PIECE_BYTES = 1 << 18 };
  if (copy->text.failed) return shoal_fail_memory(error);
  if (!copy->text.size_bytes || (copy->text.size_bytes < PIECE_BYTES && !all)) return SHOAL_OK;
  SHOAL_TRY(shoal_pg_copy_put(copy->pg, copy->text.bytes, copy->text.size_bytes, error));
  copy->sent += copy->text.size_bytes;
  shoal_text_cut(&copy->text, 0);
  return SHOAL_OK;
}

static shoal_status put_row(copying *copy, shoal_error *error) {
  shoal_text_add(&copy->text, "\n");
  copy->starts = true;
  return send(copy, false, error);
}

static shoal_status end_copy(shoal_inside *in, copying *copy, shoal_status status,
                             shoal_error *error) {
  if (status == SHOAL_OK) status = send(copy, true, error);
  if (status == SHOAL_OK) status = shoal_pg_copy_end(&in->sink.pg, error);
  in->bytes_sent += copy->sent;
  if (copy->text.bytes) shoal_wipe_free(copy->text.bytes, copy->text.capacity);
  return status;
}

/* ------------------------------------------------------------ values */

static uint32_t written(const mapping *m, size_t q, uint64_t row) {
  const shoal_decision *d = &m->writing->release->decision;
  return shoal_column_written_index(&d->columns[q], d->group_of_row[row]);
}

static shoal_row_action action_of(const mapping *m, uint64_t row) {
  const shoal_decision *d = &m->writing->release->decision;
  return d->action_of_group[d->group_of_row[row]];
}

/* A raw value becomes what it is in its first tuple that is kept; other tuples are exceptions. */
static bool choose_rows(mapping *m, size_t i) {
  const shoal_inside_column *tuple = &m->in->tuple[i];
  uint32_t *rows = shoal_alloc(tuple->values.n_strings, sizeof *rows);
  m->row_of[i] = rows;
  if (!rows) return false;
  memset(rows, 0xff, tuple->values.n_strings * sizeof *rows); /* SHOAL_NONE */
  for (int pass = 0; pass < 2; pass++)
    for (uint64_t row = 0; row < m->in->n_tuples; row++) {
      uint32_t *of_value = &rows[tuple->codes[row]];
      if (*of_value == SHOAL_NONE && (pass || action_of(m, row) == SHOAL_ROW_KEEP))
        *of_value = (uint32_t)row;
    }
  return true;
}

static shoal_label label_of(const mapping *m, size_t q, uint64_t row) {
  return shoal_facts_class_label(&m->facts, m->facts.class_of_row[row], q);
}

static shoal_status create_map(mapping *m, size_t i, shoal_error *error) {
  shoal_text sql;
  shoal_text_init(&sql);
  shoal_text_print(&sql,
                   "CREATE TEMPORARY TABLE shoal_map_%zu (raw text COLLATE \"C\", number integer, "
                   "label text) ON COMMIT DROP",
                   i);
  return shoal_pg_run_text(&m->in->sink.pg, &sql, error);
}

/* Sends one map; `label` gives what a raw value of tuple column i becomes. */
static shoal_status send_map(mapping *m, size_t i, size_t number,
                             shoal_label (*label)(const mapping *, size_t, uint32_t),
                             shoal_error *error) {
  const shoal_strings *values = &m->in->tuple[i].values;
  char table[40];
  copying copy;
  SHOAL_TRY(create_map(m, i, error));
  (void)snprintf(table, sizeof table, "shoal_map_%zu", i);
  SHOAL_TRY(begin_copy(m->in, table, ", FORCE_NULL (label)", &copy, error));
  shoal_status status = SHOAL_OK;
  for (uint32_t v = 0; status == SHOAL_OK && v < values->n_strings; v++) {
    put_cell(&copy, shoal_strings_get(values, v));
    put_number(&copy, v);
    put_cell(&copy, label(m, number, v));
    status = put_row(&copy, error);
  }
  return end_copy(m->in, &copy, status, error);
}

static shoal_label quasi_label(const mapping *m, size_t q, uint32_t value) {
  return label_of(m, q, m->row_of[m->quasi[q]][value]);
}

static shoal_label spelling_of(const mapping *m, size_t s, uint32_t value) {
  return shoal_facts_sensitive_cell(&m->facts, s, m->row_of[m->sensitive[s]][value]);
}

static bool is_respelled(const mapping *m, size_t s) {
  const shoal_inside_column *tuple = &m->in->tuple[m->sensitive[s]];
  for (uint64_t row = 0; row < m->in->n_tuples; row++)
    if (!shoal_label_equal(shoal_strings_get(&tuple->values, tuple->codes[row]),
                           shoal_facts_sensitive_cell(&m->facts, s, row)))
      return true;
  return false;
}

/* ------------------------------------------------------------ tuples with other labels */

static bool is_exception(const mapping *m, uint64_t row) {
  const shoal_decision *d = &m->writing->release->decision;
  if (action_of(m, row) != SHOAL_ROW_KEEP) return true;
  for (size_t q = 0; q < d->n_quasi; q++) {
    size_t i = m->quasi[q];
    uint32_t usual = m->row_of[i][m->in->tuple[i].codes[row]];
    if (written(m, q, row) != written(m, q, usual)) return true;
  }
  return false;
}

static shoal_status create_exceptions(mapping *m, size_t n, shoal_error *error) {
  shoal_text sql;
  shoal_text_init(&sql);
  shoal_text_add(&sql, "CREATE TEMPORARY TABLE shoal_tuples (");
  for (size_t q = 0; q < n; q++) shoal_text_print(&sql, "number_%zu integer, ", q);
  for (size_t q = 0; q < n; q++) shoal_text_print(&sql, "label_%zu text, ", q);
  shoal_text_add(&sql, "is_removed integer) ON COMMIT DROP");
  return shoal_pg_run_text(&m->in->sink.pg, &sql, error);
}

/* Sends a tuple unless it was sent: tuples that differ in sensitive values only are one. */
static shoal_status send_exception(mapping *m, uint64_t row, uint32_t *key, shoal_strings *seen,
                                   copying *copy, shoal_error *error) {
  size_t n = m->writing->release->decision.n_quasi;
  static const shoal_label star = {"*", 1};
  for (size_t q = 0; q < n; q++) key[q] = m->in->tuple[m->quasi[q]].codes[row];
  uint32_t before = seen->n_strings;
  uint32_t id = shoal_strings_intern(seen, (shoal_label){(const char *)key, n * sizeof *key});
  if (id == SHOAL_NONE) return shoal_fail_memory(error);
  if (id < before) return SHOAL_OK;
  shoal_row_action action = action_of(m, row);
  for (size_t q = 0; q < n; q++) put_number(copy, key[q]);
  for (size_t q = 0; q < n; q++)
    put_cell(copy, action == SHOAL_ROW_KEEP ? label_of(m, q, row) : star);
  put_number(copy, action == SHOAL_ROW_REMOVE);
  return put_row(copy, error);
}

static shoal_status send_exceptions(mapping *m, shoal_error *error) {
  size_t n = m->writing->release->decision.n_quasi;
  for (uint64_t row = 0; row < m->in->n_tuples && !m->has_exceptions; row++)
    m->has_exceptions = is_exception(m, row);
  if (!m->has_exceptions) return SHOAL_OK;
  SHOAL_TRY(create_exceptions(m, n, error));
  shoal_text force;
  shoal_strings seen;
  copying copy;
  uint32_t *key = shoal_alloc(n, sizeof *key);
  if (!key || !shoal_strings_init(&seen)) {
    free(key);
    return shoal_fail_memory(error);
  }
  shoal_text_init(&force);
  shoal_text_add(&force, ", FORCE_NULL (");
  for (size_t q = 0; q < n; q++) shoal_text_print(&force, "%slabel_%zu", q ? ", " : "", q);
  shoal_text_add(&force, ")");
  shoal_status status = force.failed ? shoal_fail_memory(error)
                                     : begin_copy(m->in, "shoal_tuples", force.bytes, &copy, error);
  bool begun = status == SHOAL_OK;
  for (uint64_t row = 0; status == SHOAL_OK && row < m->in->n_tuples; row++)
    if (is_exception(m, row)) status = send_exception(m, row, key, &seen, &copy, error);
  if (begun) status = end_copy(m->in, &copy, status, error);
  shoal_text_reset(&force);
  shoal_strings_reset(&seen);
  free(key);
  return status;
}

/* ------------------------------------------------------------ the order of rows */

static shoal_status send_key(mapping *m, shoal_error *error) {
  if (m->in->keep_order) return SHOAL_OK;
  shoal_random random = m->writing->order;
  char key[65];
  copying copy;
  for (size_t i = 0; i < 4; i++)
    (void)snprintf(key + 16 * i, 17, "%016llx", (unsigned long long)shoal_random_next(&random));
  SHOAL_TRY(shoal_pg_run(&m->in->sink.pg,
                         "CREATE TEMPORARY TABLE shoal_key (key text) ON COMMIT DROP", error));
  SHOAL_TRY(begin_copy(m->in, "shoal_key", "", &copy, error));
  put_cell(&copy, (shoal_label){key, 64});
  return end_copy(m->in, &copy, put_row(&copy, error), error);
}

/* ------------------------------------------------------------ the table */

static size_t find_tuple(const shoal_inside *in, size_t source) {
  size_t i = 0;
  while (i < in->n_tuple && in->tuple[i].source != source) i++;
  return i;
}

/* A cell that is missing by the policy's spelling is NULL, as it is where rows are written. */
static void add_plain(const mapping *m, shoal_text *sql, const shoal_database_column *column) {
  const shoal_pg *pg = &m->in->sink.pg;
  shoal_text_add(sql, "(CASE WHEN ");
  shoal_pg_add_cell(pg, sql, "s.", column);
  shoal_text_add(sql, " <> ");
  shoal_pg_add_string(pg, sql, m->in->null_cell);
  shoal_text_add(sql, " THEN s.");
  shoal_pg_add_name(pg, sql, column->name);
  shoal_text_print(sql, " END)::%s", column->type);
}

static void add_released(const mapping *m, shoal_text *sql, size_t c) {
  const shoal_database_column *column = &m->in->columns.items[c];
  size_t i = find_tuple(m->in, c), q = 0, s = 0;
  size_t n_quasi = m->writing->release->decision.n_quasi;
  size_t n_sensitive = m->writing->release->context.n_sensitive;
  while (q < n_quasi && m->quasi[q] != i) q++;
  while (s < n_sensitive && m->sensitive[s] != i) s++;
  if (i < m->in->n_tuple && q < n_quasi && m->has_exceptions)
    shoal_text_print(sql, "CASE WHEN e.number_0 IS NULL THEN m%zu.label ELSE e.label_%zu END", i,
                     q);
  else if (i < m->in->n_tuple && (q < n_quasi || (s < n_sensitive && m->respelled[s])))
    shoal_text_print(sql, "m%zu.label", i);
  else add_plain(m, sql, column);
  shoal_text_add(sql, " AS ");
  shoal_pg_add_name(&m->in->sink.pg, sql, column->name);
}

/* Each cell is in its map. An outer join tells the planner so: it expects all rows, and hashes. */
static void add_join(const mapping *m, shoal_text *sql, size_t i) {
  const shoal_pg *pg = &m->in->sink.pg;
  shoal_text_print(sql, " LEFT JOIN pg_temp.shoal_map_%zu AS m%zu ON m%zu.raw = coalesce(", i, i,
                   i);
  shoal_pg_add_cell(pg, sql, "s.", &m->in->columns.items[m->in->tuple[i].source]);
  shoal_text_add(sql, ", ");
  shoal_pg_add_string(pg, sql, m->in->null_cell);
  shoal_text_add(sql, ")");
}

/* The planner must know how small the maps are. */
static shoal_status analyze(mapping *m, shoal_error *error) {
  const shoal_context *p = &m->writing->release->context;
  shoal_text sql;
  shoal_text_init(&sql);
  const char *before = "ANALYZE ";
  for (size_t q = 0; q < m->writing->release->decision.n_quasi; q++, before = ", ")
    shoal_text_print(&sql, "%spg_temp.shoal_map_%zu", before, m->quasi[q]);
  for (size_t s = 0; s < p->n_sensitive; s++)
    if (m->respelled[s]) shoal_text_print(&sql, ", pg_temp.shoal_map_%zu", m->sensitive[s]);
  if (m->has_exceptions) shoal_text_add(&sql, ", pg_temp.shoal_tuples");
  return shoal_pg_run_text(&m->in->sink.pg, &sql, error);
}

static shoal_status create_release(mapping *m, const shoal_sink_plan *plan, shoal_error *error) {
  const shoal_context *p = &m->writing->release->context;
  size_t n_quasi = m->writing->release->decision.n_quasi, n = 0;
  shoal_text sql;
  shoal_text_init(&sql);
  shoal_text_print(&sql, "SET LOCAL enable_nestloop = off; CREATE TABLE %s AS SELECT ",
                   m->in->sink.table);
  for (size_t c = 0; c < m->in->columns.n && n < plan->n_columns; c++) {
    if (strcmp(m->in->columns.items[c].name, plan->columns[n].name) != 0) continue;
    if (n++) shoal_text_add(&sql, ", ");
    add_released(m, &sql, c);
  }
  shoal_text_print(&sql, " FROM %s AS s", m->in->relation.sql);
  for (size_t q = 0; q < n_quasi; q++) add_join(m, &sql, m->quasi[q]);
  for (size_t s = 0; s < p->n_sensitive; s++)
    if (m->respelled[s]) add_join(m, &sql, m->sensitive[s]);
  for (size_t q = 0; q < n_quasi && m->has_exceptions; q++)
    shoal_text_print(&sql, "%s e.number_%zu = m%zu.number",
                     q ? " AND" : " LEFT JOIN pg_temp.shoal_tuples AS e ON", q, m->quasi[q]);
  if (m->has_exceptions) shoal_text_add(&sql, " WHERE coalesce(e.is_removed, 0) = 0");
  if (!m->in->keep_order)
    shoal_text_add(&sql, " ORDER BY pg_catalog.sha256(pg_catalog.convert_to((SELECT key FROM "
                         "pg_temp.shoal_key) || (row_number() OVER ())::text, 'UTF8'))");
  shoal_text_add(&sql, "; SET LOCAL enable_nestloop TO DEFAULT");
  return shoal_pg_run_text(&m->in->sink.pg, &sql, error);
}

/* The labels and sensitive cells of the table, counted, must be those that were verified. */
static shoal_status compare(mapping *m, int fd, shoal_error *error) {
  const shoal_csv_plan *out = &m->writing->plan;
  shoal_atomic_file returned = {.fd = -1};
  shoal_text sql;
  shoal_text_init(&sql);
  SHOAL_TRY(shoal_atomic_file_open(&returned, "-", error));
  shoal_text_add(&sql, "COPY (SELECT count(*)");
  for (size_t c = 0; c < out->n_columns; c++) {
    shoal_text_add(&sql, ", ");
    shoal_pg_add_name(&m->in->sink.pg, &sql, out->columns[c].column->name);
    shoal_text_add(&sql, "::text");
  }
  shoal_text_print(&sql, " FROM %s GROUP BY ", m->in->sink.table);
  for (size_t c = 0; c < out->n_columns; c++) shoal_text_print(&sql, c ? ", %zu" : "%zu", c + 2);
  shoal_text_add(&sql, ") TO STDOUT");
  shoal_pg_add_format(&m->in->sink.pg, &sql, out->delimiter, m->in->null_cell, "");
  shoal_status status =
      shoal_pg_copy_file(&m->in->sink.pg, &sql, returned.fd, &m->in->bytes_received, error);
  if (status == SHOAL_OK)
    status = shoal_verify_same_rows(fd, returned.fd, out->delimiter, out->n_columns, true,
                                    m->writing->run, error);
  shoal_atomic_file_close(&returned);
  return status;
}

/* ------------------------------------------------------------ all of it */

static shoal_status prepare(mapping *m, shoal_error *error) {
  const shoal_context *p = &m->writing->release->context;
  size_t n_quasi = m->writing->release->decision.n_quasi;
  m->quasi = shoal_alloc(n_quasi, sizeof *m->quasi);
  m->sensitive = shoal_alloc(p->n_sensitive, sizeof *m->sensitive);
  m->respelled = shoal_alloc_zero(p->n_sensitive, sizeof *m->respelled);
  m->row_of = shoal_alloc_zero(m->in->n_tuple, sizeof *m->row_of);
  if (!m->quasi || !m->sensitive || !m->respelled || !m->row_of) return shoal_fail_memory(error);
  SHOAL_TRY(shoal_facts_make(&m->facts, m->writing->release, error));
  for (size_t q = 0; q < n_quasi; q++) { /* tuple columns come first in the table */
    m->quasi[q] = (size_t)(p->quasi[q] - p->table->columns);
    if (!choose_rows(m, m->quasi[q])) return shoal_fail_memory(error);
  }
  for (size_t s = 0; s < p->n_sensitive; s++) {
    m->sensitive[s] = (size_t)(p->sensitive[s].column - p->table->columns);
    m->respelled[s] = is_respelled(m, s);
    if (!choose_rows(m, m->sensitive[s])) return shoal_fail_memory(error);
  }
  return SHOAL_OK;
}

/* All released columns, in the order of the source. */
static shoal_status plan_table(const mapping *m, shoal_arena *arena, shoal_sink_plan *plan,
                               shoal_error *error) {
  const shoal_release *release = m->writing->release;
  SHOAL_TRY(shoal_sink_plan_make(plan, release, &m->writing->plan, arena, error));
  shoal_sink_column *columns = shoal_arena_alloc(arena, m->in->columns.n, sizeof *columns);
  if (!columns) return shoal_fail_memory(error);
  plan->columns = columns;
  plan->n_columns = 0;
  for (size_t c = 0; c < m->in->columns.n; c++) {
    const char *name = m->in->columns.items[c].name;
    const shoal_column *column = shoal_table_column(release->context.table, name);
    shoal_role role = release->context.roles[column - release->context.table->columns];
    if (role == SHOAL_ROLE_QUASI || role == SHOAL_ROLE_SENSITIVE || role == SHOAL_ROLE_KEEP)
      columns[plan->n_columns++] = shoal_sink_column_of(release, name);
  }
  return SHOAL_OK;
}

static shoal_status fill(mapping *m, const shoal_sink_plan *plan, int fd, shoal_error *error) {
  const shoal_context *p = &m->writing->release->context;
  uint64_t n_violating = 0;
  for (size_t q = 0; q < m->writing->release->decision.n_quasi; q++)
    SHOAL_TRY(send_map(m, m->quasi[q], q, quasi_label, error));
  for (size_t s = 0; s < p->n_sensitive; s++)
    if (m->respelled[s]) SHOAL_TRY(send_map(m, m->sensitive[s], s, spelling_of, error));
  SHOAL_TRY(send_exceptions(m, error));
  SHOAL_TRY(send_key(m, error));
  SHOAL_TRY(analyze(m, error));
  SHOAL_TRY(create_release(m, plan, error));
  SHOAL_TRY(shoal_pg_sink_comment(&m->in->sink, plan, error));
  SHOAL_TRY(shoal_pg_sink_check(&m->in->sink, plan, &n_violating, error));
  if (n_violating) return shoal_sink_rejected(&m->in->output, n_violating, error);
  return compare(m, fd, error);
}

shoal_status shoal_inside_fill(shoal_inside *in, const shoal_writing *writing, int fd,
                               shoal_error *error) {
  mapping m = {.in = in, .writing = writing};
  shoal_sink_plan plan;
  shoal_arena arena;
  shoal_arena_init(&arena);
  shoal_status status = prepare(&m, error);
  if (status == SHOAL_OK) status = plan_table(&m, &arena, &plan, error);
  if (status == SHOAL_OK) status = fill(&m, &plan, fd, error);
  if (status == SHOAL_OK)
    status = shoal_result_warn(writing->release->result, error,
                               "inside the database: %s bytes of map tables were sent, and %s "
                               "bytes were received in all",
                               shoal_say_count(in->bytes_sent).text,
                               shoal_say_count(in->bytes_received).text);
  for (size_t i = 0; m.row_of && i < in->n_tuple; i++) free(m.row_of[i]);
  free(m.row_of);
  free(m.quasi);
  free(m.sensitive);
  free(m.respelled);
  shoal_facts_reset(&m.facts);
  shoal_arena_reset(&arena);
  return status;
}

#endif
