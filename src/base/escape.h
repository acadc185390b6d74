/* SPDX-License-Identifier: Apache-2.0 */
/*
 * base/escape: names, labels and paths come from others and are shown to people. A character that
 * could control a terminal, start a line, reorder or hide text is replaced by a visible escape:
 *
 *     C0 controls, DEL, bytes that are not UTF-8   \x0a, \x1b, \xff
 *     C1 controls, line separators, bidirectional
 *     controls, zero-width characters, tags        \u{9b}, \u{202e}, \u{200b}
 *
 * All text output goes through this file. JSON, YAML, HTML and SVG escape the same characters in
 * their own syntax. A backslash stays as it is, so escaping twice changes nothing.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum { SHOAL_ESCAPED_BYTES = 16 };

#define SHOAL_NO_CHARACTER UINT32_MAX

/*
 * The bytes of the character at `s`, of which `left` (at least 1) remain, if it must be escaped; 0:
 * it is safe. *code receives its number, or SHOAL_NO_CHARACTER for a byte that is not UTF-8.
 */
size_t shoal_unsafe_character(const char *s, size_t left, uint32_t *code);

/* The bytes at the start of `s` that are printable ASCII: a fast way over most text. */
size_t shoal_plain_size(const char *s, size_t left);

/* The character at `s` for people to read, NUL-terminated in `out`; returns the bytes it took. */
size_t shoal_escape_one(const char *s, size_t left, char out[SHOAL_ESCAPED_BYTES]);

/* Escapes a string into `out`. What does not fit into `capacity` (at least 1) is cut. */
void shoal_escape(const char *string, char *out, size_t capacity);
