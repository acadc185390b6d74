/* SPDX-License-Identifier: Apache-2.0 */
/* cluster/row_order: an order of tuples in which neighbours are similar; see row_order.c. */
#ifndef SHOAL_CLUSTER_ROW_ORDER_H
#define SHOAL_CLUSTER_ROW_ORDER_H

#include "cluster/axes.h"

/*
 * Writes all tuples to `order`. `weight` is the rows of each tuple; cuts leave rows of at least
 * min_weight on each side where they can.
 */
shoal_status shoal_row_order(const shoal_axes *axes, const uint32_t *weight, uint64_t min_weight,
                             const shoal_run *run, uint32_t *order,
                             shoal_error *error) SHOAL_MUST_CHECK;

#endif
