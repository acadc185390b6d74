/* SPDX-License-Identifier: Apache-2.0 */
/*
 * policy/canonical_attributes: one attribute as a line of YAML, with its hierarchy and categories.
 * Of labels only public ones are written, of files only the base name.
 */
#include <string.h>

#include "policy/canonical.h"
#include "policy/keys.h"
#include "policy/yaml.h"

static bool is_public(shoal_canonical *out, const char *label) {
  const shoal_public_labels *labels = out->labels;
  if (!labels->has || labels->has(labels->user, out->attribute->name, label)) return true;
  out->incomplete = true;
  return false;
}

static void put_file(shoal_canonical *out, const char *key, const char *path) {
  const char *slash = strrchr(path, '/');
  shoal_canonical_word(out, key, slash ? slash + 1 : path);
}

/* Adds one item of a list, after a comma if it is not the first. */
static void add_item(shoal_canonical *out, size_t *n, const char *label) {
  if ((*n)++) shoal_text_add(out->text, ", ");
  shoal_yaml_add_scalar(out->text, label);
}

/* ---------------------------------------------------------------- hierarchy */

static void put_read_file(shoal_canonical *out, const char *key) {
  const shoal_hierarchy_spec *spec = &out->attribute->hierarchy;
  if (spec->kind == SHOAL_HIERARCHY_FILE) put_file(out, key, spec->file);
}

/* The children that are public; those of a child that is not take its place. */
static void add_children(shoal_canonical *out, const shoal_tree_node *node, size_t *n) {
  for (size_t i = 0; i < node->n_children; i++) {
    const shoal_tree_node *child = &node->children[i];
    if (!is_public(out, child->label)) {
      add_children(out, child, n);
      continue;
    }
    add_item(out, n, child->label);
    if (!child->n_children) continue;
    size_t end = out->text->size_bytes, n_below = 0;
    shoal_text_add(out->text, ": [");
    add_children(out, child, &n_below);
    if (n_below) shoal_text_add(out->text, "]");
    else shoal_text_cut(out->text, end);
  }
}

static void put_read_tree(shoal_canonical *out, const char *key) {
  const shoal_hierarchy_spec *spec = &out->attribute->hierarchy;
  size_t n = 0;
  if (spec->kind != SHOAL_HIERARCHY_TREE) return;
  shoal_canonical_key(out, key);
  shoal_text_add(out->text, "[");
  add_children(out, &spec->tree, &n);
  shoal_text_add(out->text, "]");
}

/* Rows without a public label are left out, and of the others the labels that are not public. */
static void put_read_levels(shoal_canonical *out, const char *key) {
  const shoal_hierarchy_spec *spec = &out->attribute->hierarchy;
  if (spec->kind != SHOAL_HIERARCHY_LEVELS) return;
  shoal_canonical_key(out, key);
  shoal_text_add(out->text, "[");
  size_t n_rows = 0;
  for (size_t r = 0; r < spec->n_rows; r++) {
    size_t begin = out->text->size_bytes, n = 0;
    shoal_text_add(out->text, n_rows ? ", [" : "[");
    for (size_t i = 0; i < spec->rows[r].n_labels; i++)
      if (is_public(out, spec->rows[r].labels[i])) add_item(out, &n, spec->rows[r].labels[i]);
    shoal_text_add(out->text, "]");
    if (n) n_rows++;
    else shoal_text_cut(out->text, begin);
  }
  shoal_text_add(out->text, "]");
}

static void add_numbers(shoal_text *text, const shoal_decimal *numbers, size_t n) {
  for (size_t i = 0; i < n; i++) {
    shoal_text_add(text, i ? ", " : "[");
    shoal_canonical_number(text, numbers[i]);
  }
  shoal_text_add(text, n ? "]" : "[]");
}

