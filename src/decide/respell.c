/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decide/respell: which spelling of a value is released, if equal numbers or folded text have
 * several (table/fold.h). Only released rows count: otherwise a recipient who knows how all other
 * cells were spelled could learn from it how a suppressed row was.
 *
 *   rows                 a copy of the table whose columns have the chosen spellings
 *   columns[q].labels    the values in them are spelled so, too: "5.0", "{5|7.0}", "[5-7.0]"
 *
 * A value that no released row has can only be in noise rows. It gets its key (equality.h), which
 * does not depend on spellings.
 */
#include <stdlib.h>
#include <string.h>

#include "decide/decision.h"
#include "hierarchy/set_label.h"

/* ------------------------------------------------------------ values */

/* The spelling of each value. Noise rows have values of d->rows, which may be more. */
static bool spell_values(const shoal_table *original, const shoal_column *column, const uint8_t *in,
                         const shoal_column *written, shoal_respelled *out, bool *changed) {
  shoal_label *best = shoal_folded_best(original, column, in);
  shoal_text text, key;
  shoal_text_init(&text);
  shoal_text_init(&key);
  shoal_text_add(&text, "");
  out->offsets = shoal_alloc_zero((size_t)written->n_values + 1, sizeof *out->offsets);
  bool ok = best && out->offsets;
  for (uint32_t v = 0; ok && v < written->n_values; v++) {
    shoal_label old, now;
    old.bytes = shoal_column_value(written, v, &old.size_bytes);
    now = v < column->n_values && best[v].size_bytes != SIZE_MAX
              ? best[v]
              : shoal_equality_key(column->equality, old, &key);
    *changed = *changed || !shoal_label_equal(old, now);
    shoal_text_add_bytes(&text, now.bytes, now.size_bytes);
    out->offsets[v + 1] = text.size_bytes;
  }
  ok = ok && !text.failed && !key.failed;
  out->size_bytes = text.capacity;
  out->bytes = text.bytes;
  shoal_wipe_free(key.bytes, key.capacity);
  free(best);
  return ok;
}

/* ------------------------------------------------------------ labels */

/* The values of one quasi-identifier, and the labels that are to be spelled anew. */
typedef struct spelling {
  const shoal_attribute *attribute;
  const shoal_hierarchy *hierarchy; /* NULL: none was compiled */
  shoal_strings old;                /* values, by code */
  const shoal_respelled *now;
  char *scratch; /* of elements of sets */
  size_t scratch_capacity;
} spelling;

/* The value's new spelling; false: the text is no value. */
static bool find_value(const spelling *s, shoal_label text, shoal_label *now) {
  uint32_t v = shoal_strings_find(&s->old, text);
  if (v == SHOAL_NONE) return false;
  now->bytes = s->now->bytes + s->now->offsets[v];
  now->size_bytes = (size_t)(s->now->offsets[v + 1] - s->now->offsets[v]);
  return true;
}

static bool add_set(spelling *s, shoal_label label, shoal_text *out) {
  shoal_label values[SHOAL_MAX_SET], value;
  size_t n = 0, at = 0;
  if (!shoal_grow(&s->scratch, &s->scratch_capacity, label.size_bytes + 1, 1)) {
    out->failed = true;
    return true;
  }
  while (n < SHOAL_MAX_SET && shoal_set_label_next(label, &at, s->scratch, &value))
    if (!find_value(s, value, &values[n++])) return false;
  shoal_set_label_add(out, values, n);
  return true;
}

