/* SPDX-License-Identifier: Apache-2.0 */
/*
 * measure/domain: makes a domain in two steps: order the known values (domain_order.c), then read
 * the labels (domain_labels.c). A label that covers no known value is an error if the original is
 * given. Otherwise it adds values of its own, and both steps are repeated.
 */
#include "measure/domain.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/day.h"
#include "base/hash.h"
#include "hierarchy/date.h"
#include "measure/domain_parts.h"

void shoal_domain_reset(shoal_domain *domain) {
  shoal_hierarchy_free(domain->hierarchy);
  free(domain->values.bytes);
  free(domain->values.offsets);
  free(domain->values.is_missing);
  free(domain->position_of);
  free(domain->leaf_at);
  free(domain->numbers);
  free(domain->position_missing);
  for (size_t i = 0; domain->released && i < domain->n_released; i++)
    free(domain->released[i].spans);
  free(domain->released);
  for (size_t w = 0; domain->raw_position && w < domain->n_raw; w++) free(domain->raw_position[w]);
  free(domain->raw_position);
  shoal_arena_reset(&domain->sets);
  memset(domain, 0, sizeof *domain);
}

const shoal_cell_fault shoal_no_label = {
    "is no value that the policy allows and no label of its hierarchy",
    "are no values that the policy allows and no labels of its hierarchy",
    "correct it, add it to the hierarchy, or list it under data.missing if it means unknown",
    "correct them, add them to the hierarchy, or list them under data.missing if they mean "
    "unknown",
    NULL};

/* Reports the unknown labels of the first column that has some, all that are wrong alike. */
static shoal_status fail_marked(const shoal_domain_request *request,
                                const shoal_unknown_labels *unknown, uint8_t *bad,
                                shoal_error *error) {
  const shoal_source_column *released = &request->released[unknown->items[0].released];
  const shoal_column *column = released->column;
  bool number = request->attribute->type == SHOAL_TYPE_NUMBER, first_range = false;
  for (size_t i = 0; i < unknown->n; i++) {
    shoal_label_at label = unknown->items[i];
    size_t size_bytes;
    const char *bytes = shoal_column_value(column, label.code, &size_bytes);
    if (label.released != unknown->items[0].released) break;
    bool days = request->attribute->coding.dates;
    shoal_form form = shoal_label_parse_as(days, bytes, size_bytes).form;
    bool range = !number && (form == SHOAL_FORM_INTERVAL || form == SHOAL_FORM_NUMBER);
    if (i == 0) first_range = range;
    bad[label.code] = range == first_range;
  }
  static const char use[] =
      "use a value, a label of the hierarchy, an interval, a prefix or a star "
      "that covers one; is this a release of that data under this policy?";
  shoal_cell_fault fault = {"stands for no value of the original",
                            "stand for no value of the original", use, use, NULL};
  if (!request->complete) fault = shoal_no_label;
  char advice[300];
  (void)snprintf(advice, sizeof advice,
                 "'%.80s' is not a number in the policy: add 'type: number', or a hierarchy that "
                 "has such labels",
                 request->attribute->name);
  if (first_range)
    fault = (shoal_cell_fault){"reads as numbers", "read as numbers", advice, advice, NULL};
  return shoal_bad_cells_fail(released->table, column, bad, &fault, error);
}

static shoal_status fail_unknown(const shoal_domain_request *request,
                                 const shoal_unknown_labels *unknown, shoal_error *error) {
  const shoal_column *column = request->released[unknown->items[0].released].column;
  uint8_t *bad = shoal_alloc_zero(column->n_values, sizeof *bad);
  if (!bad) return shoal_fail_memory(error);
  shoal_status status = fail_marked(request, unknown, bad, error);
  free(bad);
  return status;
}

