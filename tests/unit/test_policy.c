/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unit tests of src/policy: the policy of the manual as a struct, every good form, every mistake
 * with its line, column and advice, overrides, files, and that libfyaml never prints.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#include <shoal/program.h>

#include "policy/policy.h"
#include "shoal/shoal.h"

/* ------------------------------------------------------------ helpers */

#define TWO_LINES                                                                                  \
  "shoal: 1\nattributes: {age: {role: quasi, type: number}, ill: {role: sensitive}}\n"
#define SPEC(spec) "shoal: 1\nattributes:\n a:\n  role: quasi\n  hierarchy: " spec "\n"

static shoal_policy *parse(const char *yaml) {
  shoal_policy *policy;
  shoal_error error;
  shoal_status status =
      shoal_policy_parse(yaml, strlen(yaml), "policy.yaml", "dir", &policy, &error);
  if (status != SHOAL_OK) fail_msg("%s\n-> %s", yaml, error.message);
  return policy;
}

/* The hierarchy of the only attribute of SPEC(...). */
static const shoal_hierarchy_spec *spec_of(const shoal_policy *policy) {
  const shoal_attribute *attribute = shoal_policy_attribute(policy, "a");
  assert_non_null(attribute);
  assert_true(attribute->has_hierarchy);
  return &attribute->hierarchy;
}

static void assert_decimal(shoal_decimal number, int64_t mantissa, unsigned scale) {
  assert_int_equal(number.mantissa, mantissa);
  assert_int_equal(number.scale, scale);
}

static void assert_word(shoal_word word, const char *text, uint32_t line, uint32_t at) {
  assert_string_equal(word.text, text);
  assert_int_equal(word.mark.line, line);
  assert_int_equal(word.mark.at, at);
}

/* Is the text refused as it should be? If not, `report` says how it was not. */
static bool is_refused(const char *yaml, size_t size, const char *position, const char *phrase,
                       char report[2048]) {
  shoal_policy *policy = (shoal_policy *)&policy;
  shoal_error error = {.message = ""};
  char start[64];
  (void)snprintf(start, sizeof start, "policy.yaml:%s: ", position);
  shoal_status status = shoal_policy_parse(yaml, size, "policy.yaml", ".", &policy, &error);
  (void)snprintf(report, 2048, "%.300s\n-> %d, wanted '%s...%s', got '%.900s'", yaml, (int)status,
                 start, phrase, error.message);
  return status == SHOAL_BAD_POLICY && !policy && !strchr(error.message, '\n') &&
         strncmp(error.message, start, strlen(start)) == 0 && strstr(error.message, phrase);
}

/* ------------------------------------------------------------ good policies */

static const char manual[] =
    "shoal: 1\n"
    "data: {delimiter: \",\", missing: [\"?\", \"\"]}     # both optional\n"
    "attributes:\n"
    "  name:     {role: identifier}                   # never released\n"
    "  age:      {role: quasi, type: number, hierarchy: {intervals: [5, 10, 20]}}\n"
    "  zip:      {role: quasi, hierarchy: {mask: right}}\n"
    "  marital:  {role: quasi, hierarchy: {file: marital.csv}}     # value;level1;...;top\n"
    "  race:     {role: quasi, hierarchy: {tree: {White: [White], Other: [Black, Asian]}}}\n"
    "  illness:  {role: sensitive, hierarchy: {file: icd9.csv}, protect: [Cancer]}\n"
    "  ward:     {role: keep}                         # released as it is\n"
    "privacy:\n"
    "  k: 3\n"
    "  p: 2                                           # p-sensitive\n"
    "  models:                                        # more, all must hold together\n"
    "    - extended-p-sensitive: {p: 2}\n"
    "    - l-diversity: {kind: entropy, l: 2, attribute: illness}\n"
    "method:\n"
    "  algorithm: auto\n"
    "  max-suppression: 1%                            # or a number of rows\n"
    "  suppressed: remove                             # or: blank (see Release)\n"
    "  prefer: [absolute-distance, min-suppression]\n"
    "  objective: il\n"
    "  noise: refuse\n"
    "  weights: {age: 2}\n"
    "  seed: 1\n";

static void check_manual_attributes(const shoal_policy *policy) {
  static const shoal_role roles[] = {SHOAL_ROLE_IDENTIFIER, SHOAL_ROLE_QUASI, SHOAL_ROLE_QUASI,
                                     SHOAL_ROLE_QUASI,      SHOAL_ROLE_QUASI, SHOAL_ROLE_SENSITIVE,
                                     SHOAL_ROLE_KEEP};
  assert_int_equal(policy->n_attributes, 7);
  for (size_t i = 0; i < 7; i++) {
    const shoal_attribute *attribute = &policy->attributes[i];
    assert_int_equal(attribute->role, roles[i]);
    assert_int_equal(attribute->mark.line, 4 + i);
    assert_int_equal(attribute->mark.at, 3);
    assert_int_equal(attribute->type, i == 1 ? SHOAL_TYPE_NUMBER : SHOAL_TYPE_TEXT);
    assert_int_equal(attribute->has_hierarchy, i > 0 && i < 6);
    assert_decimal(attribute->weight, i == 1 ? 2 : 1, 0);
    assert_decimal(attribute->snap, 0, 0);
  }
  const shoal_hierarchy_spec *age = &shoal_policy_attribute(policy, "age")->hierarchy;
  assert_int_equal(age->kind, SHOAL_HIERARCHY_INTERVALS);
  assert_int_equal(age->line, 5);
  assert_int_equal(age->at, 52);
  assert_int_equal(age->n_widths, 3);
  assert_decimal(age->widths[2], 20, 0);
  const shoal_hierarchy_spec *zip = &shoal_policy_attribute(policy, "zip")->hierarchy;
  assert_int_equal(zip->kind, SHOAL_HIERARCHY_MASK);
  assert_false(zip->mask_left);
  assert_int_equal(zip->mask_char, '*');
  assert_string_equal(shoal_policy_attribute(policy, "marital")->hierarchy.file, "dir/marital.csv");
  const shoal_tree_node *race = &shoal_policy_attribute(policy, "race")->hierarchy.tree;
  assert_string_equal(race->label, "*");
  assert_int_equal(race->n_children, 2);
  assert_string_equal(race->children[1].label, "Other");
  assert_string_equal(race->children[1].children[1].label, "Asian");
  assert_int_equal(race->children[1].children[1].n_children, 0);
  const shoal_attribute *illness = shoal_policy_attribute(policy, "illness");
  assert_int_equal(illness->n_protect, 1);
  assert_word(illness->protect[0], "Cancer", 9, 70);
  assert_null(shoal_policy_attribute(policy, "nobody"));
}

