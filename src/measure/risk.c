/* SPDX-License-Identifier: Apache-2.0 */
/*
 * measure/risk: identity and attribute disclosure, from class sizes and histograms of sensitive
 * values. Thresholds of risk are compared as class sizes, as their sources mean them: 0.09 is one
 * in eleven, although 1/11 is slightly above it.
 *
 * For each class and sensitive attribute: distinct values, share of the most frequent one, entropy,
 * and the earth mover's distance to the whole original table, as in t-closeness. A missing value is
 * no distinct value and cannot be disclosed; entropy and distance count it like any other.
 */
#include "measure/parts.h"

#include <math.h>
#include <stdlib.h>

#include "measure/distance.h"

/* ------------------------------------------------------------ identity */

enum { MAX_SMALL = 10 }; /* CMS: no cell of 1 to 10 */

const shoal_threshold *shoal_thresholds(void) {
  static const shoal_threshold thresholds[SHOAL_N_THRESHOLDS + 1] = {
      {0.05, 20, "0.05", "classes of 20 (El Emam 2013)"},
      {0.09, 11, "0.09", "classes of 11 (EMA Policy 0070; Health Canada)"},
      {0.2, 5, "0.2", "classes of 5 (El Emam 2013)"},
      {0.33, 3, "0.33", "classes of 3 (El Emam 2013)"},
      {0, 0, NULL, NULL}};
  return thresholds;
}

static const uint64_t min_of_bin[SHOAL_N_SIZES] = {1, 2, 3, 5, 11, 20, 50, 100, 500, 1000};

static void start_bins(shoal_size_bin *bins) {
  for (size_t i = 0; i < SHOAL_N_SIZES; i++)
    bins[i] = (shoal_size_bin){.least = min_of_bin[i],
                               .most = i + 1 < SHOAL_N_SIZES ? min_of_bin[i + 1] - 1 : 0};
}

void shoal_identity_measure(const shoal_frequency_set *classes, shoal_identity_risk *out) {
  const shoal_threshold *thresholds = shoal_thresholds();
  out->n_classes = classes->n_tuples;
  out->n_rows = classes->n_records;
  start_bins(out->sizes);
  for (uint32_t c = 0; c < classes->n_tuples; c++) {
    uint64_t size = classes->base.n_rows[c];
    if (c == 0 || size < out->smallest_class) out->smallest_class = size;
    if (size == 1) out->unique_rows++;
    shoal_size_bin *bins = out->sizes;
    size_t i = SHOAL_N_SIZES - 1;
    while (i > 0 && size < min_of_bin[i]) i--;
    bins[i].n_classes++;
    bins[i].n_rows += size;
    if (size <= MAX_SMALL) {
      out->small_classes++;
      out->small_class_rows += size;
    }
    for (size_t t = 0; t < SHOAL_N_THRESHOLDS; t++)
      if (size < thresholds[t].class_size) out->at_risk.n_rows[t] += size;
  }
  bool any = out->n_rows > 0;
  out->highest = any ? 1 / (double)out->smallest_class : NAN;
  out->average = any ? (double)out->n_classes / (double)out->n_rows : NAN;
}

void shoal_small_labels_count(const shoal_release_pair *pair, shoal_risk *risk) {
  for (size_t q = 0; q < pair->n_quasi; q++) {
    const shoal_release_pair_attribute *a = &pair->attributes[q];
    for (uint32_t code = 0; code < a->released->n_values; code++) {
      if (a->label_rows[code] == 0 || a->label_rows[code] > MAX_SMALL) continue;
      risk->small_labels++;
      risk->small_label_rows += a->label_rows[code];
    }
  }
}

/* ------------------------------------------------------------ sensitive values */

/* One sensitive attribute in one of the tables. */
typedef struct side {
  const shoal_frequency_set *f;
  size_t s;
  const uint32_t *position; /* by code; NULL: some label covers several values */
  shoal_reference *reference;
  shoal_share_at *shares; /* scratch for one class */
} side;

static size_t bin_of(uint32_t distinct) {
  if (distinct <= 1) return 0;
  if (distinct < 5) return distinct - 1;
  return distinct < 10 ? 4 : 5;
}

static int by_position(const void *a, const void *b) {
  const shoal_share_at *x = a, *y = b;
  return (x->position > y->position) - (x->position < y->position);
}

/* Spellings of one number share a position: their shares are added. */
static double distance_of(const side *d, uint32_t c) {
  const shoal_histogram *h = &d->f->base.histograms[d->s];
  double size = (double)d->f->base.n_rows[c];
  size_t n = 0;
  for (size_t e = h->start[c]; e < h->start[c + 1]; e++)
    d->shares[n++] = (shoal_share_at){d->position[h->value[e]], (double)h->n_rows[e] / size};
  if (n > 1) qsort(d->shares, n, sizeof *d->shares, by_position);
  size_t kept = 0;
  for (size_t i = 0; i < n; i++) {
    if (kept && d->shares[kept - 1].position == d->shares[i].position)
      d->shares[kept - 1].share += d->shares[i].share;
    else d->shares[kept++] = d->shares[i];
  }
  return shoal_earth_mover(d->reference, d->shares, kept);
}

