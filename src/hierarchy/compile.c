/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hierarchy/compile: a specification and a column -> checked levels of label codes.
 *
 * The kind's label function returns the label of a leaf on a level. Labels are numbered level by
 * level, in order of first appearance over the leaves. Then Samarati's definition (2001, section
 * 3.1) is checked on the numbers: every label has one parent. Heights are computed from the leaves
 * up and count real steps: a label that equals its parent's is the same node. The cost is linear in
 * leaves x levels.
 *
 * An error is reported where it can be fixed: in the hierarchy's file (row), the policy (line), or
 * the data (row). Messages never quote labels or values.
 */
#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/hash.h"
#include "hierarchy/builder.h"

/* ------------------------------------------------------------ errors */

enum { DETAIL_BYTES = 512 };

shoal_status shoal_builder_fail(const shoal_builder *builder, shoal_error *error,
                                const char *format, ...) {
  char detail[DETAIL_BYTES];
  va_list args;
  va_start(args, format);
  (void)vsnprintf(detail, sizeof detail, format, args);
  va_end(args);
  const shoal_location location = {.file = builder->options->policy,
                                   .line = builder->spec->line,
                                   .at = builder->spec->at,
                                   .column = builder->attribute[0] ? builder->attribute : NULL};
  return shoal_fail_at(error, SHOAL_BAD_INPUT, &location, "%s", detail);
}

shoal_status shoal_path_fail(const shoal_builder *builder, uint64_t row, shoal_error *error,
                             const char *format, ...) {
  char detail[DETAIL_BYTES];
  va_list args;
  va_start(args, format);
  (void)vsnprintf(detail, sizeof detail, format, args);
  va_end(args);
  if (builder->spec->kind != SHOAL_HIERARCHY_FILE)
    return shoal_builder_fail(
        builder, error, "%s %llu of the %s: %s", shoal_path_word(builder), (unsigned long long)row,
        builder->spec->kind == SHOAL_HIERARCHY_TREE ? "tree" : "levels", detail);
  const shoal_location location = {.file = builder->spec->file, .row = row};
  return shoal_fail_at(error, SHOAL_BAD_INPUT, &location, "%s", detail);
}

/* ------------------------------------------------------------ a label with two parents */

/*
 * Two paths share a label of level `level` but not its parent. Finds the pair again in the order of
 * the file: the message does not depend on the data.
 */
static shoal_status path_conflict(const shoal_builder *builder, const shoal_hierarchy *hierarchy,
                                  uint32_t level, shoal_error *error) {
  const shoal_path *paths = builder->paths.paths;
  const uint32_t *labels = hierarchy->levels[level].of_leaf;
  const uint32_t *parents = hierarchy->levels[level + 1].of_leaf;
  const shoal_path **firsts = shoal_alloc_zero(hierarchy->levels[level].n_labels, sizeof *firsts);
  if (!firsts) return shoal_fail_memory(error);
  const shoal_path *first = NULL, *second = NULL;
  for (size_t p = 0; p < builder->paths.n_paths && !second; p++) {
    first = firsts[labels[paths[p].leaf]];
    if (!first) firsts[labels[paths[p].leaf]] = &paths[p];
    else if (parents[first->leaf] != parents[paths[p].leaf]) second = &paths[p];
  }
  free(firsts);
  assert(second);
  char name[48];
  /* Level `level` of the padded tree, as a row of the file has it: "label in column 3" or "value".
   */
  size_t capacity = sizeof name;
  uint32_t padding = builder->height - second->n_labels;
  if (level <= padding) (void)snprintf(name, capacity, "value");
  else if (builder->spec->kind == SHOAL_HIERARCHY_FILE)
    (void)snprintf(name, capacity, "label in column %u", level - padding + 1);
  else (void)snprintf(name, capacity, "label of level %u", level - padding);
  return shoal_path_fail(builder, second->row, error,
                         "its %s has two parents: %s %llu has it below another label; make the "
                         "next level equal, or rename one label",
                         name, shoal_path_word(builder), (unsigned long long)first->row);
}

/* A missing value keeps its text, which is also a label of `level` for another leaf. */
static shoal_status missing_conflict(const shoal_builder *builder, uint32_t level, uint32_t leaf,
                                     shoal_error *error) {
  const char *advice = "a missing value is spelled like a label of level";
  if (builder->paths.of_leaf)
    return shoal_path_fail(builder, builder->paths.paths[builder->paths.of_leaf[leaf]].row, error,
                           "%s %u, which has another parent: rename the label, or give the "
                           "missing value a row of its own here",
                           advice, level);
  return shoal_builder_fail(builder, error,
                            "%s %u, which has another parent: remove it from data.missing, or "
                            "choose another hierarchy",
                            advice, level);
}

