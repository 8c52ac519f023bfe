-- SPDX-License-Identifier: MIT OR Apache-2.0
-- The memory that a model will need, by arithmetic alone, without drivers or a context. A dtype is DTYPE_* or its name in
-- the C interface ("bf16"); a result that does not fit is nil, message, E_OVERFLOW and detail.
local check = require "hypomnesis.check"
local constants = require "hypomnesis.generated.constants"
local raw = require "hypomnesis.raw"

local estimate = {}

local function check_dtype(value) return value == nil and 0 or check.named(value, "dtype", constants, "DTYPE_", 2) end

local function u64_or_0(value, name) return value == nil and 0 or check.u64(value, name, 2) end

local function check_list(value, name)
  local _, count = check.list(value, name, 2)
  local list = {}
  for i = 1, count do list[i] = check.u64(value[i], name, 2) end
  return list
end

local PACKING = {dtype = true, element_bits = true, group_size = true, group_bits = true}

local function check_packing(options)
  return check_dtype(options.dtype), check.u32_or_0(options.element_bits, "element_bits", 2),
    check.u32_or_0(options.group_size, "group_size", 2), check.u32_or_0(options.group_bits, "group_bits", 2)
end

---How many bits a dtype has; 0 for a number that the library does not know.
---@param dtype integer|string DTYPE_* or its name
---@return integer
function estimate.dtype_bits(dtype)
  return raw.dtype_bits(check.named(dtype, "dtype", constants, "DTYPE_"))
end

---A dtype's name: "bf16"; "unknown" for a number that the library does not know.
---@param dtype integer
---@return string
function estimate.dtype_name(dtype)
  return raw.dtype_name(check.u32(dtype, "dtype"))
end

---The dtype by its name in candle, torch, safetensors, numpy or C. The number in a name counts bits: "f4" has 4.
---@param name string "F32", "torch.float32", "fp8"
---@return integer? dtype nil, message, status and detail: E_ARGUMENT when there is none
function estimate.dtype_from_name(name)
  return raw.dtype_from_name(check.text(name, "name"))
end

---Bytes of a tensor.
---@param shape integer[] without a dimension it is one element
---@param dtype integer|string
---@return integer? bytes
function estimate.estimate_tensor(shape, dtype)
  return raw.estimate_tensor(check_list(shape, "shape"), check_dtype(dtype))
end

---Bytes of a tensor whose elements lie in groups along the last dimension.
---@param shape integer[]
---@param packing table dtype, or element_bits for elements of 2, 3 or 5 bits; group_size: elements that share a scale;
---group_bits: bits of a group in addition to its elements
---@return integer? bytes
function estimate.estimate_packed(shape, packing)
  packing = check.options(packing, PACKING)
  return raw.estimate_packed(check_list(shape, "shape"), check_packing(packing))
end

local ATTENTION = {dtype = true, batch = true, heads = true, kv_heads = true, sequence = true, head_dim = true, fused = true}

---Bytes of queries, keys, values, scores and output of one layer.
---@param layer table dtype, batch (nil is 1), heads, kv_heads (nil is heads), sequence, head_dim; fused: scores are never
---stored as a whole
---@return integer? bytes
function estimate.estimate_attention(layer)
  layer = check.options(layer, ATTENTION)
  local flags = check.flag(layer.fused, "fused") and constants.ATTENTION_FUSED or 0
  return raw.estimate_attention(flags, check_dtype(layer.dtype), u64_or_0(layer.batch, "batch"),
    u64_or_0(layer.heads, "heads"), u64_or_0(layer.kv_heads, "kv_heads"), u64_or_0(layer.sequence, "sequence"),
    u64_or_0(layer.head_dim, "head_dim"))
end

local CACHE = {kind = true, layers = true, kv_heads = true, row_dim = true, window = true, sinks = true, latent_dim = true,
  state_elements = true}
for name in pairs(PACKING) do CACHE[name] = true end

---Bytes of the cache of equal layers. Keys and values are two caches, and a hybrid model has more:
---estimate_sum adds them.
---@param cache table kind: CACHE_* or its name ("full", "window", "latent", "state"); dtype, element_bits, group_size,
---group_bits: as for estimate_packed; layers; kv_heads, row_dim (elements of one head's key, or of its value);
---window, sinks; latent_dim; state_elements
---@param sequence integer tokens that are in it
---@param sequences integer? how many of that length, batch times users; nil is 1
---@return integer? bytes
function estimate.estimate_cache(cache, sequence, sequences)
  cache = check.options(cache, CACHE)
  local kind = cache.kind == nil and 0 or check.named(cache.kind, "kind", constants, "CACHE_")
  local dtype, element_bits, group_size, group_bits = check_packing(cache)
  return raw.estimate_cache(kind, dtype, element_bits, group_size, group_bits, u64_or_0(cache.layers, "layers"),
    u64_or_0(cache.kv_heads, "kv_heads"), u64_or_0(cache.row_dim, "row_dim"),
    u64_or_0(cache.window, "window"), u64_or_0(cache.sinks, "sinks"), u64_or_0(cache.latent_dim, "latent_dim"),
    u64_or_0(cache.state_elements, "state_elements"), check.u64(sequence, "sequence"),
    sequences == nil and 1 or check.u64(sequences, "sequences"))
end

---bytes * per_thousand / 1000, rounded up.
---@param bytes integer
---@param per_thousand integer? nil is 1100: a tenth more
---@return integer? bytes
function estimate.estimate_overhead(bytes, per_thousand)
  return raw.estimate_overhead(check.u64(bytes, "bytes"), check.u32_or_0(per_thousand, "per_thousand"))
end

---The sum of sizes.
---@param bytes integer[]
---@return integer? bytes
function estimate.estimate_sum(bytes)
  return raw.estimate_sum(check_list(bytes, "bytes"))
end

return estimate
