/* SPDX-License-Identifier: Apache-2.0 */
/*
 * measure/losses: sums over labels or classes with their counts, never over rows. In measures of
 * the whole table (precision, ncp, entropy, ambiguity, loss), removed rows count as completely
 * lost. dm, avg and il count released rows only, without blanked ones, as in the papers
 * (docs/reading-the-papers.md R16).
 */
#include "measure/parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Smaller values are rounding errors of logarithms: two values of a table differ by more. */
static const double ROUNDING = 1e-11;

/* ------------------------------------------------------------ rows */

/* A sensitive value with more rows than in the original has noise rows: a lower bound of them. */
static uint64_t noise_at_least(const shoal_release_pair *pair) {
  uint64_t before = pair->original->n_records, after = pair->released->n_records;
  uint64_t most = after > before ? after - before : 0;
  for (size_t s = 0; s < pair->n_sensitive; s++) {
    const shoal_release_pair_attribute *a = &pair->attributes[pair->n_quasi + s];
    uint64_t more = 0;
    for (uint32_t code = 0; code < a->released->n_values; code++) {
      const shoal_label_span *span = shoal_release_pair_span(a, code);
      if (span->n_positions != 1) continue;
      uint64_t was = a->value_rows[span->lo], is = a->label_rows[code];
      if (is > was) more += is - was;
    }
    if (more > most) most = more;
  }
  return most;
}

/* The class whose labels all cover everything, if there are others; SHOAL_NONE: none. */
static uint32_t class_of_stars(const shoal_release_pair *pair) {
  const shoal_frequency_set *f = pair->released;
  for (uint32_t c = 0; f->n_tuples > 1 && c < f->n_tuples; c++) {
    bool stars = true;
    for (size_t q = 0; stars && q < pair->n_quasi; q++)
      stars =
          shoal_release_pair_span(&pair->attributes[q], shoal_code_at(f->codes[q], c))->everything;
    if (stars) return c;
  }
  return SHOAL_NONE;
}

/* Whether the original's value becomes a star at the level that all labels of the column have. */
static bool becomes_star(const shoal_release_pair_attribute *a, uint32_t value) {
  const shoal_hierarchy *hierarchy = a->domain.hierarchy;
  uint32_t level = a->domain.released[0].level;
  if (shoal_attribute_has_sets(a->attribute)) return shoal_release_pair_hides_sets(a);
  if (!hierarchy || level == SHOAL_NONE) return false;
  uint32_t leaf = a->domain.leaf_at[shoal_domain_position(&a->domain, 0, value)];
  const shoal_level *labels = &hierarchy->levels[level];
  size_t label_size, top_size;
  const char *label = shoal_level_label(labels, labels->of_leaf[leaf], &label_size);
  const char *top = shoal_level_label(&hierarchy->levels[hierarchy->n_levels - 1], 0, &top_size);
  return label_size == top_size && memcmp(label, top, top_size) == 0;
}

/* Rows of the original that a full-domain release generalizes to stars, if they are a class. */
static uint64_t count_stars_of_node(const shoal_release_pair *pair) {
  const shoal_frequency_set *f = pair->original;
  uint64_t n = 0;
  for (uint32_t t = 0; t < f->n_tuples; t++) {
    bool stars = true;
    for (size_t q = 0; stars && q < pair->n_quasi; q++)
      stars = becomes_star(&pair->attributes[q], shoal_code_at(f->codes[q], t));
    if (stars) n += f->base.n_rows[t];
  }
  return n >= pair->k ? n : 0;
}

/*
 * Rows of stars are blanked rows if the policy blanks suppressed rows, and if no row was removed:
 * suppressed rows are all blanked, or all removed. The rest of them is a class that was generalized
 * to the top. More stars than rows may be suppressed are such a class too.
 */
static uint64_t count_blanked(const shoal_release_pair *pair, const shoal_measures *m,
                              uint32_t stars) {
  if (stars == SHOAL_NONE || !pair->origin.max_blanked) return 0;
  uint64_t n = pair->released->base.n_rows[stars], most = pair->origin.max_blanked;
  if (pair->origin.exact) return n < most ? n : most;
  if (m->removed) return 0;
  uint64_t generalized = pair->origin.local ? 0 : count_stars_of_node(pair);
  n -= generalized < n ? generalized : n;
  return n <= most ? n : 0;
}

/* ------------------------------------------------------------ classes */

/* Mean number of combinations of values that a row covers. */
static double ambiguity(const shoal_release_pair *pair, const shoal_measures *m) {
  const shoal_frequency_set *f = pair->released;
  double sum = 0, all = 1, rows = (double)(m->released_rows + m->removed);
  for (size_t q = 0; q < pair->n_quasi; q++) all *= pair->attributes[q].domain.n_positions;
  for (uint32_t c = 0; c < f->n_tuples; c++) {
    double product = (double)f->base.n_rows[c];
    for (size_t q = 0; q < pair->n_quasi; q++)
      product *=
          shoal_release_pair_span(&pair->attributes[q], shoal_code_at(f->codes[q], c))->n_positions;
    sum += product;
  }
  return rows > 0 ? (sum + (double)m->removed * all) / rows : NAN;
}

