/* SPDX-License-Identifier: Apache-2.0 */
/*
 * python/tuples: counted tuples, and facts of a release as tuples and bytes. shoal/tuples.py makes
 * objects of them.
 */
#include <stdlib.h>
#include <string.h>

#include "module.h"

/* ---------------------------------------------------------------- counted tuples */

/* The numbers of a bytes object, 8 bytes each. NULL with an exception: it is none. */
static const uint64_t *to_numbers(PyObject *object, size_t *n) {
  char *bytes;
  Py_ssize_t size;
  if (PyBytes_AsStringAndSize(object, &bytes, &size)) return NULL;
  *n = (size_t)size / sizeof(uint64_t);
  return (const uint64_t *)(const void *)bytes;
}

/* Adds columns of a list of (name, kind or -1, rows, values); they stay with the caller. */
static bool add_outside(shoal_table *table, PyObject *list) {
  shoal_error error = {0};
  for (Py_ssize_t i = 0; i < PyList_Size(list); i++) {
    const char *name;
    int kind;
    PyObject *rows, *values;
    size_t n_values;
    shoal_column_figures figures = {.struct_size = sizeof figures};
    if (!PyArg_ParseTuple(PyList_GetItem(list, i), "siOO", &name, &kind, &rows, &values) ||
        !(figures.n_rows = to_numbers(rows, &figures.n)) ||
        !(figures.n_values = to_numbers(values, &n_values)))
      return false;
    figures.cells = kind < 0 ? SHOAL_CELLS_TEXT : (shoal_cell_kind)kind;
    if (n_values < figures.n) figures.n = n_values;
    if (shoal_table_outside(table, name, kind < 0 ? NULL : &figures, &error) != SHOAL_OK) {
      raise_error(&error);
      return false;
    }
  }
  return true;
}

PyObject *table_from_tuples(PyObject *module, PyObject *args) {
  PyObject *capsule, *bytes, *outside;
  const shoal_policy *policy;
  int purpose;
  job j;
  shoal_table *table;
  shoal_status status;
  size_t n;
  (void)module;
  if (!PyArg_ParseTuple(args, "OSO&iO!O&", &capsule, &bytes, to_policy, &policy, &purpose,
                        &PyList_Type, &outside, to_job, &j))
    return NULL;
  struct ArrowArrayStream *stream = PyCapsule_GetPointer(capsule, "arrow_array_stream");
  const uint64_t *counts = stream ? to_numbers(bytes, &n) : NULL;
  if (!counts) return NULL;
  ENGINE(&j, status,
         shoal_table_from_tuples(stream, counts, n, policy, (shoal_purpose)purpose, &j.run, &table,
                                 &j.error));
  if (status != SHOAL_OK) return raise_error(&j.error);
  if (add_outside(table, outside)) return wrap_table(table);
  shoal_table_free(table);
  return NULL;
}

/* ---------------------------------------------------------------- texts and lists */

static PyObject *text_of(const char *bytes, size_t size) {
  return PyUnicode_DecodeUTF8(bytes, (Py_ssize_t)size, "replace");
}

/* Appends `item`, which it takes. */
static bool append(PyObject *list, PyObject *item) {
  bool ok = item && !PyList_Append(list, item);
  Py_XDECREF(item);
  return ok;
}

/* ---------------------------------------------------------------- work in parts */

/* [(value, records)] of one column; `counts` has room for them. */
static PyObject *values_of_column(const shoal_table *table, size_t c, const uint64_t *counts) {
  PyObject *list = PyList_New(0);
  for (size_t v = 0; list && v < shoal_table_values(table, c); v++) {
    size_t size;
    const char *value = shoal_table_value(table, c, v, &size);
    PyObject *row = Py_BuildValue("NK", text_of(value, size), (unsigned long long)counts[v]);
    if (!append(list, row)) Py_CLEAR(list);
  }
  return list;
}

