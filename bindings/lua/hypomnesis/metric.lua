-- SPDX-License-Identifier: MIT OR Apache-2.0
-- Single numbers of a device.
local check = require "hypomnesis.check"
local constants = require "hypomnesis.generated.constants"
local handle = require "hypomnesis.handle"
local Context = require "hypomnesis.context"

---One number of a device, with its own source and age. Either value or count is there.
---@class hypomnesis.Metric
---@field notes integer NOTE_*
---@field backend integer BACKEND_*
---@field device_index integer
---@field pid integer? of this process, not of the device
---@field id integer METRIC_*
---@field instance integer which one of several: ENGINE_*, SENSOR_* and so on, THROTTLE_*, or a fan or link from 0
---@field value number? a reading
---@field count integer? ever growing, or whole by nature
---@field window_ns integer? what value averages over
---@field age_ns integer since the driver was asked
---@field group string? of a snapshot's metrics: the control group that it is of

---One number of the whole device, also one that takes long to read.
---@param device_index integer from 0
---@param metric integer|string METRIC_* or its name: "temperature"
---@param instance integer? which one of several; nil: 0
---@return hypomnesis.Metric? metric nil, message, status and detail when it cannot be read
function Context:metric(device_index, metric, instance)
  local native = handle.native(self, Context)
  return native:metric(check.u32(device_index, "device_index"), check.named(metric, "metric", constants, "METRIC_"),
    check.u32_or_0(instance, "instance"))
end

return Context
