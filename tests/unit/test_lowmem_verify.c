/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The verifier while the machine fails, and under claims that are not what they should be: every
 * model with each allocation failing in turn, with each parameter left out, spelled wrong, given
 * twice or too large, and with knowledge that lacks something. It never proves what it could not
 * look at: each such run ends as a failure. The spool of shuffled rows likewise.
 */
#include "lowmem_memory.h"
#include "lowmem_system.h"

#include <limits.h>
#include <setjmp.h>
#include <stddef.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "base/text.h"
#include "verify/verify.h"
#include "verify_request.h"
#include "write/spill.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define UNUSED __attribute__((unused))

enum { N_VALUES = 120, N_CLASSES = 40 };

/* ---------------------------------------------------------------- a release that holds */

static char names[N_VALUES][8], nodes[N_VALUES / 4][8];
static const char *paths[N_VALUES][3];
static shoal_verify_value values[N_VALUES];
static const char *const columns[] = {"age", "ill"};
static const char *const missing[] = {"?"};
static const char *protect[] = {"n0", "n1"};
static shoal_verify_knowledge known;
static shoal_verify_parameter parameters[5];
static shoal_verify_model model;
static shoal_verify_request request;
static shoal_error error;
static shoal_text release, guards;

/* The models, each with parameters that the release below satisfies. */
static const struct asked {
  const char *name;
  shoal_verify_parameter parameters[3];
  size_t n_parameters, n_optional; /* the last ones have a default */
} models[] = {
    {"k-anonymity", {{"k", "12"}}, 1, 0},
    {"p-sensitive", {{"p", "3"}}, 1, 0},
    {"extended-p-sensitive", {{"p", "2"}}, 1, 0},
    {"p-plus-sensitive", {{"p", "2"}}, 1, 0},
    {"p-alpha-sensitive", {{"p", "2"}, {"alpha", "1"}}, 2, 0},
    {"balanced-p-plus", {{"p", "2"}}, 1, 0},
    {"balanced-p-alpha", {{"p", "2"}, {"alpha", "1"}}, 2, 0},
    {"theta-sensitive", {{"mu", "0.01"}}, 1, 0},
    {"l-diversity", {{"l", "12"}, {"kind", "entropy"}}, 2, 1},
    {"l-diversity", {{"l", "2"}, {"c", "3"}, {"kind", "recursive"}}, 3, 1},
    {"t-closeness", {{"t", "0.95"}, {"distance", "equal"}}, 2, 1},
    {"t-closeness", {{"t", "0.95"}, {"distance", "hierarchical"}}, 2, 1},
    {"alpha-k", {{"alpha", "0.5"}}, 1, 0},
    {"personalized", {{"column", "guard"}, {"breach", "0.9"}}, 2, 0},
};

static int start(void **state UNUSED) {
  for (unsigned v = 0; v < N_VALUES; v++) {
    (void)snprintf(names[v], sizeof names[v], "v%u", v);
    (void)snprintf(nodes[v / 4], sizeof nodes[v / 4], "n%u", v / 4);
    paths[v][0] = nodes[v / 4];
    paths[v][1] = "*";
    values[v] = (shoal_verify_value){
        .value = names[v], .path = paths[v], .category = v % 2, .n_original = N_CLASSES / 10};
  }
  shoal_text_init(&release);
  shoal_text_init(&guards);
  shoal_text_add(&release, "age,ill\n");
  shoal_text_add(&guards, "guard\n");
  for (unsigned c = 0; c < N_CLASSES; c++) /* twelve values each, so that entropy is a tie */
    for (unsigned i = 0; i < 12; i++) {
      shoal_text_print(&release, "%u,v%u\n", c, (c * 12 + i) % N_VALUES);
      shoal_text_print(&guards, "n%u\n", i % 3);
    }
  return release.failed || guards.failed;
}

static int end(void **state UNUSED) {
  shoal_text_reset(&release);
  shoal_text_reset(&guards);
  return 0;
}

static void ask(const struct asked *asked) {
  known = (shoal_verify_knowledge){.values = values,
                                   .n_values = N_VALUES,
                                   .protect = protect,
                                   .n_protect = 2,
                                   .n_categories = 2};
  memcpy(parameters, asked->parameters, sizeof asked->parameters);
  model = (shoal_verify_model){
      .name = asked->name, .parameters = parameters, .n_parameters = asked->n_parameters};
  request = request_on(columns, 2, &model);
  request.attributes = &known;
  request.k = 12;
  request.missing = missing;
  request.n_missing = 1;
  request.n_rows = N_CLASSES * 12;
}

