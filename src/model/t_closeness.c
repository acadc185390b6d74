/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model/t_closeness: the earth mover's distance between the sensitive values of a class and those
 * of the whole original table is at most t (Li et al. 2007; docs/reading-the-papers.md R22). Ground
 * distances: equal (half the sum of differences), ordered (by rank), hierarchical (height of the
 * lowest common ancestor over that of the tree). Not monotone if rows may be suppressed (R2), but
 * two classes that satisfy it merge into one that does.
 *
 * With f of n rows in the class and F of N in the table, a difference is f/n - F/N. All sums here
 * are exact, of f N - F n, and are divided by n N at the end. The cost per class depends on its own
 * values, not on all values of the table.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/wide.h"
#include "model/types.h"

enum { T, DISTANCE };
enum { EQUAL, ORDERED, HIERARCHICAL };

typedef struct closeness {
  uint64_t *table_rows; /* F, by value; 0 for missing ones */
  uint64_t n_table;     /* N */
  uint32_t n_values;    /* distinct, not missing */
  /* ordered */
  uint32_t n_ranks;         /* distinct numbers */
  uint32_t *rank;           /* by value */
  uint64_t *up_to;          /* by rank: F of this and all lower ranks */
  shoal_uint128 *sum_up_to; /* by rank: sum of up_to of all lower ranks */
  /* hierarchical */
  const shoal_hierarchy *tree;
  uint64_t **label_rows; /* by level and label: F */
  shoal_arena arena;     /* of the arrays but table_rows */
} closeness;

static void release(void *own) {
  closeness *self = own;
  if (!self) return;
  shoal_arena_reset(&self->arena);
  free(self->table_rows);
  free(self);
}

/* ------------------------------------------------------------ preparing */

typedef struct ordered_value {
  int64_t number;
  uint32_t value;
} ordered_value;

static int by_number(const void *a, const void *b) {
  const ordered_value *x = a, *y = b;
  if (x->number != y->number) return x->number < y->number ? -1 : 1;
  return (x->value > y->value) - (x->value < y->value);
}

static shoal_status rank_values(closeness *self, const shoal_model_context *context,
                                const int64_t *numbers, shoal_error *error) {
  const shoal_column *column = context->sensitive->column;
  ordered_value *order = shoal_alloc(column->n_values, sizeof *order);
  bool ok = order && SHOAL_ARENA_ZEROED(&self->arena, self->rank, column->n_values) &&
            SHOAL_ARENA_ARRAY(&self->arena, self->up_to, self->n_values) &&
            SHOAL_ARENA_ARRAY(&self->arena, self->sum_up_to, (size_t)self->n_values + 1);
  if (ok) {
    uint32_t n = 0;
    for (uint32_t v = 0; v < column->n_values; v++)
      if (!shoal_column_missing(column, v)) order[n++] = (ordered_value){numbers[v], v};
    if (n > 1) qsort(order, n, sizeof *order, by_number);
    uint64_t rows = 0;
    self->n_ranks = 0;
    for (uint32_t i = 0; i < n; i++) { /* spellings of one number have one rank */
      if (i == 0 || order[i].number != order[i - 1].number) self->n_ranks++;
      self->rank[order[i].value] = self->n_ranks - 1;
      rows += self->table_rows[order[i].value];
      self->up_to[self->n_ranks - 1] = rows;
    }
    self->sum_up_to[0] = 0;
    for (uint32_t r = 0; r < self->n_ranks; r++)
      self->sum_up_to[r + 1] = self->sum_up_to[r] + self->up_to[r];
  }
  free(order);
  return ok ? SHOAL_OK : shoal_fail_memory(error);
}

