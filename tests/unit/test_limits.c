/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Limits of docs/limits.md that would take a table of billions of rows to meet: ids of 32 bits. The
 * count stands one below its limit here, as if all the others had been there.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/hash.h"
#include "group/tuples.h"

#define UNUSED __attribute__((unused))

static void there_is_no_id_beyond_the_last(void **state UNUSED) {
  shoal_ids ids;
  assert_true(shoal_ids_init(&ids, 4));
  assert_int_equal(0, shoal_ids_insert(&ids, 77));
  ids.n_ids = UINT32_MAX - 1;
  assert_int_equal(SHOAL_NONE, shoal_ids_insert(&ids, 78));
  assert_int_equal(0, shoal_ids_insert(&ids, 77)); /* who has an id keeps it */
  assert_int_equal(UINT32_MAX - 1, ids.n_ids);
  ids.n_ids = 1;
  assert_int_equal(1, shoal_ids_insert(&ids, 78));
  shoal_ids_reset(&ids);
}

/* Words of few bits have a table of their own, others are hashed. */
static void there_is_no_distinct_row_beyond_the_last(void **state UNUSED) {
  static const unsigned bits[] = {8, 24, 60};
  for (size_t i = 0; i < sizeof bits / sizeof *bits; i++) {
    shoal_tuples tuples;
    assert_true(shoal_tuples_init(&tuples, bits[i], 10));
    assert_int_equal(0, shoal_tuples_add(&tuples, 7, 1));
    tuples.n_ids = SHOAL_NONE - 2;
    assert_int_equal(SHOAL_NONE, shoal_tuples_add(&tuples, 8, 1));
    tuples.n_ids = 1;
    assert_int_equal(1, shoal_tuples_add(&tuples, 8, 1));
    shoal_tuples_reset(&tuples);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(there_is_no_id_beyond_the_last),
      cmocka_unit_test(there_is_no_distinct_row_beyond_the_last),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
