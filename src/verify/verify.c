/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verify: the steps of verification. File -> rows of cells (reader.c) -> rows counted by class and
 * sensitive value (counter.c; parts.c on several threads) -> counts sorted by class (this file) ->
 * proof of each model (models.c) -> comparison with the rows of the original (trace.c).
 */
#include "verify/verify.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "verify/counter.h"
#include "verify/fold.h"
#include "verify/models.h"
#include "verify/over.h"
#include "verify/pseudonyms.h"
#include "verify/trace.h"

#define RELEASE "the release"
#define GUARDS "the file of guarding nodes"
#define PEOPLE "the file of people"

/* ---------------------------------------------------------------- the tally */

/* The value's number without the missing ones; UINT32_MAX: it is missing. */
static uint32_t number_of(const shoal_verify_values *counted, uint32_t value) {
  return counted->number_of ? counted->number_of[value] : value - counted->n_missing;
}

/* Is this slot one of a class and a value that is not missing? */
static bool is_counted(const shoal_verify_values *counted, const shoal_verify_pair *slot) {
  return slot->n_rows && number_of(counted, (uint32_t)slot->key) != UINT32_MAX;
}

/*
 * Counting sort of the pairs of one attribute by class. From here on, values are numbered without
 * the missing ones. Frees the pairs; false: no memory.
 */
static bool tally_attribute(shoal_verify_attribute *attribute, size_t n_classes,
                            shoal_verify_values *counted) {
  enum { AHEAD = 16 }; /* slots to prefetch: classes are in random order here too */
  const shoal_verify_pairs *pairs = &counted->pairs;
  size_t n_slots = (size_t)1 << pairs->bits, mask = n_slots - 1;
  size_t *starts = attribute->starts = shoal_alloc_zero(n_classes + 1, sizeof *starts);
  attribute->counts = shoal_alloc(pairs->n_used, sizeof *attribute->counts);
  if (!starts || !attribute->counts) return false;
  for (size_t i = 0; i < n_slots; i++) {
    __builtin_prefetch(&starts[pairs->slots[(i + AHEAD) & mask].key >> 32], 1);
    if (is_counted(counted, &pairs->slots[i])) starts[pairs->slots[i].key >> 32]++;
  }
  size_t end = 0;
  for (size_t c = 0; c <= n_classes; c++) {
    end += starts[c];
    starts[c] = end; /* the end of the class; filling it from the end makes it the start */
  }
  assert(counted->number_of ? end <= pairs->n_used : end == pairs->n_used);
  for (size_t i = 0; i < n_slots; i++) {
    __builtin_prefetch(&starts[pairs->slots[(i + 2 * AHEAD) & mask].key >> 32], 1);
    __builtin_prefetch(&attribute->counts[starts[pairs->slots[(i + AHEAD) & mask].key >> 32]], 1);
    const shoal_verify_pair *slot = &pairs->slots[i];
    if (!is_counted(counted, slot)) continue;
    attribute->counts[--starts[slot->key >> 32]] = (shoal_verify_count){
        .n_rows = slot->n_rows, .value = number_of(counted, (uint32_t)slot->key)};
  }
  attribute->known = counted->known;
  attribute->n_values =
      counted->number_of ? counted->n_numbers : counted->values.n_entries - counted->n_missing;
  shoal_verify_pairs_reset(&counted->pairs);
  return true;
}

