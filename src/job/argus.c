/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job/argus: mu-Argus as an algorithm of `anonymize`. It suppresses cells, not rows, and may leave
 * rows that break the policy (Samarati 2001, section 7, Figure 12): its result is released only if
 * every class of it satisfies every demand; else it is refused, with what it never looked at.
 */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "job/release.h"
#include "lattice/labels.h"

/* The label that a suppressed cell is written as: that of "*" at the level, or a new one. */
static uint32_t star_label(const shoal_level *level) {
  for (uint32_t t = 0; t < level->n_labels; t++) {
    size_t size;
    const char *label = shoal_level_label(level, t, &size);
    if (size == 1 && *label == '*') return t;
  }
  return level->n_labels;
}

/* Groups tuples by what will be written: labels, and "*" for suppressed cells. */
static bool group_written(const shoal_prepared *p, const shoal_mu_argus *argus,
                          shoal_grouper *grouper, uint32_t *labels, uint32_t *ids,
                          uint32_t *n_ids) {
  const shoal_frequency *f = p->frequency;
  if (!shoal_grouper_start(grouper, f->n_tuples)) return false;
  for (size_t q = 0; q < f->n_quasi; q++) {
    const shoal_level *level = &p->hierarchies[q]->levels[argus->levels[q]];
    uint32_t star = star_label(level);
    for (uint32_t t = 0; t < f->n_tuples; t++)
      labels[t] = argus->suppressed[q][t] ? star : level->of_leaf[shoal_code_at(f->codes[q], t)];
    if (!shoal_grouper_fold(grouper, f->n_tuples, NULL, labels, (uint64_t)level->n_labels + 1, ids))
      return false;
  }
  *n_ids = shoal_grouper_ids(grouper, f->n_tuples, ids);
  return *n_ids != SHOAL_NO_ID;
}

static shoal_status written_classes(const shoal_prepared *p, const shoal_mu_argus *argus,
                                    shoal_classes *classes, shoal_error *error) {
  const shoal_frequency *f = p->frequency;
  shoal_grouper grouper;
  shoal_grouper_init(&grouper);
  uint32_t *labels = shoal_alloc(f->n_tuples, sizeof *labels);
  uint32_t *ids = shoal_alloc(f->n_tuples, sizeof *ids);
  uint32_t n_ids = 0;
  bool ok = labels && ids;
  ok = ok && group_written(p, argus, &grouper, labels, ids, &n_ids);
  shoal_status status =
      ok ? shoal_classes_regroup(&f->base, ids, n_ids, classes, error) : shoal_fail_memory(error);
  free(labels);
  free(ids);
  shoal_grouper_reset(&grouper);
  return status;
}

