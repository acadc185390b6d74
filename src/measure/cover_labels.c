/* SPDX-License-Identifier: Apache-2.0 */
/*
 * measure/cover_labels: released labels become spans of places; see cover.h.
 *
 * All labels of the hierarchy are looked up among those released, level by level (values without a
 * hierarchy are one level). The lowest level that has every label of a column decides what they
 * mean: a full-domain release is read as the one level it is. Else each label is of the highest
 * level that has it. What is on no level is read by its spelling.
 */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "measure/cover_parts.h"

/* From the first to the last place. */
typedef struct stretch {
  uint32_t lo, hi;
} stretch;

/* One released column while its labels are read. */
typedef struct label_reader {
  shoal_domain *domain;
  shoal_released_labels *released;
  bool complete;
  uint32_t n_original; /* values of the original: the first of all */
  uint32_t n_levels;
  uint32_t **match;       /* by level, by code: label of that level, or SHOAL_NO_ID */
  stretch **stretches;    /* by level, by label */
  uint8_t *starry;        /* by code: it says nothing */
  shoal_spelling *spells; /* by code */
} label_reader;

static shoal_label label_of(const label_reader *r, uint32_t code) {
  shoal_label label;
  label.bytes = shoal_column_value(r->released->column, code, &label.size_bytes);
  return label;
}

static bool is_top(const label_reader *r, uint32_t level) {
  return r->domain->hierarchy && level > 0 && level + 1 == r->n_levels;
}

/* ------------------------------------------------------------ labels of the hierarchy */

static uint32_t labels_on(const label_reader *r, uint32_t level) {
  return r->domain->hierarchy ? r->domain->hierarchy->levels[level].n_labels : r->domain->n_leaves;
}

static shoal_label label_on(const label_reader *r, uint32_t level, uint32_t label) {
  if (level == 0) return shoal_domain_leaf(r->domain, label);
  shoal_label text;
  text.bytes = shoal_level_label(&r->domain->hierarchy->levels[level], label, &text.size_bytes);
  return text;
}

/* Which released labels are on which level. */
static bool match_levels(label_reader *r, shoal_strings *strings) {
  uint32_t n = r->released->column->n_values;
  for (uint32_t code = 0; code < n; code++)
    if (shoal_strings_intern(strings, label_of(r, code)) != code) return false;
  for (uint32_t l = 0; l < r->n_levels; l++) {
    r->match[l] = shoal_alloc(n, sizeof **r->match);
    if (!r->match[l]) return false;
    for (uint32_t code = 0; code < n; code++) r->match[l][code] = SHOAL_NO_ID;
    for (uint32_t t = 0; t < labels_on(r, l); t++) {
      uint32_t id = shoal_strings_intern(strings, label_on(r, l, t));
      if (id == SHOAL_NO_ID) return false;
      if (id < n) r->match[l][id] = t;
    }
  }
  return true;
}

static bool find_stretches(label_reader *r) {
  for (uint32_t l = 0; l < r->n_levels; l++) {
    uint32_t n = labels_on(r, l);
    r->stretches[l] = shoal_alloc(n, sizeof **r->stretches);
    if (!r->stretches[l]) return false;
    for (uint32_t t = 0; t < n; t++) r->stretches[l][t] = (stretch){UINT32_MAX, 0};
    for (uint32_t leaf = 0; leaf < r->domain->n_leaves; leaf++) {
      uint32_t t = r->domain->hierarchy ? r->domain->hierarchy->levels[l].of_leaf[leaf] : leaf;
      stretch *s = &r->stretches[l][t];
      uint32_t place = r->domain->place_of[leaf];
      if (place < s->lo) s->lo = place;
      if (place > s->hi) s->hi = place;
    }
  }
  return true;
}

/* Is a missing value one of the original, or of the tree, and not only of some other table? */
static bool of_original(const label_reader *r, uint32_t code, bool known) {
  uint32_t leaf = r->match[0][code];
  return known && (leaf < r->n_original || leaf >= r->domain->values.n_values);
}

