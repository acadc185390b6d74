/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job/release_write: a decision becomes a file. The rows go to a temporary file, the verifier reads
 * it back as strings with code of its own, and only then the file is renamed into place.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "decide/gates.h"
#include "describe/certificate.h"
#include "describe/mapping.h"
#include "describe/page.h"
#include "input/cells.h"
#include "input/input.h"
#include "job/job.h"
#include "job/release.h"
#include "job/release_columns.h"
#include "job/verify_request.h"
#include "job/verify_trace.h"
#include "verify/stat_reader.h"
#include "write/atomic_file.h"
#include "write/second_pass.h"
#include "write/sink.h"
#include "write/stat_file.h"

/* ------------------------------------------------------------ formulas */

enum { MAX_NAMED = 8 }; /* columns that a warning names */

/* Warns about cells that a spreadsheet would run; `marks`: by column, 1 where it has some. */
static shoal_status warn_of_formulas(shoal_result *result, const shoal_csv_plan *out,
                                     const uint8_t *marks, shoal_error *error) {
  shoal_text list;
  shoal_text_init(&list);
  size_t n = 0;
  for (size_t c = 0; c < out->n_columns; c++) {
    const char *name = out->columns[c].column->name;
    if (!marks[c] && !shoal_is_formula(name, strlen(name))) continue;
    if (n++ < MAX_NAMED) shoal_text_print(&list, "%s'%.40s'", n > 1 ? ", " : "", name);
  }
  if (n > MAX_NAMED) shoal_text_print(&list, " and %zu more", n - MAX_NAMED);
  shoal_status status = list.failed ? shoal_fail_memory(error) : SHOAL_OK;
  if (n && status == SHOAL_OK)
    status = shoal_result_warn(result, error,
                               "column%s %s %s cells that a spreadsheet would run as formulas; "
                               "'--formulas quote' puts an apostrophe before them",
                               n == 1 ? "" : "s", list.bytes, n == 1 ? "has" : "have");
  shoal_text_reset(&list);
  return status;
}

/* Column names are released unchanged, so with `formulas: quote` none may be a formula. */
static shoal_status check_names(const shoal_release *release, const shoal_csv_plan *out,
                                shoal_error *error) {
  for (size_t c = 0; out->quote_formulas && c < out->n_columns; c++) {
    const char *name = out->columns[c].column->name;
    shoal_location location = {.file = release->context.table->name};
    if (shoal_is_formula(name, strlen(name))) /* not quoted: it may be a cell of row 1 */
      return shoal_fail_at(error, SHOAL_BAD_INPUT, &location,
                           "the name of column %zu is itself one that a spreadsheet would "
                           "run: rename it, drop it, or use 'formulas: keep'",
                           (size_t)(out->columns[c].column - out->table->columns) + 1);
  }
  return SHOAL_OK;
}

/* ------------------------------------------------------------ rows */

/* One file on its way: all that writing and verifying it need. */
typedef struct writing {
  shoal_release *release;
  const char *path;
  const shoal_write_options *options;
  const shoal_run *run;
  const shoal_atomic_file *file;
  shoal_csv_plan plan;
  shoal_random order;           /* of rows, unless options->keep_order */
  uint64_t n_rows;              /* written */
  int guards_fd;                /* -1: no requirement has guards */
  int people_fd;                /* -1: rows are counted */
  size_t n_person, n_household; /* columns of people_fd */
  /* of the verifier, and of what runs beside it */
  double verified;
  shoal_status verify_status, hash_status;
  shoal_error verify_error, hash_error;
  atomic_bool stop;
} writing;

/* Writes rows of the table, or reads the table's file again if the table lacks cells. */
static shoal_status write_rows(const writing *w, const shoal_csv_plan *plan, int fd,
                               const char *name, uint64_t *n_rows, shoal_error *error) {
  shoal_random copy = w->order; /* guards are written in the same order again */
  shoal_random *random = w->options->keep_order ? NULL : &copy;
  shoal_sink *sink;
  shoal_atomic_file spill = {.fd = -1};
  SHOAL_TRY(shoal_sink_open(fd, name, &sink, error));
  shoal_status status = SHOAL_OK;
  if (!shoal_csv_needs_second_pass(plan)) {
    status = shoal_csv_write(plan, sink, random, w->run, n_rows, error);
  } else {
    if (random) status = shoal_atomic_file_open_unnamed(&spill, w->path, error);
    if (status == SHOAL_OK)
      status = shoal_csv_write_second_pass(plan, sink, spill.fd, random, w->run, n_rows, error);
    shoal_atomic_file_close(&spill);
  }
  shoal_sink_free(sink);
  return status;
}

