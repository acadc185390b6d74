/* SPDX-License-Identifier: Apache-2.0 */
/*
 * measure/domain_order: orders the known values of an attribute.
 *
 * The values of all raw columns become one dictionary, those of raw[0] first, by their codes. The
 * hierarchy is compiled above it. Leaves are sorted in natural order (numbers, else bytes; missing
 * values last), then stably by their label of level 1, 2, ... up to the top, labels by their first
 * leaf. So each label covers adjacent positions, and a tree of intervals keeps numbers ascending.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "measure/domain_parts.h"

/* Collects the values of all columns. */
typedef struct value_collector {
  const shoal_domain_request *request;
  shoal_domain *domain;
  shoal_values known; /* values, by their later code */
  shoal_values
      leaves;     /* leaves of a tree that defines its own, and other values that were looked up */
  uint32_t n_own; /* the number of the tree's own leaves, which come first */
  uint8_t *missing; /* by value */
  size_t missing_capacity;
  uint32_t n_missing; /* entries of `missing` that are set */
} value_collector;

static shoal_label value_of(const shoal_column *column, uint32_t value) {
  shoal_label label;
  label.bytes = shoal_column_value(column, value, &label.size_bytes);
  return label;
}

static shoal_status mark_missing(void *user, uint32_t value, bool missing, shoal_error *error) {
  value_collector *g = user;
  if (!shoal_grow(&g->missing, &g->missing_capacity, (size_t)g->known.spellings.n_strings + 1,
                  sizeof *g->missing))
    return shoal_fail_memory(error);
  while (g->n_missing < g->known.spellings.n_strings) g->missing[g->n_missing++] = 0;
  if (missing) g->missing[value] = 1;
  return SHOAL_OK;
}

static shoal_hierarchy_options hierarchy_options(const shoal_domain_request *request) {
  return (shoal_hierarchy_options){
      .policy = request->policy->file,
      .attribute = request->attribute->name,
      .number = request->attribute->type == SHOAL_TYPE_NUMBER,
      .equality = shoal_policy_equality(request->policy, request->attribute),
      .n_measured = request->n_raw ? request->raw[0].column->n_values : 0,
      .ragged = true};
}

/* Collects the leaves of a tree that defines its own. */
static shoal_status collect_leaves(value_collector *g, shoal_error *error) {
  shoal_equality equality = shoal_policy_equality(g->request->policy, g->request->attribute);
  if (!shoal_values_init(&g->leaves, equality)) return shoal_fail_memory(error);
  if (!shoal_attribute_has_tree(g->request->attribute)) return SHOAL_OK;
  shoal_hierarchy_options options = hierarchy_options(g->request);
  shoal_hierarchy *tree;
  SHOAL_TRY(shoal_hierarchy_compile(&g->request->attribute->hierarchy, NULL, NULL, &options, &tree,
                                    error));
  bool ok = true;
  for (uint32_t leaf = 0; ok && leaf < tree->n_leaves; leaf++) {
    shoal_label label;
    label.bytes = shoal_level_label(&tree->levels[0], leaf, &label.size_bytes);
    ok = shoal_values_intern(&g->leaves, label) != SHOAL_NONE;
  }
  g->n_own = tree->n_leaves;
  shoal_hierarchy_free(tree);
  return ok ? SHOAL_OK : shoal_fail_memory(error);
}

/* Checks the column with its own table, so that errors have the right file and row. */
static shoal_status check_column(const value_collector *g, size_t w, shoal_error *error) {
  const shoal_attribute *attribute = g->request->attribute;
  const shoal_source_column *raw = &g->request->raw[w];
  if (attribute->type == SHOAL_TYPE_NUMBER) {
    int64_t *numbers;
    unsigned scale;
    SHOAL_TRY(shoal_column_numbers(raw->table, raw->column, &numbers, &scale, error));
    free(numbers);
  }
  bool built = attribute->has_hierarchy && !shoal_attribute_has_sets(attribute);
  if (!built || shoal_attribute_has_tree(attribute)) return SHOAL_OK;
  if (g->request->n_raw == 1 || raw->column->n_values == 0)
    return SHOAL_OK; /* the hierarchy is compiled with these values later */
  shoal_hierarchy_options options = hierarchy_options(g->request);
  shoal_hierarchy *hierarchy;
  SHOAL_TRY(shoal_hierarchy_compile(&attribute->hierarchy, raw->table, raw->column, &options,
                                    &hierarchy, error));
  shoal_hierarchy_free(hierarchy);
  return SHOAL_OK;
}

