/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every job of the library while memory runs out: policies of every kind, tables from files and
 * from memory, every algorithm, command and form of result. An allocation fails once for each way
 * that leads to it (the calls on the stack); afterwards the answer is the right one, or there is
 * none, with a reason, and no file is left. A job that is stopped at any moment ends as stopped.
 */
#define SCARCE_ARENAS
#include "scarce_memory.h"

#include <dirent.h>
#include <execinfo.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <jansson.h>

#include "base/text.h"
#include "shoal/shoal.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define UNUSED __attribute__((unused))

/* There is no need to wait for the disk. */
int fsync(int fd) { return fcntl(fd, F_GETFD) < 0 ? -1 : 0; }

/* ---------------------------------------------------------------- the files */

static const char DATA[] =
    "name,age,town,zip,born,ill,ward,guard\n"
    "n1,31,a,4711,1991-05-06,flu,=x,viral\nn2,32,a,4712,1991-05-07,hiv,\"y,\",viral\n"
    "n3,33,a,4711,1991-06-06,lung,z,*\nn4,34,a,4721,1992-05-06,colon,x,*\n"
    "n5,41,b,4722,1981-05-06,flu,x,lung\nn6,42,b,4722,1981-05-06,hiv,y,hiv\n"
    "n7,43,b,4712,1982-05-06,lung,z,colon\nn8,44,b,,1983-05-06,colon,,*\n"
    "n9,51,a,4711,1971-05-06,flu,x,*\nn10,52,c,4712,1972-05-06,hiv,y,*\n"
    "n11,53,c,4711,,lung,z,*\nn12,54,a,4711,1973-05-06,colon,x,*\nn13,55,b,4711,1974-05-06,,,\n"
    "n14,31,a,4711,1991-05-06,flu,x,viral\nn15,41,b,4722,1981-05-06,lung,x,lung\n";

static const struct {
  const char *name, *text;
} files[] = {
    {"data.csv", DATA},
    {"town.csv", "a;west;*\nb;west;*\nc;east;*\nd;east;*\n"},
    {"ill.csv", "flu;light\nhiv;grave\nlung;grave\ncolon;some\n"},
    {"people.csv", "name,age,town,zip,born\nn1,31,a,4711,1991-05-06\nn2,32,a,4712,1991-05-07\n"
                   "x,77,d,9999,1950-01-01\nn15,41,b,4722,1981-05-06\n"},
    {"masked.csv", "age,town,zip,born,ill,ward\n[30-39],*,47**,*,flu,x\n[30-39],*,47**,*,hiv,y\n"
                   "[30-39],*,47**,*,lung,z\n[30-39],*,47**,*,colon,x\n[40-49],*,*,*,flu,x\n"
                   "[40-49],*,*,*,lung,x\n[40-49],*,*,*,hiv,x\n[50-59],*,*,*,hiv,x\n"
                   "[50-59],*,*,*,lung,x\n[50-59],*,*,*,flu,x\n"},
    {"older.csv", "age,town,zip,born,ill,ward\n[30-39],*,47**,*,flu,x\n[30-39],*,47**,*,flu,y\n"
                  "[40-49],west,*,*,hiv,x\n[40-49],west,*,*,lung,x\n[50-59],*,*,*,hiv,x\n"},
};

static char folder[64];
static char made[96];

static const char *path_of(const char *name) {
  static char paths[8][96];
  static unsigned turn;
  char *path = paths[turn++ % COUNT(paths)];
  (void)snprintf(path, sizeof paths[0], "%s/%s", folder, name);
  return path;
}

static int start(void **state UNUSED) {
  (void)snprintf(folder, sizeof folder, "/tmp/shoal-scarce-XXXXXX");
  if (!mkdtemp(folder)) return -1;
  (void)snprintf(made, sizeof made, "%s/out.csv", folder);
  for (size_t i = 0; i < COUNT(files); i++) {
    FILE *file = fopen(path_of(files[i].name), "wb");
    if (!file || fputs(files[i].text, file) < 0 || fclose(file)) return -1;
  }
  json_set_alloc_funcs(scarce_malloc, free);
  return 0;
}

static int end(void **state UNUSED) {
  for (size_t i = 0; i < COUNT(files); i++)
    if (unlink(path_of(files[i].name))) return -1;
  return rmdir(folder);
}

/* ---------------------------------------------------------------- the policies */

#define BEGIN                                                                                      \
  "shoal: 1\ndata: {delimiter: comma, missing: [\"\", NA]}\nattributes:\n  name: {role: "          \
  "identifier}\n"
