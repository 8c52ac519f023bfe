-- SPDX-License-Identifier: MIT OR Apache-2.0
-- Identities of devices.
local check = require "hypomnesis.check"
local constants = require "hypomnesis.generated.constants"
local handle = require "hypomnesis.handle"
local Context = require "hypomnesis.context"

---@class hypomnesis.Device
---@field pools hypomnesis.Pool[]? in snapshots: its memory, the main pool first
---@field telemetry hypomnesis.Telemetry? in snapshots that collect it
---@field metrics hypomnesis.Metric[]? in snapshots: each single number that the sources report
---@field own_usage hypomnesis.Usage? in snapshots that collect it: what this process uses on it

---Asks every source for its devices; the other functions use the result.
---0 devices: there certainly is none. A scan that fails changes nothing.
---@return integer? count of device indexes, which never shrinks; nil, message, status and detail when no device is
---known and a source failed
---@return integer generation which changes when a device is added, is gone or comes back
function Context:scan()
  return handle.native(self, Context):scan()
end

---The index of the device that a key names.
---@param key string "uuid:GPU-…", "pci:0000:01:00.0", "luid:<hex>", "render:<minor>", "driver:nvidia:<index>"
---@return integer? index nil, message, status and detail when no device has the key
function Context:find_device(key)
  return handle.native(self, Context):find_device(check.text(key, "key"))
end

---Identity of a device. A device that is lost or asleep is no failure: see its state.
---@param device_index integer from 0
---@param fields integer|string[]? DEVICE_HAS_* bits or their names; nil: all
---@return hypomnesis.Device? device nil, message, status and detail when no device has had the index
function Context:device(device_index, fields)
  return handle.native(self, Context):device(check.u32(device_index, "device_index"),
    check.bits(fields, "fields", constants, "DEVICE_HAS_"))
end

return Context
