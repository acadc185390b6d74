/* SPDX-License-Identifier: Apache-2.0 */
/*
 * base/text: numbers in the C locale, the growing string, printing with escapes, UTF-8, similar
 * words and cells that a spreadsheet would run.
 */
#include "base/text.h"

#include <assert.h>
#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/memory.h"

/* ------------------------------------------------------------ numbers in any locale */

/*
 * The program that embeds the library may have set a locale with a decimal comma. uselocale changes
 * it for this thread only. The C library has the C locale ready, without memory.
 */
typedef struct c_locale {
  locale_t own, before;
} c_locale;

static c_locale enter_c(void) {
  c_locale c = {.own = newlocale(LC_ALL_MASK, "C", (locale_t)0)};
  c.before = uselocale(c.own);
  return c;
}

static void leave_c(c_locale c) {
  (void)uselocale(c.before);
  if (c.own) freelocale(c.own);
}

static int print_in_c(char *out, size_t size, const char *format, va_list args) {
  c_locale c = enter_c();
  int printed = vsnprintf(out, size, format, args);
  leave_c(c);
  return printed;
}

int shoal_print_double(char *out, size_t size, const char *format, ...) {
  va_list args;
  va_start(args, format);
  int printed = print_in_c(out, size, format, args);
  va_end(args);
  return printed;
}

double shoal_parse_double(const char *text, char **end) {
  c_locale c = enter_c();
  double number = strtod(text, end);
  leave_c(c);
  return number;
}

/* ------------------------------------------------------------ growing text */

void shoal_text_init(shoal_text *text) { memset(text, 0, sizeof *text); }

void shoal_text_init_escaped(shoal_text *text) {
  shoal_text_init(text);
  text->add_string = shoal_text_add_escaped;
}

void shoal_text_reset(shoal_text *text) {
  free(text->bytes);
  *text = (shoal_text){.add_string = text->add_string};
}

static bool reserve(shoal_text *text, size_t more) {
  if (text->failed) return false;
  if (more > SIZE_MAX / 2 - text->size_bytes ||
      !shoal_grow(&text->bytes, &text->capacity, text->size_bytes + more + 1, 1))
    text->failed = true;
  return !text->failed;
}

void shoal_text_add_bytes(shoal_text *text, const char *bytes, size_t size_bytes) {
  if (!reserve(text, size_bytes)) return;
  if (size_bytes) memcpy(text->bytes + text->size_bytes, bytes, size_bytes);
  text->size_bytes += size_bytes;
  text->bytes[text->size_bytes] = '\0';
}

void shoal_text_add(shoal_text *text, const char *string) {
  shoal_text_add_bytes(text, string, strlen(string));
}

void shoal_text_cut(shoal_text *text, size_t size_bytes) {
  if (text->failed || text->size_bytes <= size_bytes) return;
  text->size_bytes = size_bytes;
  text->bytes[size_bytes] = '\0';
}

void shoal_text_add_quoted(shoal_text *text, const char *bytes, size_t size_bytes) {
  shoal_text_add(text, "\"");
  for (size_t at = 0; at < size_bytes;) {
    const char *quote = memchr(bytes + at, '"', size_bytes - at);
    size_t end = quote ? (size_t)(quote - bytes) + 1 : size_bytes;
    shoal_text_add_bytes(text, bytes + at, end - at);
    if (quote) shoal_text_add(text, "\"");
    at = end;
  }
  shoal_text_add(text, "\"");
}

void shoal_text_add_escaped(shoal_text *text, const char *bytes, size_t size_bytes) {
  for (size_t at = 0; at < size_bytes;) {
    size_t plain = shoal_plain_size(bytes + at, size_bytes - at);
    shoal_text_add_bytes(text, bytes + at, plain);
    at += plain;
    if (at == size_bytes) return;
    char escaped[SHOAL_ESCAPED_BYTES];
    at += shoal_escape_one(bytes + at, size_bytes - at, escaped);
    shoal_text_add(text, escaped);
  }
}

/* ------------------------------------------------------------ printing */