#define PLAIN                                                                                      \
  "  age: {role: quasi, type: number, hierarchy: {intervals: [10, 20]}}\n"                         \
  "  town: {role: quasi, hierarchy: {file: town.csv}}\n"                                           \
  "  zip: {role: quasi, hierarchy: {mask: right}}\n"                                               \
  "  born: {role: quasi, hierarchy: {date: [year, decade]}}\n"
#define KINDS                                                                                      \
  "  age: {role: quasi, type: number, hierarchy: {cuts: [[30, 40, 50], [40]]}, snap: 5,"           \
  " anonymity: 0.5, profile: 0.9, sensitivity: 2}\n"                                               \
  "  town: {role: quasi, hierarchy: {tree: {west: [a, b], east: [c, d]}}, sensitivity: 3}\n"       \
  "  zip: {role: quasi, hierarchy: {mask: left, char: \"#\"}, sensitivity: 1}\n"                   \
  "  born: {role: quasi, hierarchy: {top: true}}\n"
#define ILL "  ill: {role: sensitive}\n"
#define TREE                                                                                       \
  "  ill: {role: sensitive, protect: [viral, lung, colon], hierarchy: {tree: {viral: [flu, hiv],"  \
  " cancer: [lung, colon]}}}\n"
#define SORTS "  ill: {role: sensitive, categories: {file: ill.csv}}\n"
#define REST "  ward: {role: keep}\n  guard: {role: identifier}\n"
#define METHOD "method: {seed: 7, max-suppression: 40%"

static const char K_ONLY[] = BEGIN PLAIN ILL REST "privacy: {k: 2}\n" METHOD "}\n";
static const char OF_P[] = BEGIN PLAIN ILL REST "privacy: {k: 2, p: 2}\n" METHOD "}\n";
static const char QUOTED[] =
    BEGIN KINDS ILL REST "privacy: {k: 3, p: 2}\n" METHOD ", suppressed: blank, formulas: quote}\n";
static const char PREFERS[] = BEGIN KINDS SORTS REST
    "privacy: {k: 2, models: [p-plus-sensitive: {p: 2}, p-alpha-sensitive: {p: 2, alpha: "
    "0.5}]}\n" METHOD ", prefer: [town, min-suppression, max-distribution], slack: 1, "
    "weights: {age: 2, town: 0.5, zip: 1, born: 0}}\n";
static const char GUARDED[] = BEGIN PLAIN TREE REST
    "privacy: {k: 2, models: [extended-p-sensitive: {p: 2}, t-closeness: {t: 0.9, distance: "
    "hierarchical}, personalized: {column: guard, breach: 0.95}]}\n" METHOD ", weights: inverse}\n";
static const char TREED[] = BEGIN PLAIN TREE REST
    "privacy: {k: 2, models: [extended-p-sensitive: {p: 2}, t-closeness: {t: 0.9, distance: "
    "hierarchical}]}\n" METHOD "}\n";
static const char ARGUS[] =
    "shoal: 1\nunlisted: drop\nattributes:\n  age: {role: quasi, type: number, sensitivity: 3, "
    "hierarchy: {intervals: [20]}}\n  town: {role: quasi, sensitivity: 2, hierarchy: {top: "
    "true}}\n  ill: {role: sensitive}\nprivacy: {k: 2}\n" METHOD "}\n";
static const char DIVERSE[] = BEGIN PLAIN ILL REST
    "privacy: {k: 2, models: [l-diversity: {l: 2, kind: entropy}, l-diversity: {l: 2, kind: "
    "recursive, c: 3}, alpha-k: {alpha: 0.7}]}\n" METHOD "}\n";
static const char OF_THETA[] = BEGIN PLAIN ILL REST
    "privacy: {k: 4, models: [theta-sensitive: {mu: 0.3}]}\n" METHOD ", noise: 40%}\n";
static const char BY_MATRIX[] =
    BEGIN PLAIN ILL REST "privacy: {k: 2}\n" METHOD ", satisfies: matrix, prefer: [least-peak]}\n";
static const char RELAXED[] =
    BEGIN PLAIN ILL REST "privacy: {k: 2, p: 2}\n" METHOD ", cuts: relaxed, algorithm: mondrian}\n";
static const char SORTED[] = BEGIN PLAIN ILL REST
    "privacy: {k: 4, models: [theta-sensitive: {mu: 0.1}]}\n" METHOD ", start: sorted}\n";
