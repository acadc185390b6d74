/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every job of the library while memory runs out: policies of every kind, tables from files and
 * from memory, every algorithm, command and form of result. An allocation fails once for each way
 * that leads to it (the calls on the stack); afterwards the answer is the right one, or there is
 * none, with a reason, and no file is left. A job that is stopped at any moment ends as stopped. No
 * answer depends on the key of the hash tables.
 */
#define SCARCE_ARENAS
#include "lowmem_memory.h"

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

#include "base/hash.h"
#include "lowmem_jobs.h"

/* There is no need to wait for the disk. */
int fsync(int fd) { return fcntl(fd, F_GETFD) < 0 ? -1 : 0; }

/* ---------------------------------------------------------------- the files */

static int start(void **state UNUSED) {
  (void)snprintf(folder, sizeof folder, "/tmp/shoal-scarce-XXXXXX");
  if (!mkdtemp(folder)) return -1;
  (void)snprintf(made, sizeof made, "%s/out.csv", folder);
  for (size_t i = 0; i < COUNT(files); i++) {
    FILE *file = fopen(path_of(files[i].name), "wb");
    if (!file || fputs(files[i].text, file) < 0 || fclose(file)) return -1;
  }
  json_set_alloc_funcs(lowmem_malloc, free);
  return 0;
}

static int end(void **state UNUSED) {
  for (size_t i = 0; i < COUNT(files); i++)
    if (unlink(path_of(files[i].name))) return -1;
  return rmdir(folder);
}

static unsigned names_in_folder(void) {
  unsigned n = 0;
  DIR *names = opendir(folder);
  assert_non_null(names);
  while (readdir(names)) n++;
  (void)closedir(names);
  return n - 2; /* besides '.' and '..' */
}

/* The answer is long: says where it differs. */
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

/* ---------------------------------------------------------------- which moments to strike at */

enum { FEW_CALLS = 6, MANY_CALLS = 32, N_SEEN = 1 << 16, MAX_NEW = 1 << 13 };
static uint64_t seen[N_SEEN];
static size_t n_seen;
static long n_moments, new_ones[MAX_NEW];
static size_t n_new;

/* Is it the first time that these calls lead here? SHOAL_LONG=1 tells more ways apart. */
static void note_way(void) {
  void *calls[MANY_CALLS];
  int n = backtrace(calls, getenv("SHOAL_LONG") ? MANY_CALLS : FEW_CALLS);
  uint64_t hash = 14695981039346656037U;
  for (int i = 0; i < n; i++) hash = (hash ^ (uint64_t)(uintptr_t)calls[i]) * 1099511628211U;
  hash |= 1;
  size_t slot = (size_t)(hash >> 20) % N_SEEN;
  while (seen[slot] && seen[slot] != hash) slot = (slot + 1) % N_SEEN;
  if (!seen[slot] && n_new < MAX_NEW && n_seen < N_SEEN / 2) {
    seen[slot] = hash;
    n_seen++;
    new_ones[n_new++] = n_moments;
  }
  n_moments++;
}

static bool may_end(const job *j, int stage, shoal_status status) {
  if (status == SHOAL_REFUSED) return stage == ACTS && (j->inexact || j->refused);
  return status == SHOAL_OK || status == SHOAL_FAILED || status == SHOAL_NO_MEMORY;
}

static void allocations_may_fail(const job *j, int stage) {
  n_moments = 0;
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
  assert_true(n_seen > 1000);
}

/* Two threads make allocations in an order of chance: some of them fail. */
static void strike_at_random(const job *j, int stage) {
  n_threads = 2;
  for (long n = 1; n < 300; n += n + 7) {
    fails_once = true;
    allocations_left = n;
    shoal_status status = judged(j, stage, NULL);
    assert_true(may_end(j, stage, status));
    undo(stage);
  }
  n_threads = 1;
}

static void allocations_of_threads_may_fail(void **state UNUSED) { each_stage(strike_at_random); }

/* At every place that reports how far the job is. */
static void stop_each_time(const job *j, int stage) {
  n_moments = 0;
  n_new = 0;
  report_is_made = note_way;
  (void)judged(j, stage, NULL);
  report_is_made = NULL;
  for (size_t i = 0; i < n_new; i++) {
    undo(stage);
    reports_left = new_ones[i];
    assert_int_equal(judged(j, stage, NULL), SHOAL_CANCELLED);
  }
}

static void a_job_can_be_stopped_at_any_moment(void **state UNUSED) { each_stage(stop_each_time); }

/*
 * With a factor of 0 all words have the same hash, and their tables become lists. Hashes of bytes
 * may not all be equal: repeated identifiers are recognized by them (table/merge.c).
 */
static void repeat_with_other_hashes(const job *j, int stage) {
  const shoal_hash_keys key = shoal_hash_key;
  shoal_status status = judged(j, stage, NULL);
  char *expected = strdup(answer.bytes ? answer.bytes : "");
  assert_non_null(expected);
  for (uint64_t seed = 0; seed < 3; seed++) {
    undo(READS);
    shoal_hash_key_seed(seed);
    if (seed == 0) shoal_hash_key.factor[0] = shoal_hash_key.narrow_factor = 0;
    for (int before = 0; before < stage; before++)
      if (j->of->stages[before]) assert_int_equal(j->of->stages[before](j), SHOAL_OK);
    assert_int_equal(judged(j, stage, expected), status);
  }
  undo(READS); /* no table with other hashes remains */
  shoal_hash_key = key;
  for (int before = 0; before < stage; before++)
    if (j->of->stages[before]) assert_int_equal(j->of->stages[before](j), SHOAL_OK);
  free(expected);
}

static void no_answer_depends_on_the_hash_key(void **state UNUSED) {
  each_stage(repeat_with_other_hashes);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_way_to_an_allocation_may_fail),
      cmocka_unit_test(allocations_of_threads_may_fail),
      cmocka_unit_test(a_job_can_be_stopped_at_any_moment),
      cmocka_unit_test(no_answer_depends_on_the_hash_key),
  };
  int failed = cmocka_run_group_tests(tests, start, end);
  shoal_text_reset(&answer);
  return failed;
}