static shoal_status collect_column(value_collector *g, size_t w, shoal_error *error) {
  const shoal_column *column = g->request->raw[w].column;
  bool strict = w == 0 && g->request->complete;
  bool tree = shoal_attribute_has_tree(g->request->attribute);
  uint32_t *position = shoal_alloc(column->n_values, sizeof *position);
  g->domain->raw_position[w] = position;
  if (!position) return shoal_fail_memory(error);
  for (uint32_t v = 0; v < column->n_values; v++) {
    shoal_label value = value_of(column, v);
    bool missing = shoal_column_missing(column, v);
    position[v] = SHOAL_NONE;
    if (tree && !strict && !missing) {
      uint32_t leaf = shoal_values_intern(&g->leaves, value);
      if (leaf == SHOAL_NONE) return shoal_fail_memory(error);
      if (leaf >= g->n_own) continue;
    }
    position[v] = shoal_values_intern(&g->known,
                                      value); /* replaced by the position when the order is known */
    if (position[v] == SHOAL_NONE) return shoal_fail_memory(error);
    SHOAL_TRY(mark_missing(g, position[v], missing, error));
  }
  return SHOAL_OK;
}

static shoal_status collect_labels(value_collector *g, const shoal_unknown_labels *unknown,
                                   shoal_error *error) {
  for (size_t i = 0; i < unknown->n; i++) {
    const shoal_column *column = g->request->released[unknown->items[i].released].column;
    uint32_t code = unknown->items[i].code;
    bool is_set = shoal_attribute_has_sets(g->request->attribute) &&
                  shoal_is_set_label(value_of(column, code));
    if (shoal_column_missing(column, code)) {
      uint32_t value = shoal_values_intern(&g->known, value_of(column, code));
      if (value == SHOAL_NONE) return shoal_fail_memory(error);
      SHOAL_TRY(mark_missing(g, value, true, error));
    } else if (is_set) {
      SHOAL_TRY(shoal_set_add_values(g->request->policy, value_of(column, code), &g->known,
                                     mark_missing, g, error));
    } else {
      SHOAL_TRY(shoal_label_add_values(g->request, value_of(column, code), &g->known, error));
      SHOAL_TRY(mark_missing(g, 0, false, error));
    }
  }
  return SHOAL_OK;
}

static shoal_status collect(value_collector *g, const shoal_unknown_labels *unknown,
                            shoal_error *error) {
  shoal_domain *domain = g->domain;
  shoal_equality equality = shoal_policy_equality(g->request->policy, g->request->attribute);
  if (!shoal_values_init(&g->known, equality)) return shoal_fail_memory(error);
  SHOAL_TRY(collect_leaves(g, error));
  for (size_t w = 0; w < domain->n_raw; w++) {
    SHOAL_TRY(check_column(g, w, error));
    SHOAL_TRY(collect_column(g, w, error));
  }
  SHOAL_TRY(collect_labels(g, unknown, error));
  SHOAL_TRY(mark_missing(g, 0, false, error));
  shoal_column *values = &domain->values;
  values->name = g->request->attribute->name;
  values->coding = g->request->attribute->coding;
  values->is_missing = g->missing;
  g->missing = NULL;
  shoal_strings_take(&g->known.spellings, &values->bytes, &values->offsets, &values->n_values);
  return SHOAL_OK;
}

static shoal_status collect_values(shoal_domain *domain, const shoal_domain_request *request,
                                   const shoal_unknown_labels *unknown, shoal_error *error) {
  value_collector g = {.request = request, .domain = domain};
  shoal_status status = collect(&g, unknown, error);
  shoal_values_reset(&g.known);
  shoal_values_reset(&g.leaves);
  free(g.missing);
  return status;
}

/* ------------------------------------------------------------ the hierarchy above them */

