/* SPDX-License-Identifier: Apache-2.0 */
/* serve/work_study: jobs that look at the table: profile, values, check, conditions, lattice,
 * explain, hierarchy. */
#include <stdlib.h>
#include <string.h>

#include "serve/work.h"
#include "serve/yaml.h"

/* ---------------------------------------------------------------- profile */

enum { SPARK_BARS = 24, MAX_LISTED = 2000 };

typedef struct counted {
  size_t value;
  uint64_t n_rows;
  double number;
} counted;

static int by_rows(const void *a, const void *b) {
  const counted *left = a, *right = b;
  if (left->n_rows != right->n_rows) return left->n_rows > right->n_rows ? -1 : 1;
  return left->value < right->value ? -1 : left->value > right->value;
}

static bool read_number(const char *bytes, size_t size, double *number) {
  char text[64], *end;
  if (!size || size >= sizeof text) return false;
  memcpy(text, bytes, size);
  text[size] = '\0';
  *number = strtod(text, &end);
  return !*end;
}

/* The values of a column with their rows; NULL: no memory, or the column is empty. */
static counted *count_column(const shoal_table *table, size_t column, size_t *n, bool *numbers) {
  *n = shoal_table_values(table, column);
  counted *list = *n ? calloc(*n, sizeof *list) : NULL;
  uint64_t *counts = *n ? calloc(*n, sizeof *counts) : NULL;
  shoal_error error;
  if (!list || !counts || shoal_table_count_values(table, column, counts, &error) != SHOAL_OK) {
    free(list);
    list = NULL;
  }
  *numbers = list != NULL;
  for (size_t v = 0; list && v < *n; v++) {
    size_t size = 0;
    const char *bytes = shoal_table_value(table, column, v, &size);
    list[v] = (counted){.value = v, .n_rows = counts[v]};
    if (size && *numbers) *numbers = read_number(bytes, size, &list[v].number);
  }
  free(counts);
  return list;
}

/* Rows in equal intervals of the numbers from least to most. */
static json_t *histogram(const counted *list, size_t n) {
  double low = list[0].number, high = low;
  uint64_t bars[SPARK_BARS] = {0};
  json_t *array = json_array();
  for (size_t v = 0; v < n; v++) {
    if (list[v].number < low) low = list[v].number;
    if (list[v].number > high) high = list[v].number;
  }
  for (size_t v = 0; v < n; v++) {
    double at = high > low ? (list[v].number - low) / (high - low) * SPARK_BARS : 0;
    bars[at >= SPARK_BARS ? SPARK_BARS - 1 : (size_t)at] += list[v].n_rows;
  }
  for (size_t i = 0; i < SPARK_BARS; i++)
    (void)json_array_append_new(array, json_integer((json_int_t)bars[i]));
  return json_pack("{s:s, s:o, s:f, s:f}", "kind", "numbers", "bars", array, "low", low, "high",
                   high);
}

/* The shape of a column: a histogram of numbers, or the rows of the most frequent values. */
static json_t *spark(const shoal_table *table, size_t column) {
  size_t n;
  bool numbers;
  counted *list = count_column(table, column, &n, &numbers);
  if (!list) return json_null();
  json_t *shape;
  if (numbers && n > 2) {
    shape = histogram(list, n);
  } else {
    json_t *array = json_array();
    qsort(list, n, sizeof *list, by_rows);
    for (size_t i = 0; i < n && i < SPARK_BARS; i++)
      (void)json_array_append_new(array, json_integer((json_int_t)list[i].n_rows));
    shape = json_pack("{s:s, s:o}", "kind", "values", "bars", array);
  }
  free(list);
  return shape;
}

/* The suggested policy with the profile; shapes of the columns and the first rows beside them. */
static shoal_status describe(const shoal_table *table, const shoal_result *profile, json_t **answer,
                             shoal_error *error) {
  char *yaml = NULL;
  shoal_status status = shoal_profile_policy(profile, &yaml, error);
  if (status == SHOAL_OK) status = serve_work_answer(profile, answer, error);
  if (status == SHOAL_OK) {
    json_t *sparks = json_array();
    for (size_t c = 0; c < shoal_table_columns(table); c++)
      (void)json_array_append_new(sparks, spark(table, c));
    (void)json_object_set_new(*answer, "policy", json_string(yaml));
    (void)json_object_set_new(*answer, "sparks", sparks);
    (void)json_object_set_new(*answer, "preview", serve_table_rows(table, 0, 20));
    (void)json_object_set_new(*answer, "bytes", json_integer((json_int_t)shoal_table_bytes(table)));
  }
  free(yaml);
  return status;
}

/* Reads the table and shows its first rows: profiling takes longer. */
shoal_status serve_work_open(serve_job *job, json_t **answer, shoal_error *error) {
  serve_table *table = NULL;
  shoal_status status = serve_work_raw(job, &table, error);
  if (status == SHOAL_OK)
    *answer = json_pack("{s:I, s:o}", "rows", (json_int_t)shoal_table_rows(table->table), "preview",
                        serve_table_rows(table->table, 0, 20));
  serve_table_drop(table);
  return status;
}

