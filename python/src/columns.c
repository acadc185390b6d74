/* SPDX-License-Identifier: Apache-2.0 */
/*
 * python/columns: Python objects as an Arrow stream, and the streams that the library makes as
 * Python objects, without any package.
 *
 * A column is a list (str, int, float, bool, None; other objects by their str()) or an object with
 * a buffer of numbers, such as an array of numpy, which is not copied. None and NaN are null. An
 * ellipsis stands for a column whose values have no text.
 */
#include "module.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define STREAM "arrow_array_stream"

/* ---------------------------------------------------------------- Python -> Arrow: one column */

/* A column in the making and, later, what its ArrowArray owns. */
typedef struct column {
  char *name;
  char format[3];
  int64_t n_rows, n_null;
  uint8_t *valid;
  void *values;   /* numbers or bits; int64 offsets of text */
  char *text;     /* of text */
  Py_buffer view; /* view.obj: the values are another object's */
  const void *buffers[3];
} column;

static void clear_column(column *c) {
  free(c->name);
  free(c->valid);
  if (!c->view.obj) free(c->values);
  free(c->text);
  if (c->view.obj) PyBuffer_Release(&c->view);
}

static void *allot(size_t n, size_t size) {
  void *memory = calloc(n ? n : 1, size);
  if (!memory) PyErr_NoMemory();
  return memory;
}

static void set_bit(uint8_t *bits, Py_ssize_t i) { bits[i >> 3] |= (uint8_t)(1u << (i & 7)); }

enum { NOTHING = 0, BOOLS = 1, INTEGERS = 2, FLOATS = 4, TEXT = 8 };

static bool is_null(PyObject *item) {
  return item == Py_None || (PyFloat_Check(item) && isnan(PyFloat_AsDouble(item)));
}

static int kind_of(PyObject *item) {
  if (is_null(item)) return NOTHING;
  if (PyUnicode_Check(item)) return TEXT;
  if (PyBool_Check(item)) return BOOLS;
  if (PyFloat_Check(item)) return FLOATS;
  if (!PyLong_Check(item)) return TEXT;
  int overflow;
  (void)PyLong_AsLongLongAndOverflow(item, &overflow);
  return overflow ? TEXT : INTEGERS;
}

/* Items of one kind keep it; whole numbers beside others are numbers; any other mixture is text. */
static int kind_of_list(PyObject *list, Py_ssize_t n) {
  int kinds = NOTHING;
  for (Py_ssize_t i = 0; i < n && !(kinds & TEXT); i++) kinds |= kind_of(PyList_GetItem(list, i));
  if (kinds == (INTEGERS | FLOATS)) return FLOATS;
  return kinds & (kinds - 1) ? TEXT : kinds;
}

/* Appends the item's text. */
static bool put_text(column *c, PyObject *item, size_t *size, size_t *capacity) {
  PyObject *string = PyUnicode_Check(item) ? Py_NewRef(item) : PyObject_Str(item);
  PyObject *encoded = string ? PyUnicode_AsEncodedString(string, "utf-8", "strict") : NULL;
  char *bytes = NULL;
  Py_ssize_t length = 0;
  bool ok = encoded && !PyBytes_AsStringAndSize(encoded, &bytes, &length);
  if (ok && *size + (size_t)length > *capacity) {
    size_t wanted = (*size + (size_t)length) * 2 + 64;
    char *text = realloc(c->text, wanted);
    ok = text != NULL;
    if (!ok) PyErr_NoMemory();
    else c->text = text, *capacity = wanted;
  }
  if (ok) memcpy(c->text + *size, bytes, (size_t)length), *size += (size_t)length;
  Py_XDECREF(string);
  Py_XDECREF(encoded);
  return ok;
}

static bool fill_text(column *c, PyObject *list, Py_ssize_t n) {
  int64_t *offsets = c->values = allot((size_t)n + 1, sizeof *offsets);
  size_t size = 0, capacity = 1;
  c->text = allot(1, 1);
  bool ok = offsets && c->text;
  for (Py_ssize_t i = 0; ok && i < n; i++) {
    PyObject *item = PyList_GetItem(list, i);
    if (!is_null(item)) ok = put_text(c, item, &size, &capacity);
    offsets[i + 1] = (int64_t)size;
  }
  return ok;
}

