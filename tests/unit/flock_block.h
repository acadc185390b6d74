/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One block of flock on a random table, and slow versions of what it computes: losses from the
 * places of rows, figures from the membership of rows, requirements from the rows themselves.
 */
#ifndef SHOAL_TESTS_FLOCK_BLOCK_H
#define SHOAL_TESTS_FLOCK_BLOCK_H

#include "flock_fixture.h"

#include "base/sort.h"
#include "cluster/flock_clusters.h"

enum { LEVELS = 4 }; /* of a tree made from numbers */

/*
 * A table: a shape, and what its axes become. By axis: s a set, T a tree of any number of leaves
 * (of a number), anything else as it is. `n_people` above 0: another requirement, on people.
 */
typedef struct layout {
  shape s;
  const char *as;
  uint32_t fan; /* T: children of a node */
  uint32_t n_people, min_people;
} layout;

typedef struct made {
  fixture f;
  shoal_hierarchy trees[8];
  shoal_level levels[8][LEVELS];
  size_t n_trees;
  shoal_column people;
} made;

/* ---------------------------------------------------------------- tables */

static inline void *room_for(size_t n, size_t size) {
  void *memory = calloc(n ? n : 1, size);
  assert_non_null(memory);
  return memory;
}

/* Numbers become leaves, in the same order; each level has `fan` nodes of the one below a node. */
static inline void make_tree(made *m, shoal_axis *axis, uint32_t fan) {
  shoal_arena *arena = &m->f.axes.arena;
  shoal_hierarchy *h = &m->trees[m->n_trees];
  *h = (shoal_hierarchy){.n_values = axis->n_values, .n_levels = LEVELS};
  h->levels = m->levels[m->n_trees++];
  axis->loss_at = shoal_arena_alloc(arena, LEVELS, sizeof *axis->loss_at);
  assert_non_null(axis->loss_at);
  uint64_t width = 1;
  for (uint32_t l = 0; l < LEVELS; l++, width *= fan) {
    h->levels[l].of_leaf = room_for(axis->n_values, sizeof(uint32_t));
    axis->loss_at[l] = shoal_arena_alloc(arena, axis->n_positions, sizeof(uint32_t));
    assert_non_null(axis->loss_at[l]);
    for (uint32_t v = 0; v < axis->n_values; v++)
      h->levels[l].of_leaf[v] = l + 1 < LEVELS ? (uint32_t)(axis->position_of[v] / width) : 0;
    for (uint32_t t = 0; t < axis->n_positions; t++)
      axis->loss_at[l][t] = (uint32_t)((uint64_t)axis->full * l / (LEVELS - 1));
  }
  axis->pairs = NULL;
  axis->kind = SHOAL_AXIS_TREE;
  axis->hierarchy = h;
  axis->n_numbers = 0;
}

/* At least min_people different people; person 0 is nobody. */
static inline void add_people(made *m, uint32_t n_people, uint32_t least, uint64_t seed) {
  fixture *f = &m->f;
  shoal_random random;
  shoal_random_seed(&random, seed + 1000);
  uint32_t *codes = room_for(f->n_rows, sizeof *codes);
  uint64_t *n_rows = room_for(n_people, sizeof *n_rows);
  for (size_t r = 0; r < f->n_rows; r++) codes[r] = below(&random, n_people);
  for (size_t r = 0; r < f->n_rows; r++) n_rows[codes[r]] += codes[r] > 0;
  m->people = (shoal_column){
      .name = "person", .n_values = n_people, .code_size = sizeof *codes, .codes = codes};
  shoal_distinct_requirement *counts;
  SHOAL_ARENA_ARRAY(&f->required.arena, counts, f->required.n_counts + 1);
  assert_non_null(counts);
  memcpy(counts, f->required.counts, f->required.n_counts * sizeof *counts);
  f->required.counts = counts;
  shoal_requirement_checker_reset(&f->checker);
  shoal_distinct_requirement *own = &counts[f->required.n_counts++];
  *own = (shoal_distinct_requirement){
      .column = &m->people, .n_groups = n_people, .min_distinct = least, .weight = 1};
  SHOAL_ARENA_ARRAY(&f->required.arena, own->group_of, n_people);
  assert_non_null(own->group_of);
  for (uint32_t v = 0; v < n_people; v++) own->group_of[v] = v ? v : SHOAL_NONE;
  shoal_value_frequencies spread = {.n_rows = f->n_rows, .descending = n_rows};
  shoal_value_frequencies_sort(&spread, n_people);
  own->max_clusters = shoal_value_frequencies_max_groups(&spread, least);
  free(n_rows);
  succeeds(f, shoal_requirement_checker_init(&f->checker, &f->required, &f->error));
}

