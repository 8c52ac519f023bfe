-- SPDX-License-Identifier: MIT OR Apache-2.0
-- The base of contexts, snapshots and the other classes: a native object that is closed once.
local raw = require "hypomnesis.raw"

local handle = {}

local function class_noun(class) return class.__name:match("%w+$"):lower() end

-- The native handle of `object`, the argument `name`; an error is raised at the caller of the public function.
function handle.native(object, class, name)
  if getmetatable(object) ~= class then
    error(("bad argument '%s' (%s expected, got %s)"):format(name or "self", class_noun(class), type(object)), 3)
  end
  local native = object.native
  if not native then error(("the %s is closed"):format(class_noun(class)), 3) end
  return native
end

function handle.class(name)
  local class = {__name = name}
  class.__index = class

  --- Closes it now instead of when it is collected. Closing it again is fine.
  function class:close()
    if getmetatable(self) ~= class then
      error(("bad argument 'self' (%s expected, got %s)"):format(class_noun(class), type(self)), 2)
    end
    local native = self.native
    self.native = nil
    if native then raw.close(native) end
  end

  -- Every Lua collects the native handle by itself; this closes it together with its object.
  function class.__gc(object)
    class.close(object)
  end

  -- `local context <close> = ...` of Lua 5.4.
  function class.__close(object)
    class.close(object)
  end

  function class:__tostring()
    return ("%s (%s)"):format(name, self.native and "open" or "closed")
  end

  return class
end

return handle
