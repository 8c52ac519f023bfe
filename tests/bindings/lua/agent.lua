-- SPDX-License-Identifier: MIT OR Apache-2.0
-- agent.lua ABI_JSON: answers the requests of ../behaviour.py through the package.
local hypomnesis = require "hypomnesis"
local json = require "json"

local structs = json.read(arg[1]).structs
local context
local kept = {}

local INEXACT, CLOSED = {}, {}

-- The number that a word is, where this Lua holds it.
local function number(word)
  local found = tonumber(word)
  if ("%.0f"):format(found) == word and math.abs(found) <= 2 ^ 53 then return found end
  if math.type then
    if math.type(found) == "integer" then return found end
  elseif rawget(_G, "jit") then
    return loadstring("return " .. word .. "ULL")()
  end
  error(INEXACT)
end

local function path(word) return word ~= "-" and word or nil end

-- ---- answers ----

local ESCAPES = {["\t"] = "\\t", ["\n"] = "\\n", ["\r"] = "\\r", ["\\"] = "\\\\"}

local function shown(value)
  if value == nil then return "null" end
  if type(value) == "string" then return '"' .. value:gsub("[\t\n\r\\]", ESCAPES) end
  if type(value) == "boolean" then return value and "1" or "0" end
  if type(value) == "cdata" then return (tostring(value):gsub("U?LL$", "")) end
  if math.type and math.type(value) == "integer" then return ("%d"):format(value) end
  return ("%.17g"):format(value)
end

local function say(key, value) io.write(key, "\t", shown(value), "\n") end

local function say_failure(message, status)
  io.write("error\t", hypomnesis.status_name(status), "\n")
  say("message", message)
end

local function say_record(struct, record)
  for _, field in ipairs(structs[struct].fields) do
    local name = field.name
    if name ~= "struct_size" and name ~= "present" and name ~= "reserved0" then
      local inexact = record.inexact and record.inexact[name]
      if inexact then
        assert(not pcall(function() return record[name] end), "an inexact field could be read")
        io.write(name, "\tinexact\n")
      else
        say(name, record[name])
      end
    end
  end
end

local function one(value, message, status)
  if status then return say_failure(message, status) end
  say("value", value)
end

local function record(struct)
  return function(value, message, status)
    if status then return say_failure(message, status) end
    if value == nil then return say("value", nil) end
    say_record(struct, value)
  end
end

local function done(_, message, status)
  if status then say_failure(message, status) end
end

-- ---- requests ----

local function open_context() return context or error(CLOSED) end
local function snapshot(name) return kept[name] or error(CLOSED) end

-- What a closed snapshot still has in its tables is not asked for.
local function whole(name)
  local found = snapshot(name)
  if tostring(found):find "closed" then error(CLOSED) end
  return found
end

-- Row `i`, from 0, of a list of a snapshot.
local function row(name, list, i)
  local found = whole(name)[list][number(i) + 1]
  if not found then return nil, ("%s: there is no row %s"):format(list, i), hypomnesis.E_RANGE end
  return found
end

local function part(found, message, status, name)
  if not found then return nil, message, status end
  return found[name]
end

local commands = {}

function commands.open(flags, deadline_ms, max_age_ms, machine)
  if context then context:close() end
  local opened, message, status = hypomnesis.open {
    flags = number(flags), deadline = number(deadline_ms) / 1000, max_age = number(max_age_ms) / 1000, simulation = path(machine)}
  context = opened
  done(opened, message, status)
end

function commands.close()
  if context then context:close() end
end

function commands.set_path(which, value) done(open_context():set_path(number(which), path(value))) end
function commands.scan() one(open_context():scan()) end
function commands.scan_generation()
  local count, generation, status = open_context():scan()
  if status then return one(count, generation, status) end
  one(generation)
end
function commands.find_device(key) one(open_context():find_device(key)) end
function commands.device(index) record "hmn_device"(open_context():device(number(index))) end
function commands.pool(index, kind) record "hmn_pool"(open_context():pool(number(index), number(kind))) end
function commands.telemetry(index, fields)
  record "hmn_telemetry"(open_context():telemetry(number(index), number(fields)))
end
function commands.metric(index, id, instance)
  record "hmn_metric"(open_context():metric(number(index), number(id), number(instance)))
end
function commands.usage(index, pid) record "hmn_usage"(open_context():usage(number(index), number(pid))) end
function commands.own_usage(index) record "hmn_usage"(open_context():own_usage(number(index))) end
function commands.process_memory(pid, fields)
  record "hmn_process_memory"(open_context():process_memory(number(pid), number(fields)))
