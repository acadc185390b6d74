/* SPDX-License-Identifier: Apache-2.0 */
/* base/sort: sorting by keys; what a key stands for is packed into its low bits. */
#ifndef SHOAL_BASE_SORT_H
#define SHOAL_BASE_SORT_H

#include <stddef.h>
#include <stdint.h>

/* Ascending. */
void shoal_sort_keys(uint64_t *keys, size_t n);

#endif
