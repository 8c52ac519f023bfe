// SPDX-License-Identifier: MIT OR Apache-2.0
// A failure returns nil, message, status, and the whole error as a table; a wrong argument raises an error.
// Records are plain tables. Numbers are exact: one that this Lua cannot hold is in the record's table `inexact`
// as digits, and reading the field itself raises an error.

// Names that no other SWIG module has.
%rename(HypomnesisContext) Context;
%rename(HypomnesisSnapshot) Snapshot;
%rename(HypomnesisSampler) Sampler;
%rename(HypomnesisTracker) Tracker;
%rename(HypomnesisSpill) Spill;
%begin %{
#define SWIG_TYPE_TABLE hypomnesis
%}

%{
#include <pthread.h>

/* Whole numbers that a lua_Integer, or a double where there is no such thing, holds with no other next to it. */
#if LUA_VERSION_NUM >= 503
#define HMN_LUA_MOST ((uint64_t)LUA_MAXINTEGER)
#define HMN_LUA_PUSH(number) lua_pushinteger(L, (lua_Integer)(number))
#else
#define HMN_LUA_MOST ((uint64_t)1 << 53)
#define HMN_LUA_PUSH(number) lua_pushnumber(L, (lua_Number)(number))
#endif
#define HMN_LUA_MOST_OF_DOUBLE ((uint64_t)1 << 53)
#define HMN_LUA_RECORD_TYPE "hypomnesis.record"

/* ---- arguments ---- */

static uint64_t hmn_lua_bad_number(lua_State *L, int index, const char *name, const char *wanted) {
  if (lua_type(L, index) == LUA_TNUMBER)
    luaL_error(L, "bad argument '%s' (%s expected, got %f)", name, wanted, lua_tonumber(L, index));
  else
    luaL_error(L, "bad argument '%s' (%s expected, got %s)", name, wanted, luaL_typename(L, index));
  return 0;
}

/* The whole number at `index`, at most `most`; `wanted` names it. */
static uint64_t hmn_lua_whole(lua_State *L, int index, const char *name, uint64_t most, const char *wanted) {
  double number;
  if (lua_type(L, index) != LUA_TNUMBER) return hmn_lua_bad_number(L, index, name, wanted);
#if LUA_VERSION_NUM >= 503
  if (lua_isinteger(L, index)) {
    const lua_Integer whole = lua_tointeger(L, index);
    if (whole < 0 || (uint64_t)whole > most) return hmn_lua_bad_number(L, index, name, wanted);
    return (uint64_t)whole;
  }
#endif
  number = (double)lua_tonumber(L, index);
  if (!(number >= 0 && number <= (double)HMN_LUA_MOST_OF_DOUBLE) || (double)(uint64_t)number != number ||
      (uint64_t)number > most)
    return hmn_lua_bad_number(L, index, name, wanted);
  return (uint64_t)number;
}

static uint32_t hmn_lua_to_u32(lua_State *L, int index, const char *name) {
  return (uint32_t)hmn_lua_whole(L, index, name, UINT32_MAX, "whole number from 0 to 4294967295");
}

static uint64_t hmn_lua_to_u64(lua_State *L, int index, const char *name) {
  return hmn_lua_whole(L, index, name, HMN_LUA_MOST, "whole number from 0 that is exact in this Lua");
}

/* A set of 64 bits: the highest one makes an integer negative, and a number of Lua 5.1 a large one. */
static hmn_fields hmn_lua_to_fields(lua_State *L, int index, const char *name) {
  double number;
#if LUA_VERSION_NUM >= 503
  if (lua_isinteger(L, index)) return (hmn_fields)lua_tointeger(L, index);
#endif
  number = lua_type(L, index) == LUA_TNUMBER ? (double)lua_tonumber(L, index) : -1;
  if (!(number >= 0 && number < 18446744073709551616.0) || (double)(hmn_fields)number != number)
    hmn_lua_bad_number(L, index, name, "set of presence bits");
  return (hmn_fields)number;
}

/* Nanoseconds of a duration, which Lua has in seconds. */
static uint64_t hmn_lua_to_ns(lua_State *L, int index, const char *name) {
  const double seconds = lua_type(L, index) == LUA_TNUMBER ? (double)lua_tonumber(L, index) : -1;
  if (!(seconds >= 0)) return hmn_lua_bad_number(L, index, name, "seconds from 0");
  return seconds < 9223372036.0 ? (uint64_t)(seconds * 1e9 + 0.5) : HMN_NS_UNLIMITED;
}

static int32_t hmn_lua_to_i32(lua_State *L, int index, const char *name) {
  const double number = lua_type(L, index) == LUA_TNUMBER ? (double)lua_tonumber(L, index) : 0.5;
  if (!(number >= INT32_MIN && number <= INT32_MAX) || (double)(int32_t)number != number)
    hmn_lua_bad_number(L, index, name, "whole number from -2147483648 to 2147483647");
  return (int32_t)number;
}

static const char *hmn_lua_to_text(lua_State *L, int index, const char *name) {
  size_t length = 0;
  const char *text;
  if (lua_type(L, index) != LUA_TSTRING)
    luaL_error(L, "bad argument '%s' (string expected, got %s)", name, luaL_typename(L, index));
  text = lua_tolstring(L, index, &length);
  if (strlen(text) != length) luaL_error(L, "bad argument '%s' (a string without zero bytes expected)", name);
  return text;
}

/* A list of whole numbers, in memory that is Lua's. */
static uint64_t *hmn_lua_to_list(lua_State *L, int index, uint32_t *count) {
  uint64_t *list;
  uint32_t i;
  size_t length;
  if (lua_type(L, index) != LUA_TTABLE)
    luaL_error(L, "bad argument 'list' (table expected, got %s)", luaL_typename(L, index));
  length = lua_rawlen(L, index);
  if (length >= INT32_MAX) luaL_error(L, "bad argument 'list' (it is too long)");
  *count = (uint32_t)length;
  list = (uint64_t *)lua_newuserdata(L, ((size_t)*count + 1) * sizeof *list);
  for (i = 0; i < *count; ++i) {
    lua_rawgeti(L, index, (int)i + 1);
    list[i] = hmn_lua_to_u64(L, lua_gettop(L), "list");
    lua_pop(L, 1);
  }
  return list;
}

/* ---- results ---- */

static void hmn_lua_push_hmn_error(lua_State *L, const hmn_error *record);

/* Leaves what a function returns of a failure; returns how many values that is. */
static int hmn_lua_failure(lua_State *L, const hmn_error *error) {
  lua_pushnil(L);
  lua_pushstring(L, error->message);
  HMN_LUA_PUSH(error->status);
  hmn_lua_push_hmn_error(L, error);
  return 4;
}

/* A number that this Lua cannot hold: a failure that has its digits. */
static int hmn_lua_too_large(lua_State *L, uint64_t number) {
  hmn_error error;
  memset(&error, 0, sizeof error);
  error.status = HMN_E_OVERFLOW;
  snprintf(error.message, sizeof error.message, "the result is %llu, which a number of %s cannot hold exactly",
           (unsigned long long)number, LUA_VERSION);
  return hmn_lua_failure(L, &error);
}

/* Bits that are set: how many fields of a record are there, more or less. */
static int hmn_lua_count(hmn_fields bits) {
  int count = 0;
  for (; bits; bits &= bits - 1) ++count;
  return count;
}

/* Into the record on top of the stack. Digits by hand, since printf would take longer than the rest. */
static void hmn_lua_inexact(lua_State *L, const char *name, uint64_t size, int negative) {
  char digits[24];
  char *first = digits + sizeof digits;
  do *--first = (char)('0' + size % 10);
  while (size /= 10);
  if (negative) *--first = '-';
  lua_pushliteral(L, "inexact");
  lua_rawget(L, -2);
  if (lua_isnil(L, -1)) {
    lua_pop(L, 1);
    lua_createtable(L, 0, 1);
    lua_pushvalue(L, -1);
    lua_setfield(L, -3, "inexact");
    luaL_getmetatable(L, HMN_LUA_RECORD_TYPE);
    lua_setmetatable(L, -3);
  }
  lua_pushlstring(L, first, (size_t)(digits + sizeof digits - first));
  lua_setfield(L, -2, name);
  lua_pop(L, 1);
}

static void hmn_lua_set_u64(lua_State *L, const char *name, uint64_t value) {
  if (value <= HMN_LUA_MOST) {
    HMN_LUA_PUSH(value);
    lua_setfield(L, -2, name);
  } else {
    hmn_lua_inexact(L, name, value, 0);
  }
}

static void hmn_lua_set_i64(lua_State *L, const char *name, int64_t value) {
  const uint64_t size = value < 0 ? -(uint64_t)value : (uint64_t)value;
  if (LUA_VERSION_NUM >= 503 || size <= HMN_LUA_MOST) {
    HMN_LUA_PUSH(value);
    lua_setfield(L, -2, name);
  } else {
    hmn_lua_inexact(L, name, size, value < 0);
  }
}

static void hmn_lua_set_fields(lua_State *L, const char *name, hmn_fields value) {
  if (LUA_VERSION_NUM >= 503 || (hmn_fields)(double)value == value) {
    HMN_LUA_PUSH(value);
    lua_setfield(L, -2, name);
  } else {
    hmn_lua_inexact(L, name, value, 0);
  }
}

#define hmn_lua_set_u32(L, name, value) hmn_lua_set_u64(L, name, value)
#define hmn_lua_set_i32(L, name, value) hmn_lua_set_i64(L, name, value)
#define hmn_lua_set_f64(L, name, value) (lua_pushnumber(L, value), lua_setfield(L, -2, name))
#define hmn_lua_set_text(L, name, value) (lua_pushstring(L, value), lua_setfield(L, -2, name))
#define HMN_LUA_FIELD(kind, field) hmn_lua_set_ ## kind(L, #field, record->field)
#define HMN_LUA_SECONDS(name, field) hmn_lua_set_f64(L, #name, (lua_Number)record->field / 1e9)

/* A text that a snapshot has of each row of a list, and the field that it becomes. */
typedef struct {
  uint32_t text;
  const char *field;
} hmn_lua_text;

/* __index of a record that has `inexact`. */
static int hmn_lua_read_inexact(lua_State *L) {
  lua_settop(L, 2);
  lua_pushliteral(L, "inexact");
  lua_rawget(L, 1);
  if (lua_istable(L, -1)) {
    lua_pushvalue(L, 2);
    lua_rawget(L, -2);
    if (lua_type(L, -1) == LUA_TSTRING)
      return luaL_error(L, "%s is %s, which a number of %s cannot hold exactly; field 'inexact' has the digits",
                        lua_tostring(L, 2), lua_tostring(L, -1), LUA_VERSION);
  }
  lua_pushnil(L);
  return 1;
}

/* ---- module ---- */

/* What opens the module stands around SWIG's function for it, which fills tables that all Lua states of a
 * process share, and sets two global variables. */
#undef SWIG_init
#define SWIG_init hmn_lua_swig_open
SWIGEXPORT int SWIG_init(lua_State *L);
static int hmn_lua_close(lua_State *L);
static pthread_mutex_t hmn_lua_opening = PTHREAD_MUTEX_INITIALIZER;

SWIGEXPORT int luaopen_hypomnesis_core(lua_State *L) {
  static const char *const globals[] = {"swig_type", "swig_equals"};
  static const char *const handles[] = {"HypomnesisContext", "HypomnesisSnapshot", "HypomnesisSampler",
                                        "HypomnesisTracker", "HypomnesisSpill"};
  int failed, i;
  lua_settop(L, 0);
  for (i = 0; i < 2; ++i) lua_getglobal(L, globals[i]);
  luaL_newmetatable(L, HMN_LUA_RECORD_TYPE);
  lua_pushcfunction(L, hmn_lua_read_inexact);
  lua_setfield(L, -2, "__index");
  lua_pushcfunction(L, SWIG_init);
  pthread_mutex_lock(&hmn_lua_opening);
  failed = lua_pcall(L, 0, 1, 0);
  pthread_mutex_unlock(&hmn_lua_opening);
  if (failed) return lua_error(L);
  for (i = 0; i < 2; ++i) {
    lua_pushvalue(L, i + 1);
    lua_setglobal(L, globals[i]);
  }
  /* A finalizer that runs later can still use the handle: it must find it closed. */
  for (i = 0; i < 5; ++i) {
    SWIG_Lua_get_class_metatable(L, handles[i]);
    lua_pushcfunction(L, hmn_lua_close);
    lua_setfield(L, -2, "__gc");
    lua_pop(L, 1);
  }
  return 1;
}
%}

