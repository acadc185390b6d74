/* SPDX-License-Identifier: Apache-2.0 */
/* profile/presets: sets of rules for written policies, each with its source. */
#include "profile/profile.h"

const shoal_preset shoal_presets[] = {
    {.name = "research",
     .summary = "for recipients who are bound by a contract",
     .k = SHOAL_PROFILE_K,
     .source = "k: 5 keeps the highest risk at 0.2. It is a convention; no law asks for it.\n"},
    {.name = "public",
     .summary = "for everybody",
     .k = 11,
     .top_coded_ages = true,
     .rare_findings = true,
     .source =
         "k: 11 keeps the highest risk at 0.09, as recommended for published clinical reports by\n"
         "the European Medicines Agency (Policy 0070, EMA/90915/2016) and Health Canada (Public\n"
         "Release of Clinical Information). Sensitive texts of fewer than 11 rows become (rare):\n"
         "US Medicare reports no cell of 1 to 10 people (CMS Cell Size Suppression Policy, 2024).\n"
         "Ages above 89 are one value, as in 45 CFR 164.514(b)(2)(i)(C).\n"},
    {.name = "hipaa-safe-harbor",
     .summary = "the rules of 45 CFR 164.514(b)(2)",
     .k = SHOAL_PROFILE_K,
     .years_only = true,
     .short_postcodes = true,
     .top_coded_ages = true,
     .source =
         "45 CFR 164.514(b)(2)(i): no identifiers (A, D-R); of places smaller than a state only\n"
         "three digits of the postal code, and 000 where these areas have 20,000 people or fewer\n"
         "together (B); of dates the year, and ages above 89 as one value, also where a year "
         "tells\n"
         "them (C). Give 'role: identifier' to towns and counties, and check the codes and years\n"
         "yourself. The rule also asks that you know of no other way to identify a person\n"
         "(b)(2)(ii). It names no k: k: 5 is added.\n"},
    {0},
};
