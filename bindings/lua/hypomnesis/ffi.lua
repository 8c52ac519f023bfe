-- SPDX-License-Identifier: MIT OR Apache-2.0
-- LuaJIT: the functions of hypomnesis.core over the FFI. Arguments were checked by who calls.
local bit = require "bit"
local ffi = require "ffi"
local C = require "hypomnesis.native"
local constants = require "hypomnesis.generated.constants"

local OK, EMPTY, BUFFER = constants.OK, constants.E_EMPTY, constants.E_BUFFER
local MOST_OF_DOUBLE = 0x20000000000000ULL
local MOST_SIGNED, LEAST_SIGNED = 0x20000000000000LL, -0x20000000000000LL

-- A number where that is exact, else a cdata.
local function unsigned(value)
  if value <= MOST_OF_DOUBLE then return tonumber(value) end
  return value
end

local function signed(value)
  if value <= MOST_SIGNED and value >= LEAST_SIGNED then return tonumber(value) end
  return value
end

local copy = require "hypomnesis.generated.records"(bit.band, ffi.string, unsigned, signed)

-- One struct of each kind serves every call: it is filled and copied before anything else can run.
local function room(name)
  local record = ffi.new(name)
  record.struct_size = ffi.sizeof(name)
  return record
end

local told = room "hmn_error"
local count = ffi.new "uint32_t[1]"

local function failure(status)
  return nil, ffi.string(told.message), status, copy.hmn_error(told)
end

-- Functions of snapshots return a status alone.
local function named_failure(status)
  local message = ffi.string(C.hmn_status_name(status))
  return nil, message, status,
    {status = status, notes = 0, backend = 0, native_domain = 0, native_code = 0, message = message}
end

local Context, Snapshot = {}, {}
Context.__index, Snapshot.__index = Context, Snapshot

local raw = {}

-- ---- library ----

function raw.version_number() return C.hmn_version_number() end
function raw.version_string() return ffi.string(C.hmn_version_string()) end
function raw.feature(feature) return C.hmn_feature(feature) end
function raw.status_name(status) return ffi.string(C.hmn_status_name(status)) end
function raw.backend_name(backend) return ffi.string(C.hmn_backend_name(backend)) end
function raw.size_of(name) return ffi.sizeof(name) end

-- ---- handles ----

local contexts, snapshots = ffi.new "hmn_context *[1]", ffi.new "hmn_snapshot *[1]"
local context_options, snapshot_options = room "hmn_context_options", room "hmn_snapshot_options"

function raw.open(flags, deadline_ms, stale_ms, open_deadline_ms, max_age_ms, idle_close_ms, backends_off)
  local options = context_options
  options.flags, options.deadline_ms, options.stale_ms = flags, deadline_ms, stale_ms
  options.open_deadline_ms, options.max_age_ms = open_deadline_ms, max_age_ms
  options.idle_close_ms, options.backends_off = idle_close_ms, backends_off
  local status = C.hmn_context_create(options, contexts, told)
  if status ~= OK then return failure(status) end
  return setmetatable({native = ffi.gc(contexts[0], C.hmn_context_destroy), destroy = C.hmn_context_destroy}, Context)
end

function raw.close(handle)
  local native = handle.native
  if native == nil then return end
  handle.native = nil
  handle.destroy(ffi.gc(native, nil))
end

-- ---- text ----

local ROOM = 4096
local buffer, capacity = ffi.new("char[?]", ROOM), ROOM

-- `call(buffer, capacity, needed)` once more when the buffer was too small.
local function text(call)
  local status = call(buffer, capacity, count)
  if status == BUFFER then
    local needed = count[0]
    local large = ffi.new("char[?]", needed)
    status = call(large, needed, count)
    if status == OK then return ffi.string(large) end
  end
  if status == OK then return ffi.string(buffer) end
  if status == EMPTY then return nil end
  return named_failure(status)
end

function raw.format_bytes(bytes)
  return text(function(...) return C.hmn_format_bytes(bytes, ...) end)
end

-- ---- context ----

local backend_info = room "hmn_backend_info"
local process_memory = room "hmn_process_memory"
local system_memory = room "hmn_system_memory"
local device = room "hmn_device"
local pool = room "hmn_pool"
local telemetry = room "hmn_telemetry"
local usage = room "hmn_usage"
local snapshot_info = room "hmn_snapshot_info"
local diagnostic = room "hmn_diagnostic"
local delta = room "hmn_delta"

function Context:set_path(path, value)
  local status = C.hmn_context_set_path(self.native, path, value, told)
  if status ~= OK then return failure(status) end
end

function Context:backend(number)
  local status = C.hmn_context_backend(self.native, number, backend_info, told)
  if status ~= OK then return failure(status) end
  return copy.hmn_backend_info(backend_info)
end

function Context:process_memory(pid, fields)
  local status = C.hmn_process_memory_read(self.native, pid, fields, process_memory, told)
  if status ~= OK then return failure(status) end
  return copy.hmn_process_memory(process_memory)
end

function Context:own_memory(fields)
  local status = C.hmn_process_memory_read_self(self.native, fields, process_memory, told)
  if status ~= OK then return failure(status) end
  return copy.hmn_process_memory(process_memory)
end

function Context:system_memory()
  local status = C.hmn_system_memory_read(self.native, system_memory, told)
  if status ~= OK then return failure(status) end
  return copy.hmn_system_memory(system_memory)
end

function Context:device_count()
  local status = C.hmn_device_count(self.native, count, told)
  if status ~= OK then return failure(status) end
  return count[0]
end

