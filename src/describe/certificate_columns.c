/* SPDX-License-Identifier: Apache-2.0 */
/*
 * describe/certificate_columns: how each column of a release was handled, read from its labels
 * alone: levels of the hierarchy, masked characters, widths of intervals, and the mean loss per
 * row.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attack/setup.h"
#include "base/intern.h"
#include "base/text.h"
#include "decide/risks.h"
#include "describe/certificate.h"

/* The labels of one quasi-identifier. */
typedef struct labels {
  const shoal_domain *domain;
  const shoal_column *column;
  const shoal_attribute *attribute;
  uint64_t *rows;                            /* by code */
  uint32_t n_everything, n_general, n_exact; /* labels of each kind */
} labels;

static shoal_label label_of(const labels *l, uint32_t code) {
  shoal_label label;
  label.bytes = shoal_column_value(l->column, code, &label.size_bytes);
  return label;
}

static bool is_mask(const labels *l) {
  return l->attribute->has_hierarchy && l->attribute->hierarchy.kind == SHOAL_HIERARCHY_MASK;
}

/* Mask characters at the masked end of a label. */
static size_t masked_characters(const labels *l, uint32_t code) {
  const shoal_hierarchy_spec *spec = &l->attribute->hierarchy;
  shoal_label label = label_of(l, code);
  size_t n = 0;
  while (n < label.size_bytes &&
         label.bytes[spec->mask_left ? n : label.size_bytes - 1 - n] == spec->mask_char)
    n++;
  return n;
}

static bool is_everything(const labels *l, uint32_t code) {
  size_t size = label_of(l, code).size_bytes;
  if (is_mask(l) && size && masked_characters(l, code) == size) return true;
  return shoal_domain_span(l->domain, 0, code)->everything;
}

/* It covers several values, but not all. The domain takes a masked label for a value. */
static bool is_general(const labels *l, uint32_t code) {
  if (is_everything(l, code)) return false;
  if (is_mask(l)) return masked_characters(l, code) > 0;
  return shoal_domain_is_general(l->domain, shoal_domain_span(l->domain, 0, code));
}

static void count_kinds(labels *l) {
  for (uint32_t code = 0; code < l->column->n_values; code++) {
    if (is_everything(l, code)) l->n_everything++;
    else if (is_general(l, code)) l->n_general++;
    else l->n_exact++;
  }
}

/* ------------------------------------------------------------ words */

/* "3", "1 to 3" */
static void print_range(char *out, size_t size, unsigned long long least, unsigned long long most) {
  if (least == most) (void)snprintf(out, size, "%llu", most);
  else (void)snprintf(out, size, "%llu to %llu", least, most);
}

/* Levels of the labels; false: some label is of no level. */
static bool describe_levels(const labels *l, char *out, size_t size) {
  uint32_t height = shoal_hierarchy_height(l->domain->hierarchy);
  uint32_t common = l->domain->released[0].level, least = UINT32_MAX, most = 0;
  char range[48];
  for (uint32_t code = 0; code < l->column->n_values; code++) {
    const shoal_label_span *span = shoal_domain_span(l->domain, 0, code);
    uint32_t level = span->everything ? height : common != SHOAL_NONE ? common : span->level;
    if (level == SHOAL_NONE) return false;
    if (level < least) least = level;
    if (level > most) most = level;
  }
  print_range(range, sizeof range, least, most);
  (void)snprintf(out, size, "generalized to level%s %s of %u%s", least < most ? "s" : "", range,
                 height, least == height ? ", one label for all" : "");
  return true;
}

/* "intervals 5 to 14 wide"; a single number is 0 wide. */
static void describe_widths(const labels *l, char *out, size_t size) {
  double least = INFINITY, most = 0;
  const char *unit = l->domain->attribute->coding.dates ? " days" : "";
  for (uint32_t code = 0; code < l->column->n_values; code++) {
    const shoal_label_span *span = shoal_domain_span(l->domain, 0, code);
    const shoal_range *range = &span->range;
    if (span->everything || !span->is_range || !range->has_low || !range->has_high) continue;
    double width = shoal_decimal_double(range->high) - shoal_decimal_double(range->low);
    if (width < least) least = width;
    if (width > most) most = width;
  }
  if (least > most) (void)snprintf(out, size, "generalized");
  else if (least < most)
    (void)snprintf(out, size, "intervals, %.6g to %.6g%s wide (upper end minus lower end)", least,
                   most, unit);
  else (void)snprintf(out, size, "intervals, %.6g%s wide (upper end minus lower end)", most, unit);
}

