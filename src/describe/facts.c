/* SPDX-License-Identifier: Apache-2.0 */
/*
 * describe/facts: groups with equal labels and the same fate are one class; in local recoding each
 * group is one.
 */
#include "describe/facts.h"

#include <stdlib.h>
#include <string.h>

#include "input/cells.h"

/* ------------------------------------------------------------ spellings */

/* A copy of n texts with decimal commas, in the arena. NULL: no memory. */
static const char *swapped(shoal_arena *arena, const char *bytes, const uint64_t *offsets,
                           uint32_t n) {
  char *copy = shoal_arena_copy(arena, bytes, (size_t)offsets[n]);
  for (uint32_t i = 0; copy && i < n; i++)
    shoal_swap_marks(copy + offsets[i], (size_t)(offsets[i + 1] - offsets[i]));
  return copy;
}

/* A sensitive column, as it is released. */
static const shoal_column *sensitive_column(const shoal_facts *f, size_t s) {
  const shoal_context *p = &f->release->context;
  return f->release->decision.rows->columns + (p->sensitive[s].column - p->table->columns);
}

static bool spell_sensitive(shoal_facts *f) {
  const shoal_context *p = &f->release->context;
  if (!SHOAL_ARENA_ARRAY(&f->arena, f->sensitive_bytes, p->n_sensitive)) return false;
  for (size_t s = 0; s < p->n_sensitive; s++) {
    const shoal_column *column = sensitive_column(f, s);
    f->sensitive_bytes[s] = column->bytes;
    if (!shoal_cells_have_commas(p->policy, p->sensitive[s].attribute)) continue;
    f->sensitive_bytes[s] = swapped(&f->arena, column->bytes, column->offsets, column->n_values);
    if (!f->sensitive_bytes[s]) return false;
  }
  return true;
}

static bool spell(shoal_facts *f) {
  const shoal_context *p = &f->release->context;
  const shoal_decision *d = &f->release->decision;
  if (!SHOAL_ARENA_ARRAY(&f->arena, f->label_bytes, d->n_quasi) ||
      !SHOAL_ARENA_ARRAY(&f->arena, f->value_bytes, d->n_quasi))
    return false;
  for (size_t q = 0; q < d->n_quasi; q++) {
    const shoal_column_labels *labels = &d->columns[q];
    const shoal_column *column = p->quasi[q];
    f->label_bytes[q] = labels->bytes;
    f->value_bytes[q] = column->bytes;
    if (!shoal_cells_have_commas(p->policy, p->quasi_attributes[q])) continue;
    f->label_bytes[q] = swapped(&f->arena, labels->bytes, labels->offsets, labels->n_labels);
    f->value_bytes[q] = swapped(&f->arena, column->bytes, column->offsets, column->n_values);
    if (!f->label_bytes[q] || !f->value_bytes[q]) return false;
  }
  return spell_sensitive(f);
}

static shoal_label label_of_group(const shoal_facts *f, size_t q, uint32_t group) {
  const shoal_column_labels *labels = &f->release->decision.columns[q];
  uint32_t i = shoal_column_written_index(labels, group);
  if (i == labels->n_labels) return (shoal_label){"*", 1};
  uint64_t from = labels->offsets[i];
  return (shoal_label){f->label_bytes[q] + from, (size_t)(labels->offsets[i + 1] - from)};
}

shoal_label shoal_facts_class_label(const shoal_facts *f, uint32_t c, size_t q) {
  return label_of_group(f, q, f->classes[c].group);
}

shoal_label shoal_facts_value_label(const shoal_facts *f, const shoal_mapped_value *value) {
  return label_of_group(f, value->q, value->group);
}

shoal_label shoal_facts_value_text(const shoal_facts *f, const shoal_mapped_value *value) {
  const uint64_t *offsets = f->release->context.quasi[value->q]->offsets;
  uint64_t from = offsets[value->code];
  return (shoal_label){f->value_bytes[value->q] + from, (size_t)(offsets[value->code + 1] - from)};
}

/* ------------------------------------------------------------ classes */

