// SPDX-License-Identifier: MIT OR Apache-2.0
//
// A sleeping card is left asleep, as the opened files show.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "cards.hpp"
#include "machine.hpp"
#include "open_watch.hpp"

using namespace hmn;
using namespace amdgpu_test;
using namespace drm_test;

namespace {

hmn_fake::PciDevice sleeping_card() {
  hmn_fake::PciDevice card = navi();
  card.runtime_status = "suspended";
  card.files["gpu_metrics"] = std::string(120, '\1');
  return card;
}

// Reads everything that a snapshot reads of a device.
void read_everything(Machine& machine, PlainReading& reading, PoolList& pools) {
  machine.devices(reading);
  static_cast<void>(machine.source().memory(0, pools, reading));
  Telemetry telemetry;
  static_cast<void>(machine.source().telemetry(0, telemetry_field::all, telemetry, reading));
  std::vector<Metric> metrics;
  static_cast<void>(machine.source().metrics(0, true, metrics, reading));
  machine.rows(0, reading);
  Usage own;
  static_cast<void>(machine.source().process(0, 42, true, own, reading));
}

}  // namespace

TEST_CASE("a reading of a sleeping card opens only files that the kernel serves from memory") {
  Machine machine;
  machine.add_pci(sleeping_card(), {card0, render128});
  machine.add_process(42, {{3, "/dev/null", client_text("0000:03:00.0", 7, 2048, 512)}});
  hmn_fake::OpenWatch device_watch(machine.tree().path(navi_folder));
  hmn_fake::OpenWatch hwmon_watch(machine.tree().path(navi_folder + "/hwmon/hwmon4"));
  hmn_fake::OpenWatch ras_watch(machine.tree().path(navi_folder + "/ras"));
  hmn_fake::OpenWatch power_watch(machine.tree().path(navi_folder + "/power"));
  hmn_fake::OpenWatch node_watch(machine.tree().path("dev/dri"));
  PlainReading reading;
  PoolList pools;
  read_everything(machine, reading, pools);

  const std::set<std::string> allowed = {"uevent",
                                         "vendor",
                                         "device",
                                         "subsystem_vendor",
                                         "subsystem_device",
                                         "product_name",
                                         "revision",
                                         "unique_id",
                                         "numa_node",
                                         "mem_info_vram_total",
                                         "mem_info_gtt_total",
                                         "hwmon",
                                         "drm",
                                         "mem_info_vis_vram_total",
                                         "power"};
  for (const std::string& name : device_watch.opened_names()) {
    CAPTURE(name);
    CHECK(allowed.count(name) == 1);
  }
  for (const std::string& name : hwmon_watch.opened_names()) {
    CAPTURE(name);
    CHECK((name.empty() || name == "name" || name == "in1_label"));
  }
  CHECK(ras_watch.opened_names().empty());
  for (const std::string& name : power_watch.opened_names()) CHECK(name == "runtime_status");
  CHECK(node_watch.opened_names().empty());
}

TEST_CASE("a sleeping card has its identity and its totals") {
  Machine machine;
  machine.add_pci(sleeping_card(), {card0, render128});
  PlainReading reading;
  const auto devices = machine.devices(reading);
  REQUIRE(devices.size() == 1);
  CHECK(devices[0].state == State::asleep);
  CHECK(devices[0].uuid.view() == "GPU-946d7e1ef9b172dd");
  CHECK(devices[0].form == DeviceForm::discrete);
  PoolList pools;
  REQUIRE(machine.source().memory(0, pools, reading));
  CHECK(pools.find(PoolKind::main)->total == 16 * gib);
  CHECK_FALSE(pools.find(PoolKind::main)->used);
  CHECK_FALSE(pools.find(PoolKind::main)->free);
  Telemetry telemetry;
  CHECK(machine.source().telemetry(0, telemetry_field::all, telemetry, reading).failure().code ==
        Status::asleep);
  std::vector<Metric> metrics;
  CHECK(machine.source().metrics(0, true, metrics, reading).failure().code == Status::asleep);
}

// show_fdinfo of amdgpu adds up counters in RAM.
TEST_CASE("memory of clients of a sleeping card is reported") {
  Machine machine;
  machine.add_pci(sleeping_card(), {card0, render128});
  machine.add_process(42, {{3, "/dev/null", client_text("0000:03:00.0", 7, 2048, 512)}});
  PlainReading reading;
  machine.devices(reading);
  const auto rows = machine.rows(0, reading);
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].used == 2048 * kib);
}

TEST_CASE("pcie_bw, which takes a second, is never opened, even if the card is awake") {
  Machine machine(true);
  machine.add_pci(navi(), {card0, render128});
  hmn_fake::OpenWatch device_watch(machine.tree().path(navi_folder));
  PlainReading reading;
  PoolList pools;
  read_everything(machine, reading, pools);
  const auto names = device_watch.opened_names();
  CHECK(std::count(names.begin(), names.end(), "pcie_bw") == 0);
  CHECK(std::count(names.begin(), names.end(), "gpu_busy_percent") != 0);
}
