/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster/hybrid-pk: greedy-pk where p is easy, enhanced-pk where it is hard, as Truta, Campan &
 * Meyer 2007 (section 4) wish for; decided before anything is run, from the necessary conditions.
 *
 * k allows n / k clusters, the second necessary condition a number that depends on p. greedy-pk
 * fills its clusters up to k by loss alone and so spends rare sensitive values that later clusters
 * lack; enhanced-pk deals them out first, and pays with loss. Where there are twice as many as n /
 * k clusters need, greedy-pk can waste one for each that it needs: p is easy. On 10,000 rows of
 * Adult (k from 5 to 60, p from 2 to 10) greedy-pk makes, from that factor on, at least 98% of the
 * clusters of enhanced-pk, mostly with less loss; below it, mostly fewer and with more loss.
 */
#include <stdio.h>

#include "cluster/cluster.h"

enum { EASY_FACTOR = 2, MOST_DIGITS = 27 /* of 64 bits, with commas and a NUL */ };

/* A number with commas between thousands. */
static const char *with_commas(uint64_t number, char text[MOST_DIGITS]) {
  char *at = text + MOST_DIGITS - 1;
  *at = '\0';
  for (unsigned n = 0; n == 0 || number; n++, number /= 10) {
    if (n && n % 3 == 0) *--at = ',';
    *--at = (char)('0' + number % 10);
  }
  return at;
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
  char for_p[MOST_DIGITS], for_k[MOST_DIGITS];
  if (fit->n_counts)
    (void)snprintf(partition->why, sizeof partition->why,
                   "p is %s: the sensitive values allow %s clusters, %s twice the %s of k: %s",
                   easy ? "easy" : "hard", with_commas(by_p, for_p),
                   easy ? "at least" : "less than", with_commas(by_k, for_k),
                   easy ? "greedy-pk" : "enhanced-pk");
  else
    (void)snprintf(partition->why, sizeof partition->why,
                   "no number of distinct values is asked for: greedy-pk");
  return SHOAL_OK;
}