// HypomnesisContext(...) returns one result only; this returns the failure as well.
%native(open) int hmn_lua_open(lua_State *L);
%{
static int _wrap_new_HypomnesisContext(lua_State *L);
static int hmn_lua_open(lua_State *L) { return _wrap_new_HypomnesisContext(L); }
%}
%native(open_tracker) int hmn_lua_open_tracker(lua_State *L);
%{
static int _wrap_new_HypomnesisTracker(lua_State *L);
static int hmn_lua_open_tracker(lua_State *L) { return _wrap_new_HypomnesisTracker(L); }
%}

// A handle is recognized by its metatable: SWIG's own check reads what any userdata points to.
%{
/* The userdata of class `class_name` at `index`, NULL for anything else. */
static swig_lua_userdata *hmn_lua_test_handle(lua_State *L, int index, const char *class_name) {
  int same;
  if (lua_type(L, index) != LUA_TUSERDATA || !lua_getmetatable(L, index)) return NULL;
  SWIG_Lua_get_class_metatable(L, class_name);
  same = lua_rawequal(L, -1, -2);
  lua_pop(L, 2);
  return same ? (swig_lua_userdata *)lua_touserdata(L, index) : NULL;
}

static void *hmn_lua_to_handle(lua_State *L, int index, const char *class_name, const char *name) {
  swig_lua_userdata *handle = hmn_lua_test_handle(L, index, class_name);
  if (!handle) luaL_error(L, "bad argument '%s' (%s expected, got %s)", name, class_name, luaL_typename(L, index));
  if (!handle->ptr) luaL_error(L, "bad argument '%s' (%s is closed)", name, class_name);
  return handle->ptr;
}
%}
%typemap(in) Context * %{ $1 = ($1_ltype)hmn_lua_to_handle(L, $input, "HypomnesisContext", "$1_name"); %}
%typemap(in) Snapshot *, const Snapshot * %{
  $1 = ($1_ltype)hmn_lua_to_handle(L, $input, "HypomnesisSnapshot", "$1_name");
%}
%typemap(in) Sampler * %{ $1 = ($1_ltype)hmn_lua_to_handle(L, $input, "HypomnesisSampler", "$1_name"); %}
%typemap(in) Tracker * %{ $1 = ($1_ltype)hmn_lua_to_handle(L, $input, "HypomnesisTracker", "$1_name"); %}
%typemap(in) Spill * %{ $1 = ($1_ltype)hmn_lua_to_handle(L, $input, "HypomnesisSpill", "$1_name"); %}

