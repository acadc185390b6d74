/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz target: the promise itself. Bytes become a small table, a policy with hierarchies and an
 * algorithm (make.h); `anonymize` writes a release, which the verifier judges before it gets its
 * name. Whatever stands there is then judged again here, by comparing every row with every other:
 * classes of k rows, p distinct sensitive values, no row that the table does not have. A release
 * that the verifier refuses is a finding too: the engine was wrong.
 */
#include <fcntl.h>

#include "make.h"
#include "reference.h"

static reference release;
static char release_bytes[MAX_BYTES];

/* Are two rows equal in all quasi-identifiers? */
static bool same_class(const problem *made, size_t a, size_t b) {
  for (size_t q = 0; q < made->n_quasi; q++) {
    size_t cell = a * made->n_released + q, other = b * made->n_released + q;
    const char *bytes = release.bytes + release.begin[other];
    if (!reference_cell_is(&release, cell, bytes, release.end[other] - release.begin[other]))
      return false;
  }
  return true;
}

/* The release's cell is a sensitive value of the problem: which one? 0 is missing. */
static unsigned value_of(size_t cell) {
  if (release.begin[cell] == release.end[cell]) return 0;
  const char *word = release.bytes + release.begin[cell];
  MUST(release.end[cell] - release.begin[cell] == 2 && word[0] == 's');
  return (unsigned)(word[1] - 'a') + 1;
}

/* k rows and p distinct values in the class of each row. */
static void judge_row(const problem *made, size_t row) {
  size_t size = 0, distinct = 0;
  bool seen[N_VALUES + 1] = {false};
  for (size_t other = 1; other < release.n_rows; other++) {
    if (!same_class(made, row, other)) continue;
    size++;
    unsigned value = value_of(other * made->n_released + made->n_quasi);
    if (value && !seen[value]) distinct++;
    seen[value] = true;
  }
  MUST(size >= made->k);
  MUST(distinct >= made->p);
}

/* No sensitive value more often than in the table, except in noise rows; and no more rows. */
static void judge_values(const problem *made) {
  unsigned left[N_VALUES + 1] = {0}, noise = made->noise;
  for (size_t row = 0; row < made->n_rows; row++) left[made->sensitive[row]]++;
  for (size_t row = 1; row < release.n_rows; row++) {
    unsigned value = value_of(row * made->n_released + made->n_quasi);
    if (left[value]) left[value]--;
    else MUST(noise-- > 0);
  }
}

static void judge(const problem *made, const char *path) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  MUST(fd >= 0);
  ssize_t size = read(fd, release_bytes, sizeof release_bytes);
  (void)close(fd);
  MUST(size > 0 && size < MAX_BYTES);
  MUST(reference_read(release_bytes, (size_t)size, ',', &release));
  MUST(release.n_rows > 1 && reference_is_even(&release, made->n_released));
  for (size_t row = 1; row < release.n_rows; row++) judge_row(made, row);
  judge_values(made);
}

/* What anybody may do with the release next: measure it. */
static void measure(const shoal_table *original, const shoal_policy *policy, const char *path,
                    const shoal_run *run) {
  shoal_error error = {0};
  shoal_table *masked = NULL;
  shoal_result *result = NULL;
  const shoal_measure_options options = {.has_queries = true, .n_queries = 5};
  shoal_status status = shoal_table_read(path, policy, SHOAL_FOR_REVIEW, ",", run, &masked, &error);
  if (status == SHOAL_OK)
    status = shoal_measure(original, masked, policy, &options, run, &result, &error);
  if (status != SHOAL_OK) (void)fprintf(stderr, "measure: %s\n", error.message);
  MUST(status == SHOAL_OK);
  shoal_result_free(result);
  shoal_table_free(masked);
}

static void complain(const problem *made, const char *what, const shoal_error *error) {
  (void)fprintf(stderr, "%s: %s\n%s\n%s", what, error->message, made->yaml, made->csv);
}

static void run_problem(const problem *made, const shoal_table *table, const shoal_policy *policy) {
  char path[64];
  (void)snprintf(path, sizeof path, "/dev/shm/shoal-fuzz-%d.csv", (int)getpid());
  const shoal_run run = {.n_threads = made->n_threads};
  const shoal_write_options options = {.keep_order = made->keep_order};
  shoal_error error = {0};
  shoal_release *made_release = NULL;
  shoal_status status = shoal_anonymize(table, policy, &run, &made_release, &error);
  if (status != SHOAL_OK && status != SHOAL_REFUSED && status != SHOAL_BAD_INPUT &&
      status != SHOAL_BAD_POLICY)
    complain(made, "anonymize", &error);
  MUST(status == SHOAL_OK || status == SHOAL_REFUSED || status == SHOAL_BAD_INPUT ||
       status == SHOAL_BAD_POLICY);
  if (status == SHOAL_OK) {
    status = shoal_release_write(made_release, path, &options, &run, &error);
    if (status != SHOAL_OK) complain(made, "write", &error);
    MUST(status == SHOAL_OK);
    judge(made, path);
    if (made->measured) measure(table, policy, path, &run);
    MUST(unlink(path) == 0);
  }
  shoal_release_free(made_release);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static problem made;
  if (size < 8 || size > 256) return 0;
  problem_make(&made, (pieces){data, size});
  shoal_error error = {0};
  shoal_policy *policy = NULL;
  shoal_status status =
      shoal_policy_parse(made.yaml, strlen(made.yaml), "policy.yaml", ".", &policy, &error);
  if (status != SHOAL_OK) complain(&made, "policy", &error);
  MUST(status == SHOAL_OK);
  memory_file file = memory_file_new(made.csv, strlen(made.csv));
  shoal_table *table = NULL;
  const shoal_run run = {.n_threads = 1, .memory_bytes = made.memory_bytes};
  status = shoal_table_read(file.path, policy, SHOAL_FOR_RELEASE, ",", &run, &table, &error);
  if (status != SHOAL_OK) complain(&made, "table", &error);
  MUST(status == SHOAL_OK);
  run_problem(&made, table, policy);
  shoal_table_free(table);
  shoal_policy_free(policy);
  (void)close(file.fd);
  return 0;
}
