/* SPDX-License-Identifier: Apache-2.0 */
/*
 * measure/losses: see losses.h. Sums run over labels with their counts, or over classes; never over
 * rows. Rows that are gone count as wholly lost in the measures that look at the whole table
 * (precision, ncp, entropy, ambiguity, loss); dm, avg and il look at released rows only, and leave
 * out blanked ones, as the papers do (docs/reading-the-papers.md R16).
 */
#include "measure/losses.h"

#include <math.h>
#include <stdlib.h>

/* Less is the rounding of logarithms: no two values of a table leave so little open. */
static const double ROUNDING = 1e-11;

uint32_t shoal_pair_blank_class(const shoal_pair *pair) {
  const shoal_frequency *f = pair->released;
  for (uint32_t c = 0; f->n_tuples > 1 && c < f->n_tuples; c++) {
    bool blank = true;
    for (size_t q = 0; blank && q < pair->n_quasi; q++)
      blank = shoal_pair_cover(&pair->attributes[q], shoal_code_at(f->codes[q], c))->everything;
    if (blank) return c;
  }
  return UINT32_MAX;
}

/* ------------------------------------------------------------ rows */

/* Rows that some sensitive value has more of than the original: they must be invented. */
static uint64_t noise_at_least(const shoal_pair *pair) {
  uint64_t before = pair->original->n_records, after = pair->released->n_records;
  uint64_t most = after > before ? after - before : 0;
  for (size_t s = 0; s < pair->n_sensitive; s++) {
    const shoal_pair_attribute *a = &pair->attributes[pair->n_quasi + s];
    uint64_t more = 0;
    for (uint32_t code = 0; code < a->released->n_values; code++) {
      const shoal_cover *cover = shoal_pair_cover(a, code);
      if (cover->n_places != 1) continue;
      uint64_t was = a->value_rows[cover->lo], is = a->label_rows[code];
      if (is > was) more += is - was;
    }
    if (more > most) most = more;
  }
  return most;
}

static void count_rows(const shoal_pair *pair, shoal_measures *m, uint32_t blank) {
  m->original_rows = pair->original->n_records;
  m->released_rows = pair->released->n_records;
  if (m->original_rows > m->released_rows) m->removed = m->original_rows - m->released_rows;
  if (blank != UINT32_MAX) m->blanked = pair->released->base.n_rows[blank];
  m->noise = noise_at_least(pair);
  uint64_t kept = m->released_rows - m->blanked;
  kept = kept > m->noise ? kept - m->noise : 0;
  m->completeness = m->original_rows ? (double)kept / (double)m->original_rows : NAN;
}

/* ------------------------------------------------------------ classes */

static void measure_sizes(const shoal_pair *pair, shoal_measures *m, uint32_t blank) {
  const shoal_frequency *f = pair->released;
  double rows = 0, n = 0;
  for (uint32_t c = 0; c < f->n_tuples; c++) {
    if (c == blank) continue;
    double size = (double)f->base.n_rows[c];
    m->dm += size * size;
    rows += size;
    n++;
  }
  m->avg = n > 0 ? rows / (n * (double)pair->k) : NAN;
  m->dm_suppressed = m->dm + (double)(m->removed + m->blanked) * (double)m->original_rows;
}

/* Combinations of values that a row can stand for, mean over all rows. */
static double ambiguity(const shoal_pair *pair, const shoal_measures *m) {
  const shoal_frequency *f = pair->released;
  double sum = 0, all = 1, rows = (double)(m->released_rows + m->removed);
  for (size_t q = 0; q < pair->n_quasi; q++) all *= pair->attributes[q].domain.n_places;
  for (uint32_t c = 0; c < f->n_tuples; c++) {
    double product = (double)f->base.n_rows[c];
    for (size_t q = 0; q < pair->n_quasi; q++)
      product *= shoal_pair_cover(&pair->attributes[q], shoal_code_at(f->codes[q], c))->n_places;
    sum += product;
  }
  return rows > 0 ? (sum + (double)m->removed * all) / rows : NAN;
}

static void count_disclosures(const shoal_pair *pair, shoal_measures *m) {
  m->p = pair->p > 1 ? pair->p : 2;
  for (size_t s = 0; s < pair->n_sensitive; s++)
    for (uint32_t c = 0; c < pair->released->n_tuples; c++)
      m->disclosures += shoal_classes_distinct(pair->released, &pair->released->base, c, s) == 1;
}

/* ------------------------------------------------------------ one attribute */

