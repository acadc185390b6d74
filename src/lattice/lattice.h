/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lattice: the generalization lattice (Samarati 2001, section 3; Truta & Vinay 2006, Figure 2) and
 * the searches on it: a frequency set and requirements in, nodes out.
 *
 * A node is a vector of levels, one per quasi-identifier in column order. Its height is their sum.
 * Nodes are numbered in the order of their vectors: the levels are digits of a mixed-radix number.
 *
 *      levels (2, 0, 1) of tops (3, 1, 2)       strides (6, 3, 1)
 *      number 2 x 6 + 0 x 3 + 1 x 1 = 13        of 4 x 2 x 3 = 24 nodes
 *
 * A step up in attribute q adds stride[q]. A node below another has a smaller number. Where a
 * policy limits levels, a digit is the number of steps above the lowest level that it allows.
 */
#pragma once

#include "model/model.h"

/* ------------------------------------------------------------ shape */

typedef struct shoal_space {
  size_t n;             /* quasi-identifiers */
  uint32_t *top;        /* the highest level of each that may be released */
  uint32_t *bottom;     /* the lowest one; NULL: 0 of each */
  uint32_t *full;       /* the highest level of its hierarchy; NULL: top */
  uint64_t *stride;     /* of node numbers */
  uint64_t *inverse;    /* 2^64 / stride, rounded up; 0 for a stride of 1 */
  uint64_t n_nodes;     /* UINT64_MAX: more than INT64_MAX; then nodes have no numbers */
  uint32_t *unnumbered; /* the levels of `number` UINT64_MAX: of the solution in such a lattice */
  uint32_t height;      /* of the top node */
} shoal_space;

shoal_status shoal_space_init(shoal_space *space, const shoal_frequency_set *frequency,
                              shoal_error *error) SHOAL_MUST_CHECK;
void shoal_space_reset(shoal_space *space);
void shoal_space_levels(const shoal_space *space, uint64_t node, uint32_t *levels);
uint64_t shoal_space_node(const shoal_space *space, const uint32_t *levels);
uint32_t shoal_space_height(const shoal_space *space, uint64_t node);
/* Is a at or below b: is each level of a at most that of b? */
bool shoal_space_below(const shoal_space *space, uint64_t a, uint64_t b);
/* The first vector of a height, ascending; false if there is none. */
bool shoal_space_first(const shoal_space *space, uint32_t height, uint32_t *levels);
/* The next vector of the same height, ascending; false after the last. */
bool shoal_space_next(const shoal_space *space, uint32_t *levels);

/* The lowest level of an attribute. */
static inline uint32_t shoal_space_bottom(const shoal_space *space, size_t q) {
  return space->bottom ? space->bottom[q] : 0;
}

/* One level of a node. */
static inline uint32_t shoal_space_level(const shoal_space *space, uint64_t node, size_t q) {
  uint32_t bottom = shoal_space_bottom(space, q);
  return bottom + (uint32_t)(node / space->stride[q] % ((uint64_t)(space->top[q] - bottom) + 1));
}

/* ------------------------------------------------------------ nodes */

/* A node and its figures. */
typedef struct shoal_node {
  uint64_t number;
  uint32_t height;
  uint64_t suppressed;     /* rows in classes that violate a requirement */
  uint32_t n_classes;      /* after suppression */
  uint64_t smallest_class; /* of these */
  bool satisfies; /* suppressed is within the limit, and a row is released if one must be */
  bool minimal;   /* satisfies, and no node strictly below does */
} shoal_node;

typedef struct shoal_node_list {
  shoal_node *items;
  size_t n_items;
  size_t capacity;
} shoal_node_list;

/* False: no memory. */
bool shoal_node_list_add(shoal_node_list *list, const shoal_node *node);
void shoal_node_list_reset(shoal_node_list *list);

/* ------------------------------------------------------------ search */

/* Known by monotonicity: the node satisfies (GOOD) or does not (BAD). */
typedef enum shoal_tag { SHOAL_TAG_NONE, SHOAL_TAG_GOOD, SHOAL_TAG_BAD } shoal_tag;

/* Nodes per batch, at most. */
enum { SHOAL_BATCH_NODES = 8 };

/* Larger lattices are searched by `optimal` only: a full search would take days. */
#define SHOAL_MAX_NODES UINT64_C(100000000)

/* Classes and tuples that `optimal` reads at most, unless its caller sets another number. */
#define SHOAL_OPTIMAL_MAX_SCANNED UINT64_C(4000000000)

