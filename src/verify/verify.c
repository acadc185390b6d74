/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verify: see verify.h. The way back of a release: file -> rows of cells (reader.c) -> rows
 * counted by class and sensitive value (here, in tables.c) -> verdict on each model (models.c).
 *
 * One pass. A class is the tuple of a row's quasi-identifier cells; its key holds each cell's
 * length before the cell, so that no two different tuples have the same key. Keys, and the values
 * of each sensitive attribute, are numbered, and the rows of each pair (class, value) counted.
 * When all rows are read, the pairs are sorted by class for the models. Guarding nodes are read
 * from their own file, a row of it with each row of the release, and counted like a value.
 *
 * A shuffled release touches the tables in no order, and nearly all the time would go into
 * waiting for memory. Rows are therefore counted in batches: each step asks for the memory of the
 * next one, for all rows of the batch, before that one begins.
 */
#include "verify/verify.h"

#include <stdlib.h>
#include <string.h>

#include "verify/models.h"
#include "verify/reader.h"
#include "verify/tables.h"

enum {
  LENGTH_BYTES = 10, /* the most that a cell's length takes in a key: 7 bits a byte */
  BATCH_ROWS = 64,
  BATCH_BYTES = 1 << 20 /* a batch of large cells ends sooner */
};

#define RELEASE "the release"
#define GUARDS "the file of guarding nodes"

/* A byte string of a row, to be found in a dictionary. */
typedef struct lookup {
  uint64_t hash;
  size_t at; /* in the batch's text */
  size_t size_bytes;
  shoal_verify_entry *found;
} lookup;

/* A column whose values are counted by class: of a sensitive attribute, or of guarding nodes. */
typedef struct value_counter {
  size_t column; /* of the cells at hand */
  const shoal_verify_knowledge *known;
  shoal_verify_dictionary values; /* the missing spellings first, then the known values */
  uint32_t n_missing;
  shoal_verify_pairs pairs;
} value_counter;

typedef struct counter {
  const shoal_verify_claim *claim;
  shoal_verify_cell *cells; /* of the row at hand, the guarding node behind the others */
  size_t *quasi;            /* columns of the quasi-identifiers */
  shoal_verify_dictionary classes;
  value_counter *counted; /* the sensitive attributes, then the guarding nodes if there are any */
  size_t n_counted;
  char *guard_column; /* the header of their file */
  lookup *batch;      /* of each waiting row: its class, then each counted value */
  size_t n_waiting;
  char *text; /* the bytes of the batch */
  size_t text_bytes;
  size_t text_capacity;
  uint64_t n_rows; /* counted, without the waiting ones */
} counter;

/* ---------------------------------------------------------------- before the first row */

/* The column of a role's attribute: it must stand in the header once, or it is ambiguous. */
static shoal_status find_column(const shoal_verify_claim *claim, const char *name, size_t *column,
                                shoal_error *error) {
  size_t n_found = 0;
  for (size_t i = 0; i < claim->n_columns; i++) {
    if (strcmp(claim->columns[i], name)) continue;
    *column = i;
    n_found++;
  }
  if (n_found == 1) return SHOAL_OK;
  return shoal_fail(error, SHOAL_FAILED, "the attribute '%.200s' is %s of the release; %s", name,
                    n_found ? "more than one column" : "no column", SHOAL_VERIFY_FAULT);
}

/* Gives a value the next number; *is_new is false if it has one already. */
static shoal_status number_value(value_counter *counted, const char *value, bool *is_new,
                                 shoal_error *error) {
  size_t size_bytes = strlen(value);
  uint64_t hash = shoal_hash_bytes(value, size_bytes);
  uint32_t next = counted->values.n_entries;
  const shoal_verify_entry *entry = shoal_verify_intern(&counted->values, hash, value, size_bytes);
  if (!entry) return shoal_fail_memory(error);
  *is_new = entry->id == next;
  return SHOAL_OK;
}

static shoal_status counted_init(const shoal_verify_claim *claim, value_counter *counted,
                                 const char *name, shoal_error *error) {
  bool is_new = false;
  if (!shoal_verify_dictionary_init(&counted->values) || !shoal_verify_pairs_init(&counted->pairs))
    return shoal_fail_memory(error);
  for (size_t i = 0; i < claim->n_missing; i++)
    SHOAL_TRY(number_value(counted, claim->missing[i], &is_new, error));
  counted->n_missing = counted->values.n_entries;
  for (size_t i = 0; counted->known && i < counted->known->n_values; i++) {
    SHOAL_TRY(number_value(counted, counted->known->values[i].value, &is_new, error));
    if (!is_new)
      return shoal_fail(error, SHOAL_FAILED,
                        "a known value of '%.200s' is known twice, or is a "
                        "spelling of a missing one; %s",
                        name, SHOAL_VERIFY_FAULT);
  }
  return SHOAL_OK;
}

