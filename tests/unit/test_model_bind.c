/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Policies become demands on a table: what is refused and with which words, categories from files,
 * trees, guards; each with memory that runs out at every place in turn. Then classes are judged
 * without memory: they break, and the demands say that they cannot be trusted. People are found by
 * their keys.
 */
#include "lowmem_memory.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/hash.h"
#include "base/text.h"
#include "context/people.h"
#include "model/bounds.h"
#include "model/types.h"
#include "table/load.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define UNUSED __attribute__((unused))

/* ---------------------------------------------------------------- a table and a policy */

enum { MAX_SENSITIVE = 2, MAX_COLUMNS = 8 };

static char folder[64], data[96], side[96];
static shoal_error error;
static shoal_policy *policy;
static shoal_table *table;
static shoal_sensitive sensitive[MAX_SENSITIVE];
static shoal_hierarchy *trees[MAX_SENSITIVE];
static const shoal_column *columns[MAX_SENSITIVE + MAX_COLUMNS];
static shoal_track track[MAX_SENSITIVE + MAX_COLUMNS];
static shoal_tracked tracked;
static shoal_requirements requirements;
static shoal_frequency_set *frequency;

static int start(void **state UNUSED) {
  (void)snprintf(folder, sizeof folder, "/tmp/shoal-bind-XXXXXX");
  if (!mkdtemp(folder)) return -1;
  (void)snprintf(data, sizeof data, "%s/data.csv", folder);
  (void)snprintf(side, sizeof side, "%s/categories.csv", folder);
  return 0;
}

static int end(void **state UNUSED) {
  (void)unlink(data);
  (void)unlink(side);
  return rmdir(folder);
}

static void succeeds(shoal_status status) {
  if (status != SHOAL_OK) fail_msg("%s", error.message);
}

static void put(const char *path, const char *bytes, size_t size) {
  FILE *file = fopen(path, "wb");
  assert_true(file && fwrite(bytes, 1, size, file) == size && fclose(file) == 0);
}

static void compile_tree(size_t s) {
  const shoal_attribute *attribute = sensitive[s].attribute;
  shoal_hierarchy_options options = {.attribute = attribute->name, .ragged = true};
  if (attribute->has_hierarchy)
    succeeds(shoal_hierarchy_compile(&attribute->hierarchy, table, sensitive[s].column, &options,
                                     &trees[s], &error));
  sensitive[s].hierarchy = trees[s];
}

/* The rest of a policy, below `shoal: 1`, and a table. */
static void load(const char *rest, const char *csv) {
  shoal_text text;
  shoal_text_init(&text);
  shoal_text_add(&text, "shoal: 1\ndata: {missing: ['?']}\n");
  shoal_text_add(&text, rest);
  put(data, csv, strlen(csv));
  succeeds(shoal_policy_parse(text.bytes, text.size_bytes, "policy", folder, &policy, &error));
  succeeds(shoal_table_read(data, policy, SHOAL_FOR_RELEASE, NULL, NULL, &table, &error));
  shoal_text_reset(&text);
  tracked = (shoal_tracked){.sensitive = sensitive, .columns = columns, .track = track};
  for (size_t a = 0; a < policy->n_attributes; a++) {
    if (policy->attributes[a].role != SHOAL_ROLE_SENSITIVE) continue;
    sensitive[tracked.n_sensitive] =
        (shoal_sensitive){.column = shoal_table_column(table, policy->attributes[a].name),
                          .attribute = &policy->attributes[a]};
    compile_tree(tracked.n_sensitive++);
  }
}

static void unload(void) {
  shoal_frequency_set_free(frequency);
  frequency = NULL;
  for (size_t s = 0; s < MAX_SENSITIVE; s++) shoal_hierarchy_free(trees[s]);
  memset(trees, 0, sizeof trees);
  shoal_table_free(table);
  shoal_policy_free(policy);
}

static shoal_status bind(void) {
  error = (shoal_error){0};
  return shoal_requirements_bind(policy, table, &tracked, &requirements, &error);
}

/* The classes are those of column q. */
static shoal_status group(void) {
  const shoal_column *quasi = shoal_table_column(table, "q");
  return shoal_frequency_set_build(table, &quasi, NULL, 1, tracked.columns, tracked.track,
                                   tracked.n_columns, NULL, &frequency, &error);
}

