/* SPDX-License-Identifier: Apache-2.0 */
/* decide/models_report: parts of results that more than one job fills. Strings go to its arena. */
#pragma once

#include "context/context.h"
#include "measure/pair.h"
#include "report/result.h"

/* The first and last year that years of two digits mean; 0: the attribute has none. */
void shoal_result_years(const shoal_attribute *attribute, unsigned *first, unsigned *last);

/*
 * Source, rows, quasi-identifiers and heights; warns if values of an identifier repeat, or years of
 * two digits have no pivot.
 */
shoal_status shoal_result_input(shoal_result *result, const shoal_context *context,
                                shoal_error *error) SHOAL_MUST_CHECK;
/* The quasi-identifiers that the requirement is about. */
shoal_status shoal_result_over(shoal_result *result, const shoal_context *context,
                               const shoal_requirement *requirement, shoal_over *over,
                               shoal_error *error) SHOAL_MUST_CHECK;
/*
 * Judges every requirement on the classes except those with left_out[c] (NULL: none), and sets
 * result->holds. `worst`: examples of violating classes per requirement, at most 16.
 * `class_of_row`: to count the people of classes over sets, as shoal_classes_count_distinct does;
 * NULL: only as many as are required.
 */
shoal_status shoal_result_models(shoal_result *result, const shoal_context *context,
                                 const shoal_classes *classes, const shoal_labelling *labelling,
                                 const uint8_t *left_out, const uint32_t *class_of_row,
                                 size_t worst, shoal_model_outcomes *models,
                                 shoal_error *error) SHOAL_MUST_CHECK;
/* Mandatory rules of the policy: codes of the table's columns, and limits of levels. */
size_t shoal_count_rules(const shoal_context *context);
/*
 * Adds to `models`, which has room, an outcome for each rule: the rows with a cell that shows more
 * than it may. Clears result->holds if there are some.
 */
shoal_status shoal_result_rules(shoal_result *result, const shoal_context *context,
                                shoal_model_outcomes *models, shoal_error *error) SHOAL_MUST_CHECK;
/*
 * The same for the limits of levels, after shoal_result_models. `masked`: the context's table is a
 * release; otherwise a decision was made within the limits, which the verifier proves.
 */
shoal_status shoal_result_levels(shoal_result *result, const shoal_context *context, bool masked,
                                 shoal_model_outcomes *models, shoal_error *error) SHOAL_MUST_CHECK;
/* Class sizes, except of classes with left_out[c] (NULL: none). */
void shoal_result_sizes(shoal_class_sizes *sizes, const shoal_classes *classes,
                        const uint8_t *left_out);
/* The necessary conditions for the policy's p: of every sensitive attribute, and of all. */
shoal_status shoal_result_conditions(shoal_result *result, const shoal_context *context,
                                     shoal_condition_outcomes *conditions,
                                     shoal_error *error) SHOAL_MUST_CHECK;
/*
 * The same, the bounds of every model, and frequency sets. Sets result->holds: every bound can be
 * met, and no p is above k.
 */
shoal_status shoal_result_bounds(shoal_result *result, const shoal_context *context,
                                 shoal_conditions_report *report,
                                 shoal_error *error) SHOAL_MUST_CHECK;
/* A node's levels and figures. `chosen` is not set. */
shoal_status shoal_result_add_node(shoal_result *result, const shoal_space *space,
                                   const shoal_node *node, shoal_node_outcome *outcome,
                                   shoal_error *error) SHOAL_MUST_CHECK;

/* Figures of a release (measure/measure.h), with a warning for each identifier that it has. */
shoal_status shoal_result_measure(shoal_result *result, const shoal_context *original,
                                  const shoal_table *masked, const shoal_release_origin *origin,
                                  const shoal_measure_options *options, shoal_measured *measured,
                                  shoal_error *error) SHOAL_MUST_CHECK;
