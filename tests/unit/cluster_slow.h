/* SPDX-License-Identifier: Apache-2.0 */
/*
 * k-member, greedy-pk and enhanced-pk word by word: rows and clusters as plain lists, everything
 * counted anew whenever it is asked for. What src/cluster makes of them must be the same.
 */
#ifndef SHOAL_TESTS_CLUSTER_SLOW_H
#define SHOAL_TESTS_CLUSTER_SLOW_H

#include <string.h>

#include "cluster/cluster.h"

enum { MAX_ROWS = 64, MAX_AXES = 4, NONE = MAX_ROWS };

/* A set of rows, in no order that matters. */
typedef struct rows {
  uint32_t items[MAX_ROWS];
  uint32_t n;
} rows;

typedef struct slow {
  const shoal_axes *axes;
  const shoal_cluster_requirements *required;
  uint32_t n_rows;
  rows clusters[MAX_ROWS];
  uint32_t n_clusters;
  rows left; /* in no cluster, ascending */
} slow;

static inline void rows_add(rows *set, uint32_t row) { set->items[set->n++] = row; }

static inline void rows_remove(rows *set, uint32_t row) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < set->n; i++)
    if (set->items[i] != row) set->items[n++] = set->items[i];
  set->n = n;
}

static inline void rows_insert(rows *set, uint32_t row) { /* ascending */
  uint32_t at = set->n++;
  for (; at && set->items[at - 1] > row; at--) set->items[at] = set->items[at - 1];
  set->items[at] = row;
}

static inline rows rows_with(const rows *set, uint32_t row) {
  rows copy = *set;
  rows_add(&copy, row);
  return copy;
}

static inline int64_t slow_il(const slow *s, const rows *set) {
  shoal_span box[MAX_AXES];
  if (!set->n) return 0;
  shoal_box_start(s->axes, box, shoal_axes_row(s->axes, set->items[0]));
  for (uint32_t i = 1; i < set->n; i++)
    shoal_box_add(s->axes, box, shoal_axes_row(s->axes, set->items[i]));
  return (int64_t)set->n * shoal_box_loss(s->axes, box);
}

static inline int64_t slow_increase(const slow *s, const rows *cluster, uint32_t row) {
  rows with = rows_with(cluster, row);
  return slow_il(s, &with) - slow_il(s, cluster);
}

/* Distinct groups, at most p: the paper's y. */
static inline int64_t slow_y(const slow *s, const rows *set, size_t d) {
  const shoal_distinct_requirement *count = &s->required->counts[d];
  int64_t y = 0;
  for (uint32_t i = 0; i < set->n; i++) {
    uint32_t group = shoal_distinct_requirement_group(count, set->items[i]);
    bool again = group == SHOAL_NONE;
    for (uint32_t j = 0; j < i; j++)
      again = again || shoal_distinct_requirement_group(count, set->items[j]) == group;
    y += !again;
  }
  return y < count->min_distinct ? y : count->min_distinct;
}

static inline int64_t slow_div(const slow *s, const rows *cluster, uint32_t row) {
  rows with = rows_with(cluster, row);
  int64_t sum = 0;
  for (size_t d = 0; d < s->required->n_counts; d++) {
    int64_t y = slow_y(s, cluster, d);
    sum += (slow_y(s, &with, d) - y) * (s->required->counts[d].min_distinct - y) *
           s->required->counts[d].weight;
  }
  return sum;
}

static inline int64_t slow_hom(const slow *s, const rows *cluster) {
  int64_t sum = 0;
  for (size_t d = 0; d < s->required->n_counts; d++)
    sum += (s->required->counts[d].min_distinct - slow_y(s, cluster, d)) *
           s->required->counts[d].weight;
  return sum;
}

static inline void slow_start(slow *s, const shoal_axes *axes,
                              const shoal_cluster_requirements *required) {
  memset(s, 0, sizeof *s);
  s->axes = axes;
  s->required = required;
  s->n_rows = (uint32_t)axes->n_rows;
  for (uint32_t row = 0; row < s->n_rows; row++) rows_add(&s->left, row);
}

static inline void slow_give(slow *s, uint32_t cluster, uint32_t row) {
  rows_add(&s->clusters[cluster], row);
  rows_remove(&s->left, row);
}

static inline void slow_take_last_apart(slow *s) {
  rows *last = &s->clusters[--s->n_clusters];
  for (uint32_t i = 0; i < last->n; i++) rows_insert(&s->left, last->items[i]);
  last->n = 0;
}

