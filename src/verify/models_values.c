/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verify/models_values: the models that look at what a value means: the protected part of the
 * tree it belongs to, or its category. Part of the last step of a release's way back (models.c).
 *
 * Each value belongs to one group (its strong ancestor, or its category), and what counts in a
 * class are the groups present and their rows. Extended p-sensitive: Campan & Truta 2006;
 * p+-sensitive and (p,alpha)-sensitive: Sun, Wang, Li & Truta 2008.
 */
#include <stdlib.h>
#include <string.h>

#include "verify/tree.h"

typedef struct grouping {
  uint32_t *group_of; /* by known value */
  uint64_t *rows;     /* by group, of the class at hand; zeros between two classes */
} grouping;

/* The groups present in a class. */
typedef struct class_groups {
  size_t n_groups;
  uint64_t least_rows;
  uint64_t most_rows;
} class_groups;

/* False: no memory; reset in either case. */
static bool grouping_init(grouping *groups, size_t n_values, size_t n_groups) {
  groups->group_of = shoal_alloc(n_values, sizeof *groups->group_of);
  groups->rows = shoal_alloc_zero(n_groups, sizeof *groups->rows);
  return groups->group_of && groups->rows;
}

static void grouping_reset(grouping *groups) {
  free(groups->group_of);
  free(groups->rows);
}

static class_groups group_class(grouping *groups, const shoal_verify_count *counts,
                                size_t n_counts) {
  class_groups found = {.least_rows = UINT64_MAX};
  for (size_t i = 0; i < n_counts; i++)
    groups->rows[groups->group_of[counts[i].value]] += counts[i].n_rows;
  for (size_t i = 0; i < n_counts; i++) {
    uint64_t *rows = &groups->rows[groups->group_of[counts[i].value]];
    if (!*rows) continue; /* another value of the group came before */
    found.n_groups++;
    if (*rows < found.least_rows) found.least_rows = *rows;
    if (*rows > found.most_rows) found.most_rows = *rows;
    *rows = 0;
  }
  return found;
}

/* ---------------------------------------------------------------- strong ancestors */

/* Marks the labels of the protected nodes; NULL: no memory. To be freed. */
static bool *mark_protected(const shoal_verify_knowledge *known, shoal_verify_tree *tree) {
  for (size_t i = 0; i < known->n_protect; i++)
    if (shoal_verify_label(tree, known->protect[i], strlen(known->protect[i])) == UINT32_MAX)
      return NULL;
  bool *marked = shoal_alloc_zero(tree->labels.n_entries, sizeof *marked);
  for (size_t i = 0; marked && i < known->n_protect; i++) /* all have a number by now */
    marked[shoal_verify_label(tree, known->protect[i], strlen(known->protect[i]))] = true;
  return marked;
}

/* A value's topmost protected ancestor or itself; the value's own node if there is none. */
static uint32_t strong_ancestor(const shoal_verify_tree *tree, const bool *marked, uint32_t value) {
  uint32_t strong = value;
  for (uint32_t node = value; node != SHOAL_VERIFY_NO_NODE;
       node = shoal_verify_parent_of(tree, node))
    if (marked[shoal_verify_label_of(tree, node)]) strong = node;
  return strong;
}

static shoal_status group_by_ancestor(const shoal_verify_task *task, shoal_verify_tree *tree,
                                      grouping *groups, shoal_error *error) {
  SHOAL_TRY(shoal_verify_tree_build(task, tree, error));
  const shoal_verify_knowledge *known = task->attribute->known;
  bool *marked = mark_protected(known, tree);
  bool ready = marked && grouping_init(groups, known->n_values, tree->nodes.n_ids);
  for (size_t v = 0; ready && v < known->n_values; v++)
    groups->group_of[v] = strong_ancestor(tree, marked, tree->node_of[v]);
  free(marked);
  return ready ? SHOAL_OK : shoal_fail_memory(error);
}

static void count_ancestors(const shoal_verify_task *task, uint64_t p, grouping *groups,
                            shoal_verify_damage *damage) {
  for (size_t c = 0; c < task->tally->n_classes; c++) {
    size_t n_counts;
    const shoal_verify_count *counts = shoal_verify_counts_of(task->attribute, c, &n_counts);
    /* Without a grouping every value is its own group. */
    size_t distinct = groups ? group_class(groups, counts, n_counts).n_groups : n_counts;
    if (distinct < p) shoal_verify_add_damage(damage, task, c);
  }
}

/* Every class has values of at least p different strong ancestors. */
shoal_status shoal_verify_extended_p_sensitive(const shoal_verify_task *task,
                                               shoal_verify_damage *damage, shoal_error *error) {
  uint64_t p;
  SHOAL_TRY(shoal_verify_find_whole(task, "p", &p, error));
  SHOAL_TRY(shoal_verify_need_knowledge(task, error));
  if (!task->attribute->known->n_protect) {
    count_ancestors(task, p, NULL, damage);
    return SHOAL_OK;
  }
  grouping groups = {0};
  shoal_verify_tree tree = {0};
  shoal_status status = group_by_ancestor(task, &tree, &groups, error);
  if (status == SHOAL_OK) count_ancestors(task, p, &groups, damage);
  grouping_reset(&groups);
  shoal_verify_tree_reset(&tree);
  return status;
}