/* A search: the data, the requirements, and what has been computed so far. */
typedef struct shoal_search {
  const shoal_frequency_set *frequency;
  const shoal_requirements *requirements;
  const shoal_run *run;
  uint64_t max_suppressed;
  uint64_t max_classes;         /* no release can have more: the necessary conditions */
  const shoal_decimal *weights; /* of quasi-identifiers in costs of levels; NULL: 1 each */
  const struct shoal_distance_matrix *matrix; /* decides k-anonymity without classes; or NULL */
  struct shoal_set_bounds *set_bounds; /* of `over` and `known`; NULL if the policy has none */
  struct shoal_set_rounds *set_rounds; /* NULL: of no use */
  bool monotone;                       /* every node above one that satisfies does, too */
  bool needs_rows; /* an empty release does not satisfy (docs/reading-the-papers.md R6) */
  shoal_space space;
  struct shoal_snapshots *snapshots;   /* classes of evaluated nodes, to roll up from */
  struct shoal_node_batch *batch;      /* the nodes being evaluated */
  shoal_grouper grouper;               /* of the caller's thread */
  uint32_t *levels;                    /* scratch, one vector */
  uint8_t *tags;                       /* shoal_tag by node; NULL unless monotone */
  uint64_t *path;                      /* scratch of shoal_search_decide_by_path */
  struct shoal_path_order *path_order; /* which attribute a path raises next */
  uint64_t *stack;                     /* scratch of tagging */
  size_t stack_size, stack_capacity;
  uint8_t *evaluated;   /* a bit per node: its classes were computed */
  uint64_t n_evaluated; /* nodes whose classes were computed */
  uint64_t n_bounded;   /* nodes rejected by the second necessary condition alone */
  uint64_t n_scanned;   /* classes and tuples read to compute classes of nodes */
} shoal_search;

/*
 * All pointers are borrowed until the reset. Memory: 9/8 bytes per node, up to SHOAL_MAX_NODES.
 * Nothing to reset if it fails. If the nodes cannot be counted, only shoal_search_optimal may be
 * called.
 */
shoal_status shoal_search_init(shoal_search *search, const shoal_frequency_set *frequency,
                               const shoal_requirements *requirements, uint64_t max_suppressed,
                               uint64_t max_classes, bool needs_rows, const shoal_run *run,
                               shoal_error *error) SHOAL_MUST_CHECK;
void shoal_search_reset(shoal_search *search);

/* SHOAL_BAD_INPUT, with advice, if the nodes cannot be counted and so have no numbers. */
shoal_status shoal_search_check_countable(const shoal_search *search,
                                          shoal_error *error) SHOAL_MUST_CHECK;

/*
 * Exact figures of n <= SHOAL_BATCH_NODES nodes; `minimal` is not set. For this and the next two
 * functions neither results nor counters depend on the number of threads. Cost per node: a pass
 * over the classes of the smallest evaluated node below it.
 */
shoal_status shoal_search_evaluate_batch(shoal_search *search, const uint64_t *nodes, size_t n,
                                         shoal_node *evaluated,
                                         shoal_error *error) SHOAL_MUST_CHECK;

/* Which of the nodes satisfy? Evaluates each of them, but stops as soon as the answer is known. */
shoal_status shoal_search_decide_batch(shoal_search *search, const uint64_t *nodes, size_t n,
                                       bool *satisfies, shoal_error *error) SHOAL_MUST_CHECK;

/* The same, but evaluates only nodes without a tag, and propagates the answers as tags. */
shoal_status shoal_search_satisfies_batch(shoal_search *search, const uint64_t *nodes, size_t n,
                                          bool *satisfies, shoal_error *error) SHOAL_MUST_CHECK;

SHOAL_MUST_CHECK static inline shoal_status shoal_search_evaluate(shoal_search *search,
                                                                  uint64_t node,
                                                                  shoal_node *evaluated,
                                                                  shoal_error *error) {
  return shoal_search_evaluate_batch(search, &node, 1, evaluated, error);
}

SHOAL_MUST_CHECK static inline shoal_status
shoal_search_decide(shoal_search *search, uint64_t node, bool *satisfies, shoal_error *error) {
  return shoal_search_decide_batch(search, &node, 1, satisfies, error);
}

SHOAL_MUST_CHECK static inline shoal_status
shoal_search_satisfies(shoal_search *search, uint64_t node, bool *satisfies, shoal_error *error) {
  return shoal_search_satisfies_batch(search, &node, 1, satisfies, error);
}

/*
 * The classes at a node from the tuples, which of them violate a requirement, and the class of each
 * tuple; the caller owns all three.
 */
shoal_status shoal_search_classes(shoal_search *search, uint64_t node, shoal_classes *classes,
                                  uint8_t **violates, uint32_t **class_of_tuple,
                                  shoal_error *error) SHOAL_MUST_CHECK;

/* All minimal nodes, by ascending number. No node below `from_height` may satisfy. */
shoal_status shoal_search_minimal(shoal_search *search, uint32_t from_height,
                                  shoal_node_list *minimal, shoal_error *error) SHOAL_MUST_CHECK;

