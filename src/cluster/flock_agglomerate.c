/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster/flock_agglomerate: clusters from the bottom up. A cluster is open while it does not
 * satisfy the requirements. Every open cluster stores its best partner; the pair with the lowest
 * score is merged first. The score is the added loss per row of open clusters. A partner that
 * satisfies the requirements donates the rows that are lacking, if it has more than it needs;
 * otherwise it absorbs the whole cluster.
 *
 * Most partners are excluded by a bound, computed for all clusters at once. With J the loss of a
 * row in both boxes joined, La and Lb the losses now: merging two open clusters adds at least J -
 * max(La, Lb) per row; joining a satisfied one adds at least J - La. (OVERSHOOT_DISCOUNT lowers
 * some scores below the bound, so a slightly better partner is sometimes missed.)
 */
#include <math.h>

#include "cluster/flock_clusters.h"

enum { STRIDE = SHOAL_STRIDE };
static const float NO_PROGRESS = 0.05F; /* if a merge makes no progress */
static const float LAST_RESORT = 1e9F;  /* added if exact sizes are wanted and a cluster is lost */
static const float OVERSHOOT_DISCOUNT = 0.45F; /* at k rows beyond k */

void shoal_agglomeration_reset(shoal_agglomeration *g) { shoal_arena_reset(&g->arena); }

bool shoal_agglomeration_init(shoal_agglomeration *g, shoal_clusters *b) {
  size_t room = b->room;
  *g = (shoal_agglomeration){.b = b};
  if (SHOAL_ARENA_ARRAY(&g->arena, g->score, room) &&
      SHOAL_ARENA_ARRAY(&g->arena, g->partner, room) &&
      SHOAL_ARENA_ARRAY(&g->arena, g->version_then, room) &&
      SHOAL_ARENA_ZEROED(&g->arena, g->version, room) &&
      SHOAL_ARENA_ARRAY(&g->arena, g->satisfied, room) &&
      SHOAL_ARENA_ARRAY(&g->arena, g->lacking, room) &&
      SHOAL_ARENA_ARRAY(&g->arena, g->noise, room) &&
      SHOAL_ARENA_ARRAY(&g->arena, g->open.loss, room) &&
      SHOAL_ARENA_ARRAY(&g->arena, g->open.bar, room) &&
      SHOAL_ARENA_ARRAY(&g->arena, g->open.score, room) &&
      SHOAL_ARENA_ARRAY(&g->arena, g->open.bound, room))
    return true;
  shoal_agglomeration_reset(g);
  return false;
}

/* ------------------------------------------------------------ scores */

static uint32_t lacks(const shoal_clusters *b, uint32_t c, size_t d) {
  uint32_t distinct = shoal_clusters_groups(b, c, d)->distinct,
           min = b->p->required->counts[d].min_distinct;
  return distinct < min ? min - distinct : 0;
}

static void close_slot(shoal_agglomeration *g, uint32_t c) {
  g->score[c] = INFINITY;
  g->open.score[c] = 0;
  g->open.bar[c] = UINT16_MAX;
  g->open.loss[c] = 0;
  g->satisfied[c] = false;
}

/* Computes whether a cluster that has changed is open, and what it lacks. */
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
  g->partner[c] = SHOAL_NONE;
}

/* May c donate rows: it satisfies the requirements, or sizes have to be exact? */
static bool may_donate(const shoal_agglomeration *g, uint32_t a, uint32_t c) {
  const shoal_clusters *b = g->b;
  if (g->satisfied[c]) return true;
  return b->cost.exact_sizes && b->size[a] + b->size[c] > b->p->required->k;
}

