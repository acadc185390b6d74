/* SPDX-License-Identifier: Apache-2.0 */
/* job/cuts: cuts the tuples of a table, then gives each row the part of its tuple. */
#include "job/cuts.h"

#include <stdlib.h>
#include <string.h>

#include "cluster/axes.h"
#include "context/context.h"
#include "input/input.h"

/* While cutting. */
typedef struct cutter {
  const shoal_context *context;
  shoal_axes axes;
  const uint64_t *weight; /* by tuple: its records */
  uint32_t *tuples;       /* those of a node are neighbours */
  uint32_t *scratch;
  uint64_t *at;      /* weight by position of one axis */
  uint32_t *part_of; /* by tuple */
  shoal_cuts *cuts;
  size_t min_rows; /* of a part */
} cutter;

/* Some tuples that are cut into n parts, below a node. */
typedef struct piece {
  uint32_t from, to;
  uint32_t node;
  size_t n_parts;
} piece;

typedef struct split {
  size_t axis;
  uint32_t position; /* the last one below `lower` */
  double score;      /* the higher, the better */
} split;

static uint32_t position_of(const cutter *c, uint32_t tuple, size_t q) {
  return shoal_axes_tuple(&c->axes, tuple)[q];
}

/* ------------------------------------------------------------ the best axis */

/* Loss of a row if its class covered the n positions from lo to hi. */
static double span_loss(const shoal_axis *axis, uint32_t lo, uint32_t hi, uint32_t n) {
  if (axis->kind != SHOAL_AXIS_SET) return shoal_axis_loss(axis, lo, hi);
  return axis->n_positions > 1 ? (double)axis->full * (n - 1) / (axis->n_positions - 1) : 0;
}

/* The weight by position of axis q, and the span. */
static shoal_span weigh(const cutter *c, const piece *p, size_t q) {
  shoal_span span = {UINT32_MAX, 0};
  for (uint32_t i = p->from; i < p->to; i++) {
    uint32_t at = position_of(c, c->tuples[i], q);
    if (at < span.lo) span.lo = at;
    if (at > span.hi) span.hi = at;
  }
  memset(c->at + span.lo, 0, (size_t)(span.hi - span.lo + 1) * sizeof *c->at);
  for (uint32_t i = p->from; i < p->to; i++)
    c->at[position_of(c, c->tuples[i], q)] += c->weight[c->tuples[i]];
  return span;
}

/* Tries the position of the axis that is nearest to the wanted weight of the lower side. */
static void try_axis(const cutter *c, const piece *p, size_t q, split *best) {
  const shoal_axis *axis = &c->axes.items[q];
  shoal_span span = weigh(c, p, q);
  uint64_t all = 0, below = 0, lower = 0;
  uint32_t n = 0, n_below = 0, n_lower = 0, last = span.lo, next = span.hi, before = span.lo;
  for (uint32_t at = span.lo; at <= span.hi; at++) all += c->at[at], n += c->at[at] > 0;
  if (n < 2) return;
  uint64_t lower_parts = p->n_parts / 2;
  double wanted = (double)all * (double)lower_parts / (double)p->n_parts, nearest = 1e300;
  for (uint32_t at = span.lo; at <= span.hi; at++) {
    if (!c->at[at]) continue;
    double off = (double)below < wanted ? wanted - (double)below : (double)below - wanted;
    if (below && off < nearest) {
      nearest = off;
      lower = below, n_lower = n_below, last = before, next = at;
    }
    below += c->at[at];
    n_below++;
    before = at;
  }
  if (lower < c->min_rows || all - lower < c->min_rows) return;
  double upper = (double)(all - lower);
  double balance = (double)lower < wanted ? (double)lower / wanted : upper / ((double)all - wanted);
  double saved = (double)all * span_loss(axis, span.lo, span.hi, n) -
                 (double)lower * span_loss(axis, span.lo, last, n_lower) -
                 upper * span_loss(axis, next, span.hi, n - n_lower);
  double score = (saved + 1) * balance;
  if (score > best->score) *best = (split){q, last, score};
}

