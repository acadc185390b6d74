/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report/lattice: every node of the lattice as text, JSON, CSV (RFC 4180) and Graphviz DOT. In the
 * CSV the levels come first, because a quasi-identifier may have the name of a figure. The DOT
 * graph is drawn from the bottom (nothing generalized) to the top, as in Truta & Vinay 2006,
 * Figure 2. Nodes are numbered in mixed radix of their levels, last attribute fastest: a direct
 * successor is one stride away. report/lattice_svg.c draws the same lattice as a picture.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/render.h"

/* ------------------------------------------------------------ text and JSON */

static void add_preferred(shoal_text *t, const shoal_result *r) {
  for (size_t p = 0; p < r->lattice.n_preferred; p++) {
    const shoal_preferred *preferred = &r->lattice.preferred[p];
    shoal_text_add(t, "  ");
    shoal_text_add_padded(
        t, strcmp(preferred->policy, "policy") ? preferred->policy : "the policy's prefer", 21);
    for (size_t i = 0; i < preferred->n_nodes; i++) {
      shoal_text_add(t, " ");
      shoal_format_node(t, r, r->lattice.nodes[preferred->nodes[i]].levels);
    }
    shoal_text_add(t, "\n");
  }
}

void shoal_lattice_text(const shoal_result *r, shoal_text *t) {
  shoal_text_add(t, "Nodes are levels of [");
  for (size_t q = 0; q < r->n_quasi; q++) shoal_text_print(t, "%s%s", q ? "," : "", r->quasi[q]);
  shoal_text_print(t, "]; at most %s may be suppressed\n\n  height  node",
                   shoal_say_rows(r->lattice.max_suppression).text);
  size_t width = r->n_quasi * 2 + 1 > 6 ? r->n_quasi * 2 + 1 : 6;
  for (size_t i = 4; i < width; i++) shoal_text_add(t, " ");
  shoal_text_add(t, "  suppressed    classes  verdict\n");
  size_t minimal = 0, local = 0;
  for (size_t i = 0; i < r->lattice.n_nodes; i++) {
    const shoal_node_outcome *n = &r->lattice.nodes[i];
    shoal_text_print(t, "  %6u  ", n->height);
    size_t start = t->size_bytes;
    shoal_format_node(t, r, n->levels);
    for (size_t used = t->size_bytes - start; used < width; used++) shoal_text_add(t, " ");
    shoal_text_print(t, "  %10llu %10llu  %s%s\n", (unsigned long long)n->suppressed,
                     (unsigned long long)n->classes, n->satisfies ? "satisfies" : "-",
                     n->minimal           ? ", minimal"
                     : n->locally_minimal ? ", locally minimal"
                                          : "");
    minimal += n->minimal;
    local += n->locally_minimal && !n->minimal;
  }
  if (!r->holds) {
    shoal_text_add(t, "\nNo node satisfies the policy.\n");
    return;
  }
  if (local)
    shoal_text_add(t, "\nLocally minimal: the first node that satisfies on some path from the "
                      "bottom; a node below\nit on another path satisfies.\n");
  shoal_text_print(t, "\n%zu minimal node%s. Preferred:\n", minimal, minimal == 1 ? "" : "s");
  add_preferred(t, r);
}

json_t *shoal_lattice_json(const shoal_result *r, shoal_json *json) {
  const shoal_lattice_report *lattice = &r->lattice;
  json_t *nodes = json_array(), *preferred = json_object();
  for (size_t i = 0; i < lattice->n_nodes; i++) {
    const shoal_node_outcome *n = &lattice->nodes[i];
    shoal_json_append(json, nodes,
                      SHOAL_OBJECT(K("node", shoal_json_levels(json, r, n->levels)),
                                   K("height", n->height), K("suppressed", n->suppressed),
                                   K("classes", n->classes), K("satisfies", n->satisfies),
                                   K("minimal", n->minimal),
                                   K("locally_minimal", n->locally_minimal)));
  }
  for (size_t p = 0; p < lattice->n_preferred; p++) {
    const shoal_preferred *by = &lattice->preferred[p];
    json_t *list = json_array();
    for (size_t i = 0; i < by->n_nodes; i++)
      shoal_json_append(json, list,
                        shoal_json_levels(json, r, lattice->nodes[by->nodes[i]].levels));
    shoal_json_set(json, preferred, by->policy, list);
  }
  return SHOAL_OBJECT(K("nodes", nodes), K("preferred", preferred));
}

/* ------------------------------------------------------------ distance vectors */