/* The first data row with the value, from 1; 0: unknown. */
static uint64_t row_of_value(const shoal_column *column, uint32_t value) {
  return column->first_row ? column->first_row[value] + 1 : 0;
}

/* A missing value, or the label of rare ones, without a path keeps its text on every level below
 * the top. */
static bool leaf_is_bare(const shoal_builder *builder, uint32_t leaf) {
  if (builder->paths.of_leaf) return builder->paths.of_leaf[leaf] == SHOAL_NONE;
  return builder->column && shoal_column_is_bare(builder->column, leaf);
}

/* ------------------------------------------------------------ levels */

void shoal_hierarchy_free(shoal_hierarchy *hierarchy) {
  if (!hierarchy) return;
  for (uint32_t l = 0; hierarchy->levels && l < hierarchy->n_levels; l++) {
    shoal_level *level = &hierarchy->levels[l];
    free(level->offsets);
    free(level->bytes);
    free(level->of_leaf);
    free(level->parent);
    free(level->node_height);
    free(level->n_leaves);
  }
  free(hierarchy->levels);
  free(hierarchy);
}

static void builder_reset(shoal_builder *builder) {
  shoal_strings_reset(&builder->leaves);
  shoal_values_reset(&builder->names);
  free(builder->paths.paths);
  free(builder->paths.labels);
  free(builder->paths.of_leaf);
  shoal_arena_reset(&builder->arena);
  free(builder->owned);
}

/* The keys of the column's values, where bytes alone do not decide; a value's number is its code.
 */
static shoal_status name_values(shoal_builder *builder, shoal_error *error) {
  const shoal_column *column = builder->column;
  if (builder->options->equality == SHOAL_EQUAL_BYTES) return SHOAL_OK;
  if (!shoal_values_init(&builder->names, builder->options->equality))
    return shoal_fail_memory(error);
  for (uint32_t v = 0; column && v < column->n_values; v++) {
    shoal_label value;
    value.bytes = shoal_column_value(column, v, &value.size_bytes);
    uint32_t name = shoal_values_intern(&builder->names, value);
    if (name == SHOAL_NONE) return shoal_fail_memory(error);
    if (name != v)
      return shoal_builder_fail(builder, error,
                                "the table was read under another policy, which compares values "
                                "in another way: read it again");
  }
  return SHOAL_OK;
}

bool shoal_builder_respell(shoal_builder *builder, shoal_label *label) {
  if (builder->options->equality == SHOAL_EQUAL_BYTES) return true;
  uint32_t name = shoal_values_intern(&builder->names, *label);
  if (name == SHOAL_NONE) return false;
  shoal_label known = shoal_strings_get(&builder->names.spellings, name);
  if (shoal_label_equal(known, *label)) return true;
  label->bytes = shoal_arena_copy(&builder->arena, known.bytes, known.size_bytes);
  label->size_bytes = known.size_bytes;
  return label->bytes != NULL;
}

static shoal_status start_kind(shoal_builder *builder, shoal_error *error) {
  const shoal_column *column = builder->column;
  const shoal_kind *kind = shoal_kind_find(builder->spec->kind);
  assert(kind);
  if (!column && !kind->from_paths)
    return shoal_builder_fail(
        builder, error, "this kind of hierarchy is built from the data's values: give the data");
  if (!shoal_strings_init(&builder->leaves)) return shoal_fail_memory(error);
  if (kind->from_paths) {
    /* The column's values are the first leaves: leaf v is code v. */
    for (uint32_t v = 0; column && v < column->n_values; v++) {
      shoal_label value;
      value.bytes = shoal_column_value(column, v, &value.size_bytes);
      uint32_t leaf = shoal_strings_intern(&builder->leaves, value);
      if (leaf == SHOAL_NONE) return shoal_fail_memory(error);
      assert(leaf == v); /* a dictionary holds each value once */
    }
  } else if (!shoal_strings_load(&builder->leaves, column->bytes, column->offsets,
                                 column->n_values))
    return shoal_fail_memory(error);
  SHOAL_TRY(name_values(builder, error));
  return kind->start(builder, error);
}

