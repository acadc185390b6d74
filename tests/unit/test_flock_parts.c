/* SPDX-License-Identifier: Apache-2.0 */
/*
 * White-box tests of the parts of flock: packed rows, the cost table, moves and rollback,
 * requirements, agglomeration, local moves, repair and the division into blocks, each beside a slow
 * version. Then the whole algorithm: set axes, people, effort, aims, tables at the limits, and
 * allocations that fail in several blocks: in every way with SHOAL_LONG, else in one for each
 * table.
 */
#include "flock_block.h"
#include "lowmem_memory.h"
#include "slice.h"

#define MIXED .n_sensitive = 1, .n_sensitive_values = 6, .k = 3, .p = 2, .models = ""

/* Small tables have lines for every axis; the last four have axes of more than 1024 values. */
static const layout layouts[] = {
    {.s = {.n_rows = 150, .kinds = "nn", .n_values = 60, MIXED}},
    {.s = {.n_rows = 150, .kinds = "mnm", .n_values = 4000000000, MIXED}},
    {.s = {.n_rows = 150, .kinds = "tuw", MIXED}},
    {.s = {.n_rows = 150, .kinds = "nmtuw", .n_values = 100000, .heavy = true, MIXED}},
    {.s = {.n_rows = 150, .kinds = "ntw", .n_values = 9, MIXED}, .as = "-ss"},
    {.s = {.n_rows = 150, .kinds = "nnt", .n_values = 500, MIXED}, .as = "sTs", .fan = 5},
    {.s = {.n_rows = 2600, .kinds = "nnt", .n_values = 4000000000, MIXED}, .as = "T", .fan = 14},
    {.s = {.n_rows = 2600, .kinds = "nn", .n_values = 4000000000, MIXED}, .as = "s"},
    {.s = {.n_rows = 2600, .kinds = "nmn", .n_values = 4000000000, MIXED}, .as = "sTT", .fan = 7},
    {.s = {.n_rows = 2600, .kinds = "mt", .n_values = 4000000000, MIXED}, .as = "Ts", .fan = 30}};
enum { N_SMALL = 6 };

static const shoal_cluster_objective objectives[] = {SHOAL_OBJECTIVE_IL, SHOAL_OBJECTIVE_AVG,
                                                     SHOAL_OBJECTIVE_DM, SHOAL_OBJECTIVE_BALANCED};

static const shoal_cluster_cost costs[] = {{.square = 0},
                                           {.square = 70000, .exact_sizes = true},
                                           {.bonus = 65536 * 500, .exact_sizes = true},
                                           {.exact_sizes = true, .max_missing = 3}};

/* ---------------------------------------------------------------- packed rows */

enum { DRAWN = 12 };

static uint32_t draw_rows(const one_block *k, uint32_t most, uint32_t *rows, shoal_random *random) {
  uint32_t n = 1 + below(random, most), center = below(random, k->n);
  for (uint32_t i = 0; i < n; i++) /* half of them near each other */
    rows[i] = i % 2 ? below(random, k->n) : (center + i) % k->n;
  return n;
}

/* Which factors turn exact losses into packed ones, as far as boxes have told. */
typedef struct scale {
  double least, most;
} scale;

static void narrow(const one_block *k, scale *s, uint32_t packed, const uint32_t *rows,
                   uint32_t n) {
  double exact = exact_loss(k, rows, n);
  double tolerance = (double)k->p.n_axes + (double)n * (double)(k->p.n_axes - k->p.n_spans);
  if (exact == 0) {
    assert_int_equal(packed, 0);
    return;
  }
  if ((packed - tolerance) / exact > s->least) s->least = (packed - tolerance) / exact;
  if ((packed + tolerance) / exact < s->most) s->most = (packed + tolerance) / exact;
  if (s->least > s->most) fail_msg("%u packed, %.3f exact", packed, exact);
}

static void check_boxes(const one_block *k, shoal_packed_boxes *boxes, scale *s,
                        shoal_random *random) {
  shoal_packed_box a = shoal_packed_boxes_at(boxes, &k->p, 0),
                   b = shoal_packed_boxes_at(boxes, &k->p, 1);
  shoal_packed_box both = shoal_packed_boxes_at(boxes, &k->p, 2);
  uint32_t rows[2 * DRAWN], n = draw_rows(k, DRAWN, rows, random);
  uint32_t all = n + draw_rows(k, DRAWN, rows + n, random);
  box_around(k, a, rows, n);
  box_around(k, b, rows + n, all - n);
  box_around(k, both, rows, all);
  narrow(k, s, shoal_packed_box_loss(&k->p, a), rows, n);
  narrow(k, s, shoal_packed_box_loss(&k->p, b), rows + n, all - n);
  narrow(k, s, shoal_packed_box_loss(&k->p, both), rows, all);
  uint32_t with = shoal_packed_box_loss_with(&k->p, a, values_at(k, rows[n]));
  narrow(k, s, with, rows, n + 1);
  uint32_t joint = shoal_packed_box_loss(&k->p, both);
  shoal_packed_box_join(&k->p, b, a);
  assert_int_equal(shoal_packed_box_loss(&k->p, b), joint);
  shoal_packed_box_add(&k->p, a, values_at(k, rows[n]));
  assert_int_equal(shoal_packed_box_loss(&k->p, a), with);
  assert_true(joint >= with);
}

static void check_packing(const one_block *k, bool fine, shoal_random *random) {
  scale s = {0, 1e300};
  shoal_packed_boxes boxes;
  shoal_arena arena = {0};
  assert_true(shoal_packed_boxes_init(&boxes, &k->p, 3, &arena));
  uint32_t *all = room_for(k->n, sizeof *all);
  for (uint32_t i = 0; i < k->n; i++) all[i] = i;
  for (int i = 0; i < 60; i++) check_boxes(k, &boxes, &s, random);
  shoal_packed_box box = shoal_packed_boxes_at(&boxes, &k->p, 0);
  box_around(k, box, all, k->n);
  uint32_t whole = shoal_packed_box_loss(&k->p, box);
  narrow(k, &s, whole, all, k->n);
  assert_true(whole <= UINT16_MAX);
  if (fine && exact_loss(k, all, k->n) > 0) assert_true(whole > 20000); /* 16 bits are used */
  shoal_arena_reset(&arena);
  free(all);
}