/* Gives each group to the class with its labels and its fate; `key` has room for them. */
static bool find_classes(shoal_facts *f, uint32_t *key, shoal_strings *found,
                         uint32_t *class_of_group) {
  const shoal_decision *d = &f->release->decision;
  size_t n_key = d->n_quasi + 2;
  for (uint32_t g = 0; g < d->n_groups; g++) {
    for (size_t q = 0; q < d->n_quasi; q++) key[q] = shoal_column_written_index(&d->columns[q], g);
    key[d->n_quasi] = d->action_of_group[g];
    key[d->n_quasi + 1] = d->kind == SHOAL_METHOD_CLUSTERS ? g : 0;
    uint32_t c = shoal_strings_intern(found, (shoal_label){(const char *)key, n_key * sizeof *key});
    if (c == SHOAL_NONE) return false;
    if (c == f->n_classes) f->classes[f->n_classes++] = (shoal_fact_class){.group = g};
    uint64_t noise = d->noise_rows ? d->noise_rows[g] : 0;
    f->classes[c].rows += d->rows_of_group[g] - noise;
    f->classes[c].noise += noise;
    class_of_group[g] = c;
  }
  return true;
}

static bool classify(shoal_facts *f) {
  const shoal_decision *d = &f->release->decision;
  shoal_strings found;
  if (!shoal_strings_init(&found)) return false;
  uint32_t *key = shoal_alloc(d->n_quasi + 2, sizeof *key);
  uint32_t *class_of_group = shoal_alloc(d->n_groups, sizeof *class_of_group);
  f->n_rows = f->release->context.table->n_rows; /* without noise rows */
  f->classes = shoal_alloc(d->n_groups, sizeof *f->classes);
  f->class_of_row = shoal_alloc((size_t)f->n_rows, sizeof *f->class_of_row);
  bool ok = key && class_of_group && f->classes && f->class_of_row &&
            find_classes(f, key, &found, class_of_group);
  for (uint64_t row = 0; ok && row < f->n_rows; row++)
    f->class_of_row[row] = class_of_group[d->group_of_row[row]];
  free(key);
  free(class_of_group);
  shoal_strings_reset(&found);
  return ok;
}

/* ------------------------------------------------------------ values */

/* The values of quasi-identifier q, from f->values[*n] on, which has room for them. */
static void map_values(shoal_facts *f, size_t q, shoal_mapped_value *of_value) {
  const shoal_context *p = &f->release->context;
  const shoal_decision *d = &f->release->decision;
  const shoal_column_labels *labels = &d->columns[q];
  uint32_t n_values = p->quasi[q]->n_values;
  memset(of_value, 0, 2 * (size_t)n_values * sizeof *of_value);
  for (uint32_t g = 0; g < d->n_groups; g++) {
    uint32_t code = shoal_code_at(p->frequency->codes[q], g);
    bool is_starred = labels->suppressed && labels->suppressed[g];
    shoal_mapped_value *value = &of_value[2 * (size_t)code + is_starred];
    *value = (shoal_mapped_value){
        q,
        code,
        g,
        is_starred,
        value->rows + d->rows_of_group[g],
        value->suppressed + (d->action_of_group[g] != SHOAL_ROW_KEEP ? d->rows_of_group[g] : 0)};
  }
  for (size_t i = 0; i < 2 * (size_t)n_values; i++)
    if (of_value[i].rows) f->values[f->n_values++] = of_value[i];
}

static bool map_all(shoal_facts *f) {
  const shoal_context *p = &f->release->context;
  const shoal_decision *d = &f->release->decision;
  size_t n = 0, most = 0;
  if (!d->levels) return true;
  for (size_t q = 0; q < d->n_quasi; q++) {
    n += 2 * (size_t)p->quasi[q]->n_values;
    if (p->quasi[q]->n_values > most) most = p->quasi[q]->n_values;
  }
  f->values = shoal_alloc(n, sizeof *f->values);
  shoal_mapped_value *of_value = shoal_alloc(2 * most, sizeof *of_value);
  bool ok = f->values && of_value;
  for (size_t q = 0; ok && q < d->n_quasi; q++) map_values(f, q, of_value);
  free(of_value);
  return ok;
}

/* ------------------------------------------------------------ counted rows */

