-- SPDX-License-Identifier: MIT OR Apache-2.0
-- bench.lua MACHINE...: the cost of a snapshot copied whole, per object, compared with a bare call (version_number)
-- through the same binding. Objects: the records of the snapshot. `take` is the library's part, without any copy.
local hypomnesis = require "hypomnesis"
local raw = require "hypomnesis.raw"

local ROUNDS = 25
local EVERYTHING = {collect = {"memory", "system", "devices", "pools", "self", "processes", "telemetry"}}

-- Returns nanoseconds per call, for `count` calls, in the fastest round.
local function measure_ns(count, call)
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
local bare_ns = measure_ns(200, bare_calls) / 1000
print(("%s: bare call %.1f ns"):format(rawget(_G, "jit") and jit.version or _VERSION, bare_ns))

-- LuaJIT compiles a bare call into the C call itself.
if rawget(_G, "jit") then
  jit.off(bare_calls)
  print(("  not compiled: bare call %.1f ns"):format(measure_ns(200, bare_calls) / 1000))
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
  local take_ns = measure_ns(100, function() raw.close(native:take(0, 127, 0, 0, 0)) end)
  local total_ns = measure_ns(100, function() context:snapshot(EVERYTHING):close() end)
  local copy_ns = total_ns - take_ns
  print(("  %2d processes, %3d objects: snapshot %7.1f us = take %7.1f us + copy %7.1f us; "
    .. "%6.1f ns = %5.1f bare calls per object"):format(
    #snapshot.processes, objects, total_ns / 1e3, take_ns / 1e3, copy_ns / 1e3, copy_ns / objects,
    copy_ns / objects / bare_ns))
  context:close()
end
