// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/amdgpu/telemetry.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cerrno>

#include "backends/amdgpu/sysfs.hpp"
#include "cards.hpp"
#include "core/query.hpp"
#include "machine.hpp"

using namespace hmn;
using namespace amdgpu_test;
using namespace drm_test;

namespace {

const std::string card_folder = "sys/" + hmn_fake::pci_folder("0000:03:00.0") + "/";
const std::string hwmon_folder = card_folder + "hwmon/hwmon4/";

std::vector<Metric> read_metrics(Machine& machine, PlainReading& reading, bool slow = false) {
  std::vector<Metric> metrics;
  machine.devices(reading);
  REQUIRE(machine.source().metrics(0, slow, metrics, reading));
  return metrics;
}

const Metric* find(const std::vector<Metric>& metrics, MetricId id, std::uint32_t instance) {
  const auto it = std::find_if(metrics.begin(), metrics.end(), [&](const Metric& metric) {
    return metric.id == id && metric.instance == instance;
  });
  return it == metrics.end() ? nullptr : &*it;
}

double find_value(const std::vector<Metric>& metrics, MetricId id, std::uint32_t instance) {
  const Metric* const metric = find(metrics, id, instance);
  REQUIRE(metric != nullptr);
  REQUIRE(metric->value);
  CHECK(metric->source == Source::amdgpu);
  return *metric->value;
}

std::uint64_t find_count(const std::vector<Metric>& metrics, MetricId id, std::uint32_t instance) {
  const Metric* const metric = find(metrics, id, instance);
  REQUIRE(metric != nullptr);
  REQUIRE(metric->count);
  return *metric->count;
}

// struct gpu_metrics_v1_3: 120 bytes, all bits set in unused fields.
std::string table_1_3(std::uint64_t independent_throttle) {
  std::string table(120, '\xff');
  table[0] = 120;
  table[1] = 0;
  table[2] = 1;
  table[3] = 3;
  table[10] = 61;  // temperature_vrgfx
  table[11] = 0;
  table[20] = 5;  // average_mm_activity
  table[21] = 0;
  for (std::size_t i = 0; i < 8; ++i) {
    table[112 + i] = static_cast<char>(independent_throttle >> 8 * i & 0xff);
  }
  return table;
}

// SMU_THROTTLER_…_BIT
constexpr std::uint64_t power_bit = 1;
constexpr std::uint64_t memory_bit = std::uint64_t{1} << 34;
constexpr std::uint64_t edge_bit = std::uint64_t{1} << 35;
constexpr std::uint64_t hotspot_bit = std::uint64_t{1} << 36;
constexpr std::uint64_t regulator_bit = std::uint64_t{1} << 38;

void set_celsius(hmn_fake::PciDevice& card, int sensor, int celsius, int limit) {
  const std::string file = "hwmon/hwmon4/temp" + std::to_string(sensor);
  card.files[file + "_input"] = std::to_string(celsius) + "000\n";
  card.files[file + "_crit"] = std::to_string(limit) + "000\n";
}

}  // namespace

TEST_CASE("telemetry has load, temperatures by label, power, clocks, fan and link") {
  Machine machine;
  hmn_fake::PciDevice card = navi();
  card.files["gpu_metrics"] = table_1_3(regulator_bit);
  machine.add_pci(card, {card0, render128});
  PlainReading reading;
  machine.devices(reading);
  Telemetry telemetry;
  REQUIRE(machine.source().telemetry(0, telemetry_field::all, telemetry, reading));
  CHECK(telemetry.source == Source::amdgpu);
  CHECK(telemetry.sources == source_bit(Source::amdgpu));
  CHECK(telemetry.gpu_busy_percent == 37);
  CHECK(telemetry.memory_busy_percent == 12);
  CHECK(telemetry.temperature_celsius == 56);
  CHECK(telemetry.hotspot_celsius == 59);
  CHECK(telemetry.memory_celsius == 54);
  CHECK(telemetry.power_watts == 36.5);
  CHECK(telemetry.power_limit_watts == 289);
  CHECK(telemetry.core_clock_mhz == 2505u);
  CHECK(telemetry.memory_clock_mhz == 96u);
  CHECK(telemetry.fan_rpm == 900u);
  CHECK(telemetry.fan_percent == 20u);  // 51 of 255
  CHECK(telemetry.pcie_generation == 4u);
  CHECK(telemetry.pcie_width == 16u);
  CHECK(telemetry.throttle == throttle::thermal);
  CHECK_FALSE(telemetry.energy_joules);
  CHECK_FALSE(telemetry.encoder_busy_percent);
  const Diagnostic* const unsupported = reading.find("not reported by the driver");
  REQUIRE(unsupported != nullptr);
  CHECK((unsupported->field & telemetry_field::energy_joules) != 0);
  CHECK((unsupported->field & telemetry_field::throttle) == 0);
}

