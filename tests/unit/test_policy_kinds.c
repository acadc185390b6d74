/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A policy with a value of the wrong kind at every place: a list, a mapping, nothing, an empty text
 * or a word where something else is wanted. Each is refused with its line and column, and the
 * message names the key. Bytes that are no UTF-8 are refused wherever they stand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "policy/policy.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define UNUSED __attribute__((unused))

#define BEGIN "shoal: 1\nattributes: {age: {role: quasi, type: number}, ill: {role: sensitive}}\n"
#define ATTRIBUTE "shoal: 1\nattributes: {a: {role: quasi, type: number, "
#define SENSITIVE "shoal: 1\nattributes: {a: {role: sensitive, "

enum { LIST = 1, MAPPING = 2, NOTHING = 4, EMPTY = 8, WORD = 16 };
static const char *const values[] = {"[x]", "{x: 1}", "", "''", "zzzz"};

static const struct {
  const char *key; /* as messages name it */
  const char *before, *after;
  unsigned wrong; /* kinds of values that are not understood there */
} positions[] = {
    {"shoal", "attributes: {a: {role: keep}}\nshoal: ", "\n", 31},
    {"data", BEGIN "data: ", "\n", LIST | MAPPING | WORD | EMPTY},
    {"data.delimiter", BEGIN "data: {delimiter: ", "}\n", 31},
    {"data.missing", BEGIN "data: {missing: ", "}\n", MAPPING},
    {"data.missing", BEGIN "data: {missing: [", "]}\n", LIST | MAPPING},
    {"unlisted", BEGIN "unlisted: ", "\n", 31},
    {"privacy", BEGIN "privacy: ", "\n", LIST | MAPPING | WORD | EMPTY},
    {"privacy.k", BEGIN "privacy: {k: ", "}\n", 31},
    {"privacy.p", BEGIN "privacy: {p: ", "}\n", 31},
    {"privacy.models", BEGIN "privacy: {models: ", "}\n", MAPPING | EMPTY | WORD},
    {"privacy.models", BEGIN "privacy: {models: [", "]}\n", LIST | MAPPING | EMPTY},
    {"l", BEGIN "privacy: {models: [{l-diversity: {l: ", "}}]}\n", LIST | MAPPING | NOTHING},
    {"method", BEGIN "method: ", "\n", LIST | MAPPING | WORD | EMPTY},
    {"method.algorithm", BEGIN "method: {algorithm: ", "}\n", LIST | MAPPING | NOTHING | EMPTY},
    {"method.objective", BEGIN "method: {objective: ", "}\n", LIST | MAPPING | NOTHING | EMPTY},
    {"method.satisfies", BEGIN "method: {satisfies: ", "}\n", LIST | MAPPING | NOTHING | EMPTY},
    {"method.max-suppression", BEGIN "method: {max-suppression: ", "}\n", 31},
    {"method.noise", BEGIN "method: {noise: ", "}\n", 31},
    {"method.suppressed", BEGIN "method: {suppressed: ", "}\n", 31},
    {"method.formulas", BEGIN "method: {formulas: ", "}\n", 31},
    {"method.cuts", BEGIN "method: {cuts: ", "}\n", 31},
    {"method.mu-argus", BEGIN "method: {mu-argus: ", "}\n", 31},
    {"method.start", BEGIN "method: {start: ", "}\n", 31},
    {"method.effort", BEGIN "method: {effort: ", "}\n", 31},
    {"method.seed", BEGIN "method: {seed: ", "}\n", 31},
    {"method.slack", BEGIN "method: {slack: ", "}\n", 31},
    {"method.weights", BEGIN "method: {weights: ", "}\n", LIST | MAPPING | WORD | EMPTY},
    {"method.weights", BEGIN "method: {weights: {age: ", "}}\n", 31},
    {"method.prefer", BEGIN "method: {prefer: ", "}\n", MAPPING | NOTHING},
    {"attributes.a.type", "shoal: 1\nattributes: {a: {role: quasi, type: ", "}}\n", 31},
    {"attributes.a.role", "shoal: 1\nattributes: {a: {role: ", "}}\n", 31},
    {"attributes.a.snap", ATTRIBUTE "snap: ", "}}\n", 31},
    {"attributes.a.recode", ATTRIBUTE "recode: ", "}}\n", 31},
    {"attributes.a.anonymity", ATTRIBUTE "anonymity: ", "}}\n", 31},
    {"attributes.a.profile", ATTRIBUTE "profile: ", "}}\n", 31},
    {"attributes.a.sensitivity", ATTRIBUTE "sensitivity: ", "}}\n", 31},
    {"attributes.a.protect", SENSITIVE "protect: [", "]}}\n", LIST | MAPPING},
    {"attributes.a.categories", SENSITIVE "categories: ", "}}\n", 31},
    {"attributes.a.categories", SENSITIVE "categories: [[", "]]}}\n", LIST | MAPPING | NOTHING},
    {"attributes.a.categories.file", SENSITIVE "categories: {file: ", "}}}\n",
     LIST | MAPPING | NOTHING | EMPTY},
    {"hierarchy", ATTRIBUTE "hierarchy: ", "}}\n", 31},
    {"hierarchy.file", ATTRIBUTE "hierarchy: {file: ", "}}}\n", LIST | MAPPING | NOTHING | EMPTY},
    {"hierarchy.intervals", ATTRIBUTE "hierarchy: {intervals: ", "}}}\n", 31},
    {"hierarchy.intervals", ATTRIBUTE "hierarchy: {intervals: [", "]}}}\n", 31},
    {"hierarchy.origin", ATTRIBUTE "hierarchy: {intervals: [5], origin: ", "}}}\n", 31},
    {"hierarchy.cuts", ATTRIBUTE "hierarchy: {cuts: ", "}}}\n", 31},
    {"hierarchy.cuts", ATTRIBUTE "hierarchy: {cuts: [[5], ", "]}}}\n",
     LIST | MAPPING | EMPTY | WORD},
    {"hierarchy.cuts", ATTRIBUTE "hierarchy: {cuts: [[", "]]}}}\n", 31},
    {"hierarchy.mask", ATTRIBUTE "hierarchy: {mask: ", "}}}\n", 31},
    {"hierarchy.char", ATTRIBUTE "hierarchy: {mask: left, char: ", "}}}\n", 31},
    {"hierarchy.date", ATTRIBUTE "hierarchy: {date: ", "}}}\n", 31},
    {"hierarchy.date", ATTRIBUTE "hierarchy: {date: [", "]}}}\n", 31},
    {"hierarchy.format", ATTRIBUTE "hierarchy: {date: year, format: ", "}}}\n", 31},
    {"hierarchy.top", ATTRIBUTE "hierarchy: {top: ", "}}}\n", 31},
    {"hierarchy.tree", ATTRIBUTE "hierarchy: {tree: ", "}}}\n", NOTHING | WORD | EMPTY},
    {"hierarchy.levels", ATTRIBUTE "hierarchy: {levels: ", "}}}\n", 31},
    {"hierarchy.levels", ATTRIBUTE "hierarchy: {levels: [", "]}}}\n",
     MAPPING | NOTHING | EMPTY | WORD},
    {"hierarchy.tree", ATTRIBUTE "hierarchy: {tree: {A: [", "]}}}}\n", LIST | NOTHING},
    {"hierarchy.tree", ATTRIBUTE "hierarchy: {tree: {A: ", "}}}}\n", NOTHING},
};