static shoal_status compile(shoal_domain *domain, const shoal_domain_request *request,
                            shoal_error *error) {
  const shoal_attribute *attribute = request->attribute;
  domain->n_leaves = domain->values.n_values;
  if (!attribute->has_hierarchy || shoal_attribute_has_sets(attribute)) return SHOAL_OK;
  if (domain->n_leaves == 0 && !shoal_attribute_has_tree(attribute)) return SHOAL_OK;
  shoal_hierarchy_options options = hierarchy_options(request);
  const shoal_table *table = request->n_raw ? request->raw[0].table : NULL;
  /* with one raw column the codes are its own, so errors can name the row */
  if (request->n_raw == 1 && domain->values.n_values == request->raw[0].column->n_values)
    domain->values.first_row = request->raw[0].column->first_row;
  shoal_status status = shoal_hierarchy_compile(&attribute->hierarchy, table, &domain->values,
                                                &options, &domain->hierarchy, error);
  domain->values.first_row = NULL;
  if (status == SHOAL_OK) domain->n_leaves = domain->hierarchy->n_leaves;
  return status;
}

/* ------------------------------------------------------------ order */

typedef struct ordered {
  shoal_label text;
  shoal_decimal number;
  uint32_t leaf;
  bool missing;
} ordered;

static int by_bytes(const ordered *x, const ordered *y) {
  size_t least = x->text.size_bytes < y->text.size_bytes ? x->text.size_bytes : y->text.size_bytes;
  int order = least ? memcmp(x->text.bytes, y->text.bytes, least) : 0;
  if (order) return order;
  return (x->text.size_bytes > y->text.size_bytes) - (x->text.size_bytes < y->text.size_bytes);
}

static int in_natural_order(const void *a, const void *b) {
  const ordered *x = a, *y = b;
  if (x->missing != y->missing) return x->missing ? 1 : -1;
  int order = x->missing ? 0 : shoal_decimal_compare(x->number, y->number);
  return order ? order : by_bytes(x, y);
}

static bool read_number(const shoal_domain *domain, shoal_label text, shoal_decimal *number) {
  return shoal_coding_parse(&domain->values.coding, text.bytes, text.size_bytes, number) ==
         SHOAL_NUMBER_OK;
}

static bool leaf_is_missing(const shoal_domain *domain, uint32_t leaf) {
  return leaf < domain->values.n_values && domain->values.is_missing[leaf];
}

/* Fills and sorts `order`. Unless all values are numbers, each counts as 0 and bytes decide. */
static void natural_order(shoal_domain *domain, ordered *order, bool number) {
  domain->is_number = number;
  for (uint32_t leaf = 0; leaf < domain->n_leaves; leaf++) {
    ordered *o = &order[leaf];
    *o = (ordered){.text = shoal_domain_leaf(domain, leaf),
                   .leaf = leaf,
                   .missing = leaf_is_missing(domain, leaf)};
    if (!o->missing && domain->is_number)
      domain->is_number = read_number(domain, o->text, &o->number);
  }
  for (uint32_t i = 0; !domain->is_number && i < domain->n_leaves; i++)
    order[i].number = (shoal_decimal){0, 0};
  if (domain->n_leaves > 1) qsort(order, domain->n_leaves, sizeof *order, in_natural_order);
}

/* Sorts leaves stably by their label of a level, labels by their first leaf in `natural`. */
static bool sort_by_level(const shoal_level *level, uint32_t n, const ordered *natural,
                          uint32_t *leaves) {
  uint32_t *rank = shoal_alloc(level->n_labels, sizeof *rank);
  uint32_t *start = shoal_alloc_zero((size_t)level->n_labels + 1, sizeof *start);
  uint32_t *sorted = shoal_alloc(n, sizeof *sorted);
  bool ok = rank && start && sorted;
  uint32_t n_ranked = 0;
  for (uint32_t t = 0; ok && t < level->n_labels; t++) rank[t] = UINT32_MAX;
  for (uint32_t i = 0; ok && i < n; i++) {
    uint32_t label = level->of_leaf[natural[i].leaf];
    if (rank[label] == UINT32_MAX) rank[label] = n_ranked++;
    start[rank[label] + 1]++;
  }
  for (uint32_t t = 0; ok && t < level->n_labels; t++) start[t + 1] += start[t];
  for (uint32_t i = 0; ok && i < n; i++)
    sorted[start[rank[level->of_leaf[leaves[i]]]]++] = leaves[i];
  if (ok) memcpy(leaves, sorted, (size_t)n * sizeof *leaves);
  free(rank);
  free(start);
  free(sorted);
  return ok;
}

/* Without a tree, spellings of one number share a position, also where the type is text. */
static bool same_position(const shoal_domain *domain, shoal_decimal last, shoal_decimal number,
                          bool first) {
  return !first && !domain->hierarchy && domain->is_number &&
         shoal_decimal_compare(last, number) == 0;
}

