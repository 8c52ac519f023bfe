// SPDX-License-Identifier: MIT OR Apache-2.0
#include <unistd.h>

#include <cerrno>

#include "machine.hpp"

using namespace hmn;
using metal_test::Machine;
using metal_test::PlainReading;

namespace {

constexpr int game = 300;
constexpr int shell = 301;
constexpr int service = 302;

struct PopulatedMachine : Machine {
  PopulatedMachine() {
    system.processes[game].ledger["graphics_footprint"] = 700 << 20;
    system.processes[game].ledger["phys_footprint"] = 1 << 30;
    system.processes[shell];
    system.processes[service].user = 0;
    system.processes[service].ledger["graphics_footprint"] = 5 << 20;
  }
  std::vector<Usage> rows(PlainReading& reading) {
    REQUIRE(devices(reading));
    std::vector<Usage> list;
    REQUIRE(source.processes(0, list, reading));
    return list;
  }
};

}  // namespace

TEST_CASE("processes with graphics memory are listed, and unreadable ones are counted") {
  PopulatedMachine machine;
  PlainReading reading;
  const auto rows = machine.rows(reading);
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].pid == game);
  CHECK(rows[0].used == 700u << 20);
  CHECK(rows[0].source == Source::metal);
  CHECK(rows[0].accounting == Accounting::resident);
  REQUIRE(reading.diagnostics.size() == 1);
  CHECK(reading.diagnostics[0].failure.code == Status::permission);
  CHECK(reading.diagnostics[0].unreadable_processes == 1);
  CHECK(reading.diagnostics[0].subject == subject::processes);
  CHECK(reading.diagnostics[0].failure.message.view().find("1 of 4") != std::string_view::npos);
}

TEST_CASE("root sees every process") {
  PopulatedMachine machine;
  machine.system.caller = 0;
  PlainReading reading;
  CHECK(machine.rows(reading).size() == 2);
  CHECK(reading.diagnostics.empty());
}

TEST_CASE("a process that exits between listing and reading is not counted as unreadable") {
  PopulatedMachine machine;
  machine.system.caller = 0;
  machine.system.vanishing_pids.insert(game);
  PlainReading reading;
  const auto rows = machine.rows(reading);
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].pid == service);
  CHECK(reading.diagnostics.empty());
}

TEST_CASE("a growing process list is read completely") {
  PopulatedMachine machine;
  machine.system.caller = 0;
  machine.system.pid_list_growth = 5000;
  PlainReading reading;
  CHECK(machine.rows(reading).size() == 2);
}

TEST_CASE("the ledger entry is found by name, at any position") {
  PopulatedMachine machine;
  machine.system.ledger_names.insert(machine.system.ledger_names.begin(), "something_new");
  PlainReading reading;
  CHECK(machine.rows(reading)[0].used == 700u << 20);
}

TEST_CASE("a kernel without graphics ledgers is reported as unsupported") {
  PopulatedMachine machine;
  machine.system.ledger_names = {"cpu_time", "phys_footprint", "graphics_footprint_compressed"};
  PlainReading reading;
  REQUIRE(machine.devices(reading));
  std::vector<Usage> rows;
  const auto result = machine.source.processes(0, rows, reading);
  REQUIRE_FALSE(result);
  CHECK(result.failure().code == Status::unsupported);
  // It is looked for again.
  machine.system.ledger_names.emplace_back("graphics_footprint");
  REQUIRE(machine.source.processes(0, rows, reading));
  CHECK(rows.size() == 1);
}

TEST_CASE("a kernel that refuses its ledgers is a failure with its errno") {
  PopulatedMachine machine;
  machine.system.ledger_error = ENOSYS;
  PlainReading reading;
  REQUIRE(machine.devices(reading));
  Usage row;
  const auto result = machine.source.process(0, game, false, row, reading);
  REQUIRE_FALSE(result);
  CHECK(result.failure().native.code == ENOSYS);
  CHECK_FALSE(row.used);
}

TEST_CASE("a negative value is dropped, and its process counted as unreadable") {
  PopulatedMachine machine;
  machine.system.processes[game].ledger["graphics_footprint"] = -4096;
  PlainReading reading;
  CHECK(machine.rows(reading).empty());
  REQUIRE(reading.find("could not be inspected") != nullptr);
  CHECK(reading.find("could not be inspected")->unreadable_processes == 1);
}

TEST_CASE("a single process is read with its use, a true 0, or a refusal") {
  PopulatedMachine machine;
  PlainReading reading;
  REQUIRE(machine.devices(reading));
  Usage row;
  REQUIRE(machine.source.process(0, game, false, row, reading));
  CHECK(row.used == 700u << 20);
  CHECK(row.pid == game);
  REQUIRE(machine.source.process(0, static_cast<std::uint32_t>(getpid()), true, row, reading));
  CHECK(row.used == 0u);
  CHECK(machine.source.process(0, service, false, row, reading).failure().code ==
        Status::permission);
  CHECK(machine.source.process(0, 999'999, false, row, reading).failure().code ==
        Status::no_process);
}

TEST_CASE("with two GPUs process use is unsupported, since the kernel has no use per GPU") {
  PopulatedMachine machine;
  machine.hardware.gpus.push_back(machine.hardware.gpus[0]);
  machine.hardware.gpus[1].id = 5;
  PlainReading reading;
  REQUIRE(machine.devices(reading));
  std::vector<Usage> rows;
  Usage row;
  CHECK(machine.source.processes(0, rows, reading).failure().code == Status::unsupported);
  CHECK(machine.source.process(1, game, false, row, reading).failure().code == Status::unsupported);
}

TEST_CASE("a process list cut off by its deadline reports how many are missing") {
  PopulatedMachine machine;
  PlainReading reading(0);
  const auto rows = machine.rows(reading);
  CHECK(rows.empty());
  REQUIRE(reading.diagnostics.size() == 1);
  CHECK(reading.diagnostics[0].failure.code == Status::timeout);
  CHECK(reading.diagnostics[0].unreadable_processes == 4);
}
