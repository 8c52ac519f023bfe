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

struct Populated : Machine {
  Populated() {
    system.processes[game].ledger["graphics_footprint"] = 700 << 20;
    system.processes[game].ledger["phys_footprint"] = 1 << 30;
    system.processes[shell];
    system.processes[service].user = 0;
    system.processes[service].ledger["graphics_footprint"] = 5 << 20;
  }
  std::vector<Usage> rows(PlainReading& r) {
    REQUIRE(devices(r));
    std::vector<Usage> out;
    REQUIRE(source.processes(0, out, r));
    return out;
  }
};

}  // namespace

TEST_CASE("processes with graphics memory, and how many could not be inspected") {
  Populated m;
  PlainReading r;
  const auto rows = m.rows(r);
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].pid == game);
  CHECK(rows[0].used == 700u << 20);
  CHECK(rows[0].from == Source::metal);
  CHECK(rows[0].accounting == Accounting::resident);
  REQUIRE(r.diagnostics.size() == 1);
  CHECK(r.diagnostics[0].why.code == Status::permission);
  CHECK(r.diagnostics[0].unreadable_processes == 1);
  CHECK(r.diagnostics[0].about == subject::processes);
  CHECK(r.diagnostics[0].why.message.view().find("1 of 4") != std::string_view::npos);
}

TEST_CASE("root sees all") {
  Populated m;
  m.system.caller = 0;
  PlainReading r;
  CHECK(m.rows(r).size() == 2);
  CHECK(r.diagnostics.empty());
}

TEST_CASE("a process that vanishes between the list and the question is no gap") {
  Populated m;
  m.system.caller = 0;
  m.system.gone_when_asked.insert(game);
  PlainReading r;
  const auto rows = m.rows(r);
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].pid == service);
  CHECK(r.diagnostics.empty());
}

TEST_CASE("processes that appear while they are listed") {
  Populated m;
  m.system.caller = 0;
  m.system.pid_list_growth = 5000;
  PlainReading r;
  CHECK(m.rows(r).size() == 2);
}

TEST_CASE("the entry is found by its name, wherever it stands") {
  Populated m;
  m.system.ledger_names.insert(m.system.ledger_names.begin(), "something_new");
  PlainReading r;
  CHECK(m.rows(r)[0].used == 700u << 20);
}

TEST_CASE("a kernel whose ledgers do not count graphics memory") {
  Populated m;
  m.system.ledger_names = {"cpu_time", "phys_footprint", "graphics_footprint_compressed"};
  PlainReading r;
  REQUIRE(m.devices(r));
  std::vector<Usage> out;
  const auto got = m.source.processes(0, out, r);
  REQUIRE_FALSE(got);
  CHECK(got.why().code == Status::unsupported);
  // It is looked for again.
  m.system.ledger_names.emplace_back("graphics_footprint");
  REQUIRE(m.source.processes(0, out, r));
  CHECK(out.size() == 1);
}

TEST_CASE("the kernel refuses its ledgers") {
  Populated m;
  m.system.ledger_error = ENOSYS;
  PlainReading r;
  REQUIRE(m.devices(r));
  Usage row;
  const auto got = m.source.process(0, game, false, row, r);
  REQUIRE_FALSE(got);
  CHECK(got.why().native.code == ENOSYS);
  CHECK_FALSE(row.used);
}

TEST_CASE("less than nothing is no figure") {
  Populated m;
  m.system.processes[game].ledger["graphics_footprint"] = -4096;
  PlainReading r;
  CHECK(m.rows(r).empty());
  REQUIRE(r.find("could not be inspected") != nullptr);
  CHECK(r.find("could not be inspected")->unreadable_processes == 1);
}

TEST_CASE("one process: its figure, a true 0, and refusals") {
  Populated m;
  PlainReading r;
  REQUIRE(m.devices(r));
  Usage row;
  REQUIRE(m.source.process(0, game, false, row, r));
  CHECK(row.used == 700u << 20);
  CHECK(row.pid == game);
  REQUIRE(m.source.process(0, static_cast<std::uint32_t>(getpid()), true, row, r));
  CHECK(row.used == 0u);
  CHECK(m.source.process(0, service, false, row, r).why().code == Status::permission);
  CHECK(m.source.process(0, 999'999, false, row, r).why().code == Status::no_process);
}

TEST_CASE("of two GPUs the kernel does not tell which") {
  Populated m;
  m.hardware.gpus.push_back(m.hardware.gpus[0]);
  m.hardware.gpus[1].id = 5;
  PlainReading r;
  REQUIRE(m.devices(r));
  std::vector<Usage> out;
  Usage row;
  CHECK(m.source.processes(0, out, r).why().code == Status::unsupported);
  CHECK(m.source.process(1, game, false, row, r).why().code == Status::unsupported);
}

TEST_CASE("a walk that meets its deadline says how far it came") {
  Populated m;
  PlainReading r(0);
  const auto rows = m.rows(r);
  CHECK(rows.empty());
  REQUIRE(r.diagnostics.size() == 1);
  CHECK(r.diagnostics[0].why.code == Status::timeout);
  CHECK(r.diagnostics[0].unreadable_processes == 4);
}
