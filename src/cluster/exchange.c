/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster/exchange: repairs clusters that violate requirements by exchanging rows.
 * decide/clusters.c calls it in two cases: as the last step before a refusal, for models that
 * merging cannot help (theta, balanced, personalized) and where a few rows have to be suppressed;
 * and always after an algorithm that knows sizes and counts only (SHOAL_SUPPORTS_COUNTS), if the
 * policy has other models. flock_exchange.c is something else: a local move of flock that lowers
 * the loss.
 *
 * The deficit of a cluster says about how many rows it is away from satisfying the requirements
 * (requirements.h). A step takes a cluster with a deficit and, of its nearest clusters, the partner
 * and the change that lower the sum of both deficits most: move a row either way, swap two rows, or
 * join. If none lowers it, the cluster's rows are given to others one by one, if that helps. Where
 * all clusters are stuck, random swaps shake them (Lourenco et al. 2003, iterated local search); of
 * all states the one with the least sum of deficits is kept. Each time all are stuck, rows are
 * suppressed too, of the kind that lowers a deficit most. The last attempt is to suppress rows of
 * all rows as one class. At the end suppressed rows return to clusters that allow it.
 *
 * Rows with equal tracked values are equal to the models: one of each kind is tried. The work is
 * bounded by rows looked at, so results do not depend on the machine.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/random.h"
#include "cluster/cluster.h"
#include "cluster/nearest_class.h"

enum {
  MIN_PARTNERS = 8, /* nearest clusters that a cluster exchanges rows with; x 4 when stuck */
  MAX_KINDS = 16,   /* kinds of rows tried in a cluster */
  MAX_SHAKES = 200, /* random moves or swaps after all clusters are stuck */
  MAX_UNITING = 8   /* rounds of joining clusters with equal labels */
};

/* Rows looked at, at most; a fifth of it is for the last attempt, all rows as one class. */
static const uint64_t MIN_WORK = 40000000, WORK_PER_ROW = 10000, MAX_WORK = 2000000000;

/* Sums of deficits that differ by less are equal. */
static const double EPSILON = 1e-9;

typedef struct cluster {
  uint32_t *rows;
  size_t n, capacity;
  double deficit;
} cluster;

/* The cluster of each row; n_clusters: suppressed. */
typedef struct state {
  uint32_t *cluster_of_row;
  double sum; /* of deficits */
} state;

typedef struct exchange {
  const shoal_cluster_task *task;
  shoal_requirement_checker checker;
  uint32_t *kind_of_row; /* equal kinds: equal values in every tracked column */
  cluster *clusters;
  uint32_t n_clusters;
  cluster bin; /* suppressed rows */
  uint32_t *scratch;
  size_t scratch_capacity;
  state best;    /* of all */
  state current; /* that random changes start from; nothing is suppressed in it */
  uint64_t work, max_work;
  shoal_random random;
  bool failed; /* out of memory */
} exchange;

/* ------------------------------------------------------------ clusters */

static bool add_row(exchange *x, cluster *c, uint32_t row) {
  if (!shoal_grow(&c->rows, &c->capacity, c->n + 1, sizeof *c->rows)) {
    x->failed = true;
    return false;
  }
  c->rows[c->n++] = row;
  return true;
}

static uint32_t take_row(cluster *c, size_t i) {
  uint32_t row = c->rows[i];
  c->rows[i] = c->rows[--c->n];
  return row;
}

/*
 * The deficit of a cluster without its row `out` (SIZE_MAX: with all) and with one row more
 * (SHOAL_NONE: none).
 */
static double deficit_with(exchange *x, const cluster *c, size_t out, uint32_t in) {
  size_t n = c->n;
  if (!shoal_grow(&x->scratch, &x->scratch_capacity, n + 1, sizeof *x->scratch)) {
    x->failed = true;
    return (double)n;
  }
  if (n) memcpy(x->scratch, c->rows, n * sizeof *x->scratch);
  if (out != SIZE_MAX) x->scratch[out] = x->scratch[--n];
  if (in != SHOAL_NONE) x->scratch[n++] = in;
  x->work += n + 1;
  return shoal_requirement_checker_deficit(&x->checker, x->scratch, n);
}

