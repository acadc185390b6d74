/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unit tests of src/cluster/top_down*.c on random tables, against the algorithm word by word, as
 * slow as it may be.
 */

#include "cluster_fixture.h"

enum { MAX_ROWS = 128, MAX_GIVERS = 4 };

static shoal_status try_cluster(fixture *f, const shoal_run *run) {
  shoal_cluster_task task = {.axes = &f->axes, .required = &f->required, .run = run};
  shoal_partition_reset(&f->partition);
  return shoal_cluster_top_down(&task, &f->partition, &f->error);
}

static void cluster(fixture *f) { succeeds(f, try_cluster(f, NULL)); }

/* ---------------------------------------------------------------- the same, slowly */

typedef struct rows {
  uint32_t items[MAX_ROWS];
  uint32_t n;
} rows;

typedef struct pieces {
  rows items[MAX_ROWS];
  uint32_t n;
} pieces;

static void add(rows *set, uint32_t row) { set->items[set->n++] = row; }

static void add_all(rows *set, const rows *others) {
  for (uint32_t i = 0; i < others->n; i++) add(set, others->items[i]);
}

/* Distinct groups of a count among the rows, each looked for among those before it. */
static uint32_t distinct_of(const shoal_cluster_requirements *required, size_t d,
                            const uint32_t *items, size_t n) {
  uint32_t distinct = 0;
  for (size_t i = 0; i < n; i++) {
    uint32_t group = shoal_distinct_requirement_group(&required->counts[d], items[i]);
    bool again = group == SHOAL_NONE;
    for (size_t j = 0; j < i && !again; j++)
      again = shoal_distinct_requirement_group(&required->counts[d], items[j]) == group;
    distinct += !again;
  }
  return distinct;
}

static bool slow_fits(fixture *f, const rows *set) {
  for (size_t d = 0; d < f->required.n_counts; d++)
    if (distinct_of(&f->required, d, set->items, set->n) < f->required.counts[d].min_distinct)
      return false;
  return satisfies(f, set->items, set->n);
}

static int by_number(const void *a, const void *b) {
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return (x > y) - (x < y);
}

static uint32_t slow_loss(const fixture *f, const rows *set, size_t axis) {
  uint32_t lo = UINT32_MAX, hi = 0;
  for (uint32_t i = 0; i < set->n; i++) {
    uint32_t at = position(f, set->items[i], axis);
    if (at < lo) lo = at;
    if (at > hi) hi = at;
  }
  return shoal_axis_loss_slow(&f->axes.items[axis], lo, hi);
}

/* The last place of the lower half: nearest to half of the rows, of two cuts the lower. */
static uint32_t slow_half(const fixture *f, const rows *set, size_t axis) {
  uint32_t positions[MAX_ROWS], best = 0;
  size_t nearest = SIZE_MAX;
  for (uint32_t i = 0; i < set->n; i++) positions[i] = position(f, set->items[i], axis);
  qsort(positions, set->n, sizeof *positions, by_number);
  for (uint32_t i = 1; i < set->n; i++) {
    size_t off = 2 * i > set->n ? 2 * i - set->n : set->n - 2 * i;
    if (positions[i] == positions[i - 1] || off >= nearest) continue;
    nearest = off;
    best = positions[i - 1];
  }
  return best;
}

/* Which child a row is of, by a number that rises with the place. */
static uint32_t slow_key(const fixture *f, const rows *set, size_t axis, uint32_t row) {
  const shoal_axis *a = &f->axes.items[axis];
  uint32_t at = position(f, row, axis), first = at;
  bool missing = false;
  for (uint32_t i = 0; i < set->n; i++)
    missing = missing || position(f, set->items[i], axis) >= a->n_numbers;
  if (!a->hierarchy && missing) return at < a->n_numbers ? 0 : at;
  if (!a->hierarchy) return at > slow_half(f, set, axis);
  for (uint32_t level = a->hierarchy->n_levels; level-- > 0;) { /* the highest that tells apart */
    const uint32_t *label = a->hierarchy->levels[level].of_leaf;
    bool differ = false;
    for (uint32_t i = 0; i < set->n; i++) {
      uint32_t other = position(f, set->items[i], axis);
      differ = differ || label[a->code_at[other]] != label[a->code_at[at]];
      if (label[a->code_at[other]] == label[a->code_at[at]] && other < first) first = other;
    }
    if (differ) return first;
    first = at;
  }
  return at;
}

