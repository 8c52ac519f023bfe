-- SPDX-License-Identifier: MIT OR Apache-2.0
-- agent.lua ABI_JSON: answers the requests of ../behaviour.py through the package.
local hypomnesis = require "hypomnesis"
local json = require "json"

local structs = json.read(arg[1]).structs
local context
local snapshots = {}

local INEXACT, CLOSED = {}, {}

-- Parses a number; fails if this Lua cannot hold it exactly.
local function parse_number(word)
  local number = tonumber(word)
  if ("%.0f"):format(number) == word and math.abs(number) <= 2 ^ 53 then return number end
  if math.type then
    if math.type(number) == "integer" then return number end
  elseif rawget(_G, "jit") then
    return loadstring("return " .. word .. "ULL")()
  end
  error(INEXACT)
end

local function parse_path(word) return word ~= "-" and word or nil end

-- ---- answers ----

local ESCAPES = {["\t"] = "\\t", ["\n"] = "\\n", ["\r"] = "\\r", ["\\"] = "\\\\"}

local function format_value(value)
  if value == nil then return "null" end
  if type(value) == "string" then return '"' .. value:gsub("[\t\n\r\\]", ESCAPES) end
  if type(value) == "boolean" then return value and "1" or "0" end
  if type(value) == "cdata" then return (tostring(value):gsub("U?LL$", "")) end
  if math.type and math.type(value) == "integer" then return ("%d"):format(value) end
  return ("%.17g"):format(value)
end

local function write_field(key, value) io.write(key, "\t", format_value(value), "\n") end

local function write_failure(message, status)
  io.write("error\t", hypomnesis.status_name(status), "\n")
  write_field("message", message)
end

-- Times are seconds, whose nanoseconds are exact up to 2^53.
local TIMES = {unix_time_ns = "time", start_unix_ns = "start_time"}

local function write_record(struct, record)
  for _, field in ipairs(structs[struct].fields) do
    local name = field.name
    if name:find "_ns$" then
      local seconds = record[TIMES[name] or name:gsub("_ns$", "")]
      local nanoseconds = seconds and seconds * 1e9
      if not seconds or nanoseconds < 2 ^ 53 then
        io.write(name, "\t", seconds and ("%.0f"):format(nanoseconds) or "null", "\n")
      else
        io.write(name, "\tinexact\n")
      end
    elseif name ~= "struct_size" and name ~= "present" and name ~= "reserved0" then
      local inexact = record.inexact and record.inexact[name]
      if inexact then
        assert(not pcall(function() return record[name] end), "an inexact field could be read")
        io.write(name, "\tinexact\n")
      else
        write_field(name, record[name])
      end
    end
  end
end

local function write_value(value, message, status)
  if status then return write_failure(message, status) end
  write_field("value", value)
end

local function record_writer(struct)
  return function(value, message, status)
    if status then return write_failure(message, status) end
    if value == nil then return write_field("value", nil) end
    write_record(struct, value)
  end
end

local function check(_, message, status)
  if status then write_failure(message, status) end
end

-- ---- requests ----

local function require_context() return context or error(CLOSED) end
local function find_snapshot(name) return snapshots[name] or error(CLOSED) end

-- Fails for a closed snapshot, whose tables would still be readable.
local function require_snapshot(name)
  local snapshot = find_snapshot(name)
  if tostring(snapshot):find "closed" then error(CLOSED) end
  return snapshot
end

-- Returns row `i`, counted from 0, of a list of a snapshot.
local function find_row(name, list, i)
  local row = require_snapshot(name)[list][parse_number(i) + 1]
  if not row then return nil, ("%s: there is no row %s"):format(list, i), hypomnesis.E_RANGE end
  return row
end

local function select_field(record, message, status, name)
  if not record then return nil, message, status end
  return record[name]
end

local commands = {}

function commands.open(flags, deadline_ms, max_age_ms, machine)
  if context then context:close() end
  local new_context, message, status = hypomnesis.open {
    flags = parse_number(flags), deadline = parse_number(deadline_ms) / 1000,
    max_age = parse_number(max_age_ms) / 1000, simulation = parse_path(machine)}
  context = new_context
  check(new_context, message, status)
