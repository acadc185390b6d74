/* SPDX-License-Identifier: Apache-2.0 */
/*
 * policy/hierarchy_spec: `hierarchy: {KIND: ...}` -> shoal_hierarchy_spec. Checks all that needs no
 * data: each width divides the next, bounds are among those of the level before, units ascend, a
 * value is in a tree once. Numbers are compared exactly, as decimals.
 */
#include <stdlib.h>
#include <string.h>

#include "base/wide.h"
#include "hierarchy/date.h"
#include "policy/keys.h"
#include "policy/reader.h"

/* A hierarchy while its keys are read, in any order. */
typedef struct spec_target {
  shoal_hierarchy_spec *spec;
  const char *kind;                                      /* its key, or NULL */
  const shoal_yaml *origin, *mask_char, *format, *pivot; /* keys of one kind only */
} spec_target;

static shoal_status claim_kind(const shoal_policy_reader *reader, spec_target *target,
                               shoal_hierarchy_kind kind) {
  if (target->kind)
    return shoal_reader_fail(reader, reader->key->mark,
                             "a second kind of hierarchy, '%s': '%s' is given already; keep one",
                             reader->rule->key, target->kind);
  target->kind = reader->rule->key;
  target->spec->kind = kind;
  return SHOAL_OK;
}

/* ---------------------------------------------------------------- numbers */

/* The number in units of 10^-18: holds every decimal. */
static shoal_int128 exact(shoal_decimal number) {
  shoal_int128 value = number.mantissa;
  for (unsigned scale = number.scale; scale < 18; scale++) value *= 10;
  return value;
}

static shoal_status read_number(const shoal_policy_reader *reader, const shoal_yaml *node,
                                shoal_decimal *number) {
  shoal_setting setting;
  SHOAL_TRY(shoal_setting_from(reader, node, "a number", &setting));
  return shoal_setting_decimal(&setting, number);
}

/* Reads items.n strictly ascending numbers. */
static shoal_status read_ascending(const shoal_policy_reader *reader, shoal_items items,
                                   shoal_decimal *numbers) {
  const shoal_yaml *item = items.first;
  for (size_t i = 0; i < items.n; i++, item = item->next) {
    SHOAL_TRY(read_number(reader, item, &numbers[i]));
    if (i && exact(numbers[i]) <= exact(numbers[i - 1]))
      return shoal_reader_fail(reader, item->mark,
                               "%s: must ascend, but '%s' is not above the "
                               "number before it",
                               shoal_reader_subject(reader).text, shoal_quote(item->text).text);
  }
  return SHOAL_OK;
}

/* Widths above 0, each a multiple of the one before. */
static shoal_status read_widths(shoal_policy_reader *reader, const shoal_yaml *node,
                                shoal_hierarchy_spec *spec) {
  shoal_items items;
  SHOAL_TRY(shoal_read_items(reader, node, "[5, 10, 20]", &items));
  if (items.n == 0) return shoal_reader_expected(reader, node, "at least one width");
  shoal_decimal *widths = shoal_arena_alloc(reader->arena, items.n, sizeof *widths);
  if (!widths) return shoal_fail_memory(reader->error);
  SHOAL_TRY(read_ascending(reader, items, widths));
  const shoal_yaml *item = items.first;
  for (size_t i = 0; i < items.n; i++, item = item->next) {
    const char *wrong = widths[i].mantissa <= 0 ? "must be above 0"
                        : i && exact(widths[i]) % exact(widths[i - 1]) != 0
                            ? "must be a multiple of the width before it"
                            : NULL;
    if (wrong)
      return shoal_reader_fail(reader, item->mark, "%s: width '%s' %s",
                               shoal_reader_subject(reader).text, shoal_quote(item->text).text,
                               wrong);
  }
  spec->widths = widths;
  spec->n_widths = items.n;
  return SHOAL_OK;
}

/* ---------------------------------------------------------------- cuts */

