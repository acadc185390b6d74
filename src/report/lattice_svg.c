/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report/lattice_svg: the lattice as a self-contained SVG: no scripts, no fonts, light or dark by
 * the reader's scheme. Nodes are in rows by height, the ungeneralized one at the bottom (Truta &
 * Vinay 2006, Figure 2). Verdicts differ by colour and by shape. Above MAX_DRAWN nodes, one bar per
 * height counts them instead.
 *
 * Positions are whole pixels. Widths of texts depend on the reader's fonts, so they are upper
 * bounds (shoal_markup_width), and neighbours are placed by them.
 */
#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "report/format.h"
#include "report/result.h"

enum {
  MAX_DRAWN = 400,  /* nodes; hence also heights */
  MAX_BARS = 100,   /* more heights than this share bars */
  MAX_LETTERS = 24, /* of an attribute's name */
  MARGIN = 28,
  MIN_WIDTH = 780, /* between the margins */
  AXIS_WIDTH = 60, /* heights have up to three digits */
  LINE_HEIGHT = 22,
  BOX_HEIGHT = 46,
  BOX_GAP = 18,
  MIN_BOX_WIDTH = 112,
  BAND_WIDTH = 24, /* at the left of a box, for the mark */
  BAR_WIDTH = 460,
  BAR_HEIGHT = 18,
  BAR_PITCH = 27,
  COLUMN_WIDTH = 124,
  PAGE_WIDTH = 1100, /* letters are still readable when shrunk to the width of a page */
};

typedef struct drawing {
  const shoal_result *result; /* quasi-identifiers, heights, rows */
  const shoal_lattice_report *lattice;
  shoal_text *text;
  size_t width; /* between the margins */
  size_t y;     /* where the next part begins */
  size_t n_satisfying, n_minimal;
  bool has_chosen;
  size_t max_width;   /* between the margins; 0: no limit */
  uint64_t min_shown; /* numbers of rows from 1 to min_shown - 1 are "< min_shown"; 0: show all */
} drawing;

/* Teal and amber differ for the colour-blind too. The dark scheme has only what differs. */
static const char style[] =
    "<style>\n"
    ".shoal{font:13px system-ui,sans-serif;font-variant-numeric:tabular-nums}\n"
    ".shoal text,.shoal .name{fill:#1b2733} .shoal .dim{fill:#566370}\n"
    ".shoal .title{font-size:19px;font-weight:600} .shoal .name{font-weight:600}\n"
    ".shoal .vector,.shoal .word{font-weight:600} .shoal .end{text-anchor:end}\n"
    ".shoal .vector,.shoal .rows,.shoal .word{text-anchor:middle} .shoal .rows{font-size:11.5px}\n"
    ".shoal .paper,.shoal .no .fill{fill:#fff} .shoal .word{font-size:11px;fill:#fff}\n"
    ".shoal .rule{stroke:#dde3e8;stroke-dasharray:1 5;stroke-linecap:round}\n"
    ".shoal .edges{stroke:#c3ccd4} .shoal .edges .on{stroke:#6fb5a6}\n"
    ".shoal .outline{fill:none;stroke-width:1.25} .shoal .minimal .outline{stroke-width:3.5}\n"
    ".shoal .yes .fill{fill:#d8f1e8} .shoal .yes .outline{stroke:#0f766e}\n"
    ".shoal .yes .band,.shoal .bar.yes,.shoal .badge{fill:#0f766e}\n"
    ".shoal .no .band,.shoal .bar.no{fill:url(#shoal-hatch)}\n"
    ".shoal .no .outline,.shoal .bar.no{stroke:#b45309} .shoal .bar.minimal{fill:#06302c}\n"
    ".shoal .mark{fill:none;stroke:#fff;stroke-width:2.25;stroke-linecap:round}\n"
    ".shoal .ring{fill:none;stroke:#1d4ed8;stroke-width:2.5} .shoal .ring-badge{fill:#1d4ed8}\n"
    ".shoal .hatch-fill{fill:#fff4e5} .shoal .hatch-line{fill:#d9924a}\n"
    "@media (prefers-color-scheme:dark){\n"
    ".shoal text,.shoal .name{fill:#e6edf3} .shoal .dim{fill:#9dabb8} .shoal .word{fill:#06131f}\n"
    ".shoal .paper,.shoal .no .fill{fill:#0f161d}\n"
    ".shoal .rule{stroke:#2b3641} .shoal .edges{stroke:#3f4c59} .shoal .edges .on{stroke:#2a7f75}\n"
    ".shoal .yes .fill{fill:#10332f} .shoal .yes .outline{stroke:#2ab3a3}\n"
    ".shoal .yes .band,.shoal .bar.yes,.shoal .badge{fill:#2ab3a3} .shoal .mark{stroke:#06231f}\n"
    ".shoal .no .outline,.shoal .bar.no{stroke:#d98a2b} .shoal .bar.minimal{fill:#d5fbf4}\n"
    ".shoal .ring{stroke:#8ab4ff} .shoal .ring-badge{fill:#8ab4ff}\n"
    ".shoal .hatch-fill{fill:#22190e} .shoal .hatch-line{fill:#9a6424}\n"
    "}</style>\n"
    "<defs><pattern id=\"shoal-hatch\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\"\n"
    "patternTransform=\"rotate(45)\">\n"
    "<rect class=\"hatch-fill\" width=\"6\" height=\"6\"/>\n"
    "<rect class=\"hatch-line\" width=\"2\" height=\"6\"/></pattern></defs>\n";

