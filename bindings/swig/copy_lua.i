// SPDX-License-Identifier: MIT OR Apache-2.0
// A whole snapshot as one table; the values of a device or process are in its table.
%native(copy) int hmn_lua_copy(lua_State *L);
%{
/* Reads a record by CALL, which fills `part` and `error`, and sets it as a field of the table on top; what is not
 * there is left out. */
#define HMN_LUA_PART(record, name, CALL) \
  do { \
    record part; \
    hmn_error error; \
    hmn_status status; \
    part.struct_size = sizeof part; \
    error.struct_size = sizeof error; \
    status = (CALL); \
    if (status == HMN_OK) { \
      hmn_lua_push_ ## record(L, &part); \
      lua_setfield(L, -2, name); \
    } else if (status != HMN_E_EMPTY) { \
      return hmn_lua_failure(L, &error); \
    } \
  } while (0)

/* Reads a row by CALL, which fills `row` and `error`. */
#define HMN_LUA_ROW(row, CALL) \
  do { \
    hmn_error error; \
    row.struct_size = sizeof row; \
    error.struct_size = sizeof error; \
    if ((CALL) != HMN_OK) return hmn_lua_failure(L, &error); \
  } while (0)

/* Each of these has the table of the snapshot on top and gives 0, or the number of results of a failure. */

static int hmn_lua_copy_parts(lua_State *L, const hmn_snapshot *snapshot) {
  HMN_LUA_PART(hmn_snapshot_info, "info", hmn_snapshot_read(snapshot, &part, &error));
  HMN_LUA_PART(hmn_process_memory, "memory", hmn_snapshot_memory(snapshot, &part, &error));
  HMN_LUA_PART(hmn_system_memory, "system", hmn_snapshot_system(snapshot, &part, &error));
  return 0;
}

/* Pools up to those of device `index`, from *next on: into the list of all at `all`, and into the list on top. */
static int hmn_lua_copy_pools(lua_State *L, const hmn_snapshot *snapshot, uint32_t index, uint32_t *next,
                              uint32_t count, int all) {
  hmn_pool row;
  int own = 0;
  for (; *next < count; ++*next) {
    HMN_LUA_ROW(row, hmn_snapshot_pool_at(snapshot, *next, &row, &error));
    if (row.device_index > index) break;
    hmn_lua_push_hmn_pool(L, &row);
    if (row.device_index == index) {
      lua_pushvalue(L, -1);
      lua_rawseti(L, -3, ++own);
    }
    lua_rawseti(L, all, (int)*next + 1);
  }
  return 0;
}

/* Sets a text of row i as a field of the table on top; one that is not known is left out. */
static hmn_status hmn_lua_copy_text(lua_State *L, const hmn_snapshot *snapshot, uint32_t text, uint32_t i,
                                    const char *field, hmn_error *error) {
  char line[256];
  char *found = line;
  uint32_t needed = 0;
  hmn_status status = hmn_snapshot_text_at(snapshot, text, i, found, sizeof line, &needed, error);
  if (status == HMN_E_EMPTY) return HMN_OK;
  if (status == HMN_E_BUFFER) {
    found = (char *)lua_newuserdata(L, needed);
    status = hmn_snapshot_text_at(snapshot, text, i, found, needed, &needed, error);
    lua_pushstring(L, status == HMN_OK ? found : "");
    lua_replace(L, -2);
  } else {
    lua_pushstring(L, status == HMN_OK ? found : "");
  }
  lua_setfield(L, -2, field);
  return status;
}

static hmn_status hmn_lua_copy_texts(lua_State *L, const hmn_snapshot *snapshot, const hmn_lua_text *texts,
                                     uint32_t i, hmn_error *error) {
  hmn_status status = HMN_OK;
  for (; texts->field && status == HMN_OK; ++texts)
    status = hmn_lua_copy_text(L, snapshot, texts->text, i, texts->field, error);
  return status;
}

/* As hmn_lua_copy_pools. */
static int hmn_lua_copy_metrics(lua_State *L, const hmn_snapshot *snapshot, uint32_t index, uint32_t *next,
                                uint32_t count, int all) {
  hmn_metric row;
  int own = 0;
  for (; *next < count; ++*next) {
    HMN_LUA_ROW(row, hmn_snapshot_metric_at(snapshot, *next, &row, &error));
    if (row.device_index > index) break;
    hmn_lua_push_hmn_metric(L, &row);
    if (row.device_index == index) {
      lua_pushvalue(L, -1);
      lua_rawseti(L, -3, ++own);
    }
    lua_rawseti(L, all, (int)*next + 1);
  }
  return 0;
}

static int hmn_lua_copy_devices(lua_State *L, const hmn_snapshot *snapshot, const hmn_snapshot_info *info) {
  const int all = lua_gettop(L) + 1;
  uint32_t i, next_pool = 0, next_metric = 0;
  hmn_device row;
  lua_createtable(L, (int)info->pool_count, 0);
  lua_createtable(L, (int)info->metric_count, 0);
  lua_createtable(L, (int)info->device_count, 0);
  for (i = 0; i < info->device_count; ++i) {
    int failed;
    HMN_LUA_ROW(row, hmn_snapshot_device_at(snapshot, i, &row, &error));
    hmn_lua_push_hmn_device(L, &row);
    HMN_LUA_PART(hmn_telemetry, "telemetry", hmn_snapshot_find_telemetry(snapshot, row.index, &part, &error));
    HMN_LUA_PART(hmn_usage, "own_usage", hmn_snapshot_find_self(snapshot, row.index, &part, &error));
    lua_createtable(L, 1, 0);
    failed = hmn_lua_copy_pools(L, snapshot, row.index, &next_pool, info->pool_count, all);
    if (failed) return failed;
    lua_setfield(L, -2, "pools");
    lua_newtable(L);
    failed = hmn_lua_copy_metrics(L, snapshot, row.index, &next_metric, info->metric_count, all + 1);
    if (failed) return failed;
    lua_setfield(L, -2, "metrics");
    lua_rawseti(L, -2, (int)i + 1);
  }
  lua_setfield(L, -4, "devices");
  lua_setfield(L, -3, "metrics");
  lua_setfield(L, -2, "pools");
  return 0;
}

static int hmn_lua_copy_processes(lua_State *L, const hmn_snapshot *snapshot, uint32_t count) {
  hmn_usage row;
  uint32_t i;
  lua_createtable(L, (int)count, 0);
  for (i = 0; i < count; ++i) {
    hmn_error why;
    HMN_LUA_ROW(row, hmn_snapshot_usage_at(snapshot, i, &row, &error));
    hmn_lua_push_hmn_usage(L, &row);
    why.struct_size = sizeof why;
    if (hmn_lua_copy_texts(L, snapshot, hmn_usage_texts, i, &why) != HMN_OK) return hmn_lua_failure(L, &why);
    lua_rawseti(L, -2, (int)i + 1);
  }
  lua_setfield(L, -2, "processes");
  return 0;
}

static int hmn_lua_copy_groups(lua_State *L, const hmn_snapshot *snapshot, uint32_t count) {
  hmn_group row;
  uint32_t i;
  lua_createtable(L, (int)count, 0);
  for (i = 0; i < count; ++i) {
    hmn_error why;
    HMN_LUA_ROW(row, hmn_snapshot_group_at(snapshot, i, &row, &error));
    hmn_lua_push_hmn_group(L, &row);
    why.struct_size = sizeof why;
    if (hmn_lua_copy_texts(L, snapshot, hmn_group_texts, i, &why) != HMN_OK) return hmn_lua_failure(L, &why);
    lua_rawseti(L, -2, (int)i + 1);
  }
  lua_setfield(L, -2, "groups");
  return 0;
}

static int hmn_lua_copy_diagnostics(lua_State *L, const hmn_snapshot *snapshot, uint32_t count) {
  hmn_diagnostic row;
  uint32_t i;
  lua_createtable(L, (int)count, 0);
  for (i = 0; i < count; ++i) {
    HMN_LUA_ROW(row, hmn_snapshot_diagnostic_at(snapshot, i, &row, &error));
    hmn_lua_push_hmn_diagnostic(L, &row);
    lua_rawseti(L, -2, (int)i + 1);
  }
  lua_setfield(L, -2, "diagnostics");
  return 0;
}

static int hmn_lua_copy(lua_State *L) {
  const hmn_snapshot *snapshot = (const hmn_snapshot *)hmn_lua_to_handle(L, 1, "HypomnesisSnapshot", "snapshot");
  hmn_snapshot_info info;
  int failed;
  HMN_LUA_ROW(info, hmn_snapshot_read(snapshot, &info, &error));
  lua_createtable(L, 0, 10);
  if ((failed = hmn_lua_copy_parts(L, snapshot)) != 0 ||
      (failed = hmn_lua_copy_devices(L, snapshot, &info)) != 0 ||
      (failed = hmn_lua_copy_processes(L, snapshot, info.usage_count)) != 0 ||
      (failed = hmn_lua_copy_groups(L, snapshot, info.group_count)) != 0 ||
      (failed = hmn_lua_copy_diagnostics(L, snapshot, info.diagnostic_count)) != 0)
    return failed;
  return 1;
}
%}
