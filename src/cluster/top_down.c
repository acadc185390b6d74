/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster/top_down: top-down specialization with local recoding (Wong, Li, Fu & Wang 2006 for
 * (alpha,k); Sun et al. for p+-sensitive and (p,alpha)-sensitive k-anonymity, as described in Khan
 * et al. 2020). All rows start as one class with the most general labels. A class is specialized on
 * one attribute. Each child of its label whose rows satisfy every requirement becomes a class; the
 * other rows stay behind and have to satisfy them too. The
 * attribute is the one with the largest gain, the first of equals. Wong et al. do not specialize
 * the rows that stay behind; here they are a class like any other. Any model can be a requirement,
 * monotone or not.
 *
 * Rows that stay behind and violate the requirements take rows back from the new classes (Wong et
 * al.: "unspecialize some tuples in the remaining child nodes"). These lose, so as few as possible
 * are taken, from one child (the donor), the largest first: rows with sensitive values that are
 * lacking, then others, in row order. If no child can give enough, the smallest one is taken back
 * whole, and the search is repeated.
 *
 * Balanced p+-sensitive and balanced (p,alpha)-sensitive require equally many rows of each group of
 * values. Hardly any child has that, so some of its rows stay behind: of each group as many are
 * kept as of the rarest. If every kept child has equally many rows of each group of the class, so
 * do the rows that stay behind, up to the one row by which the class itself differs. With two such
 * requirements this is not done: children have to be balanced as they are.
 *
 * On a tree the children are those of the lowest common ancestor. If missing values occur beside
 * numbers, the label is `*` and its children are the numbers and each spelling of missing. Numbers
 * alone have no taxonomy: their interval is cut where it halves the rows. The children of a set are
 * its values with k rows, and sets of rarer values with k rows.
 *
 * The gain is counted by labels: a row of a kept child loses on that axis what the child's label
 * loses; a row that stays behind keeps the loss of the class's label. The gain if every child with
 * k rows could be kept is an upper bound, and axes whose bound is too small are not tried.
 *
 * Rows are in one array that is divided in place; a class is a range of it. Cost: about O(n log n)
 * for n rows, and 25 bytes per row.
 */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/sort.h"
#include "base/thread.h"
#include "cluster/cluster.h"

enum {
  REPORTS = 100,
  MAX_DONORS = 4, /* children tried as donors in each round */
  SINGLY = 8      /* children taken back one by one; then the number doubles each round */
};

/* The rows of a class whose label on an axis would be one child of the class's label. */
typedef struct child_label {
  uint32_t last;  /* the highest position of its rows */
  uint32_t n;     /* rows */
  uint32_t loss;  /* of its label */
  uint32_t start; /* its first row in `sorted` */
  bool kept;      /* it becomes a class; otherwise its rows stay behind */
} child_label;

/* A class and one of its axes. */
typedef struct split_axis {
  child_label *children; /* by position */
  uint32_t n_children;   /* 0: none has k rows */
  uint32_t loss;         /* of the class's label */
  uint64_t max_gain;     /* upper bound on the gain: all children with k rows are kept */
} split_axis;

/* A requirement for equally many rows of each group of values. */
typedef struct balance_rule {
  const shoal_column *column; /* NULL: there is no such requirement, or more than one */
  const uint32_t *group_of;   /* by value */
  uint32_t n_all;             /* groups of the table */
  uint32_t *index_of;         /* by group: its index among those of the class */
  uint32_t n_groups;          /* groups of the class */
  uint32_t *n_rows;           /* by index: scratch */
} balance_rule;

