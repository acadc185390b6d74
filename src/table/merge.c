/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table/merge: the part of a table that one worker loads, and how parts become one table. A value's
 * final code is its rank by first appearance in the file. Each worker met its values in that order,
 * so merging is a walk over sorted lists. Columns are independent and merged on several threads.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/sort.h"
#include "base/text.h"
#include "base/thread.h"
#include "table/count.h"
#include "table/dictionary.h"
#include "table/load.h"

/* ------------------------------------------------------------ parts */

enum { TILE_ROWS = 256 }; /* rows encoded column by column while their bytes are in the cache */

bool shoal_load_part_init(shoal_load_part *part, const shoal_use *uses, size_t n_columns) {
  memset(part, 0, sizeof *part);
  part->dictionaries = shoal_alloc_zero(n_columns, sizeof *part->dictionaries);
  part->codes = shoal_alloc_zero(n_columns, sizeof *part->codes);
  part->hashes = shoal_alloc_zero(n_columns, sizeof *part->hashes);
  part->hash_capacity = shoal_alloc_zero(n_columns, sizeof *part->hash_capacity);
  part->samples = shoal_alloc_zero(n_columns, sizeof *part->samples);
  bool ok =
      part->dictionaries && part->codes && part->hashes && part->hash_capacity && part->samples;
  for (size_t c = 0; ok && c < n_columns; c++)
    ok = !shoal_use_has_codes(uses[c]) || shoal_dictionary_init(&part->dictionaries[c]);
  if (!ok) shoal_load_part_reset(part, n_columns);
  return ok;
}

void shoal_load_part_reset(shoal_load_part *part, size_t n_columns) {
  for (size_t c = 0; c < n_columns; c++) {
    if (part->dictionaries) shoal_dictionary_reset(&part->dictionaries[c]);
    if (part->codes) free(part->codes[c].codes);
    if (part->hashes) free(part->hashes[c]);
    if (part->samples) shoal_value_sample_reset(&part->samples[c]);
  }
  free(part->dictionaries);
  free(part->codes);
  free(part->hashes);
  free(part->hash_capacity);
  free(part->samples);
  free(part->marks);
  shoal_row_counts_free(part->tuples);
  memset(part, 0, sizeof *part);
}

bool shoal_code_vector_append(shoal_code_vector *vector, const uint32_t *codes, size_t n,
                              uint32_t n_values) {
  unsigned size = n_values <= UINT8_MAX + 1u ? 1 : n_values <= UINT16_MAX + 1u ? 2 : 4;
  if (size < vector->code_size) size = vector->code_size;
  if (!shoal_grow(&vector->codes, &vector->capacity_bytes, (vector->n_codes + n) * size, 1))
    return false;
  if (vector->code_size == 0) vector->code_size = size;
  if (vector->code_size != size) {
    /* Rewrites the codes with more bytes each, from the end, so that none is overwritten. */
    for (size_t i = vector->n_codes; i-- > 0;) {
      uint32_t code =
          vector->code_size == 1 ? ((uint8_t *)vector->codes)[i] : ((uint16_t *)vector->codes)[i];
      if (size == 2) ((uint16_t *)vector->codes)[i] = (uint16_t)code;
      else ((uint32_t *)vector->codes)[i] = code;
    }
    vector->code_size = size;
  }
  size_t at = vector->n_codes;
  if (size == 1) {
    uint8_t *to = (uint8_t *)vector->codes + at;
    for (size_t i = 0; i < n; i++) to[i] = (uint8_t)codes[i];
  } else if (size == 2) {
    uint16_t *to = (uint16_t *)vector->codes + at;
    for (size_t i = 0; i < n; i++) to[i] = (uint16_t)codes[i];
  } else {
    memcpy((uint32_t *)vector->codes + at, codes, n * sizeof *codes);
  }
  vector->n_codes += n;
  return true;
}

static bool add_hashes(shoal_load_part *part, size_t column, const char *bytes,
                       const uint32_t *begin, const uint32_t *end, size_t stride, size_t n_rows,
                       size_t at) {
  if (!shoal_grow(&part->hashes[column], &part->hash_capacity[column], at + n_rows,
                  sizeof(uint64_t)))
    return false;
  uint64_t *to = part->hashes[column] + at;
  for (size_t row = 0; row < n_rows; row++) {
    uint32_t from = begin[row * stride];
    to[row] = shoal_hash_bytes(bytes + from, end[row * stride] - from);
  }
  return true;
}