/* The rows of c that a needs to have its counts; 0: c cannot donate them. */
static uint32_t rows_to_borrow(const shoal_agglomeration *g, uint32_t a, uint32_t c) {
  const shoal_clusters *b = g->b;
  uint64_t k = b->p->required->k;
  uint32_t n = b->size[a] < k ? (uint32_t)k - b->size[a] : 0;
  if (!may_donate(g, a, c)) return 0;
  for (size_t d = 0; d < b->p->n_counts; d++) {
    uint32_t lack = lacks(b, a, d);
    if (!lack) continue;
    const shoal_group_set *own = shoal_clusters_groups(b, a, d),
                          *other = shoal_clusters_groups(b, c, d);
    bool any = !g->satisfied[c] || other->distinct > b->p->required->counts[d].min_distinct;
    if (shoal_n_bits((any ? other->once : other->twice) & ~own->once) < lack) return 0;
    if (lack > n) n = lack;
  }
  return b->size[c] >= (g->satisfied[c] ? k : 1) + n ? n : 0;
}

/* The fraction of the distinct values lacking in a and c that their union has. */
static float progress(const shoal_agglomeration *g, uint32_t a, uint32_t c) {
  const shoal_clusters *b = g->b;
  uint32_t before = g->lacking[a] + g->lacking[c], after = 0;
  for (size_t d = 0; d < b->p->n_counts; d++) {
    if (!lacks(b, a, d) || !lacks(b, c, d)) continue;
    const shoal_group_set *x = shoal_clusters_groups(b, a, d), *y = shoal_clusters_groups(b, c, d);
    uint32_t distinct = shoal_n_bits(x->once | y->once),
             min = b->p->required->counts[d].min_distinct;
    if (distinct < min) after += min - distinct;
  }
  return before > after ? (float)(before - after) / (float)before : NO_PROGRESS;
}

/* The score of a, which is open, with c; need not be exact from `max` on. */
static float score_of(const shoal_agglomeration *g, uint32_t a, uint32_t c, float max) {
  const shoal_clusters *b = g->b;
  float size = (float)b->size[a], joint = (float)b->joint[c], k = (float)b->p->required->k;
  float noise = g->noise[a] + g->noise[c], cost = size * (float)b->loss[a];
  uint32_t borrowed = rows_to_borrow(g, a, c);
  if (g->satisfied[c] || borrowed) {
    float rows = borrowed ? (float)borrowed : (float)b->size[c];
    float completed = g->satisfied[c] ? size : size + rows;
    float score = ((size + rows) * joint - cost - rows * (float)b->loss[c]) / completed * noise;
    return b->cost.exact_sizes && !borrowed ? score + LAST_RESORT : score;
  }
  float rows = (float)b->size[c], all = size + rows;
  float score = (all * joint - cost - rows * (float)b->loss[c]) / all * noise;
  if (all > k && !(g->lacking[a] && g->lacking[c]))
    score *= all < 2 * k ? 1 - OVERSHOOT_DISCOUNT * (all - k) / k : 1 - OVERSHOOT_DISCOUNT;
  if (score >= max || !g->lacking[a] || !g->lacking[c]) return score;
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
  g->version_then[a] = partner == SHOAL_NONE ? 0 : g->version[partner];
}

/* Finds the best partner of a, which is open; `mutual`: other open clusters consider a as well. */
static void find_partner(shoal_agglomeration *g, uint32_t a, bool mutual) {
  shoal_clusters *b = g->b;
  shoal_clusters_compare(b, shoal_clusters_box(b, a));
  g->open.bar[a] = UINT16_MAX;
  uint32_t best = shoal_open_bounds(b, &g->open, g->open.loss[a]);
  g->open.bar[a] = 0;
  if (best == SHOAL_NONE) {
    set_partner(g, a, SHOAL_NONE, INFINITY);
    return;
  }
  float score = score_of(g, a, best, INFINITY);
  for (uint32_t from = 0; from < b->n; from += STRIDE) {
    if (!shoal_open_any_below(b, &g->open, from, round_up(score), mutual)) continue;
    for (uint32_t c = from; c < from + STRIDE; c++) {
      bool considers = mutual && !g->satisfied[c];
      float max = considers && g->score[c] > score ? g->score[c] : score;
      if (g->open.bound[c] == UINT16_MAX || (float)g->open.bound[c] >= max) continue;
      float own = score_of(g, a, c, max);
      if (own < score) {
        score = own;
        best = c;
      }
      if (considers && own < g->score[c]) set_partner(g, c, a, own);
    }
  }
  set_partner(g, a, best, score);
}