/* "[low-high]" and "[low to high]" of two values, ">=low" and "<=high" of one. */
static bool add_interval(const spelling *s, shoal_label label, shoal_text *out) {
  static const char *const between[] = {" to ", "-"};
  shoal_label low, high;
  const char *text = label.bytes;
  size_t size = label.size_bytes;
  if (size > 2 && text[1] == '=' && (text[0] == '<' || text[0] == '>')) {
    if (!find_value(s, (shoal_label){text + 2, size - 2}, &low)) return false;
    shoal_text_add_bytes(out, text, 2);
    shoal_text_add_bytes(out, low.bytes, low.size_bytes);
    return true;
  }
  if (size < 5 || text[0] != '[' || text[size - 1] != ']') return false;
  for (size_t b = 0; b < 2; b++)
    for (size_t n = strlen(between[b]), i = 2; i + n + 1 < size; i++) {
      if (memcmp(text + i, between[b], n) != 0 ||
          !find_value(s, (shoal_label){text + 1, i - 1}, &low) ||
          !find_value(s, (shoal_label){text + i + n, size - i - n - 1}, &high))
        continue;
      bool negative = low.size_bytes && low.bytes[0] == '-';
      shoal_text_add(out, "[");
      shoal_text_add_bytes(out, low.bytes, low.size_bytes);
      shoal_text_add(out, negative ? " to " : "-");
      shoal_text_add_bytes(out, high.bytes, high.size_bytes);
      shoal_text_add(out, "]");
      return true;
    }
  return false;
}

/* Is it a label of several values, which the policy spells? */
static bool is_inner(const spelling *s, shoal_label label) {
  for (uint32_t l = 1; s->hierarchy && l < s->hierarchy->n_levels; l++) {
    const shoal_level *level = &s->hierarchy->levels[l];
    for (uint32_t i = 0; i < level->n_labels; i++) {
      shoal_label other;
      other.bytes = shoal_level_label(level, i, &other.size_bytes);
      if (level->n_leaves[i] > 1 && shoal_label_equal(label, other)) return true;
    }
  }
  return false;
}

/* Adds the label, its values spelled anew. */
static void add_label(spelling *s, bool local, shoal_label label, shoal_text *out) {
  bool sets = shoal_attribute_has_sets(s->attribute), added = false;
  bool interval =
      local && s->attribute->type == SHOAL_TYPE_NUMBER && !s->attribute->recode_hierarchy;
  shoal_label value;
  if (sets && shoal_is_set_label(label)) added = add_set(s, label, out);
  else if (find_value(s, label, &value) && (interval || !local || !is_inner(s, label))) {
    if (sets) shoal_set_label_add(out, &value, 1);
    else shoal_text_add_bytes(out, value.bytes, value.size_bytes);
    added = true;
  } else if (interval) added = add_interval(s, label, out);
  if (!added) shoal_text_add_bytes(out, label.bytes, label.size_bytes);
}

static bool spell_labels(spelling *s, bool local, shoal_column_labels *labels,
                         shoal_respelled *out) {
  shoal_text text;
  shoal_text_init(&text);
  shoal_text_add(&text, "");
  out->offsets = shoal_alloc_zero((size_t)labels->n_labels + 1, sizeof *out->offsets);
  for (uint32_t i = 0; out->offsets && i < labels->n_labels; i++) {
    shoal_label star = {"*", 1}, label = shoal_column_label(labels, i);
    if (shoal_label_equal(label, star) && i == labels->star)
      shoal_text_add_bytes(&text, star.bytes, star.size_bytes);
    else add_label(s, local, label, &text);
    out->offsets[i + 1] = text.size_bytes;
  }
  out->bytes = text.bytes;
  out->size_bytes = text.capacity;
  if (!out->offsets || text.failed) return false;
  labels->bytes = out->bytes;
  labels->offsets = out->offsets;
  return true;
}

/* Labels of quasi-identifier q: only those of local recoding and of level 0 have values. */
static bool respell_labels(shoal_decision *d, const shoal_context *p, size_t q,
                           const shoal_column *column, const shoal_respelled *now) {
  bool local = d->kind == SHOAL_METHOD_CLUSTERS;
  if (!local && d->levels[q] > 0) return true;
  spelling s = {.attribute = p->quasi_attributes[q], .hierarchy = p->hierarchies[q], .now = now};
  if (!shoal_strings_init(&s.old)) return false;
  bool ok = true;
  for (uint32_t v = 0; ok && v < column->n_values; v++) {
    shoal_label value;
    value.bytes = shoal_column_value(column, v, &value.size_bytes);
    ok = shoal_strings_intern(&s.old, value) == v;
  }
  ok = ok && spell_labels(&s, local, &d->columns[q], &d->respelled_labels[q]);
  shoal_wipe_free(s.scratch, s.scratch_capacity);
  shoal_wipe_free(s.old.bytes, s.old.bytes_capacity);
  s.old.bytes = NULL;
  shoal_strings_reset(&s.old);
  return ok;
}

