/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job/release_arrow: a release as Arrow arrays. A table of labels is made first: rows in the order
 * of the release, and in each column only labels that a row has, each once. The verifier reads this
 * table as CSV from a file in memory. Then its codes and labels become the arrays, as they are.
 *
 *     decision -> rows in order -> table of labels -> CSV in memory -> verifier
 *                                        |                                |
 *                                        +--------------> arrays <--------+ if it holds
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/text.h"
#include "decide/gates.h"
#include "describe/page.h"
#include "input/cells.h"
#include "input/input.h"
#include "job/release.h"
#include "job/release_columns.h"
#include "job/writing.h"
#include "write/arrow.h"
#include "write/second_pass.h"

typedef struct exporting {
  shoal_writing rows;
  uint64_t *order; /* rows of the decision's table */
  uint64_t n;
  uint32_t *groups;    /* of the rows, in this order */
  shoal_table *labels; /* what is handed out */
  uint32_t *null_code; /* by column; SHOAL_NONE: no label is null */
  const char *null_text;
  atomic_size_t next_column;
  atomic_bool no_memory;
} exporting;

/* ------------------------------------------------------------ labels */

/* Where the cells of a released column come from. */
typedef struct cells {
  const shoal_csv_column *from;
  const shoal_column_labels *labels; /* of a quasi-identifier; else NULL */
  const shoal_csv_plan *plan;
  bool commas;
} cells;

static shoal_label text_of(const cells *c, uint32_t i) {
  if (c->labels)
    return shoal_column_label(c->labels, c->from->cell_of_group ? i : c->labels->label_of_code[i]);
  if (c->from->replaced.n_strings) return shoal_strings_get(&c->from->replaced, i);
  shoal_label value;
  value.bytes = shoal_column_value(c->from->column, i, &value.size_bytes);
  return value;
}

/* The number of a label among the unique ones; SHOAL_NONE: no memory. */
static uint32_t add_label(const cells *c, shoal_strings *unique, shoal_label label) {
  if (!c->commas) return shoal_strings_intern(unique, label);
  shoal_text text;
  shoal_text_init(&text);
  shoal_text_add(&text, "");
  shoal_text_add_bytes(&text, label.bytes, label.size_bytes);
  if (!text.failed) shoal_swap_marks(text.bytes, text.size_bytes);
  uint32_t index = text.failed
                       ? SHOAL_NONE
                       : shoal_strings_intern(unique, (shoal_label){text.bytes, text.size_bytes});
  shoal_wipe_free(text.bytes, text.capacity);
  return index;
}

/* Is the cell of this row "*", whatever its value? */
static bool is_star(const cells *c, uint32_t group) {
  return (c->labels && c->plan->action[group] == SHOAL_ROW_BLANK) ||
         (c->from->suppressed_cells && c->from->suppressed_cells[group]);
}

/* The label of each row. `map` is SHOAL_NONE for each cell, and for "*" behind them. */
static bool label_rows(const exporting *e, const cells *c, uint32_t *map, uint32_t star,
                       shoal_strings *unique, uint32_t *codes) {
  for (uint64_t i = 0; i < e->n; i++) {
    uint64_t row = e->order[i];
    uint32_t group = e->groups[i];
    uint32_t cell = is_star(c, group)        ? star
                    : c->from->cell_of_group ? c->from->cell_of_group[group]
                                             : shoal_column_code(c->from->column, row);
    if (map[cell] == SHOAL_NONE) {
      map[cell] = cell == star ? shoal_strings_intern(unique, (shoal_label){"*", 1})
                               : add_label(c, unique, text_of(c, cell));
      if (map[cell] == SHOAL_NONE) return false;
    }
    codes[i] = map[cell];
  }
  return true;
}

/* Moves the label that is null behind the others, in codes too. */
static bool move_null(const exporting *e, const shoal_strings *unique, uint32_t *codes,
                      uint32_t null, shoal_strings *moved) {
  uint32_t last = unique->n_strings - 1;
  for (uint32_t i = 0; i <= last; i++) {
    uint32_t from = i < null ? i : i == last ? null : i + 1;
    if (shoal_strings_intern(moved, shoal_strings_get(unique, from)) == SHOAL_NONE) return false;
  }
  for (uint64_t i = 0; i < e->n; i++) {
    if (codes[i] == null) codes[i] = last;
    else if (codes[i] > null) codes[i]--;
  }
  return true;
}

