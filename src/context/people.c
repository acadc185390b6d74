/* SPDX-License-Identifier: Apache-2.0 */
/* context/people: finds the columns of a key, and numbers its values. */
#include "context/people.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "table/bad_cells.h"

void shoal_people_reset(shoal_people *people) {
  free(people->key.codes);
  memset(people, 0, sizeof *people);
}

static bool has_role(const shoal_policy *policy, const shoal_column *column, shoal_role role) {
  const shoal_attribute *attribute = shoal_policy_attribute(policy, column->name);
  return attribute && shoal_attribute_is_key(attribute, role);
}

/* A column without codes of which only that it differs in every row is known (input/input.c). */
static bool is_unique(const shoal_table *table, const shoal_column *column) {
  return !column->code_size && column->is_identity && !column->n_repeated && !table->counts;
}

/* Does the table have a column, with codes, for each entry of this role? */
static bool is_complete(const shoal_table *table, const shoal_policy *policy, shoal_role role) {
  for (size_t a = 0; a < policy->n_attributes; a++) {
    const shoal_attribute *entry = &policy->attributes[a];
    bool found = !shoal_attribute_is_key(entry, role);
    for (size_t c = 0; !found && c < table->n_columns; c++)
      found = (table->columns[c].code_size || is_unique(table, &table->columns[c])) &&
              shoal_policy_attribute(policy, table->columns[c].name) == entry;
    if (!found) return false;
  }
  return true;
}

/* Adds a column to the key: numbers its pairs of a key so far and a value. */
static shoal_status add_column(shoal_people *people, const shoal_table *table,
                               const shoal_column *column, shoal_error *error) {
  shoal_ids ids = {0};
  uint32_t *codes = shoal_alloc((size_t)table->n_rows, sizeof *codes);
  bool ready = codes && shoal_ids_init(&ids, people->column->n_values), ok = ready;
  for (uint64_t row = 0; ok && row < table->n_rows; row++) {
    uint64_t before = shoal_column_code(people->column, row);
    codes[row] = shoal_ids_insert(&ids, before << 32 | shoal_column_code(column, row));
    ok = codes[row] != SHOAL_NONE;
  }
  uint32_t n = ids.n_ids;
  if (ready) shoal_ids_reset(&ids);
  if (!ok) {
    free(codes);
    return shoal_fail_memory(error);
  }
  free(people->key.codes);
  people->key = (shoal_column){
      .name = column->name, .code_size = sizeof *codes, .codes = codes, .n_values = n};
  people->column = &people->key;
  return SHOAL_OK;
}

static shoal_status find(shoal_people *people, const shoal_table *table, const shoal_policy *policy,
                         shoal_role role, shoal_error *error) {
  for (size_t c = 0; c < table->n_columns; c++) {
    const shoal_column *column = &table->columns[c];
    if (!has_role(policy, column, role)) continue;
    if (is_unique(table, column)) {
      people->n = table->n_records;
      people->hashes = column->hashes;
    }
    if (!column->code_size) continue;
    for (uint32_t v = 0; v < column->n_values; v++) {
      if (!shoal_column_missing(column, v)) continue;
      shoal_location location = {.file = table->name,
                                 .row = column->first_row ? column->first_row[v] + 1 : 0,
                                 .column = column->name};
      return shoal_fail_at(
          error, SHOAL_BAD_INPUT, &location,
          "the cell is missing, so the row's %s is not known; fill it in, or remove "
          "the row",
          role == SHOAL_ROLE_PERSON ? "person" : "household");
    }
    if (people->column) SHOAL_TRY(add_column(people, table, column, error));
    else people->column = column;
  }
  if (people->n) { /* whatever other columns of the key say */
    people->column = NULL;
    return SHOAL_OK;
  }
  /* Counts the people, and sees whether somebody has several rows. */
  uint8_t *seen = shoal_alloc_zero(people->column->n_values, 1);
  if (!seen) return shoal_fail_memory(error);
  for (uint64_t row = 0; row < table->n_rows; row++) {
    uint32_t person = shoal_column_code(people->column, row);
    people->repeat = people->repeat || seen[person] || shoal_table_count(table, row) > 1;
    people->n += !seen[person];
    seen[person] = 1;
  }
  free(seen);
  return SHOAL_OK;
}

shoal_status shoal_people_init(shoal_people *people, const shoal_table *table,
                               const shoal_policy *policy, shoal_role role, shoal_error *error) {
  memset(people, 0, sizeof *people);
  people->asked = shoal_policy_has_role(policy, role);
  people->absent = people->asked && !is_complete(table, policy, role);
  if (!people->asked || people->absent) return SHOAL_OK;
  shoal_status status = find(people, table, policy, role, error);
  if (status != SHOAL_OK) shoal_people_reset(people);
  return status;
}
