/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verify/tree: the tree of a sensitive attribute, from nothing but each known value's path to the
 * root as strings. A node is a label together with everything above it; a label equal to its
 * parent's is padding, and the same node.
 */
#ifndef SHOAL_VERIFY_TREE_H
#define SHOAL_VERIFY_TREE_H

#include "verify/models.h"

#define SHOAL_VERIFY_NO_NODE UINT32_MAX

typedef struct shoal_verify_tree {
  shoal_verify_dictionary labels; /* a caller may add to them */
  shoal_ids nodes;                /* parent and label -> node; a parent's number is the smaller */
  uint32_t *node_of;              /* by known value */
  uint32_t *heights;              /* by node: steps to the deepest known value below */
  size_t n_roots;
} shoal_verify_tree;

/* The label's number; UINT32_MAX: no memory. */
uint32_t shoal_verify_label(shoal_verify_tree *tree, const char *bytes, size_t size_bytes);

static inline uint32_t shoal_verify_parent_of(const shoal_verify_tree *tree, uint32_t node) {
  return (uint32_t)(tree->nodes.of_id[node] >> 32); /* SHOAL_VERIFY_NO_NODE above a root */
}

static inline uint32_t shoal_verify_label_of(const shoal_verify_tree *tree, uint32_t node) {
  return (uint32_t)tree->nodes.of_id[node];
}

/*
 * The tree of the task's attribute; every value of the release must be known, and the path of
 * every known value. A zeroed tree may be reset; so must one that was not built.
 */
shoal_status shoal_verify_tree_build(const shoal_verify_task *task, shoal_verify_tree *tree,
                                     shoal_error *error) SHOAL_MUST_CHECK;
void shoal_verify_tree_reset(shoal_verify_tree *tree);

#endif
