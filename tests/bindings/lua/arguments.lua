-- SPDX-License-Identifier: MIT OR Apache-2.0
-- arguments.lua MACHINE: a wrong argument is an error at the caller's line, and nothing is converted.
local hypomnesis = require "hypomnesis"
local expect = require "expect"

local machine = arg[1]
local context = assert(hypomnesis.open {simulation = machine, deadline = 60})
local snapshot = assert(context:snapshot())

local NOT_U32 = {1.5, -1, 2 ^ 32, 2 ^ 53, 2 ^ 64, -2 ^ 63, 1 / 0, -1 / 0, 0 / 0, "1", "", true, {}, print, 1e-300}
-- A set of 64 presence bits may be a large number; in an integer of Lua 5.3 the highest bit is the sign.
local function is_set(value)
  if type(value) ~= "number" then return false end
  if math.type and math.type(value) == "integer" then return true end
  return value >= 0 and value < 2 ^ 64 and value % 1 == 0
end

local NOT_TEXT = {1, 1.5, true, {}, print, "a\0b", "\0"}

local function expect_refusal(name, call)
  local ok, message = pcall(call)
  expect.that(not ok, name .. " was accepted")
  local position = ("arguments.lua:%d: bad argument '%s'"):format(debug.getinfo(call, "S").linedefined, name)
  expect.that(message:find(position, 1, true), ("'%s' is not at '%s'"):format(message, position))
end

for _, bad in ipairs(NOT_U32) do
  expect_refusal("device_index", function() context:device(bad) end)
  expect_refusal("device_index", function() context:pool(bad) end)
  expect_refusal("device_index", function() context:telemetry(bad) end)
  expect_refusal("device_index", function() context:usage(bad, 1) end)
  expect_refusal("device_index", function() context:own_usage(bad) end)
  expect_refusal("device_index", function() context:snapshot {device_index = bad} end)
  expect_refusal("device_index", function() snapshot:delta_since(snapshot, bad) end)
  expect_refusal("device_index", function() snapshot:delta_line(snapshot, bad, "x") end)
  expect_refusal("device_index", function() snapshot:before_after_lines(snapshot, bad, "x") end)
  expect_refusal("pid", function() context:usage(0, bad) end)
  expect_refusal("pid", function() context:process_memory(bad) end)
  expect_refusal("pid", function() context:snapshot {pid = bad} end)
  expect_refusal("flags", function() context:snapshot {flags = bad} end)
  expect_refusal("flags", function() hypomnesis.open {flags = bad} end)
  expect_refusal("rescan_percent", function() hypomnesis.open {rescan_percent = bad} end)
  expect_refusal("device_index", function() snapshot:device_line(bad, 1) end)
  if type(bad) ~= "table" and not is_set(bad) then
    expect_refusal("fields", function() context:telemetry(0, bad) end)
    expect_refusal("fields", function() context:own_memory(bad) end)
    expect_refusal("fields", function() context:process_memory(1, bad) end)
  end
  if type(bad) ~= "table" then
    expect_refusal("collect", function() context:snapshot {collect = bad} end)
  end
  expect_refusal("kind", function() context:pool(0, bad) end)
  expect_refusal("backend", function() context:backend(bad) end)
  expect_refusal("backend", function() hypomnesis.backend_name(bad) end)
  expect_refusal("reason", function() hypomnesis.reason_name(bad) end)
  expect_refusal("feature", function() hypomnesis.feature(bad) end)
  expect_refusal("form", function() snapshot:device_line(0, bad) end)
  expect_refusal("path", function() context:set_path(bad, "/x") end)
  expect_refusal("device_index", function() snapshot:device(bad) end)
  expect_refusal("bits", function() hypomnesis.has(bad, 1) end)
  expect_refusal("bit", function() hypomnesis.has(1, bad) end)
end

for _, bad in ipairs {1.5, -1, 2 ^ 64, -2 ^ 63, 1 / 0, 0 / 0, "1", true, {}} do
  expect_refusal("bytes", function() hypomnesis.format_bytes(bad) end)
end
for _, bad in ipairs {1.5, 2 ^ 31, -2 ^ 31 - 1, 0 / 0, 1 / 0, "1", true, {}} do
  expect_refusal("status", function() hypomnesis.status_name(bad) end)
end
for _, bad in ipairs(NOT_TEXT) do
  expect_refusal("key", function() context:find_device(bad) end)
  expect_refusal("value", function() context:set_path("proc", bad) end)
  expect_refusal("label", function() snapshot:delta_line(snapshot, 0, bad) end)
  expect_refusal("label", function() snapshot:before_after_lines(snapshot, 0, bad) end)
  expect_refusal("simulation", function() hypomnesis.open {simulation = bad} end)
end
expect_refusal("key", function() context:find_device() end)
expect_refusal("label", function() snapshot:delta_line(snapshot, 0) end)

