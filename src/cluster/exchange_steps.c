/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster/exchange_steps: steps that lower the sum of deficits. A cluster with a deficit exchanges
 * rows with its nearest clusters; the step of the best gain is taken. Where that does not repair
 * it, single rows are suppressed, of the kind that lowers the deficit most.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "cluster/exchange.h"
#include "cluster/nearest.h"

enum { MIN_PARTNERS = 8 }; /* nearest clusters that a cluster exchanges rows with; x 4 when stuck */

/* ------------------------------------------------------------ steps */

static void consider(shoal_exchange_step *best, shoal_exchange_step s, double after) {
  s.gain = s.a->deficit + s.b->deficit - after;
  if (s.gain > best->gain + SHOAL_EXCHANGE_EPSILON) *best = s;
}

/* Tries every change of a and b. */
static void try_pair(shoal_exchange *x, shoal_exchange_cluster *a, shoal_exchange_cluster *b,
                     shoal_exchange_step *best) {
  uint32_t in_a[SHOAL_EXCHANGE_KINDS + 1], in_b[SHOAL_EXCHANGE_KINDS + 1];
  size_t n_a = shoal_exchange_kinds(a, in_a), n_b = shoal_exchange_kinds(b, in_b);
  in_a[n_a++] = in_b[n_b++] = SHOAL_NONE; /* no row of that side */
  for (size_t i = 0; i < n_a; i++) {
    for (size_t j = 0; j < n_b && !shoal_exchange_is_spent(x); j++) {
      if (in_a[i] == in_b[j]) continue;
      double after = shoal_exchange_deficit(x, a, in_a[i], in_b[j]);
      if (after < a->deficit + b->deficit) after += shoal_exchange_deficit(x, b, in_b[j], in_a[i]);
      shoal_exchange_step s = {.a = a, .b = b, .from_a = in_a[i], .from_b = in_b[j]};
      consider(best, s, after);
    }
  }
  shoal_exchange_step join = {.a = a, .b = b, .join = true};
  consider(best, join, shoal_exchange_joined(x, a, b));
}

/* The partner whose deficit rises least by a row of the kind, or SHOAL_NONE. */
static uint32_t find_taker(shoal_exchange *x, uint32_t kind, const uint32_t *partners,
                           size_t n_partners, double *rise) {
  uint32_t taker = SHOAL_NONE;
  *rise = (double)UINT32_MAX;
  for (size_t p = 0; p < n_partners && !shoal_exchange_is_spent(x); p++) {
    const shoal_exchange_cluster *b = &x->clusters[partners[p]];
    if (!b->n) continue;
    double more = shoal_exchange_deficit(x, b, SHOAL_NONE, kind) - b->deficit;
    if (more < *rise - SHOAL_EXCHANGE_EPSILON) taker = partners[p], *rise = more;
  }
  return taker;
}

/* Gives each row of a to the partner whose deficit rises least, if the sum of deficits falls. */
static bool dissolve(shoal_exchange *x, shoal_exchange_cluster *a, const uint32_t *partners,
                     size_t n_partners) {
  double rise = 0;
  size_t n = 0; /* rows given */
  uint32_t *taker = shoal_alloc(a->n, sizeof *taker);
  if (!taker) x->failed = true;
  while (taker && n < a->n && rise < a->deficit - SHOAL_EXCHANGE_EPSILON) {
    double more;
    taker[n] = find_taker(x, x->kind_of_row[a->rows[n]], partners, n_partners, &more);
    rise += more;
    if (taker[n] == SHOAL_NONE || !shoal_exchange_add(x, &x->clusters[taker[n]], a->rows[n])) break;
    shoal_exchange_judge(x, &x->clusters[taker[n++]]);
  }
  bool better = taker && n == a->n && rise < a->deficit - SHOAL_EXCHANGE_EPSILON;
  while (!better && n > 0) { /* take them back, the last one first */
    shoal_exchange_cluster *b = &x->clusters[taker[--n]];
    (void)shoal_exchange_take(x, b, x->kind_of_row[a->rows[n]]);
    shoal_exchange_judge(x, b);
  }
  if (better) shoal_exchange_empty(a);
  free(taker);
  return better;
}

/* ------------------------------------------------------------ neighbours */

/* The clusters that one exchanges rows with: the nearest, by the boxes at the start of a round. */
typedef struct neighbours {
  uint64_t *n_rows; /* by cluster that is not empty */
  uint32_t *cluster_of, *index_of;
  shoal_span *boxes;
  uint8_t *excluded;
  shoal_nearest nearest;
  uint32_t n;
  uint32_t *partners; /* result of the last query */
} neighbours;