/* Labels of a level between the values and the top. */
static shoal_status fill_level(const shoal_builder *builder, uint32_t number, shoal_level *level,
                               shoal_error *error) {
  char scratch[SHOAL_LABEL_SCRATCH];
  uint32_t n_leaves = builder->leaves.n_strings;
  shoal_strings labels;
  level->of_leaf = shoal_alloc(n_leaves, sizeof *level->of_leaf);
  if (!level->of_leaf || !shoal_strings_init(&labels)) return shoal_fail_memory(error);
  for (uint32_t leaf = 0; leaf < n_leaves; leaf++) {
    shoal_label label = leaf_is_bare(builder, leaf)
                            ? shoal_strings_get(&builder->leaves, leaf)
                            : builder->label(builder, leaf, number, scratch);
    uint32_t id = shoal_strings_intern(&labels, label);
    if (id == SHOAL_NONE) {
      shoal_strings_reset(&labels);
      return shoal_fail_memory(error);
    }
    level->of_leaf[leaf] = id;
  }
  shoal_strings_take(&labels, &level->bytes, &level->offsets, &level->n_labels);
  return SHOAL_OK;
}

/* The top: one label for every leaf. */
static shoal_status fill_top(const shoal_builder *builder, shoal_level *level, shoal_error *error) {
  shoal_strings labels;
  level->of_leaf = shoal_alloc_zero(builder->leaves.n_strings, sizeof *level->of_leaf);
  if (!level->of_leaf || !shoal_strings_init(&labels)) return shoal_fail_memory(error);
  uint32_t id = shoal_strings_intern(&labels, builder->top);
  shoal_strings_take(&labels, &level->bytes, &level->offsets, &level->n_labels);
  return id == SHOAL_NONE ? shoal_fail_memory(error) : SHOAL_OK;
}

/* Level 0: the leaves themselves, each its own label. Takes the builder's strings. */
static shoal_status fill_leaves(shoal_builder *builder, shoal_level *level, shoal_error *error) {
  uint32_t n_leaves = builder->leaves.n_strings;
  level->of_leaf = shoal_alloc(n_leaves, sizeof *level->of_leaf);
  if (!level->of_leaf) return shoal_fail_memory(error);
  for (uint32_t leaf = 0; leaf < n_leaves; leaf++) level->of_leaf[leaf] = leaf;
  shoal_strings_take(&builder->leaves, &level->bytes, &level->offsets, &level->n_labels);
  return SHOAL_OK;
}

/* Sets the parents of a level's labels; fails if one has two. */
static shoal_status link_level(const shoal_builder *builder, const shoal_hierarchy *hierarchy,
                               uint32_t number, shoal_error *error) {
  shoal_level *level = &hierarchy->levels[number];
  const uint32_t *above = hierarchy->levels[number + 1].of_leaf;
  level->parent = shoal_alloc(level->n_labels, sizeof *level->parent);
  if (!level->parent) return shoal_fail_memory(error);
  for (uint32_t t = 0; t < level->n_labels; t++) level->parent[t] = SHOAL_NONE;
  for (uint32_t leaf = 0; leaf < hierarchy->n_leaves; leaf++) {
    uint32_t *parent = &level->parent[level->of_leaf[leaf]];
    if (*parent == SHOAL_NONE) *parent = above[leaf];
    if (*parent != above[leaf]) {
      const uint32_t *labels = hierarchy->levels[number].of_leaf;
      uint32_t first = 0;
      while (labels[first] != labels[leaf]) first++;
      if (leaf_is_bare(builder, first)) return missing_conflict(builder, number, leaf, error);
      if (leaf_is_bare(builder, leaf)) return missing_conflict(builder, number, first, error);
      if (builder->paths.of_leaf) return path_conflict(builder, hierarchy, number, error);
      return shoal_builder_fail(
          builder, error,
          "a label of level %u has two parents on level %u (values of data rows "
          "%llu and %llu): each level must generalize the one before",
          number, number + 1, (unsigned long long)row_of_value(builder->column, first),
          (unsigned long long)row_of_value(builder->column, leaf));
    }
  }
  return SHOAL_OK;
}

static bool same_label(const shoal_level *a, uint32_t label_a, const shoal_level *b,
                       uint32_t label_b) {
  shoal_label first, second;
  first.bytes = shoal_level_label(a, label_a, &first.size_bytes);
  second.bytes = shoal_level_label(b, label_b, &second.size_bytes);
  return shoal_label_equal(first, second);
}

