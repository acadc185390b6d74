/* SPDX-License-Identifier: Apache-2.0 */
/*
 * describe/page_columns: contents of the released columns for the page: the distribution of their
 * labels or values before and after, and ten sample rows. Before counts the label that the node
 * gives a row, released or not; in local recoding both are counted by bins (page_bins.c). The
 * sample is drawn by the policy's seed, or at random without one, and sorted by its cells: the rows
 * of the input stay unknown, as in the release.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "base/sort.h"
#include "describe/page.h"
#include "write/csv.h"

typedef struct tallies {
  shoal_label_count *items;
  size_t n;
} tallies;

/* Labels of a quasi-identifier, group by group. The last is "*", if it is not among them anyway. */
static bool tally_labels(const shoal_decision *d, size_t q, tallies *t) {
  const shoal_column_labels *column = &d->columns[q];
  t->n = (size_t)column->n_labels + 1;
  t->items = shoal_alloc_zero(t->n, sizeof *t->items);
  if (!t->items) return false;
  for (uint32_t i = 0; i <= column->n_labels; i++)
    t->items[i].label = shoal_column_label(column, i);
  for (uint32_t g = 0; g < d->n_groups; g++) {
    uint64_t n = d->rows_of_group[g], n_noise = d->noise_rows ? d->noise_rows[g] : 0;
    bool blank = d->action_of_group[g] == SHOAL_ROW_BLANK;
    t->items[shoal_column_label_index(column, g)].before += n - n_noise;
    if (d->action_of_group[g] != SHOAL_ROW_REMOVE)
      t->items[blank ? column->star : shoal_column_written_index(column, g)].after += n;
  }
  return true;
}

/* ------------------------------------------------------------ values as they are */

static bool tally_values(const shoal_release *release, size_t column, tallies *t) {
  const shoal_decision *d = &release->decision;
  const shoal_table *table = d->rows;
  const shoal_column *from = &table->columns[column];
  uint64_t n_true = release->context.table->n_rows;
  t->items = shoal_alloc_zero(from->n_values, sizeof *t->items);
  t->n = from->n_values;
  if (!t->items) return false;
  for (uint32_t v = 0; v < from->n_values; v++)
    t->items[v].label.bytes = shoal_column_value(from, v, &t->items[v].label.size_bytes);
  for (uint64_t row = 0; row < table->n_rows; row++) {
    shoal_label_count *tally = &t->items[shoal_column_code(from, row)];
    uint64_t n = shoal_table_count(table, row);
    if (row < n_true) tally->before += n;
    if (d->action_of_group[d->group_of_row[row]] != SHOAL_ROW_REMOVE) tally->after += n;
  }
  return true;
}

/* ------------------------------------------------------------ widths */

/* How wide the released intervals of a number are, row by row. */
static shoal_status describe_widths(shoal_result *result, const tallies *t,
                                    shoal_html_report_attribute *a, shoal_error *error) {
  double least = 0, most = 0, sum = 0, low, high;
  uint64_t n_rows = 0;
  for (size_t i = 0; i < t->n; i++) {
    const shoal_label_count *tally = &t->items[i];
    if (!tally->after || !shoal_html_report_interval(tally->label, &low, &high)) continue;
    double width = high - low;
    if (!n_rows || width < least) least = width;
    if (!n_rows || width > most) most = width;
    sum += width * (double)tally->after;
    n_rows += tally->after;
  }
  if (!n_rows || most <= 0) return SHOAL_OK;
  char words[160];
  if (least < most)
    (void)shoal_print_double(
        words, sizeof words,
        "%.6g to %.6g wide, on average %.4g (upper end minus lower end, row by row)", least, most,
        sum / (double)n_rows);
  else (void)shoal_print_double(words, sizeof words, "%.6g wide (upper end minus lower end)", most);
  a->widths = shoal_result_string(result, words, strlen(words));
  return a->widths ? SHOAL_OK : shoal_fail_memory(error);
}

/* ------------------------------------------------------------ all columns */

/* The codes of a pseudonym are those of identifiers. */
static bool is_shown(const shoal_release *release, const shoal_html_report *page, size_t column) {
  const shoal_table *table = release->decision.rows;
  return page->columns[column].released && table->columns[column].codes &&
         release->context.roles[column] != SHOAL_ROLE_PSEUDONYM;
}

static shoal_status describe(shoal_release *release, shoal_html_report *page, size_t column,
                             size_t q, shoal_html_report_attribute *a, shoal_error *error) {
  const shoal_context *p = &release->context;
  shoal_result *result = release->result;
  const shoal_html_report_column *named = &page->columns[column];
  bool quasi = p->roles[column] == SHOAL_ROLE_QUASI;
  const shoal_policy *policy = p->policy;
  const char *name = p->table->columns[column].name;
  const shoal_attribute *attribute = shoal_policy_attribute(policy, name);
  bool numeric = attribute && attribute->type == SHOAL_TYPE_NUMBER;
  *a = (shoal_html_report_attribute){.name = named->name,
                                     .role = named->role,
                                     .done = named->done,
                                     .outcome = quasi ? &result->release.attributes[q] : NULL};
  tallies t = {0}, bins = {0};
  bool ok = quasi ? tally_labels(&release->decision, q, &t) : tally_values(release, column, &t);
  shoal_status status = ok ? SHOAL_OK : shoal_fail_memory(error);
  a->binned = quasi && release->decision.kind == SHOAL_METHOD_CLUSTERS;
  if (status == SHOAL_OK && a->binned)
    status = shoal_html_report_bins(release, q, &bins.items, &bins.n, error);
  const tallies *shown = a->binned ? &bins : &t;
  if (status == SHOAL_OK)
    status = shoal_distribution_redact(result, shown->items, shown->n, page->k, numeric, a, error);
  if (status == SHOAL_OK && quasi && numeric) status = describe_widths(result, &t, a, error);
  free(t.items);
  free(bins.items);
  return status;
}

