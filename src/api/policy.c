/* SPDX-License-Identifier: Apache-2.0 */
/* api/policy: the public functions of shoal_policy. What is wrong with one is its author's to mend.
 */
#include "policy/policy.h"

#include "api/arguments.h"
#include "input/input.h"
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

const char *shoal_policy_role(const shoal_policy *policy, const char *column) {
  if (!policy || !column) return NULL;
  const shoal_attribute *attribute = shoal_policy_attribute(policy, column);
  if (!attribute && policy->unlisted == SHOAL_UNLISTED_REFUSE) return NULL;
  shoal_role role = attribute                                 ? attribute->role
                    : policy->unlisted == SHOAL_UNLISTED_KEEP ? SHOAL_ROLE_KEEP
                                                              : SHOAL_ROLE_DROP;
  return role == SHOAL_ROLE_DROP ? "drop" : shoal_role_names[role];
}

const char *shoal_policy_algorithm(const shoal_policy *policy) {
  if (!policy) return NULL;
  return policy->algorithm.text ? policy->algorithm.text : "auto";
}

const char *shoal_policy_missing(const shoal_policy *policy) {
  return policy && policy->n_missing ? shoal_input_missing(policy) : NULL;
}

void shoal_policy_free(shoal_policy *policy) { shoal_policy_delete(policy); }
