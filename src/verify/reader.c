/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verify/reader: RFC 4180, the first step of verification: file -> bytes -> rows of cells.
 *
 *   buffer  | rows already read | rows not read yet | zeros |
 *                               start               end      16 bytes
 *
 * A row is scanned in place. If the window ends inside a row, the row moves to the front of the
 * buffer, which is filled again (and doubled for a row larger than it), and the row is scanned
 * again. That happens once for each window, so the cost stays linear. Unquoted text is searched
 * eight bytes at a time for a byte that can end it. The zero after the window stops every scan; a
 * zero in the file is an error. Doubled quotes are replaced after the whole row was scanned.
 */
#include "verify/reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "base/memory.h"

enum {
  WINDOW_BYTES = 1 << 20,
  PACKED_BYTES = 1 << 18,
  REPORT_BYTES = 1 << 22,      /* content between two progress reports */
  MAX_AT_ONCE_BYTES = 1 << 30, /* fits the integers of pread and zlib */
  PADDING_BYTES = 16           /* zeros after the window, for scans by eight bytes */
};

typedef enum packing { PACKING_NONE, PACKING_GZIP, PACKING_ZSTD } packing;

struct shoal_verify_reader {
  const char *name; /* for messages */
  const shoal_run *run;
  char delimiter;
  uint64_t next_row;

  int fd;
  uint64_t offset; /* bytes read from the file */
  uint64_t begin;  /* where the rows start */
  uint64_t limit;  /* where they end, unless the file ends before */
  uint64_t file_size;
  uint64_t unreported; /* bytes of content since the last report */

  packing packing;
  unsigned char *packed; /* compressed bytes: packed_at .. packed_end are not unpacked yet */
  size_t packed_at;
  size_t packed_end;
  bool packed_eof;
  bool inside_frame; /* of a gzip member or a zstd frame: more must follow */
  z_stream gzip;
  bool gzip_open;
  ZSTD_DStream *zstd;

  char *buffer; /* the window; see above */
  size_t capacity;
  size_t start;
  size_t end;
  uint64_t passed; /* bytes of content before the window */
  bool eof;
};

/* ---------------------------------------------------------------- bytes of the file */

static shoal_status fail_reading(const shoal_verify_reader *reader, shoal_error *error) {
  return shoal_fail(error, SHOAL_FAILED,
                    "%s cannot be read back: %s; nothing was written. Check the disk, then retry",
                    reader->name, strerror(errno));
}

/* Reads bytes at reader->offset; *got is 0 only at the end. */
static shoal_status read_file(shoal_verify_reader *reader, void *out, size_t room, size_t *got,
                              shoal_error *error) {
  if (room > MAX_AT_ONCE_BYTES) room = MAX_AT_ONCE_BYTES; /* GCOVR_EXCL_BR_LINE */
  if (room > reader->limit - reader->offset) room = (size_t)(reader->limit - reader->offset);
  ssize_t n;
  do {
    n = pread(reader->fd, out, room, (off_t)reader->offset);
  } while (n < 0 && errno == EINTR);
  if (n < 0) return fail_reading(reader, error);
  *got = (size_t)n;
  reader->offset += *got;
  return SHOAL_OK;
}

static shoal_status fail_unpacking(const shoal_verify_reader *reader, const char *reason,
                                   shoal_error *error) {
  return shoal_fail(error, SHOAL_FAILED,
                    "%s cannot be decompressed again: %s; nothing was written. Check the disk, "
                    "then retry",
                    reader->name, reason);
}

