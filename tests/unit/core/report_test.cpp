// SPDX-License-Identifier: MIT OR Apache-2.0
#include "core/report.hpp"

#include <doctest/doctest.h>

#include <string>

#include "sample.hpp"

using hmn::Scope;
using hmn::Snapshot;
using hmn::Status;
using sample::mib;

namespace {

using OptionalMib = std::optional<std::uint64_t>;

hmn::Usage make_usage(std::uint64_t used) {
  hmn::Usage usage;
  usage.used = used;
  return usage;
}

// RAM of the caller, its own VRAM, and the device's, in MiB; without a device when both are
// unknown.
Snapshot make_state(OptionalMib ram, OptionalMib self = {}, OptionalMib device = {}) {
  Snapshot snapshot;
  if (ram) {
    snapshot.memory.emplace();
    snapshot.memory->resident = *ram * mib;
  }
  if (!self && !device) return snapshot;
  snapshot.devices.push_back(sample::make_device(0, ""));
  if (self) snapshot.devices[0].self = make_usage(*self * mib);
  if (device) snapshot.pools.push_back(sample::make_main_pool(0, {}, *device * mib));
  return snapshot;
}

std::string format_delta(const Snapshot& before, const Snapshot& after, std::string_view label,
                         std::uint32_t index = 0) {
  std::string out;
  REQUIRE(hmn::append_delta(out, before, after, index, label, "MB"));
  return out;
}

std::string format_before_after(const Snapshot& before, const Snapshot& after,
                                std::string_view label) {
  std::string out;
  REQUIRE(hmn::append_before_after(out, before, after, 0, label, "MB"));
  return out;
}

Status compare_error(const Snapshot& before, const Snapshot& after, std::uint32_t index = 0) {
  const auto delta = hmn::compare(before, after, index);
  REQUIRE(!delta);
  CHECK(!delta.failure().message.view().empty());
  return delta.failure().code;
}

}  // namespace

TEST_CASE("a delta has RAM and the caller's VRAM") {
  CHECK(format_delta(make_state(100, 500), make_state(200, 1000), "alloc") ==
        "  alloc: RAM +100 MB  |  VRAM +500 MB [per-process]\n");
}

TEST_CASE("a delta has RAM and the device's VRAM if the caller's is unknown") {
  CHECK(format_delta(make_state(100, {}, 500), make_state(150, {}, 750), "step") ==
        "  step: RAM +50 MB  |  VRAM +250 MB [device-wide]\n");
}

TEST_CASE("a delta has RAM alone if no VRAM is known") {
  CHECK(format_delta(make_state(50), make_state(80), "cpu") == "  cpu: RAM +30 MB\n");
  CHECK(format_delta(make_state(80), make_state(50), "free") == "  free: RAM -30 MB\n");
  CHECK(format_delta(make_state(80), make_state(80), "same") == "  same: RAM +0 MB\n");
}

TEST_CASE("before and after are shown with the change, the total and the name") {
  Snapshot before = make_state(100, 500, 700);
  Snapshot after = make_state(200, 1000, 1200);
  for (Snapshot* snapshot : {&before, &after}) {
    snapshot->devices[0].identity.edit().name.assign("NVIDIA Test GPU");
    snapshot->pools[0].total = 16384 * mib;
  }
  CHECK(format_before_after(before, after, "model_load") ==
        "  model_load: RAM 100 MB → 200 MB (+100 MB)\n"
        "  model_load: VRAM 500 MB → 1000 MB (+500 MB / 16384 MB) [per-process] "
        "[NVIDIA Test GPU]\n");
}

TEST_CASE("before and after are shown without an unknown total, name or VRAM") {
  CHECK(format_before_after(make_state(1, {}, 5), make_state(2, {}, 4), "x") ==
        "  x: RAM 1 MB → 2 MB (+1 MB)\n  x: VRAM 5 MB → 4 MB (-1 MB) [device-wide]\n");
  CHECK(format_before_after(make_state(100), make_state(150), "cpu_only") ==
        "  cpu_only: RAM 100 MB → 150 MB (+50 MB)\n");
}

TEST_CASE("VRAM that one side does not know is omitted with its qualifier") {
  CHECK(format_delta(make_state(1), make_state(2, 1000), "one") == "  one: RAM +1 MB\n");
  CHECK(format_delta(make_state(1, 1000), make_state(2), "one") == "  one: RAM +1 MB\n");
  CHECK(format_before_after(make_state(1), make_state(2, 1000), "one") ==
        "  one: RAM 1 MB → 2 MB (+1 MB)\n");
  CHECK(format_before_after(make_state(1, 1000), make_state(2), "one") ==
        "  one: RAM 1 MB → 2 MB (+1 MB)\n");
}

TEST_CASE("the caller's values are used only if both sides know them") {
  CHECK(format_delta(make_state(1, 10, 100), make_state(1, {}, 130), "x") ==
        "  x: RAM +0 MB  |  VRAM +30 MB [device-wide]\n");
  CHECK(format_delta(make_state(1, 10, {}), make_state(1, {}, 130), "x") == "  x: RAM +0 MB\n");
}

TEST_CASE("a change below half a MiB keeps its sign") {
  Snapshot before = make_state(100);
  Snapshot after = make_state(100);
  after.memory->resident = *after.memory->resident - 1;
  CHECK(format_delta(before, after, "x") == "  x: RAM -0 MB\n");
  CHECK(format_delta(after, before, "x") == "  x: RAM +0 MB\n");
}

