/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cli/words: see words.h. The nearest word is the one of least edit distance, where two letters
 * that changed places count once (Damerau 1964): the usual slips of a hand at a keyboard. A
 * beginning of a word counts as near to the word.
 */
#include "cli/words.h"

#include <stdarg.h>
#include <string.h>

enum { MAX_WORD = 48, LINE_COLUMNS = 80 };

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

/* Three rows of the distance table are enough: this one and the two before it. */
static size_t edit_distance(const char *from, const char *to) {
  size_t rows[3][MAX_WORD + 1];
  size_t n_from = strlen(from), n_to = strlen(to);
  if (n_from > MAX_WORD || n_to > MAX_WORD) return SIZE_MAX;
  size_t *before = rows[0], *last = rows[1], *now = rows[2];
  for (size_t j = 0; j <= n_to; j++) before[j] = last[j] = j;
  for (size_t i = 1; i <= n_from; i++) {
    now[0] = i;
    for (size_t j = 1; j <= n_to; j++) {
      size_t changed = last[j - 1] + (from[i - 1] == to[j - 1] ? 0 : 1);
      now[j] = least(changed, least(last[j], now[j - 1]) + 1);
      bool swapped = i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1];
      if (swapped) now[j] = least(now[j], before[j - 2] + 1);
    }
    size_t *oldest = before;
    before = last;
    last = now;
    now = oldest;
  }
  return last[n_to];
}

const char *cli_nearest_word(const char *word, const char *const *words, size_t n) {
  size_t length = strlen(word);
  size_t best = length < 4 ? 2 : length / 3 + 2; /* first distance that is too far */
  const char *nearest = NULL;
  for (size_t i = 0; i < n; i++) {
    size_t distance = edit_distance(word, words[i]);
    if (length >= 2 && !strncmp(word, words[i], length)) distance = 1;
    if (distance >= best) continue;
    best = distance;
    nearest = words[i];
  }
  return nearest;
}

void cli_wrap(FILE *out, const char *text, size_t indent, size_t column) {
  bool at_start = true;
  while (*text) {
    size_t size = strcspn(text, " ");
    if (!at_start && column + 1 + size > LINE_COLUMNS) {
      fputc('\n', out);
      column = 0;
      at_start = true;
    }
    if (at_start && column < indent) {
      fprintf(out, "%*s", (int)(indent - column), "");
      column = indent;
    } else if (!at_start) {
      fputc(' ', out);
      column++;
    }
    fwrite(text, 1, size, out);
    column += size;
    at_start = false;
    text += size;
    text += strspn(text, " ");
  }
  fputc('\n', out);
}

shoal_status cli_fail(shoal_error *error, shoal_status status, const char *format, ...) {
  *error = (shoal_error){.status = status};
  va_list args;
  va_start(args, format);
  (void)vsnprintf(error->message, sizeof error->message, format, args);
  va_end(args);
  return status;
}

shoal_status cli_fail_memory(shoal_error *error) {
  return cli_fail(error, SHOAL_FAILED,
                  "out of memory: close other programs, or use a machine with more");
}

void cli_complain(const shoal_error *error) {
  char line[sizeof error->message];
  size_t size = strnlen(error->message, sizeof line - 1);
  for (size_t i = 0; i < size; i++) {
    unsigned char byte = (unsigned char)error->message[i];
    line[i] = byte < 0x20 || byte == 0x7f ? '?' : (char)byte;
  }
  line[size] = '\0';
  fprintf(stderr, "shoal: %s\n", size ? line : "failed for a reason it did not tell");
}
