/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model/personalized: personalized anonymity (Xiao & Tao 2006). Each row may name a guarding node
 * in the tree of the sensitive attribute. An intruder must not infer with a probability above
 * `breach` that the row's value lies under that node. The probability is the share of the class's
 * rows whose value does. A missing guard guards nothing. Not monotone (docs/reading-the-papers.md
 * R2).
 */
#include <stdlib.h>
#include <string.h>

#include "model/types.h"

enum { COLUMN, BREACH };

/* The node in the tree of each value of the guard column. */
typedef struct guards {
  const shoal_hierarchy *tree;
  uint32_t *level; /* by guard value; UINT32_MAX: guards nothing */
  uint32_t *label;
} guards;

static void release(void *own) {
  guards *self = own;
  if (!self) return;
  free(self->level);
  free(self->label);
  free(self);
}

/*
 * The highest node of each value of the guard column: a label that repeats below is the same node.
 * Guards and labels are compared like values of the attribute. False: no memory.
 */
static bool find_nodes(guards *self, const shoal_column *guard, const shoal_policy *policy,
                       shoal_equality equality) {
  shoal_values names;
  uint32_t *name_of = shoal_alloc(guard->n_values, sizeof *name_of);
  bool failed = !shoal_values_init(&names, equality) || !name_of;
  for (uint32_t g = 0; !failed && g < guard->n_values; g++) {
    shoal_label name;
    name.bytes = shoal_column_value(guard, g, &name.size_bytes);
    name_of[g] = shoal_values_intern(&names, name);
    failed = name_of[g] == SHOAL_NONE;
  }
  uint32_t n = failed ? 0 : names.spellings.n_strings;
  uint32_t *level = shoal_alloc(n, sizeof *level), *label = shoal_alloc(n, sizeof *label);
  failed = failed || !level || !label;
  if (!failed) {
    memset(level, 0xff, n * sizeof *level);
    memset(label, 0xff, n * sizeof *label); /* SHOAL_NONE: no node, and not missing */
  }
  for (size_t m = 0; !failed && m < policy->n_missing; m++) {
    shoal_label text = {policy->missing[m], strlen(policy->missing[m])};
    uint32_t name = shoal_values_find(&names, text, &failed);
    if (name != SHOAL_NONE) label[name] = 0;
  }
  for (uint32_t l = self->tree->n_levels; !failed && l-- > 0;) {
    for (uint32_t t = 0; t < self->tree->levels[l].n_labels; t++) {
      shoal_label text;
      text.bytes = shoal_level_label(&self->tree->levels[l], t, &text.size_bytes);
      uint32_t name = shoal_values_find(&names, text, &failed);
      if (name == SHOAL_NONE || label[name] != SHOAL_NONE) continue;
      level[name] = l;
      label[name] = t;
    }
  }
  for (uint32_t g = 0; !failed && g < guard->n_values; g++) {
    self->level[g] = level[name_of[g]];
    self->label[g] = label[name_of[g]];
  }
  free(level);
  free(label);
  free(name_of);
  shoal_values_reset(&names);
  return !failed;
}

static shoal_status prepare(shoal_requirement *requirement, const shoal_model_context *context,
                            shoal_error *error) {
  const shoal_hierarchy *tree = context->sensitive->hierarchy;
  const shoal_column *guard = context->guard;
  if (!tree)
    return shoal_lacks(requirement, context,
                       "a 'hierarchy', such as {tree: {Cancer: [Lung, Colon], Other: [Flu]}}",
                       error);
  guards *self = shoal_alloc_zero(1, sizeof *self);
  if (!self) return shoal_fail_memory(error);
  requirement->own = self;
  self->tree = tree;
  self->level = shoal_alloc(guard->n_values, sizeof *self->level);
  self->label = shoal_alloc_zero(guard->n_values, sizeof *self->label);
  shoal_equality equality = shoal_policy_equality(context->policy, context->sensitive->attribute);
  if (!self->level || !self->label || !find_nodes(self, guard, context->policy, equality))
    return shoal_fail_memory(error);
  for (uint32_t g = 0; g < guard->n_values; g++) {
    if (shoal_column_missing(guard, g)) self->level[g] = UINT32_MAX;
    if (shoal_column_missing(guard, g) || self->label[g] != SHOAL_NONE) continue;
    shoal_location location = {.file = context->table->name,
                               .row = guard->first_row ? guard->first_row[g] + 1 : 0,
                               .column = guard->name};
    return shoal_fail_at(
        error, SHOAL_BAD_INPUT, &location,
        "the cell is not a node of the hierarchy of '%s'; correct it, or leave it empty",
        context->sensitive->column->name);
  }
  return SHOAL_OK;
}

