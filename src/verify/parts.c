/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verify/parts: counts a release in parts, one for each thread. The file is cut at record ends:
 *
 *   | header, records ...\n | records ...\n | records ...\n |
 *     part 0: reader 0         reader 1         reader 2
 *
 * To find a record end near a cut, the code must know whether the cut is inside quotes. Without a
 * quote nearby it assumes that it is not; otherwise the threads first count the quotes before each
 * cut. Both are guesses: stray or distant quotes make them wrong. A wrong guess cannot pass,
 * because every reader is strict, starts where the previous part must end, and must end exactly at
 * its own end; the first part starts at the start of the file. If one reader fails, the whole file
 * is read again by one reader.
 */
#include "verify/counter.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MIN_BYTES = 4 << 20, CHUNK_BYTES = 1 << 18 };

typedef struct part {
  uint64_t begin, end;
  uint64_t n_quotes;
  bool failed;
  shoal_status status;
  shoal_error error;
  shoal_verify_counter count;
} part;

typedef struct partition {
  int fd;
  const char *name;
  const shoal_verify_request *request;
  const shoal_run *run;
  part *parts;
  unsigned n_parts;
  atomic_bool stop;
} partition;

/* Reads up to CHUNK_BYTES from `at`; 0: at the end, or the file cannot be read. */
static size_t read_at(int fd, char *buffer, uint64_t at, uint64_t end) {
  size_t room = end - at < CHUNK_BYTES ? (size_t)(end - at) : CHUNK_BYTES;
  ssize_t n;
  do {
    n = pread(fd, buffer, room, (off_t)at);
  } while (n < 0 && errno == EINTR);
  return n > 0 ? (size_t)n : 0;
}

static void count_quotes(void *user, unsigned i) {
  partition *p = user;
  part *self = &p->parts[i];
  char *buffer = shoal_alloc(CHUNK_BYTES, 1);
  self->failed = !buffer;
  for (uint64_t at = self->begin; !self->failed && at < self->end;) {
    size_t n = read_at(p->fd, buffer, at, self->end);
    self->failed = n == 0;
    for (size_t b = 0; b < n; b++) self->n_quotes += buffer[b] == '"';
    at += n;
  }
  free(buffer);
}

/* Is there a quote within half a chunk of the part's begin? Also true if that cannot be read. */
static bool is_quote_near(const partition *p, const part *self) {
  char *buffer = shoal_alloc(CHUNK_BYTES, 1);
  size_t n = buffer ? read_at(p->fd, buffer, self->begin - CHUNK_BYTES / 2, self->end) : 0;
  bool near = n < CHUNK_BYTES || memchr(buffer, '"', n);
  free(buffer);
  return near;
}

/* Moves the part's begin to the start of the next record; false: not found. */
static bool find_record(const partition *p, part *self, uint64_t end, bool quoted) {
  char *buffer = shoal_alloc(CHUNK_BYTES, 1);
  bool found = false;
  for (uint64_t at = self->begin; buffer && !found && at < end;) {
    size_t n = read_at(p->fd, buffer, at, end);
    if (!n) break;
    for (size_t b = 0; b < n && !found; b++) {
      if (buffer[b] == '"') quoted = !quoted;
      found = buffer[b] == '\n' && !quoted;
      self->begin = at + b + 1;
    }
    at += n;
  }
  free(buffer);
  return found;
}

/* Cuts the file at record ends; false: not possible. */
static bool cut(partition *p, uint64_t size) {
  for (unsigned i = 0; i < p->n_parts; i++) {
    p->parts[i].begin = size / p->n_parts * i;
    p->parts[i].end = i + 1 < p->n_parts ? size / p->n_parts * (i + 1) : size;
  }
  uint64_t n_quotes = 0;
  bool near = false;
  for (unsigned i = 1; i < p->n_parts && !near; i++) near = is_quote_near(p, &p->parts[i]);
  if (near) shoal_parallel(p->n_parts, count_quotes, p);
  for (unsigned i = 0; i < p->n_parts; i++) {
    part *self = &p->parts[i];
    if (self->failed || (i && !find_record(p, self, size, n_quotes % 2))) return false;
    n_quotes += self->n_quotes;
    if (i && self->begin < p->parts[i - 1].begin) return false;
    if (i) p->parts[i - 1].end = self->begin;
  }
  return true;
}

