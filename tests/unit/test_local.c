/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unit tests of local recoding around the algorithms: labels of clusters, classes of equal labels,
 * repair of classes that violate the policy, losses, counted tables as single rows, snapped labels.
 * Partitions are given by hand.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/text.h"
#include "decide/class_repair.h"
#include "job/release.h"
#include "measure/release_loss.h"
#include "read/source.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define UNUSED __attribute__((unused))

enum { MAX_COLUMNS = 4, MAX_ROWS = 20 };

static shoal_error error;

static void succeeds(shoal_status status) {
  if (status != SHOAL_OK) fail_msg("%s", error.message);
}

/* ---------------------------------------------------------------- tables and policies */

typedef struct fixture {
  shoal_policy *policy;
  shoal_table *table;
  shoal_context context;
  shoal_axes axes;
  shoal_labelled_clusters *draft;
} fixture;

/* Cells row by row. */
static shoal_table *table_of(const char *const *names, size_t n_columns, const char *const *cells,
                             size_t n_rows, const uint64_t *counts, const shoal_policy *policy) {
  shoal_text texts[MAX_COLUMNS] = {{0}};
  uint64_t offsets[MAX_COLUMNS][MAX_ROWS + 1] = {{0}};
  shoal_text_view views[MAX_COLUMNS];
  shoal_table *table;
  assert_true(n_columns <= MAX_COLUMNS && n_rows <= MAX_ROWS);
  for (size_t c = 0; c < n_columns; c++) {
    for (size_t r = 0; r < n_rows; r++) {
      shoal_text_add(&texts[c], cells[r * n_columns + c]);
      offsets[c][r + 1] = texts[c].size_bytes;
    }
    views[c] = (shoal_text_view){texts[c].bytes, offsets[c]};
  }
  succeeds(shoal_table_new(names, n_columns, &table, &error));
  succeeds(shoal_table_append(table, views, n_columns, n_rows, counts, &error));
  succeeds(shoal_table_finish(table, policy, SHOAL_FOR_RELEASE, &error));
  for (size_t c = 0; c < n_columns; c++) shoal_text_reset(&texts[c]);
  return table;
}

/* `clusters` by row; the last one has the n_single rows that are suppressed one by one. */
static void make_draft(fixture *f, const uint32_t *clusters, uint32_t n_clusters,
                       uint64_t n_single) {
  shoal_partition partition = {.n_clusters = n_clusters, .n_single = n_single};
  partition.cluster_of_row = calloc(f->table->n_rows, sizeof *clusters);
  assert_non_null(partition.cluster_of_row);
  memcpy(partition.cluster_of_row, clusters, f->table->n_rows * sizeof *clusters);
  shoal_labelled_clusters_inputs ground = {&f->context, &f->axes};
  succeeds(shoal_labelled_clusters_make(&ground, &partition, &f->draft, &error));
  shoal_partition_reset(&partition);
}

/* Two quasi-identifiers and a sensitive attribute: a, b and s; `clusters` by row. */
static void setup(fixture *f, const char *yaml, const char *const *cells, size_t n_rows,
                  const uint32_t *clusters, uint32_t n_clusters) {
  static const char *const names[] = {"a", "b", "s"};
  memset(f, 0, sizeof *f);
  succeeds(shoal_policy_parse(yaml, strlen(yaml), "policy.yaml", ".", &f->policy, &error));
  f->table = table_of(names, 3, cells, n_rows, NULL, f->policy);
  succeeds(shoal_context_init(&f->context, f->table, f->policy, SHOAL_CONTEXT_LOCAL, NULL, &error));
  succeeds(shoal_axes_init(&f->axes, f->context.frequency, f->context.quasi_attributes, NULL,
                           SHOAL_LOSS_HEIGHT, &error));
  make_draft(f, clusters, n_clusters, 0);
}

static void release(fixture *f) {
  shoal_labelled_clusters_free(f->draft);
  shoal_axes_reset(&f->axes);
  shoal_context_reset(&f->context);
  shoal_table_free(f->table);
  shoal_policy_free(f->policy);
}

