/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verify/tree: see tree.h. Paths are walked from the root down; a node's key is its parent and
 * its label, so that nodes are numbered parents first, and one walk from the last node to the
 * first gives all heights.
 */
#include "verify/tree.h"

#include <stdlib.h>
#include <string.h>

uint32_t shoal_verify_label(shoal_verify_tree *tree, const char *bytes, size_t size_bytes) {
  uint64_t hash = shoal_hash_bytes(bytes, size_bytes);
  const shoal_verify_entry *entry = shoal_verify_intern(&tree->labels, hash, bytes, size_bytes);
  return entry ? entry->id : UINT32_MAX;
}

/* Steps from *node down to its child of this label, which may be itself; false: no memory. */
static bool step_down(shoal_verify_tree *tree, const char *text, uint32_t *node) {
  uint32_t label = shoal_verify_label(tree, text, strlen(text));
  if (label == UINT32_MAX) return false;
  if (*node != SHOAL_VERIFY_NO_NODE && label == shoal_verify_label_of(tree, *node)) return true;
  *node = shoal_ids_insert(&tree->nodes, (uint64_t)*node << 32 | label);
  return *node != SHOAL_NO_ID;
}

static bool add_value(shoal_verify_tree *tree, const shoal_verify_value *value, uint32_t *node) {
  size_t n_above = 0;
  while (value->path[n_above]) n_above++;
  *node = SHOAL_VERIFY_NO_NODE;
  while (n_above > 0)
    if (!step_down(tree, value->path[--n_above], node)) return false;
  return step_down(tree, value->value, node);
}

static void measure_heights(shoal_verify_tree *tree) {
  for (uint32_t node = tree->nodes.n_ids; node-- > 0;) {
    uint32_t parent = shoal_verify_parent_of(tree, node);
    if (parent == SHOAL_VERIFY_NO_NODE) tree->n_roots++;
    else if (tree->heights[parent] <= tree->heights[node])
      tree->heights[parent] = tree->heights[node] + 1;
  }
}

shoal_status shoal_verify_tree_build(const shoal_verify_task *task, shoal_verify_tree *tree,
                                     shoal_error *error) {
  SHOAL_TRY(shoal_verify_need_values(task, error));
  const shoal_verify_knowledge *known = task->attribute->known;
  size_t n_leaves = known->n_values + known->n_missing;
  tree->node_of = shoal_alloc(n_leaves, sizeof *tree->node_of);
  if (!tree->node_of || !shoal_verify_dictionary_init(&tree->labels) ||
      !shoal_ids_init(&tree->nodes, n_leaves))
    return shoal_fail_memory(error);
  for (size_t v = 0; v < n_leaves; v++) {
    if (!known->values[v].path)
      return shoal_verify_unprovable(task, "a value's path to the root is not known of",
                                     task->attribute->name, error);
    if (!add_value(tree, &known->values[v], &tree->node_of[v])) return shoal_fail_memory(error);
  }
  tree->heights = shoal_alloc_zero(tree->nodes.n_ids, sizeof *tree->heights);
  if (!tree->heights) return shoal_fail_memory(error);
  measure_heights(tree);
  return SHOAL_OK;
}

void shoal_verify_tree_reset(shoal_verify_tree *tree) {
  shoal_verify_dictionary_reset(&tree->labels);
  shoal_ids_reset(&tree->nodes);
  free(tree->node_of);
  free(tree->heights);
}