/* Every bound must be one of the level before. Both ascend: one pass. */
static shoal_status check_subset(const shoal_policy_reader *reader, const shoal_yaml *item,
                                 const shoal_cut_level *before, const shoal_cut_level *level) {
  size_t at = 0;
  for (size_t i = 0; i < level->n_bounds; i++, item = item->next) {
    while (at < before->n_bounds && exact(before->bounds[at]) < exact(level->bounds[i])) at++;
    if (at == before->n_bounds || exact(before->bounds[at]) != exact(level->bounds[i]))
      return shoal_reader_fail(reader, item->mark,
                               "%s: bound '%s' is not among the bounds of the level before it",
                               shoal_reader_subject(reader).text, shoal_quote(item->text).text);
  }
  return SHOAL_OK;
}

static shoal_status read_cuts(shoal_policy_reader *reader, const shoal_yaml *node,
                              spec_target *target) {
  static const char such[] = "a list of bounds for each level, such as [[18, 40, 65], [40]]";
  if (node->kind != SHOAL_YAML_LIST || node->n == 0)
    return shoal_reader_expected(reader, node, such);
  bool one_level = node->first->kind == SHOAL_YAML_SCALAR; /* [18, 65] */
  size_t n = one_level ? 1 : node->n;
  shoal_cut_level *levels = shoal_arena_alloc(reader->arena, n, sizeof *levels);
  if (!levels) return shoal_fail_memory(reader->error);
  const shoal_yaml *list = one_level ? node : node->first;
  for (size_t i = 0; i < n; i++, list = list->next) {
    if (list->kind != SHOAL_YAML_LIST || list->n == 0)
      return shoal_reader_expected(reader, list, such);
    shoal_decimal *bounds = shoal_arena_alloc(reader->arena, list->n, sizeof *bounds);
    if (!bounds) return shoal_fail_memory(reader->error);
    SHOAL_TRY(read_ascending(reader, (shoal_items){list->first, list->n}, bounds));
    levels[i] = (shoal_cut_level){bounds, list->n};
    if (i) SHOAL_TRY(check_subset(reader, list->first, &levels[i - 1], &levels[i]));
  }
  target->spec->cuts = levels;
  target->spec->n_cuts = n;
  return SHOAL_OK;
}

/* ---------------------------------------------------------------- mask */

static shoal_status read_mask(shoal_policy_reader *reader, const shoal_yaml *node,
                              spec_target *target) {
  static const char *const sides[] = {"right", "left", "code", NULL};
  size_t side = 0;
  SHOAL_TRY(shoal_read_choice(reader, node, sides, &side));
  target->spec->mask_left = side == 1;
  target->spec->mask_code = side == 2;
  return SHOAL_OK;
}

static shoal_status read_char(shoal_policy_reader *reader, const shoal_yaml *node,
                              spec_target *target) {
  static const char what[] = "one printable character of one byte, such as \"*\"";
  target->mask_char = reader->key;
  if (node->kind != SHOAL_YAML_SCALAR || strlen(node->text) != 1 || node->text[0] < ' ' ||
      node->text[0] > '~')
    return shoal_reader_expected(reader, node, what);
  target->spec->mask_char = node->text[0];
  return SHOAL_OK;
}

/* ---------------------------------------------------------------- date */

static shoal_status read_date(shoal_policy_reader *reader, const shoal_yaml *node,
                              spec_target *target) {
  /* in the order of shoal_date_unit */
  static const char *const names[] = {"day", "month", "year", "5-years", "decade", NULL};
  shoal_items items;
  SHOAL_TRY(shoal_read_items(reader, node, "[month, year]", &items));
  if (items.n == 0) return shoal_reader_expected(reader, node, "at least one unit");
  shoal_date_unit *units = shoal_arena_alloc(reader->arena, items.n, sizeof *units);
  if (!units) return shoal_fail_memory(reader->error);
  const shoal_yaml *item = items.first;
  for (size_t i = 0; i < items.n; i++, item = item->next) {
    shoal_setting setting;
    size_t unit = 0;
    SHOAL_TRY(shoal_setting_from(reader, item, "a unit such as month", &setting));
    SHOAL_TRY(shoal_setting_choice(&setting, names, &unit));
    units[i] = (shoal_date_unit)unit;
    if (i && units[i] <= units[i - 1])
      return shoal_reader_fail(reader, item->mark,
                               "%s: '%s' must not follow '%s': units go from "
                               "fine to coarse, each once",
                               setting.name.text, names[units[i]], names[units[i - 1]]);
  }
  target->spec->units = units;
  target->spec->n_units = items.n;
  return SHOAL_OK;
}

