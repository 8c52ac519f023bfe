// SPDX-License-Identifier: MIT OR Apache-2.0
#include "../intel/cards.hpp"
#include "platform/clock.hpp"

using namespace hmn;
using namespace intel_test;
using namespace hmn::telemetry_field;
using drm_test::card0;
using drm_test::render128;

namespace {

void add_gt(const hmn_fake::PciDevice& card, const std::string& name, const char* actual) {
  const std::string folder = "drm/card0/gt/" + name + "/";
  auto& files = const_cast<hmn_fake::PciDevice&>(card).files;
  files[folder + "rps_act_freq_mhz"] = actual;
  files[folder + "rps_cur_freq_mhz"] = "2000\n";
  files[folder + "rps_max_freq_mhz"] = "2450\n";
  for (const char* reason :
       {"status", "pl1", "pl2", "pl4", "thermal", "prochot", "ratl", "vr_thermalert", "vr_tdc"}) {
    files[folder + "throttle_reason_" + reason] = "0\n";
  }
}

}  // namespace

TEST_CASE("the telemetry of a card has its sensors, clock and PCIe link") {
  Machine machine;
  hmn_fake::PciDevice card = arc_card();
  add_gt(card, "gt0", "1950\n");
  add_gt(card, "gt1", "600\n");
  machine.add_pci(card, {card0, render128});
  const auto telemetry = read_telemetry(machine, telemetry_field::all);
  REQUIRE(telemetry.result);
  CHECK(telemetry.value.source == Source::i915);
  CHECK(telemetry.value.sources == source_bit(Source::i915));
  CHECK(telemetry.value.temperature_celsius == 51);
  CHECK_FALSE(telemetry.value.memory_celsius);
  CHECK(telemetry.value.fan_rpm == 1210u);
  CHECK(telemetry.value.energy_joules == 7);
  CHECK(telemetry.value.power_limit_watts == 190);
  CHECK(telemetry.value.core_clock_mhz == 1950u);
  CHECK(telemetry.value.throttle == 0u);
  CHECK(telemetry.value.pcie_generation == 4u);
  CHECK(telemetry.value.pcie_width == 8u);
  CHECK_FALSE(telemetry.value.power_watts);
  const Diagnostic* const diagnostic =
      telemetry.reading.find("difference of two readings of energy");
  REQUIRE(diagnostic != nullptr);
  CHECK(diagnostic->field == power_watts);
  CHECK(diagnostic->failure.source == Source::i915);
  const Diagnostic* const unsupported = telemetry.reading.find("not reported by the driver");
  REQUIRE(unsupported != nullptr);
  CHECK((unsupported->field & memory_celsius) != 0);
  CHECK((unsupported->field &
         (temperature_celsius | power_watts | energy_joules | core_clock_mhz)) == 0);
}

TEST_CASE("the link inside a card is not reported as the link of the slot") {
  Machine machine;
  hmn_fake::PciDevice card = arc_card();
  card.files["current_link_speed"] = "2.5 GT/s PCIe\n";
  card.files["current_link_width"] = "1\n";
  machine.add_pci(card, {card0, render128});
  const auto telemetry =
      read_telemetry(machine, temperature_celsius | pcie_generation | pcie_width);
  REQUIRE(telemetry.result);
  CHECK(telemetry.value.temperature_celsius == 51);
  CHECK_FALSE(telemetry.value.pcie_generation);
  CHECK_FALSE(telemetry.value.pcie_width);
  const Diagnostic* const diagnostic = telemetry.reading.find("own switch");
  REQUIRE(diagnostic != nullptr);
  CHECK(diagnostic->field == (pcie_generation | pcie_width));
  CHECK(diagnostic->failure.code == Status::unsupported);
}

TEST_CASE("each sensor and each clock is a metric") {
  Machine machine;
  hmn_fake::PciDevice card = arc_card();
  add_gt(card, "gt0", "1950\n");
  add_gt(card, "gt1", "600\n");
  machine.add_pci(card, {card0, render128});
  const auto metrics = read_metrics(machine);
  CHECK(find_value(metrics, MetricId::temperature, metric_instance::sensor::package) == 51);
  CHECK(find_value(metrics, MetricId::fan_rpm, 1) == 1210);
  CHECK(find_value(metrics, MetricId::energy_joules, metric_instance::power_reading::board) == 7);
  CHECK(find_value(metrics, MetricId::power_limit_watts, metric_instance::power_limit::current) ==
        190);
  CHECK(find_value(metrics, MetricId::power_limit_watts,
                   metric_instance::power_limit::default_limit) == 225);
  CHECK(find_value(metrics, MetricId::voltage, metric_instance::rail::core) == 0.75);
  CHECK(find_value(metrics, MetricId::clock_mhz, metric_instance::clock::core) == 1950);
  CHECK(find_value(metrics, MetricId::clock_mhz, metric_instance::clock::requested) == 2000);
  CHECK(find_value(metrics, MetricId::clock_mhz, metric_instance::clock::media) == 600);
  CHECK(find_value(metrics, MetricId::clock_limit_mhz, metric_instance::clock::core) == 2450);
  CHECK_FALSE(find_value(metrics, MetricId::power_watts, metric_instance::power_reading::board));
  for (const Metric& metric : metrics) CHECK(metric.source == Source::i915);
}

