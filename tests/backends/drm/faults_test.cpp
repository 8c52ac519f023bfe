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

std::string format_client(const char* driver, const char* region, unsigned id,
                          unsigned resident_kib) {
  return std::string("drm-driver:\t") + driver + "\ndrm-client-id:\t" + std::to_string(id) +
         "\ndrm-engine-render:\t5 ns\ndrm-total-" + region + ":\t" +
         std::to_string(resident_kib * 3) + " KiB\ndrm-resident-" + region + ":\t" +
         std::to_string(resident_kib) + " KiB\ndrm-shared-" + region + ":\t0\n";
}

struct Setup {
  Setup() {
    machine.add_platform("fd500000.gpu", "v3d", {card0, render128});
    machine.add_pci(radeon(address), {card1, render129});
    machine.add_process(10, {{3, "/dev/null", format_client("v3d", "memory", 1, 64)},
                             {4, "/dev/null", format_client("v3d", "memory", 2, 32)}});
    machine.add_process(11, {{3, "/dev/full", format_client("radeon", "vram", 1, 5)},
                             {4, "/dev/null", format_client("v3d", "memory", 3, 16)}});
    machine.add_process(12, {});
    hmn_fake::set_self(machine.tree(), 10);
  }

  // Memory by PID on the card on PCI or on the other one.
  static std::map<std::uint32_t, std::uint64_t> expected_use(bool is_on_pci) {
    if (is_on_pci) return {{11, 5 * kib}};
    return {{10, 96 * kib}, {11, 16 * kib}};
  }

  Machine machine;
};

std::size_t open_count() {
  const std::filesystem::directory_iterator entries("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(entries), end(entries)));
}

// Results of one reading.
struct ReadingResult {
  bool is_available = false;
  bool has_list = false;
  std::vector<Device> devices;
  struct DeviceResult {
    bool has_rows = false;
    std::vector<Usage> rows;
    bool has_pools = false;
    PoolList memory;
    bool has_self = false;
    Usage self;
  };
  std::map<Slot, DeviceResult> results;
};

ReadingResult read_all(drm::DrmSource& source, PlainReading& reading) {
  ReadingResult result;
  result.is_available = static_cast<bool>(source.probe());
  if (!source.prepare(reading)) return result;
  result.has_list = static_cast<bool>(source.devices(result.devices, reading));
  for (const Device& device : result.devices) {
    auto& device_result = result.results[device.slot];
    device_result.has_pools =
        static_cast<bool>(source.memory(device.slot, device_result.memory, reading));
    device_result.has_rows =
        static_cast<bool>(source.processes(device.slot, device_result.rows, reading));
    device_result.has_self =
        static_cast<bool>(source.process(device.slot, 10, true, device_result.self, reading));
    Telemetry ignored;
    std::vector<Metric> numbers;
    static_cast<void>(
        source.telemetry(device.slot, telemetry_field::gpu_busy_percent, ignored, reading));
    static_cast<void>(source.metrics(device.slot, true, numbers, reading));
  }
  return result;
}

bool is_right(const Usage& row, std::uint64_t expected) {
  if (!row.used) return true;
  if (*row.used == expected) return true;
  return (row.notes & note::lower_bound) != 0 && *row.used < expected;
}

bool has_subject(const PlainReading& reading, std::uint32_t about) {
  return std::any_of(
      reading.diagnostics.begin(), reading.diagnostics.end(), [&](const Diagnostic& diagnostic) {
        return diagnostic.subject == about && (diagnostic.unreadable_processes != 0 ||
                                               diagnostic.failure.code != Status::unsupported);
      });
}

// `is_gone`: the failed process seems to have ended, which is not reported.
void check_result(const ReadingResult& result, const PlainReading& reading, bool is_gone) {
  CHECK(result.is_available);
  if (result.has_list) CHECK(result.devices.size() == 2);
  for (const Device& device : result.devices) {
    const bool is_on_pci = !device.pci_bus_id.empty();
    if (is_on_pci) CHECK(device.pci_bus_id == Text<32>(address));
    CHECK((device.vendor == vendor::unknown || (is_on_pci && device.vendor == vendor::amd)));
    const auto expected = Setup::expected_use(is_on_pci);
    const auto& device_result = result.results.at(device.slot);
    for (const Usage& row : device_result.rows) {
      REQUIRE(expected.contains(row.pid));
      CHECK(is_right(row, expected.at(row.pid)));
      if (!row.used && !is_gone) {
        CHECK(std::any_of(reading.diagnostics.begin(), reading.diagnostics.end(),
                          [&](const Diagnostic& diagnostic) { return diagnostic.pid == row.pid; }));
      }
    }
    if (device_result.has_rows && device_result.rows.size() != expected.size() && !is_gone) {
      CHECK(has_subject(reading, subject::processes));
    }
    if (const Pool* const pool = device_result.memory.find(PoolKind::unified);
        pool != nullptr && pool->used) {
      CHECK(*pool->used <= 112 * kib);
      CHECK((pool->notes & note::lower_bound) != 0);
    }
    if (device_result.has_self && !is_gone)
      CHECK(is_right(device_result.self, is_on_pci ? 0 : 96 * kib));
  }
}

void check_recovered(const ReadingResult& result) {
  REQUIRE(result.has_list);
  REQUIRE(result.devices.size() == 2);
  for (const Device& device : result.devices) {
    const auto expected = Setup::expected_use(!device.pci_bus_id.empty());
    const auto& rows = result.results.at(device.slot).rows;
    CHECK(rows.size() == expected.size());
    for (const Usage& row : rows) {
      CHECK(row.used == expected.at(row.pid));
      CHECK(row.notes == 0);
    }
  }
}

// Returns false if there was no such call.
bool run_with_failure(const Setup& setup, int index, int error) {
  drm::DrmSource source(setup.machine.settings());
  PlainReading reading;
  const std::size_t before = open_count();
  if (error == torn) faults::arm_torn(index);
  if (error != torn) faults::arm(index, error);
  const ReadingResult result = read_all(source, reading);
  const bool has_failed = faults::disarm();
  CHECK(open_count() == before);
  check_result(result, reading, error == ENOENT || error == ESRCH);
  // A process that refused access is read again only when it is due.
  if (error != EACCES) {
    PlainReading next_reading;
    check_recovered(read_all(source, next_reading));
  }
  return has_failed;
}

}  // namespace

TEST_CASE("a single failing call never yields a wrong value") {
  const Setup setup;
  for (const int error : {EACCES, EMFILE, ENFILE, ENOMEM, EIO, ENODEV, ESRCH, torn}) {
    int index = 0;
    for (; index < 5000; ++index) {
      CAPTURE(error);
      CAPTURE(index);
      if (!run_with_failure(setup, index, error)) break;
    }
    MESSAGE("error " << error << ": " << index << " calls");
    CHECK(index >= (error == torn ? 5 : 60));
    CHECK(index < 5000);
  }
}

TEST_CASE("a failing call in a later reading never yields a wrong value") {
  const Setup setup;
  for (const int error : {EMFILE, ENOMEM, EIO, torn}) {
    for (int index = 0; index < 5000; ++index) {
      CAPTURE(error);
      CAPTURE(index);
      drm::DrmSource source(setup.machine.settings());
      PlainReading first, later;
      check_recovered(read_all(source, first));
      if (error == torn) faults::arm_torn(index);
      if (error != torn) faults::arm(index, error);
      const ReadingResult result = read_all(source, later);
      const bool has_failed = faults::disarm();
      check_result(result, later, false);
      if (!has_failed) break;
    }
  }
}