/* YYYY or YY, MM and DD, each once, and no Y, M or D elsewhere. */
static bool is_date_format(const char *format) {
  unsigned years = 0, months = 0, days = 0;
  while (*format) {
    size_t run = strspn(format, (char[]){*format, '\0'});
    switch (*format) {
    case 'Y':
      if (run != 4 && run != 2) return false;
      years++;
      break;
    case 'M':
      if (run != 2) return false;
      months++;
      break;
    case 'D':
      if (run != 2) return false;
      days++;
      break;
    default: break;
    }
    format += run;
  }
  return years == 1 && months == 1 && days == 1;
}

shoal_status shoal_read_date_format(shoal_policy_reader *reader, const shoal_yaml *node,
                                    const char **format) {
  if (node->kind != SHOAL_YAML_SCALAR || !is_date_format(node->text))
    return shoal_reader_expected(reader, node,
                                 "YYYY or YY, MM and DD once each, such as DD.MM.YYYY");
  *format = node->text;
  return SHOAL_OK;
}

/* A year, or its last two digits in this century. */
shoal_status shoal_read_pivot(shoal_policy_reader *reader, const shoal_yaml *node,
                              unsigned *pivot) {
  shoal_setting setting;
  uint64_t year;
  SHOAL_TRY(shoal_setting_from(reader, node, "a year such as 2030", &setting));
  SHOAL_TRY(shoal_setting_whole(&setting, 0, &year));
  if (year < 100) year += 2000;
  if (year < 1000 || year > 9999)
    return shoal_reader_expected(reader, node, "a year of four digits, such as 2030");
  *pivot = (unsigned)year;
  return SHOAL_OK;
}

/* ---------------------------------------------------------------- tree */

/*
 * Below a label is a mapping of labels, a list of values (an item may also be one "label: ..."), or
 * one value. yaml.c limits the depth.
 */
static const char tree_form[] = "values such as [Black, Asian], or labels such as {Other: [Black]}";

typedef struct leaf_list {
  const shoal_yaml **leaves;
  size_t n, capacity;
} leaf_list;

static shoal_status add_leaf(const shoal_policy_reader *reader, leaf_list *leaves,
                             const shoal_yaml *node, shoal_tree_node *leaf) {
  SHOAL_TRY(shoal_read_scalar(reader, node, "a value (\"\" in quotes if it is empty)"));
  if (!shoal_grow(&leaves->leaves, &leaves->capacity, leaves->n + 1, sizeof *leaves->leaves))
    return shoal_fail_memory(reader->error);
  leaves->leaves[leaves->n++] = node;
  *leaf = (shoal_tree_node){.label = node->text};
  return SHOAL_OK;
}

static shoal_status read_children(const shoal_policy_reader *reader, leaf_list *leaves,
                                  const shoal_yaml *node, shoal_tree_node *parent);

/* An inner node: a label and its children. */
static shoal_status read_inner(const shoal_policy_reader *reader, leaf_list *leaves,
                               const shoal_yaml *label, shoal_tree_node *inner) {
  *inner = (shoal_tree_node){.label = label->text};
  return read_children(reader, leaves, label->next, inner);
}

static shoal_status read_item(const shoal_policy_reader *reader, leaf_list *leaves,
                              const shoal_yaml *item, shoal_tree_node *child) {
  if (item->kind == SHOAL_YAML_SCALAR) return add_leaf(reader, leaves, item, child);
  if (item->kind == SHOAL_YAML_MAPPING && item->n == 1)
    return read_inner(reader, leaves, item->first, child);
  return shoal_reader_expected(reader, item, "a value, or one 'label: values'");
}

