/* SPDX-License-Identifier: Apache-2.0 */
/*
 * serve/session: what one tab works on. Tabs do not share data. The main thread changes a session;
 * jobs take a copy of what they need (serve_work) and share only the tables and the release, which
 * the lock guards.
 */
#pragma once

#include <jansson.h>
#include <pthread.h>
#include <stdatomic.h>

#include "serve/private.h"
#include "serve/text.h"

enum { SERVE_N_JOB_KINDS = 13, SERVE_MAX_HISTORY = 200, SERVE_N_DOWNLOADS = 5 };

/* A table that several jobs may use at a time. */
typedef struct serve_table {
  atomic_uint n_users;
  shoal_table *table;
} serve_table;

serve_table *serve_table_ref(serve_table *table);
void serve_table_drop(serve_table *table);

/* A table that was read, and for what. */
typedef struct serve_cached {
  serve_table *table; /* NULL: none */
  char *key;          /* the data and the part of the policy that decides how it is read */
} serve_cached;

/* Text of a policy, shared by history and jobs. */
typedef struct serve_policy_text {
  atomic_uint n_users;
  size_t size;
  char bytes[];
} serve_policy_text;

typedef enum serve_download {
  SERVE_RELEASE,
  SERVE_CERTIFICATE,
  SERVE_REPORT,
  SERVE_MAPPING,
  SERVE_POLICY
} serve_download;

/* What a job works on. */
typedef struct serve_work {
  serve_blob *data;            /* NULL: none is open */
  unsigned data_number;        /* changes with the data and with how it is read */
  char delimiter[8];           /* that the steward chose; "": detected */
  serve_policy_text *policy;   /* NULL: none */
  int root;                    /* descriptor of the directory for the policy's files; borrowed */
  char below[1024];            /* where they are in it */
  char seed[SERVE_SEED_BYTES]; /* every release draws another */
} serve_work;

struct serve_job;
struct serve_explorer_cache;

typedef struct serve_session {
  char id[33];
  atomic_uint n_users;
  double last_used;
  serve_private *private_files;
  serve_work now; /* main thread */
  serve_policy_text *history[SERVE_MAX_HISTORY];
  size_t n_history, at; /* now.policy is history[at] */
  struct serve_job *jobs[SERVE_N_JOB_KINDS];
  pthread_mutex_t reading;             /* one job reads a table at a time */
  pthread_mutex_t lock;                /* of the rest */
  serve_cached raw;                    /* read without a policy */
  serve_cached tables[4];              /* by purpose */
  serve_blob *made[SERVE_N_DOWNLOADS]; /* of the last release; NULL: none */
  shoal_explorer *explorer;
  char *explorer_key;
  serve_table *explorer_table;
  shoal_policy *explorer_policy;
} serve_session;

/* The key of a table that is read without a policy. */
enum { SERVE_RAW_KEY_BYTES = 16 };
void serve_raw_key(const serve_work *work, char out[SERVE_RAW_KEY_BYTES]);

serve_session *serve_session_new(serve_private *private_files);
serve_session *serve_session_ref(serve_session *session);
void serve_session_drop(serve_session *session);
/* Frees the explorer of the last `nodes` job. Not while one runs. */
void serve_forget_explorer(serve_session *session);
/* Cancels its jobs and lets go of them, so that the session can be freed when they end. */
void serve_session_close(serve_session *session);

/* Opens other data: takes the blob. Policy and release of the old data are closed. */
void serve_session_set_data(serve_session *session, serve_blob *data);

/* A new policy after the current one; what was undone is dropped. False: no memory. */
bool serve_session_set_policy(serve_session *session, const char *bytes, size_t size);
/* Steps back (-1) or forward (1) in the history; false if there is nothing. */
bool serve_session_step(serve_session *session, int step);

/* Copies what a job needs; serve_work_reset lets go of it. */
void serve_work_copy(const serve_session *session, serve_work *work);
void serve_work_reset(serve_work *work);
