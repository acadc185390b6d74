/* SPDX-License-Identifier: Apache-2.0 */
/*
 * write/arrow: what a stream hands out owns its memory: it outlives the release. A column's buffers
 * belong to its array, which a consumer may move out of its parent.
 */
#include "write/arrow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------ schemas */

static void release_schema(struct ArrowSchema *schema) {
  for (int64_t i = 0; i < schema->n_children; i++) {
    struct ArrowSchema *child = schema->children[i];
    if (child && child->release) child->release(child);
    free(child);
  }
  free(schema->children);
  if (schema->dictionary && schema->dictionary->release)
    schema->dictionary->release(schema->dictionary);
  free(schema->dictionary);
  free(schema->private_data); /* the name */
  schema->release = NULL;
}

/* Formats are static. False: no memory. */
static bool make_schema(struct ArrowSchema *schema, const char *format, const char *name) {
  char *copy = strdup(name);
  *schema = (struct ArrowSchema){.format = format,
                                 .name = copy,
                                 .flags = ARROW_FLAG_NULLABLE,
                                 .private_data = copy,
                                 .release = release_schema};
  return copy != NULL;
}

/* ------------------------------------------------------------ arrays */

static void release_array(struct ArrowArray *array) {
  for (int64_t i = 0; i < array->n_children; i++) {
    struct ArrowArray *child = array->children[i];
    if (child && child->release) child->release(child);
    free(child);
  }
  free(array->children);
  if (array->dictionary && array->dictionary->release)
    array->dictionary->release(array->dictionary);
  free(array->dictionary);
  void **buffers = array->private_data;
  for (int64_t i = 0; buffers && i < array->n_buffers; i++) free(buffers[i]);
  free(buffers);
  array->release = NULL;
}

/* Takes the buffers, also without memory. False: no memory. */
static bool make_array(struct ArrowArray *array, int64_t length, void *const *buffers, size_t n) {
  void **own = shoal_alloc(n, sizeof *own);
  *array = (struct ArrowArray){.length = length,
                               .n_buffers = own ? (int64_t)n : 0,
                               .buffers = (const void **)own,
                               .private_data = own,
                               .release = release_array};
  for (size_t i = 0; i < n; i++) {
    if (own) own[i] = buffers[i];
    else free(buffers[i]);
  }
  return own != NULL;
}

/* Offsets of 4 bytes where the labels allow it: every consumer knows "u". NULL: no memory. */
static void *make_offsets(const shoal_column *column, uint32_t n, bool large) {
  size_t width = large ? sizeof(int64_t) : sizeof(int32_t);
  void *offsets = shoal_alloc((size_t)n + 1, width);
  for (uint32_t i = 0; offsets && i <= n; i++) {
    if (large) ((int64_t *)offsets)[i] = (int64_t)column->offsets[i];
    else ((int32_t *)offsets)[i] = (int32_t)column->offsets[i];
  }
  return offsets;
}

/* Marks the rows that are null, and gives them the index 0. NULL: no memory. */
static uint8_t *make_validity(const shoal_column *column, uint64_t n_rows, uint32_t null_code,
                              int64_t *n_null) {
  uint8_t *valid = shoal_alloc_zero((size_t)(n_rows + 7) / 8, 1);
  for (uint64_t row = 0; valid && row < n_rows; row++) {
    if (shoal_column_code(column, row) != null_code) {
      valid[row >> 3] |= (uint8_t)(1 << (row & 7));
      continue;
    }
    memset((char *)column->codes + row * column->code_size, 0, column->code_size);
    (*n_null)++;
  }
  return valid;
}

static bool is_large(const shoal_column *column) {
  return column->offsets[column->n_values] > INT32_MAX;
}

static bool make_column(struct ArrowArray *array, shoal_column *column, uint64_t n_rows,
                        uint32_t null_code) {
  uint32_t n_values = column->n_values - (null_code != SHOAL_NONE);
  int64_t n_null = 0;
  void *offsets = make_offsets(column, n_values, is_large(column));
  void *valid = null_code == SHOAL_NONE ? NULL : make_validity(column, n_rows, null_code, &n_null);
  void *indices[] = {valid, column->codes}, *values[] = {NULL, offsets, column->bytes};
  column->codes = NULL;
  column->bytes = NULL;
  bool ok = make_array(array, (int64_t)n_rows, indices, 2) && (valid || null_code == SHOAL_NONE) &&
            offsets;
  array->null_count = n_null;
  array->dictionary = shoal_alloc_zero(1, sizeof *array->dictionary);
  if (array->dictionary) return make_array(array->dictionary, n_values, values, 3) && ok;
  free(offsets);
  free(values[2]);
  return false;
}

