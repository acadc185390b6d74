/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lattice/neighbours: neighbours of a node, evaluated incrementally.
 *
 * All neighbours of a node lie at or above the node with every level one lower. Its classes, the
 * atoms, are computed once for each current node. Every neighbour is rolled up from them by at most
 * three columns of ids:
 *
 *      without    class of the atom if attribute q were at its top, all others at their levels
 *      label q    of the atom at q's new level
 *      label r    of the atom at r's new level, in an exchange
 *
 * Costs are incremental too: for attributes that stay at their levels only the atoms count that
 * begin or cease to be suppressed.
 */
#include "lattice/neighbours.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum {
  FOLDS_PER_CLASS = 8, /* folding a class by this many attributes counts as reading it once */
  MIN_ATOMS_FOR_THREADS = 2000
};

/* An improvement must exceed the rounding error of a sum of costs. */
static const double ROUNDING = 1e-10;

/* Scratch of one thread; arrays by atom, which are also long enough for classes. */
typedef struct shoal_place_worker {
  shoal_grouper grouper;
  uint32_t *without, *ids;
  uint64_t *rows;    /* by class */
  uint8_t *violates; /* by class */
  size_t without_capacity, ids_capacity, rows_capacity, violates_capacity;
  uint32_t *levels;                /* of the neighbour */
  double *extra;                   /* of the neighbour, as in shoal_place */
  uint64_t n_scanned, n_evaluated; /* of the current task */
} worker;

bool shoal_node_figures_better(const shoal_node_figures *a, const shoal_node_figures *b) {
  if (a->satisfies != b->satisfies) return a->satisfies;
  if (!a->satisfies) return a->suppressed < b->suppressed;
  return a->cost < b->cost - fabs(b->cost) * ROUNDING;
}

/* ------------------------------------------------------------ costs */

static const double *lost_at(const shoal_place *p, size_t q, uint32_t level) {
  return p->bound.levels[q][level].lost;
}

/* What the suppressed atoms add to the cost of an attribute at a level. */
static double extra_of(const shoal_place *p, size_t q, uint32_t level, const uint32_t *ids,
                       const uint8_t *violates) {
  const shoal_frequency_set *frequency = p->search->frequency;
  const shoal_classes *atoms = &p->atoms;
  const uint32_t *of_leaf = frequency->hierarchies[q]->levels[level].of_leaf;
  const double *lost = lost_at(p, q, level);
  shoal_codes codes = frequency->codes[q];
  double sum = 0;
  for (uint32_t i = 0; i < atoms->n_classes; i++)
    if (violates[ids[i]])
      sum += (double)atoms->n_rows[i] * lost[of_leaf[shoal_code_at(codes, atoms->tuple[i])]];
  return sum;
}

/* The cost of a neighbour from the classes of its atoms. */
static double cost_of_levels(const shoal_place *p, const worker *w, const shoal_move *m) {
  size_t n = p->search->space.n;
  memcpy(w->extra, p->extra, n * sizeof *w->extra);
  /* Adds the atoms that are suppressed at only one of the two nodes, attributes of the move apart.
   */
  const shoal_frequency_set *frequency = p->search->frequency;
  const shoal_classes *atoms = &p->atoms;
  for (uint32_t i = 0; i < atoms->n_classes; i++) {
    bool now = w->violates[w->ids[i]];
    if (now == p->suppressed[i]) continue;
    double rows = now ? (double)atoms->n_rows[i] : -(double)atoms->n_rows[i];
    for (size_t q = 0; q < p->search->space.n; q++) {
      if (q == m->q || q == m->r) continue;
      const uint32_t *of_leaf = frequency->hierarchies[q]->levels[w->levels[q]].of_leaf;
      uint32_t code = shoal_code_at(frequency->codes[q], atoms->tuple[i]);
      w->extra[q] += rows * lost_at(p, q, w->levels[q])[of_leaf[code]];
    }
  }
  w->extra[m->q] = extra_of(p, m->q, m->lq, w->ids, w->violates);
  if (m->r != SHOAL_NO_ATTRIBUTE) w->extra[m->r] = extra_of(p, m->r, m->lr, w->ids, w->violates);
  for (size_t q = 0; q < n; q++)
    if (w->extra[q] < 0) w->extra[q] = 0; /* rounding */
  return shoal_cost_bound_exact(&p->bound, w->levels, w->extra);
}

