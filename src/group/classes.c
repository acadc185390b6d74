/* SPDX-License-Identifier: Apache-2.0 */
/*
 * group/classes: rolls classes up to a higher node. Labels of each class's tuple are looked up and
 * grouped (grouper.c); then sizes, sets and histograms of the classes that become one are merged.
 */
#include "group/classes.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "group/frequency.h"

void shoal_classes_reset(shoal_classes *classes) {
  free(classes->tuple);
  free(classes->n_rows);
  for (size_t s = 0; s < classes->n_tracked; s++) {
    if (classes->sets) free(classes->sets[s]);
    if (classes->distinct) free(classes->distinct[s]);
    if (!classes->histograms) continue;
    free(classes->histograms[s].start);
    free(classes->histograms[s].value);
    free(classes->histograms[s].n_rows);
  }
  free(classes->sets);
  free(classes->histograms);
  free(classes->distinct);
  memset(classes, 0, sizeof *classes);
}

bool shoal_classes_init(shoal_classes *classes, uint32_t n_classes, size_t n_tracked) {
  classes->n_classes = n_classes;
  classes->n_tracked = n_tracked;
  if (!classes->tuple) classes->tuple = shoal_alloc(n_classes, sizeof *classes->tuple);
  if (!classes->n_rows) classes->n_rows = shoal_alloc_zero(n_classes, sizeof *classes->n_rows);
  classes->sets = shoal_alloc_zero(n_tracked, sizeof *classes->sets);
  classes->histograms = shoal_alloc_zero(n_tracked, sizeof *classes->histograms);
  bool ok = classes->tuple && classes->n_rows && classes->sets && classes->histograms;
  if (!ok) shoal_classes_reset(classes);
  return ok;
}

size_t shoal_classes_bytes(const shoal_classes *classes) {
  size_t bytes = (size_t)classes->n_classes * (sizeof *classes->tuple + sizeof *classes->n_rows);
  for (size_t s = 0; s < classes->n_tracked; s++) {
    const shoal_histogram *h = &classes->histograms[s];
    if (classes->sets[s]) bytes += (size_t)classes->n_classes * sizeof(uint64_t);
    if (h->start)
      bytes += ((size_t)classes->n_classes + 1) * sizeof *h->start +
               h->start[classes->n_classes] * (sizeof *h->value + (h->cap ? 0 : sizeof *h->n_rows));
  }
  return bytes;
}

uint32_t shoal_classes_distinct(const shoal_frequency_set *frequency, const shoal_classes *classes,
                                uint32_t c, size_t tracked) {
  if (classes->sets[tracked]) return (uint32_t)__builtin_popcountll(classes->sets[tracked][c]);
  if (classes->distinct && classes->distinct[tracked]) return classes->distinct[tracked][c];
  const shoal_histogram *h = &classes->histograms[tracked];
  const shoal_column *column = frequency->tracked[tracked];
  uint32_t distinct = (uint32_t)(h->start[c + 1] - h->start[c]);
  if (!column->is_missing) return distinct;
  for (size_t e = h->start[c]; e < h->start[c + 1]; e++)
    distinct -= column->is_missing[h->value[e]];
  return distinct;
}

/* ------------------------------------------------------------ merging histograms */

typedef struct entry {
  uint32_t value;
  uint64_t n_rows;
} entry;

/* Sorts entries stably by a key below n_keys, into `to`; `start`: n_keys + 1 zeros. */
static void counting_sort(const entry *from, size_t n, const uint32_t *key, entry *to,
                          uint32_t *key_to, const uint32_t *carried, size_t *start, size_t n_keys) {
  for (size_t e = 0; e < n; e++) start[key[e] + 1]++;
  for (size_t k = 0; k < n_keys; k++) start[k + 1] += start[k];
  for (size_t e = 0; e < n; e++) {
    size_t position = start[key[e]]++;
    to[position] = from[e];
    if (key_to) key_to[position] = carried[e];
  }
}

