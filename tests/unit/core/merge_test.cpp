// SPDX-License-Identifier: MIT OR Apache-2.0
#include "core/merge.hpp"

#include <doctest/doctest.h>

#include "model/record.hpp"

using namespace hmn;

TEST_CASE("a device takes only missing fields from a lower-ranked source") {
  Device best;
  best.source = Source::nvml;
  best.name.assign("Card");
  best.form = DeviceForm::discrete;
  Device lesser;
  lesser.source = Source::drm;
  lesser.name.assign("another name");
  lesser.form = DeviceForm::integrated;
  lesser.memory_kind = MemoryKind::dedicated;
  lesser.render_minor = 129;
  merge(best, lesser);
  CHECK(best.source == Source::nvml);
  CHECK(best.name.view() == "Card");
  CHECK(best.form == DeviceForm::discrete);
  CHECK(best.memory_kind == MemoryKind::dedicated);
  CHECK(best.render_minor == 129);
  CHECK(best.notes == note::mixed);
  SUBCASE("nothing is noted if no field is taken") {
    Device copy = lesser;
    merge(copy, Device{});
    CHECK(copy.notes == 0);
  }
}

TEST_CASE("merged telemetry records its sources and the oldest age") {
  Telemetry best;
  best.source = Source::amdgpu;
  best.sources = source_bit(Source::amdgpu);
  best.power_watts = 0.0;
  best.age_ns = 5;
  Telemetry lesser;
  lesser.source = Source::rocm_smi;
  lesser.power_watts = 90;
  lesser.fan_rpm = 0;
  lesser.gpu_busy_percent = 40;
  lesser.window_ns = 1000;
  lesser.age_ns = 7;
  merge(best, lesser);
  CHECK(best.power_watts == 0.0);
  CHECK(best.fan_rpm == 0U);
  CHECK(best.gpu_busy_percent == 40.0);
  CHECK(best.window_ns == 1000U);
  CHECK(best.sources == (source_bit(Source::amdgpu) | source_bit(Source::rocm_smi)));
  CHECK(best.notes == note::mixed);
  CHECK(best.age_ns == 7);
  CHECK(present_bits(best) == (telemetry_field::power_watts | telemetry_field::fan_rpm |
                               telemetry_field::gpu_busy_percent | telemetry_field::window_ns));
}

TEST_CASE("a measurement window is not taken from another source") {
  Telemetry best;
  best.gpu_busy_percent = 10;
  Telemetry lesser;
  lesser.window_ns = 1000;
  lesser.p_state = 3;
  merge(best, lesser);
  CHECK(best.p_state == 3U);
  CHECK(!best.window_ns);
}

TEST_CASE("a pool takes missing fields from a lower-ranked source") {
  Pool best;
  best.source = Source::nvml;
  best.total = 100U << 20;
  best.used = 40;
  best.accounting = Accounting::allocated;
  best.age_ns = 5;
  Pool lesser;
  lesser.source = Source::dxgi;
  lesser.total = 90U << 20;
  lesser.used = 30;
  lesser.free = 60;
  lesser.budget = 80;
  lesser.accounting = Accounting::resident;
  lesser.age_ns = 9;
  SUBCASE("values of another accounting are not taken") {
    merge(best, lesser);
    CHECK(best.total == 100U << 20);
    CHECK(best.used == 40U);
    CHECK(!best.free);
    CHECK(best.accounting == Accounting::allocated);
    CHECK(best.budget == 80U);
    CHECK(best.notes == note::mixed);
    CHECK(best.age_ns == 9);
  }
  SUBCASE("all values are taken if the pool has none") {
    best.used.reset();
    merge(best, lesser);
    CHECK(best.used == 30U);
    CHECK(best.free == 60U);
    CHECK(best.accounting == Accounting::resident);
  }
  SUBCASE("nothing is noted if no field is taken") {
    lesser.budget.reset();
    merge(best, lesser);
    CHECK(best.notes == 0);
    CHECK(best.age_ns == 5);
  }
}

TEST_CASE("a reading of one metric is complete once a source has it") {
  Plan plan;
  plan.metrics = true;
  MergedDevice device;
  Metric metric = make_value_metric(Source::none, MetricId::fan_percent, 1, 0);
  Selection selection;
  selection.metric = &metric;
  CHECK_FALSE(is_complete(device, plan, selection));
  device.metrics.push_back(make_value_metric(Source::nvml, MetricId::fan_percent, 0, 40));
  CHECK_FALSE(is_complete(device, plan, selection));
  device.metrics.push_back(make_value_metric(Source::nvml, MetricId::fan_percent, 1, 50));
  CHECK(is_complete(device, plan, selection));
  selection.metric = nullptr;  // any source may have others
  CHECK_FALSE(is_complete(device, plan, selection));
}
