/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/jobs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_JOBS = 64 }; /* with those that wait for the one they replace */

static const double PROGRESS_SECONDS = 0.1;

void serve_jobs_begin(serve_job_pool *pool) {
  (void)pthread_mutex_init(&pool->lock, NULL);
  (void)pthread_cond_init(&pool->less, NULL);
  pool->n_running = 0;
}

void serve_jobs_end(serve_job_pool *pool) {
  (void)pthread_mutex_lock(&pool->lock);
  while (pool->n_running) (void)pthread_cond_wait(&pool->less, &pool->lock);
  (void)pthread_mutex_unlock(&pool->lock);
  (void)pthread_mutex_destroy(&pool->lock);
  (void)pthread_cond_destroy(&pool->less);
}

/* Counts one more; false if too many run. */
static bool enter_pool(serve_job_pool *pool) {
  (void)pthread_mutex_lock(&pool->lock);
  bool enters = pool->n_running < MAX_JOBS;
  if (enters) pool->n_running++;
  (void)pthread_mutex_unlock(&pool->lock);
  return enters;
}

static void leave_pool(serve_job_pool *pool) {
  (void)pthread_mutex_lock(&pool->lock);
  pool->n_running--;
  (void)pthread_cond_signal(&pool->less);
  (void)pthread_mutex_unlock(&pool->lock);
}

void serve_job_drop(serve_job *job) {
  if (!job || atomic_fetch_sub(&job->n_users, 1) != 1) return;
  serve_job_drop(job->previous);
  serve_work_reset(&job->work);
  serve_session_drop(job->session);
  json_decref(job->request);
  serve_text_reset(&job->news);
  (void)pthread_mutex_destroy(&job->lock);
  (void)pthread_cond_destroy(&job->ended);
  free(job);
}

void serve_job_cancel(serve_job *job) { atomic_store(&job->cancelled, true); }

static void wake_main_thread(const serve_job *job) {
  uint64_t one = 1;
  ssize_t written = write(job->wake_fd, &one, sizeof one);
  (void)written; /* it fails only if the counter is full: then it is awake */
}

void serve_job_say(serve_job *job, const char *name, json_t *value) {
  json_t *line = json_object();
  if (line) (void)json_object_set_new(line, name, value);
  else json_decref(value);
  char *text = line ? json_dumps(line, JSON_COMPACT) : NULL;
  (void)pthread_mutex_lock(&job->lock);
  if (text && serve_text_add(&job->news, text, strlen(text)))
    (void)serve_text_add(&job->news, "\n", 1);
  (void)pthread_mutex_unlock(&job->lock);
  wake_main_thread(job);
  free(text);
  json_decref(line);
}

/* A shoal_progress_fn. */
static bool report_progress(void *user, const shoal_progress *progress) {
  serve_job *job = user;
  double now = serve_now();
  if (now - job->last_progress >= PROGRESS_SECONDS) {
    job->last_progress = now;
    serve_job_say(job, "progress",
                  json_pack("{s:s, s:I, s:I, s:s}", "stage", progress->stage, "done",
                            (json_int_t)progress->done, "total", (json_int_t)progress->total,
                            "unit", progress->unit));
  }
  return atomic_load(&job->cancelled);
}

static void wait_for_end(serve_job *job) {
  (void)pthread_mutex_lock(&job->lock);
  while (!job->done) (void)pthread_cond_wait(&job->ended, &job->lock);
  (void)pthread_mutex_unlock(&job->lock);
}

/* Replaces the name by which the engine knows a file by the one people know. */
static void show_name(shoal_error *error, const char *path, const char *name) {
  char *found = path[0] ? strstr(error->message, path) : NULL;
  if (!found) return;
  char rest[sizeof error->message];
  char shown[256];
  (void)shoal_printable(name, shown, sizeof shown);
  (void)snprintf(rest, sizeof rest, "%s", found + strlen(path));
  size_t before = (size_t)(found - error->message), n = strlen(shown), m = strlen(rest);
  if (before + n + m >= sizeof error->message) return;
  memcpy(found, shown, n);
  memcpy(found + n, rest, m + 1);
}

/* As the command line: 2 for wrong input, 3 for what failed, 4 for what was cancelled. */
static int exit_status(shoal_status status) {
  if (status == SHOAL_BAD_POLICY) return SHOAL_BAD_INPUT;
  return status == SHOAL_NO_MEMORY || status == SHOAL_NOT_VERIFIED ? SHOAL_FAILED : (int)status;
}

