/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unit tests of counted tuples: the decision is that of the whole table, the records of each tuple
 * add up, gates judge columns that stay with the caller by their figures.
 */
#include "library_fixture.h"
#include "profile/profile.h"

static shoal_error error;

enum { MAX_LINES = 200, LINE_BYTES = 96 };

typedef struct lines {
  char text[MAX_LINES][LINE_BYTES];
  size_t n;
} lines;

static int by_text(const void *a, const void *b) { return strcmp(a, b); }

/* Rows of people.csv as "age,town,illness", sorted. */
static void read_lines(lines *all) {
  char path[PATH_BYTES], cells[6][32];
  path_of("people.csv", path);
  FILE *file = fopen(path, "r");
  assert_non_null(file);
  char line[LINE_BYTES * 2];
  assert_non_null(fgets(line, sizeof line, file));
  for (all->n = 0; fgets(line, sizeof line, file); all->n++) {
    const char *at = line;
    for (size_t c = 0; c < 6; c++) {
      size_t size = strcspn(at, ",\n");
      assert_true(size < sizeof cells[c]);
      memcpy(cells[c], at, size);
      cells[c][size] = 0;
      at += size + 1;
    }
    (void)snprintf(all->text[all->n], LINE_BYTES, "%s,%s,%s", cells[1], cells[2], cells[3]);
  }
  (void)fclose(file);
  qsort(all->text, all->n, LINE_BYTES, by_text);
}

/* The distinct lines as columns of a table with counts. */
static shoal_table *make_tuples(const lines *all, const shoal_policy *policy, uint64_t *counts) {
  static const char *const names[] = {"age", "town", "illness"};
  static char bytes[3][MAX_LINES * 32];
  static uint64_t offsets[3][MAX_LINES + 1];
  size_t n = 0;
  for (size_t i = 0; i < all->n; i++) {
    if (i && strcmp(all->text[i], all->text[i - 1]) == 0) {
      counts[n - 1]++;
      continue;
    }
    const char *at = all->text[i];
    for (size_t c = 0; c < 3; c++) {
      size_t size = strcspn(at, ",");
      memcpy(bytes[c] + offsets[c][n], at, size);
      offsets[c][n + 1] = offsets[c][n] + size;
      at += size + 1;
    }
    counts[n++] = 1;
  }
  shoal_text_view views[3];
  for (size_t c = 0; c < 3; c++) views[c] = (shoal_text_view){bytes[c], offsets[c]};
  shoal_table *table;
  assert_int_equal(shoal_table_new(names, 3, &table, &error), SHOAL_OK);
  if (shoal_table_append(table, views, 3, n, counts, &error) != SHOAL_OK ||
      shoal_table_finish(table, policy, SHOAL_FOR_TUPLES, &error) != SHOAL_OK)
    fail_msg("%s", error.message);
  return table;
}

static void describe(shoal_table *table) {
  /* ten of the names have two records; wards have 30 each */
  static const uint64_t one_two[] = {1, 2}, names[] = {100, 10}, rows[] = {30}, wards[] = {4};
  const shoal_column_figures name = {sizeof name, SHOAL_CELLS_TEXT, one_two, names, 2};
  const shoal_column_figures ward = {sizeof ward, SHOAL_CELLS_TEXT, rows, wards, 1};
  assert_int_equal(shoal_table_outside(table, "name", &name, &error), SHOAL_OK);
  assert_int_equal(shoal_table_outside(table, "ward", &ward, &error), SHOAL_OK);
}

