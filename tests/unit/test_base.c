/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unit tests of src/base: exact decimals against 128-bit integers, memory and arenas, strings and
 * UTF-8 against a decoder of code points, the ChaCha20 stream against RFC 8439, ids, threads.
 */
#include <limits.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/decimal.h"
#include "base/error.h"
#include "base/escape.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/pipeline.h"
#include "base/random.h"
#include "base/sort.h"
#include "base/text.h"
#include "base/thread.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define UNUSED __attribute__((unused))

__extension__ typedef __int128 int128;
__extension__ typedef unsigned __int128 uint128;

static const int64_t MOST = 999999999999999999; /* 18 digits */

static int128 power(unsigned exponent) {
  int128 result = 1;
  while (exponent--) result *= 10;
  return result;
}

/* Numbers of up to 18 digits, of all sizes, and scales. */
static shoal_decimal random_decimal(shoal_random *random) {
  unsigned digits = 1 + (unsigned)shoal_random_below(random, 18);
  return (shoal_decimal){(int64_t)shoal_random_below(random, (uint64_t)power(digits)),
                         (unsigned)shoal_random_below(random, 19)};
}

/* ---------------------------------------------------------------- decimals */

static shoal_number parse(const char *text, shoal_decimal *out) {
  *out = (shoal_decimal){-1, 99};
  return shoal_decimal_parse(text, strlen(text), out);
}

static void parses_to(const char *text, int64_t mantissa, unsigned scale) {
  shoal_decimal number;
  if (parse(text, &number) != SHOAL_NUMBER_OK) fail_msg("'%s' is a number", text);
  assert_int_equal(number.mantissa, mantissa);
  assert_int_equal(number.scale, scale);
}

static void fails_with(shoal_number verdict, const char *const *texts) {
  shoal_decimal number;
  for (; *texts; texts++)
    if (parse(*texts, &number) != verdict) fail_msg("'%s' is not refused as it should", *texts);
}

static void numbers_are_read_exactly(void **state UNUSED) {
  parses_to("0.2", 2, 1);
  parses_to("-12.50", -125, 1);
  parses_to("-0.000", 0, 0);
  parses_to("1.5e3", 1500, 0);
  parses_to("1500E-3", 15, 1);
  parses_to("0e9999", 0, 0);
  parses_to("000000000000000000000012", 12, 0); /* zeros in front are no digits */
  parses_to("999999999999999999", MOST, 0);
  parses_to("-0.99999999999999999900", -MOST, 18);
  parses_to("1e17", 100000000000000000, 0);
  parses_to("1e-18", 1, 18);
}

static void what_is_no_number_is_told_from_what_is_too_long(void **state UNUSED) {
  static const char *const wrong[] = {"",      "-",   ".",     "e5",   "1e",    "1e+",
                                      "1.2.3", " 1",  "1 ",    "--1",  "1e5.",  "0x1",
                                      "1,5",   "nan", "1e+-1", "1.0.", "1.00x", NULL};
  static const char *const too_long[] = {
      "1000000000000000000", "1e18", "1234567890123456789", "1e-19", "1e9999", "1e-9999", NULL};
  fails_with(SHOAL_NUMBER_NOT, wrong);
  fails_with(SHOAL_NUMBER_TOO_LONG, too_long);
}

/* decimal.h: [+-]digits[.digits][e[+-]digits]. */
static void a_point_needs_a_digit_on_one_side(void **state UNUSED) {
  parses_to(".5", 5, 1);
  parses_to("5.", 5, 0);
  parses_to("-.5e3", -500, 0);
  fails_with(SHOAL_NUMBER_NOT, (const char *const[]){".", "-.", ".e3", "1.2.3", NULL});
}

static void an_exponent_may_have_zeros_in_front(void **state UNUSED) {
  parses_to("1e00002", 100, 0);
}

