/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster/greedy: k-member, greedy-pk and hybrid-pk.
 *
 * greedy-pk: GreedyPKClustering of Campan, Truta, Miller & Sinca 2007, as described by Truta,
 * Campan & Meyer 2007. The first cluster starts from the row furthest from row 0, each later one
 * from the free row furthest from the previous start. The next row has the largest Div, then the
 * least increase of loss, then the lowest number. A cluster is complete with k rows and Hom 0. Rows
 * that cannot complete a cluster join those whose loss increases least.
 *
 * k-member: Byun, Kamra, Bertino & Li 2006, for k-anonymity alone: greedy-pk without counts.
 *
 * hybrid-pk: greedy-pk if p is easy, enhanced-pk if it is hard (Truta, Campan & Meyer 2007, section
 * 4), decided in advance from the necessary conditions. k allows n / k clusters, the second
 * necessary condition a number that depends on p. greedy-pk fills clusters up to k by loss alone
 * and uses up rare sensitive values that later clusters lack; enhanced-pk distributes them first,
 * which costs loss. p is easy if the values allow twice n / k clusters. From that factor on, on
 * 10,000 rows of Adult (k from 5 to 60, p from 2 to 10), greedy-pk makes at least 98% of the
 * clusters of enhanced-pk, mostly with less loss; below it, mostly fewer and with more loss.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/text.h"
#include "cluster/growing.h"

enum { EASY_FACTOR = 2 };

static void give(shoal_growing *g, uint32_t cluster, uint32_t row) {
  shoal_growing_give(g, cluster, row);
  shoal_growing_note(g, row);
}

/* Returns false if the free rows cannot complete the cluster. */
static bool complete(shoal_growing *g, uint32_t cluster) {
  while (g->hom) {
    shoal_choice choice = shoal_growing_best(g, cluster, 0, g->n_kinds);
    if (choice.row == SHOAL_NO_ROW || !choice.div) return false;
    give(g, cluster, choice.row);
  }
  while (g->n_rows[cluster] < g->fit->k) {
    uint32_t row = shoal_growing_nearest(g, cluster);
    if (row == SHOAL_NO_ROW) return false;
    give(g, cluster, row);
  }
  return true;
}

static shoal_status grow(shoal_growing *g, shoal_partition *partition, shoal_error *error) {
  uint32_t start = 0, n = 0;
  while (g->n_free >= g->fit->k && g->n_free) {
    start = shoal_growing_furthest(g, start);
    shoal_growing_measure(g, n);
    give(g, n, start);
    if (!complete(g, n)) {
      shoal_growing_empty(g, n);
      break;
    }
    n++;
    SHOAL_TRY(shoal_growing_report(g, error));
  }
  return shoal_growing_finish(g, n, partition, error);
}

shoal_status shoal_cluster_greedy_pk(const shoal_cluster_task *task, shoal_partition *partition,
                                     shoal_error *error) {
  shoal_growing g;
  SHOAL_TRY(shoal_growing_init(&g, task, task->axes->n_rows / task->fit->k, NULL, error));
  shoal_status status = grow(&g, partition, error);
  shoal_growing_reset(&g);
  return status;
}

shoal_status shoal_cluster_k_member(const shoal_cluster_task *task, shoal_partition *partition,
                                    shoal_error *error) {
  shoal_fit size = *task->fit;
  shoal_cluster_task by_size = *task;
  size.n_counts = 0;
  by_size.fit = &size;
  return shoal_cluster_greedy_pk(&by_size, partition, error);
}

/* ------------------------------------------------------------ hybrid-pk */

/* Says in partition->why which algorithm ran. */
static shoal_status explain(shoal_partition *partition, bool easy, uint64_t by_p, uint64_t by_k,
                            shoal_error *error) {
  shoal_text text;
  shoal_text_init(&text);
  shoal_text_print(&text, "p is %s: the sensitive values allow ", easy ? "easy" : "hard");
  shoal_text_add_count(&text, by_p);
  shoal_text_print(&text, " clusters, %s twice the ", easy ? "at least" : "less than");
  shoal_text_add_count(&text, by_k);
  shoal_text_print(&text, " of k: %s", easy ? "greedy-pk" : "enhanced-pk");
  bool failed = text.failed;
  if (!failed) (void)snprintf(partition->why, sizeof partition->why, "%s", text.bytes);
  shoal_text_reset(&text);
  return failed ? shoal_fail_memory(error) : SHOAL_OK;
}

shoal_status shoal_cluster_hybrid_pk(const shoal_cluster_task *task, shoal_partition *partition,
                                     shoal_error *error) {
  const shoal_fit *fit = task->fit;
  uint64_t by_k = task->axes->n_rows / fit->k, by_p = UINT64_MAX;
  for (size_t d = 0; d < fit->n_counts; d++)
    if (fit->counts[d].most < by_p) by_p = fit->counts[d].most;
  bool easy = by_p / EASY_FACTOR >= by_k;
  SHOAL_TRY(easy ? shoal_cluster_greedy_pk(task, partition, error)
                 : shoal_cluster_enhanced_pk(task, partition, error));
  if (!fit->n_counts) {
    (void)snprintf(partition->why, sizeof partition->why,
                   "no number of distinct values is asked for: greedy-pk");
    return SHOAL_OK;
  }
  shoal_status status = explain(partition, easy, by_p, by_k, error);
  if (status != SHOAL_OK) shoal_partition_reset(partition);
  return status;
}
