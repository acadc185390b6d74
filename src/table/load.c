/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table/load: a CSV file into a table; see load.h. Workers take turns at the file: who holds the
 * lock reads the next block up to the end of its last whole record, and encodes it after letting
 * the lock go. The first mistake in the file's order is the one reported.
 */
#include "table/load.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "read/csv.h"
#include "read/source.h"
#include "table/dictionary.h"

enum {
  BLOCK_BYTES = 512 * 1024,
  MAX_RECORD_BYTES = 1 << 30,
  MAX_SHARES = 64,
  MAX_DICTIONARIES = 50 * 1000
};

typedef struct loader {
  const char *file;
  shoal_source *source;
  const shoal_run *run;
  pthread_t caller;      /* only it may report progress */
  atomic_bool cancelled; /* the caller's progress callback asked to stop */
  size_t n_columns;
  char delimiter;
  const shoal_use *uses;
  shoal_share shares[MAX_SHARES];
  pthread_mutex_t lock; /* guards what follows */
  char *carry;          /* bytes read that belong to the next block */
  size_t carry_size, carry_capacity;
  bool ended;   /* no more blocks */
  bool stopped; /* something went wrong */
  shoal_piece *pieces;
  size_t n_pieces, pieces_capacity;
  shoal_status status; /* of reading or progress */
  size_t status_piece; /* the piece that could not be had */
  shoal_error error;
  size_t problem_piece; /* earliest piece with a problem */
  shoal_csv_problem problem;
} loader;

/* A worker's block: its bytes, its cells and its number in the file's order. */
typedef struct block {
  char *bytes;
  size_t size_bytes;
  size_t capacity;
  shoal_cells cells;
  size_t number;
} block;

static shoal_status report(loader *self, shoal_error *error) {
  shoal_status status = shoal_run_report(self->run, "read", shoal_source_position(self->source),
                                         shoal_source_size(self->source), "bytes", error);
  if (status != SHOAL_OK) atomic_store(&self->cancelled, true);
  return status;
}

/* Input is slow: is there any use in waiting on? */
static bool keep_waiting_or_stop(void *user) {
  loader *self = user;
  shoal_error error;
  if (pthread_equal(pthread_self(), self->caller)) (void)report(self, &error);
  return atomic_load(&self->cancelled);
}

/* Takes the lock. The caller's thread reports meanwhile: the one that reads may wait for long. */
static void take_turn(loader *self) {
  if (!pthread_equal(pthread_self(), self->caller)) {
    (void)pthread_mutex_lock(&self->lock);
    return;
  }
  for (;;) {
    struct timespec until;
    (void)clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += 100 * 1000 * 1000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    if (pthread_mutex_timedlock(&self->lock, &until) == 0) return;
    shoal_error error;
    if (shoal_run_report(self->run, "read", 0, 0, "bytes", &error) != SHOAL_OK)
      atomic_store(&self->cancelled, true);
  }
}

/* The first failure of reading or progress is kept; it stands behind the pieces read so far. */
static void note_failure(loader *self, shoal_status status, const shoal_error *error) {
  if (self->status != SHOAL_OK) return;
  self->status = status;
  self->status_piece = self->n_pieces;
  self->error = *error;
}

static void stop_with(loader *self, shoal_status status, const shoal_error *error) {
  self->stopped = true;
  note_failure(self, status, error);
}

/* The size without blank lines at the end: those of a whole table are no rows. */
static size_t without_blank_end(const block *b, size_t size) {
  for (;;) {
    size_t line = size;
    if (line && b->bytes[line - 1] == '\n') line--;
    if (line && b->bytes[line - 1] == '\r') line--;
    if (line == size || (line && b->bytes[line - 1] != '\n')) return size;
    size = line;
  }
}

/*
 * Reads on until the block is full; false at the end of the data. A failure is an end too: what was
 * read before it is looked at first, since a mistake in an earlier row is told before it.
 */
static bool fill_block(loader *self, block *b, size_t room) {
  while (b->size_bytes < room) {
    size_t got = 0;
    shoal_error error;
    shoal_status status = SHOAL_OK;
    if (self->status == SHOAL_OK)
      status = shoal_source_read(self->source, b->bytes + b->size_bytes, room - b->size_bytes, &got,
                                 &error);
    if (status != SHOAL_OK) note_failure(self, status, &error);
    if (!got) return false;
    b->size_bytes += got;
  }
  return true;
}

/* The last block: all that is left, or after a failure the whole records of it. */
static bool last_block(loader *self, block *b) {
  self->ended = true;
  if (self->status != SHOAL_OK)
    b->size_bytes = shoal_csv_whole_records(b->bytes, b->size_bytes, self->delimiter);
  if (self->n_columns > 1) b->size_bytes = without_blank_end(b, b->size_bytes);
  if (self->status != SHOAL_OK) self->status_piece = self->n_pieces + (b->size_bytes > 0);
  return b->size_bytes > 0;
}

