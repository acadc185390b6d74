/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job/release_write: a decision becomes a file. The rows go to a temporary file, the verifier reads
 * it back as strings with code of its own, and only then the file is renamed into place.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "decide/gates.h"
#include "describe/certificate.h"
#include "describe/mapping.h"
#include "describe/page.h"
#include "input/cells.h"
#include "input/input.h"
#include "job/inside.h"
#include "job/job.h"
#include "job/release.h"
#include "job/release_table.h"
#include "job/writing.h"
#include "verify/stat_reader.h"
#include "write/atomic_file.h"
#include "write/sink.h"
#include "write/stat_file.h"

/* ------------------------------------------------------------ one file */

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

/* One file on its way. */
typedef struct file_writing {
  shoal_writing rows;
  const shoal_atomic_file *file;
  shoal_detail detail;
  /* of the verifier, and of what runs beside it */
  double verified;
  shoal_status verify_status, hash_status;
  shoal_error verify_error, hash_error;
  atomic_bool stop;
} file_writing;

/* Writes the release: as CSV, or by way of a CSV file without a name as SPSS or Stata file. */
static shoal_status write_table(file_writing *f, shoal_error *error) {
  shoal_writing *w = &f->rows;
  shoal_stat_plan plan = {.kind = shoal_stat_kind_by_name(w->path),
                          .file = w->path,
                          .delimiter = w->plan.delimiter,
                          .n_columns = w->plan.n_columns,
                          .missing = shoal_input_missing(w->release->context.policy)};
  if (plan.kind == SHOAL_STAT_NONE)
    return shoal_writing_rows(w, &w->plan, f->file->fd, w->path, &w->n_rows, error);
  shoal_atomic_file rows = {.fd = -1};
  SHOAL_TRY(shoal_atomic_file_open_unnamed(&rows, w->path, error));
  shoal_status status = shoal_writing_rows(w, &w->plan, rows.fd, "rows", &w->n_rows, error);
  plan.n_rows = w->n_rows;
  if (status == SHOAL_OK) status = shoal_stat_write(&plan, rows.fd, f->file->fd, error);
  shoal_atomic_file_close(&rows);
  return status;
}

/* Proves the file; an SPSS or Stata file by the cells that the verifier reads in it. */
static shoal_status verify_file(const file_writing *f, shoal_error *error) {
  const shoal_writing *w = &f->rows;
  shoal_stat_kind kind = shoal_stat_kind_by_name(w->path);
  if (kind == SHOAL_STAT_NONE) return shoal_writing_verify(w, f->file->fd, error);
  shoal_verify_stat stat = {.is_sav = kind == SHOAL_STAT_SAV,
                            .delimiter = w->plan.delimiter,
                            .missing = shoal_input_missing(w->release->context.policy)};
  shoal_atomic_file cells = {.fd = -1};
  SHOAL_TRY(shoal_atomic_file_open_unnamed(&cells, w->path, error));
  shoal_status status = shoal_verify_unpack(f->file->fd, &stat, cells.fd, error);
  if (status == SHOAL_OK) status = shoal_writing_verify(w, cells.fd, error);
  shoal_atomic_file_close(&cells);
  return status;
}

enum { VERIFY, FLUSH, HASH, N_TASKS };

/* While the verifier reads the file back, other threads flush it to the disk and hash it. */
static void run_task(void *user, unsigned task) {
  file_writing *f = user;
  if (task == VERIFY) {
    f->verify_status = verify_file(f, &f->verify_error);
    f->verified = shoal_seconds();
    atomic_store(&f->stop, f->verify_status != SHOAL_OK);
  } else if (task == FLUSH) {
    shoal_atomic_file_flush(f->file);
  } else if (f->detail != SHOAL_DETAIL_FIGURES) { /* the report has the hash */
    f->hash_status = shoal_sha256_fd(f->file->fd, f->rows.path, &f->stop, f->rows.release->sha256,
                                     &f->hash_error);
  }
}

static shoal_status write_and_verify(file_writing *f, shoal_error *error) {
  shoal_release_report *released = &f->rows.release->result->release;
  double started = shoal_seconds();
  SHOAL_TRY(write_table(f, error));
  double written = shoal_seconds();
  SHOAL_TRY(shoal_writing_spill(&f->rows, error));
  if (shoal_run_threads(f->rows.run) > 1) {
    shoal_parallel(N_TASKS, run_task, f);
  } else {
    run_task(f, VERIFY);
    run_task(f, HASH);
  }
  released->seconds_write = written - started;
  released->seconds_verify = f->verified - written;
  bool verified = f->verify_status == SHOAL_OK;
  if (error) *error = verified ? f->hash_error : f->verify_error;
  return verified ? f->hash_status : f->verify_status;
}

