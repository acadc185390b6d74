/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster/exchange_suppress: suppresses single rows of clusters that exchanges do not repair, of
 * the kind that lowers the deficit most, greedily.
 */
#include "cluster/exchange.h"

/* Suppresses rows of one kind from the cluster: the kind that leaves the least deficit. */
static void suppress_from(shoal_exchange *x, shoal_exchange_cluster *c) {
  uint32_t kinds[SHOAL_EXCHANGE_KINDS];
  size_t n = shoal_exchange_kinds(c, kinds), best = 0;
  double least = (double)UINT64_MAX;
  for (size_t i = 0; i < n && !shoal_exchange_is_spent(x); i++) {
    double after = shoal_exchange_deficit(x, c, kinds[i], SHOAL_NONE);
    if (after < least - SHOAL_EXCHANGE_EPSILON) best = i, least = after;
  }
  uint64_t room = x->task->max_suppressed - x->bin.n, batch = (uint64_t)(c->deficit / 8), have = 0;
  for (size_t i = 0; i < c->n_kinds; i++)
    if (c->kinds[i].kind == kinds[best]) have = c->kinds[i].n;
  if (batch < 1) batch = 1;
  if (batch > room) batch = room;
  if (batch > have) batch = have;
  for (; batch && !x->failed; batch--)
    (void)shoal_exchange_add(x, &x->bin, shoal_exchange_take(x, c, kinds[best]));
  shoal_exchange_judge(x, c);
}

/* A deficit may rise before it falls, where several values are at a limit. */
shoal_status shoal_exchange_suppress(shoal_exchange *x, shoal_error *error) {
  for (uint32_t c = 0; c < x->n_clusters; c++) {
    shoal_exchange_cluster *from = &x->clusters[c];
    double least = from->deficit;
    for (int idle = 0; from->deficit > 0 && x->bin.n < x->task->max_suppressed &&
                       idle < SHOAL_EXCHANGE_KINDS && !shoal_exchange_is_spent(x);
         idle++) {
      suppress_from(x, from);
      if (from->deficit < least - SHOAL_EXCHANGE_EPSILON) idle = -1, least = from->deficit;
      SHOAL_TRY(shoal_run_report(x->task->run, "repair", c, x->n_clusters, "classes", error));
    }
  }
  return SHOAL_OK;
}

void shoal_exchange_bring_back(shoal_exchange *x) {
  for (size_t i = x->bin.n; i > 0; i--) {
    uint32_t row = x->bin.rows[i - 1], kind = x->kind_of_row[row];
    for (uint32_t c = 0; c < x->n_clusters && !shoal_exchange_is_spent(x); c++) {
      shoal_exchange_cluster *to = &x->clusters[c];
      if (!to->n || to->deficit > 0 || shoal_exchange_deficit(x, to, SHOAL_NONE, kind) > 0)
        continue;
      (void)shoal_exchange_add(x, to, shoal_exchange_take(x, &x->bin, kind));
      break;
    }
  }
}
