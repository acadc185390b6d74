/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job/verify_trace: the verifier gets values, labels and the group of each row, no verdict on them.
 * Values are those of the table as it was read, also where the method worked on a sorted copy; a
 * tree is read by the texts of its leaves, never by code.
 */
#include "job/verify_trace.h"

#include "hierarchy/date.h"
#include "input/cells.h"

_Static_assert((int)SHOAL_VERIFY_KEPT == (int)SHOAL_ROW_KEEP &&
                   (int)SHOAL_VERIFY_REMOVED == (int)SHOAL_ROW_REMOVE &&
                   (int)SHOAL_VERIFY_BLANKED == (int)SHOAL_ROW_BLANK,
               "actions are handed over as they are");

static const shoal_verify_paths *tree_of(shoal_arena *arena, const shoal_hierarchy *hierarchy) {
  shoal_verify_paths *tree = shoal_arena_alloc(arena, 1, sizeof *tree);
  shoal_verify_level *levels = shoal_arena_alloc(arena, hierarchy->n_levels, sizeof *levels);
  if (!tree || !levels) return NULL;
  for (uint32_t l = 0; l < hierarchy->n_levels; l++) {
    const shoal_level *level = &hierarchy->levels[l];
    levels[l] = (shoal_verify_level){.labels = {level->bytes, level->offsets, level->n_labels},
                                     .of_leaf = level->of_leaf};
  }
  *tree = (shoal_verify_paths){levels, hierarchy->n_levels, hierarchy->n_leaves};
  return tree;
}

/* Local recoding makes intervals of numbers, unless the policy wants labels of the hierarchy. */
static shoal_verify_kind kind_of(const shoal_attribute *attribute, bool local) {
  bool number = attribute->type == SHOAL_TYPE_NUMBER;
  if (!attribute->has_hierarchy || (local && number && !attribute->recode_hierarchy))
    return attribute->coding.dates ? SHOAL_VERIFY_DATES
           : number                ? SHOAL_VERIFY_RANGES
                                   : SHOAL_VERIFY_PLAIN;
  switch (attribute->hierarchy.kind) {
  case SHOAL_HIERARCHY_SETS: return SHOAL_VERIFY_SETS;
  case SHOAL_HIERARCHY_FILE:
  case SHOAL_HIERARCHY_LEVELS:
  case SHOAL_HIERARCHY_TREE: return SHOAL_VERIFY_TREE;
  case SHOAL_HIERARCHY_MASK: return SHOAL_VERIFY_MASK;
  case SHOAL_HIERARCHY_DATE: return SHOAL_VERIFY_DATES;
  case SHOAL_HIERARCHY_TOP: return SHOAL_VERIFY_PLAIN;
  case SHOAL_HIERARCHY_INTERVALS:
  case SHOAL_HIERARCHY_ROUND:
  case SHOAL_HIERARCHY_CUTS: return SHOAL_VERIFY_RANGES;
  }
  return SHOAL_VERIFY_PLAIN; /* no kind is left */
}

static const shoal_verify_meaning *meaning_of(shoal_arena *arena, const shoal_release *release,
                                              size_t q) {
  const shoal_context *p = &release->context;
  const shoal_attribute *attribute = p->quasi_attributes[q];
  const shoal_hierarchy_spec *spec = &attribute->hierarchy;
  shoal_verify_meaning *meaning = shoal_arena_alloc(arena, 1, sizeof *meaning);
  if (!meaning) return NULL;
  *meaning = (shoal_verify_meaning){
      .kind = kind_of(attribute, release->decision.kind == SHOAL_METHOD_CLUSTERS),
      .limited = attribute->min_level || attribute->has_max_level};
  if (meaning->kind == SHOAL_VERIFY_MASK) {
    meaning->mask = spec->mask_char;
    meaning->mask_left = spec->mask_left;
    meaning->mask_code = spec->mask_code;
    meaning->mask_numbers = attribute->type == SHOAL_TYPE_NUMBER;
  } else if (meaning->kind == SHOAL_VERIFY_DATES) {
    meaning->date_format = attribute->coding.dates ? "YYYY-MM-DD" : spec->date_format;
    meaning->pivot = shoal_date_pivot(spec->pivot, 0);
  }
  if (meaning->kind != SHOAL_VERIFY_TREE && !meaning->limited) return meaning;
  meaning->min_level = p->hierarchies[q]->min_level;
  meaning->max_level = p->hierarchies[q]->max_level;
  meaning->tree = tree_of(arena, p->hierarchies[q]);
  return meaning->tree ? meaning : NULL;
}

static shoal_verify_strings values_of(const shoal_column *column) {
  return (shoal_verify_strings){column->bytes, column->offsets, column->n_values};
}

static bool fill_source(shoal_arena *arena, const shoal_release *release,
                        const shoal_csv_plan *plan, size_t c, size_t *q, bool styled,
                        shoal_verify_source *source) {
  const shoal_context *p = &release->context;
  const shoal_column *column = plan->columns[c].column;
  const shoal_attribute *attribute = shoal_policy_attribute(p->policy, column->name);
  *source =
      (shoal_verify_source){.commas = styled && shoal_cells_have_commas(p->policy, attribute)};
  if (plan->columns[c].generalized) {
    const shoal_column_labels *labels = &release->decision.columns[*q];
    column = &shoal_context_original(p)->columns[column - plan->table->columns];
    source->meaning = meaning_of(arena, release, (*q)++);
    if (!source->meaning) return false;
    source->labels = (shoal_verify_strings){labels->bytes, labels->offsets, labels->n_labels};
    source->label_of_group = labels->label_of_group;
    source->label_of_code = labels->label_of_code;
    source->stars = labels->suppressed;
  }
  if (!column->code_size) return true;
  source->codes = column->codes;
  source->code_size = column->code_size;
  source->values = values_of(column);
  const shoal_strings *replaced = &plan->columns[c].replaced;
  if (replaced->n_strings)
    source->values =
        (shoal_verify_strings){replaced->bytes, replaced->offsets, replaced->n_strings};
  return true;
}

const shoal_verify_trace *shoal_verify_trace_make(shoal_arena *arena, const shoal_release *release,
                                                  const shoal_csv_plan *plan, bool styled) {
  const shoal_policy *policy = release->context.policy;
  const shoal_table *original = shoal_context_original(&release->context);
  shoal_verify_trace *trace = shoal_arena_alloc(arena, 1, sizeof *trace);
  shoal_verify_source *sources = shoal_arena_alloc(arena, plan->n_columns, sizeof *sources);
  if (!trace || !sources) return NULL;
  *trace = (shoal_verify_trace){
      .n_rows = original->n_rows,
      .n_noise = plan->table->n_rows - original->n_rows,
      .max_noise =
          policy->noise_allowed ? shoal_amount_rows(policy->noise, original->n_records) : 0,
      .counts = original->counts,
      .group_of_row = plan->group_of_row,
      .action_of_group = plan->action,
      .n_groups = plan->n_groups,
      .sources = sources};
  for (size_t c = 0, q = 0; c < plan->n_columns; c++)
    if (!fill_source(arena, release, plan, c, &q, styled, &sources[c])) return NULL;
  return trace;
}
