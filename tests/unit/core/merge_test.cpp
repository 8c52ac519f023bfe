// SPDX-License-Identifier: MIT OR Apache-2.0
#include "core/merge.hpp"

#include <doctest/doctest.h>

using namespace hmn;

TEST_CASE("a device takes from a lesser source only what the better one leaves open") {
  device best;
  best.from = source::nvml;
  best.name.assign("Card");
  best.kind = device_kind::discrete;
  device other;
  other.from = source::drm;
  other.name.assign("another name");
  other.kind = device_kind::integrated;
  other.memory_kind = memory_kind::dedicated;
  other.render_minor = 129;
  merge(best, other);
  CHECK(best.from == source::nvml);
  CHECK(best.name.view() == "Card");
  CHECK(best.kind == device_kind::discrete);
  CHECK(best.memory_kind == memory_kind::dedicated);
  CHECK(best.render_minor == 129);
  CHECK(best.notes == note::mixed);
  SUBCASE("and is of one source when there is nothing to take") {
    device again = other;
    merge(again, device{});
    CHECK(again.notes == 0);
  }
}

TEST_CASE("telemetry says which sources it is made of, and is as old as the oldest") {
  dated<telemetry> best;
  best.value.from = source::amdgpu;
  best.value.sources = bit_of(source::amdgpu);
  best.value.power_watts = 0.0;
  best.age_ns = 5;
  dated<telemetry> other;
  other.value.from = source::rocm_smi;
  other.value.power_watts = 90;
  other.value.fan_rpm = 0;
  other.value.gpu_busy_percent = 40;
  other.value.window_ns = 1000;
  other.age_ns = 7;
  merge(best, other);
  CHECK(best.value.power_watts == 0.0);
  CHECK(best.value.fan_rpm == 0U);
  CHECK(best.value.gpu_busy_percent == 40.0);
  CHECK(best.value.window_ns == 1000U);
  CHECK(best.value.sources == (bit_of(source::amdgpu) | bit_of(source::rocm_smi)));
  CHECK(best.value.notes == note::mixed);
  CHECK(best.age_ns == 7);
  CHECK(fields_of(best.value) == (telemetry_field::power | telemetry_field::fan_rpm |
                                  telemetry_field::gpu_busy | telemetry_field::window));
}

TEST_CASE("a window is not another source's") {
  dated<telemetry> best;
  best.value.gpu_busy_percent = 10;
  dated<telemetry> other;
  other.value.window_ns = 1000;
  other.value.p_state = 3;
  merge(best, other);
  CHECK(best.value.p_state == 3U);
  CHECK(!best.value.window_ns);
}

TEST_CASE("a pool takes from a lesser source what the better one leaves open") {
  dated<pool> best;
  best.value.from = source::nvml;
  best.value.total = 100;
  best.value.used = 40;
  best.value.accounting = accounting::allocated;
  best.age_ns = 5;
  dated<pool> other;
  other.value.from = source::dxgi;
  other.value.total = 90;
  other.value.used = 30;
  other.value.free = 60;
  other.value.budget = 80;
  other.value.accounting = accounting::resident;
  other.age_ns = 9;
  SUBCASE("and no part of figures that are counted in another way") {
    merge(best, other);
    CHECK(best.value.total == 100U);
    CHECK(best.value.used == 40U);
    CHECK(!best.value.free);
    CHECK(best.value.accounting == accounting::allocated);
    CHECK(best.value.budget == 80U);
    CHECK(best.value.notes == note::mixed);
    CHECK(best.age_ns == 9);
  }
  SUBCASE("but all of them where it has none") {
    best.value.used.reset();
    merge(best, other);
    CHECK(best.value.used == 30U);
    CHECK(best.value.free == 60U);
    CHECK(best.value.accounting == accounting::resident);
  }
  SUBCASE("and is of one source when there is nothing to take") {
    other.value.budget.reset();
    merge(best, other);
    CHECK(best.value.notes == 0);
    CHECK(best.age_ns == 5);
  }
}