/*
 * The kept order of a table whose rows from n on are noise: each of them after the last row of its
 * class. NULL: no memory.
 */
static uint32_t *place_noise(const shoal_decision *d, uint32_t n) {
  uint32_t n_noise = (uint32_t)d->rows->n_rows - n, n_ordered = 0;
  uint32_t *order = shoal_alloc((size_t)n + n_noise, sizeof *order);
  uint32_t *last = shoal_alloc(d->n_groups, sizeof *last); /* row of each group */
  uint32_t *first = shoal_alloc(n, sizeof *first);         /* noise row after each row, */
  uint32_t *next = shoal_alloc(n_noise, sizeof *next);     /* then after each noise row */
  bool ok = order && last && first && next;
  if (ok) {
    for (uint32_t row = 0; row < n; row++) last[d->group_of_row[row]] = row;
    memset(first, 0xff, n * sizeof *first); /* SHOAL_NONE */
    for (uint32_t i = n_noise; i-- > 0;) {
      uint32_t row = last[d->group_of_row[n + i]];
      next[i] = first[row];
      first[row] = i;
    }
    for (uint32_t row = 0; row < n; row++) {
      order[n_ordered++] = row;
      for (uint32_t i = first[row]; i != SHOAL_NONE; i = next[i]) order[n_ordered++] = n + i;
    }
    assert(n_ordered == n + n_noise);
  }
  free(last);
  free(first);
  free(next);
  if (ok) return order;
  free(order);
  return NULL;
}

/* ------------------------------------------------------------ verifying */

/* Are numbers spelled as in the table? Files with numbers have no spellings. */
static bool is_styled(const char *path) { return shoal_stat_kind_by_name(path) == SHOAL_STAT_NONE; }

static const shoal_column *guard_column(const shoal_context *p) {
  for (size_t i = 0; i < p->requirements.n_items; i++)
    if (p->requirements.items[i].guard != SHOAL_NO_ATTRIBUTE)
      return p->tracked.columns[p->requirements.items[i].guard];
  return NULL;
}

/*
 * Cells that are not released, but that the verifier needs row by row. They go to an unnamed file
 * in the order of the release; it disappears when it is closed.
 */
static shoal_status spill_columns(const writing *w, const shoal_column *const *columns, size_t n,
                                  const char *name, shoal_atomic_file *spill, shoal_error *error) {
  const shoal_context *p = &w->release->context;
  shoal_csv_plan plan = w->plan;
  plan.columns = shoal_alloc_zero(n, sizeof *plan.columns);
  if (!plan.columns) return shoal_fail_memory(error);
  plan.n_columns = n;
  plan.quote_formulas = false;
  uint64_t n_rows;
  shoal_status status = shoal_atomic_file_open(spill, "-", error);
  for (size_t c = 0; status == SHOAL_OK && c < n; c++) {
    plan.columns[c].column = w->plan.table->columns + (columns[c] - p->table->columns);
    const shoal_attribute *attribute = shoal_policy_attribute(p->policy, columns[c]->name);
    bool commas = is_styled(w->path) && shoal_cells_have_commas(p->policy, attribute);
    if (!shoal_release_fill_values(&plan.columns[c], &plan, commas))
      status = shoal_fail_memory(error);
  }
  if (status == SHOAL_OK) status = write_rows(w, &plan, spill->fd, name, &n_rows, error);
  shoal_release_columns_reset(&plan);
  return status;
}

static shoal_status spill_guards(const writing *w, shoal_atomic_file *spill, shoal_error *error) {
  const shoal_column *guard = guard_column(&w->release->context);
  return guard ? spill_columns(w, &guard, 1, "guards", spill, error) : SHOAL_OK;
}

