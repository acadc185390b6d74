/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster/flock_moves: local moves that lower the cost of a block. The tuples of a cluster each
 * look for the cheapest other cluster, once. From these follow estimates for ejecting a set of
 * them: one tuple, one end of a number, all but the majority of a tree's label, one value of a set,
 * or all. A set that costs more than the remaining rows gain is dropped before anything moves.
 * Where the rest then lacks rows or values, it borrows rows that its box covers anyway from
 * clusters that can spare them.
 */
#include <math.h>

#include "base/sort.h"
#include "cluster/flock_clusters.h"

enum {
  MAX_TUPLES = 512,   /* clusters with more are left alone */
  MAX_TARGETS = 16,   /* clusters that a set of tuples goes to */
  MAX_FAILED = 16,    /* sets that had to come back; then the visit ends */
  MAX_BORROWED = 512, /* rows considered for borrowing */
  MAX_CUTS = 16,      /* values cut off one end of a number */
  MAX_STEPS = 8,      /* on one cluster before the next */
  EXCHANGES = 12,     /* clusters that a row is exchanged with */
  HOPE = 11,
  HOPES = 10 /* estimates may exceed the gain this much: rows may share a target */
};

/* A cluster that ejected rows go to, as it will be. */
typedef struct target {
  uint32_t cluster, size, loss;
} target;

typedef struct visit {
  shoal_clusters *b;
  uint32_t cluster;
  uint32_t n;                                  /* tuples */
  uint32_t tuple[MAX_TUPLES], row[MAX_TUPLES]; /* row: one of them */
  uint32_t n_rows[MAX_TUPLES], home[MAX_TUPLES], goes_to[MAX_TUPLES];
  int64_t alone[MAX_TUPLES]; /* estimated cost of its rows elsewhere */
  int64_t all;               /* of all tuples */
  bool out[MAX_TUPLES];      /* the set that is to leave */
  target targets[MAX_TARGETS];
  uint32_t n_targets;
  uint32_t n_failed; /* sets that left and had to come back */
  uint32_t borrowed[MAX_BORROWED], n_borrowed;
} visit;

/* Scratch boxes of a block: those of targets, suffixes of the tuples, prefix and rest. */
static shoal_box target_box(const visit *v, uint32_t i) {
  return shoal_boxes_at(&v->b->scratch, v->b->p, i);
}
static shoal_box suffix_box(const visit *v, uint32_t i) {
  return shoal_boxes_at(&v->b->scratch, v->b->p, MAX_TARGETS + i);
}
static shoal_box prefix_box(const visit *v) { return suffix_box(v, MAX_TUPLES); }
static shoal_box rest_box(const visit *v) { return suffix_box(v, MAX_TUPLES + 1); }
static shoal_box cover_box(const visit *v) { return suffix_box(v, MAX_TUPLES + 2); }

size_t shoal_clusters_scratch_boxes(void) { return MAX_TARGETS + MAX_TUPLES + 3; }

static const int16_t *values_of(const visit *v, uint32_t i) {
  return shoal_packed_values(v->b->p, v->tuple[i]);
}

/* ------------------------------------------------------------ where ejected rows go */

static uint32_t find_target(visit *v, uint32_t cluster) {
  const shoal_clusters *b = v->b;
  uint32_t i = 0;
  while (i < v->n_targets && v->targets[i].cluster != cluster) i++;
  if (i < v->n_targets || i == MAX_TARGETS) return i;
  v->targets[i] = (target){cluster, b->size[cluster], b->loss[cluster]};
  shoal_box_copy(b->p, target_box(v, i), shoal_clusters_box(b, cluster));
  v->n_targets++;
  return i;
}

/* What the rows of tuple i cost in a target; `loss`: each of its rows then. */
static int64_t cost_in(const visit *v, uint32_t i, uint32_t t, uint32_t *loss) {
  const target *to = &v->targets[t];
  *loss = shoal_box_loss_with(v->b->p, target_box(v, t), values_of(v, i));
  return shoal_cost_of(v->b, to->size + v->n_rows[i], *loss) -
         shoal_cost_of(v->b, to->size, to->loss);
}

