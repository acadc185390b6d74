/* SPDX-License-Identifier: Apache-2.0 */
/* base/thread: POSIX threads. If one cannot be started, the calling thread does its work. */
#include "base/thread.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { MAX_THREADS = 64 };

/* Cached: the system reads it from a file, and it is asked often. */
static long n_cores(void) {
  static atomic_long known;
  long n = atomic_load_explicit(&known, memory_order_relaxed);
  if (!n) {
    n = sysconf(_SC_NPROCESSORS_ONLN);
    if (n < 1) n = 1;
    atomic_store_explicit(&known, n, memory_order_relaxed);
  }
  return n;
}

unsigned shoal_run_threads(const shoal_run *run) {
  long n = run && run->n_threads ? (long)run->n_threads : n_cores();
  return n < 1 ? 1 : n > MAX_THREADS ? MAX_THREADS : (unsigned)n;
}

typedef struct worker {
  pthread_t thread;
  void (*work)(void *user, unsigned i);
  void *user;
  unsigned i;
  bool started;
} worker;

static void *worker_main(void *argument) {
  worker *self = argument;
  self->work(self->user, self->i);
  return NULL;
}

void shoal_parallel(unsigned n, void (*work)(void *user, unsigned i), void *user) {
  worker workers[MAX_THREADS];
  unsigned own = n < MAX_THREADS ? n : MAX_THREADS; /* the rest has no thread of its own */
  for (unsigned i = 1; i < own; i++) {
    workers[i] = (worker){.work = work, .user = user, .i = i};
    workers[i].started = !pthread_create(&workers[i].thread, NULL, worker_main, &workers[i]);
  }
  if (n) work(user, 0);
  for (unsigned i = 1; i < n; i++) {
    if (i < own && workers[i].started) (void)pthread_join(workers[i].thread, NULL);
    else work(user, i);
  }
}

shoal_status shoal_run_report(const shoal_run *run, const char *stage, uint64_t done,
                              uint64_t total, const char *unit, shoal_error *error) {
  if (!run || !run->progress) return SHOAL_OK;
  shoal_progress progress = {.stage = stage, .done = done, .total = total, .unit = unit};
  if (!run->progress(run->progress_user, &progress)) return SHOAL_OK;
  return shoal_fail(error, SHOAL_CANCELLED, "stopped while in stage '%s'", stage);
}

double shoal_seconds(void) {
  struct timespec now;
  (void)clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

uint64_t shoal_peak_memory(void) {
  struct rusage usage;
  if (getrusage(RUSAGE_SELF, &usage)) return 0;
  return (uint64_t)usage.ru_maxrss * 1024;
}
