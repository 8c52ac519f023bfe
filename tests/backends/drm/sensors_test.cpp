// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/drm/generic.hpp"

#include <doctest/doctest.h>

#include <cerrno>

#include "backends/drm/sensors.hpp"
#include "backends/shared/sysfs/attribute.hpp"
#include "core/query.hpp"
#include "machine.hpp"
#include "platform/clock.hpp"

using namespace hmn;
using namespace hmn::drm;
using namespace hmn::sysfs;
using namespace drm_test;

TEST_CASE("a value ends at its line or at padding") {
  const hmn_fake::Tree tree;
  tree.write("sys/a", "  42 \nmore\n");
  tree.write("sys/b", std::string("43\0\0\0", 5));
  tree.write("sys/c", "");
  tree.write("sys/d", "-5\n");
  tree.write("sys/e", "0x1f\n");
  CHECK(read_number(tree.sys(), "a").value == 42);
  CHECK(read_number(tree.sys(), "b").value == 43);
  CHECK(read_number(tree.sys(), "c").error == no_number);
  CHECK(read_number(tree.sys(), "d").error == no_number);
  CHECK(read_signed(tree.sys(), "d").value == -5);
  CHECK(read_hex(tree.sys(), "e").value == 31);
  CHECK(read_hex(tree.sys(), "a").error == no_number);
  CHECK(read_number(tree.sys(), "none").error == ENOENT);
  CHECK(read_number(std::string(5000, 'x'), "none").error == ENOENT);
  CHECK(make_file_failure(Source::drm, ENOENT, "/f", "x").code == Status::unsupported);
  CHECK(make_file_failure(Source::drm, EACCES, "/f", "x").code == Status::permission);
  CHECK(make_file_failure(Source::drm, ENODEV, "/f", "x").code == Status::device_lost);
  CHECK(make_file_failure(Source::drm, no_number, "/f", "x").code == Status::backend);
  CHECK(make_file_failure(Source::drm, EIO, "/f", "x").native.code == EIO);
}

TEST_CASE("sensors are found by chip and label, not by number") {
  const hmn_fake::Tree tree;
  tree.write("sys/hwmon/hwmon3/name", "other\n");
  tree.write("sys/hwmon/hwmon7/name", "xe\n");
  tree.write("sys/hwmon/hwmon7/temp2_input", "40000\n");
  tree.write("sys/hwmon/hwmon7/temp2_label", "pkg\n");
  tree.write("sys/hwmon/hwmon7/temp3_input", "41000\n");
  tree.write("sys/hwmon/hwmon7/temp3_label", "vram\n");
  tree.write("sys/hwmon/hwmon7/temp10_input", "1\n");
  const std::string chip = find_hwmon(tree.sys(), "xe");
  CHECK(chip == tree.sys() + "/hwmon/hwmon7");
  CHECK(find_hwmon(tree.sys(), "i915").empty());
  CHECK_FALSE(find_hwmon(tree.sys(), "").empty());
  CHECK(find_input(chip, "temp", "vram") == "temp3");
  CHECK(find_input(chip, "temp", "pkg") == "temp2");
  CHECK(find_input(chip, "temp", "") == "temp10");
  CHECK(find_input(chip, "fan", "").empty());
}

TEST_CASE("the PCIe generation is derived from the link speed") {
  CHECK(parse_link_speed("2.5 GT/s PCIe") == 1u);
  CHECK(parse_link_speed("8.0 GT/s") == 3u);
  CHECK(parse_link_speed("8 GT/s") == 3u);
  CHECK(parse_link_speed("16.0 GT/s PCIe") == 4u);
  CHECK(parse_link_speed("64.0 GT/s PCIe") == 6u);
  for (const char* text : {"", "Unknown", "16.0", "16.0 MT/s", "9.0 GT/s"}) {
    CHECK_FALSE(parse_link_speed(text));
  }
}

