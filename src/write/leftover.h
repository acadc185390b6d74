/* SPDX-License-Identifier: Apache-2.0 */
/*
 * write/leftover: what a killed run leaves behind, the next one in that directory removes. A
 * temporary file that has a name is locked by the run it belongs to, and the kernel lets the lock
 * go with the process: what can be locked belongs to nobody. Private to this folder.
 */
#ifndef SHOAL_WRITE_LEFTOVER_H
#define SHOAL_WRITE_LEFTOVER_H

#include <stdbool.h>

/* Locks a temporary file of ours. False: it was taken for a leftover in between; make another. */
bool shoal_leftover_hold(int fd);

/* Removes the leftovers of our own user in `directory`. What cannot be removed stays. */
void shoal_leftover_sweep(const char *directory);

/* Their names: this, 16 digits of hexadecimal, and the ending. */
#define SHOAL_LEFTOVER_PREFIX ".shoal-"
#define SHOAL_LEFTOVER_SUFFIX ".part"

#endif
