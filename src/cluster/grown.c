/* SPDX-License-Identifier: Apache-2.0 */
/* cluster/grown: see grown.h. */
#include "cluster/grown.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "cluster/rowtree.h"

enum { ROWS_A_REPORT = 256 };

void shoal_grown_reset(shoal_grown *grown) {
  free(grown->order);
  free(grown->extents);
  free(grown->n_rows);
  free(grown->loss);
  free(grown->first_row);
  free(grown->next_row);
  memset(grown, 0, sizeof *grown);
}

shoal_status shoal_grown_init(shoal_grown *grown, const shoal_axes *axes, uint64_t capacity,
                              shoal_error *error) {
  *grown = (shoal_grown){.axes = axes, .capacity = (uint32_t)capacity};
  if (capacity >= SHOAL_NO_ROW || axes->n > SIZE_MAX / ((size_t)capacity + 1))
    return shoal_fail_memory(error);
  grown->order = shoal_alloc((size_t)capacity, sizeof *grown->order);
  grown->extents = shoal_alloc((size_t)capacity * axes->n, sizeof *grown->extents);
  grown->n_rows = shoal_alloc_zero((size_t)capacity, sizeof *grown->n_rows);
  grown->loss = shoal_alloc_zero((size_t)capacity, sizeof *grown->loss);
  grown->first_row = shoal_alloc((size_t)capacity, sizeof *grown->first_row);
  grown->next_row = shoal_alloc((size_t)axes->n_rows, sizeof *grown->next_row);
  if (!grown->order || !grown->extents || !grown->n_rows || !grown->loss || !grown->first_row ||
      !grown->next_row) {
    shoal_grown_reset(grown);
    return shoal_fail_memory(error);
  }
  for (uint32_t c = 0; c < grown->capacity; c++) {
    grown->order[c] = c;
    grown->first_row[c] = SHOAL_NO_ROW;
  }
  return SHOAL_OK;
}

void shoal_grown_add(shoal_grown *grown, uint32_t cluster, uint32_t row) {
  shoal_span *extent = shoal_grown_extent(grown, cluster);
  const uint32_t *places = shoal_axes_row(grown->axes, row);
  if (grown->n_rows[cluster]++) shoal_extent_add(grown->axes, extent, places);
  else shoal_extent_start(grown->axes, extent, places);
  grown->loss[cluster] = shoal_extent_loss(grown->axes, extent);
  grown->next_row[row] = grown->first_row[cluster];
  grown->first_row[cluster] = row;
}

void shoal_grown_clear(shoal_grown *grown, uint32_t cluster) {
  grown->n_rows[cluster] = 0;
  grown->loss[cluster] = 0;
  grown->first_row[cluster] = SHOAL_NO_ROW;
}

/* ------------------------------------------------------------ the partition */

/*
 * The first in the order whose information loss grows least. It grows by what its rows lose already
 * at least, which spares looking at most of the clusters.
 */
static uint32_t least_growth(const shoal_grown *grown, uint32_t n, uint32_t row) {
  const uint32_t *places = shoal_axes_row(grown->axes, row);
  uint64_t least = UINT64_MAX;
  uint32_t best = 0;
  for (uint32_t i = 0; i < n; i++) {
    uint32_t c = grown->order[i];
    if (grown->loss[c] >= least) continue;
    uint32_t loss = shoal_extent_loss_with(grown->axes, shoal_grown_extent(grown, c), places);
    uint64_t increase = shoal_grown_increase(grown, c, loss);
    if (increase >= least) continue;
    least = increase;
    best = i;
  }
  return best;
}

shoal_status shoal_grown_finish(shoal_grown *grown, uint32_t n, const shoal_run *run,
                                shoal_partition *partition, shoal_error *error) {
  uint32_t n_rows = (uint32_t)grown->axes->n_rows, placed = 0;
  SHOAL_TRY(shoal_partition_whole(partition, n_rows, error));
  if (!n) return SHOAL_OK;
  const uint32_t *order = grown->order;
  uint32_t *cluster_of_row = partition->cluster_of_row;
  partition->n_clusters = n;
  for (uint32_t row = 0; row < n_rows; row++) cluster_of_row[row] = SHOAL_NO_ROW;
  for (uint32_t i = 0; i < n; i++) {
    placed += grown->n_rows[order[i]];
    for (uint32_t row = grown->first_row[order[i]]; row != SHOAL_NO_ROW; row = grown->next_row[row])
      cluster_of_row[row] = i;
  }
  shoal_status status = SHOAL_OK;
  for (uint32_t row = 0; status == SHOAL_OK && row < n_rows; row++) {
    if (cluster_of_row[row] != SHOAL_NO_ROW) continue;
    cluster_of_row[row] = least_growth(grown, n, row);
    shoal_grown_add(grown, order[cluster_of_row[row]], row);
    if (++placed % ROWS_A_REPORT == 0)
      status = shoal_run_report(run, "cluster", placed, n_rows, "rows", error);
  }
  if (status != SHOAL_OK) shoal_partition_reset(partition);
  return status;
}

/* ------------------------------------------------------------ diversity */

void shoal_diversity_reset(shoal_diversity *diversity) {
  for (size_t d = 0; diversity->seen && d < diversity->fit->n_counts; d++) free(diversity->seen[d]);
  free(diversity->seen);
  free(diversity->distinct);
  free(diversity->gain);
  memset(diversity, 0, sizeof *diversity);
}

shoal_status shoal_diversity_init(shoal_diversity *diversity, const shoal_fit *fit,
                                  shoal_error *error) {
  *diversity = (shoal_diversity){.fit = fit};
  diversity->seen = shoal_alloc_zero(fit->n_counts, sizeof *diversity->seen);
  diversity->distinct = shoal_alloc_zero(fit->n_counts, sizeof *diversity->distinct);
  diversity->gain = shoal_alloc_zero(fit->n_counts, sizeof *diversity->gain);
  bool ok = diversity->seen && diversity->distinct && diversity->gain;
  for (size_t d = 0; ok && d < fit->n_counts; d++) {
    diversity->seen[d] = shoal_alloc_zero(fit->counts[d].n_groups, sizeof **diversity->seen);
    ok = diversity->seen[d] != NULL;
  }
  if (ok) return SHOAL_OK;
  shoal_diversity_reset(diversity);
  return shoal_fail_memory(error);
}

void shoal_diversity_start(shoal_diversity *diversity) {
  diversity->now++;
  diversity->hom = 0;
  for (size_t d = 0; d < diversity->fit->n_counts; d++) {
    const shoal_count *count = &diversity->fit->counts[d];
    diversity->distinct[d] = 0;
    diversity->gain[d] = (uint64_t)count->least * count->weight;
    diversity->hom += diversity->gain[d];
  }
}

void shoal_diversity_add(shoal_diversity *diversity, const uint32_t *groups) {
  for (size_t d = 0; d < diversity->fit->n_counts; d++) {
    const shoal_count *count = &diversity->fit->counts[d];
    if (groups[d] == SHOAL_NO_GROUP || diversity->seen[d][groups[d]] == diversity->now) continue;
    diversity->seen[d][groups[d]] = diversity->now;
    if (diversity->distinct[d] == count->least) continue;
    diversity->distinct[d]++;
    diversity->gain[d] -= count->weight;
    diversity->hom -= count->weight;
  }
}
