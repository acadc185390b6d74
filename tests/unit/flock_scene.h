/* SPDX-License-Identifier: Apache-2.0 */
/* A ground with clusters of neighbours on it, for tests of flock's ways for small tables. */
#ifndef SHOAL_TESTS_FLOCK_SCENE_H
#define SHOAL_TESTS_FLOCK_SCENE_H

#include "flock_fixture.h"

#include "cluster/flock_swarm.h"

static const shape plain = {.n_rows = 900,
                            .kinds = "ntnu",
                            .n_values = 40,
                            .n_sensitive = 2,
                            .n_sensitive_values = 7,
                            .skewed = true,
                            .gaps = true,
                            .k = 6,
                            .p = 3,
                            .models = ""};

typedef struct scene {
  fixture f;
  shoal_cluster_task task;
  uint32_t *rows;
  shoal_ground ground;
  shoal_swarm swarm;
} scene;

/* Rows in their order, in clusters of neighbours: some hundred columns, not all of them fit. */
static void open_scene(scene *s, const shape *of, uint32_t n_clusters, uint64_t seed) {
  setup(&s->f, of, seed);
  s->task = (shoal_cluster_task){.axes = &s->f.axes, .fit = &s->f.fit, .aim = SHOAL_AIM_IL};
  s->rows = calloc(s->f.n_rows, sizeof *s->rows);
  assert_non_null(s->rows);
  succeeds(&s->f, shoal_flock_order_rows(&s->task, 1, true, s->rows, &s->f.error));
  assert_true(shoal_ground_carries(&s->task));
  assert_true(shoal_ground_init(&s->ground, &s->task, s->rows));
  assert_true(shoal_swarm_init(&s->swarm, &s->ground, n_clusters, seed));
  for (uint32_t c = 0; c < n_clusters; c++) assert_int_equal(shoal_swarm_take(&s->swarm), 0);
  s->swarm.n_columns = n_clusters;
  for (uint32_t r = 0; r < s->ground.n; r++)
    shoal_swarm_put(&s->swarm, r, (uint32_t)((uint64_t)r * n_clusters / s->ground.n));
  for (uint32_t c = 0; c < n_clusters; c++) shoal_swarm_settle(&s->swarm, c);
}

static void close_scene(scene *s) {
  shoal_swarm_reset(&s->swarm);
  shoal_ground_reset(&s->ground);
  free(s->rows);
  teardown(&s->f);
}

/* What a column loses with one row more, by the table's own axes. */
static uint32_t loss_with(const scene *s, uint32_t column, uint32_t row) {
  shoal_span extent[MOST_AXES];
  const shoal_axes *axes = &s->f.axes;
  shoal_extent_start(axes, extent, shoal_axes_row(axes, s->rows[row]));
  for (uint32_t r = s->swarm.head[column]; r != SHOAL_NIL; r = s->swarm.next[r])
    shoal_extent_add(axes, extent, shoal_axes_row(axes, s->rows[r]));
  return shoal_extent_loss(axes, extent);
}

static void check_figures(const scene *s) {
  const shoal_swarm *w = &s->swarm;
  for (uint32_t c = 0; c < w->n_columns; c++) {
    uint32_t n = 0;
    for (uint32_t r = w->head[c]; r != SHOAL_NIL; r = w->next[r], n++)
      assert_int_equal(w->column[r], c);
    assert_int_equal(w->size[c], n);
    if (n) assert_int_equal(w->loss[c], loss_with(s, c, w->head[c]));
  }
}

#endif
