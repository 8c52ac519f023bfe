-- SPDX-License-Identifier: MIT OR Apache-2.0
-- Memory of processes and GPUs; load, temperature and power of GPUs.
--
--     local hypomnesis = require "hypomnesis"
--     local context = assert(hypomnesis.open())
--     local pool, message, status = context:pool(0)
--     print(pool and pool.free_bytes or message)
--
-- Constants have the names of the C interface without HMN_: hypomnesis.E_TIMEOUT, hypomnesis.POOL_VRAM.
local constants = require "hypomnesis.generated.constants"
local format = require "hypomnesis.format"
local library = require "hypomnesis.library"
local estimate = require "hypomnesis.estimate"
local Context = require "hypomnesis.context"
local Tracker = require "hypomnesis.tracker"
for _, noun in ipairs {"memory", "device", "pool", "telemetry", "metric", "usage", "snapshot", "report", "sampler"} do
  require("hypomnesis." .. noun)
end

---@class hypomnesis
local hypomnesis = {
  open = Context.open,
  tracker = Tracker.open,
  format_bytes = format.format_bytes,
  spill = require "hypomnesis.spill".open,
}
for name, value in pairs(constants) do hypomnesis[name] = value end
for name, value in pairs(library) do hypomnesis[name] = value end
for name, value in pairs(estimate) do hypomnesis[name] = value end
return hypomnesis
