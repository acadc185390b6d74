/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job/profile_trial: profile suggests a hierarchy for text only where it does not lose more than
 * sets of values. Both are tried: local recoding of the same rows, with the suggested policy. The
 * rows are a sample that depends on values alone (table/subset.h). A table without such a
 * suggestion costs nothing.
 *
 * The profiled table was read without a policy. Its sample becomes a table of its own, since the
 * policy decides what is missing and which spellings are one value.
 */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "decide/method.h"
#include "input/input.h"
#include "job/job.h"
#include "job/release.h"
#include "profile/profile.h"
#include "table/subset.h"

enum { MAX_ROWS = 2000, MAX_COLUMNS = 4 /* whose hierarchies are tried */ };

/* Has it a hierarchy that sets could replace? Sets of values that identify people are refused
 * (decide/gates.h). */
static shoal_status find_candidate(const shoal_result *profile, const shoal_table *table, size_t c,
                                   bool *found, shoal_error *error) {
  const shoal_column_outcome *column = &profile->profile.columns[c];
  shoal_column_stats stats;
  const char *why;
  *found = strcmp(column->role, "quasi") == 0 && column->hierarchy &&
           strcmp(column->hierarchy, "{top: true}") != 0;
  if (!*found) return SHOAL_OK;
  if (!shoal_profile_column(table, &table->columns[c], &stats)) return shoal_fail_memory(error);
  *found = stats.present < SHOAL_FEW_ROWS ||
           !shoal_identifies_people(table->columns[c].name, &stats, &why);
  return SHOAL_OK;
}

/* ------------------------------------------------------------ the sample */

/* The cells of one column. */
typedef struct cells {
  shoal_text bytes;
  uint64_t *offsets;
} cells;

static bool fill_cells(const shoal_column *column, uint64_t n_rows, cells *out) {
  shoal_text_init(&out->bytes);
  shoal_text_add(&out->bytes, "");
  out->offsets = shoal_alloc_zero((size_t)n_rows + 1, sizeof *out->offsets);
  for (uint64_t row = 0; out->offsets && row < n_rows; row++) {
    size_t size;
    const char *bytes = shoal_column_value(column, shoal_column_code(column, row), &size);
    shoal_text_add_bytes(&out->bytes, bytes, size);
    out->offsets[row + 1] = out->bytes.size_bytes;
  }
  return out->offsets && !out->bytes.failed;
}

static shoal_status copy_rows(const shoal_table *from, const shoal_policy *policy,
                              shoal_table **copy, shoal_error *error) {
  size_t n = from->n_columns;
  const char **names = shoal_alloc(n, sizeof *names);
  cells *all = shoal_alloc_zero(n, sizeof *all);
  shoal_text_view *views = shoal_alloc(n, sizeof *views);
  bool ok = names && all && views;
  for (size_t c = 0; ok && c < n; c++) {
    names[c] = from->columns[c].name;
    ok = fill_cells(&from->columns[c], from->n_rows, &all[c]);
    views[c] = (shoal_text_view){all[c].bytes.bytes, all[c].offsets};
  }
  shoal_status status = ok ? SHOAL_OK : shoal_fail_memory(error);
  if (status == SHOAL_OK) status = shoal_table_create(names, n, copy, error);
  if (status == SHOAL_OK) {
    (*copy)->plain_numbers = true; /* numbers have the engine's spelling already */
    status = shoal_table_add_rows(*copy, views, n, (size_t)from->n_rows, NULL, error);
  }
  if (status == SHOAL_OK) status = shoal_input_finish(*copy, policy, SHOAL_FOR_RELEASE, error);
  for (size_t c = 0; all && c < n; c++) {
    shoal_wipe_free(all[c].bytes.bytes, all[c].bytes.capacity);
    free(all[c].offsets);
  }
  free(names);
  free(all);
  free(views);
  return status;
}

/* *copy: the rows, or a sample of them, read with the policy. The caller deletes it. */
static shoal_status make_table(const shoal_table *table, const shoal_policy *policy,
                               shoal_table **copy, shoal_error *error) {
  if (table->n_rows <= MAX_ROWS) return copy_rows(table, policy, copy, error);
  shoal_table *subset = NULL;
  const shoal_column **columns = shoal_alloc(table->n_columns, sizeof(const shoal_column *));
  if (!columns) return shoal_fail_memory(error);
  for (size_t c = 0; c < table->n_columns; c++) columns[c] = &table->columns[c];
  shoal_status status =
      shoal_table_subset(table, columns, table->n_columns, MAX_ROWS, &subset, error);
  if (status == SHOAL_OK) status = copy_rows(subset, policy, copy, error);
  shoal_table_subset_free(subset);
  free(columns);
  return status;
}