TEST_CASE("sensors of nouveau are read") {
  Machine machine;
  hmn_fake::PciDevice card = nouveau();
  card.files = {
      {"hwmon/hwmon2/name", "nouveau\n"},          {"hwmon/hwmon2/temp1_input", "48500\n"},
      {"hwmon/hwmon2/power1_input", "31250000\n"}, {"hwmon/hwmon2/power1_max", "180000000\n"},
      {"hwmon/hwmon2/fan1_input", "1200\n"},       {"hwmon/hwmon2/pwm1", "40\n"},
      {"current_link_speed", "8.0 GT/s PCIe\n"},   {"current_link_width", "16\n"}};
  machine.add_pci(card, {card0, render128});
  PlainReading reading;
  machine.devices(reading);
  Telemetry telemetry;
  REQUIRE(machine.source().telemetry(0, telemetry_field::all, telemetry, reading));
  CHECK(telemetry.source == Source::drm);
  CHECK(telemetry.temperature_celsius == 48.5);
  CHECK(telemetry.power_watts == 31.25);
  CHECK(telemetry.power_limit_watts == 180);
  CHECK(telemetry.fan_percent == 40u);
  CHECK_FALSE(telemetry.fan_rpm);
  const Diagnostic* const slow_diagnostic = reading.find("too long");
  REQUIRE(slow_diagnostic != nullptr);
  CHECK(slow_diagnostic->field == telemetry_field::fan_rpm);
  CHECK(telemetry.pcie_generation == 3u);
  CHECK(telemetry.pcie_width == 16u);
  CHECK_FALSE(telemetry.gpu_busy_percent);
  const Diagnostic* const unsupported = reading.find("not reported by the driver");
  REQUIRE(unsupported != nullptr);
  CHECK(unsupported->failure.code == Status::unsupported);
  CHECK((unsupported->field & telemetry_field::hotspot_celsius) != 0);
  CHECK((unsupported->field & telemetry_field::temperature_celsius) == 0);
  PoolList pools;
  CHECK(machine.source().memory(0, pools, reading).failure().code == Status::unsupported);
}

TEST_CASE("a failed search for sensors is an error, not a missing sensor") {
  Machine machine;
  hmn_fake::PciDevice card = nouveau();
  card.files = {{"hwmon", "no folder\n"}};
  machine.add_pci(card, {card0, render128});
  PlainReading reading;
  machine.devices(reading);
  Telemetry telemetry;
  const auto failure = machine.source()
                           .telemetry(0, telemetry_field::temperature_celsius, telemetry, reading)
                           .failure();
  CHECK(failure.code == Status::backend);
  CHECK(mentions(failure, "hwmon"));
  std::vector<Metric> metrics;
  REQUIRE(machine.source().metrics(0, false, metrics, reading));
  CHECK(metrics.empty());
  REQUIRE(reading.find("hwmon") != nullptr);
  CHECK(reading.find("hwmon")->subject == subject::metrics);
}

namespace {

std::optional<double> find_value(const std::vector<Metric>& metrics, MetricId id,
                                 std::uint32_t instance) {
  std::optional<double> value;
  for (const Metric& metric : metrics) {
    if (metric.id != id || metric.instance != instance) continue;
    CHECK_FALSE(value);
    CHECK(metric.source == Source::drm);
    value = metric.value;
  }
  return value;
}

}  // namespace