/* The columns of a role, from columns[*n] on. */
static size_t find_role(const shoal_context *p, shoal_role role, const shoal_column **columns,
                        size_t *n) {
  size_t found = 0;
  for (size_t c = 0; c < p->table->n_columns; c++)
    if (shoal_attribute_is_key(&p->attributes[c], role))
      columns[(*n)++] = &p->table->columns[c], found++;
  return found;
}

/* Rows that are about nobody; they are added only if nobody has several rows. */
static bool has_noise(const writing *w) {
  return w->plan.table->n_rows > w->release->context.table->n_rows;
}

/* Who each row is about. If the key of each row is known to differ, its hash is enough. */
static shoal_status spill_people(writing *w, shoal_atomic_file *spill, shoal_error *error) {
  const shoal_context *p = &w->release->context;
  const shoal_column **columns = shoal_alloc(p->table->n_columns, sizeof *columns);
  if (!columns) return shoal_fail_memory(error);
  size_t n = 0;
  if (p->people.column && !has_noise(w)) w->n_person = find_role(p, SHOAL_ROLE_PERSON, columns, &n);
  if (p->policy->has_households && p->households.column && !has_noise(w))
    w->n_household = find_role(p, SHOAL_ROLE_HOUSEHOLD, columns, &n);
  shoal_status status = n ? spill_columns(w, columns, n, "people", spill, error) : SHOAL_OK;
  free(columns);
  return status;
}

/* Writes the release: as CSV, or by way of a CSV file without a name as SPSS or Stata file. */
static shoal_status write_table(writing *w, shoal_error *error) {
  shoal_stat_plan plan = {.kind = shoal_stat_kind_by_name(w->path),
                          .file = w->path,
                          .delimiter = w->plan.delimiter,
                          .n_columns = w->plan.n_columns,
                          .missing = shoal_input_missing(w->release->context.policy)};
  if (plan.kind == SHOAL_STAT_NONE)
    return write_rows(w, &w->plan, w->file->fd, w->path, &w->n_rows, error);
  shoal_atomic_file rows = {.fd = -1};
  SHOAL_TRY(shoal_atomic_file_open_unnamed(&rows, w->path, error));
  shoal_status status = write_rows(w, &w->plan, rows.fd, "rows", &w->n_rows, error);
  plan.n_rows = w->n_rows;
  if (status == SHOAL_OK) status = shoal_stat_write(&plan, rows.fd, w->file->fd, error);
  shoal_atomic_file_close(&rows);
  return status;
}

/* Proves the file; an SPSS or Stata file by the cells that the verifier reads in it. */
static shoal_status verify_file(const writing *w, const shoal_verify_request *request,
                                shoal_verify_finding *finding, shoal_error *error) {
  shoal_stat_kind kind = shoal_stat_kind_by_name(w->path);
  if (kind == SHOAL_STAT_NONE) return shoal_verify(w->file->fd, request, w->run, finding, error);
  shoal_verify_stat stat = {.is_sav = kind == SHOAL_STAT_SAV,
                            .delimiter = request->delimiter,
                            .missing = shoal_input_missing(w->release->context.policy)};
  shoal_atomic_file cells = {.fd = -1};
  SHOAL_TRY(shoal_atomic_file_open_unnamed(&cells, w->path, error));
  shoal_status status = shoal_verify_unpack(w->file->fd, &stat, cells.fd, error);
  if (status == SHOAL_OK) status = shoal_verify(cells.fd, request, w->run, finding, error);
  shoal_atomic_file_close(&cells);
  return status;
}

/* Engine and verifier must count the same. */
static shoal_status compare(const shoal_release_report *released,
                            const shoal_verify_finding *finding, shoal_error *error) {
  bool same_people = !released->fewest_people || finding->fewest_people == released->fewest_people;
  if (finding->n_rows == released->output_rows && finding->n_classes == released->classes &&
      finding->smallest_class == released->smallest_class && same_people)
    return SHOAL_OK;
  return shoal_fail(error, SHOAL_FAILED,
                    "the verifier counts %llu rows in %llu classes%s, the engine %llu in %llu: "
                    "nothing was written; this is a bug in shoal, please report it",
                    (unsigned long long)finding->n_rows, (unsigned long long)finding->n_classes,
                    same_people ? "" : ", and other people",
                    (unsigned long long)released->output_rows,
                    (unsigned long long)released->classes);
}

