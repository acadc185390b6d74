/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random tables for flock: any number of quasi-identifiers and up to three sensitive attributes
 * with hierarchies, categories and missing values, under any models, with all that clustering needs
 * of them.
 */
#ifndef SHOAL_TESTS_FLOCK_FIXTURE_H
#define SHOAL_TESTS_FLOCK_FIXTURE_H

#include "cluster_table.h"

enum { MAX_AXES = 80, MAX_SENSITIVE = 3, MAX_COLUMNS = MAX_AXES + MAX_SENSITIVE + 1 };

/* ---------------------------------------------------------------- tables */

#define TREE "{a: {b: [v0, v1, v2], c: [v3]}, d: {e: [v4, v5], f: [v6, v7, v8]}}"
#define PADDED                                                                                     \
  "{a: {a: [v0, v1]}, d: {e: [v2, v3], d2: [v4]}, v5: {v5: [v5]}, g: {h: [v6, v7, v8]}}"

/*
 * Quasi-identifiers: n a number, m one with missing values, t and u trees (u: padded), w a tree
 * with missing values. Then sensitive attributes, and a guard column behind them.
 */
typedef struct shape {
  size_t n_rows;
  char kinds[MAX_AXES + 1];
  uint64_t n_values; /* of numbers */
  size_t n_sensitive;
  uint64_t n_sensitive_values;
  bool heavy;  /* half of the cells have one value */
  bool skewed; /* sensitive values: the first ones are frequent */
  bool gaps;   /* some sensitive values are missing */
  bool tied;   /* the first sensitive value follows from the first quasi-identifier */
  uint64_t k, p;
  const char *models; /* "" or a list of more */
} shape;

typedef struct fixture {
  const shape *s;
  size_t n_quasi, n_rows;
  shoal_table *table;
  shoal_policy *policy;
  shoal_hierarchy *hierarchies[MAX_COLUMNS];
  shoal_sensitive sensitive[MAX_SENSITIVE];
  shoal_tracked tracked;
  const shoal_column *tracked_columns[2 * MAX_COLUMNS];
  shoal_track track[2 * MAX_COLUMNS];
  shoal_requirements requirements;
  shoal_frequency_set *frequency;
  shoal_axes axes;
  shoal_cluster_requirements required;
  shoal_requirement_checker checker;
  shoal_error error;
} fixture;

static inline void succeeds(const fixture *f, shoal_status status) {
  if (status != SHOAL_OK) fail_msg("%s", f->error.message);
}

static inline uint32_t below(shoal_random *random, uint64_t bound) {
  return (uint32_t)shoal_random_below(random, bound);
}

static inline void read_policy(fixture *f) {
  const shape *s = f->s;
  shoal_text text = {0};
  shoal_text_add(&text, "shoal: 1\ndata: {missing: ['?']}\nattributes:\n");
  for (size_t q = 0; q < f->n_quasi; q++)
    shoal_text_print(&text, "  q%zu: {role: quasi, %s}\n", q,
                     s->kinds[q] == 'u'                         ? "hierarchy: {tree: " PADDED "}"
                     : s->kinds[q] == 't' || s->kinds[q] == 'w' ? "hierarchy: {tree: " TREE "}"
                                                                : "type: number");
  for (size_t i = 0; i < s->n_sensitive; i++)
    shoal_text_print(&text,
                     "  s%zu: {role: sensitive, hierarchy: {tree: " TREE "}, protect: [b, e], "
                     "categories: [[v0, v3], [v1, v4, v5], [v2, v6, v7, v8]]}\n",
                     i);
  shoal_text_print(&text, "  g: {role: keep}\nprivacy: {k: %u", (unsigned)s->k);
  if (s->p) shoal_text_print(&text, ", p: %u", (unsigned)s->p);
  shoal_text_print(&text, "%s%s}\n", *s->models ? ", models: " : "", s->models);
  succeeds(f,
           shoal_policy_parse(text.bytes, text.size_bytes, "policy", ".", &f->policy, &f->error));
  shoal_text_reset(&text);
}

static inline void draw_quasi(shoal_text *text, const shape *s, char kind, shoal_random *random) {
  bool tree = kind == 't' || kind == 'u' || kind == 'w';
  uint32_t value = below(random, tree ? 9 : s->n_values);
  if ((kind == 'm' || kind == 'w') && below(random, 5) == 0) shoal_text_add(text, "?");
  else if (s->heavy && below(random, 2)) shoal_text_add(text, tree ? "v1" : "1");
  else if (tree) shoal_text_print(text, "v%u", value);
  else shoal_text_print(text, value % 3 ? "%u" : "%u.0", value); /* one number, two texts */
}

static inline void draw_sensitive(shoal_text *text, const shape *s, shoal_random *random) {
  uint32_t value = below(random, s->n_sensitive_values);
  if (s->skewed && value) value = below(random, value);
  if (s->gaps && below(random, 6) == 0) shoal_text_add(text, "?");
  else shoal_text_print(text, "v%u", value);
}