static inline void make_set(shoal_axes *axes, shoal_axis *axis) {
  axis->kind = SHOAL_AXIS_SET;
  axis->set = axes->n_spans;
  axes->n_spans += SHOAL_SET_SPANS;
  uint64_t others = axis->n_positions > 1 ? axis->n_positions - 1 : 1;
  for (uint32_t n = 2; n <= SHOAL_MAX_SET + 1; n++)
    axis->set_loss[n] = n <= SHOAL_MAX_SET && n <= axis->n_positions
                            ? (uint32_t)((uint64_t)axis->full * (n - 1) / others)
                            : axis->full;
}

static inline void make(made *m, const layout *l, uint64_t seed) {
  memset(m, 0, sizeof *m);
  setup(&m->f, &l->s, seed);
  for (size_t q = 0; l->as && l->as[q]; q++) {
    if (l->as[q] == 's') make_set(&m->f.axes, &m->f.axes.items[q]);
    if (l->as[q] == 'T') make_tree(m, &m->f.axes.items[q], l->fan);
  }
  if (l->n_people) add_people(m, l->n_people, l->min_people, seed);
}

static inline void unmake(made *m) {
  teardown(&m->f);
  for (size_t i = 0; i < m->n_trees; i++)
    for (size_t l = 0; l < LEVELS; l++) free(m->levels[i][l].of_leaf);
  free(m->people.codes);
}

/* ---------------------------------------------------------------- blocks */

typedef struct one_block {
  fixture *f;
  uint32_t *rows, n;
  shoal_packed_rows p;
  shoal_clusters b;
  shoal_flock_stop stop;
} one_block;

/* About `percent` of the tuples; at least one. */
static inline void block_init(one_block *k, fixture *f, uint32_t percent, uint32_t n_clusters,
                              shoal_random *random) {
  uint64_t *keys = room_for(f->n_rows, sizeof *keys);
  uint32_t always = f->axes.tuple_of_row[below(random, f->n_rows)], salt = below(random, 1 << 20);
  *k = (one_block){.f = f, .rows = room_for(f->n_rows, sizeof *k->rows)};
  for (uint32_t r = 0; r < f->n_rows; r++) {
    uint32_t t = f->axes.tuple_of_row[r];
    if (t != always && (t + salt) * UINT32_C(2654435761) % 100 >= percent) continue;
    keys[k->n++] = (uint64_t)t << 32 | r;
  }
  shoal_sort_u64(keys, k->n);
  for (uint32_t i = 0; i < k->n; i++) k->rows[i] = (uint32_t)keys[i];
  free(keys);
  const shoal_cluster_task task = {.axes = &f->axes, .required = &f->required};
  assert_true(shoal_packed_rows_init(&k->p, &task, k->rows, k->n));
  if (!n_clusters) n_clusters = k->n;
  assert_true(shoal_clusters_init(&k->b, &k->p, n_clusters, &k->stop));
}

static inline void block_reset(one_block *k) {
  shoal_clusters_reset(&k->b);
  shoal_packed_rows_reset(&k->p);
  free(k->rows);
}

/* ---------------------------------------------------------------- slow versions */

/* The loss of a row among these rows of the block, in the table's units. */
static inline double exact_loss(const one_block *k, const uint32_t *rows, uint32_t n) {
  const shoal_axes *axes = &k->f->axes;
  double loss = 0;
  for (size_t q = 0; q < axes->n; q++) {
    const shoal_axis *axis = &axes->items[q];
    uint8_t *has = room_for(axis->n_positions, 1);
    uint32_t lo = UINT32_MAX, hi = 0, distinct = 0;
    for (uint32_t i = 0; i < n; i++) {
      uint32_t position = shoal_axes_row(axes, k->rows[rows[i]])[q];
      if (position < lo) lo = position;
      if (position > hi) hi = position;
      distinct += !has[position];
      has[position] = 1;
    }
    free(has);
    if (axis->kind != SHOAL_AXIS_SET) loss += shoal_axis_loss(axis, lo, hi);
    else if (distinct > SHOAL_MAX_SET) loss += axis->full;
    else if (distinct > 1) loss += (double)axis->full * (distinct - 1) / (axis->n_positions - 1);
  }
  return loss;
}

static inline const int16_t *values_at(const one_block *k, uint32_t row) {
  return shoal_packed_values(&k->p, k->p.tuple[row]);
}

static inline void box_around(const one_block *k, shoal_packed_box box, const uint32_t *rows,
                              uint32_t n) {
  shoal_packed_box_start(&k->p, box, values_at(k, rows[0]));
  for (uint32_t i = 1; i < n; i++) shoal_packed_box_add(&k->p, box, values_at(k, rows[i]));
}

