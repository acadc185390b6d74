/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verify/counter: counts rows in batches. A shuffled release accesses the hash tables in random
 * order, so most of the time would be spent waiting for memory. Each step of a batch prefetches,
 * for all its rows, what the next step needs:
 *
 *   add_row      copies and hashes the cells      prefetches slots of the dictionaries
 *   count_batch                                   prefetches entries
 *   find_row     looks up class and values        prefetches slots of the pairs
 *   count_pairs  counts (class, value) pairs
 *
 * The key of a class holds, for each quasi-identifier, the cell's length (7 bits a byte, the high
 * bit set in all bytes but the last) and its bytes:   | 2 | 3 7 | 6 | S i n g l e | ...
 */
#include "verify/counter.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "verify/codes.h"
#include "verify/rare.h"
#include "verify/trace.h"

enum {
  LENGTH_BYTES = 10, /* the maximum that a cell's length takes in a key */
  BATCH_ROWS = 64,
  BATCH_BYTES = 1 << 20 /* a batch of large cells has fewer rows */
};

#define GUARDS "the file of guarding nodes"

/* ---------------------------------------------------------------- init and reset */

/* The column of an attribute, which must occur in the header exactly once. */
static shoal_status find_column(const shoal_verify_request *request, const char *name,
                                size_t *column, shoal_error *error) {
  size_t n_found = 0;
  for (size_t i = 0; i < request->n_columns; i++) {
    if (strcmp(request->columns[i], name) != 0) continue;
    *column = i;
    n_found++;
  }
  if (n_found == 1) return SHOAL_OK;
  return shoal_fail(error, SHOAL_FAILED, "the attribute '%.200s' is %s of the release; %s", name,
                    n_found ? "more than one column" : "no column", SHOAL_VERIFY_FAULT);
}

/* Numbers a value; *is_new is false if it has a number already. */
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

static shoal_status counted_init(const shoal_verify_request *request, shoal_verify_values *counted,
                                 const char *name, shoal_error *error) {
  bool is_new = false;
  if (!shoal_verify_dictionary_init(&counted->values) || !shoal_verify_pairs_init(&counted->pairs))
    return shoal_fail_memory(error);
  for (size_t i = 0; i < request->n_missing; i++)
    SHOAL_TRY(number_value(counted, request->missing[i], &is_new, error));
  counted->n_missing = counted->values.n_entries;
  for (size_t i = 0; counted->known && i < counted->known->n_values; i++) {
    SHOAL_TRY(number_value(counted, counted->known->values[i].value, &is_new, error));
    if (!is_new)
      return shoal_fail(error, SHOAL_FAILED,
                        "a known value of '%.200s' occurs twice or is a missing value; %s", name,
                        SHOAL_VERIFY_FAULT);
  }
  return SHOAL_OK;
}

static bool counter_alloc(shoal_verify_counter *count) {
  const shoal_verify_request *request = count->request;
  if (request->n_columns == SIZE_MAX || request->n_sensitive >= SIZE_MAX / BATCH_ROWS - 1)
    return false;
  size_t n_counted = request->n_sensitive;
  count->extras = (shoal_verify_extras){SIZE_MAX, SIZE_MAX, SIZE_MAX};
  if (request->guards_fd >= 0) count->extras.guards = n_counted++;
  if (request->n_person) count->extras.people = n_counted++;
  if (request->n_household) count->extras.households = n_counted++;
  size_t n_people = request->n_person + request->n_household;
  count->cells = shoal_alloc_zero(request->n_columns + 3, sizeof *count->cells);
  count->people_cells = shoal_alloc_zero(n_people, sizeof *count->people_cells);
  count->quasi = shoal_alloc_zero(request->n_quasi, sizeof *count->quasi);
  count->counted = shoal_alloc_zero(n_counted, sizeof *count->counted);
  if (count->counted) count->n_counted = n_counted;
  count->batch = shoal_alloc_zero((n_counted + 1) * BATCH_ROWS, sizeof *count->batch);
  count->batch_lines = shoal_alloc(BATCH_ROWS, sizeof *count->batch_lines);
  count->batch_rows = shoal_alloc(BATCH_ROWS, sizeof *count->batch_rows);
  if (request->trace) {
    count->others = shoal_alloc(request->n_columns, sizeof *count->others);
    count->batch_sums = shoal_alloc(BATCH_ROWS, sizeof *count->batch_sums);
    if (!count->others || !count->batch_sums) return false;
  }
  bool asked = request->formulas || request->formulas_quoted;
  if (asked) count->formulas = shoal_alloc_zero(request->n_columns, 1);
  return count->cells && count->people_cells && count->quasi && count->counted && count->batch &&
         count->batch_lines && count->batch_rows && (!asked || count->formulas) &&
         shoal_verify_dictionary_init(&count->classes) &&
         shoal_verify_line_cache_init(&count->lines, n_counted + 1);
}