/* Classes as "label,label: rows fate", then counts of illnesses; sorted. */
static void list_classes(const shoal_release *release, lines *out) {
  shoal_facts *facts;
  shoal_class_fact fact;
  if (shoal_facts_new(release, &facts, &error) != SHOAL_OK) fail_msg("%s", error.message);
  out->n = 0;
  char *labels[MAX_LINES];
  for (size_t c = 0; shoal_facts_class(facts, c, &fact); c++) {
    size_t a, b;
    const char *age = shoal_facts_label(facts, c, 0, &a),
               *town = shoal_facts_label(facts, c, 1, &b);
    (void)snprintf(out->text[out->n], LINE_BYTES, "%.*s,%.*s: %u %d", (int)a, age, (int)b, town,
                   (unsigned)fact.n_rows, (int)fact.fate);
    labels[c] = out->text[out->n++];
  }
  const shoal_count_fact *counts;
  size_t n;
  assert_int_equal(shoal_facts_sensitive(facts), 1);
  assert_string_equal(shoal_facts_sensitive_name(facts, 0), "illness");
  assert_int_equal(shoal_facts_histograms(facts, 0, &counts, &n, &error), SHOAL_OK);
  uint64_t sum = 0;
  for (size_t i = 0; i < n; i++) {
    assert_true(out->n < MAX_LINES);
    (void)snprintf(out->text[out->n++], LINE_BYTES, "%.40s %.*s: %u",
                   labels[counts[i].class_number], (int)counts[i].value_bytes, counts[i].value,
                   (unsigned)counts[i].n_rows);
    sum += counts[i].n_rows;
  }
  assert_int_equal(sum, N_PEOPLE);
  assert_int_equal(shoal_facts_histograms(facts, 1, &counts, &n, &error), SHOAL_BAD_INPUT);
  qsort(out->text, out->n, LINE_BYTES, by_text);
  shoal_facts_free(facts);
}

/* The shares of each tuple add up to its count, and those of each class to its rows. */
static void check_shares(const shoal_release *release, const uint64_t *counts) {
  shoal_facts *facts;
  assert_int_equal(shoal_facts_new(release, &facts, &error), SHOAL_OK);
  size_t n;
  const shoal_share_fact *shares = shoal_facts_shares(facts, &n);
  assert_non_null(shares);
  uint64_t left[MAX_LINES], of_class[MAX_LINES] = {0};
  memcpy(left, counts, sizeof left);
  for (size_t i = 0; i < n; i++) {
    assert_true(shares[i].n_rows <= left[shares[i].row] && shares[i].n_rows);
    left[shares[i].row] -= shares[i].n_rows;
    of_class[shares[i].class_number] += shares[i].n_rows;
  }
  for (size_t row = 0; row < MAX_LINES; row++) assert_int_equal(left[row], 0);
  shoal_class_fact fact;
  for (size_t c = 0; shoal_facts_class(facts, c, &fact); c++)
    assert_int_equal(fact.n_rows, of_class[c]);
  size_t size;
  assert_non_null(shoal_facts_cell(facts, 0, 0, &size));
  assert_null(shoal_facts_cell(facts, 0, MAX_LINES, &size));
  shoal_facts_free(facts);
}

static void expect_same(const char *algorithm) {
  static lines all, classes, expected;
  uint64_t counts[MAX_LINES] = {0};
  write_people("people.csv");
  shoal_policy *policy = parse(policy_text);
  assert_int_equal(shoal_policy_set(policy, "algorithm", algorithm, &error), SHOAL_OK);
  shoal_table *whole = read_people(policy, SHOAL_FOR_RELEASE);
  shoal_release *release;
  assert_int_equal(shoal_anonymize(whole, policy, NULL, &release, &error), SHOAL_OK);
  list_classes(release, &expected);
  shoal_release_free(release);
  shoal_table_free(whole);
  read_lines(&all);
  shoal_table *tuples = make_tuples(&all, policy, counts);
  assert_int_equal(shoal_anonymize(tuples, policy, NULL, &release, &error), SHOAL_BAD_POLICY);
  describe(tuples);
  if (shoal_anonymize(tuples, policy, NULL, &release, &error) != SHOAL_OK)
    fail_msg("%s: %s", algorithm, error.message);
  assert_int_equal(shoal_table_rows(tuples), N_PEOPLE);
  list_classes(release, &classes);
  assert_int_equal(classes.n, expected.n);
  for (size_t i = 0; i < classes.n; i++) assert_string_equal(classes.text[i], expected.text[i]);
  check_shares(release, counts);
  shoal_release_free(release);
  shoal_table_free(tuples);
  shoal_policy_free(policy);
}

