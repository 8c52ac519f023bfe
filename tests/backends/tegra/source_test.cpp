// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Hand-written boards that follow the device trees and drivers of L4T.
#include <doctest/doctest.h>

#include <optional>

#include "fake_tree.hpp"
#include "model/telemetry.hpp"
#include "source/registry.hpp"

using namespace hmn;
namespace field = telemetry_field;

namespace {

class PlainReading final : public Reading {
 public:
  std::uint64_t deadline_ns() const noexcept override { return ~std::uint64_t{0}; }
  bool wants_trace() const noexcept override { return false; }
  void diagnose(const Diagnostic& diagnostic) override { diagnostics.push_back(diagnostic); }
  void begin_opening() noexcept override {}
  void end_opening() noexcept override {}
  [[nodiscard]] const Diagnostic* find_diagnostic(FieldSet bits) const {
    for (const Diagnostic& diagnostic : diagnostics) {
      if ((diagnostic.field & bits) == bits) return &diagnostic;
    }
    return nullptr;
  }

  std::vector<Diagnostic> diagnostics;
};

const std::string gpu_folder = "sys/devices/platform/17000000.gpu/";
const std::string clock_folder = "sys/class/devfreq/17000000.gpu/";

// AGX Orin with L4T 35.
class OrinBoard {
 public:
  OrinBoard() {
    tree.write("sys/firmware/devicetree/base/model",
               std::string("NVIDIA Jetson AGX Orin Developer Kit\0", 37));
    tree.write(gpu_folder + "of_node/name", std::string("ga10b\0", 6));
    tree.write(gpu_folder + "of_node/compatible", std::string("nvidia,ga10b\0", 13));
    tree.write(gpu_folder + "load", "423\n");
    tree.write(gpu_folder + "power/runtime_status", "active\n");
    tree.write(clock_folder + "cur_freq", "918000000\n");
    tree.write(clock_folder + "max_freq", "1300500000\n");
    tree.link(clock_folder + "device", tree.path(gpu_folder.substr(0, gpu_folder.size() - 1)));
    add_zone(0, "CPU-therm", "51000");
    add_zone(1, "GPU-therm", "48750");
    add_rail("VDD_GPU_SOC", 5000, 1600);
  }
  void add_zone(int number, const char* type, const char* millidegrees) const {
    const std::string folder = "sys/class/thermal/thermal_zone" + std::to_string(number) + "/";
    tree.write(folder + "type", std::string(type) + "\n");
    tree.write(folder + "temp", std::string(millidegrees) + "\n");
  }
  void add_rail(const std::string& label, int millivolts, int milliamperes, int channel = 2) const {
    const std::string folder = "sys/class/hwmon/hwmon3/";
    tree.write(folder + "name", "ina3221\n");
    tree.write(folder + "in" + std::to_string(channel) + "_label", label + "\n");
    tree.write(folder + "in" + std::to_string(channel) + "_input",
               std::to_string(millivolts) + "\n");
    tree.write(folder + "curr" + std::to_string(channel) + "_input",
               std::to_string(milliamperes) + "\n");
  }
  void write_clients(const std::string& text) const {
    tree.write("sys/kernel/debug/nvmap/iovmm/clients", text);
  }

  [[nodiscard]] std::unique_ptr<DeviceSource> make_source(bool wake = false) const {
    Settings settings;
    settings.proc_root = tree.proc();
    settings.sys_root = tree.sys();
    settings.wake_devices = wake;
    return make_tegra(settings);
  }

  hmn_fake::Tree tree;
};

std::vector<Device> list_devices(DeviceSource& source) {
  PlainReading reading;
  std::vector<Device> devices;
  if (!source.probe()) return devices;
  REQUIRE(source.prepare(reading));
  REQUIRE(source.devices(devices, reading));
  return devices;
}

Telemetry read_telemetry(const OrinBoard& board, std::uint64_t fields, PlainReading& reading) {
  const auto source = board.make_source();
  REQUIRE(list_devices(*source).size() == 1);
  Telemetry telemetry;
  CHECK(source->telemetry(0, fields, telemetry, reading));
  return telemetry;
}

}  // namespace

