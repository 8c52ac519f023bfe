-- SPDX-License-Identifier: MIT OR Apache-2.0
-- The layer below the package: the FFI under LuaJIT, else the C module hypomnesis.core. Both have the same functions
-- and handles; records are tables that belong to the caller.
local function has_ffi()
  return rawget(_G, "jit") ~= nil and pcall(require, "ffi")
end

local function load_core()
  local success, module = pcall(require, "hypomnesis.core")
  if success then return module end
  error(("hypomnesis: cannot load the C module: %s\n"
    .. "  it must be built for %s and lie in LUA_CPATH, and libhypomnesis must lie where the system's loader looks,\n"
    .. "  or in a folder that LD_LIBRARY_PATH names"):format(module, _VERSION), 0)
end

local source = has_ffi() and require "hypomnesis.ffi" or load_core()
local raw = {}
for _, name in ipairs {"version_number", "version_string", "monotonic_ns", "feature", "backend_available", "status_name",
  "backend_name", "reason_name", "metric_name",
  "metric_unit", "metric_instance_name", "metric_kind", "metric_next", "size_of", "format_bytes", "lone_spill", "open", "close", "copy",
  "open_tracker", "dtype_bits", "dtype_name", "dtype_from_name", "estimate_tensor", "estimate_packed", "estimate_attention",
  "estimate_cache", "estimate_overhead", "estimate_sum"} do
  raw[name] = source[name]
end
return raw