static double cost_of_classes(const shoal_place *p, const uint32_t *levels,
                              const shoal_classes *classes, const uint8_t *violates,
                              const shoal_node *node) {
  shoal_cost_view view = {.search = p->search,
                          .levels = levels,
                          .classes = classes,
                          .violates = violates,
                          .node = node};
  return node->n_classes ? p->objective->cost(&view) : INFINITY;
}

/* ------------------------------------------------------------ one neighbour, on any thread */

static bool fold(const shoal_place *p, worker *w, size_t q, uint32_t level) {
  const shoal_frequency_set *frequency = p->search->frequency;
  const shoal_level *labels = &frequency->hierarchies[q]->levels[level];
  return shoal_grouper_fold_codes(&w->grouper, p->atoms.n_classes, p->atoms.tuple,
                                  frequency->codes[q], labels->of_leaf, labels->n_labels, w->ids);
}

/* Attributes whose neighbours are tried together: n from `first` on, in a circle. */
typedef struct batch {
  size_t first, n;
  const uint32_t *outside; /* by atom: its class by the attributes that are not in the batch */
  uint32_t n_outside;
} batch;

static size_t batch_attribute(const shoal_place *p, const batch *b, size_t i) {
  return (b->first + i) % p->search->space.n;
}

/* Makes b->outside. False: no memory. */
static bool group_outside(shoal_place *p, batch *b) {
  size_t n = p->atoms.n_classes, n_others = p->search->space.n - b->n;
  worker *w = &p->workers[0];
  bool ok = shoal_grow(&p->outside, &p->outside_capacity, n, sizeof *p->outside) &&
            shoal_grouper_start(&w->grouper, n);
  for (size_t i = 0; ok && i < n_others; i++) {
    size_t q = batch_attribute(p, b, b->n + i);
    ok = fold(p, w, q, p->levels[q]);
  }
  b->outside = p->outside;
  b->n_outside = ok ? shoal_grouper_ids(&w->grouper, n, p->outside) : SHOAL_NONE;
  p->search->n_scanned += n * (1 + n_others / FOLDS_PER_CLASS);
  return b->n_outside != SHOAL_NONE;
}

/* Makes w->without: the classes of the atoms with attribute q at its top. False: no memory. */
static bool leave_out(const shoal_place *p, worker *w, const batch *b, size_t q,
                      uint32_t *n_without) {
  size_t n = p->atoms.n_classes;
  bool ok = shoal_grouper_start(&w->grouper, n) &&
            shoal_grouper_fold(&w->grouper, n, NULL, b->outside, b->n_outside, w->ids);
  for (size_t i = 0; ok && i < b->n; i++) {
    size_t other = batch_attribute(p, b, i);
    ok = other == q || fold(p, w, other, p->levels[other]);
  }
  *n_without = ok ? shoal_grouper_ids(&w->grouper, n, w->without) : SHOAL_NONE;
  w->n_scanned += n;
  return *n_without != SHOAL_NONE;
}

/* The class of each atom at a neighbour; returns their number. SHOAL_NONE: no memory. */
static uint32_t group(const shoal_place *p, worker *w, const shoal_move *m, uint32_t n_without) {
  size_t n = p->atoms.n_classes;
  if (!shoal_grouper_start(&w->grouper, n) ||
      !shoal_grouper_fold(&w->grouper, n, NULL, w->without, n_without, w->ids) ||
      !fold(p, w, m->q, m->lq) || (m->r != SHOAL_NO_ATTRIBUTE && !fold(p, w, m->r, m->lr)))
    return SHOAL_NONE;
  w->n_scanned += n;
  w->n_evaluated++;
  return shoal_grouper_ids(&w->grouper, n, w->ids);
}

/* Rows in classes smaller than k. */
static uint64_t rows_below_k(const shoal_place *p, const worker *w, uint32_t n_classes) {
  const shoal_classes *atoms = &p->atoms;
  uint64_t k = p->search->requirements->whole_k, below = 0;
  memset(w->rows, 0, n_classes * sizeof *w->rows);
  for (uint32_t i = 0; i < atoms->n_classes; i++) w->rows[w->ids[i]] += atoms->n_rows[i];
  for (uint32_t i = 0; i < n_classes; i++)
    if (w->rows[i] < k) below += w->rows[i];
  return below;
}

/* Can a node at w->levels that suppresses at least this many rows not be better than that? */
static bool is_hopeless(const shoal_place *p, const worker *w, uint64_t suppressed,
                        const shoal_node_figures *than) {
  if (!than->satisfies) return suppressed >= than->suppressed && suppressed > p->limit;
  if (suppressed > p->limit) return true;
  return p->objective->level_cost &&
         shoal_cost_bound_at(&p->bound, w->levels, suppressed) >= than->cost;
}

