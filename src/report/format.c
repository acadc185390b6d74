/* SPDX-License-Identifier: Apache-2.0 */
/* report/format: sections for text, for HTML and SVG, and for JSON. */
#include "report/format.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/escape.h"

/* ------------------------------------------------------------ text */

shoal_phrase shoal_say_counted(uint64_t n, const char *noun, const char *plural) {
  shoal_phrase words = shoal_say_count(n);
  size_t size = strlen(words.text);
  (void)snprintf(words.text + size, sizeof words.text - size, " %s", n == 1 ? noun : plural);
  return words;
}

shoal_phrase shoal_say_rows(uint64_t n) { return shoal_say_counted(n, "row", "rows"); }

shoal_phrase shoal_say_classes(uint64_t n) { return shoal_say_counted(n, "class", "classes"); }

/* Words before a number. */
static shoal_phrase prefixed(const char *prefix, shoal_phrase number) {
  shoal_phrase words;
  (void)snprintf(words.text, sizeof words.text, "%s%.60s", prefix, number.text);
  return words;
}

shoal_phrase shoal_say_people(uint64_t n) {
  return n ? prefixed(" of ", shoal_say_counted(n, "person", "people")) : (shoal_phrase){""};
}

shoal_phrase shoal_say_hidden(uint64_t n, uint64_t k) {
  return n && n < k ? prefixed("fewer than ", shoal_say_count(k)) : shoal_say_count(n);
}

shoal_phrase shoal_say_number(double x) {
  shoal_phrase words = {"-"};
  if (x == floor(x) && x >= 0 && x < 9e15) return shoal_say_count((uint64_t)x);
  if (!isnan(x)) (void)shoal_print_double(words.text, sizeof words.text, "%.4g", x);
  return words;
}

shoal_phrase shoal_say_rounded(double x) {
  return shoal_say_number(x >= 1000 && x < 9e15 ? floor(x + 0.5) : x);
}

void shoal_format_subject(shoal_text *text, const char *attribute, const shoal_over *over) {
  if (attribute) shoal_text_print(text, " on %s", attribute);
  if (over->text) shoal_text_print(text, " over %s", over->text);
}

void shoal_format_node(shoal_text *text, const shoal_result *result, const uint32_t *levels) {
  shoal_text_add(text, "[");
  for (size_t q = 0; q < result->n_quasi; q++)
    shoal_text_print(text, "%s%u", q ? "," : "", levels[q]);
  shoal_text_add(text, "]");
}

void shoal_format_warnings(shoal_text *text, const shoal_result *result) {
  for (size_t i = 0; i < result->n_warnings; i++)
    shoal_text_print(text, "\nWarning: %s.\n", result->warnings[i]);
}

/* ------------------------------------------------------------ HTML and SVG */

bool shoal_markup_continues(char c) { return ((unsigned char)c & 0xc0) == 0x80; }

/* Widths are hundredths of the font size, by kind of letter. */
size_t shoal_markup_width(const char *string, size_t size_bytes, size_t font) {
  size_t hundredths = 0;
  for (size_t i = 0; i < size_bytes; i++) {
    if (shoal_markup_continues(string[i])) continue;
    unsigned char c = (unsigned char)string[i];
    hundredths += c >= 0x80 || strchr("mwMW@%", c) ? 105
                  : strchr("fijlrt .,:;()[]|'", c) ? 46
                  : c >= 'A' && c <= 'Z'           ? 82
                                                   : 67;
  }
  return (hundredths * font + 99) / 100;
}

void shoal_markup_add(shoal_text *text, const char *string, size_t size_bytes) {
  static const char special[] = "<>&\"\t\r\n";
  static const char *const instead[] = {"&lt;", "&gt;", "&amp;", "&quot;", " ", " ", " "};
  for (size_t at = 0; at < size_bytes;) {
    const char *found = string[at] ? strchr(special, string[at]) : NULL;
    char escaped[SHOAL_ESCAPED_BYTES];
    at += shoal_escape_one(string + at, size_bytes - at, escaped);
    shoal_text_add(text, found ? instead[found - special] : escaped);
  }
}

/* ------------------------------------------------------------ JSON */

void shoal_json_set(shoal_json *json, json_t *object, const char *key, json_t *value) {
  if (json_object_set_new(object, key, value) != 0) json->failed = true;
}

void shoal_json_append(shoal_json *json, json_t *array, json_t *value) {
  if (json_array_append_new(array, value) != 0) json->failed = true;
}

/* Sets the keys and values of `rest`; "" is no key. False: no memory. */
static bool put_all(json_t *object, const char *key, va_list rest) {
  bool ok = object != NULL;
  for (; key; key = va_arg(rest, const char *)) {
    json_t *value = va_arg(rest, json_t *);
    if (*key) ok = json_object_set_new(object, key, value) == 0 && ok;
    else json_decref(value);
  }
  return ok;
}

