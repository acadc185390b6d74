/* SPDX-License-Identifier: Apache-2.0 */
/* read/ahead: see ahead.h. A ring of buffers: the thread fills them in turn, the reader empties. */
#include "read/ahead.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/memory.h"

enum { N_BUFFERS = 4, BUFFER_BYTES = 512 * 1024, IDLE_NANOSECONDS = 100 * 1000 * 1000 };

struct shoal_ahead {
  shoal_make_fn make;
  void *user;
  pthread_t thread;
  pthread_mutex_t lock; /* guards what follows, but for the bytes of buffers in use */
  pthread_cond_t changed;
  char *bytes[N_BUFFERS];
  size_t size[N_BUFFERS];
  uint64_t n_made, n_taken; /* buffers so far; i is in place i % N_BUFFERS */
  size_t used;              /* bytes taken of the oldest */
  bool ended;               /* nothing more will be made */
  bool stopping;
  shoal_status status; /* why it ended */
  shoal_error error;
};

/* Waits for an empty buffer; NULL: the thread is to end. */
static char *next_buffer(shoal_ahead *a) {
  (void)pthread_mutex_lock(&a->lock);
  while (a->n_made - a->n_taken == N_BUFFERS && !a->stopping)
    (void)pthread_cond_wait(&a->changed, &a->lock);
  char *buffer = a->stopping ? NULL : a->bytes[a->n_made % N_BUFFERS];
  (void)pthread_mutex_unlock(&a->lock);
  return buffer;
}

static void hand_over(shoal_ahead *a, size_t size, bool ended, shoal_status status,
                      const shoal_error *error) {
  (void)pthread_mutex_lock(&a->lock);
  if (size) a->size[a->n_made++ % N_BUFFERS] = size;
  a->ended = ended;
  a->status = status;
  if (status != SHOAL_OK) a->error = *error;
  (void)pthread_cond_broadcast(&a->changed);
  (void)pthread_mutex_unlock(&a->lock);
}

/* Fills buffers until the end or a failure; what was made before a failure comes before it. */
static void *run(void *argument) {
  shoal_ahead *a = argument;
  bool ended = false;
  char *buffer;
  while (!ended && (buffer = next_buffer(a))) {
    size_t size = 0, got = 1;
    shoal_error error;
    shoal_status status = SHOAL_OK;
    while (size < BUFFER_BYTES && got && status == SHOAL_OK) {
      got = 0;
      status = a->make(a->user, buffer + size, BUFFER_BYTES - size, &got, &error);
      if (status == SHOAL_OK) size += got;
    }
    ended = !got || status != SHOAL_OK;
    hand_over(a, size, ended, status, &error);
  }
  return NULL;
}

static void reset(shoal_ahead *a) {
  (void)pthread_cond_destroy(&a->changed);
  (void)pthread_mutex_destroy(&a->lock);
  for (unsigned i = 0; i < N_BUFFERS; i++) shoal_wipe_free(a->bytes[i], BUFFER_BYTES);
  free(a);
}

shoal_ahead *shoal_ahead_start(shoal_make_fn make, void *user) {
  shoal_ahead *a = shoal_alloc_zero(1, sizeof *a);
  if (!a) return NULL;
  a->make = make;
  a->user = user;
  (void)pthread_mutex_init(&a->lock, NULL);
  (void)pthread_cond_init(&a->changed, NULL);
  bool ok = true;
  for (unsigned i = 0; ok && i < N_BUFFERS; i++)
    ok = (a->bytes[i] = shoal_alloc(BUFFER_BYTES, 1)) != NULL;
  if (ok && pthread_create(&a->thread, NULL, run, a) == 0) return a;
  reset(a);
  return NULL;
}

/* Waits a little for something to take; the lock is held, but for the call of `idle`. */
static bool wait_or_stop(shoal_ahead *a, bool (*idle)(void *user), void *idle_user) {
  struct timespec until;
  (void)clock_gettime(CLOCK_REALTIME, &until);
  until.tv_nsec += IDLE_NANOSECONDS;
  until.tv_sec += until.tv_nsec / 1000000000;
  until.tv_nsec %= 1000000000;
  int late = pthread_cond_timedwait(&a->changed, &a->lock, &until);
  if (!late || !idle) return false;
  (void)pthread_mutex_unlock(&a->lock);
  bool stop = idle(idle_user);
  (void)pthread_mutex_lock(&a->lock);
  return stop;
}

shoal_status shoal_ahead_take(shoal_ahead *a, char *bytes, size_t capacity, size_t *size_bytes,
                              bool (*idle)(void *user), void *idle_user, shoal_error *error) {
  *size_bytes = 0;
  bool stop = false;
  (void)pthread_mutex_lock(&a->lock);
  while (a->n_made == a->n_taken && !a->ended && !stop) stop = wait_or_stop(a, idle, idle_user);
  bool ready = a->n_made > a->n_taken;
  const char *from = a->bytes[a->n_taken % N_BUFFERS];
  size_t left = ready ? a->size[a->n_taken % N_BUFFERS] - a->used : 0;
  shoal_status status = ready ? SHOAL_OK : a->status;
  if (status != SHOAL_OK && error) *error = a->error;
  (void)pthread_mutex_unlock(&a->lock);
  if (stop && !ready) return shoal_fail(error, SHOAL_CANCELLED, "stopped while waiting for input");
  if (!ready) return status;
  *size_bytes = left < capacity ? left : capacity;
  memcpy(bytes, from + a->used, *size_bytes); /* the thread leaves a full buffer alone */
  a->used += *size_bytes;
  if (*size_bytes < left) return SHOAL_OK;
  (void)pthread_mutex_lock(&a->lock);
  a->used = 0;
  a->n_taken++;
  (void)pthread_cond_broadcast(&a->changed);
  (void)pthread_mutex_unlock(&a->lock);
  return SHOAL_OK;
}

bool shoal_ahead_stopping(shoal_ahead *a) {
  (void)pthread_mutex_lock(&a->lock);
  bool stopping = a->stopping;
  (void)pthread_mutex_unlock(&a->lock);
  return stopping;
}

void shoal_ahead_stop(shoal_ahead *a) {
  if (!a) return;
  (void)pthread_mutex_lock(&a->lock);
  a->stopping = true;
  (void)pthread_cond_broadcast(&a->changed);
  (void)pthread_mutex_unlock(&a->lock);
  (void)pthread_join(a->thread, NULL);
  reset(a);
}
