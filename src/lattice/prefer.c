/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lattice/prefer: which of several minimal nodes (Samarati 2001, section 6). Distances are compared
 * exactly: as integers, over the least common multiple of the hierarchies' heights.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "lattice/lattice.h"

__extension__ typedef __int128 int128;

static uint32_t level_of(const shoal_space *space, uint64_t node, size_t q) {
  return (uint32_t)(node / space->stride[q] % ((uint64_t)space->top[q] + 1));
}

static int sign(int128 x) { return (x > 0) - (x < 0); }

/* What a step is divided by; 1 where there is no step to divide. */
static uint64_t height_of(const shoal_space *space, size_t q) {
  return space->top[q] ? space->top[q] : 1;
}

/* The least common multiple of the heights: at most the number of nodes, which is bounded. */
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

/* An attribute's weight as an integer, at the scale common to all; it fits, or was refused. */
static int64_t weight_of(const shoal_preference *self, const shoal_space *space, size_t q) {
  if (!self->weights) return 1;
  int64_t weight = 0;
  (void)shoal_decimal_rescale(self->weights[q], common_scale(self->weights, space->n), &weight);
  return weight;
}

static bool weights_fit(const shoal_decimal *weights, size_t n) {
  int64_t weight;
  for (size_t q = 0; weights && q < n; q++)
    if (!shoal_decimal_rescale(weights[q], common_scale(weights, n), &weight)) return false;
  return true;
}

/* Sum over attributes of weight x (level of a - level of b), each over its height if relative. */
static int compare_distance(const shoal_preference *self, const shoal_space *space,
                            const shoal_node *a, const shoal_node *b, bool relative) {
  uint64_t common = relative ? common_height(space) : 1;
  int128 sum = 0;
  for (size_t q = 0; q < space->n; q++) {
    int64_t steps = (int64_t)level_of(space, a->number, q) - level_of(space, b->number, q);
    int128 weighted = (int128)weight_of(self, space, q) * steps;
    sum += relative ? weighted * (int64_t)(common / height_of(space, q)) : weighted;
  }
  return sign(sum);
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

enum { N_PREFERENCES = sizeof shoal_preference_types / sizeof *shoal_preference_types };

static shoal_entry entries[N_PREFERENCES + 1];

static void fill_entries(void) {
  size_t i = 0;
  for (; shoal_preference_types[i].name; i++)
    entries[i] =
        (shoal_entry){shoal_preference_types[i].name, "", shoal_preference_types[i].summary};
  entries[i] = (shoal_entry){"NAME", "", "a quasi-identifier's name: generalize it last"};
}

const shoal_entry *shoal_preferences(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  (void)pthread_once(&once, fill_entries);
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
  *preferences = NULL;
  if (!weights_fit(weights, frequency->n_quasi))
    return shoal_fail_at(error, SHOAL_BAD_INPUT, &(shoal_place){.file = policy->file},
                         "method.weights differ by too much to be added exactly: use numbers of "
                         "fewer digits");
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
