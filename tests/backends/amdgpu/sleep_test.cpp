// SPDX-License-Identifier: MIT OR Apache-2.0
//
// A sleeping card is left asleep: shown by the files that were opened.
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

hmn_fake::PciDevice asleep() {
  hmn_fake::PciDevice d = navi();
  d.runtime_status = "suspended";
  d.files["gpu_metrics"] = std::string(120, '\1');
  return d;
}

// Everything that a snapshot asks of a device.
void ask_everything(Machine& m, PlainReading& r, Pools& p) {
  m.devices(r);
  static_cast<void>(m.source().memory(0, p, r));
  Telemetry t;
  static_cast<void>(m.source().telemetry(0, telemetry_field::all, t, r));
  std::vector<Metric> all;
  static_cast<void>(m.source().metrics(0, true, all, r));
  m.rows(0, r);
  Usage own;
  static_cast<void>(m.source().process(0, 42, true, own, r));
}

}  // namespace

TEST_CASE("of a sleeping card only what the kernel holds in memory is opened") {
  Machine m;
  m.add_pci(asleep(), {card0, render128});
  m.add_process(42, {{3, "/dev/null", client_text("0000:03:00.0", 7, 2048, 512)}});
  hmn_fake::OpenWatch in_device(m.tree().path(navi_folder));
  hmn_fake::OpenWatch in_hwmon(m.tree().path(navi_folder + "/hwmon/hwmon4"));
  hmn_fake::OpenWatch in_ras(m.tree().path(navi_folder + "/ras"));
  hmn_fake::OpenWatch in_power(m.tree().path(navi_folder + "/power"));
  hmn_fake::OpenWatch node(m.tree().path("dev/dri"));
  PlainReading r;
  Pools p;
  ask_everything(m, r, p);

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
  for (const std::string& name : in_device.opened()) {
    CAPTURE(name);
    CHECK(allowed.count(name) == 1);
  }
  for (const std::string& name : in_hwmon.opened()) {
    CAPTURE(name);
    CHECK((name.empty() || name == "name" || name == "in1_label"));
  }
  CHECK(in_ras.opened().empty());
  for (const std::string& name : in_power.opened()) CHECK(name == "runtime_status");
  CHECK(node.opened().empty());
}

TEST_CASE("a sleeping card has its identity and its totals") {
  Machine m;
  m.add_pci(asleep(), {card0, render128});
  PlainReading r;
  const auto found = m.devices(r);
  REQUIRE(found.size() == 1);
  CHECK(found[0].state == State::asleep);
  CHECK(found[0].uuid.view() == "GPU-946d7e1ef9b172dd");
  CHECK(found[0].form == DeviceForm::discrete);
  Pools p;
  REQUIRE(m.source().memory(0, p, r));
  CHECK(p.find(PoolKind::main)->total == 16 * gib);
  CHECK_FALSE(p.find(PoolKind::main)->used);
  CHECK_FALSE(p.find(PoolKind::main)->free);
  Telemetry t;
  CHECK(m.source().telemetry(0, telemetry_field::all, t, r).why().code == Status::asleep);
  std::vector<Metric> all;
  CHECK(m.source().metrics(0, true, all, r).why().code == Status::asleep);
}

// show_fdinfo of amdgpu adds up what is in RAM.
TEST_CASE("what clients of a sleeping card use is told") {
  Machine m;
  m.add_pci(asleep(), {card0, render128});
  m.add_process(42, {{3, "/dev/null", client_text("0000:03:00.0", 7, 2048, 512)}});
  PlainReading r;
  m.devices(r);
  const auto rows = m.rows(0, r);
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].used == 2048 * kib);
}

TEST_CASE("the file that takes a second is never opened, awake or not") {
  Machine m(true);
  m.add_pci(navi(), {card0, render128});
  hmn_fake::OpenWatch in_device(m.tree().path(navi_folder));
  PlainReading r;
  Pools p;
  ask_everything(m, r, p);
  const auto opened = in_device.opened();
  CHECK(std::count(opened.begin(), opened.end(), "pcie_bw") == 0);
  CHECK(std::count(opened.begin(), opened.end(), "gpu_busy_percent") != 0);
}
