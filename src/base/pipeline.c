/* SPDX-License-Identifier: Apache-2.0 */
/*
 * base/pipeline: two counters under one lock: the next item to read, and the item whose turn it is
 * to be written. A failed item stops all later ones. Earlier ones continue: one of them may fail
 * too, and its error is then the one to return.
 */
#include "base/pipeline.h"

#include <pthread.h>

typedef struct running {
  const shoal_pipeline *line;
  pthread_mutex_t lock;  /* guards what follows */
  pthread_mutex_t taker; /* held while an item is taken */
  pthread_cond_t turned; /* `turn` or `failed` has changed */
  uint64_t n_taken;
  uint64_t turn;
  bool ended;           /* nothing more is taken */
  uint64_t failed_item; /* UINT64_MAX: none */
  shoal_status status;
  shoal_error error;
} running;

static void fail(running *r, uint64_t item, shoal_status status, const shoal_error *error) {
  (void)pthread_mutex_lock(&r->lock);
  r->ended = true;
  if (item < r->failed_item) {
    r->failed_item = item;
    r->status = status;
    r->error = *error;
  }
  (void)pthread_cond_broadcast(&r->turned);
  (void)pthread_mutex_unlock(&r->lock);
}

static bool take(running *r, unsigned worker, uint64_t *item) {
  shoal_error error;
  bool more = false;
  (void)pthread_mutex_lock(&r->taker);
  (void)pthread_mutex_lock(&r->lock);
  bool ended = r->ended;
  (void)pthread_mutex_unlock(&r->lock);
  if (!ended) {
    *item = r->n_taken;
    shoal_status status = r->line->read(r->line->user, worker, *item, &more, &error);
    if (status != SHOAL_OK) fail(r, *item, status, &error);
    more = more && status == SHOAL_OK;
    if (more) r->n_taken++;
    else {
      (void)pthread_mutex_lock(&r->lock);
      r->ended = true;
      (void)pthread_mutex_unlock(&r->lock);
    }
  }
  (void)pthread_mutex_unlock(&r->taker);
  return more;
}

/* Waits for the item's turn; false if an item before it has failed. */
static bool await_turn(running *r, uint64_t item) {
  (void)pthread_mutex_lock(&r->lock);
  while (r->turn != item && item < r->failed_item) (void)pthread_cond_wait(&r->turned, &r->lock);
  bool mine = item < r->failed_item;
  (void)pthread_mutex_unlock(&r->lock);
  return mine;
}

static void next_turn(running *r) {
  (void)pthread_mutex_lock(&r->lock);
  r->turn++;
  (void)pthread_cond_broadcast(&r->turned);
  (void)pthread_mutex_unlock(&r->lock);
}

/* One item, up to its end; false: the worker stops. */
static bool process(running *r, unsigned worker, uint64_t item) {
  const shoal_pipeline *line = r->line;
  shoal_error error;
  shoal_status status = line->process ? line->process(line->user, worker, item, &error) : SHOAL_OK;
  if (status == SHOAL_OK && !await_turn(r, item)) return false;
  if (status == SHOAL_OK && line->write) status = line->write(line->user, worker, item, &error);
  if (status == SHOAL_OK) {
    next_turn(r);
    if (line->complete) status = line->complete(line->user, worker, item, &error);
  }
  if (status == SHOAL_OK && worker == 0 && line->report)
    status = line->report(line->user, item + 1, &error);
  if (status != SHOAL_OK) fail(r, item, status, &error);
  return status == SHOAL_OK;
}

static void work(void *user, unsigned worker) {
  running *r = user;
  uint64_t item = 0;
  while (take(r, worker, &item) && process(r, worker, item)) continue;
}

shoal_status shoal_pipeline_run(const shoal_pipeline *line, unsigned n_workers,
                                shoal_error *error) {
  running r = {.line = line, .failed_item = UINT64_MAX, .status = SHOAL_OK};
  (void)pthread_mutex_init(&r.lock, NULL);
  (void)pthread_mutex_init(&r.taker, NULL);
  (void)pthread_cond_init(&r.turned, NULL);
  shoal_parallel(n_workers, work, &r);
  (void)pthread_cond_destroy(&r.turned);
  (void)pthread_mutex_destroy(&r.taker);
  (void)pthread_mutex_destroy(&r.lock);
  if (r.status != SHOAL_OK && error) *error = r.error;
  return r.status;
}
