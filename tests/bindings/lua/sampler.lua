-- SPDX-License-Identifier: MIT OR Apache-2.0
-- Samplers: <path of a machine file with one GPU>.
local hypomnesis = require "hypomnesis"

local machine = arg[1]
local PATIENCE = 60

local function expect(condition, what)
  if not condition then error(what, 2) end
end

local function refused(expected, value, message, status)
  expect(value == nil and status == expected and type(message) == "string" and message ~= "",
    ("%s, %s, %s instead of status %d"):format(tostring(value), tostring(message), tostring(status), expected))
end

local context = assert(hypomnesis.open {simulation = machine, deadline = 60})

do -- snapshots, latest values and peaks
  local sampler = assert(context:sampler())
  assert(sampler:start())
  local first = assert(sampler:next(PATIENCE))
  expect(first.info.collect == hypomnesis.COLLECT_DEVICES + hypomnesis.COLLECT_POOLS + hypomnesis.COLLECT_TELEMETRY,
    "not what a sampler collects")
  local used = first.devices[1].pools[1].used_bytes
  expect(used and used > 0, "the snapshot has no pool")
  expect(sampler:latest_pool(0).used_bytes == used, "the latest pool is another")
  expect(sampler:device_peak(0).used_bytes == used, "the peak is another")
  local info = sampler:info()
  expect(info.state == hypomnesis.SAMPLER_STATE_RUNNING and info.taken_count == 1 and info.last_status == hypomnesis.OK,
    "the sampler tells something else")
  refused(hypomnesis.E_EMPTY, sampler:next(0))
  refused(hypomnesis.E_NO_DEVICE, sampler:latest_pool(7))
  refused(hypomnesis.E_NO_PROCESS, sampler:peak(0, 1))
  sampler:close()
  sampler:close()
  expect(not pcall(sampler.info, sampler), "a closed sampler answers")
end

do -- before the start
  local sampler = assert(context:sampler())
  expect(sampler:latest_pool(0) == nil, "a pool before the start")
  expect(sampler:latest_telemetry(0) == nil, "a load before the start")
  expect(sampler:info().last_status == nil, "a status before the start")
  refused(hypomnesis.E_STATE, sampler:next(PATIENCE))
  refused(hypomnesis.E_STATE, sampler:stop())
  assert(sampler:start())
  refused(hypomnesis.E_STATE, sampler:start())
end

do -- a loop over one that has nothing to give
  local sampler = assert(context:sampler())
  local good, message = pcall(function() for _ in sampler:snapshots() do end end)
  expect(not good and message:find("sampler.lua:%d+: .*start"), tostring(message))
  sampler = assert(context:sampler {interval = 60})
  assert(sampler:start())
  local taken = 0
  assert(sampler:next(PATIENCE))
  for _ in sampler:snapshots(0.001) do taken = taken + 1 end
  expect(taken == 0, "one came in time")
end

do -- a loop ends once it is stopped
  local sampler = assert(context:sampler {interval = 0.005})
  assert(sampler:start())
  local taken, last = 0, 0
  for snapshot in sampler:snapshots() do
    taken = taken + 1
    expect(snapshot.info.monotonic_ns > last, "out of order")
    last = snapshot.info.monotonic_ns
    if taken == 3 then assert(sampler:stop()) end
  end
  expect(taken >= 3, "the loop ended early")
end

do -- options arrive
  local peaks = assert(context:sampler {flags = {"peaks_only"}})
  assert(peaks:start())
  refused(hypomnesis.E_STATE, peaks:next(PATIENCE))
  refused(hypomnesis.E_RANGE, context:sampler {capacity = 65537})
  local pools = assert(context:sampler {collect = {"pools"}, device_index = 0})
  assert(pools:start())
  expect(pools:next(PATIENCE).info.collect == hypomnesis.COLLECT_DEVICES + hypomnesis.COLLECT_POOLS,
    "collect did not arrive")
  expect(not pcall(context.sampler, context, {colour = 1}), "an option that is not known is taken")
end

do -- times and the handle
  refused(hypomnesis.E_RANGE, context:sampler {interval = hypomnesis.UNLIMITED})
  local sampler = assert(context:sampler {interval = 60})
  expect(sampler:handle() >= 0 and sampler:handle() % 1 == 0, "no handle")
  assert(sampler:start())
  local before = hypomnesis.monotonic_ns()
  assert(sampler:next(hypomnesis.UNLIMITED))
  refused(hypomnesis.E_EMPTY, sampler:next(0))
  expect(before > 0 and sampler:info().last_monotonic_ns <= hypomnesis.monotonic_ns(), "another clock")
  sampler:close()
end

do -- it outlives its context
  local own = assert(hypomnesis.open {simulation = machine, deadline = 60})
  local sampler = assert(own:sampler {interval = 0.005})
  assert(sampler:start())
  own:close()
  for _ = 1, 3 do assert(sampler:next(PATIENCE)) end
  sampler:close()
end
