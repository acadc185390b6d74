/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table/count: distinct rows and their counts, for tables that do not fit into memory; parts that
 * count instead of keeping rows; and the file of such a table, which writing reads again.
 */
#include "table/count.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "table/dictionary.h"

enum { FIRST_BITS = 10, TILE_ROWS = 256, BATCH = 64 };

/* ------------------------------------------------------------ tuples */

shoal_row_counts *shoal_row_counts_new(size_t width) {
  shoal_row_counts *t = shoal_alloc_zero(1, sizeof *t);
  if (!t) return NULL;
  t->width = width;
  t->bits = FIRST_BITS;
  t->slots = shoal_alloc_zero((size_t)1 << t->bits, sizeof *t->slots);
  if (t->slots) return t;
  free(t);
  return NULL;
}

void shoal_row_counts_free(shoal_row_counts *t) {
  if (!t) return;
  free(t->codes);
  free(t->counts);
  free(t->first_position);
  free(t->slots);
  free(t);
}

static inline const uint32_t *codes_of(const shoal_row_counts *t, uint32_t number) {
  return t->codes + (size_t)number * t->width;
}

static inline uint64_t hash_of(const shoal_row_counts *t, const uint32_t *codes) {
  return shoal_hash_bytes(codes, t->width * sizeof *codes);
}

static inline bool equal(const uint32_t *a, const uint32_t *b, size_t width) {
  uint32_t differ = 0;
  for (size_t i = 0; i < width; i++) differ |= a[i] ^ b[i];
  return !differ;
}

/* The slot of the tuple, or the empty one where it belongs. */
static inline size_t slot_of(const shoal_row_counts *t, uint64_t hash, const uint32_t *codes) {
  size_t mask = ((size_t)1 << t->bits) - 1, at = (size_t)(hash >> (64 - t->bits));
  while (t->slots[at] && !equal(codes_of(t, t->slots[at] - 1), codes, t->width))
    at = (at + 1) & mask;
  return at;
}

/*
 * Tuples come in random order, so most of the time would be cache misses. A batch is prefetched
 * first: its slots, then the tuples they name.
 */
static void hash_batch(const shoal_row_counts *t, const uint32_t *codes, size_t n,
                       uint64_t *hashes) {
  for (size_t i = 0; i < n; i++) {
    hashes[i] = hash_of(t, codes + i * t->width);
    __builtin_prefetch(&t->slots[hashes[i] >> (64 - t->bits)]);
  }
  for (size_t i = 0; i < n; i++) {
    uint32_t number_plus_1 = t->slots[hashes[i] >> (64 - t->bits)];
    if (!number_plus_1) continue;
    __builtin_prefetch(codes_of(t, number_plus_1 - 1));
    __builtin_prefetch(&t->counts[number_plus_1 - 1], 1);
  }
}

void shoal_row_counts_find(const shoal_row_counts *t, const uint32_t *codes, size_t n,
                           uint32_t *numbers) {
  uint64_t hashes[BATCH];
  for (size_t first = 0; first < n; first += BATCH, codes += BATCH * t->width) {
    size_t some = n - first < BATCH ? n - first : BATCH;
    hash_batch(t, codes, some, hashes);
    for (size_t i = 0; i < some; i++) {
      uint32_t number_plus_1 = t->slots[slot_of(t, hashes[i], codes + i * t->width)];
      numbers[first + i] = number_plus_1 ? number_plus_1 - 1 : SHOAL_NONE;
    }
  }
}

static bool grow_slots(shoal_row_counts *t) {
  uint32_t *slots = shoal_alloc_zero((size_t)2 << t->bits, sizeof *slots);
  if (!slots) return false;
  free(t->slots);
  t->slots = slots;
  t->bits++;
  size_t mask = ((size_t)1 << t->bits) - 1;
  for (uint32_t i = 0; i < t->n; i++) {
    size_t at = (size_t)(hash_of(t, codes_of(t, i)) >> (64 - t->bits));
    while (slots[at]) at = (at + 1) & mask;
    slots[at] = i + 1;
  }
  return true;
}

