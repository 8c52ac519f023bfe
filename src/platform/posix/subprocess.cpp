// SPDX-License-Identifier: MIT OR Apache-2.0
#include "platform/subprocess.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <span>

#include "platform/clock.hpp"
#include "platform/file.hpp"
#include "platform/posix/child.hpp"
#include "platform/posix/running.hpp"
#include "platform/stand_in.hpp"
#include "platform/thread.hpp"

namespace hmn::platform {
namespace {

using kind = outcome::kind;

constinit char search_path[] = "PATH=/usr/bin:/bin";
constinit char all_categories[] = "LC_ALL=C";
constinit char language[] = "LANG=C";
constinit char* const fixed_environment[] = {search_path, all_categories, language, nullptr};

// Moves a descriptor above the three that the child replaces; the host may have closed its own.
descriptor above_standard(descriptor low) {
  return descriptor(fcntl(low.get(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
}

int open_channel(channel& made) {
  int ends[2];
  if (const int error = open_pipe(ends)) return error;
  made.from_child = descriptor(ends[0]);
  made.to_parent = above_standard(descriptor(ends[1]));
  if (!made.to_parent) return errno;
  made.null_device = above_standard(descriptor(open("/dev/null", O_RDWR | O_CLOEXEC)));
  return made.null_device ? 0 : errno;
}

bool is_well_formed(const command& given) {
  const auto has_nul = [](const std::string& text) { return text.find('\0') != text.npos; };
  return given.path.starts_with('/') && !has_nul(given.path) &&
         std::ranges::none_of(given.arguments, has_nul);
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

outcome run_really(const command& given) {
  const no_cancel guarded;
  collect_children();
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
  return run_child(what, open, given);
}

}  // namespace

outcome refused(outcome::kind what, int error) {
  outcome result;
  result.what = what;
  result.error = error;
  return result;
}

outcome failed_to_start(const command& given, int error) {
  const bool absent = error == ENOTDIR || (error == ENOENT && !exists(given.path.c_str()));
  return refused(absent ? kind::not_found : kind::not_runnable, error);
}

int collect_output(int from, const command& given, std::string& output) {
  char chunk[16384];
  for (;;) {
    if (const int error = await_readable(from, given.deadline_ns)) return error;
    const size_t left = given.output_cap - output.size();
    const size_t wanted = left < sizeof chunk ? left + 1 : sizeof chunk;
    const ssize_t got = read(from, chunk, wanted);
    if (got == 0) return 0;
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno;
    output.append(chunk, std::min(static_cast<size_t>(got), left));
    if (static_cast<size_t>(got) > left) return EFBIG;
  }
}

outcome::kind kind_of_collecting(int error) noexcept {
  switch (error) {
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

outcome run(const command& given) {
  if (stand_in* const r = stand_in::of_thread()) return r->run(given, run_really);
  return run_really(given);
}

}  // namespace hmn::platform