TEST_CASE("a throttle bit of a sensor far below its limit is ignored") {
  struct {
    const char* name;
    int edge, hotspot, memory;
    std::uint64_t status;
    std::uint32_t expected_bits;
  } const rows[] = {
      {"idle", 41, 45, 52, hotspot_bit, 0},
      {"idle, every temperature", 41, 45, 52, edge_bit | hotspot_bit | memory_bit, 0},
      {"at its power limit", 60, 75, 70, hotspot_bit | power_bit, throttle::power},
      {"at the limit of the hotspot", 80, 109, 70, hotspot_bit, throttle::thermal},
      {"below it by less than 10 C", 80, 101, 70, hotspot_bit, throttle::thermal},
      {"at the limit of the memory", 60, 70, 107, hotspot_bit | memory_bit, throttle::thermal},
      {"too hot elsewhere", 41, 45, 52, hotspot_bit | regulator_bit, throttle::thermal},
  };
  for (const auto& row : rows) {
    CAPTURE(row.name);
    Machine machine;
    hmn_fake::PciDevice card = navi();
    set_celsius(card, 1, row.edge, 100);
    set_celsius(card, 2, row.hotspot, 110);
    set_celsius(card, 3, row.memory, 108);
    card.files["gpu_metrics"] = table_1_3(row.status);
    machine.add_pci(card, {card0, render128});
    PlainReading reading;
    machine.devices(reading);
    Telemetry telemetry;
    REQUIRE(machine.source().telemetry(0, telemetry_field::throttle, telemetry, reading));
    CHECK(telemetry.throttle == row.expected_bits);
  }
}

TEST_CASE("a throttle bit of a sensor without temperature or limit leaves throttling unknown") {
  for (const char* file : {"temp2_crit", "temp2_input", "temp2_label"}) {
    for (const bool is_there : {false, true}) {
      CAPTURE(file);
      Machine machine;
      hmn_fake::PciDevice card = navi();
      set_celsius(card, 2, 45, 110);
      card.files["gpu_metrics"] = table_1_3(hotspot_bit);
      const std::string path = "hwmon/hwmon4/" + std::string(file);
      is_there ? void(card.files[path] = "0\n") : void(card.files.erase(path));
      machine.add_pci(card, {card0, render128});
      PlainReading reading;
      machine.devices(reading);
      Telemetry telemetry;
      REQUIRE_FALSE(machine.source().telemetry(0, telemetry_field::throttle, telemetry, reading));
      CHECK_FALSE(telemetry.throttle);
      const Diagnostic* const diagnostic =
          reading.find(file == std::string("temp2_input") ? "_input" : "_crit");
      REQUIRE(diagnostic != nullptr);
      CHECK(diagnostic->field == telemetry_field::throttle);
    }
  }
}

TEST_CASE("0 W is not a power value: the second half of an MI200 reports it") {
  Machine machine;
  hmn_fake::PciDevice card = navi();
  for (const char* file : {"power1_average", "power1_cap", "power1_cap_max", "power1_cap_default"})
    card.files["hwmon/hwmon4/" + std::string(file)] = "0\n";
  machine.add_pci(card, {card0, render128});
  PlainReading reading;
  const auto metrics = read_metrics(machine, reading);
  for (const Metric& metric : metrics) {
    if (metric.id != MetricId::power_watts && metric.id != MetricId::power_limit_watts) continue;
    CHECK(metric.instance == metric_instance::power_limit::min);
  }
  Telemetry telemetry;
  REQUIRE(machine.source().telemetry(0, telemetry_field::all, telemetry, reading));
  CHECK_FALSE(telemetry.power_watts);
  CHECK_FALSE(telemetry.power_limit_watts);
  std::uint64_t fields = 0;
  for (const Diagnostic& diagnostic : reading.diagnostics) {
    if (diagnostic.failure.message.view().find("0 W") == std::string_view::npos) continue;
    CHECK(resolve_reason(diagnostic.failure) == Reason::unsupported);
    if (diagnostic.subject == subject::telemetry) fields |= diagnostic.field;
  }
  CHECK(fields == (telemetry_field::power_watts | telemetry_field::power_limit_watts));
}