/* Finds a target for each tuple of the set, given those before it. False: not below `gain`. */
static bool plan(visit *v, int64_t *gain) {
  v->n_targets = 0;
  for (uint32_t i = 0; i < v->n; i++) {
    if (!v->out[i]) continue;
    uint32_t best = find_target(v, v->home[i]), loss, own_loss;
    if (best == MAX_TARGETS) return false;
    int64_t least = cost_in(v, i, best, &loss);
    for (uint32_t t = 0; t < v->n_targets; t++) {
      int64_t own = cost_in(v, i, t, &own_loss);
      if (own >= least) continue;
      best = t;
      least = own;
      loss = own_loss;
    }
    if (least >= *gain) return false;
    *gain -= least;
    v->goes_to[i] = v->targets[best].cluster;
    v->targets[best].size += v->n_rows[i];
    v->targets[best].loss = loss;
    shoal_box_add(v->b->p, target_box(v, best), values_of(v, i));
  }
  return true;
}

/* ------------------------------------------------------------ borrowing */

/* Widens the spans of trees to all leaves that cost nothing more. */
static void cover(const shoal_packed_rows *p, shoal_box box, shoal_box covered) {
  shoal_box_copy(p, covered, box);
  for (size_t q = p->n_numbers; q < p->n_spans; q++) {
    const shoal_packed_axis *axis = &p->axes[q];
    if (box.lo[q] == box.hi[q]) continue;
    uint16_t loss = (uint16_t)shoal_tree_loss(axis, box.lo[q], box.hi[q]);
    int lo = box.lo[q], hi = box.hi[q];
    while (lo > 0 && axis->range_max[lo - 1] <= loss) lo--;
    while (hi + 1 < (int)axis->n_values && axis->range_max[hi] <= loss) hi++;
    covered.lo[q] = (int16_t)lo;
    covered.hi[q] = (int16_t)hi;
  }
}

static bool covers(const shoal_packed_rows *p, shoal_box covered, const int16_t *values) {
  for (size_t q = 0; q < p->n_spans; q++)
    if (values[q] < covered.lo[q] || values[q] > covered.hi[q]) return false;
  for (size_t q = p->n_spans; q < p->n_axes; q++)
    if (!shoal_set_has(&p->axes[q], covered.sets, values[q])) return false;
  return true;
}

static bool overlaps(const shoal_packed_rows *p, shoal_box covered, shoal_box other) {
  for (size_t q = 0; q < p->n_spans; q++)
    if (other.lo[q] > covered.hi[q] || other.hi[q] < covered.lo[q]) return false;
  return true;
}

static bool is_target(const visit *v, uint32_t c) {
  uint32_t t = 0;
  while (t < v->n_targets && v->targets[t].cluster != c) t++;
  return t < v->n_targets;
}

/* How many rows of the visited cluster stay, and how many it must borrow at least. */
static uint32_t rows_lacking(visit *v, uint32_t n_rest) {
  shoal_clusters *b = v->b;
  const shoal_packed_rows *p = b->p;
  uint32_t lack = n_rest < p->fit->k ? (uint32_t)p->fit->k - n_rest : 0;
  for (size_t d = 0; d < p->n_counts; d++) {
    uint32_t now = ++b->group_stamps, distinct = 0, min = p->fit->counts[d].least;
    for (uint32_t r = b->head[v->cluster]; r != SHOAL_NIL && distinct < min; r = b->next[r]) {
      uint32_t group = p->group[d][r];
      if (v->out[b->tuple_index[p->tuple[r]]] || group == SHOAL_NO_GROUP) continue;
      distinct += b->group_stamp[group] != now;
      b->group_stamp[group] = now;
    }
    if (min - distinct > lack) lack = min - distinct;
  }
  return lack;
}

/* Can targets, and clusters that overlap the rest, spare at least `lack` rows in all? */
static bool can_borrow(visit *v, uint32_t lack, uint32_t rest_loss, int64_t budget) {
  const shoal_clusters *b = v->b;
  uint32_t k = (uint32_t)b->p->fit->k, spare = 0;
  cover(b->p, rest_box(v), cover_box(v));
  for (uint32_t t = 0; t < v->n_targets; t++)
    if (v->targets[t].size > k) spare += v->targets[t].size - k;
  for (uint32_t c = 0; c < b->n && spare < lack; c++) {
    if (c == v->cluster || b->size[c] <= k || is_target(v, c)) continue;
    if ((int64_t)b->loss[c] + budget <= rest_loss) continue;
    if (overlaps(b->p, cover_box(v), shoal_clusters_box(b, c))) spare += b->size[c] - k;
  }
  return spare >= lack;
}

