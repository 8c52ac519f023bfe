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

struct Child::State {
  // Ignores the terminal's Ctrl+C, which reaches the command directly.
  ControlEvents events{[](ControlEvent) {}};
  platform::Handle process;
  std::uint32_t pid = 0;
  std::optional<std::uint64_t> sampled_peak_bytes;  // last sampled peak
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

Failure start_error(ExitCode code, const std::string& program, const std::string& reason) {
  return {code, fmt::format("cannot run \"{}\": {}", program, reason)};
}

std::string read_folder(UINT (*query)(LPWSTR, UINT)) {
  std::wstring folder(MAX_PATH + 1, L'\0');
  const auto length = query(folder.data(), static_cast<UINT>(folder.size()));
  return length < folder.size() ? platform::to_utf8({folder.data(), length}) : std::string();
}

UINT get_system_folder(LPWSTR buffer, UINT capacity) {
  return GetSystemDirectoryW(buffer, capacity);
}
UINT get_windows_folder(LPWSTR buffer, UINT capacity) {
  return GetSystemWindowsDirectoryW(buffer, capacity);
}

std::vector<std::string> list_search_folders() {
  std::vector<std::string> folders{read_folder(get_system_folder), read_folder(get_windows_folder)};
  std::erase_if(folders, [](const std::string& folder) { return folder.empty(); });
  for (auto& folder : list_path_folders(get_environment("PATH").value_or("")))
    folders.push_back(std::move(folder));
  return folders;
}

Expected<std::string> resolve_program(const std::string& word) {
  const auto is_file = [](const std::string& path) {
    return path_exists(path) && !is_folder(path);
  };
  const auto program = find_program(word, list_search_folders(), is_file);
  if (!program && is_folder(word)) return start_error(ExitCode::not_runnable, word, "is a folder");
  if (!program) return start_error(ExitCode::not_found, word, error_text(ERROR_FILE_NOT_FOUND));
  if (program->is_batch)
    return start_error(ExitCode::not_runnable, word,
                       fmt::format("\"{}\" is a batch file; give it to its interpreter: cmd /c {}",
                                   program->path, word));
  return program->path;
}

std::uint64_t to_ns(const FILETIME& time) {
  return ((std::uint64_t{time.dwHighDateTime} << 32) | time.dwLowDateTime) * 100;
}

// Returns none for 0, which Wine reports for a process that has ended: every process has a working
// set.
std::optional<std::uint64_t> read_peak(HANDLE process) {
  PROCESS_MEMORY_COUNTERS memory{};
  if (GetProcessMemoryInfo(process, &memory, sizeof memory) == 0 || memory.PeakWorkingSetSize == 0)
    return std::nullopt;
  return memory.PeakWorkingSetSize;
}

// Reads the use of a process that has ended, through an open handle.
ResourceUse read_resource_use(HANDLE process) {
  ResourceUse use;
  use.scope = "of the command's first process";
  FILETIME start{}, end{}, kernel{}, user{};
  if (GetProcessTimes(process, &start, &end, &kernel, &user) != 0) {
    use.user_ns = to_ns(user);
    use.system_ns = to_ns(kernel);
  }
  use.largest_bytes = read_peak(process);
  return use;
}

ProcessEnd make_end(const Child::State& state) {
  ProcessEnd end;
  DWORD code = 0;
  if (GetExitCodeProcess(state.process.get(), &code) != 0)
    end.status = static_cast<ExitCode>(static_cast<int>(code));
  else
    end.lost_reason = "how the command ended is not known: " + last_error_text();
  end.use = read_resource_use(state.process.get());
  end.use.is_sampled = !end.use.largest_bytes && state.sampled_peak_bytes;
  if (end.use.is_sampled) end.use.largest_bytes = state.sampled_peak_bytes;
  return end;
}

STARTUPINFOW make_startup_info() {
  STARTUPINFOW startup_info{};
  startup_info.cb = sizeof startup_info;
  startup_info.dwFlags = STARTF_USESTDHANDLES;
  startup_info.hStdInput = GetStdHandle(STD_INPUT_HANDLE);
  startup_info.hStdOutput = GetStdHandle(STD_OUTPUT_HANDLE);
  startup_info.hStdError = GetStdHandle(STD_ERROR_HANDLE);
  return startup_info;
}

constexpr std::size_t max_processes = 1 << 16;

// Starts in the job object, if any; suspended, so that no instruction runs outside it.
// `outside_reason` is the reason for a start outside.
Expected<Child> start_process(const std::vector<std::string>& command, HANDLE job,
                              std::string& outside_reason) {
  const auto program = resolve_program(command.front());
  if (!program) return program.error();
  auto state = std::make_unique<Child::State>();
  auto line = platform::join_command_line(platform::to_wide(command.front()),
                                          std::span(command).subspan(1));
  auto startup_info = make_startup_info();
  PROCESS_INFORMATION process_info{};
  if (CreateProcessW(platform::to_wide(*program).c_str(), line.data(), nullptr, nullptr, TRUE,
                     job == nullptr ? 0 : CREATE_SUSPENDED, nullptr, nullptr, &startup_info,
                     &process_info) == 0)
    return start_error(ExitCode::not_runnable, command.front(), last_error_text());
  state->process = platform::Handle(process_info.hProcess);
  state->pid = process_info.dwProcessId;
  const platform::Handle thread(process_info.hThread);
  if (job != nullptr) {
    if (AssignProcessToJobObject(job, process_info.hProcess) == 0)
      outside_reason = last_error_text();
    ResumeThread(thread.get());
  }
  return Child(std::move(state));
}

}  // namespace