end
function commands.own_memory(fields) record "hmn_process_memory"(open_context():own_memory(number(fields))) end
function commands.system_memory() record "hmn_system_memory"(open_context():system_memory()) end
function commands.backend(which) record "hmn_backend_info"(open_context():backend(number(which))) end

function commands.take(name, flags, collect, device_index, pid)
  local options = {flags = number(flags), collect = number(collect)}
  options.device_index, options.pid = number(device_index), number(pid)
  local taken, message, status = open_context():snapshot(options)
  if status then return say_failure(message, status) end
  kept[name] = taken
end

function commands.drop(name)
  if kept[name] then kept[name]:close() end
end

function commands.info(name) record "hmn_snapshot_info"(whole(name).info) end
function commands.memory(name) record "hmn_process_memory"(whole(name).memory) end
function commands.system(name) record "hmn_system_memory"(whole(name).system) end
function commands.snapshot_device(name, i) record "hmn_device"(row(name, "devices", i)) end
function commands.snapshot_pool(name, i) record "hmn_pool"(row(name, "pools", i)) end
function commands.snapshot_usage(name, i) record "hmn_usage"(row(name, "processes", i)) end
function commands.snapshot_metric(name, i) record "hmn_metric"(row(name, "metrics", i)) end
function commands.snapshot_group(name, i) record "hmn_group"(row(name, "groups", i)) end
function commands.diagnostic(name, i) record "hmn_diagnostic"(row(name, "diagnostics", i)) end
function commands.reason(name, index, subject, field, metric, instance, pool, pid)
  local more = {metric_instance = number(instance), pool = number(pool), pid = number(pid)}
  record "hmn_diagnostic"(snapshot(name):reason(number(index), number(subject), number(field), number(metric), more))
end
function commands.snapshot_telemetry(name, i)
  local device, message, status = row(name, "devices", i)
  record "hmn_telemetry"(part(device, message, status, "telemetry"))
end
function commands.self(name, i)
  local device, message, status = row(name, "devices", i)
  record "hmn_usage"(part(device, message, status, "own_usage"))
end
for request, field in pairs {process_name = "name", process_command = "command", process_container = "container"} do
  commands[request] = function(name, i)
    local process, message, status = row(name, "processes", i)
    one(part(process, message, status, field))
  end
end

function commands.group_name(name, i)
  local group, message, status = row(name, "groups", i)
  one(part(group, message, status, "name"))
end

function commands.json(name) one(snapshot(name):json()) end
function commands.device_line(name, i, form) one(snapshot(name):device_line(number(i), number(form))) end
function commands.delta(before, after, index)
  record "hmn_delta"(snapshot(after):delta_since(snapshot(before), number(index)))
end
function commands.delta_line(before, after, index, label)
  one(snapshot(after):delta_line(snapshot(before), number(index), label))
end
function commands.before_after(before, after, index, label)
  one(snapshot(after):before_after_lines(snapshot(before), number(index), label))
end

local samplers = {}

function commands.sample(name, collect)
  local made, message, status = open_context():sampler {collect = number(collect), interval = 3600}
  if status then return say_failure(message, status) end
  samplers[name] = made
  done(made:start())
end

function commands.sample_next(name, as)
  local pulled, message, status = samplers[name]:next(60)
  if status then return say_failure(message, status) end
  kept[as] = pulled
end

function commands.sample_stop(name) done(samplers[name]:stop()) end
function commands.sample_drop(name) samplers[name]:close() end
function commands.sample_info(name) record "hmn_sampler_info"(samplers[name]:info()) end
function commands.sample_pool(name, index) record "hmn_pool"(samplers[name]:latest_pool(number(index))) end
function commands.sample_telemetry(name, index)
  record "hmn_telemetry"(samplers[name]:latest_telemetry(number(index)))
end
function commands.sample_peak(name, index, pid)
  record "hmn_peak"(samplers[name]:peak(number(index), number(pid)))
end
function commands.sample_device_peak(name, index) record "hmn_peak"(samplers[name]:device_peak(number(index))) end

local tracker

function commands.estimate_tensor(rows, columns, dtype)
  local stored, message, status = hypomnesis.dtype_from_name(dtype)
  if status then return say_failure(message, status) end
  one(hypomnesis.estimate_tensor({number(rows), number(columns)}, stored))
end
function commands.estimate_cache(kind, layers, kv_heads, row_dim, tokens)
  one(hypomnesis.estimate_cache({kind = number(kind), dtype = "f16", layers = number(layers), kv_heads = number(kv_heads),
    row_dim = number(row_dim)}, number(tokens)))
