/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench/bound: a lower bound of the information loss of every k-anonymous partition of a table.
 *
 * A partition is a choice of clusters that covers each row once. The linear relaxation of that
 * choice has the dual
 *
 *     maximize the sum of y over all rows, such that for every cluster C of k rows or more
 *     the sum of y over C is at most |C| x loss(C)
 *
 * where loss(C) is what one row of C loses: that of the smallest box around C, one interval of
 * numbers or one node of a tree an attribute. Every y that satisfies the constraints is a lower
 * bound. The mean of y over C is highest for the k highest values, so the constraints of all
 * clusters in a box are one: the k highest values of y in the box sum to at most k x its loss.
 * Rows of one tuple have one y.
 */
#ifndef BENCH_BOUND_H
#define BENCH_BOUND_H

#include "cluster/axes.h"

enum { BOUND_MOST_AXES = 64 };

typedef struct bound_axis {
  bool number;          /* without a hierarchy */
  uint32_t n_positions; /* numbers ascending, missing values behind them; or leaves of a tree */
  uint32_t n_numbers;   /* places below it are numbers */
  uint32_t n_levels;    /* of a tree */
  double *position;     /* numbers: by place, 0 to 1 */
  uint32_t **label;     /* trees: by level, by place */
  double **loss;        /* trees: by level, by label */
  uint32_t *place;      /* by tuple */
} bound_axis;

/* The k highest values seen, the highest first. */
typedef struct bound_top {
  struct bound_top_entry {
    double y;
    uint32_t n_rows; /* of the tuple, as far as they are among the k */
    uint32_t tuple;
  } * entries;
  uint32_t n, n_rows;
  double sum;
} bound_top;

typedef struct bound {
  size_t n_axes;
  bound_axis axes[BOUND_MOST_AXES]; /* trees first, most places first; then numbers, fewest first */
  uint32_t k, n_tuples;
  uint64_t n_rows;
  uint32_t *rows_of; /* by tuple */
  double *y;         /* by tuple: the dual value of each of its rows */
  uint64_t work;     /* tuples looked at so far */
  uint64_t max_work;
  uint64_t n_repaired; /* boxes */
  bool ended;          /* max_work was reached: the last sweep is not complete */
  /* scratch */
  uint32_t *sets[BOUND_MOST_AXES]; /* by depth */
  bound_top tops[BOUND_MOST_AXES + 1];
  uint32_t *counts; /* most places of an axis, and one */
} bound;

/*
 * Visits every box whose constraint may be violated and lowers y there until it holds. Lowering y
 * violates no other constraint, so after a sweep that has not `ended` all constraints hold.
 */
void bound_sweep(bound *b);

/*
 * The simple bound, for tables with too many boxes: y of a row is the least loss at which k - 1
 * other rows are in a box with it, each by itself. Satisfies all constraints, since a cluster
 * loses at least what each pair of its rows does. False where max_work was reached.
 */
bool bound_pairs(bound *b);

#endif