/* The label of one of the algorithm's clusters. */
static void has_label(const fixture *f, uint32_t cluster, size_t q, const char *expected) {
  uint32_t c = f->draft->class_of[f->draft->cluster_of[cluster]];
  shoal_label label = shoal_strings_get(&f->draft->decision.labels.strings[q],
                                        f->draft->decision.labels.of_group[q][c]);
  assert_int_equal(label.size_bytes, strlen(expected));
  assert_memory_equal(label.bytes, expected, label.size_bytes);
}

#define SENSITIVE "  s: {role: sensitive}\n"

/* ---------------------------------------------------------------- labels */

static void numbers_become_smallest_intervals(void **state UNUSED) {
  static const char yaml[] =
      "shoal: 1\ndata: {missing: ['', '?']}\nattributes:\n"
      "  a: {role: quasi, type: number}\n"
      "  b: {role: quasi, type: number, snap: 2.5}\n" SENSITIVE "privacy: {k: 1}\n";
  static const char *const cells[] = {
      "-3",  "1",   "u", "-5", "4",  "u", /* compared as numbers */
      "007", "-1",  "u", "7",  "-1", "u", /* one number, two spellings */
      "",    "5",   "u", "",   "5",  "u", /* one missing spelling */
      "",    "",    "u", "?",  "",   "u", /* two of them; and one */
      "9",   "2.5", "u", "",   "?",  "u", /* a missing value beside others */
  };
  static const uint32_t clusters[] = {0, 0, 1, 1, 2, 2, 3, 3, 4, 4};
  fixture f;
  setup(&f, yaml, cells, COUNT(clusters), clusters, 5);
  static const char *const expected[][2] = {
      {"[-5 to -3]", "[0-5)"}, {"7", "[-2.5 to 0)"}, {"", "[5-7.5)"}, {"*", ""}, {"*", "*"}};
  for (uint32_t c = 0; c < COUNT(expected); c++)
    for (size_t q = 0; q < 2; q++) has_label(&f, c, q, expected[c][q]);
  assert_int_equal(f.draft->decision.classes.n_classes, 5);
  release(&f);
}

static void snapped_labels_are_those_of_intervals(void **state UNUSED) {
  static const struct {
    int64_t low, high;
    unsigned scale;
    shoal_decimal width;
    const char *expected;
  } cases[] = {
      {26, 38, 0, {5, 0}, "[25-39]"},      {25, 40, 0, {5, 0}, "[25-44]"},
      {26, 26, 0, {5, 0}, "[25-29]"},      {-3, -3, 0, {5, 0}, "[-5 to -1]"},
      {-6, 0, 0, {5, 0}, "[-10 to 4]"},    {7, 7, 0, {1, 0}, "7"},
      {7, 9, 0, {10, 1}, "[7-9]"},         {262, 385, 1, {5, 0}, "[25-40)"},
      {250, 250, 1, {5, 0}, "[25-30)"},    {26, 38, 0, {25, 1}, "[25-40)"},
      {-1, 1, 2, {5, 1}, "[-0.5 to 0.5)"},
  };
  for (size_t i = 0; i < COUNT(cases); i++) {
    char out[SHOAL_INTERVAL_BYTES];
    size_t size = shoal_snapped_label(cases[i].low, cases[i].high, cases[i].scale, cases[i].width,
                                      &(shoal_coding){0}, out);
    out[size] = '\0';
    assert_string_equal(out, cases[i].expected);
  }
  char out[SHOAL_INTERVAL_BYTES]; /* the widest there can be */
  assert_in_range(
      shoal_snapped_label(INT64_MIN, INT64_MAX, 0, (shoal_decimal){1, 18}, &(shoal_coding){0}, out),
      40, SHOAL_INTERVAL_BYTES);
}

static shoal_release_loss measure(const fixture *f, uint64_t k, double *loss) {
  const shoal_decision *d = &f->draft->decision;
  shoal_released released = {.classes = &d->classes, .violates = d->violates};
  shoal_box_losses(&f->axes, f->draft->class_boxes, &released, loss);
  return shoal_release_loss_measure(&released, f->axes.n_rows, k, f->axes.n, loss);
}

