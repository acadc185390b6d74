/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unit tests of src/cluster/{axes,fit,flock*}.c on random tables of numbers, trees and missing
 * values: what a span loses and which rows fit, against slow computations; for every aim, clusters
 * that are a partition, fit and are no more than there can be; threads change nothing; a run can be
 * stopped; and no allocation that fails is forgotten.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "scarce_memory.h"

#include "base/random.h"
#include "base/text.h"
#include "cluster/cluster.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define UNUSED __attribute__((unused))

enum { MOST_AXES = 80, MOST_SENSITIVE = 3, MOST_COLUMNS = MOST_AXES + MOST_SENSITIVE + 1 };

/* ---------------------------------------------------------------- tables */

#define TREE "{a: {b: [v0, v1, v2], c: [v3]}, d: {e: [v4, v5], f: [v6, v7, v8]}}"
#define PADDED                                                                                     \
  "{a: {a: [v0, v1]}, d: {e: [v2, v3], d2: [v4]}, v5: {v5: [v5]}, g: {h: [v6, v7, v8]}}"

/*
 * Quasi-identifiers: n a number, m one with missing values, t and u trees (u: padded), w a tree
 * with missing values. Then sensitive attributes, and a guard column behind them.
 */
typedef struct shape {
  size_t n_rows;
  char kinds[MOST_AXES + 1];
  uint64_t n_values; /* of numbers */
  size_t n_sensitive;
  uint64_t n_sensitive_values;
  bool heavy;  /* half of the cells have one value */
  bool skewed; /* sensitive values: the first ones are frequent */
  bool gaps;   /* some sensitive values are missing */
  bool tied;   /* the first sensitive value follows from the first quasi-identifier */
  uint64_t k, p;
  const char *models; /* "" or a list of more */
} shape;

typedef struct fixture {
  const shape *s;
  size_t n_quasi, n_rows;
  shoal_table *table;
  shoal_policy *policy;
  shoal_hierarchy *hierarchies[MOST_COLUMNS];
  shoal_sensitive sensitive[MOST_SENSITIVE];
  shoal_tracked tracked;
  const shoal_column *tracked_columns[2 * MOST_COLUMNS];
  shoal_track track[2 * MOST_COLUMNS];
  shoal_demands demands;
  shoal_frequency *frequency;
  shoal_axes axes;
  shoal_fit fit;
  shoal_judging judging;
  shoal_error error;
} fixture;

static void succeeds(const fixture *f, shoal_status status) {
  if (status != SHOAL_OK) fail_msg("%s", f->error.message);
}

static uint32_t below(shoal_random *random, uint64_t bound) {
  return (uint32_t)shoal_random_below(random, bound);
}

static void read_policy(fixture *f) {
  const shape *s = f->s;
  shoal_text text = {0};
  shoal_text_add(&text, "shoal: 1\ndata: {missing: ['?']}\nattributes:\n");
  for (size_t q = 0; q < f->n_quasi; q++)
    shoal_text_print(&text, "  q%zu: {role: quasi, %s}\n", q,
                     s->kinds[q] == 'u'                         ? "hierarchy: {tree: " PADDED "}"
                     : s->kinds[q] == 't' || s->kinds[q] == 'w' ? "hierarchy: {tree: " TREE "}"
                                                                : "type: number");
  for (size_t i = 0; i < s->n_sensitive; i++)
    shoal_text_print(&text,
                     "  s%zu: {role: sensitive, hierarchy: {tree: " TREE "}, protect: [b, e], "
                     "categories: [[v0, v3], [v1, v4, v5], [v2, v6, v7, v8]]}\n",
                     i);
  shoal_text_print(&text, "  g: {role: keep}\nprivacy: {k: %u", (unsigned)s->k);
  if (s->p) shoal_text_print(&text, ", p: %u", (unsigned)s->p);
  shoal_text_print(&text, "%s%s}\n", *s->models ? ", models: " : "", s->models);
  succeeds(f,
           shoal_policy_parse(text.bytes, text.size_bytes, "policy", ".", &f->policy, &f->error));
  shoal_text_reset(&text);
}

static void draw_quasi(shoal_text *text, const shape *s, char kind, shoal_random *random) {
  bool tree = kind == 't' || kind == 'u' || kind == 'w';
  uint32_t value = below(random, tree ? 9 : s->n_values);
  if ((kind == 'm' || kind == 'w') && below(random, 5) == 0) shoal_text_add(text, "?");
  else if (s->heavy && below(random, 2)) shoal_text_add(text, tree ? "v1" : "1");
  else if (tree) shoal_text_print(text, "v%u", value);
  else shoal_text_print(text, value % 3 ? "%u" : "%u.0", value); /* one number, two texts */
}