shoal_status shoal_verify_counter_init(shoal_verify_counter *count, shoal_error *error) {
  const shoal_verify_request *request = count->request;
  if (!counter_alloc(count)) return shoal_fail_memory(error);
  SHOAL_TRY(shoal_verify_rare_new(request, &count->rare, error));
  for (size_t i = 0; i < request->n_quasi; i++)
    SHOAL_TRY(find_column(request, request->quasi[i], &count->quasi[i], error));
  for (size_t i = 0; i < request->n_sensitive; i++) {
    shoal_verify_values *counted = &count->counted[i];
    SHOAL_TRY(find_column(request, request->sensitive[i], &counted->column, error));
    if (request->attributes) counted->known = &request->attributes[i];
    SHOAL_TRY(counted_init(request, counted, request->sensitive[i], error));
  }
  /* Which columns must be hashed by themselves? */
  for (size_t c = 0; request->trace && c < request->n_columns; c++) {
    bool other = request->trace->sources[c].codes != NULL;
    for (size_t i = 0; other && i < request->n_quasi; i++) other = count->quasi[i] != c;
    for (size_t i = 0; other && i < request->n_sensitive; i++)
      other = count->counted[i].column != c;
    if (other) count->others[count->n_others++] = c;
  }
  const size_t extras[] = {count->extras.guards, count->extras.people, count->extras.households};
  for (size_t i = 0; i < 3; i++) {
    if (extras[i] == SIZE_MAX) continue;
    shoal_verify_values *counted = &count->counted[extras[i]];
    counted->column = request->n_columns + i;
    SHOAL_TRY(counted_init(request, counted, "", error));
  }
  return SHOAL_OK;
}

void shoal_verify_counter_reset(shoal_verify_counter *count) {
  for (size_t i = 0; i < count->n_counted; i++) {
    shoal_verify_dictionary_reset(&count->counted[i].values);
    shoal_verify_pairs_reset(&count->counted[i].pairs);
    free(count->counted[i].number_of);
    shoal_ids_reset(&count->counted[i].by_person);
    shoal_verify_pairs_reset(&count->counted[i].people);
  }
  shoal_verify_dictionary_reset(&count->classes);
  shoal_verify_line_cache_reset(&count->lines);
  shoal_verify_rare_free(count->rare);
  free(count->cells);
  free(count->formulas);
  free(count->others);
  free(count->batch_sums);
  free(count->line_sums);
  free(count->quasi);
  free(count->counted);
  free(count->guard_column);
  free(count->people_cells);
  shoal_text_reset(&count->person_key);
  shoal_text_reset(&count->household_key);
  free(count->batch);
  free(count->batch_lines);
  free(count->batch_rows);
  free(count->text);
}

shoal_status shoal_verify_check_header(shoal_verify_counter *count, shoal_verify_reader *reader,
                                       shoal_error *error) {
  const shoal_verify_request *request = count->request;
  bool found;
  SHOAL_TRY(shoal_verify_reader_next(reader, count->cells, request->n_columns, &found, error));
  bool same = found;
  for (size_t i = 0; same && i < request->n_columns; i++)
    same = strlen(request->columns[i]) == count->cells[i].size_bytes &&
           !memcmp(request->columns[i], count->cells[i].bytes, count->cells[i].size_bytes);
  if (same) return SHOAL_OK;
  return shoal_fail(error, SHOAL_FAILED, "the release %s; %s",
                    found ? "has the wrong header" : "is empty", SHOAL_VERIFY_FAULT);
}

/* The model checks later that the guarding nodes are those of its column. */
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

/* Reserves room for a cell and its length at the end of the batch's text; false: no memory. */
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