static void slow_children(const fixture *f, const rows *set, size_t axis, pieces *children) {
  uint32_t keys[MAX_ROWS], sorted[MAX_ROWS];
  for (uint32_t i = 0; i < set->n; i++) sorted[i] = keys[i] = slow_key(f, set, axis, set->items[i]);
  qsort(sorted, set->n, sizeof *sorted, by_number);
  children->n = 0;
  for (uint32_t s = 0; s < set->n; s++) {
    if (s && sorted[s] == sorted[s - 1]) continue;
    rows *child = &children->items[children->n++];
    child->n = 0;
    for (uint32_t i = 0; i < set->n; i++)
      if (keys[i] == sorted[s]) add(child, set->items[i]);
  }
}

/* Moves the row at `at` of the giver to the rows that are left. */
static void give(rows *left, rows *giver, uint32_t at) {
  add(left, giver->items[at]);
  memmove(giver->items + at, giver->items + at + 1, (giver->n - at - 1) * sizeof *giver->items);
  giver->n--;
}

static void give_lacking(fixture *f, rows *left, rows *giver) {
  for (uint32_t i = 0; i < giver->n;) {
    bool lacks = false;
    for (size_t d = 0; d < f->required.n_counts; d++) {
      uint32_t before = distinct_of(&f->required, d, left->items, left->n);
      rows more = *left;
      add(&more, giver->items[i]);
      uint32_t after = distinct_of(&f->required, d, more.items, more.n);
      lacks = lacks || (before < f->required.counts[d].min_distinct && after > before);
    }
    if (lacks) give(left, giver, i);
    else i++;
  }
}

static bool slow_spare(fixture *f, rows *left, rows *giver) {
  rows l = *left, g = *giver;
  give_lacking(f, &l, &g);
  while ((l.n < f->required.k || l.n == left->n) && g.n) give(&l, &g, 0);
  bool monotone = f->required.monotone;
  for (uint32_t step = 1;; step *= monotone ? 1 : 2) {
    if (g.n < f->required.k) return false;
    bool fits = slow_fits(f, &l), both = fits && slow_fits(f, &g);
    if (fits && monotone && !both) return false;
    if (both) break;
    if (g.n == f->required.k) return false;
    for (uint32_t i = 0; i < step && g.n > f->required.k; i++) give(&l, &g, 0);
  }
  *left = l;
  *giver = g;
  return true;
}

/* Numbers of the children that are kept, the smallest first. */
static uint32_t in_order(const pieces *children, const bool *kept, uint32_t *order) {
  uint32_t n = 0;
  for (uint32_t c = 0; c < children->n; c++) {
    if (!kept[c]) continue;
    uint32_t at = n++;
    for (; at && children->items[order[at - 1]].n > children->items[c].n; at--)
      order[at] = order[at - 1];
    order[at] = c;
  }
  return n;
}

static bool slow_repair(fixture *f, pieces *children, bool *kept, rows *left) {
  uint32_t order[MAX_ROWS];
  while (left->n && !slow_fits(f, left)) {
    uint32_t n = in_order(children, kept, order);
    for (uint32_t i = 0; i < n && i < MAX_GIVERS; i++)
      if (slow_spare(f, left, &children->items[order[n - 1 - i]])) return true;
    if (n < 2) return false;
    add_all(left, &children->items[order[0]]);
    kept[order[0]] = false;
  }
  return true;
}

