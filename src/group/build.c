/* SPDX-License-Identifier: Apache-2.0 */
/*
 * group/build: rows -> distinct tuples. Each thread groups its own stretch of rows; the stretches
 * are joined in order, so that tuples are numbered by first appearance whatever the threads.
 */
#include "group/build.h"

#include <stdlib.h>
#include <string.h>

enum { BLOCK_ROWS = 16 * 1024, MAX_PARTS = 64, ROWS_A_PART = 100 * 1000 };

/* A stretch of rows and the tuples found in it. */
typedef struct part {
  uint64_t first, end;
  shoal_ids *stages; /* one for each shortening of the keys, the last gives the tuples */
  size_t n_stages;
  uint64_t *first_row; /* of each tuple */
  size_t first_row_capacity;
  uint32_t *global; /* the part's tuple -> the table's */
} part;

typedef struct grouping {
  shoal_frequency *frequency;
  const bool *cut; /* by quasi-identifier: keys are shortened before it */
  const shoal_run *run;
  part parts[MAX_PARTS];
  unsigned n_parts;
  bool failed[MAX_PARTS];
  shoal_status cancelled;
  shoal_error error;
} grouping;

#define FOLD_CODES(TYPE)                                                                           \
  for (size_t i = 0; i < n; i++) keys[i] = keys[i] * radix + ((const TYPE *)column->codes)[row + i]

static void fold_column(const shoal_column *column, uint64_t row, size_t n, uint64_t *keys) {
  uint64_t radix = column->n_values;
  switch (column->code_size) {
  case 1: FOLD_CODES(uint8_t); break;
  case 2: FOLD_CODES(uint16_t); break;
  default: FOLD_CODES(uint32_t); break;
  }
}

/* Keys become the ids of a stage. */
static bool shorten(shoal_ids *stage, uint64_t *keys, size_t n) {
  for (size_t i = 0; i < n; i++) {
    uint32_t id = shoal_ids_insert(stage, keys[i]);
    if (id == SHOAL_NO_ID) return false;
    keys[i] = id;
  }
  return true;
}

static bool group_block(grouping *g, part *p, uint64_t row, size_t n, uint64_t *keys) {
  shoal_frequency *f = g->frequency;
  size_t stage = 0;
  memset(keys, 0, n * sizeof *keys);
  for (size_t q = 0; q < f->n_quasi; q++) {
    if (g->cut[q] && !shorten(&p->stages[stage++], keys, n)) return false;
    fold_column(f->quasi[q], row, n, keys);
  }
  shoal_ids *tuples = &p->stages[stage];
  for (size_t i = 0; i < n; i++) {
    uint32_t known = tuples->n_ids;
    uint32_t id = shoal_ids_insert(tuples, keys[i]);
    if (id == SHOAL_NO_ID) return false;
    f->tuple_of_row[row + i] = id;
    if (id < known) continue;
    if (!shoal_grow(&p->first_row, &p->first_row_capacity, (size_t)id + 1, sizeof(uint64_t)))
      return false;
    p->first_row[id] = row + i;
  }
  return true;
}

static void group_part(void *user, unsigned i) {
  grouping *g = user;
  part *p = &g->parts[i];
  uint64_t *keys = shoal_alloc(BLOCK_ROWS, sizeof *keys);
  bool ok = keys != NULL;
  for (uint64_t row = p->first; ok && row < p->end; row += BLOCK_ROWS) {
    size_t n = p->end - row < BLOCK_ROWS ? (size_t)(p->end - row) : BLOCK_ROWS;
    ok = group_block(g, p, row, n, keys);
    if (i == 0 && g->cancelled == SHOAL_OK)
      g->cancelled = shoal_run_report(g->run, "group", (row + n) * g->n_parts,
                                      g->frequency->table->n_rows, "rows", &g->error);
    if (i == 0 && g->cancelled != SHOAL_OK) break;
  }
  g->failed[i] = !ok;
  free(keys);
}

