/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A release from file to file while the machine fails: each allocation and each system call in
 * turn, under every model and way of writing. Then there is no release, not half of one, and
 * nothing lies beside it; or there is the right one, where the failure could be mended.
 */
#include "lowmem_memory.h"
#include "lowmem_system.h"

#include <dirent.h>
#include <setjmp.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/text.h"
#include "shoal/program.h"
#include "slice.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define UNUSED __attribute__((unused))

/* ---------------------------------------------------------------- what is released */

static const char DATA[] =
    "age,town,note,ill,guard\n"
    "31,a,x,flu,viral\n32,a,\"y,\",hiv,viral\n33,a,z,lung,*\n34,a,x,colon,*\n"
    "41,b,x,flu,lung\n42,b,y,hiv,hiv\n43,b,z,lung,colon\n44,b,,colon,*\n"
    "51,a,x,flu,*\n52,a,y,hiv,*\n53,a,z,lung,*\n54,a,x,colon,*\n55,b,,,\n";

#define ATTRIBUTES                                                                                 \
  "shoal: 1\nattributes:\n"                                                                        \
  "  age: {role: quasi, type: number, hierarchy: {intervals: [10, 20]}}\n"                         \
  "  town: {role: quasi, hierarchy: {top: true}}\n  note: {role: keep}\n  guard: {role: "          \
  "identifier}\n"
#define ILLNESS "  ill: {role: sensitive}\n"
#define TREE                                                                                       \
  "  ill: {role: sensitive, hierarchy: {tree: {viral: [flu, hiv], cancer: [lung, colon]}}}\n"
#define CATEGORIES "  ill: {role: sensitive, categories: [[hiv, lung], [flu, colon]]}\n"
#define METHOD "\nmethod: {seed: 1, max-suppression: 40%"

static const char *const policies[] = {
    ATTRIBUTES ILLNESS "privacy: {k: 2, p: 2}" METHOD "}\n",
    ATTRIBUTES ILLNESS "privacy: {k: 3, p: 2}" METHOD ", suppressed: blank}\n",
    ATTRIBUTES ILLNESS "privacy: {k: 2, models: [l-diversity: {l: 2}, l-diversity: {l: 2, kind: "
                       "entropy}, l-diversity: {l: 2, kind: recursive, c: 3}, alpha-k: {alpha: "
                       "0.5}]}" METHOD "}\n",
    ATTRIBUTES TREE "privacy: {k: 2, models: [extended-p-sensitive: {p: 2}, t-closeness: {t: 0.6, "
                    "distance: hierarchical}]}" METHOD "}\n",
    ATTRIBUTES TREE "privacy: {k: 2, models: [personalized: {column: guard, breach: 0.95}]}" METHOD
                    "}\n",
    ATTRIBUTES CATEGORIES "privacy: {k: 2, models: [p-plus-sensitive: {p: 2}, p-alpha-sensitive: "
                          "{p: 2, alpha: 1}]}" METHOD "}\n",
    ATTRIBUTES CATEGORIES "privacy: {k: 4, models: [balanced-p-plus: {p: 2}, balanced-p-alpha: {p: "
                          "2, alpha: 1}]}" METHOD "}\n",
    ATTRIBUTES ILLNESS "privacy: {k: 4, models: [theta-sensitive: {mu: 0.5}, t-closeness: {t: "
                       "0.9}]}" METHOD "}\n",
    "shoal: 1\nattributes:\n  age: {role: sensitive, type: number}\n"
    "  town: {role: quasi, hierarchy: {top: true}}\n  note: {role: keep}\n"
    "  guard: {role: identifier}\n  ill: {role: keep}\n"
    "privacy: {k: 2, models: [t-closeness: {t: 0.9, distance: ordered}]}" METHOD "}\n",
    ATTRIBUTES ILLNESS "privacy: {k: 3, p: 2}" METHOD ", algorithm: mondrian}\n",
    ATTRIBUTES ILLNESS "privacy: {k: 4, models: [theta-sensitive: {mu: 0.1}]}" METHOD
                       ", algorithm: theta, noise: 40%}\n",
};

/* More than 64 bits of quasi-identifiers, and more values than a word has bits. */
enum { WIDE = 10, WIDE_ROWS = 73 };

static char folder[64], data[96], wide[96], out[96];
static shoal_text wide_policies[3];
static shoal_error error;

