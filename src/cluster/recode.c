/* SPDX-License-Identifier: Apache-2.0 */
/* cluster/recode: see recode.h. */
#include "cluster/recode.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"

void shoal_recoding_reset(shoal_recoding *recoding) {
  for (size_t q = 0; recoding->numbers && q < recoding->frequency->n_quasi; q++)
    free(recoding->numbers[q]);
  free(recoding->numbers);
  free(recoding->scale);
  free(recoding->hierarchies);
  shoal_axes_reset(&recoding->axes);
  memset(recoding, 0, sizeof *recoding);
}

/* Axes of the same tuples, with intervals instead of trees if a rule says so. */
static shoal_status init_axes(shoal_recoding *recoding, shoal_error *error) {
  const shoal_frequency_set *f = recoding->frequency;
  for (size_t q = 0; q < f->n_quasi; q++) {
    if (!recoding->rules[q].interval) {
      recoding->hierarchies[q] = f->hierarchies[q];
      continue;
    }
    SHOAL_TRY(shoal_column_numbers(f->table, f->quasi[q], &recoding->numbers[q],
                                   &recoding->scale[q], error));
  }
  shoal_frequency_set as_released = *f;
  as_released.hierarchies = recoding->hierarchies;
  return shoal_axes_init(&recoding->axes, &as_released, NULL, SHOAL_LOSS_HEIGHT, error);
}

shoal_status shoal_recoding_init(shoal_recoding *recoding, const shoal_frequency_set *frequency,
                                 const shoal_recode_rule *rules, shoal_error *error) {
  size_t n = frequency->n_quasi;
  *recoding = (shoal_recoding){
      .frequency = frequency,
      .rules = rules,
      .hierarchies = shoal_alloc_zero(n, sizeof *recoding->hierarchies),
      .numbers = shoal_alloc_zero(n, sizeof *recoding->numbers),
      .scale = shoal_alloc_zero(n, sizeof *recoding->scale),
  };
  bool ok = recoding->hierarchies && recoding->numbers && recoding->scale;
  shoal_status status = ok ? init_axes(recoding, error) : shoal_fail_memory(error);
  if (status != SHOAL_OK) shoal_recoding_reset(recoding);
  return status;
}

