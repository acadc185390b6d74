/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report/chart: pictures of a page, as SVG without scripts. Lengths along a line are shares of its
 * width and letters keep their size, so that a chart is as readable on a phone as on a desk. Axes
 * begin at zero. "Before" is hatched and "after" is solid: no colour is needed to tell them apart.
 */
#ifndef SHOAL_REPORT_CHART_H
#define SHOAL_REPORT_CHART_H

#include "report/result.h"

enum { SHOAL_CHART_SERIES = 2 };

typedef struct shoal_chart_bar {
  const char *label; /* short: it stands at the left in one line */
  uint64_t values[SHOAL_CHART_SERIES];
  const char *rule; /* words on a line above this row; NULL: no line */
} shoal_chart_bar;

typedef struct shoal_chart {
  const char *title, *description;        /* for those who hear the page */
  const char *axis;                       /* what is counted: "records" */
  const char *series[SHOAL_CHART_SERIES]; /* a single one is drawn solid */
  uint64_t totals[SHOAL_CHART_SERIES];    /* of which shares are told; 0: none are */
  size_t n_series;
  const shoal_chart_bar *bars;
  size_t n_bars;
} shoal_chart;

/* Horizontal bars with their numbers, an axis from zero and a legend. */
void shoal_chart_bars(const shoal_chart *chart, shoal_text *text);

/* The pair of bars of one row of a table; `most` is as long as the cell is wide. */
void shoal_chart_pair(uint64_t before, uint64_t after, bool with_before, uint64_t most,
                      shoal_text *text);

/* A quasi-identifier's levels in a row, the one that was taken marked. */
void shoal_chart_levels(const char *name, uint32_t level, uint32_t height, shoal_text *text);

/* Patterns that the charts use: once a page, before the first chart. */
void shoal_chart_patterns(shoal_text *text);

#endif