static double entropy_of(const shoal_histogram *h, uint32_t c, double size) {
  double bits = 0;
  for (size_t e = h->start[c]; e < h->start[c + 1]; e++) {
    double share = (double)h->n_rows[e] / size;
    bits -= share * log2(share);
  }
  return bits > 0 ? bits : 0;
}

static void add_class(const side *d, uint32_t c, uint64_t p, shoal_attribute_risk_side *out) {
  uint64_t n_rows = d->f->base.n_rows[c];
  double size = (double)n_rows;
  uint32_t distinct = shoal_classes_distinct(d->f, &d->f->base, c, d->s);
  size_t bin = bin_of(distinct);
  out->n_classes[bin]++;
  out->n_rows[bin] += n_rows;
  if (c == 0 || distinct < out->min_distinct) out->min_distinct = distinct;
  if (distinct < p) {
    out->classes_below_p++;
    out->rows_below_p += n_rows;
    out->homogeneity += p - distinct;
  }
  const shoal_frequency_set *f = d->f;
  size_t s = d->s;
  const shoal_histogram *h = &f->base.histograms[s];
  uint64_t most = 0;
  for (size_t e = h->start[c]; e < h->start[c + 1]; e++)
    if (h->n_rows[e] > most && !shoal_column_missing(f->tracked[s], h->value[e]))
      most = h->n_rows[e];
  double share = (double)most / size;
  double bits = entropy_of(&d->f->base.histograms[d->s], c, size);
  double distance = d->position ? distance_of(d, c) : NAN;
  if (share > out->largest_share) out->largest_share = share;
  if (c == 0 || bits < out->min_entropy) out->min_entropy = bits;
  if (c == 0 || distance > out->largest_distance) out->largest_distance = distance;
  out->mean_share += size * share;
  out->mean_entropy += size * bits;
  out->mean_distance += size * distance;
}

static bool measure_side(side *d, uint64_t p, shoal_attribute_risk_side *out) {
  const shoal_histogram *h = &d->f->base.histograms[d->s];
  size_t most = 0;
  for (uint32_t c = 0; c < d->f->n_tuples; c++)
    if (h->start[c + 1] - h->start[c] > most) most = h->start[c + 1] - h->start[c];
  d->shares = shoal_alloc(most, sizeof *d->shares);
  if (!d->shares) return false;
  for (uint32_t c = 0; c < d->f->n_tuples; c++) add_class(d, c, p, out);
  free(d->shares);
  double rows = (double)d->f->n_records;
  out->mean_share = rows > 0 ? out->mean_share / rows : NAN;
  out->mean_entropy = rows > 0 ? out->mean_entropy / rows : NAN;
  out->mean_distance = rows > 0 ? out->mean_distance / rows : NAN;
  return true;
}

/* Positions by code of the released column; *one: each label covers one value. */
static uint32_t *released_positions(const shoal_release_pair_attribute *a, bool *one) {
  uint32_t *position = shoal_alloc(a->released->n_values, sizeof *position);
  *one = true;
  for (uint32_t code = 0; position && code < a->released->n_values; code++) {
    const shoal_label_span *span = shoal_release_pair_span(a, code);
    position[code] = span->lo;
    *one = *one && span->n_positions == 1;
  }
  return position;
}

static bool measure_attribute(const shoal_release_pair *pair, size_t s, shoal_reference *reference,
                              shoal_attribute_risk *out) {
  const shoal_release_pair_attribute *a = &pair->attributes[pair->n_quasi + s];
  bool one;
  uint32_t *position = released_positions(a, &one);
  if (!position) return false;
  out->distance = shoal_ground_distance_name(reference->ground);
  uint64_t p = pair->p > 1 ? pair->p : 2;
  side before = {pair->original, s, a->domain.raw_position[0], reference, NULL};
  side after = {pair->released, s, one ? position : NULL, reference, NULL};
  bool ok = measure_side(&before, p, &out->before) && measure_side(&after, p, &out->after);
  free(position);
  return ok;
}

bool shoal_disclosure_measure(const shoal_release_pair *pair, shoal_attribute_risk *out) {
  for (size_t s = 0; s < pair->n_sensitive; s++) {
    const shoal_release_pair_attribute *a = &pair->attributes[pair->n_quasi + s];
    shoal_reference reference;
    if (!shoal_reference_init(&reference, &a->domain, a->value_rows)) return false;
    bool ok = measure_attribute(pair, s, &reference, &out[s]);
    shoal_reference_reset(&reference);
    if (!ok) return false;
  }
  return true;
}
