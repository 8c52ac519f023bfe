-- SPDX-License-Identifier: MIT OR Apache-2.0
-- Spill detectors: <path of machines/spill.json>.
local hypomnesis = require "hypomnesis"
local MIB = 1048576

local function expect(condition, message)
  if not condition then error(message, 2) end
end

local function expect_failure(expected, value, message, status)
  expect(value == nil and status == expected and type(message) == "string" and message ~= "",
    ("%s, %s, %s instead of status %d"):format(tostring(value), tostring(message), tostring(status), expected))
end

do -- a spill of a device is current, then latched
  local context = assert(hypomnesis.open {simulation = arg[1], deadline = 60})
  local spill = assert(context:spill(0))
  assert(spill:observe "begin")
  expect(spill:info().state == hypomnesis.SPILL_STATE_MEASURABLE, "it spills at once")
  assert(spill:observe "step 1")
  expect(spill:info().rules == hypomnesis.SPILL_BY_SHARED, "it does not spill")
  assert(spill:observe "step 2")
  local info = spill:info()
  expect(info.state == hypomnesis.SPILL_STATE_MEASURABLE + hypomnesis.SPILL_STATE_EVER, "it is not latched")
  expect(info.episode_count == 1 and info.first_label == "step 1", "the episode is wrong")
  expect(info.baseline_shared_bytes == 128 * MIB and info.peak_shared_bytes == 384 * MIB, "the shared bytes are wrong")
  expect(info.evicted_bytes == nil, "evicted bytes are reported without a source")
  local episode = spill:episode(0)
  expect(episode.end_label == "step 2" and episode.duration == 0, "the end of the episode is wrong")
  expect_failure(hypomnesis.E_RANGE, spill:episode(1))
  spill:close()
  expect(not pcall(spill.info, spill), "a closed detector answers")
end

do -- an unmeasurable device, and fed samples
  local context = assert(hypomnesis.open {simulation = arg[1], deadline = 60})
  local spill = assert(context:spill(1, {growth_bytes = 2 * MIB}))
  expect_failure(hypomnesis.E_UNSUPPORTED, spill:observe())
  local info = spill:info()
  expect(info.status == hypomnesis.E_UNSUPPORTED and info.message ~= "" and info.dedicated_bytes == nil, "no reason")
  assert(spill:feed({dedicated_bytes = 0, shared_bytes = 0, evicted_bytes = 0}, "calm"))
  assert(spill:feed({dedicated_bytes = 0, shared_bytes = 0, evicted_bytes = 2 * MIB}, "full"))
  expect(spill:info().rules == hypomnesis.SPILL_BY_EVICTED, "evicted memory is not reported as a spill")
  expect(spill:episode(0).end_label == nil, "an open episode has an end")
  expect(not pcall(spill.feed, spill, {dedicated = 1}), "an unknown field is accepted")
  local count = spill:info().observation_count
  for _, missing in ipairs {"dedicated_bytes", "shared_bytes"} do
    local sample = {dedicated_bytes = 0, shared_bytes = 0, limit_bytes = 1}
    sample[missing] = nil
    local ok, message = pcall(spill.feed, spill, sample, "incomplete")
    expect(not ok and message:find(missing, 1, true), "zero is assumed for " .. missing)
  end
  expect(not pcall(spill.feed, spill), "a missing sample is accepted")
  expect(spill:info().observation_count == count, "a refused sample is counted")
end

do -- snapshots, without a context
  local context = assert(hypomnesis.open {simulation = arg[1], deadline = 60})
  local spill = assert(hypomnesis.spill())
  for _ = 1, 3 do
    assert(spill:observe_snapshot(assert(context:snapshot {collect = {"pools", "processes"}}), "snapshot"))
  end
  expect(spill:info().observation_count == 3 and spill:info().episode_count == 1, "the observations are miscounted")
  expect_failure(hypomnesis.E_EMPTY, spill:observe_snapshot(assert(context:snapshot {collect = {"devices"}})))
  expect_failure(hypomnesis.E_RANGE, hypomnesis.spill {episode_capacity = 65537})
end

print "spill: ok"
