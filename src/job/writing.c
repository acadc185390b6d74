/* SPDX-License-Identifier: Apache-2.0 */
/* job/writing: the rows of a release in their order, and what only the verifier sees of them. */
#include "job/writing.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "input/cells.h"
#include "job/release_columns.h"
#include "read/stat_file.h"
#include "write/second_pass.h"
#include "write/sink.h"

/* ------------------------------------------------------------ rows */

/* Writes rows of the table, or reads the table's file again if the table lacks cells. */
shoal_status shoal_writing_rows(const shoal_writing *w, const shoal_csv_plan *plan, int fd,
                                const char *name, uint64_t *n_rows, shoal_error *error) {
  shoal_random copy = w->order; /* guards are written in the same order again */
  shoal_random *random = w->keep_order ? NULL : &copy;
  shoal_sink *sink;
  shoal_atomic_file spill = {.fd = -1};
  SHOAL_TRY(shoal_sink_open(fd, name, &sink, error));
  shoal_status status = SHOAL_OK;
  if (!shoal_csv_needs_second_pass(plan)) {
    status = shoal_csv_write(plan, sink, random, w->run, n_rows, error);
  } else {
    if (random) status = shoal_atomic_file_open_unnamed(&spill, w->path, error);
    if (status == SHOAL_OK)
      status = shoal_csv_write_second_pass(plan, sink, spill.fd, random, w->run, n_rows, error);
    shoal_atomic_file_close(&spill);
  }
  shoal_sink_free(sink);
  return status;
}

/*
 * The kept order of a table whose rows from n on are noise: each of them after the last row of its
 * class. NULL: no memory.
 */
static uint32_t *place_noise(const shoal_decision *d, uint32_t n) {
  uint32_t n_noise = (uint32_t)d->rows->n_rows - n, n_ordered = 0;
  uint32_t *order = shoal_alloc((size_t)n + n_noise, sizeof *order);
  uint32_t *last = shoal_alloc(d->n_groups, sizeof *last); /* row of each group */
  uint32_t *first = shoal_alloc(n, sizeof *first);         /* noise row after each row, */
  uint32_t *next = shoal_alloc(n_noise, sizeof *next);     /* then after each noise row */
  bool ok = order && last && first && next;
  if (ok) {
    for (uint32_t row = 0; row < n; row++) last[d->group_of_row[row]] = row;
    memset(first, 0xff, n * sizeof *first); /* SHOAL_NONE */
    for (uint32_t i = n_noise; i-- > 0;) {
      uint32_t row = last[d->group_of_row[n + i]];
      next[i] = first[row];
      first[row] = i;
    }
    for (uint32_t row = 0; row < n; row++) {
      order[n_ordered++] = row;
      for (uint32_t i = first[row]; i != SHOAL_NONE; i = next[i]) order[n_ordered++] = n + i;
    }
    assert(n_ordered == n + n_noise);
  }
  free(last);
  free(first);
  free(next);
  if (ok) return order;
  free(order);
  return NULL;
}

/* ------------------------------------------------------------ for the verifier */

static const shoal_column *guard_column(const shoal_context *p) {
  for (size_t i = 0; i < p->requirements.n_items; i++)
    if (p->requirements.items[i].guard != SHOAL_NO_ATTRIBUTE)
      return p->tracked.columns[p->requirements.items[i].guard];
  return NULL;
}

/*
 * Cells that are not released, but that the verifier needs row by row. They go to an unnamed file
 * in the order of the release; it disappears when it is closed.
 */
