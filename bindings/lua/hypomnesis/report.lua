-- SPDX-License-Identifier: MIT OR Apache-2.0
-- Memory pools and missing values of a snapshot, and changes between two.
local check = require "hypomnesis.check"
local constants = require "hypomnesis.generated.constants"
local handle = require "hypomnesis.handle"
local Snapshot = require "hypomnesis.snapshot"

---Memory of a device.
---@param device_index integer from 0
---@param kind integer|string? POOL_* or its name: "vram"; nil: the pool that allocations come from
---@param instance integer? from 1: a part of it; nil: the whole
---@return hypomnesis.Pool? pool nil when the device has no such pool; nil, message, status and detail when the snapshot
---does not have the device
function Snapshot:pool(device_index, kind, instance)
  local native = handle.native(self, Snapshot)
  return native:device_pool(check.u32(device_index, "device_index"),
    kind == nil and 0 or check.named(kind, "kind", constants, "POOL_"), check.u32_or_0(instance, "instance"))
end

local OPTIONS = {metric_instance = true, pool = true, pool_instance = true, pid = true}

---Why a value of a device is missing.
---@param device_index integer from 0
---@param subject string|integer what it belongs to: a name as in `collect`, or a COLLECT_* bit
---@param field integer? its presence bit; nil: the subject as a whole
---@param metric integer|string? of "metrics": METRIC_* or its name
---@param options table? metric_instance; of "pools" pool and pool_instance; of "processes" pid
---@return hypomnesis.Diagnostic? reason nil when the subject was not requested; nil, message, status and detail when
---the snapshot does not have the device, or the subject is not one bit
function Snapshot:reason(device_index, subject, field, metric, options)
  local native = handle.native(self, Snapshot)
  subject = check.bits(type(subject) == "string" and {subject} or subject, "subject", constants, "COLLECT_")
  metric = metric == nil and 0 or check.named(metric, "metric", constants, "METRIC_")
  options = check.options(options, OPTIONS)
  local kind = options.pool == nil and 0 or check.named(options.pool, "pool", constants, "POOL_")
  return native:reason(subject, check.u32(device_index, "device_index"), check.bits(field, "field", constants, "_HAS_"),
    check.u32_or_0(options.pid, "pid"), kind, check.u32_or_0(options.pool_instance, "pool_instance"), metric,
    check.u32_or_0(options.metric_instance, "metric_instance"))
end

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
---@param flags integer|string[]? LINE_* bits or their names
---@return string? line nil when host memory is missing on one side; else as delta_since
function Snapshot:delta_line(before, device_index, label, flags)
  local native, earlier = handle.native(self, Snapshot), handle.native(before, Snapshot, "before")
  return native:delta_line(earlier, check.u32(device_index, "device_index"), check.text(label, "label"),
    check.bits(flags, "flags", constants, "LINE_"))
end

---Both values and the change, one line for RAM and one for VRAM.
---@param before hypomnesis.Snapshot
---@param device_index integer from 0
---@param label string
---@param flags integer|string[]? LINE_* bits or their names
---@return string? lines as delta_line
function Snapshot:before_after_lines(before, device_index, label, flags)
  local native, earlier = handle.native(self, Snapshot), handle.native(before, Snapshot, "before")
  return native:before_after_lines(earlier, check.u32(device_index, "device_index"), check.text(label, "label"),
    check.bits(flags, "flags", constants, "LINE_"))
end

return Snapshot