static shoal_status read_children(const shoal_policy_reader *reader, leaf_list *leaves,
                                  const shoal_yaml *node, shoal_tree_node *parent) {
  bool single = node->kind == SHOAL_YAML_SCALAR;
  size_t n = single ? 1 : node->n;
  if (n == 0 || shoal_yaml_is_null(node)) {
    const shoal_subject subject = shoal_reader_subject(reader);
    return shoal_reader_fail(reader, node->mark, "%s: '%s' has no children: expected %s",
                             subject.text, shoal_quote(parent->label).text, tree_form);
  }
  shoal_tree_node *children = shoal_arena_alloc(reader->arena, n, sizeof *children);
  if (!children) return shoal_fail_memory(reader->error);
  parent->children = children;
  parent->n_children = n;
  if (single) return add_leaf(reader, leaves, node, children);
  if (node->kind == SHOAL_YAML_LIST) {
    for (const shoal_yaml *item = node->first; item; item = item->next)
      SHOAL_TRY(read_item(reader, leaves, item, children++));
    return SHOAL_OK;
  }
  for (const shoal_yaml *label = node->first; label; label = label->next->next)
    SHOAL_TRY(read_inner(reader, leaves, label, children++));
  return SHOAL_OK;
}

static shoal_status check_parents(const shoal_policy_reader *reader, const leaf_list *leaves) {
  const shoal_yaml *earlier;
  const shoal_yaml *repeated = shoal_yaml_repeated(leaves->leaves, leaves->n, &earlier);
  if (!repeated) return SHOAL_OK;
  return shoal_reader_fail(reader, repeated->mark,
                           "%s: this value has two parents: it is in line %u already; "
                           "remove one",
                           shoal_reader_subject(reader).text, earlier->mark.line);
}

/* ---------------------------------------------------------------- the other kinds */

/* One row of levels; the compiler checks lengths and labels, as it does for files. */
static shoal_status read_level_row(shoal_policy_reader *reader, const shoal_yaml *list,
                                   shoal_level_row *row) {
  static const char such[] = "a value and its labels up to the top, such as [49, '[40-49]', '*']";
  if (list->kind != SHOAL_YAML_LIST || list->n == 0)
    return shoal_reader_expected(reader, list, such);
  const char **labels = shoal_arena_alloc(reader->arena, list->n, sizeof *labels);
  if (!labels) return shoal_fail_memory(reader->error);
  const shoal_yaml *item = list->first;
  for (size_t i = 0; i < list->n; i++, item = item->next) {
    if (item->kind != SHOAL_YAML_SCALAR || shoal_yaml_is_null(item))
      return shoal_reader_expected(reader, item, such);
    labels[i] = item->text;
  }
  *row = (shoal_level_row){labels, list->n};
  return SHOAL_OK;
}

static shoal_status read_levels(shoal_policy_reader *reader, const shoal_yaml *node,
                                spec_target *target) {
  if (node->kind != SHOAL_YAML_LIST || node->n == 0)
    return shoal_reader_expected(reader, node, "a list of rows, such as [[49, '[40-49]', '*']]");
  shoal_level_row *rows = shoal_arena_alloc(reader->arena, node->n, sizeof *rows);
  if (!rows) return shoal_fail_memory(reader->error);
  const shoal_yaml *list = node->first;
  for (size_t i = 0; i < node->n; i++, list = list->next)
    SHOAL_TRY(read_level_row(reader, list, &rows[i]));
  target->spec->rows = rows;
  target->spec->n_rows = node->n;
  return SHOAL_OK;
}

static shoal_status read_tree(shoal_policy_reader *reader, const shoal_yaml *node,
                              spec_target *target) {
  shoal_tree_node *root = &target->spec->tree;
  if (node->kind == SHOAL_YAML_SCALAR) return shoal_reader_expected(reader, node, tree_form);
  leaf_list leaves = {0};
  *root = (shoal_tree_node){.label = "*"};
  shoal_status status = read_children(reader, &leaves, node, root);
  if (status == SHOAL_OK) status = check_parents(reader, &leaves);
  free(leaves.leaves);
  return status;
}