TEST_CASE("a virtual function reports sensors only if its GPU is not listed") {
  const std::string part_folder = "sys/" + hmn_fake::pci_folder("0000:03:02.0");
  for (const bool is_listed : {true, false}) {
    CAPTURE(is_listed);
    Machine machine;
    if (is_listed) machine.add_pci(navi("0000:03:00.0"), {card0, render128});
    machine.add_pci(navi("0000:03:02.0"), {{"card1", "/dev/full"}, render129});
    machine.tree().link(part_folder + "/physfn", "../0000:03:00.0");
    PlainReading reading;
    std::size_t checked = 0;
    for (const Device& device : machine.devices(reading)) {
      if (device.pci_bus_id.view() != "0000:03:02.0") continue;
      ++checked;
      PoolList pools;
      REQUIRE(machine.source().memory(device.slot, pools, reading));
      CHECK(pools.find(PoolKind::vram)->total == 16 * gib);
      Telemetry telemetry;
      const Result<void> result =
          machine.source().telemetry(device.slot, telemetry_field::all, telemetry, reading);
      std::vector<Metric> metrics;
      REQUIRE(machine.source().metrics(device.slot, true, metrics, reading));
      CHECK(static_cast<bool>(result) != is_listed);
      CHECK(telemetry.power_watts.has_value() != is_listed);
      CHECK(metrics.empty() == is_listed);
      if (is_listed)
        CHECK(result.failure().message.view().find("whole GPU") != std::string_view::npos);
    }
    CHECK(checked == 1);
  }
}

TEST_CASE("sensors are found by label if their numbers change") {
  Machine machine;
  hmn_fake::PciDevice card = navi();
  card.files["hwmon/hwmon4/temp1_label"] = "junction\n";
  card.files["hwmon/hwmon4/temp2_label"] = "edge\n";
  card.files.erase("hwmon/hwmon4/temp3_label");
  machine.add_pci(card, {card0, render128});
  PlainReading reading;
  machine.devices(reading);
  Telemetry telemetry;
  REQUIRE(machine.source().telemetry(0, telemetry_field::all, telemetry, reading));
  CHECK(telemetry.temperature_celsius == 59);
  CHECK(telemetry.hotspot_celsius == 56);
  CHECK_FALSE(telemetry.memory_celsius);
}

TEST_CASE("the only sensor of an old kernel has no label and is still read") {
  Machine machine;
  hmn_fake::PciDevice card = navi();
  for (const char* file : {"temp1_label", "temp2_label", "temp3_label", "freq1_label"}) {
    card.files.erase("hwmon/hwmon4/" + std::string(file));
  }
  machine.add_pci(card, {card0, render128});
  PlainReading reading;
  machine.devices(reading);
  Telemetry telemetry;
  REQUIRE(machine.source().telemetry(0, telemetry_field::all, telemetry, reading));
  CHECK(telemetry.temperature_celsius == 56);
  CHECK(telemetry.core_clock_mhz == 2505u);
  CHECK_FALSE(telemetry.hotspot_celsius);
}

TEST_CASE("without a clock sensor the clock levels are read") {
  Machine machine;
  machine.add_pci(phoenix("0000:03:00.0"), {card0, render128});
  PlainReading reading;
  machine.devices(reading);
  Telemetry telemetry;
  REQUIRE(machine.source().telemetry(0, telemetry_field::all, telemetry, reading));
  CHECK(telemetry.core_clock_mhz == 800u);
  CHECK(telemetry.memory_clock_mhz == 400u);
  CHECK(telemetry.power_watts == 3.103);
  CHECK_FALSE(telemetry.memory_busy_percent);
  CHECK_FALSE(telemetry.throttle);
}

