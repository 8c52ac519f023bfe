-- SPDX-License-Identifier: MIT OR Apache-2.0
-- Reads a JSON text without escapes beyond \" \\ \/ \n \t \r into tables; null is json.null.
local json = {null = {}}

local value
local ESCAPES = {n = "\n", t = "\t", r = "\r"}

local function skip(text, at) return text:find("[^ \t\r\n]", at) or #text + 1 end

local function string_at(text, at)
  local last = at
  repeat
    last = assert(text:find('["\\]', last + 1), "a string does not end")
    if text:sub(last, last) == "\\" then last = last + 1 end
  until text:sub(last, last) == '"' and text:sub(last - 1, last - 1) ~= "\\" or last > #text
  local raw = text:sub(at + 1, last - 1)
  return raw:gsub("\\(.)", function(c) return ESCAPES[c] or c end), last + 1
end

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

function value(text, at)
  local mark = text:sub(at, at)
  if mark == '"' then return string_at(text, at) end
  if mark == "{" then
    local found = {}
    return found, members(text, at, "}", function(start)
      local key, colon = string_at(text, start)
      local member, after = value(text, skip(text, skip(text, colon) + 1))
      found[key] = member
      return after
    end)
  end
  if mark == "[" then
    local found = {}
    return found, members(text, at, "]", function(start)
      local member, after = value(text, start)
      found[#found + 1] = member
      return after
    end)
  end
  local first, last = text:find("^[%w.+-]+", at)
  local word = assert(first and text:sub(first, last), "no value")
  if word == "null" then return json.null, last + 1 end
  if word == "true" or word == "false" then return word == "true", last + 1 end
  return assert(tonumber(word), word), last + 1
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