/* Numbers cost by the labels that they get: a tree's, or an interval. */
static void trees_give_the_lowest_common_ancestor(void **state UNUSED) {
  static const char yaml[] =
      "shoal: 1\nattributes:\n"
      "  a: {role: quasi, type: number, recode: hierarchy, hierarchy: {intervals: [10, 20]}}\n"
      "  b: {role: quasi, type: number, hierarchy: {intervals: [10, 20]}}\n" SENSITIVE
      "privacy: {k: 1}\n";
  static const char *const cells[] = {"1", "1", "u", "4", "4",  "u", "15", "15", "u",
                                      "9", "9", "u", "9", "09", "u", "38", "38", "u"};
  static const uint32_t clusters[] = {0, 0, 1, 1, 2, 3};
  fixture f;
  setup(&f, yaml, cells, COUNT(clusters), clusters, 4);
  static const char *const expected[][2] = {
      {"[0-9]", "[1-4]"}, {"[0-19]", "[9-15]"}, {"9", "9"}, {"38", "38"}};
  for (uint32_t c = 0; c < COUNT(expected); c++)
    for (size_t q = 0; q < 2; q++) has_label(&f, c, q, expected[c][q]);
  double loss[2];
  shoal_release_loss u = measure(&f, 1, loss);
  assert_true(fabs(loss[0] * 6 - 2) < 1e-9); /* 2 rows x 1/3 + 2 rows x 2/3 */
  assert_true(fabs(loss[1] * 6 - (2 * 3 + 2 * 6) / 37.) < 1e-9 && u.il == 6 * (loss[0] + loss[1]));
  assert_true(u.dm == 10 && u.avg == 1.5 && u.completeness == 1);
  release(&f);
}

static void losses_of_numbers_are_shares_of_the_range(void **state UNUSED) {
  static const char yaml[] = "shoal: 1\nattributes:\n  a: {role: quasi, type: number}\n"
                             "  b: {role: quasi, type: number}\n" SENSITIVE "privacy: {k: 1}\n";
  static const char *const cells[] = {"0", "5", "u", "5", "5", "u", "20", "5", "u",
                                      "",  "5", "u", "",  "5", "u", "7",  "5", "u"};
  static const uint32_t clusters[] = {0, 0, 1, 1, 2, 3};
  fixture f;
  setup(&f, yaml, cells, COUNT(clusters), clusters, 4);
  double loss[2];
  shoal_release_loss u = measure(&f, 2, loss);
  assert_true(u.il == 2 * 0.25 + 2 && u.nil == u.il / 12 && u.accuracy == 1 - u.nil);
  assert_true(loss[0] == u.il / 6 && loss[1] == 0);
  release(&f);
}

/* A widened interval counts as far as it is within the range; so does that of one number. */
static void widened_intervals_lose_as_they_are_written(void **state UNUSED) {
  static const char yaml[] =
      "shoal: 1\ndata: {missing: ['']}\nattributes:\n  a: {role: quasi, type: number, snap: 5}\n"
      "  b: {role: quasi, type: number, snap: 2.5}\n" SENSITIVE "privacy: {k: 1}\n";
  static const char *const cells[] = {"3", "1",  "u", "1", "2",  "u",  "6", "3",
                                      "u", "12", "3", "v", "23", "11", "u", "",
                                      "",  "u",  "",  "6", "u",  "8",  "",  "v"};
  static const uint32_t clusters[] = {0, 0, 1, 1, 2, 3, 4, 4};
  fixture f;
  setup(&f, yaml, cells, COUNT(clusters), clusters, 5);
  static const char *const expected[][2] = {
      {"[0-4]", "[0-2.5)"}, {"[5-14]", "[2.5-5)"}, {"[20-24]", "[10-12.5)"}, {"", ""}, {"*", "*"}};
  for (uint32_t c = 0; c < COUNT(expected); c++)
    for (size_t q = 0; q < 2; q++) has_label(&f, c, q, expected[c][q]);
  double loss[2];
  measure(&f, 1, loss);
  assert_true(fabs(loss[0] * 8 - (2 * 3 + 2 * 9 + 3) / 22. - 2) < 1e-9); /* of 1 to 23 */
  assert_true(fabs(loss[1] * 8 - (2 * 1.5 + 2 * 2.5 + 1) / 10. - 2) < 1e-9);
  assert_int_equal(f.axes.items[0].n_numbers, 4); /* 1 and 3, 6 and 8, 12, 23 */
  assert_int_equal(shoal_axis_loss(&f.axes.items[0], 1, 1), f.axes.items[0].full / 22 * 4);
  assert_int_equal(shoal_axis_loss(&f.axes.items[1], 0, 1), f.axes.items[1].full / 10 * 4);
  release(&f);
}

