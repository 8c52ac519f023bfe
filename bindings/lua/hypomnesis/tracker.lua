-- SPDX-License-Identifier: MIT OR Apache-2.0
-- Bookkeeping of a budget, which allocates nothing itself.
local check = require "hypomnesis.check"
local constants = require "hypomnesis.generated.constants"
local handle = require "hypomnesis.handle"
local raw = require "hypomnesis.raw"
local Context = require "hypomnesis.context"

---@class hypomnesis.Tracker
local Tracker = handle.class "hypomnesis.Tracker"

local OPTIONS = {limit_bytes = true, tag_capacity = true}

-- The arguments of the raw layer for a limit, flags and bytes; nil is no limit.
local function limit_arguments(bytes, name, level)
  if bytes == nil then return 0, 0 end
  local limit = check.u64(bytes, name, (level or 1) + 1)
  return constants.TRACKER_LIMITED, limit
end

local function check_options(options)
  options = check.options(options, OPTIONS, 2)
  local flags, limit_bytes = limit_arguments(options.limit_bytes, "limit_bytes", 2)
  return flags, limit_bytes, check.u32_or_0(options.tag_capacity, "tag_capacity", 2)
end

---Makes a tracker of bookkeeping alone.
---@param options table? limit_bytes: nil is no limit, 0 allows nothing; tag_capacity: most tags, 0 is 64
---@return hypomnesis.Tracker? tracker nil, message, status and detail when it cannot be made
function Tracker.open(options)
  local tracker, message, status, detail = raw.open_tracker(check_options(options))
  if not tracker then return nil, message, status, detail end
  return setmetatable({native = tracker}, Tracker)
end

---Makes a tracker whose would_fit also asks a device. Touches no driver.
---@param device_index integer from 0
---@param options table? as for hypomnesis.tracker
---@return hypomnesis.Tracker? tracker nil, message, status and detail when it cannot be made
function Context:tracker(device_index, options)
  local native = handle.native(self, Context)
  device_index = check.u32(device_index, "device_index")
  local tracker, message, status, detail = native:tracker(device_index, check_options(options))
  if not tracker then return nil, message, status, detail end
  return setmetatable({native = tracker}, Tracker)
end

local function true_or_failure(_, message, status, detail)
  if status then return nil, message, status, detail end
  return true
end

---Takes bytes from the budget.
---@param bytes integer
---@param tag integer? also counted under it
---@return boolean? done nil, message, status and detail: E_LIMIT when they would exceed the limit
function Tracker:allocate(bytes, tag)
  local native = handle.native(self, Tracker)
  return true_or_failure(native:allocate(check.u64(bytes, "bytes"), check.u32_or_0(tag, "tag")))
end

---Gives bytes back.
---@param bytes integer
---@param tag integer? that they were allocated under
---@return boolean? done nil, message, status and detail: E_RANGE when more than is allocated
function Tracker:release(bytes, tag)
  local native = handle.native(self, Tracker)
  return true_or_failure(native:release(check.u64(bytes, "bytes"), check.u32_or_0(tag, "tag")))
end

---Whether bytes would fit now, within the limit and on a linked device.
---@param bytes integer
---@return boolean? fits nil, message, status and detail when the device does not answer
function Tracker:would_fit(bytes)
  local fits, message, status, detail = handle.native(self, Tracker):would_fit(check.u64(bytes, "bytes"))
  if not fits then return nil, message, status, detail end
  return fits == 1
end

---Sets another limit; nil removes it, 0 allows nothing.
---@param bytes integer?
---@return boolean? done nil, message, status and detail: E_LIMIT when more is allocated
function Tracker:set_limit(bytes)
  return true_or_failure(handle.native(self, Tracker):set_limit(limit_arguments(bytes, "bytes")))
end

---Forgets what is allocated, and the peaks; limit and tags stay.
---@return boolean? done
function Tracker:reset()
  return true_or_failure(handle.native(self, Tracker):reset())
end

---The number of the tag with that name, which is created if there is none.
---@param name string up to 63 bytes
---@return integer? tag nil, message, status and detail: E_LIMIT when there are tag_capacity tags already
function Tracker:tag(name)
  return handle.native(self, Tracker):tag(check.text(name, "name"))
end

---State of the budget.
---@return hypomnesis.TrackerInfo info
function Tracker:info()
  return handle.native(self, Tracker):info()
end

---What was allocated under a tag.
---@param tag integer from 1 up to tag_count
---@return hypomnesis.Tag? tag nil, message, status and detail: E_RANGE when there is no such tag
function Tracker:read_tag(tag)
  return handle.native(self, Tracker):read_tag(check.u32(tag, "tag"))
end

return Tracker
