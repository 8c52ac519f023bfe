-- SPDX-License-Identifier: MIT OR Apache-2.0
-- LuaJIT: the functions of hypomnesis.core over the FFI. The callers check the arguments.
local bit = require "bit"
local ffi = require "ffi"
local C = require "hypomnesis.native"
local constants = require "hypomnesis.generated.constants"

local OK, EMPTY, BUFFER = constants.OK, constants.E_EMPTY, constants.E_BUFFER
local MAX_EXACT_DOUBLE = 0x20000000000000ULL
local MAX_EXACT_SIGNED, MIN_EXACT_SIGNED = 0x20000000000000LL, -0x20000000000000LL

-- A number where it is exact, else a cdata.
local function unsigned(value)
  if value <= MAX_EXACT_DOUBLE then return tonumber(value) end
  return value
end

local function signed(value)
  if value <= MAX_EXACT_SIGNED and value >= MIN_EXACT_SIGNED then return tonumber(value) end
  return value
end

local function seconds(nanoseconds) return tonumber(nanoseconds) / 1e9 end

local copy = require "hypomnesis.generated.records"(bit.band, ffi.string, unsigned, signed, seconds)

-- One struct of each kind serves every call: it is filled and copied before anything else can run.
local function new_record(name)
  local record = ffi.new(name)
  record.struct_size = ffi.sizeof(name)
  return record
end

local last_error = new_record "hmn_error"
local count = ffi.new "uint32_t[1]"
local event = ffi.new "int64_t[1]"

local function failure(status)
  return nil, ffi.string(last_error.message), status, copy.hmn_error(last_error)
end

local total = ffi.new "uint64_t[1]"

local function total_or_failure(status)
  if status ~= OK then return failure(status) end
  return unsigned(total[0])
end

-- A handle destroys its native object by `close` or when it is collected: a finalizer that runs later can still use it,
-- and must find it closed. Without an object `native` is NULL, which the library refuses.
local function handle_type(name, destroy)
  local methods = {}
  local function close(handle)
    local native = handle.native
    handle.native = nil
    destroy(native)
  end
  methods.close = close
  return methods, ffi.metatype(("struct { %s *native; }"):format(name), {__index = methods, __gc = close})
end

local Context, new_context = handle_type("hmn_context", C.hmn_context_destroy)
local Snapshot, new_snapshot = handle_type("hmn_snapshot", C.hmn_snapshot_destroy)
local Sampler, new_sampler = handle_type("hmn_sampler", C.hmn_sampler_destroy)
local Spill, new_spill = handle_type("hmn_spill", C.hmn_spill_destroy)
local Tracker, new_tracker = handle_type("hmn_tracker", C.hmn_tracker_destroy)

local function attach(handle, out)
  handle.native = out[0]
  return handle
end

local raw = {}

-- ---- library ----

function raw.version_number() return C.hmn_version_number() end
function raw.version_string() return ffi.string(C.hmn_version_string()) end
function raw.monotonic_ns() return unsigned(C.hmn_monotonic_ns()) end
function raw.feature(feature) return C.hmn_feature(feature) end
function raw.backend_available(backend) return C.hmn_backend_available(backend) end
function raw.status_name(status) return ffi.string(C.hmn_status_name(status)) end
function raw.backend_name(backend) return ffi.string(C.hmn_backend_name(backend)) end
function raw.reason_name(reason) return ffi.string(C.hmn_reason_name(reason)) end
function raw.metric_kind(metric) return C.hmn_metric_kind(metric) end
function raw.metric_next(metric) return C.hmn_metric_next(metric) end
function raw.metric_name(metric) return ffi.string(C.hmn_metric_name(metric)) end
function raw.metric_unit(metric) return ffi.string(C.hmn_metric_unit(metric)) end
function raw.metric_instance_name(metric, instance) return ffi.string(C.hmn_metric_instance_name(metric, instance)) end
function raw.dtype_bits(dtype) return C.hmn_dtype_bits(dtype) end
function raw.dtype_name(dtype) return ffi.string(C.hmn_dtype_name(dtype)) end
function raw.size_of(name) return ffi.sizeof(name) end

-- ---- handles ----

local contexts, snapshots = ffi.new "hmn_context *[1]", ffi.new "hmn_snapshot *[1]"
local context_options, snapshot_options = new_record "hmn_context_options", new_record "hmn_snapshot_options"