bool shoal_load_part_add(shoal_load_part *part, const shoal_use *uses, size_t n_columns,
                         const char *bytes, const uint32_t *begin, const uint32_t *end,
                         size_t n_rows, size_t number) {
  uint32_t codes[TILE_ROWS];
  if (part->tuples)
    return shoal_load_part_add_counted(part, uses, n_columns, bytes, begin, end, n_rows, number);
  if (!shoal_grow(&part->marks, &part->marks_capacity, part->n_marks + 1, sizeof *part->marks))
    return false;
  part->marks[part->n_marks++] = (shoal_piece_mark){part->n_rows, number};
  for (size_t row = 0; row < n_rows; row += TILE_ROWS) {
    size_t n = n_rows - row < TILE_ROWS ? n_rows - row : TILE_ROWS;
    for (size_t c = 0; c < n_columns; c++) {
      size_t cell = row * n_columns + c;
      if (uses[c] == SHOAL_USE_IDENTITY &&
          !add_hashes(part, c, bytes, begin + cell, end + cell, n_columns, n, part->n_rows + row))
        return false;
      if (part->sampling && shoal_use_is_sampled(uses[c]) &&
          !shoal_value_sample_add(&part->samples[c], part->sampling, bytes, begin + cell,
                                  end + cell, n_columns, n))
        return false;
      if (!shoal_use_has_codes(uses[c])) continue;
      shoal_dictionary *dictionary = &part->dictionaries[c];
      uint64_t position = (uint64_t)number << 32 | row;
      if (!shoal_dictionary_encode(dictionary, bytes, begin + cell, end + cell, n_columns, n,
                                   position, codes) ||
          !shoal_code_vector_append(&part->codes[c], codes, n, dictionary->n_values))
        return false;
    }
  }
  part->n_rows += n_rows;
  return true;
}

/* ------------------------------------------------------------ merging */

typedef struct merge_job {
  const shoal_merge_plan *plan;
  shoal_table *table;
  const uint64_t *piece_start; /* row of the table at which each piece starts */
  atomic_size_t next_column;
  atomic_bool failed;
} merge_job;

bool shoal_merge_values(const shoal_merge_plan *plan, size_t c, shoal_dictionary *merged,
                        uint32_t **maps) {
  uint32_t next[64] = {0};
  for (;;) {
    unsigned first = plan->n_parts;
    uint64_t position = UINT64_MAX;
    for (unsigned s = 0; s < plan->n_parts; s++) {
      const shoal_dictionary *d = &plan->parts[s].dictionaries[c];
      if (next[s] < d->n_values && d->first_position[next[s]] < position) {
        first = s;
        position = d->first_position[next[s]];
      }
    }
    if (first == plan->n_parts) return true;
    const shoal_dictionary *d = &plan->parts[first].dictionaries[c];
    uint32_t value = next[first]++;
    uint64_t from = d->offsets[value];
    uint32_t code = shoal_dictionary_code(merged, d->bytes + from,
                                          (uint32_t)(d->offsets[value + 1] - from), position);
    if (code == SHOAL_NONE) return false;
    maps[first][value] = code;
  }
}

#define MAP_CODES(FROM, TO)                                                                        \
  for (size_t i = 0; i < n; i++) ((TO *)to)[i] = (TO)map[((const FROM *)from)[i]]

static void map_codes(const void *from, unsigned from_size, void *to, unsigned to_size,
                      const uint32_t *map, size_t n) {
  switch (from_size * 8 + to_size) {
  case 1 * 8 + 1: MAP_CODES(uint8_t, uint8_t); break;
  case 1 * 8 + 2: MAP_CODES(uint8_t, uint16_t); break;
  case 1 * 8 + 4: MAP_CODES(uint8_t, uint32_t); break;
  case 2 * 8 + 2: MAP_CODES(uint16_t, uint16_t); break;
  case 2 * 8 + 4: MAP_CODES(uint16_t, uint32_t); break;
  default: MAP_CODES(uint32_t, uint32_t); break;
  }
}

static bool merge_codes(merge_job *job, shoal_column *column, size_t c, uint32_t *const *maps) {
  column->code_size = column->n_values <= 256 ? 1 : column->n_values <= 65536 ? 2 : 4;
  column->codes = shoal_alloc((size_t)job->table->n_rows, column->code_size);
  if (!column->codes) return false;
  char *to = column->codes;
  for (size_t p = 0; p < job->plan->n_pieces; p++) {
    const shoal_piece *piece = &job->plan->pieces[p];
    const shoal_code_vector *vector = &job->plan->parts[piece->part].codes[c];
    if (!piece->n_rows) continue;
    const char *from = (const char *)vector->codes + piece->first_row * vector->code_size;
    map_codes(from, vector->code_size, to, column->code_size, maps[piece->part], piece->n_rows);
    to += piece->n_rows * column->code_size;
  }
  return true;
}