/* Fills the block with whole records; false at the end or on a failure. The lock is held. */
static bool read_records(loader *self, block *b, shoal_error *error) {
  if (!shoal_grow(&b->bytes, &b->capacity, BLOCK_BYTES + self->carry_size + SHOAL_CSV_SLACK, 1))
    return stop_with(self, shoal_fail_memory(error), error), false;
  if (self->carry_size) memcpy(b->bytes, self->carry, self->carry_size);
  b->size_bytes = self->carry_size;
  self->carry_size = 0;
  size_t whole = 0;
  while (!whole) {
    if (!fill_block(self, b, b->capacity - SHOAL_CSV_SLACK)) return last_block(self, b);
    whole = shoal_csv_whole_records(b->bytes, b->size_bytes, self->delimiter);
    if (self->n_columns > 1) whole = without_blank_end(b, whole); /* the table may end here */
    if (!whole && b->size_bytes > MAX_RECORD_BYTES)
      return stop_with(self,
                       shoal_fail_at(error, SHOAL_BAD_INPUT, &(shoal_place){.file = self->file},
                                     "has a record of more than 1 GiB: is a quote not closed?"),
                       error),
             false;
    if (!whole && !shoal_grow(&b->bytes, &b->capacity, b->capacity * 2, 1))
      return stop_with(self, shoal_fail_memory(error), error), false;
  }
  size_t rest = b->size_bytes - whole;
  if (!shoal_grow(&self->carry, &self->carry_capacity, rest + 1, 1))
    return stop_with(self, shoal_fail_memory(error), error), false;
  memcpy(self->carry, b->bytes + whole, rest);
  self->carry_size = rest;
  b->size_bytes = whole;
  return true;
}

static bool next_block(loader *self, unsigned share, block *b) {
  shoal_error error;
  take_turn(self);
  bool got = !self->ended && !self->stopped && read_records(self, b, &error);
  if (got) {
    b->number = self->n_pieces;
    if (!shoal_grow(&self->pieces, &self->pieces_capacity, b->number + 1, sizeof *self->pieces)) {
      stop_with(self, shoal_fail_memory(&error), &error);
      got = false;
    } else {
      self->pieces[self->n_pieces++] = (shoal_piece){.share = share};
    }
  }
  (void)pthread_mutex_unlock(&self->lock);
  return got;
}

/* Notes the block's rows, or what is wrong with it. */
static void finish_block(loader *self, const block *b, size_t first_row,
                         shoal_csv_problem problem) {
  take_turn(self);
  self->pieces[b->number].first_row = first_row;
  self->pieces[b->number].n_rows = b->cells.n_rows;
  if (problem.fault != SHOAL_CSV_OK) {
    self->stopped = true;
    if (self->problem.fault == SHOAL_CSV_OK || b->number < self->problem_piece) {
      self->problem = problem;
      self->problem_piece = b->number;
    }
  }
  (void)pthread_mutex_unlock(&self->lock);
}

static void work(void *user, unsigned i) {
  loader *self = user;
  shoal_share *share = &self->shares[i];
  block b = {0};
  shoal_cells_init(&b.cells);
  while (next_block(self, i, &b)) {
    memset(b.bytes + b.size_bytes, 0, SHOAL_CSV_SLACK);
    shoal_csv_problem problem =
        shoal_csv_split(b.bytes, b.size_bytes, self->delimiter, self->n_columns, &b.cells);
    size_t first_row = share->n_rows;
    if (problem.fault == SHOAL_CSV_OK &&
        !shoal_share_add(share, self->uses, self->n_columns, b.bytes, b.cells.begin, b.cells.end,
                         b.cells.n_rows, b.number))
      problem = (shoal_csv_problem){SHOAL_CSV_MEMORY, 0, 0};
    finish_block(self, &b, first_row, problem);
    if (i != 0) continue;
    take_turn(self);
    shoal_error error;
    shoal_status status = report(self, &error);
    if (status != SHOAL_OK) stop_with(self, status, &error);
    (void)pthread_mutex_unlock(&self->lock);
  }
  shoal_cells_reset(&b.cells);
  free(b.bytes);
}

static shoal_status explain_problem(const loader *self, shoal_error *error) {
  bool in_rows = self->problem.fault != SHOAL_CSV_OK;
  bool rows_first = in_rows && self->problem_piece < self->status_piece;
  if (self->status != SHOAL_OK && (self->status == SHOAL_CANCELLED || !rows_first)) {
    if (error) *error = self->error;
    return self->status;
  }
  if (!in_rows) return SHOAL_OK;
  if (self->problem.fault == SHOAL_CSV_MEMORY) return shoal_fail_memory(error);
  uint64_t row = self->problem.row + 1;
  for (size_t p = 0; p < self->problem_piece; p++) row += self->pieces[p].n_rows;
  char why[256];
  shoal_csv_explain(self->problem, self->n_columns, why, sizeof why);
  shoal_place place = {.file = self->file, .row = row};
  return shoal_fail_at(error, SHOAL_BAD_INPUT, &place, "%s", why);
}

