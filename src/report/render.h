/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report/render: the text and the JSON of each kind of result, called by report/result.c. The keys
 * of the JSON are an interface: scripts parse them. Private to this directory.
 */
#pragma once

#include "report/format.h"

void shoal_check_text(const shoal_result *result, shoal_text *text);
json_t *shoal_check_json(const shoal_result *result, shoal_json *json);
void shoal_conditions_text(const shoal_result *result, shoal_text *text);
json_t *shoal_conditions_json(const shoal_result *result, shoal_json *json);
void shoal_profile_text(const shoal_result *result, shoal_text *text);
json_t *shoal_profile_json(const shoal_result *result, shoal_json *json);
void shoal_hierarchy_text(const shoal_result *result, shoal_text *text);
json_t *shoal_hierarchy_json(const shoal_result *result, shoal_json *json);
void shoal_lattice_text(const shoal_result *result, shoal_text *text);
json_t *shoal_lattice_json(const shoal_result *result, shoal_json *json);
void shoal_distances_text(const shoal_result *result, shoal_text *text);
json_t *shoal_distances_json(const shoal_result *result, shoal_json *json);
void shoal_explain_text(const shoal_result *result, shoal_text *text);
json_t *shoal_explain_json(const shoal_result *result, shoal_json *json);
void shoal_release_text(const shoal_result *result, shoal_text *text);
json_t *shoal_release_json(const shoal_result *result, shoal_json *json);
void shoal_measure_text(const shoal_result *result, shoal_text *text);
json_t *shoal_measure_json(const shoal_result *result, shoal_json *json);
void shoal_attack_text(const shoal_result *result, shoal_text *text);
json_t *shoal_attack_json(const shoal_result *result, shoal_json *json);
void shoal_certificate_text(const shoal_result *result, shoal_text *text);
json_t *shoal_certificate_json(const shoal_result *result, shoal_json *json);

/* ---- the verdict and its reasons (verdict.c); nothing where none was judged */

void shoal_verdict_text(const shoal_result *result, shoal_text *text);
/* Sets "verdict" (null: not judged), "risks" and "undecided". */
void shoal_verdict_json(const shoal_result *result, json_t *root, shoal_json *json);

/* ---- parts that the reports of check and release share (check.c) */

void shoal_models_text(const shoal_model_outcomes *models, shoal_text *text);
json_t *shoal_models_json(const shoal_result *result, shoal_json *json);
/* Records by the size of their class; sizes are joined where 1 to k - 1 records would be shown. */
json_t *shoal_class_sizes_json(const shoal_result *result, shoal_json *json);

/* ---- what `auto` tried, and the alternatives of a release (alternatives.c) */

json_t *shoal_tried_json(const shoal_release_report *release, shoal_json *json);
void shoal_alternatives_text(const shoal_release_report *release, shoal_text *text);
json_t *shoal_alternatives_json(const shoal_alternatives *alternatives, shoal_json *json);

/* ---- figures of utility that a page and the JSON of a release show (measure.c) */

typedef struct shoal_utility_figure {
  const char *key, *title, *meaning;
  size_t offset; /* of a double in shoal_measures */
} shoal_utility_figure;

/* Ends with an entry whose key is NULL. */
const shoal_utility_figure *shoal_utility_figures(void);
/* NAN: it cannot be computed. */
double shoal_utility_value(const shoal_measures *measures, const shoal_utility_figure *figure);

/* The attacks alone, for the report of a release: null for numbers of people from 1 to k - 1. */
json_t *shoal_attacks_array(const shoal_result *result, shoal_json *json);
