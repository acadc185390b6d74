/* SPDX-License-Identifier: Apache-2.0 */
/*
 * measure/marginals: see marginals.h. The release's distribution over values is each label's rows
 * spread evenly over the values it can stand for: what an analyst would assume.
 *
 * A bar's rows of the original: where labels do not overlap, the rows of the values below it. Where
 * they do (local recoding), each value's rows are shared out among the labels that can stand for
 * it, in proportion to what each spreads on it. Labels that say nothing get what no other takes.
 */
#include "measure/marginals.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "measure/distance.h"

enum { MOST_BARS = 40 };
static const double ROUNDING = 1e-6; /* of rows that were shared out */

const char *shoal_arena_text(shoal_arena *arena, const char *bytes, size_t size_bytes) {
  shoal_text text;
  shoal_text_init(&text);
  shoal_text_add(&text, "");
  shoal_text_add_utf8(&text, bytes, size_bytes);
  const char *copy = text.failed ? NULL : shoal_arena_copy(arena, text.bytes, text.size_bytes);
  shoal_text_reset(&text);
  return copy;
}

/* ------------------------------------------------------------ distances */

static bool measure_distances(const shoal_pair *pair, const shoal_pair_attribute *a,
                              shoal_attribute_measure *out) {
  shoal_reference reference;
  uint32_t n_places = a->domain.n_places;
  double rows = (double)pair->released->n_records;
  shoal_share_at *shares = shoal_alloc(n_places, sizeof *shares);
  bool ok = shares && shoal_reference_init(&reference, &a->domain, a->value_rows);
  if (ok) {
    size_t n = 0;
    for (uint32_t place = 0; rows > 0 && place < n_places; place++)
      if (a->mass[place] > 1e-9) shares[n++] = (shoal_share_at){place, a->mass[place] / rows};
    out->distance = shoal_ground_name(reference.ground);
    out->variation = rows > 0 ? shoal_total_variation(&reference, shares, n) : NAN;
    out->earth_mover = rows > 0 ? shoal_earth_mover(&reference, shares, n) : NAN;
    shoal_reference_reset(&reference);
  }
  free(shares);
  return ok;
}

/* ------------------------------------------------------------ bars */

/* A bar before it is known which are shown. */
typedef struct candidate {
  uint32_t code;
  uint32_t lo, hi;
  double before;
  uint64_t after;
  bool shown;
} candidate;

typedef struct sharing {
  const shoal_pair_attribute *a;
  double *density; /* by place: what labels that say something spread on it */
  double *share;   /* by place: rows of the original over density, summed up */
  double untaken;  /* rows of the original that no such label can stand for */
} sharing;

static bool share_out(sharing *s) {
  const shoal_pair_attribute *a = s->a;
  uint32_t n = a->domain.n_places;
  s->density = shoal_alloc_zero(n, sizeof *s->density);
  s->share = shoal_alloc_zero((size_t)n + 1, sizeof *s->share);
  if (!s->density || !s->share) return false;
  memcpy(s->density, a->mass, n * sizeof *s->density);
  for (uint32_t code = 0; code < a->released->n_values; code++) {
    const shoal_cover *cover = shoal_pair_cover(a, code);
    if (cover->everything && cover->n_places)
      shoal_cover_spread(&a->domain, cover, -(double)a->label_rows[code] / cover->n_places,
                         s->density);
  }
  for (uint32_t place = 0; place < n; place++) {
    double rows = (double)a->value_rows[place];
    bool taken = s->density[place] > 1e-9;
    if (!taken) s->untaken += rows;
    s->share[place + 1] = s->share[place] + (taken ? rows / s->density[place] : 0);
  }
  return true;
}

static double rows_before(const sharing *s, const shoal_cover *cover, uint64_t after) {
  if (!cover->n_places || cover->everything) return 0;
  double sum = 0;
  if (!cover->loose) sum = s->share[cover->hi + 1] - s->share[cover->lo];
  for (uint32_t place = cover->lo; cover->loose && place <= cover->hi; place++)
    if (shoal_domain_holds(&s->a->domain, cover, place))
      sum += s->share[place + 1] - s->share[place];
  double rows = sum * (double)after / cover->n_places;
  return fabs(rows - round(rows)) < ROUNDING ? round(rows) : rows;
}