static const uint16_t *vector_at(const shoal_result *r, size_t x, size_t y) {
  return r->distances.distances + (x * r->distances.n_tuples + y) * r->n_quasi;
}

void shoal_distances_text(const shoal_result *r, shoal_text *t) {
  shoal_text_add(t, "Distance vectors: levels of [");
  for (size_t q = 0; q < r->n_quasi; q++) shoal_text_print(t, "%s%s", q ? "," : "", r->quasi[q]);
  shoal_text_add(t, "] at which two tuples get the same labels.\nDistinct tuples are numbered by "
                    "first appearance, with their rows in parentheses.\n\n");
  for (size_t x = 0; x < r->distances.n_tuples; x++) {
    shoal_text_print(t, "t%zu (%llu)", x + 1, (unsigned long long)r->distances.n_rows[x]);
    for (size_t y = 0; y < r->distances.n_tuples; y++)
      for (size_t q = 0; q < r->n_quasi; q++)
        shoal_text_print(t, "%s%u%s", q ? "," : " [", vector_at(r, x, y)[q],
                         q + 1 == r->n_quasi ? "]" : "");
    shoal_text_add(t, "\n");
  }
}

json_t *shoal_distances_json(const shoal_result *r, shoal_json *json) {
  json_t *quasi = json_array(), *rows = json_array(), *vectors = json_array();
  for (size_t q = 0; q < r->n_quasi; q++) shoal_json_append(json, quasi, J(r->quasi[q]));
  for (size_t x = 0; x < r->distances.n_tuples; x++) {
    json_t *row = json_array();
    for (size_t y = 0; y < r->distances.n_tuples; y++) {
      json_t *vector = json_array();
      for (size_t q = 0; q < r->n_quasi; q++)
        shoal_json_append(json, vector, json_integer(vector_at(r, x, y)[q]));
      shoal_json_append(json, row, vector);
    }
    shoal_json_append(json, rows, json_integer((json_int_t)r->distances.n_rows[x]));
    shoal_json_append(json, vectors, row);
  }
  return SHOAL_OBJECT(K("quasi", quasi), K("rows", rows), K("vectors", vectors));
}

/* ------------------------------------------------------------ CSV */

/* The names are those of the data, except for characters that a terminal must not get. */
static void escape_name(shoal_text *safe, const char *name) {
  shoal_text_init(safe);
  shoal_text_add(safe, ""); /* an empty string is not NULL */
  shoal_text_add_escaped(safe, name, strlen(name));
}

/* A name as one cell. Blanks at its ends are quoted too, as some readers drop them otherwise. */
static void add_cell(shoal_text *text, const char *name) {
  shoal_text safe;
  escape_name(&safe, name);
  text->failed = text->failed || safe.failed;
  const char *bytes = safe.failed ? "" : safe.bytes;
  size_t size = strlen(bytes);
  bool quoted = (size && (bytes[0] == ' ' || bytes[size - 1] == ' ')) || strpbrk(bytes, ",\"");
  if (quoted) shoal_text_add(text, "\"");
  for (const char *c = bytes; *c; c++)
    shoal_text_add_bytes(text, *c == '"' ? "\"\"" : c, *c == '"' ? 2 : 1);
  if (quoted) shoal_text_add(text, "\"");
  shoal_text_reset(&safe);
}

static const char *truth(bool is_true) { return is_true ? "true" : "false"; }

void shoal_render_lattice_csv(const shoal_result *result, shoal_text *text) {
  for (size_t q = 0; q < result->n_quasi; q++) {
    add_cell(text, result->quasi[q]);
    shoal_text_add_bytes(text, ",", 1);
  }
  shoal_text_add(text, "height,suppressed,classes,satisfies,minimal\n");
  for (size_t i = 0; i < result->lattice.n_nodes; i++) {
    const shoal_node_outcome *node = &result->lattice.nodes[i];
    for (size_t q = 0; q < result->n_quasi; q++)
      shoal_text_print(text, "%" PRIu32 ",", node->levels[q]);
    shoal_text_print(text, "%" PRIu32 ",%" PRIu64 ",%" PRIu64 ",%s,%s\n", node->height,
                     node->suppressed, node->classes, truth(node->satisfies), truth(node->minimal));
  }
}

/* ------------------------------------------------------------ DOT */

