/* SPDX-License-Identifier: Apache-2.0 */
/*
 * input/stat_input: an SPSS, Stata or SAS file becomes a table in memory, which is then finished
 * like a table that was filled from memory.
 */
#include <stdlib.h>
#include <string.h>

#include "input/cells.h"
#include "input/input.h"
#include "table/table.h"

typedef struct filling {
  const char *file;
  shoal_table *table;
} filling;

static shoal_status take_names(void *user, const char *const *names, size_t n, shoal_error *error) {
  filling *f = user;
  SHOAL_TRY(shoal_table_create(names, n, &f->table, error));
  char *name = strdup(f->file);
  if (!name) return shoal_fail_memory(error);
  free(f->table->name);
  f->table->name = name;
  f->table->plain_numbers = true;
  return SHOAL_OK;
}

static shoal_status take_rows(void *user, const shoal_text_view *columns, size_t n_columns,
                              size_t n_rows, shoal_error *error) {
  filling *f = user;
  return shoal_table_add_rows(f->table, columns, n_columns, n_rows, NULL, error);
}

const char *shoal_input_missing(const shoal_policy *policy) {
  if (!policy || !policy->n_missing) return "";
  for (size_t i = 0; i < policy->n_missing; i++)
    if (!policy->missing[i][0]) return "";
  return policy->missing[0];
}

shoal_status shoal_input_read_stat(const char *path, shoal_stat_kind kind,
                                   const shoal_policy *policy, shoal_purpose purpose,
                                   const shoal_run *run, shoal_table **table, shoal_error *error) {
  filling f = {.file = path};
  shoal_stat_options options = {.encoding = policy ? policy->encoding : NULL,
                                .labels = policy && policy->value_labels,
                                .missing = shoal_input_missing(policy)};
  shoal_stat_target target = {&f, take_names, take_rows};
  const char *assumed;
  double started = shoal_seconds();
  shoal_status status = shoal_stat_read(path, path, kind, &options, &target, run, &assumed, error);
  if (status == SHOAL_OK && assumed)
    status = shoal_table_note(f.table, error,
                              "the file does not name its encoding and was read as %s; set "
                              "data.encoding if it is another",
                              assumed);
  if (status == SHOAL_OK) status = shoal_input_finish(f.table, policy, purpose, error);
  if (status != SHOAL_OK) {
    shoal_table_delete(f.table);
    return status;
  }
  f.table->seconds_read = shoal_seconds() - started;
  *table = f.table;
  return SHOAL_OK;
}
