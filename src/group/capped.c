/* SPDX-License-Identifier: Apache-2.0 */
/*
 * group/capped: of each class the smallest distinct values of a column, up to a cap. They say
 * whether a class has that many, and cost little where most values repeat: a list that is full
 * rejects larger values at once.
 */
#include <stdlib.h>
#include <string.h>

#include "group/frequency.h"

bool shoal_capped_lists_init(shoal_capped_lists *lists, uint32_t n_classes, uint32_t cap,
                             const uint64_t *most) {
  *lists = (shoal_capped_lists){.n_classes = n_classes,
                                .cap = cap,
                                .start = shoal_alloc((size_t)n_classes + 1, sizeof *lists->start),
                                .length = shoal_alloc_zero(n_classes, sizeof *lists->length)};
  size_t room = 0;
  for (uint32_t c = 0; lists->start && c < n_classes; c++) {
    lists->start[c] = room;
    room += most[c] < cap ? (size_t)most[c] : cap;
  }
  if (lists->start) lists->start[n_classes] = room;
  lists->value = shoal_alloc(room, sizeof *lists->value);
  if (lists->start && lists->length && lists->value) return true;
  free(lists->start);
  free(lists->length);
  free(lists->value);
  return false;
}

void shoal_capped_lists_add(shoal_capped_lists *lists, uint32_t c, uint32_t value) {
  uint32_t *list = lists->value + lists->start[c], n = lists->length[c];
  if (n == lists->cap && value >= list[n - 1]) return;
  uint32_t low = 0, high = n; /* the first that is not below the value */
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (list[middle] < value) low = middle + 1;
    else high = middle;
  }
  if (low < n && list[low] == value) return;
  uint32_t kept = n < lists->cap ? n : n - 1; /* a full list drops its last value */
  memmove(list + low + 1, list + low, (kept - low) * sizeof *list);
  list[low] = value;
  lists->length[c] = kept + 1;
}

void shoal_capped_lists_take(shoal_capped_lists *lists, uint32_t n_values, shoal_histogram *out) {
  size_t kept = 0;
  for (uint32_t c = 0; c < lists->n_classes; c++) {
    uint32_t n = lists->length[c];
    memmove(lists->value + kept, lists->value + lists->start[c], n * sizeof *lists->value);
    lists->start[c] = kept;
    kept += n;
  }
  lists->start[lists->n_classes] = kept;
  *out = (shoal_histogram){
      .n_values = n_values, .cap = lists->cap, .start = lists->start, .value = lists->value};
  free(lists->length);
}
