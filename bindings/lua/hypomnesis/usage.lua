-- SPDX-License-Identifier: MIT OR Apache-2.0
-- One process on one device.
local check = require "hypomnesis.check"
local handle = require "hypomnesis.handle"
local Context = require "hypomnesis.context"

---Memory of one process on one device: figures of that process only. What is not known is nil.
---@class hypomnesis.Usage
---@field notes integer NOTE_*; NOTE_FOREIGN_PID: pid is not one of this process' proc tree
---@field backend integer BACKEND_*
---@field pid integer
---@field device_index integer
---@field kinds integer? USAGE_COMPUTE, USAGE_GRAPHICS, USAGE_MEDIA: what it runs there
---@field accounting integer ACCOUNT_*: what used_bytes counts
---@field name_state integer NAME_*
---@field uid integer? effective user id
---@field gpu_instance integer? MIG
---@field compute_instance integer? MIG
---@field start_unix_ns integer? with pid: tells a reused pid from the old one
---@field used_bytes integer? the headline, by accounting
---@field resident_bytes integer?
---@field committed_bytes integer?
---@field allocated_bytes integer?
---@field shared_bytes integer? the part of used_bytes that other processes hold as well
---@field purgeable_bytes integer?
---@field evicted_bytes integer? wanted in device memory, and not there now
---@field host_pool_bytes integer? host RAM mapped for the device
---@field host_resident_bytes integer? resident set of the process: the same in each row of this pid
---@field budget_bytes integer?
---@field busy_ns integer? ever growing: take differences
---@field busy_percent number?
---@field window_ns integer? what busy_percent averages over
---@field age_ns integer since the driver was asked
---@field peak_used_bytes integer? the most that it has held, as the driver keeps it (NVIDIA's accounting mode)
---@field name string? in snapshots: the process' command name
---@field command string? in snapshots: its command line, a blank between arguments
---@field container string? in snapshots: "<runtime>:<id>" of its container

---What a process uses on a device.
---@param device_index integer from 0
---@param pid integer as the driver counts it
---@return hypomnesis.Usage? usage nil, message, status and detail when it cannot be read
function Context:usage(device_index, pid)
  return handle.native(self, Context):usage(check.u32(device_index, "device_index"), check.u32(pid, "pid"))
end

---What this process uses on a device.
---@param device_index integer from 0
---@return hypomnesis.Usage? usage nil, message, status and detail when it cannot be read
function Context:own_usage(device_index)
  return handle.native(self, Context):own_usage(check.u32(device_index, "device_index"))
end

return Context