static void judge(exchange *x, cluster *c) {
  c->deficit = deficit_with(x, c, SIZE_MAX, SHOAL_NONE);
}

static bool is_spent(const exchange *x) {
  return x->failed || x->checker.failed || x->work > x->max_work;
}

/* The first row of each kind in a cluster, as indices; returns their number. */
static size_t list_kinds(const exchange *x, const cluster *c, size_t *indices) {
  size_t n = 0;
  for (size_t i = 0; i < c->n && n < MAX_KINDS; i++) {
    size_t j = 0;
    while (j < n && x->kind_of_row[c->rows[indices[j]]] != x->kind_of_row[c->rows[i]]) j++;
    if (j == n) indices[n++] = i;
  }
  return n;
}

/* ------------------------------------------------------------ steps */

/* A change of two clusters. SIZE_MAX: no row of that side moves. */
typedef struct step {
  cluster *a, *b;
  size_t from_a, from_b;
  bool join;
  double gain; /* by which the sum of both deficits falls */
} step;

static void consider(step *best, step s, double after) {
  s.gain = s.a->deficit + s.b->deficit - after;
  if (s.gain > best->gain + EPSILON) *best = s;
}

static double joined_deficit(exchange *x, const cluster *a, const cluster *b) {
  size_t n = a->n + b->n;
  if (!shoal_grow(&x->scratch, &x->scratch_capacity, n, sizeof *x->scratch)) {
    x->failed = true;
    return (double)n;
  }
  memcpy(x->scratch, a->rows, a->n * sizeof *x->scratch);
  memcpy(x->scratch + a->n, b->rows, b->n * sizeof *x->scratch);
  x->work += n;
  return shoal_requirement_checker_deficit(&x->checker, x->scratch, n);
}

/* Tries every change of a and b. */
static void try_pair(exchange *x, cluster *a, cluster *b, step *best) {
  size_t in_a[MAX_KINDS + 1], in_b[MAX_KINDS + 1];
  size_t n_a = list_kinds(x, a, in_a), n_b = list_kinds(x, b, in_b);
  in_a[n_a++] = in_b[n_b++] = SIZE_MAX; /* no row of that side */
  for (size_t i = 0; i < n_a; i++) {
    uint32_t row_a = in_a[i] == SIZE_MAX ? SHOAL_NONE : a->rows[in_a[i]];
    for (size_t j = 0; j < n_b && !is_spent(x); j++) {
      uint32_t row_b = in_b[j] == SIZE_MAX ? SHOAL_NONE : b->rows[in_b[j]];
      bool same = row_a != SHOAL_NONE && row_b != SHOAL_NONE &&
                  x->kind_of_row[row_a] == x->kind_of_row[row_b];
      if (same || row_a == row_b) continue;
      double after = deficit_with(x, a, in_a[i], row_b);
      if (after < a->deficit + b->deficit) after += deficit_with(x, b, in_b[j], row_a);
      consider(best, (step){.a = a, .b = b, .from_a = in_a[i], .from_b = in_b[j]}, after);
    }
  }
  consider(best, (step){.a = a, .b = b, .join = true}, joined_deficit(x, a, b));
}

static void apply(exchange *x, const step *s) {
  uint32_t row_a = s->join || s->from_a == SIZE_MAX ? SHOAL_NONE : take_row(s->a, s->from_a);
  uint32_t row_b = s->join || s->from_b == SIZE_MAX ? SHOAL_NONE : take_row(s->b, s->from_b);
  if (row_a != SHOAL_NONE) (void)add_row(x, s->b, row_a);
  if (row_b != SHOAL_NONE) (void)add_row(x, s->a, row_b);
  while (s->join && s->b->n && add_row(x, s->a, s->b->rows[s->b->n - 1])) s->b->n--;
  judge(x, s->a);
  judge(x, s->b);
}