/* ------------------------------------------------------------ one attribute */

/*
 * Prefix sums by position, for the bits that a label leaves open under the original's distribution.
 */
typedef struct open_bits {
  double *rows, *rows_log;
} open_bits;

static bool open_bits_init(open_bits *bits, const shoal_release_pair_attribute *a) {
  uint32_t n = a->domain.n_positions;
  bits->rows = shoal_alloc((size_t)n + 1, sizeof *bits->rows);
  bits->rows_log = shoal_alloc((size_t)n + 1, sizeof *bits->rows_log);
  if (!bits->rows || !bits->rows_log) return false;
  bits->rows[0] = bits->rows_log[0] = 0;
  for (uint32_t position = 0; position < n; position++) {
    double rows = (double)a->value_rows[position];
    bits->rows[position + 1] = bits->rows[position] + rows;
    bits->rows_log[position + 1] = bits->rows_log[position] + (rows > 0 ? rows * log2(rows) : 0);
  }
  return true;
}

static double bits_between(const open_bits *bits, uint32_t lo, uint32_t end) {
  double rows = bits->rows[end] - bits->rows[lo];
  double sum = bits->rows_log[end] - bits->rows_log[lo];
  double open = rows > 0 ? log2(rows) - sum / rows : 0;
  return open > ROUNDING ? open : 0;
}

