/* SPDX-License-Identifier: Apache-2.0 */
/*
 * measure/label_syntax: parses a label. The forms are tried one after the other; each parser
 * accepts the whole label or nothing. Numbers are exact.
 */
#include "measure/label_syntax.h"

#include <string.h>

#include "base/day.h"

/* A part of the label. */
typedef struct piece {
  const char *bytes;
  size_t size;
} piece;

static piece trimmed(piece p) {
  while (p.size && p.bytes[0] == ' ') p = (piece){p.bytes + 1, p.size - 1};
  while (p.size && p.bytes[p.size - 1] == ' ') p.size--;
  return p;
}

static bool is_number(piece p, shoal_decimal *number) {
  p = trimmed(p);
  return shoal_decimal_parse(p.bytes, p.size, number) == SHOAL_NUMBER_OK;
}

/* ------------------------------------------------------------ numbers and ranges */

bool shoal_range_holds(const shoal_range *range, shoal_decimal number) {
  if (range->has_low) {
    int order = shoal_decimal_compare(number, range->low);
    if (order < 0 || (order == 0 && range->low_open)) return false;
  }
  if (range->has_high) {
    int order = shoal_decimal_compare(number, range->high);
    if (order > 0 || (order == 0 && range->high_open)) return false;
  }
  return true;
}

/* A missing end sorts first. */
static int compare_ends(bool has_a, shoal_decimal a, bool open_a, bool has_b, shoal_decimal b,
                        bool open_b) {
  if (has_a != has_b) return has_a ? 1 : -1;
  int order = has_a ? shoal_decimal_compare(a, b) : 0;
  return order ? order : (int)open_a - (int)open_b;
}

int shoal_range_compare(const shoal_range *a, const shoal_range *b) {
  int order = compare_ends(a->has_low, a->low, a->low_open, b->has_low, b->low, b->low_open);
  if (order) return order;
  return compare_ends(a->has_high, a->high, a->high_open, b->has_high, b->high, b->high_open);
}

/* Whether a number is at or above `from`'s low end and at or below `to`'s high end. */
static bool meets(const shoal_range *from, const shoal_range *to) {
  if (!from->has_low || !to->has_high) return true;
  int order = shoal_decimal_compare(from->low, to->high);
  return order < 0 || (order == 0 && !from->low_open && !to->high_open);
}

bool shoal_range_overlaps(const shoal_range *a, const shoal_range *b) {
  return meets(a, b) && meets(b, a);
}

/* ------------------------------------------------------------ forms */

static bool starts_with(piece p, const char *word) {
  size_t size = strlen(word);
  return p.size >= size && memcmp(p.bytes, word, size) == 0;
}

static bool read_stars(piece p, shoal_spelling *out) {
  for (size_t i = 0; i < p.size; i++)
    if (p.bytes[i] != '*') return false;
  out->form = SHOAL_FORM_EVERYTHING;
  return p.size > 0;
}

static bool read_number(piece p, shoal_spelling *out) {
  shoal_decimal number;
  if (!is_number(p, &number)) return false;
  out->form = SHOAL_FORM_NUMBER;
  out->range = (shoal_range){.low = number, .high = number, .has_low = true, .has_high = true};
  return true;
}

/* "40+", or a comparison sign before a number. Signs of two characters come first. */
static bool read_comparison(piece p, shoal_spelling *out) {
  static const struct {
    const char *sign;
    bool above, open;
  } signs[] = {{">=", true, false},  {"=>", true, false},  {"\xe2\x89\xa5", true, false},
               {"<=", false, false}, {"=<", false, false}, {"\xe2\x89\xa4", false, false},
               {">", true, true},    {"<", false, true}};
  shoal_decimal number;
  if (p.size > 1 && p.bytes[p.size - 1] == '+') {
    if (!is_number((piece){p.bytes, p.size - 1}, &number)) return false;
    out->form = SHOAL_FORM_INTERVAL;
    out->range = (shoal_range){.low = number, .has_low = true};
    return true;
  }
  for (size_t i = 0; i < sizeof signs / sizeof signs[0]; i++) {
    size_t size = strlen(signs[i].sign);
    if (!starts_with(p, signs[i].sign)) continue;
    if (!is_number((piece){p.bytes + size, p.size - size}, &number)) return false;
    out->form = SHOAL_FORM_INTERVAL;
    if (signs[i].above)
      out->range = (shoal_range){.low = number, .has_low = true, .low_open = signs[i].open};
    else out->range = (shoal_range){.high = number, .has_high = true, .high_open = signs[i].open};
    return true;
  }
  return false;
}

/*
 * Bytes of a separator of two ends at `p`; 0: none. Without brackets a comma may be a decimal
 * comma, so it does not separate.
 */
static size_t between(piece p, bool brackets) {
  if (starts_with(p, "\xe2\x80\x93") || starts_with(p, "\xe2\x80\x94")) return 3;
  if (starts_with(p, "..")) return 2;
  if (starts_with(p, " to ")) return 4;
  if (starts_with(p, "-")) return 1;
  return brackets && (starts_with(p, ",") || starts_with(p, ";")) ? 1 : 0;
}

