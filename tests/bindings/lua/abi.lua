-- SPDX-License-Identifier: MIT OR Apache-2.0
-- abi.lua ABI_JSON PACKAGE: constants, sizes, fields and functions match the header.
local hypomnesis = require "hypomnesis"
local raw = require "hypomnesis.raw"
local expect = require "expect"
local json = require "json"

local abi = json.read(arg[1])
local is_jit = rawget(_G, "jit") ~= nil

-- ---- constants ----

local function compare_constants(constants, label, excluded_pattern)
  local count = 0
  for name, value in pairs(abi.constants) do
    if not (excluded_pattern and name:find(excluded_pattern)) then
      expect.equal(constants[name:gsub("^HMN_", "")], value, label .. name)
      count = count + 1
    end
  end
  expect.that(count > 100, "constants were compared")
end

compare_constants(hypomnesis, "hypomnesis: ")
for name, value in pairs(hypomnesis) do
  -- UNLIMITED and IMMEDIATE are macros in the header.
  if type(value) == "number" and name ~= "UNLIMITED" and name ~= "IMMEDIATE" then expect.equal(abi.constants["HMN_" .. name], value, "the header: " .. name) end
end
if not is_jit then compare_constants(require "hypomnesis.core", "hypomnesis.core: ", "_HAS_") end

-- ---- sizes ----

for name, struct in pairs(abi.structs) do expect.equal(raw.size_of(name), struct.size, "size of " .. name) end
if is_jit then
  local ffi = require "ffi"
  for name, struct in pairs(abi.structs) do
    for _, field in ipairs(struct.fields) do
      expect.equal(ffi.offsetof(name, field.name), field.offset, name .. "." .. field.name)
    end
  end
end

-- ---- fields: the package's documentation ----

local CLASSES = {
  hmn_backend_info = "BackendInfo", hmn_process_memory = "ProcessMemory", hmn_system_memory = "SystemMemory",
  hmn_device = "Device", hmn_pool = "Pool", hmn_telemetry = "Telemetry", hmn_metric = "Metric", hmn_group = "Group", hmn_usage = "Usage",
  hmn_snapshot_info = "SnapshotInfo", hmn_diagnostic = "Diagnostic", hmn_delta = "Delta",
  hmn_sampler_info = "SamplerInfo", hmn_peak = "Peak", hmn_spill_info = "SpillInfo", hmn_episode = "Episode",
  hmn_tracker_info = "TrackerInfo", hmn_tag = "Tag",
}
local INPUT_STRUCTS = {hmn_context_options = true, hmn_snapshot_options = true,
  hmn_sampler_options = true, hmn_spill_options = true,
  hmn_spill_sample = true, hmn_tracker_options = true, hmn_packing = true, hmn_attention = true, hmn_cache = true,
  hmn_metric_key = true, hmn_reason_key = true,
  hmn_error = true}
local HIDDEN_FIELDS = {struct_size = true, present = true, reserved0 = true}
local SNAPSHOT_FIELDS = {
  Device = {pools = true, telemetry = true, metrics = true, own_usage = true},
  Group = {name = true},
  Usage = {name = true, command = true, container = true},
}

local documented_types = {}
for _, file in ipairs {"device", "snapshot", "generated/types"} do
  local class
  for line in io.lines(arg[2] .. "/" .. file .. ".lua") do
    class = line:match("^%-%-%-@class hypomnesis%.(%w+)") or class
    local field, kind = line:match("^%-%-%-@field (%w+) (%S+)")
    if not field then field, kind = line:match("^%-%-%-@field ([%w_]+) (%S+)") end
    if field then
      documented_types[class] = documented_types[class] or {}
      documented_types[class][field] = kind
    end
  end
end

local TIMES = {unix_time_ns = "time", start_unix_ns = "start_time"}

local function drop_unit(name) return TIMES[name] or (name:gsub("_ns$", "")) end

local function find_type(field)
  local name = field.name:find "_ns$" and "number" or field.count ~= json.null and "string" or field.type == "double" and "number" or "integer"
  return field.present ~= json.null and name .. "?" or name
end

for name, struct in pairs(abi.structs) do
  local class = CLASSES[name]
  expect.that(class or INPUT_STRUCTS[name], name .. " has no class")
  if class then
    local fields = {}
    for _, field in ipairs(struct.fields) do
      fields[drop_unit(field.name)] = true
      if not HIDDEN_FIELDS[field.name] then
        expect.equal(documented_types[class][drop_unit(field.name)], find_type(field), class .. "." .. field.name)
      end
    end
    for field in pairs(documented_types[class]) do
      expect.that(fields[field] or (SNAPSHOT_FIELDS[class] or {})[field],
        class .. "." .. field .. " is not in the header")
    end
  end
end

-- ---- fields: a complete and an empty record ----

if is_jit then
  local bit, ffi = require "bit", require "ffi"
  local function identity(value) return value end
  local copy = require "hypomnesis.generated.records"(bit.band, ffi.string, identity, identity, identity)
  for name, struct in pairs(abi.structs) do
    if CLASSES[name] then
      local record = ffi.new(name)
      record.present = 0xffffffff
      local complete = copy[name](record)
      record.present = 0
      local minimal = copy[name](record)
      for _, field in ipairs(struct.fields) do
        if not HIDDEN_FIELDS[field.name] then
          local lua_name = drop_unit(field.name)
          expect.that(complete[lua_name] ~= nil, name .. "." .. field.name .. " is copied")
          expect.equal(minimal[lua_name] == nil, field.present ~= json.null,
            name .. "." .. field.name .. " is absent")
        end
      end
    end
  end