static void test_manual(void **state) {
  (void)state;
  shoal_policy *policy = parse(manual);
  assert_string_equal(policy->file, "policy.yaml");
  assert_string_equal(policy->directory, "dir");
  assert_int_equal(policy->delimiter, ',');
  assert_int_equal(policy->n_missing, 2);
  assert_string_equal(policy->missing[0], "?");
  assert_string_equal(policy->missing[1], "");
  check_manual_attributes(policy);
  assert_int_equal(policy->unlisted, SHOAL_UNLISTED_REFUSE);
  assert_true(policy->has_k && policy->has_p);
  assert_int_equal(policy->k, 3);
  assert_int_equal(policy->k_mark.line, 12);
  assert_int_equal(policy->k_mark.at, 6);
  assert_int_equal(policy->p, 2);
  assert_int_equal(policy->n_models, 2);
  assert_word(policy->models[0].name, "extended-p-sensitive", 15, 7);
  assert_null(policy->models[0].attribute.text);
  const shoal_model_request *diversity = &policy->models[1];
  assert_word(diversity->attribute, "illness", 16, 53);
  assert_int_equal(diversity->n_parameters, 2);
  assert_word(diversity->parameters[1], "l", 16, 36);
  assert_word(diversity->values[0], "entropy", 16, 27);
  assert_word(policy->algorithm, "auto", 18, 14);
  assert_true(policy->max_suppression.percent);
  assert_decimal(policy->max_suppression.number, 1, 0);
  assert_false(policy->blank_suppressed);
  assert_int_equal(policy->n_prefer, 2);
  assert_word(policy->prefer[1], "min-suppression", 21, 31);
  assert_word(policy->objective, "il", 22, 14);
  assert_false(policy->noise_allowed || policy->weights_inverse);
  assert_true(policy->has_seed);
  assert_int_equal(policy->seed, 1);
  shoal_policy_free(policy);
}

static void test_defaults(void **state) {
  (void)state;
  /* a byte-order mark, CRLF, sections with nothing in them */
  shoal_policy *policy = parse("\xef\xbb\xbfshoal: 1\r\nattributes: {a: {role: keep}}\r\n"
                               "data:\r\nprivacy: ~\r\nmethod: {}\r\n");
  assert_int_equal(policy->delimiter, 0);
  assert_int_equal(policy->n_missing, 1);
  assert_string_equal(policy->missing[0], "");
  assert_false(policy->has_k || policy->has_p || policy->has_seed || policy->has_effort);
  assert_int_equal(policy->effort, 1);
  assert_int_equal(policy->k, 1);
  assert_int_equal(policy->p, 0);
  assert_string_equal(policy->algorithm.text, "auto");
  assert_int_equal(policy->algorithm.mark.line, 0);
  assert_null(policy->objective.text);
  assert_int_equal(shoal_amount_rows(policy->max_suppression, 1000), 0);
  shoal_policy_free(policy);
  shoal_policy_free(NULL);
}

