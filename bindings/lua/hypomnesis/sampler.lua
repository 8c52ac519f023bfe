-- SPDX-License-Identifier: MIT OR Apache-2.0
-- A thread that takes snapshots on a schedule.
local check = require "hypomnesis.check"
local constants = require "hypomnesis.generated.constants"
local handle = require "hypomnesis.handle"
local library = require "hypomnesis.library"
local Context = require "hypomnesis.context"
local Snapshot = require "hypomnesis.snapshot"

---@class hypomnesis.Sampler
local Sampler = handle.class "hypomnesis.Sampler"

local DURATIONS = {"interval", "process_interval", "deadline"}
local NUMBERS = {"capacity", "device_index", "pid"}
local OPTIONS = {flags = true, collect = true}
for _, name in ipairs(DURATIONS) do OPTIONS[name] = true end
for _, name in ipairs(NUMBERS) do OPTIONS[name] = true end

---Makes a sampler, which is not started yet.
---@param options table? interval: seconds from one snapshot to the next, 0 is 1; process_interval: the same for those with
---processes; capacity: snapshots kept until they are pulled, 0 is 64; flags: SAMPLER_* bits or names
---("peaks_only"); collect, device_index, pid, deadline: as for a snapshot, but without collect: devices, pools and
---telemetry
---@return hypomnesis.Sampler? sampler nil, message, status and detail when it cannot be made
function Context:sampler(options)
  local native = handle.native(self, Context)
  options = check.options(options, OPTIONS)
  local flags = check.bits(options.flags, "flags", constants, "SAMPLER_")
  local collect = check.bits(options.collect, "collect", constants, "COLLECT_")
  local durations, numbers = {}, {}
  for i, name in ipairs(DURATIONS) do durations[i] = check.duration(options[name], name) end
  for i, name in ipairs(NUMBERS) do numbers[i] = check.u32_or_0(options[name], name) end
  local snapshot_flags = (options.device_index and constants.SNAPSHOT_ONE_DEVICE or 0)
    + (options.pid and constants.SNAPSHOT_ONE_PROCESS or 0)
  local sampler, message, status, detail = native:sampler(flags, durations[1], durations[2], numbers[1], snapshot_flags,
    collect, numbers[2], numbers[3], durations[3])
  if not sampler then return nil, message, status, detail end
  return setmetatable({native = sampler}, Sampler)
end

local function true_or_failure(_, message, status, detail)
  if status then return nil, message, status, detail end
  return true
end

---Starts it; this works once.
---@return boolean? done nil, message, status and detail when it was started before, or there is no thread
function Sampler:start()
  return true_or_failure(handle.native(self, Sampler):start())
end

---Stops it permanently. Waits for no driver.
---@return boolean? done nil, message, status and detail when it was never started
function Sampler:stop()
  return true_or_failure(handle.native(self, Sampler):stop())
end

---The oldest snapshot that was not pulled yet.
---@param timeout number? seconds to wait for one; nil is no limit
---@return hypomnesis.Snapshot|false|nil snapshot false: none came in time; nil alone: none will come, because it was
---stopped and all were pulled; nil, message, status and detail on failure, also when it is not started or keeps none
function Sampler:next(timeout)
  local native = handle.native(self, Sampler)
  local seconds = timeout == nil and library.UNLIMITED or check.duration(timeout, "timeout")
  local snapshot, message, status, detail = native:next(seconds)
  if snapshot then return Snapshot.wrap(snapshot) end
  if status == constants.E_EMPTY then return false end
  if status == constants.E_STATE and native:info().state == constants.SAMPLER_STATE_STOPPED then return nil end
  return nil, message, status, detail
end

---The same in a coroutine, for event loops: yields the handle until there is an answer. Whoever resumes it waits for the
---handle; resuming it with true ends this wait as if none had come in time.
---@return hypomnesis.Snapshot|false|nil snapshot as next
function Sampler:await()
  while true do
    local snapshot, message, status, detail = self:next(library.IMMEDIATE)
    if snapshot ~= false then return snapshot, message, status, detail end
    local descriptor
    descriptor, message, status, detail = self:handle()
    if not descriptor then return nil, message, status, detail end
    if coroutine.yield(descriptor) == true then return false end
  end
end

---`for snapshot in sampler:snapshots(timeout) do`: until it is stopped. A failure raises an error, also when it is not
---started.
---@param timeout number? seconds to wait for each: then snapshot is false in a turn of the loop without one; nil is no
---limit
function Sampler:snapshots(timeout)
  handle.native(self, Sampler)
  if timeout ~= nil then check.duration(timeout, "timeout") end
  return function()
    local snapshot, message, status = self:next(timeout)
    if status then error(message, 2) end
    return snapshot
  end
end

---The handle for an event loop: a descriptor to poll, on Windows a HANDLE, ready whenever next has an answer. The
---sampler owns and closes it.
---@return integer? handle nil, message, status and detail when the system cannot create one
function Sampler:handle()
  return handle.native(self, Sampler):handle()
end

---Status of the sampler.
---@return hypomnesis.SamplerInfo info
function Sampler:info()
  return handle.native(self, Sampler):info()
end

---The main pool in the latest snapshot. Asks no driver and never waits.
---@param device_index integer from 0
---@return hypomnesis.Pool? pool nil where there is none; nil, message, status and detail when the device is not known
function Sampler:latest_pool(device_index)
  return handle.native(self, Sampler):latest_pool(check.u32(device_index, "device_index"))
end

---Load, temperature and power in the latest snapshot.
---@param device_index integer from 0
---@return hypomnesis.Telemetry?
function Sampler:latest_telemetry(device_index)
  return handle.native(self, Sampler):latest_telemetry(check.u32(device_index, "device_index"))
end

---The most memory that a process has used on a device.
---@param device_index integer from 0
---@param pid integer
---@return hypomnesis.Peak? peak nil, message, status and detail: E_NO_PROCESS when it was not seen there
function Sampler:peak(device_index, pid)
  local native = handle.native(self, Sampler)
  return native:peak(check.u32(device_index, "device_index"), check.u32(pid, "pid"))
end

---The most memory that was used on a device.
---@param device_index integer from 0
---@return hypomnesis.Peak? peak nil where no snapshot has had its values
function Sampler:device_peak(device_index)
  return handle.native(self, Sampler):device_peak(check.u32(device_index, "device_index"))
end

return Sampler