static shoal_status inflate_some(shoal_verify_reader *reader, void *out, size_t room, size_t *got,
                                 shoal_error *error) {
  z_stream *gzip = &reader->gzip;
  if (!reader->inside_frame && inflateReset(gzip) != Z_OK)
    return fail_unpacking(reader, "zlib reset failed", error);
  reader->inside_frame = true;
  if (room > MAX_AT_ONCE_BYTES) room = MAX_AT_ONCE_BYTES; /* GCOVR_EXCL_BR_LINE */
  gzip->next_in = reader->packed + reader->packed_at;
  gzip->avail_in = (uInt)(reader->packed_end - reader->packed_at);
  gzip->next_out = out;
  gzip->avail_out = (uInt)room;
  int result = inflate(gzip, Z_NO_FLUSH);
  reader->packed_at = reader->packed_end - gzip->avail_in;
  *got = room - gzip->avail_out;
  if (result == Z_MEM_ERROR) return shoal_fail_memory(error);
  if (result == Z_STREAM_END) reader->inside_frame = false;
  else if (result != Z_OK && result != Z_BUF_ERROR)
    return fail_unpacking(reader, "invalid gzip data", error);
  return SHOAL_OK;
}

static shoal_status unzstd_some(shoal_verify_reader *reader, void *out, size_t room, size_t *got,
                                shoal_error *error) {
  ZSTD_inBuffer in = {reader->packed, reader->packed_end, reader->packed_at};
  ZSTD_outBuffer into = {out, room, 0};
  size_t left = ZSTD_decompressStream(reader->zstd, &into, &in);
  if (ZSTD_isError(left)) return fail_unpacking(reader, ZSTD_getErrorName(left), error);
  reader->packed_at = in.pos;
  reader->inside_frame = left != 0;
  *got = into.pos;
  return SHOAL_OK;
}

/* Decompresses bytes; *got is 0 only at the end of a complete file. */
static shoal_status unpack(shoal_verify_reader *reader, void *out, size_t room, size_t *got,
                           shoal_error *error) {
  for (;;) {
    if (reader->packed_at == reader->packed_end && !reader->packed_eof) {
      size_t n = 0;
      SHOAL_TRY(read_file(reader, reader->packed, PACKED_BYTES, &n, error));
      reader->packed_at = 0;
      reader->packed_end = n;
      reader->packed_eof = n == 0;
    }
    bool drained = reader->packed_at == reader->packed_end;
    *got = 0;
    if (drained && !reader->inside_frame) return SHOAL_OK;
    /* Also if drained: the decompressor may hold output that did not fit before. */
    SHOAL_TRY(reader->packing == PACKING_GZIP ? inflate_some(reader, out, room, got, error)
                                              : unzstd_some(reader, out, room, got, error));
    if (*got) return SHOAL_OK;
    if (drained && reader->inside_frame)
      return fail_unpacking(reader, "unexpected end of file", error);
  }
}

/* Moves the current row to the front and fills the window, in a larger buffer if necessary. */
static shoal_status fill_window(shoal_verify_reader *reader, shoal_error *error) {
  size_t kept = reader->end - reader->start;
  reader->passed += reader->start;
  if (reader->start) {
    memmove(reader->buffer, reader->buffer + reader->start, kept);
  } else if (kept == reader->capacity) {
    if (reader->capacity > PTRDIFF_MAX / 4) /* GCOVR_EXCL_BR_LINE: a row of 2^61 bytes */
      return shoal_fail_memory(error);
    char *larger = shoal_resize(reader->buffer, reader->capacity * 2 + PADDING_BYTES, 1);
    if (!larger) return shoal_fail_memory(error);
    reader->buffer = larger;
    reader->capacity *= 2;
  }
  reader->start = 0;
  reader->end = kept;
  while (reader->end < reader->capacity && !reader->eof) {
    size_t got, room = reader->capacity - reader->end;
    char *into = reader->buffer + reader->end;
    SHOAL_TRY(reader->packing == PACKING_NONE ? read_file(reader, into, room, &got, error)
                                              : unpack(reader, into, room, &got, error));
    reader->eof = got == 0;
    reader->end += got;
  }
  memset(reader->buffer + reader->end, 0, PADDING_BYTES);
  reader->unreported += reader->end - kept;
  if (reader->unreported < REPORT_BYTES && !reader->eof) return SHOAL_OK;
  reader->unreported = 0;
  uint64_t done = reader->offset - reader->begin, all = reader->file_size;
  if (reader->limit < UINT64_MAX &&
      reader->limit > reader->begin) /* all parts are assumed to progress equally */
    done = (uint64_t)((double)done * (double)all / (double)(reader->limit - reader->begin));
  return shoal_run_report(reader->run, "verify", done, all, "bytes", error);
}