static bool add(shoal_row_counts *t, uint64_t hash, const uint32_t *codes, uint64_t times,
                uint64_t position) {
  size_t at = slot_of(t, hash, codes), n = t->n;
  if (t->slots[at]) {
    t->counts[t->slots[at] - 1] += times;
    return true;
  }
  if (n >= SHOAL_NONE - 1 ||
      !shoal_grow(&t->codes, &t->codes_capacity, (n + 1) * t->width, sizeof *t->codes) ||
      !shoal_grow(&t->counts, &t->counts_capacity, n + 1, sizeof *t->counts) ||
      !shoal_grow(&t->first_position, &t->position_capacity, n + 1, sizeof *t->first_position))
    return false;
  if (t->width) memcpy(t->codes + n * t->width, codes, t->width * sizeof *codes);
  t->counts[n] = times;
  t->first_position[n] = position;
  t->slots[at] = ++t->n;
  return (size_t)t->n * 2 <= (size_t)1 << t->bits || grow_slots(t);
}

bool shoal_row_counts_add(shoal_row_counts *t, const uint32_t *codes, uint64_t times,
                          uint64_t position) {
  return add(t, hash_of(t, codes), codes, times, position);
}

/* The same once for each of n tuples, with consecutive positions. */
static bool add_rows(shoal_row_counts *t, const uint32_t *codes, size_t n, uint64_t position) {
  uint64_t hashes[BATCH];
  for (size_t first = 0; first < n; first += BATCH, codes += BATCH * t->width) {
    size_t some = n - first < BATCH ? n - first : BATCH;
    hash_batch(t, codes, some, hashes);
    for (size_t i = 0; i < some; i++)
      if (!add(t, hashes[i], codes + i * t->width, 1, position + first + i)) return false;
  }
  return true;
}

/* ------------------------------------------------------------ parts */

static size_t counted_columns(const shoal_use *uses, size_t n_columns) {
  size_t n = 0;
  for (size_t c = 0; c < n_columns; c++) n += uses[c] == SHOAL_USE_CODES;
  return n;
}

/*
 * A row is stored as codes while it is loaded and once more, packed and with its group, while it is
 * written; an identifier's hash is stored up to three times while repeated ones are counted. The
 * number of values of a column in which most are unique grows with the file.
 */
double shoal_load_part_estimate(const shoal_load_part *part, const shoal_use *uses,
                                size_t n_columns, uint64_t n_rows, double whole) {
  enum { BYTES_A_ROW = 12, BYTES_AN_IDENTITY = 24, BYTES_A_VALUE = 64, AT_LEAST = 16 << 20 };
  double a_row = BYTES_A_ROW, values = 0;
  for (size_t c = 0; c < n_columns; c++) {
    if (uses[c] == SHOAL_USE_IDENTITY) a_row += BYTES_AN_IDENTITY;
    if (!shoal_use_has_codes(uses[c])) continue;
    const shoal_dictionary *d = &part->dictionaries[c];
    double bytes = (double)d->offsets[d->n_values] + (double)d->n_values * BYTES_A_VALUE;
    values += d->n_values > part->n_rows / 4 ? bytes * whole : bytes;
    a_row += 2 * (double)part->codes[c].code_size;
  }
  return AT_LEAST + (double)n_rows * whole * a_row + 2 * values;
}

static uint32_t code_at(const shoal_code_vector *vector, size_t row) {
  switch (vector->code_size) {
  case 1: return ((const uint8_t *)vector->codes)[row];
  case 2: return ((const uint16_t *)vector->codes)[row];
  default: return ((const uint32_t *)vector->codes)[row];
  }
}

/* Counts the rows that the part has stored so far. */
static bool count_kept(const shoal_load_part *part, const shoal_use *uses, size_t n_columns,
                       shoal_row_counts *tuples, uint32_t *codes) {
  size_t mark = 0;
  for (size_t row = 0; row < part->n_rows; row++) {
    size_t n = 0;
    for (size_t c = 0; c < n_columns; c++)
      if (uses[c] == SHOAL_USE_CODES) codes[n++] = code_at(&part->codes[c], row);
    while (mark + 1 < part->n_marks && part->marks[mark + 1].first_row <= row) mark++;
    uint64_t position =
        (uint64_t)part->marks[mark].number << 32 | (row - part->marks[mark].first_row);
    if (!shoal_row_counts_add(tuples, codes, 1, position)) return false;
  }
  return true;
}

/* Samples the rows that a kept column has as codes so far, before they are dropped. */
static bool sample_codes(shoal_load_part *part, size_t c) {
  const shoal_dictionary *d = &part->dictionaries[c];
  uint64_t *n_rows = shoal_alloc_zero(d->n_values, sizeof *n_rows);
  bool ok = n_rows != NULL;
  for (size_t row = 0; ok && row < part->n_rows; row++) n_rows[code_at(&part->codes[c], row)]++;
  for (uint32_t v = 0; ok && v < d->n_values; v++)
    ok = shoal_value_sample_add_value(&part->samples[c], part->sampling, d->bytes + d->offsets[v],
                                      (size_t)(d->offsets[v + 1] - d->offsets[v]), n_rows[v]);
  free(n_rows);
  return ok;
}