/* {column: [(value, records)]} of the columns that have cells. */
PyObject *table_values(PyObject *module, PyObject *args) {
  const shoal_table *table;
  (void)module;
  if (!PyArg_ParseTuple(args, "O&", to_table, &table)) return NULL;
  PyObject *all = PyDict_New();
  for (size_t c = 0; all && c < shoal_table_columns(table); c++) {
    size_t n = shoal_table_values(table, c), size;
    shoal_error error = {0};
    uint64_t *counts = n ? calloc(n, sizeof *counts) : NULL;
    if (!n) continue;
    PyObject *list = NULL;
    if (!counts) PyErr_NoMemory();
    else if (shoal_table_count_values(table, c, counts, &error) != SHOAL_OK) raise_error(&error);
    else list = values_of_column(table, c, counts);
    if (!list || PyDict_SetItemString(all, shoal_table_name(table, c, &size), list)) Py_CLEAR(all);
    Py_XDECREF(list);
    free(counts);
  }
  return all;
}

/* The strings of a list, one after the other; free both with free(). */
static bool to_texts(PyObject *list, char **bytes, uint64_t **offsets) {
  Py_ssize_t n = PyList_Size(list);
  uint64_t size = 0;
  *bytes = NULL;
  *offsets = calloc((size_t)n + 1, sizeof **offsets);
  for (int copying = 0; *offsets && copying < 2; copying++) {
    if (copying && !(*bytes = malloc(size + 1))) break;
    for (Py_ssize_t i = 0; i < n; i++) {
      Py_ssize_t length;
      const char *text = PyUnicode_AsUTF8AndSize(PyList_GetItem(list, i), &length);
      if (!text) return false;
      if (copying) memcpy(*bytes + (*offsets)[i], text, (size_t)length);
      else (*offsets)[i + 1] = size += (uint64_t)length;
    }
  }
  if (!*bytes) PyErr_NoMemory();
  return *bytes != NULL;
}

PyObject *table_whole(PyObject *module, PyObject *args) {
  shoal_table *table;
  const shoal_policy *policy;
  const char *column;
  PyObject *values, *rows;
  (void)module;
  if (!PyArg_ParseTuple(args, "O&O&sO!S", to_table, &table, to_policy, &policy, &column,
                        &PyList_Type, &values, &rows))
    return NULL;
  char *bytes;
  uint64_t *offsets;
  size_t n, n_values = (size_t)PyList_Size(values);
  shoal_error error = {0};
  bool ok = to_texts(values, &bytes, &offsets);
  const uint64_t *counts = ok ? to_numbers(rows, &n) : NULL;
  ok = counts != NULL;
  if (ok && n != n_values) {
    PyErr_SetString(PyExc_ValueError, "each value needs its number of rows");
    ok = false;
  }
  shoal_text_view view = {bytes, offsets};
  if (ok && shoal_table_whole(table, policy, column, &view, counts, n, &error) != SHOAL_OK) {
    raise_error(&error);
    ok = false;
  }
  free(bytes);
  free(offsets);
  if (!ok) return NULL;
  Py_RETURN_NONE;
}

/* (part or -1, records, column, bound or None, [value], lower, upper) */
static PyObject *cut_of(const shoal_cuts *cuts, size_t number, const shoal_cut *cut) {
  PyObject *values = PyList_New(0);
  size_t size;
  const char *value;
  for (size_t v = 0; values && (value = shoal_cuts_value(cuts, number, v, &size)); v++)
    if (!append(values, text_of(value, size))) Py_CLEAR(values);
  if (!values) return NULL;
  PyObject *bound = cut->is_number ? text_of(cut->bound, cut->bound_bytes) : Py_NewRef(Py_None);
  return Py_BuildValue("nKzNNnn", cut->is_part ? (Py_ssize_t)cut->part : -1,
                       (unsigned long long)cut->n_rows, cut->column, bound, values,
                       (Py_ssize_t)cut->lower, (Py_ssize_t)cut->upper);
}

