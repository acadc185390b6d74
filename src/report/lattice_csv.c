/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report/lattice_csv: every node of the lattice as one row of RFC 4180 CSV, for spreadsheets and
 * scripts: the level of each quasi-identifier, then the figures. A quasi-identifier may be named
 * like a figure: the levels always come first, so columns can be told by their place.
 */
#include <inttypes.h>
#include <string.h>

#include "report/result.h"

/* A name as one cell. Blanks at its ends are quoted too, as some readers drop them otherwise. */
static void add_cell(shoal_text *text, const char *name) {
  size_t size = strlen(name);
  bool blank_ends = size && (strchr(" \t", name[0]) || strchr(" \t", name[size - 1]));
  if (!blank_ends && !strpbrk(name, ",\"\r\n")) {
    shoal_text_add_bytes(text, name, size);
    return;
  }
  shoal_text_add_bytes(text, "\"", 1);
  for (const char *c = name; *c; c++)
    shoal_text_add_bytes(text, *c == '"' ? "\"\"" : c, *c == '"' ? 2 : 1);
  shoal_text_add_bytes(text, "\"", 1);
}

static const char *truth(bool is_true) { return is_true ? "true" : "false"; }

void shoal_render_lattice_csv(const shoal_result *result, shoal_text *text) {
  for (size_t q = 0; q < result->n_quasi; q++) {
    add_cell(text, result->quasi[q]);
    shoal_text_add_bytes(text, ",", 1);
  }
  shoal_text_add(text, "height,suppressed,classes,satisfies,minimal\n");
  for (size_t i = 0; i < result->n_nodes; i++) {
    const shoal_node_outcome *node = &result->nodes[i];
    for (size_t q = 0; q < result->n_quasi; q++)
      shoal_text_print(text, "%" PRIu32 ",", node->levels[q]);
    shoal_text_print(text, "%" PRIu32 ",%" PRIu64 ",%" PRIu64 ",%s,%s\n", node->height,
                     node->suppressed, node->classes, truth(node->satisfies), truth(node->minimal));
  }
}
