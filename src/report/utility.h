/* SPDX-License-Identifier: Apache-2.0 */
/* report/utility: the figures of utility that a page and a release's report tell, as a table. */
#ifndef SHOAL_REPORT_UTILITY_H
#define SHOAL_REPORT_UTILITY_H

#include "report/measures.h"

typedef struct shoal_utility_figure {
  const char *key, *title, *meaning;
  size_t offset; /* of a double in shoal_measures */
} shoal_utility_figure;

/* Ends with an entry whose key is NULL. */
const shoal_utility_figure *shoal_utility_figures(void);
/* NAN where it cannot be told. */
double shoal_utility_value(const shoal_measures *measures, const shoal_utility_figure *figure);

#endif