static void print_plain(shoal_text *text, const char *format, va_list args) {
  va_list again;
  va_copy(again, args);
  int size = print_in_c(NULL, 0, format, args);
  if (size < 0) {
    text->failed = true;
  } else if (reserve(text, (size_t)size)) {
    (void)print_in_c(text->bytes + text->size_bytes, (size_t)size + 1, format, again);
    text->size_bytes += (size_t)size;
  }
  va_end(again);
}

__attribute__((format(printf, 2, 3))) static void print_part(shoal_text *text, const char *format,
                                                             ...) {
  va_list args;
  va_start(args, format);
  print_plain(text, format, args);
  va_end(args);
}

static void pad(shoal_text *text, size_t width, size_t wanted) {
  for (; width < wanted; width++) shoal_text_add_bytes(text, " ", 1);
}

/* A string with its width and precision (-1: none); a negative width pads on the right. */
static void print_string(shoal_text *text, const char *string, int width, int precision) {
  size_t size = precision < 0 ? strlen(string) : strnlen(string, (size_t)precision);
  if (precision >= 0 && string[size]) /* cut before a character, not within */
    while (size && ((unsigned char)string[size] & 0xc0) == 0x80) size--;
  shoal_text part;
  shoal_text_init(&part);
  text->add_string(&part, string, size);
  size_t columns = part.size_bytes ? shoal_text_width(part.bytes) : 0;
  if (width > 0) pad(text, columns, (size_t)width);
  shoal_text_add_bytes(text, part.bytes, part.size_bytes);
  if (width < 0) pad(text, columns, (size_t)-width);
  text->failed = text->failed || part.failed;
  shoal_text_reset(&part);
}

/* "%5.1f" with the width and precision that it has or gets from the arguments. */
typedef struct conversion {
  char format[32]; /* for one number, as long as any */
  int width, precision;
  char length, kind; /* 'L' is ll; 's' is a string */
} conversion;

/* Parses the conversion at `f`; returns its end. */
static const char *parse_conversion(const char *f, va_list *args, conversion *c) {
  *c = (conversion){.precision = -1};
  int *number = &c->width;
  bool left = false;
  size_t n = 0;
  c->format[n++] = *f++;
  for (; *f && strchr("-+ #0123456789.*", *f); f++) {
    assert(n + 16 < sizeof c->format);
    left = left || *f == '-';
    if (*f == '.') {
      number = &c->precision;
      *number = 0;
    } else if (*f == '*') {
      *number = va_arg(*args, int);
      n += (size_t)snprintf(c->format + n, sizeof c->format - n, "%d", *number);
      continue;
    } else if (*f >= '0' && *f <= '9') {
      *number = *number * 10 + (*f - '0');
    }
    c->format[n++] = *f;
  }
  if (left) c->width = -c->width;
  if (*f == 'z' || *f == 'l') c->length = *f++;
  if (c->length == 'l' && *f == 'l') c->length = 'L', f++;
  c->kind = *f;
  assert(c->kind && strchr("duxcfges%", c->kind));
  (void)snprintf(c->format + n, sizeof c->format - n, "%s%c", strchr("dux", c->kind) ? "ll" : "",
                 c->kind);
  return f + 1;
}

static void print_number(shoal_text *text, const conversion *c, va_list *args) {
  if (strchr("fge", c->kind)) print_part(text, c->format, va_arg(*args, double));
  else if (c->kind == 'c') print_part(text, c->format, va_arg(*args, int));
  else if (c->length == 'L') print_part(text, c->format, va_arg(*args, unsigned long long));
  else if (c->length == 'z') print_part(text, c->format, (unsigned long long)va_arg(*args, size_t));
  else if (c->length == 'l') print_part(text, c->format, (long long)va_arg(*args, long));
  else if (c->kind == 'd') print_part(text, c->format, (long long)va_arg(*args, int));
  else print_part(text, c->format, (unsigned long long)va_arg(*args, unsigned));
}

