-- SPDX-License-Identifier: MIT OR Apache-2.0
-- Host memory: of a process, of the host.
local check = require "hypomnesis.check"
local constants = require "hypomnesis.generated.constants"
local handle = require "hypomnesis.handle"
local Context = require "hypomnesis.context"

---Host RAM of one process. What is not known is nil.
---@class hypomnesis.ProcessMemory
---@field notes integer NOTE_*
---@field backend integer BACKEND_*
---@field pid integer
---@field resident_bytes integer? anonymous, file and shared pages that are in RAM
---@field peak_resident_bytes integer? the highest resident_bytes so far
---@field virtual_bytes integer? address space
---@field swap_bytes integer? anonymous pages swapped out
---@field proportional_bytes integer? PSS: shared pages divided by their users
---@field private_bytes integer? USS: pages that no other process maps
---@field committed_bytes integer? Windows only
---@field footprint_bytes integer? macOS only
---@field peak_footprint_bytes integer? the highest footprint_bytes so far
---@field peak_committed_bytes integer? the highest committed_bytes so far

---The host's RAM, and this container's share of it. What is not known is nil.
---@class hypomnesis.SystemMemory
---@field notes integer NOTE_*
---@field backend integer BACKEND_*
---@field total_bytes integer? RAM that the kernel manages
---@field available_bytes integer? what could be used without swapping
---@field swap_total_bytes integer?
---@field swap_free_bytes integer?
---@field limit_bytes integer? the tightest limit of this process' control groups, or job objects; nil when none applies
---@field limit_used_bytes integer? what is charged to the group or job with that limit
---@field commit_limit_bytes integer?
---@field committed_bytes integer?
---@field pressure integer? PRESSURE_*: macOS and Windows only
---@field stall_percent number? of the last 10 s: a task waited for memory; Linux only

---Host memory of a process.
---@param pid integer
---@param fields integer|string[]|nil what is wanted: PROCESS_MEMORY_HAS_* bits or names ("swap"); nil: what is cheap
---@return hypomnesis.ProcessMemory? memory nil, message, status and detail when it cannot be read
function Context:process_memory(pid, fields)
  local native = handle.native(self, Context)
  return native:process_memory(check.u32(pid, "pid"), check.bits(fields, "fields", constants, "PROCESS_MEMORY_HAS_"))
end

---Host memory of this process.
---@param fields integer|string[]|nil as for process_memory
---@return hypomnesis.ProcessMemory? memory nil, message, status and detail when it cannot be read
function Context:own_memory(fields)
  return handle.native(self, Context):own_memory(check.bits(fields, "fields", constants, "PROCESS_MEMORY_HAS_"))
end

---The host's memory and the limit on this process.
---@return hypomnesis.SystemMemory? memory nil, message, status and detail when it cannot be read
function Context:system_memory()
  return handle.native(self, Context):system_memory()
end

return Context
