/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unit tests of what flock makes anew in small tables (src/cluster/flock_lanes, _cells, _remake,
 * _units, _small): what rows reach says the same as their box, parts lose no more than they may,
 * units start as parts, and all turns are taken.
 */
#include "flock_scene.h"

#include "cluster/flock_cells.h"
#include "cluster/flock_remake.h"

/* ---------------------------------------------------------------- lanes */

/* Rows of a column, by box and by lanes. */
static void check_reach(const scene *s, uint32_t column) {
  const shoal_ground *g = &s->ground;
  const shoal_swarm *w = &s->swarm;
  uint32_t r = w->head[column];
  shoal_box box, other;
  shoal_lanes reach;
  memset(&other, 0, sizeof other);
  shoal_box_start(g, &box, shoal_ground_values(g, r));
  shoal_lanes_start(g, &reach, shoal_lanes_of_tuple(g, g->tuple[r]));
  for (; r != SHOAL_NIL; r = w->next[r]) {
    shoal_box_add(g, &box, shoal_ground_values(g, r));
    shoal_lanes_add(g, &reach, shoal_lanes_of_tuple(g, g->tuple[r]));
    shoal_lanes_box(g, &reach, &other);
    for (size_t q = 0; q < g->n_axes; q++) {
      assert_int_equal(box.lo[q], other.lo[q]);
      if (q < g->n_numbers) assert_int_equal(box.hi[q], other.hi[q]);
    }
    assert_int_equal(shoal_lanes_loss(g, &reach), shoal_box_loss(g, &box));
  }
}

/* Which rows and columns a column's box covers and meets. */
static void check_cover(const scene *s, uint32_t column) {
  const shoal_ground *g = &s->ground;
  const shoal_swarm *w = &s->swarm;
  const int16_t *cover = w->cover + column * g->n_lanes;
  uint32_t n_covered = 0, n_met = 0;
  shoal_lanes turned;
  for (uint32_t r = 0; r < g->n; r++) {
    bool covers = shoal_box_covers(g, &w->box[column], shoal_ground_values(g, r));
    assert_int_equal(shoal_lanes_below(g, cover, shoal_lanes_of_tuple(g, g->tuple[r])), covers);
    n_covered += covers;
  }
  shoal_lanes_turn(g, cover, turned.lane);
  for (uint32_t c = 0; c < w->n_columns; c++) {
    bool meets = shoal_box_overlaps(g, &w->box[column], &w->box[c]);
    assert_int_equal(shoal_lanes_below(g, w->cover + c * g->n_lanes, turned.lane), meets);
    n_met += meets;
  }
  assert_true(n_covered >= w->size[column] && n_met >= 1);
}

static void lanes_say_what_boxes_say(void **state UNUSED) {
  const char *kinds[] = {"ntnu", "t", "n", "ntunntut", "ntunntutn", "tnutnutnutnutnutnut"};
  for (uint64_t i = 0; i < COUNT(kinds); i++) {
    scene s;
    shape some = plain;
    memset(some.kinds, 0, sizeof some.kinds);
    memcpy(some.kinds, kinds[i], strlen(kinds[i]));
    open_scene(&s, &some, 60, i);
    for (uint32_t c = 0; c < 60; c++) {
      check_reach(&s, c);
      check_cover(&s, c);
    }
    close_scene(&s);
  }
}

/* ---------------------------------------------------------------- cells */

/* The rows of one part: whole tuples, of one cell, few, that lose little. */
static void check_cell(const shoal_ground *g, const uint32_t *rows, uint32_t n, uint32_t most) {
  uint32_t n_tuples = 1;
  shoal_box box;
  shoal_box_start(g, &box, shoal_ground_values(g, rows[0]));
  for (uint32_t i = 1; i < n; i++) {
    shoal_box_add(g, &box, shoal_ground_values(g, rows[i]));
    n_tuples += g->tuple[rows[i]] != g->tuple[rows[i - 1]];
  }
  if (n_tuples == 1) return;
  assert_true(SHOAL_CELLS_FEW * n <= g->fit->k);
  assert_true(shoal_box_loss(g, &box) <= most);
}

static void tuples_of_a_cell_start_together(void **state UNUSED) {
  scene s;
  shape some = plain;
  memcpy(some.kinds, "ntu", 4);
  some.k = 20;
  open_scene(&s, &some, 1, 7); /* one column: of all rows */
  const shoal_ground *g = &s.ground;
  uint32_t from = g->first[10], to = g->n, n = to - from, n_parts = 0, last = 0;
  uint32_t rows[900], part[900];
  uint64_t keys[900];
  bool listed[900] = {0};
  shoal_cells_part(g, from, to, keys, rows, part);
  for (uint32_t i = 0; i < n; i++) {
    assert_true(rows[i] >= from && rows[i] < to && !listed[rows[i]]);
    listed[rows[i]] = true;
    if (i && part[i] == part[i - 1]) continue;
    assert_int_equal(part[i], n_parts++);
    if (i) check_cell(g, rows + last, i - last, s.swarm.loss[0] / SHOAL_CELLS_LITTLE);
    last = i;
  }
  assert_true(n_parts < g->n_tuples - 10); /* some did come together */
  close_scene(&s);
}

