/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unit tests of sets as labels: writing and reading them with hostile values, lists of positions
 * against flags, the nearest class on set axes against a scan, and the verifier, which accepts what
 * the engine writes and rejects labels that were changed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/random.h"
#include "cluster/nearest.h"
#include "verify/fold.h"
#include "verify/sets.h"
#include "verify_request.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define UNUSED __attribute__((unused))

/* ---------------------------------------------------------------- labels */

static shoal_label label_of(const char *text) { return (shoal_label){text, strlen(text)}; }

/* The label of n values; the caller frees it. */
static char *written(const char *const *values, size_t n) {
  shoal_label labels[SHOAL_MAX_SET + 2];
  for (size_t i = 0; i < n; i++) labels[i] = label_of(values[i]);
  shoal_text text;
  shoal_text_init(&text);
  shoal_set_label_add(&text, labels, n);
  char *label = shoal_text_take(&text);
  assert_non_null(label);
  return label;
}

static void labels_are_written_as_documented(void **state UNUSED) {
  static const struct {
    const char *values[3], *label;
  } cases[] = {
      {{"a"}, "a"},
      {{""}, ""},
      {{"a|b"}, "a|b"},
      {{"\"a\""}, "\"a\""},
      {{"a}"}, "a}"},
      {{"*"}, "{\"*\"}"},
      {{" ** "}, "{\" ** \"}"},
      {{"*a"}, "*a"},
      {{"{a|b}"}, "{\"{a|b}\"}"},
      {{"{"}, "{\"{\"}"},
      {{"divorced", "widowed"}, "{divorced|widowed}"},
      {{"b", "C", "a"}, "{C|a|b}"}, /* by bytes */
      {{"", "a"}, "{\"\"|a}"},
      {{"*", "a b", "b*"}, "{\"*\"|a b|b*}"},
      {{"\"", "a|b", "c}"}, "{\"\"\"\"|\"a|b\"|\"c}\"}"},
  };
  for (size_t i = 0; i < COUNT(cases); i++) {
    size_t n = 0;
    while (n < 3 && cases[i].values[n]) n++;
    char *label = written(cases[i].values, n);
    assert_string_equal(label, cases[i].label);
    free(label);
  }
}

static void more_than_the_maximum_is_a_star(void **state UNUSED) {
  const char *values[SHOAL_MAX_SET + 1];
  char texts[SHOAL_MAX_SET + 1][8];
  for (int i = 0; i <= SHOAL_MAX_SET; i++) {
    (void)snprintf(texts[i], sizeof texts[i], "v%02d", i);
    values[i] = texts[i];
  }
  char *most = written(values, SHOAL_MAX_SET), *more = written(values, SHOAL_MAX_SET + 1);
  assert_true(shoal_is_set_label(label_of(most)));
  assert_string_equal(more, "*");
  free(most);
  free(more);
}

static void other_labels_are_no_sets(void **state UNUSED) {
  static const char *const labels[] = {
      "",       "a",      "*",       "{}",    "{",       "}",       "{|}",    "{a|}",
      "{|a}",   "{a",     "a}",      "{a}b",  "{a|b}}",  "{{a|b}",  "{a\"b}", "{\"a\"}",
      "{*}",    "{*|a}",  "{\"}",    "{\"\"", "{\"\"a}", "{a|\"b}", "{\"|}",  "{a||b}",
      " {a|b}", "{a|b} ", "{ * |a}", "{a}}",  "{\"\"\"}"};
  for (size_t i = 0; i < COUNT(labels); i++) assert_false(shoal_is_set_label(label_of(labels[i])));
  assert_true(shoal_is_set_label(label_of("{b|a|b}"))); /* order and repeats are for others */
  assert_true(shoal_is_set_label(label_of("{a}")));
}

/* ---------------------------------------------------------------- hostile values */

enum { MAX_BYTES = 6 };

typedef struct value_set {
  char bytes[SHOAL_MAX_SET][MAX_BYTES + 1];
  const char *values[SHOAL_MAX_SET];
  size_t n;
} value_set;