/* Bits that a label leaves open, by the original's distribution: sums up to each place. */
typedef struct open_bits {
  double *rows, *rows_log;
} open_bits;

static bool open_bits_init(open_bits *bits, const shoal_pair_attribute *a) {
  uint32_t n = a->domain.n_places;
  bits->rows = shoal_alloc((size_t)n + 1, sizeof *bits->rows);
  bits->rows_log = shoal_alloc((size_t)n + 1, sizeof *bits->rows_log);
  if (!bits->rows || !bits->rows_log) return false;
  bits->rows[0] = bits->rows_log[0] = 0;
  for (uint32_t place = 0; place < n; place++) {
    double rows = (double)a->value_rows[place];
    bits->rows[place + 1] = bits->rows[place] + rows;
    bits->rows_log[place + 1] = bits->rows_log[place] + (rows > 0 ? rows * log2(rows) : 0);
  }
  return true;
}

static double bits_between(const open_bits *bits, uint32_t lo, uint32_t end) {
  double rows = bits->rows[end] - bits->rows[lo];
  double sum = bits->rows_log[end] - bits->rows_log[lo];
  double open = rows > 0 ? log2(rows) - sum / rows : 0;
  return open > ROUNDING ? open : 0;
}

static double bits_of(const open_bits *bits, const shoal_pair_attribute *a,
                      const shoal_cover *cover) {
  if (cover->n_places <= 1) return 0;
  if (!cover->loose) return bits_between(bits, cover->lo, cover->hi + 1);
  double rows = 0, sum = 0;
  for (uint32_t place = cover->lo; place <= cover->hi; place++) {
    double n = (double)a->value_rows[place];
    if (n <= 0 || !shoal_domain_holds(&a->domain, cover, place)) continue;
    rows += n;
    sum += n * log2(n);
  }
  double open = rows > 0 ? log2(rows) - sum / rows : 0;
  return open > ROUNDING ? open : 0;
}

/* Sums over the cells of one quasi-identifier. */
typedef struct cell_sums {
  double il, precision, ncp, entropy, loss, width;
} cell_sums;

static double ncp_of(const shoal_domain *domain, const shoal_cover *cover) {
  if (domain->is_number) return cover->width;
  return cover->n_places > 1 ? (double)cover->n_places / domain->n_places : 0;
}

/* Sweeney's steps up the hierarchy where all labels are of one level; else heights of subtrees. */
static double steps_of(const shoal_pair_attribute *a, const shoal_cover *cover) {
  uint32_t level = a->domain.released[0].level;
  if (cover->everything) return cover->height_loss;
  if (!a->domain.hierarchy || level == SHOAL_NO_LEVEL) return cover->height_loss;
  return (double)level / shoal_hierarchy_height(a->domain.hierarchy);
}

static double in_its_unit(const shoal_domain *domain, double width) {
  if (!domain->all.has_low) return 0;
  return width * (shoal_decimal_double(domain->all.high) - shoal_decimal_double(domain->all.low));
}

static void add_cells(const shoal_pair_attribute *a, const open_bits *bits, cell_sums *sums,
                      shoal_attribute_measure *out) {
  for (uint32_t code = 0; code < a->released->n_values; code++) {
    const shoal_cover *cover = shoal_pair_cover(a, code);
    double rows = (double)a->label_rows[code];
    if (a->label_rows[code]) out->labels_after++;
    if (cover->everything) out->cells_suppressed += a->label_rows[code];
    else if (cover->n_places != 1) out->cells_generalized += a->label_rows[code];
    sums->il += rows * cover->height_loss;
    sums->precision += rows * steps_of(a, cover);
    sums->ncp += rows * ncp_of(&a->domain, cover);
    sums->entropy += rows * bits_of(bits, a, cover);
    sums->loss += rows * cover->leaves_loss;
    sums->width += rows * in_its_unit(&a->domain, cover->width);
  }
}

/* What one row loses that says nothing at all. */
static cell_sums most_lost(const shoal_pair_attribute *a, const open_bits *bits) {
  const shoal_domain *domain = &a->domain;
  double any = domain->n_places > 1;
  double tree = domain->hierarchy ? domain->hierarchy->tree_height > 0 : any;
  return (cell_sums){.il = tree,
                     .precision = tree,
                     .ncp = any,
                     .entropy = bits_between(bits, 0, domain->n_places),
                     .loss = any};
}

static const char *kind_of(const shoal_domain *domain) {
  return domain->hierarchy ? "tree" : domain->is_number ? "number" : "text";
}