/* Where the engine lists no risk, no pseudonym may link classes, and each class has k people. */
static shoal_status compare_links(const writing *w, const shoal_verify_request *request,
                                  shoal_error *error) {
  shoal_result *result = w->release->result;
  for (size_t i = 0; i < request->n_pseudonyms; i++) {
    const char *name; /* as results have it */
    SHOAL_TRY(shoal_result_copy(result, request->pseudonyms[i], &name, error));
    if (request->pseudonym_links[i] &&
        !shoal_safety_lists(&result->safety, SHOAL_RISK_REPEATS, NULL, name))
      return shoal_fail(
          error, SHOAL_FAILED,
          "the verifier finds people by the pseudonyms of '%.200s', the engine does not: "
          "nothing was written; this is a bug in shoal, please report it",
          name);
  }
  return SHOAL_OK;
}

/* Is a model about proportions of sensitive values? */
static bool needs_histograms(const shoal_context *p) {
  for (size_t i = 0; i < p->requirements.n_items; i++)
    if (p->requirements.items[i].type->needs & SHOAL_NEEDS_HISTOGRAM) return true;
  return false;
}

/* Reads the file back. `columns` and `formulas` have room for the plan's columns. */
static shoal_status verify_columns(const writing *w, const char **columns, uint8_t *formulas,
                                   shoal_error *error) {
  const shoal_csv_plan *plan = &w->plan;
  shoal_owned_verify_request owned;
  shoal_verify_finding finding;
  for (size_t c = 0; c < plan->n_columns; c++) columns[c] = plan->columns[c].column->name;
  bool styled = is_styled(w->path);
  SHOAL_TRY(shoal_owned_verify_request_make(&owned, &w->release->context, plan->table,
                                            plan->delimiter, styled, columns, plan->n_columns,
                                            w->n_rows, error));
  owned.request.guards_fd = w->guards_fd;
  owned.request.people_fd = w->people_fd;
  owned.request.n_person = w->n_person;
  owned.request.n_household = w->n_household;
  const shoal_context *p = &w->release->context;
  owned.request.asks_people = p->people.asked && !has_noise(w);
  owned.request.asks_households = p->policy->has_households && !has_noise(w);
  owned.request.person_hashes = p->people.hashes;
  owned.request.n_hashes = plan->table->n_rows;
  owned.request.by_person = w->n_person && needs_histograms(&w->release->context);
  owned.request.formulas = formulas;
  owned.request.trace = shoal_verify_trace_make(&owned.arena, w->release, plan, styled);
  shoal_status status = owned.request.trace ? verify_file(w, &owned.request, &finding, error)
                                            : shoal_fail_memory(error);
  if (status == SHOAL_OK) status = compare_links(w, &owned.request, error);
  shoal_owned_verify_request_reset(&owned);
  SHOAL_TRY(status);
  SHOAL_TRY(compare(&w->release->result->release, &finding, error));
  return warn_of_formulas(w->release->result, plan, formulas, error);
}

static shoal_status verify(const writing *w, shoal_error *error) {
  const char **columns = shoal_alloc(w->plan.n_columns, sizeof *columns);
  uint8_t *formulas = shoal_alloc_zero(w->plan.n_columns, 1);
  shoal_status status =
      columns && formulas ? verify_columns(w, columns, formulas, error) : shoal_fail_memory(error);
  free(columns);
  free(formulas);
  return status;
}

enum { VERIFY, FLUSH, HASH, N_TASKS };

/* While the verifier reads the file back, other threads flush it to the disk and hash it. */
static void run_task(void *user, unsigned task) {
  writing *w = user;
  if (task == VERIFY) {
    w->verify_status = verify(w, &w->verify_error);
    w->verified = shoal_seconds();
    atomic_store(&w->stop, w->verify_status != SHOAL_OK);
  } else if (task == FLUSH) {
    shoal_atomic_file_flush(w->file);
  } else if (w->options->detail != SHOAL_DETAIL_FIGURES) { /* the report has the hash */
    w->hash_status =
        shoal_sha256_fd(w->file->fd, w->path, &w->stop, w->release->sha256, &w->hash_error);
  }
}