static shoal_status count_part(partition *p, unsigned i, shoal_error *error) {
  part *self = &p->parts[i];
  shoal_verify_reader *reader = NULL;
  SHOAL_TRY(shoal_verify_counter_init(&self->count, error));
  shoal_status status =
      shoal_verify_reader_open_part(p->fd, p->name, p->request->delimiter, self->begin, self->end,
                                    i == 0 ? p->run : NULL, &reader, error);
  if (status == SHOAL_OK && i == 0) status = shoal_verify_check_header(&self->count, reader, error);
  if (status == SHOAL_OK)
    status = shoal_verify_count_rows(&self->count, reader, NULL, &p->stop, error);
  shoal_verify_reader_close(reader);
  return status;
}

static void count_part_job(void *user, unsigned i) {
  partition *p = user;
  p->parts[i].status = count_part(p, i, &p->parts[i].error);
  if (p->parts[i].status != SHOAL_OK) atomic_store(&p->stop, true);
}

/* Merges all counters into the first, which replaces the caller's. */
static shoal_status merge_parts(partition *p, shoal_verify_counter *count, bool *counted,
                                shoal_error *error) {
  bool complete = true;
  uint64_t n_left = p->request->n_rows;
  for (unsigned i = 0; i < p->n_parts; i++) {
    const part *self = &p->parts[i];
    if (self->status == SHOAL_CANCELLED) {
      if (error) *error = self->error;
      return SHOAL_CANCELLED;
    }
    complete = complete && self->status == SHOAL_OK && self->count.n_rows <= n_left;
    n_left -= complete ? self->count.n_rows : 0;
  }
  if (!complete || n_left) return SHOAL_OK; /* one reader reports the error */
  shoal_verify_counter empty = *count;
  *count = p->parts[0].count;
  p->parts[0].count = empty;
  for (unsigned i = 1; i < p->n_parts; i++)
    if (!shoal_verify_counter_merge(count, &p->parts[i].count)) return shoal_fail_memory(error);
  *counted = true;
  return SHOAL_OK;
}

static bool is_compressed(int fd) {
  unsigned char first[4] = {0};
  if (pread(fd, first, sizeof first, 0) < (ssize_t)sizeof first) return true;
  return (first[0] == 0x1f && first[1] == 0x8b) || (first[0] == 0x28 && first[1] == 0xb5);
}

shoal_status shoal_verify_count_parts(shoal_verify_counter *count, int fd, const char *name,
                                      const shoal_run *run, bool *counted, shoal_error *error) {
  struct stat about;
  assert(!count->n_rows && count->request->guards_fd < 0);
  *counted = false;
  partition p = {.fd = fd, .name = name, .request = count->request, .run = run};
  if (fstat(fd, &about) || about.st_size <= 0 || is_compressed(fd)) return SHOAL_OK;
  uint64_t size = (uint64_t)about.st_size, max_parts = size / MIN_BYTES;
  p.n_parts = shoal_run_threads(run);
  if (p.n_parts > max_parts) p.n_parts = (unsigned)max_parts;
  if (p.n_parts < 2) return SHOAL_OK;
  p.parts = shoal_alloc_zero(p.n_parts, sizeof *p.parts);
  if (!p.parts) return shoal_fail_memory(error);
  for (unsigned i = 0; i < p.n_parts; i++) p.parts[i].count.request = p.request;
  shoal_status status = SHOAL_OK;
  if (cut(&p, size)) {
    shoal_parallel(p.n_parts, count_part_job, &p);
    status = merge_parts(&p, count, counted, error);
  }
  for (unsigned i = 0; i < p.n_parts; i++) shoal_verify_counter_reset(&p.parts[i].count);
  free(p.parts);
  return status;
}
