/* SPDX-License-Identifier: Apache-2.0 */
/* report/page_json: what a page tells, for programs. As in a page, no small numbers of people. */
#ifndef SHOAL_REPORT_PAGE_JSON_H
#define SHOAL_REPORT_PAGE_JSON_H

#include <jansson.h>

#include "report/measures.h"
#include "report/page.h"

/* "columns", "settings" and "files", with a page also "sample" and "attributes", go to `root`. */
void shoal_page_json(const shoal_page *page, json_t *root);

/* Records by the size of their class; what is joined is joined as in the page. */
json_t *shoal_page_json_sizes(const shoal_result *result);
/* Why rows were suppressed; null for numbers from 1 to k - 1. */
json_t *shoal_page_json_causes(const shoal_result *result);
/* What the release is still good for, and what its classes tell of sensitive attributes. */
json_t *shoal_page_json_utility(const shoal_measures *measures);
json_t *shoal_page_json_learning(const shoal_result *result);
json_t *shoal_page_json_clusters(const shoal_result *result);

#endif
