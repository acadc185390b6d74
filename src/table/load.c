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

#include "read/blocks.h"
#include "table/count.h"
#include "table/dictionary.h"

enum { MAX_SHARES = 64, MAX_DICTIONARIES = 50 * 1000 };

typedef struct loader {
  const char *file;
  const shoal_run *run;
  pthread_t caller;      /* only it may report progress */
  atomic_bool cancelled; /* the caller's progress callback asked to stop */
  size_t n_columns;
  const shoal_use *uses;
  shoal_share shares[MAX_SHARES];
  bool may_count;       /* somebody has said which columns matter */
  atomic_bool counting; /* rows do not fit into memory: distinct ones are counted */
  pthread_mutex_t lock; /* guards what follows */
  shoal_blocks blocks;
  bool stopped;    /* something went wrong */
  uint64_t n_rows; /* so far */
  shoal_piece *pieces;
  size_t n_pieces, pieces_capacity;
  shoal_status status; /* of reading or progress */
  size_t status_piece; /* the piece that could not be had */
  shoal_error error;
  size_t problem_piece; /* earliest piece with a problem */
  shoal_csv_problem problem;
} loader;

static shoal_status report(loader *self, shoal_error *error) {
  shoal_status status =
      shoal_run_report(self->run, "read", shoal_source_position(self->blocks.source),
                       shoal_source_size(self->blocks.source), "bytes", error);
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

/* The next block and its number in the file's order; what ended the reading stands behind it. */
static bool next_block(loader *self, unsigned share, shoal_block *b, size_t *number) {
  shoal_error error;
  take_turn(self);
  bool got = !self->stopped && shoal_blocks_next(&self->blocks, b);
  if (got) {
    *number = self->n_pieces;
    if (!shoal_grow(&self->pieces, &self->pieces_capacity, *number + 1, sizeof *self->pieces)) {
      stop_with(self, shoal_fail_memory(&error), &error);
      got = false;
    } else {
      self->pieces[self->n_pieces++] = (shoal_piece){.share = share};
    }
  }
  if (self->blocks.status != SHOAL_OK) note_failure(self, self->blocks.status, &self->blocks.error);
  (void)pthread_mutex_unlock(&self->lock);
  return got;
}

/* Would all rows of the file, by what is known of it so far, need more memory than there may be? */
static void weigh(loader *self, const shoal_share *share) {
  uint64_t limit = self->may_count && self->run ? self->run->memory_bytes : 0;
  if (!limit || atomic_load(&self->counting)) return;
  uint64_t size = shoal_source_size(self->blocks.source);
  uint64_t read = shoal_source_position(self->blocks.source);
  double whole = size && read && size > read ? (double)size / (double)read : 1.0;
  if (shoal_share_estimate(share, self->uses, self->n_columns, self->n_rows, whole) > (double)limit)
    atomic_store(&self->counting, true);
}

/* Notes the block's rows, or what is wrong with it. */
static void finish_block(loader *self, const shoal_block *b, size_t number, size_t first_row,
                         const shoal_share *share, shoal_csv_problem problem) {
  take_turn(self);
  self->pieces[number].first_row = first_row;
  self->pieces[number].n_rows = b->cells.n_rows;
  self->n_rows += b->cells.n_rows;
  if (problem.fault == SHOAL_CSV_OK) {
    weigh(self, share);
  } else {
    self->stopped = true;
    if (self->problem.fault == SHOAL_CSV_OK || number < self->problem_piece) {
      self->problem = problem;
      self->problem_piece = number;
    }
  }
  (void)pthread_mutex_unlock(&self->lock);
}

/* Splits and encodes a block; rows that were kept are counted first, once that is decided. */
static shoal_csv_problem encode_block(loader *self, shoal_share *share, shoal_block *b,
                                      size_t number) {
  shoal_csv_problem problem =
      shoal_csv_split(b->bytes, b->size_bytes, self->blocks.delimiter, self->n_columns, &b->cells);
  if (problem.fault != SHOAL_CSV_OK) return problem;
  bool ok = !atomic_load(&self->counting) || share->tuples ||
            shoal_share_count(share, self->uses, self->n_columns);
  ok = ok && shoal_share_add(share, self->uses, self->n_columns, b->bytes, b->cells.begin,
                             b->cells.end, b->cells.n_rows, number);
  if (!ok) problem = (shoal_csv_problem){SHOAL_CSV_MEMORY, 0, 0};
  return problem;
}

static void work(void *user, unsigned i) {
  loader *self = user;
  shoal_share *share = &self->shares[i];
  shoal_block b;
  size_t number;
  shoal_block_init(&b);
  while (next_block(self, i, &b, &number)) {
    size_t first_row = share->n_rows;
    shoal_csv_problem problem = encode_block(self, share, &b, number);
    finish_block(self, &b, number, first_row, share, problem);
    if (i != 0) continue;
    take_turn(self);
    shoal_error error;
    shoal_status status = report(self, &error);
    if (status != SHOAL_OK) stop_with(self, status, &error);
    (void)pthread_mutex_unlock(&self->lock);
  }
  shoal_block_reset(&b);
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

/* The workers' shares become the table. */
static shoal_status merge(loader *self, shoal_table *table, const shoal_load_options *options,
                          unsigned n_shares, shoal_error *error) {
  shoal_merge_plan plan = {.shares = self->shares,
                           .n_shares = n_shares,
                           .pieces = self->pieces,
                           .n_pieces = self->n_pieces,
                           .uses = self->uses,
                           .missing = options->missing,
                           .n_missing = options->n_missing,
                           .unquote = options->unquote,
                           .n_threads = n_shares};
  if (!atomic_load(&self->counting)) {
    SHOAL_TRY(shoal_table_merge(table, &plan, error));
    table->n_records = table->n_rows;
    return SHOAL_OK;
  }
  for (unsigned s = 0; s < n_shares; s++)
    if (!self->shares[s].tuples &&
        !shoal_share_count(&self->shares[s], self->uses, self->n_columns))
      return shoal_fail_memory(error);
  SHOAL_TRY(shoal_table_merge_counted(table, &plan, error));
  return shoal_table_note_origin(table, &plan, &self->blocks, error);
}

static shoal_status run_workers(loader *self, shoal_table *table, const shoal_load_options *options,
                                shoal_error *error) {
  unsigned n = shoal_run_threads(self->run), ready = 0;
  uint64_t size = shoal_source_size(self->blocks.source);
  if (size && n > size / SHOAL_BLOCK_BYTES + 1) n = (unsigned)(size / SHOAL_BLOCK_BYTES + 1);
  while (n > 1 && n * self->n_columns > MAX_DICTIONARIES) n--; /* each share has one a column */
  shoal_status status = SHOAL_OK;
  while (ready < n && shoal_share_init(&self->shares[ready], self->uses, self->n_columns)) ready++;
  if (ready < n) status = shoal_fail_memory(error);
  if (status == SHOAL_OK) {
    shoal_parallel(n, work, self);
    status = explain_problem(self, error);
    if ((status == SHOAL_OK || status == SHOAL_BAD_INPUT) &&
        shoal_source_touched(self->blocks.source))
      status = shoal_origin_changed(table, error); /* a row may be there by half */
  }
  if (status == SHOAL_OK) status = merge(self, table, options, n, error);
  for (unsigned i = 0; i < ready; i++) shoal_share_reset(&self->shares[i], self->n_columns);
  if (status != SHOAL_OK) return status;
  shoal_place place = {.file = table->name};
  if (table->n_rows == 0)
    return shoal_fail_at(error, SHOAL_BAD_INPUT, &place,
                         "has a header but no rows: give it at least one");
  return SHOAL_OK;
}

/* ------------------------------------------------------------ the whole */

static shoal_status load(loader *self, shoal_table *table, const shoal_load_options *options,
                         shoal_error *error) {
  SHOAL_TRY(shoal_table_take_header(&self->blocks, table, options->delimiter, error));
  self->n_columns = table->n_columns;
  shoal_use *uses = shoal_alloc(table->n_columns, sizeof *uses);
  const char **names = shoal_alloc(table->n_columns, sizeof *names);
  shoal_status status = uses && names ? SHOAL_OK : shoal_fail_memory(error);
  for (size_t c = 0; status == SHOAL_OK && c < table->n_columns; c++) {
    uses[c] = SHOAL_USE_CODES;
    names[c] = table->columns[c].name;
  }
  self->uses = uses;
  self->may_count = options->plan != NULL;
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
  if (status == SHOAL_OK) status = shoal_blocks_open(&self->blocks, path, table->name, error);
  if (status == SHOAL_OK) {
    self->file = table->name;
    self->run = run;
    self->caller = pthread_self();
    shoal_source_set_wait(self->blocks.source, keep_waiting_or_stop, self);
    (void)pthread_mutex_init(&self->lock, NULL);
    if (shoal_run_threads(run) > 1) status = shoal_source_read_ahead(self->blocks.source, error);
    if (status == SHOAL_OK) status = load(self, table, options, error);
    (void)pthread_mutex_destroy(&self->lock);
    shoal_blocks_close(&self->blocks);
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
