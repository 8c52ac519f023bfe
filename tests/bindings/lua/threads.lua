-- SPDX-License-Identifier: MIT OR Apache-2.0
-- threads.lua MACHINES: runs in several threads, each with its own Lua state, package and contexts.
local machines = ...
local hypomnesis = require "hypomnesis"
local expect = require "expect"

for round = 1, 200 do
  local context = assert(hypomnesis.open {simulation = machines .. "/eight.json", deadline = 60})
  local snapshot = assert(context:snapshot {collect = {"devices", "pools", "processes", "telemetry"}})
  if round % 2 == host.thread % 2 then context:close() end
  expect.equal(#snapshot.devices, 8, "devices")
  expect.equal(#snapshot.processes, 64, "processes")
  expect.equal(select(3, assert(hypomnesis.open {simulation = machines .. "/small.json", deadline = 60}):device(7)),
    hypomnesis.E_NO_DEVICE, "a failure")
  expect.misuse("bad argument 'bytes'", hypomnesis.format_bytes, -1)
  if round % 3 == 0 then snapshot:close() end
end