static inline void draw_cell(shoal_text *text, const void *user, size_t column, size_t row,
                             shoal_random *random) {
  const fixture *f = user;
  static const char *const guards[] = {"?", "a", "b", "e", "v3"};
  const shape *s = f->s;
  if (s->tied && column == 0) shoal_text_print(text, "%zu", row);
  else if (s->tied && column == f->n_quasi)
    shoal_text_print(text, "v%zu", row * s->n_sensitive_values / s->n_rows);
  else if (column < f->n_quasi) draw_quasi(text, s, s->kinds[column], random);
  else if (column < f->n_quasi + s->n_sensitive) draw_sensitive(text, s, random);
  else shoal_text_add(text, guards[below(random, COUNT(guards))]);
}

static inline void draw_table(fixture *f, shoal_random *random) {
  size_t n_columns = f->n_quasi + f->s->n_sensitive + 1;
  char names[MAX_COLUMNS][16];
  const char *pointers[MAX_COLUMNS];
  for (size_t c = 0; c < n_columns; c++) {
    size_t sensitive = c - f->n_quasi;
    if (c + 1 == n_columns) (void)snprintf(names[c], sizeof names[c], "g");
    else if (c < f->n_quasi) (void)snprintf(names[c], sizeof names[c], "q%u", (unsigned)c);
    else (void)snprintf(names[c], sizeof names[c], "s%u", (unsigned)sensitive);
    pointers[c] = names[c];
  }
  f->table = make_table(pointers, n_columns, f->n_rows, f->policy, draw_cell, f, random);
}

static inline void compile_hierarchies(fixture *f) {
  for (size_t c = 0; c < f->n_quasi + f->s->n_sensitive; c++) {
    const shoal_column *column = &f->table->columns[c];
    const shoal_attribute *attribute = shoal_policy_attribute(f->policy, column->name);
    const shoal_hierarchy_options options = {.attribute = column->name};
    if (attribute->has_hierarchy)
      succeeds(f, shoal_hierarchy_compile(&attribute->hierarchy, f->table, column, &options,
                                          &f->hierarchies[c], &f->error));
    if (c >= f->n_quasi)
      f->sensitive[c - f->n_quasi] = (shoal_sensitive){
          .column = column, .attribute = attribute, .hierarchy = f->hierarchies[c]};
  }
}

static inline void setup_weighted(fixture *f, const shape *s, const shoal_decimal *weights,
                                  shoal_loss_kind kind, uint64_t seed) {
  const shoal_column *quasi[MAX_AXES];
  shoal_random random;
  shoal_random_seed(&random, seed);
  *f = (fixture){.s = s, .n_quasi = strlen(s->kinds), .n_rows = s->n_rows};
  read_policy(f);
  draw_table(f, &random);
  compile_hierarchies(f);
  for (size_t q = 0; q < f->n_quasi; q++) quasi[q] = &f->table->columns[q];
  f->tracked = (shoal_tracked){.sensitive = f->sensitive,
                               .n_sensitive = s->n_sensitive,
                               .columns = f->tracked_columns,
                               .track = f->track};
  succeeds(f,
           shoal_requirements_bind(f->policy, f->table, &f->tracked, &f->requirements, &f->error));
  succeeds(f, shoal_frequency_set_build(f->table, quasi,
                                        (const shoal_hierarchy *const *)f->hierarchies, f->n_quasi,
                                        f->tracked.columns, f->tracked.track, f->tracked.n_columns,
                                        NULL, &f->frequency, &f->error));
  succeeds(f, shoal_axes_init(&f->axes, f->frequency, NULL, weights, kind, &f->error));
  succeeds(f, shoal_cluster_requirements_init(&f->required, &f->requirements, &f->tracked, f->table,
                                              SHOAL_WEIGHTS_GIVEN, &f->error));
  succeeds(f, shoal_requirement_checker_init(&f->checker, &f->required, &f->error));
}

static inline void setup(fixture *f, const shape *s, uint64_t seed) {
  setup_weighted(f, s, NULL, SHOAL_LOSS_HEIGHT, seed);
}

static inline void teardown(fixture *f) {
  shoal_requirement_checker_reset(&f->checker);
  shoal_cluster_requirements_reset(&f->required);
  shoal_axes_reset(&f->axes);
  shoal_frequency_set_free(f->frequency);
  shoal_requirements_reset(&f->requirements);
  for (size_t c = 0; c < MAX_COLUMNS; c++) shoal_hierarchy_free(f->hierarchies[c]);
  shoal_table_free(f->table);
  shoal_policy_free(f->policy);
}

static inline shape draw_shape(shoal_random *random, size_t max_rows) {
  static const uint64_t values[] = {2, 10, 60, 100000, 4000000000};
  shape s = {.n_rows = 1 + below(random, max_rows), .models = ""};
  size_t n_axes = 1 + below(random, 4);
  for (size_t q = 0; q < n_axes; q++) s.kinds[q] = "nmtuw"[below(random, 5)];
  s.n_values = values[below(random, COUNT(values))];
  s.n_sensitive = 1 + below(random, MAX_SENSITIVE);
  s.n_sensitive_values = 2 + below(random, 7);
  s.heavy = below(random, 3) == 0;
  s.skewed = below(random, 2);
  s.gaps = below(random, 3) == 0;
  s.k = 1 + below(random, s.n_rows < 8 ? s.n_rows : 8);
  s.p = below(random, 4) ? 1 + below(random, 5) : 0;
  return s;
}

#endif