shoal_status shoal_read_code(shoal_policy_reader *reader, const shoal_yaml *node, bool top,
                             shoal_coding *coding) {
  bool *given = top ? &coding->has_top : &coding->has_bottom;
  if (*given)
    return shoal_reader_fail(reader, node->mark, "%s is given twice: keep one of them",
                             shoal_reader_subject(reader).text);
  *given = true;
  SHOAL_TRY(read_number(reader, node, top ? &coding->top : &coding->bottom));
  if (coding->has_top && coding->has_bottom &&
      shoal_decimal_compare(coding->bottom, coding->top) >= 0)
    return shoal_reader_fail(reader, node->mark, "%s: bottom-code must be below top-code",
                             shoal_reader_subject(reader).text);
  return SHOAL_OK;
}

shoal_status shoal_read_rare(shoal_policy_reader *reader, const shoal_yaml *node,
                             shoal_coding *coding) {
  shoal_setting setting;
  if (coding->rare)
    return shoal_reader_fail(reader, node->mark, "%s is given twice: keep one of them",
                             shoal_reader_subject(reader).text);
  SHOAL_TRY(shoal_setting_from(reader, node, "a number of rows such as 20", &setting));
  return shoal_setting_whole(&setting, 2, &coding->rare);
}

static const shoal_key_rule hierarchy_rules[] = {SHOAL_HIERARCHY_KEYS(SHOAL_KEY_RULE){0}};

static shoal_status read_hierarchy_key(shoal_policy_reader *reader, unsigned id,
                                       const shoal_yaml *node, void *into) {
  static const struct {
    bool is_kind;
    shoal_hierarchy_kind kind;
  } kinds[] = {[SHOAL_KEY_FILE] = {true, SHOAL_HIERARCHY_FILE},
               [SHOAL_KEY_TREE] = {true, SHOAL_HIERARCHY_TREE},
               [SHOAL_KEY_LEVELS] = {true, SHOAL_HIERARCHY_LEVELS},
               [SHOAL_KEY_INTERVALS] = {true, SHOAL_HIERARCHY_INTERVALS},
               [SHOAL_KEY_ROUND] = {true, SHOAL_HIERARCHY_ROUND},
               [SHOAL_KEY_CUTS] = {true, SHOAL_HIERARCHY_CUTS},
               [SHOAL_KEY_MASK] = {true, SHOAL_HIERARCHY_MASK},
               [SHOAL_KEY_DATE] = {true, SHOAL_HIERARCHY_DATE},
               [SHOAL_KEY_SETS] = {true, SHOAL_HIERARCHY_SETS},
               [SHOAL_KEY_TOP] = {true, SHOAL_HIERARCHY_TOP},
               [SHOAL_KEY_RARE_BESIDE] = {false, SHOAL_HIERARCHY_FILE}};
  spec_target *target = into;
  shoal_hierarchy_spec *spec = target->spec;
  if (kinds[id].is_kind) SHOAL_TRY(claim_kind(reader, target, kinds[id].kind));
  switch ((enum shoal_hierarchy_key)id) {
  case SHOAL_KEY_FILE: return shoal_read_path(reader, node, &spec->file);
  case SHOAL_KEY_TREE: return read_tree(reader, node, target);
  case SHOAL_KEY_LEVELS: return read_levels(reader, node, target);
  case SHOAL_KEY_INTERVALS:
    spec->auto_widths = node->kind == SHOAL_YAML_SCALAR && strcmp(node->text, "auto") == 0;
    return spec->auto_widths ? SHOAL_OK : read_widths(reader, node, spec);
  case SHOAL_KEY_ROUND: return read_widths(reader, node, spec);
  case SHOAL_KEY_ORIGIN:
    target->origin = reader->key;
    return read_number(reader, node, &spec->origin);
  case SHOAL_KEY_CUTS: return read_cuts(reader, node, target);
  case SHOAL_KEY_MASK: return read_mask(reader, node, target);
  case SHOAL_KEY_CHAR: return read_char(reader, node, target);
  case SHOAL_KEY_DATE: return read_date(reader, node, target);
  case SHOAL_KEY_FORMAT:
    target->format = reader->key;
    return shoal_read_date_format(reader, node, &spec->date_format);
  case SHOAL_KEY_PIVOT:
    target->pivot = reader->key;
    return shoal_read_pivot(reader, node, &spec->pivot);
  case SHOAL_KEY_SETS:
  case SHOAL_KEY_TOP:
    if (node->kind != SHOAL_YAML_SCALAR || strcmp(node->text, "true") != 0)
      return shoal_reader_expected(reader, node, "true");
    return SHOAL_OK;
  case SHOAL_KEY_TOP_BESIDE: return shoal_read_code(reader, node, true, &spec->coding);
  case SHOAL_KEY_BOTTOM_BESIDE: return shoal_read_code(reader, node, false, &spec->coding);
  case SHOAL_KEY_RARE_BESIDE: return shoal_read_rare(reader, node, &spec->coding);
  }
  return SHOAL_OK;
}

