/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lattice/preference: the choice among minimal nodes (Samarati 2001, section 6). Distances are
 * compared exactly, as integers: relative ones over the least common multiple of the heights.
 */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/wide.h"
#include "lattice/lattice.h"

/* What a step is divided by; 1 if the hierarchy has no step. */
static uint64_t height_of(const shoal_space *space, size_t q) {
  return space->full[q] ? space->full[q] : 1;
}

/* The least common multiple of the heights. It fits: it is at most the number of nodes. */
static uint64_t common_height(const shoal_space *space) {
  uint64_t common = 1;
  for (size_t q = 0; q < space->n; q++)
    common = common / shoal_gcd(common, height_of(space, q)) * height_of(space, q);
  return common;
}

static unsigned common_scale(const shoal_decimal *weights, size_t n) {
  unsigned scale = 0;
  for (size_t i = 0; i < n; i++)
    if (weights[i].scale > scale) scale = weights[i].scale;
  return scale;
}

/* A weight as an integer, at the scale common to all. It fits: weights_fit checked it. */
static int64_t weight_of(const shoal_preference *self, const shoal_space *space, size_t q) {
  if (!self->weights) return 1;
  int64_t weight = 0;
  (void)shoal_decimal_rescale(self->weights[q], common_scale(self->weights, space->n), &weight);
  return weight;
}

/*
 * The sign of the sum of weight x (level of a - level of b), each over its height if relative. A
 * term can have 126 bits, and their sum does not fit into 128: positive and negative ones are
 * summed separately.
 */
static int compare_distance(const shoal_preference *self, const shoal_space *space,
                            const shoal_node *a, const shoal_node *b, bool relative) {
  uint64_t common = relative ? common_height(space) : 1;
  shoal_wide more = {0}, less = {0};
  for (size_t q = 0; q < space->n; q++) {
    int64_t steps =
        (int64_t)shoal_space_level(space, a->number, q) - shoal_space_level(space, b->number, q);
    shoal_uint128 weighted =
        (shoal_uint128)weight_of(self, space, q) * (uint64_t)(steps < 0 ? -steps : steps);
    shoal_wide *side = steps < 0 ? &less : &more;
    *side = shoal_wide_add(
        *side, shoal_wide_product(weighted, relative ? common / height_of(space, q) : 1));
  }
  return shoal_wide_compare(more, less);
}

static int by_absolute_distance(const shoal_preference *self, const shoal_search *search,
                                const shoal_node *a, const shoal_node *b) {
  return compare_distance(self, &search->space, a, b, false);
}

static int by_relative_distance(const shoal_preference *self, const shoal_search *search,
                                const shoal_node *a, const shoal_node *b) {
  return compare_distance(self, &search->space, a, b, true);
}

static int by_distribution(const shoal_preference *self, const shoal_search *search,
                           const shoal_node *a, const shoal_node *b) {
  (void)self;
  (void)search;
  return (a->n_classes < b->n_classes) - (a->n_classes > b->n_classes);
}

static int by_suppression(const shoal_preference *self, const shoal_search *search,
                          const shoal_node *a, const shoal_node *b) {
  (void)self;
  (void)search;
  return (a->suppressed > b->suppressed) - (a->suppressed < b->suppressed);
}

static uint32_t highest_level(const shoal_space *space, uint64_t node) {
  uint32_t highest = 0;
  for (size_t q = 0; q < space->n; q++)
    if (shoal_space_level(space, node, q) > highest) highest = shoal_space_level(space, node, q);
  return highest;
}

static int by_least_peak(const shoal_preference *self, const shoal_search *search,
                         const shoal_node *a, const shoal_node *b) {
  (void)self;
  uint32_t x = highest_level(&search->space, a->number),
           y = highest_level(&search->space, b->number);
  return (x > y) - (x < y);
}

static int by_highest_peak(const shoal_preference *self, const shoal_search *search,
                           const shoal_node *a, const shoal_node *b) {
  return by_least_peak(self, search, b, a);
}

/* The attribute with the largest level over the height of its hierarchy. */
static size_t relative_peak(const shoal_space *space, uint64_t node) {
  size_t peak = 0;
  for (size_t q = 1; q < space->n; q++)
    if (shoal_space_level(space, node, q) * height_of(space, peak) >
        shoal_space_level(space, node, peak) * height_of(space, q))
      peak = q;
  return peak;
}

static int by_least_relative_peak(const shoal_preference *self, const shoal_search *search,
                                  const shoal_node *a, const shoal_node *b) {
  (void)self;
  const shoal_space *space = &search->space;
  size_t p = relative_peak(space, a->number), q = relative_peak(space, b->number);
  uint64_t x = shoal_space_level(space, a->number, p) * height_of(space, q);
  uint64_t y = shoal_space_level(space, b->number, q) * height_of(space, p);
  return (x > y) - (x < y);
}

static int by_highest_relative_peak(const shoal_preference *self, const shoal_search *search,
                                    const shoal_node *a, const shoal_node *b) {
  return by_least_relative_peak(self, search, b, a);
}

