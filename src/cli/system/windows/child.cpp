// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/system/windows/child.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "cli/expected.hpp"
#include "cli/system/child.hpp"
#include "cli/system/command_group.hpp"
#include "cli/system/environment.hpp"
#include "cli/system/file.hpp"
#include "cli/system/windows/file.hpp"
#include "cli/system/windows/waiting.hpp"
#include "platform/windows/command_line.hpp"
#include "platform/windows/system.hpp"

// Requires windows.h first.
#include <psapi.h>

namespace hmn::cli {

struct Child::Running {
  // Ignores the terminal's Ctrl+C, which reaches the command directly.
  ControlEvents events{[](ControlEvent) {}};
  platform::Handle process;
  std::uint32_t pid = 0;
  std::optional<std::uint64_t> seen_bytes;  // last sampled peak
  std::optional<ProcessEnd> end;
};

namespace {

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool ends_in(std::string_view name, std::string_view ending) {
  return name.size() >= ending.size() &&
         std::equal(ending.begin(), ending.end(), name.end() - static_cast<long>(ending.size()),
                    [](char a, char b) { return a == lower(b); });
}

// Ignores trailing dots and spaces, as Windows does.
bool is_batch(std::string_view name) {
  name = name.substr(0, name.find_last_not_of(". ") + 1);
  return ends_in(name, ".bat") || ends_in(name, ".cmd");
}

bool has_extension(std::string_view word) {
  const auto name = word.substr(word.find_last_of("/\\:") + 1);
  return name.find('.') != std::string_view::npos;
}

bool is_absolute(std::string_view folder) {
  const auto is_slash = [](char c) { return c == '/' || c == '\\'; };
  if (folder.size() >= 3 && folder[1] == ':' && is_slash(folder[2])) return true;
  return folder.size() >= 2 && is_slash(folder[0]) && is_slash(folder[1]);
}

Failure refusal(ExitCode code, const std::string& program, const std::string& why) {
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

Expected<std::string> program_of(const std::string& word) {
  const auto is_file = [](const std::string& path) { return is_there(path) && !is_folder(path); };
  const auto found = find_program(word, searched_folders(), is_file);
  if (!found && is_folder(word)) return refusal(ExitCode::not_runnable, word, "is a folder");
  if (!found) return refusal(ExitCode::not_found, word, error_text(ERROR_FILE_NOT_FOUND));
  if (found->is_batch)
    return refusal(ExitCode::not_runnable, word,
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
ResourceUse use_of(HANDLE process) {
  ResourceUse use;
  use.counted = "of the command's first process";
  FILETIME created{}, ended{}, kernel{}, user{};
  if (GetProcessTimes(process, &created, &ended, &kernel, &user) != 0) {
    use.user_ns = ns_of(user);
    use.system_ns = ns_of(kernel);
  }
  use.largest_bytes = peak_of(process);
  return use;
}

ProcessEnd end_of(const Child::Running& of) {
  ProcessEnd out;
  DWORD code = 0;
  if (GetExitCodeProcess(of.process.get(), &code) != 0)
    out.status = static_cast<ExitCode>(static_cast<int>(code));
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

constexpr std::size_t most_processes = 1 << 16;

// Starts in the job object, if any; suspended, so that no instruction runs outside it.
// `why_outside` is the reason for a start outside.
Expected<Child> start_process(const std::vector<std::string>& command, HANDLE job,
                              std::string& why_outside) {
  const auto program = program_of(command.front());
  if (!program) return program.why();
  auto made = std::make_unique<Child::Running>();
  auto line =
      platform::command_line(platform::to_wide(command.front()), std::span(command).subspan(1));
  auto how = our_streams();
  PROCESS_INFORMATION started{};
  if (CreateProcessW(platform::to_wide(*program).c_str(), line.data(), nullptr, nullptr, TRUE,
                     job == nullptr ? 0 : CREATE_SUSPENDED, nullptr, nullptr, &how, &started) == 0)
    return refusal(ExitCode::not_runnable, command.front(), last_error_text());
  made->process = platform::Handle(started.hProcess);
  made->pid = started.dwProcessId;
  const platform::Handle thread(started.hThread);
  if (job != nullptr) {
    if (AssignProcessToJobObject(job, started.hProcess) == 0) why_outside = last_error_text();
    ResumeThread(thread.get());
  }
  return Child(std::move(made));
}

}  // namespace

std::optional<FoundProgram> find_program(const std::string& word,
                                         const std::vector<std::string>& folders,
                                         const std::function<bool(const std::string&)>& is_file) {
  std::vector<std::string> names;
  if (has_extension(word)) names.push_back(word);
  for (const char* ending : {".exe", ".com", ".bat", ".cmd"}) names.push_back(word + ending);
  std::vector<std::string> places{""};
  if (word.find_first_of("/\\:") == std::string::npos) {
    places.clear();
    for (const auto& each : folders)
      places.push_back(each.ends_with('\\') || each.ends_with('/') ? each : each + '\\');
  }
  for (const auto& place : places)
    for (const auto& name : names)
      if (is_file(place + name)) return FoundProgram{place + name, is_batch(name)};
  return std::nullopt;
}

std::vector<std::string> folders_of_path(std::string_view path) {
  std::vector<std::string> folders;
  while (!path.empty()) {
    const auto end = std::min(path.find(';'), path.size());
    auto folder = path.substr(0, end);
    path.remove_prefix(std::min(end + 1, path.size()));
    if (folder.size() >= 2 && folder.front() == '"' && folder.back() == '"')
      folder = folder.substr(1, folder.size() - 2);
    if (is_absolute(folder)) folders.emplace_back(folder);
  }
  return folders;
}

// A process keeps the number of its parent, and the job object has all descendants.
bool adopt_orphans() noexcept {
  return false;
}

Child::Child(std::unique_ptr<Running> started) : running_(std::move(started)) {}
Child::Child(Child&& other) noexcept = default;
Child::~Child() {
  outlast();
}

std::optional<Failure> Child::why_not_found(const std::string& program) {
  const auto found = program_of(program);
  return found ? std::nullopt : std::optional(found.why());
}

Expected<Child> Child::start(const std::vector<std::string>& command) {
  std::string unused;
  return start_process(command, nullptr, unused);
}

// Waits for the command, as Windows cannot replace the program of a process.
Expected<ExitCode> Child::run_in_our_place(const std::vector<std::string>& command) {
  auto started = start(command);
  if (!started) return started.why();
  started->wait();
  const auto& end = started->end();
  if (!end.why_lost.empty()) return Failure{end.status, end.why_lost};
  return end.status;
}

bool Child::wait_until(Clock::time_point time) {
  if (running_->end) return true;
  if (const auto peak = peak_of(running_->process.get())) running_->seen_bytes = peak;
  if (wait_for(running_->process.get(), time)) running_->end = end_of(*running_);
  return running_->end.has_value();
}

bool Child::has_orphans() {
  return false;
}
std::uint32_t Child::pid() const {
  return running_->pid;
}
const ProcessEnd& Child::end() const {
  return *running_->end;
}

struct CommandGroup::State {
  platform::Handle job;
};

const CommandGroup::Kind& CommandGroup::what() {
  static constexpr Kind is{"job object", "job_object", "committed memory of all its processes",
                           true};
  return is;
}

// Makes a job without limits that ends no process when closed. A process that requests to break
// away may do so, as it could without hmn.
Expected<CommandGroup> CommandGroup::make(const Roots&) {
  platform::Handle job(CreateJobObjectW(nullptr, nullptr));
  if (!job) return failed(last_error_text());
  JOBOBJECT_EXTENDED_LIMIT_INFORMATION how{};
  how.BasicLimitInformation.LimitFlags = JOB_OBJECT_LIMIT_BREAKAWAY_OK;
  if (SetInformationJobObject(job.get(), JobObjectExtendedLimitInformation, &how, sizeof how) == 0)
    return failed(last_error_text());
  return CommandGroup(std::make_unique<State>(State{std::move(job)}));
}

CommandGroup::CommandGroup(std::unique_ptr<State> made) : state_(std::move(made)) {}
CommandGroup::CommandGroup(CommandGroup&& other) noexcept = default;
CommandGroup::~CommandGroup() = default;

Expected<Child> CommandGroup::start(const std::vector<std::string>& command,
                                    std::string& why_outside) const {
  return start_process(command, state_->job.get(), why_outside);
}

void CommandGroup::compare(const std::vector<ProcessTree::Member>&) {}

// Has none for 0: every process has committed memory.
GroupPeak CommandGroup::peak() const {
  JOBOBJECT_EXTENDED_LIMIT_INFORMATION limits{};
  if (QueryInformationJobObject(state_->job.get(), JobObjectExtendedLimitInformation, &limits,
                                sizeof limits, nullptr) == 0 ||
      limits.PeakJobMemoryUsed == 0)
    return {std::nullopt, "not reported by the system", {}};
  return {limits.PeakJobMemoryUsed, {}, {}};
}

GroupPeak CommandGroup::device_peak(std::string_view) const {
  return {std::nullopt, "this system has none", {}};
}

// Returns none: Windows documents no such value.
std::optional<std::uint64_t> CommandGroup::current_bytes() const {
  return std::nullopt;
}

std::vector<std::uint32_t> CommandGroup::processes() const {
  std::vector<std::uint32_t> pids;
  for (std::size_t capacity = 64; capacity <= most_processes; capacity *= 4) {
    std::vector<ULONG_PTR> words(capacity + 1);  // the list begins with two DWORDs
    const auto size = static_cast<DWORD>(words.size() * sizeof(ULONG_PTR));
    const bool fits = QueryInformationJobObject(state_->job.get(), JobObjectBasicProcessIdList,
                                                words.data(), size, nullptr) != 0;
    if (!fits && GetLastError() == ERROR_MORE_DATA) continue;
    if (!fits) return pids;
    const auto* list = reinterpret_cast<const JOBOBJECT_BASIC_PROCESS_ID_LIST*>(words.data());
    for (DWORD i = 0; i < list->NumberOfProcessIdsInList; ++i)
      pids.push_back(static_cast<std::uint32_t>(list->ProcessIdList[i]));
    return pids;
  }
  return pids;
}

}  // namespace hmn::cli
