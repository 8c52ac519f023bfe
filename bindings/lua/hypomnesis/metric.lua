-- SPDX-License-Identifier: MIT OR Apache-2.0
-- Single numbers of a device.
local check = require "hypomnesis.check"
local constants = require "hypomnesis.generated.constants"
local handle = require "hypomnesis.handle"
local Context = require "hypomnesis.context"

---One number of the whole device, also one that takes long to read.
---@param device_index integer from 0
---@param metric integer|string METRIC_* or its name: "temperature"
---@param instance integer? which one of several; nil: 0
---@param fields integer|string[]? METRIC_HAS_* bits or their names; nil: all
---@return hypomnesis.Metric? metric nil, message, status and detail when it cannot be read
function Context:metric(device_index, metric, instance, fields)
  local native = handle.native(self, Context)
  return native:metric(check.u32(device_index, "device_index"), check.named(metric, "metric", constants, "METRIC_"),
    check.u32_or_0(instance, "instance"), check.bits(fields, "fields", constants, "METRIC_HAS_"))
end

return Context
