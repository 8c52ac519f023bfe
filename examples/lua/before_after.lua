-- SPDX-License-Identifier: MIT OR Apache-2.0
-- before_after: the memory that some work allocates. HMN_SIMULATION may name a machine file.
local hypomnesis = require "hypomnesis"

local MIB = 2 ^ 20

local context = assert(hypomnesis.open {environment = true})
local before = assert(context:snapshot())
local work = ("x"):rep(64 * MIB)
local after = assert(context:snapshot())
context:close()

local lines, message, status = after:before_after_lines(before, 0, "work")
if lines then
  io.write(lines)
elseif status == hypomnesis.E_NO_DEVICE then
  local rise = after.memory.resident_bytes - before.memory.resident_bytes
  print(rise >= #work and "RAM +64 MiB or more" or "RAM rose by less than 64 MiB")
else
  print(message or "the resident set is not known")
end