static void packed_losses_are_the_exact_ones_scaled(void **state UNUSED) {
  shoal_random random;
  shoal_random_seed(&random, 1);
  for (size_t i = 0; i < COUNT(layouts); i++)
    for (uint64_t seed = 0; seed < 3; seed++) {
      made m;
      make(&m, &layouts[i], seed);
      for (uint32_t percent = 1; percent <= 100; percent += 33) {
        one_block k;
        block_init(&k, &m.f, percent, 1, &random);
        check_packing(&k, !strchr(layouts[i].s.kinds, 'm'), &random);
        block_reset(&k);
      }
      unmake(&m);
    }
}

/* Steps of sets are rounded; rounded up on many axes, their sum must still fit 16 bits. */
static void losses_of_many_large_sets_fit_16_bits(void **state UNUSED) {
  static const layout large = {
      .s = {.n_rows = 4000, .kinds = "nnnnnn", .n_values = 4000000000, .k = 3, .models = ""},
      .as = "ssssss"};
  made m;
  one_block k;
  shoal_random random;
  shoal_random_seed(&random, 2);
  make(&m, &large, 1);
  block_init(&k, &m.f, 100, 1, &random);
  for (uint32_t r = 0; r < k.n; r++) shoal_clusters_put(&k.b, r, 0);
  k.b.n = 1;
  shoal_clusters_refresh(&k.b, 0);
  assert_true(k.b.loss[0] <= UINT16_MAX);
  shoal_clusters_compare(&k.b, shoal_clusters_box(&k.b, 0));
  assert_int_equal(k.b.joint[0], k.b.loss[0]);
  block_reset(&k);
  unmake(&m);
}

/* ---------------------------------------------------------------- the cost table */

static bool same_cost(float fast, double slow) {
  double size = slow < 0 ? -slow : slow, error = (double)fast - slow;
  return (error < 0 ? -error : error) <= 1e-5 * size + 1;
}

/* One more row of these values, for all clusters but one. */
static void check_prices(const one_block *k, const int16_t *values, uint32_t except,
                         uint32_t best) {
  const shoal_clusters *b = &k->b;
  double least = 1e300, of_best = 1e300, largest = 0;
  for (uint32_t c = 0; c < b->n; c++) {
    if (c == except || !b->size[c]) {
      assert_true(b->join_cost[c] > 1e37F);
      continue;
    }
    uint32_t joint = shoal_packed_box_loss_with(&k->p, shoal_clusters_box(b, c), values);
    int64_t more = slow_cost(b, b->size[c] + 1, joint) - slow_cost(b, b->size[c], b->loss[c]);
    double price = (double)more;
    assert_int_equal(b->joint[c], joint);
    assert_true(same_cost(b->join_cost[c], price));
    if (price < least) least = price;
    if (price > largest) largest = price;
    if (c == best) of_best = price;
  }
  if (least == 1e300) assert_int_equal(best, SHOAL_NONE);
  else assert_true(of_best <= least + 1e-5 * largest + 1);
}

/* `rows`: the rows whose values have lines. */
static void check_table(one_block *k, const uint32_t *rows, uint32_t n, shoal_random *random) {
  shoal_clusters *b = &k->b;
  shoal_packed_boxes boxes;
  shoal_arena arena = {0};
  bool fast = b->avx2;
  assert_true(shoal_packed_boxes_init(&boxes, &k->p, 2, &arena));
  shoal_packed_box box = shoal_packed_boxes_at(&boxes, &k->p, 0),
                   both = shoal_packed_boxes_at(&boxes, &k->p, 1);
  for (int i = 0; i < 6; i++) {
    uint32_t some[4], n_some = 1 + below(random, 4), except = below(random, b->n), best[2];
    for (uint32_t j = 0; j < n_some; j++) some[j] = rows[below(random, n)];
    for (int pass = 0; pass <= fast; pass++) {
      b->avx2 = pass;
      box_around(k, box, some, n_some);
      shoal_clusters_compare(b, box);
      for (uint32_t c = 0; c < b->n; c++) {
        if (!b->size[c]) continue;
        shoal_packed_box_copy(&k->p, both, shoal_clusters_box(b, c));
        shoal_packed_box_join(&k->p, both, box);
        assert_int_equal(b->joint[c], shoal_packed_box_loss(&k->p, both));
      }
      best[pass] = shoal_clusters_cheapest(b, values_at(k, some[0]), except);
      check_prices(k, values_at(k, some[0]), except, best[pass]);
      if (pass) assert_int_equal(best[1], best[0]);
    }
  }
  b->avx2 = fast;
  shoal_arena_reset(&arena);
}

/* Puts these rows into m clusters at random; none is empty. */
static void spread_rows(one_block *k, const uint32_t *rows, uint32_t n, uint32_t m,
                        shoal_random *random) {
  for (uint32_t i = 0; i < n; i++) {
    uint32_t c = i < m ? shoal_clusters_open(&k->b) : below(random, m);
    assert_true(c != SHOAL_NONE);
    shoal_clusters_put(&k->b, rows[i], c);
  }
  for (uint32_t c = 0; c < k->b.n; c++) shoal_clusters_refresh(&k->b, c);
}

/* A pool as repair has it: some rows alone, lines for their values alone. */
static void check_pool(one_block *k, shoal_random *random) {
  uint32_t *rows = room_for(k->n, sizeof *rows), n = 0;
  for (uint32_t r = 0; r < k->n; r++)
    if (below(random, 8) == 0 || r + 1 == k->n) rows[n++] = r;
  shoal_clusters_clear(&k->b);
  memset(k->b.cluster_of, 0xff, k->n * sizeof *k->b.cluster_of);
  shoal_clusters_activate(&k->b, rows, n);
  spread_rows(k, rows, n, 1 + n / 4, random);
  check_figures(k, false);
  check_table(k, rows, n, random);
  for (int i = 0; i < 5; i++) { /* boxes shrink and grow */
    size_t since = k->b.n_moved;
    uint32_t row = rows[below(random, n)], to = below(random, k->b.n);
    if (k->b.cluster_of[row] == to) continue;
    shoal_clusters_move(&k->b, row, to);
    shoal_clusters_recompute(&k->b, since);
  }
  check_table(k, rows, n, random);
  free(rows);
}

