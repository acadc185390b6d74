/* SPDX-License-Identifier: Apache-2.0 */
/* measure/utility: see utility.h. */
#include "measure/utility.h"

/* Rows x height of the released label's subtree, summed over released classes. */
static double attribute_loss(const shoal_frequency *frequency, size_t q, uint32_t level,
                             const shoal_classes *classes, const uint8_t *breaks) {
  const shoal_hierarchy *hierarchy = frequency->hierarchies[q];
  const shoal_level *labels = &hierarchy->levels[level];
  if (hierarchy->tree_height == 0) return 0;
  double steps = 0;
  for (uint32_t c = 0; c < classes->n_classes; c++) {
    if (breaks[c]) continue;
    uint32_t label = labels->of_leaf[shoal_code_at(frequency->codes[q], classes->tuple[c])];
    steps += (double)classes->n_rows[c] * labels->node_height[label];
  }
  return steps / hierarchy->tree_height;
}

shoal_utility shoal_utility_measure(const shoal_frequency *frequency, const shoal_space *space,
                                    const uint32_t *levels, const shoal_classes *classes,
                                    const uint8_t *breaks, uint64_t k, double *loss) {
  shoal_utility utility = {.accuracy = 1, .height_accuracy = 1};
  double rows = 0, n_classes = 0;
  for (uint32_t c = 0; c < classes->n_classes; c++) {
    if (breaks[c]) continue;
    double size = (double)classes->n_rows[c];
    utility.dm += size * size;
    rows += size;
    n_classes++;
  }
  double n = (double)space->n, height = 0;
  for (size_t q = 0; q < space->n; q++) {
    double il = attribute_loss(frequency, q, levels[q], classes, breaks);
    if (loss) loss[q] = rows > 0 ? il / rows : 0;
    utility.il += il;
    utility.accuracy -= (double)levels[q] / space->top[q] / n;
    height += levels[q];
  }
  if (space->height) utility.height_accuracy -= height / space->height;
  if (n_classes > 0) utility.avg = rows / (n_classes * (double)k);
  if (rows > 0) utility.nil = utility.il / (rows * n);
  utility.completeness = rows / (double)frequency->n_records;
  return utility;
}
