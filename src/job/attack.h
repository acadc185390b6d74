/* SPDX-License-Identifier: Apache-2.0 */
/* job/attack: a release under attack, with all that is known beside it. Private to this folder. */
#ifndef SHOAL_JOB_ATTACK_H
#define SHOAL_JOB_ATTACK_H

#include "attack/attack.h"
#include "attack/match.h"
#include "job/prepare.h"

/* Everything that an attack borrows, owned. */
typedef struct shoal_siege {
  shoal_prepared prepared;
  shoal_prepared *earlier_prepared;
  shoal_earlier *earlier;
  size_t n_earlier;
  const shoal_table *external_table, *original_table;
  shoal_domain *domains; /* by quasi-identifier */
  bool *has_domain;      /* false: nothing needs it, and its labels cannot be read */
  shoal_people external, original;
  shoal_attack_case attacked;
  shoal_attack_findings findings;
} shoal_siege;

/* Lays siege: reads options, groups all releases, finds what labels stand for. Reset it always. */
shoal_status shoal_siege_lay(shoal_siege *siege, const shoal_table *masked,
                             const shoal_policy *policy, const shoal_attack_options *options,
                             const shoal_run *run, shoal_error *error) SHOAL_MUST_CHECK;
void shoal_siege_reset(shoal_siege *siege);

/* Tuples of a release that differ in spelling only become one class. */
shoal_status shoal_siege_merge_spellings(const shoal_siege *siege, shoal_frequency *frequency,
                                         size_t released, shoal_error *error) SHOAL_MUST_CHECK;

/* Is the release a minimal node of the original's lattice? Sets attacked.minimality. */
shoal_status shoal_siege_find_minimality(shoal_siege *siege, shoal_error *error) SHOAL_MUST_CHECK;

/* What the findings come to becomes the result's `attacks`; none that counts: *withstands. */
shoal_status shoal_siege_tell(const shoal_siege *siege, shoal_result *result, bool *withstands,
                              shoal_error *error) SHOAL_MUST_CHECK;

/* The whole result of an attack. */
shoal_status shoal_siege_report(const shoal_siege *siege, shoal_result *result,
                                shoal_error *error) SHOAL_MUST_CHECK;

#endif
