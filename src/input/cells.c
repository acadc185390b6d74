/* SPDX-License-Identifier: Apache-2.0 */
/*
 * input/cells: gives each distinct value of a column its spelling in the engine, and finds the bad
 * ones. In a release, cells may be labels: these are read in the table's style of numbers, and only
 * words are bad.
 */
#include "input/cells.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/day.h"
#include "hierarchy/date.h"
#include "measure/label_syntax.h"
#include "table/bad_cells.h"
#include "table/fold.h"
#include "table/number_style.h"

static bool is_date(const shoal_attribute *attribute) {
  return attribute->coding.dates ||
         (attribute->has_hierarchy && attribute->hierarchy.kind == SHOAL_HIERARCHY_DATE);
}

/* Is it spelled as a number of the table's style? */
static bool is_styled(const shoal_attribute *attribute) {
  return attribute->type == SHOAL_TYPE_NUMBER && !attribute->coding.dates;
}

static const shoal_number_style plain = {'.', NULL};

bool shoal_cells_have_commas(const shoal_policy *policy, const shoal_attribute *attribute) {
  return policy->decimal == ',' && attribute && is_styled(attribute);
}

void shoal_swap_marks(char *bytes, size_t size_bytes) {
  for (size_t i = 1; i + 1 < size_bytes; i++) {
    if (!shoal_is_digit(bytes[i - 1]) || !shoal_is_digit(bytes[i + 1])) continue;
    if (bytes[i] == '.') bytes[i] = ',';
    else if (bytes[i] == ',') bytes[i] = '.';
  }
}

/* ------------------------------------------------------------ one cell */

typedef struct reading {
  const shoal_attribute *attribute;
  shoal_number_style style;
  bool raw; /* not a release: there are no labels */
  unsigned pivot;
} reading;

/* YYYY, YYYY-MM or YYYY-MM-DD, by its form alone. */
static bool has_form_of_date(shoal_label cell) {
  if (cell.size_bytes != 4 && cell.size_bytes != 7 && cell.size_bytes != 10) return false;
  for (size_t i = 0; i < cell.size_bytes; i++)
    if (i == 4 || i == 7 ? cell.bytes[i] != '-' : !shoal_is_digit(cell.bytes[i])) return false;
  return true;
}

/* Words of a file or tree are labels, too. */
static bool may_be_label(const reading *r, shoal_label cell) {
  enum { DAY = SHOAL_DAY_BYTES - 1 };
  const shoal_attribute *attribute = r->attribute;
  if (r->raw) return false;
  if (shoal_attribute_has_tree(attribute)) return true;
  bool days = attribute->coding.dates;
  if (shoal_label_parse_as(days, cell.bytes, cell.size_bytes).form != SHOAL_FORM_WORD) return true;
  if (!cell.size_bytes) return false;
  return strchr("[{(<>*", *cell.bytes) ||
         (is_date(attribute) && has_form_of_date(cell) && !(days && cell.size_bytes == DAY));
}

/* Writes the day as YYYY-MM-DD, without a time. A release already has days so, and labels. */
static bool read_day(const reading *r, shoal_label cell, shoal_text *out) {
  shoal_date date;
  int64_t day;
  char text[SHOAL_DAY_BYTES];
  if (shoal_date_read(r->attribute->date_format, r->pivot, cell, &date))
    day = shoal_day_number(date.year, date.month, date.day);
  else if (r->raw || !shoal_day_read(cell.bytes, cell.size_bytes, &day)) return false;
  shoal_day_print(day, text);
  out->size_bytes = 0;
  shoal_text_add(out, text);
  return true;
}

/* Writes the cell as the engine has it. False: it is not what the policy says. */
static bool read_cell(const reading *r, shoal_label cell, bool missing, shoal_text *out) {
  shoal_number_style style = r->style;
  bool number = is_styled(r->attribute), ok = true;
  shoal_date date;
  shoal_decimal decimal;
  if (r->attribute->coding.dates && !missing && read_day(r, cell, out)) return true;
  if (number && !missing && !shoal_number_style_plain(style) &&
      shoal_number_restyle(style, cell.bytes, cell.size_bytes, out))
    return true;
  out->size_bytes = 0;
  shoal_text_add(out, ""); /* an empty spelling needs an address too */
  shoal_text_add_bytes(out, cell.bytes, cell.size_bytes);
  if (number && style.decimal == ',' && !out->failed) shoal_swap_marks(out->bytes, out->size_bytes);
  if (missing || may_be_label(r, cell)) return true;
  if (number && !shoal_number_style_plain(style)) ok = false;
  else if (number)
    ok = shoal_decimal_parse(cell.bytes, cell.size_bytes, &decimal) != SHOAL_NUMBER_NOT;
  if (r->attribute->coding.dates) return false;
  if (is_date(r->attribute))
    ok = shoal_date_read(r->attribute->hierarchy.date_format, r->pivot, cell, &date);
  return ok;
}