/* ------------------------------------------------------------ words */

/* Rows to suppress; "< min_shown" where there are fewer. */
static void add_node_rows(shoal_text *text, uint64_t n, uint64_t min_shown) {
  if (n && n < min_shown) shoal_text_print(text, "&lt; %" PRIu64 " rows", min_shown);
  else shoal_text_print(text, "%s", shoal_say_rows(n).text);
}

static size_t count_digits(uint64_t n) {
  size_t n_digits = 1;
  for (; n >= 10; n /= 10) n_digits++;
  return n_digits;
}

/* Bytes of the name up to MAX_LETTERS letters. */
static size_t cut_size(const char *name) {
  size_t size = strlen(name), cut = 0;
  for (size_t i = 0, n_letters = 0; i < size; i++) {
    if (shoal_markup_continues(name[i])) continue;
    if (n_letters == MAX_LETTERS - 1) cut = i;
    if (n_letters++ == MAX_LETTERS) return cut;
  }
  return size;
}

/* ------------------------------------------------------------ boxes */

static void add_rect(shoal_text *text, const char *class, size_t x, size_t y, size_t width,
                     size_t height, int radius) {
  shoal_text_print(
      text, "<rect class=\"%s\" x=\"%zu\" y=\"%zu\" width=\"%zu\" height=\"%zu\" rx=\"%d\"/>",
      class, x, y, width, height, radius);
}

/* A rounded box with its verdict: a check on solid colour, or hatching. */
static void draw_box(shoal_text *text, size_t x, size_t y, size_t width, size_t height,
                     const shoal_node_outcome *node) {
  const int straight = BAND_WIDTH - 8;
  if (node->chosen) add_rect(text, "ring", x - 6, y - 6, width + 12, height + 12, 13);
  add_rect(text, "fill", x, y, width, height, 8);
  shoal_text_print(text,
                   "<path class=\"band\" d=\"M%zu %zuh%dv%zuh-%da8 8 0 0 1-8-8v-%zu"
                   "a8 8 0 0 1 8-8z\"/>",
                   x + 8, y, straight, height, straight, height - 16);
  if (node->satisfies)
    shoal_text_print(text, "<path class=\"mark\" d=\"M%zu %zul4 4 7-8\"/>", x + BAND_WIDTH / 2 - 5,
                     y + height / 2);
  add_rect(text, "outline", x, y, width, height, 8);
}

