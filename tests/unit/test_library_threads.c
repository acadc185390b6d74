#include <shoal/program.h>
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Eight jobs in eight threads of one process, as a server runs them. Four share a policy and a
 * table, the others have their own. Each writes a release and renders results: bytes, results and
 * file modes must be those of the same job alone. ThreadSanitizer finds data races.
 */
#include "library_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <sys/syscall.h>

/* ---------------------------------------------------------------- the system */

static atomic_bool lacks_unnamed; /* no O_TMPFILE: files have names */
static atomic_uint n_umask_calls; /* umask(2) changes the files of other threads */

mode_t umask(mode_t mask) {
  atomic_fetch_add(&n_umask_calls, 1);
  return (mode_t)syscall(SYS_umask, mask);
}

int open(const char *path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(more, mode_t) : 0;
  va_end(more);
  if (atomic_load(&lacks_unnamed) && (flags & O_TMPFILE) == O_TMPFILE) {
    errno = EOPNOTSUPP;
    return -1;
  }
  return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

/* ---------------------------------------------------------------- one job */

enum { JOBS = 8, SHARING = 4, TEXTS = 4 };

static const char *const algorithms[JOBS] = {"auto",     "auto",  "auto",     "auto",
                                             "samarati", "flock", "mondrian", "mu-argus"};

/* cmocka's assertions must not fail on other threads, so that a job notes what went wrong. */
typedef struct job {
  unsigned number;
  const shoal_policy *policy; /* shared; NULL: the job makes its own */
  const shoal_table *table;
  pthread_t thread;
  bool strayed;       /* progress was reported on another thread */
  char *texts[TEXTS]; /* release, check, lattice, internal page */
  mode_t release_mode, page_mode;
  shoal_error error;
} job;

static bool on_progress(void *user, const shoal_progress *progress UNUSED) {
  job *self = user;
  self->strayed = self->strayed || !pthread_equal(self->thread, pthread_self());
  return false;
}

static shoal_status study(job *self, const shoal_table *table, const shoal_policy *policy,
                          const shoal_run *run) {
  shoal_result *result;
  shoal_error *error = &self->error;
  shoal_status status = shoal_check(table, policy, run, &result, error);
  if (status) return status;
  status = shoal_result_render(result, SHOAL_JSON, &self->texts[1], error);
  shoal_result_free(result);
  if (!status) status = shoal_lattice(table, policy, run, &result, error);
  if (status) return status;
  status = shoal_result_render(result, SHOAL_SVG, &self->texts[2], error);
  shoal_result_free(result);
  return status;
}

static mode_t mode_of(const char *path) {
  struct stat info;
  return stat(path, &info) == 0 ? info.st_mode & 0777 : 07777;
}

static shoal_status release(job *self, const shoal_table *table, const shoal_policy *policy,
                            const shoal_run *run) {
  char name[32], path[PATH_BYTES], page_path[PATH_BYTES];
  (void)snprintf(name, sizeof name, "out-%u.csv", self->number);
  path_of(name, path);
  (void)snprintf(name, sizeof name, "page-%u.html", self->number);
  path_of(name, page_path);
  shoal_release *made;
  shoal_file *page = NULL;
  const shoal_write_options options = {.detail = SHOAL_DETAIL_HTML};
  shoal_error *error = &self->error;
  shoal_status status = shoal_anonymize(table, policy, run, &made, error);
  if (status) return status;
  status = shoal_release_write(made, path, &options, run, error);
  if (!status)
    status = shoal_result_render(shoal_release_result(made), SHOAL_HTML, &self->texts[3], error);
  if (!status) status = shoal_file_begin(page_path, &page, error);
  if (!status) status = shoal_file_commit(page, self->texts[3], error);
  shoal_file_free(page);
  shoal_release_free(made);
  self->release_mode = mode_of(path);
  self->page_mode = mode_of(page_path);
  if (!status) self->texts[0] = slurp(path);
  return status;
}

/* Reads what it was not given. */
static void run_job(job *self) {
  shoal_error *error = &self->error;
  const shoal_run run = {.n_threads = 2, .progress = on_progress, .progress_user = self};
  shoal_policy *policy = NULL;
  shoal_table *table = NULL;
  shoal_status status = SHOAL_OK;
  self->thread = pthread_self();
  if (!self->policy) {
    char path[PATH_BYTES];
    path_of("people.csv", path);
    status = shoal_policy_parse(policy_text, sizeof policy_text - 1, NULL, NULL, &policy, error);
    if (!status) status = shoal_policy_set(policy, "algorithm", algorithms[self->number], error);
    if (!status)
      status = shoal_table_read(path, policy, SHOAL_FOR_RELEASE, NULL, &run, &table, error);
  }
  const shoal_policy *used = policy ? policy : self->policy;
  const shoal_table *read = table ? table : self->table;
  if (!status) status = study(self, read, used, &run);
  if (!status) (void)release(self, read, used, &run);
  shoal_table_free(table);
  shoal_policy_free(policy);
}

static void *job_main(void *user) {
  run_job(user);
  return NULL;
}

static void reset(job *self) {
  for (size_t i = 0; i < TEXTS; i++) free(self->texts[i]);
  *self = (job){.number = self->number, .policy = self->policy, .table = self->table};
}

/* ---------------------------------------------------------------- eight jobs */

static void compare(const job *found, const job *expected, mode_t mode) {
  if (found->error.status) fail_msg("job %u: %s", found->number, found->error.message);
  assert_false(found->strayed);
  for (size_t i = 0; i < TEXTS; i++) assert_string_equal(found->texts[i], expected->texts[i]);
  assert_int_equal(found->release_mode, mode);
  assert_int_equal(found->page_mode, mode);
}

static void run_at_once(job *jobs, const job *expected, mode_t mode) {
  pthread_t threads[JOBS];
  for (size_t i = 0; i < JOBS; i++)
    assert_int_equal(pthread_create(&threads[i], NULL, job_main, &jobs[i]), 0);
  for (size_t i = 0; i < JOBS; i++) assert_int_equal(pthread_join(threads[i], NULL), 0);
  for (size_t i = 0; i < JOBS; i++) {
    compare(&jobs[i], &expected[i], mode);
    reset(&jobs[i]);
  }
}

static void eight_jobs_in_eight_threads(void **state UNUSED) {
  static const mode_t masks[] = {077, 022, 0};
  shoal_policy *policy = parse(policy_text);
  shoal_table *table = read_people(policy, SHOAL_FOR_RELEASE);
  job alone[JOBS] = {0}, jobs[JOBS] = {0};
  mode_t before = (mode_t)syscall(SYS_umask, 077);
  for (unsigned i = 0; i < JOBS; i++) {
    jobs[i].number = alone[i].number = i;
    jobs[i].policy = alone[i].policy = i < SHARING ? policy : NULL;
    jobs[i].table = alone[i].table = i < SHARING ? table : NULL;
    run_job(&alone[i]);
    compare(&alone[i], &alone[i], 0600);
  }
  for (size_t i = 0; i < COUNT(masks) * 2; i++) {
    atomic_store(&lacks_unnamed, i % 2);
    (void)syscall(SYS_umask, masks[i / 2]);
    run_at_once(jobs, alone, 0666 & ~masks[i / 2]);
    assert_int_equal(syscall(SYS_umask, masks[i / 2]), masks[i / 2]);
  }
  (void)syscall(SYS_umask, before);
  assert_int_equal(atomic_load(&n_umask_calls), 0);
  for (size_t i = 0; i < JOBS; i++) reset(&alone[i]);
  shoal_table_free(table);
  shoal_policy_free(policy);
}

static int start(void **state) {
  if (make_directory(state)) return 1;
  write_people("people.csv");
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(eight_jobs_in_eight_threads)};
  return cmocka_run_group_tests(tests, start, remove_directory);
}
