/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job/noise: invented rows on their way to the file: a table to be written that has them behind the
 * true rows. It shares the dictionaries of the table that it is made from, and has codes of its
 * own. An invented row copies a row of its class but for what the algorithm gave it.
 */
#include <stdlib.h>
#include <string.h>

#include "job/release.h"

void shoal_release_reset_written(shoal_release *release) {
  shoal_table *written = release->written;
  if (!written) return;
  for (size_t c = 0; written->columns && c < written->n_columns; c++)
    free(written->columns[c].codes);
  free(written->columns);
  free(written);
  release->written = NULL;
}

/* The index of a column among the tracked ones; n_columns: it is none. */
static size_t tracked_index(const shoal_tracked *tracked, const shoal_column *column) {
  size_t s = 0;
  while (s < tracked->n_columns && tracked->columns[s] != column) s++;
  return s;
}

static void set_code(const shoal_column *column, uint64_t row, uint32_t code) {
  switch (column->code_size) {
  case 1: ((uint8_t *)column->codes)[row] = (uint8_t)code; break;
  case 2: ((uint16_t *)column->codes)[row] = (uint16_t)code; break;
  default: ((uint32_t *)column->codes)[row] = code;
  }
}

static bool extend_column(const shoal_prepared *p, const shoal_noise *noise,
                          const shoal_column *from, shoal_column *to) {
  *to = *from;
  to->codes = NULL;
  if (!from->codes) return true;
  uint64_t n = p->table->n_rows;
  size_t s = tracked_index(&p->tracked, from);
  to->codes = shoal_alloc((size_t)n + noise->n, from->code_size);
  if (!to->codes) return false;
  memcpy(to->codes, from->codes, (size_t)n * from->code_size);
  for (uint32_t i = 0; i < noise->n; i++)
    set_code(to, n + i,
             s < noise->n_columns ? noise->values[i * noise->n_columns + s]
                                  : shoal_column_code(from, noise->like[i]));
  return true;
}

shoal_status shoal_release_add_noise(shoal_release *release, const shoal_noise *noise,
                                     shoal_error *error) {
  const shoal_table *table = release->prepared.table;
  if (!noise->n) return SHOAL_OK;
  shoal_table *written = release->written = shoal_alloc_zero(1, sizeof *written);
  if (!written) return shoal_fail_memory(error);
  *written = *table;
  written->n_rows = written->n_records = table->n_rows + noise->n;
  written->columns = shoal_alloc_zero(table->n_columns, sizeof *written->columns);
  if (!written->columns) return shoal_fail_memory(error);
  for (size_t c = 0; c < table->n_columns; c++)
    if (!extend_column(&release->prepared, noise, &table->columns[c], &written->columns[c]))
      return shoal_fail_memory(error);
  return SHOAL_OK;
}

/* ------------------------------------------------------------ their place among the others */

/* Behind which row each invented row comes, as lists: first by row, next by invented row. */
typedef struct places {
  uint32_t *last_of, *first, *next;
} places;

static void fill_order(const shoal_release *release, const places *at, uint32_t n, uint32_t n_noise,
                       uint32_t *order) {
  uint32_t n_ordered = 0;
  for (uint32_t row = 0; row < n; row++) at->last_of[release->class_of_row[row]] = row;
  memset(at->first, 0xff, n * sizeof *at->first); /* SHOAL_NO_ID */
  for (uint32_t i = n_noise; i-- > 0;) {
    uint32_t row = at->last_of[release->class_of_row[n + i]];
    at->next[i] = at->first[row];
    at->first[row] = i;
  }
  for (uint32_t row = 0; row < n; row++) {
    order[n_ordered++] = row;
    for (uint32_t i = at->first[row]; i != SHOAL_NO_ID; i = at->next[i]) order[n_ordered++] = n + i;
  }
}

uint32_t *shoal_release_kept_order(const shoal_release *release) {
  uint32_t n = (uint32_t)release->prepared.table->n_rows;
  uint32_t n_noise = (uint32_t)release->written->n_rows - n;
  uint32_t *order = shoal_alloc((size_t)n + n_noise, sizeof *order);
  places at = {.last_of = shoal_alloc(n, sizeof *at.last_of), /* no more classes than rows */
               .first = shoal_alloc(n, sizeof *at.first),
               .next = shoal_alloc(n_noise, sizeof *at.next)};
  bool ok = order && at.last_of && at.first && at.next;
  if (ok) fill_order(release, &at, n, n_noise, order);
  free(at.last_of);
  free(at.first);
  free(at.next);
  if (ok) return order;
  free(order);
  return NULL;
}