static void draw_sensitive(shoal_text *text, const shape *s, shoal_random *random) {
  uint32_t value = below(random, s->n_sensitive_values);
  if (s->skewed && value) value = below(random, value);
  if (s->gaps && below(random, 6) == 0) shoal_text_add(text, "?");
  else shoal_text_print(text, "v%u", value);
}

static void draw_cell(shoal_text *text, const fixture *f, size_t column, size_t row,
                      shoal_random *random) {
  static const char *const guards[] = {"?", "a", "b", "e", "v3"};
  const shape *s = f->s;
  if (s->tied && column == 0) shoal_text_print(text, "%zu", row);
  else if (s->tied && column == f->n_quasi)
    shoal_text_print(text, "v%zu", row * s->n_sensitive_values / s->n_rows);
  else if (column < f->n_quasi) draw_quasi(text, s, s->kinds[column], random);
  else if (column < f->n_quasi + s->n_sensitive) draw_sensitive(text, s, random);
  else shoal_text_add(text, guards[below(random, COUNT(guards))]);
}

static void draw_table(fixture *f, shoal_random *random) {
  size_t n_columns = f->n_quasi + f->s->n_sensitive + 1;
  shoal_text texts[MOST_COLUMNS] = {{0}};
  uint64_t *offsets[MOST_COLUMNS];
  shoal_text_view views[MOST_COLUMNS];
  char names[MOST_COLUMNS][16];
  const char *pointers[MOST_COLUMNS];
  for (size_t c = 0; c < n_columns; c++) {
    size_t sensitive = c - f->n_quasi;
    if (c + 1 == n_columns) (void)snprintf(names[c], sizeof names[c], "g");
    else if (c < f->n_quasi) (void)snprintf(names[c], sizeof names[c], "q%u", (unsigned)c);
    else (void)snprintf(names[c], sizeof names[c], "s%u", (unsigned)sensitive);
    pointers[c] = names[c];
    offsets[c] = calloc(f->n_rows + 1, sizeof **offsets);
    assert_non_null(offsets[c]);
    for (size_t r = 0; r < f->n_rows; r++) {
      draw_cell(&texts[c], f, c, r, random);
      offsets[c][r + 1] = texts[c].size_bytes;
    }
    views[c] = (shoal_text_view){texts[c].bytes, offsets[c]};
  }
  succeeds(f, shoal_table_new(pointers, n_columns, &f->table, &f->error));
  succeeds(f, shoal_table_append(f->table, views, n_columns, f->n_rows, NULL, &f->error));
  succeeds(f, shoal_table_finish(f->table, f->policy, SHOAL_FOR_RELEASE, &f->error));
  for (size_t c = 0; c < n_columns; c++) {
    shoal_text_reset(&texts[c]);
    free(offsets[c]);
  }
}

static void compile_hierarchies(fixture *f) {
  for (size_t c = 0; c < f->n_quasi + f->s->n_sensitive; c++) {
    const shoal_column *column = &f->table->columns[c];
    const shoal_attribute *attribute = shoal_policy_attribute(f->policy, column->name);
    const shoal_hierarchy_options options = {.attribute = column->name};
    if (attribute->has_hierarchy)
      succeeds(f, shoal_hierarchy_compile(&attribute->hierarchy, f->table, column, &options,
                                          &f->hierarchies[c], &f->error));
    if (c >= f->n_quasi)
      f->sensitive[c - f->n_quasi] = (shoal_sensitive){
          .column = column, .attribute = attribute, .hierarchy = f->hierarchies[c]};
  }
}

static void setup_weighted(fixture *f, const shape *s, const shoal_decimal *weights,
                           shoal_loss_kind kind, uint64_t seed) {
  const shoal_column *quasi[MOST_AXES];
  shoal_random random;
  shoal_random_seed(&random, seed);
  *f = (fixture){.s = s, .n_quasi = strlen(s->kinds), .n_rows = s->n_rows};
  read_policy(f);
  draw_table(f, &random);
  compile_hierarchies(f);
  for (size_t q = 0; q < f->n_quasi; q++) quasi[q] = &f->table->columns[q];
  f->tracked = (shoal_tracked){.sensitive = f->sensitive,
                               .n_sensitive = s->n_sensitive,
                               .columns = f->tracked_columns,
                               .track = f->track};
  succeeds(f, shoal_demands_bind(f->policy, f->table, &f->tracked, &f->demands, &f->error));
  succeeds(f, shoal_frequency_build(f->table, quasi, (const shoal_hierarchy *const *)f->hierarchies,
                                    f->n_quasi, f->tracked.columns, f->tracked.track,
                                    f->tracked.n_columns, NULL, &f->frequency, &f->error));
  succeeds(f, shoal_axes_init(&f->axes, f->frequency, weights, kind, &f->error));
  succeeds(f,
           shoal_fit_init(&f->fit, &f->demands, &f->tracked, f->table, SHOAL_FIT_GIVEN, &f->error));
  succeeds(f, shoal_judging_init(&f->judging, &f->fit, &f->error));
}

