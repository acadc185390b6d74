/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table/dictionary: open addressing with linear probing. While there are few values (the rule in
 * columns worth anonymizing) a slot holds the cell's first 32 bytes, so that a cell is found
 * without a branch on its size and without touching the stored string. With many values slots are
 * small: a cell of up to 8 bytes is its own key, a longer one is known by its hash. Slots depend on
 * the key of the process (base/hash.h); codes do not.
 */
#include "table/dictionary.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/simd.h"

#if SHOAL_HAS_AVX2
#include <immintrin.h>
#endif

enum { FIRST_BITS = 4, NEAR_VALUES = 1024, NEAR_BYTES = 32 };

static bool has_avx2(void) {
#if SHOAL_HAS_AVX2
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2");
#else
  return false;
#endif
}

bool shoal_dictionary_init(shoal_dictionary *d) {
  memset(d, 0, sizeof *d);
  d->avx2 = has_avx2();
  d->bits = FIRST_BITS;
  d->near = shoal_alloc_table((size_t)1 << d->bits, sizeof *d->near);
  bool ok = d->near && shoal_grow(&d->offsets, &d->offsets_capacity, 1, sizeof *d->offsets);
  if (ok) d->offsets[0] = 0;
  else shoal_dictionary_reset(d); /* a caller that got none need not give it back */
  return ok;
}

/* Slots hold the first bytes of cells. */
static void free_slots(shoal_dictionary *d) {
  shoal_wipe_free(d->near, ((size_t)1 << d->bits) * sizeof *d->near);
  shoal_wipe_free(d->slots, ((size_t)1 << d->bits) * sizeof *d->slots);
}

void shoal_dictionary_reset(shoal_dictionary *d) {
  free_slots(d);
  shoal_wipe_free(d->bytes, d->bytes_capacity);
  free(d->offsets);
  free(d->first_position);
  memset(d, 0, sizeof *d);
}

static inline uint64_t load8(const char *bytes) {
  uint64_t word;
  memcpy(&word, bytes, sizeof word);
  return word;
}

/* The same with the first byte lowest, on every machine. */
static inline uint64_t load_low(const char *bytes) {
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  return __builtin_bswap64(load8(bytes));
#else
  return load8(bytes);
#endif
}

/* The low `size_bytes` bytes of a word. */
static inline uint64_t keep_low(uint64_t word, uint32_t size_bytes) {
  return size_bytes >= 8 ? word : word & ((UINT64_C(1) << (8 * size_bytes)) - 1);
}

static inline uint64_t key_of(const char *bytes, uint32_t size_bytes) {
  uint64_t word = keep_low(load_low(bytes), size_bytes);
  if (size_bytes <= 8) return word;
  return shoal_hash_bytes(bytes, size_bytes);
}

static inline size_t slot_of(const shoal_dictionary *d, uint64_t key, uint32_t size_bytes) {
  return (size_t)(shoal_hash_word(key ^ size_bytes) >> (64 - d->bits));
}

static inline bool same(const shoal_dictionary *d, const shoal_slot *slot, uint64_t key,
                        const char *bytes, uint32_t size_bytes) {
  if (slot->key != key || slot->size_bytes != size_bytes) return false;
  if (size_bytes <= 8) return true;
  return memcmp(d->bytes + d->offsets[slot->code_plus_1 - 1], bytes, size_bytes) == 0;
}

/* ------------------------------------------------------------ few values */

#define ONES UINT64_C(0xffffffffffffffff)
#define LOW(n) (ONES >> (64 - 8 * (n)))
#define ROW(a, b, c, d)                                                                            \
  { a, b, c, d }
#define EIGHT(before, after)                                                                       \
  {before LOW(1) after}, {before LOW(2) after}, {before LOW(3) after}, {before LOW(4) after},      \
      {before LOW(5) after}, {before LOW(6) after}, {before LOW(7) after}, {                       \
    before LOW(8) after                                                                            \
  }
#define COMMA ,

/* By size up to 32: which bytes of four words belong to the cell. */
static const _Alignas(32) uint64_t masks[NEAR_BYTES + 1][4] = {
    ROW(0, 0, 0, 0),
    EIGHT(, COMMA 0 COMMA 0 COMMA 0),
    EIGHT(ONES COMMA, COMMA 0 COMMA 0),
    EIGHT(ONES COMMA ONES COMMA, COMMA 0),
    EIGHT(ONES COMMA ONES COMMA ONES COMMA, ),
};

