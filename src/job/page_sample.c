/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job/page_sample: ten rows of the release, for a person to see what goes out. They are drawn by
 * the policy's seed, or by chance where it has none, and shown in the order of their cells: which
 * row of the data a row was stays unknown, as in the release.
 */
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "job/page.h"
#include "write/csv.h"

/* Another stream than the one that orders the rows: it tells nothing of that order. */
static const uint64_t SAMPLE_STREAM = UINT64_C(0x73616d706c65);

static const shoal_table *written_table(const shoal_release *release) {
  return release->written ? release->written : release->prepared.table;
}

static uint8_t fate_of(const shoal_release *release, uint64_t row) {
  return release->fate_of_group[release->group_of_row[row]];
}

static int compare_numbers(const void *left, const void *right) {
  const uint64_t *a = left, *b = right;
  return (*a > *b) - (*a < *b);
}

/* Different numbers below `bound`, ascending. */
static void draw(shoal_random *random, uint64_t bound, uint64_t *numbers, size_t n) {
  for (size_t i = 0; i < n;) {
    numbers[i] = shoal_random_below(random, bound);
    bool again = false;
    for (size_t j = 0; j < i; j++) again = again || numbers[j] == numbers[i];
    i += !again;
  }
  qsort(numbers, n, sizeof *numbers, compare_numbers);
}

static shoal_status choose_rows(const shoal_release *release, uint64_t *rows, size_t *n,
                                shoal_error *error) {
  const shoal_policy *policy = release->prepared.policy;
  const shoal_table *table = written_table(release);
  shoal_random random;
  uint64_t n_kept = 0, ranks[SHOAL_PAGE_ROWS];
  if (policy->has_seed) shoal_random_seed(&random, policy->seed ^ SAMPLE_STREAM);
  else if (!shoal_random_entropy(&random))
    return shoal_fail(error, SHOAL_FAILED,
                      "the system gives no randomness to choose rows to show: give a seed");
  for (uint64_t row = 0; row < table->n_rows; row++)
    if (fate_of(release, row) != SHOAL_FATE_REMOVE) n_kept += shoal_table_count(table, row);
  *n = n_kept < SHOAL_PAGE_ROWS ? (size_t)n_kept : SHOAL_PAGE_ROWS;
  draw(&random, n_kept ? n_kept : 1, ranks, *n);
  uint64_t behind = 0; /* records up to the row's last */
  for (uint64_t row = 0, next = 0; next < *n; row++) {
    if (fate_of(release, row) == SHOAL_FATE_REMOVE) continue;
    behind += shoal_table_count(table, row);
    while (next < *n && ranks[next] < behind) rows[next++] = row;
  }
  return SHOAL_OK;
}

/* The cell of quasi-identifier q as it is written. */
static shoal_label generalized(const shoal_release *release, size_t q, uint64_t row) {
  const shoal_prepared *p = &release->prepared;
  uint32_t group = release->group_of_row[row];
  bool star = release->fate_of_group[group] == SHOAL_FATE_BLANK ||
              (release->hidden && release->hidden[q][group]);
  if (star) return (shoal_label){"*", 1};
  if (release->class_of_row)
    return shoal_strings_get(&release->labels.strings[q], release->labels.of_group[q][group]);
  const shoal_level *level = &p->hierarchies[q]->levels[release->levels[q]];
  shoal_label label;
  label.bytes = shoal_level_label(
      level, level->of_leaf[shoal_code_at(p->frequency->codes[q], group)], &label.size_bytes);
  return label;
}

static shoal_status fill_row(shoal_release *release, const shoal_page *page, uint64_t row,
                             const char **cells, shoal_error *error) {
  const shoal_prepared *p = &release->prepared;
  const shoal_table *table = written_table(release);
  size_t q = 0;
  for (size_t c = 0; c < table->n_columns; c++) {
    if (!shoal_page_shows(release, page, c)) continue;
    const shoal_column *column = &table->columns[c];
    shoal_label cell;
    if (p->roles[c] == SHOAL_ROLE_QUASI) cell = generalized(release, q++, row);
    else cell.bytes = shoal_column_value(column, shoal_column_code(column, row), &cell.size_bytes);
    *cells = shoal_page_string(release->result, cell);
    if (!*cells++) return shoal_fail_memory(error);
  }
  return SHOAL_OK;
}

static int compare_rows(const char *const *a, const char *const *b, size_t n) {
  int order = 0;
  for (size_t c = 0; c < n && !order; c++) order = strcmp(a[c], b[c]);
  return order;
}

/* Few rows: by insertion. */
static bool sort_rows(const char **cells, size_t n_rows, size_t n) {
  const char **moved = shoal_alloc(n, sizeof *moved);
  if (!moved) return false;
  for (size_t i = 1; i < n_rows; i++) {
    memcpy(moved, cells + i * n, n * sizeof *moved);
    size_t at = i;
    for (; at > 0 && compare_rows(cells + (at - 1) * n, moved, n) > 0; at--)
      memcpy(cells + at * n, cells + (at - 1) * n, n * sizeof *moved);
    memcpy(cells + at * n, moved, n * sizeof *moved);
  }
  free(moved);
  return true;
}

shoal_status shoal_page_sample(shoal_release *release, shoal_page *page, shoal_error *error) {
  shoal_arena *arena = &release->result->arena;
  uint64_t rows[SHOAL_PAGE_ROWS];
  SHOAL_TRY(choose_rows(release, rows, &page->n_sample, error));
  page->sample_names = shoal_arena_alloc(arena, page->n_columns, sizeof *page->sample_names);
  if (!page->sample_names) return shoal_fail_memory(error);
  for (size_t c = 0; c < page->n_columns; c++)
    if (shoal_page_shows(release, page, c))
      page->sample_names[page->n_sample_columns++] = page->columns[c].name;
  page->sample =
      shoal_arena_alloc(arena, page->n_sample * page->n_sample_columns, sizeof *page->sample);
  if (!page->sample) return shoal_fail_memory(error);
  for (size_t i = 0; i < page->n_sample; i++)
    SHOAL_TRY(fill_row(release, page, rows[i], page->sample + i * page->n_sample_columns, error));
  return sort_rows(page->sample, page->n_sample, page->n_sample_columns) ? SHOAL_OK
                                                                         : shoal_fail_memory(error);
}
