/* SPDX-License-Identifier: Apache-2.0 */
/* verify/meaning: what labels of each kind stand for. */
#include "verify/meaning.h"

#include <string.h>

#include "base/decimal.h"
#include "verify/fold.h"
#include "verify/sets.h"

typedef shoal_verify_string string;

static bool is_same(string a, string b) {
  return a.size_bytes == b.size_bytes && (!a.size_bytes || !memcmp(a.bytes, b.bytes, a.size_bytes));
}

static string text_of(const shoal_text *text) {
  return (string){text->bytes ? text->bytes : "", text->size_bytes};
}

/* ---------------------------------------------------------------- dates */

typedef struct date {
  unsigned year, month, day;
} date;

/* Reads up to `most` digits of the rest, at least `least`. */
static bool take_number(string *rest, size_t least, size_t most, unsigned *number) {
  size_t n = 0;
  *number = 0;
  while (n < most && n < rest->size_bytes && shoal_is_digit(rest->bytes[n]))
    *number = *number * 10 + (unsigned)(rest->bytes[n++] - '0');
  *rest = (string){rest->bytes + n, rest->size_bytes - n};
  return n >= least;
}

static size_t run_of(const char *format, char letter) {
  size_t n = 0;
  while (format[n] == letter) n++;
  return n;
}

/* Month and day may have one digit unless digits or parts of the format are next to them. */
static bool may_be_short(const char *format, size_t at, size_t size) {
  static const char close[] = "YMD0123456789";
  bool before = at && strchr(close, format[at - 1]);
  return !before && !(format[at + size] && strchr(close, format[at + size]));
}

/* Reads one part of the format; *size receives its bytes. */
static bool take_part(const shoal_verify_meaning *m, const char *format, size_t at, string *rest,
                      date *d, size_t *size) {
  size_t years = run_of(format + at, 'Y');
  bool month = run_of(format + at, 'M') >= 2, day = run_of(format + at, 'D') >= 2;
  *size = years >= 4 ? 4 : years >= 2 || month || day ? 2 : 1;
  if (years >= 4) return take_number(rest, 4, 4, &d->year);
  if (years >= 2) {
    if (!take_number(rest, 2, 2, &d->year)) return false;
    d->year += m->pivot - m->pivot % 100;
    if (d->year > m->pivot && d->year >= 100) d->year -= 100;
    return true;
  }
  if (month || day)
    return take_number(rest, may_be_short(format, at, 2) ? 1 : 2, 2, month ? &d->month : &d->day);
  if (!rest->size_bytes || rest->bytes[0] != format[at]) return false;
  *rest = (string){rest->bytes + 1, rest->size_bytes - 1};
  return true;
}

/* A value of the original table. A time may follow, which no label shows. */
static bool read_date(const shoal_verify_meaning *m, string value, date *d) {
  *d = (date){1, 1, 1};
  size_t size;
  for (size_t at = 0; m->date_format[at]; at += size)
    if (!take_part(m, m->date_format, at, &value, d, &size)) return false;
  bool ends = !value.size_bytes || value.bytes[0] == ' ' || value.bytes[0] == 'T';
  return ends && d->month >= 1 && d->month <= 12 && d->day >= 1 && d->day <= 31;
}

/* Later days have larger numbers; not every number is a day. */
static shoal_verify_number day_number(unsigned year, unsigned month, unsigned day) {
  return ((shoal_verify_number)year * 12 + month - 1) * 31 + day - 1;
}

static void set_days(shoal_verify_range *range, date first, date last) {
  range->low = (shoal_verify_end){day_number(first.year, first.month, first.day), true, true};
  range->high = (shoal_verify_end){day_number(last.year, last.month, last.day), true, true};
}

static bool take_byte(string *rest, char byte) {
  if (!rest->size_bytes || rest->bytes[0] != byte) return false;
  *rest = (string){rest->bytes + 1, rest->size_bytes - 1};
  return true;
}