/* Sums neighbours of equal class and value, and sets where each class starts. */
static size_t combine(entry *entries, const size_t *end, size_t *start, uint32_t n_classes) {
  size_t kept = 0, at = 0;
  for (uint32_t c = 0; c < n_classes; c++) {
    start[c] = kept;
    for (; at < end[c]; at++) {
      if (kept > start[c] && entries[kept - 1].value == entries[at].value)
        entries[kept - 1].n_rows += entries[at].n_rows;
      else entries[kept++] = entries[at];
    }
  }
  start[n_classes] = kept;
  return kept;
}

/* Scratch of a radix sort: entries by value, then by class. */
typedef struct sorting {
  entry *first, *second;
  uint32_t *class_of;
  size_t *value_start, *class_start;
} sorting;

static void sorting_reset(sorting *s) {
  free(s->first);
  free(s->second);
  free(s->class_of);
  free(s->value_start);
  free(s->class_start);
}

static bool sorting_init(sorting *s, size_t n_entries, uint32_t n_classes, uint32_t n_values) {
  *s = (sorting){.first = shoal_alloc(n_entries, sizeof *s->first),
                 .second = shoal_alloc(n_entries, sizeof *s->second),
                 .class_of = shoal_alloc(n_entries, sizeof *s->class_of),
                 .value_start = shoal_alloc_zero((size_t)n_values + 1, sizeof(size_t)),
                 .class_start = shoal_alloc_zero((size_t)n_classes + 1, sizeof(size_t))};
  return s->first && s->second && s->class_of && s->value_start && s->class_start;
}

bool shoal_histogram_from_entries(shoal_histogram *out, uint32_t n_classes, uint32_t n_values,
                                  size_t n_entries, const uint32_t *class_of, const uint32_t *value,
                                  const uint64_t *n_rows) {
  sorting s;
  out->start = shoal_alloc((size_t)n_classes + 1, sizeof *out->start);
  bool ok = sorting_init(&s, n_entries, n_classes, n_values) && out->start;
  if (ok) {
    for (size_t e = 0; e < n_entries; e++) s.second[e] = (entry){value[e], n_rows[e]};
    counting_sort(s.second, n_entries, value, s.first, s.class_of, class_of, s.value_start,
                  n_values);
    counting_sort(s.first, n_entries, s.class_of, s.second, NULL, NULL, s.class_start, n_classes);
    size_t kept = combine(s.second, s.class_start, out->start, n_classes);
    out->value = shoal_alloc(kept, sizeof *out->value);
    out->n_rows = shoal_alloc(kept, sizeof *out->n_rows);
    ok = out->value && out->n_rows;
    for (size_t e = 0; ok && e < kept; e++) {
      out->value[e] = s.second[e].value;
      out->n_rows[e] = s.second[e].n_rows;
    }
  }
  sorting_reset(&s);
  return ok;
}

/* For few values: counts rows in a dense table of classes by values, then drops zeros. */
static bool count_in_table(const shoal_histogram *from, uint32_t n_from, const uint32_t *ids,
                           shoal_histogram *out, uint32_t n_classes) {
  size_t n_values = from->n_values, n_cells = n_classes * n_values, kept = 0;
  uint64_t *cells = shoal_alloc_zero(n_cells, sizeof *cells);
  out->start = shoal_alloc((size_t)n_classes + 1, sizeof *out->start);
  if (cells) {
    for (uint32_t c = 0; c < n_from; c++)
      for (size_t e = from->start[c]; e < from->start[c + 1]; e++)
        cells[ids[c] * n_values + from->value[e]] += from->n_rows[e];
    for (size_t i = 0; i < n_cells; i++) kept += cells[i] != 0;
  }
  out->value = shoal_alloc(kept, sizeof *out->value);
  out->n_rows = shoal_alloc(kept, sizeof *out->n_rows);
  bool ok = cells && out->start && out->value && out->n_rows;
  kept = 0;
  for (uint32_t c = 0; ok && c < n_classes; c++) {
    out->start[c] = kept;
    for (uint32_t v = 0; v < n_values; v++) {
      uint64_t n_rows = cells[c * n_values + v];
      if (!n_rows) continue;
      out->value[kept] = v;
      out->n_rows[kept++] = n_rows;
    }
  }
  if (ok) out->start[n_classes] = kept;
  free(cells);
  return ok;
}

