/* SPDX-License-Identifier: Apache-2.0 */
/* verify/over: shorter keys, classes that have equal ones, and the sums of their counts. */
#include "verify/over.h"

#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- classes */

/* uses[i]: whether quasi-identifier i of the request is in the set. */
static shoal_status find_columns(const shoal_verify_request *request, const shoal_verify_set *set,
                                 uint8_t *uses, shoal_error *error) {
  for (size_t i = 0; i < set->n; i++) {
    size_t q = 0;
    while (q < request->n_quasi && strcmp(request->quasi[q], set->quasi[i]) != 0) q++;
    if (q == request->n_quasi)
      return shoal_fail(error, SHOAL_FAILED,
                        "a model is over '%.200s', which is no quasi-identifier of the release; %s",
                        set->quasi[i], SHOAL_VERIFY_FAULT);
    uses[q] = 1;
  }
  return SHOAL_OK;
}

/* Copies the cells of the set, each with its length before it; returns their bytes. */
static size_t shorten(const shoal_verify_entry *entry, const uint8_t *uses, size_t n_quasi,
                      char *out) {
  size_t at = 0, size_bytes = 0;
  for (size_t q = 0; q < n_quasi; q++) {
    size_t begin = at, length = 0;
    unsigned shift = 0;
    unsigned char byte;
    do { /* seven bits of the length in each byte, the lowest first */
      byte = (unsigned char)entry->bytes[at++];
      length |= (size_t)(byte & 0x7f) << shift;
      shift += 7;
    } while (byte & 0x80);
    at += length;
    if (!uses[q]) continue;
    memcpy(out + size_bytes, entry->bytes + begin, at - begin);
    size_bytes += at - begin;
  }
  return size_bytes;
}

/* The new class of each class; returns their number. SIZE_MAX: no memory. */
static size_t group(const shoal_verify_counter *count, const shoal_verify_entry *const *classes,
                    const uint8_t *uses, uint32_t *new_of) {
  shoal_verify_dictionary shorter;
  char *key = NULL;
  size_t capacity = 0;
  bool ok = shoal_verify_dictionary_init(&shorter);
  for (size_t i = 0; ok && i < count->classes.n_entries; i++) {
    const shoal_verify_entry *entry = classes[i];
    ok = shoal_grow(&key, &capacity, entry->size_bytes + 1, 1);
    if (!ok) break;
    size_t size_bytes = shorten(entry, uses, count->request->n_quasi, key);
    const shoal_verify_entry *same =
        shoal_verify_intern(&shorter, shoal_hash_bytes(key, size_bytes), key, size_bytes);
    ok = same != NULL;
    if (ok) new_of[i] = same->id;
  }
  size_t n = ok ? shorter.n_entries : SIZE_MAX;
  shoal_verify_dictionary_reset(&shorter);
  free(key);
  return n;
}

/* ---------------------------------------------------------------- counts */

/* Classes by their new class: that of c has classes starts[c] .. starts[c + 1] - 1. */
typedef struct members {
  size_t *starts;
  uint32_t *classes;
} members;

static bool list_members(const uint32_t *new_of, size_t n_classes, size_t n_new, members *m) {
  m->starts = shoal_alloc_zero(n_new + 1, sizeof *m->starts);
  m->classes = shoal_alloc(n_classes, sizeof *m->classes);
  if (!m->starts || !m->classes) return false;
  for (size_t c = 0; c < n_classes; c++) m->starts[new_of[c]]++;
  size_t end = 0;
  for (size_t c = 0; c <= n_new; c++) {
    end += m->starts[c];
    m->starts[c] = end; /* filling it from the end makes it the start */
  }
  for (size_t c = n_classes; c-- > 0;) m->classes[--m->starts[new_of[c]]] = (uint32_t)c;
  return true;
}

