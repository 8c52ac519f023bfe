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
  [[nodiscard]] HANDLE write_end() const noexcept { return write_end_.get(); }
  void close_write_end() noexcept { write_end_.close(); }

  // Returns 0 at the end of the output, ETIMEDOUT at the deadline, ECANCELED after a cancel.
  ErrnoOr<size_t> read(std::span<char> buffer, const Command& command) noexcept;

 private:
  Handle read_end_;
  Handle write_end_;
  Handle read_event_;
};

constinit std::atomic<uint32_t> pipe_count{0};

std::wstring make_pipe_name() {
  std::wstring name = L"\\\\.\\pipe\\hypomnesis-" + std::to_wstring(GetCurrentProcessId());
  name += L'-' + std::to_wstring(pipe_count.fetch_add(1, std::memory_order_relaxed));
  return name += L'-' + std::to_wstring(monotonic_ns());
}

// Always less than INFINITE.
DWORD compute_wait_milliseconds(uint64_t deadline_ns) noexcept {
  constexpr uint64_t max_wait = 60'000;
  const uint64_t now = monotonic_ns();
  const uint64_t left = deadline_ns > now ? deadline_ns - now : 0;
  return static_cast<DWORD>(std::min(left / ns_per_ms + (left % ns_per_ms != 0), max_wait));
}

// Creates the first and only instance, for this machine alone. If another process has created the
// name earlier, or connects between the two calls, one of them fails.
int OutputPipe::open() {
  const std::wstring name = make_pipe_name();
  constexpr DWORD buffer_size = 65536;
  read_event_ = Handle(CreateEventW(nullptr, TRUE, FALSE, nullptr));
  if (!read_event_) return last_errno();
  read_end_ = Handle(CreateNamedPipeW(
      name.c_str(), PIPE_ACCESS_INBOUND | FILE_FLAG_FIRST_PIPE_INSTANCE | FILE_FLAG_OVERLAPPED,
      PIPE_TYPE_BYTE | PIPE_WAIT | PIPE_REJECT_REMOTE_CLIENTS, 1, 0, buffer_size, 0, nullptr));
  if (!read_end_) return last_errno();
  SECURITY_ATTRIBUTES security{sizeof security, nullptr, TRUE};
  write_end_ = Handle(CreateFileW(name.c_str(), GENERIC_WRITE, 0, &security, OPEN_EXISTING,
                                  SECURITY_SQOS_PRESENT | SECURITY_IDENTIFICATION, nullptr));
  return write_end_ ? 0 : last_errno();
}

ErrnoOr<size_t> OutputPipe::read(std::span<char> buffer, const Command& command) noexcept {
  OVERLAPPED pending{};
  pending.hEvent = read_event_.get();
  DWORD count = 0;
  int error = 0;
  const auto should_stop = [&] {
    if (command.is_cancelled != nullptr && *command.is_cancelled) error = ECANCELED;
    if (monotonic_ns() >= command.deadline_ns) error = ETIMEDOUT;
    return error != 0;
  };
  const auto slice = [&] {
    return command.is_cancelled == nullptr
               ? command.deadline_ns
               : std::min(command.deadline_ns, monotonic_ns() + cancel_check_ns);
  };
  if (!ReadFile(read_end_.get(), buffer.data(), static_cast<DWORD>(buffer.size()), nullptr,
                &pending) &&
      GetLastError() != ERROR_IO_PENDING) {
    return {0, GetLastError() == ERROR_BROKEN_PIPE ? 0 : last_errno()};
  }
  while (WaitForSingleObject(read_event_.get(), compute_wait_milliseconds(slice())) != WAIT_OBJECT_0) {
    if (should_stop()) break;
  }
  if (error != 0) CancelIoEx(read_end_.get(), &pending);
  // Wait: the system owns the buffer until this returns.
  const bool has_read = GetOverlappedResult(read_end_.get(), &pending, &count, TRUE) != 0;
  if (has_read) return {count, 0};
  if (error != 0) return {0, error};
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
  unsigned long start(const Command& command, HANDLE input, HANDLE output, HANDLE errors);
  // Returns false at the deadline.
  bool wait(uint64_t deadline_ns) noexcept;
  [[nodiscard]] bool exit_code(int& result) const noexcept;
  void release() noexcept;

 private:
  Handle job_;
  Handle process_;
};

