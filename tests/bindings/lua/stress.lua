-- SPDX-License-Identifier: MIT OR Apache-2.0
-- stress.lua MACHINE: ten thousand contexts and snapshots, closed or dropped in any order, leak no memory.
local hypomnesis = require "hypomnesis"
local expect = require "expect"

local CYCLES, WARM_UP = 10000, 1000
local MAX_GROWTH = 8 * 2 ^ 20

local monitor = assert(hypomnesis.open())
local function read_resident() return assert(monitor:own_memory()).resident_bytes end

local function run_cycle(number)
  local context = assert(hypomnesis.open {simulation = arg[1], deadline = 60})
  local before = assert(context:snapshot {collect = {"memory", "devices", "pools", "self", "processes"}})
  if number % 3 == 0 then context:close() end
  if number % 3 == 1 then context = nil end
  if number % 5 == 0 then before:close() end
  if number % 7 == 0 then expect.status(hypomnesis.E_NO_DEVICE, assert(hypomnesis.open {simulation = arg[1], deadline = 60}):device(1)) end
  expect.equal(before.devices[1].name, "Small GPU", "name")
  if number % 5 ~= 0 then expect.that(#before:json() > 0, "json") end
end

for number = 1, WARM_UP do run_cycle(number) end
collectgarbage()
local start = read_resident()
for number = 1, CYCLES do run_cycle(number) end
collectgarbage()
collectgarbage()
local growth = read_resident() - start
expect.that(growth < MAX_GROWTH, ("the resident set grew by %d bytes"):format(growth))
print(("%d cycles: %d KiB more"):format(CYCLES, math.floor(growth / 1024)))
