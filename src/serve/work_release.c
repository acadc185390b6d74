/* SPDX-License-Identifier: Apache-2.0 */
/* serve/work_release: anonymize, and what is asked of its release: measure and attack. */
#include <assert.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "serve/work.h"

/* ---------------------------------------------------------------- anonymize */

typedef struct made_files {
  char release[4096], certificate[4096], mapping[4096];
} made_files;

static serve_blob *blob_of_text(serve_private *private_files, const char *text, const char *name) {
  serve_blob *blob = serve_blob_new(private_files, name);
  size_t size = strlen(text);
  while (blob && size) {
    ssize_t written = write(blob->fd, text, size);
    if (written <= 0) {
      serve_blob_drop(blob);
      return NULL;
    }
    text += written;
    size -= (size_t)written;
  }
  return blob;
}

/* Makes the written files downloads of the session. */
static shoal_status keep_files(serve_job *job, const made_files *files, const char *report,
                               shoal_error *error) {
  serve_session *session = job->session;
  serve_private *p = session->private_files;
  serve_blob *made[SERVE_N_DOWNLOADS] = {
      [SERVE_RELEASE] = serve_blob_take(p, files->release, "release.csv"),
      [SERVE_CERTIFICATE] = serve_blob_take(p, files->certificate, "certificate.html"),
      [SERVE_MAPPING] = serve_blob_take(p, files->mapping, "mapping.csv"),
      [SERVE_REPORT] = blob_of_text(p, report, "report.html"),
      [SERVE_POLICY] = blob_of_text(p, job->work.policy->bytes, "policy.yaml"),
  };
  bool ok = true;
  for (size_t i = 0; i < SERVE_N_DOWNLOADS; i++) ok = ok && made[i];
  /* Under the lock: whoever opens other data cancels first, then takes the lock to drop files. */
  (void)pthread_mutex_lock(&session->lock);
  bool cancelled = atomic_load(&job->cancelled);
  job->kept = ok && !cancelled;
  for (size_t i = 0; i < SERVE_N_DOWNLOADS; i++) {
    serve_blob *old = job->kept ? session->made[i] : made[i];
    if (job->kept) session->made[i] = made[i];
    serve_blob_drop(old);
  }
  (void)pthread_mutex_unlock(&session->lock);
  if (cancelled) return SHOAL_CANCELLED;
  return ok ? SHOAL_OK : serve_fail(error, SHOAL_FAILED, "no room for the files of the release");
}

/* The first rows of the release, beside those of the data. */
static shoal_status add_sample(serve_job *job, const made_files *files, json_t *answer,
                               shoal_error *error) {
  shoal_table *release = NULL;
  serve_table *raw = NULL;
  shoal_status status =
      shoal_table_read(files->release, NULL, SHOAL_FOR_RELEASE, NULL, &job->run, &release, error);
  if (status == SHOAL_OK) status = serve_work_raw(job, &raw, error);
  if (status == SHOAL_OK)
    (void)json_object_set_new(answer, "sample",
                              json_pack("{s:o, s:o}", "before", serve_table_rows(raw->table, 0, 12),
                                        "after", serve_table_rows(release, 0, 12)));
  shoal_table_free(release);
  serve_table_drop(raw);
  return status;
}

static shoal_status write_release(serve_job *job, shoal_release *release, made_files *files,
                                  json_t **answer, shoal_error *error) {
  serve_private *p = job->session->private_files;
  const shoal_result *result = shoal_release_result(release);
  char *report = NULL;
  serve_private_name(p, "release.csv", files->release, sizeof files->release);
  serve_private_name(p, "certificate.html", files->certificate, sizeof files->certificate);
  serve_private_name(p, "mapping.csv", files->mapping, sizeof files->mapping);
  shoal_write_options options = {
      .detail = SHOAL_DETAIL_HTML, .certificate = files->certificate, .mapping = files->mapping};
  shoal_status status = shoal_release_write(release, files->release, &options, &job->run, error);
  if (status == SHOAL_OK) status = serve_work_answer(result, answer, error);
  if (status == SHOAL_OK) status = shoal_result_render(result, SHOAL_HTML, &report, error);
  if (status == SHOAL_OK) status = add_sample(job, files, *answer, error);
  if (status == SHOAL_OK) status = keep_files(job, files, report, error);
  (void)unlink(files->release); /* there only if something failed */
  (void)unlink(files->certificate);
  (void)unlink(files->mapping);
  free(report);
  return status;
}