-- Lists: values that are not lists, lists with other elements, and false lengths.
for _, bad in ipairs {1, 1.5, true, "1", print, {1.5}, {-1}, {2 ^ 64}, {0 / 0}, {1 / 0}, {"1"}, {{}}, {1, 2, print},
                      {1, false, 3}} do
  expect_refusal("shape", function() hypomnesis.estimate_tensor(bad, "u8") end)
  expect_refusal("shape", function() hypomnesis.estimate_packed(bad, {dtype = "u8"}) end)
  expect_refusal("bytes", function() hypomnesis.estimate_sum(bad) end)
end
expect_refusal("shape", function() hypomnesis.estimate_tensor(nil, "u8") end)
expect_refusal("bytes", function() hypomnesis.estimate_sum() end)
for _, bad in ipairs {{rows = 1}, {1, cols = 2}, {[0] = 1, 2}, {[2] = 1}, {[1.5] = 1}, {1, nil, 3}, {nil, 2}} do
  expect_refusal("shape", function() hypomnesis.estimate_tensor(bad, "u8") end)
  expect_refusal("shape", function() hypomnesis.estimate_packed(bad, {dtype = "u8"}) end)
  expect_refusal("bytes", function() hypomnesis.estimate_sum(bad) end)
end
for _, bad in ipairs {{power = true}, {"power", nil, "clocks"}, {"power", clocks = true}} do
  expect_refusal("fields", function() context:telemetry(0, bad) end)
  expect_refusal("fields", function() context:device(0, bad) end)
  expect_refusal("collect", function() context:snapshot {collect = bad} end)
  expect_refusal("collect", function() context:sampler {collect = bad} end)
  expect_refusal("flags", function() context:sampler {flags = bad} end)
  expect_refusal("backends_off", function() hypomnesis.open {backends_off = bad} end)
end
local sparse = {}
for power = 0, 62 do sparse[2 ^ power] = 1 end
expect_refusal("bytes", function() hypomnesis.estimate_sum(sparse) end)
expect.equal(hypomnesis.estimate_sum(setmetatable({1, 2}, {__len = function() return 5 end})), 3, "a list with __len")
expect.equal(hypomnesis.estimate_sum {}, 0, "a sum of nothing")

-- A double above 2^53 may have been rounded, so it is refused.
expect_refusal("bytes", function() hypomnesis.format_bytes(2 ^ 53 + 2) end)

-- Names.
expect_refusal("kind", function() context:pool(0, "vrm") end)
expect_refusal("kind", function() context:pool(0, "has_free") end)
expect_refusal("kind", function() context:pool(0, "size_v1") end)
expect_refusal("fields", function() context:telemetry(0, {"power", "powr"}) end)
expect_refusal("fields", function() context:telemetry(0, {1}) end)
expect_refusal("collect", function() context:snapshot {collect = {"pools", "pool"}} end)
expect_refusal("backends_off", function() hypomnesis.open {backends_off = {"nvlm"}} end)
expect_refusal("backends_off", function() hypomnesis.open {backends_off = -1} end)
expect_refusal("feature", function() hypomnesis.feature "x" end)
expect_refusal("flags", function() context:sampler {flags = {"state_idle"}} end)

-- Options.
expect_refusal("options", function() hypomnesis.open {deadline_ms = 5} end)
expect_refusal("options", function() hypomnesis.open "x" end)
expect_refusal("options", function() context:snapshot {devices = true} end)
expect_refusal("options", function() context:snapshot(5) end)
expect_refusal("trace", function() hypomnesis.open {trace = 1} end)
expect_refusal("trace", function() hypomnesis.open {trace = true, flags = 0} end)
for _, name in ipairs {"slow", "quick"} do
  for _, bad in ipairs {0, 1, "no", {}} do
    expect_refusal(name, function() context:snapshot {[name] = bad} end)
  end
  expect_refusal(name, function() context:snapshot {[name] = true, flags = 0} end)
end
expect_refusal("metric", function() snapshot:reason(0, "metrics", 0, false) end)
expect_refusal("pid", function() context:snapshot {pid = false} end)
for _, bad in ipairs {-1, -1e-9, 0 / 0, "1", {}, false} do
  for _, name in ipairs {"deadline", "stale", "open_deadline", "max_age", "idle_close", "rescan"} do
    expect_refusal(name, function() hypomnesis.open {[name] = bad} end)
  end
  expect_refusal("deadline", function() context:snapshot {deadline = bad} end)
  expect_refusal("interval", function() context:sampler {interval = bad} end)
end
for _, duration in ipairs {2e-9, 99e-6} do
  local new_context, message, status = hypomnesis.open {stale = duration}
  expect.that(new_context == nil and status == hypomnesis.E_RANGE, "a duration below 0.1 ms was accepted")
  expect.that(message:find("stale_ns: ", 1, true), message)
end
for _, duration in ipairs {0.0001, hypomnesis.IMMEDIATE, hypomnesis.UNLIMITED, 1e12} do
  assert(hypomnesis.open {deadline = duration, stale = duration}):close()
end