std::optional<ProgramFile> find_program(const std::string& word,
                                        const std::vector<std::string>& folders,
                                        const std::function<bool(const std::string&)>& is_file) {
  std::vector<std::string> names;
  if (has_extension(word)) names.push_back(word);
  for (const char* ending : {".exe", ".com", ".bat", ".cmd"}) names.push_back(word + ending);
  std::vector<std::string> prefixes{""};
  if (word.find_first_of("/\\:") == std::string::npos) {
    prefixes.clear();
    for (const auto& folder : folders)
      prefixes.push_back(folder.ends_with('\\') || folder.ends_with('/') ? folder : folder + '\\');
  }
  for (const auto& prefix : prefixes)
    for (const auto& name : names)
      if (is_file(prefix + name)) return ProgramFile{prefix + name, is_batch(name)};
  return std::nullopt;
}

std::vector<std::string> list_path_folders(std::string_view path) {
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

Child::Child(std::unique_ptr<State> state) : state_(std::move(state)) {}
Child::Child(Child&& other) noexcept = default;
Child::~Child() {
  wait_for_end();
}

std::optional<Failure> Child::check_program(const std::string& program) {
  const auto path = resolve_program(program);
  return path ? std::nullopt : std::optional(path.error());
}

Expected<Child> Child::start(const std::vector<std::string>& command) {
  std::string unused;
  return start_process(command, nullptr, unused);
}

// Waits for the command, as Windows cannot replace the program of a process.
Expected<ExitCode> Child::exec_command(const std::vector<std::string>& command) {
  auto child = start(command);
  if (!child) return child.error();
  child->wait();
  const auto& end = child->end();
  if (!end.lost_reason.empty()) return Failure{end.status, end.lost_reason};
  return end.status;
}

bool Child::wait_until(Clock::time_point time) {
  if (state_->end) return true;
  if (const auto peak = read_peak(state_->process.get())) state_->sampled_peak_bytes = peak;
  if (wait_for(state_->process.get(), time)) state_->end = make_end(*state_);
  return state_->end.has_value();
}

bool Child::has_orphans() {
  return false;
}
std::uint32_t Child::pid() const {
  return state_->pid;
}
const ProcessEnd& Child::end() const {
  return *state_->end;
}

struct CommandGroup::State {
  platform::Handle job;
};

const CommandGroup::Kind& CommandGroup::kind() {
  static constexpr Kind description{"job object", "job_object",
                                    "committed memory of all its processes", true};
  return description;
}

// Makes a job without limits that ends no process when closed. A process that requests to break
// away may do so, as it could without hmn.
Expected<CommandGroup> CommandGroup::make(const Roots&) {
  platform::Handle job(CreateJobObjectW(nullptr, nullptr));
  if (!job) return make_failure(last_error_text());
  JOBOBJECT_EXTENDED_LIMIT_INFORMATION limits{};
  limits.BasicLimitInformation.LimitFlags = JOB_OBJECT_LIMIT_BREAKAWAY_OK;
  if (SetInformationJobObject(job.get(), JobObjectExtendedLimitInformation, &limits,
                              sizeof limits) == 0)
    return make_failure(last_error_text());
  return CommandGroup(std::make_unique<State>(State{std::move(job)}));
}

CommandGroup::CommandGroup(std::unique_ptr<State> state) : state_(std::move(state)) {}
CommandGroup::CommandGroup(CommandGroup&& other) noexcept = default;
CommandGroup::~CommandGroup() = default;

Expected<Child> CommandGroup::start(const std::vector<std::string>& command,
                                    std::string& outside_reason) const {
  return start_process(command, state_->job.get(), outside_reason);
}

void CommandGroup::check_members(const std::vector<ProcessTree::Member>&) {}

// Returns none for 0: every process has committed memory.
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
  for (std::size_t capacity = 64; capacity <= max_processes; capacity *= 4) {
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
