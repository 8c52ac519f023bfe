-- SPDX-License-Identifier: MIT OR Apache-2.0
-- bench.lua MACHINE...: what a snapshot copied whole costs per object, compared with a bare call (version_number)
-- through the same binding. Objects: the records of the snapshot. `take` is the library's part, without any copy.
local hypomnesis = require "hypomnesis"
local raw = require "hypomnesis.raw"

local ROUNDS = 25
local EVERYTHING = {collect = {"memory", "system", "devices", "pools", "self", "processes", "telemetry"}}

-- Nanoseconds of one of `count` calls: the best of some rounds.
local function cost(count, call)
  local best = math.huge
  for _ = 1, ROUNDS do
    collectgarbage()
    local start = os.clock()
    for _ = 1, count do call() end
    best = math.min(best, os.clock() - start)
  end
  return best / count * 1e9
end

local version_number = hypomnesis.version_number
local function bare_calls()
  for _ = 1, 1000 do version_number() end
end
local bare = cost(200, bare_calls) / 1000
print(("%s: bare call %.1f ns"):format(rawget(_G, "jit") and jit.version or _VERSION, bare))

-- LuaJIT compiles a bare call into the call itself, and nothing else.
if rawget(_G, "jit") then
  jit.off(bare_calls)
  print(("  not compiled: bare call %.1f ns"):format(cost(200, bare_calls) / 1000))
end

for _, machine in ipairs(arg) do
  local context = assert(hypomnesis.open {simulation = machine})
  local snapshot = assert(context:snapshot(EVERYTHING))
  local objects = 1 + (snapshot.memory and 1 or 0) + (snapshot.system and 1 or 0)
    + #snapshot.pools + #snapshot.processes + #snapshot.diagnostics
  for device in snapshot:devices() do
    objects = objects + 1 + (device.telemetry and 1 or 0) + (device.own_usage and 1 or 0)
  end
  snapshot:close()
  local native = context.native
  local taken = cost(100, function() raw.close(native:take(0, 127, 0, 0, 0)) end)
  local whole = cost(100, function() context:snapshot(EVERYTHING):close() end)
  local copy = whole - taken
  print(("  %2d processes, %3d objects: snapshot %7.1f us, of it take %7.1f us, copy %7.1f us; "
    .. "%6.1f ns = %5.1f bare calls per object"):format(
    #snapshot.processes, objects, whole / 1e3, taken / 1e3, copy / 1e3, copy / objects, copy / objects / bare))
  context:close()
end
