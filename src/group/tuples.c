/* SPDX-License-Identifier: Apache-2.0 */
/* group/tuples: packs codes into words and looks the words up, with prefetching. */
#include "group/tuples.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum {
  DENSE_BITS = 20, /* a larger dense table would not stay in the cache */
  AHEAD = 32,      /* words whose slots are being prefetched */
  FIRST_SLOT_BITS = 12
};

static bool is_narrow(const shoal_tuples *t) { return t->bits <= 32; }

static inline size_t narrow_slot(unsigned slot_bits, uint64_t word) {
  return (size_t)(shoal_hash_narrow(word) >> (64 - slot_bits));
}

static inline size_t wide_slot(unsigned slot_bits, uint64_t word) {
  return (size_t)(shoal_hash_word(word) >> (64 - slot_bits));
}

/* ------------------------------------------------------------ memory */

bool shoal_tuples_init(shoal_tuples *t, unsigned bits, uint64_t n_rows) {
  *t = (shoal_tuples){.bits = bits, .slot_bits = FIRST_SLOT_BITS, .rows_expected = n_rows};
  t->dense = bits <= DENSE_BITS && UINT64_C(1) << bits <= 4 * n_rows + 1024;
  size_t n_slots = (size_t)1 << t->slot_bits;
  if (t->dense) t->table = shoal_alloc_table((size_t)1 << bits, sizeof *t->table);
  else if (is_narrow(t)) t->narrow = shoal_alloc_table(n_slots, sizeof *t->narrow);
  else t->wide = shoal_alloc_table(n_slots, sizeof *t->wide);
  return t->table || t->narrow || t->wide;
}

void shoal_tuples_reset(shoal_tuples *t) {
  free(t->table);
  free(t->narrow);
  free(t->wide);
  free(t->words);
  free(t->n_rows);
  memset(t, 0, sizeof *t);
}

uint32_t *shoal_tuples_take_ids(shoal_tuples *t) {
  void *slots = t->dense ? (void *)t->table : is_narrow(t) ? (void *)t->narrow : t->wide;
  uint32_t *ids = shoal_resize(slots, t->n_ids, sizeof *ids);
  if (!ids) return NULL;
  t->table = NULL;
  t->narrow = NULL;
  t->wide = NULL;
  for (uint32_t id = 0; id < t->n_ids; id++) ids[id] = id;
  return ids;
}

/* Inserts all words into a new table. */
static bool rehash(shoal_tuples *t, unsigned slot_bits) {
  size_t n_slots = (size_t)1 << slot_bits, mask = n_slots - 1;
  uint64_t *narrow = is_narrow(t) ? shoal_alloc_table(n_slots, sizeof *narrow) : NULL;
  shoal_wide_slot *wide = is_narrow(t) ? NULL : shoal_alloc_table(n_slots, sizeof *wide);
  if (!narrow && !wide) return false;
  free(t->narrow);
  free(t->wide);
  t->narrow = narrow;
  t->wide = wide;
  t->slot_bits = slot_bits;
  for (uint32_t id = 0; id < t->n_ids; id++) {
    uint64_t word = t->words[id], ahead = t->words[id + AHEAD < t->n_ids ? id + AHEAD : id];
    if (narrow) __builtin_prefetch(&narrow[narrow_slot(slot_bits, ahead)], 1);
    else __builtin_prefetch(&wide[wide_slot(slot_bits, ahead)], 1);
    size_t at = narrow ? narrow_slot(slot_bits, word) : wide_slot(slot_bits, word);
    while (narrow ? narrow[at] != 0 : wide[at].id != 0) at = (at + 1) & mask;
    if (narrow) narrow[at] = word << 32 | (id + 1);
    else wide[at] = (shoal_wide_slot){word, (uint64_t)id + 1};
  }
  return true;
}

/*
 * An estimate of the final number of tuples, at least `needed`. If nearly all rows so far were new,
 * so will be the rest; if most were, half of that, since fewer and fewer are new.
 */
static size_t estimate_tuples(const shoal_tuples *t, size_t needed) {
  bool many = t->rows_seen > 0 && t->n_ids > t->rows_seen / 2;
  if (!many || t->rows_expected <= t->rows_seen) return needed;
  double all = (double)t->n_ids * (double)t->rows_expected / (double)t->rows_seen;
  if (t->n_ids < t->rows_seen - t->rows_seen / 16) all /= 2;
  return all > (double)needed ? (size_t)all : needed;
}