/* ---------------------------------------------------------------- categories */

/* What a model on categories asks of each class. */
typedef struct category_rule {
  bool weighted; /* p distinct values whose weights reach alpha, not p distinct categories */
  bool balanced; /* the rows of the categories present differ by at most one */
  uint64_t p;
  shoal_verify_fraction alpha;
} category_rule;

/* Each category is known, and fits a value's group. */
static shoal_status group_by_category(const shoal_verify_task *task, grouping *groups,
                                      shoal_error *error) {
  SHOAL_TRY(shoal_verify_need_values(task, error));
  const shoal_verify_knowledge *known = task->attribute->known;
  if (known->n_categories > UINT32_MAX) return shoal_verify_too_large(task, error);
  if (!grouping_init(groups, known->n_values, known->n_categories)) return shoal_fail_memory(error);
  for (size_t v = 0; v < known->n_values; v++) {
    int64_t category = known->values[v].category;
    if (category < 0 || (uint64_t)category >= known->n_categories)
      return shoal_verify_unprovable(task, "a value's category is not known of",
                                     task->attribute->name, error);
    groups->group_of[v] = (uint32_t)category;
  }
  return SHOAL_OK;
}

/*
 * Do the weights of the class's distinct values add up to alpha? Category number i of m weighs
 * i / (m - 1), so the sum of the numbers is compared with alpha times m - 1; a single category
 * weighs 0. Numbers are below 2^32, and so are values: their sum has 64 bits.
 */
static bool reaches_alpha(const grouping *groups, size_t n_categories,
                          const shoal_verify_count *counts, size_t n_counts,
                          shoal_verify_fraction alpha) {
  uint64_t sum = 0;
  for (size_t i = 0; i < n_counts; i++) sum += groups->group_of[counts[i].value];
  return shoal_verify_compare_counts(sum, n_categories > 1 ? n_categories - 1 : 1, alpha) >= 0;
}

static void count_categories(const shoal_verify_task *task, const category_rule *rule,
                             grouping *groups, shoal_verify_damage *damage) {
  size_t n_categories = task->attribute->known->n_categories;
  for (size_t c = 0; c < task->tally->n_classes; c++) {
    size_t n_counts;
    const shoal_verify_count *counts = shoal_verify_counts_of(task->attribute, c, &n_counts);
    class_groups found = group_class(groups, counts, n_counts);
    bool holds = (rule->weighted ? n_counts : found.n_groups) >= rule->p;
    if (rule->weighted && holds)
      holds = reaches_alpha(groups, n_categories, counts, n_counts, rule->alpha);
    if (rule->balanced && found.n_groups && found.most_rows - found.least_rows > 1) holds = false;
    if (!holds) shoal_verify_add_damage(damage, task, c);
  }
}

static shoal_status prove_categories(const shoal_verify_task *task, category_rule rule,
                                     shoal_verify_damage *damage, shoal_error *error) {
  SHOAL_TRY(shoal_verify_find_whole(task, "p", &rule.p, error));
  if (rule.weighted)
    SHOAL_TRY(
        shoal_verify_find_fraction(task, "alpha", SHOAL_VERIFY_FROM_ZERO, &rule.alpha, error));
  grouping groups = {0};
  shoal_status status = group_by_category(task, &groups, error);
  if (status == SHOAL_OK) count_categories(task, &rule, &groups, damage);
  grouping_reset(&groups);
  return status;
}

/* Every class has values of at least p different categories. */
shoal_status shoal_verify_p_plus_sensitive(const shoal_verify_task *task,
                                           shoal_verify_damage *damage, shoal_error *error) {
  return prove_categories(task, (category_rule){.weighted = false}, damage, error);
}

/* Every class has at least p distinct values, and their weights add up to at least alpha. */
shoal_status shoal_verify_p_alpha_sensitive(const shoal_verify_task *task,
                                            shoal_verify_damage *damage, shoal_error *error) {
  return prove_categories(task, (category_rule){.weighted = true}, damage, error);
}

/* p-plus, and the categories present have the same number of rows, or one more or less. */
shoal_status shoal_verify_balanced_p_plus(const shoal_verify_task *task,
                                          shoal_verify_damage *damage, shoal_error *error) {
  return prove_categories(task, (category_rule){.balanced = true}, damage, error);
}

/* p-alpha, and the same. */
shoal_status shoal_verify_balanced_p_alpha(const shoal_verify_task *task,
                                           shoal_verify_damage *damage, shoal_error *error) {
  return prove_categories(task, (category_rule){.weighted = true, .balanced = true}, damage, error);
}
