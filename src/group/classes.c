/* SPDX-License-Identifier: Apache-2.0 */
/* group/classes: rolling classes up; see classes.h. */
#include "group/classes.h"

#include <stdlib.h>
#include <string.h>

#include "group/build.h"

void shoal_classes_reset(shoal_classes *classes) {
  free(classes->tuple);
  free(classes->n_rows);
  for (size_t s = 0; s < classes->n_sensitive; s++) {
    if (classes->sets) free(classes->sets[s]);
    if (!classes->histograms) continue;
    free(classes->histograms[s].start);
    free(classes->histograms[s].value);
    free(classes->histograms[s].n_rows);
  }
  free(classes->sets);
  free(classes->histograms);
  memset(classes, 0, sizeof *classes);
}

bool shoal_classes_init(shoal_classes *classes, uint32_t n_classes, size_t n_sensitive) {
  memset(classes, 0, sizeof *classes);
  classes->n_classes = n_classes;
  classes->n_sensitive = n_sensitive;
  classes->tuple = shoal_alloc(n_classes, sizeof *classes->tuple);
  classes->n_rows = shoal_alloc_zero(n_classes, sizeof *classes->n_rows);
  classes->sets = shoal_alloc_zero(n_sensitive, sizeof *classes->sets);
  classes->histograms = shoal_alloc_zero(n_sensitive, sizeof *classes->histograms);
  bool ok = classes->tuple && classes->n_rows && classes->sets && classes->histograms;
  if (!ok) shoal_classes_reset(classes);
  return ok;
}

size_t shoal_classes_bytes(const shoal_classes *classes) {
  size_t bytes = (size_t)classes->n_classes * (sizeof *classes->tuple + sizeof *classes->n_rows);
  for (size_t s = 0; s < classes->n_sensitive; s++) {
    const shoal_histogram *h = &classes->histograms[s];
    if (classes->sets[s]) bytes += (size_t)classes->n_classes * sizeof(uint64_t);
    if (h->start)
      bytes += ((size_t)classes->n_classes + 1) * sizeof *h->start +
               h->start[classes->n_classes] * (sizeof *h->value + sizeof *h->n_rows);
  }
  return bytes;
}

uint32_t shoal_classes_distinct(const shoal_frequency *frequency, const shoal_classes *classes,
                                uint32_t c, size_t sensitive) {
  if (classes->sets[sensitive])
    return (uint32_t)__builtin_popcountll(classes->sets[sensitive][c]);
  const shoal_histogram *h = &classes->histograms[sensitive];
  const shoal_column *column = frequency->sensitive[sensitive];
  uint32_t distinct = (uint32_t)(h->start[c + 1] - h->start[c]);
  if (!column->is_missing) return distinct;
  for (size_t e = h->start[c]; e < h->start[c + 1]; e++) distinct -= column->is_missing[h->value[e]];
  return distinct;
}

/* ------------------------------------------------------------ merging histograms */

typedef struct entry {
  uint32_t value;
  uint64_t n_rows;
} entry;

static int by_value(const void *a, const void *b) {
  uint32_t x = ((const entry *)a)->value, y = ((const entry *)b)->value;
  return (x > y) - (x < y);
}

/* Sorts entries by value and adds up equal ones; returns how many are left. */
static size_t combine(entry *entries, size_t n) {
  if (n > 1) qsort(entries, n, sizeof *entries, by_value);
  size_t kept = 0;
  for (size_t i = 0; i < n; i++) {
    if (kept && entries[kept - 1].value == entries[i].value)
      entries[kept - 1].n_rows += entries[i].n_rows;
    else
      entries[kept++] = entries[i];
  }
  return kept;
}

bool shoal_histogram_from_entries(shoal_histogram *out, uint32_t n_classes, size_t n_entries,
                                  const uint32_t *class_of, const uint32_t *value,
                                  const uint64_t *n_rows) {
  out->start = shoal_alloc_zero((size_t)n_classes + 1, sizeof *out->start);
  entry *entries = shoal_alloc(n_entries, sizeof *entries);
  size_t *fill = shoal_alloc(n_classes, sizeof *fill);
  bool ok = out->start && entries && fill;
  size_t kept = 0;
  if (ok) {
    for (size_t e = 0; e < n_entries; e++) out->start[class_of[e] + 1]++;
    for (uint32_t c = 0; c < n_classes; c++) out->start[c + 1] += out->start[c];
    memcpy(fill, out->start, n_classes * sizeof *fill);
    for (size_t e = 0; e < n_entries; e++)
      entries[fill[class_of[e]]++] = (entry){value[e], n_rows[e]};
    for (uint32_t c = 0; c < n_classes; c++) {
      size_t from = out->start[c], n = combine(entries + from, fill[c] - from);
      memmove(entries + kept, entries + from, n * sizeof *entries);
      out->start[c] = kept;
      kept += n;
    }
    out->start[n_classes] = kept;
    out->value = shoal_alloc(kept, sizeof *out->value);
    out->n_rows = shoal_alloc(kept, sizeof *out->n_rows);
    ok = out->value && out->n_rows;
  }
  for (size_t e = 0; ok && e < kept; e++) {
    out->value[e] = entries[e].value;
    out->n_rows[e] = entries[e].n_rows;
  }
  free(entries);
  free(fill);
  return ok;
}

