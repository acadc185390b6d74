/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz target: streams of the Arrow C data interface. The input chooses types, cells, nulls,
 * slices, chunks and dictionaries, then damage of the kinds that a consumer can notice. A stream is
 * read or refused with a row or column; in both cases all of it is released. What is read are cells
 * of text within their columns.
 */
#include "../unit/arrow_fixture.h"
#include "fuzz.h"
#include "table/table.h"

enum { MAX_ROWS = 12, MAX_COLUMNS = 4, MAX_CHUNKS = 3 };

static const struct {
  const char *format;
  unsigned width; /* of values; 0: text */
} types[] = {{"u", 0},       {"U", 0},
             {"vu", 0},      {"b", 1},
             {"c", 1},       {"S", 2},
             {"i", 4},       {"L", 8},
             {"e", 2},       {"f", 4},
             {"g", 8},       {"d:38,2", 16},
             {"n", 0},       {"d:76,-3,256", 32},
             {"tdD", 4},     {"tdm", 8},
             {"tsn:UTC", 8}, {"tsu:", 8},
             {"z", 0},       {"+l", 4},
             {"ttu", 8}};
enum { N_TYPES = sizeof types / sizeof *types };

typedef struct made_column {
  unsigned type;
  bool is_dictionary;
} made_column;

static bool is_text(unsigned type) { return strchr("uUz", types[type].format[0]) != NULL; }

/* Texts of up to 20 bytes, which may be NULL and need not be UTF-8. */
static struct ArrowArray take_texts(pieces *from, size_t n, unsigned type) {
  char room[MAX_ROWS][24] = {{0}};
  const char *cells[MAX_ROWS];
  for (size_t i = 0; i < n; i++) {
    unsigned size = take_below(from, 24);
    cells[i] = size == 23 ? NULL : room[i];
    for (unsigned at = 0; at < size && size < 21; at++) {
      room[i][at] = (char)take_byte(from);
      if (!room[i][at]) room[i][at] = 'x';
    }
  }
  return types[type].format[0] == 'v' ? make_views(cells, n)
                                      : make_texts(cells, n, types[type].format[0] == 'U');
}

static struct ArrowArray take_cells(pieces *from, size_t n, unsigned type) {
  uint8_t bytes[MAX_ROWS * 32 + 8], valid[2];
  const char *format = types[type].format;
  if (format[0] == 'n') return make_array((int64_t)n);
  if (is_text(type) || format[0] == 'v') return take_texts(from, n, type);
  unsigned width = format[0] == '+' ? 4 : types[type].width;
  size_t n_values = format[0] == '+' ? n + 1 : n;
  for (size_t i = 0; i < n_values * width; i++) bytes[i] = (uint8_t)take_byte(from);
  valid[0] = (uint8_t)take_byte(from);
  valid[1] = (uint8_t)take_byte(from);
  struct ArrowArray array = make_values(bytes, width, n_values, take_byte(from) % 2 ? valid : NULL);
  array.length = (int64_t)n;
  if (array.null_count > array.length) array.null_count = -1;
  return array;
}

static struct ArrowArray take_column(pieces *from, size_t n, made_column made) {
  if (!made.is_dictionary) return take_cells(from, n, made.type);
  size_t n_values = take_below(from, MAX_ROWS);
  struct ArrowArray values = take_cells(from, n_values, made.type);
  int8_t indices[MAX_ROWS];
  uint8_t valid[2] = {(uint8_t)take_byte(from), (uint8_t)take_byte(from)};
  for (size_t i = 0; i < n; i++) indices[i] = (int8_t)take_byte(from);
  if (take_byte(from) % 4)
    for (size_t i = 0; i < n; i++) indices[i] = (int8_t)(n_values ? i % n_values : 0);
  struct ArrowArray array = make_values(indices, 1, n, take_byte(from) % 2 ? valid : NULL);
  array.dictionary = arrow_block(&values, sizeof values);
  return array;
}