static shoal_status order_and_read(shoal_domain *domain, const shoal_domain_request *request,
                                   shoal_unknown_labels *unknown, shoal_error *error) {
  SHOAL_TRY(shoal_domain_order_values(domain, request, unknown, error));
  unknown->n = 0;
  SHOAL_TRY(shoal_domain_read_labels(domain, request, unknown, error));
  if (unknown->n == 0) return SHOAL_OK;
  if (request->complete) return fail_unknown(request, unknown, error);
  shoal_domain_reset(domain);
  SHOAL_TRY(shoal_domain_order_values(domain, request, unknown, error));
  unknown->n = 0;
  SHOAL_TRY(shoal_domain_read_labels(domain, request, unknown, error));
  return unknown->n ? fail_unknown(request, unknown, error) : SHOAL_OK;
}

shoal_status shoal_domain_init(shoal_domain *domain, const shoal_domain_request *request,
                               shoal_error *error) {
  memset(domain, 0, sizeof *domain);
  shoal_unknown_labels unknown = {0};
  shoal_status status = order_and_read(domain, request, &unknown, error);
  free(unknown.items);
  if (status == SHOAL_OK && !shoal_domain_extend_rare(domain, request))
    status = shoal_fail_memory(error);
  if (status != SHOAL_OK) shoal_domain_reset(domain);
  return status;
}

bool shoal_domain_holds_loosely(const shoal_domain *domain, const shoal_label_span *span,
                                uint32_t position) {
  if (span->set) return shoal_domain_set_holds(span, position);
  if (span->prefix) {
    shoal_label value = shoal_domain_leaf(domain, domain->leaf_at[position]);
    return value.size_bytes >= span->prefix_bytes &&
           memcmp(value.bytes, span->prefix, span->prefix_bytes) == 0;
  }
  return !domain->position_missing[position] &&
         shoal_range_holds(&span->range, domain->numbers[position]);
}

bool shoal_domain_overlap(const shoal_domain *domain, const shoal_label_span *a,
                          const shoal_label_span *b) {
  if (a->everything || b->everything) return true;
  if (a->is_range && b->is_range) return shoal_range_overlaps(&a->range, &b->range);
  uint32_t lo = a->lo > b->lo ? a->lo : b->lo, hi = a->hi < b->hi ? a->hi : b->hi;
  if (lo > hi || a->lo > a->hi || b->lo > b->hi) return false;
  if (!a->loose && !b->loose) return true;
  for (uint32_t position = lo; position <= hi; position++)
    if (shoal_domain_holds(domain, a, position) && shoal_domain_holds(domain, b, position))
      return true;
  return false;
}

/* An inner node of the tree; it may have only one value below it. */
static bool is_above(const shoal_domain *domain, const shoal_label_span *span) {
  if (!domain->hierarchy || span->level == SHOAL_NONE || span->lo > span->hi) return false;
  const shoal_level *level = &domain->hierarchy->levels[span->level];
  return level->node_height[level->of_leaf[domain->leaf_at[span->lo]]] > 0;
}

bool shoal_domain_is_general(const shoal_domain *domain, const shoal_label_span *span) {
  if (span->missing) return false;
  if (span->everything || span->n_positions > 1 || span->prefix_bytes > 0) return true;
  if (is_above(domain, span)) return true;
  const shoal_range *range = &span->range;
  return span->is_range && (!range->has_low || !range->has_high ||
                            shoal_decimal_compare(range->low, range->high) != 0);
}

/* ------------------------------------------------------------ values that a label adds */

/*
 * Without the original, "[20-29]" is still part of "[0-49]", "1999-05" of "1999", "4310*" of
 * "43***". Each label adds one or two values that it surely covers. The hierarchy is then built
 * above them, which decides what one label covers of another.
 */

static shoal_status intern(shoal_values *known, shoal_label value, shoal_error *error) {
  return shoal_values_intern(known, value) == SHOAL_NONE ? shoal_fail_memory(error) : SHOAL_OK;
}

static shoal_status add_number(shoal_values *known, const shoal_coding *coding,
                               shoal_decimal number, shoal_error *error) {
  char text[32];
  if (coding->dates) shoal_day_print(number.mantissa, text);
  else shoal_decimal_print(number.mantissa, number.scale, text);
  return intern(known, (shoal_label){text, strlen(text)}, error);
}