static void tuples_decide_like_rows(void **state UNUSED) {
  static const char *const algorithms[] = {"samarati", "optimal",  "datafly",
                                           "mondrian", "top-down", "flock"};
  for (size_t i = 0; i < COUNT(algorithms); i++) expect_same(algorithms[i]);
}

/* The release as its GROUP BY: labels of classes, illnesses, counts. `spoil`: one row is moved. */
static shoal_table *group_release(const shoal_release *release, const shoal_policy *policy,
                                  bool spoil) {
  static const char *const names[] = {"age", "town", "illness"};
  static char bytes[3][MAX_LINES * 32];
  static uint64_t offsets[3][MAX_LINES + 1];
  uint64_t counts[MAX_LINES];
  shoal_facts *facts;
  const shoal_count_fact *found;
  size_t n_found, n = 0;
  assert_int_equal(shoal_facts_new(release, &facts, &error), SHOAL_OK);
  assert_int_equal(shoal_facts_histograms(facts, 0, &found, &n_found, &error), SHOAL_OK);
  for (size_t i = 0; i < n_found; i++) {
    shoal_class_fact fact;
    assert_true(shoal_facts_class(facts, found[i].class_number, &fact));
    if (fact.fate != SHOAL_RELEASED) continue;
    const char *cells[3];
    size_t sizes[3];
    for (size_t q = 0; q < 2; q++)
      cells[q] = shoal_facts_label(facts, found[i].class_number, q, &sizes[q]);
    cells[2] = found[i].value, sizes[2] = found[i].value_bytes;
    if (spoil && n == 0) cells[0] = "[20-29]", sizes[0] = 7, cells[1] = "zz", sizes[1] = 2;
    for (size_t c = 0; c < 3; c++) {
      memcpy(bytes[c] + offsets[c][n], cells[c], sizes[c]);
      offsets[c][n + 1] = offsets[c][n] + sizes[c];
    }
    counts[n++] = found[i].n_rows;
  }
  shoal_facts_free(facts);
  shoal_text_view views[3];
  for (size_t c = 0; c < 3; c++) views[c] = (shoal_text_view){bytes[c], offsets[c]};
  shoal_table *table;
  assert_int_equal(shoal_table_new(names, 3, &table, &error), SHOAL_OK);
  assert_int_equal(shoal_table_append(table, views, 3, n, counts, &error), SHOAL_OK);
  if (shoal_table_finish(table, policy, SHOAL_FOR_REVIEW, &error) != SHOAL_OK)
    fail_msg("%s", error.message);
  return table;
}

/* A release that was built by joins is proven from its GROUP BY. */
static void releases_are_verified(void **state UNUSED) {
  static lines all;
  static const char grouped_policy[] =
      "shoal: 1\nattributes:\n" AGE TOWN "  illness: {role: sensitive}\n"
      "privacy: {k: 3, p: 2, models: [{t-closeness: {t: 0.6}}]}\n"
      "method: {algorithm: samarati, max-suppression: 5%}\n";
  uint64_t counts[MAX_LINES] = {0};
  write_people("people.csv");
  read_lines(&all);
  shoal_policy *policy = parse(grouped_policy);
  shoal_table *original = make_tuples(&all, policy, counts);
  shoal_release *release;
  if (shoal_anonymize(original, policy, NULL, &release, &error) != SHOAL_OK)
    fail_msg("%s", error.message);
  shoal_verified verified;
  shoal_table *good = group_release(release, policy, false);
  for (int with = 0; with < 2; with++) {
    if (shoal_verify_release(good, with ? original : NULL, policy, NULL, &verified, &error) !=
        SHOAL_OK)
      fail_msg("%s", error.message);
    assert_int_equal(verified.n_rows, shoal_table_rows(good));
    assert_true(verified.smallest_class >= 3 && verified.n_classes > 1);
  }
  shoal_table *bad = group_release(release, policy, true);
  assert_int_equal(shoal_verify_release(bad, original, policy, NULL, NULL, &error),
                   SHOAL_NOT_VERIFIED);
  assert_null(strstr(error.message, "bug"));
  shoal_policy *strict = parse(grouped_policy);
  assert_int_equal(shoal_policy_set(strict, "k", "50", &error), SHOAL_OK);
  assert_int_equal(shoal_verify_release(good, original, strict, NULL, NULL, &error),
                   SHOAL_NOT_VERIFIED);
  assert_non_null(strstr(error.message, "k-anonymity"));
  assert_int_equal(shoal_verify_release(NULL, NULL, policy, NULL, NULL, &error), SHOAL_BAD_INPUT);
  shoal_policy_free(strict);
  shoal_table_free(bad);
  shoal_table_free(good);
  shoal_release_free(release);
  shoal_table_free(original);
  shoal_policy_free(policy);
}

