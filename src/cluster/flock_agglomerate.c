/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster/flock_agglomerate: clusters from the bottom up. Every cluster that does not satisfy the
 * requirements keeps its best partner; the pair with the lowest score goes first. The score is the
 * loss added for each row that the step settles. A partner that satisfies the requirements already
 * lends the rows that are lacking, if it can spare them, or takes the whole cluster in.
 *
 * Most partners are ruled out by a bound, computed for all clusters at once. With J the loss of a
 * row in both boxes united, La and Lb the losses now: uniting two open clusters adds at least
 * J - max(La, Lb) for each row; joining a satisfied one adds at least J - La. (Haste lowers some
 * scores further, so now and then a slightly better partner is missed.)
 */
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "cluster/flock_clusters.h"

enum { STRIDE = SHOAL_STRIDE };
static const float NO_PROGRESS = 0.05F; /* counts as progress where there is none */
static const float LAST_RESORT = 1e9F;  /* added where a cluster would be lost that is wanted */
static const float HASTE = 0.45F; /* discount for up to k rows beyond k, if both then satisfy */

void shoal_agglomeration_reset(shoal_agglomeration *g) {
  void *const owned[] = {g->score,     g->partner,    g->version_then, g->version,
                         g->satisfied, g->lacking,    g->noise,        g->open.loss,
                         g->open.bar,  g->open.score, g->open.bound};
  for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) free(owned[i]);
  memset(g, 0, sizeof *g);
}

bool shoal_agglomeration_init(shoal_agglomeration *g, shoal_clusters *b) {
  size_t room = b->room;
  *g = (shoal_agglomeration){.b = b,
                             .score = shoal_alloc(room, sizeof *g->score),
                             .partner = shoal_alloc(room, sizeof *g->partner),
                             .version_then = shoal_alloc(room, sizeof *g->version_then),
                             .version = shoal_alloc_zero(room, sizeof *g->version),
                             .satisfied = shoal_alloc(room, sizeof *g->satisfied),
                             .lacking = shoal_alloc(room, sizeof *g->lacking),
                             .noise = shoal_alloc(room, sizeof *g->noise),
                             .open = {.loss = shoal_alloc(room, sizeof *g->open.loss),
                                      .bar = shoal_alloc(room, sizeof *g->open.bar),
                                      .score = shoal_alloc(room, sizeof *g->open.score),
                                      .bound = shoal_alloc(room, sizeof *g->open.bound)}};
  if (g->score && g->partner && g->version_then && g->version && g->satisfied && g->lacking &&
      g->noise && g->open.loss && g->open.bar && g->open.score && g->open.bound)
    return true;
  shoal_agglomeration_reset(g);
  return false;
}

/* ------------------------------------------------------------ what clusters lack */

static uint32_t lacks(const shoal_clusters *b, uint32_t c, size_t d) {
  uint32_t distinct = shoal_clusters_groups(b, c, d)->distinct, min = b->p->fit->counts[d].least;
  return distinct < min ? min - distinct : 0;
}

static void close_slot(shoal_agglomeration *g, uint32_t c) {
  g->score[c] = INFINITY;
  g->open.score[c] = 0;
  g->open.bar[c] = UINT16_MAX;
  g->open.loss[c] = 0;
  g->satisfied[c] = false;
}

/* After a cluster has changed. */
static void judge(shoal_agglomeration *g, uint32_t c) {
  shoal_clusters *b = g->b;
  g->version[c]++;
  if (!b->size[c]) {
    close_slot(g, c);
    return;
  }
  g->lacking[c] = 0;
  for (size_t d = 0; d < b->p->n_counts; d++) g->lacking[c] += lacks(b, c, d);
  g->satisfied[c] = !g->lacking[c] && shoal_clusters_satisfies(b, c);
  g->open.loss[c] = g->satisfied[c] ? 0 : (uint16_t)b->loss[c];
  g->open.bar[c] = 0;
  g->score[c] = INFINITY;
  g->open.score[c] = g->satisfied[c] ? 0 : UINT16_MAX;
  g->partner[c] = SHOAL_NIL;
}

/* May b lend rows at all: it satisfies the requirements, or sizes are to be exact? */
static bool may_lend(const shoal_agglomeration *g, uint32_t a, uint32_t c) {
  const shoal_clusters *b = g->b;
  if (g->satisfied[c]) return true;
  return b->cost.exact_sizes && b->size[a] + b->size[c] > b->p->fit->k;
}

