/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verify/parts: see parts.h. A file is cut into as many parts as there are threads, at record
 * ends. Where no quote is near, a byte in the middle is taken to stand outside quotes; else, inside
 * or not follows from the number of quotes before it, which the threads count first. That is only
 * a guess at where records start, and not right where quotes are stray or far apart; the proof is
 * that every reader is strict, starts where the one before it must end, and ends there exactly. The
 * first starts at the file's start, so if all agree, each has started at a record.
 */
#include "verify/parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LEAST_BYTES = 4 << 20, CHUNK_BYTES = 1 << 18 };

typedef struct part {
  uint64_t begin, end;
  uint64_t n_quotes;
  bool failed;
  shoal_status status;
  shoal_error error;
  shoal_verify_counter count;
} part;

typedef struct parting {
  int fd;
  const char *name;
  const shoal_verify_claim *claim;
  const shoal_run *run;
  part *parts;
  unsigned n_parts;
  atomic_bool stop;
} parting;

/* Bytes of the file into a buffer; 0 at its end or where it cannot be read. */
static size_t read_at(int fd, char *buffer, uint64_t at, uint64_t end) {
  size_t room = end - at < CHUNK_BYTES ? (size_t)(end - at) : CHUNK_BYTES;
  ssize_t n;
  do {
    n = pread(fd, buffer, room, (off_t)at);
  } while (n < 0 && errno == EINTR);
  return n > 0 ? (size_t)n : 0;
}

static void count_quotes(void *user, unsigned i) {
  parting *p = user;
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

/* Is there a quote around the begin of a part, or can that not be read? */
static bool is_quote_near(const parting *p, const part *self) {
  char *buffer = shoal_alloc(CHUNK_BYTES, 1);
  size_t n = buffer ? read_at(p->fd, buffer, self->begin - CHUNK_BYTES / 2, self->end) : 0;
  bool near = n < CHUNK_BYTES || memchr(buffer, '"', n);
  free(buffer);
  return near;
}

/* Moves the begin of a part to the next record's start. */
static bool find_record(const parting *p, part *self, uint64_t end, bool quoted) {
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

/* Cuts the file; false where that is of no use. */
static bool cut(parting *p, uint64_t size) {
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

static shoal_status count_part(parting *p, unsigned i, shoal_error *error) {
  part *self = &p->parts[i];
  shoal_verify_reader *reader = NULL;
  SHOAL_TRY(shoal_verify_counter_init(&self->count, error));
  shoal_status status =
      shoal_verify_reader_open_part(p->fd, p->name, p->claim->delimiter, self->begin, self->end,
                                    i == 0 ? p->run : NULL, &reader, error);
  if (status == SHOAL_OK && i == 0) status = shoal_verify_check_header(&self->count, reader, error);
  if (status == SHOAL_OK)
    status = shoal_verify_count_rows(&self->count, reader, NULL, &p->stop, error);
  shoal_verify_reader_close(reader);
  return status;
}

static void work(void *user, unsigned i) {
  parting *p = user;
  p->parts[i].status = count_part(p, i, &p->parts[i].error);
  if (p->parts[i].status != SHOAL_OK) atomic_store(&p->stop, true);
}

/* The first part's counter takes the place of the caller's. */
static shoal_status add_up(parting *p, shoal_verify_counter *count, bool *counted,
                           shoal_error *error) {
  bool fine = true;
  uint64_t n_left = p->claim->n_rows;
  for (unsigned i = 0; i < p->n_parts; i++) {
    const part *self = &p->parts[i];
    if (self->status == SHOAL_CANCELLED) {
      if (error) *error = self->error;
      return SHOAL_CANCELLED;
    }
    fine = fine && self->status == SHOAL_OK && self->count.n_rows <= n_left;
    n_left -= fine ? self->count.n_rows : 0;
  }
  if (!fine || n_left) return SHOAL_OK; /* one reader can tell better */
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
  *counted = false;
  parting p = {.fd = fd, .name = name, .claim = count->claim, .run = run};
  if (fstat(fd, &about) || about.st_size <= 0 || is_compressed(fd)) return SHOAL_OK;
  uint64_t size = (uint64_t)about.st_size, most = size / LEAST_BYTES;
  p.n_parts = shoal_run_threads(run);
  if (p.n_parts > most) p.n_parts = (unsigned)most;
  if (p.n_parts < 2) return SHOAL_OK;
  p.parts = shoal_alloc_zero(p.n_parts, sizeof *p.parts);
  if (!p.parts) return shoal_fail_memory(error);
  for (unsigned i = 0; i < p.n_parts; i++) p.parts[i].count.claim = p.claim;
  shoal_status status = SHOAL_OK;
  if (cut(&p, size)) {
    shoal_parallel(p.n_parts, work, &p);
    status = add_up(&p, count, counted, error);
  }
  for (unsigned i = 0; i < p.n_parts; i++) shoal_verify_counter_reset(&p.parts[i].count);
  free(p.parts);
  return status;
}