static bool roll_up_histogram(const shoal_histogram *from, uint32_t n_from, const uint32_t *ids,
                              shoal_histogram *out, uint32_t n_classes) {
  if (from->cap) {
    uint64_t *most = shoal_alloc_zero(n_classes, sizeof *most);
    if (!most) return false;
    for (uint32_t c = 0; c < n_from; c++) most[ids[c]] += from->start[c + 1] - from->start[c];
    shoal_capped_lists lists;
    bool ok = shoal_capped_lists_init(&lists, n_classes, from->cap, most);
    free(most);
    if (!ok) return false;
    for (uint32_t c = 0; c < n_from; c++)
      for (size_t e = from->start[c]; e < from->start[c + 1]; e++)
        shoal_capped_lists_add(&lists, ids[c], from->value[e]);
    shoal_capped_lists_take(&lists, from->n_values, out);
    return true;
  }
  size_t n_entries = from->start[n_from];
  if (n_classes <= 2 * n_entries / (from->n_values ? from->n_values : 1)) {
    out->n_values = from->n_values;
    return count_in_table(from, n_from, ids, out, n_classes);
  }
  uint32_t *class_of = shoal_alloc(n_entries, sizeof *class_of);
  if (!class_of) return false;
  for (uint32_t c = 0; c < n_from; c++)
    for (size_t e = from->start[c]; e < from->start[c + 1]; e++) class_of[e] = ids[c];
  out->n_values = from->n_values;
  bool ok = shoal_histogram_from_entries(out, n_classes, from->n_values, n_entries, class_of,
                                         from->value, from->n_rows);
  free(class_of);
  return ok;
}

/* ------------------------------------------------------------ rolling up */

static bool roll_up_values(const shoal_classes *from, const uint32_t *ids, shoal_classes *classes) {
  for (size_t s = 0; s < from->n_tracked; s++) {
    if (from->sets[s]) {
      uint64_t *set = shoal_alloc_zero(classes->n_classes, sizeof *set);
      if (!set) return false;
      classes->sets[s] = set;
      for (uint32_t c = 0; c < from->n_classes; c++) set[ids[c]] |= from->sets[s][c];
    }
    if (from->histograms[s].start &&
        !roll_up_histogram(&from->histograms[s], from->n_classes, ids, &classes->histograms[s],
                           classes->n_classes))
      return false;
  }
  return true;
}

enum { MAX_PARTS = 64 };

/* Whole tuples at once; SHOAL_NONE if that is impossible, or without memory. */
static uint32_t ids_of_words(const shoal_frequency_set *frequency, const shoal_classes *from,
                             const uint32_t *levels, shoal_grouper *grouper, uint32_t *ids) {
  shoal_key_part parts[MAX_PARTS];
  if (frequency->n_words > 1 || frequency->n_quasi > MAX_PARTS) return SHOAL_NONE;
  for (size_t q = 0; q < frequency->n_quasi; q++) {
    const shoal_level *level = &frequency->hierarchies[q]->levels[levels[q]];
    unsigned bits = frequency->word_bits[q];
    parts[q] = (shoal_key_part){.shift = frequency->codes[q].shift,
                                .bits = bits,
                                .lut = level->of_leaf,
                                .n_codes = frequency->quasi[q]->n_values,
                                .n_labels = bits ? level->n_labels : 1};
  }
  return shoal_grouper_packed_ids(grouper, from->n_classes, from->tuple, frequency->words[0], parts,
                                  frequency->n_quasi, ids);
}

