// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Boards written by hand after L4T's device trees and drivers.
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
  void diagnose(const Diagnostic& d) override { diagnostics.push_back(d); }
  void opening() noexcept override {}
  void opened() noexcept override {}
  [[nodiscard]] const Diagnostic* about(FieldSet bits) const {
    for (const Diagnostic& d : diagnostics) {
      if ((d.field & bits) == bits) return &d;
    }
    return nullptr;
  }

  std::vector<Diagnostic> diagnostics;
};

const std::string gpu_folder = "sys/devices/platform/17000000.gpu/";
const std::string clock_folder = "sys/class/devfreq/17000000.gpu/";

// AGX Orin with L4T 35.
class Orin {
 public:
  Orin() {
    tree.write("sys/firmware/devicetree/base/model",
               std::string("NVIDIA Jetson AGX Orin Developer Kit\0", 37));
    tree.write(gpu_folder + "of_node/name", std::string("ga10b\0", 6));
    tree.write(gpu_folder + "of_node/compatible", std::string("nvidia,ga10b\0", 13));
    tree.write(gpu_folder + "load", "423\n");
    tree.write(gpu_folder + "power/runtime_status", "active\n");
    tree.write(clock_folder + "cur_freq", "918000000\n");
    tree.write(clock_folder + "max_freq", "1300500000\n");
    tree.link(clock_folder + "device", tree.path(gpu_folder.substr(0, gpu_folder.size() - 1)));
    zone(0, "CPU-therm", "51000");
    zone(1, "GPU-therm", "48750");
    rail("VDD_GPU_SOC", 5000, 1600);
  }
  void zone(int n, const char* type, const char* milli) const {
    const std::string folder = "sys/class/thermal/thermal_zone" + std::to_string(n) + "/";
    tree.write(folder + "type", std::string(type) + "\n");
    tree.write(folder + "temp", std::string(milli) + "\n");
  }
  void rail(const std::string& label, int millivolts, int milliamperes, int channel = 2) const {
    const std::string folder = "sys/class/hwmon/hwmon3/";
    tree.write(folder + "name", "ina3221\n");
    tree.write(folder + "in" + std::to_string(channel) + "_label", label + "\n");
    tree.write(folder + "in" + std::to_string(channel) + "_input",
               std::to_string(millivolts) + "\n");
    tree.write(folder + "curr" + std::to_string(channel) + "_input",
               std::to_string(milliamperes) + "\n");
  }
  void clients(const std::string& text) const {
    tree.write("sys/kernel/debug/nvmap/iovmm/clients", text);
  }

  [[nodiscard]] std::unique_ptr<DeviceSource> source(bool wake = false) const {
    Settings s;
    s.proc_root = tree.proc();
    s.sys_root = tree.sys();
    s.wake_devices = wake;
    return make_tegra(s);
  }

  hmn_fake::Tree tree;
};

std::vector<Device> devices_of(DeviceSource& s) {
  PlainReading r;
  std::vector<Device> found;
  if (!s.probe()) return found;
  REQUIRE(s.prepare(r));
  REQUIRE(s.devices(found, r));
  return found;
}

Telemetry reported(const Orin& board, std::uint64_t fields, PlainReading& r) {
  const auto s = board.source();
  REQUIRE(devices_of(*s).size() == 1);
  Telemetry out;
  CHECK(s->telemetry(0, fields, out, r));
  return out;
}

}  // namespace

TEST_CASE("a board's GPU is a unified, integrated device without a PCI address") {
  const Orin board;
  const auto s = board.source();
  const auto found = devices_of(*s);
  REQUIRE(found.size() == 1);
  CHECK(found[0].name.view() == "NVIDIA Jetson AGX Orin Developer Kit");
  CHECK(found[0].form == DeviceForm::integrated);
  CHECK(found[0].memory_kind == MemoryKind::unified);
  CHECK(found[0].vendor == vendor::nvidia);
  CHECK(found[0].state == State::ready);
  CHECK(found[0].from == Source::tegra);
  CHECK(found[0].pci_bus_id.empty());
  CHECK(s->describe(Source::tegra).state == State::ready);
}

TEST_CASE("the name comes from /proc where that is all there is") {
  const Orin board;
  board.tree.remove("sys/firmware");
  CHECK(devices_of(*board.source())[0].name.empty());
  board.tree.write("proc/device-tree/model", std::string("NVIDIA Orin NX\0", 15));
  CHECK(devices_of(*board.source())[0].name.view() == "NVIDIA Orin NX");
}

TEST_CASE("other makers' GPUs with a clock of devfreq are none of it") {
  const Orin board;
  board.tree.write(gpu_folder + "of_node/name", "gpu");
  board.tree.write(gpu_folder + "of_node/compatible", std::string("arm,mali-valhall\0", 17));
  CHECK(devices_of(*board.source()).empty());
  board.tree.write(gpu_folder + "of_node/compatible",
                   std::string("nvidia,tegra234-gpu\0nvidia,gpu\0", 31));
  CHECK(devices_of(*board.source()).size() == 1);
}

