/* SPDX-License-Identifier: Apache-2.0 */
/* group/grouper: keys of tuples -> ids, by lookup tables and dense or hash tables. */
#include "group/grouper.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

void shoal_grouper_init(shoal_grouper *g) { memset(g, 0, sizeof *g); }

void shoal_grouper_reset(shoal_grouper *g) {
  free(g->keys);
  free(g->table);
  free(g->slots);
  free(g->key_of_id);
  free(g->luts);
  shoal_grouper_init(g);
}

enum {
  AHEAD = 16,    /* keys whose slots are being prefetched */
  FAR_BITS = 17, /* larger tables are not in the cache: prefetching pays */
  MANY = 1 << 19 /* tuples: their slots are not in the cache */
};

bool shoal_grouper_start(shoal_grouper *g, size_t n) {
  if (!shoal_grow(&g->keys, &g->keys_capacity, n + AHEAD, sizeof *g->keys)) return false;
  memset(g->keys, 0, (n + AHEAD) * sizeof *g->keys);
  g->radix = 1;
  return true;
}

/* Multiplies the radix; if it overflows, replaces keys by ids first. */
static bool extend_radix(shoal_grouper *g, size_t n, uint64_t n_labels, uint32_t *ids) {
  uint64_t radix;
  if (__builtin_mul_overflow(g->radix, n_labels, &radix)) {
    uint32_t n_ids = shoal_grouper_ids(g, n, ids);
    if (n_ids == SHOAL_NONE) return false;
    for (size_t i = 0; i < n; i++) g->keys[i] = ids[i];
    radix = (uint64_t)n_ids * n_labels; /* both below 2^32 */
  }
  g->radix = radix;
  return true;
}

bool shoal_grouper_fold(shoal_grouper *g, size_t n, const uint32_t *item, const uint32_t *labels,
                        uint64_t n_labels, uint32_t *ids) {
  if (n_labels <= 1) return true;
  if (!extend_radix(g, n, n_labels, ids)) return false;
  for (size_t i = 0; i < n; i++) g->keys[i] = g->keys[i] * n_labels + labels[item ? item[i] : i];
  return true;
}

bool shoal_grouper_fold_codes(shoal_grouper *g, size_t n, const uint32_t *item, shoal_codes codes,
                              const uint32_t *lut, uint64_t n_labels, uint32_t *ids) {
  if (n_labels <= 1) return true;
  if (!extend_radix(g, n, n_labels, ids)) return false;
  for (size_t i = 0; i < n; i++)
    g->keys[i] = g->keys[i] * n_labels + lut[shoal_code_at(codes, item ? item[i] : i)];
  return true;
}

/* ------------------------------------------------------------ packed tuples */

enum {
  MIN_CHUNK_BITS = 6,
  MAX_CHUNK_BITS = 11, /* of a chunk of more than one part */
  CHUNKS_PER_PASS = 4,
  MAX_CHUNKS = 64
};

/* Some bits of a word, and what they add to the key. */
typedef struct chunk {
  unsigned shift;
  uint64_t mask;
  const uint64_t *lut;
} chunk;

/* Inlined for each number of chunks: no inner loop. */
static inline void fold_n_chunks(const chunk *chunks, size_t n_chunks, size_t n,
                                 const uint32_t *item, const uint64_t *words, uint64_t *keys,
                                 bool first) {
  const chunk a = chunks[0], b = chunks[1], c = chunks[2], d = chunks[3];
  for (size_t i = 0; i < n; i++) {
    uint64_t word = words[item[i]], key = a.lut[word >> a.shift & a.mask];
    if (n_chunks > 1) key += b.lut[word >> b.shift & b.mask];
    if (n_chunks > 2) key += c.lut[word >> c.shift & c.mask];
    if (n_chunks > 3) key += d.lut[word >> d.shift & d.mask];
    keys[i] = first ? key : keys[i] + key;
  }
}

static void fold_chunks(const chunk *chunks, size_t n_chunks, size_t n, const uint32_t *item,
                        const uint64_t *words, uint64_t *keys, bool first) {
  switch (n_chunks) {
  case 1: fold_n_chunks(chunks, 1, n, item, words, keys, first); break;
  case 2: fold_n_chunks(chunks, 2, n, item, words, keys, first); break;
  case 3: fold_n_chunks(chunks, 3, n, item, words, keys, first); break;
  default: fold_n_chunks(chunks, 4, n, item, words, keys, first); break;
  }
}

