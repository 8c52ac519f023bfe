// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/system/command_group.hpp"

#include "cli/system/windows/error_text.hpp"
#include "cli/system/windows/started_process.hpp"

namespace hmn::cli {
namespace {

constexpr std::size_t most_processes = 1 << 16;

}  // namespace

struct command_group::state {
  platform::handle job;
};

const command_group::kind& command_group::what() {
  static constexpr kind is{"job object", "job_object",
                           "exact, committed memory of all its processes"};
  return is;
}

// Makes a job without limits that ends no process when closed. A process that requests to break
// away may do so, as it could without hmn.
expected<command_group> command_group::make(const roots&) {
  platform::handle job(CreateJobObjectW(nullptr, nullptr));
  if (!job) return failed(last_error_text());
  JOBOBJECT_EXTENDED_LIMIT_INFORMATION how{};
  how.BasicLimitInformation.LimitFlags = JOB_OBJECT_LIMIT_BREAKAWAY_OK;
  if (SetInformationJobObject(job.get(), JobObjectExtendedLimitInformation, &how, sizeof how) == 0)
    return failed(last_error_text());
  return command_group(std::make_unique<state>(state{std::move(job)}));
}

command_group::command_group(std::unique_ptr<state> made) : state_(std::move(made)) {}
command_group::command_group(command_group&& other) noexcept = default;
command_group::~command_group() = default;

expected<child> command_group::start(const std::vector<std::string>& command,
                                     std::string& why_outside) const {
  return start_process(command, state_->job.get(), why_outside);
}

// Returns none for 0: every process has committed memory.
std::optional<std::uint64_t> command_group::peak_bytes() const {
  JOBOBJECT_EXTENDED_LIMIT_INFORMATION limits{};
  if (QueryInformationJobObject(state_->job.get(), JobObjectExtendedLimitInformation, &limits,
                                sizeof limits, nullptr) == 0 ||
      limits.PeakJobMemoryUsed == 0)
    return std::nullopt;
  return limits.PeakJobMemoryUsed;
}

// Returns none: Windows documents no such value.
std::optional<std::uint64_t> command_group::current_bytes() const {
  return std::nullopt;
}

std::vector<std::uint32_t> command_group::processes() const {
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