/*
 * NH (Black et al. 1999), as in base/hash.h but with 32-bit halves of words, so that four words
 * take one instruction: two cells that were chosen without the key have the same sum with a
 * probability of 2^-32. A random odd factor then chooses the slot (Dietzfelbinger et al. 1997): two
 * sums that differ share one with a probability of 2 / slots.
 */
static inline uint64_t near_product(uint64_t word, uint64_t key) {
  uint32_t low = (uint32_t)word + (uint32_t)key;
  uint32_t high = (uint32_t)(word >> 32) + (uint32_t)(key >> 32);
  return (uint64_t)low * high;
}

static inline uint64_t near_hash(uint64_t sum, uint32_t size_bytes, uint64_t factor) {
  return (sum + size_bytes) * factor;
}

/*
 * The cell's first 32 bytes as words, and the slot of the cell. A longer cell is hashed as a whole:
 * many cells may begin with the same 32 bytes.
 */
static inline size_t near_slot_of(const shoal_dictionary *d, const char *bytes, uint32_t size_bytes,
                                  uint64_t *words) {
  const uint64_t *mask = masks[size_bytes < NEAR_BYTES ? size_bytes : NEAR_BYTES];
  uint64_t sum = 0;
  for (unsigned i = 0; i < 4; i++) {
    words[i] = load_low(bytes + 8 * i) & mask[i];
    sum += near_product(words[i], shoal_hash_key.text[i]);
  }
  if (size_bytes > NEAR_BYTES) sum = shoal_hash_bytes(bytes, size_bytes);
  return (size_t)(near_hash(sum, size_bytes, shoal_hash_key.odd) >> (64 - d->bits));
}

static inline bool same_near(const shoal_dictionary *d, const shoal_near_slot *slot,
                             const uint64_t *words, const char *bytes, uint32_t size_bytes) {
  uint64_t differ = (slot->words[0] ^ words[0]) | (slot->words[1] ^ words[1]) |
                    (slot->words[2] ^ words[2]) | (slot->words[3] ^ words[3]) |
                    (slot->size_bytes ^ size_bytes);
  if (differ) return false;
  return size_bytes <= NEAR_BYTES ||
         memcmp(d->bytes + d->offsets[slot->code_plus_1 - 1], bytes, size_bytes) == 0;
}

/* The slot of the cell, or the empty one where it belongs. */
static inline const shoal_near_slot *find_near(const shoal_dictionary *d, const char *bytes,
                                               uint32_t size_bytes) {
  uint64_t words[4];
  size_t mask = ((size_t)1 << d->bits) - 1;
  for (size_t at = near_slot_of(d, bytes, size_bytes, words);; at = (at + 1) & mask) {
    const shoal_near_slot *slot = &d->near[at];
    if (!slot->code_plus_1 || same_near(d, slot, words, bytes, size_bytes)) return slot;
  }
}

static void put_near(shoal_dictionary *d, uint32_t code) {
  const char *bytes = d->bytes + d->offsets[code];
  shoal_near_slot slot = {.size_bytes = (uint32_t)(d->offsets[code + 1] - d->offsets[code]),
                          .code_plus_1 = code + 1};
  size_t mask = ((size_t)1 << d->bits) - 1;
  size_t at = near_slot_of(d, bytes, slot.size_bytes, slot.words);
  while (d->near[at].code_plus_1) at = (at + 1) & mask;
  d->near[at] = slot;
}

/* ------------------------------------------------------------ many values */

static inline const shoal_slot *find_far(const shoal_dictionary *d, const char *bytes,
                                         uint32_t size_bytes) {
  uint64_t key = key_of(bytes, size_bytes);
  size_t mask = ((size_t)1 << d->bits) - 1;
  for (size_t at = slot_of(d, key, size_bytes);; at = (at + 1) & mask) {
    const shoal_slot *slot = &d->slots[at];
    if (!slot->code_plus_1 || same(d, slot, key, bytes, size_bytes)) return slot;
  }
}

static void put_slot(shoal_dictionary *d, shoal_slot slot) {
  size_t mask = ((size_t)1 << d->bits) - 1;
  size_t at = slot_of(d, slot.key, slot.size_bytes);
  while (d->slots[at].code_plus_1) at = (at + 1) & mask;
  d->slots[at] = slot;
}

