/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster/flock_gather: the first clusters, from the bottom up. Every tuple starts as a cluster of
 * its own. One that does not fit yet looks for a partner among its neighbours in the flock's order:
 * to join it, or, where the partner has rows to spare, to borrow what it lacks. What loses least
 * for each row that is not settled yet is done first. So rows of dense parts of the table find each
 * other cheaply, and outliers, which cost much wherever they go, are left to the end and to each
 * other.
 */
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "cluster/flock_pair.h"

enum { LOOKED_AT = 4096 };         /* rows of a lender */
static const double LITTLE = 0.05; /* of progress, where there is none */

typedef struct offer {
  double score; /* loss for each row that is settled by it */
  uint32_t cluster;
  uint32_t version;
} offer;

typedef struct gathering {
  shoal_herd *herd;
  shoal_flock_pair pair;
  bool exact;                /* clusters get k rows, not more: what is left over goes on looking */
  uint32_t *before, *behind; /* by cluster: neighbours that are left */
  uint32_t *partner;         /* SHOAL_NIL: none */
  double *score;
  uint32_t *version; /* of the offer that counts */
  uint8_t *fits;
  uint8_t *stale; /* its offer may have become worse: to be looked at again when its turn comes */
  offer *heap;
  size_t n_heap, heap_capacity;
} gathering;

/* ------------------------------------------------------------ a heap of offers */

static bool is_before(const offer *a, const offer *b) {
  if (a->score != b->score) return a->score < b->score;
  return a->cluster < b->cluster;
}

static bool push(gathering *g, offer new) {
  if (!shoal_grow(&g->heap, &g->heap_capacity, g->n_heap + 1, sizeof *g->heap)) return false;
  size_t i = g->n_heap++;
  for (; i && is_before(&new, &g->heap[(i - 1) / 2]); i = (i - 1) / 2)
    g->heap[i] = g->heap[(i - 1) / 2];
  g->heap[i] = new;
  return true;
}

static offer pop(gathering *g) {
  offer top = g->heap[0], last = g->heap[--g->n_heap];
  size_t i = 0;
  for (size_t child; (child = 2 * i + 1) < g->n_heap; i = child) {
    if (child + 1 < g->n_heap && is_before(&g->heap[child + 1], &g->heap[child])) child++;
    if (!is_before(&g->heap[child], &last)) break;
    g->heap[i] = g->heap[child];
  }
  if (g->n_heap) g->heap[i] = last;
  return top;
}

/* ------------------------------------------------------------ partners */

