/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench/bound_boxes: see bound.h. Boxes are enumerated axis by axis: the tuples of a partial box,
 * sorted by their place on the next axis, are cut into the nodes of a tree on each level, or into
 * intervals. A partial box is left as soon as its k highest y cannot exceed k x its loss, which
 * only rises from there on, and its tuples become fewer.
 */
#include <string.h>

#include "bound.h"

/* Rounding must not make a constraint look violated again and again. */
static const double tolerance = 1e-12;

enum { FEW = 24, MAX_TURNS = 60 };

/* ------------------------------------------------------------ the k highest */

static void top_clear(bound_top *top) {
  top->n = top->n_rows = 0;
  top->sum = 0;
}

static inline void top_add(bound_top *top, uint32_t k, double y, uint32_t n_rows, uint32_t tuple) {
  if (top->n_rows == k && y <= top->entries[top->n - 1].y) return;
  if (n_rows > k) n_rows = k;
  uint32_t at = top->n++;
  for (; at && top->entries[at - 1].y < y; at--) top->entries[at] = top->entries[at - 1];
  top->entries[at] = (struct bound_top_entry){y, n_rows, tuple};
  top->n_rows += n_rows;
  top->sum += y * n_rows;
  while (top->n_rows > k) {
    struct bound_top_entry *last = &top->entries[top->n - 1];
    uint32_t over = top->n_rows - k, gone = over < last->n_rows ? over : last->n_rows;
    last->n_rows -= gone;
    top->n_rows -= gone;
    top->sum -= gone * last->y;
    if (!last->n_rows) top->n--;
  }
}

static void top_of(const bound *b, bound_top *top, const uint32_t *set, uint32_t n) {
  top_clear(top);
  for (uint32_t i = 0; i < n; i++) top_add(top, b->k, b->y[set[i]], b->rows_of[set[i]], set[i]);
}

/* The sum without its two lowest rows. */
static double top_but_two(const bound_top *top) {
  const struct bound_top_entry *last = &top->entries[top->n - 1];
  return top->sum - last->y - (last->n_rows > 1 || top->n == 1 ? last->y : last[-1].y);
}

static bool violates(const bound *b, const bound_top *top, double loss) {
  return top->n_rows == b->k && top->sum > b->k * loss * (1 + tolerance);
}

/* ------------------------------------------------------------ boxes */

/* Scales the highest y down until the constraint holds; the top is theirs afterwards. */
static void repair(bound *b, bound_top *top, const uint32_t *set, uint32_t n, double loss) {
  for (int turn = 0; turn < MAX_TURNS; turn++) {
    top_of(b, top, set, n);
    b->work += n;
    if (!violates(b, top, loss)) return;
    b->n_repaired++;
    double factor = b->k * loss / top->sum;
    for (uint32_t i = 0; i < top->n; i++) b->y[top->entries[i].tuple] *= factor;
  }
  for (uint32_t i = 0; i < n; i++)
    if (b->y[set[i]] > loss) b->y[set[i]] = loss;
  top_of(b, top, set, n);
}

/* Sorts the tuples whose y is above `least`; returns how many these are. */
static uint32_t sort_by_place(bound *b, const bound_axis *axis, const uint32_t *from, uint32_t n,
                              double least, uint32_t *to) {
  const uint32_t *place = axis->place;
  uint32_t n_sorted = 0;
  if (n <= FEW) {
    for (uint32_t i = 0; i < n; i++) {
      uint32_t tuple = from[i], at = n_sorted;
      if (b->y[tuple] <= least) continue;
      for (; at && place[to[at - 1]] > place[tuple]; at--) to[at] = to[at - 1];
      to[at] = tuple;
      n_sorted++;
    }
    return n_sorted;
  }
  memset(b->counts, 0, ((size_t)axis->n_positions + 1) * sizeof *b->counts);
  for (uint32_t i = 0; i < n; i++)
    if (b->y[from[i]] > least) b->counts[place[from[i]] + 1]++;
  for (uint32_t p = 0; p < axis->n_positions; p++) b->counts[p + 1] += b->counts[p];
  n_sorted = b->counts[axis->n_positions];
  for (uint32_t i = 0; i < n; i++)
    if (b->y[from[i]] > least) to[b->counts[place[from[i]]]++] = from[i];
  return n_sorted;
}

static void visit(bound *b, size_t depth, const uint32_t *from, uint32_t n, double loss);

/*
 * Whether k rows of an interval can violate its constraint that reach both its ends: if they do
 * not, they violate that of a shorter interval too.
 */
static bool ends_violate(const bound *b, const bound_top *top, double first, double last,
                         double loss) {
  return top_but_two(top) + first + last > b->k * loss * (1 + tolerance);
}