/* ---------------------------------------------------------------- parts */

static void pool(shoal_remaking *m, scene *s, uint32_t n_columns) {
  m->swarm = &s->swarm;
  m->n = 0;
  m->n_columns = n_columns;
  for (uint32_t i = 0; i < n_columns; i++) {
    m->columns[i] = 7 * i + 1;
    for (uint32_t r = s->swarm.head[7 * i + 1]; r != SHOAL_NIL; r = s->swarm.next[r])
      m->rows[m->n++] = r;
  }
}

/* Two rows of one part: they are of one column, and lose no more than they may. */
static void check_pair(const shoal_remaking *m, uint32_t i, uint32_t j, uint32_t hundredths) {
  const shoal_ground *g = m->swarm->ground;
  uint32_t column = m->swarm->column[m->rows[i]];
  shoal_box box;
  assert_int_equal(column, m->swarm->column[m->rows[j]]);
  shoal_box_start(g, &box, shoal_ground_values(g, m->rows[i]));
  shoal_box_add(g, &box, shoal_ground_values(g, m->rows[j]));
  assert_true(100 * shoal_box_loss(g, &box) <= hundredths * m->swarm->loss[column]);
}

static void parts_lose_no_more_than_they_may(void **state UNUSED) {
  scene s;
  open_scene(&s, &plain, 60, 3);
  shoal_remaking m;
  pool(&m, &s, 3);
  uint32_t last = SHOAL_NIL;
  for (uint32_t hundredths = 0; hundredths <= 100; hundredths += 20) {
    shoal_remake_part(&m, hundredths);
    uint32_t n_parts = 0;
    for (uint32_t i = 0; i < m.n; i++) {
      if (m.part[i] == n_parts) n_parts++;
      assert_true(m.part[i] < n_parts); /* numbered as they come */
      for (uint32_t j = 0; j < i; j++) {
        bool same = s.ground.tuple[m.rows[i]] == s.ground.tuple[m.rows[j]];
        if (m.part[i] == m.part[j]) check_pair(&m, i, j, hundredths);
        else assert_true(!same || s.swarm.column[m.rows[i]] != s.swarm.column[m.rows[j]]);
      }
    }
    assert_int_equal(n_parts, m.n_parts);
    if (last != SHOAL_NIL) assert_true(n_parts <= last);
    last = n_parts;
  }
  assert_int_equal(last, 3); /* at last each column is one part */
  close_scene(&s);
}

/* Units that start as parts: the same ones both ways, of fewer pairs than tuples need. */
static void units_start_as_parts(void **state UNUSED) {
  scene s;
  open_scene(&s, &plain, 60, 4);
  shoal_remaking m;
  pool(&m, &s, 4);
  shoal_remake_part(&m, 60);
  shoal_units units[3];
  for (int way = 0; way < 3; way++) {
    uint64_t random = 5;
    s.ground.avx2 &= way != 1;
    assert_true(shoal_units_init(&units[way], &s.ground, m.n));
    const uint32_t *part = way < 2 ? m.part : NULL;
    assert_true(shoal_units_gather(&units[way], m.rows, m.n, part, 0.3F, &random));
  }
  assert_int_equal(units[0].n, units[1].n);
  assert_int_equal(units[0].n_looked, units[1].n_looked);
  assert_true(2 * units[0].n_looked < units[2].n_looked);
  uint32_t n_rows = 0;
  for (uint32_t a = 0; a < units[0].n; a++) {
    assert_int_equal(units[0].head[a], units[1].head[a]);
    if (units[0].head[a] == SHOAL_NIL) continue;
    shoal_box box;
    shoal_box_start(&s.ground, &box, shoal_ground_values(&s.ground, units[0].head[a]));
    for (uint32_t r = units[0].head[a]; r != SHOAL_NIL; r = units[0].next[r], n_rows++)
      shoal_box_add(&s.ground, &box, shoal_ground_values(&s.ground, r));
    assert_int_equal((uint32_t)units[0].loss[a], shoal_box_loss(&s.ground, &box));
  }
  assert_int_equal(n_rows, m.n);
  for (int way = 0; way < 3; way++) shoal_units_reset(&units[way]);
  close_scene(&s);
}

