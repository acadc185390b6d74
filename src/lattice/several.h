/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lattice/several: looking at several nodes together, as every search does. Sources are chosen
 * before and results are taken after, in order; what is between shares nothing and runs on threads.
 * How many nodes are taken together depends on the data alone: so neither what is found nor what is
 * counted depends on the number of threads. Private to this folder.
 */
#ifndef SHOAL_LATTICE_SEVERAL_H
#define SHOAL_LATTICE_SEVERAL_H

#include "lattice/lattice.h"

/* A node looked at. */
typedef struct shoal_look {
  uint64_t node;
  uint32_t *levels;
  const shoal_classes *from; /* what it is rolled up from */
  uint32_t n_source;         /* classes of it */
  shoal_grouper *grouper;    /* of the thread it is on */
  shoal_classes classes;     /* what is left here is kept, to roll up from */
  shoal_status status;
  shoal_error error;
} shoal_look;

struct shoal_several {
  shoal_look looks[SHOAL_LOOKS];
  uint32_t *levels;                        /* of all of them */
  shoal_grouper groupers[SHOAL_LOOKS - 1]; /* of threads beside the caller's */
};

shoal_status shoal_several_init(shoal_search *search, shoal_error *error) SHOAL_MUST_CHECK;
void shoal_several_free(shoal_search *search);

/* Nodes to look at together where one does not tell of the other: 1 where tuples are few. */
size_t shoal_several_at_once(const shoal_search *search);

/*
 * Looks at n nodes, up to SHOAL_LOOKS, on as many threads as there are and pay: work(user, i, look)
 * for the i-th, on any thread, to fill look->classes and what `user` has for i. Where all go well,
 * the classes are kept in order; else the first error in order is given. `sizes_only`: sources
 * without sensitive values will do.
 */
typedef shoal_status (*shoal_look_work)(void *user, size_t i, shoal_look *look);
shoal_status shoal_several_look(shoal_search *search, const uint64_t *nodes, size_t n,
                                bool sizes_only, shoal_look_work work, void *user,
                                shoal_error *error) SHOAL_MUST_CHECK;

/* What work does first: look->classes from look->from, with sensitive values or without. */
shoal_status shoal_look_roll_up(const shoal_search *search, shoal_look *look,
                                bool sizes_only) SHOAL_MUST_CHECK;

/* Histograms are dear to merge: sizes alone often tell that a node fails. */
bool shoal_search_sizes_first(const shoal_search *search);

/* The figures of a node so judged; `minimal` is not set. */
shoal_node shoal_search_figures(const shoal_search *search, uint64_t node,
                                const shoal_verdict *verdict);

#endif
