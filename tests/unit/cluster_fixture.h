/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables of numbers, trees and missing values, drawn or given, with all that clustering needs of
 * them; and what every partition is checked for. The sensitive attribute has values v0, v1, .. in
 * three categories.
 */
#ifndef SHOAL_TESTS_CLUSTER_FIXTURE_H
#define SHOAL_TESTS_CLUSTER_FIXTURE_H

#include "cluster_table.h"

enum { MAX_AXES = 32 };

/* ---------------------------------------------------------------- tables */

/* A column's kind: number, number with missing values, tree of nine leaves; then its values. */
typedef struct shape {
  const char *kinds; /* one of "nmt" for each quasi-identifier */
  uint32_t n_values; /* of a number */
  uint32_t n_sensitive;
  bool heavy;        /* half of the cells have one value */
  const char *cells; /* not drawn: rows of these cells, each followed by a blank; else NULL */
} shape;

typedef struct fixture {
  size_t n_quasi, n_rows;
  uint64_t k, p;
  shoal_table *table;
  shoal_policy *policy;
  shoal_hierarchy *hierarchies[MAX_AXES];
  shoal_sensitive sensitive;
  shoal_tracked tracked;
  const shoal_column *tracked_columns[MAX_AXES + 1];
  shoal_track track[MAX_AXES + 1];
  shoal_requirements requirements;
  shoal_frequency_set *frequency;
  shoal_axes axes;
  shoal_cluster_requirements required;
  shoal_requirement_checker checker;
  shoal_partition partition;
  shoal_error error;
} fixture;

static inline void succeeds(const fixture *f, shoal_status status) {
  if (status != SHOAL_OK) fail_msg("%s", f->error.message);
}

static inline void read_policy(fixture *f, const shape *s, const char *models) {
  shoal_text text = {0};
  shoal_text_add(&text, "shoal: 1\ndata: {missing: ['?']}\nattributes:\n");
  for (size_t q = 0; q < f->n_quasi; q++)
    shoal_text_print(&text, "  q%zu: {role: quasi, %s}\n", q,
                     s->kinds[q] == 't' ? "hierarchy: {tree: {a: {b: [v0, v1, v2], c: [v3]}, "
                                          "d: {e: [v4, v5], f: [v6, v7, v8]}}}"
                                        : "type: number");
  shoal_text_print(&text,
                   "  s: {role: sensitive, categories: [[v0], [v1, v3], [v2, v4, v5]]}\n"
                   "privacy: {k: %u, p: %u%s%s}\n",
                   (unsigned)f->k, (unsigned)f->p, *models ? ", models: " : "", models);
  succeeds(f,
           shoal_policy_parse(text.bytes, text.size_bytes, "policy", ".", &f->policy, &f->error));
  shoal_text_reset(&text);
}

static inline void draw_cell(shoal_text *text, const shape *s, size_t column,
                             shoal_random *random) {
  bool quasi = column < strlen(s->kinds);
  char kind = quasi ? s->kinds[column] : 's';
  uint32_t n = kind == 't' ? 9 : kind == 's' ? s->n_sensitive : s->n_values;
  uint32_t value = (uint32_t)shoal_random_below(random, n);
  if (kind == 'm' && shoal_random_below(random, 4) == 0) shoal_text_add(text, "?");
  else if (s->heavy && shoal_random_below(random, 2))
    shoal_text_add(text, quasi && kind != 't' ? "1" : "v1");
  else if (kind == 'n' || kind == 'm') shoal_text_print(text, "%u", value * value);
  else shoal_text_print(text, "v%u", value);
}

/* A cell of a table that is given. */
static inline void add_cell(shoal_text *text, const fixture *f, const shape *s, size_t row,
                            size_t column) {
  const char *at = s->cells;
  for (size_t i = 0; i < row * (f->n_quasi + 1) + column; i++) at = strchr(at, ' ') + 1;
  shoal_text_print(text, "%.*s", (int)strcspn(at, " "), at);
}

typedef struct cell_source {
  const fixture *f;
  const shape *s;
} cell_source;

static inline void write_any(shoal_text *text, const void *user, size_t column, size_t row,
                             shoal_random *random) {
  const cell_source *c = user;
  if (c->s->cells) add_cell(text, c->f, c->s, row, column);
  else draw_cell(text, c->s, column, random);
}

static inline void draw_table(fixture *f, const shape *s, shoal_random *random) {
  char names[MAX_AXES + 1][8];
  const char *pointers[MAX_AXES + 1];
  for (size_t c = 0; c <= f->n_quasi; c++) {
    (void)snprintf(names[c], sizeof names[c], c < f->n_quasi ? "q%zu" : "s", c);
    pointers[c] = names[c];
  }
  f->table = make_table(pointers, f->n_quasi + 1, f->n_rows, f->policy, write_any,
                        &(cell_source){f, s}, random);
}