json_t *shoal_json_object(const char *key, ...) {
  va_list rest;
  va_start(rest, key);
  json_t *object = json_object();
  bool ok = put_all(object, key, rest);
  va_end(rest);
  if (ok) return object;
  json_decref(object);
  return NULL;
}

void shoal_json_put(shoal_json *json, json_t *object, const char *key, ...) {
  va_list rest;
  va_start(rest, key);
  if (!put_all(object, key, rest)) json->failed = true;
  va_end(rest);
}

json_t *shoal_json_bool(bool yes) { return json_boolean(yes); }

json_t *shoal_json_itself(json_t *value) { return value; }

json_t *shoal_json_count_if(bool known, uint64_t n) {
  return known ? shoal_json_count(n) : json_null();
}

json_t *shoal_json_count(uint64_t n) { return json_integer((json_int_t)n); }

json_t *shoal_json_number(double x) {
  if (x == floor(x) && fabs(x) < 9e15) return json_integer((json_int_t)x);
  return shoal_json_real(x);
}

json_t *shoal_json_real(double x) { return isnan(x) ? json_null() : json_real(x); }

json_t *shoal_json_string(const char *string) { return string ? json_string(string) : json_null(); }

json_t *shoal_json_strings(shoal_json *json, const char *const *items, size_t n) {
  json_t *array = json_array();
  for (size_t i = 0; i < n; i++) shoal_json_append(json, array, json_string(items[i]));
  return array;
}

json_t *shoal_json_levels(shoal_json *json, const shoal_result *result, const uint32_t *levels) {
  json_t *object = json_object();
  for (size_t q = 0; q < result->n_quasi; q++)
    shoal_json_set(json, object, result->quasi[q], shoal_json_count(levels[q]));
  return object;
}

json_t *shoal_json_labels(shoal_json *json, const shoal_result *result, const char *const *labels) {
  json_t *object = json_object();
  for (size_t q = 0; q < result->n_quasi; q++)
    shoal_json_set(json, object, result->quasi[q], shoal_json_string(labels[q]));
  return object;
}

void shoal_json_over(shoal_json *json, json_t *object, const shoal_over *over) {
  if (over->n_names)
    shoal_json_set(json, object, "over", shoal_json_strings(json, over->names, over->n_names));
  if (over->known) shoal_json_set(json, object, "known", shoal_json_count(over->known));
}

json_t *shoal_json_warnings(shoal_json *json, const shoal_result *result) {
  return shoal_json_strings(json, result->warnings, result->n_warnings);
}

static int append_bytes(const char *bytes, size_t size, void *user) {
  shoal_text *out = user;
  shoal_text_add_bytes(out, bytes, size);
  return out->failed ? -1 : 0;
}

static void add_json_escape(shoal_text *text, uint32_t code) {
  if (code < 0x10000) {
    shoal_text_print(text, "\\u%04x", (unsigned)code);
    return;
  }
  code -= 0x10000; /* a pair of surrogates */
  shoal_text_print(text, "\\u%04x\\u%04x", (unsigned)(0xd800 + (code >> 10)),
                   (unsigned)(0xdc00 + (code & 0x3ff)));
}

/* JSON may have characters that a terminal must not get: they become \\uNNNN. */
static void escape_json(shoal_text *json) {
  shoal_text safe;
  shoal_text_init(&safe);
  for (size_t at = 0; at < json->size_bytes;) {
    const char *s = json->bytes + at;
    size_t left = json->size_bytes - at, size = shoal_plain_size(s, left);
    uint32_t code;
    if (size || *s == '\n') {
      size = size ? size : 1;
      shoal_text_add_bytes(&safe, s, size);
    } else if ((size = shoal_unsafe_character(s, left, &code))) {
      add_json_escape(&safe, code);
    } else {
      size = shoal_utf8_size(s, left);
      shoal_text_add_bytes(&safe, s, size);
    }
    at += size;
  }
  safe.failed = safe.failed || json->failed;
  shoal_text_reset(json);
  *json = safe;
}

/* By callback: json_dumps drops what it has no memory for and reports success. */
char *shoal_json_finish(shoal_json *json, json_t *root) {
  shoal_text out;
  shoal_text_init(&out);
  bool whole =
      root && !json->failed &&
      json_dump_callback(root, append_bytes, &out, JSON_INDENT(2) | JSON_REAL_PRECISION(17)) == 0;
  if (whole) escape_json(&out);
  char *text = whole ? shoal_text_take(&out) : NULL;
  shoal_text_reset(&out);
  json_decref(root);
  return text;
}
