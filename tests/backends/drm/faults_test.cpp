// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Each call of a reading fails once, with each error: nothing crashes, nothing stays open, no
// number is wrong, and what is missing is reported.
#include "faults.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <map>
#include <string>

#include "machine.hpp"

using namespace hmn;
using namespace drm_test;

namespace {

constexpr int torn = -1;
const char* const address = "0000:03:00.0";

std::string client(const char* driver, const char* region, unsigned id, unsigned resident_kib) {
  return std::string("drm-driver:\t") + driver + "\ndrm-client-id:\t" + std::to_string(id) +
         "\ndrm-engine-render:\t5 ns\ndrm-total-" + region + ":\t" +
         std::to_string(resident_kib * 3) + " KiB\ndrm-resident-" + region + ":\t" +
         std::to_string(resident_kib) + " KiB\ndrm-shared-" + region + ":\t0\n";
}

struct World {
  World() {
    m.add_platform("fd500000.gpu", "v3d", {card0, render128});
    m.add_pci(radeon(address), {card1, render129});
    m.add_process(10, {{3, "/dev/null", client("v3d", "memory", 1, 64)},
                       {4, "/dev/null", client("v3d", "memory", 2, 32)}});
    m.add_process(11, {{3, "/dev/full", client("radeon", "vram", 1, 5)},
                       {4, "/dev/null", client("v3d", "memory", 3, 16)}});
    m.add_process(12, {});
    hmn_fake::set_self(m.tree(), 10);
  }

  // Of the card on PCI, or of the other one.
  static std::map<std::uint32_t, std::uint64_t> truth(bool on_pci) {
    if (on_pci) return {{11, 5 * kib}};
    return {{10, 96 * kib}, {11, 16 * kib}};
  }

  Machine m;
};

std::size_t open_count() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

// What one reading gave.
struct Seen {
  bool is_here = false;
  bool has_list = false;
  std::vector<Device> devices;
  struct OfDevice {
    bool has_rows = false;
    std::vector<Usage> rows;
    bool has_pools = false;
    Pools memory;
    bool has_self = false;
    Usage self;
  };
  std::map<Slot, OfDevice> of;
};

Seen read_all(drm::DrmSource& from, PlainReading& r) {
  Seen s;
  s.is_here = static_cast<bool>(from.probe());
  if (!from.prepare(r)) return s;
  s.has_list = static_cast<bool>(from.devices(s.devices, r));
  for (const Device& d : s.devices) {
    auto& of = s.of[d.number];
    of.has_pools = static_cast<bool>(from.memory(d.number, of.memory, r));
    of.has_rows = static_cast<bool>(from.processes(d.number, of.rows, r));
    of.has_self = static_cast<bool>(from.process(d.number, 10, true, of.self, r));
    Telemetry ignored;
    std::vector<Metric> numbers;
    static_cast<void>(from.telemetry(d.number, telemetry_field::gpu_busy_percent, ignored, r));
    static_cast<void>(from.metrics(d.number, true, numbers, r));
  }
  return s;
}

bool is_right(const Usage& row, std::uint64_t truth) {
  if (!row.used) return true;
  if (*row.used == truth) return true;
  return (row.notes & note::lower_bound) != 0 && *row.used < truth;
}

bool has_subject(const PlainReading& r, std::uint32_t about) {
  return std::any_of(r.diagnostics.begin(), r.diagnostics.end(), [&](const Diagnostic& d) {
    return d.about == about && (d.unreadable_processes != 0 || d.why.code != Status::unsupported);
  });
}

// `is_gone`: what failed seemed to have ended, which is no news.
void judge(const Seen& s, const PlainReading& r, bool is_gone) {
  CHECK(s.is_here);
  if (s.has_list) CHECK(s.devices.size() == 2);
  for (const Device& d : s.devices) {
    const bool on_pci = !d.pci_bus_id.empty();
    if (on_pci) CHECK(d.pci_bus_id == Text<32>(address));
    CHECK((d.vendor == vendor::unknown || (on_pci && d.vendor == vendor::amd)));
    const auto truth = World::truth(on_pci);
    const auto& of = s.of.at(d.number);
    for (const Usage& row : of.rows) {
      REQUIRE(truth.contains(row.pid));
      CHECK(is_right(row, truth.at(row.pid)));
      if (!row.used && !is_gone) {
        CHECK(std::any_of(r.diagnostics.begin(), r.diagnostics.end(),
                          [&](const Diagnostic& why) { return why.pid == row.pid; }));
      }
    }
    if (of.has_rows && of.rows.size() != truth.size() && !is_gone) {
      CHECK(has_subject(r, subject::processes));
    }
    if (const Pool* const p = of.memory.find(PoolKind::unified); p != nullptr && p->used) {
      CHECK(*p->used <= 112 * kib);
      CHECK((p->notes & note::lower_bound) != 0);
    }
    if (of.has_self && !is_gone) CHECK(is_right(of.self, on_pci ? 0 : 96 * kib));
  }
}

void check_recovered(const Seen& s) {
  REQUIRE(s.has_list);
  REQUIRE(s.devices.size() == 2);
  for (const Device& d : s.devices) {
    const auto truth = World::truth(!d.pci_bus_id.empty());
    const auto& rows = s.of.at(d.number).rows;
    CHECK(rows.size() == truth.size());
    for (const Usage& row : rows) {
      CHECK(row.used == truth.at(row.pid));
      CHECK(row.notes == 0);
    }
  }
}

// False: there was no such call.
bool fails_once(const World& w, int n, int error) {
  drm::DrmSource from(w.m.settings());
  PlainReading r;
  const std::size_t before = open_count();
  if (error == torn) faults::arm_torn(n);
  if (error != torn) faults::arm(n, error);
  const Seen s = read_all(from, r);
  const bool has_failed = faults::disarm();
  CHECK(open_count() == before);
  judge(s, r, error == ENOENT || error == ESRCH);
  // What was refused is asked again when it is its turn.
  if (error != EACCES) {
    PlainReading next;
    check_recovered(read_all(from, next));
  }
  return has_failed;
}

}  // namespace

TEST_CASE("each call of a reading fails once") {
  const World w;
  for (const int error : {EACCES, EMFILE, ENFILE, ENOMEM, EIO, ENODEV, ESRCH, torn}) {
    int n = 0;
    for (; n < 5000; ++n) {
      CAPTURE(error);
      CAPTURE(n);
      if (!fails_once(w, n, error)) break;
    }
    MESSAGE("error " << error << ": " << n << " calls");
    CHECK(n >= (error == torn ? 5 : 60));
    CHECK(n < 5000);
  }
}

TEST_CASE("a later reading fails once, at each call") {
  const World w;
  for (const int error : {EMFILE, ENOMEM, EIO, torn}) {
    for (int n = 0; n < 5000; ++n) {
      CAPTURE(error);
      CAPTURE(n);
      drm::DrmSource from(w.m.settings());
      PlainReading first, r;
      check_recovered(read_all(from, first));
      if (error == torn) faults::arm_torn(n);
      if (error != torn) faults::arm(n, error);
      const Seen s = read_all(from, r);
      const bool has_failed = faults::disarm();
      judge(s, r, false);
      if (!has_failed) break;
    }
  }
}