/* A join that repeats rows makes small classes look large: k holds of them, not of the people. */
static void repeated_rows_are_no_rows(void **state UNUSED) {
  static const char *const names[] = {"age", "illness"};
  static const uint64_t two[] = {0, 2, 4}, sizes[] = {0, 3, 7}, once[] = {1, 1}, twice[] = {2, 2},
                        shifted[] = {1, 2}, all_ages[] = {0, 5, 10};
  const shoal_text_view raw[] = {{"3034", two}, {"flucold", sizes}},
                        stars[] = {{"30-3430-34", all_ages}, {"flucold", sizes}};
  for (int has_noise = 0; has_noise < 2; has_noise++) {
    char text[400];
    (void)snprintf(text, sizeof text,
                   "shoal: 1\nattributes:\n  age: {role: quasi, type: number}\n"
                   "  illness: {role: sensitive, categories: [[flu], [cold]]}\n"
                   "privacy: {k: 2%s}\naccept: {unprotected: [illness]}\n%s",
                   has_noise ? ", p: 2" : "",
                   has_noise ? "method: {algorithm: enhanced-pk, noise: 1}\n" : "");
    shoal_policy *policy = parse(text);
    shoal_table *original, *release;
    assert_int_equal(shoal_table_new(names, 2, &original, &error), SHOAL_OK);
    assert_int_equal(shoal_table_append(original, raw, 2, 2, once, &error), SHOAL_OK);
    if (shoal_table_finish(original, policy, SHOAL_FOR_TUPLES, &error) != SHOAL_OK)
      fail_msg("%s", error.message);
    for (int join = 0; join < 3; join++) {
      const uint64_t *counts = join == 0 ? once : join == 1 ? shifted : twice;
      assert_int_equal(shoal_table_new(names, 2, &release, &error), SHOAL_OK);
      assert_int_equal(shoal_table_append(release, stars, 2, 2, counts, &error), SHOAL_OK);
      if (shoal_table_finish(release, policy, SHOAL_FOR_REVIEW, &error) != SHOAL_OK)
        fail_msg("%s", error.message);
      shoal_status status = shoal_verify_release(release, original, policy, NULL, NULL, &error);
      assert_int_equal(status, join <= has_noise ? SHOAL_OK : SHOAL_NOT_VERIFIED);
      if (status != SHOAL_OK) assert_non_null(strstr(error.message, "does a join repeat rows"));
      assert_int_equal(shoal_verify_release(release, NULL, policy, NULL, NULL, &error), SHOAL_OK);
      shoal_table_free(release);
    }
    /* as many rows as the original, and one person twice */
    static const uint64_t flu[] = {0, 3, 6};
    const shoal_text_view one[] = {{"30-3430-34", all_ages}, {"fluflu", flu}};
    assert_int_equal(shoal_table_new(names, 2, &release, &error), SHOAL_OK);
    assert_int_equal(shoal_table_append(release, one, 2, 2, once, &error), SHOAL_OK);
    assert_int_equal(shoal_table_finish(release, policy, SHOAL_FOR_REVIEW, &error), SHOAL_OK);
    assert_int_equal(shoal_verify_release(release, original, policy, NULL, NULL, &error),
                     SHOAL_NOT_VERIFIED);
    if (!has_noise) assert_non_null(strstr(error.message, "'illness'"));
    shoal_table_free(release);
    shoal_table_free(original);
    shoal_policy_free(policy);
  }
}

