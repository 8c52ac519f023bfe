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

Usage described(std::uint32_t pid) {
  os::ProcessTable table;
  Usage row;
  row.pid = pid;
  os::describe(table, row);
  return row;
}

// A program that no user may open, as those that Windows protects. It waits for its input to end.
class ClosedProgram {
 public:
  ClosedProgram() {
    ACL nothing{};
    SECURITY_DESCRIPTOR guard{};
    REQUIRE(InitializeAcl(&nothing, sizeof nothing, ACL_REVISION));
    REQUIRE(InitializeSecurityDescriptor(&guard, SECURITY_DESCRIPTOR_REVISION));
    REQUIRE(SetSecurityDescriptorDacl(&guard, TRUE, &nothing, FALSE));
    SECURITY_ATTRIBUTES of_process{sizeof of_process, &guard, FALSE};
    SECURITY_ATTRIBUTES of_pipe{sizeof of_pipe, nullptr, TRUE};
    HANDLE input = nullptr;
    REQUIRE(CreatePipe(&input, &end_, &of_pipe, 0));
    SetHandleInformation(end_, HANDLE_FLAG_INHERIT, 0);
    STARTUPINFOW how{};
    how.cb = sizeof how;
    how.dwFlags = STARTF_USESTDHANDLES;
    how.hStdInput = input;
    wchar_t line[] = L"cmd.exe";
    REQUIRE(CreateProcessW(nullptr, line, &of_process, nullptr, TRUE, 0, nullptr, nullptr, &how,
                           &started_));
    CloseHandle(input);
  }
  ClosedProgram(const ClosedProgram&) = delete;
  ClosedProgram& operator=(const ClosedProgram&) = delete;
  ~ClosedProgram() {
    TerminateProcess(started_.hProcess, 0);
    CloseHandle(started_.hThread);
    CloseHandle(started_.hProcess);
    CloseHandle(end_);
  }

  std::uint32_t pid() const { return started_.dwProcessId; }

 private:
  HANDLE end_ = nullptr;
  PROCESS_INFORMATION started_{};
};

}  // namespace

TEST_CASE("describe: the last part of an image's path") {
  CHECK(os::name_of_image("C:\\Program Files\\a\\b.exe") == "b.exe");
  CHECK(os::name_of_image("\\Device\\HarddiskVolume2\\b.exe") == "b.exe");
  CHECK(os::name_of_image("C:/a/b.exe") == "b.exe");
  CHECK(os::name_of_image("b.exe") == "b.exe");
  CHECK(os::name_of_image("C:\\a\\").empty());
  CHECK(os::name_of_image("").empty());
}

TEST_CASE("describe: this process by name, start and resident set") {
  const Usage row = described(GetCurrentProcessId());
  CHECK(row.name_state == NameState::resolved);
  CHECK(row.name == own_name);
  CHECK(row.host_resident.value_or(0) > 0);
  REQUIRE(row.start_unix_ns);
  const std::uint64_t now = platform::unix_ns();
  CHECK(*row.start_unix_ns <= now + platform::ns_per_second);
  CHECK(*row.start_unix_ns + 3600 * platform::ns_per_second > now);
  CHECK_FALSE(row.uid);
}

TEST_CASE("describe: what a source already knew stays") {
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

TEST_CASE("describe: process 4 is the kernel, one that is gone has exited") {
  const Usage kernel = described(4);
  CHECK(kernel.name_state == NameState::kernel);
  CHECK(kernel.name.empty());
  const Usage gone = described(absent_pid);
  CHECK(gone.name_state == NameState::exited);
  CHECK(gone.name.empty());
  CHECK_FALSE(gone.start_unix_ns);
  CHECK_FALSE(gone.host_resident);
}

TEST_CASE("describe: one that may not be opened has the name of the system's list, and no more") {
  const ClosedProgram other;
  const auto opened = os::OpenedProcess::open(other.pid());
  REQUIRE_FALSE(opened);
  CHECK(opened.why().code == Status::permission);
  const Usage row = described(other.pid());
  CHECK(row.name_state == NameState::resolved);
  CHECK(row.name == "cmd.exe");
  CHECK_FALSE(row.start_unix_ns);
  CHECK_FALSE(row.host_resident);
}

TEST_CASE("describe: the command line, as it was given") {
  Usage row;
  row.pid = GetCurrentProcessId();
  os::describe_texts(row);
  // Not reported by Wine 8.
  if (!row.command.empty()) CHECK(row.command.find("hmn_os_test") != std::string::npos);
  Usage gone;
  gone.pid = absent_pid;
  os::describe_texts(gone);
  CHECK(gone.command.empty());
}

TEST_CASE("process_table: names in one picture, taken anew for one that is not in it") {
  os::ProcessTable table;
  std::string name;
  CHECK(table.name_of(GetCurrentProcessId(), name) == os::ProcessTable::Found::here);
  CHECK(name == own_name);
  name.clear();
  CHECK(table.name_of(absent_pid, name) == os::ProcessTable::Found::not_here);
  CHECK(name.empty());
}

TEST_CASE("job_limit: a job without a limit gives none") {
  const os::JobLimit before = os::read_job_limit();
  if (before.bytes) return;  // this machine runs its tests in a limited job
  CHECK_FALSE(before.used);
  CHECK_FALSE(before.is_partial);
}
