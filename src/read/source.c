/* SPDX-License-Identifier: Apache-2.0 */
/* read/source: see source.h. Plain files by read(2); .gz by zlib, .zst by libzstd, as streams. */
#include "read/source.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "base/memory.h"
#include "base/text.h"
#include "read/ahead.h"

enum { INPUT_BYTES = 256 * 1024, WAIT_MILLISECONDS = 100 };

typedef enum coding { CODING_PLAIN, CODING_GZIP, CODING_ZSTD } coding;

struct shoal_source {
  char *name;
  int fd;
  bool may_block; /* no regular file */
  bool again;     /* it can be opened a second time */
  shoal_stamp stamp;
  shoal_wait_fn wait;
  void *wait_user;
  coding coding;
  bool detected; /* `coding` is known */
  _Atomic uint64_t position;
  uint64_t size_bytes;
  char *input; /* bytes read from the file and not yet used: [used, filled) */
  size_t used, filled;
  size_t most_filled; /* so far: what is wiped at the end */
  bool ended;         /* the file has no more bytes */
  bool inside_member; /* a compressed member has begun and not ended */
  z_stream gzip;
  bool gzip_ready;
  ZSTD_DStream *zstd;
  _Atomic(shoal_ahead *) ahead; /* who decompresses; NULL: who reads */
};

static const char *display_name(const char *path) {
  return strcmp(path, "-") == 0 ? "standard input" : path;
}

static shoal_status fail_system(const char *name, const char *what, int code, shoal_error *error) {
  bool machine = code != ENOENT && code != ENOTDIR && code != EISDIR && code != ENAMETOOLONG;
  shoal_place place = {.file = name};
  return shoal_fail_at(error, machine ? SHOAL_FAILED : SHOAL_BAD_INPUT, &place, "%s: %s%s", what,
                       strerror(code), machine ? "" : ": check the name");
}

static bool must_stop(const shoal_source *source) {
  if (source->ahead) return shoal_ahead_stopping(source->ahead);
  return source->wait && source->wait(source->wait_user);
}

/* Waits for bytes, asking now and then whether to go on. */
static shoal_status await(shoal_source *source, shoal_error *error) {
  struct pollfd ready = {.fd = source->fd, .events = POLLIN};
  bool ask = source->wait || source->ahead;
  while (source->may_block && ask && poll(&ready, 1, WAIT_MILLISECONDS) <= 0)
    if (must_stop(source))
      return shoal_fail(error, SHOAL_CANCELLED, "stopped while waiting for input");
  return SHOAL_OK;
}

/* Reads what there is, at least one byte; 0 bytes and `ended` at the end of the file. */
static shoal_status read_some(shoal_source *source, char *bytes, size_t capacity, size_t *got,
                              shoal_error *error) {
  *got = 0;
  while (!source->ended) {
    SHOAL_TRY(await(source, error));
    ssize_t n = read(source->fd, bytes, capacity);
    if (n > 0) {
      *got = (size_t)n;
      source->position += (uint64_t)n;
      return SHOAL_OK;
    }
    if (n == 0) source->ended = true;
    else if (errno != EINTR) return fail_system(source->name, "cannot be read", errno, error);
  }
  return SHOAL_OK;
}

/* Fills the input buffer; it stays empty at the end of the file. */
static shoal_status fill(shoal_source *source, shoal_error *error) {
  source->used = 0;
  SHOAL_TRY(read_some(source, source->input, INPUT_BYTES, &source->filled, error));
  if (source->filled > source->most_filled) source->most_filled = source->filled;
  return SHOAL_OK;
}

static bool starts_with(const shoal_source *source, const void *magic, size_t size) {
  return source->filled >= size && memcmp(source->input, magic, size) == 0;
}

enum { MAGIC_BYTES = 4 };

/* Finds out by the first bytes what the file is. A pipe may give them one by one. */
static shoal_status detect(shoal_source *source, shoal_error *error) {
  while (source->filled < MAGIC_BYTES && !source->ended) {
    size_t got;
    SHOAL_TRY(read_some(source, source->input + source->filled, INPUT_BYTES - source->filled, &got,
                        error));
    source->filled += got;
    source->most_filled = source->filled;
  }
  source->detected = true;
  if (starts_with(source, "\x1f\x8b", 2)) source->coding = CODING_GZIP;
  if (starts_with(source, "\x28\xb5\x2f\xfd", 4)) source->coding = CODING_ZSTD;
  shoal_place place = {.file = source->name};
  if (source->filled && source->coding != CODING_GZIP && shoal_ends_with(source->name, ".gz"))
    return shoal_fail_at(error, SHOAL_BAD_INPUT, &place,
                         "is named .gz but is not gzip: rename it or compress it");
  if (source->filled && source->coding != CODING_ZSTD && shoal_ends_with(source->name, ".zst"))
    return shoal_fail_at(error, SHOAL_BAD_INPUT, &place,
                         "is named .zst but is not zstd: rename it or compress it");
  if (source->coding == CODING_GZIP) {
    if (inflateInit2(&source->gzip, 15 + 16) != Z_OK) return shoal_fail_memory(error);
    source->gzip_ready = true;
  }
  if (source->coding == CODING_ZSTD && !(source->zstd = ZSTD_createDStream()))
    return shoal_fail_memory(error);
  return SHOAL_OK;
}

