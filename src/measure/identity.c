/* SPDX-License-Identifier: Apache-2.0 */
/*
 * measure/identity: see risk.h. Thresholds are compared as class sizes, since that is how they are
 * meant: 0.09 is one in eleven, although 1/11 is a little above it.
 */
#include <math.h>

#include "measure/risk.h"

enum { MOST_SMALL = 10 }; /* CMS: no cell of 1 to 10 */

const shoal_threshold *shoal_thresholds(void) {
  static const shoal_threshold thresholds[SHOAL_N_THRESHOLDS + 1] = {
      {0.05, 20, "0.05", "classes of 20 (El Emam & Malin 2015)"},
      {0.09, 11, "0.09", "classes of 11 (EMA Policy 0070; Health Canada)"},
      {0.2, 5, "0.2", "classes of 5 (El Emam & Malin 2015)"},
      {0.33, 3, "0.33", "classes of 3 (El Emam & Malin 2015)"},
      {0, 0, NULL, NULL}};
  return thresholds;
}

static const uint64_t least_of_bin[SHOAL_N_SIZES] = {1, 2, 3, 5, 11, 20, 50, 100, 500, 1000};

static void start_bins(shoal_size_bin *bins) {
  for (size_t i = 0; i < SHOAL_N_SIZES; i++)
    bins[i] = (shoal_size_bin){.least = least_of_bin[i],
                               .most = i + 1 < SHOAL_N_SIZES ? least_of_bin[i + 1] - 1 : 0};
}

static void add_to_bin(shoal_size_bin *bins, uint64_t size) {
  size_t i = SHOAL_N_SIZES - 1;
  while (i > 0 && size < least_of_bin[i]) i--;
  bins[i].n_classes++;
  bins[i].n_rows += size;
}

void shoal_identity_measure(const shoal_frequency *classes, shoal_identity_risk *out) {
  const shoal_threshold *thresholds = shoal_thresholds();
  out->n_classes = classes->n_tuples;
  out->n_rows = classes->n_records;
  start_bins(out->sizes);
  for (uint32_t c = 0; c < classes->n_tuples; c++) {
    uint64_t size = classes->base.n_rows[c];
    if (c == 0 || size < out->smallest_class) out->smallest_class = size;
    if (size == 1) out->unique_rows++;
    add_to_bin(out->sizes, size);
    if (size <= MOST_SMALL) {
      out->small_classes++;
      out->small_class_rows += size;
    }
    for (size_t t = 0; t < SHOAL_N_THRESHOLDS; t++)
      if (size < thresholds[t].class_size) out->at_risk.n_rows[t] += size;
  }
  bool any = out->n_rows > 0;
  out->highest = any ? 1 / (double)out->smallest_class : NAN;
  out->average = any ? (double)out->n_classes / (double)out->n_rows : NAN;
}

void shoal_small_labels_count(const shoal_pair *pair, shoal_risk *risk) {
  for (size_t q = 0; q < pair->n_quasi; q++) {
    const shoal_pair_attribute *a = &pair->attributes[q];
    for (uint32_t code = 0; code < a->released->n_values; code++) {
      if (a->label_rows[code] == 0 || a->label_rows[code] > MOST_SMALL) continue;
      risk->small_labels++;
      risk->small_label_rows += a->label_rows[code];
    }
  }
}