static bool counter_alloc(counter *count) {
  const shoal_verify_claim *claim = count->claim;
  if (claim->n_columns == SIZE_MAX || claim->n_sensitive >= SIZE_MAX / BATCH_ROWS - 1) return false;
  size_t n_counted = claim->n_sensitive + (claim->guards_fd >= 0);
  count->cells = shoal_alloc_zero(claim->n_columns + 1, sizeof *count->cells);
  count->quasi = shoal_alloc_zero(claim->n_quasi, sizeof *count->quasi);
  count->counted = shoal_alloc_zero(n_counted, sizeof *count->counted);
  if (count->counted) count->n_counted = n_counted;
  count->batch = shoal_alloc_zero((n_counted + 1) * BATCH_ROWS, sizeof *count->batch);
  return count->cells && count->quasi && count->counted && count->batch &&
         shoal_verify_dictionary_init(&count->classes);
}

static shoal_status counter_init(counter *count, shoal_error *error) {
  const shoal_verify_claim *claim = count->claim;
  if (!counter_alloc(count)) return shoal_fail_memory(error);
  for (size_t i = 0; i < claim->n_quasi; i++)
    SHOAL_TRY(find_column(claim, claim->quasi[i], &count->quasi[i], error));
  for (size_t i = 0; i < claim->n_sensitive; i++) {
    value_counter *counted = &count->counted[i];
    SHOAL_TRY(find_column(claim, claim->sensitive[i], &counted->column, error));
    if (claim->attributes) counted->known = &claim->attributes[i];
    SHOAL_TRY(counted_init(claim, counted, claim->sensitive[i], error));
  }
  if (claim->guards_fd < 0) return SHOAL_OK;
  value_counter *guards = &count->counted[claim->n_sensitive];
  guards->column = claim->n_columns;
  return counted_init(claim, guards, "", error);
}

static void counter_reset(counter *count) {
  for (size_t i = 0; i < count->n_counted; i++) {
    shoal_verify_dictionary_reset(&count->counted[i].values);
    shoal_verify_pairs_reset(&count->counted[i].pairs);
  }
  shoal_verify_dictionary_reset(&count->classes);
  free(count->cells);
  free(count->quasi);
  free(count->counted);
  free(count->guard_column);
  free(count->batch);
  free(count->text);
}

static shoal_status check_header(counter *count, shoal_verify_reader *reader, shoal_error *error) {
  const shoal_verify_claim *claim = count->claim;
  bool found;
  SHOAL_TRY(shoal_verify_reader_next(reader, count->cells, claim->n_columns, &found, error));
  bool same = found;
  for (size_t i = 0; same && i < claim->n_columns; i++)
    same = strlen(claim->columns[i]) == count->cells[i].size_bytes &&
           !memcmp(claim->columns[i], count->cells[i].bytes, count->cells[i].size_bytes);
  if (same) return SHOAL_OK;
  return shoal_fail(error, SHOAL_FAILED, "the release %s; %s",
                    found ? "has another header than it must have" : "is empty",
                    SHOAL_VERIFY_FAULT);
}

/* Whether the guarding nodes are those of the right column is for the model to say. */
static shoal_status read_guard_header(counter *count, shoal_verify_reader *guards,
                                      shoal_error *error) {
  bool found;
  shoal_verify_cell header;
  SHOAL_TRY(shoal_verify_reader_next(guards, &header, 1, &found, error));
  if (!found) return shoal_fail(error, SHOAL_FAILED, GUARDS " is empty; %s", SHOAL_VERIFY_FAULT);
  count->guard_column = shoal_alloc(header.size_bytes + 1, 1);
  if (!count->guard_column) return shoal_fail_memory(error);
  memcpy(count->guard_column, header.bytes, header.size_bytes);
  count->guard_column[header.size_bytes] = '\0';
  return SHOAL_OK;
}

/* ---------------------------------------------------------------- counting rows */