/* ------------------------------------------------------------ nodes */

static uint32_t add_node(shoal_cuts *cuts, shoal_cut_node node) {
  if (!shoal_grow(&cuts->nodes, &cuts->capacity, cuts->n_nodes + 1, sizeof *cuts->nodes))
    return SHOAL_NONE;
  cuts->nodes[cuts->n_nodes] = node;
  return (uint32_t)cuts->n_nodes++;
}

static bool copy_value(const cutter *c, const shoal_column *column, uint32_t code,
                       shoal_label *copy) {
  const char *bytes = shoal_column_value(column, code, &copy->size_bytes);
  copy->bytes = shoal_arena_copy(&c->cuts->arena, bytes, copy->size_bytes);
  return copy->bytes != NULL;
}

/* The largest number of a position: widened intervals have several. */
static uint32_t largest_at(const shoal_axis *axis, uint32_t position) {
  uint32_t found = axis->code_at[position];
  for (uint32_t v = 0; v < axis->n_values; v++)
    if (axis->position_of[v] == position && axis->numbers[v] > axis->numbers[found]) found = v;
  return found;
}

/* Says what is below `lower`: numbers up to a bound, or values. */
static bool describe(const cutter *c, const split *at, shoal_cut_node *node) {
  const shoal_axis *axis = &c->axes.items[at->axis];
  const shoal_column *column = c->context->quasi[at->axis];
  node->column = shoal_arena_copy(&c->cuts->arena, column->name, strlen(column->name));
  node->is_number = axis->kind == SHOAL_AXIS_NUMBER && at->position < axis->n_numbers;
  if (!node->column) return false;
  if (node->is_number) return copy_value(c, column, largest_at(axis, at->position), &node->bound);
  if (!SHOAL_ARENA_ARRAY(&c->cuts->arena, node->values, axis->n_values)) return false;
  for (uint32_t v = 0; v < axis->n_values; v++)
    if (axis->position_of[v] <= at->position &&
        !copy_value(c, column, v, &node->values[node->n_values++]))
      return false;
  return true;
}

static void make_part(const cutter *c, const piece *p) {
  shoal_cut_node *node = &c->cuts->nodes[p->node];
  node->is_part = true;
  node->part = c->cuts->n_parts++;
  for (uint32_t i = p->from; i < p->to; i++) c->part_of[c->tuples[i]] = node->part;
}

/* Moves the tuples below `lower` to the front; returns where the others begin. */
static uint32_t divide(const cutter *c, const piece *p, const split *at) {
  uint32_t left = p->from, right = 0;
  for (uint32_t i = p->from; i < p->to; i++) {
    uint32_t tuple = c->tuples[i];
    if (position_of(c, tuple, at->axis) <= at->position) c->tuples[left++] = tuple;
    else c->scratch[right++] = tuple;
  }
  memcpy(c->tuples + left, c->scratch, right * sizeof *c->tuples);
  return left;
}

static uint64_t weight_of(const cutter *c, const piece *p) {
  uint64_t sum = 0;
  for (uint32_t i = p->from; i < p->to; i++) sum += c->weight[c->tuples[i]];
  return sum;
}

/* Cuts a piece into two, into sides[0] and [1]; *n is 0 if it is a part. False: no memory. */
static bool cut(const cutter *c, const piece *p, piece sides[2], size_t *n) {
  shoal_cuts *cuts = c->cuts;
  split best = {.score = 0};
  *n = 0;
  cuts->nodes[p->node].n_rows = weight_of(c, p);
  for (size_t q = 0; p->n_parts > 1 && q < c->axes.n; q++) try_axis(c, p, q, &best);
  if (best.score <= 0) {
    make_part(c, p);
    return true;
  }
  shoal_cut_node node = cuts->nodes[p->node];
  if (!describe(c, &best, &node)) return false;
  uint32_t middle = divide(c, p, &best);
  node.lower = add_node(cuts, (shoal_cut_node){0});
  node.upper = add_node(cuts, (shoal_cut_node){0});
  if (node.lower == SHOAL_NONE || node.upper == SHOAL_NONE) return false;
  cuts->nodes[p->node] = node;
  sides[0] = (piece){p->from, middle, node.lower, p->n_parts / 2};
  sides[1] = (piece){middle, p->to, node.upper, p->n_parts - p->n_parts / 2};
  *n = 2;
  return true;
}

