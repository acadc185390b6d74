/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster/exchange_suppress: suppresses single rows of clusters that exchanges do not repair, of
 * the kind that lowers the deficit most, greedily.
 */
#include "cluster/exchange.h"

/* Moves rows of one kind: the kind that leaves the least deficit. */
static void move_kind(shoal_exchange *x, shoal_exchange_cluster *c, shoal_exchange_cluster *to,
                      uint64_t room) {
  uint32_t kinds[SHOAL_EXCHANGE_KINDS];
  size_t n = shoal_exchange_kinds(c, kinds), best = 0;
  double least = (double)UINT64_MAX;
  for (size_t i = 0; i < n && !shoal_exchange_is_spent(x); i++) {
    double after = shoal_exchange_deficit(x, c, kinds[i], SHOAL_NONE);
    if (after < least - SHOAL_EXCHANGE_EPSILON) best = i, least = after;
  }
  uint64_t batch = (uint64_t)(c->deficit / 8), have = 0;
  for (size_t i = 0; i < c->n_kinds; i++)
    if (c->kinds[i].kind == kinds[best]) have = c->kinds[i].n;
  if (batch < 1) batch = 1;
  if (batch > room) batch = room;
  if (batch > have) batch = have;
  for (; batch && !x->failed; batch--)
    (void)shoal_exchange_add(x, to, shoal_exchange_take(x, c, kinds[best]));
  shoal_exchange_judge(x, c);
}

/* A deficit may rise before it falls, where several values are at a limit. */
void shoal_exchange_relieve(shoal_exchange *x, shoal_exchange_cluster *c,
                            shoal_exchange_cluster *to, uint64_t max_rows) {
  double least = c->deficit;
  for (int idle = 0; c->deficit > 0 && to->n < max_rows && idle < SHOAL_EXCHANGE_KINDS &&
                     !shoal_exchange_is_spent(x);
       idle++) {
    move_kind(x, c, to, max_rows - to->n);
    if (c->deficit < least - SHOAL_EXCHANGE_EPSILON) idle = -1, least = c->deficit;
  }
}

shoal_status shoal_exchange_suppress(shoal_exchange *x, shoal_error *error) {
  for (uint32_t c = 0; c < x->n_clusters; c++) {
    shoal_exchange_relieve(x, &x->clusters[c], &x->bin, x->task->max_suppressed);
    SHOAL_TRY(shoal_run_report(x->task->run, "repair", c, x->n_clusters, "classes", error));
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
