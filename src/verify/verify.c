/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verify: see verify.h. The way back of a release: file -> rows of cells (reader.c) -> rows
 * counted by class and sensitive value (here, in tables.c) -> verdict on each model (models.c).
 *
 * One pass. A class is the tuple of a row's quasi-identifier cells; its key holds each cell's
 * length before the cell, so that no two different tuples have the same key. Keys, and the values
 * of each sensitive attribute, are numbered, and the rows of each pair (class, value) counted.
 * When all rows are read, the pairs are sorted by class for the models.
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

/* A byte string of a row, to be found in a dictionary. */
typedef struct lookup {
  uint64_t hash;
  size_t at; /* in the batch's text */
  size_t size_bytes;
  shoal_verify_entry *found;
} lookup;

typedef struct sensitive_counter {
  size_t column;
  shoal_verify_dictionary values;
  uint32_t n_missing; /* the missing spellings are the first values */
  shoal_verify_pairs pairs;
} sensitive_counter;

typedef struct counter {
  const shoal_verify_claim *claim;
  shoal_verify_cell *cells; /* of the row at hand */
  size_t *quasi;            /* columns of the quasi-identifiers */
  shoal_verify_dictionary classes;
  sensitive_counter *sensitive;
  lookup *batch; /* of each waiting row: its class, then each sensitive value */
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

static shoal_status sensitive_init(const shoal_verify_claim *claim, sensitive_counter *attribute,
                                   const char *name, shoal_error *error) {
  SHOAL_TRY(find_column(claim, name, &attribute->column, error));
  if (!shoal_verify_dictionary_init(&attribute->values) ||
      !shoal_verify_pairs_init(&attribute->pairs))
    return shoal_fail_memory(error);
  for (size_t i = 0; i < claim->n_missing; i++) {
    const char *spelling = claim->missing[i];
    size_t size_bytes = strlen(spelling);
    uint64_t hash = shoal_hash_bytes(spelling, size_bytes);
    if (!shoal_verify_intern(&attribute->values, hash, spelling, size_bytes))
      return shoal_fail_memory(error);
  }
  attribute->n_missing = attribute->values.n_entries;
  return SHOAL_OK;
}

static shoal_status counter_init(counter *count, shoal_error *error) {
  const shoal_verify_claim *claim = count->claim;
  count->cells = shoal_alloc_zero(claim->n_columns, sizeof *count->cells);
  count->quasi = shoal_alloc_zero(claim->n_quasi, sizeof *count->quasi);
  count->sensitive = shoal_alloc_zero(claim->n_sensitive, sizeof *count->sensitive);
  if (claim->n_sensitive < SIZE_MAX / BATCH_ROWS)
    count->batch = shoal_alloc_zero((claim->n_sensitive + 1) * BATCH_ROWS, sizeof *count->batch);
  if (!count->cells || !count->quasi || !count->sensitive || !count->batch ||
      !shoal_verify_dictionary_init(&count->classes))
    return shoal_fail_memory(error);
  for (size_t i = 0; i < claim->n_quasi; i++)
    SHOAL_TRY(find_column(claim, claim->quasi[i], &count->quasi[i], error));
  for (size_t i = 0; i < claim->n_sensitive; i++)
    SHOAL_TRY(sensitive_init(claim, &count->sensitive[i], claim->sensitive[i], error));
  return SHOAL_OK;
}

static void counter_reset(counter *count) {
  for (size_t i = 0; count->sensitive && i < count->claim->n_sensitive; i++) {
    shoal_verify_dictionary_reset(&count->sensitive[i].values);
    shoal_verify_pairs_reset(&count->sensitive[i].pairs);
  }
  shoal_verify_dictionary_reset(&count->classes);
  free(count->cells);
  free(count->quasi);
  free(count->sensitive);
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
  lookup *wanted = &count->batch[count->n_waiting * (claim->n_sensitive + 1)];
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
  for (size_t i = 0; i < claim->n_sensitive; i++) {
    const shoal_verify_cell *cell = &count->cells[count->sensitive[i].column];
    if (!reserve_text(count, cell->size_bytes)) return false;
    wanted++;
    wanted->at = count->text_bytes;
    add_text(count, cell);
    end_lookup(count, wanted);
    __builtin_prefetch(shoal_verify_slot_of(&count->sensitive[i].values, wanted->hash));
  }
  count->n_waiting++;
  return true;
}

static bool find_entry(const counter *count, shoal_verify_dictionary *dictionary, lookup *wanted) {
  wanted->found = shoal_verify_intern(dictionary, wanted->hash, count->text + wanted->at,
                                      wanted->size_bytes);
  return wanted->found != NULL;
}

/* Finds the class and the values of one row, and asks for the memory of their pairs. */
static bool find_row(counter *count, lookup *row) {
  if (!find_entry(count, &count->classes, row)) return false;
  row->found->n_rows++;
  for (size_t i = 0; i < count->claim->n_sensitive; i++) {
    sensitive_counter *attribute = &count->sensitive[i];
    if (!find_entry(count, &attribute->values, &row[i + 1])) return false;
    uint64_t key = shoal_verify_pair_key(row->found->id, row[i + 1].found->id);
    __builtin_prefetch(shoal_verify_pair_of(&attribute->pairs, key), 1);
  }
  return true;
}

static bool count_pairs(counter *count, const lookup *row) {
  for (size_t i = 0; i < count->claim->n_sensitive; i++) {
    sensitive_counter *attribute = &count->sensitive[i];
    uint32_t value = row[i + 1].found->id;
    if (value < attribute->n_missing) continue; /* a row of the class, but no value */
    uint64_t key = shoal_verify_pair_key(row->found->id, value);
    if (!shoal_verify_count_pair(&attribute->pairs, key)) return false;
  }
  return true;
}

/* Counts the waiting rows and empties the batch; false: no memory. */
static bool count_batch(counter *count) {
  size_t width = count->claim->n_sensitive + 1;
  lookup *end = count->batch + count->n_waiting * width;
  for (lookup *row = count->batch; row < end; row += width) {
    uintptr_t entry = (uintptr_t)shoal_verify_entry_of(&count->classes, row->hash);
    __builtin_prefetch((const void *)entry, 1);
    __builtin_prefetch((const void *)(entry + 64)); /* most keys reach into a second cache line */
    for (size_t i = 1; i < width; i++)
      __builtin_prefetch(shoal_verify_entry_of(&count->sensitive[i - 1].values, row[i].hash));
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

static shoal_status count_rows(counter *count, shoal_verify_reader *reader, shoal_error *error) {
  const shoal_verify_claim *claim = count->claim;
  for (;;) {
    bool found;
    SHOAL_TRY(shoal_verify_reader_next(reader, count->cells, claim->n_columns, &found, error));
    if (!found) break;
    if (claim->n_rows - count->n_rows == count->n_waiting) /* also why no count can wrap */
      return shoal_fail(error, SHOAL_FAILED, "the release has more rows than the %llu it must "
                        "have; %s", (unsigned long long)claim->n_rows, SHOAL_VERIFY_FAULT);
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

/* The pairs of one attribute, sorted by class: a counting sort. */
static bool tally_attribute(shoal_verify_attribute *attribute, size_t n_classes,
                            const shoal_verify_pairs *pairs) {
  enum { AHEAD = 16 }; /* slots to look ahead: classes are in no order here either */
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
    attribute->counts[--starts[slot->key >> 32]] =
        (shoal_verify_count){.n_rows = slot->n_rows, .value = (uint32_t)slot->key};
  }
  return true;
}

/* Hands the counts over, each attribute's pairs being freed when they are; false: no memory. */
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
    if (!tally_attribute(&tally->attributes[i], tally->n_classes, &count->sensitive[i].pairs))
      return false;
    shoal_verify_pairs_reset(&count->sensitive[i].pairs);
  }
  return true;
}

static void tally_reset(shoal_verify_tally *tally) {
  for (size_t i = 0; i < tally->n_attributes; i++) {
    free(tally->attributes[i].starts);
    free(tally->attributes[i].counts);
  }
  free(tally->attributes);
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

static shoal_status verify_with(counter *count, shoal_verify_tally *tally,
                                shoal_verify_reader *reader, shoal_error *error) {
  SHOAL_TRY(check_header(count, reader, error));
  SHOAL_TRY(count_rows(count, reader, error));
  if (!tally_all(count, tally)) return shoal_fail_memory(error);
  return shoal_verify_models(count->claim, tally, error);
}

shoal_status shoal_verify(int fd, const shoal_verify_claim *claim, const shoal_run *run,
                          shoal_verify_finding *finding, shoal_error *error) {
  counter count = {.claim = claim};
  shoal_verify_tally tally = {0};
  shoal_verify_reader *reader = NULL;
  shoal_status status = counter_init(&count, error);
  if (status == SHOAL_OK)
    status = shoal_verify_reader_open(fd, claim->delimiter, run, &reader, error);
  if (status == SHOAL_OK) status = verify_with(&count, &tally, reader, error);
  if (status == SHOAL_OK) fill_finding(&tally, finding);
  shoal_verify_reader_close(reader);
  tally_reset(&tally);
  counter_reset(&count);
  return status;
}
