/* SPDX-License-Identifier: Apache-2.0 */
/* job/measure: utility and risk of a release put into any result. */
#ifndef SHOAL_JOB_MEASURE_H
#define SHOAL_JOB_MEASURE_H

#include "job/prepare.h"
#include "report/measures.h"

/*
 * Fills result->measures and result->risk from the original and the released table as it was read
 * again (SHOAL_FOR_REVIEW). `options` may be NULL: the defaults.
 */
shoal_status shoal_result_measure(shoal_result *result, const shoal_prepared *original,
                                  const shoal_table *masked, const shoal_measure_options *options,
                                  shoal_error *error) SHOAL_MUST_CHECK;

#endif
