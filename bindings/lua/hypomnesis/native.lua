-- SPDX-License-Identifier: MIT OR Apache-2.0
-- LuaJIT: the native library, with the declarations of the header.
local ffi = require "ffi"
local header = require "hypomnesis.generated.cdef"

if not pcall(ffi.typeof, "hmn_context") then ffi.cdef(header.declarations) end
ffi.cdef [[
char *secure_getenv(const char *name);
int issetugid(void);
]]

local VARIABLE = "HYPOMNESIS_LIBRARY"
local IS_MACOS = ffi.os == "OSX"
local FOLDERS = IS_MACOS and "DYLD_LIBRARY_PATH" or "LD_LIBRARY_PATH"
-- As cmake/version.cmake derives it.
local SOVERSION = header.version:match("^0%.%d+") or header.version:match("^%d+")
local NAME = (IS_MACOS and "libhypomnesis.%s.dylib" or "libhypomnesis.so.%s"):format(SOVERSION)

-- A variable of the environment; nil in a program that runs with another user's rights.
local function read_variable(name)
  if IS_MACOS then return ffi.C.issetugid() == 0 and os.getenv(name) or nil end
  local exists, text = pcall(function() return ffi.C.secure_getenv(name) end)
  return exists and text ~= nil and ffi.string(text) or nil
end

local function refuse(problem, places)
  error(("hypomnesis: cannot load the native library: %s\n"
    .. "  looked for %s\n"
    .. "  set %s to the absolute path of the library, or install it where the system's loader looks")
    :format(problem, places, VARIABLE), 0)
end

local function load(name, places)
  local success, library = pcall(ffi.load, name)
  if not success then refuse(library, places) end
  if not pcall(function() return library.hmn_version_number() end) then
    refuse("it has no hmn_version_number", places)
  end
  return library
end

local path = read_variable(VARIABLE)
if not path or path == "" then
  return load(NAME, NAME .. " in " .. FOLDERS .. " and in the folders of the system's loader")
end
local places = ("%s, which %s names"):format(path, VARIABLE)
if path:sub(1, 1) ~= "/" then refuse("the path is not absolute", places) end
return load(path, places)