static int file_of(const shoal_text *text) {
  int fd = memfd_create("test", 0);
  assert_true(fd >= 0);
  assert_int_equal(write(fd, text->bytes, text->size_bytes), (ssize_t)text->size_bytes);
  return fd;
}

static shoal_status prove_with(const shoal_run *run, const shoal_text *text) {
  shoal_verify_finding finding;
  bool guarded = !strcmp(model.name, "personalized");
  int fd = file_of(text);
  request.guards_fd = guarded ? file_of(&guards) : -1;
  error = (shoal_error){0};
  shoal_status status = shoal_verify(fd, &request, run, &finding, &error);
  if (guarded) assert_int_equal(close(request.guards_fd), 0);
  assert_int_equal(close(fd), 0);
  return status;
}

static shoal_status prove(void) { return prove_with(NULL, &release); }

static void holds(const struct asked *asked) {
  ask(asked);
  if (prove() != SHOAL_OK) fail_msg("%s: %s", asked->name, error.message);
}

static void is_not_proven(const char *why) {
  shoal_status status = prove();
  if (status != SHOAL_FAILED) fail_msg("%s with %s: status %d", model.name, why, (int)status);
  assert_true(error.message[0] != '\0');
}

/* ---------------------------------------------------------------- memory */

static long fail_each_allocation(const shoal_run *run, const shoal_text *text, long most) {
  fails_once = true;
  long n = 0;
  for (bool ended = false; !ended && n < most; n++) {
    allocations_left = n;
    shoal_status status = prove_with(run, text);
    ended = allocations_left >= 0;
    allocations_left = -1;
    if (run && status == SHOAL_OK) continue; /* where parts fail, one reader takes over */
    assert_int_equal(status, ended ? SHOAL_OK : SHOAL_FAILED);
  }
  return n;
}

static void without_memory_nothing_is_proven(void **state UNUSED) {
  for (size_t m = 0; m < COUNT(models); m++) {
    holds(&models[m]);
    assert_true(fail_each_allocation(NULL, &release, LONG_MAX) > 15);
  }
}

/* A release large enough to be read in parts, with values enough that all tables grow. */
static void parts_of_a_file_may_fail(void **state UNUSED) {
  static const shoal_run two = {.n_threads = 2};
  shoal_text large;
  shoal_text_init(&large);
  shoal_text_add(&large, "age,ill\n");
  unsigned n_rows = 0;
  for (; large.size_bytes < 9u << 20 || n_rows % 12; n_rows++) /* long labels: few rows do */
    shoal_text_print(&large, "%0500u,v%u\n", n_rows / 12, n_rows % 12);
  ask(&models[0]);
  assert_false(large.failed);
  request.n_rows = n_rows;
  assert_int_equal(prove_with(&two, &large), SHOAL_OK);
  assert_true(fail_each_allocation(&two, &large, 25) == 25);
  for (long n = 1; n < 12; n++) { /* what cannot be read is not proven either, or read again */
    n_calls = 0;
    call_that_fails = n;
    failing_code = EIO;
    int fd = file_of(&large);
    shoal_verify_finding finding = {0};
    counts_calls = true;
    shoal_status status = shoal_verify(fd, &request, &two, &finding, &error);
    counts_calls = false;
    assert_true(status == SHOAL_FAILED || finding.n_rows == n_rows);
    assert_int_equal(close(fd), 0);
  }
  shoal_text_reset(&large);
}

/* ---------------------------------------------------------------- parameters and knowledge */

static void a_parameter_that_is_not_right_proves_nothing(void **state UNUSED) {
  static const char *const wrong[] = {
      "", "x", "-1", "0x1", "1e400", "99999999999999999999999", "\xff", "18446744073709551615.5"};
  for (size_t m = 0; m < COUNT(models); m++)
    for (size_t i = 0; i < models[m].n_parameters; i++) {
      for (size_t w = 0; w < COUNT(wrong); w++) {
        ask(&models[m]);
        parameters[i].value = wrong[w];
        is_not_proven(wrong[w]);
      }
      ask(&models[m]);
      parameters[model.n_parameters++] = parameters[i];
      is_not_proven("a parameter given twice");
      if (i >= models[m].n_parameters - models[m].n_optional) continue;
      ask(&models[m]);
      parameters[i].name = "other";
      is_not_proven("a parameter left out");
    }
}

static bool needs_values(const char *name) {
  return strstr(name, "plus") || strstr(name, "alpha-s") || strstr(name, "balanced") ||
         strstr(name, "extended") || strstr(name, "closeness") || strstr(name, "personalized");
}