shoal_status serve_work_anonymize(serve_job *job, json_t **answer, shoal_error *error) {
  shoal_policy *policy = NULL;
  made_files files;
  /* Two releases with the same seed have their rows in the same order: whoever has both could put
   * them side by side. */
  if (!serve_random_seed(job->work.seed))
    return serve_fail(error, SHOAL_FAILED, "the system has no random numbers");
  shoal_status status = serve_work_policy(job, &policy, error);
  for (int fresh = 0; status == SHOAL_OK && fresh < 2 && !*answer; fresh++) {
    serve_table *table = NULL;
    shoal_release *release = NULL;
    status = serve_work_table(job, policy, fresh, &table, error);
    if (status == SHOAL_OK)
      status = shoal_anonymize(table->table, policy, &job->run, &release, error);
    if (status == SHOAL_BAD_INPUT && !fresh && table && strstr(error->message, SERVE_OTHER_POLICY))
      status = SHOAL_OK;
    else if (status == SHOAL_OK) status = write_release(job, release, &files, answer, error);
    shoal_release_free(release);
    serve_table_drop(table);
  }
  shoal_policy_free(policy);
  if (status == SHOAL_OK && *answer)
    (void)json_object_set_new(*answer, "seed", json_string(job->work.seed));
  return status;
}

/* ---------------------------------------------------------------- its release */

/* What a job on the release needs; made_reset lets go of it. */
typedef struct made {
  serve_blob *file;
  shoal_policy *policy;
  serve_table *original;
  shoal_table *masked;
  shoal_result *result;
} made;

static shoal_status made_begin(serve_job *job, made *m, shoal_error *error) {
  serve_session *session = job->session;
  (void)pthread_mutex_lock(&session->lock);
  m->file = serve_blob_ref(session->made[SERVE_RELEASE]);
  (void)pthread_mutex_unlock(&session->lock);
  if (!m->file) return serve_fail(error, SHOAL_BAD_INPUT, "there is no release yet");
  shoal_status status = serve_work_policy(job, &m->policy, error);
  if (status == SHOAL_OK) status = serve_work_table(job, m->policy, false, &m->original, error);
  if (status == SHOAL_OK)
    status = shoal_table_read(m->file->path, m->policy, SHOAL_FOR_REVIEW, NULL, &job->run,
                              &m->masked, error);
  return status;
}

static shoal_status made_end(made *m, shoal_status status, json_t **answer, shoal_error *error) {
  if (status == SHOAL_OK) status = serve_work_answer(m->result, answer, error);
  shoal_result_free(m->result);
  shoal_table_free(m->masked);
  serve_table_drop(m->original);
  shoal_policy_free(m->policy);
  serve_blob_drop(m->file);
  return status;
}

shoal_status serve_work_measure(serve_job *job, json_t **answer, shoal_error *error) {
  made m = {0};
  shoal_status status = made_begin(job, &m, error);
  assert(m.original || status != SHOAL_OK);
  if (status == SHOAL_OK)
    status =
        shoal_measure(m.original->table, m.masked, m.policy, NULL, &job->run, &m.result, error);
  return made_end(&m, status, answer, error);
}

shoal_status serve_work_attack(serve_job *job, json_t **answer, shoal_error *error) {
  made m = {0};
  shoal_status status = made_begin(job, &m, error);
  shoal_attack_options options = {.original = m.original ? m.original->table : NULL};
  json_int_t rule_out = json_integer_value(json_object_get(job->request, "rule_out"));
  if (rule_out > 0 && rule_out <= SHOAL_MAX_RULE_OUT) options.rule_out = (unsigned)rule_out;
  if (status == SHOAL_OK)
    status = shoal_attack_release(m.masked, m.policy, &options, &job->run, &m.result, error);
  return made_end(&m, status, answer, error);
}