static shoal_status run_workers(loader *self, shoal_table *table, const shoal_load_options *options,
                                shoal_error *error) {
  unsigned n = shoal_run_threads(self->run), ready = 0;
  uint64_t size = shoal_source_size(self->source);
  if (size && n > size / BLOCK_BYTES + 1) n = (unsigned)(size / BLOCK_BYTES + 1);
  while (n > 1 && n * self->n_columns > MAX_DICTIONARIES) n--; /* each share has one a column */
  shoal_status status = SHOAL_OK;
  while (ready < n && shoal_share_init(&self->shares[ready], self->uses, self->n_columns)) ready++;
  if (ready < n) status = shoal_fail_memory(error);
  if (status == SHOAL_OK) {
    shoal_parallel(n, work, self);
    status = explain_problem(self, error);
  }
  if (status == SHOAL_OK)
    status = shoal_table_merge(table, self->shares, n, self->pieces, self->n_pieces, self->uses,
                               options->missing, options->n_missing, n, error);
  for (unsigned i = 0; i < ready; i++) shoal_share_reset(&self->shares[i], self->n_columns);
  if (status != SHOAL_OK) return status;
  table->n_records = table->n_rows;
  shoal_place place = {.file = table->name};
  if (table->n_rows == 0)
    return shoal_fail_at(error, SHOAL_BAD_INPUT, &place,
                         "has a header but no rows: give it at least one");
  return SHOAL_OK;
}

/* ------------------------------------------------------------ the header */

static shoal_status check_encoding(const char *file, const block *b, size_t start,
                                   shoal_error *error) {
  shoal_place place = {.file = file};
  if (b->size_bytes == start)
    return shoal_fail_at(error, SHOAL_BAD_INPUT, &place,
                         "is empty: a header and at least one row are needed");
  if (b->size_bytes >= 2 &&
      (memcmp(b->bytes, "\xff\xfe", 2) == 0 || memcmp(b->bytes, "\xfe\xff", 2) == 0))
    return shoal_fail_at(error, SHOAL_BAD_INPUT, &place, "is UTF-16: save it as UTF-8");
  return SHOAL_OK;
}

static shoal_status check_names(const shoal_table *table, shoal_error *error) {
  shoal_place place = {.file = table->name};
  for (size_t c = 0; c < table->n_columns; c++) {
    if (!table->columns[c].name[0])
      return shoal_fail_at(error, SHOAL_BAD_INPUT, &place,
                           "column %zu of the header has no name: give each column one", c + 1);
  }
  shoal_dictionary seen;
  if (!shoal_dictionary_init(&seen)) return shoal_fail_memory(error);
  shoal_status status = SHOAL_OK;
  for (size_t c = 0; c < table->n_columns && status == SHOAL_OK; c++) {
    const char *name = table->columns[c].name; /* copied with slack behind it */
    uint32_t code = shoal_dictionary_code(&seen, name, (uint32_t)strlen(name), c);
    place.column = name;
    if (code == SHOAL_NO_CODE) status = shoal_fail_memory(error);
    else if (code != c)
      status = shoal_fail_at(error, SHOAL_BAD_INPUT, &place,
                             "stands twice in the header (columns %u and %zu): rename one",
                             code + 1, c + 1);
  }
  shoal_dictionary_reset(&seen);
  return status;
}

/* Names get slack: the dictionary reads words. */
static char *copy_name(const char *bytes, size_t size) {
  char *name = shoal_alloc_zero(size + 1 + SHOAL_DICTIONARY_SLACK, 1);
  if (name) memcpy(name, bytes, size);
  return name;
}

static shoal_status parse_header(shoal_table *table, char *bytes, size_t size, char delimiter,
                                 shoal_error *error) {
  shoal_cells cells;
  shoal_cells_init(&cells);
  shoal_place place = {.file = table->name};
  shoal_csv_problem problem = shoal_csv_split(bytes, size, delimiter, 0, &cells);
  shoal_status status = SHOAL_OK;
  if (problem.fault == SHOAL_CSV_MEMORY) {
    status = shoal_fail_memory(error);
  } else if (problem.fault != SHOAL_CSV_OK) {
    char why[256];
    shoal_csv_explain(problem, 0, why, sizeof why);
    status = shoal_fail_at(error, SHOAL_BAD_INPUT, &place, "the header: %s", why);
  } else {
    table->columns = shoal_alloc_zero(cells.n_cells, sizeof *table->columns);
    if (!table->columns) status = shoal_fail_memory(error);
  }
  for (size_t c = 0; status == SHOAL_OK && c < cells.n_cells; c++) {
    table->columns[c].name = copy_name(bytes + cells.begin[c], cells.end[c] - cells.begin[c]);
    if (!table->columns[c].name) status = shoal_fail_memory(error);
    table->n_columns = c + 1;
  }
  shoal_cells_reset(&cells);
  SHOAL_TRY(status);
  if (memchr(bytes, '\r', size ? size - 1 : 0) && !memchr(bytes, '\n', size))
    return shoal_fail_at(error, SHOAL_BAD_INPUT, &place,
                         "its lines end in CR alone: save it with LF or CRLF line ends");
  return check_names(table, error);
}