static void ends_of_widened_intervals(void **state UNUSED) {
  static const struct {
    int64_t number, least, most;
    unsigned scale;
    shoal_decimal width;
    uint64_t low, high;
  } cases[] = {
      {26, 3, 90, 0, {5, 0}, 22, 26},
      {3, 3, 90, 0, {5, 0}, 0, 1},
      {90, 3, 90, 0, {5, 0}, 87, 87},
      {-3, -7, 90, 0, {5, 0}, 2, 6},
      {3, 3, 3, 0, {5, 0}, 0, 0},
      {7, 3, 9, 0, {1, 0}, 4, 4},
      {262, 30, 900, 1, {5, 0}, 220, 270},
      {26, 3, 90, 0, {25, 1}, 220, 245},
      {INT64_MAX, INT64_MIN, INT64_MAX, 0, {1, 0}, UINT64_MAX, UINT64_MAX},
      {0, INT64_MIN, INT64_MAX, 0, {1, 1}, UINT64_C(5) << 60, UINT64_C(5) << 60}, /* 68 bits */
  };
  for (size_t i = 0; i < COUNT(cases); i++) {
    uint64_t low, high;
    shoal_snapped_ends(cases[i].number, cases[i].least, cases[i].most, cases[i].scale,
                       cases[i].width, &low, &high);
    assert_true(low == cases[i].low && high == cases[i].high);
  }
}

/* ---------------------------------------------------------------- classes */

static void equal_labels_are_one_class(void **state UNUSED) {
  static const char yaml[] =
      "shoal: 1\nattributes:\n  a: {role: quasi, type: number, snap: 10}\n"
      "  b: {role: quasi, hierarchy: {tree: {x: [x, y]}}}\n" SENSITIVE "privacy: {k: 2}\n";
  /* a leaf is spelled like the inner node: labels are strings */
  static const char *const cells[] = {"1",  "x", "u", "2",  "x", "v", "3", "x", "u", "4", "y", "v",
                                      "11", "x", "u", "12", "x", "v", "5", "y", "u", "6", "y", "u"};
  static const uint32_t clusters[] = {0, 0, 1, 1, 2, 2, 3, 3};
  fixture f;
  setup(&f, yaml, cells, COUNT(clusters), clusters, 4);
  assert_int_equal(f.draft->clusters.n_classes, 4);
  assert_int_equal(f.draft->decision.classes.n_classes, 3);
  assert_int_equal(f.draft->class_of[0], f.draft->class_of[1]);
  assert_int_equal(f.draft->decision.classes.n_rows[0], 4);
  assert_int_equal(f.draft->decision.judged.suppressed, 0);
  release(&f);
}