/* Gives the tuples of all parts their final numbers: the first part's are final already. */
static bool join_parts(grouping *g) {
  part *first = &g->parts[0];
  shoal_ids *tuples = &first->stages[first->n_stages - 1];
  for (unsigned i = 1; i < g->n_parts; i++) {
    part *p = &g->parts[i];
    shoal_ids *own = &p->stages[p->n_stages - 1];
    p->global = shoal_alloc(own->n_ids, sizeof *p->global);
    if (!p->global) return false;
    for (uint32_t t = 0; t < own->n_ids; t++) {
      uint32_t known = tuples->n_ids;
      uint32_t id = shoal_ids_insert(tuples, own->of_id[t]);
      if (id == SHOAL_NO_ID) return false;
      p->global[t] = id;
      if (id < known) continue;
      if (!shoal_grow(&first->first_row, &first->first_row_capacity, (size_t)id + 1,
                      sizeof(uint64_t)))
        return false;
      first->first_row[id] = p->first_row[t];
    }
  }
  g->frequency->n_tuples = tuples->n_ids;
  return true;
}

static void renumber_part(void *user, unsigned i) {
  grouping *g = user;
  const part *p = &g->parts[i];
  if (!p->global) return;
  uint32_t *tuple_of_row = g->frequency->tuple_of_row;
  for (uint64_t row = p->first; row < p->end; row++)
    tuple_of_row[row] = p->global[tuple_of_row[row]];
}

/* Where keys must be shortened so that they never need more than 64 bits; returns the stages. */
static size_t plan_cuts(const shoal_frequency *f, bool *cut) {
  size_t n_stages = 1;
  uint64_t radix = 1, product;
  for (size_t q = 0; q < f->n_quasi; q++) {
    cut[q] = __builtin_mul_overflow(radix, (uint64_t)f->quasi[q]->n_values, &product);
    if (cut[q]) {
      n_stages++;
      product = ((uint64_t)1 << 32) * f->quasi[q]->n_values;
    }
    radix = product;
  }
  return n_stages;
}

static bool prepare_parts(grouping *g, size_t n_stages) {
  uint64_t n_rows = g->frequency->table->n_rows;
  unsigned threads = shoal_run_threads(g->run);
  uint64_t wanted = n_rows / ROWS_A_PART + 1;
  g->n_parts = n_stages > 1 ? 1 : wanted < threads ? (unsigned)wanted : threads;
  for (unsigned i = 0; i < g->n_parts; i++) {
    part *p = &g->parts[i];
    p->first = n_rows * i / g->n_parts;
    p->end = n_rows * (i + 1) / g->n_parts;
    p->stages = shoal_alloc_zero(n_stages, sizeof *p->stages);
    if (!p->stages) return false;
    p->n_stages = n_stages;
    for (size_t s = 0; s < n_stages; s++)
      if (!shoal_ids_init(&p->stages[s], 4096)) return false;
  }
  return true;
}

static void free_parts(grouping *g) {
  for (unsigned i = 0; i < g->n_parts; i++) {
    part *p = &g->parts[i];
    for (size_t s = 0; s < p->n_stages; s++) shoal_ids_reset(&p->stages[s]);
    free(p->stages);
    free(p->first_row);
    free(p->global);
  }
}

/* ------------------------------------------------------------ the whole */

static bool fill_tuples(shoal_frequency *f, const uint64_t *first_row) {
  for (size_t q = 0; q < f->n_quasi; q++) {
    f->codes[q] = shoal_alloc(f->n_tuples, sizeof **f->codes);
    if (!f->codes[q]) return false;
    for (uint32_t t = 0; t < f->n_tuples; t++)
      f->codes[q][t] = shoal_column_code(f->quasi[q], first_row[t]);
  }
  return true;
}

/* The codes of each tuple side by side, where they fit into a word. */
static bool fill_words(shoal_frequency *f) {
  unsigned bits = 0;
  for (size_t q = 0; q < f->n_quasi; q++) {
    uint32_t n_values = f->quasi[q]->n_values;
    f->word_bits[q] = n_values > 1 ? 32 - (unsigned)__builtin_clz(n_values - 1) : 0;
    bits += f->word_bits[q];
  }
  if (bits > 64) return true;
  f->words = shoal_alloc_zero(f->n_tuples, sizeof *f->words);
  if (!f->words) return false;
  unsigned shift = 0;
  for (size_t q = 0; q < f->n_quasi; q++) {
    for (uint32_t t = 0; f->word_bits[q] && t < f->n_tuples; t++)
      f->words[t] |= (uint64_t)f->codes[q][t] << shift;
    shift += f->word_bits[q];
  }
  return true;
}

