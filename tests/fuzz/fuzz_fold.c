/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz target: are two cells one value? Engine and verifier have code of their own for it. On valid
 * UTF-8 and on numbers of up to 18 digits both must agree. Elsewhere the verifier may not find two
 * cells equal that the engine keeps apart: it would reject a correct release.
 */
#include "base/decimal.h"
#include "base/text.h"
#include "fuzz.h"
#include "table/equality.h"
#include "verify/fold.h"

static bool is_utf8(shoal_label text) {
  for (size_t at = 0; at < text.size_bytes;) {
    size_t size = shoal_utf8_size(text.bytes + at, text.size_bytes - at);
    if (!size) return false;
    at += size;
  }
  return true;
}

static bool is_number(shoal_label text) {
  shoal_decimal number;
  return shoal_decimal_parse(text.bytes, text.size_bytes, &number) == SHOAL_NUMBER_OK;
}

static bool engine_equates(shoal_equality equality, shoal_label a, shoal_label b) {
  shoal_values values;
  bool failed = false;
  MUST(shoal_values_init(&values, equality));
  MUST(shoal_values_intern(&values, a) == 0);
  MUST(shoal_values_find(&values, a, &failed) == 0);
  uint32_t other = shoal_values_intern(&values, b);
  MUST(!failed && other <= 1 && values.spellings.n_strings == other + 1);
  MUST(shoal_label_equal(shoal_strings_get(&values.spellings, other), other ? b : a));
  shoal_values_reset(&values);
  return other == 0;
}

static bool verifier_equates(const shoal_verify_fold *fold, shoal_label a, shoal_label b) {
  shoal_text x = {0}, y = {0};
  MUST(shoal_verify_fold_key(fold, a.bytes, a.size_bytes, &x));
  MUST(shoal_verify_fold_key(fold, b.bytes, b.size_bytes, &y));
  bool equal = x.size_bytes == y.size_bytes && memcmp(x.bytes, y.bytes, x.size_bytes) == 0;
  shoal_text_reset(&x);
  shoal_text_reset(&y);
  return equal;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 2 || size > 512) return 0;
  unsigned choice = data[0] % 8;
  bool numbers = choice == 0;
  shoal_verify_fold fold = {numbers, choice & 1, choice >> 1 & 1, choice >> 2 & 1, 0};
  shoal_equality equality = numbers ? SHOAL_EQUAL_NUMBERS : SHOAL_EQUAL_BYTES;
  if (fold.letter_case) equality |= SHOAL_EQUAL_CASE;
  if (fold.space) equality |= SHOAL_EQUAL_SPACE;
  if (fold.unicode) equality |= SHOAL_EQUAL_UNICODE;
  size_t left = size - 1, cut = left / 2;
  const uint8_t *mark = memchr(data + 1, '|', left); /* where the second cell begins */
  if (mark) cut = (size_t)(mark - data) - 1;
  size_t second = cut + (mark != NULL);
  char *bytes[2] = {copy_exactly(data + 1, cut, 0),
                    copy_exactly(data + 1 + second, left - second, 0)};
  shoal_label a = {bytes[0], cut}, b = {bytes[1], left - second};
  bool engine = engine_equates(equality, a, b), verifier = verifier_equates(&fold, a, b);
  MUST(engine == engine_equates(equality, b, a) && engine_equates(equality, a, a));
  bool clear = numbers ? is_number(a) && is_number(b) : is_utf8(a) && is_utf8(b);
  MUST(!clear || engine == verifier);
  if (!numbers) MUST(engine || !verifier);
  free(bytes[0]);
  free(bytes[1]);
  return 0;
}
