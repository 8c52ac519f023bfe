-- SPDX-License-Identifier: MIT OR Apache-2.0
-- values.lua MACHINES: numbers are exact or refused, text is UTF-8, absent fields are nil, failures are values.
local hypomnesis = require "hypomnesis"
local expect = require "expect"

local function open(machine) return assert(hypomnesis.open {simulation = arg[1] .. "/" .. machine, deadline = 60}) end
local is_jit = rawget(_G, "jit") ~= nil
local has_integers = math.type ~= nil

-- 64-bit literals, which only LuaJIT parses.
local function make_cdata(text) return loadstring("return " .. text)() end

-- Returns a field as digits; checks the error if this Lua cannot hold it.
local function read_digits(record, field)
  local ok, value = pcall(function() return record[field] end)
  if ok then return hypomnesis.digits(value) end
  expect.equal(record.inexact[field] ~= nil, true, field .. " is named")
  expect.equal(rawget(record, field), nil, field .. " is stored in another form")
  expect.that(value:find(field .. " is " .. record.inexact[field], 1, true), value)
  return "inexact"
end

local function expect_wide(record, field, exceeds_integer, text)
  local is_exact = is_jit or has_integers and not exceeds_integer
  expect.equal(read_digits(record, field), is_exact and text or "inexact", field)
  if not is_exact then expect.equal(record.inexact[field], text, field .. " in digits") end
end

-- 2^53 + 1 and numbers near it.
local context = open "wide53.json"
local counters = assert(context:telemetry(0))
expect_wide(counters, "pcie_rx_bytes", false, "9007199254740993")
expect_wide(counters, "pcie_tx_bytes", false, "9007199254740995")
expect.equal(assert(context:usage(0, 7)).busy, 9007199254740995 / 1e9, "seconds")
if has_integers then expect.equal(math.type(counters.pcie_rx_bytes), "integer", "type") end
if is_jit then
  expect.equal(counters.pcie_rx_bytes - make_cdata "9007199254740992ULL" == 1, true, "a cdata is exact")
end

-- 2^64 - 1, 2^63 and 2^63 - 1.
context = open "wide64.json"
counters = assert(context:telemetry(0))
expect_wide(counters, "pcie_rx_bytes", true, "18446744073709551615")
expect_wide(counters, "pcie_tx_bytes", true, "9223372036854775808")
expect.equal(assert(context:usage(0, 4294967295)).busy, 2 ^ 63 / 1e9, "seconds")
expect.equal(counters.fan_rpm, 30000, "a small field next to wide ones")
expect.equal(counters.window, nil, "an absent field next to wide ones")
local snapshot = assert(context:snapshot {collect = {"pools", "memory", "system", "processes"}})
expect_wide(snapshot.memory, "virtual_bytes", true, "18446744073709551614")
expect_wide(snapshot.memory, "resident_bytes", true, "18446744073709551615")
expect.equal(snapshot.processes[1].pid, 4294967295, "the largest pid")
expect.equal(snapshot.processes[1].uid, 4294967295, "the largest uid")

-- Returned numbers are accepted as arguments.
if is_jit then
  expect.equal(hypomnesis.format_bytes(counters.pcie_rx_bytes), "17179869184.0 GiB", "a cdata as an argument")
  expect.equal(hypomnesis.format_bytes(make_cdata "1073741824LL"), "1.0 GiB", "a signed cdata as an argument")
  expect.misuse("bad argument 'bytes'", hypomnesis.format_bytes, make_cdata "-1LL")
  expect.equal(context:device(make_cdata "0ULL").index, 0, "a cdata as an index")
  expect.misuse("bad argument 'device_index'", context.device, context, make_cdata "4294967296ULL")
elseif has_integers then
  expect.equal(hypomnesis.format_bytes(math.maxinteger), "8589934592.0 GiB", "the largest integer")
end

-- A number below 2^53 is a number, everywhere.
expect.equal(type(open "small.json":pool(0).total_bytes), "number", "type of 16 GiB")
expect.equal(open "small.json":pool(0).total_bytes, 17179869184, "16 GiB")
expect.equal(hypomnesis.digits(2 ^ 50), "1125899906842624", "digits")

