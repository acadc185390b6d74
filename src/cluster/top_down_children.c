/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster/top_down_children: the children of a label that become classes, and the rows that stay
 * behind.
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
 */
#include <string.h>

#include "base/sort.h"
#include "cluster/top_down.h"

enum {
  MAX_DONORS = 4, /* children tried as donors in each round */
  SINGLY = 8      /* children taken back one by one; then the number doubles each round */
};

/* ------------------------------------------------------------ rows that stay behind */

static void leave(shoal_specializer *s, const shoal_split_axis *split, uint32_t row) {
  s->left[s->n_left++] = row;
  s->part_of[row] = split->n_children;
}

static void leave_all(shoal_specializer *s, const shoal_split_axis *split,
                      shoal_child_label *child) {
  const uint32_t *rows = s->sorted + child->start;
  for (uint32_t i = 0; i < child->n; i++) leave(s, split, rows[i]);
  child->kept = false;
}

/* ------------------------------------------------------------ equally many rows of each group */

bool shoal_balance_init(shoal_specializer *s) {
  const shoal_cluster_requirements *required = s->task->required;
  shoal_balance_rule *balance = &s->balance;
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

void shoal_balance_start(shoal_specializer *s) {
  shoal_balance_rule *balance = &s->balance;
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
static uint32_t index_of(const shoal_balance_rule *balance, uint32_t row) {
  uint32_t value = shoal_column_code(balance->column, row);
  if (shoal_column_missing(balance->column, value)) return SHOAL_NONE;
  return balance->index_of[balance->group_of[value]];
}

static void clear_counts(shoal_balance_rule *balance) {
  memset(balance->n_rows, 0, balance->n_groups * sizeof *balance->n_rows);
}

/*
 * Lets rows of a child stay behind until it has equally many of each group of the class. Returns
 * whether it satisfies every requirement then.
 */
static bool balance_trim(shoal_specializer *s, const shoal_split_axis *split,
                         shoal_child_label *child) {
  shoal_balance_rule *balance = &s->balance;
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
static void interleave_groups(shoal_balance_rule *balance, const uint32_t *rows, uint32_t n,
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

static void count_row(shoal_specializer *s, uint32_t row) {
  for (size_t d = 0; d < s->task->required->n_counts; d++)
    s->distinct[d] += shoal_seen_add(
        &s->seen, d, shoal_distinct_requirement_group(&s->task->required->counts[d], row));
}

static bool is_lacking(const shoal_specializer *s, uint32_t row) {
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
static uint32_t list_donated(shoal_specializer *s, const shoal_child_label *donor) {
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

static bool left_satisfy(shoal_specializer *s, uint32_t n_taken) {
  return shoal_requirement_checker_satisfies(&s->checker, s->left, s->n_left + n_taken);
}

static bool donor_satisfies(shoal_specializer *s, const shoal_child_label *donor,
                            uint32_t n_taken) {
  return shoal_requirement_checker_satisfies(&s->checker, s->left + s->n_left + n_taken,
                                             donor->n - n_taken);
}

/* The smallest number of rows to take, from min to max; 0: none was found. */
static uint32_t min_taken(shoal_specializer *s, const shoal_child_label *donor, uint32_t min,
                          uint32_t max) {
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

static bool take_from(shoal_specializer *s, const shoal_split_axis *split,
                      shoal_child_label *donor) {
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
static uint32_t sort_donors(shoal_specializer *s, const shoal_split_axis *split) {
  uint32_t n = 0;
  for (uint32_t c = 0; c < split->n_children; c++)
    if (split->children[c].kept) s->donors[n++] = (uint64_t)split->children[c].n << 32 | c;
  shoal_sort_u64(s->donors, n);
  return n;
}

static shoal_child_label *donor_at(const shoal_specializer *s, const shoal_split_axis *split,
                                   uint32_t i) {
  return &split->children[(uint32_t)s->donors[i]];
}

/*
 * Takes rows back from the kept children until the rows that stay behind satisfy every requirement.
 * Returns false if that is impossible. Kept children continue to satisfy the requirements.
 */
static bool take_back(shoal_specializer *s, shoal_split_axis *split) {
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

void shoal_judge_children(shoal_specializer *s, shoal_split_axis *split) {
  s->n_left = 0;
  for (uint32_t c = 0; c < split->n_children; c++) {
    shoal_child_label *child = &split->children[c];
    child->kept =
        shoal_requirement_checker_satisfies(&s->checker, s->sorted + child->start, child->n) ||
        (s->balance.column && balance_trim(s, split, child));
    if (!child->kept) leave_all(s, split, child);
  }
}

bool shoal_repair_left(shoal_specializer *s, shoal_split_axis *split) {
  if (!s->n_left || shoal_requirement_checker_satisfies(&s->checker, s->left, s->n_left))
    return true;
  for (uint32_t c = 0; s->balance.column && c < split->n_children; c++) {
    shoal_child_label *child = &split->children[c];
    if (child->kept && !balance_trim(s, split, child)) leave_all(s, split, child);
  }
  if (s->n_left == s->n) return false;
  return (s->balance.column &&
          shoal_requirement_checker_satisfies(&s->checker, s->left, s->n_left)) ||
         take_back(s, split);
}
