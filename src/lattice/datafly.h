/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lattice/datafly: options of Datafly (Sweeney, as Samarati 2001, section 7, describes it);
 * shoal_search_datafly in lattice.h runs it. If a profile is below 1, combinations are checked
 * without its attribute: solution->node may not satisfy on all quasi-identifiers.
 */
#pragma once

#include "lattice/lattice.h"

typedef struct shoal_datafly_options {
  const shoal_decimal *anonymity; /* by quasi-identifier, 0 to 1; NULL: 0, no bin size */
  const shoal_decimal *profile;   /* of the recipient, by quasi-identifier, 0 to 1; NULL: 1 */
} shoal_datafly_options;
