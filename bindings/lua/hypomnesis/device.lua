-- SPDX-License-Identifier: MIT OR Apache-2.0
-- Who the devices are.
local check = require "hypomnesis.check"
local handle = require "hypomnesis.handle"
local Context = require "hypomnesis.context"

---Who a device is. What is not known is nil.
---@class hypomnesis.Device
---@field notes integer NOTE_*
---@field backend integer BACKEND_*
---@field index integer the context's number, from 0: never reused, never renumbered
---@field kind integer KIND_*
---@field state integer STATE_*
---@field vendor integer VENDOR_*: a PCI vendor id
---@field memory_kind integer MEMORY_KIND_*
---@field parent_index integer? a partition's GPU
---@field driver_index integer? what the vendor's own tools call it
---@field pci_device integer? PCI device id
---@field pci_subsystem integer? subsystem device id * 65536 + subsystem vendor id
---@field render_minor integer? N of /dev/dri/renderDN
---@field numa_node integer? the host's NUMA node that is the device's own memory
---@field gpu_instance integer? MIG
---@field compute_instance integer? MIG
---@field cuda_version integer? of the driver: 1000 * major + 10 * minor
---@field os_id integer? Windows: adapter LUID; macOS: registry id
---@field name string?
---@field uuid string? as the vendor writes it
---@field pci_bus_id string? "0000:01:00.0"
---@field driver_version string? as the vendor writes it
---@field pools hypomnesis.Pool[]? in snapshots: its memory, the main pool first
---@field telemetry hypomnesis.Telemetry? in snapshots that collect it
---@field metrics hypomnesis.Metric[]? in snapshots: each single number that the sources tell
---@field own_usage hypomnesis.Usage? in snapshots that collect it: what this process uses on it

---How many device indexes this context has given. Looks for devices first; never shrinks.
---@return integer? count nil, message, status and detail when no driver answered
function Context:device_count()
  return handle.native(self, Context):device_count()
end

---The index of the device that a key names.
---@param key string "uuid:GPU-…", "pci:0000:01:00.0", "luid:<hex>", "render:<minor>", "driver:<index>"
---@return integer? index nil, message, status and detail when nothing has the key
function Context:find_device(key)
  return handle.native(self, Context):find_device(check.text(key, "key"))
end

---Who a device is. One that is lost or asleep is no failure: state tells.
---@param device_index integer from 0
---@return hypomnesis.Device? device nil, message, status and detail when the index was never given
function Context:device(device_index)
  return handle.native(self, Context):device(check.u32(device_index, "device_index"))
end

return Context