static size_t n_generalized(const shoal_space *space, uint64_t node) {
  size_t n = 0;
  for (size_t q = 0; q < space->n; q++) n += shoal_space_level(space, node, q) > 0;
  return n;
}

static int by_fewest_attributes(const shoal_preference *self, const shoal_search *search,
                                const shoal_node *a, const shoal_node *b) {
  (void)self;
  size_t x = n_generalized(&search->space, a->number), y = n_generalized(&search->space, b->number);
  return (x > y) - (x < y);
}

static int by_most_attributes(const shoal_preference *self, const shoal_search *search,
                              const shoal_node *a, const shoal_node *b) {
  return by_fewest_attributes(self, search, b, a);
}

static int by_attribute(const shoal_preference *self, const shoal_search *search,
                        const shoal_node *a, const shoal_node *b) {
  uint32_t x = shoal_space_level(&search->space, a->number, self->attribute);
  uint32_t y = shoal_space_level(&search->space, b->number, self->attribute);
  return (x > y) - (x < y);
}

const shoal_preference shoal_preference_types[] = {
    {"absolute-distance", "fewest generalization steps in all", 0, by_absolute_distance, NULL},
    {"relative-distance", "fewest steps, each divided by its hierarchy's height", 0,
     by_relative_distance, NULL},
    {"max-distribution", "most distinct classes released", 0, by_distribution, NULL},
    {"min-suppression", "fewest rows suppressed", 0, by_suppression, NULL},
    {"least-peak", "smallest highest level", 0, by_least_peak, NULL},
    {"highest-peak", "largest highest level", 0, by_highest_peak, NULL},
    {"least-relative-peak", "smallest highest level, each divided by its hierarchy's height", 0,
     by_least_relative_peak, NULL},
    {"highest-relative-peak", "largest highest level, each divided by its hierarchy's height", 0,
     by_highest_relative_peak, NULL},
    {"fewest-attributes", "fewest attributes generalized", 0, by_fewest_attributes, NULL},
    {"most-attributes", "most attributes generalized", 0, by_most_attributes, NULL},
    {NULL, NULL, 0, NULL, NULL},
};

static shoal_status bind_one(const shoal_policy *policy, const shoal_frequency_set *frequency,
                             const shoal_word *word, shoal_preference *preference,
                             shoal_error *error) {
  const char *names[sizeof shoal_preference_types / sizeof *shoal_preference_types] = {NULL};
  for (size_t i = 0; shoal_preference_types[i].name; i++) {
    names[i] = shoal_preference_types[i].name;
    if (strcmp(names[i], word->text) != 0) continue;
    *preference = shoal_preference_types[i];
    return SHOAL_OK;
  }
  for (size_t q = 0; q < frequency->n_quasi; q++) {
    if (strcmp(frequency->quasi[q]->name, word->text) != 0) continue;
    *preference = (shoal_preference){.attribute = q, .compare = by_attribute};
    return SHOAL_OK;
  }
  const char *near = shoal_nearest_word(word->text, names);
  return shoal_policy_fail(policy, word->mark, error,
                           "'%.60s' is neither a preference nor a quasi-identifier; %s%s%s",
                           word->text, near ? "did you mean '" : "see 'shoal help policy",
                           near ? near : "", near ? "'?" : "'");
}

shoal_status shoal_preferences_bind(const shoal_policy *policy,
                                    const shoal_frequency_set *frequency,
                                    const shoal_decimal *weights, shoal_preference **preferences,
                                    size_t *n_preferences, shoal_error *error) {
  *n_preferences = policy->n_prefer;
  *preferences = NULL;
  size_t n = frequency->n_quasi;
  int64_t weight;
  for (size_t q = 0; weights && q < n; q++)
    if (!shoal_decimal_rescale(weights[q], common_scale(weights, n), &weight))
      return shoal_fail_at(error, SHOAL_BAD_INPUT, &(shoal_location){.file = policy->file},
                           "method.weights have too many digits for exact sums: round them");
  *preferences = shoal_alloc(policy->n_prefer, sizeof **preferences);
  if (!*preferences) return shoal_fail_memory(error);
  for (size_t i = 0; i < policy->n_prefer; i++) {
    shoal_status status =
        bind_one(policy, frequency, &policy->prefer[i], &(*preferences)[i], error);
    if (status != SHOAL_OK) {
      free(*preferences);
      *preferences = NULL;
      return status;
    }
    (*preferences)[i].weights = weights;
  }
  return SHOAL_OK;
}

const shoal_node *shoal_prefer(const shoal_search *search, const shoal_preference *preferences,
                               size_t n_preferences, const shoal_node_list *nodes) {
  const shoal_node *best = &nodes->items[0];
  for (size_t i = 1; i < nodes->n_items; i++) {
    const shoal_node *node = &nodes->items[i];
    int order = 0;
    for (size_t p = 0; p < n_preferences && order == 0; p++)
      order = preferences[p].compare(&preferences[p], search, node, best);
    if (order < 0 || (order == 0 && node->number < best->number)) best = node;
  }
  return best;
}