/* YYYY-MM-DD, at the beginning of the rest. */
static bool take_day(string *rest, date *d) {
  return take_number(rest, 4, 4, &d->year) && take_byte(rest, '-') &&
         take_number(rest, 2, 2, &d->month) && take_byte(rest, '-') &&
         take_number(rest, 2, 2, &d->day) && d->month >= 1 && d->month <= 12 && d->day >= 1 &&
         d->day <= 31;
}

/* [2019-05-30 to 2019-07-12] */
static bool read_days(string label, shoal_verify_range *range) {
  date first, last;
  if (!take_byte(&label, '[') || !take_day(&label, &first)) return false;
  for (const char *to = " to "; *to; to++)
    if (!take_byte(&label, *to)) return false;
  if (!take_day(&label, &last) || !take_byte(&label, ']')) return false;
  set_days(range, first, last);
  return !label.size_bytes && range->low.at < range->high.at;
}

/* 2019-05-30, 2019-05, 2019, [2015-2019] */
static bool read_date_label(string label, shoal_verify_range *range) {
  date first = {1, 1, 1}, last = {1, 12, 31};
  if (read_days(label, range)) return true;
  bool span = take_byte(&label, '[');
  if (!take_number(&label, 4, 4, &first.year)) return false;
  last.year = first.year;
  if (span) {
    if (!take_byte(&label, '-') || !take_number(&label, 4, 4, &last.year)) return false;
    if (!take_byte(&label, ']') || last.year < first.year) return false;
  } else if (take_byte(&label, '-')) {
    if (!take_number(&label, 2, 2, &first.month)) return false;
    last.month = first.month;
    if (take_byte(&label, '-')) {
      if (!take_number(&label, 2, 2, &first.day)) return false;
      last.day = first.day;
    }
  }
  set_days(range, first, last);
  return !label.size_bytes;
}

/* ---------------------------------------------------------------- ranges */

bool shoal_verify_has_ranges(const shoal_verify_meaning *meaning) {
  return !meaning->limited &&
         (meaning->kind == SHOAL_VERIFY_RANGES || meaning->kind == SHOAL_VERIFY_DATES);
}

bool shoal_verify_label_range(const shoal_verify_checker *c, string label,
                              shoal_verify_range *range) {
  return c->meaning->kind == SHOAL_VERIFY_DATES
             ? read_date_label(label, range)
             : shoal_verify_range_read(label.bytes, label.size_bytes, range);
}

bool shoal_verify_value_range(const shoal_verify_checker *c, string value,
                              shoal_verify_range *range) {
  date d;
  if (c->meaning->kind != SHOAL_VERIFY_DATES) /* a value may be a code, such as >=90 */
    return shoal_verify_range_read(value.bytes, value.size_bytes, range);
  if (!read_date(c->meaning, value, &d)) return false;
  set_days(range, d, d);
  return true;
}

static bool covers_range(const shoal_verify_checker *c, string label, string value) {
  shoal_verify_range outer, inner;
  return shoal_verify_label_range(c, label, &outer) && shoal_verify_value_range(c, value, &inner) &&
         shoal_verify_range_covers(&outer, &inner);
}

/* ---------------------------------------------------------------- masks */

/* Bytes of the first character: of UTF-8, or one byte. */
static size_t character(string text) {
  size_t size = shoal_utf8_size(text.bytes, text.size_bytes);
  return size ? size : 1;
}

static string after(string text, size_t n) { return (string){text.bytes + n, text.size_bytes - n}; }

static bool is_masked(string label, char mask) {
  for (size_t i = 0; i < label.size_bytes; i++)
    if (label.bytes[i] != mask) return false;
  return true;
}