/* Room for a cell and its length behind the batch's text; false: no memory. */
static bool reserve_text(counter *count, size_t size_bytes) {
  if (count->text_bytes > SIZE_MAX / 2 - LENGTH_BYTES ||
      size_bytes > SIZE_MAX / 2 - LENGTH_BYTES - count->text_bytes)
    return false;
  size_t needed = count->text_bytes + LENGTH_BYTES + size_bytes;
  return needed <= count->text_capacity ||
         shoal_grow(&count->text, &count->text_capacity, needed, 1);
}

static void add_text(counter *count, const shoal_verify_cell *cell) {
  memcpy(count->text + count->text_bytes, cell->bytes, cell->size_bytes);
  count->text_bytes += cell->size_bytes;
}

/* Ends the lookup of the text added since wanted->at. */
static void end_lookup(const counter *count, lookup *wanted) {
  wanted->size_bytes = count->text_bytes - wanted->at;
  wanted->hash = shoal_hash_bytes(count->text + wanted->at, wanted->size_bytes);
}

/* Adds the row at hand to the batch; false: no memory. */
static bool add_row(counter *count) {
  const shoal_verify_claim *claim = count->claim;
  lookup *wanted = &count->batch[count->n_waiting * (count->n_counted + 1)];
  if (!reserve_text(count, 0)) return false; /* a key of no cells has an address, too */
  wanted->at = count->text_bytes;
  for (size_t i = 0; i < claim->n_quasi; i++) {
    const shoal_verify_cell *cell = &count->cells[count->quasi[i]];
    if (!reserve_text(count, cell->size_bytes)) return false;
    size_t length = cell->size_bytes;
    for (; length > 0x7f; length >>= 7)
      count->text[count->text_bytes++] = (char)(0x80 | (length & 0x7f));
    count->text[count->text_bytes++] = (char)length;
    add_text(count, cell);
  }
  end_lookup(count, wanted);
  __builtin_prefetch(shoal_verify_slot_of(&count->classes, wanted->hash));
  for (size_t i = 0; i < count->n_counted; i++) {
    const shoal_verify_cell *cell = &count->cells[count->counted[i].column];
    if (!reserve_text(count, cell->size_bytes)) return false;
    wanted++;
    wanted->at = count->text_bytes;
    add_text(count, cell);
    end_lookup(count, wanted);
    __builtin_prefetch(shoal_verify_slot_of(&count->counted[i].values, wanted->hash));
  }
  count->n_waiting++;
  return true;
}

static bool find_entry(const counter *count, shoal_verify_dictionary *dictionary, lookup *wanted) {
  wanted->found =
      shoal_verify_intern(dictionary, wanted->hash, count->text + wanted->at, wanted->size_bytes);
  return wanted->found != NULL;
}

/* Finds the class and the values of one row, and asks for the memory of their pairs. */
static bool find_row(counter *count, lookup *row) {
  if (!find_entry(count, &count->classes, row)) return false;
  row->found->n_rows++;
  for (size_t i = 0; i < count->n_counted; i++) {
    value_counter *counted = &count->counted[i];
    if (!find_entry(count, &counted->values, &row[i + 1])) return false;
    uint64_t key = shoal_verify_pair_key(row->found->id, row[i + 1].found->id);
    __builtin_prefetch(shoal_verify_pair_of(&counted->pairs, key), 1);
  }
  return true;
}

static bool count_pairs(counter *count, const lookup *row) {
  for (size_t i = 0; i < count->n_counted; i++) {
    value_counter *counted = &count->counted[i];
    uint32_t value = row[i + 1].found->id;
    if (value < counted->n_missing) continue; /* a row of the class, but no value */
    uint64_t key = shoal_verify_pair_key(row->found->id, value);
    if (!shoal_verify_count_pair(&counted->pairs, key)) return false;
  }
  return true;
}

/* Counts the waiting rows and empties the batch; false: no memory. */
static bool count_batch(counter *count) {
  size_t width = count->n_counted + 1;
  lookup *end = count->batch + count->n_waiting * width;
  for (lookup *row = count->batch; row < end; row += width) {
    uintptr_t entry = (uintptr_t)shoal_verify_entry_of(&count->classes, row->hash);
    __builtin_prefetch((const void *)entry, 1);
    __builtin_prefetch((const void *)(entry + 64)); /* most keys reach into a second cache line */
    for (size_t i = 1; i < width; i++)
      __builtin_prefetch(shoal_verify_entry_of(&count->counted[i - 1].values, row[i].hash));
  }
  for (lookup *row = count->batch; row < end; row += width)
    if (!find_row(count, row)) return false;
  for (lookup *row = count->batch; row < end; row += width)
    if (!count_pairs(count, row)) return false;
  count->n_rows += count->n_waiting;
  count->n_waiting = 0;
  count->text_bytes = 0;
  return true;
}

