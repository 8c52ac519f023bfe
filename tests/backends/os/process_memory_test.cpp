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

const std::uint64_t page_size = platform::page_size();

hmn_fake::Process make_worker() {
  hmn_fake::Process process = hmn_fake::simple_process(4242, "trainer", 1000, 2048);
  process.status =
      "Name:\ttrainer\nVmSize:\t  9000 kB\nVmHWM:\t  9216 kB\nVmRSS:\t  8192 kB\nVmSwap:\t  12 "
      "kB\n";
  process.smaps_rollup =
      "0-1 ---p 0 00:00 0 [rollup]\nRss: 8192 kB\nPss: 5000 kB\nPrivate_Clean: 100 kB\n"
      "Private_Dirty: 200 kB\n";
  return process;
}

}  // namespace

TEST_CASE("every field of a process is read") {
  const hmn_fake::Tree tree;
  hmn_fake::add_process(tree, make_worker());
  ProcessMemory memory;
  REQUIRE(make_host(tree)->memory(4242, field::all, memory));
  CHECK(memory.pid == 4242);
  CHECK(memory.source == Source::os);
  CHECK(memory.resident == 2048 * page_size);
  CHECK(memory.peak_resident == 9216 * 1024);
  CHECK(memory.swap == 12 * 1024);
  CHECK(memory.proportional == 5000 * 1024);
  CHECK(memory.private_set == 300 * 1024);
  CHECK_FALSE(memory.committed);
  CHECK_FALSE(memory.footprint);
  CHECK_FALSE(memory.peak_footprint);
  CHECK_FALSE(memory.peak_committed);
  CHECK((memory.notes & note::partial) != 0);
}

TEST_CASE("only the requested fields are read") {
  const hmn_fake::Tree tree;
  hmn_fake::add_process(tree, make_worker());
  ProcessMemory memory;
  REQUIRE(make_host(tree)->memory(4242, field::resident, memory));
  CHECK(memory.resident);
  CHECK_FALSE(memory.virtual_size);
  CHECK_FALSE(memory.swap);
  CHECK(memory.notes == 0);
}

TEST_CASE("a missing file affects only its own fields") {
  const hmn_fake::Tree tree;
  hmn_fake::Process process = make_worker();
  process.smaps_rollup.reset();
  hmn_fake::add_process(tree, process);
  ProcessMemory memory;
  REQUIRE(make_host(tree)->memory(4242, field::resident | field::proportional, memory));
  CHECK(memory.resident == 2048 * page_size);
  CHECK_FALSE(memory.proportional);
  CHECK((memory.notes & note::partial) != 0);
  ProcessMemory missing_memory;
  const auto result = make_host(tree)->memory(4242, field::private_set, missing_memory);
  REQUIRE_FALSE(result);
  CHECK(result.failure().code == Status::unsupported);
  CHECK(mentions(result.failure(), "smaps_rollup"));
}

TEST_CASE("a missing line is unsupported, and a malformed one is an error") {
  const hmn_fake::Tree tree;
  hmn_fake::Process process = make_worker();
  for (const char* line : {"VmHWM:\t 5 MB\n", "VmHWM:\tnot_a_number kB\n", "VmHWM:\t   42\n"}) {
    CAPTURE(line);
    process.status = std::string("Name:\ttrainer\nVmRSS:\t 1 kB\n") + line;
    hmn_fake::add_process(tree, process);
    ProcessMemory memory;
    const auto swap = make_host(tree)->memory(4242, field::swap, memory);
    REQUIRE_FALSE(swap);
    CHECK(swap.failure().code == Status::unsupported);
    CHECK(mentions(swap.failure(), "4242/status has no VmSwap"));
    const auto peak = make_host(tree)->memory(4242, field::peak_resident, memory);
    REQUIRE_FALSE(peak);
    CHECK(peak.failure().code == Status::backend);
    CHECK(mentions(peak.failure(), "4242/status"));
    CHECK(mentions(peak.failure(), "VmHWM is not an amount in kB"));
  }
}

TEST_CASE("a malformed statm is an error of the source") {
  const hmn_fake::Tree tree;
  for (const std::string text :
       {"", "hello\n", "1 2", "99999999999999999999 1 1\n", "1 18446744073709551615 1\n"}) {
    CAPTURE(text);
    hmn_fake::Process process = make_worker();
    process.statm = text;
    hmn_fake::add_process(tree, process);
    ProcessMemory memory;
    const auto result = make_host(tree)->memory(4242, field::cheap, memory);
    REQUIRE_FALSE(result);
    CHECK(result.failure().code == Status::backend);
    CHECK_FALSE(memory.resident);
    CHECK_FALSE(memory.virtual_size);
  }
}

TEST_CASE("a file longer than any that the kernel writes is rejected") {
  const hmn_fake::Tree tree;
  hmn_fake::Process process = make_worker();
  process.status = "VmHWM: 1 kB\n" + std::string(1 << 20, 'x');
  process.statm = std::string(1 << 20, '1');
  hmn_fake::add_process(tree, process);
  ProcessMemory memory;
  CHECK(make_host(tree)->memory(4242, field::peak_resident, memory).failure().code ==
        Status::backend);
  CHECK(make_host(tree)->memory(4242, field::resident, memory).failure().code == Status::backend);
}

TEST_CASE("a missing process and a missing /proc are different errors") {
  const hmn_fake::Tree tree;
  hmn_fake::set_boot_time(tree, 1'700'000'000);
  ProcessMemory memory;
  const auto result = make_host(tree)->memory(77, field::all, memory);
  REQUIRE_FALSE(result);
  CHECK(result.failure().code == Status::no_process);
  CHECK(mentions(result.failure(), "77"));
  const hmn_fake::Tree empty;
  const auto empty_result = make_host(empty)->memory(77, field::all, memory);
  REQUIRE_FALSE(empty_result);
  CHECK(empty_result.failure().code == Status::no_source);
  CHECK(mentions(empty_result.failure(), empty.proc().c_str()));
}

TEST_CASE("an access denied by the system is a permission error, and the name is protected") {
  if (geteuid() != 0) return;  // only root can become somebody else
  const hmn_fake::Tree tree;
  hmn_fake::add_process(tree, make_worker());
  tree.mode("proc", 0);
  const pid_t child = fork();
  if (child == 0) {
    if (setresuid(65534, 65534, 65534) != 0) _exit(9);
    ProcessMemory memory;
    const auto result = make_host(tree)->memory(4242, field::cheap, memory);
    Usage row;
    row.pid = 4242;
    make_host(tree)->describe(row);
    _exit(!result && result.failure().code == Status::permission &&
                  row.name_state == NameState::protected_process && !row.uid
              ? 0
              : 1);
  }
  int code = -1;
  waitpid(child, &code, 0);
  tree.mode("proc", 0700);
  CHECK(WEXITSTATUS(code) == 0);
}

TEST_CASE("on the running system the memory of this process is read") {
  const auto host = make_real_host();
  ProcessMemory memory;
  REQUIRE(host->memory(platform::current_pid(), field::all, memory));
  CHECK(*memory.resident > 0);
  CHECK(*memory.virtual_size >= *memory.resident);
  CHECK(*memory.peak_resident > 0);
  if (memory.proportional) CHECK(*memory.private_set <= *memory.proportional);
}