/* Heights and leaves of every label's subtree, from the leaves up. */
static shoal_status compute_heights(shoal_hierarchy *hierarchy, shoal_error *error) {
  for (uint32_t l = 0; l < hierarchy->n_levels; l++) {
    shoal_level *level = &hierarchy->levels[l];
    level->node_height = shoal_alloc_zero(level->n_labels, sizeof *level->node_height);
    level->n_leaves = shoal_alloc_zero(level->n_labels, sizeof *level->n_leaves);
    if (!level->node_height || !level->n_leaves) return shoal_fail_memory(error);
  }
  for (uint32_t t = 0; t < hierarchy->n_leaves; t++) hierarchy->levels[0].n_leaves[t] = 1;
  for (uint32_t l = 0; l + 1 < hierarchy->n_levels; l++) {
    const shoal_level *level = &hierarchy->levels[l];
    shoal_level *above = &hierarchy->levels[l + 1];
    for (uint32_t t = 0; t < level->n_labels; t++) {
      uint32_t parent = level->parent[t];
      uint32_t height = level->node_height[t] + !same_label(level, t, above, parent);
      if (height > above->node_height[parent]) above->node_height[parent] = height;
      above->n_leaves[parent] += level->n_leaves[t];
    }
  }
  assert(hierarchy->levels[hierarchy->n_levels - 1].n_labels == 1);
  hierarchy->tree_height = hierarchy->levels[hierarchy->n_levels - 1].node_height[0];
  /* A label that repeats on the next level is the node there: it gets that node's height. */
  for (uint32_t l = hierarchy->n_levels - 1; l-- > 1;) {
    shoal_level *level = &hierarchy->levels[l];
    const shoal_level *above = &hierarchy->levels[l + 1];
    for (uint32_t t = 0; t < level->n_labels; t++)
      if (same_label(level, t, above, level->parent[t]))
        level->node_height[t] = above->node_height[level->parent[t]];
  }
  return SHOAL_OK;
}

/* Level limits must be levels of the hierarchy, which is known only now. */
static shoal_status set_limits(const shoal_builder *builder, shoal_hierarchy *hierarchy,
                               shoal_error *error) {
  const shoal_hierarchy_options *options = builder->options;
  hierarchy->min_level = options->min_level;
  hierarchy->max_level = options->has_max_level ? options->max_level : builder->height;
  const char *name = options->min_level > builder->height     ? "min-level"
                     : hierarchy->max_level > builder->height ? "max-level"
                                                              : NULL;
  if (name)
    return shoal_builder_fail(builder, error,
                              "%s is above the hierarchy's highest level, %u: choose a lower one",
                              name, builder->height);
  return SHOAL_OK;
}

static shoal_status fill_hierarchy(shoal_builder *builder, shoal_hierarchy *hierarchy,
                                   shoal_error *error) {
  SHOAL_TRY(set_limits(builder, hierarchy, error));
  hierarchy->attribute = builder->attribute;
  hierarchy->n_values = builder->column ? builder->column->n_values : 0;
  hierarchy->n_leaves = builder->leaves.n_strings;
  hierarchy->leaves_public = builder->paths.of_leaf != NULL;
  for (size_t i = 0; i < builder->paths.n_paths; i++)
    hierarchy->ragged |= builder->paths.paths[i].n_labels != builder->height;
  uint32_t n_levels = builder->height + 1;
  hierarchy->levels = shoal_alloc_zero(n_levels, sizeof *hierarchy->levels);
  if (!hierarchy->levels) return shoal_fail_memory(error);
  hierarchy->n_levels = n_levels;
  for (uint32_t l = 1; l < builder->height; l++)
    SHOAL_TRY(fill_level(builder, l, &hierarchy->levels[l], error));
  SHOAL_TRY(fill_top(builder, &hierarchy->levels[builder->height], error));
  SHOAL_TRY(fill_leaves(builder, &hierarchy->levels[0], error));
  for (uint32_t l = 0; l < builder->height; l++)
    SHOAL_TRY(link_level(builder, hierarchy, l, error));
  return compute_heights(hierarchy, error);
}

shoal_status shoal_hierarchy_compile(const shoal_hierarchy_spec *spec, const shoal_table *table,
                                     const shoal_column *column,
                                     const shoal_hierarchy_options *options,
                                     shoal_hierarchy **hierarchy, shoal_error *error) {
  shoal_builder builder = {.spec = spec,
                           .table = table,
                           .column = column,
                           .options = options,
                           .attribute = "",
                           .top = {"*", 1}};
  shoal_arena_init(&builder.arena);
  if (options->attribute) builder.attribute = options->attribute;
  else if (column && column->name) builder.attribute = column->name;
  *hierarchy = NULL;
  shoal_hierarchy *made = NULL;
  shoal_status status = start_kind(&builder, error);
  if (status == SHOAL_OK) {
    made = shoal_alloc_zero(1, sizeof *made);
    status = made ? fill_hierarchy(&builder, made, error) : shoal_fail_memory(error);
  }
  builder_reset(&builder);
  if (status != SHOAL_OK) {
    shoal_hierarchy_free(made);
    return status;
  }
  *hierarchy = made;
  return SHOAL_OK;
}