/* R2: with mu = 0.5 and k = 4, uvvw and uuvw satisfy theta, together they do not. */
static void equal_labels_that_break_the_policy_are_mended(void **state UNUSED) {
  static const char yaml[] = "shoal: 1\nattributes:\n  a: {role: quasi, type: number, snap: 10}\n"
                             "  b: {role: quasi, hierarchy: {top: true}}\n" SENSITIVE
                             "privacy: {k: 4, models: [theta-sensitive: {mu: 0.5}]}\n";
  static const char *const cells[] = {
      "1", "x",  "u", "2", "x",  "v", "3", "x",  "v",  "4", "x",  "w",  "5", "x",  "u",  "6",
      "x", "u",  "7", "x", "v",  "8", "x", "w",  "31", "x", "r",  "32", "x", "s",  "33", "x",
      "t", "34", "x", "u", "91", "x", "r", "92", "x",  "s", "93", "x",  "t", "94", "x",  "u"};
  static const uint32_t clusters[] = {0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3};
  fixture f;
  setup(&f, yaml, cells, COUNT(clusters), clusters, 4);
  assert_int_equal(f.draft->decision.judged.suppressed, 0);
  assert_int_equal(f.draft->decision.classes.n_classes, 2); /* joined with the nearer one */
  assert_int_equal(f.draft->clusters.n_classes, 2);
  has_label(&f, 0, 0, "[0-39]");
  has_label(&f, 1, 0, "[0-39]");
  has_label(&f, 2, 0, "[0-39]");
  has_label(&f, 3, 0, "[90-99]");
  release(&f);
}

/* What no merging mends is left with as few breaking rows as can be. */
static void the_draft_with_fewest_breaking_rows_is_kept(void **state UNUSED) {
  static const char yaml[] = "shoal: 1\nattributes:\n  a: {role: quasi, type: number}\n"
                             "  b: {role: quasi, hierarchy: {top: true}}\n" SENSITIVE
                             "privacy: {k: 2, models: [alpha-k: {alpha: 0.5}]}\n";
  static const char *const cells[] = {"1",  "x", "u", "2",  "x", "v", "11", "x", "u",
                                      "12", "x", "v", "21", "x", "u", "22", "x", "u"};
  static const uint32_t clusters[] = {0, 0, 1, 1, 2, 2};
  fixture f;
  setup(&f, yaml, cells, COUNT(clusters), clusters, 3);
  assert_int_equal(f.draft->decision.judged.suppressed, 2);
  assert_int_equal(f.draft->decision.judged.n_classes, 2);
  assert_int_equal(f.draft->decision.classes.n_classes, 3);
  release(&f);
}

static void one_class_that_breaks_stays(void **state UNUSED) {
  static const char yaml[] = "shoal: 1\nattributes:\n  a: {role: quasi, type: number}\n"
                             "  b: {role: quasi, hierarchy: {top: true}}\n" SENSITIVE
                             "privacy: {k: 2, models: [alpha-k: {alpha: 0.5}]}\n";
  static const char *const cells[] = {"1", "x", "u", "2", "x", "v", "3", "x", "u"};
  fixture f;
  setup(&f, yaml, cells, 3, (const uint32_t[]){0, 0, 0}, 1);
  assert_int_equal(f.draft->decision.judged.suppressed, 3);
  assert_int_equal(f.draft->decision.judged.n_classes, 0);
  release(&f);
}

/* ---------------------------------------------------------------- whole releases */

static const uint32_t *given_clusters; /* by row */
static uint32_t n_given_clusters;

static shoal_status give_clusters(const shoal_cluster_task *task, shoal_partition *partition,
                                  shoal_error *out_of_memory) {
  SHOAL_TRY(shoal_partition_whole(partition, task->axes->n_rows, out_of_memory));
  for (uint64_t row = 0; row < task->axes->n_rows; row++)
    partition->cluster_of_row[row] = given_clusters[row];
  partition->n_clusters = n_given_clusters;
  (void)snprintf(partition->why, sizeof partition->why, "by hand");
  return SHOAL_OK;
}

