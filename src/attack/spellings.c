/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attack/spellings: labels with different spellings and one meaning are one label to an attacker:
 * "=< 40" and "=<40" (Khan et al. 2020, Table 8a), "[20-30]" and "20-30", "*" and "**". Tuples that
 * differ only in spelling become one class.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "attack/setup.h"

/* 0: one meaning. Stars and numbers are compared by meaning, other labels by identity. */
static int compare_meanings(const shoal_label_span *a, const shoal_label_span *b) {
  int kind_a = a->everything ? 0 : a->is_range ? 1 : 2;
  int kind_b = b->everything ? 0 : b->is_range ? 1 : 2;
  if (kind_a != kind_b) return kind_a - kind_b;
  if (kind_a == 0) return 0;
  if (kind_a == 2) return (a > b) - (a < b); /* spans of one column are in one array */
  return shoal_range_compare(&a->range, &b->range);
}

static int by_meaning(const void *a, const void *b) {
  const shoal_label_span *const *x = a, *const *y = b;
  int order = compare_meanings(*x, *y);
  return order ? order : (*x > *y) - (*x < *y);
}

/* For each label, the first label with its meaning. */
static bool find_meanings(const shoal_label_span *spans, uint32_t n, uint32_t *meaning_of) {
  const shoal_label_span **sorted = shoal_alloc(n, sizeof *sorted);
  if (!sorted) return false;
  for (uint32_t v = 0; v < n; v++) sorted[v] = &spans[v];
  if (n > 1) qsort(sorted, n, sizeof *sorted, by_meaning);
  for (uint32_t i = 0, first = 0; i < n; i++) {
    if (compare_meanings(sorted[first], sorted[i]) != 0) first = i;
    meaning_of[sorted[i] - spans] = (uint32_t)(sorted[first] - spans);
  }
  free(sorted);
  return true;
}

/* The class of each tuple, and the number of classes. */
static bool group_tuples(const shoal_attack_setup *setup, const shoal_frequency_set *f,
                         size_t released, uint32_t *ids, uint32_t *n_ids) {
  shoal_grouper grouper;
  shoal_grouper_init(&grouper);
  bool ok = shoal_grouper_start(&grouper, f->n_tuples);
  for (size_t q = 0; ok && q < f->n_quasi; q++) {
    uint32_t n = f->quasi[q]->n_values;
    uint32_t *meaning_of = shoal_alloc(n, sizeof *meaning_of);
    ok = meaning_of != NULL;
    for (uint32_t v = 0; ok && v < n; v++) meaning_of[v] = v;
    if (ok && setup->has_domain[q])
      ok = find_meanings(setup->domains[q].released[released].spans, n, meaning_of);
    ok = ok &&
         shoal_grouper_fold_codes(&grouper, f->n_tuples, NULL, f->codes[q], meaning_of, n, ids);
    free(meaning_of);
  }
  *n_ids = ok ? shoal_grouper_ids(&grouper, f->n_tuples, ids) : SHOAL_NONE;
  shoal_grouper_reset(&grouper);
  return *n_ids != SHOAL_NONE;
}

/* Makes tuple t part of tuple ids[t]; ids are numbered in order of first appearance. */
static void renumber(shoal_frequency_set *f, const uint32_t *ids, uint32_t n_ids,
                     shoal_classes *classes) {
  for (size_t w = 0; w < f->n_words; w++)
    for (uint32_t t = 0, seen = 0; t < f->n_tuples; t++)
      if (ids[t] == seen) f->words[w][seen++] = f->words[w][t];
  for (uint64_t r = 0; r < f->table->n_rows; r++) f->tuple_of_row[r] = ids[f->tuple_of_row[r]];
  assert(n_ids < f->n_tuples && classes->n_classes == n_ids);
  for (uint32_t c = 0; c < n_ids; c++) classes->tuple[c] = c;
  shoal_classes_reset(&f->base);
  f->base = *classes;
  f->n_tuples = n_ids;
}

shoal_status shoal_attack_setup_merge_spellings(const shoal_attack_setup *setup,
                                                shoal_frequency_set *f, size_t released,
                                                shoal_error *error) {
  uint32_t n_ids, *ids = shoal_alloc(f->n_tuples, sizeof *ids);
  if (!ids) return shoal_fail_memory(error);
  shoal_status status =
      group_tuples(setup, f, released, ids, &n_ids) ? SHOAL_OK : shoal_fail_memory(error);
  if (status == SHOAL_OK && n_ids < f->n_tuples) {
    shoal_classes classes;
    status = shoal_classes_regroup(&f->base, ids, n_ids, &classes, error);
    if (status == SHOAL_OK) renumber(f, ids, n_ids, &classes);
  }
  free(ids);
  return status;
}
