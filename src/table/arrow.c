/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table/arrow: the stream is read chunk by chunk, and a chunk in slices of rows, between which the
 * caller may cancel. arrow_codes.h says what a slice does to a column.
 */
#include "table/arrow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "table/arrow_codes.h"

enum { SLICE_ROWS = 1 << 18, MIN_PARALLEL_ROWS = 1 << 13 };

/* ------------------------------------------------------------ chunks */

/* The first fault, by row and then by column. */
static shoal_status find_fault(const shoal_arrow_loader *self, shoal_error *error) {
  const shoal_arrow_column *first = NULL;
  for (size_t c = 0; c < self->table->n_columns; c++) {
    const shoal_arrow_column *column = &self->columns[c];
    if (column->no_memory) return shoal_fail_memory(error);
    if (column->fault && (!first || column->fault_row < first->fault_row)) first = column;
  }
  if (!first) return SHOAL_OK;
  shoal_location location = {.file = self->table->name,
                             .row = first->fault_row,
                             .column = self->table->columns[first - self->columns].name};
  return shoal_fail_at(error, SHOAL_BAD_INPUT, &location, "%s", first->fault);
}

/* Finds the buffers of a column in a chunk of rows [offset, offset + n) of its struct. */
static const char *open_column(shoal_arrow_column *column, const struct ArrowArray *array,
                               int64_t offset, int64_t n) {
  const char *fault = NULL;
  shoal_arrow_type values = column->type;
  values.index_width = 0;
  if (!array) return "its array is NULL";
  if (column->type.index_width) {
    fault = shoal_arrow_indices_of(array, &column->type, &column->indices);
    if (!fault && column->indices.n < offset + n) fault = "it has fewer rows than the table";
    if (!fault) fault = shoal_arrow_cells_of(array->dictionary, &values, &column->cells);
    if (fault) return fault;
    column->indices.offset += offset;
    column->has_map = column->cells.n <= UINT32_MAX / 2 && column->cells.n / 4 <= n;
    if (!column->has_map) return NULL;
    if (!shoal_grow(&column->map, &column->map_capacity, (size_t)column->cells.n,
                    sizeof *column->map)) {
      column->no_memory = true;
      return NULL;
    }
    if (column->cells.n) memset(column->map, 0, (size_t)column->cells.n * sizeof *column->map);
    return NULL;
  }
  fault = shoal_arrow_cells_of(array, &values, &column->cells);
  if (!fault && column->cells.n < offset + n) fault = "it has fewer rows than the table";
  column->cells.offset += offset;
  return fault;
}

static shoal_status open_chunk(shoal_arrow_loader *self, const struct ArrowArray *chunk,
                               shoal_error *error) {
  shoal_location location = {.file = self->table->name};
  const shoal_arrow_type rows = {.kind = SHOAL_ARROW_OPAQUE};
  shoal_arrow_cells cells;
  bool sane = chunk->length >= 0 && chunk->offset >= 0 &&
              chunk->length <= INT64_MAX / 16 - chunk->offset && chunk->children &&
              chunk->n_children == (int64_t)self->table->n_columns && chunk->n_buffers <= 1;
  if (!sane)
    return shoal_fail_at(error, SHOAL_BAD_INPUT, &location,
                         "an Arrow array does not fit its schema: the stream is damaged");
  cells = (shoal_arrow_cells){.type = rows, .offset = chunk->offset, .n = chunk->length};
  if (chunk->null_count != 0 && chunk->n_buffers == 1 && chunk->buffers)
    cells.valid = chunk->buffers[0];
  for (int64_t i = 0; cells.valid && i < cells.n; i++) {
    location.row = self->part.n_rows + (uint64_t)i + 1;
    if (shoal_arrow_is_null(&cells, i))
      return shoal_fail_at(error, SHOAL_BAD_INPUT, &location,
                           "is null as a whole: give nulls column by column");
  }
  for (size_t c = 0; c < self->table->n_columns; c++) {
    shoal_arrow_column *column = &self->columns[c];
    if (!shoal_arrow_is_read(self, column)) continue;
    column->fault = open_column(column, chunk->children[c], chunk->offset, chunk->length);
  }
  return find_fault(self, error);
}