static void put_read_intervals(shoal_canonical *out, const char *key) {
  const shoal_hierarchy_spec *spec = &out->attribute->hierarchy;
  if (spec->kind != SHOAL_HIERARCHY_INTERVALS) return;
  shoal_canonical_key(out, key);
  if (spec->auto_widths) shoal_text_add(out->text, "auto");
  else add_numbers(out->text, spec->widths, spec->n_widths);
}

static void put_read_round(shoal_canonical *out, const char *key) {
  const shoal_hierarchy_spec *spec = &out->attribute->hierarchy;
  if (spec->kind != SHOAL_HIERARCHY_ROUND) return;
  shoal_canonical_key(out, key);
  add_numbers(out->text, spec->widths, spec->n_widths);
}

static void put_read_origin(shoal_canonical *out, const char *key) {
  const shoal_hierarchy_spec *spec = &out->attribute->hierarchy;
  if (spec->kind == SHOAL_HIERARCHY_INTERVALS && spec->origin.mantissa)
    shoal_canonical_decimal(out, key, spec->origin);
}

static void put_read_cuts(shoal_canonical *out, const char *key) {
  const shoal_hierarchy_spec *spec = &out->attribute->hierarchy;
  if (spec->kind != SHOAL_HIERARCHY_CUTS) return;
  shoal_canonical_key(out, key);
  for (size_t i = 0; i < spec->n_cuts; i++) {
    shoal_text_add(out->text, i ? ", " : "[");
    add_numbers(out->text, spec->cuts[i].bounds, spec->cuts[i].n_bounds);
  }
  shoal_text_add(out->text, "]");
}

static void put_read_mask(shoal_canonical *out, const char *key) {
  const shoal_hierarchy_spec *spec = &out->attribute->hierarchy;
  if (spec->kind == SHOAL_HIERARCHY_MASK)
    shoal_canonical_word(out, key, spec->mask_code ? "code" : spec->mask_left ? "left" : "right");
}

static void put_read_char(shoal_canonical *out, const char *key) {
  const shoal_hierarchy_spec *spec = &out->attribute->hierarchy;
  const char mask[2] = {spec->mask_char, '\0'};
  if (spec->kind == SHOAL_HIERARCHY_MASK && *mask != '*') shoal_canonical_word(out, key, mask);
}

static void put_read_date(shoal_canonical *out, const char *key) {
  static const char *const units[] = {[SHOAL_DATE_DAY] = "day",
                                      [SHOAL_DATE_MONTH] = "month",
                                      [SHOAL_DATE_YEAR] = "year",
                                      [SHOAL_DATE_5_YEARS] = "5-years",
                                      [SHOAL_DATE_DECADE] = "decade"};
  const shoal_hierarchy_spec *spec = &out->attribute->hierarchy;
  if (spec->kind != SHOAL_HIERARCHY_DATE) return;
  shoal_canonical_key(out, key);
  for (size_t i = 0; i < spec->n_units; i++)
    shoal_text_print(out->text, "%s%s", i ? ", " : "[", units[spec->units[i]]);
  shoal_text_add(out->text, "]");
}

static void put_read_format(shoal_canonical *out, const char *key) {
  const shoal_hierarchy_spec *spec = &out->attribute->hierarchy;
  if (spec->kind == SHOAL_HIERARCHY_DATE && strcmp(spec->date_format, "YYYY-MM-DD") != 0)
    shoal_canonical_word(out, key, spec->date_format);
}

static void put_read_pivot(shoal_canonical *out, const char *key) {
  const shoal_hierarchy_spec *spec = &out->attribute->hierarchy;
  if (spec->kind != SHOAL_HIERARCHY_DATE || !spec->pivot) return;
  shoal_canonical_key(out, key);
  shoal_text_print(out->text, "%u", spec->pivot);
}

static void put_true(shoal_canonical *out, const char *key, shoal_hierarchy_kind kind) {
  if (out->attribute->hierarchy.kind != kind) return;
  shoal_canonical_key(out, key);
  shoal_text_add(out->text, "true");
}