/* As printf, but strings are escaped. */
static void print_escaped(shoal_text *text, const char *format, va_list *args) {
  while (*format) {
    size_t literal = strcspn(format, "%");
    shoal_text_add_bytes(text, format, literal);
    format += literal;
    if (!*format) return;
    conversion c;
    format = parse_conversion(format, args, &c);
    if (c.kind == '%') shoal_text_add(text, "%");
    else if (c.kind == 's') print_string(text, va_arg(*args, const char *), c.width, c.precision);
    else print_number(text, &c, args);
  }
}

void shoal_text_print(shoal_text *text, const char *format, ...) {
  va_list args;
  va_start(args, format);
  if (text->add_string) print_escaped(text, format, &args);
  else print_plain(text, format, args);
  va_end(args);
}

shoal_phrase shoal_say_count(uint64_t n) {
  char digits[24];
  shoal_phrase words;
  size_t at = 0, size = (size_t)snprintf(digits, sizeof digits, "%llu", (unsigned long long)n);
  for (size_t i = 0; i < size; i++) {
    if (i && (size - i) % 3 == 0) words.text[at++] = ',';
    words.text[at++] = digits[i];
  }
  words.text[at] = '\0';
  return words;
}

void shoal_text_add_count(shoal_text *text, uint64_t n) {
  shoal_text_add(text, shoal_say_count(n).text);
}

size_t shoal_text_width(const char *string) {
  size_t width = 0;
  for (; *string; string++) width += ((unsigned char)*string & 0xc0) != 0x80;
  return width;
}

void shoal_text_add_padded(shoal_text *text, const char *string, size_t width) {
  size_t before = text->size_bytes;
  if (text->add_string) text->add_string(text, string, strlen(string));
  else shoal_text_add(text, string);
  if (!text->failed) pad(text, shoal_text_width(text->bytes + before), width);
}

char *shoal_text_take(shoal_text *text) {
  if (!text->bytes) shoal_text_add_bytes(text, "", 0);
  char *bytes = text->failed ? NULL : text->bytes;
  if (!bytes) free(text->bytes);
  shoal_text_init(text);
  return bytes;
}

size_t shoal_utf8_size(const char *bytes, size_t left) {
  const unsigned char *s = (const unsigned char *)bytes;
  unsigned char c = s[0];
  if (c < 0x80) return 1;
  size_t size = c >= 0xf0 && c < 0xf5   ? 4
                : c >= 0xe0 && c < 0xf0 ? 3
                : c >= 0xc2 && c < 0xe0 ? 2
                                        : 0;
  if (!size || size > left) return 0;
  for (size_t i = 1; i < size; i++)
    if ((s[i] & 0xc0) != 0x80) return 0;
  if (c == 0xe0 && s[1] < 0xa0) return 0; /* overlong */
  if (c == 0xed && s[1] > 0x9f) return 0; /* surrogates */
  if (c == 0xf0 && s[1] < 0x90) return 0;
  if (c == 0xf4 && s[1] > 0x8f) return 0;
  return size;
}

void shoal_text_add_utf8(shoal_text *text, const char *bytes, size_t size_bytes) {
  for (size_t at = 0; at < size_bytes;) {
    size_t size = shoal_utf8_size(bytes + at, size_bytes - at);
    if (size) {
      shoal_text_add_bytes(text, bytes + at, size);
      at += size;
    } else {
      shoal_text_print(text, "\\x%02x", (unsigned)(unsigned char)bytes[at]);
      at++;
    }
  }
}

bool shoal_ends_with(const char *string, const char *ending) {
  size_t n = strlen(string), m = strlen(ending);
  return n >= m && strcmp(string + n - m, ending) == 0;
}

bool shoal_starts_oddly(const char *bytes, size_t size_bytes) {
  static const char *const odd[] = {"\xef\xbb\xbf", "\x1f\x8b", "\x28\xb5\x2f\xfd", "PK\x03\x04"};
  for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
    size_t size = strlen(odd[i]);
    if (size_bytes >= size && memcmp(bytes, odd[i], size) == 0) return true;
  }
  return false;
}