/* Sums the counts of the classes that became one. `rows`: zeros, one for each value. */
static bool sum_counts(const shoal_verify_attribute *from, const members *m, size_t n_new,
                       uint64_t *rows, shoal_verify_attribute *to) {
  size_t n_counts = 0, n_from = m->starts[n_new];
  *to = (shoal_verify_attribute){
      .name = from->name, .fold = from->fold, .known = from->known, .n_values = from->n_values};
  to->starts = shoal_alloc(n_new + 1, sizeof *to->starts);
  to->counts = shoal_alloc(from->starts[n_from], sizeof *to->counts);
  if (!to->starts || !to->counts) return false;
  for (size_t c = 0; c < n_new; c++) {
    size_t begin = to->starts[c] = n_counts;
    for (size_t i = m->starts[c]; i < m->starts[c + 1]; i++) {
      size_t n;
      const shoal_verify_count *counts = shoal_verify_counts_of(from, m->classes[i], &n);
      for (size_t v = 0; v < n; v++) {
        if (!rows[counts[v].value]) to->counts[n_counts++].value = counts[v].value;
        rows[counts[v].value] += counts[v].n_rows;
      }
    }
    for (size_t v = begin; v < n_counts; v++) {
      to->counts[v].n_rows = rows[to->counts[v].value];
      rows[to->counts[v].value] = 0;
    }
  }
  to->starts[n_new] = n_counts;
  return true;
}

static bool sum_attribute(const shoal_verify_attribute *from, const members *m, size_t n_new,
                          shoal_verify_attribute *to) {
  uint64_t *rows = shoal_alloc_zero(from->n_values, sizeof *rows);
  bool ok = rows && sum_counts(from, m, n_new, rows, to);
  free(rows);
  return ok;
}

static bool sum_all(const shoal_verify_tally *tally, const members *m, shoal_verify_tally *over) {
  size_t n = over->n_classes;
  over->n_rows = tally->n_rows;
  over->class_rows = shoal_alloc_zero(n, sizeof *over->class_rows);
  over->attributes = shoal_alloc_zero(tally->n_attributes, sizeof *over->attributes);
  if (!over->class_rows || !over->attributes) return false;
  over->n_attributes = tally->n_attributes;
  over->guard_texts = tally->guard_texts;
  for (size_t c = 0; c < n; c++)
    for (size_t i = m->starts[c]; i < m->starts[c + 1]; i++)
      over->class_rows[c] += tally->class_rows[m->classes[i]];
  for (size_t a = 0; a < tally->n_attributes; a++)
    if (!sum_attribute(&tally->attributes[a], m, n, &over->attributes[a])) return false;
  return !tally->guards.starts || sum_attribute(&tally->guards, m, n, &over->guards);
}

const shoal_verify_entry **shoal_verify_list_classes(const shoal_verify_counter *count) {
  const shoal_verify_dictionary *classes = &count->classes;
  const shoal_verify_entry **list = shoal_alloc(classes->n_entries, sizeof *list);
  for (size_t i = 0; list && i < (size_t)1 << classes->bits; i++)
    if (classes->slots[i].entry) list[classes->slots[i].entry->id] = classes->slots[i].entry;
  return list;
}

shoal_status shoal_verify_tally_over(const shoal_verify_counter *count,
                                     const shoal_verify_entry *const *classes,
                                     const shoal_verify_tally *tally, const shoal_verify_set *set,
                                     shoal_verify_tally *over, shoal_error *error) {
  members m = {0};
  uint8_t *uses = shoal_alloc_zero(count->request->n_quasi, 1);
  uint32_t *new_of = shoal_alloc(tally->n_classes, sizeof *new_of);
  shoal_status status = uses && new_of ? SHOAL_OK : shoal_fail_memory(error);
  if (status == SHOAL_OK) status = find_columns(count->request, set, uses, error);
  if (status == SHOAL_OK) {
    over->n_classes = group(count, classes, uses, new_of);
    if (over->n_classes == SIZE_MAX ||
        !list_members(new_of, tally->n_classes, over->n_classes, &m) || !sum_all(tally, &m, over) ||
        !shoal_verify_tally_people(count, new_of, over))
      status = shoal_fail_memory(error);
  }
  free(m.starts);
  free(m.classes);
  free(new_of);
  free(uses);
  return status;
}

void shoal_verify_tally_over_reset(shoal_verify_tally *over) {
  shoal_verify_tally_people_reset(over);
  for (size_t a = 0; a < over->n_attributes; a++) {
    free(over->attributes[a].starts);
    free(over->attributes[a].counts);
  }
  free(over->attributes);
  free(over->guards.starts);
  free(over->guards.counts);
  free(over->class_rows);
}
