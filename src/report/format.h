/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report/format: helpers of all renderings: numbers in text, escaping for HTML and SVG, and a JSON
 * builder on jansson. Private to this directory.
 */
#pragma once

#include <jansson.h>

#include "report/result.h"

/* ---- text */

/* "1 class", "1,234 classes" */
shoal_phrase shoal_say_counted(uint64_t n, const char *noun, const char *plural);
shoal_phrase shoal_say_rows(uint64_t n);
shoal_phrase shoal_say_classes(uint64_t n);
/* " of 3 people"; "" for 0. */
shoal_phrase shoal_say_people(uint64_t n);
/* "fewer than 5" for 1 to k - 1 rows or people. */
shoal_phrase shoal_say_hidden(uint64_t n, uint64_t k);
/* A whole number with thousands separators, else four significant digits; "-" for NAN. */
shoal_phrase shoal_say_number(double x);
/* The same, without decimals from 1,000 on. */
shoal_phrase shoal_say_rounded(double x);

/* " on illness over age, zip"; attribute may be NULL */
void shoal_format_subject(shoal_text *text, const char *attribute, const shoal_over *over);
/* "[1,0,2]": a node's levels in the order of the quasi-identifiers. */
void shoal_format_node(shoal_text *text, const shoal_result *result, const uint32_t *levels);
/* One paragraph per warning of the result. */
void shoal_format_warnings(shoal_text *text, const shoal_result *result);

/* ---- HTML and SVG */

/* A byte that continues a UTF-8 character. */
bool shoal_markup_continues(char c);
/* Upper bound of the width in pixels at this font size, for common sans-serif fonts. */
size_t shoal_markup_width(const char *string, size_t size_bytes, size_t font);
/*
 * Escapes a string for text and attribute values; shoal_text_print does so with the strings of
 * pages and drawings. White space becomes a blank; other characters
 * that XML cannot contain, or that hide or reorder text, become visible (base/escape.h).
 */
void shoal_markup_add(shoal_text *text, const char *string, size_t size_bytes);

/* ---- JSON */

/*
 * jansson fails only without memory. The builder remembers a failure, so renderers need not check
 * each step; shoal_json_finish checks once. A report that lacks a part is never returned.
 */
typedef struct shoal_json {
  bool failed;
} shoal_json;

/* Take over `value`; NULL counts as a failure. */
void shoal_json_set(shoal_json *json, json_t *object, const char *key, json_t *value);
void shoal_json_append(shoal_json *json, json_t *array, json_t *value);

/*
 * An object of keys and values, and more of them for an object. A value has any type of J, or is
 * itself JSON: SHOAL_OBJECT(K("rows", n_rows), N("loss", loss), K("models", models_array(r, json)))
 */
#define SHOAL_OBJECT(...) shoal_json_object(__VA_ARGS__, (char *)NULL)
#define SHOAL_PUT(json, object, ...) shoal_json_put(json, object, __VA_ARGS__, (char *)NULL)
#define K(key, value) key, J(value)
#define N(key, x) key, shoal_json_number(x) /* an integer where x is whole */
#define KIF(condition, key, value) ((condition) ? (key) : ""), J(value) /* else no key */
#define OPT(key, value) KIF(value, key, value)                          /* no key for 0 and NULL */

json_t *shoal_json_object(const char *key, ...) __attribute__((sentinel));
void shoal_json_put(shoal_json *json, json_t *object, const char *key, ...)
    __attribute__((sentinel));

/* The JSON of a value: null for NULL and for NAN. */
#define J(x)                                                                                       \
  _Generic((x),                                                                                    \
      bool: shoal_json_bool,                                                                       \
      unsigned: shoal_json_count,                                                                  \
      unsigned long: shoal_json_count,                                                             \
      unsigned long long: shoal_json_count,                                                        \
      double: shoal_json_real,                                                                     \
      char *: shoal_json_string,                                                                   \
      const char *: shoal_json_string,                                                             \
      json_t *: shoal_json_itself)(x)

json_t *shoal_json_bool(bool yes);
json_t *shoal_json_itself(json_t *value);
json_t *shoal_json_count(uint64_t n);
json_t *shoal_json_count_if(bool known, uint64_t n); /* else null */
/* An integer where x is whole, null for NAN. */
json_t *shoal_json_number(double x);
/* A real even where x is whole, null for NAN. */
json_t *shoal_json_real(double x);
json_t *shoal_json_string(const char *string); /* null for NULL */
json_t *shoal_json_strings(shoal_json *json, const char *const *items, size_t n);
/* {"age": 1, ...}: levels by name of quasi-identifier. */
json_t *shoal_json_levels(shoal_json *json, const shoal_result *result, const uint32_t *levels);
/* {"age": "[20-29]", ...}; null for NULL. */
json_t *shoal_json_labels(shoal_json *json, const shoal_result *result, const char *const *labels);
/* Sets "over" or "known" of a model; nothing if it is about all quasi-identifiers. */
void shoal_json_over(shoal_json *json, json_t *object, const shoal_over *over);
json_t *shoal_json_warnings(shoal_json *json, const shoal_result *result);

/* The document as text, to be freed by the caller; releases `root`. NULL: no memory. */
char *shoal_json_finish(shoal_json *json, json_t *root);