/* Signed indices, as pandas wants them: 128 values in one byte. */
static bool set_column(const exporting *e, shoal_column *column, shoal_strings *unique,
                       const uint32_t *codes) {
  uint32_t n = unique->n_strings;
  column->n_values = n;
  column->code_size = n <= 128 ? 1 : n <= 32768 ? 2 : 4;
  column->codes = shoal_alloc((size_t)e->n, column->code_size);
  if (!column->codes) return false;
  for (uint64_t i = 0; i < e->n; i++) {
    if (column->code_size == 1) ((uint8_t *)column->codes)[i] = (uint8_t)codes[i];
    else if (column->code_size == 2) ((uint16_t *)column->codes)[i] = (uint16_t)codes[i];
    else ((uint32_t *)column->codes)[i] = codes[i];
  }
  column->bytes = unique->bytes;
  column->offsets = unique->offsets;
  unique->bytes = NULL;
  unique->offsets = NULL;
  return true;
}

static bool fill_codes(const exporting *e, const cells *c, size_t i, shoal_strings *unique,
                       uint32_t *map, uint32_t n_cells, uint32_t *codes) {
  memset(map, 0xff, ((size_t)n_cells + 1) * sizeof *map); /* SHOAL_NONE */
  if (!label_rows(e, c, map, n_cells, unique, codes)) return false;
  shoal_column *column = &e->labels->columns[i];
  uint32_t null =
      e->null_text ? shoal_strings_find(unique, (shoal_label){e->null_text, strlen(e->null_text)})
                   : SHOAL_NONE;
  if (null == SHOAL_NONE) return set_column(e, column, unique, codes);
  shoal_strings moved;
  if (!shoal_strings_init(&moved)) return false;
  bool ok = move_null(e, unique, codes, null, &moved) && set_column(e, column, &moved, codes);
  e->null_code[i] = column->n_values - 1;
  shoal_strings_reset(&moved);
  return ok;
}

static bool fill_column(const exporting *e, size_t i) {
  const shoal_csv_plan *plan = &e->rows.plan;
  const shoal_context *p = &e->rows.release->context;
  const shoal_csv_column *from = &plan->columns[i];
  size_t q = 0;
  for (size_t before = 0; before < i; before++) q += plan->columns[before].generalized;
  cells c = {.from = from,
             .labels = from->generalized ? &e->rows.release->decision.columns[q] : NULL,
             .plan = plan,
             .commas = shoal_cells_have_commas(
                 p->policy, &p->attributes[from->column - plan->table->columns])};
  uint32_t n_cells = c.labels && from->cell_of_group ? c.labels->n_labels : from->column->n_values;
  shoal_strings unique;
  if (!shoal_strings_init(&unique)) return false;
  uint32_t *map = shoal_alloc((size_t)n_cells + 1, sizeof *map);
  uint32_t *codes = shoal_alloc((size_t)e->n, sizeof *codes);
  bool ok = map && codes && fill_codes(e, &c, i, &unique, map, n_cells, codes);
  free(map);
  free(codes);
  shoal_strings_reset(&unique);
  return ok;
}

static void fill_columns(void *user, unsigned worker) {
  (void)worker;
  exporting *e = user;
  for (;;) {
    size_t i = atomic_fetch_add(&e->next_column, 1);
    if (i >= e->labels->n_columns) return;
    if (!fill_column(e, i)) atomic_store(&e->no_memory, true);
  }
}

static shoal_status make_labels(exporting *e, shoal_error *error) {
  size_t n = e->rows.plan.n_columns;
  shoal_table *labels = e->labels = shoal_alloc_zero(1, sizeof *labels);
  e->null_code = shoal_alloc(n, sizeof *e->null_code);
  e->groups = shoal_alloc((size_t)e->n, sizeof *e->groups);
  if (labels) labels->columns = shoal_alloc_zero(n, sizeof *labels->columns);
  if (!labels || !labels->columns || !e->null_code || !e->groups) return shoal_fail_memory(error);
  for (uint64_t i = 0; i < e->n; i++) e->groups[i] = e->rows.plan.group_of_row[e->order[i]];
  labels->n_columns = n;
  labels->n_rows = labels->n_records = e->n;
  for (size_t i = 0; i < e->labels->n_columns; i++) {
    e->null_code[i] = SHOAL_NONE;
    e->labels->columns[i].name = strdup(e->rows.plan.columns[i].column->name);
    if (!e->labels->columns[i].name) return shoal_fail_memory(error);
  }
  unsigned n_threads = shoal_run_threads(e->rows.run);
  shoal_parallel(n_threads < n ? n_threads : (unsigned)n, fill_columns, e);
  free(e->groups);
  e->groups = NULL;
  return atomic_load(&e->no_memory) ? shoal_fail_memory(error) : SHOAL_OK;
}

/* ------------------------------------------------------------ proof */

/* A label that no row has would be handed out without being seen by the verifier. */
static shoal_status check_used(const shoal_table *labels, shoal_error *error) {
  for (size_t c = 0; c < labels->n_columns; c++) {
    const shoal_column *column = &labels->columns[c];
    uint8_t *used = shoal_alloc_zero(column->n_values, 1);
    uint32_t n_used = 0;
    if (!used) return shoal_fail_memory(error);
    for (uint64_t row = 0; row < labels->n_rows; row++) used[shoal_column_code(column, row)] = 1;
    for (uint32_t v = 0; v < column->n_values; v++) n_used += used[v];
    free(used);
    if (n_used < column->n_values)
      return shoal_fail(error, SHOAL_FAILED,
                        "column '%.200s' has a label that no row has: nothing was handed out; "
                        "this is a bug in shoal, please report it",
                        column->name);
  }
  return SHOAL_OK;
}