static int by_bytes(const void *a, const void *b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void draw_set(value_set *s, shoal_random *random, size_t most) {
  static const char alphabet[] = "ab|{}\"* ";
  s->n = 0;
  for (size_t i = 0, n = 1 + shoal_random_below(random, most); i < n; i++) {
    size_t size = shoal_random_below(random, MAX_BYTES + 1);
    for (size_t j = 0; j < size; j++)
      s->bytes[i][j] = alphabet[shoal_random_below(random, sizeof alphabet - 1)];
    s->bytes[i][size] = '\0';
    bool known = false;
    for (size_t j = 0; j < s->n; j++) known = known || strcmp(s->values[j], s->bytes[i]) == 0;
    if (!known) s->values[s->n++] = s->bytes[i];
  }
  qsort(s->values, s->n, sizeof *s->values, by_bytes);
}

static void every_set_is_read_again(void **state UNUSED) {
  shoal_random random;
  shoal_random_seed(&random, 1);
  for (int round = 0; round < 20000; round++) {
    value_set s;
    draw_set(&s, &random, SHOAL_MAX_SET);
    char *label = written(s.values, s.n), scratch[1024];
    if (shoal_is_set_label(label_of(label))) {
      size_t at = 0, n = 0;
      shoal_label value;
      while (shoal_set_label_next(label_of(label), &at, scratch, &value)) {
        assert_true(n < s.n && value.size_bytes == strlen(s.values[n]));
        assert_memory_equal(value.bytes, s.values[n], value.size_bytes);
        n++;
      }
      assert_int_equal(n, s.n);
    } else { /* a value alone, which is neither a set nor a star */
      assert_int_equal(s.n, 1);
      assert_string_equal(label, s.values[0]);
      assert_string_not_equal(label, "*");
    }
    free(label);
  }
}

/* ---------------------------------------------------------------- the verifier */

static bool covers(const char *label, const char *value, const shoal_verify_fold *fold) {
  shoal_text key_of_value, scratch, key;
  shoal_text_init(&key_of_value);
  shoal_text_init(&scratch);
  shoal_text_init(&key);
  assert_true(shoal_verify_fold_key(fold, value, strlen(value), &key_of_value));
  bool found = shoal_verify_set_covers(label, strlen(label), fold, &key_of_value, &scratch, &key);
  assert_false(scratch.failed || key.failed);
  shoal_text_reset(&key_of_value);
  shoal_text_reset(&scratch);
  shoal_text_reset(&key);
  return found;
}

static void the_verifier_reads_what_is_written(void **state UNUSED) {
  const shoal_verify_fold none = {0};
  shoal_random random;
  shoal_random_seed(&random, 2);
  for (int round = 0; round < 10000; round++) {
    value_set s, other;
    draw_set(&s, &random, SHOAL_MAX_SET);
    draw_set(&other, &random, 1);
    bool has = false;
    for (size_t i = 0; i < s.n; i++) has = has || strcmp(s.values[i], other.values[0]) == 0;
    char *label = written(s.values, s.n);
    for (size_t i = 0; i < s.n; i++) assert_true(covers(label, s.values[i], &none));
    assert_int_equal(covers(label, other.values[0], &none), has);
    free(label);
  }
}

static void the_verifier_rejects_other_spellings(void **state UNUSED) {
  static const char *const labels[] = {
      "{b|a}",     "{a|a}",  "{a|b",    "a|b}",        "{a}",
      "{\"a\"|b}", "{*|a}",  "{a|b|}",  "{|a|b}",      "{a||b}",
      "{a|b}}",    "{{a|b}", "{a|b} ",  " {a|b}",      "**",
      " *",        "{}",     "{a|\"b}", "{a,b}",       "[a|b]",
      "{\"\"}",    "{\"a",   "{",       "{a|\"b\"\"}", "{a|b|c|d|e|f|g|h|i|j|k|l|m|n|o|p|q}"};
  const shoal_verify_fold none = {0};
  for (size_t i = 0; i < COUNT(labels); i++) assert_false(covers(labels[i], "a", &none));
  assert_true(covers("{a|b}", "a", &none));
  assert_true(covers("{a|b|c|d|e|f|g|h|i|j|k|l|m|n|o|p}", "a", &none));
  assert_true(covers("*", "a", &none));
  assert_false(covers("{a|b}", "A", &none));
  assert_true(covers("{a|b}", "A", &(shoal_verify_fold){.letter_case = true}));
  assert_true(covers("{1.0|5}", "1", &(shoal_verify_fold){.numbers = true}));
}

/* ---------------------------------------------------------------- lists of positions */

enum { MANY = 40 };

static uint32_t count(const bool *has) {
  uint32_t n = 0;
  for (int i = 0; i < MANY; i++) n += has[i];
  return n < SHOAL_MAX_SET + 1 ? n : SHOAL_MAX_SET + 1;
}

static void assert_list(const uint32_t *set, const bool *has) {
  assert_int_equal(set[0], count(has));
  if (set[0] > SHOAL_MAX_SET) return;
  uint32_t at = 0;
  for (uint32_t i = 0; i < MANY; i++) {
    assert_int_equal(shoal_set_contains(set, i), has[i]);
    if (has[i]) assert_int_equal(set[++at], i);
  }
}

static void draw_list(shoal_random *random, uint32_t *set, bool *has, uint32_t most) {
  memset(has, 0, MANY * sizeof *has);
  set[0] = 0;
  for (uint64_t n = shoal_random_below(random, most + 1); n > 0; n--) {
    uint32_t position = (uint32_t)shoal_random_below(random, MANY);
    has[position] = true;
    shoal_set_insert(set, position);
  }
  assert_list(set, has);
}

static void lists_are_sets(void **state UNUSED) {
  shoal_random random;
  shoal_random_seed(&random, 3);
  for (int round = 0; round < 5000; round++) {
    uint32_t a[2 * SHOAL_SET_SPANS], b[2 * SHOAL_SET_SPANS], copy[2 * SHOAL_SET_SPANS];
    bool in_a[MANY], in_b[MANY], in_both[MANY], in_any[MANY];
    draw_list(&random, a, in_a, 30);
    draw_list(&random, b, in_b, 30);
    for (int i = 0; i < MANY; i++) {
      in_both[i] = in_a[i] && in_b[i];
      in_any[i] = in_a[i] || in_b[i];
    }
    assert_int_equal(shoal_set_union_size(a, b), count(in_any));
    memcpy(copy, a, sizeof copy);
    shoal_set_join(copy, b);
    assert_list(copy, in_any);
    memcpy(copy, a, sizeof copy);
    shoal_set_intersect(copy, b);
    if (a[0] > SHOAL_MAX_SET) assert_int_equal(copy[0], b[0]); /* all of the other */
    else if (b[0] > SHOAL_MAX_SET) assert_list(copy, in_a);
    else assert_list(copy, in_both);
  }
}

/* ---------------------------------------------------------------- nearest classes */

enum { AXES = 2, CLASSES = 120, BOX = AXES + AXES * SHOAL_SET_SPANS };

static void the_nearest_class_is_that_of_a_scan(void **state UNUSED) {
  shoal_axis items[AXES] = {0};
  shoal_axes axes = {.n = AXES, .n_spans = BOX, .items = items};
  for (size_t q = 0; q < AXES; q++) {
    items[q] = (shoal_axis){.kind = SHOAL_AXIS_SET,
                            .n_positions = MANY,
                            .n_values = MANY,
                            .full = (MANY - 1) * 10,
                            .set = AXES + q * SHOAL_SET_SPANS};
    for (uint32_t n = 2; n <= SHOAL_MAX_SET; n++) items[q].set_loss[n] = (n - 1) * 10;
    items[q].set_loss[SHOAL_MAX_SET + 1] = items[q].full;
  }
  shoal_random random;
  shoal_random_seed(&random, 4);
  for (int round = 0; round < 30; round++) {
    static shoal_span boxes[CLASSES][BOX];
    uint64_t n_rows[CLASSES];
    for (uint32_t c = 0; c < CLASSES; c++) {
      n_rows[c] = 1 + shoal_random_below(&random, 5);
      shoal_box_clear(&axes, boxes[c]);
      for (uint64_t i = 0, n = 1 + shoal_random_below(&random, round % 2 ? 25 : 5); i < n; i++)
        shoal_box_add(&axes, boxes[c],
                      (uint32_t[AXES]){(uint32_t)shoal_random_below(&random, MANY),
                                       (uint32_t)shoal_random_below(&random, MANY)});
    }
    shoal_nearest nearest;
    shoal_error error;
    assert_int_equal(shoal_nearest_init(&nearest, &axes, boxes[0], n_rows, CLASSES, &error),
                     SHOAL_OK);
    for (uint32_t c = 0; c < CLASSES; c++) {
      uint32_t best = SHOAL_NONE;
      uint64_t least = UINT64_MAX;
      for (uint32_t other = 0; other < CLASSES; other++) {
        if (other == c) continue;
        shoal_span joined[BOX];
        memcpy(joined, boxes[c], sizeof joined);
        shoal_box_join(&axes, joined, boxes[other]);
        uint64_t loss = shoal_box_loss(&axes, joined);
        assert_int_equal(loss, shoal_box_loss_joined(&axes, boxes[c], boxes[other]));
        uint64_t cost = n_rows[c] * (loss - shoal_box_loss(&axes, boxes[c])) +
                        n_rows[other] * (loss - shoal_box_loss(&axes, boxes[other]));
        if (cost >= least) continue;
        least = cost;
        best = other;
      }
      assert_int_equal(shoal_nearest_class(&nearest, c, NULL), best);
    }
    shoal_nearest_reset(&nearest);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(labels_are_written_as_documented),
      cmocka_unit_test(more_than_the_maximum_is_a_star),
      cmocka_unit_test(other_labels_are_no_sets),
      cmocka_unit_test(every_set_is_read_again),
      cmocka_unit_test(the_verifier_reads_what_is_written),
      cmocka_unit_test(the_verifier_rejects_other_spellings),
      cmocka_unit_test(lists_are_sets),
      cmocka_unit_test(the_nearest_class_is_that_of_a_scan),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