/* The label is the value, but for masks from some character on. Both have as many characters. */
static bool covers_right(string label, string value, char mask) {
  while (label.size_bytes && value.size_bytes) {
    size_t size = character(value);
    if (label.size_bytes < size || memcmp(label.bytes, value.bytes, size) != 0) break;
    label = after(label, size);
    value = after(value, size);
  }
  size_t left = 0;
  for (; value.size_bytes; left++) value = after(value, character(value));
  return is_masked(label, mask) && label.size_bytes == left;
}

/* The same with masks up to some character. */
static bool covers_left(string label, string value, char mask) {
  for (;; label = after(label, 1), value = after(value, character(value))) {
    if (is_same(label, value)) return true;
    if (!label.size_bytes || !value.size_bytes || label.bytes[0] != mask) return false;
  }
}

/* E11.* and E1* for E11.9: what follows the dot is masked first, and then left out. */
static bool covers_code(string label, string value, char mask) {
  const char *dot = value.size_bytes ? memchr(value.bytes, '.', value.size_bytes) : NULL;
  if (dot) value.size_bytes = (size_t)(dot - value.bytes);
  string part = label;
  if (label.size_bytes >= 2 && label.bytes[label.size_bytes - 2] == '.' &&
      label.bytes[label.size_bytes - 1] == mask) {
    part.size_bytes -= 2;
    if (is_same(part, value)) return true;
  }
  return covers_right(label, value, mask);
}

/* Folded text is masked too: the folded characters of what is not masked must be the value's. */
static bool covers_folded(const shoal_verify_checker *c) {
  enum { SIZE = sizeof(int32_t) };
  const shoal_verify_meaning *m = c->meaning;
  string label = text_of(&c->label_key), value = text_of(&c->value_key);
  const int32_t mask = (unsigned char)m->mask, dot = '.';
  for (size_t at = 0; m->mask_code && at < value.size_bytes; at += SIZE)
    if (memcmp(value.bytes + at, &dot, SIZE) == 0) value.size_bytes = at;
  size_t n_masked = 0; /* on the left, or on the right */
  for (; n_masked < label.size_bytes; n_masked += SIZE) {
    size_t at = m->mask_left ? n_masked : label.size_bytes - SIZE - n_masked;
    if (memcmp(label.bytes + at, &mask, SIZE) != 0) break;
  }
  size_t kept = label.size_bytes - n_masked;
  if (n_masked && m->mask_code && kept && memcmp(label.bytes + kept - SIZE, &dot, SIZE) == 0)
    return is_same((string){label.bytes, kept - SIZE}, value);
  /* a character can be several when it is decomposed: their number says nothing */
  if (!n_masked || kept > value.size_bytes) return false;
  if (m->mask_left) return is_same(after(label, n_masked), after(value, value.size_bytes - kept));
  return is_same((string){label.bytes, kept}, (string){value.bytes, kept});
}

static bool covers_mask(const shoal_verify_checker *c, string label, string value) {
  shoal_decimal number, same;
  char plain[32];
  if (!shoal_verify_fold_none(c->fold)) return covers_folded(c);
  if (c->meaning->mask_numbers &&
      shoal_decimal_parse(value.bytes, value.size_bytes, &number) == SHOAL_NUMBER_OK) {
    if (shoal_decimal_parse(label.bytes, label.size_bytes, &same) == SHOAL_NUMBER_OK &&
        shoal_decimal_compare(number, same) == 0)
      return true; /* in another spelling */
    shoal_decimal_print(number.mantissa, number.scale, plain);
    value = (string){plain, strlen(plain)};
  }
  const shoal_verify_meaning *m = c->meaning;
  if (m->mask_code) return covers_code(label, value, m->mask);
  return m->mask_left ? covers_left(label, value, m->mask) : covers_right(label, value, m->mask);
}

/* ---------------------------------------------------------------- trees */

