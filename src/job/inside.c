/* SPDX-License-Identifier: Apache-2.0 */
/* job/inside: counted tuples of a PostgreSQL table, and figures of the columns that stay there. */
#include "job/inside.h"

#include <stdlib.h>
#include <string.h>

#include "input/input.h"
#include "job/release.h"
#include "read/csv.h"

#if SHOAL_POSTGRESQL

/* ------------------------------------------------------------ which columns */

static shoal_role role_of(const shoal_policy *policy, const char *name) {
  const shoal_attribute *attribute = shoal_policy_attribute(policy, name);
  if (attribute) return attribute->role;
  return policy->unlisted == SHOAL_UNLISTED_KEEP ? SHOAL_ROLE_KEEP : SHOAL_ROLE_DROP;
}

/* What would need cells that stay on the server. */
static const char *find_obstacle(const shoal_policy *policy, const shoal_database_column *column) {
  const shoal_attribute *attribute = shoal_policy_attribute(policy, column->name);
  if (!attribute) return NULL;
  if (attribute->role == SHOAL_ROLE_PSEUDONYM) return "pseudonyms are made of the identifiers";
  if (shoal_role_counts_people(attribute->role) &&
      shoal_policy_equality(policy, attribute) != SHOAL_EQUAL_BYTES)
    return "people differ by folded or numeric cells";
  if (attribute->role == SHOAL_ROLE_KEEP &&
      (shoal_coding_given(&attribute->coding) || attribute->otherwise_missing ||
       (attribute->type == SHOAL_TYPE_NUMBER && !column->is_number)))
    return "the policy changes cells of a kept column";
  return NULL;
}

static shoal_status choose_columns(shoal_inside *in, shoal_error *error) {
  in->tuple = shoal_alloc_zero(in->columns.n, sizeof *in->tuple);
  if (!in->tuple) return shoal_fail_memory(error);
  for (size_t c = 0; c < in->columns.n; c++) {
    const shoal_database_column *column = &in->columns.items[c];
    shoal_role role = role_of(in->policy, column->name);
    const char *obstacle = find_obstacle(in->policy, column);
    if (obstacle)
      return shoal_fail_at(error, SHOAL_BAD_INPUT,
                           &(shoal_location){.file = in->source.name, .column = column->name},
                           "%s, which stay on the server: leave out --in-database", obstacle);
    bool people = shoal_role_counts_people(role);
    if (role != SHOAL_ROLE_QUASI && role != SHOAL_ROLE_SENSITIVE && !people &&
        !shoal_policy_guards_by(in->policy, column->name))
      continue;
    shoal_inside_column *tuple = &in->tuple[in->n_tuple];
    *tuple = (shoal_inside_column){.source = c, .role = role, .is_ranked = people};
    if (!shoal_strings_init(&tuple->values)) return shoal_fail_memory(error);
    in->n_tuple++;
  }
  if (in->n_tuple) return SHOAL_OK;
  return shoal_fail_at(error, SHOAL_BAD_INPUT, &(shoal_location){.file = in->source.name},
                       "has no column of the policy's quasi-identifiers");
}

/* ------------------------------------------------------------ tuples */

/* Numbers of people, never their keys: rank n of tuple column i is shoal_person_i. */
static void add_ranks(const shoal_inside *in, shoal_text *sql) {
  bool any = false;
  for (size_t i = 0; i < in->n_tuple; i++) any = any || in->tuple[i].is_ranked;
  if (!any) {
    shoal_text_print(sql, " FROM %s AS s", in->relation.sql);
    return;
  }
  shoal_text_add(sql, " FROM (SELECT t.*");
  for (size_t i = 0; i < in->n_tuple; i++) {
    if (!in->tuple[i].is_ranked) continue;
    const shoal_database_column *column = &in->columns.items[in->tuple[i].source];
    shoal_text_add(sql, ", CASE WHEN ");
    shoal_pg_add_cell(&in->sink.pg, sql, "t.", column);
    shoal_text_add(sql, " IS NOT NULL THEN pg_catalog.dense_rank() OVER (ORDER BY ");
    shoal_pg_add_cell(&in->sink.pg, sql, "t.", column);
    shoal_text_print(sql, ") END AS shoal_person_%zu", i);
  }
  shoal_text_print(sql, " FROM %s AS t) AS s", in->relation.sql);
}

static void add_tuple_cell(const shoal_inside *in, shoal_text *sql, size_t i) {
  if (in->tuple[i].is_ranked) shoal_text_print(sql, "s.shoal_person_%zu", i);
  else shoal_pg_add_cell(&in->sink.pg, sql, "s.", &in->columns.items[in->tuple[i].source]);
}

