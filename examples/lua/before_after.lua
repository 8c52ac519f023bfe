-- SPDX-License-Identifier: MIT OR Apache-2.0
-- before_after: the memory that some work allocates. HMN_SIMULATION may name a machine file.
local hypomnesis = require "hypomnesis"

local MIB = 2 ^ 20

local context = assert(hypomnesis.open {environment = true})
local before = assert(context:snapshot())
local work = ("x"):rep(MIB):rep(64)
local after = assert(context:snapshot())
context:close()

local lines, message, status = after:before_after_lines(before, 0, "work")
if lines then
  io.write(lines)
elseif status == hypomnesis.E_NO_DEVICE then
  local first = before.memory and before.memory.resident_bytes
  local second = after.memory and after.memory.resident_bytes
  print(not (first and second) and "RAM is not known" or second - first >= #work and "RAM +64 MiB or more"
    or "RAM rose by less than 64 MiB")
else
  print(message or "RAM is not known")
end
