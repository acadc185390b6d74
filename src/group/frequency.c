/* SPDX-License-Identifier: Apache-2.0 */
/*
 * group/frequency: rows -> distinct tuples, numbered by first appearance.
 *
 * Each thread groups its own range of rows (tuples.c). The tuples of the ranges are then merged in
 * order, so numbers do not depend on the threads. Large tables of nearly distinct rows go through
 * tuples_partitioned.c instead. If codes need more than 64 bits, columns are grouped in steps: the
 * numbers of the tuples so far are a column of the next step.
 */
#include "group/frequency.h"

#include <stdlib.h>
#include <string.h>

#include "group/tuples_partitioned.h"

enum { BLOCK_ROWS = SHOAL_TUPLES_BLOCK, MAX_PARTS = 64, ROWS_PER_PART = 100 * 1000 };

/* A range of rows and its tuples. */
typedef struct part {
  uint64_t first, end;
  shoal_tuples tuples;
  uint32_t *global; /* tuple of the part -> tuple of the table */
  bool failed;
} part;

typedef struct grouping {
  shoal_frequency_set *frequency;
  const shoal_column *const *columns; /* of a word */
  const unsigned *bits;               /* of each */
  size_t n_columns;
  const shoal_run *run;
  part parts[MAX_PARTS];
  unsigned n_parts;
  shoal_status cancelled;
  shoal_error error;
} grouping;

static void group_part(void *user, unsigned i) {
  grouping *g = user;
  part *p = &g->parts[i];
  shoal_frequency_set *f = g->frequency;
  for (uint64_t row = p->first; !p->failed && row < p->end; row += BLOCK_ROWS) {
    size_t n = p->end - row < BLOCK_ROWS ? (size_t)(p->end - row) : BLOCK_ROWS;
    p->failed = !shoal_tuples_rows(&p->tuples, g->columns, g->bits, g->n_columns, row, n,
                                   f->tuple_of_row + row);
    if (i > 0) continue;
    g->cancelled = shoal_run_report(g->run, "group", (row + n) * g->n_parts, f->table->n_rows,
                                    "rows", &g->error);
    if (g->cancelled != SHOAL_OK) break;
  }
}

