/* SPDX-License-Identifier: Apache-2.0 */
/*
 * read/blocks: reads until a block ends with a whole record; the rest is carried over to the next
 * block. A block grows if one record is larger than it.
 */
#include "read/blocks.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum { MAX_RECORD_BYTES = 1 << 30 };

void shoal_block_init(shoal_block *block) {
  memset(block, 0, sizeof *block);
  shoal_cells_init(&block->cells);
}

void shoal_block_reset(shoal_block *block) {
  shoal_cells_reset(&block->cells);
  shoal_wipe_free(block->bytes, block->capacity);
  memset(block, 0, sizeof *block);
}

shoal_status shoal_blocks_open(shoal_blocks *blocks, const char *path, const char *file,
                               const char *encoding, bool or_utf8, shoal_error *error) {
  memset(blocks, 0, sizeof *blocks);
  blocks->path = path;
  blocks->file = file;
  blocks->encoding = encoding;
  blocks->or_utf8 = or_utf8;
  SHOAL_TRY(shoal_source_open(path, &blocks->source, error));
  shoal_status status = shoal_source_decode(blocks->source, encoding, or_utf8, error);
  if (status != SHOAL_OK) shoal_blocks_close(blocks);
  return status;
}

void shoal_blocks_close(shoal_blocks *blocks) {
  shoal_source_close(blocks->source);
  shoal_wipe_free(blocks->carry, blocks->carry_capacity);
  memset(blocks, 0, sizeof *blocks);
}

/* Keeps the first failure. Returns false, so that callers can return it. */
static bool fail(shoal_blocks *blocks, shoal_status status, const shoal_error *error) {
  blocks->ended = true;
  if (blocks->status != SHOAL_OK) return false;
  blocks->status = status;
  blocks->error = *error;
  return false;
}

static bool fail_memory(shoal_blocks *blocks) {
  shoal_error error;
  return fail(blocks, shoal_fail_memory(&error), &error);
}

/* The size without blank lines at the end: at the end of a file they are not rows. */
static size_t without_blank_end(const shoal_block *b, size_t size) {
  for (;;) {
    size_t line = size;
    if (line && b->bytes[line - 1] == '\n') line--;
    if (line && b->bytes[line - 1] == '\r') line--;
    if (line == size || (line && b->bytes[line - 1] != '\n')) return size;
    size = line;
  }
}

/* Reads on until the block is full; false at the end of the data, as which a failure counts. */
static bool fill(shoal_blocks *blocks, shoal_block *b, size_t room) {
  while (b->size_bytes < room) {
    size_t got = 0;
    shoal_error error;
    shoal_status status = SHOAL_OK;
    if (blocks->status == SHOAL_OK)
      status = shoal_source_read(blocks->source, b->bytes + b->size_bytes, room - b->size_bytes,
                                 &got, &error);
    if (status != SHOAL_OK) (void)fail(blocks, status, &error);
    if (!got) return false;
    b->size_bytes += got;
  }
  return true;
}

static bool end_block(shoal_block *b) {
  memset(b->bytes + b->size_bytes, 0, SHOAL_CSV_SLACK);
  return b->size_bytes > 0;
}

bool shoal_blocks_put_back(shoal_blocks *blocks, const char *bytes, size_t size_bytes) {
  size_t size = size_bytes + blocks->carry_size;
  if (!shoal_grow_wiping(&blocks->carry, &blocks->carry_capacity, size + 1)) return false;
  memmove(blocks->carry + size_bytes, blocks->carry, blocks->carry_size);
  memcpy(blocks->carry, bytes, size_bytes);
  blocks->carry_size = size;
  blocks->ended = false;
  return true;
}

bool shoal_blocks_next(shoal_blocks *blocks, shoal_block *b) {
  if (blocks->ended) return false;
  if (!shoal_grow_wiping(&b->bytes, &b->capacity,
                         SHOAL_BLOCK_BYTES + blocks->carry_size + SHOAL_CSV_SLACK))
    return fail_memory(blocks);
  if (blocks->carry_size) memcpy(b->bytes, blocks->carry, blocks->carry_size);
  b->size_bytes = blocks->carry_size;
  size_t room = SHOAL_BLOCK_BYTES + blocks->carry_size, whole = 0;
  blocks->carry_size = 0;
  while (!whole) {
    if (!fill(blocks, b, room)) {
      /* The last block: all that is left, or after a failure the whole records of it. */
      blocks->ended = true;
      if (blocks->status != SHOAL_OK)
        b->size_bytes = shoal_csv_whole_records(b->bytes, b->size_bytes, blocks->delimiter);
      if (blocks->n_columns > 1) b->size_bytes = without_blank_end(b, b->size_bytes);
      return end_block(b);
    }
    whole = shoal_csv_whole_records(b->bytes, b->size_bytes, blocks->delimiter);
    if (blocks->n_columns > 1) whole = without_blank_end(b, whole); /* the table may end here */
    if (!whole && b->size_bytes > MAX_RECORD_BYTES) {
      shoal_error error;
      shoal_location location = {.file = blocks->file};
      return fail(blocks,
                  shoal_fail_at(&error, SHOAL_BAD_INPUT, &location,
                                "has a record of more than 1 GiB: is a quote not closed?"),
                  &error);
    }
    room *= 2;
    if (!whole && !shoal_grow_wiping(&b->bytes, &b->capacity, room + SHOAL_CSV_SLACK))
      return fail_memory(blocks);
  }
  size_t rest = b->size_bytes - whole;
  if (!shoal_blocks_put_back(blocks, b->bytes + whole, rest)) return fail_memory(blocks);
  b->size_bytes = whole;
  return end_block(b);
}