/* Lists rows of other clusters that the rest covers, and all rows of targets; the set has left. */
static void list_lendable(visit *v) {
  const shoal_clusters *b = v->b;
  v->n_borrowed = 0;
  for (uint32_t c = 0; c < b->n && v->n_borrowed < MAX_BORROWED; c++) {
    if (c == v->cluster || b->size[c] <= b->p->fit->k) continue;
    bool all = is_target(v, c);
    if (!all && !overlaps(b->p, cover_box(v), shoal_clusters_box(b, c))) continue;
    for (uint32_t r = b->head[c]; r != SHOAL_NIL && v->n_borrowed < MAX_BORROWED; r = b->next[r])
      if (all || covers(b->p, cover_box(v), shoal_packed_values(b->p, b->p->tuple[r])))
        v->borrowed[v->n_borrowed++] = r;
  }
}

/* The listed row whose borrowing gains most, above *gain; SHOAL_NIL: none. */
static uint32_t choose_borrowed(const visit *v, int64_t *gain) {
  const shoal_clusters *b = v->b;
  size_t lack = shoal_clusters_lacking(b, v->cluster);
  shoal_box box = shoal_clusters_box(b, v->cluster);
  uint32_t best = SHOAL_NIL, size = b->size[v->cluster], last = SHOAL_NIL, loss = 0;
  int64_t before = shoal_clusters_cost(b, v->cluster);
  int64_t most = before - shoal_cost_of(b, size + 1, b->loss[v->cluster]); /* if it is covered */
  for (uint32_t i = 0; i < v->n_borrowed; i++) {
    uint32_t r = v->borrowed[i], c = b->cluster_of[r], tuple = b->p->tuple[r];
    int64_t lent = shoal_clusters_cost(b, c) - shoal_cost_of(b, b->size[c] - 1, b->loss[c]);
    if (c == v->cluster || lent + most <= *gain) continue;
    if (tuple != last) loss = shoal_box_loss_with(b->p, box, shoal_packed_values(b->p, tuple));
    last = tuple;
    int64_t own = lent + before - shoal_cost_of(b, size + 1, loss);
    if (own <= *gain) continue;
    if (lack < b->p->n_counts && (b->p->group[lack][r] == SHOAL_NO_GROUP ||
                                  shoal_clusters_has_group(b, v->cluster, lack, r, 1)))
      continue;
    if (!shoal_clusters_can_spare(b, r)) continue;
    *gain = own;
    best = r;
  }
  return best;
}

static bool borrow(visit *v, int64_t budget) {
  shoal_clusters *b = v->b;
  list_lendable(v);
  while (!shoal_clusters_has_counts(b, v->cluster)) {
    int64_t gain = -budget;
    uint32_t row = choose_borrowed(v, &gain);
    if (row == SHOAL_NIL || shoal_clusters_is_stopped(b)) return false;
    uint32_t lender = b->cluster_of[row];
    shoal_clusters_move(b, row, v->cluster);
    shoal_clusters_refresh(b, lender);
    budget += gain;
  }
  return true;
}

/* ------------------------------------------------------------ ejecting */

static void eject(visit *v) {
  shoal_clusters *b = v->b;
  for (uint32_t r = b->head[v->cluster], next; r != SHOAL_NIL; r = next) {
    uint32_t i = b->tuple_index[b->p->tuple[r]];
    next = b->next[r];
    if (v->out[i]) shoal_clusters_move(b, r, v->goes_to[i]);
  }
  shoal_clusters_refresh(b, v->cluster);
}

/* Do all clusters that moves touch satisfy every requirement? */
static bool all_satisfy(shoal_clusters *b, size_t since) {
  if (!b->p->fit->n_others) return true;
  for (size_t i = since; i < b->n_moved; i++) {
    const uint32_t ends[] = {b->moved_from[i], b->cluster_of[b->moved[i]]};
    for (size_t e = 0; e < 2; e++)
      if (b->size[ends[e]] && !shoal_clusters_satisfies(b, ends[e])) return false;
  }
  return true;
}