static int by_rows(const void *a, const void *b) {
  const candidate *x = a, *y = b;
  if (x->after != y->after) return x->after > y->after ? -1 : 1;
  return x->code < y->code ? -1 : 1;
}

static int by_place(const void *a, const void *b) {
  const candidate *x = a, *y = b;
  if (x->shown != y->shown) return x->shown ? -1 : 1;
  if (x->lo != y->lo) return x->lo < y->lo ? -1 : 1;
  if (x->hi != y->hi) return x->hi < y->hi ? -1 : 1;
  return x->code < y->code ? -1 : 1;
}

/* Is it a count that must not be shown? Nothing at all says nothing of anybody. */
static bool is_small(double rows, uint64_t k) {
  return rows > ROUNDING && rows < (double)k - ROUNDING;
}

/*
 * Decides which are shown, most rows first, and sums up the others. Those are taken up from the
 * least until their sums are no small cells: else a total would tell them.
 */
static shoal_bar hide_rare(candidate *bars, size_t n, double untaken, uint64_t k) {
  shoal_bar other = {.before = untaken};
  for (size_t i = 0; i < n; i++) {
    bars[i].shown = i < MOST_BARS && bars[i].after >= k && !is_small(bars[i].before, k);
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

/* Candidates with rows; the first label that says nothing gets what no other label takes. */
static size_t list_candidates(const sharing *s, candidate *bars, double *untaken) {
  const shoal_pair_attribute *a = s->a;
  size_t n = 0;
  *untaken = s->untaken;
  for (uint32_t code = 0; code < a->released->n_values; code++) {
    if (!a->label_rows[code]) continue;
    const shoal_cover *cover = shoal_pair_cover(a, code);
    candidate bar = {code, cover->lo, cover->hi, 0, a->label_rows[code], false};
    bar.before = rows_before(s, cover, bar.after);
    if (cover->everything) {
      bar.before = *untaken;
      *untaken = 0;
    }
    bars[n++] = bar;
  }
  if (n > 1) qsort(bars, n, sizeof *bars, by_rows);
  return n;
}

static bool copy_bars(const shoal_pair_attribute *a, candidate *bars, size_t n, shoal_bar other,
                      shoal_arena *arena, shoal_attribute_measure *out) {
  if (n > 1) qsort(bars, n, sizeof *bars, by_place);
  out->bars = shoal_arena_alloc(arena, n + 1, sizeof *out->bars);
  if (!out->bars) return false;
  for (size_t i = 0; i < n && bars[i].shown; i++) {
    size_t size_bytes;
    const char *bytes = shoal_column_value(a->released, bars[i].code, &size_bytes);
    shoal_bar bar = {shoal_arena_text(arena, bytes, size_bytes), 1, bars[i].before, bars[i].after};
    if (!bar.label) return false;
    out->bars[out->n_bars++] = bar;
  }
  if (other.before > ROUNDING || other.after) out->bars[out->n_bars++] = other;
  return true;
}

static bool measure_bars(const shoal_pair *pair, const shoal_pair_attribute *a, shoal_arena *arena,
                         shoal_attribute_measure *out) {
  sharing s = {.a = a};
  candidate *bars = shoal_alloc(a->released->n_values, sizeof *bars);
  bool ok = bars && share_out(&s);
  if (ok) {
    uint64_t k = pair->k > 1 ? pair->k : 2;
    double untaken;
    size_t n = list_candidates(&s, bars, &untaken);
    shoal_bar other = hide_rare(bars, n, untaken, k);
    if (is_small(other.before, k) || is_small((double)other.after, k))
      other = (shoal_bar){0}; /* the whole table is a small cell */
    ok = copy_bars(a, bars, n, other, arena, out);
  }
  free(bars);
  free(s.density);
  free(s.share);
  return ok;
}

bool shoal_marginals_measure(const shoal_pair *pair, shoal_arena *arena, shoal_measures *measures) {
  for (size_t i = 0; i < pair->n_quasi + pair->n_sensitive; i++) {
    const shoal_pair_attribute *a = &pair->attributes[i];
    shoal_attribute_measure *out = &measures->attributes[i];
    out->name = shoal_arena_text(arena, a->attribute->name, strlen(a->attribute->name));
    if (!out->name || !measure_distances(pair, a, out) || !measure_bars(pair, a, arena, out))
      return false;
  }
  return true;
}