static void put_read_sets(shoal_canonical *out, const char *key) {
  put_true(out, key, SHOAL_HIERARCHY_SETS);
}

static void put_read_top(shoal_canonical *out, const char *key) {
  put_true(out, key, SHOAL_HIERARCHY_TOP);
}

/* Codes are written as keys of the attribute. */
static void put_read_top_beside(shoal_canonical *out, const char *key) {
  (void)out;
  (void)key;
}

static void put_read_bottom_beside(shoal_canonical *out, const char *key) {
  (void)out;
  (void)key;
}

static void put_read_rare_beside(shoal_canonical *out, const char *key) {
  (void)out;
  (void)key;
}

/* ---------------------------------------------------------------- categories */

static void put_read_category_file(shoal_canonical *out, const char *key) {
  put_file(out, key, out->attribute->categories.file);
}

/* Numbered by their place, so an empty list stays: the first is the most sensitive. */
static void add_categories(shoal_canonical *out, const shoal_categories *categories) {
  for (size_t i = 0; i < categories->n_lists; i++) {
    size_t n = 0;
    shoal_text_add(out->text, i ? ", [" : "[[");
    for (const char *const *value = categories->lists[i]; *value; value++)
      if (is_public(out, *value)) add_item(out, &n, *value);
    shoal_text_add(out->text, "]");
  }
  shoal_text_add(out->text, "]");
}

/* ---------------------------------------------------------------- attributes */

static const shoal_key_writer hierarchy_writers[] = {SHOAL_HIERARCHY_KEYS(SHOAL_KEY_WRITER){0}};
static const shoal_key_writer category_writers[] = {SHOAL_CATEGORY_KEYS(SHOAL_KEY_WRITER){0}};

/* A mapping within the attribute's line. */
static void put_mapping(shoal_canonical *out, const char *key, const shoal_key_writer *writers) {
  shoal_canonical_key(out, key);
  shoal_text_add(out->text, "{");
  shoal_canonical inner = *out;
  shoal_canonical_put(&inner, writers);
  out->incomplete = inner.incomplete;
  shoal_text_add(out->text, "}");
}

static void put_read_role(shoal_canonical *out, const char *key) {
  shoal_canonical_word(out, key, shoal_role_names[out->attribute->role]);
}

static void put_read_decide(shoal_canonical *out, const char *key) {
  if (!out->attribute->undecided) return;
  shoal_canonical_key(out, key);
  shoal_text_add(out->text, "true");
}

static void put_read_type(shoal_canonical *out, const char *key) {
  const shoal_attribute *attribute = out->attribute;
  if (attribute->coding.dates) shoal_canonical_word(out, key, "date");
  else if (attribute->type == SHOAL_TYPE_NUMBER) shoal_canonical_word(out, key, "number");
}

static void put_read_day_format(shoal_canonical *out, const char *key) {
  if (strcmp(out->attribute->date_format, "YYYY-MM-DD") != 0)
    shoal_canonical_word(out, key, out->attribute->date_format);
}

static void put_read_day_pivot(shoal_canonical *out, const char *key) {
  if (!out->attribute->pivot) return;
  shoal_canonical_key(out, key);
  shoal_text_print(out->text, "%u", out->attribute->pivot);
}

static void put_read_otherwise(shoal_canonical *out, const char *key) {
  if (out->attribute->otherwise_missing) shoal_canonical_word(out, key, "missing");
}

static void put_read_hierarchy(shoal_canonical *out, const char *key) {
  const shoal_attribute *attribute = out->attribute;
  bool by_default = shoal_attribute_has_sets(attribute) && attribute->role == SHOAL_ROLE_QUASI &&
                    attribute->type == SHOAL_TYPE_TEXT;
  if (attribute->has_hierarchy && !by_default) put_mapping(out, key, hierarchy_writers);
}