static shoal_status group_rows(shoal_frequency *f, const shoal_run *run, shoal_error *error) {
  bool *cut = shoal_alloc_zero(f->n_quasi, sizeof *cut);
  grouping *g = shoal_alloc_zero(1, sizeof *g);
  bool ok = cut && g;
  if (ok) {
    g->frequency = f;
    g->run = run;
    g->cut = cut;
    ok = prepare_parts(g, plan_cuts(f, cut));
    if (ok) shoal_parallel(g->n_parts, group_part, g);
    for (unsigned i = 0; i < g->n_parts; i++) ok = ok && !g->failed[i];
    ok = ok && g->cancelled == SHOAL_OK && join_parts(g);
    if (ok) shoal_parallel(g->n_parts, renumber_part, g);
    ok = ok && fill_tuples(f, g->parts[0].first_row) && fill_words(f);
    free_parts(g);
  }
  shoal_status status = ok ? SHOAL_OK : shoal_fail_memory(error);
  if (g && g->cancelled != SHOAL_OK) {
    status = g->cancelled;
    if (error) *error = g->error;
  }
  free(g);
  free(cut);
  return status;
}

static bool allocate(shoal_frequency *f, const shoal_column *const *quasi,
                     const shoal_column *const *sensitive, const shoal_track *track) {
  f->quasi = shoal_alloc(f->n_quasi, sizeof *f->quasi);
  f->sensitive = shoal_alloc(f->n_sensitive, sizeof *f->sensitive);
  f->track = shoal_alloc(f->n_sensitive, sizeof *f->track);
  f->codes = shoal_alloc_zero(f->n_quasi, sizeof *f->codes);
  f->word_bits = shoal_alloc_zero(f->n_quasi, sizeof *f->word_bits);
  f->tuple_of_row = shoal_alloc((size_t)f->table->n_rows, sizeof *f->tuple_of_row);
  if (!f->quasi || !f->sensitive || !f->track || !f->codes || !f->word_bits || !f->tuple_of_row)
    return false;
  for (size_t q = 0; q < f->n_quasi; q++) f->quasi[q] = quasi[q];
  for (size_t s = 0; s < f->n_sensitive; s++) {
    f->sensitive[s] = sensitive[s];
    f->track[s] = track[s];
    if (track[s] == SHOAL_TRACK_SET && sensitive[s]->n_values > 64)
      f->track[s] = SHOAL_TRACK_HISTOGRAM;
  }
  return true;
}

shoal_status shoal_frequency_build(const shoal_table *table, const shoal_column *const *quasi,
                                   const shoal_hierarchy *const *hierarchies, size_t n_quasi,
                                   const shoal_column *const *sensitive, const shoal_track *track,
                                   size_t n_sensitive, const shoal_run *run, shoal_frequency **out,
                                   shoal_error *error) {
  *out = NULL;
  shoal_frequency *f = shoal_alloc_zero(1, sizeof *f);
  if (!f) return shoal_fail_memory(error);
  f->table = table;
  f->n_records = table->n_records;
  f->n_quasi = n_quasi;
  f->n_sensitive = n_sensitive;
  f->hierarchies = hierarchies;
  shoal_status status = SHOAL_OK;
  if (!allocate(f, quasi, sensitive, track)) status = shoal_fail_memory(error);
  if (status == SHOAL_OK) status = group_rows(f, run, error);
  if (status == SHOAL_OK)
    status = shoal_classes_of_rows(f, f->tuple_of_row, f->n_tuples, &f->base, error);
  if (status != SHOAL_OK) {
    shoal_frequency_free(f);
    return status;
  }
  *out = f;
  return SHOAL_OK;
}

void shoal_frequency_free(shoal_frequency *f) {
  if (!f) return;
  for (size_t q = 0; f->codes && q < f->n_quasi; q++) free(f->codes[q]);
  shoal_classes_reset(&f->base);
  free(f->codes);
  free(f->words);
  free(f->word_bits);
  free(f->tuple_of_row);
  free(f->quasi);
  free(f->sensitive);
  free(f->track);
  free(f);
}
