/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verify/models_close: t-closeness, the distance between a class and the original table (Li, Li &
 * Venkatasubramanian 2007). Part of the last step of verification (models.c).
 *
 * With n rows in the class and N in the table that have a value, f and F of them value v, the
 * extra of v is f/n - F/N. All extras are multiplied by nN, which makes them whole: f N - F n. Each
 * distance is then a whole number over nN times a unit that is the same for all classes:
 *
 *   equal         sum of |extra|, over 2
 *   ordered       sum of |extras of all values up to this one|, over m - 1
 *   hierarchical  sum over inner nodes of height x min(positive, negative extras of its children),
 *                 over the height of the tree
 *
 * Most values of the table do not occur in a given class. Their part comes from sums over the
 * table, so the cost of a class grows with its own values, not with those of the table.
 */
#include <stdlib.h>
#include <string.h>

#include "base/decimal.h"
#include "verify/models.h"

/* A value and its number, to be sorted. */
typedef struct ordered_value {
  shoal_verify_signed number; /* x 10^18 */
  size_t value;
} ordered_value;

typedef struct ranked_rows {
  uint64_t n_rows;
  size_t rank;
} ranked_rows;

typedef struct closeness {
  const shoal_verify_task *task;
  const shoal_verify_value *values; /* known */
  size_t n_values;
  uint64_t table_rows; /* N */
  uint64_t unit;       /* 0: all distances are 0 */

  /* ordered: of m ranks, 0 .. m - 1 */
  size_t n_ranks;
  ordered_value *order;
  size_t *rank_of;              /* by value */
  uint64_t *rows_up_to;         /* by rank: rows of the table */
  shoal_verify_wide *sum_below; /* by rank, and of m: sum of rows_up_to of the ranks below */
  ranked_rows *ranked;          /* of the current class */

  /* hierarchical: by node */
  shoal_verify_tree tree;
  uint64_t *rows_below; /* of the table */
  uint64_t *class_rows; /* of the current class; 0: the node is not touched */
  shoal_verify_wide
      *positive; /* sum of the positive extras of its children, in the current class */
  uint32_t *touched;

  shoal_arena arena; /* of the arrays */
} closeness;

/* The counts of a class; n is their sum. */
typedef struct class_view {
  const shoal_verify_count *counts;
  size_t n_counts;
  uint64_t n;
} class_view;

/* f N and F n of a value or node: their difference is its extra. */
typedef struct extra {
  shoal_verify_wide gained;
  shoal_verify_wide due;
} extra;

static extra extra_of(const closeness *close, const class_view *view, uint64_t class_rows,
                      uint64_t table_rows) {
  return (extra){.gained = (shoal_verify_wide)class_rows * close->table_rows,
                 .due = (shoal_verify_wide)table_rows * view->n};
}

/* ---------------------------------------------------------------- equal */

static shoal_status prepare_equal(closeness *close, shoal_error *error) {
  (void)error;
  close->unit = 2;
  return SHOAL_OK;
}

static shoal_verify_wide measure_equal(closeness *close, const class_view *view) {
  shoal_verify_wide sum = 0;
  uint64_t absent_rows = close->table_rows;
  for (size_t i = 0; i < view->n_counts; i++) {
    uint64_t table_rows = close->values[view->counts[i].value].n_original;
    extra of_value = extra_of(close, view, view->counts[i].n_rows, table_rows);
    sum += of_value.gained > of_value.due ? of_value.gained - of_value.due
                                          : of_value.due - of_value.gained;
    absent_rows -= table_rows;
  }
  return sum + (shoal_verify_wide)absent_rows * view->n;
}

/* ---------------------------------------------------------------- ordered */

static int by_number(const void *a, const void *b) {
  const ordered_value *x = a, *y = b;
  if (x->number != y->number) return x->number < y->number ? -1 : 1;
  return (x->value > y->value) - (x->value < y->value);
}

