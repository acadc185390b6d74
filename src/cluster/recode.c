/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster/recode: labels of clusters. A class is released with the label of its values' lowest
 * common ancestor, or, for a number, as their smallest interval, which can be widened to a grid
 * (docs/reading-the-papers.md R24), or as the set of its values (hierarchy/set_label.h). Clusters
 * whose labels are equal strings are one class (R23).
 */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "cluster/cluster.h"

shoal_span *shoal_boxes_of_rows(const shoal_axes *axes, const uint32_t *group_of_row,
                                uint32_t n_groups) {
  size_t size = axes->n_spans;
  if (size > SIZE_MAX / ((size_t)n_groups + 1)) return NULL;
  shoal_span *boxes = shoal_alloc((size_t)n_groups * size, sizeof *boxes);
  uint32_t *last = shoal_alloc(axes->n_tuples, sizeof *last); /* by tuple: the group it was in */
  bool ok = boxes && last;
  for (size_t g = 0; ok && g < n_groups; g++) shoal_box_clear(axes, boxes + g * size);
  for (uint32_t t = 0; ok && t < axes->n_tuples; t++) last[t] = UINT32_MAX;
  for (uint64_t row = 0; ok && row < axes->n_rows; row++) {
    uint32_t tuple = axes->tuple_of_row[row], group = group_of_row[row];
    if (last[tuple] == group) continue; /* most tuples are in one group only */
    last[tuple] = group;
    shoal_box_add(axes, boxes + group * size, shoal_axes_tuple(axes, tuple));
  }
  free(last);
  if (ok) return boxes;
  free(boxes);
  return NULL;
}

/* ------------------------------------------------------------ labels */

static uint32_t intern_ancestor(shoal_strings *strings, const shoal_axis *axis, shoal_span span) {
  uint32_t level, label;
  shoal_axis_ancestor(axis, span, &level, &label);
  shoal_label text;
  text.bytes = shoal_level_label(&axis->hierarchy->levels[level], label, &text.size_bytes);
  return shoal_strings_intern(strings, text);
}

/*
 * "[low-high]", in the spellings of the column, "[low to high]" below zero and of dates. An end
 * that is a code is left out: ">=low", "<=high", "*".
 */
static void add_ends(shoal_text *text, const shoal_column *column, shoal_label low,
                     shoal_label high) {
  bool above = shoal_coding_find(&column->coding, high.bytes, high.size_bytes) == SHOAL_CODED_TOP;
  bool below = shoal_coding_find(&column->coding, low.bytes, low.size_bytes) == SHOAL_CODED_BOTTOM;
  bool spaced = column->coding.dates || (!below && low.bytes[0] == '-');
  shoal_text_add(text, above && below ? "*" : above ? ">=" : below ? "<=" : "[");
  if (!below) shoal_text_add_bytes(text, low.bytes, low.size_bytes);
  if (!below && !above) shoal_text_add(text, spaced ? " to " : "-");
  if (!above) shoal_text_add_bytes(text, high.bytes, high.size_bytes);
  if (!below && !above) shoal_text_add(text, "]");
}

static uint32_t intern_ends(shoal_strings *strings, const shoal_column *column, uint32_t from,
                            uint32_t to) {
  shoal_label low, high;
  low.bytes = shoal_column_value(column, from, &low.size_bytes);
  high.bytes = shoal_column_value(column, to, &high.size_bytes);
  if (from == to) return shoal_strings_intern(strings, low);
  shoal_text text;
  shoal_text_init(&text);
  add_ends(&text, column, low, high);
  shoal_label label = {text.bytes, text.size_bytes};
  uint32_t id = text.failed ? SHOAL_NONE : shoal_strings_intern(strings, label);
  shoal_text_reset(&text);
  return id;
}

/* A missing value alone keeps its spelling; beside others the label is "*". */
static uint32_t intern_interval(shoal_strings *strings, const shoal_axis *axis, shoal_span span) {
  uint32_t low = axis->code_at[span.lo], high = axis->code_at[span.hi];
  bool missing = span.hi >= axis->n_numbers;
  if (missing && span.lo != span.hi) return shoal_strings_intern(strings, (shoal_label){"*", 1});
  if (missing || !axis->snap.mantissa) return intern_ends(strings, axis->column, low, high);
  char text[SHOAL_INTERVAL_BYTES];
  size_t size = shoal_snapped_label(axis->numbers[low], axis->numbers[high], axis->scale,
                                    axis->snap, &axis->column->coding, text);
  return shoal_strings_intern(strings, (shoal_label){text, size});
}

