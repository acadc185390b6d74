/* SPDX-License-Identifier: Apache-2.0 */
/*
 * read/ahead: a thread that makes bytes a few buffers ahead of who takes them, for content that is
 * slow to come by, such as compressed files. Private to this folder.
 */
#ifndef SHOAL_READ_AHEAD_H
#define SHOAL_READ_AHEAD_H

#include "base/error.h"

typedef struct shoal_ahead shoal_ahead;

/* Makes up to `capacity` bytes; *size_bytes 0: the end. Called by the thread only. */
typedef shoal_status (*shoal_make_fn)(void *user, char *bytes, size_t capacity, size_t *size_bytes,
                                      shoal_error *error);

/* NULL: no memory, or no thread. */
shoal_ahead *shoal_ahead_start(shoal_make_fn make, void *user);

/*
 * Takes up to `capacity` bytes; *size_bytes 0: the end, or the failure that ended the making. While
 * there are none yet, `idle` (which may be NULL) is called several times a second; if it returns
 * true the taking ends with SHOAL_CANCELLED.
 */
shoal_status shoal_ahead_take(shoal_ahead *ahead, char *bytes, size_t capacity, size_t *size_bytes,
                              bool (*idle)(void *user), void *idle_user,
                              shoal_error *error) SHOAL_MUST_CHECK;

/* Is the thread to end? For what makes bytes and may have to wait. */
bool shoal_ahead_stopping(shoal_ahead *ahead);

/* Ends the thread and frees all; accepts NULL. */
void shoal_ahead_stop(shoal_ahead *ahead);

#endif
