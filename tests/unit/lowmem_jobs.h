/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every job of the library on the small problem of lowmem_problem.h, in stages, and all that it
 * makes while it runs. For a test that lets memory run out, or stops the work, in each of them.
 */
#ifndef SHOAL_TESTS_LOWMEM_JOBS_H
#define SHOAL_TESTS_LOWMEM_JOBS_H

#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "lowmem_memory.h"
#include "lowmem_problem.h"
#include "shoal/program.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define UNUSED __attribute__((unused))

static char folder[64];
static char made[96];

static const char *path_of(const char *name) {
  static char paths[8][96];
  static unsigned turn;
  char *path = paths[turn++ % COUNT(paths)];
  (void)snprintf(path, sizeof paths[0], "%s/%s", folder, name);
  return path;
}

/* ---------------------------------------------------------------- one job */

/*
 * A job has stages: what it needs is read, it is done, and the outcome is shown. Memory runs out in
 * one of them, after the ones before it went well.
 */
enum { READS, ACTS, SHOWS, N_STAGES };
typedef struct job job;
typedef struct kind {
  shoal_status (*stages[N_STAGES])(const job *j);
} kind;

struct job {
  const kind *of;
  const char *policy;    /* NULL: none */
  const char *algorithm; /* NULL: the policy's */
  const char *key, *value;
  uint64_t memory_bytes;
  bool inexact; /* without memory a model says no: another release can come out */
  bool refused; /* where nothing fails, too */
};

static shoal_error error, *told = &error;
static shoal_text answer; /* all that the job rendered */
static shoal_policy *policy;
static shoal_table *table, *others[3], *compared[2];
static shoal_result *result;
static shoal_release *release;
static shoal_file *text_file;
static char *rendered;
static bool is_written;              /* the release has its name */
static long reports_left = -1;       /* the job is stopped then; below 0: never */
static void (*report_is_made)(void); /* told of each */
static unsigned n_threads = 1;

static bool stops(void *user UNUSED, const shoal_progress *progress) {
  assert_non_null(progress->stage);
  if (report_is_made) report_is_made();
  if (reports_left < 0) return false;
  return reports_left-- == 0;
}

static shoal_run run_of(const job *j) {
  return (shoal_run){.n_threads = n_threads, .progress = stops, .memory_bytes = j->memory_bytes};
}

/* What was made from that stage on goes away. */
static void undo(int from) {
  free(rendered);
  rendered = NULL;
  if (from > ACTS) return;
  shoal_file_free(text_file);
  shoal_release_free(release);
  shoal_result_free(result);
  for (size_t i = 0; i < COUNT(compared); i++) shoal_table_free(compared[i]);
  memset(compared, 0, sizeof compared);
  text_file = NULL;
  release = NULL;
  result = NULL;
  (void)unlink(made);
  is_written = false;
  if (from > READS) return;
  shoal_table_free(table);
  for (size_t i = 0; i < COUNT(others); i++) shoal_table_free(others[i]);
  memset(others, 0, sizeof others);
  shoal_policy_free(policy);
  table = NULL;
  policy = NULL;
}

/* The test's own memory does not run out. */
static void keep_answer(const char *text) {
  long left = allocations_left;
  void (*watched)(void) = allocation_is_made;
  allocations_left = -1;
  allocation_is_made = NULL;
  shoal_text_add(&answer, text);
  allocations_left = left;
  allocation_is_made = watched;
}

#define TRY(call)                                                                                  \
  do {                                                                                             \
    shoal_status status_ = (call);                                                                 \
    if (status_ != SHOAL_OK) return status_;                                                       \
  } while (0)

/* What a run cost differs from run to run. */
static void cut_costs(char *text) {
  static const struct {
    const char *from, *to;
  } costs[] = {{"\n  read ", " MB"},
               {"\"seconds\":", "}"},
               {"\"peak_memory_bytes\":", "\n"},
               {"\"classes_touched\":", "\n"}};
  for (size_t i = 0; i < COUNT(costs); i++) {
    char *from = strstr(text, costs[i].from), *to = from ? strstr(from, costs[i].to) : NULL;
    if (to) memmove(from, to, strlen(to) + 1);
  }
}

static shoal_status render(const shoal_format *formats, size_t n) {
  const shoal_result *of = release ? shoal_release_result(release) : result;
  for (size_t i = 0; i < n; i++) {
    TRY(shoal_result_render(of, formats[i], &rendered, told));
    cut_costs(rendered);
    keep_answer(rendered);
    free(rendered);
    rendered = NULL;
  }
  return SHOAL_OK;
}

