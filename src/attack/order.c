/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attack/order: unsorted matching (Sweeney 2002, section 4.1). If two releases have their rows in
 * the same order, each row of one belongs to a row of the other: the labels of both hold for one
 * person, whose class becomes smaller than in either. The order counts as the same if the rows of
 * the shorter file can be found in the longer one, in sequence, with labels that overlap and equal
 * sensitive values, and cannot be found so in the reversed file.
 */
#include <assert.h>
#include <stdlib.h>

#include "attack/joint.h"
#include "base/hash.h"

typedef struct aligner {
  const shoal_attack_case *attacked;
  size_t previous;
  const shoal_frequency_set *frequency[2];
  const uint32_t *sensitive_tuple[2]; /* by row */
  uint64_t n_rows[2];
} aligner;

/* Can row a of the attacked release and row b of the earlier one be the same person? */
static bool fits(const aligner *x, uint64_t a, uint64_t b) {
  if (x->sensitive_tuple[0][a] != x->sensitive_tuple[1][b]) return false;
  const shoal_frequency_set *now = x->frequency[0], *earlier = x->frequency[1];
  for (size_t q = 0; q < now->n_quasi; q++) {
    const shoal_domain *domain = &x->attacked->domains[q];
    const shoal_label_span *first =
        shoal_domain_span(domain, 0, shoal_code_at(now->codes[q], now->tuple_of_row[a]));
    const shoal_label_span *second = shoal_domain_span(
        domain, x->previous + 1, shoal_code_at(earlier->codes[q], earlier->tuple_of_row[b]));
    if (!shoal_domain_overlap(domain, first, second)) return false;
  }
  return true;
}

/*
 * Finds for each row of the shorter file its first possible position in the longer one, in
 * sequence. False if a row has none. `backwards`: reads the longer file from its end.
 */
static bool align(const aligner *x, int shorter, bool backwards, uint64_t *position_of) {
  uint64_t n_short = x->n_rows[shorter], n_long = x->n_rows[!shorter], at = 0;
  for (uint64_t r = 0; r < n_short; r++, at++) {
    for (;; at++) {
      if (n_long - at < n_short - r) return false;
      uint64_t other = backwards ? n_long - 1 - at : at;
      if (shorter == 0 ? fits(x, r, other) : fits(x, other, r)) break;
    }
    if (position_of) position_of[r] = at;
  }
  return true;
}

/* Groups the aligned rows by the labels of both files and counts classes below k. */
static shoal_status refine(const aligner *x, int shorter, const uint64_t *position_of,
                           shoal_attack_finding *finding, shoal_error *error) {
  uint64_t n = x->n_rows[shorter];
  uint64_t k = x->attacked->requirements->k;
  shoal_ids pairs;
  if (!shoal_ids_init(&pairs, 1024)) return shoal_fail_memory(error);
  uint32_t *pair_of = shoal_alloc((size_t)n, sizeof *pair_of);
  bool ok = pair_of != NULL;
  for (uint64_t r = 0; ok && r < n; r++) {
    uint64_t a = shorter == 0 ? r : position_of[r], b = shorter == 0 ? position_of[r] : r;
    uint64_t key = (uint64_t)x->frequency[0]->tuple_of_row[a] << 32;
    pair_of[r] = shoal_ids_insert(&pairs, key | x->frequency[1]->tuple_of_row[b]);
    ok = pair_of[r] != SHOAL_NONE;
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
  assert(n <= x->n_rows[!shorter]);
  if (n < 2) {
    finding->not_run = "one of the releases has fewer than two rows, which have no order";
    return SHOAL_OK;
  }
  uint64_t *position_of = shoal_alloc((size_t)n, sizeof *position_of);
  if (!position_of) return shoal_fail_memory(error);
  shoal_status status = SHOAL_OK;
  if (align(x, shorter, false, position_of) && !align(x, shorter, true, NULL)) {
    finding->succeeds = true;
    finding->n_matched = finding->n_rows = n;
    finding->note = "rows are in the same order in both files: release without --keep-order, and "
                    "with another seed";
    status = refine(x, shorter, position_of, finding, error);
  }
  free(position_of);
  return status;
}

static shoal_status run_previous(const shoal_attack *self, const shoal_attack_case *attacked,
                                 size_t previous, shoal_attack_findings *findings,
                                 shoal_error *error) {
  const shoal_previous_release *earlier = &attacked->previous[previous];
  shoal_attack_finding *finding = shoal_attack_findings_add(findings, self, SHOAL_NO_ATTRIBUTE);
  if (!finding) return shoal_fail_memory(error);
  finding->previous = previous;
  finding->counts = true;
  finding->required = (double)attacked->requirements->k;
  finding->n_tried = attacked->table->n_records;
  finding->note = "rows are not in the same order";
  if (attacked->table->counts || earlier->table->counts) {
    finding->not_run = "a table of counted tuples has no order of rows";
    return SHOAL_OK;
  }
  shoal_joint joint;
  SHOAL_TRY(shoal_joint_build(&joint, attacked, earlier, error));
  aligner x = {.attacked = attacked,
               .previous = previous,
               .frequency = {attacked->frequency, earlier->frequency},
               .sensitive_tuple = {joint.sensitive_tuple_of_row,
                                   joint.sensitive_tuple_of_row + attacked->table->n_rows},
               .n_rows = {attacked->table->n_rows, earlier->table->n_rows}};
  shoal_status status = compare(&x, finding, error);
  shoal_joint_reset(&joint);
  return status;
}

const shoal_attack shoal_attack_order = {
    .name = "unsorted-matching",
    .knowledge = "an earlier release of the same table whose rows are in the same order",
    .learns = "which row of the one release is which of the other",
    .measure = "rows of a class that both releases' labels make",
    .needs = "--previous FILE",
    .run_previous = run_previous,
};
