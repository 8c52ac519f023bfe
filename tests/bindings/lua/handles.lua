-- SPDX-License-Identifier: MIT OR Apache-2.0
-- handles.lua MACHINES: contexts and snapshots end once, in any order, and are not used after that.
local hypomnesis = require "hypomnesis"
local expect = require "expect"

local small = arg[1] .. "/small.json"
local function open() return assert(hypomnesis.open {simulation = small, deadline = 60}) end

-- When Lua ends, what is older is finalized later: it finds the handles closed, and may close them.
local keeper, kept_open = rawget(_G, "newproxy") and newproxy(true) or setmetatable({}, {__gc = true}), {}
getmetatable(keeper).__gc = function()
  for noun, object in pairs(kept_open) do
    local method = noun == "context" and "scan" or noun == "snapshot" and "json" or "info"
    local good, found = pcall(object[method], object)
    if good and found then os.exit(1) end
    object:close()
    object:close()
  end
end
kept_open.context = open()
kept_open.snapshot = assert(kept_open.context:snapshot())
kept_open.sampler = assert(kept_open.context:sampler())
kept_open.spill = assert(kept_open.context:spill(0))
kept_open.tracker = assert(kept_open.context:tracker(0))

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
  local place = ("handles.lua:%d: the context is closed"):format(debug.getinfo(call, "S").linedefined)
  expect.misuse(place, call)
end

-- Cancelled: what would have to wait fails until resume.
context = open()
expect.equal((context:scan()), 1, "devices")
expect.equal(context:cancel(), true, "cancel")
expect.status(hypomnesis.E_CANCELLED, context:scan())
expect.status(hypomnesis.E_CANCELLED, context:snapshot())
expect.that(context:own_memory(), "the host's memory while cancelled")
expect.equal(context:resume(), true, "resume")
expect.equal((context:scan()), 1, "devices after resume")
context:close()

-- A snapshot outlives its context; its tables outlive it.
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
  local place = ("handles.lua:%d: the snapshot is closed"):format(debug.getinfo(call, "S").linedefined)
  expect.misuse(place, call)
end

-- Lists are arrays and iterators.
context = assert(hypomnesis.open {simulation = arg[1] .. "/eight.json", deadline = 60})
local snapshot = assert(context:snapshot {collect = {"devices", "pools", "self", "processes", "telemetry"}})
local seen = 0
for device in snapshot:devices() do
  expect.equal(device.index, seen, "index")
  seen = seen + 1
  expect.equal(snapshot.devices[seen], device, "position")
  expect.equal(snapshot:device(device.index), device, "device")
  expect.equal(device.pools[1].device_index, device.index, "pool")
  expect.equal(device.telemetry.device_index, device.index, "telemetry")
  expect.equal(device.own_usage.device_index, device.index, "own usage")
end
expect.equal(seen, 8, "devices")
seen = 0
for process in snapshot:processes() do
  seen = seen + 1
  expect.equal(snapshot.processes[seen], process, "position")
  expect.that(type(process.name) == "string" and process.pid > 0, "a process has a name")
end
expect.equal(seen, 64, "processes")
expect.equal(#snapshot.pools, snapshot.info.pool_count, "pools")
seen = 0
for diagnostic in snapshot:diagnostics() do
  seen = seen + 1
  expect.that(diagnostic.message ~= "", "a diagnostic says something")
end
expect.equal(seen, snapshot.info.diagnostic_count, "diagnostics")
expect.equal(snapshot:device(99), nil, "no such device")

-- Dropped in the wrong order, and not closed at all.
for _ = 1, 100 do
  local one = open()
  local taken = assert(one:snapshot())
  one = nil
  collectgarbage()
  expect.that(#taken:json() > 0, "json after its context was collected")
end
collectgarbage()

-- Closed by what collects it, and at the end of a block.
local Context = require "hypomnesis.context"
local dropped = open()
Context.__gc(dropped)
Context.__gc(dropped)
expect.equal(tostring(dropped), "hypomnesis.Context (closed)", "__gc")
if _VERSION == "Lua 5.4" then
  local kept
  assert(load [[
    local open, keep = ...
    local context <close> = open()
    local snapshot <close> = assert(context:snapshot())
    keep(context, snapshot)
  ]])(open, function(...) kept = {...} end)
  expect.equal(tostring(kept[1]), "hypomnesis.Context (closed)", "a context at the end of its block")
  expect.equal(tostring(kept[2]), "hypomnesis.Snapshot (closed)", "a snapshot at the end of its block")
  local failed = select(2, pcall(assert(load [[
    local open, keep = ...
    local context <close> = open()
    keep(context)
    error "in the block"
  ]]), open, function(...) kept = {...} end))
  expect.that(failed:find("in the block", 1, true), "the error of the block")
  expect.equal(tostring(kept[1]), "hypomnesis.Context (closed)", "a context after an error")
end