/* A release of the given clusters, as `anonymize` makes it. */
static shoal_status release_of(fixture *f, const char *yaml, const char *const *cells,
                               size_t n_rows, const uint32_t *clusters, uint32_t n_clusters,
                               shoal_release **out) {
  static const char *const names[] = {"a", "b", "s"};
  static const shoal_local_algorithm by_hand = {"by-hand", "", SHOAL_SUPPORTS_ALL,
                                                .has_objective = false, .run = give_clusters};
  static const shoal_local_objective objective = {"il", NULL, SHOAL_OBJECTIVE_IL,
                                                  SHOAL_LOSS_HEIGHT};
  shoal_method method = {.kind = SHOAL_METHOD_CLUSTERS,
                         .name = "by-hand",
                         .local = &by_hand,
                         .local_objective = &objective};
  given_clusters = clusters;
  n_given_clusters = n_clusters;
  memset(f, 0, sizeof *f);
  succeeds(shoal_policy_parse(yaml, strlen(yaml), "policy.yaml", ".", &f->policy, &error));
  f->table = table_of(names, 3, cells, n_rows, NULL, f->policy);
  shoal_release *made = calloc(1, sizeof *made);
  assert_non_null(made);
  made->result = shoal_result_new(SHOAL_RESULT_RELEASE);
  succeeds(
      shoal_context_init(&made->context, f->table, f->policy, SHOAL_CONTEXT_LOCAL, NULL, &error));
  succeeds(shoal_result_input(made->result, &made->context, &error));
  *out = made;
  return shoal_release_decide(made, &method, &error);
}

/* Written in the table's order, verified, read again. */
static void writes(shoal_release *made, const char *expected) {
  char path[] = "/tmp/shoal-local-XXXXXX", *bytes;
  size_t size;
  assert_true(close(mkstemp(path)) == 0);
  succeeds(
      shoal_release_write(made, path, &(shoal_write_options){.keep_order = true}, NULL, &error));
  succeeds(shoal_source_slurp_text(path, 1 << 16, &bytes, &size, &error));
  assert_string_equal(bytes, expected);
  free(bytes);
  (void)unlink(path);
}

static void end(fixture *f, shoal_release *made) {
  shoal_release_free(made);
  shoal_table_free(f->table);
  shoal_policy_free(f->policy);
}

#define HALF(METHOD)                                                                               \
  "shoal: 1\nattributes:\n  a: {role: quasi, type: number}\n"                                      \
  "  b: {role: quasi, hierarchy: {top: true}}\n" SENSITIVE                                         \
  "privacy: {k: 2, models: [alpha-k: {alpha: 0.5}]}\nmethod: {" METHOD "}\n"

static const char *const two_good[] = {"1",  "x", "u", "2",  "x", "v", "11", "x", "u",
                                       "12", "x", "v", "21", "y", "u", "22", "y", "u"};
static const uint32_t in_pairs[] = {0, 0, 1, 1, 2, 2};

/* No merging helps here: the value u has more than half of the table. */
static void what_cannot_be_mended_is_suppressed_or_refused(void **state UNUSED) {
  static const char *const yaml[] = {HALF("max-suppression: 2"),
                                     HALF("max-suppression: 2, suppressed: blank"),
                                     HALF("max-suppression: 1")};
  fixture f;
  shoal_release *made;
  for (size_t i = 0; i < 2; i++) { /* two blanks would both be u: they are removed, too */
    succeeds(release_of(&f, yaml[i], two_good, 6, in_pairs, 3, &made));
    assert_true(made->result->release.suppressed == 2 && made->result->release.classes == 2 &&
                made->result->release.clusters.clusters == 2 && made->result->release.blanked == 0);
    assert_int_equal(made->result->n_warnings, i);
    assert_string_equal(made->result->release.clusters.why, "by hand");
    writes(made, "a,b,s\n[1-2],x,u\n[1-2],x,v\n[11-12],x,u\n[11-12],x,v\n");
    end(&f, made);
  }
  assert_int_equal(release_of(&f, yaml[2], two_good, 6, in_pairs, 3, &made), SHOAL_REFUSED);
  assert_non_null(strstr(error.message, "2 of 6 rows are in classes that violate alpha-k on s"));
  end(&f, made);
}