/* Groups by native values where each has one text: that is faster. */
static void add_group_key(const shoal_inside *in, shoal_text *sql, size_t i) {
  static const char *const plain[] = {"integer", "bigint", "smallint", "date", "boolean"};
  const shoal_database_column *column = &in->columns.items[in->tuple[i].source];
  bool native = false;
  for (size_t t = 0; t < sizeof plain / sizeof *plain; t++)
    native = native || strcmp(column->type, plain[t]) == 0;
  if (in->tuple[i].is_ranked || !native) {
    add_tuple_cell(in, sql, i);
    return;
  }
  shoal_text_add(sql, "s.");
  shoal_pg_add_name(&in->sink.pg, sql, column->name);
}

static shoal_status start_tuples(shoal_inside *in, shoal_error *error) {
  shoal_text sql;
  shoal_text_init(&sql);
  shoal_text_add(&sql, "COPY (SELECT count(*)");
  for (size_t i = 0; i < in->n_tuple; i++) {
    shoal_text_add(&sql, ", ");
    add_tuple_cell(in, &sql, i);
  }
  add_ranks(in, &sql);
  for (size_t i = 0; i < in->n_tuple; i++) {
    shoal_text_add(&sql, i ? ", " : " GROUP BY ");
    add_group_key(in, &sql, i);
  }
  shoal_text_add(&sql, ") TO STDOUT");
  shoal_pg_add_format(&in->sink.pg, &sql, ',', in->null_cell, "");
  return shoal_pg_copy_out(&in->sink.pg, &sql, error);
}

/* One tuple column of a batch of rows, as the table takes it. */
typedef struct batch_column {
  shoal_text bytes;
  uint64_t *offsets;
} batch_column;

enum { BATCH_ROWS = 4096 };

static bool add_cell(shoal_inside_column *tuple, batch_column *batch, uint64_t number, size_t row,
                     shoal_label cell) {
  uint32_t code = shoal_strings_intern(&tuple->values, cell);
  if (code == SHOAL_NONE ||
      !shoal_grow(&tuple->codes, &tuple->capacity, (size_t)number + 1, sizeof *tuple->codes))
    return false;
  tuple->codes[number] = code;
  shoal_text_add_bytes(&batch->bytes, cell.bytes, cell.size_bytes);
  batch->offsets[row + 1] = batch->bytes.size_bytes;
  return !batch->bytes.failed;
}

/* Adds a batch of rows of CSV text to the table. */
static shoal_status add_batch(shoal_inside *in, shoal_text *text, shoal_cells *cells,
                              batch_column *batch, shoal_text_view *views, uint64_t *counts,
                              shoal_table *table, shoal_error *error) {
  size_t n = in->n_tuple + 1, size = text->size_bytes;
  static const char slack[SHOAL_CSV_SLACK];
  shoal_text_add_bytes(text, slack, sizeof slack);
  if (text->failed) return shoal_fail_memory(error);
  if (shoal_csv_split(text->bytes, size, ',', n, cells).fault != SHOAL_CSV_OK)
    return shoal_fail(error, SHOAL_FAILED, "the server's rows cannot be read");
  for (size_t i = 0; i < in->n_tuple; i++) shoal_text_cut(&batch[i].bytes, 0);
  for (size_t row = 0; row < cells->n_rows; row++) {
    const uint32_t *begin = cells->begin + row * n, *end = cells->end + row * n;
    counts[row] = strtoull(text->bytes + begin[0], NULL, 10);
    in->n_single += counts[row] == 1;
    for (size_t i = 0; i < in->n_tuple; i++) {
      shoal_label cell = {text->bytes + begin[i + 1], end[i + 1] - begin[i + 1]};
      if (!add_cell(&in->tuple[i], &batch[i], in->n_tuples, row, cell))
        return shoal_fail_memory(error);
    }
    in->n_tuples++;
  }
  for (size_t i = 0; i < in->n_tuple; i++)
    views[i] = (shoal_text_view){batch[i].bytes.bytes, batch[i].offsets};
  shoal_text_cut(text, 0);
  return shoal_table_add_rows(table, views, in->n_tuple, cells->n_rows, counts, error);
}

