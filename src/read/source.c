/* SPDX-License-Identifier: Apache-2.0 */
/*
 * read/source: plain files by read(2), .gz by zlib, .zst by libzstd, databases by their kind, as
 * streams. Compressed content may be decompressed, and databases read, by a thread of its own, a
 * few buffers ahead of the reader.
 */
#include "read/source.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "base/memory.h"
#include "base/text.h"
#include "read/encoding.h"
#include "read/magic.h"

/* ------------------------------------------------------------ reading ahead */

/*
 * A thread that makes bytes a few buffers ahead of the reader. It fills a ring of buffers in turn,
 * and the reader empties them.
 */
typedef struct ahead ahead;

/* Makes up to `capacity` bytes; *size_bytes 0: the end. Called by the thread only. */
typedef shoal_status (*make_fn)(void *user, char *bytes, size_t capacity, size_t *size_bytes,
                                shoal_error *error);

enum { N_BUFFERS = 4, BUFFER_BYTES = 512 * 1024, IDLE_NANOSECONDS = 100 * 1000 * 1000 };

struct ahead {
  make_fn make;
  void *user;
  pthread_t thread;
  pthread_mutex_t lock; /* guards what follows, but for the bytes of buffers in use */
  pthread_cond_t changed;
  char *bytes[N_BUFFERS];
  size_t size[N_BUFFERS];
  uint64_t n_made, n_taken; /* buffers so far; buffer i is bytes[i % N_BUFFERS] */
  size_t used;              /* bytes taken of the oldest */
  bool ended;               /* nothing more will be made */
  bool stopping;
  shoal_status status; /* why it ended */
  shoal_error error;
};

/* Waits for an empty buffer; NULL: the thread is to end. */
static char *next_buffer(ahead *a) {
  (void)pthread_mutex_lock(&a->lock);
  while (a->n_made - a->n_taken == N_BUFFERS && !a->stopping)
    (void)pthread_cond_wait(&a->changed, &a->lock);
  char *buffer = a->stopping ? NULL : a->bytes[a->n_made % N_BUFFERS];
  (void)pthread_mutex_unlock(&a->lock);
  return buffer;
}

static void hand_over(ahead *a, size_t size, bool ended, shoal_status status,
                      const shoal_error *error) {
  (void)pthread_mutex_lock(&a->lock);
  if (size) a->size[a->n_made++ % N_BUFFERS] = size;
  a->ended = ended;
  a->status = status;
  if (status != SHOAL_OK) a->error = *error;
  (void)pthread_cond_broadcast(&a->changed);
  (void)pthread_mutex_unlock(&a->lock);
}

/* Fills buffers until the end or a failure; what was made before a failure comes before it. */
static void *fill_buffers(void *argument) {
  ahead *a = argument;
  bool ended = false;
  char *buffer;
  while (!ended && (buffer = next_buffer(a))) {
    size_t size = 0, got = 1;
    shoal_error error;
    shoal_status status = SHOAL_OK;
    while (size < BUFFER_BYTES && got && status == SHOAL_OK) {
      got = 0;
      status = a->make(a->user, buffer + size, BUFFER_BYTES - size, &got, &error);
      if (status == SHOAL_OK) size += got;
    }
    ended = !got || status != SHOAL_OK;
    hand_over(a, size, ended, status, &error);
  }
  return NULL;
}

static void ahead_reset(ahead *a) {
  (void)pthread_cond_destroy(&a->changed);
  (void)pthread_mutex_destroy(&a->lock);
  for (unsigned i = 0; i < N_BUFFERS; i++) shoal_wipe_free(a->bytes[i], BUFFER_BYTES);
  free(a);
}

static ahead *ahead_start(make_fn make, void *user) {
  ahead *a = shoal_alloc_zero(1, sizeof *a);
  if (!a) return NULL;
  a->make = make;
  a->user = user;
  (void)pthread_mutex_init(&a->lock, NULL);
  (void)pthread_cond_init(&a->changed, NULL);
  bool ok = true;
  for (unsigned i = 0; ok && i < N_BUFFERS; i++)
    ok = (a->bytes[i] = shoal_alloc(BUFFER_BYTES, 1)) != NULL;
  if (ok && pthread_create(&a->thread, NULL, fill_buffers, a) == 0) return a;
  ahead_reset(a);
  return NULL;
}

