/* SPDX-License-Identifier: Apache-2.0 */
/* read/postgresql_errors: which errors of the server are shown, and with which text. */
#include <string.h>

#include "read/postgresql.h"

#if SHOAL_POSTGRESQL

/* Classes of SQLSTATE whose messages name objects and settings, not values. */
static bool is_safe(const char *state) {
  static const char *const classes[] = {"08", "0A", "25", "28", "2B", "3D", "3F",
                                        "40", "42", "53", "54", "55", "57", "58"};
  for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
    if (strncmp(state, classes[i], 2) == 0) return true;
  return false;
}

/* What a state means, where the server's own text may quote a cell that it looked up as a name. */
static const char *meaning_of(const char *state) {
  static const char *const meanings[][2] = {
      {"08", "the connection was lost"},
      {"2BP01", "other objects depend on the table"},
      {"25", "the statement would write, and the transaction may not"},
      {"40", "another transaction changed the data meanwhile"},
      {"42501", "a right is missing"},
      {"53", "the server lacks disk, memory or connections"},
      {"57", "the server ended the statement"},
      {"58", "the server's system failed"},
  };
  for (size_t i = 0; i < sizeof meanings / sizeof *meanings; i++)
    if (strncmp(state, meanings[i][0], strlen(meanings[i][0])) == 0) return meanings[i][1];
  return "the server cannot do it";
}

/* Can the user correct it? Otherwise the server or the connection failed. */
static bool is_bad_input(const char *state) {
  static const char *const classes[] = {"0A", "22", "23", "25", "28", "2B", "3D", "3F", "42", "P0"};
  for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
    if (strncmp(state, classes[i], 2) == 0) return true;
  return false;
}

shoal_status shoal_pg_fail(shoal_pg *pg, PGresult *result, shoal_error *error) {
  const char *state = result ? PQresultErrorField(result, PG_DIAG_SQLSTATE) : NULL;
  memset(pg->state, 0, sizeof pg->state);
  if (state) memcpy(pg->state, state, strnlen(state, sizeof pg->state - 1));
  const char *message = result ? PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY) : NULL;
  shoal_location location = {.file = pg->name};
  shoal_status status;
  if (!state)
    status = shoal_fail_at(error, SHOAL_FAILED, &location,
                           "the connection to the server was lost: nothing was written");
  else if (message && is_safe(state) && !pg->has_cells)
    status = shoal_fail_at(error, is_bad_input(state) ? SHOAL_BAD_INPUT : SHOAL_FAILED, &location,
                           "the server says: %.1000s (%s)", message, state);
  else
    status = shoal_fail_at(error, is_bad_input(state) ? SHOAL_BAD_INPUT : SHOAL_FAILED, &location,
                           "%s: error %s of PostgreSQL (its text may contain values, so see the "
                           "server's log)",
                           meaning_of(state), state);
  PQclear(result);
  return status;
}

#endif
