/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verify/pseudonyms: reads the release once more. A class is the tuple of a row's quasi-identifier
 * cells, each with its size before it. Each pseudonym remembers the class of its first row; a row
 * of another class makes it a link. Each class counts its people.
 */
#include "verify/pseudonyms.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "verify/reader.h"
#include "verify/tables.h"

enum { CHARACTERS = 20 }; /* of a pseudonym */

/* n_rows of a pseudonym's entry is used for its class: the number + 1, or this for several. */
static const uint64_t SEVERAL = UINT64_MAX;

typedef struct link_check {
  const shoal_verify_request *request;
  size_t *quasi;      /* columns of the quasi-identifiers, */
  size_t *pseudonyms; /* and of the pseudonyms */
  shoal_verify_cell *cells;
  shoal_verify_dictionary classes;
  shoal_verify_dictionary *seen; /* by pseudonym column */
  uint64_t *people;              /* by class, by pseudonym column */
  size_t people_capacity;
  shoal_text key;
} link_check;

static void link_check_reset(link_check *c) {
  for (size_t i = 0; c->seen && i < c->request->n_pseudonyms; i++)
    shoal_verify_dictionary_reset(&c->seen[i]);
  free(c->seen);
  free(c->people);
  shoal_verify_dictionary_reset(&c->classes);
  free(c->quasi);
  free(c->pseudonyms);
  free(c->cells);
  shoal_text_reset(&c->key);
}

static shoal_status find_columns(const shoal_verify_request *request, const char *const *names,
                                 size_t n, size_t *columns, shoal_error *error) {
  for (size_t i = 0; i < n; i++) {
    columns[i] = 0;
    while (columns[i] < request->n_columns && strcmp(request->columns[columns[i]], names[i]) != 0)
      columns[i]++;
    if (columns[i] == request->n_columns)
      return shoal_fail(error, SHOAL_FAILED, "the release has no column '%.200s'; %s", names[i],
                        SHOAL_VERIFY_FAULT);
  }
  return SHOAL_OK;
}

static shoal_status link_check_init(link_check *c, const shoal_verify_request *request,
                                    shoal_error *error) {
  *c = (link_check){.request = request};
  c->quasi = shoal_alloc(request->n_quasi, sizeof *c->quasi);
  c->pseudonyms = shoal_alloc(request->n_pseudonyms, sizeof *c->pseudonyms);
  c->cells = shoal_alloc(request->n_columns, sizeof *c->cells);
  c->seen = shoal_alloc_zero(request->n_pseudonyms, sizeof *c->seen);
  if (!c->quasi || !c->pseudonyms || !c->cells || !c->seen ||
      !shoal_verify_dictionary_init(&c->classes))
    return shoal_fail_memory(error);
  for (size_t i = 0; i < request->n_pseudonyms; i++)
    if (!shoal_verify_dictionary_init(&c->seen[i])) return shoal_fail_memory(error);
  SHOAL_TRY(find_columns(request, request->quasi, request->n_quasi, c->quasi, error));
  return find_columns(request, request->pseudonyms, request->n_pseudonyms, c->pseudonyms, error);
}

/* The number of the row's class, from 1; 0: no memory. */
static uint64_t class_of_row(link_check *c) {
  shoal_text_cut(&c->key, 0);
  for (size_t q = 0; q < c->request->n_quasi; q++) {
    const shoal_verify_cell *cell = &c->cells[c->quasi[q]];
    shoal_text_add_bytes(&c->key, (const char *)&cell->size_bytes, sizeof cell->size_bytes);
    shoal_text_add_bytes(&c->key, cell->bytes, cell->size_bytes);
  }
  if (c->key.failed) return 0;
  const shoal_verify_entry *entry =
      shoal_verify_intern(&c->classes, shoal_hash_bytes(c->key.bytes, c->key.size_bytes),
                          c->key.bytes, c->key.size_bytes);
  return entry ? (uint64_t)entry->id + 1 : 0;
}