static void put_far(shoal_dictionary *d, uint32_t code) {
  const char *bytes = d->bytes + d->offsets[code];
  uint32_t size_bytes = (uint32_t)(d->offsets[code + 1] - d->offsets[code]);
  put_slot(d, (shoal_slot){key_of(bytes, size_bytes), size_bytes, code + 1});
}

/* ------------------------------------------------------------ new values */

/*
 * Puts all values into new slots, twice as many or, once there are many values, smaller ones. Small
 * slots are copied without reading the values again, and in order: old and new ones from front to
 * back.
 */
static bool grow_slots(shoal_dictionary *d, uint32_t n_values) {
  bool near = n_values <= NEAR_VALUES;
  unsigned bits = FIRST_BITS;
  while ((size_t)1 << bits < (size_t)n_values * (near ? 8 : 2)) bits++;
  void *slots = shoal_alloc_table((size_t)1 << bits, near ? sizeof *d->near : sizeof *d->slots);
  if (!slots) return false;
  shoal_dictionary old = *d;
  d->near = near ? slots : NULL;
  d->slots = near ? NULL : slots;
  d->bits = bits;
  for (uint32_t code = 0; old.near && code < d->n_values; code++)
    if (near) put_near(d, code);
    else put_far(d, code);
  for (size_t i = 0; old.slots && i < (size_t)1 << old.bits; i++)
    if (old.slots[i].code_plus_1) put_slot(d, old.slots[i]);
  free_slots(&old);
  return true;
}

static bool is_full(const shoal_dictionary *d, size_t n_values) {
  size_t slots = (size_t)1 << d->bits;
  return d->near ? n_values * 8 > slots || n_values > NEAR_VALUES : n_values * 2 > slots;
}

static uint32_t add_value(shoal_dictionary *d, const char *bytes, uint32_t size_bytes,
                          uint64_t position) {
  uint32_t code = d->n_values;
  uint64_t start = d->offsets[code];
  if (code == SHOAL_NONE - 1) return SHOAL_NONE;
  if (!shoal_grow(&d->offsets, &d->offsets_capacity, (size_t)code + 2, sizeof *d->offsets) ||
      !shoal_grow(&d->first_position, &d->position_capacity, (size_t)code + 1, sizeof(uint64_t)) ||
      !shoal_grow_wiping(&d->bytes, &d->bytes_capacity,
                         (size_t)start + size_bytes + SHOAL_DICTIONARY_SLACK))
    return SHOAL_NONE;
  if (is_full(d, (size_t)code + 1) && !grow_slots(d, code + 1)) return SHOAL_NONE;
  memcpy(d->bytes + start, bytes, size_bytes);
  memset(d->bytes + start + size_bytes, 0, SHOAL_DICTIONARY_SLACK);
  d->offsets[code + 1] = start + size_bytes;
  d->first_position[code] = position;
  if (d->near) put_near(d, code);
  else put_far(d, code);
  d->n_values = code + 1;
  return code;
}

uint32_t shoal_dictionary_find(const shoal_dictionary *d, const char *bytes, uint32_t size_bytes) {
  uint32_t code_plus_1 = d->near ? find_near(d, bytes, size_bytes)->code_plus_1
                                 : find_far(d, bytes, size_bytes)->code_plus_1;
  return code_plus_1 ? code_plus_1 - 1 : SHOAL_NONE;
}

uint32_t shoal_dictionary_code(shoal_dictionary *d, const char *bytes, uint32_t size_bytes,
                               uint64_t position) {
  uint32_t code = shoal_dictionary_find(d, bytes, size_bytes);
  return code == SHOAL_NONE ? add_value(d, bytes, size_bytes, position) : code;
}

/*
 * Codes of cells up to the first one that is new, or longer than 32 bytes; returns how many. All
 * that the loop needs stays in registers: this is where a file's time goes.
 */
static size_t encode_near(const shoal_dictionary *d, const char *bytes, const uint32_t *begin,
                          const uint32_t *end, size_t stride, size_t n_rows, uint32_t *codes) {
  for (size_t row = 0; row < n_rows; row++) {
    uint32_t from = begin[row * stride], size = end[row * stride] - from;
    if (size > NEAR_BYTES) return row;
    uint32_t code_plus_1 = find_near(d, bytes + from, size)->code_plus_1;
    if (!code_plus_1) return row;
    codes[row] = code_plus_1 - 1;
  }
  return n_rows;
}

