/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table/number_style: reads [+-]digits, grouped or not, decimal mark, digits, exponent. Detection
 * tries each style on each column.
 */
#include "table/number_style.h"

#include <string.h>

/* Bytes of the separator at `s`; 0: there is none. */
static size_t separator_size(const char *thousands, const char *s, size_t left) {
  if (!thousands || !left) return 0;
  if (*s == *thousands) return 1;
  if (*thousands != ' ') return 0;
  if (left >= 2 && memcmp(s, "\xc2\xa0", 2) == 0) return 2;     /* no-break space */
  if (left >= 3 && memcmp(s, "\xe2\x80\xaf", 3) == 0) return 3; /* narrow no-break space */
  if (left >= 3 && memcmp(s, "\xe2\x80\x89", 3) == 0) return 3; /* thin space */
  return 0;
}

static size_t take_digits(const char *s, size_t at, size_t size, shoal_text *out) {
  size_t first = at;
  while (at < size && shoal_is_digit(s[at])) at++;
  shoal_text_add_bytes(out, s + first, at - first);
  return at;
}

/* Digits, also in groups: 1234 or 1,234. Sets *ok to false if a group has not three digits. */
static size_t take_whole(shoal_number_style style, const char *s, size_t at, size_t size,
                         shoal_text *out, bool *ok) {
  enum { GROUP = 3 };
  size_t first = at;
  at = take_digits(s, at, size, out);
  size_t separator = separator_size(style.thousands, s + at, size - at);
  if (separator && (at == first || at - first > GROUP)) *ok = false;
  while (*ok && separator) {
    size_t begin = at + separator;
    at = take_digits(s, begin, size, out);
    *ok = at - begin == GROUP;
    separator = separator_size(style.thousands, s + at, size - at);
  }
  return at;
}

bool shoal_number_restyle(shoal_number_style style, const char *bytes, size_t size,
                          shoal_text *out) {
  size_t at = 0;
  bool ok = true;
  out->size_bytes = 0;
  if (size && (bytes[0] == '-' || bytes[0] == '+')) {
    if (bytes[0] == '-') shoal_text_add(out, "-");
    at++;
  }
  size_t first = at;
  at = take_whole(style, bytes, at, size, out, &ok);
  bool whole = at > first;
  if (!whole) shoal_text_add(out, "0");
  if (ok && at < size && bytes[at] == style.decimal) {
    size_t mark = out->size_bytes;
    shoal_text_add(out, ".");
    size_t begin = ++at;
    at = take_digits(bytes, at, size, out);
    if (at == begin) shoal_text_cut(out, mark);
    whole = whole || at > begin;
  }
  if (!ok || !whole || out->failed) return false;
  if (at < size && (bytes[at] == 'e' || bytes[at] == 'E')) {
    shoal_text_add(out, "e");
    if (++at < size && (bytes[at] == '-' || bytes[at] == '+'))
      shoal_text_add_bytes(out, bytes + at++, 1);
    size_t begin = at;
    at = take_digits(bytes, at, size, out);
    if (at == begin) return false;
  }
  return at == size && !out->failed;
}

/* ------------------------------------------------------------ detection */

static const shoal_number_style styles[] = {
    {',', NULL}, {',', "."}, {',', " "}, {',', "'"}, {'.', ","}, {'.', " "}, {'.', "'"},
};
enum { N_STYLES = sizeof styles / sizeof *styles };

/* What a column says about a style. */
typedef struct evidence {
  bool numbers;   /* all values are numbers of the style */
  bool own;       /* some are none of the plain style */
  bool marks;     /* some have the decimal mark, and not as a group of thousands */
  bool separated; /* some have separators of thousands */
} evidence;

bool shoal_number_looks_missing(const char *bytes, size_t size) {
  static const char *const words[] = {"NA", "N/A",  "NaN",  "nan", "n/a",
                                      "na", "null", "NULL", "#N/A"};
  if (size == 0 || (size == 1 && !shoal_is_digit(*bytes))) return true;
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (strlen(words[i]) == size && memcmp(words[i], bytes, size) == 0) return true;
  return false;
}