/* The row of `from` with the largest Div, then the least increase, then the lowest number. */
static inline uint32_t slow_best(const slow *s, const rows *from, const rows *cluster) {
  uint32_t best = NONE;
  for (uint32_t row = 0; row < s->n_rows; row++)
    for (uint32_t i = 0; i < from->n; i++) {
      if (from->items[i] != row) continue;
      if (best == NONE) best = row;
      int64_t more = slow_div(s, cluster, row) - slow_div(s, cluster, best);
      int64_t dearer = slow_increase(s, cluster, row) - slow_increase(s, cluster, best);
      if (more > 0 || (more == 0 && dearer < 0)) best = row;
    }
  return best;
}

static inline uint32_t slow_nearest(const slow *s, const rows *cluster) {
  uint32_t best = s->left.items[0];
  for (uint32_t i = 1; i < s->left.n; i++)
    if (slow_increase(s, cluster, s->left.items[i]) < slow_increase(s, cluster, best))
      best = s->left.items[i];
  return best;
}

static inline uint32_t slow_furthest(const slow *s, uint32_t row) {
  uint32_t best = NONE;
  int64_t most = -1;
  for (uint32_t i = 0; i < s->left.n; i++) {
    rows pair = {{row, s->left.items[i]}, 2};
    if (slow_il(s, &pair) <= most) continue;
    most = slow_il(s, &pair);
    best = s->left.items[i];
  }
  return best;
}

/* Rows that are left join, in order, the cluster whose IL grows least. Gives the numbers. */
static inline void slow_finish(slow *s, uint32_t *cluster_of_row) {
  memset(cluster_of_row, 0, MAX_ROWS * sizeof *cluster_of_row);
  if (!s->n_clusters) return;
  rows left = s->left;
  for (uint32_t i = 0; i < left.n; i++) {
    uint32_t best = 0;
    for (uint32_t c = 1; c < s->n_clusters; c++)
      if (slow_increase(s, &s->clusters[c], left.items[i]) <
          slow_increase(s, &s->clusters[best], left.items[i]))
        best = c;
    slow_give(s, best, left.items[i]);
  }
  for (uint32_t c = 0; c < s->n_clusters; c++)
    for (uint32_t i = 0; i < s->clusters[c].n; i++) cluster_of_row[s->clusters[c].items[i]] = c;
}

/* ---------------------------------------------------------------- one cluster at a time */

static inline void slow_k_member(slow *s, uint32_t *cluster_of_row) {
  uint32_t seed = 0;
  while (s->left.n >= s->required->k) {
    uint32_t c = s->n_clusters++;
    seed = slow_furthest(s, seed);
    slow_give(s, c, seed);
    for (uint64_t i = 1; i < s->required->k; i++) slow_give(s, c, slow_nearest(s, &s->clusters[c]));
  }
  slow_finish(s, cluster_of_row);
}

static inline void slow_greedy_pk(slow *s, uint32_t *cluster_of_row) {
  uint32_t seed = 0;
  while (s->left.n) {
    uint32_t c = s->n_clusters++;
    rows *cluster = &s->clusters[c];
    seed = slow_furthest(s, seed);
    slow_give(s, c, seed);
    while (s->left.n && (cluster->n < s->required->k || slow_hom(s, cluster)))
      slow_give(s, c, slow_best(s, &s->left, cluster));
    if (cluster->n >= s->required->k && !slow_hom(s, cluster)) continue;
    slow_take_last_apart(s);
    break;
  }
  slow_finish(s, cluster_of_row);
}

/* ---------------------------------------------------------------- enhanced-pk */

typedef struct slow_values {
  const shoal_distinct_requirement *hardest;
  uint32_t p, i_value, max_clusters;
  uint32_t group[MAX_ROWS]; /* v_1, v_2, ... */
  uint32_t f[MAX_ROWS];     /* their rows */
  uint32_t n;
} slow_values;

static inline void slow_order_values(const slow *s, slow_values *v) {
  for (uint32_t g = 0; g < v->hardest->n_groups; g++) {
    uint32_t f = 0, at = v->n;
    for (uint32_t row = 0; row < s->n_rows; row++)
      f += shoal_distinct_requirement_group(v->hardest, row) == g;
    if (!f) continue;
    for (; at && v->f[at - 1] < f; at--) {
      v->f[at] = v->f[at - 1];
      v->group[at] = v->group[at - 1];
    }
    v->f[at] = f;
    v->group[at] = g;
    v->n++;
  }
}

