/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verify/fold: rows are counted by the bytes of their cells (counter.c). This equals counting by
 * value if no value has two spellings, which is checked here, once for each distinct cell.
 */
#include "verify/fold.h"

#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

#include "base/decimal.h"

/* ---------------------------------------------------------------- numbers */

/* A number as digits x 10^exponent; both the first and the last digit are not 0. */
typedef struct digits {
  bool negative;
  size_t first, end; /* within the cell; a point may be among them */
  int64_t exponent;  /* of the last digit */
} digits;

/* Reads e[+-]digits up to the end of the cell; a larger exponent is no number here. */
static bool read_exponent(const char *cell, size_t at, size_t size, int64_t *exponent) {
  enum { MOST_DIGITS = 9 };
  int64_t value = 0;
  bool negative = false;
  if (at < size && (cell[at] == '+' || cell[at] == '-')) negative = cell[at++] == '-';
  size_t first = at;
  for (; at < size && shoal_is_digit(cell[at]); at++) {
    value = value * 10 + (cell[at] - '0');
    if (value == 0) first = at;
    if (at - first >= MOST_DIGITS) return false;
  }
  *exponent = negative ? -value : value;
  return at == size && at > 0 && shoal_is_digit(cell[at - 1]);
}

/* Whether the cell is a number; of a zero, first == end. */
static bool read_number(const char *cell, size_t size, char mark, digits *number) {
  size_t at = 0, n_digits = 0, point = SIZE_MAX;
  *number = (digits){0};
  if (size && (cell[0] == '+' || cell[0] == '-')) number->negative = cell[at++] == '-';
  size_t begin = at, last = SIZE_MAX;
  number->first = SIZE_MAX;
  for (; at < size && (shoal_is_digit(cell[at]) || (cell[at] == mark && point == SIZE_MAX)); at++) {
    if (cell[at] == mark) {
      point = at;
      continue;
    }
    n_digits++;
    if (cell[at] == '0') continue;
    if (number->first == SIZE_MAX) number->first = at;
    last = at;
  }
  if (!n_digits) return false;
  size_t end = at;
  if (at < size) {
    if (cell[at] != 'e' && cell[at] != 'E') return false;
    if (!read_exponent(cell, at + 1, size, &number->exponent)) return false;
  }
  if (number->first == SIZE_MAX) {
    number->first = number->end = begin;
    return true;
  }
  number->end = last + 1;
  if (point == SIZE_MAX) point = end;
  number->exponent += last < point ? (int64_t)(point - last) - 1 : -(int64_t)(last - point);
  return true;
}

/* The sign, the exponent as it is in memory, and the digits. */
static void add_number(const char *cell, char mark, const digits *number, shoal_text *key) {
  bool zero = number->first == number->end;
  int64_t exponent = zero ? 0 : number->exponent;
  const char *first = cell + number->first, *end = cell + number->end;
  const char *point = memchr(first, mark, (size_t)(end - first));
  shoal_text_add(key, number->negative && !zero ? "-" : "+");
  shoal_text_add_bytes(key, (const char *)&exponent, sizeof exponent);
  shoal_text_add_bytes(key, first, (size_t)((point ? point : end) - first));
  if (point) shoal_text_add_bytes(key, point + 1, (size_t)(end - point) - 1);
}

/* ---------------------------------------------------------------- text */

static bool is_space(int32_t c) {
  if (c == ' ' || (c >= '\t' && c <= '\r') || c == 0x85) return true;
  if (c < 0x80) return false;
  utf8proc_category_t category = utf8proc_category(c);
  return category == UTF8PROC_CATEGORY_ZS || category == UTF8PROC_CATEGORY_ZL ||
         category == UTF8PROC_CATEGORY_ZP;
}

/* The cell's characters, decomposed and folded; the number of them, or -1 if it is not UTF-8. */
static utf8proc_ssize_t decode(const shoal_verify_fold *fold, const char *bytes, size_t size_bytes,
                               int32_t *to, size_t room) {
  utf8proc_option_t options = 0;
  if (fold->letter_case) options |= UTF8PROC_CASEFOLD;
  if (fold->unicode) options |= UTF8PROC_STABLE | UTF8PROC_DECOMPOSE | UTF8PROC_IGNORE;
  return utf8proc_decompose((const utf8proc_uint8_t *)bytes, (utf8proc_ssize_t)size_bytes, to,
                            (utf8proc_ssize_t)room, options);
}