/* One flu that is shown in two classes: each class alone has no more than the original. */
static void a_value_is_counted_over_all_classes(void **state UNUSED) {
  static const char *const names[] = {"age", "illness"};
  static const uint64_t ages[] = {0, 2, 4}, labels[] = {0, 5, 10, 15, 20}, one[] = {1, 3},
                        sizes[] = {0, 3, 7}, ill[] = {0, 3, 7, 10, 14}, ones[] = {1, 1, 1, 1};
  const shoal_text_view raw[] = {{"3034", ages}, {"flucold", sizes}},
                        shown[] = {{"30-3430-3435-3935-39", labels}, {"flucoldflucold", ill}};
  shoal_policy *policy = parse("shoal: 1\nattributes:\n  age: {role: quasi, type: number}\n"
                               "  illness: {role: sensitive}\nprivacy: {k: 2, p: 2}\n");
  shoal_table *original, *release;
  assert_int_equal(shoal_table_new(names, 2, &original, &error), SHOAL_OK);
  assert_int_equal(shoal_table_append(original, raw, 2, 2, one, &error), SHOAL_OK);
  assert_int_equal(shoal_table_finish(original, policy, SHOAL_FOR_TUPLES, &error), SHOAL_OK);
  assert_int_equal(shoal_table_new(names, 2, &release, &error), SHOAL_OK);
  assert_int_equal(shoal_table_append(release, shown, 2, 4, ones, &error), SHOAL_OK);
  assert_int_equal(shoal_table_finish(release, policy, SHOAL_FOR_REVIEW, &error), SHOAL_OK);
  assert_int_equal(shoal_verify_release(release, NULL, policy, NULL, NULL, &error), SHOAL_OK);
  assert_int_equal(shoal_verify_release(release, original, policy, NULL, NULL, &error),
                   SHOAL_NOT_VERIFIED);
  assert_non_null(strstr(error.message, "'illness'"));
  shoal_table_free(release);
  shoal_table_free(original);
  shoal_policy_free(policy);
}

/* Every row is in the part that the tree of cuts leads to, and parts have about the same size. */
static void cuts_make_parts(void **state UNUSED) {
  static lines all;
  uint64_t counts[MAX_LINES] = {0}, n_rows;
  write_people("people.csv");
  read_lines(&all);
  shoal_policy *policy = parse(policy_text);
  shoal_table *tuples = make_tuples(&all, policy, counts);
  for (size_t n_parts = 1; n_parts < 9; n_parts++) {
    shoal_cuts *cuts;
    shoal_cut cut;
    if (shoal_table_cuts(tuples, policy, n_parts, NULL, &cuts, &error) != SHOAL_OK)
      fail_msg("%s", error.message);
    assert_int_equal(shoal_cuts_parts(cuts), n_parts);
    assert_int_equal(shoal_cuts_nodes(cuts), 2 * n_parts - 1);
    const uint32_t *part_of = shoal_cuts_part_of_rows(cuts, &n_rows);
    uint64_t rows[8] = {0};
    for (uint64_t row = 0; row < n_rows; row++) {
      rows[part_of[row]] += counts[row];
      size_t node = 0;
      while (shoal_cuts_node(cuts, node, &cut) && !cut.is_part) {
        bool age = strcmp(cut.column, "age") == 0, lower = false;
        size_t size, c = age ? 0 : 1;
        const char *cell = shoal_table_value(tuples, c, shoal_table_cell(tuples, c, row), &size);
        assert_int_equal(cut.is_number, age);
        if (age)
          lower = size == cut.bound_bytes && memcmp(cell, cut.bound, size) <= 0; /* two digits */
        const char *value;
        size_t value_size;
        for (size_t v = 0; (value = shoal_cuts_value(cuts, node, v, &value_size)); v++)
          lower = lower || (size == value_size && memcmp(value, cell, size) == 0);
        node = lower ? cut.lower : cut.upper;
      }
      assert_int_equal(cut.part, part_of[row]);
    }
    for (size_t part = 0; part < n_parts; part++)
      assert_in_range(rows[part], 120 / n_parts / 2, 120 / n_parts * 2);
    shoal_cuts_free(cuts);
  }
  shoal_cuts *cuts;
  assert_int_equal(shoal_table_cuts(tuples, policy, 0, NULL, &cuts, &error), SHOAL_BAD_INPUT);
  shoal_table_free(tuples);
  shoal_policy_free(policy);
}

