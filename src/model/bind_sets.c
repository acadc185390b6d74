/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model/bind_sets: `over` and `known` of the policy's models -> sets of quasi-identifiers, each
 * once, and which of them each requirement covers.
 */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "model/types.h"

/* More sets than this take too long to judge at every node. */
enum { MAX_SETS = 10000 };

/* Indices of quasi-identifiers, ascending. */
typedef struct choice {
  uint32_t *quasi;
  size_t n;
} choice;

/* The number of the set, which is added if it is new; SHOAL_NONE: no memory. */
static uint32_t intern(shoal_requirements *requirements, size_t *capacity, choice chosen) {
  for (uint32_t s = 0; s < requirements->n_sets; s++) {
    const shoal_quasi_set *set = &requirements->sets[s];
    if (set->n == chosen.n && memcmp(set->quasi, chosen.quasi, chosen.n * sizeof *set->quasi) == 0)
      return s;
  }
  if (!shoal_grow(&requirements->sets, capacity, requirements->n_sets + 1,
                  sizeof *requirements->sets))
    return SHOAL_NONE;
  shoal_quasi_set set = {.quasi = shoal_alloc(chosen.n, sizeof *set.quasi), .n = chosen.n};
  if (!set.quasi) return SHOAL_NONE;
  memcpy(set.quasi, chosen.quasi, chosen.n * sizeof *set.quasi);
  requirements->sets[requirements->n_sets] = set;
  return (uint32_t)requirements->n_sets++;
}

/* ------------------------------------------------------------ the sets of one request */

/* The next choice of as many out of n, in lexicographic order; false after the last. */
static bool next_choice(choice *chosen, size_t n) {
  size_t i = chosen->n;
  while (i > 0 && chosen->quasi[i - 1] == n - chosen->n + i - 1) i--;
  if (i == 0) return false;
  chosen->quasi[i - 1]++;
  for (; i < chosen->n; i++) chosen->quasi[i] = chosen->quasi[i - 1] + 1;
  return true;
}

/* Sets of `of` out of n, at most MAX_SETS + 1. */
static uint64_t count_choices(uint64_t n, uint64_t of) {
  uint64_t count = 1;
  if (of > n - of) of = n - of;
  for (uint64_t i = 1; i <= of && count <= MAX_SETS; i++) count = count * (n - of + i) / i;
  return count;
}