static shoal_status add_chunk(shoal_arrow_loader *self, const struct ArrowArray *chunk,
                              const shoal_run *run, shoal_error *error) {
  if (chunk->length == 0) return SHOAL_OK;
  SHOAL_TRY(open_chunk(self, chunk, error));
  for (self->first = 0; self->first < chunk->length; self->first += self->n) {
    int64_t left = chunk->length - self->first;
    self->n = left < SLICE_ROWS ? left : SLICE_ROWS;
    unsigned n_threads = shoal_run_threads(run);
    if (!shoal_grow(&self->pieces, &self->pieces_capacity, self->n_pieces + 1,
                    sizeof *self->pieces))
      return shoal_fail_memory(error);
    atomic_store(&self->next_column, 0);
    if (n_threads > self->table->n_columns) n_threads = (unsigned)self->table->n_columns;
    shoal_parallel(self->n < MIN_PARALLEL_ROWS ? 1 : n_threads, shoal_arrow_add_columns, self);
    SHOAL_TRY(find_fault(self, error));
    self->pieces[self->n_pieces++] =
        (shoal_piece){.first_row = self->part.n_rows, .n_rows = (size_t)self->n};
    self->part.n_rows += (size_t)self->n;
    SHOAL_TRY(shoal_run_report(run, "read", self->part.n_rows, 0, "rows", error));
  }
  return SHOAL_OK;
}

/* ------------------------------------------------------------ the stream */

/* What the producer says may quote cells: it is not passed on. */
static shoal_status fail_stream(int code, const char *what, shoal_error *error) {
  if (code == ENOMEM) return shoal_fail_memory(error);
  return shoal_fail(error, SHOAL_FAILED, "the Arrow stream failed to give %s: %s", what,
                    strerror(code));
}

static shoal_status add_chunks(shoal_arrow_loader *self, struct ArrowArrayStream *stream,
                               const shoal_run *run, shoal_error *error) {
  for (;;) {
    struct ArrowArray chunk = {0};
    int code = stream->get_next(stream, &chunk);
    if (code) return fail_stream(code, "its next rows", error);
    if (!chunk.release) return SHOAL_OK;
    shoal_status status = add_chunk(self, &chunk, run, error);
    chunk.release(&chunk);
    SHOAL_TRY(status);
  }
}

/* Takes names and types of the columns; `known`: an empty set. */
static shoal_status take_columns(shoal_arrow_loader *self, const struct ArrowSchema *schema,
                                 shoal_strings *known, const char **names, shoal_error *error) {
  for (size_t c = 0; c < self->table->n_columns; c++) {
    const struct ArrowSchema *child = schema->children[c];
    shoal_location location = {.file = self->table->name};
    if (!shoal_arrow_type_of(child, &self->columns[c].type))
      return shoal_fail_at(error, SHOAL_BAD_INPUT, &location,
                           "column %zu has no valid Arrow type: the stream is damaged", c + 1);
    const char *name = child->name ? child->name : "";
    if (!*name)
      return shoal_fail_at(error, SHOAL_BAD_INPUT, &location, "column %zu has no name", c + 1);
    uint32_t number = shoal_strings_intern(known, (shoal_label){name, strlen(name)});
    if (number == SHOAL_NONE) return shoal_fail_memory(error);
    if (number < c)
      return shoal_fail_at(error, SHOAL_BAD_INPUT, &location, "column '%s' occurs twice", name);
    names[c] = self->table->columns[c].name = strdup(name);
    if (!names[c]) return shoal_fail_memory(error);
  }
  return SHOAL_OK;
}

static shoal_status take_schema(shoal_arrow_loader *self, const struct ArrowSchema *schema,
                                const char **names, shoal_error *error) {
  shoal_strings known;
  if (!shoal_strings_init(&known)) return shoal_fail_memory(error);
  shoal_status status = take_columns(self, schema, &known, names, error);
  shoal_strings_reset(&known);
  return status;
}

static shoal_status check_type(const shoal_arrow_loader *self, size_t c, shoal_error *error) {
  const shoal_arrow_column *column = &self->columns[c];
  bool opaque = column->type.kind == SHOAL_ARROW_OPAQUE;
  if (shoal_use_has_codes(column->use) ? shoal_arrow_has_text(&column->type)
                                       : column->use != SHOAL_USE_IDENTITY || !opaque)
    return SHOAL_OK;
  shoal_location location = {.file = self->table->name, .column = self->table->columns[c].name};
  return shoal_fail_at(error, SHOAL_BAD_INPUT, &location,
                       "is nested or of a type that has no text: cast it to text%s",
                       column->use == SHOAL_USE_IDENTITY ? ", or remove it" : "");
}

/* Decides how columns are used. */
static shoal_status plan_columns(shoal_arrow_loader *self, const shoal_load_options *options,
                                 const char *const *names, shoal_error *error) {
  size_t n = self->table->n_columns;
  for (size_t c = 0; c < n; c++) self->uses[c] = SHOAL_USE_CODES;
  if (options->plan)
    SHOAL_TRY(options->plan(options->plan_user, self->table->name, names, n, self->uses, error));
  for (size_t c = 0; c < n; c++) {
    shoal_arrow_column *column = &self->columns[c];
    column->use = self->uses[c];
    column->type.is_rough = shoal_use_is_sampled(column->use);
    self->table->columns[c].is_outside = column->use == SHOAL_USE_COPY;
    self->table->columns[c].has_plain_numbers = shoal_arrow_is_number(&column->type);
    SHOAL_TRY(check_type(self, c, error));
    if ((!shoal_use_has_codes(column->use) && !shoal_arrow_is_sampled(self, column)) ||
        !shoal_arrow_is_word(&column->type) || column->type.index_width)
      continue;
    column->cache = shoal_alloc_zero((size_t)1 << SHOAL_ARROW_CACHE_BITS, sizeof *column->cache);
    if (!column->cache) return shoal_fail_memory(error);
  }
  return shoal_load_part_init(&self->part, self->uses, n) ? SHOAL_OK : shoal_fail_memory(error);
}

