-- SPDX-License-Identifier: MIT OR Apache-2.0
-- fork.lua MACHINES: in a forked child the parent's context returns an error, its snapshots can be read, a
-- new context works.
local machines = ...
local hypomnesis = require "hypomnesis"
local expect = require "expect"

local small = machines .. "/small.json"
local context = assert(hypomnesis.open {simulation = small, deadline = 60})
local snapshot = assert(context:snapshot())

local function check_child()
  expect.status(hypomnesis.E_FORKED, context:scan())
  expect.status(hypomnesis.E_FORKED, context:snapshot())
  expect.that(snapshot:json():find("Small GPU", 1, true), "a snapshot of the parent")
  context:close()
  snapshot:close()
  local new_context = assert(hypomnesis.open {simulation = small, deadline = 60})
  expect.equal((new_context:scan()), 1, "devices of a new context")
  new_context = nil
  collectgarbage()
end

local pid = host.fork()
if pid == 0 then
  local ok, message = pcall(check_child)
  if not ok then io.stderr:write(tostring(message), "\n") end
  host.leave(ok and 0 or 1)
end
expect.that(pid > 0, "fork")
expect.equal(host.wait(pid), 0, "status of the child")
expect.equal(context:scan(), 1, "the parent goes on")
