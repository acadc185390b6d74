/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report/redact: class sizes and labels that a report may show one by one. Counts to protect are:
 * the records of a label before and after, the records that it lost (before minus after), and the
 * same for all labels that are not shown. A label with such a count from 1 to k - 1 joins the
 * others. While the others together still have one, the least frequent shown label joins them too.
 * If even that leaves one, the counts before are withheld.
 *
 * Counts after of bins are estimates: only the sum over all bins tells how many records were lost.
 */
#include "report/redact.h"

#include <stdlib.h>
#include <string.h>

#include "base/day.h"

static bool is_small(uint64_t n, uint64_t k) { return n > 0 && n < k; }

/* ------------------------------------------------------------ class sizes */

static const uint64_t smallest[SHOAL_SIZE_BINS] = {1, 2, 3, 5, 11, 20};

static void join(shoal_size_row *rows, size_t *n, size_t at) {
  rows[at].high = rows[at + 1].high;
  rows[at].before += rows[at + 1].before;
  rows[at].after += rows[at + 1].after;
  memmove(rows + at + 1, rows + at + 2, (*n - at - 2) * sizeof *rows);
  (*n)--;
}

size_t shoal_class_sizes_rows(const shoal_class_sizes *before, const shoal_class_sizes *after,
                              uint64_t k, shoal_size_row rows[SHOAL_SIZE_BINS]) {
  size_t n = SHOAL_SIZE_BINS;
  for (size_t i = 0; i < n; i++)
    rows[i] = (shoal_size_row){smallest[i], i + 1 < n ? smallest[i + 1] - 1 : 0, before->records[i],
                               after->records[i]};
  for (size_t i = 0; n > 1 && i < n;) {
    if (!is_small(rows[i].before, k) && !is_small(rows[i].after, k)) {
      i++;
      continue;
    }
    i = i + 1 < n ? i : i - 1; /* the last one joins the one before it */
    join(rows, &n, i);
  }
  return n;
}

bool shoal_class_sizes_below(const shoal_size_row *rows, size_t n, uint64_t size, uint64_t *before,
                             uint64_t *after) {
  *before = *after = 0;
  for (size_t i = 0; i < n; i++) {
    if (rows[i].low >= size) return rows[i].low == size;
    *before += rows[i].before;
    *after += rows[i].after;
  }
  return false;
}

/* ------------------------------------------------------------ distributions */

typedef struct chooser {
  const shoal_label_count *counts;
  size_t n;
  uint64_t k;
  bool after_only; /* the counts before are withheld */
  bool binned;     /* the counts after are estimates */
  size_t shown[SHOAL_HTML_REPORT_LABELS];
  size_t n_shown;
  uint64_t n_others, before, after; /* of all others */
} chooser;

static uint64_t apart(uint64_t a, uint64_t b) { return a > b ? a - b : b - a; }

static bool can_show(const chooser *c, uint64_t before, uint64_t after) {
  if (is_small(after, c->k)) return false;
  if (c->after_only) return true;
  return !is_small(before, c->k) && (c->binned || !is_small(apart(before, after), c->k));
}

static int compare_labels(shoal_label a, shoal_label b) {
  size_t size = a.size_bytes < b.size_bytes ? a.size_bytes : b.size_bytes;
  int order = size ? memcmp(a.bytes, b.bytes, size) : 0;
  return order ? order : (a.size_bytes > b.size_bytes) - (a.size_bytes < b.size_bytes);
}

/* More frequent first, then by spelling. */
static int compare_frequency(const shoal_label_count *a, const shoal_label_count *b) {
  if (a->after != b->after) return a->after > b->after ? -1 : 1;
  return compare_labels(a->label, b->label);
}

/* The most frequent labels that may be shown one by one. */
static void pick(chooser *c) {
  c->n_shown = 0;
  for (size_t i = 0; i < c->n; i++) {
    const shoal_label_count *count = &c->counts[i];
    bool none = !count->after && !(c->binned && count->before && !c->after_only);
    if (none || !can_show(c, count->before, count->after)) continue;
    size_t at = c->n_shown;
    while (at > 0 && compare_frequency(count, &c->counts[c->shown[at - 1]]) < 0) at--;
    if (at == SHOAL_HTML_REPORT_LABELS) continue;
    size_t last =
        c->n_shown < SHOAL_HTML_REPORT_LABELS ? c->n_shown++ : SHOAL_HTML_REPORT_LABELS - 1;
    memmove(c->shown + at + 1, c->shown + at, (last - at) * sizeof *c->shown);
    c->shown[at] = i;
  }
}

/* True: some label is shown. */
static bool choose(chooser *c) {
  pick(c);
  c->n_others = c->before = c->after = 0;
  for (size_t i = 0; i < c->n; i++) {
    c->n_others += c->counts[i].before || c->counts[i].after;
    c->before += c->counts[i].before;
    c->after += c->counts[i].after;
  }
  for (size_t i = 0; i < c->n_shown; i++) {
    c->n_others--;
    c->before -= c->counts[c->shown[i]].before;
    c->after -= c->counts[c->shown[i]].after;
  }
  while (c->n_shown && !can_show(c, c->before, c->after)) {
    const shoal_label_count *rarest = &c->counts[c->shown[--c->n_shown]];
    c->n_others++;
    c->before += rarest->before;
    c->after += rarest->after;
  }
  return c->n_shown > 0;
}