/* A single part already has its values and rows in file order. */
static void take_only_part(shoal_load_part *part, shoal_column *column, size_t c,
                           shoal_dictionary *merged) {
  shoal_code_vector *vector = &part->codes[c];
  shoal_dictionary_reset(merged);
  *merged = part->dictionaries[c];
  memset(&part->dictionaries[c], 0, sizeof *merged);
  void *exact = shoal_resize(vector->codes, vector->n_codes, vector->code_size);
  column->codes = exact ? exact : vector->codes;
  column->code_size = vector->code_size ? vector->code_size : 1;
  column->n_values = merged->n_values;
  memset(vector, 0, sizeof *vector);
}

/* Is there a cell that quoting would have changed? Then the column was not quoted. */
static bool has_bare_formula(const shoal_dictionary *d) {
  for (uint32_t v = 0; v < d->n_values; v++) {
    const char *cell = d->bytes + d->offsets[v];
    size_t size = (size_t)(d->offsets[v + 1] - d->offsets[v]);
    if (size && cell[0] != '\'' && shoal_is_formula(cell, size)) return true;
  }
  return false;
}

/*
 * Removes the apostrophes of cells quoted as formulas. Different values stay different: without its
 * apostrophe a cell is either plain, or quoted itself.
 */
static void unquote(shoal_dictionary *d) {
  uint64_t to = 0, from = 0;
  if (has_bare_formula(d)) return;
  for (uint32_t v = 0; v < d->n_values; v++) {
    uint64_t end = d->offsets[v + 1];
    if (shoal_is_quoted_formula(d->bytes + from, (size_t)(end - from))) from++;
    memmove(d->bytes + to, d->bytes + from, (size_t)(end - from));
    to += end - from;
    from = end;
    d->offsets[v + 1] = to;
  }
  if (from > to) memset(d->bytes + to, 0, (size_t)(from - to));
}

/* The bytes of all values, in a block of their exact size. */
static char *take_bytes(shoal_dictionary *d) {
  size_t size = (size_t)d->offsets[d->n_values] + SHOAL_DICTIONARY_SLACK;
  char *bytes = shoal_alloc(size, 1);
  if (bytes && d->bytes) memcpy(bytes, d->bytes, size);
  return bytes;
}

bool shoal_merge_finalize(const shoal_merge_plan *plan, const uint64_t *piece_start,
                          shoal_column *column, shoal_dictionary *merged) {
  if (plan->unquote) unquote(merged);
  char *bytes = take_bytes(merged);
  if (!bytes) return false;
  shoal_wipe_free(merged->bytes, merged->bytes_capacity);
  column->bytes = bytes;
  column->offsets = merged->offsets;
  column->first_row = merged->first_position;
  merged->bytes = NULL;
  merged->offsets = NULL;
  merged->first_position = NULL;
  for (uint32_t v = 0; v < column->n_values; v++) {
    uint64_t position = column->first_row[v];
    column->first_row[v] = piece_start[position >> 32] + (position & UINT32_MAX);
    size_t size;
    const char *value = shoal_column_value(column, v, &size);
    for (size_t m = 0; m < plan->n_missing; m++) {
      if (strlen(plan->missing[m]) != size || memcmp(plan->missing[m], value, size) != 0) continue;
      if (!column->is_missing) column->is_missing = shoal_alloc_zero(column->n_values, 1);
      if (!column->is_missing) return false;
      column->is_missing[v] = 1;
    }
  }
  return true;
}

