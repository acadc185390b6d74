/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that uses libshoal as others will: only shoal/shoal.h and the C library.
 *
 *     library_use same file|chunks|counts DATA POLICY PREFIX
 *         the table from a file, from chunks of columns in memory, or as distinct tuples whose last
 *         column is a count; writes PREFIX.check.json, PREFIX.lattice.json and PREFIX.csv
 *     library_use cancel STAGE DATA POLICY OUT
 *         reads, anonymizes and writes, and cancels at the first progress call of STAGE ("any": of
 *         any stage); prints the last status
 *     library_use counted DATA POLICY PREFIX [OUT]
 *         distinct tuples whose last column is a count, as many records as there may be; writes
 *         PREFIX.check.json, PREFIX.lattice.json and PREFIX.release.json, and the release itself
 *         only to OUT; prints the last status and its message
 *     library_use mistakes DATA POLICY
 *         errors: their status, row and column; NULL where it is allowed
 *
 * DATA for chunks and counts is plain: commas, no quotes. Exit 0 unless something is wrong.
 */
#include <shoal/shoal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_COLUMNS = 16, CHUNK_ROWS = 7 };

static void fail(const char *what, const shoal_error *error) {
  fprintf(stderr, "library_use: %s: status %d: %s\n", what, error ? (int)error->status : -1,
          error ? error->message : "");
  exit(9);
}

static void *grow(void *old, size_t size) {
  void *new = realloc(old, size);
  if (!new) fail("no memory", NULL);
  return new;
}

static void write_text(const char *prefix, const char *suffix, const char *text) {
  char path[4096];
  snprintf(path, sizeof path, "%s%s", prefix, suffix);
  FILE *file = fopen(path, "wb");
  if (!file || fputs(text, file) < 0 || fclose(file) != 0) fail(path, NULL);
}

/* ---- a table from plain CSV in memory */

/* One column's cells of one chunk, as shoal_text_view wants them. */
struct cells {
  char *bytes;
  size_t size_bytes;
  uint64_t offsets[CHUNK_ROWS + 1];
};

struct chunk {
  struct cells columns[MAX_COLUMNS];
  uint64_t counts[CHUNK_ROWS];
  size_t n_rows;
};

static size_t split(char *line, char *cells[MAX_COLUMNS]) {
  size_t n = 0;
  line[strcspn(line, "\n")] = '\0';
  for (char *at = line; at && n < MAX_COLUMNS; n++) {
    cells[n] = at;
    at = strchr(at, ',');
    if (at) *at++ = '\0';
  }
  return n;
}

static void add_row(struct chunk *chunk, char *const *cells, size_t n_columns) {
  for (size_t c = 0; c < n_columns; c++) {
    struct cells *column = &chunk->columns[c];
    size_t size = strlen(cells[c]);
    if (chunk->n_rows == 0) column->size_bytes = 0;
    column->bytes = grow(column->bytes, column->size_bytes + size + 1);
    memcpy(column->bytes + column->size_bytes, cells[c], size);
    column->offsets[chunk->n_rows] = column->size_bytes;
    column->size_bytes += size;
    column->offsets[chunk->n_rows + 1] = column->size_bytes;
  }
  chunk->n_rows++;
}

/* Hands the chunk's rows over and spoils them: the table must have made copies. */
static shoal_status append(shoal_table *table, struct chunk *chunk, size_t n_columns,
                           bool with_counts, shoal_error *error) {
  shoal_text_view views[MAX_COLUMNS] = {{0}};
  for (size_t c = 0; c < n_columns; c++)
    views[c] = (shoal_text_view){chunk->columns[c].bytes, chunk->columns[c].offsets};
  shoal_status status = shoal_table_append(table, views, n_columns, chunk->n_rows,
                                           with_counts ? chunk->counts : NULL, error);
  for (size_t c = 0; c < n_columns; c++)
    memset(chunk->columns[c].bytes, '#', chunk->columns[c].size_bytes);
  chunk->n_rows = 0;
  return status;
}