TEST_CASE("the reason for absent throttling is the state of the gpu_metrics table") {
  struct ThrottleCase {
    std::string table;
    Reason reason;
    const char* words;
  };
  const auto header = [](std::size_t size, char format, char content) {
    std::string table(size, '\xff');
    table[0] = static_cast<char>(size & 0xff);
    table[1] = static_cast<char>(size >> 8);
    table[2] = format;
    table[3] = content;
    return table;
  };
  const ThrottleCase cases[] = {
      {header(288, 1, 4), Reason::unsupported, "(format 1.4) does not report why"},
      {header(264, 3, 0), Reason::unsupported, "(format 3.0) does not report why"},
      {header(400, 1, 9), Reason::not_understood, "in a format that is not known"},
      {header(264, 3, 0).substr(0, 40), Reason::not_understood, "gpu_metrics is cut"},
      {"", Reason::not_understood, "gpu_metrics is cut"},
  };
  for (const ThrottleCase& expected : cases) {
    CAPTURE(expected.words);
    Machine machine;
    hmn_fake::PciDevice card = navi();
    card.files["gpu_metrics"] = expected.table;
    machine.add_pci(card, {card0, render128});
    for (int round = 0; round < 2; ++round) {
      PlainReading reading;
      machine.devices(reading);
      Telemetry telemetry;
      REQUIRE(machine.source().telemetry(0, telemetry_field::all, telemetry, reading));
      CHECK_FALSE(telemetry.throttle);
      const Diagnostic* const diagnostic = reading.find(expected.words);
      REQUIRE(diagnostic != nullptr);
      CHECK(diagnostic->field == telemetry_field::throttle);
      CHECK(resolve_reason(diagnostic->failure) == expected.reason);
    }
  }
}

TEST_CASE("the reason for an absent clock is the state of its levels") {
  struct ClockCase {
    const char* levels;
    Reason reason;
    const char* words;
  };
  const ClockCase cases[] = {
      {"0: 500Mhz *\n1: 2400Mhz *\n", Reason::ambiguous, "pp_dpm_mclk marks several levels"},
      {"0: 500Mhz\n1: 2400Mhz\n", Reason::unsupported, "pp_dpm_mclk marks no level"},
      {"500 *\n", Reason::not_understood, "pp_dpm_mclk holds no number"},
      {"\n", Reason::unsupported, "not reported by the driver"},
  };
  for (const ClockCase& expected : cases) {
    CAPTURE(expected.words);
    Machine machine;
    hmn_fake::PciDevice card = navi();
    card.files.erase("hwmon/hwmon4/freq2_input");
    card.files.erase("hwmon/hwmon4/freq2_label");
    card.files["pp_dpm_mclk"] = expected.levels;
    machine.add_pci(card, {card0, render128});
    PlainReading reading;
    machine.devices(reading);
    Telemetry telemetry;
    REQUIRE(machine.source().telemetry(0, telemetry_field::all, telemetry, reading));
    CHECK_FALSE(telemetry.memory_clock_mhz);
    const Diagnostic* const diagnostic = reading.find(expected.words);
    REQUIRE(diagnostic != nullptr);
    INFO(diagnostic->failure.message.view());
    CHECK((diagnostic->field & telemetry_field::memory_clock_mhz) != 0);
    CHECK(resolve_reason(diagnostic->failure) == expected.reason);
  }
}

TEST_CASE("fill values and garbage are not readings") {
  Machine machine;
  machine.add_pci(navi(), {card0, render128});
  const std::pair<std::string, const char*> broken_files[] = {
      {card_folder + "gpu_busy_percent", "101\n"},
      {card_folder + "mem_busy_percent", "4294967295\n"},
      {hwmon_folder + "temp1_input", "65535000\n"},
      {hwmon_folder + "temp2_input", "hot\n"},
      {hwmon_folder + "power1_average", "-1\n"},
      {hwmon_folder + "power1_cap", ""},
      {hwmon_folder + "freq1_input", "9999999999999999\n"},
      {hwmon_folder + "fan1_input", "65535\n"},
      {hwmon_folder + "pwm1", "300\n"},
      {card_folder + "current_link_width", "255\n"},
      {card_folder + "current_link_speed", "Unknown\n"},
      {card_folder + "pp_dpm_sclk", "0: 5Mhz \n"}};
  for (const auto& [file, text] : broken_files) machine.tree().write(file, text);
  PlainReading reading;
  machine.devices(reading);
  Telemetry telemetry;
  REQUIRE(machine.source().telemetry(0, telemetry_field::all, telemetry, reading));
  REQUIRE(keep_plausible(telemetry, 0, reading));
  CHECK_FALSE(telemetry.gpu_busy_percent);
  CHECK_FALSE(telemetry.memory_busy_percent);
  CHECK_FALSE(telemetry.temperature_celsius);
  CHECK_FALSE(telemetry.hotspot_celsius);
  CHECK(telemetry.memory_celsius == 54);  // an invalid value does not affect the others
  CHECK_FALSE(telemetry.power_watts);
  CHECK_FALSE(telemetry.power_limit_watts);
  CHECK_FALSE(telemetry.core_clock_mhz);
  CHECK_FALSE(telemetry.fan_rpm);
  CHECK_FALSE(telemetry.fan_percent);
  CHECK_FALSE(telemetry.pcie_generation);
  CHECK_FALSE(telemetry.pcie_width);
  CHECK(reading.find("reported gpu_busy_percent 101")->field == telemetry_field::gpu_busy_percent);
  CHECK(reading.find("reported gpu_busy_percent 101")->failure.reason == Reason::implausible);
  CHECK(reading.find("temp2_input holds no number")->field == telemetry_field::hotspot_celsius);
}

