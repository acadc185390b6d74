/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hierarchy/draw: a compiled hierarchy as a text tree and as hierarchy CSV.
 *
 * The tree is drawn from the top down, children ordered by label (numbers by size). A label that
 * only repeats on the level below is one node and one line. Values of the data are personal: leaves
 * are drawn only if they come from the hierarchy's file or the policy; otherwise the lowest level
 * drawn is 1, with numbers of values. Below a protected node every node is protected, and so is
 * every leaf; a protected node whose parent is not is strong.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/intern.h"
#include "base/memory.h"
#include "base/text.h"
#include "hierarchy/hierarchy.h"

/* A child of a node, with its sort key. */
typedef struct child {
  double number; /* that its label starts with; INFINITY: none */
  uint32_t label;
} child;

/* Labels of the level below by their parent: parent t has children[first[t] .. first[t + 1]). */
typedef struct child_lists {
  uint32_t *first;
  child *children;
} child_lists;

typedef struct open_node {
  uint32_t level, label;
  uint32_t next;     /* index of the child to draw next */
  bool is_protected; /* it, or a node above it */
} open_node;

typedef struct drawing {
  const shoal_hierarchy *hierarchy;
  uint8_t *const *is_protected; /* by level and label; NULL: not asked for */
  uint32_t floor;               /* the lowest level drawn */
  child_lists *families;        /* by level, above the floor */
  open_node *stack;             /* from the top down to the node whose children are being drawn */
  uint32_t depth;               /* of the stack */
  shoal_text text;
} drawing;

static shoal_label get_label(const shoal_hierarchy *hierarchy, uint32_t level, uint32_t label) {
  shoal_label got;
  got.bytes = shoal_level_label(&hierarchy->levels[level], label, &got.size_bytes);
  return got;
}

/* ------------------------------------------------------------ children in order */

/* The number that a label starts with, as in "25", "[20-29]", "<5" or ">=80". */
static double leading_number(shoal_label label) {
  size_t begin = 0;
  while (begin < label.size_bytes && begin < 2 && strchr("[<>=", label.bytes[begin])) begin++;
  size_t end = begin;
  if (end < label.size_bytes && label.bytes[end] == '-') end++;
  while (end < label.size_bytes && shoal_is_digit(label.bytes[end])) end++;
  if (end + 1 < label.size_bytes && label.bytes[end] == '.' && shoal_is_digit(label.bytes[end + 1]))
    for (end++; end < label.size_bytes && shoal_is_digit(label.bytes[end]);) end++;
  shoal_decimal number;
  if (shoal_decimal_parse(label.bytes + begin, end - begin, &number) != SHOAL_NUMBER_OK)
    return (double)INFINITY;
  return shoal_decimal_double(number);
}

static int compare_children(const void *a, const void *b, void *level) {
  const child *first = a, *second = b;
  if (first->number < second->number) return -1;
  if (first->number > second->number) return 1;
  shoal_label x, y;
  x.bytes = shoal_level_label(level, first->label, &x.size_bytes);
  y.bytes = shoal_level_label(level, second->label, &y.size_bytes);
  bool a_below = x.size_bytes && x.bytes[0] == '<';
  bool b_below = y.size_bytes && y.bytes[0] == '<';
  if (a_below != b_below) return a_below ? -1 : 1; /* "<5" comes before "5" */
  size_t common = x.size_bytes < y.size_bytes ? x.size_bytes : y.size_bytes;
  int order = common ? memcmp(x.bytes, y.bytes, common) : 0;
  return order ? order : (x.size_bytes > y.size_bytes) - (x.size_bytes < y.size_bytes);
}

/* Lists each parent's children by counting. */
static bool fill_family(const shoal_level *level, const shoal_level *below, child_lists *family) {
  family->first = shoal_alloc_zero((size_t)level->n_labels + 2, sizeof *family->first);
  family->children = shoal_alloc(below->n_labels, sizeof *family->children);
  if (!family->first || !family->children) return false;
  uint32_t *next = family->first + 1; /* equals `first` after the last loop */
  for (uint32_t t = 0; t < below->n_labels; t++) next[below->parent[t] + 1]++;
  for (uint32_t t = 0; t < level->n_labels; t++) next[t + 1] += next[t];
  for (uint32_t t = 0; t < below->n_labels; t++)
    family->children[next[below->parent[t]]++].label = t;
  return true;
}

