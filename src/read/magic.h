/* SPDX-License-Identifier: Apache-2.0 */
/* read/magic: files that are not text, recognized by their first bytes. */
#pragma once

#include <stddef.h>

/* First bytes that are needed to recognize a file. */
enum { SHOAL_MAGIC_BYTES = 8 };

/* What the file is and what to do, as the rest of a message; NULL: it may be text. `size_bytes`: at
 * least those that decide, better some thousand. */
const char *shoal_magic_advice(const char *bytes, size_t size_bytes);
