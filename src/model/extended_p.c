/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model/extended_p: every class has values of at least p protected subtrees (Campan & Truta 2006,
 * Definition 5). Protecting a node protects its whole subtree and every leaf is protected: a value
 * counts as its strong ancestor, the highest protected node above it (docs/reading-the-papers.md
 * R8). The conditions 1-3 are those of p-sensitive, on strong ancestors.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "model/types.h"

typedef struct subtrees {
  uint32_t *group_of; /* by value */
  uint32_t n_groups;
  shoal_spread spread; /* of the groups */
} subtrees;

static void release(void *own) {
  subtrees *self = own;
  if (!self) return;
  free(self->group_of);
  free(self->spread.descending);
  free(self);
}

/* Names of all labels, for the nearest-word advice. */
static shoal_status unknown_node(const shoal_policy *policy, const shoal_sensitive *sensitive,
                                 const shoal_word *node, shoal_error *error) {
  const shoal_hierarchy *tree = sensitive->hierarchy;
  shoal_arena arena;
  shoal_arena_init(&arena);
  size_t n = 0, capacity = 0;
  const char **names = NULL;
  bool ok = shoal_grow(&names, &capacity, 1, sizeof *names);
  for (uint32_t l = 1; ok && l < tree->n_levels; l++) {
    for (uint32_t t = 0; ok && t < tree->levels[l].n_labels; t++) {
      size_t size;
      const char *label = shoal_level_label(&tree->levels[l], t, &size);
      ok = shoal_grow(&names, &capacity, n + 2, sizeof *names) &&
           (names[n++] = shoal_arena_copy(&arena, label, size));
    }
  }
  shoal_status status = shoal_fail_memory(error);
  if (ok) {
    names[n] = NULL;
    const char *near = shoal_nearest_word(node->text, names);
    status = shoal_policy_fail(policy, node->mark, error,
                               "protect: the hierarchy of '%s' has no node '%.60s'%s%s%s",
                               sensitive->column->name, node->text, near ? "; did you mean '" : "",
                               near ? near : ": name one of its labels", near ? "'?" : "");
  }
  free(names);
  shoal_arena_reset(&arena);
  return status;
}

static bool label_is(const shoal_level *level, uint32_t label, const char *name) {
  size_t size;
  const char *bytes = shoal_level_label(level, label, &size);
  return size == strlen(name) && memcmp(bytes, name, size) == 0;
}

/* Marks every label of that name, on whatever level; false if there is none. */
static bool mark_protected(const shoal_hierarchy *tree, uint8_t *const *protected_label,
                           const char *name) {
  bool found = false;
  for (uint32_t l = 0; l < tree->n_levels; l++) {
    for (uint32_t t = 0; t < tree->levels[l].n_labels; t++) {
      if (!label_is(&tree->levels[l], t, name)) continue;
      protected_label[l][t] = 1;
      found = true;
    }
  }
  return found;
}

/* From the top down: the first protected label is the strong ancestor; else the value itself. */
static void group_values(const shoal_hierarchy *tree, uint8_t *const *protected_label,
                         uint32_t *group_of, uint32_t *n_groups, uint32_t **group_of_label) {
  *n_groups = 0;
  for (uint32_t v = 0; v < tree->n_values; v++) {
    uint32_t l = tree->n_levels - 1;
    while (l > 0 && !protected_label[l][tree->levels[l].of_leaf[v]]) l--;
    uint32_t *group = &group_of_label[l][tree->levels[l].of_leaf[v]];
    if (*group == UINT32_MAX) *group = (*n_groups)++;
    group_of[v] = *group;
  }
}

static shoal_status find_subtrees(const shoal_policy *policy, const shoal_sensitive *sensitive,
                                  uint8_t **protected_label, uint32_t **group_of_label,
                                  uint32_t *group_of, uint32_t *n_groups, shoal_error *error) {
  const shoal_hierarchy *tree = sensitive->hierarchy;
  for (uint32_t l = 0; l < tree->n_levels; l++) {
    size_t n = tree->levels[l].n_labels;
    protected_label[l] = shoal_alloc_zero(n, 1);
    group_of_label[l] = shoal_alloc(n, sizeof **group_of_label);
    if (!protected_label[l] || !group_of_label[l]) return shoal_fail_memory(error);
    memset(group_of_label[l], 0xff, n * sizeof **group_of_label);
  }
  for (size_t i = 0; i < sensitive->attribute->n_protect; i++) {
    const shoal_word *node = &sensitive->attribute->protect[i];
    if (!mark_protected(tree, protected_label, node->text))
      return unknown_node(policy, sensitive, node, error);
  }
  group_values(tree, protected_label, group_of, n_groups, group_of_label);
  return SHOAL_OK;
}

