/* SPDX-License-Identifier: Apache-2.0 */
/* policy/words: see words.h. */
#include "policy/words.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

size_t shoal_utf8_size(const char *s, size_t left) {
  unsigned char lead = (unsigned char)s[0];
  if (lead < 0x80) return 1;
  size_t size = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || size > left) return 0;
  uint32_t code = lead & (0x7fu >> size);
  for (size_t i = 1; i < size; i++) {
    unsigned char byte = (unsigned char)s[i];
    if ((byte & 0xc0) != 0x80) return 0;
    code = code << 6 | (byte & 0x3fu);
  }
  static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
  if (code < smallest[size] || code > 0x10ffff) return 0;
  if (code >= 0xd800 && code <= 0xdfff) return 0; /* halves of UTF-16 pairs */
  return size;
}

shoal_quoted shoal_quote(const char *word) {
  shoal_quoted quoted;
  size_t at = 0, characters = 0;
  size_t left = strlen(word);
  while (left && characters < SHOAL_QUOTE_CHARACTERS) {
    size_t size = shoal_utf8_size(word, left);
    unsigned char lead = (unsigned char)word[0];
    if (size == 0 || lead < 0x20 || lead == 0x7f) {
      size = 1;
      at += (size_t)snprintf(quoted.text + at, 5, "\\x%02x", lead);
    } else {
      memcpy(quoted.text + at, word, size);
      at += size;
    }
    word += size;
    left -= size;
    characters++;
  }
  memcpy(quoted.text + at, left ? "..." : "", left ? 4 : 1);
  return quoted;
}

/* Appends what fits; returns false where it did not. */
static bool append(shoal_advice *advice, size_t *at, const char *before, const char *word,
                   const char *after) {
  size_t left = sizeof advice->text - *at;
  int size = snprintf(advice->text + *at, left, "%s%s%s", before, shoal_quote(word).text, after);
  if (size >= 0 && (size_t)size < left) {
    *at += (size_t)size;
    return true;
  }
  advice->text[*at] = '\0';
  return false;
}

shoal_advice shoal_advise(const char *word, const char *const *words) {
  shoal_advice advice;
  size_t at = 0;
  const char *nearest = shoal_nearest_word(word, words);
  (void)append(&advice, &at, nearest ? "; did you mean '" : "", nearest ? nearest : "",
               nearest ? "'?" : ".");
  for (size_t i = 0; words[i]; i++) {
    const char *before = i ? ", " : " Here one of: ";
    const size_t reserved = sizeof ", ...";
    size_t start = at;
    if (append(&advice, &at, before, words[i], "") && at + reserved < sizeof advice.text) continue;
    memcpy(advice.text + start, ", ...", reserved);
    break;
  }
  return advice;
}