// Destroys the object of a handle now. Closing it again is fine.
%native(close) int hmn_lua_close(lua_State *L);
%{
static int hmn_lua_close(lua_State *L) {
  swig_lua_userdata *context = hmn_lua_test_handle(L, 1, "HypomnesisContext");
  swig_lua_userdata *snapshot = hmn_lua_test_handle(L, 1, "HypomnesisSnapshot");
  swig_lua_userdata *sampler = hmn_lua_test_handle(L, 1, "HypomnesisSampler");
  swig_lua_userdata *tracker = hmn_lua_test_handle(L, 1, "HypomnesisTracker");
  swig_lua_userdata *spill = hmn_lua_test_handle(L, 1, "HypomnesisSpill");
  swig_lua_userdata *handle = context ? context : snapshot ? snapshot : sampler ? sampler : tracker ? tracker : spill;
  if (!handle)
    return luaL_error(L, "bad argument 'handle' (context, snapshot, sampler, tracker or spill expected, got %s)",
                      luaL_typename(L, 1));
  if (context) hmn_context_destroy((hmn_context *)handle->ptr);
  else if (snapshot) hmn_snapshot_destroy((hmn_snapshot *)handle->ptr);
  else if (sampler) hmn_sampler_destroy((hmn_sampler *)handle->ptr);
  else if (tracker) hmn_tracker_destroy((hmn_tracker *)handle->ptr);
  else hmn_spill_destroy((hmn_spill *)handle->ptr);
  handle->own = 0;
  handle->ptr = NULL;
  return 0;
}
%}