static shoal_status show(const job *j UNUSED) {
  static const shoal_format formats[] = {SHOAL_TEXT, SHOAL_JSON};
  return render(formats, COUNT(formats));
}

static shoal_status show_page(const job *j UNUSED) {
  static const shoal_format formats[] = {SHOAL_TEXT, SHOAL_JSON, SHOAL_HTML};
  return render(formats, COUNT(formats));
}

static shoal_status show_lattice(const job *j UNUSED) {
  static const shoal_format formats[] = {SHOAL_TEXT, SHOAL_JSON, SHOAL_CSV,
                                         SHOAL_DOT,  SHOAL_SVG,  SHOAL_HTML};
  return render(formats, COUNT(formats));
}

/* -------------------------------- what is read */

static shoal_status read_policy(const job *j) {
  if (!j->policy) return SHOAL_OK;
  TRY(shoal_policy_parse(j->policy, strlen(j->policy), "policy", folder, &policy, told));
  if (j->algorithm) TRY(shoal_policy_set(policy, "algorithm", j->algorithm, told));
  return j->key ? shoal_policy_set(policy, j->key, j->value, told) : SHOAL_OK;
}

static shoal_status read_table(const job *j, const char *name, shoal_purpose purpose,
                               shoal_table **read) {
  shoal_run run = run_of(j);
  return shoal_table_read(path_of(name), policy, purpose, read == &table ? NULL : ",", &run, read,
                          told);
}

static shoal_status read_data(const job *j) {
  TRY(read_policy(j));
  return read_table(j, "data.csv", policy ? SHOAL_FOR_RELEASE : SHOAL_FOR_REVIEW, &table);
}

/* -------------------------------- commands */

static shoal_status compare(const job *j) {
  shoal_run run = run_of(j);
  TRY(read_table(j, "out.csv", SHOAL_FOR_REVIEW, &compared[0]));
  TRY(read_table(j, "older.csv", SHOAL_FOR_REVIEW, &compared[1]));
  const shoal_table *const previous[] = {compared[1]};
  return shoal_release_compare(release, compared[0], previous, 1, &run, told);
}

static shoal_status anonymize(const job *j) {
  shoal_run run = run_of(j);
  const char *const avoided = path_of("data.csv");
  shoal_avoided avoid = {&avoided, 1};
  shoal_write_options options = {.keep_order = !j->algorithm, .detail = SHOAL_DETAIL_HTML};
  TRY(shoal_anonymize(table, policy, &run, &release, told));
  TRY(shoal_release_write_beside(release, made, &avoid, &options, &run, told));
  is_written = true;
  return j->algorithm ? SHOAL_OK : compare(j);
}

static shoal_status profile(const job *j) {
  shoal_run run = run_of(j);
  return shoal_profile(table, &run, &result, told);
}

static shoal_status show_profile(const job *j) {
  TRY(show(j));
  TRY(shoal_profile_policy(result, &rendered, told));
  keep_answer(rendered);
  free(rendered);
  rendered = NULL;
  return SHOAL_OK;
}

static shoal_status check(const job *j) {
  shoal_run run = run_of(j);
  return shoal_check(table, policy, &run, &result, told);
}

static shoal_status conditions(const job *j) {
  shoal_run run = run_of(j);
  return shoal_conditions(table, policy, &run, &result, told);
}

static shoal_status lattice(const job *j) {
  shoal_run run = run_of(j);
  return shoal_lattice(table, policy, &run, &result, told);
}

static shoal_status explain(const job *j) {
  shoal_run run = run_of(j);
  return shoal_explain(table, policy, &run, &result, told);
}

/* The release, another, the original, and people. */
static shoal_status read_releases(const job *j) {
  TRY(read_policy(j));
  TRY(read_table(j, "masked.csv", SHOAL_FOR_REVIEW, &table));
  TRY(read_table(j, "older.csv", SHOAL_FOR_REVIEW, &others[0]));
  TRY(read_table(j, "data.csv", SHOAL_FOR_RELEASE, &others[1]));
  return read_table(j, "people.csv", SHOAL_FOR_LINKING, &others[2]);
}

static shoal_status attack(const job *j) {
  shoal_run run = run_of(j);
  const shoal_table *const previous[] = {others[0]};
  shoal_attack_options options = {.external = others[2],
                                  .original = others[1],
                                  .previous = previous,
                                  .n_previous = 1,
                                  .rule_out = 1,
                                  .bound = j->key ? NULL : "0.6"};
  return shoal_attack_release(table, policy, &options, &run, &result, told);
}