namespace {

const std::string energy_file =
    "sys/" + hmn_fake::pci_folder(slot_address) + "/hwmon/hwmon3/energy1_input";

}  // namespace

TEST_CASE("power is computed from two readings of the energy counter") {
  Machine machine;
  machine.add_pci(arc_card(), {card0, render128});
  const std::uint64_t start = platform::monotonic_ns();
  const auto first = read_telemetry(machine, power_watts);
  REQUIRE_FALSE(first.result);
  CHECK(drm_test::mentions(first.result.failure(), "two readings of energy: read again"));
  platform::sleep_ns(120 * platform::ns_per_ms);
  machine.tree().write(energy_file, "9000000\n");  // 2 J later
  const auto second = read_telemetry(machine, power_watts);
  const double max_seconds = static_cast<double>(platform::monotonic_ns() - start) / 1e9;
  REQUIRE(second.result);
  CHECK(*second.value.power_watts <= 2 / 0.12);
  CHECK(*second.value.power_watts >= 2 / max_seconds);
  // A counter that decreased yields no power; the next reading does.
  machine.tree().write(energy_file, "1000\n");
  CHECK_FALSE(read_telemetry(machine, power_watts).result);
  platform::sleep_ns(20 * platform::ns_per_ms);
  machine.tree().write(energy_file, "2000\n");
  CHECK(*read_telemetry(machine, power_watts).value.power_watts > 0);
  // A constant counter is not 0 W.
  platform::sleep_ns(1100 * platform::ns_per_ms);
  CHECK_FALSE(read_telemetry(machine, power_watts).value.power_watts);
  platform::sleep_ns(20 * platform::ns_per_ms);
  const auto still = read_telemetry(machine, power_watts);
  REQUIRE_FALSE(still.result);
  CHECK(drm_test::mentions(still.result.failure(), "does not advance"));
}

TEST_CASE("the power metric reports the time that it is averaged over") {
  Machine machine;
  machine.add_pci(arc_card(), {card0, render128});
  PlainReading reading;
  CHECK_FALSE(find_value(read_metrics(machine, reading), MetricId::power_watts,
                         metric_instance::power_reading::board));
  const Diagnostic* const missing = reading.find("difference of two readings of energy");
  REQUIRE(missing != nullptr);
  CHECK(missing->subject == subject::metrics);
  CHECK(missing->field == missing_metric(MetricId::power_watts));
  platform::sleep_ns(120 * platform::ns_per_ms);
  machine.tree().write(energy_file, "9000000\n");
  const auto metrics = read_metrics(machine);
  REQUIRE(find_value(metrics, MetricId::power_watts, metric_instance::power_reading::board));
  for (const Metric& metric : metrics) {
    if (metric.id != MetricId::power_watts) continue;
    CHECK(*metric.window_ns >= 120 * platform::ns_per_ms);
    CHECK(*metric.value == doctest::Approx(2e9 / static_cast<double>(*metric.window_ns)));
  }
}

TEST_CASE("a throttle reason of any GT is reported") {
  struct ThrottleFile {
    const char* file;
    std::uint32_t bits;
  };
  const ThrottleFile files[] = {
      {"pl1", throttle::power},        {"pl2", throttle::power},
      {"pl4", throttle::power},        {"vr_tdc", throttle::power},
      {"thermal", throttle::thermal},  {"ratl", throttle::thermal},
      {"prochot", throttle::hardware}, {"vr_thermalert", throttle::thermal},
      {"something", throttle::other}};
  for (const ThrottleFile& file : files) {
    CAPTURE(file.file);
    Machine machine;
    hmn_fake::PciDevice card = arc_card();
    add_gt(card, "gt0", "1950\n");
    add_gt(card, "gt1", "600\n");
    card.files["drm/card0/gt/gt1/throttle_reason_status"] = "1\n";
    card.files[std::string("drm/card0/gt/gt1/throttle_reason_") + file.file] = "1\n";
    machine.add_pci(card, {card0, render128});
    CHECK(read_telemetry(machine, telemetry_field::throttle).value.throttle == file.bits);
  }
}