static bool split_ends(piece inner, bool brackets, shoal_range *range) {
  for (size_t i = 1; i + 1 < inner.size; i++) {
    size_t size = between((piece){inner.bytes + i, inner.size - i}, brackets);
    if (size == 0 || i + size >= inner.size) continue;
    if (is_number((piece){inner.bytes, i}, &range->low) &&
        is_number((piece){inner.bytes + i + size, inner.size - i - size}, &range->high))
      return true;
  }
  return false;
}

/* Centre and distance: from centre - distance to below centre + distance. */
static bool read_spread(piece inner, shoal_range *range) {
  static const int64_t most = INT64_C(999999999999999999);
  static const char sign[] = "\xc2\xb1";
  const char *found = memchr(inner.bytes, (unsigned char)sign[0], inner.size);
  size_t at = found ? (size_t)(found - inner.bytes) : inner.size;
  if (!starts_with((piece){inner.bytes + at, inner.size - at}, sign)) return false;
  shoal_decimal centre, distance;
  if (!is_number((piece){inner.bytes, at}, &centre) ||
      !is_number((piece){inner.bytes + at + 2, inner.size - at - 2}, &distance))
    return false;
  unsigned scale = centre.scale > distance.scale ? centre.scale : distance.scale;
  int64_t middle, half, low, high;
  if (!shoal_decimal_rescale(centre, scale, &middle) ||
      !shoal_decimal_rescale(distance, scale, &half) || half <= 0 ||
      __builtin_sub_overflow(middle, half, &low) || __builtin_add_overflow(middle, half, &high) ||
      low < -most || high > most)
    return false;
  range->low = (shoal_decimal){low, scale};
  range->high = (shoal_decimal){high, scale};
  range->high_open = true;
  return true;
}

static bool read_interval(piece p, shoal_spelling *out) {
  shoal_range range = {.has_low = true, .has_high = true};
  bool brackets = p.size > 2 && strchr("[(]", p.bytes[0]) && p.bytes[0];
  piece inner = p;
  if (brackets) {
    char last = p.bytes[p.size - 1];
    if (!last || !strchr("])[", last)) return false;
    range.low_open = p.bytes[0] != '[';
    range.high_open = last != ']';
    inner = trimmed((piece){p.bytes + 1, p.size - 2});
  }
  bool closed = brackets && !range.low_open && !range.high_open;
  if (!(closed && read_spread(inner, &range)) && !split_ends(inner, brackets, &range)) return false;
  int order = shoal_decimal_compare(range.low, range.high);
  if (order > 0 || (order == 0 && (range.low_open || range.high_open))) return false;
  out->form = SHOAL_FORM_INTERVAL;
  out->range = range;
  return true;
}

/* Blanks are part of a prefix: cells are never trimmed. */
static bool read_prefix(piece p, shoal_spelling *out) {
  size_t kept = p.size;
  while (kept && p.bytes[kept - 1] == '*') kept--;
  if (kept == 0 || kept == p.size || memchr(p.bytes, '*', kept)) return false;
  out->form = SHOAL_FORM_PREFIX;
  out->prefix_bytes = kept;
  return true;
}

shoal_spelling shoal_label_parse(const char *bytes, size_t size_bytes) {
  shoal_spelling out = {.form = SHOAL_FORM_WORD};
  piece whole = {bytes, size_bytes}, p = trimmed(whole);
  if (p.size == 0 || read_stars(p, &out) || read_number(p, &out) || read_comparison(p, &out) ||
      read_interval(p, &out) || read_prefix(whole, &out))
    return out;
  return (shoal_spelling){.form = SHOAL_FORM_WORD};
}

/* ------------------------------------------------------------ days */

static bool read_day(piece p, shoal_decimal *number) {
  p = trimmed(p);
  *number = (shoal_decimal){0, 0};
  return shoal_day_read(p.bytes, p.size, &number->mantissa);
}

static bool read_days(piece p, shoal_spelling *out) {
  static const char between_days[] = " to ";
  enum { DAY = SHOAL_DAY_BYTES - 1, GAP = sizeof between_days - 1 };
  shoal_range range = {.has_low = true, .has_high = true};
  out->form = SHOAL_FORM_NUMBER;
  if (read_day(p, &range.low)) {
    range.high = range.low;
  } else {
    if (p.size != 2 * DAY + GAP + 2 || p.bytes[0] != '[' || p.bytes[p.size - 1] != ']' ||
        memcmp(p.bytes + 1 + DAY, between_days, GAP) != 0 ||
        !read_day((piece){p.bytes + 1, DAY}, &range.low) ||
        !read_day((piece){p.bytes + 1 + DAY + GAP, DAY}, &range.high) ||
        range.low.mantissa > range.high.mantissa)
      return false;
    out->form = SHOAL_FORM_INTERVAL;
  }
  out->range = range;
  return true;
}

shoal_spelling shoal_label_parse_as(bool days, const char *bytes, size_t size_bytes) {
  shoal_spelling out = {.form = SHOAL_FORM_WORD};
  piece p = trimmed((piece){bytes, size_bytes});
  if (!days) return shoal_label_parse(bytes, size_bytes);
  if (read_stars(p, &out) || read_days(p, &out)) return out;
  return (shoal_spelling){.form = SHOAL_FORM_WORD};
}
