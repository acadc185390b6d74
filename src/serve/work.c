/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/work.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "serve/directory.h"
#include "serve/yaml.h"

/* ---------------------------------------------------------------- policy */

/* Opens every `file` that a policy names below its root directory, without symbolic links. */
static shoal_status open_files(serve_job *job, json_t *value, shoal_error *error) {
  const serve_work *work = &job->work;
  const char *key;
  json_t *item;
  size_t i;
  shoal_status status = SHOAL_OK;
  json_object_foreach(value, key, item) {
    char path[4096];
    if (status == SHOAL_OK && !strcmp(key, "file") && !json_is_null(item)) {
      const char *name = json_string_value(item); /* NULL: a number, which the engine would open */
      bool below = name && serve_path_below(work->below, name, path, sizeof path);
      int fd = below ? serve_open_below(work->root, path) : -1;
      if (fd < 0 || !serve_links_add(&job->links, name, fd))
        return serve_fail(error, SHOAL_BAD_INPUT,
                          "the policy names a file that cannot be opened below this directory; "
                          "symbolic links and paths that lead out are refused, and numbers need "
                          "quotes");
    } else if (status == SHOAL_OK) status = open_files(job, item, error);
  }
  json_array_foreach(value, i, item) if (status == SHOAL_OK) status = open_files(job, item, error);
  return status;
}

shoal_status serve_work_policy(serve_job *job, shoal_policy **policy, shoal_error *error) {
  const serve_policy_text *text = job->work.policy;
  *policy = NULL;
  if (!text) return serve_fail(error, SHOAL_BAD_INPUT, "there is no policy yet");
  json_t *model = serve_yaml_to_json(text->bytes, text->size);
  bool seeded = json_object_get(json_object_get(model, "method"), "seed") != NULL;
  shoal_status status =
      serve_links_make(job->session->private_files, job->work.below, &job->links)
          ? open_files(job, model, error)
          : serve_fail(error, SHOAL_FAILED, "cannot make a directory for the policy's files");
  bool judged = model != NULL; /* NULL: no YAML, or too deep: nothing says which files it names */
  json_decref(model);
  if (status == SHOAL_OK)
    status = shoal_policy_parse(text->bytes, text->size, "policy.yaml", job->links.directory,
                                policy, error);
  if (status == SHOAL_OK && !judged)
    status = serve_fail(error, SHOAL_BAD_INPUT, "the policy is nested too deeply");
  if (status == SHOAL_OK && !seeded)
    status = shoal_policy_set(*policy, "seed", job->work.seed, error);
  return status;
}

/* ---------------------------------------------------------------- tables */

static serve_table *new_table(shoal_table *table) {
  serve_table *shared = calloc(1, sizeof *shared);
  if (!shared) {
    shoal_table_free(table);
    return NULL;
  }
  atomic_init(&shared->n_users, 1);
  shared->table = table;
  return shared;
}

static serve_table *find_cached(serve_session *session, serve_cached *cached, const char *key) {
  (void)pthread_mutex_lock(&session->lock);
  serve_table *found =
      cached->key && !strcmp(cached->key, key) ? serve_table_ref(cached->table) : NULL;
  (void)pthread_mutex_unlock(&session->lock);
  return found;
}

/* Keeps a table for the next job. Takes the key. */
static void put_cached(serve_session *session, serve_cached *cached, serve_table *table,
                       char *key) {
  (void)pthread_mutex_lock(&session->lock);
  serve_cached old = *cached;
  *cached = (serve_cached){.table = serve_table_ref(table), .key = key};
  (void)pthread_mutex_unlock(&session->lock);
  serve_table_drop(old.table);
  free(old.key);
}

/* Reads the data, or takes it from the cache. Takes the key. One job of a session reads at a time,
 * so that two do not read the same. */
static shoal_status read_cached(serve_job *job, serve_cached *cached, const shoal_policy *policy,
                                char *key, bool fresh, serve_table **table, shoal_error *error) {
  serve_session *session = job->session;
  shoal_table *read = NULL;
  shoal_status status = SHOAL_OK;
  *table = NULL;
  if (!key) return serve_fail(error, SHOAL_FAILED, "out of memory");
  (void)pthread_mutex_lock(&session->reading);
  if (!fresh) *table = find_cached(session, cached, key);
  if (!*table)
    status = shoal_table_read(job->work.data->path, policy, SHOAL_FOR_RELEASE,
                              !policy && job->work.delimiter[0] ? job->work.delimiter : NULL,
                              &job->run, &read, error);
  if (read) {
    *table = new_table(read);
    if (*table) put_cached(session, cached, *table, strdup(key));
    else status = serve_fail(error, SHOAL_FAILED, "out of memory");
  }
  (void)pthread_mutex_unlock(&session->reading);
  free(key);
  return status;
}

