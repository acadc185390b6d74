/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table/load: a CSV file into a table. Workers take turns at the file: the one that holds the lock
 * reads the next block of whole records, and encodes it after releasing the lock. Of several errors
 * in the file the first one is reported, whatever the number of workers.
 */
#include "table/load.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/hash.h"
#include "read/blocks.h"
#include "table/count.h"
#include "table/dictionary.h"

/* ------------------------------------------------------------ workers */

enum { MAX_PARTS = 64, MAX_DICTIONARIES = 50 * 1000 };

typedef struct loader {
  const char *file;
  const shoal_run *run;
  pthread_t caller;      /* only it may report progress */
  atomic_bool cancelled; /* the caller's progress callback asked to stop */
  size_t n_columns;
  const shoal_use *uses;
  shoal_load_part parts[MAX_PARTS];
  bool may_count;       /* the caller said which columns matter */
  bool hashes_blocks;   /* the file is read twice: its blocks must be the same */
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
  shoal_status status = shoal_run_report(
      self->run, "read", shoal_source_position(self->blocks.source),
      shoal_source_size(self->blocks.source), shoal_source_unit(self->blocks.source), error);
  if (status != SHOAL_OK) atomic_store(&self->cancelled, true);
  return status;
}

/* Called while input is slow: should reading stop? */
static bool keep_waiting_or_stop(void *user) {
  loader *self = user;
  shoal_error error;
  if (pthread_equal(pthread_self(), self->caller)) (void)report(self, &error);
  return atomic_load(&self->cancelled);
}

/* Takes the lock. The caller's thread reports progress while it waits: a read may take long. */
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
    if (shoal_run_report(self->run, "read", 0, 0, shoal_source_unit(self->blocks.source), &error) !=
        SHOAL_OK)
      atomic_store(&self->cancelled, true);
  }
}

/* Keeps the first failure of reading or progress; it comes after the blocks read so far. */
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

/* The next block and its number in file order. */
static bool next_block(loader *self, unsigned part, shoal_block *b, size_t *number) {
  shoal_error error;
  take_turn(self);
  bool got = !self->stopped && shoal_blocks_next(&self->blocks, b);
  if (got) {
    *number = self->n_pieces;
    if (!shoal_grow(&self->pieces, &self->pieces_capacity, *number + 1, sizeof *self->pieces)) {
      stop_with(self, shoal_fail_memory(&error), &error);
      got = false;
    } else {
      self->pieces[self->n_pieces++] = (shoal_piece){.part = part};
    }
  }
  if (self->blocks.status != SHOAL_OK) note_failure(self, self->blocks.status, &self->blocks.error);
  (void)pthread_mutex_unlock(&self->lock);
  return got;
}

/* Will all rows of the file, judged by those read so far, exceed the memory limit? */
static void weigh(loader *self, const shoal_load_part *part) {
  uint64_t limit = self->may_count && self->run ? self->run->memory_bytes : 0;
  if (!limit || atomic_load(&self->counting)) return;
  uint64_t size = shoal_source_size(self->blocks.source);
  uint64_t read = shoal_source_position(self->blocks.source);
  double whole = size && read && size > read ? (double)size / (double)read : 1.0;
  if (shoal_load_part_estimate(part, self->uses, self->n_columns, self->n_rows, whole) >
      (double)limit)
    atomic_store(&self->counting, true);
}