%typemap(in) uint32_t, hmn_flags %{ $1 = hmn_lua_to_u32(L, $input, "$1_name"); %}
%typemap(in) int32_t, hmn_status %{ $1 = hmn_lua_to_i32(L, $input, "$1_name"); %}
%typemap(in) hmn_fields %{ $1 = hmn_lua_to_fields(L, $input, "$1_name"); %}
%typemap(in) uint64_t %{ $1 = hmn_lua_to_u64(L, $input, "$1_name"); %}
%typemap(in) uint64_t deadline_ns, uint64_t stale_ns, uint64_t open_deadline_ns, uint64_t max_age_ns,
             uint64_t idle_close_ns, uint64_t rescan_ns, uint64_t interval_ns, uint64_t process_interval_ns,
             uint64_t timeout_ns, uint64_t monotonic_ns %{ $1 = hmn_lua_to_ns(L, $input, "$1_name"); %}
%typemap(in) const char * %{ $1 = ($1_ltype)hmn_lua_to_text(L, $input, "$1_name"); %}
%typemap(in) const char *value %{
  $1 = lua_isnoneornil(L, $input) ? NULL : ($1_ltype)hmn_lua_to_text(L, $input, "$1_name");
%}
%typemap(out) uint32_t, int64_t %{ HMN_LUA_PUSH($1); SWIG_arg++; %}
%typemap(out) uint64_t %{
  if ($1 > HMN_LUA_MOST) return hmn_lua_too_large(L, $1);
  HMN_LUA_PUSH($1);
  SWIG_arg++;
%}
// A second result.
%typemap(in, numinputs=0) hmn_u64 *generation (hmn_u64 number) %{
  number = 0;
  $1 = &number;
%}
%typemap(argout) hmn_u64 *generation %{
  if (*$1 > HMN_LUA_MOST) return hmn_lua_too_large(L, *$1);
  HMN_LUA_PUSH(*$1);
  SWIG_arg++;
%}
%typemap(in) (const hmn_u64 *list, uint32_t count) %{
  $1 = hmn_lua_to_list(L, $input, &$2);
%}


%typemap(in, numinputs=0) hmn_error *error (hmn_error record) {
  memset(&record, 0, sizeof record);
  record.struct_size = sizeof record;
  $1 = &record;
}
%typemap(argout) hmn_error *error {
  if ($1->status != HMN_OK) return hmn_lua_failure(L, $1);
}

%define HMN_LUA_RECORD(record)
%typemap(out) record * %{
  if ($1) {
    const record copy = *$1; /* without memory Lua does not come back here */
    free($1);
    hmn_lua_push_ ## record(L, &copy);
  } else {
    lua_pushnil(L);
  }
  SWIG_arg++;
%}
%enddef
