// SPDX-License-Identifier: MIT OR Apache-2.0
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "platform/process.hpp"
#include "support.hpp"

using namespace hmn;
namespace field = process_memory_field;

namespace {

const std::uint64_t page = platform::page_size();

hmn_fake::Process worker() {
  hmn_fake::Process p = hmn_fake::simple_process(4242, "trainer", 1000, 2048);
  p.status =
      "Name:\ttrainer\nVmSize:\t  9000 kB\nVmHWM:\t  9216 kB\nVmRSS:\t  8192 kB\nVmSwap:\t  12 "
      "kB\n";
  p.smaps_rollup =
      "0-1 ---p 0 00:00 0 [rollup]\nRss: 8192 kB\nPss: 5000 kB\nPrivate_Clean: 100 kB\n"
      "Private_Dirty: 200 kB\n";
  return p;
}

}  // namespace

TEST_CASE("every field of a process") {
  const hmn_fake::Tree tree;
  hmn_fake::add_process(tree, worker());
  ProcessMemory m;
  REQUIRE(host_on(tree)->memory(4242, field::all, m));
  CHECK(m.pid == 4242);
  CHECK(m.from == Source::os);
  CHECK(m.resident == 2048 * page);
  CHECK(m.peak_resident == 9216 * 1024);
  CHECK(m.swap == 12 * 1024);
  CHECK(m.proportional == 5000 * 1024);
  CHECK(m.private_set == 300 * 1024);
  CHECK_FALSE(m.committed);
  CHECK_FALSE(m.footprint);
  CHECK_FALSE(m.peak_footprint);
  CHECK_FALSE(m.peak_committed);
  CHECK((m.notes & note::partial) != 0);
}

TEST_CASE("only what was asked for is read") {
  const hmn_fake::Tree tree;
  hmn_fake::add_process(tree, worker());
  ProcessMemory m;
  REQUIRE(host_on(tree)->memory(4242, field::resident, m));
  CHECK(m.resident);
  CHECK_FALSE(m.virtual_size);
  CHECK_FALSE(m.swap);
  CHECK(m.notes == 0);
}

TEST_CASE("a file that is missing costs its own fields") {
  const hmn_fake::Tree tree;
  hmn_fake::Process p = worker();
  p.smaps_rollup.reset();
  hmn_fake::add_process(tree, p);
  ProcessMemory m;
  REQUIRE(host_on(tree)->memory(4242, field::resident | field::proportional, m));
  CHECK(m.resident == 2048 * page);
  CHECK_FALSE(m.proportional);
  CHECK((m.notes & note::partial) != 0);
  ProcessMemory alone;
  const auto r = host_on(tree)->memory(4242, field::private_set, alone);
  REQUIRE_FALSE(r);
  CHECK(r.why().code == Status::unsupported);
  CHECK(mentions(r.why(), "smaps_rollup"));
}

TEST_CASE("a line that is missing is unsupported, a broken one is not") {
  const hmn_fake::Tree tree;
  hmn_fake::Process p = worker();
  for (const char* line : {"VmHWM:\t 5 MB\n", "VmHWM:\tnot_a_number kB\n", "VmHWM:\t   42\n"}) {
    CAPTURE(line);
    p.status = std::string("Name:\ttrainer\nVmRSS:\t 1 kB\n") + line;
    hmn_fake::add_process(tree, p);
    ProcessMemory m;
    const auto swap = host_on(tree)->memory(4242, field::swap, m);
    REQUIRE_FALSE(swap);
    CHECK(swap.why().code == Status::unsupported);
    CHECK(mentions(swap.why(), "4242/status has no VmSwap"));
    const auto peak = host_on(tree)->memory(4242, field::peak_resident, m);
    REQUIRE_FALSE(peak);
    CHECK(peak.why().code == Status::backend);
    CHECK(mentions(peak.why(), "4242/status"));
    CHECK(mentions(peak.why(), "VmHWM is no amount in kB"));
  }
}

TEST_CASE("statm that makes no sense is an error of the source") {
  const hmn_fake::Tree tree;
  for (const std::string text :
       {"", "hello\n", "1 2", "99999999999999999999 1 1\n", "1 18446744073709551615 1\n"}) {
    CAPTURE(text);
    hmn_fake::Process p = worker();
    p.statm = text;
    hmn_fake::add_process(tree, p);
    ProcessMemory m;
    const auto r = host_on(tree)->memory(4242, field::cheap, m);
    REQUIRE_FALSE(r);
    CHECK(r.why().code == Status::backend);
    CHECK_FALSE(m.resident);
    CHECK_FALSE(m.virtual_size);
  }
}

TEST_CASE("a file longer than any kernel writes is refused") {
  const hmn_fake::Tree tree;
  hmn_fake::Process p = worker();
  p.status = "VmHWM: 1 kB\n" + std::string(1 << 20, 'x');
  p.statm = std::string(1 << 20, '1');
  hmn_fake::add_process(tree, p);
  ProcessMemory m;
  CHECK(host_on(tree)->memory(4242, field::peak_resident, m).why().code == Status::backend);
  CHECK(host_on(tree)->memory(4242, field::resident, m).why().code == Status::backend);
}

TEST_CASE("no such process, and no proc tree at all") {
  const hmn_fake::Tree tree;
  hmn_fake::set_boot_time(tree, 1'700'000'000);
  ProcessMemory m;
  const auto gone = host_on(tree)->memory(77, field::all, m);
  REQUIRE_FALSE(gone);
  CHECK(gone.why().code == Status::no_process);
  CHECK(mentions(gone.why(), "77"));
  const hmn_fake::Tree empty;
  const auto none = host_on(empty)->memory(77, field::all, m);
  REQUIRE_FALSE(none);
  CHECK(none.why().code == Status::no_source);
  CHECK(mentions(none.why(), empty.proc().c_str()));
}

TEST_CASE("what the system refuses is a permission, and a name protected") {
  if (geteuid() != 0) return;  // only root can become somebody else
  const hmn_fake::Tree tree;
  hmn_fake::add_process(tree, worker());
  tree.mode("proc", 0);
  const pid_t child = fork();
  if (child == 0) {
    if (setresuid(65534, 65534, 65534) != 0) _exit(9);
    ProcessMemory m;
    const auto r = host_on(tree)->memory(4242, field::cheap, m);
    Usage row;
    row.pid = 4242;
    host_on(tree)->describe(row);
    _exit(!r && r.why().code == Status::permission &&
                  row.name_state == NameState::protected_process && !row.uid
              ? 0
              : 1);
  }
  int code = -1;
  waitpid(child, &code, 0);
  tree.mode("proc", 0700);
  CHECK(WEXITSTATUS(code) == 0);
}

TEST_CASE("the running system: this process") {
  const auto host = host_here();
  ProcessMemory m;
  REQUIRE(host->memory(platform::current_pid(), field::all, m));
  CHECK(*m.resident > 0);
  CHECK(*m.virtual_size >= *m.resident);
  CHECK(*m.peak_resident > 0);
  if (m.proportional) CHECK(*m.private_set <= *m.proportional);
}