shoal_status shoal_strong_ancestors(const shoal_policy *policy, const shoal_sensitive *sensitive,
                                    uint32_t **group_of, uint32_t *n_groups, shoal_error *error) {
  const shoal_hierarchy *tree = sensitive->hierarchy;
  uint8_t **protected_label = shoal_alloc_zero(tree->n_levels, sizeof *protected_label);
  uint32_t **group_of_label = shoal_alloc_zero(tree->n_levels, sizeof *group_of_label);
  *group_of = shoal_alloc(sensitive->column->n_values, sizeof **group_of);
  shoal_status status = protected_label && group_of_label && *group_of
                            ? find_subtrees(policy, sensitive, protected_label, group_of_label,
                                            *group_of, n_groups, error)
                            : shoal_fail_memory(error);
  for (uint32_t l = 0; l < tree->n_levels; l++) {
    if (protected_label) free(protected_label[l]);
    if (group_of_label) free(group_of_label[l]);
  }
  free(protected_label);
  free(group_of_label);
  if (status != SHOAL_OK) {
    free(*group_of);
    *group_of = NULL;
  }
  return status;
}

static shoal_status prepare(shoal_demand *demand, const shoal_model_context *context,
                            shoal_error *error) {
  if (!context->sensitive->hierarchy)
    return shoal_lacks(demand, context, "a tree: give the attribute a 'hierarchy'", error);
  subtrees *self = shoal_alloc_zero(1, sizeof *self);
  if (!self) return shoal_fail_memory(error);
  demand->own = self;
  SHOAL_TRY(shoal_strong_ancestors(context->policy, context->sensitive, &self->group_of,
                                   &self->n_groups, error));
  return shoal_spread_groups(context->table, context->sensitive->column, self->group_of,
                             self->n_groups, &self->spread, error);
}

/* Distinct strong ancestors; stops at `enough`. */
static uint64_t count_groups(const shoal_demand *demand, const shoal_value_view *view,
                             uint64_t enough) {
  const subtrees *self = demand->own;
  uint64_t seen_bits = 0, distinct = 0;
  size_t at = 0;
  uint32_t value;
  uint64_t n_rows;
  uint8_t *seen = self->n_groups > 64 ? shoal_alloc_zero(self->n_groups, 1) : NULL;
  if (shoal_demand_failed(demand, self->n_groups > 64 && !seen)) return 0; /* nothing is proven */
  while (distinct < enough && shoal_view_next(view, &at, &value, &n_rows)) {
    uint32_t group = self->group_of[value];
    bool known = seen ? seen[group] : seen_bits >> group & 1;
    if (known) continue;
    if (seen) seen[group] = 1;
    else seen_bits |= UINT64_C(1) << group;
    distinct++;
  }
  free(seen);
  return distinct;
}

static bool holds(const shoal_demand *demand, const shoal_class_view *view) {
  return count_groups(demand, &view->values, demand->count[0]) >= demand->count[0];
}

static double reached(const shoal_demand *demand, const shoal_class_view *view) {
  return (double)count_groups(demand, &view->values, UINT64_MAX);
}

static uint64_t most_classes(const shoal_demand *demand, const shoal_spread *spread) {
  (void)spread;
  const subtrees *self = demand->own;
  return shoal_spread_max_groups(&self->spread, demand->count[0]);
}

static const shoal_spread *groups(const shoal_demand *demand) {
  return &((const subtrees *)demand->own)->spread;
}

static bool distinct(const shoal_demand *demand, shoal_distinct *out) {
  const subtrees *self = demand->own;
  *out = (shoal_distinct){demand->count[0], self->group_of, self->n_groups};
  return true;
}

static void explain(const shoal_demand *demand, const shoal_spread *spread, const char *attribute,
                    char *out, size_t capacity) {
  (void)spread;
  const subtrees *self = demand->own;
  (void)snprintf(out, capacity,
                 "p is %llu, but the values of '%s' fall into only %zu protected subtree%s "
                 "(second necessary condition): lower p, or protect fewer nodes",
                 (unsigned long long)demand->count[0], attribute, self->spread.n_distinct,
                 self->spread.n_distinct == 1 ? "" : "s");
}

static const shoal_parameter parameters[] = {
    {.name = "p", .kind = SHOAL_PARAMETER_COUNT, .default_key = "p"},
    {.name = NULL},
};

const shoal_model_type shoal_model_extended_p_sensitive = {
    .name = "extended-p-sensitive",
    .parameters_help = "p, attribute; the attribute's hierarchy and protect",
    .summary = "each class has values of at least p protected subtrees",
    .parameters = parameters,
    .needs = SHOAL_NEEDS_VALUES,
    .on_attribute = true,
    .is_p = true,
    .monotone = shoal_is_monotone,
    .prepare = prepare,
    .release = release,
    .holds = holds,
    .reached = reached,
    .required = shoal_required_count,
    .most_classes = most_classes,
    .groups = groups,
    .distinct = distinct,
    .explain = explain,
};
