/* SPDX-License-Identifier: Apache-2.0 */
/*
 * read/scan: where cells end. A block is looked at 64 bytes at a time: one bit a byte for
 * separators, newlines and quotes, and from the quotes, by a running exclusive or, one bit for
 * "inside quotes" (the idea of Langdale & Lemire 2019, section 3.1, who read JSON so). That is
 * right only where every quote opens or closes a cell or is one of two; a block in which one does
 * not is irregular, and is left to whoever reads byte by byte.
 *
 * The 64 bits are made with AVX2 where the processor has it, with SSE2 on any x86-64, or byte by
 * byte; all give the same.
 */
#ifndef SHOAL_READ_SCAN_H
#define SHOAL_READ_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How the bits are made, the slowest first. */
typedef enum shoal_scan_way {
  SHOAL_SCAN_PORTABLE,
  SHOAL_SCAN_SSE2,
  SHOAL_SCAN_AVX2,
  SHOAL_SCAN_WAYS
} shoal_scan_way;

/* Can this machine scan so? */
bool shoal_scan_has(shoal_scan_way way);
/* The fastest way that it has. */
shoal_scan_way shoal_scan_best(void);

/* What a scan found. */
typedef struct shoal_scan {
  size_t n_ends;     /* separators outside quotes */
  size_t n_newlines; /* those that are newlines */
  size_t after_last; /* the place behind the last newline outside quotes; 0: there is none */
  bool quotes;       /* there are quotes */
  bool doubled;      /* there are doubled quotes */
  bool nul;          /* there is a NUL byte; then nothing else is certain */
  bool irregular;    /* so is this: quotes that the scan cannot follow */
  bool unclosed;     /* the block ends inside quotes */
} shoal_scan;

/*
 * Scans a block that starts at a record's start. `ends`, if not NULL, receives the place of every
 * separator outside quotes: it has room for size_bytes + 64 of them. Without it a NUL and what
 * stands behind a closing quote are not looked for.
 */
shoal_scan shoal_scan_block(shoal_scan_way way, const char *block, size_t size_bytes,
                            char delimiter, uint32_t *ends);

#endif