static shoal_status check_companion(const shoal_policy_reader *reader, const spec_target *target,
                                    const shoal_yaml *key, shoal_hierarchy_kind kind,
                                    const char *name) {
  if (!key || target->spec->kind == kind) return SHOAL_OK;
  return shoal_reader_fail(reader, key->mark, "'%s' goes with %s, not with %s", key->text, name,
                           target->kind);
}

shoal_status shoal_read_hierarchy(shoal_policy_reader *reader, const shoal_yaml *node,
                                  const shoal_coding *coding, shoal_hierarchy_spec *spec,
                                  bool *has_kind) {
  *spec = (shoal_hierarchy_spec){
      .line = node->mark.line, .at = node->mark.at, .mask_char = '*', .date_format = "YYYY-MM-DD"};
  spec_target target = {.spec = spec};
  if (coding) spec->coding = *coding;
  SHOAL_TRY(shoal_read_mapping(reader, node, hierarchy_rules, read_hierarchy_key,
                               "{intervals: [5, 10]}", &target));
  *has_kind = target.kind != NULL;
  if (!target.kind && (!coding || !shoal_coding_given(&spec->coding)))
    return shoal_reader_fail(reader, node->mark,
                             "%s: no kind is given; write one of: file, tree, "
                             "levels, intervals, round, cuts, mask, date, sets, top",
                             shoal_reader_subject(reader).text);
  SHOAL_TRY(
      check_companion(reader, &target, target.origin, SHOAL_HIERARCHY_INTERVALS, "intervals"));
  SHOAL_TRY(check_companion(reader, &target, target.mask_char, SHOAL_HIERARCHY_MASK, "mask"));
  SHOAL_TRY(check_companion(reader, &target, target.format, SHOAL_HIERARCHY_DATE, "date"));
  SHOAL_TRY(check_companion(reader, &target, target.pivot, SHOAL_HIERARCHY_DATE, "date"));
  if (target.origin && spec->auto_widths)
    return shoal_reader_fail(reader, target.origin->mark,
                             "'origin' goes with widths: give them, or remove it");
  if (target.pivot && !shoal_date_format_is_short(spec->date_format))
    return shoal_reader_fail(reader, target.pivot->mark,
                             "'pivot' is for years of two digits: remove it, or write YY in "
                             "'format'");
  return SHOAL_OK;
}

shoal_status shoal_policy_parse_hierarchy(const char *yaml, const char *directory,
                                          shoal_arena *arena, shoal_hierarchy_spec *spec,
                                          shoal_error *error) {
  shoal_policy_reader reader = {.file = "hierarchy",
                                .directory = directory ? directory : ".",
                                .arena = arena,
                                .error = error,
                                .whole = "the hierarchy"};
  const shoal_yaml *root;
  SHOAL_TRY(shoal_yaml_parse(yaml, strlen(yaml), reader.file, arena, &root, error));
  bool has_kind;
  return shoal_read_hierarchy(&reader, root, NULL, spec, &has_kind);
}