typedef struct specializer {
  const shoal_cluster_task *task;
  shoal_requirement_checker checker;
  shoal_arena arena;    /* of all arrays below */
  const uint32_t *rows; /* of the class, ascending */
  uint32_t n;
  shoal_span *box;             /* of the class, by axis */
  split_axis *splits;          /* by axis */
  size_t *order;               /* axes that can be specialized, the largest bound first */
  uint32_t *scratch;           /* one entry per position of an axis */
  shoal_position_count *found; /* positions of the rows on an axis, ascending */
  uint32_t n_found;
  /* the axis that is being tried */
  uint32_t *part_of; /* by row: its child, or n_children if it stays behind */
  uint32_t *sorted;  /* the rows by child */
  uint32_t *left;    /* rows that stay behind; after them, the rows of a child that may give some */
  uint32_t n_left;
  balance_rule balance;
  uint64_t *donors;   /* kept children by size: size << 32 | index */
  shoal_seen seen;    /* groups of the rows that stay behind, */
  uint32_t *distinct; /* and their number, by count */
  /* the best axis so far */
  uint32_t *best_part_of;
  uint32_t *starts; /* of the parts */
  uint32_t *sizes;
} specializer;

/* ------------------------------------------------------------ children of a label */

/* The number of positions below the cut that comes nearest to half of the rows. */
static uint32_t half_of(const specializer *s) {
  uint64_t below = 0, nearest = UINT64_MAX;
  uint32_t best = 0;
  for (uint32_t i = 0; i + 1 < s->n_found; i++) {
    below += s->found[i].n;
    uint64_t off = 2 * below > s->n ? 2 * below - s->n : s->n - 2 * below;
    if (off >= nearest) continue;
    nearest = off;
    best = i + 1;
  }
  return best;
}

/* Places with equal keys belong to one child. */
typedef struct keying {
  const shoal_axis *axis;
  const shoal_level *level; /* of a tree's children */
  bool halves;              /* numbers alone: */
  uint32_t half;            /* positions below the cut */
} keying;

static uint32_t key_of(const keying *k, uint32_t i, uint32_t position) {
  if (k->level) return k->level->of_leaf[k->axis->code_at[position]];
  if (k->halves) return i >= k->half;
  return position < k->axis->n_numbers ? 0 : position;
}

/* The end of the child that begins at found[i]. */
static uint32_t label_end(const specializer *s, const keying *k, uint32_t i) {
  uint32_t end = i + 1, key = key_of(k, i, s->found[i].position);
  while (end < s->n_found && key_of(k, end, s->found[end].position) == key) end++;
  return end;
}

/* A value with k rows is a child; rarer values that follow each other are one with k rows. */
static uint32_t set_end(const specializer *s, uint32_t i) {
  uint64_t k = s->task->required->k, n = s->found[i].n;
  uint32_t end = i + 1;
  while (n < k && end < s->n_found && s->found[end].n < k) n += s->found[end++].n;
  return end;
}

/* Makes a child of the positions found[first .. end - 1]; returns whether it has k rows. */
static bool add_child(specializer *s, split_axis *split, const shoal_axis *axis, uint32_t first,
                      uint32_t end) {
  child_label child = {.last = s->found[end - 1].position};
  for (uint32_t i = first; i < end; i++) child.n += s->found[i].n;
  child.loss = axis->kind == SHOAL_AXIS_SET
                   ? shoal_set_axis_loss(axis, end - first)
                   : shoal_axis_loss(axis, s->found[first].position, child.last);
  bool large = child.n >= s->task->required->k;
  if (large) split->max_gain += (uint64_t)child.n * (split->loss - child.loss);
  split->children[split->n_children++] = child;
  return large;
}

static void make_split(specializer *s, size_t q) {
  const shoal_axes *axes = s->task->axes;
  const shoal_axis *axis = &axes->items[q];
  split_axis *split = &s->splits[q];
  shoal_span span = s->box[q];
  for (uint32_t i = 0; i < s->n; i++) s->sorted[i] = shoal_axes_row(axes, s->rows[i])[q];
  s->n_found = shoal_count_positions(s->sorted, s->n, span, s->scratch, s->found);
  keying k = {.axis = axis, .halves = !axis->hierarchy && span.hi < axis->n_numbers};
  if (axis->hierarchy) k.level = shoal_axis_children(axis, span.lo, span.hi);
  if (k.halves) k.half = half_of(s);
  split->n_children = 0;
  split->loss = shoal_box_axis_loss(axis, s->box, q);
  split->max_gain = 0;
  bool any = false;
  for (uint32_t i = 0, end; i < s->n_found; i = end) {
    end = axis->kind == SHOAL_AXIS_SET ? set_end(s, i) : label_end(s, &k, i);
    any = add_child(s, split, axis, i, end) || any;
  }
  if (!any) split->n_children = 0;
}

