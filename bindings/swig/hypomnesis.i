// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The raw layer of every binding. It holds handles and records with methods; what a language does with
// errors, absent values, text and wide integers is in its own for_<language>.i. Hand-written packages
// are built on it; nothing else uses it.
#if defined(SWIGPYTHON)
%module(threads="1") raw
#elif defined(SWIGGO)
%module raw
#elif defined(SWIGLUA)
%module core
#elif defined(SWIGCSHARP)
%module Raw
#endif

%include <stdint.i>

%{
#include <hypomnesis.h>
#include <stdlib.h>
#include <string.h>

/* Methods of these names cannot be taken for the library's functions. */
typedef hmn_context Context;
typedef hmn_snapshot Snapshot;
typedef hmn_sampler Sampler;
typedef hmn_tracker Tracker;
typedef hmn_spill Spill;

/* A number of a list: uint64_t as C has it, which SWIG takes for unsigned long long. */
typedef uint64_t hmn_u64;

/* Pointers to a present value, NULL when it is absent. */
typedef uint64_t hmn_opt_u64;
typedef uint32_t hmn_opt_u32;
typedef int64_t hmn_opt_i64;
typedef int32_t hmn_opt_i32;
typedef double hmn_opt_f64;
typedef char hmn_opt_text;

static void hmn_refuse(hmn_error *error, hmn_status status, const char *message) {
  error->status = status;
  strncpy(error->message, message, sizeof error->message - 1);
}

/* A record to be filled, with its size in front; NULL and an error without memory. */
static void *hmn_record(uint32_t size, hmn_error *error) {
  uint32_t *record = (uint32_t *)calloc(1, size);
  if (record) *record = size;
  else hmn_refuse(error, HMN_E_NO_MEMORY, "out of memory");
  return record;
}

static char *hmn_buffer(uint32_t size, hmn_error *error) {
  char *buffer = (char *)malloc(size);
  if (!buffer) hmn_refuse(error, HMN_E_NO_MEMORY, "out of memory");
  return buffer;
}

/* Methods of Context come before those of their own file. */
static hmn_spill_options hmn_spill_by(uint32_t episode_capacity, uint64_t dedicated_threshold_bytes,
                                      uint64_t growth_bytes) {
  hmn_spill_options options = {sizeof options};
  options.episode_capacity = episode_capacity;
  options.dedicated_threshold_bytes = dedicated_threshold_bytes;
  options.growth_bytes = growth_bytes;
  return options;
}

/* Fills `out` by CALL, which gives a status and reports to `error` itself. */
#define HMN_ASK(record, CALL) \
  do { \
    record *out = (record *)hmn_record(sizeof(record), error); \
    if (out && (CALL) != HMN_OK) { \
      free(out); \
      out = NULL; \
    } \
    return out; \
  } while (0)

/* The same; what is not there (HMN_E_EMPTY) is NULL without an error. */
#define HMN_ASK_IF_THERE(record, CALL) \
  do { \
    record *out = (record *)hmn_record(sizeof(record), error); \
    const hmn_status status = out ? (CALL) : HMN_E_EMPTY; \
    if (status != HMN_OK) { \
      if (out && status == HMN_E_EMPTY) error->status = HMN_OK; \
      free(out); \
      out = NULL; \
    } \
    return out; \
  } while (0)

/* A text by CALL, which fills (buffer, capacity, &needed) and may need more each time: a recording grows. What is not
 * there is NULL. */
#define HMN_TEXT(CALL) \
  do { \
    uint32_t needed = 0, capacity = 0; \
    char *buffer = NULL; \
    hmn_status status = (CALL); \
    while ((status == HMN_OK && !buffer) || (status == HMN_E_BUFFER && needed > capacity)) { \
      free(buffer); \
      capacity = needed; \
      if (!(buffer = hmn_buffer(capacity, error))) return NULL; \
      status = (CALL); \
    } \
    if (status != HMN_OK) { \
      free(buffer); \
      buffer = NULL; \
    } \
    if (status == HMN_E_EMPTY) error->status = HMN_OK; \
    return buffer; \
  } while (0)
%}

#if defined(SWIGPYTHON)
%include "for_python.i"
#elif defined(SWIGGO)
%include "for_go.i"
#elif defined(SWIGLUA)
%include "for_lua.i"
#elif defined(SWIGCSHARP)
%include "for_csharp.i"
#endif

typedef int32_t hmn_status;
typedef uint32_t hmn_flags;
typedef uint64_t hmn_fields;

%include "constants.i"

// A result: made by a method, freed with its proxy, never changed.
%define HMN_RECORD(record)
%nodefaultctor record;
%immutable;
%extend record {
  ~record() { free($self); }
}
%enddef

// A value of it that may be absent.
%define HMN_OPTIONAL(record, kind, field, bit)
%{
static const hmn_opt_ ## kind *record ## _ ## field ## _get(record *self) {
  return self->present & bit ? HMN_FIRST_ ## kind(self->field) : NULL;
}
%}
%extend record {
  const hmn_opt_ ## kind *field;
}
%enddef
%{
#define HMN_FIRST_text(field) (field)
#define HMN_FIRST_u64(field) &(field)
#define HMN_FIRST_u32(field) &(field)
#define HMN_FIRST_i64(field) &(field)
#define HMN_FIRST_i32(field) &(field)
#define HMN_FIRST_f64(field) &(field)
%}

#if defined(SWIGPYTHON)
%include "values.i"
#elif defined(SWIGLUA)
%include "records_lua.i"
%include "copy_lua.i"
#else
%include "records.i"
#endif
%mutable;
%include "library.i"
%include "context.i"
%include "snapshot.i"
%include "sampler.i"
%include "estimate.i"
%include "tracker.i"
%include "spill.i"
