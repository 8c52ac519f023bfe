// SPDX-License-Identifier: MIT OR Apache-2.0
#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <string>

#include "platform/clock.hpp"
#include "platform/file.hpp"
#include "platform/subprocess.hpp"
#include "platform/system_override.hpp"
#include "platform/windows/command_line.hpp"
#include "platform/windows/file.hpp"
#include "platform/windows/system.hpp"

namespace hmn::platform {
namespace {

// Output of a child, read with a deadline, which an anonymous pipe does not support.
class OutputPipe {
 public:
  // Returns 0 or errno.
  int open();
  [[nodiscard]] HANDLE to_parent() const noexcept { return to_parent_.get(); }
  void close_to_parent() noexcept { to_parent_.close(); }

  // Returns 0 at the end of the output, ETIMEDOUT at the deadline, ECANCELED after a cancel.
  ErrnoOr<size_t> read(std::span<char> buffer, const Command& given) noexcept;

 private:
  Handle from_child_;
  Handle to_parent_;
  Handle arrived_;
};

constinit std::atomic<uint32_t> opened{0};

std::wstring fresh_name() {
  std::wstring name = L"\\\\.\\pipe\\hypomnesis-" + std::to_wstring(GetCurrentProcessId());
  name += L'-' + std::to_wstring(opened.fetch_add(1, std::memory_order_relaxed));
  return name += L'-' + std::to_wstring(monotonic_ns());
}

// Always less than INFINITE.
DWORD wait_before(uint64_t deadline_ns) noexcept {
  constexpr uint64_t longest = 60'000;
  const uint64_t now = monotonic_ns();
  const uint64_t left = deadline_ns > now ? deadline_ns - now : 0;
  return static_cast<DWORD>(std::min(left / ns_per_ms + (left % ns_per_ms != 0), longest));
}

// Creates the first and only instance, for this machine alone. If another process has created the
// name earlier, or connects between the two calls, one of them fails.
int OutputPipe::open() {
  const std::wstring name = fresh_name();
  constexpr DWORD buffer = 65536;
  arrived_ = Handle(CreateEventW(nullptr, TRUE, FALSE, nullptr));
  if (!arrived_) return last_errno();
  from_child_ = Handle(CreateNamedPipeW(
      name.c_str(), PIPE_ACCESS_INBOUND | FILE_FLAG_FIRST_PIPE_INSTANCE | FILE_FLAG_OVERLAPPED,
      PIPE_TYPE_BYTE | PIPE_WAIT | PIPE_REJECT_REMOTE_CLIENTS, 1, 0, buffer, 0, nullptr));
  if (!from_child_) return last_errno();
  SECURITY_ATTRIBUTES inherited{sizeof inherited, nullptr, TRUE};
  to_parent_ = Handle(CreateFileW(name.c_str(), GENERIC_WRITE, 0, &inherited, OPEN_EXISTING,
                                  SECURITY_SQOS_PRESENT | SECURITY_IDENTIFICATION, nullptr));
  return to_parent_ ? 0 : last_errno();
}

ErrnoOr<size_t> OutputPipe::read(std::span<char> buffer, const Command& given) noexcept {
  OVERLAPPED pending{};
  pending.hEvent = arrived_.get();
  DWORD got = 0;
  int ended = 0;
  const auto is_over = [&] {
    if (given.is_cancelled != nullptr && *given.is_cancelled) ended = ECANCELED;
    if (monotonic_ns() >= given.deadline_ns) ended = ETIMEDOUT;
    return ended != 0;
  };
  const auto slice = [&] {
    return given.is_cancelled == nullptr
               ? given.deadline_ns
               : std::min(given.deadline_ns, monotonic_ns() + cancel_check_ns);
  };
  if (!ReadFile(from_child_.get(), buffer.data(), static_cast<DWORD>(buffer.size()), nullptr,
                &pending) &&
      GetLastError() != ERROR_IO_PENDING) {
    return {0, GetLastError() == ERROR_BROKEN_PIPE ? 0 : last_errno()};
  }
  while (WaitForSingleObject(arrived_.get(), wait_before(slice())) != WAIT_OBJECT_0) {
    if (is_over()) break;
  }
  if (ended != 0) CancelIoEx(from_child_.get(), &pending);
  // Wait: the system owns the buffer until this returns.
  const bool has_read = GetOverlappedResult(from_child_.get(), &pending, &got, TRUE) != 0;
  if (has_read) return {got, 0};
  if (ended != 0) return {0, ended};
  return {0, GetLastError() == ERROR_BROKEN_PIPE ? 0 : last_errno()};
}

// Program in a job of its own, with its descendants. The destructor kills them all unless released.
class ContainedChild {
 public:
  ContainedChild() noexcept = default;
  ContainedChild(const ContainedChild&) = delete;
  ContainedChild& operator=(const ContainedChild&) = delete;
  ~ContainedChild();