/* value x 10^exponent as a reduced decimal, if it has one: by 128-bit integers. */
static bool reduced(int64_t value, int exponent, shoal_decimal *out) {
  int128 rest = value;
  if (rest == 0) exponent = 0;
  for (; rest && rest % 10 == 0; exponent++) rest /= 10;
  for (; exponent > 0 && rest <= MOST; exponent--) rest *= 10;
  *out = (shoal_decimal){(int64_t)rest, (unsigned)(exponent < 0 ? -exponent : 0)};
  return rest <= MOST && exponent >= -18;
}

static void random_numbers_are_read_as_128_bits_do(void **state UNUSED) {
  shoal_random random;
  shoal_random_seed(&random, 11);
  unsigned n_long = 0, n_all = 300000;
  for (unsigned i = 0; i < n_all; i++) {
    shoal_decimal given = random_decimal(&random), expected, number;
    int exponent = (int)shoal_random_below(&random, 31) - 15, fraction = (int)given.scale;
    char digits[64], text[128]; /* zeros in front, a point, zeros behind it, an exponent */
    int size =
        snprintf(digits, sizeof digits, "%0*lld",
                 fraction + 1 + (int)shoal_random_below(&random, 4), (long long)given.mantissa);
    (void)snprintf(text, sizeof text, "%s%.*s%s%s%.*s%c%+d", i % 2 ? "-" : "", size - fraction,
                   digits, fraction ? "." : "", digits + size - fraction,
                   fraction ? (int)shoal_random_below(&random, 3) : 0, "00", "eE"[i / 2 % 2],
                   exponent);
    bool fits = reduced(given.mantissa, exponent - fraction, &expected);
    if (parse(text, &number) != (fits ? SHOAL_NUMBER_OK : SHOAL_NUMBER_TOO_LONG))
      fail_msg("%s", text);
    n_long += !fits;
    if (!fits) continue;
    if (number.mantissa != (i % 2 ? -expected.mantissa : expected.mantissa) ||
        number.scale != expected.scale)
      fail_msg("%s is not %lld, %u", text, (long long)number.mantissa, number.scale);
  }
  assert_in_range(n_long, n_all / 20, n_all / 2);
}

static void prints_as(int64_t mantissa, unsigned scale, const char *expected) {
  char text[32];
  shoal_decimal_print(mantissa, scale, text);
  assert_string_equal(text, expected);
}

static void numbers_are_printed_and_read_back(void **state UNUSED) {
  prints_as(INT64_MIN, 0, "-9223372036854775808");
  prints_as(INT64_MIN, 18, "-9.223372036854775808");
  prints_as(INT64_MAX, 1, "922337203685477580.7");
  prints_as(-50, 3, "-0.05");
  prints_as(0, 18, "0");
  shoal_random random;
  shoal_random_seed(&random, 12);
  for (unsigned i = 0; i < 200000; i++) {
    shoal_decimal number = random_decimal(&random), back;
    if (i % 2) number.mantissa = -number.mantissa;
    char text[32];
    shoal_decimal_print(number.mantissa, number.scale, text);
    assert_int_equal(parse(text, &back), SHOAL_NUMBER_OK);
    assert_true(back.mantissa * power(18 - back.scale) ==
                number.mantissa * power(18 - number.scale));
    prints_as(back.mantissa, back.scale, text); /* reduced: no zeros at the end */
  }
}

