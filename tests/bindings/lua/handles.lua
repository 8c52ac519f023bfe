-- SPDX-License-Identifier: MIT OR Apache-2.0
-- handles.lua MACHINES: contexts and snapshots are closed once, in any order, and cannot be used after that.
local hypomnesis = require "hypomnesis"
local expect = require "expect"

local small = arg[1] .. "/small.json"
local function open() return assert(hypomnesis.open {simulation = small, deadline = 60}) end

-- When Lua exits, older objects are finalized later: this one finds the handles closed, and may close them again.
local guard, open_handles = rawget(_G, "newproxy") and newproxy(true) or setmetatable({}, {__gc = true}), {}
getmetatable(guard).__gc = function()
  for name, object in pairs(open_handles) do
    local method = name == "context" and "scan" or name == "snapshot" and "json" or "info"
    local ok, result = pcall(object[method], object)
    if ok and result then os.exit(1) end
    object:close()
    object:close()
  end
end
open_handles.context = open()
open_handles.snapshot = assert(open_handles.context:snapshot())
open_handles.sampler = assert(open_handles.context:sampler())
open_handles.spill = assert(open_handles.context:spill(0))
open_handles.tracker = assert(open_handles.context:tracker(0))

-- Closed: each method raises an error at the caller's line; closing again is fine.
local context = open()
expect.equal(tostring(context), "hypomnesis.Context (open)", "text of a context")
context:close()
context:close()
expect.equal(tostring(context), "hypomnesis.Context (closed)", "text of a closed context")
for _, call in ipairs {
  function() context:scan() end, function() context:find_device "driver:nvidia:0" end,
  function() context:device(0) end, function() context:pool(0) end, function() context:telemetry(0) end,
  function() context:usage(0, 1) end, function() context:own_usage(0) end, function() context:own_memory() end,
  function() context:process_memory(1) end, function() context:system_memory() end,
  function() context:backend "os" end, function() context:set_path("proc") end, function() context:snapshot() end,
} do
  local position = ("handles.lua:%d: the context is closed"):format(debug.getinfo(call, "S").linedefined)
  expect.misuse(position, call)
end

-- Cancelled: calls that may wait fail until resume.
context = open()
expect.equal((context:scan()), 1, "devices")
expect.equal(context:cancel(), true, "cancel")
expect.status(hypomnesis.E_CANCELLED, context:scan())
expect.status(hypomnesis.E_CANCELLED, context:snapshot())
expect.that(context:own_memory(), "the host's memory while cancelled")
expect.equal(context:resume(), true, "resume")
expect.equal((context:scan()), 1, "devices after resume")
context:close()

-- A snapshot outlives its context, and its tables outlive the snapshot.
context = open()
local before, after = assert(context:snapshot()), assert(context:snapshot())
context:close()
expect.that(before:json():find("Small GPU", 1, true), "a snapshot without its context")
expect.equal(after:delta_since(before, 0).device_bytes, 0, "a difference without the context")
before:close()
before:close()
expect.equal(before.devices[1].name, "Small GPU", "a table of a closed snapshot")
for _, call in ipairs {
  function() before:json() end, function() before:device_line(0, "free") end,
  function() before:pool(0) end, function() before:reason(0, "pools") end,
  function() before:delta_since(after, 0) end, function() after:delta_since(before, 0) end,
  function() after:delta_line(before, 0, "x") end, function() after:before_after_lines(before, 0, "x") end,
} do
  local position = ("handles.lua:%d: the snapshot is closed"):format(debug.getinfo(call, "S").linedefined)
  expect.misuse(position, call)
end

-- Lists are arrays and iterators.
context = assert(hypomnesis.open {simulation = arg[1] .. "/eight.json", deadline = 60})
local snapshot = assert(context:snapshot {collect = {"devices", "pools", "self", "processes", "telemetry"}})
local count = 0
for device in snapshot:devices() do
  expect.equal(device.index, count, "index")
  count = count + 1
  expect.equal(snapshot.devices[count], device, "position")
  expect.equal(snapshot:device(device.index), device, "device")
  expect.equal(device.pools[1].device_index, device.index, "pool")
  expect.equal(device.telemetry.device_index, device.index, "telemetry")
  expect.equal(device.own_usage.device_index, device.index, "own usage")
end
expect.equal(count, 8, "devices")
count = 0
for process in snapshot:processes() do
  count = count + 1
  expect.equal(snapshot.processes[count], process, "position")
  expect.that(type(process.name) == "string" and process.pid > 0, "a process has a name")
end
expect.equal(count, 64, "processes")
expect.equal(#snapshot.pools, snapshot.info.pool_count, "pools")
count = 0
for diagnostic in snapshot:diagnostics() do
  count = count + 1
  expect.that(diagnostic.message ~= "", "a diagnostic has a message")
end
expect.equal(count, snapshot.info.diagnostic_count, "diagnostics")
expect.equal(snapshot:device(99), nil, "no such device")

-- Dropped in the wrong order without being closed.
for _ = 1, 100 do
  local other = open()
  local other_snapshot = assert(other:snapshot())
  other = nil
  collectgarbage()
  expect.that(#other_snapshot:json() > 0, "json after its context was collected")
end
collectgarbage()

-- Closed by the collector, and at the end of a block.
local Context = require "hypomnesis.context"
local other = open()
Context.__gc(other)
Context.__gc(other)
expect.equal(tostring(other), "hypomnesis.Context (closed)", "__gc")
if _VERSION == "Lua 5.4" then
  local objects
  assert(load [[
    local open, keep = ...
    local context <close> = open()
    local snapshot <close> = assert(context:snapshot())
    keep(context, snapshot)
  ]])(open, function(...) objects = {...} end)
  expect.equal(tostring(objects[1]), "hypomnesis.Context (closed)", "a context at the end of its block")
  expect.equal(tostring(objects[2]), "hypomnesis.Snapshot (closed)", "a snapshot at the end of its block")
  local message = select(2, pcall(assert(load [[
    local open, keep = ...
    local context <close> = open()
    keep(context)
    error "in the block"
  ]]), open, function(...) objects = {...} end))
  expect.that(message:find("in the block", 1, true), "the error of the block")
  expect.equal(tostring(objects[1]), "hypomnesis.Context (closed)", "a context after an error")
end
