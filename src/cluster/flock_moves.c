/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster/flock_moves: local moves that lower the cost of a block. For each tuple of a cluster, the
 * cheapest other cluster is found once. That gives estimates for ejecting a set of tuples: one
 * tuple, one end of a number, all but the majority of a tree's label, one value of a set, or all.
 * Sets that cost more than the remaining rows gain are rejected before anything moves. If the
 * remaining rows then lack rows or values, the cluster borrows rows that its box covers anyway from
 * donors, clusters with more rows than they need.
 */
#include "base/sort.h"
#include "cluster/flock_clusters.h"

enum {
  MAX_TUPLES = 512,     /* no moves are tried on clusters with more */
  MAX_TARGETS = 16,     /* clusters that a set of tuples goes to */
  MAX_FAILED = 16,      /* sets rolled back before the search on a cluster ends */
  MAX_CANDIDATES = 512, /* rows considered for borrowing */
  MAX_CUTS = 16,        /* values cut off one end of a number */
  MAX_STEPS = 8,        /* on one cluster before the next */
  TOLERANCE = 10 /* estimates may exceed the gain by 1 / TOLERANCE: rows may share a target */
};

/* A cluster that ejected rows move to, with its size and loss afterwards. */
typedef struct target {
  uint32_t cluster, size, loss;
} target;

/* The search for a move of one cluster. */
typedef struct move_search {
  shoal_clusters *b;
  uint32_t cluster;
  uint32_t n;                                  /* tuples */
  uint32_t tuple[MAX_TUPLES], row[MAX_TUPLES]; /* row: its first */
  uint32_t n_rows[MAX_TUPLES], cheapest[MAX_TUPLES], moves_to[MAX_TUPLES];
  int64_t estimate[MAX_TUPLES]; /* estimated cost of its rows elsewhere */
  int64_t estimate_of_all;      /* of all tuples */
  bool ejected[MAX_TUPLES];     /* the set that is tried */
  target targets[MAX_TARGETS];
  uint32_t n_targets;
  uint32_t n_failed; /* sets that were rolled back */
  uint32_t candidates[MAX_CANDIDATES], n_candidates;
  uint32_t n_donors;
} move_search;

/* Scratch boxes of a block: those of targets, suffixes of the tuples, prefix and rest. */
static shoal_packed_box target_box(const move_search *s, uint32_t i) {
  return shoal_packed_boxes_at(&s->b->scratch, s->b->p, i);
}
static shoal_packed_box suffix_box(const move_search *s, uint32_t i) {
  return shoal_packed_boxes_at(&s->b->scratch, s->b->p, MAX_TARGETS + i);
}
static shoal_packed_box prefix_box(const move_search *s) { return suffix_box(s, MAX_TUPLES); }
static shoal_packed_box rest_box(const move_search *s) { return suffix_box(s, MAX_TUPLES + 1); }
static shoal_packed_box cover_box(const move_search *s) { return suffix_box(s, MAX_TUPLES + 2); }

size_t shoal_clusters_scratch_boxes(void) { return MAX_TARGETS + MAX_TUPLES + 3; }

static const int16_t *values_of(const move_search *s, uint32_t i) {
  return shoal_packed_values(s->b->p, s->tuple[i]);
}

/* ------------------------------------------------------------ targets of ejected rows */

/* The index of a target; n_targets: the cluster is none. */
static uint32_t target_of(const move_search *s, uint32_t cluster) {
  uint32_t i = 0;
  while (i < s->n_targets && s->targets[i].cluster != cluster) i++;
  return i;
}

static uint32_t find_target(move_search *s, uint32_t cluster) {
  const shoal_clusters *b = s->b;
  uint32_t i = target_of(s, cluster);
  if (i < s->n_targets || i == MAX_TARGETS) return i;
  s->targets[i] = (target){cluster, b->size[cluster], b->loss[cluster]};
  shoal_packed_box_copy(b->p, target_box(s, i), shoal_clusters_box(b, cluster));
  s->n_targets++;
  return i;
}