/* The class of each source class at `levels`; returns their number. SHOAL_NONE: no memory. */
static uint32_t ids_at(const shoal_frequency_set *frequency, const shoal_classes *from,
                       const uint32_t *levels, shoal_grouper *grouper, uint32_t *ids) {
  size_t n = from->n_classes;
  uint32_t n_ids = ids_of_words(frequency, from, levels, grouper, ids);
  if (n_ids != SHOAL_NONE) return n_ids;
  if (!shoal_grouper_start(grouper, n)) return SHOAL_NONE;
  for (size_t q = 0; q < frequency->n_quasi; q++) {
    const shoal_level *level = &frequency->hierarchies[q]->levels[levels[q]];
    if (!shoal_grouper_fold_codes(grouper, n, from->tuple, frequency->codes[q], level->of_leaf,
                                  level->n_labels, ids))
      return SHOAL_NONE;
  }
  return shoal_grouper_ids(grouper, n, ids);
}

/*
 * Sums the rows of n classes. If they become few, two counters per class are used in turn:
 * neighbours often go to one class, and consecutive additions to one counter wait for each other.
 */
static bool add_rows(const uint64_t *n_rows, const uint32_t *ids, size_t n,
                     shoal_classes *classes) {
  uint64_t *sums = classes->n_rows, *second = sums;
  bool few = n / 8 > classes->n_classes;
  if (few && !(second = shoal_alloc_zero(classes->n_classes, sizeof *second))) return false;
  for (size_t c = 0; c + 1 < n; c += 2) {
    sums[ids[c]] += n_rows[c];
    second[ids[c + 1]] += n_rows[c + 1];
  }
  if (n % 2) sums[ids[n - 1]] += n_rows[n - 1];
  if (!few) return true;
  for (uint32_t c = 0; c < classes->n_classes; c++) sums[c] += second[c];
  free(second);
  return true;
}

static bool roll_up(const shoal_frequency_set *frequency, const shoal_classes *from,
                    const uint32_t *levels, shoal_grouper *grouper, bool sizes_only,
                    shoal_classes *classes, uint32_t *ids) {
  size_t n = from->n_classes;
  uint32_t n_classes = ids_at(frequency, from, levels, grouper, ids);
  if (n_classes == SHOAL_NONE || !shoal_classes_init(classes, n_classes, from->n_tracked))
    return false;
  assert(n_classes <= n);
  uint32_t seen = 0;
  for (size_t c = 0; seen < n_classes; c++)
    if (ids[c] == seen) classes->tuple[seen++] = from->tuple[c];
  if (!add_rows(from->n_rows, ids, n, classes)) return false;
  classes->sizes_only = sizes_only;
  return sizes_only || roll_up_values(from, ids, classes);
}

shoal_status shoal_classes_roll_up(const shoal_frequency_set *frequency, const shoal_classes *from,
                                   const uint32_t *levels, shoal_grouper *grouper,
                                   shoal_classes *classes, uint32_t *class_of, shoal_error *error) {
  memset(classes, 0, sizeof *classes);
  uint32_t *ids = class_of ? class_of : shoal_alloc(from->n_classes, sizeof *ids);
  bool ok = ids && roll_up(frequency, from, levels, grouper, false, classes, ids);
  if (!class_of) free(ids);
  if (ok) return SHOAL_OK;
  shoal_classes_reset(classes);
  return shoal_fail_memory(error);
}

shoal_status shoal_classes_roll_up_sizes(const shoal_frequency_set *frequency,
                                         const shoal_classes *from, const uint32_t *levels,
                                         shoal_grouper *grouper, shoal_classes *classes,
                                         shoal_error *error) {
  memset(classes, 0, sizeof *classes);
  uint32_t *ids = shoal_alloc(from->n_classes, sizeof *ids);
  bool ok = ids && roll_up(frequency, from, levels, grouper, true, classes, ids);
  free(ids);
  if (ok) return SHOAL_OK;
  shoal_classes_reset(classes);
  return shoal_fail_memory(error);
}