static void rescaling_and_percents_are_exact(void **state UNUSED) {
  assert_int_equal(shoal_decimal_percent((shoal_decimal){15, 1}, 1000), 15);
  assert_int_equal(shoal_decimal_percent((shoal_decimal){29, 0}, 100), 29); /* 0.29 x 100 is not */
  assert_true(shoal_decimal_percent((shoal_decimal){100, 0}, UINT64_MAX - 1) == UINT64_MAX - 1);
  assert_true(shoal_decimal_percent((shoal_decimal){MOST, 0}, UINT64_MAX) == UINT64_MAX);
  assert_true(shoal_decimal_double((shoal_decimal){-15, 1}) == -1.5);
  shoal_random random;
  shoal_random_seed(&random, 14);
  for (unsigned i = 0; i < 100000; i++) {
    shoal_decimal number = random_decimal(&random);
    unsigned to = i % 21;
    int64_t mantissa = 0;
    bool possible = to >= number.scale && to <= 18;
    int128 exact = possible ? number.mantissa * power(to - number.scale) : 0;
    possible = possible && exact <= INT64_MAX;
    assert_int_equal(shoal_decimal_rescale(number, to, &mantissa), possible);
    if (possible) assert_true(mantissa == exact);
    uint64_t whole = shoal_random_next(&random) >> shoal_random_below(&random, 64);
    uint128 product = (uint128)whole * (uint64_t)number.mantissa;
    uint128 unit = (uint128)power(number.scale) * 100;
    uint64_t result = shoal_decimal_percent(number, whole); /* rounded down */
    bool saturated = product / unit >= UINT64_MAX;
    assert_int_equal(saturated, result == UINT64_MAX);
    if (!saturated) assert_true(unit * result <= product && product - unit * result < unit);
  }
}

/* ---------------------------------------------------------------- memory, text */

static void sizes_that_overflow_give_no_memory(void **state UNUSED) {
  assert_null(shoal_alloc(SIZE_MAX / 2, 4));
  assert_null(shoal_alloc_zero(SIZE_MAX, SIZE_MAX));
  uint32_t *items = shoal_alloc(0, 8);
  size_t capacity = 0;
  assert_non_null(items);
  assert_null(shoal_resize(items, SIZE_MAX / 4, 8));
  assert_true(shoal_grow(&items, &capacity, 1000, sizeof *items) && capacity >= 1000);
  items[999] = 7;
  assert_false(shoal_grow(&items, &capacity, SIZE_MAX / 2, sizeof *items));
  assert_int_equal(items[999], 7);
  free(items);
}

static void an_arena_keeps_every_piece_apart(void **state UNUSED) {
  enum { PIECES = 3000 };
  static unsigned char *pieces[PIECES];
  static size_t sizes[PIECES];
  shoal_random random;
  shoal_random_seed(&random, 15);
  shoal_arena arena;
  shoal_arena_init(&arena);
  for (size_t i = 0; i < PIECES; i++) {
    sizes[i] = shoal_random_below(&random, i % 500 == 7 ? 200000 : 90);
    pieces[i] = shoal_arena_alloc(&arena, sizes[i], 1);
    assert_non_null(pieces[i]);
    assert_int_equal((uintptr_t)pieces[i] % _Alignof(max_align_t), 0);
    memset(pieces[i], (int)(i % 251), sizes[i]);
  }
  for (size_t i = 0; i < PIECES; i++)
    for (size_t b = 0; b < sizes[i]; b++)
      if (pieces[i][b] != i % 251) fail_msg("piece %zu was written over", i);
  assert_null(shoal_arena_alloc(&arena, SIZE_MAX / 2, 3));
  assert_string_equal(shoal_arena_copy(&arena, "shoals", 5), "shoal");
  shoal_arena_reset(&arena);
  assert_null(arena.block);
}

static void text_grows_and_is_handed_over(void **state UNUSED) {
  static const uint64_t counts[] = {0, 999, 1000, 1234567, UINT64_MAX};
  shoal_text text;
  shoal_text_init(&text);
  for (size_t i = 0; i < COUNT(counts); i++) {
    shoal_text_add_count(&text, counts[i]);
    shoal_text_print(&text, "%c", ' ');
  }
  char *taken = shoal_text_take(&text), *empty = shoal_text_take(&text);
  assert_string_equal(taken, "0 999 1,000 1,234,567 18,446,744,073,709,551,615 ");
  assert_string_equal(empty, "");
  free(taken);
  free(empty);
  for (int i = 0; i < 20000; i++) shoal_text_print(&text, "%05d", i);
  assert_string_equal(text.bytes + 99990, "1999819999");
  shoal_text_add_bytes(&text, "", SIZE_MAX); /* cannot be: the rest is dropped */
  assert_true(text.failed);
  shoal_text_add(&text, "more");
  assert_null(shoal_text_take(&text));
}

