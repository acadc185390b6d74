/* SPDX-License-Identifier: Apache-2.0 */
/* report/measures: the figures of utility that a page and the JSON of a release show, as a table.
 */
#ifndef SHOAL_REPORT_MEASURES_H
#define SHOAL_REPORT_MEASURES_H

#include "measure/figures.h"
#include "report/result.h"

typedef struct shoal_utility_figure {
  const char *key, *title, *meaning;
  size_t offset; /* of a double in shoal_measures */
} shoal_utility_figure;

/* Ends with an entry whose key is NULL. */
const shoal_utility_figure *shoal_utility_figures(void);
/* NAN: it cannot be computed. */
double shoal_utility_value(const shoal_measures *measures, const shoal_utility_figure *figure);

#endif
