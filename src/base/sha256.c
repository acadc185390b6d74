/* SPDX-License-Identifier: Apache-2.0 */
/*
 * base/sha256: written after FIPS 180-4, sections 4.1.2, 5.1.1 and 6.2. Where the processor has
 * instructions for it they are used: a release is hashed as fast as it is read.
 */
#include "base/sha256.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/simd.h"

#if SHOAL_HAS_AVX2
#include <cpuid.h>
#include <immintrin.h>
#endif

/* The first 32 bits of the fractional parts of the cube roots of the first 64 primes. */
static const uint32_t round_constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t rotate(uint32_t x, unsigned n) { return x >> n | x << (32 - n); }

static uint32_t read_word(const unsigned char *bytes) {
  return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

static uint32_t spread0(uint32_t x) { return rotate(x, 7) ^ rotate(x, 18) ^ x >> 3; }
static uint32_t spread1(uint32_t x) { return rotate(x, 17) ^ rotate(x, 19) ^ x >> 10; }

/* One round on eight words whose roles move on by one: only d and h change. */
static inline void turn(const uint32_t a, const uint32_t b, const uint32_t c, uint32_t *d,
                        const uint32_t e, const uint32_t f, const uint32_t g, uint32_t *h,
                        uint32_t word) {
  uint32_t sum1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25), choice = g ^ (e & (f ^ g));
  uint32_t sum0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22), majority = (a & b) | (c & (a | b));
  uint32_t first = *h + sum1 + choice + word;
  *d += first;
  *h = first + sum0 + majority;
}

static void take_block(uint32_t state[8], const unsigned char *block) {
  uint32_t w[64];
  for (size_t i = 0; i < 16; i++) w[i] = read_word(block + 4 * i);
  for (size_t i = 16; i < 64; i++)
    w[i] = w[i - 16] + spread0(w[i - 15]) + w[i - 7] + spread1(w[i - 2]);
  uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
  uint32_t e = state[4], f = state[5], g = state[6], h = state[7];
  for (size_t i = 0; i < 64; i += 8) {
    const uint32_t *k = round_constants + i;
    turn(a, b, c, &d, e, f, g, &h, k[0] + w[i]);
    turn(h, a, b, &c, d, e, f, &g, k[1] + w[i + 1]);
    turn(g, h, a, &b, c, d, e, &f, k[2] + w[i + 2]);
    turn(f, g, h, &a, b, c, d, &e, k[3] + w[i + 3]);
    turn(e, f, g, &h, a, b, c, &d, k[4] + w[i + 4]);
    turn(d, e, f, &g, h, a, b, &c, k[5] + w[i + 5]);
    turn(c, d, e, &f, g, h, a, &b, k[6] + w[i + 6]);
    turn(b, c, d, &e, f, g, h, &a, k[7] + w[i + 7]);
  }
  const uint32_t end[8] = {a, b, c, d, e, f, g, h};
  for (size_t i = 0; i < 8; i++) state[i] += end[i];
}

#if SHOAL_HAS_AVX2
/* SHA, SSSE3 and SSE4.1: cpuid leaf 7, EBX bit 29; leaf 1, ECX bits 9 and 19. */
static bool has_instructions(void) {
  unsigned a, b, c, d;
  if (!__get_cpuid(1, &a, &b, &c, &d) || !(c >> 9 & 1) || !(c >> 19 & 1)) return false;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b >> 29 & 1);
}

/*
 * The same by the processor's own rounds. They want the state as (a, b, e, f) and (c, d, g, h), the
 * first word on top; four words of the schedule are one vector.
 */
__attribute__((target("sha,ssse3,sse4.1"))) static void
take_block_fast(uint32_t state[8], const unsigned char *block) {
  const __m128i swap = _mm_set_epi8(12, 13, 14, 15, 8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3);
  __m128i low = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)(const void *)state), 0xb1);
  __m128i high =
      _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)(const void *)(state + 4)), 0x1b);
  __m128i abef = _mm_alignr_epi8(low, high, 8), cdgh = _mm_blend_epi16(high, low, 0xf0);
  const __m128i abef_before = abef, cdgh_before = cdgh;
  __m128i w[16];
  for (size_t i = 0; i < 16; i++) {
    if (i < 4) {
      const void *from = block + 16 * i;
      w[i] = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)from), swap);
    } else {
      __m128i sum = _mm_add_epi32(_mm_sha256msg1_epu32(w[i - 4], w[i - 3]),
                                  _mm_alignr_epi8(w[i - 1], w[i - 2], 4));
      w[i] = _mm_sha256msg2_epu32(sum, w[i - 1]);
    }
    const void *constants = round_constants + 4 * i;
    __m128i words = _mm_add_epi32(w[i], _mm_loadu_si128((const __m128i *)constants));
    cdgh = _mm_sha256rnds2_epu32(cdgh, abef, words);
    abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(words, 0x0e));
  }
  abef = _mm_add_epi32(abef, abef_before);
  cdgh = _mm_add_epi32(cdgh, cdgh_before);
  low = _mm_shuffle_epi32(abef, 0x1b);
  high = _mm_shuffle_epi32(cdgh, 0xb1);
  _mm_storeu_si128((__m128i *)(void *)state, _mm_blend_epi16(low, high, 0xf0));
  _mm_storeu_si128((__m128i *)(void *)(state + 4), _mm_alignr_epi8(high, low, 8));
}
#endif