static shoal_status measure(const job *j) {
  shoal_run run = run_of(j);
  shoal_measure_options options = {
      .population = others[2], .has_queries = true, .n_queries = 20, .dimensions = 2};
  return shoal_measure(others[1], table, policy, &options, &run, &result, told);
}

static shoal_status read_described(const job *j) {
  TRY(shoal_policy_parse(j->policy, strlen(j->policy), "policy", folder, &policy, told));
  return read_table(j, "data.csv", SHOAL_FOR_RELEASE, &table);
}

static shoal_status describe(const job *j) {
  return shoal_hierarchy_describe(j->value, policy, table, &result, told);
}

static shoal_status describe_file(const job *j UNUSED) {
  return shoal_hierarchy_describe(path_of("town.csv"), NULL, NULL, &result, told);
}

static shoal_status build(const job *j) {
  TRY(shoal_hierarchy_build(j->value, table, j->key, &rendered, told));
  keep_answer(rendered);
  TRY(shoal_file_begin(made, &text_file, told));
  return shoal_file_commit(text_file, rendered, told);
}

/* Rows from memory, with counts or without. */
static shoal_status fill_table(const job *j) {
  static const char *const names[] = {"name", "age", "town", "zip", "born", "ill", "ward", "guard"};
  static const char ages[] = "3133414345", ills[] = "fluhivflulungflu";
  static const uint64_t at_age[] = {0, 2, 4, 6, 8, 10}, at_ill[] = {0, 3, 6, 9, 13, 16},
                        empty[] = {0, 0, 0, 0, 0, 0}, counts[] = {1, 2, 1, 3, 1};
  shoal_text_view columns[COUNT(names)];
  for (size_t i = 0; i < COUNT(names); i++) columns[i] = (shoal_text_view){"", empty};
  columns[1] = (shoal_text_view){ages, at_age};
  columns[5] = (shoal_text_view){ills, at_ill};
  TRY(shoal_policy_parse(j->policy, strlen(j->policy), "policy", folder, &policy, told));
  if (j->algorithm) TRY(shoal_policy_set(policy, "algorithm", j->algorithm, told));
  TRY(shoal_table_new(names, COUNT(names), &table, told));
  for (int chunk = 0; chunk < 2; chunk++)
    TRY(shoal_table_append(table, columns, COUNT(names), COUNT(counts), j->key ? counts : NULL,
                           told));
  return shoal_table_finish(table, policy, SHOAL_FOR_RELEASE, told);
}

static const kind anonymizing = {{read_data, anonymize, show_page}},
                  profiling = {{read_data, profile, show_profile}},
                  checking = {{read_data, check, show_page}},
                  conditioning = {{read_data, conditions, show}},
                  drawing = {{read_data, lattice, show_lattice}},
                  explaining = {{read_data, explain, show}},
                  attacking = {{read_releases, attack, show_page}},
                  measuring = {{read_releases, measure, show_page}},
                  describing = {{read_described, describe, show}},
                  describing_file = {{NULL, describe_file, show}},
                  building = {{read_data, build, NULL}},
                  filling = {{fill_table, anonymize, show_page}};

/* ---------------------------------------------------------------- all jobs */

