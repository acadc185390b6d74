/* SPDX-License-Identifier: Apache-2.0 */
/*
 * python/module: the extension shoal._shoal. Objects of libshoal are capsules, jobs are functions.
 * All else (policies, kinds of tables, results, exceptions) is Python.
 *
 * The GIL is released while the engine works. The engine calls on_progress on the thread that runs
 * the job; ten times a second it takes the GIL, lets Python handle signals (Control-C raises
 * KeyboardInterrupt) and calls the caller's progress function. An exception cancels the job.
 */
#include "module.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---------------------------------------------------------------- errors and handles */

/* Raises the exception of shoal._errors that fits. Returns NULL. */
PyObject *raise_error(const shoal_error *error) {
  if (PyErr_Occurred()) return NULL; /* raised by the progress function, which cancelled the job */
  PyObject *errors = PyImport_ImportModule("shoal._errors");
  PyObject *message =
      PyUnicode_DecodeUTF8(error->message, (Py_ssize_t)strlen(error->message), "replace");
  PyObject *column =
      PyUnicode_DecodeUTF8(error->column, (Py_ssize_t)strlen(error->column), "replace");
  PyObject *exception = NULL;
  if (errors && message && column)
    exception = PyObject_CallMethod(errors, "make", "iKOO", (int)error->status,
                                    (unsigned long long)error->row, column, message);
  if (exception) PyErr_SetObject((PyObject *)Py_TYPE(exception), exception);
  Py_XDECREF(errors);
  Py_XDECREF(message);
  Py_XDECREF(column);
  Py_XDECREF(exception);
  return NULL;
}

static void free_policy(PyObject *capsule) {
  shoal_policy_free(PyCapsule_GetPointer(capsule, POLICY));
}

static void free_table(PyObject *capsule) {
  shoal_table_free(PyCapsule_GetPointer(capsule, TABLE));
}

static void free_result(PyObject *capsule) {
  shoal_result_free(PyCapsule_GetPointer(capsule, RESULT));
}

/* Its context is a tuple of the table and the policy that it borrows. */
static void free_release(PyObject *capsule) {
  PyObject *borrowed = PyCapsule_GetContext(capsule);
  shoal_release_free(PyCapsule_GetPointer(capsule, RELEASE));
  Py_XDECREF(borrowed);
}

static PyObject *wrap_policy(shoal_policy *policy) {
  PyObject *capsule = PyCapsule_New(policy, POLICY, free_policy);
  if (!capsule) shoal_policy_free(policy);
  return capsule;
}

PyObject *wrap_table(shoal_table *table) {
  PyObject *capsule = PyCapsule_New(table, TABLE, free_table);
  if (!capsule) shoal_table_free(table);
  return capsule;
}

static PyObject *wrap_result(shoal_result *result) {
  PyObject *capsule = PyCapsule_New(result, RESULT, free_result);
  if (!capsule) shoal_result_free(result);
  return capsule;
}

static PyObject *wrap_release(shoal_release *release, PyObject *table, PyObject *policy) {
  PyObject *capsule = PyCapsule_New(release, RELEASE, free_release);
  PyObject *borrowed = capsule ? PyTuple_Pack(2, table, policy) : NULL;
  if (!borrowed || PyCapsule_SetContext(capsule, borrowed)) {
    Py_XDECREF(borrowed);
    if (capsule) Py_DECREF(capsule);
    else shoal_release_free(release);
    return NULL;
  }
  return capsule;
}

/* Converters for PyArg_ParseTuple: None gives NULL where the name says so. */
#define CONVERTER(function, name)                                                                  \
  int function(PyObject *object, void *out) {                                                      \
    return (*(void **)out = PyCapsule_GetPointer(object, name)) != NULL;                           \
  }
CONVERTER(to_policy, POLICY)
CONVERTER(to_table, TABLE)
CONVERTER(to_release, RELEASE)

static int to_policy_or_none(PyObject *object, void *out) {
  *(void **)out = NULL;
  return object == Py_None || to_policy(object, out);
}

int to_table_or_none(PyObject *object, void *out) {
  *(void **)out = NULL;
  return object == Py_None || to_table(object, out);
}

/* A result, or the one that a release owns. */
static int to_result(PyObject *object, void *out) {
  if (PyCapsule_IsValid(object, RELEASE))
    *(const void **)out = shoal_release_result(PyCapsule_GetPointer(object, RELEASE));
  else *(const void **)out = PyCapsule_GetPointer(object, RESULT);
  return *(const void **)out != NULL;
}

