/* SPDX-License-Identifier: Apache-2.0 */
/* base/text: a growing string, whole-number and word helpers. */
#ifndef SHOAL_BASE_TEXT_H
#define SHOAL_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A growing string. Appending never fails visibly: without memory `failed` is set and the rest is
 * dropped, so that a writer checks once, at the end. Always NUL-terminated once non-empty.
 */
typedef struct shoal_text {
  char *bytes;
  size_t size_bytes;
  size_t capacity;
  bool failed;
} shoal_text;

void shoal_text_init(shoal_text *text);
void shoal_text_reset(shoal_text *text); /* frees */
void shoal_text_add(shoal_text *text, const char *string);
void shoal_text_add_bytes(shoal_text *text, const char *bytes, size_t size_bytes);
void shoal_text_print(shoal_text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* 1234567 as "1,234,567". */
void shoal_text_add_count(shoal_text *text, uint64_t n);
/* Characters of valid UTF-8 text: what the eye counts. */
size_t shoal_text_width(const char *string);
/* The string, and blanks up to that width. */
void shoal_text_add_padded(shoal_text *text, const char *string, size_t width);
/* Hands the string over (never NULL unless failed), to be freed by the caller; resets `text`. */
char *shoal_text_take(shoal_text *text);

/* Bytes as valid UTF-8: what is not becomes \xNN. For reports, which must be valid JSON. */
void shoal_text_add_utf8(shoal_text *text, const char *bytes, size_t size_bytes);

bool shoal_ends_with(const char *string, const char *ending);

/* Bytes that, at the start of a file, are no text: a byte-order mark, or what gzip and zstd begin
 * with. */
bool shoal_starts_oddly(const char *bytes, size_t size_bytes);

/* The word of `words` (ended by NULL) that is most like `word`, or NULL if none is near. */
const char *shoal_nearest_word(const char *word, const char *const *words);

#endif
