/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table/origin: counted shares become a table (as merge.c does with rows), and the table remembers
 * the file that it will be asked to read again; see count.h.
 */
#include <stdlib.h>
#include <string.h>

#include "table/count.h"
#include "table/dictionary.h"

/* Of each counted column: its final values, and the shares' maps to them. */
typedef struct counted_column {
  size_t column; /* of the table */
  shoal_dictionary merged;
  uint32_t *maps[64]; /* by share */
} counted_column;

typedef struct counted_merge {
  const shoal_merge_plan *plan;
  shoal_table *table;
  counted_column *columns;
  size_t width;
  shoal_tuples *tuples;
  uint32_t *codes; /* of one tuple */
} counted_merge;

static bool merge_values(counted_merge *m) {
  for (size_t c = 0; c < m->table->n_columns; c++) {
    if (m->plan->uses[c] != SHOAL_USE_CODES) continue;
    counted_column *column = &m->columns[m->width++];
    column->column = c;
    if (!shoal_dictionary_init(&column->merged)) return false;
    for (unsigned s = 0; s < m->plan->n_shares; s++) {
      size_t n_values = m->plan->shares[s].dictionaries[c].n_values;
      column->maps[s] = shoal_alloc(n_values, sizeof **column->maps);
      if (!column->maps[s]) return false;
    }
    if (!shoal_merge_values(m->plan, c, &column->merged, column->maps)) return false;
    for (unsigned s = 0; s < m->plan->n_shares; s++)
      shoal_dictionary_reset(&m->plan->shares[s].dictionaries[c]);
  }
  return true;
}

/* Tuples of all shares, those met first in the file first. */
static bool merge_tuples(counted_merge *m) {
  uint32_t next[64] = {0};
  m->tuples = shoal_tuples_new(m->width);
  m->codes = shoal_alloc(m->width, sizeof *m->codes);
  if (!m->tuples || !m->codes) return false;
  for (;;) {
    unsigned first = m->plan->n_shares;
    uint64_t place = UINT64_MAX;
    for (unsigned s = 0; s < m->plan->n_shares; s++) {
      const shoal_tuples *t = m->plan->shares[s].tuples;
      if (next[s] == t->n || t->first_place[next[s]] >= place) continue;
      first = s;
      place = t->first_place[next[s]];
    }
    if (first == m->plan->n_shares) return true;
    const shoal_tuples *from = m->plan->shares[first].tuples;
    uint32_t tuple = next[first]++;
    for (size_t i = 0; i < m->width; i++)
      m->codes[i] = m->columns[i].maps[first][from->codes[(size_t)tuple * m->width + i]];
    if (!shoal_tuples_add(m->tuples, m->codes, from->counts[tuple], place)) return false;
  }
}

static bool fill_column(const counted_merge *m, size_t i, const uint64_t *piece_start) {
  counted_column *from = &m->columns[i];
  shoal_column *column = &m->table->columns[from->column];
  const shoal_tuples *t = m->tuples;
  column->n_values = from->merged.n_values;
  column->code_size = column->n_values <= 256 ? 1 : column->n_values <= 65536 ? 2 : 4;
  column->codes = shoal_alloc(t->n, column->code_size);
  if (!column->codes) return false;
  for (uint32_t row = 0; row < t->n; row++) {
    uint32_t code = t->codes[(size_t)row * t->width + i];
    if (column->code_size == 1) ((uint8_t *)column->codes)[row] = (uint8_t)code;
    else if (column->code_size == 2) ((uint16_t *)column->codes)[row] = (uint16_t)code;
    else ((uint32_t *)column->codes)[row] = code;
  }
  return shoal_merge_settle(m->plan, piece_start, column, &from->merged);
}

static bool fill_table(counted_merge *m) {
  shoal_table *table = m->table;
  shoal_tuples *t = m->tuples;
  uint64_t *piece_start = shoal_merge_starts(m->plan, &table->n_records);
  bool ok = piece_start != NULL;
  for (uint32_t row = 0; ok && row < t->n; row++) {
    uint64_t place = t->first_place[row];
    t->first_place[row] = piece_start[place >> 32] + (place & UINT32_MAX);
  }
  for (size_t i = 0; ok && i < m->width; i++) ok = fill_column(m, i, piece_start);
  free(piece_start);
  if (!ok) return false;
  table->n_rows = t->n;
  table->counts = t->counts;
  table->first_row = t->first_place;
  t->counts = t->first_place = NULL;
  return true;
}

shoal_status shoal_table_merge_counted(shoal_table *table, const shoal_merge_plan *plan,
                                       shoal_error *error) {
  counted_merge m = {.plan = plan, .table = table};
  m.columns = shoal_alloc_zero(table->n_columns, sizeof *m.columns);
  bool ok = m.columns && merge_values(&m) && merge_tuples(&m) && fill_table(&m);
  for (size_t i = 0; m.columns && i < m.width; i++) {
    shoal_dictionary_reset(&m.columns[i].merged);
    for (unsigned s = 0; s < plan->n_shares; s++) free(m.columns[i].maps[s]);
  }
  free(m.columns);
  free(m.codes);
  shoal_tuples_free(m.tuples);
  return ok ? SHOAL_OK : shoal_fail_memory(error);
}

/* ------------------------------------------------------------ the file */

shoal_status shoal_origin_changed(const shoal_table *table, shoal_error *error) {
  shoal_place place = {.file = table->name};
  return shoal_fail_at(error, SHOAL_FAILED, &place,
                       "was changed while shoal worked on it, so nothing was written: run again "
                       "when nobody writes to it");
}

void shoal_origin_free(shoal_origin *origin) {
  if (!origin) return;
  free(origin->path);
  free(origin->piece_start);
  free(origin);
}

shoal_status shoal_table_note_origin(shoal_table *table, const shoal_merge_plan *plan,
                                     const shoal_blocks *blocks, shoal_error *error) {
  uint64_t n_rows;
  shoal_origin *origin = shoal_alloc_zero(1, sizeof *origin);
  if (!origin) return shoal_fail_memory(error);
  table->origin = origin;
  origin->n_pieces = plan->n_pieces;
  origin->piece_start = shoal_merge_starts(plan, &n_rows);
  if (!origin->piece_start) return shoal_fail_memory(error);
  if (!shoal_source_stamp(blocks->source, &origin->stamp)) return SHOAL_OK;
  if (shoal_source_touched(blocks->source)) return shoal_origin_changed(table, error);
  origin->path = strdup(blocks->path);
  return origin->path ? SHOAL_OK : shoal_fail_memory(error);
}
