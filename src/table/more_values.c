/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table/more_values: a table whose columns have more values in their dictionaries than cells. Codes
 * that exist stay the same, so code that reads the rows does not notice.
 */
#include "table/more_values.h"

#include <string.h>

shoal_table *shoal_table_share(const shoal_table *table, shoal_arena *arena) {
  shoal_table *shared;
  if (!SHOAL_ARENA_ARRAY(arena, shared, 1)) return NULL;
  *shared = *table;
  if (!SHOAL_ARENA_ARRAY(arena, shared->columns, table->n_columns)) return NULL;
  memcpy(shared->columns, table->columns, table->n_columns * sizeof *table->columns);
  return shared;
}

static unsigned code_size(uint32_t n_values) {
  return n_values <= UINT8_MAX + 1 ? 1 : n_values <= UINT16_MAX + 1 ? 2 : 4;
}

/* Codes of the width that n_values need; those of `from` if it is the same. */
static void *widen(const shoal_column *from, uint64_t n_rows, unsigned size, shoal_arena *arena) {
  if (size == from->code_size) return from->codes;
  uint8_t *codes = shoal_arena_alloc(arena, (size_t)n_rows, size);
  for (uint64_t row = 0; codes && row < n_rows; row++) {
    uint32_t code = shoal_column_code(from, row);
    if (size == 2) ((uint16_t *)(void *)codes)[row] = (uint16_t)code;
    else ((uint32_t *)(void *)codes)[row] = code;
  }
  return codes;
}

bool shoal_column_add_values(shoal_column *column, uint64_t n_rows, const shoal_strings *values,
                             shoal_arena *arena) {
  uint32_t n = values->n_strings, known = column->n_values;
  shoal_column grown = *column;
  unsigned size = code_size(n);
  grown.n_values = n;
  if (size > column->code_size) {
    grown.code_size = size;
    grown.codes = widen(column, n_rows, size, arena);
  }
  size_t size_bytes = (size_t)values->offsets[n];
  if (!grown.codes || !SHOAL_ARENA_ARRAY(arena, grown.bytes, size_bytes + 1) ||
      !SHOAL_ARENA_ARRAY(arena, grown.offsets, (size_t)n + 1))
    return false;
  if (size_bytes) memcpy(grown.bytes, values->bytes, size_bytes);
  memcpy(grown.offsets, values->offsets, ((size_t)n + 1) * sizeof *grown.offsets);
  if (column->is_missing) {
    if (!SHOAL_ARENA_ZEROED(arena, grown.is_missing, n)) return false;
    memcpy(grown.is_missing, column->is_missing, known);
  }
  if (column->first_row) {
    if (!SHOAL_ARENA_ZEROED(arena, grown.first_row, n)) return false;
    memcpy(grown.first_row, column->first_row, known * sizeof *grown.first_row);
  }
  *column = grown;
  return true;
}