static bool holds(size_t requirement, uint32_t c, double *reached) {
  return shoal_requirement_holds(&requirements.items[requirement], frequency, &frequency->base, c,
                                 reached);
}

/* Binding fails as told, and with each allocation failing in turn as that or for lack of memory. */
static void refuses(const char *message) {
  assert_int_equal(bind(), SHOAL_BAD_INPUT);
  if (!strstr(error.message, message)) fail_msg("%s\nnot: %s", error.message, message);
  assert_int_equal(requirements.n_items, 0);
  fails_once = true;
  for (long n = 0, ended = 0; !ended; n++) {
    allocations_left = n;
    shoal_status status = bind();
    ended = allocations_left >= 0;
    allocations_left = -1;
    assert_true(status == SHOAL_BAD_INPUT || (status == SHOAL_FAILED && !ended));
  }
}

static void binds(void) {
  succeeds(bind());
  shoal_requirements_reset(&requirements);
  fails_once = true;
  for (long n = 0, ended = 0; !ended; n++) {
    allocations_left = n;
    shoal_status status = bind();
    ended = allocations_left >= 0;
    allocations_left = -1;
    assert_int_equal(status, ended ? SHOAL_OK : SHOAL_FAILED);
  }
}

/* ---------------------------------------------------------------- what is refused */

#define Q "attributes:\n  q: {role: quasi, hierarchy: {top: true}}\n"
#define OTHERS Q "  guard: {role: keep}\n  other: {role: keep}\n"
#define ILL OTHERS "  ill: {role: sensitive}\n"
#define TREE                                                                                       \
  Q "  guard: {role: keep}\n  other: {role: keep}\n  ill: {role: sensitive, hierarchy: {tree: "    \
    "{viral: [a, b], cancer: [c]}}}\n"

static const char CSV[] = "q,guard,other,ill\n1,viral,a,a\n1,?,b,b\n2,cancer,viral,c\n2,a,c,a\n";

static void requests_that_are_not_right_are_refused(void **state UNUSED) {
  static const struct {
    const char *policy, *message;
  } wrong[] = {
      {ILL "privacy: {k: 2, models: [t-closeness: {t: 0.1234567890123456789}]}\n", "18 digits"},
      {ILL "privacy: {k: 2, models: [p-sensitive: {p: 1234567890123456789012}]}\n", "18 digits"},
      {ILL "privacy: {k: 2, models: [p-sensitive: {p: 1.5}]}\n", "a whole number of at least 1"},
      {ILL "privacy: {k: 2, models: [p-sensitive: {p: two}]}\n", "a whole number of at least 1"},
      {ILL "privacy: {k: 2, models: [p-sensitive: {p: 0}]}\n", "a whole number of at least 1"},
      {ILL "privacy: {k: 2, models: [l-diversity: {l: 0.5}]}\n", "a number of at least 1"},
      {Q "  guard: {role: keep}\n  other: {role: keep}\n  ill: {role: sensitive, categories: [[a], "
         "[b]]}\nprivacy: {k: 2, models: [p-plus-sensitive: {p: 2}]}\n",
       "categories of 'ill' lack a value of"},
      {ILL "privacy: {k: 2, models: [t-closeness: {t: 1.000000000000001}]}\n", "at most 1"},
      {ILL "privacy: {k: 2, models: [t-closeness: {t: -0.1}]}\n", "of at least 0"},
      {ILL "privacy: {k: 2, models: [alpha-k: {alpha: 0.0}]}\n", "above 0"},
      {ILL "privacy: {k: 2, models: [alpha-k: {alpha: some}]}\n", "above 0"},
      {ILL "privacy: {k: 2, models: [t-closeness: {t: 0.5, distance: ordred}]}\n", "'ordered'?"},
      {ILL "privacy: {k: 2, models: [t-closeness: {u: 0.5}]}\n", "no parameter 'u'"},
      {ILL "privacy: {k: 2, models: [t-closness: {t: 0.5}]}\n", "did you mean 't-closeness'?"},
      {ILL "privacy: {k: 2, models: [nothing-of-the-kind: {t: 0.5}]}\n", "unknown model"},
      {ILL "privacy: {p: 2, models: [k-anonymity: {}]}\n", "k-anonymity needs 'k'"},
      {ILL "privacy: {k: 2, models: [p-sensitive: {}]}\n", "p-sensitive needs 'p'"},
      {ILL "privacy: {k: 2, models: [alpha-k: {}]}\n", "alpha-k needs 'alpha'"},
      {ILL "privacy: {models: [k-anonymity: {k: 2, attribute: ill}]}\n", "not about an attribute"},
      {ILL "privacy: {k: 2, models: [p-sensitive: {p: 2, attribute: il}]}\n", "'ill'?"},
      {ILL "privacy: {k: 2, models: [l-diversity: {l: 2, c: 3}]}\n", "'c' belongs to recursive"},
      {ILL "privacy: {k: 2, models: [l-diversity: {l: 2, kind: recursive}]}\n", "needs 'c'"},
      {ILL "privacy: {k: 2, models: [l-diversity: {l: 2.5}]}\n", "must be a whole number"},
      {ILL "privacy: {k: 2, models: [extended-p-sensitive: {p: 2}]}\n", "needs a 'hierarchy'"},
      {ILL "privacy: {k: 2, models: [p-plus-sensitive: {p: 2}]}\n", "needs 'categories'"},
      {ILL "privacy: {k: 2, models: [t-closeness: {t: 1, distance: ordered}]}\n",
       "needs 'type: number'"},
      {ILL "privacy: {k: 2, models: [t-closeness: {t: 1, distance: hierarchical}]}\n", "needs a"},
      {ILL "privacy: {k: 2, models: [personalized: {column: guard, breach: 1}]}\n",
       "needs a 'hierarchy'"},
      {TREE "privacy: {k: 2, models: [personalized: {column: gard, breach: 1}]}\n", "no column"},
      {TREE "privacy: {k: 2, models: [personalized: {column: q, breach: 1}]}\n",
       "is not a node of"},
      {TREE "privacy: {k: 2, models: [personalized: {column: guard, breach: 1}, personalized: "
            "{column: other, breach: 1}]}\n",
       "two guard columns"},
      {Q "  guard: {role: keep}\n  other: {role: keep}\n  ill: {role: keep}\nprivacy: {p: 2}\n",
       "p-sensitive needs a sensitive attribute"},
  };
  for (size_t i = 0; i < COUNT(wrong); i++) {
    load(wrong[i].policy, CSV);
    refuses(wrong[i].message);
    unload();
  }
}