TEST_CASE("what nouveau drives is a DRM card") {
  const Orin board;
  board.tree.link(gpu_folder + "driver", "../../../bus/platform/drivers/nouveau");
  CHECK(devices_of(*board.source()).empty());
}

TEST_CASE("a machine that is no such board") {
  const hmn_fake::Tree tree;
  Settings s;
  s.sys_root = tree.sys();
  s.proc_root = tree.proc();
  const auto nothing = make_tegra(s);
  const auto here = nothing->probe();
  REQUIRE_FALSE(here);
  CHECK(here.why().code == Status::no_source);
  CHECK(nothing->describe(Source::tegra).state == State::absent);
}

TEST_CASE("load, clock and temperature") {
  const Orin board;
  PlainReading r;
  const Telemetry t = reported(
      board, field::gpu_busy_percent | field::core_clock_mhz | field::temperature_celsius, r);
  CHECK(t.gpu_busy_percent == 42.3);
  CHECK(t.core_clock_mhz == 918);
  CHECK(t.temperature_celsius == 48.75);
  CHECK(t.sources == bit_of(Source::tegra));
  CHECK(r.diagnostics.empty());
}

TEST_CASE("a rail that feeds others too is not the GPU's power, but told as the package's") {
  const Orin board;
  PlainReading r;
  const Telemetry t = reported(board, field::power_watts | field::gpu_busy_percent, r);
  CHECK_FALSE(t.power_watts);
  REQUIRE(r.about(field::power_watts));
  CHECK(r.about(field::power_watts)->why.code == Status::unsupported);
  CHECK(r.about(field::power_watts)->why.message.view().find("VDD_GPU_SOC") != std::string::npos);

  const auto s = board.source();
  REQUIRE(devices_of(*s).size() == 1);
  std::vector<Metric> all;
  REQUIRE(s->metrics(0, false, all, r));
  REQUIRE(all.size() == 5);
  CHECK(all[0].id == MetricId::clock_limit_mhz);
  CHECK(all[0].value == 1300.5);
  CHECK(all[4].id == MetricId::power_watts);
  CHECK(all[4].instance == which::power_reading::package);
  CHECK(all[4].value == doctest::Approx(5.0 * 1.6));
}

TEST_CASE("load, clock and temperature are metrics; one that is odd voids no other") {
  const Orin board;
  board.rail("VDD_GPU", 20000, 250);
  const auto s = board.source();
  REQUIRE(devices_of(*s).size() == 1);
  PlainReading r;
  std::vector<Metric> all;
  REQUIRE(s->metrics(0, false, all, r));
  REQUIRE(all.size() == 5);
  CHECK(all[1].id == MetricId::engine_percent);
  CHECK(all[1].instance == which::engine::graphics);
  CHECK(all[1].value == 42.3);
  CHECK(all[2].id == MetricId::clock_mhz);
  CHECK(all[2].value == 918);
  CHECK(all[3].id == MetricId::temperature);
  CHECK(all[3].value == 48.75);
  CHECK(all[4].id == MetricId::power_watts);
  CHECK(all[4].instance == 0);
  CHECK(all[4].value == doctest::Approx(20.0 * 0.25));
  board.tree.write(gpu_folder + "load", "1001\n");
  board.zone(1, "GPU-therm", "-256000");
  all.clear();
  REQUIRE(s->metrics(0, false, all, r));
  CHECK(all.size() == 3);
  CHECK(r.about(missing_metric(MetricId::engine_percent, which::engine::graphics)));
  CHECK(r.about(missing_metric(MetricId::temperature, which::sensor::core)));
}

TEST_CASE("the rail of the GPU may be on the last channel") {
  const Orin board;
  board.rail("VDD_GPU", 20000, 250, 3);
  const auto s = board.source();
  REQUIRE(devices_of(*s).size() == 1);
  PlainReading r;
  std::vector<Metric> all;
  REQUIRE(s->metrics(0, false, all, r));
  REQUIRE(all.size() == 5);
  CHECK(all[4].value == doctest::Approx(20.0 * 0.25));
}

TEST_CASE("a rail of the GPU alone is its power") {
  const Orin board;
  board.rail("VDD_GPU", 20000, 250);
  PlainReading r;
  CHECK(reported(board, field::power_watts, r).power_watts == doctest::Approx(20.0 * 0.25));
}

TEST_CASE("what the board does not tell, and what has no power now, is absent with a reason") {
  const Orin board;
  board.zone(1, "GPU-therm", "-256000");
  PlainReading r;
  const Telemetry t =
      reported(board, field::gpu_busy_percent | field::temperature_celsius | field::fan_rpm, r);
  CHECK(t.gpu_busy_percent);
  CHECK_FALSE(t.temperature_celsius);
  CHECK(r.about(field::temperature_celsius)->why.code == Status::backend);
  CHECK(r.about(field::fan_rpm)->why.code == Status::unsupported);

  const auto s = board.source();
  REQUIRE(devices_of(*s).size() == 1);
  Telemetry none;
  const auto refused = s->telemetry(0, field::fan_rpm | field::energy_joules, none, r);
  REQUIRE_FALSE(refused);
  CHECK(refused.why().code == Status::unsupported);
}