/* ---------------------------------------------------------------- moves and rollback */

enum { MAX_MOVES = 40 };

/* Membership after each number of recorded moves. */
typedef struct history {
  uint32_t *member;
} history;

static void record(history *h, const one_block *k) {
  memcpy(h->member + k->b.n_moved * k->n, k->b.cluster_of, k->n * sizeof *h->member);
}

static uint32_t draw_live(const one_block *k, shoal_random *random) {
  uint32_t c;
  do c = below(random, k->b.n);
  while (!k->b.size[c]);
  return c;
}

static void move_some(one_block *k, history *h, shoal_random *random) {
  shoal_clusters *b = &k->b;
  size_t since = b->n_moved;
  uint32_t *rows = room_for(k->n, sizeof *rows);
  for (uint32_t i = 0, n = 1 + below(random, 4); i < n && b->n_moved < MAX_MOVES; i++) {
    uint32_t row = below(random, k->n), from = b->cluster_of[row];
    uint32_t to = below(random, 6) ? draw_live(k, random) : shoal_clusters_open(b);
    if (to == SHOAL_NONE || to == from) continue;
    bool first = b->n_moved == since;
    shoal_clusters_move(b, row, to);
    assert_int_equal(b->cluster_of[row], to);
    if (first) check_groups(k, to, rows, rows_in(k, to, rows));
    record(h, k);
  }
  shoal_clusters_recompute(b, since);
  free(rows);
}

static void act(one_block *k, history *h, shoal_random *random) {
  shoal_clusters *b = &k->b;
  if (b->n_moved == MAX_MOVES) b->n_moved = 0;
  switch (below(random, 5)) {
  case 0: {
    size_t kept = below(random, b->n_moved + 1);
    shoal_clusters_rollback(b, kept);
    assert_int_equal(b->n_moved, kept);
    assert_memory_equal(b->cluster_of, h->member + kept * k->n, k->n * sizeof *h->member);
    break;
  }
  case 1: {
    uint32_t from = draw_live(k, random), into = draw_live(k, random);
    b->n_moved = 0;
    if (from != into && b->n_live > 3) shoal_clusters_merge(b, from, into);
    record(h, k);
    break;
  }
  default:
    if (!b->n_moved) record(h, k);
    move_some(k, h, random);
  }
}

static void check_requirements(one_block *k, shoal_random *random);

/* A random sequence of operations; `table`: checks the cost table, else the requirements. */
static void operate(const layout *l, uint64_t seed, uint32_t steps, bool table) {
  made m;
  one_block k;
  shoal_random random;
  shoal_random_seed(&random, seed);
  make(&m, l, seed);
  block_init(&k, &m.f, 60, 0, &random);
  history h = {room_for((MAX_MOVES + 1) * (size_t)k.n, sizeof *h.member)};
  uint32_t *all = room_for(k.n, sizeof *all);
  for (uint32_t i = 0; i < k.n; i++) all[i] = i;
  for (size_t round = 0; round < COUNT(costs); round++) {
    shoal_clusters_clear(&k.b);
    k.b.cost = costs[round];
    spread_rows(&k, all, k.n, 1 + (k.n - 1) / (round ? 4 : 9), &random);
    record(&h, &k);
    for (uint32_t i = 0; i < steps; i++) {
      act(&k, &h, &random);
      if (k.n < 1000 || i % 8 == 0) check_figures(&k, true);
      if (table && i % 4 == 0) check_table(&k, all, k.n, &random);
      if (!table) check_requirements(&k, &random);
    }
  }
  if (table)
    for (int i = 0; i < 4; i++) check_pool(&k, &random);
  free(h.member);
  free(all);
  block_reset(&k);
  unmake(&m);
}

static void the_cost_table_follows_every_change(void **state UNUSED) {
  for (size_t i = 0; i < COUNT(layouts); i++)
    for (uint64_t seed = 0; seed < (i < N_SMALL ? SLICE(5, 2) : 1); seed++)
      operate(&layouts[i], seed, i < N_SMALL ? 40 : 12, true);
}

/* ---------------------------------------------------------------- requirements */

static void check_cluster(one_block *k, uint32_t c, const uint32_t *rows, uint32_t n,
                          uint32_t *real) {
  shoal_clusters *b = &k->b;
  const shoal_cluster_requirements *required = &k->f->required;
  size_t lacking = 0;
  for (uint32_t i = 0; i < n; i++) real[i] = k->rows[rows[i]];
  while (lacking < required->n_counts &&
         slow_groups(k, lacking, rows, n).distinct >= required->counts[lacking].min_distinct)
    lacking++;
  assert_int_equal(shoal_clusters_lacking(b, c), lacking);
  assert_int_equal(shoal_clusters_has_counts(b, c),
                   n >= required->k && lacking == required->n_counts);
  assert_int_equal(shoal_clusters_satisfies(b, c),
                   shoal_requirement_checker_satisfies(&k->f->checker, real, n));
}

static bool slow_may_leave(const one_block *k, uint32_t row, const uint32_t *rows, uint32_t n,
                           uint32_t *others) {
  uint32_t n_others = 0;
  if (n - 1 < k->f->required.k) return false;
  for (uint32_t i = 0; i < n; i++)
    if (rows[i] != row) others[n_others++] = rows[i];
  for (size_t d = 0; d < k->p.n_counts; d++) {
    uint32_t before = slow_groups(k, d, rows, n).distinct;
    uint32_t after = slow_groups(k, d, others, n_others).distinct;
    if (after < before && after < k->f->required.counts[d].min_distinct) return false;
  }
  return true;
}