/* ------------------------------------------------------------ the tree */

static bool only_repeats(const drawing *d, uint32_t level, uint32_t label) {
  const child_lists *family = &d->families[level];
  uint32_t first = family->first[label];
  return family->first[label + 1] - first == 1 &&
         shoal_label_equal(get_label(d->hierarchy, level, label),
                           get_label(d->hierarchy, level - 1, family->children[first].label));
}

/* Lines of the whole tree: labels without repetitions. */
static uint64_t count_lines(const drawing *d) {
  uint64_t n_lines = 0;
  for (uint32_t l = d->floor; l < d->hierarchy->n_levels; l++) {
    n_lines += d->hierarchy->levels[l].n_labels;
    for (uint32_t t = 0; l > d->floor && t < d->hierarchy->levels[l].n_labels; t++)
      n_lines -= only_repeats(d, l, t);
  }
  return n_lines;
}

/* A label on one line; an empty one as "". */
static void add_label(shoal_text *text, shoal_label label) {
  if (label.size_bytes == 0) shoal_text_add(text, "\"\"");
  shoal_text_add_escaped(text, label.bytes, label.size_bytes);
}

/* Is the open child of stack[i] its last one? Then no vertical line continues. */
static bool is_last(const drawing *d, uint32_t i) {
  const open_node *node = &d->stack[i];
  return node->next == d->families[node->level].first[node->label + 1];
}

/* Is the node protected, by itself, by a node above it or as a leaf? Says so. */
static bool add_protection(drawing *d, uint32_t level, uint32_t label) {
  if (!d->is_protected) return false;
  bool above = d->depth && d->stack[d->depth - 1].is_protected;
  bool here = above || level == 0 || d->is_protected[level][label];
  if (here) shoal_text_add(&d->text, above ? " [protected]" : " [protected, strong]");
  return here;
}

/* Draws a node, at the lowest level of its repetitions, and opens it. */
static void enter_node(drawing *d, uint32_t level, uint32_t label) {
  while (level > d->floor && only_repeats(d, level, label)) {
    label = d->families[level].children[d->families[level].first[label]].label;
    level--;
  }
  for (uint32_t i = 0; i + 1 < d->depth; i++)
    shoal_text_add(&d->text, is_last(d, i) ? "    " : "│   ");
  if (d->depth) shoal_text_add(&d->text, is_last(d, d->depth - 1) ? "└── " : "├── ");
  add_label(&d->text, get_label(d->hierarchy, level, label));
  if (level > 0) {
    uint32_t n_leaves = d->hierarchy->levels[level].n_leaves[label];
    shoal_text_add(&d->text, " (");
    shoal_text_add_count(&d->text, n_leaves);
    shoal_text_add(&d->text, n_leaves == 1 ? " value)" : " values)");
  }
  bool is_protected = add_protection(d, level, label);
  shoal_text_add(&d->text, "\n");
  if (level == d->floor) return;
  /* Orders the children of a node that is drawn. */
  const child_lists *family = &d->families[level];
  child *begin = family->children + family->first[label];
  size_t n = family->first[label + 1] - family->first[label];
  for (size_t i = 0; i < n; i++)
    begin[i].number = leading_number(get_label(d->hierarchy, level - 1, begin[i].label));
  qsort_r(begin, n, sizeof *begin, compare_children, &d->hierarchy->levels[level - 1]);
  d->stack[d->depth++] = (open_node){level, label, d->families[level].first[label], is_protected};
}

static void draw_tree(drawing *d, size_t max_lines) {
  uint64_t n_lines = count_lines(d), drawn = 0;
  if (n_lines > 0 && max_lines > 0) {
    enter_node(d, d->hierarchy->n_levels - 1, 0);
    drawn = 1;
  }
  while (d->depth && drawn < max_lines) {
    open_node *node = &d->stack[d->depth - 1];
    const child_lists *family = &d->families[node->level];
    if (node->next == family->first[node->label + 1]) {
      d->depth--;
      continue;
    }
    uint32_t label = family->children[node->next++].label;
    enter_node(d, node->level - 1, label);
    drawn++;
  }
  if (drawn < n_lines) {
    shoal_text_add(&d->text, "... and ");
    shoal_text_add_count(&d->text, n_lines - drawn);
    shoal_text_add(&d->text, " more\n");
  }
}

