// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/system/child.hpp"

#include <fmt/format.h>

#include "cli/system/environment.hpp"
#include "cli/system/file.hpp"
#include "cli/system/windows/error_text.hpp"
#include "cli/system/windows/program_search.hpp"
#include "cli/system/windows/started_process.hpp"
#include "cli/system/windows/wait_time.hpp"
#include "platform/windows/command_line.hpp"
#include "platform/windows/wide.hpp"
// Requires windows.h first.
#include <psapi.h>

namespace hmn::cli {
namespace {

failure refusal(exit_code code, const std::string& program, const std::string& why) {
  return {code, fmt::format("cannot run \"{}\": {}", program, why)};
}

std::string folder_by(UINT (*ask)(LPWSTR, UINT)) {
  std::wstring folder(MAX_PATH + 1, L'\0');
  const auto length = ask(folder.data(), static_cast<UINT>(folder.size()));
  return length < folder.size() ? platform::to_utf8({folder.data(), length}) : std::string();
}

UINT system_folder(LPWSTR to, UINT capacity) {
  return GetSystemDirectoryW(to, capacity);
}
UINT windows_folder(LPWSTR to, UINT capacity) {
  return GetSystemWindowsDirectoryW(to, capacity);
}

std::vector<std::string> searched_folders() {
  std::vector<std::string> all{folder_by(system_folder), folder_by(windows_folder)};
  std::erase_if(all, [](const std::string& each) { return each.empty(); });
  for (auto& each : folders_of_path(environment_value("PATH").value_or("")))
    all.push_back(std::move(each));
  return all;
}

expected<std::string> program_of(const std::string& word) {
  const auto is_file = [](const std::string& path) { return is_there(path) && !is_folder(path); };
  const auto found = find_program(word, searched_folders(), is_file);
  if (!found && is_folder(word)) return refusal(exit_code::not_runnable, word, "is a folder");
  if (!found) return refusal(exit_code::not_found, word, error_text(ERROR_FILE_NOT_FOUND));
  if (found->is_batch)
    return refusal(exit_code::not_runnable, word,
                   fmt::format("\"{}\" is a batch file; give it to its interpreter: cmd /c {}",
                               found->path, word));
  return found->path;
}

std::uint64_t ns_of(const FILETIME& time) {
  return ((std::uint64_t{time.dwHighDateTime} << 32) | time.dwLowDateTime) * 100;
}

// Returns none for 0, which Wine reports for a process that has ended: every process has a working
// set.
std::optional<std::uint64_t> peak_of(HANDLE process) {
  PROCESS_MEMORY_COUNTERS memory{};
  if (GetProcessMemoryInfo(process, &memory, sizeof memory) == 0 || memory.PeakWorkingSetSize == 0)
    return std::nullopt;
  return memory.PeakWorkingSetSize;
}

// Reads the use of a process that has ended, through an open handle.
resource_use use_of(HANDLE process) {
  resource_use use;
  use.counted = "of the command's first process";
  FILETIME created{}, ended{}, kernel{}, user{};
  if (GetProcessTimes(process, &created, &ended, &kernel, &user) != 0) {
    use.user_ns = ns_of(user);
    use.system_ns = ns_of(kernel);
  }
  use.largest_bytes = peak_of(process);
  return use;
}

process_end end_of(const child::running& of) {
  process_end out;
  DWORD code = 0;
  if (GetExitCodeProcess(of.process.get(), &code) != 0)
    out.status = static_cast<exit_code>(static_cast<int>(code));
  else
    out.why_lost = "how the command ended is not known: " + last_error_text();
  out.use = use_of(of.process.get());
  out.use.is_sampled = !out.use.largest_bytes && of.seen_bytes;
  if (out.use.is_sampled) out.use.largest_bytes = of.seen_bytes;
  return out;
}

STARTUPINFOW our_streams() {
  STARTUPINFOW how{};
  how.cb = sizeof how;
  how.dwFlags = STARTF_USESTDHANDLES;
  how.hStdInput = GetStdHandle(STD_INPUT_HANDLE);
  how.hStdOutput = GetStdHandle(STD_OUTPUT_HANDLE);
  how.hStdError = GetStdHandle(STD_ERROR_HANDLE);
  return how;
}

}  // namespace

child::child(std::unique_ptr<running> started) : running_(std::move(started)) {}
child::child(child&& other) noexcept = default;
child::~child() {
  outlast();
}

// Starts suspended, so that no instruction runs outside the job.
expected<child> start_process(const std::vector<std::string>& command, HANDLE job,
                              std::string& why_outside) {
  const auto program = program_of(command.front());
  if (!program) return program.why();
  auto made = std::make_unique<child::running>();
  auto line =
      platform::command_line(platform::to_wide(command.front()), std::span(command).subspan(1));
  auto how = our_streams();
  PROCESS_INFORMATION started{};
  if (CreateProcessW(platform::to_wide(*program).c_str(), line.data(), nullptr, nullptr, TRUE,
                     job == nullptr ? 0 : CREATE_SUSPENDED, nullptr, nullptr, &how, &started) == 0)
    return refusal(exit_code::not_runnable, command.front(), last_error_text());
  made->process = platform::handle(started.hProcess);
  made->pid = started.dwProcessId;
  const platform::handle thread(started.hThread);
  if (job != nullptr) {
    if (AssignProcessToJobObject(job, started.hProcess) == 0) why_outside = last_error_text();
    ResumeThread(thread.get());
  }
  return child(std::move(made));
}

std::optional<failure> child::why_not_found(const std::string& program) {
  const auto found = program_of(program);
  return found ? std::nullopt : std::optional(found.why());
}

expected<child> child::start(const std::vector<std::string>& command) {
  std::string unused;
  return start_process(command, nullptr, unused);
}

// Waits for the command, as Windows cannot replace the program of a process.
expected<exit_code> child::run_in_our_place(const std::vector<std::string>& command) {
  auto started = start(command);
  if (!started) return started.why();
  started->wait();
  const auto& end = started->end();
  if (!end.why_lost.empty()) return failure{end.status, end.why_lost};
  return end.status;
}

bool child::wait_until(clock::time_point time) {
  if (running_->end) return true;
  if (const auto peak = peak_of(running_->process.get())) running_->seen_bytes = peak;
  if (wait_for(running_->process.get(), time)) running_->end = end_of(*running_);
  return running_->end.has_value();
}

std::uint32_t child::pid() const {
  return running_->pid;
}
const process_end& child::end() const {
  return *running_->end;
}

}  // namespace hmn::cli