static void put_read_protect(shoal_canonical *out, const char *key) {
  const shoal_attribute *attribute = out->attribute;
  size_t n = 0;
  if (!attribute->n_protect) return;
  shoal_canonical_key(out, key);
  shoal_text_add(out->text, "[");
  for (size_t i = 0; i < attribute->n_protect; i++)
    if (is_public(out, attribute->protect[i].text)) add_item(out, &n, attribute->protect[i].text);
  shoal_text_add(out->text, "]");
}

static void put_read_categories(shoal_canonical *out, const char *key) {
  const shoal_categories *categories = &out->attribute->categories;
  if (categories->file) {
    put_mapping(out, key, category_writers);
  } else if (categories->n_lists) {
    shoal_canonical_key(out, key);
    add_categories(out, categories);
  }
}

/* Where the key is, and the context, are for nobody but the one who made the release. */
static void put_read_key(shoal_canonical *out, const char *key) {
  (void)out;
  (void)key;
}

static void put_read_person(shoal_canonical *out, const char *key) {
  if (!out->attribute->is_person) return;
  shoal_canonical_key(out, key);
  shoal_text_add(out->text, "true");
}

static void put_read_top_code(shoal_canonical *out, const char *key) {
  if (out->attribute->coding.has_top) shoal_canonical_decimal(out, key, out->attribute->coding.top);
}

static void put_read_bottom_code(shoal_canonical *out, const char *key) {
  if (out->attribute->coding.has_bottom)
    shoal_canonical_decimal(out, key, out->attribute->coding.bottom);
}

static void put_read_rare(shoal_canonical *out, const char *key) {
  if (out->attribute->coding.rare)
    shoal_canonical_decimal(out, key, (shoal_decimal){(int64_t)out->attribute->coding.rare, 0});
}

static void put_read_min_level(shoal_canonical *out, const char *key) {
  if (out->attribute->min_level)
    shoal_canonical_decimal(out, key, (shoal_decimal){out->attribute->min_level, 0});
}

static void put_read_max_level(shoal_canonical *out, const char *key) {
  if (out->attribute->has_max_level)
    shoal_canonical_decimal(out, key, (shoal_decimal){out->attribute->max_level, 0});
}

static void put_read_snap(shoal_canonical *out, const char *key) {
  if (out->attribute->snap.mantissa) shoal_canonical_decimal(out, key, out->attribute->snap);
}

static void put_read_recode(shoal_canonical *out, const char *key) {
  if (out->attribute->recode_hierarchy && !shoal_attribute_has_sets(out->attribute))
    shoal_canonical_word(out, key, "hierarchy");
}

static void put_read_anonymity(shoal_canonical *out, const char *key) {
  if (out->attribute->anonymity.mantissa)
    shoal_canonical_decimal(out, key, out->attribute->anonymity);
}

static void put_read_profile(shoal_canonical *out, const char *key) {
  shoal_decimal profile = out->attribute->profile;
  if ((uint64_t)profile.mantissa != shoal_power_of_ten(profile.scale))
    shoal_canonical_decimal(out, key, profile);
}

static void put_read_sensitivity(shoal_canonical *out, const char *key) {
  if (out->attribute->has_sensitivity)
    shoal_canonical_decimal(out, key, (shoal_decimal){out->attribute->sensitivity, 0});
}

static const shoal_key_writer attribute_writers[] = {SHOAL_ATTRIBUTE_KEYS(SHOAL_KEY_WRITER){0}};

void shoal_canonical_attribute(shoal_canonical *out, const shoal_attribute *attribute) {
  shoal_canonical line = {
      .policy = out->policy, .labels = out->labels, .text = out->text, .attribute = attribute};
  shoal_yaml_add_key(out->text, "  ", attribute->name);
  shoal_text_add(out->text, "{");
  shoal_canonical_put(&line, attribute_writers);
  shoal_text_add(out->text,
                 line.incomplete ? "} # labels that are not in the release are left out\n" : "}\n");
}