/* Every node, by ascending number, with exact figures and minimality. */
shoal_status shoal_search_all(shoal_search *search, shoal_node_list *nodes,
                              shoal_error *error) SHOAL_MUST_CHECK;

/* ------------------------------------------------------------ algorithms */

/* Options of single algorithms; each reads its own. */
typedef struct shoal_algorithm_options {
  const struct shoal_objective *objective; /* of `optimal`: the cost that it minimizes */
  uint64_t max_scanned; /* of `optimal`: classes and tuples that it reads at most, about (n_scanned
                           counts them); 0: SHOAL_OPTIMAL_MAX_SCANNED */
  const struct shoal_datafly_options *datafly; /* of `datafly`; NULL: its defaults */
} shoal_algorithm_options;

typedef struct shoal_solution {
  bool found;
  shoal_node node; /* if found; else, of `optimal`, one that suppresses least */
  double cost;     /* `optimal`: of the node, under the objective */
  uint64_t visits; /* `optimal`: work of nodes that were not evaluated, in classes */
  bool unproven;   /* `optimal`: a limit ended the search before the optimum was proven */
} shoal_solution;

/* Every algorithm has this type. `options` may be NULL where the algorithm has none. */
typedef shoal_status shoal_algorithm_run(shoal_search *search,
                                         const shoal_algorithm_options *options,
                                         shoal_solution *solution, shoal_error *error);

/*
 * A node of minimum height that satisfies, the one with the smallest number among them: binary
 * search on height (Samarati 2001, Figure 10) with the necessary conditions (Truta & Vinay 2006,
 * Algorithm 3) for monotone requirements. For others every node is evaluated.
 */
SHOAL_MUST_CHECK shoal_algorithm_run shoal_search_samarati;

/* The same node, found as Incognito does. Tags then know every node (monotone requirements). */
SHOAL_MUST_CHECK shoal_algorithm_run shoal_search_incognito;

/*
 * The node of minimum cost under options->objective among all that satisfy. Ties: the node whose
 * levels cost less, then the smaller number; for objectives that only classes bound (dm, avg,
 * classes) the node of smaller height, then the smaller number.
 *
 * The exact search may use half of options->max_scanned and of the time limit (search->run), if
 * there is one. If that is not enough, or the lattice has more than 20 million nodes, a local
 * search (climb.h) takes the rest: the best node found, and solution->unproven is set. Without a
 * time limit the answer does not depend on the machine or the number of threads.
 */
SHOAL_MUST_CHECK shoal_algorithm_run shoal_search_optimal;

/*
 * The node where Datafly's greedy walk ends (datafly.h), often above a minimal one; `minimal` is
 * not set. Not found: even the last node it can reach does not satisfy. SHOAL_BAD_INPUT for
 * anonymity levels or profiles outside 0 to 1.
 */
SHOAL_MUST_CHECK shoal_algorithm_run shoal_search_datafly;

/* A full-domain algorithm; one row of the table in algorithms.c. */
typedef struct shoal_algorithm {
  const char *name;
  const char *summary;
  bool min_height;  /* its node is minimal and of minimum height; `prefer` may choose another */
  bool all_minimal; /* all minimal nodes are searched for too */
  bool any_size;    /* it searches lattices whose nodes cannot be counted, too */
  shoal_algorithm_run *run; /* NULL: it does not end in a node (mu_argus.h) */
} shoal_algorithm;

/* The table, ended by a NULL name. */
extern const shoal_algorithm shoal_algorithm_types[];

/* ------------------------------------------------------------ preferences */

/* A way to choose among minimal nodes (Samarati 2001, section 6). */
typedef struct shoal_preference {
  const char *name; /* in a policy; NULL: an attribute's name, to be generalized last */
  const char *summary;
  size_t attribute; /* if name is NULL */
  /* Negative: a is better. Exact. */
  int (*compare)(const struct shoal_preference *self, const shoal_search *search,
                 const shoal_node *a, const shoal_node *b);
  const shoal_decimal *weights; /* by quasi-identifier, for the distances; NULL: all 1 */
} shoal_preference;

/* The table of named preferences, ended by a NULL name. */
extern const shoal_preference shoal_preference_types[];

/* The policy's `prefer` list; the caller frees *preferences. SHOAL_BAD_INPUT for unknown names. */
shoal_status shoal_preferences_bind(const shoal_policy *policy,
                                    const shoal_frequency_set *frequency,
                                    const shoal_decimal *weights, shoal_preference **preferences,
                                    size_t *n_preferences, shoal_error *error) SHOAL_MUST_CHECK;

/* The best node of a non-empty list: by the first preference, ties by the next, then the number. */
const shoal_node *shoal_prefer(const shoal_search *search, const shoal_preference *preferences,
                               size_t n_preferences, const shoal_node_list *nodes);
