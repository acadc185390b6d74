/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job/page_choose: which labels of a column a page tells one by one. A number of people from 1 to
 * k - 1 must neither stand there nor follow from what stands there: the rows that one label lost,
 * and what is left for all other labels together, are such numbers too. What cannot be told by
 * itself goes to the others; where these are still few, the least frequent label follows.
 */
#include <stdlib.h>
#include <string.h>

#include "job/page.h"

typedef struct chooser {
  const shoal_tally *tallies;
  size_t n;
  uint64_t k;
  bool after_only; /* nothing of before is told */
  size_t shown[SHOAL_PAGE_LABELS];
  size_t n_shown;
  uint64_t n_others, before, after; /* of all others */
} chooser;

static bool is_small(uint64_t n, uint64_t k) { return n > 0 && n < k; }

static uint64_t apart(uint64_t a, uint64_t b) { return a > b ? a - b : b - a; }

static bool can_tell(const chooser *c, uint64_t before, uint64_t after) {
  if (is_small(after, c->k)) return false;
  return c->after_only || (!is_small(before, c->k) && !is_small(apart(before, after), c->k));
}

static int compare_labels(shoal_label a, shoal_label b) {
  size_t size = a.size_bytes < b.size_bytes ? a.size_bytes : b.size_bytes;
  int order = size ? memcmp(a.bytes, b.bytes, size) : 0;
  return order ? order : (a.size_bytes > b.size_bytes) - (a.size_bytes < b.size_bytes);
}

/* More frequent first, then by spelling. */
static int compare_frequency(const shoal_tally *a, const shoal_tally *b) {
  if (a->after != b->after) return a->after > b->after ? -1 : 1;
  return compare_labels(a->label, b->label);
}

/* Keeps the most frequent ones that may be told. */
static void pick(chooser *c) {
  c->n_shown = 0;
  for (size_t i = 0; i < c->n; i++) {
    const shoal_tally *tally = &c->tallies[i];
    if (!tally->after || !can_tell(c, tally->before, tally->after)) continue;
    size_t at = c->n_shown;
    while (at > 0 && compare_frequency(tally, &c->tallies[c->shown[at - 1]]) < 0) at--;
    if (at == SHOAL_PAGE_LABELS) continue;
    size_t last = c->n_shown < SHOAL_PAGE_LABELS ? c->n_shown++ : SHOAL_PAGE_LABELS - 1;
    memmove(c->shown + at + 1, c->shown + at, (last - at) * sizeof *c->shown);
    c->shown[at] = i;
  }
}

static void count_others(chooser *c) {
  c->n_others = c->before = c->after = 0;
  for (size_t i = 0; i < c->n; i++) {
    c->n_others += c->tallies[i].before || c->tallies[i].after;
    c->before += c->tallies[i].before;
    c->after += c->tallies[i].after;
  }
  for (size_t i = 0; i < c->n_shown; i++) {
    c->n_others--;
    c->before -= c->tallies[c->shown[i]].before;
    c->after -= c->tallies[c->shown[i]].after;
  }
}

/* True: some labels may be told, or there are none at all. */
static bool choose(chooser *c) {
  pick(c);
  count_others(c);
  while (c->n_shown && !can_tell(c, c->before, c->after)) {
    const shoal_tally *least = &c->tallies[c->shown[--c->n_shown]];
    c->n_others++;
    c->before += least->before;
    c->after += least->after;
  }
  return c->n_shown > 0;
}

static void order_by_number(chooser *c) {
  double low[SHOAL_PAGE_LABELS], high;
  for (size_t i = 0; i < c->n_shown; i++) {
    size_t tally = c->shown[i], at = i;
    double key;
    if (!shoal_page_interval(c->tallies[tally].label, &key, &high)) key = 1e300; /* "*" is last */
    for (; at > 0 && low[at - 1] > key; at--) {
      low[at] = low[at - 1];
      c->shown[at] = c->shown[at - 1];
    }
    low[at] = key;
    c->shown[at] = tally;
  }
}

bool shoal_page_interval(shoal_label label, double *low, double *high) {
  char copy[128], *end;
  if (label.size_bytes == 0 || label.size_bytes >= sizeof copy) return false;
  memcpy(copy, label.bytes, label.size_bytes);
  copy[label.size_bytes] = '\0';
  bool interval = copy[0] == '[';
  *low = *high = strtod(copy + interval, &end);
  if (end == copy + interval) return false;
  if (!interval) return *end == '\0';
  if (*end != '-') return false;
  char *from = end + 1;
  *high = strtod(from, &end);
  return end != from && (*end == ']' || *end == ')') && !end[1];
}

const char *shoal_page_string(shoal_result *result, shoal_label label) {
  enum { MOST = 160 };
  static const char missing[] = "(empty)", cut[] = "\xe2\x80\xa6";
  if (!label.size_bytes) return missing;
  if (label.size_bytes <= MOST) return shoal_result_string(result, label.bytes, label.size_bytes);
  char copy[MOST + sizeof cut];
  size_t size = MOST;
  while (size > 0 && ((unsigned char)label.bytes[size] & 0xc0) == 0x80) size--;
  memcpy(copy, label.bytes, size);
  memcpy(copy + size, cut, sizeof cut - 1);
  return shoal_result_string(result, copy, size + sizeof cut - 1);
}

shoal_status shoal_page_choose(shoal_result *result, const shoal_tally *tallies, size_t n,
                               uint64_t k, bool numeric, shoal_page_attribute *attribute,
                               shoal_error *error) {
  chooser c = {.tallies = tallies, .n = n, .k = k};
  if (!choose(&c) && !can_tell(&c, c.before, c.after)) {
    c.after_only = attribute->before_hidden = true;
    (void)choose(&c);
  }
  if (numeric) order_by_number(&c);
  attribute->labels = shoal_arena_alloc(&result->arena, c.n_shown, sizeof *attribute->labels);
  if (!attribute->labels) return shoal_fail_memory(error);
  for (size_t i = 0; i < c.n_shown; i++) {
    const shoal_tally *tally = &tallies[c.shown[i]];
    const char *label = shoal_page_string(result, tally->label);
    if (!label) return shoal_fail_memory(error);
    uint64_t before = attribute->before_hidden ? 0 : tally->before;
    attribute->labels[i] = (shoal_page_label){label, before, tally->after};
  }
  attribute->n_labels = c.n_shown;
  attribute->n_others = c.n_others;
  attribute->others_before = attribute->before_hidden ? 0 : c.before;
  attribute->others_after = c.after;
  return SHOAL_OK;
}
