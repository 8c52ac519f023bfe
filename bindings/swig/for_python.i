// SPDX-License-Identifier: MIT OR Apache-2.0
// Records become tuples of their values, in the header's order and without struct_size, present and
// reserved fields; an absent value is None, a time is seconds. Only the stable ABI of Python is used, so that one
// file loads on 3.10 and newer. A failure raises the exception that the callable passed to
// raise_with returns for (message, status, backend, native_domain, native_code, reason).

%begin %{
/* SPDX-License-Identifier: MIT OR Apache-2.0 */
%}

%{
#include <dlfcn.h> /* dladdr needs _GNU_SOURCE, which Python.h defines */
#include <stddef.h>
#include <stdio.h>

enum {
  HMN_VALUE_end,
  HMN_VALUE_bool,
  HMN_VALUE_u32,
  HMN_VALUE_i32,
  HMN_VALUE_u64,
  HMN_VALUE_i64,
  HMN_VALUE_f64,
  HMN_VALUE_seconds, /* nanoseconds in the record */
  HMN_VALUE_text
};
typedef struct {
  int kind;
  size_t offset;
  hmn_fields bit; /* of `present`; 0: always there */
} hmn_value;

/* Each result starts with these. */
typedef struct {
  uint32_t struct_size;
  hmn_flags notes;
  hmn_fields present;
} hmn_record_head;

static PyObject *hmn_value_of(const hmn_value *value, const char *record) {
  const void *place = record + value->offset;
  if (value->bit && !(((const hmn_record_head *)record)->present & value->bit))
    return SWIG_Py_Void();
  switch (value->kind) {
    case HMN_VALUE_bool: return PyBool_FromLong(*(const uint32_t *)place != 0);
    case HMN_VALUE_u32: return PyLong_FromUnsignedLong(*(const uint32_t *)place);
    case HMN_VALUE_i32: return PyLong_FromLong(*(const int32_t *)place);
    case HMN_VALUE_u64: return PyLong_FromUnsignedLongLong(*(const uint64_t *)place);
    case HMN_VALUE_i64: return PyLong_FromLongLong(*(const int64_t *)place);
    case HMN_VALUE_seconds: return PyFloat_FromDouble((double)*(const uint64_t *)place / 1e9);
    case HMN_VALUE_f64: return PyFloat_FromDouble(*(const double *)place);
    default: return PyUnicode_FromString((const char *)place);
  }
}

/* The values of a record as a tuple, None for NULL. */
static PyObject *hmn_values_of(const hmn_value *value, const void *record) {
  Py_ssize_t count = 0, i;
  PyObject *tuple;
  if (!record) return SWIG_Py_Void();
  while (value[count].kind != HMN_VALUE_end) ++count;
  tuple = PyTuple_New(count);
  for (i = 0; tuple && i < count; ++i) {
    PyObject *item = hmn_value_of(value + i, (const char *)record);
    if (!item || PyTuple_SetItem(tuple, i, item) < 0) Py_CLEAR(tuple);
  }
  return tuple;
}

/* Makes the exception of a failure; kept for the life of the process. */
static PyObject *hmn_exception_maker = NULL;

static void hmn_raise(const hmn_error *error) {
  PyObject *exception =
      hmn_exception_maker
          ? PyObject_CallFunction(hmn_exception_maker, "siIIiI", error->message, (int)error->status,
                                  (unsigned)error->backend, (unsigned)error->native_domain,
                                  (int)error->native_code, (unsigned)error->reason)
          : PyObject_CallFunction(PyExc_RuntimeError, "s", error->message);
  if (!exception) return;
  PyErr_SetObject((PyObject *)Py_TYPE(exception), exception);
  Py_DECREF(exception);
}
%}

%typemap(in, numinputs=0) hmn_error *error (hmn_error record) {
  memset(&record, 0, sizeof record);
  record.struct_size = sizeof record;
  $1 = &record;
}
%typemap(argout) hmn_error *error {
  if ($1->status != HMN_OK) {
    Py_CLEAR($result);
    hmn_raise($1);
    SWIG_fail;
  }
}

%{
/* Raises the exception of a wrong argument, which names it. */
static void hmn_refuse_argument(const char *name, const char *wanted, PyObject *value) {
  hmn_error error = {sizeof error};
  PyObject *shown, *text = NULL;
  if (PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_TypeError) && !PyErr_ExceptionMatches(PyExc_ValueError) &&
      !PyErr_ExceptionMatches(PyExc_OverflowError))
    return; /* it is not about the argument */
  PyErr_Clear();
  shown = PyObject_ASCII(value);
  if (shown) text = PyUnicode_FromFormat("%s: %s is expected, not %.80U", name, wanted, shown);
  if (text) {
    PyObject *bytes = PyUnicode_AsUTF8String(text);
    if (bytes) {
      hmn_refuse(&error, HMN_E_ARGUMENT, PyBytes_AsString(bytes));
      hmn_raise(&error);
    }
    Py_XDECREF(bytes);
  }
  Py_XDECREF(text);
  Py_XDECREF(shown);
}

