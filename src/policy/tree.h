/* SPDX-License-Identifier: Apache-2.0 */
/* policy/tree: `tree: {...}` of a hierarchy -> shoal_tree_node. */
#ifndef SHOAL_POLICY_TREE_H
#define SHOAL_POLICY_TREE_H

#include "policy/reader.h"

/* `root` is labelled "*". A value may stand in the tree once: it has one parent. */
shoal_status shoal_read_tree(const shoal_policy_reader *reader, const shoal_yaml *node,
                             shoal_tree_node *root) SHOAL_MUST_CHECK;

#endif
