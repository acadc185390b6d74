/* SPDX-License-Identifier: Apache-2.0 */
/* cluster/flock_pair: see flock_pair.h. */
#include "cluster/flock_pair.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* No value of it is missing. */
static bool is_number(const shoal_axis *axis) {
  return axis->n_numbers && axis->n_numbers == axis->n_places;
}

bool shoal_flock_pair_init(shoal_flock_pair *pair, const shoal_herd *herd) {
  *pair = (shoal_flock_pair){.herd = herd};
  for (size_t q = 0; q < herd->n_axes; q++)
    if (!is_number(&herd->axes->items[q]) && !herd->axes->items[q].pairs) return true;
  pair->spans = shoal_alloc((size_t)herd->n_slots * herd->n_axes, sizeof *pair->spans);
  pair->pairs = shoal_alloc(herd->n_axes, sizeof *pair->pairs);
  if (!pair->spans || !pair->pairs) return false;
  for (size_t q = 0; q < herd->n_axes; q++)
    pair->pairs[q] = is_number(&herd->axes->items[q]) ? NULL : herd->axes->items[q].pairs;
  return true;
}

void shoal_flock_pair_reset(shoal_flock_pair *pair) {
  free(pair->spans);
  free(pair->pairs);
  memset(pair, 0, sizeof *pair);
}

void shoal_flock_pair_note(shoal_flock_pair *pair, uint32_t cluster) {
  size_t n = pair->herd->n_axes;
  const shoal_span *extent = pair->herd->extent + cluster * n;
  for (size_t q = 0; pair->spans && q < n; q++) {
    const shoal_axis *axis = &pair->herd->axes->items[q];
    shoal_span *span = &pair->spans[cluster * n + q];
    if (pair->pairs[q]) *span = (shoal_span){extent[q].lo * axis->n_places, extent[q].hi};
    else *span = (shoal_span){axis->from_least[extent[q].lo], axis->from_least[extent[q].hi]};
  }
}

uint32_t shoal_flock_pair_loss_slow(const shoal_flock_pair *pair, uint32_t a, uint32_t b) {
  size_t n = pair->herd->n_axes;
  const shoal_span *x = pair->herd->extent + a * n, *y = pair->herd->extent + b * n;
  uint32_t loss = 0;
  for (size_t q = 0; q < n; q++) {
    uint32_t lo = x[q].lo < y[q].lo ? x[q].lo : y[q].lo, hi = x[q].hi > y[q].hi ? x[q].hi : y[q].hi;
    loss += shoal_axis_loss(&pair->herd->axes->items[q], lo, hi);
  }
  return loss;
}