shoal_status shoal_html_report_attributes(shoal_release *release, shoal_html_report *page,
                                          shoal_error *error) {
  const shoal_context *p = &release->context;
  page->attributes =
      shoal_arena_alloc(&release->result->arena, p->table->n_columns, sizeof *page->attributes);
  shoal_status status = page->attributes ? SHOAL_OK : shoal_fail_memory(error);
  size_t q = 0;
  for (size_t c = 0; status == SHOAL_OK && c < p->table->n_columns; c++) {
    if (!is_shown(release, page, c)) continue;
    status = describe(release, page, c, q, &page->attributes[page->n_attributes], error);
    if (status == SHOAL_OK) page->n_attributes++;
    q += p->roles[c] == SHOAL_ROLE_QUASI;
  }
  return status;
}

/* ------------------------------------------------------------ sample rows */

/* Another stream than the one that orders the rows: it tells nothing of that order. */
static const uint64_t SAMPLE_STREAM = UINT64_C(0x73616d706c65);

static uint8_t action_of(const shoal_decision *d, uint64_t row) {
  return d->action_of_group[d->group_of_row[row]];
}

/* Different numbers below `bound`, ascending. */
static void draw(shoal_random *random, uint64_t bound, uint64_t *numbers, size_t n) {
  for (size_t i = 0; i < n;) {
    numbers[i] = shoal_random_below(random, bound);
    bool again = false;
    for (size_t j = 0; j < i; j++) again = again || numbers[j] == numbers[i];
    i += !again;
  }
  shoal_sort_u64(numbers, n);
}

static shoal_status choose_rows(const shoal_release *release, uint64_t *rows, size_t *n,
                                shoal_error *error) {
  const shoal_policy *policy = release->context.policy;
  const shoal_decision *d = &release->decision;
  const shoal_table *table = d->rows;
  shoal_random random;
  uint64_t n_kept = 0, ranks[SHOAL_HTML_REPORT_ROWS];
  if (policy->has_seed) shoal_random_seed(&random, policy->seed ^ SAMPLE_STREAM);
  else if (!shoal_random_entropy(&random))
    return shoal_fail(error, SHOAL_FAILED,
                      "the system gives no randomness to choose rows to show: give a seed");
  for (uint64_t row = 0; row < table->n_rows; row++)
    if (action_of(d, row) != SHOAL_ROW_REMOVE) n_kept += shoal_table_count(table, row);
  *n = n_kept < SHOAL_HTML_REPORT_ROWS ? (size_t)n_kept : SHOAL_HTML_REPORT_ROWS;
  draw(&random, n_kept ? n_kept : 1, ranks, *n);
  uint64_t behind = 0; /* records up to the row's last */
  for (uint64_t row = 0, next = 0; next < *n; row++) {
    if (action_of(d, row) == SHOAL_ROW_REMOVE) continue;
    behind += shoal_table_count(table, row);
    while (next < *n && ranks[next] < behind) rows[next++] = row;
  }
  return SHOAL_OK;
}

static shoal_status fill_row(shoal_release *release, const shoal_html_report *page, uint64_t row,
                             const char **cells, shoal_error *error) {
  const shoal_context *p = &release->context;
  const shoal_decision *d = &release->decision;
  const shoal_table *table = d->rows;
  size_t q = 0;
  for (size_t c = 0; c < table->n_columns; c++) {
    if (!is_shown(release, page, c)) continue;
    const shoal_column *column = &table->columns[c];
    shoal_label cell;
    if (p->roles[c] == SHOAL_ROLE_QUASI) cell = shoal_decision_label(d, q++, d->group_of_row[row]);
    else cell.bytes = shoal_column_value(column, shoal_column_code(column, row), &cell.size_bytes);
    *cells = shoal_html_report_string(release->result, cell);
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

shoal_status shoal_html_report_sample(shoal_release *release, shoal_html_report *page,
                                      shoal_error *error) {
  shoal_arena *arena = &release->result->arena;
  uint64_t rows[SHOAL_HTML_REPORT_ROWS];
  SHOAL_TRY(choose_rows(release, rows, &page->n_sample, error));
  page->sample_names = shoal_arena_alloc(arena, page->n_columns, sizeof *page->sample_names);
  if (!page->sample_names) return shoal_fail_memory(error);
  for (size_t c = 0; c < page->n_columns; c++)
    if (is_shown(release, page, c))
      page->sample_names[page->n_sample_columns++] = page->columns[c].name;
  page->sample =
      shoal_arena_alloc(arena, page->n_sample * page->n_sample_columns, sizeof *page->sample);
  if (!page->sample) return shoal_fail_memory(error);
  for (size_t i = 0; i < page->n_sample; i++)
    SHOAL_TRY(fill_row(release, page, rows[i], page->sample + i * page->n_sample_columns, error));
  return sort_rows(page->sample, page->n_sample, page->n_sample_columns) ? SHOAL_OK
                                                                         : shoal_fail_memory(error);
}