TEST_CASE("each sensor of a driver without its own source is a metric") {
  Machine machine;
  hmn_fake::PciDevice card = nouveau();
  card.files = {
      {"hwmon/hwmon2/name", "nouveau\n"},          {"hwmon/hwmon2/temp1_input", "48500\n"},
      {"hwmon/hwmon2/temp1_crit", "105000\n"},     {"hwmon/hwmon2/temp1_emergency", "hot\n"},
      {"hwmon/hwmon2/power1_input", "31250000\n"}, {"hwmon/hwmon2/power1_max", "180000000\n"},
      {"hwmon/hwmon2/fan1_input", "1200\n"},       {"hwmon/hwmon2/pwm1", "40\n"}};
  machine.add_pci(card, {card0, render128});
  machine.add_platform("fde60000.gpu", "panfrost", {card1, render129});
  const std::string clock = "sys/devices/platform/fde60000.gpu/devfreq/fde60000.gpu/";
  machine.tree().write(clock + "cur_freq", "600000000\n");
  machine.tree().write(clock + "max_freq", "800000000\n");
  PlainReading reading;
  const auto devices = machine.devices(reading);
  REQUIRE(devices.size() == 2);
  for (const Device& device : devices) {
    std::vector<Metric> metrics;
    REQUIRE(machine.source().metrics(device.slot, false, metrics, reading));
    if (device.pci_bus_id.empty()) {
      CHECK(metrics.size() == 2);
      CHECK(find_value(metrics, MetricId::clock_mhz, metric_instance::clock::core) == 600);
      CHECK(find_value(metrics, MetricId::clock_limit_mhz, metric_instance::clock::core) == 800);
      continue;
    }
    CHECK(metrics.size() == 5);
    CHECK(find_value(metrics, MetricId::temperature, metric_instance::sensor::core) == 48.5);
    CHECK(find_value(metrics, MetricId::temperature_limit, metric_instance::sensor::core) == 105);
    CHECK(find_value(metrics, MetricId::power_watts, metric_instance::power_reading::instant) ==
          31.25);
    CHECK(find_value(metrics, MetricId::power_limit_watts, metric_instance::power_limit::current) ==
          180);
    CHECK(find_value(metrics, MetricId::fan_percent, 1) == 40);
  }
  const Diagnostic* const diagnostic = reading.find("temp1_emergency holds no number");
  REQUIRE(diagnostic != nullptr);
  CHECK(diagnostic->field ==
        missing_metric(MetricId::temperature_shutdown, metric_instance::sensor::core));
}

TEST_CASE("an implausible sensor value is absent") {
  Machine machine;
  hmn_fake::PciDevice card = radeon();
  card.files = {
      {"hwmon/hwmon2/name", "radeon\n"},       {"hwmon/hwmon2/temp1_input", "-273150\n"},
      {"hwmon/hwmon2/power1_average", "-1\n"}, {"hwmon/hwmon2/power1_input", "21000000\n"},
      {"hwmon/hwmon2/fan1_input", "65535\n"},  {"hwmon/hwmon2/pwm1", "300\n"}};
  machine.add_pci(card, {card0, render128});
  PlainReading reading;
  machine.devices(reading);
  Telemetry telemetry;
  REQUIRE(machine.source().telemetry(0, telemetry_field::all, telemetry, reading));
  REQUIRE(keep_plausible(telemetry, 0, reading));
  CHECK_FALSE(telemetry.temperature_celsius);
  CHECK_FALSE(telemetry.fan_rpm);
  CHECK_FALSE(telemetry.fan_percent);
  CHECK(telemetry.power_watts == 21);  // the invalid file before it is skipped
  CHECK(reading.find("reported fan_rpm 65535")->failure.reason == Reason::implausible);
  machine.tree().write("sys/" + hmn_fake::pci_folder(card.address) + "/hwmon/hwmon2/pwm1", "51\n");
  REQUIRE(machine.source().telemetry(0, telemetry_field::fan_percent, telemetry, reading));
  CHECK(telemetry.fan_percent == 20u);  // of 255
}

TEST_CASE("a malformed sensor file is reported by name") {
  Machine machine;
  hmn_fake::PciDevice card = radeon();
  card.files = {{"hwmon/hwmon2/temp1_input", "hot\n"}, {"hwmon/hwmon2/fan1_input", "900\n"}};
  machine.add_pci(card, {card0, render128});
  PlainReading reading;
  machine.devices(reading);
  Telemetry telemetry;
  constexpr auto fields = telemetry_field::temperature_celsius | telemetry_field::fan_rpm;
  REQUIRE(machine.source().telemetry(0, fields, telemetry, reading));
  CHECK_FALSE(telemetry.temperature_celsius);
  CHECK(telemetry.fan_rpm == 900u);
  const Diagnostic* const diagnostic = reading.find("temp1_input holds no number");
  REQUIRE(diagnostic != nullptr);
  CHECK(diagnostic->field == telemetry_field::temperature_celsius);
  CHECK(machine.source()
            .telemetry(0, telemetry_field::temperature_celsius, telemetry, reading)
            .failure()
            .code == Status::backend);
  CHECK_FALSE(machine.source().telemetry(0, telemetry_field::hotspot_celsius, telemetry, reading));
}