static void test_other_forms(void **state) {
  (void)state;
  shoal_policy *policy = parse(
      "method: {noise: 3, weights: {'die Größe': 0.5}, prefer: most-attributes, seed: "
      "18446744073709551615,\n  suppressed: blank, max-suppression: 7, cuts: relaxed, start: "
      "sorted}\n"
      "privacy: {models: [p-sensitive, theta-sensitive: {mu: 0.10}, k-anonymity:, alpha-k: {}]}\n"
      "attributes: {\n"
      "  die Größe: {role: quasi, type: number, snap: 2.50},\n"
      "  \"no: quote\": {role: sensitive, protect: Cancer, categories: [[HIV, 'no'], [~, \"\"]]},\n"
      "  s: {role: sensitive, categories: {file: /abs/c.csv}},\n"
      "  n: {role: quasi, type: number, recode: hierarchy, hierarchy: {top: true}},\n"
      "}\n"
      "unlisted: drop\n"
      "data: {delimiter: tab, missing: [~, NA, null]}\n"
      "shoal: 1\n");
  assert_true(policy->noise_allowed && policy->blank_suppressed && !policy->noise.percent);
  assert_decimal(policy->noise.number, 3, 0);
  assert_true(policy->seed == UINT64_MAX);
  assert_word(policy->prefer[0], "most-attributes", 1, 57);
  assert_int_equal(policy->n_models, 4);
  assert_word(policy->models[0].name, "p-sensitive", 3, 20);
  assert_int_equal(policy->models[0].n_parameters, 0);
  assert_word(policy->models[1].values[0], "0.10", 3, 55);
  assert_string_equal(policy->models[2].name.text, "k-anonymity");
  assert_decimal(policy->attributes[0].weight, 5, 1);
  assert_decimal(policy->attributes[0].snap, 25, 1);
  assert_true(policy->has_start && policy->sorted_start);
  assert_true(policy->has_cuts && policy->relaxed_cuts && !policy->attributes[0].recode_hierarchy);
  assert_true(policy->attributes[3].recode_hierarchy);
  const shoal_categories *categories = &policy->attributes[1].categories;
  assert_string_equal(policy->attributes[1].name, "no: quote");
  assert_word(policy->attributes[1].protect[0], "Cancer", 6, 43);
  assert_int_equal(categories->n_lists, 2);
  assert_string_equal(categories->lists[0][1], "no");
  assert_null(categories->lists[0][2]);
  assert_string_equal(categories->lists[1][0], "~");
  assert_string_equal(categories->lists[1][1], "");
  assert_string_equal(policy->attributes[2].categories.file, "/abs/c.csv");
  assert_int_equal(policy->unlisted, SHOAL_UNLISTED_DROP);
  assert_int_equal(policy->delimiter, '\t');
  assert_string_equal(policy->missing[0], "");
  assert_string_equal(policy->missing[1], "NA");
  assert_string_equal(policy->missing[2], "");
  assert_int_equal(policy->fold, SHOAL_EQUAL_BYTES);
  shoal_policy_free(policy);

  policy = parse(TWO_LINES "data: {fold: [unicode, case]}\n");
  assert_int_equal(policy->fold, SHOAL_EQUAL_CASE | SHOAL_EQUAL_UNICODE);
  shoal_policy_free(policy);
  policy = parse(TWO_LINES "data: {missing: []}\nunlisted: keep\nmethod: {weights: inverse, "
                           "noise: 2.5%, max-suppression: 100%, prefer: []}\n");
  assert_int_equal(policy->n_missing, 0);
  assert_int_equal(policy->unlisted, SHOAL_UNLISTED_KEEP);
  assert_true(policy->weights_inverse && policy->noise.percent);
  assert_int_equal(shoal_amount_rows(policy->noise, 100), 2);
  assert_int_equal(shoal_amount_rows(policy->max_suppression, UINT64_C(1) << 40), UINT64_C(1)
                                                                                      << 40);
  assert_int_equal(policy->n_prefer, 0);
  shoal_policy_free(policy);
}

static void test_hierarchies(void **state) {
  (void)state;
  shoal_policy *policy = parse(SPEC("{intervals: [0.5, 1, 2.5e1], origin: -0.25}"));
  assert_decimal(spec_of(policy)->widths[0], 5, 1);
  assert_decimal(spec_of(policy)->widths[2], 25, 0);
  assert_decimal(spec_of(policy)->origin, -25, 2);
  shoal_policy_free(policy);
  policy = parse(SPEC("{cuts: [[-1, 0.5, 10], [0.50]]}"));
  assert_int_equal(spec_of(policy)->kind, SHOAL_HIERARCHY_CUTS);
  assert_int_equal(spec_of(policy)->n_cuts, 2);
  assert_int_equal(spec_of(policy)->cuts[0].n_bounds, 3);
  assert_decimal(spec_of(policy)->cuts[1].bounds[0], 5, 1);
  shoal_policy_free(policy);
  policy = parse(SPEC("{cuts: [18, 65]}"));
  assert_int_equal(spec_of(policy)->n_cuts, 1);
  assert_int_equal(spec_of(policy)->cuts[0].n_bounds, 2);
  shoal_policy_free(policy);
  policy = parse(SPEC("{mask: left, char: '#'}"));
  assert_true(spec_of(policy)->mask_left);
  assert_int_equal(spec_of(policy)->mask_char, '#');
  shoal_policy_free(policy);
  policy = parse(SPEC("{format: DD.MM.YY, date: [day, month, year, 5-years, decade]}"));
  assert_int_equal(spec_of(policy)->kind, SHOAL_HIERARCHY_DATE);
  assert_int_equal(spec_of(policy)->n_units, 5);
  assert_int_equal(spec_of(policy)->units[3], SHOAL_DATE_5_YEARS);
  assert_string_equal(spec_of(policy)->date_format, "DD.MM.YY");
  shoal_policy_free(policy);
  policy = parse(SPEC("{date: year, pivot: 1999, format: YYMMDD}"));
  assert_int_equal(spec_of(policy)->pivot, 1999);
  shoal_policy_free(policy);
  policy = parse(SPEC("{date: year, pivot: 30, format: YYMMDD}")); /* of this century */
  assert_int_equal(spec_of(policy)->pivot, 2030);
  shoal_policy_free(policy);
  policy = parse(SPEC("{date: year}"));
  assert_int_equal(spec_of(policy)->pivot, 0);
  assert_string_equal(spec_of(policy)->date_format, "YYYY-MM-DD");
  shoal_policy_free(policy);
  policy = parse(SPEC("{top: true}"));
  assert_int_equal(spec_of(policy)->kind, SHOAL_HIERARCHY_TOP);
  shoal_policy_free(policy);
}

static void test_trees(void **state) {
  (void)state;
  shoal_policy *policy = parse(SPEC("\n   tree:\n    A: a\n    B:\n    - b\n    - C: [c, d]\n"
                                    "    - NULL\n    D: {E: {F: [f, '']}}"));
  const shoal_tree_node *root = &spec_of(policy)->tree;
  assert_int_equal(root->n_children, 3);
  assert_int_equal(root->children[0].n_children, 1);
  assert_string_equal(root->children[0].children[0].label, "a");
  const shoal_tree_node *b = &root->children[1];
  assert_int_equal(b->n_children, 3);
  assert_int_equal(b->children[0].n_children, 0);
  assert_string_equal(b->children[1].label, "C");
  assert_string_equal(b->children[1].children[1].label, "d");
  assert_string_equal(b->children[2].label, "NULL");
  const shoal_tree_node *f = &root->children[2].children[0].children[0];
  assert_string_equal(f->label, "F");
  assert_string_equal(f->children[1].label, "");
  shoal_policy_free(policy);
  policy = parse(SPEC("{tree: [a, b]}")); /* values right below the top */
  assert_int_equal(spec_of(policy)->tree.n_children, 2);
  shoal_policy_free(policy);
}

