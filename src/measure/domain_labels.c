/* SPDX-License-Identifier: Apache-2.0 */
/*
 * measure/domain_labels: finds the span of each released label.
 *
 * All labels of the hierarchy are looked up among the released ones, level by level (values without
 * a hierarchy are one level). The lowest level that has every label of a column decides their
 * meaning, so a full-domain release is read as labels of one level. Otherwise each label is of the
 * highest level that has it. A label of no level is read by its spelling. A set is read before all
 * of them (domain_sets.c).
 */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "measure/domain_parts.h"

/* Positions lo .. hi. */
typedef struct position_range {
  uint32_t lo, hi;
} position_range;

/* Reads the labels of one released column. */
typedef struct label_reader {
  shoal_domain *domain;
  shoal_released_labels *released;
  shoal_equality equality;
  bool complete, local;
  uint32_t n_original; /* values of the original, which come first */
  uint32_t n_levels;
  uint32_t **match;        /* by level, by code: label of that level, or SHOAL_NONE */
  position_range **ranges; /* by level, by label */
  uint8_t *uninformative;  /* by code: it covers everything */
  shoal_spelling *spells;  /* by code */
  shoal_domain_set *sets;  /* by code; NULL: the attribute has no sets */
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

/* Finds the label of each level that equals each released label. */
static bool match_levels(label_reader *r, shoal_values *names) {
  uint32_t n = r->released->column->n_values;
  for (uint32_t code = 0; code < n; code++)
    if (shoal_values_intern(names, label_of(r, code)) != code) return false;
  for (uint32_t l = 0; l < r->n_levels; l++) {
    r->match[l] = shoal_alloc(n, sizeof **r->match);
    if (!r->match[l]) return false;
    for (uint32_t code = 0; code < n; code++) r->match[l][code] = SHOAL_NONE;
    for (uint32_t t = 0; t < labels_on(r, l); t++) {
      uint32_t id = shoal_values_intern(names, label_on(r, l, t));
      if (id == SHOAL_NONE) return false;
      if (id < n) r->match[l][id] = t;
    }
  }
  return true;
}

/* A label that is a set or a star is no value. */
static bool find_sets(label_reader *r) {
  const shoal_column *column = r->released->column;
  if (!shoal_attribute_has_sets(r->domain->attribute)) return true;
  r->sets = shoal_alloc(column->n_values, sizeof *r->sets);
  if (!r->sets || !shoal_domain_find_sets(r->domain, column, r->equality, r->complete, r->sets))
    return false;
  for (uint32_t code = 0; code < column->n_values; code++) {
    shoal_label label = label_of(r, code);
    shoal_form form = shoal_label_parse(label.bytes, label.size_bytes).form;
    bool general = r->sets[code].is_set || form == SHOAL_FORM_EVERYTHING;
    for (uint32_t l = 0; general && l < r->n_levels; l++) r->match[l][code] = SHOAL_NONE;
  }
  return true;
}

static bool find_ranges(label_reader *r) {
  for (uint32_t l = 0; l < r->n_levels; l++) {
    uint32_t n = labels_on(r, l);
    r->ranges[l] = shoal_alloc(n, sizeof **r->ranges);
    if (!r->ranges[l]) return false;
    for (uint32_t t = 0; t < n; t++) r->ranges[l][t] = (position_range){UINT32_MAX, 0};
    for (uint32_t leaf = 0; leaf < r->domain->n_leaves; leaf++) {
      uint32_t t = r->domain->hierarchy ? r->domain->hierarchy->levels[l].of_leaf[leaf] : leaf;
      position_range *s = &r->ranges[l][t];
      uint32_t position = r->domain->position_of[leaf];
      if (position < s->lo) s->lo = position;
      if (position > s->hi) s->hi = position;
    }
  }
  return true;
}

/* Whether a missing value is one of the original or of the tree, not only of another table. */
static bool of_original(const label_reader *r, uint32_t code, bool known) {
  uint32_t leaf = r->match[0][code];
  return known && (leaf < r->n_original || leaf >= r->domain->values.n_values);
}

/* The lowest level at which every value of the original has the label `code`. */
static uint32_t level_of_all(const label_reader *r, uint32_t code) {
  for (uint32_t l = 0; l < r->n_levels && r->domain->hierarchy; l++) {
    bool all = r->match[l][code] != SHOAL_NONE;
    for (uint32_t leaf = 0; all && leaf < r->n_original; leaf++)
      all = r->domain->hierarchy->levels[l].of_leaf[leaf] == r->match[l][code];
    if (all) return l;
  }
  return is_top(r, r->n_levels - 1) ? r->n_levels - 1 : SHOAL_NONE;
}

/* The lowest level that has all labels except those that cover everything. */
static uint32_t common_level(const label_reader *r) {
  uint32_t n = r->released->column->n_values, n_uninformative = 0;
  for (uint32_t code = 0; code < n; code++) n_uninformative += r->uninformative[code];
  if (n_uninformative == n) return level_of_all(r, 0);
  for (uint32_t l = 0; l < r->n_levels; l++) {
    bool all = true;
    for (uint32_t code = 0; all && code < n; code++)
      all = r->uninformative[code] || r->match[l][code] != SHOAL_NONE;
    if (all) return l;
  }
  return SHOAL_NONE;
}

/* ------------------------------------------------------------ spellings */

/* Scans for positions whose number is in the range, or whose value has the prefix. */
static void scan_positions(const shoal_domain *domain, shoal_label_span *span) {
  *span = (shoal_label_span){.lo = 1,
                             .is_range = span->is_range,
                             .spelled_range = span->spelled_range,
                             .range = span->range,
                             .prefix = span->prefix,
                             .prefix_bytes = span->prefix_bytes,
                             .loose = true,
                             .level = SHOAL_NONE};
  for (uint32_t position = 0; position < domain->n_positions; position++) {
    if (!shoal_domain_holds_loosely(domain, span, position)) continue;
    if (span->n_positions++ == 0) span->lo = position;
    span->hi = position;
  }
  span->loose = span->n_positions && span->n_positions != span->hi - span->lo + 1;
}

/* The first position that is not below the range (with `past`: that is above it). */
static uint32_t find_position(const shoal_domain *domain, const shoal_range *range, bool past) {
  uint32_t low = 0, high = domain->n_positions - domain->n_missing;
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

static void find_range(const shoal_domain *domain, shoal_label_span *span) {
  if (!domain->ascending) {
    scan_positions(domain, span);
    return;
  }
  uint32_t begin = find_position(domain, &span->range, false);
  uint32_t end = find_position(domain, &span->range, true);
  span->n_positions = end > begin ? end - begin : 0;
  span->lo = span->n_positions ? begin : 1;
  span->hi = span->n_positions ? end - 1 : 0;
}

static bool read_set(const shoal_domain *domain, const shoal_domain_set *set,
                     shoal_label_span *span) {
  if (!set->positions) return false;
  span->set = set->positions;
  span->n_positions = set->n;
  span->lo = set->positions[0];
  span->hi = set->positions[set->n - 1];
  span->loose = set->n != span->hi - span->lo + 1;
  span->missing = set->n == 1 && domain->position_missing[span->lo];
  return true;
}

/* False: it covers no known value. */
static bool read_spelling(const label_reader *r, uint32_t code, shoal_label_span *span) {
  if (r->sets && r->sets[code].is_set) return read_set(r->domain, &r->sets[code], span);
  const shoal_spelling *spelling = &r->spells[code];
  switch (spelling->form) {
  case SHOAL_FORM_NUMBER:
  case SHOAL_FORM_INTERVAL:
    if (!r->domain->is_number) return false;
    span->is_range = span->spelled_range = true;
    span->range = spelling->range;
    find_range(r->domain, span);
    return span->n_positions > 0;
  case SHOAL_FORM_PREFIX:
    span->prefix = label_of(r, code).bytes;
    span->prefix_bytes = spelling->prefix_bytes;
    scan_positions(r->domain, span);
    return span->n_positions > 0;
  case SHOAL_FORM_WORD:
  case SHOAL_FORM_EVERYTHING: break;
  }
  return false;
}

/* ------------------------------------------------------------ one label */

/* The range of the numbers that a label of a level covers, by its spelling or by its values. */
static void find_numbers(const label_reader *r, uint32_t code, shoal_label_span *span) {
  const shoal_domain *domain = r->domain;
  if (!domain->is_number) return;
  if (r->spells[code].form == SHOAL_FORM_NUMBER || r->spells[code].form == SHOAL_FORM_INTERVAL) {
    span->is_range = span->spelled_range = true;
    span->range = r->spells[code].range;
    return;
  }
  for (uint32_t position = span->lo; position <= span->hi && span->n_positions; position++) {
    if (domain->position_missing[position]) continue;
    shoal_decimal number = domain->numbers[position];
    shoal_range *range = &span->range;
    if (!span->is_range || shoal_decimal_compare(number, range->low) < 0) range->low = number;
    if (!span->is_range || shoal_decimal_compare(number, range->high) > 0) range->high = number;
    range->has_low = range->has_high = span->is_range = true;
  }
}

/*
 * The level of all labels of the column, else the highest level that has the label. Masked labels
 * that were added as values are also on lower levels, where they would cover too little.
 */
static uint32_t level_of(const label_reader *r, uint32_t code) {
  bool added = !r->complete && r->domain->hierarchy &&
               r->domain->attribute->hierarchy.kind == SHOAL_HIERARCHY_MASK;
  uint32_t common = added ? SHOAL_NONE : r->released->level;
  if (common != SHOAL_NONE && r->match[common][code] != SHOAL_NONE) return common;
  for (uint32_t l = r->n_levels; l-- > 0;)
    if (r->match[l][code] != SHOAL_NONE) return l;
  return SHOAL_NONE;
}

static bool read_label(const label_reader *r, uint32_t code, shoal_label_span *span) {
  const shoal_domain *domain = r->domain;
  uint32_t level = level_of(r, code);
  *span = (shoal_label_span){.lo = 1, .level = level};
  if (r->uninformative[code]) {
    span->everything = true;
    span->off_level =
        r->released->level == SHOAL_NONE || r->match[r->released->level][code] == SHOAL_NONE;
    span->n_positions = domain->n_positions;
    if (domain->n_positions) span->lo = 0, span->hi = domain->n_positions - 1;
    return true;
  }
  if (level == SHOAL_NONE) return read_spelling(r, code, span);
  uint32_t label = r->match[level][code];
  span->lo = r->ranges[level][label].lo;
  span->hi = r->ranges[level][label].hi;
  span->n_positions = domain->hierarchy ? domain->hierarchy->levels[level].n_leaves[label] : 1;
  span->missing = span->n_positions == 1 && domain->position_missing[span->lo];
  if (!span->missing) find_numbers(r, code, span);
  if (!domain->hierarchy) span->level = SHOAL_NONE;
  return true;
}

/* ------------------------------------------------------------ losses */

static double tree_loss(const shoal_domain *domain, const label_reader *r, uint32_t code,
                        const shoal_label_span *span) {
  const shoal_hierarchy *tree = domain->hierarchy;
  if (tree->tree_height == 0) return 0;
  if (span->everything) return 1;
  uint32_t level = 0, label;
  if (span->level != SHOAL_NONE) {
    level = span->level;
    label = r->match[level][code];
  } else { /* the lowest label that covers both ends */
    uint32_t a = domain->leaf_at[span->lo], b = domain->leaf_at[span->hi];
    while (tree->levels[level].of_leaf[a] != tree->levels[level].of_leaf[b]) level++;
    label = tree->levels[level].of_leaf[a];
  }
  return (double)tree->levels[level].node_height[label] / tree->tree_height;
}

/* Width of its numbers within the known ones, 0 to 1. */
static double width_of(const shoal_domain *domain, const shoal_label_span *span) {
  if (span->everything) return domain->n_positions > 1;
  if (!span->is_range || !domain->all.has_low) return 0;
  double least = shoal_decimal_double(domain->all.low),
         most = shoal_decimal_double(domain->all.high);
  double low = span->range.has_low ? shoal_decimal_double(span->range.low) : least;
  double high = span->range.has_high ? shoal_decimal_double(span->range.high) : most;
  if (low < least) low = least;
  if (high > most) high = most;
  return high > low ? (high - low) / (most - least) : 0;
}

/*
 * A number that is written as an interval loses the interval's width, a label of its tree the
 * label's height. "[20-29]" can be either: it is a label if the policy writes numbers as labels, or
 * if all labels of the column have one level, unless local recoding made them.
 */
static bool counts_by_width(const label_reader *r, const shoal_label_span *span) {
  const shoal_attribute *attribute = r->domain->attribute;
  if (!r->domain->hierarchy) return r->domain->is_number;
  if (attribute->type != SHOAL_TYPE_NUMBER || !span->spelled_range) return false;
  if (span->level == SHOAL_NONE) return true;
  return !attribute->recode_hierarchy && (r->local || r->released->level == SHOAL_NONE);
}

static void find_losses(const label_reader *r, uint32_t code, shoal_label_span *span) {
  const shoal_domain *domain = r->domain;
  if (domain->n_positions > 1 && span->n_positions)
    span->leaves_loss = (double)(span->n_positions - 1) / (double)(domain->n_positions - 1);
  if (domain->is_number) span->width = width_of(domain, span);
  if (r->sets) {
    span->height_loss = shoal_domain_set_loss(domain, r->n_original, span);
    return;
  }
  span->height_loss = counts_by_width(r, span) ? span->width
                      : domain->hierarchy      ? tree_loss(domain, r, code, span)
                                               : span->leaves_loss;
}

/* ------------------------------------------------------------ all labels of a column */

static bool allocate(label_reader *r) {
  uint32_t n = r->released->column->n_values;
  r->released->spans = shoal_alloc(n, sizeof *r->released->spans);
  r->match = shoal_alloc_zero(r->n_levels, sizeof *r->match);
  r->ranges = shoal_alloc_zero(r->n_levels, sizeof *r->ranges);
  r->uninformative = shoal_alloc(n, sizeof *r->uninformative);
  r->spells = shoal_alloc(n, sizeof *r->spells);
  return r->released->spans && r->match && r->ranges && r->uninformative && r->spells;
}

static void reader_reset(label_reader *r) {
  for (uint32_t l = 0; l < r->n_levels; l++) {
    if (r->match) free(r->match[l]);
    if (r->ranges) free(r->ranges[l]);
  }
  free(r->match);
  free(r->ranges);
  free(r->uninformative);
  free(r->spells);
  free(r->sets);
}

static bool read_column(label_reader *r, size_t released, shoal_unknown_labels *unknown) {
  shoal_values names;
  if (!allocate(r) || !shoal_values_init(&names, r->equality)) return false;
  bool ok = match_levels(r, &names) && find_sets(r) && find_ranges(r);
  shoal_values_reset(&names);
  if (!ok) return false;
  /* A star, the top's label, or a missing value that the original does not have: a blanked cell. */
  const shoal_column *column = r->released->column;
  for (uint32_t code = 0; code < column->n_values; code++) {
    shoal_label label = label_of(r, code);
    r->spells[code] =
        shoal_label_parse_as(r->domain->attribute->coding.dates, label.bytes, label.size_bytes);
    bool known = false;
    for (uint32_t l = 0; l < r->n_levels; l++) known = known || r->match[l][code] != SHOAL_NONE;
    bool top = is_top(r, r->n_levels - 1) && r->match[r->n_levels - 1][code] != SHOAL_NONE;
    bool blank = shoal_column_missing(column, code) && r->complete && !of_original(r, code, known);
    r->uninformative[code] =
        top || blank || (!known && r->spells[code].form == SHOAL_FORM_EVERYTHING);
  }
  r->released->level = common_level(r);
  for (uint32_t code = 0; code < r->released->column->n_values; code++) {
    shoal_label_span *span = &r->released->spans[code];
    if (read_label(r, code, span)) {
      find_losses(r, code, span);
      continue;
    }
    if (!shoal_grow(&unknown->items, &unknown->capacity, unknown->n + 1, sizeof *unknown->items))
      return false;
    unknown->items[unknown->n++] = (shoal_label_at){released, code};
  }
  return shoal_labels_find_same(r->released);
}

shoal_status shoal_domain_read_labels(shoal_domain *domain, const shoal_domain_request *request,
                                      shoal_unknown_labels *unknown, shoal_error *error) {
  domain->released = shoal_alloc_zero(request->n_released, sizeof *domain->released);
  if (!domain->released) return shoal_fail_memory(error);
  domain->n_released = request->n_released;
  for (size_t i = 0; i < request->n_released; i++) {
    domain->released[i].table = request->released[i].table;
    domain->released[i].column = request->released[i].column;
    label_reader r = {.domain = domain,
                      .released = &domain->released[i],
                      .equality = shoal_policy_equality(request->policy, request->attribute),
                      .complete = request->complete,
                      .local = request->local,
                      .n_original = request->n_raw ? request->raw[0].column->n_values : 0,
                      .n_levels = domain->hierarchy ? domain->hierarchy->n_levels : 1};
    bool ok = read_column(&r, i, unknown);
    reader_reset(&r);
    if (!ok) return shoal_fail_memory(error);
  }
  return SHOAL_OK;
}