static bool add_text(const shoal_verify_fold *fold, const char *bytes, size_t size_bytes,
                     shoal_text *key) {
  utf8proc_ssize_t n = decode(fold, bytes, size_bytes, NULL, 0);
  size_t room = n >= 0 ? (size_t)n : size_bytes;
  int32_t *characters = shoal_alloc(room, sizeof *characters);
  if (!characters) return false;
  if (n >= 0) (void)decode(fold, bytes, size_bytes, characters, room);
  else {
    /* Bytes that are not UTF-8: ASCII letters and spaces only. */
    for (size_t i = 0; i < size_bytes; i++) {
      int32_t c = (unsigned char)bytes[i];
      if (fold->letter_case && c >= 'A' && c <= 'Z') c += 'a' - 'A';
      characters[i] = c < 0x80 ? c : -c; /* not the character of that number */
    }
  }
  shoal_text_add(key, ""); /* an empty key needs an address too */
  /* Adds the characters as they are in memory, spaces folded. */
  static const int32_t blank = ' ';
  bool waiting = false;
  for (size_t i = 0; i < room; i++) {
    if (fold->space && is_space(characters[i])) {
      waiting = key->size_bytes > 0;
      continue;
    }
    if (waiting) shoal_text_add_bytes(key, (const char *)&blank, sizeof blank);
    waiting = false;
    shoal_text_add_bytes(key, (const char *)&characters[i], sizeof *characters);
  }
  shoal_wipe_free(characters, room * sizeof *characters);
  return !key->failed;
}

bool shoal_verify_fold_key(const shoal_verify_fold *fold, const char *bytes, size_t size_bytes,
                           shoal_text *key) {
  digits number;
  key->size_bytes = 0;
  if (!shoal_verify_fold_none(fold) && !fold->numbers)
    return add_text(fold, bytes, size_bytes, key);
  char mark = fold && fold->decimal ? fold->decimal : '.';
  bool is_number = fold && fold->numbers && read_number(bytes, size_bytes, mark, &number);
  shoal_text_add(key, is_number ? "n" : "t"); /* no text is a number's key */
  if (is_number) add_number(bytes, mark, &number, key);
  else shoal_text_add_bytes(key, bytes, size_bytes);
  return !key->failed;
}

/* ---------------------------------------------------------------- one spelling for each value */

/* The distinct values of one folded column. */
typedef struct spellings {
  const shoal_verify_fold *fold;
  shoal_verify_dictionary keys;
  shoal_text key;
} spellings;

static bool spellings_init(spellings *self, const shoal_verify_fold *fold) {
  *self = (spellings){.fold = fold};
  return shoal_verify_dictionary_init(&self->keys);
}

static void spellings_reset(spellings *self) {
  shoal_verify_dictionary_reset(&self->keys);
  shoal_wipe_free(self->key.bytes, self->key.capacity);
}

/* The entry of the cell's key; *is_new: it had none. NULL: no memory. */
static shoal_verify_entry *add_cell(spellings *self, const char *bytes, size_t size_bytes,
                                    bool *is_new) {
  uint32_t n = self->keys.n_entries;
  if (!shoal_verify_fold_key(self->fold, bytes, size_bytes, &self->key)) return NULL;
  uint64_t hash = shoal_hash_bytes(self->key.bytes, self->key.size_bytes);
  shoal_verify_entry *entry =
      shoal_verify_intern(&self->keys, hash, self->key.bytes, self->key.size_bytes);
  *is_new = entry && entry->id == n;
  return entry;
}

static shoal_status fail_spelled_twice(const shoal_verify_counter *count, size_t column,
                                       shoal_error *error) {
  return shoal_fail(error, SHOAL_FAILED,
                    "column '%.200s' of the release spells one value in two ways; %s",
                    count->request->columns[column], SHOAL_VERIFY_FAULT);
}

/*
 * Numbers the values of an attribute without the missing ones. The keys of the missing spellings
 * come first; they may be equal.
 */
