-- SPDX-License-Identifier: MIT OR Apache-2.0
-- Reads a JSON text whose strings have no \u into tables; null is json.null.
local json = {null = {}}

local value
local ESCAPES = {n = "\n", t = "\t", r = "\r"}

local function skip(text, at) return text:find("[^ \t\r\n]", at) or #text + 1 end

local function string_at(text, at)
  local parts = {}
  at = at + 1
  while true do
    local mark = assert(text:find('["\\]', at), "a string does not end")
    parts[#parts + 1] = text:sub(at, mark - 1)
    if text:sub(mark, mark) == '"' then return table.concat(parts), mark + 1 end
    local escaped = text:sub(mark + 1, mark + 1)
    parts[#parts + 1] = ESCAPES[escaped] or escaped
    at = mark + 2
  end
end

-- Calls `read` at each member up to `close`; it gives where the member ends.
local function members(text, at, close, read)
  at = skip(text, at + 1)
  if text:sub(at, at) == close then return at + 1 end
  while true do
    at = skip(text, read(skip(text, at)))
    local mark = text:sub(at, at)
    at = at + 1
    if mark == close then return at end
    assert(mark == ",", "a comma is missing")
  end
end

local function object_at(text, at)
  local found = {}
  return found, members(text, at, "}", function(start)
    local key, colon = string_at(text, start)
    local member, after = value(text, skip(text, skip(text, colon) + 1))
    found[key] = member
    return after
  end)
end

local function array_at(text, at)
  local found = {}
  return found, members(text, at, "]", function(start)
    local member, after = value(text, start)
    found[#found + 1] = member
    return after
  end)
end

local OTHERS = {null = json.null, ["true"] = true, ["false"] = false}

function value(text, at)
  local mark = text:sub(at, at)
  if mark == '"' then return string_at(text, at) end
  if mark == "{" then return object_at(text, at) end
  if mark == "[" then return array_at(text, at) end
  local first, last = text:find("^[%w.+-]+", at)
  local word = first and text:sub(first, last)
  local found = OTHERS[word]
  if found == nil then found = assert(tonumber(word), "no value") end
  return found, last + 1
end

function json.decode(text)
  local found = value(text, skip(text, 1))
  return found
end

function json.read(path)
  local file = assert(io.open(path, "rb"))
  local text = file:read("*a")
  file:close()
  return json.decode(text)
end

return json
