/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unit tests of how flock clusters small tables (src/cluster/flock_ground, _swarm, _units, _small):
 * losses are those of the axes, homes those of trying every column, moves can be taken back, both
 * ways of computing agree, threads change nothing, and no allocation that fails is forgotten.
 */
#include "flock_scene.h"
#include "flock_ways.h"

#include "cluster/flock_units.h"

/* ---------------------------------------------------------------- homes */

/* The home of a row is the cheapest of all columns but its own, the sum is exact. */
static void check_home(scene *s, uint32_t row) {
  shoal_swarm *w = &s->swarm;
  uint64_t least = UINT64_MAX;
  uint32_t from = w->column[row];
  shoal_home home = shoal_swarm_home(w, row, from);
  for (uint32_t c = 0; c < w->n_columns; c++) {
    if (c == from || !w->size[c]) continue;
    uint64_t joined = loss_with(s, c, row), cost = joined + w->size[c] * (joined - w->loss[c]);
    assert_int_equal(w->cost[shoal_swarm_slot(c)], cost);
    if (cost < least) least = cost;
    if (c == home.column) assert_int_equal(home.later, joined);
  }
  assert_int_equal(home.first, least);
  assert_int_not_equal(home.column, from);
}

static void homes_are_the_cheapest_of_all(void **state UNUSED) {
  for (uint64_t seed = 0; seed < 6; seed++) {
    scene s;
    open_scene(&s, &plain, seed % 2 ? 130 : 37, seed);
    assert_true(s.f.axes.exact);
    check_figures(&s);
    for (uint32_t r = (uint32_t)seed; r < s.ground.n; r += 7) {
      check_home(&s, r);
      bool avx2 = s.ground.avx2;
      shoal_home first = shoal_swarm_home(&s.swarm, r, s.swarm.column[r]);
      s.ground.avx2 = false;
      check_home(&s, r);
      shoal_home second = shoal_swarm_home(&s.swarm, r, s.swarm.column[r]);
      s.ground.avx2 = avx2;
      assert_int_equal(first.column, second.column);
    }
    close_scene(&s);
  }
}

static void one_column_is_no_home_for_its_rows(void **state UNUSED) {
  scene s;
  open_scene(&s, &plain, 1, 3);
  assert_int_equal(shoal_swarm_home(&s.swarm, 5, 0).column, SHOAL_NIL);
  assert_false(shoal_swarm_improve(&s.swarm, 0));
  close_scene(&s);
}

/* ---------------------------------------------------------------- moves */

static void moves_can_be_taken_back(void **state UNUSED) {
  scene s;
  open_scene(&s, &plain, 60, 4);
  shoal_swarm *w = &s.swarm;
  uint64_t before = shoal_swarm_total(w);
  uint32_t *columns = calloc(s.ground.n, sizeof *columns);
  assert_non_null(columns);
  memcpy(columns, w->column, s.ground.n * sizeof *columns);
  for (uint32_t i = 0; i < 500; i++) {
    uint32_t row = shoal_swarm_random(w, s.ground.n), from = w->column[row];
    shoal_swarm_move(w, row, shoal_swarm_random(w, 60));
    shoal_swarm_settle(w, from);
  }
  check_figures(&s);
  assert_int_not_equal(shoal_swarm_total(w), before);
  shoal_swarm_undo(w, 0);
  check_figures(&s);
  assert_int_equal(shoal_swarm_total(w), before);
  assert_memory_equal(w->column, columns, s.ground.n * sizeof *columns);
  free(columns);
  close_scene(&s);
}

/* Steps only ever lower the loss, and what fits goes on fitting. */
static void steps_lower_the_loss(void **state UNUSED) {
  scene s;
  open_scene(&s, &plain, 30, 5);
  shoal_swarm *w = &s.swarm;
  uint64_t total = shoal_swarm_total(w), start = total;
  for (uint32_t i = 0; i < 3 * 30; i++) {
    bool did_fit[30], better = false;
    for (uint32_t c = 0; c < 30; c++) did_fit[c] = shoal_swarm_fits(w, c);
    better = shoal_swarm_improve(w, i % 30);
    assert_true(better ? shoal_swarm_total(w) < total : shoal_swarm_total(w) == total);
    total = shoal_swarm_total(w);
    for (uint32_t c = 0; c < 30; c++)
      if (did_fit[c]) assert_true(!w->size[c] || shoal_swarm_fits(w, c));
  }
  check_figures(&s);
  assert_true(total < start);
  close_scene(&s);
}

/* ---------------------------------------------------------------- units */