/* A word on the border of a box. */
static void draw_badge(shoal_text *text, const char *class, size_t middle, size_t y,
                       const char *word) {
  add_rect(text, class, middle - 32, y - 8, 64, 16, 8);
  shoal_text_print(text, "<text class=\"word\" x=\"%zu\" y=\"%zu\">%s</text>", middle, y + 4, word);
}

static void open_group(shoal_text *text, const char *class, const shoal_node_outcome *node) {
  shoal_text_print(text, "<g class=\"%s %s%s%s\">", class, node->satisfies ? "yes" : "no",
                   node->minimal ? " minimal" : "", node->chosen ? " chosen" : "");
}

static void draw_node(const drawing *d, const shoal_node_outcome *node, size_t x, size_t y,
                      size_t width) {
  const shoal_result *result = d->result;
  shoal_text *text = d->text;
  const size_t middle = x + (width + BAND_WIDTH) / 2;
  open_group(text, "node", node);
  /* Tooltip, and text for screen readers. */
  shoal_text_add(text, "<title>");
  for (size_t q = 0; q < result->n_quasi; q++)
    shoal_text_print(text, "%s %" PRIu32 ", ", result->quasi[q], node->levels[q]);
  shoal_text_print(text, "height %" PRIu32 ": ", node->height);
  add_node_rows(text, node->suppressed, d->min_shown);
  shoal_text_print(text, " to suppress, classes: %" PRIu64 "; %s%s%s</title>", node->classes,
                   node->satisfies ? "satisfies" : "does not satisfy",
                   node->minimal ? ", minimal" : "", node->chosen ? ", chosen" : "");
  draw_box(text, x, y, width, BOX_HEIGHT, node);
  shoal_text_print(text, "<text class=\"vector\" x=\"%zu\" y=\"%zu\">[", middle, y + 22);
  for (size_t q = 0; q < result->n_quasi; q++)
    shoal_text_print(text, "%s%" PRIu32, q ? "," : "", node->levels[q]);
  shoal_text_print(text, "]</text><text class=\"rows\" x=\"%zu\" y=\"%zu\">", middle, y + 38);
  add_node_rows(text, node->suppressed, d->min_shown);
  shoal_text_add(text, "</text>");
  if (node->minimal) draw_badge(text, "badge", x + width / 2, y - 1, "minimal");
  if (node->chosen) draw_badge(text, "ring-badge", x + width / 2, y + BOX_HEIGHT + 6, "chosen");
  shoal_text_add(text, "</g>\n");
}

/* ------------------------------------------------------------ head and legends */

static void add_title(const shoal_result *result, const shoal_lattice_report *lattice,
                      shoal_text *text) {
  shoal_text_print(text, "Generalization lattice: %s, MaxSup %s of %s",
                   shoal_say_counted(lattice->n_nodes, "node", "nodes").text,
                   shoal_say_count(lattice->max_suppression).text,
                   shoal_say_rows(result->input_rows).text);
}

static void draw_head(drawing *d) {
  shoal_text *text = d->text;
  shoal_text_print(text, "<text class=\"title\" x=\"%d\" y=\"%zu\">", MARGIN, d->y + 16);
  add_title(d->result, d->lattice, text);
  shoal_text_print(text, "</text>\n<text x=\"%d\" y=\"%zu\">", MARGIN, d->y + 42);
  if (d->n_satisfying) {
    shoal_text_print(text, "%s of %s %s the policy, %s of them %s minimal",
                     shoal_say_count(d->n_satisfying).text,
                     shoal_say_count(d->lattice->n_nodes).text,
                     d->n_satisfying == 1 ? "satisfies" : "satisfy",
                     shoal_say_count(d->n_minimal).text, d->n_minimal == 1 ? "is" : "are");
  } else {
    shoal_text_add(text, "No node satisfies the policy");
  }
  shoal_text_add(text, ".</text>\n");
  d->y += 42 + LINE_HEIGHT;
}