static inline void slow_plan(const slow *s, slow_values *v) {
  memset(v, 0, sizeof *v);
  v->hardest = &s->required->counts[0];
  for (size_t d = 1; d < s->required->n_counts; d++)
    if (s->required->counts[d].max_clusters < v->hardest->max_clusters)
      v->hardest = &s->required->counts[d];
  v->p = v->hardest->min_distinct;
  slow_order_values(s, v);
  uint32_t n = 0, cf[MAX_ROWS + 1] = {0};
  for (uint32_t i = 0; i < v->n; i++) n += v->f[i];
  for (uint32_t i = 0; i < v->n; i++) cf[i + 1] = cf[i] + v->f[i];
  v->max_clusters = UINT32_MAX;
  for (uint32_t i = 1; i <= v->p; i++)
    if ((n - cf[v->p - i]) / i < v->max_clusters) {
      v->max_clusters = (n - cf[v->p - i]) / i;
      v->i_value = i;
    }
}

/* Rows that are left with the value v_j, j from 1. */
static inline rows slow_sec(const slow *s, const slow_values *v, uint32_t j) {
  rows sec = {.n = 0};
  for (uint32_t i = 0; i < s->left.n; i++)
    if (shoal_distinct_requirement_group(v->hardest, s->left.items[i]) == v->group[j - 1])
      rows_add(&sec, s->left.items[i]);
  return sec;
}

static inline void slow_split(slow *s, const slow_values *v) {
  uint32_t i = 0;
  for (uint32_t j = v->n; j >= v->p - v->i_value + 1; j--) {
    rows sec = slow_sec(s, v, j);
    while (sec.n) {
      uint32_t row = slow_best(s, &sec, &s->clusters[i]);
      rows_remove(&sec, row);
      slow_give(s, i, row);
      if (++i < s->n_clusters) continue;
      if (s->clusters[0].n >= v->i_value) return;
      i = 0;
    }
  }
}

/* The best of all pairs, again and again. */
static inline void slow_match(slow *s, rows sec) {
  bool done[MAX_ROWS] = {false};
  for (uint32_t given = 0; given < s->n_clusters && sec.n; given++) {
    uint32_t row = NONE, cluster = NONE;
    int64_t div = -1, increase = 0;
    for (uint32_t i = 0; i < sec.n; i++) /* ascending rows, then ascending clusters */
      for (uint32_t c = 0; c < s->n_clusters; c++) {
        if (done[c]) continue;
        int64_t d = slow_div(s, &s->clusters[c], sec.items[i]);
        int64_t more = slow_increase(s, &s->clusters[c], sec.items[i]);
        if (d < div || (d == div && more >= increase)) continue;
        div = d;
        increase = more;
        row = sec.items[i];
        cluster = c;
      }
    slow_give(s, cluster, row);
    rows_remove(&sec, row);
    done[cluster] = true;
  }
}

/* Insertion keeps the order of equals. */
static inline void slow_reorder(slow *s, bool by_hom) {
  for (uint32_t i = 1; i < s->n_clusters; i++) {
    rows moved = s->clusters[i];
    uint32_t at = i;
    for (; at; at--) {
      const rows *before = &s->clusters[at - 1];
      if (by_hom ? slow_hom(s, before) <= slow_hom(s, &moved) : before->n >= moved.n) break;
      s->clusters[at] = *before;
    }
    s->clusters[at] = moved;
  }
}

static inline void slow_diversify(slow *s) {
  slow_reorder(s, true);
  uint32_t h = 0;
  for (;;) {
    while (h < s->n_clusters && slow_hom(s, &s->clusters[h]) == 0) h++;
    if (h == s->n_clusters) return;
    uint32_t row = slow_best(s, &s->left, &s->clusters[h]);
    if (row == NONE || slow_div(s, &s->clusters[h], row) == 0) slow_take_last_apart(s);
    else slow_give(s, h, row);
  }
}

static inline void slow_fill(slow *s) {
  slow_reorder(s, false);
  uint64_t k = s->required->k, u = 0, rest = s->left.n;
  while (u < s->n_clusters && s->clusters[u].n >= k) u++;
  for (uint64_t i = u; i < s->n_clusters; i++) rest += s->clusters[i].n;
  while (s->n_clusters > u + rest / k) slow_take_last_apart(s);
  for (uint32_t c = 0; c < s->n_clusters; c++)
    while (s->clusters[c].n < k) slow_give(s, c, slow_nearest(s, &s->clusters[c]));
}

static inline void slow_enhanced_pk(slow *s, uint32_t *cluster_of_row) {
  slow_values v;
  if (!s->required->n_counts) {
    s->n_clusters = (uint32_t)(s->n_rows / s->required->k);
    for (uint32_t c = 0; c < s->n_clusters; c++) slow_give(s, c, c);
  } else {
    slow_plan(s, &v);
    s->n_clusters = v.max_clusters;
    slow_split(s, &v);
    for (uint32_t j = v.p - v.i_value; j >= 1; j--) slow_match(s, slow_sec(s, &v, j));
    slow_diversify(s);
  }
  slow_fill(s);
  slow_finish(s, cluster_of_row);
}

#endif