/* The guarding node of the row at hand; behind the last row there must be none either. */
static shoal_status read_guard(counter *count, shoal_verify_reader *guards, bool wanted,
                               shoal_error *error) {
  bool found;
  if (!guards) return SHOAL_OK;
  shoal_verify_cell *cell = &count->cells[count->claim->n_columns];
  SHOAL_TRY(shoal_verify_reader_next(guards, cell, 1, &found, error));
  if (found == wanted) return SHOAL_OK;
  return shoal_fail(error, SHOAL_FAILED, GUARDS " has %s rows than the release; %s",
                    found ? "more" : "fewer", SHOAL_VERIFY_FAULT);
}

static shoal_status count_rows(counter *count, shoal_verify_reader *reader,
                               shoal_verify_reader *guards, shoal_error *error) {
  const shoal_verify_claim *claim = count->claim;
  for (;;) {
    bool found;
    SHOAL_TRY(shoal_verify_reader_next(reader, count->cells, claim->n_columns, &found, error));
    SHOAL_TRY(read_guard(count, guards, found, error));
    if (!found) break;
    if (claim->n_rows - count->n_rows == count->n_waiting) /* also why no count can wrap */
      return shoal_fail(error, SHOAL_FAILED,
                        "the release has more rows than the %llu it must "
                        "have; %s",
                        (unsigned long long)claim->n_rows, SHOAL_VERIFY_FAULT);
    if (!add_row(count)) return shoal_fail_memory(error);
    bool full = count->n_waiting == BATCH_ROWS || count->text_bytes >= BATCH_BYTES;
    if (full && !count_batch(count)) return shoal_fail_memory(error);
  }
  if (!count_batch(count)) return shoal_fail_memory(error);
  if (count->n_rows == claim->n_rows && count->n_rows > 0) return SHOAL_OK;
  return shoal_fail(error, SHOAL_FAILED, "the release has %llu rows where %s%llu must be; %s",
                    (unsigned long long)count->n_rows, claim->n_rows ? "" : "more than ",
                    (unsigned long long)claim->n_rows, SHOAL_VERIFY_FAULT);
}

/* ---------------------------------------------------------------- the tally */

/*
 * The pairs of one attribute, sorted by class: a counting sort. Values are numbered without the
 * missing spellings from here on. The pairs are freed; false: no memory.
 */
static bool tally_attribute(shoal_verify_attribute *attribute, size_t n_classes,
                            value_counter *counted) {
  enum { AHEAD = 16 }; /* slots to look ahead: classes are in no order here either */
  const shoal_verify_pairs *pairs = &counted->pairs;
  size_t n_slots = (size_t)1 << pairs->bits, mask = n_slots - 1;
  size_t *starts = attribute->starts = shoal_alloc_zero(n_classes + 1, sizeof *starts);
  attribute->counts = shoal_alloc(pairs->n_used, sizeof *attribute->counts);
  if (!starts || !attribute->counts) return false;
  for (size_t i = 0; i < n_slots; i++) {
    __builtin_prefetch(&starts[pairs->slots[(i + AHEAD) & mask].key >> 32], 1);
    if (pairs->slots[i].n_rows) starts[pairs->slots[i].key >> 32]++;
  }
  size_t end = 0;
  for (size_t c = 0; c <= n_classes; c++) {
    end += starts[c];
    starts[c] = end; /* the end of the class: filled from behind, it becomes the start */
  }
  for (size_t i = 0; i < n_slots; i++) {
    __builtin_prefetch(&starts[pairs->slots[(i + 2 * AHEAD) & mask].key >> 32], 1);
    __builtin_prefetch(&attribute->counts[starts[pairs->slots[(i + AHEAD) & mask].key >> 32]], 1);
    const shoal_verify_pair *slot = &pairs->slots[i];
    if (!slot->n_rows) continue;
    attribute->counts[--starts[slot->key >> 32]] = (shoal_verify_count){
        .n_rows = slot->n_rows, .value = (uint32_t)slot->key - counted->n_missing};
  }
  attribute->known = counted->known;
  attribute->n_values = counted->values.n_entries - counted->n_missing;
  shoal_verify_pairs_reset(&counted->pairs);
  return true;
}