static bool fill_numbers(column *c, PyObject *list, Py_ssize_t n, int kind) {
  c->values = allot((size_t)n, kind == BOOLS ? 1 : 8);
  for (Py_ssize_t i = 0; c->values && i < n; i++) {
    PyObject *item = PyList_GetItem(list, i);
    if (is_null(item)) continue;
    if (kind == BOOLS && item == Py_True) set_bit(c->values, i);
    if (kind == INTEGERS) ((int64_t *)c->values)[i] = PyLong_AsLongLong(item);
    if (kind == FLOATS) ((double *)c->values)[i] = PyFloat_AsDouble(item);
  }
  return c->values && !PyErr_Occurred();
}

static bool fill_from_list(column *c, PyObject *list) {
  Py_ssize_t n = PyList_Size(list);
  int kind = kind_of_list(list, n);
  c->n_rows = n;
  c->format[0] = kind == BOOLS ? 'b' : kind == INTEGERS ? 'l' : kind == FLOATS ? 'g' : 'U';
  c->valid = allot((size_t)n / 8 + 1, 1);
  if (!c->valid) return false;
  for (Py_ssize_t i = 0; i < n; i++)
    if (is_null(PyList_GetItem(list, i))) c->n_null++;
    else set_bit(c->valid, i);
  return kind == TEXT || kind == NOTHING ? fill_text(c, list, n) : fill_numbers(c, list, n, kind);
}

/* Arrow's letter for a native number of Python's struct module; 0: there is none. */
static char letter_of(const char *format, Py_ssize_t size) {
  static const char whole[] = "cCsSiIlL"; /* by size, signed and unsigned */
  if (*format == '@' || *format == '=' || *format == '<') format++; /* little endian throughout */
  if (!format[0] || format[1]) return 0;
  if (format[0] == 'f' && size == 4) return 'f';
  if (format[0] == 'd' && size == 8) return 'g';
  int at = size == 1 ? 0 : size == 2 ? 2 : size == 4 ? 4 : 6;
  if (strchr("bhilq", format[0])) return whole[at];
  return strchr("BHILQ", format[0]) ? whole[at + 1] : 0;
}

static bool mark_numbers(column *c) {
  int64_t n = c->n_rows;
  c->valid = allot((size_t)n / 8 + 1, 1);
  for (int64_t i = 0; c->valid && i < n; i++) {
    bool missing = c->format[0] == 'g' ? isnan(((const double *)c->values)[i])
                                       : isnan(((const float *)c->values)[i]);
    if (missing) c->n_null++;
    else set_bit(c->valid, (Py_ssize_t)i);
  }
  return c->valid != NULL;
}

static bool fill_from_buffer(column *c, PyObject *object) {
  if (PyObject_GetBuffer(object, &c->view, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT)) return false;
  const Py_buffer *view = &c->view;
  c->format[0] = letter_of(view->format ? view->format : "B", view->itemsize);
  if (view->ndim != 1 || !c->format[0]) {
    PyErr_SetString(PyExc_TypeError, "a column's buffer is not a list of numbers");
    return false;
  }
  c->values = view->buf;
  c->n_rows = view->len / view->itemsize;
  return (c->format[0] != 'f' && c->format[0] != 'g') || mark_numbers(c);
}

/* A missing column: None instead of its values. */
static void fill_null(column *c, Py_ssize_t n) {
  c->format[0] = 'n';
  c->n_rows = c->n_null = n;
}

/* A column without text: "..." instead of its values. It is a struct without fields. */
static void fill_opaque(column *c, Py_ssize_t n) {
  memcpy(c->format, "+s", 3);
  c->n_rows = n;
}

static bool fill_column(column *c, PyObject *name, PyObject *values, Py_ssize_t n) {
  Py_ssize_t size;
  const char *text = PyUnicode_AsUTF8AndSize(name, &size);
  c->name = text ? allot((size_t)size + 1, 1) : NULL;
  if (!c->name) return false;
  memcpy(c->name, text, (size_t)size);
  if (strlen(c->name) != (size_t)size) {
    PyErr_SetString(PyExc_ValueError, "a column name contains a NUL character");
    return false;
  }
  if (values == Py_None) fill_null(c, n);
  else if (values == Py_Ellipsis) fill_opaque(c, n);
  else if (!(PyList_Check(values) ? fill_from_list(c, values) : fill_from_buffer(c, values)))
    return false;
  if (c->n_rows == n) return true;
  PyErr_Format(PyExc_ValueError, "columns differ in length: '%U' has %lld rows, not %zd", name,
               (long long)c->n_rows, n);
  return false;
}

/* ---------------------------------------------------------------- Python -> Arrow: the stream */

/* All of a stream in one block, freed by the last of stream, schema and array. */
typedef struct source {
  int n_owners;
  bool sent;
  int64_t n_rows, n_columns;
  column *columns;
  struct ArrowSchema *schemas, **schema_list;
  struct ArrowArray *arrays, **array_list;
  const void *no_buffer;
} source;