end
function commands.estimate_packed(rows, columns, dtype, group_size, group_bits)
  one(hypomnesis.estimate_packed({number(rows), number(columns)},
    {dtype = dtype, group_size = number(group_size), group_bits = number(group_bits)}))
end
function commands.estimate_attention(heads, kv_heads, sequence, head_dim, fused)
  one(hypomnesis.estimate_attention({dtype = "f16", heads = number(heads), kv_heads = number(kv_heads),
    sequence = number(sequence), head_dim = number(head_dim), fused = fused ~= "0"}))
end
function commands.estimate_overhead(bytes, per_thousand)
  one(hypomnesis.estimate_overhead(number(bytes), number(per_thousand)))
end
function commands.estimate_sum(a, b) one(hypomnesis.estimate_sum({number(a), number(b)})) end
function commands.dtype_bits(name)
  local stored, message, status = hypomnesis.dtype_from_name(name)
  if status then return say_failure(message, status) end
  one(hypomnesis.dtype_bits(stored))
end
function commands.track_limit(bytes) done(tracker:set_limit(bytes ~= "-" and number(bytes) or nil)) end
function commands.track_reset() done(tracker:reset()) end
function commands.track(limit_bytes)
  local made, message, status = open_context():tracker(0, {limit_bytes = number(limit_bytes)})
  if status then return say_failure(message, status) end
  tracker = made
end
function commands.track_tag(name) one(tracker:tag(name)) end
function commands.track_allocate(bytes, tag) done(tracker:allocate(number(bytes), number(tag))) end
function commands.track_release(bytes, tag) done(tracker:release(number(bytes), number(tag))) end
function commands.track_fits(bytes) one(tracker:would_fit(number(bytes))) end
function commands.track_info() record "hmn_tracker_info"(tracker:info()) end
function commands.track_read_tag(tag) record "hmn_tag"(tracker:read_tag(number(tag))) end

local spill

local function spill_made(made, message, status)
  if status then return say_failure(message, status) end
  spill = made
end
local function spill_options(capacity, threshold, growth)
  return {episode_capacity = number(capacity), dedicated_threshold_bytes = number(threshold), growth_bytes = number(growth)}
end
local function known(word) return word ~= "-" and number(word) or nil end

function commands.spill(index, ...) spill_made(open_context():spill(number(index), spill_options(...))) end
function commands.spill_fed(...) spill_made(hypomnesis.spill(spill_options(...))) end
function commands.spill_observe(label) done(spill:observe(label)) end
function commands.spill_snapshot(name, label) done(spill:observe_snapshot(snapshot(name), label)) end
function commands.spill_feed(when, dedicated, shared, limit, evicted, label)
  done(spill:feed({monotonic_ns = number(when), dedicated_bytes = number(dedicated), shared_bytes = number(shared),
    limit_bytes = known(limit), evicted_bytes = known(evicted)}, label))
end
function commands.spill_info() record "hmn_spill_info"(spill:info()) end
function commands.spill_episode(which) record "hmn_episode"(spill:episode(number(which))) end

function commands.format_bytes(bytes) one(hypomnesis.format_bytes(number(bytes))) end
function commands.status_name(status) one(hypomnesis.status_name(number(status))) end
function commands.reason_name(reason) one(hypomnesis.reason_name(number(reason))) end
function commands.backend_name(backend) one(hypomnesis.backend_name(number(backend))) end
function commands.metric_name(metric) one(hypomnesis.metric_name(number(metric))) end
function commands.metric_unit(metric) one(hypomnesis.metric_unit(number(metric))) end
function commands.metric_instance_name(metric, instance)
  one(hypomnesis.metric_instance_name(number(metric), number(instance)))
end
function commands.backend_available(backend) one(hypomnesis.backend_available(number(backend))) end
function commands.feature(feature) one(hypomnesis.feature(number(feature))) end
function commands.version()
  one(hypomnesis.version_string())
  say("number", hypomnesis.version_number())
end

for line in io.lines() do
  local words = {}
  for word in (line .. "\t"):gmatch("(.-)\t") do words[#words + 1] = word end
  if words[1] == "quit" then break end
  local good, failure = pcall(commands[words[1]], (unpack or table.unpack)(words, 2))
  if not good then
    if failure == INEXACT then
      io.write("error\tinexact\n")
    elseif failure == CLOSED or tostring(failure):find("is closed", 1, true) then
      io.write("error\tclosed\n")
    else
      io.write("error\tlua\n")
      say("message", tostring(failure))
    end
  end
  io.write("\n")
  io.flush()
end