TEST_CASE("the clock of a platform device is read, and engines without accounting have no load") {
  Machine machine;
  machine.add_platform("fde60000.gpu", "panfrost", {card0, render128});
  const std::string folder = "sys/devices/platform/fde60000.gpu";
  machine.tree().write(folder + "/devfreq/fde60000.gpu/cur_freq", "799999987\n");
  machine.tree().write(folder + "/profiling", "0\n");
  PlainReading reading;
  const auto devices = machine.devices(reading);
  REQUIRE(devices.size() == 1);
  CHECK(devices[0].form == DeviceForm::integrated);
  CHECK(devices[0].memory_kind == MemoryKind::unified);
  Telemetry telemetry;
  constexpr auto fields = telemetry_field::core_clock_mhz | telemetry_field::gpu_busy_percent;
  REQUIRE(machine.source().telemetry(0, fields, telemetry, reading));
  CHECK(telemetry.core_clock_mhz == 800u);
  const Diagnostic* const diagnostic = reading.find("engines are not counted");
  REQUIRE(diagnostic != nullptr);
  CHECK(diagnostic->failure.code == Status::unsupported);
  CHECK((diagnostic->field & telemetry_field::gpu_busy_percent) != 0);
}

TEST_CASE("the load of a device is computed from the engines of its clients") {
  Machine machine;
  machine.add_platform("fd500000.gpu", "v3d", {card0, render128});
  const auto text = [](const char* busy) {
    return std::string("drm-driver:\tv3d\ndrm-client-id:\t1\ndrm-engine-render:\t") + busy +
           " ns\ndrm-total-memory:\t8 KiB\n";
  };
  machine.add_process(10, {{3, "/dev/null", text("0")}});
  PlainReading reading;
  machine.devices(reading);
  Telemetry telemetry;
  const auto first =
      machine.source().telemetry(0, telemetry_field::gpu_busy_percent, telemetry, reading);
  REQUIRE_FALSE(first);
  CHECK(mentions(first.failure(), "difference of two readings"));
  machine.tree().write("proc/10/fdinfo/3", text("50000000"));
  platform::sleep_ns(120 * platform::ns_per_ms);
  REQUIRE(machine.source().prepare(reading));
  REQUIRE(machine.source().telemetry(
      0, telemetry_field::gpu_busy_percent | telemetry_field::window_ns, telemetry, reading));
  CHECK(*telemetry.gpu_busy_percent > 1);
  CHECK(*telemetry.gpu_busy_percent < 45);
  CHECK(*telemetry.window_ns >= 120 * platform::ns_per_ms);
  PoolList pools;
  REQUIRE(machine.source().memory(0, pools, reading));
  CHECK(pools.find(PoolKind::unified)->used == 8 * kib);
  CHECK(pools.find(PoolKind::unified)->accounting == Accounting::committed);
}

TEST_CASE("a missing load has the same reason in every reading") {
  Machine machine;
  machine.add_platform("406400000.gpu", "asahi", {card0, render128});
  PlainReading reading;
  machine.devices(reading);
  const auto read_failure = [&] {
    Telemetry telemetry;
    REQUIRE(machine.source().prepare(reading));
    const auto result =
        machine.source().telemetry(0, telemetry_field::gpu_busy_percent, telemetry, reading);
    REQUIRE_FALSE(result);
    CHECK(result.failure().code == Status::unsupported);
    CHECK_FALSE(telemetry.gpu_busy_percent);
    return result.failure();
  };
  const auto read_next_failure = [&] {
    platform::sleep_ns(120 * platform::ns_per_ms);
    return read_failure();
  };
  constexpr const char* no_process = "no visible process uses the device";
  constexpr const char* no_engine_time = "no client of the device reports engine time";
  constexpr const char* first = "difference of two readings";
  CHECK(mentions(read_failure(), no_process));
  CHECK(mentions(read_next_failure(), no_process));
  machine.add_process(10, {{3, "/dev/null", "drm-driver:\tasahi\ndrm-client-id:\t1\n"}});
  CHECK(mentions(read_next_failure(), no_engine_time));
  CHECK(mentions(read_next_failure(), no_engine_time));
  machine.add_process(11, {{3, "/dev/null",
                            "drm-driver:\tasahi\ndrm-client-id:\t2\n"
                            "drm-engine-render:\t5 ns\n"}});
  CHECK(mentions(read_next_failure(), first));
}