/* Merged with what is near, three u and one v are no better; with three v and one u they are. */
static void suppressed_rows_are_blanked_where_that_is_safe(void **state UNUSED) {
  static const char yaml[] = "shoal: 1\nattributes:\n  a: {role: quasi, type: number}\n"
                             "  b: {role: quasi, hierarchy: {top: true}}\n"
                             "  s: {role: sensitive, categories: [[u], [v]]}\n"
                             "privacy: {k: 4, models: [balanced-p-plus: {p: 2}]}\n"
                             "method: {max-suppression: 8, suppressed: blank}\n";
  static const char *const cells[] = {
      "1", "x",  "u",  "1", "x",  "u",  "1", "x",  "u",  "1", "x",  "v", /* breaks */
      "2", "x",  "u",  "2", "x",  "u",  "2", "x",  "u",  "2", "x",  "v",  "2", "x",
      "v", "30", "x",  "u", "30", "x",  "u", "30", "x",  "u", "30", "x",  "v", "30",
      "x", "v",  "31", "x", "u",  "31", "x", "v",  "31", "x", "v",  "31", "x", "v"}; /* breaks */
  static const uint32_t clusters[] = {0, 0, 0, 0, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 3, 3, 3, 3};
  fixture f;
  shoal_release *made;
  succeeds(release_of(&f, yaml, cells, COUNT(clusters), clusters, 4, &made));
  assert_true(made->result->release.suppressed == 8 && made->result->release.blanked == 8 &&
              made->result->release.output_rows == 18 && made->result->release.classes == 3 &&
              made->result->release.clusters.clusters == 2 &&
              made->result->release.smallest_class == 5);
  assert_true(made->result->release.models.items[0].reached ==
                  5 && /* the blanks are eight, and not the worst */
              made->result->release.models.items[1].min_distinct == 2);
  writes(made, "a,b,s\n*,*,u\n*,*,u\n*,*,u\n*,*,v\n2,x,u\n2,x,u\n2,x,u\n2,x,v\n2,x,v\n"
               "30,x,u\n30,x,u\n30,x,u\n30,x,v\n30,x,v\n*,*,u\n*,*,v\n*,*,v\n*,*,v\n");
  end(&f, made);
}

/* 3 of 5 are v and 2 of 3 u; together 4 of 8: merged, nothing is left to suppress. */
static void merging_goes_before_suppressing(void **state UNUSED) {
  static const char *const cells[] = {"1", "x", "u",  "",  "y", "v",  "",  "x",
                                      "v", "4", "y",  "v", "8", "y",  "u", "11",
                                      "x", "u", "12", "x", "u", "13", "x", "w"};
  static const uint32_t clusters[] = {0, 0, 0, 0, 0, 1, 1, 1};
  fixture f;
  shoal_release *made;
  succeeds(release_of(&f, HALF("max-suppression: 8"), cells, 8, clusters, 2, &made));
  assert_true(made->result->release.suppressed == 0 && made->result->release.classes == 1);
  assert_string_equal(made->result->release.clusters.why,
                      "by hand; 1 cluster was merged into others to satisfy the policy");
  writes(made, "a,b,s\n*,*,u\n*,*,v\n*,*,v\n*,*,v\n*,*,u\n*,*,u\n*,*,u\n*,*,w\n");
  end(&f, made);
}

/* ---------------------------------------------------------------- counted tables */

/* Rows that are suppressed one by one are no class, although they satisfy the policy here. No class
 * over a set counts them: three rows with x are too few, whatever the other two are. */