/* "race+dob+sex (1 row), ..." */
static void list_missed(const shoal_prepared *p, const shoal_mu_argus *argus, shoal_text *text) {
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

static shoal_status refuse(const shoal_prepared *p, const shoal_mu_argus *argus,
                           const shoal_verdict *verdict, shoal_error *error) {
  shoal_text missed;
  shoal_text_init(&missed);
  list_missed(p, argus, &missed);
  bool some = argus->n_missed && !missed.failed;
  shoal_status status =
      shoal_fail(error, SHOAL_REFUSED,
                 "mu-argus leaves %llu of %llu rows in classes that break the policy, after %llu "
                 "combinations%s%s; nothing was written: use samarati, incognito or optimal",
                 (unsigned long long)verdict->suppressed, (unsigned long long)p->table->n_records,
                 (unsigned long long)argus->n_combinations,
                 some ? "; it missed the combinations " : "", some ? missed.bytes : "");
  shoal_text_reset(&missed);
  return status;
}

/* Rows x what a cell loses: all of it where it is suppressed, else by its label's subtree. */
static double attribute_loss(const shoal_prepared *p, const shoal_mu_argus *argus, size_t q) {
  const shoal_frequency *f = p->frequency;
  const shoal_hierarchy *hierarchy = p->hierarchies[q];
  const shoal_level *level = &hierarchy->levels[argus->levels[q]];
  double loss = 0, height = hierarchy->tree_height ? hierarchy->tree_height : 1;
  for (uint32_t t = 0; t < f->n_tuples; t++) {
    double n = (double)f->base.n_rows[t];
    uint32_t label = level->of_leaf[shoal_code_at(f->codes[q], t)];
    loss += argus->suppressed[q][t] ? n : n * level->node_height[label] / height;
  }
  return loss;
}

static shoal_status report_attributes(shoal_release *release, shoal_error *error) {
  const shoal_prepared *p = &release->prepared;
  shoal_result *result = release->result;
  double n = (double)p->table->n_records, n_quasi = (double)p->n_quasi;
  result->attributes = shoal_arena_alloc(&result->arena, p->n_quasi, sizeof *result->attributes);
  if (!result->attributes) return shoal_fail_memory(error);
  result->accuracy = 1;
  for (size_t q = 0; q < p->n_quasi; q++) {
    uint32_t level = release->levels[q], height = result->heights[q];
    double loss = attribute_loss(p, &release->argus, q);
    shoal_label_use use;
    SHOAL_TRY(shoal_label_use_count(p->frequency, q, level, &use, error));
    result->attributes[q] = (shoal_attribute_outcome){.name = result->quasi[q],
                                                      .level = level,
                                                      .height = height,
                                                      .n_before = p->quasi[q]->n_values,
                                                      .n_after = use.n_labels,
                                                      .loss = loss / n};
    result->il += loss;
    result->accuracy -= (double)level / height / n_quasi;
  }
  result->nil = result->il / (n * n_quasi);
  return SHOAL_OK;
}

static shoal_status report(shoal_release *release, const shoal_classes *classes,
                           const uint8_t *breaks, const shoal_verdict *verdict,
                           shoal_error *error) {
  const shoal_prepared *p = &release->prepared;
  shoal_result *result = release->result;
  SHOAL_TRY(shoal_result_released(result, p, classes, breaks, verdict, error));
  result->nodes_checked = release->argus.n_combinations;
  result->completeness = 1;
  for (uint32_t c = 0; c < classes->n_classes; c++)
    result->dm += (double)classes->n_rows[c] * (double)classes->n_rows[c];
  result->avg = (double)result->output_rows / ((double)result->classes * (double)p->demands.k);
  SHOAL_TRY(report_attributes(release, error));
  return shoal_result_warn(result, error,
                           "mu-argus suppressed %llu cells in %llu rows ('*'); combinations of "
                           "more than three attributes it never looks at",
                           (unsigned long long)release->argus.n_cells,
                           (unsigned long long)release->argus.n_rows);
}

static shoal_status judge(shoal_release *release, shoal_error *error) {
  const shoal_prepared *p = &release->prepared;
  shoal_classes classes;
  SHOAL_TRY(written_classes(p, &release->argus, &classes, error));
  uint8_t *breaks = shoal_alloc(classes.n_classes, 1);
  release->fate_of_group = shoal_alloc_zero(p->frequency->n_tuples, 1); /* all are kept */
  shoal_status status = breaks && release->fate_of_group ? SHOAL_OK : shoal_fail_memory(error);
  if (status == SHOAL_OK) {
    shoal_verdict verdict = shoal_judge(&p->demands, p->frequency, &classes, UINT64_MAX, breaks);
    status = verdict.suppressed ? refuse(p, &release->argus, &verdict, error)
                                : report(release, &classes, breaks, &verdict, error);
  }
  free(breaks);
  shoal_classes_reset(&classes);
  return status;
}

shoal_status shoal_release_by_argus(shoal_release *release, shoal_error *error) {
  const shoal_prepared *p = &release->prepared;
  uint8_t *sensitivity = shoal_alloc(p->n_quasi, 1);
  if (!sensitivity) return shoal_fail_memory(error);
  bool given = false;
  for (size_t q = 0; q < p->n_quasi; q++) {
    const shoal_attribute *attribute = p->quasi_attributes[q];
    given = given || attribute->has_sensitivity;
    sensitivity[q] = attribute->has_sensitivity ? attribute->sensitivity : 2;
  }
  shoal_mu_argus_options options = {.k = p->demands.k,
                                    .sensitivity = sensitivity,
                                    .generalize = true,
                                    .reading = given ? SHOAL_MU_ARGUS_RANKS : SHOAL_MU_ARGUS_WIDE};
  shoal_status status = shoal_mu_argus_run(p->frequency, &options, p->run, &release->argus, error);
  free(sensitivity);
  SHOAL_TRY(status);
  release->levels = shoal_alloc(p->n_quasi, sizeof *release->levels);
  if (!release->levels) return shoal_fail_memory(error);
  memcpy(release->levels, release->argus.levels, p->n_quasi * sizeof *release->levels);
  release->hidden = release->argus.suppressed;
  release->group_of_row = p->frequency->tuple_of_row;
  return judge(release, error);
}
