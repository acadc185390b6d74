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
 * all states the one with the least sum of deficits is kept. Each time all are stuck and clusters
 * that violate are more than max_suppressed allows, single rows are suppressed, of the kind that
 * lowers a deficit most. The last attempt is to suppress rows of all rows as one class. At the end
 * suppressed rows return to clusters that allow it.
 *
 * Clusters with equal labels are one class of the release. If they violate the requirements
 * together, they become one cluster that satisfies them and one of the rows that are too many,
 * which the next steps give to others.
 *
 * Rows with equal tracked values are equal to the models: one of each kind is tried. The work is
 * bounded by kinds and boxes looked at, so results do not depend on the machine.
 * exchange_clusters.c has the clusters, exchange_steps.c the steps.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "cluster/exchange.h"

enum {
  MIN_SHAKES = 200, /* random moves or swaps after all clusters are stuck, and */
  SHAKES_PER_CLUSTER = 20,
  MAX_UNITING = 8 /* rounds of joining clusters with equal labels */
};

/* Kinds looked at, at most; a fifth of it is for the last attempts. */
static const uint64_t MIN_WORK = 40000000, WORK_PER_ROW = 10000, MAX_WORK = 2000000000;

/* ------------------------------------------------------------ equal labels */

/* The class of each cluster that is not empty: clusters with equal labels are one. */
static shoal_status find_classes(shoal_exchange *x, uint32_t *class_of, uint32_t *clusters,
                                 uint32_t *n_clusters, shoal_error *error) {
  const shoal_axes *axes = x->task->axes;
  shoal_class_labels labels = {0};
  uint32_t n = 0, n_classes;
  shoal_span *boxes = shoal_alloc(x->n_clusters, axes->n_spans * sizeof *boxes);
  if (!boxes) return shoal_fail_memory(error);
  x->work += x->n_clusters;
  for (uint32_t c = 0; c < x->n_clusters; c++) {
    if (!x->clusters[c].n) continue;
    shoal_exchange_box(x, &x->clusters[c], boxes + (size_t)n * axes->n_spans);
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

/* Moves rows to an empty cluster until c satisfies the requirements. If it never does, they return.
 */
static void split(shoal_exchange *x, shoal_exchange_cluster *c, shoal_exchange_cluster *rest) {
  assert(rest->n == 0);
  shoal_exchange_relieve(x, c, rest, c->n);
  shoal_exchange_judge(x, rest);
  shoal_exchange_step back = {.a = c, .b = rest, .join = true};
  if (c->deficit > 0) shoal_exchange_apply(x, &back);
}

/*
 * Clusters of one class, a list of indices into `clusters`: if they violate the requirements
 * together, they become one cluster that satisfies them, and one of the rows that are too many.
 */
static bool unite_class(shoal_exchange *x, const uint32_t *clusters, const uint32_t *next,
                        uint32_t first) {
  shoal_exchange_cluster *a = &x->clusters[clusters[first]], *last = NULL, all = {0};
  for (uint32_t i = first; i != SHOAL_NONE; i = next[i]) {
    last = &x->clusters[clusters[i]];
    for (size_t r = 0; r < last->n; r++) (void)shoal_exchange_add(x, &all, last->rows[r]);
  }
  shoal_exchange_judge(x, &all);
  if (all.deficit <= 0 || x->failed) {
    shoal_exchange_free(&all);
    return false;
  }
  for (uint32_t i = first; i != SHOAL_NONE; i = next[i])
    shoal_exchange_empty(&x->clusters[clusters[i]]);
  shoal_exchange_free(a);
  *a = all;
  split(x, a, last);
  return true;
}

/* Clusters whose labels are equal are one class: makes them one cluster where that violates. */
static shoal_status unite(shoal_exchange *x, bool *any, shoal_error *error) {
  uint32_t *class_of = shoal_alloc(x->n_clusters, sizeof *class_of), n = 0;
  uint32_t *clusters = shoal_alloc(x->n_clusters, sizeof *clusters);
  uint32_t *next = shoal_alloc(x->n_clusters, sizeof *next);         /* of the same class */
  uint32_t *first_of = shoal_alloc(x->n_clusters, sizeof *first_of); /* by class */
  shoal_status status = class_of && clusters && next && first_of
                            ? find_classes(x, class_of, clusters, &n, error)
                            : shoal_fail_memory(error);
  *any = false;
  if (status == SHOAL_OK) memset(first_of, 0xff, x->n_clusters * sizeof *first_of); /* SHOAL_NONE */
  for (uint32_t i = n; status == SHOAL_OK && i-- > 0;) {
    next[i] = first_of[class_of[i]];
    first_of[class_of[i]] = i;
  }
  for (uint32_t i = 0; status == SHOAL_OK && i < n && !shoal_exchange_is_spent(x); i++)
    if (first_of[class_of[i]] == i && next[i] != SHOAL_NONE)
      *any = unite_class(x, clusters, next, i) || *any;
  if (shoal_exchange_is_spent(x)) *any = true; /* some classes were not looked at */
  free(class_of);
  free(clusters);
  free(next);
  free(first_of);
  return status;
}

static double sum_of_deficits(const shoal_exchange *x) {
  double sum = 0;
  for (uint32_t c = 0; c < x->n_clusters; c++) sum += x->clusters[c].deficit;
  return sum;
}

typedef shoal_status (*shoal_exchange_steps)(shoal_exchange *x, shoal_error *error);

/*
 * Steps change labels: takes them until no clusters are left that labels make one bad class.
 * *settled: there are none.
 */
static shoal_status repeat(shoal_exchange *x, shoal_exchange_steps steps, bool *settled,
                           shoal_error *error) {
  bool any = true;
  double before = (double)UINT64_MAX;
  for (int round = 0; round < MAX_UNITING && any; round++) {
    SHOAL_TRY(steps(x, error));
    SHOAL_TRY(unite(x, &any, error));
    double sum = sum_of_deficits(x);
    if (sum >= before) break; /* the steps return to where they were */
    before = sum;
  }
  *settled = !any;
  return SHOAL_OK;
}

/* ------------------------------------------------------------ states */

/* Stores the clusters as `state`, and their sum of deficits. */
static void store(const shoal_exchange *x, shoal_exchange_state *to) {
  to->sum = sum_of_deficits(x);
  for (uint32_t c = 0; c < x->n_clusters; c++)
    for (size_t i = 0; i < x->clusters[c].n; i++) to->cluster_of_row[x->clusters[c].rows[i]] = c;
  for (size_t i = 0; i < x->bin.n; i++) to->cluster_of_row[x->bin.rows[i]] = x->n_clusters;
}

/* Does the state have exactly these rows in cluster c? n: its rows in the state. */
static bool is_as_in(const shoal_exchange_cluster *at, const uint32_t *cluster_of_row, uint32_t c,
                     uint32_t n) {
  if (at->n != n) return false;
  for (size_t i = 0; i < at->n; i++)
    if (cluster_of_row[at->rows[i]] != c) return false;
  return true;
}

/* Makes the clusters those of the state. Only clusters that differ are built again. */
static shoal_status restore(shoal_exchange *x, const uint32_t *cluster_of_row, shoal_error *error) {
  if (x->failed) return shoal_fail_memory(error); /* a row may be in no cluster */
  uint64_t n_rows = x->task->axes->n_rows;
  uint32_t *n_of = shoal_alloc_zero((size_t)x->n_clusters + 1, sizeof *n_of);
  if (!n_of) return shoal_fail_memory(error);
  x->work += x->n_clusters;
  for (uint64_t row = 0; row < n_rows; row++) n_of[cluster_of_row[row]]++;
  for (uint32_t c = 0; c <= x->n_clusters; c++) {
    shoal_exchange_cluster *at = c < x->n_clusters ? &x->clusters[c] : &x->bin;
    if (is_as_in(at, cluster_of_row, c, n_of[c])) n_of[c] = 0; /* it has all its rows */
    else shoal_exchange_empty(at);
  }
  for (uint32_t row = 0; row < n_rows; row++) {
    uint32_t c = cluster_of_row[row];
    if (n_of[c]) (void)shoal_exchange_add(x, c == x->n_clusters ? &x->bin : &x->clusters[c], row);
  }
  for (uint32_t c = 0; c < x->n_clusters; c++)
    if (n_of[c]) shoal_exchange_judge(x, &x->clusters[c]);
  free(n_of);
  return x->failed ? shoal_fail_memory(error) : SHOAL_OK;
}

static shoal_exchange_cluster *random_cluster(shoal_exchange *x, bool violating) {
  for (;;) {
    shoal_exchange_cluster *c = &x->clusters[shoal_random_below(&x->random, x->n_clusters)];
    if (c->n && (!violating || c->deficit > 0)) return c;
  }
}

/* Moves a random row between a random violating cluster and another, or swaps two. */
static void shake(shoal_exchange *x) {
  shoal_exchange_cluster *a = random_cluster(x, sum_of_deficits(x) > 0);
  shoal_exchange_cluster *b = random_cluster(x, false);
  if (a == b) return;
  shoal_exchange_step s = {.a = a, .b = b, .from_a = SHOAL_NONE, .from_b = SHOAL_NONE};
  uint64_t how = shoal_random_below(&x->random, 3);
  if (how != 0) s.from_a = x->kind_of_row[a->rows[shoal_random_below(&x->random, a->n)]];
  if (how != 1) s.from_b = x->kind_of_row[b->rows[shoal_random_below(&x->random, b->n)]];
  shoal_exchange_apply(x, &s);
}

/* ------------------------------------------------------------ all of it */

/* Divides kinds by a tracked column, if there is one. False: no memory. */
static bool divide_kinds(shoal_exchange *x, size_t tracked, const uint32_t *group_of) {
  const shoal_column *const *columns = x->task->required->tracked->columns;
  return tracked == SHOAL_NO_ATTRIBUTE ||
         shoal_split_kinds(x->kind_of_row, x->task->axes->n_rows, columns[tracked], group_of) !=
             SHOAL_NONE;
}

/* Rows are of one kind if they are equal to every requirement. False: no memory. */
static bool find_kinds(shoal_exchange *x) {
  const shoal_cluster_requirements *required = x->task->required;
  bool ok = true;
  for (size_t d = 0; ok && d < required->n_counts; d++)
    ok = divide_kinds(x, required->counts[d].tracked, required->counts[d].group_of);
  for (size_t i = 0; ok && i < required->n_others; i++) {
    const shoal_requirement *other = required->others[i];
    const shoal_model_type *type = other->type;
    shoal_distinct groups = {0}; /* of a model that knows groups of values only */
    if (type->groups && type->balances) (void)type->balances(other, &groups);
    ok = divide_kinds(x, other->sensitive, groups.group_of) &&
         (!other->pairs || divide_kinds(x, other->pair_column, NULL)) &&
         (!other->counts_people || divide_kinds(x, other->people, NULL)) &&
         divide_kinds(x, other->guard, NULL);
  }
  return ok;
}

static shoal_status prepare(shoal_exchange *x, const shoal_partition *partition,
                            shoal_error *error) {
  uint64_t n = x->task->axes->n_rows;
  x->n_clusters = partition->n_clusters;
  x->max_work = MIN_WORK + WORK_PER_ROW * n;
  if (x->max_work > MAX_WORK) x->max_work = MAX_WORK;
  x->max_work = x->max_work / 5 * 4; /* the rest: try_last() */
  x->clusters = shoal_alloc_zero(x->n_clusters, sizeof *x->clusters);
  x->best.cluster_of_row = shoal_alloc((size_t)n, sizeof *x->best.cluster_of_row);
  x->current.cluster_of_row = shoal_alloc((size_t)n, sizeof *x->current.cluster_of_row);
  x->kind_of_row = shoal_alloc_zero((size_t)n, sizeof *x->kind_of_row);
  x->row_of_kind = shoal_alloc((size_t)n, sizeof *x->row_of_kind);
  if (!x->clusters || !x->best.cluster_of_row || !x->current.cluster_of_row || !x->kind_of_row ||
      !x->row_of_kind)
    return shoal_fail_memory(error);
  shoal_random_seed(&x->random, 1);
  if (!find_kinds(x)) return shoal_fail_memory(error);
  for (uint32_t row = 0; row < n; row++) x->row_of_kind[x->kind_of_row[row]] = row;
  SHOAL_TRY(shoal_requirement_checker_init(&x->checker, x->task->required, error));
  return restore(x, partition->cluster_of_row, error);
}

/* Merging may still help a state that is not settled: it counts as one row away. */
static void keep_if_best(shoal_exchange *x, bool settled) {
  double sum = sum_of_deficits(x) + !settled;
  if (sum >= x->best.sum - SHOAL_EXCHANGE_EPSILON) return;
  store(x, &x->best);
  x->best.sum = sum;
}

/* Rows of clusters that violate a requirement. */
static uint64_t violating_rows(const shoal_exchange *x) {
  uint64_t n = 0;
  for (uint32_t c = 0; c < x->n_clusters; c++)
    if (x->clusters[c].deficit > 0) n += x->clusters[c].n;
  return n;
}

/* Do clusters satisfy the requirements if those that violate them are suppressed as a whole? */
static bool is_enough(const shoal_exchange *x) {
  uint64_t n = violating_rows(x) + x->bin.n;
  return n <= x->task->max_suppressed && n < x->task->axes->n_rows;
}

/* Suppresses single rows of the state, which is restored afterwards. */
static shoal_status try_suppressing(shoal_exchange *x, const uint32_t *cluster_of_row,
                                    shoal_error *error) {
  if (x->best.sum <= 0 || !x->task->max_suppressed) return SHOAL_OK;
  bool settled;
  SHOAL_TRY(repeat(x, shoal_exchange_suppress, &settled, error));
  keep_if_best(x, settled);
  return restore(x, cluster_of_row, error);
}

/* Each attempt may do a tenth of all work: suppress rows of the best state, and of one class. */
static shoal_status try_last(shoal_exchange *x, shoal_error *error) {
  uint64_t share = x->max_work / 8;
  x->max_work += share;
  SHOAL_TRY(restore(x, x->best.cluster_of_row, error));
  if (is_enough(x)) return SHOAL_OK;
  SHOAL_TRY(try_suppressing(x, x->best.cluster_of_row, error));
  if (x->best.sum <= 0 || is_enough(x)) return SHOAL_OK;
  x->max_work += share;
  memset(x->current.cluster_of_row, 0, (size_t)x->task->axes->n_rows * sizeof(uint32_t));
  SHOAL_TRY(restore(x, x->current.cluster_of_row, error));
  return try_suppressing(x, x->current.cluster_of_row, error);
}

static shoal_status search(shoal_exchange *x, shoal_error *error) {
  bool enough = false, settled;
  uint64_t max_shakes = MIN_SHAKES + (uint64_t)SHAKES_PER_CLUSTER * x->n_clusters;
  store(x, &x->best);
  x->best.sum = (double)UINT64_MAX; /* its labels are not known yet */
  store(x, &x->current);
  for (uint64_t i = 0; i <= max_shakes && x->best.sum > 0 && !enough && !shoal_exchange_is_spent(x);
       i++) {
    if (i) shake(x);
    SHOAL_TRY(repeat(x, shoal_exchange_descend, &settled, error));
    if (sum_of_deficits(x) > x->current.sum + SHOAL_EXCHANGE_EPSILON) {
      SHOAL_TRY(restore(x, x->current.cluster_of_row, error));
      continue;
    }
    keep_if_best(x, settled);
    store(x, &x->current);
    enough = settled && is_enough(x);
    if (enough) store(x, &x->best);
    else SHOAL_TRY(try_suppressing(x, x->current.cluster_of_row, error));
  }
  if (x->best.sum > 0 && !enough) SHOAL_TRY(try_last(x, error));
  SHOAL_TRY(restore(x, x->best.cluster_of_row, error));
  if (x->bin.n) {
    bool any;
    shoal_exchange_bring_back(x);
    SHOAL_TRY(unite(x, &any, error));
    if (any) SHOAL_TRY(restore(x, x->best.cluster_of_row, error)); /* the rows make labels equal */
  }
  return x->failed || x->checker.failed ? shoal_fail_memory(error) : SHOAL_OK;
}

/* Renumbers the clusters that are not empty; suppressed rows are the last one. */
static void write_partition(const shoal_exchange *x, shoal_partition *partition) {
  partition->n_clusters = 0;
  for (uint32_t c = 0; c <= x->n_clusters; c++) {
    const shoal_exchange_cluster *from = c < x->n_clusters ? &x->clusters[c] : &x->bin;
    for (size_t i = 0; i < from->n; i++)
      partition->cluster_of_row[from->rows[i]] = partition->n_clusters;
    partition->n_clusters += from->n > 0;
  }
  partition->n_single = x->bin.n;
  partition->n_abandoned = x->bin.n + (is_enough(x) ? violating_rows(x) : 0);
}

shoal_status shoal_cluster_exchange(const shoal_cluster_task *task, shoal_partition *partition,
                                    shoal_error *error) {
  assert(partition->noise.n == 0);
  shoal_exchange x = {.task = task};
  shoal_status status = prepare(&x, partition, error);
  if (status == SHOAL_OK) status = search(&x, error);
  if (status == SHOAL_OK) write_partition(&x, partition);
  for (uint32_t c = 0; x.clusters && c < x.n_clusters; c++) shoal_exchange_free(&x.clusters[c]);
  free(x.clusters);
  shoal_exchange_free(&x.bin);
  free(x.best.cluster_of_row);
  free(x.current.cluster_of_row);
  free(x.kind_of_row);
  free(x.row_of_kind);
  free(x.scratch_rows);
  free(x.scratch_counts);
  shoal_requirement_checker_reset(&x.checker);
  return status;
}
