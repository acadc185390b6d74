/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/handlers.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "serve/assets.h"
#include "serve/directory.h"
#include "serve/reply.h"
#include "serve/work.h"
#include "serve/yaml.h"

/* ---------------------------------------------------------------- lists */

static json_t *entries(const shoal_entry *list) {
  json_t *array = json_array();
  for (; list->name; list++)
    (void)json_array_append_new(array,
                                json_pack("{s:s, s:s, s:s}", "name", list->name, "parameters",
                                          list->parameters ? list->parameters : "", "summary",
                                          list->summary ? list->summary : ""));
  return array;
}

enum MHD_Result serve_get_catalog(serve_request *request) {
  json_t *jobs = json_array(), *routes = json_array();
  for (const serve_job_kind *kind = serve_job_kinds; kind->name; kind++)
    (void)json_array_append_new(
        jobs, json_pack("{s:s, s:s}", "name", kind->name, "summary", kind->summary));
  for (const serve_route *route = serve_routes; route->method; route++)
    (void)json_array_append_new(routes, json_pack("{s:s, s:s, s:s}", "method", route->method,
                                                  "path", route->path, "summary", route->summary));
  return serve_reply_json(
      request->connection, 200,
      json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "version", shoal_version(),
                "models", entries(shoal_models()), "algorithms", entries(shoal_algorithms()),
                "preferences", entries(shoal_preferences()), "objectives",
                entries(shoal_objectives()), "hierarchies", entries(shoal_hierarchy_kinds()),
                "attacks", entries(shoal_attacks()), "jobs", jobs, "routes", routes));
}

enum MHD_Result serve_get_files(serve_request *request) {
  return serve_reply_json(request->connection, 200,
                          json_pack("{s:o, s:[s]}", "files",
                                    serve_list_files(request->server->directory), "examples",
                                    "hospital"));
}

/* ---------------------------------------------------------------- sessions */

/* The policy, what its forms show, and its error if it has one. */
static json_t *policy_json(const serve_work *work) {
  shoal_policy *policy = NULL;
  shoal_error error = {0};
  if (!work->policy) return json_null();
  const char *text = work->policy->bytes;
  shoal_status status =
      shoal_policy_parse(text, work->policy->size, "policy.yaml", NULL, &policy, &error);
  shoal_policy_free(policy);
  json_t *model = serve_yaml_to_json(text, work->policy->size);
  return json_pack("{s:o, s:o, s:o}", "yaml", serve_json_text(text, work->policy->size), "model",
                   model ? model : json_null(), "error",
                   status == SHOAL_OK ? json_null() : json_string(error.message));
}

static enum MHD_Result reply_state(serve_request *request, serve_session *session) {
  static const char *const names[] = {"release", "certificate", "report", "mapping", "policy"};
  const serve_work *now = &session->now;
  json_t *downloads = json_array();
  (void)pthread_mutex_lock(&session->lock);
  for (size_t i = 0; i < SERVE_N_DOWNLOADS; i++)
    if (session->made[i]) (void)json_array_append_new(downloads, json_string(names[i]));
  (void)pthread_mutex_unlock(&session->lock);
  json_t *data = now->data ? json_pack("{s:o, s:i}", "name",
                                       serve_json_text(now->data->name, strlen(now->data->name)),
                                       "number", (int)now->data_number)
                           : json_null();
  size_t redo = session->n_history ? session->n_history - 1 - session->at : 0;
  return serve_reply_json(request->connection, 200,
                          json_pack("{s:s, s:o, s:o, s:I, s:I, s:s, s:o}", "session", session->id,
                                    "data", data, "policy", policy_json(now), "undo",
                                    (json_int_t)session->at, "redo", (json_int_t)redo, "seed",
                                    now->seed, "downloads", downloads));
}