/* A column whose cells are not kept; values of which no row is known. */
static void what_the_table_does_not_keep_is_told(void **state UNUSED) {
  load(TREE "privacy: {k: 2, models: [personalized: {column: guard, breach: 1}]}\n", CSV);
  shoal_column *guard = &table->columns[1];
  unsigned code_size = guard->code_size;
  guard->code_size = 0;
  refuses("no column 'guard'");
  guard->code_size = code_size;
  binds();
  shoal_requirements_reset(&requirements);
  unload();
  load(TREE "privacy: {k: 2, models: [personalized: {column: q, breach: 1}]}\n", CSV);
  free(table->columns[0].first_row);
  table->columns[0].first_row = NULL;
  refuses("column 'q': the cell is not a node");
  unload();
}

static void guards_may_be_asked_for_twice(void **state UNUSED) {
  load(TREE "privacy: {k: 2, models: [personalized: {column: guard, breach: 1}, personalized: "
            "{column: guard, breach: 0.6}, personalized: {column: ill, breach: 1}]}\n",
       CSV);
  refuses("two guard columns");
  unload();
  load(TREE "privacy: {k: 2, models: [personalized: {column: guard, breach: 1}, personalized: "
            "{column: guard, breach: 0.6}]}\n",
       CSV);
  binds();
  assert_int_equal(requirements.n_items, 3);
  assert_int_equal(tracked.n_columns, 2); /* the attribute and one guard column */
  succeeds(group());
  double reached;
  assert_true(holds(1, 0, &reached) && reached == 1); /* viral: a and b of 1 */
  assert_false(holds(2, 0, NULL));
  assert_true(holds(2, 1, &reached) && reached == 0.5); /* cancer: c of 2; a: the other */
  shoal_requirements_reset(&requirements);
  unload();
  load(TREE "privacy: {k: 2, models: [personalized: {column: ill, breach: 0.5}]}\n", CSV);
  binds(); /* every row guards its own value */
  assert_int_equal(tracked.n_columns, 1);
  succeeds(group());
  assert_true(holds(1, 0, NULL) && holds(1, 1, NULL));
  shoal_requirements_reset(&requirements);
  unload();
}

/* ---------------------------------------------------------------- k and p */

