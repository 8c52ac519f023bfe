// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/os/windows/describe.hpp"

#include <doctest/doctest.h>
#include <windows.h>

#include <string>

#include "backends/os/windows/process_memory.hpp"
#include "backends/os/windows/system_memory.hpp"
#include "platform/clock.hpp"

using namespace hmn;

namespace {

constexpr const char* own_name = "hmn_os_test.exe";
constexpr std::uint32_t absent_pid = 0xFFFFFFF0;

Usage describe_process(std::uint32_t pid) {
  os::ProcessTable table;
  Usage row;
  row.pid = pid;
  os::describe(table, row);
  return row;
}

// A program that no user may open, like protected processes. It waits for the end of its input.
class ClosedProgram {
 public:
  ClosedProgram() {
    ACL empty_acl{};
    SECURITY_DESCRIPTOR descriptor{};
    REQUIRE(InitializeAcl(&empty_acl, sizeof empty_acl, ACL_REVISION));
    REQUIRE(InitializeSecurityDescriptor(&descriptor, SECURITY_DESCRIPTOR_REVISION));
    REQUIRE(SetSecurityDescriptorDacl(&descriptor, TRUE, &empty_acl, FALSE));
    SECURITY_ATTRIBUTES process_attributes{sizeof process_attributes, &descriptor, FALSE};
    SECURITY_ATTRIBUTES pipe_attributes{sizeof pipe_attributes, nullptr, TRUE};
    HANDLE input = nullptr;
    REQUIRE(CreatePipe(&input, &write_end_, &pipe_attributes, 0));
    SetHandleInformation(write_end_, HANDLE_FLAG_INHERIT, 0);
    STARTUPINFOW startup{};
    startup.cb = sizeof startup;
    startup.dwFlags = STARTF_USESTDHANDLES;
    startup.hStdInput = input;
    wchar_t command[] = L"cmd.exe";
    REQUIRE(CreateProcessW(nullptr, command, &process_attributes, nullptr, TRUE, 0, nullptr,
                           nullptr, &startup, &process_));
    CloseHandle(input);
  }
  ClosedProgram(const ClosedProgram&) = delete;
  ClosedProgram& operator=(const ClosedProgram&) = delete;
  ~ClosedProgram() {
    TerminateProcess(process_.hProcess, 0);
    CloseHandle(process_.hThread);
    CloseHandle(process_.hProcess);
    CloseHandle(write_end_);
  }

  std::uint32_t pid() const { return process_.dwProcessId; }

 private:
  HANDLE write_end_ = nullptr;
  PROCESS_INFORMATION process_{};
};

}  // namespace

TEST_CASE("describe: the name is the last part of the image path") {
  CHECK(os::extract_file_name("C:\\Program Files\\a\\b.exe") == "b.exe");
  CHECK(os::extract_file_name("\\Device\\HarddiskVolume2\\b.exe") == "b.exe");
  CHECK(os::extract_file_name("C:/a/b.exe") == "b.exe");
  CHECK(os::extract_file_name("b.exe") == "b.exe");
  CHECK(os::extract_file_name("C:\\a\\").empty());
  CHECK(os::extract_file_name("").empty());
}

TEST_CASE("describe: this process has name, start and resident set") {
  const Usage row = describe_process(GetCurrentProcessId());
  CHECK(row.name_state == NameState::resolved);
  CHECK(row.name == own_name);
  CHECK(row.host_resident.value_or(0) > 0);
  REQUIRE(row.start_unix_ns);
  const std::uint64_t now = platform::unix_ns();
  CHECK(*row.start_unix_ns <= now + platform::ns_per_second);
  CHECK(*row.start_unix_ns + 3600 * platform::ns_per_second > now);
  CHECK_FALSE(row.uid);
}

TEST_CASE("describe: values known by the source are kept") {
  os::ProcessTable table;
  Usage row;
  row.pid = GetCurrentProcessId();
  row.name_state = NameState::resolved;
  row.name = "given";
  row.host_resident = 7;
  os::describe(table, row);
  CHECK(row.name == "given");
  CHECK(row.host_resident == 7U);
  CHECK(row.start_unix_ns);
}

TEST_CASE("describe: process 4 is the kernel, and a missing process has exited") {
  const Usage kernel = describe_process(4);
  CHECK(kernel.name_state == NameState::kernel);
  CHECK(kernel.name.empty());
  const Usage missing = describe_process(absent_pid);
  CHECK(missing.name_state == NameState::exited);
  CHECK(missing.name.empty());
  CHECK_FALSE(missing.start_unix_ns);
  CHECK_FALSE(missing.host_resident);
}

TEST_CASE("describe: a process that may not be opened has only its name, from the process list") {
  const ClosedProgram program;
  const auto result = os::ProcessHandle::open(program.pid());
  REQUIRE_FALSE(result);
  CHECK(result.failure().code == Status::permission);
  const Usage row = describe_process(program.pid());
  CHECK(row.name_state == NameState::resolved);
  CHECK(row.name == "cmd.exe");
  CHECK_FALSE(row.start_unix_ns);
  CHECK_FALSE(row.host_resident);
}

TEST_CASE("describe: the command line is read") {
  Usage row;
  row.pid = GetCurrentProcessId();
  os::describe_texts(row);
  // Not reported by Wine 8.
  if (!row.command.empty()) CHECK(row.command.find("hmn_os_test") != std::string::npos);
  Usage missing;
  missing.pid = absent_pid;
  os::describe_texts(missing);
  CHECK(missing.command.empty());
}

TEST_CASE("process_table: names come from one snapshot, which is taken again for a missing PID") {
  os::ProcessTable table;
  std::string name;
  CHECK(table.find_name(GetCurrentProcessId(), name) == os::ProcessTable::LookupResult::listed);
  CHECK(name == own_name);
  name.clear();
  CHECK(table.find_name(absent_pid, name) == os::ProcessTable::LookupResult::not_listed);
  CHECK(name.empty());
}

TEST_CASE("job_limit: a job without a limit yields none") {
  const os::JobLimit before = os::read_job_limit();
  if (before.bytes) return;  // this machine runs its tests in a limited job
  CHECK_FALSE(before.used);
  CHECK_FALSE(before.is_partial);
}
