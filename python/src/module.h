/* SPDX-License-Identifier: Apache-2.0 */
/* python: what the two files of the extension share. */
#ifndef SHOAL_PYTHON_MODULE_H
#define SHOAL_PYTHON_MODULE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <shoal/shoal.h>

/* columns_stream(names, columns): Python lists and buffers as a capsule "arrow_array_stream". */
PyObject *columns_stream(PyObject *module, PyObject *args);
/* The columns of a release as a list of (name, labels, codes, has missing cells). */
PyObject *read_batch(struct ArrowSchema *schema, struct ArrowArray *batch);

#endif