/* A list of tables as an array; free it with free(). */
typedef struct table_list {
  const shoal_table **tables;
  size_t n;
} table_list;

static bool to_tables(PyObject *list, table_list *out) {
  Py_ssize_t n = PyList_Size(list);
  *out = (table_list){NULL, 0};
  if (n < 0) return false;
  out->tables = calloc((size_t)n + 1, sizeof *out->tables);
  if (!out->tables) {
    PyErr_NoMemory();
    return false;
  }
  for (Py_ssize_t i = 0; i < n; i++)
    if (!to_table(PyList_GetItem(list, i), &out->tables[i])) return false;
  out->n = (size_t)n;
  return true;
}

/* Takes ownership of a `text` of the library. */
static PyObject *take_text(char *text) {
  PyObject *string = PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
  shoal_free(text);
  return string;
}

/* ---------------------------------------------------------------- jobs */

enum { CALLS_PER_SECOND = 10 };

static double now_seconds(void) {
  struct timespec now;
  (void)clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Returns true to cancel: the function asked for it, or an exception is set. */
static bool call_progress(job *j, const shoal_progress *progress) {
  if (PyErr_CheckSignals()) return true;
  if (j->progress == Py_None) return false;
  PyObject *answer = PyObject_CallFunction(
      j->progress, "sKKs", progress->stage, (unsigned long long)progress->done,
      (unsigned long long)progress->total, progress->unit ? progress->unit : "");
  int stop = answer ? PyObject_IsTrue(answer) : -1;
  Py_XDECREF(answer);
  return stop != 0;
}

static bool on_progress(void *user, const shoal_progress *progress) {
  job *j = user;
  double now = now_seconds();
  if (j->cancelled || now < j->next) return j->cancelled;
  j->next = now + 1.0 / CALLS_PER_SECOND;
  PyEval_RestoreThread(j->thread);
  j->cancelled = call_progress(j, progress);
  j->thread = PyEval_SaveThread();
  return j->cancelled;
}

/* (threads, progress or None, quick, time_limit) */
int to_job(PyObject *object, void *out) {
  job *j = out;
  int quick;
  memset(j, 0, sizeof *j);
  if (!PyTuple_Check(object)) {
    PyErr_SetString(PyExc_TypeError, "run: not a tuple");
    return 0;
  }
  if (!PyArg_ParseTuple(object, "IOpd", &j->run.n_threads, &j->progress, &quick,
                        &j->run.time_limit_seconds))
    return 0;
  j->run.quick = quick;
  j->run.progress = on_progress;
  j->run.progress_user = j;
  return 1;
}

/* ---------------------------------------------------------------- policies and tables */

static PyObject *py_version(PyObject *module, PyObject *unused) {
  (void)module, (void)unused;
  return PyUnicode_FromString(shoal_version());
}

static PyObject *py_policy_parse(PyObject *module, PyObject *args) {
  const char *text, *name, *directory;
  Py_ssize_t size;
  shoal_error error = {0};
  shoal_policy *policy;
  (void)module;
  if (!PyArg_ParseTuple(args, "s#ss", &text, &size, &name, &directory)) return NULL;
  if (shoal_policy_parse(text, (size_t)size, name, directory, &policy, &error) != SHOAL_OK)
    return raise_error(&error);
  return wrap_policy(policy);
}

static PyObject *py_policy_set(PyObject *module, PyObject *args) {
  shoal_policy *policy;
  const char *key, *value;
  shoal_error error = {0};
  (void)module;
  if (!PyArg_ParseTuple(args, "O&ss", to_policy, &policy, &key, &value)) return NULL;
  if (shoal_policy_set(policy, key, value, &error) != SHOAL_OK) return raise_error(&error);
  Py_RETURN_NONE;
}

static PyObject *py_table_read(PyObject *module, PyObject *args) {
  const char *path, *delimiter;
  const shoal_policy *policy;
  int purpose;
  job j;
  shoal_table *table;
  shoal_status status;
  (void)module;
  if (!PyArg_ParseTuple(args, "sO&izO&", &path, to_policy_or_none, &policy, &purpose, &delimiter,
                        to_job, &j))
    return NULL;
  ENGINE(
      &j, status,
      shoal_table_read(path, policy, (shoal_purpose)purpose, delimiter, &j.run, &table, &j.error));
  return status == SHOAL_OK ? wrap_table(table) : raise_error(&j.error);
}

static PyObject *py_table_from_stream(PyObject *module, PyObject *args) {
  PyObject *capsule;
  const shoal_policy *policy;
  int purpose;
  job j;
  shoal_table *table;
  shoal_status status;
  (void)module;
  if (!PyArg_ParseTuple(args, "OO&iO&", &capsule, to_policy_or_none, &policy, &purpose, to_job, &j))
    return NULL;
  struct ArrowArrayStream *stream = PyCapsule_GetPointer(capsule, "arrow_array_stream");
  if (!stream) return NULL;
  ENGINE(&j, status,
         shoal_table_from_arrow(stream, policy, (shoal_purpose)purpose, &j.run, &table, &j.error));
  return status == SHOAL_OK ? wrap_table(table) : raise_error(&j.error);
}

static PyObject *py_table_shape(PyObject *module, PyObject *args) {
  const shoal_table *table;
  (void)module;
  if (!PyArg_ParseTuple(args, "O&", to_table, &table)) return NULL;
  return Py_BuildValue("KK", (unsigned long long)shoal_table_rows(table),
                       (unsigned long long)shoal_table_columns(table));
}

/* ---------------------------------------------------------------- studies */

typedef shoal_status (*study_fn)(const shoal_table *table, const shoal_policy *policy,
                                 const shoal_run *run, shoal_result **result, shoal_error *error);

static shoal_status run_profile(const shoal_table *table, const shoal_policy *policy,
                                const shoal_run *run, shoal_result **result, shoal_error *error) {
  (void)policy;
  return shoal_profile(table, run, result, error);
}

static PyObject *study(PyObject *args, study_fn run) {
  const shoal_table *table;
  const shoal_policy *policy;
  job j;
  shoal_result *result;
  shoal_status status;
  if (!PyArg_ParseTuple(args, "O&O&O&", to_table, &table, to_policy_or_none, &policy, to_job, &j))
    return NULL;
  ENGINE(&j, status, run(table, policy, &j.run, &result, &j.error));
  return status == SHOAL_OK ? wrap_result(result) : raise_error(&j.error);
}

static PyObject *py_profile(PyObject *module, PyObject *args) {
  (void)module;
  return study(args, run_profile);
}

static PyObject *py_check(PyObject *module, PyObject *args) {
  (void)module;
  return study(args, shoal_check);
}

static PyObject *py_conditions(PyObject *module, PyObject *args) {
  (void)module;
  return study(args, shoal_conditions);
}

static PyObject *py_lattice(PyObject *module, PyObject *args) {
  (void)module;
  return study(args, shoal_lattice);
}

static PyObject *py_explain(PyObject *module, PyObject *args) {
  (void)module;
  return study(args, shoal_explain);
}

static PyObject *py_profile_policy(PyObject *module, PyObject *args) {
  const shoal_result *profile;
  shoal_policy_style style = {0};
  int decided;
  shoal_error error = {0};
  char *yaml;
  (void)module;
  if (!PyArg_ParseTuple(args, "O&pz", to_result, &profile, &decided, &style.preset)) return NULL;
  style.decided = decided;
  if (shoal_profile_policy_as(profile, &style, &yaml, &error) != SHOAL_OK)
    return raise_error(&error);
  return take_text(yaml);
}

static PyObject *py_attack(PyObject *module, PyObject *args) {
  const shoal_table *masked;
  const shoal_policy *policy;
  PyObject *previous;
  shoal_attack_options options = {0};
  table_list list = {NULL, 0};
  job j;
  shoal_result *result = NULL;
  shoal_status status;
  (void)module;
  if (!PyArg_ParseTuple(args, "O&O&O&O&OzIIIzO&", to_table, &masked, to_policy, &policy,
                        to_table_or_none, &options.external, to_table_or_none, &options.original,
                        &previous, &options.bound, &options.rule_out, &options.known_records,
                        &options.min_categories, &options.mu, to_job, &j))
    return NULL;
  if (!to_tables(previous, &list)) {
    free(list.tables);
    return NULL;
  }
  options.previous = list.tables;
  options.n_previous = list.n;
  ENGINE(&j, status, shoal_attack_release(masked, policy, &options, &j.run, &result, &j.error));
  free(list.tables);
  return status == SHOAL_OK ? wrap_result(result) : raise_error(&j.error);
}

static PyObject *py_measure(PyObject *module, PyObject *args) {
  const shoal_table *original, *masked;
  const shoal_policy *policy;
  shoal_measure_options options = {.has_queries = true};
  unsigned long long n_queries;
  unsigned dimensions;
  job j;
  shoal_result *result;
  shoal_status status;
  (void)module;
  if (!PyArg_ParseTuple(args, "O&O&O&O&KIdO&", to_table, &original, to_table, &masked, to_policy,
                        &policy, to_table_or_none, &options.population, &n_queries, &dimensions,
                        &options.selectivity, to_job, &j))
    return NULL;
  options.n_queries = n_queries;
  options.dimensions = dimensions;
  ENGINE(&j, status, shoal_measure(original, masked, policy, &options, &j.run, &result, &j.error));
  return status == SHOAL_OK ? wrap_result(result) : raise_error(&j.error);
}

static PyObject *py_certificate(PyObject *module, PyObject *args) {
  const char *path, *left_out;
  const shoal_policy *policy;
  job j;
  shoal_result *result;
  shoal_status status;
  (void)module;
  if (!PyArg_ParseTuple(args, "sO&sO&", &path, to_policy, &policy, &left_out, to_job, &j))
    return NULL;
  ENGINE(&j, status, shoal_certificate(path, policy, left_out, &j.run, &result, &j.error));
  return status == SHOAL_OK ? wrap_result(result) : raise_error(&j.error);
}

static PyObject *py_hierarchy_describe(PyObject *module, PyObject *args) {
  const char *source;
  const shoal_policy *policy;
  const shoal_table *table;
  job j = {0};
  shoal_result *result;
  shoal_status status;
  (void)module;
  if (!PyArg_ParseTuple(args, "zO&O&", &source, to_policy_or_none, &policy, to_table_or_none,
                        &table))
    return NULL;
  ENGINE(&j, status, shoal_hierarchy_describe(source, policy, table, &result, &j.error));
  return status == SHOAL_OK ? wrap_result(result) : raise_error(&j.error);
}

static PyObject *py_hierarchy_build(PyObject *module, PyObject *args) {
  const char *spec, *column;
  const shoal_table *table;
  job j = {0};
  char *csv;
  shoal_status status;
  (void)module;
  if (!PyArg_ParseTuple(args, "sO&s", &spec, to_table, &table, &column)) return NULL;
  ENGINE(&j, status, shoal_hierarchy_build(spec, table, column, &csv, &j.error));
  return status == SHOAL_OK ? take_text(csv) : raise_error(&j.error);
}

/* ---------------------------------------------------------------- results */

static PyObject *py_render(PyObject *module, PyObject *args) {
  const shoal_result *result;
  int format;
  job j = {0};
  char *text;
  shoal_status status;
  (void)module;
  if (!PyArg_ParseTuple(args, "O&i", to_result, &result, &format)) return NULL;
  ENGINE(&j, status, shoal_result_render(result, (shoal_format)format, &text, &j.error));
  return status == SHOAL_OK ? take_text(text) : raise_error(&j.error);
}

/* (holds, verdict, open risks) */
static PyObject *py_judge(PyObject *module, PyObject *args) {
  const shoal_result *result;
  (void)module;
  if (!PyArg_ParseTuple(args, "O&", to_result, &result)) return NULL;
  return Py_BuildValue("NiK", PyBool_FromLong(shoal_result_holds(result)),
                       (int)shoal_result_verdict(result),
                       (unsigned long long)shoal_result_open_risks(result));
}

/* ---------------------------------------------------------------- releases */

static PyObject *py_anonymize(PyObject *module, PyObject *args) {
  PyObject *table_handle, *policy_handle;
  job j;
  shoal_release *release;
  shoal_status status;
  (void)module;
  if (!PyArg_ParseTuple(args, "OOO&", &table_handle, &policy_handle, to_job, &j)) return NULL;
  const shoal_table *table = PyCapsule_GetPointer(table_handle, TABLE);
  const shoal_policy *policy = table ? PyCapsule_GetPointer(policy_handle, POLICY) : NULL;
  if (!policy) return NULL;
  ENGINE(&j, status, shoal_anonymize(table, policy, &j.run, &release, &j.error));
  return status == SHOAL_OK ? wrap_release(release, table_handle, policy_handle)
                            : raise_error(&j.error);
}

/* The rows of the input that the released rows come from, 8 bytes each. */
static PyObject *row_numbers(shoal_release *release) {
  const uint64_t *rows;
  uint64_t n;
  shoal_error error = {0};
  if (shoal_release_row_numbers(release, &rows, &n, &error) != SHOAL_OK) return raise_error(&error);
  return PyBytes_FromStringAndSize((const char *)(const void *)rows,
                                   (Py_ssize_t)(n * sizeof *rows));
}

/* Takes the schema and the only batch out of a stream. */
static PyObject *take_columns(struct ArrowArrayStream *stream) {
  struct ArrowSchema schema = {0};
  struct ArrowArray batch = {0};
  PyObject *columns = NULL;
  if (!stream->get_schema(stream, &schema) && !stream->get_next(stream, &batch) && batch.release)
    columns = read_batch(&schema, &batch);
  else PyErr_NoMemory();
  if (batch.release) batch.release(&batch);
  if (schema.release) schema.release(&schema);
  return columns;
}

/* The release as ([(name, labels, codes, format, has missing cells)], row numbers). */
static PyObject *py_release_columns(PyObject *module, PyObject *args) {
  shoal_release *release;
  int keep_order, strict, detail;
  job j;
  struct ArrowArrayStream stream = {0};
  shoal_status status;
  (void)module;
  if (!PyArg_ParseTuple(args, "O&ppiO&", to_release, &release, &keep_order, &strict, &detail,
                        to_job, &j))
    return NULL;
  shoal_arrow_options options = {.struct_size = sizeof options,
                                 .keep_order = keep_order,
                                 .strict = strict,
                                 .detail = (shoal_detail)detail};
  ENGINE(&j, status, shoal_release_to_arrow(release, &options, &j.run, &stream, &j.error));
  if (status != SHOAL_OK) return raise_error(&j.error);
  PyObject *columns = take_columns(&stream);
  stream.release(&stream);
  PyObject *rows = columns ? row_numbers(release) : NULL;
  PyObject *both = rows ? PyTuple_Pack(2, columns, rows) : NULL;
  Py_XDECREF(columns);
  Py_XDECREF(rows);
  return both;
}

/* Bytes that are taken without the GIL. */
typedef struct text_buffer {
  char *bytes;
  size_t size, capacity;
} text_buffer;

static bool take_bytes(void *user, const void *bytes, size_t size) {
  text_buffer *buffer = user;
  if (buffer->size + size > buffer->capacity) {
    size_t capacity = (buffer->size + size) * 2;
    char *grown = realloc(buffer->bytes, capacity);
    if (!grown) return false;
    buffer->bytes = grown;
    buffer->capacity = capacity;
  }
  memcpy(buffer->bytes + buffer->size, bytes, size);
  buffer->size += size;
  return true;
}

/* The release as the bytes of a CSV file. */
static PyObject *py_release_csv(PyObject *module, PyObject *args) {
  shoal_release *release;
  PyObject *previous;
  int keep_order, strict, detail;
  table_list list = {NULL, 0};
  text_buffer buffer = {0};
  job j;
  shoal_status status;
  (void)module;
  if (!PyArg_ParseTuple(args, "O&ppOiO&", to_release, &release, &keep_order, &strict, &previous,
                        &detail, to_job, &j))
    return NULL;
  if (!to_tables(previous, &list)) {
    free(list.tables);
    return NULL;
  }
  shoal_write_options options = {.keep_order = keep_order,
                                 .strict = strict,
                                 .detail = (shoal_detail)detail,
                                 .previous = list.tables,
                                 .n_previous = list.n};
  ENGINE(&j, status,
         shoal_release_write_to(release, take_bytes, &buffer, &options, &j.run, &j.error));
  free(list.tables);
  PyObject *text = status == SHOAL_OK
                       ? PyBytes_FromStringAndSize(buffer.bytes, (Py_ssize_t)buffer.size)
                       : raise_error(&j.error);
  free(buffer.bytes);
  return text;
}

/* Compares a release with earlier ones. */
static PyObject *py_release_compare(PyObject *module, PyObject *args) {
  shoal_release *release;
  const shoal_table *masked;
  PyObject *previous;
  table_list list = {NULL, 0};
  job j;
  shoal_status status;
  (void)module;
  if (!PyArg_ParseTuple(args, "O&O&OO&", to_release, &release, to_table, &masked, &previous, to_job,
                        &j))
    return NULL;
  if (!to_tables(previous, &list)) {
    free(list.tables);
    return NULL;
  }
  ENGINE(&j, status, shoal_release_compare(release, masked, list.tables, list.n, &j.run, &j.error));
  free(list.tables);
  if (status != SHOAL_OK) return raise_error(&j.error);
  Py_RETURN_NONE;
}

/* ---------------------------------------------------------------- lists */

/* [(name, parameters, summary)] */
static PyObject *entries(const shoal_entry *entry) {
  PyObject *list = PyList_New(0);
  for (; list && entry->name; entry++) {
    PyObject *row = Py_BuildValue("sss", entry->name, entry->parameters ? entry->parameters : "",
                                  entry->summary ? entry->summary : "");
    if (!row || PyList_Append(list, row)) Py_CLEAR(list);
    Py_XDECREF(row);
  }
  return list;
}

static PyObject *py_models(PyObject *module, PyObject *unused) {
  (void)module, (void)unused;
  return entries(shoal_models());
}

static PyObject *py_algorithms(PyObject *module, PyObject *unused) {
  (void)module, (void)unused;
  return entries(shoal_algorithms());
}

static PyMethodDef methods[] = {
    {"version", py_version, METH_NOARGS, NULL},
    {"policy_parse", py_policy_parse, METH_VARARGS, NULL},
    {"policy_set", py_policy_set, METH_VARARGS, NULL},
    {"table_read", py_table_read, METH_VARARGS, NULL},
    {"table_from_stream", py_table_from_stream, METH_VARARGS, NULL},
    {"table_from_tuples", table_from_tuples, METH_VARARGS, NULL},
    {"table_values", table_values, METH_VARARGS, NULL},
    {"table_whole", table_whole, METH_VARARGS, NULL},
    {"table_cuts", table_cuts, METH_VARARGS, NULL},
    {"verify", verify_release, METH_VARARGS, NULL},
    {"table_shape", py_table_shape, METH_VARARGS, NULL},
    {"columns_stream", columns_stream, METH_VARARGS, NULL},
    {"profile", py_profile, METH_VARARGS, NULL},
    {"profile_policy", py_profile_policy, METH_VARARGS, NULL},
    {"check", py_check, METH_VARARGS, NULL},
    {"conditions", py_conditions, METH_VARARGS, NULL},
    {"lattice", py_lattice, METH_VARARGS, NULL},
    {"explain", py_explain, METH_VARARGS, NULL},
    {"attack", py_attack, METH_VARARGS, NULL},
    {"measure", py_measure, METH_VARARGS, NULL},
    {"certificate", py_certificate, METH_VARARGS, NULL},
    {"hierarchy_describe", py_hierarchy_describe, METH_VARARGS, NULL},
    {"hierarchy_build", py_hierarchy_build, METH_VARARGS, NULL},
    {"render", py_render, METH_VARARGS, NULL},
    {"judge", py_judge, METH_VARARGS, NULL},
    {"anonymize", py_anonymize, METH_VARARGS, NULL},
    {"release_columns", py_release_columns, METH_VARARGS, NULL},
    {"release_csv", py_release_csv, METH_VARARGS, NULL},
    {"release_compare", py_release_compare, METH_VARARGS, NULL},
    {"facts", release_facts, METH_VARARGS, NULL},
    {"histograms", release_histograms, METH_VARARGS, NULL},
    {"cells", release_cells, METH_VARARGS, NULL},
    {"policy_role", policy_role, METH_VARARGS, NULL},
    {"policy_missing", policy_missing, METH_VARARGS, NULL},
    {"policy_algorithm", policy_algorithm, METH_VARARGS, NULL},
    {"models", py_models, METH_NOARGS, NULL},
    {"algorithms", py_algorithms, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, .m_name = "_shoal",
                                        .m_doc = "libshoal.", .m_size = 0, .m_methods = methods};

PyMODINIT_FUNC PyInit__shoal(void);

PyMODINIT_FUNC PyInit__shoal(void) { return PyModuleDef_Init(&definition); }