/* The table of the parts from .. to - 1: what each combination of their codes adds to the key. */
static void fill_lut(const shoal_key_part *parts, const uint64_t *factors, size_t from, size_t to,
                     uint64_t *lut) {
  unsigned filled = 0; /* bits so far */
  lut[0] = 0;
  for (size_t q = from; q < to; q++) {
    unsigned before = parts[q].shift - parts[from].shift;
    for (; filled < before; filled++) /* bits of parts with one label add nothing */
      memcpy(lut + ((size_t)1 << filled), lut, sizeof *lut << filled);
    for (uint64_t code = (UINT64_C(1) << parts[q].bits); code-- > 0;) {
      uint64_t add = code < parts[q].n_codes ? parts[q].lut[code] * factors[q] : 0;
      for (size_t i = 0; i < (size_t)1 << filled; i++) lut[(code << filled) + i] = lut[i] + add;
    }
    filled += parts[q].bits;
  }
}

/* The end of the chunk that begins at part q and has at most max_bits, or one part. */
static size_t chunk_end(const shoal_key_part *parts, size_t n_parts, size_t q, unsigned max_bits,
                        unsigned *bits) {
  unsigned start = parts[q].shift;
  do *bits = parts[q].shift + parts[q].bits - start;
  while (++q < n_parts && parts[q].shift + parts[q].bits - start <= max_bits);
  return q;
}

/* The smallest chunk size for which one pass is enough: filling larger tables takes time. */
static unsigned chunk_bits(size_t n, const shoal_key_part *parts, size_t n_parts) {
  unsigned max_bits = MIN_CHUNK_BITS, bits;
  for (; max_bits < MAX_CHUNK_BITS && (size_t)2 << max_bits <= n; max_bits++) {
    size_t n_chunks = 0;
    for (size_t q = 0; q < n_parts; n_chunks++) q = chunk_end(parts, n_parts, q, max_bits, &bits);
    if (n_chunks <= CHUNKS_PER_PASS) break;
  }
  return max_bits;
}

/* Fills the tables of all chunks, in g->luts. False: no memory. */
static bool make_chunks(shoal_grouper *g, size_t n, const shoal_key_part *parts,
                        const uint64_t *factors, size_t n_parts, chunk *chunks, size_t *n_chunks) {
  size_t starts[MAX_CHUNKS + 1], offsets[MAX_CHUNKS + 1] = {0};
  unsigned max_bits = chunk_bits(n, parts, n_parts), bits;
  *n_chunks = 0;
  for (size_t q = 0; q < n_parts;) {
    size_t i = (*n_chunks)++;
    starts[i] = q;
    q = chunk_end(parts, n_parts, q, max_bits, &bits);
    chunks[i].shift = parts[starts[i]].shift;
    chunks[i].mask = (UINT64_C(1) << bits) - 1;
    offsets[i + 1] = offsets[i] + ((size_t)1 << bits);
    starts[i + 1] = q;
  }
  if (!shoal_grow(&g->luts, &g->luts_capacity, offsets[*n_chunks] + 1, sizeof *g->luts))
    return false;
  for (size_t i = 0; i < *n_chunks; i++) {
    fill_lut(parts, factors, starts[i], starts[i + 1], g->luts + offsets[i]);
    chunks[i].lut = g->luts + offsets[i];
  }
  return true;
}

/* ------------------------------------------------------------ keys in blocks */

enum { BLOCK = 4096 };

/* Keys folded before, or chunks to fold them with. */
typedef struct key_source {
  const shoal_grouper *grouper;
  size_t n; /* tuples */
  bool folded;
  const chunk *chunks;
  size_t n_chunks;
  const uint32_t *item;
  const uint64_t *words;
} key_source;

/* The keys of tuples at .. at + n - 1, n <= BLOCK; AHEAD more may be read. Returns n. */
static inline size_t take_keys(const key_source *s, size_t at, const uint64_t **keys) {
  size_t n = s->n - at < BLOCK ? s->n - at : BLOCK;
  uint64_t *own = s->grouper->keys;
  *keys = s->folded ? own + at : own;
  for (size_t i = 0; i < s->n_chunks; i += CHUNKS_PER_PASS)
    fold_chunks(s->chunks + i, s->n_chunks - i, n, s->item + at, s->words, own, i == 0);
  return n;
}

static uint32_t dense_ids(shoal_grouper *g, const key_source *source, uint32_t *ids) {
  uint32_t n_ids = 0, *table = g->table;
  const uint64_t *keys;
  memset(table, 0, (size_t)g->radix * sizeof *table);
  for (size_t at = 0, n; at < source->n; at += n, ids += n) {
    n = take_keys(source, at, &keys);
    for (size_t i = 0; i < n; i++) {
      uint32_t *entry = &table[keys[i]];
      if (!*entry) *entry = ++n_ids;
      ids[i] = *entry - 1;
    }
  }
  return n_ids;
}

static inline size_t slot_of(uint64_t key, unsigned bits) {
  return (size_t)(shoal_hash_narrow(key) >> (64 - bits));
}

