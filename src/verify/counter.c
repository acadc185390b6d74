/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verify/counter: see counter.h.
 *
 * A shuffled release touches the tables in no order, and nearly all the time would go into
 * waiting for memory. Rows are therefore counted in batches: each step asks for the memory of the
 * next one, for all rows of the batch, before that one begins.
 */
#include "verify/counter.h"

#include <stdlib.h>
#include <string.h>

#include "verify/formulas.h"

enum {
  LENGTH_BYTES = 10, /* the most that a cell's length takes in a key: 7 bits a byte */
  BATCH_ROWS = 64,
  BATCH_BYTES = 1 << 20 /* a batch of large cells ends sooner */
};

#define GUARDS "the file of guarding nodes"

/* ---------------------------------------------------------------- before the first row */

/* The column of a role's attribute: it must stand in the header once, or it is ambiguous. */
static shoal_status find_column(const shoal_verify_claim *claim, const char *name, size_t *column,
                                shoal_error *error) {
  size_t n_found = 0;
  for (size_t i = 0; i < claim->n_columns; i++) {
    if (strcmp(claim->columns[i], name) != 0) continue;
    *column = i;
    n_found++;
  }
  if (n_found == 1) return SHOAL_OK;
  return shoal_fail(error, SHOAL_FAILED, "the attribute '%.200s' is %s of the release; %s", name,
                    n_found ? "more than one column" : "no column", SHOAL_VERIFY_FAULT);
}

/* Gives a value the next number; *is_new is false if it has one already. */
static shoal_status number_value(shoal_verify_values *counted, const char *value, bool *is_new,
                                 shoal_error *error) {
  size_t size_bytes = strlen(value);
  uint64_t hash = shoal_hash_bytes(value, size_bytes);
  uint32_t next = counted->values.n_entries;
  const shoal_verify_entry *entry = shoal_verify_intern(&counted->values, hash, value, size_bytes);
  if (!entry) return shoal_fail_memory(error);
  *is_new = entry->id == next;
  return SHOAL_OK;
}