static const char UNMET[] =
    BEGIN PLAIN ILL REST "privacy: {k: 9, p: 4, models: [alpha-k: {alpha: 0.1}]}\n"
                         "method: {seed: 7, max-suppression: 0}\n";
static const char LISTS[] =
    "shoal: 1\nunlisted: drop\nattributes:\n  age: {role: quasi, type: number, recode: hierarchy, "
    "hierarchy: {intervals: [7], origin: 3}}\n  town: {role: quasi, hierarchy: {top: true}}\n"
    "  ill: {role: sensitive, categories: [[hiv], [lung, colon], [flu]], hierarchy: {tree: {v: "
    "[flu, hiv], c: [lung, colon, other]}}}\nprivacy: {k: 2, p: 2, models: [balanced-p-plus: {p: "
    "2}, t-closeness: {t: 0.9}]}\n" METHOD "}\n";

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
static bool is_written;        /* the release has its name */
static long reports_left = -1; /* the job is stopped then; below 0: never */
static unsigned n_threads = 1;

static bool stops(void *user UNUSED, const shoal_progress *progress) {
  assert_non_null(progress->stage);
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
  shoal_write_options options = {
      .keep_order = !j->algorithm, .avoid = &avoided, .n_avoid = 1, .detail = SHOAL_DETAIL_PAGE};
  TRY(shoal_anonymize(table, policy, &run, &release, told));
  TRY(shoal_release_write(release, made, &options, &run, told));
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
    {.of = &anonymizing, .policy = DIVERSE, .inexact = true},
    {.of = &anonymizing, .policy = LISTS, .inexact = true},
    {.of = &anonymizing, .policy = LISTS, .algorithm = "flock", .inexact = true},
    {.of = &anonymizing, .policy = BY_MATRIX},
    {.of = &anonymizing, .policy = OF_P, .algorithm = "samarati"},
    {.of = &anonymizing, .policy = OF_P, .algorithm = "incognito"},
    {.of = &anonymizing, .policy = OF_P, .algorithm = "optimal"},
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
    {.of = &anonymizing, .policy = TREED, .algorithm = "top-down", .inexact = true},
    {.of = &anonymizing, .policy = UNMET, .refused = true},
    {.of = &anonymizing, .policy = UNMET, .algorithm = "flock", .refused = true},
    {.of = &profiling},
    {.of = &checking, .policy = OF_P},
    {.of = &checking, .policy = GUARDED, .inexact = true},
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
    {.of = &measuring, .policy = OF_P},
    {.of = &measuring, .policy = TREED},
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
};

static unsigned names_in_folder(void) {
  unsigned n = 0;
  DIR *names = opendir(folder);
  assert_non_null(names);
  while (readdir(names)) n++;
  (void)closedir(names);
  return n - 2; /* besides '.' and '..' */
}

/* The answer is long: where it differs is told. */
static void is_answer(const char *expected) {
  size_t same = 0;
  while (same < answer.size_bytes && expected[same] == answer.bytes[same]) same++;
  if (same < answer.size_bytes || expected[same])
    fail_msg("'%.80s' instead of '%.80s'", answer.bytes ? answer.bytes + same : "",
             expected + same);
}

/* A stage whose status, answer and leftovers are judged; `expected` NULL: it need not come out. */
static shoal_status judged(const job *j, int stage, const char *expected) {
  error = (shoal_error){0};
  answer.size_bytes = 0;
  if (answer.bytes) answer.bytes[0] = '\0';
  shoal_status status = j->of->stages[stage](j);
  allocations_left = -1;
  reports_left = -1;
  allocation_is_made = NULL;
  if (status != SHOAL_OK && !is_written && access(made, F_OK) == 0) fail_msg("a file is left");
  if (status != SHOAL_OK && told) {
    assert_true(error.message[0] && !strchr(error.message, '\n'));
    assert_int_equal(error.status, status);
  }
  if (status == SHOAL_OK && stage == ACTS && j->of->stages[SHOWS])
    assert_int_equal(j->of->stages[SHOWS](j), SHOAL_OK);
  if (status == SHOAL_OK && expected) is_answer(expected);
  return status;
}

/* ---------------------------------------------------------------- which allocations to fail */

enum { DEPTH = 32, N_SEEN = 1 << 17, MOST_NEW = 1 << 14 };
static uint64_t seen[N_SEEN];
static size_t n_seen;
static long n_made, new_ones[MOST_NEW];
static size_t n_new;