/* Specializes on an axis; returns the gain, or -1 if that cannot be. */
static int64_t slow_try(fixture *f, const rows *set, size_t axis, pieces *parts) {
  static pieces children;
  static rows left;
  bool kept[MAX_ROWS];
  uint32_t losses[MAX_ROWS], loss = slow_loss(f, set, axis);
  int64_t gain = -1;
  slow_children(f, set, axis, &children);
  left.n = 0;
  for (uint32_t c = 0; c < children.n; c++) {
    losses[c] = slow_loss(f, &children.items[c], axis);
    kept[c] = slow_fits(f, &children.items[c]);
    if (!kept[c]) add_all(&left, &children.items[c]);
  }
  if (left.n == set->n || children.n < 2 || !slow_repair(f, &children, kept, &left)) return -1;
  parts->n = 0;
  gain = 0;
  for (uint32_t c = 0; c < children.n; c++) {
    if (!kept[c]) continue;
    gain += (int64_t)children.items[c].n * (loss - losses[c]);
    parts->items[parts->n++] = children.items[c];
  }
  qsort(left.items, left.n, sizeof *left.items, by_number);
  if (left.n) parts->items[parts->n++] = left;
  return gain;
}

static void slow_top_down(fixture *f, pieces *classes) {
  static pieces parts, best;
  classes->n = 1;
  classes->items[0].n = 0;
  for (uint32_t r = 0; r < f->n_rows; r++) add(&classes->items[0], r);
  if (!slow_fits(f, &classes->items[0])) return;
  for (uint32_t c = 0; c < classes->n;) {
    int64_t most = -1;
    for (size_t q = 0; q < f->n_quasi; q++) {
      int64_t gain = slow_try(f, &classes->items[c], q, &parts);
      if (gain <= most) continue;
      most = gain;
      best = parts;
    }
    if (most < 0) {
      c++;
      continue;
    }
    classes->items[c] = best.items[0];
    for (uint32_t i = 1; i < best.n; i++) classes->items[classes->n++] = best.items[i];
  }
}

static void assert_same(const fixture *f, const pieces *classes) {
  assert_int_equal(f->partition.n_clusters, classes->n);
  for (uint32_t c = 0; c < classes->n; c++)
    for (uint32_t i = 1; i < classes->items[c].n; i++)
      assert_int_equal(f->partition.cluster_of_row[classes->items[c].items[i]],
                       f->partition.cluster_of_row[classes->items[c].items[0]]);
}

/* ---------------------------------------------------------------- random tables */

static const shape shapes[] = {
    {"n", 30, 3, false, NULL},  {"n", 5, 3, true, NULL},     {"t", 0, 2, false, NULL},
    {"m", 8, 4, false, NULL},   {"nt", 9, 3, false, NULL},   {"tm", 6, 3, true, NULL},
    {"nnn", 4, 5, false, NULL}, {"tt", 0, 3, true, NULL},    {"mmt", 9, 4, false, NULL},
    {"ttt", 0, 6, false, NULL}, {"nntm", 7, 3, true, NULL},  {"n", 1, 2, false, NULL},
    {"tn", 60, 5, true, NULL},  {"nn", 2000, 6, false, NULL}};

static const char *const models[] = {"",
                                     "[{p-plus-sensitive: {p: 2}}]",
                                     "[{p-alpha-sensitive: {p: 2, alpha: 1}}]",
                                     "[{alpha-k: {alpha: 0.5}}]",
                                     "[{l-diversity: {kind: entropy, l: 2}}]",
                                     "[{t-closeness: {t: 0.3, distance: equal}}]",
                                     "[{theta-sensitive: {mu: 0.2}}]"};

static void the_slow_version_gives_the_same(void **state UNUSED) {
  static pieces classes;
  unsigned n_divided = 0;
  for (uint64_t seed = 0; seed < 1400; seed++) {
    fixture f;
    size_t n_rows = 1 + seed * 7 % 70;
    uint64_t k = 2 + seed % 4;
    if (k > n_rows) k = n_rows;
    setup(&f, &shapes[seed % COUNT(shapes)], n_rows, k, k < 2 ? 1 : 1 + seed / 5 % 2,
          k < 2 ? "" : models[seed / 14 % COUNT(models)], seed);
    cluster(&f);
    check_partition(&f);
    slow_top_down(&f, &classes);
    assert_same(&f, &classes);
    n_divided += classes.n > 1;
    teardown(&f);
  }
  assert_in_range(n_divided, 500, 1300);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_slow_version_gives_the_same),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