-- Objects.
expect_refusal("self", function() context.device(0) end)
expect_refusal("self", function() context.close(snapshot) end)
expect_refusal("self", function() snapshot.json(context) end)
expect_refusal("self", function() context.scan() end)
expect_refusal("before", function() snapshot:delta_since(nil, 0) end)
expect_refusal("before", function() snapshot:delta_since(context, 0) end)
expect_refusal("before", function() snapshot:delta_line({}, 0, "x") end)

-- Whole numbers in other notations are accepted.
expect.equal(context:device(2 ^ 1 - 2).index, 0, "device 2^1-2")
expect.equal(hypomnesis.format_bytes(8 * 2 ^ 30), "8.0 GiB", "8 * 2^30 bytes")
expect.equal(hypomnesis.format_bytes(2 ^ 53), "8388608.0 GiB", "2^53 bytes")
expect.equal(select(3, context:device(4294967295)), hypomnesis.E_NO_DEVICE, "the largest index")

-- hypomnesis.has tests one bit of a set.
expect.equal(hypomnesis.has(6, 4), true, "a bit that is set")
expect.equal(hypomnesis.has(6, 1), false, "a bit that is not set")
expect.equal(hypomnesis.has(nil, 1), false, "a bit of nothing")
expect.equal(hypomnesis.has(4294967295, 2147483648), true, "the highest bit")
for _, bad in ipairs {0, 3, 6, 4294967295} do
  expect_refusal("bit", function() hypomnesis.has(4, bad) end)
end

-- Names are accepted in place of numbers.
expect.equal(context:pool(0, "vram").total_bytes, context:pool(0, hypomnesis.POOL_VRAM).total_bytes, "a pool by name")
expect.equal(context:snapshot {collect = {"pools", "pools", "self"}}.info.collect,
  hypomnesis.COLLECT_DEVICES + hypomnesis.COLLECT_POOLS + hypomnesis.COLLECT_SELF, "collect")
expect.equal(hypomnesis.feature "simulation", true, "feature")
local restricted = assert(hypomnesis.open {backends_off = {"nvml", "nvidia_smi", "nvml"}})
expect.equal(restricted:backend("nvml").state, hypomnesis.RUN_STATE_OFF, "a backend that is off")
expect.equal(restricted:backend("nvidia_smi").state, hypomnesis.RUN_STATE_OFF, "another backend that is off")
expect.that(restricted:backend("os").state ~= hypomnesis.RUN_STATE_OFF, "a backend that is not off")

for _, classes in ipairs {{"npu"}, 2 ^ hypomnesis.DEVICE_CLASS_NPU} do
  local npus = assert(hypomnesis.open {device_classes = classes, simulation = (machine:gsub("[^/]+$", "classes.json"))})
  expect.equal((npus:scan()), 1, "devices of a class")
  expect.equal(npus:device(0).device_class, hypomnesis.DEVICE_CLASS_NPU, "the class asked for")
end
expect_refusal("device_classes", function() hypomnesis.open {device_classes = {"tpu"}} end)

-- The raw layer checks as well.
if not rawget(_G, "jit") then
  local core = require "hypomnesis.core"
  for _, bad in ipairs(NOT_U32) do
    expect.misuse("bad argument 'device_index'", context.native.device, context.native, bad, 0)
    expect.misuse("bad argument 'feature'", core.feature, bad)
  end
  for _, bad in ipairs(NOT_TEXT) do
    expect.misuse("bad argument 'key'", context.native.find_device, context.native, bad)
  end
  expect.misuse("bad argument 'bytes'", core.format_bytes, 2 ^ 53 + 2)
  expect.misuse("bad argument 'bytes'", core.format_bytes, -1)
  for _, bad in ipairs {1, "1", {1.5}, {-1}, {"1"}, {1, false}, sparse} do
    expect.misuse("bad argument 'list'", core.estimate_tensor, bad, hypomnesis.DTYPE_U8)
    expect.misuse("bad argument 'list'", core.estimate_packed, bad, hypomnesis.DTYPE_U8, 0, 0, 0)
    expect.misuse("bad argument 'list'", core.estimate_sum, bad)
  end
  expect.misuse("bad argument 'status'", core.status_name, 2 ^ 31)
  expect.misuse("bad argument 'handle'", core.close, nil)
  expect.misuse("bad argument 'handle'", core.close, io.stdout)
  expect.misuse("bad argument 'snapshot'", core.copy, context.native)
  expect.misuse("bad argument 'snapshot'", core.copy, io.stdout)
  for _, bad in ipairs {snapshot.native, io.stdout, 1, "x", {}, false} do
    expect.misuse("bad argument 'self'", context.native.device, bad, 0, 0)
  end
  expect.misuse("bad argument 'self'", context.native.device, nil, 0, 0)
  expect.misuse("bad argument 'before'", snapshot.native.delta_since, snapshot.native, nil, 0)
  expect.misuse("bad argument 'before'", snapshot.native.delta_since, snapshot.native, context.native, 0)
  local closed = restricted.native
  core.close(closed)
  core.close(closed)
  expect.misuse("is closed", closed.scan, closed)
  expect.equal(swig_type, nil, "a global variable of SWIG")
end