-- Nanoseconds of a duration in seconds.
local function ns(seconds)
  if seconds >= 2 ^ 63 / 1e9 then return 0xffffffffffffffffULL end
  return ffi.cast("uint64_t", math.floor(seconds * 1e9 + 0.5))
end

function raw.open(flags, deadline, stale, open_deadline, max_age, idle_close, rescan, backends_off, rescan_percent,
                  device_classes)
  local options = context_options
  options.flags, options.deadline_ns, options.stale_ns = flags, ns(deadline), ns(stale)
  options.open_deadline_ns, options.max_age_ns = ns(open_deadline), ns(max_age)
  options.idle_close_ns, options.rescan_ns, options.backends_off = ns(idle_close), ns(rescan), backends_off
  options.rescan_percent, options.device_classes = rescan_percent, device_classes
  local handle, status = new_context(), C.hmn_context_create(options, contexts, last_error)
  if status ~= OK then return failure(status) end
  return attach(handle, contexts)
end

function raw.close(handle) handle:close() end

-- ---- text ----

local CAPACITY = 4096
local buffer, capacity = ffi.new("char[?]", CAPACITY), CAPACITY

-- Repeats `call(buffer, capacity, needed, error)` while the buffer is too small: a recording grows.
local function read_text(call)
  local target, size = buffer, capacity
  local status = call(target, size, count, last_error)
  while status == BUFFER and count[0] > size do
    size = count[0]
    target = ffi.new("char[?]", size)
    status = call(target, size, count, last_error)
  end
  if status == OK then return ffi.string(target) end
  if status == EMPTY then return nil end
  return failure(status)
end

function raw.format_bytes(bytes)
  return read_text(function(...) return C.hmn_format_bytes(bytes, ...) end)
end

-- ---- context ----

local backend_info = new_record "hmn_backend_info"
local process_memory = new_record "hmn_process_memory"
local system_memory = new_record "hmn_system_memory"
local device = new_record "hmn_device"
local pool = new_record "hmn_pool"
local telemetry = new_record "hmn_telemetry"
local metric, metric_key = new_record "hmn_metric", new_record "hmn_metric_key"
local usage = new_record "hmn_usage"
local group = new_record "hmn_group"
local snapshot_info = new_record "hmn_snapshot_info"
local diagnostic, reason_key = new_record "hmn_diagnostic", new_record "hmn_reason_key"
local delta = new_record "hmn_delta"

function Context:set_path(path, value)
  local status = C.hmn_context_set_path(self.native, path, value, last_error)
  if status ~= OK then return failure(status) end
end

function Context:backend(number)
  local status = C.hmn_context_backend(self.native, number, backend_info, last_error)
  if status ~= OK then return failure(status) end
  return copy.hmn_backend_info(backend_info)
end

function Context:cancel()
  local status = C.hmn_context_cancel(self.native, last_error)
  if status ~= OK then return failure(status) end
end

function Context:resume()
  local status = C.hmn_context_resume(self.native, last_error)
  if status ~= OK then return failure(status) end
end

function Context:recording()
  return read_text(function(...) return C.hmn_context_recording(self.native, 0, ...) end)
end

function Context:process_memory(pid, fields)
  local status = C.hmn_process_memory_read(self.native, pid, fields, process_memory, last_error)
  if status ~= OK then return failure(status) end
  return copy.hmn_process_memory(process_memory)
end

function Context:own_memory(fields)
  local status = C.hmn_process_memory_read_self(self.native, fields, process_memory, last_error)
  if status ~= OK then return failure(status) end
  return copy.hmn_process_memory(process_memory)
end

function Context:system_memory(fields)
  local status = C.hmn_system_memory_read(self.native, fields, system_memory, last_error)
  if status ~= OK then return failure(status) end
  return copy.hmn_system_memory(system_memory)
end

function Context:scan()
  local status = C.hmn_device_scan(self.native, count, total, last_error)
  if status ~= OK then return failure(status) end
  return count[0], unsigned(total[0])
end

function Context:find_device(key)
  local status = C.hmn_device_find(self.native, key, count, last_error)
  if status ~= OK then return failure(status) end
  return count[0]
end

function Context:device(index, fields)
  local status = C.hmn_device_read(self.native, index, fields, device, last_error)
  if status ~= OK then return failure(status) end
  return copy.hmn_device(device)
end

