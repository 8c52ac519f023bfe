-- SPDX-License-Identifier: MIT OR Apache-2.0
-- Assertions of the suites. A failure is an error that names the place.
local expect = {}

local function fail(what, ...) error(what:format(...), 3) end

function expect.equal(found, wanted, what)
  if found ~= wanted then fail("%s: %s, not %s", what or "value", tostring(found), tostring(wanted)) end
end

function expect.that(condition, what)
  if not condition then fail("%s", what) end
end

-- A failure at run time: nil, message, status, detail.
function expect.status(wanted, ...)
  local value, message, status, detail = ...
  if select("#", ...) ~= 4 then fail("%d values, not those of a failure", select("#", ...)) end
  if value ~= nil or type(message) ~= "string" or message == "" then fail("no nil and message: %s", tostring(value)) end
  if status ~= wanted then fail("status %s (%s), not %s", tostring(status), message, tostring(wanted)) end
  if type(detail) ~= "table" or detail.status ~= wanted or detail.message ~= message then fail("the detail differs") end
  return detail
end

-- Misuse: an error whose message has `words`.
function expect.misuse(words, call, ...)
  local good, message = pcall(call, ...)
  if good then fail("no error, where '%s' was expected", words) end
  if not tostring(message):find(words, 1, true) then fail("the error is '%s', without '%s'", tostring(message), words) end
  return message
end

return expect
