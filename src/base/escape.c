/* SPDX-License-Identifier: Apache-2.0 */
/* base/escape: the ranges of characters that are escaped, and the copy that escapes them. */
#include "base/escape.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"

/* Of valid UTF-8. */
static uint32_t decode(const char *bytes, size_t size) {
  const unsigned char *s = (const unsigned char *)bytes;
  if (size == 1) return s[0];
  uint32_t code = s[0] & (0xffu >> (size + 1));
  for (size_t i = 1; i < size; i++) code = code << 6 | (s[i] & 0x3fu);
  return code;
}

static const struct {
  uint32_t first, last;
} unsafe[] = {
    {0x00, 0x1f},       /* C0 controls */
    {0x7f, 0x9f},       /* DEL, C1 controls */
    {0xad, 0xad},       /* soft hyphen */
    {0x34f, 0x34f},     /* grapheme joiner */
    {0x61c, 0x61c},     /* Arabic letter mark */
    {0x115f, 0x1160},   /* Hangul fillers */
    {0x180b, 0x180f},   /* Mongolian selectors */
    {0x200b, 0x200f},   /* zero-width characters, direction marks */
    {0x2028, 0x202e},   /* line separators, bidirectional embeddings and overrides */
    {0x2060, 0x206f},   /* word joiner, bidirectional isolates */
    {0x3164, 0x3164},   /* Hangul filler */
    {0xfe00, 0xfe0f},   /* variation selectors */
    {0xfeff, 0xfeff},   /* byte-order mark */
    {0xffa0, 0xffa0},   /* Hangul filler */
    {0xfff0, 0xfffb},   /* annotations */
    {0xfffe, 0xffff},   /* not characters */
    {0xe0000, 0xe0fff}, /* tags and selectors */
};

size_t shoal_unsafe_character(const char *s, size_t left, uint32_t *code) {
  size_t size = shoal_utf8_size(s, left);
  if (!size) {
    *code = SHOAL_NO_CHARACTER;
    return 1;
  }
  *code = decode(s, size);
  if (*code >= 0x20 && *code < 0x7f) return 0;
  for (size_t i = 0; i < sizeof unsafe / sizeof *unsafe; i++)
    if (*code >= unsafe[i].first && *code <= unsafe[i].last) return size;
  return 0;
}

size_t shoal_plain_size(const char *s, size_t left) {
  size_t size = 0;
  while (size < left && s[size] >= 0x20 && s[size] < 0x7f) size++;
  return size;
}

size_t shoal_escape_one(const char *s, size_t left, char out[SHOAL_ESCAPED_BYTES]) {
  uint32_t code;
  size_t size = shoal_unsafe_character(s, left, &code);
  if (!size) {
    size = shoal_utf8_size(s, left);
    memcpy(out, s, size);
    out[size] = '\0';
  } else if (size == 1) {
    (void)snprintf(out, SHOAL_ESCAPED_BYTES, "\\x%02x", (unsigned)(unsigned char)*s);
  } else {
    (void)snprintf(out, SHOAL_ESCAPED_BYTES, "\\u{%x}", (unsigned)code);
  }
  return size;
}

void shoal_escape(const char *string, char *out, size_t capacity) {
  size_t left = strlen(string), used = 0;
  out[0] = '\0';
  while (left) {
    char escaped[SHOAL_ESCAPED_BYTES];
    size_t taken = shoal_escape_one(string, left, escaped), size = strlen(escaped);
    if (used + size >= capacity) return;
    memcpy(out + used, escaped, size + 1);
    used += size;
    string += taken;
    left -= taken;
  }
}