/* The attributes in the order of the levels, on one or more lines. */
static void draw_attributes(drawing *d, const char *before, const char *after) {
  const shoal_result *result = d->result;
  shoal_text_print(d->text, "<text class=\"dim\" x=\"%d\" y=\"%zu\">%s", MARGIN, d->y, before);
  size_t used = shoal_markup_width(before, strlen(before), 13);
  for (size_t q = 0; q < result->n_quasi; q++) {
    const char *name = result->quasi[q], *next = q + 1 < result->n_quasi ? ", " : after;
    size_t size = cut_size(name), whole = strlen(name);
    size_t needed = shoal_markup_width(name, size, 14) +
                    shoal_markup_width(next, strlen(next), 13) +
                    8 * (11 + count_digits(result->heights[q]));
    if (q && used + needed > d->width) {
      d->y += LINE_HEIGHT;
      used = 0;
      shoal_text_print(d->text, "</text>\n<text class=\"dim\" x=\"%d\" y=\"%zu\">", MARGIN, d->y);
    }
    used += needed;
    shoal_text_print(d->text, "<tspan class=\"name\">%.*s", (int)size, name);
    if (size < whole) shoal_text_print(d->text, "\xe2\x80\xa6<title>%s</title>", name);
    shoal_text_print(d->text, "</tspan> (height %" PRIu32 ")%s", result->heights[q], next);
  }
  shoal_text_add(d->text, "</text>\n");
  d->y += LINE_HEIGHT;
}

/* One entry of the legend, a box or a bar of class `bar`; `*x` advances, and wraps to the next
 * line. */
static void draw_entry(drawing *d, size_t *x, const shoal_node_outcome *node, const char *bar,
                       const char *words) {
  const size_t needed = 52 + shoal_markup_width(words, strlen(words), 13);
  if (*x > MARGIN && *x + needed > MARGIN + d->width) {
    *x = MARGIN;
    d->y += LINE_HEIGHT + 14;
  }
  open_group(d->text, "key", node);
  if (bar) add_rect(d->text, bar, *x + 1, d->y, 38, 14, node->chosen ? 4 : 0);
  else draw_box(d->text, *x + 1, d->y - 4, 38, 22, node);
  shoal_text_print(d->text, "</g><text x=\"%zu\" y=\"%zu\">%s</text>\n",
                   *x + (node->chosen ? 54 : 48), d->y + 12, words);
  *x += needed + 20;
}

static void draw_legend(drawing *d, bool as_bars) {
  static const shoal_node_outcome yes = {.satisfies = true}, no = {.satisfies = false},
                                  minimal = {.satisfies = true, .minimal = true},
                                  chosen = {.satisfies = true, .chosen = true};
  size_t x = MARGIN;
  d->y += 2;
  draw_entry(d, &x, &yes, as_bars ? "bar yes" : NULL, "satisfies");
  draw_entry(d, &x, &no, as_bars ? "bar no" : NULL, "does not satisfy");
  if (d->n_minimal)
    draw_entry(d, &x, &minimal, as_bars ? "bar minimal" : NULL, "minimal: none below it satisfies");
  if (d->has_chosen)
    draw_entry(d, &x, &chosen, as_bars ? "ring" : NULL,
               as_bars ? "holds the chosen node" : "chosen");
  d->y += LINE_HEIGHT + 26;
}

/* ------------------------------------------------------------ the lattice, node by node */

typedef struct grid {
  size_t box_width, row_pitch, top; /* `top`: y of the highest row */
  size_t n_rows;
  size_t n_in_row[MAX_DRAWN]; /* by height */
  size_t position[MAX_DRAWN]; /* by node: its position in its row */
} grid;

