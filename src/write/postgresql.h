/* SPDX-License-Identifier: Apache-2.0 */
/* write/postgresql: the steps of a release into PostgreSQL, for job/inside.c too. */
#pragma once

#include "read/postgresql.h"
#include "write/database.h"

#if SHOAL_POSTGRESQL

typedef struct shoal_pg_sink {
  shoal_pg pg;
  const shoal_address *address;
  char *table;        /* that is filled: quoted, with its schema */
  char *final, *name; /* what it becomes, with and without its schema */
  char *old_id;       /* of the table to be replaced; NULL: there is none */
} shoal_pg_sink;

/* Finds the names of the table, within a transaction of the open connection. SHOAL_BAD_INPUT if it
 * exists and must not be replaced. */
shoal_status shoal_pg_sink_find(shoal_pg_sink *sink, bool replace, const char *identity,
                                shoal_error *error) SHOAL_MUST_CHECK;
shoal_status shoal_pg_sink_comment(shoal_pg_sink *sink, const shoal_sink_plan *plan,
                                   shoal_error *error) SHOAL_MUST_CHECK;
/* As in shoal_sink_kind; `sink` is a shoal_pg_sink. */
shoal_status shoal_pg_sink_check(void *sink, const shoal_sink_plan *plan, uint64_t *n_violating,
                                 shoal_error *error) SHOAL_MUST_CHECK;
shoal_status shoal_pg_sink_commit(void *sink, shoal_error *error) SHOAL_MUST_CHECK;
/* Disconnects, and frees the names. */
void shoal_pg_sink_reset(shoal_pg_sink *sink);

#endif
