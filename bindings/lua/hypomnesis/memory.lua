-- SPDX-License-Identifier: MIT OR Apache-2.0
-- Host memory: of a process, of the host.
local check = require "hypomnesis.check"
local constants = require "hypomnesis.generated.constants"
local handle = require "hypomnesis.handle"
local Context = require "hypomnesis.context"

---Host memory of a process.
---@param pid integer
---@param fields integer|string[]|nil values to read: PROCESS_MEMORY_HAS_* bits or names ("swap"); nil: the cheap ones
---@return hypomnesis.ProcessMemory? memory nil, message, status and detail when it cannot be read
function Context:process_memory(pid, fields)
  local native = handle.native(self, Context)
  return native:process_memory(check.u32(pid, "pid"), check.bits(fields, "fields", constants, "PROCESS_MEMORY_HAS_"))
end

---Host memory of this process.
---@param fields integer|string[]|nil as for process_memory
---@return hypomnesis.ProcessMemory? memory nil, message, status and detail when it cannot be read
function Context:own_memory(fields)
  return handle.native(self, Context):own_memory(check.bits(fields, "fields", constants, "PROCESS_MEMORY_HAS_"))
end

---The host's memory and the limit on this process.
---@param fields integer|string[]? SYSTEM_MEMORY_HAS_* bits or their names; nil: all
---@return hypomnesis.SystemMemory? memory nil, message, status and detail when it cannot be read
function Context:system_memory(fields)
  return handle.native(self, Context):system_memory(check.bits(fields, "fields", constants, "SYSTEM_MEMORY_HAS_"))
end

return Context