static void p_is_checked_against_k_where_there_is_one(void **state UNUSED) {
  load(ILL "privacy: {p: 3}\n", CSV);
  binds();
  succeeds(shoal_requirements_check(&requirements, policy, &error));
  succeeds(shoal_requirements_check_p(&requirements, policy, &error));
  assert_true(requirements.k == 1 && requirements.p == 3);
  shoal_requirements_reset(&requirements);
  assert_int_equal(shoal_requirements_check(&requirements, policy, &error), SHOAL_BAD_INPUT);
  assert_non_null(strstr(error.message, "asks for no protection"));
  unload();
  load(ILL "privacy: {k: 2, p: 3}\n", CSV);
  binds();
  assert_int_equal(shoal_requirements_check_p(&requirements, policy, &error), SHOAL_BAD_INPUT);
  assert_non_null(strstr(error.message, "p is 3, but k is 2; set p to 2 or less"));
  shoal_requirements_reset(&requirements);
  unload();
}

/* More demands on distinct values than are judged at once; the last one breaks. */
static void many_demands_are_all_judged(void **state UNUSED) {
  shoal_text text;
  shoal_text_init(&text);
  shoal_text_add(&text, ILL "privacy: {k: 2, models: [");
  for (unsigned i = 0; i < 9; i++) shoal_text_print(&text, "p-sensitive: {p: 1}, ");
  shoal_text_add(&text, "p-sensitive: {p: 2}]}\n");
  load(text.bytes, "q,guard,other,ill\n1,,,a\n1,,,b\n2,,,c\n2,,,c\n");
  binds();
  succeeds(group());
  uint8_t violates[2];
  shoal_judgement judged = shoal_judge(&requirements, frequency, &frequency->base, 4, violates);
  assert_true(judged.suppressed == 2 && judged.n_classes == 1 && judged.smallest_class == 2);
  assert_true(!violates[0] && violates[1]);
  shoal_requirements_reset(&requirements);
  shoal_text_reset(&text);
  unload();
}

/* The larger of two k; a class of too few values; and no class at all. */
static void each_demand_may_break_a_class(void **state UNUSED) {
  load(TREE "privacy: {k: 3, p: 2, models: [k-anonymity: {k: 2}]}\n",
       "q,guard,other,ill\n1,,,a\n1,,,b\n2,,,c\n2,,,c\n2,,,c\n3,,,a\n3,,,b\n3,,,b\n");
  binds();
  succeeds(group());
  uint8_t violates[3];
  assert_int_equal(shoal_judge(&requirements, frequency, &frequency->base, 9, violates).suppressed,
                   5);
  assert_true(violates[0] && violates[1] && !violates[2]);
  shoal_requirements_reset(&requirements);
  unload();
  load(TREE "privacy: {k: 2, models: [personalized: {column: guard, breach: 0}]}\n", CSV);
  binds();
  succeeds(group());
  shoal_classes none;
  double reached;
  uint32_t ones[] = {1, 1, 1, 1, 1, 1, 1, 1}; /* class 0 is empty */
  succeeds(shoal_classes_regroup(&frequency->base, ones, 2, &none, &error));
  assert_true(shoal_requirement_holds(&requirements.items[1], frequency, &none, 0, &reached));
  assert_true(reached == 0);
  shoal_classes_reset(&none);
  shoal_requirements_reset(&requirements);
  unload();
}

/* 64 values: the last bit of a set counts like the others. */
static void the_last_of_64_values_counts(void **state UNUSED) {
  shoal_text csv, rest;
  shoal_text_init(&csv);
  shoal_text_init(&rest);
  shoal_text_add(&csv, "q,guard,other,ill\n");
  shoal_text_add(&rest, OTHERS "  ill: {role: sensitive, categories: [");
  for (unsigned v = 0; v < 64; v++) {
    shoal_text_print(&csv, "1,,,v%u\n", v);
    shoal_text_print(&rest, "%s[v%u]", v ? ", " : "", v);
  }
  shoal_text_add(&rest, "]}\nprivacy: {k: 2, models: [p-plus-sensitive: {p: 64}]}\n");
  load(rest.bytes, csv.bytes);
  binds();
  succeeds(group());
  assert_non_null(frequency->base.sets[0]);
  assert_true(holds(1, 0, NULL));
  frequency->base.sets[0][0] ^= UINT64_C(1) << 63;
  assert_false(holds(1, 0, NULL));
  shoal_requirements_reset(&requirements);
  unload();
  shoal_text_reset(&csv);
  shoal_text_reset(&rest);
}