  // Returns 0 or a number of GetLastError. Only the three handles are inherited.
  unsigned long start(const Command& what, HANDLE input, HANDLE output, HANDLE errors);
  // Returns false at the deadline.
  bool wait(uint64_t deadline_ns) noexcept;
  [[nodiscard]] bool exit_code(int& out) const noexcept;
  void release() noexcept;

 private:
  Handle job_;
  Handle process_;
};

constexpr size_t longest_line = 32767;  // CreateProcessW
constexpr UINT killed = 1;

// The handles that a child may inherit.
class Attributes {
 public:
  explicit Attributes(std::span<HANDLE> handles) {
    SIZE_T size = 0;
    InitializeProcThreadAttributeList(nullptr, 1, 0, &size);
    buffer_ = std::make_unique<std::byte[]>(size);
    auto* const list = reinterpret_cast<LPPROC_THREAD_ATTRIBUTE_LIST>(buffer_.get());
    if (!InitializeProcThreadAttributeList(list, 1, 0, &size)) return;
    list_ = list;
    is_set_ = UpdateProcThreadAttribute(list_, 0, PROC_THREAD_ATTRIBUTE_HANDLE_LIST, handles.data(),
                                        handles.size_bytes(), nullptr, nullptr) != 0;
  }
  Attributes(const Attributes&) = delete;
  ~Attributes() {
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
Handle new_job() noexcept {
  Handle job(CreateJobObjectW(nullptr, nullptr));
  if (job)
    limit(job.get(),
          JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE | JOB_OBJECT_LIMIT_DIE_ON_UNHANDLED_EXCEPTION);
  return job;
}

unsigned long ContainedChild::start(const Command& what, HANDLE input, HANDLE output,
                                    HANDLE errors) {
  const std::wstring program = to_wide(what.path);
  std::wstring line = command_line(program, what.arguments);
  if (line.size() >= longest_line) return ERROR_FILENAME_EXCED_RANGE;
  std::wstring environment = fixed_environment();
  const std::wstring folder = system_folder();

  std::array<HANDLE, 2> handles{input, output};  // each once: errors is one of them
  const Attributes inherited(handles);
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
  process_ = Handle(made.hProcess);
  const Handle thread(made.hThread);
  if (job_ && !AssignProcessToJobObject(job_.get(), process_.get())) job_.close();
  return ResumeThread(thread.get()) != static_cast<DWORD>(-1) ? 0 : GetLastError();
}

bool ContainedChild::wait(uint64_t deadline_ns) noexcept {
  while (WaitForSingleObject(process_.get(), wait_before(deadline_ns)) != WAIT_OBJECT_0) {
    if (monotonic_ns() >= deadline_ns) return false;
  }
  return true;
}

bool ContainedChild::exit_code(int& out) const noexcept {
  DWORD code = 0;
  if (!GetExitCodeProcess(process_.get(), &code)) return false;
  out = static_cast<int>(code);
  return true;
}

void ContainedChild::release() noexcept {
  if (job_) limit(job_.get(), 0);
  job_.close();
  process_.close();
}

ContainedChild::~ContainedChild() {
  if (job_) TerminateJobObject(job_.get(), killed);
  if (process_) TerminateProcess(process_.get(), killed);
}

using Kind = Outcome::Kind;

Outcome refused(Kind what, int error) {
  Outcome result;
  result.what = what;
  result.error = error;
  return result;
}

Outcome failed_to_start(const Command& given, unsigned long error) {
  const bool absent = errno_of(error) == ENOENT && !exists(given.path.c_str());
  return refused(absent ? Kind::not_found : Kind::not_runnable, errno_of(error));
}

// A script would be passed to a shell.
bool is_well_formed(const Command& given) {
  const auto has_nul = [](const std::string& text) { return text.find('\0') != text.npos; };
  return is_absolute(given.path) && is_program_name(given.path) && !has_nul(given.path) &&
         std::none_of(given.arguments.begin(), given.arguments.end(), has_nul);
}

Handle null_device() noexcept {
  SECURITY_ATTRIBUTES inherited{sizeof inherited, nullptr, TRUE};
  return Handle(CreateFileW(L"NUL", GENERIC_READ | GENERIC_WRITE,
                            FILE_SHARE_READ | FILE_SHARE_WRITE, &inherited, OPEN_EXISTING, 0,
                            nullptr));
}

// Returns 0 at the end of the output, EFBIG beyond the cap, ETIMEDOUT at the deadline, ECANCELED
// after a cancel, or the error.
int collect_output(OutputPipe& from, const Command& given, std::string& output) {
  std::array<char, 16384> chunk;
  for (;;) {
    const size_t left = given.output_cap - output.size();
    const size_t wanted = std::min(left, chunk.size() - 1) + 1;
    const ErrnoOr<size_t> got = from.read(std::span(chunk).first(wanted), given);
    if (!got) return got.error;
    if (got.value == 0) return 0;
    output.append(chunk.data(), std::min(got.value, left));
    if (got.value > left) return EFBIG;
  }
}

Kind kind_of(int collecting_error) noexcept {
  switch (collecting_error) {
    case 0:
      return Kind::finished;
    case EFBIG:
      return Kind::output_too_long;
    case ETIMEDOUT:
    case ECANCELED:
      return Kind::timed_out;
    default:
      return Kind::not_runnable;
  }
}

Outcome follow(ContainedChild& child, OutputPipe& from, const Command& given) {
  Outcome result;
  const int error = collect_output(from, given, result.output);
  result.what = kind_of(error);
  result.was_cancelled = error == ECANCELED;
  if (result.what == Kind::not_runnable) result.error = error;
  if (result.what != Kind::finished) return result;
  if (!child.wait(given.deadline_ns)) {
    result.what = Kind::timed_out;
    return result;
  }
  result.exit_known = child.exit_code(result.exit_code);
  child.release();
  return result;
}

Outcome run_really(const Command& given) {
  if (!is_well_formed(given)) return refused(Kind::not_runnable, EINVAL);
  if (monotonic_ns() >= given.deadline_ns) return refused(Kind::timed_out, 0);
  OutputPipe pipe;
  if (const int error = pipe.open()) return refused(Kind::not_runnable, error);
  const Handle nothing = null_device();
  if (!nothing) return refused(Kind::not_runnable, last_errno());
  ContainedChild child;
  const HANDLE errors = given.with_errors ? pipe.to_parent() : nothing.get();
  if (const auto error = child.start(given, nothing.get(), pipe.to_parent(), errors)) {
    return failed_to_start(given, error);
  }
  pipe.close_to_parent();
  return follow(child, pipe, given);
}

}  // namespace

Outcome run(const Command& given) {
  if (SystemOverride* const r = SystemOverride::of_thread()) return r->run(given, run_really);
  return run_really(given);
}

}  // namespace hmn::platform
