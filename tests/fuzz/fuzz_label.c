/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz target: what the spelling of a released label says. No label is trusted, so none may crash
 * it, and what it says must hang together: an interval holds its own closed ends and nothing beyond
 * them, what is printed of a number is read as that number, stars are stars.
 */
#include "fuzz.h"
#include "measure/label_syntax.h"

static bool is_fully_suppressed(const char *bytes, size_t size) {
  while (size && bytes[0] == ' ') bytes++, size--;
  while (size && bytes[size - 1] == ' ') size--;
  for (size_t i = 0; i < size; i++)
    if (bytes[i] != '*') return false;
  return size > 0;
}

static shoal_decimal one_more(shoal_decimal number, int64_t step) {
  number.mantissa += step; /* of 18 digits at most: there is room */
  return number;
}

static void check_range(const shoal_range *range) {
  MUST(range->has_low || range->has_high);
  shoal_decimal low = range->low, high = range->high;
  if (range->has_low) {
    MUST(low.scale <= 18);
    MUST(!shoal_range_holds(range, one_more(low, -1)));
    MUST(shoal_range_holds(range, low) == !range->low_open);
  }
  if (range->has_high) {
    MUST(high.scale <= 18);
    MUST(!shoal_range_holds(range, one_more(high, 1)));
    MUST(shoal_range_holds(range, high) == !range->high_open);
  }
  if (range->has_low && range->has_high) {
    MUST(shoal_decimal_compare(low, high) <= 0);
    MUST(shoal_decimal_compare(high, low) >= 0);
  }
  MUST(shoal_range_overlaps(range, range));
}

/* Printed and read again it is the same number. */
static void check_number(shoal_decimal number) {
  char text[64];
  shoal_decimal_print(number.mantissa, number.scale, text);
  shoal_spelling again = shoal_label_parse(text, strlen(text));
  MUST(again.form == SHOAL_FORM_NUMBER);
  MUST(shoal_decimal_compare(again.range.low, number) == 0);
}

/* The interval of these ends, spelled by us, means the same. */
static void check_interval(const shoal_range *range) {
  char low[64], high[64], text[160];
  shoal_decimal_print(range->low.mantissa, range->low.scale, low);
  shoal_decimal_print(range->high.mantissa, range->high.scale, high);
  (void)snprintf(text, sizeof text, "%c%s..%s%c", range->low_open ? '(' : '[', low, high,
                 range->high_open ? ')' : ']');
  shoal_spelling again = shoal_label_parse(text, strlen(text));
  MUST(again.form == SHOAL_FORM_INTERVAL);
  MUST(shoal_decimal_compare(again.range.low, range->low) == 0);
  MUST(shoal_decimal_compare(again.range.high, range->high) == 0);
  MUST(again.range.low_open == range->low_open && again.range.high_open == range->high_open);
}

/* So it is in each way that a release of ours spells it. */
static void check_own_spelling(const shoal_range *range) {
  char low[64], high[64], text[160];
  if (range->low_open) return;
  shoal_decimal_print(range->low.mantissa, range->low.scale, low);
  shoal_decimal_print(range->high.mantissa, range->high.scale, high);
  for (int i = 0; i < 2; i++) {
    (void)snprintf(text, sizeof text, i ? "[%s-%s%c" : "[%s to %s%c", low, high,
                   range->high_open ? ')' : ']');
    shoal_spelling again = shoal_label_parse(text, strlen(text));
    MUST(again.form == SHOAL_FORM_INTERVAL);
    MUST(shoal_range_compare(&again.range, range) == 0);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size > 256) return 0;
  char *label = copy_exactly(data, size, 0);
  shoal_spelling found = shoal_label_parse(label, size);
  MUST((found.form == SHOAL_FORM_EVERYTHING) == is_fully_suppressed(label, size));
  switch (found.form) {
  case SHOAL_FORM_NUMBER:
    MUST(shoal_decimal_compare(found.range.low, found.range.high) == 0);
    check_range(&found.range);
    check_number(found.range.low);
    break;
  case SHOAL_FORM_INTERVAL:
    check_range(&found.range);
    if (found.range.has_low && found.range.has_high) {
      check_interval(&found.range);
      check_own_spelling(&found.range);
    }
    break;
  case SHOAL_FORM_PREFIX:
    MUST(found.prefix_bytes > 0 && found.prefix_bytes < size);
    MUST(!memchr(label, '*', found.prefix_bytes));
    MUST(is_fully_suppressed(label + found.prefix_bytes, size - found.prefix_bytes));
    break;
  default: MUST(found.form == SHOAL_FORM_WORD || found.form == SHOAL_FORM_EVERYTHING);
  }
  free(label);
  return 0;
}