static shoal_status number_values(const shoal_verify_counter *count, shoal_verify_values *counted,
                                  spellings *self, const shoal_verify_entry **entries,
                                  shoal_error *error) {
  const shoal_verify_dictionary *values = &counted->values;
  for (size_t i = 0; i < (size_t)1 << values->bits; i++)
    if (values->slots[i].entry) entries[values->slots[i].entry->id] = values->slots[i].entry;
  uint32_t n_missing_keys = 0;
  counted->n_numbers = 0;
  for (uint32_t v = 0; v < values->n_entries; v++) {
    bool is_new;
    const shoal_verify_entry *key =
        add_cell(self, entries[v]->bytes, entries[v]->size_bytes, &is_new);
    if (!key) return shoal_fail_memory(error);
    if (v < counted->n_missing) n_missing_keys = self->keys.n_entries;
    bool missing = key->id < n_missing_keys;
    if (!missing && !is_new) return fail_spelled_twice(count, counted->column, error);
    counted->number_of[v] = missing ? UINT32_MAX : counted->n_numbers++;
  }
  return SHOAL_OK;
}

static shoal_status check_attribute(const shoal_verify_counter *count, shoal_verify_values *counted,
                                    const shoal_verify_fold *fold, shoal_error *error) {
  spellings self;
  size_t n = counted->values.n_entries;
  const shoal_verify_entry **entries = shoal_alloc(n, sizeof *entries);
  counted->number_of = shoal_alloc(n, sizeof *counted->number_of);
  bool ready = spellings_init(&self, fold);
  shoal_status status = ready && entries && counted->number_of
                            ? number_values(count, counted, &self, entries, error)
                            : shoal_fail_memory(error);
  spellings_reset(&self);
  free(entries);
  return status;
}

/* Quasi-identifier q: its distinct cells are in the keys of the classes. */
static shoal_status check_cells(const shoal_verify_counter *count, size_t q, spellings *self,
                                shoal_verify_dictionary *cells, shoal_error *error) {
  for (size_t i = 0; i < (size_t)1 << count->classes.bits; i++) {
    const shoal_verify_entry *entry = count->classes.slots[i].entry;
    if (!entry) continue;
    const char *at = entry->bytes;
    size_t size_bytes = shoal_verify_key_length(&at);
    for (size_t before = 0; before < q; before++) {
      at += size_bytes;
      size_bytes = shoal_verify_key_length(&at);
    }
    uint32_t n = cells->n_entries;
    bool is_new;
    const shoal_verify_entry *cell =
        shoal_verify_intern(cells, shoal_hash_bytes(at, size_bytes), at, size_bytes);
    if (!cell) return shoal_fail_memory(error);
    if (cell->id < n) continue;
    if (!add_cell(self, at, size_bytes, &is_new)) return shoal_fail_memory(error);
    if (!is_new) return fail_spelled_twice(count, count->quasi[q], error);
  }
  return SHOAL_OK;
}

static shoal_status check_quasi(const shoal_verify_counter *count, size_t q,
                                const shoal_verify_fold *fold, shoal_error *error) {
  spellings self;
  shoal_verify_dictionary cells = {0};
  bool ready = spellings_init(&self, fold) && shoal_verify_dictionary_init(&cells);
  shoal_status status =
      ready ? check_cells(count, q, &self, &cells, error) : shoal_fail_memory(error);
  shoal_verify_dictionary_reset(&cells);
  spellings_reset(&self);
  return status;
}

shoal_status shoal_verify_check_spellings(shoal_verify_counter *count, shoal_error *error) {
  const shoal_verify_request *request = count->request;
  if (!request->folds) return SHOAL_OK;
  for (size_t i = 0; i < request->n_sensitive; i++) {
    const shoal_verify_fold *fold = &request->folds[count->counted[i].column];
    if (!shoal_verify_fold_none(fold))
      SHOAL_TRY(check_attribute(count, &count->counted[i], fold, error));
  }
  for (size_t q = 0; q < request->n_quasi; q++) {
    const shoal_verify_fold *fold = &request->folds[count->quasi[q]];
    if (!shoal_verify_fold_none(fold)) SHOAL_TRY(check_quasi(count, q, fold, error));
  }
  return SHOAL_OK;
}