TEST_CASE("the GPU of a board is a unified, integrated device without a PCI address") {
  const OrinBoard board;
  const auto source = board.make_source();
  const auto devices = list_devices(*source);
  REQUIRE(devices.size() == 1);
  CHECK(devices[0].name.view() == "NVIDIA Jetson AGX Orin Developer Kit");
  CHECK(devices[0].form == DeviceForm::integrated);
  CHECK(devices[0].memory_kind == MemoryKind::unified);
  CHECK(devices[0].vendor == vendor::nvidia);
  CHECK(devices[0].state == State::ready);
  CHECK(devices[0].source == Source::tegra);
  CHECK(devices[0].pci_bus_id.empty());
  CHECK(source->describe(Source::tegra).state == State::ready);
}

TEST_CASE("the name is read from /proc if /sys has none") {
  const OrinBoard board;
  board.tree.remove("sys/firmware");
  CHECK(list_devices(*board.make_source())[0].name.empty());
  board.tree.write("proc/device-tree/model", std::string("NVIDIA Orin NX\0", 15));
  CHECK(list_devices(*board.make_source())[0].name.view() == "NVIDIA Orin NX");
}

TEST_CASE("GPUs of other makers with a devfreq clock are not listed") {
  const OrinBoard board;
  board.tree.write(gpu_folder + "of_node/name", "gpu");
  board.tree.write(gpu_folder + "of_node/compatible", std::string("arm,mali-valhall\0", 17));
  CHECK(list_devices(*board.make_source()).empty());
  board.tree.write(gpu_folder + "of_node/compatible",
                   std::string("nvidia,tegra234-gpu\0nvidia,gpu\0", 31));
  CHECK(list_devices(*board.make_source()).size() == 1);
}

TEST_CASE("a GPU driven by nouveau is not listed, being a DRM card") {
  const OrinBoard board;
  board.tree.link(gpu_folder + "driver", "../../../bus/platform/drivers/nouveau");
  CHECK(list_devices(*board.make_source()).empty());
}

TEST_CASE("a machine that is not such a board has no source") {
  const hmn_fake::Tree tree;
  Settings settings;
  settings.sys_root = tree.sys();
  settings.proc_root = tree.proc();
  const auto source = make_tegra(settings);
  const auto result = source->probe();
  REQUIRE_FALSE(result);
  CHECK(result.failure().code == Status::no_source);
  CHECK(source->describe(Source::tegra).state == State::absent);
}

TEST_CASE("load, clock and temperature are read") {
  const OrinBoard board;
  PlainReading reading;
  const Telemetry telemetry = read_telemetry(
      board, field::gpu_busy_percent | field::core_clock_mhz | field::temperature_celsius, reading);
  CHECK(telemetry.gpu_busy_percent == 42.3);
  CHECK(telemetry.core_clock_mhz == 918);
  CHECK(telemetry.temperature_celsius == 48.75);
  CHECK(telemetry.sources == source_bit(Source::tegra));
  CHECK(reading.diagnostics.empty());
}

TEST_CASE("power of a shared rail is not the GPU's power but a metric of the package") {
  const OrinBoard board;
  PlainReading reading;
  const Telemetry telemetry =
      read_telemetry(board, field::power_watts | field::gpu_busy_percent, reading);
  CHECK_FALSE(telemetry.power_watts);
  REQUIRE(reading.find_diagnostic(field::power_watts));
  CHECK(reading.find_diagnostic(field::power_watts)->failure.code == Status::unsupported);
  CHECK(reading.find_diagnostic(field::power_watts)->failure.message.view().find("VDD_GPU_SOC") !=
        std::string::npos);

  const auto source = board.make_source();
  REQUIRE(list_devices(*source).size() == 1);
  std::vector<Metric> metrics;
  REQUIRE(source->metrics(0, false, metrics, reading));
  REQUIRE(metrics.size() == 5);
  CHECK(metrics[0].id == MetricId::clock_limit_mhz);
  CHECK(metrics[0].value == 1300.5);
  CHECK(metrics[4].id == MetricId::power_watts);
  CHECK(metrics[4].instance == metric_instance::power_reading::package);
  CHECK(metrics[4].value == doctest::Approx(5.0 * 1.6));
}

