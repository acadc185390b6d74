/* SPDX-License-Identifier: Apache-2.0 */
/* report/chart: horizontal positions are per mille of the width, vertical ones pixels. */
#include "report/chart.h"

#include <inttypes.h>
#include <stdio.h>

#include "report/format.h"

enum {
  GUTTER = 265, /* per mille: labels at the left */
  ZONE = 390,   /* per mille: the longest bar; the rest is for its number */
  BAR = 15,
  BAR_GAP = 3,
  ROW_GAP = 13,
  RULE = 24,
  AXIS = 30,
  MAX_TICKS = 4,
};

/* "43.7%" of per mille. */
static shoal_phrase at(uint64_t per_mille) {
  shoal_phrase position;
  (void)snprintf(position.text, sizeof position.text, "%" PRIu64 ".%" PRIu64 "%%", per_mille / 10,
                 per_mille % 10);
  return position;
}

/* Length of n on an axis that ends at `end`; at least 1 for n > 0, so that it is visible. */
static uint64_t scale(uint64_t n, uint64_t end, uint64_t length) {
  if (!n || !end) return 0;
  uint64_t scaled = (uint64_t)((double)n / (double)end * (double)length + 0.5);
  return scaled ? scaled : 1;
}

/* 1, 2 or 5 times a power of ten: at max MAX_TICKS of them up to `max`. */
static uint64_t tick_step(uint64_t max) {
  static const uint64_t steps[] = {1, 2, 5};
  for (uint64_t power = 1;; power *= 10)
    for (size_t i = 0; i < 3; i++)
      if (max / (steps[i] * power) <= MAX_TICKS || power > UINT64_MAX / 100)
        return steps[i] * power;
}

void shoal_chart_patterns(shoal_text *text) {
  shoal_text_add(text,
                 "<svg class=\"patterns\" width=\"0\" height=\"0\" aria-hidden=\"true\"><defs>"
                 "<pattern id=\"before-hatch\" width=\"6\" height=\"6\" "
                 "patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(45)\">"
                 "<rect class=\"hatch-back\" width=\"6\" height=\"6\"/>"
                 "<rect class=\"hatch-front\" width=\"2\" height=\"6\"/>"
                 "</pattern></defs></svg>\n");
}

static const char *series_class(const shoal_chart *chart, size_t s) {
  return chart->n_series > 1 && s == 0 ? "before" : "after";
}

static void draw_value(const shoal_chart *chart, const shoal_chart_bar *bar, size_t s, uint64_t end,
                       size_t y, shoal_text *text) {
  uint64_t n = bar->values[s], length = scale(n, end, ZONE);
  if (n)
    shoal_text_print(text, "<rect class=\"%s\" x=\"%s\" width=\"%s\" y=\"%zu\" height=\"%d\"/>",
                     series_class(chart, s), at(GUTTER).text, at(length).text, y, BAR);
  shoal_text_print(text, "<text class=\"value\" x=\"%s\" dx=\"6\" y=\"%zu\">%s",
                   at(GUTTER + length).text, y + BAR - 3, shoal_say_count(n).text);
  if (chart->totals[s])
    shoal_text_print(text, " (%.1f%%)", 100.0 * (double)n / (double)chart->totals[s]);
  shoal_text_add(text, "</text>");
}

static size_t row_height(const shoal_chart *chart) {
  return chart->n_series * (BAR + BAR_GAP) - BAR_GAP + ROW_GAP;
}

static size_t chart_height(const shoal_chart *chart) {
  size_t height = ROW_GAP / 2 + chart->n_bars * row_height(chart);
  for (size_t i = 0; i < chart->n_bars; i++) height += chart->bars[i].rule ? RULE : 0;
  return height;
}