static void test_hierarchy_alone(void **state) {
  (void)state;
  shoal_arena arena;
  shoal_hierarchy_spec spec;
  shoal_error error;
  shoal_arena_init(&arena);
  assert_int_equal(shoal_policy_parse_hierarchy("{file: h.csv}", "/data/", &arena, &spec, &error),
                   SHOAL_OK);
  assert_string_equal(spec.file, "/data/h.csv");
  assert_int_equal(shoal_policy_parse_hierarchy("file: ./h.csv", NULL, &arena, &spec, &error),
                   SHOAL_OK);
  assert_string_equal(spec.file, "./h.csv");
  assert_int_equal(shoal_policy_parse_hierarchy("{intervals: [5, 7]}", ".", &arena, &spec, &error),
                   SHOAL_BAD_INPUT);
  assert_string_equal(error.message, "hierarchy:1:17: hierarchy.intervals: width '7' must be a "
                                     "multiple of the width before it");
  assert_int_equal(shoal_policy_parse_hierarchy("5", ".", &arena, &spec, &error), SHOAL_BAD_INPUT);
  assert_non_null(strstr(error.message, "hierarchy:1:1: the hierarchy: expected a mapping"));
  shoal_arena_reset(&arena);
}

/* ------------------------------------------------------------ mistakes */

typedef struct mistake {
  const char *position; /* "line:column" */
  const char *phrase;
  const char *yaml;
} mistake;