/* Reads the first block, takes the header off it, and leaves the rest as carry. */
static shoal_status read_header(loader *self, shoal_table *table, char delimiter,
                                shoal_error *error) {
  block b = {0};
  self->delimiter = delimiter ? delimiter : ',';
  if (!read_records(self, &b, error) && self->status != SHOAL_OK) {
    free(b.bytes);
    if (error) *error = self->error;
    return self->status;
  }
  size_t start = b.size_bytes >= 3 && memcmp(b.bytes, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
  shoal_status status = check_encoding(table->name, &b, start, error);
  if (status == SHOAL_OK) {
    memmove(b.bytes, b.bytes + start, b.size_bytes - start);
    b.size_bytes -= start;
    if (!delimiter) self->delimiter = shoal_csv_guess_delimiter(b.bytes, b.size_bytes);
    table->delimiter = self->delimiter;
    size_t header = shoal_csv_first_record(b.bytes, b.size_bytes, self->delimiter);
    if (!header) header = b.size_bytes;
    size_t rest = b.size_bytes - header;
    char *carry = shoal_alloc(rest + self->carry_size + 1, 1);
    if (!carry) {
      status = shoal_fail_memory(error);
    } else {
      memcpy(carry, b.bytes + header, rest);
      if (self->carry_size) memcpy(carry + rest, self->carry, self->carry_size);
      free(self->carry);
      self->carry = carry;
      self->carry_size = rest + self->carry_size;
      self->carry_capacity = self->carry_size + 1;
      memset(b.bytes + b.size_bytes, 0, SHOAL_CSV_SLACK - start);
      status = parse_header(table, b.bytes, header, self->delimiter, error);
    }
  }
  self->ended = false; /* what was carried is still to be read */
  free(b.bytes);
  return status;
}

static shoal_status load(loader *self, shoal_table *table, const shoal_load_options *options,
                         shoal_error *error) {
  SHOAL_TRY(read_header(self, table, options->delimiter, error));
  self->n_columns = table->n_columns;
  shoal_use *uses = shoal_alloc(table->n_columns, sizeof *uses);
  const char **names = shoal_alloc(table->n_columns, sizeof *names);
  shoal_status status = uses && names ? SHOAL_OK : shoal_fail_memory(error);
  for (size_t c = 0; status == SHOAL_OK && c < table->n_columns; c++) {
    uses[c] = SHOAL_USE_CODES;
    names[c] = table->columns[c].name;
  }
  self->uses = uses;
  if (status == SHOAL_OK && options->plan)
    status = options->plan(options->plan_user, table->name, names, table->n_columns, uses, error);
  if (status == SHOAL_OK) status = run_workers(self, table, options, error);
  free(names);
  free(uses);
  return status;
}

shoal_status shoal_table_load(const char *path, const shoal_load_options *options,
                              const shoal_run *run, shoal_table **out, shoal_error *error) {
  *out = NULL;
  double started = shoal_seconds();
  shoal_table *table = shoal_alloc_zero(1, sizeof *table);
  loader *self = shoal_alloc_zero(1, sizeof *self);
  shoal_status status = SHOAL_OK;
  if (!table || !self || !(table->name = strdup(strcmp(path, "-") == 0 ? "standard input" : path)))
    status = shoal_fail_memory(error);
  if (status == SHOAL_OK) status = shoal_source_open(path, &self->source, error);
  if (status == SHOAL_OK) {
    self->file = table->name;
    self->run = run;
    self->caller = pthread_self();
    shoal_source_set_wait(self->source, keep_waiting_or_stop, self);
    (void)pthread_mutex_init(&self->lock, NULL);
    status = load(self, table, options, error);
    (void)pthread_mutex_destroy(&self->lock);
    shoal_source_close(self->source);
    free(self->carry);
    free(self->pieces);
  }
  free(self);
  if (status != SHOAL_OK) {
    shoal_table_free(table);
    return status;
  }
  table->finished = true;
  table->seconds_read = shoal_seconds() - started;
  *out = table;
  return SHOAL_OK;
}
