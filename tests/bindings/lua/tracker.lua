-- SPDX-License-Identifier: MIT OR Apache-2.0
-- Estimates and trackers: <path of a machine file with one GPU>.
local hypomnesis = require "hypomnesis"

local machine = arg[1]

local function expect_equal(actual, expected)
  if actual ~= expected then error(("%s instead of %s"):format(tostring(actual), tostring(expected)), 2) end
end

local function expect_failure(expected, value, message, status)
  expect_equal(value, nil)
  expect_equal(status, expected)
  expect_equal(type(message), "string")
end

do -- dtypes
  expect_equal(hypomnesis.dtype_from_name("torch.bfloat16"), hypomnesis.DTYPE_BF16)
  expect_equal(hypomnesis.dtype_name(hypomnesis.DTYPE_F8E4M3), "f8e4m3")
  expect_equal(hypomnesis.dtype_bits("i4"), 4)
  expect_failure(hypomnesis.E_ARGUMENT, hypomnesis.dtype_from_name("invalid"))
end

do -- estimates
  expect_equal(hypomnesis.estimate_tensor({10, 100}, "f32"), 4000)
  expect_equal(hypomnesis.estimate_tensor({}, hypomnesis.DTYPE_F32), 4)
  expect_equal(hypomnesis.estimate_packed({2, 32}, {dtype = "i4", group_size = 32, group_bits = 16}), 36)
  expect_equal(hypomnesis.estimate_attention {dtype = "f32", heads = 1, sequence = 4, head_dim = 2}, 192)
  expect_equal(hypomnesis.estimate_attention {dtype = "f32", heads = 1, sequence = 4, head_dim = 2, fused = true}, 128)
  expect_equal(hypomnesis.estimate_cache({dtype = "f16", layers = 80, kv_heads = 8, row_dim = 128}, 1), 163840)
  expect_equal(hypomnesis.estimate_cache(
    {kind = "window", dtype = "f16", layers = 80, kv_heads = 8, row_dim = 128, window = 2044, sinks = 4}, 10000), 335544320)
  expect_equal(
    hypomnesis.estimate_cache({kind = "latent", dtype = "bf16", layers = 61, latent_dim = 576}, 1), 61 * 1152)
  expect_equal(
    hypomnesis.estimate_cache({kind = "state", dtype = "f16", layers = 48, state_elements = 64}, 1024, 2), 12288)
  expect_equal(hypomnesis.estimate_overhead(1000), 1100)
  expect_equal(hypomnesis.estimate_overhead(10, 1050), 11)
  expect_equal(hypomnesis.estimate_sum {1, 2, 3}, 6)
  expect_failure(hypomnesis.E_OVERFLOW, hypomnesis.estimate_tensor({2 ^ 40, 2 ^ 40}, "u8"))
  expect_failure(hypomnesis.E_RANGE, hypomnesis.estimate_tensor({1}, 0))
  for _, shape in ipairs {3, "x", {-1}, {1.5}, {"a"}} do
    expect_equal(pcall(hypomnesis.estimate_tensor, shape, "u8"), false)
  end
  expect_equal(pcall(hypomnesis.estimate_attention, {nothing = 1}), false)
end

do -- a number that this Lua cannot hold is refused, not rounded
  local value = hypomnesis.estimate_tensor({2 ^ 31, 2 ^ 31}, "u16") -- 2^63
  if rawget(_G, "jit") then
    expect_equal(hypomnesis.digits(value), "9223372036854775808")
  else
    expect_equal(value, nil)
    local _, message, status = hypomnesis.estimate_tensor({2 ^ 31, 2 ^ 31}, "u16")
    expect_equal(status, hypomnesis.E_OVERFLOW)
    expect_equal(message:find("9223372036854775808", 1, true) ~= nil, true)
  end
end

do -- a limit
  local tracker = assert(hypomnesis.tracker {limit_bytes = 1000})
  assert(tracker:allocate(900))
  expect_failure(hypomnesis.E_LIMIT, tracker:allocate(200))
  expect_equal(tracker:would_fit(100), true)
  expect_equal(tracker:would_fit(101), false)
  assert(tracker:release(400))
  expect_failure(hypomnesis.E_RANGE, tracker:release(501))
  local info = tracker:info()
  expect_equal(info.limit_bytes, 1000)
  expect_equal(info.allocated_bytes, 500)
  expect_equal(info.peak_bytes, 900)
  expect_equal(info.refused_count, 1)
  expect_equal(info.device_index, nil)
  expect_failure(hypomnesis.E_LIMIT, tracker:set_limit(499))
  assert(tracker:set_limit(nil))
  assert(tracker:reset())
  expect_equal(tracker:info().peak_bytes, 0)
  expect_equal(tracker:info().limit_bytes, nil)
  assert(tracker:set_limit(0))
  expect_failure(hypomnesis.E_LIMIT, tracker:allocate(1))
  expect_failure(hypomnesis.E_LIMIT, assert(hypomnesis.tracker {limit_bytes = 0}):allocate(1))
  tracker:close()
  tracker:close()
  expect_equal(pcall(tracker.info, tracker), false)
end

do -- tags
  local tracker = assert(hypomnesis.tracker())
  local weights = assert(tracker:tag("weights"))
  expect_equal(tracker:tag("weights"), weights)
  assert(tracker:allocate(300, weights))
  assert(tracker:release(100, weights))
  local tag = assert(tracker:read_tag(weights))
  expect_equal(tag.number, weights)
  expect_equal(tag.name, "weights")
  expect_equal(tag.allocated_bytes, 200)
  expect_equal(tag.peak_bytes, 300)
  expect_failure(hypomnesis.E_RANGE, tracker:read_tag(2))
  expect_failure(hypomnesis.E_RANGE, tracker:allocate(1, 2))
end

do -- a device
  local context = assert(hypomnesis.open {simulation = machine, deadline = 60})
  local pool = assert(context:pool(0))
  local tracker, other = assert(context:tracker(0)), assert(context:tracker(99))
  expect_equal(tracker:info().device_index, 0)
  expect_failure(hypomnesis.E_NO_DEVICE, other:would_fit(1))
  context:close()
  local usable = pool.usable_bytes or pool.free_bytes
  expect_equal(tracker:would_fit(usable), true)
  expect_equal(tracker:would_fit(usable + 1), false)
end
