/* SPDX-License-Identifier: Apache-2.0 */
/* lattice/labels: labels in use, counted from the distinct tuples; see labels.h. */
#include "lattice/labels.h"

#include <stdlib.h>

#include "base/memory.h"

shoal_status shoal_label_use_count(const shoal_frequency *frequency, size_t attribute,
                                   uint32_t level, shoal_label_use *use, shoal_error *error) {
  const shoal_level *labels = &frequency->hierarchies[attribute]->levels[level];
  uint64_t *n_rows = shoal_alloc_zero(labels->n_labels, sizeof *n_rows);
  if (!n_rows) return shoal_fail_memory(error);
  shoal_codes codes = frequency->codes[attribute];
  for (uint32_t t = 0; t < frequency->n_tuples; t++)
    n_rows[labels->of_leaf[shoal_code_at(codes, t)]] += frequency->base.n_rows[t];
  *use = (shoal_label_use){0, 0};
  for (uint32_t label = 0; label < labels->n_labels; label++) {
    if (n_rows[label] == 0) continue; /* a label of the hierarchy that no row has */
    use->n_labels++;
    if (use->fewest_rows == 0 || n_rows[label] < use->fewest_rows) use->fewest_rows = n_rows[label];
  }
  free(n_rows);
  return SHOAL_OK;
}
