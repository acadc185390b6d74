/* SPDX-License-Identifier: Apache-2.0 */
/* report/utility: see utility.h. */
#include "report/utility.h"

#include <string.h>

const shoal_utility_figure *shoal_utility_figures(void) {
  static const shoal_utility_figure figures[] = {
      {"loss", "Loss", "0 nothing lost, 1 everything; by the values under each label",
       offsetof(shoal_measures, loss)},
      {"ncp", "Normalized certainty penalty", "0 to 1; by interval widths and values under labels",
       offsetof(shoal_measures, ncp)},
      {"precision", "Precision", "1 nothing lost, 0 everything; by steps of the hierarchies",
       offsetof(shoal_measures, precision)},
      {"nil", "Information loss a cell", "0 to 1; of the released rows",
       offsetof(shoal_measures, nil)},
      {"entropy_share", "Entropy lost", "0 to 1; of the detail that could be lost",
       offsetof(shoal_measures, entropy_share)},
      {"ambiguity", "Ambiguity", "combinations of values that a row can stand for, on average",
       offsetof(shoal_measures, ambiguity)},
      {"avg", "Average class", "mean size of a class, in multiples of k; 1 is the least",
       offsetof(shoal_measures, avg)},
      {"dm", "Discernibility", "sum of squared class sizes; lower is finer",
       offsetof(shoal_measures, dm)},
      {"completeness", "Completeness", "share of the rows that are in the release",
       offsetof(shoal_measures, completeness)},
      {NULL, NULL, NULL, 0}};
  return figures;
}

double shoal_utility_value(const shoal_measures *measures, const shoal_utility_figure *figure) {
  double value;
  memcpy(&value, (const char *)measures + figure->offset, sizeof value);
  return value;
}