/* A name inside a quoted label. Graphviz reads backslashes and, like HTML, entities there. */
static void add_dot_name(shoal_text *text, const char *name) {
  shoal_text safe;
  escape_name(&safe, name);
  text->failed = text->failed || safe.failed;
  for (const char *c = safe.failed ? "" : safe.bytes; *c; c++) {
    if (*c == '"' || *c == '\\') shoal_text_add(text, "\\");
    if (*c == '&') shoal_text_add(text, "&amp;");
    else shoal_text_add_bytes(text, c, 1);
  }
  shoal_text_reset(&safe);
}

static void add_head(const shoal_result *result, shoal_text *text) {
  shoal_text_add(text, "digraph lattice {\n"
                       "  rankdir=BT;\n"
                       "  labelloc=t;\n"
                       "  fontname=\"sans-serif\";\n"
                       "  label=\"Generalization lattice [");
  for (size_t q = 0; q < result->n_quasi; q++) {
    shoal_text_add(text, q ? ", " : "");
    add_dot_name(text, result->quasi[q]);
  }
  shoal_text_print(
      text,
      "]: %s, MaxSup %s, %s\\nsolid green: satisfies; dashed: does not; thick double border: "
      "minimal; one more ring: chosen\\n \";\n  node [shape=box, fontname=\"sans-serif\", "
      "fontcolor=\"#1b2733\"];\n  edge [arrowhead=none, color=\"#9aa7b4\"];\n",
      shoal_say_counted(result->lattice.n_nodes, "node", "nodes").text,
      shoal_say_count(result->lattice.max_suppression).text,
      shoal_say_rows(result->input_rows).text);
}

static void add_dot_node(const shoal_result *result, size_t i, shoal_text *text) {
  const shoal_node_outcome *node = &result->lattice.nodes[i];
  shoal_text_print(text, "  n%zu [label=\"[", i);
  for (size_t q = 0; q < result->n_quasi; q++)
    shoal_text_print(text, "%s%" PRIu32, q ? "," : "", node->levels[q]);
  shoal_text_print(text,
                   "]\\n%s suppressed\", style=\"filled,%s%s\", fillcolor=\"%s\", color=\"%s\"",
                   shoal_say_rows(node->suppressed).text, node->satisfies ? "solid" : "dashed",
                   node->chosen ? ",bold" : "", node->satisfies ? "#cdeee2" : "#fff4e5",
                   node->satisfies ? "#0f766e" : "#b45309");
  if (node->minimal) shoal_text_add(text, ", penwidth=3");
  if (node->minimal || node->chosen)
    shoal_text_print(text, ", peripheries=%d", 1 + node->minimal + node->chosen);
  shoal_text_add(text, "];\n");
}

/* The first node has the lowest levels, the last one the highest. */
static void add_edges(const shoal_result *result, size_t i, shoal_text *text) {
  const uint32_t *bottom = result->lattice.nodes[0].levels;
  const uint32_t *top = result->lattice.nodes[result->lattice.n_nodes - 1].levels;
  size_t stride = 1;
  for (size_t q = result->n_quasi; q-- > 0;) {
    if (result->lattice.nodes[i].levels[q] < top[q]) {
      assert(i + stride < result->lattice.n_nodes);
      shoal_text_print(text, "  n%zu -> n%zu;\n", i, i + stride);
    }
    stride *= (size_t)(top[q] - bottom[q]) + 1;
  }
}

/* One rank a height: the nodes sorted by height, by counting. */
static void add_ranks(const shoal_result *result, shoal_text *text) {
  size_t n_ranks = 1;
  for (size_t q = 0; q < result->n_quasi; q++) n_ranks += result->heights[q];
  size_t *end = shoal_alloc_zero(n_ranks + 1, sizeof *end);
  size_t *sorted = shoal_alloc(result->lattice.n_nodes, sizeof *sorted);
  if (!end || !sorted) {
    text->failed = true;
    free(end);
    free(sorted);
    return;
  }
  for (size_t i = 0; i < result->lattice.n_nodes; i++) end[result->lattice.nodes[i].height + 1]++;
  for (size_t h = 1; h <= n_ranks; h++) end[h] += end[h - 1];
  for (size_t i = 0; i < result->lattice.n_nodes; i++)
    sorted[end[result->lattice.nodes[i].height]++] =
        i; /* end[h] runs from the start of h to its end */
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
  for (size_t i = 0; i < result->lattice.n_nodes; i++) add_dot_node(result, i, text);
  for (size_t i = 0; i < result->lattice.n_nodes; i++) add_edges(result, i, text);
  add_ranks(result, text);
  shoal_text_add(text, "}\n");
}