/* ------------------------------------------------------------ a column */

/* The spellings of a column's values, as shoal_column_respell takes them. */
typedef struct spellings {
  shoal_text bytes;
  uint64_t *offsets;
  uint8_t *is_missing, *bad;
  bool changed, any_bad;
} spellings;

static void spellings_reset(spellings *s) {
  shoal_wipe_free(s->bytes.bytes, s->bytes.capacity);
  free(s->offsets);
  free(s->is_missing);
  free(s->bad);
}

static bool spell_values(const shoal_column *column, const reading *r, const char *missing,
                         spellings *s) {
  shoal_text cell;
  shoal_text_init(&cell);
  shoal_text_add(&s->bytes, "");
  for (uint32_t v = 0; v < column->n_values; v++) {
    shoal_label value;
    value.bytes = shoal_column_value(column, v, &value.size_bytes);
    s->is_missing[v] = shoal_column_missing(column, v);
    s->bad[v] = !read_cell(r, value, s->is_missing[v], &cell);
    shoal_label spelling = {cell.bytes, cell.size_bytes};
    if (s->bad[v] && missing) {
      spelling = (shoal_label){missing, strlen(missing)};
      s->is_missing[v] = 1;
    }
    s->any_bad = s->any_bad || s->bad[v];
    s->changed = s->changed || !shoal_label_equal(spelling, value);
    shoal_text_add_bytes(&s->bytes, spelling.bytes, spelling.size_bytes);
    s->offsets[v + 1] = s->bytes.size_bytes;
  }
  bool ok = !cell.failed && !s->bytes.failed;
  shoal_wipe_free(cell.bytes, cell.capacity);
  return ok;
}

static shoal_status note_bad(shoal_table *table, const shoal_column *column, const reading *r,
                             const spellings *s, shoal_error *error) {
  shoal_bad_cells found;
  shoal_bad_cells_find(&found, table, column, s->bad);
  bool one = found.n == 1, date = is_date(r->attribute);
  return shoal_table_note(table, error, "column '%.200s': %llu cell%s %s and %s as missing (%s)",
                          column->name, (unsigned long long)found.n, one ? "" : "s",
                          date  ? one ? "is not a date" : "are not dates"
                          : one ? "is not a number"
                                : "are not numbers",
                          one ? "counts" : "count", found.rows);
}

static shoal_status fail_dates(const shoal_table *table, const shoal_column *column,
                               const char *format, const spellings *s, shoal_error *error) {
  char is[300], are[300];
  (void)snprintf(is, sizeof is, "is not a date %s", format);
  (void)snprintf(are, sizeof are, "are not dates %s", format);
  shoal_cell_fault fault = {
      is, are, "correct it, set 'format' in the policy, or add 'otherwise: missing'",
      "correct them, set 'format' in the policy, or add 'otherwise: missing'",
      "'type: date' is for columns of dates, and this one has none of this form: set 'format', or "
      "remove the type"};
  return shoal_bad_cells_fail(table, column, s->bad, &fault, error);
}

/* Dates, and numbers of another style: others are refused where they are parsed
 * (hierarchy/numbers.c). */
static shoal_status fail_bad(const shoal_table *table, const shoal_column *column,
                             const shoal_attribute *attribute, const spellings *s,
                             shoal_error *error) {
  if (attribute->coding.dates) return fail_dates(table, column, attribute->date_format, s, error);
  static const shoal_cell_fault fault = {
      "is not a number in the style of data.decimal and data.thousands",
      "are not numbers in the style of data.decimal and data.thousands",
      "correct it, correct the style, or add 'otherwise: missing' to the attribute",
      "correct them, correct the style, or add 'otherwise: missing' to the attribute", NULL};
  return shoal_bad_cells_fail(table, column, s->bad, &fault, error);
}

