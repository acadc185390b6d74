/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decide/decision_rows: a table of its own for the rows to write, where the context's table lacks
 * some: noise rows, and columns that loading left in the file. It has its own codes and shares the
 * dictionaries.
 *
 *   rows     0 .. n - 1   n .. n + n_noise - 1
 *            the table's  noise, in the order the algorithm made them
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "decide/decision.h"
#include "table/load.h"

/* A noise row copies a row of its class, except tracked columns: the algorithm gives their values.
 */
static bool extend_column(const shoal_context *p, const shoal_noise *noise, size_t c,
                          const shoal_column *from, shoal_column *to) {
  *to = *from;
  to->codes = NULL;
  if (!from->codes) return true;
  uint64_t n = p->table->n_rows, n_noise = noise ? noise->n : 0;
  size_t s = 0;
  while (s < p->tracked.n_columns && p->tracked.columns[s] != &p->table->columns[c]) s++;
  to->codes = shoal_alloc((size_t)(n + n_noise), from->code_size);
  if (!to->codes) return false;
  memcpy(to->codes, from->codes, (size_t)n * from->code_size);
  for (uint64_t i = 0; i < n_noise; i++) {
    uint64_t row = n + i;
    uint32_t code = s < noise->n_columns ? noise->values[i * noise->n_columns + s]
                                         : shoal_column_code(from, noise->like[i]);
    switch (to->code_size) {
    case 1: ((uint8_t *)to->codes)[row] = (uint8_t)code; break;
    case 2: ((uint16_t *)to->codes)[row] = (uint16_t)code; break;
    default: ((uint32_t *)to->codes)[row] = code;
    }
  }
  return true;
}

/* Noise rows with a value that no row of the table has, in a tracked column. False: no memory. */
static bool count_listed(const shoal_context *p, const shoal_table *table, const shoal_noise *noise,
                         uint64_t *n_listed) {
  uint8_t *listed = shoal_alloc_zero(noise->n, 1); /* by noise row */
  bool ok = listed != NULL;
  for (size_t s = 0; ok && s < noise->n_columns; s++) {
    size_t c = (size_t)(p->tracked.columns[s] - p->table->columns);
    uint64_t *rows = shoal_count_values(table, &table->columns[c]);
    ok = rows != NULL;
    for (uint32_t i = 0; ok && i < noise->n; i++)
      if (!rows[noise->values[i * noise->n_columns + s]]) listed[i] = 1;
    free(rows);
  }
  *n_listed = 0;
  for (uint32_t i = 0; ok && i < noise->n; i++) *n_listed += listed[i];
  free(listed);
  return ok;
}

shoal_status shoal_decision_extend(shoal_decision *d, const shoal_context *p,
                                   const shoal_noise *noise, const shoal_run *run,
                                   shoal_error *error) {
  const shoal_table *table = d->rows;
  assert(!d->extended);
  if (shoal_table_leaves_columns(table))
    SHOAL_TRY(shoal_table_load_kept(table, p->policy->missing, p->policy->n_missing, run, &d->kept,
                                    error));
  if (noise) {
    d->like_of_noise = shoal_alloc(noise->n, sizeof *d->like_of_noise);
    if (!d->like_of_noise || !count_listed(p, table, noise, &d->noise_listed))
      return shoal_fail_memory(error);
    memcpy(d->like_of_noise, noise->like, noise->n * sizeof *d->like_of_noise);
  }
  shoal_table *extended = d->extended = shoal_alloc_zero(1, sizeof *extended);
  if (!extended) return shoal_fail_memory(error);
  *extended = *table;
  extended->source = NULL;
  extended->n_rows = extended->n_records = table->n_rows + (noise ? noise->n : 0);
  extended->columns = shoal_alloc_zero(table->n_columns, sizeof *extended->columns);
  if (!extended->columns) return shoal_fail_memory(error);
  for (size_t c = 0; c < table->n_columns; c++) {
    bool left = table->columns[c].is_left;
    const shoal_column *from = left ? &d->kept->columns[c] : &table->columns[c];
    if (!extend_column(p, noise, c, from, &extended->columns[c])) return shoal_fail_memory(error);
  }
  d->rows = extended;
  return SHOAL_OK;
}