/* Slow versions of all questions, for some clusters and rows. */
static void check_requirements(one_block *k, shoal_random *random) {
  uint32_t *rows = room_for(k->n, sizeof *rows), *scratch = room_for(k->n, sizeof *scratch);
  for (int i = 0; i < 4; i++) {
    uint32_t c = draw_live(k, random), n = rows_in(k, c, rows), other = below(random, k->n);
    check_cluster(k, c, rows, n, scratch);
    uint32_t row = rows[below(random, n)];
    assert_int_equal(shoal_clusters_may_leave(&k->b, row),
                     slow_may_leave(k, row, rows, n, scratch));
    for (size_t d = 0; d < k->p.n_counts; d++) {
      uint32_t group = k->p.group[d][other], same = of_group(k, d, group, rows, n);
      if (group == SHOAL_NONE) continue;
      assert_int_equal(shoal_clusters_has_group(&k->b, c, d, other, 1), same >= 1);
      assert_int_equal(shoal_clusters_has_group(&k->b, c, d, other, 2), same >= 2);
    }
  }
  free(rows);
  free(scratch);
}

#define SOME_ROWS .n_rows = 260, .kinds = "nt", .n_values = 12, .n_sensitive_values = 5, .k = 4

static const layout demanding[] = {
    {.s = {SOME_ROWS, .n_sensitive = 1, .p = 2, .gaps = true, .models = ""}},
    {.s = {SOME_ROWS, .n_sensitive = 3, .p = 3, .models = ""}},
    {.s = {SOME_ROWS, .n_sensitive = 0, .models = ""}, .n_people = 64, .min_people = 4},
    {.s = {SOME_ROWS, .n_sensitive = 1, .p = 2, .models = ""}, .n_people = 230, .min_people = 5},
    {.s = {SOME_ROWS, .n_sensitive = 2, .skewed = true, .p = 2,
           .models = "[alpha-k: {alpha: 0.7}]"},
     .n_people = 150,
     .min_people = 4}};

static void figures_and_requirements_follow_every_move(void **state UNUSED) {
  for (size_t i = 0; i < COUNT(demanding); i++)
    for (uint64_t seed = 0; seed < 4; seed++) operate(&demanding[i], seed, 60, false);
}

/* ---------------------------------------------------------------- agglomeration */

static void check_agglomerate(fixture *f, shoal_cluster_cost cost, float noise,
                              shoal_random *random) {
  one_block k;
  shoal_agglomeration g;
  block_init(&k, f, 80, 0, random);
  k.b.cost = cost;
  k.b.random = below(random, 1000);
  for (uint32_t r = 0; r < k.n; r++) { /* units: tuples, or single rows */
    bool joins = !cost.exact_sizes && r && k.p.tuple[r] == k.p.tuple[r - 1];
    shoal_clusters_put(&k.b, r, joins ? k.b.cluster_of[r - 1] : shoal_clusters_open(&k.b));
  }
  for (uint32_t c = 0; c < k.b.n; c++) shoal_clusters_refresh(&k.b, c);
  assert_true(shoal_agglomeration_init(&g, &k.b));
  bool ok = shoal_agglomerate(&g, noise);
  check_figures(&k, true);
  assert_int_equal(ok, all_satisfied(&k));
  if (!ok) assert_int_equal(k.b.n_live, 1);
  if (ok && cost.exact_sizes && !f->required.n_counts && !f->required.n_others)
    assert_int_equal(k.b.n_live, k.n / f->required.k);
  shoal_agglomeration_reset(&g);
  block_reset(&k);
}

static void agglomeration_satisfies_all_or_unites_all(void **state UNUSED) {
  static const layout sizes[] = {
      {.s = {.n_rows = 203, .kinds = "nt", .n_values = 200, .k = 7, .models = ""}},
      {.s = {.n_rows = 200, .kinds = "tm", .n_values = 9, .k = 6, .models = ""}, .as = "s"},
      {.s = {.n_rows = 90, .kinds = "n", .n_values = 9, .k = 40, .models = ""}},
      {.s = {.n_rows = 30, .kinds = "n", .n_values = 9, .k = 40, .models = ""}}};
  shoal_random random;
  shoal_random_seed(&random, 5);
  for (size_t i = 0; i < COUNT(sizes) + COUNT(demanding); i++)
    for (uint64_t seed = 0; seed < 4; seed++) {
      made m;
      make(&m, i < COUNT(sizes) ? &sizes[i] : &demanding[i - COUNT(sizes)], seed);
      for (size_t c = 0; c < COUNT(costs); c++)
        for (float noise = 0; noise <= 1; noise += 0.5F)
          check_agglomerate(&m.f, costs[c], noise, &random);
      unmake(&m);
    }
}

/* A block of all rows can have as many clusters as the table, by the code that other algorithms
 * use. */
static void the_most_clusters_are_known(void **state UNUSED) {
  shoal_random random;
  shoal_random_seed(&random, 8);
  for (uint64_t seed = 0; seed < 60; seed++) {
    layout l = {.s = draw_shape(&random, 200)};
    if (seed % 3 == 0) l.n_people = 2 + below(&random, 90);
    l.min_people = 2 + below(&random, 5);
    made m;
    one_block k;
    make(&m, &l, seed);
    block_init(&k, &m.f, 100, 0, &random);
    assert_int_equal(k.n, m.f.n_rows);
    uint32_t most = (uint32_t)shoal_cluster_requirements_max_clusters(&m.f.required);
    assert_int_equal(shoal_max_clusters(&k.b), most);
    k.b.cost.max_missing = 3;
    assert_int_equal(shoal_enough_clusters(&k.b), most - most * 3 / 100);
    block_reset(&k);
    unmake(&m);
  }
}

/* ---------------------------------------------------------------- local moves and repair */

static void check_step(const one_block *k, int64_t before, uint32_t n_before) {
  assert_true(k->b.total <= before);
  assert_true(k->b.n_live >= k->b.min_live);
  if (k->b.cost.bonus) assert_true(k->b.n_live >= n_before);
  check_figures(k, true);
  assert_true(all_satisfied(k));
}