/* Waits a little for something to take; the lock is held, but for the call of `idle`. */
static bool wait_or_stop(ahead *a, bool (*idle)(void *user), void *idle_user) {
  struct timespec until;
  (void)clock_gettime(CLOCK_REALTIME, &until);
  until.tv_nsec += IDLE_NANOSECONDS;
  until.tv_sec += until.tv_nsec / 1000000000;
  until.tv_nsec %= 1000000000;
  int late = pthread_cond_timedwait(&a->changed, &a->lock, &until);
  if (!late || !idle) return false;
  (void)pthread_mutex_unlock(&a->lock);
  bool stop = idle(idle_user);
  (void)pthread_mutex_lock(&a->lock);
  return stop;
}

/*
 * Takes up to `capacity` bytes; *size_bytes 0: the end, or the failure that ended it. While there
 * are none yet, `idle` (may be NULL) is called several times a second; if it returns true, taking
 * ends with SHOAL_CANCELLED.
 */
static shoal_status ahead_take(ahead *a, char *bytes, size_t capacity, size_t *size_bytes,
                               bool (*idle)(void *user), void *idle_user, shoal_error *error) {
  *size_bytes = 0;
  bool stop = false;
  (void)pthread_mutex_lock(&a->lock);
  while (a->n_made == a->n_taken && !a->ended && !stop) stop = wait_or_stop(a, idle, idle_user);
  bool ready = a->n_made > a->n_taken;
  const char *from = a->bytes[a->n_taken % N_BUFFERS];
  size_t left = ready ? a->size[a->n_taken % N_BUFFERS] - a->used : 0;
  shoal_status status = ready ? SHOAL_OK : a->status;
  if (status != SHOAL_OK && error) *error = a->error;
  (void)pthread_mutex_unlock(&a->lock);
  if (stop && !ready) return shoal_fail(error, SHOAL_CANCELLED, "stopped while waiting for input");
  if (!ready) return status;
  *size_bytes = left < capacity ? left : capacity;
  memcpy(bytes, from + a->used, *size_bytes); /* the thread does not touch full buffers */
  a->used += *size_bytes;
  if (*size_bytes < left) return SHOAL_OK;
  (void)pthread_mutex_lock(&a->lock);
  a->used = 0;
  a->n_taken++;
  (void)pthread_cond_broadcast(&a->changed);
  (void)pthread_mutex_unlock(&a->lock);
  return SHOAL_OK;
}

/* Must the thread end? For a maker that has to wait. */
static bool ahead_stopping(ahead *a) {
  (void)pthread_mutex_lock(&a->lock);
  bool stopping = a->stopping;
  (void)pthread_mutex_unlock(&a->lock);
  return stopping;
}

/* Ends the thread and frees all; accepts NULL. */
static void ahead_stop(ahead *a) {
  if (!a) return;
  (void)pthread_mutex_lock(&a->lock);
  a->stopping = true;
  (void)pthread_cond_broadcast(&a->changed);
  (void)pthread_mutex_unlock(&a->lock);
  (void)pthread_join(a->thread, NULL);
  ahead_reset(a);
}

/* ------------------------------------------------------------ files */

enum { INPUT_BYTES = 256 * 1024, WAIT_MILLISECONDS = 100 };

typedef enum coding { CODING_PLAIN, CODING_GZIP, CODING_ZSTD } coding;

struct shoal_source {
  char *name;
  int fd;
  bool may_block; /* not a regular file */
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
  size_t max_filled;  /* so far: what is wiped at the end */
  bool ended;         /* the file has no more bytes */
  bool inside_member; /* a compressed member has begun and not ended */
  z_stream gzip;
  bool gzip_ready;
  ZSTD_DStream *zstd;
  _Atomic(ahead *) ahead; /* the thread that decompresses; NULL: the reader does */
  shoal_decoder *decoder; /* NULL: bytes are passed on */
  shoal_address address;  /* of a database; kind NULL: it is a file */
  void *reader;           /* of the kind of database; NULL: not started */
  shoal_database_columns columns;
};

static shoal_status fail_system(const char *name, const char *what, int code, shoal_error *error) {
  bool machine = code != ENOENT && code != ENOTDIR && code != EISDIR && code != ENAMETOOLONG;
  shoal_location location = {.file = name};
  if (code == ENOENT && strlen(name) > 3 && strcmp(name + strlen(name) - 3, "://") == 0)
    return shoal_fail_at(error, SHOAL_BAD_INPUT, &location,
                         "is no file, and no database that shoal reads: these begin with "
                         "postgresql:// or sqlite:");
  if (code == ENOENT)
    return shoal_fail_at(error, SHOAL_BAD_INPUT, &location, "does not exist; check the name");
  return shoal_fail_at(error, machine ? SHOAL_FAILED : SHOAL_BAD_INPUT, &location, "%s: %s%s", what,
                       strerror(code), machine ? "" : "; check the name");
}