/* Is the label one of the value's, at the levels from `first` to `last`? */
static bool has_path(const shoal_verify_checker *c, uint32_t first, uint32_t last, string label) {
  string key = text_of(&c->value_key);
  uint64_t hash = shoal_hash_bytes(key.bytes, key.size_bytes);
  const shoal_verify_entry *leaf = shoal_verify_find(&c->leaves, hash, key.bytes, key.size_bytes);
  if (first == 0 && leaf && is_same(key, text_of(&c->label_key))) return true; /* other spelling */
  for (uint32_t l = first; leaf && l <= last && l < c->meaning->tree->n_levels; l++) {
    const shoal_verify_level *level = &c->meaning->tree->levels[l];
    if (is_same(shoal_verify_string_at(&level->labels, level->of_leaf[leaf->n_rows]), label))
      return true;
  }
  return false;
}

/* Numbers the leaves by their keys, as they are numbered; equal keys would be two values. */
static bool number_leaves(shoal_verify_checker *c) {
  const shoal_verify_paths *tree = c->meaning->tree;
  if (!shoal_verify_dictionary_init(&c->leaves)) return false;
  const shoal_verify_level *values = &tree->levels[0];
  for (uint32_t leaf = 0; leaf < tree->n_leaves; leaf++) {
    string value = shoal_verify_string_at(&values->labels, values->of_leaf[leaf]);
    if (!shoal_verify_fold_key(c->fold, value.bytes, value.size_bytes, &c->value_key)) return false;
    string key = text_of(&c->value_key);
    uint64_t hash = shoal_hash_bytes(key.bytes, key.size_bytes);
    shoal_verify_entry *entry = shoal_verify_intern(&c->leaves, hash, key.bytes, key.size_bytes);
    if (!entry) return false;
    entry->n_rows = leaf; /* of the last one of this key */
  }
  return true;
}

/* ---------------------------------------------------------------- all kinds */

bool shoal_verify_checker_init(shoal_verify_checker *c, const shoal_verify_meaning *meaning,
                               const shoal_verify_fold *fold) {
  *c = (shoal_verify_checker){.meaning = meaning, .fold = fold};
  return !meaning->tree || number_leaves(c);
}

void shoal_verify_checker_reset(shoal_verify_checker *c) {
  shoal_verify_dictionary_reset(&c->leaves);
  shoal_wipe_free(c->value_key.bytes, c->value_key.capacity);
  shoal_wipe_free(c->label_key.bytes, c->label_key.capacity);
  shoal_wipe_free(c->scratch.bytes, c->scratch.capacity);
}

/* By the keys of both. */
static bool covers_kind(shoal_verify_checker *c, string label, string value) {
  const shoal_verify_meaning *m = c->meaning;
  if (m->kind == SHOAL_VERIFY_SETS)
    return shoal_verify_set_covers(label.bytes, label.size_bytes, c->fold, &c->value_key,
                                   &c->scratch, &c->label_key);
  if (is_same(text_of(&c->label_key), text_of(&c->value_key))) return true;
  switch (m->kind) {
  case SHOAL_VERIFY_RANGES:
  case SHOAL_VERIFY_DATES: return covers_range(c, label, value);
  case SHOAL_VERIFY_TREE: return has_path(c, 0, m->tree->n_levels - 1, label);
  case SHOAL_VERIFY_MASK: return covers_mask(c, label, value);
  default: return false;
  }
}

bool shoal_verify_covers(shoal_verify_checker *c, string label, string value, bool *covers) {
  const shoal_verify_meaning *m = c->meaning;
  *covers = shoal_verify_is_star(label);
  if (*covers && !m->limited) return true;
  if (!shoal_verify_fold_key(c->fold, value.bytes, value.size_bytes, &c->value_key) ||
      !shoal_verify_fold_key(c->fold, label.bytes, label.size_bytes, &c->label_key))
    return false;
  *covers = (*covers || covers_kind(c, label, value)) &&
            (!m->limited || has_path(c, m->min_level, m->max_level, label));
  return !c->value_key.failed && !c->label_key.failed && !c->scratch.failed;
}