static void setup(fixture *f, const shape *s, uint64_t seed) {
  setup_weighted(f, s, NULL, SHOAL_LOSS_HEIGHT, seed);
}

static void teardown(fixture *f) {
  shoal_judging_reset(&f->judging);
  shoal_fit_reset(&f->fit);
  shoal_axes_reset(&f->axes);
  shoal_frequency_free(f->frequency);
  shoal_demands_reset(&f->demands);
  for (size_t c = 0; c < MOST_COLUMNS; c++) shoal_hierarchy_free(f->hierarchies[c]);
  shoal_table_free(f->table);
  shoal_policy_free(f->policy);
}

static shape draw_shape(shoal_random *random, size_t most_rows) {
  static const uint64_t values[] = {2, 10, 60, 100000, 4000000000};
  shape s = {.n_rows = 1 + below(random, most_rows), .models = ""};
  size_t n_axes = 1 + below(random, 4);
  for (size_t q = 0; q < n_axes; q++) s.kinds[q] = "nmtuw"[below(random, 5)];
  s.n_values = values[below(random, COUNT(values))];
  s.n_sensitive = 1 + below(random, MOST_SENSITIVE);
  s.n_sensitive_values = 2 + below(random, 7);
  s.heavy = below(random, 3) == 0;
  s.skewed = below(random, 2);
  s.gaps = below(random, 3) == 0;
  s.k = 1 + below(random, s.n_rows < 8 ? s.n_rows : 8);
  s.p = below(random, 4) ? 1 + below(random, 5) : 0;
  return s;
}

/* ---------------------------------------------------------------- axes, slowly */

static bool same_label(const shoal_level *a, uint32_t x, const shoal_level *b, uint32_t y) {
  size_t size_a, size_b;
  const char *text_a = shoal_level_label(a, x, &size_a), *text_b = shoal_level_label(b, y, &size_b);
  return size_a == size_b && memcmp(text_a, text_b, size_a) == 0;
}

/* The height of the subtree below a label, steps to a label of the same text not counted. */
static uint32_t slow_height(const shoal_hierarchy *h, uint32_t level, uint32_t leaf) {
  uint32_t highest = 0;
  for (uint32_t v = 0; v < h->n_leaves; v++) {
    uint32_t steps = 0;
    if (!same_label(&h->levels[level], h->levels[level].of_leaf[v], &h->levels[level],
                    h->levels[level].of_leaf[leaf]))
      continue;
    for (uint32_t l = 0; l < level; l++)
      steps += !same_label(&h->levels[l], h->levels[l].of_leaf[v], &h->levels[l + 1],
                           h->levels[l + 1].of_leaf[v]);
    if (steps > highest) highest = steps;
  }
  return highest;
}

static double slow_tree_loss(const shoal_hierarchy *h, const uint32_t *codes, size_t n,
                             shoal_loss_kind kind) {
  uint32_t level = 0, leaves = 0;
  for (size_t i = 1; i < n; i++)
    while (!same_label(&h->levels[level], h->levels[level].of_leaf[codes[0]], &h->levels[level],
                       h->levels[level].of_leaf[codes[i]]))
      level++;
  for (uint32_t v = 0; v < h->n_leaves; v++)
    leaves += h->levels[level].of_leaf[v] == h->levels[level].of_leaf[codes[0]];
  if (kind == SHOAL_LOSS_LEAVES) return (leaves - 1.0) / (h->n_leaves - 1.0);
  return (double)slow_height(h, level, codes[0]) / slow_height(h, h->n_levels - 1, codes[0]);
}

static double number_of(const shoal_column *column, uint32_t code) {
  size_t size;
  char text[32];
  const char *bytes = shoal_column_value(column, code, &size);
  (void)snprintf(text, sizeof text, "%.*s", (int)size, bytes);
  return strtod(text, NULL);
}

/* (max - min) / (range of the column); 1 with a missing value beside numbers. */
static double slow_number_loss(const shoal_column *column, const uint32_t *codes, size_t n) {
  double low = INFINITY, high = -INFINITY, least = INFINITY, greatest = -INFINITY;
  bool missing = false;
  for (uint32_t v = 0; v < column->n_values; v++) {
    if (shoal_column_missing(column, v)) continue;
    least = fmin(least, number_of(column, v));
    greatest = fmax(greatest, number_of(column, v));
  }
  for (size_t i = 0; i < n; i++) {
    missing = missing || shoal_column_missing(column, codes[i]);
    if (shoal_column_missing(column, codes[i])) continue;
    low = fmin(low, number_of(column, codes[i]));
    high = fmax(high, number_of(column, codes[i]));
  }
  if (missing) return high >= low;
  return greatest > least ? (high - low) / (greatest - least) : 0;
}