/* Any thread may release; counters and buffers are guarded by the GIL. */
static void disown(source *s) {
  PyGILState_STATE state = PyGILState_Ensure();
  if (!--s->n_owners) {
    for (int64_t i = 0; i < s->n_columns; i++) clear_column(&s->columns[i]);
    free(s->columns);
    free(s->schemas);
    free(s->schema_list);
    free(s->arrays);
    free(s->array_list);
    free(s);
  }
  PyGILState_Release(state);
}

static void own(source *s) {
  PyGILState_STATE state = PyGILState_Ensure();
  s->n_owners++;
  PyGILState_Release(state);
}

/* A consumer may move a child out; it then releases the child on its own. */
static void release_schema(struct ArrowSchema *schema) {
  for (int64_t i = 0; i < schema->n_children; i++)
    if (schema->children[i]->release) schema->children[i]->release(schema->children[i]);
  schema->release = NULL;
  disown(schema->private_data);
}

static void release_array(struct ArrowArray *array) {
  for (int64_t i = 0; i < array->n_children; i++)
    if (array->children[i]->release) array->children[i]->release(array->children[i]);
  array->release = NULL;
  disown(array->private_data);
}

static int get_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out) {
  source *s = stream->private_data;
  for (int64_t i = 0; i < s->n_columns; i++) {
    own(s);
    s->schemas[i] = (struct ArrowSchema){.format = s->columns[i].format,
                                         .name = s->columns[i].name,
                                         .flags = ARROW_FLAG_NULLABLE,
                                         .release = release_schema,
                                         .private_data = s};
    s->schema_list[i] = &s->schemas[i];
  }
  own(s);
  *out = (struct ArrowSchema){.format = "+s",
                              .name = "",
                              .n_children = s->n_columns,
                              .children = s->schema_list,
                              .release = release_schema,
                              .private_data = s};
  return 0;
}

static int get_next(struct ArrowArrayStream *stream, struct ArrowArray *out) {
  source *s = stream->private_data;
  *out = (struct ArrowArray){0};
  if (s->sent) return 0;
  s->sent = true;
  for (int64_t i = 0; i < s->n_columns; i++) {
    column *c = &s->columns[i];
    bool text = c->format[0] == 'U', none = c->format[0] == 'n', opaque = c->format[0] == '+';
    own(s);
    c->buffers[0] = c->valid;
    c->buffers[1] = c->values;
    c->buffers[2] = c->text;
    s->arrays[i] = (struct ArrowArray){.length = c->n_rows,
                                       .null_count = c->n_null,
                                       .n_buffers = none     ? 0
                                                    : opaque ? 1
                                                    : text   ? 3
                                                             : 2,
                                       .buffers = c->buffers,
                                       .release = release_array,
                                       .private_data = s};
    s->array_list[i] = &s->arrays[i];
  }
  own(s);
  *out = (struct ArrowArray){.length = s->n_rows,
                             .n_buffers = 1,
                             .buffers = &s->no_buffer,
                             .n_children = s->n_columns,
                             .children = s->array_list,
                             .release = release_array,
                             .private_data = s};
  return 0;
}

static const char *get_last_error(struct ArrowArrayStream *stream) {
  (void)stream;
  return NULL;
}

static void release_stream(struct ArrowArrayStream *stream) {
  stream->release = NULL;
  disown(stream->private_data);
}

static void free_stream(PyObject *capsule) {
  struct ArrowArrayStream *stream = PyCapsule_GetPointer(capsule, STREAM);
  if (stream->release) stream->release(stream);
  free(stream);
}

static source *new_source(Py_ssize_t n_columns, Py_ssize_t n_rows) {
  source *s = allot(1, sizeof *s);
  if (!s) return NULL;
  size_t n = (size_t)n_columns;
  s->n_owners = 1;
  s->n_rows = n_rows;
  s->columns = allot(n, sizeof *s->columns);
  s->schemas = allot(n, sizeof *s->schemas);
  s->schema_list = allot(n, sizeof *s->schema_list);
  s->arrays = allot(n, sizeof *s->arrays);
  s->array_list = allot(n, sizeof *s->array_list);
  if (!PyErr_Occurred()) return s;
  disown(s);
  return NULL;
}

