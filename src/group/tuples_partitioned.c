/* SPDX-License-Identifier: Apache-2.0 */
/*
 * group/tuples_partitioned: a partitioned hash grouping in four passes. Rows are divided into
 * parts, one per thread.
 *
 * 1. Count the words of each part in each bin. The counts give the layout of `entries`:
 *
 *        bin 0                    | bin 1                    | ...
 *        part 0 | part 1 | ...    | part 0 | part 1 | ...    |
 *
 * 2. Copy the words into their bins. Within a bin they are in the order of the rows.
 * 3. In each bin, find for every entry the first entry with the same word.
 * 4. Along the rows, first entries get the next number, the others that of their first entry. The
 *    numbers of first entries in earlier parts are known from pass 3, so numbers do not depend on
 *    the threads.
 */
#include "group/tuples_partitioned.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"

enum {
  BLOCK = SHOAL_TUPLES_BLOCK,
  MAX_PARTS = 64,      /* threads */
  N_SAMPLED = 1 << 14, /* rows */
  NEIGHBOURS = 1 << 5, /* of these, in a row */
  AHEAD = 16,          /* entries of a bin that are being prefetched */
  PASSES = 3           /* over the rows */
};

/* ------------------------------------------------------------ whether it pays */

/* A hash table of at most this size, half of its slots empty, is fast enough. */
static const uint64_t MAX_TABLE_BYTES = 24000000;

/*
 * Of n rows sampled from d distinct ones, equally frequent, about n^2 / 2d repeat an earlier one.
 * Partitioning pays if d is at least a quarter of the rows. The sample consists of runs of
 * neighbours, so that repeats in sorted tables are seen, at positions without a pattern.
 */
bool shoal_tuple_partitions_pay(const shoal_words *w) {
  unsigned bits = 0;
  for (size_t c = 0; c < w->n_columns; c++) bits += w->bits[c];
  uint64_t n_slots = 2 * w->n_rows;
  uint64_t slots_bytes = n_slots * (bits <= 32 ? sizeof(uint64_t) : sizeof(shoal_wide_slot));
  if (slots_bytes < MAX_TABLE_BYTES || w->n_rows >= SHOAL_NONE) return false;
  shoal_ids sampled;
  if (!shoal_ids_init(&sampled, N_SAMPLED)) return false;
  uint64_t words[NEIGHBOURS], n_positions = w->n_rows / NEIGHBOURS;
  for (uint64_t i = 1; i <= N_SAMPLED / NEIGHBOURS; i++) {
    uint64_t position = shoal_mix(i) % n_positions;
    shoal_tuples_words(w->columns, w->bits, w->n_columns, position * NEIGHBOURS, NEIGHBOURS, words);
    for (size_t j = 0; j < NEIGHBOURS; j++) (void)shoal_ids_insert(&sampled, words[j]);
  }
  uint64_t n_repeated = N_SAMPLED - sampled.n_ids;
  shoal_ids_reset(&sampled);
  return n_repeated <= 2 * (uint64_t)N_SAMPLED * N_SAMPLED / w->n_rows;
}

/* ------------------------------------------------------------ passes over the rows */

typedef struct part {
  uint64_t first, end; /* rows; all but the last end with a block */
  uint32_t *start;     /* by bin: its first entry */
  uint32_t *next;      /* by bin: the next entry, or first the count */
  uint32_t *slots;     /* hash table of one bin: entry + 1 */
  size_t slots_capacity;
  bool failed;               /* no memory */
  uint32_t n_new[MAX_PARTS]; /* by part: its first entries, found in the bins of this thread */
  uint32_t n_before;         /* tuples whose first row is in an earlier part */
} part;

typedef struct bins {
  const shoal_words *words;
  const shoal_run *run;
  uint32_t *tuple_of_row;
  shoal_tuples *out;
  unsigned bits;       /* 2^bits bins */
  uint32_t *bin_start; /* first entry of each bin, and the end of the last */
  uint16_t *bin_of_row;
  uint64_t *entries;  /* words by bin */
  uint32_t *first;    /* by entry: the first entry of its word; then, of these, the number */
  uint64_t *repeated; /* a bit per row: its word occurs in an earlier row */
  part *parts;
  unsigned n_parts, pass;
  shoal_status cancelled;
  shoal_error error;
} bins;

/* Rows in the next block of a part; 0: none left, or cancelled. */
static size_t next_block(bins *b, unsigned i, uint64_t row) {
  const part *p = &b->parts[i];
  uint64_t n_rows = b->words->n_rows;
  if (row >= p->end) return 0;
  if (i == 0) {
    b->cancelled = shoal_run_report(b->run, "group", (b->pass * n_rows + row * b->n_parts) / PASSES,
                                    n_rows, "rows", &b->error);
    if (b->cancelled != SHOAL_OK) return 0;
  }
  return p->end - row < BLOCK ? (size_t)(p->end - row) : BLOCK;
}