-- Absent is nil, zero is zero, in records and in lists.
context = open "nothing.json"
expect.equal(context:device(0).name, nil, "a name that is not known")
expect.equal(context:device(1).name, "A name alone", "a name that is known")
expect.equal(context:telemetry(4).gpu_busy_percent, 0, "a zero")
expect.equal(context:telemetry(4).power_watts, nil, "power that is not known")
snapshot = assert(context:snapshot {collect = {"memory", "system", "devices", "pools", "telemetry"}})
expect.equal(snapshot.memory, nil, "no memory")
expect.equal(snapshot.system, nil, "no system")
expect.equal(snapshot.devices[1].telemetry, nil, "no telemetry")
expect.equal(#snapshot.devices[1].pools, 0, "no pools")
expect.equal(snapshot.devices[5].telemetry.gpu_busy_percent, 0, "a zero in a snapshot")
expect.equal(select("#", snapshot:device_line(0, "free")), 1, "a line that cannot be written is nil alone")
expect.equal(snapshot:device_line(0, "free"), nil, "a line that cannot be written")

-- UTF-8.
context = open "names.json"
expect.equal(context:device(0).name, "Größe 显卡 ☃ 😀", "name")
expect.equal(context:device(0).uuid, "GPU-é", "uuid")
expect.that(hypomnesis.has(context:device(1).notes, hypomnesis.NOTE_TRUNCATED), "a name that was cut")
expect.equal(context:device(1).name, ("ü"):rep(127), "the cut name ends at a character")
snapshot = assert(context:snapshot {collect = {"processes"}})
expect.equal(snapshot.processes[1].name, "プロセス", "name of a process")
expect.equal(snapshot.processes[4].name, nil, "name of a process that is not known")

-- Failures are nil, message, status, detail.
context = open "failures.json"
for index, name in ipairs {"NO_MEMORY", "UNSUPPORTED", "NO_SOURCE", "NO_DEVICE", "NO_PROCESS", "PERMISSION", "TIMEOUT",
  "DEVICE_LOST", "BACKEND", "LIMIT", "OVERFLOW", "ASLEEP"} do
  local detail = expect.status(hypomnesis["E_" .. name], context:pool(index - 1))
  expect.that(detail.message:find("says " .. name:lower(), 1, true), detail.message)
  expect.equal(detail.backend, hypomnesis.BACKEND_SIMULATED, "the backend that failed")
  expect.equal(hypomnesis.status_name(detail.status), "HMN_E_" .. name, "name of a status")
end
local detail = expect.status(hypomnesis.E_BACKEND, context:pool(12))
expect.equal(detail.native_domain, hypomnesis.NATIVE_EXIT, "native domain")
expect.equal(detail.native_code, 139, "native code")
expect.equal(detail.reason, hypomnesis.REASON_FAILED, "reason")
expect.equal(context:telemetry(12).temperature_celsius, 50, "a reading that did not fail")
expect.status(hypomnesis.E_NO_DEVICE, context:device(99))
expect.status(hypomnesis.E_UNKNOWN_FLAG, hypomnesis.open {flags = 2 ^ 31})
expect.status(hypomnesis.E_ARGUMENT, hypomnesis.open {simulation = "relative", deadline = 60})
expect.status(hypomnesis.E_ARGUMENT, context:find_device "x")
expect.status(hypomnesis.E_ARGUMENT, context:snapshot {flags = 0, device_index = 1})
expect.status(hypomnesis.E_NO_DEVICE, context:snapshot {device_index = 99})
expect.status(hypomnesis.E_STATE, context:set_path("proc", "/proc"))
expect.status(hypomnesis.E_NO_DEVICE, assert(context:snapshot()):device_line(99, "free"))
local no_recording = expect.status(hypomnesis.E_STATE, context:recording())
expect.that(no_recording.message:find("recording", 1, true), "the reason for no recording")
expect.equal(open "small.json":snapshot {device_index = 0}.info.device_count, 1, "a snapshot of one device")
expect.equal(select("#", open "small.json":find_device "driver:nvidia:0"), 1, "one result of a success")
expect.equal(select("#", context:scan()), 2, "a scan returns the count and the generation")
expect.equal(hypomnesis.open():set_path("simulation", arg[1] .. "/small.json"), true, "set_path")

do -- names
  expect.equal(hypomnesis.name("vendor", hypomnesis.VENDOR_NVIDIA), "nvidia")
  expect.equal(hypomnesis.name("backend", hypomnesis.BACKEND_NVIDIA_SMI), "nvidia-smi")
  expect.equal(hypomnesis.name("pool", hypomnesis.POOL_MAIN), "main")
  expect.equal(hypomnesis.name("vendor", 6659), "unknown")
  expect.equal(hypomnesis.name("note", hypomnesis.NOTE_STALE + hypomnesis.NOTE_PARTIAL), "stale|partial")
  expect.equal(hypomnesis.name("note", 0), "")
  local ok, message = pcall(hypomnesis.name, "colour", 1)
  expect.equal(not ok and message:match "no enumeration is called 'colour'", "no enumeration is called 'colour'")
end

do -- devices and processes are those of a snapshot
  local context = assert(hypomnesis.open {simulation = arg[1] .. "/processes.json"})
  local devices, processes = assert(context:devices()), assert(context:processes())
  expect.equal(#devices, 2)
  expect.equal(devices[2].pools[1].used_bytes, 5 * 2 ^ 30)
  expect.equal(#processes, 8)
end
