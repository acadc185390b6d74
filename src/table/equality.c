/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table/equality: the key of a spelling, numbers by base/decimal.h, text by utf8proc; and sets of
 * values by key. The verifier has its own version (verify/fold.c).
 */
#include "table/equality.h"

#include <string.h>
#include <utf8proc.h>

#include "base/decimal.h"

/* ------------------------------------------------------------ numbers */

enum { MAX_PLAIN = 18 }; /* bytes: fewer digits than a decimal may have */

/* Is the number spelled as shoal_decimal_print writes it? Most are, and are their own keys. */
static bool is_plain_number(shoal_label spelling) {
  const char *at = spelling.bytes, *end = at + spelling.size_bytes;
  if (spelling.size_bytes > MAX_PLAIN) return false;
  if (*at == '-') at++;
  const char *whole = at;
  while (at < end && *at >= '0' && *at <= '9') at++;
  if (at == whole || (*whole == '0' && at > whole + 1)) return false;
  if (at == end) return *whole != '0' || whole == spelling.bytes; /* not -0 */
  const char *point = at++;
  if (*point != '.') return false;
  while (at < end && *at >= '0' && *at <= '9') at++;
  return at == end && at > point + 1 && at[-1] != '0';
}

/* ------------------------------------------------------------ text */

static bool is_ascii(shoal_label text) {
  for (size_t i = 0; i < text.size_bytes; i++)
    if ((unsigned char)text.bytes[i] >= 0x80) return false;
  return true;
}

static void add_ascii(shoal_equality equality, shoal_label text, shoal_text *out) {
  for (size_t i = 0; i < text.size_bytes; i++) {
    char c = text.bytes[i];
    if (equality & SHOAL_EQUAL_CASE && c >= 'A' && c <= 'Z') c = (char)(c + ('a' - 'A'));
    shoal_text_add_bytes(out, &c, 1);
  }
}

/* Case and Unicode form. */
static void add_folded(shoal_equality equality, shoal_label text, shoal_text *out) {
  utf8proc_option_t options = 0;
  if (equality & SHOAL_EQUAL_CASE) options |= UTF8PROC_CASEFOLD;
  if (equality & SHOAL_EQUAL_UNICODE)
    options |= UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_IGNORE;
  utf8proc_uint8_t *folded = NULL;
  if (!options || is_ascii(text)) {
    add_ascii(equality, text, out);
    return;
  }
  utf8proc_ssize_t size = utf8proc_map((const utf8proc_uint8_t *)text.bytes,
                                       (utf8proc_ssize_t)text.size_bytes, &folded, options);
  if (size >= 0) shoal_text_add_bytes(out, (const char *)folded, (size_t)size);
  else if (size == UTF8PROC_ERROR_INVALIDUTF8) add_ascii(equality, text, out);
  else out->failed = true;
  shoal_wipe_free(folded, size > 0 ? (size_t)size : 0);
}

/* Bytes of the space at `s`; 0: it is none. */
static size_t space_size(const char *s, size_t left) {
  if (*s == ' ' || (*s >= '\t' && *s <= '\r')) return 1;
  if ((unsigned char)*s < 0x80) return 0;
  utf8proc_int32_t c;
  utf8proc_ssize_t size = utf8proc_iterate((const utf8proc_uint8_t *)s, (utf8proc_ssize_t)left, &c);
  if (size <= 0) return 0;
  utf8proc_category_t category = utf8proc_category(c);
  bool space = category == UTF8PROC_CATEGORY_ZS || category == UTF8PROC_CATEGORY_ZL ||
               category == UTF8PROC_CATEGORY_ZP || c == 0x85;
  return space ? (size_t)size : 0;
}

/* Removes outer spaces and makes each run one space, in place. Returns the new size. */
static size_t squeeze(char *bytes, size_t size_bytes) {
  size_t to = 0;
  bool pending = false;
  for (size_t at = 0; at < size_bytes;) {
    size_t space = space_size(bytes + at, size_bytes - at);
    if (space) {
      pending = to > 0;
      at += space;
      continue;
    }
    if (pending) bytes[to++] = ' ';
    pending = false;
    bytes[to++] = bytes[at++];
  }
  return to;
}

shoal_label shoal_equality_key(shoal_equality equality, shoal_label spelling, shoal_text *scratch) {
  scratch->size_bytes = 0;
  if (equality == SHOAL_EQUAL_BYTES || spelling.size_bytes == 0) return spelling;
  if (equality & SHOAL_EQUAL_NUMBERS) {
    shoal_decimal number;
    char text[32];
    if (is_plain_number(spelling)) return spelling;
    if (shoal_decimal_parse(spelling.bytes, spelling.size_bytes, &number) != SHOAL_NUMBER_OK)
      return spelling;
    shoal_decimal_print(number.mantissa, number.scale, text);
    shoal_text_add(scratch, text);
    return (shoal_label){scratch->bytes, scratch->size_bytes};
  }
  shoal_text_add(scratch, ""); /* an empty key needs an address too */
  add_folded(equality, spelling, scratch);
  if (scratch->failed) return spelling;
  if (equality & SHOAL_EQUAL_SPACE && scratch->size_bytes)
    scratch->size_bytes = squeeze(scratch->bytes, scratch->size_bytes);
  return (shoal_label){scratch->bytes, scratch->size_bytes};
}

/* ------------------------------------------------------------ sets of values */

bool shoal_values_init(shoal_values *values, shoal_equality equality) {
  memset(values, 0, sizeof *values);
  values->equality = equality;
  if (!shoal_strings_init(&values->spellings)) return false;
  if (equality == SHOAL_EQUAL_BYTES || shoal_strings_init(&values->keys)) return true;
  shoal_values_reset(values);
  return false;
}

/* They hold raw values. */
static void wipe(shoal_strings *strings) {
  shoal_wipe_free(strings->bytes, strings->bytes_capacity);
  strings->bytes = NULL;
  shoal_strings_reset(strings);
}

void shoal_values_reset(shoal_values *values) {
  wipe(&values->spellings);
  wipe(&values->keys);
  shoal_wipe_free(values->scratch.bytes, values->scratch.capacity);
  memset(values, 0, sizeof *values);
}

uint32_t shoal_values_intern(shoal_values *values, shoal_label spelling) {
  if (values->equality == SHOAL_EQUAL_BYTES)
    return shoal_strings_intern(&values->spellings, spelling);
  uint32_t n = values->keys.n_strings;
  shoal_label key = shoal_equality_key(values->equality, spelling, &values->scratch);
  uint32_t id = values->scratch.failed ? SHOAL_NONE : shoal_strings_intern(&values->keys, key);
  if (id == n && !shoal_strings_load(&values->spellings, spelling.bytes,
                                     (const uint64_t[]){0, spelling.size_bytes}, 1))
    return SHOAL_NONE;
  return id;
}

uint32_t shoal_values_find(shoal_values *values, shoal_label spelling, bool *failed) {
  if (values->equality == SHOAL_EQUAL_BYTES)
    return shoal_strings_find(&values->spellings, spelling);
  shoal_label key = shoal_equality_key(values->equality, spelling, &values->scratch);
  *failed = *failed || values->scratch.failed;
  return values->scratch.failed ? SHOAL_NONE : shoal_strings_find(&values->keys, key);
}