static void write_wide_policy(shoal_text *policy, const char *open, const char *item,
                              const char *close) {
  shoal_text_init(policy);
  shoal_text_add(policy, "shoal: 1\nattributes:\n");
  for (unsigned q = 0; q < WIDE; q++)
    shoal_text_print(policy, "  q%u: {role: quasi, hierarchy: {top: true}}\n", q);
  shoal_text_print(policy, "  ill: {role: sensitive%s", open);
  for (unsigned r = 0; *item && r < WIDE_ROWS; r++)
    shoal_text_print(policy, "%s%s%u%s%u]", r ? ", " : "", item, r, *item == 'g' ? ": [i" : ", i",
                     r);
  shoal_text_print(policy, "%s\nmethod: {seed: 1, algorithm: mondrian}\n", close);
}

static bool write_wide(void) {
  FILE *file = fopen(wide, "wb");
  for (unsigned q = 0; file && q < WIDE; q++) (void)fprintf(file, "q%u,", q);
  if (file) (void)fprintf(file, "ill\n");
  for (unsigned r = 0; file && r < WIDE_ROWS; r++) {
    for (unsigned q = 0; q < WIDE; q++) (void)fprintf(file, "%u,", (r * (q + 1) + q) % WIDE_ROWS);
    (void)fprintf(file, "i%u\n", r);
  }
  write_wide_policy(&wide_policies[0], "", "",
                    "}\nprivacy: {k: 2, models: [l-diversity: {l: 2}, l-diversity: {l: 2, kind: "
                    "entropy}, alpha-k: {alpha: 0.5}, t-closeness: {t: 1}, theta-sensitive: {mu: "
                    "0}]}");
  write_wide_policy(&wide_policies[1], ", hierarchy: {tree: {", "g",
                    "}}}\nprivacy: {k: 2, models: [extended-p-sensitive: {p: 2}]}");
  write_wide_policy(&wide_policies[2], ", categories: [", "[x",
                    "]}\nprivacy: {k: 2, models: [p-plus-sensitive: {p: 2}, p-alpha-sensitive: {p: "
                    "2, alpha: 0}, balanced-p-plus: {p: 2}, balanced-p-alpha: {p: 2, alpha: 0}]}");
  return file && fclose(file) == 0 && !wide_policies[0].failed && !wide_policies[1].failed &&
         !wide_policies[2].failed;
}

static int start(void **state UNUSED) {
  (void)snprintf(folder, sizeof folder, "/tmp/shoal-scarce-XXXXXX");
  if (!mkdtemp(folder)) return -1;
  (void)snprintf(data, sizeof data, "%s/data.csv", folder);
  (void)snprintf(wide, sizeof wide, "%s/wide.csv", folder);
  (void)snprintf(out, sizeof out, "%s/out.csv", folder);
  if (!write_wide()) return -1;
  FILE *file = fopen(data, "wb");
  return file && fputs(DATA, file) >= 0 && fclose(file) == 0 ? 0 : -1;
}

static int end(void **state UNUSED) {
  (void)unlink(out);
  for (size_t i = 0; i < COUNT(wide_policies); i++) shoal_text_reset(&wide_policies[i]);
  return unlink(data) || unlink(wide) || rmdir(folder);
}

/* How it is released. */
typedef struct way {
  const char *policy, *from; /* NULL: the small table */
  uint64_t memory_bytes;
  bool keep_order;
  const char *to;
} way;

static shoal_status release(const way *w) {
  shoal_run run = {.n_threads = 1, .quick = true, .memory_bytes = w->memory_bytes};
  shoal_write_options options = {.keep_order = w->keep_order};
  shoal_policy *policy = NULL;
  shoal_table *table = NULL;
  shoal_release *made = NULL;
  error = (shoal_error){0};
  shoal_status status =
      shoal_policy_parse(w->policy, strlen(w->policy), "policy", folder, &policy, &error);
  if (status == SHOAL_OK)
    status = shoal_table_read(w->from ? w->from : data, policy, SHOAL_FOR_RELEASE, NULL, &run,
                              &table, &error);
  if (status == SHOAL_OK) status = shoal_anonymize(table, policy, &run, &made, &error);
  if (status == SHOAL_OK) status = shoal_release_write(made, w->to, &options, &run, &error);
  shoal_release_free(made);
  shoal_table_free(table);
  shoal_policy_free(policy);
  return status;
}

