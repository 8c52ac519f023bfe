-- SPDX-License-Identifier: MIT OR Apache-2.0
-- Parses JSON text without \u escapes into tables; null is json.null.
local json = {null = {}}

local parse_value
local ESCAPES = {n = "\n", t = "\t", r = "\r"}

local function skip(text, position) return text:find("[^ \t\r\n]", position) or #text + 1 end

local function parse_string(text, position)
  local parts = {}
  position = position + 1
  while true do
    local mark = assert(text:find('["\\]', position), "a string does not end")
    parts[#parts + 1] = text:sub(position, mark - 1)
    if text:sub(mark, mark) == '"' then return table.concat(parts), mark + 1 end
    local escape = text:sub(mark + 1, mark + 1)
    parts[#parts + 1] = ESCAPES[escape] or escape
    position = mark + 2
  end
end

-- Calls `parse_member` at each member up to `close`; it returns where the member ends.
local function parse_members(text, position, close, parse_member)
  position = skip(text, position + 1)
  if text:sub(position, position) == close then return position + 1 end
  while true do
    position = skip(text, parse_member(skip(text, position)))
    local mark = text:sub(position, position)
    position = position + 1
    if mark == close then return position end
    assert(mark == ",", "a comma is missing")
  end
end

local function parse_object(text, position)
  local object = {}
  return object, parse_members(text, position, "}", function(start)
    local key, colon = parse_string(text, start)
    local member, next_position = parse_value(text, skip(text, skip(text, colon) + 1))
    object[key] = member
    return next_position
  end)
end

local function parse_array(text, position)
  local array = {}
  return array, parse_members(text, position, "]", function(start)
    local member, next_position = parse_value(text, start)
    array[#array + 1] = member
    return next_position
  end)
end

local LITERALS = {null = json.null, ["true"] = true, ["false"] = false}

function parse_value(text, position)
  local char = text:sub(position, position)
  if char == '"' then return parse_string(text, position) end
  if char == "{" then return parse_object(text, position) end
  if char == "[" then return parse_array(text, position) end
  local first, last = text:find("^[%w.+-]+", position)
  local word = first and text:sub(first, last)
  local value = LITERALS[word]
  if value == nil then value = assert(tonumber(word), "no value") end
  return value, last + 1
end

function json.decode(text)
  local value = parse_value(text, skip(text, 1))
  return value
end

function json.read(path)
  local file = assert(io.open(path, "rb"))
  local text = file:read("*a")
  file:close()
  return json.decode(text)
end

return json