static void describe_labels(const labels *l, char *out, size_t size) {
  const shoal_domain *domain = l->domain;
  if (!l->n_general && !l->n_exact) (void)snprintf(out, size, "hidden: one label for all rows");
  else if (is_mask(l) && l->n_general) {
    const shoal_hierarchy_spec *spec = &l->attribute->hierarchy;
    uint64_t least = UINT64_MAX, most = 0;
    char range[48];
    for (uint32_t code = 0; code < l->column->n_values; code++) {
      if (shoal_column_missing(l->column, code)) continue;
      uint64_t n = masked_characters(l, code);
      if (n < least) least = n;
      if (n > most) most = n;
    }
    print_range(range, sizeof range, least == UINT64_MAX ? 0 : least, most);
    (void)snprintf(out, size, "the %s %s character%s masked", spec->mask_left ? "first" : "last",
                   range, most == 1 ? "" : "s");
  } else if (!l->n_general)
    (void)snprintf(out, size, "%s", l->n_everything ? "single values, or hidden" : "single values");
  else if (!domain->hierarchy || !describe_levels(l, out, size)) {
    /* "sets of 2 to 5 values"; false: none is a set. */
    uint32_t least = UINT32_MAX, most = 0;
    char range[48];
    for (uint32_t code = 0; code < l->column->n_values; code++) {
      const shoal_label_span *span = shoal_domain_span(l->domain, 0, code);
      if (!span->set || span->n_positions < 2) continue;
      if (span->n_positions < least) least = span->n_positions;
      if (span->n_positions > most) most = span->n_positions;
    }
    print_range(range, sizeof range, least, most);
    if (most)
      (void)snprintf(out, size, "%ssets of %s values", l->n_exact ? "single values and " : "",
                     range);
    bool described = most > 0;
    if (!described && domain->is_number) describe_widths(l, out, size);
    else if (!described) (void)snprintf(out, size, "generalized, class by class");
    if (l->n_everything) {
      size_t used = strlen(out);
      (void)snprintf(out + used, size - used, "; some are hidden");
    }
  }
}

/* ------------------------------------------------------------ figures */

static uint64_t *count_rows(const shoal_context *p, size_t q) {
  const shoal_frequency_set *f = p->frequency;
  uint64_t *rows = shoal_alloc_zero(p->quasi[q]->n_values, sizeof *rows);
  for (uint32_t c = 0; rows && c < f->base.n_classes; c++)
    rows[shoal_code_at(f->codes[q], f->base.tuple[c])] += f->base.n_rows[c];
  return rows;
}

/* Numbers of local recoding are intervals of their own, not labels of a level. */
static bool is_by_width(const labels *l, const shoal_label_span *span) {
  return span->is_range && l->domain->released[0].level == SHOAL_NONE &&
         !l->attribute->recode_hierarchy;
}

/* The loss of one label, 0 to 1. Masked characters count alike. */
static double loss_of(const labels *l, uint32_t code) {
  const shoal_label_span *span = shoal_domain_span(l->domain, 0, code);
  if (is_everything(l, code)) return 1;
  if (is_mask(l)) {
    shoal_label label = label_of(l, code);
    size_t n = 0;
    for (size_t at = 0; at < label.size_bytes; n++) {
      size_t size = shoal_utf8_size(label.bytes + at, label.size_bytes - at);
      at += size ? size : 1;
    }
    return n ? (double)masked_characters(l, code) / (double)n : 0;
  }
  return is_by_width(l, span) ? span->width : span->height_loss;
}

static double mean_loss(const labels *l, uint64_t n_rows) {
  double sum = 0;
  for (uint32_t code = 0; code < l->column->n_values; code++)
    sum += (double)l->rows[code] * loss_of(l, code);
  return n_rows ? sum / (double)n_rows : 0;
}

/* The general label of most rows, of equal ones the first by its bytes; SHOAL_NONE: none. */
static uint32_t frequent_label(const labels *l) {
  uint32_t best = SHOAL_NONE;
  for (uint32_t code = 0; code < l->column->n_values; code++) {
    if (!is_general(l, code)) continue;
    if (best != SHOAL_NONE && l->rows[code] < l->rows[best]) continue;
    if (best != SHOAL_NONE && l->rows[code] == l->rows[best]) {
      shoal_label a = label_of(l, code), b = label_of(l, best);
      size_t size = a.size_bytes < b.size_bytes ? a.size_bytes : b.size_bytes;
      int order = size ? memcmp(a.bytes, b.bytes, size) : 0;
      if (order > 0 || (order == 0 && a.size_bytes >= b.size_bytes)) continue;
    }
    best = code;
  }
  return best;
}

/* ------------------------------------------------------------ columns */

enum { LONGEST_EXAMPLE = 60 };

