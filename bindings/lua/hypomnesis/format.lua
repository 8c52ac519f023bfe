-- SPDX-License-Identifier: MIT OR Apache-2.0
-- Snapshots and sizes as text.
local check = require "hypomnesis.check"
local constants = require "hypomnesis.generated.constants"
local handle = require "hypomnesis.handle"
local raw = require "hypomnesis.raw"
local Snapshot = require "hypomnesis.snapshot"

local format = {}

---The whole snapshot as one JSON object.
---@return string? json nil, message, status and detail on failure
function Snapshot:json()
  return handle.native(self, Snapshot):json()
end

---A device as one line, in MiB.
---@param device_index integer from 0
---@param form integer|string FORMAT_* or its name: "free", "total", "used"
---@param flags integer|string[]? LINE_* bits or their names
---@return string? line nil when a value is not known; nil, message, status and detail when the snapshot does not have
---the device
function Snapshot:device_line(device_index, form, flags)
  local native = handle.native(self, Snapshot)
  return native:device_line(check.u32(device_index, "device_index"), check.named(form, "form", constants, "FORMAT_"),
    check.bits(flags, "flags", constants, "LINE_"))
end

---A human-readable size: "512 MiB", "8.2 GiB".
---@param bytes integer
---@return string
function format.format_bytes(bytes)
  return raw.format_bytes(check.u64(bytes, "bytes"))
end

return format