constexpr size_t max_line_size = 32767;  // CreateProcessW
constexpr UINT kill_exit_code = 1;

// The handles that a child may inherit.
class InheritedHandles {
 public:
  explicit InheritedHandles(std::span<HANDLE> handles) {
    SIZE_T size = 0;
    InitializeProcThreadAttributeList(nullptr, 1, 0, &size);
    buffer_ = std::make_unique<std::byte[]>(size);
    auto* const list = reinterpret_cast<LPPROC_THREAD_ATTRIBUTE_LIST>(buffer_.get());
    if (!InitializeProcThreadAttributeList(list, 1, 0, &size)) return;
    list_ = list;
    is_set_ = UpdateProcThreadAttribute(list_, 0, PROC_THREAD_ATTRIBUTE_HANDLE_LIST, handles.data(),
                                        handles.size_bytes(), nullptr, nullptr) != 0;
  }
  InheritedHandles(const InheritedHandles&) = delete;
  ~InheritedHandles() {
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

void limit_job(HANDLE job, DWORD flags) noexcept {
  JOBOBJECT_EXTENDED_LIMIT_INFORMATION limits{};
  limits.BasicLimitInformation.LimitFlags = flags;
  SetInformationJobObject(job, JobObjectExtendedLimitInformation, &limits, sizeof limits);
}

// Ends the program with this process, and suppresses the error dialog of a crash.
Handle create_job() noexcept {
  Handle job(CreateJobObjectW(nullptr, nullptr));
  if (job)
    limit_job(job.get(),
              JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE | JOB_OBJECT_LIMIT_DIE_ON_UNHANDLED_EXCEPTION);
  return job;
}

unsigned long ContainedChild::start(const Command& command, HANDLE input, HANDLE output,
                                    HANDLE errors) {
  const std::wstring program = to_wide(command.path);
  std::wstring line = join_command_line(program, command.arguments);
  if (line.size() >= max_line_size) return ERROR_FILENAME_EXCED_RANGE;
  std::wstring environment = make_environment();
  const std::wstring folder = system_folder();

  std::array<HANDLE, 2> handles{input, output};  // each once: errors is one of them
  const InheritedHandles attributes(handles);
  if (attributes.get() == nullptr) return GetLastError();
  STARTUPINFOEXW startup{};
  startup.StartupInfo.cb = sizeof startup;
  startup.StartupInfo.dwFlags = STARTF_USESTDHANDLES;
  startup.StartupInfo.hStdInput = input;
  startup.StartupInfo.hStdOutput = output;
  startup.StartupInfo.hStdError = errors;
  startup.lpAttributeList = attributes.get();

  constexpr DWORD flags = CREATE_NO_WINDOW | CREATE_SUSPENDED | CREATE_UNICODE_ENVIRONMENT |
                          EXTENDED_STARTUPINFO_PRESENT;
  PROCESS_INFORMATION process{};
  job_ = create_job();
  if (!CreateProcessW(program.c_str(), line.data(), nullptr, nullptr, TRUE, flags,
                      environment.data(), folder.empty() ? nullptr : folder.c_str(),
                      &startup.StartupInfo, &process)) {
    return GetLastError();
  }
  process_ = Handle(process.hProcess);
  const Handle thread(process.hThread);
  if (job_ && !AssignProcessToJobObject(job_.get(), process_.get())) job_.close();
  return ResumeThread(thread.get()) != static_cast<DWORD>(-1) ? 0 : GetLastError();
}

bool ContainedChild::wait(uint64_t deadline_ns) noexcept {
  while (WaitForSingleObject(process_.get(), compute_wait_milliseconds(deadline_ns)) != WAIT_OBJECT_0) {
    if (monotonic_ns() >= deadline_ns) return false;
  }
  return true;
}

bool ContainedChild::exit_code(int& result) const noexcept {
  DWORD code = 0;
  if (!GetExitCodeProcess(process_.get(), &code)) return false;
  result = static_cast<int>(code);
  return true;
}

void ContainedChild::release() noexcept {
  if (job_) limit_job(job_.get(), 0);
  job_.close();
  process_.close();
}

ContainedChild::~ContainedChild() {
  if (job_) TerminateJobObject(job_.get(), kill_exit_code);
  if (process_) TerminateProcess(process_.get(), kill_exit_code);
}

using Kind = Outcome::Kind;

Outcome make_outcome(Kind kind, int error) {
  Outcome result;
  result.kind = kind;
  result.error = error;
  return result;
}

Outcome make_start_failure(const Command& command, unsigned long error) {
  const bool absent = translate_error(error) == ENOENT && !exists(command.path.c_str());
  return make_outcome(absent ? Kind::not_found : Kind::not_runnable, translate_error(error));
}

// A script would be passed to a shell.
bool is_well_formed(const Command& command) {
  const auto has_nul = [](const std::string& text) { return text.find('\0') != text.npos; };
  return is_absolute(command.path) && is_program_name(command.path) && !has_nul(command.path) &&
         std::none_of(command.arguments.begin(), command.arguments.end(), has_nul);
}

Handle open_null_device() noexcept {
  SECURITY_ATTRIBUTES security{sizeof security, nullptr, TRUE};
  return Handle(CreateFileW(L"NUL", GENERIC_READ | GENERIC_WRITE,
                            FILE_SHARE_READ | FILE_SHARE_WRITE, &security, OPEN_EXISTING, 0,
                            nullptr));
}

// Returns 0 at the end of the output, EFBIG beyond the cap, ETIMEDOUT at the deadline, ECANCELED
// after a cancel, or the error.
int collect_output(OutputPipe& pipe, const Command& command, std::string& output) {
  std::array<char, 16384> chunk;
  for (;;) {
    const size_t left = command.output_cap - output.size();
    const size_t size = std::min(left, chunk.size() - 1) + 1;
    const ErrnoOr<size_t> result = pipe.read(std::span(chunk).first(size), command);
    if (!result) return result.error;
    if (result.value == 0) return 0;
    output.append(chunk.data(), std::min(result.value, left));
    if (result.value > left) return EFBIG;
  }
}

Kind classify_error(int collecting_error) noexcept {
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

Outcome await_outcome(ContainedChild& child, OutputPipe& pipe, const Command& command) {
  Outcome result;
  const int error = collect_output(pipe, command, result.output);
  result.kind = classify_error(error);
  result.was_cancelled = error == ECANCELED;
  if (result.kind == Kind::not_runnable) result.error = error;
  if (result.kind != Kind::finished) return result;
  if (!child.wait(command.deadline_ns)) {
    result.kind = Kind::timed_out;
    return result;
  }
  result.has_exit_status = child.exit_code(result.exit_code);
  child.release();
  return result;
}

Outcome run_program(const Command& command) {
  if (!is_well_formed(command)) return make_outcome(Kind::not_runnable, EINVAL);
  if (monotonic_ns() >= command.deadline_ns) return make_outcome(Kind::timed_out, 0);
  OutputPipe pipe;
  if (const int error = pipe.open()) return make_outcome(Kind::not_runnable, error);
  const Handle null_device = open_null_device();
  if (!null_device) return make_outcome(Kind::not_runnable, last_errno());
  ContainedChild child;
  const HANDLE errors = command.include_stderr ? pipe.write_end() : null_device.get();
  if (const auto error = child.start(command, null_device.get(), pipe.write_end(), errors)) {
    return make_start_failure(command, error);
  }
  pipe.close_write_end();
  return await_outcome(child, pipe, command);
}

}  // namespace

Outcome run(const Command& command) {
  if (SystemOverride* const active = SystemOverride::active())
    return active->run(command, run_program);
  return run_program(command);
}

}  // namespace hmn::platform
