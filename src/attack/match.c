/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attack/match: sorts the classes by their labels and builds the tree, one level for each
 * quasi-identifier. A query descends level by level, in each by a search of the interval tree.
 */
#include "attack/match.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------ building */

typedef struct ranked {
  uint32_t lo, hi, code;
} ranked;

static int by_span(const void *a, const void *b) {
  const ranked *x = a, *y = b;
  if (x->lo != y->lo) return x->lo < y->lo ? -1 : 1;
  if (x->hi != y->hi) return x->hi < y->hi ? -1 : 1;
  return (x->code > y->code) - (x->code < y->code);
}

/* Labels with an empty span sort last. Range queries skip them; a key with `any` set matches them.
 */
static bool is_empty(const shoal_label_span *span) { return span->lo > span->hi; }

/* Ranks the labels of a column by their spans. */
static bool rank_labels(const shoal_released_labels *labels, uint32_t *rank_of) {
  uint32_t n = labels->column->n_values;
  ranked *items = shoal_alloc(n, sizeof *items);
  if (!items) return false;
  for (uint32_t v = 0; v < n; v++) {
    const shoal_label_span *span = &labels->spans[v];
    items[v] = is_empty(span) ? (ranked){UINT32_MAX, 0, v} : (ranked){span->lo, span->hi, v};
  }
  if (n > 1) qsort(items, n, sizeof *items, by_span);
  for (uint32_t i = 0; i < n; i++) rank_of[items[i].code] = i;
  free(items);
  return true;
}

/* One pass of a radix sort: classes by the rank of their label of one quasi-identifier, stable. */
static bool sort_by(uint32_t *order, uint32_t *scratch, uint32_t n_classes, shoal_codes codes,
                    const uint32_t *tuple, const uint32_t *rank_of, uint32_t n_labels) {
  uint32_t *start = shoal_alloc_zero((size_t)n_labels + 1, sizeof *start);
  if (!start) return false;
  for (uint32_t c = 0; c < n_classes; c++) start[rank_of[shoal_code_at(codes, tuple[c])] + 1]++;
  for (uint32_t r = 0; r < n_labels; r++) start[r + 1] += start[r];
  for (uint32_t i = 0; i < n_classes; i++)
    scratch[start[rank_of[shoal_code_at(codes, tuple[order[i]])]]++] = order[i];
  memcpy(order, scratch, n_classes * sizeof *order);
  free(start);
  return true;
}

static bool sort_classes(shoal_match_index *index, size_t released,
                         const shoal_frequency_set *frequency) {
  const shoal_classes *classes = &frequency->base;
  uint32_t most = 0, n = classes->n_classes;
  for (size_t l = 0; l < index->n_levels; l++) {
    uint32_t labels = index->domains[index->levels[l].quasi].released[released].column->n_values;
    if (labels > most) most = labels;
  }
  uint32_t *scratch = shoal_alloc(n, sizeof *scratch);
  uint32_t *rank_of = shoal_alloc(most, sizeof *rank_of);
  bool ok = SHOAL_ARENA_ARRAY(&index->arena, index->order, n) && scratch && rank_of;
  for (uint32_t c = 0; ok && c < n; c++) index->order[c] = c;
  for (size_t l = index->n_levels; ok && l-- > 0;) {
    size_t q = index->levels[l].quasi;
    const shoal_released_labels *labels = &index->domains[q].released[released];
    ok = rank_labels(labels, rank_of) && sort_by(index->order, scratch, n, frequency->codes[q],
                                                 classes->tuple, rank_of, labels->column->n_values);
  }
  free(scratch);
  free(rank_of);
  return ok;
}

/* Sets max_hi of the middle of each range, by the halving that `stab` repeats. */
static uint32_t set_max_hi(shoal_match_level *level, uint32_t from, uint32_t to) {
  if (from >= to) return 0;
  uint32_t middle = from + (to - from) / 2;
  const shoal_label_span *span = level->spans[middle];
  uint32_t most = is_empty(span) ? 0 : span->hi;
  uint32_t left = set_max_hi(level, from, middle), right = set_max_hi(level, middle + 1, to);
  if (left > most) most = left;
  if (right > most) most = right;
  return level->max_hi[middle] = most;
}

/*
 * Makes the nodes of one level: a new one wherever the parent or the label changes. node_of, by
 * position in `order`, has the nodes of the level above and receives those of this one.
 */
static bool fill_level(shoal_match_index *index, size_t l, size_t released,
                       const shoal_frequency_set *frequency, uint32_t *node_of) {
  shoal_match_level *level = &index->levels[l];
  shoal_codes codes = frequency->codes[level->quasi];
  const uint32_t *tuple = frequency->base.tuple;
  const shoal_label_span *spans = index->domains[level->quasi].released[released].spans;
  uint32_t n = index->n_classes, parent = UINT32_MAX, code = 0;
  if (!SHOAL_ARENA_ARRAY(&index->arena, level->spans, n) ||
      !SHOAL_ARENA_ARRAY(&index->arena, level->max_hi, n) ||
      !SHOAL_ARENA_ARRAY(&index->arena, level->begin, (size_t)n + 1))
    return false;
  for (uint32_t i = 0; i < n; i++) {
    uint32_t label = shoal_code_at(codes, tuple[index->order[i]]);
    if (node_of[i] != parent || label != code) {
      level->spans[level->n_nodes] = &spans[label];
      level->begin[level->n_nodes] = i;
      if (l && node_of[i] != parent) index->levels[l - 1].begin[node_of[i]] = level->n_nodes;
      level->n_nodes++;
    }
    parent = node_of[i];
    code = label;
    node_of[i] = level->n_nodes - 1;
  }
  level->begin[level->n_nodes] = n;
  assert(level->n_nodes <= n);
  if (l) index->levels[l - 1].begin[index->levels[l - 1].n_nodes] = level->n_nodes;
  return true;
}