/* Strings are escaped; numbers are those of printf. */
static void text_for_people_is_escaped(void **state UNUSED) {
  char wanted[256];
  shoal_text text;
  shoal_text_init_escaped(&text);
  shoal_text_print(&text, "%s|%.3s|%6s|%-6s|%*s|%.*s|%%\n", "a\nb\x1b", "abcdef", "ab", "ab", 4,
                   "x", 2, "yz!");
  shoal_text_print(&text, "%.3s|%-7s|%c", "a\xc3\xa9\xc3\xa9", "\x01", 'c');
  assert_string_equal(text.bytes, "a\\x0ab\\x1b|abc|    ab|ab    |   x|yz|%\na\xc3\xa9|\\x01   |c");
  shoal_text_reset(&text);
  assert_ptr_equal(text.add_string, shoal_text_add_escaped);
  shoal_text_print(&text, "%d %5d %-5d| %u %05u %zu %llu %lld %lu %ld %x %02x %4.1f %.3g %g %0*llu",
                   -7, -7, 7, UINT32_MAX, 42u, SIZE_MAX, ULLONG_MAX, LLONG_MIN, ULONG_MAX, LONG_MIN,
                   255u, 10u, 2.25, 1234.5, 1e-7, 9, 42ull);
  (void)snprintf(wanted, sizeof wanted,
                 "%d %5d %-5d| %u %05u %zu %llu %lld %lu %ld %x %02x %4.1f %.3g %g %0*llu", -7, -7,
                 7, UINT32_MAX, 42u, SIZE_MAX, ULLONG_MAX, LLONG_MIN, ULONG_MAX, LONG_MIN, 255u,
                 10u, 2.25, 1234.5, 1e-7, 9, 42ull);
  assert_string_equal(text.bytes, wanted);
  shoal_text_reset(&text);
  shoal_text_add_padded(&text, "\xc2\x9b", 8);
  assert_string_equal(text.bytes, "\\u{9b}  ");
  shoal_text_reset(&text);
}

/* By code point: what is shown as it is, and what is not. */
static void unsafe_characters_are_escaped(void **state UNUSED) {
  static const struct {
    const char *bytes, *shown;
  } cases[] = {{"\t", "\\x09"},
               {"\x7f", "\\x7f"},
               {"\xff", "\\xff"},
               {"\xc2\x80", "\\u{80}"},
               {"\xc2\x9f", "\\u{9f}"},
               {"\xc2\xa0", "\xc2\xa0"},
               {"\xe2\x80\x8a", "\xe2\x80\x8a"}, /* hair space */
               {"\xe2\x80\x8b", "\\u{200b}"},
               {"\xe2\x80\x8f", "\\u{200f}"},
               {"\xe2\x80\x90", "\xe2\x80\x90"}, /* hyphen */
               {"\xe2\x80\xa8", "\\u{2028}"},
               {"\xe2\x80\xae", "\\u{202e}"},
               {"\xe2\x80\xaf", "\xe2\x80\xaf"}, /* narrow space */
               {"\xe2\x81\xa6", "\\u{2066}"},
               {"\xe2\x81\xa9", "\\u{2069}"},
               {"\xef\xbb\xbf", "\\u{feff}"},
               {"\xf3\xa0\x80\x81", "\\u{e0001}"},
               {"\xf0\x9f\x90\x9f", "\xf0\x9f\x90\x9f"}, /* a fish */
               {"\\ \"~", "\\ \"~"}};
  char out[64], again[64];
  for (size_t i = 0; i < COUNT(cases); i++) {
    shoal_escape(cases[i].bytes, out, sizeof out);
    assert_string_equal(out, cases[i].shown);
    shoal_escape(out, again, sizeof again);
    assert_string_equal(again, out);
  }
  shoal_escape("ab\x1b", out, 6); /* half an escape is none */
  assert_string_equal(out, "ab");
  shoal_escape("ab", out, 1);
  assert_string_equal(out, "");
  shoal_error error;
  (void)shoal_fail_at(&error, SHOAL_BAD_INPUT, &(shoal_location){.file = "f\n", .column = "c\x9b"},
                      "%s", "\xe2\x80\xae");
  assert_string_equal(error.message, "f\\x0a: column 'c\\x9b': \\u{202e}");
  (void)shoal_fail(&error, SHOAL_FAILED, "a\nb");
  assert_string_equal(error.message, "a\\x0ab");
}