static shoal_stamp stamp_of(const struct stat *info) {
  return (shoal_stamp){.device = (uint64_t)info->st_dev,
                       .inode = (uint64_t)info->st_ino,
                       .size_bytes = (uint64_t)info->st_size,
                       .seconds = (int64_t)info->st_mtim.tv_sec,
                       .nanoseconds = (int64_t)info->st_mtim.tv_nsec};
}

bool shoal_stamp_equal(const shoal_stamp *a, const shoal_stamp *b) {
  return a->device == b->device && a->inode == b->inode && a->size_bytes == b->size_bytes &&
         a->seconds == b->seconds && a->nanoseconds == b->nanoseconds;
}

bool shoal_source_stamp(const shoal_source *source, shoal_stamp *stamp) {
  *stamp = source->stamp;
  return source->again;
}

bool shoal_source_touched(const shoal_source *source) {
  struct stat info;
  if (source->may_block) return false; /* no regular file: it is what comes */
  if (fstat(source->fd, &info) != 0) return true;
  shoal_stamp now = stamp_of(&info);
  return !shoal_stamp_equal(&now, &source->stamp);
}

static shoal_status open_file(const char *path, shoal_source *source, shoal_error *error) {
  shoal_place place = {.file = source->name};
  source->fd = strcmp(path, "-") == 0 ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC);
  if (source->fd < 0) return fail_system(source->name, "cannot be opened", errno, error);
  struct stat info;
  if (fstat(source->fd, &info)) return fail_system(source->name, "cannot be read", errno, error);
  if (S_ISDIR(info.st_mode))
    return shoal_fail_at(error, SHOAL_BAD_INPUT, &place, "is a directory: name a file in it");
  source->may_block = !S_ISREG(info.st_mode);
  source->again = !source->may_block && strcmp(path, "-") != 0;
  source->stamp = stamp_of(&info);
  if (!source->may_block) source->size_bytes = (uint64_t)info.st_size;
  return SHOAL_OK;
}

shoal_status shoal_source_open(const char *path, shoal_source **out, shoal_error *error) {
  *out = NULL;
  shoal_source *source = shoal_alloc_zero(1, sizeof *source);
  if (!source) return shoal_fail_memory(error);
  source->fd = -1;
  source->name = strdup(display_name(path));
  source->input = shoal_alloc(INPUT_BYTES, 1);
  shoal_status status =
      source->name && source->input ? open_file(path, source, error) : shoal_fail_memory(error);
  if (status != SHOAL_OK) {
    shoal_source_close(source);
    return status;
  }
  *out = source;
  return SHOAL_OK;
}

static shoal_status fail_coding(const shoal_source *source, const char *what, shoal_error *error) {
  shoal_place place = {.file = source->name};
  return shoal_fail_at(error, SHOAL_BAD_INPUT, &place, "%s: fetch or compress the file again",
                       what);
}

/* Large reads of plain files go straight to the caller's memory. */
static shoal_status read_plain(shoal_source *source, char *bytes, size_t capacity, size_t *got,
                               shoal_error *error) {
  size_t ready = source->filled - source->used;
  if (ready) {
    *got = ready < capacity ? ready : capacity;
    memcpy(bytes, source->input + source->used, *got);
    source->used += *got;
    return SHOAL_OK;
  }
  return read_some(source, bytes, capacity, got, error);
}

static shoal_status read_gzip(shoal_source *source, char *bytes, size_t capacity, size_t *got,
                              shoal_error *error) {
  z_stream *gzip = &source->gzip;
  uInt room = capacity > UINT32_MAX ? UINT32_MAX : (uInt)capacity;
  gzip->next_out = (Bytef *)bytes;
  gzip->avail_out = room;
  while (gzip->avail_out == room) {
    if (source->used == source->filled) SHOAL_TRY(fill(source, error));
    if (source->used == source->filled) {
      if (source->inside_member) return fail_coding(source, "the gzip data ends too early", error);
      break;
    }
    source->inside_member = true;
    gzip->next_in = (Bytef *)source->input + source->used;
    gzip->avail_in = (uInt)(source->filled - source->used);
    int code = inflate(gzip, Z_NO_FLUSH);
    source->used = source->filled - gzip->avail_in;
    if (code == Z_STREAM_END) { /* another member may follow */
      source->inside_member = false;
      if (inflateReset(gzip) != Z_OK) return fail_coding(source, "the gzip data is broken", error);
    } else if (code == Z_MEM_ERROR) {
      return shoal_fail_memory(error);
    } else if (code != Z_OK && code != Z_BUF_ERROR) {
      return fail_coding(source, "the gzip data is broken", error);
    }
  }
  *got = room - gzip->avail_out;
  return SHOAL_OK;
}