end

function commands.close()
  if context then context:close() end
end

function commands.set_path(path, value) check(require_context():set_path(parse_number(path), parse_path(value))) end
function commands.scan() write_value(require_context():scan()) end
function commands.scan_generation()
  local count, generation, status = require_context():scan()
  if status then return write_value(count, generation, status) end
  write_value(generation)
end
function commands.find_device(key) write_value(require_context():find_device(key)) end
function commands.device(index) record_writer "hmn_device"(require_context():device(parse_number(index))) end
function commands.pool(index, kind)
  record_writer "hmn_pool"(require_context():pool(parse_number(index), parse_number(kind)))
end
function commands.telemetry(index, fields)
  record_writer "hmn_telemetry"(require_context():telemetry(parse_number(index), parse_number(fields)))
end
function commands.metric(index, id, instance)
  record_writer "hmn_metric"(require_context():metric(parse_number(index), parse_number(id), parse_number(instance)))
end
function commands.usage(index, pid)
  record_writer "hmn_usage"(require_context():usage(parse_number(index), parse_number(pid)))
end
function commands.own_usage(index) record_writer "hmn_usage"(require_context():own_usage(parse_number(index))) end
function commands.process_memory(pid, fields)
  record_writer "hmn_process_memory"(require_context():process_memory(parse_number(pid), parse_number(fields)))
end
function commands.own_memory(fields)
  record_writer "hmn_process_memory"(require_context():own_memory(parse_number(fields)))
end
function commands.system_memory() record_writer "hmn_system_memory"(require_context():system_memory()) end
function commands.backend(number) record_writer "hmn_backend_info"(require_context():backend(parse_number(number))) end

function commands.take(name, flags, collect, device_index, pid)
  local options = {flags = parse_number(flags), collect = parse_number(collect)}
  options.device_index, options.pid = parse_number(device_index), parse_number(pid)
  local snapshot, message, status = require_context():snapshot(options)
  if status then return write_failure(message, status) end
  snapshots[name] = snapshot
end

function commands.drop(name)
  if snapshots[name] then snapshots[name]:close() end
end

function commands.info(name) record_writer "hmn_snapshot_info"(require_snapshot(name).info) end
function commands.memory(name) record_writer "hmn_process_memory"(require_snapshot(name).memory) end
function commands.system(name) record_writer "hmn_system_memory"(require_snapshot(name).system) end
function commands.snapshot_device(name, i) record_writer "hmn_device"(find_row(name, "devices", i)) end
function commands.snapshot_pool(name, i) record_writer "hmn_pool"(find_row(name, "pools", i)) end
function commands.snapshot_usage(name, i) record_writer "hmn_usage"(find_row(name, "processes", i)) end
function commands.snapshot_metric(name, i) record_writer "hmn_metric"(find_row(name, "metrics", i)) end
function commands.snapshot_group(name, i) record_writer "hmn_group"(find_row(name, "groups", i)) end
function commands.diagnostic(name, i) record_writer "hmn_diagnostic"(find_row(name, "diagnostics", i)) end
function commands.reason(name, index, subject, field, metric, instance, pool, pid)
  local options = {metric_instance = parse_number(instance), pool = parse_number(pool), pid = parse_number(pid)}
  record_writer "hmn_diagnostic"(find_snapshot(name):reason(parse_number(index), parse_number(subject),
    parse_number(field), parse_number(metric), options))
end
function commands.snapshot_telemetry(name, i)
  local device, message, status = find_row(name, "devices", i)
  record_writer "hmn_telemetry"(select_field(device, message, status, "telemetry"))
end
function commands.self(name, i)
  local device, message, status = find_row(name, "devices", i)
  record_writer "hmn_usage"(select_field(device, message, status, "own_usage"))
end
for request, field in pairs {process_name = "name", process_command = "command", process_container = "container"} do
  commands[request] = function(name, i)
    local process, message, status = find_row(name, "processes", i)
    write_value(select_field(process, message, status, field))
  end
