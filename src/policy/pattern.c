/* SPDX-License-Identifier: Apache-2.0 */
/*
 * policy/pattern: which entry of `attributes` applies to a column. The name of an entry may be a
 * pattern: `*` stands for any text, also none. An entry of exactly the column's name wins, then the
 * longest pattern that fits, then the first of equally long ones. A column without a name in the
 * header, `row_names`, is an identifier unless an entry has exactly this name.
 */
#include <assert.h>
#include <string.h>

#include "policy/policy.h"
#include "table/table.h"

bool shoal_name_is_pattern(const char *name) { return strchr(name, '*') != NULL; }

/* Each star takes as little as possible; only the last one ever has to take more. */
bool shoal_name_fits(const char *pattern, const char *name) {
  const char *star = NULL, *resume = NULL;
  while (*name) {
    if (*pattern == '*') {
      star = ++pattern;
      resume = name;
    } else if (*pattern == *name) {
      pattern++;
      name++;
    } else if (star) {
      pattern = star;
      name = ++resume;
    } else {
      return false;
    }
  }
  while (*pattern == '*') pattern++;
  return *pattern == '\0';
}

const shoal_attribute *shoal_policy_entry(const shoal_policy *policy, const char *name) {
  if (!policy->n_attributes) return NULL;
  uint32_t i = shoal_strings_find(&policy->names, (shoal_label){name, strlen(name)});
  return i == SHOAL_NONE ? NULL : &policy->attributes[i];
}

const shoal_attribute *shoal_policy_attribute(const shoal_policy *policy, const char *name) {
  static const shoal_attribute row_names = {
      .name = SHOAL_ROW_NAMES, .role = SHOAL_ROLE_IDENTIFIER, .weight = {1, 0}, .profile = {1, 0}};
  const shoal_attribute *best = shoal_policy_entry(policy, name);
  size_t longest = 0;
  if (best) return best;
  if (strcmp(name, row_names.name) == 0) return &row_names;
  assert(policy->attributes || !policy->n_patterns);
  for (size_t i = 0; i < policy->n_patterns; i++) {
    const shoal_attribute *entry = &policy->attributes[policy->patterns[i]];
    size_t size = strlen(entry->name);
    if (size <= longest || !shoal_name_fits(entry->name, name)) continue;
    best = entry;
    longest = size;
  }
  return best;
}

bool shoal_policy_knows_name(const shoal_policy *policy, const char *name) {
  const shoal_attribute *attribute = shoal_policy_attribute(policy, name);
  return attribute && attribute->name[strspn(attribute->name, "*")] != '\0';
}
