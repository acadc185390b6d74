/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decide/decision: the path that every method's decision takes: judged, accepted or refused, and an
 * action for each group of rows.
 */
#include "decide/decision.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "hierarchy/set_label.h"

static const shoal_label STAR = {"*", 1};

/* ------------------------------------------------------------ filling */

static void find_star(shoal_column_labels *column) {
  column->star = 0;
  while (column->star < column->n_labels &&
         !shoal_label_equal(shoal_column_label(column, column->star), STAR))
    column->star++;
}

/* Tuples of rows, in the order of the original table. */
static shoal_status set_groups(shoal_decision *d, const shoal_context *p, shoal_error *error) {
  const shoal_frequency_set *f = p->frequency;
  d->n_groups = f->n_tuples;
  d->rows_of_group = f->base.n_rows;
  d->group_of_row = f->tuple_of_row;
  if (!p->ordered) return SHOAL_OK;
  d->class_of_row = shoal_alloc((size_t)p->table->n_rows, sizeof *d->class_of_row);
  if (!d->class_of_row) return shoal_fail_memory(error);
  for (uint64_t row = 0; row < p->table->n_rows; row++)
    d->class_of_row[p->ordered->row_of[row]] = f->tuple_of_row[row];
  d->group_of_row = d->class_of_row;
  d->rows = p->ordered->original;
  return SHOAL_OK;
}

/* The values of a column of sets as labels: a star that is a value is not the label "*". */
static shoal_status spell_values(shoal_decision *d, size_t q, shoal_error *error) {
  shoal_column_labels *column = &d->columns[q];
  /* Might a value be read as another label of sets? (hierarchy/set_label.h) */
  bool found = false;
  for (uint32_t i = 0; !found && i < column->n_labels; i++) {
    shoal_label value = shoal_column_label(column, i);
    found = value.size_bytes && memchr("{* ", value.bytes[0], 3);
  }
  if (!found) return SHOAL_OK;
  if (!d->values) d->values = shoal_alloc_zero(d->n_quasi, sizeof *d->values);
  if (!d->values || !shoal_strings_init(&d->values[q])) return shoal_fail_memory(error);
  shoal_text text;
  shoal_text_init(&text);
  bool ok = true;
  for (uint32_t i = 0; ok && i < column->n_labels; i++) {
    shoal_label value = shoal_column_label(column, i);
    shoal_text_cut(&text, 0);
    shoal_set_label_add(&text, &value, 1);
    shoal_label label = {text.bytes ? text.bytes : "", text.size_bytes};
    ok = !text.failed && shoal_strings_intern(&d->values[q], label) == i;
  }
  shoal_wipe_free(text.bytes, text.capacity);
  if (!ok) return shoal_fail_memory(error);
  column->bytes = d->values[q].bytes;
  column->offsets = d->values[q].offsets;
  return SHOAL_OK;
}

shoal_status shoal_decision_init(shoal_decision *d, shoal_method_kind kind, const shoal_context *p,
                                 const uint32_t *levels, shoal_error *error) {
  d->kind = kind;
  d->rows = p->table;
  d->n_quasi = p->n_quasi;
  d->max_suppressed = shoal_amount_rows(p->policy->max_suppression, p->table->n_records);
  d->columns = shoal_alloc_zero(p->n_quasi, sizeof *d->columns);
  if (!d->columns) return shoal_fail_memory(error);
  if (!levels) return SHOAL_OK;
  SHOAL_TRY(set_groups(d, p, error));
  d->levels = shoal_alloc(p->n_quasi, sizeof *d->levels);
  if (!d->levels) return shoal_fail_memory(error);
  for (size_t q = 0; q < p->n_quasi; q++) {
    assert(levels[q] < p->hierarchies[q]->n_levels);
    const shoal_level *level = &p->hierarchies[q]->levels[levels[q]];
    d->levels[q] = levels[q];
    d->columns[q] = (shoal_column_labels){.bytes = level->bytes,
                                          .offsets = level->offsets,
                                          .n_labels = level->n_labels,
                                          .label_of_code = level->of_leaf,
                                          .code_of_group = p->frequency->codes[q]};
    if (levels[q] == 0 && shoal_attribute_has_sets(p->quasi_attributes[q]))
      SHOAL_TRY(spell_values(d, q, error));
    find_star(&d->columns[q]);
  }
  /* Labels by group: those by code are for codes of the sorted table, and the original is written.
   */
  if (!p->ordered) return SHOAL_OK;
  d->label_of_group = shoal_alloc((size_t)d->n_groups * d->n_quasi, sizeof *d->label_of_group);
  if (!d->label_of_group) return shoal_fail_memory(error);
  uint32_t *labels = d->label_of_group;
  for (size_t q = 0; q < d->n_quasi; q++, labels += d->n_groups) {
    shoal_column_labels *column = &d->columns[q];
    for (uint32_t g = 0; g < d->n_groups; g++) labels[g] = shoal_column_label_index(column, g);
    column->label_of_group = labels;
    column->label_of_code = NULL;
    column->code_of_group = (shoal_codes){0};
  }
  return SHOAL_OK;
}

