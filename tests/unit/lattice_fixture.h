/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Small tables typed in by hand, with their hierarchies and a k to search with: what the unit
 * tests of lattice searches use.
 */
#ifndef SHOAL_TESTS_LATTICE_FIXTURE_H
#define SHOAL_TESTS_LATTICE_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/text.h"
#include "lattice/objective.h"
#include "table/load.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define UNUSED __attribute__((unused))

enum { MAX_QUASI = 16 };

/* Every column is a quasi-identifier. */
typedef struct fixture {
  size_t n_quasi;
  shoal_table *table;
  shoal_arena arena; /* of the hierarchies' specs */
  shoal_hierarchy *hierarchies[MAX_QUASI];
  shoal_frequency_set *frequency;
  shoal_requirement requirement; /* k-anonymity */
  shoal_requirements requirements;
  shoal_search search;
  bool searching;
  shoal_error error;
} fixture;

static inline void succeeds(const fixture *f, shoal_status status) {
  if (status != SHOAL_OK) fail_msg("%s", f->error.message);
}

static inline void fill_table(fixture *f, const char *const *names, const char *const *cells,
                              size_t n_rows, const uint64_t *counts) {
  shoal_text texts[MAX_QUASI] = {{0}};
  uint64_t *offsets[MAX_QUASI];
  shoal_text_view views[MAX_QUASI];
  for (size_t q = 0; q < f->n_quasi; q++) {
    offsets[q] = calloc(n_rows + 1, sizeof **offsets);
    assert_non_null(offsets[q]);
    for (size_t r = 0; r < n_rows; r++) {
      shoal_text_add(&texts[q], cells[r * f->n_quasi + q]);
      offsets[q][r + 1] = texts[q].size_bytes;
    }
    views[q] = (shoal_text_view){texts[q].bytes, offsets[q]};
  }
  succeeds(f, shoal_table_new(names, f->n_quasi, &f->table, &f->error));
  succeeds(f, shoal_table_append(f->table, views, f->n_quasi, n_rows, counts, &f->error));
  succeeds(f, shoal_table_finalize(f->table, &(shoal_load_options){0}, &f->error));
  for (size_t q = 0; q < f->n_quasi; q++) {
    shoal_text_reset(&texts[q]);
    free(offsets[q]);
  }
}

/* Cells row by row; hierarchies as in a policy; counts of the rows, or NULL. */
static inline void setup(fixture *f, const char *const *names, const char *const *hierarchies,
                         size_t n_quasi, const char *const *cells, size_t n_rows,
                         const uint64_t *counts) {
  memset(f, 0, sizeof *f);
  assert_true(n_quasi <= MAX_QUASI);
  f->n_quasi = n_quasi;
  shoal_arena_init(&f->arena);
  fill_table(f, names, cells, n_rows, counts);
  const shoal_column *columns[MAX_QUASI];
  for (size_t q = 0; q < n_quasi; q++) {
    shoal_hierarchy_spec spec;
    shoal_hierarchy_options options = {.attribute = names[q]};
    columns[q] = &f->table->columns[q];
    succeeds(f, shoal_policy_parse_hierarchy(hierarchies[q], ".", &f->arena, &spec, &f->error));
    succeeds(f, shoal_hierarchy_compile(&spec, f->table, columns[q], &options, &f->hierarchies[q],
                                        &f->error));
  }
  succeeds(f, shoal_frequency_set_build(f->table, columns,
                                        (const shoal_hierarchy *const *)f->hierarchies, n_quasi,
                                        NULL, NULL, 0, NULL, &f->frequency, &f->error));
}

/* A search for k-anonymity; an earlier one ends. */
static inline void start_search(fixture *f, uint64_t k, uint64_t max_suppressed) {
  const shoal_model_type *const *type = shoal_model_types;
  while (strcmp((*type)->name, "k-anonymity") != 0) type++;
  if (f->searching) shoal_search_reset(&f->search);
  f->requirement = (shoal_requirement){.type = *type,
                                       .sensitive = SHOAL_NO_ATTRIBUTE,
                                       .guard = SHOAL_NO_ATTRIBUTE,
                                       .count = {k},
                                       .k = k};
  f->requirements = (shoal_requirements){
      .items = &f->requirement, .n_items = 1, .monotone = true, .k = k, .whole_k = k, .p = 1};
  succeeds(f, shoal_search_init(&f->search, f->frequency, &f->requirements, max_suppressed,
                                UINT64_MAX, true, NULL, &f->error));
  f->searching = true;
}

/* Runs an algorithm, which must not fail; *node is its node. Returns whether it found one. */
static inline bool runs(fixture *f, shoal_algorithm_run *run,
                        const shoal_algorithm_options *options, shoal_node *node) {
  shoal_solution solution;
  succeeds(f, run(&f->search, options, &solution, &f->error));
  *node = solution.node;
  return solution.found;
}

/* The cost of a node, from the classes of its tuples. */
static inline double cost_of(fixture *f, const shoal_objective *o, const shoal_level_costs *costs,
                             uint64_t number, shoal_node *node) {
  shoal_classes classes;
  uint8_t *violates;
  uint32_t *class_of_tuple, levels[MAX_QUASI];
  succeeds(f, shoal_search_evaluate(&f->search, number, node, &f->error));
  succeeds(
      f, shoal_search_classes(&f->search, number, &classes, &violates, &class_of_tuple, &f->error));
  shoal_space_levels(&f->search.space, number, levels);
  shoal_cost_view view = {.search = &f->search,
                          .levels_cost = costs,
                          .levels = levels,
                          .classes = &classes,
                          .violates = violates,
                          .node = node,
                          .class_of_tuple = class_of_tuple};
  double cost = o->cost(&view);
  shoal_classes_reset(&classes);
  free(violates);
  free(class_of_tuple);
  return cost;
}

static inline void teardown(fixture *f) {
  if (f->searching) shoal_search_reset(&f->search);
  shoal_frequency_set_free(f->frequency);
  for (size_t q = 0; q < f->n_quasi; q++) shoal_hierarchy_free(f->hierarchies[q]);
  shoal_table_free(f->table);
  shoal_arena_reset(&f->arena);
}

#endif
