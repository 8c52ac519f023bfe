// SPDX-License-Identifier: MIT OR Apache-2.0
#include "../intel/cards.hpp"
#include "platform/clock.hpp"

using namespace hmn;
using namespace intel_test;
using namespace hmn::telemetry_field;
using drm_test::card0;
using drm_test::render128;

namespace {

void add_gt(const hmn_fake::PciDevice& d, const std::string& name, const char* actual) {
  const std::string folder = "drm/card0/gt/" + name + "/";
  auto& files = const_cast<hmn_fake::PciDevice&>(d).files;
  files[folder + "rps_act_freq_mhz"] = actual;
  files[folder + "rps_cur_freq_mhz"] = "2000\n";
  files[folder + "rps_max_freq_mhz"] = "2450\n";
  for (const char* reason :
       {"status", "pl1", "pl2", "pl4", "thermal", "prochot", "ratl", "vr_thermalert", "vr_tdc"}) {
    files[folder + "throttle_reason_" + reason] = "0\n";
  }
}

}  // namespace

TEST_CASE("sensors, clock and link of a card") {
  Machine m;
  hmn_fake::PciDevice d = arc_card();
  add_gt(d, "gt0", "1950\n");
  add_gt(d, "gt1", "600\n");
  m.add_pci(d, {card0, render128});
  const auto reported = read_telemetry(m, telemetry_field::all);
  REQUIRE(reported.result);
  CHECK(reported.value.from == Source::i915);
  CHECK(reported.value.sources == bit_of(Source::i915));
  CHECK(reported.value.temperature_celsius == 51);
  CHECK_FALSE(reported.value.memory_celsius);
  CHECK(reported.value.fan_rpm == 1210u);
  CHECK(reported.value.energy_joules == 7);
  CHECK(reported.value.power_limit_watts == 190);
  CHECK(reported.value.core_clock_mhz == 1950u);
  CHECK(reported.value.throttle == 0u);
  CHECK(reported.value.pcie_generation == 4u);
  CHECK(reported.value.pcie_width == 8u);
  CHECK_FALSE(reported.value.power_watts);
  const Diagnostic* const why = reported.r.find("difference of two readings of energy");
  REQUIRE(why != nullptr);
  CHECK(why->field == power_watts);
  CHECK(why->why.from == Source::i915);
  const Diagnostic* const rest = reported.r.find("not reported by the driver");
  REQUIRE(rest != nullptr);
  CHECK((rest->field & memory_celsius) != 0);
  CHECK((rest->field & (temperature_celsius | power_watts | energy_joules | core_clock_mhz)) == 0);
}

TEST_CASE("the link inside of a card is not told as the slot's") {
  Machine m;
  hmn_fake::PciDevice d = arc_card();
  d.files["current_link_speed"] = "2.5 GT/s PCIe\n";
  d.files["current_link_width"] = "1\n";
  m.add_pci(d, {card0, render128});
  const auto reported = read_telemetry(m, temperature_celsius | pcie_generation | pcie_width);
  REQUIRE(reported.result);
  CHECK(reported.value.temperature_celsius == 51);
  CHECK_FALSE(reported.value.pcie_generation);
  CHECK_FALSE(reported.value.pcie_width);
  const Diagnostic* const why = reported.r.find("own switch");
  REQUIRE(why != nullptr);
  CHECK(why->field == (pcie_generation | pcie_width));
  CHECK(why->why.code == Status::unsupported);
}

TEST_CASE("each sensor and clock is a metric") {
  Machine m;
  hmn_fake::PciDevice d = arc_card();
  add_gt(d, "gt0", "1950\n");
  add_gt(d, "gt1", "600\n");
  m.add_pci(d, {card0, render128});
  const auto all = read_metrics(m);
  CHECK(value_of(all, MetricId::temperature, which::sensor::package) == 51);
  CHECK(value_of(all, MetricId::fan_rpm, 1) == 1210);
  CHECK(value_of(all, MetricId::energy_joules, which::power_reading::board) == 7);
  CHECK(value_of(all, MetricId::power_limit_watts, which::power_limit::current) == 190);
  CHECK(value_of(all, MetricId::power_limit_watts, which::power_limit::default_limit) == 225);
  CHECK(value_of(all, MetricId::voltage, which::rail::core) == 0.75);
  CHECK(value_of(all, MetricId::clock_mhz, which::clock::core) == 1950);
  CHECK(value_of(all, MetricId::clock_mhz, which::clock::requested) == 2000);
  CHECK(value_of(all, MetricId::clock_mhz, which::clock::media) == 600);
  CHECK(value_of(all, MetricId::clock_limit_mhz, which::clock::core) == 2450);
  CHECK_FALSE(value_of(all, MetricId::power_watts, which::power_reading::board));
  for (const Metric& x : all) CHECK(x.from == Source::i915);
}

