/* SPDX-License-Identifier: Apache-2.0 */
/* base/error: location and message, escaped, as one line that is cut if it is too long. */
#define SHOAL_BASE_ERROR_C
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/escape.h"

static void error_clear(shoal_error *error, shoal_status status) {
  error->status = status;
  error->row = 0;
  error->column[0] = '\0';
  error->message[0] = '\0';
}

/* Appends to a fixed buffer, cutting what does not fit; returns the new end. */
SHOAL_PRINTF(4, 5)
static size_t append(char *out, size_t cap, size_t at, const char *format, ...) {
  va_list args;
  va_start(args, format);
  int printed = vsnprintf(out + at, cap - at, format, args);
  va_end(args);
  if (printed < 0) return at;
  size_t end = at + (size_t)printed;
  return end < cap ? end : cap - 1;
}

shoal_status shoal_fail(shoal_error *error, shoal_status status, const char *format, ...) {
  if (!error) return status;
  char message[sizeof error->message];
  va_list args;
  va_start(args, format);
  (void)vsnprintf(message, sizeof message, format, args);
  va_end(args);
  error_clear(error, status);
  shoal_escape(message, error->message, sizeof error->message);
  return status;
}

static size_t print_location(char *out, size_t cap, const shoal_location *location) {
  size_t at = 0;
  if (location->file) at = append(out, cap, at, "%s", location->file);
  if (location->line)
    at = append(out, cap, at, "%s%llu", at ? ":" : "line ", (unsigned long long)location->line);
  if (location->at) at = append(out, cap, at, ":%llu", (unsigned long long)location->at);
  if (location->row)
    at = append(out, cap, at, "%srow %llu", at ? ": " : "", (unsigned long long)location->row);
  if (location->column) {
    const char *before = location->row ? ", " : at ? ": " : "";
    at = append(out, cap, at, "%scolumn '%s'", before, location->column);
  }
  return at ? append(out, cap, at, ": ") : at;
}

shoal_status shoal_fail_at(shoal_error *error, shoal_status status, const shoal_location *location,
                           const char *format, ...) {
  if (!error) return status;
  char message[sizeof error->message];
  size_t at = print_location(message, sizeof message, location);
  va_list args;
  va_start(args, format);
  (void)vsnprintf(message + at, sizeof message - at, format, args);
  va_end(args);
  error_clear(error, status);
  error->row = location->row;
  if (location->column) (void)snprintf(error->column, sizeof error->column, "%s", location->column);
  shoal_escape(message, error->message, sizeof error->message);
  return status;
}

shoal_status shoal_fail_memory(shoal_error *error) {
  shoal_status status = shoal_fail(
      error, SHOAL_FAILED, "out of memory: close other programs, or use a machine with more");
  return shoal_fail_as(error, status, SHOAL_NO_MEMORY);
}

shoal_status shoal_fail_as(shoal_error *error, shoal_status status, shoal_status kind) {
  if (error && status != SHOAL_OK) error->status = kind;
  return status;
}

shoal_status shoal_unless_bad_input(shoal_status status, const shoal_error *found,
                                    shoal_error *error) {
  if (status == SHOAL_BAD_INPUT) return SHOAL_OK;
  if (status != SHOAL_OK && error) *error = *found;
  return status;
}