/* Rows of values that were not counted prove no entropy. */
static void what_is_not_counted_is_not_proven(void **state UNUSED) {
  load(ILL "privacy: {k: 2, models: [l-diversity: {l: 2, kind: entropy}]}\n",
       "q,guard,other,ill\n1,,,a\n1,,,b\n");
  binds();
  succeeds(group());
  assert_int_equal(shoal_judge(&requirements, frequency, &frequency->base, 9, NULL).suppressed, 0);
  shoal_frequency_set_free(frequency);
  tracked.track[0] = SHOAL_TRACK_SET;
  succeeds(group());
  assert_int_equal(shoal_judge(&requirements, frequency, &frequency->base, 9, NULL).suppressed, 2);
  shoal_requirements_reset(&requirements);
  unload();
}

/* ---------------------------------------------------------------- categories */

#define CATEGORIES                                                                                 \
  Q "  guard: {role: keep}\n  other: {role: keep}\n  ill: {role: sensitive, categories: {file: "   \
    "categories.csv}}\nprivacy: {k: 2, models: [p-plus-sensitive: {p: 2}]}\n"

static void categories_come_from_files(void **state UNUSED) {
  static const struct {
    const char *file, *message; /* NULL: it is right */
  } files[] = {
      {"a;low\nb;high\nc;low\n", NULL},
      {"\xef\xbb\xbf"
       "a;low\n\nb;high\n\nc;low\nc;low\nz;none\n",
       NULL}, /* marked, blank, twice */
      {"a,low\nb,high\nc,low\n", NULL},
      {"\xef\xbb\xbf", "is empty"},
      {"", "is empty"},
      {"a;low\nb\nc;low\n", "has 1 cell:"},
      {"a;low\nb;high;x\nc;low\n", "has 3 cells:"},
      {"a;low\nb;\"high\nc;low\n", "quot"},
      {"a;low\nb;high\na;high\nc;low\n", "into another category"},
      {"a;low\nb;high\n", "lack a value of"},
  };
  load(CATEGORIES, CSV);
  for (size_t i = 0; i < COUNT(files); i++) {
    put(side, files[i].file, strlen(files[i].file));
    if (files[i].message) {
      refuses(files[i].message);
      continue;
    }
    binds();
    succeeds(group());
    assert_true(holds(1, 0, NULL));  /* a and b */
    assert_false(holds(1, 1, NULL)); /* c and a */
    shoal_requirements_reset(&requirements);
    shoal_frequency_set_free(frequency);
    frequency = NULL;
  }
  free(table->columns[3].first_row);
  table->columns[3].first_row = NULL;
  refuses("first in row 0");
  assert_int_equal(unlink(side), 0);
  assert_int_equal(bind(), SHOAL_BAD_INPUT); /* no such file */
  unload();
}

/* ---------------------------------------------------------------- trees */

static void protected_nodes_are_found_or_named(void **state UNUSED) {
  static const struct {
    const char *protect, *message;
  } nodes[] = {{"[viral]", NULL},
               {"[virl]", "did you mean 'viral'?"},
               {"[something-else-entirely]", "name one of its labels"}};
  for (size_t i = 0; i < COUNT(nodes); i++) {
    char rest[512];
    (void)snprintf(rest, sizeof rest,
                   Q "  guard: {role: keep}\n  other: {role: keep}\n  ill: {role: sensitive, "
                     "protect: %s, hierarchy: {tree: {viral: [a, b], cancer: [c], fungi: [x1], n2: "
                     "[x2], n3: [x3], n4: [x4], n5: [x5], n6: [x6], n7: [x7]}}}\n"
                     "privacy: {k: 2, models: [extended-p-sensitive: {p: 2}]}\n",
                   nodes[i].protect);
    load(rest, CSV);
    if (nodes[i].message) refuses(nodes[i].message);
    else binds();
    if (!nodes[i].message) {
      char why[256];
      const shoal_requirement *requirement = &requirements.items[1];
      succeeds(group());
      assert_false(holds(1, 0, NULL)); /* a and b are both viral */
      assert_true(holds(1, 1, NULL));
      const shoal_value_frequencies none = {.n_rows = 0};
      shoal_bound bound = shoal_bound_of(requirement, &none);
      shoal_bound_explain(&bound, "ill", why, sizeof why);
      assert_non_null(strstr(why, "only 2 strong ancestors"));
      shoal_requirements_reset(&requirements);
    }
    unload();
  }
}