/* Carries the plan out, if that lowers the cost; `spare`: by how much it does before borrowing. */
static bool carry_out(visit *v, uint32_t n_rest, int64_t spare) {
  shoal_clusters *b = v->b;
  size_t since = b->n_moved;
  int64_t before = b->total;
  uint32_t lack = n_rest ? rows_lacking(v, n_rest) : 0;
  if (!n_rest && b->n_live <= b->min_live) return false;
  if (lack && !can_borrow(v, lack, shoal_box_loss(b->p, rest_box(v)), spare)) return false;
  eject(v);
  bool ok = !lack || borrow(v, spare);
  ok = ok && b->total < before && all_satisfy(b, since);
  if (ok) return true;
  v->n_failed++;
  shoal_clusters_rollback(b, since);
  return false;
}

/* The lowest estimated cost that is not tried. Costs reach 2^61: gain x HOPE could overflow. */
static int64_t hoped(int64_t gain) { return gain + (gain * (HOPE - HOPES) + HOPES - 1) / HOPES; }

/* May ejecting the set pay, if each remaining row loses at least `loss` then? */
static bool may_pay(const visit *v, int64_t cost, uint32_t n_rest, uint32_t loss) {
  int64_t gain = shoal_clusters_cost(v->b, v->cluster) - shoal_cost_of(v->b, n_rest, loss);
  return v->n_failed < MAX_FAILED && cost < hoped(gain);
}

/* Tries to eject the set; rest_box is the box of the others, of loss `loss`. */
static bool try_set(visit *v, int64_t cost, uint32_t n_rest, uint32_t loss) {
  int64_t gain = shoal_clusters_cost(v->b, v->cluster) - shoal_cost_of(v->b, n_rest, loss);
  if (cost >= hoped(gain) || !plan(v, &gain)) return false;
  return carry_out(v, n_rest, gain);
}

/* The same, where the rest's box is not known yet. */
static bool try_marked(visit *v, int64_t cost, uint32_t n_rest) {
  shoal_box rest = rest_box(v);
  bool any = false;
  for (uint32_t i = 0; i < v->n; i++) {
    if (v->out[i]) continue;
    if (!any) shoal_box_start(v->b->p, rest, values_of(v, i));
    else shoal_box_add(v->b->p, rest, values_of(v, i));
    any = true;
  }
  return try_set(v, cost, n_rest, any ? shoal_box_loss(v->b->p, rest) : 0);
}

/* ------------------------------------------------------------ sets of tuples */

static bool eject_single(visit *v) {
  const shoal_packed_rows *p = v->b->p;
  shoal_box before = prefix_box(v), rest = rest_box(v);
  if (v->n < 2) return false;
  shoal_box_start(p, suffix_box(v, v->n - 1), values_of(v, v->n - 1));
  for (uint32_t i = v->n - 1; i-- > 1;) {
    shoal_box_copy(p, suffix_box(v, i), suffix_box(v, i + 1));
    shoal_box_add(p, suffix_box(v, i), values_of(v, i));
  }
  memset(v->out, 0, v->n * sizeof *v->out);
  for (uint32_t i = 0; i < v->n; i++) {
    shoal_box_copy(p, rest, i ? before : suffix_box(v, 1));
    if (i && i + 1 < v->n) shoal_box_join(p, rest, suffix_box(v, i + 1));
    if (!i) shoal_box_start(p, before, values_of(v, 0));
    else shoal_box_add(p, before, values_of(v, i));
    uint32_t n_rest = v->b->size[v->cluster] - v->n_rows[i], loss = shoal_box_loss(p, rest);
    if (!may_pay(v, v->alone[i], n_rest, loss)) continue;
    v->out[i] = true;
    if (try_set(v, v->alone[i], n_rest, loss)) return true;
    v->out[i] = false;
  }
  return false;
}

/* Tuple numbers, ascending by their value on an axis. */
static void sort_tuples(const visit *v, size_t q, uint64_t *order) {
  for (uint32_t i = 0; i < v->n; i++) order[i] = (uint64_t)(uint16_t)values_of(v, i)[q] << 32 | i;
  shoal_sort_keys(order, v->n);
}

