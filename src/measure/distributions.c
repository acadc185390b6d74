/* SPDX-License-Identifier: Apache-2.0 */
/*
 * measure/distributions: distributions of attributes before and after, and associations of two
 * attributes (Cramer 1946, chapter 21). The distribution of the release over values assigns the
 * rows of each label evenly to the values that it covers, as an analyst would.
 *
 * Rows of the original in a bar: if labels do not overlap, the rows of the values below the label.
 * If they do (local recoding), the rows of each value are divided among the labels that cover it,
 * in proportion to the rows that each assigns to it. Labels that cover everything receive the rows
 * that no other label covers.
 */
#include "measure/parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/text.h"
#include "measure/distance.h"

enum { MAX_BARS = 40 };
static const double ROUNDING = 1e-6; /* of rows that were divided */

/* ------------------------------------------------------------ distances */

static bool measure_distances(const shoal_release_pair *pair, const shoal_release_pair_attribute *a,
                              shoal_attribute_measure *out) {
  shoal_reference reference;
  uint32_t n_positions = a->domain.n_positions;
  double rows = (double)pair->released->n_records;
  shoal_share_at *shares = shoal_alloc(n_positions, sizeof *shares);
  bool ok = shares && shoal_reference_init(&reference, &a->domain, a->value_rows);
  if (ok) {
    size_t n = 0;
    for (uint32_t position = 0; rows > 0 && position < n_positions; position++)
      if (a->mass[position] > 1e-9)
        shares[n++] = (shoal_share_at){position, a->mass[position] / rows};
    out->distance = shoal_ground_distance_name(reference.ground);
    out->variation = rows > 0 ? shoal_total_variation(&reference, shares, n) : NAN;
    out->earth_mover = rows > 0 ? shoal_earth_mover(&reference, shares, n) : NAN;
    shoal_reference_reset(&reference);
  }
  free(shares);
  return ok;
}

/* ------------------------------------------------------------ bars */

/* A possible bar. */
typedef struct candidate {
  uint32_t code;
  uint32_t lo, hi;
  double before;
  uint64_t after;
  bool shown;
} candidate;

typedef struct row_distribution {
  const shoal_release_pair_attribute *a;
  double *density; /* by position: rows that labels with a meaning assign to it */
  double *share;   /* by position: prefix sums of the original's rows over density */
  double untaken;  /* rows of the original that no such label covers */
} row_distribution;

static bool distribute_rows(row_distribution *s) {
  const shoal_release_pair_attribute *a = s->a;
  uint32_t n = a->domain.n_positions;
  s->density = shoal_alloc_zero(n, sizeof *s->density);
  s->share = shoal_alloc_zero((size_t)n + 1, sizeof *s->share);
  if (!s->density || !s->share) return false;
  memcpy(s->density, a->mass, n * sizeof *s->density);
  for (uint32_t code = 0; code < a->released->n_values; code++) {
    const shoal_label_span *span = shoal_release_pair_span(a, code);
    if (span->everything && span->n_positions)
      shoal_span_distribute(&a->domain, span, -(double)a->label_rows[code] / span->n_positions,
                            s->density);
  }
  for (uint32_t position = 0; position < n; position++) {
    double rows = (double)a->value_rows[position];
    bool taken = s->density[position] > 1e-9;
    if (!taken) s->untaken += rows;
    s->share[position + 1] = s->share[position] + (taken ? rows / s->density[position] : 0);
  }
  return true;
}

static double rows_before(const row_distribution *s, const shoal_label_span *span, uint64_t after) {
  if (!span->n_positions || span->everything) return 0;
  double sum = 0;
  if (!span->loose) sum = s->share[span->hi + 1] - s->share[span->lo];
  for (uint32_t position = span->lo; span->loose && position <= span->hi; position++)
    if (shoal_domain_holds(&s->a->domain, span, position))
      sum += s->share[position + 1] - s->share[position];
  double rows = sum * (double)after / span->n_positions;
  return fabs(rows - round(rows)) < ROUNDING ? round(rows) : rows;
}

static int by_rows(const void *a, const void *b) {
  const candidate *x = a, *y = b;
  if (x->after != y->after) return x->after > y->after ? -1 : 1;
  return x->code < y->code ? -1 : 1;
}