/* A branch that is shorter, a tree without height, numbers spelled twice. */
static void distances_of_any_tree_and_numbers(void **state UNUSED) {
  double reached;
  load(OTHERS "  ill: {role: sensitive, hierarchy: {tree: {x: {y: {w: [a, b]}}, z: [c]}}}\n"
              "privacy: {k: 2, models: [t-closeness: {t: 0.5, distance: hierarchical}]}\n",
       "q,guard,other,ill\n1,,,a\n1,,,b\n2,,,c\n2,,,c\n3,,,a\n3,,,b\n3,,,b\n3,,,b\n3,,,c\n3,,,c\n"
       "3,,,c\n3,,,c\n");
  binds();
  succeeds(group());                                    /* of 12 rows a 2, b 4, c 6 */
  assert_true(holds(1, 0, &reached) && reached == 0.5); /* half of the rows, over the root */
  assert_true(holds(1, 1, &reached) && reached == 0.5);
  assert_true(holds(1, 2, &reached)); /* of 8 rows a 1, b 3, c 4: 1/24 within w, a quarter up */
  assert_true(fabs(reached - 1. / 96) < 1e-12);
  shoal_requirements_reset(&requirements);
  unload();
  put(side, "a;a\n", 4);
  load(OTHERS "  ill: {role: sensitive, hierarchy: {file: categories.csv}}\n"
              "privacy: {k: 2, models: [t-closeness: {t: 0, distance: hierarchical}]}\n",
       "q,guard,other,ill\n1,,,a\n2,,,a\n");
  assert_int_equal(trees[0]->tree_height, 0);
  binds();
  succeeds(group());
  assert_true(holds(1, 0, &reached) && reached == 0);
  shoal_requirements_reset(&requirements);
  unload();
  load(OTHERS "  ill: {role: sensitive, type: number}\n"
              "privacy: {k: 2, models: [t-closeness: {t: 0.17, distance: ordered}]}\n",
       "q,guard,other,ill\n1,,,1\n1,,,2\n2,,,1.0\n2,,,1\n2,,,?\n3,,,?\n4,,,3\n4,,,1.00\n");
  binds();
  succeeds(group()); /* 4 of 6 are 1, one is 2, one 3 */
  assert_true(holds(1, 0, &reached) && fabs(reached - 1. / 6) < 1e-12);
  assert_true(!holds(1, 1, &reached) && fabs(reached - 0.25) < 1e-12);
  assert_true(!holds(1, 2, &reached) && reached == 1); /* no value at all */
  shoal_requirements_reset(&requirements);
  unload();
}

/* One number has one rank, and one strong ancestor counts as one. */
static void one_value_is_as_far_as_itself(void **state UNUSED) {
  static const char one[] = "q,guard,other,ill\n1,,,7\n1,,,7.0\n2,,,7\n2,,,?\n";
  double reached;
  char why[256];
  load(OTHERS "  ill: {role: sensitive, type: number}\n"
              "privacy: {k: 2, models: [t-closeness: {t: 0, distance: ordered}]}\n",
       one);
  binds();
  succeeds(group());
  for (uint32_t c = 0; c < 2; c++) assert_true(holds(1, c, &reached) && reached == 0);
  shoal_requirements_reset(&requirements);
  unload();
  load(OTHERS "  ill: {role: sensitive, type: number}\n"
              "privacy: {k: 1, models: [t-closeness: {t: 0.5, distance: ordered}]}\n",
       "q,guard,other,ill\n1,,,7\n2,,,9\n");
  binds();
  succeeds(group());
  assert_true(holds(1, 0, &reached) && reached == 0.5);
  shoal_requirements_reset(&requirements);
  unload();
  load(OTHERS "  ill: {role: sensitive, type: number}\n"
              "privacy: {k: 1, models: [t-closeness: {t: 0, distance: ordered}]}\n",
       "q,guard,other,ill\n1,,,7\n2,,,7\n");
  binds(); /* nothing to sort at all */
  shoal_requirements_reset(&requirements);
  unload();
  load(OTHERS "  ill: {role: sensitive, protect: [viral], hierarchy: {tree: {viral: [a, b], "
              "cancer: [c]}}}\nprivacy: {k: 2, models: [extended-p-sensitive: {p: 2}]}\n",
       "q,guard,other,ill\n1,,,a\n1,,,b\n");
  binds();
  const shoal_value_frequencies none = {.n_rows = 0};
  shoal_bound bound = shoal_bound_of(&requirements.items[1], &none);
  shoal_bound_explain(&bound, "ill", why, sizeof why);
  assert_non_null(strstr(why, "only 1 strong ancestor "));
  shoal_requirements_reset(&requirements);
  unload();
}