static int64_t check_search(fixture *f, shoal_cluster_cost cost, bool keeps, shoal_random *random) {
  one_block k;
  shoal_repair r;
  bool satisfied;
  block_init(&k, f, 90, 0, random);
  k.b.cost = cost;
  assert_true(shoal_flock_start(&k.b, &f->axes, 1, &satisfied));
  check_figures(&k, true);
  assert_int_equal(satisfied, all_satisfied(&k));
  int64_t first = k.b.total;
  if (keeps) k.b.min_live = k.b.n_live;
  for (uint32_t c = 0; satisfied && c < k.b.n; c++) {
    int64_t before = k.b.total;
    uint32_t n_before = k.b.n_live;
    bool helped = shoal_clusters_improve(&k.b, c);
    assert_int_equal(helped, k.b.total < before);
    check_step(&k, before, n_before);
  }
  assert_true(shoal_repair_init(&r, &k.b));
  for (int i = 0; satisfied && i < 60; i++) {
    int64_t before = k.b.total;
    uint32_t n_before = k.b.n_live;
    k.b.n_moved = 0;
    shoal_repair_step(&r);
    check_step(&k, before, n_before);
  }
  shoal_repair_reset(&r);
  int64_t gain = first - k.b.total;
  block_reset(&k);
  return gain;
}

static void search_never_raises_the_cost(void **state UNUSED) {
  shoal_random random;
  shoal_random_seed(&random, 6);
  int64_t gains[COUNT(costs)] = {0};
  for (size_t i = 0; i < N_SMALL + COUNT(demanding); i++)
    for (uint64_t seed = 0; seed < SLICE(3, 1); seed++) {
      made m;
      make(&m, i < N_SMALL ? &layouts[i] : &demanding[i - N_SMALL], seed);
      for (size_t c = 0; c < COUNT(costs); c++)
        gains[c] += check_search(&m.f, costs[c], c == 3, &random);
      unmake(&m);
    }
  for (size_t c = 0; c < COUNT(costs); c++) assert_true(gains[c] > 0);
}

/* ---------------------------------------------------------------- division into blocks */

typedef struct division {
  shoal_item *items;
  uint32_t n, *first, n_blocks;
  uint32_t *block_of; /* by item id */
} division;

static void divide(const made *m, division *d, uint64_t max_weight, uint64_t seed,
                   const uint32_t *before, bool weighted) {
  const shoal_cut_limits limits = {
      .max_weight = max_weight, .n_samples = 384, .n_others = 384, .seed = seed};
  uint64_t all = 0, placed = 0;
  d->n = m->f.axes.n_tuples;
  d->items = room_for(d->n, sizeof *d->items);
  d->first = room_for((size_t)d->n + 1, sizeof *d->first);
  d->block_of = room_for(d->n, sizeof *d->block_of);
  memset(d->block_of, 0xff, d->n * sizeof *d->block_of);
  for (uint32_t i = 0; i < d->n; i++) {
    uint32_t weight = weighted ? 1 + i % 7 * (i % 7) : 1;
    d->items[i] = (shoal_item){i, i, weight, weight, before ? before[i] : 0};
    all += d->items[i].weight;
  }
  d->n_blocks = shoal_flock_cut(&m->f.axes, d->items, d->n, &limits, d->first);
  assert_in_range(d->n_blocks, 1, d->n);
  assert_int_equal(d->first[0], 0);
  assert_int_equal(d->first[d->n_blocks], d->n);
  for (uint32_t b = 0; b < d->n_blocks; b++) {
    uint64_t weight = 0;
    assert_true(d->first[b] < d->first[b + 1]);
    for (uint32_t i = d->first[b]; i < d->first[b + 1]; i++) {
      uint32_t id = d->items[i].id;
      assert_true(id < d->n && d->block_of[id] == UINT32_MAX && d->items[i].tuple == id);
      d->block_of[id] = b;
      weight += d->items[i].weight;
    }
    assert_true(weight <= max_weight || d->first[b + 1] - d->first[b] == 1);
    placed += weight;
  }
  assert_true(placed == all);
  if (max_weight >= all) assert_int_equal(d->n_blocks, 1);
}

static void division_reset(division *d) {
  free(d->items);
  free(d->first);
  free(d->block_of);
}

static void divisions_hold_each_item_once(void **state UNUSED) {
  static const uint64_t weights[] = {1, 2, 30, 500, UINT64_MAX};
  for (size_t i = 0; i < COUNT(layouts); i++)
    for (size_t w = i < N_SMALL ? 0 : 3; w < COUNT(weights); w++) {
      made m;
      division once, again;
      make(&m, &layouts[i], w);
      divide(&m, &once, weights[w], 3, NULL, true);
      divide(&m, &again, weights[w], 3, NULL, true);
      assert_int_equal(once.n_blocks, again.n_blocks);
      assert_memory_equal(once.items, again.items, once.n * sizeof *once.items);
      division_reset(&again);
      divide(&m, &again, weights[w], 4, once.block_of, false);
      division_reset(&again);
      division_reset(&once);
      unmake(&m);
    }
}

static uint32_t nearest(const shoal_axes *axes, uint32_t tuple) {
  uint32_t best = SHOAL_NONE, least = UINT32_MAX;
  shoal_span *box = room_for(axes->n_spans, sizeof *box);
  shoal_box_start(axes, box, shoal_axes_tuple(axes, tuple));
  for (uint32_t t = 0; t < axes->n_tuples; t++) {
    uint32_t loss = shoal_box_loss_with(axes, box, shoal_axes_tuple(axes, t));
    if (t == tuple || loss >= least) continue;
    best = t;
    least = loss;
  }
  free(box);
  return best;
}

/*
 * Nearest neighbours that the first division separated, and how many the second separates again.
 * All items are in the sample, so the seed changes nothing: only the first division does.
 */
