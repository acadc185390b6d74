/* SPDX-License-Identifier: Apache-2.0 */
/* hierarchy/tree: the kind "tree": a tree written in the policy -> paths, its leaves in order. */
#include <string.h>

#include "hierarchy/builder.h"

/* The way from the root down to the node at hand, and how many leaves were met. */
typedef struct tree_walk {
  shoal_builder *builder;
  shoal_label down[SHOAL_MOST_LEVELS];
  uint64_t n_leaves;
} tree_walk;

static shoal_status add_leaf(tree_walk *walk, const shoal_tree_node *leaf, uint32_t depth,
                             shoal_error *error) {
  shoal_label up[SHOAL_MOST_LEVELS];
  for (uint32_t i = 0; i < depth; i++) up[i] = walk->down[depth - 1 - i];
  shoal_label value = {leaf->label, strlen(leaf->label)};
  return shoal_paths_add(walk->builder, value, up, depth, ++walk->n_leaves, error);
}

static shoal_status visit(tree_walk *walk, const shoal_tree_node *node, uint32_t depth,
                          shoal_error *error) {
  if (node->n_children == 0) return add_leaf(walk, node, depth, error);
  if (depth == SHOAL_MOST_LEVELS)
    return shoal_builder_fail(walk->builder, error, "the tree has more than %d levels",
                              SHOAL_MOST_LEVELS);
  walk->down[depth] = (shoal_label){node->label, strlen(node->label)};
  for (size_t i = 0; i < node->n_children; i++)
    SHOAL_TRY(visit(walk, &node->children[i], depth + 1, error));
  return SHOAL_OK;
}

shoal_status shoal_tree_start(shoal_builder *builder, shoal_error *error) {
  if (builder->spec->tree.n_children == 0)
    return shoal_builder_fail(builder, error, "the tree is empty: give it labels and values");
  tree_walk walk;
  walk.builder = builder;
  walk.n_leaves = 0;
  SHOAL_TRY(visit(&walk, &builder->spec->tree, 0, error));
  return shoal_paths_finish(builder, error);
}
