/* SPDX-License-Identifier: Apache-2.0 */
/*
 * policy/tree: see tree.h. Below a label stands a mapping of labels, a list of values (an item may
 * also be one "label: ..."), or a single value. Depth is bounded by the YAML reader.
 */
#include "policy/tree.h"

#include <stdlib.h>

#include "policy/words.h"

static const char tree_form[] = "values such as [Black, Asian], or labels such as {Other: [Black]}";

typedef struct leaf_list {
  const shoal_yaml **leaves;
  size_t n, capacity;
} leaf_list;

static shoal_status add_leaf(const shoal_policy_reader *reader, leaf_list *leaves,
                             const shoal_yaml *node, shoal_tree_node *leaf) {
  SHOAL_TRY(shoal_read_scalar(reader, node, "a value (\"\" in quotes if it is empty)"));
  if (!shoal_grow(&leaves->leaves, &leaves->capacity, leaves->n + 1, sizeof *leaves->leaves))
    return shoal_fail_memory(reader->error);
  leaves->leaves[leaves->n++] = node;
  *leaf = (shoal_tree_node){.label = node->text};
  return SHOAL_OK;
}

static shoal_status read_children(const shoal_policy_reader *reader, leaf_list *leaves,
                                  const shoal_yaml *node, shoal_tree_node *parent);

/* An inner node: a label and what stands below it. */
static shoal_status read_inner(const shoal_policy_reader *reader, leaf_list *leaves,
                               const shoal_yaml *label, shoal_tree_node *inner) {
  *inner = (shoal_tree_node){.label = label->text};
  return read_children(reader, leaves, label->next, inner);
}

static shoal_status read_item(const shoal_policy_reader *reader, leaf_list *leaves,
                              const shoal_yaml *item, shoal_tree_node *child) {
  if (item->kind == SHOAL_YAML_SCALAR) return add_leaf(reader, leaves, item, child);
  if (item->kind == SHOAL_YAML_MAPPING && item->n == 1)
    return read_inner(reader, leaves, item->first, child);
  return shoal_reader_expected(reader, item, "a value, or one 'label: values'");
}

static shoal_status read_children(const shoal_policy_reader *reader, leaf_list *leaves,
                                  const shoal_yaml *node, shoal_tree_node *parent) {
  bool single = node->kind == SHOAL_YAML_SCALAR;
  size_t n = single ? 1 : node->n;
  if (n == 0 || shoal_yaml_is_null(node)) {
    const shoal_subject subject = shoal_reader_subject(reader);
    return shoal_reader_fail(reader, node->mark, "%s: nothing stands below '%s': expected %s",
                             subject.text, shoal_quote(parent->label).text, tree_form);
  }
  shoal_tree_node *children = shoal_arena_alloc(reader->arena, n, sizeof *children);
  if (!children) return shoal_fail_memory(reader->error);
  parent->children = children;
  parent->n_children = n;
  if (single) return add_leaf(reader, leaves, node, children);
  if (node->kind == SHOAL_YAML_LIST) {
    for (const shoal_yaml *item = node->first; item; item = item->next)
      SHOAL_TRY(read_item(reader, leaves, item, children++));
    return SHOAL_OK;
  }
  for (const shoal_yaml *label = node->first; label; label = label->next->next)
    SHOAL_TRY(read_inner(reader, leaves, label, children++));
  return SHOAL_OK;
}

static shoal_status check_parents(const shoal_policy_reader *reader, const leaf_list *leaves) {
  const shoal_yaml *earlier;
  const shoal_yaml *repeated = shoal_yaml_repeated(leaves->leaves, leaves->n, &earlier);
  if (!repeated) return SHOAL_OK;
  return shoal_reader_fail(reader, repeated->mark,
                           "%s: this value would have two parents: it stands in line %u already; "
                           "remove one",
                           shoal_reader_subject(reader).text, earlier->mark.line);
}

shoal_status shoal_read_tree(const shoal_policy_reader *reader, const shoal_yaml *node,
                             shoal_tree_node *root) {
  if (node->kind == SHOAL_YAML_SCALAR) return shoal_reader_expected(reader, node, tree_form);
  leaf_list leaves = {0};
  *root = (shoal_tree_node){.label = "*"};
  shoal_status status = read_children(reader, &leaves, node, root);
  if (status == SHOAL_OK) status = check_parents(reader, &leaves);
  free(leaves.leaves);
  return status;
}