end

-- ---- functions: the counterpart of each ----

local Context, Snapshot = require "hypomnesis.context", require "hypomnesis.snapshot"
local Sampler = require "hypomnesis.sampler"
local Spill = require "hypomnesis.spill"
local Tracker = require "hypomnesis.tracker"
local MEMBERS = {
  hmn_version_number = hypomnesis.version_number, hmn_version_string = hypomnesis.version_string,
  hmn_backend_available = hypomnesis.backend_available, hmn_feature = hypomnesis.feature, hmn_status_name = hypomnesis.status_name,
  hmn_monotonic_ns = hypomnesis.monotonic, hmn_sampler_handle = Sampler.handle,
  hmn_backend_name = hypomnesis.backend_name, hmn_reason_name = hypomnesis.reason_name, hmn_metric_name = hypomnesis.metric_name,
  hmn_metric_unit = hypomnesis.metric_unit, hmn_metric_instance_name = hypomnesis.metric_instance_name,
  hmn_metric_kind = hypomnesis.metric_kind, hmn_metric_next = hypomnesis.metrics,
  hmn_metric_read = Context.metric, hmn_snapshot_metric_at = raw.copy,
  hmn_context_create = hypomnesis.open,
  hmn_context_set_path = Context.set_path, hmn_context_backend = Context.backend,
  hmn_context_cancel = Context.cancel, hmn_context_resume = Context.resume,
  hmn_context_recording = Context.recording,
  hmn_context_destroy = Context.close, hmn_process_memory_read = Context.process_memory,
  hmn_process_memory_read_self = Context.own_memory, hmn_system_memory_read = Context.system_memory,
  hmn_device_scan = Context.scan,
  hmn_device_find = Context.find_device, hmn_device_read = Context.device,
  hmn_pool_read = Context.pool, hmn_telemetry_read = Context.telemetry, hmn_usage_read = Context.usage,
  hmn_usage_read_self = Context.own_usage, hmn_snapshot_take = Context.snapshot,
  hmn_snapshot_destroy = Snapshot.close, hmn_snapshot_read = raw.copy, hmn_snapshot_memory = raw.copy,
  hmn_snapshot_system = raw.copy, hmn_snapshot_device_at = raw.copy, hmn_snapshot_find_telemetry = raw.copy,
  hmn_snapshot_find_self = raw.copy, hmn_snapshot_pool_at = raw.copy, hmn_snapshot_find_pool = Snapshot.pool, hmn_snapshot_usage_at = raw.copy,
  hmn_snapshot_diagnostic_at = raw.copy, hmn_snapshot_reason = Snapshot.reason, hmn_snapshot_group_at = raw.copy, hmn_snapshot_text_at = raw.copy, hmn_delta_read = Snapshot.delta_since,
  hmn_report_delta = Snapshot.delta_line, hmn_report_before_after = Snapshot.before_after_lines,
  hmn_format_device = Snapshot.device_line, hmn_format_json = Snapshot.json,
  hmn_format_bytes = hypomnesis.format_bytes,
  hmn_dtype_bits = hypomnesis.dtype_bits, hmn_dtype_name = hypomnesis.dtype_name,
  hmn_dtype_from_name = hypomnesis.dtype_from_name, hmn_estimate_tensor = hypomnesis.estimate_tensor,
  hmn_estimate_packed = hypomnesis.estimate_packed, hmn_estimate_attention = hypomnesis.estimate_attention,
  hmn_estimate_cache = hypomnesis.estimate_cache, hmn_estimate_overhead = hypomnesis.estimate_overhead,
  hmn_estimate_sum = hypomnesis.estimate_sum, hmn_tracker_create = hypomnesis.tracker,
  hmn_tracker_destroy = Tracker.close, hmn_tracker_allocate = Tracker.allocate,
  hmn_tracker_allocate_tagged = Tracker.allocate, hmn_tracker_release = Tracker.release,
  hmn_tracker_release_tagged = Tracker.release, hmn_tracker_tag = Tracker.tag, hmn_tracker_would_fit = Tracker.would_fit,
  hmn_tracker_set_limit = Tracker.set_limit, hmn_tracker_read = Tracker.info, hmn_tracker_read_tag = Tracker.read_tag,
  hmn_tracker_reset = Tracker.reset,
  hmn_sampler_create = Context.sampler, hmn_sampler_destroy = Sampler.close, hmn_sampler_start = Sampler.start,
  hmn_sampler_stop = Sampler.stop, hmn_sampler_next = Sampler.next, hmn_sampler_read = Sampler.info,
  hmn_sampler_latest_pool = Sampler.latest_pool, hmn_sampler_latest_telemetry = Sampler.latest_telemetry,
  hmn_spill_create = Context.spill, hmn_spill_destroy = Spill.close, hmn_spill_observe = Spill.observe,
  hmn_spill_observe_snapshot = Spill.observe_snapshot, hmn_spill_feed = Spill.feed, hmn_spill_read = Spill.info,
  hmn_spill_episode = Spill.episode,
  hmn_sampler_peak = Sampler.peak, hmn_sampler_peak_device = Sampler.device_peak,
}
for name in pairs(abi.functions) do expect.that(type(MEMBERS[name]) == "function", name .. " has no counterpart") end
for name in pairs(MEMBERS) do expect.that(abi.functions[name], name .. " is not in the header") end

-- ---- versions ----

expect.equal(hypomnesis.version_string(), abi.version, "version of the library")
expect.equal(#hypomnesis.status_name(hypomnesis.E_RANGE), #"HMN_E_RANGE", "name of a status")