/* How many rows c can lend a so that a has its counts; 0: it cannot. */
static uint32_t rows_to_borrow(const shoal_agglomeration *g, uint32_t a, uint32_t c) {
  const shoal_clusters *b = g->b;
  uint64_t k = b->p->fit->k;
  uint32_t n = b->size[a] < k ? (uint32_t)k - b->size[a] : 0;
  if (!may_lend(g, a, c)) return 0;
  for (size_t d = 0; d < b->p->n_counts; d++) {
    uint32_t lack = lacks(b, a, d);
    if (!lack) continue;
    const shoal_group_set *own = shoal_clusters_groups(b, a, d),
                          *other = shoal_clusters_groups(b, c, d);
    bool rich = !g->satisfied[c] || other->distinct > b->p->fit->counts[d].least;
    if (shoal_n_bits((rich ? other->once : other->twice) & ~own->once) < lack) return 0;
    if (lack > n) n = lack;
  }
  return b->size[c] >= (g->satisfied[c] ? k : 1) + n ? n : 0;
}

/* Which part of the distinct values that a and c lack they do not lack together. */
static float progress(const shoal_agglomeration *g, uint32_t a, uint32_t c) {
  const shoal_clusters *b = g->b;
  uint32_t before = g->lacking[a] + g->lacking[c], after = 0;
  for (size_t d = 0; d < b->p->n_counts; d++) {
    if (!lacks(b, a, d) || !lacks(b, c, d)) continue;
    const shoal_group_set *x = shoal_clusters_groups(b, a, d), *y = shoal_clusters_groups(b, c, d);
    uint32_t distinct = shoal_n_bits(x->once | y->once), min = b->p->fit->counts[d].least;
    if (distinct < min) after += min - distinct;
  }
  return before > after ? (float)(before - after) / (float)before : NO_PROGRESS;
}

/* The score of a, which is open, with c; a score of `most` or more need not be exact. */
static float score_of(const shoal_agglomeration *g, uint32_t a, uint32_t c, float most) {
  const shoal_clusters *b = g->b;
  float size = (float)b->size[a], joint = (float)b->joint[c], k = (float)b->p->fit->k;
  float noise = g->noise[a] + g->noise[c], cost = size * (float)b->loss[a];
  uint32_t borrowed = rows_to_borrow(g, a, c);
  if (g->satisfied[c] || borrowed) {
    float rows = borrowed ? (float)borrowed : (float)b->size[c];
    float settled = g->satisfied[c] ? size : size + rows;
    float score = ((size + rows) * joint - cost - rows * (float)b->loss[c]) / settled * noise;
    return b->cost.exact_sizes && !borrowed ? score + LAST_RESORT : score;
  }
  float rows = (float)b->size[c], all = size + rows;
  float score = (all * joint - cost - rows * (float)b->loss[c]) / all * noise;
  if (all > k && !(g->lacking[a] && g->lacking[c]))
    score *= all < 2 * k ? 1 - HASTE * (all - k) / k : 1 - HASTE;
  if (score >= most || !g->lacking[a] || !g->lacking[c]) return score;
  return score / progress(g, a, c);
}

/* ------------------------------------------------------------ partners */

static uint16_t round_up(float score) {
  if (!(score < (float)UINT16_MAX)) return UINT16_MAX;
  uint16_t whole = (uint16_t)score;
  return (uint16_t)(whole + ((float)whole < score));
}

static void set_partner(shoal_agglomeration *g, uint32_t a, uint32_t partner, float score) {
  g->score[a] = score;
  g->open.score[a] = round_up(score);
  g->partner[a] = partner;
  g->version_then[a] = partner == SHOAL_NIL ? 0 : g->version[partner];
}

/* a, which is open, looks for its best partner; `tells`: others consider a as well. */
static void find_partner(shoal_agglomeration *g, uint32_t a, bool tells) {
  shoal_clusters *b = g->b;
  shoal_clusters_compare(b, shoal_clusters_box(b, a));
  g->open.bar[a] = UINT16_MAX;
  uint32_t best = shoal_open_bounds(b, &g->open, g->open.loss[a]);
  g->open.bar[a] = 0;
  if (best == SHOAL_NIL) {
    set_partner(g, a, SHOAL_NIL, INFINITY);
    return;
  }
  float score = score_of(g, a, best, INFINITY);
  for (uint32_t from = 0; from < b->n; from += STRIDE) {
    if (!shoal_open_any_below(b, &g->open, from, round_up(score), tells)) continue;
    for (uint32_t c = from; c < from + STRIDE; c++) {
      bool hears = tells && !g->satisfied[c];
      float most = hears && g->score[c] > score ? g->score[c] : score;
      if (g->open.bound[c] == UINT16_MAX || (float)g->open.bound[c] >= most) continue;
      float own = score_of(g, a, c, most);
      if (own < score) {
        score = own;
        best = c;
      }
      if (hears && own < g->score[c]) set_partner(g, c, a, own);
    }
  }
  set_partner(g, a, best, score);
}