/* A number inside of a range with one end: 1 away from it. */
static shoal_decimal step_from(shoal_decimal end, bool up) {
  int64_t one = (int64_t)shoal_power_of_ten(end.scale);
  end.mantissa += up ? one : -one;
  return end;
}

/* A number between two ends: their exact mean, the sum times 5 at one more decimal. */
static bool middle(const shoal_range *range, shoal_decimal *number) {
  unsigned scale = range->low.scale > range->high.scale ? range->low.scale : range->high.scale;
  int64_t low, high, sum;
  if (scale >= 18 || !shoal_decimal_rescale(range->low, scale, &low) ||
      !shoal_decimal_rescale(range->high, scale, &high) ||
      __builtin_add_overflow(low, high, &sum) || __builtin_mul_overflow(sum, (int64_t)5, &sum))
    return false;
  *number = (shoal_decimal){sum, scale + 1};
  return true;
}

static shoal_status add_code(shoal_values *known, const shoal_coding *coding, shoal_coded coded,
                             shoal_error *error) {
  char text[SHOAL_CODE_BYTES];
  size_t size_bytes = shoal_coding_label(coding, coded, text);
  return intern(known, (shoal_label){text, size_bytes}, error);
}

static bool digits(const char *bytes, size_t n, unsigned *number) {
  *number = 0;
  for (size_t i = 0; i < n; i++) {
    if (bytes[i] < '0' || bytes[i] > '9') return false;
    *number = *number * 10 + (unsigned)(bytes[i] - '0');
  }
  return true;
}

/* The first day of a period; a label of a day is one where dates have times. */
typedef struct period {
  unsigned year, month, day;
  bool is_day;
} period;

/* "1999", "1999-05", "[1995-1999]", "1999-05-04" */
static bool read_period(shoal_label label, period *p) {
  const char *s = label.bytes;
  *p = (period){0, 1, 1, label.size_bytes == 10};
  switch (label.size_bytes) {
  case 4: return digits(s, 4, &p->year);
  case 7: return digits(s, 4, &p->year) && s[4] == '-' && digits(s + 5, 2, &p->month);
  case 10:
    return digits(s, 4, &p->year) && s[4] == '-' && digits(s + 5, 2, &p->month) && s[7] == '-' &&
           digits(s + 8, 2, &p->day);
  case 11: return s[0] == '[' && digits(s + 1, 4, &p->year) && s[5] == '-' && s[10] == ']';
  default: return false;
  }
}

/* Writes the day in the given format, with a time if it is one of several; 0: it does not fit. */
static size_t print_date(const char *format, const period *p, char *out, size_t room) {
  static const char time[] = " 0:00";
  size_t at = 0;
  while (*format && at + sizeof time < room) {
    size_t took = 1;
    if (strncmp(format, "YYYY", 4) == 0) {
      at += (size_t)snprintf(out + at, room - at, "%04u", p->year % 10000);
      took = 4;
    } else if (strncmp(format, "YY", 2) == 0) {
      at += (size_t)snprintf(out + at, room - at, "%02u", p->year % 100);
      took = 2;
    } else if (strncmp(format, "MM", 2) == 0 || strncmp(format, "DD", 2) == 0) {
      unsigned part = *format == 'M' ? p->month : p->day;
      at += (size_t)snprintf(out + at, room - at, "%02u", part % 100);
      took = 2;
    } else {
      out[at++] = *format;
    }
    format += took;
  }
  if (*format) return 0;
  return p->is_day ? at + (size_t)snprintf(out + at, room - at, "%s", time) : at;
}

/* Adds a label only if the hierarchy accepts it as a date. */
static shoal_status add_date(const shoal_domain_request *request, shoal_label label,
                             shoal_values *known, shoal_error *error) {
  const shoal_hierarchy_spec *spec = &request->attribute->hierarchy;
  unsigned pivot = shoal_date_pivot(spec->pivot, 0);
  char text[256];
  period first;
  shoal_date date;
  if (!shoal_date_read(spec->date_format, pivot, label, &date) && read_period(label, &first)) {
    size_t size = print_date(spec->date_format, &first, text, sizeof text);
    if (size == 0) return SHOAL_OK;
    label = (shoal_label){text, size};
  }
  if (!shoal_date_read(spec->date_format, pivot, label, &date)) return SHOAL_OK;
  return intern(known, label, error);
}