shoal_status shoal_cells_read(shoal_table *table, shoal_column *column, const shoal_policy *policy,
                              const shoal_attribute *attribute, shoal_purpose purpose,
                              shoal_error *error) {
  bool dates = attribute->coding.dates;
  shoal_number_style style = {policy->decimal, policy->thousands};
  if (table->plain_numbers || column->has_plain_numbers) style = plain;
  bool styled = is_styled(attribute) && !shoal_number_style_plain(style);
  bool lenient = attribute->otherwise_missing;
  assert(!lenient || policy->n_missing);
  if (!column->code_size || (!styled && !lenient && !dates)) return SHOAL_OK;
  reading r = {attribute, style, purpose == SHOAL_FOR_RELEASE,
               shoal_date_pivot(dates ? attribute->pivot : attribute->hierarchy.pivot, 0)};
  spellings s = {.offsets = shoal_alloc_zero((size_t)column->n_values + 1, sizeof *s.offsets),
                 .is_missing = shoal_alloc_zero(column->n_values, 1),
                 .bad = shoal_alloc_zero(column->n_values, 1)};
  bool ok = s.offsets && s.is_missing && s.bad &&
            spell_values(column, &r, lenient ? policy->missing[0] : NULL, &s);
  shoal_status status = ok ? SHOAL_OK : shoal_fail_memory(error);
  if (ok && s.any_bad)
    status = lenient ? note_bad(table, column, &r, &s, error)
                     : fail_bad(table, column, attribute, &s, error);
  if (status == SHOAL_OK && s.changed)
    status = shoal_column_respell(table, column, s.bytes.bytes, s.offsets, s.is_missing, error);
  spellings_reset(&s);
  return status;
}

/* ------------------------------------------------------------ without a policy */

/*
 * Marks the values of the column that are no numbers, if nearly all are numbers. `bad` has room for
 * all values. Words that often mean a missing value are left to the profile.
 */
static bool is_nearly_number(const shoal_column *column, uint8_t *bad) {
  enum { MAX_BAD_VALUES = 20, MIN_NUMBERS = 10 };
  uint32_t n_bad = 0, n_numbers = 0;
  for (uint32_t v = 0; v < column->n_values && n_bad <= MAX_BAD_VALUES; v++) {
    size_t size;
    shoal_decimal number;
    const char *bytes = shoal_column_value(column, v, &size);
    bool is_number = shoal_decimal_parse(bytes, size, &number) != SHOAL_NUMBER_NOT;
    bad[v] =
        !is_number && !shoal_column_missing(column, v) && !shoal_number_looks_missing(bytes, size);
    n_bad += bad[v];
    n_numbers += is_number;
  }
  return n_bad > 0 && n_bad <= MAX_BAD_VALUES && n_numbers >= MIN_NUMBERS &&
         n_numbers / MIN_NUMBERS >= n_bad;
}

static shoal_status note_nearly_numbers(shoal_table *table, const shoal_column *column,
                                        shoal_error *error) {
  enum { MIN_SHARE = 20 };
  uint8_t *bad = shoal_alloc_zero(column->n_values, 1);
  if (!bad) return shoal_fail_memory(error);
  shoal_status status = SHOAL_OK;
  if (is_nearly_number(column, bad)) {
    shoal_bad_cells found;
    shoal_bad_cells_find(&found, table, column, bad);
    if (found.n <= table->n_records / MIN_SHARE)
      status = shoal_table_note(table, error,
                                "column '%.200s': a number except in %llu cell%s (%s); 'type: "
                                "number, otherwise: missing' reads %s as missing",
                                column->name, (unsigned long long)found.n, found.n == 1 ? "" : "s",
                                found.rows, found.n == 1 ? "it" : "them");
  }
  free(bad);
  return status;
}

/* Gives the column the engine's spellings if it is a number of the style. */
static shoal_status restyle(shoal_table *table, shoal_column *column, shoal_number_style style,
                            shoal_error *error) {
  if (shoal_number_style_plain(style) || !shoal_number_style_fits(style, column)) return SHOAL_OK;
  shoal_policy policy = {.decimal = style.decimal, .thousands = style.thousands};
  shoal_attribute attribute = {.name = column->name, .type = SHOAL_TYPE_NUMBER};
  return shoal_cells_read(table, column, &policy, &attribute, SHOAL_FOR_REVIEW, error);
}

shoal_status shoal_cells_detect(shoal_table *table, shoal_error *error) {
  shoal_number_style style = shoal_number_style_detect(table);
  table->decimal = style.decimal;
  table->thousands = style.thousands;
  char thousands[4] = {'"', style.thousands ? *style.thousands : ' ', '"', '\0'};
  if (style.decimal == ',')
    SHOAL_TRY(shoal_table_note(table, error,
                               "numbers have decimal commas: a policy needs data: {decimal: "
                               "\",\"}"));
  if (style.thousands)
    SHOAL_TRY(shoal_table_note(table, error,
                               "numbers have thousands separators: a policy needs data: "
                               "{thousands: %s}",
                               *style.thousands == ' ' ? "space" : thousands));
  for (size_t c = 0; c < table->n_columns; c++) {
    if (!table->columns[c].code_size) continue;
    SHOAL_TRY(restyle(table, &table->columns[c], style, error));
    SHOAL_TRY(note_nearly_numbers(table, &table->columns[c], error));
  }
  return SHOAL_OK;
}