/* The cost of adding the rows of tuple i to a target; *loss: of each of its rows then. */
static int64_t cost_in(const move_search *s, uint32_t i, uint32_t t, uint32_t *loss) {
  const target *to = &s->targets[t];
  *loss = shoal_packed_box_loss_with(s->b->p, target_box(s, t), values_of(s, i));
  return shoal_cost_of(s->b, to->size + s->n_rows[i], *loss) -
         shoal_cost_of(s->b, to->size, to->loss);
}

/* Chooses a target for each tuple of the set, in order. Reduces *gain; false: it is used up. */
static bool plan(move_search *s, int64_t *gain) {
  s->n_targets = 0;
  for (uint32_t i = 0; i < s->n; i++) {
    if (!s->ejected[i]) continue;
    uint32_t best = find_target(s, s->cheapest[i]), loss, own_loss;
    if (best == MAX_TARGETS) return false;
    int64_t least = cost_in(s, i, best, &loss);
    for (uint32_t t = 0; t < s->n_targets; t++) {
      int64_t own = cost_in(s, i, t, &own_loss);
      if (own >= least) continue;
      best = t;
      least = own;
      loss = own_loss;
    }
    if (least >= *gain) return false;
    *gain -= least;
    s->moves_to[i] = s->targets[best].cluster;
    s->targets[best].size += s->n_rows[i];
    s->targets[best].loss = loss;
    shoal_packed_box_add(s->b->p, target_box(s, best), values_of(s, i));
  }
  return true;
}

/* ------------------------------------------------------------ borrowing */

/* Widens the spans of trees, and sets that are too large to be written, to all that adds no loss.
 */
static void cover(const shoal_packed_rows *p, shoal_packed_box box, shoal_packed_box covered) {
  shoal_packed_box_copy(p, covered, box);
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
  for (size_t q = p->n_spans; q < p->n_axes; q++) {
    const shoal_packed_axis *axis = &p->axes[q];
    if (axis->n_values > SHOAL_MAX_SET && shoal_set_size(axis, box.sets) > SHOAL_MAX_SET)
      memset(covered.sets + axis->word, 0xff, axis->n_words * sizeof *covered.sets);
  }
}

static bool covers(const shoal_packed_rows *p, shoal_packed_box covered, const int16_t *values) {
  for (size_t q = 0; q < p->n_spans; q++)
    if (values[q] < covered.lo[q] || values[q] > covered.hi[q]) return false;
  for (size_t q = p->n_spans; q < p->n_axes; q++)
    if (!shoal_set_has(&p->axes[q], covered.sets, values[q])) return false;
  return true;
}

static bool overlaps(const shoal_packed_rows *p, shoal_packed_box covered, shoal_packed_box other) {
  for (size_t q = 0; q < p->n_spans; q++)
    if (other.lo[q] > covered.hi[q] || other.hi[q] < covered.lo[q]) return false;
  return true;
}

/* The minimum number of rows that the cluster must borrow once the set has left. */
static uint32_t rows_lacking(move_search *s, uint32_t n_rest) {
  shoal_clusters *b = s->b;
  const shoal_packed_rows *p = b->p;
  uint32_t lack = n_rest < p->required->k ? (uint32_t)p->required->k - n_rest : 0;
  for (size_t d = 0; d < p->n_counts; d++) {
    uint32_t now = ++b->group_stamps, distinct = 0, min = p->required->counts[d].min_distinct;
    for (uint32_t r = b->head[s->cluster]; r != SHOAL_NONE && distinct < min; r = b->next[r]) {
      uint32_t group = p->group[d][r];
      if (s->ejected[b->tuple_index[p->tuple[r]]] || group == SHOAL_NONE) continue;
      distinct += b->group_stamp[group] != now;
      b->group_stamp[group] = now;
    }
    if (min - distinct > lack) lack = min - distinct;
  }
  return lack;
}

