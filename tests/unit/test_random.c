/* SPDX-License-Identifier: Apache-2.0 */
/* Four blocks of the random stream at once are those that come one by one, wherever it stands. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/random.h"

#define UNUSED __attribute__((unused))

static void blocks_at_once_are_the_stream(void **state UNUSED) {
  static const uint32_t key[8] = {1, 2, 3, 4, 5, 6, 7, UINT32_MAX};
  static const uint64_t starts[] = {0, 5, UINT32_MAX - 2, UINT32_MAX, UINT64_MAX - 1};
  for (size_t s = 0; s < sizeof starts / sizeof *starts; s++) {
    shoal_random one, four;
    uint32_t words[SHOAL_RANDOM_WORDS];
    shoal_random_stream(&one, key, UINT64_C(1) << 40, starts[s]);
    shoal_random_stream(&four, key, UINT64_C(1) << 40, starts[s]);
    for (unsigned round = 0; round < 3; round++) {
      shoal_random_blocks(&four, words);
      for (size_t w = 0; w < SHOAL_RANDOM_WORDS; w += 2)
        assert_true(shoal_random_next(&one) == ((uint64_t)words[w + 1] << 32 | words[w]));
    }
    assert_true(shoal_random_next(&four) == shoal_random_next(&one)); /* and it goes on there */
  }
}

/* RFC 8439, appendix A.1, vector 1: the block of a key of zeros. */
static void the_stream_is_the_published_one(void **state UNUSED) {
  static const uint32_t key[8] = {0};
  shoal_random random;
  uint32_t words[SHOAL_RANDOM_WORDS];
  shoal_random_stream(&random, key, 0, 0);
  shoal_random_blocks(&random, words);
  static const uint32_t expected[16] = {0xade0b876, 0x903df1a0, 0xe56a5d40, 0x28bd8653,
                                        0xb819d2bd, 0x1aed8da0, 0xccef36a8, 0xc70d778b,
                                        0x7c5941da, 0x8d485751, 0x3fe02477, 0x374ad8b8,
                                        0xf4b8436a, 0x1ca11815, 0x69b687c3, 0x8665eeb2};
  for (size_t w = 0; w < 16; w++) assert_int_equal(words[w], expected[w]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(blocks_at_once_are_the_stream),
      cmocka_unit_test(the_stream_is_the_published_one),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