bool shoal_load_part_count(shoal_load_part *part, const shoal_use *uses, size_t n_columns) {
  size_t width = counted_columns(uses, n_columns);
  shoal_row_counts *tuples = shoal_row_counts_new(width);
  uint32_t *codes = shoal_alloc(width, sizeof *codes);
  bool ok = tuples && codes && count_kept(part, uses, n_columns, tuples, codes);
  free(codes);
  if (!ok) {
    shoal_row_counts_free(tuples);
    return false;
  }
  part->tuples = tuples;
  for (size_t c = 0; c < n_columns; c++) {
    if (uses[c] == SHOAL_USE_KEEP && part->sampling && !sample_codes(part, c)) return false;
    free(part->codes[c].codes);
    free(part->hashes[c]);
    part->hashes[c] = NULL;
    memset(&part->codes[c], 0, sizeof part->codes[c]);
    if (uses[c] == SHOAL_USE_KEEP) shoal_dictionary_reset(&part->dictionaries[c]);
  }
  return true;
}

bool shoal_load_part_add_counted(shoal_load_part *part, const shoal_use *uses, size_t n_columns,
                                 const char *bytes, const uint32_t *begin, const uint32_t *end,
                                 size_t n_rows, size_t number) {
  size_t width = part->tuples->width;
  uint32_t column[TILE_ROWS], *codes = shoal_alloc(width * TILE_ROWS, sizeof *codes);
  bool ok = codes != NULL;
  for (size_t row = 0; ok && row < n_rows; row += TILE_ROWS) {
    size_t n = n_rows - row < TILE_ROWS ? n_rows - row : TILE_ROWS, at = 0;
    uint64_t position = (uint64_t)number << 32 | row;
    for (size_t c = 0; ok && c < n_columns; c++) {
      size_t cell = row * n_columns + c;
      if (part->sampling && (uses[c] == SHOAL_USE_KEEP || shoal_use_is_sampled(uses[c])))
        ok = shoal_value_sample_add(&part->samples[c], part->sampling, bytes, begin + cell,
                                    end + cell, n_columns, n);
      if (uses[c] != SHOAL_USE_CODES) continue;
      ok = shoal_dictionary_encode(&part->dictionaries[c], bytes, begin + cell, end + cell,
                                   n_columns, n, position, column);
      for (size_t i = 0; ok && i < n; i++) codes[i * width + at] = column[i];
      at++;
    }
    ok = ok && add_rows(part->tuples, codes, n, position);
  }
  free(codes);
  part->n_rows += n_rows;
  return ok;
}

/* ------------------------------------------------------------ merging counted parts */

/* A counted column: its final values, and the maps of the parts to them. */
typedef struct counted_column {
  size_t column; /* of the table */
  shoal_dictionary merged;
  uint32_t *maps[64]; /* by part */
} counted_column;

typedef struct counted_merge {
  const shoal_merge_plan *plan;
  shoal_table *table;
  counted_column *columns;
  size_t width;
  shoal_row_counts *tuples;
  uint32_t *codes; /* of one tuple */
} counted_merge;

static bool merge_values(counted_merge *m) {
  for (size_t c = 0; c < m->table->n_columns; c++) {
    if (m->plan->uses[c] != SHOAL_USE_CODES) continue;
    counted_column *column = &m->columns[m->width++];
    column->column = c;
    if (!shoal_dictionary_init(&column->merged)) return false;
    for (unsigned s = 0; s < m->plan->n_parts; s++) {
      size_t n_values = m->plan->parts[s].dictionaries[c].n_values;
      column->maps[s] = shoal_alloc(n_values, sizeof **column->maps);
      if (!column->maps[s]) return false;
    }
    if (!shoal_merge_values(m->plan, c, &column->merged, column->maps)) return false;
    for (unsigned s = 0; s < m->plan->n_parts; s++)
      shoal_dictionary_reset(&m->plan->parts[s].dictionaries[c]);
  }
  return true;
}

