/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster/top_down: one step of top-down specialization, and what its parts share; private to
 * top_down*.c.
 *
 *     a class -> top_down_forks (its children on each axis) -> top_down_step (which of them may
 *     stand by themselves, on which axis that gains most) -> top_down_mend (rows taken back, so
 *     that those left behind satisfy the demands too) -> parts
 */
#ifndef SHOAL_CLUSTER_TOP_DOWN_H
#define SHOAL_CLUSTER_TOP_DOWN_H

#include "cluster/cluster.h"

/* The rows of a class whose label on an axis would be one child of the class's label. */
typedef struct shoal_child {
  uint32_t last;  /* the highest place of its rows */
  uint32_t n;     /* rows */
  uint32_t loss;  /* of its label */
  uint32_t start; /* where its rows lie in `sorted` */
  bool kept;      /* it becomes a part; else its rows stay behind */
} shoal_child;

/* A class and one of its axes. */
typedef struct shoal_fork {
  shoal_child *children; /* by place */
  uint32_t n_children;   /* 0: none of them can stand by itself */
  uint32_t loss;         /* of the class's label */
  uint64_t most;         /* that the loss can fall by */
} shoal_fork;

/* Rows at a place. */
typedef struct shoal_at_place {
  uint32_t place, n;
} shoal_at_place;

/* A demand that wants equally many rows of each group of values. */
typedef struct shoal_even {
  const shoal_column *column; /* NULL: there is none, or more than one */
  const uint32_t *group_of;   /* by value */
  uint32_t n_all;             /* groups */
  uint32_t *index_of;         /* by group: its number among those that the class has */
  uint32_t n_groups;          /* that the class has */
  uint32_t *n_rows;           /* scratch, by number */
} shoal_even;

/* Scratch memory of a step. */
typedef struct shoal_specializer {
  const shoal_cluster_task *task;
  shoal_judging judging;
  const uint32_t *rows; /* of the class, ascending */
  uint32_t n;
  shoal_span *extent;    /* of the class, by axis */
  shoal_fork *forks;     /* by axis */
  size_t *order;         /* axes that may be specialized, the most promising first */
  uint32_t **counts;     /* by axis, by place: rows; 0 between uses */
  size_t *counted;       /* axes that are counted, not sorted */
  shoal_at_place *found; /* the places that rows have on an axis, ascending */
  uint32_t n_found;
  /* one axis as it is tried */
  uint32_t *part_of; /* by row: its child, or the number of children: it stays behind */
  uint32_t *sorted;  /* the class's rows by child; also places, to be sorted */
  uint32_t *left;    /* rows that stay behind; behind them those of a child that may give some */
  uint32_t n_left;
  shoal_even even;
  uint64_t *givers; /* kept children, the smallest first: rows, then number, in one word */
  uint32_t **seen;  /* by count, by group: when it was last seen */
  uint32_t now;
  uint32_t *distinct; /* by count: groups seen */
  /* the best axis so far */
  uint32_t *best_part_of;
  uint32_t *starts; /* of the parts */
  uint32_t *sizes;
} shoal_specializer;

shoal_status shoal_specializer_init(shoal_specializer *s, const shoal_cluster_task *task,
                                    shoal_error *error) SHOAL_MUST_CHECK;
void shoal_specializer_reset(shoal_specializer *s);

/*
 * Divides the n rows of a class, which are ascending: part after part, each ascending again and
 * s->sizes[i] long. Returns the number of parts; 0 if no axis can be specialized.
 */
uint32_t shoal_specializer_divide(shoal_specializer *s, uint32_t *rows, uint32_t n);

/* A row of the class stays behind. */
static inline void shoal_specializer_leave(shoal_specializer *s, const shoal_fork *fork,
                                           uint32_t row) {
  s->left[s->n_left++] = row;
  s->part_of[row] = fork->n_children;
}

/* A child as a whole stays behind. */
void shoal_specializer_leave_all(shoal_specializer *s, const shoal_fork *fork, shoal_child *child);

/* The forks of all axes, and s->order; returns how many axes that has. */
size_t shoal_specializer_fork(shoal_specializer *s);

/*
 * Takes rows back from the kept children of a fork until those left behind satisfy every demand;
 * false if that cannot be. Children that are kept satisfy them still.
 */
bool shoal_specializer_mend(shoal_specializer *s, shoal_fork *fork);

/* ------------------------------------------------------------ equally many rows */

/* False without memory. */
bool shoal_even_init(shoal_even *even, const shoal_fit *fit);
void shoal_even_reset(shoal_even *even);

/* Which groups a class has. */
void shoal_even_look(shoal_even *even, const uint32_t *rows, uint32_t n);

/*
 * Leaves rows of a child behind, so that it has equally many of each group that the class has.
 * Returns whether it satisfies every demand then.
 */
bool shoal_specializer_even(shoal_specializer *s, const shoal_fork *fork, shoal_child *child);

/*
 * Rows of a child that is even, in an order in which both what comes first and what remains is as
 * even as it can be.
 */
void shoal_even_line_up(shoal_even *even, const uint32_t *rows, uint32_t n, uint32_t *line);

#endif