/* Wide enough for the levels of the top node and for the number of all rows. */
static size_t box_width(const shoal_result *result) {
  size_t n_digits = count_digits(result->input_rows), vector = 12;
  size_t rows = n_digits * 8 + (n_digits - 1) / 3 * 4 + 34;
  for (size_t q = 0; q < result->n_quasi; q++) vector += count_digits(result->heights[q]) * 9 + 5;
  size_t width = BAND_WIDTH + 16 + (vector > rows ? vector : rows);
  return width > MIN_BOX_WIDTH ? width : MIN_BOX_WIDTH;
}

static size_t node_x(const drawing *d, const grid *g, size_t i) {
  size_t step = g->box_width + BOX_GAP, n = g->n_in_row[d->lattice->nodes[i].height];
  size_t free_width = d->width - AXIS_WIDTH - (n * step - BOX_GAP);
  return MARGIN + AXIS_WIDTH + free_width / 2 + g->position[i] * step;
}

static size_t row_y(const grid *g, size_t height) {
  return g->top + (g->n_rows - 1 - height) * g->row_pitch;
}

/*
 * Lines to the direct successors, one stride away each: levels are digits, the last one fastest.
 * The first node has the lowest levels, the last one the highest.
 */
static void draw_edges(const drawing *d, const grid *g, size_t i) {
  const shoal_node_outcome *nodes = d->lattice->nodes;
  const uint32_t *bottom = nodes[0].levels, *top = nodes[d->lattice->n_nodes - 1].levels;
  size_t stride = 1;
  for (size_t q = d->result->n_quasi; q-- > 0;) {
    size_t above = i + stride;
    if (nodes[i].levels[q] < top[q]) {
      assert(above < d->lattice->n_nodes);
      bool on = nodes[i].satisfies && nodes[above].satisfies;
      shoal_text_add(d->text, on ? "<line class=\"on\"" : "<line");
      shoal_text_print(d->text, " x1=\"%zu\" y1=\"%zu\" x2=\"%zu\" y2=\"%zu\"/>\n",
                       node_x(d, g, i) + g->box_width / 2, row_y(g, nodes[i].height),
                       node_x(d, g, above) + g->box_width / 2,
                       row_y(g, nodes[above].height) + BOX_HEIGHT);
    }
    stride *= (size_t)(top[q] - bottom[q]) + 1;
  }
}

/* Assigns each node its position in its row; returns the width of the widest row. */
static size_t position_nodes(const shoal_lattice_report *lattice, grid *g) {
  size_t most = 0;
  for (size_t i = 0; i < lattice->n_nodes; i++) {
    size_t height = lattice->nodes[i].height;
    g->position[i] = g->n_in_row[height]++;
    most = g->n_in_row[height] > most ? g->n_in_row[height] : most;
    g->n_rows = height + 1 > g->n_rows ? height + 1 : g->n_rows;
  }
  return AXIS_WIDTH + most * (g->box_width + BOX_GAP) - BOX_GAP;
}

/* False, and nothing is drawn: the picture would be wider than max_width. */
static bool draw_nodes(drawing *d) {
  const shoal_lattice_report *lattice = d->lattice;
  grid g = {.box_width = box_width(d->result), .n_rows = 1};
  size_t needed = position_nodes(lattice, &g);
  if (d->max_width && needed > d->max_width) return false;
  d->width = needed > d->width ? needed : d->width;
  size_t pitch = needed * 3 / 5 / g.n_rows; /* about 5 : 3, so that edges are not too flat */
  g.row_pitch = pitch < BOX_HEIGHT + 54 ? BOX_HEIGHT + 54 : pitch > 440 ? 440 : pitch;
  draw_head(d);
  draw_attributes(d, "In each box: the levels of [", "] and the rows to suppress");
  draw_legend(d, false);
  g.top = d->y + 12;
  shoal_text_print(d->text, "<text class=\"dim\" x=\"%d\" y=\"%zu\">height</text>\n", MARGIN,
                   d->y - 4);
  for (size_t h = 0; h < g.n_rows; h++)
    shoal_text_print(d->text,
                     "<text x=\"%d\" y=\"%zu\">%zu</text>"
                     "<path class=\"rule\" d=\"M%d %zuH%zu\"/>\n",
                     MARGIN, row_y(&g, h) + 28, h, MARGIN + AXIS_WIDTH - 20, row_y(&g, h) + 23,
                     MARGIN + d->width);
  shoal_text_add(d->text, "<g class=\"edges\">\n");
  for (size_t i = 0; i < lattice->n_nodes; i++) draw_edges(d, &g, i);
  shoal_text_add(d->text, "</g>\n");
  for (size_t i = 0; i < lattice->n_nodes; i++)
    draw_node(d, &lattice->nodes[i], node_x(d, &g, i), row_y(&g, lattice->nodes[i].height),
              g.box_width);
  d->y = row_y(&g, 0) + BOX_HEIGHT + 8;
  return true;
}