static void order_by_number(chooser *c) {
  double low[SHOAL_HTML_REPORT_LABELS], high;
  for (size_t i = 0; i < c->n_shown; i++) {
    size_t count = c->shown[i], at = i;
    double key;
    if (!shoal_html_report_interval(c->counts[count].label, &key, &high))
      key = 1e300; /* "*" is last */
    for (; at > 0 && low[at - 1] > key; at--) {
      low[at] = low[at - 1];
      c->shown[at] = c->shown[at - 1];
    }
    low[at] = key;
    c->shown[at] = count;
  }
}

/* "1950-03-01", "[1950-03-01 to 1950-07-12]" */
static bool read_days(shoal_label label, double *low, double *high) {
  enum { DAY = SHOAL_DAY_BYTES - 1, GAP = 4 };
  int64_t from, to;
  bool day = shoal_day_read(label.bytes, label.size_bytes, &from);
  if (day) to = from;
  else if (label.size_bytes != 2 * DAY + GAP + 2 || label.bytes[0] != '[' ||
           !shoal_day_read(label.bytes + 1, DAY, &from) ||
           !shoal_day_read(label.bytes + 1 + DAY + GAP, DAY, &to))
    return false;
  *low = (double)from;
  *high = (double)to;
  return true;
}

bool shoal_html_report_interval(shoal_label label, double *low, double *high) {
  char copy[128], *end;
  if (read_days(label, low, high)) return true;
  if (label.size_bytes == 0 || label.size_bytes >= sizeof copy) return false;
  memcpy(copy, label.bytes, label.size_bytes);
  copy[label.size_bytes] = '\0';
  bool interval = copy[0] == '[';
  *low = *high = shoal_parse_double(copy + interval, &end);
  if (end == copy + interval) return false;
  if (!interval) return *end == '\0';
  static const char to[] = " to ", spread[] = "\xc2\xb1";
  if (strncmp(end, spread, 2) == 0) { /* a rounded number */
    double centre = *low, distance = shoal_parse_double(end + 2, &end);
    *low = centre - distance;
    *high = centre + distance;
    return *end == ']' && !end[1];
  }
  bool word = strncmp(end, to, sizeof to - 1) == 0;
  if (!word && *end != '-') return false;
  char *from = end + (word ? sizeof to - 1 : 1);
  *high = shoal_parse_double(from, &end);
  return end != from && (*end == ']' || *end == ')') && !end[1];
}

const char *shoal_html_report_string(shoal_result *result, shoal_label label) {
  enum { MAX_BYTES = 160 };
  static const char missing[] = "(empty)", cut[] = "\xe2\x80\xa6";
  if (!label.size_bytes) return missing;
  if (label.size_bytes <= MAX_BYTES)
    return shoal_result_string(result, label.bytes, label.size_bytes);
  char copy[MAX_BYTES + sizeof cut];
  size_t size = MAX_BYTES;
  while (size > 0 && ((unsigned char)label.bytes[size] & 0xc0) == 0x80) size--;
  memcpy(copy, label.bytes, size);
  memcpy(copy + size, cut, sizeof cut - 1);
  return shoal_result_string(result, copy, size + sizeof cut - 1);
}

shoal_status shoal_distribution_redact(shoal_result *result, const shoal_label_count *counts,
                                       size_t n, uint64_t k, bool numeric,
                                       shoal_html_report_attribute *attribute, shoal_error *error) {
  chooser c = {.counts = counts, .n = n, .k = k, .binned = attribute->binned};
  c.after_only = c.binned && is_small(result->release.suppressed - result->release.blanked, k);
  if (!choose(&c) && !can_show(&c, c.before, c.after)) {
    c.after_only = true;
    (void)choose(&c);
  }
  attribute->before_hidden = c.after_only;
  if (numeric) order_by_number(&c);
  attribute->labels = shoal_arena_alloc(&result->arena, c.n_shown, sizeof *attribute->labels);
  if (!attribute->labels) return shoal_fail_memory(error);
  for (size_t i = 0; i < c.n_shown; i++) {
    const shoal_label_count *count = &counts[c.shown[i]];
    const char *label = shoal_html_report_string(result, count->label);
    if (!label) return shoal_fail_memory(error);
    uint64_t before = attribute->before_hidden ? 0 : count->before;
    attribute->labels[i] = (shoal_html_report_label){label, before, count->after};
  }
  attribute->n_labels = c.n_shown;
  attribute->n_others = c.n_others;
  attribute->others_before = attribute->before_hidden ? 0 : c.before;
  attribute->others_after = c.after;
  return SHOAL_OK;
}
