/* SPDX-License-Identifier: Apache-2.0 */
/* serve/work_explore: what is possible. Single nodes of the lattice, and local releases against k
 * and p. */
#include <stdlib.h>
#include <string.h>

#include "serve/work.h"

enum { MAX_QUASI = 256, MAX_NODES = 5000, MAX_POINTS = 64 };

/* ---------------------------------------------------------------- one node */

/* The session's explorer of this data and policy. Only jobs of this kind use it, one at a time. */
static shoal_status get_explorer(serve_job *job, shoal_error *error) {
  serve_session *session = job->session;
  char *key = NULL;
  if (!job->work.policy) return serve_fail(error, SHOAL_BAD_INPUT, "there is no policy yet");
  if (asprintf(&key, "%u %s", job->work.data_number, job->work.policy->bytes) < 0)
    return serve_fail(error, SHOAL_FAILED, "out of memory");
  if (session->explorer && !strcmp(session->explorer_key, key)) {
    free(key);
    return SHOAL_OK;
  }
  serve_forget_explorer(session);
  session->explorer_key = key;
  shoal_status status = serve_work_policy(job, &session->explorer_policy, error);
  for (int fresh = 0; status == SHOAL_OK && fresh < 2 && !session->explorer; fresh++) {
    serve_table_drop(session->explorer_table);
    session->explorer_table = NULL;
    status =
        serve_work_table(job, session->explorer_policy, fresh, &session->explorer_table, error);
    if (status != SHOAL_OK) break;
    status = shoal_explorer_new(session->explorer_table->table, session->explorer_policy, &job->run,
                                &session->explorer, error);
    if (status == SHOAL_BAD_INPUT && !fresh && strstr(error->message, SERVE_OTHER_POLICY))
      status = SHOAL_OK;
  }
  if (status != SHOAL_OK) serve_forget_explorer(session);
  return status;
}

static shoal_status read_levels(const shoal_explorer *explorer, const json_t *node,
                                unsigned *levels, shoal_error *error) {
  for (size_t q = 0; q < shoal_explorer_quasi(explorer); q++) {
    const json_t *level = json_object_get(node, shoal_explorer_name(explorer, q));
    json_int_t n = json_integer_value(level);
    if (!json_is_integer(level) || n < 0 || n > 1000000)
      return serve_fail(error, SHOAL_BAD_INPUT, "a node needs a level of every quasi-identifier");
    levels[q] = (unsigned)n;
  }
  return SHOAL_OK;
}

static json_t *node_json(const shoal_explored_node *f) {
  return json_pack("{s:i, s:I, s:I, s:I, s:I, s:f, s:f, s:f, s:b}", "height", (int)f->height,
                   "rows", (json_int_t)f->rows, "suppressed", (json_int_t)f->suppressed, "classes",
                   (json_int_t)f->classes, "smallest_class", (json_int_t)f->smallest_class,
                   "highest_risk", f->highest_risk, "average_risk", f->average_risk, "loss",
                   f->loss, "satisfies", f->satisfies);
}

static json_t *tops_json(const shoal_explorer *explorer) {
  json_t *tops = json_object();
  for (size_t q = 0; q < shoal_explorer_quasi(explorer); q++)
    (void)json_object_set_new(tops, shoal_explorer_name(explorer, q),
                              json_integer(shoal_explorer_top(explorer, q)));
  return tops;
}

/* ---------------------------------------------------------------- classes */

enum { MAX_CLASSES = 20, MAX_PAIRS = 5000 };

static const uint64_t size_bounds[] = {1, 2, 3, 5, 10, 20, 50, 100};
enum { N_SIZES = sizeof size_bounds / sizeof *size_bounds };

/* What is said about the classes of a node. */
typedef struct class_summary {
  const shoal_explorer *explorer;
  json_t *labels; /* by quasi-identifier: label -> released rows */
  json_t *pair;   /* label -> {label -> released rows} of two quasi-identifiers */
  size_t first, second, n_pairs;
  json_t *smallest; /* up to MAX_CLASSES released classes, ascending by rows */
  uint64_t n_classes[N_SIZES], n_suppressed, suppressed_rows, n_one_value;
} class_summary;

static void add_rows(json_t *counts, const char *label, uint64_t rows) {
  json_int_t sum = json_integer_value(json_object_get(counts, label)) + (json_int_t)rows;
  (void)json_object_set_new(counts, label, json_integer(sum));
}