/* Computes the splits of all axes and s->order; returns the number of axes in it. */
static size_t make_splits(specializer *s) {
  size_t n = 0;
  shoal_box_of(s->task->axes, s->box, s->rows, s->n);
  for (size_t q = 0; q < s->task->axes->n; q++) {
    if (s->box[q].lo == s->box[q].hi) continue;
    make_split(s, q);
    if (!s->splits[q].n_children) continue;
    size_t at = n++;
    for (; at && s->splits[s->order[at - 1]].max_gain < s->splits[q].max_gain; at--)
      s->order[at] = s->order[at - 1];
    s->order[at] = q;
  }
  return n;
}

/* ------------------------------------------------------------ rows that stay behind */

static void leave(specializer *s, const split_axis *split, uint32_t row) {
  s->left[s->n_left++] = row;
  s->part_of[row] = split->n_children;
}

static void leave_all(specializer *s, const split_axis *split, child_label *child) {
  const uint32_t *rows = s->sorted + child->start;
  for (uint32_t i = 0; i < child->n; i++) leave(s, split, rows[i]);
  child->kept = false;
}

/* ------------------------------------------------------------ equally many rows of each group */

/* Finds the requirement. Returns false without memory. */
static bool balance_init(specializer *s) {
  const shoal_cluster_requirements *required = s->task->required;
  balance_rule *balance = &s->balance;
  shoal_distinct groups;
  for (size_t i = 0; i < required->n_others; i++) {
    const shoal_requirement *requirement = required->others[i];
    if (!requirement->type->balances || !requirement->type->balances(requirement, &groups))
      continue;
    if (balance->column) {
      balance->column = NULL;
      break;
    }
    balance->column = required->tracked->columns[requirement->sensitive];
    balance->group_of = groups.group_of;
    balance->n_all = groups.n_groups;
  }
  if (!balance->column) return true;
  return SHOAL_ARENA_ARRAY(&s->arena, balance->index_of, balance->n_all) &&
         SHOAL_ARENA_ARRAY(&s->arena, balance->n_rows, balance->n_all);
}

/* Sets the groups of the class. */
static void balance_start(specializer *s) {
  balance_rule *balance = &s->balance;
  memset(balance->index_of, 0xff, balance->n_all * sizeof *balance->index_of); /* SHOAL_NONE */
  balance->n_groups = 0;
  for (uint32_t i = 0; i < s->n; i++) {
    uint32_t value = shoal_column_code(balance->column, s->rows[i]);
    if (shoal_column_missing(balance->column, value)) continue;
    uint32_t *index = &balance->index_of[balance->group_of[value]];
    if (*index == SHOAL_NONE) *index = balance->n_groups++;
  }
}

/* The index of a row's group among those of the class; SHOAL_NONE: its value is missing. */
static uint32_t index_of(const balance_rule *balance, uint32_t row) {
  uint32_t value = shoal_column_code(balance->column, row);
  if (shoal_column_missing(balance->column, value)) return SHOAL_NONE;
  return balance->index_of[balance->group_of[value]];
}

static void clear_counts(balance_rule *balance) {
  memset(balance->n_rows, 0, balance->n_groups * sizeof *balance->n_rows);
}

/*
 * Lets rows of a child stay behind until it has equally many of each group of the class. Returns
 * whether it satisfies every requirement then.
 */
static bool balance_trim(specializer *s, const split_axis *split, child_label *child) {
  balance_rule *balance = &s->balance;
  uint32_t *rows = s->sorted + child->start, least = UINT32_MAX, n = 0;
  clear_counts(balance);
  for (uint32_t i = 0; i < child->n; i++) {
    uint32_t group = index_of(balance, rows[i]);
    if (group != SHOAL_NONE) balance->n_rows[group]++;
  }
  for (uint32_t g = 0; g < balance->n_groups; g++)
    if (balance->n_rows[g] < least) least = balance->n_rows[g];
  if (least == 0) return false;
  clear_counts(balance);
  for (uint32_t i = 0; i < child->n; i++) {
    uint32_t group = index_of(balance, rows[i]);
    if (group == SHOAL_NONE || balance->n_rows[group]++ < least) rows[n++] = rows[i];
    else leave(s, split, rows[i]);
  }
  child->n = n;
  return shoal_requirement_checker_satisfies(&s->checker, rows, n);
}