/* ------------------------------------------------------------ writing */

static shoal_status write_and_verify(writing *w, shoal_error *error) {
  shoal_release_report *released = &w->release->result->release;
  shoal_atomic_file guards = {.fd = -1}, people = {.fd = -1};
  double started = shoal_seconds();
  SHOAL_TRY(write_table(w, error));
  double written = shoal_seconds();
  shoal_status status = spill_guards(w, &guards, error);
  if (status == SHOAL_OK) status = spill_people(w, &people, error);
  w->people_fd = people.fd;
  w->guards_fd = guards.fd;
  if (status == SHOAL_OK) {
    if (shoal_run_threads(w->run) > 1) {
      shoal_parallel(N_TASKS, run_task, w);
    } else {
      run_task(w, VERIFY);
      run_task(w, HASH);
    }
    bool verified = w->verify_status == SHOAL_OK;
    status = verified ? w->hash_status : w->verify_status;
    if (error) *error = verified ? w->hash_error : w->verify_error;
  }
  shoal_atomic_file_close(&guards);
  shoal_atomic_file_close(&people);
  released->seconds_write = written - started;
  released->seconds_verify = w->verified - written;
  return status;
}

/* The order of the rows: from the seed, or from the kernel's entropy. */
static shoal_status start_random(const shoal_policy *policy, shoal_random *random,
                                 shoal_error *error) {
  if (policy->has_seed) shoal_random_seed(random, policy->seed);
  else if (!shoal_random_entropy(random))
    return shoal_fail(error, SHOAL_FAILED,
                      "the system gives no randomness for the row order: give a seed");
  return SHOAL_OK;
}

static shoal_status write_file(shoal_release *release, const char *path,
                               const shoal_write_options *options, const shoal_run *run,
                               const shoal_atomic_file *file, shoal_error *error) {
  const shoal_context *p = &release->context;
  const shoal_decision *d = &release->decision;
  writing w = {.release = release,
               .path = path,
               .options = options,
               .run = run,
               .file = file,
               .plan = {.table = d->rows,
                        .delimiter = p->table->delimiter,
                        .group_of_row = d->group_of_row,
                        .action = d->action_of_group,
                        .n_groups = d->n_groups,
                        .rows_of_group = d->rows_of_group,
                        .quote_formulas = p->policy->quote_formulas}};
  bool styled = is_styled(path);
  uint32_t *order = NULL;
  if (!options->keep_order) SHOAL_TRY(start_random(p->policy, &w.order, error));
  else if (d->rows->n_rows > p->table->n_rows &&
           !(order = place_noise(d, (uint32_t)p->table->n_rows)))
    return shoal_fail_memory(error);
  w.plan.order = order;
  shoal_status status = shoal_release_columns_make(release, styled, &w.plan, error);
  if (status == SHOAL_OK) status = check_names(release, &w.plan, error);
  if (status == SHOAL_OK) status = write_and_verify(&w, error);
  shoal_release_columns_reset(&w.plan);
  free(order);
  return status;
}

bool shoal_policy_uses_file(const shoal_policy *policy, const char *path) {
  const char *const own[] = {policy->file};
  if (shoal_same_file(path, own, 1) == 0) return true;
  for (size_t a = 0; a < policy->n_attributes; a++) {
    const shoal_attribute *attribute = &policy->attributes[a];
    const char *const files[] = {attribute->has_hierarchy ? attribute->hierarchy.file : NULL,
                                 attribute->categories.file, attribute->key.file};
    if (shoal_same_file(path, files, 3) < 3) return true;
  }
  return false;
}