shoal_status serve_work_profile(serve_job *job, json_t **answer, shoal_error *error) {
  serve_table *table = NULL;
  shoal_result *profile = NULL;
  shoal_status status = serve_work_raw(job, &table, error);
  if (status == SHOAL_OK) status = shoal_profile(table->table, &job->run, &profile, error);
  if (status == SHOAL_OK) status = describe(table->table, profile, answer, error);
  shoal_result_free(profile);
  serve_table_drop(table);
  return status;
}

/* ---------------------------------------------------------------- values */

/* {"column": NAME} -> its values with their rows, the most frequent first. */
shoal_status serve_work_values(serve_job *job, json_t **answer, shoal_error *error) {
  serve_table *table = NULL;
  const char *wanted = json_string_value(json_object_get(job->request, "column"));
  if (!wanted) return serve_fail(error, SHOAL_BAD_INPUT, "name a column");
  shoal_status status = serve_work_raw(job, &table, error);
  if (status != SHOAL_OK) return status;
  size_t column = 0, n_columns = shoal_table_columns(table->table), size = 0, n = 0;
  for (; column < n_columns; column++) {
    const char *name = shoal_table_name(table->table, column, &size);
    if (size == strlen(wanted) && !memcmp(name, wanted, size)) break;
  }
  bool numbers = false;
  counted *list = column < n_columns ? count_column(table->table, column, &n, &numbers) : NULL;
  json_t *values = json_array();
  if (list) qsort(list, n, sizeof *list, by_rows);
  for (size_t i = 0; list && i < n && i < MAX_LISTED; i++) {
    const char *bytes = shoal_table_value(table->table, column, list[i].value, &size);
    (void)json_array_append_new(
        values, json_pack("[o, I]", serve_json_text(bytes, size), (json_int_t)list[i].n_rows));
  }
  *answer =
      json_pack("{s:o, s:I, s:b, s:o}", "values", values, "distinct", (json_int_t)n, "numbers",
                numbers, "shape", list ? spark(table->table, column) : json_null());
  if (!list) status = serve_fail(error, SHOAL_BAD_INPUT, "the table has no such column");
  free(list);
  serve_table_drop(table);
  return status;
}

/* ---------------------------------------------------------------- studies */

typedef shoal_status study_fn(const shoal_table *table, const shoal_policy *policy,
                              const shoal_run *run, shoal_result **result, shoal_error *error);

/* A table of the cache may have been read with a policy that differs too much: then it is read
 * again. */
static shoal_status study_with(serve_job *job, study_fn *study, const shoal_policy *policy,
                               shoal_result **result, shoal_error *error) {
  shoal_status status = SHOAL_BAD_INPUT;
  for (int fresh = 0; fresh < 2 && status == SHOAL_BAD_INPUT; fresh++) {
    serve_table *table = NULL;
    if (fresh && !strstr(error->message, SERVE_OTHER_POLICY)) break;
    status = serve_work_table(job, policy, fresh, &table, error);
    if (status == SHOAL_OK) status = study(table->table, policy, &job->run, result, error);
    serve_table_drop(table);
  }
  return status;
}

static shoal_status run_study(serve_job *job, study_fn *study, json_t **answer,
                              shoal_error *error) {
  shoal_policy *policy = NULL;
  shoal_result *result = NULL;
  shoal_status status = serve_work_policy(job, &policy, error);
  if (status == SHOAL_OK) status = study_with(job, study, policy, &result, error);
  if (status == SHOAL_OK) status = serve_work_answer(result, answer, error);
  shoal_result_free(result);
  shoal_policy_free(policy);
  return status;
}

shoal_status serve_work_check(serve_job *job, json_t **answer, shoal_error *error) {
  return run_study(job, shoal_check, answer, error);
}

shoal_status serve_work_conditions(serve_job *job, json_t **answer, shoal_error *error) {
  return run_study(job, shoal_conditions, answer, error);
}

shoal_status serve_work_lattice(serve_job *job, json_t **answer, shoal_error *error) {
  return run_study(job, shoal_lattice, answer, error);
}

shoal_status serve_work_explain(serve_job *job, json_t **answer, shoal_error *error) {
  return run_study(job, shoal_explain, answer, error);
}

/* ---------------------------------------------------------------- hierarchy */

/* {"column": NAME, "spec": "{intervals: [5, 10]}"} -> {"csv": "value;level1;..."} */
shoal_status serve_work_hierarchy(serve_job *job, json_t **answer, shoal_error *error) {
  serve_table *table = NULL;
  char *csv = NULL;
  const char *column = json_string_value(json_object_get(job->request, "column"));
  const char *spec = json_string_value(json_object_get(job->request, "spec"));
  if (!column || !spec) return serve_fail(error, SHOAL_BAD_INPUT, "give 'column' and 'spec'");
  json_t *model = serve_yaml_to_json(spec, strlen(spec));
  bool plain = json_is_object(model) && !json_object_get(model, "file");
  json_decref(model);
  if (!plain)
    return serve_fail(
        error, SHOAL_BAD_INPUT,
        "give the hierarchy as a YAML mapping; a file cannot be shown here: import it");
  shoal_status status = serve_work_raw(job, &table, error);
  if (status == SHOAL_OK) status = shoal_hierarchy_build(spec, table->table, column, &csv, error);
  if (status == SHOAL_OK) {
    *answer = json_pack("{s:o}", "csv", serve_json_text(csv, strlen(csv)));
    if (!*answer) status = serve_fail(error, SHOAL_FAILED, "out of memory");
  }
  free(csv);
  serve_table_drop(table);
  return status;
}
