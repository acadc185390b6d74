/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report/measures: utility and risk of a release and their renderings. The figures themselves are
 * plain data (measure/figures.h) and hang on shoal_result as `measures` and `risk`.
 */
#ifndef SHOAL_REPORT_MEASURES_H
#define SHOAL_REPORT_MEASURES_H

#include "measure/figures.h"
#include "report/result.h"

/* Renderings of both. `shoal_render_json` and `shoal_render_text` call them. */
struct json_t;
struct json_t *shoal_render_measure_json(const shoal_result *result); /* the command's */
struct json_t *shoal_render_measures_json(const shoal_measures *measures);
struct json_t *shoal_render_risk_json(const shoal_risk *risk);
void shoal_render_measures_text(const shoal_result *result, shoal_text *text);

#endif