static shoal_status parse(const char *yaml, size_t size, shoal_error *error) {
  shoal_policy *policy = NULL;
  *error = (shoal_error){0};
  shoal_status status = shoal_policy_parse(yaml, size, "policy", ".", &policy, error);
  shoal_policy_free(policy);
  return status;
}

static unsigned wrongly_taken(size_t i, size_t v) {
  char yaml[512];
  shoal_error error;
  unsigned line, at;
  (void)snprintf(yaml, sizeof yaml, "%s%s%s", positions[i].before, values[v], positions[i].after);
  bool wrong = positions[i].wrong >> v & 1;
  shoal_status status = parse(yaml, strlen(yaml), &error);
  bool ok = status == (wrong ? SHOAL_BAD_POLICY : SHOAL_OK);
  if (wrong)
    ok = ok && sscanf(error.message, "policy:%u:%u: ", &line, &at) == 2 && line <= 3 &&
         (strstr(error.message, positions[i].key) || strstr(error.message, "unknown key 'x'"));
  if (!ok) print_error("%sstatus %d: %s\n", yaml, (int)status, error.message);
  return !ok;
}

static void a_value_of_the_wrong_kind_is_refused(void **state UNUSED) {
  unsigned n_wrong = 0;
  for (size_t i = 0; i < COUNT(positions); i++)
    for (size_t v = 0; v < COUNT(values); v++) n_wrong += wrongly_taken(i, v);
  assert_int_equal(n_wrong, 0);
}