/* ------------------------------------------------------------ trials */

typedef struct trial {
  shoal_result *profile;
  const shoal_table *profiled;
  shoal_table *table;  /* its rows, or a sample of them */
  shoal_policy policy; /* with attributes of its own */
  shoal_attribute *attributes;
  shoal_method method;
  const shoal_run *run;
} trial;

/* 1: there is no release. */
static shoal_status find_loss(const trial *t, double *loss, shoal_error *error) {
  shoal_release *release;
  SHOAL_TRY(shoal_release_try(t->table, &t->policy, &t->method, t->run, &release, error));
  *loss = release ? release->result->release.loss.release_loss : 1;
  shoal_release_delete(release);
  return SHOAL_OK;
}

static shoal_attribute *attribute_of(const trial *t, const char *name) {
  const shoal_attribute *found = shoal_policy_attribute(&t->policy, name);
  return found ? &t->attributes[found - t->policy.attributes] : NULL;
}

/* Drops the hierarchies that lose more than sets, one after the other. */
static shoal_status try_columns(const trial *t, shoal_error *error) {
  double loss, without;
  size_t n_tried = 0;
  SHOAL_TRY(find_loss(t, &loss, error));
  for (size_t c = 0; c < t->profile->profile.n_columns && n_tried < MAX_COLUMNS; c++) {
    shoal_column_outcome *column = &t->profile->profile.columns[c];
    bool candidate;
    SHOAL_TRY(find_candidate(t->profile, t->profiled, c, &candidate, error));
    shoal_attribute *attribute = candidate ? attribute_of(t, column->name) : NULL;
    if (!attribute) continue;
    shoal_hierarchy_spec before = attribute->hierarchy;
    attribute->hierarchy = (shoal_hierarchy_spec){.kind = SHOAL_HIERARCHY_SETS};
    SHOAL_TRY(find_loss(t, &without, error));
    n_tried++;
    if (without < loss) {
      loss = without;
      column->dropped_hierarchy = column->hierarchy;
      column->hierarchy = NULL;
    } else {
      attribute->hierarchy = before;
    }
  }
  return SHOAL_OK;
}

static shoal_status run_trial(trial *t, const shoal_policy *policy, const shoal_table *table,
                              shoal_error *error) {
  shoal_methods methods;
  SHOAL_TRY(shoal_methods_bind(policy, &methods, error));
  t->method = methods.items[0];
  if (!t->method.local) return SHOAL_OK;
  t->attributes = shoal_alloc(policy->n_attributes, sizeof *t->attributes);
  if (!t->attributes) return shoal_fail_memory(error);
  memcpy(t->attributes, policy->attributes, policy->n_attributes * sizeof *t->attributes);
  t->policy = *policy;
  t->policy.attributes = t->attributes;
  shoal_status status = make_table(table, &t->policy, &t->table, error);
  if (status == SHOAL_OK) status = try_columns(t, error);
  shoal_table_delete(t->table);
  free(t->attributes);
  return status;
}

shoal_status shoal_job_profile_try(shoal_result *profile, const shoal_table *table,
                                   const shoal_run *run, shoal_error *error) {
  const shoal_profile_report *report = &profile->profile;
  bool wanted = false, complete = !table->counts && table->n_rows > 0;
  for (size_t c = 0; c < table->n_columns; c++) complete = complete && table->columns[c].code_size;
  for (size_t c = 0; complete && !wanted && c < report->n_columns; c++)
    SHOAL_TRY(find_candidate(profile, table, c, &wanted, error));
  if (!wanted) return SHOAL_OK;
  char *yaml = NULL;
  shoal_policy *policy = NULL;
  trial t = {.profile = profile, .profiled = table, .run = run};
  shoal_error unused = {0};
  SHOAL_TRY(shoal_profile_yaml(profile, true, NULL, &yaml, error));
  shoal_status status =
      shoal_policy_load_text(yaml, strlen(yaml), "profile", ".", &policy, &unused);
  if (status == SHOAL_OK) status = run_trial(&t, policy, table, &unused);
  shoal_policy_delete(policy);
  free(yaml);
  /* a table that this policy cannot release keeps its suggestions */
  if (status == SHOAL_BAD_INPUT) return SHOAL_OK;
  if (status != SHOAL_OK && error) *error = unused;
  return status;
}
