/* SPDX-License-Identifier: Apache-2.0 */
/*
 * measure/disclosure: see risk.h. Class by class, from the histograms of a sensitive attribute's
 * values: how many there are, how much one of them prevails, what is left uncertain (entropy), and
 * how far the class is from the whole original table, by the earth mover's distance of t-closeness.
 * A missing value adds no distinct value and is nothing to be learnt; in entropy and distance it is
 * a value like others.
 */
#include <math.h>
#include <stdlib.h>

#include "measure/distance.h"
#include "measure/risk.h"

/* One sensitive attribute in one of the tables. */
typedef struct side {
  const shoal_frequency *f;
  size_t s;
  const uint32_t *place; /* by code; NULL: some label is not one value */
  shoal_reference *reference;
  shoal_share_at *shares; /* room for a class */
} side;

static size_t bin_of(uint32_t distinct) {
  if (distinct <= 1) return 0;
  if (distinct < 5) return distinct - 1;
  return distinct < 10 ? 4 : 5;
}

static int by_place(const void *a, const void *b) {
  const shoal_share_at *x = a, *y = b;
  return (x->place > y->place) - (x->place < y->place);
}

/* Spellings of one number share a place: equal places are joined. */
static double distance_of(const side *d, uint32_t c) {
  const shoal_histogram *h = &d->f->base.histograms[d->s];
  double size = (double)d->f->base.n_rows[c];
  size_t n = 0;
  for (size_t e = h->start[c]; e < h->start[c + 1]; e++)
    d->shares[n++] = (shoal_share_at){d->place[h->value[e]], (double)h->n_rows[e] / size};
  if (n > 1) qsort(d->shares, n, sizeof *d->shares, by_place);
  size_t kept = 0;
  for (size_t i = 0; i < n; i++) {
    if (kept && d->shares[kept - 1].place == d->shares[i].place)
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

static double share_of(const shoal_frequency *f, size_t s, uint32_t c, double size) {
  const shoal_histogram *h = &f->base.histograms[s];
  uint64_t most = 0;
  for (size_t e = h->start[c]; e < h->start[c + 1]; e++)
    if (h->n_rows[e] > most && !shoal_column_missing(f->sensitive[s], h->value[e]))
      most = h->n_rows[e];
  return (double)most / size;
}

static void add_class(const side *d, uint32_t c, uint64_t p, shoal_attribute_risk_side *out) {
  uint64_t n_rows = d->f->base.n_rows[c];
  double size = (double)n_rows;
  uint32_t distinct = shoal_classes_distinct(d->f, &d->f->base, c, d->s);
  size_t bin = bin_of(distinct);
  out->n_classes[bin]++;
  out->n_rows[bin] += n_rows;
  if (c == 0 || distinct < out->least_distinct) out->least_distinct = distinct;
  if (distinct < p) {
    out->classes_below_p++;
    out->rows_below_p += n_rows;
  }
  double share = share_of(d->f, d->s, c, size);
  double bits = entropy_of(&d->f->base.histograms[d->s], c, size);
  double distance = d->place ? distance_of(d, c) : NAN;
  if (share > out->largest_share) out->largest_share = share;
  if (c == 0 || bits < out->least_entropy) out->least_entropy = bits;
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

/* Places by code of the released column; *one: each label is one value. */
static uint32_t *released_places(const shoal_pair_attribute *a, bool *one) {
  uint32_t *place = shoal_alloc(a->released->n_values, sizeof *place);
  *one = true;
  for (uint32_t code = 0; place && code < a->released->n_values; code++) {
    const shoal_cover *cover = shoal_pair_cover(a, code);
    place[code] = cover->lo;
    *one = *one && cover->n_places == 1;
  }
  return place;
}

static bool measure_attribute(const shoal_pair *pair, size_t s, shoal_reference *reference,
                              shoal_attribute_risk *out) {
  const shoal_pair_attribute *a = &pair->attributes[pair->n_quasi + s];
  bool one;
  uint32_t *place = released_places(a, &one);
  if (!place) return false;
  out->distance = shoal_ground_name(reference->ground);
  uint64_t p = pair->p > 1 ? pair->p : 2;
  side before = {pair->original, s, a->domain.raw_place[0], reference, NULL};
  side after = {pair->released, s, one ? place : NULL, reference, NULL};
  bool ok = measure_side(&before, p, &out->before) && measure_side(&after, p, &out->after);
  free(place);
  return ok;
}

bool shoal_disclosure_measure(const shoal_pair *pair, shoal_attribute_risk *out) {
  for (size_t s = 0; s < pair->n_sensitive; s++) {
    const shoal_pair_attribute *a = &pair->attributes[pair->n_quasi + s];
    shoal_reference reference;
    if (!shoal_reference_init(&reference, &a->domain, a->value_rows)) return false;
    bool ok = measure_attribute(pair, s, &reference, &out[s]);
    shoal_reference_reset(&reference);
    if (!ok) return false;
  }
  return true;
}