static inline void setup(fixture *f, const shape *s, size_t n_rows, uint64_t k, uint64_t p,
                         const char *models, uint64_t seed) {
  memset(f, 0, sizeof *f);
  shoal_random random;
  shoal_random_seed(&random, seed);
  f->n_quasi = strlen(s->kinds);
  f->n_rows = n_rows;
  f->k = k;
  f->p = p;
  read_policy(f, s, models);
  draw_table(f, s, &random);
  const shoal_column *quasi[MAX_AXES];
  for (size_t q = 0; q < f->n_quasi; q++) {
    quasi[q] = &f->table->columns[q];
    const shoal_attribute *attribute = shoal_policy_attribute(f->policy, quasi[q]->name);
    shoal_hierarchy_options options = {.attribute = quasi[q]->name};
    if (attribute->has_hierarchy)
      succeeds(f, shoal_hierarchy_compile(&attribute->hierarchy, f->table, quasi[q], &options,
                                          &f->hierarchies[q], &f->error));
  }
  f->sensitive = (shoal_sensitive){.column = &f->table->columns[f->n_quasi],
                                   .attribute = shoal_policy_attribute(f->policy, "s")};
  f->tracked = (shoal_tracked){.sensitive = &f->sensitive,
                               .n_sensitive = 1,
                               .columns = f->tracked_columns,
                               .track = f->track};
  succeeds(f,
           shoal_requirements_bind(f->policy, f->table, &f->tracked, &f->requirements, &f->error));
  succeeds(f, shoal_frequency_set_build(f->table, quasi,
                                        (const shoal_hierarchy *const *)f->hierarchies, f->n_quasi,
                                        f->tracked.columns, f->tracked.track, f->tracked.n_columns,
                                        NULL, &f->frequency, &f->error));
  succeeds(f, shoal_axes_init(&f->axes, f->frequency, NULL, NULL, SHOAL_LOSS_HEIGHT, &f->error));
  succeeds(f, shoal_cluster_requirements_init(&f->required, &f->requirements, &f->tracked, f->table,
                                              SHOAL_WEIGHTS_GIVEN, &f->error));
  succeeds(f, shoal_requirement_checker_init(&f->checker, &f->required, &f->error));
}

static inline void teardown(fixture *f) {
  shoal_partition_reset(&f->partition);
  shoal_requirement_checker_reset(&f->checker);
  shoal_cluster_requirements_reset(&f->required);
  shoal_axes_reset(&f->axes);
  shoal_frequency_set_free(f->frequency);
  shoal_requirements_reset(&f->requirements);
  for (size_t q = 0; q < f->n_quasi; q++) shoal_hierarchy_free(f->hierarchies[q]);
  shoal_table_free(f->table);
  shoal_policy_free(f->policy);
}

/* ---------------------------------------------------------------- what a person would check */

/* The rows of a cluster; the caller frees them. */
static inline uint32_t *members(const fixture *f, uint32_t cluster_id, size_t *n) {
  uint32_t *rows = calloc(f->n_rows + 1, sizeof *rows);
  assert_non_null(rows);
  *n = 0;
  for (uint32_t r = 0; r < f->n_rows; r++)
    if (f->partition.cluster_of_row[r] == cluster_id) rows[(*n)++] = r;
  return rows;
}

static inline uint32_t position(const fixture *f, uint32_t row, size_t axis) {
  return shoal_axes_row(&f->axes, row)[axis];
}

/* k and p counted out here, the other demands by their own code. */
static inline bool satisfies(fixture *f, const uint32_t *rows, size_t n) {
  uint32_t distinct = 0;
  for (size_t i = 0; i < n; i++) {
    uint32_t value = shoal_column_code(f->sensitive.column, rows[i]);
    size_t before = 0;
    while (before < i && shoal_column_code(f->sensitive.column, rows[before]) != value) before++;
    distinct += before == i;
  }
  return n >= f->k && distinct >= f->p && shoal_requirement_checker_others(&f->checker, rows, n);
}

static inline void check_partition(fixture *f) {
  const shoal_partition *p = &f->partition;
  assert_in_range(p->n_clusters, 1, f->n_rows);
  size_t together = 0;
  for (uint32_t c = 0; c < p->n_clusters; c++) {
    size_t n;
    uint32_t *rows = members(f, c, &n);
    together += n;
    assert_true(n > 0);
    assert_true(p->n_clusters == 1 || satisfies(f, rows, n));
    free(rows);
  }
  assert_int_equal(together, f->n_rows); /* none has a cluster number that is too large */
}

#endif
