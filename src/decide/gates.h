/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decide/gates: what must be decided or accepted before a table is published, and the risk of
 * columns that are kept. `_list` functions add risks to result->safety; `_check` and `_refuse_open`
 * turn them into an error.
 */
#pragma once

#include "decide/risks.h"

/*
 * Adds kept columns that identify people by themselves, or that could not be measured: they block
 * publication unless the policy accepts them by name. Cost: a pass over the codes of kept columns,
 * nothing for sampled ones.
 */
shoal_status shoal_gates_list(shoal_result *result, const shoal_context *context,
                              shoal_error *error) SHOAL_MUST_CHECK;

/* SHOAL_BAD_INPUT for a cell "*" of the original where the hierarchy has no other label. */
shoal_status shoal_gates_check_stars(const shoal_context *context,
                                     shoal_error *error) SHOAL_MUST_CHECK;

/*
 * Adds quasi-identifiers whose labels in local recoding would show values that identify people:
 * they block too. The table is the original. Cost: as above.
 */
shoal_status shoal_gates_list_labels(shoal_result *result, const shoal_context *context,
                                     shoal_error *error) SHOAL_MUST_CHECK;

/*
 * Adds kept columns that single out more than one row in SHOAL_KEPT_SHARE together with the
 * quasi-identifiers (docs/security.md), and sensitive years, dates and ages that do. Columns that
 * shoal_gates_list added are skipped.
 */
enum { SHOAL_KEPT_SHARE = 5 };
shoal_status shoal_gates_list_kept(shoal_result *result, const shoal_context *context,
                                   const shoal_classes *classes, const uint8_t *left_out,
                                   shoal_error *error) SHOAL_MUST_CHECK;

/* SHOAL_BAD_INPUT, with what to do, if an attribute is undecided or a listed risk blocks. */
shoal_status shoal_gates_check(const shoal_result *result, const shoal_context *context,
                               shoal_error *error) SHOAL_MUST_CHECK;

/* SHOAL_REFUSED, naming them, if a risk is not accepted. */
shoal_status shoal_gates_refuse_open(const shoal_result *result,
                                     shoal_error *error) SHOAL_MUST_CHECK;

/* Lists all risks of the context's table as it is: `check`, and a release that `measure`, `attack`
 * or `certificate` read. It refuses nothing. The caller has judged the models: result->holds. */
shoal_status shoal_gates_judge(shoal_result *result, const shoal_context *context,
                               shoal_error *error) SHOAL_MUST_CHECK;

/* ---- check_inputs.c */

/*
 * Fails with SHOAL_BAD_INPUT if `anonymize` would refuse the policy, or a cell that is neither raw
 * nor a label. Warns of quasi-identifiers without a hierarchy. The context has scope CLASSES. Cost:
 * the distinct values x levels.
 */
shoal_status shoal_check_inputs(const shoal_context *context, shoal_result *result,
                                shoal_error *error) SHOAL_MUST_CHECK;
/*
 * Warns of a policy that is probably not meant so: k below 3, `rare` that hides one value, numbers
 * as text. Cost: a pass over quasi-identifiers of text without a hierarchy.
 */
shoal_status shoal_warn_of_policy(const shoal_context *context, shoal_result *result,
                                  shoal_error *error) SHOAL_MUST_CHECK;
/* Warns of text values that may mean the same, in every column that is compared. */
shoal_status shoal_warn_of_spellings(const shoal_context *context, shoal_result *result,
                                     shoal_error *error) SHOAL_MUST_CHECK;