static void add_pair(class_summary *summary, const char *first, const char *second, uint64_t rows) {
  json_t *row = json_object_get(summary->pair, first);
  if (!row) {
    if (summary->n_pairs >= MAX_PAIRS) return;
    row = json_object();
    (void)json_object_set_new(summary->pair, first, row);
  }
  size_t before = json_object_size(row);
  if (before && !json_object_get(row, second) && summary->n_pairs >= MAX_PAIRS) return;
  add_rows(row, second, rows);
  summary->n_pairs += json_object_size(row) - before;
}

/* Inserts a class into the list of the smallest. Takes the labels. */
static void add_smallest(json_t *list, const shoal_explored_class *seen, json_t *labels) {
  size_t n = json_array_size(list), at = n;
  while (at > 0 && json_integer_value(json_object_get(json_array_get(list, at - 1), "rows")) >
                       (json_int_t)seen->rows)
    at--;
  if (at < MAX_CLASSES) {
    json_t *values =
        seen->fewest_values == UINT32_MAX ? json_null() : json_integer(seen->fewest_values);
    (void)json_array_insert_new(list, at,
                                json_pack("{s:O, s:I, s:o}", "labels", labels, "rows",
                                          (json_int_t)seen->rows, "values", values));
    if (n == MAX_CLASSES) (void)json_array_remove(list, MAX_CLASSES);
  }
  json_decref(labels);
}

static void visit_class(void *context, const shoal_explored_class *seen) {
  class_summary *summary = context;
  if (seen->violates) {
    summary->n_suppressed++;
    summary->suppressed_rows += seen->rows;
    return;
  }
  json_t *labels = json_array();
  for (size_t q = 0; q < shoal_explorer_quasi(summary->explorer); q++) {
    json_t *label = serve_json_text(seen->labels[q], seen->label_bytes[q]);
    add_rows(json_array_get(summary->labels, q), json_string_value(label), seen->rows);
    (void)json_array_append_new(labels, label);
  }
  if (summary->pair)
    add_pair(summary, json_string_value(json_array_get(labels, summary->first)),
             json_string_value(json_array_get(labels, summary->second)), seen->rows);
  size_t size = N_SIZES - 1;
  while (seen->rows < size_bounds[size]) size--;
  summary->n_classes[size]++;
  if (seen->fewest_values <= 1) summary->n_one_value++;
  add_smallest(summary->smallest, seen, labels);
}

/* The number of a quasi-identifier by its name; that of quasi-identifiers if there is none. */
static size_t find_quasi(const shoal_explorer *explorer, const json_t *name) {
  size_t q = 0, n = shoal_explorer_quasi(explorer);
  while (q < n && (!json_is_string(name) ||
                   strcmp(shoal_explorer_name(explorer, q), json_string_value(name)) != 0))
    q++;
  return q;
}

static json_t *summary_json(class_summary *summary) {
  json_t *sizes = json_array(), *labels = json_object();
  for (size_t i = 0; i < N_SIZES; i++)
    (void)json_array_append_new(sizes, json_pack("{s:I, s:I}", "from", (json_int_t)size_bounds[i],
                                                 "classes", (json_int_t)summary->n_classes[i]));
  for (size_t q = 0; q < json_array_size(summary->labels); q++)
    (void)json_object_set(labels, shoal_explorer_name(summary->explorer, q),
                          json_array_get(summary->labels, q));
  return json_pack("{s:o, s:O, s:o, s:O*, s:I, s:I, s:I}", "sizes", sizes, "smallest",
                   summary->smallest, "labels", labels, "pair", summary->pair, "one_value",
                   (json_int_t)summary->n_one_value, "suppressed_classes",
                   (json_int_t)summary->n_suppressed, "suppressed",
                   (json_int_t)summary->suppressed_rows);
}

/* The classes of a node; `pair` names two quasi-identifiers, or nothing. */
static shoal_status describe_classes(shoal_explorer *explorer, const unsigned *levels,
                                     const json_t *pair, json_t **answer, shoal_error *error) {
  size_t n_quasi = shoal_explorer_quasi(explorer);
  class_summary summary = {.explorer = explorer,
                           .labels = json_array(),
                           .smallest = json_array(),
                           .first = find_quasi(explorer, json_array_get(pair, 0)),
                           .second = find_quasi(explorer, json_array_get(pair, 1))};
  for (size_t q = 0; q < n_quasi; q++) (void)json_array_append_new(summary.labels, json_object());
  if (summary.first < n_quasi && summary.second < n_quasi) summary.pair = json_object();
  shoal_status status = shoal_explorer_classes(explorer, levels, visit_class, &summary, error);
  if (status == SHOAL_OK) *answer = summary_json(&summary);
  json_decref(summary.labels);
  json_decref(summary.smallest);
  json_decref(summary.pair);
  return status;
}