static shoal_status spill_columns(const shoal_writing *w, const shoal_column *const *columns,
                                  size_t n, const char *name, shoal_atomic_file *spill,
                                  shoal_error *error) {
  const shoal_context *p = &w->release->context;
  shoal_csv_plan plan = w->plan;
  plan.columns = shoal_alloc_zero(n, sizeof *plan.columns);
  if (!plan.columns) return shoal_fail_memory(error);
  plan.n_columns = n;
  plan.quote_formulas = false;
  uint64_t n_rows;
  shoal_status status = shoal_atomic_file_open(spill, "-", error);
  for (size_t c = 0; status == SHOAL_OK && c < n; c++) {
    plan.columns[c].column = w->plan.table->columns + (columns[c] - p->table->columns);
    const shoal_attribute *attribute = shoal_policy_attribute(p->policy, columns[c]->name);
    bool commas = w->styled && shoal_cells_have_commas(p->policy, attribute);
    if (!shoal_release_fill_values(&plan.columns[c], &plan, commas))
      status = shoal_fail_memory(error);
  }
  if (status == SHOAL_OK) status = shoal_writing_rows(w, &plan, spill->fd, name, &n_rows, error);
  shoal_release_columns_reset(&plan);
  return status;
}

static shoal_status spill_guards(shoal_writing *w, shoal_error *error) {
  const shoal_column *guard = guard_column(&w->release->context);
  return guard ? spill_columns(w, &guard, 1, "guards", &w->guards, error) : SHOAL_OK;
}

/* The columns of a role, from columns[*n] on. */
static size_t find_role(const shoal_context *p, shoal_role role, const shoal_column **columns,
                        size_t *n) {
  size_t found = 0;
  for (size_t c = 0; c < p->table->n_columns; c++)
    if (shoal_attribute_is_key(&p->attributes[c], role))
      columns[(*n)++] = &p->table->columns[c], found++;
  return found;
}

shoal_status shoal_writing_spill(shoal_writing *w, shoal_error *error) {
  SHOAL_TRY(spill_guards(w, error));
  /* Who each row is about. If the key of each row is known to differ, its hash is enough. */
  const shoal_context *p = &w->release->context;
  const shoal_column **columns = shoal_alloc(p->table->n_columns, sizeof *columns);
  if (!columns) return shoal_fail_memory(error);
  size_t n = 0;
  bool noise = shoal_writing_has_noise(w);
  if (p->people.column && !noise) w->n_person = find_role(p, SHOAL_ROLE_PERSON, columns, &n);
  if (p->policy->has_households && p->households.column && !noise)
    w->n_household = find_role(p, SHOAL_ROLE_HOUSEHOLD, columns, &n);
  shoal_status status = n ? spill_columns(w, columns, n, "people", &w->people, error) : SHOAL_OK;
  free(columns);
  return status;
}

/* ------------------------------------------------------------ the plan */

shoal_status shoal_writing_init(shoal_writing *w, shoal_release *release, const char *path,
                                bool keep_order, bool kept, const shoal_run *run,
                                shoal_error *error) {
  const shoal_context *p = &release->context;
  const shoal_decision *d = &release->decision;
  *w = (shoal_writing){.release = release,
                       .path = path,
                       .styled = shoal_stat_kind_by_name(path) == SHOAL_STAT_NONE,
                       .keep_order = keep_order,
                       .run = run,
                       .guards = {.fd = -1},
                       .people = {.fd = -1},
                       .plan = {.table = d->rows,
                                .delimiter = p->table->delimiter,
                                .group_of_row = d->group_of_row,
                                .action = d->action_of_group,
                                .n_groups = d->n_groups,
                                .rows_of_group = d->rows_of_group,
                                .quote_formulas = p->policy->quote_formulas}};
  if (!keep_order) {
    /* The order of the rows: from the seed, or from the kernel's entropy. */
    const shoal_policy *policy = p->policy;
    shoal_random *random = &w->order;
    if (policy->has_seed) shoal_random_seed(random, policy->seed);
    else if (!shoal_random_entropy(random))
      return shoal_fail(error, SHOAL_FAILED,
                        "the system gives no randomness for the row order: give a seed");
  } else if (d->rows->n_rows > p->table->n_rows &&
             !(w->order_of_rows = place_noise(d, (uint32_t)p->table->n_rows)))
    return shoal_fail_memory(error);
  w->plan.order = w->order_of_rows;
  return shoal_release_columns_make(release, w->styled, kept, &w->plan, error);
}

void shoal_writing_reset(shoal_writing *w) {
  shoal_release_columns_reset(&w->plan);
  free(w->order_of_rows);
  shoal_atomic_file_close(&w->guards);
  shoal_atomic_file_close(&w->people);
}
