/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster/flock_units: rows of a ground gathered into clusters from the bottom up, as flock_gather
 * does, but among all of them instead of neighbours in an order: every tuple starts as a unit, and
 * what loses least for each row that is settled by it is done first. What one unit loses with each
 * other one comes from a table of lines as in a swarm: by label and unit.
 */
#ifndef SHOAL_CLUSTER_FLOCK_UNITS_H
#define SHOAL_CLUSTER_FLOCK_UNITS_H

#include "cluster/flock_lanes.h"

enum { SHOAL_UNITS_STRIDE = 64 }; /* units that are looked at together; room for as many */

typedef struct shoal_units {
  const shoal_ground *ground;
  uint32_t room, n;
  uint64_t n_looked;     /* pairs of units that have been looked at, ever */
  uint32_t n_gone;       /* units that have gone into others, since the last tidying */
  uint32_t *place;       /* by unit: scratch */
  uint32_t *next;        /* by row: the next one of its unit */
  uint32_t *of_tuple;    /* by tuple: its first unit */
  uint32_t *head, *tail; /* by unit; head SHOAL_NIL: it has gone into another one */
  shoal_box *box;
  shoal_lanes *reach;       /* of its rows, while it starts: scratch */
  uint64_t *groups, *twice; /* by unit and count: sets of those it has; that it has twice */
  uint8_t *lacking;         /* by unit and count: groups that it lacks */
  uint32_t *lacks;          /* by unit: of all counts together */
  bool *fits;
  /* offers: the best partner of each unit that does not fit */
  float *offer;              /* INFINITY: none */
  int16_t *hears;            /* the same, rounded up; below all where it fits or is gone */
  uint32_t *partner, *asked; /* whom, and its version then */
  uint32_t *version;         /* by unit: grows when it changes */
  /* for flock_units_score.c */
  int16_t *lo, *hi;                                     /* numbers: by axis and unit */
  uint16_t *lines[SHOAL_GROUND_AXES];                   /* trees: by label and unit */
  uint8_t made[SHOAL_GROUND_AXES][SHOAL_GROUND_LABELS]; /* trees: labels that have a line yet, */
  uint8_t n_made[SHOAL_GROUND_AXES];                    /* how many they are, */
  bool is_made[SHOAL_GROUND_AXES][SHOAL_GROUND_LABELS]; /* and by label */
  int16_t *own;       /* by unit: what it loses, 0 where it fits */
  int16_t *bar;       /* INT16_MAX: it is gone; else 0 */
  int16_t *bound;     /* what the unit that was asked for last loses at least with each */
  float *size, *loss; /* by unit */
  float *chance;      /* half of what its scores are multiplied by */
} shoal_units;

/* Room for so many tuples at once. False without memory. */
bool shoal_units_init(shoal_units *units, const shoal_ground *ground, uint32_t n_tuples);
void shoal_units_reset(shoal_units *units);

/*
 * Gathers rows into units that fit; false where not all of them do. `part`: by row, the number of
 * the unit that it starts in, numbered as they come, no more than there is room for; NULL: tuples.
 * `chances` up to 1: how much chance has a part in what is done first, drawn from `random`.
 */
bool shoal_units_gather(shoal_units *units, const uint32_t *rows, uint32_t n_rows,
                        const uint32_t *part, float chances, uint64_t *random);

/* ------------------------------------------------------------ scores */

/* No lines yet. */
void shoal_units_clear_lines(shoal_units *units);
/* A unit stands in another place now, its figures for bounds too. */
void shoal_units_shift(shoal_units *units, uint32_t from, uint32_t to);
/* A unit's box has changed. */
void shoal_units_note(shoal_units *units, uint32_t unit);
/*
 * Fills `bound`: what is lost at least, for each row settled, if `unit`, which does not fit, comes
 * together with each other one; or, if it fits, if each that does not comes to it. Returns the unit
 * of the least one; SHOAL_NIL: there is none.
 */
uint32_t shoal_units_bound(shoal_units *units, uint32_t unit);
/* The units, of the SHOAL_UNITS_STRIDE from `from` on, whose bound is below `most`, or, if one
 * `tells`, below what they hear: a set of bits. */
uint64_t shoal_units_below(const shoal_units *units, uint32_t from, int16_t most, bool tells);
/* A score as bounds are compared with it: rounded up. */
int16_t shoal_units_round(float score);
/* The unit of the least offer; SHOAL_NIL: all are infinite. */
uint32_t shoal_units_least_offer(const shoal_units *units);

#endif