/* A part that knows the whole is judged by its distribution and measured by its domains. */
static void parts_know_the_whole(void **state UNUSED) {
  static const char text[] = "shoal: 1\nattributes:\n  age: {role: quasi, type: number}\n"
                             "  illness: {role: sensitive}\n"
                             "privacy: {k: 2, models: [{t-closeness: {t: 0.2}}]}\n"
                             "method: {algorithm: mondrian}\n";
  static const char *const names[] = {"age", "illness"};
  static const uint64_t two[] = {0, 2, 4}, three[] = {0, 3, 6}, counts[] = {2, 2},
                        more[] = {20, 60};
  static const uint64_t ages[] = {0, 2, 4, 6, 8}, of_ages[] = {2, 2, 30, 46}, few[] = {1, 79};
  const shoal_text_view cells[] = {{"3034", two}, {"fluflu", three}};
  const shoal_text_view all_ages = {"30349070", ages},
                        illnesses = {"flucold", (uint64_t[]){0, 3, 7}};
  shoal_policy *policy = parse(text);
  for (int whole = 0; whole < 2; whole++) {
    shoal_table *part;
    shoal_release *release;
    assert_int_equal(shoal_table_new(names, 2, &part, &error), SHOAL_OK);
    assert_int_equal(shoal_table_append(part, cells, 2, 2, counts, &error), SHOAL_OK);
    assert_int_equal(shoal_table_finish(part, policy, SHOAL_FOR_TUPLES, &error), SHOAL_OK);
    if (whole) {
      assert_int_equal(shoal_table_whole(part, policy, "illness", &illnesses, few, 2, &error),
                       SHOAL_BAD_INPUT); /* it has four records of flu */
      assert_int_equal(shoal_table_whole(part, policy, "illness", &illnesses, more, 2, &error),
                       SHOAL_OK);
      assert_int_equal(shoal_table_whole(part, policy, "illness", &illnesses, more, 2, &error),
                       SHOAL_BAD_INPUT);
      assert_int_equal(shoal_table_whole(part, policy, "age", &all_ages, of_ages, 4, &error),
                       SHOAL_OK);
      assert_int_equal(shoal_table_whole(part, policy, "ward", &all_ages, of_ages, 4, &error),
                       SHOAL_BAD_INPUT);
    }
    /* alone, all have flu as the table has; of the whole it is a quarter */
    shoal_status status = shoal_anonymize(part, policy, NULL, &release, &error);
    assert_int_equal(status, whole ? SHOAL_REFUSED : SHOAL_OK);
    shoal_release_free(release);
    if (whole) {
      shoal_policy *k_only = parse("shoal: 1\nattributes:\n  age: {role: quasi, type: number}\n"
                                   "  illness: {role: sensitive}\nprivacy: {k: 4}\n"
                                   "accept: {unprotected: [illness]}\n"
                                   "method: {algorithm: mondrian}\n");
      assert_int_equal(shoal_anonymize(part, k_only, NULL, &release, &error), SHOAL_OK);
      char *json;
      assert_int_equal(
          shoal_result_render(shoal_release_result(release), SHOAL_JSON, &json, &error), SHOAL_OK);
      const char *nil = strstr(json, "\"nil\":"); /* 4 of a range of 60, not of 4 */
      assert_non_null(nil);
      double loss = strtod(nil + 6, NULL);
      assert_true(loss > 0.06 && loss < 0.07);
      shoal_free(json);
      shoal_release_free(release);
      shoal_policy_free(k_only);
    }
    shoal_table_free(part);
  }
  shoal_policy_free(policy);
}

