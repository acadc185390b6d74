/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lattice: the generalization lattice (Samarati 2001, section 3; Truta & Vinay 2006, Figure 2) and
 * the searches on it. A node is a vector of levels, one a quasi-identifier in column order; its
 * height is their sum. Nodes are numbered so that ascending numbers are ascending vectors.
 */
#ifndef SHOAL_LATTICE_LATTICE_H
#define SHOAL_LATTICE_LATTICE_H

#include "model/model.h"

/* The shape of the lattice: nothing about data. */
typedef struct shoal_space {
  size_t n;          /* quasi-identifiers */
  uint32_t *top;     /* the highest level of each */
  uint64_t *stride;  /* of node numbers */
  uint64_t *inverse; /* 2^64 / stride, rounded up; 0 for a stride of 1 */
  uint64_t n_nodes;  /* UINT64_MAX: more than can be counted */
  uint32_t height;   /* of the top node */
} shoal_space;

shoal_status shoal_space_init(shoal_space *space, const shoal_frequency *frequency,
                              shoal_error *error) SHOAL_MUST_CHECK;
void shoal_space_reset(shoal_space *space);
void shoal_space_levels(const shoal_space *space, uint64_t node, uint32_t *levels);
uint64_t shoal_space_node(const shoal_space *space, const uint32_t *levels);
uint32_t shoal_space_height(const shoal_space *space, uint64_t node);
/* Is a <= b, level by level? */
bool shoal_space_below(const shoal_space *space, uint64_t a, uint64_t b);
/* The first vector of that height, ascending; false if there is none. */
bool shoal_space_first(const shoal_space *space, uint32_t height, uint32_t *levels);
/* The next vector of the same height, ascending; false after the last. */
bool shoal_space_next(const shoal_space *space, uint32_t *levels);

/* What is known of a node. */
typedef struct shoal_node {
  uint64_t number;
  uint32_t height;
  uint64_t suppressed;
  uint32_t n_classes;      /* left after suppression */
  uint64_t smallest_class; /* of these */
  bool satisfies;          /* suppressed <= the limit (and, where asked, rows are released) */
  bool minimal;            /* satisfies, and no node strictly below does */
} shoal_node;

/* What is known of a node by monotonicity. */
typedef enum shoal_tag { SHOAL_TAG_NONE, SHOAL_TAG_GOOD, SHOAL_TAG_BAD } shoal_tag;

/* A search at work: the data, the demands, and what has been computed so far. */
typedef struct shoal_search {
  const shoal_frequency *frequency;
  const shoal_demands *demands;
  const shoal_run *run;
  uint64_t max_suppressed;
  uint64_t most_classes;                   /* no release can have more: the necessary conditions */
  const struct shoal_objective *objective; /* what `optimal` makes least */
  const shoal_decimal *weights;            /* of quasi-identifiers in it; NULL: 1 each */
  double cost;                             /* of the node it found */
  const struct shoal_matrix *matrix; /* decides in place of classes, k alone; NULL: classes do */
  const struct shoal_datafly_options *datafly; /* of `datafly`; NULL: its defaults */
  bool needs_rows; /* an empty release is no solution (docs/reading-the-papers.md R6) */
  shoal_space space;
  struct shoal_snapshots *snapshots; /* classes of finished nodes, to roll up from */
  struct shoal_several *several;     /* nodes looked at together */
  shoal_grouper grouper;             /* of the caller's thread */
  uint32_t *levels;                  /* scratch, one vector */
  uint8_t *tags;                     /* shoal_tag by node; NULL where demands are not monotone */
  uint64_t *path;                    /* scratch of shoal_search_settle */
  struct shoal_guide *guide;         /* which way it goes up */
  uint64_t *stack;                   /* scratch of tagging */
  size_t stack_size, stack_capacity;
  uint8_t *looked;    /* a bit a node: its classes were computed */
  uint64_t n_checked; /* how many were */
  uint64_t n_bounded; /* nodes refused by the second necessary condition alone */
  uint64_t n_touched; /* classes and tuples gone over to compute the classes of nodes */
  bool unproven;      /* the time was over before the best node was proven to be it */
} shoal_search;

/* A lattice with more nodes is searched under a time limit only: to the end it would take days. */
#define SHOAL_MAX_NODES UINT64_C(100000000)

shoal_status shoal_search_init(shoal_search *search, const shoal_frequency *frequency,
                               const shoal_demands *demands, uint64_t max_suppressed,
                               uint64_t most_classes, bool needs_rows, const shoal_run *run,
                               shoal_error *error) SHOAL_MUST_CHECK;
void shoal_search_reset(shoal_search *search);

/* SHOAL_BAD_INPUT, with advice, where the lattice has more nodes than that. */
shoal_status shoal_search_refuse_vast(const shoal_search *search,
                                      shoal_error *error) SHOAL_MUST_CHECK;

enum { SHOAL_LOOKS = 8 }; /* nodes looked at together, at most */

/*
 * The exact figures of n nodes, up to SHOAL_LOOKS, looked at together; `minimal` is not set. So do
 * the next two: what they tell is the same for any number of threads.
 */
shoal_status shoal_search_measure_several(shoal_search *search, const uint64_t *nodes, size_t n,
                                          shoal_node *figures, shoal_error *error) SHOAL_MUST_CHECK;

/* Which of the nodes satisfy? Always looks, but no longer than it must. */
shoal_status shoal_search_decide_several(shoal_search *search, const uint64_t *nodes, size_t n,
                                         bool *satisfies, shoal_error *error) SHOAL_MUST_CHECK;

/* The same; looks only where it is not known by monotonicity, and remembers. */
shoal_status shoal_search_satisfies_several(shoal_search *search, const uint64_t *nodes, size_t n,
                                            bool *satisfies, shoal_error *error) SHOAL_MUST_CHECK;