static int by_rank(const void *a, const void *b) {
  const ranked_rows *x = a, *y = b;
  return x->rank < y->rank ? -1 : x->rank > y->rank;
}

/* Reads a value whose decimal mark may be a comma; then a point is none. */
static bool parse_value(const shoal_verify_fold *fold, const char *text, shoal_decimal *number) {
  char copy[64]; /* longer ones have too many digits, or zeros that no program writes */
  size_t size = strlen(text);
  if (!fold || fold->decimal != ',')
    return shoal_decimal_parse(text, size, number) == SHOAL_NUMBER_OK;
  if (size >= sizeof copy || memchr(text, '.', size)) return false;
  for (size_t i = 0; i < size; i++) copy[i] = text[i] == ',' ? '.' : text[i];
  return shoal_decimal_parse(copy, size, number) == SHOAL_NUMBER_OK;
}

/* Sorts the values of the table by number. Every known value must be one; 36 digits fit 127 bits.
 */
static shoal_status order_values(closeness *close, shoal_error *error) {
  for (size_t v = 0; v < close->n_values; v++) {
    const char *text = close->values[v].value;
    shoal_decimal number;
    if (!parse_value(close->task->attribute->fold, text, &number))
      return shoal_verify_unprovable(close->task,
                                     "a value is not a number of at most 18 digits, of",
                                     close->task->attribute->name, error);
    if (!close->values[v].n_original) continue;
    shoal_verify_signed scaled = number.mantissa;
    for (unsigned scale = number.scale; scale < 18; scale++) scaled *= 10;
    close->order[close->n_ranks++] = (ordered_value){.number = scaled, .value = v};
  }
  qsort(close->order, close->n_ranks, sizeof *close->order, by_number);
  return SHOAL_OK;
}

static shoal_status prepare_ordered(closeness *close, shoal_error *error) {
  size_t n_values = close->n_values;
  shoal_arena *arena = &close->arena;
  if (!SHOAL_ARENA_ARRAY(arena, close->order, n_values) ||
      !SHOAL_ARENA_ZEROED(arena, close->rank_of, n_values) ||
      !SHOAL_ARENA_ARRAY(arena, close->rows_up_to, n_values) ||
      !SHOAL_ARENA_ZEROED(arena, close->sum_below, n_values + 1) ||
      !SHOAL_ARENA_ARRAY(arena, close->ranked, shoal_verify_max_values(close->task)))
    return shoal_fail_memory(error);
  SHOAL_TRY(order_values(close, error));
  size_t n_ordered = close->n_ranks;
  uint64_t rows = 0;
  close->n_ranks = 0;
  for (size_t i = 0; i < n_ordered; i++) { /* equal numbers have one rank, however written */
    size_t value = close->order[i].value;
    if (i == 0 || close->order[i].number != close->order[i - 1].number) close->n_ranks++;
    close->rank_of[value] = close->n_ranks - 1;
    rows += close->values[value].n_original; /* up to N in the end */
    close->rows_up_to[close->n_ranks - 1] = rows;
  }
  for (size_t rank = 0; rank < close->n_ranks; rank++)
    close->sum_below[rank + 1] = close->sum_below[rank] + close->rows_up_to[rank];
  close->unit = close->n_ranks - 1; /* N > 0, so there is at least one rank */
  return SHOAL_OK;
}

/*
 * The sum over the ranks from .. to - 1, where the class has `class_rows` rows up to each. The
 * table's rows increase: up to some rank the class is ahead, after it the table.
 */
static shoal_verify_wide measure_gap(const closeness *close, const class_view *view, size_t from,
                                     size_t to, uint64_t class_rows) {
  shoal_verify_wide gained = (shoal_verify_wide)class_rows * close->table_rows;
  size_t first_behind = from, end = to;
  while (first_behind < end) {
    size_t middle = first_behind + (end - first_behind) / 2;
    if ((shoal_verify_wide)close->rows_up_to[middle] * view->n > gained) end = middle;
    else first_behind = middle + 1;
  }
  const shoal_verify_wide *below = close->sum_below;
  shoal_verify_wide ahead =
      gained * (first_behind - from) - (below[first_behind] - below[from]) * view->n;
  return ahead + (below[to] - below[first_behind]) * view->n - gained * (to - first_behind);
}

