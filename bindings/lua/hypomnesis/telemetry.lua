-- SPDX-License-Identifier: MIT OR Apache-2.0
-- Load, temperature and power of a device.
local check = require "hypomnesis.check"
local constants = require "hypomnesis.generated.constants"
local handle = require "hypomnesis.handle"
local Context = require "hypomnesis.context"

---Load, temperature and power of a device.
---@param device_index integer from 0
---@param fields integer|string[]|nil values to read: TELEMETRY_HAS_* bits or names ("power"); nil: the cheap ones
---@return hypomnesis.Telemetry? telemetry nil, message, status and detail when it cannot be read
function Context:telemetry(device_index, fields)
  local native = handle.native(self, Context)
  return native:telemetry(check.u32(device_index, "device_index"),
    check.bits(fields, "fields", constants, "TELEMETRY_HAS_"))
end

return Context
