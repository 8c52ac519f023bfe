-- SPDX-License-Identifier: MIT OR Apache-2.0
-- Sources of measurement, opened once and kept.
local check = require "hypomnesis.check"
local constants = require "hypomnesis.generated.constants"
local handle = require "hypomnesis.handle"
local raw = require "hypomnesis.raw"

---@class hypomnesis.Context
local Context = handle.class "hypomnesis.Context"

-- option -> constant: flags are booleans, paths are absolute.
local FLAGS, PATHS = {}, {}
for name, value in pairs(constants) do
  local flag, path = name:match("^CONTEXT_(.+)$"), name:match("^PATH_(.+)$")
  if flag and not flag:find("SIZE_V", 1, true) then FLAGS[flag:lower()] = value end
  if path then PATHS[path:lower()] = value end
end
local DURATIONS = {"deadline", "stale", "open_deadline", "max_age", "idle_close", "rescan"}

local OPTIONS = {flags = true, backends_off = true, rescan_percent = true, device_classes = true}
for _, name in ipairs(DURATIONS) do OPTIONS[name] = true end
for name in pairs(FLAGS) do OPTIONS[name] = true end
for name in pairs(PATHS) do OPTIONS[name] = true end

local function read_flags(options)
  local flags, sum = options.flags, 0
  if flags ~= nil then sum = check.u32(flags, "flags", 2) end
  for name, bit in pairs(FLAGS) do
    if check.flag(options[name], name, 2, flags) then sum = sum + bit end
  end
  return sum
end

-- A set of backends or classes: bits, or a list of names.
local function read_set(options, option, prefix, check_bits)
  local set = options[option]
  if set == nil then return 0 end
  if type(set) ~= "table" then
    local bits = check_bits(set, option, 2)
    return bits
  end
  local sum, seen = 0, {}
  for _, name in ipairs(check.list(set, option, 2)) do
    local number = check.named(name, option, constants, prefix, 2)
    if not seen[number] then sum = sum + 2 ^ number end
    seen[number] = true
  end
  local bits = check_bits(sum, option, 2)
  return bits
end

local function set_paths(native, options)
  for name, path in pairs(PATHS) do
    if options[name] ~= nil then
      local _, message, status, detail = native:set_path(path, options[name])
      if status then return message, status, detail end
    end
  end
end

---Makes a context. Touches no driver.
---@param options table? deadline, stale, open_deadline, max_age, idle_close, rescan: seconds, 0 is the default;
---rescan_percent: of a core, 0 is the default; backends_off, device_classes: names or bits; no_subprocess,
---wake_devices, no_threads, environment, trace, record: booleans, or flags: CONTEXT_* bits instead of them; proc, sys,
---nvml, nvidia_smi, simulation, cgroup, dev: absolute paths
---@return hypomnesis.Context? context nil, message, status and detail when it cannot be made
function Context.open(options)
  options = check.options(options, OPTIONS)
  local durations = {}
  for i, name in ipairs(DURATIONS) do durations[i] = check.duration(options[name], name) end
  local rescan_percent = check.u32_or_0(options.rescan_percent, "rescan_percent")
  for name in pairs(PATHS) do
    if options[name] ~= nil then check.text(options[name], name) end
  end
  local flags = read_flags(options)
  local backends_off = read_set(options, "backends_off", "BACKEND_", check.u64)
  local classes = read_set(options, "device_classes", "DEVICE_CLASS_", check.u32)
  local native, message, status, detail = raw.open(flags, durations[1], durations[2], durations[3], durations[4],
    durations[5], durations[6], backends_off, rescan_percent, classes)
  if not native then return nil, message, status, detail end
  message, status, detail = set_paths(native, options)
  if message then
    raw.close(native)
    return nil, message, status, detail
  end
  return setmetatable({native = native}, Context)
end

---Reads from another place than the default. Must be called before the first reading.
---@param path integer|string PATH_* or its name: "proc", "simulation"
---@param value string? an absolute path; nil is the default
---@return boolean? done nil, message, status and detail when it is refused
function Context:set_path(path, value)
  local native = handle.native(self, Context)
  path = check.named(path, "path", constants, "PATH_")
  if value ~= nil then check.text(value, "value") end
  local _, message, status, detail = native:set_path(path, value)
  if status then return nil, message, status, detail end
  return true
end

---Status of a backend. A backend that is absent, off or failing is no failure of the call: see its state and status.
---@param backend integer|string BACKEND_* or its name: "nvml"
---@return hypomnesis.BackendInfo? info
function Context:backend(backend)
  return handle.native(self, Context):backend(check.named(backend, "backend", constants, "BACKEND_"))
end

---Ends all waiting until resume: a call that would have to wait for a driver or a snapshot returns E_CANCELLED.
---@return boolean? done nil, message, status and detail on failure
function Context:cancel()
  local _, message, status, detail = handle.native(self, Context):cancel()
  if status then return nil, message, status, detail end
  return true
end

---Lets calls wait again after cancel.
---@return boolean? done nil, message, status and detail on failure
function Context:resume()
  local _, message, status, detail = handle.native(self, Context):resume()
  if status then return nil, message, status, detail end
  return true
end

---Everything that the backends of a context with the option `record` have read so far, as a machine file.
---@return string? text nil, message, status and detail on failure
function Context:recording()
  return handle.native(self, Context):recording()
end

return Context