/* Orders the rows of a balanced child so that every prefix, and the rest, is nearly balanced. */
static void interleave_groups(balance_rule *balance, const uint32_t *rows, uint32_t n,
                              uint32_t *list) {
  uint32_t n_grouped = 0;
  clear_counts(balance);
  for (uint32_t i = 0; i < n; i++) n_grouped += index_of(balance, rows[i]) != SHOAL_NONE;
  for (uint32_t i = 0; i < n; i++) {
    uint32_t group = index_of(balance, rows[i]);
    if (group == SHOAL_NONE) list[n_grouped++] = rows[i];
    else list[balance->n_rows[group]++ * balance->n_groups + group] = rows[i];
  }
}

/* ------------------------------------------------------------ rows of one child */

static void count_row(specializer *s, uint32_t row) {
  for (size_t d = 0; d < s->task->required->n_counts; d++)
    s->distinct[d] += shoal_seen_add(
        &s->seen, d, shoal_distinct_requirement_group(&s->task->required->counts[d], row));
}

static bool is_lacking(const specializer *s, uint32_t row) {
  for (size_t d = 0; d < s->task->required->n_counts; d++) {
    const shoal_distinct_requirement *count = &s->task->required->counts[d];
    if (s->distinct[d] < count->min_distinct &&
        shoal_seen_is_new(&s->seen, d, shoal_distinct_requirement_group(count, row)))
      return true;
  }
  return false;
}

/*
 * Writes the donor's rows after those that stay behind: first the rows whose values are lacking,
 * then the others. Returns the number of the former.
 */
static uint32_t list_donated(specializer *s, const child_label *donor) {
  const uint32_t *rows = s->sorted + donor->start;
  uint32_t *list = s->left + s->n_left, n = 0, n_lacking = 0;
  if (s->balance.column) {
    interleave_groups(&s->balance, rows, donor->n, list);
    return 0;
  }
  memset(s->distinct, 0, s->task->required->n_counts * sizeof *s->distinct);
  shoal_seen_clear(&s->seen);
  for (uint32_t i = 0; i < s->n_left; i++) count_row(s, s->left[i]);
  for (uint32_t i = 0; i < donor->n; i++) {
    if (!is_lacking(s, rows[i])) continue;
    count_row(s, rows[i]);
    list[n_lacking++] = rows[i];
  }
  for (uint32_t i = 0, at = 0; i < donor->n; i++) { /* both are in row order */
    if (at < n_lacking && list[at] == rows[i]) at++;
    else list[n_lacking + n++] = rows[i];
  }
  return n_lacking;
}

static bool left_satisfy(specializer *s, uint32_t n_taken) {
  return shoal_requirement_checker_satisfies(&s->checker, s->left, s->n_left + n_taken);
}

static bool donor_satisfies(specializer *s, const child_label *donor, uint32_t n_taken) {
  return shoal_requirement_checker_satisfies(&s->checker, s->left + s->n_left + n_taken,
                                             donor->n - n_taken);
}

/* The smallest number of rows to take, from min to max; 0: none was found. */
static uint32_t min_taken(specializer *s, const child_label *donor, uint32_t min, uint32_t max) {
  bool monotone = s->task->required->monotone;
  uint32_t low = min, high = min;
  for (uint32_t tried = 1, step = 1;; tried++) {
    if (left_satisfy(s, high) && (monotone || donor_satisfies(s, donor, high))) break;
    if (high == max) return 0;
    low = high + 1;
    high = step < max - high ? high + step : max;
    if (tried >= s->balance.n_groups) step *= 2; /* one of n_groups numbers in a row is balanced */
  }
  if (!monotone) return high;
  while (low < high) {
    uint32_t half = low + (high - low) / 2;
    if (left_satisfy(s, half)) high = half;
    else low = half + 1;
  }
  return donor_satisfies(s, donor, high) ? high : 0;
}

