/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job/suppress: what becomes of rows in classes that break the policy, full-domain or local: they
 * are removed, or blanked where the policy asks for it and the class of blanks satisfies it too.
 */
#include <stdlib.h>

#include "job/release.h"
#include "write/csv.h"

/* The class that blanked rows would form. */
typedef struct blank_class {
  shoal_classes together;  /* that class alone */
  uint8_t *joined;         /* the classes that become part of it */
  bool satisfies;          /* every demand */
  uint64_t n_rows;         /* blanked rows, and those of a class that is all "*" anyway */
  uint64_t smallest_other; /* the smallest class besides it; UINT64_MAX if there is none */
} blank_class;

/* Blanked rows may only be written if the class they form satisfies every demand itself. */
static shoal_status judge_blanks(const shoal_prepared *p, const shoal_classes *classes,
                                 const uint8_t *breaks, const uint8_t *stars, blank_class *blank,
                                 shoal_error *error) {
  uint8_t *joined = shoal_alloc(classes->n_classes, 1);
  if (!joined) return shoal_fail_memory(error);
  blank->joined = joined;
  blank->smallest_other = UINT64_MAX;
  for (uint32_t c = 0; c < classes->n_classes; c++) {
    joined[c] = breaks[c] || stars[c];
    if (!joined[c] && classes->n_rows[c] < blank->smallest_other)
      blank->smallest_other = classes->n_rows[c];
  }
  SHOAL_TRY(shoal_classes_join(classes, joined, &blank->together, error));
  blank->n_rows = blank->together.n_rows[0];
  blank->satisfies =
      shoal_judge(&p->demands, p->frequency, &blank->together, UINT64_MAX, NULL).suppressed == 0;
  return SHOAL_OK;
}

/* The blanked rows are released: figures and what is reached include their class. */
static shoal_status count_blanks(shoal_release *release, const shoal_classes *classes,
                                 const blank_class *blank, shoal_error *error) {
  const shoal_prepared *p = &release->prepared;
  shoal_result *result = release->result;
  result->blanked = result->suppressed;
  result->output_rows += result->suppressed;
  if (blank->n_rows == result->suppressed) result->classes++; /* else they join one */
  result->smallest_class =
      blank->n_rows < blank->smallest_other ? blank->n_rows : blank->smallest_other;
  shoal_result_sizes(&result->sizes_after, classes, blank->joined);
  shoal_sizes_add(&result->sizes_after, blank->n_rows);
  SHOAL_TRY(shoal_result_models(result, p, classes, blank->joined, 0, error));
  for (size_t i = 0; i < result->n_models; i++) {
    shoal_model_outcome *outcome = &result->models[i];
    double reached;
    (void)shoal_demand_holds(&p->demands.items[i], p->frequency, &blank->together, 0, &reached);
    bool only = blank->smallest_other == UINT64_MAX;
    size_t attribute = p->demands.items[i].sensitive;
    if (attribute != SHOAL_NO_ATTRIBUTE) {
      uint64_t distinct = shoal_classes_distinct(p->frequency, &blank->together, 0, attribute);
      if (only || distinct < outcome->least_distinct) outcome->least_distinct = distinct;
    }
    if (only || (outcome->at_most ? reached > outcome->reached : reached < outcome->reached))
      outcome->reached = reached;
  }
  return SHOAL_OK;
}

shoal_status shoal_release_suppress(shoal_release *release, const shoal_classes *classes,
                                    const uint8_t *breaks, const uint8_t *stars, uint8_t *fate,
                                    shoal_error *error) {
  shoal_result *result = release->result;
  *fate = SHOAL_FATE_REMOVE;
  if (!release->prepared.policy->blank_suppressed || !result->suppressed) return SHOAL_OK;
  blank_class blank = {0};
  shoal_status status = judge_blanks(&release->prepared, classes, breaks, stars, &blank, error);
  if (status == SHOAL_OK && blank.satisfies) {
    *fate = SHOAL_FATE_BLANK;
    status = count_blanks(release, classes, &blank, error);
  } else if (status == SHOAL_OK) {
    status = shoal_result_warn(result, error,
                               "the %llu suppressed rows were removed, not blanked: as one class "
                               "of blanks they would break the policy",
                               (unsigned long long)result->suppressed);
  }
  free(blank.joined);
  shoal_classes_reset(&blank.together);
  return status;
}
