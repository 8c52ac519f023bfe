-- SPDX-License-Identifier: MIT OR Apache-2.0
-- One process on one device.
local check = require "hypomnesis.check"
local constants = require "hypomnesis.generated.constants"
local handle = require "hypomnesis.handle"
local Context = require "hypomnesis.context"

---What a process uses on a device.
---@param device_index integer from 0
---@param pid integer as the driver counts it
---@param fields integer|string[]? USAGE_HAS_* bits or their names; nil: all
---@return hypomnesis.Usage? usage nil, message, status and detail when it cannot be read
function Context:usage(device_index, pid, fields)
  return handle.native(self, Context):usage(check.u32(device_index, "device_index"), check.u32(pid, "pid"),
    check.bits(fields, "fields", constants, "USAGE_HAS_"))
end

---What this process uses on a device.
---@param device_index integer from 0
---@param fields integer|string[]? USAGE_HAS_* bits or their names; nil: all
---@return hypomnesis.Usage? usage nil, message, status and detail when it cannot be read
function Context:own_usage(device_index, fields)
  return handle.native(self, Context):own_usage(check.u32(device_index, "device_index"),
    check.bits(fields, "fields", constants, "USAGE_HAS_"))
end

return Context