static shoal_status read_zstd(shoal_source *source, char *bytes, size_t capacity, size_t *got,
                              shoal_error *error) {
  ZSTD_outBuffer out = {.dst = bytes, .size = capacity, .pos = 0};
  while (out.pos == 0) {
    if (source->used == source->filled) SHOAL_TRY(fill(source, error));
    if (source->used == source->filled && !source->inside_member) break;
    ZSTD_inBuffer in = {.src = source->input, .size = source->filled, .pos = source->used};
    size_t code = ZSTD_decompressStream(source->zstd, &out, &in);
    if (ZSTD_isError(code)) return fail_coding(source, "the zstd data is broken", error);
    bool stuck = source->ended && in.pos == source->used && out.pos == 0;
    source->used = in.pos;
    source->inside_member = code != 0;
    if (stuck && code != 0) return fail_coding(source, "the zstd data ends too early", error);
  }
  *got = out.pos;
  return SHOAL_OK;
}

static shoal_status decode(void *user, char *bytes, size_t capacity, size_t *size_bytes,
                           shoal_error *error) {
  shoal_source *source = user;
  switch (source->coding) {
  case CODING_GZIP: return read_gzip(source, bytes, capacity, size_bytes, error);
  case CODING_ZSTD: return read_zstd(source, bytes, capacity, size_bytes, error);
  default: return read_plain(source, bytes, capacity, size_bytes, error);
  }
}

shoal_status shoal_source_read(shoal_source *source, char *bytes, size_t capacity,
                               size_t *size_bytes, shoal_error *error) {
  *size_bytes = 0;
  if (!capacity) return SHOAL_OK;
  if (!source->detected) SHOAL_TRY(detect(source, error));
  if (!source->ahead) return decode(source, bytes, capacity, size_bytes, error);
  return shoal_ahead_take(source->ahead, bytes, capacity, size_bytes, source->wait,
                          source->wait_user, error);
}

shoal_status shoal_source_read_ahead(shoal_source *source, shoal_error *error) {
  if (!source->detected) SHOAL_TRY(detect(source, error));
  if (source->coding != CODING_PLAIN && !source->ahead)
    source->ahead = shoal_ahead_start(decode, source);
  return SHOAL_OK;
}

void shoal_source_set_wait(shoal_source *source, shoal_wait_fn wait, void *user) {
  source->wait = wait;
  source->wait_user = user;
}

uint64_t shoal_source_position(const shoal_source *source) { return source->position; }

uint64_t shoal_source_size(const shoal_source *source) { return source->size_bytes; }

void shoal_source_close(shoal_source *source) {
  if (!source) return;
  shoal_ahead_stop(source->ahead);
  if (source->fd >= 0) (void)close(source->fd);
  if (source->gzip_ready) (void)inflateEnd(&source->gzip);
  if (source->zstd) (void)ZSTD_freeDStream(source->zstd);
  shoal_wipe_free(source->input, source->most_filled);
  free(source->name);
  free(source);
}

static shoal_status slurp(shoal_source *source, size_t limit, char **bytes, size_t *size_bytes,
                          shoal_error *error) {
  enum { SLACK = 64 };
  size_t capacity = 0, got = 0;
  for (;;) {
    if (!shoal_grow(bytes, &capacity, *size_bytes + INPUT_BYTES + SLACK, 1))
      return shoal_fail_memory(error);
    SHOAL_TRY(shoal_source_read(source, *bytes + *size_bytes, INPUT_BYTES, &got, error));
    *size_bytes += got;
    if (!got) break;
    shoal_place place = {.file = source->name};
    if (*size_bytes > limit)
      return shoal_fail_at(error, SHOAL_BAD_INPUT, &place, "is larger than %zu MiB",
                           limit / (1024 * 1024));
  }
  memset(*bytes + *size_bytes, 0, SLACK);
  return SHOAL_OK;
}

shoal_status shoal_source_slurp(const char *path, size_t limit, char **bytes, size_t *size_bytes,
                                shoal_error *error) {
  *bytes = NULL;
  *size_bytes = 0;
  shoal_source *source;
  SHOAL_TRY(shoal_source_open(path, &source, error));
  shoal_status status = slurp(source, limit, bytes, size_bytes, error);
  shoal_source_close(source);
  if (status != SHOAL_OK) {
    free(*bytes);
    *bytes = NULL;
  }
  return status;
}
