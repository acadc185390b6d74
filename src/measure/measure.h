/* SPDX-License-Identifier: Apache-2.0 */
/* measure: all figures of a release against the table that it was made from. */
#pragma once

#include "context/context.h"
#include "measure/figures.h"
#include "measure/pair.h"

/*
 * Measures the release `masked`, read SHOAL_FOR_REVIEW, against the context of the original. The
 * figures are in the arena. `options` NULL: the defaults. SHOAL_BAD_INPUT if the release lacks a
 * column of the policy or has a label that covers no value of the original.
 */
shoal_status shoal_measure_release(const shoal_context *original, const shoal_table *masked,
                                   const shoal_release_origin *origin,
                                   const shoal_measure_options *options, shoal_arena *arena,
                                   shoal_measured *measured, shoal_error *error) SHOAL_MUST_CHECK;