TEST_CASE("load, clock and temperature are metrics; an odd value does not affect the others") {
  const OrinBoard board;
  board.add_rail("VDD_GPU", 20000, 250);
  const auto source = board.make_source();
  REQUIRE(list_devices(*source).size() == 1);
  PlainReading reading;
  std::vector<Metric> metrics;
  REQUIRE(source->metrics(0, false, metrics, reading));
  REQUIRE(metrics.size() == 5);
  CHECK(metrics[1].id == MetricId::engine_percent);
  CHECK(metrics[1].instance == metric_instance::engine::graphics);
  CHECK(metrics[1].value == 42.3);
  CHECK(metrics[2].id == MetricId::clock_mhz);
  CHECK(metrics[2].value == 918);
  CHECK(metrics[3].id == MetricId::temperature);
  CHECK(metrics[3].value == 48.75);
  CHECK(metrics[4].id == MetricId::power_watts);
  CHECK(metrics[4].instance == 0);
  CHECK(metrics[4].value == doctest::Approx(20.0 * 0.25));
  board.tree.write(gpu_folder + "load", "1001\n");
  board.add_zone(1, "GPU-therm", "-256000");
  metrics.clear();
  REQUIRE(source->metrics(0, false, metrics, reading));
  CHECK(metrics.size() == 3);
  CHECK(reading.find_diagnostic(
      missing_metric(MetricId::engine_percent, metric_instance::engine::graphics)));
  CHECK(reading.find_diagnostic(
      missing_metric(MetricId::temperature, metric_instance::sensor::core)));
}

TEST_CASE("the GPU's rail may be on the last channel") {
  const OrinBoard board;
  board.add_rail("VDD_GPU", 20000, 250, 3);
  const auto source = board.make_source();
  REQUIRE(list_devices(*source).size() == 1);
  PlainReading reading;
  std::vector<Metric> metrics;
  REQUIRE(source->metrics(0, false, metrics, reading));
  REQUIRE(metrics.size() == 5);
  CHECK(metrics[4].value == doctest::Approx(20.0 * 0.25));
}

TEST_CASE("power of a rail that feeds only the GPU is the GPU's power") {
  const OrinBoard board;
  board.add_rail("VDD_GPU", 20000, 250);
  PlainReading reading;
  CHECK(read_telemetry(board, field::power_watts, reading).power_watts ==
        doctest::Approx(20.0 * 0.25));
}

TEST_CASE("a value that the board does not report has a reason") {
  const OrinBoard board;
  board.add_zone(1, "GPU-therm", "-256000");
  PlainReading reading;
  const Telemetry telemetry = read_telemetry(
      board, field::gpu_busy_percent | field::temperature_celsius | field::fan_rpm, reading);
  CHECK(telemetry.gpu_busy_percent);
  CHECK_FALSE(telemetry.temperature_celsius);
  CHECK(reading.find_diagnostic(field::temperature_celsius)->failure.code == Status::backend);
  CHECK(reading.find_diagnostic(field::fan_rpm)->failure.code == Status::unsupported);

  const auto source = board.make_source();
  REQUIRE(list_devices(*source).size() == 1);
  Telemetry absent_telemetry;
  const auto result =
      source->telemetry(0, field::fan_rpm | field::energy_joules, absent_telemetry, reading);
  REQUIRE_FALSE(result);
  CHECK(result.failure().code == Status::unsupported);
}

TEST_CASE("an implausible load is absent") {
  for (const char* const text : {"1001", "-1", "busy", ""}) {
    CAPTURE(text);
    const OrinBoard board;
    board.tree.write(gpu_folder + "load", text);
    PlainReading reading;
    CHECK_FALSE(read_telemetry(board, field::gpu_busy_percent | field::core_clock_mhz, reading)
                    .gpu_busy_percent);
    CHECK(reading.find_diagnostic(field::gpu_busy_percent));
  }
}

