/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile/shapes: what the values of a text column look like: e-mail addresses, names of people,
 * codes of diagnoses. A column has a shape if nearly all of the values that are examined have it.
 * Each shape is one function, in the table below, the surest first.
 */
#include <string.h>

#include "profile/profile.h"

enum {
  MAX_EXAMINED = 2000,
  NEARLY = 10,     /* at most 1 value in 10 has another shape */
  LONGEST = 400,   /* longer values are prose */
  PROSE_WORDS = 5, /* words of a sentence */
  MAX_NAME_WORDS = 4
};

static bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
static bool is_lower(char c) { return (c >= 'a' && c <= 'z') || (unsigned char)c >= 0x80; }
static bool is_letter(char c) { return is_upper(c) || is_lower(c); }

/*
 * Does the value match the form? '9' is a digit, 'A' a capital letter, '?' before one of them makes
 * it optional, other bytes stand for themselves.
 */
static bool fits(const char *form, const char *value) {
  while (*form) {
    bool optional = *form == '?';
    if (optional) form++;
    bool same = *form == '9'   ? shoal_is_digit(*value)
                : *form == 'A' ? is_upper(*value)
                               : *form == *value && *value;
    if (!same && !optional) return false;
    value += same;
    form++;
  }
  return *value == '\0';
}

static bool fits_any(const char *const *forms, const char *value) {
  for (; *forms; forms++)
    if (fits(*forms, value)) return true;
  return false;
}

static bool is_email(const char *value) {
  const char *at = strchr(value, '@');
  return at && at > value && strchr(at, '.') && !strchr(value, ' ');
}

static bool is_url(const char *value) {
  return strncmp(value, "http://", 7) == 0 || strncmp(value, "https://", 8) == 0 ||
         strncmp(value, "www.", 4) == 0;
}

static bool is_uuid(const char *value) {
  size_t n = strspn(value, "0123456789abcdefABCDEF-");
  return n == 36 && value[n] == '\0' && value[8] == '-' && value[23] == '-';
}

/* Seven to fifteen digits with at least one of the other characters of phone numbers. */
static bool is_phone(const char *value) {
  size_t n_digits = 0, n_other = 0, n_points = 0;
  for (const char *s = value; *s; s++) {
    if (shoal_is_digit(*s)) n_digits++;
    else if (strchr("+-/() ", *s)) n_other++;
    else if (*s == '.') n_points++;
    else return false;
  }
  return n_digits >= 7 && n_digits <= 15 && (n_other || n_points >= 2) &&
         (value[0] == '+' || value[0] == '0' || value[0] == '(' || n_digits >= 9);
}

static bool is_icd(const char *value) {
  static const char *const forms[] = {"A99.9?9?A", "A99.9?9?9", "A99.-", "A9A.9?9", NULL};
  return fits_any(forms, value) || fits("A99", value);
}

static bool is_atc(const char *value) { return fits("A99AA99", value) || fits("A99AA", value); }

static bool is_money(const char *value) {
  static const char *const signs[] = {"$",   "\xe2\x82\xac", "\xc2\xa3", "\xc2\xa5", "EUR",
                                      "USD", "CHF",          "GBP",      NULL};
  size_t size = strlen(value);
  for (size_t i = 0; signs[i]; i++) {
    size_t n = strlen(signs[i]);
    bool first = strncmp(value, signs[i], n) == 0;
    bool last = size > n && strcmp(value + size - n, signs[i]) == 0;
    if (!first && !last) continue;
    const char *number = value + (first ? n : 0);
    size_t rest = strspn(number, "0123456789.,' -");
    return rest && number + rest == value + size - (first ? 0 : n);
  }
  return false;
}

static bool is_postcode(const char *value) {
  static const char *const forms[] = {"A9?9? 9AA", "AA9?9? 9AA", "A9A 9AA",
                                      "AA9A 9AA",  "9999 ?AA",   "A9A ?9A9",
                                      "?A-99999",  "99999-9999", NULL};
  return fits_any(forms, value);
}

/* Two decimals, separated. */
static bool is_place(const char *value) {
  size_t n_points = 0, n_digits = 0, n_separators = 0;
  for (const char *s = value; *s; s++) {
    if (shoal_is_digit(*s)) n_digits++;
    else if (*s == '.') n_points++;
    else if (*s == ',' || *s == ';') n_separators++;
    else if (!strchr("() -", *s)) return false;
  }
  return n_points == 2 && n_separators == 1 && n_digits >= 4;
}