static shoal_status describe_quasi(shoal_result *result, const shoal_attack_setup *setup, size_t q,
                                   shoal_certificate_column *column, shoal_error *error) {
  const shoal_context *p = &setup->context;
  column->done = "cannot be read from its labels";
  column->loss = NAN;
  if (!setup->has_domain[q]) return SHOAL_OK;
  labels l = {.domain = &setup->domains[q],
              .column = p->quasi[q],
              .attribute = p->quasi_attributes[q],
              .rows = count_rows(p, q)};
  if (!l.rows) return shoal_fail_memory(error);
  char words[200];
  count_kinds(&l);
  describe_labels(&l, words, sizeof words);
  column->loss = mean_loss(&l, p->table->n_records);
  column->done = shoal_result_string(result, words, strlen(words));
  bool ok = column->done != NULL;
  uint32_t frequent = frequent_label(&l);
  if (ok && frequent != SHOAL_NONE && label_of(&l, frequent).size_bytes <= LONGEST_EXAMPLE) {
    shoal_label label = label_of(&l, frequent);
    column->example = shoal_result_string(result, label.bytes, label.size_bytes);
    ok = column->example != NULL;
  }
  free(l.rows);
  return ok ? SHOAL_OK : shoal_fail_memory(error);
}

static const struct {
  const char *role, *done;
} roles[] = {
    [SHOAL_ROLE_IDENTIFIER] = {"identifier", "in the release, although the policy removes it"},
    [SHOAL_ROLE_QUASI] = {"quasi-identifier", NULL},
    [SHOAL_ROLE_SENSITIVE] = {"sensitive", "released unchanged; models protect it"},
    [SHOAL_ROLE_KEEP] = {"kept", "released unchanged, not protected"},
    [SHOAL_ROLE_PSEUDONYM] = {"pseudonym", "identifiers replaced by keyed hashes"},
    [SHOAL_ROLE_PERSON] = {"person", "in the release, although the policy removes it"},
    [SHOAL_ROLE_HOUSEHOLD] = {"household", "in the release, although the policy removes it"},
    [SHOAL_ROLE_DROP] = {"not in the policy", "in the release, although the policy removes it"},
};

static shoal_status add_released(shoal_result *result, const shoal_attack_setup *setup,
                                 shoal_error *error) {
  const shoal_context *p = &setup->context;
  shoal_certificate_report *c = result->certificate;
  size_t n_known = 0, q = 0;
  double sum = 0;
  for (size_t i = 0; i < p->table->n_columns; i++) {
    const char *name = p->table->columns[i].name;
    shoal_role role = p->roles[i];
    shoal_certificate_column *column = &c->columns[c->n_columns++];
    *column = (shoal_certificate_column){.name = shoal_result_string(result, name, strlen(name)),
                                         .role = roles[role].role,
                                         .done = roles[role].done,
                                         .quasi = role == SHOAL_ROLE_QUASI};
    if (!column->name) return shoal_fail_memory(error);
    column->stated =
        role == SHOAL_ROLE_SENSITIVE || role == SHOAL_ROLE_KEEP || role == SHOAL_ROLE_PSEUDONYM;
    if (role == SHOAL_ROLE_SENSITIVE &&
        shoal_safety_lists(&result->safety, SHOAL_RISK_UNPROTECTED, NULL, name))
      column->done = "released unchanged; no model protects it";
    if (role == SHOAL_ROLE_DROP)
      SHOAL_TRY(shoal_risk_add(result, p->policy, SHOAL_RISK_KEPT, name, NULL, true,
                               "the policy removes it, and the release has it", error));
    if (!column->quasi) continue;
    SHOAL_TRY(describe_quasi(result, setup, q++, column, error));
    if (isnan(column->loss)) continue;
    sum += column->loss;
    n_known++;
  }
  c->loss = q && n_known == q ? sum / (double)q : NAN;
  return SHOAL_OK;
}

/* Does the release have a column that this entry of the policy applies to? */
static bool applies(const shoal_context *p, const shoal_attribute *entry) {
  for (size_t c = 0; c < p->table->n_columns; c++)
    if (shoal_policy_attribute(p->policy, p->table->columns[c].name) == entry) return true;
  return false;
}

shoal_status shoal_certificate_columns(shoal_result *result, const shoal_attack_setup *setup,
                                       shoal_error *error) {
  const shoal_context *p = &setup->context;
  shoal_certificate_report *c = result->certificate;
  size_t room = p->table->n_columns + p->policy->n_attributes;
  c->columns = shoal_arena_alloc(&result->arena, room, sizeof *c->columns);
  if (!c->columns) return shoal_fail_memory(error);
  SHOAL_TRY(add_released(result, setup, error));
  /* Identifiers and pseudonyms that the release does not have, under the names that the policy
   * gives them. */
  for (size_t i = 0; i < p->policy->n_attributes; i++) {
    const shoal_attribute *attribute = &p->policy->attributes[i];
    bool is_removed = shoal_role_is_removed(attribute->role);
    if ((!is_removed && attribute->role != SHOAL_ROLE_PSEUDONYM) || applies(p, attribute)) continue;
    shoal_certificate_column *column = &c->columns[c->n_columns++];
    *column = (shoal_certificate_column){
        .name = shoal_result_string(result, attribute->name, strlen(attribute->name)),
        .role = roles[attribute->role].role,
        .done = "not in the release"};
    if (!column->name) return shoal_fail_memory(error);
  }
  return SHOAL_OK;
}