static void free_neighbours(neighbours *near) {
  if (near->n) shoal_nearest_reset(&near->nearest);
  free(near->n_rows);
  free(near->cluster_of);
  free(near->index_of);
  free(near->boxes);
  free(near->excluded);
  free(near->partners);
}

static shoal_status find_neighbours(shoal_exchange *x, neighbours *near, shoal_error *error) {
  const shoal_axes *axes = x->task->axes;
  uint32_t n = 0;
  *near = (neighbours){.n_rows = shoal_alloc(x->n_clusters, sizeof *near->n_rows),
                       .cluster_of = shoal_alloc(x->n_clusters, sizeof *near->cluster_of),
                       .index_of = shoal_alloc(x->n_clusters, sizeof *near->index_of),
                       .boxes = shoal_alloc(x->n_clusters, axes->n_spans * sizeof *near->boxes),
                       .excluded = shoal_alloc_zero(x->n_clusters, 1),
                       .partners = shoal_alloc(x->n_clusters, sizeof *near->partners)};
  if (!near->n_rows || !near->cluster_of || !near->index_of || !near->boxes || !near->excluded ||
      !near->partners)
    return shoal_fail_memory(error);
  x->work += x->n_clusters;
  for (uint32_t c = 0; c < x->n_clusters; c++) {
    shoal_exchange_cluster *at = &x->clusters[c];
    near->index_of[c] = n;
    if (!at->n) continue;
    near->cluster_of[n] = c;
    near->n_rows[n] = at->n;
    shoal_exchange_box(x, at, near->boxes + (size_t)n++ * axes->n_spans);
  }
  assert(n > 0);
  SHOAL_TRY(shoal_nearest_init(&near->nearest, axes, near->boxes, near->n_rows, n, error));
  near->n = n;
  return SHOAL_OK;
}

/* Up to `max` partners of cluster c, the nearest first, into near->partners. */
static size_t list_partners(neighbours *near, uint32_t c, size_t max) {
  size_t n = 0;
  while (n < max) {
    uint32_t found = shoal_nearest_class(&near->nearest, near->index_of[c], near->excluded);
    if (found == SHOAL_NONE) break;
    near->excluded[found] = 1;
    near->partners[n++] = found;
  }
  for (size_t i = 0; i < n; i++) {
    near->excluded[near->partners[i]] = 0;
    near->partners[i] = near->cluster_of[near->partners[i]];
  }
  return n;
}

/* ------------------------------------------------------------ descent */

/* Takes the best steps of cluster c until there is none; false: there was none at all. */
static bool improve(shoal_exchange *x, uint32_t c, const uint32_t *partners, size_t n) {
  shoal_exchange_cluster *a = &x->clusters[c];
  bool improved = false;
  while (a->deficit > 0 && !shoal_exchange_is_spent(x)) {
    shoal_exchange_step best = {.gain = 0};
    for (size_t p = 0; p < n && !shoal_exchange_is_spent(x); p++)
      if (x->clusters[partners[p]].n) try_pair(x, a, &x->clusters[partners[p]], &best);
    if (best.gain > 0) shoal_exchange_apply(x, &best);
    else if (!dissolve(x, a, partners, n)) break;
    improved = true;
  }
  return improved;
}

shoal_status shoal_exchange_descend(shoal_exchange *x, shoal_error *error) {
  for (size_t n_partners = MIN_PARTNERS;;) {
    bool improved = false;
    neighbours near;
    shoal_status status = find_neighbours(x, &near, error);
    for (uint32_t c = 0; status == SHOAL_OK && c < x->n_clusters && !shoal_exchange_is_spent(x);
         c++) {
      if (x->clusters[c].deficit <= 0) continue;
      size_t n = list_partners(&near, c, n_partners);
      improved = improve(x, c, near.partners, n) || improved;
      status = shoal_run_report(x->task->run, "repair", c, x->n_clusters, "classes", error);
    }
    uint32_t n_near = near.n;
    free_neighbours(&near);
    SHOAL_TRY(status);
    if (shoal_exchange_is_spent(x) || (!improved && n_partners >= n_near)) return SHOAL_OK;
    if (!improved) n_partners *= 4;
  }
}

/* ------------------------------------------------------------ suppressing rows */

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