static void both_ways_gather_the_same_units(void **state UNUSED) {
  for (uint64_t seed = 0; seed < 6; seed++) {
    scene s;
    shape some = plain;
    some.p = seed % 2 ? 5 : 2;
    open_scene(&s, &some, 2, seed);
    shoal_units units[2];
    uint32_t rows[900], n = 300 + (uint32_t)seed * 100;
    for (uint32_t i = 0; i < n; i++) rows[i] = i;
    for (int way = 0; way < 2; way++) {
      uint64_t random = seed;
      if (way) s.ground.avx2 = false;
      assert_true(shoal_units_init(&units[way], &s.ground, n));
      assert_true(shoal_units_gather(&units[way], rows, n, NULL, 0.3F, &random));
    }
    uint32_t n_rows = 0;
    for (uint32_t a = 0; a < units[0].n; a++) {
      assert_int_equal(units[0].head[a], units[1].head[a]);
      if (units[0].head[a] == SHOAL_NIL) continue;
      uint32_t size = 0;
      for (uint32_t r = units[0].head[a]; r != SHOAL_NIL; r = units[0].next[r], size++)
        assert_int_equal(units[0].next[r], units[1].next[r]);
      assert_true(size >= 6);
      n_rows += size;
    }
    assert_int_equal(n_rows, n);
    shoal_units_reset(&units[0]);
    shoal_units_reset(&units[1]);
    close_scene(&s);
  }
}

/* What two units lose at least, sixteen at once or not, and which of them are below a bound. */
static void check_bounds(shoal_units *u, uint32_t a) {
  uint32_t best = shoal_units_bound(u, a);
  for (uint32_t b = 0; b < u->n; b++) {
    int less = u->own[a] > u->own[b] ? u->own[a] : u->own[b];
    int joint = (int)shoal_box_loss_joined(u->ground, &u->box[a], &u->box[b]);
    bool gone = a == b || u->head[b] == SHOAL_NIL;
    assert_int_equal(u->bound[b], gone ? INT16_MAX : joint - less);
    assert_true(u->bound[best] <= u->bound[b]);
    u->hears[b] = (int16_t)(b % 5 ? INT16_MIN : joint);
  }
  for (int tells = 0; tells < 2; tells++)
    for (uint32_t b = 0; b < u->n; b++) {
      int16_t most = (int16_t)(u->bound[best] + 100);
      uint64_t set = shoal_units_below(u, b - b % SHOAL_UNITS_STRIDE, most, tells);
      bool below = u->bound[b] < most || (tells && u->bound[b] < u->hears[b]);
      assert_int_equal(set >> b % SHOAL_UNITS_STRIDE & 1, below);
    }
}

static void bounds_are_what_units_lose(void **state UNUSED) {
  scene s;
  shape some = plain;
  some.k = 2;
  some.p = 1;
  open_scene(&s, &some, 2, 3);
  shoal_units units;
  uint32_t rows[900];
  uint64_t random = 1;
  for (uint32_t i = 0; i < 900; i++) rows[i] = i;
  assert_true(shoal_units_init(&units, &s.ground, 900));
  assert_true(shoal_units_gather(&units, rows, 900, NULL, 0, &random));
  assert_true(units.n > 2 * SHOAL_UNITS_STRIDE);
  for (uint32_t a = 0; a < units.n; a += 2) units.own[a] = (int16_t)units.loss[a];
  for (uint32_t i = 0; i < 2 * units.n; i++) { /* first all with AVX2, if there is */
    if (i == units.n) s.ground.avx2 = false;
    if (units.head[i % units.n] != SHOAL_NIL) check_bounds(&units, i % units.n);
  }
  shoal_units_reset(&units);
  close_scene(&s);
}

/* ---------------------------------------------------------------- whole tables */

/* Every row once, those of a tuple side by side. */
static void a_rough_order_has_all_rows(void **state UNUSED) {
  for (uint64_t seed = 0; seed < 4; seed++) {
    scene s;
    shape some = plain;
    some.n_rows = seed % 2 ? 12000 : 900;
    open_scene(&s, &some, 2, seed);
    uint32_t n = s.ground.n, n_tuples = 1;
    const uint32_t *tuple_of = s.f.axes.tuple_of_row;
    uint8_t *seen = calloc(n, 1);
    assert_non_null(seen);
    succeeds(&s.f, shoal_flock_order_roughly(&s.task, s.rows, &s.f.error));
    for (uint32_t i = 0; i < n; i++) {
      assert_int_equal(seen[s.rows[i]]++, 0);
      n_tuples += i && tuple_of[s.rows[i]] != tuple_of[s.rows[i - 1]];
    }
    assert_int_equal(n_tuples, s.f.axes.n_tuples);
    free(seen);
    close_scene(&s);
  }
}

static void check_small(const shape *of, shoal_aim aim, bool expected) {
  fixture f;
  setup(&f, of, 8);
  shoal_run run = {.n_threads = 1};
  const shoal_cluster_task task = {.axes = &f.axes, .fit = &f.fit, .aim = aim, .run = &run};
  shoal_partition first = {0}, second = {0};
  bool done = !expected;
  succeeds(&f, shoal_flock_small(&task, &first, &done, &f.error));
  assert_int_equal(done, expected);
  run.n_threads = 2;
  succeeds(&f, shoal_flock_small(&task, &second, &done, &f.error));
  assert_int_equal(first.n_clusters, second.n_clusters);
  if (done)
    assert_memory_equal(first.cluster_of_row, second.cluster_of_row,
                        f.n_rows * sizeof *first.cluster_of_row);
  shoal_partition_reset(&first);
  shoal_partition_reset(&second);
  teardown(&f);
}

