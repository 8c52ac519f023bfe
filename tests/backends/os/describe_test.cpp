// SPDX-License-Identifier: MIT OR Apache-2.0
#include <doctest/doctest.h>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ctime>
#include <filesystem>
#include <string>

#include "platform/clock.hpp"
#include "platform/process.hpp"
#include "support.hpp"

using namespace hmn;

namespace {

const std::string container_id(64, 'a');

Usage describe_process(const hmn_fake::Tree& tree, std::uint32_t pid) {
  Usage row;
  row.pid = pid;
  make_host(tree)->describe(row);
  return row;
}

std::string describe_name(const std::string& comm, const std::string& cmdline) {
  const hmn_fake::Tree tree;
  auto process = hmn_fake::simple_process(7, comm, 1, 1);
  process.cmdline = cmdline;
  hmn_fake::add_process(tree, process);
  return describe_process(tree, 7).name;
}

Usage describe_texts(const hmn_fake::Tree& tree, std::uint32_t pid) {
  Usage row;
  row.pid = pid;
  make_host(tree)->describe_texts(row);
  return row;
}

}  // namespace

TEST_CASE("without /proc no process is known to have exited") {
  const hmn_fake::Tree tree;
  CHECK(describe_process(tree, 4242).name_state == NameState::exited);
  std::filesystem::remove_all(tree.proc());
  CHECK(describe_process(tree, 4242).name_state == NameState::unknown);
}