void shoal_decision_set_labels(shoal_decision *d, size_t q, const shoal_strings *strings,
                               const uint32_t *label_of_group) {
  d->columns[q] = (shoal_column_labels){.bytes = strings->bytes,
                                        .offsets = strings->offsets,
                                        .n_labels = strings->n_strings,
                                        .label_of_group = label_of_group};
  find_star(&d->columns[q]);
}

void shoal_decision_reset(shoal_decision *d) {
  free(d->class_of_group);
  free(d->columns);
  free(d->levels);
  free(d->loss);
  shoal_classes_reset(&d->classes);
  free(d->noise_rows);
  free(d->like_of_noise);
  free(d->violates);
  free(d->action_of_group);
  shoal_classes_reset(&d->united);
  free(d->united_of_class);
  shoal_class_labels_reset(&d->labels);
  shoal_mu_argus_reset(&d->mu_argus);
  free(d->class_of_row);
  free(d->label_of_group);
  for (size_t q = 0; d->values && q < d->n_quasi; q++) shoal_strings_reset(&d->values[q]);
  free(d->values);
  free(d->rows_of_class);
  shoal_table *table = d->extended;
  for (size_t c = 0; table && table->columns && c < table->n_columns; c++)
    free(table->columns[c].codes);
  if (table) free(table->columns);
  free(table);
  shoal_table_delete(d->kept);
  shoal_decision_reset_spellings(d);
  memset(d, 0, sizeof *d);
}

void shoal_decision_compact(shoal_decision *d, shoal_context *p) {
  shoal_classes_reset(&d->classes);
  shoal_classes_reset(&d->united);
  free(d->united_of_class);
  free(d->violates);
  free(d->class_of_group);
  d->united_of_class = NULL;
  d->violates = NULL;
  d->class_of_group = NULL;
  if (d->kind != SHOAL_METHOD_CLUSTERS) return;
  shoal_frequency_set_free(p->frequency); /* the verifier needs the memory */
  p->frequency = NULL;
}

/* ------------------------------------------------------------ labels */

shoal_label shoal_column_label(const shoal_column_labels *column, uint32_t index) {
  assert(index <= column->n_labels);
  if (index == column->n_labels) return STAR;
  uint64_t begin = column->offsets[index];
  return (shoal_label){column->bytes + begin, (size_t)(column->offsets[index + 1] - begin)};
}

shoal_label shoal_decision_label(const shoal_decision *d, size_t q, uint32_t group) {
  if (d->action_of_group[group] == SHOAL_ROW_BLANK) return STAR;
  return shoal_column_label(&d->columns[q], shoal_column_written_index(&d->columns[q], group));
}

/* ------------------------------------------------------------ the verdict */

shoal_labelling shoal_decision_labelling(const shoal_decision *d) {
  return (shoal_labelling){.levels = d->levels,
                           .of_class =
                               d->levels ? NULL : (const uint32_t *const *)d->labels.of_group};
}