/* Completes the lookup of the text added since wanted->at. */
static void end_lookup(const shoal_verify_counter *count, shoal_verify_lookup *wanted) {
  wanted->size_bytes = count->text_bytes - wanted->at;
  wanted->hash = shoal_hash_bytes(count->text + wanted->at, wanted->size_bytes);
}

/* Adds the current row to the batch; false: no memory. */
static bool add_row(shoal_verify_counter *count) {
  const shoal_verify_request *request = count->request;
  shoal_verify_lookup *wanted = &count->batch[count->n_waiting * (count->n_counted + 1)];
  if (!reserve_text(count, 0)) return false; /* a key without cells needs an address too */
  wanted->at = count->text_bytes;
  for (size_t i = 0; i < request->n_quasi; i++) {
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
  if (count->batch_sums) {
    uint64_t sum = 0;
    for (size_t i = 0; i < count->n_others; i++) {
      const shoal_verify_cell *cell = &count->cells[count->others[i]];
      sum += shoal_verify_cell_hash(count->others[i], cell->bytes, cell->size_bytes);
    }
    count->batch_sums[count->n_waiting] = sum;
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

/* Finds the class and the values of one row; false: no memory. */
static bool find_row(shoal_verify_counter *count, shoal_verify_lookup *row, uint64_t n_rows) {
  if (!find_entry(count, &count->classes, row)) return false;
  row->found->n_rows += n_rows;
  for (size_t i = 0; i < count->n_counted; i++) {
    shoal_verify_values *counted = &count->counted[i];
    if (!find_entry(count, &counted->values, &row[i + 1])) return false;
    uint64_t key = shoal_verify_pair_key(row->found->id, row[i + 1].found->id);
    __builtin_prefetch(shoal_verify_pair_of(&counted->pairs, key), 1);
  }
  return true;
}

/* Counts rows of a class with a value; false: no memory. */
static bool count_pair(shoal_verify_values *counted, uint32_t class_id, uint32_t value,
                       uint64_t n_rows) {
  if (value < counted->n_missing) return true; /* a missing value is not counted */
  uint64_t key = shoal_verify_pair_key(class_id, value);
  return shoal_verify_count_pair(&counted->pairs, key, n_rows);
}

static bool count_pairs(shoal_verify_counter *count, const shoal_verify_lookup *row,
                        uint64_t n_rows, int32_t line) {
  for (size_t i = 0; i < count->n_counted; i++)
    if (!count_pair(&count->counted[i], row->found->id, row[i + 1].found->id, n_rows)) return false;
  for (size_t i = 0; count->request->by_person && i < count->request->n_sensitive; i++)
    if (!shoal_verify_count_person(&count->counted[i], row->found->id, row[i + 1].found->id,
                                   row[count->extras.people + 1].found->id))
      return false;
  if (line == SHOAL_VERIFY_NO_LINE) return true;
  shoal_verify_entry **entries = count->lines.entries + (size_t)line * count->lines.width;
  for (size_t i = 0; i <= count->n_counted; i++) entries[i] = row[i].found;
  return true;
}

/* Reads the length of the next cell of a class's key. */
size_t shoal_verify_key_length(const char **at) {
  size_t length = 0;
  for (unsigned shift = 0;; shift += 7) {
    unsigned char byte = (unsigned char)*(*at)++;
    length |= (size_t)(byte & 0x7f) << shift;
    if (byte < 0x80) return length;
  }
}

/* The sum of the hashes of a class's cells. Kept in its entry. */
static uint64_t class_sum(const shoal_verify_counter *count, shoal_verify_entry *entry) {
  const char *at = entry->bytes;
  if (entry->hash) return entry->hash;
  for (size_t q = 0; q < count->request->n_quasi; q++) {
    size_t size_bytes = shoal_verify_key_length(&at);
    entry->hash += shoal_verify_cell_hash(count->quasi[q], at, size_bytes);
    at += size_bytes;
  }
  return entry->hash;
}

/* Adds a row to the fingerprint, and keeps the sum of its cells for equal lines. */
static bool add_hash(shoal_verify_counter *count, const shoal_verify_lookup *row, uint64_t others,
                     int32_t line) {
  uint64_t sum = others + class_sum(count, row->found);
  for (size_t i = 0; i < count->request->n_sensitive; i++) {
    shoal_verify_entry *value = row[i + 1].found;
    if (!value->hash)
      value->hash =
          shoal_verify_cell_hash(count->counted[i].column, value->bytes, value->size_bytes);
    sum += value->hash;
  }
  count->fingerprint += shoal_verify_row_hash(sum);
  if (line == SHOAL_VERIFY_NO_LINE) return true;
  if (!shoal_grow(&count->line_sums, &count->line_sums_capacity, (size_t)line + 1,
                  sizeof *count->line_sums))
    return false;
  count->line_sums[line] = sum;
  return true;
}

/* Adds the rows of all repeated lines; false: no memory. */
static bool count_lines(shoal_verify_counter *count) {
  const shoal_verify_dictionary *known = &count->lines.known;
  for (size_t slot = 0; slot < (size_t)1 << known->bits; slot++) {
    const shoal_verify_entry *line = known->slots[slot].entry;
    if (!line || !line->n_rows) continue;
    shoal_verify_entry **entries = count->lines.entries + line->id * count->lines.width;
    entries[0]->n_rows += line->n_rows;
    if (count->batch_sums)
      count->fingerprint += shoal_verify_row_hash(count->line_sums[line->id]) * line->n_rows;
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
    __builtin_prefetch((const void *)(entry + 64)); /* most keys extend into a second cache line */
    for (size_t i = 1; i < width; i++)
      __builtin_prefetch(shoal_verify_entry_of(&count->counted[i - 1].values, row[i].hash));
  }
  for (size_t i = 0; i < count->n_waiting; i++)
    if (!find_row(count, count->batch + i * width, count->batch_rows[i])) return false;
  for (size_t i = 0; i < count->n_waiting; i++) {
    const shoal_verify_lookup *row = count->batch + i * width;
    if (!count_pairs(count, row, count->batch_rows[i], count->batch_lines[i])) return false;
    if (count->batch_sums && !add_hash(count, row, count->batch_sums[i], count->batch_lines[i]))
      return false;
  }
  count->n_rows += count->rows_waiting;
  count->n_waiting = 0;
  count->rows_waiting = 0;
  count->text_bytes = 0;
  return true;
}

/* Reads the guarding node of the current row; after the last row there must be none. */
static shoal_status read_guard(shoal_verify_counter *count, shoal_verify_reader *guards,
                               bool wanted, shoal_error *error) {
  bool found;
  if (!guards) return SHOAL_OK;
  shoal_verify_cell *cell = &count->cells[count->request->n_columns];
  SHOAL_TRY(shoal_verify_reader_next(guards, cell, 1, &found, error));
  if (found == wanted) return SHOAL_OK;
  return shoal_fail(error, SHOAL_FAILED, GUARDS " has %s rows than the release; %s",
                    found ? "more" : "fewer", SHOAL_VERIFY_FAULT);
}

/* The rows that the request allows beyond those counted. */
static uint64_t rows_left(const shoal_verify_counter *count) {
  return count->request->n_rows - count->n_rows - count->rows_waiting - count->lines.n_again;
}

/* Takes the rows that the current line stands for into the batch. */
static shoal_status take_count(shoal_verify_counter *count, shoal_error *error) {
  const shoal_verify_request *request = count->request;
  uint64_t n = !request->counts                     ? 1
               : count->n_lines < request->n_counts ? request->counts[count->n_lines]
                                                    : 0;
  count->n_lines++;
  if (!n)
    return shoal_fail(error, SHOAL_FAILED, "a line of the release stands for no row; %s",
                      SHOAL_VERIFY_FAULT);
  if (n > rows_left(count)) /* this also keeps counts from overflowing */
    return shoal_fail(error, SHOAL_FAILED, "the release has more rows than the expected %llu; %s",
                      (unsigned long long)request->n_rows, SHOAL_VERIFY_FAULT);
  count->batch_rows[count->n_waiting] = n;
  count->rows_waiting += n;
  return SHOAL_OK;
}

shoal_status shoal_verify_count_rows(shoal_verify_counter *count, shoal_verify_reader *reader,
                                     shoal_verify_reader *guards, const atomic_bool *stop,
                                     shoal_error *error) {
  const shoal_verify_request *request = count->request;
  assert(!guards == (request->guards_fd < 0) && !count->n_rows && !count->n_waiting);
  if (guards || count->people || request->counts)
    count->lines.off = true; /* equal lines may have different guarding nodes, people or counts */
  for (;;) {
    bool found, known = !count->lines.off;
    int32_t *line = &count->batch_lines[count->n_waiting];
    *line = SHOAL_VERIFY_NO_LINE;
    if (known) shoal_verify_line_cache_skip(&count->lines, reader, rows_left(count));
    SHOAL_TRY(shoal_verify_reader_next(reader, count->cells, request->n_columns, &found, error));
    SHOAL_TRY(read_guard(count, guards, found, error));
    SHOAL_TRY(shoal_verify_read_people(count, found, error));
    if (!found) break;
    SHOAL_TRY(take_count(count, error));
    SHOAL_TRY(shoal_verify_check_codes(request, count->cells, error));
    SHOAL_TRY(shoal_verify_check_rare(count->rare, count->cells, error));
    for (size_t c = 0; count->formulas && c < request->n_columns; c++)
      if (shoal_verify_is_formula(&count->cells[c])) count->formulas[c] = 1;
    if (known && !shoal_verify_line_cache_keep(&count->lines, reader, count->cells,
                                               request->n_columns, line))
      return shoal_fail_memory(error);
    if (!add_row(count)) return shoal_fail_memory(error);
    bool full = count->n_waiting == BATCH_ROWS || count->text_bytes >= BATCH_BYTES;
    if (full && !count_batch(count)) return shoal_fail_memory(error);
    if (stop && atomic_load_explicit(stop, memory_order_relaxed)) return SHOAL_OK;
  }
  return count_batch(count) && count_lines(count) ? SHOAL_OK : shoal_fail_memory(error);
}

shoal_status shoal_verify_check_rows(const shoal_verify_counter *count, shoal_error *error) {
  const shoal_verify_request *request = count->request;
  if (count->n_rows == request->n_rows && count->n_rows > 0) return SHOAL_OK;
  return shoal_fail(error, SHOAL_FAILED, "the release has %llu rows, expected %s%llu; %s",
                    (unsigned long long)count->n_rows, request->n_rows ? "" : "more than ",
                    (unsigned long long)request->n_rows, SHOAL_VERIFY_FAULT);
}

/*
 * May the release have this value? Missing values come first, then the known ones; other spellings
 * of missing values follow.
 */
static bool may_have(const shoal_verify_values *counted, uint32_t value) {
  if (value < counted->n_missing) return true;
  if (counted->number_of && counted->number_of[value] == UINT32_MAX) return true;
  const shoal_verify_knowledge *known = counted->known;
  size_t v = value - counted->n_missing;
  return v < known->n_values &&
         (known->values[v].n_original || (known->invented && known->values[v].category >= 0));
}

shoal_status shoal_verify_check_values(const shoal_verify_counter *count, shoal_error *error) {
  const shoal_verify_request *request = count->request;
  for (size_t i = 0; request->values_known && i < request->n_sensitive; i++) {
    const shoal_verify_values *counted = &count->counted[i];
    const shoal_verify_pairs *pairs = &counted->pairs;
    bool allowed = counted->known != NULL;
    for (size_t s = 0; allowed && s < (size_t)1 << pairs->bits; s++)
      allowed = !pairs->slots[s].n_rows || may_have(counted, (uint32_t)pairs->slots[s].key);
    if (!allowed)
      return shoal_fail(error, SHOAL_FAILED,
                        "column '%.200s' of the release has a value that neither the original "
                        "table nor its categories have; %s",
                        request->sensitive[i], SHOAL_VERIFY_FAULT);
  }
  return SHOAL_OK;
}

shoal_status shoal_verify_check_formulas(const shoal_verify_counter *count, shoal_error *error) {
  const shoal_verify_request *request = count->request;
  if (request->formulas) memcpy(request->formulas, count->formulas, request->n_columns);
  for (size_t c = 0; request->formulas_quoted && c < request->n_columns; c++)
    if (count->formulas[c])
      return shoal_fail(
          error, SHOAL_FAILED,
          "column '%.200s' of the release has a cell that a spreadsheet would run as a "
          "formula; %s",
          request->columns[c], SHOAL_VERIFY_FAULT);
  return SHOAL_OK;
}

/* ---------------------------------------------------------------- merging counters */

/* Adds the entries of `from` to `into`. Returns the new number of each entry; NULL: no memory. */
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
  into->fingerprint += from->fingerprint;
  for (size_t c = 0; into->formulas && c < into->request->n_columns; c++)
    into->formulas[c] |= from->formulas[c];
  return ok;
}