/* The records of a row in one class, behind the shares of the row that begin at `from`. */
static bool add_share(shoal_facts *f, size_t *capacity, size_t from, shoal_share_fact share) {
  size_t i = from;
  while (i < f->n_shares && f->shares[i].class_number != share.class_number) i++;
  if (i < f->n_shares) {
    f->shares[i].n_rows += share.n_rows;
    return true;
  }
  if (!shoal_grow(&f->shares, capacity, f->n_shares + 1, sizeof *f->shares)) return false;
  f->shares[f->n_shares++] = share;
  return true;
}

/* Where the records of each counted row went. They follow one another where the table was expanded.
 */
static bool share_rows(shoal_facts *f) {
  const shoal_table *given = f->release->given;
  size_t capacity = 0;
  uint64_t record = 0;
  bool expanded = f->release->expanded != NULL, ok = true;
  if (!given->counts || shoal_table_is_counted(given)) return true;
  for (uint64_t row = 0; ok && row < given->n_rows; row++) {
    size_t from = f->n_shares;
    if (!expanded)
      ok = add_share(f, &capacity, from,
                     (shoal_share_fact){row, f->class_of_row[row], given->counts[row]});
    for (uint64_t i = 0; ok && expanded && i < given->counts[row]; i++)
      ok = add_share(f, &capacity, from, (shoal_share_fact){row, f->class_of_row[record++], 1});
  }
  return ok;
}

/* ------------------------------------------------------------ sensitive values */

static shoal_label sensitive_text(const shoal_facts *f, size_t s, uint32_t code) {
  const uint64_t *offsets = sensitive_column(f, s)->offsets;
  return (shoal_label){f->sensitive_bytes[s] + offsets[code],
                       (size_t)(offsets[code + 1] - offsets[code])};
}

shoal_label shoal_facts_sensitive_cell(const shoal_facts *f, size_t s, uint64_t row) {
  const shoal_context *p = &f->release->context;
  const shoal_column *given =
      f->release->given->columns + (p->sensitive[s].column - p->table->columns);
  return sensitive_text(f, s, shoal_column_code(given, row)); /* codes are the same */
}

typedef struct counted_pair {
  uint64_t key; /* class, then code */
  uint64_t n_rows;
} counted_pair;

static int by_key(const void *a, const void *b) {
  uint64_t x = ((const counted_pair *)a)->key, y = ((const counted_pair *)b)->key;
  return (x > y) - (x < y);
}

shoal_status shoal_facts_count(shoal_facts *f, size_t s, size_t *n, shoal_error *error) {
  const shoal_table *rows = f->release->decision.rows;
  const shoal_column *column = sensitive_column(f, s);
  size_t n_pairs = (size_t)f->n_rows, last = 0;
  counted_pair *pairs = shoal_alloc(n_pairs, sizeof *pairs);
  *n = 0;
  free(f->counts);
  f->counts = shoal_alloc(n_pairs, sizeof *f->counts);
  if (!pairs || !f->counts) {
    free(pairs);
    return shoal_fail_memory(error);
  }
  for (size_t row = 0; row < n_pairs; row++)
    pairs[row] =
        (counted_pair){(uint64_t)f->class_of_row[row] << 32 | shoal_column_code(column, row),
                       shoal_table_count(rows, row)};
  qsort(pairs, n_pairs, sizeof *pairs, by_key);
  for (size_t i = 0; i < n_pairs; i++) {
    if (i && pairs[i].key == pairs[last].key) {
      f->counts[*n - 1].n_rows += pairs[i].n_rows;
      continue;
    }
    shoal_label text = sensitive_text(f, s, (uint32_t)pairs[i].key);
    f->counts[(*n)++] = (shoal_count_fact){.class_number = (uint32_t)(pairs[i].key >> 32),
                                           .value = text.bytes,
                                           .value_bytes = text.size_bytes,
                                           .n_rows = pairs[i].n_rows};
    last = i;
  }
  free(pairs);
  return SHOAL_OK;
}

shoal_status shoal_facts_make(shoal_facts *f, const shoal_release *release, shoal_error *error) {
  f->release = release;
  shoal_arena_init(&f->arena);
  return spell(f) && classify(f) && map_all(f) && share_rows(f) ? SHOAL_OK
                                                                : shoal_fail_memory(error);
}

void shoal_facts_reset(shoal_facts *f) {
  shoal_arena_reset(&f->arena);
  free(f->classes);
  free(f->class_of_row);
  free(f->values);
  free(f->shares);
  free(f->counts);
}