/* Only what can be noticed: the sizes of most buffers are not part of the interface. */
static void damage(pieces *from, struct ArrowArray *array, unsigned type) {
  switch (take_below(from, 24)) {
  case 0: array->length = -(int64_t)take_byte(from); break;
  case 1: array->offset = -1 - (int64_t)take_byte(from); break;
  case 2: array->offset = INT64_MAX - take_byte(from); break;
  case 3: array->null_count = (int64_t)take_byte(from) - 100; break;
  case 4: array_add_buffer(array, NULL, 0); break;
  case 5:
    if (array->n_buffers > 1) {
      free((void *)(uintptr_t)array->buffers[1]);
      array->buffers[1] = NULL;
    }
    break;
  case 6: /* an offset that descends; the last one is left as it is */
    if (types[type].format[0] == 'u' && array->length > 1 && !array->dictionary)
      ((int32_t *)(uintptr_t)array->buffers[1])[take_below(from, (unsigned)array->length)] =
          (int32_t)take_byte(from) * (take_byte(from) % 2 ? 1 << 20 : -1);
    break;
  case 7: /* fields of a view */
    if (types[type].format[0] == 'v' && array->length > 0 && !array->dictionary)
      ((int32_t *)(uintptr_t)array->buffers[1])[take_below(from, 4)] = (int32_t)take_byte(from) - 9;
    break;
  case 8: /* a dictionary that is gone */
    if (array->dictionary) {
      array->dictionary->release(array->dictionary);
      free(array->dictionary);
      array->dictionary = NULL;
    }
    break;
  default: break;
  }
}

static struct ArrowArray take_chunk(pieces *from, const made_column *made, size_t n_columns) {
  size_t n = take_below(from, MAX_ROWS + 1), skip = n ? take_below(from, (unsigned)n) : 0;
  bool deep = take_byte(from) % 2; /* slices of columns, or of the chunk */
  struct ArrowArray chunk = make_array((int64_t)(n - skip));
  array_add_buffer(&chunk, NULL, 0);
  if (!deep) chunk.offset = (int64_t)skip;
  for (size_t c = 0; c < n_columns; c++) {
    struct ArrowArray column = take_column(from, n, made[c]);
    if (deep) {
      column.offset = (int64_t)skip;
      column.length -= column.offset;
      column.null_count = column.null_count ? -1 : 0;
    }
    damage(from, &column, made[c].type);
    array_add(&chunk, column);
  }
  return chunk;
}

static struct ArrowSchema schema_of(made_column made, size_t c) {
  const char name[] = {(char)('a' + c), '\0'};
  if (!made.is_dictionary) return make_schema(types[made.type].format, name);
  struct ArrowSchema schema = make_schema("c", name);
  struct ArrowSchema values = make_schema(types[made.type].format, "");
  schema.dictionary = arrow_block(&values, sizeof values);
  return schema;
}

static void check_table(const shoal_table *table) {
  for (size_t c = 0; c < table->n_columns; c++) {
    const shoal_column *column = &table->columns[c];
    if (!column->codes) continue;
    for (uint64_t row = 0; row < table->n_rows; row++)
      MUST(shoal_column_code(column, row) < column->n_values);
    for (uint32_t v = 0; v < column->n_values; v++) {
      size_t size;
      const char *value = shoal_column_value(column, v, &size);
      MUST(!memchr(value, '\0', size));
    }
  }
}

static const char policy_text[] = "shoal: 1\nattributes:\n  a: {role: quasi}\n  b: {role: keep}\n"
                                  "  c: {role: identifier}\nprivacy: {k: 2}\nunlisted: drop\n";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  pieces from = {data, size};
  made_column made[MAX_COLUMNS];
  size_t n_columns = 1 + take_below(&from, MAX_COLUMNS);
  bool with_policy = n_columns > 2 && take_byte(&from) % 2;
  arrow_source source = {.schema = make_schema("+s", "")};
  for (size_t c = 0; c < n_columns; c++) {
    made[c].type = take_below(&from, N_TYPES);
    made[c].is_dictionary = take_byte(&from) % 3 == 0;
    schema_add(&source.schema, schema_of(made[c], c));
  }
  source.n_chunks = take_below(&from, MAX_CHUNKS + 1);
  for (size_t i = 0; i < source.n_chunks; i++)
    source.chunks[i] = take_chunk(&from, made, n_columns);
  struct ArrowArrayStream stream = make_stream(&source);
  shoal_policy *policy = NULL;
  shoal_table *table = NULL;
  shoal_error error = {0};
  if (with_policy)
    MUST(shoal_policy_parse(policy_text, sizeof policy_text - 1, NULL, NULL, &policy, &error) ==
         SHOAL_OK);
  shoal_status status =
      shoal_table_from_arrow(&stream, policy, SHOAL_FOR_RELEASE, NULL, &table, &error);
  MUST(!stream.release && n_unreleased == 0);
  MUST((table != NULL) == (status == SHOAL_OK));
  MUST(status == SHOAL_OK ||
       ((status == SHOAL_BAD_INPUT || status == SHOAL_BAD_POLICY) && error.message[0]));
  if (table) check_table(table);
  shoal_table_free(table);
  shoal_policy_free(policy);
  return 0;
}