/*
 * Lists donors: clusters other than targets that overlap the rest and have more than k rows. False:
 * their rows beyond k, with those of the targets, are fewer than `lack`.
 */
static bool find_donors(move_search *s, uint32_t lack, uint32_t rest_loss, int64_t budget) {
  const shoal_clusters *b = s->b;
  uint32_t k = (uint32_t)b->p->required->k, surplus = 0;
  cover(b->p, rest_box(s), cover_box(s));
  for (uint32_t t = 0; t < s->n_targets; t++)
    if (s->targets[t].size > k) surplus += s->targets[t].size - k;
  s->n_donors = 0;
  for (uint32_t c = 0; c < b->n; c++) {
    if (b->size[c] <= k || (int64_t)b->loss[c] + budget <= rest_loss) continue;
    if (!overlaps(b->p, cover_box(s), shoal_clusters_box(b, c))) continue;
    if (c == s->cluster || target_of(s, c) < s->n_targets) continue;
    surplus += b->size[c] - k;
    b->donors[s->n_donors++] = c;
  }
  return surplus >= lack;
}

/* Lists all rows of targets, and rows of donors that the rest covers; the set has left. */
static void list_candidates(move_search *s) {
  const shoal_clusters *b = s->b;
  s->n_candidates = 0;
  for (uint32_t t = 0; t < s->n_targets; t++)
    for (uint32_t r = b->head[s->targets[t].cluster];
         r != SHOAL_NONE && s->n_candidates < MAX_CANDIDATES; r = b->next[r])
      s->candidates[s->n_candidates++] = r;
  for (uint32_t i = 0; i < s->n_donors; i++)
    for (uint32_t r = b->head[b->donors[i]]; r != SHOAL_NONE && s->n_candidates < MAX_CANDIDATES;
         r = b->next[r])
      if (covers(b->p, cover_box(s), shoal_packed_values(b->p, b->p->tuple[r])))
        s->candidates[s->n_candidates++] = r;
}

/* The candidate whose borrowing gains most, above *gain; SHOAL_NONE: none. */
static uint32_t choose_row(const move_search *s, int64_t *gain) {
  const shoal_clusters *b = s->b;
  size_t lack = shoal_clusters_lacking(b, s->cluster);
  shoal_packed_box box = shoal_clusters_box(b, s->cluster);
  uint32_t best = SHOAL_NONE, size = b->size[s->cluster], last = SHOAL_NONE, loss = 0;
  int64_t before = shoal_clusters_cost(b, s->cluster);
  int64_t most = before - shoal_cost_of(b, size + 1, b->loss[s->cluster]); /* if it is covered */
  for (uint32_t i = 0; i < s->n_candidates; i++) {
    uint32_t r = s->candidates[i], c = b->cluster_of[r], tuple = b->p->tuple[r];
    int64_t released = shoal_clusters_cost(b, c) - shoal_cost_of(b, b->size[c] - 1, b->loss[c]);
    if (c == s->cluster || released + most <= *gain) continue;
    if (tuple != last)
      loss = shoal_packed_box_loss_with(b->p, box, shoal_packed_values(b->p, tuple));
    last = tuple;
    int64_t own = released + before - shoal_cost_of(b, size + 1, loss);
    if (own <= *gain) continue;
    if (lack < b->p->n_counts &&
        (b->p->group[lack][r] == SHOAL_NONE || shoal_clusters_has_group(b, s->cluster, lack, r, 1)))
      continue;
    if (!shoal_clusters_may_leave(b, r)) continue;
    *gain = own;
    best = r;
  }
  return best;
}

static bool borrow(move_search *s, int64_t budget) {
  shoal_clusters *b = s->b;
  list_candidates(s);
  while (!shoal_clusters_has_counts(b, s->cluster)) {
    int64_t gain = -budget;
    uint32_t row = choose_row(s, &gain);
    if (row == SHOAL_NONE || shoal_clusters_is_stopped(b)) return false;
    uint32_t donor = b->cluster_of[row];
    shoal_clusters_move(b, row, s->cluster);
    shoal_clusters_refresh(b, donor);
    budget += gain;
  }
  return true;
}

