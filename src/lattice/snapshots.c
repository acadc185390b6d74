/* SPDX-License-Identifier: Apache-2.0 */
/* lattice/snapshots: see snapshots.h. */
#include "lattice/snapshots.h"

#include <stdlib.h>
#include <string.h>

#define MAX_BYTES ((size_t)256 << 20)

static bool at_or_below(const uint32_t *a, const uint32_t *b, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (a[i] > b[i]) return false;
  return true;
}

const shoal_classes *shoal_snapshots_best(shoal_snapshots *store, const uint32_t *levels,
                                          bool sizes_only, const shoal_classes *base) {
  shoal_snapshot *best = NULL;
  for (size_t i = 0; i < store->n_items; i++) {
    shoal_snapshot *item = &store->items[i];
    if (item->classes.sizes_only && !sizes_only) continue;
    if ((!best || item->classes.n_classes < best->classes.n_classes) &&
        at_or_below(item->levels, levels, store->n_levels))
      best = item;
  }
  if (!best) return base;
  best->used = ++store->clock;
  return &best->classes;
}

static void drop(shoal_snapshots *store, size_t i) {
  shoal_snapshot *item = &store->items[i];
  store->bytes -= item->bytes;
  free(item->levels);
  shoal_classes_reset(&item->classes);
  *item = store->items[--store->n_items];
}

static void drop_oldest(shoal_snapshots *store) {
  size_t oldest = 0;
  for (size_t i = 1; i < store->n_items; i++)
    if (store->items[i].used < store->items[oldest].used) oldest = i;
  drop(store, oldest);
}

void shoal_snapshots_take(shoal_snapshots *store, const uint32_t *levels, shoal_classes *classes,
                          uint32_t n_source) {
  size_t bytes = shoal_classes_bytes(classes);
  uint32_t *copy = NULL;
  /* One that is hardly smaller than what it came from saves nothing later. */
  bool helps = classes->n_classes < n_source - n_source / 8 && bytes <= MAX_BYTES / 4;
  if (helps) copy = shoal_alloc(store->n_levels, sizeof *copy);
  if (!copy) {
    shoal_classes_reset(classes);
    return;
  }
  while (store->n_items && (store->n_items == SHOAL_SNAPSHOTS || store->bytes + bytes > MAX_BYTES))
    drop_oldest(store);
  memcpy(copy, levels, store->n_levels * sizeof *copy);
  store->items[store->n_items++] = (shoal_snapshot){copy, *classes, bytes, ++store->clock};
  store->bytes += bytes;
  memset(classes, 0, sizeof *classes);
}

void shoal_snapshots_free(shoal_snapshots *store) {
  if (!store) return;
  while (store->n_items) drop(store, store->n_items - 1);
  free(store);
}