/* ------------------------------------------------------------ the stream */

typedef struct export {
  struct ArrowSchema schema;
  struct ArrowArray array; /* handed out once */
}
export;

/* A deep copy: a schema can be asked for several times. */
static bool copy_schema(const struct ArrowSchema *from, struct ArrowSchema *to) {
  if (!make_schema(to, from->format, from->name)) return false;
  if (from->dictionary) {
    to->dictionary = shoal_alloc_zero(1, sizeof *to->dictionary);
    if (!to->dictionary || !copy_schema(from->dictionary, to->dictionary)) return false;
  }
  if (!from->n_children) return true;
  to->children = shoal_alloc_zero((size_t)from->n_children, sizeof *to->children);
  if (!to->children) return false;
  to->n_children = from->n_children;
  for (int64_t i = 0; i < from->n_children; i++) {
    to->children[i] = shoal_alloc_zero(1, sizeof **to->children);
    if (!to->children[i] || !copy_schema(from->children[i], to->children[i])) return false;
  }
  return true;
}

static int get_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out) {
  const export *own = stream->private_data;
  if (copy_schema(&own->schema, out)) return 0;
  release_schema(out);
  return ENOMEM;
}

static int get_next(struct ArrowArrayStream *stream, struct ArrowArray *out) {
  export *own = stream->private_data;
  *out = own->array;
  own->array = (struct ArrowArray){0};
  return 0;
}

static const char *get_last_error(struct ArrowArrayStream *stream) {
  (void)stream;
  return NULL;
}

static void delete_export(export *own) {
  if (!own) return;
  if (own->schema.release) own->schema.release(&own->schema);
  if (own->array.release) own->array.release(&own->array);
  free(own);
}

static void release_stream(struct ArrowArrayStream *stream) {
  delete_export(stream->private_data);
  stream->release = NULL;
}

static bool fill(export *own, shoal_table *table, const uint32_t *null_code) {
  static const char *const formats[] = {[1] = "c", [2] = "s", [4] = "i"};
  size_t n = table->n_columns;
  void *none[] = {NULL};
  if (!make_schema(&own->schema, "+s", "") ||
      !make_array(&own->array, (int64_t)table->n_rows, none, 1))
    return false;
  own->schema.children = shoal_alloc_zero(n, sizeof *own->schema.children);
  own->array.children = shoal_alloc_zero(n, sizeof *own->array.children);
  if (!own->schema.children || !own->array.children) return false;
  own->schema.n_children = own->array.n_children = (int64_t)n;
  own->schema.flags = 0;
  for (size_t c = 0; c < n; c++) {
    shoal_column *column = &table->columns[c];
    struct ArrowSchema *schema = own->schema.children[c] = shoal_alloc_zero(1, sizeof *schema);
    struct ArrowArray *array = own->array.children[c] = shoal_alloc_zero(1, sizeof *array);
    if (!schema || !array || !make_schema(schema, formats[column->code_size], column->name))
      return false;
    schema->dictionary = shoal_alloc_zero(1, sizeof *schema->dictionary);
    if (!schema->dictionary || !make_schema(schema->dictionary, is_large(column) ? "U" : "u", "") ||
        !make_column(array, column, table->n_rows, null_code[c]))
      return false;
  }
  return true;
}

shoal_status shoal_arrow_export(shoal_table *table, const uint32_t *null_code,
                                struct ArrowArrayStream *stream, shoal_error *error) {
  export *own = shoal_alloc_zero(1, sizeof *own);
  if (!own || !fill(own, table, null_code)) {
    delete_export(own);
    return shoal_fail_memory(error);
  }
  *stream = (struct ArrowArrayStream){.get_schema = get_schema,
                                      .get_next = get_next,
                                      .get_last_error = get_last_error,
                                      .release = release_stream,
                                      .private_data = own};
  return SHOAL_OK;
}