static shoal_status prepare(shoal_requirement *requirement, const shoal_model_context *context,
                            shoal_error *error) {
  const shoal_column *column = context->sensitive->column;
  closeness *self = shoal_alloc_zero(1, sizeof *self);
  if (!self) return shoal_fail_memory(error);
  requirement->own = self;
  self->table_rows = shoal_requirement_count_values(requirement, context->table, column);
  if (!self->table_rows) return shoal_fail_memory(error);
  for (uint32_t v = 0; v < column->n_values; v++) {
    if (shoal_column_missing(column, v)) self->table_rows[v] = 0;
    self->n_table += self->table_rows[v];
    self->n_values += !shoal_column_missing(column, v);
  }
  if (requirement->word[DISTANCE] == ORDERED) {
    if (context->sensitive->attribute->type != SHOAL_TYPE_NUMBER)
      return shoal_lacks(requirement, context, "'type: number' for the ordered distance", error);
    int64_t *numbers;
    unsigned scale;
    SHOAL_TRY(
        shoal_column_numbers(context->table, context->sensitive->column, &numbers, &scale, error));
    shoal_status status = rank_values(self, context, numbers, error);
    free(numbers);
    return status;
  }
  if (requirement->word[DISTANCE] == HIERARCHICAL) {
    const shoal_hierarchy *tree = context->sensitive->hierarchy;
    if (!tree)
      return shoal_lacks(requirement, context, "a 'hierarchy' for the hierarchical distance",
                         error);
    self->tree = tree;
    if (!SHOAL_ARENA_ARRAY(&self->arena, self->label_rows, tree->n_levels))
      return shoal_fail_memory(error);
    for (uint32_t l = 0; l < tree->n_levels; l++) {
      if (!SHOAL_ARENA_ZEROED(&self->arena, self->label_rows[l], tree->levels[l].n_labels))
        return shoal_fail_memory(error);
      for (uint32_t v = 0; v < tree->n_values; v++)
        self->label_rows[l][tree->levels[l].of_leaf[v]] += self->table_rows[v];
    }
    return SHOAL_OK;
  }
  return SHOAL_OK;
}

/* ------------------------------------------------------------ distances */

static shoal_uint128 magnitude(shoal_int128 x) { return (shoal_uint128)(x < 0 ? -x : x); }

/* f N - F n */
static shoal_int128 difference(const closeness *self, uint32_t value, uint64_t rows, uint64_t n) {
  return (shoal_int128)rows * self->n_table - (shoal_int128)self->table_rows[value] * n;
}

/* A distance as numerator / (denominator x n x N). At most 1, so the numerator is below 2^158. */
typedef struct distance {
  shoal_wide numerator;
  uint64_t denominator;
  bool failed;
} distance;

/* A value that the class lacks differs by F n: all of them by n N, minus F n of those it has. */
static distance equal_distance(const closeness *self, const shoal_value_view *view, uint64_t n) {
  shoal_uint128 sum = (shoal_uint128)n * self->n_table;
  size_t at = 0;
  uint32_t value;
  uint64_t rows;
  while (shoal_view_next(view, &at, &value, &rows)) {
    sum += magnitude(difference(self, value, rows, n));
    sum -= (shoal_uint128)self->table_rows[value] * n;
  }
  return (distance){.numerator = {.low = sum}, .denominator = 2}; /* at most 2 n N: it fits */
}

typedef struct ranked {
  uint32_t rank;
  uint64_t rows;
} ranked;

static int by_rank(const void *a, const void *b) {
  uint32_t x = ((const ranked *)a)->rank, y = ((const ranked *)b)->rank;
  return (x > y) - (x < y);
}

/* Sum over ranks from .. end - 1 of |below N - up_to n|; `below`: rows at or below each rank. */
static shoal_wide gap(const closeness *self, uint32_t from, uint32_t end, uint64_t below,
                      uint64_t n) {
  shoal_uint128 level = (shoal_uint128)below * self->n_table;
  uint32_t low = from, high = end; /* the first rank at which up_to n is larger */
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if ((shoal_uint128)self->up_to[middle] * n > level) high = middle;
    else low = middle + 1;
  }
  const shoal_uint128 *sum = self->sum_up_to;
  shoal_wide behind = shoal_wide_subtract(shoal_wide_product(level, low - from),
                                          shoal_wide_product(sum[low] - sum[from], n));
  shoal_wide ahead = shoal_wide_subtract(shoal_wide_product(sum[end] - sum[low], n),
                                         shoal_wide_product(level, end - low));
  return shoal_wide_add(behind, ahead);
}