static void second_divisions_cross_the_borders(void **state UNUSED) {
  static const layout some[] = {
      {.s = {.n_rows = 300, .kinds = "nn", .n_values = 1000, .k = 3, .models = ""}},
      {.s = {.n_rows = 300, .kinds = "nnn", .n_values = 1000, .k = 3, .models = ""}},
      {.s = {.n_rows = 300, .kinds = "nnnt", .n_values = 90, .k = 3, .models = ""}, .as = "---s"}};
  for (size_t i = 0; i < COUNT(some); i++) {
    uint32_t n_apart = 0, with = 0, without = 0;
    for (uint64_t seed = 0; seed < SLICE(25, 12); seed++) {
      made m;
      division first, second, other;
      make(&m, &some[i], seed);
      divide(&m, &first, 60, 1, NULL, false);
      divide(&m, &second, 60, 2, first.block_of, false);
      divide(&m, &other, 60, 2, NULL, false);
      for (uint32_t t = 0; t < first.n; t++) {
        uint32_t near = nearest(&m.f.axes, t);
        if (first.block_of[t] == first.block_of[near]) continue;
        n_apart++;
        with += second.block_of[t] != second.block_of[near];
        without += other.block_of[t] != other.block_of[near];
      }
      division_reset(&first);
      division_reset(&second);
      division_reset(&other);
      unmake(&m);
    }
    print_message("axes %s: separated again: %u of %u; without knowing: %u\n", some[i].s.kinds,
                  with, n_apart, without);
    assert_true(n_apart > 50);
    assert_int_equal(without, n_apart);
    assert_true(with * 2 < n_apart);
  }
}

/* ---------------------------------------------------------------- the whole algorithm */

static shoal_partition cluster(fixture *f, shoal_cluster_objective objective, uint32_t effort,
                               unsigned n_threads) {
  const shoal_run run = {.n_threads = n_threads};
  const shoal_cluster_task task = {.axes = &f->axes,
                                   .required = &f->required,
                                   .objective = objective,
                                   .effort = effort,
                                   .run = &run};
  shoal_partition partition = {0};
  succeeds(f, shoal_cluster_flock(&task, &partition, &f->error));
  return partition;
}

/* A partition whose clusters all satisfy the requirements, and its loss. */
static double check_partition(fixture *f, const shoal_partition *p) {
  one_block all = {.f = f, .rows = room_for(f->n_rows, sizeof(uint32_t)), .n = (uint32_t)f->n_rows};
  uint32_t *first = room_for((size_t)p->n_clusters + 2, sizeof *first);
  uint32_t *rows = room_for(f->n_rows, sizeof *rows);
  double loss = 0;
  assert_true(p->n_clusters > 0);
  for (uint32_t r = 0; r < all.n; r++) {
    all.rows[r] = r;
    assert_true(p->cluster_of_row[r] < p->n_clusters);
    first[p->cluster_of_row[r] + 2]++;
  }
  for (uint32_t c = 0; c < p->n_clusters; c++) first[c + 2] += first[c + 1];
  for (uint32_t r = 0; r < all.n; r++) rows[first[p->cluster_of_row[r] + 1]++] = r;
  for (uint32_t c = 0; c < p->n_clusters; c++) {
    uint32_t n = first[c + 1] - first[c];
    assert_true(n > 0);
    assert_true(shoal_requirement_checker_satisfies(&f->checker, rows + first[c], n));
    loss += n * exact_loss(&all, rows + first[c], n);
  }
  free(first);
  free(rows);
  free(all.rows);
  return loss;
}

static void sets_and_people_are_clustered(void **state UNUSED) {
  static const layout some[] = {
      {.s = {.n_rows = 200, .kinds = "ntw", .n_values = 50, MIXED}, .as = "-ss"},
      {.s = {.n_rows = 200, .kinds = "nn", .n_values = 80, MIXED}, .as = "ss"},
      {.s = {.n_rows = 1300, .kinds = "nn", .n_values = 4000000000, .k = 300, .models = ""},
       .as = "s"},
      {.s = {.n_rows = 250, .kinds = "nt", .n_values = 50, .k = 5, .models = ""},
       .n_people = 120,
       .min_people = 5},
      {.s = {.n_rows = 300, .kinds = "nt", .n_values = 500, .k = 8, .models = ""},
       .as = "-s",
       .n_people = 800,
       .min_people = 8},
      {.s = {.n_rows = 400, .kinds = "nt", .n_values = 50, .k = 2, .models = ""}, /* above 64 people
                                                                                   */
       .n_people = 200,
       .min_people = 70}};
  for (size_t i = 0; i < COUNT(some); i++)
    for (size_t a = 0; a < COUNT(objectives); a += SLICE(2, 3)) {
      if (a && some[i].s.n_rows > 1000) break;
      made m;
      make(&m, &some[i], i);
      shoal_partition p = cluster(&m.f, objectives[a], 1, 2), whole = {0};
      succeeds(&m.f, shoal_partition_whole(&whole, m.f.n_rows, &m.f.error));
      assert_true(check_partition(&m.f, &p) < check_partition(&m.f, &whole));
      assert_true(p.n_clusters > 2);
      assert_true(p.n_clusters <= shoal_cluster_requirements_max_clusters(&m.f.required));
      shoal_partition_reset(&p);
      shoal_partition_reset(&whole);
      unmake(&m);
    }
}

static void effort_lowers_the_loss(void **state UNUSED) {
  static const layout table = {.s = {.n_rows = 300,
                                     .kinds = "nnt",
                                     .n_values = 60,
                                     .n_sensitive = 1,
                                     .n_sensitive_values = 5,
                                     .k = 10,
                                     .p = 2,
                                     .models = ""}};
  double sums[3] = {0};
  const int n_efforts = SLICE(3, 2);
  for (uint64_t seed = 0; seed < SLICE(4, 1); seed++) {
    made m;
    double loss[3];
    make(&m, &table, seed);
    for (int e = 0; e < n_efforts; e++) {
      shoal_partition p = cluster(&m.f, SHOAL_OBJECTIVE_IL, UINT32_C(1) << (2 * e), 1);
      sums[e] += loss[e] = check_partition(&m.f, &p);
      if (e) assert_true(loss[e] <= 1.005 * loss[e - 1]);
      shoal_partition_reset(&p);
    }
    unmake(&m);
  }
  print_message("loss with effort 4: %.4f, 16: %.4f of that with 1\n", sums[1] / sums[0],
                sums[2] / sums[0]);
  for (int e = 1; e < n_efforts; e++) assert_true(sums[e] < sums[e - 1]);
}