static void get_words(const bins *b, uint64_t row, size_t n, uint64_t *words) {
  shoal_tuples_words(b->words->columns, b->words->bits, b->words->n_columns, row, n, words);
}

static void count_words(void *user, unsigned i) {
  bins *b = user;
  part *p = &b->parts[i];
  uint64_t words[BLOCK];
  for (uint64_t row = p->first, n; (n = next_block(b, i, row)) > 0; row += n) {
    get_words(b, row, n, words);
    for (size_t j = 0; j < n; j++) {
      uint16_t bin = (uint16_t)(shoal_hash_word(words[j]) >> (64 - b->bits));
      b->bin_of_row[row + j] = bin;
      p->next[bin]++;
    }
  }
}

static void put_words(void *user, unsigned i) {
  bins *b = user;
  part *p = &b->parts[i];
  uint64_t words[BLOCK];
  memcpy(p->next, p->start, sizeof *p->next << b->bits);
  for (uint64_t row = p->first, n; (n = next_block(b, i, row)) > 0; row += n) {
    get_words(b, row, n, words);
    for (size_t j = 0; j < n; j++) b->entries[p->next[b->bin_of_row[row + j]]++] = words[j];
  }
}

/* Rows with a first entry get their numbers; the others get their first entry, for now. */
static void number_words(void *user, unsigned i) {
  bins *b = user;
  part *p = &b->parts[i];
  uint32_t id = p->n_before;
  memcpy(p->next, p->start, sizeof *p->next << b->bits);
  for (uint64_t row = p->first, n; (n = next_block(b, i, row)) > 0; row += n)
    for (uint64_t r = row; r < row + n; r++) {
      uint32_t e = p->next[b->bin_of_row[r]]++, first = b->first[e];
      __builtin_prefetch(&b->first[e + AHEAD], 1);
      __builtin_prefetch(&b->entries[e + AHEAD]);
      if (first != e) {
        b->tuple_of_row[r] = first;
        b->repeated[r / 64] |= UINT64_C(1) << r % 64;
        continue;
      }
      b->out->words[id] = b->entries[e];
      b->tuple_of_row[r] = b->first[e] = id++;
    }
}

/* Each tuple has one row so far. The counts reuse the memory of the entries. */
static void begin_counts(void *user, unsigned i) {
  bins *b = user;
  uint32_t end = i + 1 < b->n_parts ? b->parts[i + 1].n_before : b->out->n_ids;
  for (uint32_t id = b->parts[i].n_before; id < end; id++) b->out->n_rows[id] = 1;
}

static void number_repeated(void *user, unsigned i) {
  bins *b = user;
  const part *p = &b->parts[i];
  for (uint64_t block = p->first / 64; block * 64 < p->end; block++)
    for (uint64_t left = b->repeated[block]; left; left &= left - 1) {
      uint32_t *tuple = &b->tuple_of_row[block * 64 + (unsigned)__builtin_ctzll(left)];
      *tuple = b->first[*tuple];
      __atomic_fetch_add(&b->out->n_rows[*tuple], 1, __ATOMIC_RELAXED);
    }
}

/* ------------------------------------------------------------ bins */

/* At most half of the slots are full. */
static void find_first(const bins *b, size_t bin, part *own) {
  uint32_t n_words = b->bin_start[bin + 1] - b->bin_start[bin];
  unsigned slot_bits = 33 - (unsigned)__builtin_clz(n_words | 1);
  size_t n_slots = (size_t)1 << slot_bits, mask = n_slots - 1;
  if (!shoal_grow(&own->slots, &own->slots_capacity, n_slots, sizeof *own->slots)) {
    own->failed = true;
    return;
  }
  uint32_t *slots = own->slots;
  memset(slots, 0, n_slots * sizeof *slots);
  for (unsigned i = 0; i < b->n_parts; i++) {
    uint32_t end = i + 1 < b->n_parts ? b->parts[i + 1].start[bin] : b->bin_start[bin + 1];
    for (uint32_t e = b->parts[i].start[bin]; e < end; e++) {
      uint64_t word = b->entries[e];
      size_t at = (size_t)(shoal_hash_word(word) >> (64 - b->bits - slot_bits)) & mask;
      while (slots[at] && b->entries[slots[at] - 1] != word) at = (at + 1) & mask;
      if (!slots[at]) slots[at] = e + 1;
      b->first[e] = slots[at] - 1;
      own->n_new[i] += b->first[e] == e;
    }
  }
}

/* Every n_parts-th bin. */
static void find_first_in_bins(void *user, unsigned i) {
  bins *b = user;
  for (size_t bin = i; bin < (size_t)1 << b->bits; bin += b->n_parts)
    find_first(b, bin, &b->parts[i]);
}

/* ------------------------------------------------------------ all passes */