/* ---------------------------------------------------------------- judging without memory */

enum { MANY = 80 };

static void a_class_that_cannot_be_judged_breaks(void **state UNUSED) {
  static const char *const models[] = {
      "l-diversity: {l: 2, kind: entropy}",
      "l-diversity: {l: 2, kind: recursive, c: 3}",
      "theta-sensitive: {mu: 0.5}",
      "t-closeness: {t: 1, distance: hierarchical}",
      "extended-p-sensitive: {p: 2}",
      "p-plus-sensitive: {p: 2}",
      "balanced-p-plus: {p: 2}",
      "p-alpha-sensitive: {p: 2, alpha: 0}",
      "personalized: {column: guard, breach: 1}",
  };
  shoal_text csv, values, categories;
  shoal_text_init(&csv);
  shoal_text_init(&values);
  shoal_text_init(&categories);
  shoal_text_add(&csv, "q,guard,other,ill\n");
  for (unsigned v = 0; v < MANY; v++) {
    shoal_text_print(&csv, "1,v%u,,v%u\n", v, v);
    shoal_text_print(&values, "%sg%u: [v%u]", v ? ", " : "", v, v);
    shoal_text_print(&categories, "%s[v%u]", v ? ", " : "", v);
  }
  for (size_t i = 0; i < COUNT(models); i++) {
    shoal_text rest;
    shoal_text_init(&rest);
    shoal_text_print(&rest,
                     Q "  guard: {role: keep}\n  other: {role: keep}\n  ill: {role: sensitive, "
                       "hierarchy: {tree: {%s}}, categories: [%s]}\nprivacy: {k: 2, models: [%s]}"
                       "\n",
                     values.bytes, categories.bytes, models[i]);
    load(rest.bytes, csv.bytes);
    succeeds(bind());
    succeeds(group());
    double reached;
    if (!holds(1, 0, &reached)) fail_msg("%s", models[i]);
    succeeds(shoal_requirements_status(&requirements, &error));
    fails_once = false;
    allocations_left = 0;
    bool held = holds(1, 0, NULL);
    (void)holds(1, 0, &reached);
    allocations_left = -1;
    assert_false(held);
    assert_int_equal(shoal_requirements_status(&requirements, &error), SHOAL_FAILED);
    shoal_requirements_reset(&requirements);
    unload();
    shoal_text_reset(&rest);
  }
  shoal_text_reset(&csv);
  shoal_text_reset(&values);
  shoal_text_reset(&categories);
}

/* ---------------------------------------------------------------- people */

#define KEYS                                                                                       \
  "attributes:\n  id: {role: person}\n  q: {role: quasi, hierarchy: {top: true}}\n"                \
  "  no: {role: %s}\nprivacy: {k: 1}\n"

static shoal_status find_people(shoal_people *people) {
  error = (shoal_error){0};
  return shoal_people_init(people, table, policy, SHOAL_ROLE_PERSON, &error);
}

static void people_are_found_by_their_keys(void **state UNUSED) {
  static const struct {
    const char *role_of_no, *csv;
    uint64_t n;
    bool repeat;
  } cases[] = {
      {"keep", "id,q,no\n1,1,a\n1,2,a\n2,3,a\n", 2, true}, /* the last one does not repeat */
      {"keep", "q,id,no\n1,1,a\n1,2,a\n1,3,a\n", 3, false},
      {"person", "id,q,no\n1,1,a\n1,1,b\n2,1,a\n", 3, false},
      {"person", "id,q,no\n1,1,a\n1,2,b\n2,3,b\n2,4,b\n", 3, true},
      {"person", "id,q,no\n1,1,a\n2,2,b\n3,3,b\n", 3, false}, /* one column tells them apart */
  };
  for (size_t i = 0; i < COUNT(cases); i++) {
    char rest[300];
    shoal_people people;
    (void)snprintf(rest, sizeof rest, KEYS, cases[i].role_of_no);
    load(rest, cases[i].csv);
    succeeds(find_people(&people));
    assert_true(people.asked && !people.absent);
    assert_int_equal(people.n, cases[i].n);
    assert_int_equal(people.repeat, cases[i].repeat);
    assert_int_equal(!people.column, people.hashes != NULL);
    shoal_people_reset(&people);
    fails_once = true;
    for (long n = 0, ended = 0; !ended; n++) {
      allocations_left = n;
      shoal_status status = find_people(&people);
      ended = allocations_left >= 0;
      allocations_left = -1;
      assert_int_equal(status, ended ? SHOAL_OK : SHOAL_FAILED);
    }
    shoal_people_reset(&people);
    unload();
  }
}

