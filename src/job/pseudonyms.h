/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job/pseudonyms: identifiers replaced by keyed hashes (`role: pseudonym`). Private to job/.
 *
 *   pseudonym = the first 20 characters of base32(HMAC-SHA-256(key, context, 0x00, identifier))
 *
 * The context has no byte 0, so different pairs of context and identifier have different texts.
 * Unless the policy gives one, it is drawn for each column of each release: then two columns, or
 * two releases, cannot be linked. Key and context are read when they are needed, wiped after use,
 * and never written.
 */
#pragma once

#include "base/intern.h"
#include "policy/policy.h"
#include "table/table.h"

/*
 * Before the search: SHOAL_BAD_INPUT if a column that becomes a pseudonym has no usable key, if its
 * cells are not in memory, or if noise rows are allowed, which have no person.
 */
shoal_status shoal_pseudonyms_check(const shoal_table *table, const shoal_policy *policy,
                                    shoal_error *error) SHOAL_MUST_CHECK;

/*
 * What the values of a column become, by code; missing values stay as they are. `attribute` is the
 * column's. The caller resets them, also after an error. SHOAL_FAILED if two are equal.
 */
shoal_status shoal_pseudonyms_make(const shoal_policy *policy, const shoal_attribute *attribute,
                                   const shoal_column *column, shoal_strings *pseudonyms,
                                   shoal_error *error) SHOAL_MUST_CHECK;
