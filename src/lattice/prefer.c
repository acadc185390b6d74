/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lattice/prefer: which of several minimal nodes (Samarati 2001, section 6). Distances are compared
 * exactly: as integers, over the least common multiple of the hierarchies' heights.
 */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "lattice/lattice.h"

__extension__ typedef __int128 int128;

static uint32_t level_of(const shoal_space *space, uint64_t node, size_t q) {
  return (uint32_t)(node / space->stride[q] % ((uint64_t)space->top[q] + 1));
}

static int sign(int128 x) { return (x > 0) - (x < 0); }

static uint64_t gcd(uint64_t a, uint64_t b) {
  while (b) {
    uint64_t r = a % b;
    a = b;
    b = r;
  }
  return a;
}

/* The least common multiple of the heights, 0 if it is too large for exact sums. */
static uint64_t common_height(const shoal_space *space) {
  uint64_t common = 1;
  for (size_t q = 0; q < space->n; q++) {
    common = common / gcd(common, space->top[q]) * space->top[q];
    if (common > (uint64_t)1 << 48) return 0;
  }
  return common;
}

/* An attribute's weight as an integer, at the scale common to all. */
static int64_t weight_of(const shoal_preference *self, const shoal_space *space, size_t q) {
  if (!self->weights) return 1;
  unsigned scale = 0;
  for (size_t i = 0; i < space->n; i++)
    if (self->weights[i].scale > scale) scale = self->weights[i].scale;
  int64_t weight;
  return shoal_decimal_rescale(self->weights[q], scale, &weight) ? weight : 0;
}

/* Sum over attributes of weight x (level of a - level of b) x unit(q). */
static int compare_distance(const shoal_preference *self, const shoal_space *space,
                            const shoal_node *a, const shoal_node *b, bool relative) {
  uint64_t common = relative ? common_height(space) : 1;
  int128 exact = 0;
  long double rounded = 0; /* only for heights without a usable common multiple */
  for (size_t q = 0; q < space->n; q++) {
    int64_t steps = (int64_t)level_of(space, a->number, q) - level_of(space, b->number, q);
    int128 weighted = (int128)weight_of(self, space, q) * steps;
    if (common) exact += relative ? weighted * (int64_t)(common / space->top[q]) : weighted;
    else rounded += (long double)weighted / space->top[q];
  }
  return common ? sign(exact) : (rounded > 0) - (rounded < 0);
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

static uint32_t peak(const shoal_space *space, uint64_t node) {
  uint32_t highest = 0;
  for (size_t q = 0; q < space->n; q++)
    if (level_of(space, node, q) > highest) highest = level_of(space, node, q);
  return highest;
}

static int by_least_peak(const shoal_preference *self, const shoal_search *search,
                         const shoal_node *a, const shoal_node *b) {
  (void)self;
  uint32_t x = peak(&search->space, a->number), y = peak(&search->space, b->number);
  return (x > y) - (x < y);
}

static int by_highest_peak(const shoal_preference *self, const shoal_search *search,
                           const shoal_node *a, const shoal_node *b) {
  return by_least_peak(self, search, b, a);
}

static size_t generalized(const shoal_space *space, uint64_t node) {
  size_t n = 0;
  for (size_t q = 0; q < space->n; q++) n += level_of(space, node, q) > 0;
  return n;
}

static int by_fewest_attributes(const shoal_preference *self, const shoal_search *search,
                                const shoal_node *a, const shoal_node *b) {
  (void)self;
  size_t x = generalized(&search->space, a->number), y = generalized(&search->space, b->number);
  return (x > y) - (x < y);
}

static int by_most_attributes(const shoal_preference *self, const shoal_search *search,
                              const shoal_node *a, const shoal_node *b) {
  return by_fewest_attributes(self, search, b, a);
}

static int by_attribute(const shoal_preference *self, const shoal_search *search,
                        const shoal_node *a, const shoal_node *b) {
  uint32_t x = level_of(&search->space, a->number, self->attribute);
  uint32_t y = level_of(&search->space, b->number, self->attribute);
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
    {"fewest-attributes", "fewest attributes generalized", 0, by_fewest_attributes, NULL},
    {"most-attributes", "most attributes generalized", 0, by_most_attributes, NULL},
    {NULL, NULL, 0, NULL, NULL},
};

const shoal_entry *shoal_preferences(void) {
  static const shoal_entry entries[] = {
      {"absolute-distance", "", "fewest generalization steps in all"},
      {"relative-distance", "", "fewest steps, each divided by its hierarchy's height"},
      {"max-distribution", "", "most distinct classes released"},
      {"min-suppression", "", "fewest rows suppressed"},
      {"least-peak", "", "smallest highest level"},
      {"highest-peak", "", "largest highest level"},
      {"fewest-attributes", "", "fewest attributes generalized"},
      {"most-attributes", "", "most attributes generalized"},
      {"NAME", "", "a quasi-identifier's name: generalize it last"},
      {NULL, NULL, NULL},
  };
  return entries;
}

static shoal_status bind_one(const shoal_policy *policy, const shoal_frequency *frequency,
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
                           "'%.60s' is no preference and no quasi-identifier%s%s%s", word->text,
                           near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

shoal_status shoal_preferences_bind(const shoal_policy *policy, const shoal_frequency *frequency,
                                    const shoal_decimal *weights, shoal_preference **preferences,
                                    size_t *n_preferences, shoal_error *error) {
  *n_preferences = policy->n_prefer;
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