/* ([node], the part of each row, 4 bytes each) */
PyObject *table_cuts(PyObject *module, PyObject *args) {
  const shoal_table *table;
  const shoal_policy *policy;
  Py_ssize_t n_parts;
  job j;
  shoal_cuts *cuts;
  shoal_status status;
  (void)module;
  if (!PyArg_ParseTuple(args, "O&O&nO&", to_table, &table, to_policy, &policy, &n_parts, to_job,
                        &j))
    return NULL;
  ENGINE(&j, status, shoal_table_cuts(table, policy, (size_t)n_parts, &j.run, &cuts, &j.error));
  if (status != SHOAL_OK) return raise_error(&j.error);
  PyObject *nodes = PyList_New(0);
  shoal_cut cut;
  for (size_t i = 0; nodes && shoal_cuts_node(cuts, i, &cut); i++)
    if (!append(nodes, cut_of(cuts, i, &cut))) Py_CLEAR(nodes);
  uint64_t n_rows;
  const char *parts = (const char *)(const void *)shoal_cuts_part_of_rows(cuts, &n_rows);
  PyObject *both =
      nodes ? Py_BuildValue("Ny#", nodes, parts, (Py_ssize_t)(n_rows * sizeof(uint32_t))) : NULL;
  shoal_cuts_free(cuts);
  return both;
}

/* (rows, classes, smallest class, fewest people) */
PyObject *verify_release(PyObject *module, PyObject *args) {
  const shoal_table *masked, *original;
  const shoal_policy *policy;
  job j;
  shoal_verified found;
  shoal_status status;
  (void)module;
  if (!PyArg_ParseTuple(args, "O&O&O&O&", to_table, &masked, to_table_or_none, &original, to_policy,
                        &policy, to_job, &j))
    return NULL;
  ENGINE(&j, status, shoal_verify_release(masked, original, policy, &j.run, &found, &j.error));
  if (status != SHOAL_OK) return raise_error(&j.error);
  return Py_BuildValue(
      "KKKK", (unsigned long long)found.n_rows, (unsigned long long)found.n_classes,
      (unsigned long long)found.smallest_class, (unsigned long long)found.fewest_people);
}

/* ---------------------------------------------------------------- facts */

/* [name] */
static PyObject *names_of(const shoal_facts *facts, size_t n,
                          const char *(*name)(const shoal_facts *facts, size_t number)) {
  PyObject *list = PyList_New(0);
  for (size_t i = 0; list && i < n; i++)
    if (!append(list, text_of(name(facts, i), strlen(name(facts, i))))) Py_CLEAR(list);
  return list;
}

/* ([label], records, noise rows, fate) */
static PyObject *class_of(const shoal_facts *facts, size_t number, const shoal_class_fact *fact) {
  PyObject *labels = PyList_New(0);
  for (size_t q = 0; labels && q < shoal_facts_quasi(facts); q++) {
    size_t size;
    const char *label = shoal_facts_label(facts, number, q, &size);
    if (!append(labels, text_of(label, size))) Py_CLEAR(labels);
  }
  return labels ? Py_BuildValue("NKKi", labels, (unsigned long long)fact->n_rows,
                                (unsigned long long)fact->n_noise, (int)fact->fate)
                : NULL;
}

static PyObject *classes_of(const shoal_facts *facts) {
  PyObject *list = PyList_New(0);
  shoal_class_fact fact;
  for (size_t c = 0; list && shoal_facts_class(facts, c, &fact); c++)
    if (!append(list, class_of(facts, c, &fact))) Py_CLEAR(list);
  return list;
}

/* [(quasi-identifier, value, label, level, is star, records, suppressed)] */
static PyObject *values_of(const shoal_facts *facts) {
  PyObject *list = PyList_New(0);
  shoal_value_fact fact;
  for (size_t v = 0; list && shoal_facts_value(facts, v, &fact); v++) {
    PyObject *row = Py_BuildValue(
        "nNNINKK", (Py_ssize_t)fact.quasi, text_of(fact.value, fact.value_bytes),
        text_of(fact.label, fact.label_bytes), fact.level, PyBool_FromLong(fact.is_star),
        (unsigned long long)fact.n_rows, (unsigned long long)fact.n_suppressed);
    if (!append(list, row)) Py_CLEAR(list);
  }
  return list;
}

/* Rows, class numbers and records of the shares, 8 bytes each, one after the other. */
static PyObject *shares_of(const shoal_facts *facts) {
  size_t n;
  const shoal_share_fact *shares = shoal_facts_shares(facts, &n);
  PyObject *bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)(n * 3 * sizeof(uint64_t)));
  char *text;
  Py_ssize_t size;
  if (!bytes || PyBytes_AsStringAndSize(bytes, &text, &size)) return NULL;
  uint64_t *out = (uint64_t *)(void *)text;
  for (size_t i = 0; i < n; i++) {
    *out++ = shares[i].row;
    *out++ = shares[i].class_number;
    *out++ = shares[i].n_rows;
  }
  return bytes;
}