static distance ordered_distance(const closeness *self, const shoal_value_view *view, uint64_t n) {
  distance d = {.denominator = self->n_ranks - 1};
  if (self->n_ranks < 2) return (distance){.denominator = 1};
  ranked *values = shoal_alloc(view->n, sizeof *values);
  if (!values) return (distance){.failed = true};
  size_t at = 0, n_values = 0;
  uint32_t value;
  uint64_t rows, below = 0;
  while (shoal_view_next(view, &at, &value, &rows))
    values[n_values++] = (ranked){self->rank[value], rows};
  if (n_values > 1) qsort(values, n_values, sizeof *values, by_rank);
  uint32_t from = 0;
  for (size_t i = 0; i < n_values; i++) {
    d.numerator = shoal_wide_add(d.numerator, gap(self, from, values[i].rank, below, n));
    from = values[i].rank;
    below += values[i].rows;
  }
  d.numerator = shoal_wide_add(d.numerator, gap(self, from, self->n_ranks, below, n));
  free(values);
  return d;
}

/* A node above values of the class; nodes are merged level by level. */
typedef struct tree_node {
  uint32_t label;
  shoal_uint128 more, less; /* surplus and deficit of the children counted so far */
  uint64_t table_rows;      /* F of the children counted so far */
} tree_node;

static int by_label(const void *a, const void *b) {
  uint32_t x = ((const tree_node *)a)->label, y = ((const tree_node *)b)->label;
  return (x > y) - (x < y);
}

static bool same_node_above(const shoal_hierarchy *tree, uint32_t level, uint32_t label) {
  const shoal_level *here = &tree->levels[level], *above = &tree->levels[level + 1];
  size_t size, size_above;
  const char *a = shoal_level_label(here, label, &size);
  const char *b = shoal_level_label(above, here->parent[label], &size_above);
  return level > 0 && size == size_above && memcmp(a, b, size) == 0;
}

/* Merges nodes of equal label; returns the number left. */
static size_t join(tree_node *nodes, size_t n) {
  if (n > 1) qsort(nodes, n, sizeof *nodes, by_label);
  size_t kept = 0;
  for (size_t i = 0; i < n; i++) {
    if (kept && nodes[kept - 1].label == nodes[i].label) {
      nodes[kept - 1].more += nodes[i].more;
      nodes[kept - 1].less += nodes[i].less;
      nodes[kept - 1].table_rows += nodes[i].table_rows;
    } else {
      nodes[kept++] = nodes[i];
    }
  }
  return kept;
}

/* What cancels out within a node moves at its height; the rest moves further up. */
static shoal_wide move_within(const closeness *self, uint32_t level, tree_node *node, uint64_t n) {
  uint64_t all = self->label_rows[level][node->label];
  node->less += (shoal_uint128)(all - node->table_rows) * n; /* children without rows */
  shoal_wide moved = {0};
  bool passes = level + 1 < self->tree->n_levels && same_node_above(self->tree, level, node->label);
  if (!passes && level > 0) {
    shoal_uint128 within = node->more < node->less ? node->more : node->less;
    moved = shoal_wide_product(within, self->tree->levels[level].node_height[node->label]);
    node->more -= within;
    node->less -= within;
  }
  node->table_rows = all;
  return moved;
}

static distance tree_distance(const closeness *self, const shoal_value_view *view, uint64_t n) {
  const shoal_hierarchy *tree = self->tree;
  distance d = {.denominator = tree->tree_height ? tree->tree_height : 1};
  tree_node *nodes = shoal_alloc(view->n, sizeof *nodes);
  if (!nodes) return (distance){.failed = true};
  size_t at = 0, n_nodes = 0;
  uint32_t value;
  uint64_t rows;
  while (shoal_view_next(view, &at, &value, &rows)) {
    shoal_int128 extra = difference(self, value, rows, n);
    nodes[n_nodes++] = (tree_node){.label = value,
                                   .more = extra > 0 ? magnitude(extra) : 0,
                                   .less = extra < 0 ? magnitude(extra) : 0,
                                   .table_rows = self->table_rows[value]};
  }
  for (uint32_t l = 0; l < tree->n_levels; l++) {
    if (l > 0) n_nodes = join(nodes, n_nodes);
    for (size_t i = 0; i < n_nodes; i++) {
      d.numerator = shoal_wide_add(d.numerator, move_within(self, l, &nodes[i], n));
      if (l + 1 < tree->n_levels) nodes[i].label = tree->levels[l].parent[nodes[i].label];
    }
  }
  free(nodes);
  return d;
}

