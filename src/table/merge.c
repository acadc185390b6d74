/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table/merge: the workers' shares become one table. A value's final code is its rank by first
 * appearance in the file; each worker met its values in that order, so that merging is a walk
 * over sorted lists. Columns are independent and done on several threads.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/formula.h"
#include "base/work.h"
#include "table/dictionary.h"
#include "table/load.h"

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
    unsigned first = plan->n_shares;
    uint64_t place = UINT64_MAX;
    for (unsigned s = 0; s < plan->n_shares; s++) {
      const shoal_dictionary *d = &plan->shares[s].dictionaries[c];
      if (next[s] < d->n_values && d->first_place[next[s]] < place) {
        first = s;
        place = d->first_place[next[s]];
      }
    }
    if (first == plan->n_shares) return true;
    const shoal_dictionary *d = &plan->shares[first].dictionaries[c];
    uint32_t value = next[first]++;
    uint64_t from = d->offsets[value];
    uint32_t code = shoal_dictionary_code(merged, d->bytes + from,
                                          (uint32_t)(d->offsets[value + 1] - from), place);
    if (code == SHOAL_NO_CODE) return false;
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
    const shoal_code_vector *vector = &job->plan->shares[piece->share].codes[c];
    if (!piece->n_rows) continue;
    const char *from = (const char *)vector->codes + piece->first_row * vector->code_size;
    map_codes(from, vector->code_size, to, column->code_size, maps[piece->share], piece->n_rows);
    to += piece->n_rows * column->code_size;
  }
  return true;
}

/* One share has its values and rows in the file's order already. */
static void take_only_share(shoal_share *share, shoal_column *column, size_t c,
                            shoal_dictionary *merged) {
  shoal_code_vector *vector = &share->codes[c];
  shoal_dictionary_reset(merged);
  *merged = share->dictionaries[c];
  memset(&share->dictionaries[c], 0, sizeof *merged);
  void *exact = shoal_resize(vector->codes, vector->n_codes, vector->code_size);
  column->codes = exact ? exact : vector->codes;
  column->code_size = vector->code_size ? vector->code_size : 1;
  column->n_values = merged->n_values;
  memset(vector, 0, sizeof *vector);
}

/* Is a cell there that quoting would have changed? Then the column was not quoted. */
static bool has_bare_formula(const shoal_dictionary *d) {
  for (uint32_t v = 0; v < d->n_values; v++) {
    const char *cell = d->bytes + d->offsets[v];
    size_t size = (size_t)(d->offsets[v + 1] - d->offsets[v]);
    if (size && cell[0] != '\'' && shoal_is_formula(cell, size)) return true;
  }
  return false;
}

/*
 * Cells that were given an apostrophe lest a spreadsheet run them are read without it. Values that
 * differ still do: what a cell is without its apostrophe is either bare, or quoted itself.
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

/* The bytes of all values, without room for more. */
static char *take_bytes(shoal_dictionary *d) {
  size_t size = (size_t)d->offsets[d->n_values] + SHOAL_DICTIONARY_SLACK;
  char *bytes = shoal_alloc(size, 1);
  if (bytes && d->bytes) memcpy(bytes, d->bytes, size);
  return bytes;
}

bool shoal_merge_settle(const shoal_merge_plan *plan, const uint64_t *piece_start,
                        shoal_column *column, shoal_dictionary *merged) {
  if (plan->unquote) unquote(merged);
  char *bytes = take_bytes(merged);
  if (!bytes) return false;
  shoal_wipe_free(merged->bytes, merged->bytes_capacity);
  column->bytes = bytes;
  column->offsets = merged->offsets;
  column->first_row = merged->first_place;
  merged->bytes = NULL;
  merged->offsets = NULL;
  merged->first_place = NULL;
  for (uint32_t v = 0; v < column->n_values; v++) {
    uint64_t place = column->first_row[v];
    column->first_row[v] = piece_start[place >> 32] + (place & UINT32_MAX);
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
  if (ok && job->plan->n_shares == 1) {
    take_only_share(&job->plan->shares[0], column, c, &merged);
  } else if (ok) {
    for (unsigned s = 0; ok && s < job->plan->n_shares; s++) {
      maps[s] = shoal_alloc(job->plan->shares[s].dictionaries[c].n_values, sizeof **maps);
      ok = maps[s] != NULL;
    }
    ok = ok && shoal_merge_values(job->plan, c, &merged, maps);
    column->n_values = merged.n_values;
    ok = ok && merge_codes(job, column, c, maps);
  }
  ok = ok && shoal_merge_settle(job->plan, job->piece_start, column, &merged);
  shoal_dictionary_reset(&merged);
  for (unsigned s = 0; s < job->plan->n_shares; s++) {
    free(maps[s]);
    free(job->plan->shares[s].codes[c].codes);
    memset(&job->plan->shares[s].codes[c], 0, sizeof job->plan->shares[s].codes[c]);
    shoal_dictionary_reset(&job->plan->shares[s].dictionaries[c]);
  }
  return ok;
}

static bool count_identity(merge_job *job, size_t c) {
  size_t n = (size_t)job->table->n_rows, at = 0;
  uint64_t *hashes = shoal_alloc(n, sizeof *hashes);
  if (!hashes) return false;
  for (unsigned s = 0; s < job->plan->n_shares; s++) {
    if (job->plan->shares[s].n_rows)
      memcpy(hashes + at, job->plan->shares[s].hashes[c],
             job->plan->shares[s].n_rows * sizeof *hashes);
    at += job->plan->shares[s].n_rows;
    free(job->plan->shares[s].hashes[c]);
    job->plan->shares[s].hashes[c] = NULL;
  }
  job->table->columns[c].n_repeated = shoal_count_repeated(hashes, n);
  free(hashes);
  return job->table->columns[c].n_repeated != UINT64_MAX;
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