static void rows_that_are_left_out_count_nowhere(void **state UNUSED) {
  static const struct {
    const char *more;
    uint64_t suppressed, n_classes, smallest_class;
    uint8_t violates[3];
  } cases[] = {{"", 2, 2, 3, {0, 0, 1}},
               {", models: [k-anonymity: {k: 4, over: [b]}]", 5, 1, 4, {1, 0, 1}},
               {", p: 2", 5, 1, 4, {1, 0, 1}}};
  static const char *const cells[] = {"1", "x", "u", "2", "x", "u", "3", "x", "u",
                                      "4", "y", "u", "5", "y", "u", "6", "y", "u",
                                      "7", "y", "v", "8", "x", "u", "9", "x", "v"};
  static const uint32_t clusters[] = {0, 0, 0, 1, 1, 1, 1, 2, 2};
  for (size_t i = 0; i < COUNT(cases); i++) {
    char yaml[300];
    (void)snprintf(yaml, sizeof yaml,
                   "shoal: 1\nattributes:\n  a: {role: quasi, type: number}\n"
                   "  b: {role: quasi, hierarchy: {top: true}}\n" SENSITIVE "privacy: {k: 2%s}\n",
                   cases[i].more);
    fixture f;
    setup(&f, yaml, cells, COUNT(clusters), clusters, 3);
    assert_int_equal(f.draft->decision.judged.suppressed, 0);
    shoal_labelled_clusters_free(f.draft);
    make_draft(&f, clusters, 3, 2);
    const shoal_decision *d = &f.draft->decision;
    assert_int_equal(d->judged.suppressed, cases[i].suppressed);
    assert_int_equal(d->judged.n_classes, cases[i].n_classes);
    assert_int_equal(d->judged.smallest_class, cases[i].smallest_class);
    assert_memory_equal(d->violates, cases[i].violates, sizeof cases[i].violates);
    release(&f);
  }
}

static void a_counted_table_expands_to_single_rows(void **state UNUSED) {
  static const char *const names[] = {"id", "q", "keep"};
  static const char *const cells[] = {"i1", "x", "", "i2", "", "k", "i1", "y", "k"};
  static const char yaml[] = "shoal: 1\nattributes: {id: {role: identifier}, q: {role: quasi, "
                             "hierarchy: {top: true}}, keep: {role: keep}}\nprivacy: {k: 1}\n";
  shoal_policy *policy;
  shoal_table *expanded;
  succeeds(shoal_policy_parse(yaml, strlen(yaml), "policy.yaml", ".", &policy, &error));
  shoal_table *table = table_of(names, 3, cells, 3, (const uint64_t[]){2, 1, 3}, policy);
  succeeds(shoal_table_expand(table, &expanded, &error));
  static const uint32_t from[] = {0, 0, 1, 2, 2, 2};
  assert_true(expanded->n_rows == 6 && expanded->n_records == 6 && !expanded->counts);
  for (size_t c = 0; c < 3; c++) {
    const shoal_column *a = &table->columns[c], *b = &expanded->columns[c];
    assert_string_equal(a->name, b->name);
    assert_true(a->n_values == b->n_values && a->n_repeated == b->n_repeated);
    assert_true(!a->codes == !b->codes);
    for (size_t r = 0; a->codes && r < 6; r++)
      assert_int_equal(shoal_column_code(b, r), shoal_column_code(a, from[r]));
    for (uint32_t v = 0; a->codes && v < a->n_values; v++)
      assert_int_equal(shoal_column_missing(a, v), shoal_column_missing(b, v));
  }
  shoal_table_free(table); /* nothing is shared */
  size_t size;
  assert_memory_equal(shoal_column_value(&expanded->columns[1], 2, &size), "y", 1);
  shoal_table_free(expanded);
  shoal_policy_free(policy);
}

#define TEST(name) cmocka_unit_test(name)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(numbers_become_smallest_intervals),
      TEST(snapped_labels_are_those_of_intervals),
      TEST(trees_give_the_lowest_common_ancestor),
      TEST(losses_of_numbers_are_shares_of_the_range),
      TEST(widened_intervals_lose_as_they_are_written),
      TEST(ends_of_widened_intervals),
      TEST(equal_labels_are_one_class),
      TEST(equal_labels_that_break_the_policy_are_mended),
      TEST(the_draft_with_fewest_breaking_rows_is_kept),
      TEST(one_class_that_breaks_stays),
      TEST(what_cannot_be_mended_is_suppressed_or_refused),
      TEST(suppressed_rows_are_blanked_where_that_is_safe),
      TEST(merging_goes_before_suppressing),
      TEST(rows_that_are_left_out_count_nowhere),
      TEST(a_counted_table_expands_to_single_rows),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