function Context:pool(index, kind, instance, fields)
  local status = C.hmn_pool_read(self.native, index, kind, instance, fields, pool, last_error)
  if status ~= OK then return failure(status) end
  return copy.hmn_pool(pool)
end

function Context:telemetry(index, fields)
  local status = C.hmn_telemetry_read(self.native, index, fields, telemetry, last_error)
  if status ~= OK then return failure(status) end
  return copy.hmn_telemetry(telemetry)
end

function Context:metric(index, id, instance, fields)
  metric_key.id, metric_key.instance = id, instance
  local status = C.hmn_metric_read(self.native, index, metric_key, fields, metric, last_error)
  if status ~= OK then return failure(status) end
  return copy.hmn_metric(metric)
end

function Context:usage(index, pid, fields)
  local status = C.hmn_usage_read(self.native, index, pid, fields, usage, last_error)
  if status ~= OK then return failure(status) end
  return copy.hmn_usage(usage)
end

function Context:own_usage(index, fields)
  local status = C.hmn_usage_read_self(self.native, index, fields, usage, last_error)
  if status ~= OK then return failure(status) end
  return copy.hmn_usage(usage)
end

function Context:take(flags, collect, device_index, pid, deadline)
  local options = snapshot_options
  options.flags, options.collect, options.device_index = flags, collect, device_index
  options.pid, options.deadline_ns = pid, ns(deadline)
  local handle, status = new_snapshot(), C.hmn_snapshot_take(self.native, options, snapshots, last_error)
  if status ~= OK then return failure(status) end
  return attach(handle, snapshots)
end

-- ---- snapshot ----

-- nil where a snapshot does not have it.
local function read_memory(native)
  local status = C.hmn_snapshot_memory(native, process_memory, last_error)
  return status == OK and copy.hmn_process_memory(process_memory) or nil
end

local function read_system(native)
  local status = C.hmn_snapshot_system(native, system_memory, last_error)
  return status == OK and copy.hmn_system_memory(system_memory) or nil
end

local function read_telemetry(native, device_index)
  local status = C.hmn_snapshot_find_telemetry(native, device_index, telemetry, last_error)
  return status == OK and copy.hmn_telemetry(telemetry) or nil
end

local function read_own_usage(native, device_index)
  local status = C.hmn_snapshot_find_self(native, device_index, usage, last_error)
  return status == OK and copy.hmn_usage(usage) or nil
end

local function read_long_row_text(native, kind, i)
  return read_text(function(...) return C.hmn_snapshot_text_at(native, kind, i, ...) end)
end

local function read_row_text(native, kind, i)
  local status = C.hmn_snapshot_text_at(native, kind, i, buffer, capacity, count, last_error)
  if status == OK then return ffi.string(buffer) end
  if status == BUFFER then return (read_long_row_text(native, kind, i)) end
end

-- Adds its texts to the record of row i of a list.
local function add_texts(native, record, texts, i)
  for _, text in ipairs(texts) do record[text[1]] = read_row_text(native, text[2], i) end
  return record
end

local function read_devices(native, length)
  local devices = {}
  for i = 1, length do
    C.hmn_snapshot_device_at(native, i - 1, device, last_error)
    local record = copy.hmn_device(device)
    record.telemetry, record.own_usage = read_telemetry(native, record.index), read_own_usage(native, record.index)
    record.pools, record.metrics = {}, {}
    devices[i] = record
  end
  return devices
end