/* What stands under a name; "": nothing does. */
static void contents(const char *path, char bytes[4096]) {
  FILE *file = fopen(path, "rb");
  size_t n = file ? fread(bytes, 1, 4095, file) : 0;
  bytes[n] = '\0';
  if (file) (void)fclose(file);
}

static unsigned names_in_folder(void) {
  unsigned n = 0;
  DIR *names = opendir(folder);
  assert_non_null(names);
  while (readdir(names)) n++;
  (void)closedir(names);
  return n - 3; /* besides '.', '..' and one of the two tables */
}

/* After a run in which something failed: the release is `expected`, or there is none and a reason.
 */
static void is_whole_or_absent(shoal_status status, const char *expected) {
  char bytes[4096];
  contents(out, bytes);
  if (status == SHOAL_OK) {
    if (expected) assert_string_equal(bytes, expected);
    assert_true(strstr(bytes, ",ill\n") && bytes[strlen(bytes) - 1] == '\n');
    assert_int_equal(unlink(out), 0);
  } else {
    assert_string_equal(bytes, "");
    assert_true(error.message[0] != '\0');
    assert_int_equal(error.status, status);
  }
  assert_int_equal(names_in_folder(), 1);
}

static void succeeds(const way *w, char expected[4096]) {
  allocations_left = -1;
  counts_calls = false;
  if (release(w) != SHOAL_OK) fail_msg("%s\n%s", error.message, w->policy);
  contents(w->to, expected);
  assert_int_equal(unlink(w->to), 0);
}

/* ---------------------------------------------------------------- each failure in turn */

static long fail_each_allocation(const way *w, bool exact) {
  char expected[4096];
  succeeds(w, expected);
  fails_once = true;
  long n = 0;
  for (bool ended = false; !ended; n += w->from ? 1 + n / SLICE(50, 10) : SLICE(1, 1 + n / 10)) {
    /* of many, not all */
    allocations_left = n;
    shoal_status status = release(w);
    ended = allocations_left >= 0; /* there were not so many */
    allocations_left = -1;
    is_whole_or_absent(status, exact ? expected : NULL);
    assert_true(status == SHOAL_OK || status == SHOAL_FAILED || status == SHOAL_NO_MEMORY ||
                (!exact && status == SHOAL_REFUSED));
  }
  return n;
}

static void every_allocation_may_fail(void **state UNUSED) {
  for (size_t i = 0; i < COUNT(policies); i++) {
    way w = {.policy = policies[i], .to = out};
    bool exact = !strstr(w.policy, "models:");
    assert_true(fail_each_allocation(&w, exact) > 50);
  }
}

static void every_allocation_of_the_second_pass_may_fail(void **state UNUSED) {
  for (int keep_order = 0; keep_order < 2; keep_order++) {
    way w = {.policy = policies[0], .memory_bytes = 1, .keep_order = keep_order, .to = out};
    assert_true(fail_each_allocation(&w, true) > 50);
  }
}

static void keys_of_many_words_and_values_too(void **state UNUSED) {
  for (size_t i = 0; i < COUNT(wide_policies); i++) {
    way w = {.policy = wide_policies[i].bytes, .from = wide, .to = out};
    assert_true(fail_each_allocation(&w, false) > 50);
  }
}

static long fail_each_call(const way *w, int code, const char *expected) {
  long n = 0;
  failing_code = code;
  call_that_halts = 0;
  for (bool ended = false; !ended;) {
    call_that_fails = ++n;
    n_calls = 0;
    counts_calls = true;
    shoal_status status = release(w);
    counts_calls = false;
    ended = n_calls < n;
    if (w->to == out) is_whole_or_absent(status, expected);
    else assert_int_equal(names_in_folder(), 1);
  }
  return n;
}

/* Where a call gives or takes but half of the bytes, the rest follows. */
static void halt_each_call(const way *w, const char *expected) {
  long n = 0;
  call_that_fails = 0;
  for (bool ended = false; !ended;) {
    call_that_halts = ++n;
    n_calls = 0;
    counts_calls = true;
    shoal_status status = release(w);
    counts_calls = false;
    ended = n_calls < n;
    assert_int_equal(status, SHOAL_OK);
    is_whole_or_absent(status, expected);
  }
}

