/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verify/models_values: the models that depend on what a value means: its ancestors in the
 * attribute's tree, or its category. Part of the last step of verification (models.c).
 *
 * extended-p-sensitive (Campan & Truta 2006), p-plus-sensitive and p-alpha-sensitive (Sun, Wang, Li
 * & Truta 2008): each value belongs to one group, its strong ancestor or its category; the models
 * are on the groups present in a class and their rows.
 *
 * personalized (Xiao & Tao 2006): each row has a guarding node, a label of the tree, read from a
 * separate file. A row is below a label if its value is the label or has it as an ancestor. If a
 * label occurs at several nodes, all of them are guarded. A label that is neither a known value nor
 * an ancestor of one guards no row.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "verify/fold.h"
#include "verify/models.h"

/* ---------------------------------------------------------------- the tree */

/* The label's number; UINT32_MAX: no memory. */
static uint32_t label_number(shoal_verify_tree *tree, const char *bytes, size_t size_bytes) {
  if (!shoal_verify_fold_none(tree->fold)) {
    if (!shoal_verify_fold_key(tree->fold, bytes, size_bytes, &tree->key)) return UINT32_MAX;
    bytes = tree->key.bytes;
    size_bytes = tree->key.size_bytes;
  }
  uint64_t hash = shoal_hash_bytes(bytes, size_bytes);
  const shoal_verify_entry *entry = shoal_verify_intern(&tree->labels, hash, bytes, size_bytes);
  return entry ? entry->id : UINT32_MAX;
}

static uint32_t label_of_node(const shoal_verify_tree *tree, uint32_t node) {
  return (uint32_t)tree->nodes.of_id[node];
}

/* Steps from *node to its child with this label; a repeated label is the same node. False: no
 * memory. */
static bool step_down(shoal_verify_tree *tree, const char *text, uint32_t *node) {
  uint32_t label = label_number(tree, text, strlen(text));
  if (label == UINT32_MAX) return false;
  if (*node != SHOAL_VERIFY_NO_NODE && label == label_of_node(tree, *node)) return true;
  uint32_t parent = *node;
  *node = shoal_ids_insert(&tree->nodes, (uint64_t)parent << 32 | label);
  assert(*node == SHOAL_NONE || parent == SHOAL_VERIFY_NO_NODE || parent < *node);
  return *node != SHOAL_NONE;
}

shoal_status shoal_verify_tree_build(const shoal_verify_task *task, shoal_verify_tree *tree,
                                     shoal_error *error) {
  SHOAL_TRY(shoal_verify_need_values(task, error));
  const shoal_verify_knowledge *known = task->attribute->known;
  size_t n_leaves = known->n_values + known->n_missing;
  tree->fold = task->attribute->fold;
  tree->node_of = shoal_alloc(n_leaves, sizeof *tree->node_of);
  if (!tree->node_of || !shoal_verify_dictionary_init(&tree->labels) ||
      !shoal_ids_init(&tree->nodes, n_leaves))
    return shoal_fail_memory(error);
  for (size_t v = 0; v < n_leaves; v++) {
    if (!known->values[v].path)
      return shoal_verify_unprovable(task, "the request lacks a value's path to the root, of",
                                     task->attribute->name, error);
    const shoal_verify_value *value = &known->values[v];
    uint32_t *node = &tree->node_of[v];
    size_t n_above = 0;
    while (value->path[n_above]) n_above++;
    *node = SHOAL_VERIFY_NO_NODE;
    while (n_above > 0)
      if (!step_down(tree, value->path[--n_above], node)) return shoal_fail_memory(error);
    if (!step_down(tree, value->value, node)) return shoal_fail_memory(error);
  }
  tree->heights = shoal_alloc_zero(tree->nodes.n_ids, sizeof *tree->heights);
  if (!tree->heights) return shoal_fail_memory(error);
  /* Parents have smaller numbers than their children, so one pass from the last node suffices. */
  for (uint32_t node = tree->nodes.n_ids; node-- > 0;) {
    uint32_t parent = shoal_verify_parent_of(tree, node);
    if (parent == SHOAL_VERIFY_NO_NODE) tree->n_roots++;
    else if (tree->heights[parent] <= tree->heights[node])
      tree->heights[parent] = tree->heights[node] + 1;
  }
  return SHOAL_OK;
}

void shoal_verify_tree_reset(shoal_verify_tree *tree) {
  shoal_verify_dictionary_reset(&tree->labels);
  shoal_ids_reset(&tree->nodes);
  shoal_text_reset(&tree->key);
  free(tree->node_of);
  free(tree->heights);
}

/* ---------------------------------------------------------------- groups of values */

typedef struct grouping {
  uint32_t *group_of; /* by known value */
  uint64_t *rows;     /* by group, of the current class; zero between two classes */
} grouping;

