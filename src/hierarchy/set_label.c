/* SPDX-License-Identifier: Apache-2.0 */
/* hierarchy/set_label: writes and reads labels such as {divorced|widowed}. */
#include "hierarchy/set_label.h"

#include <stdlib.h>
#include <string.h>

static bool is_special(char c) { return c == '|' || c == '{' || c == '}' || c == '"'; }

/* "*", "**" and " * " read as any value. */
static bool is_stars(shoal_label value) {
  size_t n_stars = 0;
  for (size_t i = 0; i < value.size_bytes; i++) {
    if (value.bytes[i] != '*' && value.bytes[i] != ' ') return false;
    n_stars += value.bytes[i] == '*';
  }
  return n_stars > 0;
}

static bool needs_quotes(shoal_label value) {
  for (size_t i = 0; i < value.size_bytes; i++)
    if (is_special(value.bytes[i])) return true;
  return value.size_bytes == 0 || is_stars(value);
}

/* ------------------------------------------------------------ writing */

static int compare_labels(const void *a, const void *b) {
  const shoal_label *x = a, *y = b;
  size_t least = x->size_bytes < y->size_bytes ? x->size_bytes : y->size_bytes;
  int order = least ? memcmp(x->bytes, y->bytes, least) : 0;
  return order ? order : (x->size_bytes > y->size_bytes) - (x->size_bytes < y->size_bytes);
}

void shoal_set_label_add(shoal_text *out, shoal_label *values, size_t n) {
  bool plain =
      n == 1 && !(values[0].size_bytes && values[0].bytes[0] == '{') && !is_stars(values[0]);
  if (n > SHOAL_MAX_SET) shoal_text_add(out, "*");
  else if (plain) shoal_text_add_bytes(out, values[0].bytes, values[0].size_bytes);
  if (n > SHOAL_MAX_SET || plain) return;
  qsort(values, n, sizeof *values, compare_labels);
  for (size_t i = 0; i < n; i++) {
    shoal_text_add(out, i ? "|" : "{");
    shoal_label value = values[i];
    if (needs_quotes(value)) shoal_text_add_quoted(out, value.bytes, value.size_bytes);
    else shoal_text_add_bytes(out, value.bytes, value.size_bytes);
  }
  shoal_text_add(out, "}");
}

/* ------------------------------------------------------------ reading */

/* The end of the element at `at`, just after it; 0: there is none. */
static size_t element_end(shoal_label label, size_t at) {
  const char *s = label.bytes;
  if (at < label.size_bytes && s[at] == '"') {
    for (at++; at < label.size_bytes; at++) {
      if (s[at] != '"') continue;
      if (at + 1 < label.size_bytes && s[at + 1] == '"') at++;
      else return at + 1;
    }
    return 0;
  }
  while (at < label.size_bytes && !is_special(s[at])) at++;
  return at;
}

bool shoal_set_label_next(shoal_label label, size_t *at, char *scratch, shoal_label *value) {
  size_t first = *at + 1; /* *at is at the brace or bar before the element */
  if (first >= label.size_bytes) return false;
  size_t end = element_end(label, first);
  *at = end;
  if (!end || label.bytes[first] != '"') {
    *value = (shoal_label){label.bytes + first, end - first};
    return end != 0;
  }
  size_t size = 0;
  for (size_t i = first + 1; i + 1 < end; i++) {
    if (label.bytes[i] == '"') i++;
    scratch[size++] = label.bytes[i];
  }
  *value = (shoal_label){scratch, size};
  return true;
}

bool shoal_is_set_label(shoal_label label) {
  if (label.size_bytes < 3 || label.bytes[0] != '{' || label.bytes[label.size_bytes - 1] != '}')
    return false;
  for (size_t at = 0; at + 1 < label.size_bytes;) {
    size_t first = at + 1, end = element_end(label, first);
    if (end <= first || end >= label.size_bytes) return false;
    bool quoted = label.bytes[first] == '"';
    shoal_label inner = {label.bytes + first + quoted, end - first - 2 * (size_t)quoted};
    if (needs_quotes(inner) != quoted) return false; /* doubled quotes need them too */
    bool last = end + 1 == label.size_bytes;
    if (label.bytes[end] != (last ? '}' : '|')) return false;
    at = end;
  }
  return true;
}
