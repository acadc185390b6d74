/* SPDX-License-Identifier: Apache-2.0 */
/* describe/certificate: the public certificate of a release. */
#pragma once

#include "attack/setup.h"
#include "report/certificate.h"

/*
 * Fills a new result of kind SHOAL_RESULT_CERTIFICATE. The release is the file at `path`, read as
 * any recipient reads it. `left_out`: "none", "few" or a number of suppressed rows, which may be
 * exact: it is rounded before anything else uses it (shoal_left_out_parse). These three and the
 * version of shoal decide every byte of the certificate: do not add a parameter that carries more.
 * SHOAL_BAD_INPUT if the release or the policy cannot be read.
 */
shoal_status shoal_job_certificate(shoal_result *result, const char *path,
                                   const shoal_policy *policy, const char *left_out,
                                   const shoal_run *run, shoal_error *error) SHOAL_MUST_CHECK;

/* ---- certificate_columns.c */

/* How each column is released, by its labels; and columns that must not be in a release. */
shoal_status shoal_certificate_columns(shoal_result *result, const shoal_attack_setup *setup,
                                       shoal_error *error) SHOAL_MUST_CHECK;
