/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster/top_down_even: children where a demand wants equally many rows of each group of values
 * (balanced p+-sensitive, balanced (p,alpha)-sensitive). Hardly any child has that by itself, so
 * some of its rows stay behind: of each group as many are kept as of its rarest. If all kept
 * children have equally many rows of each group that the class has, so have, up to the one row that
 * the class itself is off, the rows left behind.
 *
 * Two such demands at once are beyond this: then children have to be balanced as they are.
 */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "cluster/top_down.h"

void shoal_even_reset(shoal_even *even) {
  free(even->index_of);
  free(even->n_rows);
  memset(even, 0, sizeof *even);
}

bool shoal_even_init(shoal_even *even, const shoal_fit *fit) {
  shoal_distinct groups;
  memset(even, 0, sizeof *even);
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
  even->index_of = shoal_alloc(even->n_all, sizeof *even->index_of);
  even->n_rows = shoal_alloc(even->n_all, sizeof *even->n_rows);
  return even->index_of && even->n_rows;
}

/* The number of a row's group among those of the class; SHOAL_NO_GROUP: its value is missing. */
static uint32_t index_of(const shoal_even *even, uint32_t row) {
  uint32_t value = shoal_column_code(even->column, row);
  if (shoal_column_missing(even->column, value)) return SHOAL_NO_GROUP;
  return even->index_of[even->group_of[value]];
}

void shoal_even_look(shoal_even *even, const uint32_t *rows, uint32_t n) {
  memset(even->index_of, 0xff, even->n_all * sizeof *even->index_of); /* SHOAL_NO_GROUP */
  even->n_groups = 0;
  for (uint32_t i = 0; i < n; i++) {
    uint32_t value = shoal_column_code(even->column, rows[i]);
    if (shoal_column_missing(even->column, value)) continue;
    uint32_t *index = &even->index_of[even->group_of[value]];
    if (*index == SHOAL_NO_GROUP) *index = even->n_groups++;
  }
}

static void forget(shoal_even *even) {
  memset(even->n_rows, 0, even->n_groups * sizeof *even->n_rows);
}

bool shoal_specializer_even(shoal_specializer *s, const shoal_fork *fork, shoal_child *child) {
  shoal_even *even = &s->even;
  uint32_t *rows = s->sorted + child->start, least = UINT32_MAX, n = 0;
  forget(even);
  for (uint32_t i = 0; i < child->n; i++) {
    uint32_t group = index_of(even, rows[i]);
    if (group != SHOAL_NO_GROUP) even->n_rows[group]++;
  }
  for (uint32_t g = 0; g < even->n_groups; g++)
    if (even->n_rows[g] < least) least = even->n_rows[g];
  if (least == 0) return false;
  forget(even);
  for (uint32_t i = 0; i < child->n; i++) {
    uint32_t group = index_of(even, rows[i]);
    if (group == SHOAL_NO_GROUP || even->n_rows[group]++ < least) rows[n++] = rows[i];
    else shoal_specializer_leave(s, fork, rows[i]);
  }
  child->n = n;
  return shoal_judging_fits(&s->judging, rows, n);
}

void shoal_even_line_up(shoal_even *even, const uint32_t *rows, uint32_t n, uint32_t *line) {
  uint32_t n_grouped = 0;
  forget(even);
  for (uint32_t i = 0; i < n; i++) n_grouped += index_of(even, rows[i]) != SHOAL_NO_GROUP;
  for (uint32_t i = 0; i < n; i++) {
    uint32_t group = index_of(even, rows[i]);
    if (group == SHOAL_NO_GROUP) line[n_grouped++] = rows[i];
    else line[even->n_rows[group]++ * even->n_groups + group] = rows[i];
  }
}
