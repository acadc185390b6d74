/* SPDX-License-Identifier: Apache-2.0 */
/* verify/sets: reads labels of sets, and compares them with the original values row by row. */
#include "verify/sets.h"

#include <stdlib.h>
#include <string.h>

#include "verify/fold.h"
#include "verify/reader.h"
#include "verify/tables.h"

#define RELEASE "the release"
#define ORIGINALS "the file of original values"

enum { MAX_VALUES = 16 };

/* ---------------------------------------------------------------- one label */

static bool only_stars(const char *bytes, size_t size) {
  bool star = false;
  for (size_t i = 0; i < size; i++) {
    if (bytes[i] == '*') star = true;
    else if (bytes[i] != ' ') return false;
  }
  return star;
}

static bool must_be_quoted(const char *bytes, size_t size) {
  if (size == 0 || only_stars(bytes, size)) return true;
  for (size_t i = 0; i < size; i++)
    if (memchr("|{}\"", bytes[i], 4)) return true;
  return false;
}

/*
 * Reads the value at *at, up to a bar or the last brace, into `value`; *at is then behind that.
 * False: it is malformed.
 */
static bool read_value(const char *label, size_t size, size_t *at, shoal_text *value) {
  size_t i = *at;
  bool quoted = i < size && label[i] == '"', open = quoted;
  shoal_text_cut(value, 0);
  for (i += quoted; i < size; i++) {
    if (open && label[i] == '"') {
      open = i + 1 < size && label[i + 1] == '"';
      if (!open) {
        i++;
        break;
      }
      i++;
    } else if (!open && memchr("|{}\"", label[i], 4)) {
      break;
    }
    shoal_text_add_bytes(value, &label[i], 1);
  }
  if (open || i >= size || label[i] != (i + 1 == size ? '}' : '|')) return false;
  *at = i + 1;
  return must_be_quoted(value->bytes, value->size_bytes) == quoted;
}

static int compare(const char *a, size_t a_size, const char *b, size_t b_size) {
  size_t least = a_size < b_size ? a_size : b_size;
  int order = least ? memcmp(a, b, least) : 0;
  return order ? order : (a_size > b_size) - (a_size < b_size);
}

/* Is the text the value, under the fold? */
static bool is_value(const char *bytes, size_t size, const shoal_verify_fold *fold,
                     const shoal_text *key_of_value, shoal_text *key) {
  if (!shoal_verify_fold_key(fold, bytes, size, key)) return false;
  return compare(key->bytes, key->size_bytes, key_of_value->bytes, key_of_value->size_bytes) == 0;
}

/* A set whose values ascend; *n receives their number. */
static bool read_set(const char *label, size_t size, const shoal_verify_fold *fold,
                     const shoal_text *key_of_value, shoal_text *value, shoal_text *key, size_t *n,
                     bool *found) {
  shoal_text last;
  shoal_text_init(&last);
  bool ok = true;
  *n = 0;
  *found = false;
  for (size_t at = 1; ok && at < size; (*n)++) {
    ok = read_value(label, size, &at, value) &&
         (*n == 0 || compare(last.bytes, last.size_bytes, value->bytes, value->size_bytes) < 0);
    if (!ok) break;
    *found = is_value(value->bytes, value->size_bytes, fold, key_of_value, key) || *found;
    shoal_text_cut(&last, 0);
    shoal_text_add_bytes(&last, value->bytes, value->size_bytes);
  }
  value->failed = value->failed || last.failed;
  shoal_text_reset(&last);
  return ok && *n > 0;
}

bool shoal_verify_set_covers(const char *label, size_t size_bytes, const shoal_verify_fold *fold,
                             const shoal_text *key_of_value, shoal_text *scratch, shoal_text *key) {
  if (size_bytes == 1 && label[0] == '*') return true;
  if (size_bytes == 0 || label[0] != '{')
    return !only_stars(label, size_bytes) && is_value(label, size_bytes, fold, key_of_value, key);
  size_t n;
  bool found;
  if (!read_set(label, size_bytes, fold, key_of_value, scratch, key, &n, &found)) return false;
  if (n == 1) /* the scratch has the value */
    return found && ((scratch->size_bytes && scratch->bytes[0] == '{') ||
                     only_stars(scratch->bytes, scratch->size_bytes));
  return found && n <= MAX_VALUES;
}

/* ---------------------------------------------------------------- all rows */

typedef struct set_check {
  const shoal_verify_request *request;
  size_t *column;                 /* by set: its column in the release */
  shoal_verify_cell *cells;       /* of a row of the release */
  shoal_verify_cell *originals;   /* of the same row */
  shoal_verify_dictionary proven; /* column, size of the label, label, value: all are in order */
  shoal_text pair, value_key, scratch, key;
} set_check;

static void set_check_reset(set_check *c) {
  free(c->column);
  free(c->cells);
  free(c->originals);
  shoal_verify_dictionary_reset(&c->proven);
  shoal_text_reset(&c->pair);
  shoal_text_reset(&c->value_key);
  shoal_text_reset(&c->scratch);
  shoal_text_reset(&c->key);
}