/* The groups present in a class. */
typedef struct class_groups {
  size_t n_groups;
  uint64_t min_rows;
  uint64_t max_rows;
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
  class_groups found = {.min_rows = UINT64_MAX};
  for (size_t i = 0; i < n_counts; i++)
    groups->rows[groups->group_of[counts[i].value]] += counts[i].n_rows;
  for (size_t i = 0; i < n_counts; i++) {
    uint64_t *rows = &groups->rows[groups->group_of[counts[i].value]];
    if (!*rows) continue; /* counted with another value of the group */
    found.n_groups++;
    if (*rows < found.min_rows) found.min_rows = *rows;
    if (*rows > found.max_rows) found.max_rows = *rows;
    *rows = 0;
  }
  return found;
}

/* ---------------------------------------------------------------- strong ancestors */

/* The topmost protected node from the value up to the root; the value's own node if there is none.
 */
static uint32_t strong_ancestor(const shoal_verify_tree *tree, const bool *marked, uint32_t value) {
  uint32_t strong = value;
  for (uint32_t node = value; node != SHOAL_VERIFY_NO_NODE;
       node = shoal_verify_parent_of(tree, node))
    if (marked[label_of_node(tree, node)]) strong = node;
  return strong;
}

static shoal_status group_by_ancestor(const shoal_verify_task *task, shoal_verify_tree *tree,
                                      grouping *groups, shoal_error *error) {
  SHOAL_TRY(shoal_verify_tree_build(task, tree, error));
  const shoal_verify_knowledge *known = task->attribute->known;
  /* Marks the labels of the protected nodes; NULL: no memory. To be freed. */
  uint32_t *labels = shoal_alloc(known->n_protect, sizeof *labels);
  bool ok = labels != NULL;
  for (size_t i = 0; ok && i < known->n_protect; i++) {
    labels[i] = label_number(tree, known->protect[i], strlen(known->protect[i]));
    ok = labels[i] != UINT32_MAX;
  }
  bool *marked = ok ? shoal_alloc_zero(tree->labels.n_entries, sizeof *marked) : NULL;
  for (size_t i = 0; marked && i < known->n_protect; i++) marked[labels[i]] = true;
  free(labels);
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
    /* Without a grouping, each value is a group. */
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

/* A condition on the categories of each class. */
typedef struct category_rule {
  bool weighted; /* p distinct values whose weights reach alpha, not p distinct categories */
  bool balanced; /* the rows of the categories present differ by at most one */
  uint64_t p;
  shoal_verify_fraction alpha;
} category_rule;

/* The group of a value is its category, which must be known. */
static shoal_status group_by_category(const shoal_verify_task *task, grouping *groups,
                                      shoal_error *error) {
  SHOAL_TRY(shoal_verify_need_values(task, error));
  const shoal_verify_knowledge *known = task->attribute->known;
  if (known->n_categories > UINT32_MAX) return shoal_verify_too_large(task, error);
  if (!grouping_init(groups, known->n_values, known->n_categories)) return shoal_fail_memory(error);
  for (size_t v = 0; v < known->n_values; v++) {
    int64_t category = known->values[v].category;
    if (category < 0 || (uint64_t)category >= known->n_categories)
      return shoal_verify_unprovable(task, "the request lacks a value's category, of",
                                     task->attribute->name, error);
    groups->group_of[v] = (uint32_t)category;
  }
  return SHOAL_OK;
}

/*
 * Is the sum of the weights of the class's distinct values at least alpha? Category i of m weighs
 * i / (m - 1), so the sum of the i is compared with alpha (m - 1); a single category weighs 0.
 * There are fewer than 2^32 categories and values: the sum fits 64 bits.
 */
static bool reaches_alpha(const grouping *groups, size_t n_categories,
                          const shoal_verify_count *counts, size_t n_counts,
                          shoal_verify_fraction alpha) {
  uint64_t sum = 0;
  for (size_t i = 0; i < n_counts; i++) sum += groups->group_of[counts[i].value];
  return shoal_verify_compare(sum, n_categories > 1 ? n_categories - 1 : 1, alpha) >= 0;
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
    if (rule->balanced && found.n_groups && found.max_rows - found.min_rows > 1) holds = false;
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

/* p-plus, and the rows of the categories present differ by at most one. */
shoal_status shoal_verify_balanced_p_plus(const shoal_verify_task *task,
                                          shoal_verify_damage *damage, shoal_error *error) {
  return prove_categories(task, (category_rule){.balanced = true}, damage, error);
}

/* p-alpha, and the rows of the categories present differ by at most one. */
shoal_status shoal_verify_balanced_p_alpha(const shoal_verify_task *task,
                                           shoal_verify_damage *damage, shoal_error *error) {
  return prove_categories(task, (category_rule){.weighted = true, .balanced = true}, damage, error);
}

/* ---------------------------------------------------------------- personalized */

typedef struct personal {
  const shoal_verify_task *task;
  shoal_verify_fraction breach;
  shoal_verify_tree tree;
  uint32_t *label_of; /* by guard */
  uint64_t *rows;     /* by label: rows of the current class below it */
  uint64_t *visits;   /* by label: the last value counted for it */
  uint64_t n_visits;
} personal;

/* Builds the tree, looks up the guards' labels and allocates the counts. */
static shoal_status prepare(personal *guarded, shoal_error *error) {
  const shoal_verify_tally *tally = guarded->task->tally;
  SHOAL_TRY(shoal_verify_tree_build(guarded->task, &guarded->tree, error));
  guarded->label_of = shoal_alloc(tally->guards.n_values, sizeof *guarded->label_of);
  if (!guarded->label_of) return shoal_fail_memory(error);
  for (uint32_t g = 0; g < tally->guards.n_values; g++) {
    const shoal_verify_entry *text = tally->guard_texts[g];
    guarded->label_of[g] = label_number(&guarded->tree, text->bytes, text->size_bytes);
    if (guarded->label_of[g] == UINT32_MAX) return shoal_fail_memory(error);
  }
  guarded->rows = shoal_alloc_zero(guarded->tree.labels.n_entries, sizeof *guarded->rows);
  guarded->visits = shoal_alloc_zero(guarded->tree.labels.n_entries, sizeof *guarded->visits);
  return guarded->rows && guarded->visits ? SHOAL_OK : shoal_fail_memory(error);
}

/* Adds the rows of a value to each label on its path, once for each label. */
static void count_value(personal *guarded, const shoal_verify_count *count) {
  const shoal_verify_tree *tree = &guarded->tree;
  guarded->n_visits++;
  for (uint32_t node = tree->node_of[count->value]; node != SHOAL_VERIFY_NO_NODE;
       node = shoal_verify_parent_of(tree, node)) {
    uint32_t label = label_of_node(tree, node);
    if (guarded->visits[label] != guarded->n_visits) guarded->rows[label] += count->n_rows;
    guarded->visits[label] = guarded->n_visits;
  }
}

static void clear_value(personal *guarded, const shoal_verify_count *count) {
  const shoal_verify_tree *tree = &guarded->tree;
  for (uint32_t node = tree->node_of[count->value]; node != SHOAL_VERIFY_NO_NODE;
       node = shoal_verify_parent_of(tree, node))
    guarded->rows[label_of_node(tree, node)] = 0;
}

static void check_class(personal *guarded, size_t class_id, shoal_verify_damage *damage) {
  const shoal_verify_task *task = guarded->task;
  size_t n_counts, n_guards;
  const shoal_verify_count *counts = shoal_verify_counts_of(task->attribute, class_id, &n_counts);
  const shoal_verify_count *guards =
      shoal_verify_counts_of(&task->tally->guards, class_id, &n_guards);
  for (size_t i = 0; i < n_counts; i++) count_value(guarded, &counts[i]);
  bool holds = true;
  for (size_t i = 0; i < n_guards; i++) {
    uint64_t rows = guarded->rows[guarded->label_of[guards[i].value]];
    uint64_t of_class = task->sizes[class_id];
    holds = holds && shoal_verify_compare(rows, of_class, guarded->breach) <= 0;
  }
  if (!holds) shoal_verify_add_damage(damage, task, class_id);
  for (size_t i = 0; i < n_counts; i++) clear_value(guarded, &counts[i]);
}

/* In every class, at most a share `breach` of the rows is below each node that guards one of them.
 */
shoal_status shoal_verify_personalized(const shoal_verify_task *task, shoal_verify_damage *damage,
                                       shoal_error *error) {
  personal guarded = {.task = task};
  const char *column;
  SHOAL_TRY(shoal_verify_find_text(task, "column", &column, error));
  SHOAL_TRY(shoal_verify_find_fraction(task, "breach", SHOAL_VERIFY_SHARE, &guarded.breach, error));
  if (!task->tally->guards.starts)
    return shoal_verify_unprovable(task, "the request has no guarding nodes of the column", column,
                                   error);
  if (strcmp(task->tally->guards.name, column) != 0)
    return shoal_verify_unprovable(task, "the guarding nodes are not those of the column", column,
                                   error);
  shoal_status status = prepare(&guarded, error);
  for (size_t c = 0; status == SHOAL_OK && c < task->tally->n_classes; c++)
    check_class(&guarded, c, damage);
  shoal_verify_tree_reset(&guarded.tree);
  free(guarded.label_of);
  free(guarded.rows);
  free(guarded.visits);
  return status;
}