typedef struct outcome {
  double loss, squares;
  uint32_t n_clusters;
} outcome;

static outcome outcome_of(fixture *f, shoal_cluster_objective objective) {
  shoal_partition p = cluster(f, objective, 1, 1);
  outcome o = {.loss = check_partition(f, &p), .n_clusters = p.n_clusters};
  uint32_t *size = room_for(p.n_clusters, sizeof *size);
  for (size_t r = 0; r < f->n_rows; r++) size[p.cluster_of_row[r]]++;
  for (uint32_t c = 0; c < p.n_clusters; c++) o.squares += (double)size[c] * size[c];
  free(size);
  shoal_partition_reset(&p);
  return o;
}

/* By its own measure an aim is as good as the others' results, but for a few percent. */
static void no_aim_is_beaten_by_another(void **state UNUSED) {
  static const layout some[] = {
      {.s = {.n_rows = 400, .kinds = "nn", .n_values = 4000000000, .k = 5, .models = ""}},
      {.s = {.n_rows = 3000, .kinds = "nnt", .n_values = 60, MIXED}},
      {.s = {.n_rows = 1500,
             .kinds = "nnt",
             .n_values = 60,
             .n_sensitive = 1,
             .n_sensitive_values = 6,
             .k = 5,
             .p = 4,
             .models = ""}},
      {.s = {.n_rows = 1500, .kinds = "nt", .n_values = 60, .heavy = true, .k = 7, .models = ""}},
      {.s = {.n_rows = 1500, .kinds = "nnt", .n_values = 60, .k = 5, .models = ""},
       .as = "--s",
       .n_people = 700,
       .min_people = 5}};
  for (size_t i = 0; i < SLICE(COUNT(some), 1); i++) {
    made m;
    outcome o[COUNT(objectives)];
    make(&m, &some[i], 1);
    for (size_t a = 0; a < COUNT(objectives); a++) o[a] = outcome_of(&m.f, objectives[a]);
    const outcome *il = &o[0], *avg = &o[1], *dm = &o[2], *balanced = &o[3];
    for (const outcome *other = o; other < o + COUNT(objectives); other++) {
      print_message("table %zu: loss %.4g, %u clusters, squares %.0f\n", i, other->loss,
                    other->n_clusters, other->squares);
      assert_true(il->loss <= 1.03 * other->loss);
      assert_true(avg->n_clusters >= other->n_clusters);
      assert_true(dm->squares <= 1.01 * other->squares);
      bool many = other->n_clusters >= balanced->n_clusters; /* enough clusters for `balanced` */
      if (many) assert_true(balanced->loss <= 1.05 * other->loss);
    }
    unmake(&m);
  }
}

/* `dm` and `avg` make the same sizes of these tables; then the loss counts for both. */
static void dm_loses_little_more_than_avg(void **state UNUSED) {
  double dm = 0, avg = 0;
  for (uint64_t seed = 0; seed < SLICE(4, 1); seed++) {
    static const layout table = {
        .s = {.n_rows = 500, .kinds = "nn", .n_values = 4000000000, .k = 5, .models = ""}};
    made m;
    make(&m, &table, seed);
    outcome a = outcome_of(&m.f, SHOAL_OBJECTIVE_AVG), d = outcome_of(&m.f, SHOAL_OBJECTIVE_DM);
    assert_true(a.squares == 2500 && d.squares == 2500);
    avg += a.loss;
    dm += d.loss;
    unmake(&m);
  }
  print_message("dm loses %.3f times as much as avg\n", dm / avg);
  assert_true(dm <= 1.08 * avg);
}

/* least and most: clusters of the result. */
static void tables_at_the_limits_are_clustered(void **state UNUSED) {
  static const struct {
    layout l;
    uint32_t least, most;
  } some[] = {
      {{.s = {.n_rows = 1, .kinds = "t", .k = 1, .models = ""}, .as = "s"}, 1, 1},
      {{.s = {.n_rows = 1201, .kinds = "n", .n_values = 1, .k = 3, .models = ""}}, 1, 400},
      {{.s = {.n_rows = 1200, .kinds = "m", .n_values = 1, .k = 3, .models = ""}}, 2, 400},
      {{.s = {.n_rows = 300, .kinds = "nn", .n_values = 4000000000, .k = 3, .models = ""}},
       50,
       100},
      {{.s = {.n_rows = 9000, .kinds = "nt", .n_values = 99, .k = 4000, .models = ""}}, 1, 2},
      {{.s = {.n_rows = 9000, .kinds = "nt", .n_values = 99, .k = 9000, .models = ""}}, 1, 1},
      {{.s = {.n_rows = 240,
              .kinds = "nt",
              .n_values = 99,
              .n_sensitive = 2,
              .n_sensitive_values = 8,
              .k = 3,
              .p = 8,
              .models = ""}},
       1,
       30}, /* p at its maximum */
      {{.s = {.n_rows = 40000, .kinds = "n", .n_values = 4000000000, .k = 700, .models = ""},
        .as = "T",
        .fan = 35},
       20,
       57},
      {{.s = {.n_rows = 4300, .kinds = "n", .n_values = 1500, .k = 1000, .models = ""}, .as = "s"},
       1,
       4}};
  for (size_t i = 0; i < COUNT(some); i++) {
    made m;
    if (some[i].l.s.n_rows > SLICE(SIZE_MAX, 10000)) continue;
    make(&m, &some[i].l, i);
    for (size_t a = 0; a < (m.f.n_rows > 4000 ? 1 : SLICE(COUNT(objectives), 2)); a++) {
      shoal_partition p = cluster(&m.f, objectives[a], 1, 2);
      (void)check_partition(&m.f, &p);
      assert_in_range(p.n_clusters, some[i].least, some[i].most);
      uint64_t most = shoal_cluster_requirements_max_clusters(&m.f.required),
               n_blocks = 1 + m.f.n_rows / 2000;
      if (objectives[a] == SHOAL_OBJECTIVE_AVG && !m.f.required.n_counts)
        assert_in_range(p.n_clusters + n_blocks, most, most + n_blocks);
      shoal_partition_reset(&p);
    }
    unmake(&m);
  }
}

