/* SPDX-License-Identifier: Apache-2.0 */
/* base/sort: sorts integers, ascending. A 64-bit key can carry an index in its low bits. */
#pragma once

#include <stddef.h>
#include <stdint.h>

void shoal_sort_u64(uint64_t *keys, size_t n);
void shoal_sort_u32(uint32_t *values, size_t n);