static int by_position(const void *a, const void *b) {
  const candidate *x = a, *y = b;
  if (x->shown != y->shown) return x->shown ? -1 : 1;
  if (x->lo != y->lo) return x->lo < y->lo ? -1 : 1;
  if (x->hi != y->hi) return x->hi < y->hi ? -1 : 1;
  return x->code < y->code ? -1 : 1;
}

/* A count from 1 to k - 1 must not be shown; 0 discloses nobody. */
static bool is_small(double rows, uint64_t k) {
  return rows > ROUNDING && rows < (double)k - ROUNDING;
}

/*
 * Decides which bars are shown, most rows first, and sums up the others. Moves the smallest shown
 * bars to the others until these sums are not small: otherwise they would follow from the total.
 */
static shoal_bar hide_rare(candidate *bars, size_t n, double untaken, uint64_t k) {
  shoal_bar other = {.before = untaken};
  for (size_t i = 0; i < n; i++) {
    bars[i].shown = i < MAX_BARS && bars[i].after >= k && !is_small(bars[i].before, k);
    if (bars[i].shown) continue;
    other.n_labels++;
    other.before += bars[i].before;
    other.after += bars[i].after;
  }
  for (size_t i = n; i-- > 0;) {
    if (!is_small(other.before, k) && !is_small((double)other.after, k)) break;
    if (!bars[i].shown) continue;
    bars[i].shown = false;
    other.n_labels++;
    other.before += bars[i].before;
    other.after += bars[i].after;
  }
  return other;
}

/*
 * Lists the labels with rows; the first label that covers everything receives the rows that no
 * other label covers.
 */
static size_t list_candidates(const row_distribution *s, candidate *bars, double *untaken) {
  const shoal_release_pair_attribute *a = s->a;
  size_t n = 0;
  *untaken = s->untaken;
  for (uint32_t code = 0; code < a->released->n_values; code++) {
    if (!a->label_rows[code]) continue;
    const shoal_label_span *span = shoal_release_pair_span(a, code);
    candidate bar = {code, span->lo, span->hi, 0, a->label_rows[code], false};
    bar.before = rows_before(s, span, bar.after);
    if (span->everything) {
      bar.before = *untaken;
      *untaken = 0;
    }
    bars[n++] = bar;
  }
  if (n > 1) qsort(bars, n, sizeof *bars, by_rows);
  return n;
}

static bool copy_bars(const shoal_release_pair_attribute *a, candidate *bars, size_t n,
                      shoal_bar other, shoal_arena *arena, shoal_attribute_measure *out) {
  if (n > 1) qsort(bars, n, sizeof *bars, by_position);
  out->bars = shoal_arena_alloc(arena, n + 1, sizeof *out->bars);
  if (!out->bars) return false;
  for (size_t i = 0; i < n && bars[i].shown; i++) {
    size_t size_bytes;
    const char *bytes = shoal_column_value(a->released, bars[i].code, &size_bytes);
    shoal_bar bar = {shoal_arena_copy_utf8(arena, bytes, size_bytes), 1, bars[i].before,
                     bars[i].after};
    if (!bar.label) return false;
    out->bars[out->n_bars++] = bar;
  }
  if (other.before > ROUNDING || other.after) out->bars[out->n_bars++] = other;
  return true;
}

static bool measure_bars(const shoal_release_pair *pair, const shoal_release_pair_attribute *a,
                         shoal_arena *arena, shoal_attribute_measure *out) {
  row_distribution s = {.a = a};
  candidate *bars = shoal_alloc(a->released->n_values, sizeof *bars);
  bool ok = bars && distribute_rows(&s);
  if (ok) {
    uint64_t k = pair->k > 1 ? pair->k : 2;
    double untaken;
    size_t n = list_candidates(&s, bars, &untaken);
    shoal_bar other = hide_rare(bars, n, untaken, k);
    if (is_small(other.before, k) || is_small((double)other.after, k))
      other = (shoal_bar){0}; /* the whole table has fewer than k rows */
    ok = copy_bars(a, bars, n, other, arena, out);
  }
  free(bars);
  free(s.density);
  free(s.share);
  return ok;
}

bool shoal_marginals_measure(const shoal_release_pair *pair, shoal_arena *arena,
                             shoal_measures *measures) {
  for (size_t i = 0; i < pair->n_quasi + pair->n_sensitive; i++) {
    const shoal_release_pair_attribute *a = &pair->attributes[i];
    shoal_attribute_measure *out = &measures->attributes[i];
    out->name = shoal_arena_copy_utf8(arena, a->attribute->name, strlen(a->attribute->name));
    if (!out->name || !measure_distances(pair, a, out) || !measure_bars(pair, a, arena, out))
      return false;
  }
  return true;
}

