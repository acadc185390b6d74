/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lattice/snapshots: classes of finished nodes, so that a node is rolled up from the smallest one
 * below it instead of from the tuples. Bounded in number and bytes; the least recently used goes.
 */
#ifndef SHOAL_LATTICE_SNAPSHOTS_H
#define SHOAL_LATTICE_SNAPSHOTS_H

#include "group/classes.h"

enum { SHOAL_SNAPSHOTS = 256 };

typedef struct shoal_snapshot {
  uint32_t *levels;
  shoal_classes classes;
  size_t bytes;
  uint64_t used; /* when, on the store's own clock */
} shoal_snapshot;

typedef struct shoal_snapshots {
  size_t n_levels;
  shoal_snapshot items[SHOAL_SNAPSHOTS];
  size_t n_items;
  size_t bytes;
  uint64_t clock;
} shoal_snapshots;

/*
 * The smallest classes at or below `levels`; `base` where none is stored. `sizes_only`: those
 * without sensitive values will do.
 */
const shoal_classes *shoal_snapshots_best(shoal_snapshots *store, const uint32_t *levels,
                                          bool sizes_only, const shoal_classes *base);

/* Takes the classes over, always: keeps them, or frees them where keeping them would not help. */
void shoal_snapshots_take(shoal_snapshots *store, const uint32_t *levels, shoal_classes *classes,
                          uint32_t n_source);

void shoal_snapshots_free(shoal_snapshots *store);

#endif