static void small_tables_are_told_from_others(void **state UNUSED) {
  shape s = plain;
  check_small(&s, SHOAL_AIM_IL, true);
  check_small(&s, SHOAL_AIM_AVG, false);
  s.n_rows = 6000; /* two halves */
  check_small(&s, SHOAL_AIM_IL, true);
  s.k = 5; /* too many clusters */
  check_small(&s, SHOAL_AIM_IL, false);
  s = plain;
  s.k = 101;
  check_small(&s, SHOAL_AIM_IL, false);
  s = plain;
  s.models = "[alpha-k: {alpha: 0.9}]";
  check_small(&s, SHOAL_AIM_IL, false);
  s = plain;
  memcpy(s.kinds, "ntm", 4); /* numbers that are missing */
  check_small(&s, SHOAL_AIM_IL, false);
  s = plain;
  memset(s.kinds, 'n', 33);
  check_small(&s, SHOAL_AIM_IL, false);
  memset(s.kinds, 0, sizeof s.kinds);
  s.kinds[0] = 'n';
  s.tied = true; /* a half has too few values by itself */
  s.gaps = false;
  s.n_rows = 5000;
  s.p = 6;
  check_small(&s, SHOAL_AIM_IL, false);
}

/* Every row in a cluster, and every cluster fits. */
static uint32_t check_clusters(fixture *f, const shoal_partition *p) {
  uint32_t *rows = calloc(f->n_rows, sizeof *rows), n_rows = 0;
  assert_non_null(rows);
  for (uint32_t c = 0; c < p->n_clusters; c++) {
    uint32_t n = 0;
    for (uint32_t r = 0; r < f->n_rows; r++)
      if (p->cluster_of_row[r] == c) rows[n++] = r;
    assert_true(shoal_judging_fits(&f->judging, rows, n));
    n_rows += n;
  }
  assert_int_equal(n_rows, f->n_rows);
  free(rows);
  return p->n_clusters;
}

static void random_tables_become_clusters_that_fit(void **state UNUSED) {
  shoal_random random;
  shoal_random_seed(&random, 47);
  uint32_t n_done = 0, n_several = 0;
  for (uint64_t seed = 0; seed < 400; seed++) {
    fixture f;
    shape s = draw_shape(&random, seed % 4 ? 150 : 1500);
    setup(&f, &s, seed);
    const shoal_cluster_task task = {.axes = &f.axes, .fit = &f.fit, .aim = SHOAL_AIM_IL};
    shoal_partition p = {0};
    bool done = false;
    succeeds(&f, shoal_flock_small(&task, &p, &done, &f.error));
    n_done += done;
    if (done) n_several += check_clusters(&f, &p) > 1;
    shoal_partition_reset(&p);
    teardown(&f);
  }
  print_message("%u of 400 were small tables, %u of several clusters\n", n_done, n_several);
  assert_true(n_done > 100 && n_several > 80);
}

/* Tables of one tuple, of two and of few, as large as those that are halved. */
static void few_tuples_are_clustered(void **state UNUSED) {
  for (uint64_t n_values = 1; n_values < 4; n_values++) {
    fixture f;
    shape s = plain;
    s.n_rows = 5000;
    s.k = 20;
    memcpy(s.kinds, "n", 2);
    s.n_values = n_values;
    setup(&f, &s, n_values);
    const shoal_run run = {.n_threads = n_values % 2 ? 1 : 2};
    const shoal_cluster_task task = {.axes = &f.axes, .fit = &f.fit, .run = &run};
    shoal_partition p = {0};
    bool done = false;
    succeeds(&f, shoal_flock_small(&task, &p, &done, &f.error));
    assert_true(done);
    assert_true(check_clusters(&f, &p) >= n_values);
    shoal_partition_reset(&p);
    teardown(&f);
  }
}

static void a_run_can_be_stopped(void **state UNUSED) {
  shape s = plain;
  s.n_rows = 6000;
  s.k = 20;
  check_that_it_stops(shoal_flock_small, &s, 6, 4);
}

static void memory_may_run_out_anywhere(void **state UNUSED) {
  shape s = plain;
  s.n_rows = 150;
  s.k = 4;
  check_that_memory_may_end(shoal_flock_small, &s, 5, 81);
  s.n_rows = 4000; /* two halves, which have turns */
  s.n_values = 3;
  s.k = 100;
  check_that_memory_may_end(shoal_flock_small, &s, 5, 500);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(homes_are_the_cheapest_of_all),
      cmocka_unit_test(one_column_is_no_home_for_its_rows),
      cmocka_unit_test(moves_can_be_taken_back),
      cmocka_unit_test(steps_lower_the_loss),
      cmocka_unit_test(both_ways_gather_the_same_units),
      cmocka_unit_test(bounds_are_what_units_lose),
      cmocka_unit_test(a_rough_order_has_all_rows),
      cmocka_unit_test(small_tables_are_told_from_others),
      cmocka_unit_test(random_tables_become_clusters_that_fit),
      cmocka_unit_test(few_tuples_are_clustered),
      cmocka_unit_test(a_run_can_be_stopped),
      cmocka_unit_test(memory_may_run_out_anywhere),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
