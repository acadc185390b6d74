/* SPDX-License-Identifier: Apache-2.0 */
/* job/warn: what a release is warned of that no model forbids. Private to this folder. */
#ifndef SHOAL_JOB_WARN_H
#define SHOAL_JOB_WARN_H

#include "job/release.h"
#include "write/csv.h"

/* A label of the chosen node that stands for one value of the data only hides nothing. */
shoal_status shoal_release_warn_of_labels(shoal_release *release,
                                          shoal_error *error) SHOAL_MUST_CHECK;

/* Cells that a spreadsheet would run; `marks`: by column of the release, 1 where it has some. */
shoal_status shoal_release_warn_of_formulas(shoal_release *release, const shoal_csv_out *out,
                                            const uint8_t *marks,
                                            shoal_error *error) SHOAL_MUST_CHECK;

/* With `formulas: quote` names of columns must be none themselves: they are released as they are.
 */
shoal_status shoal_release_check_names(const shoal_release *release, const shoal_csv_out *out,
                                       shoal_error *error) SHOAL_MUST_CHECK;

#endif
