/* SPDX-License-Identifier: Apache-2.0 */
/* write/order: the rows of a release in the order in which shoal_csv_write writes them. */
#pragma once

#include "write/csv.h"

/* How many rows are released, each as often as its count says. */
uint64_t shoal_order_count(const shoal_csv_plan *out);

/* Fills `rows` with the numbers of their rows in the plan's table. `random` as in shoal_csv_write.
 * False: no memory. */
bool shoal_order_make(const shoal_csv_plan *out, shoal_random *random, uint64_t *rows);