/*
 * Memory for n more tuples; at most half of the slots are full. Slots are allocated before words
 * and counts: they are freed first, and the next stage can reuse their memory.
 */
static bool reserve(shoal_tuples *t, size_t n) {
  size_t needed = (size_t)t->n_ids + n;
  if (needed <= t->n_rows_capacity) return true;
  if (needed >= SHOAL_NONE - 1) return false; /* GCOVR_EXCL_BR_LINE */
  size_t wanted = estimate_tuples(t, needed);
  unsigned slot_bits = t->slot_bits;
  while ((size_t)1 << slot_bits < 2 * wanted) slot_bits++;
  size_t capacity = (size_t)1 << (slot_bits - 1);
  if (!t->dense && slot_bits > t->slot_bits && !rehash(t, slot_bits)) return false;
  return shoal_grow(&t->words, &t->words_capacity, capacity, sizeof *t->words) &&
         shoal_grow(&t->n_rows, &t->n_rows_capacity, capacity, sizeof *t->n_rows);
}

/* ------------------------------------------------------------ words to ids */

/* A copy of what lookups change: the compiler keeps it in registers, since nothing aliases it. */
typedef struct found {
  uint64_t *words, *n_rows;
  uint32_t n_ids;
} found;

static inline found found_in(const shoal_tuples *t) {
  return (found){t->words, t->n_rows, t->n_ids};
}

/* Adds a tuple; returns its id + 1. */
static inline uint32_t add(found *f, uint64_t word, uint64_t n_rows) {
  f->words[f->n_ids] = word;
  f->n_rows[f->n_ids] = n_rows;
  return ++f->n_ids;
}

static inline uint32_t dense_id(found *f, uint32_t *table, uint64_t word, uint64_t n_rows) {
  uint32_t id = table[word];
  if (__builtin_expect(!id, 0)) id = table[word] = add(f, word, n_rows);
  else f->n_rows[id - 1] += n_rows;
  return id - 1;
}

/* `at`: the slot of the word. */
static inline uint32_t narrow_id(found *f, uint64_t *slots, unsigned slot_bits, size_t at,
                                 uint64_t word, uint64_t n_rows) {
  size_t mask = ((size_t)1 << slot_bits) - 1;
  uint64_t slot;
  while ((slot = slots[at]) && slot >> 32 != word) at = (at + 1) & mask;
  if (!slot) slot = slots[at] = word << 32 | add(f, word, n_rows);
  else f->n_rows[(uint32_t)slot - 1] += n_rows;
  return (uint32_t)slot - 1;
}

static inline uint32_t wide_id(found *f, shoal_wide_slot *slots, unsigned slot_bits, size_t at,
                               uint64_t word, uint64_t n_rows) {
  size_t mask = ((size_t)1 << slot_bits) - 1;
  while (slots[at].id && slots[at].word != word) at = (at + 1) & mask;
  if (!slots[at].id) slots[at] = (shoal_wide_slot){word, add(f, word, n_rows)};
  else f->n_rows[slots[at].id - 1] += n_rows;
  return (uint32_t)slots[at].id - 1;
}

uint32_t shoal_tuples_add(shoal_tuples *t, uint64_t word, uint64_t n_rows) {
  if (!reserve(t, 1)) return SHOAL_NONE;
  found f = found_in(t);
  size_t at = is_narrow(t) ? narrow_slot(t->slot_bits, word) : wide_slot(t->slot_bits, word);
  uint32_t id = t->dense       ? dense_id(&f, t->table, word, n_rows)
                : is_narrow(t) ? narrow_id(&f, t->narrow, t->slot_bits, at, word, n_rows)
                               : wide_id(&f, t->wide, t->slot_bits, at, word, n_rows);
  t->n_ids = f.n_ids;
  return id;
}

/* ------------------------------------------------------------ blocks of rows */

/* Packs one column. Inlined for a constant block size, so the compiler vectorizes the loop. */
#define FOLD(WORD, CODE)                                                                           \
  for (size_t i = 0; i < n; i++)                                                                   \
  words[i] |= (WORD)((WORD)((const CODE *)column->codes + first)[i] << shift)

#define FOLD_COLUMN(NAME, WORD)                                                                    \
  static inline void NAME(const shoal_column *restrict column, unsigned shift, uint64_t first,     \
                          size_t n, WORD *restrict words) {                                        \
    switch (column->code_size) {                                                                   \
    case 1: FOLD(WORD, uint8_t); break;                                                            \
    case 2: FOLD(WORD, uint16_t); break;                                                           \
    default: FOLD(WORD, uint32_t); break;                                                          \
    }                                                                                              \
  }

