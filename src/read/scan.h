/* SPDX-License-Identifier: Apache-2.0 */
/*
 * read/scan: finds where cells end, 64 bytes at a time. Each step makes one bit per byte for
 * separators, newlines and quotes, and from the quotes, by a running exclusive or, one bit for
 * "inside quotes" (Langdale & Lemire 2019, section 3.1, for JSON). This is correct only if every
 * quote opens or closes a cell or is doubled. Other blocks are irregular, and csv.c reads them byte
 * by byte.
 *
 * The bits are made with AVX2 if the processor has it, with SSE2 on any x86-64, or byte by byte;
 * the result is the same.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How the bits are made, slowest first. */
typedef enum shoal_scan_way {
  SHOAL_SCAN_PORTABLE,
  SHOAL_SCAN_SSE2,
  SHOAL_SCAN_AVX2,
  SHOAL_SCAN_WAYS
} shoal_scan_way;

/* Is it available on this processor? */
bool shoal_scan_has(shoal_scan_way way);
/* The fastest available one. */
shoal_scan_way shoal_scan_best(void);

/* The result of a scan. */
typedef struct shoal_scan {
  size_t n_ends;     /* separators outside quotes */
  size_t n_newlines; /* those that are newlines */
  size_t after_last; /* position after the last newline outside quotes; 0: none */
  bool quotes;       /* there are quotes */
  bool doubled;      /* there are doubled quotes */
  bool nul;          /* there is a NUL byte; the other fields are unreliable */
  bool irregular;    /* quotes that the scan cannot follow; the same */
  bool unclosed;     /* the block ends inside quotes */
} shoal_scan;

/*
 * Scans a block that starts at a record's start. `ends`, if not NULL, receives the position of
 * every separator outside quotes; it has room for size_bytes + 64 of them. Without it, NUL bytes
 * and text after closing quotes are not detected.
 */
shoal_scan shoal_scan_block(shoal_scan_way way, const char *block, size_t size_bytes,
                            char delimiter, uint32_t *ends);