/* ---------------------------------------------------------------- rows */

/* What ended the scan of a cell. */
typedef enum scan {
  SCAN_CELL, /* a delimiter: the row continues */
  SCAN_ROW,  /* the end of the row, or of the file */
  SCAN_MORE, /* the window ended, and the file continues */
  SCAN_NUL,  /* from here on: errors */
  SCAN_UNCLOSED,
  SCAN_STRAY_QUOTE,
  SCAN_STRAY_RETURN,
  SCAN_FEW_CELLS,
  SCAN_MANY_CELLS
} scan;

static const char *describe_error(scan error) {
  switch (error) {
  case SCAN_NUL: return "a cell has a NUL byte";
  case SCAN_UNCLOSED: return "a quoted cell is not closed";
  case SCAN_STRAY_QUOTE: return "a quote inside an unquoted cell, or text after a closing quote";
  case SCAN_STRAY_RETURN: return "a carriage return outside quotes";
  case SCAN_FEW_CELLS: return "fewer cells than columns";
  default: return "more cells than columns";
  }
}

#define EACH_BYTE(byte) (UINT64_C(0x0101010101010101) * (uint64_t)(byte))

static inline uint64_t load_eight(const char *at) {
  uint64_t word;
  memcpy(&word, at, sizeof word);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  word = __builtin_bswap64(word);
#endif
  return word;
}

/*
 * Sets the high bit of each byte below `limit` (at most 128). Exact for the first such byte only: a
 * borrow can change the bytes after it.
 */
static inline uint64_t bytes_below(uint64_t word, unsigned limit) {
  return (word - EACH_BYTE(limit)) & ~word & EACH_BYTE(0x80);
}

static inline size_t first_marked(uint64_t marks) { return (size_t)__builtin_ctzll(marks) / 8; }

/* The next delimiter, quote or byte up to carriage return, which includes the NUL after the window.
 */
static inline char *find_plain_stop(char *at, uint64_t delimiters) {
  for (;; at += 8) {
    uint64_t word = load_eight(at);
    uint64_t marks = bytes_below(word, '\r' + 1) | bytes_below(word ^ delimiters, 1) |
                     bytes_below(word ^ EACH_BYTE('"'), 1);
    if (marks) return at + first_marked(marks);
  }
}

/* The next quote or NUL. */
static inline char *find_quote_stop(char *at) {
  for (;; at += 8) {
    uint64_t word = load_eight(at);
    uint64_t marks = bytes_below(word, 1) | bytes_below(word ^ EACH_BYTE('"'), 1);
    if (marks) return at + first_marked(marks);
  }
}

/* Classifies the byte after a cell; *next is where the scan continues. */
static inline scan end_cell(const shoal_verify_reader *reader, char *at, char **next) {
  const char *end = reader->buffer + reader->end;
  *next = at + 1;
  if (*at == reader->delimiter) return SCAN_CELL;
  if (*at == '\n') return SCAN_ROW;
  if (at == end) {
    *next = at;
    return reader->eof ? SCAN_ROW : SCAN_MORE;
  }
  if (*at == '\0') return SCAN_NUL;
  if (*at != '\r') return SCAN_STRAY_QUOTE;
  if (at + 1 == end) return reader->eof ? SCAN_STRAY_RETURN : SCAN_MORE;
  *next = at + 2;
  return at[1] == '\n' ? SCAN_ROW : SCAN_STRAY_RETURN;
}