/* Cells that say nothing are of the top level; in blanked rows they are no choice of a level. */
static void find_level(const shoal_pair_attribute *a, uint64_t blanked,
                       shoal_attribute_measure *out) {
  uint32_t level = a->domain.released[0].level;
  out->has_level =
      level != SHOAL_NO_LEVEL && (out->cells_suppressed <= blanked || level == out->height);
  out->level = out->has_level ? level : 0;
}

static void describe(const shoal_pair_attribute *a, shoal_attribute_measure *out) {
  const shoal_domain *domain = &a->domain;
  out->quasi = true;
  out->kind = kind_of(domain);
  out->height = domain->hierarchy ? shoal_hierarchy_height(domain->hierarchy) : 0;
  for (uint32_t place = 0; place < domain->n_places; place++)
    out->values_before += a->value_rows[place] > 0;
}

/* Fills one attribute and adds to the totals. False without memory. */
static bool measure_attribute(const shoal_pair_attribute *a, uint64_t blanked, shoal_measures *m,
                              shoal_attribute_measure *out) {
  open_bits bits = {0};
  cell_sums sums = {0};
  bool ok = open_bits_init(&bits, a);
  if (ok) {
    describe(a, out);
    add_cells(a, &bits, &sums, out);
    find_level(a, blanked, out);
    cell_sums most = most_lost(a, &bits);
    double released = (double)m->released_rows, removed = (double)m->removed;
    double kept = released - (double)blanked, all = released + removed;
    double il = sums.il - (double)blanked * most.il;
    m->il += il;
    out->il = kept > 0 ? il / kept : NAN;
    out->precision = all > 0 ? 1 - (sums.precision + removed * most.precision) / all : NAN;
    out->ncp = all > 0 ? (sums.ncp + removed * most.ncp) / all : NAN;
    out->entropy = sums.entropy + removed * most.entropy;
    out->entropy_share = most.entropy > 0 && all > 0 ? out->entropy / (all * most.entropy) : 0;
    out->loss = all > 0 ? (sums.loss + removed * most.loss) / all : NAN;
    out->mean_width = a->domain.is_number && released > 0 ? sums.width / released : NAN;
    m->entropy += out->entropy;
    m->entropy_share += all * most.entropy; /* what could be lost; a share once all are there */
    m->cells_suppressed += out->cells_suppressed + m->removed;
    m->cells += m->released_rows + m->removed;
  }
  free(bits.rows);
  free(bits.rows_log);
  return ok;
}

/* ------------------------------------------------------------ together */

/* A full-domain release has a node: one level for each quasi-identifier. */
static void measure_node(const shoal_pair *pair, shoal_measures *m) {
  double n = (double)pair->n_quasi, height = 0, top = 0, relative = 0;
  bool told = m->released_rows > 0;
  for (size_t q = 0; q < pair->n_quasi; q++) {
    const shoal_attribute_measure *a = &m->attributes[q];
    told = told && a->has_level;
    height += a->level;
    top += a->height;
    if (a->height) relative += (double)a->level / a->height;
  }
  m->accuracy = told ? 1 - relative / n : 1 - m->nil;
  m->height_accuracy = told ? 1 - (top > 0 ? height / top : 0) : NAN;
  m->absolute_distance = told ? height : NAN;
  m->relative_distance = told ? relative : NAN;
}

static void measure_means(const shoal_pair *pair, shoal_measures *m) {
  double n = (double)pair->n_quasi, product = 1;
  double kept = (double)(m->released_rows - m->blanked);
  m->nil = kept > 0 ? m->il / (kept * n) : NAN;
  for (size_t q = 0; q < pair->n_quasi; q++) {
    const shoal_attribute_measure *a = &m->attributes[q];
    m->precision += a->precision / n;
    m->ncp += a->ncp / n;
    product *= pow(1 + a->loss, 1 / n);
  }
  m->loss = product - 1;
  m->entropy_share = m->entropy_share > 0 ? m->entropy / m->entropy_share : 0;
}

bool shoal_losses_measure(const shoal_pair *pair, shoal_measures *measures) {
  uint32_t blank = shoal_pair_blank_class(pair);
  count_rows(pair, measures, blank);
  measure_sizes(pair, measures, blank);
  measures->ambiguity = ambiguity(pair, measures);
  count_disclosures(pair, measures);
  for (size_t q = 0; q < pair->n_quasi; q++)
    if (!measure_attribute(&pair->attributes[q], measures->blanked, measures,
                           &measures->attributes[q]))
      return false;
  measure_means(pair, measures);
  measure_node(pair, measures);
  return true;
}