static bool build_levels(shoal_match_index *index, size_t released,
                         const shoal_frequency_set *frequency) {
  uint32_t *node_of = shoal_alloc_zero(index->n_classes, sizeof *node_of);
  bool ok = node_of != NULL;
  for (size_t l = 0; ok && l < index->n_levels; l++)
    ok = fill_level(index, l, released, frequency, node_of);
  free(node_of);
  for (size_t l = 0; ok && l < index->n_levels; l++) {
    shoal_match_level *level = &index->levels[l];
    if (l == 0) (void)set_max_hi(level, 0, level->n_nodes);
    for (uint32_t i = 0; l && i < index->levels[l - 1].n_nodes; i++)
      (void)set_max_hi(level, index->levels[l - 1].begin[i], index->levels[l - 1].begin[i + 1]);
  }
  return ok;
}

shoal_status shoal_match_index_build(shoal_match_index *index, const shoal_domain *domains,
                                     size_t n_quasi, size_t released,
                                     const shoal_frequency_set *frequency, const bool *known,
                                     shoal_error *error) {
  memset(index, 0, sizeof *index);
  index->domains = domains;
  index->n_classes = frequency->base.n_classes;
  if (!SHOAL_ARENA_ZEROED(&index->arena, index->levels, n_quasi)) return shoal_fail_memory(error);
  for (size_t q = 0; q < n_quasi; q++)
    if (!known || known[q]) index->levels[index->n_levels++].quasi = q;
  if (sort_classes(index, released, frequency) && build_levels(index, released, frequency))
    return SHOAL_OK;
  shoal_match_index_reset(index);
  return shoal_fail_memory(error);
}

void shoal_match_index_reset(shoal_match_index *index) {
  shoal_arena_reset(&index->arena);
  memset(index, 0, sizeof *index);
}

/* ------------------------------------------------------------ queries */

typedef struct match_query {
  const shoal_match_index *index;
  const shoal_match_key *keys;
  shoal_matches *matches;
} match_query;

static void visit(const match_query *query, size_t l, uint32_t from, uint32_t to);

static void add_match(const match_query *query, size_t l, uint32_t node) {
  const shoal_match_level *level = &query->index->levels[l];
  uint32_t from = level->begin[node], to = level->begin[node + 1];
  if (l + 1 < query->index->n_levels) visit(query, l + 1, from, to);
  else {
    shoal_matches *matches = query->matches;
    if (!shoal_grow(&matches->classes, &matches->capacity, matches->n + (to - from),
                    sizeof *matches->classes)) {
      matches->failed = true;
      return;
    }
    memcpy(matches->classes + matches->n, query->index->order + from,
           (to - from) * sizeof *matches->classes);
    matches->n += to - from;
  }
}

static bool fits(const match_query *query, size_t l, uint32_t node) {
  const shoal_match_level *level = &query->index->levels[l];
  const shoal_domain *domain = &query->index->domains[level->quasi];
  const shoal_match_key *key = &query->keys[level->quasi];
  if (key->span) return shoal_domain_overlap(domain, level->spans[node], key->span);
  return shoal_domain_holds(domain, level->spans[node], key->position);
}

/* Visits the nodes in from .. to whose span meets lo .. hi; skips ranges in which none can. */
static void stab(const match_query *query, size_t l, uint32_t from, uint32_t to, uint32_t lo,
                 uint32_t hi) {
  const shoal_match_level *level = &query->index->levels[l];
  while (from < to) {
    uint32_t middle = from + (to - from) / 2;
    if (level->max_hi[middle] < lo) return;
    stab(query, l, from, middle, lo, hi);
    const shoal_label_span *span = level->spans[middle];
    if (is_empty(span) || span->lo > hi) return;
    if (span->hi >= lo && fits(query, l, middle)) add_match(query, l, middle);
    from = middle + 1;
  }
}

static void visit(const match_query *query, size_t l, uint32_t from, uint32_t to) {
  const shoal_match_key *key = &query->keys[query->index->levels[l].quasi];
  /* two ranges can overlap between known values; an unknown value has no position */
  bool placed =
      key->span ? !key->span->is_range && !is_empty(key->span) : key->position != SHOAL_NONE;
  if (key->any || !placed) {
    /* For keys that positions do not decide: compares every label in the range. */
    bool any = key->any;
    for (uint32_t node = from; node < to; node++)
      if (any || fits(query, l, node)) add_match(query, l, node);
  } else if (key->span) stab(query, l, from, to, key->span->lo, key->span->hi);
  else stab(query, l, from, to, key->position, key->position);
}

void shoal_match_find(const shoal_match_index *index, const shoal_match_key *keys,
                      shoal_matches *matches) {
  match_query query = {index, keys, matches};
  matches->n = 0;
  if (index->n_levels) visit(&query, 0, 0, index->levels[0].n_nodes);
}