FOLD_COLUMN(fold_short, uint32_t)
FOLD_COLUMN(fold_long, uint64_t)

/* AHEAD zeros follow the words: they are read for prefetching. */
typedef union word_block {
  uint32_t narrow[SHOAL_TUPLES_BLOCK + AHEAD];
  uint64_t wide[SHOAL_TUPLES_BLOCK + AHEAD];
} word_block;

/* Packs all columns. */
#define FOLD_ALL(FOLD_ONE)                                                                         \
  unsigned shift = 0;                                                                              \
  memset(words, 0, n * sizeof *words);                                                             \
  for (size_t q = 0; q < n_columns; q++) {                                                         \
    if (!column_bits[q]) continue;                                                                 \
    if (n == SHOAL_TUPLES_BLOCK) FOLD_ONE(columns[q], shift, first, SHOAL_TUPLES_BLOCK, words);    \
    else FOLD_ONE(columns[q], shift, first, n, words);                                             \
    shift += column_bits[q];                                                                       \
  }

void shoal_tuples_words(const shoal_column *const *columns, const unsigned *column_bits,
                        size_t n_columns, uint64_t first, size_t n, uint64_t *words) {
  FOLD_ALL(fold_long)
}

static void short_words(const shoal_column *const *columns, const unsigned *column_bits,
                        size_t n_columns, uint64_t first, size_t n, uint32_t *words) {
  FOLD_ALL(fold_short)
}

static uint32_t find_narrow(const shoal_tuples *t, const uint32_t *block, size_t n, uint32_t *ids) {
  found f = found_in(t);
  uint64_t *slots = t->narrow;
  unsigned slot_bits = t->slot_bits;
  size_t ahead[AHEAD]; /* slots of the next words */
  for (size_t i = 0; i < AHEAD; i++) ahead[i] = narrow_slot(slot_bits, block[i]);
  for (size_t i = 0; i < n; i++) {
    size_t at = ahead[i % AHEAD], next = narrow_slot(slot_bits, block[i + AHEAD]);
    __builtin_prefetch(&slots[next], 1);
    ahead[i % AHEAD] = next;
    ids[i] = narrow_id(&f, slots, slot_bits, at, block[i], 1);
  }
  return f.n_ids;
}

static uint32_t find_wide(const shoal_tuples *t, const uint64_t *block, size_t n, uint32_t *ids) {
  found f = found_in(t);
  shoal_wide_slot *slots = t->wide;
  unsigned slot_bits = t->slot_bits;
  size_t ahead[AHEAD]; /* slots of the next words */
  for (size_t i = 0; i < AHEAD; i++) ahead[i] = wide_slot(slot_bits, block[i]);
  for (size_t i = 0; i < n; i++) {
    size_t at = ahead[i % AHEAD], next = wide_slot(slot_bits, block[i + AHEAD]);
    __builtin_prefetch(&slots[next], 1);
    ahead[i % AHEAD] = next;
    ids[i] = wide_id(&f, slots, slot_bits, at, block[i], 1);
  }
  return f.n_ids;
}

static uint32_t find_dense(const shoal_tuples *t, const uint32_t *block, size_t n, uint32_t *ids) {
  found f = found_in(t);
  for (size_t i = 0; i < n; i++) ids[i] = dense_id(&f, t->table, block[i], 0);
  for (size_t i = 0; i < n; i++) f.n_rows[ids[i]]++;
  return f.n_ids;
}

bool shoal_tuples_rows(shoal_tuples *t, const shoal_column *const *columns,
                       const unsigned *column_bits, size_t n_columns, uint64_t first, size_t n,
                       uint32_t *ids) {
  word_block block;
  if (!reserve(t, n)) return false;
  if (is_narrow(t)) {
    short_words(columns, column_bits, n_columns, first, n, block.narrow);
    memset(block.narrow + n, 0, AHEAD * sizeof *block.narrow);
  } else {
    shoal_tuples_words(columns, column_bits, n_columns, first, n, block.wide);
    memset(block.wide + n, 0, AHEAD * sizeof *block.wide);
  }
  t->n_ids = t->dense       ? find_dense(t, block.narrow, n, ids)
             : is_narrow(t) ? find_narrow(t, block.narrow, n, ids)
                            : find_wide(t, block.wide, n, ids);
  t->rows_seen += n;
  return true;
}
