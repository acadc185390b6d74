/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster/top_down_repair: rows that stay behind in a specialization and do not satisfy the demands
 * get others back (Wong et al. 2006: "unspecialize some tuples in the remaining child nodes").
 *
 * Rows taken back lose, so as few as possible are taken: first from a single child that can spare
 * them, the largest child first: rows with sensitive values that are lacking, then others, in row
 * order. If no child can spare enough, the smallest one goes back whole, and the search is
 * repeated.
 *
 * balanced p+-sensitive and balanced (p,alpha)-sensitive demand equally many rows of each group of
 * values. Hardly any child has that, so some of its rows stay behind: of each group as many are
 * kept as of the rarest. If every kept child has equally many rows of each group of the class, so
 * do the rows that stay behind, up to the one row by which the class itself differs. With two such
 * demands this is not done: children have to be balanced as they are.
 */
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "cluster/top_down.h"

enum {
  MAX_GIVERS = 4, /* children asked to spare rows in each round */
  SINGLY = 8      /* children taken back one by one; then the number doubles each round */
};

/* ------------------------------------------------------------ equally many rows of each group */

bool shoal_even_init(shoal_specializer *s) {
  const shoal_fit *fit = s->task->fit;
  shoal_even *even = &s->even;
  shoal_distinct groups;
  for (size_t i = 0; i < fit->n_others; i++) {
    const shoal_demand *demand = fit->others[i];
    if (!demand->type->balances || !demand->type->balances(demand, &groups)) continue;
    if (even->column) {
      even->column = NULL;
      break;
    }
    even->column = fit->tracked->columns[demand->sensitive];
    even->group_of = groups.group_of;
    even->n_all = groups.n_groups;
  }
  if (!even->column) return true;
  return SHOAL_ARENA_ARRAY(&s->arena, even->index_of, even->n_all) &&
         SHOAL_ARENA_ARRAY(&s->arena, even->n_rows, even->n_all);
}

void shoal_even_start(shoal_specializer *s) {
  shoal_even *even = &s->even;
  memset(even->index_of, 0xff, even->n_all * sizeof *even->index_of); /* SHOAL_NO_GROUP */
  even->n_groups = 0;
  for (uint32_t i = 0; i < s->n; i++) {
    uint32_t value = shoal_column_code(even->column, s->rows[i]);
    if (shoal_column_missing(even->column, value)) continue;
    uint32_t *index = &even->index_of[even->group_of[value]];
    if (*index == SHOAL_NO_GROUP) *index = even->n_groups++;
  }
}

/* The index of a row's group among those of the class; SHOAL_NO_GROUP: its value is missing. */
static uint32_t index_of(const shoal_even *even, uint32_t row) {
  uint32_t value = shoal_column_code(even->column, row);
  if (shoal_column_missing(even->column, value)) return SHOAL_NO_GROUP;
  return even->index_of[even->group_of[value]];
}

static void clear_counts(shoal_even *even) {
  memset(even->n_rows, 0, even->n_groups * sizeof *even->n_rows);
}

bool shoal_even_trim(shoal_specializer *s, const shoal_fork *fork, shoal_child *child) {
  shoal_even *even = &s->even;
  uint32_t *rows = s->sorted + child->start, least = UINT32_MAX, n = 0;
  clear_counts(even);
  for (uint32_t i = 0; i < child->n; i++) {
    uint32_t group = index_of(even, rows[i]);
    if (group != SHOAL_NO_GROUP) even->n_rows[group]++;
  }
  for (uint32_t g = 0; g < even->n_groups; g++)
    if (even->n_rows[g] < least) least = even->n_rows[g];
  if (least == 0) return false;
  clear_counts(even);
  for (uint32_t i = 0; i < child->n; i++) {
    uint32_t group = index_of(even, rows[i]);
    if (group == SHOAL_NO_GROUP || even->n_rows[group]++ < least) rows[n++] = rows[i];
    else shoal_specializer_leave(s, fork, rows[i]);
  }
  child->n = n;
  return shoal_judging_fits(&s->judging, rows, n);
}

/* Orders the rows of a balanced child so that every prefix, and the rest, is nearly balanced. */
static void line_up_evenly(shoal_even *even, const uint32_t *rows, uint32_t n, uint32_t *line) {
  uint32_t n_grouped = 0;
  clear_counts(even);
  for (uint32_t i = 0; i < n; i++) n_grouped += index_of(even, rows[i]) != SHOAL_NO_GROUP;
  for (uint32_t i = 0; i < n; i++) {
    uint32_t group = index_of(even, rows[i]);
    if (group == SHOAL_NO_GROUP) line[n_grouped++] = rows[i];
    else line[even->n_rows[group]++ * even->n_groups + group] = rows[i];
  }
}

/* ------------------------------------------------------------ rows of one child */

static void see(shoal_specializer *s, uint32_t row) {
  for (size_t d = 0; d < s->task->fit->n_counts; d++)
    s->distinct[d] += shoal_seen_add(&s->seen, d, shoal_count_group(&s->task->fit->counts[d], row));
}