static shoal_verify_wide measure_ordered(closeness *close, const class_view *view) {
  for (size_t i = 0; i < view->n_counts; i++)
    close->ranked[i] = (ranked_rows){.n_rows = view->counts[i].n_rows,
                                     .rank = close->rank_of[view->counts[i].value]};
  qsort(close->ranked, view->n_counts, sizeof *close->ranked, by_rank);
  shoal_verify_wide sum = 0;
  size_t from = 0;
  uint64_t class_rows = 0;
  for (size_t i = 0; i < view->n_counts; i++) {
    sum += measure_gap(close, view, from, close->ranked[i].rank, class_rows);
    from = close->ranked[i].rank;
    class_rows += close->ranked[i].n_rows;
  }
  return sum + measure_gap(close, view, from, close->n_ranks, class_rows);
}

/* ---------------------------------------------------------------- hierarchical */

static shoal_status prepare_hierarchical(closeness *close, shoal_error *error) {
  shoal_verify_tree *tree = &close->tree;
  SHOAL_TRY(shoal_verify_tree_build(close->task, tree, error));
  if (tree->n_roots != 1)
    return shoal_verify_unprovable(close->task, "no single root above the values of",
                                   close->task->attribute->name, error);
  uint32_t n_nodes = tree->nodes.n_ids;
  if (!SHOAL_ARENA_ZEROED(&close->arena, close->rows_below, n_nodes) ||
      !SHOAL_ARENA_ZEROED(&close->arena, close->class_rows, n_nodes) ||
      !SHOAL_ARENA_ZEROED(&close->arena, close->positive, n_nodes) ||
      !SHOAL_ARENA_ARRAY(&close->arena, close->touched, n_nodes))
    return shoal_fail_memory(error);
  for (size_t v = 0; v < close->n_values; v++)
    close->rows_below[tree->node_of[v]] += close->values[v].n_original;
  for (uint32_t node = n_nodes; node-- > 1;) /* 0 is the root */
    close->rows_below[shoal_verify_parent_of(tree, node)] += close->rows_below[node];
  close->unit = tree->heights[0];
  return SHOAL_OK;
}

/* Adds a child's positive extra to its parent; a value is a child of its own node. */
static void add_positive(closeness *close, uint32_t parent, extra child) {
  if (child.gained > child.due) close->positive[parent] += child.gained - child.due;
}

/*
 * Only nodes above a value of the class can have a child with a positive extra; other nodes add 0.
 * The negative extras follow, because a node's own extra is the sum of both.
 */
static shoal_verify_wide measure_hierarchical(closeness *close, const class_view *view) {
  const shoal_verify_tree *tree = &close->tree;
  size_t n_touched = 0;
  for (size_t i = 0; i < view->n_counts; i++) {
    size_t value = view->counts[i].value;
    uint32_t node = tree->node_of[value];
    uint64_t rows = view->counts[i].n_rows;
    add_positive(close, node, extra_of(close, view, rows, close->values[value].n_original));
    for (; node != SHOAL_VERIFY_NO_NODE; node = shoal_verify_parent_of(tree, node)) {
      if (!close->class_rows[node]) close->touched[n_touched++] = node;
      close->class_rows[node] += rows;
    }
  }
  for (size_t i = 0; i < n_touched; i++) {
    uint32_t node = close->touched[i], parent = shoal_verify_parent_of(tree, node);
    if (parent == SHOAL_VERIFY_NO_NODE) continue;
    add_positive(close, parent,
                 extra_of(close, view, close->class_rows[node], close->rows_below[node]));
  }
  shoal_verify_wide sum = 0;
  for (size_t i = 0; i < n_touched; i++) {
    uint32_t node = close->touched[i];
    extra own = extra_of(close, view, close->class_rows[node], close->rows_below[node]);
    shoal_verify_wide positive = close->positive[node];
    shoal_verify_wide negative = positive + own.due - own.gained;
    sum += (positive < negative ? positive : negative) * tree->heights[node];
    close->positive[node] = 0;
    close->class_rows[node] = 0;
  }
  return sum;
}