shoal_status shoal_decision_judge(shoal_decision *d, const shoal_context *p, shoal_error *error) {
  uint32_t n = d->classes.n_classes;
  assert(!d->violates && !d->classes.sizes_only);
  d->violates = shoal_alloc(n, 1);
  if (!d->violates) return shoal_fail_memory(error);
  const shoal_labelling labelling = shoal_decision_labelling(d);
  if (p->requirements.n_sets > 1 && n) { /* a class that is left out adds no rows to others */
    memset(d->violates, 0, n);
    d->violates[n - 1] = d->leaves_out;
    shoal_suppress_over_sets(&p->requirements, p->frequency, &d->classes, &labelling, NULL,
                             UINT64_MAX, d->violates);
    d->judged = shoal_judgement_of(&d->classes, d->violates);
  } else {
    d->judged = shoal_judge(&p->requirements, p->frequency, &d->classes, UINT64_MAX, d->violates);
  }
  if (d->leaves_out && !d->violates[n - 1]) {
    d->violates[n - 1] = 1;
    d->judged.suppressed += d->classes.n_rows[n - 1];
    d->judged.n_classes--;
    d->judged.smallest_class = 0;
    for (uint32_t c = 0; c < n; c++)
      if (!d->violates[c] &&
          (d->judged.smallest_class == 0 || d->classes.n_rows[c] < d->judged.smallest_class))
        d->judged.smallest_class = d->classes.n_rows[c];
  }
  for (uint32_t c = 0; d->noise_rows && c < n; c++)
    if (d->violates[c]) d->judged.suppressed -= d->noise_rows[c];
  return SHOAL_OK;
}

shoal_status shoal_decision_accept(const shoal_decision *d, const shoal_context *p,
                                   const shoal_method *method, shoal_error *error) {
  if (d->judged.suppressed <= d->max_suppressed && d->judged.n_classes > 0) return SHOAL_OK;
  SHOAL_TRY(
      shoal_requirements_status(&p->requirements, error)); /* no memory: the verdict may be wrong */
  assert(d->refuse);
  return d->refuse(d, p, method, error);
}

/* ------------------------------------------------------------ suppressed rows */

static bool is_fully_suppressed(const shoal_decision *d, uint32_t c) {
  uint32_t group = d->class_of_group ? d->classes.tuple[c] : c;
  for (size_t q = 0; q < d->n_quasi; q++)
    if (shoal_column_written_index(&d->columns[q], group) != d->columns[q].star) return false;
  return true;
}

/* Makes one class, number 0, of all that would be written as blanks, and judges it. */
static shoal_status try_blanks(shoal_decision *d, const shoal_context *p, shoal_error *error) {
  uint32_t n = d->classes.n_classes, n_united = 1;
  uint32_t *ids = shoal_alloc(n, sizeof *ids);
  if (!ids) return shoal_fail_memory(error);
  for (uint32_t c = 0; c < n; c++)
    ids[c] = d->violates[c] || is_fully_suppressed(d, c) ? 0 : n_united++;
  shoal_status status = shoal_classes_regroup(&d->classes, ids, n_united, &d->united, error);
  d->united_of_class = ids;
  SHOAL_TRY(status);
  d->blanked = true;
  for (size_t i = 0; i < p->requirements.n_items; i++)
    d->blanked = d->blanked && shoal_requirement_holds(&p->requirements.items[i], p->frequency,
                                                       &d->united, 0, NULL);
  if (!d->blanked) shoal_classes_reset(&d->united);
  return SHOAL_OK;
}

shoal_status shoal_decision_suppress(shoal_decision *d, const shoal_context *p,
                                     shoal_error *error) {
  assert(d->violates && !d->action_of_group);
  d->action_of_group = shoal_alloc(d->n_groups, 1);
  if (!d->action_of_group) return shoal_fail_memory(error);
  if (p->policy->blank_suppressed && d->judged.suppressed) SHOAL_TRY(try_blanks(d, p, error));
  uint8_t action = d->blanked ? SHOAL_ROW_BLANK : SHOAL_ROW_REMOVE;
  for (uint32_t g = 0; g < d->n_groups; g++)
    d->action_of_group[g] =
        d->violates[d->class_of_group ? d->class_of_group[g] : g] ? action : SHOAL_ROW_KEEP;
  return SHOAL_OK;
}
