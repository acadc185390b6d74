/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz target: what the spelling of a released label says. No label is trusted, so none may crash
 * it, and what it says must hang together: an interval holds its own closed ends and nothing beyond
 * them, what is printed of a number is read as that number, stars are stars. A set is the label of
 * its elements if they ascend, and then the verifier finds each of them in it.
 */
#include "fuzz.h"
#include "hierarchy/set_label.h"
#include "measure/label_syntax.h"
#include "verify/fold.h"
#include "verify/sets.h"

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

enum { MAX_ELEMENTS = 128 };

static int by_bytes(const shoal_label *a, const shoal_label *b) {
  size_t least = a->size_bytes < b->size_bytes ? a->size_bytes : b->size_bytes;
  int order = least ? memcmp(a->bytes, b->bytes, least) : 0;
  return order ? order : (a->size_bytes > b->size_bytes) - (a->size_bytes < b->size_bytes);
}

static bool verifier_finds(shoal_label label, shoal_label value) {
  const shoal_verify_fold none = {0};
  shoal_text texts[3];
  for (int i = 0; i < 3; i++) shoal_text_init(&texts[i]);
  MUST(shoal_verify_fold_key(&none, value.bytes, value.size_bytes, &texts[0]));
  bool found = shoal_verify_set_covers(label.bytes, label.size_bytes, &none, &texts[0], &texts[1],
                                       &texts[2]);
  for (int i = 0; i < 3; i++) shoal_text_reset(&texts[i]);
  return found;
}

/* Reads the elements of a set; written again they are the same label if they ascend. */
static void check_set(shoal_label label) {
  char room[MAX_ELEMENTS][256],
      *scratch = copy_exactly((const uint8_t *)label.bytes, label.size_bytes, 0);
  shoal_label values[MAX_ELEMENTS], value;
  size_t n = 0;
  bool ascending = true;
  for (size_t at = 0; shoal_set_label_next(label, &at, scratch, &value); n++) {
    MUST(n < MAX_ELEMENTS && value.size_bytes <= label.size_bytes);
    if (value.size_bytes) memcpy(room[n], value.bytes, value.size_bytes);
    values[n] = (shoal_label){room[n], value.size_bytes};
    ascending = ascending && (n == 0 || by_bytes(&values[n - 1], &values[n]) < 0);
  }
  free(scratch);
  MUST(n > 0);
  if (!ascending || n > SHOAL_MAX_SET) return;
  shoal_text text;
  shoal_text_init(&text);
  shoal_set_label_add(&text, values, n);
  MUST(!text.failed);
  shoal_label again = {text.bytes ? text.bytes : "", text.size_bytes};
  MUST(by_bytes(&again, &label) == 0 || n == 1); /* one value alone needs no set */
  for (size_t i = 0; i < n; i++) MUST(verifier_finds(again, values[i]));
  shoal_text_reset(&text);
}

/* Any bytes as a value: alone and in a set they are read again. */
static void check_value(shoal_label value) {
  shoal_label pair[] = {value, {"~", 1}};
  for (size_t n = 1; n <= 2; n++) {
    if (n == 2 && by_bytes(&pair[0], &pair[1]) >= 0) continue;
    shoal_text text;
    shoal_text_init(&text);
    shoal_set_label_add(&text, pair, n);
    shoal_label label = {text.bytes ? text.bytes : "", text.size_bytes};
    MUST(verifier_finds(label, value));
    MUST(n == 1 || shoal_is_set_label(label));
    if (shoal_is_set_label(label)) check_set(label);
    else MUST(by_bytes(&label, &value) == 0);
    shoal_text_reset(&text);
  }
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
  shoal_label whole = {label, size};
  if (shoal_is_set_label(whole)) check_set(whole);
  if (size <= 60) check_value(whole);
  free(label);
  return 0;
}