/* Judges the neighbour whose atoms have classes w->ids. */
static shoal_status judge(const shoal_place *p, worker *w, uint32_t n_classes, shoal_move *m,
                          shoal_error *error) {
  shoal_search *search = p->search;
  shoal_classes classes;
  SHOAL_TRY(shoal_classes_regroup(&p->atoms, w->ids, n_classes, &classes, error));
  shoal_judgement judged =
      shoal_search_judge(search, w->levels, &w->grouper, &classes, UINT64_MAX, w->violates);
  if (search->set_bounds && p->limit) w->n_scanned += n_classes * search->requirements->n_sets;
  m->figures = (shoal_node_figures){.satisfies = judged.suppressed <= p->limit,
                                    .suppressed = judged.suppressed};
  if (m->figures.satisfies && p->objective->level_cost) {
    m->figures.cost = cost_of_levels(p, w, m);
  } else if (m->figures.satisfies) {
    shoal_node node = {.suppressed = judged.suppressed, .n_classes = judged.n_classes};
    m->figures.cost = cost_of_classes(p, w->levels, &classes, w->violates, &node);
  }
  shoal_classes_reset(&classes);
  return SHOAL_OK;
}

/*
 * Evaluates a neighbour, and makes it *best if it is better. *min_suppressed: rows that it
 * suppresses at least; on entry, what is known of that.
 */
static shoal_status try_move(const shoal_place *p, worker *w, shoal_move *m, uint32_t n_without,
                             shoal_move *best, uint64_t *min_suppressed, shoal_error *error) {
  memcpy(w->levels, p->levels, p->search->space.n * sizeof *w->levels);
  w->levels[m->q] = m->lq;
  if (m->r != SHOAL_NO_ATTRIBUTE) w->levels[m->r] = m->lr;
  uint64_t over_sets;
  bool complete;
  SHOAL_TRY(shoal_search_min_over_sets(p->search, w->levels, UINT64_MAX, &w->grouper, &over_sets,
                                       &complete, error));
  if (is_hopeless(p, w, *min_suppressed > over_sets ? *min_suppressed : over_sets, &best->figures))
    return SHOAL_OK;
  uint32_t n_classes = group(p, w, m, n_without);
  if (n_classes == SHOAL_NONE) return shoal_fail_memory(error);
  *min_suppressed = rows_below_k(p, w, n_classes);
  if (is_hopeless(p, w, *min_suppressed, &best->figures)) return SHOAL_OK;
  SHOAL_TRY(judge(p, w, n_classes, m, error));
  m->improves = shoal_node_figures_better(&m->figures, &best->figures);
  if (m->improves) *best = *m;
  return SHOAL_OK;
}

/* ------------------------------------------------------------ neighbours of one attribute */

/* The neighbours with another level of attribute q, on one thread. */
typedef struct task {
  shoal_move best; /* improves is false: none is better than the current node */
  uint64_t n_scanned, n_evaluated;
  shoal_status status;
  shoal_error error;
} task;

typedef struct team {
  shoal_place *place;
  shoal_neighbourhood kind;
  batch batch;          /* a task for each of its attributes */
  uint64_t max_scanned; /* of each task */
  atomic_size_t next;   /* the first that no thread has taken */
  task tasks[SHOAL_BATCH_NODES];
} team;

static bool is_task_over(const team *t, const worker *w) {
  double deadline = t->place->limits->deadline;
  return w->n_scanned >= t->max_scanned || (deadline > 0 && shoal_seconds() >= deadline);
}

static shoal_status try_steps(const team *t, worker *w, uint32_t n_without, shoal_move *best,
                              shoal_error *error) {
  const shoal_place *p = t->place;
  size_t q = best->q;
  uint32_t level = p->levels[q];
  for (int up = 0; up < 2 && !is_task_over(t, w); up++) {
    if (level == (up ? p->search->space.top[q] : shoal_space_bottom(&p->search->space, q)))
      continue;
    shoal_move m = {.q = q, .lq = up ? level + 1 : level - 1, .r = SHOAL_NO_ATTRIBUTE};
    uint64_t min_suppressed = 0;
    SHOAL_TRY(try_move(p, w, &m, n_without, best, &min_suppressed, error));
  }
  return SHOAL_OK;
}

