/* SPDX-License-Identifier: Apache-2.0 */
/* write/spool: see spool.h. */
#include "write/spool.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

enum { BUFFER_BYTES = 32 * 1024 };

static const char NAME[] = "the temporary file";

/* A stretch of the file that belongs to one bucket. */
typedef struct chunk {
  uint64_t offset;
  size_t size_bytes;
} chunk;

typedef struct bucket {
  char *buffer; /* NULL: nothing was added yet */
  size_t size_bytes;
  chunk *chunks;
  size_t n_chunks, chunks_capacity;
  uint32_t n_rows;
  uint64_t spooled_bytes;
} bucket;

struct shoal_spool {
  int fd;
  uint64_t position;
  bucket *buckets;
  uint32_t n_buckets;
};

shoal_status shoal_spool_new(int fd, uint32_t n_buckets, shoal_spool **out, shoal_error *error) {
  shoal_spool *spool = shoal_alloc_zero(1, sizeof *spool);
  *out = spool;
  if (!spool) return shoal_fail_memory(error);
  spool->fd = fd;
  spool->n_buckets = n_buckets;
  spool->buckets = shoal_alloc_zero(n_buckets, sizeof *spool->buckets);
  if (spool->buckets) return SHOAL_OK;
  *out = NULL;
  free(spool);
  return shoal_fail_memory(error);
}

void shoal_spool_free(shoal_spool *spool) {
  if (!spool) return;
  for (uint32_t b = 0; b < spool->n_buckets; b++) {
    free(spool->buckets[b].buffer);
    free(spool->buckets[b].chunks);
  }
  free(spool->buckets);
  free(spool);
}

/* Puts bytes of a bucket into the file; stretches that touch become one. */
static shoal_status put(shoal_spool *spool, bucket *b, const char *bytes, size_t size,
                        shoal_error *error) {
  if (!size) return SHOAL_OK;
  if (!shoal_grow(&b->chunks, &b->chunks_capacity, b->n_chunks + 1, sizeof *b->chunks))
    return shoal_fail_memory(error);
  b->chunks[b->n_chunks++] = (chunk){spool->position, size};
  b->spooled_bytes += size;
  uint64_t offset = spool->position;
  spool->position += size;
  return shoal_write_all_at(spool->fd, NAME, offset, bytes, size, error);
}

shoal_status shoal_spool_add(shoal_spool *spool, uint32_t number, const char *row,
                             uint32_t size_bytes, shoal_error *error) {
  bucket *b = &spool->buckets[number];
  size_t needed = sizeof size_bytes + size_bytes;
  if (b->n_rows == UINT32_MAX - 1) return shoal_fail_memory(error); /* GCOVR_EXCL_BR_LINE */
  if (!b->buffer && !(b->buffer = shoal_alloc(BUFFER_BYTES, 1))) return shoal_fail_memory(error);
  b->n_rows++;
  if (b->size_bytes + needed > BUFFER_BYTES) {
    SHOAL_TRY(put(spool, b, b->buffer, b->size_bytes, error));
    b->size_bytes = 0;
  }
  if (needed > BUFFER_BYTES) {
    SHOAL_TRY(put(spool, b, (const char *)&size_bytes, sizeof size_bytes, error));
    return put(spool, b, row, size_bytes, error);
  }
  memcpy(b->buffer + b->size_bytes, &size_bytes, sizeof size_bytes);
  memcpy(b->buffer + b->size_bytes + sizeof size_bytes, row, size_bytes);
  b->size_bytes += needed;
  return SHOAL_OK;
}

static shoal_status get(const shoal_spool *spool, chunk from, char *to, shoal_error *error) {
  while (from.size_bytes) {
    ssize_t n = pread(spool->fd, to, from.size_bytes, (off_t)from.offset);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      shoal_place place = {.file = NAME};
      return shoal_fail_at(error, SHOAL_FAILED, &place, "cannot be read back: %s",
                           strerror(n ? errno : EIO));
    }
    to += n;
    from.offset += (uint64_t)n;
    from.size_bytes -= (size_t)n;
  }
  return SHOAL_OK;
}

shoal_status shoal_spool_load(const shoal_spool *spool, uint32_t number, shoal_bytes *rows,
                              uint32_t *n_rows, shoal_error *error) {
  const bucket *b = &spool->buckets[number];
  rows->size = 0;
  *n_rows = b->n_rows;
  if (b->spooled_bytes > SIZE_MAX / 2 || /* GCOVR_EXCL_BR_LINE */
      !shoal_bytes_room(rows, (size_t)b->spooled_bytes + b->size_bytes))
    return shoal_fail_memory(error);
  for (size_t i = 0; i < b->n_chunks; i++) {
    SHOAL_TRY(get(spool, b->chunks[i], rows->bytes + rows->size, error));
    rows->size += b->chunks[i].size_bytes;
  }
  if (b->size_bytes) memcpy(rows->bytes + rows->size, b->buffer, b->size_bytes);
  rows->size += b->size_bytes;
  return SHOAL_OK;
}
