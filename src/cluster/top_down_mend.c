/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster/top_down_mend: rows left behind by a specialization that do not satisfy the demands get
 * others back (Wong et al. 2006: "unspecialize some tuples in the remaining child nodes").
 *
 * What is taken back loses, so as few rows as can be: first those that a single child can spare,
 * the largest one asked first: rows with sensitive values that are lacking, then any, in row order.
 * Where no child can spare enough, the smallest one goes back as a whole, and all is tried again.
 */
#include <stdlib.h>
#include <string.h>

#include "cluster/top_down.h"

enum {
  MOST_GIVERS = 4, /* children asked to spare rows, each time */
  SINGLY = 8       /* children taken back one by one; later ever more at a time */
};

/* ------------------------------------------------------------ values that are lacking */

static void forget(shoal_specializer *s) {
  memset(s->distinct, 0, s->task->fit->n_counts * sizeof *s->distinct);
  if (++s->now) return;
  for (size_t d = 0; d < s->task->fit->n_counts; d++)
    memset(s->seen[d], 0, s->task->fit->counts[d].n_groups * sizeof **s->seen);
  s->now = 1;
}

static bool is_new(const shoal_specializer *s, size_t d, uint32_t row) {
  uint32_t group = shoal_count_group(&s->task->fit->counts[d], row);
  return group != SHOAL_NO_GROUP && s->seen[d][group] != s->now;
}

static void see(shoal_specializer *s, uint32_t row) {
  for (size_t d = 0; d < s->task->fit->n_counts; d++) {
    if (!is_new(s, d, row)) continue;
    s->seen[d][shoal_count_group(&s->task->fit->counts[d], row)] = s->now;
    s->distinct[d]++;
  }
}

static bool is_lacking(const shoal_specializer *s, uint32_t row) {
  for (size_t d = 0; d < s->task->fit->n_counts; d++)
    if (s->distinct[d] < s->task->fit->counts[d].least && is_new(s, d, row)) return true;
  return false;
}

/*
 * The giver's rows behind those left: first the ones whose values are lacking, then the others.
 * Returns how many are lacking.
 */
static uint32_t line_up(shoal_specializer *s, const shoal_child *giver) {
  const uint32_t *rows = s->sorted + giver->start;
  uint32_t *line = s->left + s->n_left, n = 0, n_lacking = 0;
  if (s->even.column) {
    shoal_even_line_up(&s->even, rows, giver->n, line);
    return 0;
  }
  forget(s);
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

/* ------------------------------------------------------------ rows of one child */

static bool left_fit(shoal_specializer *s, uint32_t n_given) {
  return shoal_judging_fits(&s->judging, s->left, s->n_left + n_given);
}

static bool giver_fits(shoal_specializer *s, const shoal_child *giver, uint32_t n_given) {
  return shoal_judging_fits(&s->judging, s->left + s->n_left + n_given, giver->n - n_given);
}

/* The least number of rows, from `least` to `most`, to be given; 0 if none is found. */
static uint32_t enough(shoal_specializer *s, const shoal_child *giver, uint32_t least,
                       uint32_t most) {
  bool monotone = s->task->fit->monotone;
  uint32_t low = least, high = least;
  for (uint32_t tried = 1, step = 1;; tried++) {
    if (left_fit(s, high) && (monotone || giver_fits(s, giver, high))) break;
    if (high == most) return 0;
    low = high + 1;
    high = step < most - high ? high + step : most;
    if (tried >= s->even.n_groups) step *= 2; /* one of so many leaves all even */
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

static int ascending(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

/* The kept children, the smallest first; equal ones by place. */
static uint32_t find_givers(shoal_specializer *s, const shoal_fork *fork) {
  uint32_t n = 0;
  for (uint32_t c = 0; c < fork->n_children; c++)
    if (fork->children[c].kept) s->givers[n++] = (uint64_t)fork->children[c].n << 32 | c;
  qsort(s->givers, n, sizeof *s->givers, ascending);
  return n;
}

static shoal_child *giver_at(const shoal_specializer *s, const shoal_fork *fork, uint32_t i) {
  return &fork->children[(uint32_t)s->givers[i]];
}

bool shoal_specializer_mend(shoal_specializer *s, shoal_fork *fork) {
  uint32_t n = find_givers(s, fork), first = 0, batch = 1;
  for (;;) {
    for (uint32_t asked = 0; asked < MOST_GIVERS && asked < n - first; asked++)
      if (spare(s, fork, giver_at(s, fork, n - 1 - asked))) return true;
    if (n - first == 1) return false;
    for (uint32_t i = 0; i < batch && n - first > 1; i++)
      shoal_specializer_leave_all(s, fork, giver_at(s, fork, first++));
    if (first >= SINGLY) batch *= 2;
    if (left_fit(s, 0)) return true;
  }
}