static void check_losses(const fixture *f, shoal_loss_kind kind, shoal_random *random) {
  uint32_t rows[6], codes[6];
  shoal_span extent[MOST_AXES];
  size_t n = 1 + below(random, COUNT(rows));
  uint64_t sum = 0;
  for (size_t i = 0; i < n; i++) {
    rows[i] = below(random, f->n_rows);
    const uint32_t *places = shoal_axes_row(&f->axes, rows[i]);
    if (i) shoal_extent_add(&f->axes, extent, places);
    else shoal_extent_start(&f->axes, extent, places);
  }
  for (size_t q = 0; q < f->n_quasi; q++) {
    const shoal_column *column = &f->table->columns[q];
    const shoal_axis *axis = &f->axes.items[q];
    for (size_t i = 0; i < n; i++) codes[i] = shoal_column_code(column, rows[i]);
    double part = f->hierarchies[q] ? slow_tree_loss(f->hierarchies[q], codes, n, kind)
                                    : slow_number_loss(column, codes, n);
    uint32_t loss = shoal_axis_loss(axis, extent[q].lo, extent[q].hi);
    sum += loss;
    assert_int_equal(loss, shoal_axis_loss_slow(axis, extent[q].lo, extent[q].hi));
    double off = fabs(loss - part * axis->full);
    if (off > (f->axes.exact ? 1e-3 : 1.001))
      fail_msg("axis %zu (%c) loses %u of %u, not %f", q, f->s->kinds[q], loss, axis->full, part);
  }
  assert_int_equal(sum, shoal_extent_loss(&f->axes, extent));
  assert_int_equal(sum,
                   shoal_extent_loss_with(&f->axes, extent, shoal_axes_row(&f->axes, rows[0])));
}

static void check_weights(const fixture *f, const uint32_t *weights, uint32_t sum) {
  uint64_t all = 0;
  for (size_t q = 0; q < f->n_quasi; q++) all += f->axes.items[q].full;
  assert_true(all <= SHOAL_MOST_LOSS);
  for (size_t q = 0; q < f->n_quasi; q++) {
    double part = (double)f->axes.items[q].full / (double)all, wanted = (double)weights[q] / sum;
    assert_true(fabs(part - wanted) < 1e-7);
    if (f->axes.exact) assert_int_equal(f->axes.items[q].full * (uint64_t)sum, weights[q] * all);
  }
}

static void losses_are_those_of_the_definitions(void **state UNUSED) {
  shoal_random random;
  shoal_random_seed(&random, 41);
  uint32_t n_exact = 0, n_rounded = 0, n_paired = 0, n_unpaired = 0;
  for (uint64_t seed = 0; seed < 300; seed++) {
    fixture f;
    shape s = draw_shape(&random, 300);
    uint32_t weights[MOST_AXES], sum = 0;
    shoal_decimal decimals[MOST_AXES];
    for (size_t q = 0; s.kinds[q]; q++) {
      weights[q] = seed % 2 ? 10 : 5 * (1 + below(&random, 40)); /* in tenths */
      sum += weights[q];
      decimals[q] = (shoal_decimal){weights[q], 1};
    }
    shoal_loss_kind kind = seed % 3 ? SHOAL_LOSS_HEIGHT : SHOAL_LOSS_LEAVES;
    setup_weighted(&f, &s, seed % 2 ? NULL : decimals, kind, seed);
    check_weights(&f, weights, sum);
    for (int i = 0; i < 60; i++) check_losses(&f, kind, &random);
    n_exact += f.axes.exact;
    n_rounded += !f.axes.exact;
    for (size_t q = 0; q < f.n_quasi; q++) *(f.axes.items[q].pairs ? &n_paired : &n_unpaired) += 1;
    teardown(&f);
  }
  assert_true(n_exact > 30 && n_rounded > 30 && n_paired > 100 && n_unpaired > 30);
}

/* ---------------------------------------------------------------- fit, slowly */