/* A number with a decimal point, of any number of digits. */
static bool is_fraction(const char *value) {
  shoal_decimal number;
  return strchr(value, '.') &&
         shoal_decimal_parse(value, strlen(value), &number) != SHOAL_NUMBER_NOT;
}

/* A day or a year, and the name of a month. */
static bool is_worded_date(const char *value) {
  static const char *const months[] = {
      "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
      "Mai", "Okt", "Dez", "Mrz", "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug",
      "sep", "oct", "nov", "dec", "ene", "abr", "ago", "dic", "gen", "mag", "giu", "lug",
      "set", "ott", "avr", "mai", "jui", "mrt", "mei", "okt", NULL};
  size_t n_digits = 0;
  for (const char *s = value; *s; s++) n_digits += shoal_is_digit(*s);
  if (n_digits < 3 || n_digits > 8 || strlen(value) > 20) return false;
  for (size_t i = 0; months[i]; i++)
    if (strstr(value, months[i])) return true;
  return false;
}

/* Two to four capitalized words, with at most one comma, and initials with a point. */
static bool is_person(const char *value) {
  size_t n_words = 0, n_commas = 0, n_lower = 0;
  for (const char *s = value; *s;) {
    if (!is_upper(*s) && (unsigned char)*s < 0x80) return false;
    for (; is_letter(*s) || *s == '-' || *s == '\''; s++) n_lower += is_lower(*s);
    n_words++;
    if (*s == '.') s++;
    if (*s == ',') {
      n_commas++;
      s++;
    }
    if (*s && *s != ' ') return false;
    s += strspn(s, " ");
  }
  return n_words >= 2 && n_words <= MAX_NAME_WORDS && n_commas <= 1 && n_lower >= 3;
}

static bool is_prose(const char *value) {
  size_t n_words = 1;
  for (const char *s = value; *s; s++) n_words += *s == ' ' && is_letter(s[1]);
  return n_words >= PROSE_WORDS || strlen(value) >= LONGEST - 1;
}

static const struct {
  shoal_value_shape shape;
  bool (*has)(const char *value);
} shapes[] = {
    {SHOAL_SHAPE_EMAIL, is_email},       {SHOAL_SHAPE_URL, is_url},
    {SHOAL_SHAPE_UUID, is_uuid},         {SHOAL_SHAPE_PLACE, is_place},
    {SHOAL_SHAPE_PHONE, is_phone},       {SHOAL_SHAPE_ICD, is_icd},
    {SHOAL_SHAPE_ATC, is_atc},           {SHOAL_SHAPE_MONEY, is_money},
    {SHOAL_SHAPE_POSTCODE, is_postcode}, {SHOAL_SHAPE_DATE, is_worded_date},
    {SHOAL_SHAPE_PERSON, is_person},     {SHOAL_SHAPE_PROSE, is_prose},
    {SHOAL_SHAPE_FRACTION, is_fraction},
};
enum { N_SHAPES = sizeof shapes / sizeof *shapes };

shoal_value_shape shoal_column_shape(const shoal_column *column) {
  size_t n_examined = 0, n_having[N_SHAPES] = {0};
  uint32_t step = column->n_values / MAX_EXAMINED + 1;
  for (uint32_t v = 0; v < column->n_values; v += step) {
    char value[LONGEST];
    size_t size;
    const char *bytes = shoal_column_value(column, v, &size);
    if (shoal_column_missing(column, v) || shoal_looks_missing(bytes, size)) continue;
    if (size >= sizeof value) size = sizeof value - 1;
    memcpy(value, bytes, size);
    value[size] = '\0';
    n_examined++;
    for (size_t i = 0; i < N_SHAPES; i++)
      if (n_having[i] + n_examined / NEARLY + 1 >= n_examined) n_having[i] += shapes[i].has(value);
  }
  if (n_examined == 0) return SHOAL_SHAPE_NONE;
  for (size_t i = 0; i < N_SHAPES; i++)
    if (n_having[i] >= n_examined - n_examined / NEARLY) return shapes[i].shape;
  return SHOAL_SHAPE_NONE;
}
