-- SPDX-License-Identifier: MIT OR Apache-2.0
-- watch.lua PID: the memory of a process on the host and on each GPU, five times a second until it exits, and the GPUs
-- whose memory spilled to the host meanwhile. HMN_SIMULATION may name a machine file.
local hypomnesis = require "hypomnesis"

local pid = tonumber(arg[1])
if not pid then
  io.stderr:write("usage: watch.lua PID\n")
  os.exit(2)
end

local context = assert(hypomnesis.open {environment = true})
local spills, order = {}, {}

local function observe(snapshot, label)
  for _, device in ipairs(snapshot.devices) do
    if not spills[device.index] then
      spills[device.index] = assert(hypomnesis.spill {device_index = device.index})
      order[#order + 1] = device.index
    end
    spills[device.index]:observe_snapshot(snapshot, label) -- a detector without values reports that at the end
  end
end

-- One line. Reads all processes, because some drivers report evicted memory per process.
local function sample(number)
  local host, message, status = context:process_memory(pid)
  if not host then return message, status end
  local snapshot = assert(context:snapshot {collect = {"devices", "pools", "processes"}})
  local parts = {"host " .. (host.resident_bytes and hypomnesis.format_bytes(host.resident_bytes) or "not known")}
  for _, usage in ipairs(snapshot.processes) do
    if usage.pid == pid and usage.used_bytes then
      parts[#parts + 1] = ("GPU %d %s"):format(usage.device_index, hypomnesis.format_bytes(usage.used_bytes))
    end
  end
  print(table.concat(parts, ", "))
  io.stdout:flush()
  observe(snapshot, "sample " .. number)
end

local samples = 0
local message, status = sample(1)
while not message do
  samples = samples + 1
  os.execute "sleep 0.2"
  message, status = sample(samples + 1)
end
local exited = samples > 0 and status == hypomnesis.E_NO_PROCESS
if not exited then print(message) end
for _, index in ipairs(order) do
  local info = spills[index]:info()
  if info.first_label then
    print(("GPU %d: spilled, first in %s"):format(index, info.first_label))
  else
    print(("GPU %d: %s"):format(index, info.observation_count > 0 and "did not spill" or "not known whether it spilled"))
  end
end
context:close()
os.exit(exited and 0 or 1)
