/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz target: policy YAML, and hierarchies and overrides as a command line has them. It is
 * understood or refused with one line that names the file and can be printed; nothing else.
 */
#include "base/memory.h"
#include "fuzz.h"
#include "policy/policy.h"
#include "shoal/shoal.h"

static void check_refusal(shoal_status status, const shoal_error *error) {
  if (status == SHOAL_OK) return;
  MUST(status == SHOAL_BAD_POLICY || status == SHOAL_BAD_INPUT); /* of an internal function */
  size_t size = strnlen(error->message, sizeof error->message);
  MUST(size > 0 && size < sizeof error->message);
  for (size_t i = 0; i < size; i++) MUST((unsigned char)error->message[i] >= 0x20);
}

static void check_policy(const shoal_policy *policy) {
  MUST(policy->k >= 1 && policy->algorithm.text);
  for (size_t i = 0; i < policy->n_attributes; i++) {
    const shoal_attribute *attribute = &policy->attributes[i];
    MUST(shoal_policy_attribute(policy, attribute->name) == attribute);
    MUST(attribute->mark.line >= 1);
  }
  for (int kind = 0; kind < SHOAL_N_RISKS; kind++)
    for (size_t i = 0; i < policy->accept[kind].n_names; i++)
      MUST(shoal_policy_accepts(policy, (shoal_risk_kind)kind, policy->accept[kind].names[i].text));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size > 4096) return 0;
  char *text = copy_exactly(data, size, 0);
  shoal_policy *policy = NULL;
  shoal_error error = {0};
  shoal_status status = shoal_policy_parse(text, size, "policy.yaml", "dir", &policy, &error);
  check_refusal(status, &error);
  MUST((policy != NULL) == (status == SHOAL_OK));
  free(text);
  text = copy_exactly(data, size, 1);
  if (policy) {
    static const char *const keys[] = {"k",    "p",          "algorithm", "max-suppression",
                                       "seed", "suppressed", "delimiter"};
    check_policy(policy);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
      check_refusal(shoal_policy_set(policy, keys[i], text, &error), &error);
    check_policy(policy);
  } else if (size < 200) {
    shoal_arena arena;
    shoal_hierarchy_spec spec;
    shoal_arena_init(&arena);
    check_refusal(shoal_policy_parse_hierarchy(text, ".", &arena, &spec, &error), &error);
    shoal_arena_reset(&arena);
  }
  shoal_policy_free(policy);
  free(text);
  return 0;
}