/* ------------------------------------------------------------ ejecting */

static void eject(move_search *s) {
  shoal_clusters *b = s->b;
  for (uint32_t r = b->head[s->cluster], next; r != SHOAL_NONE; r = next) {
    uint32_t i = b->tuple_index[b->p->tuple[r]];
    next = b->next[r];
    if (s->ejected[i]) shoal_clusters_move(b, r, s->moves_to[i]);
  }
  shoal_clusters_refresh(b, s->cluster);
}

/* Executes the plan if that lowers the cost; `gain`: its gain before borrowing. */
static bool execute(move_search *s, uint32_t n_rest, int64_t gain) {
  shoal_clusters *b = s->b;
  size_t since = b->n_moved;
  int64_t before = b->total;
  uint32_t lack = n_rest ? rows_lacking(s, n_rest) : 0;
  if (!n_rest && b->n_live <= b->min_live) return false;
  if (lack && !find_donors(s, lack, shoal_packed_box_loss(b->p, rest_box(s)), gain)) return false;
  eject(s);
  bool ok = !lack || borrow(s, gain);
  ok = ok && b->total < before && shoal_clusters_moves_satisfy(b, since);
  if (ok) return true;
  s->n_failed++;
  shoal_clusters_rollback(b, since);
  return false;
}

/* Estimates from here on are not tried. */
static int64_t max_estimate(int64_t gain) { return gain + (gain + TOLERANCE - 1) / TOLERANCE; }

/* Can ejecting the set lower the cost if each remaining row then loses at least `loss`? */
static bool may_gain(const move_search *s, int64_t cost, uint32_t n_rest, uint32_t loss) {
  int64_t gain = shoal_clusters_cost(s->b, s->cluster) - shoal_cost_of(s->b, n_rest, loss);
  return s->n_failed < MAX_FAILED && cost < max_estimate(gain);
}

/* Tries to eject the set; rest_box is the box of the other rows, of loss `loss`. */
static bool try_set(move_search *s, int64_t cost, uint32_t n_rest, uint32_t loss) {
  int64_t gain = shoal_clusters_cost(s->b, s->cluster) - shoal_cost_of(s->b, n_rest, loss);
  if (cost >= max_estimate(gain) || !plan(s, &gain)) return false;
  return execute(s, n_rest, gain);
}

/* The same; computes the rest's box. */
static bool try_ejected(move_search *s, int64_t cost, uint32_t n_rest) {
  shoal_packed_box rest = rest_box(s);
  bool any = false;
  for (uint32_t i = 0; i < s->n; i++) {
    if (s->ejected[i]) continue;
    if (!any) shoal_packed_box_start(s->b->p, rest, values_of(s, i));
    else shoal_packed_box_add(s->b->p, rest, values_of(s, i));
    any = true;
  }
  return try_set(s, cost, n_rest, any ? shoal_packed_box_loss(s->b->p, rest) : 0);
}

/* ------------------------------------------------------------ sets of tuples */

static bool eject_single(move_search *s) {
  const shoal_packed_rows *p = s->b->p;
  shoal_packed_box before = prefix_box(s), rest = rest_box(s);
  if (s->n < 2) return false;
  shoal_packed_box_start(p, suffix_box(s, s->n - 1), values_of(s, s->n - 1));
  for (uint32_t i = s->n - 1; i-- > 1;) {
    shoal_packed_box_copy(p, suffix_box(s, i), suffix_box(s, i + 1));
    shoal_packed_box_add(p, suffix_box(s, i), values_of(s, i));
  }
  memset(s->ejected, 0, s->n * sizeof *s->ejected);
  for (uint32_t i = 0; i < s->n; i++) {
    shoal_packed_box_copy(p, rest, i ? before : suffix_box(s, 1));
    if (i && i + 1 < s->n) shoal_packed_box_join(p, rest, suffix_box(s, i + 1));
    if (!i) shoal_packed_box_start(p, before, values_of(s, 0));
    else shoal_packed_box_add(p, before, values_of(s, i));
    uint32_t n_rest = s->b->size[s->cluster] - s->n_rows[i], loss = shoal_packed_box_loss(p, rest);
    if (!may_gain(s, s->estimate[i], n_rest, loss)) continue;
    s->ejected[i] = true;
    if (try_set(s, s->estimate[i], n_rest, loss)) return true;
    s->ejected[i] = false;
  }
  return false;
}