static void include(shoal_range *range, shoal_decimal number) {
  if (!range->has_low || shoal_decimal_compare(number, range->low) < 0) range->low = number;
  if (!range->has_high || shoal_decimal_compare(number, range->high) > 0) range->high = number;
  range->has_low = range->has_high = true;
}

/* The range is that of the columns: leaves that only the tree has do not widen it. */
static void assign_positions(shoal_domain *domain, const uint32_t *leaves) {
  domain->ascending = domain->is_number;
  shoal_decimal last = {0, 0};
  bool first = true;
  for (uint32_t i = 0; i < domain->n_leaves; i++) {
    uint32_t leaf = leaves[i];
    bool missing = leaf_is_missing(domain, leaf);
    shoal_decimal number = {0, 0};
    if (domain->is_number && !missing) {
      shoal_label text = shoal_domain_leaf(domain, leaf);
      (void)read_number(domain, text, &number); /* it parsed before */
      if (same_position(domain, last, number, first)) {
        domain->position_of[leaf] = domain->n_positions - 1;
        continue;
      }
      /* after a missing value or a greater number */
      if (domain->n_missing || (!first && shoal_decimal_compare(number, last) < 0))
        domain->ascending = false;
      if (leaf < domain->values.n_values) include(&domain->all, number);
      last = number;
      first = false;
    }
    uint32_t position = domain->n_positions++;
    domain->n_missing += missing;
    domain->position_of[leaf] = position;
    domain->leaf_at[position] = leaf;
    domain->numbers[position] = number;
    domain->position_missing[position] = missing;
  }
}

static bool order_leaves(shoal_domain *domain, bool number, ordered *natural, uint32_t *leaves) {
  natural_order(domain, natural, number);
  for (uint32_t i = 0; i < domain->n_leaves; i++) leaves[i] = natural[i].leaf;
  for (uint32_t l = 1; domain->hierarchy && l < domain->hierarchy->n_levels; l++)
    if (!sort_by_level(&domain->hierarchy->levels[l], domain->n_leaves, natural, leaves))
      return false;
  assign_positions(domain, leaves);
  assert(domain->n_positions <= domain->n_leaves);
  return true;
}

static bool make_order(shoal_domain *domain, bool number) {
  uint32_t n = domain->n_leaves;
  domain->position_of = shoal_alloc(n, sizeof *domain->position_of);
  domain->leaf_at = shoal_alloc(n, sizeof *domain->leaf_at);
  domain->numbers = shoal_alloc(n, sizeof *domain->numbers);
  domain->position_missing = shoal_alloc(n, sizeof *domain->position_missing);
  ordered *natural = shoal_alloc(n, sizeof *natural);
  uint32_t *leaves = shoal_alloc(n, sizeof *leaves);
  bool ok = domain->position_of && domain->leaf_at && domain->numbers && domain->position_missing &&
            natural && leaves && order_leaves(domain, number, natural, leaves);
  free(natural);
  free(leaves);
  return ok;
}

/* A hierarchy of numbers makes an attribute numeric, whatever its type. */
static bool counts_as_number(const shoal_attribute *attribute) {
  if (shoal_attribute_has_sets(attribute)) return false; /* codes, not quantities */
  return attribute->type == SHOAL_TYPE_NUMBER || shoal_spec_has_numbers(attribute);
}

shoal_status shoal_domain_order_values(shoal_domain *domain, const shoal_domain_request *request,
                                       const shoal_unknown_labels *unknown, shoal_error *error) {
  domain->attribute = request->attribute;
  domain->n_raw = request->n_raw;
  domain->raw_position = shoal_alloc_zero(request->n_raw, sizeof *domain->raw_position);
  if (!domain->raw_position) return shoal_fail_memory(error);
  SHOAL_TRY(collect_values(domain, request, unknown, error));
  SHOAL_TRY(compile(domain, request, error));
  if (!make_order(domain, counts_as_number(request->attribute))) return shoal_fail_memory(error);
  for (size_t w = 0; w < request->n_raw; w++)
    for (uint32_t v = 0; v < request->raw[w].column->n_values; v++)
      if (domain->raw_position[w][v] != SHOAL_NONE)
        domain->raw_position[w][v] = domain->position_of[domain->raw_position[w][v]];
  return SHOAL_OK;
}