/* The size of a code point's shortest form at `s`, found by writing the code point again. */
static size_t shortest_form(const unsigned char *s, size_t left) {
  static const unsigned char lead[] = {0, 0, 0xc0, 0xe0, 0xf0};
  for (size_t size = 1; size <= 4 && size <= left; size++) {
    uint32_t point = size == 1 ? s[0] : s[0] & (0xffu >> (size + 1));
    for (size_t i = 1; i < size; i++) point = point << 6 | (s[i] & 0x3fu);
    size_t needed = point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
    if (needed != size || point > 0x10ffff || (point >= 0xd800 && point < 0xe000)) continue;
    unsigned char form[4];
    for (size_t i = size; i-- > 1; point >>= 6) form[i] = (unsigned char)(0x80 | (point & 0x3f));
    form[0] = (unsigned char)(lead[size] | point);
    if (memcmp(form, s, size) == 0) return size;
  }
  return 0;
}

static void check_cleaning(const unsigned char *bytes, size_t size, unsigned *n_valid) {
  char expected[64];
  size_t end = 0;
  for (size_t at = 0, valid; at < size; at += valid ? valid : 1) {
    valid = shortest_form(bytes + at, size - at);
    if (valid) memcpy(expected + end, bytes + at, valid);
    else (void)sprintf(expected + end, "\\x%02x", bytes[at]);
    end += valid ? valid : 4;
    n_valid[valid]++;
  }
  shoal_text text = {0};
  shoal_text_add_utf8(&text, (const char *)bytes, size);
  if (text.size_bytes != end || memcmp(text.bytes, expected, end) != 0)
    fail_msg("%02x %02x %02x %02x", bytes[0], bytes[1], bytes[2], bytes[3]);
  shoal_text_reset(&text);
}

static void utf8_is_cleaned_as_code_points_are_written(void **state UNUSED) {
  static const unsigned char edges[] = {0x00, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc1, 0xc2,
                                        0xdf, 0xe0, 0xe1, 0xec, 0xed, 0xee, 0xf0, 0xf4, 0xf5, 0xff};
  unsigned n_valid[5] = {0};
  unsigned char bytes[8] = {0};
  for (unsigned pair = 0; pair < 65536; pair++) {
    bytes[0] = (unsigned char)(pair >> 8);
    bytes[1] = (unsigned char)pair;
    check_cleaning(bytes, 2, n_valid);
  }
  assert_int_equal(n_valid[2], 1920); /* 0x80 .. 0x7ff */
  shoal_random random;
  shoal_random_seed(&random, 16);
  for (unsigned i = 0; i < 200000; i++) {
    for (size_t b = 0; b < 8; b++) bytes[b] = edges[shoal_random_below(&random, COUNT(edges))];
    check_cleaning(bytes, 3 + i % 6, n_valid);
  }
  assert_true(n_valid[3] > 1000 && n_valid[4] > 300);
}