static bool must_stop(const shoal_source *source) {
  if (source->ahead) return ahead_stopping(source->ahead);
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
  if (source->filled > source->max_filled) source->max_filled = source->filled;
  return SHOAL_OK;
}

static bool starts_with(const shoal_source *source, const void *magic, size_t size) {
  return source->filled >= size && memcmp(source->input, magic, size) == 0;
}

/* Finds out by the first bytes what the file is. A pipe may give them one by one. */
static shoal_status detect(shoal_source *source, shoal_error *error) {
  while (source->filled < SHOAL_MAGIC_BYTES && !source->ended) {
    size_t got;
    SHOAL_TRY(read_some(source, source->input + source->filled, INPUT_BYTES - source->filled, &got,
                        error));
    source->filled += got;
    source->max_filled = source->filled;
  }
  source->detected = true;
  if (starts_with(source, "\x1f\x8b", 2)) source->coding = CODING_GZIP;
  if (starts_with(source, "\x28\xb5\x2f\xfd", 4)) source->coding = CODING_ZSTD;
  shoal_location location = {.file = source->name};
  if (source->filled && source->coding != CODING_GZIP && shoal_ends_with(source->name, ".gz"))
    return shoal_fail_at(error, SHOAL_BAD_INPUT, &location,
                         "is named .gz but is not gzip: rename it or compress it");
  if (source->filled && source->coding != CODING_ZSTD && shoal_ends_with(source->name, ".zst"))
    return shoal_fail_at(error, SHOAL_BAD_INPUT, &location,
                         "is named .zst but is not zstd: rename it or compress it");
  const char *advice = shoal_magic_advice(source->input, source->filled);
  if (advice) return shoal_fail_at(error, SHOAL_BAD_INPUT, &location, "%s", advice);
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

bool shoal_source_is_compressed(const shoal_source *source) {
  return source->coding != CODING_PLAIN;
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
  shoal_location location = {.file = source->name};
  source->fd = strcmp(path, "-") == 0 ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
                                      : open(path, O_RDONLY | O_CLOEXEC);
  if (source->fd < 0) return fail_system(source->name, "cannot be opened", errno, error);
  struct stat info;
  if (fstat(source->fd, &info)) return fail_system(source->name, "cannot be read", errno, error);
  if (S_ISDIR(info.st_mode))
    return shoal_fail_at(error, SHOAL_BAD_INPUT, &location, "is a directory: name a file in it");
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
  source->name = shoal_display_path(path);
  source->input = shoal_alloc(INPUT_BYTES, 1);
  shoal_status status = !source->name || !source->input ? shoal_fail_memory(error)
                        : shoal_is_database(path)
                            ? shoal_address_parse(path, &source->address, error)
                            : open_file(path, source, error);
  if (status != SHOAL_OK) {
    shoal_source_close(source);
    return status;
  }
  *out = source;
  return SHOAL_OK;
}

static shoal_status fail_coding(const shoal_source *source, const char *what, shoal_error *error) {
  shoal_location location = {.file = source->name};
  return shoal_fail_at(error, SHOAL_BAD_INPUT, &location, "%s: fetch or compress the file again",
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

static bool stop_database(void *user) { return must_stop(user); }

shoal_status shoal_source_start(shoal_source *source, char delimiter, const char *null_cell,
                                shoal_error *error) {
  if (!source->address.kind) return SHOAL_OK;
  source->detected = source->may_block = true;
  shoal_reading reading = {delimiter, null_cell, {stop_database, source}};
  SHOAL_TRY(source->address.kind->open(&source->address, &reading, &source->reader,
                                       &source->columns, error));
  source->columns.kind = source->address.kind;
  source->size_bytes = source->address.kind->estimate(source->reader);
  return SHOAL_OK;
}

shoal_database_columns *shoal_source_columns(shoal_source *source) {
  return source->address.kind ? &source->columns : NULL;
}

static shoal_status read_database(shoal_source *source, char *bytes, size_t capacity,
                                  size_t *size_bytes, shoal_error *error) {
  uint64_t n_rows = 0;
  if (!source->reader)
    return shoal_fail_at(error, SHOAL_BAD_INPUT, &(shoal_location){.file = source->name},
                         "a database cannot be read here: give a file");
  shoal_status status =
      source->address.kind->read(source->reader, bytes, capacity, size_bytes, &n_rows, error);
  source->position = n_rows;
  return status;
}

static shoal_status decode(void *user, char *bytes, size_t capacity, size_t *size_bytes,
                           shoal_error *error) {
  shoal_source *source = user;
  if (source->address.kind) return read_database(source, bytes, capacity, size_bytes, error);
  switch (source->coding) {
  case CODING_GZIP: return read_gzip(source, bytes, capacity, size_bytes, error);
  case CODING_ZSTD: return read_zstd(source, bytes, capacity, size_bytes, error);
  default: return read_plain(source, bytes, capacity, size_bytes, error);
  }
}

/* Bytes of the content, decompressed. */
static shoal_status read_content(void *user, char *bytes, size_t capacity, size_t *size_bytes,
                                 shoal_error *error) {
  shoal_source *source = user;
  if (!source->detected) SHOAL_TRY(detect(source, error));
  if (!source->ahead) return decode(source, bytes, capacity, size_bytes, error);
  return ahead_take(source->ahead, bytes, capacity, size_bytes, source->wait, source->wait_user,
                    error);
}

shoal_status shoal_source_read(shoal_source *source, char *bytes, size_t capacity,
                               size_t *size_bytes, shoal_error *error) {
  *size_bytes = 0;
  if (!capacity) return SHOAL_OK;
  if (!source->decoder) return read_content(source, bytes, capacity, size_bytes, error);
  return shoal_decoder_read(source->decoder, read_content, source, bytes, capacity, size_bytes,
                            error);
}

shoal_status shoal_source_decode(shoal_source *source, const char *encoding, bool or_utf8,
                                 shoal_error *error) {
  source->decoder = shoal_decoder_new(encoding, or_utf8, source->name);
  return source->decoder ? SHOAL_OK : shoal_fail_memory(error);
}

const char *shoal_source_encoding(const shoal_source *source) {
  return source->decoder ? shoal_decoder_detected(source->decoder) : NULL;
}

shoal_status shoal_source_read_ahead(shoal_source *source, shoal_error *error) {
  if (!source->detected) SHOAL_TRY(detect(source, error));
  bool slow = source->coding != CODING_PLAIN || source->address.kind;
  if (slow && !source->ahead) source->ahead = ahead_start(decode, source);
  return SHOAL_OK;
}

void shoal_source_set_wait(shoal_source *source, shoal_wait_fn wait, void *user) {
  source->wait = wait;
  source->wait_user = user;
}

uint64_t shoal_source_position(const shoal_source *source) { return source->position; }

uint64_t shoal_source_size(const shoal_source *source) { return source->size_bytes; }

const char *shoal_source_unit(const shoal_source *source) {
  return source->address.kind ? "rows" : "bytes";
}

void shoal_source_close(shoal_source *source) {
  if (!source) return;
  ahead_stop(source->ahead);
  if (source->reader) source->address.kind->close(source->reader);
  shoal_database_columns_reset(&source->columns);
  shoal_address_reset(&source->address);
  if (source->fd >= 0) (void)close(source->fd);
  if (source->gzip_ready) (void)inflateEnd(&source->gzip);
  if (source->zstd) (void)ZSTD_freeDStream(source->zstd);
  shoal_decoder_free(source->decoder);
  shoal_wipe_free(source->input, source->max_filled);
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
    shoal_location location = {.file = source->name};
    if (*size_bytes > limit)
      return shoal_fail_at(error, SHOAL_BAD_INPUT, &location, "is larger than %zu MiB",
                           limit / (1024 * 1024));
  }
  memset(*bytes + *size_bytes, 0, SLACK);
  return SHOAL_OK;
}

shoal_status shoal_source_slurp_text(const char *path, size_t limit, char **bytes,
                                     size_t *size_bytes, shoal_error *error) {
  *bytes = NULL;
  *size_bytes = 0;
  shoal_source *source;
  SHOAL_TRY(shoal_source_open(path, &source, error));
  shoal_status status = shoal_source_decode(source, NULL, false, error);
  if (status == SHOAL_OK) status = slurp(source, limit, bytes, size_bytes, error);
  shoal_source_close(source);
  if (status != SHOAL_OK) {
    free(*bytes);
    *bytes = NULL;
  }
  return status;
}
