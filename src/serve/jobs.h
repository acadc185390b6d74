/* SPDX-License-Identifier: Apache-2.0 */
/*
 * serve/jobs: long work. A session runs at most one job of each kind; a newer one cancels the older
 * and waits until it has ended. A job writes lines of JSON for its stream:
 *
 *     {"progress": {"stage": "search", "done": 10, "total": 180, "unit": "nodes"}}
 *     {"point": {..}}                       results on the way, of `frontier`
 *     {"result": {..}}                      the last line: the answer, as --json gives it
 *     {"error": {"status": 1, "message": ".."}}     or why there is none
 *
 * A job is shared by its thread, its session and its stream; the last one frees it.
 */
#pragma once

#include <jansson.h>
#include <pthread.h>
#include <stdatomic.h>

#include "serve/session.h"
#include "serve/text.h"

typedef struct serve_job serve_job;

/* One kind of job. `work` runs on the job's thread. It sets *answer, or returns an error. */
typedef struct serve_job_kind {
  const char *name;
  const char *summary;
  shoal_status (*work)(serve_job *job, json_t **answer, shoal_error *error);
} serve_job_kind;

/* In the order of SERVE_N_JOB_KINDS; the name of the last entry is NULL. */
extern const serve_job_kind serve_job_kinds[];

struct serve_job {
  atomic_uint n_users;
  atomic_bool cancelled;
  const serve_job_kind *kind;
  serve_session *session; /* a reference */
  serve_work work;        /* what the session had when the job began */
  serve_links links;      /* files that the policy names */
  json_t *request;        /* the body; only the thread uses it */
  serve_job *previous;    /* the older one of this kind, a reference; NULL: none */
  int wake_fd;            /* written when there is something to send */
  double last_progress;
  bool kept;     /* its files are the session's: too late to cancel; only the thread uses it */
  shoal_run run; /* for the engine: progress and cancellation */
  pthread_mutex_t lock;
  pthread_cond_t ended;
  bool done;       /* guarded by lock, as the rest */
  serve_text news; /* lines; the stream sends them from `sent` on */
  size_t sent;
};

/* Counts running jobs, and waits for them at the end. */
typedef struct serve_job_pool {
  pthread_mutex_t lock;
  pthread_cond_t less;
  unsigned n_running;
} serve_job_pool;

void serve_jobs_begin(serve_job_pool *pool);
/* Waits until no job runs. Cancel them first. */
void serve_jobs_end(serve_job_pool *pool);

/*
 * Starts a job. Takes `request`. NULL, with a status and message for the client: too many jobs run,
 * or no memory. The caller drops the job.
 */
serve_job *serve_job_start(serve_job_pool *pool, serve_session *session, const serve_job_kind *kind,
                           json_t *request, int wake_fd, shoal_error *error);
void serve_job_cancel(serve_job *job);
void serve_job_drop(serve_job *job);

/* Adds {"NAME": value} to the stream; takes `value`. */
void serve_job_say(serve_job *job, const char *name, json_t *value);
