/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verify/models_personal: personalized privacy (Xiao & Tao 2006), on guarding nodes that stand in
 * a file of their own, row by row as in the release. Part of the last step of a release's way
 * back (models.c).
 *
 * A guarding node is a label. A row is below it if its value is the label or has it among its
 * ancestors, wherever in the tree the label stands: where it stands more than once, all of them
 * are guarded. A label that no known value has above it or is guards no row.
 */
#include <stdlib.h>
#include <string.h>

#include "verify/tree.h"

typedef struct personal {
  const shoal_verify_task *task;
  shoal_verify_fraction breach;
  shoal_verify_tree tree;
  uint32_t *label_of; /* by guard */
  uint64_t *rows;     /* by label: rows of the class at hand below it */
  uint64_t *visits;   /* by label: the last value counted for it */
  uint64_t n_visits;
} personal;

/* The numbers of the guards' labels, and room for counts of all labels. */
static shoal_status prepare(personal *guarded, shoal_error *error) {
  const shoal_verify_tally *tally = guarded->task->tally;
  SHOAL_TRY(shoal_verify_tree_build(guarded->task, &guarded->tree, error));
  guarded->label_of = shoal_alloc(tally->guards.n_values, sizeof *guarded->label_of);
  if (!guarded->label_of) return shoal_fail_memory(error);
  for (uint32_t g = 0; g < tally->guards.n_values; g++) {
    const shoal_verify_entry *text = tally->guard_texts[g];
    guarded->label_of[g] = shoal_verify_label(&guarded->tree, text->bytes, text->size_bytes);
    if (guarded->label_of[g] == UINT32_MAX) return shoal_fail_memory(error);
  }
  guarded->rows = shoal_alloc_zero(guarded->tree.labels.n_entries, sizeof *guarded->rows);
  guarded->visits = shoal_alloc_zero(guarded->tree.labels.n_entries, sizeof *guarded->visits);
  return guarded->rows && guarded->visits ? SHOAL_OK : shoal_fail_memory(error);
}

/* Adds the rows of a value to each label on its path, once. */
static void count_value(personal *guarded, const shoal_verify_count *count) {
  const shoal_verify_tree *tree = &guarded->tree;
  guarded->n_visits++;
  for (uint32_t node = tree->node_of[count->value]; node != SHOAL_VERIFY_NO_NODE;
       node = shoal_verify_parent_of(tree, node)) {
    uint32_t label = shoal_verify_label_of(tree, node);
    if (guarded->visits[label] != guarded->n_visits) guarded->rows[label] += count->n_rows;
    guarded->visits[label] = guarded->n_visits;
  }
}

static void forget_value(personal *guarded, const shoal_verify_count *count) {
  const shoal_verify_tree *tree = &guarded->tree;
  for (uint32_t node = tree->node_of[count->value]; node != SHOAL_VERIFY_NO_NODE;
       node = shoal_verify_parent_of(tree, node))
    guarded->rows[shoal_verify_label_of(tree, node)] = 0;
}

static void check_class(personal *guarded, size_t class_id, shoal_verify_damage *damage) {
  const shoal_verify_task *task = guarded->task;
  size_t n_counts, n_guards;
  const shoal_verify_count *counts = shoal_verify_counts_of(task->attribute, class_id, &n_counts);
  const shoal_verify_count *guards =
      shoal_verify_counts_of(&task->tally->guards, class_id, &n_guards);
  for (size_t i = 0; i < n_counts; i++) count_value(guarded, &counts[i]);
  bool holds = true;
  for (size_t i = 0; i < n_guards; i++) {
    uint64_t rows = guarded->rows[guarded->label_of[guards[i].value]];
    uint64_t of_class = task->tally->class_rows[class_id];
    holds = holds && shoal_verify_compare_counts(rows, of_class, guarded->breach) <= 0;
  }
  if (!holds) shoal_verify_add_damage(damage, task, class_id);
  for (size_t i = 0; i < n_counts; i++) forget_value(guarded, &counts[i]);
}

/* Of every class, at most a share `breach` of the rows is below any node that guards a row. */
shoal_status shoal_verify_personalized(const shoal_verify_task *task, shoal_verify_damage *damage,
                                       shoal_error *error) {
  personal guarded = {.task = task};
  const char *column;
  SHOAL_TRY(shoal_verify_find_text(task, "column", &column, error));
  SHOAL_TRY(shoal_verify_find_fraction(task, "breach", SHOAL_VERIFY_SHARE, &guarded.breach, error));
  if (!task->tally->guards.starts)
    return shoal_verify_unprovable(task, "there is no file of the column", column, error);
  if (strcmp(task->tally->guards.name, column) != 0)
    return shoal_verify_unprovable(task, "the file of guarding nodes is not that of the column",
                                   column, error);
  shoal_status status = prepare(&guarded, error);
  for (size_t c = 0; status == SHOAL_OK && c < task->tally->n_classes; c++)
    check_class(&guarded, c, damage);
  shoal_verify_tree_reset(&guarded.tree);
  free(guarded.label_of);
  free(guarded.rows);
  free(guarded.visits);
  return status;
}