static shoal_status prove(exporting *e, const shoal_arrow_options *options, shoal_error *error) {
  shoal_release_report *released = &e->rows.release->result->release;
  double started = shoal_seconds();
  SHOAL_TRY(check_used(e->labels, error));
  int fd = memfd_create("shoal-release", MFD_CLOEXEC);
  if (fd < 0)
    return shoal_fail(error, SHOAL_FAILED, "cannot make a file in memory for the verifier: %s",
                      strerror(errno));
  shoal_status status = shoal_table_write_csv(e->labels, e->rows.plan.delimiter, fd, e->rows.run,
                                              &e->rows.n_rows, error);
  double written = shoal_seconds();
  if (status == SHOAL_OK) status = shoal_writing_spill(&e->rows, error);
  if (status == SHOAL_OK) status = shoal_writing_verify(&e->rows, fd, error);
  released->seconds_write = written - started;
  released->seconds_verify = shoal_seconds() - written;
  if (status == SHOAL_OK && options->detail != SHOAL_DETAIL_FIGURES) {
    shoal_write_options detail = {.keep_order = options->keep_order, .detail = options->detail};
    status = shoal_html_report_fill(e->rows.release, fd, NULL, &detail, e->rows.run, error);
  }
  if (status == SHOAL_OK && options->strict) /* attacking may have found more */
    status = shoal_gates_refuse_open(e->rows.release->result, error);
  (void)close(fd);
  return status;
}

/* ------------------------------------------------------------ all of it */

static shoal_status export_release(exporting *e, const shoal_arrow_options *options,
                                   struct ArrowArrayStream *out, shoal_error *error) {
  shoal_release *release = e->rows.release;
  const shoal_policy *policy = release->context.policy;
  e->rows.in_memory = true;
  e->rows.plan.quote_formulas = false;
  e->null_text = policy->n_missing ? shoal_input_missing(policy) : NULL;
  if (!e->rows.plan.n_columns)
    return shoal_fail(error, SHOAL_BAD_INPUT, "the release has no column to hand out");
  if (shoal_csv_needs_second_pass(&e->rows.plan))
    return shoal_fail(error, SHOAL_BAD_INPUT,
                      "a kept column was left in the file: take its cells by row number");
  SHOAL_TRY(shoal_release_number_rows(release, &e->rows, &e->order, &e->n, error));
  SHOAL_TRY(make_labels(e, error));
  SHOAL_TRY(prove(e, options, error));
  return shoal_arrow_export(e->labels, e->null_code, out, error);
}

static shoal_status to_arrow(shoal_release *release, const shoal_arrow_options *options,
                             const shoal_run *run, struct ArrowArrayStream *out,
                             shoal_error *error) {
  shoal_release_report *released = &release->result->release;
  const shoal_policy *policy = release->context.policy;
  if (shoal_table_is_counted(release->given))
    return shoal_fail(error, SHOAL_BAD_INPUT,
                      "the rows of the table were counted and not kept: raise memory_bytes");
  if (policy->quote_formulas)
    return shoal_fail(error, SHOAL_BAD_POLICY,
                      "'formulas: quote' is for files, and a table in memory keeps its cells: "
                      "remove it from the policy");
  if (options->strict) SHOAL_TRY(shoal_gates_refuse_open(release->result, error));
  exporting e = {0};
  release->order.known = false;
  shoal_status status = shoal_writing_init(&e.rows, release, "the release", options->keep_order,
                                           options->kept, run, error);
  if (status == SHOAL_OK) status = export_release(&e, options, out, error);
  if (status == SHOAL_OK)
    release->order = (shoal_release_order){true, options->keep_order, e.rows.order};
  shoal_writing_reset(&e.rows);
  shoal_table_delete(e.labels);
  free(e.null_code);
  free(e.groups);
  free(e.order);
  SHOAL_TRY(status);
  released->order = options->keep_order ? "kept" : policy->has_seed ? "seeded" : "random";
  released->seconds_total = release->given->seconds_read + (shoal_seconds() - release->started);
  released->peak_memory_bytes = shoal_peak_memory();
  return SHOAL_OK;
}

shoal_status shoal_job_to_arrow(shoal_release *release, const shoal_arrow_options *options,
                                const shoal_run *run, struct ArrowArrayStream *out,
                                shoal_error *error) {
  release->context.run = run;
  shoal_status status = to_arrow(release, options, run, out, error);
  release->context.run = NULL;
  return status;
}