/* A star, the top's label, or a cell blanked although the original has no such missing value. */
static void find_starry(label_reader *r) {
  const shoal_column *column = r->released->column;
  for (uint32_t code = 0; code < column->n_values; code++) {
    shoal_label label = label_of(r, code);
    r->spells[code] = shoal_label_parse(label.bytes, label.size_bytes);
    bool known = false;
    for (uint32_t l = 0; l < r->n_levels; l++) known = known || r->match[l][code] != SHOAL_NO_ID;
    bool top = is_top(r, r->n_levels - 1) && r->match[r->n_levels - 1][code] != SHOAL_NO_ID;
    bool blank = shoal_column_missing(column, code) && r->complete && !of_original(r, code, known);
    r->starry[code] = top || blank || (!known && r->spells[code].form == SHOAL_FORM_EVERYTHING);
  }
}

/* The lowest level that has all labels but those that say nothing. */
static uint32_t common_level(const label_reader *r) {
  uint32_t n = r->released->column->n_values, n_starry = 0;
  for (uint32_t code = 0; code < n; code++) n_starry += r->starry[code];
  if (n_starry == n) return is_top(r, r->n_levels - 1) ? r->n_levels - 1 : SHOAL_NO_LEVEL;
  for (uint32_t l = 0; l < r->n_levels; l++) {
    bool all = true;
    for (uint32_t code = 0; all && code < n; code++)
      all = r->starry[code] || r->match[l][code] != SHOAL_NO_ID;
    if (all) return l;
  }
  return SHOAL_NO_LEVEL;
}

/* ------------------------------------------------------------ spellings */

/* Places whose number is in the cover's range, or whose value has its prefix. */
static void scan_places(const shoal_domain *domain, shoal_cover *cover) {
  *cover = (shoal_cover){.lo = 1,
                         .is_range = cover->is_range,
                         .spelled_range = cover->spelled_range,
                         .range = cover->range,
                         .prefix = cover->prefix,
                         .prefix_bytes = cover->prefix_bytes,
                         .loose = true,
                         .level = SHOAL_NO_LEVEL};
  for (uint32_t place = 0; place < domain->n_places; place++) {
    if (!shoal_domain_holds_loosely(domain, cover, place)) continue;
    if (cover->n_places++ == 0) cover->lo = place;
    cover->hi = place;
  }
  cover->loose = cover->n_places && cover->n_places != cover->hi - cover->lo + 1;
}

/* First place of [0, end) that is not below the range (or, with `past`, that is above it). */
static uint32_t find_place(const shoal_domain *domain, const shoal_range *range, bool past) {
  uint32_t low = 0, high = domain->n_places - domain->n_missing;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    shoal_decimal number = domain->numbers[middle];
    shoal_range side = past ? *range
                            : (shoal_range){.low = range->low,
                                            .has_low = range->has_low,
                                            .low_open = range->low_open};
    if (past) side.has_low = false;
    bool inside = shoal_range_holds(&side, number);
    if (inside == past) low = middle + 1;
    else high = middle;
  }
  return low;
}

static void find_range(const shoal_domain *domain, shoal_cover *cover) {
  if (!domain->ascending) {
    scan_places(domain, cover);
    return;
  }
  uint32_t begin = find_place(domain, &cover->range, false);
  uint32_t end = find_place(domain, &cover->range, true);
  cover->n_places = end > begin ? end - begin : 0;
  cover->lo = cover->n_places ? begin : 1;
  cover->hi = cover->n_places ? end - 1 : 0;
}

/* False: it can stand for nothing known. */
static bool read_spelling(const label_reader *r, uint32_t code, shoal_cover *cover) {
  const shoal_spelling *spelling = &r->spells[code];
  switch (spelling->form) {
  case SHOAL_FORM_NUMBER:
  case SHOAL_FORM_INTERVAL:
    if (!r->domain->is_number) return false;
    cover->is_range = cover->spelled_range = true;
    cover->range = spelling->range;
    find_range(r->domain, cover);
    return cover->n_places > 0;
  case SHOAL_FORM_PREFIX:
    cover->prefix = label_of(r, code).bytes;
    cover->prefix_bytes = spelling->prefix_bytes;
    scan_places(r->domain, cover);
    return cover->n_places > 0;
  case SHOAL_FORM_WORD:
  case SHOAL_FORM_EVERYTHING: break;
  }
  return false;
}