/* A kept column that nearly tells everybody apart must be accepted; so must one without figures. */
static void figures_are_judged(void **state UNUSED) {
  static lines all;
  static const uint64_t ones[] = {1}, values[] = {N_PEOPLE}, too_many[] = {N_PEOPLE + 1};
  uint64_t counts[MAX_LINES] = {0};
  write_people("people.csv");
  read_lines(&all);
  shoal_policy *policy = parse(policy_text);
  shoal_column_figures figures = {sizeof figures, SHOAL_CELLS_WHOLE, ones, values, 1};
  for (int measured = 0; measured < 2; measured++) {
    memset(counts, 0, sizeof counts);
    shoal_table *tuples = make_tuples(&all, policy, counts);
    shoal_release *release;
    figures.n_values = too_many;
    assert_int_equal(shoal_table_outside(tuples, "name", &figures, &error), SHOAL_BAD_INPUT);
    assert_int_equal(shoal_table_outside(tuples, "age", NULL, &error), SHOAL_BAD_INPUT);
    figures.n_values = values;
    assert_int_equal(shoal_table_outside(tuples, "name", NULL, &error), SHOAL_OK);
    assert_int_equal(shoal_table_outside(tuples, "ward", measured ? &figures : NULL, &error),
                     SHOAL_OK);
    assert_int_equal(shoal_anonymize(tuples, policy, NULL, &release, &error), SHOAL_BAD_INPUT);
    assert_non_null(strstr(error.message, "'ward'"));
    assert_non_null(strstr(error.message, measured ? "one row only" : "could not be measured"));
    shoal_table_free(tuples);
  }
  shoal_policy_free(policy);
}

/* Records that the figures leave out have a missing cell: that is no value, but it repeats. */
static void missing_cells_outside_are_counted(void **state UNUSED) {
  static const struct {
    uint64_t n_rows[2], n_values[2], missing, n_repeated, unique;
    bool refused;
  } cases[] = {{{1, 2}, {60, 0}, 60, 60, 60, true},
               {{2, 5}, {10, 16}, 20, 120, 0, false},
               {{1, 118}, {1, 1}, 1, 118, 1, false},
               {{1, 2}, {120, 0}, 0, 0, 120, true}};
  static lines all;
  write_people("people.csv");
  read_lines(&all);
  shoal_policy *policy = parse(policy_text);
  for (size_t i = 0; i < COUNT(cases); i++) {
    uint64_t counts[MAX_LINES] = {0};
    size_t n = cases[i].n_values[1] ? 2 : 1;
    const shoal_column_figures figures = {sizeof figures, SHOAL_CELLS_TEXT, cases[i].n_rows,
                                          cases[i].n_values, n};
    shoal_table *tuples = make_tuples(&all, policy, counts);
    assert_int_equal(shoal_table_outside(tuples, "name", NULL, &error), SHOAL_OK);
    assert_int_equal(shoal_table_outside(tuples, "ward", &figures, &error), SHOAL_OK);
    const shoal_column *ward = shoal_table_column(tuples, "ward");
    shoal_column_stats stats;
    assert_true(shoal_profile_sample(ward->sample, tuples->n_records, &stats));
    assert_int_equal(stats.missing, cases[i].missing);
    assert_int_equal(stats.present, N_PEOPLE - cases[i].missing);
    assert_int_equal(stats.distinct, cases[i].n_values[0] + cases[i].n_values[1]);
    assert_int_equal(stats.unique, cases[i].unique);
    assert_int_equal(ward->n_repeated, cases[i].n_repeated);
    shoal_release *release = NULL;
    shoal_status status = shoal_anonymize(tuples, policy, NULL, &release, &error);
    assert_int_equal(status, cases[i].refused ? SHOAL_BAD_INPUT : SHOAL_OK);
    if (cases[i].refused) assert_non_null(strstr(error.message, "one row only"));
    shoal_release_free(release);
    shoal_table_free(tuples);
  }
  shoal_policy_free(policy);
}