-- Adds each record of a list to its device; both are in the order of device indexes.
local function distribute(list, devices, name)
  local position = 1
  for _, record in ipairs(list) do
    while devices[position] and devices[position].index < record.device_index do position = position + 1 end
    local owner = devices[position]
    local own = owner and owner.index == record.device_index and owner[name]
    if own then own[#own + 1] = record end
  end
  return list
end

local function read_pools(native, length)
  local pools = {}
  for i = 1, length do
    C.hmn_snapshot_pool_at(native, i - 1, pool, last_error)
    pools[i] = copy.hmn_pool(pool)
  end
  return pools
end

local function read_metrics(native, length)
  local metrics = {}
  for i = 1, length do
    C.hmn_snapshot_metric_at(native, i - 1, metric, last_error)
    metrics[i] = copy.hmn_metric(metric)
  end
  return metrics
end

local function read_processes(native, length)
  local processes = {}
  for i = 1, length do
    C.hmn_snapshot_usage_at(native, i - 1, usage, last_error)
    processes[i] = add_texts(native, copy.hmn_usage(usage), copy.hmn_usage_texts, i - 1)
  end
  return processes
end

local function read_groups(native, length)
  local groups = {}
  for i = 1, length do
    C.hmn_snapshot_group_at(native, i - 1, group, last_error)
    groups[i] = add_texts(native, copy.hmn_group(group), copy.hmn_group_texts, i - 1)
  end
  return groups
end

local function read_diagnostics(native, length)
  local diagnostics = {}
  for i = 1, length do
    C.hmn_snapshot_diagnostic_at(native, i - 1, diagnostic, last_error)
    diagnostics[i] = copy.hmn_diagnostic(diagnostic)
  end
  return diagnostics
end

-- A whole snapshot as one table; the values of a device or process are in its table.
function raw.copy(handle)
  local native = handle.native
  local status = C.hmn_snapshot_read(native, snapshot_info, last_error)
  if status ~= OK then return failure(status) end
  local info = copy.hmn_snapshot_info(snapshot_info)
  local devices = read_devices(native, info.device_count)
  return {
    info = info,
    memory = read_memory(native),
    system = read_system(native),
    devices = devices,
    pools = distribute(read_pools(native, info.pool_count), devices, "pools"),
    metrics = distribute(read_metrics(native, info.metric_count), devices, "metrics"),
    processes = read_processes(native, info.usage_count),
    groups = read_groups(native, info.group_count),
    diagnostics = read_diagnostics(native, info.diagnostic_count),
  }
end

function Snapshot:device_pool(device_index, kind, instance)
  local status = C.hmn_snapshot_find_pool(self.native, device_index, kind, instance, pool, last_error)
  if status == OK then return copy.hmn_pool(pool) end
  if status ~= EMPTY then return failure(status) end
end

function Snapshot:device_line(device_index, format, flags)
  return read_text(function(...) return C.hmn_format_device(self.native, device_index, format, flags, ...) end)
end

function Snapshot:json()
  return read_text(function(...) return C.hmn_format_json(self.native, 0, ...) end)
end

function Snapshot:reason(subject, device_index, field, pid, pool_kind, pool_instance, id, metric_instance)
  local key = reason_key
  key.subject, key.device_index, key.field, key.pid = subject, device_index, field, pid
  key.pool, key.pool_instance, key.metric, key.metric_instance = pool_kind, pool_instance, id, metric_instance
  local status = C.hmn_snapshot_reason(self.native, key, diagnostic, last_error)
  if status == OK then return copy.hmn_diagnostic(diagnostic) end
  if status ~= EMPTY then return failure(status) end
end

function Snapshot:delta_since(before, device_index)
  local status = C.hmn_delta_read(before.native, self.native, device_index, delta, last_error)
  if status == OK then return copy.hmn_delta(delta) end
  if status ~= EMPTY then return failure(status) end
end

function Snapshot:delta_line(before, device_index, label, flags)
  return read_text(function(...)
    return C.hmn_report_delta(before.native, self.native, device_index, label, flags, ...)
  end)
end

function Snapshot:before_after_lines(before, device_index, label, flags)
  return read_text(function(...)
    return C.hmn_report_before_after(before.native, self.native, device_index, label, flags, ...)
  end)
end

-- ---- sampler ----

local samplers, sampler_options = ffi.new "hmn_sampler *[1]", new_record "hmn_sampler_options"
local sampler_info, peak = new_record "hmn_sampler_info", new_record "hmn_peak"

function Context:sampler(sampler_flags, interval, process_interval, capacity, flags, collect, device_index, pid,
  deadline)
  local options, contents = sampler_options, snapshot_options
  options.flags, options.interval_ns, options.process_interval_ns = sampler_flags, ns(interval), ns(process_interval)
  options.capacity = capacity
  contents.flags, contents.collect, contents.device_index = flags, collect, device_index
  contents.pid, contents.deadline_ns = pid, ns(deadline)
  local handle, status = new_sampler(), C.hmn_sampler_create(self.native, options, contents, samplers, last_error)
  if status ~= OK then return failure(status) end
  return attach(handle, samplers)
end

function Sampler:start()
  local status = C.hmn_sampler_start(self.native, last_error)
  if status ~= OK then return failure(status) end
end

function Sampler:stop()
  local status = C.hmn_sampler_stop(self.native, last_error)
  if status ~= OK then return failure(status) end
end

function Sampler:next(timeout)
  local handle, status = new_snapshot(), C.hmn_sampler_next(self.native, ns(timeout), snapshots, last_error)
  if status ~= OK then return failure(status) end
  return attach(handle, snapshots)
end

function Sampler:handle()
  local status = C.hmn_sampler_handle(self.native, event, last_error)
  if status ~= OK then return failure(status) end
  return signed(event[0])
end

function Sampler:info()
  local status = C.hmn_sampler_read(self.native, sampler_info, last_error)
  if status ~= OK then return failure(status) end
  return copy.hmn_sampler_info(sampler_info)
end

function Sampler:latest_pool(device_index)
  local status = C.hmn_sampler_latest_pool(self.native, device_index, pool, last_error)
  if status == OK then return copy.hmn_pool(pool) end
  if status ~= EMPTY then return failure(status) end
end

function Sampler:latest_telemetry(device_index)
  local status = C.hmn_sampler_latest_telemetry(self.native, device_index, telemetry, last_error)
  if status == OK then return copy.hmn_telemetry(telemetry) end
  if status ~= EMPTY then return failure(status) end
end

function Sampler:peak(device_index, pid)
  local status = C.hmn_sampler_peak(self.native, device_index, pid, peak, last_error)
  if status ~= OK then return failure(status) end
  return copy.hmn_peak(peak)
end

function Sampler:device_peak(device_index)
  local status = C.hmn_sampler_peak_device(self.native, device_index, peak, last_error)
  if status == OK then return copy.hmn_peak(peak) end
  if status ~= EMPTY then return failure(status) end
end

-- ---- spill ----

local spills, spill_options, spill_sample = ffi.new "hmn_spill *[1]", new_record "hmn_spill_options",
  new_record "hmn_spill_sample"
local spill_info, episode = new_record "hmn_spill_info", new_record "hmn_episode"

local function make_spill(context, device_index, episode_capacity, dedicated_threshold_bytes, growth_bytes)
  local options = spill_options
  options.episode_capacity, options.dedicated_threshold_bytes = episode_capacity, dedicated_threshold_bytes
  options.growth_bytes = growth_bytes
  local handle, status = new_spill(), C.hmn_spill_create(context, device_index, options, spills, last_error)
  if status ~= OK then return failure(status) end
  return attach(handle, spills)
end

function Context:spill(...) return make_spill(self.native, ...) end

function raw.lone_spill(...) return make_spill(nil, ...) end

function Spill:observe(label)
  local status = C.hmn_spill_observe(self.native, label, last_error)
  if status ~= OK then return failure(status) end
end

function Spill:observe_snapshot(snapshot, label)
  local status = C.hmn_spill_observe_snapshot(self.native, snapshot.native, label, last_error)
  if status ~= OK then return failure(status) end
end

function Spill:feed(flags, monotonic, dedicated_bytes, shared_bytes, limit_bytes, evicted_bytes, label)
  local sample = spill_sample
  sample.flags, sample.monotonic_ns, sample.dedicated_bytes = flags, ns(monotonic), dedicated_bytes
  sample.shared_bytes, sample.limit_bytes, sample.evicted_bytes = shared_bytes, limit_bytes, evicted_bytes
  local status = C.hmn_spill_feed(self.native, sample, label, last_error)
  if status ~= OK then return failure(status) end
end

function Spill:info()
  local status = C.hmn_spill_read(self.native, spill_info, last_error)
  if status ~= OK then return failure(status) end
  return copy.hmn_spill_info(spill_info)
end

function Spill:episode(number)
  local status = C.hmn_spill_episode(self.native, number, episode, last_error)
  if status ~= OK then return failure(status) end
  return copy.hmn_episode(episode)
end

-- ---- estimate ----

local packing, attention, cache = new_record "hmn_packing", new_record "hmn_attention", new_record "hmn_cache"

local function new_list(numbers) return ffi.new("uint64_t[?]", #numbers + 1, numbers), #numbers end

local function set_packing(record, dtype, element_bits, group_size, group_bits)
  record.dtype, record.element_bits = dtype, element_bits
  record.group_size, record.group_bits = group_size, group_bits
end

function raw.dtype_from_name(name)
  local status = C.hmn_dtype_from_name(name, count, last_error)
  if status ~= OK then return failure(status) end
  return count[0]
end

function raw.estimate_tensor(shape, dtype)
  local list, rank = new_list(shape)
  return total_or_failure(C.hmn_estimate_tensor(list, rank, dtype, total, last_error))
end

function raw.estimate_packed(shape, ...)
  local list, rank = new_list(shape)
  set_packing(packing, ...)
  return total_or_failure(C.hmn_estimate_packed(list, rank, packing, total, last_error))
end

function raw.estimate_attention(flags, dtype, batch, heads, kv_heads, sequence, head_dim)
  local layer = attention
  layer.flags, layer.dtype, layer.batch, layer.heads = flags, dtype, batch, heads
  layer.kv_heads, layer.sequence, layer.head_dim = kv_heads, sequence, head_dim
  return total_or_failure(C.hmn_estimate_attention(layer, total, last_error))
end

function raw.estimate_cache(kind, dtype, element_bits, group_size, group_bits, layers, kv_heads, row_dim, window, sinks,
  latent_dim, state_elements, sequence, sequences)
  set_packing(cache, dtype, element_bits, group_size, group_bits)
  cache.kind, cache.layers, cache.kv_heads, cache.row_dim = kind, layers, kv_heads, row_dim
  cache.window, cache.sinks = window, sinks
  cache.latent_dim, cache.state_elements = latent_dim, state_elements
  return total_or_failure(C.hmn_estimate_cache(cache, sequence, sequences, total, last_error))
end

function raw.estimate_overhead(bytes, per_thousand)
  return total_or_failure(C.hmn_estimate_overhead(bytes, per_thousand, total, last_error))
end

function raw.estimate_sum(bytes)
  local list, length = new_list(bytes)
  return total_or_failure(C.hmn_estimate_sum(list, length, total, last_error))
end

-- ---- tracker ----

local trackers, tracker_options = ffi.new "hmn_tracker *[1]", new_record "hmn_tracker_options"
local tracker_info, tag_record = new_record "hmn_tracker_info", new_record "hmn_tag"

local function open_tracker(context, device_index, flags, limit_bytes, tag_capacity)
  tracker_options.flags, tracker_options.limit_bytes, tracker_options.tag_capacity = flags, limit_bytes, tag_capacity
  local handle, status = new_tracker(), C.hmn_tracker_create(context, device_index, tracker_options, trackers, last_error)
  if status ~= OK then return failure(status) end
  return attach(handle, trackers)
end

function raw.open_tracker(flags, limit_bytes, tag_capacity)
  return open_tracker(nil, 0, flags, limit_bytes, tag_capacity)
end

function Context:tracker(device_index, flags, limit_bytes, tag_capacity)
  return open_tracker(self.native, device_index, flags, limit_bytes, tag_capacity)
end

function Tracker:allocate(bytes, tag)
  local status = tag == 0 and C.hmn_tracker_allocate(self.native, bytes, last_error)
    or tag ~= 0 and C.hmn_tracker_allocate_tagged(self.native, tag, bytes, last_error)
  if status ~= OK then return failure(status) end
end

function Tracker:release(bytes, tag)
  local status = tag == 0 and C.hmn_tracker_release(self.native, bytes, last_error)
    or tag ~= 0 and C.hmn_tracker_release_tagged(self.native, tag, bytes, last_error)
  if status ~= OK then return failure(status) end
end

function Tracker:would_fit(bytes)
  local status = C.hmn_tracker_would_fit(self.native, bytes, last_error)
  if status == OK then return 1 end
  if status == constants.E_LIMIT then return 0 end
  return failure(status)
end

function Tracker:set_limit(flags, bytes)
  local limit = flags == constants.TRACKER_LIMITED and bytes or 0xffffffffffffffffULL
  local status = C.hmn_tracker_set_limit(self.native, limit, last_error)
  if status ~= OK then return failure(status) end
end

function Tracker:reset()
  local status = C.hmn_tracker_reset(self.native, last_error)
  if status ~= OK then return failure(status) end
end

function Tracker:tag(name)
  local status = C.hmn_tracker_tag(self.native, name, count, last_error)
  if status ~= OK then return failure(status) end
  return count[0]
end

function Tracker:info()
  local status = C.hmn_tracker_read(self.native, tracker_info, last_error)
  if status ~= OK then return failure(status) end
  return copy.hmn_tracker_info(tracker_info)
end

function Tracker:read_tag(tag)
  local status = C.hmn_tracker_read_tag(self.native, tag, tag_record, last_error)
  if status ~= OK then return failure(status) end
  return copy.hmn_tag(tag_record)
end

return raw
