/* SPDX-License-Identifier: Apache-2.0 */
/* write/sink: plain bytes are written at offsets, compressed ones in order. */
#include "write/sink.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "base/memory.h"
#include "base/text.h"

enum { OUTPUT_BYTES = 256 * 1024, ZSTD_LEVEL = 3 };

struct shoal_sink {
  int fd;
  const char *name;
  bool gzip_ready;
  z_stream gzip;
  ZSTD_CStream *zstd;
  char *output; /* compressed bytes */
  bool placed;  /* a plain file: bytes are written at offsets */
  uint64_t position;
};

shoal_status shoal_sink_open(int fd, const char *name, shoal_sink **out, shoal_error *error) {
  *out = NULL;
  shoal_sink *sink = shoal_alloc_zero(1, sizeof *sink);
  if (!sink) return shoal_fail_memory(error);
  sink->fd = fd;
  sink->name = name;
  bool gzip = shoal_ends_with(name, ".gz"), zstd = shoal_ends_with(name, ".zst");
  bool ok = true;
  if (gzip || zstd) ok = (sink->output = shoal_alloc(OUTPUT_BYTES, 1)) != NULL;
  if (ok && gzip)
    ok = sink->gzip_ready = deflateInit2(&sink->gzip, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 8,
                                         Z_DEFAULT_STRATEGY) == Z_OK;
  if (ok && zstd) {
    sink->zstd = ZSTD_createCStream();
    ok = sink->zstd && !ZSTD_isError(ZSTD_initCStream(sink->zstd, ZSTD_LEVEL));
  }
  off_t at = gzip || zstd ? -1 : lseek(fd, 0, SEEK_CUR);
  sink->placed = at >= 0;
  sink->position = sink->placed ? (uint64_t)at : 0;
  if (!ok) {
    shoal_sink_free(sink);
    return shoal_fail_memory(error);
  }
  *out = sink;
  return SHOAL_OK;
}

static shoal_status fail_writing(const char *name, int code, shoal_error *error) {
  shoal_location location = {.file = name};
  return shoal_fail_at(error, SHOAL_FAILED, &location, "cannot be written: %s", strerror(code));
}

shoal_status shoal_write_all(int fd, const char *name, const char *bytes, size_t size_bytes,
                             shoal_error *error) {
  while (size_bytes) {
    ssize_t n = write(fd, bytes, size_bytes);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return fail_writing(name, n ? errno : EIO, error);
    bytes += n;
    size_bytes -= (size_t)n;
  }
  return SHOAL_OK;
}

bool shoal_sink_reserve(shoal_sink *sink, size_t size_bytes, uint64_t *offset) {
  *offset = sink->position;
  if (sink->placed) sink->position += size_bytes;
  return sink->placed;
}

shoal_status shoal_write_all_at(int fd, const char *name, uint64_t offset, const char *bytes,
                                size_t size_bytes, shoal_error *error) {
  while (size_bytes) {
    ssize_t n = pwrite(fd, bytes, size_bytes, (off_t)offset);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return fail_writing(name, n ? errno : EIO, error);
    bytes += n;
    size_bytes -= (size_t)n;
    offset += (uint64_t)n;
  }
  return SHOAL_OK;
}

shoal_status shoal_sink_write_at(const shoal_sink *sink, uint64_t offset, const char *bytes,
                                 size_t size_bytes, shoal_error *error) {
  return shoal_write_all_at(sink->fd, sink->name, offset, bytes, size_bytes, error);
}

static shoal_status write_all(const shoal_sink *sink, const char *bytes, size_t size,
                              shoal_error *error) {
  return shoal_write_all(sink->fd, sink->name, bytes, size, error);
}

static shoal_status write_gzip(shoal_sink *sink, const char *bytes, size_t size, bool last,
                               shoal_error *error) {
  z_stream *gzip = &sink->gzip;
  do { /* zlib counts 32 bits */
    size_t piece = size < (1u << 30) ? size : (1u << 30);
    gzip->next_in = (Bytef *)(uintptr_t)bytes;
    gzip->avail_in = (uInt)piece;
    do {
      gzip->next_out = (Bytef *)sink->output;
      gzip->avail_out = OUTPUT_BYTES;
      (void)deflate(gzip, last ? Z_FINISH : Z_NO_FLUSH);
      SHOAL_TRY(write_all(sink, sink->output, OUTPUT_BYTES - gzip->avail_out, error));
    } while (gzip->avail_out == 0); /* what it holds back at the end is less than that */
    bytes += piece;
    size -= piece;
  } while (size); /* GCOVR_EXCL_BR_LINE: more than a gigabyte at once */
  return SHOAL_OK;
}

static shoal_status write_zstd(shoal_sink *sink, const char *bytes, size_t size, bool last,
                               shoal_error *error) {
  ZSTD_inBuffer in = {.src = bytes, .size = size, .pos = 0};
  size_t left;
  do {
    ZSTD_outBuffer out = {.dst = sink->output, .size = OUTPUT_BYTES, .pos = 0};
    left = ZSTD_compressStream2(sink->zstd, &out, &in, last ? ZSTD_e_end : ZSTD_e_continue);
    if (ZSTD_isError(left)) return shoal_fail_memory(error);
    SHOAL_TRY(write_all(sink, sink->output, out.pos, error));
  } while (in.pos < in.size || (last && left));
  return SHOAL_OK;
}

shoal_status shoal_sink_write(shoal_sink *sink, const char *bytes, size_t size_bytes,
                              shoal_error *error) {
  if (!size_bytes) return SHOAL_OK;
  if (sink->gzip_ready) return write_gzip(sink, bytes, size_bytes, false, error);
  if (sink->zstd) return write_zstd(sink, bytes, size_bytes, false, error);
  uint64_t offset;
  if (shoal_sink_reserve(sink, size_bytes, &offset))
    return shoal_sink_write_at(sink, offset, bytes, size_bytes, error);
  return write_all(sink, bytes, size_bytes, error);
}

shoal_status shoal_sink_finish(shoal_sink *sink, shoal_error *error) {
  if (sink->gzip_ready) return write_gzip(sink, "", 0, true, error);
  if (sink->zstd) return write_zstd(sink, "", 0, true, error);
  return SHOAL_OK;
}

void shoal_sink_free(shoal_sink *sink) {
  if (!sink) return;
  if (sink->gzip_ready) (void)deflateEnd(&sink->gzip);
  if (sink->zstd) (void)ZSTD_freeCStream(sink->zstd);
  free(sink->output);
  free(sink);
}
