-- SPDX-License-Identifier: MIT OR Apache-2.0
-- Assertions of the suites. A failure is an error at the caller's line.
local expect = {}

local function fail(label, ...) error(label:format(...), 3) end

function expect.equal(actual, expected, label)
  if actual ~= expected then fail("%s: %s, not %s", label or "value", tostring(actual), tostring(expected)) end
end

function expect.that(condition, label)
  if not condition then fail("%s", label) end
end

-- A failure at run time: nil, message, status, detail.
function expect.status(expected, ...)
  local value, message, status, detail = ...
  if select("#", ...) ~= 4 then fail("%d values, not those of a failure", select("#", ...)) end
  if value ~= nil or type(message) ~= "string" or message == "" then fail("no nil and message: %s", tostring(value)) end
  if status ~= expected then fail("status %s (%s), not %s", tostring(status), message, tostring(expected)) end
  if type(detail) ~= "table" or detail.status ~= expected or detail.message ~= message then
    fail("the detail differs")
  end
  return detail
end

-- Misuse: an error whose message has `words`.
function expect.misuse(words, call, ...)
  local ok, message = pcall(call, ...)
  if ok then fail("no error, where '%s' was expected", words) end
  if not tostring(message):find(words, 1, true) then fail("the error is '%s', without '%s'", tostring(message), words) end
  return message
end

return expect