/* clang-format off */
static const mistake mistakes[] = {
    /* not YAML, or not as used here */
    {"1:1", "the policy is empty", ""},
    {"1:1", "the policy is empty", "# only a comment\n\n"},
    {"1:1", "expected a mapping such as {shoal: 1, ...}, found a list", "[shoal]"},
    {"1:1", "this does not look like a policy", "shoal"},
    {"1:21", "a ',' or '}' is missing here or in the entry before", "a: {role: quasi type: number}"},
    {"1:1", "this does not look like a policy", "name,age\nAnn,34\n"},
    {"2:13", "not valid YAML: this '{' is not closed", "shoal: 1\nattributes: {a: [x], b:\n\n"},
    {"2:17", "not valid YAML: this '[' is not closed", "shoal: 1\nattributes: {a: [x, y\n"},
    {"2:1", "not valid YAML: indented with a tab", "data:\n\tmissing: []\n"},
    {"1:5", "not valid YAML: a second ': ' in one line", "a: b: c\n"},
    {"3:2", "not valid YAML: this line is not indented like", "a:\n  b: 1\n c: 2\n"},
    {"1:4", "not valid YAML: the line after this value looks like a key", "a: 1\n  b: 2\n"},
    {"1:12", "not valid YAML: a value is missing here, or needs quotes", "delimiter: ,\n"},
    {"1:5", "not valid YAML: a '\"' is not closed", "a: \"x\n"},
    {"1:1", "%YAML line names an unknown version", "%YAML 3.0\n---\nshoal: 1\n"},
    {"3:1", "a second YAML document", "---\nshoal: 1\n---\nshoal: 1\n"},
    {"2:4", "aliases ('*name') are not supported", "a: &x 1\nb: *x\n"},
    {"1:10", "tags are not supported", "a: !!str x\n"},
    {"1:3", "a key must be a word, not a list", "? [a]\n: 1\n"},
    {"1:1", "a key is missing before ':'", ": 1\n"},
    {"2:5", "must not contain NUL", "a:\n  - \"x\\0y\"\n"},
    {"1:65", "deeper than 64 levels",
     "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[["},
    {"1:6", "byte 0xfc is not UTF-8", "a: \xc3\xbc" "b\xfc\n"},
    {"1:4", "control character 0x01", "a: \x01\n"},
    /* keys */
    {"3:1", "duplicate key 'shoal': it is in line 1 already", TWO_LINES "shoal: 1\n"},
    {"1:43", "duplicate key 'a'", "attributes: {a: {role: quasi}, b: {k: 1}, a: {role: keep}}"},
    {"3:1", "unknown key 'pirvacy'; did you mean 'privacy'? Allowed here: shoal, data, attributes, "
             "unlisted, accept, privacy, method",
     TWO_LINES "pirvacy: {}\n"},
    {"4:3", "unknown key 'modle'; did you mean 'models'? Allowed here: k, p, households, models",
     TWO_LINES "privacy:\n  modle: x\n"},
    {"3:8", "unknown key 'zzzzzz'. Allowed here: delimiter, missing, fold", TWO_LINES "data: {zzzzzz: 1}"},
    {"3:10", "unknown key 'max-supression'; did you mean 'max-suppression'?",
     TWO_LINES "method: {max-supression: 1}"},
    {"1:18", "unknown key 'role:quasi': a space is needed after ':'",
     "attributes: {a: {role:quasi}}"},
    {"1:18", "unknown key 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa...'.",
     "attributes: {a: {aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa: "
     "1}}"},
    {"1:1", "the key 'shoal' is missing; write 'shoal: 1'", "attributes: {a: {role: keep}}\n"},
    {"1:1", "the key 'attributes' is missing", "shoal: 1\n"},
    {"1:8", "shoal: expected 1, the only supported policy version, found '2'", "shoal: 2\n"},
    /* attributes */
    {"1:13", "attributes: expected a mapping of the columns", "attributes: {}"},
    {"1:13", "attributes: expected a mapping of the columns", "attributes: [a, b]"},
    {"1:14", "attributes: a name is empty", "attributes: {\"\": {role: keep}}"},
    {"2:2", "attributes.age: the key 'role' is missing; give one of: identifier, quasi,",
     "attributes:\n age:\n"},
    {"1:17", "attributes.a: expected a mapping such as {role: quasi}, found a list",
     "attributes: {a: [role]}"},
    {"1:24", "attributes.a.role: unknown value 'quas'; did you mean 'quasi'? Allowed here: "
             "identifier, quasi, sensitive, keep, pseudonym",
     "attributes: {a: {role: quas}}"},
    {"1:24", "attributes.a.role: expected identifier, quasi, sensitive, keep, pseudonym, person or "
             "household, found a list",
     "attributes: {a: {role: [quasi]}}"},
    {"1:24", "attributes.a.type: unknown value 'nummer'; did you mean 'number'?",
     "attributes: {a: {type: nummer}}"},
    {"1:24", "attributes.a.snap: expected a number, found 'x'", "attributes: {a: {snap: x}}"},
    {"1:24", "attributes.a.snap must not be negative", "attributes: {a: {snap: -1}}"},
    {"1:24", "attributes.a.snap must be above 0", "attributes: {a: {snap: 0.0}}"},
    {"1:37", "attributes.a: 'snap' is for quasi-identifiers of type number",
     "attributes: {a: {role: quasi, snap: 5}}"},
    {"1:26", "attributes.a.recode: unknown value 'tree'", "attributes: {a: {recode: tree}}"},
    {"1:53", "attributes.a: 'recode: hierarchy' needs a hierarchy",
     "attributes: {a: {role: quasi, type: number, recode: hierarchy}}"},
    {"1:70", "attributes.a: 'snap' widens intervals",
     "attributes: {a: {role: quasi, type: number, recode: hierarchy, snap: 5, "
     "hierarchy: {top: true}}}"},
    {"1:16", "method.cuts: unknown value 'loose'", "method: {cuts: loose}"},
    {"1:31", "attributes.a.protect: expected a name, found a mapping",
     "attributes: {a: {protect: [x, {y: 1}]}}"},
    {"1:31", "categories: expected {file: FILE}, or a list of values for each category",
     "attributes: {a: {categories: [HIV, Flu]}}"},
    {"1:44", "value 'HIV' is in line 1 already; a value has one category",
     "attributes: {a: {categories: [[HIV], [Flu, HIV]]}}"},
    {"1:31", "unknown key 'fiel'; did you mean 'file'?",
     "attributes: {a: {categories: {fiel: x}}}"},
    /* hierarchies: the value stands at 5:14 */
    {"5:14", "hierarchy: expected a mapping such as {intervals: [5, 10]}, found 'h.csv'",
     SPEC("h.csv")},
    {"5:14", "hierarchy: no kind is given; write one of: file, tree,", SPEC("{}")},
    {"5:28", "a second kind of hierarchy, 'top': 'mask' is given already",
     SPEC("{mask: right, top: true}")},
    {"5:15", "'origin' goes with intervals, not with mask", SPEC("{origin: 1, mask: right}")},
    {"5:26", "'char' goes with mask, not with top", SPEC("{top: true, char: x}")},
    {"5:26", "'format' goes with date, not with top", SPEC("{top: true, format: DDMMYYYY}")},
    {"5:26", "'pivot' goes with date, not with top", SPEC("{top: true, pivot: 2026}")},
    {"5:27", "'pivot' is for years of two digits", SPEC("{date: year, pivot: 2026}")},
    {"5:50", "pivot: expected a year of four digits",
     SPEC("{date: year, format: YYMMDD, pivot: 500}")},
    {"5:50", "pivot: expected a year of four digits",
     SPEC("{date: year, format: YYMMDD, pivot: 10000}")},
    {"5:15", "unknown key 'interval'; did you mean 'intervals'?", SPEC("{interval: [5]}")},
    {"5:15", "hierarchy.file: expected the name of a file, found nothing", SPEC("{file: }")},
    {"5:26", "intervals: expected at least one width", SPEC("{intervals: []}")},
    {"5:27", "intervals: width '0' must be above 0", SPEC("{intervals: [0, 5]}")},
    {"5:30", "intervals: must ascend, but '5' is not above", SPEC("{intervals: [5, 5]}")},
    {"5:32", "width '0.7' must be a multiple of the width before it",
     SPEC("{intervals: [0.2, 0.7]}")},
    {"5:30", "intervals: expected a number, found 'ten'", SPEC("{intervals: [5, ten]}")},
    {"5:27", "intervals: more than 18 digits in '1234567890123456789'",
     SPEC("{intervals: [1234567890123456789]}")},
    {"5:21", "cuts: expected a list of bounds for each level", SPEC("{cuts: {a: 1}}")},
    {"5:22", "cuts: expected a list of bounds for each level", SPEC("{cuts: [[], [1]]}")},
    {"5:26", "cuts: must ascend", SPEC("{cuts: [[2, 1]]}")},
    {"5:34", "bound '3' is not among the bounds of the level before",
     SPEC("{cuts: [[1, 2], [1, 3]]}")},
    {"5:21", "mask: unknown value 'rigth'; did you mean 'right'? Allowed here: right, left",
     SPEC("{mask: rigth}")},
    {"5:34", "char: expected one printable character of one byte",
     SPEC("{mask: right, char: 'é'}")},
    {"5:28", "date: 'month' must not follow 'year'", SPEC("{date: [year, month]}")},
    {"5:28", "date: 'year' must not follow 'year'", SPEC("{date: [year, year]}")},
    {"5:22", "date: unknown value 'years'; did you mean 'year'?", SPEC("{date: [years]}")},
    {"5:35", "format: expected YYYY or YY, MM and DD once each",
     SPEC("{date: year, format: D.MM.YYYY}")},
    {"5:35", "format: expected YYYY or YY, MM and DD once each",
     SPEC("{date: year, format: YYYY-MM}")},
    {"5:20", "top: expected true, found 'false'", SPEC("{top: false}")},
    {"5:21", "tree: '*' has no children", SPEC("{tree: {}}")},
    {"5:25", "tree: 'A' has no children", SPEC("{tree: {A: []}}")},
    {"5:21", "tree: expected values such as", SPEC("{tree: A}")},
    {"5:26", "a value, or one 'label: values', found a list", SPEC("{tree: {A: [[b]]}}")},
    {"5:34", "this value has two parents: it is in line 5 already",
     SPEC("{tree: {A: [x], B: [x]}}")},
    /* privacy */
    {"3:14", "privacy.k must be at least 1", TWO_LINES "privacy: {k: 0}"},
    {"3:14", "privacy.k must be at least 1", TWO_LINES "privacy: {k: -7}"},
    {"3:14", "privacy.p must be at least 1", TWO_LINES "privacy: {p: 0}"},
    {"3:14", "privacy.k: expected a whole number, found '2.5'", TWO_LINES "privacy: {k: 2.5}"},
    {"3:14", "privacy.k: expected a whole number, found ''", TWO_LINES "privacy: {k: ''}"},
    {"3:14", "privacy.k: expected a whole number, found a list", TWO_LINES "privacy: {k: [3]}"},
    {"3:14", "privacy.k must be at most 18446744073709551615",
     TWO_LINES "privacy: {k: 18446744073709551616}"},
    {"3:10", "privacy: expected a mapping such as {k: 3}, found a list", TWO_LINES "privacy: [k]"},
    {"3:19", "privacy.models: expected a list",
     TWO_LINES "privacy: {models: {l-diversity: {l: 2}}}"},
    {"3:20", "expected a model's name, or one 'name:", TWO_LINES "privacy: {models: [{a: , b: }]}"},
    {"3:24", "a mapping of the model's parameters", TWO_LINES "privacy: {models: [{a: 2}]}"},
    {"3:28", "a number or a word for each parameter, found a list",
     TWO_LINES "privacy: {models: [{a: {l: [2]}}]}"},
    /* method and data */
    {"3:27", "method.max-suppression: expected a number of rows such as 10, or a share such as "
             "1%, found 'few'",
     TWO_LINES "method: {max-suppression: few}"},
    {"3:27", "method.max-suppression must not be negative",
     TWO_LINES "method: {max-suppression: -1%}"},
    {"3:27", "method.max-suppression must be at most 100%",
     TWO_LINES "method: {max-suppression: 100.1%}"},
    {"3:27", "expected a whole number of rows, or a share such as 0.5%",
     TWO_LINES "method: {max-suppression: 0.5}"},
    {"3:17", "method.noise: expected refuse, a number of rows", TWO_LINES "method: {noise: some}"},
    {"3:17", "method.start: unknown value 'sorrted'; did you mean 'sorted'?",
     TWO_LINES "method: {start: sorrted}"},
    {"3:22", "method.suppressed: unknown value 'blanck'; did you mean 'blank'?",
     TWO_LINES "method: {suppressed: blanck}"},
    {"3:21", "method.algorithm: expected a name, found nothing",
     TWO_LINES "method: {algorithm: ~}"},
    {"3:16", "method.seed must be at least 0", TWO_LINES "method: {seed: -1}"},
    {"3:18", "method.effort: expected a whole number from 1 to 1000, found '0'",
     TWO_LINES "method: {effort: 0}"},
    {"3:18", "method.effort: expected a whole number from 1 to 1000, found '1001'",
     TWO_LINES "method: {effort: 1001}"},
    {"3:18", "method.effort: expected a whole number from 1 to 1000, found '99999999999999999999'",
     TWO_LINES "method: {effort: 99999999999999999999}"},
    {"3:18", "method.effort: expected a whole number from 1 to 1000, found '1.5'",
     TWO_LINES "method: {effort: 1.5}"},
    {"3:19", "method.weights: expected the word inverse, or a mapping",
     TWO_LINES "method: {weights: invers}"},
    {"3:20", "unknown attribute 'agee'; did you mean 'age'? Allowed here: age, ill",
     TWO_LINES "method: {weights: {agee: 2}}"},
    {"3:25", "method.weights must not be negative", TWO_LINES "method: {weights: {age: -2}}"},
    {"3:18", "method.prefer: expected a list such as", TWO_LINES "method: {prefer: {a: 1}}"},
    {"3:11", "unlisted: unknown value 'dorp'; did you mean 'drop'?", TWO_LINES "unlisted: dorp"},
    {"3:19", "data.delimiter: expected one character of one byte, or its name, found "
             "'semicolumn'; did you mean 'semicolon'?",
     TWO_LINES "data: {delimiter: semicolumn}"},
    {"3:19", "a quote or a line break cannot stand between cells",
     TWO_LINES "data: {delimiter: '\"'}"},
    {"5:1", "a value must be on one line", TWO_LINES "data:\n  delimiter: |\n"},
    {"1:4", "a value must be on one line", "a: one\n  two\n"},
    {"1:4", "a value must be on one line", "a: \"one\n  two\"\n"},
    {"1:4", "a value must be on one line", "a: 'one\n  two'\n"},
    {"3:18", "data.missing: expected a cell's text, found a list",
     TWO_LINES "data: {missing: [[x]]}"},
    {"3:15", "data.fold: unknown value 'cases'; did you mean 'case'?", TWO_LINES "data: {fold: [cases]}"},
    {"3:14", "data.fold: ", TWO_LINES "data: {fold: {case: 1}}"},
};
/* clang-format on */