/* Gives each row of a to the partner whose deficit rises least, if the sum of deficits falls. */
static bool dissolve(exchange *x, cluster *a, const uint32_t *partners, size_t n_partners) {
  double rise = 0;
  size_t n = a->n;
  uint32_t *given = shoal_alloc(n, sizeof *given); /* by row of a, from the last on: the partner */
  if (!given) x->failed = true;
  for (size_t i = n; given && i > 0; i--) {
    double least = (double)UINT32_MAX;
    given[i - 1] = SHOAL_NONE;
    for (size_t p = 0; p < n_partners && !is_spent(x) && rise < a->deficit; p++) {
      cluster *b = &x->clusters[partners[p]];
      if (!b->n) continue;
      double more = deficit_with(x, b, SIZE_MAX, a->rows[i - 1]) - b->deficit;
      if (more < least - EPSILON) given[i - 1] = partners[p], least = more;
    }
    if (given[i - 1] != SHOAL_NONE && !add_row(x, &x->clusters[given[i - 1]], a->rows[i - 1]))
      given[i - 1] = SHOAL_NONE;
    if (given[i - 1] != SHOAL_NONE) judge(x, &x->clusters[given[i - 1]]);
    rise += least;
  }
  bool better = given && rise < a->deficit - EPSILON;
  for (size_t i = 0; given && !better && i < n; i++) { /* take them back, the last one first */
    if (given[i] == SHOAL_NONE) continue;
    x->clusters[given[i]].n--;
    judge(x, &x->clusters[given[i]]);
  }
  if (better) a->n = 0, a->deficit = 0;
  free(given);
  return better;
}

/* ------------------------------------------------------------ descent */

/* The clusters that one exchanges rows with: the nearest, by the boxes at the start of a round. */
typedef struct neighbours {
  uint64_t *n_rows; /* by cluster that is not empty */
  uint32_t *cluster_of, *index_of;
  shoal_span *boxes;
  uint8_t *excluded;
  shoal_nearest_class nearest;
  uint32_t n;
  uint32_t *partners; /* result of the last query */
} neighbours;

static void free_neighbours(neighbours *near) {
  if (near->n) shoal_nearest_class_reset(&near->nearest);
  free(near->n_rows);
  free(near->cluster_of);
  free(near->index_of);
  free(near->boxes);
  free(near->excluded);
  free(near->partners);
}

static shoal_status find_neighbours(const exchange *x, neighbours *near, shoal_error *error) {
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
  for (uint32_t c = 0; c < x->n_clusters; c++) {
    const cluster *at = &x->clusters[c];
    near->index_of[c] = n;
    if (!at->n) continue;
    near->cluster_of[n] = c;
    near->n_rows[n] = at->n;
    shoal_box_of(axes, near->boxes + (size_t)n++ * axes->n_spans, at->rows, at->n);
  }
  assert(n > 0);
  SHOAL_TRY(shoal_nearest_class_init(&near->nearest, axes, near->boxes, near->n_rows, n, error));
  near->n = n;
  return SHOAL_OK;
}

