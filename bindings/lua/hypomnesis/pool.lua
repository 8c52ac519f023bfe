-- SPDX-License-Identifier: MIT OR Apache-2.0
-- The memory of a device.
local check = require "hypomnesis.check"
local constants = require "hypomnesis.generated.constants"
local handle = require "hypomnesis.handle"
local Context = require "hypomnesis.context"

---Memory of a device.
---@param device_index integer from 0
---@param kind integer|string|nil POOL_* or its name ("vram"); nil: the pool that allocations come from
---@param instance integer? from 1: a part of it; nil: the whole
---@param fields integer|string[]|nil values to read: POOL_HAS_* bits or names ("free"); nil: all
---@return hypomnesis.Pool? pool nil, message, status and detail when it cannot be read
function Context:pool(device_index, kind, instance, fields)
  local native = handle.native(self, Context)
  if kind == nil then kind = constants.POOL_MAIN end
  return native:pool(check.u32(device_index, "device_index"), check.named(kind, "kind", constants, "POOL_"),
    check.u32_or_0(instance, "instance"), check.bits(fields, "fields", constants, "POOL_HAS_"))
end

return Context