static void take_blocks(shoal_sha256 *hash, const unsigned char *blocks, size_t n) {
#if SHOAL_HAS_AVX2
  if (hash->by_instructions) {
    for (size_t i = 0; i < n; i++) take_block_fast(hash->state, blocks + 64 * i);
    return;
  }
#endif
  for (size_t i = 0; i < n; i++) take_block(hash->state, blocks + 64 * i);
}

void shoal_sha256_init_plain(shoal_sha256 *hash) {
  /* The first 32 bits of the fractional parts of the square roots of the first 8 primes. */
  static const uint32_t start[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                    0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  memcpy(hash->state, start, sizeof start);
  hash->n_bytes = 0;
  hash->by_instructions = false;
}

void shoal_sha256_init(shoal_sha256 *hash) {
  shoal_sha256_init_plain(hash);
#if SHOAL_HAS_AVX2
  hash->by_instructions = has_instructions();
#endif
}

void shoal_sha256_add(shoal_sha256 *hash, const void *bytes, size_t size_bytes) {
  const unsigned char *next = bytes;
  size_t filled = hash->n_bytes % 64;
  hash->n_bytes += size_bytes;
  if (filled) {
    size_t taken = size_bytes < 64 - filled ? size_bytes : 64 - filled;
    memcpy(hash->block + filled, next, taken);
    if (filled + taken < 64) return;
    take_blocks(hash, hash->block, 1);
    next += taken;
    size_bytes -= taken;
  }
  size_t n_blocks = size_bytes / 64;
  take_blocks(hash, next, n_blocks);
  if (size_bytes % 64) memcpy(hash->block, next + 64 * n_blocks, size_bytes % 64);
}

void shoal_sha256_digest(shoal_sha256 *hash, unsigned char digest[SHOAL_SHA256_BYTES]) {
  static const unsigned char padding[64] = {0x80};
  unsigned char length[8];
  for (unsigned i = 0; i < 8; i++) length[i] = (unsigned char)(hash->n_bytes * 8 >> (56 - 8 * i));
  size_t filled = hash->n_bytes % 64;
  shoal_sha256_add(hash, padding, filled < 56 ? 56 - filled : 120 - filled);
  shoal_sha256_add(hash, length, sizeof length);
  for (size_t i = 0; i < SHOAL_SHA256_BYTES; i++)
    digest[i] = (unsigned char)(hash->state[i / 4] >> (24 - 8 * (i % 4)));
}

void shoal_sha256_finish(shoal_sha256 *hash, char text[SHOAL_SHA256_TEXT]) {
  static const char digits[] = "0123456789abcdef";
  unsigned char digest[SHOAL_SHA256_BYTES];
  shoal_sha256_digest(hash, digest);
  for (size_t i = 0; i < 64; i++) text[i] = digits[digest[i / 2] >> (i % 2 ? 0 : 4) & 15];
  text[64] = '\0';
}

shoal_status shoal_sha256_fd(int fd, const char *name, const atomic_bool *stop,
                             char text[SHOAL_SHA256_TEXT], shoal_error *error) {
  enum { CHUNK = 1 << 18 };
  unsigned char *chunk = shoal_alloc(CHUNK, 1);
  if (!chunk) return shoal_fail_memory(error);
  shoal_sha256 hash;
  shoal_sha256_init(&hash);
  ssize_t got;
  bool stopped = false;
  for (off_t at = 0; !stopped && (got = pread(fd, chunk, CHUNK, at)) != 0;) {
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) break;
    shoal_sha256_add(&hash, chunk, (size_t)got);
    at += got;
    stopped = stop && atomic_load_explicit(stop, memory_order_relaxed);
  }
  int reason = errno;
  free(chunk);
  if (stopped) return shoal_fail(error, SHOAL_CANCELLED, "stopped while hashing");
  if (got < 0)
    return shoal_fail_at(error, SHOAL_FAILED, &(shoal_location){.file = name},
                         "cannot read it again to hash it: %s", strerror(reason));
  shoal_sha256_finish(&hash, text);
  return SHOAL_OK;
}
