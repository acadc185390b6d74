/* SPDX-License-Identifier: Apache-2.0 */
/* api/policy: the public functions of shoal_policy. What is wrong with one is its author's to mend.
 */
#include "policy/policy.h"

#include "api/arguments.h"
#include "job/job.h"
#include "shoal/program.h"

static shoal_status policy_answer(shoal_status status, shoal_error *error) {
  if (status == SHOAL_BAD_INPUT) status = shoal_fail_as(error, status, SHOAL_BAD_POLICY);
  return shoal_answer(status, error);
}

shoal_status shoal_policy_read(const char *path, shoal_policy **policy, shoal_error *error) {
  SHOAL_BEGIN(error);
  if (policy) *policy = NULL;
  SHOAL_NEED(path && policy, error);
  return policy_answer(shoal_policy_load(path, policy, error), error);
}

shoal_status shoal_policy_parse(const char *text, size_t size_bytes, const char *name,
                                const char *directory, shoal_policy **policy, shoal_error *error) {
  SHOAL_BEGIN(error);
  if (policy) *policy = NULL;
  SHOAL_NEED((text || !size_bytes) && policy, error);
  return policy_answer(shoal_policy_load_text(text ? text : "", size_bytes, name ? name : "policy",
                                              directory ? directory : ".", policy, error),
                       error);
}

shoal_status shoal_policy_set(shoal_policy *policy, const char *key, const char *value,
                              shoal_error *error) {
  SHOAL_BEGIN(error);
  SHOAL_NEED(policy && key && value, error);
  return policy_answer(shoal_policy_override(policy, key, value, error), error);
}

bool shoal_policy_names_file(const shoal_policy *policy, const char *path) {
  return policy && path && shoal_policy_uses_file(policy, path);
}

void shoal_policy_free(shoal_policy *policy) { shoal_policy_delete(policy); }