static shoal_status find_over(const shoal_policy *policy, const shoal_tracked *tracked,
                              const shoal_word *name, uint32_t *index, shoal_error *error) {
  for (*index = 0; *index < tracked->n_quasi; (*index)++)
    if (strcmp(tracked->quasi[*index]->name, name->text) == 0) return SHOAL_OK;
  const char **names = shoal_alloc(tracked->n_quasi + 1, sizeof *names);
  if (!names) return shoal_fail_memory(error);
  for (size_t q = 0; q < tracked->n_quasi; q++) names[q] = tracked->quasi[q]->name;
  names[tracked->n_quasi] = NULL;
  bool known = shoal_policy_knows_name(policy, name->text);
  const char *near = known ? NULL : shoal_nearest_word(name->text, names);
  shoal_status status = shoal_policy_fail(
      policy, name->mark, error, "'over' names '%.60s', which is %s%s%s%s", name->text,
      known ? "not a quasi-identifier: give it 'role: quasi', or name another"
            : "no column of the table",
      near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
  free(names);
  return status;
}

static int compare(const void *a, const void *b) {
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return (x > y) - (x < y);
}

/* The first or only set of the request. */
static shoal_status first_choice(const shoal_policy *policy, const shoal_tracked *tracked,
                                 const shoal_model_request *request, choice *chosen,
                                 shoal_error *error) {
  uint64_t known = request->known_count;
  if (known > tracked->n_quasi)
    return shoal_policy_fail(
        policy, request->known.mark, error,
        "'known' is %llu, but the table has only %zu quasi-identifiers: set it "
        "to %zu or less",
        (unsigned long long)known, tracked->n_quasi, tracked->n_quasi);
  if (known && count_choices(tracked->n_quasi, known) > MAX_SETS)
    return shoal_policy_fail(policy, request->known.mark, error,
                             "'known: %llu' makes more than %d sets of the %zu quasi-identifiers: "
                             "set it lower, or name sets with 'over'",
                             (unsigned long long)known, MAX_SETS, tracked->n_quasi);
  chosen->n = known ? (size_t)known : request->n_over;
  for (uint32_t i = 0; i < chosen->n; i++) {
    chosen->quasi[i] = i;
    if (!known) SHOAL_TRY(find_over(policy, tracked, &request->over[i], &chosen->quasi[i], error));
  }
  qsort(chosen->quasi, chosen->n, sizeof *chosen->quasi, compare);
  return SHOAL_OK;
}

/* Numbers of the sets of one request; appends to `list`. */
typedef struct set_list {
  uint32_t *items;
  size_t n, capacity;
} set_list;

static bool append(set_list *list, uint32_t set) {
  if (set == SHOAL_NONE || !shoal_grow(&list->items, &list->capacity, list->n + 1, sizeof set))
    return false;
  list->items[list->n++] = set;
  return true;
}

static shoal_status list_sets(const shoal_policy *policy, const shoal_tracked *tracked,
                              const shoal_model_request *request, choice *chosen,
                              shoal_requirements *requirements, size_t *capacity, set_list *list,
                              shoal_error *error) {
  bool more = true;
  if (!request) return append(list, 0) ? SHOAL_OK : shoal_fail_memory(error);
  SHOAL_TRY(first_choice(policy, tracked, request, chosen, error));
  while (more) {
    if (!append(list, intern(requirements, capacity, *chosen))) return shoal_fail_memory(error);
    more = request->known_count && next_choice(chosen, tracked->n_quasi);
  }
  return SHOAL_OK;
}

/* ------------------------------------------------------------ all requests */

/* list of item i is items[ends[i - 1] .. ends[i]). */
static shoal_status cover(shoal_requirements *requirements, const set_list *list,
                          const size_t *ends, shoal_error *error) {
  size_t n = requirements->n_sets;
  requirements->covers = shoal_alloc_zero(n * requirements->n_items, 1);
  if (!requirements->covers) return shoal_fail_memory(error);
  for (size_t s = 0; s < n; s++) requirements->sets[s].sizes_only = true;
  for (size_t i = 0, at = 0; i < requirements->n_items; i++) {
    shoal_requirement *requirement = &requirements->items[i];
    uint8_t *covers = requirements->covers + i * n;
    requirement->covers = covers;
    for (; at < ends[i]; at++) {
      shoal_quasi_set *set = &requirements->sets[list->items[at]];
      covers[list->items[at]] = 1;
      set->required = true;
      set->sizes_only =
          set->sizes_only && requirement->type->is_size && !requirement->counts_people;
    }
  }
  return SHOAL_OK;
}

shoal_status shoal_requirements_bind_sets(const shoal_policy *policy, const shoal_tracked *tracked,
                                          const shoal_model_request *const *requests,
                                          shoal_requirements *requirements, shoal_error *error) {
  size_t capacity = 0, longest = tracked->n_quasi;
  for (size_t i = 0; i < policy->n_models; i++)
    if (policy->models[i].n_over > longest) longest = policy->models[i].n_over;
  set_list list = {0};
  choice chosen = {shoal_alloc(longest, sizeof *chosen.quasi), tracked->n_quasi};
  size_t *ends = shoal_alloc(requirements->n_items, sizeof *ends);
  shoal_status status = chosen.quasi && ends ? SHOAL_OK : shoal_fail_memory(error);
  for (uint32_t q = 0; status == SHOAL_OK && q < tracked->n_quasi; q++) chosen.quasi[q] = q;
  if (status == SHOAL_OK && intern(requirements, &capacity, chosen) == SHOAL_NONE)
    status = shoal_fail_memory(error);
  for (size_t i = 0; status == SHOAL_OK && i < requirements->n_items; i++) {
    status =
        list_sets(policy, tracked, requests[i], &chosen, requirements, &capacity, &list, error);
    requirements->items[i].known = requests[i] ? requests[i]->known_count : 0;
    ends[i] = list.n;
  }
  if (status == SHOAL_OK) status = cover(requirements, &list, ends, error);
  free(list.items);
  free(chosen.quasi);
  free(ends);
  return status;
}
