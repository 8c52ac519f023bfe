-- SPDX-License-Identifier: MIT OR Apache-2.0
-- Samplers: <path of a machine file with one GPU>.
local hypomnesis = require "hypomnesis"

local machine = arg[1]
local TIMEOUT = 60

local function expect(condition, message)
  if not condition then error(message, 2) end
end

local function expect_failure(expected, value, message, status)
  expect(value == nil and status == expected and type(message) == "string" and message ~= "",
    ("%s, %s, %s instead of status %d"):format(tostring(value), tostring(message), tostring(status), expected))
end

local context = assert(hypomnesis.open {simulation = machine, deadline = 60})

do -- snapshots, latest values and peaks
  local sampler = assert(context:sampler())
  assert(sampler:start())
  local first = assert(sampler:next(TIMEOUT))
  expect(first.info.collect == hypomnesis.COLLECT_DEVICES + hypomnesis.COLLECT_POOLS + hypomnesis.COLLECT_TELEMETRY,
    "a sampler collects other parts")
  local used = first.devices[1].pools[1].used_bytes
  expect(used and used > 0, "the snapshot has no pool")
  expect(sampler:latest_pool(0).used_bytes == used, "the latest pool differs from the snapshot's")
  expect(sampler:device_peak(0).used_bytes == used, "the peak differs from the snapshot's value")
  local info = sampler:info()
  expect(info.state == hypomnesis.SAMPLER_STATE_RUNNING and info.taken_count == 1 and info.last_status == hypomnesis.OK,
    "the sampler's info is wrong")
  expect(sampler:next(0) == false, "a snapshot that did not come")
  expect_failure(hypomnesis.E_NO_DEVICE, sampler:latest_pool(7))
  expect_failure(hypomnesis.E_NO_PROCESS, sampler:peak(0, 1))
  sampler:close()
  sampler:close()
  expect(not pcall(sampler.info, sampler), "a closed sampler answers")
end

do -- before the start
  local sampler = assert(context:sampler())
  expect(sampler:latest_pool(0) == nil, "a pool before the start")
  expect(sampler:latest_telemetry(0) == nil, "a load before the start")
  expect(sampler:info().last_status == nil, "a status before the start")
  expect_failure(hypomnesis.E_STATE, sampler:next(TIMEOUT))
  expect_failure(hypomnesis.E_STATE, sampler:stop())
  assert(sampler:start())
  expect_failure(hypomnesis.E_STATE, sampler:start())
end

do -- a loop over a sampler without snapshots
  local sampler = assert(context:sampler())
  local ok, message = pcall(function() for _ in sampler:snapshots() do end end)
  expect(not ok and message:find("sampler.lua:%d+: .*start"), tostring(message))
  sampler = assert(context:sampler {interval = 60})
  assert(sampler:start())
  assert(sampler:next(TIMEOUT))
  local count = 0
  for snapshot in sampler:snapshots(0.001) do
    expect(snapshot == false, "there was a snapshot before the interval")
    count = count + 1
    if count == 3 then assert(sampler:stop()) end
  end
  expect(count == 3, "the loop ended before the sampler did")
  expect(select("#", sampler:next(TIMEOUT)) == 1 and sampler:next(TIMEOUT) == nil, "the end is not nil alone")
end

do -- a loop ends when the sampler is stopped
  local sampler = assert(context:sampler {interval = 0.005})
  assert(sampler:start())
  local count, last = 0, 0
  for snapshot in sampler:snapshots() do
    count = count + 1
    expect(snapshot.info.monotonic > last, "out of order")
    last = snapshot.info.monotonic
    if count == 3 then assert(sampler:stop()) end
  end
  expect(count >= 3, "the loop ended early")
end

do -- options are applied
  local peaks = assert(context:sampler {flags = {"peaks_only"}})
  assert(peaks:start())
  expect_failure(hypomnesis.E_STATE, peaks:next(TIMEOUT))
  expect_failure(hypomnesis.E_RANGE, context:sampler {capacity = 65537})
  local pools = assert(context:sampler {collect = {"pools"}, device_index = 0})
  assert(pools:start())
  expect(pools:next(TIMEOUT).info.collect == hypomnesis.COLLECT_DEVICES + hypomnesis.COLLECT_POOLS,
    "collect was not applied")
  expect(not pcall(context.sampler, context, {colour = 1}), "an unknown option is accepted")
end

do -- times and the handle
  expect_failure(hypomnesis.E_RANGE, context:sampler {interval = hypomnesis.UNLIMITED})
  local sampler = assert(context:sampler {interval = 60})
  expect(sampler:handle() >= 0 and sampler:handle() % 1 == 0, "no handle")
  assert(sampler:start())
  local before = hypomnesis.monotonic()
  assert(sampler:next(hypomnesis.UNLIMITED))
  expect(sampler:next(0) == false, "a snapshot that did not come")
  expect(before > 0 and sampler:info().last_monotonic <= hypomnesis.monotonic(), "the clocks differ")
  sampler:close()
end

do -- a sampler outlives its context
  local other = assert(hypomnesis.open {simulation = machine, deadline = 60})
  local sampler = assert(other:sampler {interval = 0.005})
  assert(sampler:start())
  other:close()
  for _ = 1, 3 do assert(sampler:next(TIMEOUT)) end
  sampler:close()
end

do -- a wait in a coroutine yields the handle, and can be ended alone
  local sampler = assert(context:sampler {interval = 60})
  local wait = coroutine.wrap(function() return sampler:await() end)
  assert(sampler:start())
  local answer = wait()
  while type(answer) == "number" do
    expect(answer == sampler:handle(), "another handle")
    answer = wait()
  end
  expect(answer.info.device_count == 1, "no snapshot")
  wait = coroutine.wrap(function() return sampler:await() end)
  expect(wait() == sampler:handle() and wait() == sampler:handle(), "the wait does not yield")
  expect(wait(true) == false, "the wait was not ended")
  wait = coroutine.wrap(function() return sampler:await() end)
  expect(wait() == sampler:handle(), "the next wait does not yield")
  assert(sampler:stop())
  expect(wait() == nil, "the wait does not end with the sampler")
  sampler = assert(context:sampler())
  expect_failure(hypomnesis.E_STATE, coroutine.wrap(function() return sampler:await() end)())
end

do -- a wait in a coroutine reports that the context is cancelled
  local other = assert(hypomnesis.open {simulation = machine, deadline = 60})
  local sampler = assert(other:sampler {interval = 60})
  assert(sampler:start())
  assert(sampler:next(TIMEOUT))
  assert(other:cancel())
  expect_failure(hypomnesis.E_CANCELLED, coroutine.wrap(function() return sampler:await() end)())
end
