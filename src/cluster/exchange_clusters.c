/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster/exchange_clusters: clusters as rows and as numbers of rows of each kind, and what a
 * change of them does to their deficits.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "cluster/exchange.h"

/* ------------------------------------------------------------ rows */

/* The index of the kind, or of the first one above it. */
static size_t find_kind(const shoal_exchange_cluster *c, uint32_t kind) {
  size_t low = 0, high = c->n_kinds;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (c->kinds[middle].kind < kind) low = middle + 1;
    else high = middle;
  }
  return low;
}

bool shoal_exchange_add(shoal_exchange *x, shoal_exchange_cluster *c, uint32_t row) {
  if (!shoal_grow(&c->rows, &c->capacity, c->n + 1, sizeof *c->rows) ||
      !shoal_grow(&c->kinds, &c->kind_capacity, c->n_kinds + 1, sizeof *c->kinds)) {
    x->failed = true;
    return false;
  }
  uint32_t kind = x->kind_of_row[row];
  size_t at = find_kind(c, kind);
  if (at == c->n_kinds || c->kinds[at].kind != kind) {
    memmove(c->kinds + at + 1, c->kinds + at, (c->n_kinds++ - at) * sizeof *c->kinds);
    c->kinds[at] = (shoal_kind_count){kind, 0};
  }
  c->kinds[at].n++;
  c->rows[c->n++] = row;
  c->has_box = false;
  return true;
}

uint32_t shoal_exchange_take(const shoal_exchange *x, shoal_exchange_cluster *c, uint32_t kind) {
  size_t i = c->n - 1, at = find_kind(c, kind);
  assert(at < c->n_kinds && c->kinds[at].kind == kind);
  while (x->kind_of_row[c->rows[i]] != kind) i--;
  uint32_t row = c->rows[i];
  c->rows[i] = c->rows[--c->n];
  c->has_box = false;
  if (--c->kinds[at].n) return row;
  memmove(c->kinds + at, c->kinds + at + 1, (--c->n_kinds - at) * sizeof *c->kinds);
  return row;
}

void shoal_exchange_empty(shoal_exchange_cluster *c) {
  c->n = c->n_kinds = 0;
  c->has_box = false;
  c->deficit = 0;
}

void shoal_exchange_free(shoal_exchange_cluster *c) {
  free(c->rows);
  free(c->kinds);
  free(c->box);
}

void shoal_exchange_box(shoal_exchange *x, shoal_exchange_cluster *c, shoal_span *box) {
  const shoal_axes *axes = x->task->axes;
  if (!c->box) c->box = shoal_alloc(axes->n_spans, sizeof *c->box);
  if (!c->box) { /* no memory to keep it */
    shoal_box_of(axes, box, c->rows, c->n);
    return;
  }
  if (!c->has_box) shoal_box_of(axes, c->box, c->rows, c->n);
  c->has_box = true;
  memcpy(box, c->box, axes->n_spans * sizeof *box);
}

size_t shoal_exchange_kinds(const shoal_exchange_cluster *c, uint32_t *kinds) {
  uint32_t counts[SHOAL_EXCHANGE_KINDS];
  size_t n = 0;
  for (size_t i = 0; i < c->n_kinds; i++) {
    size_t at = n;
    while (at && counts[at - 1] < c->kinds[i].n) at--;
    if (at == SHOAL_EXCHANGE_KINDS) continue;
    if (n < SHOAL_EXCHANGE_KINDS) n++;
    memmove(counts + at + 1, counts + at, (n - 1 - at) * sizeof *counts);
    memmove(kinds + at + 1, kinds + at, (n - 1 - at) * sizeof *kinds);
    counts[at] = c->kinds[i].n;
    kinds[at] = c->kinds[i].kind;
  }
  return n;
}

/* ------------------------------------------------------------ deficits */

/* The deficit of the rows of two lists, without one row of the kind `out`. */
static double deficit_of(shoal_exchange *x, const shoal_kind_count *a, size_t n_a,
                         const shoal_kind_count *b, size_t n_b, uint32_t out) {
  size_t most = n_a + n_b, n = 0;
  if (!shoal_grow(&x->scratch_rows, &x->rows_capacity, most, sizeof *x->scratch_rows) ||
      !shoal_grow(&x->scratch_counts, &x->counts_capacity, most, sizeof *x->scratch_counts)) {
    x->failed = true;
    return (double)UINT32_MAX;
  }
  for (size_t i = 0, j = 0; i < n_a || j < n_b;) {
    bool from_a = i < n_a && (j == n_b || a[i].kind <= b[j].kind);
    bool from_b = j < n_b && (i == n_a || b[j].kind <= a[i].kind);
    uint32_t kind = from_a ? a[i].kind : b[j].kind, rows = 0;
    if (from_a) rows += a[i++].n;
    if (from_b) rows += b[j++].n;
    rows -= kind == out;
    x->scratch_rows[n] = x->row_of_kind[kind];
    x->scratch_counts[n] = rows;
    n += rows > 0;
  }
  x->work += n + 1;
  return shoal_requirement_checker_deficit(&x->checker, x->scratch_rows, x->scratch_counts, n);
}

double shoal_exchange_deficit(shoal_exchange *x, const shoal_exchange_cluster *c, uint32_t out,
                              uint32_t in) {
  shoal_kind_count added = {in, 1};
  return deficit_of(x, c->kinds, c->n_kinds, &added, in != SHOAL_NONE, out);
}

double shoal_exchange_joined(shoal_exchange *x, const shoal_exchange_cluster *a,
                             const shoal_exchange_cluster *b) {
  return deficit_of(x, a->kinds, a->n_kinds, b->kinds, b->n_kinds, SHOAL_NONE);
}

void shoal_exchange_judge(shoal_exchange *x, shoal_exchange_cluster *c) {
  c->deficit = shoal_exchange_deficit(x, c, SHOAL_NONE, SHOAL_NONE);
}

void shoal_exchange_apply(shoal_exchange *x, const shoal_exchange_step *s) {
  bool moves_a = !s->join && s->from_a != SHOAL_NONE, moves_b = !s->join && s->from_b != SHOAL_NONE;
  uint32_t row_a = moves_a ? shoal_exchange_take(x, s->a, s->from_a) : SHOAL_NONE;
  uint32_t row_b = moves_b ? shoal_exchange_take(x, s->b, s->from_b) : SHOAL_NONE;
  if (moves_a) (void)shoal_exchange_add(x, s->b, row_a);
  if (moves_b) (void)shoal_exchange_add(x, s->a, row_b);
  for (size_t i = 0; s->join && i < s->b->n; i++) (void)shoal_exchange_add(x, s->a, s->b->rows[i]);
  if (s->join) shoal_exchange_empty(s->b);
  shoal_exchange_judge(x, s->a);
  shoal_exchange_judge(x, s->b);
}
