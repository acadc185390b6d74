/* SPDX-License-Identifier: Apache-2.0 */
/* profile/presets: sets of rules for written policies, each with its source. */
#include "profile/profile.h"

const shoal_preset shoal_presets[] = {
    {"research", "for recipients who are bound by a contract", SHOAL_PROFILE_K, false, false, false,
     "k: 5 is the usual minimum for recipients bound by a contract: highest risk 0.2\n"
     "(El Emam, Guide to the De-Identification of Personal Health Information, 2013).\n"},
    {"public", "for everybody", 11, false, false, true,
     "k: 11 keeps the highest risk at 0.09, the threshold for public releases of clinical data\n"
     "(European Medicines Agency, guidance on Policy 0070, 2018; Health Canada,\n"
     "Public Release of Clinical Information, 2019) and the smallest cell that US\n"
     "Medicare publishes (CMS Cell Size Suppression Policy). Ages above 89 are top-coded.\n"},
    {"hipaa-safe-harbor", "the rules of 45 CFR 164.514(b)(2)", SHOAL_PROFILE_K, true, true, true,
     "45 CFR 164.514(b)(2)(i): no identifiers (A, D-R); of postal codes the first three digits,\n"
     "and none where the area has 20,000 people or fewer (B); of dates the year, ages above 89\n"
     "together (C). Give 'role: identifier' also to towns, counties and other places smaller than\n"
     "a state. The rule names no k: k: 5 is added.\n"},
    {0},
};