void shoal_chart_bars(const shoal_chart *chart, shoal_text *text) {
  uint64_t max = 1;
  for (size_t i = 0; i < chart->n_bars; i++)
    for (size_t s = 0; s < chart->n_series; s++)
      if (chart->bars[i].values[s] > max) max = chart->bars[i].values[s];
  uint64_t step = tick_step(max), end = (max + step - 1) / step * step;
  size_t height = chart_height(chart), y = ROW_GAP / 2;
  if (chart->n_series > 1) {
    shoal_text_add(text, "<p class=\"legend\" aria-hidden=\"true\">");
    for (size_t s = 0; s < chart->n_series; s++)
      shoal_text_print(text,
                       "<span><svg width=\"26\" height=\"13\"><rect class=\"%s\" x=\"1\" y=\"1\" "
                       "width=\"24\" height=\"11\"/></svg> %s</span> ",
                       series_class(chart, s), chart->series[s]);
    shoal_text_add(text, "</p>\n");
  }
  shoal_text_print(text,
                   "<svg class=\"chart\" role=\"img\" width=\"100%%\" "
                   "height=\"%zu\"><title>%s</title><desc>%s</desc>\n",
                   height + AXIS, chart->title, chart->description);
  for (uint64_t tick = 0; tick <= end; tick += step) {
    uint64_t x = GUTTER + scale(tick, end, ZONE);
    shoal_text_print(text,
                     "<line class=\"%s\" x1=\"%s\" x2=\"%s\" y1=\"0\" y2=\"%zu\"/><text "
                     "class=\"tick\" x=\"%s\" y=\"%zu\">%s</text>",
                     tick ? "grid" : "base", at(x).text, at(x).text, height, at(x).text,
                     height + 17, shoal_say_count(tick).text);
  }
  shoal_text_print(text, "<text class=\"axis\" x=\"%s\" y=\"%zu\">%s</text>\n", at(1000).text,
                   height + 17, chart->axis);
  for (size_t i = 0; i < chart->n_bars; i++) {
    const shoal_chart_bar *bar = &chart->bars[i];
    if (bar->rule) {
      const char *words = bar->rule;
      shoal_text_print(text,
                       "<line class=\"rule\" x1=\"0\" x2=\"100%%\" y1=\"%zu\" y2=\"%zu\"/><text "
                       "class=\"rule-words\" x=\"100%%\" y=\"%zu\">%s</text>\n",
                       y + RULE - 6, y + RULE - 6, y + RULE - 11, words);
      y += RULE;
    }
    size_t middle = y + (row_height(chart) - ROW_GAP) / 2;
    shoal_text_print(text, "<text class=\"label\" x=\"0\" y=\"%zu\">%s</text>", middle + 4,
                     bar->label);
    for (size_t s = 0; s < chart->n_series; s++)
      draw_value(chart, bar, s, end, y + s * (BAR + BAR_GAP), text);
    shoal_text_add(text, "\n");
    y += row_height(chart);
  }
  shoal_text_add(text, "</svg>\n");
}

void shoal_chart_pair(uint64_t before, uint64_t after, bool with_before, uint64_t max,
                      shoal_text *text) {
  shoal_text_add(text, "<svg class=\"pair\" width=\"100%\" height=\"26\" aria-hidden=\"true\">"
                       "<line class=\"base\" x1=\"0\" x2=\"0\" y1=\"0\" y2=\"26\"/>");
  if (with_before && before)
    shoal_text_print(text, "<rect class=\"before\" x=\"0\" y=\"2\" height=\"10\" width=\"%s\"/>",
                     at(scale(before, max, 1000)).text);
  if (after)
    shoal_text_print(text, "<rect class=\"after\" x=\"0\" y=\"14\" height=\"10\" width=\"%s\"/>",
                     at(scale(after, max, 1000)).text);
  shoal_text_add(text, "</svg>");
}

void shoal_chart_levels(const char *name, uint32_t level, uint32_t height, shoal_text *text) {
  shoal_text_print(
      text,
      "<svg class=\"levels\" role=\"img\" width=\"100%%\" height=\"30\"><title>%s: level %" PRIu32
      " of %" PRIu32 "</title>",
      name, level, height);
  uint64_t n = (uint64_t)height + 1;
  for (uint64_t l = 0; l < n; l++) {
    uint64_t x = l * 1000 / n, end = (l + 1) * 1000 / n;
    bool taken = l == level;
    shoal_text_print(text,
                     "<rect class=\"%s\" rx=\"5\" y=\"2\" height=\"26\" x=\"%s\" "
                     "width=\"%s\"/><text class=\"%s\" x=\"%s\" y=\"20\">%s%" PRIu64 "</text>",
                     taken       ? "taken"
                     : l < level ? "passed"
                                 : "open",
                     at(x + 4).text, at(end - x > 12 ? end - x - 8 : 4).text,
                     taken ? "taken-word" : "level-word", at((x + end) / 2).text,
                     taken ? "\xe2\x9c\x93 " : "", l);
  }
  shoal_text_add(text, "</svg>");
}