static inline scan scan_plain(const shoal_verify_reader *reader, char *at, char **next,
                              shoal_verify_cell *cell) {
  uint64_t delimiters = EACH_BYTE((unsigned char)reader->delimiter);
  char *stop = find_plain_stop(at, delimiters);
  /* Tabs and other control characters are text. */
  while (*stop != reader->delimiter && *stop > '\0' && *stop < '\r' && *stop != '\n')
    stop = find_plain_stop(stop + 1, delimiters);
  *cell = (shoal_verify_cell){.bytes = at, .size_bytes = (size_t)(stop - at), .doubled = false};
  return end_cell(reader, stop, next);
}

/* `at` is after the opening quote. */
static scan scan_quoted(const shoal_verify_reader *reader, char *at, char **next,
                        shoal_verify_cell *cell) {
  const char *end = reader->buffer + reader->end;
  *cell = (shoal_verify_cell){.bytes = at, .size_bytes = 0, .doubled = false};
  for (;;) {
    at = find_quote_stop(at);
    if (at == end) return reader->eof ? SCAN_UNCLOSED : SCAN_MORE;
    if (*at == '\0') return SCAN_NUL;
    if (at[1] != '"') break; /* at the end of the window: the zero after it */
    cell->doubled = true;
    at += 2;
  }
  cell->size_bytes = (size_t)(at - cell->bytes);
  return end_cell(reader, at + 1, next);
}

static scan scan_row(shoal_verify_reader *reader, shoal_verify_cell *cells, size_t n_cells) {
  char *at = reader->buffer + reader->start;
  for (size_t i = 0; i < n_cells; i++) {
    scan result = *at == '"' ? scan_quoted(reader, at + 1, &at, &cells[i])
                             : scan_plain(reader, at, &at, &cells[i]);
    if (result == SCAN_CELL) continue;
    if (result != SCAN_ROW) return result;
    if (i + 1 < n_cells) return SCAN_FEW_CELLS;
    reader->start = (size_t)(at - reader->buffer);
    return SCAN_ROW;
  }
  return SCAN_MANY_CELLS;
}

static void undouble_quotes(shoal_verify_cell *cell) {
  size_t kept = 0;
  for (size_t i = 0; i < cell->size_bytes; i++) {
    cell->bytes[kept++] = cell->bytes[i];
    if (cell->bytes[i] == '"') i++;
  }
  cell->size_bytes = kept;
}

shoal_status shoal_verify_reader_next(shoal_verify_reader *reader, shoal_verify_cell *cells,
                                      size_t n_cells, bool *found, shoal_error *error) {
  for (;;) {
    *found = reader->start < reader->end;
    if (!*found && reader->eof) return SHOAL_OK;
    scan result = *found ? scan_row(reader, cells, n_cells) : SCAN_MORE;
    if (result == SCAN_ROW) break;
    if (result != SCAN_MORE) {
      shoal_location location = {.file = reader->name, .row = reader->next_row};
      return shoal_fail_at(error, SHOAL_FAILED, &location, "%s%s; %s",
                           reader->next_row ? "" : "header: ", describe_error(result),
                           SHOAL_VERIFY_FAULT);
    }
    SHOAL_TRY(fill_window(reader, error));
  }
  for (size_t i = 0; i < n_cells; i++)
    if (cells[i].doubled) undouble_quotes(&cells[i]);
  reader->next_row++;
  return SHOAL_OK;
}

/* ---------------------------------------------------------------- for the line cache */

const char *shoal_verify_reader_window(const shoal_verify_reader *reader, size_t *size_bytes) {
  *size_bytes = reader->end - reader->start;
  return reader->buffer + reader->start;
}

void shoal_verify_reader_skip(shoal_verify_reader *reader, size_t size_bytes, uint64_t n_rows) {
  reader->start += size_bytes;
  reader->next_row += n_rows;
}

uint64_t shoal_verify_reader_position(const shoal_verify_reader *reader) {
  return reader->passed + reader->start;
}

/* ---------------------------------------------------------------- open and close */

