/* SPDX-License-Identifier: Apache-2.0 */
/* policy/yaml_write: strings as YAML scalars, for policies that shoal writes. */
#include <string.h>
#include <strings.h>

#include "policy/yaml.h"

enum { LONGEST_SIMPLE_KEY = 1000 }; /* bytes; YAML 1.2, 7.4.2: longer ones need a "?" */

static bool is_letter(unsigned char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* Words that some YAML readers take for a boolean or for null. */
static bool is_reserved(const char *string) {
  static const char *const words[] = {"true", "false", "null", "yes", "no", "on", "off", "y", "n"};
  for (size_t w = 0; w < sizeof words / sizeof *words; w++)
    if (strcasecmp(string, words[w]) == 0) return true;
  return false;
}

/* Letters, digits, "_", "-" and ".", starting with a letter: plain YAML without special meaning. */
static bool is_plain(const char *string) {
  if (!is_letter((unsigned char)string[0]) || is_reserved(string)) return false;
  for (const char *s = string; *s; s++)
    if (!is_letter((unsigned char)*s) && !strchr("0123456789-.", *s)) return false;
  return true;
}

/* Marks that change the order of the text around them (U+200E, U+202A to U+202E and the like). */
static bool reorders(const unsigned char *s) {
  if (s[0] != 0xe2) return false;
  return (s[1] == 0x80 && (s[2] == 0x8e || s[2] == 0x8f || (s[2] >= 0xaa && s[2] <= 0xae))) ||
         (s[1] == 0x81 && s[2] >= 0xa6 && s[2] <= 0xa9);
}

/* Bytes of the character at `s` if YAML needs it escaped (its number in *code), else 0. */
static size_t unprintable(const unsigned char *s, unsigned *code) {
  if (s[0] < 0x20 || s[0] == 0x7f) {
    *code = s[0];
    return 1;
  }
  if (s[0] == 0xc2 && s[1] >= 0x80 && s[1] < 0xa0) { /* C1 controls, next line among them */
    *code = s[1];
    return 2;
  }
  if (reorders(s) ||
      (s[0] == 0xe2 && s[1] == 0x80 && (s[2] == 0xa8 || s[2] == 0xa9)) || /* line separators */
      (s[0] == 0xef && s[1] == 0xbb && s[2] == 0xbf) ||                   /* byte-order mark */
      (s[0] == 0xef && s[1] == 0xbf && s[2] >= 0xbe)) {                   /* not characters */
    *code = (s[0] & 0x0fu) << 12 | (s[1] & 0x3fu) << 6 | (s[2] & 0x3fu);
    return 3;
  }
  return 0;
}

void shoal_yaml_add_quoted(shoal_text *text, const char *string) {
  shoal_text_add(text, "\"");
  for (const unsigned char *s = (const unsigned char *)string; *s;) {
    unsigned code;
    size_t size = unprintable(s, &code);
    if (size) {
      shoal_text_print(text, code < 0x100 ? "\\x%02x" : "\\u%04x", code);
      s += size;
      continue;
    }
    if (*s == '"' || *s == '\\') shoal_text_add(text, "\\");
    shoal_text_add_bytes(text, (const char *)s, 1);
    s++;
  }
  shoal_text_add(text, "\"");
}

void shoal_yaml_add_scalar(shoal_text *text, const char *string) {
  if (is_plain(string)) shoal_text_add(text, string);
  else shoal_yaml_add_quoted(text, string);
}

void shoal_yaml_add_key(shoal_text *text, const char *indent, const char *string) {
  size_t begin = text->size_bytes;
  if (indent) shoal_text_add(text, indent);
  shoal_yaml_add_scalar(text, string);
  if (text->size_bytes - begin > LONGEST_SIMPLE_KEY) {
    shoal_text_cut(text, begin);
    shoal_text_print(text, "%s? ", indent ? indent : "");
    shoal_yaml_add_scalar(text, string);
    shoal_text_print(text, "%s%s", indent ? "\n" : " ", indent ? indent : "");
  }
  shoal_text_add(text, ": ");
}