SHOAL_MUST_CHECK static inline shoal_status
shoal_search_measure(shoal_search *search, uint64_t node, shoal_node *figures, shoal_error *error) {
  return shoal_search_measure_several(search, &node, 1, figures, error);
}

SHOAL_MUST_CHECK static inline shoal_status
shoal_search_decide(shoal_search *search, uint64_t node, bool *satisfies, shoal_error *error) {
  return shoal_search_decide_several(search, &node, 1, satisfies, error);
}

SHOAL_MUST_CHECK static inline shoal_status
shoal_search_satisfies(shoal_search *search, uint64_t node, bool *satisfies, shoal_error *error) {
  return shoal_search_satisfies_several(search, &node, 1, satisfies, error);
}

/* Counts a node that is computed from so many classes; each node counts once. */
void shoal_search_note(shoal_search *search, uint64_t node, uint32_t n_source);

/* Do sizes and the number of classes alone tell that these classes cannot satisfy? */
bool shoal_search_bounded_out(const shoal_search *search, const shoal_classes *classes);

/*
 * Does a node satisfy, by bisection on a path of unknown nodes from it up: where many are asked
 * about, what is found high up answers for many below.
 */
shoal_status shoal_search_settle(shoal_search *search, uint64_t node, bool *satisfies,
                                 shoal_error *error) SHOAL_MUST_CHECK;
void shoal_search_free_guide(shoal_search *search);

/* The classes at a node, and which of them break a demand; all owned by the caller. */
shoal_status shoal_search_classes(shoal_search *search, uint64_t node, shoal_classes *classes,
                                  uint8_t **breaks, uint32_t **class_of_tuple,
                                  shoal_error *error) SHOAL_MUST_CHECK;

/* A growing list of nodes. */
typedef struct shoal_node_list {
  shoal_node *items;
  size_t n_items;
  size_t capacity;
} shoal_node_list;

bool shoal_node_list_add(shoal_node_list *list, const shoal_node *node);
void shoal_node_list_reset(shoal_node_list *list);

/*
 * One node of least height that satisfies, the least vector among them: binary search on height
 * (Samarati 2001, Figure 10), with the necessary conditions (Truta & Vinay 2006, Algorithm 3), for
 * monotone demands; for others every node is looked at. *found is false where there is none.
 */
shoal_status shoal_search_samarati(shoal_search *search, shoal_node *solution, bool *found,
                                   shoal_error *error) SHOAL_MUST_CHECK;

/* The same node, found as Incognito does; tags then know every node (monotone demands). */
shoal_status shoal_search_incognito(shoal_search *search, shoal_node *solution, bool *found,
                                    shoal_error *error) SHOAL_MUST_CHECK;

/*
 * The node of least cost under search->objective of all that satisfy; among equals the one whose
 * levels cost least, then the one with the least number. With a time limit (search->run) the best
 * found when it is over; search->unproven tells.
 */
shoal_status shoal_search_optimal(shoal_search *search, shoal_node *solution, bool *found,
                                  shoal_error *error) SHOAL_MUST_CHECK;

/* The same for objectives that only classes bound; among equals the one found first. */
shoal_status shoal_search_by_heights(shoal_search *search, shoal_node *solution, bool *found,
                                     shoal_error *error) SHOAL_MUST_CHECK;

/* All minimal nodes, by ascending number. `from_height`: none satisfies below it. */
shoal_status shoal_search_minimal(shoal_search *search, uint32_t from_height,
                                  shoal_node_list *minimal, shoal_error *error) SHOAL_MUST_CHECK;

/* Every node, by ascending number, with exact figures and minimality. */
shoal_status shoal_search_all(shoal_search *search, shoal_node_list *nodes,
                              shoal_error *error) SHOAL_MUST_CHECK;

/* ------------------------------------------------------------ preferences */

/* Samarati 2001, section 6: how to choose among minimal nodes. */
typedef struct shoal_preference {
  const char *name; /* as in a policy; NULL: an attribute, to be generalized last */
  const char *summary;
  size_t attribute; /* where name is NULL */
  /* Negative: a is better. Exact. */
  int (*compare)(const struct shoal_preference *self, const shoal_search *search,
                 const shoal_node *a, const shoal_node *b);
  const shoal_decimal *weights; /* by quasi-identifier, for the distances; NULL: all 1 */
} shoal_preference;

/* The table of named preferences, ended by a NULL name. */
extern const shoal_preference shoal_preference_types[];

/* Reads the policy's `prefer` list; the caller frees *preferences. */
shoal_status shoal_preferences_bind(const shoal_policy *policy, const shoal_frequency *frequency,
                                    const shoal_decimal *weights, shoal_preference **preferences,
                                    size_t *n_preferences, shoal_error *error) SHOAL_MUST_CHECK;

/* The best node of a non-empty list: by the first preference, ties by the next, then the number. */
const shoal_node *shoal_prefer(const shoal_search *search, const shoal_preference *preferences,
                               size_t n_preferences, const shoal_node_list *nodes);

/* ------------------------------------------------------------ algorithms */

/* A full-domain algorithm; one row of the table in algorithms.c. */
typedef struct shoal_algorithm {
  const char *name;
  const char *summary;
  bool least_height; /* its node is minimal and of least height; `prefer` chooses among minimal */
  bool all_minimal;  /* the set of all minimal nodes is searched for too */
  /* NULL: it does not end in a node; the job knows what to do. */
  shoal_status (*run)(shoal_search *search, shoal_node *solution, bool *found, shoal_error *error);
} shoal_algorithm;

/* The table, ended by a NULL name. */
extern const shoal_algorithm shoal_algorithm_types[];

#endif