/* Who gets a release that goes to no file: a function its bytes, a database its rows. */
typedef struct receiver {
  shoal_write_fn write;
  void *user;
  shoal_table_sink *sink;
  struct shoal_inside *inside; /* the database makes the rows */
} receiver;

/* Brings the verified rows into a database, within its transaction. */
static shoal_status fill_database(const receiver *to, const shoal_writing *rows, int fd,
                                  shoal_error *error) {
#if SHOAL_POSTGRESQL
  if (to->inside) return shoal_inside_fill(to->inside, rows, fd, error);
#endif
  return to->sink ? shoal_release_fill_table(to->sink, rows, fd, error) : SHOAL_OK;
}

static shoal_status write_file(shoal_release *release, const char *path,
                               const shoal_write_options *options, const shoal_run *run,
                               const shoal_atomic_file *file, const receiver *to,
                               shoal_error *error) {
  file_writing f = {.file = file, .detail = options->detail};
  shoal_status status =
      shoal_writing_init(&f.rows, release, path, options->keep_order, !to->inside, run, error);
  if (status == SHOAL_OK) status = check_names(release, &f.rows.plan, error);
  if (status == SHOAL_OK) status = write_and_verify(&f, error);
  if (status == SHOAL_OK) status = fill_database(to, &f.rows, file->fd, error);
  free(release->row_numbers); /* of the order before */
  release->row_numbers = NULL;
  release->order = (shoal_release_order){status == SHOAL_OK, options->keep_order, f.rows.order};
  shoal_writing_reset(&f.rows);
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
                               const shoal_avoided *avoided, shoal_error *error) {
  shoal_location location = {.file = path};
  if (shoal_same_file(path, avoided->paths, avoided->n) < avoided->n)
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
                                 const shoal_avoided *avoided, shoal_error *error) {
  if (!beside) return SHOAL_OK;
  if (strcmp(beside, "-") == 0 || shoal_same_file(beside, others, n_others) < n_others)
    return shoal_fail_at(error, SHOAL_BAD_INPUT, &(shoal_location){.file = beside},
                         "the %s needs a file name of its own", what);
  return check_path(release, beside, avoided, error);
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

/* The table and the mapping beside it: if the last step fails, this is removed. */
static shoal_status commit_table(outputs *files, const shoal_write_options *options,
                                 shoal_table_sink *sink, shoal_error *error) {
  if (options->mapping) SHOAL_TRY(shoal_atomic_file_commit(&files->mapping, error));
  shoal_status status = shoal_table_sink_commit(sink, error);
  if (status != SHOAL_OK && options->mapping) (void)unlink(files->mapping.path);
  return status;
}

static shoal_status hand_over(int fd, const receiver *to, shoal_error *error) {
  enum { PIECE_BYTES = 1 << 18 };
  char *bytes = shoal_alloc(PIECE_BYTES, 1);
  if (!bytes) return shoal_fail_memory(error);
  shoal_status status = SHOAL_OK;
  for (off_t at = 0; status == SHOAL_OK;) {
    ssize_t n = pread(fd, bytes, PIECE_BYTES, at);
    if (n == 0) break;
    if (n < 0)
      status = shoal_fail(error, SHOAL_FAILED, "cannot read the release back: %s", strerror(errno));
    else if (!to->write(to->user, bytes, (size_t)n))
      status = shoal_fail(error, SHOAL_FAILED, "the caller's function did not take the release");
    at += n;
  }
  free(bytes);
  return status;
}

/* The release, its certificate and its mapping get their names together, as the last step. */
static shoal_status write_files(shoal_release *release, const char *path,
                                const shoal_write_options *options, const shoal_run *run,
                                outputs *files, const receiver *to, shoal_error *error) {
  shoal_release_report *released = &release->result->release;
  int fd = files->release.fd;
  const char *shown = to->sink ? to->sink->address.name : path;
  SHOAL_TRY(write_file(release, path, options, run, &files->release, to, error));
  if (options->n_previous) SHOAL_TRY(compare_with_earlier(release, fd, options, run, error));
  if (options->detail != SHOAL_DETAIL_FIGURES)
    SHOAL_TRY(shoal_html_report_fill(release, fd, shown, options, run, error));
  if (options->strict) /* comparing and attacking may have found more */
    SHOAL_TRY(shoal_gates_refuse_open(release->result, error));
  if (options->certificate)
    SHOAL_TRY(write_certificate(release, fd, run, &files->certificate, error));
  if (options->mapping)
    SHOAL_TRY(shoal_mapping_write(release, shoal_stat_kind_by_name(path) == SHOAL_STAT_NONE,
                                  files->mapping.fd, options->mapping, error));
  /* nothing may fail after the commit */
  released->output = shoal_result_string(release->result, shown, strlen(shown));
  if (!released->output) return shoal_fail_memory(error);
  if (to->sink) return commit_table(files, options, to->sink, error);
  return to->write ? hand_over(fd, to, error) : commit_outputs(files, options, error);
}

static shoal_status write_release(shoal_release *release, const char *path,
                                  const shoal_avoided *avoided, const shoal_write_options *options,
                                  const shoal_run *run, const receiver *to, shoal_error *error) {
  shoal_release_report *released = &release->result->release;
  shoal_decision *d = &release->decision;
  const shoal_context *p = &release->context;
  const char *const names[] = {path, options->certificate};
  if (options->strict) SHOAL_TRY(shoal_gates_refuse_open(release->result, error));
  SHOAL_TRY(check_path(release, path, avoided, error));
  SHOAL_TRY(check_beside(release, options->certificate, "certificate", names, 1, avoided, error));
  SHOAL_TRY(check_beside(release, options->mapping, "mapping", names, 2, avoided, error));
  if (options->detail == SHOAL_DETAIL_HTML && !d->extended && shoal_table_leaves_columns(p->table))
    SHOAL_TRY(shoal_decision_extend(d, p, NULL, run, error)); /* the page shows their cells */
  outputs files = {{.fd = -1}, {.fd = -1}, {.fd = -1}};
  shoal_status status = open_outputs(&files, path, options, error);
  if (status == SHOAL_OK) status = write_files(release, path, options, run, &files, to, error);
  close_outputs(&files);
  SHOAL_TRY(status);
  released->order = options->keep_order ? "kept" : p->policy->has_seed ? "seeded" : "random";
  released->seconds_total = p->table->seconds_read + (shoal_seconds() - release->started);
  released->peak_memory_bytes = shoal_peak_memory();
  return SHOAL_OK;
}

/* Writes the release to a database, by way of a CSV file without a name. */
static shoal_status write_table_of(shoal_release *release, const char *address,
                                   const shoal_avoided *avoided, const shoal_write_options *options,
                                   const shoal_run *run, shoal_error *error) {
  const shoal_database_columns *source = release->given->columns_in_database;
  shoal_table_sink sink;
  receiver to = {.sink = &sink};
  if (options->certificate)
    return shoal_fail(error, SHOAL_BAD_INPUT,
                      "a certificate is about the bytes of a file: write the release to a file");
  release->context.run = run;
  shoal_status status =
      shoal_table_sink_open(&sink, address, options->replace, source ? source->identity : NULL,
                            shoal_run_patience(run), error);
  if (status == SHOAL_OK) status = write_release(release, "-", avoided, options, run, &to, error);
  shoal_table_sink_close(&sink);
  release->context.run = NULL;
  return status;
}

#if SHOAL_POSTGRESQL
shoal_status shoal_inside_write(shoal_release *release, shoal_inside *inside,
                                const shoal_write_options *options, const shoal_run *run,
                                shoal_error *error) {
  static const shoal_avoided none = {0};
  shoal_table_sink sink = {inside->output, &shoal_postgresql_sink, &inside->sink};
  const receiver to = {.sink = &sink, .inside = inside};
  release->context.run = run;
  shoal_status status = write_release(release, "-", &none, options, run, &to, error);
  release->context.run = NULL;
  return status;
}
#endif

shoal_status shoal_job_write(shoal_release *release, const char *path, const shoal_avoided *avoided,
                             const shoal_write_options *options, const shoal_run *run,
                             shoal_error *error) {
  if (shoal_is_database(path)) return write_table_of(release, path, avoided, options, run, error);
  static const receiver nobody = {0};
  release->context.run = run;
  shoal_status status = write_release(release, path, avoided, options, run, &nobody, error);
  release->context.run = NULL;
  return status;
}

shoal_status shoal_job_write_to(shoal_release *release, shoal_write_fn write, void *user,
                                const shoal_write_options *options, const shoal_run *run,
                                shoal_error *error) {
  static const shoal_avoided none = {0};
  const receiver to = {.write = write, .user = user};
  if (options->certificate || options->mapping)
    return shoal_fail(error, SHOAL_BAD_INPUT,
                      "a certificate or mapping needs a release in a file: write one");
  release->context.run = run;
  shoal_status status = write_release(release, "-", &none, options, run, &to, error);
  release->context.run = NULL;
  return status;
}