/* Keys below 2^32. */
static uint32_t narrow_ids(shoal_grouper *g, const key_source *source, unsigned bits,
                           uint32_t *ids) {
  size_t mask = ((size_t)1 << bits) - 1;
  uint64_t *slots = g->slots;
  const uint64_t *keys;
  uint32_t n_ids = 0;
  bool far = bits >= FAR_BITS;
  memset(slots, 0, (mask + 1) * sizeof *slots);
  for (size_t from = 0, n; from < source->n; from += n, ids += n) {
    n = take_keys(source, from, &keys);
    for (size_t i = 0; i < n; i++) {
      if (far) __builtin_prefetch(&slots[slot_of(keys[i + AHEAD], bits)], 1);
      uint64_t key = keys[i], slot;
      size_t at = slot_of(key, bits);
      while ((slot = slots[at]) && slot >> 32 != key) at = (at + 1) & mask;
      if (!slot) slots[at] = slot = key << 32 | ++n_ids;
      ids[i] = (uint32_t)slot - 1;
    }
  }
  return n_ids;
}

static uint32_t wide_ids(shoal_grouper *g, const key_source *source, unsigned bits, uint32_t *ids) {
  size_t mask = ((size_t)1 << bits) - 1;
  uint32_t n_ids = 0, *table = g->table;
  const uint64_t *keys;
  bool far = bits >= FAR_BITS;
  memset(table, 0, (mask + 1) * sizeof *table);
  for (size_t from = 0, n; from < source->n; from += n, ids += n) {
    n = take_keys(source, from, &keys);
    for (size_t i = 0; i < n; i++) {
      if (far) __builtin_prefetch(&table[shoal_hash_word(keys[i + AHEAD]) >> (64 - bits)], 1);
      uint64_t key = keys[i];
      size_t at = (size_t)(shoal_hash_word(key) >> (64 - bits));
      while (table[at] && g->key_of_id[table[at] - 1] != key) at = (at + 1) & mask;
      if (!table[at]) {
        g->key_of_id[n_ids] = key;
        table[at] = ++n_ids;
      }
      ids[i] = table[at] - 1;
    }
  }
  return n_ids;
}

static uint32_t ids_of(shoal_grouper *g, const key_source *source, uint32_t *ids) {
  size_t n = source->n;
  if (n >= SHOAL_NONE) return SHOAL_NONE; /* GCOVR_EXCL_BR_LINE */
  if (g->radix <= 4 * (uint64_t)n + 1024) {
    if (!shoal_grow(&g->table, &g->table_capacity, (size_t)g->radix, sizeof *g->table))
      return SHOAL_NONE;
    return dense_ids(g, source, ids);
  }
  /* At most half of the slots are full; two thirds if there are many, to save memory. */
  unsigned bits = 6;
  while (((size_t)1 << bits) < (n < MANY ? 2 * n : n + n / 2)) bits++;
  if (g->radix <= UINT64_C(1) << 32) {
    if (!shoal_grow(&g->slots, &g->slots_capacity, (size_t)1 << bits, sizeof *g->slots))
      return SHOAL_NONE;
    return narrow_ids(g, source, bits, ids);
  }
  if (!shoal_grow(&g->table, &g->table_capacity, (size_t)1 << bits, sizeof *g->table) ||
      !shoal_grow(&g->key_of_id, &g->key_of_id_capacity, n, sizeof *g->key_of_id))
    return SHOAL_NONE;
  return wide_ids(g, source, bits, ids);
}

uint32_t shoal_grouper_ids(shoal_grouper *g, size_t n, uint32_t *ids) {
  return ids_of(g, &(key_source){.grouper = g, .n = n, .folded = true}, ids);
}

uint32_t shoal_grouper_packed_ids(shoal_grouper *g, size_t n, const uint32_t *item,
                                  const uint64_t *words, const shoal_key_part *parts,
                                  size_t n_parts, uint32_t *ids) {
  chunk chunks[MAX_CHUNKS + CHUNKS_PER_PASS] = {0};
  shoal_key_part used[MAX_CHUNKS]; /* parts of more than one label */
  uint64_t factors[MAX_CHUNKS];
  size_t n_chunks, n_used = 0, n_block = n < BLOCK ? n : BLOCK;
  if (n_parts > MAX_CHUNKS || !shoal_grouper_start(g, n_block)) return SHOAL_NONE;
  for (size_t q = 0; q < n_parts; q++) {
    if (parts[q].n_labels <= 1) continue;
    if (parts[q].bits > MAX_CHUNK_BITS && (size_t)1 << parts[q].bits > 4 * n) return SHOAL_NONE;
    factors[n_used] = g->radix;
    used[n_used++] = parts[q];
    if (__builtin_mul_overflow(g->radix, parts[q].n_labels, &g->radix)) return SHOAL_NONE;
  }
  if (!make_chunks(g, n, used, factors, n_used, chunks, &n_chunks)) return SHOAL_NONE;
  key_source source = {
      .grouper = g, .n = n, .chunks = chunks, .n_chunks = n_chunks, .item = item, .words = words};
  return ids_of(g, &source, ids);
}
