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
 * Rows with equal tracked values are equal to the models: one of each kind is tried. The work is
 * bounded by kinds looked at, so results do not depend on the machine. exchange_clusters.c has the
 * clusters, exchange_descent.c the steps, exchange_suppress.c the suppression of rows.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
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
static shoal_status find_classes(const shoal_exchange *x, uint32_t *class_of, uint32_t *clusters,
                                 uint32_t *n_clusters, shoal_error *error) {
  const shoal_axes *axes = x->task->axes;
  shoal_class_labels labels = {0};
  uint32_t n = 0, n_classes;
  shoal_span *boxes = shoal_alloc(x->n_clusters, axes->n_spans * sizeof *boxes);
  if (!boxes) return shoal_fail_memory(error);
  for (uint32_t c = 0; c < x->n_clusters; c++) {
    const shoal_exchange_cluster *from = &x->clusters[c];
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
static shoal_status unite(shoal_exchange *x, bool *any, shoal_error *error) {
  uint32_t *class_of = shoal_alloc(x->n_clusters, sizeof *class_of), n = 0;
  uint32_t *clusters = shoal_alloc(x->n_clusters, sizeof *clusters);
  uint32_t *first_of =
      shoal_alloc(x->n_clusters, sizeof *first_of); /* by class: its first shoal_exchange_cluster */
  shoal_status status = class_of && clusters && first_of
                            ? find_classes(x, class_of, clusters, &n, error)
                            : shoal_fail_memory(error);
  *any = false;
  if (status == SHOAL_OK) memset(first_of, 0xff, x->n_clusters * sizeof *first_of); /* SHOAL_NONE */
  for (uint32_t i = 0; status == SHOAL_OK && i < n && !shoal_exchange_is_spent(x); i++) {
    uint32_t *first = &first_of[class_of[i]];
    if (*first == SHOAL_NONE) *first = clusters[i];
    if (*first == clusters[i]) continue;
    shoal_exchange_step s = {
        .a = &x->clusters[*first], .b = &x->clusters[clusters[i]], .join = true};
    if (shoal_exchange_joined(x, s.a, s.b) <= 0) continue;
    shoal_exchange_apply(x, &s);
    *any = true;
  }
  free(class_of);
  free(clusters);
  free(first_of);
  return status;
}

/* Exchanges change labels: descends until no clusters are left that labels make one bad class. */
static shoal_status descend_and_unite(shoal_exchange *x, shoal_error *error) {
  bool any = true;
  for (int round = 0; round < MAX_UNITING && any; round++) {
    SHOAL_TRY(shoal_exchange_descend(x, error));
    SHOAL_TRY(unite(x, &any, error));
  }
  return SHOAL_OK;
}

/* ------------------------------------------------------------ states */

static double sum_of_deficits(const shoal_exchange *x) {
  double sum = 0;
  for (uint32_t c = 0; c < x->n_clusters; c++) sum += x->clusters[c].deficit;
  return sum;
}

/* Stores the clusters as `state`, and their sum of deficits. */
static void store(const shoal_exchange *x, shoal_exchange_state *to) {
  to->sum = sum_of_deficits(x);
  for (uint32_t c = 0; c < x->n_clusters; c++)
    for (size_t i = 0; i < x->clusters[c].n; i++) to->cluster_of_row[x->clusters[c].rows[i]] = c;
  for (size_t i = 0; i < x->bin.n; i++) to->cluster_of_row[x->bin.rows[i]] = x->n_clusters;
}

static void restore(shoal_exchange *x, const uint32_t *cluster_of_row) {
  if (x->failed) return; /* a row may be in no shoal_exchange_cluster */
  for (uint32_t c = 0; c < x->n_clusters; c++) shoal_exchange_empty(&x->clusters[c]);
  shoal_exchange_empty(&x->bin);
  for (uint32_t row = 0; row < x->task->axes->n_rows; row++) {
    uint32_t c = cluster_of_row[row];
    (void)shoal_exchange_add(x, c == x->n_clusters ? &x->bin : &x->clusters[c], row);
  }
  for (uint32_t c = 0; c < x->n_clusters; c++) shoal_exchange_judge(x, &x->clusters[c]);
}

static shoal_exchange_cluster *random_cluster(shoal_exchange *x, bool violating) {
  for (;;) {
    shoal_exchange_cluster *c = &x->clusters[shoal_random_below(&x->random, x->n_clusters)];
    if (c->n && (!violating || c->deficit > 0)) return c;
  }
}

/* Moves a random row between a random violating cluster and another, or swaps two. */
static void shake(shoal_exchange *x) {
  shoal_exchange_cluster *a = random_cluster(x, true), *b = random_cluster(x, false);
  if (a == b) return;
  shoal_exchange_step s = {.a = a, .b = b, .from_a = SHOAL_NONE, .from_b = SHOAL_NONE};
  uint64_t how = shoal_random_below(&x->random, 3);
  if (how != 0) s.from_a = x->kind_of_row[a->rows[shoal_random_below(&x->random, a->n)]];
  if (how != 1) s.from_b = x->kind_of_row[b->rows[shoal_random_below(&x->random, b->n)]];
  shoal_exchange_apply(x, &s);
}

/* ------------------------------------------------------------ all of it */

/* Divides kinds by the value that rows have in a column, or by its group. */
static shoal_status divide_kinds(shoal_exchange *x, const shoal_column *column,
                                 const uint32_t *group_of, shoal_error *error) {
  shoal_ids ids;
  bool ok = true;
  if (!shoal_ids_init(&ids, 1024)) return shoal_fail_memory(error);
  for (uint64_t row = 0; ok && row < x->task->axes->n_rows; row++) {
    uint32_t value = shoal_column_code(column, row);
    if (group_of) value = group_of[value];
    uint32_t kind = shoal_ids_insert(&ids, (uint64_t)x->kind_of_row[row] << 32 | value);
    ok = kind != SHOAL_NONE;
    x->kind_of_row[row] = kind;
  }
  shoal_ids_reset(&ids);
  return ok ? SHOAL_OK : shoal_fail_memory(error);
}

/* Rows are of one kind if they are equal to every requirement. */
static shoal_status find_kinds(shoal_exchange *x, shoal_error *error) {
  const shoal_cluster_requirements *required = x->task->required;
  const shoal_column *const *columns = required->tracked->columns;
  for (size_t d = 0; d < required->n_counts; d++)
    SHOAL_TRY(divide_kinds(x, required->counts[d].column, required->counts[d].group_of, error));
  for (size_t i = 0; i < required->n_others; i++) {
    const shoal_requirement *other = required->others[i];
    const shoal_model_type *type = other->type;
    shoal_distinct groups = {0}; /* of a model that knows groups of values only */
    if (type->groups && type->balances) (void)type->balances(other, &groups);
    if (other->sensitive != SHOAL_NO_ATTRIBUTE)
      SHOAL_TRY(divide_kinds(x, columns[other->sensitive], groups.group_of, error));
    if (other->guard != SHOAL_NO_ATTRIBUTE)
      SHOAL_TRY(divide_kinds(x, columns[other->guard], NULL, error));
  }
  return SHOAL_OK;
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
  SHOAL_TRY(find_kinds(x, error));
  for (uint32_t row = 0; row < n; row++) x->row_of_kind[x->kind_of_row[row]] = row;
  SHOAL_TRY(shoal_requirement_checker_init(&x->checker, x->task->required, error));
  restore(x, partition->cluster_of_row);
  return x->failed ? shoal_fail_memory(error) : SHOAL_OK;
}

static void keep_if_best(shoal_exchange *x) {
  if (sum_of_deficits(x) < x->best.sum - SHOAL_EXCHANGE_EPSILON) store(x, &x->best);
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
  SHOAL_TRY(shoal_exchange_suppress(x, error));
  keep_if_best(x);
  restore(x, cluster_of_row);
  return SHOAL_OK;
}

/* Each attempt may do a tenth of all work: suppress rows of the best state, and of one class. */
static shoal_status try_last(shoal_exchange *x, shoal_error *error) {
  uint64_t share = x->max_work / 8;
  x->max_work += share;
  restore(x, x->best.cluster_of_row);
  if (is_enough(x)) return SHOAL_OK;
  SHOAL_TRY(try_suppressing(x, x->best.cluster_of_row, error));
  if (x->best.sum <= 0 || is_enough(x)) return SHOAL_OK;
  x->max_work += share;
  memset(x->current.cluster_of_row, 0, (size_t)x->task->axes->n_rows * sizeof(uint32_t));
  restore(x, x->current.cluster_of_row);
  return try_suppressing(x, x->current.cluster_of_row, error);
}

static shoal_status search(shoal_exchange *x, shoal_error *error) {
  bool enough = false;
  uint64_t max_shakes = MIN_SHAKES + (uint64_t)SHAKES_PER_CLUSTER * x->n_clusters;
  store(x, &x->best);
  store(x, &x->current);
  for (uint64_t i = 0; i <= max_shakes && x->best.sum > 0 && !enough && !shoal_exchange_is_spent(x);
       i++) {
    if (i) shake(x);
    SHOAL_TRY(descend_and_unite(x, error));
    if (sum_of_deficits(x) > x->current.sum + SHOAL_EXCHANGE_EPSILON) {
      restore(x, x->current.cluster_of_row);
      continue;
    }
    keep_if_best(x);
    store(x, &x->current);
    enough = is_enough(x);
    if (enough) store(x, &x->best);
    else SHOAL_TRY(try_suppressing(x, x->current.cluster_of_row, error));
  }
  if (x->best.sum > 0 && !enough) SHOAL_TRY(try_last(x, error));
  restore(x, x->best.cluster_of_row);
  shoal_exchange_bring_back(x);
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