/* Squares of sizes, times the limits of estimates, stay below 2^63: with k of n / 2 they are near.
 */
static void squares_of_large_clusters_do_not_overflow(void **state UNUSED) {
  static const uint64_t ks[] = {20000, 16000, 13000};
  for (size_t i = 0; i < SLICE(COUNT(ks), 1); i++) {
    const layout table = {.s = {.n_rows = 40000, .kinds = "t", .k = ks[i], .models = ""}};
    made m;
    make(&m, &table, i);
    shoal_partition p = cluster(&m.f, SHOAL_OBJECTIVE_DM, 1, 1);
    (void)check_partition(&m.f, &p);
    assert_int_equal(p.n_clusters, m.f.n_rows / ks[i]);
    shoal_partition_reset(&p);
    unmake(&m);
  }
}

/* ---------------------------------------------------------------- memory */

static bool check_failure(fixture *f, shoal_cluster_objective objective, unsigned n_threads,
                          const shoal_partition *whole, long n) {
  const shoal_run run = {.n_threads = n_threads};
  const shoal_cluster_task task = {
      .axes = &f->axes, .required = &f->required, .objective = objective, .run = &run};
  shoal_partition p = {0};
  allocations_left = n;
  shoal_status status = shoal_cluster_flock(&task, &p, &f->error);
  bool failed = allocations_left < 1;
  allocations_left = -1;
  if (status == SHOAL_OK) {
    assert_int_equal(p.n_clusters, whole->n_clusters);
    assert_memory_equal(p.cluster_of_row, whole->cluster_of_row, f->n_rows * sizeof(uint32_t));
    shoal_partition_reset(&p);
  } else {
    assert_int_equal(status, SHOAL_FAILED);
    assert_null(p.cluster_of_row);
  }
  return failed;
}

static void memory_may_run_out_in_every_part(void **state UNUSED) {
  static const struct {
    layout l;
    shoal_cluster_objective objective;
  } some[] = {
      /* several blocks, two turns, sets */
      {{.s = {.n_rows = 8300, .kinds = "nt", .n_values = 4000000000, .k = 400, .models = ""},
        .as = "-s"},
       SHOAL_OBJECTIVE_IL},
      {{.s = {.n_rows = 4100, .kinds = "t", .k = 60, .models = ""}}, SHOAL_OBJECTIVE_DM},
      /* blocks that do not satisfy the requirements by themselves: a third turn */
      {{.s = {.n_rows = 9000,
              .kinds = "n",
              .n_values = 2,
              .n_sensitive = 1,
              .n_sensitive_values = 2,
              .tied = true,
              .k = 400,
              .p = 2,
              .models = ""}},
       SHOAL_OBJECTIVE_IL},
      /* scarce values: enhanced-pk */
      {{.s = {.n_rows = 300,
              .kinds = "nt",
              .n_values = 90,
              .n_sensitive = 1,
              .n_sensitive_values = 6,
              .skewed = true,
              .k = 4,
              .p = 5,
              .models = ""}},
       SHOAL_OBJECTIVE_BALANCED},
      /* more than 4000 tuples in one block: parts */
      {{.s = {.n_rows = 4300, .kinds = "nn", .n_values = 4000000000, .k = 400, .models = ""}},
       SHOAL_OBJECTIVE_AVG}};
  bool all = getenv("SHOAL_LONG"); /* else one way to fail for each table */
  for (size_t i = 0; i < 3 * COUNT(some); i++) {
    if (!all && i % 3 != i / 3 % 3) continue;
    made m;
    long n = 0;
    unsigned n_threads = i % 3 == 2 ? 3 : 1;
    make(&m, &some[i / 3].l, 7);
    shoal_cluster_objective objective = some[i / 3].objective;
    shoal_partition whole = cluster(&m.f, objective, 1, n_threads);
    (void)check_partition(&m.f, &whole);
    fails_once = i % 3 == 1;
    while (check_failure(&m.f, objective, n_threads, &whole, n))
      n += 2 + (all ? n / 2 : SLICE(1, 3) * n);
    assert_true(n > 30);
    shoal_partition_reset(&whole);
    unmake(&m);
  }
}

/* An argument selects tests by name; it may contain * and ?. */
int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(packed_losses_are_the_exact_ones_scaled),
      cmocka_unit_test(losses_of_many_large_sets_fit_16_bits),
      cmocka_unit_test(the_cost_table_follows_every_change),
      cmocka_unit_test(figures_and_requirements_follow_every_move),
      cmocka_unit_test(agglomeration_satisfies_all_or_unites_all),
      cmocka_unit_test(the_most_clusters_are_known),
      cmocka_unit_test(search_never_raises_the_cost),
      cmocka_unit_test(divisions_hold_each_item_once),
      cmocka_unit_test(second_divisions_cross_the_borders),
      cmocka_unit_test(sets_and_people_are_clustered),
      cmocka_unit_test(effort_lowers_the_loss),
      cmocka_unit_test(no_aim_is_beaten_by_another),
      cmocka_unit_test(dm_loses_little_more_than_avg),
      cmocka_unit_test(tables_at_the_limits_are_clustered),
      cmocka_unit_test(squares_of_large_clusters_do_not_overflow),
      cmocka_unit_test(memory_may_run_out_in_every_part),
  };
  if (argc > 1) cmocka_set_test_filter(argv[1]);
  return cmocka_run_group_tests_name("flock_parts", tests, NULL, NULL);
}