static shoal_status table_from_memory(const char *path, const shoal_policy *policy,
                                      bool with_counts, shoal_table **table, shoal_error *error) {
  FILE *file = fopen(path, "rb");
  char line[4096];
  char *names[MAX_COLUMNS], *cells[MAX_COLUMNS];
  if (!file || !fgets(line, sizeof line, file)) fail(path, NULL);
  size_t n_columns = split(line, names) - (with_counts ? 1 : 0);
  shoal_status status = shoal_table_new((const char *const *)names, n_columns, table, error);

  struct chunk chunk = {0};
  memset(line, '#', sizeof line);
  while (status == SHOAL_OK && fgets(line, sizeof line, file)) {
    split(line, cells);
    if (with_counts) chunk.counts[chunk.n_rows] = strtoull(cells[n_columns], NULL, 10);
    add_row(&chunk, cells, n_columns);
    if (chunk.n_rows == CHUNK_ROWS) status = append(*table, &chunk, n_columns, with_counts, error);
  }
  if (status == SHOAL_OK && chunk.n_rows > 0)
    status = append(*table, &chunk, n_columns, with_counts, error);
  if (status == SHOAL_OK) status = shoal_table_finish(*table, policy, SHOAL_FOR_RELEASE, error);
  for (size_t c = 0; c < n_columns; c++) free(chunk.columns[c].bytes);
  fclose(file);
  return status;
}

/* ---- same: three ways to give a table, one answer */

static void render(const shoal_result *result, const char *prefix, const char *suffix) {
  shoal_error error = {0};
  char *text = NULL;
  if (shoal_result_render(result, SHOAL_JSON, &text, &error) != SHOAL_OK) fail(suffix, &error);
  write_text(prefix, suffix, text);
  free(text);
}

static int same(const char *way, const char *data, const char *policy_path, const char *prefix) {
  shoal_error error = {0};
  shoal_run run = {.n_threads = 2};
  shoal_policy *policy = NULL;
  shoal_table *table = NULL;
  shoal_result *check = NULL, *lattice = NULL;
  shoal_release *release = NULL;

  if (shoal_policy_read(policy_path, &policy, &error) != SHOAL_OK) fail("policy", &error);
  shoal_status status =
      strcmp(way, "file") == 0
          ? shoal_table_read(data, policy, SHOAL_FOR_RELEASE, NULL, &run, &table, &error)
          : table_from_memory(data, policy, strcmp(way, "counts") == 0, &table, &error);
  if (status != SHOAL_OK) fail("table", &error);
  if (shoal_table_bytes(table) == 0) fail("a table of no bytes", NULL);

  if (shoal_check(table, policy, &run, &check, &error) != SHOAL_OK) fail("check", &error);
  render(check, prefix, ".check.json");
  if (shoal_lattice(table, policy, NULL, &lattice, &error) != SHOAL_OK) fail("lattice", &error);
  render(lattice, prefix, ".lattice.json");
  if (!shoal_result_holds(lattice)) fail("no node satisfies", NULL);

  if (shoal_anonymize(table, policy, &run, &release, &error) != SHOAL_OK) fail("anonymize", &error);
  char out[4096];
  snprintf(out, sizeof out, "%s.csv", prefix);
  shoal_write_options options = {sizeof options, .keep_order = true};
  if (shoal_release_write(release, out, &options, &run, &error) != SHOAL_OK) fail("write", &error);
  if (!shoal_result_holds(shoal_release_result(release))) fail("the release does not hold", NULL);

  printf("rows %llu columns %zu\n", (unsigned long long)shoal_table_rows(table),
         shoal_table_columns(table));
  shoal_release_free(release);
  shoal_result_free(lattice);
  shoal_result_free(check);
  shoal_table_free(table);
  shoal_policy_free(policy);
  return 0;
}

/* ---- counted: more records than rows could be held */

