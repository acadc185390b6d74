/* SPDX-License-Identifier: Apache-2.0 */
/* api: the check of arguments that every public function makes before it calls the engine. */
#pragma once

#include "base/error.h"
#include "base/memory.h"

/* Returns SHOAL_BAD_INPUT from the calling function unless every pointer that it needs is given. */
#define SHOAL_NEED(given, error)                                                                   \
  do {                                                                                             \
    if (!(given))                                                                                  \
      return shoal_fail(error, SHOAL_BAD_INPUT, "%s: an argument is NULL (%s)", __func__, #given); \
  } while (0)

/* The same for values: of enums, and limits. */
#define SHOAL_NEED_VALUE(valid, error)                                                             \
  do {                                                                                             \
    if (!(valid))                                                                                  \
      return shoal_fail(error, SHOAL_BAD_INPUT, "%s: an argument is out of range (%s)", __func__,  \
                        #valid);                                                                   \
  } while (0)

/* A NULL, an option struct of version 0.1, or one of this version? */
#define SHOAL_NEED_SIZE(options, error)                                                            \
  do {                                                                                             \
    if ((options) && (options)->struct_size && (options)->struct_size != sizeof *(options))        \
      return shoal_fail(error, SHOAL_BAD_INPUT,                                                    \
                        "%s: struct_size of %s is that of another version of shoal", __func__,     \
                        #options);                                                                 \
  } while (0)

/*
 * Every function that can fail begins with it, so that there is an error to take the status from,
 * and ends with shoal_answer: errors have more kinds of status than the engine returns (error.h).
 */
#define SHOAL_BEGIN(error)                                                                         \
  shoal_error unused_error_;                                                                       \
  if (!(error)) (error) = &unused_error_;                                                          \
  (error)->status = SHOAL_OK

static inline shoal_status shoal_answer(shoal_status status, const shoal_error *error) {
  return status != SHOAL_OK && error->status != SHOAL_OK ? error->status : status;
}

/* Are n tables given, none of them NULL? */
static inline bool shoal_tables_given(const shoal_table *const *tables, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (!tables || !tables[i]) return false;
  return true;
}
