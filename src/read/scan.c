/* SPDX-License-Identifier: Apache-2.0 */
/* read/scan: one scan, compiled for each way of making the bits. */
#include "read/scan.h"

#include <stdatomic.h>
#include <string.h>

#include "base/simd.h"

#if SHOAL_HAS_SSE2
#include <cpuid.h>
#include <immintrin.h>
#endif

enum { STEP = 64 };

/* One bit for each of 64 bytes. */
typedef struct bits {
  uint64_t separators; /* delimiters and newlines */
  uint64_t newlines;
  uint64_t quotes;
  uint64_t nul; /* not 0: there is a NUL byte somewhere */
} bits;

typedef bits (*match_fn)(const char *s, char delimiter);

static bits match_portable(const char *s, char delimiter) {
  bits found = {0, 0, 0, 0};
  for (unsigned i = 0; i < STEP; i++) {
    found.newlines |= (uint64_t)(s[i] == '\n') << i;
    found.separators |= (uint64_t)(s[i] == delimiter || s[i] == '\n') << i;
    found.quotes |= (uint64_t)(s[i] == '"') << i;
    found.nul |= (uint64_t)(s[i] == '\0');
  }
  return found;
}

#if SHOAL_HAS_SSE2

static inline uint64_t mask16(__m128i hit, unsigned at) {
  return (uint64_t)(uint32_t)_mm_movemask_epi8(hit) << at;
}

static inline bits match_sse2(const char *s, char delimiter) {
  const __m128i d = _mm_set1_epi8(delimiter), n = _mm_set1_epi8('\n'), q = _mm_set1_epi8('"');
  __m128i least = n;
  bits found = {0, 0, 0, 0};
  for (unsigned at = 0; at < STEP; at += 16) {
    __m128i x = _mm_loadu_si128((const __m128i *)(const void *)(s + at));
    __m128i newline = _mm_cmpeq_epi8(x, n);
    found.newlines |= mask16(newline, at);
    found.separators |= mask16(_mm_or_si128(newline, _mm_cmpeq_epi8(x, d)), at);
    found.quotes |= mask16(_mm_cmpeq_epi8(x, q), at);
    least = _mm_min_epu8(least, x);
  }
  found.nul = mask16(_mm_cmpeq_epi8(least, _mm_setzero_si128()), 0);
  return found;
}
#endif

#if SHOAL_HAS_AVX2
#define AVX2 __attribute__((target("avx2,bmi,popcnt,lzcnt")))

AVX2 static inline uint64_t mask32(__m256i low, __m256i high) {
  return (uint64_t)(uint32_t)_mm256_movemask_epi8(low) |
         (uint64_t)(uint32_t)_mm256_movemask_epi8(high) << 32;
}

AVX2 static inline bits match_avx2(const char *s, char delimiter) {
  const __m256i d = _mm256_set1_epi8(delimiter), n = _mm256_set1_epi8('\n'),
                q = _mm256_set1_epi8('"');
  __m256i x = _mm256_loadu_si256((const __m256i *)(const void *)s);
  __m256i y = _mm256_loadu_si256((const __m256i *)(const void *)(s + 32));
  __m256i xn = _mm256_cmpeq_epi8(x, n), yn = _mm256_cmpeq_epi8(y, n);
  __m256i zero = _mm256_cmpeq_epi8(_mm256_min_epu8(x, y), _mm256_setzero_si256());
  return (bits){.newlines = mask32(xn, yn),
                .separators = mask32(_mm256_or_si256(xn, _mm256_cmpeq_epi8(x, d)),
                                     _mm256_or_si256(yn, _mm256_cmpeq_epi8(y, d))),
                .quotes = mask32(_mm256_cmpeq_epi8(x, q), _mm256_cmpeq_epi8(y, q)),
                .nul = (uint32_t)_mm256_movemask_epi8(zero)};
}
#endif

/* ------------------------------------------------------------ quotes */

/* What one step hands to the next. */
typedef struct carry {
  uint64_t inside;    /* all ones: the step starts inside quotes */
  uint64_t separator; /* 1: the byte before it is a separator, or the block starts */
  uint64_t closing;   /* 1: it is a closing quote */
} carry;

/* Bit i is the exclusive or of bits 0 to i. */
static inline uint64_t running_xor(uint64_t x) {
  x ^= x << 1;
  x ^= x << 2;
  x ^= x << 4;
  x ^= x << 8;
  x ^= x << 16;
  return x ^ x << 32;
}

/* A closing quote is followed by a separator, by the end of its line, or by a second quote. */
static bool stray(const char *block, size_t size_bytes, size_t at, uint64_t behind) {
  for (; behind; behind &= behind - 1) {
    size_t position = at + (size_t)__builtin_ctzll(behind);
    if (position >= size_bytes) break;
    bool line_end =
        block[position] == '\r' && (position + 1 == size_bytes || block[position + 1] == '\n');
    if (!line_end) return true;
  }
  return false;
}

/* Clears the bits of bytes inside quotes. */
static inline void follow_quotes(bits *found, carry *before, shoal_scan *scan, uint64_t *behind) {
  uint64_t inside = running_xor(found->quotes) ^ before->inside;
  uint64_t opening = found->quotes & inside, closing = found->quotes & ~inside;
  found->separators &= ~inside;
  found->newlines &= ~inside;
  uint64_t after_separator = found->separators << 1 | before->separator;
  uint64_t after_closing = closing << 1 | before->closing;
  scan->quotes = true;
  scan->doubled |= (opening & after_closing) != 0;
  scan->irregular |= (opening & ~(after_separator | after_closing)) != 0;
  *behind = after_closing & ~(found->separators | opening);
  before->inside = (uint64_t)((int64_t)inside >> 63);
  before->closing = closing >> 63;
}

