/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the shipped library says of every small table, for test_petri.py to hold against the model.
 *
 *   verdicts classes K NOISE VALUES     one line for each class of K .. K + NOISE rows over VALUES
 *                                       sensitive values: its counts, p+ holds, theta holds
 *   verdicts releases K CLASSES VALUES  one line for each table of CLASSES runs of K rows: the
 * runs, then what `theta` released: its classes' counts, or "-"
 *
 * Values are 0, 1, ..; two neighbours are one category; p = 2, mu = 0.6, no noise rows.
 */
#include <shoal/shoal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_VALUES = 10, MAX_ROWS = 64 };

static void stop(const char *what, const shoal_error *error) {
  fprintf(stderr, "%s: %s\n", what, error->message);
  exit(3);
}

static shoal_policy *policy_of(unsigned k, unsigned n_values, const char *model) {
  char text[1024], categories[256] = "";
  for (unsigned v = 0; v < n_values; v += 2) {
    char more[32];
    if (v + 1 < n_values) snprintf(more, sizeof more, "%s[%u, %u]", v ? ", " : "", v, v + 1);
    else snprintf(more, sizeof more, "%s[%u]", v ? ", " : "", v);
    strcat(categories, more);
  }
  snprintf(text, sizeof text,
           "shoal: 1\n"
           "attributes:\n"
           "  q: {role: quasi, type: number}\n"
           "  s: {role: sensitive, categories: [%s]}\n"
           "privacy: {k: %u, models: [%s]}\n"
           "method: {algorithm: theta, start: sorted, seed: 1}\n",
           categories, k, model);
  shoal_policy *policy;
  shoal_error error;
  if (shoal_policy_parse(text, strlen(text), "policy", ".", &policy, &error))
    stop("policy", &error);
  return policy;
}

/* Rows q, s: run r of the table has q = r. */
static shoal_table *table_of(const unsigned *run_of_row, const unsigned *value_of_row,
                             size_t n_rows, const shoal_policy *policy) {
  char bytes[2][MAX_ROWS * 4];
  uint64_t offsets[2][MAX_ROWS + 1] = {{0}};
  for (size_t i = 0; i < n_rows; i++) {
    const unsigned cell[2] = {run_of_row[i], value_of_row[i]};
    for (int c = 0; c < 2; c++)
      offsets[c][i + 1] =
          offsets[c][i] + (uint64_t)sprintf(bytes[c] + offsets[c][i], "%u", cell[c]);
  }
  const char *names[] = {"q", "s"};
  const shoal_text_view views[] = {{bytes[0], offsets[0]}, {bytes[1], offsets[1]}};
  shoal_table *table;
  shoal_error error;
  if (shoal_table_new(names, 2, &table, &error) ||
      shoal_table_append(table, views, 2, n_rows, NULL, &error) ||
      shoal_table_finish(table, policy, SHOAL_FOR_RELEASE, &error))
    stop("table", &error);
  return table;
}

static bool holds(const unsigned *runs, const unsigned *values, size_t n_rows,
                  const shoal_policy *policy) {
  shoal_table *table = table_of(runs, values, n_rows, policy);
  shoal_result *result;
  shoal_error error;
  if (shoal_check(table, policy, NULL, &result, &error)) stop("check", &error);
  bool out = shoal_result_holds(result);
  shoal_result_free(result);
  shoal_table_free(table);
  return out;
}

static void print_counts(const unsigned *values, size_t n_rows, unsigned n_values) {
  unsigned counts[MAX_VALUES] = {0};
  for (size_t i = 0; i < n_rows; i++) counts[values[i]]++;
  for (unsigned v = 0; v < n_values; v++) printf("%s%u", v ? "," : "", counts[v]);
}

/* The next ascending sequence after this one; false after the last. */
static bool next_class(unsigned *values, size_t n_rows, unsigned n_values) {
  size_t i = n_rows;
  while (i > 0 && values[i - 1] + 1 == n_values) i--;
  if (i == 0) return false;
  unsigned value = values[i - 1] + 1;
  for (size_t j = i - 1; j < n_rows; j++) values[j] = value;
  return true;
}