static void lattices_have_nodes(void **state UNUSED) {
  write_people("people.csv");
  shoal_policy *policy = parse(policy_text);
  assert_int_equal(shoal_policy_set(policy, "algorithm", "samarati", &error), SHOAL_OK);
  shoal_table *table = read_people(policy, SHOAL_FOR_RELEASE);
  shoal_result *lattice;
  shoal_release *release;
  assert_int_equal(shoal_lattice(table, policy, NULL, &lattice, &error), SHOAL_OK);
  assert_int_equal(shoal_anonymize(table, policy, NULL, &release, &error), SHOAL_OK);
  shoal_node_fact node, chosen = {0};
  const shoal_result *result = shoal_release_result(release);
  for (size_t i = 0; shoal_result_node(result, i, &node); i++)
    if (node.chosen) chosen = node;
  assert_int_equal(chosen.n_levels, 2);
  bool found = false;
  assert_true(shoal_result_n_nodes(lattice) > 2);
  for (size_t i = 0; shoal_result_node(lattice, i, &node); i++) {
    assert_int_equal(node.height, node.levels[0] + node.levels[1]);
    if (memcmp(node.levels, chosen.levels, 2 * sizeof *node.levels) != 0) continue;
    assert_true(node.satisfies && node.minimal && node.suppressed == chosen.suppressed);
    found = true;
  }
  assert_true(found);
  shoal_release_free(release);
  shoal_result_free(lattice);
  shoal_table_free(table);
  shoal_policy_free(policy);
}

static void null_arguments(void **state UNUSED) {
  size_t n = 1;
  assert_null(shoal_facts_shares(NULL, &n));
  assert_int_equal(n, 0);
  assert_int_equal(shoal_facts_sensitive(NULL), 0);
  assert_null(shoal_facts_sensitive_name(NULL, 0));
  assert_null(shoal_facts_cell(NULL, 0, 0, &n));
  assert_int_equal(shoal_facts_histograms(NULL, 0, NULL, &n, &error), SHOAL_BAD_INPUT);
  assert_int_equal(shoal_table_outside(NULL, "a", NULL, &error), SHOAL_BAD_INPUT);
  shoal_table *unfinished;
  assert_int_equal(shoal_table_new((const char *const[]){"b"}, 1, &unfinished, &error), SHOAL_OK);
  assert_int_equal(shoal_table_outside(unfinished, "a", NULL, &error), SHOAL_BAD_INPUT);
  shoal_table_free(unfinished);
  assert_int_equal(shoal_table_from_tuples(NULL, NULL, 0, NULL, SHOAL_FOR_TUPLES, NULL, NULL, NULL),
                   SHOAL_BAD_INPUT);
  assert_int_equal(shoal_result_n_nodes(NULL), 0);
  assert_false(shoal_result_node(NULL, 0, NULL));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(tuples_decide_like_rows),
      cmocka_unit_test(figures_are_judged),
      cmocka_unit_test(missing_cells_outside_are_counted),
      cmocka_unit_test(releases_are_verified),
      cmocka_unit_test(cuts_make_parts),
      cmocka_unit_test(parts_know_the_whole),
      cmocka_unit_test(lattices_have_nodes),
      cmocka_unit_test(null_arguments),
      cmocka_unit_test(repeated_rows_are_no_rows),
      cmocka_unit_test(a_value_is_counted_over_all_classes),
  };
  return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