/* ------------------------------------------------------------ all of it */

static shoal_status cut_all(cutter *c, size_t n_parts, const shoal_run *run, shoal_error *error) {
  piece *waiting = shoal_alloc(2 * n_parts + 1, sizeof *waiting);
  size_t n = 0;
  bool ok = waiting && add_node(c->cuts, (shoal_cut_node){0}) != SHOAL_NONE;
  shoal_status status = SHOAL_OK;
  if (ok) waiting[n++] = (piece){0, c->axes.n_tuples, 0, n_parts};
  while (ok && n && status == SHOAL_OK) {
    piece p = waiting[--n], sides[2];
    size_t n_sides;
    status = shoal_run_report(run, "group", c->cuts->n_parts, n_parts, "parts", error);
    ok = cut(c, &p, sides, &n_sides);
    while (n_sides) waiting[n++] = sides[--n_sides]; /* the lower side first */
  }
  free(waiting);
  return ok ? status : shoal_fail_memory(error);
}

static shoal_status cut_tuples(cutter *c, size_t n_parts, const shoal_run *run,
                               shoal_error *error) {
  const shoal_frequency_set *f = c->context->frequency;
  uint32_t n = c->axes.n_tuples;
  c->weight = f->base.n_rows;
  c->tuples = shoal_alloc(n, sizeof *c->tuples);
  c->scratch = shoal_alloc(n, sizeof *c->scratch);
  c->at = shoal_alloc(c->axes.max_positions, sizeof *c->at);
  c->part_of = shoal_alloc(n, sizeof *c->part_of);
  c->min_rows = (size_t)c->context->requirements.k;
  c->cuts->n_rows = f->table->n_rows;
  c->cuts->part_of_row = shoal_alloc((size_t)f->table->n_rows, sizeof *c->cuts->part_of_row);
  shoal_status status = SHOAL_OK;
  if (!c->tuples || !c->scratch || !c->at || !c->part_of || !c->cuts->part_of_row)
    status = shoal_fail_memory(error);
  for (uint32_t t = 0; status == SHOAL_OK && t < n; t++) c->tuples[t] = t;
  if (status == SHOAL_OK) status = cut_all(c, n_parts, run, error);
  for (uint64_t row = 0; status == SHOAL_OK && row < f->table->n_rows; row++)
    c->cuts->part_of_row[row] = c->part_of[f->tuple_of_row[row]];
  free(c->tuples);
  free(c->scratch);
  free(c->at);
  free(c->part_of);
  return status;
}

shoal_status shoal_cuts_make(shoal_cuts *cuts, const shoal_table *table, const shoal_policy *policy,
                             size_t n_parts, const shoal_run *run, shoal_error *error) {
  shoal_context context;
  shoal_arena_init(&cuts->arena);
  SHOAL_TRY(shoal_input_check(table, policy, SHOAL_FOR_TUPLES, error));
  SHOAL_TRY(shoal_context_init(&context, table, policy, SHOAL_CONTEXT_LOCAL, run, error));
  cutter c = {.context = &context, .cuts = cuts};
  shoal_status status =
      shoal_axes_init(&c.axes, context.frequency, context.quasi_attributes,
                      context.weighted ? context.weights : NULL, SHOAL_LOSS_HEIGHT, error);
  if (status == SHOAL_OK) status = cut_tuples(&c, n_parts, run, error);
  shoal_axes_reset(&c.axes);
  shoal_context_reset(&context);
  return status;
}

void shoal_cuts_reset(shoal_cuts *cuts) {
  shoal_arena_reset(&cuts->arena);
  free(cuts->nodes);
  free(cuts->part_of_row);
}