static bool take_from(specializer *s, const split_axis *split, child_label *donor) {
  uint64_t k = s->task->required->k;
  uint32_t min = s->n_left < k ? (uint32_t)(k - s->n_left) : 1;
  if (donor->n - k < min) return false;
  uint32_t n_lacking = list_donated(s, donor), max = donor->n - (uint32_t)k;
  if (n_lacking > min) min = n_lacking;
  uint32_t n_taken = min <= max ? min_taken(s, donor, min, max) : 0;
  for (uint32_t i = 0; i < n_taken; i++) s->part_of[s->left[s->n_left + i]] = split->n_children;
  s->n_left += n_taken;
  donor->n -= n_taken;
  return n_taken != 0;
}

/* ------------------------------------------------------------ all children */

/* Sorts the kept children by size, then by position; returns their number. */
static uint32_t sort_donors(specializer *s, const split_axis *split) {
  uint32_t n = 0;
  for (uint32_t c = 0; c < split->n_children; c++)
    if (split->children[c].kept) s->donors[n++] = (uint64_t)split->children[c].n << 32 | c;
  shoal_sort_u64(s->donors, n);
  return n;
}

static child_label *donor_at(const specializer *s, const split_axis *split, uint32_t i) {
  return &split->children[(uint32_t)s->donors[i]];
}

/*
 * Takes rows back from the kept children until the rows that stay behind satisfy every requirement.
 * Returns false if that is impossible. Kept children continue to satisfy the requirements.
 */
static bool take_back(specializer *s, split_axis *split) {
  uint32_t n = sort_donors(s, split), first = 0, batch = 1;
  for (;;) {
    for (uint32_t asked = 0; asked < MAX_DONORS && asked < n - first; asked++)
      if (take_from(s, split, donor_at(s, split, n - 1 - asked))) return true;
    if (n - first == 1) return false;
    for (uint32_t i = 0; i < batch && n - first > 1; i++)
      leave_all(s, split, donor_at(s, split, first++));
    if (first >= SINGLY) batch *= 2;
    if (left_satisfy(s, 0)) return true;
  }
}

/* ------------------------------------------------------------ trying an axis */

static uint32_t child_of(const split_axis *split, uint32_t position) {
  uint32_t low = 0, high = split->n_children - 1;
  while (low < high) {
    uint32_t half = low + (high - low) / 2;
    if (split->children[half].last < position) low = half + 1;
    else high = half;
  }
  return low;
}

/* Sorts the rows by child. */
static void distribute(specializer *s, size_t axis) {
  split_axis *split = &s->splits[axis];
  uint32_t start = 0;
  for (uint32_t c = 0; c < split->n_children; c++) {
    split->children[c].start = start;
    start += split->children[c].n;
  }
  for (uint32_t i = 0; i < s->n; i++) {
    uint32_t row = s->rows[i], c = child_of(split, shoal_axes_row(s->task->axes, row)[axis]);
    s->part_of[row] = c;
    s->sorted[split->children[c].start++] = row;
  }
  for (uint32_t c = 0; c < split->n_children; c++) split->children[c].start -= split->children[c].n;
}

/* Keeps the children that satisfy the requirements; the rows of the others stay behind. */
static void judge_children(specializer *s, split_axis *split) {
  s->n_left = 0;
  for (uint32_t c = 0; c < split->n_children; c++) {
    child_label *child = &split->children[c];
    child->kept =
        shoal_requirement_checker_satisfies(&s->checker, s->sorted + child->start, child->n) ||
        (s->balance.column && balance_trim(s, split, child));
    if (!child->kept) leave_all(s, split, child);
  }
}

/* Do the rows that stay behind satisfy the requirements, after a repair if needed? */
static bool repair_left(specializer *s, split_axis *split) {
  if (!s->n_left || shoal_requirement_checker_satisfies(&s->checker, s->left, s->n_left))
    return true;
  for (uint32_t c = 0; s->balance.column && c < split->n_children; c++) {
    child_label *child = &split->children[c];
    if (child->kept && !balance_trim(s, split, child)) leave_all(s, split, child);
  }
  if (s->n_left == s->n) return false;
  return (s->balance.column &&
          shoal_requirement_checker_satisfies(&s->checker, s->left, s->n_left)) ||
         take_back(s, split);
}

