/* SPDX-License-Identifier: Apache-2.0 */
/* policy/keys: the help on a policy's keys, from the lists that also read them (keys.h). */
#include "policy/keys.h"

#include "shoal/shoal.h"

const shoal_entry *shoal_policy_keys(void) {
  /* clang-format off */
  static const shoal_entry entries[] = {
      SHOAL_TOP_KEYS(SHOAL_KEY_ENTRY)
      SHOAL_DATA_KEYS(SHOAL_KEY_ENTRY)
      SHOAL_ATTRIBUTE_KEYS(SHOAL_KEY_ENTRY)
      SHOAL_HIERARCHY_KEYS(SHOAL_KEY_ENTRY)
      SHOAL_CATEGORY_KEYS(SHOAL_KEY_ENTRY)
      SHOAL_PRIVACY_KEYS(SHOAL_KEY_ENTRY)
      SHOAL_METHOD_KEYS(SHOAL_KEY_ENTRY)
      {NULL, NULL, NULL}};
  /* clang-format on */
  return entries;
}