static shoal_status receive(shoal_inside *in, batch_column *batch, shoal_text_view *views,
                            uint64_t *counts, shoal_table *table, shoal_error *error) {
  shoal_cells cells;
  shoal_text text;
  shoal_cells_init(&cells);
  shoal_text_init(&text);
  shoal_status status = SHOAL_OK;
  size_t n_rows = 0;
  for (bool ended = false; !ended && status == SHOAL_OK;) {
    char *row;
    size_t size;
    status = shoal_pg_copy_row(&in->sink.pg, &row, &size, error);
    ended = !row;
    if (row) shoal_text_add_bytes(&text, row, size);
    if (row) PQfreemem(row);
    in->bytes_received += size;
    n_rows += !ended;
    if (status != SHOAL_OK || (n_rows < BATCH_ROWS && !ended) || !n_rows) continue;
    status = add_batch(in, &text, &cells, batch, views, counts, table, error);
    n_rows = 0;
    if (status == SHOAL_OK)
      status = shoal_run_report(in->run, "read", in->n_tuples, 0, "rows", error);
  }
  shoal_cells_reset(&cells);
  if (text.bytes) shoal_wipe_free(text.bytes, text.capacity);
  return status;
}

static shoal_status read_tuples(shoal_inside *in, shoal_table *table, shoal_error *error) {
  batch_column *batch = shoal_alloc_zero(in->n_tuple, sizeof *batch);
  shoal_text_view *views = shoal_alloc(in->n_tuple, sizeof *views);
  uint64_t *counts = shoal_alloc(BATCH_ROWS, sizeof *counts);
  bool ok = batch && views && counts;
  for (size_t i = 0; ok && i < in->n_tuple; i++) {
    shoal_text_init(&batch[i].bytes);
    ok = (batch[i].offsets = shoal_alloc_zero(BATCH_ROWS + 1, sizeof *batch[i].offsets)) != NULL;
  }
  shoal_status status = ok ? start_tuples(in, error) : shoal_fail_memory(error);
  if (status == SHOAL_OK) status = receive(in, batch, views, counts, table, error);
  for (size_t i = 0; batch && i < in->n_tuple; i++) {
    if (batch[i].bytes.bytes) shoal_wipe_free(batch[i].bytes.bytes, batch[i].bytes.capacity);
    free(batch[i].offsets);
  }
  free(batch);
  free(views);
  free(counts);
  return status;
}

/* ------------------------------------------------------------ columns that stay */

static shoal_cell_kind kind_of(const char *type) {
  if (strncmp(type, "timestamp", 9) == 0) return SHOAL_CELLS_TIME;
  if (strcmp(type, "date") == 0) return SHOAL_CELLS_DATE;
  if (strcmp(type, "integer") == 0 || strcmp(type, "bigint") == 0 || strcmp(type, "smallint") == 0)
    return SHOAL_CELLS_WHOLE;
  if (strcmp(type, "real") == 0 || strcmp(type, "double precision") == 0 ||
      strncmp(type, "numeric", 7) == 0)
    return SHOAL_CELLS_DECIMAL;
  return SHOAL_CELLS_TEXT;
}

/* The policy's missing values as an array, for a parameter. */
static char *missing_array(const shoal_policy *policy) {
  shoal_text list;
  shoal_text_init(&list);
  shoal_text_add(&list, "{");
  for (size_t i = 0; i < policy->n_missing; i++) {
    shoal_text_add(&list, i ? ",\"" : "\"");
    for (const char *c = policy->missing[i]; *c; c++) {
      if (*c == '"' || *c == '\\') shoal_text_add(&list, "\\");
      shoal_text_add_bytes(&list, c, 1);
    }
    shoal_text_add(&list, "\"");
  }
  shoal_text_add(&list, "}");
  return shoal_text_take(&list);
}

/* How many values have how many rows: totals only. A numeric type may hold whole numbers, and text
 * times: the cells decide, as where they are read. */