/* How many bits are set; the compiler's own is a call where the machine is not known. */
static uint32_t n_bits(uint64_t set) {
  set -= set >> 1 & UINT64_C(0x5555555555555555);
  set = (set & UINT64_C(0x3333333333333333)) + (set >> 2 & UINT64_C(0x3333333333333333));
  set = (set + (set >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
  return (uint32_t)(set * UINT64_C(0x0101010101010101) >> 56);
}

/*
 * How many rows b, which fits, can lend a so that a has k rows and its counts; 0: it cannot. Sets
 * of more than 64 groups are folded: then it is a guess.
 */
static uint64_t loan_of(const gathering *g, uint32_t a, uint32_t b) {
  const shoal_herd *h = g->herd;
  uint64_t k = h->fit->k, size = h->size[a], loan = size < k ? k - size : 0;
  if (g->exact) return size < k && size <= h->size[b] && size + h->size[b] > k ? k - size : 0;
  if (!g->fits[b] || h->size[b] <= k + loan) return 0;
  for (size_t d = 0; d < h->n_counts; d++) {
    const shoal_variety *x = shoal_herd_variety(h, a, d), *y = shoal_herd_variety(h, b, d);
    uint32_t least = h->fit->counts[d].least;
    if (x->distinct >= least) continue;
    uint64_t spare = (y->distinct > least ? y->groups : y->twice) & ~x->groups;
    uint32_t lacking = least - x->distinct;
    if (n_bits(spare) < lacking) return 0;
    if (lacking > loan) loan = lacking;
  }
  return h->size[b] >= k + loan ? loan : 0;
}

/*
 * The part of the groups that a and b lack which they do not lack together; 1 where they lack none.
 * Sets of more than 64 groups are folded: then it is a guess.
 */
static double progress(const gathering *g, uint32_t a, uint32_t b) {
  const shoal_herd *h = g->herd;
  uint32_t before = 0, after = 0;
  for (size_t d = 0; d < h->n_counts; d++) {
    const shoal_variety *x = shoal_herd_variety(h, a, d), *y = shoal_herd_variety(h, b, d);
    uint32_t least = h->fit->counts[d].least, own = x->distinct < least ? least - x->distinct : 0;
    uint32_t others = y->distinct < least ? least - y->distinct : 0;
    before += own + (g->fits[b] ? 0 : others);
    if (!own || !others) continue;
    uint32_t both = n_bits(x->groups | y->groups);
    after += both < least ? least - both : 0;
  }
  return before > after ? (double)(before - after) / before : before ? LITTLE : 1;
}

/*
 * The loss, for each row settled, of bringing a and b together; not exact from `limit` on. A row
 * of a may lose `limit` more than before, one of b that is not settled too: where each loses more
 * than the worse of them so may, nothing else need be looked at, and that is most often so.
 */
static double score_of(const gathering *g, uint32_t a, uint32_t b, double limit) {
  const shoal_herd *h = g->herd;
  uint32_t worse = h->loss[a] > h->loss[b] ? h->loss[a] : h->loss[b];
  double most = limit + worse;
  uint32_t bound = most < SHOAL_MOST_LOSS ? (uint32_t)most + 1 : UINT32_MAX;
  uint32_t loss = shoal_flock_pair_loss(&g->pair, a, b, bound);
  if (loss >= most) return limit;
  double joint = loss;
  if (g->exact && h->size[a] > h->size[b]) {
    uint32_t swap = a;
    a = b;
    b = swap;
  }
  double own = (double)shoal_herd_cost(h, a), size = h->size[a];
  double rows = (double)loan_of(g, a, b);
  if (rows > 0) {
    double lent = rows * h->loss[b], all = size + rows;
    return (all * joint - own - lent) / size;
  }
  double other = h->size[b], its = (double)shoal_herd_cost(h, b);
  double settled = size + (g->fits[b] ? 0 : other); /* at most all of it */
  double score = ((size + other) * joint - own - its) / settled;
  return score >= limit ? limit : score / progress(g, a, b);
}

static bool offer_again(gathering *g, uint32_t a, uint32_t partner, double score) {
  g->partner[a] = partner;
  g->score[a] = score;
  g->stale[a] = 0;
  return push(g, (offer){score, a, ++g->version[a]});
}

static bool look_around(gathering *g, uint32_t a) {
  uint32_t best = SHOAL_NIL, ahead = a, back = a;
  double least = INFINITY;
  for (uint32_t step = 0; step < g->herd->reach; step++) {
    ahead = ahead == SHOAL_NIL ? SHOAL_NIL : g->behind[ahead];
    back = back == SHOAL_NIL ? SHOAL_NIL : g->before[back];
    const uint32_t both[] = {back, ahead};
    for (int i = 0; i < 2; i++) {
      if (both[i] == SHOAL_NIL) continue;
      double score = score_of(g, a, both[i], least);
      if (score >= least) continue;
      best = both[i];
      least = score;
    }
  }
  g->partner[a] = best;
  g->stale[a] = 0;
  return best == SHOAL_NIL || offer_again(g, a, best, least);
}

/* A cluster that may gain by a partner that has changed looks at it again. */
static bool reconsider(gathering *g, uint32_t a, uint32_t changed) {
  if (g->fits[a]) return true;
  if (g->partner[a] == SHOAL_NIL) return look_around(g, a);
  double score = score_of(g, a, changed, g->score[a]);
  if (score < g->score[a]) return offer_again(g, a, changed, score);
  if (g->partner[a] == changed) g->stale[a] = 1;
  return true;
}

/* All that have the cluster within reach look at it again. */
static bool tell_neighbours(gathering *g, uint32_t changed) {
  uint32_t ahead = changed, back = changed;
  for (uint32_t step = 0; step < g->herd->reach; step++) {
    if (ahead != SHOAL_NIL) ahead = g->behind[ahead];
    if (back != SHOAL_NIL) back = g->before[back];
    if (ahead != SHOAL_NIL && !reconsider(g, ahead, changed)) return false;
    if (back != SHOAL_NIL && !reconsider(g, back, changed)) return false;
  }
  return true;
}

/*
 * What two that both look for a partner are to each other is the same from either side: it is
 * computed once. `least` and `best` are a's so far.
 */
static bool meet(gathering *g, uint32_t a, uint32_t b, double *least, uint32_t *best) {
  if (g->fits[a]) return reconsider(g, b, a);
  if (!g->fits[b] && g->partner[b] == SHOAL_NIL && !look_around(g, b)) return false;
  bool both = !g->fits[b] && g->partner[b] != SHOAL_NIL;
  double score = score_of(g, a, b, both && g->score[b] > *least ? g->score[b] : *least);
  if (score < *least) {
    *least = score;
    *best = b;
  }
  if (!both) return true;
  if (score < g->score[b]) return offer_again(g, b, a, score);
  if (g->partner[b] == a) g->stale[b] = 1;
  return true;
}

/* A cluster that has changed looks around, and all within reach look at it again. */
static bool meet_neighbours(gathering *g, uint32_t a) {
  uint32_t best = SHOAL_NIL, ahead = a, back = a;
  double least = INFINITY;
  for (uint32_t step = 0; step < g->herd->reach; step++) {
    if (ahead != SHOAL_NIL) ahead = g->behind[ahead];
    if (back != SHOAL_NIL) back = g->before[back];
    if (ahead != SHOAL_NIL && !meet(g, a, ahead, &least, &best)) return false;
    if (back != SHOAL_NIL && !meet(g, a, back, &least, &best)) return false;
  }
  if (g->fits[a]) return true;
  g->partner[a] = best;
  g->stale[a] = 0;
  return best == SHOAL_NIL || offer_again(g, a, best, least);
}

/* A cluster is gone: those that wanted it will look for another partner. */
static void forget(gathering *g, uint32_t gone) {
  uint32_t ahead = g->behind[gone], back = g->before[gone];
  for (uint32_t step = 0; step < g->herd->reach; step++) {
    if (ahead != SHOAL_NIL) {
      if (g->partner[ahead] == gone) g->stale[ahead] = 1;
      ahead = g->behind[ahead];
    }
    if (back != SHOAL_NIL) {
      if (g->partner[back] == gone) g->stale[back] = 1;
      back = g->before[back];
    }
  }
}

/* ------------------------------------------------------------ joining and lending */

static void drop(gathering *g, uint32_t a) {
  uint32_t before = g->before[a], behind = g->behind[a];
  if (before != SHOAL_NIL) g->behind[before] = behind;
  if (behind != SHOAL_NIL) g->before[behind] = before;
}

static bool join(gathering *g, uint32_t a, uint32_t b) {
  shoal_herd *h = g->herd;
  if (h->size[a] > h->size[b]) { /* the smaller one moves */
    uint32_t swap = a;
    a = b;
    b = swap;
  }
  shoal_herd_absorb(h, a, b);
  shoal_flock_pair_note(&g->pair, b);
  drop(g, a);
  g->fits[b] = shoal_herd_fits(h, b);
  g->version[a]++;
  g->version[b]++;
  forget(g, a);
  if (g->exact && g->fits[b]) {
    forget(g, b);
    drop(g, b);
    return true;
  }
  return meet_neighbours(g, b);
}

/* How many groups that a lacks a row of b has. */
static uint32_t adds_groups(const shoal_herd *h, uint32_t a, uint32_t row) {
  uint32_t adds = 0;
  for (size_t d = 0; d < h->n_counts; d++)
    if (shoal_herd_variety(h, a, d)->distinct < h->fit->counts[d].least)
      adds += h->group[d][row] != SHOAL_NO_GROUP && !shoal_herd_has(h, a, d, h->group[d][row], 1);
  return adds;
}

/*
 * The row of b that a needs most: with groups that a lacks, at least `most` of them; of equals, the
 * one that costs a least. `spared`: only one that b can do without.
 */
static uint32_t choose_row(const shoal_herd *h, uint32_t a, uint32_t b, uint32_t most,
                           bool spared) {
  uint32_t best = SHOAL_NIL, looked = 0, last = SHOAL_NIL;
  uint64_t least = UINT64_MAX;
  for (uint32_t r = h->head[b]; r != SHOAL_NIL && looked < LOOKED_AT; r = h->next[r], looked++) {
    if (!h->n_counts && h->tuple[r] == last) continue;
    last = h->tuple[r];
    uint32_t adds = adds_groups(h, a, r);
    if (adds < most || (spared && !shoal_herd_spares(h, r))) continue;
    if (adds > most) least = UINT64_MAX;
    uint64_t cost = shoal_herd_join_cost(h, a, shoal_herd_places(h, r), least);
    if (cost >= least) continue;
    best = r;
    most = adds;
    least = cost;
  }
  return best;
}

/* False where the loan does not make a fit, or spoils b: then nothing has changed. */
static bool borrow(gathering *g, uint32_t a, uint32_t b) {
  shoal_herd *h = g->herd;
  shoal_trial_begin(h);
  while (!shoal_herd_fits(h, a)) {
    shoal_trial_settle(h);
    uint32_t row = choose_row(h, a, b, h->size[a] < h->fit->k ? 0 : 1, true);
    if (row == SHOAL_NIL || !shoal_trial_move(h, row, a)) break;
  }
  shoal_trial_settle(h);
  if (!shoal_herd_fits(h, a) || !shoal_herd_fits(h, b) || h->failed) {
    shoal_trial_undo(h);
    return false;
  }
  shoal_trial_keep(h);
  shoal_flock_pair_note(&g->pair, a);
  shoal_flock_pair_note(&g->pair, b);
  g->fits[a] = 1;
  g->version[a]++;
  return true;
}

/* a is filled up to k rows from b, and done; b goes on. False where that does not make a fit. */
static bool fill_up(gathering *g, uint32_t a, uint32_t b) {
  shoal_herd *h = g->herd;
  shoal_trial_begin(h);
  while (h->size[a] < h->fit->k) {
    uint32_t row = choose_row(h, a, b, 0, false);
    if (row == SHOAL_NIL || !shoal_trial_move(h, row, a)) break;
  }
  if (!shoal_herd_fits(h, a) || h->failed) {
    shoal_trial_undo(h);
    return false;
  }
  shoal_trial_keep(h);
  shoal_flock_pair_note(&g->pair, a);
  shoal_flock_pair_note(&g->pair, b);
  g->fits[a] = 1;
  g->version[a]++;
  forget(g, a);
  drop(g, a);
  g->version[b]++;
  return true;
}

/* ------------------------------------------------------------ all together */

static void note_offer(gathering *g, uint32_t a, uint32_t partner, double score) {
  if (g->fits[a] || score >= g->score[a]) return;
  g->partner[a] = partner;
  g->score[a] = score;
}

/* At the start: a and those behind it, within reach, look at each other. */
static void note_ahead(gathering *g, uint32_t a) {
  uint32_t b = g->behind[a];
  if (g->exact && g->fits[a]) return; /* it is in no list */
  for (uint32_t step = 0; step < g->herd->reach && b != SHOAL_NIL; step++, b = g->behind[b]) {
    if (g->fits[a] && g->fits[b]) continue;
    bool alike = g->fits[a] == g->fits[b];
    double limit = alike && g->score[a] > g->score[b] ? g->score[a] : g->score[b];
    if (g->fits[b]) limit = g->score[a];
    double score = g->fits[a] ? score_of(g, b, a, limit) : score_of(g, a, b, limit);
    note_offer(g, a, b, score);
    note_offer(g, b, a, score);
  }
}

static bool start(gathering *g) {
  shoal_herd *h = g->herd;
  uint32_t slots = h->n_slots;
  g->before = shoal_alloc(slots, sizeof *g->before);
  g->behind = shoal_alloc(slots, sizeof *g->behind);
  g->partner = shoal_alloc(slots, sizeof *g->partner);
  g->score = shoal_alloc(slots, sizeof *g->score);
  g->version = shoal_alloc_zero(slots, sizeof *g->version);
  g->fits = shoal_alloc_zero(slots, sizeof *g->fits);
  g->stale = shoal_alloc_zero(slots, sizeof *g->stale);
  if (!g->before || !g->behind || !g->partner || !g->score || !g->version || !g->fits || !g->stale)
    return false;
  if (!shoal_flock_pair_init(&g->pair, h)) return false;
  if (h->n_free == h->n_slots) shoal_herd_make_tuples(h);
  shoal_herd_arrange(h);
  uint32_t last = SHOAL_NIL;
  for (uint32_t i = 0; i < h->n_at; i++) {
    uint32_t c = h->at[i];
    shoal_flock_pair_note(&g->pair, c);
    g->partner[c] = SHOAL_NIL;
    g->score[c] = INFINITY;
    g->fits[c] = shoal_herd_fits(h, c);
    if (g->exact && g->fits[c]) continue;
    g->before[c] = last;
    g->behind[c] = SHOAL_NIL;
    if (last != SHOAL_NIL) g->behind[last] = c;
    last = c;
  }
  for (uint32_t i = 0; i < h->n_at; i++) note_ahead(g, h->at[i]);
  for (uint32_t i = 0; i < h->n_at; i++) {
    uint32_t c = h->at[i];
    if (g->partner[c] != SHOAL_NIL && !offer_again(g, c, g->partner[c], g->score[c])) return false;
  }
  return true;
}

static bool work(gathering *g) {
  while (g->n_heap) {
    offer best = pop(g);
    uint32_t a = best.cluster, b = g->partner[a];
    if (best.version != g->version[a]) continue;
    if (g->stale[a]) {
      if (!look_around(g, a)) return false;
      continue;
    }
    if (g->exact && g->herd->size[a] > g->herd->size[b]) {
      a = b;
      b = best.cluster;
    }
    if (loan_of(g, a, b) && (g->exact ? fill_up(g, a, b) : borrow(g, a, b))) {
      if (!tell_neighbours(g, b) || !(g->exact ? look_around(g, b) : tell_neighbours(g, a)))
        return false;
    } else if (g->herd->failed || !join(g, a, b)) {
      return false;
    }
  }
  return true;
}

static bool gather(shoal_herd *herd, bool exact) {
  gathering g = {.herd = herd, .exact = exact};
  bool ok = start(&g) && work(&g) && !herd->failed;
  herd->failed = !ok;
  shoal_flock_pair_reset(&g.pair);
  free(g.before);
  free(g.behind);
  free(g.partner);
  free(g.score);
  free(g.version);
  free(g.fits);
  free(g.stale);
  free(g.heap);
  return ok;
}

bool shoal_flock_gather(shoal_herd *herd) { return gather(herd, false); }

bool shoal_flock_gather_exact(shoal_herd *herd) { return gather(herd, true); }