namespace {

const std::string counter =
    "sys/" + hmn_fake::pci_folder(slot_address) + "/hwmon/hwmon3/energy1_input";

}  // namespace

TEST_CASE("watts come from two readings of energy") {
  Machine m;
  m.add_pci(arc_card(), {card0, render128});
  const std::uint64_t start = platform::monotonic_ns();
  const auto first = read_telemetry(m, power_watts);
  REQUIRE_FALSE(first.result);
  CHECK(drm_test::mentions(first.result.why(), "two readings of energy: read again"));
  platform::sleep_ns(120 * platform::ns_per_ms);
  m.tree().write(counter, "9000000\n");  // 2 J later
  const auto second = read_telemetry(m, power_watts);
  const double longest = static_cast<double>(platform::monotonic_ns() - start) / 1e9;
  REQUIRE(second.result);
  CHECK(*second.value.power_watts <= 2 / 0.12);
  CHECK(*second.value.power_watts >= 2 / longest);
  // A counter that went back is of no use, and the one after it is.
  m.tree().write(counter, "1000\n");
  CHECK_FALSE(read_telemetry(m, power_watts).result);
  platform::sleep_ns(20 * platform::ns_per_ms);
  m.tree().write(counter, "2000\n");
  CHECK(*read_telemetry(m, power_watts).value.power_watts > 0);
  // No card uses nothing.
  platform::sleep_ns(1100 * platform::ns_per_ms);
  CHECK_FALSE(read_telemetry(m, power_watts).value.power_watts);
  platform::sleep_ns(20 * platform::ns_per_ms);
  const auto still = read_telemetry(m, power_watts);
  REQUIRE_FALSE(still.result);
  CHECK(drm_test::mentions(still.result.why(), "stands still"));
}

TEST_CASE("as a metric watts have the time that they are an average of") {
  Machine m;
  m.add_pci(arc_card(), {card0, render128});
  PlainReading r;
  CHECK_FALSE(value_of(read_metrics(m, r), MetricId::power_watts, which::power_reading::board));
  const Diagnostic* const missing = r.find("difference of two readings of energy");
  REQUIRE(missing != nullptr);
  CHECK(missing->about == subject::metrics);
  CHECK(missing->field == missing_metric(MetricId::power_watts));
  platform::sleep_ns(120 * platform::ns_per_ms);
  m.tree().write(counter, "9000000\n");
  const auto all = read_metrics(m);
  REQUIRE(value_of(all, MetricId::power_watts, which::power_reading::board));
  for (const Metric& x : all) {
    if (x.id != MetricId::power_watts) continue;
    CHECK(*x.window_ns >= 120 * platform::ns_per_ms);
    CHECK(*x.value == doctest::Approx(2e9 / static_cast<double>(*x.window_ns)));
  }
}

TEST_CASE("reasons for throttling of any part") {
  struct One {
    const char* file;
    std::uint32_t bits;
  };
  const One all[] = {{"pl1", throttle::power},        {"pl2", throttle::power},
                     {"pl4", throttle::power},        {"vr_tdc", throttle::power},
                     {"thermal", throttle::thermal},  {"ratl", throttle::thermal},
                     {"prochot", throttle::hardware}, {"vr_thermalert", throttle::thermal},
                     {"something", throttle::other}};
  for (const One& o : all) {
    CAPTURE(o.file);
    Machine m;
    hmn_fake::PciDevice d = arc_card();
    add_gt(d, "gt0", "1950\n");
    add_gt(d, "gt1", "600\n");
    d.files["drm/card0/gt/gt1/throttle_reason_status"] = "1\n";
    d.files[std::string("drm/card0/gt/gt1/throttle_reason_") + o.file] = "1\n";
    m.add_pci(d, {card0, render128});
    CHECK(read_telemetry(m, telemetry_field::throttle).value.throttle == o.bits);
  }
}