static shoal_status add_figures(shoal_inside *in, const shoal_database_column *column,
                                const char *missing, shoal_table *table, shoal_error *error) {
  PGresult *found = NULL;
  shoal_text sql;
  shoal_text_init(&sql);
  shoal_cell_kind kind = kind_of(column->type);
  const char *test = kind == SHOAL_CELLS_DECIMAL ? "c !~ '[.]'"
                     : kind == SHOAL_CELLS_TEXT  ? "c ~ '[0-9]:[0-9][0-9]'"
                                                 : "false";
  shoal_text_print(&sql,
                   "SELECT n, count(*), count(*) FILTER (WHERE %s) FROM (SELECT c, count(*) AS n "
                   "FROM (SELECT ",
                   test);
  shoal_pg_add_cell(&in->sink.pg, &sql, "s.", column);
  shoal_text_print(&sql,
                   " AS c FROM %s AS s) AS cells WHERE c <> ALL ($1::text[]) GROUP BY c) AS v "
                   "GROUP BY n ORDER BY n",
                   in->relation.sql);
  shoal_status status = sql.failed
                            ? shoal_fail_memory(error)
                            : shoal_pg_query(&in->sink.pg, sql.bytes, &missing, 1, &found, error);
  shoal_text_reset(&sql);
  SHOAL_TRY(status);
  size_t n = (size_t)PQntuples(found);
  uint64_t *n_rows = shoal_alloc(n, sizeof *n_rows), *n_values = shoal_alloc(n, sizeof *n_values);
  uint64_t n_all = 0, n_special = 0;
  for (size_t i = 0; n_rows && n_values && i < n; i++) {
    n_rows[i] = strtoull(PQgetvalue(found, (int)i, 0), NULL, 10);
    n_values[i] = strtoull(PQgetvalue(found, (int)i, 1), NULL, 10);
    n_all += n_values[i];
    n_special += strtoull(PQgetvalue(found, (int)i, 2), NULL, 10);
  }
  if (n_special && n_special >= n_all - n_all / 10)
    kind = kind == SHOAL_CELLS_TEXT ? SHOAL_CELLS_TIME : SHOAL_CELLS_WHOLE;
  const shoal_column_figures figures = {
      .cells = kind, .n_rows = n_rows, .n_values = n_values, .n = n};
  status = n_rows && n_values ? shoal_input_outside(table, column->name, &figures, error)
                              : shoal_fail_memory(error);
  free(n_rows);
  free(n_values);
  PQclear(found);
  return status;
}

static shoal_status add_outside(shoal_inside *in, shoal_table *table, shoal_error *error) {
  char *missing = missing_array(in->policy);
  shoal_status status = missing ? SHOAL_OK : shoal_fail_memory(error);
  for (size_t c = 0, i = 0; status == SHOAL_OK && c < in->columns.n; c++) {
    const shoal_database_column *column = &in->columns.items[c];
    if (i < in->n_tuple && in->tuple[i].source == c) {
      i++;
      continue;
    }
    status = role_of(in->policy, column->name) == SHOAL_ROLE_DROP
                 ? shoal_input_outside(table, column->name, NULL, error)
                 : add_figures(in, column, missing, table, error);
  }
  free(missing);
  return status;
}

/* ------------------------------------------------------------ all of it */

/* A query is run once: its result is what is grouped, measured and released. */
static shoal_status materialize(shoal_inside *in, shoal_error *error) {
  if (!in->relation.is_query) return SHOAL_OK;
  shoal_text sql;
  shoal_text_init(&sql);
  shoal_text_print(&sql, "CREATE TEMPORARY TABLE shoal_source ON COMMIT DROP AS SELECT * FROM %s",
                   in->relation.sql);
  SHOAL_TRY(shoal_pg_run_text(&in->sink.pg, &sql, error));
  free(in->relation.sql);
  in->relation.sql = strdup("pg_temp.shoal_source");
  return in->relation.sql ? SHOAL_OK : shoal_fail_memory(error);
}

static shoal_status create_table(shoal_inside *in, shoal_table **table, shoal_error *error) {
  const char **names = shoal_alloc(in->n_tuple, sizeof *names);
  if (!names) return shoal_fail_memory(error);
  for (size_t i = 0; i < in->n_tuple; i++) names[i] = in->columns.items[in->tuple[i].source].name;
  shoal_status status = shoal_table_create(names, in->n_tuple, table, error);
  free(names);
  SHOAL_TRY(status);
  for (size_t i = 0; i < in->n_tuple; i++)
    (*table)->columns[i].has_plain_numbers = in->columns.items[in->tuple[i].source].is_number;
  char *name = strdup(in->source.name);
  if (!name) return shoal_fail_memory(error);
  free((*table)->name);
  (*table)->name = name;
  return SHOAL_OK;
}

static shoal_status note_crossing(const shoal_inside *in, shoal_table *table, shoal_error *error) {
  return shoal_table_note(
      table, error,
      "inside the database: %s rows were read as %s tuples of %zu columns, %s "
      "bytes; %s of the tuples stand for one row",
      shoal_say_count(table->n_records).text, shoal_say_count(in->n_tuples).text, in->n_tuple,
      shoal_say_count(in->bytes_received).text, shoal_say_count(in->n_single).text);
}

