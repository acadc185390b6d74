/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The verdicts of the library and of the verifier on counts that no file has, for
 * test_large_counts.py. Each line of standard input is a case, in fields separated by tabs:
 *
 *   the policy, on columns q and s     its k     model     parameter=value,..     classes
 *
 * where classes are 0=COUNT,1=COUNT,..;0=COUNT,.. by value. For each case one line is written: the
 * classes that violate the model and what it reached, by `check`; and by the verifier, or
 * "unproven". Value v lies below "a(v / 2)", "b(v / 4)" and "*".
 */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shoal/shoal.h"
#include "verify/models.h"

enum { MAX_COUNTS = 4096, MAX_VALUES = 512, MAX_LINE = 1 << 17 };

static shoal_error error;
static size_t n_counts, n_classes, n_values;
static size_t class_of[MAX_COUNTS], starts[MAX_COUNTS + 1];
static uint64_t rows[MAX_COUNTS], class_rows[MAX_COUNTS];
static shoal_verify_count counts[MAX_COUNTS];
static char cells[2][MAX_COUNTS * 8], names[MAX_VALUES][8], labels[MAX_VALUES][2][8];
static const char *paths[MAX_VALUES][4];
static shoal_verify_value values[MAX_VALUES];

static void stop(const char *what) {
  fprintf(stderr, "%s: %s\n", what, error.message);
  exit(3);
}

static void read_classes(char *text) {
  n_counts = n_classes = n_values = 0;
  memset(values, 0, sizeof values);
  for (char *saved, *class = strtok_r(text, ";\n", &saved); class;
       class = strtok_r(NULL, ";\n", &saved)) {
    starts[n_classes] = n_counts;
    class_rows[n_classes] = 0;
    for (char *inner, *part = strtok_r(class, ",", &inner); part;
         part = strtok_r(NULL, ",", &inner)) {
      char *end;
      uint32_t value = (uint32_t)strtoul(part, &end, 10);
      uint64_t n = strtoull(end + 1, NULL, 10);
      if (n_counts == MAX_COUNTS || value >= MAX_VALUES) exit(3);
      class_of[n_counts] = n_classes;
      rows[n_counts] = n;
      counts[n_counts++] = (shoal_verify_count){n, value};
      class_rows[n_classes] += n;
      values[value].n_original += n;
      if (value >= n_values) n_values = value + 1;
    }
    starts[++n_classes] = n_counts;
  }
}

static void check(const char *text) {
  uint64_t offsets[2][MAX_COUNTS + 1];
  offsets[0][0] = offsets[1][0] = 0;
  for (size_t i = 0; i < n_counts; i++) {
    offsets[0][i + 1] =
        offsets[0][i] + (uint64_t)sprintf(cells[0] + offsets[0][i], "%zu", class_of[i]);
    offsets[1][i + 1] =
        offsets[1][i] + (uint64_t)sprintf(cells[1] + offsets[1][i], "%" PRIu32, counts[i].value);
  }
  const char *const columns[] = {"q", "s"};
  const shoal_text_view views[] = {{cells[0], offsets[0]}, {cells[1], offsets[1]}};
  shoal_policy *policy;
  shoal_table *table;
  shoal_result *result;
  char *json;
  if (shoal_policy_parse(text, strlen(text), "policy", ".", &policy, &error)) stop("policy");
  if (shoal_table_new(columns, 2, &table, &error) ||
      shoal_table_append(table, views, 2, n_counts, rows, &error) ||
      shoal_table_finish(table, policy, SHOAL_FOR_RELEASE, &error))
    stop("table");
  if (shoal_check(table, policy, NULL, &result, &error) ||
      shoal_result_render(result, SHOAL_JSON, &json, &error))
    stop("check");
  json_t *report = json_loads(json, 0, NULL);
  const json_t *models = json_object_get(report, "models");
  const json_t *last = json_array_get(models, json_array_size(models) - 1);
  printf("%lld %.17g ", (long long)json_integer_value(json_object_get(last, "breaking_classes")),
         json_number_value(json_object_get(last, "reached")));
  json_decref(report);
  free(json);
  shoal_result_free(result);
  shoal_table_free(table);
  shoal_policy_free(policy);
}

static void verify(uint64_t k, const char *name, char *text) {
  shoal_verify_parameter parameters[8];
  shoal_verify_model model = {.name = name, .parameters = parameters};
  for (char *saved, *part = strtok_r(text, ",", &saved); part; part = strtok_r(NULL, ",", &saved)) {
    char *value = strchr(part, '=');
    *value = '\0';
    parameters[model.n_parameters++] = (shoal_verify_parameter){part, value + 1};
  }
  for (size_t v = 0; v < n_values; v++) {
    sprintf(names[v], "%zu", v);
    sprintf(labels[v][0], "a%zu", v / 2);
    sprintf(labels[v][1], "b%zu", v / 4);
    paths[v][0] = labels[v][0];
    paths[v][1] = labels[v][1];
    paths[v][2] = "*";
    values[v].value = names[v];
    values[v].path = paths[v];
  }
  const shoal_verify_knowledge known = {.values = values, .n_values = n_values};
  shoal_verify_attribute attribute = {.name = "s",
                                      .known = &known,
                                      .starts = starts,
                                      .counts = counts,
                                      .n_values = (uint32_t)n_values};
  const shoal_verify_tally tally = {.n_classes = n_classes,
                                    .class_rows = class_rows,
                                    .attributes = &attribute,
                                    .n_attributes = 1};
  const shoal_verify_request request = {.models = &model, .n_models = 1, .k = k, .guards_fd = -1};
  if (!shoal_verify_models(&request, &tally, SHOAL_VERIFY_WHOLE, &error)) {
    printf("0\n");
    return;
  }
  const char *found = strstr(error.message, "'s': ");
  if (strstr(error.message, "violates") && found) printf("%llu\n", strtoull(found + 5, NULL, 10));
  else if (strstr(error.message, "too large")) printf("unproven\n");
  else stop("verify");
}

int main(void) {
  static char line[MAX_LINE];
  while (fgets(line, sizeof line, stdin)) {
    char *field[5], *saved;
    field[0] = strtok_r(line, "\t", &saved);
    for (int i = 1; i < 5; i++) field[i] = strtok_r(NULL, "\t", &saved);
    read_classes(field[4]);
    check(field[0]);
    verify(strtoull(field[1], NULL, 10), field[2], field[3]);
  }
  return 0;
}