TEST_CASE("errors of the system keep their meaning") {
  using hmn::amdgpu::make_unread_failure;
  CHECK(make_unread_failure(EPERM, "/d", "gpu_busy_percent").code == Status::asleep);
  CHECK(make_unread_failure(EACCES, "/d", "f").code == Status::permission);
  CHECK(make_unread_failure(ENODEV, "/d", "f").code == Status::device_lost);
  CHECK(make_unread_failure(EIO, "/d", "f").code == Status::backend);
  CHECK(make_unread_failure(ENOENT, "/d", "f").code == Status::unsupported);
  CHECK(make_unread_failure(EIO, "/d", "f").source == Source::amdgpu);
  Machine machine;
  machine.add_pci(navi(), {card0, render128});
  machine.tree().link(hwmon_folder + "temp1_input", "/proc/self/mem");  // EIO from its start
  PlainReading reading;
  machine.devices(reading);
  Telemetry telemetry;
  CHECK(machine.source()
            .telemetry(0, telemetry_field::temperature_celsius, telemetry, reading)
            .failure()
            .native.code == EIO);
}

TEST_CASE("the link of the slot is that of the switch on the card") {
  Machine machine;
  machine.add_pci(navi(), {card0, render128});
  drm::Card card;
  machine.tree().write("sys/devices/pci0000:00/0000:01:00.0/vendor", "0x1002\n");
  machine.tree().write("sys/devices/pci0000:00/0000:01:00.0/device", "0x1478\n");
  machine.tree().write("sys/devices/pci0000:00/0000:01:00.0/0000:02:00.0/vendor", "0x1002\n");
  machine.tree().write("sys/devices/pci0000:00/0000:01:00.0/0000:02:00.0/device", "0x1479\n");
  const std::string slot = machine.tree().sys() + "/devices/pci0000:00/0000:01:00.0";
  const std::string own = slot + "/0000:02:00.0/0000:03:00.0";
  card.folder.assign(own);
  CHECK(amdgpu::slot_folder(card, machine.tree().sys()) == slot);
  machine.tree().write("sys/devices/pci0000:00/0000:01:00.0/device", "0x43c6\n");
  CHECK(amdgpu::slot_folder(card, machine.tree().sys()) == own);
}

