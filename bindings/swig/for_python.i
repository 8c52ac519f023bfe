// SPDX-License-Identifier: MIT OR Apache-2.0
// A failure raises Failure(status, message, backend, native_domain, native_code).

%typemap(in, numinputs=0) hmn_error *error (hmn_error told) {
  memset(&told, 0, sizeof told);
  told.struct_size = sizeof told;
  $1 = &told;
}
%typemap(argout) hmn_error *error {
  if ($1->status != HMN_OK) {
    PyErr_SetString(PyExc_RuntimeError, $1->message);
    SWIG_fail;
  }
}
%typemap(out) const hmn_opt_u64 * { $result = $1 ? PyLong_FromUnsignedLongLong(*$1) : SWIG_Py_Void(); }
%typemap(out) const hmn_opt_u32 * { $result = $1 ? PyLong_FromUnsignedLong(*$1) : SWIG_Py_Void(); }
%typemap(out) const hmn_opt_i64 * { $result = $1 ? PyLong_FromLongLong(*$1) : SWIG_Py_Void(); }
%typemap(out) const hmn_opt_i32 * { $result = $1 ? PyLong_FromLong(*$1) : SWIG_Py_Void(); }
%typemap(out) const hmn_opt_f64 * { $result = $1 ? PyFloat_FromDouble(*$1) : SWIG_Py_Void(); }
%typemap(out) const hmn_opt_text * { $result = $1 ? PyUnicode_FromString($1) : SWIG_Py_Void(); }
