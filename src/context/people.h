/* SPDX-License-Identifier: Apache-2.0 */
/*
 * context/people: who each row is about. All attributes with `role: person`, and pseudonyms with
 * `person: true`, together are one key; so are those with `role: household`.
 */
#pragma once

#include "policy/policy.h"
#include "table/table.h"

typedef struct shoal_people {
  bool asked;       /* the policy has the role */
  bool absent;      /* the table lacks a column of the key: a release has none */
  bool repeat;      /* somebody has several rows */
  uint64_t n;       /* people; 0 if not asked or absent */
  shoal_column key; /* of several columns; codes owned */
  const shoal_column
      *column;            /* a code for each person; NULL: nobody repeats, not asked or absent */
  const uint64_t *hashes; /* without codes: of each row's key, ascending; they all differ */
} shoal_people;

/*
 * The people of the table. A row without a key is SHOAL_BAD_INPUT: it could be about anybody.
 * Cost: a pass over the rows for each column. Nothing to reset on failure.
 */
shoal_status shoal_people_init(shoal_people *people, const shoal_table *table,
                               const shoal_policy *policy, shoal_role role,
                               shoal_error *error) SHOAL_MUST_CHECK;
void shoal_people_reset(shoal_people *people);
