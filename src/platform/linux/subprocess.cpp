// SPDX-License-Identifier: MIT OR Apache-2.0
#include "platform/subprocess.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <span>

#include "platform/clock.hpp"
#include "platform/file.hpp"
#include "platform/linux/descriptor.hpp"
#include "platform/linux/spawned_child.hpp"
#include "platform/linux/supervised_child.hpp"
#include "platform/stand_in.hpp"
#include "platform/thread.hpp"

namespace hmn::platform {
namespace {

using kind = outcome::kind;

constinit char search_path[] = "PATH=/usr/bin:/bin";
constinit char all_categories[] = "LC_ALL=C";
constinit char language[] = "LANG=C";
constinit char* const fixed_environment[] = {search_path, all_categories, language, nullptr};

struct channel {
  descriptor null_device;
  descriptor from_child;
  descriptor to_parent;
};

// Out of the way of the three that the child puts in place; the host may have closed its own.
descriptor above_standard(descriptor low) {
  return descriptor(fcntl(low.get(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
}

int open_channel(channel& made) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return errno;
  made.from_child = descriptor(ends[0]);
  made.to_parent = above_standard(descriptor(ends[1]));
  if (!made.to_parent) return errno;
  made.null_device = above_standard(descriptor(open("/dev/null", O_RDWR | O_CLOEXEC)));
  return made.null_device ? 0 : errno;
}

outcome refused(kind what, int error) {
  outcome result;
  result.what = what;
  result.error = error;
  return result;
}

outcome failed_to_start(const command& given, int error) {
  const bool absent = error == ENOTDIR || (error == ENOENT && !exists(given.path.c_str()));
  return refused(absent ? kind::not_found : kind::not_runnable, error);
}

bool is_well_formed(const command& given) {
  const auto has_nul = [](const std::string& text) { return text.find('\0') != text.npos; };
  return given.path.starts_with('/') && !has_nul(given.path) &&
         std::none_of(given.arguments.begin(), given.arguments.end(), has_nul);
}

std::vector<char*> argument_vector(const command& given) {
  std::vector<char*> made;
  made.reserve(given.arguments.size() + 2);
  made.push_back(const_cast<char*>(given.path.c_str()));
  for (const std::string& argument : given.arguments) {
    made.push_back(const_cast<char*>(argument.c_str()));
  }
  made.push_back(nullptr);
  return made;
}

// 0, or ETIMEDOUT, or what poll says.
int await_readable(int from, uint64_t deadline_ns) {
  for (;;) {
    const uint64_t now = monotonic_ns();
    if (now >= deadline_ns) return ETIMEDOUT;
    const uint64_t left = deadline_ns - now;
    const timespec limit{static_cast<time_t>(left / ns_per_second),
                         static_cast<long>(left % ns_per_second)};
    pollfd waiting{from, POLLIN, 0};
    const int ready = ppoll(&waiting, 1, deadline_ns == UINT64_MAX ? nullptr : &limit, nullptr);
    if (ready > 0) return 0;
    if (ready < 0 && errno != EINTR) return errno;
  }
}

// 0 at the end of the output, EFBIG past the cap, else as above.
int collect_output(int from, const command& given, std::string& output) {
  char chunk[16384];
  for (;;) {
    if (const int error = await_readable(from, given.deadline_ns)) return error;
    const size_t room = given.output_cap - output.size();
    const size_t wanted = room < sizeof chunk ? room + 1 : sizeof chunk;
    const ssize_t got = read(from, chunk, wanted);
    if (got == 0) return 0;
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno;
    output.append(chunk, std::min(static_cast<size_t>(got), room));
    if (static_cast<size_t>(got) > room) return EFBIG;
  }
}

kind kind_of(int collecting_error) {
  switch (collecting_error) {
    case 0:
      return kind::finished;
    case EFBIG:
      return kind::output_too_long;
    case ETIMEDOUT:
      return kind::timed_out;
    default:
      return kind::not_runnable;
  }
}

template <class Child>
outcome follow(Child& child, int from, const command& given) {
  outcome result;
  const int error = collect_output(from, given, result.output);
  result.what = kind_of(error);
  if (result.what == kind::not_runnable) result.error = error;
  if (result.what != kind::finished) return result;
  exit_status status;
  if (child.wait(given.deadline_ns, status) == ended::timed_out) {
    result.what = kind::timed_out;
    return result;
  }
  child.release();
  result.exit_known = status.known;
  result.exit_code = status.code;
  result.signal = status.signal;
  return result;
}

template <class Child>
bool attempt(const launch& what, channel& open, const command& given, outcome& result) {
  Child child;
  const start_result start = child.start(what);
  if (start.what == started::unavailable) return false;
  open.to_parent.close();
  switch (start.what) {
    case started::running:
      result = follow(child, open.from_child.get(), given);
      break;
    case started::late:
      result = refused(kind::timed_out, 0);
      break;
    default:
      result = failed_to_start(given, start.error);
      break;
  }
  return true;
}

outcome run_really(const command& given) {
  const no_cancel guarded;
  supervised_child::collect();
  spawned_child::collect();
  if (!is_well_formed(given)) return refused(kind::not_runnable, EINVAL);
  if (monotonic_ns() >= given.deadline_ns) return refused(kind::timed_out, 0);
  channel open;
  if (const int error = open_channel(open)) return refused(kind::not_runnable, error);
  const std::vector<char*> arguments = argument_vector(given);
  const launch what{.path = given.path.c_str(),
                    .arguments = arguments.data(),
                    .environment = fixed_environment,
                    .input = open.null_device.get(),
                    .output = open.to_parent.get(),
                    .errors = (given.with_errors ? open.to_parent : open.null_device).get(),
                    .deadline_ns = given.deadline_ns};
  outcome result;
  if (!attempt<supervised_child>(what, open, given, result)) {
    attempt<spawned_child>(what, open, given, result);
  }
  return result;
}

}  // namespace

outcome run(const command& given) {
  if (stand_in* const r = stand_in::of_thread()) return r->run(given, run_really);
  return run_really(given);
}

}  // namespace hmn::platform
