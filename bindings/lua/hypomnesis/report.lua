-- SPDX-License-Identifier: MIT OR Apache-2.0
-- What changed from one snapshot to another.
local check = require "hypomnesis.check"
local handle = require "hypomnesis.handle"
local Snapshot = require "hypomnesis.snapshot"

---What changed since `before` on a device and on the host.
---@param before hypomnesis.Snapshot
---@param device_index integer from 0
---@return hypomnesis.Delta? delta nil when the snapshots have nothing in common; nil, message, status and detail when
---neither has the device, or `before` was taken later
function Snapshot:delta_since(before, device_index)
  local native, earlier = handle.native(self, Snapshot), handle.native(before, Snapshot, "before")
  return native:delta_since(earlier, check.u32(device_index, "device_index"))
end

---The change as one line, in MiB.
---@param before hypomnesis.Snapshot
---@param device_index integer from 0
---@param label string
---@return string? line nil when host memory is missing on a side; else as delta_since
function Snapshot:delta_line(before, device_index, label)
  local native, earlier = handle.native(self, Snapshot), handle.native(before, Snapshot, "before")
  return native:delta_line(earlier, check.u32(device_index, "device_index"), check.text(label, "label"))
end

---Both values and the change, one line for RAM and one for VRAM.
---@param before hypomnesis.Snapshot
---@param device_index integer from 0
---@param label string
---@return string? lines as delta_line
function Snapshot:before_after_lines(before, device_index, label)
  local native, earlier = handle.native(self, Snapshot), handle.native(before, Snapshot, "before")
  return native:before_after_lines(earlier, check.u32(device_index, "device_index"), check.text(label, "label"))
end

return Snapshot
