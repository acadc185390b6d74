/* SPDX-License-Identifier: Apache-2.0 */
/*
 * policy/setting: one scalar that means something: a number, an amount, a word of a few. The same
 * functions read it from the policy and from the command line; only the name in messages differs.
 */
#ifndef SHOAL_POLICY_SETTING_H
#define SHOAL_POLICY_SETTING_H

#include "policy/policy.h"
#include "policy/reader.h"

typedef struct shoal_setting {
  shoal_place place;  /* empty for the command line */
  shoal_subject name; /* "privacy.k" or "-k" */
  const char *text;
  shoal_error *error;
} shoal_setting;

/* The setting being read; `node` must be a scalar and not null. */
shoal_status shoal_setting_from(const shoal_policy_reader *reader, const shoal_yaml *node,
                                const char *what, shoal_setting *setting) SHOAL_MUST_CHECK;

/* "NAME: expected WHAT, found 'text'". */
shoal_status shoal_setting_expected(const shoal_setting *setting, const char *what);

shoal_status shoal_setting_whole(const shoal_setting *setting, uint64_t least,
                                 uint64_t *number) SHOAL_MUST_CHECK;
shoal_status shoal_setting_decimal(const shoal_setting *setting,
                                   shoal_decimal *number) SHOAL_MUST_CHECK;
/* The same, but not below zero. */
shoal_status shoal_setting_measure(const shoal_setting *setting,
                                   shoal_decimal *number) SHOAL_MUST_CHECK;
/* "10" or "1.5%"; `what` says what is expected. */
shoal_status shoal_setting_amount(const shoal_setting *setting, const char *what,
                                  shoal_amount *amount) SHOAL_MUST_CHECK;
/* The index of the text in `words`, which end with NULL. */
shoal_status shoal_setting_choice(const shoal_setting *setting, const char *const *words,
                                  size_t *choice) SHOAL_MUST_CHECK;
/* One byte that can stand between cells, or its name. */
shoal_status shoal_setting_delimiter(const shoal_setting *setting,
                                     char *delimiter) SHOAL_MUST_CHECK;
/* remove or blank. */
shoal_status shoal_setting_suppressed(const shoal_setting *setting, bool *blank) SHOAL_MUST_CHECK;
/* The search budget's factor, 1 .. SHOAL_MOST_EFFORT. */
shoal_status shoal_setting_effort(const shoal_setting *setting, uint32_t *effort) SHOAL_MUST_CHECK;
/* keep or quote. */
shoal_status shoal_setting_formulas(const shoal_setting *setting, bool *quote) SHOAL_MUST_CHECK;

#define SHOAL_EFFORT_FORMS "a whole number from 1 to 1000"
#define SHOAL_AMOUNT_FORMS "a number of rows such as 10, or a share such as 1%"

#endif
