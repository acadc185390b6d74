/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile/merge: few entries for many columns. Names that begin alike and have the same suggestion
 * become one pattern, `V5*`, with entries of their own for the exceptions.
 *
 * The sorted names form a tree of common beginnings. For each node and each suggestion that columns
 * below it inherit from a shorter pattern, the least cost of its entries is computed from its
 * children; a name costs 1, and a pattern 2: a pattern must replace three names. The same recursion
 * makes optimal tables of network routes (Draves, King, Venkatachary, Zill 1999).
 */
#include <stdlib.h>
#include <string.h>

#include "profile/profile.h"

enum { MERGE_FROM = 31, NAME_COST = 1, PATTERN_COST = 2 };

/* A column; equal suggestions have equal labels. */
typedef struct named {
  const char *name;
  size_t column, label;
} named;

typedef struct merger {
  named *names; /* sorted */
  size_t n_labels;
  shoal_profile_entry *entries;
  size_t n_entries;
  bool failed;
} merger;

static const char *name_at(const merger *m, size_t i) { return m->names[i].name; }

static bool same_text(const char *a, const char *b) {
  return a == b || (a && b && strcmp(a, b) == 0);
}

static bool same_entry(const shoal_column_outcome *a, const shoal_column_outcome *b, bool safe) {
  return strcmp(a->role, b->role) == 0 && same_text(a->hierarchy, b->hierarchy) &&
         same_text(a->as_date, b->as_date) && a->as_number == b->as_number &&
         (safe || a->undecided == b->undecided) && a->is_age == b->is_age &&
         a->is_postcode == b->is_postcode && a->bad_cells == b->bad_cells;
}

static size_t common_bytes(const char *a, const char *b) {
  size_t n = 0;
  while (a[n] && a[n] == b[n]) n++;
  return n;
}

/* The end of the child that begins at `from`: names with the same next byte. */
static size_t child_end(const merger *m, size_t from, size_t to, size_t depth) {
  size_t end = from + 1;
  while (end < to && name_at(m, end)[depth] == name_at(m, from)[depth]) end++;
  return end;
}

/* A pattern ends before a whole character, and has at least one. */
static bool may_be_pattern(const merger *m, size_t from, size_t to, size_t depth) {
  if (depth == 0 || to - from < 2) return false;
  for (size_t i = from; i < to; i++)
    if (((unsigned char)name_at(m, i)[depth] & 0xc0) == 0x80) return false;
  return true;
}

static size_t cheapest(const merger *m, const size_t *cost) {
  size_t best = 0;
  for (size_t l = 1; l < m->n_labels; l++)
    if (cost[l] < cost[best]) best = l;
  return best;
}

/* The pattern of names from .. to, for those with the label. */
static shoal_profile_entry pattern_of(const merger *m, size_t from, size_t to, size_t depth,
                                      size_t label) {
  shoal_profile_entry entry = {SIZE_MAX, depth, 0};
  for (size_t i = from; i < to; i++) {
    if (m->names[i].label != label) continue;
    entry.n_columns++;
    if (m->names[i].column < entry.column) entry.column = m->names[i].column;
  }
  return entry;
}

/*
 * cost[l]: of the entries for names from .. to, if they inherit label l; l = n_labels: nothing. The
 * entries are written if `write` is that label, and not n_labels + 1.
 */
static void solve(merger *m, size_t from, size_t to, size_t write, size_t *cost) {
  size_t none = m->n_labels, silent = none + 1;
  if (to - from == 1) {
    for (size_t l = 0; l <= none; l++) cost[l] = m->names[from].label == l ? 0 : NAME_COST;
    if (write != silent && cost[write])
      m->entries[m->n_entries++] = (shoal_profile_entry){m->names[from].column, 0, 1};
    return;
  }
  size_t depth = common_bytes(name_at(m, from), name_at(m, to - 1));
  size_t *child = shoal_alloc(none + 1, sizeof *child);
  if (!child) {
    m->failed = true;
    memset(cost, 0, (none + 1) * sizeof *cost);
    return;
  }
  memset(cost, 0, (none + 1) * sizeof *cost);
  for (size_t at = from, end; at < to && !m->failed; at = end) {
    end = child_end(m, at, to, depth);
    solve(m, at, end, silent, child);
    for (size_t l = 0; l <= none; l++) cost[l] += child[l];
  }
  size_t best = cheapest(m, cost), below = write;
  size_t changed = may_be_pattern(m, from, to, depth) ? cost[best] + PATTERN_COST : SIZE_MAX;
  if (write != silent && changed < cost[write]) {
    m->entries[m->n_entries++] = pattern_of(m, from, to, depth, best);
    below = best;
  }
  for (size_t at = from, end; write != silent && at < to && !m->failed; at = end) {
    end = child_end(m, at, to, depth);
    solve(m, at, end, below, child);
  }
  for (size_t l = 0; l <= none; l++)
    if (changed < cost[l]) cost[l] = changed;
  free(child);
}

/* ------------------------------------------------------------ the job */

static int compare_names(const void *left, const void *right) {
  return strcmp(((const named *)left)->name, ((const named *)right)->name);
}

static int compare_entries(const void *left, const void *right) {
  const shoal_profile_entry *a = left, *b = right;
  return a->column < b->column ? -1 : a->column > b->column;
}

static bool merge(merger *m, size_t n) {
  size_t *cost = shoal_alloc(m->n_labels + 1, sizeof *cost);
  if (!cost) return false;
  qsort(m->names, n, sizeof *m->names, compare_names);
  solve(m, 0, n, m->n_labels, cost);
  free(cost);
  return !m->failed;
}

bool shoal_profile_merge(const shoal_profile_report *profile, bool safe,
                         shoal_profile_entry *entries, size_t *n_entries) {
  size_t n = profile->n_columns;
  bool few = n < MERGE_FROM, ok = true;
  merger m = {.names = shoal_alloc(n, sizeof *m.names), .entries = entries};
  size_t *first = shoal_alloc(n, sizeof *first); /* column of each label */
  ok = m.names && first;
  for (size_t c = 0; ok && c < n; c++) {
    const shoal_column_outcome *column = &profile->columns[c];
    size_t l = 0;
    while (l < m.n_labels && !same_entry(&profile->columns[first[l]], column, safe)) l++;
    if (l == m.n_labels) first[m.n_labels++] = c;
    m.names[c] = (named){column->name, c, l};
    entries[c] = (shoal_profile_entry){c, 0, 1};
    few = few || shoal_name_is_pattern(column->name); /* it would also be a pattern */
  }
  *n_entries = n;
  if (ok && !few) {
    ok = merge(&m, n);
    *n_entries = m.n_entries;
    qsort(entries, m.n_entries, sizeof *entries, compare_entries);
  }
  free(m.names);
  free(first);
  return ok;
}
