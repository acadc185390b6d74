/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model/extended_p: every class has values of at least p protected subtrees (Campan & Truta 2006,
 * Definition 5). Protecting a node protects its subtree, and every leaf is protected. A value
 * counts as its strong ancestor, the highest protected node above it (docs/reading-the-papers.md
 * R8). Conditions 1 to 3 are those of p-sensitive, for strong ancestors.
 */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "model/value_groups.h"

/* The error for an unknown node, with the nearest label as advice. */
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

/* From the top down, the first protected label is the strong ancestor; else the value itself. */
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
  shoal_equality equality = shoal_policy_equality(policy, sensitive->attribute);
  for (uint32_t l = 0; l < tree->n_levels; l++) {
    size_t n = tree->levels[l].n_labels;
    protected_label[l] = shoal_alloc_zero(n, 1);
    group_of_label[l] = shoal_alloc(n, sizeof **group_of_label);
    if (!protected_label[l] || !group_of_label[l]) return shoal_fail_memory(error);
    memset(group_of_label[l], 0xff, n * sizeof **group_of_label);
  }
  for (size_t i = 0; i < sensitive->attribute->n_protect; i++) {
    const shoal_word *node = &sensitive->attribute->protect[i];
    bool found;
    if (!shoal_hierarchy_mark(tree, equality, node->text, protected_label, &found))
      return shoal_fail_memory(error);
    if (!found) return unknown_node(policy, sensitive, node, error);
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

static shoal_status prepare(shoal_requirement *requirement, const shoal_model_context *context,
                            shoal_error *error) {
  if (!context->sensitive->hierarchy)
    return shoal_lacks(requirement, context,
                       "a 'hierarchy', such as {tree: {Cancer: [Lung, Colon], Other: [Flu]}}",
                       error);
  shoal_value_groups *self = shoal_alloc_zero(1, sizeof *self);
  if (!self) return shoal_fail_memory(error);
  requirement->own = self;
  SHOAL_TRY(shoal_strong_ancestors(context->policy, context->sensitive, &self->group_of,
                                   &self->n_groups, error));
  return shoal_value_frequencies_groups(context->table, context->sensitive->column, self->group_of,
                                        self->n_groups, &self->frequencies, error);
}

const shoal_model_type shoal_model_extended_p_sensitive = {
    .name = "extended-p-sensitive",
    .parameters_help = "p, attribute; the attribute's hierarchy and protect",
    .summary = "each class has values of at least p protected subtrees",
    .parameters = shoal_parameter_p,
    .needs = SHOAL_NEEDS_VALUES,
    .on_attribute = true,
    .is_p = true,
    .monotone = shoal_is_monotone,
    .prepare = prepare,
    .release = shoal_value_groups_release,
    .holds = shoal_value_groups_hold,
    .reached = shoal_value_groups_reached,
    .required = shoal_required_count,
    .min_distinct = shoal_min_distinct_count,
    .groups = shoal_value_groups_frequencies,
    .group_noun = "strong ancestor",
    .group_nouns = "strong ancestors",
    .distinct = shoal_value_groups_distinct,
};