static int counted(const char *data, const char *policy_path, const char *prefix, const char *out) {
  shoal_error error = {0};
  shoal_run run = {.n_threads = 2};
  shoal_policy *policy = NULL;
  shoal_table *table = NULL;
  shoal_result *check = NULL, *lattice = NULL;
  shoal_release *release = NULL;
  shoal_write_options options = {.keep_order = true};

  if (shoal_policy_read(policy_path, &policy, &error) != SHOAL_OK) fail("policy", &error);
  shoal_status status = table_from_memory(data, policy, true, &table, &error);
  if (status == SHOAL_OK) status = shoal_check(table, policy, &run, &check, &error);
  if (status == SHOAL_OK) render(check, prefix, ".check.json");
  if (status == SHOAL_OK) status = shoal_lattice(table, policy, &run, &lattice, &error);
  if (status == SHOAL_OK) render(lattice, prefix, ".lattice.json");
  if (status == SHOAL_OK) status = shoal_anonymize(table, policy, &run, &release, &error);
  if (status == SHOAL_OK && out) status = shoal_release_write(release, out, &options, &run, &error);
  if (status == SHOAL_OK) render(shoal_release_result(release), prefix, ".release.json");
  printf("status %d %s\n", (int)status, status == SHOAL_OK ? "" : error.message);
  shoal_release_free(release);
  shoal_result_free(lattice);
  shoal_result_free(check);
  shoal_table_free(table);
  shoal_policy_free(policy);
  return 0;
}

/* ---- cancel */

struct watch {
  const char *stage;
  unsigned long n_calls;
  bool odd;
};

static bool one_of(const char *word, const char *const *words) {
  for (; *words; words++)
    if (word && strcmp(word, *words) == 0) return true;
  return false;
}

static bool on_progress(void *user, const shoal_progress *progress) {
  static const char *const stages[] = {"read",   "group", "search", "cluster",
                                       "repair", "write", "verify", NULL};
  static const char *const units[] = {"bytes", "rows", "nodes", "classes", NULL};
  struct watch *watch = user;
  watch->n_calls++;
  if (!one_of(progress->stage, stages) || !one_of(progress->unit, units) ||
      (progress->total > 0 && progress->done > progress->total))
    watch->odd = true;
  return strcmp(watch->stage, "any") == 0 || strcmp(progress->stage, watch->stage) == 0;
}

static int cancel(const char *stage, const char *data, const char *policy_path, const char *out) {
  shoal_error error = {0};
  struct watch watch = {.stage = stage};
  shoal_run run = {.n_threads = 2, .progress = on_progress, .progress_user = &watch};
  shoal_policy *policy = NULL;
  shoal_table *table = NULL;
  shoal_release *release = NULL;

  shoal_status status = shoal_policy_read(policy_path, &policy, &error);
  if (status == SHOAL_OK)
    status = shoal_table_read(data, policy, SHOAL_FOR_RELEASE, NULL, &run, &table, &error);
  if (status == SHOAL_OK) status = shoal_anonymize(table, policy, &run, &release, &error);
  shoal_write_options options = {.keep_order = true};
  if (status == SHOAL_OK) status = shoal_release_write(release, out, &options, &run, &error);

  if (watch.odd) fail("progress of an unknown stage or unit, or beyond its total", NULL);
  printf("status %d error %d calls %lu\n", (int)status, (int)error.status, watch.n_calls);
  shoal_release_free(release);
  shoal_table_free(table);
  shoal_policy_free(policy);
  return 0;
}

/* ---- mistakes */

static void expect(bool holds, const char *what, const shoal_error *error) {
  if (!holds) fail(what, error);
}

