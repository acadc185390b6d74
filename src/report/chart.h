/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report/chart: charts of the page, as SVG without scripts. Horizontal lengths are fractions of the
 * width while letters keep their size, so a chart is readable on a phone too. Axes begin at zero.
 * "Before" is hatched and "after" is solid, so the series differ without colour.
 */
#pragma once

#include "report/result.h"

enum { SHOAL_CHART_SERIES = 2 };

typedef struct shoal_chart_bar {
  const char *label; /* short: one line at the left */
  uint64_t values[SHOAL_CHART_SERIES];
  const char *rule; /* words on a line above this row; NULL: no line */
} shoal_chart_bar;

typedef struct shoal_chart {
  const char *title, *description;        /* for screen readers */
  const char *axis;                       /* what is counted: "records" */
  const char *series[SHOAL_CHART_SERIES]; /* a single one is drawn solid */
  uint64_t totals[SHOAL_CHART_SERIES];    /* for percentages; 0: none */
  size_t n_series;
  const shoal_chart_bar *bars;
  size_t n_bars;
} shoal_chart;

/* Horizontal bars with their numbers, an axis from zero and a legend. */
void shoal_chart_bars(const shoal_chart *chart, shoal_text *text);

/* The pair of bars of one row of a table; `max` fills the width of the cell. */
void shoal_chart_pair(uint64_t before, uint64_t after, bool with_before, uint64_t max,
                      shoal_text *text);

/* The levels of a quasi-identifier side by side, the chosen one marked. */
void shoal_chart_levels(const char *name, uint32_t level, uint32_t height, shoal_text *text);

/* Patterns of the charts: once per page, before the first chart. */
void shoal_chart_patterns(shoal_text *text);