static uint64_t gain_of(const split_axis *split) {
  uint64_t gain = 0;
  for (uint32_t c = 0; c < split->n_children; c++)
    if (split->children[c].kept)
      gain += (uint64_t)split->children[c].n * (split->loss - split->children[c].loss);
  return gain;
}

/* The best axis so far. */
typedef struct choice {
  bool any;
  size_t axis;
  uint64_t gain;
} choice;

static bool is_better(const choice *best, size_t axis, uint64_t gain) {
  return !best->any || gain > best->gain || (gain == best->gain && axis < best->axis);
}

static void try_axis(specializer *s, size_t axis, choice *best) {
  split_axis *split = &s->splits[axis];
  distribute(s, axis);
  judge_children(s, split);
  if (s->n_left == s->n || !is_better(best, axis, gain_of(split))) return;
  if (!repair_left(s, split)) return;
  uint64_t gain = gain_of(split);
  if (!is_better(best, axis, gain)) return;
  *best = (choice){true, axis, gain};
  uint32_t *part_of = s->best_part_of;
  s->best_part_of = s->part_of;
  s->part_of = part_of;
}

/* Sorts the rows by part: kept children by position, then the rows that stay behind. */
static uint32_t sort_by_part(specializer *s, const split_axis *split, uint32_t *rows) {
  uint32_t *start = s->starts, n_parts = 0, at = 0;
  memset(start, 0, ((size_t)split->n_children + 1) * sizeof *start);
  for (uint32_t i = 0; i < s->n; i++) start[s->best_part_of[rows[i]]]++;
  for (uint32_t c = 0; c <= split->n_children; c++) {
    uint32_t n = start[c];
    if (n) s->sizes[n_parts++] = n;
    start[c] = at;
    at += n;
  }
  for (uint32_t i = 0; i < s->n; i++) s->sorted[start[s->best_part_of[rows[i]]]++] = rows[i];
  memcpy(rows, s->sorted, s->n * sizeof *rows);
  return n_parts;
}

/*
 * Divides the n rows of a class, which are ascending, into parts of s->sizes[i] rows, ascending in
 * each. Returns the number of parts; 0: no axis can be specialized.
 */
static uint32_t divide(specializer *s, uint32_t *rows, uint32_t n) {
  if (n / 2 < s->task->required->k || n < 2) return 0;
  s->rows = rows;
  s->n = n;
  if (s->balance.column) balance_start(s);
  size_t n_axes = make_splits(s);
  choice best = {0};
  for (size_t i = 0; i < n_axes; i++)
    if (is_better(&best, s->order[i], s->splits[s->order[i]].max_gain))
      try_axis(s, s->order[i], &best);
  return best.any ? sort_by_part(s, &s->splits[best.axis], rows) : 0;
}

/* ------------------------------------------------------------ memory */

static void reset(specializer *s) {
  shoal_requirement_checker_reset(&s->checker);
  shoal_arena_reset(&s->arena);
}

/* The maximum number of children of a label on the axis. */
static size_t max_children(const shoal_axis *axis) {
  if (axis->hierarchy) return axis->n_positions;
  return (size_t)(axis->n_positions - axis->n_numbers) + 2;
}

/* *max: the maximum number of children on any axis. */
static bool allocate_axes(specializer *s, size_t *max) {
  const shoal_axes *axes = s->task->axes;
  if (!SHOAL_ARENA_ARRAY(&s->arena, s->box, axes->n_spans) ||
      !SHOAL_ARENA_ARRAY(&s->arena, s->splits, axes->n) ||
      !SHOAL_ARENA_ARRAY(&s->arena, s->order, axes->n))
    return false;
  *max = 1;
  for (size_t q = 0; q < axes->n; q++) {
    size_t children = max_children(&axes->items[q]);
    if (children > *max) *max = children;
    if (!SHOAL_ARENA_ARRAY(&s->arena, s->splits[q].children, children)) return false;
  }
  return SHOAL_ARENA_ARRAY(&s->arena, s->scratch, axes->max_positions) &&
         SHOAL_ARENA_ARRAY(&s->arena, s->found, axes->max_positions);
}