static bool regroup(const shoal_classes *from, const uint32_t *ids, uint32_t n_classes,
                    bool sizes_only, shoal_classes *classes) {
  if (!shoal_classes_init(classes, n_classes, from->n_tracked)) return false;
  for (uint32_t c = from->n_classes; c-- > 0;) { /* the tuple of the first one remains */
    classes->tuple[ids[c]] = from->tuple[c];
    classes->n_rows[ids[c]] += from->n_rows[c];
  }
  classes->sizes_only = sizes_only;
  return sizes_only || roll_up_values(from, ids, classes);
}

shoal_status shoal_classes_regroup(const shoal_classes *from, const uint32_t *ids,
                                   uint32_t n_classes, shoal_classes *classes, shoal_error *error) {
  memset(classes, 0, sizeof *classes);
  if (regroup(from, ids, n_classes, from->sizes_only, classes)) return SHOAL_OK;
  shoal_classes_reset(classes);
  return shoal_fail_memory(error);
}

shoal_status shoal_classes_regroup_sizes(const shoal_classes *from, const uint32_t *ids,
                                         uint32_t n_classes, shoal_classes *classes,
                                         shoal_error *error) {
  memset(classes, 0, sizeof *classes);
  if (regroup(from, ids, n_classes, true, classes)) return SHOAL_OK;
  shoal_classes_reset(classes);
  return shoal_fail_memory(error);
}

/* ------------------------------------------------------------ selecting */

static bool select_histogram(const shoal_histogram *from, const uint32_t *items, uint32_t n,
                             shoal_histogram *out) {
  size_t kept = 0;
  for (uint32_t i = 0; i < n; i++) kept += from->start[items[i] + 1] - from->start[items[i]];
  out->n_values = from->n_values;
  out->cap = from->cap;
  out->start = shoal_alloc((size_t)n + 1, sizeof *out->start);
  out->value = shoal_alloc(kept, sizeof *out->value);
  if (from->n_rows) out->n_rows = shoal_alloc(kept, sizeof *out->n_rows);
  if (!out->start || !out->value || (from->n_rows && !out->n_rows)) return false;
  kept = 0;
  for (uint32_t i = 0; i < n; i++) {
    out->start[i] = kept;
    for (size_t e = from->start[items[i]]; e < from->start[items[i] + 1]; e++, kept++) {
      out->value[kept] = from->value[e];
      if (from->n_rows) out->n_rows[kept] = from->n_rows[e];
    }
  }
  out->start[n] = kept;
  return true;
}

static bool select_classes(const shoal_classes *from, const uint32_t *items, uint32_t n,
                           bool sizes_only, shoal_classes *classes) {
  if (!shoal_classes_init(classes, n, from->n_tracked)) return false;
  classes->sizes_only = sizes_only || from->sizes_only;
  for (uint32_t i = 0; i < n; i++) {
    classes->tuple[i] = from->tuple[items[i]];
    classes->n_rows[i] = from->n_rows[items[i]];
  }
  for (size_t s = 0; !classes->sizes_only && s < from->n_tracked; s++) {
    if (from->sets[s]) {
      if (!(classes->sets[s] = shoal_alloc(n, sizeof *classes->sets[s]))) return false;
      for (uint32_t i = 0; i < n; i++) classes->sets[s][i] = from->sets[s][items[i]];
    }
    if (from->histograms[s].start &&
        !select_histogram(&from->histograms[s], items, n, &classes->histograms[s]))
      return false;
  }
  return true;
}

shoal_status shoal_classes_select(const shoal_classes *from, const uint32_t *items, uint32_t n,
                                  bool sizes_only, shoal_classes *classes, shoal_error *error) {
  memset(classes, 0, sizeof *classes);
  if (select_classes(from, items, n, sizes_only, classes)) return SHOAL_OK;
  shoal_classes_reset(classes);
  return shoal_fail_memory(error);
}
