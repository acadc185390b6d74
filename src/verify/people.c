/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verify/people: people and households, from a file with one line for each row of the release. A
 * key of several cells has the length of each before it, as the key of a class has (counter.c).
 * People are counted by class like a sensitive value. For proportions, each person counts once for
 * each distinct value in a class; missing values are one value.
 */
#include <stdlib.h>

#include "verify/counter.h"
#include "verify/models.h"

#define PEOPLE "the file of people"

/* Different hashes are those of different keys. */
static bool all_differ(const shoal_verify_request *request) {
  const uint64_t *hashes = request->person_hashes;
  if (!hashes || request->n_hashes < request->n_rows) return false;
  for (size_t i = 1; i < request->n_hashes; i++)
    if (hashes[i - 1] >= hashes[i]) return false;
  return true;
}

shoal_status shoal_verify_check_people(const shoal_verify_request *request, shoal_error *error) {
  const char *whose = NULL;
  if (request->asks_people && !request->n_person && !all_differ(request)) whose = "person";
  if (request->asks_households && !request->n_household) whose = "household";
  if (!whose) return SHOAL_OK;
  return shoal_fail(error, SHOAL_FAILED,
                    "several rows may be of one %s, and the verifier cannot count them; %s", whose,
                    SHOAL_VERIFY_FAULT);
}

shoal_status shoal_verify_people_header(shoal_verify_counter *count, shoal_error *error) {
  const shoal_verify_request *request = count->request;
  bool found;
  SHOAL_TRY(shoal_verify_reader_next(count->people, count->people_cells,
                                     request->n_person + request->n_household, &found, error));
  if (found) return SHOAL_OK;
  return shoal_fail(error, SHOAL_FAILED, PEOPLE " is empty; %s", SHOAL_VERIFY_FAULT);
}

/* One cell is its own key. False: no memory. */
static bool make_key(const shoal_verify_cell *cells, size_t n, shoal_text *text,
                     shoal_verify_cell *key) {
  if (n == 1) {
    *key = cells[0];
    return true;
  }
  shoal_text_cut(text, 0);
  for (size_t i = 0; i < n; i++) {
    shoal_text_print(text, "%zu:", cells[i].size_bytes);
    shoal_text_add_bytes(text, cells[i].bytes, cells[i].size_bytes);
  }
  key->bytes = text->bytes;
  key->size_bytes = text->size_bytes;
  return !text->failed;
}

shoal_status shoal_verify_read_people(shoal_verify_counter *count, bool wanted,
                                      shoal_error *error) {
  const shoal_verify_request *request = count->request;
  size_t n_person = request->n_person, n_household = request->n_household;
  const shoal_verify_cell *cells = count->people_cells;
  bool found;
  if (!count->people) return SHOAL_OK;
  SHOAL_TRY(shoal_verify_reader_next(count->people, count->people_cells, n_person + n_household,
                                     &found, error));
  if (found != wanted)
    return shoal_fail(error, SHOAL_FAILED, PEOPLE " has %s rows than the release; %s",
                      found ? "more" : "fewer", SHOAL_VERIFY_FAULT);
  if (!found) return SHOAL_OK;
  shoal_verify_cell *person = &count->cells[request->n_columns + 1], *household = person + 1;
  bool ok =
      (!n_person || make_key(cells, n_person, &count->person_key, person)) &&
      (!n_household || make_key(cells + n_person, n_household, &count->household_key, household));
  return ok ? SHOAL_OK : shoal_fail_memory(error);
}

bool shoal_verify_count_person(shoal_verify_values *counted, uint32_t class_id, uint32_t value,
                               uint32_t person) {
  if (!counted->by_person.slots &&
      (!shoal_ids_init(&counted->by_person, 1024) || !shoal_verify_pairs_init(&counted->people)))
    return false;
  uint32_t id = shoal_ids_insert(&counted->by_person, (uint64_t)value << 32 | person);
  return id != SHOAL_NONE &&
         shoal_verify_count_pair(&counted->people, shoal_verify_pair_key(class_id, id), 1);
}

/* ---------------------------------------------------------------- the tally */

/* A person who has a value in a class; UINT32_MAX: a missing one. */
typedef struct holding {
  uint32_t class_id, value, person;
} holding;

static int by_class(const void *a, const void *b) {
  const holding *x = a, *y = b;
  if (x->class_id != y->class_id) return x->class_id < y->class_id ? -1 : 1;
  if (x->value != y->value) return x->value < y->value ? -1 : 1;
  return (x->person > y->person) - (x->person < y->person);
}

