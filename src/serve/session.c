/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/session.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "serve/jobs.h"
#include "serve/text.h"

/* ---------------------------------------------------------------- shared parts */

serve_table *serve_table_ref(serve_table *table) {
  if (table) atomic_fetch_add(&table->n_users, 1);
  return table;
}

void serve_table_drop(serve_table *table) {
  if (!table || atomic_fetch_sub(&table->n_users, 1) != 1) return;
  shoal_table_free(table->table);
  free(table);
  (void)malloc_trim(0); /* tables are large: return the memory to the system */
}

static serve_policy_text *policy_text_new(const char *bytes, size_t size) {
  serve_policy_text *text = malloc(sizeof *text + size + 1);
  if (!text) return NULL;
  atomic_init(&text->n_users, 1);
  text->size = size;
  if (size) memcpy(text->bytes, bytes, size);
  text->bytes[size] = '\0';
  return text;
}

static serve_policy_text *policy_text_ref(serve_policy_text *text) {
  if (text) atomic_fetch_add(&text->n_users, 1);
  return text;
}

static void policy_text_drop(serve_policy_text *text) {
  if (text && atomic_fetch_sub(&text->n_users, 1) == 1) free(text);
}

void serve_raw_key(const serve_work *work, char out[SERVE_RAW_KEY_BYTES]) {
  (void)snprintf(out, SERVE_RAW_KEY_BYTES, "%u", work->data_number);
}

static void forget_table(serve_cached *cached) {
  serve_table_drop(cached->table);
  free(cached->key);
  *cached = (serve_cached){0};
}

/* ---------------------------------------------------------------- life */

serve_session *serve_session_new(serve_private *private_files) {
  serve_session *session = calloc(1, sizeof *session);
  if (!session) return NULL;
  if (!serve_random_name(session->id) || !serve_random_seed(session->now.seed)) {
    free(session);
    return NULL;
  }
  session->now.root = -1;
  atomic_init(&session->n_users, 1);
  session->private_files = private_files;
  session->last_used = serve_now();
  (void)pthread_mutex_init(&session->lock, NULL);
  (void)pthread_mutex_init(&session->reading, NULL);
  return session;
}

serve_session *serve_session_ref(serve_session *session) {
  atomic_fetch_add(&session->n_users, 1);
  return session;
}

static void drop_history(serve_session *session) {
  for (size_t i = 0; i < session->n_history; i++) policy_text_drop(session->history[i]);
  session->n_history = session->at = 0;
}

static void drop_results(serve_session *session) {
  (void)pthread_mutex_lock(&session->lock);
  for (size_t i = 0; i < SERVE_N_DOWNLOADS; i++) {
    serve_blob_drop(session->made[i]);
    session->made[i] = NULL;
  }
  forget_table(&session->raw);
  for (size_t i = 0; i < sizeof session->tables / sizeof *session->tables; i++)
    forget_table(&session->tables[i]);
  (void)pthread_mutex_unlock(&session->lock);
}

void serve_forget_explorer(serve_session *session) {
  shoal_explorer_free(session->explorer);
  shoal_policy_free(session->explorer_policy);
  serve_table_drop(session->explorer_table);
  free(session->explorer_key);
  session->explorer = NULL;
  session->explorer_policy = NULL;
  session->explorer_table = NULL;
  session->explorer_key = NULL;
}

void serve_session_drop(serve_session *session) {
  if (!session || atomic_fetch_sub(&session->n_users, 1) != 1) return;
  serve_forget_explorer(session);
  drop_results(session);
  drop_history(session);
  serve_work_reset(&session->now);
  (void)pthread_mutex_destroy(&session->lock);
  (void)pthread_mutex_destroy(&session->reading);
  free(session);
}

static void cancel_jobs(serve_session *session) {
  for (size_t i = 0; i < SERVE_N_JOB_KINDS; i++)
    if (session->jobs[i]) serve_job_cancel(session->jobs[i]);
}

static bool has_running_job(serve_session *session) {
  bool runs = false;
  for (size_t i = 0; i < SERVE_N_JOB_KINDS && !runs; i++) {
    serve_job *job = session->jobs[i];
    if (!job) continue;
    (void)pthread_mutex_lock(&job->lock);
    runs = !job->done;
    (void)pthread_mutex_unlock(&job->lock);
  }
  return runs;
}

void serve_session_close(serve_session *session) {
  cancel_jobs(session);
  for (size_t i = 0; i < SERVE_N_JOB_KINDS; i++) {
    serve_job_drop(session->jobs[i]);
    session->jobs[i] = NULL;
  }
  serve_session_drop(session);
}

/* ---------------------------------------------------------------- data and policy */

void serve_session_set_data(serve_session *session, serve_blob *data) {
  cancel_jobs(session);
  if (!has_running_job(session)) serve_forget_explorer(session);
  drop_results(session);
  drop_history(session);
  serve_blob_drop(session->now.data);
  policy_text_drop(session->now.policy);
  session->now.policy = NULL;
  session->now.data = data;
  session->now.delimiter[0] = '\0';
  session->now.data_number++;
}

static void take_from_history(serve_session *session) {
  policy_text_drop(session->now.policy);
  session->now.policy = policy_text_ref(session->history[session->at]);
}

bool serve_session_set_policy(serve_session *session, const char *bytes, size_t size) {
  serve_policy_text *current = session->now.policy;
  if (current && current->size == size && !memcmp(current->bytes, bytes, size)) return true;
  serve_policy_text *text = policy_text_new(bytes, size);
  if (!text) return false;
  size_t keep = session->n_history ? session->at + 1 : 0;
  for (size_t i = keep; i < session->n_history; i++) policy_text_drop(session->history[i]);
  if (keep == SERVE_MAX_HISTORY) {
    policy_text_drop(session->history[0]);
    keep--;
    memmove(session->history, session->history + 1, keep * sizeof *session->history);
  }
  session->history[keep] = text;
  session->at = keep;
  session->n_history = keep + 1;
  take_from_history(session);
  return true;
}

bool serve_session_step(serve_session *session, int step) {
  if (step < 0 ? session->at == 0 : session->at + 1 >= session->n_history) return false;
  session->at += step < 0 ? (size_t)-1 : 1;
  take_from_history(session);
  return true;
}

void serve_work_copy(const serve_session *session, serve_work *work) {
  *work = session->now;
  (void)serve_blob_ref(work->data);
  (void)policy_text_ref(work->policy);
}

void serve_work_reset(serve_work *work) {
  serve_blob_drop(work->data);
  policy_text_drop(work->policy);
  work->data = NULL;
  work->policy = NULL;
}