/* Up to `max` partners of cluster c, the nearest first, into near->partners. */
static size_t list_partners(neighbours *near, uint32_t c, size_t max) {
  size_t n = 0;
  while (n < max) {
    uint32_t found = shoal_nearest_class_find(&near->nearest, near->index_of[c], near->excluded);
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

/* Takes the best steps of cluster c until there is none; false: there was none at all. */
static bool improve(exchange *x, uint32_t c, const uint32_t *partners, size_t n) {
  cluster *a = &x->clusters[c];
  bool improved = false;
  while (a->deficit > 0 && !is_spent(x)) {
    step best = {.gain = 0};
    for (size_t p = 0; p < n && !is_spent(x); p++)
      if (x->clusters[partners[p]].n) try_pair(x, a, &x->clusters[partners[p]], &best);
    if (best.gain > 0) apply(x, &best);
    else if (!dissolve(x, a, partners, n)) break;
    improved = true;
  }
  return improved;
}

static shoal_status descend(exchange *x, shoal_error *error) {
  for (size_t n_partners = MIN_PARTNERS;;) {
    bool improved = false;
    neighbours near;
    shoal_status status = find_neighbours(x, &near, error);
    for (uint32_t c = 0; status == SHOAL_OK && c < x->n_clusters && !is_spent(x); c++) {
      if (x->clusters[c].deficit <= 0) continue;
      size_t n = list_partners(&near, c, n_partners);
      improved = improve(x, c, near.partners, n) || improved;
      status = shoal_run_report(x->task->run, "repair", c, x->n_clusters, "classes", error);
    }
    uint32_t n_near = near.n;
    free_neighbours(&near);
    SHOAL_TRY(status);
    if (is_spent(x) || (!improved && n_partners >= n_near)) return SHOAL_OK;
    if (!improved) n_partners *= 4;
  }
}

/* ------------------------------------------------------------ equal labels */

/* The class of each cluster that is not empty: clusters with equal labels are one. */
static shoal_status find_classes(const exchange *x, uint32_t *class_of, uint32_t *clusters,
                                 uint32_t *n_clusters, shoal_error *error) {
  const shoal_axes *axes = x->task->axes;
  shoal_class_labels labels = {0};
  uint32_t n = 0, n_classes;
  shoal_span *boxes = shoal_alloc(x->n_clusters, axes->n_spans * sizeof *boxes);
  if (!boxes) return shoal_fail_memory(error);
  for (uint32_t c = 0; c < x->n_clusters; c++) {
    const cluster *from = &x->clusters[c];
    if (!from->n) continue;
    shoal_box_of(axes, boxes + (size_t)n * axes->n_spans, from->rows, from->n);
    clusters[n++] = c;
  }
  shoal_status status = shoal_class_labels_make(&labels, axes, boxes, n, error);
  if (status == SHOAL_OK)
    status = shoal_class_labels_unite(&labels, n, class_of, &n_classes, error);
  shoal_class_labels_reset(&labels);
  free(boxes);
  *n_clusters = n;
  return status;
}

/* Joins clusters whose labels are equal if they are no class that satisfies the requirements. */
static shoal_status unite(exchange *x, bool *any, shoal_error *error) {
  uint32_t *class_of = shoal_alloc(x->n_clusters, sizeof *class_of), n = 0;
  uint32_t *clusters = shoal_alloc(x->n_clusters, sizeof *clusters);
  uint32_t *first_of =
      shoal_alloc(x->n_clusters, sizeof *first_of); /* by class: its first cluster */
  shoal_status status = class_of && clusters && first_of
                            ? find_classes(x, class_of, clusters, &n, error)
                            : shoal_fail_memory(error);
  *any = false;
  if (status == SHOAL_OK) memset(first_of, 0xff, x->n_clusters * sizeof *first_of); /* SHOAL_NONE */
  for (uint32_t i = 0; status == SHOAL_OK && i < n && !is_spent(x); i++) {
    uint32_t *first = &first_of[class_of[i]];
    if (*first == SHOAL_NONE) *first = clusters[i];
    if (*first == clusters[i]) continue;
    step s = {.a = &x->clusters[*first], .b = &x->clusters[clusters[i]], .join = true};
    if (joined_deficit(x, s.a, s.b) <= 0) continue;
    apply(x, &s);
    *any = true;
  }
  free(class_of);
  free(clusters);
  free(first_of);
  return status;
}

/* Exchanges change labels: descends until no clusters are left that labels make one bad class. */
static shoal_status descend_and_unite(exchange *x, shoal_error *error) {
  bool any = true;
  for (int round = 0; round < MAX_UNITING && any; round++) {
    SHOAL_TRY(descend(x, error));
    SHOAL_TRY(unite(x, &any, error));
  }
  return SHOAL_OK;
}

/* ------------------------------------------------------------ states */

static double sum_of_deficits(const exchange *x) {
  double sum = 0;
  for (uint32_t c = 0; c < x->n_clusters; c++) sum += x->clusters[c].deficit;
  return sum;
}

/* Stores the clusters as `state`, and their sum of deficits. */
static void store(const exchange *x, state *to) {
  to->sum = sum_of_deficits(x);
  for (uint32_t c = 0; c < x->n_clusters; c++)
    for (size_t i = 0; i < x->clusters[c].n; i++) to->cluster_of_row[x->clusters[c].rows[i]] = c;
  for (size_t i = 0; i < x->bin.n; i++) to->cluster_of_row[x->bin.rows[i]] = x->n_clusters;
}

static void restore(exchange *x, const uint32_t *cluster_of_row) {
  if (x->failed) return; /* a row may be in no cluster */
  for (uint32_t c = 0; c < x->n_clusters; c++) x->clusters[c].n = 0;
  x->bin.n = 0;
  for (uint32_t row = 0; row < x->task->axes->n_rows; row++) {
    uint32_t c = cluster_of_row[row];
    (void)add_row(x, c == x->n_clusters ? &x->bin : &x->clusters[c], row);
  }
  for (uint32_t c = 0; c < x->n_clusters; c++) judge(x, &x->clusters[c]);
}

static cluster *random_cluster(exchange *x, bool violating) {
  for (;;) {
    cluster *c = &x->clusters[shoal_random_below(&x->random, x->n_clusters)];
    if (c->n && (!violating || c->deficit > 0)) return c;
  }
}

/* Moves a random row between a random violating cluster and another, or swaps two. */
static void shake(exchange *x) {
  cluster *a = random_cluster(x, true), *b = random_cluster(x, false);
  if (a == b) return;
  step s = {.a = a, .b = b, .from_a = SIZE_MAX, .from_b = SIZE_MAX};
  uint64_t how = shoal_random_below(&x->random, 3);
  if (how != 0) s.from_a = (size_t)shoal_random_below(&x->random, a->n);
  if (how != 1) s.from_b = (size_t)shoal_random_below(&x->random, b->n);
  apply(x, &s);
}

/* ------------------------------------------------------------ suppression */

/* Suppresses rows of one kind from the cluster: the kind that leaves the least deficit. */
static void suppress_from(exchange *x, cluster *c) {
  size_t kinds[MAX_KINDS], n = list_kinds(x, c, kinds), best = 0;
  double least = (double)UINT64_MAX;
  for (size_t i = 0; i < n && !is_spent(x); i++) {
    double after = deficit_with(x, c, kinds[i], SHOAL_NONE);
    if (after < least - EPSILON) best = kinds[i], least = after;
  }
  uint32_t kind = x->kind_of_row[c->rows[best]];
  uint64_t room = x->task->max_suppressed - x->bin.n, batch = (uint64_t)(c->deficit / 8);
  if (batch < 1) batch = 1;
  if (batch > room) batch = room;
  for (size_t i = c->n; i > 0 && batch && !x->failed; i--) {
    if (x->kind_of_row[c->rows[i - 1]] != kind) continue;
    (void)add_row(x, &x->bin, take_row(c, i - 1));
    batch--;
  }
  judge(x, c);
}

/* A deficit may rise before it falls, where several values are at a limit. */
static shoal_status suppress(exchange *x, shoal_error *error) {
  for (uint32_t c = 0; c < x->n_clusters; c++) {
    cluster *from = &x->clusters[c];
    double least = from->deficit;
    for (int idle = 0; from->deficit > 0 && x->bin.n < x->task->max_suppressed &&
                       idle < MAX_KINDS && !is_spent(x);
         idle++) {
      suppress_from(x, from);
      if (from->deficit < least - EPSILON) idle = -1, least = from->deficit;
      SHOAL_TRY(shoal_run_report(x->task->run, "repair", c, x->n_clusters, "classes", error));
    }
  }
  return SHOAL_OK;
}

/* Suppressed rows return to clusters that satisfy the requirements with them, too. */
static void bring_back(exchange *x) {
  for (size_t i = x->bin.n; i > 0; i--)
    for (uint32_t c = 0; c < x->n_clusters && !is_spent(x); c++) {
      cluster *to = &x->clusters[c];
      if (!to->n || to->deficit > 0) continue;
      if (deficit_with(x, to, SIZE_MAX, x->bin.rows[i - 1]) > 0) continue;
      (void)add_row(x, to, take_row(&x->bin, i - 1));
      break;
    }
}

/* ------------------------------------------------------------ all of it */

static shoal_status prepare(exchange *x, const shoal_partition *partition, shoal_error *error) {
  uint64_t n = x->task->axes->n_rows;
  const shoal_tracked *tracked = x->task->required->tracked;
  x->n_clusters = partition->n_clusters;
  x->max_work = MIN_WORK + WORK_PER_ROW * n;
  if (x->max_work > MAX_WORK) x->max_work = MAX_WORK;
  x->max_work = x->max_work / 5 * 4; /* the rest: search() */
  x->clusters = shoal_alloc_zero(x->n_clusters, sizeof *x->clusters);
  x->best.cluster_of_row = shoal_alloc((size_t)n, sizeof *x->best.cluster_of_row);
  x->current.cluster_of_row = shoal_alloc((size_t)n, sizeof *x->current.cluster_of_row);
  x->kind_of_row = shoal_alloc_zero((size_t)n, sizeof *x->kind_of_row);
  if (!x->clusters || !x->best.cluster_of_row || !x->current.cluster_of_row || !x->kind_of_row)
    return shoal_fail_memory(error);
  shoal_random_seed(&x->random, 1);
  for (size_t t = 0; t < tracked->n_columns; t++) {
    shoal_ids ids;
    if (!shoal_ids_init(&ids, 1024)) return shoal_fail_memory(error);
    bool ok = true;
    for (uint64_t row = 0; ok && row < n; row++) {
      uint64_t code = shoal_column_code(tracked->columns[t], row);
      uint32_t kind = shoal_ids_insert(&ids, (uint64_t)x->kind_of_row[row] << 32 | code);
      ok = kind != SHOAL_NONE;
      x->kind_of_row[row] = kind;
    }
    shoal_ids_reset(&ids);
    if (!ok) return shoal_fail_memory(error);
  }
  SHOAL_TRY(shoal_requirement_checker_init(&x->checker, x->task->required, error));
  restore(x, partition->cluster_of_row);
  return x->failed ? shoal_fail_memory(error) : SHOAL_OK;
}

static void keep_if_best(exchange *x) {
  if (sum_of_deficits(x) < x->best.sum - EPSILON) store(x, &x->best);
}

/* Suppresses rows of the current state; it is restored afterwards. */
static shoal_status try_suppressing(exchange *x, shoal_error *error) {
  if (x->best.sum <= 0 || !x->task->max_suppressed) return SHOAL_OK;
  SHOAL_TRY(suppress(x, error));
  keep_if_best(x);
  restore(x, x->current.cluster_of_row);
  return SHOAL_OK;
}

static shoal_status search(exchange *x, shoal_error *error) {
  store(x, &x->best);
  store(x, &x->current);
  for (int i = 0; i <= MAX_SHAKES && x->best.sum > 0 && !is_spent(x); i++) {
    if (i) shake(x);
    SHOAL_TRY(descend_and_unite(x, error));
    if (sum_of_deficits(x) <= x->current.sum + EPSILON) {
      keep_if_best(x);
      store(x, &x->current);
      SHOAL_TRY(try_suppressing(x, error));
    } else {
      restore(x, x->current.cluster_of_row);
    }
  }
  if (x->best.sum > 0) {
    x->max_work = x->max_work / 4 * 5;
    memset(x->current.cluster_of_row, 0, (size_t)x->task->axes->n_rows * sizeof(uint32_t));
    restore(x, x->current.cluster_of_row);
    SHOAL_TRY(try_suppressing(x, error));
  }
  restore(x, x->best.cluster_of_row);
  bring_back(x);
  return x->failed || x->checker.failed ? shoal_fail_memory(error) : SHOAL_OK;
}

/* Renumbers the clusters that are not empty; suppressed rows are the last one. */
static void write_partition(const exchange *x, shoal_partition *partition) {
  partition->n_clusters = 0;
  for (uint32_t c = 0; c <= x->n_clusters; c++) {
    const cluster *from = c < x->n_clusters ? &x->clusters[c] : &x->bin;
    for (size_t i = 0; i < from->n; i++)
      partition->cluster_of_row[from->rows[i]] = partition->n_clusters;
    partition->n_clusters += from->n > 0;
  }
  partition->n_abandoned = partition->n_single = x->bin.n;
}

shoal_status shoal_cluster_exchange(const shoal_cluster_task *task, shoal_partition *partition,
                                    shoal_error *error) {
  assert(partition->noise.n == 0);
  exchange x = {.task = task};
  shoal_status status = prepare(&x, partition, error);
  if (status == SHOAL_OK) status = search(&x, error);
  if (status == SHOAL_OK) write_partition(&x, partition);
  for (uint32_t c = 0; x.clusters && c < x.n_clusters; c++) free(x.clusters[c].rows);
  free(x.clusters);
  free(x.bin.rows);
  free(x.best.cluster_of_row);
  free(x.current.cluster_of_row);
  free(x.kind_of_row);
  free(x.scratch);
  shoal_requirement_checker_reset(&x.checker);
  return status;
}