static bool drawing_init(drawing *d, const shoal_hierarchy *hierarchy,
                         uint8_t *const *is_protected) {
  *d = (drawing){.hierarchy = hierarchy,
                 .is_protected = is_protected,
                 .floor = hierarchy->leaves_public ? 0 : 1};
  shoal_text_init(&d->text);
  d->families = shoal_alloc_zero(hierarchy->n_levels, sizeof *d->families);
  d->stack = shoal_alloc(hierarchy->n_levels, sizeof *d->stack);
  if (!d->families || !d->stack) return false;
  for (uint32_t l = d->floor + 1; l < hierarchy->n_levels; l++)
    if (!fill_family(&hierarchy->levels[l], &hierarchy->levels[l - 1], &d->families[l]))
      return false;
  return true;
}

static void drawing_reset(drawing *d) {
  for (uint32_t l = 0; d->families && l < d->hierarchy->n_levels; l++) {
    free(d->families[l].first);
    free(d->families[l].children);
  }
  free(d->families);
  free(d->stack);
  shoal_text_reset(&d->text);
}

shoal_status shoal_hierarchy_draw(const shoal_hierarchy *hierarchy, uint8_t *const *is_protected,
                                  size_t max_lines, char **text, shoal_error *error) {
  drawing d;
  *text = NULL;
  if (drawing_init(&d, hierarchy, is_protected)) {
    draw_tree(&d, max_lines);
    *text = shoal_text_take(&d.text);
  }
  drawing_reset(&d);
  return *text ? SHOAL_OK : shoal_fail_memory(error);
}

/* ------------------------------------------------------------ marks */

bool shoal_hierarchy_mark(const shoal_hierarchy *hierarchy, shoal_equality equality,
                          const char *name, uint8_t *const *marks, bool *found) {
  shoal_values wanted;
  bool failed = !shoal_values_init(&wanted, equality);
  *found = false;
  if (failed) return false;
  failed = shoal_values_intern(&wanted, (shoal_label){name, strlen(name)}) == SHOAL_NONE;
  for (uint32_t l = 0; !failed && l < hierarchy->n_levels; l++) {
    for (uint32_t t = 0; t < hierarchy->levels[l].n_labels; t++) {
      if (shoal_values_find(&wanted, get_label(hierarchy, l, t), &failed) == SHOAL_NONE) continue;
      marks[l][t] = 1;
      *found = true;
    }
  }
  shoal_values_reset(&wanted);
  return !failed;
}

/* ------------------------------------------------------------ hierarchy CSV */

/* Also if the cell, at the start of the file, could be taken for a byte-order mark or gzip. */
static bool needs_quotes(shoal_label cell) {
  if (shoal_starts_oddly(cell.bytes, cell.size_bytes)) return true;
  for (size_t i = 0; i < cell.size_bytes; i++)
    if (cell.bytes[i] == ';' || cell.bytes[i] == '"' || cell.bytes[i] == '\n' ||
        cell.bytes[i] == '\r')
      return true;
  return false;
}

static void add_cell(shoal_text *text, shoal_label cell) {
  if (needs_quotes(cell)) shoal_text_add_quoted(text, cell.bytes, cell.size_bytes);
  else shoal_text_add_bytes(text, cell.bytes, cell.size_bytes);
}

shoal_status shoal_hierarchy_csv(const shoal_hierarchy *hierarchy, char **csv, shoal_error *error) {
  shoal_text text;
  shoal_text_init(&text);
  for (uint32_t leaf = 0; leaf < hierarchy->n_leaves; leaf++)
    for (uint32_t l = 0; l < hierarchy->n_levels; l++) {
      add_cell(&text, get_label(hierarchy, l, hierarchy->levels[l].of_leaf[leaf]));
      shoal_text_add(&text, l + 1 < hierarchy->n_levels ? ";" : "\n");
    }
  *csv = shoal_text_take(&text);
  return *csv ? SHOAL_OK : shoal_fail_memory(error);
}
