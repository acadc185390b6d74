/* SPDX-License-Identifier: Apache-2.0 */
/* base/hmac: HMAC-SHA-256 (RFC 2104) and base32 (RFC 4648, section 6), of which pseudonyms are
 * made. */
#pragma once

#include "base/sha256.h"

/* A key and the message so far. A copy continues from there. The caller wipes it. */
typedef struct shoal_hmac {
  shoal_sha256 inner, outer;
} shoal_hmac;

void shoal_hmac_init(shoal_hmac *hmac, const void *key, size_t size_bytes);
void shoal_hmac_add(shoal_hmac *hmac, const void *bytes, size_t size_bytes);
/* The hmac is used up, and wiped. */
void shoal_hmac_finish(shoal_hmac *hmac, unsigned char digest[SHOAL_SHA256_BYTES]);

/* The first n characters of the base32 form of the bytes, without padding; no NUL follows. n is at
 * most size_bytes * 8 / 5, rounded up. */
void shoal_base32(const unsigned char *bytes, size_t size_bytes, char *out, size_t n);

/*
 * Characters of a pseudonym, 100 bits: of a million people two have the same one with a
 * probability of 4e-19, of 2^32 with 2^-37.
 */
enum { SHOAL_PSEUDONYM_BYTES = 20 };

/* Has the cell the form of a pseudonym: the right number of base32 characters? */
bool shoal_is_pseudonym(const char *bytes, size_t size_bytes);