TEST_CASE("metrics include each sensor, limit and clock") {
  Machine machine;
  machine.add_pci(navi(), {card0, render128});
  PlainReading reading;
  const auto metrics = read_metrics(machine, reading);
  using Id = MetricId;
  CHECK(find_value(metrics, Id::engine_percent, metric_instance::engine::graphics) == 37);
  CHECK(find_value(metrics, Id::engine_percent, metric_instance::engine::memory) == 12);
  CHECK(find_value(metrics, Id::temperature, metric_instance::sensor::core) == 56);
  CHECK(find_value(metrics, Id::temperature, metric_instance::sensor::hotspot) == 59);
  CHECK(find_value(metrics, Id::temperature, metric_instance::sensor::memory) == 54);
  CHECK(find_value(metrics, Id::temperature_limit, metric_instance::sensor::core) == 100);
  CHECK(find_value(metrics, Id::temperature_shutdown, metric_instance::sensor::core) == 105);
  CHECK(find(metrics, Id::temperature_limit, metric_instance::sensor::memory) == nullptr);
  CHECK(find_value(metrics, Id::power_watts, metric_instance::power_reading::average) == 36.5);
  CHECK(find(metrics, Id::power_watts, metric_instance::power_reading::instant) == nullptr);
  CHECK(find_value(metrics, Id::power_limit_watts, metric_instance::power_limit::current) == 289);
  CHECK(find_value(metrics, Id::power_limit_watts, metric_instance::power_limit::max) == 332);
  CHECK(find_value(metrics, Id::power_limit_watts, metric_instance::power_limit::min) == 0);
  CHECK(find_value(metrics, Id::clock_mhz, metric_instance::clock::core) == 2505);
  CHECK(find_value(metrics, Id::clock_mhz, metric_instance::clock::soc) == 480);
  CHECK(find(metrics, Id::clock_mhz, metric_instance::clock::fabric) ==
        nullptr);  // no level has a star
  CHECK(find_value(metrics, Id::clock_limit_mhz, metric_instance::clock::fabric) == 1940);
  CHECK(find_value(metrics, Id::clock_limit_mhz, metric_instance::clock::memory) == 1000);
  CHECK(find_value(metrics, Id::fan_rpm, 1) == 900);
  CHECK(find_value(metrics, Id::fan_percent, 1) == 20);
  CHECK(find_value(metrics, Id::voltage, metric_instance::rail::core) == 0.762);
  CHECK(find_count(metrics, Id::pcie_replays, 0) == 7);
  CHECK(find(metrics, Id::ecc_corrected, metric_instance::era::since_load) == nullptr);  // slow
  const auto core_count = std::count_if(metrics.begin(), metrics.end(), [](const Metric& metric) {
    return metric.id == MetricId::clock_mhz && metric.instance == metric_instance::clock::core;
  });
  CHECK(core_count == 1);
}

TEST_CASE("a metric that fails has a diagnostic and does not affect the others") {
  Machine machine;
  machine.add_pci(navi(), {card0, render128});
  machine.tree().write(hwmon_folder + "temp2_input", "hot\n");
  machine.tree().link(card_folder + "pcie_replay_count", "/proc/self/mem");  // EIO from its start
  PlainReading reading;
  const auto metrics = read_metrics(machine, reading);
  CHECK(find(metrics, MetricId::temperature, metric_instance::sensor::hotspot) == nullptr);
  CHECK(find(metrics, MetricId::pcie_replays, 0) == nullptr);
  CHECK(find_value(metrics, MetricId::temperature, metric_instance::sensor::memory) == 54);
  const Diagnostic* const diagnostic = reading.find("temp2_input holds no number");
  REQUIRE(diagnostic != nullptr);
  CHECK(diagnostic->subject == subject::metrics);
  CHECK(diagnostic->field ==
        missing_metric(MetricId::temperature, metric_instance::sensor::hotspot));
  const Diagnostic* const replay_diagnostic = reading.find("pcie_replay_count cannot be read");
  REQUIRE(replay_diagnostic != nullptr);
  CHECK(replay_diagnostic->failure.native.code == EIO);
}

TEST_CASE("slow metrics are error counts and the gpu_metrics table") {
  Machine machine;
  hmn_fake::PciDevice card = navi();
  card.files["gpu_metrics"] = table_1_3(0);
  machine.add_pci(card, {card0, render128});
  PlainReading reading;
  const auto metrics = read_metrics(machine, reading, true);
  CHECK(find_count(metrics, MetricId::ecc_corrected, metric_instance::era::since_load) == 23);
  CHECK(find_count(metrics, MetricId::ecc_uncorrected, metric_instance::era::since_load) == 1);
  CHECK(find_value(metrics, MetricId::temperature, metric_instance::sensor::regulator) == 61);
  CHECK(find_value(metrics, MetricId::engine_percent, metric_instance::engine::video) == 5);
  CHECK(find(metrics, MetricId::energy_joules, metric_instance::power_reading::package) == nullptr);
}

TEST_CASE("power of an APU is reported once, for the package") {
  Machine machine;
  machine.add_pci(phoenix("0000:03:00.0"), {card0, render128});
  PlainReading reading;
  auto metrics = read_metrics(machine, reading);
  keep_plausible(metrics, 0, reading);
  CHECK(find_value(metrics, MetricId::power_watts, metric_instance::power_reading::package) ==
        3.103);
  CHECK(find(metrics, MetricId::power_watts, metric_instance::power_reading::average) == nullptr);
  CHECK(find(metrics, MetricId::power_watts, metric_instance::power_reading::instant) == nullptr);
  CHECK(find_value(metrics, MetricId::voltage, metric_instance::rail::soc) == 0.615);
  CHECK(find(metrics, MetricId::voltage, metric_instance::rail::core) == nullptr);  // 0 mV: gated
}
