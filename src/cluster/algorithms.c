/* SPDX-License-Identifier: Apache-2.0 */
/* cluster/algorithms: the table of local algorithms, and the partitions they return. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "cluster/cluster.h"

const shoal_local_algorithm shoal_local_algorithms[] = {
    {"k-member", "local: greedy clusters of k, for k-anonymity alone", SHOAL_SUPPORTS_SIZE,
     .run = shoal_cluster_k_member},
    {"greedy-pk", "local: one cluster at a time, most diverse row next, then least loss",
     SHOAL_SUPPORTS_COUNTS, .run = shoal_cluster_greedy_pk},
    {"enhanced-pk", "local: as many clusters as the sensitive values allow, then filled up",
     SHOAL_SUPPORTS_COUNTS, .run = shoal_cluster_enhanced_pk},
    {"hybrid-pk", "local: greedy-pk where p is easy, enhanced-pk where it is hard",
     SHOAL_SUPPORTS_COUNTS, .run = shoal_cluster_hybrid_pk},
    {"mondrian", "local: cuts the table in two while both sides satisfy the policy",
     SHOAL_SUPPORTS_ALL, .has_cuts = true, .counts_people = true, .run = shoal_cluster_mondrian},
    {"top-down", "local: starts from one class and splits classes as long as the policy holds",
     SHOAL_SUPPORTS_ALL, .counts_people = true, .run = shoal_cluster_top_down},
    {"flock", "local: least information loss, near-linear in rows; any model", SHOAL_SUPPORTS_ALL,
     .has_objective = true, .has_effort = true, .counts_people = true, .run = shoal_cluster_flock},
    {"theta", "local: swaps rows between classes; may add noise rows if 'noise' allows it",
     SHOAL_SUPPORTS_ALL, .has_objective = true, .has_effort = true, .has_noise = true,
     .has_start = true, .run = shoal_cluster_theta},
    {.name = NULL},
};

void shoal_noise_reset(shoal_noise *noise) {
  free(noise->cluster);
  free(noise->like);
  free(noise->values);
  memset(noise, 0, sizeof *noise);
}

bool shoal_noise_add(shoal_noise *noise, uint32_t cluster, uint32_t like, const uint32_t *values) {
  size_t n = (size_t)noise->n + 1, width = noise->n_columns;
  if (noise->n == UINT32_MAX ||
      !shoal_grow(&noise->cluster, &noise->cluster_capacity, n, sizeof *noise->cluster) ||
      !shoal_grow(&noise->like, &noise->like_capacity, n, sizeof *noise->like) ||
      !shoal_grow(&noise->values, &noise->value_capacity, n * width, sizeof *noise->values))
    return false;
  noise->cluster[noise->n] = cluster;
  noise->like[noise->n] = like;
  memcpy(noise->values + noise->n++ * width, values, width * sizeof *values);
  return true;
}

void shoal_noise_keep(shoal_noise *noise, const uint8_t *by_cluster) {
  size_t width = noise->n_columns;
  uint32_t kept = 0;
  for (uint32_t i = 0; i < noise->n; i++) {
    if (!by_cluster[noise->cluster[i]]) continue;
    noise->cluster[kept] = noise->cluster[i];
    noise->like[kept] = noise->like[i];
    memmove(noise->values + kept++ * width, noise->values + i * width,
            width * sizeof *noise->values);
  }
  noise->n = kept;
}

void shoal_partition_reset(shoal_partition *partition) {
  shoal_noise_reset(&partition->noise);
  free(partition->cluster_of_row);
  memset(partition, 0, sizeof *partition);
}

shoal_status shoal_partition_whole(shoal_partition *partition, uint64_t n_rows,
                                   shoal_error *error) {
  memset(partition, 0, sizeof *partition);
  partition->cluster_of_row = shoal_alloc_zero((size_t)n_rows, sizeof *partition->cluster_of_row);
  if (!partition->cluster_of_row) return shoal_fail_memory(error);
  partition->n_clusters = 1;
  return SHOAL_OK;
}

/* ------------------------------------------------------------ ranges */

void shoal_ranges_reset(shoal_ranges *ranges) {
  free(ranges->rows);
  free(ranges->starts);
  memset(ranges, 0, sizeof *ranges);
}

shoal_status shoal_ranges_init(shoal_ranges *ranges, uint64_t n_rows, shoal_error *error) {
  *ranges = (shoal_ranges){(uint32_t)n_rows, shoal_alloc((size_t)n_rows, sizeof *ranges->rows),
                           shoal_alloc_zero((size_t)n_rows, sizeof *ranges->starts)};
  if (!ranges->rows || !ranges->starts) {
    shoal_ranges_reset(ranges);
    return shoal_fail_memory(error);
  }
  for (uint32_t i = 0; i < n_rows; i++) ranges->rows[i] = i;
  ranges->starts[0] = 1;
  return SHOAL_OK;
}

shoal_status shoal_ranges_partition(const shoal_ranges *ranges, shoal_partition *partition,
                                    shoal_error *error) {
  SHOAL_TRY(shoal_partition_whole(partition, ranges->n_rows, error));
  partition->n_clusters = 0;
  for (uint32_t i = 0; i < ranges->n_rows; i++) {
    partition->n_clusters += ranges->starts[i];
    partition->cluster_of_row[ranges->rows[i]] = partition->n_clusters - 1;
  }
  return SHOAL_OK;
}
