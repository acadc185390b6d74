/* SPDX-License-Identifier: Apache-2.0 */
/* cluster/sets: lists of the positions that a class has on a set axis. */
#include <string.h>

#include "cluster/axes.h"

enum { TOO_MANY = SHOAL_MAX_SET + 1 };

void shoal_set_insert(uint32_t *set, uint32_t position) {
  if (set[0] == TOO_MANY || shoal_set_contains(set, position)) return;
  uint32_t at = ++set[0];
  if (at == TOO_MANY) return;
  for (; at > 1 && set[at - 1] > position; at--) set[at] = set[at - 1];
  set[at] = position;
}

void shoal_box_add_sets(const shoal_axes *axes, shoal_span *box, const uint32_t *positions) {
  for (size_t q = 0; q < axes->n; q++)
    if (axes->items[q].kind == SHOAL_AXIS_SET)
      shoal_set_insert(shoal_box_set(&axes->items[q], box), positions[q]);
}

uint32_t shoal_set_union_size(const uint32_t *a, const uint32_t *b) {
  uint32_t n = 0, i = 1, j = 1;
  if (a[0] == TOO_MANY || b[0] == TOO_MANY) return TOO_MANY;
  for (; i <= a[0] && j <= b[0]; n++) {
    uint32_t x = a[i], y = b[j];
    i += x <= y;
    j += y <= x;
  }
  n += a[0] + 1 - i + b[0] + 1 - j;
  return n < TOO_MANY ? n : TOO_MANY;
}

void shoal_set_join(uint32_t *set, const uint32_t *other) {
  if (other[0] == TOO_MANY) set[0] = TOO_MANY;
  for (uint32_t i = 1; i <= other[0] && set[0] != TOO_MANY; i++) shoal_set_insert(set, other[i]);
}

void shoal_set_intersect(uint32_t *set, const uint32_t *other) {
  if (other[0] == TOO_MANY) return;
  if (set[0] == TOO_MANY) {
    memcpy(set, other, (other[0] + 1) * sizeof *set);
    return;
  }
  uint32_t n = 0;
  for (uint32_t i = 1; i <= set[0]; i++)
    if (shoal_set_contains(other, set[i])) set[++n] = set[i];
  set[0] = n;
}
