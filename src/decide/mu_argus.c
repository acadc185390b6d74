/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decide/mu_argus: a decision by mu-Argus. It generalizes single attributes and suppresses
 * cells, not rows, and can leave rows that violate the policy (Samarati 2001, section 7, Figure
 * 12). The decision is accepted only if no class violates; the refusal names combinations it
 * missed.
 */
#include <stdlib.h>

#include "base/text.h"
#include "decide/decision.h"

/* Groups tuples by what is written: labels, and "*" for suppressed cells. */
static bool group_tuples(const shoal_context *p, const shoal_decision *d, shoal_grouper *grouper,
                         uint32_t *labels, uint32_t *ids, uint32_t *n_ids) {
  uint32_t n = d->n_groups;
  if (!shoal_grouper_start(grouper, n)) return false;
  for (size_t q = 0; q < p->n_quasi; q++) {
    for (uint32_t t = 0; t < n; t++) labels[t] = shoal_column_written_index(&d->columns[q], t);
    uint64_t n_labels = (uint64_t)d->columns[q].n_labels + 1;
    if (!shoal_grouper_fold(grouper, n, NULL, labels, n_labels, ids)) return false;
  }
  *n_ids = shoal_grouper_ids(grouper, n, ids);
  return *n_ids != SHOAL_NONE;
}

static shoal_status make_classes(const shoal_context *p, shoal_decision *d, shoal_error *error) {
  shoal_grouper grouper;
  shoal_grouper_init(&grouper);
  uint32_t *labels = shoal_alloc(d->n_groups, sizeof *labels), n_classes = 0;
  d->class_of_group = shoal_alloc(d->n_groups, sizeof *d->class_of_group);
  bool ok = labels && d->class_of_group &&
            group_tuples(p, d, &grouper, labels, d->class_of_group, &n_classes);
  free(labels);
  shoal_grouper_reset(&grouper);
  if (!ok) return shoal_fail_memory(error);
  return shoal_classes_regroup(&p->frequency->base, d->class_of_group, n_classes, &d->classes,
                               error);
}

/* "race+dob+sex (1 row), ..." */
static void list_missed(const shoal_context *p, const shoal_mu_argus *argus, shoal_text *text) {
  enum { MOST = 3 };
  for (size_t i = 0; i < argus->n_missed && i < MOST; i++) {
    const shoal_mu_argus_missed *missed = &argus->missed[i];
    if (i) shoal_text_add(text, ", ");
    for (size_t a = 0; a < missed->n_attributes; a++)
      shoal_text_print(text, "%s%s", a ? "+" : "", p->quasi[missed->attributes[a]]->name);
    shoal_text_print(text, " (%llu row%s)", (unsigned long long)missed->n_rows,
                     missed->n_rows == 1 ? "" : "s");
  }
}

static shoal_status refuse(const shoal_decision *d, const shoal_context *p,
                           const shoal_method *method, shoal_error *error) {
  const shoal_mu_argus *argus = &d->mu_argus;
  shoal_text missed;
  shoal_text_init(&missed);
  list_missed(p, argus, &missed);
  bool some = argus->n_missed && !missed.failed;
  shoal_status status =
      shoal_fail(error, SHOAL_REFUSED,
                 "%s leaves %llu of %llu rows in classes that violate the policy, after %llu "
                 "combinations%s%s: use samarati, incognito or optimal",
                 method->name, (unsigned long long)d->judged.suppressed,
                 (unsigned long long)p->table->n_records, (unsigned long long)argus->n_combinations,
                 some ? "; it missed the combinations " : "", some ? missed.bytes : "");
  shoal_text_reset(&missed);
  return status;
}

static shoal_status run(const shoal_context *p, shoal_mu_argus *argus, shoal_error *error) {
  uint8_t *sensitivity = shoal_alloc(p->n_quasi, 1);
  if (!sensitivity) return shoal_fail_memory(error);
  bool given = false;
  for (size_t q = 0; q < p->n_quasi; q++) {
    const shoal_attribute *attribute = p->quasi_attributes[q];
    given = given || attribute->has_sensitivity;
    sensitivity[q] = attribute->has_sensitivity ? attribute->sensitivity : 2;
  }
  shoal_mu_argus_options options = {.k = p->requirements.k,
                                    .sensitivity = sensitivity,
                                    .generalize = !p->policy->only_cells,
                                    .reading = given ? SHOAL_MU_ARGUS_RANKS : SHOAL_MU_ARGUS_WIDE};
  shoal_status status = shoal_mu_argus_run(p->frequency, &options, p->run, argus, error);
  free(sensitivity);
  return status;
}

shoal_status shoal_decide_mu_argus(const shoal_context *p, const shoal_method *method,
                                   shoal_decision *d, shoal_result *result, shoal_error *error) {
  const shoal_mu_argus *argus = &d->mu_argus;
  SHOAL_TRY(run(p, &d->mu_argus, error));
  SHOAL_TRY(shoal_decision_init(d, SHOAL_METHOD_CELLS, p, argus->levels, error));
  d->max_suppressed = 0; /* it suppresses cells, not rows */
  d->refuse = refuse;
  for (size_t q = 0; q < p->n_quasi; q++) d->columns[q].suppressed = argus->suppressed[q];
  SHOAL_TRY(make_classes(p, d, error));
  SHOAL_TRY(shoal_decision_judge(d, p, error));
  result->release.cells.combinations_checked = argus->n_combinations;
  return shoal_result_warn(result, error,
                           "%s suppressed %llu cells in %llu rows ('*'); it checks no "
                           "combination of more than three attributes",
                           method->name, (unsigned long long)argus->n_cells,
                           (unsigned long long)argus->n_rows);
}