/* Open clusters consider a, which satisfies the requirements, as a partner. */
static void offer_to_open(shoal_agglomeration *g, uint32_t a) {
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
      b->joint[a] = b->joint[c]; /* the joint loss is symmetric */
      float own = score_of(g, c, a, g->score[c]);
      if (own < g->score[c]) set_partner(g, c, a, own);
    }
  }
  b->joint[a] = joint_of_a;
}

/* ------------------------------------------------------------ borrowing */

/* The row of c that a needs and that adds least loss; SHOAL_NONE: none. */
static uint32_t choose_row(const shoal_agglomeration *g, uint32_t a, uint32_t c) {
  const shoal_clusters *b = g->b;
  size_t lack = shoal_clusters_lacking(b, a);
  uint32_t best = SHOAL_NONE, least = UINT32_MAX, tuple = SHOAL_NONE, loss = 0;
  for (uint32_t r = b->head[c]; r != SHOAL_NONE; r = b->next[r]) {
    if (b->p->tuple[r] != tuple) {
      tuple = b->p->tuple[r];
      loss = shoal_packed_box_loss_with(b->p, shoal_clusters_box(b, a),
                                        shoal_packed_values(b->p, tuple));
    }
    if (loss >= least) continue;
    if (lack < b->p->n_counts &&
        (b->p->group[lack][r] == SHOAL_NONE || shoal_clusters_has_group(b, a, lack, r, 1)))
      continue;
    if (g->satisfied[c] && !shoal_clusters_may_leave(b, r)) continue;
    least = loss;
    best = r;
  }
  return best;
}

/* a borrows rows of c until it has its counts; false: nothing has changed. */
static bool borrow(shoal_agglomeration *g, uint32_t a, uint32_t c) {
  shoal_clusters *b = g->b;
  bool donor_was_satisfied = g->satisfied[c];
  b->n_moved = 0;
  while (!shoal_clusters_has_counts(b, a)) {
    uint32_t row = choose_row(g, a, c);
    if (row == SHOAL_NONE || b->size[c] == 1) {
      shoal_clusters_rollback(b, 0);
      return false;
    }
    shoal_clusters_move(b, row, a);
    shoal_clusters_refresh(b, c);
    if (shoal_clusters_is_stopped(b)) return true;
  }
  if (b->p->required->n_others && (!shoal_clusters_satisfies(b, a) ||
                                   (donor_was_satisfied && !shoal_clusters_satisfies(b, c)))) {
    shoal_clusters_rollback(b, 0);
    return false;
  }
  return true;
}

/* ------------------------------------------------------------ agglomerating */

/* After a cluster has changed. */
static void update_partners(shoal_agglomeration *g, uint32_t c) {
  if (g->satisfied[c]) offer_to_open(g, c);
  else find_partner(g, c, true);
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
    update_partners(g, c);
    update_partners(g, a);
    return;
  }
  shoal_clusters_merge(g->b, a, c);
  judge(g, a);
  judge(g, c);
  update_partners(g, c);
}

bool shoal_agglomerate(shoal_agglomeration *g, float noise) {
  shoal_clusters *b = g->b;
  start(g, noise);
  for (uint32_t a;
       (a = shoal_open_lowest(b, g->score)) != SHOAL_NONE && !shoal_clusters_is_stopped(b);)
    step(g, a);
  for (uint32_t c = 0; c < b->n; c++)
    if (b->size[c] && !g->satisfied[c]) return false;
  return true;
}