/* ---------------------------------------------------------------- nodes */

/* {"nodes": [{"age": 1, ..}], "classes": ["age", "sex"]} -> {"tops": {"age": 4, ..}, "nodes":
 * [{"rows": ..}], "classes": {..}} */
shoal_status serve_work_nodes(serve_job *job, json_t **answer, shoal_error *error) {
  unsigned levels[MAX_QUASI];
  json_t *wanted = json_object_get(job->request, "nodes"), *made = json_array(), *classes = NULL;
  const json_t *pair = json_object_get(job->request, "classes");
  shoal_status status = get_explorer(job, error);
  shoal_explorer *explorer = job->session->explorer;
  if (status == SHOAL_OK &&
      (shoal_explorer_quasi(explorer) > MAX_QUASI || json_array_size(wanted) > MAX_NODES))
    status = serve_fail(error, SHOAL_BAD_INPUT, "too many nodes or quasi-identifiers at once");
  for (size_t i = 0; status == SHOAL_OK && i < json_array_size(wanted); i++) {
    shoal_explored_node figures;
    if (atomic_load(&job->cancelled)) status = SHOAL_CANCELLED;
    if (status == SHOAL_OK)
      status = read_levels(explorer, json_array_get(wanted, i), levels, error);
    if (status == SHOAL_OK) status = shoal_explorer_node(explorer, levels, &figures, error);
    if (status == SHOAL_OK) (void)json_array_append_new(made, node_json(&figures));
  }
  if (status == SHOAL_OK && pair && json_array_size(wanted) > 0)
    status = describe_classes(explorer, levels, pair, &classes, error);
  if (status == SHOAL_OK)
    *answer = json_pack("{s:o, s:O, s:O*}", "tops", tops_json(explorer), "nodes", made, "classes",
                        classes);
  json_decref(classes);
  json_decref(made);
  return status;
}

/* ---------------------------------------------------------------- frontier */

/* One release in memory with another k or p; its figures, or why there is none. */
static shoal_status try_point(serve_job *job, const char *key, json_int_t value, json_t **point,
                              shoal_error *error) {
  shoal_policy *policy = NULL;
  serve_table *table = NULL;
  shoal_release *release = NULL;
  char text[32];
  (void)snprintf(text, sizeof text, "%" JSON_INTEGER_FORMAT, value);
  *point = NULL;
  shoal_status status = serve_work_policy(job, &policy, error);
  if (status == SHOAL_OK) status = shoal_policy_set(policy, key, text, error);
  if (status == SHOAL_OK) status = serve_work_table(job, policy, false, &table, error);
  shoal_run run = job->run;
  run.quick = true;
  if (status == SHOAL_OK) status = shoal_anonymize(table->table, policy, &run, &release, error);
  if (status == SHOAL_OK) {
    json_t *answer = NULL;
    status = serve_work_answer(shoal_release_result(release), &answer, error);
    json_t *body = json_object_get(answer, "answer");
    if (status == SHOAL_OK)
      *point =
          json_pack("{s:s, s:I, s:O?, s:O?}", "key", key, "value", value, "output",
                    json_object_get(body, "output"), "measures", json_object_get(body, "measures"));
    json_decref(answer);
  } else if (status == SHOAL_REFUSED || status == SHOAL_BAD_INPUT || status == SHOAL_BAD_POLICY) {
    *point = json_pack("{s:s, s:I, s:s}", "key", key, "value", value, "refused", error->message);
    status = SHOAL_OK;
  }
  shoal_release_free(release);
  serve_table_drop(table);
  shoal_policy_free(policy);
  return status;
}

/* {"k": [2, 3, 5], "p": [1, 2]} -> {"points": [..]}; each point is sent when it is known. */
shoal_status serve_work_frontier(serve_job *job, json_t **answer, shoal_error *error) {
  static const char *const keys[] = {"k", "p"};
  json_t *points = json_array();
  shoal_status status = SHOAL_OK;
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
    json_t *values = json_object_get(job->request, keys[i]);
    for (size_t v = 0; status == SHOAL_OK && v < json_array_size(values) && v < MAX_POINTS; v++) {
      json_t *point = NULL;
      status =
          try_point(job, keys[i], json_integer_value(json_array_get(values, v)), &point, error);
      if (!point) continue;
      serve_job_say(job, "point", json_incref(point));
      (void)json_array_append_new(points, point);
    }
  }
  if (status == SHOAL_OK) *answer = json_pack("{s:O}", "points", points);
  json_decref(points);
  return status;
}