end

function commands.group_name(name, i)
  local group, message, status = find_row(name, "groups", i)
  write_value(select_field(group, message, status, "name"))
end

function commands.json(name) write_value(find_snapshot(name):json()) end
function commands.device_line(name, i, form)
  write_value(find_snapshot(name):device_line(parse_number(i), parse_number(form)))
end
function commands.delta(before, after, index)
  record_writer "hmn_delta"(find_snapshot(after):delta_since(find_snapshot(before), parse_number(index)))
end
function commands.delta_line(before, after, index, label)
  write_value(find_snapshot(after):delta_line(find_snapshot(before), parse_number(index), label))
end
function commands.before_after(before, after, index, label)
  write_value(find_snapshot(after):before_after_lines(find_snapshot(before), parse_number(index), label))
end

local samplers = {}

function commands.sample_idle(name, collect)
  local message, status
  samplers[name], message, status = require_context():sampler {collect = parse_number(collect), interval = 3600}
  if status then return write_failure(message, status) end
end

function commands.sample(name, collect)
  commands.sample_idle(name, collect)
  if samplers[name] then check(samplers[name]:start()) end
end

function commands.sample_next(name, snapshot_name, timeout_ms)
  local snapshot, message, status = samplers[name]:next(parse_number(timeout_ms) / 1000)
  if status then return write_failure(message, status) end
  if snapshot then snapshots[snapshot_name] = snapshot end
  write_value(snapshot and "sample" or snapshot == false and "timeout" or "end")
end

function commands.sample_stop(name) check(samplers[name]:stop()) end
function commands.sample_drop(name) samplers[name]:close() end
function commands.sample_info(name) record_writer "hmn_sampler_info"(samplers[name]:info()) end
function commands.sample_pool(name, index) record_writer "hmn_pool"(samplers[name]:latest_pool(parse_number(index))) end
function commands.sample_telemetry(name, index)
  record_writer "hmn_telemetry"(samplers[name]:latest_telemetry(parse_number(index)))
end
function commands.sample_peak(name, index, pid)
  record_writer "hmn_peak"(samplers[name]:peak(parse_number(index), parse_number(pid)))
end
function commands.sample_device_peak(name, index)
  record_writer "hmn_peak"(samplers[name]:device_peak(parse_number(index)))
end

local tracker

function commands.estimate_tensor(rows, columns, dtype)
  local element_type, message, status = hypomnesis.dtype_from_name(dtype)
  if status then return write_failure(message, status) end
  write_value(hypomnesis.estimate_tensor({parse_number(rows), parse_number(columns)}, element_type))
end
function commands.estimate_cache(kind, layers, kv_heads, row_dim, tokens)
  write_value(hypomnesis.estimate_cache({kind = parse_number(kind), dtype = "f16", layers = parse_number(layers),
    kv_heads = parse_number(kv_heads), row_dim = parse_number(row_dim)}, parse_number(tokens)))
end
function commands.estimate_packed(rows, columns, dtype, group_size, group_bits)
  write_value(hypomnesis.estimate_packed({parse_number(rows), parse_number(columns)},
    {dtype = dtype, group_size = parse_number(group_size), group_bits = parse_number(group_bits)}))
end
function commands.estimate_attention(heads, kv_heads, sequence, head_dim, fused)
  write_value(hypomnesis.estimate_attention({dtype = "f16", heads = parse_number(heads),
    kv_heads = parse_number(kv_heads), sequence = parse_number(sequence), head_dim = parse_number(head_dim), fused = fused ~= "0"}))
end
function commands.estimate_overhead(bytes, per_thousand)
  write_value(hypomnesis.estimate_overhead(parse_number(bytes), parse_number(per_thousand)))
end
function commands.estimate_sum(a, b) write_value(hypomnesis.estimate_sum({parse_number(a), parse_number(b)})) end
function commands.dtype_bits(name)
  local element_type, message, status = hypomnesis.dtype_from_name(name)
  if status then return write_failure(message, status) end
  write_value(hypomnesis.dtype_bits(element_type))