static void the_nearest_word_is_near(void **state UNUSED) {
  static const char *const words[] = {"hierarchy", "role", "sensitive", "rope", "age", NULL};
  assert_string_equal(shoal_nearest_word("heirarchy", words), "hierarchy");
  assert_string_equal(shoal_nearest_word("aeg", words), "age");   /* a swap is one step */
  assert_string_equal(shoal_nearest_word("rose", words), "role"); /* the first of equals */
  assert_string_equal(shoal_nearest_word("rope", words), "rope");
  assert_null(shoal_nearest_word("algorithm", words));
  assert_null(shoal_nearest_word("role", words + 5));
}

static void a_very_long_word_is_near_to_none(void **state UNUSED) {
  char word[400] = "xxxxx";
  for (size_t size = 5; size < sizeof word - 1; word[size++] = 'x')
    if (shoal_nearest_word(word, (const char *const[]){"k", "role", NULL}))
      fail_msg("a word of %zu letters is near to one of four at most", size);
}

/* ---------------------------------------------------------------- randomness, ids */

/* RFC 8439, 2.3.2. */
static void a_block_is_that_of_rfc_8439(void **state UNUSED) {
  static const uint32_t expected[16] = {0xe4e7f110, 0x15593bd1, 0x1fdd0f50, 0xc47120a3,
                                        0xc7f4d1c7, 0x0368c033, 0x9aaa2204, 0x4e6cd4c3,
                                        0x466482d2, 0x09aa9f07, 0x05d7c214, 0xa2028bd9,
                                        0xd19c12b5, 0xb94e16de, 0xe883d0cb, 0x4e3c50a2};
  shoal_random random = {.state = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574, 0x03020100,
                                   0x07060504, 0x0b0a0908, 0x0f0e0d0c, 0x13121110, 0x17161514,
                                   0x1b1a1918, 0x1f1e1d1c, 1, 0x09000000, 0x4a000000, 0},
                         .used = 16};
  for (unsigned i = 0; i < 16; i += 2)
    assert_true(shoal_random_next(&random) == ((uint64_t)expected[i + 1] << 32 | expected[i]));
  random.state[12] = UINT32_MAX; /* the counter has 64 bits */
  (void)shoal_random_next(&random);
  assert_true(random.state[12] == 0 && random.state[13] == 0x09000001);
}

/* Computed by other implementations; those of seed 0 stand in RFC 8439, A.1 (1 and 2). */
static void a_seed_gives_the_same_stream_everywhere(void **state UNUSED) {
  static const uint64_t expected[2][3] = {
      {0x903df1a0ade0b876, 0x28bd8653e56a5d40, 0x7a385155bee7079f},
      {0x9311ece17c0ad3c5, 0x855a777d484fc878, 0x0555fdd1e656f610}};
  shoal_random random, other;
  for (unsigned seed = 0; seed < 2; seed++) {
    shoal_random_seed(&random, seed);
    for (int i = 0; i < 9; i++) {
      uint64_t next = shoal_random_next(&random);
      if (i < 2 || i == 8) assert_true(next == expected[seed][i < 2 ? i : 2]);
    }
  }
  assert_true(shoal_random_entropy(&random) && shoal_random_entropy(&other));
  assert_true(shoal_random_next(&random) != shoal_random_next(&other));
}

static void numbers_below_a_bound_are_equally_likely(void **state UNUSED) {
  shoal_random random;
  shoal_random_seed(&random, 1);
  for (uint64_t bound = 1; bound <= 10; bound++) {
    unsigned seen[10] = {0};
    for (unsigned i = 0; i < 10000 * bound; i++) {
      uint64_t next = shoal_random_below(&random, bound);
      assert_true(next < bound);
      seen[next]++;
    }
    for (uint64_t v = 0; v < bound; v++) assert_in_range(seen[v], 9500, 10500);
  }
  unsigned thirds[3] = {0}; /* without rejection, every third number would come twice as often */
  for (unsigned i = 0; i < 30000; i++) thirds[shoal_random_below(&random, UINT64_C(3) << 62) % 3]++;
  for (int v = 0; v < 3; v++) assert_in_range(thirds[v], 9500, 10500);
}