static const char *const models[] = {
    "[k-anonymity: {k: 3}]",
    "[p-sensitive: {p: 3}]",
    "[extended-p-sensitive: {p: 3}]",
    "[p-plus-sensitive: {p: 2}]",
    "[p-alpha-sensitive: {p: 2, alpha: 1}]",
    "[balanced-p-plus: {p: 2}]",
    "[balanced-p-alpha: {p: 2, alpha: 1}]",
    "[theta-sensitive: {mu: 0.2}]",
    "[l-diversity: {l: 1}]",
    "[l-diversity: {l: 3}]",
    "[l-diversity: {kind: entropy, l: 2}]",
    "[l-diversity: {kind: recursive, l: 2, c: 1.5}]",
    "[t-closeness: {t: 0.3, distance: equal}]",
    "[t-closeness: {t: 0.3, distance: hierarchical}]",
    "[alpha-k: {alpha: 0.5}]",
    "[personalized: {column: g, breach: 0.4}]",
    "[alpha-k: {alpha: 0.6}, l-diversity: {kind: entropy, l: 1.5}, personalized: {column: g, "
    "breach: 0.6}, p-sensitive: {p: 2, attribute: s0}]",
};

/* Rows of `side`, counted out for k and p, and judged as a class of a whole grouping. */
static bool slow_fits(fixture *f, const uint32_t *side_of, uint32_t side) {
  shoal_classes classes;
  uint8_t breaks[2];
  succeeds(f, shoal_classes_of_rows(f->frequency, side_of, 2, &classes, &f->error));
  shoal_judge(&f->demands, f->frequency, &classes, UINT64_MAX, breaks);
  shoal_classes_reset(&classes);
  uint32_t n = 0;
  for (size_t r = 0; r < f->n_rows; r++) n += side_of[r] == side;
  bool fits = n >= f->s->k;
  for (size_t i = 0; i < f->s->n_sensitive; i++) {
    uint32_t seen = 0;
    for (size_t r = 0; r < f->n_rows; r++) {
      uint32_t code = shoal_column_code(f->sensitive[i].column, r);
      if (side_of[r] == side && !shoal_column_missing(f->sensitive[i].column, code))
        seen |= UINT32_C(1) << code;
    }
    fits = fits && (uint32_t)__builtin_popcount(seen) >= f->s->p;
  }
  if (!fits) assert_true(breaks[side]);
  return !breaks[side];
}

static void rows_fit_where_every_model_holds(void **state UNUSED) {
  shoal_random random;
  shoal_random_seed(&random, 42);
  uint32_t n_fit[COUNT(models)] = {0}, n_not[COUNT(models)] = {0};
  for (uint64_t seed = 0; seed < 40 * COUNT(models); seed++) {
    fixture f;
    shape s = draw_shape(&random, 40);
    size_t m = seed % COUNT(models);
    s.models = models[m];
    s.n_rows += 1;
    s.k = s.k > 3 ? 3 : s.k;
    s.p = s.p > 2 ? 0 : s.p;
    setup(&f, &s, seed);
    for (int t = 0; t < 20; t++) {
      uint32_t side_of[42], rows[42], n = 0;
      for (size_t r = 0; r < f.n_rows; r++) side_of[r] = below(&random, 2);
      side_of[0] = 0;
      side_of[1] = 1;
      for (uint32_t r = 0; r < f.n_rows; r++)
        if (side_of[r]) rows[n++] = r;
      bool fits = shoal_judging_fits(&f.judging, rows, n), expected = slow_fits(&f, side_of, 1);
      if (fits != expected) fail_msg("%s: %d, not %d", models[m], fits, expected);
      n_fit[m] += fits;
      n_not[m] += !fits;
    }
    teardown(&f);
  }
  for (size_t m = 0; m < COUNT(models); m++)
    if (n_fit[m] < 5 || n_not[m] < 5) fail_msg("%s: %u fit, %u not", models[m], n_fit[m], n_not[m]);
}

/* ---------------------------------------------------------------- clusters */

static const shoal_aim aims[] = {SHOAL_AIM_IL, SHOAL_AIM_AVG, SHOAL_AIM_DM, SHOAL_AIM_BALANCED};

static shoal_partition cluster(fixture *f, shoal_aim aim, const shoal_run *run) {
  const shoal_cluster_task task = {.axes = &f->axes, .fit = &f->fit, .aim = aim, .run = run};
  shoal_partition partition = {0};
  succeeds(f, shoal_cluster_flock(&task, &partition, &f->error));
  return partition;
}

/* What is asked for can be had by the whole table: algorithms may rely on it. */
static bool is_possible(fixture *f) {
  bool possible = f->n_rows >= f->fit.k;
  for (size_t d = 0; d < f->fit.n_counts; d++) possible = possible && f->fit.counts[d].most > 0;
  return possible;
}