/* Standard error goes to a file meanwhile: nothing may be printed. */
static void test_mistakes(void **state) {
  (void)state;
  char report[2048];
  FILE *caught = tmpfile();
  int terminal = dup(STDERR_FILENO);
  assert_non_null(caught);
  assert_true(terminal >= 0 && dup2(fileno(caught), STDERR_FILENO) >= 0);
  bool refused = is_refused("a: 1\nb\0c", 8, "2:2", "a NUL byte", report);
  for (size_t i = 0; refused && i < sizeof mistakes / sizeof *mistakes; i++) {
    const mistake *m = &mistakes[i];
    refused = is_refused(m->yaml, strlen(m->yaml), m->position, m->phrase, report);
  }
  (void)fflush(stderr);
  assert_true(dup2(terminal, STDERR_FILENO) >= 0);
  (void)close(terminal);
  assert_int_equal(fseek(caught, 0, SEEK_END), 0);
  assert_int_equal(ftell(caught), 0);
  (void)fclose(caught);
  if (!refused) fail_msg("%s", report);
}

static void test_no_error_wanted(void **state) {
  (void)state;
  shoal_policy *policy;
  assert_int_equal(shoal_policy_parse("k: [", 4, NULL, NULL, &policy, NULL), SHOAL_BAD_POLICY);
  assert_null(policy);
}

