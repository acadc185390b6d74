/* SPDX-License-Identifier: Apache-2.0 */
/*
 * policy/override: settings of the command line over those of the policy. The policy changes only
 * if the value is right; messages name the option.
 */
#include <string.h>

#include "policy/policy.h"
#include "policy/setting.h"
#include "policy/words.h"

static const shoal_mark command_line = {0, 0};

static shoal_status set_k(shoal_policy *policy, const shoal_setting *setting) {
  SHOAL_TRY(shoal_setting_whole(setting, 1, &policy->k));
  policy->has_k = true;
  policy->k_mark = command_line;
  return SHOAL_OK;
}

static shoal_status set_p(shoal_policy *policy, const shoal_setting *setting) {
  SHOAL_TRY(shoal_setting_whole(setting, 1, &policy->p));
  policy->has_p = true;
  policy->p_mark = command_line;
  return SHOAL_OK;
}

static shoal_status set_algorithm(shoal_policy *policy, const shoal_setting *setting) {
  if (setting->text[0] == '\0') return shoal_setting_expected(setting, "a name");
  const char *name = shoal_arena_copy(&policy->arena, setting->text, strlen(setting->text));
  if (!name) return shoal_fail_memory(setting->error);
  policy->algorithm = (shoal_word){name, command_line};
  return SHOAL_OK;
}

static shoal_status set_max_suppression(shoal_policy *policy, const shoal_setting *setting) {
  return shoal_setting_amount(setting, SHOAL_AMOUNT_FORMS, &policy->max_suppression);
}

static shoal_status set_seed(shoal_policy *policy, const shoal_setting *setting) {
  SHOAL_TRY(shoal_setting_whole(setting, 0, &policy->seed));
  policy->has_seed = true;
  return SHOAL_OK;
}

static shoal_status set_effort(shoal_policy *policy, const shoal_setting *setting) {
  SHOAL_TRY(shoal_setting_effort(setting, &policy->effort));
  policy->has_effort = true;
  return SHOAL_OK;
}

static shoal_status set_suppressed(shoal_policy *policy, const shoal_setting *setting) {
  return shoal_setting_suppressed(setting, &policy->blank_suppressed);
}

static shoal_status set_formulas(shoal_policy *policy, const shoal_setting *setting) {
  return shoal_setting_formulas(setting, &policy->quote_formulas);
}

static shoal_status set_delimiter(shoal_policy *policy, const shoal_setting *setting) {
  return shoal_setting_delimiter(setting, &policy->delimiter);
}

static const struct {
  const char *key;
  shoal_subject option;
  shoal_status (*set)(shoal_policy *policy, const shoal_setting *setting);
} overrides[] = {
    {"k", {"-k"}, set_k},
    {"p", {"-p"}, set_p},
    {"algorithm", {"--algorithm"}, set_algorithm},
    {"max-suppression", {"--max-suppression"}, set_max_suppression},
    {"seed", {"--seed"}, set_seed},
    {"effort", {"--effort"}, set_effort},
    {"suppressed", {"--suppressed"}, set_suppressed},
    {"formulas", {"--formulas"}, set_formulas},
    {"delimiter", {"--delimiter"}, set_delimiter},
};

enum { N_OVERRIDES = sizeof overrides / sizeof *overrides };

shoal_status shoal_policy_set(shoal_policy *policy, const char *key, const char *value,
                              shoal_error *error) {
  const char *keys[N_OVERRIDES + 1] = {NULL};
  for (size_t i = 0; i < N_OVERRIDES; i++) {
    if (strcmp(overrides[i].key, key) == 0) {
      const shoal_setting setting = {.name = overrides[i].option, .text = value, .error = error};
      return overrides[i].set(policy, &setting);
    }
    keys[i] = overrides[i].key;
  }
  return shoal_fail(error, SHOAL_BAD_INPUT, "unknown setting '%s'%s", shoal_quote(key).text,
                    shoal_advise(key, keys).text);
}
