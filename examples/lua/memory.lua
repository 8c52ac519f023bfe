-- SPDX-License-Identifier: MIT OR Apache-2.0
-- memory: the memory of this process, and what the host has available. HMN_SIMULATION may name a machine file.
local hypomnesis = require "hypomnesis"

local function format_size(label, bytes)
  if not bytes then return label .. ": not known" end
  return ("%s: %s bytes (%s)"):format(label, hypomnesis.digits(bytes), hypomnesis.format_bytes(bytes))
end

local context = assert(hypomnesis.open {environment = true})
print(format_size("resident", assert(context:own_memory()).resident_bytes))
print(format_size("available", assert(context:system_memory()).available_bytes))
context:close()