TEST_CASE("an older kernel reports one set of clocks and no throttle reasons") {
  Machine machine;
  hmn_fake::PciDevice card = intel_card("i915", first_bus_address);
  card.files = {{"drm/card0/gt_act_freq_mhz", "300\n"},
                {"drm/card0/gt_cur_freq_mhz", "350\n"},
                {"drm/card0/gt_max_freq_mhz", "1150\n"},
                {"current_link_speed", "Unknown\n"},
                {"current_link_width", "0\n"}};
  machine.add_pci(card, {card0, render128});
  const auto telemetry = read_telemetry(machine, core_clock_mhz | telemetry_field::throttle |
                                                     power_watts | pcie_generation | pcie_width);
  REQUIRE(telemetry.result);
  CHECK(telemetry.value.core_clock_mhz == 300u);
  CHECK_FALSE(telemetry.value.throttle);
  CHECK_FALSE(telemetry.value.power_watts);
  CHECK_FALSE(telemetry.value.pcie_generation);
  CHECK_FALSE(telemetry.value.pcie_width);
  const Diagnostic* const unsupported = telemetry.reading.find("not reported by the driver");
  REQUIRE(unsupported != nullptr);
  CHECK(unsupported->field == (telemetry_field::throttle | power_watts));
  // The files exist but have no value.
  REQUIRE(telemetry.reading.find("names no speed") != nullptr);
  CHECK(telemetry.reading.find("names no speed")->field == pcie_generation);
  REQUIRE(telemetry.reading.find("names no number of lanes") != nullptr);
  CHECK(telemetry.reading.find("names no number of lanes")->field == pcie_width);
  const auto metrics = read_metrics(machine);
  CHECK(find_value(metrics, MetricId::clock_mhz, metric_instance::clock::requested) == 350);
  CHECK(find_value(metrics, MetricId::clock_limit_mhz, metric_instance::clock::core) == 1150);
}

TEST_CASE("load is that of the busiest engine, from the second reading on") {
  Machine machine;
  machine.add_pci(arc_card(), {card0, render128});
  const auto text = [](int render, int video) {
    return "drm-driver:\ti915\ndrm-client-id:\t1\ndrm-pdev:\t0000:03:00.0\ndrm-engine-render:\t" +
           std::to_string(render) + " ns\ndrm-engine-video:\t" + std::to_string(video) +
           " ns\ndrm-engine-capacity-video:\t2\n";
  };
  machine.add_process(10, {{3, "/dev/null", text(0, 0)}});
  const std::uint64_t start = platform::monotonic_ns();
  CHECK_FALSE(read_telemetry(machine, gpu_busy_percent).result);
  machine.tree().write("proc/10/fdinfo/3", text(12'000'000, 60'000'000));
  platform::sleep_ns(120 * platform::ns_per_ms);
  const auto telemetry = read_telemetry(machine, gpu_busy_percent | window_ns);
  const double max_ns = static_cast<double>(platform::monotonic_ns() - start);
  REQUIRE(telemetry.result);
  // Two video engines ran 60 ms in all: 30 of 120 ms at most.
  CHECK(*telemetry.value.gpu_busy_percent <= 25.1);
  CHECK(*telemetry.value.gpu_busy_percent >= 100 * 30e6 / max_ns);
  CHECK(*telemetry.value.window_ns >= 120 * platform::ns_per_ms);
  PlainReading reading;
  const auto rows = machine.rows(0, reading);
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].kinds == (usage_kind::graphics | usage_kind::media));
}

TEST_CASE("a sensor that fails does not affect the others") {
  Machine machine;
  hmn_fake::PciDevice card = arc_card();
  card.files["hwmon/hwmon3/temp1_input"] = "hot\n";
  card.files["hwmon/hwmon3/power1_max"] = "0\n";  // switched off
  machine.add_pci(card, {card0, render128});
  const auto telemetry = read_telemetry(machine, temperature_celsius | fan_rpm | power_limit_watts);
  REQUIRE(telemetry.result);
  CHECK_FALSE(telemetry.value.temperature_celsius);
  CHECK_FALSE(telemetry.value.power_limit_watts);
  CHECK(telemetry.value.fan_rpm == 1210u);
  const Diagnostic* const off = telemetry.reading.find("power limit is switched off");
  REQUIRE(off != nullptr);
  CHECK(off->field == power_limit_watts);
  CHECK(off->failure.code == Status::unsupported);
  const Diagnostic* const diagnostic = telemetry.reading.find("temp1_input holds no number");
  REQUIRE(diagnostic != nullptr);
  CHECK(diagnostic->field == temperature_celsius);
  PlainReading reading;
  const auto metrics = read_metrics(machine, reading);
  CHECK_FALSE(
      find_value(metrics, MetricId::power_limit_watts, metric_instance::power_limit::current));
  CHECK(find_value(metrics, MetricId::fan_rpm, 1) == 1210);
  CHECK_FALSE(find_value(metrics, MetricId::temperature, metric_instance::sensor::package));
  const Diagnostic* const missing = reading.find("temp1_input holds no number");
  REQUIRE(missing != nullptr);
  CHECK(missing->subject == subject::metrics);
  CHECK(missing->field == missing_metric(MetricId::temperature));
}

TEST_CASE("a sleeping card is not measured") {
  Machine machine;
  hmn_fake::PciDevice card = arc_card();
  card.runtime_status = "suspended";
  machine.add_pci(card, {card0, render128});
  const auto telemetry = read_telemetry(machine, telemetry_field::all);
  REQUIRE_FALSE(telemetry.result);
  CHECK(telemetry.result.failure().code == Status::asleep);
  PlainReading reading;
  const auto devices = machine.devices(reading);
  CHECK(devices[0].state == State::asleep);
  CHECK(devices[0].form == DeviceForm::discrete);
}
