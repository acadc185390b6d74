/* SPDX-License-Identifier: Apache-2.0 */
/* verify/rare: the values of columns with rare values, by key, and the cells that may be shown. */
#include "verify/rare.h"

#include <stdlib.h>
#include <string.h>

#include "verify/fold.h"
#include "verify/sets.h"

static const char RARE[] = "(rare)";

struct shoal_verify_rare {
  const shoal_verify_request *request;
  shoal_verify_dictionary *values; /* by column: keys; n_rows is 1 if the value may be shown */
  shoal_text value, key;
};

static const shoal_verify_fold *fold_of(const shoal_verify_request *request, size_t c) {
  static const shoal_verify_fold none = {0};
  return request->folds ? &request->folds[c] : &none;
}

/* Adds a value; a value that is listed twice may be shown if one of them may. False: no memory. */
static bool add_value(shoal_verify_rare *r, size_t c, const char *value, bool shown) {
  if (!shoal_verify_fold_key(fold_of(r->request, c), value, strlen(value), &r->key)) return false;
  uint64_t hash = shoal_hash_bytes(r->key.bytes, r->key.size_bytes);
  shoal_verify_entry *entry =
      shoal_verify_intern(&r->values[c], hash, r->key.bytes, r->key.size_bytes);
  if (entry && shown) entry->n_rows = 1;
  return entry != NULL;
}

static bool add_column(shoal_verify_rare *r, size_t c) {
  const shoal_verify_code *code = &r->request->codes[c];
  if (!shoal_verify_dictionary_init(&r->values[c]) || !add_value(r, c, RARE, true)) return false;
  for (size_t i = 0; i < r->request->n_missing; i++)
    if (!add_value(r, c, r->request->missing[i], true)) return false;
  for (size_t i = 0; i < code->n_values; i++)
    if (!add_value(r, c, code->values[i].value, code->values[i].n_original >= code->rare))
      return false;
  return true;
}

shoal_status shoal_verify_rare_new(const shoal_verify_request *request, shoal_verify_rare **rare,
                                   shoal_error *error) {
  bool any = false;
  for (size_t c = 0; request->codes && c < request->n_columns; c++)
    any = any || request->codes[c].rare;
  *rare = NULL;
  if (!any) return SHOAL_OK;
  shoal_verify_rare *r = *rare = shoal_alloc_zero(1, sizeof *r);
  if (!r) return shoal_fail_memory(error);
  r->request = request;
  r->values = shoal_alloc_zero(request->n_columns, sizeof *r->values);
  shoal_text_init(&r->value);
  shoal_text_init(&r->key);
  bool ok = r->values != NULL;
  for (size_t c = 0; ok && c < request->n_columns; c++)
    if (request->codes[c].rare) ok = add_column(r, c);
  return ok ? SHOAL_OK : shoal_fail_memory(error);
}

void shoal_verify_rare_free(shoal_verify_rare *rare) {
  if (!rare) return;
  for (size_t c = 0; rare->values && c < rare->request->n_columns; c++)
    shoal_verify_dictionary_reset(&rare->values[c]);
  free(rare->values);
  shoal_text_reset(&rare->value);
  shoal_text_reset(&rare->key);
  free(rare);
}

/* May the text be shown as a value of the column? */
static bool may_show(shoal_verify_rare *r, size_t c, const char *bytes, size_t size) {
  if (!shoal_verify_fold_key(fold_of(r->request, c), bytes, size, &r->key)) {
    r->key.failed = true;
    return false;
  }
  uint64_t hash = shoal_hash_bytes(r->key.bytes, r->key.size_bytes);
  const shoal_verify_entry *entry =
      shoal_verify_find(&r->values[c], hash, r->key.bytes, r->key.size_bytes);
  return entry ? entry->n_rows == 1 : r->request->codes[c].words;
}

static bool is_allowed(shoal_verify_rare *r, size_t c, const shoal_verify_cell *cell) {
  const shoal_verify_code *code = &r->request->codes[c];
  if (code->labels && cell->size_bytes == 1 && cell->bytes[0] == '*') return true;
  if (code->sets && cell->size_bytes && cell->bytes[0] == '{') {
    for (size_t at = 1; at < cell->size_bytes;) {
      if (!shoal_verify_set_next(cell->bytes, cell->size_bytes, &at, &r->value)) return false;
      if (!may_show(r, c, r->value.bytes, r->value.size_bytes)) return false;
    }
    return true;
  }
  return may_show(r, c, cell->bytes, cell->size_bytes);
}

shoal_status shoal_verify_check_rare(shoal_verify_rare *rare, const shoal_verify_cell *cells,
                                     shoal_error *error) {
  for (size_t c = 0; rare && c < rare->request->n_columns; c++) {
    if (!rare->request->codes[c].rare || is_allowed(rare, c, &cells[c])) continue;
    if (rare->key.failed || rare->value.failed) return shoal_fail_memory(error);
    return shoal_fail(error, SHOAL_FAILED,
                      "column '%.200s' of the release has a cell that shows a value of fewer rows "
                      "than its 'rare' allows; %s",
                      rare->request->columns[c], SHOAL_VERIFY_FAULT);
  }
  return SHOAL_OK;
}