static shoal_status allocate(shoal_verify_reader *reader, shoal_error *error) {
  struct stat about;
  if (fstat(reader->fd, &about)) return fail_reading(reader, error);
  reader->file_size = about.st_size > 0 ? (uint64_t)about.st_size : 0;
  reader->capacity = WINDOW_BYTES;
  reader->buffer = shoal_alloc(WINDOW_BYTES + PADDING_BYTES, 1);
  if (!reader->buffer) return shoal_fail_memory(error);
  /* Examines the first bytes and creates a decompressor if necessary. */
  static const unsigned char gzip_magic[] = {0x1f, 0x8b};
  static const unsigned char zstd_magic[] = {0x28, 0xb5, 0x2f, 0xfd};
  unsigned char first[4] = {0};
  size_t n = 0, got = 1;
  while (n < sizeof first && got) {
    SHOAL_TRY(read_file(reader, first + n, sizeof first - n, &got, error));
    n += got;
  }
  reader->offset = 0;
  if (n >= sizeof gzip_magic && !memcmp(first, gzip_magic, sizeof gzip_magic)) {
    reader->packing = PACKING_GZIP;
    reader->gzip_open = inflateInit2(&reader->gzip, MAX_WBITS + 16) == Z_OK; /* 16: gzip only */
    if (!reader->gzip_open) return shoal_fail_memory(error);
  } else if (n >= sizeof zstd_magic && !memcmp(first, zstd_magic, sizeof zstd_magic)) {
    reader->packing = PACKING_ZSTD;
    reader->zstd = ZSTD_createDStream();
    if (!reader->zstd) return shoal_fail_memory(error);
  }
  if (reader->packing == PACKING_NONE) return SHOAL_OK;
  reader->packed = shoal_alloc(PACKED_BYTES, 1);
  return reader->packed ? SHOAL_OK : shoal_fail_memory(error);
}

static shoal_status open_reader(const shoal_verify_reader *as, shoal_verify_reader **out,
                                shoal_error *error) {
  *out = NULL;
  if (as->delimiter == '\0' || as->delimiter == '"' || as->delimiter == '\r' ||
      as->delimiter == '\n')
    return shoal_fail(error, SHOAL_FAILED, "%s cannot be read back with this delimiter; %s",
                      as->name, SHOAL_VERIFY_FAULT);
  shoal_verify_reader *reader = shoal_alloc_zero(1, sizeof *reader);
  if (!reader) return shoal_fail_memory(error);
  *reader = *as;
  reader->limit = UINT64_MAX;
  shoal_status status = allocate(reader, error);
  if (status != SHOAL_OK) {
    shoal_verify_reader_close(reader);
    return status;
  }
  *out = reader;
  return SHOAL_OK;
}

shoal_status shoal_verify_reader_open(int fd, const char *name, char delimiter,
                                      const shoal_run *run, shoal_verify_reader **out,
                                      shoal_error *error) {
  shoal_verify_reader as = {.fd = fd, .name = name, .delimiter = delimiter, .run = run};
  return open_reader(&as, out, error);
}

shoal_status shoal_verify_reader_open_part(int fd, const char *name, char delimiter, uint64_t begin,
                                           uint64_t end, const shoal_run *run,
                                           shoal_verify_reader **out, shoal_error *error) {
  shoal_verify_reader as = {.fd = fd, .name = name, .delimiter = delimiter, .run = run};
  SHOAL_TRY(open_reader(&as, out, error));
  shoal_verify_reader *reader = *out;
  reader->packing = PACKING_NONE;
  reader->begin = reader->offset = begin;
  reader->limit = end;
  return SHOAL_OK;
}

void shoal_verify_reader_close(shoal_verify_reader *reader) {
  if (!reader) return;
  if (reader->gzip_open) (void)inflateEnd(&reader->gzip);
  (void)ZSTD_freeDStream(reader->zstd);
  free(reader->packed);
  free(reader->buffer);
  free(reader);
}