static const char *base_name(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

/* Reads a policy from an open file; takes the descriptor. */
static bool take_policy(serve_session *session, int fd) {
  enum { MAX_POLICY = 4 << 20 };
  serve_text text = {0};
  char block[1 << 14];
  ssize_t n = -1;
  while (fd >= 0 && text.size <= MAX_POLICY && (n = read(fd, block, sizeof block)) > 0)
    if (!serve_text_add(&text, block, (size_t)n)) break;
  bool ok = n == 0 && text.size <= MAX_POLICY &&
            serve_session_set_policy(session, text.bytes ? text.bytes : "", text.size);
  serve_text_reset(&text);
  if (fd >= 0) (void)close(fd);
  return ok;
}

/* Where files of the policy are: `below` the root. */
static void set_directory(serve_session *session, int root, const char *below) {
  bool fits = serve_join(session->now.below, sizeof session->now.below, "", below);
  session->now.root = fits ? root : -1; /* too long: no file of the policy can be opened */
}

/* The table and the policy of the command line. Its paths are the steward's own. */
static void open_options(serve_server *server, serve_session *session) {
  const serve_options *options = server->options;
  char path[4096];
  if (options->data) {
    const char *top = options->data[0] == '/' ? "" : server->directory_path;
    if (serve_join(path, sizeof path, top, options->data))
      serve_session_set_data(session, serve_blob_of_path(path, base_name(options->data)));
  }
  if (!options->policy) return;
  (void)take_policy(session, open(options->policy, O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  (void)snprintf(path, sizeof path, "%s", options->policy);
  path[base_name(path) - path] = '\0';
  size_t size = strlen(path);
  if (size > 1) path[size - 1] = '\0';
  char below[1024];
  if (serve_path_below("", path, below, sizeof below))
    set_directory(session, server->directory, below);
  else if (server->policy_root >= 0) set_directory(session, server->policy_root, "");
}

enum MHD_Result serve_post_session(serve_request *request) {
  serve_session *session = serve_add_session(request->server);
  if (!session) return serve_reply_error(request->connection, 500, "out of memory");
  open_options(request->server, session);
  return reply_state(request, session);
}

enum MHD_Result serve_get_session(serve_request *request) {
  return reply_state(request, request->session);
}

enum MHD_Result serve_delete_session(serve_request *request) {
  serve_remove_session(request->server, request->session);
  request->session = NULL;
  return serve_reply_json(request->connection, 200, json_object());
}

/* ---------------------------------------------------------------- data and policy */

static const serve_asset *find_asset(const char *path) {
  for (const serve_asset *asset = serve_assets; asset->path; asset++)
    if (!strcmp(asset->path, path)) return asset;
  return NULL;
}

static enum MHD_Result open_example(serve_request *request) {
  const serve_asset *data = find_asset("/patients.csv"), *policy = find_asset("/hospital.yaml");
  serve_blob *blob = serve_blob_new(&request->server->private_files, "patients.csv");
  bool ok =
      blob && data && policy && write(blob->fd, data->bytes, data->size) == (ssize_t)data->size;
  if (!ok) {
    serve_blob_drop(blob);
    return serve_reply_error(request->connection, 500, "no room for the example");
  }
  serve_session_set_data(request->session, blob);
  set_directory(request->session, request->server->directory, "");
  if (!serve_session_set_policy(request->session, (const char *)policy->bytes, policy->size))
    return serve_reply_error(request->connection, 500, "out of memory");
  return reply_state(request, request->session);
}

static const char CANNOT_OPEN[] = "the file cannot be opened below this directory; symbolic links "
                                  "and paths that lead out are refused";

enum MHD_Result serve_post_open(serve_request *request) {
  serve_server *server = request->server;
  char path[4096];
  const char *example = json_string_value(json_object_get(request->json, "example"));
  const char *data = json_string_value(json_object_get(request->json, "data"));
  const char *policy = json_string_value(json_object_get(request->json, "policy"));
  if (example && !strcmp(example, "hospital")) return open_example(request);
  const char *delimiter = json_string_value(json_object_get(request->json, "delimiter"));
  if (delimiter && request->session->now.data) {
    (void)snprintf(request->session->now.delimiter, sizeof request->session->now.delimiter, "%s",
                   delimiter);
    request->session->now.data_number++;
    return reply_state(request, request->session);
  }
  if (!data && !policy)
    return serve_reply_error(request->connection, 400, "give 'data', 'policy' or 'example'");
  const char *wanted = data ? data : policy;
  bool below = serve_path_below("", wanted, path, sizeof path);
  int fd = below ? serve_open_below(server->directory, path) : -1;
  if (fd < 0) return serve_reply_error(request->connection, 403, CANNOT_OPEN);
  if (data) {
    serve_blob *blob = serve_blob_of_fd(&server->private_files, fd, base_name(path));
    if (!blob) return serve_reply_error(request->connection, 500, "out of memory");
    serve_session_set_data(request->session, blob);
  } else if (!take_policy(request->session, fd)) {
    return serve_reply_error(request->connection, 400, "the policy cannot be read");
  }
  char *slash = strrchr(path, '/');
  *(slash ? slash : path) = '\0';
  set_directory(request->session, server->directory, path);
  return reply_state(request, request->session);
}

enum MHD_Result serve_put_data(serve_request *request) {
  if (!request->upload_size)
    return serve_reply_error(request->connection, 400, "the file is empty");
  serve_session_set_data(request->session, request->upload);
  request->upload = NULL;
  set_directory(request->session, request->server->directory, "");
  return reply_state(request, request->session);
}

enum MHD_Result serve_put_policy(serve_request *request) {
  const char *text = request->body.bytes ? request->body.bytes : "";
  if (!serve_session_set_policy(request->session, text, request->body.size))
    return serve_reply_error(request->connection, 500, "out of memory");
  return reply_state(request, request->session);
}

static enum MHD_Result step(serve_request *request, int by) {
  if (!serve_session_step(request->session, by))
    return serve_reply_error(request->connection, 409,
                             by < 0 ? "nothing to undo" : "nothing to redo");
  return reply_state(request, request->session);
}

enum MHD_Result serve_post_undo(serve_request *request) { return step(request, -1); }

enum MHD_Result serve_post_redo(serve_request *request) { return step(request, 1); }

enum MHD_Result serve_post_rows(serve_request *request) {
  enum { MAX_ROWS = 200 };
  json_int_t from = json_integer_value(json_object_get(request->json, "from"));
  json_int_t n = json_integer_value(json_object_get(request->json, "n"));
  serve_session *session = request->session;
  char key[SERVE_RAW_KEY_BYTES];
  serve_raw_key(&session->now, key);
  (void)pthread_mutex_lock(&session->lock);
  bool current = session->raw.key && !strcmp(session->raw.key, key); /* not of data from before */
  serve_table *raw = current ? serve_table_ref(session->raw.table) : NULL;
  (void)pthread_mutex_unlock(&session->lock);
  if (!raw) return serve_reply_error(request->connection, 409, "the table is not read yet");
  if (from < 0) from = 0;
  if (n < 1 || n > MAX_ROWS) n = MAX_ROWS;
  json_t *rows = serve_table_rows(raw->table, (uint64_t)from, (uint64_t)n);
  serve_table_drop(raw);
  return serve_reply_json(request->connection, 200, rows);
}

/* ---------------------------------------------------------------- jobs and downloads */

static const serve_job_kind *find_kind(const char *name) {
  for (const serve_job_kind *kind = serve_job_kinds; kind->name; kind++)
    if (!strcmp(kind->name, name)) return kind;
  return NULL;
}

enum MHD_Result serve_post_job(serve_request *request) {
  shoal_error error = {0};
  const serve_job_kind *kind = find_kind(request->parts[1]);
  if (!kind) return serve_reply_error(request->connection, 404, "no such kind of job");
  serve_job *job = serve_job_start(&request->server->pool, request->session, kind, request->json,
                                   request->server->wake_fd, &error);
  request->json = NULL;
  if (!job) return serve_reply_error(request->connection, 503, error.message);
  return serve_stream_begin(request->server, request->connection, job, &request->stream);
}

enum MHD_Result serve_delete_job(serve_request *request) {
  const serve_job_kind *kind = find_kind(request->parts[1]);
  if (!kind) return serve_reply_error(request->connection, 404, "no such kind of job");
  serve_job *job = request->session->jobs[kind - serve_job_kinds];
  if (job) serve_job_cancel(job);
  return serve_reply_json(request->connection, 200, json_object());
}

enum MHD_Result serve_get_download(serve_request *request) {
  static const struct {
    const char *name, *type;
  } downloads[SERVE_N_DOWNLOADS] = {
      [SERVE_RELEASE] = {"release", "text/csv; charset=utf-8"},
      [SERVE_CERTIFICATE] = {"certificate", "application/octet-stream"},
      [SERVE_REPORT] = {"report", "application/octet-stream"},
      [SERVE_MAPPING] = {"mapping", "text/csv; charset=utf-8"},
      [SERVE_POLICY] = {"policy", "application/yaml"},
  };
  serve_session *session = request->session;
  for (size_t i = 0; i < SERVE_N_DOWNLOADS; i++) {
    if (strcmp(downloads[i].name, request->parts[1]) != 0) continue;
    (void)pthread_mutex_lock(&session->lock);
    serve_blob *blob = serve_blob_ref(session->made[i]);
    (void)pthread_mutex_unlock(&session->lock);
    if (!blob) return serve_reply_error(request->connection, 404, "there is no release yet");
    enum MHD_Result sent = serve_reply_file(request->connection, downloads[i].type, blob->fd);
    serve_blob_drop(blob);
    return sent;
  }
  return serve_reply_error(request->connection, 404, "no such download");
}
