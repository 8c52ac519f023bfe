-- SPDX-License-Identifier: MIT OR Apache-2.0
-- Device memory that moves to the host.
local check = require "hypomnesis.check"
local constants = require "hypomnesis.generated.constants"
local handle = require "hypomnesis.handle"
local raw = require "hypomnesis.raw"
local Context = require "hypomnesis.context"
local Snapshot = require "hypomnesis.snapshot"

---@class hypomnesis.Spill
local Spill = handle.class "hypomnesis.Spill"

local OPTIONS = {episode_capacity = true, dedicated_threshold_bytes = true, growth_bytes = true, device_index = true}
local SAMPLE_FIELDS = {dedicated_bytes = true, shared_bytes = true, limit_bytes = true, evicted_bytes = true,
  monotonic = true}

local function u64_or_0(value, name)
  if value == nil then return 0 end
  local number = check.u64(value, name, 2)
  return number
end

local function wrap_native(native, message, status, detail)
  if not native then return nil, message, status, detail end
  return setmetatable({native = native}, Spill)
end

local function check_options(options)
  return check.u32_or_0(options.episode_capacity, "episode_capacity"),
    u64_or_0(options.dedicated_threshold_bytes, "dedicated_threshold_bytes"), u64_or_0(options.growth_bytes, "growth_bytes")
end

---Makes a detector that reads a device. No driver is asked yet.
---@param device_index integer from 0
---@param options table? episode_capacity: episodes kept, 0 is 1024; dedicated_threshold_bytes: 0 is 85 % of the device's
---memory; growth_bytes: over the first observation, 0 is 256 MiB
---@return hypomnesis.Spill? spill nil, message, status and detail when it cannot be made
function Context:spill(device_index, options)
  local native = handle.native(self, Context)
  options = check.options(options, OPTIONS)
  return wrap_native(native:spill(check.u32(device_index, "device_index"), check_options(options)))
end

---Makes a detector without a context, which takes values by feed, or snapshots.
---@param options table? as above, and device_index: that of the snapshots
---@return hypomnesis.Spill? spill nil, message, status and detail when it cannot be made
function Spill.open(options)
  options = check.options(options, OPTIONS)
  return wrap_native(raw.lone_spill(check.u32_or_0(options.device_index, "device_index"), check_options(options)))
end

local function true_or_failure(_, message, status, detail)
  if status then return nil, message, status, detail end
  return true
end

local function check_label(label) return label == nil and "" or check.text(label, "label", 2) end

---Reads the device.
---@param label string? name of the observation
---@return boolean? done nil, message, status and detail: E_UNSUPPORTED when the device does not report it
function Spill:observe(label)
  local native = handle.native(self, Spill)
  return true_or_failure(native:observe(check_label(label)))
end

---Reads the device from a snapshot with COLLECT_POOLS and COLLECT_PROCESSES.
---@param snapshot hypomnesis.Snapshot
---@param label string? name of the observation
---@return boolean? done nil, message, status and detail when it has no values
function Spill:observe_snapshot(snapshot, label)
  local native = handle.native(self, Spill)
  return true_or_failure(native:observe_snapshot(handle.native(snapshot, Snapshot, "snapshot"), check_label(label)))
end

---Takes values from another source.
---@param sample table dedicated_bytes, shared_bytes; limit_bytes, evicted_bytes where they are known; monotonic: their
---time, in seconds as hypomnesis.monotonic returns it, 0 is now
---@param label string? name of the observation
---@return boolean? done nil, message, status and detail
function Spill:feed(sample, label)
  local native = handle.native(self, Spill)
  sample = check.options(sample, SAMPLE_FIELDS)
  local flags = (sample.limit_bytes and constants.SPILL_SAMPLE_HAS_LIMIT or 0)
    + (sample.evicted_bytes and constants.SPILL_SAMPLE_HAS_EVICTED or 0)
  return true_or_failure(native:feed(flags, check.duration(sample.monotonic, "monotonic"),
    check.u64(sample.dedicated_bytes, "dedicated_bytes"), check.u64(sample.shared_bytes, "shared_bytes"),
    u64_or_0(sample.limit_bytes, "limit_bytes"), u64_or_0(sample.evicted_bytes, "evicted_bytes"), check_label(label)))
end

---What it has observed so far.
---@return hypomnesis.SpillInfo info
function Spill:info()
  return handle.native(self, Spill):info()
end

---An episode by its number, from 0.
---@param number integer
---@return hypomnesis.Episode? episode nil, message, status and detail: E_RANGE when it has not begun, or was dropped
function Spill:episode(number)
  local native = handle.native(self, Spill)
  return native:episode(check.u64(number, "number"))
end

return Spill