static bool is_missing(const shoal_verify_request *request, const shoal_verify_cell *cell) {
  for (size_t i = 0; i < request->n_missing; i++)
    if (strlen(request->missing[i]) == cell->size_bytes &&
        (!cell->size_bytes || !memcmp(request->missing[i], cell->bytes, cell->size_bytes)))
      return true;
  return false;
}

/* RFC 4648, section 6: A to Z, then 2 to 7. */
static bool has_form(const shoal_verify_cell *cell) {
  for (size_t i = 0; i < cell->size_bytes; i++) {
    char at = cell->bytes[i];
    if (!((at >= 'A' && at <= 'Z') || (at >= '2' && at <= '7'))) return false;
  }
  return cell->size_bytes == CHARACTERS;
}

/* A row of the class without pseudonym is one more person, and so is a new pseudonym. */
static shoal_status check_cell(link_check *c, size_t i, uint64_t class, shoal_error *error) {
  const shoal_verify_cell *cell = &c->cells[c->pseudonyms[i]];
  uint64_t *people = &c->people[(class - 1) * c->request->n_pseudonyms + i];
  if (is_missing(c->request, cell)) {
    ++*people;
    return SHOAL_OK;
  }
  if (!has_form(cell))
    return shoal_fail(error, SHOAL_FAILED,
                      "column '%.200s' of the release has a cell that is no pseudonym; %s",
                      c->request->pseudonyms[i], SHOAL_VERIFY_FAULT);
  shoal_verify_entry *entry = shoal_verify_intern(
      &c->seen[i], shoal_hash_bytes(cell->bytes, cell->size_bytes), cell->bytes, cell->size_bytes);
  if (!entry) return shoal_fail_memory(error);
  if (entry->n_rows == class) return SHOAL_OK;
  if (entry->n_rows) c->request->pseudonym_links[i] = 1;
  entry->n_rows = entry->n_rows ? SEVERAL : class;
  ++*people;
  return SHOAL_OK;
}

static shoal_status check_row(link_check *c, shoal_error *error) {
  size_t n = c->request->n_pseudonyms, n_classes = c->classes.n_entries;
  uint64_t class = class_of_row(c);
  if (!class) return shoal_fail_memory(error);
  if (class > n_classes) {
    if (!shoal_grow(&c->people, &c->people_capacity, (size_t) class * n, sizeof *c->people))
      return shoal_fail_memory(error);
    memset(c->people + (class - 1) * n, 0, n * sizeof *c->people);
  }
  for (size_t i = 0; i < n; i++) SHOAL_TRY(check_cell(c, i, class, error));
  return SHOAL_OK;
}

static shoal_status check_rows(link_check *c, shoal_verify_reader *release, shoal_error *error) {
  const shoal_verify_request *request = c->request;
  bool found; /* of the header first, which was compared already */
  SHOAL_TRY(shoal_verify_reader_next(release, c->cells, request->n_columns, &found, error));
  while (found) {
    SHOAL_TRY(shoal_verify_reader_next(release, c->cells, request->n_columns, &found, error));
    if (found) SHOAL_TRY(check_row(c, error));
  }
  for (size_t i = 0; i < c->classes.n_entries * request->n_pseudonyms; i++)
    if (c->people[i] < request->k) request->pseudonym_links[i % request->n_pseudonyms] = 1;
  return SHOAL_OK;
}

shoal_status shoal_verify_pseudonyms(int fd, const shoal_verify_request *request,
                                     shoal_error *error) {
  link_check c;
  shoal_verify_reader *release = NULL;
  memset(request->pseudonym_links, 0, request->n_pseudonyms);
  shoal_status status = link_check_init(&c, request, error);
  if (status == SHOAL_OK)
    status = shoal_verify_reader_open(fd, "the release", request->delimiter, NULL, &release, error);
  if (status == SHOAL_OK) status = check_rows(&c, release, error);
  shoal_verify_reader_close(release);
  link_check_reset(&c);
  return status;
}