TEST_CASE("a load that is none is no load") {
  for (const char* const odd : {"1001", "-1", "busy", ""}) {
    CAPTURE(odd);
    const Orin board;
    board.tree.write(gpu_folder + "load", odd);
    PlainReading r;
    CHECK_FALSE(
        reported(board, field::gpu_busy_percent | field::core_clock_mhz, r).gpu_busy_percent);
    CHECK(r.about(field::gpu_busy_percent));
  }
}

TEST_CASE("asleep: identity alone, unless it may be woken") {
  const Orin board;
  board.tree.write(gpu_folder + "power/runtime_status", "suspended\n");
  const auto s = board.source();
  const auto found = devices_of(*s);
  REQUIRE(found.size() == 1);
  CHECK(found[0].state == State::asleep);
  PlainReading r;
  Telemetry t;
  const auto refused = s->telemetry(0, field::gpu_busy_percent, t, r);
  REQUIRE_FALSE(refused);
  CHECK(refused.why().code == Status::asleep);
  std::vector<Metric> all;
  CHECK(s->metrics(0, true, all, r));
  CHECK(all.empty());

  const auto waking = board.source(true);
  REQUIRE(devices_of(*waking).size() == 1);
  CHECK(waking->telemetry(0, field::gpu_busy_percent, t, r));
  CHECK(t.gpu_busy_percent);
}

TEST_CASE("memory is one unified pool; its use is nvmap's, which root alone may read") {
  const Orin board;
  const auto s = board.source();
  REQUIRE(devices_of(*s).size() == 1);
  PlainReading r;
  Pools all;
  REQUIRE(s->memory(0, all, r));
  REQUIRE(all.all().size() == 1);
  CHECK(all.all()[0].kind == PoolKind::unified);
  CHECK(all.all()[0].is_main);
  CHECK_FALSE(all.all()[0].total);
  CHECK_FALSE(all.all()[0].used);
  REQUIRE(r.diagnostics.size() == 1);
  CHECK(r.diagnostics[0].field == pool_field::used);

  board.clients("CLIENT PROCESS PID SIZE\nuser a 7 100K\nuser b 8 50K\nuser a 7 20K\ntotal 130K\n");
  all.clear();
  REQUIRE(s->memory(0, all, r));
  CHECK(all.all()[0].used == 130 * 1024);
  CHECK(all.all()[0].accounting == Accounting::allocated);
}

TEST_CASE("a process has a row with all of its clients") {
  const Orin board;
  board.clients("user a 7 100K\nuser b 8 50K\nuser a 7 20K\ntotal 170K\n");
  const auto s = board.source();
  REQUIRE(devices_of(*s).size() == 1);
  PlainReading r;
  std::vector<Usage> rows;
  REQUIRE(s->processes(0, rows, r));
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].pid == 7);
  CHECK(rows[0].used == 120 * 1024);
  CHECK(rows[1].used == 50 * 1024);
  Usage one;
  REQUIRE(s->process(0, 8, false, one, r));
  CHECK(one.used == 50 * 1024);
  const auto none = s->process(0, 9, true, one, r);
  REQUIRE_FALSE(none);
  CHECK(none.why().code == Status::no_process);
}

TEST_CASE("a list of clients that is not understood is not an empty list") {
  const Orin board;
  const auto s = board.source();
  REQUIRE(devices_of(*s).size() == 1);
  for (const char* text : {"", "CLIENT PROCESS PID SIZE\n", "user a seven 100K\ntotal 100K\n",
                           "garbage\n", "total many\n"}) {
    CAPTURE(text);
    board.clients(text);
    PlainReading r;
    std::vector<Usage> rows;
    const auto listed = s->processes(0, rows, r);
    CHECK(rows.empty());
    REQUIRE_FALSE(listed);
    CHECK(listed.why().code == Status::backend);
    CHECK(listed.why().stated == Reason::not_understood);
  }
  board.clients("CLIENT PROCESS PID SIZE\ntotal 0K\n");
  PlainReading r;
  std::vector<Usage> rows;
  CHECK(s->processes(0, rows, r));
  CHECK(rows.empty());
  board.clients("user a 7 100K\nuser b eight 50K\ntotal 150K\n");
  REQUIRE(s->processes(0, rows, r));
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].notes == note::lower_bound);
  REQUIRE(r.diagnostics.size() == 1);
  CHECK(r.diagnostics[0].about == subject::processes);
}

TEST_CASE("a GPU whose driver is unloaded is gone, and back when it is loaded") {
  const Orin board;
  const auto s = board.source();
  REQUIRE(devices_of(*s).size() == 1);
  board.tree.remove("sys/devices/platform/17000000.gpu");
  CHECK(devices_of(*s).empty());
  PlainReading r;
  Pools all;
  CHECK(s->memory(0, all, r).why().code == Status::device_lost);
}