TEST_CASE("a sleeping GPU has only its identity, unless it may be woken") {
  const OrinBoard board;
  board.tree.write(gpu_folder + "power/runtime_status", "suspended\n");
  const auto source = board.make_source();
  const auto devices = list_devices(*source);
  REQUIRE(devices.size() == 1);
  CHECK(devices[0].state == State::asleep);
  PlainReading reading;
  Telemetry telemetry;
  const auto result = source->telemetry(0, field::gpu_busy_percent, telemetry, reading);
  REQUIRE_FALSE(result);
  CHECK(result.failure().code == Status::asleep);
  std::vector<Metric> metrics;
  CHECK(source->metrics(0, true, metrics, reading));
  CHECK(metrics.empty());

  const auto waking_source = board.make_source(true);
  REQUIRE(list_devices(*waking_source).size() == 1);
  CHECK(waking_source->telemetry(0, field::gpu_busy_percent, telemetry, reading));
  CHECK(telemetry.gpu_busy_percent);
}

TEST_CASE("memory is one unified pool, with use from nvmap, which only root may read") {
  const OrinBoard board;
  const auto source = board.make_source();
  REQUIRE(list_devices(*source).size() == 1);
  PlainReading reading;
  PoolList pools;
  REQUIRE(source->memory(0, pools, reading));
  REQUIRE(pools.all().size() == 1);
  CHECK(pools.all()[0].kind == PoolKind::unified);
  CHECK(pools.all()[0].is_main);
  CHECK_FALSE(pools.all()[0].total);
  CHECK_FALSE(pools.all()[0].used);
  REQUIRE(reading.diagnostics.size() == 1);
  CHECK(reading.diagnostics[0].field == pool_field::used);

  board.write_clients(
      "CLIENT PROCESS PID SIZE\nuser a 7 100K\nuser b 8 50K\nuser a 7 20K\ntotal 130K\n");
  pools.clear();
  REQUIRE(source->memory(0, pools, reading));
  CHECK(pools.all()[0].used == 130 * 1024);
  CHECK(pools.all()[0].accounting == Accounting::allocated);
}

TEST_CASE("a process has one row with all of its clients") {
  const OrinBoard board;
  board.write_clients("user a 7 100K\nuser b 8 50K\nuser a 7 20K\ntotal 170K\n");
  const auto source = board.make_source();
  REQUIRE(list_devices(*source).size() == 1);
  PlainReading reading;
  std::vector<Usage> rows;
  REQUIRE(source->processes(0, rows, reading));
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].pid == 7);
  CHECK(rows[0].used == 120 * 1024);
  CHECK(rows[1].used == 50 * 1024);
  Usage usage;
  REQUIRE(source->process(0, 8, false, usage, reading));
  CHECK(usage.used == 50 * 1024);
  const auto missing = source->process(0, 9, true, usage, reading);
  REQUIRE_FALSE(missing);
  CHECK(missing.failure().code == Status::no_process);
}

TEST_CASE("a malformed list of clients is an error, not an empty list") {
  const OrinBoard board;
  const auto source = board.make_source();
  REQUIRE(list_devices(*source).size() == 1);
  for (const char* text : {"", "CLIENT PROCESS PID SIZE\n", "user a seven 100K\ntotal 100K\n",
                           "garbage\n", "total many\n"}) {
    CAPTURE(text);
    board.write_clients(text);
    PlainReading reading;
    std::vector<Usage> rows;
    const auto result = source->processes(0, rows, reading);
    CHECK(rows.empty());
    REQUIRE_FALSE(result);
    CHECK(result.failure().code == Status::backend);
    CHECK(result.failure().reason == Reason::not_understood);
  }
  board.write_clients("CLIENT PROCESS PID SIZE\ntotal 0K\n");
  PlainReading reading;
  std::vector<Usage> rows;
  CHECK(source->processes(0, rows, reading));
  CHECK(rows.empty());
  board.write_clients("user a 7 100K\nuser b eight 50K\ntotal 150K\n");
  REQUIRE(source->processes(0, rows, reading));
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].notes == note::lower_bound);
  REQUIRE(reading.diagnostics.size() == 1);
  CHECK(reading.diagnostics[0].subject == subject::processes);
}

TEST_CASE("a GPU whose driver is unloaded is gone, and returns when it is loaded") {
  const OrinBoard board;
  const auto source = board.make_source();
  REQUIRE(list_devices(*source).size() == 1);
  board.tree.remove("sys/devices/platform/17000000.gpu");
  CHECK(list_devices(*source).empty());
  PlainReading reading;
  PoolList pools;
  CHECK(source->memory(0, pools, reading).failure().code == Status::device_lost);
}
