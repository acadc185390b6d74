/* SPDX-License-Identifier: Apache-2.0 */
/* base/sort: sorts integers. A key of 64 bits can carry an index in its low bits. */
#ifndef SHOAL_BASE_SORT_H
#define SHOAL_BASE_SORT_H

#include <stddef.h>
#include <stdint.h>

/* Ascending. */
void shoal_sort_keys(uint64_t *keys, size_t n);
void shoal_sort_u32(uint32_t *values, size_t n);

#endif
