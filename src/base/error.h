/* SPDX-License-Identifier: Apache-2.0 */
/* base/error: fills a caller-held shoal_error. A failing function ends with `return shoal_fail...`.
 */
#pragma once

#include "shoal/shoal.h"

#define SHOAL_PRINTF(f, a) __attribute__((format(printf, f, a)))

/* Where a problem is; zero or NULL fields are left out of the message. */
typedef struct shoal_location {
  const char *file;
  uint64_t line; /* of a text file: a policy */
  uint64_t at;   /* column of that line */
  uint64_t row;  /* of a table or hierarchy */
  const char *column;
} shoal_location;

/* Sets the error (which may be NULL) and returns `status`. */
shoal_status shoal_fail(shoal_error *error, shoal_status status, const char *format, ...)
    SHOAL_PRINTF(3, 4);

/* The same with a location: "file:line:at: …" or "file: row 3, column 'age': …". */
shoal_status shoal_fail_at(shoal_error *error, shoal_status status, const shoal_location *location,
                           const char *format, ...) SHOAL_PRINTF(4, 5);

/*
 * Inside of the library there are four kinds of failure: SHOAL_REFUSED, _BAD_INPUT, _FAILED and
 * _CANCELLED. The error has the status for the caller, which may be more exact: `kind`. Returns
 * `status`.
 */
shoal_status shoal_fail_as(shoal_error *error, shoal_status status, shoal_status kind);

/* Out of memory: SHOAL_FAILED, for the caller SHOAL_NO_MEMORY. */
shoal_status shoal_fail_memory(shoal_error *error);

/* For a step that may be left out: SHOAL_BAD_INPUT becomes SHOAL_OK. Any other failure is passed on
 * with its error. */
shoal_status shoal_unless_bad_input(shoal_status status, const shoal_error *found,
                                    shoal_error *error);

#define SHOAL_TRY(call)                                                                            \
  do {                                                                                             \
    shoal_status try_status_ = (call);                                                             \
    if (try_status_ != SHOAL_OK) return try_status_;                                               \
  } while (0)

/*
 * For static analysis, which does not see into error.c: the result is the status that was passed,
 * never SHOAL_OK.
 */
#if defined(__clang_analyzer__) && !defined(SHOAL_BASE_ERROR_C)
#define shoal_fail(error, status, ...)                                                             \
  ((void)(shoal_fail)((error), (status), __VA_ARGS__), (status))
#define shoal_fail_at(error, status, ...)                                                          \
  ((void)(shoal_fail_at)((error), (status), __VA_ARGS__), (status))
#define shoal_fail_memory(error) ((void)(shoal_fail_memory)(error), SHOAL_FAILED)
#endif
