-- SPDX-License-Identifier: MIT OR Apache-2.0
-- fit.lua DTYPE TOKENS: the GPUs on which Llama 3.1 8B fits, for instance fit.lua bf16 8192.
local hypomnesis = require "hypomnesis"

local PARAMETERS = 8030261248

local tokens = tonumber(arg[2])
if not tokens then
  io.stderr:write("usage: fit.lua DTYPE TOKENS, for instance fit.lua bf16 8192\n")
  os.exit(2)
end

-- Weights as stored, keys and values of each token in 16 bits, and 10 % overhead. The values are as large as the
-- keys.
local weights = assert(hypomnesis.estimate_tensor({PARAMETERS}, assert(hypomnesis.dtype_from_name(arg[1]))))
local keys = assert(hypomnesis.estimate_cache({dtype = "f16", layers = 32, kv_heads = 8, row_dim = 128}, tokens))
local cache = assert(hypomnesis.estimate_sum {keys, keys})
local total = assert(hypomnesis.estimate_overhead(assert(hypomnesis.estimate_sum {weights, cache})))
print("weights: " .. hypomnesis.format_bytes(weights))
print("cache: " .. hypomnesis.format_bytes(cache))
print("with a tenth more: " .. hypomnesis.format_bytes(total))

local context = assert(hypomnesis.open {environment = true})
local fits_anywhere = false
for index = 0, assert(context:scan()) - 1 do
  local fits = assert(context:tracker(index)):would_fit(total)
  print(("GPU %d: %s"):format(index, fits and "fits" or fits == nil and "not known" or "does not fit"))
  fits_anywhere = fits_anywhere or fits
end
context:close()
os.exit(fits_anywhere and 0 or 1)
