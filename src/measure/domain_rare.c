/* SPDX-License-Identifier: Apache-2.0 */
/*
 * measure/domain_rare: the label "(rare)" covers the values that are rare in the original. Those of
 * an external table or population are not collected, since their rows do not count: such a value
 * can be one of them unless it is known as a value of the original or is shown by a label.
 */
#include <stdlib.h>

#include "measure/domain_parts.h"

enum { COMMON = 1, CANDIDATE = 2 };

/* Marks values of raw columns; returns the number of those that can be rare. */
static uint32_t mark_values(const shoal_domain *domain, const shoal_domain_request *request,
                            uint8_t *marks) {
  bool collected = false;
  uint32_t n = 0;
  for (size_t w = 0; w < request->n_raw; w++) {
    const shoal_column *column = request->raw[w].column;
    collected = collected || column->collects_rare;
    for (uint32_t v = 0; v < column->n_values; v++) {
      uint32_t at = shoal_domain_position(domain, w, v);
      if (at != SHOAL_NONE) marks[at] |= column->collects_rare ? COMMON : CANDIDATE;
    }
  }
  if (!collected) {
    /* Marks the values that labels of releases show. */
    for (size_t i = 0; i < domain->n_released; i++)
      for (uint32_t code = 0; code < domain->released[i].column->n_values; code++) {
        const shoal_label_span *span = shoal_domain_span(domain, i, code);
        bool shown = span->set || !shoal_domain_is_general(domain, span);
        for (uint32_t at = span->lo; shown && span->lo <= span->hi && at <= span->hi; at++)
          if (shoal_domain_holds(domain, span, at)) marks[at] |= COMMON;
      }
  }
  for (uint32_t at = 0; at < domain->n_positions; at++) {
    if (domain->position_missing[at]) marks[at] |= COMMON;
    n += marks[at] == CANDIDATE;
  }
  return n;
}

/* Adds the candidates to what the label covers. False: no memory. */
static bool extend(shoal_domain *domain, const uint8_t *marks, uint32_t n_candidates,
                   shoal_label_span *span) {
  uint32_t *set = shoal_arena_alloc(&domain->sets, (size_t)span->n_positions + n_candidates,
                                    sizeof *set),
           n = 0;
  if (!set) return false;
  for (uint32_t at = 0; at < domain->n_positions; at++)
    if (marks[at] == CANDIDATE || shoal_domain_holds(domain, span, at)) set[n++] = at;
  span->set = set;
  span->n_positions = n;
  span->lo = set[0];
  span->hi = set[n - 1];
  span->loose = n != span->hi - span->lo + 1;
  return true;
}

/* The position of "(rare)"; SHOAL_NONE: no column has it. */
static uint32_t find_label(const shoal_domain *domain) {
  for (uint32_t at = 0; at < domain->n_positions; at++) {
    shoal_label leaf = shoal_domain_leaf(domain, domain->leaf_at[at]);
    if (shoal_coding_find(&domain->attribute->coding, leaf.bytes, leaf.size_bytes) ==
        SHOAL_CODED_RARE)
      return at;
  }
  return SHOAL_NONE;
}

bool shoal_domain_extend_rare(shoal_domain *domain, const shoal_domain_request *request) {
  uint32_t label = domain->attribute->coding.rare ? find_label(domain) : SHOAL_NONE;
  if (label == SHOAL_NONE) return true;
  uint8_t *marks = shoal_alloc_zero(domain->n_positions, sizeof *marks);
  if (!marks) return false;
  uint32_t n = mark_values(domain, request, marks);
  bool ok = true;
  for (size_t i = 0; n && ok && i < domain->n_released; i++)
    for (uint32_t code = 0; ok && code < domain->released[i].column->n_values; code++) {
      shoal_label_span *span = &domain->released[i].spans[code];
      if (!span->everything && shoal_domain_holds(domain, span, label))
        ok = extend(domain, marks, n, span);
    }
  free(marks);
  return ok;
}