TEST_CASE("a label becomes valid UTF-8 and may be empty") {
  CHECK(format_delta(make_state(1), make_state(1), "") == "  : RAM +0 MB\n");
  CHECK(format_delta(make_state(1), make_state(1), "\xff!é") == "  \xEF\xBF\xBD!é: RAM +0 MB\n");
}

TEST_CASE("no line is written without RAM on both sides") {
  std::string out;
  const auto result = hmn::append_delta(out, make_state({}, 1), make_state(1, 1), 0, "x", "MiB");
  REQUIRE(!result);
  CHECK(result.failure().code == Status::empty);
  CHECK(!hmn::append_before_after(out, make_state(1, 1), make_state({}, 1), 0, "x", "MiB"));
  CHECK(out.empty());
}

TEST_CASE("a delta is the later value minus the earlier one") {
  Snapshot before = make_state(100, 500, 700);
  Snapshot after = make_state(40, 1000, 700);
  before.monotonic_ns = 1000;
  after.monotonic_ns = 5000;
  before.devices[0].telemetry.emplace().energy_joules = 10.5;
  after.devices[0].telemetry.emplace().energy_joules = 30;
  after.devices[0].self->source = hmn::Source::nvml;
  before.devices[0].self->source = hmn::Source::nvml;
  after.devices[0].self->notes = hmn::note::stale;
  for (Snapshot* snapshot : {&before, &after})
    snapshot->devices[0].self->accounting = hmn::Accounting::allocated;
  const auto delta = hmn::compare(before, after, 0);
  REQUIRE(delta);
  CHECK(delta->memory_bytes == -60 * static_cast<std::int64_t>(mib));
  CHECK(delta->device_bytes == 500 * static_cast<std::int64_t>(mib));
  CHECK(delta->scope == Scope::process);
  CHECK(delta->accounting == hmn::Accounting::allocated);
  CHECK(delta->source == hmn::Source::nvml);
  CHECK(delta->notes == hmn::note::stale);
  CHECK(delta->elapsed_ns == 4000);
  CHECK(delta->energy_joules == 19.5);
}

TEST_CASE("a device that only one side has gives no delta") {
  CHECK(!hmn::compare(make_state(1, 7), make_state(2), 0)->device_bytes);
  const auto delta = hmn::compare(make_state(1), make_state(2, 7), 0);
  REQUIRE(delta);
  CHECK(delta->memory_bytes == static_cast<std::int64_t>(mib));
  CHECK(!delta->device_bytes);
  CHECK(delta->scope == Scope::none);
}

TEST_CASE("values of different kinds are not subtracted") {
  Snapshot before = make_state(1, 10, 100);
  Snapshot after = make_state(1, 20, 200);
  SUBCASE("the caller's accounting differs") {
    after.devices[0].self->accounting = hmn::Accounting::resident;
    CHECK(hmn::compare(before, after, 0)->scope == Scope::device);
  }
  SUBCASE("only one side reports the reserved part") {
    before.devices[0].self.reset();
    after.pools[0].reserved = 5;
    CHECK(hmn::compare(before, after, 0)->scope == Scope::none);
    before.pools[0].reserved = 5;
    CHECK(hmn::compare(before, after, 0)->scope == Scope::device);
  }
  SUBCASE("the device's pool kind differs") {
    before.devices[0].self.reset();
    after.pools[0].kind = hmn::PoolKind::unified;
    CHECK(hmn::compare(before, after, 0)->scope == Scope::none);
  }
  SUBCASE("another device has the same index") {
    before.devices[0].identity.edit().uuid.assign("GPU-1");
    CHECK(hmn::compare(before, after, 0)->scope == Scope::process);
    after.devices[0].identity.edit().uuid.assign("GPU-2");
    CHECK(hmn::compare(before, after, 0)->scope == Scope::none);
  }
}

TEST_CASE("a delta of two sources is marked as mixed") {
  Snapshot before = make_state(1, {}, 100);
  Snapshot after = make_state(1, {}, 200);
  after.pools[0].source = hmn::Source::nvidia_smi;
  const auto delta = hmn::compare(before, after, 0);
  CHECK(delta->source == hmn::Source::nvidia_smi);
  CHECK(delta->notes == hmn::note::mixed);
}

TEST_CASE("energy that decreased is unknown") {
  Snapshot before = make_state(1, 1);
  Snapshot after = make_state(1, 1);
  before.devices[0].telemetry.emplace().energy_joules = 10;
  after.devices[0].telemetry.emplace().energy_joules = 9;
  CHECK(!hmn::compare(before, after, 0)->energy_joules);
}

TEST_CASE("an impossible delta is refused") {
  Snapshot early = make_state(1, 1);
  Snapshot late = make_state(1, 1);
  late.monotonic_ns = 1;
  CHECK(compare_error(late, early) == Status::argument);
  CHECK(compare_error(early, late, 7) == Status::no_device);
  CHECK(compare_error(make_state({}, 1), make_state(1)) == Status::empty);
  CHECK(compare_error(make_state({}, {}, 1), make_state({}, 1)) == Status::empty);
}

TEST_CASE("a delta is exact up to 63 bits and never wraps") {
  Snapshot before = make_state(1, 1);
  Snapshot after = make_state(1, 1);
  before.memory->resident = 0;
  after.memory->resident = UINT64_MAX / 2;
  CHECK(hmn::compare(before, after, 0)->memory_bytes == INT64_MAX);
  CHECK(hmn::compare(after, before, 0)->memory_bytes == -INT64_MAX);
  after.memory->resident = UINT64_MAX / 2 + 1;
  CHECK(compare_error(before, after) == Status::overflow);
  CHECK(format_delta(before, after, "x") ==
        "  x: RAM +8796093022208 MB  |  VRAM +0 MB [per-process]\n");
}