/* Clusters that break a demand, if there are several. */
static uint32_t check_partition(fixture *f, const shoal_partition *p) {
  uint32_t *n_rows = calloc((size_t)p->n_clusters + 1, sizeof *n_rows), broken = 0;
  uint32_t *rows = calloc(f->n_rows, sizeof *rows);
  assert_true(n_rows && rows);
  assert_in_range(p->n_clusters, 1, f->n_rows);
  for (size_t r = 0; r < f->n_rows; r++) {
    assert_true(p->cluster_of_row[r] < p->n_clusters);
    n_rows[p->cluster_of_row[r] + 1]++; /* then: where a cluster's rows start */
  }
  for (uint32_t c = 0; c < p->n_clusters; c++) {
    assert_true(n_rows[c + 1] > 0);
    n_rows[c + 1] += n_rows[c];
  }
  for (uint32_t r = (uint32_t)f->n_rows; r-- > 0;) rows[--n_rows[p->cluster_of_row[r] + 1]] = r;
  for (uint32_t c = 0; p->n_clusters > 1 && c < p->n_clusters; c++) {
    uint32_t first = n_rows[c + 1];
    uint32_t end = c + 1 < p->n_clusters ? n_rows[c + 2] : (uint32_t)f->n_rows;
    broken += !shoal_judging_fits(&f->judging, rows + first, end - first);
  }
  free(n_rows);
  free(rows);
  return broken;
}

/* Sum of size x loss, from each cluster's rows. */
static uint64_t information_loss(const fixture *f, const shoal_partition *p) {
  uint64_t sum = 0;
  shoal_span *extents = calloc(p->n_clusters * f->n_quasi, sizeof *extents);
  uint32_t *n_rows = calloc(p->n_clusters, sizeof *n_rows);
  assert_true(extents && n_rows);
  for (uint32_t r = 0; r < f->n_rows; r++) {
    shoal_span *extent = extents + p->cluster_of_row[r] * f->n_quasi;
    if (n_rows[p->cluster_of_row[r]]++)
      shoal_extent_add(&f->axes, extent, shoal_axes_row(&f->axes, r));
    else shoal_extent_start(&f->axes, extent, shoal_axes_row(&f->axes, r));
  }
  for (uint32_t c = 0; c < p->n_clusters; c++)
    sum += n_rows[c] * (uint64_t)shoal_extent_loss(&f->axes, extents + c * f->n_quasi);
  free(extents);
  free(n_rows);
  return sum;
}

typedef struct tally {
  uint32_t n_tables, n_several, n_broken, n_fewer, n_compared;
  double loss, greedy_loss; /* of rows, as a share of everything */
} tally;

/* Clusters and losses beside those of the paper's algorithms, where these can be asked. */
static void compare(fixture *f, const shoal_partition *p, shoal_aim aim, tally *t) {
  if (f->fit.n_others) return;
  const shoal_cluster_task task = {.axes = &f->axes, .fit = &f->fit};
  shoal_partition other = {0};
  if (aim == SHOAL_AIM_IL) {
    succeeds(f, shoal_cluster_greedy_pk(&task, &other, &f->error));
    double all = (double)f->n_rows * (double)SHOAL_MOST_LOSS;
    t->loss += (double)information_loss(f, p) / all;
    t->greedy_loss += (double)information_loss(f, &other) / all;
  } else {
    succeeds(f, shoal_cluster_enhanced_pk(&task, &other, &f->error));
    t->n_compared++;
    t->n_fewer += p->n_clusters < other.n_clusters;
  }
  shoal_partition_reset(&other);
}

static void check_aim(fixture *f, shoal_aim aim, tally *t) {
  shoal_partition whole = {0}, p = cluster(f, aim, &(shoal_run){.n_threads = 1});
  uint32_t broken = check_partition(f, &p);
  t->n_broken += broken > 0;
  t->n_several += p.n_clusters > 1;
  uint64_t most = shoal_fit_most_clusters(&f->fit);
  if (!broken) assert_true(p.n_clusters <= (most ? most : 1));
  succeeds(f, shoal_partition_whole(&whole, f->n_rows, &f->error));
  if (aim == SHOAL_AIM_IL) assert_true(information_loss(f, &p) <= information_loss(f, &whole));
  if (aim == SHOAL_AIM_IL || aim == SHOAL_AIM_AVG) compare(f, &p, aim, t);
  shoal_partition_reset(&whole);
  shoal_partition_reset(&p);
}

