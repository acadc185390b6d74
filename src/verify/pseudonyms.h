/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verify/pseudonyms: proves what the release says about pseudonyms, in a pass over the file of its
 * own. Every cell is missing or has the form of a pseudonym: no identifier was released. Whether
 * they link rows of different classes, or show a class of fewer than k people, is found from the
 * file alone.
 */
#pragma once

#include "verify/verify.h"

/*
 * Fills request->pseudonym_links. SHOAL_FAILED if a cell is no pseudonym, or the file
 * cannot be read. Cost: memory for the distinct classes and pseudonyms.
 */
shoal_status shoal_verify_pseudonyms(int fd, const shoal_verify_request *request,
                                     shoal_error *error) SHOAL_MUST_CHECK;