static distance distance_of(const shoal_requirement *requirement, const shoal_class_view *view,
                            uint64_t n) {
  const closeness *self = requirement->own;
  distance d;
  switch (requirement->word[DISTANCE]) {
  case ORDERED: d = ordered_distance(self, &view->values, n); break;
  case HIERARCHICAL: d = tree_distance(self, &view->values, n); break;
  default: d = equal_distance(self, &view->values, n);
  }
  (void)shoal_requirement_failed(requirement, d.failed);
  return d;
}

/* ------------------------------------------------------------ the model */

static bool holds(const shoal_requirement *requirement, const shoal_class_view *view) {
  const closeness *self = requirement->own;
  uint64_t n = shoal_view_valued(&view->values);
  if (n == 0) return false;
  distance d = distance_of(requirement, view, n);
  shoal_decimal t = requirement->number[T];
  shoal_wide bound = shoal_wide_product((shoal_uint128)n * self->n_table,
                                        (shoal_uint128)t.mantissa * d.denominator);
  return !d.failed &&
         shoal_wide_compare(shoal_wide_times(d.numerator, shoal_power_of_ten(t.scale)), bound) <= 0;
}

/*
 * A part of s rows with values f is within t of the table only if min(f, s F/N), summed over the
 * values, is at least (1 - u) s, where u is the largest equal distance that t allows: no step of
 * the other ground distances is shorter than 1 / (ranks - 1) or 1 / height. Each round applies this
 * to the bound of the one before; any round gives a valid bound.
 */
static uint64_t max_part(const shoal_requirement *requirement, const shoal_class_view *view) {
  const closeness *self = requirement->own;
  double u = shoal_decimal_double(requirement->number[T]);
  if (requirement->word[DISTANCE] == ORDERED) /* several values of one rank: nothing is known */
    u *= self->n_ranks == self->n_values ? self->n_ranks - 1.0 : INFINITY;
  if (requirement->word[DISTANCE] == HIERARCHICAL) u *= self->tree->tree_height;
  if (!(u < 1)) return view->n_rows;
  uint64_t n_valued = shoal_view_valued(&view->values), most = n_valued;
  for (int round = 0; round < SHOAL_PART_ROUNDS && most; round++) {
    double sum = 0, per_row = (double)most / (double)self->n_table;
    size_t at = 0;
    uint32_t value;
    uint64_t n_rows;
    while (shoal_view_next(&view->values, &at, &value, &n_rows)) {
      double limit = (double)self->table_rows[value] * per_row;
      sum += (double)n_rows < limit ? (double)n_rows : limit;
    }
    uint64_t next = shoal_rounded_down(sum / (1 - u));
    if (next >= most) break;
    most = next;
  }
  return most ? most + view->n_rows - n_valued : 0; /* missing values change nothing */
}

static double reached(const shoal_requirement *requirement, const shoal_class_view *view) {
  const closeness *self = requirement->own;
  uint64_t n = shoal_view_valued(&view->values);
  if (n == 0) return 1;
  distance d = distance_of(requirement, view, n);
  if (d.failed) return 1;
  return shoal_wide_double(d.numerator) / (double)d.denominator /
         ((double)n * (double)self->n_table);
}

static const char *const distances[] = {"equal", "ordered", "hierarchical", NULL};

static const shoal_parameter parameters[] = {
    {.name = "t", .kind = SHOAL_PARAMETER_NUMBER, .min = "0", .max = "1"},
    {.name = "distance", .kind = SHOAL_PARAMETER_WORD, .words = distances, .optional = true},
    {.name = NULL},
};

const shoal_model_type shoal_model_t_closeness = {
    .name = "t-closeness",
    .parameters_help = "t, distance: equal|ordered|hierarchical, attribute",
    .summary = "each class's sensitive values are distributed within t of the whole table's",
    .parameters = parameters,
    .needs = SHOAL_NEEDS_HISTOGRAM,
    .on_attribute = true,
    .at_most = true,
    .against_table = true,
    .monotone = shoal_is_not_monotone,
    .merges = true,
    .max_part = max_part,
    .prepare = prepare,
    .release = release,
    .holds = holds,
    .reached = reached,
    .required = shoal_required_number,
};