static bool tally_guards(shoal_verify_counter *count, shoal_verify_tally *tally) {
  shoal_verify_values *counted = &count->counted[count->extras.guards];
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

/* Turns the counter into a tally; false: no memory. */
static bool tally_all(shoal_verify_counter *count, shoal_verify_tally *tally) {
  const shoal_verify_request *request = count->request;
  const shoal_verify_dictionary *classes = &count->classes;
  tally->n_rows = count->n_rows;
  tally->n_classes = classes->n_entries;
  tally->class_rows = shoal_alloc(tally->n_classes, sizeof *tally->class_rows);
  tally->attributes = shoal_alloc_zero(request->n_sensitive, sizeof *tally->attributes);
  if (!tally->class_rows || !tally->attributes) return false;
  tally->n_attributes = request->n_sensitive;
  for (size_t i = 0; i < (size_t)1 << classes->bits; i++) {
    const shoal_verify_entry *entry = classes->slots[i].entry;
    if (entry) tally->class_rows[entry->id] = entry->n_rows;
  }
  for (size_t i = 0; i < request->n_sensitive; i++) {
    tally->attributes[i].name = request->sensitive[i];
    if (request->folds) tally->attributes[i].fold = &request->folds[count->counted[i].column];
    if (!tally_attribute(&tally->attributes[i], tally->n_classes, &count->counted[i])) return false;
  }
  return (request->guards_fd < 0 || tally_guards(count, tally)) &&
         shoal_verify_tally_people(count, NULL, tally);
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
  shoal_verify_tally_people_reset(tally);
  free(tally->class_rows);
}

static void fill_finding(const shoal_verify_tally *tally, shoal_verify_finding *finding) {
  uint64_t smallest = tally->n_rows;
  for (size_t c = 0; c < tally->n_classes; c++)
    if (tally->class_rows[c] < smallest) smallest = tally->class_rows[c];
  finding->n_rows = tally->n_rows;
  finding->n_classes = tally->n_classes;
  finding->smallest_class = smallest;
  finding->fewest_people = tally->n_rows;
  for (size_t c = 0; c < tally->n_classes; c++) {
    uint64_t people = tally->class_people ? tally->class_people[c] : tally->class_rows[c];
    if (people < finding->fewest_people) finding->fewest_people = people;
  }
}

/* ---------------------------------------------------------------- one pass */

static bool has_people(const shoal_verify_request *request) {
  return request->n_person || request->n_household;
}

/* Counts the file with one reader: for guarding nodes and people, or if parts are not possible. */
static shoal_status count_whole(shoal_verify_counter *count, int fd, const shoal_run *run,
                                shoal_error *error) {
  const shoal_verify_request *request = count->request;
  shoal_verify_reader *reader = NULL, *guards = NULL;
  shoal_status status =
      shoal_verify_reader_open(fd, RELEASE, request->delimiter, run, &reader, error);
  if (status == SHOAL_OK && request->guards_fd >= 0) /* progress is reported for the release only */
    status = shoal_verify_reader_open(request->guards_fd, GUARDS, request->delimiter, NULL, &guards,
                                      error);
  if (status == SHOAL_OK && has_people(request))
    status = shoal_verify_reader_open(request->people_fd, PEOPLE, request->delimiter, NULL,
                                      &count->people, error);
  if (status == SHOAL_OK) status = shoal_verify_check_header(count, reader, error);
  if (status == SHOAL_OK && count->people) status = shoal_verify_people_header(count, error);
  if (status == SHOAL_OK && guards) status = shoal_verify_guard_header(count, guards, error);
  if (status == SHOAL_OK) status = shoal_verify_count_rows(count, reader, guards, NULL, error);
  shoal_verify_reader_close(count->people);
  count->people = NULL;
  shoal_verify_reader_close(guards);
  shoal_verify_reader_close(reader);
  return status;
}

static shoal_status count_file(shoal_verify_counter *count, int fd, const shoal_run *run,
                               shoal_error *error) {
  bool counted = false;
  const shoal_verify_request *request = count->request;
  if (request->guards_fd < 0 && !has_people(request) && !request->counts)
    SHOAL_TRY(shoal_verify_count_parts(count, fd, RELEASE, run, &counted, error));
  if (!counted) SHOAL_TRY(count_whole(count, fd, run, error));
  SHOAL_TRY(shoal_verify_check_rows(count, error));
  SHOAL_TRY(shoal_verify_check_spellings(count, error));
  SHOAL_TRY(shoal_verify_check_values(count, error));
  return shoal_verify_check_formulas(count, error);
}

/* Does the release have the rows of the trace, with labels that cover their values? */
static shoal_status compare_rows(const shoal_verify_counter *count, const shoal_run *run,
                                 shoal_error *error) {
  uint64_t fingerprint;
  SHOAL_TRY(shoal_verify_trace_rows(count->request, run, &fingerprint, error));
  if (fingerprint == count->fingerprint) return SHOAL_OK;
  return shoal_fail(error, SHOAL_FAILED,
                    "the rows of the release are not those of the original with their labels; %s",
                    SHOAL_VERIFY_FAULT);
}

/* The rows of each value: a join that repeats rows makes classes larger than they are. */
static shoal_status compare_values(const shoal_verify_request *request,
                                   const shoal_verify_attribute *attribute, size_t n_classes,
                                   shoal_error *error) {
  uint64_t *rows = shoal_alloc_zero(attribute->n_values, sizeof *rows);
  if (!rows) return shoal_fail_memory(error);
  bool repeated = false;
  for (size_t i = 0; i < attribute->starts[n_classes]; i++) {
    const shoal_verify_count *count = &attribute->counts[i];
    uint64_t most = count->value < attribute->known->n_values
                        ? attribute->known->values[count->value].n_original
                        : 0;
    rows[count->value] += count->n_rows;
    if (rows[count->value] > most && rows[count->value] - most > request->max_added)
      repeated = true;
  }
  free(rows);
  if (!repeated) return SHOAL_OK;
  return shoal_fail(error, SHOAL_FAILED,
                    "column '%.200s' of the release has a value in more rows than the original "
                    "has with it (does a join repeat rows?); %s",
                    attribute->name, SHOAL_VERIFY_FAULT);
}

/* Proves the models over all quasi-identifiers, then those over each set of them. */
static shoal_status prove_all(const shoal_verify_counter *count, const shoal_verify_tally *tally,
                              shoal_error *error) {
  const shoal_verify_request *request = count->request;
  /* A model that is about a set that the request lacks would be proven of nothing. */
  for (size_t i = 0; i < request->n_models; i++)
    for (size_t j = 0; j < request->models[i].n_over; j++)
      if (request->models[i].over[j] >= request->n_over)
        return shoal_fail(
            error, SHOAL_FAILED,
            "the model '%.100s' is about quasi-identifiers that the request lacks; %s",
            request->models[i].name, SHOAL_VERIFY_FAULT);
  SHOAL_TRY(shoal_verify_models(request, tally, SHOAL_VERIFY_WHOLE, error));
  if (!request->n_over) return SHOAL_OK;
  const shoal_verify_entry **classes = shoal_verify_list_classes(count);
  shoal_status status = classes ? SHOAL_OK : shoal_fail_memory(error);
  for (size_t i = 0; i < request->n_over && status == SHOAL_OK; i++) {
    shoal_verify_tally over = {0};
    status = shoal_verify_tally_over(count, classes, tally, &request->over[i], &over, error);
    if (status == SHOAL_OK) status = shoal_verify_models(request, &over, i, error);
    shoal_verify_tally_over_reset(&over);
  }
  free(classes);
  return status;
}

shoal_status shoal_verify(int fd, const shoal_verify_request *request, const shoal_run *run,
                          shoal_verify_finding *finding, shoal_error *error) {
  assert(!request->counts || (!request->trace && !request->n_pseudonyms));
  shoal_verify_counter count = {.request = request};
  shoal_verify_tally tally = {0};
  shoal_status status = shoal_verify_check_people(request, error);
  if (status == SHOAL_OK) status = shoal_verify_counter_init(&count, error);
  if (status == SHOAL_OK) status = count_file(&count, fd, run, error);
  if (status == SHOAL_OK && !tally_all(&count, &tally)) status = shoal_fail_memory(error);
  for (size_t i = 0; status == SHOAL_OK && request->rows_known && i < tally.n_attributes; i++)
    status = compare_values(request, &tally.attributes[i], tally.n_classes, error);
  if (status == SHOAL_OK) status = prove_all(&count, &tally, error);
  if (status == SHOAL_OK && request->trace) status = compare_rows(&count, run, error);
  if (status == SHOAL_OK && request->n_pseudonyms)
    status = shoal_verify_pseudonyms(fd, request, error);
  if (status == SHOAL_OK) fill_finding(&tally, finding);
  tally_reset(&tally);
  shoal_verify_counter_reset(&count);
  return status;
}
