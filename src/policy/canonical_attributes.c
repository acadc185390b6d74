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
  shoal_canonical_word(out, key, true, slash ? slash + 1 : path);
}

/* Adds one item of a list, after a comma if it is not the first. */
static void add_item(shoal_canonical *out, size_t *n, const char *label) {
  if ((*n)++) shoal_text_add(out->text, ", ");
  shoal_yaml_add_scalar(out->text, label);
}

/* ---------------------------------------------------------------- hierarchy */

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

static void put_tree(shoal_canonical *out, const char *key) {
  const shoal_hierarchy_spec *spec = &out->attribute->hierarchy;
  size_t n = 0;
  shoal_canonical_key(out, key);
  shoal_text_add(out->text, "[");
  add_children(out, &spec->tree, &n);
  shoal_text_add(out->text, "]");
}

/* Rows without a public label are left out, and of the others the labels that are not public. */
static void put_levels(shoal_canonical *out, const char *key) {
  const shoal_hierarchy_spec *spec = &out->attribute->hierarchy;
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

static void put_cuts(shoal_canonical *out, const char *key) {
  const shoal_hierarchy_spec *spec = &out->attribute->hierarchy;
  shoal_canonical_key(out, key);
  for (size_t i = 0; i < spec->n_cuts; i++) {
    shoal_text_add(out->text, i ? ", " : "[");
    add_numbers(out->text, spec->cuts[i].bounds, spec->cuts[i].n_bounds);
  }
  shoal_text_add(out->text, "]");
}

static void put_units(shoal_canonical *out, const char *key) {
  static const char *const units[] = {[SHOAL_DATE_DAY] = "day",
                                      [SHOAL_DATE_MONTH] = "month",
                                      [SHOAL_DATE_YEAR] = "year",
                                      [SHOAL_DATE_5_YEARS] = "5-years",
                                      [SHOAL_DATE_DECADE] = "decade"};
  const shoal_hierarchy_spec *spec = &out->attribute->hierarchy;
  shoal_canonical_key(out, key);
  for (size_t i = 0; i < spec->n_units; i++)
    shoal_text_print(out->text, "%s%s", i ? ", " : "[", units[spec->units[i]]);
  shoal_text_add(out->text, "]");
}

/* Widths of intervals, or of rounded numbers. */
static void put_widths(shoal_canonical *out, const char *key) {
  const shoal_hierarchy_spec *spec = &out->attribute->hierarchy;
  shoal_canonical_key(out, key);
  if (spec->auto_widths) shoal_text_add(out->text, "auto");
  else add_numbers(out->text, spec->widths, spec->n_widths);
}

static const char *const hierarchy_keys[] = {SHOAL_HIERARCHY_KEYS(SHOAL_KEY_NAME) NULL};

static void put_hierarchy_key(shoal_canonical *out, unsigned id, const char *key) {
  const shoal_hierarchy_spec *spec = &out->attribute->hierarchy;
  const char mask[] = {spec->mask_char, '\0'};
  const shoal_hierarchy_kind kind = spec->kind;
  bool date = kind == SHOAL_HIERARCHY_DATE, masked = kind == SHOAL_HIERARCHY_MASK;
  switch ((enum shoal_hierarchy_key)id) {
  case SHOAL_KEY_FILE:
    if (kind == SHOAL_HIERARCHY_FILE) put_file(out, key, spec->file);
    break;
  case SHOAL_KEY_TREE:
    if (kind == SHOAL_HIERARCHY_TREE) put_tree(out, key);
    break;
  case SHOAL_KEY_LEVELS:
    if (kind == SHOAL_HIERARCHY_LEVELS) put_levels(out, key);
    break;
  case SHOAL_KEY_INTERVALS:
    if (kind == SHOAL_HIERARCHY_INTERVALS) put_widths(out, key);
    break;
  case SHOAL_KEY_ROUND:
    if (kind == SHOAL_HIERARCHY_ROUND) put_widths(out, key);
    break;
  case SHOAL_KEY_ORIGIN:
    shoal_canonical_decimal(out, key, kind == SHOAL_HIERARCHY_INTERVALS && spec->origin.mantissa,
                            spec->origin);
    break;
  case SHOAL_KEY_CUTS:
    if (kind == SHOAL_HIERARCHY_CUTS) put_cuts(out, key);
    break;
  case SHOAL_KEY_MASK:
    shoal_canonical_word(out, key, masked,
                         spec->mask_code   ? "code"
                         : spec->mask_left ? "left"
                                           : "right");
    break;
  case SHOAL_KEY_CHAR: shoal_canonical_word(out, key, masked && *mask != '*', mask); break;
  case SHOAL_KEY_DATE:
    if (date) put_units(out, key);
    break;
  case SHOAL_KEY_FORMAT:
    shoal_canonical_word(out, key, date && strcmp(spec->date_format, "YYYY-MM-DD") != 0,
                         spec->date_format);
    break;
  case SHOAL_KEY_PIVOT: shoal_canonical_count(out, key, date && spec->pivot, spec->pivot); break;
  case SHOAL_KEY_SETS: shoal_canonical_true(out, key, kind == SHOAL_HIERARCHY_SETS); break;
  case SHOAL_KEY_TOP: shoal_canonical_true(out, key, kind == SHOAL_HIERARCHY_TOP); break;
  case SHOAL_KEY_TOP_BESIDE:
  case SHOAL_KEY_BOTTOM_BESIDE:
  case SHOAL_KEY_RARE_BESIDE: break; /* written as keys of the attribute */
  }
}

/* ---------------------------------------------------------------- attributes */

static const char *const category_keys[] = {SHOAL_CATEGORY_KEYS(SHOAL_KEY_NAME) NULL};

static void put_category_key(shoal_canonical *out, unsigned id, const char *key) {
  switch ((enum shoal_category_key)id) {
  case SHOAL_KEY_CATEGORY_FILE: put_file(out, key, out->attribute->categories.file); break;
  }
}

/* A mapping within the attribute's line. */
static void put_mapping(shoal_canonical *out, const char *key, const char *const *keys,
                        shoal_put_key *put) {
  shoal_canonical_key(out, key);
  shoal_text_add(out->text, "{");
  shoal_canonical inner = *out;
  shoal_canonical_put(&inner, keys, put);
  out->incomplete = inner.incomplete;
  shoal_text_add(out->text, "}");
}

static void put_hierarchy(shoal_canonical *out, const char *key) {
  const shoal_attribute *attribute = out->attribute;
  bool by_default = shoal_attribute_has_sets(attribute) && attribute->role == SHOAL_ROLE_QUASI &&
                    attribute->type == SHOAL_TYPE_TEXT;
  if (attribute->has_hierarchy && !by_default)
    put_mapping(out, key, hierarchy_keys, put_hierarchy_key);
}

static void put_protect(shoal_canonical *out, const char *key) {
  const shoal_attribute *attribute = out->attribute;
  size_t n = 0;
  if (!attribute->n_protect) return;
  shoal_canonical_key(out, key);
  shoal_text_add(out->text, "[");
  for (size_t i = 0; i < attribute->n_protect; i++)
    if (is_public(out, attribute->protect[i].text)) add_item(out, &n, attribute->protect[i].text);
  shoal_text_add(out->text, "]");
}

static void put_categories(shoal_canonical *out, const char *key) {
  const shoal_categories *categories = &out->attribute->categories;
  if (categories->file) {
    put_mapping(out, key, category_keys, put_category_key);
  } else if (categories->n_lists) {
    shoal_canonical_key(out, key);
    /* Numbered by their place, so an empty list stays: the first is the most sensitive. */
    for (size_t i = 0; i < categories->n_lists; i++) {
      size_t n = 0;
      shoal_text_add(out->text, i ? ", [" : "[[");
      for (const char *const *value = categories->lists[i]; *value; value++)
        if (is_public(out, *value)) add_item(out, &n, *value);
      shoal_text_add(out->text, "]");
    }
    shoal_text_add(out->text, "]");
  }
}

static const char *const attribute_keys[] = {SHOAL_ATTRIBUTE_KEYS(SHOAL_KEY_NAME) NULL};

static void put_attribute_key(shoal_canonical *out, unsigned id, const char *key) {
  const shoal_attribute *a = out->attribute;
  const shoal_coding *coding = &a->coding;
  switch ((enum shoal_attribute_key)id) {
  case SHOAL_KEY_ROLE: shoal_canonical_word(out, key, true, shoal_role_names[a->role]); break;
  case SHOAL_KEY_DECIDE: shoal_canonical_true(out, key, a->undecided); break;
  case SHOAL_KEY_TYPE:
    shoal_canonical_word(out, key, a->type == SHOAL_TYPE_NUMBER, coding->dates ? "date" : "number");
    break;
  case SHOAL_KEY_DAY_FORMAT:
    shoal_canonical_word(out, key, strcmp(a->date_format, "YYYY-MM-DD") != 0, a->date_format);
    break;
  case SHOAL_KEY_DAY_PIVOT: shoal_canonical_count(out, key, a->pivot, a->pivot); break;
  case SHOAL_KEY_OTHERWISE: shoal_canonical_word(out, key, a->otherwise_missing, "missing"); break;
  case SHOAL_KEY_HIERARCHY: put_hierarchy(out, key); break;
  case SHOAL_KEY_PROTECT: put_protect(out, key); break;
  case SHOAL_KEY_CATEGORIES: put_categories(out, key); break;
  case SHOAL_KEY_PSEUDONYM: break; /* only for the one who made the release */
  case SHOAL_KEY_PERSON: shoal_canonical_true(out, key, a->is_person); break;
  case SHOAL_KEY_TOP_CODE: shoal_canonical_decimal(out, key, coding->has_top, coding->top); break;
  case SHOAL_KEY_BOTTOM_CODE:
    shoal_canonical_decimal(out, key, coding->has_bottom, coding->bottom);
    break;
  case SHOAL_KEY_RARE: shoal_canonical_count(out, key, coding->rare, coding->rare); break;
  case SHOAL_KEY_MIN_LEVEL: shoal_canonical_count(out, key, a->min_level, a->min_level); break;
  case SHOAL_KEY_MAX_LEVEL: shoal_canonical_count(out, key, a->has_max_level, a->max_level); break;
  case SHOAL_KEY_SNAP: shoal_canonical_decimal(out, key, a->snap.mantissa, a->snap); break;
  case SHOAL_KEY_RECODE:
    shoal_canonical_word(out, key, a->recode_hierarchy && !shoal_attribute_has_sets(a),
                         "hierarchy");
    break;
  case SHOAL_KEY_ANONYMITY:
    shoal_canonical_decimal(out, key, a->anonymity.mantissa, a->anonymity);
    break;
  case SHOAL_KEY_PROFILE:
    shoal_canonical_decimal(out, key,
                            (uint64_t)a->profile.mantissa != shoal_power_of_ten(a->profile.scale),
                            a->profile);
    break;
  case SHOAL_KEY_SENSITIVITY:
    shoal_canonical_count(out, key, a->has_sensitivity, a->sensitivity);
    break;
  }
}

void shoal_canonical_attribute(shoal_canonical *out, const shoal_attribute *attribute) {
  shoal_canonical line = {
      .policy = out->policy, .labels = out->labels, .text = out->text, .attribute = attribute};
  shoal_yaml_add_key(out->text, "  ", attribute->name);
  shoal_text_add(out->text, "{");
  shoal_canonical_put(&line, attribute_keys, put_attribute_key);
  shoal_text_add(out->text,
                 line.incomplete ? "} # labels that are not in the release are left out\n" : "}\n");
}