static shoal_status check_path(const shoal_release *release, const char *path,
                               const shoal_write_options *options, shoal_error *error) {
  shoal_location location = {.file = path};
  if (shoal_same_file(path, options->avoid, options->n_avoid) < options->n_avoid)
    return shoal_fail_at(error, SHOAL_BAD_INPUT, &location,
                         "is the input or the policy: choose another output");
  if (shoal_policy_uses_file(release->context.policy, path))
    return shoal_fail_at(error, SHOAL_BAD_INPUT, &location,
                         "the policy reads this file: choose another output");
  return SHOAL_OK;
}

/* Compares the file with earlier releases before it is renamed: --strict may refuse it. */
static shoal_status compare_with_earlier(shoal_release *release, int fd,
                                         const shoal_write_options *options, const shoal_run *run,
                                         shoal_error *error) {
  shoal_table *masked = NULL;
  shoal_error found = {0};
  shoal_status status = shoal_release_read_back(release, fd, run, &masked, &found);
  if (status == SHOAL_BAD_INPUT) /* it lacks a column that a model reads */
    return shoal_result_warn(release->result, error,
                             "the release was not compared with earlier ones: %s", found.message);
  if (status != SHOAL_OK && error) *error = found;
  SHOAL_TRY(status);
  status = shoal_job_compare(release, masked, options->previous, options->n_previous, run, error);
  shoal_table_delete(masked);
  return status;
}

/* ------------------------------------------------------------ certificate */