static void random_tables_become_clusters_that_fit(void **state UNUSED) {
  static const char *const some[] = {"",
                                     "",
                                     "[alpha-k: {alpha: 0.5}]",
                                     "[l-diversity: {kind: entropy, l: 2}]",
                                     "",
                                     "[t-closeness: {t: 0.3, distance: equal}]"};
  shoal_random random;
  shoal_random_seed(&random, 43);
  tally tallies[COUNT(aims)] = {{0}};
  for (uint64_t seed = 0; seed < 600; seed++) {
    fixture f;
    shape s = draw_shape(&random, seed % 4 ? 200 : 30);
    s.models = some[seed % COUNT(some)];
    setup(&f, &s, seed);
    for (size_t a = 0; is_possible(&f) && a < COUNT(aims); a++) {
      tallies[a].n_tables++;
      check_aim(&f, aims[a], &tallies[a]);
    }
    teardown(&f);
  }
  for (size_t a = 0; a < COUNT(aims); a++) {
    const tally *t = &tallies[a];
    print_message("aim %zu: %u tables, %u of several clusters, %u with one that breaks a demand; "
                  "fewer clusters than enhanced-pk %u of %u; loss %.4f, greedy-pk %.4f\n",
                  a, t->n_tables, t->n_several, t->n_broken, t->n_fewer, t->n_compared, t->loss,
                  t->greedy_loss);
    assert_int_equal(t->n_broken, 0);
    assert_true(t->n_several > t->n_tables / 2);
    assert_int_equal(t->n_fewer, 0);
  }
  assert_true(tallies[0].loss < tallies[0].greedy_loss);
}

/* ---------------------------------------------------------------- several blocks, threads */

static void check_threads(const shape *s, shoal_aim aim, uint64_t seed, uint32_t least_clusters) {
  fixture f;
  setup(&f, s, seed);
  shoal_partition first = cluster(&f, aim, &(shoal_run){.n_threads = 1});
  assert_int_equal(check_partition(&f, &first), 0);
  if (first.n_clusters < least_clusters) fail_msg("%u clusters", first.n_clusters);
  for (unsigned n_threads = 2; n_threads < 4; n_threads++) {
    shoal_partition p = cluster(&f, aim, &(shoal_run){.n_threads = n_threads});
    assert_int_equal(p.n_clusters, first.n_clusters);
    assert_memory_equal(p.cluster_of_row, first.cluster_of_row,
                        f.n_rows * sizeof *p.cluster_of_row);
    shoal_partition_reset(&p);
  }
  shoal_partition_reset(&first);
  teardown(&f);
}

static void threads_do_not_change_the_result(void **state UNUSED) {
  shoal_random random;
  shoal_random_seed(&random, 44);
  for (uint64_t seed = 0; seed < 20; seed++) {
    shape s = draw_shape(&random, 200);
    s.p = 1;
    s.gaps = false;
    check_threads(&s, aims[seed % COUNT(aims)], seed, 1);
  }
  static const shape large = {.n_rows = 30000,
                              .kinds = "ntm",
                              .n_values = 90,
                              .n_sensitive = 1,
                              .n_sensitive_values = 6,
                              .k = 10,
                              .p = 2,
                              .models = ""};
  check_threads(&large, SHOAL_AIM_IL, 1, 1500);
}

/* Sensitive values that follow from the order: blocks have too few of them by themselves. */
static void blocks_without_enough_values_are_joined(void **state UNUSED) {
  static const shape tied = {.n_rows = 30000,
                             .kinds = "n",
                             .n_values = 2,
                             .n_sensitive = 1,
                             .n_sensitive_values = 2,
                             .tied = true,
                             .k = 5,
                             .p = 2,
                             .models = ""};
  check_threads(&tied, SHOAL_AIM_IL, 1, 1);
}

/* ---------------------------------------------------------------- edges */

static void edges_are_clustered(void **state UNUSED) {
  static const shape shapes[] = {
      {.n_rows = 1, .kinds = "n", .n_values = 9, .k = 1},
      {.n_rows = 7, .kinds = "n", .n_values = 9, .k = 7},                /* n = k */
      {.n_rows = 13, .kinds = "nt", .n_values = 9, .k = 7},              /* n = 2 k - 1 */
      {.n_rows = 14, .kinds = "nt", .n_values = 9, .k = 7},              /* n = 2 k */
      {.n_rows = 500, .kinds = "n", .n_values = 1, .k = 4, .p = 2},      /* all rows equal */
      {.n_rows = 300, .kinds = "nnn", .n_values = 4000000000, .k = 1},   /* all different */
      {.n_rows = 300, .kinds = "m", .n_values = 1, .k = 3, .p = 2},      /* missing or not */
      {.n_rows = 400, .kinds = "nmtuw", .n_values = 5, .k = 150, .p = 3} /* k above n / 3 */
  };
  for (size_t i = 0; i < COUNT(shapes); i++)
    for (size_t a = 0; a < COUNT(aims); a++) {
      fixture f;
      shape s = shapes[i];
      s.n_sensitive = 1;
      s.n_sensitive_values = 4;
      s.models = "";
      setup(&f, &s, i);
      assert_true(is_possible(&f));
      shoal_partition p = cluster(&f, aims[a], NULL);
      assert_int_equal(check_partition(&f, &p), 0);
      if (i == 0 || i == 1 || i == 2) assert_int_equal(p.n_clusters, 1);
      if (i == 5) assert_int_equal(p.n_clusters, 300);
      shoal_partition_reset(&p);
      teardown(&f);
    }
}

