-- SPDX-License-Identifier: MIT OR Apache-2.0
-- What a context and a snapshot have in common: something native that ends once.
local raw = require "hypomnesis.raw"

local handle = {}

local function noun_of(class) return class.__name:match("%w+$"):lower() end

-- The native handle of `object`, which is called `name`; the error names the caller of the public function.
function handle.native(object, class, name)
  if getmetatable(object) ~= class then
    error(("bad argument '%s' (%s expected, got %s)"):format(name or "self", noun_of(class), type(object)), 3)
  end
  local native = object.native
  if not native then error(("the %s is closed"):format(noun_of(class)), 3) end
  return native
end

function handle.class(name)
  local class = {__name = name}
  class.__index = class

  --- Ends it now, and not when it is collected. Again is fine.
  function class:close()
    if getmetatable(self) ~= class then
      error(("bad argument 'self' (%s expected, got %s)"):format(noun_of(class), type(self)), 2)
    end
    local native = self.native
    self.native = nil
    if native then raw.close(native) end
  end

  -- The native handle is collected by itself in each Lua; this one ends it with the object that holds it.
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