static const job jobs[] = {
    {.of = &anonymizing, .policy = OF_P},
    {.of = &anonymizing, .policy = OF_P, .memory_bytes = 1},
    {.of = &anonymizing, .policy = QUOTED},
    {.of = &anonymizing, .policy = PREFERS, .algorithm = "samarati", .inexact = true},
    {.of = &anonymizing, .policy = GUARDED, .algorithm = "optimal", .inexact = true},
    {.of = &anonymizing, .policy = FOLDED, .inexact = true},
    {.of = &anonymizing, .policy = SPELLED, .memory_bytes = 1, .inexact = true},
    {.of = &anonymizing, .policy = DIVERSE, .inexact = true},
    {.of = &anonymizing, .policy = LISTS, .inexact = true},
    {.of = &anonymizing, .policy = LISTS, .algorithm = "flock", .inexact = true},
    {.of = &anonymizing, .policy = BY_MATRIX},
    {.of = &anonymizing, .policy = OF_P, .algorithm = "samarati"},
    {.of = &anonymizing, .policy = OF_P, .algorithm = "incognito"},
    {.of = &anonymizing, .policy = OF_P, .algorithm = "optimal"},
    {.of = &anonymizing, .policy = BY_CLASSES, .algorithm = "optimal"},
    {.of = &anonymizing, .policy = DIVERSE, .algorithm = "samarati", .inexact = true},
    {.of = &anonymizing, .policy = OF_P, .algorithm = "datafly"},
    {.of = &anonymizing, .policy = QUOTED, .algorithm = "datafly", .refused = true},
    {.of = &anonymizing, .policy = ARGUS, .algorithm = "mu-argus"},
    {.of = &anonymizing, .policy = K_ONLY, .algorithm = "mu-argus", .refused = true},
    {.of = &anonymizing, .policy = K_ONLY, .algorithm = "k-member"},
    {.of = &anonymizing, .policy = OF_P, .algorithm = "greedy-pk"},
    {.of = &anonymizing, .policy = OF_P, .algorithm = "enhanced-pk"},
    {.of = &anonymizing, .policy = OF_P, .algorithm = "hybrid-pk"},
    {.of = &anonymizing, .policy = OF_P, .algorithm = "mondrian"},
    {.of = &anonymizing, .policy = RELAXED},
    {.of = &anonymizing, .policy = OF_P, .algorithm = "top-down"},
    {.of = &anonymizing, .policy = OF_P, .algorithm = "flock"},
    {.of = &anonymizing, .policy = QUOTED, .algorithm = "flock"},
    {.of = &anonymizing, .policy = OF_THETA, .algorithm = "theta", .inexact = true},
    {.of = &anonymizing, .policy = SORTED, .algorithm = "theta", .inexact = true},
    {.of = &anonymizing, .policy = GUARDED, .algorithm = "mondrian", .inexact = true},
    {.of = &anonymizing, .policy = GUARDED, .algorithm = "enhanced-pk", .inexact = true},
    {.of = &anonymizing, .policy = DIVERSE, .algorithm = "greedy-pk", .inexact = true},
    {.of = &anonymizing, .policy = TREED, .algorithm = "top-down", .inexact = true},
    {.of = &anonymizing, .policy = OF_PEOPLE, .algorithm = "optimal", .inexact = true},
    {.of = &anonymizing, .policy = OF_PEOPLE, .algorithm = "flock", .inexact = true},
    {.of = &anonymizing, .policy = UNMET, .refused = true},
    {.of = &anonymizing, .policy = UNMET, .algorithm = "flock", .refused = true},
    {.of = &profiling},
    {.of = &checking, .policy = OF_P},
    {.of = &checking, .policy = GUARDED, .inexact = true},
    {.of = &checking, .policy = FOLDED, .inexact = true},
    {.of = &checking, .policy = OF_PEOPLE, .inexact = true},
    {.of = &conditioning, .policy = OF_P},
    {.of = &conditioning, .policy = PREFERS, .inexact = true},
    {.of = &drawing, .policy = OF_P},
    {.of = &drawing, .policy = GUARDED, .inexact = true},
    {.of = &explaining, .policy = UNMET},
    {.of = &explaining, .policy = OF_P},
    {.of = &explaining, .policy = GUARDED, .inexact = true},
    {.of = &attacking, .policy = OF_P},
    {.of = &attacking, .policy = DIVERSE, .key = "k", .value = "3"},
    {.of = &attacking, .policy = TREED},
    {.of = &attacking, .policy = OF_THETA},
    {.of = &attacking, .policy = OF_PEOPLE},
    {.of = &measuring, .policy = OF_P},
    {.of = &measuring, .policy = TREED},
    {.of = &measuring, .policy = SPELLED},
    {.of = &attacking, .policy = SPELLED},
    {.of = &describing, .policy = OF_P, .value = "age"},
    {.of = &describing, .policy = OF_P, .value = "born"},
    {.of = &describing, .policy = OF_P, .value = "town"},
    {.of = &describing, .policy = QUOTED, .value = "age"},
    {.of = &describing, .policy = QUOTED, .value = "zip"},
    {.of = &describing, .policy = GUARDED, .value = "ill"},
    {.of = &describing_file},
    {.of = &building, .key = "age", .value = "{intervals: [5, 10]}"},
    {.of = &building, .key = "age", .value = "{cuts: [[30, 50], [50]]}"},
    {.of = &building, .key = "zip", .value = "{mask: left}"},
    {.of = &building, .key = "town", .value = "{tree: {x: [a, b], y: [c]}}"},
    {.of = &building, .key = "town", .value = "{top: true}"},
    {.of = &filling, .policy = OF_P},
    {.of = &filling, .policy = OF_P, .key = "counted"},
    {.of = &filling, .policy = OF_P, .algorithm = "flock", .key = "counted"},
};

#endif
