/* SPDX-License-Identifier: Apache-2.0 */
/* measure/local: see local.h. */
#include "measure/local.h"

static double difference(const int64_t *numbers, const shoal_axis *axis, uint32_t lo, uint32_t hi) {
  return (double)((uint64_t)numbers[axis->code_at[hi]] - (uint64_t)numbers[axis->code_at[lo]]);
}

/* What one row of a class loses of an attribute, 0 .. 1. */
static double span_loss(const shoal_axis *axis, const int64_t *numbers, shoal_span span) {
  if (span.lo == span.hi) return 0;
  if (axis->hierarchy) {
    uint32_t level, label;
    shoal_axis_ancestor(axis, span, &level, &label);
    uint32_t height = axis->hierarchy->tree_height;
    return height ? (double)axis->hierarchy->levels[level].node_height[label] / height : 0;
  }
  if (shoal_axis_mixed(axis, span)) return 1;
  return difference(numbers, axis, span.lo, span.hi) /
         difference(numbers, axis, 0, axis->n_numbers - 1);
}

void shoal_sizes_measure(const shoal_classes *groups, const uint32_t *class_of,
                         const uint8_t *breaks, uint64_t k, double *dm, double *avg) {
  double rows = 0, n = 0;
  *dm = *avg = 0;
  for (uint32_t g = 0; g < groups->n_classes; g++) {
    if (breaks[class_of ? class_of[g] : g]) continue;
    double size = (double)groups->n_rows[g];
    *dm += size * size;
    rows += size;
    n++;
  }
  if (n > 0) *avg = rows / (n * (double)k);
}

shoal_utility shoal_local_measure(const shoal_axes *axes, const shoal_recoding *recoding,
                                  const shoal_classes *classes, const shoal_span *extents,
                                  const uint8_t *breaks, const uint64_t *noise, uint64_t k,
                                  double *loss) {
  shoal_utility utility = {0};
  double rows = 0;
  for (size_t q = 0; q < axes->n; q++) loss[q] = 0;
  for (uint32_t c = 0; c < classes->n_classes; c++) {
    if (breaks[c]) continue;
    double size = (double)(classes->n_rows[c] - (noise ? noise[c] : 0));
    rows += size;
    for (size_t q = 0; q < axes->n; q++)
      loss[q] +=
          size * span_loss(&axes->items[q], recoding->numbers[q], extents[(size_t)c * axes->n + q]);
  }
  for (size_t q = 0; q < axes->n; q++) {
    utility.il += loss[q];
    if (rows > 0) loss[q] /= rows;
  }
  shoal_sizes_measure(classes, NULL, breaks, k, &utility.dm, &utility.avg);
  if (rows > 0) utility.nil = utility.il / (rows * (double)axes->n);
  utility.accuracy = 1 - utility.nil;
  utility.completeness = rows / (double)axes->n_rows;
  return utility;
}