/* All nodes that raise q and lower another suppress at least what the node that raises q does. */
static shoal_status try_exchanges(const team *t, worker *w, uint32_t n_without, shoal_move *best,
                                  shoal_error *error) {
  const shoal_place *p = t->place;
  shoal_move m = {.q = best->q, .lq = p->levels[best->q] + 1, .r = SHOAL_NO_ATTRIBUTE};
  if (m.lq > p->search->space.top[m.q]) return SHOAL_OK;
  uint32_t n_classes = group(p, w, &m, n_without);
  if (n_classes == SHOAL_NONE) return shoal_fail_memory(error);
  uint64_t at_least = rows_below_k(p, w, n_classes);
  for (size_t r = 0; r < p->search->space.n && !is_task_over(t, w); r++) {
    if (r == m.q || p->levels[r] == shoal_space_bottom(&p->search->space, r)) continue;
    m.r = r;
    m.lr = p->levels[r] - 1;
    uint64_t min_suppressed = at_least;
    SHOAL_TRY(try_move(p, w, &m, n_without, best, &min_suppressed, error));
  }
  return SHOAL_OK;
}

static void work_on_tasks(void *user, unsigned thread) {
  team *t = user;
  worker *w = &t->place->workers[thread];
  for (size_t i; (i = atomic_fetch_add(&t->next, 1)) < t->batch.n;) {
    task *own = &t->tasks[i];
    uint32_t n_without;
    w->n_scanned = w->n_evaluated = 0;
    if (!leave_out(t->place, w, &t->batch, own->best.q, &n_without))
      own->status = shoal_fail_memory(&own->error);
    else if (t->kind == SHOAL_STEPS)
      own->status = try_steps(t, w, n_without, &own->best, &own->error);
    else own->status = try_exchanges(t, w, n_without, &own->best, &own->error);
    own->n_scanned = w->n_scanned;
    own->n_evaluated = w->n_evaluated;
  }
}

/* Room for the atoms in the scratch of a thread. */
static bool prepare_worker(worker *w, size_t n) {
  return shoal_grow(&w->without, &w->without_capacity, n, sizeof *w->without) &&
         shoal_grow(&w->ids, &w->ids_capacity, n, sizeof *w->ids) &&
         shoal_grow(&w->rows, &w->rows_capacity, n, sizeof *w->rows) &&
         shoal_grow(&w->violates, &w->violates_capacity, n, sizeof *w->violates);
}

shoal_status shoal_place_try(shoal_place *p, shoal_neighbourhood kind, size_t first, size_t n,
                             shoal_move *best, shoal_error *error) {
  shoal_search *search = p->search;
  *best = (shoal_move){.r = SHOAL_NO_ATTRIBUTE, .figures = p->figures};
  team t = {.place = p, .kind = kind, .batch = {.first = first, .n = n}};
  uint64_t max_scanned = p->limits->max_scanned;
  t.max_scanned = search->n_scanned < max_scanned ? (max_scanned - search->n_scanned) / n + 1 : 0;
  for (size_t i = 0; i < n; i++)
    t.tasks[i].best = (shoal_move){
        .q = batch_attribute(p, &t.batch, i), .r = SHOAL_NO_ATTRIBUTE, .figures = p->figures};
  unsigned n_threads = shoal_run_threads(search->run);
  if (n_threads > n) n_threads = (unsigned)n;
  if (p->atoms.n_classes < MIN_ATOMS_FOR_THREADS) n_threads = 1;
  for (unsigned i = 0; i < n_threads; i++)
    if (!prepare_worker(&p->workers[i], p->atoms.n_classes)) return shoal_fail_memory(error);
  if (!group_outside(p, &t.batch)) return shoal_fail_memory(error);
  shoal_parallel(n_threads, work_on_tasks, &t);
  for (size_t i = 0; i < n; i++) {
    const task *done = &t.tasks[i];
    if (done->status != SHOAL_OK && error) *error = done->error;
    SHOAL_TRY(done->status);
    search->n_scanned += done->n_scanned;
    search->n_evaluated += done->n_evaluated;
    if (shoal_node_figures_better(&done->best.figures, &best->figures)) *best = done->best;
  }
  uint64_t n_done = search->n_scanned < max_scanned ? search->n_scanned : max_scanned;
  return shoal_run_report(search->run, "search", n_done, max_scanned, "classes", error);
}

/* ------------------------------------------------------------ the current node */

