/* SPDX-License-Identifier: Apache-2.0 */
/* verify/sets: reads labels of sets. */
#include "verify/sets.h"

#include <string.h>

#include "verify/fold.h"

enum { MAX_VALUES = 16 };

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

bool shoal_verify_set_next(const char *label, size_t size, size_t *at, shoal_text *value) {
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
    ok = shoal_verify_set_next(label, size, &at, value) &&
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