/* A whole number up to `most`: an int, or what can be an index. An error is set otherwise. */
static uint64_t hmn_whole(PyObject *object, const char *name, uint64_t most) {
  char wanted[64];
  uint64_t number = 0;
  PyObject *whole = PyNumber_Index(object);
  if (whole) number = PyLong_AsUnsignedLongLong(whole);
  Py_XDECREF(whole);
  if (!PyErr_Occurred() && number <= most) return number;
  snprintf(wanted, sizeof wanted, "a whole number from 0 to %llu", (unsigned long long)most);
  hmn_refuse_argument(name, wanted, object);
  return 0;
}

/* A str or, for paths that are not UTF-8, bytes, as new bytes; NULL with an error set otherwise. */
static PyObject *hmn_text(PyObject *object, const char *name) {
  PyObject *bytes = NULL;
  char *text = NULL;
  Py_ssize_t length = 0;
  if (PyBytes_Check(object)) {
    Py_INCREF(object);
    bytes = object;
  } else if (PyUnicode_Check(object)) {
    bytes = PyUnicode_AsUTF8String(object);
  }
  if (!bytes) {
    hmn_refuse_argument(name, "a str in UTF-8", object);
  } else if (PyBytes_AsStringAndSize(bytes, &text, &length) == 0 && strlen(text) != (size_t)length) {
    hmn_refuse_argument(name, "a text without a zero byte", object);
    Py_CLEAR(bytes);
  }
  return bytes;
}
%}

%typemap(in) uint32_t, hmn_flags %{
  $1 = ($1_ltype)hmn_whole($input, "$1_name", UINT32_MAX);
  if (PyErr_Occurred()) SWIG_fail;
%}
// Arguments that have another name in the package.
%typemap(in) hmn_flags sampler_flags %{
  $1 = ($1_ltype)hmn_whole($input, "flags", UINT32_MAX);
  if (PyErr_Occurred()) SWIG_fail;
%}
%typemap(in) uint32_t path %{
  $1 = ($1_ltype)hmn_whole($input, "place", UINT32_MAX);
  if (PyErr_Occurred()) SWIG_fail;
%}
%typemap(in) uint64_t bytes %{
  $1 = hmn_whole($input, "count", UINT64_MAX);
  if (PyErr_Occurred()) SWIG_fail;
%}
%typemap(in) hmn_status %{
  $1 = ($1_ltype)PyLong_AsLong($input);
  if (PyErr_Occurred() || $1 != PyLong_AsLong($input)) {
    hmn_refuse_argument("$1_name", "a whole number of 32 bits", $input);
    SWIG_fail;
  }
%}
%typemap(in) uint64_t %{
  $1 = hmn_whole($input, "$1_name", UINT64_MAX);
  if (PyErr_Occurred()) SWIG_fail;
%}
%typemap(in) const char * (PyObject *bytes = NULL) %{
  bytes = hmn_text($input, "$1_name");
  if (!bytes) SWIG_fail;
  $1 = PyBytes_AsString(bytes);
%}
%typemap(in) const char *value (PyObject *bytes = NULL) %{
  if ($input != Py_None) {
    bytes = hmn_text($input, "path");
    if (!bytes) SWIG_fail;
    $1 = PyBytes_AsString(bytes);
  }
%}
%typemap(freearg) const char *, const char *value "Py_XDECREF(bytes$argnum);"

// A list of whole numbers, copied to a tuple: code that a conversion runs cannot change that.
%typemap(in) (const hmn_u64 *list, uint32_t count) {
  const char *name = strcmp("$symname", "estimate_sum") == 0 ? "counts" : "shape";
  PyObject *items = PySequence_Tuple($input);
  const Py_ssize_t length = items ? PyTuple_Size(items) : 0;
  Py_ssize_t i;
  if (!items || (size_t)length > UINT32_MAX) hmn_refuse_argument(name, "a list of whole numbers", $input);
  else if (!($1 = (hmn_u64 *)PyMem_Malloc(((size_t)length + 1) * sizeof(uint64_t)))) PyErr_NoMemory();
  for (i = 0; $1 && i < length && !PyErr_Occurred(); ++i)
    $1[i] = hmn_whole(PyTuple_GetItem(items, i), name, UINT64_MAX);
  $2 = (uint32_t)length;
  Py_XDECREF(items);
  if (PyErr_Occurred()) SWIG_fail; /* which comes to freearg */
}
%typemap(freearg) (const hmn_u64 *list, uint32_t count) "PyMem_Free($1);"

