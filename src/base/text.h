/* SPDX-License-Identifier: Apache-2.0 */
/* base/text: a growing string, and questions about words and cells. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/memory.h"

/* snprintf and strtod for fractions: with a decimal point in every locale. */
int shoal_print_double(char *out, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
double shoal_parse_double(const char *text, char **end);

/*
 * A growing string. Appending reports no errors: without memory `failed` is set and the rest is
 * dropped, so the writer checks once, at the end. NUL-terminated once non-empty.
 */
typedef struct shoal_text {
  char *bytes;
  size_t size_bytes;
  size_t capacity;
  bool failed;
  /* Adds the strings of shoal_text_print and _add_padded; NULL: as they are. */
  void (*add_string)(struct shoal_text *text, const char *bytes, size_t size_bytes);
} shoal_text;

void shoal_text_init(shoal_text *text);
/* For people to read: with shoal_text_add_escaped. Add names, labels and paths with
 * shoal_text_print, not shoal_text_add. */
void shoal_text_init_escaped(shoal_text *text);
void shoal_text_reset(shoal_text *text); /* frees */
void shoal_text_add(shoal_text *text, const char *string);
void shoal_text_add_bytes(shoal_text *text, const char *bytes, size_t size_bytes);
/* In double quotes, with each quote doubled: a cell of a CSV file. */
void shoal_text_add_quoted(shoal_text *text, const char *bytes, size_t size_bytes);
/* One line of readable UTF-8, see base/escape.h. */
void shoal_text_add_escaped(shoal_text *text, const char *bytes, size_t size_bytes);
/* As printf, with a decimal point in every locale; with add_string only of strings, integers,
 * characters and doubles. */
void shoal_text_print(shoal_text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Removes everything after the first `size_bytes` bytes. */
void shoal_text_cut(shoal_text *text, size_t size_bytes);
/* A number in words, to be printed at once: shoal_text_print(t, "%s left",
 * shoal_say_count(n).text).
 */
typedef struct shoal_phrase {
  char text[96];
} shoal_phrase;

/* "1,234" */
shoal_phrase shoal_say_count(uint64_t n);
void shoal_text_add_count(shoal_text *text, uint64_t n);
/* Characters of valid UTF-8 text. */
size_t shoal_text_width(const char *string);
/* The string, and blanks up to that width. */
void shoal_text_add_padded(shoal_text *text, const char *string, size_t width);
/* Hands the string over (never NULL unless failed), to be freed by the caller; resets `text`. */
char *shoal_text_take(shoal_text *text);

/* Appends bytes as valid UTF-8: other bytes become \xNN. For reports, which must be valid JSON. */
void shoal_text_add_utf8(shoal_text *text, const char *bytes, size_t size_bytes);

/* The bytes of the UTF-8 character at `s`, of which `left` (at least 1) remain; 0: not UTF-8. */
size_t shoal_utf8_size(const char *s, size_t left);

/* A copy of the bytes in the arena, as valid UTF-8 in the same way; NULL: no memory. */
const char *shoal_arena_copy_utf8(shoal_arena *arena, const char *bytes, size_t size_bytes);

bool shoal_ends_with(const char *string, const char *ending);

/* Would a file that starts with these bytes not be read as text: a byte-order mark, gzip, zstd,
 * zip? */
bool shoal_starts_oddly(const char *bytes, size_t size_bytes);

/* The word of `words` (ended by NULL) that is most like `word`, or NULL if none is near. */
const char *shoal_nearest_word(const char *word, const char *const *words);

/*
 * Would a spreadsheet run this cell as a formula instead of showing it (CSV injection, OWASP)? Then
 * a release may have an apostrophe before it. The cell begins with =, +, -, @, one of their
 * full-width forms, a tab or a carriage return and is not a number; or it is such a cell or number
 * after apostrophes, so that different cells stay different when they are quoted.
 */
bool shoal_is_formula(const char *bytes, size_t size_bytes);

/* Is this such a cell with its apostrophe? Its first byte is the apostrophe. */
bool shoal_is_quoted_formula(const char *bytes, size_t size_bytes);
