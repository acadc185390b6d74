/* SPDX-License-Identifier: Apache-2.0 */
/*
 * api/catalog: the version, and the names of everything a policy can ask for. Each list is made
 * from the table that the engine uses, so help texts and forms cannot differ from it.
 */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

#include "attack/attack.h"
#include "base/escape.h"
#include "decide/method.h"
#include "hierarchy/hierarchy.h"
#include "lattice/lattice.h"
#include "model/types.h"
#include "policy/keys.h"

enum { MAX_ENTRIES = 32 }; /* with the last one, which has no name */

static shoal_entry models[MAX_ENTRIES], preferences[MAX_ENTRIES], attacks[MAX_ENTRIES];

static void fill_lists(void) {
  size_t n = 0;
  for (const shoal_model_type *const *m = shoal_model_types; *m; m++)
    models[n++] = (shoal_entry){(*m)->name, (*m)->parameters_help, (*m)->summary};
  assert(n < MAX_ENTRIES);
  n = 0;
  for (const shoal_preference *p = shoal_preference_types; p->name; p++)
    preferences[n++] = (shoal_entry){p->name, "", p->summary};
  preferences[n++] = (shoal_entry){"NAME", "", "a quasi-identifier's name: generalize it last"};
  assert(n < MAX_ENTRIES);
  n = 0;
  for (const shoal_attack *const *a = shoal_attack_types; *a; a++)
    attacks[n++] = (shoal_entry){(*a)->name, (*a)->needs ? (*a)->needs : "", (*a)->knowledge};
  assert(n < MAX_ENTRIES);
}

static const shoal_entry *filled(const shoal_entry *list) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  (void)pthread_once(&once, fill_lists);
  return list;
}

const char *shoal_version(void) { return SHOAL_VERSION; }

unsigned shoal_version_number(void) { return SHOAL_VERSION_NUMBER; }

unsigned shoal_abi_version(void) { return SHOAL_ABI_VERSION; }

void shoal_free(void *memory) { free(memory); }

const char *shoal_printable(const char *text, char *out, size_t size) {
  shoal_escape(text, out, size);
  return out;
}

const shoal_entry *shoal_models(void) { return filled(models); }

const shoal_entry *shoal_preferences(void) { return filled(preferences); }

const shoal_entry *shoal_attacks(void) { return filled(attacks); }

const shoal_entry *shoal_algorithms(void) { return shoal_method_algorithms(); }

const shoal_entry *shoal_objectives(void) { return shoal_method_objectives(); }

const shoal_entry *shoal_hierarchy_kinds(void) { return shoal_hierarchy_kind_entries; }

const shoal_entry *shoal_policy_keys(void) {
  /* clang-format off */
  static const shoal_entry entries[] = {
      SHOAL_TOP_KEYS(SHOAL_KEY_ENTRY)
      SHOAL_ACCEPT_KEYS(SHOAL_KEY_ENTRY)
      SHOAL_DATA_KEYS(SHOAL_KEY_ENTRY)
      SHOAL_ATTRIBUTE_KEYS(SHOAL_KEY_ENTRY)
      SHOAL_HIERARCHY_KEYS(SHOAL_KEY_ENTRY)
      SHOAL_CATEGORY_KEYS(SHOAL_KEY_ENTRY)
      SHOAL_PSEUDONYM_KEYS(SHOAL_KEY_ENTRY)
      SHOAL_PRIVACY_KEYS(SHOAL_KEY_ENTRY)
      SHOAL_METHOD_KEYS(SHOAL_KEY_ENTRY)
      {NULL, NULL, NULL}};
  /* clang-format on */
  return entries;
}