// A second number of the result.
%typemap(in, numinputs=0) hmn_u64 *generation (hmn_u64 number) {
  number = 0;
  $1 = &number;
}
%typemap(argout) hmn_u64 *generation {
  $result = Py_BuildValue("(NK)", $result, (unsigned long long)*$1);
}

%define HMN_VALUES(record)
%typemap(out) record * { $result = hmn_values_of(record ## _values, $1); }
%typemap(newfree) record * "free($1);"
%enddef

// These return at once; all others let other threads of Python run.
%nothread hmn_version_number;
%nothread hmn_version_string;
%nothread hmn_feature;
%nothread hmn_monotonic_ns;
%nothread hmn_status_name;
%nothread hmn_backend_name;
%nothread hmn_reason_name;
%nothread hmn_metric_name;
%nothread hmn_metric_unit;
%nothread hmn_metric_instance_name;
%nothread hmn_metric_kind;
%nothread hmn_metric_next;
%nothread format_bytes;
%nothread size_of;
%nothread library_path;
%nothread make;
%nothread raise_with;
%nothread Snapshot::info;
%nothread Snapshot::memory;
%nothread Snapshot::system;
%nothread Snapshot::device;
%nothread Snapshot::telemetry;
%nothread Snapshot::own_usage;
%nothread Snapshot::pool;
%nothread Snapshot::usage;
%nothread Snapshot::metric;
%nothread Snapshot::group;
%nothread Snapshot::diagnostic;
%nothread Snapshot::text;
%nothread Snapshot::device_line;
%nothread Snapshot::delta_since;
%nothread Snapshot::delta_line;
%nothread Snapshot::before_after_lines;
%nothread Context::sampler;
%nothread Sampler::start;
%nothread Sampler::stop;
%nothread Sampler::info;
%nothread Sampler::latest_pool;
%nothread Sampler::latest_telemetry;
%nothread Sampler::device_peak;
%nothread hmn_dtype_bits;
%nothread hmn_dtype_name;
%nothread dtype_from_name;
%nothread estimate_tensor;
%nothread estimate_packed;
%nothread estimate_attention;
%nothread estimate_cache;
%nothread estimate_overhead;
%nothread estimate_sum;
%nothread Context::tracker;
%nothread Tracker::allocate;
%nothread Tracker::release;
%nothread Tracker::set_limit;
%nothread Tracker::reset;
%nothread Tracker::tag;
%nothread Tracker::info;
%nothread Tracker::read_tag;
%nothread Context::spill;
%nothread lone_spill;
%nothread Spill::observe_snapshot;
%nothread Spill::feed;
%nothread Spill::info;
%nothread Spill::episode;

%inline %{
/* An instance of `type`, its slots set in order: what __init__ of a frozen dataclass does at many times
 * the cost. A value is looked up in its entry of `kinds`, unless that or the value is None. */
PyObject *make(PyObject *type, PyObject *slots, PyObject *kinds, PyObject *values) {
  Py_ssize_t i, count;
  allocfunc allocate;
  PyObject *made;
  if (!PyType_Check(type) || !PyTuple_Check(slots) || !PyTuple_Check(kinds) || !PyTuple_Check(values) ||
      (count = PyTuple_Size(slots)) != PyTuple_Size(values) || count != PyTuple_Size(kinds))
    return PyErr_Format(PyExc_TypeError, "not a type, its slots, and a kind and a value for each");
  allocate = (allocfunc)PyType_GetSlot((PyTypeObject *)type, Py_tp_alloc);
  made = allocate((PyTypeObject *)type, 0);
  for (i = 0; made && i < count; ++i) {
    PyObject *slot = PyTuple_GetItem(slots, i), *kind = PyTuple_GetItem(kinds, i);
    PyObject *value = PyTuple_GetItem(values, i);
    const descrsetfunc set = (descrsetfunc)PyType_GetSlot(Py_TYPE(slot), Py_tp_descr_set);
    if (!set) PyErr_SetString(PyExc_TypeError, "not a slot");
    if (kind == Py_None || value == Py_None) Py_INCREF(value);
    else value = PyObject_GetItem(kind, value);
    if (!set || !value || set(slot, made, value) < 0) Py_CLEAR(made);
    Py_XDECREF(value);
  }
  return made;
}
void raise_with(PyObject *maker) {
  Py_INCREF(maker);
  Py_XDECREF(hmn_exception_maker);
  hmn_exception_maker = maker;
}
/* The file that the library was loaded from. */
const char *library_path(void) {
  Dl_info info;
  return dladdr((void *)(uintptr_t)&hmn_version_number, &info) ? info.dli_fname : NULL;
}
%}
