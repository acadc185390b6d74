/* SPDX-License-Identifier: Apache-2.0 */
/*
 * write/spill: remembers where the buffers of each bucket are in the file, and reads a bucket back
 * whole.
 */
#include "write/spill.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

enum { MIN_BUFFER_BYTES = 32 * 1024, BUFFERS_BYTES = 8 << 20 };

static const char NAME[] = "the temporary file";

/* A range of the file that belongs to one bucket. */
typedef struct chunk {
  uint64_t offset;
  size_t size_bytes;
} chunk;

typedef struct bucket {
  char *buffer; /* NULL: nothing was added yet */
  size_t size_bytes, capacity;
  chunk *chunks;
  size_t n_chunks, chunks_capacity;
  uint32_t n_rows;
  uint64_t spilled_bytes;
} bucket;

struct shoal_spill {
  int fd;
  uint64_t position;
  bucket *buckets;
  uint32_t n_buckets;
  size_t buffer_bytes; /* a bucket, at most */
};

shoal_status shoal_spill_new(int fd, uint32_t n_buckets, shoal_spill **out, shoal_error *error) {
  shoal_spill *spill = shoal_alloc_zero(1, sizeof *spill);
  *out = spill;
  if (!spill) return shoal_fail_memory(error);
  spill->fd = fd;
  spill->n_buckets = n_buckets;
  spill->buffer_bytes = BUFFERS_BYTES / n_buckets;
  if (spill->buffer_bytes < MIN_BUFFER_BYTES) spill->buffer_bytes = MIN_BUFFER_BYTES;
  spill->buckets = shoal_alloc_zero(n_buckets, sizeof *spill->buckets);
  if (spill->buckets) return SHOAL_OK;
  *out = NULL;
  free(spill);
  return shoal_fail_memory(error);
}

void shoal_spill_free(shoal_spill *spill) {
  if (!spill) return;
  for (uint32_t b = 0; b < spill->n_buckets; b++) {
    free(spill->buckets[b].buffer);
    free(spill->buckets[b].chunks);
  }
  free(spill->buckets);
  free(spill);
}

/* Appends bytes of a bucket to the file. */
static shoal_status put(shoal_spill *spill, bucket *b, const char *bytes, size_t size,
                        shoal_error *error) {
  if (!size) return SHOAL_OK;
  if (!shoal_grow(&b->chunks, &b->chunks_capacity, b->n_chunks + 1, sizeof *b->chunks))
    return shoal_fail_memory(error);
  b->chunks[b->n_chunks++] = (chunk){spill->position, size};
  b->spilled_bytes += size;
  uint64_t offset = spill->position;
  spill->position += size;
  return shoal_write_all_at(spill->fd, NAME, offset, bytes, size, error);
}

shoal_status shoal_spill_add(shoal_spill *spill, uint32_t number, const char *row,
                             uint32_t size_bytes, shoal_error *error) {
  bucket *b = &spill->buckets[number];
  size_t needed = sizeof size_bytes + size_bytes;
  if (b->n_rows == UINT32_MAX - 1) return shoal_fail_memory(error); /* GCOVR_EXCL_BR_LINE */
  b->n_rows++;
  if (b->size_bytes + needed > spill->buffer_bytes) {
    SHOAL_TRY(put(spill, b, b->buffer, b->size_bytes, error));
    b->size_bytes = 0;
  }
  if (needed > spill->buffer_bytes) {
    SHOAL_TRY(put(spill, b, (const char *)&size_bytes, sizeof size_bytes, error));
    return put(spill, b, row, size_bytes, error);
  }
  if (!shoal_grow(&b->buffer, &b->capacity, b->size_bytes + needed, 1))
    return shoal_fail_memory(error);
  memcpy(b->buffer + b->size_bytes, &size_bytes, sizeof size_bytes);
  memcpy(b->buffer + b->size_bytes + sizeof size_bytes, row, size_bytes);
  b->size_bytes += needed;
  return SHOAL_OK;
}

static shoal_status get(const shoal_spill *spill, chunk from, char *to, shoal_error *error) {
  while (from.size_bytes) {
    ssize_t n = pread(spill->fd, to, from.size_bytes, (off_t)from.offset);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      shoal_location location = {.file = NAME};
      return shoal_fail_at(error, SHOAL_FAILED, &location, "cannot be read back: %s",
                           strerror(n ? errno : EIO));
    }
    to += n;
    from.offset += (uint64_t)n;
    from.size_bytes -= (size_t)n;
  }
  return SHOAL_OK;
}

shoal_status shoal_spill_load(const shoal_spill *spill, uint32_t number, shoal_bytes *rows,
                              uint32_t *n_rows, shoal_error *error) {
  const bucket *b = &spill->buckets[number];
  rows->size = 0;
  *n_rows = b->n_rows;
  if (b->spilled_bytes > SIZE_MAX / 2 || /* GCOVR_EXCL_BR_LINE */
      !shoal_bytes_room(rows, (size_t)b->spilled_bytes + b->size_bytes))
    return shoal_fail_memory(error);
  for (size_t i = 0; i < b->n_chunks; i++) {
    SHOAL_TRY(get(spill, b->chunks[i], rows->bytes + rows->size, error));
    rows->size += b->chunks[i].size_bytes;
  }
  if (b->size_bytes) memcpy(rows->bytes + rows->size, b->buffer, b->size_bytes);
  rows->size += b->size_bytes;
  return SHOAL_OK;
}