shoal_status shoal_label_add_values(const shoal_domain_request *request, shoal_label label,
                                    shoal_values *known, shoal_error *error) {
  const shoal_attribute *attribute = request->attribute;
  shoal_hierarchy_kind kind = attribute->hierarchy.kind;
  bool tree = attribute->has_hierarchy;
  shoal_coded coded = shoal_coding_find(&attribute->coding, label.bytes, label.size_bytes);
  if (coded == SHOAL_CODED_RARE) return intern(known, label, error);
  if (shoal_attribute_has_tree(attribute)) return SHOAL_OK;
  if (shoal_attribute_has_sets(attribute)) return intern(known, label, error);
  bool days = attribute->coding.dates, of_dates = tree && kind == SHOAL_HIERARCHY_DATE;
  bool number = attribute->type == SHOAL_TYPE_NUMBER || shoal_spec_has_numbers(attribute);
  if ((!number && !of_dates) || coded) return intern(known, label, error);
  shoal_spelling spelling = shoal_label_parse_as(days, label.bytes, label.size_bytes);
  if ((!of_dates || days) &&
      (spelling.form == SHOAL_FORM_NUMBER || spelling.form == SHOAL_FORM_INTERVAL)) {
    /*
     * The ends that belong to the range; if none does, a number inside. Without an end it holds the
     * numbers under a code, if there is one.
     */
    const shoal_coding *coding = &attribute->coding;
    const shoal_range *range = &spelling.range;
    if (!range->has_high && coding->has_top)
      SHOAL_TRY(add_code(known, coding, SHOAL_CODED_TOP, error));
    if (!range->has_low && coding->has_bottom)
      SHOAL_TRY(add_code(known, coding, SHOAL_CODED_BOTTOM, error));
    bool low = range->has_low && !range->low_open, high = range->has_high && !range->high_open;
    if (low) SHOAL_TRY(add_number(known, coding, range->low, error));
    if (high) SHOAL_TRY(add_number(known, coding, range->high, error));
    if (low || high) return SHOAL_OK;
    shoal_decimal inside;
    if (range->has_low && range->has_high)
      return middle(range, &inside) ? add_number(known, coding, inside, error) : SHOAL_OK;
    inside = range->has_low ? step_from(range->low, true) : step_from(range->high, false);
    return add_number(known, coding, inside, error);
  }
  return of_dates ? add_date(request, label, known, error) : SHOAL_OK;
}

/* ------------------------------------------------------------ labels with one meaning */

/*
 * "=< 40" and "=<40", "[20-30]" and "20-30", "*" and "**" mean the same. Rows that differ only in
 * such labels are one class.
 */

typedef struct ranged {
  shoal_range range;
  uint32_t code;
} ranged;

static int by_range(const void *a, const void *b) {
  const ranged *x = a, *y = b;
  int order = shoal_range_compare(&x->range, &y->range);
  return order ? order : (x->code > y->code) - (x->code < y->code);
}

bool shoal_labels_find_same(shoal_released_labels *released) {
  uint32_t n = released->column->n_values, n_ranged = 0, star = UINT32_MAX;
  ranged *items = shoal_alloc(n, sizeof *items);
  if (!items) return false;
  for (uint32_t code = 0; code < n; code++) {
    shoal_label_span *span = &released->spans[code];
    span->same_as = code;
    if (span->everything) {
      if (star == UINT32_MAX) star = code;
      span->same_as = star;
    } else if (span->is_range && span->spelled_range) {
      items[n_ranged++] = (ranged){span->range, code};
    }
  }
  if (n_ranged > 1) qsort(items, n_ranged, sizeof *items, by_range);
  for (uint32_t i = 1; i < n_ranged; i++)
    if (shoal_range_compare(&items[i].range, &items[i - 1].range) == 0)
      released->spans[items[i].code].same_as = released->spans[items[i - 1].code].same_as;
  free(items);
  return shoal_sets_find_same(released);
}
