/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster/flock_trial: moves that are kept only if they serve the aim. What a trial touches is
 * remembered as it was; see flock.h.
 */
#include <string.h>

#include "base/memory.h"
#include "cluster/flock.h"

void shoal_trial_begin(shoal_herd *h) {
  h->n_moved = 0;
  h->n_saved = 0;
}

static bool make_room(shoal_herd *h) {
  size_t capacity = h->saved_capacity;
  if (h->n_saved < capacity) return true;
  size_t wanted = capacity ? 2 * capacity : 32;
  shoal_saved *saved = shoal_resize(h->saved, wanted, sizeof *saved);
  if (saved) h->saved = saved;
  shoal_span *extent = shoal_resize(h->saved_extent, wanted * h->n_axes, sizeof *extent);
  if (extent) h->saved_extent = extent;
  uint32_t *losses = shoal_resize(h->saved_losses, wanted * h->n_axes, sizeof *losses);
  if (losses) h->saved_losses = losses;
  shoal_variety *variety = shoal_resize(h->saved_variety, wanted * h->n_counts, sizeof *variety);
  if (variety) h->saved_variety = variety;
  if (!saved || !extent || !losses || !variety) return false;
  h->saved_capacity = wanted;
  return true;
}

/* Remembers a cluster's figures; NULL without memory. */
static shoal_saved *touch(shoal_herd *h, uint32_t c) {
  if (h->saved_at[c]) return &h->saved[h->saved_at[c] - 1];
  if (!make_room(h)) return NULL;
  size_t i = h->n_saved++, q = h->n_axes, n = h->n_counts;
  h->saved_at[c] = (uint32_t)i + 1;
  h->saved[i] = (shoal_saved){c, h->size[c], h->loss[c], false};
  memcpy(h->saved_extent + i * q, h->extent + (size_t)c * q, q * sizeof *h->extent);
  memcpy(h->saved_losses + i * q, h->axis_loss + (size_t)c * q, q * sizeof *h->axis_loss);
  if (n) memcpy(h->saved_variety + i * n, shoal_herd_variety(h, c, 0), n * sizeof *h->variety);
  return &h->saved[i];
}

bool shoal_trial_move(shoal_herd *h, uint32_t row, uint32_t to) {
  uint32_t from = h->cluster_of[row];
  shoal_saved *left = touch(h, from);
  if (left) left->stale = true;
  bool ok =
      left && touch(h, to) &&
      shoal_grow(&h->moved, &h->moved_capacity, (size_t)h->n_moved + 1, sizeof *h->moved) &&
      shoal_grow(&h->moved_from, &h->from_capacity, (size_t)h->n_moved + 1, sizeof *h->moved_from);
  if (!ok) {
    h->failed = true;
    return false;
  }
  h->moved[h->n_moved] = row;
  h->moved_from[h->n_moved++] = from;
  shoal_herd_unlink(h, row);
  h->size[from]--;
  shoal_herd_join(h, row, to);
  return true;
}

void shoal_trial_settle(shoal_herd *h) {
  for (size_t i = 0; i < h->n_saved; i++) {
    if (!h->saved[i].stale) continue;
    uint64_t changed = h->changed[h->saved[i].cluster];
    shoal_herd_refresh(h, h->saved[i].cluster);
    h->changed[h->saved[i].cluster] = changed;
    h->saved[i].stale = false;
  }
}

void shoal_trial_undo(shoal_herd *h) {
  while (h->n_moved) {
    uint32_t row = h->moved[--h->n_moved];
    shoal_herd_unlink(h, row);
    shoal_herd_link(h, row, h->moved_from[h->n_moved]);
  }
  size_t q = h->n_axes, n = h->n_counts;
  for (size_t i = 0; i < h->n_saved; i++) {
    uint32_t c = h->saved[i].cluster;
    h->size[c] = h->saved[i].size;
    h->loss[c] = h->saved[i].loss;
    memcpy(h->extent + (size_t)c * q, h->saved_extent + i * q, q * sizeof *h->extent);
    memcpy(h->axis_loss + (size_t)c * q, h->saved_losses + i * q, q * sizeof *h->axis_loss);
    if (n) memcpy(shoal_herd_variety(h, c, 0), h->saved_variety + i * n, n * sizeof *h->variety);
    h->saved_at[c] = 0;
  }
  h->n_saved = 0;
}

bool shoal_trial_has_moved(const shoal_herd *h, uint32_t row) {
  for (uint32_t i = 0; i < h->n_moved; i++)
    if (h->moved[i] == row) return true;
  return false;
}

void shoal_trial_keep(shoal_herd *h) {
  shoal_trial_settle(h);
  for (size_t i = 0; i < h->n_saved; i++) h->saved_at[h->saved[i].cluster] = 0;
  h->n_saved = h->n_moved = 0;
}

/* Is the aim served by what was moved? */
static bool is_better(const shoal_herd *h) {
  uint64_t before = 0, after = 0, squares_before = 0, squares_after = 0;
  for (size_t i = 0; i < h->n_saved; i++) {
    const shoal_saved *s = &h->saved[i];
    uint64_t size = h->size[s->cluster];
    before += (uint64_t)s->size * s->loss;
    after += shoal_herd_cost(h, s->cluster);
    squares_before += (uint64_t)s->size * s->size;
    squares_after += size * size;
    if (!size && s->size && h->aim != SHOAL_AIM_IL) return false; /* clusters are dear */
  }
  return after < before && (h->aim != SHOAL_AIM_DM || squares_after <= squares_before);
}

bool shoal_trial_end(shoal_herd *h) {
  shoal_trial_settle(h);
  bool keep = is_better(h) && !h->failed;
  for (size_t i = 0; keep && i < h->n_saved; i++)
    keep = !h->size[h->saved[i].cluster] || shoal_herd_fits(h, h->saved[i].cluster);
  if (!keep || h->failed) {
    shoal_trial_undo(h);
    return false;
  }
  h->clock++;
  for (size_t i = 0; i < h->n_saved; i++) {
    uint32_t c = h->saved[i].cluster;
    h->changed[c] = h->clock;
    h->saved_at[c] = 0;
    if (!h->size[c]) shoal_herd_release(h, c);
  }
  h->n_saved = h->n_moved = 0;
  return true;
}