/* Rows of the class by label of one level; the caller frees the array. NULL: no memory. */
static uint64_t *rows_by_label(const guards *self, uint32_t l, const shoal_value_view *values) {
  const shoal_level *level = &self->tree->levels[l];
  uint64_t *rows = shoal_alloc_zero(level->n_labels, sizeof *rows);
  size_t at = 0;
  uint32_t value;
  uint64_t n_rows;
  while (rows && shoal_view_next(values, &at, &value, &n_rows))
    rows[level->of_leaf[value]] += n_rows;
  return rows;
}

/*
 * The maximum number of rows under a guard of the class; UINT64_MAX: no memory. *excess: rows above
 * the limit of each guard, summed over the guards.
 */
static uint64_t worst_guard(const shoal_requirement *requirement, const shoal_class_view *view,
                            double *excess) {
  const guards *self = requirement->own;
  uint64_t worst = 0;
  double limit = shoal_decimal_double(requirement->number[BREACH]) * (double)view->n_rows;
  *excess = 0;
  for (uint32_t l = 0; l < self->tree->n_levels && worst != UINT64_MAX; l++) {
    uint64_t *rows = NULL;
    size_t at = 0;
    uint32_t guard;
    uint64_t n_rows;
    while (shoal_view_next(&view->guards, &at, &guard, &n_rows)) {
      if (self->level[guard] != l) continue;
      if (!rows) rows = rows_by_label(self, l, &view->values);
      (void)shoal_requirement_failed(requirement, !rows);
      uint64_t under = rows ? rows[self->label[guard]] : UINT64_MAX;
      if (under > worst) worst = under;
      if ((double)under > limit) *excess += (double)under - limit;
    }
    free(rows);
  }
  return worst;
}

static bool holds(const shoal_requirement *requirement, const shoal_class_view *view) {
  shoal_decimal breach = requirement->number[BREACH];
  double excess;
  return shoal_compare_products(worst_guard(requirement, view, &excess),
                                shoal_power_of_ten(breach.scale), view->n_rows,
                                (shoal_uint128)breach.mantissa) <= 0;
}

static double deficit(const shoal_requirement *requirement, const shoal_class_view *view) {
  double excess;
  (void)worst_guard(requirement, view, &excess);
  return excess;
}

static double reached(const shoal_requirement *requirement, const shoal_class_view *view) {
  double excess;
  return view->n_rows ? (double)worst_guard(requirement, view, &excess) / (double)view->n_rows : 0;
}

static double required(const shoal_requirement *requirement) {
  return shoal_decimal_double(requirement->number[BREACH]);
}

static const shoal_parameter parameters[] = {
    {.name = "column", .kind = SHOAL_PARAMETER_COLUMN},
    {.name = "breach", .kind = SHOAL_PARAMETER_NUMBER, .min = "0", .max = "1"},
    {.name = NULL},
};

const shoal_model_type shoal_model_personalized = {
    .name = "personalized",
    .parameters_help = "column, breach, attribute; the attribute's hierarchy",
    .summary = "each person names a branch to hide; at most the share breach of a class lies in it",
    .parameters = parameters,
    .needs = SHOAL_NEEDS_HISTOGRAM | SHOAL_NEEDS_GUARDS,
    .on_attribute = true,
    .at_most = true,
    .monotone = shoal_is_not_monotone,
    .prepare = prepare,
    .release = release,
    .holds = holds,
    .reached = reached,
    .deficit = deficit,
    .required = required,
};