/* Edit distance with swaps of neighbours, for words of up to 63 letters. */
static size_t edit_distance(const char *a, const char *b) {
  enum { MAX = 64 };
  size_t n = strlen(a), m = strlen(b);
  if (n >= MAX || m >= MAX) return SIZE_MAX;
  size_t d[MAX][MAX];
  for (size_t i = 0; i <= n; i++) d[i][0] = i;
  for (size_t j = 0; j <= m; j++) d[0][j] = j;
  for (size_t i = 1; i <= n; i++) {
    for (size_t j = 1; j <= m; j++) {
      size_t best = d[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
      if (d[i - 1][j] + 1 < best) best = d[i - 1][j] + 1;
      if (d[i][j - 1] + 1 < best) best = d[i][j - 1] + 1;
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
          d[i - 2][j - 2] + 1 < best)
        best = d[i - 2][j - 2] + 1;
      d[i][j] = best;
    }
  }
  return d[n][m];
}

const char *shoal_nearest_word(const char *word, const char *const *words) {
  const char *nearest = NULL;
  size_t length = strlen(word);
  size_t limit = length <= 3 ? 1 : length <= 6 ? 2 : length / 3 + 1;
  size_t best = limit + 1;
  for (size_t i = 0; words[i]; i++) {
    size_t distance = edit_distance(word, words[i]);
    if (distance < best) {
      best = distance;
      nearest = words[i];
    }
  }
  return nearest;
}

const char *shoal_arena_copy_utf8(shoal_arena *arena, const char *bytes, size_t size_bytes) {
  shoal_text text;
  shoal_text_init(&text);
  shoal_text_add(&text, ""); /* an empty string is not NULL */
  shoal_text_add_utf8(&text, bytes, size_bytes);
  const char *copy = text.failed ? NULL : shoal_arena_copy(arena, text.bytes, text.size_bytes);
  shoal_text_reset(&text);
  return copy;
}

/* ------------------------------------------------------------ formulas */

static size_t skip_digits(const char *bytes, size_t size, size_t at) {
  while (at < size && bytes[at] >= '0' && bytes[at] <= '9') at++;
  return at;
}

static size_t skip_sign(const char *bytes, size_t size, size_t at) {
  return at < size && (bytes[at] == '-' || bytes[at] == '+') ? at + 1 : at;
}

/* "-5", "+0.5", "-,5", "1e-3": what every program shows as it is. */
static bool is_number(const char *bytes, size_t size) {
  size_t first = skip_sign(bytes, size, 0);
  size_t at = skip_digits(bytes, size, first), n_digits = at - first;
  if (at < size && (bytes[at] == '.' || bytes[at] == ',')) {
    size_t end = skip_digits(bytes, size, at + 1);
    n_digits += end - at - 1;
    at = end;
  }
  if (!n_digits) return false;
  if (at < size && (bytes[at] == 'e' || bytes[at] == 'E')) {
    size_t exponent = skip_sign(bytes, size, at + 1);
    at = skip_digits(bytes, size, exponent);
    if (at == exponent) return false;
  }
  return at == size;
}

/* The full-width forms of =, +, - and @, which spreadsheets take for the others. */
static bool begins_full_width(const char *bytes, size_t size) {
  return size >= 3 && memcmp(bytes, "\xef\xbc", 2) == 0 && bytes[2] &&
         strchr("\x9d\x8b\x8d\xa0", bytes[2]);
}

bool shoal_is_formula(const char *bytes, size_t size_bytes) {
  size_t at = 0;
  while (at < size_bytes && bytes[at] == '\'') at++;
  if (begins_full_width(bytes + at, size_bytes - at)) return true;
  if (at == size_bytes || bytes[at] == '\0' || !strchr("=+-@\t\r", bytes[at])) return false;
  return at > 0 || !is_number(bytes, size_bytes);
}

bool shoal_is_quoted_formula(const char *bytes, size_t size_bytes) {
  return size_bytes > 1 && bytes[0] == '\'' && shoal_is_formula(bytes + 1, size_bytes - 1);
}