/* All holdings, sorted. NULL: no memory. */
static holding *list_holdings(const shoal_verify_values *counted, const uint32_t *new_of,
                              size_t *n) {
  const shoal_verify_pairs *pairs = &counted->people;
  holding *list = shoal_alloc(pairs->n_used, sizeof *list);
  *n = 0;
  for (size_t i = 0; list && pairs->slots && i < (size_t)1 << pairs->bits; i++) {
    if (!pairs->slots[i].n_rows) continue;
    uint64_t key = counted->by_person.of_id[(uint32_t)pairs->slots[i].key];
    uint32_t value = (uint32_t)(key >> 32);
    uint32_t number = value < counted->n_missing ? UINT32_MAX
                      : counted->number_of       ? counted->number_of[value]
                                                 : value - counted->n_missing;
    uint32_t class_id = (uint32_t)(pairs->slots[i].key >> 32);
    list[(*n)++] = (holding){new_of ? new_of[class_id] : class_id, number, (uint32_t)key};
  }
  if (list && *n) qsort(list, *n, sizeof *list, by_class);
  return list;
}

/* Counts people by class and value; missing values count in `sizes` alone. */
static void count_holdings(const holding *list, size_t n, size_t n_classes,
                           shoal_verify_by_person *out) {
  size_t at = 0, kept = 0;
  for (size_t c = 0; c < n_classes; c++) {
    out->attribute.starts[c] = kept;
    for (; at < n && list[at].class_id == c; at++) {
      if (at && by_class(&list[at - 1], &list[at]) == 0) continue; /* the same person and value */
      out->sizes[c]++;
      if (list[at].value == UINT32_MAX) continue;
      bool same = kept > out->attribute.starts[c] &&
                  out->attribute.counts[kept - 1].value == list[at].value;
      if (!same) out->attribute.counts[kept++] = (shoal_verify_count){.value = list[at].value};
      out->attribute.counts[kept - 1].n_rows++;
    }
  }
  out->attribute.starts[n_classes] = kept;
}

static bool tally_by_value(const shoal_verify_values *counted, const uint32_t *new_of,
                           const shoal_verify_attribute *attribute, size_t n_classes,
                           shoal_verify_by_person *out) {
  size_t n;
  holding *list = list_holdings(counted, new_of, &n);
  out->attribute = *attribute;
  out->attribute.starts = shoal_alloc(n_classes + 1, sizeof *out->attribute.starts);
  out->attribute.counts = shoal_alloc(n, sizeof *out->attribute.counts);
  out->sizes = shoal_alloc_zero(n_classes, sizeof *out->sizes);
  bool ok = list && out->attribute.starts && out->attribute.counts && out->sizes;
  if (ok) count_holdings(list, n, n_classes, out);
  free(list);
  return ok;
}

/* Distinct people, or households, of each class. NULL: no memory. */
static uint64_t *count_distinct(const shoal_verify_values *counted, const uint32_t *new_of,
                                size_t n_classes) {
  const shoal_verify_pairs *pairs = &counted->pairs;
  uint64_t *distinct = shoal_alloc_zero(n_classes, sizeof *distinct);
  shoal_verify_pairs merged = {0}; /* a person can be in several classes that became one */
  bool ok = distinct && (!new_of || shoal_verify_pairs_init(&merged));
  for (size_t i = 0; ok && i < (size_t)1 << pairs->bits; i++) {
    if (!pairs->slots[i].n_rows) continue;
    uint32_t class_id = (uint32_t)(pairs->slots[i].key >> 32);
    size_t before = merged.n_used;
    if (new_of) {
      class_id = new_of[class_id];
      uint64_t key = shoal_verify_pair_key(class_id, (uint32_t)pairs->slots[i].key);
      ok = shoal_verify_count_pair(&merged, key, 1);
    }
    if (!new_of || merged.n_used > before) distinct[class_id]++;
  }
  shoal_verify_pairs_reset(&merged);
  if (ok) return distinct;
  free(distinct);
  return NULL;
}

bool shoal_verify_tally_people(const shoal_verify_counter *count, const uint32_t *new_of,
                               shoal_verify_tally *tally) {
  const shoal_verify_request *request = count->request;
  const shoal_verify_extras *extras = &count->extras;
  size_t n = tally->n_classes;
  if (request->n_person &&
      !(tally->class_people = count_distinct(&count->counted[extras->people], new_of, n)))
    return false;
  if (request->n_household &&
      !(tally->class_households = count_distinct(&count->counted[extras->households], new_of, n)))
    return false;
  if (!request->by_person) return true;
  tally->by_person = shoal_alloc_zero(request->n_sensitive, sizeof *tally->by_person);
  for (size_t i = 0; tally->by_person && i < request->n_sensitive; i++)
    if (!tally_by_value(&count->counted[i], new_of, &tally->attributes[i], n, &tally->by_person[i]))
      return false;
  return tally->by_person != NULL;
}

void shoal_verify_tally_people_reset(shoal_verify_tally *tally) {
  for (size_t i = 0; tally->by_person && i < tally->n_attributes; i++) {
    free(tally->by_person[i].attribute.starts);
    free(tally->by_person[i].attribute.counts);
    free(tally->by_person[i].sizes);
  }
  free(tally->by_person);
  free(tally->class_people);
  free(tally->class_households);
}
