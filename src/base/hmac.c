/* SPDX-License-Identifier: Apache-2.0 */
/*
 * base/hmac: H(key ^ opad, H(key ^ ipad, message)) of RFC 2104, section 2. Both hashes start with a
 * whole block that depends on the key alone, so a keyed state is made once and copied for each
 * message.
 */
#include "base/hmac.h"

#include <assert.h>
#include <string.h>

enum { BLOCK_BYTES = 64 };

void shoal_hmac_init(shoal_hmac *hmac, const void *key, size_t size_bytes) {
  unsigned char block[BLOCK_BYTES] = {0};
  shoal_sha256_init(&hmac->inner);
  if (size_bytes > sizeof block) { /* a long key is hashed first */
    shoal_sha256_add(&hmac->inner, key, size_bytes);
    shoal_sha256_digest(&hmac->inner, block);
    shoal_sha256_init(&hmac->inner);
  } else if (size_bytes) {
    memcpy(block, key, size_bytes);
  }
  shoal_sha256_init(&hmac->outer);
  for (size_t i = 0; i < sizeof block; i++) block[i] ^= 0x36;
  shoal_sha256_add(&hmac->inner, block, sizeof block);
  for (size_t i = 0; i < sizeof block; i++) block[i] ^= 0x36 ^ 0x5c;
  shoal_sha256_add(&hmac->outer, block, sizeof block);
  explicit_bzero(block, sizeof block);
}

void shoal_hmac_add(shoal_hmac *hmac, const void *bytes, size_t size_bytes) {
  shoal_sha256_add(&hmac->inner, bytes, size_bytes);
}

void shoal_hmac_finish(shoal_hmac *hmac, unsigned char digest[SHOAL_SHA256_BYTES]) {
  shoal_sha256_digest(&hmac->inner, digest);
  shoal_sha256_add(&hmac->outer, digest, SHOAL_SHA256_BYTES);
  shoal_sha256_digest(&hmac->outer, digest);
  explicit_bzero(hmac, sizeof *hmac);
}

static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

void shoal_base32(const unsigned char *bytes, size_t size_bytes, char *out, size_t n) {
  assert(n <= (size_bytes * 8 + 4) / 5);
  for (size_t i = 0; i < n; i++) {
    size_t at = i * 5 / 8, bit = i * 5 % 8; /* five bits, of one byte or two */
    unsigned two = (unsigned)bytes[at] << 8 | (at + 1 < size_bytes ? bytes[at + 1] : 0);
    out[i] = letters[two >> (11 - bit) & 31];
  }
}

bool shoal_is_pseudonym(const char *bytes, size_t size_bytes) {
  if (size_bytes != SHOAL_PSEUDONYM_BYTES) return false;
  for (size_t i = 0; i < size_bytes; i++)
    if (!memchr(letters, bytes[i], sizeof letters - 1)) return false;
  return true;
}
