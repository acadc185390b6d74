/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attack/order: unsorted matching (Sweeney 2002, section 4.1). Where two releases have their rows
 * in the same order, row by row belongs together: the labels of both hold for one person, and what
 * hid in a class of either stands in a smaller one. The order is taken as the same where the rows
 * of the shorter file follow one another in the longer with labels that can stand for one person
 * and equal sensitive values, and do not so from the last to the first as well.
 */
#include <stdlib.h>

#include "attack/joint.h"
#include "base/hash.h"

typedef struct aligner {
  const shoal_attack_case *attacked;
  size_t earlier;
  const shoal_frequency *frequency[2];
  const uint32_t *secret[2]; /* by row */
  uint64_t n_rows[2];
} aligner;

/* Can row a of the attacked release and row b of the earlier one be one person's? */
static bool fits(const aligner *x, uint64_t a, uint64_t b) {
  if (x->secret[0][a] != x->secret[1][b]) return false;
  const shoal_frequency *now = x->frequency[0], *then = x->frequency[1];
  for (size_t q = 0; q < now->n_quasi; q++) {
    const shoal_domain *domain = &x->attacked->domains[q];
    const shoal_cover *first =
        shoal_domain_cover(domain, 0, shoal_code_at(now->codes[q], now->tuple_of_row[a]));
    const shoal_cover *second = shoal_domain_cover(
        domain, x->earlier + 1, shoal_code_at(then->codes[q], then->tuple_of_row[b]));
    if (!shoal_domain_overlap(domain, first, second)) return false;
  }
  return true;
}

/*
 * The place in the longer file of each row of the shorter, each as early as can be; false where
 * some row has none. `backwards`: the longer file is gone through from its end.
 */
static bool align(const aligner *x, int shorter, bool backwards, uint64_t *place_of) {
  uint64_t n_short = x->n_rows[shorter], n_long = x->n_rows[!shorter], at = 0;
  for (uint64_t r = 0; r < n_short; r++, at++) {
    for (;; at++) {
      if (n_long - at < n_short - r) return false;
      uint64_t other = backwards ? n_long - 1 - at : at;
      if (shorter == 0 ? fits(x, r, other) : fits(x, other, r)) break;
    }
    if (place_of) place_of[r] = at;
  }
  return true;
}

/* Rows that belong together form classes of both files' labels. */
static shoal_status refine(const aligner *x, int shorter, const uint64_t *place_of,
                           shoal_attack_finding *finding, shoal_error *error) {
  uint64_t n = x->n_rows[shorter];
  uint64_t k = x->attacked->demands->k;
  shoal_ids pairs;
  if (!shoal_ids_init(&pairs, 1024)) return shoal_fail_memory(error);
  uint32_t *pair_of = shoal_alloc((size_t)n, sizeof *pair_of);
  bool ok = pair_of != NULL;
  for (uint64_t r = 0; ok && r < n; r++) {
    uint64_t a = shorter == 0 ? r : place_of[r], b = shorter == 0 ? place_of[r] : r;
    uint64_t key = (uint64_t)x->frequency[0]->tuple_of_row[a] << 32;
    pair_of[r] = shoal_ids_insert(&pairs, key | x->frequency[1]->tuple_of_row[b]);
    ok = pair_of[r] != SHOAL_NO_ID;
  }
  uint64_t *size = ok ? shoal_alloc_zero(pairs.n_ids, sizeof *size) : NULL;
  ok = ok && size;
  for (uint64_t r = 0; ok && r < n; r++) size[pair_of[r]]++;
  for (uint32_t i = 0; ok && i < pairs.n_ids; i++) {
    if (!i || (double)size[i] < finding->reached) finding->reached = (double)size[i];
    finding->reidentified += size[i] == 1;
    if (size[i] >= k) continue;
    finding->below_k += size[i];
    finding->n_classes++;
    shoal_attack_note_example(finding,
                              (shoal_attack_example){.class_id = (uint32_t)(pairs.of_id[i] >> 32),
                                                     .n_rows = size[i],
                                                     .probability = 1.0 / (double)size[i]});
  }
  shoal_ids_reset(&pairs);
  free(size);
  free(pair_of);
  return ok ? SHOAL_OK : shoal_fail_memory(error);
}

static shoal_status compare(aligner *x, shoal_attack_finding *finding, shoal_error *error) {
  int shorter = x->n_rows[1] < x->n_rows[0];
  uint64_t n = x->n_rows[shorter];
  if (n < 2) return SHOAL_OK;
  uint64_t *place_of = shoal_alloc((size_t)n, sizeof *place_of);
  if (!place_of) return shoal_fail_memory(error);
  shoal_status status = SHOAL_OK;
  if (align(x, shorter, false, place_of) && !align(x, shorter, true, NULL)) {
    finding->succeeds = true;
    finding->n_matched = finding->n_rows = n;
    finding->note = "rows are in the same order in both files: release without --keep-order, and "
                    "with another seed";
    status = refine(x, shorter, place_of, finding, error);
  }
  free(place_of);
  return status;
}

static shoal_status run_on(const shoal_attack *self, const shoal_attack_case *attacked,
                           size_t earlier, shoal_attack_findings *findings, shoal_error *error) {
  const shoal_earlier *then = &attacked->earlier[earlier];
  shoal_attack_finding *finding = shoal_attack_findings_add(findings, self, SHOAL_NO_ATTRIBUTE);
  if (!finding) return shoal_fail_memory(error);
  finding->earlier = earlier;
  finding->counts = true;
  finding->required = (double)attacked->demands->k;
  finding->n_tried = attacked->table->n_records;
  finding->note = "rows are not in the same order";
  if (attacked->table->counts || then->table->counts) {
    finding->not_run = "a table of counted tuples has no order of rows";
    return SHOAL_OK;
  }
  shoal_joint joint;
  SHOAL_TRY(shoal_joint_build(&joint, attacked, then, error));
  aligner x = {.attacked = attacked,
               .earlier = earlier,
               .frequency = {attacked->frequency, then->frequency},
               .secret = {joint.secret_of_row, joint.secret_of_row + attacked->table->n_rows},
               .n_rows = {attacked->table->n_rows, then->table->n_rows}};
  shoal_status status = compare(&x, finding, error);
  shoal_joint_reset(&joint);
  return status;
}

static shoal_status run(const shoal_attack *self, const shoal_attack_case *attacked,
                        shoal_attack_findings *findings, shoal_error *error) {
  if (!attacked->n_earlier)
    return shoal_attack_skip(findings, self, SHOAL_NO_ATTRIBUTE,
                             "no earlier release is given (--previous)", error);
  for (size_t i = 0; i < attacked->n_earlier; i++)
    SHOAL_TRY(run_on(self, attacked, i, findings, error));
  return SHOAL_OK;
}

const shoal_attack shoal_attack_order = {
    .name = "unsorted-matching",
    .knowledge = "an earlier release of the same table whose rows are in the same order",
    .learns = "which row of the one release is which of the other",
    .measure = "rows of a class that both releases' labels make",
    .needs = "--previous FILE",
    .run = run,
};