/* Each tuple stands for several rows of its person; a key that is missing could be anybody's. */
static void people_of_tuples_and_of_missing_keys(void **state UNUSED) {
  char rest[300];
  shoal_people people;
  (void)snprintf(rest, sizeof rest, KEYS, "person");
  load(rest, "id,q,no\n1,1,a\n1,1,b\n2,1,a\n");
  uint64_t counts[] = {1, 1, 2};
  table->counts = counts;
  succeeds(find_people(&people));
  assert_true(people.n == 3 && people.repeat);
  shoal_people_reset(&people);
  table->counts = NULL;
  unload();
  for (int last = 0; last < 2; last++) {
    load(rest, last ? "id,q,no\n1,1,a\n1,1,b\n1,1,?\n" : "id,q,no\n1,1,?\n1,1,a\n1,1,a\n");
    assert_int_equal(find_people(&people), SHOAL_BAD_INPUT);
    assert_int_equal(error.row, last ? 3 : 1);
    assert_non_null(strstr(error.message, "the row's person is not known"));
    unload();
  }
}

/* Without codes, only a column that differs in every row is a key. */
static void keys_without_codes_differ_in_every_row(void **state UNUSED) {
  char rest[300];
  shoal_people people;
  (void)snprintf(rest, sizeof rest, KEYS, "keep");
  load(rest, "id,q,no\n1,1,a\n2,1,a\n3,1,a\n");
  shoal_column *id = &table->columns[0];
  uint64_t counts[] = {1, 1, 1};
  assert_int_equal(id->code_size, 0);
  for (int spoilt = 0; spoilt < 4; spoilt++) {
    id->n_repeated = spoilt == 1 ? 2 : 0;
    id->is_identity = spoilt != 2;
    table->counts = spoilt == 3 ? counts : NULL;
    succeeds(find_people(&people));
    assert_int_equal(people.absent, spoilt > 0);
    assert_int_equal(people.n, spoilt ? 0 : 3);
    shoal_people_reset(&people);
  }
  table->counts = NULL;
  unload();
  (void)snprintf(rest, sizeof rest, KEYS, "person");
  load(rest, "id,q,no\n1,1,a\n2,1,b\n3,1,a\n");
  const shoal_column coded = table->columns[0];
  table->columns[0] = (shoal_column){.name = coded.name, .is_identity = true};
  succeeds(find_people(&people)); /* the other column has codes, and changes nothing */
  assert_true(!people.absent && people.n == 3 && !people.column && !people.key.codes);
  shoal_people_reset(&people);
  table->columns[0] = coded;
  const char *name = table->columns[2].name;
  table->columns[2].name = "other"; /* one column of two is not enough */
  succeeds(find_people(&people));
  assert_true(people.absent && people.n == 0);
  table->columns[2].name = name;
  unload();
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, end)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(requests_that_are_not_right_are_refused),
      TEST(what_the_table_does_not_keep_is_told),
      TEST(guards_may_be_asked_for_twice),
      TEST(p_is_checked_against_k_where_there_is_one),
      TEST(many_demands_are_all_judged),
      TEST(each_demand_may_break_a_class),
      TEST(the_last_of_64_values_counts),
      TEST(what_is_not_counted_is_not_proven),
      TEST(categories_come_from_files),
      TEST(protected_nodes_are_found_or_named),
      TEST(distances_of_any_tree_and_numbers),
      TEST(one_value_is_as_far_as_itself),
      TEST(a_class_that_cannot_be_judged_breaks),
      TEST(people_are_found_by_their_keys),
      TEST(people_of_tuples_and_of_missing_keys),
      TEST(keys_without_codes_differ_in_every_row),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
