// SPDX-License-Identifier: MIT OR Apache-2.0
#include "platform/windows/contained_child.hpp"

#include <array>
#include <memory>
#include <new>
#include <string>

#include "platform/clock.hpp"
#include "platform/windows/command_line.hpp"
#include "platform/windows/output_pipe.hpp"
#include "platform/windows/wide.hpp"

namespace hmn::platform {
namespace {

constexpr size_t longest_line = 32767;  // CreateProcessW
constexpr UINT killed = 1;

// Handles that a child may inherit.
class attributes {
 public:
  explicit attributes(std::span<HANDLE> handles) {
    SIZE_T size = 0;
    InitializeProcThreadAttributeList(nullptr, 1, 0, &size);
    buffer_ = std::make_unique<std::byte[]>(size);
    auto* const list = reinterpret_cast<LPPROC_THREAD_ATTRIBUTE_LIST>(buffer_.get());
    if (!InitializeProcThreadAttributeList(list, 1, 0, &size)) return;
    list_ = list;
    is_set_ = UpdateProcThreadAttribute(list_, 0, PROC_THREAD_ATTRIBUTE_HANDLE_LIST, handles.data(),
                                        handles.size_bytes(), nullptr, nullptr) != 0;
  }
  attributes(const attributes&) = delete;
  ~attributes() {
    if (list_ != nullptr) DeleteProcThreadAttributeList(list_);
  }
  [[nodiscard]] LPPROC_THREAD_ATTRIBUTE_LIST get() const noexcept {
    return is_set_ ? list_ : nullptr;
  }

 private:
  std::unique_ptr<std::byte[]> buffer_;
  LPPROC_THREAD_ATTRIBUTE_LIST list_ = nullptr;
  bool is_set_ = false;
};

void limit(HANDLE job, DWORD flags) noexcept {
  JOBOBJECT_EXTENDED_LIMIT_INFORMATION limits{};
  limits.BasicLimitInformation.LimitFlags = flags;
  SetInformationJobObject(job, JobObjectExtendedLimitInformation, &limits, sizeof limits);
}

// Ends the program with this process, and suppresses the error dialog of a crash.
handle new_job() noexcept {
  handle job(CreateJobObjectW(nullptr, nullptr));
  if (job)
    limit(job.get(),
          JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE | JOB_OBJECT_LIMIT_DIE_ON_UNHANDLED_EXCEPTION);
  return job;
}

}  // namespace

unsigned long contained_child::start(const command& what, HANDLE input, HANDLE output,
                                     HANDLE errors) {
  const std::wstring program = to_wide(what.path);
  std::wstring line = command_line(program, what.arguments);
  if (line.size() >= longest_line) return ERROR_FILENAME_EXCED_RANGE;
  std::wstring environment = fixed_environment();
  const std::wstring folder = system_folder();

  std::array<HANDLE, 2> handles{input, output};  // each once: errors is one of them
  const attributes inherited(handles);
  if (inherited.get() == nullptr) return GetLastError();
  STARTUPINFOEXW startup{};
  startup.StartupInfo.cb = sizeof startup;
  startup.StartupInfo.dwFlags = STARTF_USESTDHANDLES;
  startup.StartupInfo.hStdInput = input;
  startup.StartupInfo.hStdOutput = output;
  startup.StartupInfo.hStdError = errors;
  startup.lpAttributeList = inherited.get();

  constexpr DWORD flags = CREATE_NO_WINDOW | CREATE_SUSPENDED | CREATE_UNICODE_ENVIRONMENT |
                          EXTENDED_STARTUPINFO_PRESENT;
  PROCESS_INFORMATION made{};
  job_ = new_job();
  if (!CreateProcessW(program.c_str(), line.data(), nullptr, nullptr, TRUE, flags,
                      environment.data(), folder.empty() ? nullptr : folder.c_str(),
                      &startup.StartupInfo, &made)) {
    return GetLastError();
  }
  process_ = handle(made.hProcess);
  const handle thread(made.hThread);
  if (job_ && !AssignProcessToJobObject(job_.get(), process_.get())) job_.close();
  return ResumeThread(thread.get()) != static_cast<DWORD>(-1) ? 0 : GetLastError();
}

bool contained_child::wait(uint64_t deadline_ns) noexcept {
  while (WaitForSingleObject(process_.get(), wait_before(deadline_ns)) != WAIT_OBJECT_0) {
    if (monotonic_ns() >= deadline_ns) return false;
  }
  return true;
}

bool contained_child::exit_code(int& out) const noexcept {
  DWORD code = 0;
  if (!GetExitCodeProcess(process_.get(), &code)) return false;
  out = static_cast<int>(code);
  return true;
}

void contained_child::release() noexcept {
  if (job_) limit(job_.get(), 0);
  job_.close();
  process_.close();
}

contained_child::~contained_child() {
  if (job_) TerminateJobObject(job_.get(), killed);
  if (process_) TerminateProcess(process_.get(), killed);
}

}  // namespace hmn::platform