end
function commands.track_limit(bytes) check(tracker:set_limit(bytes ~= "-" and parse_number(bytes) or nil)) end
function commands.track_reset() check(tracker:reset()) end
function commands.track(limit_bytes)
  local new_tracker, message, status = require_context():tracker(0, {limit_bytes = parse_number(limit_bytes)})
  if status then return write_failure(message, status) end
  tracker = new_tracker
end
function commands.track_tag(name) write_value(tracker:tag(name)) end
function commands.track_allocate(bytes, tag) check(tracker:allocate(parse_number(bytes), parse_number(tag))) end
function commands.track_release(bytes, tag) check(tracker:release(parse_number(bytes), parse_number(tag))) end
function commands.track_fits(bytes) write_value(tracker:would_fit(parse_number(bytes))) end
function commands.track_info() record_writer "hmn_tracker_info"(tracker:info()) end
function commands.track_read_tag(tag) record_writer "hmn_tag"(tracker:read_tag(parse_number(tag))) end

local spill

local function set_spill(new_spill, message, status)
  if status then return write_failure(message, status) end
  spill = new_spill
end
local function spill_options(capacity, threshold, growth)
  return {episode_capacity = parse_number(capacity), dedicated_threshold_bytes = parse_number(threshold),
    growth_bytes = parse_number(growth)}
end
local function parse_optional(word) return word ~= "-" and parse_number(word) or nil end

function commands.spill(index, ...) set_spill(require_context():spill(parse_number(index), spill_options(...))) end
function commands.spill_fed(...) set_spill(hypomnesis.spill(spill_options(...))) end
function commands.spill_observe(label) check(spill:observe(label)) end
function commands.spill_snapshot(name, label) check(spill:observe_snapshot(find_snapshot(name), label)) end
function commands.spill_feed(time, dedicated, shared, limit, evicted, label)
  check(spill:feed({monotonic = parse_number(time) / 1e9, dedicated_bytes = parse_number(dedicated),
    shared_bytes = parse_number(shared), limit_bytes = parse_optional(limit), evicted_bytes = parse_optional(evicted)}, label))
end
function commands.spill_info() record_writer "hmn_spill_info"(spill:info()) end
function commands.spill_episode(number) record_writer "hmn_episode"(spill:episode(parse_number(number))) end

function commands.format_bytes(bytes) write_value(hypomnesis.format_bytes(parse_number(bytes))) end
function commands.status_name(status) write_value(hypomnesis.status_name(parse_number(status))) end
function commands.reason_name(reason) write_value(hypomnesis.reason_name(parse_number(reason))) end
function commands.backend_name(backend) write_value(hypomnesis.backend_name(parse_number(backend))) end
function commands.metric_name(metric) write_value(hypomnesis.metric_name(parse_number(metric))) end
function commands.metric_unit(metric) write_value(hypomnesis.metric_unit(parse_number(metric))) end
function commands.metric_instance_name(metric, instance)
  write_value(hypomnesis.metric_instance_name(parse_number(metric), parse_number(instance)))
end
function commands.backend_available(backend) write_value(hypomnesis.backend_available(parse_number(backend))) end
function commands.feature(feature) write_value(hypomnesis.feature(parse_number(feature))) end
function commands.version()
  write_value(hypomnesis.version_string())
  write_field("number", hypomnesis.version_number())
end

for line in io.lines() do
  local words = {}
  for word in (line .. "\t"):gmatch("(.-)\t") do words[#words + 1] = word end
  if words[1] == "quit" then break end
  local ok, failure = pcall(commands[words[1]], (unpack or table.unpack)(words, 2))
  if not ok then
    if failure == INEXACT then
      io.write("error\tinexact\n")
    elseif failure == CLOSED or tostring(failure):find("is closed", 1, true) then
      io.write("error\tclosed\n")
    else
      io.write("error\tlua\n")
      write_field("message", tostring(failure))
    end
  end
  io.write("\n")
  io.flush()
end
