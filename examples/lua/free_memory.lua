-- SPDX-License-Identifier: MIT OR Apache-2.0
-- `free_memory.lua SIZE`: the GPU that has SIZE free, in bytes or for instance 8GiB. HMN_SIMULATION may name
-- a machine file.
local hypomnesis = require "hypomnesis"

local UNITS = {[""] = 1, B = 1, KiB = 2 ^ 10, MiB = 2 ^ 20, GiB = 2 ^ 30, TiB = 2 ^ 40}

local number, unit = (arg[1] or ""):match("^([%d.]+)%s*(%a*)$")
local size = tonumber(number) and UNITS[unit] and math.floor(tonumber(number) * UNITS[unit])
if not size then
  io.stderr:write("usage: free_memory.lua SIZE, bytes or for instance 8GiB\n")
  os.exit(2)
end

local context = assert(hypomnesis.open {environment = true})
local snapshot = assert(context:snapshot {collect = {"devices", "pools"}})
context:close()

local best, most
for device in snapshot:devices() do
  local pool = device.pools[1]
  local free = pool and pool.usable_bytes
  local verdict = "free memory is not known"
  if free then
    verdict = ("%s free, %s"):format(hypomnesis.format_bytes(free), free >= size and "fits" or "does not fit")
    if free >= size and (not most or free > most) then best, most = device, free end
  end
  print(("GPU %d [%s]: %s"):format(device.index, device.name or "no name", verdict))
end
snapshot:close()

if not best then
  print(("no GPU has %s free"):format(hypomnesis.format_bytes(size)))
  os.exit(1)
end
print(("GPU %d has most"):format(best.index))