static bool is_lacking(const shoal_specializer *s, uint32_t row) {
  for (size_t d = 0; d < s->task->fit->n_counts; d++) {
    const shoal_count *count = &s->task->fit->counts[d];
    if (s->distinct[d] < count->least &&
        shoal_seen_is_new(&s->seen, d, shoal_count_group(count, row)))
      return true;
  }
  return false;
}

/*
 * Writes the giver's rows after those that stay behind: first the rows whose values are lacking,
 * then the others. Returns the number of the former.
 */
static uint32_t line_up(shoal_specializer *s, const shoal_child *giver) {
  const uint32_t *rows = s->sorted + giver->start;
  uint32_t *line = s->left + s->n_left, n = 0, n_lacking = 0;
  if (s->even.column) {
    line_up_evenly(&s->even, rows, giver->n, line);
    return 0;
  }
  memset(s->distinct, 0, s->task->fit->n_counts * sizeof *s->distinct);
  shoal_seen_clear(&s->seen);
  for (uint32_t i = 0; i < s->n_left; i++) see(s, s->left[i]);
  for (uint32_t i = 0; i < giver->n; i++) {
    if (!is_lacking(s, rows[i])) continue;
    see(s, rows[i]);
    line[n_lacking++] = rows[i];
  }
  for (uint32_t i = 0, at = 0; i < giver->n; i++) { /* both are in row order */
    if (at < n_lacking && line[at] == rows[i]) at++;
    else line[n_lacking + n++] = rows[i];
  }
  return n_lacking;
}

static bool left_fit(shoal_specializer *s, uint32_t n_given) {
  return shoal_judging_fits(&s->judging, s->left, s->n_left + n_given);
}

static bool giver_fits(shoal_specializer *s, const shoal_child *giver, uint32_t n_given) {
  return shoal_judging_fits(&s->judging, s->left + s->n_left + n_given, giver->n - n_given);
}

/* The least number of rows to give, from `least` to `most`; 0: none was found. */
static uint32_t enough(shoal_specializer *s, const shoal_child *giver, uint32_t least,
                       uint32_t most) {
  bool monotone = s->task->fit->monotone;
  uint32_t low = least, high = least;
  for (uint32_t tried = 1, step = 1;; tried++) {
    if (left_fit(s, high) && (monotone || giver_fits(s, giver, high))) break;
    if (high == most) return 0;
    low = high + 1;
    high = step < most - high ? high + step : most;
    if (tried >= s->even.n_groups) step *= 2; /* one of n_groups numbers in a row is balanced */
  }
  if (!monotone) return high;
  while (low < high) {
    uint32_t half = low + (high - low) / 2;
    if (left_fit(s, half)) high = half;
    else low = half + 1;
  }
  return giver_fits(s, giver, high) ? high : 0;
}

static bool spare(shoal_specializer *s, const shoal_fork *fork, shoal_child *giver) {
  uint64_t k = s->task->fit->k;
  uint32_t least = s->n_left < k ? (uint32_t)(k - s->n_left) : 1;
  if (giver->n - k < least) return false;
  uint32_t n_lacking = line_up(s, giver), most = giver->n - (uint32_t)k;
  if (n_lacking > least) least = n_lacking;
  uint32_t n_given = least <= most ? enough(s, giver, least, most) : 0;
  for (uint32_t i = 0; i < n_given; i++) s->part_of[s->left[s->n_left + i]] = fork->n_children;
  s->n_left += n_given;
  giver->n -= n_given;
  return n_given != 0;
}

/* ------------------------------------------------------------ all children */

/* Sorts the kept children by size, then by place; returns their number. */
static uint32_t find_givers(shoal_specializer *s, const shoal_fork *fork) {
  uint32_t n = 0;
  for (uint32_t c = 0; c < fork->n_children; c++)
    if (fork->children[c].kept) s->givers[n++] = (uint64_t)fork->children[c].n << 32 | c;
  shoal_sort_keys(s->givers, n);
  return n;
}

static shoal_child *giver_at(const shoal_specializer *s, const shoal_fork *fork, uint32_t i) {
  return &fork->children[(uint32_t)s->givers[i]];
}

bool shoal_specializer_repair(shoal_specializer *s, shoal_fork *fork) {
  uint32_t n = find_givers(s, fork), first = 0, batch = 1;
  for (;;) {
    for (uint32_t asked = 0; asked < MAX_GIVERS && asked < n - first; asked++)
      if (spare(s, fork, giver_at(s, fork, n - 1 - asked))) return true;
    if (n - first == 1) return false;
    for (uint32_t i = 0; i < batch && n - first > 1; i++)
      shoal_specializer_leave_all(s, fork, giver_at(s, fork, first++));
    if (first >= SINGLY) batch *= 2;
    if (left_fit(s, 0)) return true;
  }
}