/* ------------------------------------------------------------ overrides */

static void refuse_set(shoal_policy *policy, const char *key, const char *value,
                       const char *message) {
  shoal_error error;
  assert_int_equal(shoal_policy_set(policy, key, value, &error), SHOAL_BAD_POLICY);
  assert_string_equal(error.message, message);
}

static void set(shoal_policy *policy, const char *key, const char *value) {
  assert_int_equal(shoal_policy_set(policy, key, value, NULL), SHOAL_OK);
}

static void test_overrides(void **state) {
  (void)state;
  shoal_policy *policy = parse(manual);
  char algorithm[] = "optimal";
  set(policy, "k", "10");
  set(policy, "p", "4");
  set(policy, "algorithm", algorithm);
  algorithm[0] = '?'; /* the policy has its own copy */
  set(policy, "max-suppression", "25");
  set(policy, "seed", "0");
  set(policy, "effort", "1000");
  set(policy, "suppressed", "blank");
  set(policy, "delimiter", "\\t");
  assert_int_equal(policy->k, 10);
  assert_int_equal(policy->k_mark.line, 0);
  assert_int_equal(policy->p, 4);
  assert_word(policy->algorithm, "optimal", 0, 0);
  assert_int_equal(shoal_amount_rows(policy->max_suppression, 1000), 25);
  assert_int_equal(shoal_amount_rows(policy->max_suppression, 10), 10);
  assert_int_equal(policy->seed, 0);
  assert_int_equal(policy->effort, 1000);
  assert_true(policy->blank_suppressed);
  assert_int_equal(policy->delimiter, '\t');
  set(policy, "delimiter", "|");
  assert_int_equal(policy->delimiter, '|');
  refuse_set(policy, "k", "0", "-k must be at least 1");
  refuse_set(policy, "p", "two", "-p: expected a whole number, found 'two'");
  refuse_set(policy, "max-suppression", "x",
             "--max-suppression: expected a number of rows such as 10, or a share such as 1%, "
             "found 'x'");
  refuse_set(policy, "effort", "0", "--effort: expected a whole number from 1 to 1000, found '0'");
  refuse_set(policy, "effort", "", "--effort: expected a whole number from 1 to 1000, found ''");
  refuse_set(policy, "algorithm", "", "--algorithm: expected a name, found ''");
  refuse_set(policy, "delimiter", "\xff",
             "--delimiter: expected one character of one byte, or its name, found '\\xff'. Allowed "
             "here: tab, comma, semicolon, pipe");
  refuse_set(policy, "suppressed", "removed",
             "--suppressed: unknown value 'removed'; did you mean "
             "'remove'? Allowed here: remove, blank");
  refuse_set(policy, "sede", "1",
             "unknown setting 'sede'; did you mean 'seed'? Allowed here: k, p, "
             "algorithm, max-suppression, prefer, seed, effort, suppressed, formulas, delimiter");
  assert_int_equal(policy->k, 10); /* a refused value changes nothing */
  shoal_policy_free(policy);
}

static void test_fail(void **state) {
  (void)state;
  shoal_error error;
  shoal_policy *policy = parse(manual);
  assert_int_equal(shoal_policy_fail(policy, policy->k_mark, &error, "k is %d", 3),
                   SHOAL_BAD_INPUT);
  assert_string_equal(error.message, "policy.yaml:12:6: k is 3");
  set(policy, "k", "9");
  (void)shoal_policy_fail(policy, policy->k_mark, &error, "k is 9");
  assert_string_equal(error.message, "command line: k is 9");
  shoal_policy_free(policy);
}

/* ------------------------------------------------------------ files */

static void write_file(const char *path, const char *text, size_t size, size_t times) {
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  while (times--) assert_int_equal(fwrite(text, 1, size, file), size);
  assert_int_equal(fclose(file), 0);
}

static void fail_file(const char *path, shoal_status status, const char *phrase) {
  shoal_policy *policy;
  shoal_error error;
  assert_int_equal(shoal_policy_read(path, &policy, &error), status);
  assert_null(policy);
  assert_int_equal(strncmp(error.message, path, strlen(path)), 0);
  if (!strstr(error.message, phrase)) fail_msg("wanted '%s', got '%s'", phrase, error.message);
}