/* Is it the first time that an allocation is made by these calls? */
static void note_way(void) {
  void *calls[DEPTH];
  allocation_is_made = NULL;
  int n = backtrace(calls, DEPTH);
  uint64_t hash = 14695981039346656037U;
  for (int i = 0; i < n; i++) hash = (hash ^ (uint64_t)(uintptr_t)calls[i]) * 1099511628211U;
  hash |= 1;
  size_t slot = (size_t)(hash >> 20) % N_SEEN;
  while (seen[slot] && seen[slot] != hash) slot = (slot + 1) % N_SEEN;
  if (!seen[slot] && n_new < MOST_NEW && n_seen < N_SEEN / 2) {
    seen[slot] = hash;
    n_seen++;
    new_ones[n_new++] = n_made;
  }
  n_made++;
  allocation_is_made = note_way;
}

static bool may_end(const job *j, int stage, shoal_status status) {
  if (status == SHOAL_REFUSED) return stage == ACTS && (j->inexact || j->refused);
  return status == SHOAL_OK || status == SHOAL_FAILED;
}

static void allocations_may_fail(const job *j, int stage) {
  n_made = 0;
  n_new = 0;
  allocation_is_made = note_way;
  shoal_status status = judged(j, stage, NULL);
  if (status != (stage == ACTS && j->refused ? SHOAL_REFUSED : SHOAL_OK))
    fail_msg("job %zu: %s", (size_t)(j - jobs), error.message);
  char *expected = strdup(answer.bytes ? answer.bytes : "");
  assert_non_null(expected);
  for (size_t i = 0; i < n_new; i++) {
    undo(stage);
    fails_once = i % 8 != 7; /* else there is none from there on */
    told = i % 16 == 3 ? NULL : &error;
    allocations_left = new_ones[i];
    status = judged(j, stage, j->inexact ? NULL : expected);
    if (!may_end(j, stage, status))
      fail_msg("job %zu, allocation %ld: status %d, %s", (size_t)(j - jobs), new_ones[i],
               (int)status, error.message);
  }
  if (getenv("SCARCE_TELL"))
    printf("# job %zu, stage %d: %ld allocations, %zu fail\n", (size_t)(j - jobs), stage, n_made,
           n_new);
  told = &error;
  free(expected);
}

/* Every stage, each after the ones before it went well. */
static void each_stage(void (*strike)(const job *j, int stage)) {
  for (const job *j = jobs; j < jobs + COUNT(jobs); j++) {
    for (int stage = 0; stage < N_STAGES; stage++) {
      if (!j->of->stages[stage]) continue;
      strike(j, stage);
      undo(stage);
      shoal_status status = judged(j, stage, NULL);
      if (stage == ACTS && j->refused) break;
      assert_int_equal(status, SHOAL_OK);
    }
    undo(READS);
    assert_int_equal(names_in_folder(), COUNT(files));
  }
}

static void every_way_to_an_allocation_may_fail(void **state UNUSED) {
  each_stage(allocations_may_fail);
  assert_true(n_seen > 2000);
}

/* Two threads make allocations in an order of chance: some of them fail. */
static void strike_at_random(const job *j, int stage) {
  n_threads = 2;
  for (long n = 1; n < 400; n += n / 2 + 7) {
    fails_once = true;
    allocations_left = n;
    shoal_status status = judged(j, stage, NULL);
    assert_true(may_end(j, stage, status));
    undo(stage);
  }
  n_threads = 1;
}

static void allocations_of_threads_may_fail(void **state UNUSED) { each_stage(strike_at_random); }

/* At each report of how far it is. */
static void stop_each_time(const job *j, int stage) {
  for (long n = 0;; n++) {
    reports_left = n;
    shoal_status status = j->of->stages[stage](j);
    bool ended = reports_left >= 0;
    reports_left = -1;
    undo(stage);
    if (ended) break;
    assert_int_equal(status, SHOAL_CANCELLED);
    assert_int_equal(error.status, SHOAL_CANCELLED);
  }
}

static void a_job_can_be_stopped_at_any_moment(void **state UNUSED) { each_stage(stop_each_time); }

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_way_to_an_allocation_may_fail),
      cmocka_unit_test(allocations_of_threads_may_fail),
      cmocka_unit_test(a_job_can_be_stopped_at_any_moment),
  };
  int failed = cmocka_run_group_tests(tests, start, end);
  shoal_text_reset(&answer);
  return failed;
}