/* The values of a class, in the order of their bytes; "*" if they are too many. */
static bool label_sets(const shoal_axes *axes, size_t q, const shoal_span *boxes, uint32_t n_groups,
                       shoal_strings *strings, uint32_t *of_group) {
  const shoal_axis *axis = &axes->items[q];
  shoal_text text;
  shoal_text_init(&text);
  bool ok = true;
  for (uint32_t g = 0; ok && g < n_groups; g++) {
    const uint32_t *set = shoal_box_set_const(axis, boxes + g * axes->n_spans);
    shoal_label values[SHOAL_MAX_SET];
    for (uint32_t i = 0; i < set[0] && i < SHOAL_MAX_SET; i++)
      values[i].bytes =
          shoal_column_value(axis->column, axis->code_at[set[i + 1]], &values[i].size_bytes);
    shoal_text_cut(&text, 0);
    shoal_set_label_add(&text, values, set[0]);
    of_group[g] =
        shoal_strings_intern(strings, (shoal_label){text.bytes ? text.bytes : "", text.size_bytes});
    ok = !text.failed && of_group[g] != SHOAL_NONE;
  }
  shoal_text_reset(&text);
  return ok;
}

/* Makes the label of each distinct span once. */
static bool label_groups(const shoal_axes *axes, size_t q, const shoal_span *boxes,
                         uint32_t n_groups, shoal_strings *strings, uint32_t *of_group) {
  const shoal_axis *axis = &axes->items[q];
  size_t capacity = 0;
  shoal_ids spans;
  uint32_t *label_of = NULL; /* by span */
  if (axis->kind == SHOAL_AXIS_SET) return label_sets(axes, q, boxes, n_groups, strings, of_group);
  if (!shoal_ids_init(&spans, 1024)) return false;
  bool ok = true;
  for (uint32_t g = 0; ok && g < n_groups; g++) {
    shoal_span span = boxes[g * axes->n_spans + q];
    uint32_t known = spans.n_ids;
    uint32_t id = shoal_ids_insert(&spans, (uint64_t)span.lo * axis->n_positions + span.hi);
    ok = id != SHOAL_NONE && shoal_grow(&label_of, &capacity, (size_t)id + 1, sizeof *label_of);
    if (ok && id == known)
      label_of[id] = axis->hierarchy ? intern_ancestor(strings, axis, span)
                                     : intern_interval(strings, axis, span);
    ok = ok && label_of[id] != SHOAL_NONE;
    if (ok) of_group[g] = label_of[id];
  }
  free(label_of);
  shoal_ids_reset(&spans);
  return ok;
}

void shoal_class_labels_reset(shoal_class_labels *labels) {
  for (size_t q = 0; q < labels->n; q++) shoal_strings_reset(&labels->strings[q]);
  shoal_arena_reset(&labels->arena);
  memset(labels, 0, sizeof *labels);
}

static bool make(shoal_class_labels *labels, const shoal_axes *axes, const shoal_span *boxes,
                 uint32_t n_groups) {
  if (!SHOAL_ARENA_ARRAY(&labels->arena, labels->strings, axes->n) ||
      !SHOAL_ARENA_ARRAY(&labels->arena, labels->of_group, axes->n))
    return false;
  for (size_t q = 0; q < axes->n; q++) {
    if (!shoal_strings_init(&labels->strings[q])) return false;
    labels->n = q + 1;
    if (!SHOAL_ARENA_ARRAY(&labels->arena, labels->of_group[q], n_groups) ||
        !label_groups(axes, q, boxes, n_groups, &labels->strings[q], labels->of_group[q]))
      return false;
  }
  return true;
}

shoal_status shoal_class_labels_make(shoal_class_labels *labels, const shoal_axes *axes,
                                     const shoal_span *boxes, uint32_t n_groups,
                                     shoal_error *error) {
  memset(labels, 0, sizeof *labels);
  if (make(labels, axes, boxes, n_groups)) return SHOAL_OK;
  shoal_class_labels_reset(labels);
  return shoal_fail_memory(error);
}

/* ------------------------------------------------------------ classes */

static bool group_labels(const shoal_class_labels *labels, shoal_grouper *grouper,
                         uint32_t n_groups, uint32_t *class_of, uint32_t *n_classes) {
  if (!shoal_grouper_start(grouper, n_groups)) return false;
  for (size_t q = 0; q < labels->n; q++)
    if (!shoal_grouper_fold(grouper, n_groups, NULL, labels->of_group[q],
                            labels->strings[q].n_strings, class_of))
      return false;
  *n_classes = shoal_grouper_ids(grouper, n_groups, class_of);
  return *n_classes != SHOAL_NONE;
}

shoal_status shoal_class_labels_unite(shoal_class_labels *labels, uint32_t n_groups,
                                      uint32_t *class_of, uint32_t *n_classes, shoal_error *error) {
  shoal_grouper grouper;
  shoal_grouper_init(&grouper);
  bool ok = group_labels(labels, &grouper, n_groups, class_of, n_classes);
  for (size_t q = 0; ok && q < labels->n; q++) /* a class never has a higher number than a group */
    for (uint32_t g = 0; g < n_groups; g++)
      labels->of_group[q][class_of[g]] = labels->of_group[q][g];
  shoal_grouper_reset(&grouper);
  return ok ? SHOAL_OK : shoal_fail_memory(error);
}
