-- SPDX-License-Identifier: MIT OR Apache-2.0
-- Load, temperature and power of a device.
local check = require "hypomnesis.check"
local constants = require "hypomnesis.generated.constants"
local handle = require "hypomnesis.handle"
local Context = require "hypomnesis.context"

---Load, temperature and power of a device. What is not known is nil.
---@class hypomnesis.Telemetry
---@field notes integer NOTE_*
---@field backend integer BACKEND_*
---@field device_index integer
---@field core_clock_mhz integer?
---@field memory_clock_mhz integer?
---@field fan_percent integer? of the fan's highest speed; may pass 100
---@field fan_rpm integer?
---@field pcie_generation integer? of the link as it runs now
---@field pcie_width integer? lanes in use now
---@field p_state integer? NVIDIA: 0 is the fastest
---@field throttle integer? THROTTLE_*: why clocks are held down
---@field backends integer bit n: backend n gave at least one field
---@field gpu_busy_percent number? 0 to 100: share of time in which something ran
---@field memory_busy_percent number? 0 to 100: share of time in which memory was read or written
---@field encoder_busy_percent number? 0 to 100
---@field decoder_busy_percent number? 0 to 100
---@field temperature_celsius number?
---@field hotspot_celsius number?
---@field memory_celsius number?
---@field power_watts number?
---@field power_limit_watts number?
---@field energy_joules number? ever growing: take differences
---@field pcie_rx_bytes integer? ever growing: take differences
---@field pcie_tx_bytes integer? ever growing: take differences
---@field window_ns integer? what the percentages average over
---@field age_ns integer since the driver was asked

---Load, temperature and power of a device.
---@param device_index integer from 0
---@param fields integer|string[]|nil what is wanted: TELEMETRY_HAS_* bits or names ("power"); nil: what is cheap
---@return hypomnesis.Telemetry? telemetry nil, message, status and detail when it cannot be read
function Context:telemetry(device_index, fields)
  local native = handle.native(self, Context)
  return native:telemetry(check.u32(device_index, "device_index"),
    check.bits(fields, "fields", constants, "TELEMETRY_HAS_"))
end

return Context