static void weigh_value(shoal_number_style style, const char *bytes, size_t size,
                        shoal_text *scratch, evidence *e) {
  static const shoal_number_style plain = {'.', NULL};
  if (!shoal_number_restyle(style, bytes, size, scratch)) {
    e->numbers = false;
    return;
  }
  if (!shoal_number_restyle(plain, bytes, size, scratch)) e->own = true;
  const char *mark = memchr(bytes, style.decimal, size);
  bool separated = false;
  for (size_t i = 0; i < size; i++)
    separated = separated || separator_size(style.thousands, bytes + i, size - i);
  e->separated = e->separated || separated;
  /* 1,234 may be a group of thousands; 0,123 and 1,5 are not */
  if (!mark) return;
  size_t before = (size_t)(mark - bytes), after = size - before - 1;
  if (separated || after != 3 || before == 0 || before > 3 || bytes[0] == '0') e->marks = true;
}

static evidence weigh_column(const shoal_column *column, shoal_number_style style,
                             shoal_text *scratch) {
  evidence e = {.numbers = column->n_values > 0};
  bool any = false;
  for (uint32_t v = 0; v < column->n_values && e.numbers; v++) {
    size_t size;
    const char *bytes = shoal_column_value(column, v, &size);
    if (shoal_column_missing(column, v) || shoal_number_looks_missing(bytes, size)) continue;
    any = true;
    weigh_value(style, bytes, size, scratch, &e);
  }
  e.numbers = e.numbers && any;
  return e;
}

bool shoal_number_style_fits(shoal_number_style style, const shoal_column *column) {
  shoal_text scratch;
  shoal_text_init(&scratch);
  evidence e = weigh_column(column, style, &scratch);
  shoal_wipe_free(scratch.bytes, scratch.capacity);
  return e.numbers;
}

/* Has the column a byte that only numbers of another style have? Most columns end here. */
static bool has_other_marks(const shoal_column *column) {
  static const char marks[] = {',', '\'', ' ', '\xc2', '\xe2'};
  size_t size = (size_t)column->offsets[column->n_values];
  for (size_t i = 0; size && i < sizeof marks; i++)
    if (memchr(column->bytes, (unsigned char)marks[i], size)) return true;
  return false;
}

/* Is a column of the file a number of this style and of no simpler one? */
static bool is_evident(const shoal_column *column, shoal_number_style style, shoal_text *scratch) {
  evidence e = weigh_column(column, style, scratch);
  if (!e.numbers || !e.own) return false;
  return style.decimal == ',' ? e.marks && (e.separated || !style.thousands) : e.separated;
}

/* Does a column have decimals of the other mark? */
static bool contradicts(const shoal_column *column, shoal_number_style style, shoal_text *scratch) {
  shoal_number_style other = {style.decimal == ',' ? '.' : ',', NULL};
  evidence e = weigh_column(column, other, scratch);
  return e.numbers && e.marks;
}

shoal_number_style shoal_number_style_detect(const shoal_table *table) {
  shoal_number_style found = {'.', NULL};
  shoal_text scratch;
  shoal_text_init(&scratch);
  for (size_t c = 0; c < table->n_columns; c++) {
    const shoal_column *column = &table->columns[c];
    if (!column->code_size || !has_other_marks(column)) continue;
    for (size_t s = 0; s < N_STYLES; s++) {
      if (!is_evident(column, styles[s], &scratch)) continue;
      if (styles[s].decimal == ',') found.decimal = ',';
      if (styles[s].thousands) found.thousands = styles[s].thousands;
      break;
    }
  }
  for (size_t c = 0; !shoal_number_style_plain(found) && c < table->n_columns; c++)
    if (table->columns[c].code_size && contradicts(&table->columns[c], found, &scratch))
      found = (shoal_number_style){'.', NULL};
  if (found.thousands && *found.thousands == found.decimal) found.thousands = NULL;
  shoal_wipe_free(scratch.bytes, scratch.capacity);
  return found;
}