static void say_error(serve_job *job, shoal_status status, shoal_error *error) {
  const serve_blob *data = job->work.data;
  char files[sizeof job->links.directory + 1];
  (void)snprintf(files, sizeof files, "%s/", job->links.directory);
  if (data) show_name(error, data->path, data->name);
  if (job->links.directory[0]) show_name(error, files, "");
  json_t *value = json_pack("{s:i, s:s, s:I, s:s}", "status", exit_status(status), "message",
                            status == SHOAL_CANCELLED ? "cancelled" : error->message, "row",
                            (json_int_t)error->row, "column", error->column);
  serve_job_say(job, "error", value ? value : json_pack("{s:i}", "status", exit_status(status)));
}

typedef struct started {
  serve_job *job;
  serve_job_pool *pool;
} started;

static void *run_job(void *user) {
  started both = *(started *)user;
  serve_job *job = both.job;
  shoal_error error = {0};
  json_t *answer = NULL;
  free(user);
  if (job->previous) {
    wait_for_end(job->previous);
    serve_job_drop(job->previous);
    job->previous = NULL;
  }
  shoal_status status = atomic_load(&job->cancelled) ? SHOAL_CANCELLED : SHOAL_OK;
  if (status == SHOAL_OK) status = job->kind->work(job, &answer, &error);
  if (status == SHOAL_OK && atomic_load(&job->cancelled) && !job->kept) status = SHOAL_CANCELLED;
  if (status == SHOAL_OK && answer) {
    serve_job_say(job, "result", answer);
    answer = NULL;
  } else {
    if (status == SHOAL_OK) status = serve_fail(&error, SHOAL_FAILED, "out of memory");
    say_error(job, status, &error);
  }
  json_decref(answer);
  serve_links_reset(&job->links);
  serve_work_reset(&job->work); /* the session keeps the job, which must not keep closed data */
  (void)pthread_mutex_lock(&job->lock);
  job->done = true;
  (void)pthread_cond_broadcast(&job->ended);
  (void)pthread_mutex_unlock(&job->lock);
  wake_main_thread(job);
  serve_job_drop(job);
  leave_pool(both.pool);
  return NULL;
}

static serve_job *new_job(serve_session *session, const serve_job_kind *kind, json_t *request,
                          int wake_fd) {
  serve_job *job = calloc(1, sizeof *job);
  if (!job) {
    json_decref(request);
    return NULL;
  }
  atomic_init(&job->n_users, 1);
  job->kind = kind;
  job->session = serve_session_ref(session);
  serve_work_copy(session, &job->work);
  job->request = request;
  job->wake_fd = wake_fd;
  job->run = (shoal_run){.progress = report_progress, .progress_user = job};
  (void)pthread_mutex_init(&job->lock, NULL);
  (void)pthread_cond_init(&job->ended, NULL);
  return job;
}

/* Starts a thread that nobody joins; the pool counts it. */
static bool start_thread(serve_job *job, serve_job_pool *pool) {
  pthread_t thread;
  pthread_attr_t attributes;
  started *both = malloc(sizeof *both);
  if (!both) return false;
  *both = (started){job, pool};
  atomic_fetch_add(&job->n_users, 1);
  (void)pthread_attr_init(&attributes);
  (void)pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  bool ok = !pthread_create(&thread, &attributes, run_job, both);
  (void)pthread_attr_destroy(&attributes);
  if (ok) return true;
  atomic_fetch_sub(&job->n_users, 1);
  free(both);
  return false;
}

serve_job *serve_job_start(serve_job_pool *pool, serve_session *session, const serve_job_kind *kind,
                           json_t *request, int wake_fd, shoal_error *error) {
  serve_job **slot = &session->jobs[kind - serve_job_kinds];
  if (!enter_pool(pool)) {
    json_decref(request);
    (void)serve_fail(error, SHOAL_REFUSED, "too many jobs are running; cancel one or wait");
    return NULL;
  }
  serve_job *job = new_job(session, kind, request, wake_fd);
  if (job && *slot) serve_job_cancel(*slot);
  if (job) job->previous = *slot; /* the session's reference moves there */
  if (job) *slot = NULL;
  if (!job || !start_thread(job, pool)) {
    leave_pool(pool);
    serve_job_drop(job);
    (void)serve_fail(error, SHOAL_FAILED, "no memory for another job");
    return NULL;
  }
  atomic_fetch_add(&job->n_users, 1);
  *slot = job;
  return job;
}