static void many_axes_are_clustered(void **state UNUSED) {
  shape wide = {.n_rows = 120,
                .n_values = 3,
                .n_sensitive = 2,
                .n_sensitive_values = 5,
                .heavy = true,
                .k = 4,
                .p = 3,
                .models = ""};
  for (size_t q = 0; q < 70; q++) wide.kinds[q] = "nmtuw"[q % 5];
  for (size_t a = 0; a < COUNT(aims); a++) {
    fixture f;
    setup(&f, &wide, 9);
    shoal_partition p = cluster(&f, aims[a], NULL);
    assert_int_equal(check_partition(&f, &p), 0);
    assert_true(p.n_clusters > 8);
    shoal_partition_reset(&p);
    teardown(&f);
  }
}

/* ---------------------------------------------------------------- stopping, failing */

typedef struct watch {
  unsigned n_reports, stop_at;
} watch;

static bool look(void *user, const shoal_progress *progress) {
  watch *w = user;
  assert_string_equal(progress->stage, "cluster");
  assert_true(progress->done <= progress->total);
  return ++w->n_reports == w->stop_at;
}

static void a_run_can_be_stopped(void **state UNUSED) {
  static const shape some = {.n_rows = 30000,
                             .kinds = "nn",
                             .n_values = 100,
                             .n_sensitive = 1,
                             .n_sensitive_values = 6,
                             .k = 10,
                             .p = 2,
                             .models = ""};
  fixture f;
  setup(&f, &some, 3);
  for (unsigned n_threads = 1; n_threads < 3; n_threads++) {
    watch w = {.stop_at = 1};
    shoal_run run = {.n_threads = n_threads, .progress = look, .progress_user = &w};
    const shoal_cluster_task task = {.axes = &f.axes, .fit = &f.fit, .run = &run};
    shoal_partition none = {0};
    assert_int_equal(shoal_cluster_flock(&task, &none, &f.error), SHOAL_CANCELLED);
    assert_int_equal(w.n_reports, 1);
    assert_null(none.cluster_of_row);
  }
  teardown(&f);
}

/* An allocation fails: an error and nothing else, or the same clusters without it. */
static bool check_failure(fixture *f, const shoal_cluster_task *task, const shoal_partition *whole,
                          long n) {
  shoal_partition p = {0};
  allocations_left = n;
  shoal_status status = shoal_cluster_flock(task, &p, &f->error);
  bool failed = allocations_left < 1;
  allocations_left = -1;
  if (status == SHOAL_OK) {
    assert_int_equal(p.n_clusters, whole->n_clusters);
    assert_memory_equal(p.cluster_of_row, whole->cluster_of_row,
                        f->n_rows * sizeof *p.cluster_of_row);
    shoal_partition_reset(&p);
  } else {
    assert_int_equal(status, SHOAL_FAILED);
    assert_null(p.cluster_of_row);
  }
  return failed;
}

static void memory_may_run_out_anywhere(void **state UNUSED) {
  static const char *const some[] = {"", "[alpha-k: {alpha: 0.7}]"};
  static shape small = {.n_rows = 60,
                        .kinds = "ntm",
                        .n_values = 20,
                        .n_sensitive = 2,
                        .n_sensitive_values = 4,
                        .skewed = true,
                        .k = 3,
                        .p = 2};
  for (size_t i = 0; i < 2 * COUNT(aims) * COUNT(some); i++) {
    fixture f;
    small.models = some[i / 2 / COUNT(aims)];
    setup(&f, &small, 5);
    const shoal_run run = {.n_threads = 1};
    shoal_cluster_task task = {
        .axes = &f.axes, .fit = &f.fit, .aim = aims[i / 2 % COUNT(aims)], .run = &run};
    shoal_partition whole = cluster(&f, task.aim, &run);
    long n = 0;
    fails_once = i % 2;
    while (check_failure(&f, &task, &whole, n)) n += 1 + n / 50;
    assert_true(n > 50);
    shoal_partition_reset(&whole);
    teardown(&f);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(losses_are_those_of_the_definitions),
      cmocka_unit_test(rows_fit_where_every_model_holds),
      cmocka_unit_test(random_tables_become_clusters_that_fit),
      cmocka_unit_test(threads_do_not_change_the_result),
      cmocka_unit_test(blocks_without_enough_values_are_joined),
      cmocka_unit_test(edges_are_clustered),
      cmocka_unit_test(many_axes_are_clustered),
      cmocka_unit_test(a_run_can_be_stopped),
      cmocka_unit_test(memory_may_run_out_anywhere),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
