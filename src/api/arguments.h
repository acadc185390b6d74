/* SPDX-License-Identifier: Apache-2.0 */
/* api: the check of arguments that every public function makes before it calls the engine. */
#ifndef SHOAL_API_ARGUMENTS_H
#define SHOAL_API_ARGUMENTS_H

#include "base/error.h"

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

/* Are n tables given, none of them NULL? */
static inline bool shoal_tables_given(const shoal_table *const *tables, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (!tables || !tables[i]) return false;
  return true;
}

#endif
