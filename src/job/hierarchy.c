/* SPDX-License-Identifier: Apache-2.0 */
/* job/hierarchy: hierarchies by themselves: read, validated, drawn, built from a column. */
#include <stdlib.h>
#include <string.h>

#include "hierarchy/hierarchy.h"
#include "job/job.h"
#include "policy/policy.h"
#include "report/result.h"

enum { MAX_LINES = 200 };

/* What one call has found so far: drawings one below the other. */
typedef struct description {
  shoal_result *result;
  shoal_text drawing;
} description;

/* is_protected: as for shoal_hierarchy_draw. */
static shoal_status add_hierarchy(description *d, const shoal_hierarchy *hierarchy,
                                  uint8_t *const *is_protected, const char *title,
                                  shoal_error *error) {
  char *drawing;
  SHOAL_TRY(shoal_hierarchy_draw(hierarchy, is_protected, MAX_LINES, &drawing, error));
  if (d->drawing.size_bytes) shoal_text_add(&d->drawing, "\n");
  shoal_text_print(&d->drawing, "%s: %u level%s, ", title, hierarchy->n_levels,
                   hierarchy->n_levels == 1 ? "" : "s");
  shoal_text_add_count(&d->drawing, hierarchy->n_leaves);
  shoal_text_add(&d->drawing, hierarchy->n_leaves == 1 ? " value\n" : " values\n");
  shoal_text_add(&d->drawing, drawing); /* its labels are escaped */
  d->result->hierarchy.n_leaves += hierarchy->n_leaves;
  if (hierarchy->n_levels > d->result->hierarchy.n_levels)
    d->result->hierarchy.n_levels = hierarchy->n_levels;
  free(drawing);
  /* The labels above the values, level by level, for programs: of a single hierarchy only. */
  shoal_result *result = d->result;
  size_t n = hierarchy->n_levels - 1;
  result->hierarchy.labels = shoal_arena_alloc(&result->arena, n, sizeof *result->hierarchy.labels);
  if (!result->hierarchy.labels) return shoal_fail_memory(error);
  result->hierarchy.n_label_levels = 0;
  for (size_t l = 0; l < n; l++) {
    const shoal_level *level = &hierarchy->levels[l + 1];
    shoal_label_list *list = &result->hierarchy.labels[l];
    list->labels = shoal_arena_alloc(&result->arena, level->n_labels, sizeof *list->labels);
    if (!list->labels) return shoal_fail_memory(error);
    for (list->n_labels = 0; list->n_labels < level->n_labels; list->n_labels++) {
      size_t size;
      const char *label = shoal_level_label(level, (uint32_t)list->n_labels, &size);
      list->labels[list->n_labels] = shoal_result_string(result, label, size);
      if (!list->labels[list->n_labels]) return shoal_fail_memory(error);
    }
    result->hierarchy.n_label_levels = l + 1;
  }
  return SHOAL_OK;
}

/* *column: the table's column of that name, with its values; NULL: it has none of that name. */
static shoal_status find_column(const shoal_table *table, const char *name,
                                const shoal_column **column, shoal_error *error) {
  if (!table->finished)
    return shoal_fail(error, SHOAL_BAD_INPUT, "the table is not finished: finish it first");
  *column = shoal_table_column(table, name);
  if (!*column || (*column)->code_size) return SHOAL_OK;
  return shoal_fail_at(error, SHOAL_BAD_INPUT,
                       &(shoal_location){.file = table->name, .column = name},
                       "its cells were not kept: read the table without a policy");
}

/* The protected nodes of a sensitive attribute, in the result's memory; NULL: it names none. */
static shoal_status find_protected(description *d, const shoal_policy *policy,
                                   const shoal_attribute *attribute,
                                   const shoal_hierarchy *hierarchy, uint8_t ***marks,
                                   shoal_error *error) {
  *marks = NULL;
  if (!attribute->n_protect) return SHOAL_OK;
  shoal_arena *arena = &d->result->arena;
  bool ok = SHOAL_ARENA_ARRAY(arena, *marks, hierarchy->n_levels);
  for (uint32_t l = 0; ok && l < hierarchy->n_levels; l++)
    ok = SHOAL_ARENA_ZEROED(arena, (*marks)[l], hierarchy->levels[l].n_labels);
  shoal_equality equality = shoal_policy_equality(policy, attribute);
  for (size_t i = 0; ok && i < attribute->n_protect; i++) {
    bool found;
    ok = shoal_hierarchy_mark(hierarchy, equality, attribute->protect[i].text, *marks, &found);
    if (ok && !found)
      return shoal_policy_fail(policy, attribute->protect[i].mark, error,
                               "protect: the hierarchy has no node '%.60s': name one of its labels",
                               attribute->protect[i].text);
  }
  return ok ? SHOAL_OK : shoal_fail_memory(error);
}

