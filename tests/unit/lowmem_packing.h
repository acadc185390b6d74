/* SPDX-License-Identifier: Apache-2.0 */
/*
 * zlib and zstd that fail, or do less at a time, where a test wants them to: their functions stand
 * in the test program, in place of the libraries', and go on to these.
 */
#ifndef SHOAL_TESTS_LOWMEM_PACKING_H
#define SHOAL_TESTS_LOWMEM_PACKING_H

#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <zlib.h>
#include <zstd.h>

static enum packing_fault {
  PACKING_SOUND,
  PACKING_NO_INIT,  /* nothing can be made ready */
  PACKING_NO_RESET, /* nor started */
  PACKING_NO_WORK,  /* it starts, and then lacks memory */
  PACKING_LATE_END, /* the end of a stream is only told when it is asked for again */
  PACKING_BY_BYTES  /* what is left at the end comes byte by byte */
} packing_fault;

#define REAL(name) ((__typeof__(&name))(uintptr_t)dlsym(RTLD_NEXT, #name))

/* ---------------------------------------------------------------- zlib */

static bool initializing; /* by zlib itself, which resets a stream, too */

int inflateInit2_(z_streamp stream, int bits, const char *version, int size) {
  if (packing_fault == PACKING_NO_INIT) return Z_MEM_ERROR;
  initializing = true;
  int result = REAL(inflateInit2_)(stream, bits, version, size);
  initializing = false;
  return result;
}

int inflateReset(z_streamp stream) {
  if (packing_fault == PACKING_NO_RESET && !initializing) return Z_STREAM_ERROR;
  return REAL(inflateReset)(stream);
}

int inflate(z_streamp stream, int flush) {
  static bool ended;
  if (packing_fault == PACKING_NO_WORK) return Z_MEM_ERROR;
  int result = ended ? Z_STREAM_END : REAL(inflate)(stream, flush);
  ended = result == Z_STREAM_END && packing_fault == PACKING_LATE_END && !ended;
  return ended ? Z_OK : result;
}

int deflateInit2_(z_streamp stream, int level, int method, int bits, int memory, int strategy,
                  const char *version, int size) {
  if (packing_fault == PACKING_NO_INIT) return Z_MEM_ERROR;
  return REAL(deflateInit2_)(stream, level, method, bits, memory, strategy, version, size);
}

/* ---------------------------------------------------------------- zstd */

ZSTD_DStream *ZSTD_createDStream(void) {
  return packing_fault == PACKING_NO_INIT ? NULL : REAL(ZSTD_createDStream)();
}

ZSTD_CStream *ZSTD_createCStream(void) {
  return packing_fault == PACKING_NO_INIT ? NULL : REAL(ZSTD_createCStream)();
}

size_t ZSTD_initCStream(ZSTD_CStream *stream, int level) {
  return packing_fault == PACKING_NO_RESET ? (size_t)-64 : REAL(ZSTD_initCStream)(stream, level);
}

size_t ZSTD_compressStream2(ZSTD_CStream *stream, ZSTD_outBuffer *out, ZSTD_inBuffer *in,
                            ZSTD_EndDirective end) {
  if (packing_fault == PACKING_NO_WORK) return (size_t)-64; /* memory_allocation */
  size_t size = out->size;
  if (packing_fault == PACKING_BY_BYTES && end == ZSTD_e_end) out->size = out->pos + 1;
  size_t left = REAL(ZSTD_compressStream2)(stream, out, in, end);
  out->size = size;
  return left;
}

#endif
