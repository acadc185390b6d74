/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report/lattice_dot: the lattice as a Graphviz digraph, drawn from the bottom (nothing
 * generalized) to the top, as Truta & Vinay 2006, Figure 2, draw theirs. Nodes are numbered in
 * mixed radix of their levels, last attribute fastest, so a direct successor is one stride away.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/result.h"

/*
 * A name inside a quoted label. Graphviz reads backslashes and, like HTML, entities there; control
 * characters would break the XML that it may write.
 */
static void add_escaped(shoal_text *text, const char *name) {
  for (const char *c = name; *c; c++) {
    if (*c == '"' || *c == '\\') {
      shoal_text_add_bytes(text, "\\", 1);
      shoal_text_add_bytes(text, c, 1);
    } else if (*c == '&') {
      shoal_text_add(text, "&amp;");
    } else if ((unsigned char)*c < 0x20 || *c == 0x7f) {
      shoal_text_add_bytes(text, " ", 1);
    } else {
      shoal_text_add_bytes(text, c, 1);
    }
  }
}

static void add_counted(shoal_text *text, uint64_t n, const char *noun) {
  shoal_text_add_count(text, n);
  shoal_text_print(text, " %s%s", noun, n == 1 ? "" : "s");
}

static void add_head(const shoal_result *result, shoal_text *text) {
  shoal_text_add(text, "digraph lattice {\n"
                       "  rankdir=BT;\n"
                       "  labelloc=t;\n"
                       "  fontname=\"sans-serif\";\n"
                       "  label=\"Generalization lattice [");
  for (size_t q = 0; q < result->n_quasi; q++) {
    shoal_text_add(text, q ? ", " : "");
    add_escaped(text, result->quasi[q]);
  }
  shoal_text_add(text, "]: ");
  add_counted(text, result->n_nodes, "node");
  shoal_text_add(text, ", MaxSup ");
  shoal_text_add_count(text, result->max_suppression);
  shoal_text_add(text, ", ");
  add_counted(text, result->input_rows, "row");
  shoal_text_add(text, "\\nsolid green: satisfies; dashed: does not; thick double border: minimal; "
                       "one more ring: chosen\\n \";\n"
                       "  node [shape=box, fontname=\"sans-serif\", fontcolor=\"#1b2733\"];\n"
                       "  edge [arrowhead=none, color=\"#9aa7b4\"];\n");
}

static void add_node(const shoal_result *result, size_t i, shoal_text *text) {
  const shoal_node_outcome *node = &result->nodes[i];
  shoal_text_print(text, "  n%zu [label=\"[", i);
  for (size_t q = 0; q < result->n_quasi; q++)
    shoal_text_print(text, "%s%" PRIu32, q ? "," : "", node->levels[q]);
  shoal_text_add(text, "]\\n");
  add_counted(text, node->suppressed, "row");
  shoal_text_print(text, " suppressed\", style=\"filled,%s%s\", fillcolor=\"%s\", color=\"%s\"",
                   node->satisfies ? "solid" : "dashed", node->chosen ? ",bold" : "",
                   node->satisfies ? "#cdeee2" : "#fff4e5",
                   node->satisfies ? "#0f766e" : "#b45309");
  if (node->minimal) shoal_text_add(text, ", penwidth=3");
  if (node->minimal || node->chosen)
    shoal_text_print(text, ", peripheries=%d", 1 + node->minimal + node->chosen);
  shoal_text_add(text, "];\n");
}

static void add_edges(const shoal_result *result, size_t i, shoal_text *text) {
  size_t stride = 1;
  for (size_t q = result->n_quasi; q-- > 0;) {
    if (result->nodes[i].levels[q] < result->heights[q]) {
      assert(i + stride < result->n_nodes);
      shoal_text_print(text, "  n%zu -> n%zu;\n", i, i + stride);
    }
    stride *= (size_t)result->heights[q] + 1;
  }
}

/* One rank a height: the nodes sorted by height, by counting. */
static void add_ranks(const shoal_result *result, shoal_text *text) {
  size_t n_ranks = 1;
  for (size_t q = 0; q < result->n_quasi; q++) n_ranks += result->heights[q];
  size_t *end = shoal_alloc_zero(n_ranks + 1, sizeof *end);
  size_t *sorted = shoal_alloc(result->n_nodes, sizeof *sorted);
  if (!end || !sorted) {
    text->failed = true;
    free(end);
    free(sorted);
    return;
  }
  for (size_t i = 0; i < result->n_nodes; i++) end[result->nodes[i].height + 1]++;
  for (size_t h = 1; h <= n_ranks; h++) end[h] += end[h - 1];
  for (size_t i = 0; i < result->n_nodes; i++)
    sorted[end[result->nodes[i].height]++] = i; /* end[h] runs from the start of h to its end */
  for (size_t h = 0, i = 0; h < n_ranks; h++) {
    shoal_text_add(text, "  { rank=same;");
    for (; i < end[h]; i++) shoal_text_print(text, " n%zu;", sorted[i]);
    shoal_text_add(text, " }\n");
  }
  free(end);
  free(sorted);
}

void shoal_render_lattice_dot(const shoal_result *result, shoal_text *text) {
  add_head(result, text);
  for (size_t i = 0; i < result->n_nodes; i++) add_node(result, i, text);
  for (size_t i = 0; i < result->n_nodes; i++) add_edges(result, i, text);
  add_ranks(result, text);
  shoal_text_add(text, "}\n");
}
