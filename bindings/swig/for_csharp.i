// SPDX-License-Identifier: MIT OR Apache-2.0
// Static functions over handles and records: swig -csharp -noproxy. A failure fills the caller's
// `ref ErrorRecord`. A record is returned as a pointer, which the caller reads in place (Records.cs) and
// frees with `release`.

%pragma(csharp) moduleclassmodifiers="internal static unsafe class"
%pragma(csharp) imclassclassmodifiers="internal static unsafe class"

// Constants of the compiler instead of calls at run time.
%csconst(1);
%include "constant_values.i"

%typemap(ctype) hmn_error *error "hmn_error *"
%typemap(imtype) hmn_error *error "ref ErrorRecord"
%typemap(cstype) hmn_error *error "ref ErrorRecord"
%typemap(csin) hmn_error *error "ref $csinput"
%typemap(in) hmn_error *error "$1 = $input;"

// Safe handles: the marshaller holds a reference during a call. They destroy their object by its address
// when the last call has returned.
%define HMN_HANDLE(type, handle)
%typemap(ctype) type *, const type * "void *"
%typemap(imtype) type *, const type * "handle"
%typemap(cstype) type *, const type * "handle"
%typemap(csin) type *, const type * "$csinput"
%typemap(csout, excode="") type * { return $imcall; }
%ignore type::~type;
%enddef
HMN_HANDLE(Context, ContextHandle)
HMN_HANDLE(Snapshot, SnapshotHandle)
HMN_HANDLE(Sampler, SamplerHandle)
HMN_HANDLE(Tracker, TrackerHandle)
HMN_HANDLE(Spill, SpillHandle)
%typemap(imtype) void *address "global::System.IntPtr"
%typemap(cstype) void *address "global::System.IntPtr"
%typemap(csin) void *address "$csinput"

// Opaque: Records.cs reads a record in place.
%define HMN_POINTER(record)
%ignore record;
%typemap(imtype) record * "global::System.IntPtr"
%typemap(cstype) record * "global::System.IntPtr"
%typemap(csin) record * "$csinput"
%typemap(csout, excode="") record * { return $imcall; }
%enddef
HMN_POINTER(hmn_error)
HMN_POINTER(hmn_backend_info)
HMN_POINTER(hmn_process_memory)
HMN_POINTER(hmn_system_memory)
HMN_POINTER(hmn_device)
HMN_POINTER(hmn_pool)
HMN_POINTER(hmn_telemetry)
HMN_POINTER(hmn_metric)
HMN_POINTER(hmn_usage)
HMN_POINTER(hmn_group)
HMN_POINTER(hmn_snapshot_info)
HMN_POINTER(hmn_diagnostic)
HMN_POINTER(hmn_delta)
HMN_POINTER(hmn_sampler_info)
HMN_POINTER(hmn_peak)
HMN_POINTER(hmn_tracker_info)
HMN_POINTER(hmn_tag)
HMN_POINTER(hmn_spill_info)
HMN_POINTER(hmn_episode)

%typemap(ctype) const hmn_u64 *list "void *"
%typemap(imtype) const hmn_u64 *list "ulong[]"
%typemap(cstype) const hmn_u64 *list "ulong[]"
%typemap(csin) const hmn_u64 *list "$csinput"
%typemap(in) const hmn_u64 *list "$1 = ($1_ltype)$input;"

// A second number of the result.
%typemap(ctype) hmn_u64 *generation "hmn_u64 *"
%typemap(imtype) hmn_u64 *generation "out ulong"
%typemap(cstype) hmn_u64 *generation "out ulong"
%typemap(csin) hmn_u64 *generation "out $csinput"
%typemap(in) hmn_u64 *generation "$1 = $input;"

// A value or null. It is read before the record can be freed, because the caller holds it.
%define HMN_NULLABLE(kind, name)
%typemap(ctype) const hmn_opt_ ## kind * "const void *"
%typemap(imtype) const hmn_opt_ ## kind * "global::System.IntPtr"
%typemap(cstype) const hmn_opt_ ## kind * "name?"
%typemap(out) const hmn_opt_ ## kind * "$result = $1;"
%typemap(csvarout, excode="") const hmn_opt_ ## kind * %{ get { return Optional.Read<name>($imcall); } %}
%typemap(csout, excode="") const hmn_opt_ ## kind * { return Optional.Read<name>($imcall); }
%enddef
HMN_NULLABLE(u64, ulong)
HMN_NULLABLE(u32, uint)
HMN_NULLABLE(i64, long)
HMN_NULLABLE(i32, int)
HMN_NULLABLE(f64, double)

// Text is UTF-8 on every system, never the ANSI code page.
%typemap(ctype) char *, const char *, char[ANY], const hmn_opt_text * "void *"
%typemap(imtype, out="global::System.IntPtr") char *, const char *, char[ANY], const hmn_opt_text * "byte[]"
%typemap(cstype, out="string") char *, const char *, char[ANY], const hmn_opt_text * "string"
%typemap(in) char *, const char * "$1 = ($1_ltype)$input;"
%typemap(out) char *, const char *, char[ANY], const hmn_opt_text * "$result = (void *)$1;"
%typemap(newfree) char * ""
%typemap(csin) char *, const char * "Utf8.Bytes($csinput)"
%typemap(csout, excode="") char *, const char *, char[ANY], const hmn_opt_text * {
    return Utf8.Read($imcall, $owner);
  }

%inline %{
void end_context(void *address) { hmn_context_destroy((hmn_context *)address); }
void end_snapshot(void *address) { hmn_snapshot_destroy((hmn_snapshot *)address); }
void end_sampler(void *address) { hmn_sampler_destroy((hmn_sampler *)address); }
void end_tracker(void *address) { hmn_tracker_destroy((hmn_tracker *)address); }
void end_spill(void *address) { hmn_spill_destroy((hmn_spill *)address); }
/* Ends a text that a function with an `error` made, or a record of any kind. */
void release(void *address) { free(address); }
%}