static shoal_status open_stream(shoal_arrow_loader *self, struct ArrowArrayStream *stream,
                                const shoal_load_options *options, shoal_error *error) {
  struct ArrowSchema schema = {0};
  int code = stream->get_schema(stream, &schema);
  if (code) return fail_stream(code, "its schema", error);
  shoal_status status = SHOAL_OK;
  const char **names = NULL;
  bool sane = schema.release && schema.format && strcmp(schema.format, "+s") == 0 &&
              schema.n_children > 0 && schema.children;
  if (!sane) {
    status = shoal_fail(error, SHOAL_BAD_INPUT,
                        "the Arrow stream is not a table with at least one column");
  } else {
    size_t n = (size_t)schema.n_children;
    self->columns = shoal_alloc_zero(n, sizeof *self->columns);
    self->uses = shoal_alloc(n, sizeof *self->uses);
    self->table->columns = shoal_alloc_zero(n, sizeof *self->table->columns);
    names = shoal_alloc(n, sizeof *names);
    if (self->columns && self->uses && self->table->columns && names) self->table->n_columns = n;
    else status = shoal_fail_memory(error);
  }
  if (status == SHOAL_OK) status = take_schema(self, &schema, names, error);
  if (schema.release) schema.release(&schema);
  if (status == SHOAL_OK) status = plan_columns(self, options, names, error);
  free(names);
  return status;
}

static shoal_status merge(shoal_arrow_loader *self, const shoal_load_options *options,
                          const shoal_run *run, shoal_error *error) {
  shoal_merge_plan plan = {.parts = &self->part,
                           .n_parts = 1,
                           .pieces = self->pieces,
                           .n_pieces = self->n_pieces,
                           .uses = self->uses,
                           .missing = options->missing,
                           .n_missing = options->n_missing,
                           .unquote = options->unquote,
                           .n_threads = shoal_run_threads(run)};
  if (!self->part.n_rows)
    return shoal_fail(error, SHOAL_BAD_INPUT, "the table has no rows: there is nothing to work on");
  SHOAL_TRY(shoal_table_merge_samples(self->table, &plan, error));
  SHOAL_TRY(shoal_table_merge(self->table, &plan, error));
  self->table->n_records = self->table->n_rows;
  self->table->finished = true;
  return SHOAL_OK;
}

static void loader_reset(shoal_arrow_loader *self, size_t n_columns) {
  for (size_t c = 0; self->columns && c < n_columns; c++) {
    shoal_arrow_column *column = &self->columns[c];
    shoal_wipe_free(column->cache, ((size_t)1 << SHOAL_ARROW_CACHE_BITS) * sizeof *column->cache);
    shoal_wipe_free(column->bytes, column->bytes_capacity);
    free(column->map);
  }
  if (self->part.dictionaries) shoal_load_part_reset(&self->part, n_columns);
  free(self->columns);
  free(self->uses);
  free(self->pieces);
}

shoal_status shoal_table_load_arrow(struct ArrowArrayStream *stream, const char *null_text,
                                    const shoal_load_options *options, const shoal_run *run,
                                    shoal_table **out, shoal_error *error) {
  *out = NULL;
  double started = shoal_seconds();
  shoal_table *table = shoal_alloc_zero(1, sizeof *table);
  if (!table) return shoal_fail_memory(error);
  shoal_arrow_loader self = {.null_text = null_text,
                             .null_size = strlen(null_text),
                             .sampling = options->sampling,
                             .table = table};
  table->name = strdup("the table");
  table->delimiter = options->delimiter ? options->delimiter : ',';
  shoal_status status = table->name ? SHOAL_OK : shoal_fail_memory(error);
  if (status == SHOAL_OK) status = open_stream(&self, stream, options, error);
  if (status == SHOAL_OK) status = add_chunks(&self, stream, run, error);
  if (status == SHOAL_OK) status = merge(&self, options, run, error);
  loader_reset(&self, table->n_columns);
  if (status != SHOAL_OK) {
    shoal_table_delete(table);
    return status;
  }
  table->seconds_read = shoal_seconds() - started;
  *out = table;
  return SHOAL_OK;
}
