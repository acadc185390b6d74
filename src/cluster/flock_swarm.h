/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster/flock_swarm: the clusters of a small table side by side, as columns of one table: for
 * every leaf of a tree, what each column's label would lose once that leaf joins. So what a row
 * costs in all clusters is a few sums of lines of that table, and the best home of a row is found
 * among all of them at once.
 *
 * Every move of a row is written down, so that any number of them can be taken back.
 */
#ifndef SHOAL_CLUSTER_FLOCK_SWARM_H
#define SHOAL_CLUSTER_FLOCK_SWARM_H

#include "cluster/flock_lanes.h"

enum {
  SHOAL_SWARM_STRIDE = 64, /* columns that are looked at together; room for as many */
  SHOAL_SWARM_KNOWN = SHOAL_GROUND_COUNTS /* counts whose lack is seen before rows are moved */
};

typedef struct shoal_swarm {
  const shoal_ground *ground;
  uint32_t room, n_columns;       /* n_columns: none behind it has rows */
  uint32_t *column, *next, *prev; /* by row; column SHOAL_NIL: not in this swarm */
  uint32_t *head, *size, *loss;   /* by column */
  shoal_box *box;                 /* by column */
  int16_t *cover;                 /* by column: of the box; see flock_lanes.h */
  uint16_t *seen;                 /* by column, count and group: rows */
  uint8_t *distinct;              /* by column and count: groups */
  uint64_t *groups, *twice;       /* by column and count: sets of those; of those with two rows */
  uint32_t clock, *changed, *tried;
  /* the table; see flock_swarm_home.c */
  int16_t *lo, *hi;                   /* numbers: by axis and column */
  uint16_t *lines[SHOAL_GROUND_AXES]; /* trees: by leaf and column */
  int16_t *own_loss;                  /* by column */
  uint32_t *weight;                   /* by column, in the order of `cost` */
  int32_t *cost;                      /* of the row that was asked for last */
  /* moves that can be taken back */
  uint32_t *moved, *moved_from;
  size_t n_moved, moved_capacity, from_capacity;
  uint32_t *stamp, stamps; /* by column: scratch */
  uint32_t *touched;       /* columns: scratch */
  uint32_t *index;         /* by tuple: its place among those of the column at hand */
  uint64_t random;
  bool failed; /* no memory */
} shoal_swarm;

/* Room for so many clusters. False without memory. */
bool shoal_swarm_init(shoal_swarm *swarm, const shoal_ground *ground, uint32_t n_clusters,
                      uint64_t seed);
void shoal_swarm_reset(shoal_swarm *swarm);

static inline uint64_t shoal_swarm_cost(const shoal_swarm *swarm, uint32_t column) {
  return (uint64_t)swarm->size[column] * swarm->loss[column];
}
uint64_t shoal_swarm_total(const shoal_swarm *swarm);

uint32_t shoal_swarm_random(shoal_swarm *swarm, uint32_t below);

/* A column without rows; SHOAL_NIL: there is none. */
uint32_t shoal_swarm_take(shoal_swarm *swarm);
/* A row that is in no column yet. The column's other figures are for shoal_swarm_settle. */
void shoal_swarm_put(shoal_swarm *swarm, uint32_t row, uint32_t column);
/* A column of another swarm on the same ground becomes a new one here, which must have room. */
void shoal_swarm_adopt(shoal_swarm *swarm, const shoal_swarm *from, uint32_t column);
/* A row goes to another column, whose figures are kept right; those of the old one are not. */
void shoal_swarm_move(shoal_swarm *swarm, uint32_t row, uint32_t to);
/* All figures of a column, from its rows. */
void shoal_swarm_settle(shoal_swarm *swarm, uint32_t column);
/* Takes back all moves but the first `n_kept`. */
void shoal_swarm_undo(shoal_swarm *swarm, size_t n_kept);

/* Has the column k rows and its counts? */
bool shoal_swarm_fits(const shoal_swarm *swarm, uint32_t column);
/* A count that it lacks groups of, or n_counts. */
size_t shoal_swarm_lacking(const shoal_swarm *swarm, uint32_t column);
/* Has it rows of that row's group? */
bool shoal_swarm_has(const shoal_swarm *swarm, uint32_t column, size_t count, uint32_t row);
/* May the row leave its column? */
bool shoal_swarm_spares(const shoal_swarm *swarm, uint32_t row);

/* ------------------------------------------------------------ rows to spare */

/* Which rows a column wants: those of some groups of the first counts, or any. */
typedef struct shoal_wanted {
  uint64_t groups[SHOAL_SWARM_KNOWN];
  bool any;
} shoal_wanted;

/* Groups of a count of which the column may have rows to spare. */
uint64_t shoal_swarm_spare_groups(const shoal_swarm *swarm, uint32_t column, size_t count);
/* May a column have rows that it can spare, that are wanted, and that the box covers? */
bool shoal_swarm_may_lend(const shoal_swarm *swarm, uint32_t column, const shoal_box *box,
                          const shoal_wanted *wanted);
/* Lists these rows, as far as there is room, and returns how many; of counts that are not known
 * the rows are not judged. */
uint32_t shoal_swarm_list_spare(const shoal_swarm *swarm, uint32_t column, const shoal_box *box,
                                const shoal_wanted *wanted, uint32_t *rows, uint32_t room);

/* ------------------------------------------------------------ the table */

/* All that the table says of a column. */
void shoal_swarm_note(shoal_swarm *swarm, uint32_t column);
/* Its loss and size alone; `barred`: no row finds it. */
void shoal_swarm_weigh(shoal_swarm *swarm, uint32_t column, bool barred);

/* A home for rows of one tuple. */
typedef struct shoal_home {
  uint32_t column;       /* SHOAL_NIL: none */
  uint32_t first, later; /* what the first row costs, and each one behind it */
} shoal_home;

/* The cheapest column for a row, but for `from`. `cost` then holds what all of them cost. */
shoal_home shoal_swarm_home(shoal_swarm *swarm, uint32_t row, uint32_t from);
/* Where a column's figures stand in `weight` and `cost`, and the other way round. */
static inline uint32_t shoal_swarm_slot(uint32_t column) {
  uint32_t middle = column % 16 / 4; /* of each sixteen, the second and third four change places */
  return middle == 1 ? column + 4 : middle == 2 ? column - 4 : column;
}

/* ------------------------------------------------------------ the steps */

/* Tries to better a column by single steps, until none helps; returns whether any did. */
bool shoal_swarm_improve(shoal_swarm *swarm, uint32_t column);

/*
 * Tries to found a column for a part of what this one covers, out of rows that others can spare;
 * returns whether that helped. For a ground whose groups are one set.
 */
bool shoal_swarm_found(shoal_swarm *swarm, uint32_t column);

#endif