/* Open clusters consider a, which satisfies the requirements. */
static void tell_open(shoal_agglomeration *g, uint32_t a) {
  shoal_clusters *b = g->b;
  shoal_clusters_compare(b, shoal_clusters_box(b, a));
  uint16_t joint_of_a = b->joint[a];
  g->open.bar[a] = UINT16_MAX;
  (void)shoal_open_bounds(b, &g->open, 0);
  g->open.bar[a] = 0;
  for (uint32_t from = 0; from < b->n; from += STRIDE) {
    if (!shoal_open_any_below(b, &g->open, from, 0, true)) continue;
    for (uint32_t c = from; c < from + STRIDE; c++) {
      if (g->open.bound[c] >= g->open.score[c]) continue;
      b->joint[a] = b->joint[c]; /* the loss of both, whichever asks */
      float own = score_of(g, c, a, g->score[c]);
      if (own < g->score[c]) set_partner(g, c, a, own);
    }
  }
  b->joint[a] = joint_of_a;
}

/* ------------------------------------------------------------ borrowing */

/* The row of c that a needs and that loses least in a's box; SHOAL_NIL: none. */
static uint32_t choose_row(const shoal_agglomeration *g, uint32_t a, uint32_t c) {
  const shoal_clusters *b = g->b;
  size_t lack = shoal_clusters_lacking(b, a);
  uint32_t best = SHOAL_NIL, least = UINT32_MAX, tuple = SHOAL_NIL, loss = 0;
  for (uint32_t r = b->head[c]; r != SHOAL_NIL; r = b->next[r]) {
    if (b->p->tuple[r] != tuple) {
      tuple = b->p->tuple[r];
      loss = shoal_box_loss_with(b->p, shoal_clusters_box(b, a), shoal_packed_values(b->p, tuple));
    }
    if (loss >= least) continue;
    if (lack < b->p->n_counts &&
        (b->p->group[lack][r] == SHOAL_NO_GROUP || shoal_clusters_has_group(b, a, lack, r, 1)))
      continue;
    if (g->satisfied[c] && !shoal_clusters_can_spare(b, r)) continue;
    least = loss;
    best = r;
  }
  return best;
}

/* a borrows rows of c until it has its counts; false: nothing has changed. */
static bool borrow(shoal_agglomeration *g, uint32_t a, uint32_t c) {
  shoal_clusters *b = g->b;
  bool lender_was_satisfied = g->satisfied[c];
  b->n_moved = 0;
  while (!shoal_clusters_has_counts(b, a)) {
    uint32_t row = choose_row(g, a, c);
    if (row == SHOAL_NIL || b->size[c] == 1) {
      shoal_clusters_rollback(b, 0);
      return false;
    }
    shoal_clusters_move(b, row, a);
    shoal_clusters_refresh(b, c);
    if (shoal_clusters_is_stopped(b)) return true;
  }
  if (b->p->fit->n_others && (!shoal_clusters_satisfies(b, a) ||
                              (lender_was_satisfied && !shoal_clusters_satisfies(b, c)))) {
    shoal_clusters_rollback(b, 0);
    return false;
  }
  return true;
}

/* ------------------------------------------------------------ agglomerating */

/* A cluster that has changed looks for a partner, or offers itself as one. */
static void renew(shoal_agglomeration *g, uint32_t c, bool tells) {
  if (g->satisfied[c]) tell_open(g, c);
  else find_partner(g, c, tells);
}

static void start(shoal_agglomeration *g, float noise) {
  shoal_clusters *b = g->b;
  for (uint32_t c = b->n; c < (b->n + STRIDE - 1) / STRIDE * STRIDE; c++) close_slot(g, c);
  for (uint32_t c = 0; c < b->n; c++) {
    g->noise[c] = 0.5F + noise * (float)shoal_clusters_random(b, 1 << 24) * 0x1p-24F;
    judge(g, c);
  }
  for (uint32_t c = 0; c < b->n && !shoal_clusters_is_stopped(b); c++)
    if (b->size[c] && !g->satisfied[c]) find_partner(g, c, false);
}

static void step(shoal_agglomeration *g, uint32_t a) {
  uint32_t c = g->partner[a];
  if (!g->b->size[c] || g->version_then[a] != g->version[c]) {
    find_partner(g, a, false);
    return;
  }
  if (rows_to_borrow(g, a, c) && borrow(g, a, c)) {
    judge(g, a);
    judge(g, c);
    renew(g, c, true);
    renew(g, a, true);
    return;
  }
  shoal_clusters_merge(g->b, a, c);
  judge(g, a);
  judge(g, c);
  renew(g, c, true);
}

bool shoal_agglomerate(shoal_agglomeration *g, float noise) {
  shoal_clusters *b = g->b;
  start(g, noise);
  for (uint32_t a;
       (a = shoal_open_lowest(b, g->score)) != SHOAL_NIL && !shoal_clusters_is_stopped(b);)
    step(g, a);
  for (uint32_t c = 0; c < b->n; c++)
    if (b->size[c] && !g->satisfied[c]) return false;
  return true;
}