#if SHOAL_HAS_AVX2
/* The same with one load, one mask and one comparison of 32 bytes. */
__attribute__((target("avx2,bmi2"))) static size_t
encode_near_avx2(const shoal_dictionary *d, const char *bytes, const uint32_t *begin,
                 const uint32_t *end, size_t stride, size_t n_rows, uint32_t *codes) {
  const shoal_near_slot *near = d->near, *behind = near + ((size_t)1 << d->bits);
  const __m256i keys = _mm256_loadu_si256((const __m256i *)(const void *)shoal_hash_key.text);
  const uint64_t factor = shoal_hash_key.odd;
  const unsigned shift = 64 - d->bits;
  for (size_t row = 0; row < n_rows; row++, begin += stride, end += stride) {
    uint32_t from = *begin, size = *end - from;
    if (size > NEAR_BYTES) return row;
    __m256i cell =
        _mm256_and_si256(_mm256_loadu_si256((const __m256i *)(const void *)(bytes + from)),
                         _mm256_load_si256((const __m256i *)(const void *)masks[size]));
    __m256i keyed = _mm256_add_epi32(cell, keys);
    __m256i products = _mm256_mul_epu32(keyed, _mm256_srli_epi64(keyed, 32));
    __m128i two =
        _mm_add_epi64(_mm256_castsi256_si128(products), _mm256_extracti128_si256(products, 1));
    uint64_t sum = (uint64_t)_mm_cvtsi128_si64(_mm_add_epi64(two, _mm_unpackhi_epi64(two, two)));
    uint64_t mixed = near_hash(sum, size, factor);
    const shoal_near_slot *slot = &near[mixed >> shift];
    for (;;) {
      __m256i differ =
          _mm256_xor_si256(cell, _mm256_loadu_si256((const __m256i *)(const void *)slot->words));
      if (_mm256_testz_si256(differ, differ) && slot->size_bytes == size) break;
      if (!slot->code_plus_1) return row;
      if (++slot == behind) slot = near;
    }
    if (!slot->code_plus_1) return row; /* the empty cell, which an empty slot is like */
    codes[row] = slot->code_plus_1 - 1;
  }
  return n_rows;
}
#endif

static size_t encode_far(const shoal_dictionary *d, const char *bytes, const uint32_t *begin,
                         const uint32_t *end, size_t stride, size_t n_rows, uint32_t *codes) {
  for (size_t row = 0; row < n_rows; row++) {
    uint32_t from = begin[row * stride];
    uint32_t code_plus_1 = find_far(d, bytes + from, end[row * stride] - from)->code_plus_1;
    if (!code_plus_1) return row;
    codes[row] = code_plus_1 - 1;
  }
  return n_rows;
}

static size_t encode(const shoal_dictionary *d, const char *bytes, const uint32_t *begin,
                     const uint32_t *end, size_t stride, size_t n_rows, uint32_t *codes) {
  if (!d->near) return encode_far(d, bytes, begin, end, stride, n_rows, codes);
#if SHOAL_HAS_AVX2
  if (d->avx2) return encode_near_avx2(d, bytes, begin, end, stride, n_rows, codes);
#endif
  return encode_near(d, bytes, begin, end, stride, n_rows, codes);
}

bool shoal_dictionary_encode(shoal_dictionary *d, const char *bytes, const uint32_t *begin,
                             const uint32_t *end, size_t stride, size_t n_rows,
                             uint64_t first_position, uint32_t *codes) {
  for (size_t row = 0;; row++) {
    const uint32_t *from = begin + row * stride, *to = end + row * stride;
    row += encode(d, bytes, from, to, stride, n_rows - row, codes + row);
    if (row == n_rows) return true;
    uint32_t start = begin[row * stride];
    codes[row] =
        shoal_dictionary_code(d, bytes + start, end[row * stride] - start, first_position + row);
    if (codes[row] == SHOAL_NONE) return false;
  }
}

bool shoal_dictionary_look_up(const shoal_dictionary *d, const char *bytes, const uint32_t *begin,
                              const uint32_t *end, size_t stride, size_t n_rows, uint32_t *codes) {
  for (size_t row = 0;; row++) {
    row += encode(d, bytes, begin + row * stride, end + row * stride, stride, n_rows - row,
                  codes + row);
    if (row == n_rows) return true;
    uint32_t start = begin[row * stride];
    codes[row] = shoal_dictionary_find(d, bytes + start, end[row * stride] - start);
    if (codes[row] == SHOAL_NONE) return false;
  }
}