static int mistakes(const char *data, const char *policy_path) {
  shoal_error error = {0};
  shoal_policy *policy = NULL;
  shoal_table *table = NULL;

  shoal_policy_free(NULL);
  shoal_table_free(NULL);
  shoal_result_free(NULL);
  shoal_release_free(NULL);
  expect(strcmp(shoal_version(), SHOAL_VERSION) == 0, "version", NULL);

  shoal_result *result = NULL;
  expect(shoal_policy_read(NULL, &policy, &error) == SHOAL_BAD_INPUT, "no path", NULL);
  expect(shoal_check(NULL, NULL, NULL, &result, &error) == SHOAL_BAD_INPUT && !result &&
             strstr(error.message, "shoal_check") && strstr(error.message, "NULL"),
         "no table", &error);
  expect(shoal_release_write(NULL, "x.csv", NULL, NULL, NULL) == SHOAL_BAD_INPUT, "no release",
         NULL);

  expect(shoal_policy_read("nowhere.yaml", &policy, NULL) == SHOAL_BAD_POLICY, "no error wanted",
         NULL);
  expect(policy == NULL, "a policy in spite of an error", NULL);
  const char text[] = "shoal: 1\nmetod: {}\n";
  expect(shoal_policy_parse(text, sizeof text - 1, "memory", ".", &policy, &error) ==
                 SHOAL_BAD_POLICY &&
             error.status == SHOAL_BAD_POLICY && strstr(error.message, "memory") &&
             strstr(error.message, "method"),
         "unknown key", &error);

  expect(shoal_policy_read(policy_path, &policy, &error) == SHOAL_OK, "policy", &error);
  expect(shoal_policy_set(policy, "k", "0", &error) == SHOAL_BAD_POLICY, "k 0", &error);
  expect(shoal_policy_set(policy, "kk", "2", &error) == SHOAL_BAD_POLICY, "unknown setting",
         &error);
  expect(shoal_policy_set(policy, "k", "2", &error) == SHOAL_OK, "k 2", &error);

  /* The data has a word among its ages in row 9, which is in the second chunk. */
  error = (shoal_error){0};
  expect(table_from_memory(data, policy, false, &table, &error) == SHOAL_BAD_INPUT, "no number",
         &error);
  expect(error.row == 9 && strcmp(error.column, "age") == 0, "row 9, column age", &error);
  expect(!strstr(error.message, "SECRET"), "a cell in a message", &error);
  shoal_table_free(table);

  const char *const names[] = {"a", "a"};
  table = NULL;
  expect(shoal_table_new(names, 2, &table, &error) == SHOAL_BAD_INPUT, "names twice", &error);
  shoal_table_free(table);

  const char *const good[] = {"a"};
  const uint64_t offsets[] = {0, 1};
  const uint64_t count = 3;
  const shoal_text_view view = {"x", offsets};
  table = NULL;
  expect(shoal_table_new(good, 1, &table, &error) == SHOAL_OK, "one column", &error);
  expect(shoal_table_append(table, &view, 1, 1, &count, &error) == SHOAL_OK, "with count", &error);
  expect(shoal_table_append(table, &view, 1, 1, NULL, &error) == SHOAL_BAD_INPUT, "without",
         &error);
  shoal_table_free(table);
  shoal_policy_free(policy);

  expect(shoal_models()[0].name && shoal_algorithms()[0].name && shoal_preferences()[0].name &&
             shoal_hierarchy_kinds()[0].name && shoal_policy_keys()[0].name,
         "tables of what there is", NULL);
  return 0;
}

int main(int argc, char **argv) {
  if (argc == 6 && strcmp(argv[1], "same") == 0) return same(argv[2], argv[3], argv[4], argv[5]);
  if (argc == 6 && strcmp(argv[1], "cancel") == 0)
    return cancel(argv[2], argv[3], argv[4], argv[5]);
  if ((argc == 5 || argc == 6) && strcmp(argv[1], "counted") == 0)
    return counted(argv[2], argv[3], argv[4], argc == 6 ? argv[5] : NULL);
  if (argc == 4 && strcmp(argv[1], "mistakes") == 0) return mistakes(argv[2], argv[3]);
  fputs("library_use: wrong arguments, see its source\n", stderr);
  return 8;
}