/* The certificate of the release whose bytes are in `fd`, as a page. The caller frees *page. */
static shoal_status render_certificate(const shoal_release *release, int fd, const shoal_run *run,
                                       shoal_result *certificate, char **page, shoal_error *error) {
  char path[40], left_out[24];
  shoal_error found = {0};
  (void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  (void)snprintf(left_out, sizeof left_out, "%llu",
                 (unsigned long long)release->result->release.suppressed);
  shoal_status status =
      shoal_job_certificate(certificate, path, release->context.policy, left_out, run, &found);
  if (status == SHOAL_BAD_INPUT) {
    size_t size = strlen(path); /* of no use to anybody: leave it out of the message */
    bool starts = strncmp(found.message, path, size) == 0 && found.message[size] == ':';
    return shoal_fail(error, status,
                      "no certificate can be made, so nothing was written: the release does not "
                      "read as this policy describes it: %s",
                      found.message + (starts ? size + 2 : 0));
  }
  if (status != SHOAL_OK && error) *error = found;
  SHOAL_TRY(status);
  /* kept columns are measured on the released rows here, which can differ from the original */
  SHOAL_TRY(shoal_gates_check(certificate, &release->context, error));
  if (!certificate->holds)
    return shoal_fail(error, SHOAL_FAILED,
                      "the certificate does not confirm the release: nothing was written; this is "
                      "a bug in shoal, please report it");
  return shoal_render(certificate, SHOAL_HTML, page, error);
}

/* Makes the certificate and writes it to its temporary file. */
static shoal_status write_certificate(const shoal_release *release, int fd, const shoal_run *run,
                                      const shoal_atomic_file *file, shoal_error *error) {
  shoal_result *certificate = shoal_result_new(SHOAL_RESULT_CERTIFICATE);
  if (!certificate) return shoal_fail_memory(error);
  char *page = NULL;
  shoal_status status = render_certificate(release, fd, run, certificate, &page, error);
  if (status == SHOAL_OK) status = shoal_write_all(file->fd, file->path, page, strlen(page), error);
  free(page);
  shoal_result_delete(certificate);
  return status;
}

/* ------------------------------------------------------------ all of it */

/* A second output needs a name of its own: it can neither share another's nor be standard output.
 */
static shoal_status check_beside(const shoal_release *release, const char *beside, const char *what,
                                 const char *const *others, size_t n_others,
                                 const shoal_write_options *options, shoal_error *error) {
  if (!beside) return SHOAL_OK;
  if (strcmp(beside, "-") == 0 || shoal_same_file(beside, others, n_others) < n_others)
    return shoal_fail_at(error, SHOAL_BAD_INPUT, &(shoal_location){.file = beside},
                         "the %s needs a file name of its own", what);
  return check_path(release, beside, options, error);
}

/* The temporary files of all that is written. */
typedef struct outputs {
  shoal_atomic_file release, certificate, mapping;
} outputs;

static void close_outputs(outputs *files) {
  shoal_atomic_file_close(&files->release);
  shoal_atomic_file_close(&files->certificate);
  shoal_atomic_file_close(&files->mapping);
}

static shoal_status open_outputs(outputs *files, const char *path,
                                 const shoal_write_options *options, shoal_error *error) {
  if (options->mapping) {
    SHOAL_TRY(shoal_atomic_file_open(&files->mapping, options->mapping, error));
    files->mapping.mode = 0600; /* it has original values */
  }
  if (options->certificate)
    SHOAL_TRY(shoal_atomic_file_open(&files->certificate, options->certificate, error));
  return shoal_atomic_file_open(&files->release, path, error);
}

static shoal_status commit_outputs(outputs *files, const shoal_write_options *options,
                                   shoal_error *error) {
  shoal_atomic_file *all[3];
  size_t n = 0;
  if (options->mapping) all[n++] = &files->mapping;
  if (options->certificate) all[n++] = &files->certificate;
  all[n++] = &files->release;
  return shoal_atomic_file_commit_all(all, n, error);
}

/* The release, its certificate and its mapping get their names together, as the last step. */
static shoal_status write_files(shoal_release *release, const char *path,
                                const shoal_write_options *options, const shoal_run *run,
                                outputs *files, shoal_error *error) {
  shoal_release_report *released = &release->result->release;
  int fd = files->release.fd;
  SHOAL_TRY(write_file(release, path, options, run, &files->release, error));
  if (options->n_previous) SHOAL_TRY(compare_with_earlier(release, fd, options, run, error));
  if (options->detail != SHOAL_DETAIL_FIGURES)
    SHOAL_TRY(shoal_html_report_fill(release, fd, path, options, run, error));
  if (options->strict) /* comparing and attacking may have found more */
    SHOAL_TRY(shoal_gates_refuse_open(release->result, error));
  if (options->certificate)
    SHOAL_TRY(write_certificate(release, fd, run, &files->certificate, error));
  if (options->mapping)
    SHOAL_TRY(
        shoal_mapping_write(release, is_styled(path), files->mapping.fd, options->mapping, error));
  /* nothing may fail after the commit */
  released->output = shoal_result_string(release->result, path, strlen(path));
  if (!released->output) return shoal_fail_memory(error);
  return commit_outputs(files, options, error);
}

static shoal_status write_release(shoal_release *release, const char *path,
                                  const shoal_write_options *options, const shoal_run *run,
                                  shoal_error *error) {
  shoal_release_report *released = &release->result->release;
  shoal_decision *d = &release->decision;
  const shoal_context *p = &release->context;
  const char *const names[] = {path, options->certificate};
  if (options->strict) SHOAL_TRY(shoal_gates_refuse_open(release->result, error));
  SHOAL_TRY(check_path(release, path, options, error));
  SHOAL_TRY(check_beside(release, options->certificate, "certificate", names, 1, options, error));
  SHOAL_TRY(check_beside(release, options->mapping, "mapping", names, 2, options, error));
  if (options->detail == SHOAL_DETAIL_HTML && !d->extended && shoal_table_leaves_columns(p->table))
    SHOAL_TRY(shoal_decision_extend(d, p, NULL, run, error)); /* the page shows their cells */
  outputs files = {{.fd = -1}, {.fd = -1}, {.fd = -1}};
  shoal_status status = open_outputs(&files, path, options, error);
  if (status == SHOAL_OK) status = write_files(release, path, options, run, &files, error);
  close_outputs(&files);
  SHOAL_TRY(status);
  released->order = options->keep_order ? "kept" : p->policy->has_seed ? "seeded" : "random";
  released->has_seed = p->policy->has_seed;
  released->seed = p->policy->seed;
  released->seconds_total = p->table->seconds_read + (shoal_seconds() - release->started);
  released->peak_memory_bytes = shoal_peak_memory();
  return SHOAL_OK;
}

shoal_status shoal_job_write(shoal_release *release, const char *path,
                             const shoal_write_options *options, const shoal_run *run,
                             shoal_error *error) {
  release->context.run = run;
  shoal_status status = write_release(release, path, options, run, error);
  release->context.run = NULL;
  return status;
}