static void refuse_file(const char *path, const char *phrase) {
  fail_file(path, SHOAL_BAD_POLICY, phrase);
}

static void test_files(void **state) {
  (void)state;
  char folder[] = "/tmp/shoal-policy-XXXXXX", path[64], expected[96];
  assert_non_null(mkdtemp(folder));
  (void)snprintf(path, sizeof path, "%s/policy.yaml", folder);
  refuse_file(path, "the policy file does not exist");
  refuse_file(folder, "is a directory; give the policy file");
  refuse_file("", "the policy file does not exist");
  write_file(path, "", 0, 0);
  refuse_file(path, ":1:1: the policy is empty");
  write_file(path, "# sixteen bytes\n", 16, (16u << 20) / 16 + 1);
  refuse_file(path, "larger than 16 MiB");
  write_file(path, manual, strlen(manual), 1);
  if (geteuid() != 0) {
    assert_int_equal(chmod(path, 0), 0);
    fail_file(path, SHOAL_FAILED, "no permission");
    assert_int_equal(chmod(path, 0600), 0);
  }
  shoal_policy *policy;
  assert_int_equal(shoal_policy_read(path, &policy, NULL), SHOAL_OK);
  assert_string_equal(policy->directory, folder);
  (void)snprintf(expected, sizeof expected, "%s/marital.csv", folder);
  assert_string_equal(shoal_policy_attribute(policy, "marital")->hierarchy.file, expected);
  write_file(expected, "x\n", 2, 1);
  assert_true(shoal_policy_names_file(policy, path));
  assert_true(shoal_policy_names_file(policy, expected));
  assert_false(shoal_policy_names_file(policy, folder));
  assert_int_equal(unlink(expected), 0);
  shoal_policy_free(policy);
  assert_int_equal(chdir(folder), 0);
  assert_int_equal(shoal_policy_read("policy.yaml", &policy, NULL), SHOAL_OK);
  assert_string_equal(shoal_policy_attribute(policy, "marital")->hierarchy.file, "marital.csv");
  shoal_policy_free(policy);
  assert_int_equal(chdir("/"), 0);
  assert_int_equal(unlink(path), 0);
  assert_int_equal(rmdir(folder), 0);
}

/* ------------------------------------------------------------ help */

static void test_keys(void **state) {
  (void)state;
  static const char *const some[] = {"shoal",
                                     "data.delimiter",
                                     "attributes.NAME.role",
                                     "privacy.k",
                                     "method.seed",
                                     "method.max-suppression",
                                     "attributes.NAME.hierarchy.intervals"};
  const shoal_entry *entries = shoal_policy_keys();
  for (size_t i = 0; i < sizeof some / sizeof *some; i++) {
    const shoal_entry *entry = entries;
    while (entry->name && strcmp(entry->name, some[i]) != 0) entry++;
    assert_non_null(entry->name);
  }
  for (; entries->name; entries++)
    assert_true(entries->parameters[0] && entries->summary[0] && strlen(entries->summary) < 90);
}

static void patterns(void **state) {
  (void)state;
  static const struct {
    const char *pattern, *name;
    bool fits;
  } cases[] = {{"*", "", true},        {"*", "abc", true},
               {"a*", "a", true},      {"a*", "b", false},
               {"*a", "bca", true},    {"*a", "ab", false},
               {"a*c", "abbc", true},  {"a*c", "ac", true},
               {"a*c", "abcb", false}, {"a*b*c", "aXbYbZc", true},
               {"a**c", "abc", true},  {"*ab*", "aab", true},
               {"", "", true},         {"", "a", false},
               {"abc", "ab", false}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    assert_int_equal(shoal_name_fits(cases[i].pattern, cases[i].name), cases[i].fits);
  static const char text[] =
      "shoal: 1\nattributes:\n  \"*\": {role: keep}\n  \"V*\": {role: quasi}\n"
      "  \"V5*\": {role: sensitive}\n  V51: {role: identifier}\n";
  shoal_policy *policy;
  shoal_error error;
  assert_int_equal(shoal_policy_parse(text, sizeof text - 1, "p", ".", &policy, &error), SHOAL_OK);
  assert_int_equal(shoal_policy_attribute(policy, "x")->role, SHOAL_ROLE_KEEP);
  assert_int_equal(shoal_policy_attribute(policy, "V4")->role, SHOAL_ROLE_QUASI);
  assert_int_equal(shoal_policy_attribute(policy, "V52")->role, SHOAL_ROLE_SENSITIVE);
  assert_int_equal(shoal_policy_attribute(policy, "V51")->role, SHOAL_ROLE_IDENTIFIER);
  assert_false(shoal_policy_knows_name(policy, "x"));
  assert_true(shoal_policy_knows_name(policy, "V4"));
  assert_null(shoal_policy_entry(policy, "V4"));
  shoal_policy_free(policy);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(patterns),
      cmocka_unit_test(test_manual),
      cmocka_unit_test(test_defaults),
      cmocka_unit_test(test_other_forms),
      cmocka_unit_test(test_hierarchies),
      cmocka_unit_test(test_trees),
      cmocka_unit_test(test_hierarchy_alone),
      cmocka_unit_test(test_mistakes),
      cmocka_unit_test(test_no_error_wanted),
      cmocka_unit_test(test_overrides),
      cmocka_unit_test(test_fail),
      cmocka_unit_test(test_files),
      cmocka_unit_test(test_keys),
  };
  return cmocka_run_group_tests_name("policy", tests, NULL, NULL);
}
