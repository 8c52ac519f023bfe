// SPDX-License-Identifier: MIT OR Apache-2.0
#include "core/merge.hpp"

#include <doctest/doctest.h>

#include "model/record.hpp"

using namespace hmn;

TEST_CASE("a device takes from a lesser source only what the better one leaves open") {
  Device best;
  best.from = Source::nvml;
  best.name.assign("Card");
  best.form = DeviceForm::discrete;
  Device other;
  other.from = Source::drm;
  other.name.assign("another name");
  other.form = DeviceForm::integrated;
  other.memory_kind = MemoryKind::dedicated;
  other.render_minor = 129;
  merge(best, other);
  CHECK(best.from == Source::nvml);
  CHECK(best.name.view() == "Card");
  CHECK(best.form == DeviceForm::discrete);
  CHECK(best.memory_kind == MemoryKind::dedicated);
  CHECK(best.render_minor == 129);
  CHECK(best.notes == note::mixed);
  SUBCASE("and is of one source when there is nothing to take") {
    Device again = other;
    merge(again, Device{});
    CHECK(again.notes == 0);
  }
}

TEST_CASE("telemetry records which sources it is made of, and is as old as the oldest") {
  Telemetry best;
  best.from = Source::amdgpu;
  best.sources = bit_of(Source::amdgpu);
  best.power_watts = 0.0;
  best.age_ns = 5;
  Telemetry other;
  other.from = Source::rocm_smi;
  other.power_watts = 90;
  other.fan_rpm = 0;
  other.gpu_busy_percent = 40;
  other.window_ns = 1000;
  other.age_ns = 7;
  merge(best, other);
  CHECK(best.power_watts == 0.0);
  CHECK(best.fan_rpm == 0U);
  CHECK(best.gpu_busy_percent == 40.0);
  CHECK(best.window_ns == 1000U);
  CHECK(best.sources == (bit_of(Source::amdgpu) | bit_of(Source::rocm_smi)));
  CHECK(best.notes == note::mixed);
  CHECK(best.age_ns == 7);
  CHECK(present_bits(best) == (telemetry_field::power_watts | telemetry_field::fan_rpm |
                               telemetry_field::gpu_busy_percent | telemetry_field::window_ns));
}

TEST_CASE("a window is not another source's") {
  Telemetry best;
  best.gpu_busy_percent = 10;
  Telemetry other;
  other.window_ns = 1000;
  other.p_state = 3;
  merge(best, other);
  CHECK(best.p_state == 3U);
  CHECK(!best.window_ns);
}

TEST_CASE("a pool takes from a lesser source what the better one leaves open") {
  Pool best;
  best.from = Source::nvml;
  best.total = 100U << 20;
  best.used = 40;
  best.accounting = Accounting::allocated;
  best.age_ns = 5;
  Pool other;
  other.from = Source::dxgi;
  other.total = 90U << 20;
  other.used = 30;
  other.free = 60;
  other.budget = 80;
  other.accounting = Accounting::resident;
  other.age_ns = 9;
  SUBCASE("and no part of figures that are counted in another way") {
    merge(best, other);
    CHECK(best.total == 100U << 20);
    CHECK(best.used == 40U);
    CHECK(!best.free);
    CHECK(best.accounting == Accounting::allocated);
    CHECK(best.budget == 80U);
    CHECK(best.notes == note::mixed);
    CHECK(best.age_ns == 9);
  }
  SUBCASE("but all of them where it has none") {
    best.used.reset();
    merge(best, other);
    CHECK(best.used == 30U);
    CHECK(best.free == 60U);
    CHECK(best.accounting == Accounting::resident);
  }
  SUBCASE("and is of one source when there is nothing to take") {
    other.budget.reset();
    merge(best, other);
    CHECK(best.notes == 0);
    CHECK(best.age_ns == 5);
  }
}

TEST_CASE("a reading of one number ends at the source that has it") {
  Plan p;
  p.metrics = true;
  MergedDevice d;
  Metric wanted = measured(Source::none, MetricId::fan_percent, 1, 0);
  Selection of;
  of.number = &wanted;
  CHECK_FALSE(is_complete(d, p, of));
  d.metrics.push_back(measured(Source::nvml, MetricId::fan_percent, 0, 40));
  CHECK_FALSE(is_complete(d, p, of));
  d.metrics.push_back(measured(Source::nvml, MetricId::fan_percent, 1, 50));
  CHECK(is_complete(d, p, of));
  of.number = nullptr;  // any source may have others
  CHECK_FALSE(is_complete(d, p, of));
}