static bool roll_up_histogram(const shoal_histogram *from, uint32_t n_from, const uint32_t *ids,
                              shoal_histogram *out, uint32_t n_classes) {
  size_t n_entries = from->start[n_from];
  uint32_t *class_of = shoal_alloc(n_entries, sizeof *class_of);
  if (!class_of) return false;
  for (uint32_t c = 0; c < n_from; c++)
    for (size_t e = from->start[c]; e < from->start[c + 1]; e++) class_of[e] = ids[c];
  bool ok = shoal_histogram_from_entries(out, n_classes, n_entries, class_of, from->value,
                                         from->n_rows);
  free(class_of);
  return ok;
}

/* ------------------------------------------------------------ rolling up */

static bool roll_up_sensitive(const shoal_classes *from, const uint32_t *ids,
                              shoal_classes *classes) {
  for (size_t s = 0; s < from->n_sensitive; s++) {
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

static bool roll_up(const shoal_frequency *frequency, const shoal_classes *from,
                    const uint32_t *levels, shoal_grouper *grouper, shoal_classes *classes,
                    uint32_t *ids) {
  size_t n = from->n_classes;
  if (!shoal_grouper_start(grouper, n)) return false;
  for (size_t q = 0; q < frequency->n_quasi; q++) {
    const shoal_level *level = &frequency->hierarchies[q]->levels[levels[q]];
    if (!shoal_grouper_fold(grouper, n, from->tuple, frequency->codes[q], level->of_leaf,
                            level->n_labels, ids))
      return false;
  }
  uint32_t n_classes = shoal_grouper_ids(grouper, n, ids);
  if (n_classes == SHOAL_NO_ID ||
      !shoal_classes_init(classes, n_classes, from->n_sensitive))
    return false;
  uint32_t seen = 0;
  for (size_t c = 0; c < n; c++) {
    if (ids[c] == seen) classes->tuple[seen++] = from->tuple[c];
    classes->n_rows[ids[c]] += from->n_rows[c];
  }
  return roll_up_sensitive(from, ids, classes);
}

shoal_status shoal_classes_roll_up(const shoal_frequency *frequency, const shoal_classes *from,
                                   const uint32_t *levels, shoal_grouper *grouper,
                                   shoal_classes *classes, uint32_t *class_of,
                                   shoal_error *error) {
  memset(classes, 0, sizeof *classes);
  uint32_t *ids = class_of ? class_of : shoal_alloc(from->n_classes, sizeof *ids);
  bool ok = ids && roll_up(frequency, from, levels, grouper, classes, ids);
  if (!class_of) free(ids);
  if (ok) return SHOAL_OK;
  shoal_classes_reset(classes);
  return shoal_fail_memory(error);
}

/* Included classes become one class, the others a second, which is then cut off. */
static bool join(const shoal_classes *from, const uint8_t *include, shoal_classes *joined,
                 uint32_t *ids) {
  if (!shoal_classes_init(joined, 2, from->n_sensitive)) return false;
  joined->tuple[0] = joined->tuple[1] = 0;
  for (uint32_t c = 0; c < from->n_classes; c++) {
    ids[c] = include[c] ? 0 : 1;
    joined->n_rows[ids[c]] += from->n_rows[c];
  }
  return roll_up_sensitive(from, ids, joined);
}

shoal_status shoal_classes_join(const shoal_classes *classes, const uint8_t *include,
                                shoal_classes *joined, shoal_error *error) {
  memset(joined, 0, sizeof *joined);
  uint32_t *ids = shoal_alloc(classes->n_classes, sizeof *ids);
  bool ok = ids && join(classes, include, joined, ids);
  free(ids);
  if (!ok) {
    shoal_classes_reset(joined);
    return shoal_fail_memory(error);
  }
  joined->n_classes = 1;
  return SHOAL_OK;
}
