/* SPDX-License-Identifier: Apache-2.0 */
/*
 * group/project: classes over some of the quasi-identifiers. The labels of the others are ignored:
 * not every attribute has a top level to put it at.
 */
#include <stdlib.h>
#include <string.h>

#include "group/classes.h"

/* The classes that are not left out, and scratch for their labels. */
typedef struct projection {
  const shoal_frequency_set *frequency;
  const shoal_labelling *labelling;
  size_t n;
  uint32_t *chosen; /* the classes */
  uint32_t *tuple;  /* of each */
  uint32_t *labels; /* of each in one quasi-identifier */
  uint32_t *ids;
} projection;

static void reset(projection *p) {
  free(p->chosen);
  free(p->tuple);
  free(p->labels);
  free(p->ids);
}

static bool init(projection *p, const shoal_classes *classes, const uint8_t *left_out) {
  size_t n = classes->n_classes;
  p->chosen = shoal_alloc(n, sizeof *p->chosen);
  p->tuple = shoal_alloc(n, sizeof *p->tuple);
  p->labels = shoal_alloc(n, sizeof *p->labels);
  p->ids = shoal_alloc(n, sizeof *p->ids);
  if (!p->chosen || !p->tuple || !p->labels || !p->ids) return false;
  for (uint32_t c = 0; c < n; c++) {
    if (left_out && left_out[c]) continue;
    p->chosen[p->n] = c;
    p->tuple[p->n++] = classes->tuple[c];
  }
  return true;
}

static bool fold(projection *p, size_t q, shoal_grouper *grouper) {
  const uint32_t *levels = p->labelling->levels;
  if (p->labelling->of_class || !levels) {
    /* Labels of one quasi-identifier without a hierarchy, or given by class. */
    const uint32_t *const *of_class = p->labelling->of_class;
    uint32_t max = 0;
    for (size_t i = 0; i < p->n; i++) {
      uint32_t label =
          of_class ? of_class[q][p->chosen[i]] : shoal_code_at(p->frequency->codes[q], p->tuple[i]);
      p->labels[i] = label;
      if (label > max) max = label;
    }
    return shoal_grouper_fold(grouper, p->n, NULL, p->labels, (uint64_t)max + 1, p->ids);
  }
  const shoal_level *level = &p->frequency->hierarchies[q]->levels[levels[q]];
  return shoal_grouper_fold_codes(grouper, p->n, p->tuple, p->frequency->codes[q], level->of_leaf,
                                  level->n_labels, p->ids);
}

/* The number of classes over the set; SHOAL_NONE: no memory. */
static uint32_t group(projection *p, const shoal_quasi_set *set, shoal_grouper *grouper) {
  if (!shoal_grouper_start(grouper, p->n)) return SHOAL_NONE;
  for (size_t i = 0; i < set->n; i++)
    if (!fold(p, set->quasi[i], grouper)) return SHOAL_NONE;
  return shoal_grouper_ids(grouper, p->n, p->ids);
}

shoal_status shoal_classes_project(const shoal_frequency_set *frequency,
                                   const shoal_classes *classes, const shoal_labelling *labelling,
                                   const shoal_quasi_set *set, const uint8_t *left_out,
                                   shoal_grouper *grouper, shoal_classes *over, uint32_t *ids,
                                   shoal_error *error) {
  projection p = {.frequency = frequency, .labelling = labelling};
  memset(over, 0, sizeof *over);
  uint32_t n = init(&p, classes, left_out) ? group(&p, set, grouper) : SHOAL_NONE;
  shoal_status status = n == SHOAL_NONE ? shoal_fail_memory(error) : SHOAL_OK;
  if (status == SHOAL_OK) { /* those left out become one class more, which is cut off */
    for (uint32_t c = 0; c < classes->n_classes; c++) ids[c] = n;
    for (size_t i = 0; i < p.n; i++) ids[p.chosen[i]] = p.ids[i];
    status = set->sizes_only ? shoal_classes_regroup_sizes(classes, ids, n + 1, over, error)
                             : shoal_classes_regroup(classes, ids, n + 1, over, error);
  }
  if (status == SHOAL_OK) over->n_classes = n;
  reset(&p);
  return status;
}