/* Ejects one end of a number, value by value. */
static bool eject_end(visit *v, size_t q, const uint64_t *order, bool low) {
  uint32_t n_out = 0, size = v->b->size[v->cluster];
  int last = values_of(v, (uint32_t)order[low ? v->n - 1 : 0])[q];
  int64_t cost = 0;
  memset(v->out, 0, v->n * sizeof *v->out);
  for (uint32_t i = 0, cuts = 0; i + 1 < v->n && cuts < MAX_CUTS; i++) {
    uint32_t own = (uint32_t)order[low ? i : v->n - 1 - i];
    int bound = values_of(v, (uint32_t)order[low ? i + 1 : v->n - 2 - i])[q];
    v->out[own] = true;
    n_out += v->n_rows[own];
    cost += v->alone[own];
    if (bound == values_of(v, own)[q]) continue;
    cuts++;
    if (2 * n_out > size || !may_pay(v, cost, 0, 0)) return false; /* more would cost more */
    uint32_t width = shoal_number_loss(&v->b->p->axes[q], low ? bound : last, low ? last : bound);
    if (may_pay(v, cost, size - n_out, width) && try_marked(v, cost, size - n_out)) return true;
  }
  return false;
}

static bool eject_ends(visit *v, size_t q) {
  uint64_t order[MAX_TUPLES];
  if (v->n < 2) return false;
  sort_tuples(v, q, order);
  return eject_end(v, q, order, true) || eject_end(v, q, order, false);
}

/*
 * On a tree: follows the label of most rows downwards, while these are at least half of the
 * cluster, and tries to eject all other rows.
 */
static bool eject_minority(visit *v, size_t q) {
  const shoal_packed_axis *axis = &v->b->p->axes[q];
  uint64_t order[MAX_TUPLES];
  uint32_t size = v->b->size[v->cluster], from = 0, to = v->n;
  sort_tuples(v, q, order);
  for (;;) {
    int lo = (int)(order[from] >> 32), hi = (int)(order[to - 1] >> 32);
    uint32_t loss = shoal_tree_loss(axis, lo, hi), best_from = 0, best_to = 0, most = 0;
    if (!loss) return false;
    for (uint32_t i = from, end; i < to; i = end) { /* children of the common ancestor */
      uint32_t n = 0;
      int first = (int)(order[i] >> 32);
      for (end = i; end < to && shoal_tree_loss(axis, first, (int)(order[end] >> 32)) < loss; end++)
        n += v->n_rows[(uint32_t)order[end]];
      if (n <= most) continue;
      most = n;
      best_from = i;
      best_to = end;
    }
    if (2 * most < size) return false;
    int64_t cost = v->all;
    for (uint32_t i = 0; i < v->n; i++) v->out[i] = true;
    for (uint32_t i = best_from; i < best_to; i++) {
      v->out[(uint32_t)order[i]] = false;
      cost -= v->alone[(uint32_t)order[i]];
    }
    from = best_from;
    to = best_to;
    uint32_t own = shoal_tree_loss(axis, (int)(order[from] >> 32), (int)(order[to - 1] >> 32));
    if (may_pay(v, cost, most, own) && try_marked(v, cost, most)) return true;
  }
}

/* On a set: ejects the rows of one value. */
static bool eject_value(visit *v, size_t q) {
  uint64_t order[MAX_TUPLES];
  sort_tuples(v, q, order);
  for (uint32_t i = 0, end; i < v->n; i = end) {
    uint32_t n_out = 0;
    int64_t cost = 0;
    memset(v->out, 0, v->n * sizeof *v->out);
    for (end = i; end < v->n && order[end] >> 32 == order[i] >> 32; end++) {
      uint32_t own = (uint32_t)order[end];
      v->out[own] = true;
      n_out += v->n_rows[own];
      cost += v->alone[own];
    }
    if (end - i == v->n || 2 * n_out > v->b->size[v->cluster]) continue;
    if (may_pay(v, cost, 0, 0) && try_marked(v, cost, v->b->size[v->cluster] - n_out)) return true;
  }
  return false;
}

static bool eject_all(visit *v) {
  for (uint32_t i = 0; i < v->n; i++) v->out[i] = true;
  return may_pay(v, v->all, 0, 0) && try_marked(v, v->all, 0);
}

