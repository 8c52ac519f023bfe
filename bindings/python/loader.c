/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What hypomnesis/_native.py needs before the native library is loaded. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <dlfcn.h>
#if defined(__APPLE__)
#include <unistd.h>
#else
#include <sys/auxv.h>
#endif

static PyObject *is_privileged(PyObject *self, PyObject *none) {
  (void)self, (void)none;
#if defined(__APPLE__)
  return PyBool_FromLong(issetugid());
#else
  return PyBool_FromLong(getauxval(AT_SECURE) != 0);
#endif
}

static PyObject *load(PyObject *self, PyObject *path) {
  PyObject *bytes = NULL;
  void *library;
  (void)self;
  if (!PyUnicode_FSConverter(path, &bytes)) return NULL;
  library = dlopen(PyBytes_AsString(bytes), RTLD_NOW);
  Py_DECREF(bytes);
  if (!library) return PyErr_Format(PyExc_OSError, "%s", dlerror());
  Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    {"is_privileged", is_privileged, METH_NOARGS, "Whether the program is set-user-id or the like."},
    {"load", load, METH_O, "Loads a library, for the life of the process. OSError: it cannot be loaded."},
    {NULL, NULL, 0, NULL}};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_loader", NULL, -1, functions, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__loader(void) {
  return PyModule_Create(&module);
}