/* ---------------------------------------------------------------- the model */

static const struct distance {
  shoal_status (*prepare)(closeness *close, shoal_error *error);
  /* The distance times nN and the unit. No overflow if nN (unit + 2) does not overflow. */
  shoal_verify_wide (*measure)(closeness *close, const class_view *view);
} distances[] = {
    {prepare_equal, measure_equal},
    {prepare_ordered, measure_ordered},
    {prepare_hierarchical, measure_hierarchical},
};

/* Counts the rows of the original table, which must have every value of the release. */
static shoal_status count_table(closeness *close, shoal_error *error) {
  const shoal_verify_task *task = close->task;
  const shoal_verify_attribute *attribute = task->attribute;
  SHOAL_TRY(shoal_verify_need_values(task, error));
  close->values = attribute->known->values;
  close->n_values = attribute->known->n_values;
  for (size_t v = 0; v < close->n_values; v++)
    if (__builtin_add_overflow(close->table_rows, close->values[v].n_original, &close->table_rows))
      return shoal_verify_too_large(task, error);
  bool known = close->table_rows > 0;
  for (size_t i = 0; known && i < attribute->starts[task->tally->n_classes]; i++)
    known = close->values[attribute->counts[i].value].n_original > 0;
  if (known) return SHOAL_OK;
  return shoal_verify_unprovable(task, "the request lacks original rows of", attribute->name,
                                 error);
}

static shoal_status check_class(closeness *close, const struct distance *distance,
                                shoal_verify_fraction t, size_t class_id,
                                shoal_verify_damage *damage, shoal_error *error) {
  class_view view = {0};
  view.counts = shoal_verify_counts_of(close->task->attribute, class_id, &view.n_counts);
  for (size_t i = 0; i < view.n_counts; i++) view.n += view.counts[i].n_rows;
  shoal_verify_wide whole = (shoal_verify_wide)view.n * close->table_rows, room = whole;
  if (!shoal_verify_times(&room, (shoal_verify_wide)close->unit + 2))
    return shoal_verify_too_large(close->task, error);
  /* A class without a value violates. */
  if (!view.n || shoal_verify_compare(distance->measure(close, &view), whole * close->unit, t) > 0)
    shoal_verify_add_damage(damage, close->task, class_id);
  return SHOAL_OK;
}

static shoal_status check_classes(closeness *close, const struct distance *distance,
                                  shoal_verify_fraction t, shoal_verify_damage *damage,
                                  shoal_error *error) {
  SHOAL_TRY(count_table(close, error));
  SHOAL_TRY(distance->prepare(close, error));
  for (size_t c = 0; c < close->task->tally->n_classes; c++)
    SHOAL_TRY(check_class(close, distance, t, c, damage, error));
  return SHOAL_OK;
}

/* The distance of every class from the original table is at most t. */
shoal_status shoal_verify_t_closeness(const shoal_verify_task *task, shoal_verify_damage *damage,
                                      shoal_error *error) {
  static const char *const names[] = {"equal", "ordered", "hierarchical", NULL};
  size_t name;
  shoal_verify_fraction t;
  SHOAL_TRY(shoal_verify_find_word(task, "distance", names, &name, error));
  SHOAL_TRY(shoal_verify_find_fraction(task, "t", SHOAL_VERIFY_SHARE, &t, error));
  closeness close = {.task = task};
  shoal_status status = check_classes(&close, &distances[name], t, damage, error);
  shoal_verify_tree_reset(&close.tree);
  shoal_arena_reset(&close.arena);
  return status;
}