/* `name`: the column, or the pattern of an entry that stands for several. */
static shoal_status describe_attribute(description *d, const shoal_policy *policy,
                                       const shoal_attribute *attribute, const char *name,
                                       const shoal_table *table, shoal_error *error) {
  if (!attribute->has_hierarchy)
    return shoal_policy_fail(policy, attribute->mark, error, "'%s' has no hierarchy", name);
  const shoal_column *column = NULL;
  if (table && attribute->role != SHOAL_ROLE_IDENTIFIER) /* of which no cells are kept */
    SHOAL_TRY(find_column(table, name, &column, error));
  if (!column && !shoal_attribute_has_tree(attribute))
    return shoal_policy_fail(policy, attribute->mark, error,
                             "the hierarchy of '%s' is built from the data: give the data too",
                             name);
  shoal_hierarchy_options options = {.policy = policy->file,
                                     .attribute = name,
                                     .number = attribute->type == SHOAL_TYPE_NUMBER,
                                     .equality = shoal_policy_equality(policy, attribute),
                                     .ragged = attribute->role == SHOAL_ROLE_SENSITIVE};
  shoal_hierarchy *hierarchy;
  SHOAL_TRY(
      shoal_hierarchy_compile(&attribute->hierarchy, table, column, &options, &hierarchy, error));
  uint8_t **is_protected;
  shoal_status status = find_protected(d, policy, attribute, hierarchy, &is_protected, error);
  if (status == SHOAL_OK) status = add_hierarchy(d, hierarchy, is_protected, name, error);
  shoal_hierarchy_free(hierarchy);
  return status;
}

/* The hierarchy of an entry, once for each column of the table that it applies to. */
static shoal_status describe_entry(description *d, const shoal_policy *policy,
                                   const shoal_attribute *entry, const shoal_table *table,
                                   shoal_error *error) {
  if (!table || !shoal_name_is_pattern(entry->name))
    return describe_attribute(d, policy, entry, entry->name, table, error);
  for (size_t c = 0; c < table->n_columns; c++) {
    const char *name = table->columns[c].name;
    if (shoal_policy_attribute(policy, name) == entry)
      SHOAL_TRY(describe_attribute(d, policy, entry, name, table, error));
  }
  return SHOAL_OK;
}

static shoal_status describe(description *d, const char *source, const shoal_policy *policy,
                             const shoal_table *table, shoal_error *error) {
  if (!policy && !source)
    return shoal_fail(error, SHOAL_BAD_INPUT, "name a hierarchy file, or a policy");
  if (!policy) {
    shoal_hierarchy_spec spec = {.kind = SHOAL_HIERARCHY_FILE, .file = source};
    shoal_hierarchy_options options = {.attribute = ""};
    shoal_hierarchy *hierarchy;
    SHOAL_TRY(shoal_hierarchy_compile(&spec, NULL, NULL, &options, &hierarchy, error));
    shoal_status status = add_hierarchy(d, hierarchy, NULL, source, error);
    shoal_hierarchy_free(hierarchy);
    return status;
  }
  if (!source) {
    /* Every hierarchy of the policy; without data, those that stand by themselves. */
    size_t n = 0;
    for (size_t a = 0; a < policy->n_attributes; a++) {
      const shoal_attribute *attribute = &policy->attributes[a];
      if (!attribute->has_hierarchy) continue;
      if (!table && !shoal_attribute_has_tree(attribute)) continue;
      SHOAL_TRY(describe_entry(d, policy, attribute, table, error));
      n++;
    }
    if (n) return SHOAL_OK;
    return shoal_fail_at(error, SHOAL_BAD_INPUT, &(shoal_location){.file = policy->file},
                         "has no hierarchy that stands by itself: give the data too");
  }
  const shoal_attribute *attribute = shoal_policy_attribute(policy, source);
  if (attribute && strcmp(attribute->name, source) == 0)
    return describe_entry(d, policy, attribute, table, error);
  if (attribute) return describe_attribute(d, policy, attribute, source, table, error);
  return shoal_fail_at(error, SHOAL_BAD_INPUT, &(shoal_location){.file = policy->file},
                       "has no attribute '%s': name one of its attributes", source);
}

shoal_status shoal_job_hierarchy(shoal_result *result, const char *source,
                                 const shoal_policy *policy, const shoal_table *table,
                                 shoal_error *error) {
  description d = {.result = result};
  shoal_text_init_escaped(&d.drawing);
  shoal_status status = describe(&d, source, policy, table, error);
  if (status == SHOAL_OK) {
    const char *name = source ? source : policy->file;
    result->source = shoal_result_string(result, name, strlen(name));
    result->hierarchy.drawing =
        d.drawing.failed ? NULL
                         : shoal_arena_copy(&result->arena, d.drawing.bytes, d.drawing.size_bytes);
    result->holds = true;
    if (!result->source || !result->hierarchy.drawing) status = shoal_fail_memory(error);
  }
  shoal_text_reset(&d.drawing);
  return status;
}

shoal_status shoal_job_hierarchy_build(const char *yaml, const shoal_table *table, const char *name,
                                       char **csv, shoal_error *error) {
  const shoal_column *column;
  SHOAL_TRY(find_column(table, name, &column, error));
  if (!column)
    return shoal_fail_at(error, SHOAL_BAD_INPUT, &(shoal_location){.file = table->name},
                         "has no column '%s': name one of its columns", name);
  shoal_arena arena;
  shoal_arena_init(&arena);
  shoal_hierarchy_spec spec;
  shoal_hierarchy *hierarchy = NULL;
  shoal_hierarchy_options options = {.attribute = name};
  shoal_status status = shoal_policy_parse_hierarchy(yaml, ".", &arena, &spec, error);
  if (status == SHOAL_OK && shoal_coding_given(&spec.coding))
    status = shoal_fail(error, SHOAL_BAD_INPUT,
                        "codes replace values, and a hierarchy file has values: write top-code and "
                        "bottom-code into the policy, beside the hierarchy");
  if (status == SHOAL_OK)
    status = shoal_hierarchy_compile(&spec, table, column, &options, &hierarchy, error);
  if (status == SHOAL_OK) status = shoal_hierarchy_csv(hierarchy, csv, error);
  shoal_hierarchy_free(hierarchy);
  shoal_arena_reset(&arena);
  return status;
}