static bool tally_guards(counter *count, shoal_verify_tally *tally) {
  value_counter *counted = &count->counted[count->claim->n_sensitive];
  const shoal_verify_dictionary *values = &counted->values;
  tally->guards.name = count->guard_column;
  if (!tally_attribute(&tally->guards, tally->n_classes, counted)) return false;
  tally->guard_texts = shoal_alloc(tally->guards.n_values, sizeof *tally->guard_texts);
  if (!tally->guard_texts) return false;
  for (size_t i = 0; i < (size_t)1 << values->bits; i++) {
    const shoal_verify_entry *entry = values->slots[i].entry;
    if (entry && entry->id >= counted->n_missing)
      tally->guard_texts[entry->id - counted->n_missing] = entry;
  }
  return true;
}

/* Hands the counts over; false: no memory. */
static bool tally_all(counter *count, shoal_verify_tally *tally) {
  const shoal_verify_claim *claim = count->claim;
  const shoal_verify_dictionary *classes = &count->classes;
  tally->n_rows = count->n_rows;
  tally->n_classes = classes->n_entries;
  tally->class_rows = shoal_alloc(tally->n_classes, sizeof *tally->class_rows);
  tally->attributes = shoal_alloc_zero(claim->n_sensitive, sizeof *tally->attributes);
  if (!tally->class_rows || !tally->attributes) return false;
  tally->n_attributes = claim->n_sensitive;
  for (size_t i = 0; i < (size_t)1 << classes->bits; i++) {
    const shoal_verify_entry *entry = classes->slots[i].entry;
    if (entry) tally->class_rows[entry->id] = entry->n_rows;
  }
  for (size_t i = 0; i < claim->n_sensitive; i++) {
    tally->attributes[i].name = claim->sensitive[i];
    if (!tally_attribute(&tally->attributes[i], tally->n_classes, &count->counted[i])) return false;
  }
  return claim->guards_fd < 0 || tally_guards(count, tally);
}

static void tally_reset(shoal_verify_tally *tally) {
  for (size_t i = 0; i < tally->n_attributes; i++) {
    free(tally->attributes[i].starts);
    free(tally->attributes[i].counts);
  }
  free(tally->attributes);
  free(tally->guards.starts);
  free(tally->guards.counts);
  free(tally->guard_texts);
  free(tally->class_rows);
}

static void fill_finding(const shoal_verify_tally *tally, shoal_verify_finding *finding) {
  uint64_t smallest = tally->n_rows;
  for (size_t c = 0; c < tally->n_classes; c++)
    if (tally->class_rows[c] < smallest) smallest = tally->class_rows[c];
  finding->n_rows = tally->n_rows;
  finding->n_classes = tally->n_classes;
  finding->smallest_class = smallest;
}

/* `guards` is NULL if there is no file of guarding nodes. */
static shoal_status verify_with(counter *count, shoal_verify_tally *tally,
                                shoal_verify_reader *reader, shoal_verify_reader *guards,
                                shoal_error *error) {
  SHOAL_TRY(check_header(count, reader, error));
  if (guards) SHOAL_TRY(read_guard_header(count, guards, error));
  SHOAL_TRY(count_rows(count, reader, guards, error));
  if (!tally_all(count, tally)) return shoal_fail_memory(error);
  return shoal_verify_models(count->claim, tally, error);
}

shoal_status shoal_verify(int fd, const shoal_verify_claim *claim, const shoal_run *run,
                          shoal_verify_finding *finding, shoal_error *error) {
  counter count = {.claim = claim};
  shoal_verify_tally tally = {0};
  shoal_verify_reader *reader = NULL, *guards = NULL;
  shoal_status status = counter_init(&count, error);
  if (status == SHOAL_OK)
    status = shoal_verify_reader_open(fd, RELEASE, claim->delimiter, run, &reader, error);
  if (status == SHOAL_OK && claim->guards_fd >= 0) /* progress is told in bytes of the release */
    status =
        shoal_verify_reader_open(claim->guards_fd, GUARDS, claim->delimiter, NULL, &guards, error);
  if (status == SHOAL_OK) status = verify_with(&count, &tally, reader, guards, error);
  if (status == SHOAL_OK) fill_finding(&tally, finding);
  shoal_verify_reader_close(guards);
  shoal_verify_reader_close(reader);
  tally_reset(&tally);
  counter_reset(&count);
  return status;
}