static void say_classes(unsigned k, unsigned noise, unsigned n_values) {
  shoal_policy *plus = policy_of(k, n_values, "{p-plus-sensitive: {p: 2}}");
  shoal_policy *theta = policy_of(k, n_values, "{theta-sensitive: {mu: 0.6}}");
  const unsigned runs[MAX_ROWS] = {0};
  for (size_t n = k; n <= k + noise; n++) {
    unsigned values[MAX_ROWS] = {0};
    do {
      print_counts(values, n, n_values);
      printf(" %d %d\n", holds(runs, values, n, plus), holds(runs, values, n, theta));
    } while (next_class(values, n, n_values));
  }
  shoal_policy_free(plus);
  shoal_policy_free(theta);
}

/* The classes of a release file of "label,value" lines, labels in order of first appearance. */
static void print_release(const char *path, unsigned n_values) {
  FILE *file = fopen(path, "r");
  char line[64], labels[MAX_ROWS][32];
  unsigned values[MAX_ROWS][MAX_ROWS];
  size_t n_classes = 0, sizes[MAX_ROWS];
  if (!file || !fgets(line, sizeof line, file)) exit(3);
  while (fgets(line, sizeof line, file)) {
    char *comma = strrchr(line, ',');
    *comma = 0;
    size_t c = 0;
    while (c < n_classes && strcmp(labels[c], line)) c++;
    if (c == n_classes) {
      strcpy(labels[c], line);
      sizes[n_classes++] = 0;
    }
    values[c][sizes[c]++] = (unsigned)atoi(comma + 1);
  }
  fclose(file);
  for (size_t c = 0; c < n_classes; c++) {
    putchar(c ? '|' : ' ');
    print_counts(values[c], sizes[c], n_values);
  }
  putchar('\n');
}

static void say_release(const unsigned *runs, const unsigned *values, size_t n_rows,
                        unsigned n_values, const shoal_policy *policy, const char *path) {
  shoal_table *table = table_of(runs, values, n_rows, policy);
  shoal_release *release = NULL;
  shoal_error error;
  shoal_status status = shoal_anonymize(table, policy, NULL, &release, &error);
  if (status == SHOAL_OK) {
    const shoal_write_options options = {.keep_order = true};
    if (shoal_release_write(release, path, &options, NULL, &error)) stop("write", &error);
    print_release(path, n_values);
    remove(path);
  } else if (status == SHOAL_REFUSED) printf(" -\n");
  else stop("anonymize", &error);
  shoal_release_free(release);
  shoal_table_free(table);
}

static void say_releases(unsigned k, unsigned n_classes, unsigned n_values, const char *path) {
  shoal_policy *policy = policy_of(k, n_values, "{theta-sensitive: {mu: 0.6}}");
  unsigned runs[MAX_ROWS], values[MAX_ROWS] = {0};
  size_t n_rows = (size_t)k * n_classes;
  for (size_t i = 0; i < n_rows; i++) runs[i] = (unsigned)(i / k);
  for (bool more = true; more;) {
    for (unsigned c = 0; c < n_classes; c++) {
      if (c) putchar('|');
      print_counts(values + (size_t)c * k, k, n_values);
    }
    say_release(runs, values, n_rows, n_values, policy, path);
    more = false;
    for (unsigned c = n_classes; c-- > 0 && !more;) {
      more = next_class(values + (size_t)c * k, k, n_values);
      if (!more) memset(values + (size_t)c * k, 0, k * sizeof *values);
    }
  }
  shoal_policy_free(policy);
}

int main(int argc, char **argv) {
  if (argc < 5) return 2;
  unsigned a = (unsigned)atoi(argv[2]), b = (unsigned)atoi(argv[3]), c = (unsigned)atoi(argv[4]);
  if (c > MAX_VALUES || a * b > MAX_ROWS || a + b > MAX_ROWS) return 2;
  if (!strcmp(argv[1], "classes")) say_classes(a, b, c);
  else if (!strcmp(argv[1], "releases") && argc > 5) say_releases(a, b, c, argv[5]);
  else return 2;
  return 0;
}