/* Rows that cost less elsewhere, although their tuple cannot leave as a whole. */
static bool eject_spare(visit *v) {
  shoal_clusters *b = v->b;
  size_t since = b->n_moved;
  int64_t before = b->total;
  for (uint32_t i = 0; i < v->n && b->n_moved == since; i++) {
    if (v->n_rows[i] < 2) continue;
    for (uint32_t r = b->head[v->cluster], next; r != SHOAL_NIL; r = next) {
      next = b->next[r];
      if (b->p->tuple[r] != v->tuple[i] || !shoal_clusters_can_spare(b, r)) continue;
      size_t kept = b->n_moved;
      int64_t total = b->total;
      shoal_clusters_move(b, r, v->home[i]);
      shoal_clusters_refresh(b, v->cluster);
      if (b->total < total) continue;
      shoal_clusters_rollback(b, kept);
      break;
    }
  }
  if (b->n_moved == since) return false;
  if (b->total < before && all_satisfy(b, since)) return true;
  shoal_clusters_rollback(b, since);
  return false;
}

/* ------------------------------------------------------------ exchanging */

/* The loss of a cluster without row `out` and with a tuple of these values. */
static uint32_t loss_exchanged(const visit *v, uint32_t cluster, uint32_t out,
                               const int16_t *values) {
  const shoal_clusters *b = v->b;
  shoal_box box = prefix_box(v);
  uint32_t last = SHOAL_NIL;
  shoal_box_start(b->p, box, values);
  for (uint32_t r = b->head[cluster]; r != SHOAL_NIL; r = b->next[r]) {
    if (r == out || b->p->tuple[r] == last) continue;
    last = b->p->tuple[r];
    shoal_box_add(b->p, box, shoal_packed_values(b->p, last));
  }
  return shoal_box_loss(b->p, box);
}

/* Has a cluster its distinct values still, with row `in` in place of its row `out`? */
static bool keeps_counts(const shoal_clusters *b, uint32_t cluster, uint32_t out, uint32_t in) {
  for (size_t d = 0; d < b->p->n_counts; d++) {
    uint32_t lost = b->p->group[d][out], gained = b->p->group[d][in];
    uint32_t distinct = shoal_clusters_groups(b, cluster, d)->distinct;
    if (lost == gained) continue;
    if (lost != SHOAL_NO_GROUP) distinct -= !shoal_clusters_has_group(b, cluster, d, out, 2);
    if (gained != SHOAL_NO_GROUP) distinct += !shoal_clusters_has_group(b, cluster, d, in, 1);
    if (distinct < b->p->fit->counts[d].least) return false;
  }
  return true;
}

/* Exchanges a row against the best one of another cluster, if that lowers the cost. */
static bool exchange_with(visit *v, uint32_t row, uint32_t other) {
  shoal_clusters *b = v->b;
  const int16_t *values = shoal_packed_values(b->p, b->p->tuple[row]);
  uint32_t best = SHOAL_NIL, own = v->cluster, size = b->size[own], other_size = b->size[other];
  int64_t least = (int64_t)size * b->loss[own] + (int64_t)other_size * b->loss[other], cost = least;
  for (uint32_t r = b->head[other], last = SHOAL_NIL; r != SHOAL_NIL; r = b->next[r]) {
    if (b->p->tuple[r] != last) {
      last = b->p->tuple[r];
      uint32_t loss = shoal_box_loss_with(b->p, rest_box(v), shoal_packed_values(b->p, last));
      cost = loss < b->loss[own] ? (int64_t)size * loss : least;
      if (cost < least) cost += (int64_t)other_size * loss_exchanged(v, other, r, values);
    }
    if (cost >= least || !keeps_counts(b, own, row, r) || !keeps_counts(b, other, r, row)) continue;
    least = cost;
    best = r;
  }
  if (best == SHOAL_NIL) return false;
  size_t since = b->n_moved;
  int64_t before = b->total;
  shoal_clusters_move(b, row, other);
  shoal_clusters_move(b, best, own);
  shoal_clusters_settle(b, since);
  if (b->total < before && all_satisfy(b, since)) return true;
  shoal_clusters_rollback(b, since);
  return false;
}