static double bits_of(const open_bits *bits, const shoal_release_pair_attribute *a,
                      const shoal_label_span *span) {
  if (span->n_positions <= 1) return 0;
  if (!span->loose) return bits_between(bits, span->lo, span->hi + 1);
  double rows = 0, sum = 0;
  for (uint32_t position = span->lo; position <= span->hi; position++) {
    double n = (double)a->value_rows[position];
    if (n <= 0 || !shoal_domain_holds(&a->domain, span, position)) continue;
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

static double ncp_of(const shoal_domain *domain, const shoal_label_span *span) {
  if (domain->is_number) return span->width;
  return span->n_positions > 1 ? (double)span->n_positions / domain->n_positions : 0;
}

/* Sweeney's steps up the hierarchy if all labels are of one level; else heights of subtrees. */
static double steps_of(const shoal_release_pair_attribute *a, const shoal_label_span *span) {
  uint32_t level = a->domain.released[0].level;
  if (span->everything) return span->height_loss;
  if (!a->domain.hierarchy || level == SHOAL_NONE) return span->height_loss;
  return (double)level / shoal_hierarchy_height(a->domain.hierarchy);
}

static double in_its_unit(const shoal_domain *domain, double width) {
  if (!domain->all.has_low) return 0;
  return width * (shoal_decimal_double(domain->all.high) - shoal_decimal_double(domain->all.low));
}

static void add_cells(const shoal_release_pair_attribute *a, const open_bits *bits, cell_sums *sums,
                      shoal_attribute_measure *out) {
  for (uint32_t code = 0; code < a->released->n_values; code++) {
    const shoal_label_span *span = shoal_release_pair_span(a, code);
    double rows = (double)a->label_rows[code];
    if (a->label_rows[code]) out->labels_after++;
    if (span->everything) out->cells_suppressed += a->label_rows[code];
    else if (span->n_positions != 1) out->cells_generalized += a->label_rows[code];
    sums->il += rows * span->height_loss;
    sums->precision += rows * steps_of(a, span);
    sums->ncp += rows * ncp_of(&a->domain, span);
    sums->entropy += rows * bits_of(bits, a, span);
    sums->loss += rows * span->leaves_loss;
    sums->width += rows * in_its_unit(&a->domain, span->width);
  }
}

/* The loss of a row in which the attribute is fully suppressed. */
static cell_sums max_lost(const shoal_release_pair_attribute *a, const open_bits *bits) {
  const shoal_domain *domain = &a->domain;
  double any = domain->n_positions > 1;
  double tree = domain->hierarchy ? domain->hierarchy->tree_height > 0 : any;
  return (cell_sums){.il = tree,
                     .precision = tree,
                     .ncp = any,
                     .entropy = bits_between(bits, 0, domain->n_positions),
                     .loss = any};
}

static const char *kind_of(const shoal_domain *domain) {
  return domain->hierarchy ? "tree" : domain->is_number ? "number" : "text";
}

/* All cells have labels of one level, except the stars of blanked rows and suppressed cells. */
static void find_level(const shoal_release_pair_attribute *a, bool cells, uint64_t blanked,
                       shoal_attribute_measure *out) {
  uint32_t level = a->domain.released[0].level;
  uint64_t off_level = 0;
  for (uint32_t code = 0; code < a->released->n_values; code++)
    if (shoal_release_pair_span(a, code)->off_level) off_level += a->label_rows[code];
  if (shoal_release_pair_hides_sets(a)) { /* full-domain recoding: the top */
    out->has_level = true;
    out->level = 1;
    return;
  }
  out->has_level = level != SHOAL_NONE && (cells || off_level <= blanked);
  out->level = out->has_level ? level : 0;
}

/* Fills one attribute and adds to the totals. False: no memory. */
static bool measure_attribute(const shoal_release_pair_attribute *a, bool cells, uint64_t blanked,
                              shoal_measures *m, shoal_attribute_measure *out) {
  open_bits bits = {0};
  cell_sums sums = {0};
  bool ok = open_bits_init(&bits, a);
  if (ok) {
    const shoal_domain *domain = &a->domain;
    out->quasi = true;
    out->kind = kind_of(domain);
    if (domain->hierarchy) out->height = shoal_hierarchy_height(domain->hierarchy);
    else out->height = shoal_attribute_has_sets(a->attribute);
    for (uint32_t position = 0; position < domain->n_positions; position++)
      out->values_before += a->value_rows[position] > 0;
    add_cells(a, &bits, &sums, out);
    find_level(a, cells, blanked, out);
    cell_sums most = max_lost(a, &bits);
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
    out->days = a->attribute->coding.dates;
    out->mean_width = a->domain.is_number && released > 0 ? sums.width / released : NAN;
    m->entropy += out->entropy;
    m->entropy_share += all * most.entropy; /* the maximum loss; becomes a share at the end */
    m->cells_suppressed += out->cells_suppressed + m->removed;
    m->cells += m->released_rows + m->removed;
  }
  free(bits.rows);
  free(bits.rows_log);
  return ok;
}

/* ------------------------------------------------------------ together */

/* A full-domain release has a node: one level for each quasi-identifier. A local one has none, even
 * if its labels look so. */
static void measure_node(const shoal_release_pair *pair, shoal_measures *m) {
  double n = (double)pair->n_quasi, height = 0, top = 0, relative = 0;
  bool full_domain = m->released_rows > 0 && !pair->origin.local;
  for (size_t q = 0; q < pair->n_quasi; q++) {
    const shoal_attribute_measure *a = &m->attributes[q];
    full_domain = full_domain && a->has_level;
    height += a->level;
    top += a->height;
    if (a->height) relative += (double)a->level / a->height;
  }
  m->accuracy = full_domain ? 1 - relative / n : 1 - m->nil;
  m->height_accuracy = full_domain ? 1 - (top > 0 ? height / top : 0) : NAN;
  m->absolute_distance = full_domain ? height : NAN;
  m->relative_distance = full_domain ? relative : NAN;
}

static void measure_means(const shoal_release_pair *pair, shoal_measures *m) {
  double n = (double)pair->n_quasi, product = 1;
  double kept = (double)(m->released_rows - m->blanked);
  m->nil = kept > 0 ? m->il / (kept * n) : NAN;
  m->release_loss = kept > 0 ? 1 - m->completeness * (1 - m->nil) : 1;
  for (size_t q = 0; q < pair->n_quasi; q++) {
    const shoal_attribute_measure *a = &m->attributes[q];
    m->precision += a->precision / n;
    m->ncp += a->ncp / n;
    product *= pow(1 + a->loss, 1 / n);
  }
  m->loss = product - 1;
  m->entropy_share = m->entropy_share > 0 ? m->entropy / m->entropy_share : 0;
}

bool shoal_losses_measure(const shoal_release_pair *pair, shoal_measures *measures) {
  uint32_t stars = class_of_stars(pair);
  measures->original_rows = pair->original->n_records;
  measures->released_rows = pair->released->n_records;
  if (measures->original_rows > measures->released_rows)
    measures->removed = measures->original_rows - measures->released_rows;
  measures->blanked = count_blanked(pair, measures, stars);
  measures->noise = noise_at_least(pair);
  uint64_t kept = measures->released_rows - measures->blanked;
  kept = kept > measures->noise ? kept - measures->noise : 0;
  measures->completeness =
      measures->original_rows ? (double)kept / (double)measures->original_rows : NAN;
  const shoal_frequency_set *f = pair->released;
  double rows = 0, n = 0;
  for (uint32_t c = 0; c < f->n_tuples; c++) {
    double size = (double)(f->base.n_rows[c] - (c == stars ? measures->blanked : 0));
    if (size <= 0) continue;
    measures->dm += size * size;
    rows += size;
    n++;
  }
  measures->avg = n > 0 ? rows / (n * (double)pair->k) : NAN;
  measures->dm_suppressed = measures->dm + (double)(measures->removed + measures->blanked) *
                                               (double)measures->original_rows;
  measures->ambiguity = ambiguity(pair, measures);
  measures->p = pair->p > 1 ? pair->p : 2;
  for (size_t s = 0; s < pair->n_sensitive; s++)
    for (uint32_t c = 0; c < pair->released->n_tuples; c++)
      measures->disclosures +=
          shoal_classes_distinct(pair->released, &pair->released->base, c, s) == 1;
  for (size_t q = 0; q < pair->n_quasi; q++)
    if (!measure_attribute(&pair->attributes[q], pair->origin.cells, measures->blanked, measures,
                           &measures->attributes[q]))
      return false;
  measure_means(pair, measures);
  measure_node(pair, measures);
  return true;
}