shoal_span *shoal_boxes_of_rows(const shoal_axes *axes, const uint32_t *group_of_row,
                                uint32_t n_groups) {
  if (axes->n > SIZE_MAX / ((size_t)n_groups + 1)) return NULL;
  size_t n = (size_t)n_groups * axes->n;
  shoal_span *boxes = shoal_alloc(n, sizeof *boxes);
  uint32_t *last = shoal_alloc(axes->n_tuples, sizeof *last); /* by tuple: the group it was in */
  bool ok = boxes && last;
  for (size_t i = 0; ok && i < n; i++) boxes[i] = (shoal_span){UINT32_MAX, 0};
  for (uint32_t t = 0; ok && t < axes->n_tuples; t++) last[t] = UINT32_MAX;
  for (uint64_t row = 0; ok && row < axes->n_rows; row++) {
    uint32_t tuple = axes->tuple_of_row[row], group = group_of_row[row];
    if (last[tuple] == group) continue; /* most tuples are in one group only */
    last[tuple] = group;
    shoal_box_add(axes, boxes + (size_t)group * axes->n, shoal_axes_tuple(axes, tuple));
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

/* "[low-high]", in the spellings of the column. */
static uint32_t intern_ends(shoal_strings *strings, const shoal_column *column, uint32_t low,
                            uint32_t high) {
  size_t low_size, high_size;
  const char *low_bytes = shoal_column_value(column, low, &low_size);
  const char *high_bytes = shoal_column_value(column, high, &high_size);
  if (low == high) return shoal_strings_intern(strings, (shoal_label){low_bytes, low_size});
  shoal_text text;
  shoal_text_init(&text);
  shoal_text_add(&text, "[");
  shoal_text_add_bytes(&text, low_bytes, low_size);
  shoal_text_add(&text, "-");
  shoal_text_add_bytes(&text, high_bytes, high_size);
  shoal_text_add(&text, "]");
  shoal_label label = {text.bytes, text.size_bytes};
  uint32_t id = text.failed ? SHOAL_NONE : shoal_strings_intern(strings, label);
  shoal_text_reset(&text);
  return id;
}

/* A missing value alone keeps its spelling; beside others the label is "*". */
static uint32_t intern_interval(shoal_strings *strings, const shoal_recoding *recoding, size_t q,
                                shoal_span span) {
  const shoal_axis *axis = &recoding->axes.items[q];
  uint32_t low = axis->code_at[span.lo], high = axis->code_at[span.hi];
  if (shoal_axis_mixed(axis, span)) return shoal_strings_intern(strings, (shoal_label){"*", 1});
  bool missing = span.lo >= axis->n_numbers;
  if (missing || !recoding->rules[q].snap.mantissa)
    return intern_ends(strings, recoding->frequency->quasi[q], low, high);
  char text[SHOAL_INTERVAL_BYTES];
  const int64_t *numbers = recoding->numbers[q];
  size_t size = shoal_snapped_label(numbers[low], numbers[high], recoding->scale[q],
                                    recoding->rules[q].snap, text);
  return shoal_strings_intern(strings, (shoal_label){text, size});
}

/* Makes the label of each distinct span once. */
static bool label_groups(const shoal_recoding *recoding, size_t q, const shoal_span *boxes,
                         uint32_t n_groups, shoal_strings *strings, uint32_t *of_group) {
  const shoal_axis *axis = &recoding->axes.items[q];
  size_t n = recoding->axes.n, capacity = 0;
  shoal_ids spans;
  uint32_t *label_of = NULL; /* by span */
  if (!shoal_ids_init(&spans, 1024)) return false;
  bool ok = true;
  for (uint32_t g = 0; ok && g < n_groups; g++) {
    shoal_span span = boxes[(size_t)g * n + q];
    uint32_t known = spans.n_ids;
    uint32_t id = shoal_ids_insert(&spans, (uint64_t)span.lo * axis->n_positions + span.hi);
    ok = id != SHOAL_NONE && shoal_grow(&label_of, &capacity, (size_t)id + 1, sizeof *label_of);
    if (ok && id == known)
      label_of[id] = axis->hierarchy ? intern_ancestor(strings, axis, span)
                                     : intern_interval(strings, recoding, q, span);
    ok = ok && label_of[id] != SHOAL_NONE;
    if (ok) of_group[g] = label_of[id];
  }
  free(label_of);
  shoal_ids_reset(&spans);
  return ok;
}

void shoal_class_labels_reset(shoal_class_labels *labels) {
  for (size_t q = 0; q < labels->n; q++) {
    if (labels->strings) shoal_strings_reset(&labels->strings[q]);
    if (labels->of_group) free(labels->of_group[q]);
  }
  free(labels->strings);
  free(labels->of_group);
  memset(labels, 0, sizeof *labels);
}

static bool make(shoal_class_labels *labels, const shoal_recoding *recoding,
                 const shoal_span *boxes, uint32_t n_groups) {
  size_t n = recoding->axes.n;
  labels->strings = shoal_alloc_zero(n, sizeof *labels->strings);
  labels->of_group = shoal_alloc_zero(n, sizeof *labels->of_group);
  if (!labels->strings || !labels->of_group) return false;
  for (size_t q = 0; q < n; q++) {
    if (!shoal_strings_init(&labels->strings[q])) return false;
    labels->n = q + 1;
    labels->of_group[q] = shoal_alloc(n_groups, sizeof **labels->of_group);
    if (!labels->of_group[q] ||
        !label_groups(recoding, q, boxes, n_groups, &labels->strings[q], labels->of_group[q]))
      return false;
  }
  return true;
}

shoal_status shoal_class_labels_make(shoal_class_labels *labels, const shoal_recoding *recoding,
                                     const shoal_span *boxes, uint32_t n_groups,
                                     shoal_error *error) {
  memset(labels, 0, sizeof *labels);
  if (make(labels, recoding, boxes, n_groups)) return SHOAL_OK;
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