static bool allocate_rows(specializer *s, size_t max) {
  size_t n = (size_t)s->task->axes->n_rows;
  shoal_arena *arena = &s->arena;
  return SHOAL_ARENA_ARRAY(arena, s->part_of, n) && SHOAL_ARENA_ARRAY(arena, s->best_part_of, n) &&
         SHOAL_ARENA_ARRAY(arena, s->sorted, n) && SHOAL_ARENA_ARRAY(arena, s->left, n) &&
         SHOAL_ARENA_ARRAY(arena, s->donors, max) && SHOAL_ARENA_ARRAY(arena, s->starts, max + 1) &&
         SHOAL_ARENA_ARRAY(arena, s->sizes, max + 1) &&
         SHOAL_ARENA_ARRAY(arena, s->distinct, s->task->required->n_counts);
}

static shoal_status init(specializer *s, const shoal_cluster_task *task, shoal_error *error) {
  size_t max;
  s->task = task;
  if (allocate_axes(s, &max) && allocate_rows(s, max) &&
      shoal_seen_init(&s->seen, task->required, &s->arena) && balance_init(s))
    return shoal_requirement_checker_init(&s->checker, task->required, error);
  return shoal_fail_memory(error);
}

/* ------------------------------------------------------------ all classes */

typedef struct descent {
  const shoal_cluster_task *task;
  shoal_ranges ranges;
  shoal_row_range *waiting; /* classes of 2 k rows or more that were not specialized yet */
  size_t n_waiting;
  uint64_t n_done, n_reported; /* rows whose class is final */
  specializer specializer;
} descent;

static shoal_status count_done(descent *d, uint32_t n, shoal_error *error) {
  d->n_done += n;
  if (d->n_done - d->n_reported < d->ranges.n_rows / REPORTS + 1) return SHOAL_OK;
  d->n_reported = d->n_done;
  return shoal_run_report(d->task->run, "cluster", d->n_done, d->ranges.n_rows, "rows", error);
}

static shoal_status specialize(descent *d, shoal_row_range at, shoal_error *error) {
  uint32_t n_parts = divide(&d->specializer, d->ranges.rows + at.start, at.n);
  if (!n_parts) return count_done(d, at.n, error);
  for (uint32_t i = 0, start = at.start; i < n_parts; i++) {
    uint32_t n = d->specializer.sizes[i];
    d->ranges.starts[start] = 1;
    if (n / 2 >= d->task->required->k) d->waiting[d->n_waiting++] = (shoal_row_range){start, n};
    else SHOAL_TRY(count_done(d, n, error));
    start += n;
  }
  return SHOAL_OK;
}

static shoal_status descend(descent *d, shoal_error *error) {
  uint32_t n_rows = d->ranges.n_rows;
  size_t max_waiting = (size_t)(n_rows / 2 / d->task->required->k) + 1;
  if (!SHOAL_ARENA_ARRAY(&d->specializer.arena, d->waiting, max_waiting))
    return shoal_fail_memory(error);
  if (shoal_requirement_checker_satisfies(&d->specializer.checker, d->ranges.rows, n_rows))
    d->waiting[d->n_waiting++] = (shoal_row_range){0, n_rows};
  while (d->n_waiting) SHOAL_TRY(specialize(d, d->waiting[--d->n_waiting], error));
  return d->specializer.checker.failed ? shoal_fail_memory(error) : SHOAL_OK;
}

shoal_status shoal_cluster_top_down(const shoal_cluster_task *task, shoal_partition *partition,
                                    shoal_error *error) {
  descent d = {.task = task};
  SHOAL_TRY(shoal_ranges_init(&d.ranges, task->axes->n_rows, error));
  shoal_status status = init(&d.specializer, task, error);
  if (status == SHOAL_OK) status = descend(&d, error);
  if (status == SHOAL_OK) status = shoal_ranges_partition(&d.ranges, partition, error);
  reset(&d.specializer);
  shoal_ranges_reset(&d.ranges);
  return status;
}
