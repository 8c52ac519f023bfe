// SPDX-License-Identifier: MIT OR Apache-2.0
//
// An Instinct card that is split: the kernel makes a node for each part that there could be, and
// KFD lists them.
#include <doctest/doctest.h>

#include "../amdgpu/cards.hpp"
#include "machine.hpp"

using namespace hmn;
using namespace amdgpu_test;
using namespace drm_test;

namespace {

void add_part(const Machine& m, const char* name, const FakeNode& node) {
  const std::string path = std::string("devices/platform/") + name;
  m.add_platform(name, "none", {node});
  m.tree().remove("sys/" + path + "/driver");
}

struct SplitMachine : Machine {
  explicit SplitMachine(bool old_locations = false) {
    add_pci(navi("0000:05:00.0"), {card0, render128});
    add_part(*this, "amdgpu_xcp_1", render129);
    add_part(*this, "amdgpu_xcp_2", {"renderD130", "/dev/random"});
    set_kfd_generation(tree(), 1);
    add_kfd_node(tree(), {.node = 2, .gpu_id = 100, .location = 0x500, .memory = 8 * gib});
    add_kfd_node(tree(), {.node = 3,
                          .gpu_id = 101,
                          .location = old_locations ? 0x501U : 0x10000500U,
                          .render_minor = 129,
                          .memory = 8 * gib});
    hmn_fake::set_pid_namespace(tree(), 1, 4026531836);
    hmn_fake::set_self(tree(), 1);
  }
};

}  // namespace

TEST_CASE("a part is a device under its card; a node that could be one is none") {
  for (const bool old_locations : {false, true}) {
    CAPTURE(old_locations);
    SplitMachine m(old_locations);
    PlainReading r;
    const auto found = m.devices(r);
    REQUIRE(found.size() == 2);
    const bool card_first = found[0].form == DeviceForm::discrete;
    const Device& card = found[card_first ? 0 : 1];
    const Device& part = found[card_first ? 1 : 0];
    CHECK(part.is_part);
    CHECK(part.parent == card.number);
    CHECK(part.render_minor == 129u);
    CHECK(part.vendor == vendor::amd);
    CHECK(part.name.view() == card.name.view());
    CHECK(part.uuid.empty());  // the card's would make them one
    CHECK(part.from == Source::amdgpu);
    CHECK_FALSE(card.parent);
  }
}

TEST_CASE("a part has its share of the memory, and no figure of the whole card") {
  SplitMachine m;
  PlainReading r;
  const auto found = m.devices(r);
  REQUIRE(found.size() == 2);
  for (const Device& d : found) {
    Pools p;
    REQUIRE(m.source().memory(d.number, p, r));
    const bool is_part = d.is_part;
    CHECK(p.find(PoolKind::main)->total == (is_part ? 8 * gib : 16 * gib));
    CHECK(p.find(PoolKind::main)->used.has_value() == !is_part);
    Telemetry t;
    const Result<void> ok = m.source().telemetry(d.number, telemetry_field::all, t, r);
    CHECK(static_cast<bool>(ok) == !is_part);
    std::vector<Metric> all;
    REQUIRE(m.source().metrics(d.number, true, all, r));
    CHECK(all.empty() == is_part);
    if (!is_part) continue;
    CHECK(ok.why().code == Status::unsupported);
    CHECK(ok.why().message.view().find("whole GPU") != std::string_view::npos);
    const Diagnostic* const why = r.find("sensors, power and clocks are of the whole GPU");
    REQUIRE(why != nullptr);
    CHECK(why->device == d.number);
    CHECK(why->about == subject::metrics);
  }
}

TEST_CASE("processes stand under their part") {
  SplitMachine m;
  set_kfd_vram(m.tree(), 50, 100, 1 * mib);
  set_kfd_vram(m.tree(), 51, 101, 2 * mib);
  m.add_process(60, {{3, render129.stands_for, client_text("0000:05:00.0", 9, 16, 0)}});
  PlainReading r;
  for (const Device& d : m.devices(r)) {
    const bool is_part = d.is_part;
    const auto rows = m.rows(d.number, r);
    REQUIRE(rows.size() == (is_part ? 2 : 1));
    for (const Usage& u : rows) CHECK((u.pid == 50) == !is_part);
  }
}

TEST_CASE("a change of the partition mode is seen at the next listing") {
  SplitMachine m;
  PlainReading r;
  REQUIRE(m.devices(r).size() == 2);
  m.tree().remove("sys/class/kfd/kfd/topology/nodes/3");
  set_kfd_generation(m.tree(), 2);
  CHECK(m.devices(r).size() == 2 - 1);
  add_kfd_node(m.tree(), {.node = 3, .gpu_id = 101, .location = 0x10000500, .render_minor = 129});
  add_kfd_node(m.tree(), {.node = 4, .gpu_id = 102, .location = 0x20000500, .render_minor = 130});
  set_kfd_generation(m.tree(), 3);
  std::vector<Device> found;
  REQUIRE(m.source().devices(found, r));
  CHECK(found.size() == 3);
}

TEST_CASE("without amdgpu's driver parts are no devices") {
  SplitMachine m;
  Settings s = m.settings();
  s.sources_off = bit_of(Source::amdgpu);
  drm::DrmSource any(s);
  PlainReading r;
  std::vector<Device> found;
  REQUIRE(any.prepare(r));
  REQUIRE(any.devices(found, r));
  REQUIRE(found.size() == 1);
  CHECK(found[0].pci_bus_id.view() == "0000:05:00.0");
}