/* Numbers the tuples of all parts; those of the first part keep their numbers. */
static bool merge_parts(grouping *g) {
  shoal_tuples *tuples = &g->parts[0].tuples;
  for (unsigned i = 1; i < g->n_parts; i++) {
    part *p = &g->parts[i];
    p->global = shoal_alloc(p->tuples.n_ids, sizeof *p->global);
    if (!p->global) return false;
    for (uint32_t t = 0; t < p->tuples.n_ids; t++) {
      p->global[t] = shoal_tuples_add(tuples, p->tuples.words[t], p->tuples.n_rows[t]);
      if (p->global[t] == SHOAL_NONE) return false;
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

static bool prepare_parts(grouping *g) {
  unsigned bits = 0;
  for (size_t c = 0; c < g->n_columns; c++) bits += g->bits[c];
  uint64_t n_rows = g->frequency->table->n_rows;
  unsigned threads = shoal_run_threads(g->run);
  uint64_t wanted = n_rows / ROWS_PER_PART + 1;
  g->n_parts = wanted < threads ? (unsigned)wanted : threads;
  for (unsigned i = 0; i < g->n_parts; i++) {
    part *p = &g->parts[i];
    p->first = n_rows * i / g->n_parts;
    p->end = n_rows * (i + 1) / g->n_parts;
    if (!shoal_tuples_init(&p->tuples, bits, p->end - p->first)) return false;
  }
  return true;
}

static void free_parts(grouping *g) {
  for (unsigned i = 0; i < g->n_parts; i++) {
    shoal_tuples_reset(&g->parts[i].tuples);
    free(g->parts[i].global);
  }
}

/* ------------------------------------------------------------ up to 64 bits */

/* Where the next code goes: the word, and the first bit. */
typedef struct position {
  size_t word;
  unsigned used;
} position;

/* Sets shift and mask of a quasi-identifier's codes; returns their word. */
static size_t position_codes(shoal_frequency_set *f, size_t q, position *next) {
  unsigned bits = f->word_bits[q];
  if (next->used + bits > 64) *next = (position){next->word + 1, 0};
  f->codes[q].shift = bits ? next->used : 0;
  f->codes[q].mask = (uint32_t)((UINT64_C(1) << bits) - 1);
  next->used += bits;
  return next->word;
}

/* Takes the words as codes. If each row is one record, the tuples are classes already. */
static bool take_tuples(shoal_frequency_set *f, shoal_tuples *tuples) {
  position next = {0, 0};
  f->n_words = 1;
  f->words[0] = tuples->words;
  tuples->words = NULL;
  for (size_t q = 0; q < f->n_quasi; q++) f->codes[q].words = f->words[position_codes(f, q, &next)];
  if (f->table->counts || !tuples->n_ids) return true;
  f->base.n_rows = tuples->n_rows;
  tuples->n_rows = NULL;
  f->base.tuple = shoal_tuples_take_ids(tuples);
  return f->base.tuple != NULL;
}

static shoal_status group_words(grouping *g, shoal_error *error) {
  shoal_frequency_set *f = g->frequency;
  shoal_words words = {g->columns, g->bits, g->n_columns, f->table->n_rows};
  shoal_tuples *tuples = &g->parts[0].tuples;
  if (shoal_tuple_partitions_pay(&words)) {
    SHOAL_TRY(shoal_tuple_partitions_group(&words, g->run, f->tuple_of_row, tuples, error));
    g->n_parts = 1;
    f->n_tuples = tuples->n_ids;
    return SHOAL_OK;
  }
  bool ok = prepare_parts(g);
  if (ok) shoal_parallel(g->n_parts, group_part, g);
  for (unsigned i = 0; i < g->n_parts; i++) ok = ok && !g->parts[i].failed;
  ok = ok && g->cancelled == SHOAL_OK && merge_parts(g);
  if (ok) shoal_parallel(g->n_parts, renumber_part, g);
  if (ok) return SHOAL_OK;
  if (g->cancelled == SHOAL_OK) return shoal_fail_memory(error);
  if (error) *error = g->error;
  return g->cancelled;
}

/* Groups the rows by these columns; `take` moves what it needs out of the tuples. */
static shoal_status group_columns(shoal_frequency_set *f, const shoal_column *const *columns,
                                  const unsigned *bits, size_t n_columns,
                                  bool (*take)(shoal_frequency_set *f, shoal_tuples *tuples),
                                  const shoal_run *run, shoal_error *error) {
  grouping *g = shoal_alloc_zero(1, sizeof *g);
  if (!g) return shoal_fail_memory(error);
  g->frequency = f;
  g->columns = columns;
  g->bits = bits;
  g->n_columns = n_columns;
  g->run = run;
  shoal_status status = group_words(g, error);
  if (status == SHOAL_OK && !take(f, &g->parts[0].tuples)) status = shoal_fail_memory(error);
  free_parts(g);
  free(g);
  return status;
}

/* ------------------------------------------------------------ more than 64 bits */

static unsigned bits_of(uint32_t n_values) {
  return n_values > 1 ? 32 - (unsigned)__builtin_clz(n_values - 1) : 0;
}

static bool take_nothing(shoal_frequency_set *f, shoal_tuples *tuples) {
  (void)f, (void)tuples;
  return true;
}

/* The columns of one step: the tuples so far, and as many more columns as fit into a word. */
typedef struct widening {
  const shoal_column **columns;
  unsigned *bits;
  shoal_column done; /* codes are numbers of tuples */
  size_t n_done;     /* quasi-identifiers */
} widening;

static shoal_status widen(shoal_frequency_set *f, widening *w, const shoal_run *run,
                          shoal_error *error) {
  size_t n = 0;
  unsigned bits = 0;
  if (w->n_done) {
    memcpy(w->done.codes, f->tuple_of_row, (size_t)f->table->n_rows * sizeof *f->tuple_of_row);
    w->done.n_values = f->n_tuples;
    w->columns[n] = &w->done;
    bits = w->bits[n++] = bits_of(f->n_tuples);
  }
  for (; w->n_done < f->n_quasi && bits + f->word_bits[w->n_done] <= 64; w->n_done++, n++) {
    w->columns[n] = f->quasi[w->n_done];
    bits += w->bits[n] = f->word_bits[w->n_done];
  }
  return group_columns(f, w->columns, w->bits, n, take_nothing, run, error);
}

/* Packs the codes of each tuple, read from its first row. */
static bool fill_words(shoal_frequency_set *f, const uint64_t *first_row) {
  position next = {0, 0};
  for (size_t q = 0; q < f->n_quasi; q++) {
    size_t word = position_codes(f, q, &next);
    if (!f->words[word]) f->words[word] = shoal_alloc_zero(f->n_tuples, sizeof **f->words);
    if (!f->words[word]) return false;
    f->n_words = word + 1;
    f->codes[q].words = f->words[word];
    for (uint32_t t = 0; t < f->n_tuples; t++)
      f->words[word][t] |= (uint64_t)shoal_column_code(f->quasi[q], first_row[t])
                           << f->codes[q].shift;
  }
  return true;
}

static bool take_codes(shoal_frequency_set *f) {
  uint64_t *first_row = shoal_alloc(f->n_tuples, sizeof *first_row);
  if (!first_row) return false;
  for (uint64_t row = f->table->n_rows; row-- > 0;) first_row[f->tuple_of_row[row]] = row;
  bool ok = fill_words(f, first_row);
  free(first_row);
  return ok;
}

static shoal_status group_wide(shoal_frequency_set *f, const shoal_run *run, shoal_error *error) {
  widening w = {
      .columns = shoal_alloc(f->n_quasi + 1, sizeof *w.columns),
      .bits = shoal_alloc(f->n_quasi + 1, sizeof *w.bits),
      .done = {.code_size = 4, .codes = shoal_alloc((size_t)f->table->n_rows, sizeof(uint32_t))}};
  shoal_status status = w.columns && w.bits && w.done.codes ? SHOAL_OK : shoal_fail_memory(error);
  while (status == SHOAL_OK && w.n_done < f->n_quasi) status = widen(f, &w, run, error);
  if (status == SHOAL_OK && !take_codes(f)) status = shoal_fail_memory(error);
  free(w.columns);
  free(w.bits);
  free(w.done.codes);
  return status;
}

/* Sets the bits of each column; returns their sum. */
static unsigned count_bits(shoal_frequency_set *f) {
  unsigned bits = 0;
  for (size_t q = 0; q < f->n_quasi; q++) {
    f->word_bits[q] = bits_of(f->quasi[q]->n_values);
    bits += f->word_bits[q];
  }
  return bits;
}

static bool allocate(shoal_frequency_set *f, const shoal_column *const *quasi,
                     const shoal_column *const *tracked, const shoal_track *track) {
  f->quasi = shoal_alloc(f->n_quasi, sizeof *f->quasi);
  f->tracked = shoal_alloc(f->n_tracked, sizeof *f->tracked);
  f->track = shoal_alloc(f->n_tracked, sizeof *f->track);
  f->codes = shoal_alloc_zero(f->n_quasi, sizeof *f->codes);
  f->words = shoal_alloc_zero(f->n_quasi + 1, sizeof *f->words);
  f->word_bits = shoal_alloc_zero(f->n_quasi, sizeof *f->word_bits);
  f->tuple_of_row = shoal_alloc((size_t)f->table->n_rows, sizeof *f->tuple_of_row);
  if (!f->quasi || !f->tracked || !f->track || !f->codes || !f->words || !f->word_bits ||
      !f->tuple_of_row)
    return false;
  for (size_t q = 0; q < f->n_quasi; q++) f->quasi[q] = quasi[q];
  for (size_t s = 0; s < f->n_tracked; s++) {
    f->tracked[s] = tracked[s];
    f->track[s] = track[s];
    if (track[s] == SHOAL_TRACK_SET && tracked[s]->n_values > 64)
      f->track[s] = SHOAL_TRACK_HISTOGRAM;
  }
  return true;
}

shoal_status shoal_frequency_set_build(const shoal_table *table, const shoal_column *const *quasi,
                                       const shoal_hierarchy *const *hierarchies, size_t n_quasi,
                                       const shoal_column *const *tracked, const shoal_track *track,
                                       size_t n_tracked, const shoal_run *run,
                                       shoal_frequency_set **out, shoal_error *error) {
  *out = NULL;
  shoal_frequency_set *f = shoal_alloc_zero(1, sizeof *f);
  if (!f) return shoal_fail_memory(error);
  f->table = table;
  f->n_records = table->n_records;
  f->n_quasi = n_quasi;
  f->n_tracked = n_tracked;
  f->hierarchies = hierarchies;
  shoal_status status = SHOAL_OK;
  if (!allocate(f, quasi, tracked, track)) status = shoal_fail_memory(error);
  unsigned bits = status == SHOAL_OK ? count_bits(f) : 0;
  if (status == SHOAL_OK)
    status = bits > 64 ? group_wide(f, run, error)
                       : group_columns(f, f->quasi, f->word_bits, n_quasi, take_tuples, run, error);
  if (status == SHOAL_OK) status = shoal_classes_of_tuples(f, error);
  if (status != SHOAL_OK) {
    shoal_frequency_set_free(f);
    return status;
  }
  *out = f;
  return SHOAL_OK;
}

void shoal_frequency_set_free(shoal_frequency_set *f) {
  if (!f) return;
  for (size_t w = 0; f->words && w < f->n_words; w++) free(f->words[w]);
  shoal_classes_reset(&f->base);
  free(f->codes);
  free(f->words);
  free(f->word_bits);
  free(f->tuple_of_row);
  free(f->quasi);
  free(f->tracked);
  free(f->track);
  free(f);
}

shoal_status shoal_label_use_count(const shoal_frequency_set *f, size_t quasi, uint32_t level,
                                   shoal_label_use *use, shoal_error *error) {
  const shoal_level *labels = &f->hierarchies[quasi]->levels[level];
  uint64_t *n_rows = shoal_alloc_zero(labels->n_labels, sizeof *n_rows);
  if (!n_rows) return shoal_fail_memory(error);
  for (uint32_t t = 0; t < f->n_tuples; t++)
    n_rows[labels->of_leaf[shoal_code_at(f->codes[quasi], t)]] += f->base.n_rows[t];
  *use = (shoal_label_use){0, 0};
  for (uint32_t label = 0; label < labels->n_labels; label++) {
    if (n_rows[label] == 0) continue; /* a hierarchy may have labels that no row has */
    use->n_labels++;
    if (use->fewest_rows == 0 || n_rows[label] < use->fewest_rows) use->fewest_rows = n_rows[label];
  }
  free(n_rows);
  return SHOAL_OK;
}