/* Tuple numbers, ascending by their value on an axis. */
static void sort_tuples(const move_search *s, size_t q, uint64_t *order) {
  for (uint32_t i = 0; i < s->n; i++) order[i] = (uint64_t)(uint16_t)values_of(s, i)[q] << 32 | i;
  shoal_sort_u64(order, s->n);
}

/* Ejects one end of a number, value by value. */
static bool eject_end(move_search *s, size_t q, bool low) {
  uint64_t order[MAX_TUPLES];
  if (s->n < 2) return false;
  sort_tuples(s, q, order);
  uint32_t n_out = 0, size = s->b->size[s->cluster];
  int last = values_of(s, (uint32_t)order[low ? s->n - 1 : 0])[q];
  int64_t cost = 0;
  memset(s->ejected, 0, s->n * sizeof *s->ejected);
  for (uint32_t i = 0, cuts = 0; i + 1 < s->n && cuts < MAX_CUTS; i++) {
    uint32_t own = (uint32_t)order[low ? i : s->n - 1 - i];
    int bound = values_of(s, (uint32_t)order[low ? i + 1 : s->n - 2 - i])[q];
    s->ejected[own] = true;
    n_out += s->n_rows[own];
    cost += s->estimate[own];
    if (bound == values_of(s, own)[q]) continue;
    cuts++;
    if (2 * n_out > size || !may_gain(s, cost, 0, 0)) return false; /* more would cost more */
    uint32_t width = shoal_number_loss(&s->b->p->axes[q], low ? bound : last, low ? last : bound);
    if (may_gain(s, cost, size - n_out, width) && try_ejected(s, cost, size - n_out)) return true;
  }
  return false;
}

/*
 * On a tree: follows the label of most rows downwards, while these are at least half of the
 * cluster, and tries to eject all other rows.
 */
static bool eject_minority(move_search *s, size_t q) {
  const shoal_packed_axis *axis = &s->b->p->axes[q];
  uint64_t order[MAX_TUPLES];
  uint32_t size = s->b->size[s->cluster], from = 0, to = s->n;
  sort_tuples(s, q, order);
  for (;;) {
    int lo = (int)(order[from] >> 32), hi = (int)(order[to - 1] >> 32);
    uint32_t loss = shoal_tree_loss(axis, lo, hi), best_from = 0, best_to = 0, most = 0;
    if (!loss) return false;
    for (uint32_t i = from, end; i < to; i = end) { /* children of the common ancestor */
      uint32_t n = 0;
      int first = (int)(order[i] >> 32);
      for (end = i; end < to && shoal_tree_loss(axis, first, (int)(order[end] >> 32)) < loss; end++)
        n += s->n_rows[(uint32_t)order[end]];
      if (n <= most) continue;
      most = n;
      best_from = i;
      best_to = end;
    }
    if (2 * most < size) return false;
    int64_t cost = s->estimate_of_all;
    for (uint32_t i = 0; i < s->n; i++) s->ejected[i] = true;
    for (uint32_t i = best_from; i < best_to; i++) {
      s->ejected[(uint32_t)order[i]] = false;
      cost -= s->estimate[(uint32_t)order[i]];
    }
    from = best_from;
    to = best_to;
    uint32_t own = shoal_tree_loss(axis, (int)(order[from] >> 32), (int)(order[to - 1] >> 32));
    if (may_gain(s, cost, most, own) && try_ejected(s, cost, most)) return true;
  }
}