/* ------------------------------------------------------------ one label */

/* The range of the numbers that a label of a level covers, unless its spelling tells one. */
static void find_numbers(const label_reader *r, uint32_t code, shoal_cover *cover) {
  const shoal_domain *domain = r->domain;
  if (!domain->is_number) return;
  if (r->spells[code].form == SHOAL_FORM_NUMBER || r->spells[code].form == SHOAL_FORM_INTERVAL) {
    cover->is_range = cover->spelled_range = true;
    cover->range = r->spells[code].range;
    return;
  }
  for (uint32_t place = cover->lo; place <= cover->hi && cover->n_places; place++) {
    if (domain->place_missing[place]) continue;
    shoal_decimal number = domain->numbers[place];
    shoal_range *range = &cover->range;
    if (!cover->is_range || shoal_decimal_compare(number, range->low) < 0) range->low = number;
    if (!cover->is_range || shoal_decimal_compare(number, range->high) > 0) range->high = number;
    range->has_low = range->has_high = cover->is_range = true;
  }
}

/*
 * The highest level that has the label, or the one that all labels of the column are of. Masked
 * labels that were brought as values stand on lower levels too, where they mean less than they do.
 */
static uint32_t level_of(const label_reader *r, uint32_t code) {
  bool brought = !r->complete && r->domain->hierarchy &&
                 r->domain->attribute->hierarchy.kind == SHOAL_HIERARCHY_MASK;
  uint32_t common = brought ? SHOAL_NO_LEVEL : r->released->level;
  if (common != SHOAL_NO_LEVEL && r->match[common][code] != SHOAL_NO_ID) return common;
  for (uint32_t l = r->n_levels; l-- > 0;)
    if (r->match[l][code] != SHOAL_NO_ID) return l;
  return SHOAL_NO_LEVEL;
}

static bool read_label(const label_reader *r, uint32_t code, shoal_cover *cover) {
  const shoal_domain *domain = r->domain;
  uint32_t level = level_of(r, code);
  *cover = (shoal_cover){.lo = 1, .level = level};
  if (r->starry[code]) {
    cover->everything = true;
    cover->n_places = domain->n_places;
    if (domain->n_places) cover->lo = 0, cover->hi = domain->n_places - 1;
    return true;
  }
  if (level == SHOAL_NO_LEVEL) return read_spelling(r, code, cover);
  uint32_t label = r->match[level][code];
  cover->lo = r->stretches[level][label].lo;
  cover->hi = r->stretches[level][label].hi;
  cover->n_places = domain->hierarchy ? domain->hierarchy->levels[level].n_leaves[label] : 1;
  cover->missing = cover->n_places == 1 && domain->place_missing[cover->lo];
  if (!cover->missing) find_numbers(r, code, cover);
  if (!domain->hierarchy) cover->level = SHOAL_NO_LEVEL;
  return true;
}

/* ------------------------------------------------------------ what it loses */

static double tree_loss(const shoal_domain *domain, const label_reader *r, uint32_t code,
                        const shoal_cover *cover) {
  const shoal_hierarchy *tree = domain->hierarchy;
  if (tree->tree_height == 0) return 0;
  if (cover->everything) return 1;
  uint32_t level = 0, label;
  if (cover->level != SHOAL_NO_LEVEL) {
    level = cover->level;
    label = r->match[level][code];
  } else { /* the lowest label that covers both ends */
    uint32_t a = domain->leaf_at[cover->lo], b = domain->leaf_at[cover->hi];
    while (tree->levels[level].of_leaf[a] != tree->levels[level].of_leaf[b]) level++;
    label = tree->levels[level].of_leaf[a];
  }
  return (double)tree->levels[level].node_height[label] / tree->tree_height;
}

