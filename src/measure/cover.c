/* SPDX-License-Identifier: Apache-2.0 */
/*
 * measure/cover: see cover.h. A domain is laid from what the columns know and the labels are read.
 * Labels that nothing is known of are an error if the original is there; else they bring values of
 * their own, and all is done a second time.
 */
#include "measure/cover.h"

#include <stdlib.h>
#include <string.h>

#include "measure/cover_parts.h"

void shoal_domain_reset(shoal_domain *domain) {
  shoal_hierarchy_free(domain->hierarchy);
  free(domain->values.bytes);
  free(domain->values.offsets);
  free(domain->values.is_missing);
  free(domain->place_of);
  free(domain->leaf_at);
  free(domain->numbers);
  free(domain->place_missing);
  for (size_t i = 0; domain->released && i < domain->n_released; i++)
    free(domain->released[i].covers);
  free(domain->released);
  for (size_t w = 0; domain->raw_place && w < domain->n_raw; w++) free(domain->raw_place[w]);
  free(domain->raw_place);
  memset(domain, 0, sizeof *domain);
}

/* The label's file, row and column; never its bytes. */
static shoal_status fail_unknown(const shoal_domain_request *request, shoal_label_at label,
                                 shoal_error *error) {
  const shoal_source_column *released = &request->released[label.released];
  const shoal_column *column = released->column;
  shoal_place place = {.file = released->table->name,
                       .row = column->first_row ? column->first_row[label.code] + 1 : 0,
                       .column = column->name};
  size_t size_bytes;
  const char *bytes = shoal_column_value(column, label.code, &size_bytes);
  shoal_form form = shoal_label_parse(bytes, size_bytes).form;
  bool range = form == SHOAL_FORM_INTERVAL || form == SHOAL_FORM_NUMBER;
  if (range && request->attribute->type != SHOAL_TYPE_NUMBER)
    return shoal_fail_at(error, SHOAL_BAD_INPUT, &place,
                         "the cell reads as numbers, and the policy does not say that '%s' is a "
                         "number: add 'type: number' there, or a hierarchy that has this label",
                         request->attribute->name);
  return shoal_fail_at(error, SHOAL_BAD_INPUT, &place,
                       "the cell stands for no %s: it is no value of it, no label of the "
                       "hierarchy, no interval, prefix or star that holds one; is this a release "
                       "of that data under this policy?",
                       request->complete ? "value of the original" : "known value");
}

static shoal_status lay_and_read(shoal_domain *domain, const shoal_domain_request *request,
                                 shoal_unknown_labels *unknown, shoal_error *error) {
  SHOAL_TRY(shoal_domain_lay(domain, request, unknown, error));
  unknown->n = 0;
  SHOAL_TRY(shoal_domain_read(domain, request, unknown, error));
  if (unknown->n == 0) return SHOAL_OK;
  if (request->complete) return fail_unknown(request, unknown->items[0], error);
  shoal_domain_reset(domain);
  SHOAL_TRY(shoal_domain_lay(domain, request, unknown, error));
  unknown->n = 0;
  SHOAL_TRY(shoal_domain_read(domain, request, unknown, error));
  return unknown->n ? fail_unknown(request, unknown->items[0], error) : SHOAL_OK;
}

shoal_status shoal_domain_init(shoal_domain *domain, const shoal_domain_request *request,
                               shoal_error *error) {
  memset(domain, 0, sizeof *domain);
  shoal_unknown_labels unknown = {0};
  shoal_status status = lay_and_read(domain, request, &unknown, error);
  free(unknown.items);
  if (status != SHOAL_OK) shoal_domain_reset(domain);
  return status;
}

bool shoal_domain_holds_loosely(const shoal_domain *domain, const shoal_cover *cover,
                                uint32_t place) {
  if (cover->prefix) {
    shoal_label value = shoal_domain_leaf(domain, domain->leaf_at[place]);
    return value.size_bytes >= cover->prefix_bytes &&
           memcmp(value.bytes, cover->prefix, cover->prefix_bytes) == 0;
  }
  return !domain->place_missing[place] && shoal_range_holds(&cover->range, domain->numbers[place]);
}

bool shoal_domain_overlap(const shoal_domain *domain, const shoal_cover *a, const shoal_cover *b) {
  if (a->everything || b->everything) return true;
  if (a->is_range && b->is_range) return shoal_range_overlaps(&a->range, &b->range);
  uint32_t lo = a->lo > b->lo ? a->lo : b->lo, hi = a->hi < b->hi ? a->hi : b->hi;
  if (lo > hi || a->lo > a->hi || b->lo > b->hi) return false;
  if (!a->loose && !b->loose) return true;
  for (uint32_t place = lo; place <= hi; place++)
    if (shoal_domain_holds(domain, a, place) && shoal_domain_holds(domain, b, place)) return true;
  return false;
}