static const struct {
  const char *phrase, *yaml;
} mistakes[] = {
    {"sensitivity must be 0, 1, 2 or 3", ATTRIBUTE "sensitivity: 1.5}}\n"},
    {"sensitivity", ATTRIBUTE "sensitivity: 4}}\n"},
    {"anonymity", ATTRIBUTE "anonymity: 1.01}}\n"},
    {"anonymity must not be negative", ATTRIBUTE "anonymity: -0.1}}\n"},
    {"more than 18 digits", ATTRIBUTE "profile: 0.1234567890123456789}}\n"},
    {"YYYY or YY, MM and DD once each", ATTRIBUTE "hierarchy: {date: year, format: YYY-MM-DD}}}\n"},
    {"YYYY or YY, MM and DD once each", ATTRIBUTE "hierarchy: {date: year, format: YY-MMM-DD}}}\n"},
    {"YYYY or YY, MM and DD once each", ATTRIBUTE "hierarchy: {date: year, format: YY-MM-DDD}}}\n"},
    {"YYYY or YY, MM and DD once each", ATTRIBUTE "hierarchy: {date: year, format: MM-DD}}}\n"},
    {"YYYY or YY, MM and DD once each", ATTRIBUTE "hierarchy: {date: year, format: YY-DD}}}\n"},
    {"YYYY or YY, MM and DD once each",
     ATTRIBUTE "hierarchy: {date: year, format: YY.YY.MM.DD}}}\n"},
    {"char: expected one printable character", ATTRIBUTE "hierarchy: {mask: left, char: ab}}}\n"},
    {"char: expected one printable character",
     ATTRIBUTE "hierarchy: {mask: left, char: \"\\x7f\"}}}\n"},
    {"char: expected one printable character",
     ATTRIBUTE "hierarchy: {mask: left, char: \"\\t\"}}}\n"},
    {"bound '0' is not among", ATTRIBUTE "hierarchy: {cuts: [[1, 2], [0]]}}}\n"},
    {"bound '7' is not among", ATTRIBUTE "hierarchy: {cuts: [[1, 2], [7]]}}}\n"},
    {"a quote or a line break cannot stand", BEGIN "data: {delimiter: '\"'}\n"},
    {"at most 100%", BEGIN "method: {max-suppression: 100.1%}\n"},
    {"max-suppression: expected", BEGIN "method: {max-suppression: '%'}\n"},
    {"must not be negative", BEGIN "method: {max-suppression: -1}\n"},
    {"duplicate key 'b'", "a: 1\nb: 1\nb: 2\na: 2\nc: 3\nc: 4\n"},
    {"duplicate key 'a'", "b: 1\na: 1\na: 2\nb: 2\n"},
    {"a key must be a word, not a mapping", "? {a: 1}\n: 1\n"},
    {"aliases", "a: [*x]\n"},
    {"aliases", "*x : 1\n"},
    {"not closed", "a: [1, [2, 3\n"},
    {"where ']' is expected", "a: {b: [1, 2}\n"},
    {"'A' has no children", ATTRIBUTE "hierarchy: {tree: {A: , B: x}}}}\n"},
    {"tree", ATTRIBUTE "hierarchy: {tree: [{a: 1, b: 2}]}}}\n"},
    {"unknown key 'k:3'", BEGIN "privacy: {k:3}\n"},
};

static void other_mistakes_are_refused(void **state UNUSED) {
  unsigned n_wrong = 0;
  for (size_t i = 0; i < COUNT(mistakes); i++) {
    shoal_error error;
    shoal_status status = parse(mistakes[i].yaml, strlen(mistakes[i].yaml), &error);
    bool ok = status == SHOAL_BAD_POLICY && strstr(error.message, mistakes[i].phrase);
    if (!ok) print_error("%sstatus %d: %s\n", mistakes[i].yaml, (int)status, error.message);
    n_wrong += !ok;
  }
  assert_int_equal(n_wrong, 0);
}

/* What Unicode forbids: stray and lacking bytes, longer forms than needed, halves of pairs. */
static void bytes_that_are_no_text_are_refused(void **state UNUSED) {
  static const char *const bytes[] = {"\x80",
                                      "\xc3",
                                      "\xc0\xaf",
                                      "\xc3(",
                                      "\xe2\x82",
                                      "\xe2(\x82",
                                      "\xe0\x80\x80",
                                      "\xed\xa0\x80",
                                      "\xed\xbf\xbf",
                                      "\xf0\x80\x80\x80",
                                      "\xf4\x90\x80\x80",
                                      "\xf5\x80\x80\x80",
                                      "\xff",
                                      "\xf0\x9f\x90"};
  for (size_t i = 0; i < COUNT(bytes); i++)
    for (int last = 0; last < 2; last++) {
      char yaml[512], position[32];
      shoal_error error;
      (void)snprintf(yaml, sizeof yaml, BEGIN "\r\nunlisted: keep # \xf0\x9f\x90\x9f%s%s", bytes[i],
                     last ? "" : "\n");
      assert_int_equal(parse(yaml, strlen(yaml), &error), SHOAL_BAD_POLICY);
      (void)snprintf(position, sizeof position, "policy:4:19: byte 0x%02x",
                     (unsigned char)bytes[i][0]);
      if (!strstr(error.message, position)) fail_msg("%s instead of %s", error.message, position);
    }
}

/* Lines end as on any system. */
static void lines_end_in_three_ways(void **state UNUSED) {
  static const char *const ends[] = {"\n", "\r\n", "\r"};
  for (size_t i = 0; i < COUNT(ends); i++) {
    char yaml[256];
    shoal_error error;
    (void)snprintf(yaml, sizeof yaml, "shoal: 1%sattributes: {a: {role: keep}}%sunlisted: kept%s",
                   ends[i], ends[i], ends[i]);
    assert_int_equal(parse(yaml, strlen(yaml), &error), SHOAL_BAD_POLICY);
    if (!strstr(error.message, "policy:3:11: unlisted: unknown value 'kept'"))
      fail_msg("%s", error.message);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_value_of_the_wrong_kind_is_refused),
      cmocka_unit_test(other_mistakes_are_refused),
      cmocka_unit_test(bytes_that_are_no_text_are_refused),
      cmocka_unit_test(lines_end_in_three_ways),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
