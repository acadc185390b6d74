/* SPDX-License-Identifier: Apache-2.0 */
/* base/sha256: identifies input and output files in reports, and is the hash of base/hmac
 * (FIPS 180-4, section 6.2). */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define SHOAL_SHA256_BYTES 32
#define SHOAL_SHA256_TEXT 65 /* 64 hexadecimal digits and a NUL */

typedef struct shoal_sha256 {
  uint32_t state[8];
  uint64_t n_bytes;        /* taken so far */
  unsigned char block[64]; /* of which n_bytes % 64 are filled */
  bool by_instructions;    /* of the processor */
} shoal_sha256;

void shoal_sha256_init(shoal_sha256 *hash);
/* The same without special instructions, for tests. */
void shoal_sha256_init_plain(shoal_sha256 *hash);
void shoal_sha256_add(shoal_sha256 *hash, const void *bytes, size_t size_bytes);
/* The hash is used up. */
void shoal_sha256_digest(shoal_sha256 *hash, unsigned char digest[SHOAL_SHA256_BYTES]);
/* The same as lower-case hexadecimal digits. */
void shoal_sha256_finish(shoal_sha256 *hash, char text[SHOAL_SHA256_TEXT]);

/*
 * Hashes a whole file; its offset does not change. Messages use `name`. If `stop` is not NULL and
 * becomes true, it ends early with SHOAL_CANCELLED.
 */
shoal_status shoal_sha256_fd(int fd, const char *name, const atomic_bool *stop,
                             char text[SHOAL_SHA256_TEXT], shoal_error *error) SHOAL_MUST_CHECK;
