-- SPDX-License-Identifier: MIT OR Apache-2.0
-- Checks of the arguments of public functions: a wrong one raises an error at the caller's line. Only whole numbers of
-- another form (2.0, a cdata of LuaJIT) are converted.
local check = {}

local MAX_EXACT_DOUBLE = 2 ^ 53
local MAX_U32 = 4294967295

-- Lua 5.3 and newer have integers, LuaJIT has cdata of 64 bits; the others have only doubles.
local to_integer = math.tointeger
local is_wide = function() return false end
if rawget(_G, "jit") then
  local has_ffi, ffi = pcall(require, "ffi")
  if has_ffi then
    local signed, unsigned = ffi.typeof("int64_t"), ffi.typeof("uint64_t")
    is_wide = function(value) return ffi.istype(signed, value) and value >= 0 or ffi.istype(unsigned, value) end
  end
end

-- Level 1, the default of all checks: the caller of the function that calls the check.
local function refuse(value, name, expected, level)
  local actual = type(value) == "number" and ("%.17g"):format(value) or type(value)
  error(("bad argument '%s' (%s expected, got %s)"):format(name, expected, actual), (level or 1) + 3)
end

-- The whole number from 0 to `max`, or nil.
local function to_whole(value, max)
  if type(value) == "number" then
    if to_integer and math.type(value) == "integer" then return value >= 0 and value <= max and value or nil end
    if value >= 0 and value <= max and value <= MAX_EXACT_DOUBLE and value % 1 == 0 then
      return to_integer and to_integer(value) or value
    end
  elseif is_wide(value) and value <= max then
    return value
  end
end

function check.u32(value, name, level)
  local number = to_whole(value, MAX_U32)
  if not number then refuse(value, name, "whole number from 0 to 4294967295", level) end
  return tonumber(number)
end

function check.u32_or_0(value, name, level)
  if value == nil then return 0 end
  local number = check.u32(value, name, (level or 1) + 1)
  return number
end

-- A whole number from 0 that this Lua holds exactly: up to 2^53 in 5.1 and 5.2, up to 2^63-1 from 5.3 on, up to
-- 2^64-1 as a cdata of LuaJIT.
function check.u64(value, name, level)
  local number = type(value) == "number" and to_whole(value, math.maxinteger or MAX_EXACT_DOUBLE)
  if not number and is_wide(value) then number = value end
  if not number then refuse(value, name, "whole number from 0 that this Lua holds exactly", level) end
  return number
end

-- A duration in seconds, from 0; nil is 0.
function check.duration(value, name, level)
  if value == nil then return 0 end
  if type(value) ~= "number" or not (value >= 0) then refuse(value, name, "seconds from 0", level) end
  return value
end

-- nil or a boolean; nil where the option `flags` is set, which has it as a bit.
function check.flag(value, name, level, flags)
  if value ~= nil and type(value) ~= "boolean" then refuse(value, name, "boolean", level) end
  if value ~= nil and flags ~= nil then refuse(value, name, "nothing beside 'flags'", level) end
  return value
end

function check.i32(value, name, level)
  local is_valid = type(value) == "number" and value % 1 == 0 and value >= -2147483648 and value <= 2147483647
  if not is_valid then refuse(value, name, "whole number from -2147483648 to 2147483647", level) end
  return value
end

function check.whole(value, name, level)
  if type(value) ~= "number" or value % 1 ~= 0 then refuse(value, name, "whole number", level) end
  return value
end

function check.text(value, name, level)
  if type(value) ~= "string" then refuse(value, name, "string", level) end
  if value:find("\0", 1, true) then refuse(value, name, "string without zero bytes", level) end
  return value
end

-- A number with one bit set.
function check.bit(value, name, level)
  local bit = check.u32(value, name, (level or 1) + 1)
  local rest = bit
  while rest > 1 do rest = rest / 2 end
  if rest ~= 1 then refuse(value, name, "one bit", level) end
  return bit
end

-- A list and its length: every key is a position, and there are no holes.
function check.list(value, name, level)
  if type(value) ~= "table" then refuse(value, name, "table", level) end
  local count = 0
  for _ in pairs(value) do count = count + 1 end
  for i = 1, count do
    if rawget(value, i) == nil then refuse(value, name, "list without holes and names", level) end
  end
  return value, count
end

-- Constants with such a name do not belong to their prefix: POOL_HAS_FREE is not a pool, SAMPLER_STATE_IDLE not a flag.
local FOREIGN = {"HAS_", "SIZE_V%d", "^STATE_"}

local function is_foreign(word)
  for _, pattern in ipairs(FOREIGN) do
    if word:find(pattern) then return true end
  end
  return false
end

-- A set of 64 presence bits. The highest one makes an integer of Lua 5.3 negative.
local function check_presence(value, name, level)
  local is_integer = type(value) == "number" and to_integer and math.type(value) == "integer"
  local is_whole = type(value) == "number" and value >= 0 and value < 2 ^ 64 and value % 1 == 0
  if not (is_integer or is_whole or is_wide(value)) then refuse(value, name, "set of presence bits", level) end
  return value
end

-- A number, or the name of a constant: `prefix` .. the name in capitals.
function check.named(value, name, constants, prefix, level)
  if type(value) ~= "string" then
    local number = (prefix:find "_HAS_$" and check_presence or check.u32)(value, name, (level or 1) + 1)
    return number
  end
  local word = value:upper()
  local constant = not is_foreign(word) and constants[prefix .. word]
  if not constant then
    error(("bad argument '%s' (no %s* is called '%s')"):format(name, prefix, value), (level or 1) + 2)
  end
  return constant
end

-- Bits: nil, a number, or a list of names of constants.
function check.bits(value, name, constants, prefix, level)
  if value == nil then return 0 end
  if type(value) ~= "table" then
    local set = (prefix:find "_HAS_$" and check_presence or check.u32)(value, name, (level or 1) + 1)
    return set
  end
  local seen, sum = {}, 0
  for _, word in ipairs(check.list(value, name, (level or 1) + 1)) do
    if type(word) ~= "string" then refuse(word, name, "list of names", level) end
    local bit = check.named(word, name, constants, prefix, (level or 1) + 1)
    if not seen[bit] then
      if sum + bit - sum ~= bit or sum + bit - bit ~= sum then
        refuse(word, name, "set that a number of this Lua can hold", level)
      end
      sum = sum + bit
    end
    seen[bit] = true
  end
  return sum
end

-- A table of options without any that is not in `allowed`.
function check.options(value, allowed, level)
  if value == nil then return {} end
  if type(value) ~= "table" then refuse(value, "options", "table", level) end
  for key in pairs(value) do
    if not allowed[key] then
      error(("bad argument 'options' (no option is called '%s')"):format(tostring(key)), (level or 1) + 2)
    end
  end
  return value
end

return check