/* ------------------------------------------------------------ the lattice, height by height */

typedef struct tally {
  size_t minimal, yes, no; /* nodes; yes: satisfying, without the minimal ones */
  bool chosen;
} tally;

static size_t draw_bar(shoal_text *text, const char *class, size_t n, size_t most, size_t x,
                       size_t y) {
  if (!n) return x;
  assert(most >= n);
  size_t width = n * BAR_WIDTH / most;
  width = width < 3 ? 3 : width; /* visible even for one in thousands */
  add_rect(text, class, x, y, width, BAR_HEIGHT, 0);
  return x + width;
}

static void draw_counts(const drawing *d, const tally *row, size_t most, size_t x) {
  const size_t numbers[] = {row->yes + row->minimal, row->minimal, row->no};
  size_t end = draw_bar(d->text, "bar minimal", row->minimal, most, x, d->y);
  end = draw_bar(d->text, "bar yes", row->yes, most, end, d->y);
  end = draw_bar(d->text, "bar no", row->no, most, end, d->y);
  if (row->chosen) add_rect(d->text, "ring", x - 4, d->y - 4, end - x + 8, BAR_HEIGHT + 8, 4);
  for (size_t i = 0; i < 3; i++)
    shoal_text_print(d->text, "<text class=\"end%s\" x=\"%zu\" y=\"%zu\">%s</text>",
                     numbers[i] ? "" : " dim", x + BAR_WIDTH + (i + 1) * COLUMN_WIDTH, d->y + 14,
                     shoal_say_count(numbers[i]).text);
  shoal_text_add(d->text, "\n");
}

static void draw_bars_head(drawing *d, size_t per_row, size_t x) {
  static const char *const columns[] = {"satisfy", "of these minimal", "do not satisfy"};
  draw_head(d);
  bool many = d->lattice->n_nodes > MAX_DRAWN; /* else the drawing is too wide for a page */
  shoal_text_print(d->text,
                   "<text x=\"%d\" y=\"%zu\">%s%zu nodes cannot be drawn readably%s: each row "
                   "counts the nodes of %zu height%s. The CSV lists every node.</text>\n",
                   MARGIN, d->y, many ? "More than " : "", many ? MAX_DRAWN : d->lattice->n_nodes,
                   many ? "" : " in a page", per_row, per_row > 1 ? "s" : "");
  d->y += LINE_HEIGHT;
  draw_attributes(d, "Levels of [", "]");
  draw_legend(d, true);
  shoal_text_print(d->text, "<text class=\"dim\" x=\"%d\" y=\"%zu\">height</text>", MARGIN, d->y);
  for (size_t i = 0; i < 3; i++)
    shoal_text_print(d->text, "<text class=\"dim end\" x=\"%zu\" y=\"%zu\">%s</text>",
                     x + BAR_WIDTH + (i + 1) * COLUMN_WIDTH, d->y, columns[i]);
  d->y += 14;
}