function Context:find_device(key)
  local status = C.hmn_device_find(self.native, key, count, told)
  if status ~= OK then return failure(status) end
  return count[0]
end

function Context:device(index)
  local status = C.hmn_device_read(self.native, index, device, told)
  if status ~= OK then return failure(status) end
  return copy.hmn_device(device)
end

function Context:pool(index, kind)
  local status = C.hmn_pool_read(self.native, index, kind, pool, told)
  if status ~= OK then return failure(status) end
  return copy.hmn_pool(pool)
end

function Context:telemetry(index, fields)
  local status = C.hmn_telemetry_read(self.native, index, fields, telemetry, told)
  if status ~= OK then return failure(status) end
  return copy.hmn_telemetry(telemetry)
end

function Context:usage(index, pid)
  local status = C.hmn_usage_read(self.native, index, pid, usage, told)
  if status ~= OK then return failure(status) end
  return copy.hmn_usage(usage)
end

function Context:own_usage(index)
  local status = C.hmn_usage_read_self(self.native, index, usage, told)
  if status ~= OK then return failure(status) end
  return copy.hmn_usage(usage)
end

function Context:take(flags, collect, device_index, pid, deadline_ms)
  local options = snapshot_options
  options.flags, options.collect, options.device_index = flags, collect, device_index
  options.pid, options.deadline_ms = pid, deadline_ms
  local status = C.hmn_snapshot_take(self.native, options, snapshots, told)
  if status ~= OK then return failure(status) end
  return setmetatable({native = ffi.gc(snapshots[0], C.hmn_snapshot_destroy), destroy = C.hmn_snapshot_destroy}, Snapshot)
end

-- ---- snapshot ----

-- Nothing where a snapshot does not have it.
local function memory_of(native)
  local status = C.hmn_snapshot_memory(native, process_memory)
  return status == OK and copy.hmn_process_memory(process_memory) or nil
end

local function system_of(native)
  local status = C.hmn_snapshot_system(native, system_memory)
  return status == OK and copy.hmn_system_memory(system_memory) or nil
end

local function telemetry_of(native, i)
  local status = C.hmn_snapshot_telemetry(native, i, telemetry)
  return status == OK and copy.hmn_telemetry(telemetry) or nil
end

local function own_usage_of(native, i)
  local status = C.hmn_snapshot_self(native, i, usage)
  return status == OK and copy.hmn_usage(usage) or nil
end

local NAME = constants.TEXT_PROCESS_NAME

local function long_name_of(native, i)
  return text(function(...) return C.hmn_snapshot_text(native, NAME, i, ...) end)
end

local function name_of(native, i)
  local status = C.hmn_snapshot_text(native, NAME, i, buffer, capacity, count)
  if status == OK then return ffi.string(buffer) end
  if status == BUFFER then return long_name_of(native, i) end
end

local function devices_of(native, number)
  local devices = {}
  for i = 1, number do
    C.hmn_snapshot_device(native, i - 1, device)
    local found = copy.hmn_device(device)
    found.telemetry, found.own_usage = telemetry_of(native, i - 1), own_usage_of(native, i - 1)
    found.pools = {}
    devices[i] = found
  end
  return devices
end

-- Both lists are in the order of device indexes.
local function pools_of(native, number, devices)
  local pools, at = {}, 1
  for i = 1, number do
    C.hmn_snapshot_pool(native, i - 1, pool)
    local found = copy.hmn_pool(pool)
    pools[i] = found
    while devices[at] and devices[at].index < found.device_index do at = at + 1 end
    local own = devices[at] and devices[at].index == found.device_index and devices[at].pools
    if own then own[#own + 1] = found end
  end
  return pools
end

local function processes_of(native, number)
  local processes = {}
  for i = 1, number do
    C.hmn_snapshot_usage(native, i - 1, usage)
    local found = copy.hmn_usage(usage)
    found.name = name_of(native, i - 1)
    processes[i] = found
  end
  return processes
end

local function diagnostics_of(native, number)
  local diagnostics = {}
  for i = 1, number do
    C.hmn_snapshot_diagnostic(native, i - 1, diagnostic)
    diagnostics[i] = copy.hmn_diagnostic(diagnostic)
  end
  return diagnostics
end

-- A snapshot whole, as one table: what belongs to a device or a process stands in its table.
function raw.copy(handle)
  local native = handle.native
  local status = C.hmn_snapshot_read(native, snapshot_info)
  if status ~= OK then return named_failure(status) end
  local info = copy.hmn_snapshot_info(snapshot_info)
  local devices = devices_of(native, info.device_count)
  return {
    info = info,
    memory = memory_of(native),
    system = system_of(native),
    devices = devices,
    pools = pools_of(native, info.pool_count, devices),
    processes = processes_of(native, info.usage_count),
    diagnostics = diagnostics_of(native, info.diagnostic_count),
  }
end

function Snapshot:device_line(i, format)
  return text(function(...) return C.hmn_format_device(self.native, i, format, ...) end)
end

function Snapshot:json()
  return text(function(...) return C.hmn_format_json(self.native, ...) end)
end

function Snapshot:delta_since(before, device_index)
  local status = C.hmn_report_read(before.native, self.native, device_index, delta)
  if status == OK then return copy.hmn_delta(delta) end
  if status ~= EMPTY then return named_failure(status) end
end

function Snapshot:delta_line(before, device_index, label)
  return text(function(...) return C.hmn_report_delta(before.native, self.native, device_index, label, ...) end)
end

function Snapshot:before_after_lines(before, device_index, label)
  return text(function(...) return C.hmn_report_before_after(before.native, self.native, device_index, label, ...) end)
end

return raw
