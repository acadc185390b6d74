/* SPDX-License-Identifier: Apache-2.0 */
/* describe/mapping: what was done to each value and class, as CSV (docs/report.md). */
#pragma once

#include "decide/release.h"

/*
 * Writes the mapping of a release to `fd`, compressed as `path` says; messages use `path`.
 * `styled`: numbers have the decimal mark of the policy, as in the release. Cost: a pass over the
 * groups for each quasi-identifier; memory for the values of one column, or for the classes.
 */
shoal_status shoal_mapping_write(const shoal_release *release, bool styled, int fd,
                                 const char *path, shoal_error *error) SHOAL_MUST_CHECK;
