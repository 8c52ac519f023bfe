-- SPDX-License-Identifier: MIT OR Apache-2.0
-- A snapshot of everything requested, copied into tables. Functions of the library for whole snapshots (text, JSON,
-- differences) need it open; the tables stay when it is closed.
local check = require "hypomnesis.check"
local constants = require "hypomnesis.generated.constants"
local handle = require "hypomnesis.handle"
local raw = require "hypomnesis.raw"
local Context = require "hypomnesis.context"

---Lists are arrays, and `for device in snapshot:devices() do` walks one.
---@class hypomnesis.Snapshot
---@field info hypomnesis.SnapshotInfo
---@field memory hypomnesis.ProcessMemory? this process' host memory
---@field system hypomnesis.SystemMemory? the host's memory
---@field devices hypomnesis.Device[] by index
---@field pools hypomnesis.Pool[] of all devices, by device index
---@field processes hypomnesis.Usage[] by device index, then pid
---@field metrics hypomnesis.Metric[] by device index
---@field groups hypomnesis.Group[] what control groups hold, by device index
---@field diagnostics hypomnesis.Diagnostic[] why something is missing
local Snapshot = handle.class "hypomnesis.Snapshot"

local List = {
  __call = function(list)
    local i = 0
    return function()
      i = i + 1
      return list[i]
    end
  end,
}

local LISTS = {"devices", "pools", "processes", "metrics", "groups", "diagnostics"}
local OPTIONS = {
  flags = true, collect = true, device_index = true, pid = true, deadline = true, slow = true, quick = true,
  parts = true,
}

-- The tables of a native snapshot. Takes ownership of it.
function Snapshot.wrap(native)
  local copy, message, status, detail = raw.copy(native)
  if not copy then
    raw.close(native)
    return nil, message, status, detail
  end
  for _, name in ipairs(LISTS) do setmetatable(copy[name], List) end
  copy.native = native
  return setmetatable(copy, Snapshot)
end

---Takes a snapshot and copies it. A value that could not be read is nil and has a diagnostic.
---@param options table? collect: names ("memory", "system", "devices", "pools", "self", "processes", "telemetry",
---"metrics", "groups") or COLLECT_* bits; device_index: only that device; pid: only the usage of that process;
---deadline: seconds; slow: also metrics that take more than a few milliseconds; quick: without values that take the driver
---milliseconds; parts: also the parts of pools; flags: SNAPSHOT_* bits, instead of those that device_index and pid imply
---@return hypomnesis.Snapshot? snapshot nil, message, status and detail when it cannot be taken
function Context:snapshot(options)
  local native = handle.native(self, Context)
  options = check.options(options, OPTIONS)
  local collect = check.bits(options.collect, "collect", constants, "COLLECT_")
  local device_index = check.u32_or_0(options.device_index, "device_index")
  local pid = check.u32_or_0(options.pid, "pid")
  local deadline = check.duration(options.deadline, "deadline")
  local flags = (options.device_index and constants.SNAPSHOT_ONE_DEVICE or 0)
    + (options.pid and constants.SNAPSHOT_ONE_PROCESS or 0)
    + (check.flag(options.slow, "slow", 1, options.flags) and constants.SNAPSHOT_SLOW or 0)
    + (check.flag(options.quick, "quick", 1, options.flags) and constants.SNAPSHOT_QUICK or 0)
    + (check.flag(options.parts, "parts", 1, options.flags) and constants.SNAPSHOT_PARTS or 0)
  if options.flags ~= nil then flags = check.u32(options.flags, "flags") end

  local snapshot, message, status, detail = native:take(flags, collect, device_index, pid, deadline)
  if not snapshot then return nil, message, status, detail end
  return Snapshot.wrap(snapshot)
end

-- A list of a snapshot that collects only what the list needs.
local function take_list(context, name, collect)
  local snapshot, message, status, detail = context:snapshot {collect = collect}
  if not snapshot then return nil, message, status, detail end
  snapshot:close()
  return snapshot[name]
end

---The devices with their pools and telemetry, as a snapshot has them.
---@return hypomnesis.Device[]? devices nil, message, status and detail when no snapshot can be taken
function Context:devices()
  return take_list(self, "devices", {"devices", "pools", "telemetry"})
end

---What each process uses of each device, as a snapshot has it.
---@return hypomnesis.Usage[]? processes nil, message, status and detail when no snapshot can be taken
function Context:processes()
  return take_list(self, "processes", {"processes"})
end

---The device of an index, or nil.
---@param device_index integer from 0
---@return hypomnesis.Device?
function Snapshot:device(device_index)
  check.u32(device_index, "device_index")
  for _, device in ipairs(self.devices) do
    if device.index == device_index then return device end
  end
end

return Snapshot