shoal_status shoal_inside_read(shoal_inside *in, bool replace, shoal_table **table,
                               shoal_error *error) {
  double started = shoal_seconds();
  in->null_cell = shoal_input_missing(in->policy);
  in->sink.address = &in->output;
  SHOAL_TRY(shoal_pg_open(&in->sink.pg, &in->source, shoal_run_patience(in->run), error));
  SHOAL_TRY(shoal_pg_run(&in->sink.pg, "BEGIN ISOLATION LEVEL REPEATABLE READ", error));
  SHOAL_TRY(shoal_pg_describe(&in->sink.pg, &in->source, &in->relation, &in->columns, error));
  SHOAL_TRY(shoal_pg_sink_find(&in->sink, replace, in->columns.identity, error));
  SHOAL_TRY(choose_columns(in, error));
  SHOAL_TRY(materialize(in, error));
  SHOAL_TRY(create_table(in, table, error));
  SHOAL_TRY(read_tuples(in, *table, error));
  if (!in->n_tuples)
    return shoal_fail_at(error, SHOAL_BAD_INPUT, &(shoal_location){.file = in->source.name},
                         "has no rows: give it at least one");
  SHOAL_TRY(shoal_input_finish(*table, in->policy, SHOAL_FOR_TUPLES, error));
  SHOAL_TRY(add_outside(in, *table, error));
  (*table)->seconds_read = shoal_seconds() - started;
  return note_crossing(in, *table, error);
}

void shoal_inside_reset(shoal_inside *in) {
  shoal_pg_sink_reset(&in->sink);
  shoal_address_reset(&in->source);
  shoal_address_reset(&in->output);
  shoal_database_columns_reset(&in->columns);
  free(in->relation.sql);
  for (size_t i = 0; i < in->n_tuple; i++) {
    shoal_strings_reset(&in->tuple[i].values);
    free(in->tuple[i].codes);
  }
  free(in->tuple);
  memset(in, 0, sizeof *in);
}

static shoal_status release_inside(shoal_inside *in, const shoal_write_options *options,
                                   shoal_release **release, shoal_error *error) {
  static const shoal_make_options uniform = {.is_uniform = true};
  shoal_table *table = NULL;
  shoal_status status = shoal_inside_read(in, options->replace, &table, error);
  if (status == SHOAL_OK)
    status = shoal_job_anonymize(table, in->policy, &uniform, in->run, release, error);
  if (status != SHOAL_OK) {
    shoal_table_delete(table);
    return status;
  }
  (*release)->own = table;
  return shoal_inside_write(*release, in, options, in->run, error);
}

shoal_status shoal_job_anonymize_inside(const char *source, const char *output,
                                        const shoal_policy *policy,
                                        const shoal_write_options *options, const shoal_run *run,
                                        shoal_release **release, shoal_error *error) {
  shoal_inside in = {.policy = policy, .run = run, .keep_order = options->keep_order};
  *release = NULL;
  if (options->certificate || options->mapping || options->n_previous ||
      options->detail != SHOAL_DETAIL_FIGURES)
    return shoal_fail(error, SHOAL_BAD_INPUT,
                      "a certificate, mapping, HTML report or comparison needs the rows: leave out "
                      "--in-database");
  static const char SAME[] = "--in-database needs DATA and '-o' with the same PostgreSQL address";
  if (!shoal_is_database(source) || !shoal_is_database(output))
    return shoal_fail(error, SHOAL_BAD_INPUT, SAME);
  shoal_status status = shoal_address_parse(source, &in.source, error);
  if (status == SHOAL_OK) status = shoal_address_parse(output, &in.output, error);
  if (status == SHOAL_OK &&
      (in.source.kind != &shoal_postgresql_kind || in.output.kind != &shoal_postgresql_kind ||
       strcmp(in.source.database, in.output.database) != 0))
    status = shoal_fail(error, SHOAL_BAD_INPUT, SAME);
  if (status == SHOAL_OK && !in.output.table)
    status = shoal_fail(error, SHOAL_BAD_INPUT, "--in-database needs --output-table NAME");
  if (status == SHOAL_OK) status = release_inside(&in, options, release, error);
  shoal_inside_reset(&in);
  if (status == SHOAL_OK) return SHOAL_OK;
  shoal_release_delete(*release);
  *release = NULL;
  return status;
}

#else

shoal_status shoal_job_anonymize_inside(const char *source, const char *output,
                                        const shoal_policy *policy,
                                        const shoal_write_options *options, const shoal_run *run,
                                        shoal_release **release, shoal_error *error) {
  (void)source, (void)output, (void)policy, (void)options, (void)run, (void)release;
  return shoal_database_absent("libpq", error);
}

#endif