static void ids_number_keys_by_first_appearance(void **state UNUSED) {
  enum { KEYS = 200000 };
  for (size_t hint = 0; hint <= KEYS; hint += KEYS) {
    shoal_ids ids;
    assert_true(shoal_ids_init(&ids, hint));
    for (uint64_t i = 0; i < KEYS; i++) { /* small ones, those of high bits only, the largest */
      uint64_t key = i % 3 == 0 ? i : i % 3 == 1 ? i << 40 : UINT64_MAX - i;
      assert_int_equal(shoal_ids_find(&ids, key), SHOAL_NONE);
      assert_int_equal(shoal_ids_insert(&ids, key), i);
    }
    for (uint32_t i = 0; i < KEYS; i++) {
      assert_int_equal(shoal_ids_find(&ids, ids.of_id[i]), i);
      assert_int_equal(shoal_ids_insert(&ids, ids.of_id[i]), i);
    }
    assert_int_equal(ids.n_ids, KEYS);
    shoal_ids_reset(&ids);
  }
}

/* ---------------------------------------------------------------- threads */

enum { MAX_WORK = 100 };
typedef struct work_done {
  unsigned times[MAX_WORK];
  pthread_t by[MAX_WORK];
} work_done;

static void do_work(void *user, unsigned i) {
  work_done *done = user;
  done->times[i]++;
  done->by[i] = pthread_self();
}

static void check_parallel(unsigned n) {
  work_done done = {0};
  shoal_parallel(n, do_work, &done);
  for (unsigned i = 0; i < MAX_WORK; i++) assert_int_equal(done.times[i], i < n);
  if (n) assert_true(pthread_equal(done.by[0], pthread_self()));
  if (n > 1) assert_false(pthread_equal(done.by[1], pthread_self()));
}

static void work_is_done_once_for_each_index(void **state UNUSED) {
  for (unsigned n = 0; n <= 64; n += n < 4 ? 1 : 20) check_parallel(n);
}

/* work.h: for i in 0 .. n-1, whatever n. */
static void work_is_done_for_more_indexes_than_threads(void **state UNUSED) {
  check_parallel(MAX_WORK);
}

/* ---------------------------------------------------------------- a line */

enum { LINE_ITEMS = 500 };

/* What each worker has in hand, and what came out. */
typedef struct line_test {
  uint64_t n_items, fails[2]; /* items that fail; UINT64_MAX: none */
  uint64_t in_hand[4], came_out[LINE_ITEMS], n_out;
} line_test;

static shoal_status line_take(void *user, unsigned worker, uint64_t item, bool *more,
                              shoal_error *error UNUSED) {
  line_test *t = user;
  *more = item < t->n_items;
  t->in_hand[worker] = item * item;
  return SHOAL_OK;
}

static shoal_status line_make(void *user, unsigned worker UNUSED, uint64_t item,
                              shoal_error *error) {
  const line_test *t = user;
  for (volatile uint64_t i = 0; i < item * 7919 % 5000; i++) continue; /* some take longer */
  if (item != t->fails[0] && item != t->fails[1]) return SHOAL_OK;
  return shoal_fail(error, SHOAL_FAILED, "item %llu", (unsigned long long)item);
}

static shoal_status line_out(void *user, unsigned worker, uint64_t item UNUSED,
                             shoal_error *error UNUSED) {
  line_test *t = user;
  t->came_out[t->n_out++] = t->in_hand[worker];
  return SHOAL_OK;
}

