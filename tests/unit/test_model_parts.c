/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What models declare about parts and unions of classes, against brute force on random classes: a
 * union of two classes that satisfy a model that merges satisfies it, and no part that satisfies
 * has more rows than max_part.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "context/context.h"
#include "model/types.h"

enum { N_VALUES = 5, MAX_ROWS = 4, N_CLASSES = 400, MISSING = N_VALUES };

static uint64_t random_state = 1;

static uint64_t draw(uint64_t n) { /* xorshift64 */
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  random_state ^= random_state << 17;
  return random_state % n;
}

static const uint8_t is_missing[N_VALUES + 1] = {[MISSING] = 1};
static const uint32_t all_values[N_VALUES + 1] = {0, 1, 2, 3, 4, MISSING};

/* Rows of each value of s; the last is a missing one. */
typedef struct counts {
  uint64_t rows[N_VALUES + 1];
} counts;

/* The same as a model sees it. */
typedef struct sight {
  uint32_t values[N_VALUES + 1];
  uint64_t rows[N_VALUES + 1];
  shoal_class_view view;
} sight;

static const shoal_class_view *look_at(const counts *c, sight *s) {
  size_t n = 0;
  s->view = (shoal_class_view){0};
  for (size_t v = 0; v <= N_VALUES; v++) {
    if (!c->rows[v]) continue;
    s->values[n] = all_values[v];
    s->rows[n++] = c->rows[v];
    s->view.n_rows += c->rows[v];
    s->view.n_distinct += v != MISSING;
  }
  s->view.values =
      (shoal_value_view){.values = s->values, .n_rows = s->rows, .n = n, .is_missing = is_missing};
  return &s->view;
}

static counts random_counts(void) {
  counts c;
  for (size_t v = 0; v < N_VALUES; v++) c.rows[v] = draw(3) ? draw(MAX_ROWS + 1) : 0;
  c.rows[MISSING] = draw(2);
  return c;
}

static bool holds(const shoal_requirement *requirement, const counts *c) {
  sight s;
  return requirement->type->holds(requirement, look_at(c, &s));
}

/* The most rows of a part that satisfies, over all parts. */
static uint64_t largest_part(const shoal_requirement *requirement, const counts *whole) {
  counts part = {{0}};
  uint64_t most = 0;
  for (;;) {
    size_t v = 0;
    while (v <= N_VALUES && part.rows[v] == whole->rows[v]) part.rows[v++] = 0;
    if (v > N_VALUES) return most;
    part.rows[v]++;
    uint64_t n = 0;
    for (size_t i = 0; i <= N_VALUES; i++) n += part.rows[i];
    if (n > most && holds(requirement, &part)) most = n;
  }
}

/* ---------------------------------------------------------------- requirements of a policy */

static const char *const models[] = {
    "t-closeness: {t: 0.2}",
    "t-closeness: {t: 0.4}",
    "t-closeness: {t: 0.15, distance: ordered}",
    "t-closeness: {t: 0.3, distance: hierarchical}",
    "alpha-k: {alpha: 0.5}",
    "alpha-k: {alpha: 0.35}",
    "l-diversity: {kind: entropy, l: 2}",
    "l-diversity: {kind: entropy, l: 3.5}",
    "l-diversity: {kind: recursive, l: 2, c: 1}",
    "l-diversity: {kind: recursive, l: 3, c: 1.5}",
    "l-diversity: {kind: recursive, l: 4, c: 4}",
};

typedef struct bound {
  shoal_policy *policy;
  shoal_table *table;
  shoal_context context;
} bound;

static void check(shoal_status status, const shoal_error *error) {
  if (status != SHOAL_OK) fail_msg("%s", error->message);
}

