/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job/release_table: what a release is as a table of a database. Labels are text. Sensitive and
 * kept columns have the types of the source, unless the policy puts labels or decimal commas into
 * them. Comments state the requirements and the roles, which the certificate states too.
 */
#include "job/release_table.h"

#include <string.h>

#include "base/text.h"
#include "input/cells.h"
#include "input/input.h"
#include "verify/same.h"

bool shoal_run_must_stop(void *user) {
  shoal_error error;
  return shoal_run_report(user, "database", 0, 0, "rows", &error) != SHOAL_OK;
}

shoal_patience shoal_run_patience(const shoal_run *run) {
  return (shoal_patience){shoal_run_must_stop, (void *)(uintptr_t)run};
}

/* The type of a column in the source; NULL: text. */
static const char *type_of(const shoal_release *release, const shoal_column *column,
                           shoal_role role) {
  const shoal_policy *policy = release->context.policy;
  const shoal_database_columns *source = release->given->columns_in_database;
  const shoal_attribute *attribute = shoal_policy_attribute(policy, column->name);
  if (!source || (role != SHOAL_ROLE_KEEP && role != SHOAL_ROLE_SENSITIVE)) return NULL;
  if (attribute && (shoal_coding_given(&attribute->coding) || attribute->otherwise_missing ||
                    shoal_cells_have_commas(policy, attribute)))
    return NULL;
  for (size_t c = 0; c < source->n; c++)
    if (strcmp(source->items[c].name, column->name) == 0) return source->items[c].type;
  return NULL;
}

/* Distinct values that every class must have, whatever the model counts beside. */
static uint64_t min_distinct(const shoal_context *p, const shoal_column *column) {
  uint64_t most = 0;
  for (size_t i = 0; i < p->requirements.n_items; i++) {
    const shoal_requirement *r = &p->requirements.items[i];
    if (r->sensitive == SHOAL_NO_ATTRIBUTE || !r->type->min_distinct ||
        !shoal_requirement_is_whole(r) ||
        strcmp(p->sensitive[r->sensitive].column->name, column->name) != 0)
      continue;
    uint64_t n = r->type->min_distinct(r);
    if (n > most) most = n;
  }
  return most > 1 ? most : 0;
}

/* "k-anonymity: 5 or more; p-sensitive on illness: 3 or more", as the certificate has it. */
static char *describe_models(const shoal_result *result, shoal_arena *arena) {
  shoal_text text;
  shoal_text_init(&text);
  const shoal_model_outcomes *models = &result->release.models;
  for (size_t i = 0; i < models->n_items; i++) {
    const shoal_model_outcome *model = &models->items[i];
    shoal_text_print(&text, "%s%s", i ? "; " : "", model->model);
    if (model->attribute) shoal_text_print(&text, " on %s", model->attribute);
    shoal_text_print(&text, ": %g or %s", model->required, model->at_most ? "less" : "more");
  }
  char *copy = text.failed ? NULL : shoal_arena_copy(arena, text.bytes, text.size_bytes + 1);
  shoal_text_reset(&text);
  return copy;
}

shoal_sink_column shoal_sink_column_of(const shoal_release *release, const char *name) {
  const shoal_context *p = &release->context;
  const shoal_column *column = shoal_table_column(p->table, name);
  shoal_role role = p->roles[column - p->table->columns];
  return (shoal_sink_column){.name = column->name,
                             .type = type_of(release, column, role),
                             .comment = shoal_role_names[role],
                             .is_quasi = role == SHOAL_ROLE_QUASI,
                             .min_distinct = min_distinct(p, column)};
}

shoal_status shoal_sink_plan_make(shoal_sink_plan *plan, const shoal_release *release,
                                  const shoal_csv_plan *out, shoal_arena *arena,
                                  shoal_error *error) {
  const shoal_context *p = &release->context;
  const shoal_database_columns *source = release->given->columns_in_database;
  shoal_sink_column *columns = shoal_arena_alloc(arena, out->n_columns, sizeof *columns);
  *plan = (shoal_sink_plan){.columns = columns,
                            .n_columns = out->n_columns,
                            .comment = describe_models(release->result, arena),
                            .k = 1,
                            .delimiter = out->delimiter,
                            .null_cell = shoal_input_missing(p->policy),
                            .kind = source ? source->kind : NULL};
  if (!columns || !plan->comment) return shoal_fail_memory(error);
  for (size_t i = 0; i < p->requirements.n_items; i++) {
    const shoal_requirement *r = &p->requirements.items[i];
    if (shoal_requirement_is_size(r) && shoal_requirement_is_whole(r) && r->k > plan->k)
      plan->k = r->k;
  }
  for (size_t c = 0; c < out->n_columns; c++)
    columns[c] = shoal_sink_column_of(release, out->columns[c].column->name);
  return SHOAL_OK;
}

shoal_status shoal_release_fill_table(shoal_table_sink *sink, const shoal_writing *w, int fd,
                                      shoal_error *error) {
  shoal_sink_plan plan;
  shoal_arena arena;
  shoal_atomic_file returned = {.fd = -1};
  shoal_arena_init(&arena);
  shoal_status status = shoal_sink_plan_make(&plan, w->release, &w->plan, &arena, error);
  if (status == SHOAL_OK) status = shoal_atomic_file_open(&returned, "-", error);
  if (status == SHOAL_OK) status = shoal_table_sink_fill(sink, &plan, fd, returned.fd, error);
  if (status == SHOAL_OK)
    status = shoal_verify_same_rows(fd, returned.fd, plan.delimiter, plan.n_columns, false, w->run,
                                    error);
  shoal_atomic_file_close(&returned);
  shoal_arena_reset(&arena);
  return status;
}
