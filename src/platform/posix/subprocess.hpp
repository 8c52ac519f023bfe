// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <spawn.h>
#include <sys/types.h>

#include <cerrno>
#include <cstdint>
#include <string>

#include "platform/posix/file.hpp"
#include "platform/subprocess.hpp"

namespace hmn::platform {

// Launch data, prepared before the child exists, as the child may not allocate.
struct Launch {
  const char* path = nullptr;
  char* const* arguments = nullptr;
  char* const* environment = nullptr;
  int input = -1;  // this and the next two are 3 or more
  int output = -1;
  int errors = -1;
  uint64_t deadline_ns = 0;
};

enum class StartState { running, failed, late, unavailable };

struct StartResult {
  StartState state = StartState::unavailable;
  int error = 0;  // with failed
};

struct ExitStatus {
  bool is_known = false;
  int code = 0;
  int signal = 0;
};

enum class WaitResult { exited, timed_out };

// Opens a reading and a writing end, both close-on-exec. Returns 0 or errno.
int open_pipe(int (&ends)[2]) noexcept;

// Returns 0, ETIMEDOUT or errno. UINT64_MAX: no deadline.
int await_readable(int descriptor, uint64_t deadline_ns) noexcept;

// How the child closes descriptors that its file actions do not name.

// Returns a flag of the attributes, or 0.
short spawn_closing_flag() noexcept;

// Adds the last action. Returns 0 or an error.
int add_spawn_closing(posix_spawn_file_actions_t& actions) noexcept;

// Runs one program from its start to its outcome, for any kind of child.

struct Channel {
  Descriptor null_device;
  Descriptor read_end;
  Descriptor write_end;
};

Outcome make_outcome(Outcome::Kind kind, int error);
Outcome make_start_failure(const Command& command, int error);

// Returns 0 at the end of the output, EFBIG beyond the cap, ETIMEDOUT, ECANCELED, or errno.
int collect_output(int descriptor, const Command& command, std::string& output);
Outcome::Kind classify_error(int error) noexcept;

template <class Child>
Outcome await_outcome(Child& child, int descriptor, const Command& command) {
  Outcome result;
  const int error = collect_output(descriptor, command, result.output);
  result.kind = classify_error(error);
  result.was_cancelled = error == ECANCELED;
  if (result.kind == Outcome::Kind::not_runnable) result.error = error;
  if (result.kind != Outcome::Kind::finished) return result;
  ExitStatus status;
  if (child.wait(command.deadline_ns, status) == WaitResult::timed_out) {
    result.kind = Outcome::Kind::timed_out;
    return result;
  }
  child.release();
  result.has_exit_status = status.is_known;
  result.exit_code = status.code;
  result.signal = status.signal;
  return result;
}

template <class Child>
Outcome run_child_as(const Launch& launch, Channel& channel, const Command& command) {
  Child child;
  const StartResult start = child.start(launch);
  channel.write_end.close();
  switch (start.state) {
    case StartState::running:
      return await_outcome(child, channel.read_end.get(), command);
    case StartState::late:
      return make_outcome(Outcome::Kind::timed_out, 0);
    default:
      return make_start_failure(command, start.error);
  }
}

// Runs a program by the kind of child that the system supports.
Outcome run_child(const Launch& launch, Channel& channel, const Command& command);
// Reaps children that earlier calls could not wait for.
void reap_children() noexcept;

// Direct child, for systems without a supervisor and for kernels and emulators that refuse one: the
// host can reap it, which leaves its exit status unknown.
class SpawnedChild {
 public:
  SpawnedChild() noexcept = default;
  SpawnedChild(const SpawnedChild&) = delete;
  SpawnedChild& operator=(const SpawnedChild&) = delete;
  ~SpawnedChild();

  StartResult start(const Launch& launch) noexcept;
  WaitResult wait(uint64_t deadline_ns, ExitStatus& status) noexcept;
  void release() noexcept { child_ = 0; }

  static void reap() noexcept;

 private:
  pid_t child_ = 0;
};

}  // namespace hmn::platform