/* On a set: ejects the rows of one value. */
static bool eject_value(move_search *s, size_t q) {
  uint64_t order[MAX_TUPLES];
  sort_tuples(s, q, order);
  for (uint32_t i = 0, end; i < s->n; i = end) {
    uint32_t n_out = 0;
    int64_t cost = 0;
    memset(s->ejected, 0, s->n * sizeof *s->ejected);
    for (end = i; end < s->n && order[end] >> 32 == order[i] >> 32; end++) {
      uint32_t own = (uint32_t)order[end];
      s->ejected[own] = true;
      n_out += s->n_rows[own];
      cost += s->estimate[own];
    }
    if (end - i == s->n || 2 * n_out > s->b->size[s->cluster]) continue;
    if (may_gain(s, cost, 0, 0) && try_ejected(s, cost, s->b->size[s->cluster] - n_out))
      return true;
  }
  return false;
}

static bool eject_all(move_search *s) {
  for (uint32_t i = 0; i < s->n; i++) s->ejected[i] = true;
  return may_gain(s, s->estimate_of_all, 0, 0) && try_ejected(s, s->estimate_of_all, 0);
}

/* ------------------------------------------------------------ a cluster */

/* Lists the tuples and their cheapest other clusters. False: too many, or no other cluster. */
static bool begin(move_search *s) {
  shoal_clusters *b = s->b; /* cppcheck-suppress ctuuninitvar */
  const shoal_packed_rows *p = b->p;
  s->n = 0;
  s->estimate_of_all = 0;
  for (uint32_t r = b->head[s->cluster]; r != SHOAL_NONE; r = b->next[r]) {
    uint32_t tuple = p->tuple[r], i = b->tuple_index[tuple];
    if (i >= s->n || s->tuple[i] != tuple) {
      if (s->n == MAX_TUPLES) return false;
      i = b->tuple_index[tuple] = s->n++;
      s->tuple[i] = tuple;
      s->row[i] = r;
      s->n_rows[i] = 0;
    }
    s->n_rows[i]++;
  }
  for (uint32_t i = 0; i < s->n; i++) {
    uint32_t c = shoal_clusters_cheapest(b, values_of(s, i), s->cluster), n = s->n_rows[i];
    if (c == SHOAL_NONE) return false;
    s->cheapest[i] = c;
    s->estimate[i] = shoal_cost_of(b, b->size[c] + n, b->joint[c]) - shoal_clusters_cost(b, c);
    s->estimate_of_all += s->estimate[i];
  }
  return true;
}

static bool step(shoal_clusters *b, uint32_t cluster) {
  const shoal_packed_rows *p = b->p;
  move_search s; /* large: not cleared */
  s.b = b;
  s.cluster = cluster;
  s.n_failed = 0;
  if (!b->size[cluster] || (!b->loss[cluster] && !b->cost.square)) return false;
  if (!begin(&s)) return false;
  if (eject_single(&s)) return true;
  shoal_packed_box box = shoal_clusters_box(b, cluster);
  for (size_t q = p->n_numbers; q < p->n_spans; q++)
    if (box.lo[q] < box.hi[q] && eject_minority(&s, q)) return true;
  for (size_t q = 0; q < p->n_numbers; q++)
    if (box.lo[q] < box.hi[q] && (eject_end(&s, q, true) || eject_end(&s, q, false))) return true;
  for (size_t q = p->n_spans; q < p->n_axes; q++)
    if (eject_value(&s, q)) return true;
  if (eject_all(&s)) return true;
  return b->cost.exact_sizes && shoal_clusters_exchange(b, cluster, s.row, s.n);
}

bool shoal_clusters_improve(shoal_clusters *b, uint32_t cluster) {
  int steps = 0;
  while (steps < MAX_STEPS && !shoal_clusters_is_stopped(b) && step(b, cluster)) steps++;
  if (steps < MAX_STEPS) b->tried[cluster] = b->clock;
  return steps > 0;
}