/* ------------------------------------------------------------ the scan */

/* Always writes eight positions, needed or not: most steps need no second round. */
static inline __attribute__((always_inline)) uint32_t *write_ends(uint32_t *to, uint64_t found,
                                                                  size_t at) {
  uint32_t *end = to + __builtin_popcountll(found);
  while (found) {
    for (unsigned i = 0; i < 8; i++) {
      to[i] = (uint32_t)at + (uint32_t)__builtin_ctzll(found | UINT64_C(1) << 63);
      found &= found - 1;
    }
    to += 8;
  }
  return end;
}

static inline __attribute__((always_inline)) void
scan_step(match_fn match, const char *s, size_t at, const char *block, size_t size_bytes,
          char delimiter, carry *before, shoal_scan *scan, uint32_t **ends) {
  bits found = match(s, delimiter);
  uint64_t behind = 0;
  if (found.quotes | before->inside | before->closing) {
    follow_quotes(&found, before, scan, &behind);
    if (behind && *ends && stray(block, size_bytes, at, behind)) scan->irregular = true;
  }
  before->separator = found.separators >> 63;
  scan->nul |= found.nul != 0;
  scan->n_newlines += (size_t)__builtin_popcountll(found.newlines);
  if (found.newlines) scan->after_last = at + 64 - (size_t)__builtin_clzll(found.newlines);
  if (*ends) *ends = write_ends(*ends, found.separators, at);
}

static inline __attribute__((always_inline)) shoal_scan
scan_with(match_fn match, const char *block, size_t size_bytes, char delimiter, uint32_t *ends) {
  shoal_scan scan = {0};
  carry before = {.separator = 1};
  uint32_t *to = ends;
  size_t at = 0;
  for (; size_bytes - at >= STEP; at += STEP) {
    scan_step(match, block + at, at, block, size_bytes, delimiter, &before, &scan, &to);
    if (scan.irregular | (ends && scan.nul)) return scan;
  }
  if (at < size_bytes) { /* the rest is filled up with what means nothing */
    char rest[STEP];
    memset(rest, delimiter == 'a' ? 'b' : 'a', sizeof rest);
    memcpy(rest, block + at, size_bytes - at);
    scan_step(match, rest, at, block, size_bytes, delimiter, &before, &scan, &to);
  }
  if (ends) scan.n_ends = (size_t)(to - ends);
  scan.unclosed = before.inside != 0;
  return scan;
}

static shoal_scan scan_portable(const char *block, size_t size_bytes, char delimiter,
                                uint32_t *ends) {
  return scan_with(match_portable, block, size_bytes, delimiter, ends);
}

#if SHOAL_HAS_SSE2
static shoal_scan scan_sse2(const char *block, size_t size_bytes, char delimiter, uint32_t *ends) {
  return scan_with(match_sse2, block, size_bytes, delimiter, ends);
}
#endif

#if SHOAL_HAS_AVX2
AVX2 static shoal_scan scan_avx2(const char *block, size_t size_bytes, char delimiter,
                                 uint32_t *ends) {
  return scan_with(match_avx2, block, size_bytes, delimiter, ends);
}
#endif

#if SHOAL_HAS_AVX2
/* By cpuid: clang 14 has no builtin for it. Cached: cpuid is slow in virtual machines. */
static bool has_lzcnt(void) {
  static atomic_int answer; /* 0: not asked yet; 1: no; 2: yes */
  int known = atomic_load_explicit(&answer, memory_order_relaxed);
  if (!known) {
    unsigned a, b, c = 0, d;
    known = __get_cpuid(0x80000001, &a, &b, &c, &d) && c >> 5 & 1 ? 2 : 1;
    atomic_store_explicit(&answer, known, memory_order_relaxed);
  }
  return known == 2;
}
#endif

bool shoal_scan_has(shoal_scan_way way) {
#if SHOAL_HAS_AVX2
  if (way == SHOAL_SCAN_AVX2)
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
           __builtin_cpu_supports("popcnt") && has_lzcnt();
#endif
#if SHOAL_HAS_SSE2
  if (way == SHOAL_SCAN_SSE2) return true;
#endif
  return way == SHOAL_SCAN_PORTABLE;
}

shoal_scan_way shoal_scan_best(void) {
  if (shoal_scan_has(SHOAL_SCAN_AVX2)) return SHOAL_SCAN_AVX2;
  return shoal_scan_has(SHOAL_SCAN_SSE2) ? SHOAL_SCAN_SSE2 : SHOAL_SCAN_PORTABLE;
}

shoal_scan shoal_scan_block(shoal_scan_way way, const char *block, size_t size_bytes,
                            char delimiter, uint32_t *ends) {
  switch (way) {
#if SHOAL_HAS_AVX2
  case SHOAL_SCAN_AVX2: return scan_avx2(block, size_bytes, delimiter, ends);
#endif
#if SHOAL_HAS_SSE2
  case SHOAL_SCAN_SSE2: return scan_sse2(block, size_bytes, delimiter, ends);
#endif
  default: return scan_portable(block, size_bytes, delimiter, ends);
  }
}
