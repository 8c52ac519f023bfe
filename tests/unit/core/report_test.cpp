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

using Amount = std::optional<std::uint64_t>;

hmn::Usage own(std::uint64_t used) {
  hmn::Usage u;
  u.used = used;
  return u;
}

// RAM of the caller, its own VRAM, and the device's, in MiB; without a device when both are
// unknown.
Snapshot taken(Amount ram, Amount self = {}, Amount device = {}) {
  Snapshot s;
  if (ram) {
    s.memory.emplace();
    s.memory->resident = *ram * mib;
  }
  if (!self && !device) return s;
  s.devices.push_back(sample::device(0, ""));
  if (self) s.devices[0].self = own(*self * mib);
  if (device) s.pools.push_back(sample::main_pool(0, {}, *device * mib));
  return s;
}

std::string delta_text(const Snapshot& a, const Snapshot& b, std::string_view label,
                       std::uint32_t index = 0) {
  std::string out;
  REQUIRE(hmn::append_delta(out, a, b, index, label, "MB"));
  return out;
}

std::string before_after(const Snapshot& a, const Snapshot& b, std::string_view label) {
  std::string out;
  REQUIRE(hmn::append_before_after(out, a, b, 0, label, "MB"));
  return out;
}

Status refusal(const Snapshot& a, const Snapshot& b, std::uint32_t index = 0) {
  const auto d = hmn::compare(a, b, index);
  REQUIRE(!d);
  CHECK(!d.why().message.view().empty());
  return d.why().code;
}

}  // namespace

TEST_CASE("the change of both, in the caller's figures") {
  CHECK(delta_text(taken(100, 500), taken(200, 1000), "alloc") ==
        "  alloc: RAM +100 MB  |  VRAM +500 MB [per-process]\n");
}

TEST_CASE("the change of both, in the device's figures") {
  CHECK(delta_text(taken(100, {}, 500), taken(150, {}, 750), "step") ==
        "  step: RAM +50 MB  |  VRAM +250 MB [device-wide]\n");
}

TEST_CASE("the change of RAM alone") {
  CHECK(delta_text(taken(50), taken(80), "cpu") == "  cpu: RAM +30 MB\n");
  CHECK(delta_text(taken(80), taken(50), "free") == "  free: RAM -30 MB\n");
  CHECK(delta_text(taken(80), taken(80), "same") == "  same: RAM +0 MB\n");
}

TEST_CASE("both figures and the change, with total and name") {
  Snapshot a = taken(100, 500, 700);
  Snapshot b = taken(200, 1000, 1200);
  for (Snapshot* s : {&a, &b}) {
    s->devices[0].identity.edit().name.assign("NVIDIA Test GPU");
    s->pools[0].total = 16384 * mib;
  }
  CHECK(before_after(a, b, "model_load") ==
        "  model_load: RAM 100 MB → 200 MB (+100 MB)\n"
        "  model_load: VRAM 500 MB → 1000 MB (+500 MB / 16384 MB) [per-process] "
        "[NVIDIA Test GPU]\n");
}

TEST_CASE("both figures without total and name, and without VRAM") {
  CHECK(before_after(taken(1, {}, 5), taken(2, {}, 4), "x") ==
        "  x: RAM 1 MB → 2 MB (+1 MB)\n  x: VRAM 5 MB → 4 MB (-1 MB) [device-wide]\n");
  CHECK(before_after(taken(100), taken(150), "cpu_only") ==
        "  cpu_only: RAM 100 MB → 150 MB (+50 MB)\n");
}

TEST_CASE("VRAM that one side does not know is left out, with its qualifier") {
  CHECK(delta_text(taken(1), taken(2, 1000), "one") == "  one: RAM +1 MB\n");
  CHECK(delta_text(taken(1, 1000), taken(2), "one") == "  one: RAM +1 MB\n");
  CHECK(before_after(taken(1), taken(2, 1000), "one") == "  one: RAM 1 MB → 2 MB (+1 MB)\n");
  CHECK(before_after(taken(1, 1000), taken(2), "one") == "  one: RAM 1 MB → 2 MB (+1 MB)\n");
}

TEST_CASE("the caller's figures are used only where both sides know them") {
  CHECK(delta_text(taken(1, 10, 100), taken(1, {}, 130), "x") ==
        "  x: RAM +0 MB  |  VRAM +30 MB [device-wide]\n");
  CHECK(delta_text(taken(1, 10, {}), taken(1, {}, 130), "x") == "  x: RAM +0 MB\n");
}

TEST_CASE("a change below half a MiB keeps its sign") {
  Snapshot a = taken(100);
  Snapshot b = taken(100);
  b.memory->resident = *b.memory->resident - 1;
  CHECK(delta_text(a, b, "x") == "  x: RAM -0 MB\n");
  CHECK(delta_text(b, a, "x") == "  x: RAM +0 MB\n");
}

TEST_CASE("a label becomes UTF-8 and may be empty") {
  CHECK(delta_text(taken(1), taken(1), "") == "  : RAM +0 MB\n");
  CHECK(delta_text(taken(1), taken(1), "\xff!é") == "  \xEF\xBF\xBD!é: RAM +0 MB\n");
}