static void every_system_call_may_fail(void **state UNUSED) {
  static const int codes[] = {ENOSPC, EINTR, EEXIST, 0};
  char expected[4096];
  for (unsigned i = 0; i < 8; i++) {
    way w = {
        .policy = policies[i & 4 ? 4 : 0], .to = out, .keep_order = i & 2, .memory_bytes = i & 1};
    succeeds(&w, expected);
    for (int unnamed = 0; unnamed < 2; unnamed++) {
      lacks_unnamed = unnamed;
      for (size_t c = 0; c < COUNT(codes); c++)
        assert_true(fail_each_call(&w, codes[c], expected) > 8);
      halt_each_call(&w, expected);
    }
  }
}

static void compressed_releases_too(void **state UNUSED) {
  static const char *const ends[] = {".gz", ".zst"};
  char path[128], unpacked[4096];
  for (size_t i = 0; i < COUNT(ends); i++) {
    (void)snprintf(path, sizeof path, "%s%s", out, ends[i]);
    way w = {.policy = policies[0], .to = path};
    succeeds(&w, unpacked);
    for (long n = 1, ended = 0; !ended; n++) {
      call_that_fails = n;
      failing_code = EIO;
      n_calls = 0;
      counts_calls = true;
      shoal_status status = release(&w);
      counts_calls = false;
      ended = n_calls < n;
      assert_int_equal(access(path, F_OK) == 0, status == SHOAL_OK);
      (void)unlink(path);
      assert_int_equal(names_in_folder(), 1);
    }
  }
}

/* Streams are copied to at the end; a name may be refused again and again. */
static void streams_and_names_may_fail(void **state UNUSED) {
  static const int codes[] = {EIO, EINTR, EEXIST, ENOTDIR, EISDIR, ENAMETOOLONG};
  static const char *const positions[] = {"/tmp", ""};
  char expected[4096];
  way w = {.policy = policies[0], .to = out, .keep_order = true};
  succeeds(&w, expected);
  for (size_t i = 0; i < COUNT(positions) * COUNT(codes); i++) {
    assert_int_equal(setenv("TMPDIR", positions[i % 2], 1), 0);
    way stream = {.policy = policies[0], .to = "/dev/null"};
    lacks_unnamed = i % 2;
    (void)fail_each_call(&stream, codes[i / 2], "");
    fails_ever_after = true;
    (void)fail_each_call(&w, codes[i / 2] == EINTR ? EEXIST : codes[i / 2], expected);
    fails_ever_after = false;
  }
  lacks_unnamed = false;
  assert_int_equal(unsetenv("TMPDIR"), 0);
  way full = {.policy = policies[0], .to = "/dev/full"};
  assert_int_equal(release(&full), SHOAL_FAILED);
}

/* A text file, written by the same means. */
static shoal_status write_text(const char *text) {
  shoal_file *file = NULL;
  shoal_status status = shoal_file_begin(out, &file, &error);
  if (status == SHOAL_OK) status = shoal_file_commit(file, text, &error);
  shoal_file_free(file);
  return status;
}

static void texts_may_fail(void **state UNUSED) {
  static const char *const texts[] = {"", ",ill\n", ",ill\na"}, *const stand[] = {"\n", ",ill\n",
                                                                                  ",ill\na\n"};
  for (size_t i = 0; i < COUNT(texts); i++)
    for (long n = 1, ended = 0; !ended; n++) {
      char bytes[4096];
      n_calls = 0;
      call_that_fails = n;
      failing_code = EIO;
      counts_calls = true;
      shoal_status status = write_text(texts[i]);
      counts_calls = false;
      ended = n_calls < n;
      contents(out, bytes);
      assert_string_equal(bytes, status == SHOAL_OK ? stand[i] : "");
      (void)unlink(out);
      assert_int_equal(names_in_folder(), 1);
    }
  fails_once = true;
  allocations_left = 0;
  assert_int_equal(write_text("a"), SHOAL_NO_MEMORY);
  allocations_left = -1;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_allocation_may_fail),
      cmocka_unit_test(every_allocation_of_the_second_pass_may_fail),
      cmocka_unit_test(keys_of_many_words_and_values_too),
      cmocka_unit_test(every_system_call_may_fail),
      cmocka_unit_test(compressed_releases_too),
      cmocka_unit_test(streams_and_names_may_fail),
      cmocka_unit_test(texts_may_fail),
  };
  return cmocka_run_group_tests(tests, start, end);
}