/*
 * Bins and words per bin both grow with the square root of the rows. More bins would not have a
 * cache line each while words are copied; larger bins would not fit into the cache.
 */
static unsigned bits_for(uint64_t n_rows) {
  enum { FEW_ROWS = 1 << 8 };
  return (64 - (unsigned)__builtin_clzll(n_rows | FEW_ROWS)) / 2 - 3;
}

static bool prepare(bins *b) {
  uint64_t n_rows = b->words->n_rows, n_blocks = (n_rows + BLOCK - 1) / BLOCK;
  b->n_parts = shoal_run_threads(b->run);
  b->bits = bits_for(n_rows);
  size_t n_bins = (size_t)1 << b->bits;
  b->parts = shoal_alloc_zero(b->n_parts, sizeof *b->parts);
  b->bin_start = shoal_alloc(n_bins + 1, sizeof *b->bin_start);
  b->bin_of_row = shoal_alloc(n_rows, sizeof *b->bin_of_row);
  b->entries = shoal_alloc(n_rows + AHEAD, sizeof *b->entries);
  b->first = shoal_alloc(n_rows + AHEAD, sizeof *b->first);
  b->repeated = shoal_alloc_zero(n_rows / 64 + 1, sizeof *b->repeated);
  bool ok = b->parts && b->bin_start && b->bin_of_row && b->entries && b->first && b->repeated;
  for (unsigned i = 0; ok && i < b->n_parts; i++) {
    part *p = &b->parts[i];
    p->first = n_blocks * i / b->n_parts * BLOCK;
    p->end = i + 1 < b->n_parts ? n_blocks * (i + 1) / b->n_parts * BLOCK : n_rows;
    p->start = shoal_alloc(n_bins, sizeof *p->start);
    p->next = shoal_alloc_zero(n_bins, sizeof *p->next);
    ok = p->start && p->next;
  }
  return ok;
}

/* Allocates the tuples. `first` becomes the memory of their ids. */
static bool allocate_tuples(bins *b) {
  uint32_t n = 0;
  for (unsigned i = 0; i < b->n_parts; i++) {
    b->parts[i].n_before = n;
    for (unsigned j = 0; j < b->n_parts; j++) n += b->parts[j].n_new[i];
  }
  *b->out = (shoal_tuples){.dense = true,
                           .table = b->first,
                           .words = shoal_alloc(n, sizeof *b->out->words),
                           .n_rows = b->entries,
                           .n_ids = n};
  return b->out->words != NULL;
}

/* One pass; false: cancelled. */
static bool pass(bins *b, void (*work)(void *user, unsigned i)) {
  shoal_parallel(b->n_parts, work, b);
  b->pass++;
  return b->cancelled == SHOAL_OK;
}

static bool group(bins *b) {
  if (!prepare(b) || !pass(b, count_words)) return false;
  /* Turns the counts into first entries, by bin and part. */
  uint32_t at = 0;
  for (size_t bin = 0; bin < (size_t)1 << b->bits; bin++) {
    b->bin_start[bin] = at;
    for (unsigned i = 0; i < b->n_parts; i++) {
      b->parts[i].start[bin] = at;
      at += b->parts[i].next[bin];
    }
  }
  b->bin_start[(size_t)1 << b->bits] = at;
  if (!pass(b, put_words)) return false;
  shoal_parallel(b->n_parts, find_first_in_bins, b);
  for (unsigned i = 0; i < b->n_parts; i++)
    if (b->parts[i].failed) return false;
  if (!allocate_tuples(b) || !pass(b, number_words)) return false;
  shoal_parallel(b->n_parts, begin_counts, b);
  shoal_parallel(b->n_parts, number_repeated, b);
  uint64_t *n_rows = shoal_resize(b->out->n_rows, b->out->n_ids, sizeof *n_rows);
  if (n_rows) b->out->n_rows = n_rows;
  return true;
}

static void reset(bins *b) {
  for (unsigned i = 0; b->parts && i < b->n_parts; i++) {
    free(b->parts[i].start);
    free(b->parts[i].next);
    free(b->parts[i].slots);
  }
  free(b->parts);
  free(b->bin_start);
  free(b->bin_of_row);
  if (!b->out->table) { /* else the tuples own them */
    free(b->entries);
    free(b->first);
  }
  free(b->repeated);
}

shoal_status shoal_tuple_partitions_group(const shoal_words *words, const shoal_run *run,
                                          uint32_t *tuple_of_row, shoal_tuples *tuples,
                                          shoal_error *error) {
  bins b = {.words = words, .run = run, .tuple_of_row = tuple_of_row, .out = tuples};
  *tuples = (shoal_tuples){0};
  bool ok = group(&b);
  reset(&b);
  if (ok) return SHOAL_OK;
  shoal_tuples_reset(tuples);
  if (b.cancelled == SHOAL_OK) return shoal_fail_memory(error);
  if (error) *error = b.error;
  return b.cancelled;
}