/* Makes facts without the GIL; NULL with an exception. */
static shoal_facts *make_facts(PyObject *args) {
  const shoal_release *release;
  job j = {0};
  shoal_facts *facts;
  shoal_status status;
  if (!PyArg_ParseTuple(args, "O&", to_release, &release)) return NULL;
  ENGINE(&j, status, shoal_facts_new(release, &facts, &j.error));
  if (status != SHOAL_OK) raise_error(&j.error);
  return facts;
}

PyObject *release_facts(PyObject *module, PyObject *args) {
  (void)module;
  shoal_facts *facts = make_facts(args);
  if (!facts) return NULL;
  PyObject *all = Py_BuildValue("NNNN", names_of(facts, shoal_facts_quasi(facts), shoal_facts_name),
                                classes_of(facts), values_of(facts), shares_of(facts));
  shoal_facts_free(facts);
  return all;
}

/* {sensitive column: [(class number, value, records)]} */
PyObject *release_histograms(PyObject *module, PyObject *args) {
  (void)module;
  shoal_facts *facts = make_facts(args);
  if (!facts) return NULL;
  PyObject *all = PyDict_New();
  for (size_t s = 0; all && s < shoal_facts_sensitive(facts); s++) {
    const shoal_count_fact *counts;
    size_t n;
    shoal_error error = {0};
    PyObject *list = PyList_New(0);
    if (list && shoal_facts_histograms(facts, s, &counts, &n, &error) != SHOAL_OK) {
      raise_error(&error);
      Py_CLEAR(list);
    }
    for (size_t i = 0; list && i < n; i++)
      if (!append(list, Py_BuildValue("kNK", (unsigned long)counts[i].class_number,
                                      text_of(counts[i].value, counts[i].value_bytes),
                                      (unsigned long long)counts[i].n_rows)))
        Py_CLEAR(list);
    if (!list || PyDict_SetItemString(all, shoal_facts_sensitive_name(facts, s), list))
      Py_CLEAR(all);
    Py_XDECREF(list);
  }
  shoal_facts_free(facts);
  return all;
}

/* {sensitive column: [the cell of each row of the table]} */
PyObject *release_cells(PyObject *module, PyObject *args) {
  (void)module;
  shoal_facts *facts = make_facts(args);
  if (!facts) return NULL;
  PyObject *all = PyDict_New();
  for (size_t s = 0; all && s < shoal_facts_sensitive(facts); s++) {
    const char *cell;
    size_t size;
    PyObject *list = PyList_New(0);
    for (uint64_t row = 0; list && (cell = shoal_facts_cell(facts, s, row, &size)); row++)
      if (!append(list, text_of(cell, size))) Py_CLEAR(list);
    if (!list || PyDict_SetItemString(all, shoal_facts_sensitive_name(facts, s), list))
      Py_CLEAR(all);
    Py_XDECREF(list);
  }
  shoal_facts_free(facts);
  return all;
}

/* ---------------------------------------------------------------- policies */

PyObject *policy_role(PyObject *module, PyObject *args) {
  const shoal_policy *policy;
  const char *column;
  (void)module;
  if (!PyArg_ParseTuple(args, "O&s", to_policy, &policy, &column)) return NULL;
  return Py_BuildValue("z", shoal_policy_role(policy, column));
}

PyObject *policy_missing(PyObject *module, PyObject *args) {
  const shoal_policy *policy;
  (void)module;
  if (!PyArg_ParseTuple(args, "O&", to_policy, &policy)) return NULL;
  return Py_BuildValue("z", shoal_policy_missing(policy));
}

PyObject *policy_algorithm(PyObject *module, PyObject *args) {
  const shoal_policy *policy;
  (void)module;
  if (!PyArg_ParseTuple(args, "O&", to_policy, &policy)) return NULL;
  return Py_BuildValue("s", shoal_policy_algorithm(policy));
}