PyObject *columns_stream(PyObject *module, PyObject *args) {
  PyObject *names, *columns;
  Py_ssize_t n_rows;
  (void)module;
  if (!PyArg_ParseTuple(args, "OOn", &names, &columns, &n_rows)) return NULL;
  Py_ssize_t n = PyList_Size(columns);
  if (n < 0 || PyList_Size(names) != n) {
    if (!PyErr_Occurred()) PyErr_SetString(PyExc_ValueError, "one name for each column");
    return NULL;
  }
  source *s = new_source(n, n_rows);
  if (!s) return NULL;
  struct ArrowArrayStream *stream = allot(1, sizeof *stream);
  bool ok = stream != NULL;
  for (Py_ssize_t i = 0; ok && i < n; i++) {
    s->n_columns = i + 1;
    ok = fill_column(&s->columns[i], PyList_GetItem(names, i), PyList_GetItem(columns, i), n_rows);
  }
  if (!ok) {
    free(stream);
    disown(s);
    return NULL;
  }
  *stream = (struct ArrowArrayStream){get_schema, get_next, get_last_error, release_stream, s};
  PyObject *capsule = PyCapsule_New(stream, STREAM, free_stream);
  if (!capsule) release_stream(stream), free(stream);
  return capsule;
}

/* ---------------------------------------------------------------- Arrow -> Python */

/* Cells of text, as the library writes them: offsets of 4 (u) or 8 (U) bytes. Missing cells are
 * None. */
static PyObject *read_texts(const struct ArrowArray *array, const char *format) {
  const uint8_t *valid = array->buffers[0];
  const int32_t *narrow = array->buffers[1];
  const int64_t *wide = array->buffers[1];
  const char *bytes = array->buffers[2];
  bool is_wide = *format == 'U';
  PyObject *list = PyList_New(0);
  for (int64_t i = array->offset; list && i < array->offset + array->length; i++) {
    int64_t from = is_wide ? wide[i] : narrow[i], to = is_wide ? wide[i + 1] : narrow[i + 1];
    bool missing = valid && !(valid[i >> 3] >> (i & 7) & 1);
    PyObject *cell = missing
                         ? Py_NewRef(Py_None)
                         : PyUnicode_DecodeUTF8(bytes + from, (Py_ssize_t)(to - from), "replace");
    if (!cell || PyList_Append(list, cell)) Py_CLEAR(list);
    Py_XDECREF(cell);
  }
  return list;
}

/* Bytes of an index: the library writes signed ones. 0: not one. */
static size_t index_width(const char *format) {
  if (format[1]) return 0;
  return *format == 'c' ? 1 : *format == 's' ? 2 : *format == 'i' ? 4 : 0;
}

/* Indices as they are, with -1 for a missing cell; `missing` says whether there is one. */
static PyObject *read_codes(const struct ArrowArray *array, size_t width, bool *missing) {
  const uint8_t *valid = array->buffers[0];
  const char *indices = (const char *)array->buffers[1] + (size_t)array->offset * width;
  PyObject *bytes = PyBytes_FromStringAndSize(indices, (Py_ssize_t)((size_t)array->length * width));
  char *codes = bytes ? PyBytes_AsString(bytes) : NULL;
  *missing = false;
  for (int64_t row = 0; codes && valid && row < array->length; row++) {
    int64_t i = array->offset + row;
    if (valid[i >> 3] >> (i & 7) & 1) continue;
    memset(codes + (size_t)row * width, 0xff, width);
    *missing = true;
  }
  return bytes;
}

/* (name, labels, codes, format of a code as in module struct, has missing cells) */
static PyObject *read_column(const struct ArrowSchema *schema, const struct ArrowArray *array) {
  size_t width = index_width(schema->format);
  if (!schema->dictionary || !array->dictionary || !width ||
      !strchr("uU", *schema->dictionary->format)) {
    PyErr_SetString(PyExc_TypeError, "a column of a release is not a dictionary of text");
    return NULL;
  }
  bool missing = false;
  PyObject *labels = read_texts(array->dictionary, schema->dictionary->format);
  PyObject *codes = labels ? read_codes(array, width, &missing) : NULL;
  PyObject *column = NULL;
  if (codes)
    column = Py_BuildValue("sOOsO", schema->name, labels, codes,
                           width == 1   ? "b"
                           : width == 2 ? "h"
                                        : "i",
                           missing ? Py_True : Py_False);
  Py_XDECREF(labels);
  Py_XDECREF(codes);
  return column;
}

PyObject *read_batch(struct ArrowSchema *schema, struct ArrowArray *batch) {
  PyObject *columns = PyList_New(0);
  for (int64_t i = 0; columns && i < schema->n_children; i++) {
    PyObject *column = read_column(schema->children[i], batch->children[i]);
    if (!column || PyList_Append(columns, column)) Py_CLEAR(columns);
    Py_XDECREF(column);
  }
  return columns;
}