/* Exchanges a row of a cluster that has none to spare. */
static bool exchange(visit *v) {
  shoal_clusters *b = v->b;
  float most = (float)b->loss[v->cluster] * (float)b->size[v->cluster];
  for (uint32_t i = 0; i < v->n; i++) {
    shoal_box rest = rest_box(v);
    bool any = false;
    for (uint32_t j = 0; j < v->n; j++) { /* the box without one row of the tuple */
      if (j == i && v->n_rows[i] == 1) continue;
      if (any) shoal_box_add(b->p, rest, values_of(v, j));
      else shoal_box_start(b->p, rest, values_of(v, j));
      any = true;
    }
    if (!any || shoal_box_loss(b->p, rest) == b->loss[v->cluster]) continue;
    (void)shoal_clusters_cheapest(b, values_of(v, i), v->cluster);
    for (int n = 0; n < EXCHANGES; n++) {
      uint32_t other = shoal_open_lowest(b, b->join_cost);
      if (other == SHOAL_NIL) break;
      float square = (float)(b->cost.square * (2 * (int64_t)b->size[other] + 1));
      if (b->join_cost[other] - square >= most) break; /* sizes do not change */
      if (exchange_with(v, v->row[i], other)) return true;
      b->join_cost[other] = INFINITY;
    }
  }
  return false;
}

/* ------------------------------------------------------------ a cluster */

/* Lists its tuples and their cheapest other clusters. False: too many, or there is no other. */
static bool begin(visit *v) {
  shoal_clusters *b = v->b;
  const shoal_packed_rows *p = b->p;
  v->n = 0;
  v->all = 0;
  for (uint32_t r = b->head[v->cluster]; r != SHOAL_NIL; r = b->next[r]) {
    uint32_t tuple = p->tuple[r], i = b->tuple_index[tuple];
    if (i >= v->n || v->tuple[i] != tuple) {
      if (v->n == MAX_TUPLES) return false;
      i = b->tuple_index[tuple] = v->n++;
      v->tuple[i] = tuple;
      v->row[i] = r;
      v->n_rows[i] = 0;
    }
    v->n_rows[i]++;
  }
  for (uint32_t i = 0; i < v->n; i++) {
    uint32_t c = shoal_clusters_cheapest(b, values_of(v, i), v->cluster), n = v->n_rows[i];
    if (c == SHOAL_NIL) return false;
    v->home[i] = c;
    v->alone[i] = shoal_cost_of(b, b->size[c] + n, b->joint[c]) - shoal_clusters_cost(b, c);
    v->all += v->alone[i];
  }
  return true;
}

/* Did the turn before try these very moves? */
static bool is_known(const visit *v) {
  uint32_t origin = v->b->origin[v->cluster], i = 0;
  if (origin == SHOAL_NIL) return false;
  while (i < v->n && v->b->origin[v->home[i]] == origin) i++;
  return i == v->n;
}

static bool step(shoal_clusters *b, uint32_t cluster) {
  const shoal_packed_rows *p = b->p;
  visit v; /* large: not cleared */
  v.b = b;
  v.cluster = cluster;
  v.n_failed = 0;
  if (!b->size[cluster] || (!b->loss[cluster] && !b->cost.square)) return false;
  if (!begin(&v) || is_known(&v)) return false;
  if (eject_single(&v)) return true;
  shoal_box box = shoal_clusters_box(b, cluster);
  for (size_t q = p->n_numbers; q < p->n_spans; q++)
    if (box.lo[q] < box.hi[q] && eject_minority(&v, q)) return true;
  for (size_t q = 0; q < p->n_numbers; q++)
    if (box.lo[q] < box.hi[q] && eject_ends(&v, q)) return true;
  for (size_t q = p->n_spans; q < p->n_axes; q++)
    if (eject_value(&v, q)) return true;
  if (eject_all(&v) || eject_spare(&v)) return true;
  return b->cost.exact_sizes && exchange(&v);
}

bool shoal_clusters_improve(shoal_clusters *b, uint32_t cluster) {
  int steps = 0;
  while (steps < MAX_STEPS && !shoal_clusters_is_stopped(b) && step(b, cluster)) steps++;
  if (steps < MAX_STEPS) b->tried[cluster] = b->clock;
  return steps > 0;
}