/* A table of 16 rows in which value v of s has v + 1 rows, and one row is missing. */
static void bind(const char *model, bound *b) {
  char text[400];
  shoal_error error = {0};
  (void)snprintf(text, sizeof text,
                 "shoal: 1\nattributes:\n  q: {role: quasi, hierarchy: {top: true}}\n"
                 "  s: {role: sensitive, type: number, hierarchy: {tree: {A: ['0', '1'], B: ['2', "
                 "'3', '4']}}}\nprivacy: {k: 1, models: [{%s}]}\n",
                 model);
  check(shoal_policy_parse(text, strlen(text), "test", ".", &b->policy, &error), &error);
  const char *const names[] = {"q", "s"};
  check(shoal_table_new(names, 2, &b->table, &error), &error);
  const char *q = "aaaaaa", *s = "01234";
  const uint64_t starts_q[] = {0, 1, 2, 3, 4, 5, 6}, starts_s[] = {0, 1, 2, 3, 4, 5, 5};
  const uint64_t n_records[] = {1, 2, 3, 4, 5, 1};
  const shoal_text_view columns[] = {{q, starts_q}, {s, starts_s}};
  check(shoal_table_append(b->table, columns, 2, N_VALUES + 1, n_records, &error), &error);
  check(shoal_table_finish(b->table, b->policy, SHOAL_FOR_RELEASE, &error), &error);
  check(shoal_context_init(&b->context, b->table, b->policy, SHOAL_CONTEXT_REQUIREMENTS, NULL,
                           &error),
        &error);
}

static void unbind(bound *b) {
  shoal_context_reset(&b->context);
  shoal_table_free(b->table);
  shoal_policy_free(b->policy);
}

static const shoal_requirement *last_requirement(const bound *b) {
  const shoal_requirements *all = &b->context.requirements;
  return &all->items[all->n_items - 1];
}

/* ---------------------------------------------------------------- tests */

static void parts_that_satisfy_are_not_larger(void **state) {
  (void)state;
  for (size_t m = 0; m < sizeof models / sizeof *models; m++) {
    bound b = {0};
    bind(models[m], &b);
    const shoal_requirement *requirement = last_requirement(&b);
    size_t n_violating = 0, n_useful = 0;
    for (int i = 0; i < N_CLASSES; i++) {
      counts whole = random_counts();
      sight s;
      const shoal_class_view *view = look_at(&whole, &s);
      if (view->n_rows == 0 || holds(requirement, &whole)) continue;
      uint64_t most = requirement->type->max_part(requirement, view);
      if (largest_part(requirement, &whole) > most)
        fail_msg("%s: class %d has a larger part than %llu", models[m], i,
                 (unsigned long long)most);
      n_violating++;
      n_useful += most < view->n_rows;
    }
    assert_true(n_violating > 20);
    if (m < 2 || m > 3) assert_true(n_useful > n_violating / 4); /* a bound that says something */
    unbind(&b);
  }
}

static void unions_of_satisfying_classes_satisfy(void **state) {
  (void)state;
  for (size_t m = 0; m < sizeof models / sizeof *models; m++) {
    bound b = {0};
    bind(models[m], &b);
    const shoal_requirement *requirement = last_requirement(&b);
    size_t n_tested = 0;
    assert_true(b.context.requirements.merges && !b.context.requirements.monotone);
    for (int i = 0; i < 50 * N_CLASSES; i++) {
      counts x = random_counts(), y = random_counts();
      if (!holds(requirement, &x) || !holds(requirement, &y)) continue;
      for (size_t v = 0; v <= N_VALUES; v++) x.rows[v] += y.rows[v];
      if (!holds(requirement, &x)) fail_msg("%s: union %d violates it", models[m], i);
      n_tested++;
    }
    assert_true(n_tested > 20);
    unbind(&b);
  }
}

static void other_models_do_not_merge(void **state) {
  (void)state;
  bound b = {0};
  bind("theta-sensitive: {mu: 0.5}", &b);
  assert_false(b.context.requirements.merges);
  unbind(&b);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(parts_that_satisfy_are_not_larger),
      cmocka_unit_test(unions_of_satisfying_classes_satisfy),
      cmocka_unit_test(other_models_do_not_merge),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
