/* SPDX-License-Identifier: Apache-2.0 */
/* policy/yaml_write: strings as YAML scalars, for policies that shoal writes. */
#include <assert.h>
#include <string.h>
#include <strings.h>

#include "base/escape.h"
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

void shoal_yaml_add_quoted(shoal_text *text, const char *string) {
  shoal_text_add(text, "\"");
  for (size_t left = strlen(string); left;) {
    uint32_t code;
    size_t size = shoal_unsafe_character(string, left, &code);
    if (size) {
      /* Characters that YAML cannot have, and those that a terminal must not get. */
      assert(code != SHOAL_NO_CHARACTER); /* results are valid UTF-8 */
      shoal_text_print(text,
                       code < 0x100     ? "\\x%02x"
                       : code < 0x10000 ? "\\u%04x"
                                        : "\\U%08x",
                       (unsigned)code);
    } else {
      if (*string == '"' || *string == '\\') shoal_text_add(text, "\\");
      size = shoal_utf8_size(string, left);
      shoal_text_add_bytes(text, string, size);
    }
    string += size;
    left -= size;
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