/* Tuples of all parts, in order of first appearance in the file. */
static bool merge_tuples(counted_merge *m) {
  uint32_t next[64] = {0};
  m->tuples = shoal_row_counts_new(m->width);
  m->codes = shoal_alloc(m->width, sizeof *m->codes);
  if (!m->tuples || !m->codes) return false;
  for (;;) {
    unsigned first = m->plan->n_parts;
    uint64_t position = UINT64_MAX;
    for (unsigned s = 0; s < m->plan->n_parts; s++) {
      const shoal_row_counts *t = m->plan->parts[s].tuples;
      if (next[s] == t->n || t->first_position[next[s]] >= position) continue;
      first = s;
      position = t->first_position[next[s]];
    }
    if (first == m->plan->n_parts) return true;
    const shoal_row_counts *from = m->plan->parts[first].tuples;
    uint32_t tuple = next[first]++;
    for (size_t i = 0; i < m->width; i++)
      m->codes[i] = m->columns[i].maps[first][from->codes[(size_t)tuple * m->width + i]];
    if (!shoal_row_counts_add(m->tuples, m->codes, from->counts[tuple], position)) return false;
  }
}

static bool fill_column(const counted_merge *m, size_t i, const uint64_t *piece_start) {
  counted_column *from = &m->columns[i];
  shoal_column *column = &m->table->columns[from->column];
  const shoal_row_counts *t = m->tuples;
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
  return shoal_merge_finalize(m->plan, piece_start, column, &from->merged);
}

static bool fill_table(counted_merge *m) {
  shoal_table *table = m->table;
  shoal_row_counts *t = m->tuples;
  uint64_t *piece_start = shoal_merge_starts(m->plan, &table->n_records);
  bool ok = piece_start != NULL;
  for (uint32_t row = 0; ok && row < t->n; row++) {
    uint64_t position = t->first_position[row];
    t->first_position[row] = piece_start[position >> 32] + (position & UINT32_MAX);
  }
  for (size_t i = 0; ok && i < m->width; i++) ok = fill_column(m, i, piece_start);
  free(piece_start);
  if (!ok) return false;
  table->n_rows = t->n;
  table->counts = t->counts;
  table->first_row = t->first_position;
  t->counts = t->first_position = NULL;
  return true;
}

shoal_status shoal_table_merge_counted(shoal_table *table, const shoal_merge_plan *plan,
                                       shoal_error *error) {
  counted_merge m = {.plan = plan, .table = table};
  m.columns = shoal_alloc_zero(table->n_columns, sizeof *m.columns);
  bool ok = m.columns && merge_values(&m) && merge_tuples(&m) && fill_table(&m);
  for (size_t i = 0; m.columns && i < m.width; i++) {
    shoal_dictionary_reset(&m.columns[i].merged);
    for (unsigned s = 0; s < plan->n_parts; s++) free(m.columns[i].maps[s]);
  }
  free(m.columns);
  free(m.codes);
  shoal_row_counts_free(m.tuples);
  return ok ? SHOAL_OK : shoal_fail_memory(error);
}

/* ------------------------------------------------------------ the file */

shoal_status shoal_table_source_changed(const shoal_table *table, shoal_error *error) {
  shoal_location location = {.file = table->name};
  return shoal_fail_at(error, SHOAL_FAILED, &location,
                       "changed while shoal was reading it; nothing was written. Retry when no "
                       "process writes to it");
}

void shoal_table_source_free(shoal_table_source *source) {
  if (!source) return;
  free(source->path);
  free(source->encoding);
  free(source->piece_start);
  free(source->piece_hash);
  free(source);
}

shoal_status shoal_table_note_source(shoal_table *table, const shoal_merge_plan *plan,
                                     const shoal_blocks *blocks, shoal_error *error) {
  uint64_t n_rows;
  shoal_table_source *source = shoal_alloc_zero(1, sizeof *source);
  if (!source) return shoal_fail_memory(error);
  table->source = source;
  source->n_pieces = plan->n_pieces;
  source->piece_start = shoal_merge_starts(plan, &n_rows);
  if (!source->piece_start) return shoal_fail_memory(error);
  if (!table->counts) {
    source->piece_hash = shoal_alloc(plan->n_pieces, sizeof *source->piece_hash);
    if (!source->piece_hash) return shoal_fail_memory(error);
    for (size_t p = 0; p < plan->n_pieces; p++) source->piece_hash[p] = plan->pieces[p].hash;
  }
  if (!shoal_source_stamp(blocks->source, &source->stamp)) return SHOAL_OK;
  if (shoal_source_touched(blocks->source)) return shoal_table_source_changed(table, error);
  source->path = strdup(blocks->path);
  source->or_utf8 = blocks->or_utf8;
  if (blocks->encoding) source->encoding = strdup(blocks->encoding);
  bool ok = source->path && (source->encoding || !blocks->encoding);
  return ok ? SHOAL_OK : shoal_fail_memory(error);
}