/* ------------------------------------------------------------ associations */

/*
 * Cramer's V from counted pairs of values, o_ij rows with sums r_i and c_j:
 *
 *     chi2 / n = sum of o_ij^2 / (r_i c_j) - 1,   V = sqrt(chi2 / n / (min(rows, columns) - 1))
 */

/* Pairs of values, and the rows of each. */
typedef struct pairs {
  shoal_ids ids; /* value of one attribute x 2^32 + value of the other */
  uint64_t *rows;
  size_t capacity;
} pairs;

static bool count_pairs(pairs *p, const shoal_frequency_set *f, size_t q, size_t s) {
  const shoal_histogram *histogram = &f->base.histograms[s];
  for (uint32_t c = 0; c < f->n_tuples; c++)
    for (size_t e = histogram->start[c]; e < histogram->start[c + 1]; e++) {
      uint32_t known = p->ids.n_ids;
      uint32_t id = shoal_ids_insert(&p->ids, (uint64_t)shoal_code_at(f->codes[q], c) << 32 |
                                                  histogram->value[e]);
      if (id == SHOAL_NONE || !shoal_grow(&p->rows, &p->capacity, (size_t)id + 1, sizeof *p->rows))
        return false;
      if (id == known) p->rows[id] = 0;
      p->rows[id] += histogram->n_rows[e];
    }
  return true;
}

/*
 * Rows of each value, from the pairs; `shift` selects the attribute. Returns the number of values.
 */
static uint32_t side_rows(const pairs *p, unsigned shift, uint64_t *rows) {
  uint32_t n = 0;
  for (uint32_t id = 0; id < p->ids.n_ids; id++) {
    uint64_t *of = &rows[(uint32_t)(p->ids.of_id[id] >> shift)];
    n += *of == 0;
    *of += p->rows[id];
  }
  return n;
}

static double v_of(const pairs *p, uint64_t *left, uint64_t *right) {
  uint32_t n_left = side_rows(p, 32, left), n_right = side_rows(p, 0, right);
  uint32_t least = n_left < n_right ? n_left : n_right;
  if (least < 2) return NAN;
  double sum = 0;
  for (uint32_t id = 0; id < p->ids.n_ids; id++) {
    double rows = (double)p->rows[id];
    sum += rows / (double)left[(uint32_t)(p->ids.of_id[id] >> 32)] * rows /
           (double)right[(uint32_t)p->ids.of_id[id]];
  }
  double v = sum > 1 ? sqrt((sum - 1) / (least - 1)) : 0;
  return v > 1 ? 1 : v;
}

/* False: no memory. */
static bool cramers_v(const shoal_frequency_set *f, size_t q, size_t s, double *v) {
  pairs p = {.rows = NULL};
  uint64_t *left = shoal_alloc_zero(f->quasi[q]->n_values, sizeof *left);
  uint64_t *right = shoal_alloc_zero(f->tracked[s]->n_values, sizeof *right);
  bool ok = left && right && shoal_ids_init(&p.ids, 1024);
  if (ok) {
    ok = count_pairs(&p, f, q, s);
    if (ok) *v = v_of(&p, left, right);
    shoal_ids_reset(&p.ids);
  }
  free(p.rows);
  free(left);
  free(right);
  return ok;
}

bool shoal_associations_measure(const shoal_release_pair *pair, shoal_arena *arena,
                                shoal_measures *measures) {
  size_t n = pair->n_quasi * pair->n_sensitive;
  measures->associations = shoal_arena_alloc(arena, n, sizeof *measures->associations);
  if (!measures->associations) return false;
  for (size_t q = 0; q < pair->n_quasi; q++)
    for (size_t s = 0; s < pair->n_sensitive; s++) {
      shoal_association *out = &measures->associations[measures->n_associations];
      *out = (shoal_association){measures->attributes[q].name,
                                 measures->attributes[pair->n_quasi + s].name, 0, 0};
      if (!cramers_v(pair->original, q, s, &out->before) ||
          !cramers_v(pair->released, q, s, &out->after))
        return false;
      measures->n_associations++;
    }
  return true;
}
