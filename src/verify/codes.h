/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verify/codes: does a cell show a number that must stay under a code? The verifier's own reading
 * of numbers and intervals; the engine's is in measure/label_syntax.c.
 */
#pragma once

#include "verify/counter.h"

/* SHOAL_FAILED, with the column's name, if a cell of the current row shows too much. */
shoal_status shoal_verify_check_codes(const shoal_verify_request *request,
                                      const shoal_verify_cell *cells,
                                      shoal_error *error) SHOAL_MUST_CHECK;