static void knowledge_that_lacks_something_proves_nothing(void **state UNUSED) {
  for (size_t m = 0; m < COUNT(models); m++) {
    if (!needs_values(models[m].name)) continue;
    ask(&models[m]);
    request.attributes = NULL;
    is_not_proven("nothing known");
    ask(&models[m]);
    known.n_values--;
    is_not_proven("a value that is not known");
    ask(&models[m]);
    known.values = (const shoal_verify_value *)memcpy(malloc(sizeof values), values, sizeof values);
    ((shoal_verify_value *)(uintptr_t)known.values)[3].value = "v4"; /* twice */
    is_not_proven("a value known twice");
    free((void *)(uintptr_t)known.values);
  }
}

static void a_category_out_of_range_proves_nothing(void **state UNUSED) {
  for (size_t m = 3; m < 7; m++)
    for (int64_t category = -1; category < 3; category += 3) {
      ask(&models[m]);
      int64_t was = values[5].category;
      values[5].category = category;
      is_not_proven("a value of no category");
      values[5].category = was;
    }
}

static void a_delimiter_that_is_none_proves_nothing(void **state UNUSED) {
  static const char delimiters[] = {'\0', '"', '\r', '\n'};
  for (size_t i = 0; i < COUNT(delimiters); i++) {
    ask(&models[0]);
    request.delimiter = delimiters[i];
    is_not_proven("a delimiter that is none");
  }
}

/* ---------------------------------------------------------------- the spool */

enum { ROW_BYTES = 20000, LONG_ROW_BYTES = 50000 };

/* Two rows of a bucket's buffer, one that does not fit into it, one more; and what comes back. */
static shoal_status spill_rows(char *row) {
  int fd = memfd_create("spool", 0);
  assert_true(fd >= 0);
  shoal_spill *spill = NULL;
  shoal_bytes rows = {0};
  uint32_t n_rows = 0, size;
  counts_calls = true;
  shoal_status status = shoal_spill_new(fd, 2, &spill, &error);
  static const uint32_t sizes[] = {ROW_BYTES, ROW_BYTES, LONG_ROW_BYTES, 10};
  for (size_t i = 0; status == SHOAL_OK && i < COUNT(sizes); i++)
    status = shoal_spill_add(spill, 1, row, sizes[i], &error);
  if (status == SHOAL_OK) status = shoal_spill_load(spill, 1, &rows, &n_rows, &error);
  counts_calls = false;
  size_t at = 0;
  for (size_t i = 0; status == SHOAL_OK && i < COUNT(sizes); i++) {
    memcpy(&size, rows.bytes + at, sizeof size);
    assert_int_equal(size, sizes[i]);
    assert_memory_equal(rows.bytes + at + sizeof size, row, size);
    at += sizeof size + size;
  }
  if (status == SHOAL_OK) assert_true(n_rows == COUNT(sizes) && at == rows.size);
  shoal_spill_free(spill);
  free(rows.bytes);
  assert_int_equal(close(fd), 0);
  return status;
}

static void spooled_rows_come_back_or_a_failure_is_told(void **state UNUSED) {
  static const int codes[] = {EIO, EINTR, 0};
  char *row = malloc(LONG_ROW_BYTES);
  assert_non_null(row);
  for (size_t i = 0; i < LONG_ROW_BYTES; i++) row[i] = (char)(i * i % 251);
  call_that_fails = 0;
  assert_int_equal(spill_rows(row), SHOAL_OK);
  for (size_t c = 0; c < COUNT(codes); c++)
    for (long n = 1, ended = 0; !ended; n++) {
      n_calls = 0;
      call_that_fails = n;
      failing_code = codes[c];
      shoal_status status = spill_rows(row);
      ended = n_calls < n;
      assert_int_equal(status, ended || codes[c] == EINTR ? SHOAL_OK : SHOAL_FAILED);
    }
  call_that_fails = 0;
  fails_once = true;
  for (long n = 0, ended = 0; !ended; n++) {
    allocations_left = n;
    shoal_status status = spill_rows(row);
    ended = allocations_left >= 0;
    allocations_left = -1;
    assert_int_equal(status, ended ? SHOAL_OK : SHOAL_FAILED);
  }
  free(row);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(without_memory_nothing_is_proven),
      cmocka_unit_test(parts_of_a_file_may_fail),
      cmocka_unit_test(a_parameter_that_is_not_right_proves_nothing),
      cmocka_unit_test(knowledge_that_lacks_something_proves_nothing),
      cmocka_unit_test(a_category_out_of_range_proves_nothing),
      cmocka_unit_test(a_delimiter_that_is_none_proves_nothing),
      cmocka_unit_test(spooled_rows_come_back_or_a_failure_is_told),
  };
  return cmocka_run_group_tests(tests, start, end);
}
