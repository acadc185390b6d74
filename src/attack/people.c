/* SPDX-License-Identifier: Apache-2.0 */
/* attack/people: the rows of a table with raw values as distinct tuples of places; see match.h. */
#include <stdlib.h>
#include <string.h>

#include "attack/match.h"
#include "group/keys.h"

static bool allocate(shoal_people *people, const size_t *raw) {
  people->known = shoal_alloc_zero(people->n_quasi, sizeof *people->known);
  people->places = shoal_alloc_zero(people->n_quasi, sizeof *people->places);
  if (!people->known || !people->places) return false;
  for (size_t q = 0; q < people->n_quasi; q++) people->known[q] = raw[q] != SIZE_MAX;
  return true;
}

static const shoal_column *column_of(const shoal_table *table, const shoal_domain *domain) {
  return shoal_table_column(table, domain->attribute->name);
}

/* Each row's tuple; codes are grouped as they are: two values of one place are two tuples. */
static bool group_rows(shoal_people *people, const shoal_table *table, const shoal_domain *domains,
                       uint32_t *tuple_of_row) {
  size_t n = (size_t)table->n_rows;
  shoal_grouper grouper;
  shoal_grouper_init(&grouper);
  uint32_t *codes = shoal_alloc(n, sizeof *codes);
  bool ok = codes && shoal_grouper_start(&grouper, n);
  for (size_t q = 0; ok && q < people->n_quasi; q++) {
    if (!people->known[q]) continue;
    const shoal_column *column = column_of(table, &domains[q]);
    for (size_t r = 0; r < n; r++) codes[r] = shoal_column_code(column, r);
    ok = shoal_grouper_fold(&grouper, n, NULL, codes, column->n_values, tuple_of_row);
  }
  if (ok) people->n_tuples = shoal_grouper_ids(&grouper, n, tuple_of_row);
  free(codes);
  shoal_grouper_reset(&grouper);
  return ok && people->n_tuples != SHOAL_NO_ID;
}

static bool count_people(shoal_people *people, const shoal_table *table,
                         const uint32_t *tuple_of_row) {
  people->n_people = shoal_alloc_zero(people->n_tuples, sizeof *people->n_people);
  people->first_row = shoal_alloc_zero(people->n_tuples, sizeof *people->first_row);
  if (!people->n_people || !people->first_row) return false;
  for (uint64_t r = 0; r < table->n_rows; r++) {
    uint32_t t = tuple_of_row[r];
    if (!people->first_row[t]) people->first_row[t] = r + 1;
    people->n_people[t] += shoal_table_count(table, r);
  }
  people->n_all = table->n_records;
  return true;
}

static bool find_places(shoal_people *people, const shoal_table *table, const shoal_domain *domains,
                        const size_t *raw, bool missing_is_any) {
  for (size_t q = 0; q < people->n_quasi; q++) {
    if (!people->known[q]) continue;
    const shoal_column *column = column_of(table, &domains[q]);
    uint32_t *places = people->places[q] = shoal_alloc(people->n_tuples, sizeof *places);
    if (!places) return false;
    for (uint32_t t = 0; t < people->n_tuples; t++) {
      uint32_t code = shoal_column_code(column, people->first_row[t] - 1);
      bool any = missing_is_any && shoal_column_missing(column, code);
      places[t] = any ? SHOAL_ANY_PLACE : shoal_domain_place(&domains[q], raw[q], code);
    }
  }
  return true;
}

shoal_status shoal_people_build(shoal_people *people, const shoal_table *table,
                                const shoal_domain *domains, size_t n_quasi, const size_t *raw,
                                bool missing_is_any, shoal_error *error) {
  memset(people, 0, sizeof *people);
  people->n_quasi = n_quasi;
  uint32_t *tuple_of_row = shoal_alloc((size_t)table->n_rows, sizeof *tuple_of_row);
  bool ok = tuple_of_row && allocate(people, raw) &&
            group_rows(people, table, domains, tuple_of_row) &&
            count_people(people, table, tuple_of_row) &&
            find_places(people, table, domains, raw, missing_is_any);
  free(tuple_of_row);
  if (ok) return SHOAL_OK;
  shoal_people_reset(people);
  return shoal_fail_memory(error);
}

void shoal_people_reset(shoal_people *people) {
  for (size_t q = 0; people->places && q < people->n_quasi; q++) free(people->places[q]);
  free(people->places);
  free(people->known);
  free(people->n_people);
  free(people->first_row);
  memset(people, 0, sizeof *people);
}

void shoal_people_keys(const shoal_people *people, uint32_t tuple, shoal_match_key *keys) {
  for (size_t q = 0; q < people->n_quasi; q++) {
    uint32_t place = people->known[q] ? people->places[q][tuple] : SHOAL_ANY_PLACE;
    keys[q] = (shoal_match_key){.place = place, .any = place == SHOAL_ANY_PLACE};
  }
}