static void a_line_goes_out_as_it_came_in(void **state UNUSED) {
  for (unsigned n_workers = 1; n_workers <= 4; n_workers++) {
    line_test t = {.n_items = LINE_ITEMS, .fails = {UINT64_MAX, UINT64_MAX}};
    shoal_pipeline line = {&t, line_take, line_make, line_out, NULL, NULL};
    assert_int_equal(shoal_pipeline_run(&line, n_workers, NULL), SHOAL_OK);
    assert_int_equal(t.n_out, LINE_ITEMS);
    for (uint64_t i = 0; i < LINE_ITEMS; i++) assert_int_equal(t.came_out[i], i * i);
  }
}

/* Whatever fails first on the clock: what came before it was delivered, and the failure is
 * reported. */
static void the_first_item_that_fails_is_told(void **state UNUSED) {
  for (unsigned i = 0; i < 40; i++) {
    uint64_t first = i % 10 * 40, second = first + 1 + i % 3;
    line_test t = {.n_items = LINE_ITEMS, .fails = {second, first}};
    shoal_pipeline line = {&t, line_take, line_make, line_out, NULL, NULL};
    shoal_error error = {0};
    char expected[32];
    (void)snprintf(expected, sizeof expected, "item %llu", (unsigned long long)first);
    assert_int_equal(shoal_pipeline_run(&line, 1 + i % 4, &error), SHOAL_FAILED);
    assert_string_equal(error.message, expected);
    assert_int_equal(t.n_out, first);
  }
}

#define TEST(name) cmocka_unit_test(name)

/* ---------------------------------------------------------------- sorting */

/* Sizes on both sides of the change of method; keys that use few bytes, all bytes, or are equal. */
static void keys_are_sorted_as_integers(UNUSED void **state) {
  static const size_t sizes[] = {0, 1, 2, 31, 32, 33, 100, 5000};
  static const uint64_t masks[] = {0, 0x3, 0xff00, UINT64_C(0x1ff00000001ff), UINT64_MAX};
  shoal_random random;
  shoal_random_seed(&random, 16);
  for (size_t s = 0; s < COUNT(sizes); s++) {
    for (size_t m = 0; m < COUNT(masks); m++) {
      size_t n = sizes[s];
      uint64_t *keys = malloc((n + 1) * sizeof *keys), sum = 0;
      assert_non_null(keys);
      for (size_t i = 0; i < n; i++) {
        keys[i] = shoal_random_below(&random, UINT64_MAX) & masks[m];
        sum += keys[i] * keys[i] + 1;
      }
      shoal_sort_u64(keys, n);
      for (size_t i = 0; i < n; i++) {
        if (i) assert_true(keys[i - 1] <= keys[i]);
        sum -= keys[i] * keys[i] + 1; /* the same keys, each as often */
      }
      assert_true(sum == 0);
      free(keys);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(numbers_are_read_exactly),
      TEST(what_is_no_number_is_told_from_what_is_too_long),
      TEST(a_point_needs_a_digit_on_one_side),
      TEST(an_exponent_may_have_zeros_in_front),
      TEST(random_numbers_are_read_as_128_bits_do),
      TEST(numbers_are_printed_and_read_back),
      TEST(rescaling_and_percents_are_exact),
      TEST(sizes_that_overflow_give_no_memory),
      TEST(an_arena_keeps_every_piece_apart),
      TEST(text_grows_and_is_handed_over),
      TEST(text_for_people_is_escaped),
      TEST(unsafe_characters_are_escaped),
      TEST(utf8_is_cleaned_as_code_points_are_written),
      TEST(the_nearest_word_is_near),
      TEST(a_very_long_word_is_near_to_none),
      TEST(a_block_is_that_of_rfc_8439),
      TEST(a_seed_gives_the_same_stream_everywhere),
      TEST(numbers_below_a_bound_are_equally_likely),
      TEST(ids_number_keys_by_first_appearance),
      TEST(keys_are_sorted_as_integers),
      TEST(work_is_done_once_for_each_index),
      TEST(work_is_done_for_more_indexes_than_threads),
      TEST(a_line_goes_out_as_it_came_in),
      TEST(the_first_item_that_fails_is_told),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
