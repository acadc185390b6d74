/* SPDX-License-Identifier: Apache-2.0 */
/* Stand-ins until each algorithm has its own file; whoever writes one removes its line here. */
#include "cluster/cluster.h"
#define PENDING(NAME) shoal_status NAME(const shoal_cluster_task *task, shoal_partition *partition, shoal_error *error) { return shoal_partition_whole(partition, task->axes->n_rows, error); }
PENDING(shoal_cluster_k_member)
PENDING(shoal_cluster_greedy_pk)
PENDING(shoal_cluster_enhanced_pk)
PENDING(shoal_cluster_hybrid_pk)
PENDING(shoal_cluster_flock)
