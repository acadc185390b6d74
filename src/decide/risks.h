/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decide/risks: the risks that models do not rule out, as far as policy, classes and columns of one
 * table show them. The rest of a verdict needs the heuristics of profile/ (gates.h).
 */
#pragma once

#include "context/context.h"
#include "report/result.h"

/* The equivalence classes whose risks are listed. Borrows everything. */
typedef struct shoal_risk_classes {
  const shoal_classes *classes;
  const uint8_t *left_out;        /* by class: 1 if it is not released; NULL: all are */
  const uint32_t *group_of_row;   /* of the original table, for values that no model tracks */
  const uint32_t *class_of_group; /* NULL: group g is class g */
} shoal_risk_classes;

/* The classes of the context's table as it is, as `check` judges them. */
shoal_risk_classes shoal_risk_classes_of(const shoal_context *context);

/* Adds a risk; strings are copied. `attribute` or `attack` is what the policy accepts by name. */
shoal_status shoal_risk_add(shoal_result *result, const shoal_policy *policy, shoal_risk_kind kind,
                            const char *attribute, const char *attack, bool blocks, const char *why,
                            shoal_error *error) SHOAL_MUST_CHECK;
/* The same where the caller knows whether the policy accepts it. */
shoal_status shoal_risk_add_as(shoal_result *result, shoal_risk_kind kind, const char *attribute,
                               const char *attack, bool blocks, bool accepted, const char *why,
                               shoal_error *error) SHOAL_MUST_CHECK;

/*
 * Lists what release and policy alone show, and sets `models_hold` to result->holds: undecided
 * attributes; a policy that asks for nothing; sensitive columns without a model; attacks that need
 * nothing but the classes (homogeneity, similarity, categorical similarity) and succeed on a class;
 * pseudonyms with rows in several classes, or with fewer than k of them in a class. Needs scope
 * CLASSES. Cost: a pass over the classes; over the rows only for pseudonyms and for sensitive
 * columns that no model tracks.
 */
shoal_status shoal_risks_of_classes(shoal_result *result, const shoal_context *context,
                                    const shoal_risk_classes *released,
                                    shoal_error *error) SHOAL_MUST_CHECK;

/*
 * Marks the classes in which every person has one value of sensitive attribute s, or a value of one
 * group (group_of: by value, below n_groups; NULL: values themselves), whatever else they have
 * (people_risk.c). For tables in which people repeat.
 */
shoal_status shoal_mark_shared_values(const shoal_context *context,
                                      const shoal_risk_classes *released, size_t s,
                                      const uint32_t *group_of, uint32_t n_groups, uint8_t *shared,
                                      shoal_error *error) SHOAL_MUST_CHECK;

/* Does a person's number (an identifier or pseudonym with a name such as "ssn") differ in every
 * row? Then no person has two rows, whatever names people share. A row number shows nothing. */
bool shoal_risks_has_row_per_person(const shoal_context *context);

/* Adds identifiers whose values repeat in the context's table: one person has several rows. */
shoal_status shoal_risks_of_repeats(shoal_result *result, const shoal_context *context,
                                    shoal_error *error) SHOAL_MUST_CHECK;

/* Adds attacks that succeed although the policy requires protection against them. */
shoal_status shoal_risks_of_attacks(shoal_result *result, const shoal_policy *policy,
                                    const shoal_attack_outcomes *attacks,
                                    shoal_error *error) SHOAL_MUST_CHECK;