TEST_CASE("an older kernel tells clocks of the card alone, and no reasons") {
  Machine m;
  hmn_fake::PciDevice d = intel_card("i915", first_bus_address);
  d.files = {{"drm/card0/gt_act_freq_mhz", "300\n"},
             {"drm/card0/gt_cur_freq_mhz", "350\n"},
             {"drm/card0/gt_max_freq_mhz", "1150\n"},
             {"current_link_speed", "Unknown\n"},
             {"current_link_width", "0\n"}};
  m.add_pci(d, {card0, render128});
  const auto reported = read_telemetry(
      m, core_clock_mhz | telemetry_field::throttle | power_watts | pcie_generation | pcie_width);
  REQUIRE(reported.result);
  CHECK(reported.value.core_clock_mhz == 300u);
  CHECK_FALSE(reported.value.throttle);
  CHECK_FALSE(reported.value.power_watts);
  CHECK_FALSE(reported.value.pcie_generation);
  CHECK_FALSE(reported.value.pcie_width);
  const Diagnostic* const rest = reported.r.find("not reported by the driver");
  REQUIRE(rest != nullptr);
  CHECK(rest->field == (telemetry_field::throttle | power_watts));
  // The files are there, which is not the same.
  REQUIRE(reported.r.find("names no speed") != nullptr);
  CHECK(reported.r.find("names no speed")->field == pcie_generation);
  REQUIRE(reported.r.find("names no number of lanes") != nullptr);
  CHECK(reported.r.find("names no number of lanes")->field == pcie_width);
  const auto all = read_metrics(m);
  CHECK(value_of(all, MetricId::clock_mhz, which::clock::requested) == 350);
  CHECK(value_of(all, MetricId::clock_limit_mhz, which::clock::core) == 1150);
}

TEST_CASE("load is that of the busiest engine, from the second reading on") {
  Machine m;
  m.add_pci(arc_card(), {card0, render128});
  const auto text = [](int render, int video) {
    return "drm-driver:\ti915\ndrm-client-id:\t1\ndrm-pdev:\t0000:03:00.0\ndrm-engine-render:\t" +
           std::to_string(render) + " ns\ndrm-engine-video:\t" + std::to_string(video) +
           " ns\ndrm-engine-capacity-video:\t2\n";
  };
  m.add_process(10, {{3, "/dev/null", text(0, 0)}});
  const std::uint64_t start = platform::monotonic_ns();
  CHECK_FALSE(read_telemetry(m, gpu_busy_percent).result);
  m.tree().write("proc/10/fdinfo/3", text(12'000'000, 60'000'000));
  platform::sleep_ns(120 * platform::ns_per_ms);
  const auto reported = read_telemetry(m, gpu_busy_percent | window_ns);
  const double longest = static_cast<double>(platform::monotonic_ns() - start);
  REQUIRE(reported.result);
  // Two video engines ran 60 ms in all: 30 of 120 ms at most.
  CHECK(*reported.value.gpu_busy_percent <= 25.1);
  CHECK(*reported.value.gpu_busy_percent >= 100 * 30e6 / longest);
  CHECK(*reported.value.window_ns >= 120 * platform::ns_per_ms);
  PlainReading r;
  const auto rows = m.rows(0, r);
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].kinds == (usage_kind::graphics | usage_kind::media));
}

TEST_CASE("a sensor that fails voids no other") {
  Machine m;
  hmn_fake::PciDevice d = arc_card();
  d.files["hwmon/hwmon3/temp1_input"] = "hot\n";
  d.files["hwmon/hwmon3/power1_max"] = "0\n";  // switched off
  m.add_pci(d, {card0, render128});
  const auto reported = read_telemetry(m, temperature_celsius | fan_rpm | power_limit_watts);
  REQUIRE(reported.result);
  CHECK_FALSE(reported.value.temperature_celsius);
  CHECK_FALSE(reported.value.power_limit_watts);
  CHECK(reported.value.fan_rpm == 1210u);
  const Diagnostic* const off = reported.r.find("power limit is switched off");
  REQUIRE(off != nullptr);
  CHECK(off->field == power_limit_watts);
  CHECK(off->why.code == Status::unsupported);
  const Diagnostic* const why = reported.r.find("temp1_input holds no number");
  REQUIRE(why != nullptr);
  CHECK(why->field == temperature_celsius);
  PlainReading r;
  const auto all = read_metrics(m, r);
  CHECK_FALSE(value_of(all, MetricId::power_limit_watts, which::power_limit::current));
  CHECK(value_of(all, MetricId::fan_rpm, 1) == 1210);
  CHECK_FALSE(value_of(all, MetricId::temperature, which::sensor::package));
  const Diagnostic* const missing = r.find("temp1_input holds no number");
  REQUIRE(missing != nullptr);
  CHECK(missing->about == subject::metrics);
  CHECK(missing->field == missing_metric(MetricId::temperature));
}

TEST_CASE("a sleeping card is not measured") {
  Machine m;
  hmn_fake::PciDevice d = arc_card();
  d.runtime_status = "suspended";
  m.add_pci(d, {card0, render128});
  const auto reported = read_telemetry(m, telemetry_field::all);
  REQUIRE_FALSE(reported.result);
  CHECK(reported.result.why().code == Status::asleep);
  PlainReading r;
  const auto found = m.devices(r);
  CHECK(found[0].state == State::asleep);
  CHECK(found[0].form == DeviceForm::discrete);
}
