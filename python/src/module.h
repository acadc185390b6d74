/* SPDX-License-Identifier: Apache-2.0 */
/* python: what the files of the extension share. */
#ifndef SHOAL_PYTHON_MODULE_H
#define SHOAL_PYTHON_MODULE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <shoal/shoal.h>

/* Names of capsules. */
#define POLICY "shoal.policy"
#define TABLE "shoal.table"
#define RESULT "shoal.result"
#define RELEASE "shoal.release"

/* Raises the exception of shoal._errors that fits. Returns NULL. */
PyObject *raise_error(const shoal_error *error);
/* Takes ownership of the table. */
PyObject *wrap_table(shoal_table *table);

/* Converters for PyArg_ParseTuple. None gives NULL where the name says so. */
int to_policy(PyObject *object, void *out);
int to_table(PyObject *object, void *out);
int to_table_or_none(PyObject *object, void *out);
int to_release(PyObject *object, void *out);
int to_job(PyObject *object, void *out);

/* One call of the engine. */
typedef struct job {
  shoal_run run;
  shoal_error error;
  PyObject *progress;    /* called with stage, done, total, unit; None: only signals are handled */
  PyThreadState *thread; /* saved while the engine works */
  double next;           /* when Python is called next, in seconds */
  bool cancelled;
} job;

/* Runs `call` without the GIL; `status` gets its result. */
#define ENGINE(j, status, call)                                                                    \
  do {                                                                                             \
    (j)->thread = PyEval_SaveThread();                                                             \
    (status) = (call);                                                                             \
    PyEval_RestoreThread((j)->thread);                                                             \
  } while (0)

/* columns_stream(names, columns): Python lists and buffers as a capsule "arrow_array_stream". */
PyObject *columns_stream(PyObject *module, PyObject *args);
/* The columns of a release as a list of (name, labels, codes, format, has missing cells). */
PyObject *read_batch(struct ArrowSchema *schema, struct ArrowArray *batch);

/* tuples.c: counted tuples and facts; _shoal.pyi has their arguments. */
PyObject *table_from_tuples(PyObject *module, PyObject *args);
PyObject *table_values(PyObject *module, PyObject *args);
PyObject *table_whole(PyObject *module, PyObject *args);
PyObject *table_cuts(PyObject *module, PyObject *args);
PyObject *verify_release(PyObject *module, PyObject *args);
PyObject *release_facts(PyObject *module, PyObject *args);
PyObject *release_histograms(PyObject *module, PyObject *args);
PyObject *release_cells(PyObject *module, PyObject *args);
PyObject *policy_role(PyObject *module, PyObject *args);
PyObject *policy_missing(PyObject *module, PyObject *args);
PyObject *policy_algorithm(PyObject *module, PyObject *args);

#endif
