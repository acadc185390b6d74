/* SPDX-License-Identifier: Apache-2.0 */
/*
 * measure/release_loss: sums over released classes. Noise rows are rows of the release like others,
 * as the release does not tell which they are; only completeness does not count them.
 */
#include "measure/release_loss.h"

double shoal_level_loss(const shoal_frequency_set *frequency, size_t q, uint32_t level,
                        const shoal_released *released) {
  const shoal_hierarchy *hierarchy = frequency->hierarchies[q];
  const shoal_level *labels = &hierarchy->levels[level];
  const shoal_classes *classes = released->classes;
  if (hierarchy->tree_height == 0) return 0;
  double steps = 0;
  for (uint32_t c = 0; c < classes->n_classes; c++) {
    if (released->violates[c]) continue;
    uint32_t label = labels->of_leaf[shoal_code_at(frequency->codes[q], classes->tuple[c])];
    steps += (double)classes->n_rows[c] * labels->node_height[label];
  }
  return steps / hierarchy->tree_height;
}

void shoal_box_losses(const shoal_axes *axes, const shoal_span *boxes,
                      const shoal_released *released, double *loss) {
  for (size_t q = 0; q < axes->n; q++) loss[q] = 0;
  for (uint32_t c = 0; c < released->classes->n_classes; c++)
    for (size_t q = 0; !released->violates[c] && q < axes->n; q++)
      loss[q] += (double)released->classes->n_rows[c] *
                 shoal_box_share(axes, boxes + c * axes->n_spans, q);
}

void shoal_sizes_measure(const shoal_classes *groups, const uint32_t *class_of,
                         const uint8_t *violates, uint64_t k, double *dm, double *avg) {
  double rows = 0, n = 0;
  *dm = *avg = 0;
  for (uint32_t g = 0; g < groups->n_classes; g++) {
    if (violates[class_of ? class_of[g] : g]) continue;
    double size = (double)groups->n_rows[g];
    *dm += size * size;
    rows += size;
    n++;
  }
  if (n > 0) *avg = rows / (n * (double)k);
}

shoal_release_loss shoal_release_loss_measure(const shoal_released *released, uint64_t n_records,
                                              uint64_t k, size_t n_quasi, double *loss) {
  shoal_release_loss u = {0};
  double rows = 0, noise = 0;
  shoal_sizes_measure(released->classes, NULL, released->violates, k, &u.dm, &u.avg);
  for (uint32_t c = 0; c < released->classes->n_classes; c++) {
    if (released->violates[c]) continue;
    rows += (double)released->classes->n_rows[c];
    noise += released->noise_rows ? (double)released->noise_rows[c] : 0;
  }
  for (size_t q = 0; q < n_quasi; q++) {
    u.il += loss[q];
    if (rows > 0) loss[q] /= rows;
  }
  if (rows > 0) u.nil = u.il / (rows * (double)n_quasi);
  u.accuracy = u.height_accuracy = 1 - u.nil;
  u.completeness = (rows - noise) / (double)n_records;
  u.release_loss = 1 - u.completeness * (1 - u.nil);
  return u;
}
