-- SPDX-License-Identifier: MIT OR Apache-2.0
-- The memory of a device.
local check = require "hypomnesis.check"
local constants = require "hypomnesis.generated.constants"
local handle = require "hypomnesis.handle"
local Context = require "hypomnesis.context"

---One memory pool of a device, device-wide. What is not known is nil.
---@class hypomnesis.Pool
---@field notes integer NOTE_*
---@field backend integer BACKEND_*
---@field device_index integer
---@field kind integer POOL_*
---@field accounting integer ACCOUNT_*: what used_bytes counts
---@field is_main integer 1: allocations come from this pool
---@field total_bytes integer?
---@field free_bytes integer?
---@field used_bytes integer? without reserved_bytes where that is known
---@field reserved_bytes integer? held by driver and firmware: total = reserved + free + used
---@field usable_bytes integer? best estimate of what one could allocate now
---@field budget_bytes integer? what a policy lets this process use
---@field unattributed_bytes integer? used, and owned by no process that can be seen
---@field age_ns integer since the driver was asked

---Memory of a device.
---@param device_index integer from 0
---@param kind integer|string|nil POOL_* or its name ("vram"); nil: the pool that allocations come from
---@return hypomnesis.Pool? pool nil, message, status and detail when it cannot be read
function Context:pool(device_index, kind)
  local native = handle.native(self, Context)
  if kind == nil then kind = constants.POOL_MAIN end
  return native:pool(check.u32(device_index, "device_index"), check.named(kind, "kind", constants, "POOL_"))
end

return Context