TEST_CASE("without RAM on both sides there is no line") {
  std::string out;
  const auto none = hmn::append_delta(out, taken({}, 1), taken(1, 1), 0, "x", "MiB");
  REQUIRE(!none);
  CHECK(none.why().code == Status::empty);
  CHECK(!hmn::append_before_after(out, taken(1, 1), taken({}, 1), 0, "x", "MiB"));
  CHECK(out.empty());
}

TEST_CASE("a delta has the numbers, after minus before") {
  Snapshot a = taken(100, 500, 700);
  Snapshot b = taken(40, 1000, 700);
  a.monotonic_ns = 1000;
  b.monotonic_ns = 5000;
  a.devices[0].telemetry.emplace().energy_joules = 10.5;
  b.devices[0].telemetry.emplace().energy_joules = 30;
  b.devices[0].self->from = hmn::Source::nvml;
  a.devices[0].self->from = hmn::Source::nvml;
  b.devices[0].self->notes = hmn::note::stale;
  for (Snapshot* s : {&a, &b}) s->devices[0].self->accounting = hmn::Accounting::allocated;
  const auto d = hmn::compare(a, b, 0);
  REQUIRE(d);
  CHECK(d->memory_bytes == -60 * static_cast<std::int64_t>(mib));
  CHECK(d->device_bytes == 500 * static_cast<std::int64_t>(mib));
  CHECK(d->scope == Scope::process);
  CHECK(d->accounting == hmn::Accounting::allocated);
  CHECK(d->from == hmn::Source::nvml);
  CHECK(d->notes == hmn::note::stale);
  CHECK(d->elapsed_ns == 4000);
  CHECK(d->energy_joules == 19.5);
}

TEST_CASE("a delta of a device that only one side has is none") {
  CHECK(!hmn::compare(taken(1, 7), taken(2), 0)->device_bytes);
  const auto d = hmn::compare(taken(1), taken(2, 7), 0);
  REQUIRE(d);
  CHECK(d->memory_bytes == static_cast<std::int64_t>(mib));
  CHECK(!d->device_bytes);
  CHECK(d->scope == Scope::none);
}

TEST_CASE("figures in other terms are not subtracted") {
  Snapshot a = taken(1, 10, 100);
  Snapshot b = taken(1, 20, 200);
  SUBCASE("the caller's, accounted otherwise") {
    b.devices[0].self->accounting = hmn::Accounting::resident;
    CHECK(hmn::compare(a, b, 0)->scope == Scope::device);
  }
  SUBCASE("the device's, with and without the reserved part") {
    a.devices[0].self.reset();
    b.pools[0].reserved = 5;
    CHECK(hmn::compare(a, b, 0)->scope == Scope::none);
    a.pools[0].reserved = 5;
    CHECK(hmn::compare(a, b, 0)->scope == Scope::device);
  }
  SUBCASE("the device's, of another pool") {
    a.devices[0].self.reset();
    b.pools[0].kind = hmn::PoolKind::unified;
    CHECK(hmn::compare(a, b, 0)->scope == Scope::none);
  }
  SUBCASE("of another device that has the same index") {
    a.devices[0].identity.edit().uuid.assign("GPU-1");
    CHECK(hmn::compare(a, b, 0)->scope == Scope::process);
    b.devices[0].identity.edit().uuid.assign("GPU-2");
    CHECK(hmn::compare(a, b, 0)->scope == Scope::none);
  }
}

TEST_CASE("figures of two sources are mixed") {
  Snapshot a = taken(1, {}, 100);
  Snapshot b = taken(1, {}, 200);
  b.pools[0].from = hmn::Source::nvidia_smi;
  const auto d = hmn::compare(a, b, 0);
  CHECK(d->from == hmn::Source::nvidia_smi);
  CHECK(d->notes == hmn::note::mixed);
}

TEST_CASE("energy that shrank is not known") {
  Snapshot a = taken(1, 1);
  Snapshot b = taken(1, 1);
  a.devices[0].telemetry.emplace().energy_joules = 10;
  b.devices[0].telemetry.emplace().energy_joules = 9;
  CHECK(!hmn::compare(a, b, 0)->energy_joules);
}

TEST_CASE("a delta that cannot be is refused") {
  Snapshot early = taken(1, 1);
  Snapshot late = taken(1, 1);
  late.monotonic_ns = 1;
  CHECK(refusal(late, early) == Status::argument);
  CHECK(refusal(early, late, 7) == Status::no_device);
  CHECK(refusal(taken({}, 1), taken(1)) == Status::empty);
  CHECK(refusal(taken({}, {}, 1), taken({}, 1)) == Status::empty);
}

TEST_CASE("a delta is exact up to 63 bits and never wraps") {
  Snapshot a = taken(1, 1);
  Snapshot b = taken(1, 1);
  a.memory->resident = 0;
  b.memory->resident = UINT64_MAX / 2;
  CHECK(hmn::compare(a, b, 0)->memory_bytes == INT64_MAX);
  CHECK(hmn::compare(b, a, 0)->memory_bytes == -INT64_MAX);
  b.memory->resident = UINT64_MAX / 2 + 1;
  CHECK(refusal(a, b) == Status::overflow);
  CHECK(delta_text(a, b, "x") == "  x: RAM +8796093022208 MB  |  VRAM +0 MB [per-process]\n");
}
