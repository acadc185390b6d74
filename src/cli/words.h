/* SPDX-License-Identifier: Apache-2.0 */
/* cli/words: what the screens and messages share: the nearest word, wrapped text, error lines. */
#ifndef SHOAL_CLI_WORDS_H
#define SHOAL_CLI_WORDS_H

#include <stddef.h>
#include <stdio.h>

#include "shoal/shoal.h"

/* The one of `n` words that `word` was most likely meant to be, or NULL if none is near. */
const char *cli_nearest_word(const char *word, const char *const *words, size_t n);

/* Text from column `indent` on, in lines of at most 80 columns; the cursor stands at `column`. */
void cli_wrap(FILE *out, const char *text, size_t indent, size_t column);

/* Fills the error and returns `status`: `return cli_fail(...)`. */
shoal_status cli_fail(shoal_error *error, shoal_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* No memory: SHOAL_FAILED. */
shoal_status cli_fail_memory(shoal_error *error);

/* "shoal: MESSAGE" on standard error: one line, whatever bytes a name in it has. */
void cli_complain(const shoal_error *error);

#endif
