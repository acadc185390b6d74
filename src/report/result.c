/* SPDX-License-Identifier: Apache-2.0 */
/* report/result: see result.h. */
#include "report/result.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

shoal_result *shoal_result_new(shoal_result_kind kind) {
  shoal_result *result = shoal_alloc_zero(1, sizeof *result);
  if (!result) return NULL;
  result->kind = kind;
  shoal_arena_init(&result->arena);
  return result;
}

void shoal_result_free(shoal_result *result) {
  if (!result) return;
  shoal_arena_reset(&result->arena);
  free(result);
}

const char *shoal_result_string(shoal_result *result, const char *bytes, size_t size_bytes) {
  shoal_text text;
  shoal_text_init(&text);
  shoal_text_add_utf8(&text, bytes, size_bytes);
  const char *copy =
      text.failed ? NULL : shoal_arena_copy(&result->arena, text.bytes, text.size_bytes);
  shoal_text_reset(&text);
  return copy;
}

shoal_status shoal_result_warn(shoal_result *result, shoal_error *error, const char *format, ...) {
  char warning[512];
  va_list args;
  va_start(args, format);
  (void)vsnprintf(warning, sizeof warning, format, args);
  va_end(args);
  size_t n = result->n_warnings;
  const char **grown = shoal_arena_alloc(&result->arena, n + 1, sizeof *grown);
  const char *copy = shoal_result_string(result, warning, strlen(warning));
  if (!grown || !copy) return shoal_fail_memory(error);
  if (n) memcpy(grown, result->warnings, n * sizeof *grown);
  grown[n] = copy;
  result->warnings = grown;
  result->n_warnings = n + 1;
  return SHOAL_OK;
}

bool shoal_result_holds(const shoal_result *result) { return result->holds; }

/* Control characters of labels or names must not steer a terminal: they become \\xNN. */
static char *printable(shoal_text *text) {
  shoal_text clean;
  shoal_text_init(&clean);
  for (size_t i = 0; i < text->size_bytes; i++) {
    unsigned char c = (unsigned char)text->bytes[i];
    if ((c < 0x20 && c != '\n') || c == 0x7f) shoal_text_print(&clean, "\\x%02x", c);
    else shoal_text_add_bytes(&clean, text->bytes + i, 1);
  }
  clean.failed = clean.failed || text->failed;
  shoal_text_reset(text);
  return shoal_text_take(&clean);
}

shoal_status shoal_result_render(const shoal_result *result, shoal_format format, char **out,
                                 shoal_error *error) {
  *out = NULL;
  if (format == SHOAL_JSON) return shoal_render_json(result, out, error);
  if (format != SHOAL_TEXT && format != SHOAL_HTML && result->kind != SHOAL_RESULT_LATTICE)
    return shoal_fail(error, SHOAL_BAD_INPUT, "only a lattice can be drawn: use text or json");
  shoal_text text;
  shoal_text_init(&text);
  switch (format) {
  case SHOAL_CSV: shoal_render_lattice_csv(result, &text); break;
  case SHOAL_DOT: shoal_render_lattice_dot(result, &text); break;
  case SHOAL_SVG: shoal_render_lattice_svg(result, &text); break;
  case SHOAL_HTML: shoal_render_html(result, &text); break;
  default: shoal_render_text(result, &text); break;
  }
  *out = format == SHOAL_TEXT ? printable(&text) : shoal_text_take(&text);
  return *out ? SHOAL_OK : shoal_fail_memory(error);
}