/* ------------------------------------------------------------ all columns */

/* `rows` becomes a table of its own, to change its dictionaries. */
static bool copy_table(shoal_decision *d) {
  size_t n = d->rows->n_columns;
  d->respelled_values = shoal_alloc_zero(n, sizeof *d->respelled_values);
  d->respelled_labels = shoal_alloc_zero(d->n_quasi, sizeof *d->respelled_labels);
  if (!d->respelled_values || !d->respelled_labels) return false;
  d->n_respelled = n;
  if (d->extended) return true;
  d->respelled = shoal_alloc_zero(1, sizeof *d->respelled);
  shoal_column *columns = shoal_alloc(n, sizeof *columns);
  if (!d->respelled || !columns) {
    free(columns);
    return false;
  }
  *d->respelled = *d->rows;
  memcpy(columns, d->rows->columns, n * sizeof *columns);
  d->respelled->columns = columns;
  d->rows = d->respelled;
  return true;
}

static bool respell_column(shoal_decision *d, const shoal_context *p, size_t c, uint8_t *in) {
  const shoal_table *original = shoal_context_original(p);
  const shoal_column *column = &original->columns[c];
  size_t q = 0;
  bool changed = false;
  while (q < p->n_quasi && p->quasi[q] != &p->table->columns[c]) q++;
  /* By row: 1 if its cell of quasi-identifier q is released; q of a column that is none: n_quasi.
   */
  uint64_t n_rows = original->n_rows;
  const uint8_t *suppressed = q < d->n_quasi ? d->columns[q].suppressed : NULL;
  for (uint64_t row = 0; row < n_rows; row++) {
    uint32_t group = d->group_of_row[row];
    uint8_t action = d->action_of_group[group];
    bool star = action == SHOAL_ROW_BLANK || (suppressed && suppressed[group]);
    in[row] = action != SHOAL_ROW_REMOVE && (q == d->n_quasi || !star);
  }
  shoal_respelled *now = &d->respelled_values[c];
  const shoal_column *written = &d->rows->columns[c];
  if (!spell_values(original, column, in, written, now, &changed)) return false;
  if (!changed) return true;
  if (q < p->n_quasi && !respell_labels(d, p, q, column, now)) return false;
  shoal_table *rows = d->extended ? d->extended : d->respelled;
  rows->columns[c].bytes = now->bytes;
  rows->columns[c].offsets = now->offsets;
  return true;
}

/* Has the column several spellings of a value, and is it released? Pseudonyms hide them. */
static bool is_folded(const shoal_context *p, size_t c) {
  shoal_role role = p->roles[c];
  return shoal_context_original(p)->columns[c].folded && !shoal_role_is_removed(role) &&
         role != SHOAL_ROLE_PSEUDONYM;
}

shoal_status shoal_decision_respell(shoal_decision *d, const shoal_context *p, shoal_error *error) {
  const shoal_table *original = shoal_context_original(p);
  bool folded = false;
  for (size_t c = 0; !folded && c < original->n_columns; c++) folded = is_folded(p, c);
  if (!folded) return SHOAL_OK;
  uint8_t *in = shoal_alloc((size_t)original->n_rows, 1);
  bool ok = in && copy_table(d);
  for (size_t c = 0; ok && c < original->n_columns; c++)
    if (is_folded(p, c)) ok = respell_column(d, p, c, in);
  free(in);
  return ok ? SHOAL_OK : shoal_fail_memory(error);
}

void shoal_decision_reset_spellings(shoal_decision *d) {
  for (size_t c = 0; c < d->n_respelled; c++) {
    shoal_wipe_free(d->respelled_values[c].bytes, d->respelled_values[c].size_bytes);
    free(d->respelled_values[c].offsets);
  }
  for (size_t q = 0; d->respelled_labels && q < d->n_quasi; q++) {
    shoal_wipe_free(d->respelled_labels[q].bytes, d->respelled_labels[q].size_bytes);
    free(d->respelled_labels[q].offsets);
  }
  free(d->respelled_values);
  free(d->respelled_labels);
  if (d->respelled) free(d->respelled->columns);
  free(d->respelled);
}
