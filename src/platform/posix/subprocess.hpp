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

enum class Started { running, failed, late, unavailable };

struct StartResult {
  Started what = Started::unavailable;
  int error = 0;  // with failed
};

struct ExitStatus {
  bool known = false;
  int code = 0;
  int signal = 0;
};

enum class Ended { exited, timed_out };

// Opens a reading and a writing end, both close-on-exec. Returns 0 or errno.
int open_pipe(int (&ends)[2]) noexcept;

// Returns 0, ETIMEDOUT or errno. UINT64_MAX: no deadline.
int await_readable(int from, uint64_t deadline_ns) noexcept;

// How the child closes descriptors that its file actions do not name.

// Returns a flag of the attributes, or 0.
short spawn_closing_flag() noexcept;

// Adds the last action. Returns 0 or an error.
int add_spawn_closing(posix_spawn_file_actions_t& actions) noexcept;

// Runs one program from its start to its outcome, for any kind of child.

struct Channel {
  Descriptor null_device;
  Descriptor from_child;
  Descriptor to_parent;
};

Outcome refused(Outcome::Kind what, int error);
Outcome failed_to_start(const Command& given, int error);

// Returns 0 at the end of the output, EFBIG beyond the cap, ETIMEDOUT, ECANCELED, or errno.
int collect_output(int from, const Command& given, std::string& output);
Outcome::Kind kind_of_collecting(int error) noexcept;

template <class Child>
Outcome follow(Child& child, int from, const Command& given) {
  Outcome result;
  const int error = collect_output(from, given, result.output);
  result.what = kind_of_collecting(error);
  result.was_cancelled = error == ECANCELED;
  if (result.what == Outcome::Kind::not_runnable) result.error = error;
  if (result.what != Outcome::Kind::finished) return result;
  ExitStatus status;
  if (child.wait(given.deadline_ns, status) == Ended::timed_out) {
    result.what = Outcome::Kind::timed_out;
    return result;
  }
  child.release();
  result.exit_known = status.known;
  result.exit_code = status.code;
  result.signal = status.signal;
  return result;
}

template <class Child>
Outcome run_as(const Launch& what, Channel& open, const Command& given) {
  Child child;
  const StartResult start = child.start(what);
  open.to_parent.close();
  switch (start.what) {
    case Started::running:
      return follow(child, open.from_child.get(), given);
    case Started::late:
      return refused(Outcome::Kind::timed_out, 0);
    default:
      return failed_to_start(given, start.error);
  }
}

// Runs one of the kinds of child that the system has.
Outcome run_child(const Launch& what, Channel& open, const Command& given);
// Reaps children that earlier calls could not wait for.
void collect_children() noexcept;

// Direct child, for systems without a supervisor and for kernels and emulators that refuse one: the
// host can reap it, which leaves its exit status unknown.
class SpawnedChild {
 public:
  SpawnedChild() noexcept = default;
  SpawnedChild(const SpawnedChild&) = delete;
  SpawnedChild& operator=(const SpawnedChild&) = delete;
  ~SpawnedChild();

  StartResult start(const Launch& what) noexcept;
  Ended wait(uint64_t deadline_ns, ExitStatus& status) noexcept;
  void release() noexcept { child_ = 0; }

  static void collect() noexcept;

 private:
  pid_t child_ = 0;
};

}  // namespace hmn::platform