/* How many units all rows of a table become. */
static uint32_t gather_all(uint64_t seed) {
  scene s;
  shape some = plain;
  some.k = 20;
  some.p = 1;
  open_scene(&s, &some, 2, seed);
  shoal_units units;
  uint32_t rows[900];
  uint64_t random = 1;
  uint32_t n = 0;
  for (uint32_t i = 0; i < 900; i++) rows[i] = i;
  assert_true(shoal_units_init(&units, &s.ground, 900));
  assert_true(shoal_units_gather(&units, rows, 900, NULL, 0, &random));
  for (uint32_t a = 0; a < units.n; a++) n += units.head[a] != SHOAL_NIL;
  shoal_units_reset(&units);
  close_scene(&s);
  return n;
}

/* They come together sooner if they settle more rows: by loss alone there are 801 units. */
static void two_that_fit_together_are_in_haste(void **state UNUSED) {
  uint32_t n = 0;
  for (uint64_t seed = 0; seed < 20; seed++) n += gather_all(seed);
  assert_true(n <= 795);
}

/* ---------------------------------------------------------------- making anew */

/* Loses nothing, gains where single steps are done, and keeps what fits fitting. */
static void remaking_only_gains(void **state UNUSED) {
  scene s;
  open_scene(&s, &plain, 75, 6); /* of twice k rows each */
  shoal_swarm *w = &s.swarm;
  shoal_units units;
  for (int pass = 0; pass < 4; pass++)
    for (uint32_t c = 0; c < 75; c++) (void)shoal_swarm_improve(w, c);
  assert_true(shoal_units_init(&units, &s.ground, SHOAL_REMAKE_ROWS));
  shoal_remaking m;
  m.swarm = w;
  m.units = &units;
  uint64_t start = shoal_swarm_total(w), total = start;
  bool did_fit = true;
  for (uint32_t c = 0; c < w->n_columns; c++) did_fit &= !w->size[c] || shoal_swarm_fits(w, c);
  for (int i = 0; i < 300; i++) {
    shoal_remake(&m);
    assert_false(w->failed);
    assert_true(shoal_swarm_total(w) <= total);
    total = shoal_swarm_total(w);
  }
  for (uint32_t c = 0; c < w->n_columns; c++)
    if (did_fit && w->size[c]) assert_true(shoal_swarm_fits(w, c));
  check_figures(&s);
  assert_true(100 * total < 97 * start);
  shoal_units_reset(&units);
  close_scene(&s);
}

/* ---------------------------------------------------------------- turns */

typedef struct seen {
  uint64_t last;
  unsigned quarters; /* of the work: a set of those that have been reported from */
} seen;

static bool see(void *user, const shoal_progress *progress) {
  seen *s = user;
  assert_true(progress->done >= s->last && progress->done <= progress->total);
  s->last = progress->done;
  if (progress->done < progress->total) s->quarters |= 1U << 4 * progress->done / progress->total;
  return false;
}

/* What all rows lose in their clusters. */
static uint64_t loss_of(const fixture *f, const shoal_partition *p) {
  uint64_t loss = 0;
  for (uint32_t c = 0; c < p->n_clusters; c++) {
    shoal_span extent[MOST_AXES];
    uint64_t n = 0;
    for (uint32_t r = 0; r < f->n_rows; r++) {
      if (p->cluster_of_row[r] != c) continue;
      if (!n++) shoal_extent_start(&f->axes, extent, shoal_axes_row(&f->axes, r));
      else shoal_extent_add(&f->axes, extent, shoal_axes_row(&f->axes, r));
    }
    loss += n * shoal_extent_loss(&f->axes, extent);
  }
  return loss;
}

/* Halves have four turns, on one thread or more, with the same clusters in the end. */
static void halves_have_turns(void **state UNUSED) {
  fixture f;
  shape some = plain;
  some.n_rows = 5000;
  some.k = 20;
  setup(&f, &some, 2);
  uint64_t loss[3];
  for (unsigned n_threads = 1; n_threads <= 4; n_threads *= 2) {
    seen s = {0};
    shoal_run run = {.n_threads = n_threads, .progress = see, .progress_user = &s};
    const shoal_cluster_task task = {.axes = &f.axes, .fit = &f.fit, .run = &run};
    shoal_partition p = {0};
    bool done = false;
    succeeds(&f, shoal_flock_small(&task, &p, &done, &f.error));
    assert_true(done);
    assert_int_equal(s.quarters, 0xf);
    loss[n_threads / 2] = loss_of(&f, &p);
    shoal_partition_reset(&p);
  }
  assert_int_equal(loss[0], loss[1]);
  assert_int_equal(loss[0], loss[2]);
  teardown(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(lanes_say_what_boxes_say),
      cmocka_unit_test(tuples_of_a_cell_start_together),
      cmocka_unit_test(parts_lose_no_more_than_they_may),
      cmocka_unit_test(units_start_as_parts),
      cmocka_unit_test(two_that_fit_together_are_in_haste),
      cmocka_unit_test(remaking_only_gains),
      cmocka_unit_test(halves_have_turns),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
