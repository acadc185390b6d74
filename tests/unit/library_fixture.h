/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the tests of the library share: a directory of their own, a table of 120 people, and
 * policies that use its columns differently. They see only shoal.h.
 */
#ifndef SHOAL_TESTS_LIBRARY_FIXTURE_H
#define SHOAL_TESTS_LIBRARY_FIXTURE_H

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <shoal/program.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define UNUSED __attribute__((unused))

enum { N_PEOPLE = 120, PATH_BYTES = 128 };

static char directory[64];

static inline int make_directory(void **state UNUSED) {
  (void)snprintf(directory, sizeof directory, "/tmp/shoal-library-XXXXXX");
  return !mkdtemp(directory);
}

static inline int remove_directory(void **state UNUSED) {
  DIR *open = opendir(directory);
  for (const struct dirent *entry = open ? readdir(open) : NULL; entry; entry = readdir(open))
    if (entry->d_name[0] != '.' || entry->d_name[1] == 's')
      (void)unlinkat(dirfd(open), entry->d_name, 0);
  if (open) (void)closedir(open);
  return rmdir(directory);
}

static inline void path_of(const char *name, char path[PATH_BYTES]) {
  (void)snprintf(path, PATH_BYTES, "%s/%s", directory, name);
}

/* The whole file; free it. */
static inline char *slurp(const char *path) {
  FILE *file = fopen(path, "rb");
  assert_non_null(file);
  char *text = calloc(1, 1 << 20);
  assert_non_null(text);
  size_t size = fread(text, 1, (1 << 20) - 1, file);
  assert_true(size < (1 << 20) - 1 && fclose(file) == 0);
  return text;
}

/* Names repeat, and some cells are empty. */
static inline void write_people(const char *name) {
  static const char *const towns[] = {"a1", "a1", "a2", "b1", "b2", "b2", ""};
  static const char *const illnesses[] = {"flu", "cold", "asthma", "flu", "gout"};
  char path[PATH_BYTES];
  path_of(name, path);
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  (void)fputs("name,age,town,illness,ward,wish\n", file);
  for (unsigned i = 0; i < N_PEOPLE; i++)
    (void)fprintf(file, "n%u,%u,%s,%s,w%u,%s\n", i % 110, 20 + i * 7 % 40, towns[i * i % 7],
                  illnesses[i * 3 % 5], i % 4, i % 3 ? "" : "lungs");
  assert_int_equal(fclose(file), 0);
}

#define AGE "  age: {role: quasi, type: number, hierarchy: {intervals: [10, 40], origin: 20}}\n"
#define TOWN "  town: {role: quasi, hierarchy: {mask: right}}\n"

static const char policy_text[] =
    "shoal: 1\nattributes:\n"
    "  name: {role: identifier}\n" AGE TOWN "  illness: {role: sensitive}\n"
    "  ward: {role: keep}\n"
    "unlisted: drop\n"
    "privacy: {k: 3, p: 2}\n"
    "method: {max-suppression: 5%, seed: 7}\n";

static inline shoal_policy *parse(const char *text) {
  shoal_error error = {0};
  shoal_policy *policy = NULL;
  if (shoal_policy_parse(text, strlen(text), NULL, directory, &policy, &error) != SHOAL_OK)
    fail_msg("%s", error.message);
  return policy;
}

static inline shoal_table *read_people(const shoal_policy *policy, shoal_purpose purpose) {
  char path[PATH_BYTES];
  path_of("people.csv", path);
  shoal_error error = {0};
  shoal_table *table = NULL;
  if (shoal_table_read(path, policy, purpose, NULL, NULL, &table, &error) != SHOAL_OK)
    fail_msg("%s", error.message);
  return table;
}

#endif