/* The rows of a cluster, from cluster_of alone. */
static inline uint32_t rows_in(const one_block *k, uint32_t cluster, uint32_t *rows) {
  uint32_t n = 0;
  for (uint32_t r = 0; r < k->n; r++)
    if (k->b.size[cluster] && k->b.cluster_of[r] == cluster) rows[n++] = r;
  return n;
}

/* Rows of a row's group in a list. */
static inline uint32_t of_group(const one_block *k, size_t d, uint32_t group, const uint32_t *rows,
                                uint32_t n) {
  uint32_t same = 0;
  for (uint32_t i = 0; i < n; i++) same += k->p.group[d][rows[i]] == group;
  return same;
}

static inline shoal_group_set slow_groups(const one_block *k, size_t d, const uint32_t *rows,
                                          uint32_t n) {
  shoal_group_set set = {0, 0, 0};
  uint32_t in_bit[64] = {0};
  for (uint32_t i = 0; i < n; i++) {
    uint32_t group = k->p.group[d][rows[i]];
    if (group == SHOAL_NONE) continue;
    set.distinct += !of_group(k, d, group, rows, i);
    in_bit[group % 64]++;
  }
  for (unsigned bit = 0; bit < 64; bit++) {
    set.once |= (uint64_t)(in_bit[bit] > 0) << bit;
    set.twice |= (uint64_t)(in_bit[bit] > 1) << bit;
  }
  return set;
}

static inline void check_groups(const one_block *k, uint32_t c, const uint32_t *rows, uint32_t n) {
  for (size_t d = 0; d < k->p.n_counts; d++) {
    shoal_group_set set = slow_groups(k, d, rows, n), *own = shoal_clusters_groups(&k->b, c, d);
    assert_true(own->once == set.once && own->twice == set.twice);
    assert_int_equal(own->distinct, set.distinct);
  }
}

/* Lists of rows lead both ways and hold what cluster_of says. */
static inline void check_list(const one_block *k, uint32_t c, uint32_t n) {
  uint32_t before = SHOAL_NONE, listed = 0;
  for (uint32_t r = k->b.head[c]; r != SHOAL_NONE; r = k->b.next[r], listed++) {
    assert_int_equal(k->b.cluster_of[r], c);
    assert_int_equal(k->b.prev[r], before);
    assert_true(listed < n);
    before = r;
  }
  assert_int_equal(listed, n);
}

static inline int64_t slow_cost(const shoal_clusters *b, uint32_t size, uint32_t loss) {
  int64_t s = size;
  return s ? s * loss + b->cost.square * s * s - b->cost.bonus : 0;
}

/* Every figure of every cluster, from scratch. `whole`: each row is in a cluster. */
static inline void check_figures(const one_block *k, bool whole) {
  const shoal_clusters *b = &k->b;
  uint32_t *rows = room_for(k->n, sizeof *rows), n_live = 0, n_rows = 0;
  int64_t total = 0;
  shoal_packed_boxes one;
  shoal_arena arena = {0};
  assert_true(shoal_packed_boxes_init(&one, &k->p, 1, &arena));
  shoal_packed_box box = shoal_packed_boxes_at(&one, &k->p, 0);
  for (uint32_t c = 0; c < b->room; c++) {
    uint32_t n = rows_in(k, c, rows);
    assert_int_equal(b->size[c], n);
    check_list(k, c, n);
    if (!n) continue;
    assert_true(c < b->n);
    box_around(k, box, rows, n);
    shoal_packed_box own = shoal_clusters_box(b, c);
    assert_memory_equal(own.lo, box.lo, 2 * k->p.n_spans * sizeof *box.lo);
    if (k->p.n_words) assert_memory_equal(own.sets, box.sets, k->p.n_words * sizeof *box.sets);
    assert_int_equal(b->loss[c], shoal_packed_box_loss(&k->p, box));
    check_groups(k, c, rows, n);
    total += slow_cost(b, n, b->loss[c]);
    n_live++;
    n_rows += n;
  }
  assert_int_equal(b->n_live, n_live);
  assert_true(b->total == total);
  if (whole) assert_int_equal(n_rows, k->n);
  shoal_arena_reset(&arena);
  free(rows);
}

/* Does each cluster satisfy every requirement, judged from its rows? */
static inline bool all_satisfied(const one_block *k) {
  uint32_t *rows = room_for(k->n, sizeof *rows);
  bool all = true;
  for (uint32_t c = 0; c < k->b.n && all; c++) {
    uint32_t n = rows_in(k, c, rows);
    for (uint32_t i = 0; i < n; i++) rows[i] = k->rows[rows[i]];
    all = !n || shoal_requirement_checker_satisfies(&k->f->checker, rows, n);
  }
  free(rows);
  return all;
}

#endif