static shoal_status set_check_init(set_check *c, const shoal_verify_request *request,
                                   shoal_error *error) {
  *c = (set_check){.request = request};
  c->column = shoal_alloc(request->n_sets, sizeof *c->column);
  c->cells = shoal_alloc(request->n_columns, sizeof *c->cells);
  c->originals = shoal_alloc(request->n_sets, sizeof *c->originals);
  if (!c->column || !c->cells || !c->originals || !shoal_verify_dictionary_init(&c->proven))
    return shoal_fail_memory(error);
  for (size_t s = 0; s < request->n_sets; s++) {
    size_t at = 0;
    while (at < request->n_columns && strcmp(request->columns[at], request->sets[s]) != 0) at++;
    if (at == request->n_columns)
      return shoal_fail(error, SHOAL_FAILED, "the release has no column '%.200s'; %s",
                        request->sets[s], SHOAL_VERIFY_FAULT);
    c->column[s] = at;
  }
  return SHOAL_OK;
}

static bool covers(set_check *c, size_t s, const shoal_verify_cell *label,
                   const shoal_verify_cell *value) {
  const shoal_verify_fold *fold =
      c->request->folds ? &c->request->folds[c->column[s]] : &(shoal_verify_fold){0};
  if (!shoal_verify_fold_key(fold, value->bytes, value->size_bytes, &c->value_key)) {
    c->value_key.failed = true;
    return false;
  }
  if (shoal_verify_set_covers(label->bytes, label->size_bytes, fold, &c->value_key, &c->scratch,
                              &c->key))
    return true;
  /* a value that a spreadsheet would run has an apostrophe before it */
  return c->request->formulas_quoted && label->size_bytes > 1 && label->bytes[0] == '\'' &&
         is_value(label->bytes + 1, label->size_bytes - 1, fold, &c->value_key, &c->key);
}

/* Checks a pair that was not seen before. */
static shoal_status check_cell(set_check *c, size_t s, shoal_error *error) {
  const shoal_verify_cell *label = &c->cells[c->column[s]], *value = &c->originals[s];
  size_t head[2] = {s, label->size_bytes};
  shoal_text_cut(&c->pair, 0);
  shoal_text_add_bytes(&c->pair, (const char *)head, sizeof head);
  shoal_text_add_bytes(&c->pair, label->bytes, label->size_bytes);
  shoal_text_add_bytes(&c->pair, value->bytes, value->size_bytes);
  if (c->pair.failed) return shoal_fail_memory(error);
  uint64_t hash = shoal_hash_bytes(c->pair.bytes, c->pair.size_bytes);
  if (shoal_verify_find(&c->proven, hash, c->pair.bytes, c->pair.size_bytes)) return SHOAL_OK;
  bool ok = covers(c, s, label, value);
  if (c->value_key.failed || c->scratch.failed || c->key.failed) return shoal_fail_memory(error);
  if (!ok)
    return shoal_fail(error, SHOAL_FAILED,
                      "column '%.200s' of the release has a set that does not cover the value of "
                      "its row, or is malformed; %s",
                      c->request->sets[s], SHOAL_VERIFY_FAULT);
  return shoal_verify_intern(&c->proven, hash, c->pair.bytes, c->pair.size_bytes)
             ? SHOAL_OK
             : shoal_fail_memory(error);
}

/* The headers are rows too: the release's was compared already, that of the originals is here. */
static shoal_status check_names(const set_check *c, bool found, shoal_error *error) {
  for (size_t s = 0; found && s < c->request->n_sets; s++)
    found = compare(c->originals[s].bytes, c->originals[s].size_bytes, c->request->sets[s],
                    strlen(c->request->sets[s])) == 0;
  if (found) return SHOAL_OK;
  return shoal_fail(error, SHOAL_FAILED, ORIGINALS " has other columns; %s", SHOAL_VERIFY_FAULT);
}

static shoal_status check_rows(set_check *c, shoal_verify_reader *release,
                               shoal_verify_reader *originals, shoal_error *error) {
  const shoal_verify_request *request = c->request;
  bool found, other;
  SHOAL_TRY(shoal_verify_reader_next(release, c->cells, request->n_columns, &found, error));
  SHOAL_TRY(shoal_verify_reader_next(originals, c->originals, request->n_sets, &other, error));
  SHOAL_TRY(check_names(c, found && other, error));
  for (;;) {
    SHOAL_TRY(shoal_verify_reader_next(release, c->cells, request->n_columns, &found, error));
    SHOAL_TRY(shoal_verify_reader_next(originals, c->originals, request->n_sets, &other, error));
    if (found != other)
      return shoal_fail(error, SHOAL_FAILED, ORIGINALS " has %s rows than the release; %s",
                        other ? "more" : "fewer", SHOAL_VERIFY_FAULT);
    if (!found) return SHOAL_OK;
    for (size_t s = 0; s < request->n_sets; s++) SHOAL_TRY(check_cell(c, s, error));
  }
}

shoal_status shoal_verify_sets(int fd, const shoal_verify_request *request, shoal_error *error) {
  set_check c;
  shoal_verify_reader *release = NULL, *originals = NULL;
  shoal_status status = set_check_init(&c, request, error);
  if (status == SHOAL_OK)
    status = shoal_verify_reader_open(fd, RELEASE, request->delimiter, NULL, &release, error);
  if (status == SHOAL_OK)
    status = shoal_verify_reader_open(request->originals_fd, ORIGINALS, request->delimiter, NULL,
                                      &originals, error);
  if (status == SHOAL_OK) status = check_rows(&c, release, originals, error);
  shoal_verify_reader_close(release);
  shoal_verify_reader_close(originals);
  set_check_reset(&c);
  return status;
}
