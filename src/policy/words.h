/* SPDX-License-Identifier: Apache-2.0 */
/* policy/words: words of a policy as they stand in messages. They are the steward's, not data. */
#ifndef SHOAL_POLICY_WORDS_H
#define SHOAL_POLICY_WORDS_H

#include <stddef.h>

enum { SHOAL_QUOTE_CHARACTERS = 60, SHOAL_ADVICE_BYTES = 640 };

/* A word made safe for one line of a message: at most 60 characters, nothing unprintable. */
typedef struct shoal_quoted {
  char text[SHOAL_QUOTE_CHARACTERS * 4 + 8];
} shoal_quoted;

/* Used inside a call: printf("'%s'", shoal_quote(word).text). */
shoal_quoted shoal_quote(const char *word);

/* "; did you mean 'models'? Here one of: k, p, models", or ". Here one of: ...". */
typedef struct shoal_advice {
  char text[SHOAL_ADVICE_BYTES];
} shoal_advice;

/* What to write instead of `word`, one of `words` (ended by NULL). */
shoal_advice shoal_advise(const char *word, const char *const *words);

/* The bytes of the UTF-8 character at `s`, of which `left` bytes (at least 1) remain; 0: none. */
size_t shoal_utf8_size(const char *s, size_t left);

#endif