/* Notes the block's rows, or what is wrong with it. */
static void finish_block(loader *self, const shoal_block *b, size_t number, size_t first_row,
                         uint64_t hash, const shoal_load_part *part, shoal_csv_problem problem) {
  take_turn(self);
  self->pieces[number].hash = hash;
  self->pieces[number].first_row = first_row;
  self->pieces[number].n_rows = b->cells.n_rows;
  self->n_rows += b->cells.n_rows;
  if (problem.fault == SHOAL_CSV_OK) {
    weigh(self, part);
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
static shoal_csv_problem encode_block(loader *self, shoal_load_part *part, shoal_block *b,
                                      size_t number, uint64_t *hash) {
  *hash = self->hashes_blocks ? shoal_hash_bytes(b->bytes, b->size_bytes) : 0;
  shoal_csv_problem problem =
      shoal_csv_split(b->bytes, b->size_bytes, self->blocks.delimiter, self->n_columns, &b->cells);
  if (problem.fault != SHOAL_CSV_OK) return problem;
  bool ok = !atomic_load(&self->counting) || part->tuples ||
            shoal_load_part_count(part, self->uses, self->n_columns);
  ok = ok && shoal_load_part_add(part, self->uses, self->n_columns, b->bytes, b->cells.begin,
                                 b->cells.end, b->cells.n_rows, number);
  if (!ok) problem = (shoal_csv_problem){SHOAL_CSV_MEMORY, 0, 0};
  return problem;
}

static void work(void *user, unsigned i) {
  loader *self = user;
  shoal_load_part *part = &self->parts[i];
  shoal_block b;
  size_t number;
  shoal_block_init(&b);
  while (next_block(self, i, &b, &number)) {
    size_t first_row = part->n_rows;
    uint64_t hash;
    shoal_csv_problem problem = encode_block(self, part, &b, number, &hash);
    finish_block(self, &b, number, first_row, hash, part, problem);
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
  shoal_location location = {.file = self->file, .row = row};
  return shoal_fail_at(error, SHOAL_BAD_INPUT, &location, "%s", why);
}

/* Are the blocks those of the file as it was read before? */
static shoal_status compare_sources(shoal_table *table, const shoal_table_source *before,
                                    shoal_error *error) {
  const shoal_table_source *now = table->source;
  bool same = now->path && shoal_stamp_equal(&now->stamp, &before->stamp) &&
              now->n_pieces == before->n_pieces;
  for (size_t p = 0; same && p < now->n_pieces; p++)
    same = now->piece_hash[p] == before->piece_hash[p];
  if (!same) return shoal_table_source_changed(table, error);
  shoal_table_source_free(table->source); /* a table of all its columns needs the file no more */
  table->source = NULL;
  return SHOAL_OK;
}

/* Once one part counts its rows, all of them do. */
static shoal_status count_parts(loader *self, unsigned n_parts, shoal_error *error) {
  for (unsigned s = 0; atomic_load(&self->counting) && s < n_parts; s++)
    if (!self->parts[s].tuples &&
        !shoal_load_part_count(&self->parts[s], self->uses, self->n_columns))
      return shoal_fail_memory(error);
  return SHOAL_OK;
}

/* Merges the workers' parts into the table. */
static shoal_status merge(loader *self, shoal_table *table, const shoal_load_options *options,
                          unsigned n_parts, shoal_error *error) {
  shoal_merge_plan plan = {.parts = self->parts,
                           .n_parts = n_parts,
                           .pieces = self->pieces,
                           .n_pieces = self->n_pieces,
                           .uses = self->uses,
                           .missing = options->missing,
                           .n_missing = options->n_missing,
                           .unquote = options->unquote,
                           .n_threads = n_parts};
  SHOAL_TRY(count_parts(self, n_parts, error));
  SHOAL_TRY(shoal_table_merge_samples(table, &plan, error));
  if (!atomic_load(&self->counting)) {
    SHOAL_TRY(shoal_table_merge(table, &plan, error));
    table->n_records = table->n_rows;
    if (!self->hashes_blocks) return SHOAL_OK;
    SHOAL_TRY(shoal_table_note_source(table, &plan, &self->blocks, error));
    return options->again ? compare_sources(table, options->again, error) : SHOAL_OK;
  }
  SHOAL_TRY(shoal_table_merge_counted(table, &plan, error));
  return shoal_table_note_source(table, &plan, &self->blocks, error);
}

static shoal_status run_workers(loader *self, shoal_table *table, const shoal_load_options *options,
                                shoal_error *error) {
  unsigned n = shoal_run_threads(self->run), ready = 0;
  uint64_t size = table->columns_in_database ? 0 : shoal_source_size(self->blocks.source);
  if (size && n > size / SHOAL_BLOCK_BYTES + 1) n = (unsigned)(size / SHOAL_BLOCK_BYTES + 1);
  while (n > 1 && n * self->n_columns > MAX_DICTIONARIES) n--; /* each part has one per column */
  shoal_status status = SHOAL_OK;
  while (ready < n && shoal_load_part_init(&self->parts[ready], self->uses, self->n_columns))
    self->parts[ready++].sampling = options->sampling;
  if (ready < n) status = shoal_fail_memory(error);
  if (status == SHOAL_OK) {
    shoal_parallel(n, work, self);
    status = explain_problem(self, error);
    if ((status == SHOAL_OK || status == SHOAL_BAD_INPUT) &&
        shoal_source_touched(self->blocks.source))
      status = shoal_table_source_changed(table, error); /* a row may have been read by half */
  }
  if (status == SHOAL_OK) status = merge(self, table, options, n, error);
  for (unsigned i = 0; i < ready; i++) shoal_load_part_reset(&self->parts[i], self->n_columns);
  if (status != SHOAL_OK) return status;
  shoal_location location = {.file = table->name};
  if (table->n_rows == 0)
    return shoal_fail_at(error, SHOAL_BAD_INPUT, &location,
                         "has a header but no rows: give it at least one");
  return SHOAL_OK;
}

/* ------------------------------------------------------------ columns left in the file */

/*
 * Is it cheaper to read the file again than to encode the columns that are only copied? A second
 * pass splits all cells (about 2 ns each) and moves every released byte once more; encoding and
 * rendering a cell costs 10 to 40 ns and a few bytes of memory. Decompressing again costs about
 * 15 ns a cell. A file of one or two blocks is not worth a second pass.
 */
static bool leaving_pays(const loader *self, const shoal_use *uses) {
  enum { MIN_BYTES = 1 << 20, MIN_COLUMNS = 8, MIN_COMPRESSED_COLUMNS = 32, MIN_SHARE = 4 };
  shoal_stamp stamp;
  size_t n = 0;
  for (size_t c = 0; c < self->n_columns; c++) n += uses[c] == SHOAL_USE_COPY;
  bool compressed = shoal_source_is_compressed(self->blocks.source);
  return n >= (compressed ? MIN_COMPRESSED_COLUMNS : MIN_COLUMNS) &&
         n * MIN_SHARE >= self->n_columns && shoal_source_size(self->blocks.source) >= MIN_BYTES &&
         shoal_source_stamp(self->blocks.source, &stamp);
}

/* ------------------------------------------------------------ the whole */

static shoal_status load(loader *self, shoal_table *table, const shoal_load_options *options,
                         shoal_error *error) {
  SHOAL_TRY(shoal_table_take_header(&self->blocks, table, options->delimiter, error));
  self->n_columns = table->n_columns;
  const shoal_database_columns *named = table->columns_in_database;
  if (named) table->from_file = false;
  for (size_t c = 0; named && c < table->n_columns; c++)
    table->columns[c].has_plain_numbers = named->items[c].is_number;
  shoal_use *uses = shoal_alloc(table->n_columns, sizeof *uses);
  const char **names = shoal_alloc(table->n_columns, sizeof *names);
  shoal_status status = uses && names ? SHOAL_OK : shoal_fail_memory(error);
  for (size_t c = 0; status == SHOAL_OK && c < table->n_columns; c++) {
    uses[c] = SHOAL_USE_CODES;
    names[c] = table->columns[c].name;
  }
  self->uses = uses;
  self->may_count = options->plan != NULL && !options->again;
  if (status == SHOAL_OK && options->plan)
    status = options->plan(options->plan_user, table->name, names, table->n_columns, uses, error);
  bool leave = status == SHOAL_OK && leaving_pays(self, uses);
  for (size_t c = 0; status == SHOAL_OK && c < table->n_columns; c++) {
    table->columns[c].is_left = leave && uses[c] == SHOAL_USE_COPY;
    if (!leave && uses[c] == SHOAL_USE_COPY) uses[c] = SHOAL_USE_KEEP;
  }
  self->hashes_blocks = leave || options->again;
  if (status == SHOAL_OK) status = run_workers(self, table, options, error);
  free(names);
  free(uses);
  return status;
}

/* The table keeps what its database says about the columns. */
static shoal_status take_database(loader *self, shoal_table *table, shoal_error *error) {
  shoal_database_columns *columns = shoal_source_columns(self->blocks.source);
  if (!columns) return SHOAL_OK;
  table->columns_in_database = shoal_alloc(1, sizeof *columns);
  if (!table->columns_in_database) return shoal_fail_memory(error);
  *table->columns_in_database = *columns;
  memset(columns, 0, sizeof *columns);
  return SHOAL_OK;
}

shoal_status shoal_table_load(const char *path, const shoal_load_options *options,
                              const shoal_run *run, shoal_table **out, shoal_error *error) {
  *out = NULL;
  double started = shoal_seconds();
  shoal_table *table = shoal_alloc_zero(1, sizeof *table);
  loader *self = shoal_alloc_zero(1, sizeof *self);
  shoal_status status = SHOAL_OK;
  if (!table || !self || !(table->name = shoal_display_path(path)))
    status = shoal_fail_memory(error);
  if (status == SHOAL_OK)
    status = shoal_blocks_open(&self->blocks, path, table->name, options->encoding,
                               options->or_utf8, error);
  if (status == SHOAL_OK) {
    self->file = table->name;
    self->run = run;
    self->caller = pthread_self();
    shoal_source_set_wait(self->blocks.source, keep_waiting_or_stop, self);
    (void)pthread_mutex_init(&self->lock, NULL);
    status = shoal_source_start(self->blocks.source, options->delimiter,
                                options->null_cell ? options->null_cell : "", error);
    if (status == SHOAL_OK) status = take_database(self, table, error);
    if (status == SHOAL_OK && shoal_run_threads(run) > 1)
      status = shoal_source_read_ahead(self->blocks.source, error);
    if (status == SHOAL_OK) status = load(self, table, options, error);
    table->detected_encoding = shoal_source_encoding(self->blocks.source);
    (void)pthread_mutex_destroy(&self->lock);
    shoal_blocks_close(&self->blocks);
    free(self->pieces);
  }
  free(self);
  if (status != SHOAL_OK) {
    shoal_table_delete(table);
    return status;
  }
  table->finished = true;
  table->seconds_read = shoal_seconds() - started;
  *out = table;
  return SHOAL_OK;
}

/* Plans to read only what `user`, a table, has left in its file. */
static shoal_status plan_kept(void *user, const char *file, const char *const *names,
                              size_t n_columns, shoal_use *uses, shoal_error *error) {
  const shoal_table *table = user;
  (void)file;
  bool same = n_columns == table->n_columns;
  for (size_t c = 0; same && c < n_columns; c++) {
    same = strcmp(names[c], table->columns[c].name) == 0;
    uses[c] = table->columns[c].is_left ? SHOAL_USE_CODES : SHOAL_USE_NONE;
  }
  return same ? SHOAL_OK : shoal_table_source_changed(table, error);
}

shoal_status shoal_table_load_kept(const shoal_table *table, const char *const *missing,
                                   size_t n_missing, const shoal_run *run, shoal_table **kept,
                                   shoal_error *error) {
  assert(shoal_table_leaves_columns(table));
  shoal_load_options options = {.delimiter = table->delimiter,
                                .encoding = table->source->encoding,
                                .or_utf8 = table->source->or_utf8,
                                .missing = missing,
                                .n_missing = n_missing,
                                .plan = plan_kept,
                                .plan_user = (void *)(uintptr_t)table,
                                .again = table->source};
  return shoal_table_load(table->source->path, &options, run, kept, error);
}