static shoal_status need_data(const serve_job *job, shoal_error *error) {
  return job->work.data ? SHOAL_OK : serve_fail(error, SHOAL_BAD_INPUT, "no table is open");
}

shoal_status serve_work_raw(serve_job *job, serve_table **table, shoal_error *error) {
  char key[SERVE_RAW_KEY_BYTES];
  shoal_status status = need_data(job, error);
  if (status != SHOAL_OK) return status;
  serve_raw_key(&job->work, key);
  return read_cached(job, &job->session->raw, NULL, strdup(key), false, table, error);
}

/* Does a line begin a section that says nothing about how data is read? */
static bool is_skipped(const char *line) {
  static const char *const sections[] = {"privacy:", "method:", "accept:"};
  for (size_t i = 0; i < sizeof sections / sizeof *sections; i++)
    if (!strncmp(line, sections[i], strlen(sections[i]))) return true;
  return false;
}

/* The data's number and the sections of the policy that decide how data is read. */
static char *reading_key(const serve_work *work) {
  char *key = malloc(work->policy->size + 32);
  if (!key) return NULL;
  size_t n = (size_t)snprintf(key, 32, "%u\n", work->data_number);
  bool skipped = false;
  for (const char *line = work->policy->bytes; *line;) {
    size_t size = strcspn(line, "\n");
    size += line[size] == '\n';
    if (!isspace((unsigned char)*line) && *line != '#' && *line != '-') skipped = is_skipped(line);
    if (!skipped) {
      memcpy(key + n, line, size);
      n += size;
    }
    line += size;
  }
  key[n] = '\0';
  return key;
}

shoal_status serve_work_table(serve_job *job, const shoal_policy *policy, bool fresh,
                              serve_table **table, shoal_error *error) {
  *table = NULL;
  shoal_status status = need_data(job, error);
  if (status != SHOAL_OK) return status;
  return read_cached(job, &job->session->tables[0], policy, reading_key(&job->work), fresh, table,
                     error);
}

/* ---------------------------------------------------------------- answers */

shoal_status serve_work_answer(const shoal_result *result, json_t **answer, shoal_error *error) {
  char *text = NULL;
  shoal_status status = shoal_result_render(result, SHOAL_JSON, &text, error);
  if (status != SHOAL_OK) return status;
  json_t *value = json_loads(text, JSON_ALLOW_NUL, NULL);
  free(text);
  *answer =
      value ? json_pack("{s:b, s:o}", "holds", shoal_result_holds(result), "answer", value) : NULL;
  return *answer ? SHOAL_OK : serve_fail(error, SHOAL_FAILED, "out of memory");
}

json_t *serve_json_text(const char *bytes, size_t size) {
  json_t *text = json_stringn(bytes, size);
  if (text) return text;
  serve_text safe = {0};
  for (size_t i = 0; i < size; i++)
    if ((unsigned char)bytes[i] < 128 ? !serve_text_add(&safe, bytes + i, 1)
                                      : !serve_text_add(&safe, "\xef\xbf\xbd", 3))
      break;
  text = json_stringn(safe.bytes ? safe.bytes : "", safe.size);
  serve_text_reset(&safe);
  return text;
}

json_t *serve_table_rows(const shoal_table *table, uint64_t from, uint64_t n) {
  size_t n_columns = shoal_table_columns(table), size = 0;
  json_t *columns = json_array(), *rows = json_array();
  for (size_t c = 0; c < n_columns; c++) {
    const char *name = shoal_table_name(table, c, &size);
    (void)json_array_append_new(columns, serve_json_text(name ? name : "", name ? size : 0));
  }
  for (uint64_t row = from; row < from + n && shoal_table_cell(table, 0, row) != SIZE_MAX; row++) {
    json_t *cells = json_array();
    for (size_t c = 0; c < n_columns; c++) {
      const char *cell = shoal_table_value(table, c, shoal_table_cell(table, c, row), &size);
      (void)json_array_append_new(cells, cell ? serve_json_text(cell, size) : json_null());
    }
    (void)json_array_append_new(rows, cells);
  }
  return json_pack("{s:o, s:o, s:I}", "columns", columns, "rows", rows, "total",
                   (json_int_t)shoal_table_rows(table));
}