/* Figures of the current node from its classes; w->ids has the class of each atom. */
static void judge_place(shoal_place *p, const shoal_classes *classes) {
  const shoal_search *search = p->search;
  worker *w = &p->workers[0];
  shoal_judgement judged =
      shoal_search_judge(search, p->levels, &w->grouper, classes, UINT64_MAX, w->violates);
  p->figures = (shoal_node_figures){.satisfies = judged.suppressed <= p->limit,
                                    .suppressed = judged.suppressed};
  for (uint32_t i = 0; i < p->atoms.n_classes; i++) p->suppressed[i] = w->violates[w->ids[i]];
  p->node = (shoal_node){.number = UINT64_MAX,
                         .suppressed = judged.suppressed,
                         .n_classes = judged.n_classes,
                         .smallest_class = judged.smallest_class,
                         .satisfies = p->figures.satisfies};
  for (size_t q = 0; q < search->space.n; q++) p->node.height += p->levels[q];
  if (p->objective->level_cost) {
    for (size_t q = 0; q < search->space.n; q++)
      p->extra[q] = extra_of(p, q, p->levels[q], w->ids, w->violates);
    p->figures.cost = shoal_cost_bound_exact(&p->bound, p->levels, p->extra);
  } else {
    p->figures.cost = cost_of_classes(p, p->levels, classes, w->violates, &p->node);
  }
}

shoal_status shoal_place_arrive(shoal_place *p, shoal_error *error) {
  shoal_search *search = p->search;
  const shoal_frequency_set *frequency = search->frequency;
  worker *w = &p->workers[0];
  for (size_t q = 0; q < search->space.n; q++) w->levels[q] = p->levels[q] ? p->levels[q] - 1 : 0;
  shoal_classes_reset(&p->atoms);
  SHOAL_TRY(shoal_classes_roll_up(frequency, &frequency->base, w->levels, &w->grouper, &p->atoms,
                                  NULL, error));
  size_t n = p->atoms.n_classes;
  if (!prepare_worker(w, n) ||
      !shoal_grow(&p->suppressed, &p->suppressed_capacity, n, sizeof *p->suppressed))
    return shoal_fail_memory(error);
  shoal_classes classes;
  SHOAL_TRY(
      shoal_classes_roll_up(frequency, &p->atoms, p->levels, &w->grouper, &classes, w->ids, error));
  judge_place(p, &classes);
  shoal_classes_reset(&classes);
  search->n_scanned += (frequency->n_tuples + n) * (1 + search->space.n / FOLDS_PER_CLASS);
  search->n_evaluated++;
  return SHOAL_OK;
}

shoal_status shoal_place_init(shoal_place *p, shoal_search *search,
                              const shoal_objective *objective, const shoal_search_limits *limits,
                              shoal_error *error) {
  size_t n = search->space.n;
  *p = (shoal_place){
      .search = search, .objective = objective, .limits = limits, .limit = search->max_suppressed};
  uint64_t n_records = search->frequency->n_records;
  if (search->needs_rows && p->limit >= n_records) p->limit = n_records - 1;
  p->levels = shoal_alloc(n, sizeof *p->levels);
  p->extra = shoal_alloc_zero(n, sizeof *p->extra);
  p->workers = shoal_alloc_zero(SHOAL_BATCH_NODES, sizeof *p->workers);
  bool ok = p->levels && p->extra && p->workers;
  for (size_t i = 0; ok && i < SHOAL_BATCH_NODES; i++) {
    shoal_grouper_init(&p->workers[i].grouper);
    p->workers[i].levels = shoal_alloc(n, sizeof *p->workers[i].levels);
    p->workers[i].extra = shoal_alloc(n, sizeof *p->workers[i].extra);
    ok = p->workers[i].levels && p->workers[i].extra;
  }
  shoal_status status = ok ? SHOAL_OK : shoal_fail_memory(error);
  if (status == SHOAL_OK && objective->level_cost) {
    status = shoal_level_costs_init(&p->costs, search->frequency, error);
    if (status == SHOAL_OK)
      status = shoal_cost_bound_init(&p->bound, search, objective, &p->costs, error);
  }
  if (status != SHOAL_OK) shoal_place_reset(p);
  return status;
}

void shoal_place_reset(shoal_place *p) {
  for (size_t i = 0; p->workers && i < SHOAL_BATCH_NODES; i++) {
    worker *w = &p->workers[i];
    shoal_grouper_reset(&w->grouper);
    free(w->without);
    free(w->ids);
    free(w->rows);
    free(w->violates);
    free(w->levels);
    free(w->extra);
  }
  free(p->workers);
  shoal_classes_reset(&p->atoms);
  free(p->levels);
  free(p->suppressed);
  free(p->outside);
  free(p->extra);
  shoal_cost_bound_reset(&p->bound);
  shoal_level_costs_reset(&p->costs);
  memset(p, 0, sizeof *p);
}