static void draw_bars(drawing *d) {
  const shoal_lattice_report *lattice = d->lattice;
  tally rows[MAX_BARS + 1] = {{0}};
  size_t top = lattice->nodes[lattice->n_nodes - 1].height, most = 0;
  size_t per_row = top / MAX_BARS + 1, n_rows = top / per_row + 1;
  for (size_t i = 0; i < lattice->n_nodes; i++) {
    const shoal_node_outcome *node = &lattice->nodes[i];
    tally *row = &rows[node->height / per_row];
    *(node->minimal ? &row->minimal : node->satisfies ? &row->yes : &row->no) += 1;
    row->chosen |= node->chosen;
    size_t n = row->minimal + row->yes + row->no;
    most = n > most ? n : most;
  }
  size_t x = MARGIN + (per_row > 1 ? 18 * count_digits(top) + 24 : AXIS_WIDTH);
  size_t needed = x + BAR_WIDTH + 3 * COLUMN_WIDTH - MARGIN;
  d->width = needed > d->width ? needed : d->width;
  draw_bars_head(d, per_row, x);
  for (size_t r = n_rows; r-- > 0; d->y += BAR_PITCH) {
    size_t last = (r + 1) * per_row - 1;
    shoal_text_print(d->text, "<text x=\"%d\" y=\"%zu\">%zu", MARGIN, d->y + 14, r * per_row);
    if (per_row > 1) shoal_text_print(d->text, "\xe2\x80\x93%zu", last < top ? last : top);
    shoal_text_add(d->text, "</text>");
    draw_counts(d, &rows[r], most, x);
  }
}

static void draw(const shoal_result *result, const shoal_lattice_report *lattice,
                 const char *namespace, size_t max_width, uint64_t min_shown, shoal_text *text) {
  shoal_text body;
  shoal_text_init(&body);
  body.add_string = shoal_markup_add;
  add_title(result, lattice, &body);
  size_t title_width = shoal_markup_width(body.bytes ? body.bytes : "", body.size_bytes, 19);
  shoal_text_reset(&body);
  drawing d = {.result = result,
               .lattice = lattice,
               .text = &body,
               .y = MARGIN,
               .max_width = max_width,
               .min_shown = min_shown};
  d.width = title_width > MIN_WIDTH ? title_width : MIN_WIDTH;
  for (size_t i = 0; i < lattice->n_nodes; i++) {
    d.n_satisfying += lattice->nodes[i].satisfies;
    d.n_minimal += lattice->nodes[i].minimal;
    d.has_chosen |= lattice->nodes[i].chosen;
  }
  if (lattice->n_nodes > MAX_DRAWN || !draw_nodes(&d)) draw_bars(&d);
  size_t width = d.width + 2 * MARGIN, height = d.y + MARGIN;
  shoal_text_add(text, "<svg ");
  shoal_text_add(text, namespace);
  shoal_text_print(text,
                   "class=\"shoal\" role=\"img\" width=\"%zu\" height=\"%zu\" "
                   "viewBox=\"0 0 %zu %zu\">\n<title>",
                   width, height, width, height);
  add_title(result, lattice, text);
  shoal_text_add(text, "</title>\n");
  shoal_text_add(text, style);
  shoal_text_print(text, "<rect class=\"paper\" width=\"%zu\" height=\"%zu\"/>\n", width, height);
  shoal_text_add_bytes(text, body.bytes ? body.bytes : "", body.size_bytes);
  shoal_text_add(text, "</svg>\n");
  text->failed |= body.failed;
  shoal_text_reset(&body);
}

void shoal_render_lattice_svg(const shoal_result *result, shoal_text *text) {
  draw(result, &result->lattice, "xmlns=\"http://www.w3.org/2000/svg\" ", 0, 0, text);
}

void shoal_draw_lattice(const shoal_result *result, const shoal_lattice_report *lattice,
                        shoal_text *text) {
  draw(result, lattice, "", PAGE_WIDTH, result->k, text);
}
