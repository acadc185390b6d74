/* SPDX-License-Identifier: Apache-2.0 */
/*
 * read/blocks: a file in blocks of whole records. The same content gives the same blocks, whether
 * it is compressed or not, and however many threads take turns.
 */
#pragma once

#include "read/csv.h"
#include "read/source.h"

/* A block: its bytes, followed by SHOAL_CSV_SLACK zeros, and its cells once it is split. */
typedef struct shoal_block {
  char *bytes;
  size_t size_bytes;
  size_t capacity;
  shoal_cells cells;
} shoal_block;

void shoal_block_init(shoal_block *block);
void shoal_block_reset(shoal_block *block);

/* One thread at a time. */
typedef struct shoal_blocks {
  const char *path;     /* borrowed while the file is opened and read */
  const char *file;     /* its name in messages; borrowed */
  const char *encoding; /* NULL: detected; borrowed */
  bool or_utf8;
  shoal_source *source;
  char delimiter;
  size_t n_columns; /* if more than one, blank lines at the end of the file are not rows */
  char *carry;      /* bytes read that belong to the next block */
  size_t carry_size, carry_capacity;
  bool ended;          /* no more blocks */
  shoal_status status; /* why, if not at the file's end */
  shoal_error error;
} shoal_blocks;

/* Bytes of a block, unless a record is longer. Fuzz targets use tiny ones. */
#ifndef SHOAL_BLOCK_BYTES
#define SHOAL_BLOCK_BYTES (512 * 1024)
#endif

/* Opens the file, decoded as source.h says; on failure nothing is left open. */
shoal_status shoal_blocks_open(shoal_blocks *blocks, const char *path, const char *file,
                               const char *encoding, bool or_utf8,
                               shoal_error *error) SHOAL_MUST_CHECK;
void shoal_blocks_close(shoal_blocks *blocks);

/*
 * The next block; false after the last one. After a failure (`status`) the blocks read before it
 * are still returned, since an error in an earlier row is reported first.
 */
bool shoal_blocks_next(shoal_blocks *blocks, shoal_block *block);

/* Returns bytes of a block, which become the start of the next one. False: no memory. */
bool shoal_blocks_put_back(shoal_blocks *blocks, const char *bytes, size_t size_bytes);
