/* SPDX-License-Identifier: Apache-2.0 */
/* attack/setup: a release under attack, with everything that the attacker is assumed to have. */
#pragma once

#include "attack/attack.h"
#include "attack/match.h"
#include "attack/outcome.h"
#include "context/context.h"

/* Owns what the case borrows. */
typedef struct shoal_attack_setup {
  shoal_context context;
  shoal_context *previous_context;
  shoal_previous_release *previous;
  size_t n_previous;
  const shoal_table *external_table, *original_table;
  shoal_domain *domains; /* by quasi-identifier */
  bool *has_domain;      /* false: no attack needs it, and its labels cannot be parsed */
  shoal_linked_people external, original;
  shoal_attack_case attacked;
  shoal_attack_findings findings;
} shoal_attack_setup;

/*
 * Checks the options, groups all releases into classes, and finds the values that each label
 * covers. Reset the setup also after a failure.
 */
shoal_status shoal_attack_setup_init(shoal_attack_setup *setup, const shoal_table *masked,
                                     const shoal_policy *policy,
                                     const shoal_attack_options *options, const shoal_run *run,
                                     shoal_error *error) SHOAL_MUST_CHECK;
void shoal_attack_setup_reset(shoal_attack_setup *setup);

/* Merges tuples of release number `released` whose labels differ only in spelling. */
shoal_status shoal_attack_setup_merge_spellings(const shoal_attack_setup *setup,
                                                shoal_frequency_set *frequency, size_t released,
                                                shoal_error *error) SHOAL_MUST_CHECK;

/* Sets attacked.minimality: is the release a minimal node of the original's lattice? */
shoal_status shoal_attack_setup_find_minimality(shoal_attack_setup *setup,
                                                shoal_error *error) SHOAL_MUST_CHECK;

/*
 * Finds out whether the release is minimal and runs all attacks. *attacks: their outcomes, in the
 * arena. *withstands: no attack that counts against the policy succeeds or is untested.
 */
shoal_status shoal_attack_setup_run(shoal_attack_setup *setup, shoal_arena *arena,
                                    shoal_attack_outcomes **attacks, bool *withstands,
                                    shoal_error *error) SHOAL_MUST_CHECK;