static bool merge_column(merge_job *job, size_t c) {
  shoal_column *column = &job->table->columns[c];
  shoal_dictionary merged;
  uint32_t *maps[64] = {NULL};
  bool ok = shoal_dictionary_init(&merged);
  if (ok && job->plan->n_parts == 1) {
    take_only_part(&job->plan->parts[0], column, c, &merged);
  } else if (ok) {
    for (unsigned s = 0; ok && s < job->plan->n_parts; s++) {
      maps[s] = shoal_alloc(job->plan->parts[s].dictionaries[c].n_values, sizeof **maps);
      ok = maps[s] != NULL;
    }
    ok = ok && shoal_merge_values(job->plan, c, &merged, maps);
    column->n_values = merged.n_values;
    ok = ok && merge_codes(job, column, c, maps);
  }
  ok = ok && shoal_merge_finalize(job->plan, job->piece_start, column, &merged);
  shoal_dictionary_reset(&merged);
  for (unsigned s = 0; s < job->plan->n_parts; s++) {
    free(maps[s]);
    free(job->plan->parts[s].codes[c].codes);
    memset(&job->plan->parts[s].codes[c], 0, sizeof job->plan->parts[s].codes[c]);
    shoal_dictionary_reset(&job->plan->parts[s].dictionaries[c]);
  }
  return ok;
}

/*
 * Counts the rows that share their identifier with another row. k counts rows, while the papers
 * assume one row per person (Samarati 2001, section 2): a data steward must know if that fails.
 * Values with equal 64-bit hashes count as equal.
 */
static bool count_identity(merge_job *job, size_t c) {
  size_t n = (size_t)job->table->n_rows, at = 0;
  uint64_t *hashes = shoal_alloc(n, sizeof *hashes);
  if (!hashes) return false;
  for (unsigned s = 0; s < job->plan->n_parts; s++) {
    if (job->plan->parts[s].n_rows)
      memcpy(hashes + at, job->plan->parts[s].hashes[c],
             job->plan->parts[s].n_rows * sizeof *hashes);
    at += job->plan->parts[s].n_rows;
    free(job->plan->parts[s].hashes[c]);
    job->plan->parts[s].hashes[c] = NULL;
  }
  shoal_sort_u64(hashes, n);
  for (size_t i = 0, end; i < n; i = end) {
    for (end = i + 1; end < n && hashes[end] == hashes[i];) end++;
    if (end - i > 1) job->table->columns[c].n_repeated += end - i;
  }
  job->table->columns[c].is_identity = true;
  if (job->table->columns[c].n_repeated) free(hashes);
  else job->table->columns[c].hashes = hashes;
  return true;
}

static void merge_columns(void *user, unsigned i) {
  (void)i;
  merge_job *job = user;
  for (;;) {
    size_t c = atomic_fetch_add(&job->next_column, 1);
    if (c >= job->table->n_columns || atomic_load(&job->failed)) return;
    bool ok = true;
    if (shoal_use_has_codes(job->plan->uses[c])) ok = merge_column(job, c);
    if (job->plan->uses[c] == SHOAL_USE_IDENTITY) ok = count_identity(job, c);
    if (!ok) atomic_store(&job->failed, true);
  }
}

shoal_status shoal_table_merge_samples(shoal_table *table, const shoal_merge_plan *plan,
                                       shoal_error *error) {
  for (size_t c = 0; c < table->n_columns; c++) {
    shoal_value_sample *merged = NULL;
    for (unsigned s = 0; s < plan->n_parts; s++) {
      shoal_value_sample *sample = &plan->parts[s].samples[c];
      if (!sample->bits) continue;
      if (!merged) {
        merged = table->columns[c].sample = shoal_alloc_zero(1, sizeof *merged);
        if (!merged) return shoal_fail_memory(error);
        *merged = *sample;
        memset(sample, 0, sizeof *sample);
        continue;
      }
      if (!shoal_value_sample_merge(merged, sample)) return shoal_fail_memory(error);
      shoal_value_sample_reset(sample);
    }
  }
  return SHOAL_OK;
}

uint64_t *shoal_merge_starts(const shoal_merge_plan *plan, uint64_t *n_rows) {
  uint64_t *start = shoal_alloc(plan->n_pieces + 1, sizeof *start);
  *n_rows = 0;
  for (size_t p = 0; start && p < plan->n_pieces; p++) {
    start[p] = *n_rows;
    *n_rows += plan->pieces[p].n_rows;
  }
  if (start) start[plan->n_pieces] = *n_rows;
  return start;
}

shoal_status shoal_table_merge(shoal_table *table, const shoal_merge_plan *plan,
                               shoal_error *error) {
  merge_job job = {.plan = plan, .table = table};
  uint64_t *start = shoal_merge_starts(plan, &table->n_rows);
  if (!start) return shoal_fail_memory(error);
  job.piece_start = start;
  shoal_parallel(plan->n_threads, merge_columns, &job);
  free(start);
  return atomic_load(&job.failed) ? shoal_fail_memory(error) : SHOAL_OK;
}
