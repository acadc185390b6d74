/* SPDX-License-Identifier: Apache-2.0 */
/*
 * policy/yaml_trouble: what libfyaml says about text that is not YAML, in plain words. It is caught
 * here and never printed.
 */
#ifndef SHOAL_POLICY_YAML_TROUBLE_H
#define SHOAL_POLICY_YAML_TROUBLE_H

#include "policy/policy.h"

struct fy_diag;

typedef struct shoal_yaml_trouble {
  bool no_memory;
  const char *heard; /* what was wrong where no place is known; NULL: nothing, or no memory */
  shoal_mark mark;
  char text[200];
} shoal_yaml_trouble;

/* A diagnostic object that reports to `trouble` (which must outlive it); NULL without memory. */
struct fy_diag *shoal_yaml_trouble_listen(shoal_yaml_trouble *trouble);

/* Fills `trouble` after the parser stopped with an error. */
void shoal_yaml_trouble_find(shoal_yaml_trouble *trouble, struct fy_diag *diag);

#endif
