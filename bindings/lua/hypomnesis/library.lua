-- SPDX-License-Identifier: MIT OR Apache-2.0
-- The library itself: its version, features and names.
local check = require "hypomnesis.check"
local constants = require "hypomnesis.generated.constants"
local names = require "hypomnesis.generated.names"
local raw = require "hypomnesis.raw"

local library = {}

---The library's version: major * 1000000 + minor * 1000 + patch.
---@return integer
library.version_number = raw.version_number

---The library's version as text: "0.1.0".
---@return string
library.version_string = raw.version_string

---Durations, which are in seconds, with a meaning of their own: no limit, and, as an option, no time at all.
library.UNLIMITED, library.IMMEDIATE = math.huge, 1e-9

---The time of the clock behind every monotonic, in seconds.
---@return number
function library.monotonic()
  return tonumber(raw.monotonic_ns()) / 1e9
end

---Whether a backend is compiled in.
---@param backend integer|string BACKEND_* or its name: "nvml"
---@return boolean
function library.backend_available(backend)
  return raw.backend_available(check.named(backend, "backend", constants, "BACKEND_")) == 1
end

---Whether the library has a feature.
---@param feature integer|string FEATURE_* or its name: "subprocess", "simulation"
---@return boolean
function library.feature(feature)
  return raw.feature(check.named(feature, "feature", constants, "FEATURE_")) == 1
end

---A status' name: "HMN_E_RANGE"; "HMN_E_?" for a number that the library does not know.
---@param status integer
---@return string
function library.status_name(status)
  return raw.status_name(check.i32(status, "status"))
end

---A backend's name: "nvml"; "none" for 0, "unknown" for a number that the library does not know.
---@param backend integer
---@return string
function library.backend_name(backend)
  return raw.backend_name(check.u32(backend, "backend"))
end

---The name of a reason: "not_permitted"; "unknown" for 0 and for a number that the library does not know.
---@param reason integer
---@return string
function library.reason_name(reason)
  return raw.reason_name(check.u32(reason, "reason"))
end

---A metric's name: "temperature"; "unknown" for a number that the library does not know.
---@param metric integer
---@return string
function library.metric_name(metric)
  return raw.metric_name(check.u32(metric, "metric"))
end

---The unit of a metric: "W"; "" for a plain number.
---@param metric integer
---@return string
function library.metric_unit(metric)
  return raw.metric_unit(check.u32(metric, "metric"))
end

---The kind of a metric's number: NUMBER_KIND_*.
---@param metric integer
---@return integer
function library.metric_kind(metric)
  return raw.metric_kind(check.u32(metric, "metric"))
end

---The metrics that the library knows: METRIC_*.
---@return integer[]
function library.metrics()
  local all = {}
  local metric = raw.metric_next(0)
  while metric ~= 0 do
    all[#all + 1] = metric
    metric = raw.metric_next(metric)
  end
  return all
end

---The name of a metric's instance: "hotspot"; "" for the whole device, and for fans and links.
---@param metric integer
---@param instance integer
---@return string
function library.metric_instance_name(metric, instance)
  return raw.metric_instance_name(check.u32(metric, "metric"), check.u32(instance, "instance"))
end

---The name of a number: name("vendor", device.vendor) is "nvidia"; "unknown" for one that has none. Of a set of bits, the
---names of those that are set: "stale|partial".
---@param enumeration string beginning of its constants: "vendor", "device_form", "note", "throttle"
---@param number integer
---@return string
function library.name(enumeration, number)
  local list = names[check.text(enumeration, "enumeration")]
  if not list then error(("bad argument 'enumeration' (no enumeration is called '%s')"):format(enumeration), 2) end
  number = check.u32(number, "number")
  local found = {}
  for _, entry in ipairs(list) do
    local is_it = entry[1] == number
    if list.is_set then is_it = number % (entry[1] * 2) >= entry[1] end
    if is_it then found[#found + 1] = entry[2] end
  end
  return found[1] and table.concat(found, "|") or list.is_set and "" or "unknown"
end

---Whether a bit is set.
---@param bits integer? a set of bits, such as notes
---@param bit integer one of them, such as NOTE_STALE
---@return boolean
function library.has(bits, bit)
  bits, bit = check.u32_or_0(bits, "bits"), check.bit(bit, "bit")
  return bits % (bit * 2) >= bit
end

---A whole number as digits. tostring writes 1e+15 in Lua 5.1 and 5.2, and ULL after a cdata of LuaJIT.
---@param number integer
---@return string
function library.digits(number)
  if type(number) == "cdata" then return (tostring(number):gsub("U?LL$", "")) end
  check.whole(number, "number")
  return math.type and math.type(number) == "integer" and ("%d"):format(number) or ("%.0f"):format(number)
end

return library