/* Width of the numbers that it stands for, within those known. */
static double width_of(const shoal_domain *domain, const shoal_cover *cover) {
  if (cover->everything) return domain->n_places > 1;
  if (!cover->is_range || !domain->all.has_low) return 0;
  double least = shoal_decimal_double(domain->all.low),
         most = shoal_decimal_double(domain->all.high);
  double low = cover->range.has_low ? shoal_decimal_double(cover->range.low) : least;
  double high = cover->range.has_high ? shoal_decimal_double(cover->range.high) : most;
  if (low < least) low = least;
  if (high > most) high = most;
  return high > low ? (high - low) / (most - least) : 0;
}

static void find_losses(const label_reader *r, uint32_t code, shoal_cover *cover) {
  const shoal_domain *domain = r->domain;
  if (domain->n_places > 1 && cover->n_places)
    cover->leaves_loss = (double)(cover->n_places - 1) / (double)(domain->n_places - 1);
  if (domain->is_number) cover->width = width_of(domain, cover);
  cover->height_loss = domain->hierarchy   ? tree_loss(domain, r, code, cover)
                       : domain->is_number ? cover->width
                                           : cover->leaves_loss;
}

/* ------------------------------------------------------------ all labels of a column */

static bool allocate(label_reader *r) {
  uint32_t n = r->released->column->n_values;
  r->released->covers = shoal_alloc(n, sizeof *r->released->covers);
  r->match = shoal_alloc_zero(r->n_levels, sizeof *r->match);
  r->stretches = shoal_alloc_zero(r->n_levels, sizeof *r->stretches);
  r->starry = shoal_alloc(n, sizeof *r->starry);
  r->spells = shoal_alloc(n, sizeof *r->spells);
  return r->released->covers && r->match && r->stretches && r->starry && r->spells;
}

static void reader_reset(label_reader *r) {
  for (uint32_t l = 0; l < r->n_levels; l++) {
    if (r->match) free(r->match[l]);
    if (r->stretches) free(r->stretches[l]);
  }
  free(r->match);
  free(r->stretches);
  free(r->starry);
  free(r->spells);
}

static bool read_column(label_reader *r, size_t released, shoal_unknown_labels *unknown) {
  shoal_strings strings;
  if (!allocate(r) || !shoal_strings_init(&strings)) return false;
  bool ok = match_levels(r, &strings) && find_stretches(r);
  shoal_strings_reset(&strings);
  if (!ok) return false;
  find_starry(r);
  r->released->level = common_level(r);
  for (uint32_t code = 0; code < r->released->column->n_values; code++) {
    shoal_cover *cover = &r->released->covers[code];
    if (read_label(r, code, cover)) {
      find_losses(r, code, cover);
      continue;
    }
    if (!shoal_grow(&unknown->items, &unknown->capacity, unknown->n + 1, sizeof *unknown->items))
      return false;
    unknown->items[unknown->n++] = (shoal_label_at){released, code};
  }
  return shoal_labels_find_same(r->released);
}

shoal_status shoal_domain_read(shoal_domain *domain, const shoal_domain_request *request,
                               shoal_unknown_labels *unknown, shoal_error *error) {
  domain->released = shoal_alloc_zero(request->n_released, sizeof *domain->released);
  if (!domain->released) return shoal_fail_memory(error);
  domain->n_released = request->n_released;
  for (size_t i = 0; i < request->n_released; i++) {
    domain->released[i].table = request->released[i].table;
    domain->released[i].column = request->released[i].column;
    label_reader r = {.domain = domain,
                      .released = &domain->released[i],
                      .complete = request->complete,
                      .n_original = request->n_raw ? request->raw[0].column->n_values : 0,
                      .n_levels = domain->hierarchy ? domain->hierarchy->n_levels : 1};
    bool ok = read_column(&r, i, unknown);
    reader_reset(&r);
    if (!ok) return shoal_fail_memory(error);
  }
  return SHOAL_OK;
}