TEST_CASE("name, start, owner and resident set are read from /proc/<pid>") {
  const hmn_fake::Tree tree;
  hmn_fake::set_boot_time(tree, 1'700'000'000);
  hmn_fake::add_process(tree, hmn_fake::simple_process(4242, "trainer", 123456, 2048));
  const Usage row = describe_process(tree, 4242);
  CHECK(row.name == "trainer");
  CHECK(row.name_state == NameState::resolved);
  const std::uint64_t hz = platform::clock_ticks_per_second();
  CHECK(row.start_unix_ns == (1'700'000'000 * hz + 123456) * (platform::ns_per_second / hz));
  CHECK(row.uid == geteuid());
  CHECK(row.host_resident == 2048 * platform::page_size());
}

namespace {

constexpr const char* boot_file = "proc/sys/kernel/random/boot_id";
constexpr const char* boot_id = "6f4b1b0e-4f3a-4c89-9d2e-7d5b8f3f0a11\n";

std::optional<std::uint64_t> read_key(const hmn_fake::Tree& tree, std::uint32_t pid,
                                      std::uint64_t start_ticks) {
  hmn_fake::add_process(tree, hmn_fake::simple_process(pid, "trainer", start_ticks, 1));
  return describe_process(tree, pid).process_key;
}

}  // namespace

TEST_CASE("a process keeps its key when the clock is set, and no other process has it") {
  const hmn_fake::Tree tree;
  tree.write(boot_file, boot_id);
  hmn_fake::set_boot_time(tree, 1'700'000'000);
  const auto key = read_key(tree, 7, 123456);
  REQUIRE(key);
  hmn_fake::set_boot_time(tree, 1'800'000'000);
  CHECK(read_key(tree, 7, 123456) == key);
  CHECK(read_key(tree, 7, 123457) != key);  // the PID was reused
  CHECK(read_key(tree, 8, 123456) != key);
  tree.write(boot_file, "16f4b1b0-e4f3-a4c8-99d2-e7d5b8f3f0a1\n");
  CHECK(read_key(tree, 7, 123456) != key);
}

TEST_CASE("without a boot id there is no key") {
  const hmn_fake::Tree tree;
  CHECK_FALSE(read_key(tree, 7, 123456));
}

TEST_CASE("memory and use of a process have the same key") {
  const hmn_fake::Tree tree;
  tree.write(boot_file, boot_id);
  const auto key = read_key(tree, 7, 123456);
  ProcessMemory memory;
  REQUIRE(make_host(tree)->memory(7, process_memory_field::process_key, memory));
  CHECK(memory.process_key == key);
  CHECK_FALSE(memory.resident);
}

TEST_CASE("a missing key has a reason") {
  const hmn_fake::Tree tree;
  hmn_fake::set_boot_time(tree, 1'700'000'000);
  hmn_fake::add_process(tree, hmn_fake::simple_process(7, "trainer", 1, 1));
  ProcessMemory memory;
  const auto result = make_host(tree)->memory(7, process_memory_field::process_key, memory);
  REQUIRE_FALSE(result);
  CHECK(result.failure().code == Status::unsupported);
  CHECK(make_host(tree)->memory(
      7, process_memory_field::process_key | process_memory_field::resident, memory));
  CHECK((memory.notes & note::partial) != 0);
  const auto missing_result = make_host(tree)->memory(8, process_memory_field::process_key, memory);
  REQUIRE_FALSE(missing_result);
  CHECK(missing_result.failure().code == Status::no_process);
}

TEST_CASE("a name of 15 bytes that may be cut is completed from argv[0]") {
  CHECK(describe_name("process-exporte", std::string("/usr/bin/process-exporter\0-x\0", 29)) ==
        "process-exporter");
  CHECK(describe_name("process-exporte", std::string("process-exporter\0", 17)) ==
        "process-exporter");
  CHECK(describe_name("process-exporte", std::string("/usr/bin/python3\0", 17)) ==
        "process-exporte");
  CHECK(describe_name("process-exporte", "") == "process-exporte");
  CHECK(describe_name("trainer", std::string("/usr/bin/trainer-of-nets\0", 25)) == "trainer");
}

TEST_CASE("a name that is cut inside a character is completed from argv[0]") {
  const std::string full = "modell-trainr-\xC3\xA4hnlich";
  CHECK(describe_name(full.substr(0, 15), "/bin/" + full + std::string(1, '\0')) == full);
  CHECK(describe_name(full.substr(0, 15), "") == "modell-trainr-\xEF\xBF\xBD");
}

TEST_CASE("invalid UTF-8 in a name is replaced") {
  CHECK(describe_name("a\xFF"
                      "b",
                      "") ==
        "a\xEF\xBF\xBD"
        "b");
  CHECK(describe_name("a)\nb", "") == "a)\nb");
}

TEST_CASE("a kernel thread and an exited process have a name state and no name") {
  const hmn_fake::Tree tree;
  hmn_fake::Process kernel;
  kernel.pid = 2;
  kernel.stat = hmn_fake::format_text(2, hmn_fake::StatLine{.comm = "kthreadd", .flags = 0x208040});
  hmn_fake::add_process(tree, kernel);
  const Usage thread = describe_process(tree, 2);
  CHECK(thread.name_state == NameState::kernel);
  CHECK(thread.name.empty());
  CHECK_FALSE(thread.host_resident);

  const Usage exited = describe_process(tree, 99);
  CHECK(exited.name_state == NameState::exited);
  CHECK(exited.name.empty());
  CHECK_FALSE(exited.uid);
}

TEST_CASE("a zombie keeps its name and has no memory") {
  const hmn_fake::Tree tree;
  hmn_fake::Process process;
  process.pid = 8;
  process.stat = hmn_fake::format_text(8, hmn_fake::StatLine{.comm = "late", .state = 'Z'});
  hmn_fake::add_process(tree, process);
  const Usage row = describe_process(tree, 8);
  CHECK(row.name == "late");
  CHECK_FALSE(row.host_resident);
  CHECK(row.uid);
}

TEST_CASE("values reported by the driver are kept") {
  const hmn_fake::Tree tree;
  hmn_fake::add_process(tree, hmn_fake::simple_process(4242, "trainer", 1, 2));
  Usage row;
  row.pid = 4242;
  row.name = "Trainer 2";
  row.name_state = NameState::resolved;
  row.uid = 12;
  make_host(tree)->describe(row);
  CHECK(row.name == "Trainer 2");
  CHECK(row.uid == 12u);
  CHECK(row.host_resident);
}

TEST_CASE("a malformed stat leaves everything unknown") {
  const hmn_fake::Tree tree;
  hmn_fake::Process process;
  process.pid = 8;
  process.stat = "8 (x) S";
  hmn_fake::add_process(tree, process);
  const Usage row = describe_process(tree, 8);
  CHECK(row.name_state == NameState::unknown);
  CHECK_FALSE(row.start_unix_ns);
}

TEST_CASE("PID 0 is not described") {
  const Usage row = describe_process(hmn_fake::Tree(), 0);
  CHECK(row.name_state == NameState::unknown);
}

TEST_CASE("a start needs a boot time and fits in 64 bits") {
  const hmn_fake::Tree tree;
  hmn_fake::add_process(tree, hmn_fake::simple_process(4, "a", 5, 1));
  CHECK_FALSE(describe_process(tree, 4).start_unix_ns);
  hmn_fake::set_boot_time(tree, 18'446'744'073);
  CHECK(describe_process(tree, 4).start_unix_ns);
  hmn_fake::set_boot_time(tree, 18'446'744'074);
  CHECK_FALSE(describe_process(tree, 4).start_unix_ns);
}

TEST_CASE("on the running system a child has name, owner, memory and start") {
  const std::uint64_t before = platform::unix_ns();
  const pid_t child = fork();
  if (child == 0) {
    for (;;) pause();
  }
  Usage row;
  row.pid = static_cast<std::uint32_t>(child);
  make_real_host()->describe(row);
  CHECK(row.name_state == NameState::resolved);
  CHECK(row.uid == geteuid());
  CHECK(*row.host_resident > 0);
  // btime is in whole seconds, and the clock may be set while this runs
  CHECK(*row.start_unix_ns > before - 3 * platform::ns_per_second);
  CHECK(*row.start_unix_ns < before + 3 * platform::ns_per_second);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
}

TEST_CASE("a row has the command and the container of its process") {
  const hmn_fake::Tree tree;
  hmn_fake::Process process = hmn_fake::simple_process(7, "python3", 1, 1);
  process.cmdline = std::string("python3\0-c\0print(1)\0", 21);
  process.cgroup = "0::/docker/" + container_id + "\n";
  hmn_fake::add_process(tree, process);
  const Usage row = describe_texts(tree, 7);
  CHECK(row.command == "python3 -c print(1)");
  CHECK(row.container == "docker:" + container_id);
  CHECK(describe_texts(tree, 8).command.empty());
  CHECK(describe_texts(tree, 8).container.empty());
}

TEST_CASE("padding after a title is removed and invalid UTF-8 is replaced") {
  const hmn_fake::Tree tree;
  hmn_fake::Process process = hmn_fake::simple_process(7, "nginx", 1, 1);
  process.cmdline = "nginx: worker\xFF" + std::string(40, '\0');
  hmn_fake::add_process(tree, process);
  CHECK(describe_texts(tree, 7).command == "nginx: worker\xEF\xBF\xBD");
}

TEST_CASE("a long command line is cut at a character") {
  const hmn_fake::Tree tree;
  hmn_fake::Process process = hmn_fake::simple_process(7, "java", 1, 1);
  process.cmdline = std::string(4095, 'x') + "\xC3\xA4" + "y";
  hmn_fake::add_process(tree, process);
  CHECK(describe_texts(tree, 7).command == std::string(4095, 'x'));
}
