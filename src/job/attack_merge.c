/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job/attack_merge: labels that are written differently and mean the same are one label to an
 * intruder: "=< 40" and "=<40" (Khan et al. 2020, Table 8a), "[20-30]" and "20-30", "*" and "**".
 * Tuples that differ in spelling only become one class.
 */
#include <stdlib.h>
#include <string.h>

#include "job/attack.h"

static int compare_ends(bool has_a, shoal_decimal a, bool open_a, bool has_b, shoal_decimal b,
                        bool open_b) {
  if (has_a != has_b) return has_a ? 1 : -1;
  if (!has_a) return 0;
  int order = shoal_decimal_compare(a, b);
  return order ? order : (int)open_a - (int)open_b;
}

/* 0: the same. Stars and numbers are compared by what they mean, others by being one label. */
static int compare_meanings(const shoal_cover *a, const shoal_cover *b) {
  int kind_a = a->everything ? 0 : a->is_range ? 1 : 2;
  int kind_b = b->everything ? 0 : b->is_range ? 1 : 2;
  if (kind_a != kind_b) return kind_a - kind_b;
  if (kind_a == 0) return 0;
  if (kind_a == 2) return (a > b) - (a < b); /* covers of one column stand in one array */
  const shoal_range *x = &a->range, *y = &b->range;
  int low = compare_ends(x->has_low, x->low, x->low_open, y->has_low, y->low, y->low_open);
  if (low) return low;
  return compare_ends(x->has_high, x->high, x->high_open, y->has_high, y->high, y->high_open);
}

static int by_meaning(const void *a, const void *b) {
  const shoal_cover *const *x = a, *const *y = b;
  int order = compare_meanings(*x, *y);
  return order ? order : (*x > *y) - (*x < *y);
}

/* Each label's first label of the same meaning. */
static bool find_meanings(const shoal_cover *covers, uint32_t n, uint32_t *meaning_of) {
  const shoal_cover **sorted = shoal_alloc(n, sizeof *sorted);
  if (!sorted) return false;
  for (uint32_t v = 0; v < n; v++) sorted[v] = &covers[v];
  if (n > 1) qsort(sorted, n, sizeof *sorted, by_meaning);
  for (uint32_t i = 0, first = 0; i < n; i++) {
    if (compare_meanings(sorted[first], sorted[i]) != 0) first = i;
    meaning_of[sorted[i] - covers] = (uint32_t)(sorted[first] - covers);
  }
  free(sorted);
  return true;
}

/* Each tuple's class, and how many there are. */
static bool group_tuples(const shoal_siege *siege, const shoal_frequency *f, size_t released,
                         uint32_t *ids, uint32_t *n_ids) {
  shoal_grouper grouper;
  shoal_grouper_init(&grouper);
  bool ok = shoal_grouper_start(&grouper, f->n_tuples);
  for (size_t q = 0; ok && q < f->n_quasi; q++) {
    uint32_t n = f->quasi[q]->n_values;
    uint32_t *meaning_of = shoal_alloc(n, sizeof *meaning_of);
    ok = meaning_of != NULL;
    for (uint32_t v = 0; ok && v < n; v++) meaning_of[v] = v;
    if (ok && siege->has_domain[q])
      ok = find_meanings(siege->domains[q].released[released].covers, n, meaning_of);
    ok = ok &&
         shoal_grouper_fold_codes(&grouper, f->n_tuples, NULL, f->codes[q], meaning_of, n, ids);
    free(meaning_of);
  }
  *n_ids = ok ? shoal_grouper_ids(&grouper, f->n_tuples, ids) : SHOAL_NO_ID;
  shoal_grouper_reset(&grouper);
  return *n_ids != SHOAL_NO_ID;
}

/* The frequency set with tuple t as part of tuple ids[t]: ids are in order of first appearance. */
static void renumber(shoal_frequency *f, const uint32_t *ids, uint32_t n_ids,
                     shoal_classes *classes) {
  for (size_t w = 0; w < f->n_words; w++)
    for (uint32_t t = 0, seen = 0; t < f->n_tuples; t++)
      if (ids[t] == seen) f->words[w][seen++] = f->words[w][t];
  for (uint64_t r = 0; r < f->table->n_rows; r++) f->tuple_of_row[r] = ids[f->tuple_of_row[r]];
  for (uint32_t c = 0; c < n_ids; c++) classes->tuple[c] = c;
  shoal_classes_reset(&f->base);
  f->base = *classes;
  f->n_tuples = n_ids;
}

shoal_status shoal_siege_merge_spellings(const shoal_siege *siege, shoal_frequency *f,
                                         size_t released, shoal_error *error) {
  uint32_t n_ids, *ids = shoal_alloc(f->n_tuples, sizeof *ids);
  if (!ids) return shoal_fail_memory(error);
  shoal_status status =
      group_tuples(siege, f, released, ids, &n_ids) ? SHOAL_OK : shoal_fail_memory(error);
  if (status == SHOAL_OK && n_ids < f->n_tuples) {
    shoal_classes classes;
    status = shoal_classes_regroup(&f->base, ids, n_ids, &classes, error);
    if (status == SHOAL_OK) renumber(f, ids, n_ids, &classes);
  }
  free(ids);
  return status;
}