/* All intervals from set[start] on; `most` is the loss from which on nothing is violated. */
static void visit_intervals_from(bound *b, size_t depth, const uint32_t *set, uint32_t start,
                                 uint32_t n, double loss, double most) {
  const bound_axis *axis = &b->axes[depth];
  const uint32_t *place = axis->place;
  bound_top *top = &b->tops[depth];
  double first = 0, last = 0, begin = axis->position[place[set[start]]];
  top_clear(top);
  for (uint32_t i = start; i < n; i++) {
    double y = b->y[set[i]], here = loss + axis->position[place[set[i]]] - begin;
    if (here >= most) return;
    top_add(top, b->k, y, b->rows_of[set[i]], set[i]);
    b->work++;
    bool again = i > start && place[set[i]] == place[set[i - 1]];
    if (!again || y > last) last = y;
    if (place[set[i]] == place[set[start]]) first = last;
    if (i + 1 < n && place[set[i + 1]] == place[set[i]]) continue;
    if (!violates(b, top, here)) continue;
    if (depth + 1 == b->n_axes) {
      repair(b, top, set + start, i + 1 - start, here);
    } else if (place[set[i]] == place[set[start]] || ends_violate(b, top, first, last, here)) {
      uint64_t before = b->n_repaired;
      visit(b, depth + 1, set + start, i + 1 - start, here);
      if (b->n_repaired > before) top_of(b, top, set + start, i + 1 - start);
    }
    if (b->ended) return;
  }
}

/* A missing value is a box by itself; beside any other value it loses everything. */
static void visit_number(bound *b, size_t depth, const uint32_t *set, uint32_t n, double loss,
                         double most) {
  const bound_axis *axis = &b->axes[depth];
  const uint32_t *place = axis->place;
  uint32_t n_numbers = 0;
  while (n_numbers < n && place[set[n_numbers]] < axis->n_numbers) n_numbers++;
  for (uint32_t i = 0; i < n_numbers && !b->ended; i++)
    if (i == 0 || place[set[i]] != place[set[i - 1]])
      visit_intervals_from(b, depth, set, i, n_numbers, loss, most);
  for (uint32_t i = n_numbers, end; i < n; i = end) {
    for (end = i + 1; end < n && place[set[end]] == place[set[i]];) end++;
    visit(b, depth + 1, set + i, end - i, loss);
  }
  if (n_numbers < n && loss + 1 < most) visit(b, depth + 1, set, n, loss + 1);
}

/* A node whose tuples are all below one child is no smaller a box than the child, and loses more.
 */
static void visit_tree(bound *b, size_t depth, const uint32_t *set, uint32_t n, double loss,
                       double most) {
  const bound_axis *axis = &b->axes[depth];
  const uint32_t *place = axis->place;
  for (uint32_t l = 0; l < axis->n_levels; l++) {
    const uint32_t *label = axis->label[l];
    for (uint32_t i = 0, end; i < n; i = end) {
      uint32_t node = label[place[set[i]]];
      for (end = i + 1; end < n && label[place[set[end]]] == node;) end++;
      double here = loss + axis->loss[l][node];
      const uint32_t *below = l ? axis->label[l - 1] : NULL;
      if (below && below[place[set[i]]] == below[place[set[end - 1]]]) continue;
      if (here < most) visit(b, depth + 1, set + i, end - i, here);
    }
  }
}

/* The boxes that fix the first `depth` axes as `from`'s do. */
static void visit(bound *b, size_t depth, const uint32_t *from, uint32_t n, double loss) {
  bound_top *top = &b->tops[depth];
  uint64_t n_rows = 0;
  double highest = 0;
  if (b->ended || b->work > b->max_work) {
    b->ended = true;
    return;
  }
  for (uint32_t i = 0; i < n; i++) {
    if (b->y[from[i]] > highest) highest = b->y[from[i]];
    n_rows += b->rows_of[from[i]];
  }
  b->work += n;
  if (n_rows < b->k || highest <= loss) return;
  top_of(b, top, from, n);
  if (!violates(b, top, loss)) return;
  if (depth == b->n_axes) {
    repair(b, top, from, n, loss);
    return;
  }
  /* rows so low that they violate nothing even with the k - 1 highest need not be looked at */
  double least = b->k * loss - (top->sum - top->entries[top->n - 1].y);
  double most = top->sum / b->k;
  uint32_t *set = b->sets[depth];
  n = sort_by_place(b, &b->axes[depth], from, n, least, set);
  if (b->axes[depth].number) visit_number(b, depth, set, n, loss, most);
  else visit_tree(b, depth, set, n, loss, most);
}

void bound_sweep(bound *b) {
  uint32_t *all = b->sets[b->n_axes];
  for (uint32_t t = 0; t < b->n_tuples; t++) all[t] = t;
  b->n_repaired = 0;
  visit(b, 0, all, b->n_tuples, 0);
}