static shoal_status counted_init(const shoal_verify_claim *claim, shoal_verify_values *counted,
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

static bool counter_alloc(shoal_verify_counter *count) {
  const shoal_verify_claim *claim = count->claim;
  if (claim->n_columns == SIZE_MAX || claim->n_sensitive >= SIZE_MAX / BATCH_ROWS - 1) return false;
  size_t n_counted = claim->n_sensitive + (claim->guards_fd >= 0);
  count->cells = shoal_alloc_zero(claim->n_columns + 1, sizeof *count->cells);
  count->quasi = shoal_alloc_zero(claim->n_quasi, sizeof *count->quasi);
  count->counted = shoal_alloc_zero(n_counted, sizeof *count->counted);
  if (count->counted) count->n_counted = n_counted;
  count->batch = shoal_alloc_zero((n_counted + 1) * BATCH_ROWS, sizeof *count->batch);
  count->batch_lines = shoal_alloc(BATCH_ROWS, sizeof *count->batch_lines);
  bool asked = claim->formulas || claim->formulas_quoted;
  if (asked) count->formulas = shoal_alloc_zero(claim->n_columns, 1);
  return count->cells && count->quasi && count->counted && count->batch && count->batch_lines &&
         (!asked || count->formulas) && shoal_verify_dictionary_init(&count->classes) &&
         shoal_verify_lines_init(&count->lines, n_counted + 1);
}

shoal_status shoal_verify_counter_init(shoal_verify_counter *count, shoal_error *error) {
  const shoal_verify_claim *claim = count->claim;
  if (!counter_alloc(count)) return shoal_fail_memory(error);
  for (size_t i = 0; i < claim->n_quasi; i++)
    SHOAL_TRY(find_column(claim, claim->quasi[i], &count->quasi[i], error));
  for (size_t i = 0; i < claim->n_sensitive; i++) {
    shoal_verify_values *counted = &count->counted[i];
    SHOAL_TRY(find_column(claim, claim->sensitive[i], &counted->column, error));
    if (claim->attributes) counted->known = &claim->attributes[i];
    SHOAL_TRY(counted_init(claim, counted, claim->sensitive[i], error));
  }
  if (claim->guards_fd < 0) return SHOAL_OK;
  shoal_verify_values *guards = &count->counted[claim->n_sensitive];
  guards->column = claim->n_columns;
  return counted_init(claim, guards, "", error);
}

void shoal_verify_counter_reset(shoal_verify_counter *count) {
  for (size_t i = 0; i < count->n_counted; i++) {
    shoal_verify_dictionary_reset(&count->counted[i].values);
    shoal_verify_pairs_reset(&count->counted[i].pairs);
  }
  shoal_verify_dictionary_reset(&count->classes);
  shoal_verify_lines_reset(&count->lines);
  free(count->cells);
  free(count->formulas);
  free(count->quasi);
  free(count->counted);
  free(count->guard_column);
  free(count->batch);
  free(count->batch_lines);
  free(count->text);
}

shoal_status shoal_verify_check_header(shoal_verify_counter *count, shoal_verify_reader *reader,
                                       shoal_error *error) {
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
shoal_status shoal_verify_guard_header(shoal_verify_counter *count, shoal_verify_reader *guards,
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
static bool reserve_text(shoal_verify_counter *count, size_t size_bytes) {
  if (count->text_bytes > SIZE_MAX / 2 - LENGTH_BYTES ||            /* GCOVR_EXCL_BR_LINE */
      size_bytes > SIZE_MAX / 2 - LENGTH_BYTES - count->text_bytes) /* GCOVR_EXCL_BR_LINE */
    return false;
  size_t needed = count->text_bytes + LENGTH_BYTES + size_bytes;
  return needed <= count->text_capacity ||
         shoal_grow(&count->text, &count->text_capacity, needed, 1);
}

static void add_text(shoal_verify_counter *count, const shoal_verify_cell *cell) {
  memcpy(count->text + count->text_bytes, cell->bytes, cell->size_bytes);
  count->text_bytes += cell->size_bytes;
}

/* Ends the lookup of the text added since wanted->at. */
static void end_lookup(const shoal_verify_counter *count, shoal_verify_lookup *wanted) {
  wanted->size_bytes = count->text_bytes - wanted->at;
  wanted->hash = shoal_hash_bytes(count->text + wanted->at, wanted->size_bytes);
}

/* Adds the row at hand to the batch; false: no memory. */
static bool add_row(shoal_verify_counter *count) {
  const shoal_verify_claim *claim = count->claim;
  shoal_verify_lookup *wanted = &count->batch[count->n_waiting * (count->n_counted + 1)];
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

static bool find_entry(const shoal_verify_counter *count, shoal_verify_dictionary *dictionary,
                       shoal_verify_lookup *wanted) {
  wanted->found =
      shoal_verify_intern(dictionary, wanted->hash, count->text + wanted->at, wanted->size_bytes);
  return wanted->found != NULL;
}

/* Finds the class and the values of one row, and asks for the memory of their pairs. */
static bool find_row(shoal_verify_counter *count, shoal_verify_lookup *row) {
  if (!find_entry(count, &count->classes, row)) return false;
  row->found->n_rows++;
  for (size_t i = 0; i < count->n_counted; i++) {
    shoal_verify_values *counted = &count->counted[i];
    if (!find_entry(count, &counted->values, &row[i + 1])) return false;
    uint64_t key = shoal_verify_pair_key(row->found->id, row[i + 1].found->id);
    __builtin_prefetch(shoal_verify_pair_of(&counted->pairs, key), 1);
  }
  return true;
}

/* Rows of one class with one value. */
static bool count_pair(shoal_verify_values *counted, uint32_t class_id, uint32_t value,
                       uint64_t n_rows) {
  if (value < counted->n_missing) return true; /* a row of the class, but no value */
  uint64_t key = shoal_verify_pair_key(class_id, value);
  return shoal_verify_count_pair(&counted->pairs, key, n_rows);
}

static bool count_pairs(shoal_verify_counter *count, const shoal_verify_lookup *row, int32_t line) {
  for (size_t i = 0; i < count->n_counted; i++)
    if (!count_pair(&count->counted[i], row->found->id, row[i + 1].found->id, 1)) return false;
  if (line == SHOAL_VERIFY_NO_LINE) return true;
  shoal_verify_entry **entries = count->lines.entries + (size_t)line * count->lines.width;
  for (size_t i = 0; i <= count->n_counted; i++) entries[i] = row[i].found;
  return true;
}

/* Adds the rows of all lines that came again; false: no memory. */
static bool count_lines(shoal_verify_counter *count) {
  const shoal_verify_dictionary *known = &count->lines.known;
  for (size_t slot = 0; slot < (size_t)1 << known->bits; slot++) {
    const shoal_verify_entry *line = known->slots[slot].entry;
    if (!line || !line->n_rows) continue;
    shoal_verify_entry **entries = count->lines.entries + line->id * count->lines.width;
    entries[0]->n_rows += line->n_rows;
    for (size_t i = 0; i < count->n_counted; i++)
      if (!count_pair(&count->counted[i], entries[0]->id, entries[i + 1]->id, line->n_rows))
        return false;
  }
  count->n_rows += count->lines.n_again;
  return true;
}

/* Counts the waiting rows and empties the batch; false: no memory. */
static bool count_batch(shoal_verify_counter *count) {
  size_t width = count->n_counted + 1;
  shoal_verify_lookup *end = count->batch + count->n_waiting * width;
  for (shoal_verify_lookup *row = count->batch; row < end; row += width) {
    uintptr_t entry = (uintptr_t)shoal_verify_entry_of(&count->classes, row->hash);
    __builtin_prefetch((const void *)entry, 1);
    __builtin_prefetch((const void *)(entry + 64)); /* most keys reach into a second cache line */
    for (size_t i = 1; i < width; i++)
      __builtin_prefetch(shoal_verify_entry_of(&count->counted[i - 1].values, row[i].hash));
  }
  for (shoal_verify_lookup *row = count->batch; row < end; row += width)
    if (!find_row(count, row)) return false;
  for (size_t i = 0; i < count->n_waiting; i++)
    if (!count_pairs(count, count->batch + i * width, count->batch_lines[i])) return false;
  count->n_rows += count->n_waiting;
  count->n_waiting = 0;
  count->text_bytes = 0;
  return true;
}

/* The guarding node of the row at hand; behind the last row there must be none either. */
static shoal_status read_guard(shoal_verify_counter *count, shoal_verify_reader *guards,
                               bool wanted, shoal_error *error) {
  bool found;
  if (!guards) return SHOAL_OK;
  shoal_verify_cell *cell = &count->cells[count->claim->n_columns];
  SHOAL_TRY(shoal_verify_reader_next(guards, cell, 1, &found, error));
  if (found == wanted) return SHOAL_OK;
  return shoal_fail(error, SHOAL_FAILED, GUARDS " has %s rows than the release; %s",
                    found ? "more" : "fewer", SHOAL_VERIFY_FAULT);
}

/* Rows that the release may still have. */
static uint64_t rows_left(const shoal_verify_counter *count) {
  return count->claim->n_rows - count->n_rows - count->n_waiting - count->lines.n_again;
}

shoal_status shoal_verify_count_rows(shoal_verify_counter *count, shoal_verify_reader *reader,
                                     shoal_verify_reader *guards, const atomic_bool *stop,
                                     shoal_error *error) {
  const shoal_verify_claim *claim = count->claim;
  if (guards) count->lines.off = true; /* a row's guarding node is no part of its line */
  for (;;) {
    bool found, known = !count->lines.off;
    int32_t *line = &count->batch_lines[count->n_waiting];
    *line = SHOAL_VERIFY_NO_LINE;
    if (known) shoal_verify_lines_skip(&count->lines, reader, rows_left(count));
    SHOAL_TRY(shoal_verify_reader_next(reader, count->cells, claim->n_columns, &found, error));
    SHOAL_TRY(read_guard(count, guards, found, error));
    if (!found) break;
    if (!rows_left(count)) /* also why no count can wrap */
      return shoal_fail(error, SHOAL_FAILED,
                        "the release has more rows than the %llu it must "
                        "have; %s",
                        (unsigned long long)claim->n_rows, SHOAL_VERIFY_FAULT);
    if (count->formulas)
      shoal_verify_note_formulas(count->cells, claim->n_columns, count->formulas);
    if (known &&
        !shoal_verify_lines_keep(&count->lines, reader, count->cells, claim->n_columns, line))
      return shoal_fail_memory(error);
    if (!add_row(count)) return shoal_fail_memory(error);
    bool full = count->n_waiting == BATCH_ROWS || count->text_bytes >= BATCH_BYTES;
    if (full && !count_batch(count)) return shoal_fail_memory(error);
    if (stop && atomic_load_explicit(stop, memory_order_relaxed)) return SHOAL_OK;
  }
  return count_batch(count) && count_lines(count) ? SHOAL_OK : shoal_fail_memory(error);
}

shoal_status shoal_verify_check_rows(const shoal_verify_counter *count, shoal_error *error) {
  const shoal_verify_claim *claim = count->claim;
  if (count->n_rows == claim->n_rows && count->n_rows > 0) return SHOAL_OK;
  return shoal_fail(error, SHOAL_FAILED, "the release has %llu rows where %s%llu must be; %s",
                    (unsigned long long)count->n_rows, claim->n_rows ? "" : "more than ",
                    (unsigned long long)claim->n_rows, SHOAL_VERIFY_FAULT);
}

shoal_status shoal_verify_check_formulas(const shoal_verify_counter *count, shoal_error *error) {
  const shoal_verify_claim *claim = count->claim;
  if (claim->formulas) memcpy(claim->formulas, count->formulas, claim->n_columns);
  for (size_t c = 0; claim->formulas_quoted && c < claim->n_columns; c++)
    if (count->formulas[c])
      return shoal_fail(error, SHOAL_FAILED,
                        "column '%.200s' of the release has a cell that a spreadsheet would run, "
                        "and must have none; %s",
                        claim->columns[c], SHOAL_VERIFY_FAULT);
  return SHOAL_OK;
}

/* ---------------------------------------------------------------- adding counts up */

/* Entries of one dictionary in another: by number, the number there. NULL: no memory. */
static uint32_t *map_entries(shoal_verify_dictionary *into, const shoal_verify_dictionary *from) {
  uint32_t *ids = shoal_alloc(from->n_entries, sizeof *ids);
  for (size_t i = 0; ids && i < (size_t)1 << from->bits; i++) {
    const shoal_verify_entry *entry = from->slots[i].entry;
    if (!entry) continue;
    shoal_verify_entry *same =
        shoal_verify_intern(into, from->slots[i].hash, entry->bytes, entry->size_bytes);
    if (!same) {
      free(ids);
      return NULL;
    }
    same->n_rows += entry->n_rows;
    ids[entry->id] = same->id;
  }
  return ids;
}

static bool merge_values(shoal_verify_values *into, const shoal_verify_values *from,
                         const uint32_t *classes) {
  uint32_t *values = map_entries(&into->values, &from->values);
  bool ok = values != NULL;
  for (size_t i = 0; ok && i < (size_t)1 << from->pairs.bits; i++) {
    const shoal_verify_pair *pair = &from->pairs.slots[i];
    if (!pair->n_rows) continue;
    uint64_t key = shoal_verify_pair_key(classes[pair->key >> 32], values[(uint32_t)pair->key]);
    ok = shoal_verify_count_pair(&into->pairs, key, pair->n_rows);
  }
  free(values);
  return ok;
}

bool shoal_verify_counter_merge(shoal_verify_counter *into, const shoal_verify_counter *from) {
  uint32_t *classes = map_entries(&into->classes, &from->classes);
  bool ok = classes != NULL;
  for (size_t i = 0; ok && i < into->n_counted; i++)
    ok = merge_values(&into->counted[i], &from->counted[i], classes);
  free(classes);
  into->n_rows += from->n_rows;
  for (size_t c = 0; into->formulas && c < into->claim->n_columns; c++)
    into->formulas[c] |= from->formulas[c];
  return ok;
}
